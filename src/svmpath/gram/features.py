"""Maps to features whose inner products are a low-rank kernel, and the factor that comes with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmm

from svmpath.gram.memory import require
from svmpath.kernels import Kernel
from svmpath.kernels.repeated import find_repeats
from svmpath.lazy import lazy

Array = np.ndarray

_NUMBERS_AT_ONCE = 1 << 20  # held at a time while features are made: as many as stay near the processor


class FeatureMap(ABC):
    """x -> phi(x), a row of few numbers, so that phi(x)'phi(z) is the low-rank kernel.

    Attributes
    ----------
    rank : int
        How many features a row has.
    width : int
        How many numbers per row are held while its features are computed.
    pairwise : bool
        True where the rows hold kernel values (``"precomputed"``).

    See Also
    --------
    svmpath.gram.Factor : The thin factor, and its features.
    svmpath.gram.Approximation : What all approximations have in common.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import Nystroem
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> features = Nystroem(10).factor(RBF(0.1), X, seed=0).features
    >>> features.rank
    10
    """

    @property
    @abstractmethod
    def rank(self) -> int: ...

    @property
    def pairwise(self) -> bool:
        return False

    @property
    def width(self) -> int:
        return self.rank

    @abstractmethod
    def compute(self, X: Any) -> Array:
        """Features of rows that do not repeat."""

    def weights(self, w: Array) -> Array:
        """The weights of the columns of X in phi(x)'w, for features that are linear in x."""
        raise AttributeError(f"{type(self).__name__} are not linear in the columns.")

    def on_points(self, w: Array) -> Array | None:
        """The coefficients of x -> phi(x)'w on kernel functions, where it is a function of the kernel of the norm of w.

        None where it is not, as of random features.
        """
        return None

    def __call__(self, X: Any, dtype: type = np.float64) -> Array:
        """Features of new rows; equal rows have equal features to the last bit.

        They are made in double precision, some rows at a time: no other array is as large as the result.
        """
        n, step = X.shape[0], max(1, _NUMBERS_AT_ONCE // self.width)
        require(n * self.rank * np.dtype(dtype).itemsize, f"The {n} x {self.rank} features", "a smaller rank=")
        repeats = None if self.pairwise else find_repeats(X)
        Z = np.empty((n, self.rank), dtype=dtype)
        for start in range(0, n, step):
            Z[start : start + step] = self.compute(X[start : start + step])
        if repeats is not None:
            first = repeats.first[repeats.ids]
            copies = np.flatnonzero(first != np.arange(n))
            for start in range(0, len(copies), step):
                part = copies[start : start + step]
                Z[part] = Z[first[part]]
        return Z


@dataclass(frozen=True)
class Factor:
    """Z with K ~ Z Z' (None where it is to be made again), and the map that makes such features of new rows.

    Attributes
    ----------
    Z : array of shape (n, rank) or None
        The thin factor.
    features : FeatureMap
        Makes such features of new rows.

    See Also
    --------
    svmpath.gram.FeatureMap : Features of new rows.
    svmpath.gram.Approximation : What all approximations have in common.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import Nystroem
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> Nystroem(10).factor(RBF(0.1), X, seed=0).Z.shape
    (50, 10)
    """

    Z: Array | None
    features: FeatureMap


@dataclass(frozen=True)
class LandmarkFeatures(FeatureMap):
    """x -> k(x, points) T.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (c, d) or None
        The landmarks; None for a precomputed kernel, where ``rows`` names columns instead.
    rows : array of int or None
    root : array of shape (c, r)
        T itself, or the lower triangular L with T = L^-T, which is inverted when first used.
    triangular : bool
    """

    kernel: Kernel
    points: Any
    rows: Any
    root: Array
    triangular: bool = False

    @property
    def pairwise(self) -> bool:
        return self.kernel.pairwise

    @property
    def rank(self) -> int:
        return self.root.shape[1]

    @property
    def width(self) -> int:
        """The number of landmarks: a row is compared with each."""
        return self.root.shape[0]

    @lazy
    def T(self) -> Array:
        """The (c, r) matrix that makes features of kernel values."""
        if not self.triangular:
            return self.root
        root = solve_triangular(self.root, np.eye(len(self.root)), lower=True, check_finite=False)
        return np.asfortranarray(root).T

    def compute(self, X: Any) -> Array:
        K = self.kernel(X, self.points, self.rows)
        if not self.triangular:
            return K @ self.T
        # In place, at half the price of a product of full matrices.
        return dtrmm(1.0, self.T.T, np.ascontiguousarray(K, dtype=float).T, side=0, lower=1, overwrite_b=1).T

    def on_points(self, w: Array) -> Array:
        return np.asarray(self.T @ w)  # of norm w'T' k(points, points) T w = w'w

    def weights(self, w: Array) -> Array:
        return np.asarray(self.points.T @ (self.T @ w))  # of the linear kernel: k(x, points) = x points'

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

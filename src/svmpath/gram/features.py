"""Maps to features whose inner products are a low-rank kernel, and the factor that comes with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from svmpath.kernels import Kernel
from svmpath.kernels.repeated import find_repeats
from svmpath.lazy import lazy

Array = np.ndarray


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
    """

    pairwise: bool = False

    @property
    @abstractmethod
    def rank(self) -> int: ...

    @property
    def width(self) -> int:
        return self.rank

    @abstractmethod
    def compute(self, X: Any) -> Array:
        """Features of rows that do not repeat."""

    def __call__(self, X: Any) -> Array:
        """Features of new rows; equal rows have equal features to the last bit."""
        repeats = None if self.pairwise else find_repeats(X)
        if repeats is None:
            return self.compute(X)
        return self.compute(X[repeats.first])[repeats.ids]


@dataclass(frozen=True)
class Factor:
    """Z with K ~ Z Z' (None where it is to be made again), and the map that makes such features of new rows."""

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
    def pairwise(self) -> bool:  # type: ignore[override]
        """Whether the kernel reads its values off the rows."""
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
        return solve_triangular(self.root, np.eye(len(self.root)), lower=True, check_finite=False).T

    def compute(self, X: Any) -> Array:
        return self.kernel(X, self.points, self.rows) @ self.T

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

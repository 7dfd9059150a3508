"""Nystroem factors: K ~ C W_k^+ C' = Z Z' from c landmarks.

With C = k(X, points), W = k(points, points) and weights D (the identity unless the landmarks carry some)::

    D^1/2 W D^1/2 = U diag(s) U',     Z = C T,     T = D^1/2 U_k diag(s_k)^(-1/2)

keeping the k largest eigenvalues. Where none is dropped the weights cancel, and any square root of W^-1 will do: the
pivoted Cholesky factor W = L L' is cheaper and keeps more digits, Z = C L^-T. Landmarks that are combinations of others
are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack

from svmpath.gram.approximation import Approximation, trace_residual
from svmpath.gram.features import Factor, LandmarkFeatures
from svmpath.gram.landmarks import Landmarks, density, given, kmeans, uniform
from svmpath.gram.pivoted_cholesky import Compared, pivoted_cholesky
from svmpath.kernels import Kernel
from svmpath.names import unknown_name
from svmpath.row_order import random_order
from svmpath.validation import check_whole, is_whole_number

Array = np.ndarray

_PIVOTED = ("rpcholesky", "greedy")  # landmarks that depend on the kernel
_BLIND: dict[str, Callable[[Any, Array, int, int], Landmarks]] = {
    "uniform": uniform,
    "kmeans": kmeans,
    "density": density,
}
LANDMARKS = (*_PIVOTED, *_BLIND)
GIROLAMI = "girolami"
_FIRST_LANDMARKS = 32  # if a residual is given: their number is doubled, starting from here


@dataclass(frozen=True)
class Nystroem(Approximation):
    """K ~ Z Z' from landmarks; ``rank=200`` is short for ``rank=Nystroem(200)``.

    Parameters
    ----------
    rank : int or float, optional
        The number of landmarks, or a target for the relative trace residual, between 0 and 1. Leave it out if you give
        the landmarks as row numbers.
    landmarks : {"rpcholesky", "greedy", "uniform", "kmeans", "density"} or array of int, default="rpcholesky"
        How the landmarks are chosen, or their row numbers.
    truncate : int or "girolami", optional
        Keep only this many of the largest eigenvalues of the landmarks' kernel matrix; or those that Girolami's rule
        says are worth estimating in a series for the density of the landmarks. The rule does not look at y.
    min_eigenvalue : float, optional
        Drop the eigenvalues of that matrix that are smaller than this.
    single : bool, default=False
        Store the features in single precision, with half the memory: for hundreds of thousands of rows. It needs
        landmarks that are chosen without the kernel: "uniform", "kmeans", "density" or row numbers.

    See Also
    --------
    svmpath.gram.RandomFourier : Random Fourier features.
    svmpath.gram.make_gram : The kernel matrix of some rows.
    svmpath.criteria.approximation_bound : How far a low-rank machine is from the exact one.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import Nystroem, make_gram
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> make_gram(X, RBF(0.1), rank=Nystroem(30, truncate=10)).rank
    10
    """

    rank: int | float | None = None
    landmarks: Any = "rpcholesky"
    truncate: int | str | None = None
    min_eigenvalue: float | None = None
    single: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.landmarks, str):
            if self.landmarks not in LANDMARKS:
                raise ValueError(unknown_name("landmarks", self.landmarks, LANDMARKS, "an array of row numbers"))
            if not (is_whole_number(self.rank) or is_share(self.rank)):
                raise ValueError(
                    "The rank of Nystroem must be a whole number >= 1 (of landmarks) or a number between 0 and 1 (a "
                    f"target for the relative trace residual), got {self.rank!r}."
                )
        else:
            if self.rank is not None:
                raise ValueError("rank= cannot be combined with landmarks given as row numbers; leave rank out.")
            # Plain numbers, so that two approximations can be compared.
            object.__setattr__(self, "landmarks", tuple(np.atleast_1d(np.asarray(self.landmarks)).tolist()))
        if self.single and isinstance(self.landmarks, str) and self.landmarks in _PIVOTED:
            names = ", ".join(repr(name) for name in _BLIND)
            raise ValueError(
                f"single=True does not work with landmarks={self.landmarks!r}, whose factor is built up in double "
                f"precision; use one of {names}, or row numbers."
            )
        if self.truncate is not None and not (isinstance(self.truncate, str) and self.truncate == GIROLAMI):
            check_whole(self.truncate, "truncate", words=f" or {GIROLAMI!r}")
        if self.min_eigenvalue is not None and not self.min_eigenvalue >= 0:
            raise ValueError(f"min_eigenvalue must be a number >= 0, got {self.min_eigenvalue!r}.")

    @property
    def dtype(self) -> type:
        return np.float32 if self.single else np.float64

    @property
    def is_truncated(self) -> bool:
        """Whether eigenvalues other than rounding noise may be dropped."""
        return self.truncate is not None or self.min_eigenvalue is not None

    @property
    def target(self) -> float:
        """The target for the relative trace residual; zero if the number of landmarks is given."""
        return float(self.rank) if self.rank is not None and is_share(self.rank) else 0.0

    def columns(self, n: int) -> int:
        """The largest number of landmarks for n rows."""
        if not isinstance(self.landmarks, str):
            return len(self.landmarks)
        return n if self.rank is None or self.target else min(int(self.rank), n)

    def is_whole(self, n: int) -> bool:
        """Whether every row is a landmark and nothing is dropped."""
        return isinstance(self.landmarks, str) and not self.is_truncated and self.columns(n) == n and not self.target

    def check(self, kernel: Kernel, X: Any) -> None:
        if not isinstance(self.landmarks, str):
            given(X, self.landmarks)
        elif self.landmarks in _PIVOTED and kernel.psd is False:
            raise ValueError(
                f"landmarks={self.landmarks!r} needs a positive semi-definite kernel, but {kernel!r} is "
                "indefinite; use 'uniform', 'kmeans' or 'density', or rank=gram.Clipped()."
            )
        elif self.landmarks in ("kmeans", "density") and kernel.pairwise:
            raise ValueError(
                f"landmarks={self.landmarks!r} needs the rows of X, which a precomputed kernel does not give; "
                "use 'rpcholesky', 'greedy' or 'uniform'."
            )

    def factor(self, kernel: Kernel, X: Any, seed: int) -> Factor:
        return self.prepare(X, seed)(kernel)

    def prepare(self, X: Any, seed: int) -> Callable[[Kernel], Factor]:
        """The factor as a function of the kernel; landmarks that do not look at it are chosen once."""
        return partial(self._factor, X=X, seed=seed, known={}, compared={})

    def _factor(
        self, kernel: Kernel, X: Any, seed: int, known: dict[int, Landmarks], compared: dict[str, Compared]
    ) -> Factor:
        """The factor of one kernel.

        `known` keeps landmarks that do not look at it, by their number, and `compared` what the others need of the rows
        whatever its parameters are.
        """
        self.check(kernel, X)
        make = partial(
            nystroem, kernel, X, truncate=self.truncate, min_eigenvalue=self.min_eigenvalue, dtype=self.dtype
        )
        if not isinstance(self.landmarks, str):
            return make(given(X, self.landmarks))
        limit = self.columns(X.shape[0])
        if self.landmarks in _PIVOTED:
            like = repr(reduce(lambda each, name: each.at(name, 1.0), kernel.parameters, kernel))
            if like not in compared:
                compared[like] = Compared.of(kernel, X, limit, seed)
            is_greedy = self.landmarks == "greedy"
            pivots, factor = pivoted_cholesky(kernel, X, limit, self.target, seed, is_greedy, compared[like])
            return make(given(X, pivots)) if self.is_truncated else factor
        # Without a look at the kernel: all at once, or twice as many until the residual is reached.
        c = min(_FIRST_LANDMARKS, limit) if self.target else limit
        while True:
            if c not in known:
                order = random_order(X, seed=seed, pairwise=kernel.pairwise)
                known[c] = _BLIND[self.landmarks](X, order, c, seed)
            factor = make(known[c])
            assert factor.Z is not None
            if c == limit or trace_residual(kernel.diag(X), factor.Z) <= self.target:
                return factor
            c = min(2 * c, limit)


def is_share(value: Any) -> bool:
    """Whether it is a number between 0 and 1."""
    return isinstance(value, Real) and not isinstance(value, Integral) and 0.0 < float(value) < 1.0


def nystroem(
    kernel: Kernel,
    X: Any,
    landmarks: Landmarks,
    truncate: int | str | None = None,
    min_eigenvalue: float | None = None,
    dtype: type = np.float64,
) -> Factor:
    """The factor Z, and the map to such features.

    Parameters
    ----------
    truncate : int or "girolami", optional
        Keep only this many eigenvalues, the largest, or those of Girolami's rule.
    min_eigenvalue : float, optional
        Drop smaller eigenvalues. Those that are rounding noise, and negative ones, are dropped in any case.
    dtype : type
        Of the entries of Z; it is computed in double precision whatever it is stored in.
    """
    points = None if kernel.pairwise else landmarks.points
    rows = landmarks.rows if kernel.pairwise else None
    W = kernel(landmarks.points, points, rows)
    if truncate is None and min_eigenvalue is None and kernel.psd is True:
        kept, L = _independent(W)
        points, rows = (None if each is None else each[kept] for each in (points, rows))
        features = LandmarkFeatures(kernel, points, rows, L, triangular=True)
    else:
        T = _truncated_inverse_root(W, landmarks.weights, truncate, min_eigenvalue)
        features = LandmarkFeatures(kernel, points, rows, T)
    return Factor(features(X, dtype), features)


def inverse_root(kernel: Kernel, W: Array) -> Array:
    """T with T T' = W^-1 on the space that W = k(points, points) spans, without its negative part if it has one."""
    if not W.any():  # as of the linear kernel where all columns are zero: there are no features
        return np.zeros((len(W), 0))
    if kernel.psd is not True:
        return _truncated_inverse_root(W, None, None, None)
    kept, L = _independent(W)
    T = np.zeros((len(W), len(kept)))
    T[kept] = lapack.dtrtri(L, lower=1)[0].T
    return T


def _independent(W: Array) -> tuple[Array, Array]:
    """Landmarks that span what W spans, in the order of LAPACK's pivoted Cholesky, and L with W = L L' on them."""
    L, pivots, r, _ = lapack.dpstrf(W, tol=10 * np.finfo(float).eps * float(np.diagonal(W).max()), lower=1)
    if r == 0:
        raise ValueError("The kernel is zero on every landmark, so it has no low-rank factor; use rank=None.")
    return pivots[:r] - 1, np.tril(L[:r, :r])


def _truncated_inverse_root(
    W: Array, weights: Array | None, truncate: int | str | None, min_eigenvalue: float | None
) -> Array:
    """T with T T' = W_k^+ (in the weighted sense), by an eigendecomposition."""
    root = np.ones((len(W), 1)) if weights is None else np.sqrt(weights)[:, None]
    s, U = eigh(root * W * root.T, check_finite=False)
    s, U = s[::-1], U[:, ::-1]
    noise = len(s) * np.finfo(float).eps * max(s[0], 0.0)
    kept = int(np.count_nonzero(s > max(noise, min_eigenvalue or 0.0)))
    if kept == 0:
        raise ValueError(
            f"No eigenvalue of the landmarks' kernel matrix exceeds min_eigenvalue={min_eigenvalue!r}; "
            f"the largest is {s[0]:.3g}. Lower min_eigenvalue."
        )
    which = np.arange(kept if truncate is None or isinstance(truncate, str) else min(kept, truncate))
    if truncate == GIROLAMI:
        # Of the density's series the squared mean of each function, whose mean square is one, times the sum of weights.
        squares, total = np.sum(root * U[:, :kept], axis=0) ** 2, float(np.sum(root**2))
        worth = squares > 2.0 * total / (1.0 + total)
        which = np.flatnonzero(worth) if worth.any() else np.array([np.argmax(squares)])
    return root * U[:, which] / np.sqrt(s[which])

"""Gram matrices: held whole, or as K ~ Z Z' from landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from svmpath.gram.base import Gram
from svmpath.gram.dense import DenseGram
from svmpath.gram.landmarks import Landmarks, density, given, kmeans, uniform
from svmpath.gram.low_rank import Factor, LowRankGram
from svmpath.gram.nystroem import nystroem
from svmpath.gram.pivoted_cholesky import pivoted_cholesky
from svmpath.kernels import Kernel
from svmpath.lazy import lazy

__all__ = ["DenseGram", "Gram", "LowRankGram", "make_gram"]

_BLIND: dict[str, Callable[[Any, int, int], Landmarks]] = {
    "uniform": uniform,
    "kmeans": kmeans,
    "density": density,
}
NAMES = ("rpcholesky", "greedy", *_BLIND)


def make_gram(
    X: Any,
    kernel: Kernel,
    *,
    rank: int | float | None = None,
    landmarks: Any = "rpcholesky",
    truncate: int | None = None,
    min_eigenvalue: float | None = None,
    psd: str = "warn",
    seed: int = 0,
) -> Gram:
    """The Gram matrix of the rows of X, whole or in low rank.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    kernel : Kernel
    rank : int, float or None
        None holds the matrix whole. A whole number is the number of columns (landmarks) used; as many as there are
        rows leave nothing to approximate, and the matrix is held whole. A number between 0 and 1 is the relative trace
        residual to reach.
    landmarks : {"rpcholesky", "greedy", "uniform", "kmeans", "density"} or array of row numbers
        How the landmarks are chosen; ``rank`` is not needed when they are given as rows.
    truncate : int, optional
        Keep only the eigenpairs of the landmarks' kernel matrix with the so many largest eigenvalues.
    min_eigenvalue : float, optional
        Drop the eigenpairs whose eigenvalue is smaller.
    psd : {"warn", "clip"}
        What to do with an indefinite matrix held whole; in low rank, Z Z' is semi-definite by construction.
    seed : int
        For the random choice of landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import make_gram
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> gram = make_gram(X, RBF(0.1), rank=1e-6)
    >>> gram.rank < 60, gram.residual <= 1e-6
    (True, True)
    """
    if psd not in ("warn", "clip"):
        raise ValueError(f"psd must be 'warn' or 'clip', got {psd!r}.")
    dropping = truncate is not None or min_eigenvalue is not None
    if isinstance(landmarks, str) and landmarks not in NAMES:
        raise ValueError(f"landmarks must be one of {', '.join(NAMES)}, or an array of row numbers; got {landmarks!r}.")
    if rank is None and isinstance(landmarks, str):
        if dropping:
            raise ValueError("truncate and min_eigenvalue belong to a low-rank kernel; give rank as well.")
        return DenseGram(kernel, X, clip=psd == "clip")
    recipe = _Recipe(X, *_limits(rank, X.shape[0]), landmarks, truncate, min_eigenvalue, seed)
    if isinstance(landmarks, str) and not dropping and recipe.limit == X.shape[0] and recipe.residual == 0.0:
        return DenseGram(kernel, X, clip=psd == "clip")
    return LowRankGram(kernel, X, recipe)


def _limits(rank: int | float | None, n: int) -> tuple[int, float]:
    """Largest number of landmarks, and the trace residual at which fewer will do."""
    if rank is None:
        return n, 0.0
    if isinstance(rank, Integral) and not isinstance(rank, bool) and rank >= 1:
        return min(int(rank), n), 0.0
    if isinstance(rank, Real) and not isinstance(rank, Integral) and 0.0 < rank < 1.0:
        return n, float(rank)
    raise ValueError(
        "rank must be None (the whole matrix), a whole number >= 1 (of landmarks) or a number between 0 and 1 "
        f"(the relative trace residual to reach), got {rank!r}."
    )


@dataclass(frozen=True)
class _Recipe:
    """How to make the factor of a kernel: called again for every value of a kernel parameter."""

    X: Any
    limit: int
    residual: float
    landmarks: Any
    truncate: int | None
    min_eigenvalue: float | None
    seed: int

    def __post_init__(self) -> None:
        if not isinstance(self.landmarks, str) and (self.limit < self.X.shape[0] or self.residual):
            raise ValueError("Landmarks given as rows set the rank themselves; leave rank out.")
        if self.truncate is not None and (not isinstance(self.truncate, Integral) or self.truncate < 1):
            raise ValueError(f"truncate must be a whole number >= 1, got {self.truncate!r}.")
        if self.min_eigenvalue is not None and not self.min_eigenvalue >= 0:
            raise ValueError(f"min_eigenvalue must be a number >= 0, got {self.min_eigenvalue!r}.")

    def __call__(self, kernel: Kernel) -> Factor:
        if not isinstance(self.landmarks, str):
            return self._nystroem(kernel, given(self.X, self.landmarks))
        if self.landmarks in ("rpcholesky", "greedy"):
            return self._cholesky(kernel)
        if kernel.pairwise and self.landmarks != "uniform":
            raise ValueError(
                f"landmarks={self.landmarks!r} needs the rows of X, which a precomputed kernel does not give; "
                "use 'rpcholesky', 'greedy' or 'uniform'."
            )
        return self._grow(kernel)

    def _nystroem(self, kernel: Kernel, landmarks: Landmarks) -> Factor:
        return nystroem(kernel, self.X, landmarks, self.truncate, self.min_eigenvalue)

    def _cholesky(self, kernel: Kernel) -> Factor:
        if kernel.psd is False:
            raise ValueError(
                f"landmarks={self.landmarks!r} needs a positive semi-definite kernel and {kernel!r} is "
                "indefinite; use 'uniform', 'kmeans' or 'density', or rank=None with psd='clip'."
            )
        greedy = self.landmarks == "greedy"
        pivots, factor = pivoted_cholesky(kernel, self.X, self.limit, self.residual, self.seed, greedy)
        if self.truncate is None and self.min_eigenvalue is None:
            return factor
        return self._nystroem(kernel, given(self.X, pivots))

    @lazy
    def _chosen(self) -> dict[int, Landmarks]:
        """Landmarks by their number: one choice serves every value of the kernel's parameters."""
        return {}

    def _choose(self, c: int) -> Landmarks:
        if c not in self._chosen:
            self._chosen[c] = _BLIND[self.landmarks](self.X, c, self.seed)
        return self._chosen[c]

    def _grow(self, kernel: Kernel) -> Factor:
        """Landmarks chosen without the kernel: all at once, or twice as many until the residual is reached."""
        if self.residual == 0.0:
            return self._nystroem(kernel, self._choose(self.limit))
        trace = float(kernel.diag(self.X).sum())
        c = min(32, self.limit)
        while True:
            factor = self._nystroem(kernel, self._choose(c))
            assert factor.Z is not None
            left = trace - float(np.einsum("ij,ij->", factor.Z, factor.Z))
            if left <= self.residual * trace or c == self.limit:
                return factor
            c = min(2 * c, self.limit)

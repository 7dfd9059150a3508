"""The Gram matrix as solvers see it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from svmpath.kernels import Kernel
from svmpath.kernels.base import pick
from svmpath.kernels.repeated import Repeats, find_repeats
from svmpath.lazy import lazy

Array = np.ndarray


_VALUES_AT_ONCE = 1 << 24  # kernel values held at a time


def in_chunks(X: Any, width: int, function: Callable[[Any], Array]) -> Array:
    """``function(X)`` in chunks of rows, so that an intermediate matrix of that width stays small."""
    step = max(1, _VALUES_AT_ONCE // width)
    if X.shape[0] <= step:
        return function(X)
    return np.concatenate([function(X[i : i + step]) for i in range(0, X.shape[0], step)])


class Gram(ABC):
    """K = k(X, X) on n rows: the full matrix, or K ~ Z Z'.

    Attributes
    ----------
    kernel : Kernel
    n : int
        Number of rows.
    rank : int
        Number of columns of Z; n for the full matrix.
    residual : float
        Relative error of the approximation: trace(K - Z Z') / trace(K) for landmarks, ||K - Z Z'|| / ||K|| for random
        Fourier features; 0 for the full matrix.
    Z : array of shape (n, rank) or None
        The factor; None for the full matrix.
    is_clipped : bool
        Whether the matrix is decomposed, to take away its negative part, before anything else.

    See Also
    --------
    svmpath.gram.make_gram : The kernel matrix of some rows.
    svmpath.gram.DenseGram : The full kernel matrix.
    svmpath.gram.LowRankGram : A kernel matrix of low rank.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import make_gram
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> gram = make_gram(X, RBF(0.1), rank=10)
    >>> gram.n, gram.rank, gram.Z.shape
    (50, 10, (50, 10))
    """

    kernel: Kernel
    X: Any
    rows: Any
    residual: float

    @property
    def Z(self) -> Array | None:
        return None

    @property
    def is_clipped(self) -> bool:
        return False

    @lazy
    def repeats(self) -> Repeats | None:
        """Which rows are copies of each other; None if there are no copies, or if only kernel values are known."""
        return None if self.kernel.pairwise else find_repeats(pick(self.X, self.rows))

    def contents(self, rows: Array | None = None) -> Any:
        """What the rows hold, or some of them: rows of X, or of a precomputed kernel the values among them."""
        places = self.rows if rows is None else self.places(rows)
        if places is None:
            return self.X
        return self.X[places][:, places] if self.kernel.pairwise else self.X[places]

    @property
    def n(self) -> int:
        return self.X.shape[0] if self.rows is None else len(self.rows)

    def places(self, rows: Any) -> Array:
        """Where some of the rows are in X."""
        rows = np.arange(self.n)[rows]
        return rows if self.rows is None else np.asarray(self.rows)[rows]

    @property
    def rank(self) -> int:
        return self.n

    @property
    def entries(self) -> int:
        """Approximate number of entries of the stored matrix; known before it is computed."""
        return self.n * self.rank

    @property
    @abstractmethod
    def diag(self) -> Array:
        """K_ii."""

    @abstractmethod
    def block(self, rows: Any, cols: Any) -> Array:
        """K[rows][:, cols]."""

    @abstractmethod
    def matmul(self, v: Array) -> Array:
        """K @ v."""

    @abstractmethod
    def cross(self, X: Any) -> Array:
        """Kernel matrix of new rows against the n rows."""

    def contract(self, v: Array) -> Array | None:
        """What ``apply`` needs of v: Z'v for a low-rank matrix, otherwise None."""
        return None

    def apply(self, X: Any, v: Array, w: Array | None = None) -> Array:
        """``cross(X) @ v``, in chunks of rows; with ``w = contract(v)`` the training rows are not needed."""
        return in_chunks(X, self.n, lambda part: self.cross(part) @ v)

    def expansion(self, v: Array, w: Array | None = None) -> Any:
        """What ``apply(X, v, w)`` is as a function of X alone, with no rows that have no coefficient."""
        from svmpath.gram.expansion import on_rows

        return on_rows(self.kernel, self.X, self.places(slice(None)), v)

    def weights(self, v: Array, w: Array | None = None) -> Array:
        """The weights of the columns, of shape (d, k): for the linear kernel ``apply(X, v, w)`` is X times them."""
        return np.asarray(pick(self.X, self.rows).T @ v)

    def apply_exact(self, X: Any, v: Array) -> Array:
        """``k(X, .) @ v`` with the exact kernel, even if ``cross`` is a low-rank approximation."""
        return self.apply(X, v)

    @abstractmethod
    def at(self, name: str, value: float) -> Gram:
        """The Gram matrix of the same rows with one kernel parameter at another value."""

    @abstractmethod
    def take(self, rows: Any) -> Gram:
        """The Gram matrix of some of the rows."""

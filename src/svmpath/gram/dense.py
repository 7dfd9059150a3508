"""The full Gram matrix."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.exceptions import IndefiniteKernelWarning
from svmpath.gram.base import Array, Gram, in_chunks
from svmpath.gram.expansion import on_rows
from svmpath.gram.memory import require
from svmpath.interrupts import interruptible
from svmpath.kernels import Kernel
from svmpath.kernels.base import pick
from svmpath.kernels.repeated import Repeats, copy_first, find_repeats, group, make_symmetric
from svmpath.lazy import lazy

# Below this share of the largest eigenvalue a negative one is rounding, not the kernel.
_NEGATIVE_EIGENVALUE = 1e-8


def _remedy(n: int) -> str:
    """What to use instead of the full matrix of n rows."""
    return f"an approximation of low rank: rank={min(1000, max(n // 4, 1))}, say"


@dataclass(eq=False)
class Distinct:
    """K on the distinct rows of X: computed once, whatever rows of X a Gram matrix is about.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (k, d)
        The distinct rows; for a precomputed kernel, which has no rows, its values.
    ids : array of int of shape (N,) or None
        Which of them each row is; None where each is itself.
    S : optional
        What ``kernel.compare`` gives for them; kept only while several values of the kernel's parameters share it.
    """

    kernel: Kernel
    X: Any
    ids: Array | None
    S: Any = None

    @staticmethod
    def of(kernel: Kernel, X: Any) -> Distinct:
        """The distinct rows among those of X."""
        repeats = None if kernel.pairwise else find_repeats(X)
        return Distinct(kernel, X, None) if repeats is None else Distinct(kernel, X[repeats.first], repeats.ids)

    @property
    def compared(self) -> Any:
        """What ``kernel.compare`` gives for the rows: made once for all values of the kernel's parameters."""
        if self.S is None:
            self.check_memory()
            self.S = self.kernel.compare(self.X)
        return self.S

    def part(self, rows: Array, cols: Array) -> Any:
        """The same for some rows and columns; not kept if it is not known."""
        if self.S is None:
            return self.kernel.compare(self.X[rows], self.X[cols])
        return self.kernel.part(self.S, rows, cols)

    def check_memory(self) -> None:
        """Raise an error, before any work, if there is no room for the matrix."""
        if not self.kernel.pairwise:  # which is held already
            k = self.X.shape[0]
            require(8.0 * k**2, f"The full kernel matrix of {k} rows", _remedy(k))

    def at(self, name: str, value: float) -> Distinct:
        """The same rows with one kernel parameter at another value."""
        return Distinct(self.kernel.at(name, value), self.X, self.ids, self.compared)

    @lazy
    def K(self) -> Array:
        """The matrix of the distinct rows; raises an error if it is not symmetric."""
        self.check_memory()
        K = self.kernel.evaluate(self.kernel.compare(self.X) if self.S is None else self.S)
        if self.kernel.psd is True:
            return K
        if np.abs(K - K.T).max(initial=0.0) > 1e-8 * np.abs(K).max(initial=0.0):
            raise ValueError(
                f"A kernel must be symmetric, k(x, z) = k(z, x), but the matrix of {self.kernel!r} is not."
            )
        if not self.kernel.pairwise:  # a matrix that was given stays as it is
            make_symmetric(K)
        return K

    @lazy
    def examined(self) -> Array:
        """The same matrix; warns once if it has negative eigenvalues."""
        if self.kernel.psd is not True:
            values = interruptible(np.linalg.eigvalsh, self.K)
            if values[0] < -_NEGATIVE_EIGENVALUE * max(values[-1], 0.0):
                warnings.warn(
                    f"The matrix of {self.kernel!r} has negative eigenvalues (smallest / largest = "
                    f"{values[0] / max(values[-1], 1e-300):.2g}), so the problem is not convex and held-out errors "
                    "mean little; use rank=gram.Clipped() to replace the matrix by its positive semi-definite part.",
                    IndefiniteKernelWarning,
                    stacklevel=3,
                )
        return self.K


class DenseGram(Gram):
    """K = k(X, X), an n x n array that is computed when first used.

    Rows that repeat are computed once: products with K and predictions work on the distinct rows.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (N, d)
    rows : array of int, optional
        The rows of X that count; all if None.
    clip : bool, default=False
        Replace an indefinite K by its nearest positive semi-definite matrix: with K = Q S Q' and the projector
        P = Q+ Q+' on the eigenvectors of positive eigenvalue, K becomes P K P and new rows k(x, X) P, so that
        training, prediction and criteria see one and the same kernel.
    distinct : Distinct, optional
        The distinct rows of X, if another Gram matrix knows them already.

    See Also
    --------
    svmpath.gram.make_gram : The kernel matrix of some rows.
    svmpath.gram.LowRankGram : A kernel matrix of low rank.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import DenseGram
    >>> from svmpath.kernels import RBF
    >>> gram = DenseGram(RBF(0.1), np.random.default_rng(0).normal(size=(50, 2)))
    >>> gram.n, gram.rank, gram.residual
    (50, 50, 0.0)
    """

    residual = 0.0

    def __init__(
        self, kernel: Kernel, X: Any, rows: Any = None, clip: bool = False, distinct: Distinct | None = None
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.rows = rows
        self.clip = clip
        self._distinct = distinct

    def __getstate__(self) -> dict[str, Any]:
        # Matrices are recomputed after unpickling: a saved model holds the rows, not n x n numbers.
        return {"kernel": self.kernel, "X": self.X, "rows": self.rows, "clip": self.clip, "_distinct": None}

    @property
    def distinct(self) -> Distinct:
        """The distinct rows of X and their matrix."""
        if self._distinct is None:
            self._distinct = Distinct.of(self.kernel, self.X)
        return self._distinct

    @lazy
    def _ids(self) -> Any:
        """Which of the distinct rows each row is; None where each is itself."""
        ids = self.distinct.ids
        ids = self.rows if ids is None else pick(ids, self.rows)
        return None if ids is None or np.array_equal(ids, np.arange(self.distinct.X.shape[0])) else ids

    @lazy
    def repeats(self) -> Repeats | None:
        return None if self._ids is None or self.kernel.pairwise else group(self._ids)

    @property
    def is_clipped(self) -> bool:
        return self.clip and self.kernel.psd is not True

    @property
    def _is_small(self) -> bool:
        """Whether it is cheaper to work on the distinct rows."""
        return self._ids is not None and not self.is_clipped and self.distinct.X.shape[0] < self.n

    @lazy
    def K(self) -> Array:
        """The matrix itself, checked for negative eigenvalues if the kernel may have some."""
        if self.is_clipped:
            values, Q = interruptible(np.linalg.eigh, self._expand(self.distinct.K))
            positive = values > _NEGATIVE_EIGENVALUE * max(values[-1], 0.0)
            Q = Q[:, positive]
            self._projector, K = Q @ Q.T, (Q * values[positive]) @ Q.T
            make_symmetric(K)
            return copy_first(copy_first(K, self.repeats).T, self.repeats)
        return self._expand(self.distinct.examined)

    def _expand(self, K: Array) -> Array:
        if self._ids is None:
            return K
        require(8.0 * self.n**2, f"The full kernel matrix of {self.n} rows", _remedy(self.n))
        return K.take(self._ids, axis=0).take(self._ids, axis=1)

    def _collapse(self, v: Array) -> Array:
        """Sums of v over the copies of each distinct row."""
        sums = np.zeros((self.distinct.X.shape[0], *v.shape[1:]))
        np.add.at(sums, self._ids, v)
        return sums

    @property
    def diag(self) -> Array:
        return np.diagonal(self.distinct.examined)[self._ids] if self._is_small else np.diagonal(self.K)

    def block(self, rows: Any, cols: Any) -> Array:
        if self._ids is not None and not self.is_clipped:
            return self.distinct.examined.take(self._ids[rows], axis=0).take(self._ids[cols], axis=1)
        return self.K[rows][:, cols]

    def matmul(self, v: Array) -> Array:
        return (self.distinct.examined @ self._collapse(v))[self._ids] if self._is_small else self.K @ v

    def cross(self, X: Any) -> Array:
        if self._is_small:
            return self.kernel(X, self.distinct.X).take(self._ids, axis=1)
        one, other = (A.data if issparse(A) else np.asarray(A) for A in (X, self.X))
        if not self.kernel.pairwise and np.may_share_memory(one, other):
            # Rows against themselves are compared in another order of summation, by kernels and by NumPy: the training
            # rows would get other last digits than a copy of them, or than they get from a saved model.
            X = copy(X)
        K = self.kernel(X, self.X, self.rows)
        if self.is_clipped:
            self.K  # noqa: B018 - computes the projector
            K = K @ self._projector
        return K

    def apply(self, X: Any, v: Array, w: Array | None = None) -> Array:
        if not self._is_small:
            return super().apply(X, v, w)
        sums = self._collapse(v)
        return in_chunks(X, len(sums), lambda part: self.kernel(part, self.distinct.X) @ sums)

    def expansion(self, v: Array, w: Array | None = None) -> Any:
        if self._is_small:  # of each row that repeats, one copy
            return on_rows(self.kernel, self.distinct.X, np.arange(self.distinct.X.shape[0]), self._collapse(v))
        if self.is_clipped:
            self.K  # noqa: B018 - computes the projector
            v = self._projector @ v
        return super().expansion(v, w)

    @property
    def compared(self) -> Any:
        """What ``kernel.compare`` gives for the rows: made once for all values of the kernel's parameters."""
        S = self.distinct.compared
        return S if self._ids is None else self.kernel.part(S, self._ids, self._ids)

    def parameter_gradient(self, W: Array, rows: Array, cols: Array) -> Array:
        """``sum_ij W_ij d k(x_i, x_j) / d p`` over some rows i and columns j, for every parameter p of the kernel."""
        K = self.block(rows, cols)
        if self._ids is not None:
            rows, cols = self._ids[rows], self._ids[cols]
        return self.kernel.parameter_gradient(W, self.distinct.part(rows, cols), K)

    def at(self, name: str, value: float) -> DenseGram:
        return DenseGram(self.kernel.at(name, value), self.X, self.rows, self.clip, self.distinct.at(name, value))

    def with_kernel(self, kernel: Kernel) -> DenseGram:
        """The same rows with another kernel of rows."""
        distinct = Distinct(kernel, self.distinct.X, self.distinct.ids)
        return DenseGram(kernel, self.X, self.rows, self.clip, distinct)

    def take(self, rows: Any) -> DenseGram:
        return DenseGram(self.kernel, self.X, self.places(rows), self.clip, self.distinct)

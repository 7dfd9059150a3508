"""The Gram matrix held whole."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from svmpath.exceptions import IndefiniteKernelWarning
from svmpath.gram.base import Array, Gram
from svmpath.interrupts import interruptible
from svmpath.kernels import Kernel
from svmpath.lazy import lazy

# Below this share of the largest eigenvalue a negative one is rounding, not the kernel.
_NEGATIVE = 1e-8


class DenseGram(Gram):
    """K = k(X, X), an n x n array that is computed when first used.

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
    """

    residual = 0.0
    Z = None

    def __init__(self, kernel: Kernel, X: Any, rows: Any = None, clip: bool = False, S: Any = None) -> None:
        self.kernel = kernel
        self.X = X
        self.rows = rows
        self.clip = clip
        self._S = S  # what kernel.compare gives, kept only while several parameter values share it

    def __getstate__(self) -> dict[str, Any]:
        # Matrices are recomputed after unpickling: a saved model holds the rows, not n x n numbers.
        return {"kernel": self.kernel, "X": self.X, "rows": self.rows, "clip": self.clip, "_S": None}

    @property
    def n(self) -> int:
        return self.X.shape[0] if self.rows is None else len(self.rows)

    @property
    def rank(self) -> int:
        return self.n

    @property
    def entries(self) -> int:
        return self.n**2

    @lazy
    def K(self) -> Array:
        """The matrix itself, examined for negative eigenvalues where the kernel may have some."""
        K = self.kernel.evaluate(self._compare() if self._S is None else self._S)
        if self.kernel.psd is True:
            return K
        if np.abs(K - K.T).max(initial=0.0) > 1e-8 * np.abs(K).max(initial=0.0):
            raise ValueError(f"The matrix of {self.kernel!r} is not symmetric, so it is no kernel: k(x, z) = k(z, x).")
        if self.clip:
            self._projector, K = _clip(K)
        else:
            _warn_if_indefinite(K, self.kernel)
        return K

    def _compare(self) -> Any:
        if self.rows is None:
            return self.kernel.compare(self.X)
        return self.kernel.compare(self.X[self.rows], self.X, self.rows)

    @property
    def diag(self) -> Array:
        return np.diagonal(self.K)

    def block(self, rows: Any, cols: Any) -> Array:
        return self.K[rows][:, cols]

    def matmul(self, v: Array) -> Array:
        return self.K @ v

    def cross(self, X: Any) -> Array:
        K = self.kernel(X, self.X, self.rows)
        if self.clip and self.kernel.psd is not True:
            self.K  # noqa: B018 - computes the projector
            K = K @ self._projector
        return K

    @property
    def compared(self) -> Any:
        """What ``kernel.compare`` gives for the rows: made once for all values of the kernel's parameters."""
        if self._S is None:
            self._S = self._compare()
        return self._S

    def at(self, name: str, value: float) -> DenseGram:
        return DenseGram(self.kernel.at(name, value), self.X, self.rows, self.clip, self.compared)

    def take(self, rows: Any) -> DenseGram:
        rows = np.arange(self.n)[rows]
        return DenseGram(self.kernel, self.X, rows if self.rows is None else self.rows[rows], self.clip)


def _clip(K: Array) -> tuple[Array, Array]:
    """The projector on the positive eigenvectors, and K restricted to them."""
    values, Q = interruptible(np.linalg.eigh, K)
    positive = values > _NEGATIVE * max(values[-1], 0.0)
    Q = Q[:, positive]
    return Q @ Q.T, (Q * values[positive]) @ Q.T


def _warn_if_indefinite(K: Array, kernel: Kernel) -> None:
    values = interruptible(np.linalg.eigvalsh, K)
    if values[0] < -_NEGATIVE * max(values[-1], 0.0):
        warnings.warn(
            f"The matrix of {kernel!r} has negative eigenvalues (smallest / largest = "
            f"{values[0] / max(values[-1], 1e-300):.2g}): the problem is not convex and no leave-one-out theory "
            "holds. psd='clip' replaces it by its positive semi-definite part.",
            IndefiniteKernelWarning,
            stacklevel=4,
        )

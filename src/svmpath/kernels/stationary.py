"""Kernels of the distance: rbf, laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import manhattan_distances

from svmpath.kernels.base import Array, SimpleKernel, pick


def squared_distances(X: Any, Z: Any = None) -> Array:
    """``||x_i - z_j||^2`` for all rows; X against itself if Z is None.

    The rows are moved by one common vector first (dense input): distances do not change, and the difference
    ``|x|^2 + |z|^2 - 2 x.z`` then loses no digits to a far-away origin (a column of years, say).
    """
    same = Z is None or Z is X
    Z = X if same else Z
    if issparse(X) or issparse(Z):
        S = X @ Z.T
        S = -2.0 * np.asarray(S.toarray() if issparse(S) else S, dtype=float)
        S += squared_norms(X)[:, None]
        S += squared_norms(Z)
    else:
        S = _dense_squared_distances(X, Z)
    np.maximum(S, 0.0, out=S)
    if same:
        np.fill_diagonal(S, 0.0)
    return S


def _dense_squared_distances(X: Array, Z: Array) -> Array:
    """One product: the rows (x, |x|^2, 1) with the rows (-2 z, 1, |z|^2), after moving the origin."""
    centre = Z.mean(axis=0)
    left, right = (np.empty((len(A), A.shape[1] + 2)) for A in (X, Z))
    np.subtract(X, centre, out=left[:, :-2])
    np.subtract(Z, centre, out=right[:, :-2])
    left[:, -2], left[:, -1] = squared_norms(left[:, :-2]), 1.0
    right[:, -1], right[:, -2] = squared_norms(right[:, :-2]), 1.0
    right[:, :-2] *= -2.0
    return left @ right.T


def squared_norms(X: Any) -> Array:
    """``||x_i||^2`` for all rows."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


class _Exponential(SimpleKernel):
    """exp(-gamma d(x, z)) for a distance d."""

    gamma: float

    def __post_init__(self) -> None:
        if not self.gamma >= 0:
            raise ValueError(f"gamma must be a number >= 0, got {self.gamma!r}.")

    def evaluate(self, S: Array) -> Array:
        K = np.multiply(S, -self.gamma)
        return np.exp(K, out=K)

    def derive(self, S: Array, name: str) -> Array:
        return -S * self.evaluate(S)

    def values_and_rates(self, S: Array, name: str) -> tuple[Array, Array]:
        K = self.evaluate(S)
        return K, -S * K

    def diag(self, X: Any) -> Array:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class RBF(_Exponential):
    """exp(-gamma ||x - z||^2), scikit-learn's ``"rbf"``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import RBF
    >>> RBF(gamma=0.5)(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    gamma: float = 1.0

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Array:
        """Squared Euclidean distances."""
        return squared_distances(X, None if Z is None else pick(Z, rows))


@dataclass(frozen=True)
class Laplacian(_Exponential):
    """exp(-gamma ||x - z||_1), scikit-learn's ``"laplacian"``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import Laplacian
    >>> Laplacian(gamma=0.5)(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    gamma: float = 1.0

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Array:
        """Sums of absolute differences."""
        return manhattan_distances(X, None if Z is None else pick(Z, rows))

"""Kernels of the distance: rbf, laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from svmpath.kernels.base import Array, SimpleKernel, pick
from svmpath.kernels.repeated import PAIRWISE_ROWS, compare_distinct, mirror
from svmpath.parameters import Parameter

_CLOSE_SHARE = 1e-6  # share of |x|^2 + |z|^2 below which a squared distance is computed from the difference
_ALL_FROM_SHARE = 0.2  # share of such pairs from which on it is cheaper to do all pairs so
_LOOK_FROM_SHARE = 0.001  # share from which on it pays to look at pairs more closely
_NARROW_COLUMNS = 2  # columns up to which all pairs are done so
_ROWS_AT_ONCE = 128  # rows done at a time
_DIFFERENCES_AT_ONCE = 1 << 20  # numbers held at a time, of differences between rows
_DENSE_ENTRIES = 1 << 24  # entries up to which a sparse matrix may be filled


def squared_distances(X: Any, Z: Any = None) -> Array:
    """``||x_i - z_j||^2`` for all rows; X against itself if Z is None.

    ``|x|^2 + |z|^2 - 2 x.z`` is one matrix product, but loses digits if x and z are close to each other. Such pairs are
    computed again from their differences, so that every distance has at least nine digits, and equal rows have
    distance zero. Dense rows are first shifted by a common vector, because digits would also be lost if all rows were
    far from the origin (as with a column of years). For X against itself, the result is symmetric to the last bit.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Rows.
    Z : array or CSR matrix of shape (m, d), optional
        Other rows; X by default.

    Returns
    -------
    array of shape (n, n) or (n, m)
        Not negative.

    See Also
    --------
    svmpath.kernels.RBF : The Gaussian kernel.

    Examples
    --------
    >>> from svmpath.kernels import squared_distances
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0], [3.0]]))
    array([[0., 9.],
           [9., 0.]])
    """
    Z = None if Z is X else Z
    if Z is not None and issparse(X) != issparse(Z):
        X, Z = csr_array(X), csr_array(Z)
    if issparse(X):
        return compare_distinct(_expanded_squares, X, Z)
    X, Z = np.asarray(X, dtype=float), None if Z is None else np.asarray(Z, dtype=float)
    if X.shape[1] <= _NARROW_COLUMNS or (Z is not None and len(X) < PAIRWISE_ROWS):
        return cdist(X, X if Z is None else Z, "sqeuclidean")  # pair by pair, from differences
    return compare_distinct(_expanded_squares, X, Z)


def _expanded_squares(X: Any, Z: Any) -> Array:
    """|x|^2 + |z|^2 - 2 x.z of all pairs, those of close ones from differences.

    Dense: one product, of the rows (x, |x|^2, 1) with the rows (-2 z, 1, |z|^2), after moving the origin. Of sparse
    rows that would fill the matrices.
    """
    same, Z = Z is None, X if Z is None else Z
    n, is_sparse = X.shape[0], issparse(X)
    if is_sparse:
        norms = squared_norms(X), squared_norms(Z)
        S = -2.0 * np.asarray((X @ Z.T).toarray(), dtype=float)
        S += norms[0][:, None]
        S += norms[1]
    else:
        S, centre = np.empty((n, len(Z))), Z.mean(axis=0)
        left, right = (np.empty((len(A), A.shape[1] + 2)) for A in (X, Z))
        np.subtract(X, centre, out=left[:, :-2])
        np.subtract(Z, centre, out=right[:, :-2])
        norms = squared_norms(left[:, :-2]), squared_norms(right[:, :-2])
        left[:, -2], left[:, -1], right[:, -1], right[:, -2] = norms[0], 1.0, norms[1], 1.0
        right[:, :-2] *= -2.0
    for start in range(0, n, _ROWS_AT_ONCE):
        rows, cols = slice(start, min(start + _ROWS_AT_ONCE, n)), slice(start if same else 0, None)
        block = S[rows, cols]
        if not is_sparse:
            np.matmul(left[rows], right[cols].T, out=block)
        if same:
            np.fill_diagonal(block, np.inf)  # known, and not to be done again
        _correct(block, (rows, cols), [_CLOSE_SHARE * norm for norm in norms], X, Z)
        if same:
            np.fill_diagonal(block, 0.0)
            mirror(S, rows.start, rows.stop)
    return S


def _correct(S: Array, where: tuple[slice, slice], close: list[Array], X: Any, Z: Any) -> None:
    """Compute the distances of some rows S_ij <= close_i + close_j, which are close to each other, again."""
    rows, cols = where
    left, right = close[0][rows], close[1][cols]
    near = left.max() + right.max() >= S  # one number is compared with faster than a sum per pair
    if np.count_nonzero(near) > _LOOK_FROM_SHARE * near.size:
        near = left[:, None] + right >= S
    is_small = not issparse(Z) or Z.shape[0] * Z.shape[1] <= _DENSE_ENTRIES
    if is_small and np.count_nonzero(near) > _ALL_FROM_SHARE * near.size:
        S[:] = cdist(_dense(X[rows]), _dense(Z[cols]), "sqeuclidean")
        return
    pairs, step = np.flatnonzero(near), max(1, _DIFFERENCES_AT_ONCE // X.shape[1])
    for k in range(0, len(pairs), step):  # from differences of rows, a bounded number at a time
        i, j = np.divmod(pairs[k : k + step], S.shape[1])
        S[i, j] = squared_norms(_dense(X[i + rows.start]) - _dense(Z[j + cols.start]))


def _dense(X: Any) -> Array:
    return X.toarray() if issparse(X) else X


def squared_norms(X: Any) -> Array:
    """``||x_i||^2`` for all rows."""
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    X = np.ascontiguousarray(X, dtype=float)  # sums are ordered by the layout in memory
    return np.einsum("ij,ij->i", X, X)


class _Exponential(SimpleKernel):
    """exp(-gamma d(x, z)) for a distance d."""

    gamma: float
    declared = (Parameter("gamma"),)

    def __post_init__(self) -> None:
        if not self.gamma >= 0:
            raise ValueError(f"gamma must be a number >= 0, got {self.gamma!r}.")

    def evaluate(self, S: Array) -> Array:
        K = np.multiply(S, -self.gamma)
        return np.exp(K, out=K)

    def single(self, X: Any, Z: Any, rows: Any) -> Array:
        # Distances need all their digits, exp does not: it takes a third of the time in single precision.
        return self.evaluate(self.compare(X, Z, rows).astype(np.float32))

    def derive(self, S: Array, name: str) -> Array:
        return -S * self.evaluate(S)

    def values_and_rates(self, S: Array, name: str) -> tuple[Array, Array]:
        K = self.evaluate(S)
        return K, -S * K

    def parameter_gradient(self, W: Array, S: Array, K: Array | None = None) -> Array:
        return np.array([-np.vdot(W, S * (self.evaluate(S) if K is None else K))])

    def diag(self, X: Any) -> Array:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class RBF(_Exponential):
    """exp(-gamma ||x - z||^2), scikit-learn's ``"rbf"``.

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse squared width, positive.

    See Also
    --------
    svmpath.kernels.ARD : One gamma per feature.
    svmpath.kernels.Laplacian : The exponential of the l1 distance.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import RBF
    >>> RBF(gamma=0.5)(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    gamma: float = 1.0
    sklearn_name = "rbf"

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Array:
        """Squared Euclidean distances."""
        return squared_distances(X, None if Z is None else pick(Z, rows))


@dataclass(frozen=True)
class Laplacian(_Exponential):
    """exp(-gamma ||x - z||_1), scikit-learn's ``"laplacian"``.

    Parameters
    ----------
    gamma : float, default=1.0
        The inverse width, positive.

    See Also
    --------
    svmpath.kernels.RBF : The Gaussian kernel.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import Laplacian
    >>> Laplacian(gamma=0.5)(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    gamma: float = 1.0
    sklearn_name = "laplacian"

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Array:
        """Sums of absolute differences."""
        return compare_distinct(manhattan_distances, X, None if Z is None else pick(Z, rows))

"""A machine on few rows: the expansion back on the kernel (Bonidal, Tindel & Guermeur, 2.7.3).

A solution is f = k(., X) alpha + b, with as many kernel values per new row as there are support vectors, or landmarks
in low rank. Over a subset J of these rows we look for coefficients gamma with the same decision values in training::

    minimise over gamma:   sum_i (k(x_i, X_J) gamma + b - f(x_i))^2

J is chosen in two steps. A pivoted Cholesky factor of the rows' kernel matrix, of which no more than the pivots' rows
are computed, gives a pool whose kernel functions are far from dependent; from it, one row at a time, the one is taken
that lowers the sum of squares most (orthogonal least squares). If J spans what all of the rows span, as with linear and
polynomial kernels once J has as many rows as the kernel has dimensions, the expansion is exact, away from the training
rows too. In low rank the machine stands on the landmarks; where these are no rows (k-means), no rows need span it.

The sum is over all rows, also those of weight zero: landmarks may be among them, and the others alone would leave their
coefficients open.

The offset b is kept. Fitted as well it was no better on average, and with nearly as many rows as samples it is one
unknown too many: then f is met on the training rows by many pairs of gamma and b, of which one is right elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.linalg import lstsq

from svmpath.gram.base import Gram, in_chunks
from svmpath.gram.pivoted_cholesky import pivoted_cholesky
from svmpath.kernels import Kernel
from svmpath.row_order import random_order
from svmpath.solvers.threads import blas_threads
from svmpath.validation import draw_seed

if TYPE_CHECKING:
    from svmpath.losses.base import Solution

Array = np.ndarray

_POOL = 2  # rows in the pool for each that is chosen
_EXACT = 1e-10  # relative; a diagonal entry that the low-rank kernel has to this much belongs to a landmark
_SPENT = 1e-26  # a column with this share of its square left is explained by the columns chosen before


@dataclass(frozen=True, repr=False)
class Compressed:
    """A machine on few rows; call it on new rows for decision values.

    Each new row costs ``len(support)`` kernel values.

    Attributes
    ----------
    kernel : Kernel
    points : array or CSR matrix of shape (size, d), or None
        The rows it stands on; None for a precomputed kernel, where ``columns`` names columns of kernel values.
    columns : array of int or None
    width : int
        Number of columns that new rows must have.
    support : array of shape (size,)
        Their numbers among the training rows: support vectors of the whole machine, or landmarks in low rank.
    coef : array of shape (size,)
        The signed coefficients gamma.
    b : float
        Offset.
    error : float
        Largest difference of a decision value from that of the whole machine, on all training rows.

    See Also
    --------
    svmpath.losses.Solution : The machine at one value.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> solution = svmpath.trace(X, y, loss="least_squares", gamma=1.0)(1.0)
    >>> small = solution.compress(20)
    >>> len(small.support), small(X[:3]).shape
    (20, (3,))
    """

    kernel: Kernel
    points: Any
    columns: Array | None
    width: int
    support: Array
    coef: Array
    b: float
    error: float

    def __repr__(self) -> str:
        return f"<Compressed: {len(self.support)} samples, error {self.error:.2g}, {self.kernel!r}>"

    def __call__(self, X: Any) -> Array:
        """Decision values of the rows of X.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d); (m, n) kernel values for a precomputed kernel
        """
        X = check_rows(X, self.width)
        if len(self.coef) == 0:
            return np.full(X.shape[0], self.b)
        return in_chunks(X, len(self.coef), self._expand) + self.b

    def _expand(self, X: Any) -> Array:
        return self.kernel(X, self.points, self.columns) @ self.coef


def check_rows(X: Any, width: int) -> Any:
    """New rows as floats, refused if they do not have as many columns as in training."""
    X = X if hasattr(X, "shape") and hasattr(X, "dtype") else np.asarray(X)
    if X.ndim != 2 or X.shape[1] != width:
        raise ValueError(f"X must have shape (m, {width}), as in training; got shape {X.shape}.")
    return X.astype(float, copy=False)


def compress(solution: Solution, size: int, random_state: Any = None) -> Compressed:
    """The solution on at most ``size`` rows; see :meth:`svmpath.losses.Solution.compress`."""
    if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
        raise ValueError(f"size must be a whole number >= 1, got {size!r}.")
    gram, every = solution.problem.gram, np.arange(solution.problem.n)
    seed = draw_seed(random_state)
    limit = _POOL * int(size) if gram.Z is None else max(_POOL * int(size), gram.rank)
    pool = _pool(gram, _candidates(solution), limit, seed)
    K = gram.kernel(gram.X[_own(gram, every)], *_base(gram, pool)) if len(pool) else np.empty((len(every), 0))
    f = solution.fitted - solution.b
    with blas_threads(K.size):
        chosen, coef = _fit(K, f, int(size))
    error = float(np.abs(K[:, chosen] @ coef - f).max())
    J = pool[chosen]
    return Compressed(gram.kernel, *_base(gram, J), gram.X.shape[1], J, coef, solution.b, error)


def _candidates(solution: Solution) -> Array:
    """The rows to choose from: the support vectors; in low rank the landmarks, on which the machine stands already.

    Landmarks that are rows are known by their diagonal entries, which the low-rank kernel has exactly.
    """
    gram, support = solution.problem.gram, solution.support
    if gram.Z is None or len(support) == 0:
        return support
    diag = gram.kernel.diag(gram.X)[_own(gram, np.arange(gram.n))]
    exact = np.flatnonzero(np.abs(diag - gram.diag) <= _EXACT * np.abs(diag))
    return exact if len(exact) >= gram.rank else np.union1d(exact, support)


def _own(gram: Gram, rows: Array) -> Array:
    """The rows of ``gram.X`` that these rows of the problem are."""
    return rows if gram.rows is None else gram.rows[rows]


def _base(gram: Gram, rows: Array) -> tuple[Any, Array | None]:
    """What the kernel is evaluated against: the rows themselves, or for a precomputed kernel the columns to read."""
    own = _own(gram, rows)
    return (None, own) if gram.kernel.pairwise else (gram.X[own], None)


def _pool(gram: Gram, rows: Array, limit: int, seed: int) -> Array:
    """Some of the rows, far from dependent; fewer than the limit where they span what all of the rows span."""
    kernel, X, limit = gram.kernel, gram.contents(rows), min(limit, len(rows))
    if len(rows) == 0 or (kernel.psd is True and not np.any(kernel.diag(X) > 0)):
        return rows[:0]
    try:
        return rows[pivoted_cholesky(kernel, X, limit, 0.0, seed, greedy=False)[0]]
    except ValueError:  # an indefinite kernel has no pivots: any rows will do
        return rows[random_order(X, seed=seed, pairwise=kernel.pairwise)[:limit]]


def _fit(K: Array, f: Array, size: int) -> tuple[Array, Array]:
    """At most ``size`` columns of K, and the coefficients with which they are nearest to f."""
    # The triangle knows all that inner products of these columns know.
    T = cast(Array, np.linalg.qr(np.column_stack([K, f]), mode="r"))
    chosen = _choose(T[:, :-1], T[:, -1], size)
    return chosen, lstsq(T[:, chosen], T[:, -1], check_finite=False)[0] if len(chosen) else np.empty(0)


def _choose(R: Array, r: Array, size: int) -> Array:
    """Columns of R one after the other, each the one that takes most off the square of what is left of r."""
    R, r = R.copy(), r.copy()
    start = np.einsum("ij,ij->j", R, R)
    chosen: list[int] = []
    while len(chosen) < min(size, R.shape[1]):
        left = np.einsum("ij,ij->j", R, R)
        gain = np.where(left > _SPENT * start, (r @ R) ** 2 / np.where(left > 0, left, 1.0), -1.0)
        gain[chosen] = -1.0
        k = int(np.argmax(gain))
        if gain[k] < 0:
            break
        q = R[:, k] / np.sqrt(left[k])
        R -= np.outer(q, q @ R)
        r -= q * (q @ r)
        chosen.append(k)
    return np.array(chosen, dtype=int)

"""A random order of rows that depends on what they hold, not on where they stand.

Landmarks, samples of rows and folds are drawn at random. Drawn by row number, they would change when the rows of a file
are sorted, and so would the choice of C and gamma. So every row gets a pseudo-random number h_i from its contents and
the seed, and the rows are taken in the order of these numbers::

    q_ij = floor(2^24 x_ij / max_i |x_ij| + 0.31),        h_i = mix(sum_j m_j q_ij + mix(seed))        modulo 2^64

with odd random numbers m_j. Whole-number arithmetic is the same on every processor. The columns are rounded to 24 bits,
so that rows that were scaled in another order, which changes their last digits, get the same numbers; the shift of 0.31
keeps halves, quarters and so on away from the steps of the floor. A row whose digits still cross a step changes its
turn, which is rare: for columns whose mean is not a million times their deviation, less than one row in a thousand.
Zeros count for nothing, so that a sparse matrix has the order of the dense one.

Rows with the same number are taken in the order of a number from their exact contents, then of their weights, and the
k-th of them gets mix(h_i + k). So copies are spread like other rows, and which of them is the k-th makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

Array = np.ndarray

_STEPS = 2.0**24  # per largest entry of a column
_SHIFT = 0.31
_CHUNK = 2_000_000  # entries that are looked at together
# Constants of the mixing function "splitmix64".
_GOLDEN, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class KeyedRows:
    """Rows that are elsewhere, of which the keys are known: they have the order that they have at hand.

    Attributes
    ----------
    keys : array of shape (n,)
        As :func:`row_keys` makes them.
    """

    keys: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and no columns."""
        return len(self.keys), 0

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, rows: Any) -> KeyedRows:
        return KeyedRows(self.keys[rows])


def random_order(
    X: Any, *others: Array, seed: int | tuple[int, ...], pairwise: bool = False, ties: Array | None = None
) -> Array:
    """The row numbers of X in random order.

    Parameters
    ----------
    X : array, CSR matrix of shape (n, d), or KeyedRows
    *others : array of shape (n,) or (n, k)
        What else the rows hold, as numbers: targets.
    seed : int or tuple of int
        What is drawn for different purposes has a second number of its own: landmarks that are the first rows of this
        order would else be the rows of the first fold.
    pairwise : bool
        Whether X holds kernel values, whose columns stand in the order of the rows.
    ties : array of shape (n,), optional
        What tells rows apart that hold the same, such as weights: where all are equal, the order is that without them.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.row_order import random_order
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 2.0], [5.0, 0.0]])
    >>> order, turned = random_order(X, seed=0), random_order(X[::-1], seed=0)
    >>> np.array_equal(X[order], X[::-1][turned])
    True
    """
    blocks = [X, *others]
    keys = sum(_keys(block, k, pairwise and k == 0) for k, block in enumerate(blocks))
    assert isinstance(keys, np.ndarray)
    # By their size, not by their digits: those of weights change with the order in which their mean was computed.
    last = np.zeros(len(keys)) if ties is None else ties
    return order_of_keys(keys, seed, lambda rows: (last[rows], _exact_keys(blocks, rows)))


def row_keys(X: Array, largest: Array) -> Array:
    """sum_j m_j q_ij for some of the rows, where the largest |x_ij| of all of them are known."""
    return _rounded(X, _units(largest, pairwise=False)) @ odd_numbers(X.shape[1], 0)


def order_of_keys(
    h: Array, seed: int | tuple[int, ...], exact: Callable[[Array], tuple[Array, ...]] | None = None
) -> Array:
    """Row numbers in random order from the keys of all rows.

    ``exact(rows)`` are numbers by which rows with equal keys are sorted, the last ones first.
    """
    for number in np.atleast_2d(np.asarray(seed, dtype=np.uint64)).T:  # arrays: of scalars, numpy reports overflow
        h = _mix(h + _mix(number))
    order = np.argsort(h, kind="stable")
    copies = np.flatnonzero(h[order[1:]] == h[order[:-1]]) + 1
    if len(copies) == 0:
        return order
    if exact is not None:
        places = np.union1d(copies, copies - 1)
        tied = order[places]
        order[places] = tied[np.lexsort((*exact(tied), h[tied]))]
    # How many equal rows come before each: its distance to the last one that differs from the row before it.
    begin = np.arange(len(h))
    begin[copies] = 0
    k = np.arange(len(h)) - np.maximum.accumulate(begin)
    h[order] = np.where(k > 0, _mix(h[order] + k.astype(np.uint64)), h[order])
    return np.argsort(h, kind="stable")


def _exact_keys(blocks: list[Any], rows: Array) -> Array:
    """Numbers from the exact contents of some rows, in which the columns of a block count alike."""
    keys = np.zeros(len(rows), dtype=np.uint64)
    for block in (block for block in blocks if not isinstance(block, KeyedRows)):
        part = block.tocsr()[rows] if issparse(block) else np.asarray(block, dtype=float)[rows].reshape(len(rows), -1)
        numbers = np.ascontiguousarray(part.data if issparse(part) else part, dtype=float)
        bits = np.where(numbers != 0.0, _mix(numbers.view(np.uint64)), np.uint64(0))
        keys = _mix(keys + (row_sums(bits, part.indptr) if issparse(part) else bits.sum(axis=1)))
    return keys


def row_sums(terms: Array, indptr: Array) -> Array:
    """Sums of the stored entries of each row of a CSR matrix, modulo 2^64."""
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return total[indptr[1:]] - total[indptr[:-1]]


def _keys(X: Any, seed: int, pairwise: bool) -> Array:
    """sum_j m_j q_ij for every row; of kernel values the sum of mix(q_ij), in which all columns count alike."""
    if isinstance(X, KeyedRows):
        return X.keys
    X = X if issparse(X) else np.asarray(X, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    n, d = X.shape
    m = odd_numbers(d, seed)
    if issparse(X):
        X = X.tocsr()
        unit = _units(np.asarray(abs(X).max(axis=0).todense()).ravel(), pairwise)
        q = _rounded(X.data, unit[X.indices])
        terms = np.where(q != 0, _mix(q), np.uint64(0)) if pairwise else q * m[X.indices]
        return row_sums(terms, X.indptr)
    unit = _units(np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0)), pairwise)
    keys = np.empty(n, dtype=np.uint64)
    for start in range(0, n, max(1, _CHUNK // max(d, 1))):
        part = slice(start, start + max(1, _CHUNK // max(d, 1)))
        q = _rounded(X[part], unit)
        keys[part] = np.where(q != 0, _mix(q), np.uint64(0)).sum(axis=1) if pairwise else q @ m
    return keys


def odd_numbers(d: int, seed: int) -> Array:
    """Odd random numbers, of which the first are the same for any d."""
    return np.random.default_rng(seed).integers(2**63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _units(largest: Array, pairwise: bool) -> Array:
    """What the entries of each column are measured in."""
    largest = np.full_like(largest, largest.max(initial=0.0)) if pairwise else largest
    return np.where(largest > 0.0, largest, 1.0)


def _rounded(x: Array, unit: Array) -> Array:
    """The entries as whole numbers modulo 2^64."""
    return np.floor(x / unit * _STEPS + _SHIFT).astype(np.int64).view(np.uint64)


def _mix(h: Array) -> Array:
    """Numbers that look random, and are different for different numbers."""
    h = h + _GOLDEN
    h = (h ^ (h >> np.uint64(30))) * _FIRST
    h = (h ^ (h >> np.uint64(27))) * _SECOND
    return h ^ (h >> np.uint64(31))

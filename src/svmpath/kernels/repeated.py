"""Rows that repeat: found once, compared once.

A matrix product does not guarantee that equal rows give equal results to the last bit: the order of summation may
depend on the position of the row. If two copies of a row differ by rounding, the kernel matrix is nearly singular
instead of exactly singular, which misleads a solver. So each distinct row is compared once, and its copies get the same
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from svmpath.row_order import odd_numbers, row_sums

Array = np.ndarray

_MIRRORED_ROWS = 128  # rows that are made symmetric at a time
PAIRWISE_ROWS = 16  # rows up to which a comparison goes pair by pair: to look for copies would cost more


class Repeats(NamedTuple):
    """Which rows are copies of each other.

    Attributes
    ----------
    first : array of int of shape (k,)
        The first copy of each distinct row, rising.
    ids : array of int of shape (n,)
        Which distinct row each row is: ``X[first[ids]] == X``.
    """

    first: Array
    ids: Array


def find_repeats(X: Any) -> Repeats | None:
    """The distinct rows of X; None if no row repeats. -0.0 equals 0.0, stored zeros of sparse matrices are zeros."""
    repeats = group(_keys(X if issparse(X) else np.asarray(X, dtype=float)))
    if repeats is not None and not _are_equal(X, repeats):  # two different rows have the same key
        # The rows themselves as keys: slower, and never the same for different rows.
        numbers: dict[bytes, int] = {}
        dense = (np.asarray(X[[i]].toarray() if issparse(X) else X[i], dtype=float) + 0.0 for i in range(X.shape[0]))
        return group(np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in dense]))
    return repeats


def group(keys: Array) -> Repeats | None:
    """Equal keys, numbered as they first occur; None if there are none."""
    _, first, ids = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(keys):
        return None
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Repeats(first[order], rank[ids])


def copy_first(A: Array, repeats: Repeats | None) -> Array:
    """A, with the row of the first copy written to all other copies; A itself if no row repeats."""
    return A if repeats is None else A[repeats.first[repeats.ids]]


def compare_distinct(compare: Callable[[Any, Any], Array], X: Any, Z: Any = None) -> Array:
    """``compare(X, Z)``, computed for the distinct rows and copied to the others; Z is None for X against itself."""
    rows = find_repeats(X)
    cols = rows if Z is None else find_repeats(Z)
    S = compare(X if rows is None else X[rows.first], Z if Z is None or cols is None else Z[cols.first])
    S = S if rows is None else S.take(rows.ids, axis=0)
    return S if cols is None else S.take(cols.ids, axis=1)


def make_symmetric(S: Array) -> None:
    """Make a square matrix symmetric to the last bit, in place."""
    for start in range(0, len(S), _MIRRORED_ROWS):
        mirror(S, start, min(start + _MIRRORED_ROWS, len(S)))


def mirror(S: Array, start: int, stop: int) -> None:
    """Copy the entries of rows start to stop right of their diagonal block below it; make that block symmetric."""
    S[stop:, start:stop] = S[start:stop, stop:].T
    block = S[start:stop, start:stop]
    block[:] = np.maximum(block, block.T)


def _mix(bits: Array) -> Array:
    """Bits of floats with the high half in the low one as well: whole numbers have zeros there."""
    return bits ^ (bits >> np.uint64(32))


def _keys(X: Any) -> Array:
    """One whole number per row, the same for equal rows wherever they stand: the arithmetic is modulo 2^64."""
    factors = odd_numbers(X.shape[1], 0)
    if not issparse(X):
        return _mix(np.ascontiguousarray(X + 0.0).view(np.uint64)) @ factors
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    return row_sums(_mix((np.asarray(X.data, dtype=float) + 0.0).view(np.uint64)) * factors[X.indices], X.indptr)


def _are_equal(X: Any, repeats: Repeats) -> bool:
    copies = np.setdiff1d(np.arange(len(repeats.ids)), repeats.first, assume_unique=True)
    originals = repeats.first[repeats.ids[copies]]
    if issparse(X):
        return bool(abs(X[copies] - X[originals]).sum() == 0)
    X = np.asarray(X)
    return all(
        np.array_equal(X[copies[k : k + 4096]], X[originals[k : k + 4096]], equal_nan=True)
        for k in range(0, len(copies), 4096)
    )

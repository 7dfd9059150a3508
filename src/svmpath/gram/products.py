"""Products with a matrix that is stored in single precision.

Computed in double precision, NumPy would make a copy of the whole matrix first. Here it is converted some rows at a
time, which costs little more than to read it. A matrix in double precision is multiplied as it is.

Of a symmetric matrix half is enough (``symmetric_times``): each tile of it is multiplied twice while it is near the
processor, as it is and transposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from svmpath.interrupts import checkpoint

Array = np.ndarray

_CONVERTED_AT_ONCE = 1 << 16  # entries: half a megabyte, which stays near the processor
_TILE = 2048  # columns that are multiplied as they are and transposed before the next are read
_LANES = 8  # numbers that the processor multiplies at a time: 16 columns take less time than 15


def times(A: Array, v: Array) -> Array:
    """A @ v."""
    if A.dtype == np.float64:
        return A @ v
    result = np.empty((len(A), *v.shape[1:]))
    for part, block in converted(A):
        np.matmul(block, v, out=result[part])
    return result


def transposed_times(A: Array, v: Array) -> Array:
    """A.T @ v."""
    if A.dtype == np.float64:
        return A.T @ v
    result = np.zeros((A.shape[1], *v.shape[1:]))
    for part, block in converted(A):
        result += block.T @ v[part]
    return result


def converted(A: Array) -> Iterator[tuple[slice, Array]]:
    """Blocks of rows in double precision, one after the other in the same piece of memory."""
    room = None
    for part in blocks(A):
        room = np.empty((part.stop - part.start, A.shape[1])) if room is None else room
        block = room[: len(A) - part.start]
        block[:] = A[part]
        yield part, block


def blocks(A: Array, entries: int = _CONVERTED_AT_ONCE) -> Iterator[slice]:
    """Slices of rows with about so many entries each."""
    step = max(1, entries // max(A.shape[1], 1))
    for start in range(0, len(A), step):
        yield slice(start, start + step)


def symmetric_times(lower: Iterable[Array], V: Array) -> Array:
    """K V in single precision for a symmetric K, of which ``lower`` has blocks of rows from top to bottom.

    Each block ends with the column of its last row.
    """
    n, m = V.shape
    width = m if m < _LANES // 2 else -(-m // _LANES) * _LANES
    V_t, result = np.zeros((width, n), dtype=np.float32), np.zeros((width, n), dtype=np.float32)
    V_t[:m] = V.T
    for block in lower:
        checkpoint()
        first, last = block.shape[1] - len(block), block.shape[1]
        own, right = slice(first, last), np.ascontiguousarray(V_t[:, first:last])
        total = right @ block[:, first:]
        for start in range(0, first, _TILE):
            part = slice(start, min(start + _TILE, first))
            result[:, part] += right @ block[:, part]
            total += V_t[:, part] @ block[:, part].T
        result[:, own] += total
    return result[:m].T.astype(float)

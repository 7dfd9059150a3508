"""Products with a matrix that is stored in single precision, computed in double precision.

NumPy would make a copy of the whole matrix in double precision first. Here it is converted some rows at a time, which
costs little more than to read it. A matrix in double precision is multiplied as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Array = np.ndarray

_CONVERTED_AT_ONCE = 1 << 16  # entries: half a megabyte, which stays near the processor


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

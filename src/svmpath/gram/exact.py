"""Products with the full kernel matrix, whatever approximation there is: K v a block of rows at a time.

:class:`FullProducts` is for many products. It holds K in single precision while there is room, and else makes its
blocks anew in every product, in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath import progress
from svmpath.gram.base import Array, Gram
from svmpath.gram.memory import memory_limit
from svmpath.gram.products import blocks
from svmpath.interrupts import checkpoint
from svmpath.lazy import lazy

_BLOCK = 1 << 22  # kernel values of a block: some 50 ms between two looks for Ctrl-C
_PART = 1 << 25  # entries of K that are multiplied between two looks for Ctrl-C
_ARRAYS = 4  # of the size of a block, which a kernel holds at a time while it is computed


def exact_product(
    gram: Gram, v: Array, rows: Any = slice(None), *, values_at_once: int = _BLOCK, watch: bool = True
) -> Array:
    """``K[rows] @ v`` with the full kernel of these rows, in blocks that fit into the memory limit.

    Columns of K in which v is zero are not computed.

    Parameters
    ----------
    gram : Gram
        Of full or of low rank.
    v : array of shape (n,) or (n, m)
    rows : array of int or slice
        The rows of the product that are needed.
    values_at_once : int
        The most kernel values of a block.
    watch : bool
        Whether each block is a part of the work whose progress is reported.
    """
    if gram.Z is None:  # held already
        return gram.matmul(v)[rows]
    counts = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
    wanted, columns, v = gram.places(rows), gram.places(counts), v[counts]
    room = int(min(values_at_once, memory_limit() / (8 * _ARRAYS)))
    result = np.zeros((len(wanted), *v.shape[1:]))
    step = max(1, room // max(len(columns), 1))
    starts = range(0, len(wanted) if len(columns) else 0, step)
    if watch:
        progress.begin("full kernel", len(starts))
    for start in starts:
        checkpoint()
        part = slice(start, start + step)
        result[part] = gram.kernel(gram.X[wanted[part]], gram.X, columns) @ v
        if watch:
            progress.part_done()
    return result


class FullProducts:
    """K V for many V, as ``solvers.full_kernel`` asks for them.

    Parameters
    ----------
    gram : Gram
        Of full or of low rank.

    Attributes
    ----------
    is_held : bool
        Whether K is held, in single precision.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.is_held = 4.0 * gram.n**2 <= memory_limit()

    @lazy
    def K(self) -> Array:
        """The matrix in single precision, made by blocks."""
        gram, every = self.gram, self.gram.places(slice(None))
        K = np.empty((gram.n, gram.n), dtype=np.float32)
        for part in blocks(K, _BLOCK):
            checkpoint()
            if gram.Z is None:
                K[part] = gram.block(part, slice(None))
            else:
                K[part] = gram.kernel(gram.X[every[part]], gram.X, every)
        return K

    def fast(self, V: Array) -> Array:
        """K V in single precision where K is held."""
        if not self.is_held:
            return self.exact(V)
        V, result = V.astype(np.float32), np.empty(V.shape)
        for part in blocks(self.K, _PART):
            checkpoint()
            result[part] = self.K[part] @ V
        return result

    def exact(self, V: Array) -> Array:
        """K V in double precision."""
        return exact_product(self.gram, V, watch=False)

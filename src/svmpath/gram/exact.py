"""Products with the full kernel matrix, whatever approximation there is: K v a block of rows at a time.

:class:`ProductGram` is the full kernel matrix of rows that are too many for n^2 numbers in double precision, or for a
decomposition: it is known by its products. Half of K is held in single precision while there is room, and else its
blocks are made anew in every product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.gram.approximation import Approximation
from svmpath.gram.base import Array, Gram, in_chunks
from svmpath.gram.low_rank import LowRankGram
from svmpath.gram.memory import memory_limit
from svmpath.gram.products import symmetric_times
from svmpath.interrupts import checkpoint
from svmpath.kernels import Kernel
from svmpath.kernels.base import pick
from svmpath.lazy import lazy
from svmpath.progress import begin, part_done

_BLOCK = 1 << 21  # kernel values of a block: some 20 ms between two looks for Ctrl-C, and not far from the processor
_ROWS = 512  # of K that are made at a time: wide enough for a product, and a fraction of a second
HALF_BYTES = 2.0  # for each entry of K, of which half is held in single precision
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
    if gram.Z is None:  # a full matrix
        return gram.matmul(v)[rows]
    counts = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
    wanted, columns, v = gram.places(rows), gram.places(counts), v[counts]
    room = int(min(values_at_once, memory_limit() / (8 * _ARRAYS)))
    result = np.zeros((len(wanted), *v.shape[1:]))
    step = max(1, room // max(len(columns), 1))
    starts = range(0, len(wanted) if len(columns) else 0, step)
    if watch:
        begin("full kernel", len(starts))
    for start in starts:
        checkpoint()
        part = slice(start, start + step)
        result[part] = gram.kernel(gram.X[wanted[part]], gram.X, columns) @ v
        if watch:
            part_done()
    return result


@dataclass(eq=False)
class HeldMatrix:
    """The one matrix that is held: that of the last kernel asked about, so that two never take up memory.

    Attributes
    ----------
    matrix : tuple of Kernel, rows and list of array, or None
        The lower half by blocks of rows, in single precision; replaced as a whole, never written to, as another thread
        may be multiplying with it.
    part : HeldMatrix or None
        That of some of the rows, such as those that are distinct.
    products : int
        How many products there were.
    """

    matrix: tuple[Kernel, Any, list[Array]] | None = None
    part: HeldMatrix | None = None
    products: int = 0

    def of(self, kernel: Kernel, rows: Any) -> list[Array] | None:
        """The matrix of this kernel and these rows, if that is the one that is held."""
        if self.matrix is None:
            return None
        known, places, K = self.matrix
        is_same = known is kernel or known.parameters == kernel.parameters
        return K if is_same and np.array_equal(places, rows) else None


class ProductGram(Gram):
    """The full kernel matrix of many rows, known by its products K V.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (N, d)
    approximation : Approximation
        Of the same matrix in low rank, by which systems with K are preconditioned.
    seed : int
    rows : array of int, optional
        The rows of X that count; all if None.
    low : LowRankGram, optional
        The matrix in low rank, if it is known already.
    held : HeldMatrix, optional
        Shared by the values of the kernel's parameters.

    See Also
    --------
    svmpath.gram.DenseGram : The full kernel matrix of fewer rows.
    svmpath.gram.LowRankGram : A kernel matrix of low rank.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import Nystroem, ProductGram
    >>> from svmpath.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> gram = ProductGram(RBF(0.1), X, Nystroem(10))
    >>> gram.rank, bool(np.allclose(gram.matmul(np.ones(50)), RBF(0.1)(X).sum(axis=1)))
    (50, True)
    """

    residual = 0.0

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        approximation: Approximation,
        seed: int = 0,
        rows: Any = None,
        low: LowRankGram | None = None,
        held: HeldMatrix | None = None,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.approximation = approximation
        self.seed = seed
        self.rows = rows
        self._low = low
        self._held = HeldMatrix() if held is None else held

    def __getstate__(self) -> dict[str, Any]:
        # A saved model holds the rows, and the map to features if it predicts by them; matrices are made again.
        names = ("kernel", "X", "approximation", "seed", "rows", "_low")
        return {**{name: self.__dict__[name] for name in names}, "_held": HeldMatrix()}

    @property
    def low(self) -> LowRankGram:
        """The same matrix in low rank."""
        if self._low is None:
            self._low = LowRankGram(self.kernel, self.X, self.approximation, self.seed, self.rows)
        return self._low

    @lazy
    def is_held(self) -> bool:
        """Whether half of K is held, in single precision."""
        return self._held.matrix is not None or HALF_BYTES * self.n**2 <= memory_limit()

    @property
    def diag(self) -> Array:
        return pick(self.kernel.diag(self.X), self.rows)

    def block(self, rows: Any, cols: Any) -> Array:
        return self.kernel(self.X[self.places(rows)], self.X, self.places(cols))

    def matmul(self, v: Array) -> Array:
        return exact_product(self.low, v, watch=False)

    def fast(self, V: Array) -> Array:
        """K V in single precision."""
        self._held.products += 1
        return symmetric_times(self._lower() if self.is_held else self._made(), V)

    def _made(self) -> Iterator[Array]:
        """The lower half of K in single precision, by blocks of rows, as far as memory allows."""
        every, room = self.places(slice(None)), memory_limit() / (8 * _ARRAYS * self.n)
        step = int(np.clip(room, 1, _ROWS))
        for start in range(0, self.n, step):
            checkpoint()
            yield self.kernel.single(self.X[every[start : start + step]], self.X, every[: start + step])

    def _lower(self) -> list[Array]:
        """The same, held."""
        known = self._held.of(self.kernel, self.rows)
        if known is None:
            self.release()
            known = list(self._made())
            self._held.matrix = self.kernel, self.rows, known
        return known

    def release(self) -> None:
        """Free the matrix that is held; it is made again if it is needed."""
        self._held.matrix = None
        if self._held.part is not None:
            self._held.part.matrix = None

    @property
    def products(self) -> int:
        """How many products with the matrix there were, at any value of the kernel's parameters."""
        return self._held.products + (0 if self._held.part is None else self._held.part.products)

    def forget_features(self) -> None:
        """Free the features in low rank; they are made again if they are needed."""
        self._low = None

    def cross(self, X: Any) -> Array:
        return self.kernel(X, self.X, self.rows)

    def apply(self, X: Any, v: Array, w: Array | None = None) -> Array:
        """``cross(X) @ v``, of the rows that have a coefficient; with weights w, those of the features in low rank."""
        if w is not None:
            return self.low.apply(X, v, w)
        counts = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
        if len(counts) == 0:
            return np.zeros((X.shape[0], *v.shape[1:]))
        return in_chunks(X, len(counts), lambda part: self.kernel(part, self.X, self.places(counts)) @ v[counts])

    def expansion(self, v: Array, w: Array | None = None) -> Any:
        return super().expansion(v) if w is None else self.low.expansion(v, w)

    def at(self, name: str, value: float) -> ProductGram:
        kernel = self.kernel.at(name, value)
        return ProductGram(
            kernel, self.X, self.approximation, self.seed, self.rows, self.low.at(name, value), self._held
        )

    def take(self, rows: Any) -> ProductGram:
        """Some of the rows, with the same landmarks."""
        part = self._held.part = self._held.part or HeldMatrix()
        places, low = self.places(rows), self.low.take(rows)
        return ProductGram(self.kernel, self.X, self.approximation, self.seed, places, low, part)

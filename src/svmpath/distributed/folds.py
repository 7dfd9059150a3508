"""Folds of rows in chunks: one machine for each fold and class, all of them in the same passes.

A split says of every row whether it trains the machines of a fold, and whether it is held out in it. Fold f has the
weights s_i [i trains f]; machines f k + c, c = 0, ..., k - 1, are those of the classes of fold f. Nothing else differs
from the machines of all rows: a pass answers the questions of all folds, as it does those of all classes. The moments
of the rows that train a fold are those of all rows minus those of the others.

Masks are (n, F) truth values, cut as the chunks are: they belong to row numbers, so that a chunk that is lost and read
again has the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from svmpath.distributed.blocks import Block, Moments, Sized, moments_of
from svmpath.solvers.threads import blas_threads

Array = np.ndarray
Split = Sequence[tuple[Array, Array]]


@dataclass(frozen=True)
class Masks(Sized):
    """Of all rows, or those of a chunk: which train each fold, and which are held out in it; of shape (n, F)."""

    train: Array
    test: Array

    @classmethod
    def of(cls, folds: Split, n: int) -> Masks:
        """Of the numbers of the rows of each fold."""
        train, test = (np.zeros((n, len(folds)), dtype=bool) for _ in range(2))
        for at, (some, others) in enumerate(folds):
            train[some, at], test[others, at] = True, True
        return cls(train, test)

    def cut(self, lengths: Sequence[int]) -> list[Masks]:
        """Those of each chunk."""
        ends = np.cumsum(lengths)[:-1]
        return [Masks(*each) for each in zip(np.split(self.train, ends), np.split(self.test, ends), strict=True)]

    @property
    def are_simple(self) -> bool:
        """Whether no row is held out more than once."""
        return bool(self.test.sum(axis=1).max(initial=0) <= 1)


@dataclass(frozen=True)
class FoldedBlock(Block):
    """The rows of one chunk, with machines for each fold and class."""

    masks: Masks

    def columns(self, machines: Sequence[int]) -> tuple[Array, Array]:
        """The targets and the weights of some machines, each of shape (n, number of machines)."""
        Y = self.Y
        fold, machine = np.divmod(np.asarray(machines), Y.shape[1])
        return Y[:, machine], np.where(self.masks.train[:, fold], self.s[:, None], 0.0)


def mark_folds(block: Block, masks: Masks) -> FoldedBlock:
    """The same rows with their folds; nothing is copied."""
    return FoldedBlock(**{each.name: getattr(block, each.name) for each in fields(Block)}, masks=masks)


def sum_fold_moments(block: FoldedBlock) -> list[Moments]:
    """The moments of the rows of a chunk that do not train each fold."""
    with blas_threads(0):
        out = ~block.masks.train & (block.s > 0)[:, None]
        return [moments_of(block, np.flatnonzero(column)) for column in out.T]


@dataclass(frozen=True)
class FoldRule(Sized):
    """The held-out values of the machines of all folds at one value of C.

    Attributes
    ----------
    Theta : array of shape (F, k, r + 1)
    """

    Theta: Array

    @property
    def values(self) -> int:
        """Number of values of C."""
        return 1

    def held(self, block: FoldedBlock) -> Array:
        """Decision values of the entries of a chunk by the machines of their folds, of shape (1, N, k)."""
        folds, k, width = self.Theta.shape
        F, fold = block.matvec(self.Theta.reshape(folds * k, width)).reshape(-1, folds, k), self.entries(block)
        return F[fold[0], fold[1]][None]

    @staticmethod
    def entries(block: FoldedBlock) -> tuple[Array, Array]:
        """The row and the fold of each entry, one each time that a row is held out, fold by fold."""
        fold, rows = np.nonzero(block.masks.test.T)
        return rows, fold

    def of_rows(self, block: FoldedBlock) -> Array:
        """Held-out decision values of all rows, of shape (1, n, k): means, and NaN for rows that are never held out."""
        (rows, _), total = self.entries(block), np.zeros((len(block.s), self.Theta.shape[1]))
        np.add.at(total, rows, self.held(block)[0])
        times = np.bincount(rows, minlength=len(total)).astype(float)
        times[times == 0] = np.nan
        return (total / times[:, None])[None]

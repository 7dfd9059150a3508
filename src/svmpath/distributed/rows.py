"""The features of all chunks, held or made anew, and passes over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.distributed import cluster
from svmpath.distributed.blocks import Block, Recipe
from svmpath.distributed.data import Data, choose_dtype, split
from svmpath.distributed.folds import Masks, mark_folds

Array = np.ndarray


class ChunkedRows:
    """The blocks of all chunks: held where they were computed, if there is room, or made anew in every pass."""

    def __init__(self, data: Data, recipe: Recipe, limit: Any) -> None:
        self.data, self._limit = data, limit
        held = choose_dtype(data.n, recipe.width - 1, limit)
        self.recipe = replace(recipe, dtype=held or np.float64)
        self.are_held = held is not None
        self._blocks = data.blocks(self.recipe)
        self._is_ready = False
        self._places: list[Any] | None = None
        self.passes: Counter[str] = Counter()  # over all chunks, by what was computed

    @property
    def storage(self) -> str:
        """How features are kept, in words."""
        if not self.are_held:
            return "made anew in every pass"
        return f"held in {'double' if self.recipe.dtype is np.float64 else 'single'} precision"

    @property
    def blocks(self) -> list[Any]:
        """One task per chunk that gives its block."""
        if self.are_held and not self._is_ready:
            with self._guarded():
                self._blocks, self._is_ready = cluster.hold(self._blocks), True
                self._places = cluster.places_of(self._blocks)  # waits: what is interrupted here must be released
        return self._blocks

    @property
    def is_rounded(self) -> bool:
        """Whether features are held in single precision."""
        return self.are_held and self.recipe.dtype is np.float32

    def exact(self) -> ChunkedRows:
        """The same rows with features in double precision, made anew in every pass."""
        return ChunkedRows(self.data, self.recipe, 1)

    def reduce(self, name: str, function: Callable[..., list[Any]], *shared: Any) -> list[Any]:
        """The sum over all chunks of ``function(block, *shared)``."""
        blocks = self.blocks
        self.passes[name] += 1
        with self._guarded():
            return cluster.reduce_chunks(name, function, [(block,) for block in blocks], shared, self.places)

    def map(self, name: str, function: Callable[[Block, Any], Array], shared: Any) -> list[Any]:
        """One task per chunk."""
        common = cluster.as_delayed(shared)
        return [cluster.task(name, function, block, common) for block in self.blocks]

    def gather(self, name: str, function: Callable[..., Any], *shared: Any, rows: Array | None = None) -> list[Any]:
        """``function(block, *shared, which)`` of each chunk, in their order: of all its rows, or of some of them.

        ``rows`` must be in order; chunks that have none of them are not asked.
        """
        common, blocks = [cluster.as_delayed(each) for each in shared], self.blocks
        self.passes[name] += 1
        pieces: Any = ((at, None) for at in range(len(blocks))) if rows is None else split(rows, self.full_lengths)
        with self._guarded():
            return cluster.compute([cluster.task(name, function, blocks[at], *common, here) for at, here in pieces])

    @property
    def full_lengths(self) -> list[int]:
        """The lengths of chunks that are not empty."""
        return self.data.full_lengths

    def on_folds(self, masks: Masks) -> FoldedRows:
        """The same rows, with machines for each fold."""
        return FoldedRows(self, masks)

    def release(self) -> None:
        """Let go of features that are held; they are made anew when they are asked for again."""
        if self._is_ready:
            cluster.release(self._blocks)
        self._blocks, self.are_held = self.data.blocks(self.recipe), False
        self._is_ready, self._places = False, None

    @property
    def places(self) -> list[Any] | None:
        """Where each block is held, if that is known."""
        return self._places

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Ends what runs on the cluster when a pass fails or is interrupted."""
        numbers = 3 * self.data.table.columns + 2 * self.recipe.width
        with cluster.explained(max(self.data.table.lengths), numbers):
            try:
                yield
            except BaseException:
                self.release()
                raise


class FoldedRows(ChunkedRows):
    """The rows of others, with machines for each fold: what is held is held once."""

    def __init__(self, rows: ChunkedRows, masks: Masks) -> None:
        self.rows, self.masks = rows, masks
        self.data, self.recipe, self.passes = rows.data, rows.recipe, rows.passes
        self._marks = [cluster.as_delayed(each) for each in masks.cut(rows.full_lengths)]

    @property
    def blocks(self) -> list[Any]:
        """One task per chunk that gives its block."""
        pairs = zip(self.rows.blocks, self._marks, strict=True)
        return [cluster.task("mark-folds", mark_folds, *pair) for pair in pairs]

    @property
    def places(self) -> list[Any] | None:
        """Where each block is held, if that is known."""
        return self.rows.places

    @property
    def storage(self) -> str:
        """How features are kept, in words."""
        return self.rows.storage

    @property
    def is_rounded(self) -> bool:
        """Whether features are held in single precision."""
        return self.rows.is_rounded

    def exact(self) -> ChunkedRows:
        """The same rows with features in double precision, made anew in every pass."""
        return FoldedRows(self.rows.exact(), self.masks)

    def release(self) -> None:
        """Let go of features that are held."""
        self.rows.release()

"""Rows in chunks: targets and weights beside them, rows picked out of them, and features made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from svmpath.chunked import is_chunked
from svmpath.distributed import cluster, facts
from svmpath.distributed.blocks import Recipe, make_block
from svmpath.distributed.facts import ChunkTable
from svmpath.gram import Approximation, Nystroem, automatic_rank, is_share
from svmpath.gram.features import FeatureMap
from svmpath.gram.landmarks import given
from svmpath.gram.memory import parse_bytes
from svmpath.kernels import Kernel
from svmpath.names import did_you_mean
from svmpath.row_order import order_of_keys, row_keys
from svmpath.validation import is_whole_number

Array = np.ndarray

SAMPLED_ROWS = 20_000  # rows that are looked at together where a search or a choice of landmarks needs that
_MOST_KEYS = 10_000_000  # rows up to which random rows are those that the same seed gives in memory
_FEWEST_OF_CLASS = 20  # rows that a sample should have; of fewer there may be none
_NUMBERS_CHECKED = 4  # times the numbers of a chunk that are held while it is checked
_SHARE = 0.7  # of a given limit of memory that features may take: work on them needs room, too


@dataclass(frozen=True)
class Data:
    """The chunks of X, y and weights, and what is known of them.

    Attributes
    ----------
    X, y : list of Delayed
    s : list of Delayed, or list of None
    table : ChunkTable
    names : array of str or None
        Of the columns of a data frame.
    classes : array or None
        The labels in order; None for regression.
    class_weights : array or None
        By which the weight of each class is multiplied.
    scaler : StandardScaler or None
    unit : float
        What weights are divided by.
    """

    X: list[Any]
    y: list[Any]
    s: list[Any]
    table: ChunkTable
    names: Array | None = None
    classes: Array | None = None
    class_weights: Array | None = None
    scaler: Any = None
    unit: float = 1.0

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.table.n

    @property
    def spread(self) -> facts.Spread:
        """Weighted mean and variance of each column, as the machine sees it."""
        found = self.table.spread(weighted=True)
        return found if self.scaler is None else found.scaled(self.scaler.mean_, self.scaler.scale_)

    @property
    def mean_weight(self) -> float:
        """The mean weight, that of the class multiplied in, of the rows that have any."""
        if self.classes is None or self.class_weights is None:
            return self.table.weight / self.table.weighted_rows
        found = self.table.labels()
        _, weights, rows = np.array([found[label] for label in facts.as_keys(self.classes)]).T
        return float(self.class_weights @ weights / ((self.class_weights > 0) @ rows))

    @property
    def positives(self) -> Array | None:
        """The class that is +1 for each machine: one machine for two classes, else one for each class."""
        if self.classes is None:
            return None
        return np.array([1]) if len(self.classes) == 2 else np.arange(len(self.classes))

    def largest(self, weighted: bool = False) -> Array:
        """The largest absolute value of each column, as the machine sees it; of the rows with a weight, or of all."""
        ends = self.table.ends(weighted)
        return np.abs(ends if self.scaler is None else self.scaler.transform(ends)).max(axis=0)

    def take(self, rows: Array) -> tuple[Array, Array, Array]:
        """Rows of X as the machine sees them, their targets and their weights; ``rows`` must be in order."""
        tasks = [
            cluster.task("pick-rows", _pick, self.X[at], self.y[at], self.s[at], here, self._codes)
            for at, here in split(rows, self.table.lengths)
        ]
        with cluster.explained(max(self.table.lengths), _NUMBERS_CHECKED * self.table.columns):
            found = cluster.compute(tasks)
        X, target, s = (np.concatenate([part[at] for part in found]) for at in range(3))
        return (X if self.scaler is None else self.scaler.transform(X)), target, s

    @property
    def _codes(self) -> Codes:
        return Codes(self.classes, self.class_weights, self.unit)

    def part(self, rows: Array) -> Any:
        """The lazy array of some rows of X, as they were given; ``rows`` must be in order."""
        pieces = list(split(rows, self.table.lengths))
        tasks = [cluster.task("pick-rows", _rows_of_chunk, self.X[at], here) for at, here in pieces]
        return cluster.concatenated(tasks, [len(here) for _, here in pieces], (self.table.columns,), float)

    def sample(self, size: int, seed: int) -> Array:
        """Numbers of random rows, in order: those that :func:`svmpath.gram.landmarks.uniform` takes in memory."""
        if size >= self.n:
            return np.arange(self.n)
        if self.n > _MOST_KEYS:
            return np.sort(np.random.default_rng(seed).choice(self.n, size, replace=False, shuffle=False))
        largest = self.largest()
        tasks = [cluster.task("row-keys", _keys, X, self.scaler, largest) for X in self.X]
        with cluster.explained(max(self.table.lengths), _NUMBERS_CHECKED * self.table.columns):
            keys = np.concatenate(cluster.compute(tasks))
        return np.sort(order_of_keys(keys, seed)[:size])

    def sample_of_classes(self, size: int, seed: int) -> Array:
        """The same, and some rows of every class that is so rare that they may have missed it."""
        rows, labels = self.sample(size, seed), {} if self.classes is None else self.table.labels()
        tasks = []
        for code, label in enumerate(sorted(labels)):
            wanted = _FEWEST_OF_CLASS if labels[label][0] * size < _FEWEST_OF_CLASS * self.n else 0
            for at in self.table.chunks_with(label) if size < self.n else []:
                if wanted > 0:
                    first = self.table.starts[at]
                    tasks.append(cluster.task("pick-rows", _find, self.y[at], self._codes, code, first, wanted))
                    wanted -= (self.table.chunks[at].labels or {})[label][0]
        return np.unique(np.concatenate([rows, *cluster.compute(tasks)])) if tasks else rows

    def blocks(self, recipe: Recipe) -> list[Any]:
        """One task for each chunk that makes its features."""
        shared, codes = cluster.as_delayed(recipe), cluster.as_delayed(self._codes)
        chunks = zip(self.X, self.y, self.s, self.table.lengths, strict=True)
        return [cluster.task("make-feature-rows", _make, *chunk, shared, codes) for *chunk, length in chunks if length]

    @property
    def full_lengths(self) -> list[int]:
        """The lengths of chunks that are not empty."""
        return [length for length in self.table.lengths if length]


@dataclass(frozen=True)
class Codes:
    """From the targets and weights of a chunk, as they were given, to numbers."""

    classes: Array | None
    class_weights: Array | None
    unit: float

    def __call__(self, y: Any, s: Any) -> tuple[Array, Array]:
        """The number of each row's class, or its target; and its weight."""
        y = facts.as_column(y)
        weights = (np.ones(len(y)) if s is None else facts.as_column(s).astype(float)) / self.unit
        if self.classes is None:
            return y.astype(float), weights
        code = np.searchsorted(self.classes, y.astype(self.classes.dtype))
        return code, weights if self.class_weights is None else weights * self.class_weights[code]


def _make(X: Any, y: Any, s: Any, recipe: Recipe, codes: Codes) -> Any:
    return make_block(np.asarray(X, dtype=float), *codes(y, s), recipe)


def _rows_of_chunk(X: Any, rows: Array) -> Array:
    return np.asarray(X, dtype=float)[rows]


def _pick(X: Any, y: Any, s: Any, rows: Array, codes: Codes) -> tuple[Array, Array, Array]:
    target, weights = codes(y, s)
    return np.asarray(X, dtype=float)[rows], target[rows], weights[rows]


def _keys(X: Any, scaler: Any, largest: Array) -> Array:
    """What the random order of the rows of a chunk is made of."""
    X = np.asarray(X, dtype=float)
    return row_keys(X if scaler is None or len(X) == 0 else scaler.transform(X), largest)


def _find(y: Any, codes: Codes, code: int, first: int, most: int) -> Array:
    """Numbers of the first rows of a class in a chunk that begins with row ``first``."""
    return first + np.flatnonzero(codes(y, None)[0] == code)[:most]


def split(rows: Array, lengths: Sequence[int]) -> Iterator[tuple[int, Array]]:
    """Row numbers, in order, by the chunk that has them: its number, and theirs inside it."""
    for at, (first, end) in enumerate(pairwise(np.cumsum([0, *lengths]))):
        here = rows[np.searchsorted(rows, first) : np.searchsorted(rows, end)] - first
        if len(here):
            yield at, here


def read(X: Any, y: Any, sample_weight: Any, wants_labels: bool) -> Data:
    """The chunks of a user's collections, checked in one pass."""
    if not is_chunked(X):
        raise TypeError(
            f"y or sample_weight is a Dask collection, so X must be one, too; got {type(X).__name__}: use "
            "dask.array.from_array(X), or call .compute() on the others."
        )
    cluster.check_rows(X)
    chunks = cluster.to_chunks(X, "X")

    @cache
    def lengths() -> tuple[int, ...]:
        known = cluster.known_lengths(X)
        counted = known or cluster.compute([cluster.task("count-rows", len, chunk) for chunk in chunks])
        return tuple(int(each) for each in counted)

    targets = cluster.like_chunks(y, "y", X, lengths)
    weights: list[Any] = [None] * len(chunks)
    if sample_weight is not None:
        weights = cluster.like_chunks(sample_weight, "sample_weight", X, lengths)
    for name, parts in (("y", targets), ("sample_weight", weights)):
        if len(parts) != len(chunks):
            raise ValueError(
                f"X has {len(chunks)} chunks and {name} has {len(parts)}: cut both into the same chunks (rechunk, "
                "repartition)."
            )
    with cluster.explained(cluster.largest_chunk(X), _NUMBERS_CHECKED * X.shape[1]):
        tasks = list(zip(chunks, targets, weights, strict=True))
        found = cluster.reduce_chunks("check-chunk", facts.look, tasks, [wants_labels], None)
    table = ChunkTable(found[0])
    table.check()
    return Data(chunks, targets, weights, table, cluster.names_of(X))


# --- features --------------------------------------------------------------------------------------------------------


def make_features(data: Data, kernel: Kernel, rank: Any, landmarks: Any, seed: int) -> tuple[FeatureMap, Array]:
    """The map to features, and a point in the middle of them.

    Uniform landmarks, and landmarks given as row numbers, are the rows that they are in memory. Whatever else looks at
    rows looks at a sample of them.
    """
    approximation = make_approximation(rank, landmarks, data.n)
    rows, wanted = _rows_of(approximation, data, seed)
    X, _, _ = data.take(rows)
    wanted.check(kernel, X)
    features = wanted.factor(kernel, X, seed).features
    return features, np.asarray(features(X).mean(axis=0))


def _rows_of(approximation: Approximation, data: Data, seed: int) -> tuple[Array, Approximation]:
    """The rows that an approximation looks at, and what it is to do with them."""
    if not isinstance(approximation, Nystroem):
        return data.sample(SAMPLED_ROWS, seed), approximation
    if not isinstance(approximation.landmarks, str):
        rows = given(_Numbers(data.n), approximation.landmarks).rows
        assert rows is not None
        order = np.argsort(np.argsort(rows))  # rows are picked in order, and landmarks stay in theirs
        return np.sort(rows), replace(approximation, landmarks=tuple(order.tolist()))
    if approximation.landmarks == "uniform" and not approximation.target:
        rows = data.sample(approximation.columns(data.n), seed)
        return rows, replace(approximation, rank=None, landmarks=tuple(range(len(rows))))
    return data.sample(SAMPLED_ROWS, seed), approximation


class _Numbers:
    """Stands for n rows where only their number counts."""

    def __init__(self, n: int) -> None:
        self.shape = (n, 1)

    def __getitem__(self, rows: Any) -> Any:
        return rows


def make_approximation(rank: Any, landmarks: Any, n: int) -> Approximation:
    """The approximation that ``rank=`` and ``landmarks=`` stand for with rows in chunks."""
    if isinstance(rank, Approximation):
        if landmarks is not None:
            raise ValueError(f"landmarks= cannot be combined with rank={rank!r}; pass them to gram.Nystroem.")
        return replace(rank, single=False) if isinstance(rank, Nystroem) else rank  # memory decides the precision
    if landmarks is not None and not isinstance(landmarks, str):
        return Nystroem(rank, landmarks)
    if isinstance(rank, str) and rank == "auto":
        rank = automatic_rank(n) or n
    if not (is_whole_number(rank) or is_share(rank)):
        raise ValueError(
            "Rows in chunks need a kernel of low rank: rank must be a whole number >= 1 (of landmarks), a number "
            f"between 0 and 1, 'auto' or an approximation, got {rank!r}.{did_you_mean(rank, ['auto'])}"
        )
    return Nystroem(rank, "uniform" if landmarks is None else landmarks)


def for_sample(rank: Any, size: int) -> Any:
    """The rank for a sample, whose rows have other numbers: random landmarks in the place of given row numbers."""
    if not isinstance(rank, Nystroem) or isinstance(rank.landmarks, str):
        return rank
    return replace(rank, rank=min(len(rank.landmarks), size), landmarks="uniform")


def choose_dtype(n: int, r: int, limit: Any) -> type | None:
    """The precision in which all features can be held; None if they must be made anew in every pass."""
    room = cluster.memory_for_features()
    if limit is not None:
        room = min(_SHARE * parse_bytes(limit), cluster.memory_of_workers())
    fitting: Sequence[type] = [kind for kind in (np.float64, np.float32) if n * r * np.dtype(kind).itemsize <= room]
    return fitting[0] if fitting else None

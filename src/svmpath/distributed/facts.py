"""What one pass over the chunks finds out: sizes, labels, moments of the columns, and faults with their chunk.

Nothing is half done when a fault is found: this pass comes before all others. The mean and the sum of squared
deviations of each column are found per chunk and merged by the rule of Chan, Golub & LeVeque, which keeps their digits.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from svmpath.exceptions import ChunkWarning

Array = np.ndarray
OfLabel = tuple[int, float, int]

_PACKAGE = str(Path(__file__).parents[1])
_LARGEST = 1e150  # of numbers that have squares, and sums of many squares
_MOST_LABELS = 1000  # in one chunk; more are amounts, not labels
_MOST_NAMED = 5  # chunks, or labels, that a sentence names


@dataclass(frozen=True)
class Spread:
    """Sum of weights, mean and sum of squared deviations of each column."""

    weight: float
    mean: Array
    squares: Array

    @staticmethod
    def of(X: Array, s: Array | None = None) -> Spread:
        """Of the rows of a chunk."""
        s = np.ones(len(X)) if s is None else s
        weight = float(s.sum())
        if weight == 0.0:
            return Spread(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
        first = X[np.argmax(s > 0)]
        Z = X - first  # so that a sum of many rows rounds what differs between them, and nothing else
        mean = s @ Z / weight
        return Spread(weight, first + mean, s @ (Z - mean) ** 2)

    def __add__(self, other: Spread) -> Spread:
        weight = self.weight + other.weight
        if weight == 0.0 or other.weight == 0.0:
            return self
        share, gap = other.weight / weight, other.mean - self.mean
        squares = self.squares + other.squares + self.weight * share * gap**2
        return Spread(weight, self.mean + share * gap, squares)

    @property
    def variance(self) -> Array:
        """Of each column."""
        return self.squares / self.weight

    @property
    def variance_of_all(self) -> float:
        """Of all numbers together, whatever their column."""
        return float(self.variance.mean() + self.mean.var())

    def scaled(self, mean: Array, scale: Array) -> Spread:
        """Of the columns after (x - mean) / scale."""
        return Spread(self.weight, (self.mean - mean) / scale, self.squares / scale**2)


# Of chunks that cannot be used.
_NUMBERS, _NO_SPREAD = np.dtype(float), Spread(0.0, np.zeros(0), np.zeros(0))
_NO_ENDS = (np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool))


@dataclass(frozen=True)
class Facts:
    """What is known of one chunk.

    Attributes
    ----------
    rows, columns : int
    sizes : tuple of int
        Number of targets, and of weights if there are any.
    fault : str
        What is wrong with its numbers; empty if nothing is.
    dtype : dtype
        Of the targets.
    labels : dict
        Number of rows, sum of weights, and number of rows of positive weight, of each label; None if there are too many
        to be labels, or for amounts.
    are_amounts : bool
        Whether targets are numbers that are not whole.
    spread, weighted : Spread
        Of the columns, without and with weights.
    weight : float
    weighted_rows : int
        Number of rows of positive weight.
    ends : tuple of arrays of shape (d,)
        The smallest and the largest number of each column, and whether there is no third one.
    weighted_ends : tuple of arrays of shape (d,)
        The same among rows with a positive weight.
    """

    rows: int
    columns: int
    sizes: tuple[int, ...]
    fault: str
    dtype: np.dtype[Any] = _NUMBERS
    labels: Mapping[Any, OfLabel] | None = None
    are_amounts: bool = False
    spread: Spread = _NO_SPREAD
    weighted: Spread = _NO_SPREAD
    weight: float = 0.0
    weighted_rows: int = 0
    ends: tuple[Array, Array, Array] = _NO_ENDS
    weighted_ends: tuple[Array, Array, Array] = _NO_ENDS


def look(X: Any, y: Any, s: Any, wants_labels: bool) -> list[list[Facts]]:
    """The facts of one chunk, in a list that others are added to."""
    if issparse(X):
        fault = "its rows are sparse, but must be dense (use X.map_blocks(lambda chunk: chunk.toarray()))"
        return [[Facts(X.shape[0], X.shape[1], (len(y),), fault)]]
    try:
        numbers = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        return [[Facts(len(X), 0, (len(y),), f"X has an entry that is not a number ({error})")]]
    if numbers.ndim != 2:
        return [[Facts(len(X), 0, (len(y),), f"X has {numbers.ndim} dimensions instead of two")]]
    target = as_column(y)
    weights = None if s is None else as_column(s)
    sizes = (len(target),) if weights is None else (len(target), len(weights))
    fault = _fault(numbers, target, weights, wants_labels)
    if fault or any(size != len(numbers) for size in sizes):
        return [[Facts(numbers.shape[0], numbers.shape[1], sizes, fault)]]
    are_amounts = target.dtype.kind == "f" and bool(np.any(target != np.round(target)))
    s = np.ones(len(target)) if weights is None else weights.astype(float)
    labels = _labels(target, s) if wants_labels and not are_amounts else None
    spread = Spread.of(numbers)
    weighted = spread if weights is None else Spread.of(numbers, s)
    ends = _ends(numbers)
    used = ends if np.all(s > 0) else _ends(numbers[s > 0])
    n, d = numbers.shape
    moments = (spread, weighted, float(s.sum()), int(np.count_nonzero(s)))
    return [[Facts(n, d, sizes, "", target.dtype, labels, are_amounts, *moments, ends, used)]]


def as_column(values: Any) -> Array:
    """Targets or weights of a chunk as a vector; a single column is one."""
    values = np.asarray(values)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _fault(X: Array, y: Array, s: Array | None, is_labelled: bool) -> str:
    """What is wrong with the numbers of a chunk, in words that follow its name; rows are those of the chunk."""
    if not np.isfinite(X).all():
        row, column = (int(at[0]) for at in np.nonzero(~np.isfinite(X)))
        value = "NaN" if np.isnan(X[row, column]) else "infinity"
        return f"X has {value} in row {row} of the chunk, column {column}"
    if np.abs(X).max(initial=0.0) > _LARGEST:
        return f"X has numbers as large as {np.abs(X).max():.1g}, whose squares are beyond double precision"
    if y.ndim != 1:
        return f"y has {y.ndim} dimensions instead of one"
    if not is_labelled and y.dtype.kind not in "biuf":
        return f"y must hold numbers, but it has the type {y.dtype}"
    missing = np.asarray(pd.isna(y), dtype=bool)  # NaN, NaT, NA or None
    if missing.any():
        return f"y has a missing value in row {int(np.argmax(missing))} of the chunk"
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        return f"y has infinity in row {int(np.argmin(np.isfinite(y)))} of the chunk"
    if y.dtype.kind == "S" or (y.dtype.kind == "O" and any(isinstance(each, bytes) for each in y)):
        return "y has labels of the type bytes, which must be text (use .astype(str), or decode them)"
    kinds = sorted({type(each).__name__ for each in y}) if y.dtype.kind == "O" else []
    if len(kinds) > 1:
        return f"y mixes labels of the types {' and '.join(kinds)}"
    if s is not None and not (np.issubdtype(s.dtype, np.number) and np.isfinite(s).all() and np.all(s >= 0)):
        return "sample_weight has an entry that is not a finite number >= 0"
    return ""


def _labels(y: Array, s: Array) -> Mapping[Any, OfLabel] | None:
    labels, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(labels) > _MOST_LABELS:
        return None
    weights, rows = (np.bincount(code, each, minlength=len(labels)) for each in (s, s > 0))
    facts = zip(counts.tolist(), weights.tolist(), rows.astype(int).tolist(), strict=True)
    return dict(zip(as_keys(labels), facts, strict=True))


def as_keys(labels: Array) -> list[Any]:
    """Labels as Python's own values; but dates would become whole numbers."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()


def _ends(X: Array) -> tuple[Array, Array, Array]:
    if len(X) == 0:
        d = X.shape[1]
        return np.full(d, np.inf), np.full(d, -np.inf), np.ones(d, dtype=bool)
    low, high = X.min(axis=0), X.max(axis=0)
    return low, high, np.all((low == X) | (high == X), axis=0)


# --- all chunks together ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChunkTable:
    """The facts of all chunks.

    Attributes
    ----------
    chunks : list of Facts
    """

    chunks: list[Facts]

    @property
    def lengths(self) -> list[int]:
        """Number of rows of each chunk."""
        return [chunk.rows for chunk in self.chunks]

    @property
    def starts(self) -> Array:
        """Number of the first row of each chunk, and of all rows."""
        return np.cumsum([0, *self.lengths])

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.starts[-1])

    @property
    def columns(self) -> int:
        """Number of columns."""
        return next(chunk.columns for chunk in self.chunks if chunk.rows)

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(sum(chunk.weight for chunk in self.chunks))

    @property
    def weighted_rows(self) -> int:
        """Number of rows of positive weight."""
        return sum(chunk.weighted_rows for chunk in self.chunks)

    def spread(self, weighted: bool = False) -> Spread:
        """Of the columns of all chunks."""
        return reduce(add, (chunk.weighted if weighted else chunk.spread for chunk in self.chunks if chunk.rows))

    def ends(self, weighted: bool = False) -> Array:
        """The smallest and the largest number of each column, of shape (2, d)."""
        used = [chunk.weighted_ends if weighted else chunk.ends for chunk in self.chunks if chunk.rows]
        return np.array([np.min([each[0] for each in used], axis=0), np.max([each[1] for each in used], axis=0)])

    def is_constant(self) -> Array:
        """Whether each column has one value only among the rows with a positive weight."""
        low, high = self.ends(weighted=True)
        return np.asarray(low == high)

    def two_valued(self) -> Array:
        """Whether each column has at most two different values."""
        used = [chunk.ends for chunk in self.chunks if chunk.rows]
        low, high = self.ends()
        ends = np.array([each[:2] for each in used])  # (chunks, 2, d)
        return np.all([each[2] for each in used], axis=0) & ((ends == low) | (ends == high)).all(axis=(0, 1))

    @property
    def are_amounts(self) -> bool:
        """Whether some target is not a whole number."""
        return any(chunk.are_amounts for chunk in self.chunks)

    def labels(self) -> Mapping[Any, OfLabel]:
        """Number of rows, sum of weights and number of rows of positive weight, of every label."""
        merged: dict[Any, OfLabel] = {}
        for chunk in self.chunks:
            for label, (count, weight, weighted_rows) in (chunk.labels or {}).items():
                before = merged.get(label, (0, 0.0, 0))
                merged[label] = before[0] + count, before[1] + weight, before[2] + weighted_rows
        return merged

    def labels_in_order(self) -> list[OfLabel]:
        """The same facts, in the order of the labels."""
        found = self.labels()
        return [found[label] for label in sorted(found)]

    def name(self, at: int) -> str:
        """A chunk in words: its number and its rows."""
        first, end = self.starts[at : at + 2]
        return f"Chunk {at} of {len(self.chunks)}, counted from 0 (rows {first} to {end - 1})"

    def check(self) -> None:
        """Refuse a chunk that cannot be used, by its number, and warn of empty ones."""
        widths = [chunk.columns for chunk in self.chunks if chunk.rows and not chunk.fault]
        usual = max(set(widths), key=widths.count) if widths else 0
        for at, chunk in enumerate(self.chunks):
            if chunk.fault:
                raise ValueError(f"{self.name(at)} cannot be used: {chunk.fault}; correct it or leave it out.")
            if chunk.rows and chunk.columns != usual:
                raise ValueError(
                    f"{self.name(at)} has {chunk.columns} columns, but other chunks have {usual}: give every chunk "
                    "the same columns."
                )
            if any(size != chunk.rows for size in chunk.sizes):
                words = "y" if chunk.sizes[0] != chunk.rows else "sample_weight"
                size = chunk.sizes[0] if words == "y" else chunk.sizes[1]
                raise ValueError(
                    f"{self.name(at)} has {chunk.rows} rows of X but {size} entries of {words}: cut both into the "
                    "same chunks."
                )
        if self.n < 2:
            raise ValueError(f"At least two rows are needed, but the chunks have {self.n} in all.")
        if not self.weight > 0:
            raise ValueError("Every sample has weight zero; at least one weight must be positive.")
        empty = [at for at, chunk in enumerate(self.chunks) if not chunk.rows]
        if empty:
            named = ", ".join(str(at) for at in empty[:_MOST_NAMED]) + (", ..." if len(empty) > _MOST_NAMED else "")
            which = f"Chunk {named} has" if len(empty) == 1 else f"Chunks {named} have"
            _warn(f"{which} no rows (of {len(self.chunks)} chunks, counted from 0); the fit goes on without them.")

    def check_labels(self) -> Array:
        """The labels in order; warns of one that a single chunk has."""
        for at, chunk in enumerate(self.chunks):
            if chunk.are_amounts or (chunk.rows and chunk.labels is None):
                raise ValueError(
                    f"{self.name(at)} has targets that are amounts, or more than {_MOST_LABELS} different labels, but "
                    "classification needs few labels: use PathSVR (or task='regression') for amounts."
                )
        labels = self.labels()
        kinds = {type(label) for label in labels}
        if len(kinds) > 1 and str in kinds:
            at = next(
                at for at, chunk in enumerate(self.chunks) if any(not isinstance(x, str) for x in chunk.labels or {})
            )
            raise ValueError(f"{self.name(at)} has labels that are not text, but other labels are: use one type.")
        classes = np.array(sorted(labels), dtype=np.result_type(*(chunk.dtype for chunk in self.chunks if chunk.rows)))
        if len(classes) < 2:
            raise ValueError(f"Classification needs two classes, but y has only one class: {as_keys(classes)[0]!r}.")
        has_many = sum(chunk.rows > 0 for chunk in self.chunks) >= 3
        for label in sorted(labels) if has_many else ():
            chunks = self.chunks_with(label)
            if len(chunks) == 1:
                _warn(
                    f"{self.name(chunks[0])} is the only one with label {label!r} ({labels[label][0]} rows): if it is "
                    "a mistake, correct it; if the rows are sorted by label, nothing is lost."
                )
        return classes

    def chunks_with(self, label: Any) -> list[int]:
        """The chunks that have a label."""
        return [at for at, chunk in enumerate(self.chunks) if label in (chunk.labels or {})]


def _warn(sentence: str) -> None:
    """Warn at the line that called svmpath, whichever way led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, ChunkWarning, stacklevel=level + 1)

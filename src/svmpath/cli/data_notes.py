"""What was done with the columns of a data file, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from svmpath.datasets import Column, Table

_REASONS = {
    "identifier": "a different value in every row",
    "constant": "one value only",
    "empty": "no value at all",
}
_FILLED = {
    "auto": "numbers are filled in with the median and get an indicator column, words are a category of their own",
    "median": "numbers are filled in with the median, words with the most frequent one",
    "mean": "numbers are filled in with the mean, words with the most frequent one",
    "most-frequent": "they are filled in with the most frequent value of their column",
}
_MOST_NAMED = 6


def data_notes(table: Table, impute: str) -> list[str]:
    """Sentences on what was done, the most important first; empty if every cell was plain."""
    return [
        *_on_rows(table),
        *_on_left_out(table.columns),
        *_on_missing(table, impute),
        *_on_reading(table.columns),
        *_on_dates(table),
        *_on_levels(table),
    ]


def label_notes(y: NDArray[Any]) -> list[str]:
    """A sentence for classes that are probably one, since they differ only in upper and lower case."""
    words = pd.Series([label for label in pd.unique(y) if isinstance(label, str)], dtype=object)
    alike = [sorted(group) for _, group in words.groupby(words.str.casefold()) if len(group) > 1] if len(words) else []
    return [
        f"the classes {' and '.join(map(repr, labels))} differ only in upper and lower case; write them alike if they "
        "are one class."
        for labels in alike
    ]


def _on_rows(table: Table) -> Iterable[str]:
    if table.is_guessed:
        yield f"{table.source} was taken for {table.format}; use --format if it is something else."
    if table.decimal == ",":
        yield "',' is taken for the decimal sign."
    count = table.n_read - len(table.rows)
    if count:
        yield without_target(count, table.target)


def without_target(count: int, target: str | None) -> str:
    """A sentence for rows that cannot be used."""
    return f"{_count(count, 'row')} without a value in the target {target!r} {_were(count)} left out."


def _on_left_out(columns: Iterable[Column]) -> Iterable[str]:
    left = [column for column in columns if not column.is_used]
    for kind, reason in _REASONS.items():
        names = [column.name for column in left if column.kind == kind]
        if names:
            have = "has" if len(names) == 1 else "have"
            yield f"{_columns(names)} {have} {reason}, so {_were(len(names), 'it is', 'they are')} left out."
    for column in left:
        if column.kind == "date":
            yield f"column {column.name!r} is left out: {column.detail}."


def _on_missing(table: Table, impute: str) -> Iterable[str]:
    gaps = [column for column in table.columns if column.is_used and column.missing]
    if gaps and impute in _FILLED:
        counts = ", ".join(f"{column.name!r} {column.missing}" for column in gaps[:_MOST_NAMED])
        more = f" and {len(gaps) - _MOST_NAMED} more columns" if len(gaps) > _MOST_NAMED else ""
        yield f"values are missing ({counts}{more}, of {table.n_rows} rows): {_FILLED[impute]}."
    if not table.named:
        count = int(np.isnan(getattr(table.X, "data", table.X)).sum())
        if count and impute in _FILLED:
            yield f"{_count(count, 'value')} {_were(count)} missing: {_FILLED[impute]}."


def _on_reading(columns: Iterable[Column]) -> Iterable[str]:
    """How cells were read that are not plain."""
    for column in columns:
        if not column.is_used or not column.detail or column.detail in _OBVIOUS or column.kind == "date":
            continue
        if column.kind == "boolean":
            continue
        yield f"column {column.name!r} is taken for {_KIND[column.kind]}: {column.detail}."


_OBVIOUS = {"as --categorical says", "0 and 1"}
_KIND = {"number": "numbers", "category": "categories"}


def _on_dates(table: Table) -> Iterable[str]:
    from svmpath.cli.preparation import varying_parts

    for column in table.columns:
        if column.is_used and column.kind == "date":
            parts = varying_parts(table.X[column.name].to_numpy(dtype=float))
            more = f", and {' and '.join(parts)}" if parts else ""
            written = f" ({column.detail})" if column.detail else ""
            yield f"column {column.name!r} holds dates{written}: it becomes the days since the earliest{more}."


def _on_levels(table: Table) -> Iterable[str]:
    from svmpath.cli.preparation import MOST_LEVELS

    for column in table.columns:
        if column.is_used and column.kind == "category":
            levels = int(pd.Series(table.X[column.name]).nunique())
            if levels > MOST_LEVELS:
                yield (
                    f"column {column.name!r} has {levels} different values: the {MOST_LEVELS - 1} most frequent are "
                    "categories of their own, the others are one."
                )


def _columns(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:_MOST_NAMED]))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"column{'s' * (len(names) > 1)} {shown}{more}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number > 1)}"


def _were(number: int, one: str = "is", several: str = "are") -> str:
    return one if number == 1 else several

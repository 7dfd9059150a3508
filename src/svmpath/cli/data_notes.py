"""What was done with the columns of a data file, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
_OBVIOUS = {"as --categorical says", "0 and 1"}
_KIND = {"number": "numbers", "category": "categories"}
_MOST_NAMED = 6


def data_notes(table: Table, impute: str) -> list[str]:
    """Sentences on what was done, the most important first; empty if every cell was plain."""
    left_out = [column for column in table.columns if not column.is_used]
    used = [column for column in table.columns if column.is_used]
    of_columns = (sentence for column in used for sentence in _on_column(column, table))
    return [*_on_rows(table), *_on_left_out(left_out), *_on_missing(table, impute, used), *of_columns]


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
        yield f"{table.source} was read as {table.format}; use --format if it is something else."
    if table.decimal == ",":
        yield "',' is read as the decimal sign."
    count = table.n_read - len(table.rows)
    if count:
        yield without_target(count, table.target)


def without_target(count: int, target: str | None) -> str:
    """A sentence for rows that cannot be used."""
    are = "is" if count == 1 else "are"
    return f"{count} row{'s' * (count > 1)} without a value in the target {target!r} {are} left out."


def _on_left_out(columns: Sequence[Column]) -> Iterable[str]:
    for kind, reason in _REASONS.items():
        names = [column.name for column in columns if column.kind == kind]
        if names:
            have, it_is = ("has", "it is") if len(names) == 1 else ("have", "they are")
            shown = ", ".join(map(repr, names[:_MOST_NAMED]))
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            yield f"column{'s' * (len(names) > 1)} {shown}{more} {have} {reason}, so {it_is} left out."
    for column in columns:
        if column.kind == "date":
            yield f"column {column.name!r} is left out: {column.detail}."


def _on_missing(table: Table, impute: str, used: Sequence[Column]) -> Iterable[str]:
    if impute not in _FILLED:
        return
    gaps = [column for column in used if column.missing]
    if gaps:
        counts = ", ".join(f"{column.name!r} {column.missing}" for column in gaps[:_MOST_NAMED])
        more = f" and {len(gaps) - _MOST_NAMED} more columns" if len(gaps) > _MOST_NAMED else ""
        yield f"values are missing ({counts}{more}, of {table.n_rows} rows): {_FILLED[impute]}."
    if not table.named:
        count = int(np.isnan(getattr(table.X, "data", table.X)).sum())
        if count:
            are = "value is" if count == 1 else "values are"
            yield f"{count} {are} missing: {_FILLED[impute]}."


def _on_column(column: Column, table: Table) -> Iterable[str]:
    """How cells were read that are not plain."""
    from svmpath.cli.preparation import MOST_LEVELS, varying_parts

    values = table.X[column.name]
    if column.kind == "date":
        parts = varying_parts(values.to_numpy(dtype=float))
        more = f", and {' and '.join(parts)}" if parts else ""
        written = f" ({column.detail})" if column.detail else ""
        yield f"column {column.name!r} holds dates{written}: it becomes the days since the earliest{more}."
    elif column.detail and column.kind in _KIND and column.detail not in _OBVIOUS:
        yield f"column {column.name!r} is read as {_KIND[column.kind]}: {column.detail}."
    levels = int(values.nunique()) if column.kind == "category" else 0
    if levels > MOST_LEVELS:
        yield (
            f"column {column.name!r} has {levels} different values: the {MOST_LEVELS - 1} most frequent are categories "
            "of their own, the others are one."
        )

"""Columns whose values have a type: those of parquet, arff and npz files, and csv columns of nothing but numbers."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmpath.datasets.cells import days_since_1970, is_missing
from svmpath.datasets.faults import finite
from svmpath.exceptions import DataError

_DAY = pd.Timedelta(days=1)


@dataclass(frozen=True)
class Typed:
    """Values, NaN or None where one is missing, and their kind."""

    values: NDArray[Any]
    kind: str

    def words(self) -> list[str | None]:
        """The values as text, numbers as short as they can be written."""
        write: Any = {"category": str, "boolean": lambda value: str(bool(value))}.get(self.kind, number_text)
        return [None if pd.isna(value) else write(value) for value in self.values.tolist()]


def objects(values: Sequence[object]) -> NDArray[Any]:
    """A one-dimensional object array, whatever the values are."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def number_text(value: float) -> str:
    """A number as text: whole numbers without a point.

    Examples
    --------
    >>> from svmpath.datasets.typed import number_text
    >>> number_text(7.0), number_text(0.5)
    ('7', '0.5')
    """
    return str(int(value)) if value == int(value) else repr(float(value))


def read_typed(series: pd.Series, name: str) -> Typed | None:
    """A column by the type of its values; None if they are text."""
    kind = pd.api.types.infer_dtype(series, skipna=True)
    if kind in ("string", "empty"):
        return None
    if kind not in _READERS:
        held = type(series.dropna().iloc[0]).__name__
        raise DataError(
            f"column {name!r} holds values of type {held}; only numbers, words, dates, True and False can be used"
        )
    word, read = _READERS[kind]
    values = read(series)
    return Typed(finite(values, name) if word == "number" else values, word)


def _categories(series: pd.Series) -> NDArray[Any]:
    labels = series.cat.categories
    written = [number_text(float(label)) if isinstance(label, numbers.Real) else str(label).strip() for label in labels]
    words = [None if is_missing(word) else word for word in written]
    return objects([*words, None])[series.cat.codes.to_numpy()]


def _booleans(series: pd.Series) -> NDArray[Any]:
    return series.astype("boolean").to_numpy(dtype=np.float64, na_value=np.nan)


def _numbers(series: pd.Series) -> NDArray[Any]:
    if series.dtype == object:
        series = series.map(lambda value: np.nan if pd.isna(value) else float(value))
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def _spans(series: pd.Series) -> NDArray[Any]:
    return (pd.to_timedelta(series) / _DAY).to_numpy(dtype=np.float64)


def _periods(series: pd.Series) -> NDArray[Any]:
    return days_since_1970(series.map(lambda period: pd.NaT if pd.isna(period) else period.to_timestamp()))


# What pandas calls the type of a column: its kind, and how its values are read.
_READERS: dict[str, tuple[str, Callable[[pd.Series], NDArray[Any]]]] = {
    "categorical": ("category", _categories),
    "boolean": ("boolean", _booleans),
    **dict.fromkeys(("floating", "integer", "mixed-integer-float", "decimal"), ("number", _numbers)),
    **dict.fromkeys(("datetime64", "datetime", "date"), ("date", days_since_1970)),
    **dict.fromkeys(("timedelta64", "timedelta"), ("number", _spans)),
    "period": ("date", _periods),
}

"""Columns whose values have a type: those of parquet, arff and npz files, and csv columns of nothing but numbers."""

from __future__ import annotations

import datetime
import decimal
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

__all__ = ["Typed", "number_text", "objects", "read_typed"]

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
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(series, name)
    tests: tuple[tuple[Callable[[Any], bool], Callable[[pd.Series, str], Typed]], ...] = (
        (pd.api.types.is_bool_dtype, _booleans),
        (pd.api.types.is_complex_dtype, _refuse),
        (pd.api.types.is_numeric_dtype, _numbers),
        (pd.api.types.is_datetime64_any_dtype, _dates),
        (pd.api.types.is_timedelta64_dtype, _spans),
    )
    for is_type, read in tests:
        if is_type(dtype):
            return read(series, name)
    return _by_values(series, name)


def _by_values(series: pd.Series, name: str) -> Typed | None:
    """A column of Python objects, by the types of the values."""
    series = series.astype(object)
    given = series[~series.isna()]
    types = set(map(type, given.tolist()))
    if all(issubclass(kind, str) for kind in types):
        return None
    tests: tuple[tuple[tuple[type, ...], Callable[[pd.Series, str], Typed]], ...] = (
        ((bool, np.bool_), _booleans),
        ((numbers.Real, decimal.Decimal), _numbers),
        ((datetime.date, pd.Timestamp), _dates),
        ((datetime.timedelta,), _spans),
        ((pd.Period,), _periods),
    )
    for kinds, read in tests:
        if all(issubclass(kind, kinds) for kind in types):
            return read(series, name)
    return _refuse(given, name)


def _categories(series: pd.Series, name: str) -> Typed:
    labels = series.cat.categories
    written = [number_text(float(label)) if isinstance(label, numbers.Real) else str(label).strip() for label in labels]
    words = [None if is_missing(word) else word for word in written]
    return Typed(objects([*words, None])[series.cat.codes.to_numpy()], "category")


def _booleans(series: pd.Series, name: str) -> Typed:
    return Typed(series.astype("boolean").to_numpy(dtype=np.float64, na_value=np.nan), "boolean")


def _numbers(series: pd.Series, name: str) -> Typed:
    if series.dtype == object:
        series = series.map(lambda value: np.nan if pd.isna(value) else float(value))
    return Typed(finite(series.to_numpy(dtype=np.float64, na_value=np.nan), name), "number")


def _dates(series: pd.Series, name: str) -> Typed:
    return Typed(days_since_1970(series), "date")


def _spans(series: pd.Series, name: str) -> Typed:
    return Typed((pd.to_timedelta(series) / _DAY).to_numpy(dtype=np.float64), "number")


def _periods(series: pd.Series, name: str) -> Typed:
    return _dates(series.map(lambda period: pd.NaT if pd.isna(period) else period.to_timestamp()), name)


def _refuse(series: pd.Series, name: str) -> Typed:
    held = type(series.iloc[0]).__name__
    raise DataError(
        f"column {name!r} holds values of type {held}; only numbers, words, dates, True and False can be used"
    )

"""One column of a table: text cells, or values that have a type, become numbers, words or truth values."""

from __future__ import annotations

import datetime
import decimal
import numbers
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmpath.exceptions import DataError

__all__ = ["finite", "objects", "refuse_missing", "row", "text_column", "typed_column"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?"
    r"|\d{1,2}([-/.])\d{1,2}\2(\d{4}|\d{2})( .*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d*)?)?",
    re.ASCII,
)
# Numbers as people write them: 1,5  1,000.50  12 %  $3.20
_ALMOST_NUMBER = re.compile(r"[+-]?[$€£]?\s?(\d+,\d+|\d{1,3}([,' ]\d{3})+(\.\d+)?|\d+\.?\d*)\s?[%$€£]?", re.ASCII)
_LARGEST = 1e100
_MISSING = {"", "nan", "+nan", "-nan"}  # in any column
_MISSING_NUMBER = _MISSING | {"na", "n/a", "#n/a", "<na>", "null", "none"}  # in a column of numbers
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


def text_column(cells: list[str], name: str, kind: str | None) -> tuple[NDArray[Any], str]:
    """A column of text cells as numbers, words or truth values: as `kind` says, or as the cells show."""
    if kind in (None, "number"):
        numeric = _all_numbers(cells)
        if numeric is not None:
            return finite(numeric, name), "number"
        stripped = [cell.strip() for cell in cells]
        given = [cell for cell in stripped if cell.lower() not in _MISSING]
        if (
            kind == "number"
            or any(_NUMBER.fullmatch(cell) for cell in stripped)
            or (given and all(_INFINITE.fullmatch(cell) for cell in given))
        ):
            _refuse_number_column(stripped, name)
    _refuse_gaps(cells, name)
    return _words(cells, name, kind)


def _words(cells: list[str], name: str, kind: str | None) -> tuple[NDArray[Any], str]:
    """A column without numbers and without gaps, as truth values or as words."""
    if kind != "category" and all(cell in _TRUTH for cell in cells):
        return np.array([_TRUTH[cell] for cell in cells]), "boolean"
    if kind == "boolean":
        return objects([_TRUTH.get(cell, cell) for cell in cells]), "boolean"
    if kind is None:
        if all(_DATE.fullmatch(cell.strip()) for cell in cells):
            _refuse_dates(name, cells[0])
        if all(_ALMOST_NUMBER.fullmatch(cell.strip()) for cell in cells):
            raise DataError(
                f"column {name!r} holds numbers that cannot be read as such ({cells[0]!r} in {row(0)}); "
                "write them plainly, with a decimal point and without other signs"
            )
    return objects(cells), "category"


def objects(values: Sequence[object]) -> NDArray[Any]:
    """A one-dimensional object array, whatever the values are."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _all_numbers(cells: list[str]) -> NDArray[np.float64] | None:
    """The cells as floats, or None if one is not a finite number."""
    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError:
        return None
    # Python also reads "1_000" and digits of other scripts; a table that has them is to be looked at.
    if not np.isfinite(values).all() or any("_" in cell or not cell.isascii() for cell in cells):
        return None
    return values


def typed_column(series: pd.Series, name: str, kind: str | None) -> tuple[NDArray[Any], str]:
    """A column with a type as numbers, words or truth values; `kind` says what is due."""
    values, found = _by_type(series, name)
    if kind is None or kind == found:
        return values, found
    if found == "number":
        texts = [str(int(value)) if value == int(value) else repr(float(value)) for value in values]
    else:
        texts = [str(value) for value in values]
    return text_column(texts, name, kind)


def _by_type(series: pd.Series, name: str) -> tuple[NDArray[Any], str]:
    """A column with a type, as what it is."""
    missing = np.flatnonzero(series.isna().to_numpy())
    if len(missing):
        _refuse_missing(name, int(missing[0]))
    if pd.api.types.is_bool_dtype(series.dtype):
        return series.to_numpy(dtype=bool), "boolean"
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_complex_dtype(series.dtype):
        return finite(series.to_numpy(dtype=np.float64), name), "number"
    values = series.astype(object).to_numpy()
    if all(isinstance(value, str) for value in values):
        _refuse_gaps(values, name)
        return objects(values.tolist()), "category"
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return values.astype(bool), "boolean"
    if all(isinstance(value, (numbers.Real, decimal.Decimal)) for value in values):
        return finite(values.astype(np.float64), name), "number"
    if isinstance(values[0], (datetime.date, datetime.time, datetime.timedelta, pd.Timestamp, pd.Period)):
        _refuse_dates(name, values[0])
    held = type(values[0]).__name__
    raise DataError(f"column {name!r} holds values of type {held}; only numbers, words, True and False can be used")


def finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Refuse gaps, infinite values, and numbers too large to be squared."""
    bad = np.flatnonzero(~(np.abs(values) <= _LARGEST))
    if len(bad):
        index = int(bad[0])
        if np.isnan(values[index]):
            _refuse_missing(name, index)
        if np.isinf(values[index]):
            _refuse_infinite(name, index, values[index])
        raise DataError(
            f"column {name!r} has the value {values[index]:g} in {row(index)}, too large to compute with; "
            "measure it in a larger unit"
        )
    return values


def row(index: int) -> str:
    """How messages name a row."""
    return f"data row {index + 1} (the first is 1, a header is not counted)"


def _refuse_number_column(cells: list[str], name: str) -> NoReturn:
    """Name the first cell that keeps a column from being one of numbers."""
    first = next((index for index, cell in enumerate(cells) if _NUMBER.fullmatch(cell)), None)
    among = "" if first is None else f" (such as {cells[first]!r} in data row {first + 1})"
    for index, cell in enumerate(cells):
        if cell.lower() in _MISSING_NUMBER:
            _refuse_missing(name, index)
        if _INFINITE.fullmatch(cell) or (_NUMBER.fullmatch(cell) and not np.isfinite(float(cell))):
            _refuse_infinite(name, index, cell)
        if not _NUMBER.fullmatch(cell):
            hint = ", with a decimal point and without other signs" if _ALMOST_NUMBER.fullmatch(cell) else ""
            raise DataError(
                f"column {name!r} must hold numbers{among}, but {row(index)} has {cell!r}; "
                f"write a number there{hint}, or leave the column out"
            )
    raise AssertionError("every cell is a number")  # pragma: no cover


def _refuse_gaps(cells: Iterable[str], name: str) -> None:
    """Refuse words that stand for nothing."""
    for index, cell in enumerate(cells):
        if cell.strip().lower() in _MISSING:
            _refuse_missing(name, index)


def _refuse_missing(name: str, index: int) -> NoReturn:
    raise DataError(f"column {name!r} has no value in {row(index)}; fill it in, or remove the row or the column")


def _refuse_infinite(name: str, index: int, value: object) -> NoReturn:
    raise DataError(f"column {name!r} has the infinite value {value} in {row(index)}; finite numbers are needed")


def _refuse_dates(name: str, example: object) -> NoReturn:
    raise DataError(
        f"column {name!r} holds dates or times (such as {str(example)!r}), which are neither numbers nor "
        "categories; turn them into numbers, or leave the column out"
    )


def refuse_missing(X: Any) -> Any:
    """Columns of words as they are; a missing value among them is an error that names its place.

    Parameters
    ----------
    X : DataFrame or array
        Columns of words.

    Returns
    -------
    DataFrame or array
        X itself.

    See Also
    --------
    svmpath.datasets.read_table : Read a data file.

    Examples
    --------
    >>> import pandas as pd
    >>> from svmpath.datasets import refuse_missing
    >>> refuse_missing(pd.DataFrame({"fuel": ["gas", "oil"]})).shape
    (2, 1)
    """
    frame = pd.DataFrame(X)
    missing = frame.isna().to_numpy()
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise ValueError(
            f"Column {frame.columns[column]!r} has no value in row {row + 1}; fill it in, or read the file with "
            "keep_default_na=False if a word such as 'NA' or 'None' stands there."
        )
    return X

"""csv and tsv files, read by pandas. The lengths of lines are counted only where an error must name its row."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd

from svmpath.datasets.cells import MISSING, find_styles, is_missing
from svmpath.datasets.faults import EMPTY, check_names, row
from svmpath.exceptions import DataError

_SEPARATORS = (",", ";", "\t")
_SAMPLE = 200  # cells of a column that show its decimal sign
# As pandas compares whole cells; other spellings, such as those with spaces, are found later.
_MISSING = sorted({form(word) for word in MISSING for form in (str, str.upper, str.title)} | {"NaN", "<NA>", "N/A"})
# Older versions of pandas read numbers exactly only if told to; newer ones always do, and drop the option.
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _PANDAS < (3, 1) else {}


def read_delimited(text: str, separator: str | None, as_text: Collection[str]) -> tuple[pd.DataFrame, str]:
    """Read a table whose first line holds the names of the columns.

    Parameters
    ----------
    text : str
    separator : str or None
        What separates the cells; None finds out.
    as_text : collection of str
        Columns that must stay text: the target, categories and dates.

    Returns
    -------
    frame : DataFrame
        Columns with a type if all cells are plain numbers, else of text.
    decimal : {".", ",", ""}
        The decimal sign; empty if none shows.
    """
    if "\n" not in text:
        text = text.replace("\r", "\n")  # as some spreadsheets end lines
    separator = separator or _separator(text)
    names = _header(text, separator)
    if len(names) == 1:  # a blank line is an empty cell, but not at the end
        text = text.lstrip("\r\n").rstrip()
    as_text = {name for name in names if name in as_text} | {names[-1]}
    try:
        frame = _read(text, separator, names, as_text)
    except OverflowError:
        return _read(text, separator, names, names), "."
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        _check_lengths(text, separator, len(names))
        raise _unreadable(error) from error
    if (frame.iloc[:, -1] == "").any():
        _check_lengths(text, separator, len(names))  # pandas fills short lines with empty cells
    # Whole numbers are codes where a cell begins with 0 and another digit.
    if any(f"{before}0{digit}" in text for before in (separator, "\n", '"') for digit in range(10)):
        as_text |= {name for name in names if _is_whole(frame[name])}
        frame = _read(text, separator, names, as_text)
    if separator == ",":
        return frame, "."
    if _has_decimal_commas(frame, is_likely=separator == ";"):
        return _read(text, separator, names, as_text, decimal=","), ","
    return frame, ""


def _read(text: str, separator: str, names: list[str], as_text: Collection[str], **more: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # lines that are longer than the header
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=0,
            names=names,
            index_col=False,
            keep_default_na=False,
            na_values={name: _MISSING for name in names if name not in as_text},
            dtype=dict.fromkeys(as_text, object),
            low_memory=False,
            skip_blank_lines=len(names) > 1,
            **_EXACT,
            **more,
        )


def _is_whole(column: pd.Series) -> bool:
    """Whether a column holds whole numbers, with or without gaps."""
    is_number = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    return is_number and bool((column.dropna() % 1 == 0).all())


def _has_decimal_commas(frame: pd.DataFrame, is_likely: bool) -> bool:
    """Whether a column of text holds numbers that can only be read with a decimal comma.

    If that is likely, since cells are separated by semicolons, those count that can also be read otherwise.
    """
    for name in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        cells = [cell.strip() for cell in frame[name].iloc[:_SAMPLE].tolist() if isinstance(cell, str)]
        given = [cell for cell in cells if not is_missing(cell)]
        styles = find_styles(given) if given else []
        if styles and (any if is_likely and "," in "".join(given) else all)(style.decimal == "," for style in styles):
            return True
    return False


def _separator(text: str) -> str:
    """Comma, semicolon or tab: the one that splits the header into most cells."""
    header = next((line for line in io.StringIO(text, newline="") if line.strip()), "")
    return max(_SEPARATORS, key=lambda separator: len(next(csv.reader([header], delimiter=separator), [])))


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def _header(text: str, separator: str) -> list[str]:
    """The names of the columns."""
    try:
        names = next(filter(None, _records(text, separator)), None)
    except csv.Error as error:
        raise _unreadable(error) from error
    if names is None:
        raise DataError(EMPTY)
    check_names(names)
    return names


def _check_lengths(text: str, separator: str, width: int) -> None:
    """Refuse lines that are not as long as the header, and quotes that do not end; blank lines are no rows."""
    try:
        lengths = [
            len(cells) for cells in _records(text, separator) if width == 1 or "".join(cells).strip() or cells[1:]
        ]
    except csv.Error as error:
        raise _unreadable(error) from error
    for index, length in enumerate(lengths[1:]):
        if max(length, 1) != width:
            raise DataError(
                f"{row(index)} has {length} cells, but the header has {width}; check separators and quotes there"
            )


def _unreadable(error: Exception) -> DataError:
    return DataError(f"the file is not a readable csv table ({error}); check quotes and separators")

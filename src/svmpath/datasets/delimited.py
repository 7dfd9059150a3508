"""csv and tsv files: read by pandas, and once more, line by line, where an error must name its row."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from svmpath.datasets.cells import MISSING, find_styles, is_missing
from svmpath.datasets.faults import check_names, row
from svmpath.exceptions import DataError

__all__ = ["Delimited", "read_delimited"]

_SEPARATORS = (",", ";", "\t")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_SAMPLE = 200  # cells of a column that show its decimal sign
_EMPTY = "the file is empty; a table with at least one row was expected"
# As pandas compares whole cells; other spellings, such as those with spaces, are found later.
_MISSING = sorted({form(word) for word in MISSING for form in (str, str.upper, str.title)} | {"NaN", "<NA>", "N/A"})
# Older versions of pandas read numbers exactly only if told to; newer ones always do, and drop the option.
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
_EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _PANDAS < (3, 1) else {}


@dataclass(frozen=True)
class Delimited:
    """Columns with a type if all cells are plain numbers, else of text; and the decimal sign, "" if none shows."""

    frame: pd.DataFrame
    decimal: str


def read_delimited(text: str, separator: str | None, as_text: Collection[str]) -> Delimited:
    """Read a table whose first line holds the names of the columns.

    Parameters
    ----------
    text : str
    separator : str or None
        What parts the cells; None finds out.
    as_text : collection of str
        Columns that must stay text: the target, categories and dates.
    """
    if "\n" not in text:
        text = text.replace("\r", "\n")  # as some spreadsheets end lines
    separator = separator or _separator(text)
    names = _header(text, separator)
    if len(names) == 1:  # where pandas would take an empty cell for an empty line
        return Delimited(_by_lines(text, separator), ".")
    kept = {name for name in names if name in as_text} | {names[-1]}
    try:
        frame = _by_pandas(text, separator, names, kept)
    except (pd.errors.ParserError, pd.errors.ParserWarning, OverflowError):
        return Delimited(_by_lines(text, separator), ".")
    if (frame.iloc[:, -1] == "").any():
        _check_lengths(text, separator)  # pandas fills short lines with empty cells
    if _has_codes(text, separator):
        kept |= {name for name in names if _is_whole(frame[name])}
        frame = _by_pandas(text, separator, names, kept)
    if separator == ",":
        return Delimited(frame, ".")
    if _has_decimal_commas(frame, is_likely=separator == ";"):
        return Delimited(_by_pandas(text, separator, names, kept, decimal=","), ",")
    return Delimited(frame, "")


def _is_whole(column: pd.Series) -> bool:
    """Whether a column holds whole numbers, with or without gaps: then it may be one of codes."""
    is_number = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    return is_number and bool((column.dropna() % 1 == 0).all())


def _has_codes(text: str, separator: str) -> bool:
    """Whether a cell begins with 0 and another digit, as codes do."""
    return any(f"{before}0{digit}" in text for before in (separator, "\n", '"') for digit in range(10))


def _by_pandas(text: str, separator: str, names: list[str], as_text: Collection[str], **more: Any) -> pd.DataFrame:
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
            **_EXACT,
            **more,
        )


def _has_decimal_commas(frame: pd.DataFrame, is_likely: bool) -> bool:
    """Whether a column of text holds numbers that can only be read with a decimal comma.

    If that is likely, since cells are parted by semicolons, those count that can also be read otherwise.
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


def _lines(text: str) -> Iterator[str]:
    """The lines one after another, without a copy of the text."""
    return (found[0] for found in _LINE.finditer(text))


def _separator(text: str) -> str:
    """Comma, semicolon or tab: the one that parts the header into most cells."""
    header = next((line for line in _lines(text) if line.strip()), "")
    counts = {sep: len(next(csv.reader([header], delimiter=sep), [])) for sep in _SEPARATORS}
    return max(counts, key=lambda sep: counts[sep])


def _header(text: str, separator: str) -> list[str]:
    """The names of the columns."""
    try:
        lines = csv.reader(_lines(text), delimiter=separator, strict=True)
        names = next((record for record in lines if record), None)
    except csv.Error as error:
        raise _unreadable(error) from error
    if names is None:
        raise DataError(_EMPTY)
    check_names(names)
    return names


def _unreadable(error: Exception) -> DataError:
    return DataError(f"the file is not a readable csv table ({error}); check quotes and separators")


def _by_lines(text: str, separator: str) -> pd.DataFrame:
    """All columns as text, line by line; a line of another length is an error that names it."""
    header, *rows = _records(text, separator)
    return pd.DataFrame({name: pd.Series(list(cells), dtype=object) for name, cells in _columns(header, rows)})


def _columns(header: list[str], rows: list[list[str]]) -> Any:
    return zip(header, zip(*rows, strict=True) if rows else ([] for _ in header), strict=True)


def _check_lengths(text: str, separator: str) -> None:
    """Refuse lines that are shorter than the header."""
    _records(text, separator)


def _records(text: str, separator: str) -> list[list[str]]:
    """The lines as lists of cells of equal length, without blank lines."""
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise _unreadable(error) from error
    while records and not any(cell.strip() for cell in records[-1]) and len(records[-1]) < 2:
        records.pop()
    first = next((index for index, record in enumerate(records) if record), len(records))
    records = records[first:]
    if not records:
        raise DataError(_EMPTY)
    if len(records[0]) == 1:  # with one column, a blank line is an empty cell
        return [record or [""] for record in records]
    records = [record for record in records if len(record) > 1 or (record and record[0].strip())]
    for index, record in enumerate(records[1:]):
        if len(record) != len(records[0]):
            raise DataError(
                f"{row(index)} has {len(record)} cells, but the header has {len(records[0])}; "
                "check separators and quotes there"
            )
    return records

"""Text cells of one column as numbers, dates or truth values.

Each function takes the different cells of a column, stripped and without those that stand for a missing value, and
gives a value for each of them, or None if the cells are something else. A column is what all of its cells agree on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Whole cells that stand for a missing value, in lower case.
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "+nan", "-nan", "null", "none", "?", "-"})
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_CODE = re.compile(r"0\d+", re.ASCII)
_DIGITS = re.compile(r"\d+", re.ASCII)
_TRUTH = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off"), ("1", "0"))


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value.

    Examples
    --------
    >>> from svmpath.datasets.cells import is_missing
    >>> [is_missing(cell) for cell in ("", " NA ", "None", "?", "north", "0")]
    [True, True, True, True, False, False]
    """
    return cell.strip().lower() in MISSING


def is_code(cells: Sequence[str]) -> bool:
    """Whether digits are a code and not a number: all of the same length, and some begin with 0 (such as 01067)."""
    return (
        len({len(cell) for cell in cells}) == 1
        and any(_CODE.fullmatch(cell) for cell in cells)
        and all(_DIGITS.fullmatch(cell) for cell in cells)
    )


# ----------------------------------------------------------------------------------------------------
# Numbers
# ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written.

    Attributes
    ----------
    decimal : {".", ","}
    thousands : str
        The sign between groups of three digits, or nothing.
    sign : str
        What stands before or behind each number: "%", a currency, or nothing.

    Examples
    --------
    >>> from svmpath.datasets.cells import NumberStyle
    >>> NumberStyle(",", ".", "€").read(["1.234,5 €", "7 €"])
    array([1234.5,    7. ])
    >>> NumberStyle().read(["1,234"]) is None
    True
    """

    decimal: str = "."
    thousands: str = ""
    sign: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as Python writes them."""
        return self == NumberStyle()

    def read(self, cells: Sequence[str]) -> Floats | None:
        """The numbers, or None if a cell is not written in this way."""
        # Thousands do not begin with 0: 0,123 is a fraction.
        whole = rf"[1-9][0-9]{{0,2}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+" if self.thousands else "[0-9]+"
        point, sign = re.escape(self.decimal), re.escape(self.sign)
        number = rf"(?:(?:{whole})(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        form = rf"[+-]?{number}"
        if sign:  # -$5, $-5, 5 $ and -5$ are all right
            form = rf"[+-]?\s*{sign}\s*{number}|{sign}\s*[+-]?{number}|[+-]?\s*{number}\s*{sign}"
        if not all(map(re.compile(form).fullmatch, cells)):
            return None
        written = {self.sign or " ": "", self.thousands or " ": "", self.decimal: "."}
        table = str.maketrans(written)
        return np.array([float("".join(cell.split()).translate(table)) for cell in cells])

    def describe(self) -> str:
        """The style in words."""
        words = [f"{self.sign!r} is left out"] * bool(self.sign)
        words += [f"{self.thousands!r} separates thousands"] * bool(self.thousands)
        words += ["',' is the decimal sign"] * (self.decimal == ",")
        return " and ".join(words)


_PAIRS = ((".", ""), (".", ","), (",", ""), (",", "."), (".", "'"), (".", " "), (",", " "), (",", "'"))
_SIGNS = ("%", "$", "€", "£", "¥")


def find_styles(cells: Sequence[str]) -> dict[NumberStyle, Floats]:
    """The styles in which all cells are numbers, the simplest first, and the numbers.

    Styles with a sign that no cell has are left out.

    Examples
    --------
    >>> from svmpath.datasets.cells import find_styles
    >>> [(style.describe(), numbers.tolist()) for style, numbers in find_styles(["1,5", "2,75"]).items()]
    [("',' is the decimal sign", [1.5, 2.75])]
    >>> len(find_styles(["1,234"]))  # 1234 or 1.234
    2
    """
    sign = next((sign for sign in _SIGNS if cells and sign in cells[0]), "")
    text = "".join(cells)
    possible = [
        NumberStyle(decimal, thousands, sign)
        for decimal, thousands in _PAIRS
        if (not thousands or thousands in text) and (decimal == "." or decimal in text or thousands == ".")
    ]
    read = {style: numbers for style in possible if (numbers := style.read(cells)) is not None}
    # A sign for thousands counts only if it is needed.
    plain = {style.decimal for style in read if not style.thousands}
    return {style: numbers for style, numbers in read.items() if not style.thousands or style.decimal not in plain}


# ----------------------------------------------------------------------------------------------------
# Truth values
# ----------------------------------------------------------------------------------------------------


def read_truth(cells: Sequence[str], needs_both: bool = True) -> Floats | None:
    """1 and 0 for words such as yes and no; None if they are other words, or not two of a pair."""
    lower = [cell.lower() for cell in cells]
    for yes, no in _TRUTH:
        if set(lower) <= {yes, no} and (not needs_both or len(set(lower)) == 2):
            return np.array([float(cell == yes) for cell in lower])
    return None


# ----------------------------------------------------------------------------------------------------
# Dates
# ----------------------------------------------------------------------------------------------------

_LOOKS = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?"
    r"|\d{1,2}([-/.])\d{1,2}\2(\d{4}|\d{2})([T ,].*)?"
    r"|\d{1,2}[- .]\s?[^\W\d]{3,9}\.?[-, ]\s?(\d{4}|\d{2})( .*)?"
    r"|[^\W\d]{3,9}\.? \d{1,2},? \d{4}( .*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d*)?)?",
)
_DAYS = (
    "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y",
    "%m-%d-%Y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
ISO = "ISO8601"
_CLOCK = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
_MICROSECONDS_OF_DAY = 86_400e6


def find_date_formats(cells: Sequence[str]) -> list[str] | None:
    """The formats in which all cells are dates; None if they do not look like dates.

    Several formats are several meanings: 1/2/2024 is in January or in February. An empty list says that the cells
    look like dates and cannot be read.

    Examples
    --------
    >>> from svmpath.datasets.cells import find_date_formats
    >>> find_date_formats(["2024-01-31", "2024-02-01T12:30"]), find_date_formats(["31/1/2024", "1/2/2024"])
    (['ISO8601'], ['%d/%m/%Y'])
    >>> find_date_formats(["2/1/2024", "1/2/2024"]), find_date_formats(["north"])
    (['%d/%m/%Y', '%m/%d/%Y'], None)
    """
    if not cells or not all(_LOOKS.fullmatch(cell) for cell in cells):
        return None
    formats = [ISO, *_CLOCK, *(day + time for day in _DAYS for time in _TIMES)]
    # Most formats are wrong for the first cells.
    formats = [name for name in formats if read_dates(cells[:5], name) is not None]
    read = {name: values for name in formats if (values := read_dates(cells, name)) is not None}
    found, dates = list(read), list(read.values())
    return found[:1] if all(np.array_equal(each, dates[0]) for each in dates) else found


def read_dates(cells: Sequence[str], form: str) -> Floats | None:
    """The days since 1970-01-01, with fractions; None if a cell has another format.

    Examples
    --------
    >>> from svmpath.datasets.cells import read_dates
    >>> read_dates(["2.1.1970", "3.1.1970"], "%d.%m.%Y")
    array([1., 2.])
    """
    try:
        found = pd.to_datetime(pd.Series(list(cells), dtype=object), format=form, utc=True)
    except (ValueError, OverflowError):
        return None
    return days_since_1970(found)


def days_since_1970(dates: pd.Series) -> Floats:
    """Dates, with or without a time zone, as numbers; NaN for what is missing."""
    stamps = pd.to_datetime(dates, utc=True).dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    # Not by pandas: its nanoseconds end in the year 2262, and 9999-12-31 is what many write for "never".
    days = stamps.astype(np.int64) / _MICROSECONDS_OF_DAY
    return np.where(np.isnat(stamps), np.nan, days)

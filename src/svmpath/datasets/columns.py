"""What one column of a file is read as, and its values.

The kinds of columns that are used:

========  =================================================================================================
number    float64, NaN where a value is missing
boolean   1.0 and 0.0, NaN where a value is missing
date      days since 1970-01-01 as float64, NaN where a value is missing
category  words as objects, None where a value is missing
========  =================================================================================================

Columns from which nothing can be learnt are left out: an "identifier" has a different value in every row, a
"constant" has one value, an "empty" column has none. A date that can be read in two ways is left out, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmpath.datasets.cells import (
    INFINITE,
    MISSING,
    PLAIN,
    NumberStyle,
    find_date_formats,
    find_styles,
    is_code,
    read_dates,
    read_truth,
)
from svmpath.datasets.faults import finite, refuse_number_column
from svmpath.datasets.typed import objects, read_typed

_FEW_WORDS = 3  # spellings among numbers that are read as missing values
_MOSTLY = 0.8  # part of the rows that makes a column one of numbers, with a wrong cell in it
_MANY = 50  # rows from which on a column that counts them is hardly a feature
_ID_WORDS = {"id", "ids", "uuid", "guid", "key", "row", "rowid", "index", "idx", "number", "no", "nr", "num", "serial"}


@dataclass(frozen=True)
class Column:
    """What a column was read as.

    Attributes
    ----------
    name : str
    kind : str
        "number", "boolean", "date" or "category"; or, of a column that is left out, "identifier", "constant" or
        "empty".
    missing : int
        Number of cells without a value.
    is_used : bool
    detail : str
        More about it: how the cells are written, or why they are left out.
    recipe : mapping
        How new cells of the column are read: plain values that can be written as JSON.

    See Also
    --------
    svmpath.datasets.Table : What a data file holds.
    svmpath.datasets.read_new_rows : Read rows to predict by these recipes.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from svmpath.datasets import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "cars.csv")
    ...     pd.DataFrame({"fuel": ["gas", "oil"] * 5, "price": range(10)}).to_csv(file, index=False)
    ...     column = read_table(file, target="price").columns[0]
    >>> column.name, column.kind, column.is_used
    ('fuel', 'category', True)
    """

    name: str
    kind: str
    missing: int = 0
    is_used: bool = True
    detail: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cells:
    """Text cells, each spelling once.

    Attributes
    ----------
    given : list of str
        The different cells, stripped, without those that are missing.
    counts : ndarray
        How many rows have each of them.
    """

    given: list[str]
    counts: NDArray[Any]
    _codes: NDArray[Any]

    @staticmethod
    def of(series: pd.Series, missing: Collection[str] = MISSING) -> Cells:
        """Of a column of text; what is NaN or None is missing, and the words that stand for it, in lower case."""
        codes, spellings = pd.factorize(series.to_numpy(dtype=object))
        stripped = [str(cell).strip() for cell in spellings]
        given = list(dict.fromkeys(cell for cell in stripped if cell.lower() not in missing))
        place = {cell: index for index, cell in enumerate(given)}
        moved = np.array([place.get(cell, -1) for cell in stripped] + [-1])  # the last is where codes are -1
        codes = moved[codes]
        return Cells(given, np.bincount(codes[codes >= 0], minlength=len(given)), codes)

    @property
    def missing(self) -> int:
        """Number of missing cells."""
        return int((self._codes < 0).sum())

    def spread(self, values: Any) -> NDArray[Any]:
        """The value of each row, given that of each different cell."""
        if isinstance(values, np.ndarray):
            return np.append(values, np.nan)[self._codes]
        return objects([*values, None])[self._codes]

    def rows(self) -> list[str | None]:
        """The cells of all rows; None is missing."""
        cells: list[str | None] = self.spread(self.given).tolist()
        return cells

    def without(self, words: set[str]) -> Cells:
        """The same, with some words treated as missing values."""
        kept = [index for index, cell in enumerate(self.given) if cell not in words]
        moved = np.full(len(self.given) + 1, -1)
        moved[kept] = np.arange(len(kept))
        return Cells([self.given[index] for index in kept], self.counts[kept], moved[self._codes])


Read = tuple[NDArray[Any], Column]  # the values of a column, and what it was read as


def infer_column(
    series: pd.Series, name: str, *, is_category: bool = False, decimal: str = "."
) -> tuple[NDArray[Any], Column]:
    """The values of a column and what it was read as.

    Parameters
    ----------
    series : Series
        As a file holds it: with a type, or as text.
    name : str
    is_category : bool
        Whether its values are known to be categories.
    decimal : {".", ","}
        The decimal sign of the file, where cells can be read in two ways.

    See Also
    --------
    svmpath.datasets.read_table : Read a data file.

    Examples
    --------
    >>> import pandas as pd
    >>> from svmpath.datasets.columns import infer_column
    >>> values, column = infer_column(pd.Series(["12 %", "7 %", "?"]), "share")
    >>> values, column.kind, column.missing, column.detail
    (array([12.,  7., nan]), 'number', 1, "'%' is left out")
    """
    typed = read_typed(series, name)
    if typed is not None and (not is_category or typed.kind == "category"):
        missing = int(pd.isna(typed.values).sum())
        sign = {"decimal": ","} if typed.kind == "number" and decimal == "," else {}  # of new rows, if they are text
        column = Column(name, typed.kind, missing, recipe={"kind": typed.kind, **sign})
        return _marked(typed.values, column)
    cells = Cells.of(series if typed is None else pd.Series(typed.words(), dtype=object))
    if is_category:
        return _marked(cells.spread(cells.given), _column(cells, name, "category", "as --categorical says"))
    if not cells.given:
        return cells.spread(np.empty(0)), replace(_column(cells, name, "empty"), is_used=False)
    for reader in (_codes, _plain_numbers, _truth, _styled_numbers, _dates, _values_and_words):
        read = reader(cells, name, decimal)
        if read is not None:
            return _marked(*read)
    _refuse_mistaken_number(cells, name)
    detail = "numbers and words" if any(map(PLAIN.fullmatch, cells.given)) else ""
    return _marked(cells.spread(cells.given), _column(cells, name, "category", detail))


def _column(cells: Cells, name: str, kind: str, detail: str = "", **recipe: Any) -> Column:
    return Column(name, kind, cells.missing, True, detail, {"kind": kind, **recipe})


# ----------------------------------------------------------------------------------------------------
# Text
# ----------------------------------------------------------------------------------------------------


def _codes(cells: Cells, name: str, decimal: str) -> Read | None:
    if not is_code(cells.given):
        return None
    detail = f"digits that begin with 0, such as {min(cells.given)!r}, are a code"
    return cells.spread(cells.given), _column(cells, name, "category", detail)


def _plain_numbers(cells: Cells, name: str, decimal: str) -> Read | None:
    if decimal == "," and any("." in cell for cell in cells.given):
        return None  # 1.234 may be 1234
    values = NumberStyle().read(cells.given)
    if values is not None:
        return finite(cells.spread(values), name), _column(cells, name, "number")
    if all(PLAIN.fullmatch(cell) or INFINITE.fullmatch(cell) for cell in cells.given):
        refuse_number_column(cells.rows(), name)
    return None


def _truth(cells: Cells, name: str, decimal: str) -> Read | None:
    values = read_truth(cells.given)
    if values is None:
        return None
    yes = next(cell for cell, value in zip(cells.given, values, strict=True) if value)
    return cells.spread(values), _column(cells, name, "boolean", f"{yes!r} is 1")


def _styled_numbers(cells: Cells, name: str, decimal: str) -> Read | None:
    styles = find_styles(cells.given)
    if not styles:
        return None
    style = min(styles, key=lambda style: style.decimal != decimal)
    recipe = {"decimal": style.decimal, "thousands": style.thousands, "sign": style.sign}
    column = _column(cells, name, "number", style.describe(), **({} if style.is_plain else recipe))
    return finite(cells.spread(styles[style]), name), column


def _dates(cells: Cells, name: str, decimal: str) -> Read | None:
    formats = find_date_formats(cells.given)
    if formats is None:
        return None
    example = cells.given[0]
    if len(formats) != 1:
        fault = "can be read in two ways" if formats else "cannot be read"
        detail = f"dates such as {example!r} {fault}; write them like '2024-01-31'"
        return cells.spread(cells.given), replace(_column(cells, name, "date", detail), is_used=False)
    values = read_dates(cells.given, formats[0])
    assert values is not None
    return cells.spread(values), _column(cells, name, "date", f"written like {example!r}", format=formats[0])


def _values_and_words(cells: Cells, name: str, decimal: str) -> Read | None:
    """Numbers or dates with a few words among them, which stand for missing values."""
    words = [cell for cell in cells.given if not any(map(str.isdigit, cell))]
    rest = cells.without(set(words))
    if not 0 < len(words) <= _FEW_WORDS or rest.counts.sum() < 0.5 * cells.counts.sum() or is_code(rest.given):
        return None
    if any(map(INFINITE.fullmatch, words)):
        return None
    readers = (_plain_numbers, _styled_numbers, _dates)
    read = next((read for reader in readers if (read := reader(rest, name, decimal)) is not None), None)
    if read is None or not read[1].is_used:
        return None
    values, column = read
    among = f"{' and '.join(map(repr, words))} among the {column.kind}s treated as missing"
    detail = f"{column.detail}, and {among}" if column.detail else among
    return values, replace(column, detail=detail, recipe={**column.recipe, "words": words})


def _refuse_mistaken_number(cells: Cells, name: str) -> None:
    """Refuse numbers with a cell among them that is a mistake, such as 3x."""
    is_number = np.array([PLAIN.fullmatch(cell) is not None for cell in cells.given])
    share = cells.counts[is_number].sum() / cells.counts.sum()
    words = [cell for cell, number in zip(cells.given, is_number, strict=True) if not number]
    is_odd = any(map(str.isdigit, "".join(words))) or any(map(INFINITE.fullmatch, words))
    if is_odd and (share >= _MOSTLY or (share >= 0.5 and len(cells.given) == 2)):
        refuse_number_column(cells.rows(), name, f"or use --categorical or --drop with {name}")


# ----------------------------------------------------------------------------------------------------
# Columns from which nothing can be learnt
# ----------------------------------------------------------------------------------------------------


def _marked(values: NDArray[Any], column: Column) -> Read:
    """The column, marked as left out if nothing can be learnt from it."""
    if not column.is_used:
        return values, column
    given = values[~pd.isna(values)]
    different = len(pd.unique(given))
    if not different:
        return values, replace(column, kind="empty", is_used=False)
    if different == 1 and not column.missing:
        return values, replace(column, kind="constant", is_used=False, detail=f"every row has {_plain(given[0])}")
    if column.kind == "number" and different == 2 and set(given.tolist()) == {0.0, 1.0}:
        return values, replace(column, kind="boolean", detail="0 and 1")
    if different == len(values) > 2 and _is_identifier(given, column):
        return values, replace(column, kind="identifier", is_used=False, detail="a different value in every row")
    if column.kind == "number" and len(values) >= _MANY and np.array_equal(np.diff(values), np.ones(len(values) - 1)):
        return values, replace(column, detail=f"it counts the rows; use --drop {column.name} if that is all it does")
    return values, column


def _is_identifier(values: NDArray[Any], column: Column) -> bool:
    """Whether values, all of them different, merely name the rows: words do, numbers only if their name says so."""
    if column.kind == "category":
        return True
    if column.kind != "number" or not np.all(values == np.round(values)):
        return False
    words = re.findall(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+", column.name)
    lower = [word.lower() for word in words]
    return bool(lower) and (lower[-1] in _ID_WORDS or lower[0] in {"id", "uuid", "guid", "row"})


def _plain(value: object) -> str:
    """A value as messages show it."""
    return f"{value:g}" if isinstance(value, float) else repr(value)

"""What is wrong with a cell, in one sentence that names its column and its row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from svmpath.datasets.cells import INFINITE, PLAIN, is_missing
from svmpath.exceptions import DataError
from svmpath.names import nearest_name

_LARGEST = 1e100
EMPTY = "the file is empty; a table with at least one row was expected"
NO_ROWS = "there are no rows below the column names; at least one was expected"


def row(index: int) -> str:
    """How messages name a row."""
    return f"data row {index + 1} (the first is 1, a header is not counted)"


def listed(names: Iterable[object], most: int = 12) -> str:
    """Names in quotes, shortened where there are many."""
    quoted = [repr(str(name)) for name in names]
    extra = [f"... ({len(quoted)} in all)"] if len(quoted) > most else []
    return ", ".join(quoted[:most] + extra)


def check_names(names: Sequence[str]) -> None:
    """Refuse columns without a name and names that occur twice."""
    for position, name in enumerate(names):
        if not name.strip():
            raise DataError(
                f"column {position + 1} has no name; name it in the first line, or remove it "
                "(an index saved by pandas is left out with index=False)"
            )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"the column name {twice[0]!r} occurs more than once; give every column its own name")


def unknown_column(name: str, names: Iterable[str], purpose: str = "") -> DataError:
    """A column that is not there, with the nearest name that is."""
    known = list(names)
    nearest = nearest_name(name, known)
    hint = "" if nearest is None else f" (did you mean {nearest!r}?)"
    return DataError(f"there is no column {name!r}{purpose}{hint}; there are {listed(known)}")


def finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Refuse infinite values, and numbers too large to be squared; missing ones (NaN) are left as they are."""
    bad = np.flatnonzero(np.abs(values) > _LARGEST)
    if len(bad):
        index = int(bad[0])
        if np.isinf(values[index]):
            refuse_infinite(name, index, values[index])
        raise DataError(
            f"column {name!r} has the value {values[index]:g} in {row(index)}, too large to compute with; "
            "measure it in a larger unit"
        )
    return values


def refuse_number_column(cells: Sequence[str | None], name: str, remedy: str = "or leave the column out") -> NoReturn:
    """Name the first cell that keeps a column from being one of numbers; None is a missing cell."""
    stripped = [None if cell is None else cell.strip() for cell in cells]
    first = next((index for index, cell in enumerate(stripped) if cell is not None and PLAIN.fullmatch(cell)), None)
    among = "" if first is None else f" (such as {stripped[first]!r} in data row {first + 1})"
    for index, cell in enumerate(stripped):
        if cell is None or is_missing(cell):
            continue
        if INFINITE.fullmatch(cell) or (PLAIN.fullmatch(cell) and not np.isfinite(float(cell))):
            refuse_infinite(name, index, cell)
        if not PLAIN.fullmatch(cell):
            raise DataError(
                f"column {name!r} must hold numbers{among}, but {row(index)} has {cell!r}; "
                f"write a number there, {remedy}"
            )
    raise AssertionError("every cell is a number")  # pragma: no cover


def missing_cell(name: str, index: int) -> DataError:
    """A cell that has no value."""
    return DataError(f"column {name!r} has no value in {row(index)}; fill it in, or remove the row or the column")


def refuse_infinite(name: str, index: int, value: object) -> NoReturn:
    """Refuse a value that is infinite."""
    raise DataError(f"column {name!r} has the infinite value {value} in {row(index)}; finite numbers are needed")

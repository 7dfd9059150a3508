"""New cells of a column, read as those of the training data were.

A recipe is the part of a :class:`~svmpath.datasets.columns.Column` that says how: its ``kind``, the ``format`` of
dates, the style of numbers (``decimal``, ``thousands``, ``sign``), and ``words`` that stand for missing values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmpath.datasets.cells import ISO, NumberStyle, find_date_formats, find_styles, read_dates, read_truth
from svmpath.datasets.columns import Cells
from svmpath.datasets.faults import finite, refuse_number_column, row
from svmpath.datasets.typed import read_typed
from svmpath.exceptions import DataError

Recipe = Mapping[str, Any]


def follow_recipe(series: pd.Series, name: str, recipe: Recipe, decimal: str = ".") -> tuple[NDArray[Any], list[str]]:
    """The values of new cells, and those words among them that are none of the two of a boolean column.

    Parameters
    ----------
    series : Series
        The cells, as text or with a type.
    name : str
        The column, for messages.
    recipe : mapping
        How the column is read; ``kind`` at least.
    decimal : {".", ",", ""}
        The decimal sign of the file, where cells can be read in two ways; if the file does not show it, they are read
        as in training.

    Examples
    --------
    >>> import pandas as pd
    >>> from svmpath.datasets.recipes import follow_recipe
    >>> follow_recipe(pd.Series(["2,5", "unknown"]), "size", {"kind": "number", "decimal": ",", "words": ["unknown"]})
    (array([2.5, nan]), [])
    >>> follow_recipe(pd.Series([7, 8]), "zone", {"kind": "category"})[0].tolist()
    ['7', '8']
    """
    typed = read_typed(series, name)
    readers = {"number": _numbers, "boolean": _truth, "date": _dates, "category": _words}
    if typed is not None and (typed.kind, recipe["kind"]) == ("date", "number"):
        raise DataError(f"column {name!r} holds dates, but held numbers in the training data; write numbers there")
    if typed is None or recipe["kind"] not in (typed.kind, *_TAKEN_FOR.get(typed.kind, ())):
        cells = Cells.of(series if typed is None else pd.Series(typed.words(), dtype=object))
        return readers[recipe["kind"]](cells, name, recipe, decimal)
    return typed.values, []


# Values of one kind that another takes as they are: truth values are numbers, and days may have been read before.
_TAKEN_FOR = {"boolean": ("number",), "number": ("date",)}


def _words(cells: Cells, name: str, recipe: Recipe, decimal: str) -> tuple[NDArray[Any], list[str]]:
    return cells.spread(cells.given), []


def _numbers(cells: Cells, name: str, recipe: Recipe, decimal: str) -> tuple[NDArray[Any], list[str]]:
    rest = cells.without(set(recipe.get("words", ())))
    learnt = NumberStyle(recipe.get("decimal", "."), recipe.get("thousands", ""), recipe.get("sign", ""))
    styles = find_styles(rest.given)
    possible = (styles.get(NumberStyle()) if decimal == "." else None, learnt.read(rest.given), *styles.values())
    values = next((numbers for numbers in possible if numbers is not None), None)
    if values is None:
        refuse_number_column(rest.rows(), name)
    return finite(rest.spread(values), name), []


def _truth(cells: Cells, name: str, recipe: Recipe, decimal: str) -> tuple[NDArray[Any], list[str]]:
    read = [read_truth([cell], needs_both=False) for cell in cells.given]
    unseen = [cell for cell, value in zip(cells.given, read, strict=True) if value is None]
    values = np.array([np.nan if value is None else value[0] for value in read])
    return cells.spread(values), [word for word in cells.rows() if word is not None and word in set(unseen)]


def _dates(cells: Cells, name: str, recipe: Recipe, decimal: str) -> tuple[NDArray[Any], list[str]]:
    cells = cells.without(set(recipe.get("words", ())))
    if not cells.given:
        return cells.spread(np.empty(0)), []
    learnt = recipe.get("format", ISO)
    others = find_date_formats(cells.given) or []
    swapped = learnt.translate(str.maketrans("dm", "md"))  # day and month in each other's place
    if len(others) != 1 or others[0] == swapped:  # a day that is wrong must not make months of all others
        others = []
    for form in [learnt, *others]:
        values = read_dates(cells.given, form)
        if values is not None:
            return cells.spread(values), []
    # Cell by cell: as in training, or as nobody can misread it.
    each = {cell: next((days for form in (learnt, ISO) if (days := read_dates([cell], form)) is not None), None)
            for cell in cells.given}  # fmt: skip
    if all(days is not None for days in each.values()):
        return cells.spread(np.concatenate(list(each.values()))), []
    index, cell = next((index, cell) for index, cell in enumerate(cells.rows()) if cell and each[cell] is None)
    raise DataError(
        f"column {name!r} must hold dates, but {row(index)} has {cell!r}; write them as in the training data, or like "
        "'2024-01-31'"
    )

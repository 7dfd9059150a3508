"""The target of a table: classes, or numbers to regress on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmpath.datasets.cells import INFINITE, MISSING, PLAIN, find_date_formats, find_styles, is_code
from svmpath.datasets.columns import Cells
from svmpath.datasets.faults import finite, refuse_number_column
from svmpath.datasets.typed import objects, read_typed
from svmpath.exceptions import DataError

_MOST_CLASSES = 10
_LABELS = {"none", "-"}  # of words that stand for missing values, those that may well be a class
_TRUTH_SPELT = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


def read_target(
    series: pd.Series, name: str, task: str | None = None, decimal: str = "."
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The values of a target, and which rows have one.

    Parameters
    ----------
    series : Series
        The column, as text or with a type.
    name : str
    task : {"classification", "regression"} or None
        In a classification, numbers and words may stand side by side.
    decimal : {".", ","}
        The decimal sign of the file, where cells can be read in two ways.

    Examples
    --------
    >>> import pandas as pd
    >>> from svmpath.datasets.target import read_target
    >>> read_target(pd.Series(["ill", "", "None"]), "state")
    (array(['ill', 'None'], dtype=object), array([ True, False,  True]))
    """
    typed = read_typed(series, name)
    if typed is not None:
        if typed.kind == "date":
            raise DataError(f"column {name!r} holds dates or times, which cannot be predicted; choose another target")
        kept = ~pd.isna(typed.values)
        values = typed.values[kept]
        return (values.astype(bool) if typed.kind == "boolean" else values), kept
    cells = Cells.of(series)
    is_label = task != "regression" and len(cells.given) <= _MOST_CLASSES and is_code(cells.given)  # 01 is not 1
    numeric = None if is_label or task == "classification" else _numbers(cells, name, decimal)
    if numeric is not None:
        return numeric[~np.isnan(numeric)], ~np.isnan(numeric)
    words = Cells.of(series, MISSING - _LABELS).rows()
    kept = np.array([word is not None for word in words], dtype=bool)
    given = [word for word in words if word is not None]
    if given and all(word in _TRUTH_SPELT for word in given):
        return np.array([_TRUTH_SPELT[word] for word in given]), kept
    if given and not is_label and task == "classification" and all(PLAIN.fullmatch(word) for word in given):
        return finite(np.array([float(word) for word in given]), name), kept
    return objects(given), kept


def _numbers(cells: Cells, name: str, decimal: str) -> NDArray[np.float64] | None:
    """The target as numbers, NaN where it is missing; None if it holds words."""
    if not cells.given:
        return np.full(len(cells.rows()), np.nan)
    if find_date_formats(cells.given) is not None:
        raise DataError(
            f"column {name!r} holds dates or times (such as {cells.given[0]!r}), which cannot be predicted; choose "
            "another target"
        )
    styles = find_styles(cells.given)
    if styles:
        return finite(cells.spread(styles[min(styles, key=lambda style: style.decimal != decimal)]), name)
    if any(PLAIN.fullmatch(cell) or INFINITE.fullmatch(cell) for cell in cells.given):
        refuse_number_column(cells.rows(), name, "or use --task classification if these are classes")
    return None


def infer_task(y: NDArray[Any]) -> str:
    """Decide from the target whether a classifier or a regressor is wanted.

    Words and truth values are classes. So are numbers if there are only two of them, or at most ten and all
    integers.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The target.

    Returns
    -------
    {"classification", "regression"}

    See Also
    --------
    svmpath.datasets.prepare_target : The target as an estimator takes it.

    Examples
    --------
    >>> from svmpath.datasets import infer_task
    >>> infer_task(np.array(["ill", "well", "ill"], dtype=object))
    'classification'
    >>> infer_task(np.array([1.0, 2.0, 3.0, 1.0]))
    'classification'
    >>> infer_task(np.array([1.5, 2.0, 3.7, 1.1]))
    'regression'
    """
    if y.dtype.kind not in "iuf":
        return "classification"
    distinct = np.unique(y)
    few = len(distinct) <= _MOST_CLASSES and bool(np.all(distinct == np.round(distinct)))
    return "classification" if len(distinct) == 2 or few else "regression"


def prepare_target(y: NDArray[Any], task: str | None = None) -> tuple[NDArray[Any], str]:
    """Bring the target into the form the estimators take, or say why it cannot be predicted.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The target, as :func:`read_table` gives it.
    task : {"classification", "regression"} or None
        What to do with it. None decides by :func:`infer_task`.

    Returns
    -------
    y : ndarray of shape (n,)
        Floats for regression. For classification integers where the labels are, otherwise words or truth
        values; fractional labels become words, since scikit-learn takes fractional numbers for a regression
        target.
    task : str

    Raises
    ------
    DataError
        If all values are equal, or do not fit the task.

    See Also
    --------
    svmpath.datasets.infer_task : Classification or regression?
    svmpath.datasets.read_table : Read a data file.

    Examples
    --------
    >>> from svmpath.datasets import prepare_target
    >>> prepare_target(np.array([1.0, 2.0, 1.0]))
    (array([1, 2, 1]), 'classification')
    >>> prepare_target(np.array([1.0, 2.0, 1.0]), task="regression")
    (array([1., 2., 1.]), 'regression')
    """
    task = task or infer_task(y)
    numeric = y.dtype.kind in "iuf"
    distinct = np.unique(y)
    if len(distinct) == 1:
        fault = "there is only one class" if task == "classification" else "the target is constant"
        raise DataError(f"{fault}: every row has the target value {_plain(distinct[0])}; at least two are needed")
    if task == "regression":
        if not numeric:
            raise DataError(
                f"regression needs numbers in the target, but it holds {_plain(distinct[0])}; "
                "use --task classification, or choose another target"
            )
        return y.astype(np.float64), task
    if numeric and not np.all(distinct == np.round(distinct)):
        if len(distinct) > _MOST_CLASSES:
            raise DataError(
                f"classification needs classes, but the target has {len(distinct)} different fractional numbers; use "
                "--task regression, or choose another target"
            )
        return objects([repr(float(value)) for value in y]), task
    if len(distinct) == len(y):
        other = "use --task regression, or choose another target" if numeric else "choose another target"
        raise DataError(f"every row has a class of its own; {other}")
    whole = numeric and np.abs(distinct).max() < 2**53
    return (y.astype(np.int64) if whole else y), task


def _plain(value: object) -> str:
    """A value as messages show it, without numpy's type."""
    return repr(value.item() if isinstance(value, np.generic) else value)

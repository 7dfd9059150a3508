"""Folds as scikit-learn draws them; too many for the rows are refused beforehand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from svmpath.validation import is_whole_number

Array = np.ndarray

_DEFAULT = 5  # what cv=None means to scikit-learn


def make_folds(cv: Any, X: Any, y: Array, *, is_classification: bool, groups: Any = None) -> list[tuple[Array, Array]]:
    """The (train, test) rows of a number of folds, a splitter, or splits; with groups a number means grouped folds."""
    cv = _DEFAULT if cv is None else cv
    if groups is not None and is_whole_number(cv, least=2):
        cv = _grouped(int(cv), groups, is_classification)
    if is_whole_number(cv, least=2):
        _check_number(int(cv), y, is_classification)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # said above in other words
        return list(check_cv(cv, y, classifier=is_classification).split(X, y, groups))


def _grouped(cv: int, groups: Any, is_classification: bool) -> GroupKFold | StratifiedGroupKFold:
    """So many folds, each of whole groups; of classes in about equal parts."""
    number = len(np.unique(groups))
    if cv > number:
        raise ValueError(f"cv={cv} is more than the {number} groups; use cv={number} or less, or LeaveOneGroupOut().")
    return StratifiedGroupKFold(cv) if is_classification else GroupKFold(cv)


def _check_number(cv: int, y: Array, is_classification: bool) -> None:
    """Refuse more folds than there are rows to fill them; warn where there are too few rows of a class."""
    n = len(y)
    if cv > n:
        raise ValueError(f"cv={cv} is more than the {n} rows; use cv={n} or less.")
    if not is_classification:
        return
    counts = np.unique(y, return_counts=True)[1]
    if cv > counts.max():
        raise ValueError(
            f"cv={cv} is more than the {counts.max()} rows of the largest class; use fewer folds, or leave-one-out."
        )
    if cv > counts.min():
        warnings.warn(
            f"The smallest class has only {counts.min()} of the {n} rows, so with cv={cv} some folds hold none of it; "
            "use fewer folds.",
            stacklevel=4,
        )

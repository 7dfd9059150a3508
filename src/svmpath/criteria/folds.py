"""Folds as scikit-learn draws them; too many for the rows are refused beforehand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv

from svmpath.validation import is_whole_number

Array = np.ndarray

_DEFAULT = 5  # what cv=None means to scikit-learn
_KINDS = {  # by whether it is a classification, and whether there are groups
    (True, True): StratifiedGroupKFold,
    (True, False): StratifiedKFold,
    (False, True): GroupKFold,
    (False, False): KFold,
}


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


def shuffled_folds(
    number: int, X: Any, y: Array, *, is_classification: bool, groups: Any = None, seed: int = 0
) -> list[tuple[Array, Array]]:
    """So many folds in random order: of classes in about equal parts, and of whole groups."""
    splitter = _KINDS[is_classification, groups is not None](number, shuffle=True, random_state=seed)
    return make_folds(splitter, X, y, is_classification=is_classification, groups=groups)


def most_folds(y: Array, groups: Any, is_classification: bool) -> tuple[int, str]:
    """How many folds the rows allow, and what they are counted by."""
    if groups is not None:
        return len(np.unique(groups)), "groups"
    if is_classification:
        return int(np.unique(y, return_counts=True)[1].max()), "rows of the largest class"
    return len(y), "rows"


def deal(units: Array, key: Array, number: int) -> Array:
    """The part of each row, of so many: units, sorted by the key of their first row, are dealt out in turn."""
    _, first, unit = np.unique(units, return_index=True, return_inverse=True)
    turn = np.empty(len(first), dtype=int)
    turn[np.argsort(key[first], kind="stable")] = np.arange(len(first)) % number
    return turn[unit]


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

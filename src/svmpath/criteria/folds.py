"""Folds: splitters of scikit-learn as they are, and a number of folds as random parts that are alike.

A number k of folds is drawn from the contents of the rows (``svmpath.row_order``), so that rows that are sorted by
their target do no harm, and rows in another order give the same folds. The rows are sorted by their target, equal ones
at random, and dealt out in turn:

- classes: the row at position r goes to fold r mod k. So every fold holds as many rows of each class as the others, or
  one more or less.
- numbers: of each k rows in a row, every fold gets one, at random. So the folds have the same quantiles, up to 1 / k of
  the distance from one to the next.

Rows of weight zero come last, so that the others are dealt as if these were not there. With groups, folds are those of
scikit-learn, which do not depend on the order of the rows either.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from svmpath.row_order import random_order
from svmpath.validation import is_whole_number

Array = np.ndarray

_DEFAULT = 5  # what cv=None means to scikit-learn
_FOLD_DRAW, _PART_DRAW = 3, 4  # so that folds have nothing to do with what else is drawn by the same seed


def make_folds(
    cv: Any, X: Any, y: Array, *, is_classification: bool, groups: Any = None, s: Array | None = None, **draw: Any
) -> list[tuple[Array, Array]]:
    """The (train, test) rows of a number of folds, a splitter, or splits; with groups a number means grouped folds.

    A number is drawn by :func:`random_folds`, which weights s and the other arguments are for.
    """
    cv = _DEFAULT if cv is None else cv
    if groups is not None and is_whole_number(cv, least=2):  # each of whole groups; of classes in about equal parts
        number = len(np.unique(groups))
        if cv > number:
            raise ValueError(
                f"cv={cv} is more than the {number} groups; use cv={number} or less, or LeaveOneGroupOut()."
            )
        cv = StratifiedGroupKFold(int(cv)) if is_classification else GroupKFold(int(cv))
    if not is_whole_number(cv, least=2):
        with _few_groups():
            return list(check_cv(cv, y, classifier=is_classification).split(X, y, groups))
    counted = y if s is None else y[np.asarray(s) > 0]
    counted = counted if len(counted) > 1 else y
    n = len(counted)
    if cv > n:
        raise ValueError(f"cv={cv} is more than the {n} rows; use cv={n} or less.")
    counts = np.unique(counted, return_counts=True)[1] if is_classification else np.array([n])
    if cv > counts.max():
        raise ValueError(
            f"cv={cv} is more than the {counts.max()} rows of the largest class; use fewer folds, or leave-one-out."
        )
    if cv > counts.min():
        warnings.warn(
            f"The smallest class has only {counts.min()} of the {n} rows, so with cv={cv} some folds hold none of it; "
            "use fewer folds.",
            stacklevel=3,
        )
    return random_folds(int(cv), X, y, is_classification=is_classification, s=s, **draw)


def random_folds(
    number: int,
    X: Any,
    y: Array,
    *,
    is_classification: bool,
    groups: Any = None,
    s: Array | None = None,
    seed: int = 0,
    pairwise: bool = False,
) -> list[tuple[Array, Array]]:
    """So many folds at random: alike in their targets, and of whole groups.

    ``s`` are weights; ``pairwise`` says that X holds kernel values.
    """
    if groups is not None:
        kind = StratifiedGroupKFold if is_classification else GroupKFold
        with _few_groups():
            return list(kind(number, shuffle=True, random_state=seed).split(X, y, groups))
    y = np.unique(y, return_inverse=True)[1] if is_classification else np.asarray(y, dtype=float)
    has_weight = np.ones(len(y), dtype=bool) if s is None else np.asarray(s) > 0
    fold = np.empty(len(y), dtype=int)
    for rows in (np.flatnonzero(has_weight), np.flatnonzero(~has_weight)):
        if len(rows) == 0:
            continue
        part = X if len(rows) == len(y) else X[rows][:, rows] if pairwise else X[rows]
        ties = None if s is None else np.asarray(s)[rows]
        order = random_order(part, y[rows], seed=(seed, _FOLD_DRAW), pairwise=pairwise, ties=ties)
        turn = order[np.argsort(y[rows][order], kind="stable")]
        if not is_classification:
            place = np.argsort(order)
            turn = turn[np.lexsort((place[turn], np.arange(len(rows)) // number))]
        fold[rows[turn]] = np.arange(len(rows)) % number
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(number)]


def most_folds(y: Array, groups: Any, is_classification: bool) -> tuple[int, str]:
    """How many folds the rows allow, and what they are counted by."""
    if groups is not None:
        return len(np.unique(groups)), "groups"
    if is_classification:
        return int(np.unique(y, return_counts=True)[1].max()), "rows of the largest class"
    return len(y), "rows"


def random_places(problem: Any) -> Array:
    """The place of each row of a problem in a random order that goes with the rows; without a weight it is last."""
    X, pairwise, rows = problem.gram.contents(), problem.gram.kernel.pairwise, np.flatnonzero(problem.s > 0)
    places = np.arange(problem.n)
    X = X if len(rows) == problem.n else X[rows][:, rows] if pairwise else X[rows]
    order = random_order(X, problem.y[rows], seed=_PART_DRAW, pairwise=pairwise, ties=problem.s[rows])
    places[problem.s <= 0] += problem.n
    places[rows[order]] = np.arange(len(rows))
    return places


def deal(units: Array, key: Array, place: Array, number: int) -> Array:
    """The part of each row, of so many: units, sorted by the key and the place of a row, are dealt out in turn."""
    rows = np.lexsort((place, key))
    _, first, unit = np.unique(units[rows], return_index=True, return_inverse=True)
    turn, part = np.empty(len(first), dtype=int), np.empty(len(key), dtype=int)
    turn[np.argsort(first)] = np.arange(len(first)) % number
    part[rows] = turn[unit]
    return part


@contextmanager
def _few_groups() -> Iterator[None]:
    """Without scikit-learn's warning of a class with few rows or groups: that is what was asked for, or said before."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield

"""Held-out values of paths whose rows repeat, for all rows.

Leave-one-out takes one copy of a sample apart from the others (``paths.copies.split_off``) and asks about that smaller
problem; the answer for the copy is the answer for each. A fold is merged anew: copies that are left out weigh nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from svmpath.criteria.conformal import LeftOut, OfCopies, has_formula, leave_one_out_machines
from svmpath.criteria.held_out import (
    Folds,
    HeldOut,
    decide_fold,
    held_rows,
    leave_one_out,
    of_rows,
    predict_left_out,
)
from svmpath.paths import Path
from svmpath.paths.copies import split_off

Array = np.ndarray


def unless_copies(of_copies: Callable[..., Any], fast: Callable[..., Any]) -> Callable[..., Any]:
    """The fast form for a kind of path, and ``of_copies`` where rows of the path repeat."""

    @wraps(fast)
    def of_rows_or_copies(path: Path, *args: Any, **options: Any) -> Any:
        return (fast if path.problem.copies is None else of_copies)(path, *args, **options)

    return of_rows_or_copies


def leave_one_out_of_copies(path: Path, values: Array, *, max_events: int | None = None, **options: Any) -> HeldOut:
    """Leave out one copy of each sample."""
    small, to_all = split_copies(path, is_frozen=max_events is not None)
    return to_all(leave_one_out(small, values, max_events=max_events, **options))


def predict_left_out_of_copies(path: Path, values: Array, **options: Any) -> HeldOut:
    """The same with all places fixed."""
    small, to_all = split_copies(path, is_frozen=True)
    return to_all(predict_left_out(small, values, **options))


def split_copies(path: Path, is_frozen: bool = False) -> tuple[Any, Callable[[HeldOut], HeldOut]]:
    """The path of one copy of each sample beside the others, and what turns its answer into one for all copies.

    The answer is not the same for all copies where their weights move, not all alike. Nor with places that are frozen,
    or are after some events, where places are statuses of coefficients: there the copies share a coefficient in any way
    that fits their boxes, one of them can be at zero and another at its limit, and to freeze them there has other
    consequences. Then the path is that of all rows.
    """
    is_alike = path.over != "weight" and not (is_frozen and path.has_statuses)
    split = split_off(path.problem) if is_alike else None
    every = np.arange(path.problem.n)
    f = None if path.start_decisions is None else path.start_decisions[path.problem.copies]
    if split is None:
        whole = path.unmerged.start_from(f)
        path.store.of_path.scored = whole, every
        return whole, lambda held: held
    problem, leader, rows = split
    small = path.on(problem, path.store.split.for_labels()).start_from(None if f is None else f[rows])
    path.store.of_path.scored = small, leader
    return small, lambda held: of_rows(held, np.searchsorted(held.rows, leader), every)


def leave_folds_out_of_copies(path: Path, values: Array, folds: Folds) -> HeldOut:
    """By a path of the distinct samples for every fold, whatever the loss."""
    held = np.hstack([decide_fold(path, values, train, test) for train, test in folds])
    doubts = np.where(path.is_lost_to_rounding(values), len(path.problem.active), 0)
    return HeldOut(held_rows(folds), held, doubts)


def leave_one_out_machines_of_copies(path: Path, value: float, targets: Array) -> LeftOut | None:
    """The machines without one copy of each sample; copies have the same targets."""
    if not has_formula(type(path)):
        return None
    split = split_off(path.problem)
    if split is None:
        return leave_one_out_machines(path.unmerged, value, targets)
    problem, leader, rows = split
    few = leave_one_out_machines(path.on(problem, path.store.split.for_labels()), value, targets[rows])
    return None if few is None else OfCopies(few, leader)

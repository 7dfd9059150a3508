"""Held-out values of paths whose repeated rows are merged, for the rows as they were given.

Leave-one-out takes one copy of a sample apart from the others (``paths.merged.split_off``) and asks about that smaller
problem; the answer for the copy is the answer for each. A fold is merged anew: copies that are left out weigh nothing.
"""

from __future__ import annotations

from collections.abc import Callable
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
from svmpath.paths import JumpPath, KernelPath, MergedPath, Path
from svmpath.paths.made import Made
from svmpath.paths.merged import split_off

Array = np.ndarray


def leave_one_out_merged(path: MergedPath, values: Array, *, max_events: int | None = None, **options: Any) -> HeldOut:
    """Leave out one copy of each sample."""
    small, to_all = split_copies(path, is_frozen=max_events is not None)
    return to_all(leave_one_out(small, values, max_events=max_events, **options))


def predict_left_out_merged(path: MergedPath, values: Array, **options: Any) -> HeldOut:
    """The same with all places fixed."""
    small, to_all = split_copies(path, is_frozen=True)
    return to_all(predict_left_out(small, values, **options))


def split_copies(path: MergedPath, is_frozen: bool = False) -> tuple[Path, Callable[[HeldOut], HeldOut]]:
    """The path of one copy of each sample beside the others, and what turns its answer into one for all copies.

    The answer is not the same for all copies where their weights move, not all alike. Nor with places that are frozen,
    or are after some events, where places are statuses of coefficients: there the copies share a coefficient in any way
    that fits their boxes, one of them can be at zero and another at its limit, and to freeze them there has other
    consequences. Then the path is that of all rows.
    """
    is_alike = path.over != "weight" and not (is_frozen and isinstance(path.inner, (JumpPath, KernelPath)))
    split = split_off(path.problem) if is_alike else None
    if split is None:
        whole = path.unmerged.start_from(path.start)
        path.scored["path"] = whole, np.arange(path.problem.n)
        return whole, lambda held: held
    problem, leader, rows = split
    path.made.split = Made() if path.made.split is None else path.made.split
    small = path.again(problem, path.made.split).start_from(None if path.start is None else path.start[rows])
    path.scored["path"] = small, leader
    return small, lambda held: of_rows(held, np.searchsorted(held.rows, leader), np.arange(path.problem.n))


def leave_folds_out_merged(path: MergedPath, values: Array, folds: Folds) -> HeldOut:
    """By a path of the merged samples for every fold, whatever the loss."""
    held = np.hstack([decide_fold(path, values, train, test) for train, test in folds])
    doubts = np.where(path.inner.is_lost_to_rounding(values), len(path.problem.active), 0)
    return HeldOut(held_rows(folds), held, doubts)


def leave_one_out_machines_merged(path: MergedPath, value: float, targets: Array) -> LeftOut | None:
    """The machines without one copy of each sample; copies have the same targets."""
    if not has_formula(type(path.inner)):
        return None
    split = split_off(path.problem)
    if split is None:
        return leave_one_out_machines(path.unmerged, value, targets)
    problem, leader, rows = split
    path.made.split = Made() if path.made.split is None else path.made.split
    few = leave_one_out_machines(path.again(problem, path.made.split), value, targets[rows])
    return None if few is None else OfCopies(few, leader)

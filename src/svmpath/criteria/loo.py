"""Exact leave-one-out along a path, whatever its loss.

For the squared hinge, leaving out sample i from the solution with rows E and matrix M_E (see ``solvers.newton``)
changes the set of rows by i and by those that then change sides. With the rows S that change, sigma_j = -1 for a row
that goes and +1 for one that comes, and P = A M_E^-1 A'::

    delta = (diag(1 / (sigma s)) + P)_SS^-1 (y - f)_S,        f' = f + P_:S delta

which is repeated with the sides of f' until they are those that were assumed. S = {i} is the span prediction.

P has as many digits as M_E, which loses them like C times the kernel. How many it has shows where the answer is known
(``slips`` in ``criteria.span``). Samples for which they are too few are left out one by one, by the machine's own dual
system; what then still violates the conditions of optimality is told as doubtful.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values, held_out_loss
from svmpath.criteria.elastic_loo import elastic_loo
from svmpath.criteria.press import press
from svmpath.criteria.span import LOST, half_leverages, moving, predict, slips
from svmpath.exceptions import PathError
from svmpath.paths import ClosedFormPath, ElasticPath, MarchPath, Path
from svmpath.paths.march import Stop
from svmpath.solvers.newton import ActiveSystem, Rows, minimise, point_at
from svmpath.solvers.threads import one_thread_if_small

Array = np.ndarray

_MOST = 12  # corrections before a sample is handed to Newton's method
_WEAK = 0.01 * LOST  # rounding in V from which on samples are left out one by one
_MOST_REFITS = 200  # samples for which that is done at one value
_ILL_CONDITIONED = 1e9  # a system from which on it is handed over at once


def loo(path: Path, values: Any, *, loss: HeldOutLoss = None, max_events: int | None = None) -> Curve:
    """Exact leave-one-out along a path.

    Parameters
    ----------
    path : Path
        For least squares this is :func:`svmpath.criteria.press`. For the squared hinge each sample's absence is
        followed by small corrections of the set of samples on the left of the margin; for the elastic hinge its weight
        is driven to zero, from event to event.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    max_events : int, optional
        For the elastic hinge: after so many events nobody else changes place, so that the result is approximate. None,
        all events, is exact; 0 is the closed form with frozen places.

    Returns
    -------
    Curve
        ``doubtful`` is the number of samples where rounding leaves fewer than about four digits of the held-out values
        (a kernel far too large for C), else 0; with ``max_events`` the number of those whose ways were cut short.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] + 0.3 * rng.normal(size=60)
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> svmpath.select(criteria.loo(path, [0.01, 1.0, 100.0])).value
    1.0
    """
    if isinstance(path, ElasticPath):
        return elastic_loo(path, values, loss=loss, max_events=max_events)
    if max_events is not None:
        raise ValueError(f"max_events is for the elastic hinge; this path has {path.loss!r}.")
    if isinstance(path, ClosedFormPath):
        return press(path, values, loss=loss)
    if not isinstance(path, MarchPath):
        raise ValueError(f"criteria.loo has no formulas for {path.loss!r}.")
    values = check_values(path, values)
    problem = path.problem
    held, doubtful = np.empty((len(values), problem.n)), np.zeros(len(values), dtype=int)
    for stop in path.walk(values):
        with one_thread_if_small(path.rows.A.size):
            held[stop.position], doubtful[stop.position] = _leave_one_out(path, stop)
    rows = np.arange(problem.n)
    return Curve(path, "loo", values, held_out_loss(loss, problem.task), rows, held, problem.y, doubtful)


def _leave_one_out(path: MarchPath, stop: Stop) -> tuple[Array, int]:
    """Held-out decision values of all samples at one value, and how many of them are lost to rounding."""
    rows = path.rows
    E, V = half_leverages(rows, stop)
    held, step, slack = predict(rows, stop, E, V)
    moved = moving(rows, stop, E, V, step)
    inside, anywhere = slips(rows, stop, E, V)
    weak = (inside > _WEAK * slack) | (anywhere > _WEAK)
    for k in np.flatnonzero(moved.any(axis=0) & ~weak):
        i = int(E[k])
        found = _correct(rows, stop, V, i, np.flatnonzero(moved[:, k]))
        held[i] = _refit(rows, stop, i) if found is None else found
    if np.count_nonzero(weak) > _MOST_REFITS:
        return held, int(np.count_nonzero((inside > LOST * slack) | (anywhere > LOST)))
    lost = 0
    for i in E[weak]:
        held[i], slip = _without(path, stop, int(i))
        lost += not slip <= LOST * (1.0 + abs(held[i]))
    return held, lost


def _without(path: MarchPath, stop: Stop, i: int) -> tuple[float, float]:
    """The held-out decision value of i with as many digits as there are, and how far it is from optimal."""
    s = path.problem.s.copy()
    s[i] = 0.0
    problem = replace(path.problem, s=s)
    found = []
    others = np.flatnonzero(stop.point.E & (s > 0))
    if 0 < len(others) <= path.rows.A.shape[1]:
        found.append(path.loss.in_samples(problem, others, stop.C))
    if not found or found[0].violation > LOST:
        with suppress(PathError):  # what Newton's method cannot settle is told by the violation
            found.append(replace(path, problem=problem, features=path.rows)(stop.C))
    if not found:
        return float(stop.point.f[i]), np.inf
    best = min(found, key=lambda machine: machine.violation)
    return float(best.fitted[i]), best.violation


def _correct(rows: Rows, stop: Stop, V: Array, i: int, others: Array) -> float | None:
    """The held-out decision value of i by corrections of the rows; None if they do not settle."""
    point = stop.point
    for _ in range(_MOST):
        S = np.concatenate([[i], others])
        sigma = np.where(point.E[S], -1.0, 1.0) * rows.s[S]
        VS = V[:, S]
        M = np.diag(1.0 / sigma) + VS.T @ VS
        if not np.linalg.cond(M) < _ILL_CONDITIONED:
            return None
        delta = np.linalg.solve(M, (rows.y - point.f)[S])
        f = point.f + V.T @ (VS @ delta)
        sides = (rows.y * f < 1.0) & (rows.s > 0)
        moved = np.flatnonzero(sides != point.E)
        moved = moved[moved != i]
        if np.array_equal(moved, others):
            return float(f[i])
        others = moved
    return None


def _refit(rows: Rows, stop: Stop, i: int) -> float:
    """The held-out decision value of i by Newton's method on the other rows."""
    s = rows.s.copy()
    s[i] = 0.0
    without = replace(rows, s=s)
    point = point_at(without, stop.point.theta, stop.point.f)
    found, _ = minimise(without, ActiveSystem(without), 1.0 / stop.C, point)
    return float(found.f[i])

"""Exact leave-one-out along a path, whatever its loss.

For losses with an elbow each sample is driven out of the machine (``criteria.held_out``).

For the squared hinge, leaving out sample i from the solution with rows E and matrix M_E (see
``solvers.feature_newton``) changes the set of rows by i and by those that then change sides. With the rows S that
change, sigma_j = -1 for a row that goes and +1 for one that comes, and P = A M_E^-1 A'::

    delta = (diag(1 / (sigma s)) + P)_SS^-1 (y - f)_S,        f' = f + P_:S delta

which is repeated with the sides of f' until they are those that were assumed. S = {i} is the span prediction.

P has as many digits as M_E, which loses them like C times the kernel. How many it has shows where the answer is known
(``slips`` in ``criteria.span``). Samples for which they are too few are left out one by one, by the machine's own dual
system; what then still violates the conditions of optimality is told as doubtful.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, Screened, check_values, error, held_out_loss
from svmpath.criteria.elastic_loo import elastic_loo
from svmpath.criteria.held_out import elbow_only, held_out
from svmpath.criteria.merged import by_split_copies
from svmpath.criteria.over_kernel import along_kernel
from svmpath.criteria.press import press
from svmpath.criteria.span import LOST, half_leverages, moving, predict, slips
from svmpath.criteria.steps import step_function
from svmpath.exceptions import PathError
from svmpath.losses import Hinge
from svmpath.paths import ClosedFormPath, ElasticPath, JumpPath, MarchPath, OverKernel, Path
from svmpath.paths.march import Stop
from svmpath.solvers.box_qp import EVERY
from svmpath.solvers.feature_newton import ActiveSystem, Rows, minimise, point_at
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_MOST = 12  # corrections before a sample is handed to Newton's method
_WEAK = 0.01 * LOST  # rounding in V from which on samples are left out one by one
_MOST_REFITS = 200  # samples for which that is done at one value
_ILL_CONDITIONED = 1e9  # a system from which on it is handed over at once


@by_split_copies
def loo(
    path: Path,
    values: Any = None,
    *,
    loss: HeldOutLoss = None,
    max_events: int | None = None,
    refine: str | None = None,
    count_only: bool = False,
    exact: bool = False,
) -> Curve:
    """Exact leave-one-out along a path.

    Parameters
    ----------
    path : Path
        For least squares this is :func:`svmpath.criteria.press`. For the squared hinge each sample's absence is
        followed by small corrections of the set of samples on the left of the margin; for losses with an elbow the
        sample is driven out of the machine, from event to event; for the elastic hinge its weight is driven to zero.
    values : float or array of shape (m,)
        Values of the path's parameter; not needed if ``exact``.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    max_events : int, optional
        For losses with an elbow and the elastic hinge: after so many events nobody else changes place, so that the
        result is approximate. 0 is :func:`svmpath.criteria.alo`, the closed form with frozen places; None, all events,
        is exact.
    refine : {"doubtful"}, optional
        For losses with an elbow: approximate leave-one-out, and exact where that is doubtful. It is known for every
        sample whether its absence leads somebody across a bound, so that this is exact; and it is what is done if
        nothing is said.
    count_only : bool, default=False
        For classification with an elbow: find the errors only, in half the time or less. The decision values are
        computed when they are asked for.
    exact : bool, default=False
        For losses with an elbow over C: the error as an exact step function, by a path for every sample. For a few
        hundred samples. The curve has one value inside each interval on which the errors are the same; its ``edges``
        are the ends of the intervals.

    Returns
    -------
    Curve
        ``doubtful`` is the number of samples where rounding leaves fewer than about four digits of the held-out values
        (a kernel far too large for C), else 0; with ``max_events`` the number of those whose ways were cut short.

    Notes
    -----
    If both classes have the same weight, the machine of a very small C errs on every sample that is left out: the other
    class outweighs it then.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] + 0.3 * rng.normal(size=60)
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> svmpath.select(criteria.loo(path, [0.01, 1.0, 100.0])).value
    1.0
    >>> path = svmpath.trace(X, y > 0, loss="hinge", span=(1e-2, 1e2))
    >>> criteria.loo(path, [0.1, 1.0, 10.0]).scores.round(3).tolist()
    [0.117, 0.083, 0.05]
    """
    if refine not in (None, "doubtful"):
        raise ValueError(f"refine must be None or 'doubtful', got {refine!r}.")
    if refine and max_events is not None:
        raise ValueError("refine='doubtful' makes the result exact, max_events cuts it short: give one of them.")
    if isinstance(path, ElasticPath):
        if count_only or exact:
            raise ValueError("count_only and exact are for hinge and nu machines, not for the elastic hinge.")
        return elastic_loo(path, _given(path, values), loss=loss, max_events=max_events)
    if isinstance(path, OverKernel) and not exact:
        return along_kernel(
            path,
            _given(path, values),
            lambda there, C: loo(there, C, loss=loss, max_events=max_events, count_only=count_only),
        )
    if not isinstance(path, (ClosedFormPath, MarchPath)):
        elbow = elbow_only(path, "loo")
        if exact:
            if values is not None or max_events is not None:
                raise ValueError("exact=True finds the values itself, and all events: leave values and max_events out.")
            return step_function(elbow, loss)
        return _elbow_loo(elbow, _given(path, values), loss, max_events, count_only)
    if max_events is not None or count_only or exact:
        raise ValueError(f"max_events, count_only and exact are for losses with an elbow; this path has {path.loss!r}.")
    values = _given(path, values)
    if isinstance(path, ClosedFormPath):
        return press(path, values, loss=loss)
    problem = path.problem
    held, doubtful = np.empty((len(values), problem.n)), np.zeros(len(values), dtype=int)
    for stop in path.walk(values):
        with blas_threads(path.rows.A.size):
            held[stop.position], doubtful[stop.position] = _leave_one_out(path, stop)
    rows = np.arange(problem.n)
    return Curve(path, "loo", values, held_out_loss(loss, problem.task), rows, held, problem.y, doubtful)


def _given(path: Path, values: Any) -> Array:
    if values is None:
        raise ValueError("criteria.loo needs values of the path's parameter.")
    return check_values(path, values)


def _elbow_loo(path: JumpPath, values: Array, loss: HeldOutLoss, max_events: int | None, count_only: bool) -> Curve:
    """The curve of a loss with an elbow."""
    problem, held_out_by = path.problem, held_out_loss(loss, path.problem.task)
    rows, most = np.arange(problem.n), EVERY
    if max_events is not None:
        if not isinstance(max_events, (int, np.integer)) or isinstance(max_events, bool) or max_events < 0:
            raise ValueError(f"max_events must be a whole number >= 0 or None, got {max_events!r}.")
        most = int(max_events)
    if not count_only:
        held = held_out(path, values, most=most)
        doubtful = held.lost if most == EVERY else held.passing
        return Curve(path, "loo", values, held_out_by, rows, held.decisions, problem.y, doubtful)
    if held_out_by is not error or max_events is not None:
        raise ValueError("count_only=True finds the exact errors of a classification; leave loss and max_events out.")
    held = held_out(path, values, only_errors=isinstance(path.loss, Hinge))
    screened = Screened(error(problem.y, held.decisions) > 0, held.decisions)
    return Curve(path, "loo", values, error, rows, _Full(path, values), problem.y, held.lost, screened)


@dataclass(frozen=True)
class _Full:
    """Computes the held-out decision values, of shape (m, n)."""

    path: JumpPath
    values: Array

    def __call__(self) -> Array:
        return held_out(self.path, self.values).decisions


def _leave_one_out(path: MarchPath, stop: Stop) -> tuple[Array, int]:
    """Held-out decision values of all samples at one value, and how many of them are lost to rounding."""
    rows = path.rows
    E, V = half_leverages(rows, stop)
    held, step, slack = predict(rows, stop, E, V)
    moved = moving(rows, stop, E, V, step)
    inside, anywhere = slips(rows, stop, E, V)
    weak = (inside > _WEAK * slack) | (anywhere > _WEAK)
    counted = path.problem.is_counted()[E]
    for k in np.flatnonzero(moved.any(axis=0) & ~weak & counted):
        i = int(E[k])
        found = _correct(rows, stop, V, i, np.flatnonzero(moved[:, k]))
        held[i] = _refit(rows, stop, i) if found is None else found
    if np.count_nonzero(weak & counted) > _MOST_REFITS:
        return held, path.problem.count(E[(inside > LOST * slack) | (anywhere > LOST)])
    lost = 0
    for i in E[weak & counted]:
        held[i], slip = _without(path, stop, int(i))
        lost += 0 if slip <= LOST * (1.0 + abs(held[i])) else path.problem.count(np.array([i]))
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

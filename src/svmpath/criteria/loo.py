"""Exact leave-one-out along a path, whatever its loss."""

from __future__ import annotations

from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values, error, held_out_loss
from svmpath.criteria.held_out import leave_one_out
from svmpath.criteria.steps import step_curve
from svmpath.paths import Path


def loo(
    path: Path,
    values: Any = None,
    *,
    loss: HeldOutLoss = None,
    max_events: int | None = None,
    count_only: bool = False,
    exact: bool = False,
) -> Curve:
    """Exact leave-one-out along a path.

    Parameters
    ----------
    path : Path
        Of any loss. For least squares this is :func:`svmpath.criteria.press`. For the squared hinge each sample's
        absence is followed by small corrections of the set of samples on the left of the margin; for losses with an
        elbow the sample is driven out of the machine, from event to event; for the elastic hinge its weight is driven
        to zero. Any other machine is followed once more without each sample.
    values : float or array of shape (m,)
        Values of the path's parameter; not needed if ``exact``.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    max_events : int, optional
        For losses with an elbow and the elastic hinge: after so many events nobody else changes place, so that the
        result is approximate. 0 is :func:`svmpath.criteria.alo`, the closed form with frozen places; None, all events,
        is exact.
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
    if exact:
        if values is not None or max_events is not None:
            raise ValueError("exact=True finds the values itself, and all events: leave values and max_events out.")
        return step_curve(path, loss)
    if values is None:
        raise ValueError("criteria.loo needs values of the path's parameter.")
    if count_only and held_out_loss(loss, path.problem.task) is not error:
        raise ValueError("count_only=True finds the exact errors of a classification; leave loss and max_events out.")
    values = check_values(path, values)
    return leave_one_out(path, values, max_events=max_events, count_only=count_only).curve(path, "loo", values, loss)

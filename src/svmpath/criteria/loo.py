"""Exact leave-one-out along a path, for any loss; of least squares, statisticians call it PRESS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values, error, held_out_loss
from svmpath.criteria.held_out import leave_one_out
from svmpath.criteria.steps import find_steps, step_curve
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
        A path of any loss. For least squares this is :func:`svmpath.criteria.press`. For the squared hinge, the set of
        samples on the left of the margin is corrected for each sample that is left out. For losses with an elbow and
        the elastic hinge, the weight of each sample in turn is reduced to zero, from event to event. For any other
        loss, a path is followed without each sample.
    values : float or array of shape (m,)
        Values of the path's parameter; leave them out if ``exact=True``.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    max_events : int, optional
        For losses with an elbow and the elastic hinge: stop after this many events per sample and keep the places fixed
        from there on, so that the result is approximate. 0 is :func:`svmpath.criteria.alo`, a closed form with all
        places fixed. None follows all events and is exact.
    count_only : bool, default=False
        For classification with an elbow: find only the errors, in half the time or less. Decision values are computed
        when you access them.
    exact : bool, default=False
        For classification over C by the hinge, the squared hinge and least squares: the error as an exact step
        function. The curve has one value in each interval on which the errors are the same; its ``edges`` are the ends
        of the intervals, its ``minima`` those with the smallest error. For least squares one decomposition is enough;
        for the others a path is followed without each sample, which is suitable for a few hundred samples.

    Returns
    -------
    Curve
        ``unreliable`` is the number of samples for which rounding leaves fewer than about four digits of the held-out
        values (kernel values far too large for C), which is usually 0; with ``max_events`` it is the number of samples
        for which that many events were not enough.

    See Also
    --------
    svmpath.criteria.span : Leave-one-out, predicted from the spans.
    svmpath.criteria.alo : Approximate leave-one-out.
    svmpath.criteria.kfold : Exact k-fold.
    svmpath.criteria.StepCurve : A curve that is known at every value.
    svmpath.select : Choose a value on a curve.

    Notes
    -----
    If both classes have the same total weight, a machine with a very small C misclassifies every sample that is left
    out, because the other class then outweighs its own.

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
            raise ValueError("exact=True finds the values and all events itself: leave values and max_events out.")
        return step_curve(path, loss, "loo", find_steps)
    if values is None:
        raise ValueError("criteria.loo needs values of the path's parameter; give a number or a list of numbers.")
    if count_only and held_out_loss(loss, path.problem.task) is not error:
        raise ValueError("count_only=True works for the error rate of a classification only; leave loss out.")
    values = check_values(path, values)
    return leave_one_out(path, values, max_events=max_events, count_only=count_only).curve(path, "loo", values, loss)


def press(path: Path, values: Any, *, loss: HeldOutLoss = None) -> Curve:
    """Exact leave-one-out of a least squares path, at all values at once.

    Parameters
    ----------
    path : Path
        A path with ``loss="least_squares"`` over C or a kernel parameter. The landmarks of a low-rank kernel stay fixed
        when a sample is left out.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic", "sigmoid"} or callable, optional
        Loss per sample, as a name or a function ``loss(y, f)`` of arrays. For classification y is -1 or +1 and the
        default is the error; for regression the default is the squared error.

    Returns
    -------
    Curve
        ``unreliable`` is the number of samples for which rounding leaves fewer than about four digits of the held-out
        residuals (kernel values far too large for C); usually 0.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.kfold : Exact k-fold.
    svmpath.select : Choose a value on a curve.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> curve = criteria.press(path, np.logspace(-2, 2, 5))
    >>> curve.scores.shape, curve.decisions.shape
    ((5,), (5, 60))
    """
    if not path.loss.is_linear:
        raise ValueError(
            f"criteria.press works for least squares only, but this path has {path.loss!r}: use criteria.loo."
        )
    return replace(loo(path, values, loss=loss), criterion="press")

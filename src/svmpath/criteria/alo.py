"""Approximate leave-one-out, which assumes that no other sample changes its place: the span rule."""

from __future__ import annotations

from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values
from svmpath.criteria.held_out import predict_left_out
from svmpath.criteria.steps import find_predicted_steps, step_curve
from svmpath.paths import Path


def alo(path: Path, values: Any, *, loss: HeldOutLoss = None, form: str = "direct") -> Curve:
    """Approximate leave-one-out: exact for each sample whose removal makes no other sample change its place.

    For losses with an elbow this is the span rule of Vapnik and Chapelle, including the offset, which many derivations
    neglect. It costs as much as a few paths. Exact leave-one-out (:func:`svmpath.criteria.loo`) costs a few times more,
    and is the better choice if you can afford it. The approximation is poor if few samples lie on the elbow and C is
    large, as with few features: look at ``unreliable``.

    Parameters
    ----------
    path : Path
        A path with ``loss="hinge"``, ``"epsilon_insensitive"``, ``"pinball"`` or ``"nu"`` over any of their parameters.
        It may be approximate (``tol=``); then its features and smoothed loss are used. Or a path with
        ``loss="squared_hinge"``, for which this is :func:`svmpath.criteria.span`. Or a path of
        :func:`svmpath.trace_elastic`; then the places of the features are kept fixed as well.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    form : {"direct", "features"}, default="direct"
        "direct" inverts the kernel matrix of the samples on the elbow; "features" decomposes their explicit features,
        which are those of a low-rank kernel or the square root of the full matrix. The result is the same, but
        "features" keeps more digits if the samples on the elbow are nearly linearly dependent.

    Returns
    -------
    Curve
        ``unreliable``, computed on first access, is the number of samples whose removal makes other samples change
        their place, so that the assumption of the formula does not hold.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.span : Leave-one-out, predicted from the spans.
    svmpath.criteria.predict_left_out : The same by a formula, places fixed.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e2))
    >>> curve = criteria.alo(path, [0.1, 1.0, 10.0])
    >>> curve.scores.shape, bool(np.all(curve.unreliable <= 60))
    ((3,), True)
    """
    values = check_values(path, values)
    return predict_left_out(path, values, form=form).curve(path, "alo", values, loss)


def span(
    path: Path, values: Any = None, *, loss: HeldOutLoss = None, screen: bool | None = None, exact: bool = False
) -> Curve:
    """Prediction of leave-one-out by the span rule: exact if removing a sample moves no other across the margin.

    Parameters
    ----------
    path : Path
        A path with ``loss="squared_hinge"`` over C, or of a loss with an elbow, for which this is another name of
        :func:`svmpath.criteria.alo`.
    values : float or array of shape (m,)
        Values of the path's parameter; leave them out if ``exact=True``.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    screen : bool, optional
        Find the errors by random projections, decide close cases exactly, and compute decision values only when you
        access them. By default this is done for more than 3000 samples.
    exact : bool, default=False
        For the squared hinge over C: the error of the prediction as a step function, which misses none of its steps
        and minima; see :class:`svmpath.criteria.StepCurve`. It takes a decomposition for each event of the path.

    Returns
    -------
    Curve
        ``unreliable``, computed on first access, is the number of samples for which the prediction is not known to be
        exact: their removal moves other samples across the margin, or rounding leaves fewer than about four digits of
        the prediction (kernel values far too large for C). With ``screen``, ``smooth`` is an estimate.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.alo : Approximate leave-one-out.
    svmpath.criteria.radius_margin : A bound for the squared hinge.
    svmpath.select : Choose a value on a curve.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-2, 1e2))
    >>> criteria.span(path, np.logspace(-2, 2, 5)).scores.shape
    (5,)
    >>> criteria.span(path, exact=True).minima.shape[1]  # intervals of C with the smallest error
    2
    """
    if exact:
        if values is not None or screen is not None:
            raise ValueError("exact=True finds the values itself: leave values and screen out.")
        return step_curve(path, loss, "span", find_predicted_steps)
    if values is None:
        raise ValueError("criteria.span needs values of the path's parameter; give a number or a list of numbers.")
    values = check_values(path, values)
    return predict_left_out(path, values, screen=screen).curve(path, "span", values, loss)

"""The prediction of leave-one-out by the span rule."""

from __future__ import annotations

from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values
from svmpath.criteria.held_out import predict_left_out
from svmpath.paths import Path


def span(path: Path, values: Any, *, loss: HeldOutLoss = None, screen: bool | None = None) -> Curve:
    """Prediction of leave-one-out by the span rule: exact if removing a sample moves no other across the margin.

    Parameters
    ----------
    path : Path
        A path with ``loss="squared_hinge"`` over C, or of a loss with an elbow, for which this is another name of
        :func:`svmpath.criteria.alo`.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    screen : bool, optional
        Find the errors by random projections, decide close cases exactly, and compute decision values only when you
        access them. By default this is done for more than 3000 samples.

    Returns
    -------
    Curve
        ``doubtful``, computed on first access, is the number of samples for which the prediction is not known to be
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
    """
    values = check_values(path, values)
    return predict_left_out(path, values, screen=screen).curve(path, "span", values, loss)

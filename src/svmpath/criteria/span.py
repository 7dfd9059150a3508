"""Leave-one-out as predicted from the spans."""

from __future__ import annotations

from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values
from svmpath.criteria.held_out import predict_left_out
from svmpath.paths import Path


def span(path: Path, values: Any, *, loss: HeldOutLoss = None, screen: bool | None = None) -> Curve:
    """Leave-one-out as predicted from the spans: exact where leaving a sample out moves no other across the margin.

    Parameters
    ----------
    path : Path
        Of ``loss="squared_hinge"`` over C; or of a loss with an elbow, for which this is
        :func:`svmpath.criteria.alo` by another name.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    screen : bool, optional
        Find the errors by random projections, the near ones exactly, and compute decision values only when they are
        asked for. Default: for more than 3000 samples.

    Returns
    -------
    Curve
        ``doubtful``, counted when first asked for, is the number of samples whose absence does move others across the
        margin, for which the prediction is not exact, or of whose prediction rounding leaves fewer than about four
        digits (a kernel far too large for C). Of a screened curve, ``smooth`` is an estimate.

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

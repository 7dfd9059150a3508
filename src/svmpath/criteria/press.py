"""Exact leave-one-out of least squares, which statisticians call PRESS."""

from __future__ import annotations

from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values
from svmpath.criteria.held_out import leave_one_out
from svmpath.paths import Path


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
        ``doubtful`` is the number of samples for which rounding leaves fewer than about four digits of the held-out
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
    values = check_values(path, values)
    return leave_one_out(path, values).curve(path, "press", values, loss)

"""Exact leave-one-out along a path, whatever its loss."""

from __future__ import annotations

from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss
from svmpath.criteria.press import press
from svmpath.paths import Path


def loo(path: Path, values: Any, *, loss: HeldOutLoss = None) -> Curve:
    """Exact leave-one-out along a path.

    Parameters
    ----------
    path : Path
        For least squares this is :func:`svmpath.criteria.press`.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared"} or callable, optional
        As in :func:`svmpath.criteria.press`.

    Returns
    -------
    Curve

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
    return press(path, values, loss=loss)

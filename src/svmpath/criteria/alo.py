"""Approximate leave-one-out: what leave-one-out would be if nobody else changed place."""

from __future__ import annotations

from typing import Any

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values
from svmpath.criteria.held_out import predict_left_out
from svmpath.paths import Path


def alo(path: Path, values: Any, *, loss: HeldOutLoss = None, form: str = "direct") -> Curve:
    """Approximate leave-one-out: exact where leaving a sample out moves no other across its margin.

    For losses with an elbow this is the span rule of Vapnik and Chapelle, with the offset that many derivations drop.
    It costs some paths; exact leave-one-out (:func:`svmpath.criteria.loo`) costs a few times more, and is the better
    choice while that can be afforded. It is poor where the elbow is small and C large, as with few features: look at
    ``doubtful``.

    Parameters
    ----------
    path : Path
        Of ``loss="hinge"``, ``"epsilon_insensitive"`` or ``"nu"``, over any of their parameters; also an approximate
        one (``tol=``), whose features and smoothed loss are then used. Or of
        :func:`svmpath.trace_elastic`, where places of features are frozen as well.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    form : {"direct", "features"}, default="direct"
        "direct" inverts the kernel matrix of the elbow points; "features" decomposes their explicit features, those of
        a low-rank kernel or the square root of the whole matrix. The result is the same; with features it keeps more
        digits where the elbow is nearly dependent.

    Returns
    -------
    Curve
        ``doubtful``, counted when first asked for, is the number of samples whose absence does move others across a
        bound, so that the formula's assumption fails.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e2))
    >>> curve = criteria.alo(path, [0.1, 1.0, 10.0])
    >>> curve.scores.shape, bool(np.all(curve.doubtful <= 60))
    ((3,), True)
    """
    values = check_values(path, values)
    return predict_left_out(path, values, form=form).curve(path, "alo", values, loss)

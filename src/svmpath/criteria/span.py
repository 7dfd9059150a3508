"""The span prediction of the squared hinge: leave-one-out if no other sample changes its side.

With E = {y f < 1}, the slacks xi_i = 1 - y_i f_i and the leverages h_i = s_i a_i' M_E^-1 a_i of the rows E (see
``solvers.newton``), leaving out i in E while the others keep their sides gives

    y_i f^(-i)(x_i) = 1 - xi_i / (1 - h_i)

which counts as an error exactly if xi_i + h_i >= 1. A sample outside E has no coefficient: without it the machine is
the same. This is Bonidal, Tindel & Guermeur's eq. 16, 20, 23 and 24; their (A_E^-1)_ii is 2 C (1 - h_i).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values, held_out_loss
from svmpath.paths import MarchPath, Path
from svmpath.paths.march import Stop
from svmpath.solvers.newton import Rows
from svmpath.solvers.threads import one_thread_if_small

Array = np.ndarray

_COUNTED = 3000  # samples up to which those that change sides are counted


def span(path: Path, values: Any, *, loss: HeldOutLoss = None) -> Curve:
    """Leave-one-out as predicted from the spans: exact where leaving a sample out moves no other across the margin.

    Parameters
    ----------
    path : Path
        Of ``loss="squared_hinge"`` over C.
    values : float or array of shape (m,)
        Values of C.
    loss : {"error", "squared"} or callable, optional
        As in :func:`svmpath.criteria.press`.

    Returns
    -------
    Curve
        ``doubtful`` counts the samples whose absence does move others across the margin, for which the prediction is
        not exact; it is -1 where there are too many samples to look.

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
    path = squared_hinge_only(path, "span")
    values = check_values(path, values)
    problem = path.problem
    held = np.empty((len(values), problem.n))
    doubtful = np.full(len(values), -1)
    for stop in path.walk(values):
        with one_thread_if_small(path.rows.A.size):
            E, V = half_leverages(path.rows, stop)
            held[stop.position], step = predict(path.rows, stop, E, V)
            if problem.n <= _COUNTED:
                doubtful[stop.position] = np.count_nonzero(moving(path.rows, stop, E, V, step).any(axis=0))
    rows = np.arange(problem.n)
    return Curve(path, "span", values, held_out_loss(loss, problem.task), rows, held, problem.y, doubtful)


def half_leverages(rows: Rows, stop: Stop) -> tuple[Array, Array]:
    """The samples E, and V = U^-T A' with M_E = U'U, so that A M_E^-1 A' = V'V."""
    return np.flatnonzero(stop.point.E), solve_triangular(stop.factored.U, rows.A.T, trans=1, check_finite=False)


def predict(rows: Rows, stop: Stop, E: Array, V: Array) -> tuple[Array, Array]:
    """Held-out decision values of all samples, and for those in E the step delta with f' = f + V'V[:, i] delta_i."""
    y, s, f = rows.y[E], rows.s[E], stop.point.f
    leverage = s * np.einsum("ij,ij->j", V[:, E], V[:, E])
    residual = (y - f[E]) / (1.0 - leverage)
    held = f.copy()
    held[E] = y - residual
    return held, -s * residual


def moving(rows: Rows, stop: Stop, E: Array, V: Array, step: Array) -> Array:
    """Which samples (rows) change sides when one of E (columns) is left out and the others keep theirs."""
    f = stop.point.f[:, None] + (V.T @ V[:, E]) * step
    new = (rows.y[:, None] * f < 1.0) & (rows.s > 0)[:, None]
    moved = new != stop.point.E[:, None]
    moved[E, np.arange(len(E))] = False  # the sample that is left out has no side
    return moved


def squared_hinge_only(path: Path, criterion: str) -> MarchPath:
    """The path, refused if the criterion's formula does not hold for its loss."""
    if not isinstance(path, MarchPath):
        raise ValueError(f"criteria.{criterion} is made for the squared hinge; this path has {path.loss!r}.")
    return path

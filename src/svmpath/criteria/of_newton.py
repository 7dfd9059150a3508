"""Predicted held-out values of losses that are quadratic in pieces: as if no other sample changed its piece.

With M, W and the slopes p of ``solvers.feature_newton``, P = A M^-1 A' and the leverages h_i = W_i P_ii, leaving out
sample i while the others keep their pieces changes the decision values by P_:i d_i,

    d_i = -W_i (t_i - f_i) / (1 - h_i),    t_i = y_i + z_i p_i / c_i,      if its piece is curved (c_i > 0),
    d_i = -s_i z_i p_i / c*,                                               if it is linear.
"""

from __future__ import annotations

import numpy as np

from svmpath.criteria.held_out import HeldOut
from svmpath.criteria.of_march import refuse_form
from svmpath.criteria.sources import AtValues
from svmpath.paths.newton_path import NewtonPath
from svmpath.solvers.feature_newton import LEAST_SLACK, FeatureNewton, FeaturePoint
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_ROWS_AT_ONCE = 2048  # samples that are left out at a time


def predict_left_out_newton(
    path: NewtonPath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the others keep their pieces."""
    refuse_form(path, form)
    held = np.empty((len(values), path.problem.n))
    for position, point, newton in path.walk(values):
        with blas_threads(path.rows.entries):
            V, step = _steps(newton, point)
            held[position] = point.f + np.einsum("ij,ij->j", V, V) * step
    return HeldOut(np.arange(path.problem.n), held, AtValues(_count_changes, path, values))


def _count_changes(path: NewtonPath, values: Array) -> Array:
    """The number of samples whose absence moves others to another piece."""
    counts = np.zeros(len(values), dtype=int)
    for position, point, newton in path.walk(values):
        with blas_threads(path.rows.entries):
            V, step = _steps(newton, point)
            out = np.flatnonzero(step)
            for start in range(0, len(out), _ROWS_AT_ONCE):
                part = out[start : start + _ROWS_AT_ONCE]
                f = point.f + ((V[:, part] * step[part]).T @ V)
                moved = np.array([newton.region(each) for each in f]) != point.E
                moved[np.arange(len(part)), part] = False  # the sample that is left out has no piece
                counts[position] += path.problem.count(part[moved.any(axis=1)])
    return counts


def _steps(newton: FeatureNewton, point: FeaturePoint) -> tuple[Array, Array]:
    """V with P = V'V, and the d of every sample."""
    loss, system, E = newton.loss, newton.system, point.E
    V = system.factor(E, newton.lam).features.half(newton.rows.A)
    curved, linear = system.curved(E), system.linear(E)
    c, p = loss.of_regions(loss.curvature, E), loss.of_regions(loss.slopes, E)
    W = np.where(curved, newton.s * c / loss.largest, 0.0)
    target = newton.y + loss.signed(newton.y, p / np.where(curved, c, 1.0))
    slack = np.maximum(1.0 - W * np.einsum("ij,ij->j", V, V), LEAST_SLACK)
    return V, -W * (target - point.f) / slack - (0.0 if linear is None else linear)

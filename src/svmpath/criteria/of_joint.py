"""Held-out values and the radius-margin bound of machines of all classes at once (``solvers.joint``)."""

from __future__ import annotations

import numpy as np

from svmpath.criteria.curve import check_values
from svmpath.criteria.held_out import HeldOut, refuse_events
from svmpath.criteria.of_march import refuse_form
from svmpath.criteria.radius_margin import BoundCurve, counted, error_only, radius_margin
from svmpath.criteria.sources import AtValues
from svmpath.interrupts import checkpoint
from svmpath.paths.joint import JointPath
from svmpath.solvers.enclosing_ball import EnclosingBall
from svmpath.solvers.joint import JointNewton
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


def predict_left_out_joint(
    path: JointPath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the others keep their active classes."""
    refuse_form(path, form)
    held = np.empty((len(values), *path.problem.y.shape))
    for position, point, newton in path.walk(values):
        with blas_threads(path.rows.entries):
            held[position] = newton.left_out(float(values[position]), point)[0]
    return HeldOut(np.arange(path.problem.n), held, AtValues(_count_changes, path, values))


def _count_changes(path: JointPath, values: Array) -> Array:
    """The number of samples whose absence changes the active classes of others."""
    counts = np.zeros(len(values), dtype=int)
    for position, point, newton in path.walk(values):
        counts[position] = np.count_nonzero(newton.left_out(float(values[position]), point, count=True)[1])
    return counts


def leave_one_out_joint(
    path: JointPath, values: Array, *, max_events: int | None = None, count_only: bool = False
) -> HeldOut:
    """Leave out every sample, by a machine without it that is found from the one with it."""
    refuse_events(path, max_events, count_only)
    problem = path.problem
    if len(problem.active) < 2:
        raise ValueError("Leave-one-out needs at least two samples of positive weight.")
    held = np.empty((len(values), *problem.y.shape))
    for position, point, newton in path.walk(values):
        held[position] = point.H
        for i in np.flatnonzero((problem.s > 0) & point.slopes.active.any(axis=1)):  # the others change nothing
            checkpoint()
            s = newton.s.copy()
            s[i] = 0.0
            alone = JointNewton(newton.A, newton.code, s, problem.y.shape[1])
            held[position, i] = alone.at(float(values[position]), point).H[i]
    return HeldOut(np.arange(problem.n), held, np.zeros(len(values), dtype=int))


@radius_margin.register
def _(path: JointPath, values: Array, *, loss: object = None) -> BoundCurve:
    """4 R^2 (Q - 1)^2 / Q times the sum of all multipliers, over the number of samples."""
    error_only("radius_margin", loss)
    values = check_values(path, values)
    rows, Q = counted(path, "radius_margin"), path.problem.y.shape[1]
    scores, unreliable = np.empty(len(values)), np.empty(len(values), dtype=int)
    ball, balls = None, None
    for position, point, newton in path.walk(values):
        C = float(values[position])
        balls = EnclosingBall(newton.A[rows]) if balls is None else balls
        ball = balls.at(1.0 / C, ball)
        total = 2.0 * C * float(newton.s @ point.slopes.p.sum(axis=1))
        scores[position] = 4.0 * ball.squared_radius * (Q - 1) ** 2 / Q * total / len(rows)
        unreliable[position] = np.count_nonzero((np.argmax(point.H, axis=1) != newton.code)[rows])
    return BoundCurve(path, "radius_margin", values, scores, unreliable)

"""Where a walk of the elastic-net hinge machine begins: for a large lambda1 the machine is a constant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import issparse

from svmpath.solvers.elastic.design import Design, Line, Snapshot
from svmpath.solvers.elastic.walk import ElasticWalker
from svmpath.solvers.loops import elastic_state as layout
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, OUT, RIGHT, UNPENALISED
from svmpath.solvers.loops.elastic_tolerances import BALANCED, C_ROUNDING

Array = np.ndarray


def constant_point(design: Design, w: Array) -> Snapshot:
    """A point with beta = 0, at the smallest lambda1 for which its alpha proves it optimal.

    The lighter class is on the left; of the heavier one as many as it takes, first those whose rows lie where they
    make c small. The one that is filled in part is on the elbow.
    """
    Z, place = design.Z, np.where(w > 0, LEFT, OUT).astype(np.int8)
    b, heavy, needed, alpha = _lighter_class(design.y, w)
    if b:
        order = heavy[np.argsort(np.asarray(Z[heavy] @ (Z.T @ alpha)), kind="stable")]
        before = np.concatenate([[0.0], np.cumsum(w[order])])
        alpha[order] = np.clip(needed - before[:-1], 0.0, w[order])
        last = int(np.searchsorted(before[1:], needed * (1 - 1e-15)))
        place[order[:last]], place[order[last:]] = LEFT, RIGHT
        place[order[min(last, len(order) - 1)]] = ELBOW
    lam1 = threshold(design, np.asarray(Z.T @ alpha).ravel(), w)
    beta, sign = np.zeros(Z.shape[1]), np.zeros(Z.shape[1], np.int8)
    return Snapshot(np.array([0.0, lam1, 0.0, b]), w.copy(), alpha, beta, place, sign)


def largest_lambda1(design: Design, w: Array) -> float:
    """The largest lambda1 at which a penalised feature is used, where all are penalised.

    Above it beta = 0 is optimal. With c = Z' alpha that is to say: some alpha of the constant machine has |c_j| <=
    lambda1 om_j for all j. The lighter class has alpha = w; that of the heavier one solves the linear programme

        min t    such that    |c_j| <= t om_j,    0 <= alpha_i <= w_i,    sum alpha_i = the weight of the lighter class.

    A walk would do, but where columns depend on each other it may end above this value, and where depends on the order
    of the rows.
    """
    Z = design.Z
    b, heavy, needed, alpha = _lighter_class(design.y, w)
    c = np.asarray(Z.T @ alpha).ravel()
    if not b:
        return threshold(design, c, w)
    A, om = (Z[heavy].toarray() if issparse(Z) else Z[heavy]).T, design.om[:, None]
    size = np.abs(A).max(initial=0.0) or 1.0
    programme = linprog(
        np.append(np.zeros(len(heavy)), 1.0),
        A_ub=np.vstack([np.hstack([A / size, -om]), np.hstack([-A / size, -om])]),
        b_ub=np.concatenate([-c, c]) / size,
        A_eq=np.append(np.ones(len(heavy)), 0.0)[None],
        b_eq=[needed],
        bounds=[*((0.0, float(each)) for each in w[heavy]), (0.0, None)],
    )
    return size * float(programme.fun) if programme.status == 0 else float(constant_point(design, w).x[1])


def _lighter_class(y: Array, w: Array) -> tuple[float, Array, float, Array]:
    """The heavier class (0: none is), its rows, the weight of the lighter one, and w on the rows of that one alone."""
    up, down = float(w[y > 0].sum()), float(w[y < 0].sum())
    if abs(up - down) <= BALANCED * (up + down):
        return 0.0, np.empty(0, np.int64), up, w.copy()
    b = 1.0 if up > down else -1.0
    return b, np.flatnonzero((y == b) & (w > 0)), min(up, down), np.where(y == b, 0.0, w)


def threshold(design: Design, c: Array, w: Array) -> float:
    """The smallest lambda1 for which no penalised feature is beyond its threshold; rounding in c is none."""
    noise, penalised = C_ROUNDING * w.sum() * design.zmax, design.om > 0.0
    c = np.where(np.abs(c) > noise, np.abs(c), 0.0)
    return float(np.max(c[penalised] / design.om[penalised], initial=0.0))


def start(design: Design, w: Array, lam2: float) -> ElasticWalker:
    """A walker where no penalised feature is used; its value is its lambda1."""
    free = np.flatnonzero(design.om == 0.0)
    if not len(free):
        return _walker_at(design, constant_point(design, w), lam2)
    # First the machine of the free features alone: they are penalised, too, until lambda1 = 0.
    walker = start(design.of_columns(free), w, lam2)
    if walker.lam1 > 0.0:
        walker.to(Line.lambda1(lam2, w), 0.0, record=False)
    free_point, p = walker.snapshot(), len(design.om)
    beta, sign = np.zeros(p), np.zeros(p, np.int8)
    beta[free], sign[free] = free_point.beta, UNPENALISED
    point = replace(free_point, beta=beta, sign=sign)
    point.x[1] = threshold(design, np.asarray(design.Z.T @ free_point.alpha).ravel(), w)
    return _walker_at(design, point, lam2)


def _walker_at(design: Design, point: Snapshot, lam2: float) -> ElasticWalker:
    point.x[0], point.x[2] = point.x[1], lam2
    walker = ElasticWalker(design, point)
    walker.assemble()
    return walker


def leave_constant(walker: ElasticWalker, line: Line) -> ElasticWalker:
    """Walk from a start to the value where a penalised feature is about to be used; until then beta stays zero."""
    b = walker.b
    if walker.value > 0.0:
        walker.to(line, 0.0, most_features=0, record=False)
        put_at_zero(walker, b)
    return walker


def put_at_zero(walker: ElasticWalker, b: float) -> None:
    """Penalised coefficients exactly zero, and with them the offset that a beta of rounding has moved."""
    is_penalised = walker.design.om > 0.0
    walker.beta[is_penalised] = 0.0
    if abs(b) == 1.0 and is_penalised.all():
        walker.state.x[layout.B] = b


def walk_to(walker: ElasticWalker, lam1: float) -> None:
    """Walk from a start down to a lambda1; where that is larger than at the start, the point is optimal as it is."""
    if lam1 < walker.lam1:
        walker.to(Line.lambda1(walker.lam2, walker.w.copy()), lam1, record=False)
    walker.state.x[layout.LAM1] = lam1

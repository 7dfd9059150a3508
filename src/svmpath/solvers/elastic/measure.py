"""How far a point is from the optimum of the elastic-net hinge machine: the duality gap, a sum of nonnegative terms.

See ``losses.elastic_hinge`` for the terms. The gap does not depend on places, so that it shows whether those of a walk
are right.
"""

from __future__ import annotations

import numpy as np

from svmpath.solvers.elastic.design import Design
from svmpath.solvers.loops.elastic_tolerances import ALPHA_AT_BOUND, SMALL_OBJECTIVE
from svmpath.solvers.offset import middle

Array = np.ndarray


def relative_gap(design: Design, w: Array, lam1: float, lam2: float, alpha: Array, beta: Array, b: float) -> float:
    """Primal minus dual objective over the primal, or over a millionth of the weights where that is more."""
    Z, y = design.Z, design.y
    margins, c = np.asarray(Z @ beta) + y * b, np.asarray(Z.T @ alpha)
    wall, lack = lam1 * design.om, design.margin - margins
    xi, eta = np.maximum(lack, 0.0), np.maximum(-lack, 0.0)
    primal = w @ xi + 0.5 * lam2 * beta @ beta + wall @ np.abs(beta)
    # What is not feasible is charged: the classes' sums at what the offset moves.
    spread = 1.0 + np.abs(margins).max(initial=0.0)
    if lam2 > 0.0:
        beyond, turn = np.maximum(np.abs(c) - wall, 0.0), np.sign(c)
        outside = wall * (np.abs(beta) - turn * beta) + (lam2 * beta - turn * beyond) ** 2 / (2.0 * lam2)
        inside = wall * np.abs(beta) - c * beta + 0.5 * lam2 * beta**2
        charge = np.where(beyond > 0.0, outside, inside).sum()
        gap = (w - alpha) @ xi + alpha @ eta + abs(y @ alpha) * spread + charge
    else:
        # By how much alpha has to be shrunk to be feasible for the dual; columns without a penalty do not count.
        far = (np.abs(c) > wall) & (wall > 0)
        feasible = float(np.min(wall[far] / np.abs(c[far]), initial=1.0))
        gap = min(
            (w - part * alpha) @ xi
            + part * (alpha @ eta + abs(y @ alpha) * spread)
            + _charge(design.zmax, wall, beta, part * c)
            for part in (1.0, feasible)
        )
    return float(gap / max(primal, SMALL_OBJECTIVE * w.sum()))


def _charge(zmax: Array, wall: Array, beta: Array, c: Array) -> float:
    """The terms of the features without lambda2; c beyond its threshold is charged at what a coefficient may be."""
    beyond = np.maximum(np.abs(c) - wall, 0.0)
    far = np.flatnonzero(beyond > 0.0)
    terms = np.where(beyond > 0.0, wall * (np.abs(beta) - np.sign(c) * beta), wall * np.abs(beta) - c * beta)
    size = np.abs(beta[far]) + np.divide(1.0, zmax[far], out=np.zeros(len(far)), where=zmax[far] > 0.0)
    return float(terms.sum() + beyond[far] @ size)


def offset_shift(y: Array, s: Array, a: Array, f: Array) -> float:
    """What to add to the offset so that it is the middle of its interval; zero where an elbow sample fixes it."""
    active = s > 0.0
    low, high = a <= ALPHA_AT_BOUND * s, a >= (1.0 - ALPHA_AT_BOUND) * s
    if np.any(active & ~low & ~high):
        return 0.0
    lack = y - f  # what the offset lacks for a margin of one
    # y f >= 1 where a = 0, y f <= 1 where a = s.
    at_least, at_most = (low & (y > 0)) | (high & (y < 0)), (low & (y < 0)) | (high & (y > 0))
    return middle(lack[active & at_least], lack[active & at_most])

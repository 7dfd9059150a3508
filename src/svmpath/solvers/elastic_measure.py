"""How far a point is from the optimum of the elastic-net hinge machine: the duality gap, a sum of nonnegative terms.

See ``losses.elastic_hinge`` for the terms. It needs to know no places, so that a walk can be measured by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

Array = np.ndarray

NEAR = 1e-10  # an alpha nearer to its bound than this, relative, is at it
_SMALL = 1e-6  # an objective below this, in units of all weights, is rounding's


def relative_gap(
    Z: Any, y: Array, om: Array, margin: Array, w: Array, lam1: float, lam2: float, alpha: Array, beta: Array, b: float
) -> float:
    """Primal minus dual objective over the primal, or over a millionth of the weights where that is more.

    Z holds the rows times their labels, ``margin`` what is asked of y f: ones.
    """
    reached, c = np.asarray(Z @ beta) + y * b, np.asarray(Z.T @ alpha)
    wall, lack = lam1 * om, margin - reached
    xi, eta = np.maximum(lack, 0.0), np.maximum(-lack, 0.0)
    primal = w @ xi + 0.5 * lam2 * beta @ beta + wall @ np.abs(beta)
    if lam2 == 0.0:  # shrunk into what the dual allows; columns without a penalty are charged below
        far = (np.abs(c) > wall) & (wall > 0)
        shrink = float(np.min(wall[far] / np.abs(c[far]), initial=1.0))
        alpha, c = shrink * alpha, shrink * c
    beyond, turn = np.maximum(np.abs(c) - wall, 0.0), np.sign(c)
    outside = wall * (np.abs(beta) - turn * beta) + (lam2 * beta - turn * beyond) ** 2 / (2.0 * lam2 or 1.0)
    inside = wall * np.abs(beta) - c * beta + 0.5 * lam2 * beta**2
    features = np.where((beyond > 0.0) & (lam2 > 0.0), outside, inside)
    # What is not feasible is charged: the classes' sums at what the offset moves, and c of columns without penalty.
    charge = abs(y @ alpha) * (1.0 + np.abs(reached).max(initial=0.0))
    if lam2 == 0.0:
        free = np.flatnonzero(wall == 0.0)
        largest = _largest(Z[:, free]) if len(free) else np.empty(0)
        reach = np.abs(beta[free]) + np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0.0)
        charge += float(np.abs(c[free]) @ reach)
        features[free] = 0.0
    return float(((w - alpha) @ xi + alpha @ eta + features.sum() + charge) / max(primal, _SMALL * w.sum()))


def _largest(Z: Any) -> Array:
    """The largest |z_ij| of each column."""
    if sparse.issparse(Z):
        return np.asarray(abs(Z).max(axis=0).todense(), dtype=float).ravel()
    return np.abs(Z).max(axis=0, initial=0.0)


def middle(y: Array, s: Array, a: Array, f: Array) -> float:
    """What to add to the offset so that it is the middle of its interval; zero where an elbow sample fixes it."""
    active = s > 0.0
    low, high = a <= NEAR * s, a >= (1.0 - NEAR) * s
    if np.any(active & ~low & ~high):
        return 0.0
    left = y - f  # what the offset lacks for a margin of one
    # y f >= 1 where a = 0, y f <= 1 where a = s.
    least = left[active & ((low & (y > 0)) | (high & (y < 0)))].max(initial=-np.inf)
    most = left[active & ((low & (y < 0)) | (high & (y > 0)))].min(initial=np.inf)
    ends = [end for end in (least, most) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0

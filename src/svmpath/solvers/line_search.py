"""Exact line search for sums of squared positive parts.

Along a line, with t the step and slack_i(t) = slack_i + t rate_i, the objective is

    J(t) = sum_i s_i max(0, slack_i(t))^2 + level t + steep t^2 / 2

convex and piecewise quadratic. Its slope is linear between the steps at which a slack changes its sign, and rises
throughout, so that its zero is found by adding up the changes of slope in the order of the crossings.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def exact_step(slack: Array, rate: Array, s: Array, E: Array, level: float, steep: float) -> float:
    """The step t in [0, 1] at which J is lowest.

    Parameters
    ----------
    slack, rate, s : array of shape (n,)
    E : array of bool, shape (n,)
        The rows whose slack is positive at t = 0 and that have weight.
    level, steep : float
        Slope and curvature of the other terms of the objective.
    """
    level += 2.0 * (s[E] @ (slack[E] * rate[E]))
    steep += 2.0 * (s[E] @ rate[E] ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = np.where(rate != 0, -slack / rate, np.inf)
    # A row that is exactly on the margin and moves to its left counts from the start.
    enters = (cross > 0) | ((slack == 0) & (rate > 0) & ~E)
    order = np.flatnonzero(enters & (cross < 1) & (s > 0))
    order = order[np.argsort(cross[order])]
    # The slope of J at each crossing is level + steep * t, with what the crossings before it have changed.
    change = 2.0 * s[order] * rate[order] * np.where(E[order], -1.0, 1.0)
    levels = level + np.concatenate([[0.0], np.cumsum(change * slack[order])])
    steeps = steep + np.concatenate([[0.0], np.cumsum(change * rate[order])])
    past = np.flatnonzero(levels[:-1] + steeps[:-1] * cross[order] >= 0)
    piece = past[0] if len(past) else len(order)
    return float(min(max(-levels[piece] / steeps[piece], 0.0), 1.0)) if steeps[piece] > 0 else 1.0

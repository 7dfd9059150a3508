"""Where a path over C begins and ends, from the data: ``trace(..., span="data")``.

With the centred features t_i = z_i - sum_j s_j z_j / S, H = sum_i s_i t_i t_i', m = sum_i s_i y_i / S,
h = sum_i s_i (y_i - m) t_i and mu = 1 / (2 C), the least squares machine is f_i = m + t_i' (H + mu I)^-1 h. So

    |f_i - m| <= ||t_i|| ||h|| / mu = 2 C ||t_i|| ||h||

*The first C.* In classification the least squares machine is that of the squared hinge as long as y_i f_i <= 1 for
all i, by its conditions of optimality. While 2 C ||t_i|| ||h|| < 1 - y_i m for all i, every sample is in E. In
regression, the machine then differs from the mean by less than the standard deviation of the targets.

*The last C.* mu is a small share of the mean squared ||t_i||. Where the kernel has few dimensions this is a small share
of each eigenvalue of H as well, and the machine hardly changes any more.

Without an offset t_i = z_i and m = 0. Both are of the unit of 1 / k(x, x): a kernel times a factor has the same path,
in C divided by that factor.
"""

from __future__ import annotations

import numpy as np

from svmpath.losses import Problem

_ROUNDINGS = 8.0  # of the sums whose difference is a squared norm
_LEAST_RIDGE = 1e-6  # of the mean squared norm: the ridge from which on it is taken for none


def data_span(problem: Problem) -> tuple[float, float] | None:
    """The first and the last C; None if kernel or targets are constant, so that nothing changes along the path."""
    rows, gram = problem.active, problem.gram
    s, y = problem.s, problem.y
    total = float(s.sum())
    p, m = s / total, float(s @ y) / total
    if not problem.offset:  # neither features nor targets are centred
        m = 0.0
    v = s * (y - m)
    Kp, Kv = gram.matmul(p), gram.matmul(v)
    rounding = _ROUNDINGS * np.finfo(float).eps * gram.diag[rows]
    centred = gram.diag - 2.0 * Kp + p @ Kp if problem.offset else gram.diag
    squares = np.maximum(centred[rows], 0.0) + rounding
    norms = np.sqrt(squares)
    steepest = norms * np.sqrt(max(float(v @ Kv), 0.0))
    mean_square = float(p[rows] @ squares)
    is_labels = problem.task == "classification"
    room = 1.0 - y[rows] * m if is_labels else np.full(len(rows), np.sqrt(p @ (y - m) ** 2))
    if not (steepest.max() > 0.0 and room.min() > 0.0 and mean_square > 2.0 * float(p[rows] @ rounding)):
        return None
    first = 0.5 * float(np.min(room / np.maximum(steepest, np.finfo(float).tiny)))
    return first, max(0.5 / (_LEAST_RIDGE * mean_square), 2.0 * first)

"""The hinge machine (C-SVM), for classification.

The problem, with xi_i = max(0, 1 - y_i f(x_i))::

    minimise   C sum_i s_i xi_i + 1/2 alpha' K alpha,      f = K alpha + b,    sum_i alpha_i = 0

The dual problem maximises sum_i a_i - 1/2 alpha' K alpha over 0 <= a_i = y_i alpha_i <= C s_i. In theta = alpha / C and
lambda = 1 / C the box is constant, and lambda is the only thing that changes::

    minimise   1/2 theta' K theta - lambda y'theta    over theta_i between 0 and s_i y_i,    sum_i theta_i = 0

Its gradient is lambda (f_i - y_i), the multiplier of the sum is lambda b. A sample is "right" (y f > 1, theta = 0), on
the "elbow", or "left" (y f < 1, theta = s y). At any (theta, b) the duality gap is, with eta_i = max(0, y_i f_i - 1),

    sum_i [ (C s_i - a_i) xi_i + a_i eta_i ]
"""

from __future__ import annotations

import numpy as np

from svmpath.losses.base import Problem, Solution
from svmpath.losses.elbow import ElbowLoss, hinge_excess, hinge_gap, hinge_violation, labelled_box
from svmpath.losses.path_parameter import PathParameter
from svmpath.losses.policies import Policy
from svmpath.solvers.box_qp import FREE, LOW, UP, Program

Array = np.ndarray


class Hinge(ElbowLoss):
    """Formulas of the hinge machine."""

    name = "hinge"
    tasks = ("classification",)
    label, also_called, equivalent = "hinge", "C-SVM", "SVC"
    # In few dimensions the prediction is off by factors, so that it is exact leave-one-out or folds.
    policy = Policy(loo_rows=500, cost_grows_with_span=True, shown=("kfold", "alo", "xi_alpha", "span_bound"))
    names = ("right", "elbow", "left")
    falls_when_left_out = True
    can_lack_offset = True

    def margin_loss(self, y: Array, f: Array) -> Array:
        """max(0, 1 - y f), cut off at 3."""
        return np.clip(1.0 - y * f, 0.0, 3.0)

    def program(self, problem: Problem, path_parameter: PathParameter, K: Array) -> Program:
        """c = -lambda y; t = -lambda over C, and lambda = 1 / C stays over a weight."""
        n, y = problem.n, problem.y
        (s0, s1), none = path_parameter.weights_along(problem.s), np.zeros(1)
        (l0, u0), (l1, u1) = labelled_box(y, s0), labelled_box(y, s1)
        moves = path_parameter.over == "C"
        c0, c1 = (np.zeros(n), y) if moves else (-y / path_parameter.fixed["C"], np.zeros(n))
        return Program(
            K, np.arange(n), np.zeros(n, dtype=np.int64), c0, c1, l0, l1, u0, u1, none, none, path_parameter.unit
        )

    def guess(self, problem: Problem, program: Program, t: float) -> tuple[Array, Array]:
        """The constant classifier: the lighter class at its bound, and of the heavier one those it needs."""
        low, up = program.low(t), program.up(t)
        y, s = problem.y, up - low
        light = 1.0 if s[y > 0].sum() <= s[y < 0].sum() else -1.0
        theta, needed = np.where(y == light, y * s, 0.0), s[y == light].sum()
        heavy = np.flatnonzero((y != light) & (s > 0))
        order = heavy[np.argsort(y[heavy] * program.product(theta)[heavy], kind="stable")]
        before = np.concatenate([[0.0], np.cumsum(s[order])])
        theta[order] = y[order] * np.clip(needed - before[:-1], 0.0, s[order])
        last = order[min(np.searchsorted(before, needed * (1 - 1e-15)), len(order)) - 1] if len(order) else heavy[:1]
        status = np.where((theta == up) & (s > 0), UP, LOW)
        status[last] = FREE
        return theta, status

    def read(self, problem: Problem, path_parameter: PathParameter, t: float, theta: Array, nu: Array) -> Solution:
        """alpha = C theta, b = C nu."""
        values = path_parameter.at_t(t)
        C = values["C"]
        return Solution(problem, self, C * theta, float(C * nu[0]), {**values, **problem.gram.kernel.parameters})

    def signs(self, problem: Problem) -> Array:
        """The labels."""
        return problem.y

    def violation(self, solution: Solution) -> float:
        """The largest margin on the wrong side of 1, given the place of the coefficient in its box."""
        problem, C = solution.problem, solution.parameters["C"]
        return hinge_violation(problem, C, solution.alpha, solution.fitted)

    def excess(self, solution: Solution, alpha: Array, f: Array, rho: float = 1.0) -> float:
        """sum_i [ (C s_i - a_i) xi_i + a_i eta_i ]."""
        return hinge_excess(solution.problem, solution.parameters["C"], alpha, f)

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective, relative to the primal."""
        problem, C = solution.problem, solution.parameters["C"]
        return hinge_gap(problem, C, solution.alpha, solution.fitted, solution.b)

"""The one-class machine (Schoelkopf et al. 2001), for novelty: where are the rows, and where are none?

There are no targets. With W = sum_i s_i, f = K alpha - rho and xi_i = max(0, -f(x_i)) the problem is::

    minimise   1/2 alpha' K alpha - rho + 1 / (nu W) sum_i s_i xi_i     over alpha and rho

Its dual is ``minimise 1/2 alpha' K alpha`` over 0 <= alpha_i <= s_i / (nu W) with sum_i alpha_i = 1. In theta = nu W
alpha the box is constant, and only the sum moves::

    minimise   1/2 theta' K theta    over 0 <= theta_i <= s_i,    sum_i theta_i = nu W

so that the path over nu is piecewise linear in theta (Lee & Scott 2007). The multiplier of the sum is -nu W rho. A
sample is "inside" (f > 0, theta = 0), on the "elbow", or "outside" (f < 0, theta = s). Samples of at most nu W are
outside, and those outside and on the elbow are of at least nu W: the nu property. By the conditions of optimality
rho >= alpha' K alpha, so that rho is zero only where the machine is: where the origin is in the hull of the samples in
feature space, which no kernel with positive values allows. At any feasible (alpha, rho) the duality gap is

    sum_i [ (s_i / (nu W) - alpha_i) max(0, -f_i) + alpha_i max(0, f_i) ]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from svmpath.exceptions import NoMarginError
from svmpath.losses.base import Problem, Solution, relative_gap
from svmpath.losses.elbow import NEAR, ElbowLoss
from svmpath.losses.path_parameter import PathParameter
from svmpath.parameters import Parameter
from svmpath.solvers.box_qp import FREE, LOW, UP, Program

Array = np.ndarray

_NO_MARGIN = 1e-8  # a rho so small, in units of the largest kernel value, is rounding


class OneClass(ElbowLoss):
    """Formulas of the one-class machine."""

    name = "one_class"
    tasks = ("novelty",)
    label, also_called = "one-class", "one-class SVM"
    followed_by: ClassVar[Mapping[str, str]] = {"machine": "jump or interior point"}
    parameters = (Parameter("nu"),)
    names = ("inside", "elbow", "outside")
    sums_to_zero = False
    beyond_largest = "at 1 every sample is outside"
    no_machine = "The rows surround the origin in feature space, so that no plane separates them from it"

    def limits(self, solution: Solution) -> Array:
        """s / (nu W)."""
        return np.asarray(solution.problem.s / self.unit(solution))

    def unit(self, solution: Solution) -> float:
        """nu W."""
        return float(solution.parameters["nu"] * solution.problem.s.sum())

    def default_span(self, over: str, y: Array, s: Array) -> tuple[float, float]:
        """From 1 to a hundredth."""
        return 1.0, 0.01

    def largest(self, over: str, y: Array, s: Array) -> float:
        """1."""
        return 1.0

    def scale(self, problem: Problem) -> float:
        """The largest kernel value: neither rho nor K alpha is larger."""
        return max(float(np.abs(problem.gram.diag).max(initial=0.0)), np.finfo(float).tiny)

    def program(self, problem: Problem, path_parameter: PathParameter, K: Array) -> Program:
        """t = -nu moves the sum, and one unit of f is nu W."""
        n, total, zero = problem.n, float(problem.s.sum()), np.zeros(problem.n)
        group, unit = np.zeros(n, dtype=np.int64), np.array([0.0, -total, 0.0])
        return Program(
            K, np.arange(n), group, zero, zero, zero, zero, problem.s, zero, np.zeros(1), np.array([-total]), unit
        )

    def guess(self, problem: Problem, program: Program, t: float) -> tuple[Array, Array]:
        """Those with the least kernel values on average, until the sum is reached."""
        s, total = problem.s, -t * problem.s.sum()
        counted = problem.active
        order = counted[np.argsort(program.product(s / s.sum())[counted], kind="stable")]
        size = np.clip(total - np.concatenate([[0.0], np.cumsum(s[order])[:-1]]), 0.0, s[order])
        theta, status = np.zeros(problem.n), np.full(problem.n, LOW)
        theta[order] = size
        status[order[size == s[order]]] = UP
        status[order[np.flatnonzero(size > 0)[-1]]] = FREE
        return theta, status

    def read(self, problem: Problem, path_parameter: PathParameter, t: float, theta: Array, nu: Array) -> Solution:
        """alpha = theta / (nu W), rho = -multiplier / (nu W)."""
        values, total = path_parameter.at_t(t), -t * float(problem.s.sum())
        if not self.exists(problem, nu[:, None], t)[0]:
            raise NoMarginError(
                f"At nu = {values['nu']:.6g} there is no one-class machine. {self.no_machine}: use a larger nu "
                "(span=None finds the smallest), or a kernel with positive values, such as 'rbf'."
            )
        values |= dict(problem.gram.kernel.parameters)
        return Solution(problem, self, theta / total, float(nu[0]) / total, values)

    def decision_values(self, product: Array, nu: Array, values: Mapping[str, float], total: Array | float) -> Array:
        """(K theta - nu W rho) / (nu W), W being the weight of the samples that the machine has."""
        return np.asarray((product + nu[0]) / (values["nu"] * total))

    def released(self, problem: Problem, t: float) -> Array:
        """The sum is nu (W - s_i) without sample i."""
        return t * problem.s[:, None]

    def check_left_out(self, problem: Problem, values: Array) -> None:
        """Refuse to leave out the only sample."""
        if len(problem.active) < 2:
            raise ValueError("Leave-one-out needs at least two samples of positive weight.")

    def exists(self, problem: Problem, nu: Array, t: float) -> Array:
        """Whether rho is above what is taken for zero."""
        return np.asarray(-nu[0] > _NO_MARGIN * self.scale(problem) * problem.s.sum() * -t)

    def is_clear(self, solution: Solution) -> bool:
        """Whether rho is well above what is taken for zero."""
        return -solution.b > 100.0 * _NO_MARGIN * self.scale(solution.problem)

    def signs(self, problem: Problem) -> Array:
        """All boxes begin at zero."""
        return np.ones(problem.n)

    def terms(self, problem: Problem, fixed: Mapping[str, float]) -> tuple[Array, Array, Array]:
        """Hinges at f = 0."""
        return np.ones((1, problem.n)), np.zeros((1, problem.n)), problem.s[None]

    def violation(self, solution: Solution) -> float:
        """The largest decision value on the wrong side of 0, given its coefficient; the box and the sum."""
        rows, unit = solution.problem.active, self.scale(solution.problem)
        limit, a, f = self.limits(solution)[rows], solution.alpha[rows], solution.fitted[rows]
        worst = np.where(a <= NEAR * limit, -f, np.where(a >= (1.0 - NEAR) * limit, f, np.abs(f)))
        beyond = np.maximum(-a, a - limit) / limit
        return float(max(worst.max(initial=0.0), unit * max(beyond.max(initial=0.0), abs(a.sum() - 1.0))))

    def excess(self, solution: Solution, alpha: Array, f: Array, rho: float = 1.0) -> float:
        """sum_i [ (s_i / (nu W) - alpha_i) max(0, -f_i) + alpha_i max(0, f_i) ]."""
        limit = self.limits(solution)
        a = np.clip(alpha, 0.0, limit)
        return float((limit - a) @ np.maximum(-f, 0.0) + a @ np.maximum(f, 0.0))

    def losses(self, solution: Solution, f: Array, rho: float = 1.0) -> float:
        """-rho + sum_i s_i xi_i / (nu W)."""
        return float(solution.b + self.limits(solution) @ np.maximum(-f, 0.0))

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective, relative to the primal."""
        alpha, f = solution.alpha, solution.fitted
        half = 0.5 * float(alpha @ (f - solution.b))
        cancelled = -solution.b * float(self.limits(solution)[f < 0.0].sum() + 1.0)
        return relative_gap(self.excess(solution, alpha, f), self.losses(solution, f) + half, cancelled)

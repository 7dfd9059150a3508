"""The epsilon-insensitive machine (SVR), for regression.

The problem, with e_i = y_i - f(x_i)::

    minimise   C sum_i s_i max(0, |e_i| - epsilon) + 1/2 alpha' K alpha,      f = K alpha + b,    sum_i alpha_i = 0

In theta = alpha / C, lambda = 1 / C, with theta = theta+ + theta-, 0 <= theta+ <= s and -s <= theta- <= 0, the dual is

    minimise   1/2 theta' K theta + lambda sum_i [ (epsilon - y_i) theta+_i - (epsilon + y_i) theta-_i ],
    sum_i theta_i = 0

over 2 n variables: row i has theta+_i as variable i and theta-_i as variable n + i. It is affine in lambda and in
epsilon. A sample is "inside" the tube (|e| < epsilon, theta = 0), on the "tube", or "outside" (|theta| = s). The
duality gap is, term by term not negative,

    sum_i [ C s_i max(0, |e_i| - epsilon) - alpha_i e_i + epsilon |alpha_i| ]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from svmpath.losses.base import Problem, Solution, relative_gap
from svmpath.losses.elbow import NEAR, WEIGHT, ElbowLoss, deviation
from svmpath.losses.path_parameter import PathParameter
from svmpath.losses.policies import Policy
from svmpath.parameters import Parameter
from svmpath.solvers.box_qp import FREE, LOW, UP, Program

Array = np.ndarray

_EPSILON = Parameter("epsilon", lowest="not negative", log=False)


@dataclass(frozen=True)
class EpsilonInsensitive(ElbowLoss):
    """Formulas of the epsilon-insensitive machine.

    Attributes
    ----------
    epsilon : float
        Half the width of the tube, where a path does not go over it.
    """

    epsilon: float = 0.1

    name = "epsilon_insensitive"
    tasks = ("regression",)
    label, also_called, equivalent = "epsilon-insensitive", "SVR", "SVR"
    policy = Policy(loo_rows=200, cost_grows_with_span=True, shown=("kfold", "alo"))
    parameters = (Parameter("C"), _EPSILON, WEIGHT)
    names = ("inside", "tube", "outside")
    can_lack_offset = True

    def __post_init__(self) -> None:
        _EPSILON.check(self.epsilon)

    @property
    def fixed_parameters(self) -> Mapping[str, float]:
        """epsilon."""
        return {"epsilon": self.epsilon}

    def default_span(self, over: str, y: Array, s: Array) -> tuple[float, float] | None:
        """epsilon from half the range of y to a thousandth of that."""
        if over != "epsilon":
            return super().default_span(over, y, s)
        half = 0.5 * float(np.ptp(y)) or 1.0
        return half, 1e-3 * half

    def unit_of_C(self, y: Array, s: Array) -> float:
        """The deviation of y: with twice the targets and epsilon, twice the C gives twice the machine."""
        return deviation(y, s)

    def terms(self, problem: Problem, fixed: Mapping[str, float]) -> tuple[Array, Array, Array]:
        """Two hinges for each sample, one for each side of the tube."""
        side = np.array([[1.0], [-1.0]]) * np.ones(problem.n)
        return side, side * problem.y - fixed["epsilon"], np.tile(problem.s, (2, 1))

    def program(self, problem: Problem, path_parameter: PathParameter, K: Array) -> Program:
        """c = lambda (epsilon - y) for theta+ and -lambda (epsilon + y) for theta-."""
        n, y = problem.n, problem.y
        sign, twice = self.signs(problem), np.concatenate([y, y])
        (s0, s1), zero, none = path_parameter.weights_along(problem.s), np.zeros(n), np.zeros(1)
        if path_parameter.over == "C":  # t = -lambda
            c0, c1 = np.zeros(2 * n), twice - sign * path_parameter.fixed["epsilon"]
        elif path_parameter.over == "epsilon":  # t = -epsilon
            lam = 1.0 / path_parameter.fixed["C"]
            c0, c1 = -lam * twice, -lam * sign
        else:
            c0 = (sign * path_parameter.fixed["epsilon"] - twice) / path_parameter.fixed["C"]
            c1 = np.zeros(2 * n)
        l0, l1 = np.concatenate([zero, -s0]), np.concatenate([zero, -s1])
        u0, u1 = np.concatenate([s0, zero]), np.concatenate([s1, zero])
        rows, group = np.tile(np.arange(n), 2), np.zeros(2 * n, dtype=np.int64)
        return Program(K, rows, group, c0, c1, l0, l1, u0, u1, none, none, path_parameter.unit)

    def guess(self, problem: Problem, program: Program, t: float) -> tuple[Array, Array]:
        """The best constant: theta sums to zero if those above the tube are at s and those below at -s."""
        low, up, c = program.low(t), program.up(t), program.c0 + t * program.c1
        sign = self.signs(problem)
        full = np.where(sign > 0, up, low)
        # theta_j is at its limit while sign_j (nu + c_j) < 0: theta+ up to nu = -c_j, theta- from there on.
        order = np.argsort(-c, kind="stable")
        order = order[full[order] != 0.0]
        before = full[sign > 0].sum() - np.concatenate([[0.0], np.cumsum(np.abs(full[order]))])
        basic = order[max(int(np.searchsorted(-before, 0.0)) - 1, 0)]
        theta = np.where(sign * (c - c[basic]) < 0, full, 0.0)
        theta[basic] = np.clip(-(theta.sum() - theta[basic]), low[basic], up[basic])
        status = np.where((theta == full) == (sign > 0), UP, LOW)
        status[full == 0.0] = LOW
        status[basic] = FREE
        return theta, status

    def read(self, problem: Problem, path_parameter: PathParameter, t: float, theta: Array, nu: Array) -> Solution:
        """alpha = C (theta+ + theta-), b = C nu."""
        values, n = path_parameter.at_t(t), problem.n
        C = values["C"]
        alpha = C * (theta[:n] + theta[n:])
        return Solution(problem, self, alpha, float(C * nu[0]), {**values, **problem.gram.kernel.parameters})

    def split(self, theta: Array) -> Array:
        """theta+ and theta-."""
        return np.concatenate([np.maximum(theta, 0.0), np.minimum(theta, 0.0)])

    def tidy(self, status: Array) -> Array:
        """In a tube of width zero theta+ and theta- may both be away from zero, and digits cancel in their sum.

        Their gradients are the same there: one of them can be zero, and the sum what it is.
        """
        n = len(status) // 2
        plus, minus = status[:n], status[n:]
        up, free = (plus == UP) & (minus == FREE), (plus == FREE) & (minus == LOW)
        none = (plus == UP) & (minus == LOW)
        return np.concatenate(
            [np.where(up, FREE, np.where(free | none, LOW, plus)), np.where(free, FREE, np.where(up | none, UP, minus))]
        )

    def signs(self, problem: Problem) -> Array:
        """1 for theta+ and -1 for theta-."""
        return np.repeat([1.0, -1.0], problem.n)

    def scale(self, problem: Problem) -> float:
        """The range of y."""
        return max(float(np.ptp(problem.y[problem.active])), np.finfo(float).tiny)

    def violation(self, solution: Solution) -> float:
        """The largest distance of a residual from where its coefficient wants it."""
        problem, rows = solution.problem, solution.problem.active
        C, epsilon = solution.parameters["C"], solution.parameters["epsilon"]
        alpha, limit = solution.alpha[rows], C * problem.s[rows]
        e = (problem.y - solution.fitted)[rows]
        size, excess = np.abs(alpha), np.sign(alpha) * e - epsilon
        is_zero, is_full = size <= NEAR * limit, size >= (1.0 - NEAR) * limit
        worst = np.where(is_zero, np.abs(e) - epsilon, np.where(is_full, -excess, np.abs(excess)))
        unit = self.scale(problem)
        beyond = (size - limit).max(initial=0.0) / limit.max() * unit
        return float(max(worst.max(initial=0.0), beyond, unit * problem.imbalance(alpha) / limit.sum()))

    def excess(self, solution: Solution, alpha: Array, f: Array, rho: float = 1.0) -> float:
        """sum_i [ C s_i max(0, |e_i| - epsilon) - alpha_i e_i + epsilon |alpha_i| ]."""
        problem, epsilon = solution.problem, solution.parameters["epsilon"]
        limit, e = solution.parameters["C"] * problem.s, problem.y - f
        alpha = np.clip(alpha, -limit, limit)
        losses = limit * np.maximum(np.abs(e) - epsilon, 0.0)
        return float(np.maximum(losses - alpha * e + epsilon * np.abs(alpha), 0.0).sum())

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective, relative to the primal."""
        problem, C, epsilon = solution.problem, solution.parameters["C"], solution.parameters["epsilon"]
        alpha, e = solution.alpha, problem.y - solution.fitted
        beyond = np.maximum(np.abs(e) - epsilon, 0.0)
        losses, width = C * (problem.s @ beyond), epsilon * np.abs(alpha).sum()
        primal = losses + 0.5 * alpha @ (solution.fitted - solution.b)
        cancelled = epsilon * C * problem.s[beyond > 0].sum() + width
        return relative_gap(losses - alpha @ e + width, primal, cancelled)

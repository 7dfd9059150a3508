"""The pinball machine, for quantile regression.

The problem, with e_i = y_i - f(x_i) and 0 < q < 1::

    minimise   C sum_i s_i rho(e_i) + 1/2 alpha' K alpha,      f = K alpha + b,    sum_i alpha_i = 0,
    rho(e) = q e  where e > 0,    (q - 1) e  elsewhere

In theta = alpha / C, lambda = 1 / C, the dual is

    minimise   1/2 theta' K theta - lambda y'theta    over  s_i (q - 1) <= theta_i <= s_i q,    sum_i theta_i = 0

which is affine in lambda, in q and in the weights. A sample is "below" (e < 0, theta = s (q - 1)), on the "elbow"
(e = 0), or "above" (e > 0, theta = s q). From the sum of theta follows what gives the machine its name: the weight of
the samples below is at most q sum_i s_i, and the weight of those above at most (1 - q) sum_i s_i. The duality gap is,
term by term not negative, with e = max(e, 0) - max(-e, 0),

    sum_i [ (C s_i q - alpha_i) max(e_i, 0) + (C s_i (1 - q) + alpha_i) max(-e_i, 0) ]
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

_QUANTILE = Parameter("quantile", lowest="fraction", log=False)


@dataclass(frozen=True)
class Pinball(ElbowLoss):
    """Formulas of the pinball machine: its decision values are conditional quantiles.

    Parameters
    ----------
    quantile : float, default=0.5
        The share of targets that are meant to lie below the machine, between 0 and 1, where a path does not go over it.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.PathSVR : Regressor that chooses C and gamma; ``PathSVR(loss="pinball", quantile=0.9)``.
    svmpath.losses.Expectile : Squares that count more on one side.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.losses import Pinball
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] + rng.normal(size=60)
    >>> solution = svmpath.trace(X, y, loss=Pinball(quantile=0.9), kernel="linear")(1.0)
    >>> solution.gap < 1e-10, int(np.sum(y > solution.fitted + 1e-9)) <= 6
    (True, True)
    >>> path = svmpath.trace(X, y, loss="pinball", over="quantile", span=(0.05, 0.95), C=1.0)
    >>> bool(np.all(path(0.95).fitted >= path(0.05).fitted))
    True
    """

    quantile: float = 0.5

    name = "pinball"
    tasks = ("regression",)
    label, also_called = "pinball", "quantile regression"
    level = "quantile"
    own_score = "pinball loss"
    policy = Policy(loo_rows=200, cost_grows_with_span=True, shown=("kfold", "alo"))
    parameters = (Parameter("C"), _QUANTILE, WEIGHT)
    names = ("below", "elbow", "above")

    def __post_init__(self) -> None:
        _QUANTILE.check(self.quantile)

    @property
    def fixed_parameters(self) -> Mapping[str, float]:
        """quantile."""
        return {"quantile": self.quantile}

    def margin_loss(self, y: Array, f: Array) -> Array:
        """rho(y - f)."""
        e = y - f
        return np.maximum(self.quantile * e, (self.quantile - 1.0) * e)

    def default_span(self, over: str, y: Array, s: Array) -> tuple[float, float] | None:
        """quantile from 0.01 to 0.99."""
        return (0.01, 0.99) if over == "quantile" else super().default_span(over, y, s)

    def limits(self, solution: Solution) -> Array:
        """C s q above, C s (1 - q) below."""
        q = solution.parameters["quantile"]
        return super().limits(solution) * np.where(solution.alpha > 0, q, 1.0 - q)

    def unit_of_C(self, y: Array, s: Array) -> float:
        """The deviation of y: with twice the targets, twice the C gives twice the machine."""
        return deviation(y, s)

    def terms(self, problem: Problem, fixed: Mapping[str, float]) -> tuple[Array, Array, Array]:
        """Two hinges for each sample, one for each side of the kink."""
        side, q = np.array([[1.0], [-1.0]]) * np.ones(problem.n), fixed["quantile"]
        return side, side * problem.y, np.array([[q], [1.0 - q]]) * problem.s

    def program(self, problem: Problem, path_parameter: PathParameter, K: Array) -> Program:
        """c = -lambda y; the box moves with the quantile and with a weight."""
        n, y, none = problem.n, problem.y, np.zeros(1)
        s0, s1 = path_parameter.weights_along(problem.s)
        moves = path_parameter.over == "C"
        c0, c1 = (np.zeros(n), y) if moves else (-y / path_parameter.fixed["C"], np.zeros(n))
        if path_parameter.over == "quantile":  # t = -q
            l0, l1, u0, u1 = -s0, -s0, np.zeros(n), -s0
        else:
            q = path_parameter.fixed["quantile"]
            l0, l1, u0, u1 = (q - 1.0) * s0, (q - 1.0) * s1, q * s0, q * s1
        rows, group = np.arange(n), np.zeros(n, dtype=np.int64)
        return Program(K, rows, group, c0, c1, l0, l1, u0, u1, none, none, path_parameter.unit)

    def guess(self, problem: Problem, program: Program, t: float) -> tuple[Array, Array]:
        """The best constant, the quantile of y: the largest y have theta at its upper bound, until it sums to zero."""
        low, up = program.low(t), program.up(t)
        order = np.argsort(-problem.y, kind="stable")
        order = order[up[order] > low[order]]
        width = (up - low)[order]
        filled = np.clip(-low.sum() - (np.cumsum(width) - width), 0.0, width)
        theta, status = low.copy(), np.full(problem.n, LOW)
        theta[order] += filled
        status[order[filled == width]] = UP
        status[order[np.flatnonzero(filled > 0)[-1:]]] = FREE
        return theta, status

    def read(self, problem: Problem, path_parameter: PathParameter, t: float, theta: Array, nu: Array) -> Solution:
        """alpha = C theta, b = C nu."""
        values = path_parameter.at_t(t)
        C = values["C"]
        return Solution(problem, self, C * theta, float(C * nu[0]), {**values, **problem.gram.kernel.parameters})

    def signs(self, problem: Problem) -> Array:
        """1: the place at the lower bound is named first."""
        return np.ones(problem.n)

    def term_places(self, a: Array, s: Array, near: float) -> Array:
        """By the terms of both sides: that above at its limit, that below, or none."""
        above, below = a >= (1.0 - near) * s
        return np.where(above, 2, np.where(below, 0, 1))

    def scale(self, problem: Problem) -> float:
        """The range of y; of targets that are all alike their size, as their rounding is all that is left."""
        y = problem.y[problem.active]
        return float(np.ptp(y)) or float(np.abs(y).max(initial=0.0)) or 1.0

    def violation(self, solution: Solution) -> float:
        """The largest distance of a residual from where its coefficient wants it."""
        problem, rows = solution.problem, solution.problem.active
        width = solution.parameters["C"] * problem.s[rows]
        alpha, e = solution.alpha[rows], (problem.y - solution.fitted)[rows]
        low = alpha - (solution.parameters["quantile"] - 1.0) * width
        up = solution.parameters["quantile"] * width - alpha
        worst = np.where(low <= NEAR * width, e, np.where(up <= NEAR * width, -e, np.abs(e)))
        beyond = np.maximum(-low, -up).max(initial=0.0) / width.max()
        unit = self.scale(problem)
        return float(max(worst.max(initial=0.0), unit * beyond, unit * abs(alpha.sum()) / width.sum()))

    def excess(self, solution: Solution, alpha: Array, f: Array, rho: float = 1.0) -> float:
        """sum_i [ (C s_i q - alpha_i) max(e_i, 0) + (C s_i (1 - q) + alpha_i) max(-e_i, 0) ]."""
        problem, q = solution.problem, solution.parameters["quantile"]
        width, e = solution.parameters["C"] * problem.s, problem.y - f
        alpha = np.clip(alpha, (q - 1.0) * width, q * width)
        return float((q * width - alpha) @ np.maximum(e, 0.0) + (alpha - (q - 1.0) * width) @ np.maximum(-e, 0.0))

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective, relative to the primal, or to what the best constant leaves if that is larger.

        Of targets that are all alike nothing is left but their rounding: then relative to themselves.
        """
        y, f = solution.problem.y, solution.fitted
        gap = self.excess(solution, solution.alpha, f)
        primal = self.losses(solution, f) + float(0.5 * solution.alpha @ (f - solution.b))
        constant = weighted_quantile(y, solution.problem.s, solution.parameters["quantile"])
        left = self.losses(solution, np.full(len(y), constant)) or self.losses(solution, np.zeros(len(y)))
        return relative_gap(gap, primal, left)


def weighted_quantile(y: Array, s: Array, q: float) -> float:
    """The smallest of the y that at least the share q of the weights is not above."""
    order = np.argsort(y, kind="stable")
    total = np.cumsum(s[order])
    return float(y[order[min(int(np.searchsorted(total, q * total[-1])), len(y) - 1)]])

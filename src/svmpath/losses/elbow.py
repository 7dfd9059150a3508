"""Losses with an elbow: convex and piecewise linear, so that the machine is piecewise linear in its parameters.

Such a machine is a quadratic program over a box (``solvers.box_qp``) in the variables theta = lambda * alpha,
lambda = 1 / C, and its gradient is that of lambda * f. A loss says what its program is while one parameter moves,
where to start, and how to read the answer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from svmpath.losses.base import Loss, Problem, Solution, relative_gap
from svmpath.losses.path_parameter import PathParameter
from svmpath.parameters import Parameter
from svmpath.solvers.box_qp import FREE, LOW, Program

Array = np.ndarray

WEIGHT = Parameter("weight", lowest="not negative", log=False)
NEAR = 1e-10  # a coefficient nearer to its bound than this, relative to the box, is at it


class ElbowLoss(Loss):
    """What the jump tracker asks of a loss.

    Attributes
    ----------
    names : tuple of three str
        The places of a sample: coefficient zero (or at its lower bound, if none is zero), in between, at its limit.
    no_machine : str
        Why there may be no machine at some values, in words.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("C"), WEIGHT)
    followed_by: ClassVar[Mapping[str, str]] = {"machine": "jump", "kernel": "elbow over the kernel", "gap": "nodes"}
    kink = "elbow"
    names: ClassVar[tuple[str, str, str]]
    no_machine: ClassVar[str] = ""

    @abstractmethod
    def program(self, problem: Problem, path_parameter: PathParameter, K: Array) -> Program:
        """The program whose t is the parameter that moves, on the whole kernel matrix."""

    @abstractmethod
    def guess(self, problem: Problem, program: Program, t: float) -> tuple[Array, Array]:
        """theta and statuses to start from, in the box; the group sums need not be right."""

    @abstractmethod
    def read(self, problem: Problem, path_parameter: PathParameter, t: float, theta: Array, nu: Array) -> Solution:
        """The machine, from an optimum of the program."""

    def split(self, theta: Array) -> Array:
        """The variables of the program, from one signed coefficient per sample."""
        return theta

    def tidy(self, status: Array) -> Array:
        """Statuses of the same machine from which its coefficients have the most digits."""
        return status

    def decision_values(self, product: Array, nu: Array, values: Mapping[str, float], total: Array | float) -> Array:
        """Decision values, from K theta, the multipliers, and the sum of the weights of the machine's samples."""
        return values["C"] * (product + nu[0])

    def released(self, problem: Problem, t: float) -> Array:
        """What is added to the sums of the groups when a sample is left out, of shape (n, q)."""
        return np.zeros((problem.n, 1))

    def exists(self, problem: Problem, nu: Array, t: float) -> Array:
        """Whether there are machines with these multipliers, of shape (q, S)."""
        return np.ones(nu.shape[1], dtype=bool)

    def is_clear(self, solution: Solution) -> bool:
        """Whether a machine is well away from where there is none."""
        return True

    def check_left_out(self, problem: Problem, values: Array) -> None:
        """Refuse values at which there is no machine without some sample."""

    def terms(self, problem: Problem, fixed: Mapping[str, float]) -> tuple[Array, Array, Array]:
        """The loss as a sum of hinges ``s max(0, t - side f)``: side, t and s, each of shape (terms, n)."""
        y = problem.y
        return y[None], np.ones((1, problem.n)), problem.s[None]

    def slopes(self, solution: Solution, f: Array) -> tuple[Array, Array]:
        """Of the hinges ``s max(0, t - side f)``: -side s up to their kink, zero from there on."""
        side, t, s = self.terms(solution.problem, solution.parameters)
        slope, beyond = -side * s, t - side * f
        # From the left of f, side f is smaller for side = 1 and larger for side = -1.
        left = np.where((beyond > 0) | ((beyond == 0) & (side > 0)), slope, 0.0)
        right = np.where((beyond > 0) | ((beyond == 0) & (side < 0)), slope, 0.0)
        return left.sum(axis=0), right.sum(axis=0)

    def losses(self, solution: Solution, f: Array, rho: float = 1.0) -> float:
        """C sum_i s_i max(0, t_i - side_i f_i) over all hinges."""
        side, t, s = self.terms(solution.problem, solution.parameters)
        return float(solution.parameters["C"] * np.sum(s * np.maximum(t - side * f, 0.0)))

    def scale(self, problem: Problem) -> float:
        """What counts as one in the decision values."""
        return 1.0

    def place(self, status: int, sign: float) -> str:
        """The name of the place of a variable with this status and sign."""
        zero, elbow, limit = self.names
        if status == FREE:
            return elbow
        return zero if (status == LOW) == (sign > 0) else limit

    def term_places(self, a: Array, s: Array, near: float) -> Array:
        """The place of each sample, 0 to 2 as in ``names``, from the coefficients of its hinges and their limits s."""
        size, limit = a.max(axis=0), s.max(axis=0)
        return np.where(size <= near * limit, 0, np.where(size >= (1.0 - near) * limit, 2, 1))

    @abstractmethod
    def signs(self, problem: Problem) -> Array:
        """For each variable 1 where its box begins at zero and -1 where it ends there."""


def deviation(y: Array, s: Array) -> float:
    """The weighted standard deviation of targets; 1 if they are all alike."""
    return float(np.sqrt(np.average((y - np.average(y, weights=s)) ** 2, weights=s))) or 1.0


def labelled_box(y: Array, s: Array) -> tuple[Array, Array]:
    """Lower and upper bounds of theta: from 0 to y s."""
    return np.where(y > 0, 0.0, -s), np.where(y > 0, s, 0.0)


def hinge_violation(problem: Problem, C: float, alpha: Array, f: Array) -> float:
    """The largest distance of a margin from where its coefficient wants it, and the sum of alpha in units of C s."""
    rows = problem.active
    y, limit = problem.y[rows], C * problem.s[rows]
    a, slack = y * alpha[rows], 1.0 - y * f[rows]
    worst = np.where(a <= NEAR * limit, slack, np.where(a >= (1.0 - NEAR) * limit, -slack, np.abs(slack)))
    beyond = np.maximum(-a, a - limit) / limit
    return float(max(worst.max(initial=0.0), beyond.max(initial=0.0), problem.imbalance(alpha) / limit.sum()))


def hinge_gap(problem: Problem, C: float, alpha: Array, f: Array, b: float) -> float:
    """The duality gap of the hinge machine, relative to its primal objective."""
    y, limit = problem.y, C * problem.s
    a, margin = np.clip(y * alpha, 0.0, limit), y * f
    cancelled = limit[margin < 1.0].sum() + a[margin > 1.0].sum()
    primal = limit @ np.maximum(1.0 - margin, 0.0) + 0.5 * alpha @ (f - b)
    return relative_gap(hinge_excess(problem, C, alpha, f), primal, cancelled)


def hinge_excess(problem: Problem, C: float, alpha: Array, f: Array, rho: float = 1.0) -> float:
    """The duality gap as a sum over samples, of the hinge at a margin of rho."""
    limit, slack = C * problem.s, rho - problem.y * f
    a = np.clip(problem.y * alpha, 0.0, limit)
    return float((limit - a) @ np.maximum(slack, 0.0) + a @ np.maximum(-slack, 0.0))

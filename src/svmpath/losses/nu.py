"""The nu machine (nu-SVC), for classification.

The problem, with W = sum_i s_i and xi_i = max(0, rho - y_i f(x_i))::

    minimise   1/2 theta' K theta - nu W rho + sum_i s_i xi_i     over theta, b and rho,      f = K theta + b

Its dual is ``minimise 1/2 theta' K theta`` over theta_i between 0 and s_i y_i with sum_i theta_i = 0 and
sum_i y_i theta_i = nu W: the sum is nu W / 2 over the positive samples and -nu W / 2 over the negative ones, one group
each. With their multipliers nu+ and nu- a sample on the elbow has (K theta)_i = -nu+ or -nu-, and so

    rho = (nu- - nu+) / 2,     b = (nu+ + nu-) / 2.

As in scikit-learn's NuSVC all is divided by rho: the result is the hinge machine of C = 1 / rho. There is a solution
for 0 < nu <= 2 min(W+, W-) / W; where the classes overlap, rho falls to zero at some nu > 0, below which theta' K theta
is zero and nothing is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmpath.exceptions import NoMarginError
from svmpath.losses.base import Problem, Solution
from svmpath.losses.elbow import ElbowLoss, hinge_excess, hinge_gap, hinge_violation, labelled_box
from svmpath.losses.enclosure import Offsets
from svmpath.losses.path_parameter import PathParameter
from svmpath.parameters import Parameter
from svmpath.solvers.box_qp import FREE, LOW, UP, Program

Array = np.ndarray

_ROUNDING = 1e-12  # relative; a nu larger than feasible by no more is feasible
_NO_MARGIN = 1e-8  # a rho so small, in units of the largest |K theta| that can be, is rounding


@dataclass(frozen=True, repr=False, eq=False)
class NuSolution(Solution):
    """A nu machine.

    Attributes
    ----------
    rho : float
        The margin by which alpha, b and the decision values were divided.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.losses.Solution : The machine at one value.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> solution = svmpath.trace(X, y, loss="nu", over="nu", gamma=1.0)(0.5)
    >>> solution.rho > 0, solution.violation < 1e-9
    (True, True)
    """

    rho: float = 1.0


class Nu(ElbowLoss):
    """Formulas of the nu machine."""

    name = "nu"
    tasks = ("classification",)
    label, also_called = "nu", "nu-SVM"
    followed_by: ClassVar[Mapping[str, str]] = {"machine": "jump"}
    parameters = (Parameter("nu"),)
    names = ("right", "elbow", "left")
    beyond_largest = "twice the fraction of the smaller class"
    no_machine = "With this kernel the classes overlap too much"

    def limits(self, solution: Solution) -> Array:
        """s / rho."""
        return np.asarray(solution.problem.s / getattr(solution, "rho", 1.0))

    def default_span(self, over: str, y: Array, s: Array) -> tuple[float, float]:
        """From the largest feasible nu to a hundredth of it."""
        largest = self.largest(over, y, s)
        return largest, 0.01 * largest

    def largest(self, over: str, y: Array, s: Array) -> float:
        """The largest feasible nu, rounded so that nu W / 2 is no more than the lighter class has."""
        total, light = float(s.sum()), float(min(s[y > 0].sum(), s[y < 0].sum()))
        nu = 2.0 * light / total
        for _ in range(4):  # one is enough for one rounding
            if 0.5 * total * nu > light:
                nu = float(np.nextafter(nu, 0.0))
        return nu

    def program(self, problem: Problem, path_parameter: PathParameter, K: Array) -> Program:
        """t = -nu moves the sums of the two groups."""
        n, y, zero = problem.n, problem.y, np.zeros(problem.n)
        low, up = labelled_box(y, problem.s)
        b1 = 0.5 * problem.s.sum() * np.array([1.0, -1.0])  # the negative samples are group 0
        group = (y > 0).astype(np.int64)
        return Program(K, np.arange(n), group, zero, zero, low, zero, up, zero, np.zeros(2), b1, path_parameter.unit)

    def guess(self, problem: Problem, program: Program, t: float) -> tuple[Array, Array]:
        """In each class those nearest to the other class, until the sum is reached."""
        y, s, half = problem.y, problem.s, -0.5 * t * problem.s.sum()
        middle = program.product(np.where(y > 0, s / s[y > 0].sum(), -s / s[y < 0].sum()))
        theta, status = np.zeros(problem.n), np.where(y > 0, LOW, UP)
        for label in (-1.0, 1.0):
            mine = np.flatnonzero((y == label) & (s > 0))
            order = mine[np.argsort(label * middle[mine], kind="stable")]
            before = np.concatenate([[0.0], np.cumsum(s[order])[:-1]])
            size = np.clip(half - before, 0.0, s[order])
            theta[order] = label * size
            status[order[size == s[order]]] = UP if label > 0 else LOW
            status[order[np.flatnonzero(size > 0)[-1]]] = FREE
        return theta, status

    def read(self, problem: Problem, path_parameter: PathParameter, t: float, theta: Array, nu: Array) -> NuSolution:
        """alpha = theta / rho and so on."""
        values = path_parameter.at_t(t)
        rho, b = float(nu[0] - nu[1]) / 2.0, float(nu[0] + nu[1]) / 2.0
        if not rho > self._noise(problem, t):
            raise NoMarginError(
                f"At nu = {values['nu']:.6g} the margin rho is zero, because the classes overlap with this kernel; use "
                f"a larger nu (at most {self.largest('nu', problem.y, problem.s):.6g} is feasible; span=None finds the "
                "smallest) or another kernel."
            )
        values |= dict(problem.gram.kernel.parameters)
        return NuSolution(problem, self, theta / rho, b / rho, values, rho)

    @staticmethod
    def _noise(problem: Problem, t: float) -> float:
        """The rho below which decision values would keep fewer than eight digits."""
        return _NO_MARGIN * float(np.abs(problem.gram.diag).max()) * problem.s.sum() * -t

    def decision_values(self, product: Array, nu: Array, values: Mapping[str, float], total: Array | float) -> Array:
        """With the offset between the multipliers, divided by rho."""
        return (product + 0.5 * (nu[0] + nu[1])) / (0.5 * (nu[0] - nu[1]))

    def released(self, problem: Problem, t: float) -> Array:
        """The sums are nu (W - s_i) / 2 without sample i."""
        return -0.5 * t * problem.s[:, None] * np.array([1.0, -1.0])

    def check_left_out(self, problem: Problem, values: Array) -> None:
        """Refuse a nu for which there is no machine without some sample."""
        y, s = problem.y, problem.s
        totals = [s[y > 0].sum(), s[y < 0].sum()]
        own = np.where(y > 0, *totals) - s
        shares = 2.0 * np.minimum(own, np.where(y > 0, *totals[::-1])) / (s.sum() - s)
        largest = float(np.min(shares[problem.is_counted()]))
        if values.max() > largest * (1 + _ROUNDING):
            raise ValueError(
                f"nu = {values.max():.6g} is infeasible when a sample of the smaller class is left out: leave-one-out "
                f"needs nu of at most {largest:.6g}."
            )

    def exists(self, problem: Problem, nu: Array, t: float) -> Array:
        """Whether rho is above what is taken for zero."""
        return 0.5 * (nu[0] - nu[1]) > self._noise(problem, t)

    def is_clear(self, solution: Solution) -> bool:
        """Whether rho is well above what is taken for zero."""
        assert isinstance(solution, NuSolution)
        return solution.rho > 100.0 * self._noise(solution.problem, -solution.parameters["nu"])

    def signs(self, problem: Problem) -> Array:
        """The labels."""
        return problem.y

    def violation(self, solution: Solution) -> float:
        """That of the hinge machine of C = 1 / rho, and of the sum of the coefficients."""
        assert isinstance(solution, NuSolution)
        problem, rho = solution.problem, solution.rho
        total = problem.s.sum() * solution.parameters["nu"]
        missed = abs(rho * (problem.y @ solution.alpha) - total) / total
        return max(hinge_violation(problem, 1.0 / rho, solution.alpha, solution.fitted), float(missed))

    def gap(self, solution: Solution) -> float:
        """That of the hinge machine of C = 1 / rho."""
        assert isinstance(solution, NuSolution)
        return hinge_gap(solution.problem, 1.0 / solution.rho, solution.alpha, solution.fitted, solution.b)

    def unit(self, solution: Solution) -> float:
        """rho."""
        assert isinstance(solution, NuSolution)
        return solution.rho

    def excess(self, solution: Solution, alpha: Array, f: Array, rho: float = 1.0) -> float:
        """sum_i [ (s_i - a_i) max(0, rho - y_i f_i) + a_i max(0, y_i f_i - rho) ]."""
        return hinge_excess(solution.problem, 1.0, alpha, f, rho)

    def losses(self, solution: Solution, f: Array, rho: float = 1.0) -> float:
        """-nu W rho + sum_i s_i xi_i."""
        y, s = solution.problem.y, solution.problem.s
        return float(s @ np.maximum(rho - y * f, 0.0) - solution.parameters["nu"] * s.sum() * rho)

    def enclose(self, solution: Solution, low: Array, high: Array) -> Offsets:
        """The offset and rho.

        With h = K theta the positive samples have xi = max(0, p - h), p = rho - b, the negative ones
        xi = max(0, q + h), q = rho + b: p is where the weights of those below add up to nu W / 2, and so is q of -h.
        """
        y, s = solution.problem.y, solution.problem.s
        half = 0.5 * solution.parameters["nu"] * float(s.sum())
        p = _where(low[y > 0], s[y > 0], half)[0], _where(high[y > 0], s[y > 0], half)[1]
        q = _where(-high[y < 0], s[y < 0], half)[0], _where(-low[y < 0], s[y < 0], half)[1]
        return Offsets(0.5 * (q[0] - p[1]), 0.5 * (q[1] - p[0]), (0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])))


def _where(h: Array, s: Array, half: float) -> tuple[float, float]:
    """The lowest and highest h at which the weights of those before add up to half, up to rounding."""
    h, s = h[s > 0], s[s > 0]
    order = np.argsort(h, kind="stable")
    total = np.cumsum(s[order])
    first, last = np.searchsorted(total, [half * (1 - _ROUNDING), half * (1 + _ROUNDING)], side="left")
    return float(h[order[min(first, len(h) - 1)]]), float(h[order[min(last, len(h) - 1)]])

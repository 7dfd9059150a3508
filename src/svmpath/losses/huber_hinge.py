"""The huberised hinge machine, for classification: the hinge with its kink rounded off over a width h.

The problem, with u_i = 1 - y_i f(x_i)::

    minimise   C sum_i s_i H(u_i) + 1/2 alpha' K alpha,      f = K alpha + b,    sum_i alpha_i = 0
    H(u) = 0 for u <= 0,   u^2 / (2 h) for 0 < u < h,   u - h / 2 for u >= h

Setting the derivatives to zero gives alpha_i = C s_i y_i clip(u_i / h, 0, 1): a sample is "right" (u <= 0, alpha = 0),
on the "slope" (0 < u < h), or "left" (u >= h, alpha = C s y). For h to 0 this is the hinge machine of the same C; for
h above every u it is the squared hinge machine of C / (2 h).

The dual problem maximises, over a_i = y_i alpha_i / (C s_i) in [0, 1] with sum_i alpha_i = 0,
``sum_i C s_i (a_i - h a_i^2 / 2) - 1/2 alpha' K alpha``. At any such a and any b the gap is

    C sum_i s_i [ H(u_i) + h a_i^2 / 2 - a_i u_i ]
        = C sum_i s_i [ (h a_i - v_i)^2 / (2 h) + (1 - a_i) max(0, u_i - h) + a_i max(0, -u_i) ]

with v_i = clip(u_i, 0, h): a sum of terms that are not negative, so that nothing cancels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmpath.lazy import with_known
from svmpath.losses.base import Loss, Problem, Solution, relative_gap
from svmpath.losses.features import feature_rows
from svmpath.parameters import Parameter
from svmpath.solvers.feature_newton import AnyRows, Rows
from svmpath.solvers.huber_newton import LEFT, RIGHT, SLOPE, HuberMachines, Point, best_offset
from svmpath.solvers.samples import balanced
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_NEAR = 1e-10  # a coefficient nearer to its bound than this, relative to the box, is at it
_DIGITS = 1e-9  # violation from which on a machine found in the features is tried in the samples, too
_MOST_SAMPLES = 1000  # on the slope, up to which that is affordable
_REFINE = 2  # steps of refinement of the coefficients
_MOST_SYSTEMS = 40  # dual systems that are solved at most for the places of one machine
_AT_ONCE = 4  # of them, those after which the worst sample alone changes its place, and not all that are wrong


@dataclass(frozen=True)
class HuberHinge(Loss):
    """Formulas of the huberised hinge machine.

    Parameters
    ----------
    h : float, default=0.5
        The width of the slope between samples without a loss and those whose loss is linear.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.newton_path.NewtonPath : The huberised hinge over C.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.losses import HuberHinge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss=HuberHinge(h=0.2), span=(1e-2, 1e2))
    >>> path(1.0).gap < 1e-10
    True
    """

    h: float = 0.5

    name = "huber_hinge"
    tasks = ("classification",)
    label = "huberised hinge"
    followed_by: ClassVar[Mapping[str, str]] = {"machine": "newton"}
    kink = "slope"
    names: ClassVar[tuple[str, str, str]] = ("right", "slope", "left")

    def __post_init__(self) -> None:
        Parameter("h").check(self.h)

    @property
    def own(self) -> Mapping[str, float]:
        """The width of the slope."""
        return {"h": self.h}

    # --- machines, for NewtonPath -----------------------------------------------------------------------

    def rows(self, problem: Problem) -> AnyRows:
        """Features whose inner products are the kernel up to the offset, with labels and weights."""
        return feature_rows(problem)

    def machines(self, rows: AnyRows) -> HuberMachines:
        """What finds the machines of these rows by Newton's method."""
        return HuberMachines(Rows(rows.A, rows.y, rows.s, rows.matrix), self.h)  # in double precision

    def solve(self, problem: Problem, machines: HuberMachines, point: Point, C: float) -> Solution:
        """The machine at C, from a point near it, its coefficients with as many digits as there are."""
        point = machines.at(C, point)
        on_slope = np.count_nonzero(point.E == SLOPE)
        if on_slope <= machines.rows.A.shape[1]:
            return self._in_samples(problem, point.E, C)
        found = self._refined(problem, machines, point, C)
        if found.violation <= _DIGITS or on_slope > _MOST_SAMPLES:
            return found
        return min(found, self._in_samples(problem, point.E, C), key=lambda each: each.violation)

    def _in_samples(self, problem: Problem, E: Array, C: float) -> Solution:
        """The machine by the dual system of the samples on the slope; who turns out to be elsewhere is moved there.

        Newton's method takes places by the decision values. For large C s they hardly separate samples on the slope
        from those on the right, where the signs of the coefficients still do.
        """
        best: Solution | None = None
        for attempt in range(_MOST_SYSTEMS):
            solution = self._of_places(problem, E, C)
            if best is None or solution.violation < best.violation:
                best = solution
            wanted, wrong = self._places(solution, E)
            moved = np.flatnonzero(wanted != E)
            if len(moved) == 0:
                break
            if attempt >= _AT_ONCE:
                moved = moved[[np.argmax(wrong[moved])]]
            E = E.copy()
            E[moved] = wanted[moved]
        assert best is not None
        share = problem.y * best.alpha / (C * np.where(problem.s > 0, problem.s, 1.0))
        if share.min() >= 0.0 and share.max() <= 1.0:
            return best
        limit = C * problem.s
        return self._solution(problem, problem.y * np.clip(problem.y * best.alpha, 0.0, limit), best.b, C)

    def _of_places(self, problem: Problem, E: Array, C: float) -> Solution:
        """The machine in which samples have these places; coefficients of the slope may leave their box."""
        y, s, h = problem.y, problem.s, self.h
        Q = np.flatnonzero(E == SLOPE)
        alpha = np.where(E == LEFT, C * s * y, 0.0)
        if len(Q) == 0:
            return self._solution(problem, alpha, best_offset(problem.gram.matmul(alpha), y, s, h), C)
        alpha[Q] = -alpha.sum() * s[Q] / s[Q].sum()  # any that brings the sum to zero
        rest = y[Q] - problem.gram.matmul(alpha)[Q] - h * alpha[Q] / (C * s[Q])
        with blas_threads(len(Q) ** 2):
            alpha[Q] += balanced(problem.gram.block(Q, Q), rest, s[Q], C / (2.0 * h))
        return self._with_mean_offset(problem, alpha, Q, C)

    def _places(self, solution: Solution, E: Array) -> tuple[Array, Array]:
        """Where each sample belongs by its coefficient or else its u, and how wrong it is where it is."""
        problem, C, h = solution.problem, solution.parameters["C"], self.h
        s = np.where(problem.s > 0, problem.s, np.inf)
        share = problem.y * solution.alpha / (C * s)
        u = np.where(problem.s > 0, 1.0 - problem.y * solution.fitted, 0.0)
        on, rounding = E == SLOPE, solution.rounding
        wanted = np.where(on & (share < 0.0), RIGHT, np.where(on & (share > 1.0), LEFT, E)).astype(E.dtype)
        wanted[(E == RIGHT) & (u > rounding) & (problem.s > 0)] = SLOPE
        wanted[(E == LEFT) & (u < h - rounding)] = SLOPE
        off = np.where(on, h * np.maximum(-share, share - 1.0), np.where(E == LEFT, h - u, u))
        return wanted, off

    def _refined(self, problem: Problem, machines: HuberMachines, point: Point, C: float) -> Solution:
        """The machine from a point near it, by steps in the features, while they bring it nearer."""
        y, s, h, E = problem.y, problem.s, self.h, point.E
        Q = np.flatnonzero(E == SLOPE)
        A, limit, factored = machines.rows.A[Q], C * s[Q], machines.factor(E)
        alpha = np.where(E == LEFT, C * s * y, 0.0)
        alpha[Q] = limit * (y[Q] - point.f[Q]) / h
        best = self._with_mean_offset(problem, alpha, Q, C)
        for _ in range(_REFINE):
            # The system K alpha + h alpha / (C s) + b = y on Q, 1'alpha = 0, solved for what is left of it.
            rest = (y - best.fitted)[Q] - h * best.alpha[Q] / limit
            right = A.T @ (s[Q] * rest)
            right[-1] += h * best.alpha.sum() / C
            alpha = best.alpha.copy()
            alpha[Q] += limit / h * (rest - A @ factored.solve(right))
            new = self._with_mean_offset(problem, alpha, Q, C)
            if not new.violation < best.violation:
                break
            best = new
        return best

    def _with_mean_offset(self, problem: Problem, alpha: Array, Q: Array, C: float) -> Solution:
        """The solution with these coefficients; its offset is what the samples Q leave for it on average."""
        s, product = problem.s[Q], problem.gram.matmul(alpha)
        rest = s @ (problem.y - product)[Q] - self.h * alpha[Q].sum() / C
        solution = self._solution(problem, alpha, float(rest / s.sum()), C)
        return with_known(solution, fitted=product + solution.b)

    def _solution(self, problem: Problem, alpha: Array, b: float, C: float) -> Solution:
        return Solution(problem, self, alpha, b, {"C": C, "h": self.h, **problem.gram.kernel.parameters})

    # --- how good a machine is ---------------------------------------------------------------------------------------

    def violation(self, solution: Solution) -> float:
        """The largest distance of u from where its coefficient wants it, and the sum of alpha in units of C s."""
        problem, rows = solution.problem, solution.problem.active
        y, limit = problem.y[rows], solution.parameters["C"] * problem.s[rows]
        a, u = y * solution.alpha[rows] / limit, 1.0 - y * solution.fitted[rows]
        off = np.where(a <= _NEAR, u, np.where(a >= 1.0 - _NEAR, self.h - u, np.abs(u - self.h * a)))
        beyond = np.maximum(-a, a - 1.0)
        balance = abs(solution.alpha.sum()) / limit.sum()
        return float(max(off.max(initial=0.0), beyond.max(initial=0.0), balance))

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective, relative to the primal."""
        problem, rows, h = solution.problem, solution.problem.active, self.h
        y, limit = problem.y[rows], solution.parameters["C"] * problem.s[rows]
        a, u = np.clip(y * solution.alpha[rows] / limit, 0.0, 1.0), 1.0 - y * solution.fitted[rows]
        v, over, under = np.clip(u, 0.0, h), np.maximum(u - h, 0.0), np.maximum(-u, 0.0)
        gap = limit @ ((h * a - v) ** 2 / (2.0 * h) + (1.0 - a) * over + a * under)
        primal = limit @ (v**2 / (2.0 * h) + over) + 0.5 * solution.alpha @ (solution.fitted - solution.b)
        return relative_gap(gap, primal, limit[u > 0].sum() + (limit * a)[u < 0].sum())

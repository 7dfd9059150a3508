"""Losses that are quadratic in pieces: all of a machine follows from the knots of its loss and the curvatures between.

The problem, with L of ``solvers.pieces`` and u_i = 1 - y_i f(x_i) (z_i = y_i) or u_i = y_i - f(x_i) (z_i = 1)::

    minimise   C sum_i s_i L(u_i) + 1/2 alpha' K alpha,      f = K alpha + b,    sum_i alpha_i = 0

Setting the derivatives to zero gives alpha_i = C s_i z_i L'(u_i). While every sample stays on its piece, on which
L' = p_i + c_i u, samples on linear pieces (c = 0) have the coefficient C s z p, and the others, Q, solve

    K alpha + alpha / (C s c) + b = y + z p / c  on Q,      1'alpha = 0

Without an offset b is zero, and the sum of the coefficients is free (``Problem.offset``).

With a_i = z_i alpha_i / (C s_i), the dual problem maximises ``sum_i [ z_i y_i a_i C s_i - C s_i L*(a_i) ] -
1/2 alpha' K alpha``. At any a in the range of L' and any b the gap is

    C sum_i s_i [ L(u_i) + L*(a_i) - a_i u_i ]

a sum of terms that are not negative, so that nothing cancels (``Pieces.excess``).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from svmpath.lazy import with_known
from svmpath.losses.base import Loss, Problem, Solution
from svmpath.losses.features import feature_rows
from svmpath.solvers.feature_newton import AnyRows, FeatureNewton, FeaturePoint
from svmpath.solvers.pieces import Pieces
from svmpath.solvers.samples import balanced
from svmpath.solvers.single_rows import SingleRows
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_AS_GOOD_AS_EXACT = 1e-11  # violation, in units of decision values, of a machine that need not be solved again
_DIGITS = 1e-9  # violation from which on a machine found in the features is tried in the samples, too
_MOST_SAMPLES = 1000  # on curved pieces, up to which that is affordable
_DOUBLE_FROM = 1e-3  # violation from which on a machine in single precision is solved again in double precision
_REFINE = 2  # steps of refinement of the coefficients
_MOST_SYSTEMS = 60  # dual systems that are solved at most for the pieces of one machine
_AT_ONCE = 4  # of them, those after which the worst sample alone changes its piece, and not all that are wrong


class PiecewiseQuadratic(Loss):
    """Formulas of the machines of a loss that is quadratic in pieces.

    Attributes
    ----------
    names : tuple of str
        The name of each piece.
    """

    names: ClassVar[tuple[str, ...]]
    can_lack_offset = True

    @property
    @abstractmethod
    def pieces(self) -> Pieces:
        """Its knots and curvatures."""

    # --- machines ----------------------------------------------------------------------------------------------------

    def rows(self, problem: Problem) -> AnyRows:
        """Features whose inner products are the kernel up to the offset, with labels and weights."""
        return feature_rows(problem)

    def solve(self, problem: Problem, newton: FeatureNewton, point: FeaturePoint, C: float) -> Solution:
        """The machine at C, from a point near it, its coefficients with as many digits as there are."""
        point, _ = newton.at(1.0 / C, point)
        curved = np.count_nonzero(newton.system.curved(point.E))
        if curved <= newton.rows.width:
            return self.in_samples(problem, point.E, C)
        found = self._refined(problem, newton, point, C)
        rows = newton.rows
        if isinstance(rows, SingleRows) and rows.arithmetic is np.float32 and found.violation > _DOUBLE_FROM:
            return self.solve(problem, FeatureNewton.of(self.pieces, rows.doubled()), point, C)
        if not self.pieces.is_bounded or found.violation <= _DIGITS or curved > _MOST_SAMPLES:
            return found
        return min(found, self.in_samples(problem, point.E, C), key=lambda each: each.violation)

    def polished(self, problem: Problem, alpha: Array, E: Array, C: float) -> Solution:
        """The machine of these coefficients if they are good to rounding; else by its dual system on the pieces E."""
        solution = self._machine(problem, alpha, E, C)
        return solution if solution.violation <= _AS_GOOD_AS_EXACT else self.in_samples(problem, E, C)

    def in_samples(self, problem: Problem, E: Array, C: float) -> Solution:
        """The machine by the dual system of its curved samples; those that turn out to be on other pieces are moved.

        Newton's method takes pieces by the decision values. For large C s they hardly separate samples on a curved
        piece from those next to it, where the coefficients still do.
        """
        loss, counts = self.pieces, problem.s > 0
        slopes = np.array([-np.inf, *loss.at_knots]), np.array([*loss.at_knots, np.inf])
        kept = (
            0 if loss.is_bounded or not problem.offset else 1
        )  # curved samples that stay: with none left there is no offset
        found: list[Solution] = []
        for attempt in range(_MOST_SYSTEMS):
            most = problem.n if attempt < _AT_ONCE else 1  # to move all has led round in circles
            solution, E = self._of_regions(problem, E, C), E.copy()
            curved, k = loss.is_curved(E) & counts, E.astype(np.int8)
            # By how much the slope leaves its piece, where there is a curvature; and u, where there is none.
            a = loss.signed(problem.y, solution.alpha) / (C * np.where(counts, problem.s, np.inf))
            over, under = np.where(curved, a - slopes[1][k], 0.0), np.where(curved, slopes[0][k] - a, 0.0)
            most_leaving = min(most, int(curved.sum()) - kept)
            if not np.any((over > 0) | (under > 0)):
                found.append(solution)
                u = loss.u(problem.y, solution.fitted)
                stays, rounding = curved | ~counts, solution.rounding
                over = np.where(stays, 0.0, u - loss.high[k] - rounding)
                under = np.where(stays, 0.0, loss.low[k] - u - rounding)
                most_leaving = most
            off = np.maximum(over, under)
            moved = np.flatnonzero(off > 0)
            if len(moved) == 0:
                return solution
            moved = moved[np.argsort(-off[moved], kind="stable")[:most_leaving]]
            E[moved] = (k[moved] + np.where(over[moved] > 0, 1, -1)).astype(E.dtype)
        if found or not loss.is_bounded:
            return min(found or [solution], key=lambda each: each.violation)
        a, box = loss.signed(problem.y, solution.alpha), C * problem.s  # brought into the box that there is
        a = np.clip(a, box * loss.range[0], box * loss.range[1])
        return self._solution(problem, loss.signed(problem.y, a), solution.b, C)

    def _fixed(self, problem: Problem, E: Array, C: float) -> Array:
        """The coefficients of samples on linear pieces; zero on the others."""
        loss = self.pieces
        if not loss.has_linear:
            return np.zeros(problem.n)
        p = np.where(loss.is_curved(E), 0.0, loss.of_regions(loss.slopes, E))
        return loss.signed(problem.y, C * problem.s * p)

    def _curved(self, problem: Problem, E: Array) -> tuple[Array, Array, Array]:
        """The samples Q, their s c and their targets y + z p / c."""
        loss = self.pieces
        Q = np.flatnonzero(loss.is_curved(E) & (problem.s > 0))
        c, p = (loss.of_regions(each, E[Q]) for each in (loss.curvature, loss.slopes))
        return Q, problem.s[Q] * c, problem.y[Q] + loss.signed(problem.y[Q], p / c)

    def _of_regions(self, problem: Problem, E: Array, C: float) -> Solution:
        """The machine in which samples have these pieces; coefficients of curved pieces may leave their range."""
        alpha, (Q, weight, target) = self._fixed(problem, E, C), self._curved(problem, E)
        if len(Q) == 0:
            f = problem.gram.matmul(alpha)
            offset = self.pieces.best_offset(f, problem.y, problem.s) if problem.offset else 0.0
            return self._solution(problem, alpha, offset, C)
        if alpha.any():
            if problem.offset:
                alpha[Q] = -alpha.sum() * weight / weight.sum()  # any that brings the sum to zero
            target = target - problem.gram.matmul(alpha)[Q] - alpha[Q] / (C * weight)
        with blas_threads(len(Q) ** 2):
            alpha[Q] += balanced(problem.gram.block(Q, Q), target, 0.5 * weight, C, offset=problem.offset)
        return self._machine(problem, alpha, E, C)

    def _refined(self, problem: Problem, newton: FeatureNewton, point: FeaturePoint, C: float) -> Solution:
        """The machine from a point near it, by steps in the features, while they bring it nearer."""
        loss, factored = self.pieces, newton.system.factor(point.E, 1.0 / C)
        alpha, (Q, weight, target) = self._fixed(problem, point.E, C), self._curved(problem, point.E)
        alpha[Q] = C * weight * (target - point.f[Q])
        every, best = np.zeros(problem.n), self._machine(problem, alpha, point.E, C)
        for _ in range(_REFINE):
            # The system K alpha + alpha / (C s c) + b = y + z p / c on Q, 1'alpha = 0, solved for what is left of it.
            rest = target - best.fitted[Q] - best.alpha[Q] / (C * weight)
            every[Q] = weight / loss.largest * rest
            right = newton.rows.rmatvec(every)
            right[-1] = right[-1] + best.alpha.sum() / (C * loss.largest) if problem.offset else 0.0
            alpha = best.alpha.copy()
            alpha[Q] += C * weight * (rest - newton.rows.matvec(factored.solve(right))[Q])
            new = self._machine(problem, alpha, point.E, C)
            if not new.violation < best.violation:
                break
            best = new
        return best

    def _machine(self, problem: Problem, alpha: Array, E: Array, C: float) -> Solution:
        """The solution with these coefficients; its offset is what the curved samples leave for it on average."""
        Q, weight, target = self._curved(problem, E)
        product = problem.gram.matmul(alpha)
        rest = target - product[Q] - alpha[Q] / (C * weight)
        b = float(weight @ rest / weight.sum()) if problem.offset else 0.0
        solution = self._solution(problem, alpha, b, C)
        return with_known(solution, fitted=product + solution.b)

    def _solution(self, problem: Problem, alpha: Array, b: float, C: float) -> Solution:
        return Solution(problem, self, alpha, b, {"C": C, **self.fixed_parameters, **problem.gram.kernel.parameters})

    # --- how good a machine is ---------------------------------------------------------------------------------------

    def violation(self, solution: Solution) -> float:
        """The largest of ``|L'(u_i) - a_i|`` over the largest curvature, and the sum of alpha in the same units."""
        problem, loss, rows = solution.problem, self.pieces, solution.problem.active
        y, box = problem.y[rows], solution.parameters["C"] * problem.s[rows]
        a = loss.signed(y, solution.alpha[rows]) / box
        mismatch = np.abs(loss.derivative(loss.u(y, solution.fitted[rows])) - a).max(initial=0.0)
        return float(max(mismatch, problem.imbalance(solution.alpha) / box.sum()) / loss.largest)

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective over the primal."""
        problem, loss, rows = solution.problem, self.pieces, solution.problem.active
        y, box = problem.y[rows], solution.parameters["C"] * problem.s[rows]
        gap = self.excess(solution, solution.alpha, solution.fitted)
        primal = self.losses(solution, solution.fitted) + 0.5 * solution.alpha @ (solution.fitted - solution.b)
        # Without any loss and penalty, what counts as small is measured by the loss of no machine at all.
        zero = np.finfo(float).eps * (box @ loss.value(loss.u(y, np.zeros(len(y)))))
        return float(gap / max(abs(primal), zero, np.finfo(float).tiny))

    def excess(self, solution: Solution, alpha: Array, f: Array, rho: float = 1.0) -> float:
        """C sum_i s_i [ L(u_i) + L*(a_i) - a_i u_i ]."""
        problem, loss, rows = solution.problem, self.pieces, solution.problem.active
        y, box = problem.y[rows], solution.parameters["C"] * problem.s[rows]
        return float(box @ loss.excess(loss.u(y, f[rows]), loss.signed(y, alpha[rows]) / box))

    def losses(self, solution: Solution, f: Array, rho: float = 1.0) -> float:
        """C sum_i s_i L(u_i)."""
        problem, rows = solution.problem, solution.problem.active
        u = self.pieces.u(problem.y[rows], f[rows])
        return float(solution.parameters["C"] * (problem.s[rows] @ self.pieces.value(u)))

    def slopes(self, solution: Solution, f: Array) -> tuple[Array, Array]:
        """-z s L'(u), from both sides."""
        problem, loss = solution.problem, self.pieces
        slope = -problem.s * loss.signed(problem.y, loss.derivative(loss.u(problem.y, f)))
        return slope, slope

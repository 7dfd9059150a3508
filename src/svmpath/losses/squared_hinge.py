"""The squared hinge machine (l2-SVM), for classification.

The problem, with xi_i = max(0, 1 - y_i f(x_i))::

    minimise   C sum_i s_i xi_i^2 + 1/2 alpha' K alpha,      f = K alpha + b

Setting the derivatives to zero gives alpha_i = 2 C s_i y_i xi_i, so that only the samples of place "left" (E, y f < 1)
have a coefficient, and on them y_i xi_i = y_i - f_i: the machine is the least squares machine of the samples E.
Bonidal, Tindel & Guermeur write lambda for 1 / C and count coefficients as alpha / y.

The dual problem maximises, over a_i = y_i alpha_i >= 0 with sum_i y_i a_i = 0,
``sum_i a_i - 1/2 alpha' K alpha - sum_i a_i^2 / (4 C s_i)``. At any such a and any b the gap is, with
eta_i = max(0, y_i f_i - 1),

    sum_i [ C s_i (xi_i - a_i / (2 C s_i))^2 + a_i eta_i ]
"""

from __future__ import annotations

import numpy as np

from svmpath.gram import DenseGram
from svmpath.lazy import with_known
from svmpath.losses.base import Loss, Problem, Solution
from svmpath.solvers.feature_newton import ActiveSystem, AnyRows, Factored, FewSamples, Point, Rows, minimise
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.samples import KernelMatrix, balanced
from svmpath.solvers.single_rows import SingleRows
from svmpath.solvers.spectral import thin_factor
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_AS_GOOD_AS_EXACT = 1e-11  # violation, in units of decision values, of a machine that need not be solved again
_DOUBLE_FROM = 1e-3  # violation from which on a machine in single precision is solved again in double precision
_REFINE = 2  # steps of refinement of the coefficients
_REPAIRS = 60  # dual systems that are solved at most for the sides of one machine
_AT_ONCE = 4  # of them, those after which all samples on the wrong side change it


class SquaredHinge(Loss):
    """Formulas of the squared hinge machine."""

    name = "squared_hinge"
    tasks = ("classification",)

    def rows(self, problem: Problem) -> AnyRows:
        """Features whose inner products are the kernel up to the offset, with labels and weights."""
        gram = problem.gram
        with blas_threads(gram.entries):
            Z = gram.Z if gram.Z is not None else _factor(gram)
            if Z.dtype == np.float32:
                return SingleRows.of(Z, problem.y, problem.s)
            return Rows.of(Z, problem.y, problem.s, self._matrix(problem))

    @staticmethod
    def _matrix(problem: Problem) -> KernelMatrix | None:
        return KernelMatrix(problem.gram.K) if isinstance(problem.gram, DenseGram) else None

    def solve(
        self, problem: Problem, rows: AnyRows, point: Point, C: float, system: ActiveSystem | None = None
    ) -> Solution:
        """The machine at C, from a point near it, and the system of some rows that is known perhaps."""
        point, factored = minimise(rows, ActiveSystem(rows) if system is None else system, 1.0 / C, point)
        E = np.flatnonzero(point.E)
        if len(E) == 0:
            return self._solution(problem, np.zeros(problem.n), float(point.theta[-1]), C)
        if len(E) <= rows.width:
            return self.in_samples(problem, E, C)
        alpha = np.zeros(problem.n)
        alpha[E] = 2 * C * rows.s[E] * (rows.y[E] - point.f[E])
        found = self._refined(problem, rows, factored, E, alpha, C)
        if isinstance(rows, SingleRows) and rows.arithmetic is np.float32 and found.violation > _DOUBLE_FROM:
            return self.solve(problem, rows.doubled(), point, C)
        return found

    def polished(self, problem: Problem, alpha: Array, E: Array, C: float) -> Solution:
        """The machine of these coefficients if they are good to rounding; else by its dual system on the samples E."""
        solution = self._machine(problem, alpha, E, C)
        return solution if solution.violation <= _AS_GOOD_AS_EXACT else self.in_samples(problem, E, C)

    def in_samples(self, problem: Problem, E: Array, C: float) -> Solution:
        """The machine by its dual system on the samples E; who turns out to be on the other side is moved there.

        Newton's method takes sides by the decision values. For large C s they hardly differ from the margin, where
        the signs of the coefficients still do.
        """
        y, s = problem.y, problem.s
        found: list[Solution] = []
        for attempt in range(_REPAIRS):
            alpha = np.zeros(problem.n)
            with blas_threads(len(E) ** 2):
                alpha[E] = balanced(problem.gram.block(E, E), y[E], s[E], C)
            solution = self._machine(problem, alpha, E, C)
            most = len(y) if attempt < _AT_ONCE else 1  # then the worst alone: to move all has led round in circles
            a = y * alpha
            negative = E[a[E] < 0]
            if len(negative):
                # One at least stays: where rounding turns all signs there would be none left to begin again with.
                E = np.setdiff1d(E, negative[np.argsort(a[negative])[: min(most, len(E) - 1)]])
                continue
            found.append(solution)
            slack = np.where(s > 0, 1.0 - y * solution.fitted, 0.0)
            slack[E] = 0.0
            missing = np.flatnonzero(slack > solution.rounding)
            if len(missing) == 0:
                return solution
            E = np.union1d(E, missing[np.argsort(-slack[missing])[:most]])
        return min(found or [solution], key=lambda each: each.violation)

    def _refined(
        self, problem: Problem, rows: AnyRows, factored: Factored | FewSamples, E: Array, alpha: Array, C: float
    ) -> Solution:
        """The machine from coefficients near it, by steps in the features, while they bring it nearer."""
        some, s = rows.among(E), rows.s[E]
        best = self._machine(problem, alpha, E, C)
        for _ in range(_REFINE):
            # The system (K + 1 / (2 C s)) alpha + b = y on E, 1'alpha = 0, solved for what is left of it.
            left = (problem.y - best.fitted)[E] - best.alpha[E] / (2 * C * s)
            right = some.pull(s * left)
            right[-1] += best.alpha.sum() / (2 * C)
            alpha = best.alpha.copy()
            alpha[E] += 2 * C * s * (left - some.decide(factored.solve(right)))
            new = self._machine(problem, alpha, E, C)
            if not new.violation < best.violation:
                break
            best = new
        return best

    def _machine(self, problem: Problem, alpha: Array, E: Array, C: float) -> Solution:
        """The solution with these coefficients; its offset is what the samples E leave for it on average."""
        s, f = problem.s[E], problem.gram.matmul(alpha)
        left = (problem.y - f)[E] - alpha[E] / (2 * C * s)
        solution = self._solution(problem, alpha, float(s @ left / s.sum()), C)
        return with_known(solution, fitted=f + solution.b)

    def _solution(self, problem: Problem, alpha: Array, b: float, C: float) -> Solution:
        return Solution(problem, self, alpha, b, {"C": C, **problem.gram.kernel.parameters})

    def violation(self, solution: Solution) -> float:
        """Largest of ``|xi_i - a_i / (2 C s_i)|``, and of the sum of alpha in the same units."""
        problem, C = solution.problem, solution.parameters["C"]
        mean = abs(solution.alpha.sum()) / (2 * C * problem.s.sum())
        return float(max(np.abs(self._mismatch(solution)).max(initial=0.0), mean))

    def gap(self, solution: Solution) -> float:
        """Primal minus dual objective over the primal."""
        problem, C = solution.problem, solution.parameters["C"]
        margin = problem.y * solution.fitted
        xi, eta = np.maximum(1.0 - margin, 0.0), np.maximum(margin - 1.0, 0.0)
        a = np.maximum(problem.y * solution.alpha, 0.0)
        primal = C * (problem.s @ xi**2) + 0.5 * solution.alpha @ (solution.fitted - solution.b)
        rows = problem.active
        gap = C * (problem.s[rows] @ self._mismatch(solution) ** 2) + a @ eta
        # As for least squares: without any loss and penalty, what counts as small is measured by the labels.
        zero = np.finfo(float).eps * C * problem.s.sum()
        return float(gap / max(abs(primal), zero))

    def _mismatch(self, solution: Solution) -> Array:
        problem, C = solution.problem, solution.parameters["C"]
        rows = problem.active
        y = problem.y[rows]
        xi = np.maximum(1.0 - y * solution.fitted[rows], 0.0)
        return xi - y * solution.alpha[rows] / (2 * C * problem.s[rows])


def _factor(gram: object) -> Array:
    """Z with K = Z Z' to rounding."""
    assert isinstance(gram, DenseGram)
    Z = thin_factor(gram.K, most=gram.n)
    if Z is not None:
        return Z
    values, Q = interruptible(np.linalg.eigh, gram.K)
    if values[0] < -1e-8 * max(values[-1], 0.0):
        raise ValueError(
            f"This path needs a positive semi-definite kernel, but the matrix of {gram.kernel!r} is indefinite; "
            "use rank=gram.Clipped() to replace it by its positive semi-definite part, or loss='least_squares'."
        )
    kept = values > 0
    return Q[:, kept] * np.sqrt(values[kept])

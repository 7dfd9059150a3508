"""The squared hinge in the primal, as Newton's method (``solvers.newton``) takes it.

The problem, in features Z (K = Z Z'), A = [Z, 1], theta = (w, b), lam = 1 / C::

    minimise   J(theta) = sum_i s_i max(0, 1 - y_i f_i)^2 + lam/2 |w|^2,      f = A theta

J is convex, once differentiable and piecewise quadratic: with E = {i : y_i f_i < 1} the minimiser of the piece solves

    M_E theta = c_E,     M_E = A_E' S A_E + lam/2 D,     c_E = A_E' S y,     D = diag(1, .., 1, 0)

and it is the minimiser of J when its own E is the same. A_E' S A_E is kept and changed by the rows that change sides.
Where the kernel matrix is dense and E is smaller than theta, the system is solved in the samples E instead
(``solvers.samples``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, lapack

from svmpath.exceptions import PathError
from svmpath.lazy import lazy
from svmpath.solvers.line_search import exact_step
from svmpath.solvers.newton import PiecewiseQuadratic
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.samples import KernelMatrix
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

MOST_STEPS = 300  # of Newton's method per machine
_MARGIN_TIE = 1e-11  # samples so close to the margin (times the size of f) may be on either side
_REBUILD_SHARE = 0.6  # share of E that may change at once before A_E' S A_E is formed anew
_REBUILD_AFTER = 4  # times the number of rows that may have changed in all before it is formed anew


@dataclass(frozen=True)
class Rows:
    """The data: A = [Z, 1], labels y, weights s, and K = Z Z' where it is dense."""

    A: Array
    y: Array
    s: Array
    matrix: KernelMatrix | None = None

    @staticmethod
    def of(Z: Array, y: Array, s: Array, matrix: KernelMatrix | None = None) -> Rows:
        """The rows of a feature matrix."""
        return Rows(np.column_stack([Z, np.ones(len(Z))]), y, s, matrix)

    @lazy
    def plain(self) -> bool:
        """Whether every weight is one."""
        return bool(np.all(self.s == 1.0))

    def moments(self, which: Array) -> tuple[Array, Array]:
        """A' S A and A' S y of some of the rows."""
        every = len(which) == len(self.y)
        A, y = (self.A, self.y) if every else (self.A[which], self.y[which])
        if self.plain:
            return A.T @ A, A.T @ y
        s = self.s if every else self.s[which]
        scaled = A * np.sqrt(s)[:, None]
        return scaled.T @ scaled, A.T @ (s * y)


@dataclass(frozen=True)
class Point:
    """theta, the decision values f = A theta, and the side E of every row (True where y f < 1)."""

    theta: Array
    f: Array
    E: Array


class ActiveSystem:
    """M_E and c_E for the rows E, changed by the rows that change sides."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._E = self._built = np.zeros(len(rows.y), dtype=bool)
        self._changed = len(rows.y) * _REBUILD_AFTER + 1  # nothing is built yet

    def at(self, E: Array) -> None:
        """Move to another set of rows."""
        self._E = E.copy()

    def factor(self, lam: float) -> Factored | FewSamples:
        """The system at one lam, ready to be solved."""
        if self._rows.matrix is not None and 0 < np.count_nonzero(self._E) < self._rows.A.shape[1]:
            few = FewSamples(self._rows, np.flatnonzero(self._E), lam)
            if few.is_regular:
                return few
        self._build()
        return Factored.at(self._G, self._c, lam)

    def _build(self) -> None:
        """Bring A_E' S A_E and A_E' S y up to the rows E."""
        E, moved = self._E, np.flatnonzero(self._built != self._E)
        self._changed += len(moved)
        # Many small changes leave rounding behind; many at once cost as much as a new start.
        if len(moved) > _REBUILD_SHARE * np.count_nonzero(E) or self._changed > _REBUILD_AFTER * len(E):
            self._G, self._c = self._rows.moments(np.flatnonzero(E))
            self._changed = 0
        elif len(moved):
            for sign, which in ((1.0, moved[E[moved]]), (-1.0, moved[~E[moved]])):
                if len(which):
                    G, c = self._rows.moments(which)
                    self._G += sign * G
                    self._c += sign * c
        self._built = E


class Factored:
    """M_E theta = c_E with the factor M_E = U'U.

    Where M_E has no Cholesky factor because of rounding, U is a root of its part that is not rounding.
    """

    def __init__(self, M: Array, c: Array) -> None:
        self._M, self.c = M, c
        with blas_threads(M.size):
            U, failed = lapack.dpotrf(M.T, lower=0, clean=1)  # in the order of columns: no copies from here on
            self.U = _root(M) if failed else U

    @staticmethod
    def at(G: Array, c: Array, lam: float) -> Factored:
        """The system at lam from G = A_E' S A_E and c_E."""
        M = G.copy()
        M[np.diag_indices(len(M) - 1)] += 0.5 * lam
        return Factored(M, c)

    def solve(self, right: Array | None = None) -> Array:
        """theta for this right-hand side; c_E if none is given."""
        right = self.c if right is None else right
        with blas_threads(self._M.size):
            theta = cho_solve((self.U, False), right, check_finite=False)
            # One step of refinement: the system's condition grows like C.
            return theta + cho_solve((self.U, False), right - self._M @ theta, check_finite=False)

    @lazy
    def inverse(self) -> Array:
        """U^-1, so that M_E^-1 = U^-1 U^-T: with it, what is done to many rows is one product."""
        with blas_threads(self._M.size):
            return np.ascontiguousarray(lapack.dtrtri(self.U)[0])

    def residuals(self, rows: Rows, f: Array, which: Array) -> Array:
        """The residuals y - f of these rows, which must be of E."""
        return rows.y[which] - f[which]

    def slack_diag(self, rows: Rows, which: Array) -> Array:
        """One minus the leverages of these rows, which must be of E."""
        V = rows.A[which] @ self.inverse
        return 1.0 - rows.s[which] * np.einsum("ij,ij->i", V, V)

    def project(self, Om: Array) -> Array:
        """Om U^-T: applied to a row a, its squared length estimates a' M_E^-1 a."""
        return Om @ self.inverse.T

    def half(self, A: Array) -> Array:
        """V = U^-T A', so that V'V = A M_E^-1 A'."""
        return (A @ self.inverse).T


class FewSamples:
    """The same system, solved in the samples E; what needs the features' own factor makes it when first asked."""

    def __init__(self, rows: Rows, E: Array, lam: float) -> None:
        assert rows.matrix is not None
        self._rows, self._E, self._lam = rows, E, lam
        with blas_threads(len(E) ** 2):
            self._system = rows.matrix.system(rows.y, rows.s, E, lam)

    @property
    def is_regular(self) -> bool:
        """Whether the system has a factor."""
        return self._system.is_regular

    @lazy
    def features(self) -> Factored:
        """The system in the features."""
        return Factored.at(*self._rows.moments(self._E), self._lam)

    @property
    def c(self) -> Array:
        """The right-hand side c_E."""
        return self.features.c

    @property
    def inverse(self) -> Array:
        """As of :class:`Factored`."""
        return self.features.inverse

    def solve(self, right: Array | None = None) -> Array:
        """theta for this right-hand side; c_E if none is given."""
        if right is not None:
            return self.features.solve(right)
        with blas_threads(len(self._E) ** 2):
            rows, E, u = self._rows, self._E, self.u
            if 3 * len(E) > len(rows.y):  # to copy many rows costs more than to multiply by zeros
                every = np.zeros(len(rows.y))
                every[E] = u
                theta = every @ rows.A
                theta[-1] = 0.0
                f = (rows.A @ theta)[E]
            else:
                A = rows.A[E]
                theta = u @ A
                theta[-1] = 0.0
                f = A @ theta
            theta[-1] = rows.s[E] @ (rows.y[E] - f) / rows.s[E].sum()
            return theta

    @lazy
    def u(self) -> Array:
        """The coefficients of the samples E."""
        with blas_threads(len(self._E) ** 2):
            return self._system.solve()

    @property
    def rounding(self) -> float:
        """About the relative error that rounding leaves in residuals and in one minus the leverages."""
        with blas_threads(len(self._E) ** 2):
            return self._system.rounding

    def residuals(self, rows: Rows, f: Array, which: Array) -> Array:
        """As of :class:`Factored`: from the coefficients, since for large C f is y to rounding."""
        return 0.5 * self._lam / rows.s[which] * self.u[np.searchsorted(self._E, which)]

    def slack_diag(self, rows: Rows, which: Array) -> Array:
        """One minus the leverages of these rows, which must be of E."""
        with blas_threads(len(self._E) ** 2):
            return self._system.slack_diag[np.searchsorted(self._E, which)]

    def project(self, Om: Array) -> Array:
        """As of :class:`Factored`."""
        return self.features.project(Om)

    def half(self, A: Array) -> Array:
        """As of :class:`Factored`."""
        return self.features.half(A)


def _root(M: Array) -> Array:
    """An upper triangular U with U'U = M, eigenvalues below rounding being lifted to it."""
    values, Q = interruptible(np.linalg.eigh, M)
    floor = len(M) * np.finfo(float).eps * values[-1]
    return np.asfortranarray(np.linalg.qr(np.sqrt(np.maximum(values, floor))[:, None] * Q.T)[1])


def objective(rows: Rows, point: Point, lam: float) -> float:
    """J at a point."""
    slack = np.maximum(1.0 - rows.y * point.f, 0.0)
    w = point.theta[:-1]
    return float(slack @ (slack if rows.plain else rows.s * slack) + 0.5 * lam * (w @ w))


def point_at(rows: Rows, theta: Array, f: Array | None = None) -> Point:
    """The point of a theta."""
    f = rows.A @ theta if f is None else f
    E = rows.y * f < 1.0
    return Point(theta, f, E if rows.plain else E & (rows.s > 0))


def start(rows: Rows) -> Point:
    """The limit for lam to infinity: w = 0, and b the weighted mean of the labels."""
    theta = np.zeros(rows.A.shape[1])
    theta[-1] = rows.s @ rows.y / rows.s.sum()
    return point_at(rows, theta)


class _InFeatures(PiecewiseQuadratic[Point]):
    """J of these rows at lam; ``factored`` is the system of the last step."""

    most_steps = MOST_STEPS
    factored: Factored | FewSamples

    def __init__(self, rows: Rows, system: ActiveSystem, lam: float) -> None:
        self._rows, self._system, self._lam = rows, system, lam

    def objective(self, point: Point) -> float:
        return objective(self._rows, point, self._lam)

    def aim(self, point: Point) -> Point:
        self._system.at(point.E)
        self.factored = self._system.factor(self._lam)
        return point_at(self._rows, self.factored.solve())

    def is_tied(self, point: Point, aim: Point, moved: Array) -> bool:
        return is_on_margin(self._rows.y[moved], aim.f[moved])

    def search(self, point: Point, aim: Point) -> Point:
        rows, lam, p, df = self._rows, self._lam, aim.theta - point.theta, aim.f - point.f
        w, dw = point.theta[:-1], p[:-1]
        t = exact_step(1.0 - rows.y * point.f, -rows.y * df, rows.s, point.E, lam * (w @ dw), lam * (dw @ dw))
        return point_at(rows, point.theta + t * p, point.f + t * df)


def minimise(rows: Rows, system: ActiveSystem, lam: float, point: Point) -> tuple[Point, Factored | FewSamples]:
    """The minimiser of J at lam, by Newton steps from a point near it, and the system it solves."""
    method = _InFeatures(rows, system, lam)
    found, is_found = method.minimise(point)
    if not is_found:
        raise not_found(lam)
    return found, method.factored


def is_on_margin(y: Array, f: Array) -> bool:
    """Whether samples with these labels and decision values lie on the margin to rounding."""
    return bool(np.abs(1.0 - y * f).max() <= _MARGIN_TIE * (1.0 + np.abs(f).max()))


def not_found(lam: float) -> PathError:
    """The error of a machine that was not found within the steps allowed."""
    return PathError(
        f"No machine was found within {MOST_STEPS} steps of Newton's method at C = {1 / lam:.6g}: bring the columns "
        "to one scale (StandardScaler), or use smaller C."
    )

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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, lapack

from svmpath.exceptions import PathError
from svmpath.lazy import lazy
from svmpath.solvers.line_search import exact_step
from svmpath.solvers.newton import PiecewiseQuadratic
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.samples import KernelMatrix
from svmpath.solvers.single_rows import SingleRows
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

LEAST_SLACK = 2.0**-52  # one minus a leverage; less is rounding, for a sample that is alone with its feature
MOST_STEPS = 300  # of Newton's method per machine
_MARGIN_TIE = 1e-11  # samples so close to the margin (times the size of f) may be on either side
_REBUILD_SHARE = 0.6  # share of E that may change at once before A_E' S A_E is formed anew
_NO_STEP = 1e-6  # a step of Newton's method that moves no decision value by more (relative), in single precision
_RATE_UNKNOWN = np.inf
_RATE_SAFETY = 10.0  # an observed rate may be by so much better than the next one
_MANY_STEPS = 15  # for one machine; so many are a sign of steps that are too inexact
_POOR_RATE = 0.2  # from which on products of rows are computed in double precision
_REBUILD_AFTER = 4  # times the number of rows that may have changed in all before it is formed anew


@dataclass(frozen=True)
class Rows:
    """The data: A = [Z, 1], labels y, weights s, and K = Z Z' where it is dense."""

    A: Array
    y: Array
    s: Array
    matrix: KernelMatrix | None = None
    is_single = False

    @staticmethod
    def of(Z: Array, y: Array, s: Array, matrix: KernelMatrix | None = None) -> Rows:
        """The rows of a feature matrix, centred.

        The offset takes up what that changes, and a far-away origin costs no digits.
        """
        A = np.empty((len(Z), Z.shape[1] + 1))
        np.subtract(Z, s @ Z / s.sum(), out=A[:, :-1])
        A[:, -1] = 1.0
        return Rows(A, y, s, matrix)

    @property
    def width(self) -> int:
        """Number of entries of theta."""
        return self.A.shape[1]

    @property
    def entries(self) -> int:
        """Number of entries of A."""
        return self.A.size

    @lazy
    def largest(self) -> float:
        """The largest squared length of a row of A."""
        return float(np.einsum("ij,ij->i", self.A, self.A).max())

    def decide(self, theta: Array) -> Array:
        """A theta."""
        return self.A @ theta

    def pull(self, v: Array) -> Array:
        """A' v."""
        return self.A.T @ v

    def leading(self, r: int) -> Rows:
        """The same rows with the first r features only."""
        return replace(self, A=np.column_stack([self.A[:, :r], np.ones(len(self.A))]), matrix=None)

    def among(self, which: Array) -> Rows:
        """Some of the rows."""
        return Rows(self.A[which], self.y[which], self.s[which])

    def image(self, which: Any, B: Array) -> Array:
        """A[which] B."""
        return self.A[which] @ B

    def projector(self) -> Any:
        """``image`` in single precision, for many calls."""
        A = self.A.astype(np.float32)
        return lambda which, B: A[which] @ B.astype(np.float32)

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


AnyRows = Rows | SingleRows


@dataclass(frozen=True)
class Point:
    """theta, the decision values f = A theta, and the side E of every row (True where y f < 1).

    ``pull`` is A_E' S (y - f) on the rows E, where it is known.
    """

    theta: Array
    f: Array
    E: Array
    pull: Array | None = None


class ActiveSystem:
    """M_E and c_E for the rows E, changed by the rows that change sides."""

    def __init__(self, rows: AnyRows) -> None:
        self._rows = rows
        self._E = self._built = np.zeros(len(rows.y), dtype=bool)
        self._changed = len(rows.y) * _REBUILD_AFTER + 1  # nothing is built yet
        self._rate = _RATE_UNKNOWN  # times lam: see ``rate``

    def rate(self, lam: float) -> float:
        """By which factor an error shrinks in a Newton step with features in single precision, if that is known."""
        return self._rate / lam

    def observe(self, rate: float, lam: float) -> None:
        """Take note of a rate; where it is poor, products are in double precision from now on."""
        known = 0.0 if self._rate == _RATE_UNKNOWN else self._rate
        self._rate = max(known, _RATE_SAFETY * rate * lam)
        if rate > _POOR_RATE:
            self.strengthen()

    def strengthen(self) -> None:
        """From now on compute products of rows in double precision."""
        if isinstance(self._rows, SingleRows) and self._rows.arithmetic is np.float32:
            self._rows, self._rate = self._rows.doubled(), _RATE_UNKNOWN
            self._changed = len(self._rows.y) * _REBUILD_AFTER + 1

    def at(self, E: Array) -> None:
        """Move to another set of rows."""
        self._E = E.copy()

    def factor(self, lam: float) -> Factored | FewSamples:
        """The system at one lam, ready to be solved."""
        if self._rows.matrix is not None and 0 < np.count_nonzero(self._E) < self._rows.width:
            assert isinstance(self._rows, Rows)
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

    def residuals(self, rows: AnyRows, f: Array, which: Array) -> Array:
        """The residuals y - f of these rows, which must be of E."""
        return rows.y[which] - f[which]

    def slack_diag(self, rows: AnyRows, which: Array) -> Array:
        """One minus the leverages of these rows, which must be of E."""
        V = rows.image(which, self.inverse)
        return np.maximum(1.0 - rows.s[which] * np.einsum("ij,ij->i", V, V), LEAST_SLACK)

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

    def residuals(self, rows: AnyRows, f: Array, which: Array) -> Array:
        """As of :class:`Factored`: from the coefficients, since for large C f is y to rounding."""
        return 0.5 * self._lam / rows.s[which] * self.u[np.searchsorted(self._E, which)]

    def slack_diag(self, rows: AnyRows, which: Array) -> Array:
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


def objective(rows: AnyRows, point: Point, lam: float) -> float:
    """J at a point."""
    slack = np.maximum(1.0 - rows.y * point.f, 0.0)
    w = point.theta[:-1]
    return float(slack @ (slack if rows.plain else rows.s * slack) + 0.5 * lam * (w @ w))


def point_at(rows: AnyRows, theta: Array, f: Array | None = None) -> Point:
    """The point of a theta."""
    f = rows.decide(theta) if f is None else f
    E = rows.y * f < 1.0
    return Point(theta, f, E if rows.plain else E & (rows.s > 0))


def start(rows: AnyRows) -> Point:
    """The limit for lam to infinity: w = 0, and b the weighted mean of the labels."""
    theta = np.zeros(rows.width)
    theta[-1] = rows.s @ rows.y / rows.s.sum()
    return point_at(rows, theta)


class _InFeatures(PiecewiseQuadratic[Point]):
    """J of these rows at lam; ``factored`` is the system of the last step."""

    most_steps = MOST_STEPS
    factored: Factored | FewSamples

    def __init__(self, rows: AnyRows, system: ActiveSystem, lam: float) -> None:
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


class _InSingle(_InFeatures):
    """J of rows in single precision: the gradient is exact, Newton's steps are nearly so.

    A step that stays on one piece leaves an error that is smaller by a factor, which the next such step shows.
    """

    _last: float | None = None  # how far the last step led, if it stayed on its piece
    _steps = 0

    def aim(self, point: Point) -> Point:
        rows = self._rows
        self._steps += 1
        if self._steps == _MANY_STEPS:
            self._system.strengthen()
        self._system.at(point.E)
        self.factored = self._system.factor(self._lam)
        if point.pull is None:
            left = rows.pull(np.where(point.E, rows.s * (rows.y - point.f), 0.0))
        else:
            left = point.pull.copy()
        left[:-1] -= 0.5 * self._lam * point.theta[:-1]
        theta = point.theta + self.factored.solve(left)
        assert isinstance(rows, SingleRows)
        return Point(theta, *rows.look(theta))

    def advance(self, point: Point, aim: Point) -> tuple[Point, bool]:
        step = float(np.abs(aim.f - point.f).max()) / (1.0 + float(np.abs(aim.f).max()))
        stays = np.array_equal(aim.E, point.E)
        if stays and self._last is not None:
            self._system.observe(step / self._last, self._lam)
        if step <= _NO_STEP or (stays and self._system.rate(self._lam) * step <= _NO_STEP):
            return (aim if stays else replace(aim, E=point.E, pull=None)), True
        if not stays:
            self._last = None
            return super().advance(point, aim)
        self._last, self._value = step, None
        return aim, False


def from_sides(rows: AnyRows, system: ActiveSystem, lam: float, f: Array) -> Point:
    """The minimiser on the piece where decision values f lie: a point to start from, if f is nearly right."""
    E = (rows.y * f < 1.0) & (rows.s > 0)
    if not E.any():
        return start(rows)
    system.at(E)
    return point_at(rows, system.factor(lam).solve())


def minimise(rows: AnyRows, system: ActiveSystem, lam: float, point: Point) -> tuple[Point, Factored | FewSamples]:
    """The minimiser of J at lam, by Newton steps from a point near it, and the system it solves."""
    method = (_InSingle if rows.is_single else _InFeatures)(rows, system, lam)
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

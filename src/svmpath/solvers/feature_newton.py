"""Machines of losses that are quadratic in pieces, in features: as Newton's method (``solvers.newton``) takes them.

The problem, in features Z (K = Z Z'), A = [Z, 1], theta = (w, b), lam = 1 / C, with L(u) of ``solvers.pieces``::

    minimise   J(theta) = sum_i s_i L(u_i) + lam/2 |w|^2,      f = A theta,      u = 1 - y f or y - f

J is convex, once differentiable and piecewise quadratic. With L' = p + c u on the piece of each sample, c* the largest
curvature, weights W = S diag(c / c*) and D = diag(1, .., 1, 0), the minimiser of the piece solves

    M theta = q,     M = A' W A + lam/c* D,     q = A' W y + A' S z p / c*

and it is the minimiser of J when its own pieces are the same. Of the squared hinge, W is S on E = {i : y_i f_i < 1} and
zero elsewhere, c* = 2 and p = 0. A' W A is kept and changed by the rows that change pieces. Where the kernel matrix is
dense and fewer samples than theta has entries are curved (c > 0), the system is solved in these samples instead
(``solvers.samples``), with the coefficients alpha = C S z p of linear pieces as they are.

If no sample is curved, M is singular in b. J is then linear in b around the point, and falls to one side until some
sample comes onto a curved piece; or it is constant, those coefficients sum to zero, and b is the middle of an interval.

Without an offset the last column of A is zero, and so is b: its diagonal entry in M is lam/c* like the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, lapack

from svmpath.lazy import lazy
from svmpath.solvers.newton import MOST_STEPS, NewtonOnPieces
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.pieces import Pieces
from svmpath.solvers.samples import KernelMatrix, SampleSystem
from svmpath.solvers.single_rows import SingleRows
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

LEAST_SLACK = 2.0**-52  # one minus a leverage; less is rounding, for a sample that is alone with its feature
_FLAT = 1e-11  # relative to all weights: a slope of J along b so small is none
_BOUND = 1e-10  # relative to its range: a derivative nearer to its bound than this is at it
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
    offset: bool = True
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

    @staticmethod
    def without_offset(Z: Array, y: Array, s: Array) -> Rows:
        """The rows of a feature matrix, not centred; the last column of A is zero."""
        return Rows(np.pad(np.asarray(Z, dtype=float), ((0, 0), (0, 1))), y, s, offset=False)

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

    def matvec(self, theta: Array) -> Array:
        """A theta."""
        return self.A @ theta

    def rmatvec(self, v: Array) -> Array:
        """A' v."""
        return self.A.T @ v

    def leading(self, r: int) -> Rows:
        """The same rows with the first r features only."""
        return replace(self, A=np.column_stack([self.A[:, :r], np.ones(len(self.A))]), matrix=None)

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

    def moments(self, which: Array, weights: Array | None = None) -> tuple[Array, Array]:
        """A' W A and A' W y of some of the rows; W are their weights s if none are given."""
        every = len(which) == len(self.y)
        A, y = (self.A, self.y) if every else (self.A[which], self.y[which])
        if weights is None and self.plain:
            return A.T @ A, A.T @ y
        w = self.s[which] if weights is None else weights
        scaled = A * np.sqrt(w)[:, None]
        return scaled.T @ scaled, A.T @ (w * y)


AnyRows = Rows | SingleRows


@dataclass(frozen=True)
class FeaturePoint:
    """theta, the decision values f = A theta, and the piece E of every row (the first without a weight).

    ``gradient`` is A' S z L'(u) / c*, where it is known: minus the gradient of the losses.
    """

    theta: Array
    f: Array
    E: Array
    gradient: Array | None = None


class ActiveSystem:
    """M and q for the pieces E of the rows, changed by the rows that change pieces."""

    def __init__(self, loss: Pieces, rows: AnyRows) -> None:
        self.loss, self._rows = loss, rows
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

    def curved(self, E: Array) -> Array:
        """Which rows are on curved pieces and have a weight."""
        curved = self.loss.is_curved(E)
        return curved if self._rows.plain else curved & (self._rows.s > 0)

    def linear(self, E: Array) -> Array | None:
        """S z p / c* of rows on linear pieces; None if there are none."""
        loss, rows = self.loss, self._rows
        if not loss.has_linear:
            return None
        p = np.where(self.curved(E), 0.0, loss.of_regions(loss.slopes, E))
        return loss.signed(rows.y, rows.s * p / loss.largest)

    def factor(self, E: Array, lam: float) -> Factored | FewSamples:
        """The system of the pieces E at one lam, ready to be solved."""
        self._E, lam = E.copy(), 2.0 * lam / self.loss.largest
        linear = self.linear(E)
        if self._rows.matrix is not None:
            assert isinstance(self._rows, Rows)
            Q = np.flatnonzero(self.curved(E))
            few = FewSamples(self._rows, Q, lam, self._weights(E, Q), linear) if 0 < len(Q) < self._rows.width else None
            if few is not None and few.is_regular:
                return few
        self._build()
        c = self._c if linear is None else self._c + self._rows.rmatvec(linear)
        return Factored.at(self._G, c, lam, offset=self._rows.offset)

    def _weights(self, E: Array, which: Array) -> Array | None:
        """W of rows on curved pieces; None if it is s."""
        if self.loss.is_uniform:
            return None
        return self._rows.s[which] * self.loss.of_regions(self.loss.shares, E[which])

    def _build(self) -> None:
        """Bring A' W A and A' W y up to the pieces E."""
        E, rows, now = self._E, self._rows, self.curved(self._E)
        moved = np.flatnonzero(self._built != E)
        self._changed += len(moved)
        # Many small changes leave rounding behind; many at once cost as much as a new start.
        if len(moved) > _REBUILD_SHARE * np.count_nonzero(now) or self._changed > _REBUILD_AFTER * len(E):
            which = np.flatnonzero(now)
            self._G, self._c = rows.moments(which, self._weights(E, which))
            self._changed = 0
        elif len(moved):
            share = self.loss.shares
            rise = self.loss.of_regions(share, E[moved]) - self.loss.of_regions(share, self._built[moved])
            for sign, part in ((1.0, rise > 0), (-1.0, rise < 0)):
                if part.any():
                    weights = None if self.loss.is_uniform else rows.s[moved[part]] * np.abs(rise[part])
                    G, c = rows.moments(moved[part], weights)
                    self._G += sign * G
                    self._c += sign * c
        self._built = E


class Factored:
    """M theta = q with the factor M = U'U.

    Where M has no Cholesky factor because of rounding, U is a root of its part that is not rounding.
    """

    def __init__(self, M: Array, c: Array) -> None:
        self._M, self.c = M, c
        with blas_threads(M.size):
            U, failed = lapack.dpotrf(M.T, lower=0, clean=1)  # in the order of columns: no copies from here on
            self.U = _root(M) if failed else U

    @staticmethod
    def at(G: Array, c: Array, lam: float, *, offset: bool = True) -> Factored:
        """The system at lam, twice what it is over c*, from G = A' W A and q."""
        M = G.copy()
        M[np.diag_indices(len(M) - offset)] += 0.5 * lam
        return Factored(M, c)

    def solve(self, right: Array | None = None) -> Array:
        """theta for this right-hand side; q if none is given."""
        right = self.c if right is None else right
        with blas_threads(self._M.size):
            theta = cho_solve((self.U, False), right, check_finite=False)
            # One step of refinement: the system's condition grows like C.
            return theta + cho_solve((self.U, False), right - self._M @ theta, check_finite=False)

    @lazy
    def inverse(self) -> Array:
        """U^-1, so that M^-1 = U^-1 U^-T: with it, what is done to many rows is one product."""
        with blas_threads(self._M.size):
            return np.ascontiguousarray(lapack.dtrtri(self.U)[0])

    @property
    def features(self) -> Factored:
        """The system in the features: itself."""
        return self

    def residuals(self, rows: AnyRows, f: Array, which: Array) -> Array:
        """The residuals y - f of these rows, which must be curved."""
        return rows.y[which] - f[which]

    def slack_diag(self, rows: AnyRows, which: Array) -> Array:
        """One minus the leverages of these rows, which must be curved."""
        V = rows.image(which, self.inverse)
        return np.maximum(1.0 - rows.s[which] * np.einsum("ij,ij->i", V, V), LEAST_SLACK)

    def project(self, Om: Array) -> Array:
        """Om U^-T: applied to a row a, its squared length estimates a' M^-1 a."""
        return Om @ self.inverse.T

    def half(self, A: Array) -> Array:
        """V = U^-T A', so that V'V = A M^-1 A'."""
        return (A @ self.inverse).T


class FewSamples:
    """The same system, solved in the curved samples E; what needs the features' own factor makes it when first asked.

    ``weights`` are W of E, or s if None; ``linear`` is S z p / c* of linear pieces, or None.
    """

    def __init__(
        self, rows: Rows, E: Array, lam: float, weights: Array | None = None, linear: Array | None = None
    ) -> None:
        assert rows.matrix is not None
        self._rows, self._E, self._lam, self._given, self._linear = rows, E, lam, weights, linear
        self._w = rows.s[E] if weights is None else weights
        with blas_threads(len(E) ** 2):
            if weights is None and linear is None:
                self._system = rows.matrix.system(rows.y, rows.s, E, lam)
            else:
                self._system = SampleSystem(rows.matrix.K[E][:, E], rows.y[E], self._w, lam)

    @property
    def is_regular(self) -> bool:
        """Whether the system has a factor."""
        return self._system.is_regular

    @lazy
    def features(self) -> Factored:
        """The system in the features."""
        G, c = self._rows.moments(self._E, self._given)
        return Factored.at(G, c if self._linear is None else c + self._rows.rmatvec(self._linear), self._lam)

    def solve(self, right: Array | None = None) -> Array:
        """theta for this right-hand side; q if none is given."""
        if right is not None:
            return self.features.solve(right)
        with blas_threads(len(self._E) ** 2):
            rows, E, u, w = self._rows, self._E, self.u, self._w
            if self._linear is not None or 3 * len(E) > len(rows.y):  # to copy many rows costs more than their zeros
                every = self._fixed()
                every[E] = u
                theta = self._of_coefficients(every)
                f = (rows.A @ theta)[E]
            else:
                A = rows.A[E]
                theta = u @ A
                theta[-1] = 0.0
                f = A @ theta
            theta[-1] = (w @ (rows.y[E] - f) - (0.0 if self._linear is None else 0.5 * self._lam * u.sum())) / w.sum()
            return theta

    def _fixed(self) -> Array:
        """The coefficients of linear pieces; zero on the others."""
        return np.zeros(len(self._rows.y)) if self._linear is None else self._linear * (2.0 / self._lam)

    def _of_coefficients(self, alpha: Array) -> Array:
        """theta of these coefficients, the offset zero."""
        theta = alpha @ self._rows.A
        theta[-1] = 0.0
        return theta

    @lazy
    def u(self) -> Array:
        """The coefficients of the samples E."""
        with blas_threads(len(self._E) ** 2):
            if self._linear is None:
                return self._system.solve()
            assert isinstance(self._system, SampleSystem)
            rows, E, w, alpha = self._rows, self._E, self._w, self._fixed()
            alpha[E] = -alpha.sum() * w / w.sum()  # any that brings the sum to zero
            rest = (rows.y - rows.A @ self._of_coefficients(alpha))[E] - 0.5 * self._lam * alpha[E] / w
            return alpha[E] + self._system.solve_for(rest)

    @property
    def rounding(self) -> float:
        """About the relative error that rounding leaves in residuals and in one minus the leverages."""
        with blas_threads(len(self._E) ** 2):
            return self._system.rounding

    def residuals(self, rows: AnyRows, f: Array, which: Array) -> Array:
        """As of :class:`Factored`: from the coefficients, since for large C f is y to rounding."""
        at = np.searchsorted(self._E, which)
        return 0.5 * self._lam / self._w[at] * self.u[at]

    def slack_diag(self, rows: AnyRows, which: Array) -> Array:
        """One minus the leverages of these rows, which must be curved."""
        with blas_threads(len(self._E) ** 2):
            return self._system.slack_diag[np.searchsorted(self._E, which)]


def _root(M: Array) -> Array:
    """An upper triangular U with U'U = M, eigenvalues below rounding being lifted to it."""
    diagonal = np.diag(M)
    if np.count_nonzero(M) == np.count_nonzero(diagonal):  # no sample is on a curved piece
        return np.diag(np.sqrt(np.maximum(diagonal, len(M) * np.finfo(float).eps * diagonal.max())))
    values, Q = interruptible(np.linalg.eigh, M)
    floor = len(M) * np.finfo(float).eps * values[-1]
    return np.asfortranarray(np.linalg.qr(np.sqrt(np.maximum(values, floor))[:, None] * Q.T)[1])


class FeatureNewton(NewtonOnPieces[FeaturePoint]):
    """J of these rows; :meth:`at` moves it to a lam. ``factored`` is the system of the last step."""

    most_steps = MOST_STEPS
    factored: Factored | FewSamples

    def __init__(self, loss: Pieces, rows: AnyRows) -> None:
        super().__init__(loss, rows.y, rows.s)
        self.rows, self.system = rows, ActiveSystem(loss, rows)

    @staticmethod
    def of(loss: Pieces, rows: AnyRows) -> FeatureNewton:
        """Newton's method for these rows, in the precision that they have."""
        return (SingleNewton if rows.is_single else FeatureNewton)(loss, rows)

    def at(self, lam: float, point: FeaturePoint) -> tuple[FeaturePoint, Factored | FewSamples]:
        """The minimiser of J at lam, by Newton steps from a point near it, and the system it solves."""
        return self._settled(self.minimiser(lam, point)), self.factored

    def start(self) -> FeaturePoint:
        """The limit for lam to infinity: w = 0."""
        return self._with_offset(np.zeros(self.rows.width), np.zeros(len(self.y)))

    def from_decisions(self, lam: float, f: Array) -> FeaturePoint:
        """The minimiser on the pieces where decision values f lie: a point to start from, if f is nearly right."""
        E = self.region(f)
        return self.point(self.system.factor(E, lam).solve()) if self.system.curved(E).any() else self.start()

    def point(self, theta: Array, f: Array | None = None) -> FeaturePoint:
        """The point of a theta."""
        f = self.rows.matvec(theta) if f is None else f
        return FeaturePoint(theta, f, self.region(f))

    # --- what Newton's method asks -----------------------------------------------------------------------------------

    def penalty(self, point: FeaturePoint) -> float:
        w = point.theta[:-1]
        return float(0.5 * self.lam * (w @ w))

    def penalty_along(self, point: FeaturePoint, aim: FeaturePoint) -> tuple[float, float]:
        w, dw = point.theta[:-1], (aim.theta - point.theta)[:-1]
        return float(self.lam * (w @ dw)), float(self.lam * (dw @ dw))

    def between(self, point: FeaturePoint, aim: FeaturePoint, t: float) -> FeaturePoint:
        return self.point(point.theta + t * (aim.theta - point.theta), point.f + t * (aim.f - point.f))

    def aim(self, point: FeaturePoint) -> FeaturePoint:
        self.factored = self.system.factor(point.E, self.lam)
        if self.system.curved(point.E).any():
            return self.point(self.factored.solve())
        linear = self.system.linear(point.E)
        if linear is None:
            return self.start()
        return self._with_offset(self.rows.rmatvec(linear * self.loss.largest / self.lam))

    def with_minimiser(self, point: FeaturePoint) -> FeaturePoint:
        """The point itself if a sample is curved; else with the best offset, unless that is no better."""
        if not self.loss.has_linear or self.system.curved(point.E).any() or self._is_balanced(point.E):
            return point
        return self._with_offset(point.theta, point.f - point.theta[-1])

    def _is_balanced(self, E: Array) -> bool:
        """Whether the coefficients of linear pieces sum to zero."""
        linear = self.system.linear(E)
        return (
            linear is None
            or not self.rows.offset
            or bool(abs(linear.sum()) * self.loss.largest <= _FLAT * self.s.sum())
        )

    def _with_offset(self, theta: Array, f: Array | None = None) -> FeaturePoint:
        """The point with these weights, and the offset at which J is lowest; f is without any."""
        theta = np.append(theta[:-1], 0.0)
        f = self.rows.matvec(theta) if f is None else f
        b = self.loss.best_offset(f, self.y, self.s) if self.rows.offset else 0.0
        return self.point(np.append(theta[:-1], b), f + b)

    def _settled(self, point: FeaturePoint) -> FeaturePoint:
        """The point, with the middle of its offsets if all samples are at the ends of curved pieces to rounding."""
        loss = self.loss
        if not loss.is_bounded or not self.rows.offset:
            return point
        Q = np.flatnonzero(self.system.curved(point.E))
        low, high = (loss.of_regions(ends, point.E[Q]) for ends in (loss.low, loss.high))
        share = (loss.u(self.y[Q], point.f[Q]) - low) / (high - low)
        if len(Q) and np.any((share > _BOUND) & (share < 1.0 - _BOUND)):
            return point
        E = point.E.copy()
        E[Q] += np.where(share > 0.5, 1, -1).astype(E.dtype)
        if not self._is_balanced(E):
            return point
        return replace(self._with_offset(point.theta, point.f - point.theta[-1]), E=E)


class SingleNewton(FeatureNewton):
    """J of rows in single precision: the gradient is exact, Newton's steps are nearly so.

    A step that stays on one piece leaves an error that is smaller by a factor, which the next such step shows.
    """

    rows: SingleRows
    _last: float | None = None  # how far the last step led, if it stayed on its piece
    _steps = 0

    def at(self, lam: float, point: FeaturePoint) -> tuple[FeaturePoint, Factored | FewSamples]:
        self._last, self._steps = None, 0
        return super().at(lam, point)

    def aim(self, point: FeaturePoint) -> FeaturePoint:
        rows, loss = self.rows, self.loss
        self._steps += 1
        if self._steps == _MANY_STEPS:
            self.system.strengthen()
        self.factored = self.system.factor(point.E, self.lam)
        if point.gradient is None:
            slope = loss.derivative(loss.u(self.y, point.f)) / loss.largest
            left = rows.rmatvec(loss.signed(self.y, self.s * slope))
        else:
            left = point.gradient.copy()
        left[:-1] -= self.lam / loss.largest * point.theta[:-1]
        theta = point.theta + self.factored.solve(left)
        return FeaturePoint(theta, *rows.look(loss, theta))

    def advance(self, point: FeaturePoint, aim: FeaturePoint) -> tuple[FeaturePoint, bool]:
        step = float(np.abs(aim.f - point.f).max()) / (1.0 + float(np.abs(aim.f).max()))
        stays = np.array_equal(aim.E, point.E)
        if stays and self._last is not None:
            self.system.observe(step / self._last, self.lam)
        if step <= _NO_STEP or (stays and self.system.rate(self.lam) * step <= _NO_STEP):
            return (aim if stays else replace(aim, E=point.E, gradient=None)), True
        if not stays:
            self._last = None
            return super().advance(point, aim)
        self._last, self._value = step, None
        return aim, False

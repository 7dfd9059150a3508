"""The huberised hinge in the primal, as Newton's method (``solvers.newton``) takes it.

The problem, in features Z (K = Z Z'), A = [Z, 1], theta = (w, b), lam = 1 / C, u_i = 1 - y_i f_i::

    minimise   J(theta) = sum_i s_i H(u_i) + lam/2 |w|^2,      f = A theta
    H(u) = 0 for u <= 0,   u^2 / (2 h) for 0 < u < h,   u - h / 2 for u >= h

J is convex, once differentiable and piecewise quadratic. With Q the samples on the slope (0 < u < h) and L those on the
left (u >= h), the minimiser of the piece solves

    (A_Q' S A_Q + lam h D) theta = A_Q' S y + h A_L' S y,      D = diag(1, .., 1, 0)

which is the squared hinge's system (``solvers.feature_newton``) at 2 h lam with another right-hand side. Where the
kernel matrix is dense and Q is smaller than theta, it is solved in the samples Q (``solvers.samples``): with the
coefficients alpha_L = C s y as they are,

    (K_QQ + lam h S^-1) alpha_Q + b 1 = y_Q - K_QL alpha_L,      1'alpha_Q = -1'alpha_L

If Q is empty, the matrix is singular in b. J is then linear in b around the point, and falls to one side until some
sample comes onto the slope; or it is constant, the coefficients of L sum to zero, and b is the middle of an interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.solvers.feature_newton import ActiveSystem, Factored, FewSamples, Rows
from svmpath.solvers.newton import PiecewiseQuadratic
from svmpath.solvers.offset import middle
from svmpath.solvers.samples import SampleSystem

Array = np.ndarray

RIGHT, SLOPE, LEFT = 0, 1, 2  # the places of a sample

_MOST_STEPS = 300  # of Newton's method per machine
_KINK_TIE = 1e-11  # samples so close to an end of the slope (times the size of f) may be on either side of it
_FLAT = 1e-11  # relative to all weights: a slope of J along b so small is none
_BOUND = 1e-10  # relative to the box: a coefficient nearer to its bound than this is at it


@dataclass(frozen=True)
class Point:
    """theta, the decision values f = A theta, and the place E of every row (RIGHT without a weight)."""

    theta: Array
    f: Array
    E: Array


def lowest(u: Array, rate: Array, s: Array, h: float, level: float, steep: float, ends: tuple[float, float]) -> float:
    """The t between two ends at which ``sum_i s_i H(u_i + t rate_i) + level t + steep t^2 / 2`` is lowest.

    Its slope rises, and is linear between the t at which some u enters or leaves [0, h]: it is added up in their order.
    Where it is zero over an interval, this is the middle.
    """
    first, last = ends
    moves = (rate != 0.0) & (s > 0)
    u, rate, s = u[moves], rate[moves], s[moves]
    at_zero, at_h = -u / rate, (h - u) / rate
    kinks = np.clip(np.concatenate([np.minimum(at_zero, at_h), np.maximum(at_zero, at_h), [last]]), first, last)
    bend = s * rate**2 / h
    order = np.argsort(kinks, kind="stable")
    kinks = np.concatenate([[first], kinks[order]])
    curvature = steep + np.cumsum(np.concatenate([[0.0], np.concatenate([bend, -bend, [0.0]])[order]]))
    start = level + steep * first + (s * rate) @ np.clip((u + first * rate) / h, 0.0, 1.0)
    slope = start + np.concatenate([[0.0], np.cumsum(np.maximum(curvature[:-1], 0.0) * np.diff(kinks))])
    zero = _FLAT * (s @ np.abs(rate))
    below, above = int(np.searchsorted(slope, -zero)), int(np.searchsorted(slope, zero, side="right"))
    if below == len(slope) or above == 0:  # it falls, or rises, throughout
        return last if above else first
    if below < above:
        return float(0.5 * (kinks[below] + kinks[above - 1]))
    a, b = slope[below - 1], slope[below]
    return float(kinks[below - 1] + (kinks[below] - kinks[below - 1]) * a / (a - b))


class HuberMachines(PiecewiseQuadratic[Point]):
    """J of these rows at one h; :meth:`at` moves it to a C."""

    most_steps = _MOST_STEPS

    def __init__(self, rows: Rows, h: float) -> None:
        self.rows, self.h = rows, h
        self._system = ActiveSystem(replace(rows, matrix=None))
        self._lam = 1.0

    def at(self, C: float, point: Point) -> Point:
        """The machine at C, from one near it."""
        self._lam, self._value = 1.0 / C, None
        found, is_found = self.minimise(self.with_minimiser(point))
        if not is_found:
            raise PathError(
                f"No machine was found within {_MOST_STEPS} steps of Newton's method at C = {C:.6g}: bring the columns "
                "to one scale (StandardScaler), or use smaller C."
            )
        return self._settled(found)

    def start(self) -> Point:
        """The limit for C to zero: w = 0."""
        theta = np.zeros(self.rows.A.shape[1])
        return self._with_offset(theta, np.zeros(len(self.rows.y)))

    def point(self, theta: Array, f: Array | None = None) -> Point:
        """The point of a theta."""
        f = self.rows.A @ theta if f is None else f
        u = 1.0 - self.rows.y * f
        E = (u > 0).astype(np.int8) + (u >= self.h)
        return Point(theta, f, np.where(self.rows.s > 0, E, RIGHT).astype(np.int8))

    # --- what Newton's method asks -----------------------------------------------------------------------------------

    def objective(self, point: Point) -> float:
        u = 1.0 - self.rows.y * point.f
        on = np.clip(u, 0.0, self.h)
        w = point.theta[:-1]
        losses = on**2 / (2.0 * self.h) + np.maximum(u - self.h, 0.0)
        return float(self.rows.s @ losses + 0.5 * self._lam * (w @ w))

    def aim(self, point: Point) -> Point:
        Q = np.flatnonzero(point.E == SLOPE)
        if len(Q) == 0:
            return self._with_offset(self._weights(self._at_limit(point.E)))
        if self.rows.matrix is not None and len(Q) < self.rows.A.shape[1]:
            theta = self._in_samples(self.rows.matrix.K[Q][:, Q], point.E, Q)
            if theta is not None:
                return self.point(theta)
        s, y, L = self.rows.s, self.rows.y, point.E == LEFT
        factored = self.factor(point.E)
        return self.point(factored.solve(factored.c + self.h * ((s[L] * y[L]) @ self.rows.A[L])))

    def is_tied(self, point: Point, aim: Point, moved: Array) -> bool:
        u, before = 1.0 - self.rows.y[moved] * aim.f[moved], point.E[moved]
        # How far u is from the place that the sample had: it may have crossed the whole slope.
        low, high = np.array([-np.inf, 0.0, self.h])[before], np.array([0.0, self.h, np.inf])[before]
        off = np.maximum(low - u, u - high)
        return bool(off.max() <= _KINK_TIE * (1.0 + np.abs(aim.f[moved]).max()))

    def search(self, point: Point, aim: Point) -> Point:
        rows, p, df = self.rows, aim.theta - point.theta, aim.f - point.f
        level, steep = self._lam * (point.theta[:-1] @ p[:-1]), self._lam * (p[:-1] @ p[:-1])
        t = lowest(1.0 - rows.y * point.f, -rows.y * df, rows.s, self.h, level, steep, (0.0, 1.0))
        return self.point(point.theta + t * p, point.f + t * df)

    def with_minimiser(self, point: Point) -> Point:
        """The point itself if a sample is on the slope; else with the best offset, unless that is no better."""
        if np.any(point.E == SLOPE) or self._is_balanced(point.E):
            return point
        return self._with_offset(point.theta, point.f - point.theta[-1])

    # --- parts -------------------------------------------------------------------------------------------------------

    def factor(self, E: Array) -> Factored | FewSamples:
        """The system of the samples on the slope, in the features."""
        self._system.at(E == SLOPE)
        return self._system.factor(2.0 * self.h * self._lam)

    def _is_balanced(self, E: Array) -> bool:
        """Whether the coefficients of those on the left sum to zero."""
        weights = np.where(E == LEFT, self.rows.s, 0.0)
        return bool(abs(weights @ self.rows.y) <= _FLAT * self.rows.s.sum())

    def _at_limit(self, E: Array) -> Array:
        """alpha of those on the left."""
        return np.where(E == LEFT, self.rows.s * self.rows.y, 0.0) / self._lam

    def _weights(self, alpha: Array) -> Array:
        """theta of these coefficients, the offset zero."""
        theta = alpha @ self.rows.A
        theta[-1] = 0.0
        return theta

    def _with_offset(self, theta: Array, f: Array | None = None) -> Point:
        """The point with these weights, and the offset at which J is lowest; f is without any."""
        rows = self.rows
        f = rows.A[:, :-1] @ theta[:-1] if f is None else f
        b = best_offset(f, rows.y, rows.s, self.h)
        return self.point(np.append(theta[:-1], b), f + b)

    def _in_samples(self, K: Array, E: Array, Q: Array) -> Array | None:
        """theta by the system of the samples Q, whose K is overwritten; None where it has no factor."""
        rows, h, lam = self.rows, self.h, self._lam
        system = SampleSystem(K, rows.y[Q], rows.s[Q], 2.0 * h * lam)
        if not system.is_regular:
            return None
        alpha = self._at_limit(E)
        alpha[Q] = -alpha.sum() * rows.s[Q] / rows.s[Q].sum()  # any that brings the sum to zero
        f = rows.A @ self._weights(alpha)
        alpha[Q] += system.solve_for(rows.y[Q] - f[Q] - h * lam * alpha[Q] / rows.s[Q])
        theta = self._weights(alpha)
        rest = rows.y[Q] - rows.A[Q] @ theta
        theta[-1] = (rows.s[Q] @ rest - h * lam * alpha[Q].sum()) / rows.s[Q].sum()
        return theta

    def _settled(self, point: Point) -> Point:
        """The point, with the middle of its offsets if those on the slope are at its ends to rounding."""
        Q = np.flatnonzero(point.E == SLOPE)
        share = (1.0 - self.rows.y[Q] * point.f[Q]) / self.h
        if len(Q) and np.any((share > _BOUND) & (share < 1.0 - _BOUND)):
            return point
        E = point.E.copy()
        E[Q] = np.where(share > 0.5, LEFT, RIGHT)
        if not self._is_balanced(E):
            return point
        settled = self._with_offset(point.theta, point.f - point.theta[-1])
        return replace(settled, E=E)


def best_offset(f: Array, y: Array, s: Array, h: float) -> float:
    """The b at which ``sum_i s_i H(1 - y_i (f_i + b))`` is lowest; the middle, or the one end, where many are."""
    rows = s > 0
    f, y, s = f[rows], y[rows], s[rows]
    if np.ptp(y) == 0.0:  # one class, wholly on the right
        none = np.empty(0)
        return middle(1.0 - f, none) if y[0] > 0 else middle(none, -1.0 - f)
    u = 1.0 - y * f
    ends = np.concatenate([y * u, y * (u - h)])
    return lowest(u, -y, s, h, 0.0, 0.0, (float(ends.min()), float(ends.max())))

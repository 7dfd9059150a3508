"""A loss that is quadratic in pieces, as a function of one number u: all that Newton's method asks of it.

L(u) is convex and once differentiable, L(0) = L'(0) = 0, and its curvature is constant between knots::

    L''(u) = c_k  for u between t_(k-1) and t_k,      t_(-1) = -infinity,   t_K = infinity

u is 1 - y f (``of_margin``) or the residual y - f. With z = y or z = 1, f' = -z u'. In both cases z u = y - f at one
point of the piece or another: the machine's coefficients are alpha_i = C s_i z_i L'(u_i), and on piece k

    L'(u) = p_k + c_k u,      z L'(u) = z p_k + c_k (y - f).

Values and derivatives are sums over pieces, of u clipped to each: terms of one sign, in which nothing cancels. So is
the part of a sample in a duality gap, L(u) + L*(a) - a u, the integral of L' - a from the v with L'(v) = a to u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.lazy import lazy
from svmpath.solvers.offset import middle

Array = np.ndarray

_FLAT = 1e-11  # relative to all weights: a slope so small is none


@dataclass(frozen=True)
class Pieces:
    """The knots of a loss in increasing order, and its curvature between them.

    Attributes
    ----------
    knots : tuple of float, of length K
    curvatures : tuple of float, of length K + 1
    of_margin : bool
        Whether u is 1 - y f, or else y - f.
    """

    knots: tuple[float, ...]
    curvatures: tuple[float, ...]
    of_margin: bool = True

    # --- what follows from them --------------------------------------------------------------------------------------

    @lazy
    def low(self) -> Array:
        """The beginning of each piece."""
        return np.array([-np.inf, *self.knots])

    @lazy
    def high(self) -> Array:
        """The end of each piece."""
        return np.array([*self.knots, np.inf])

    @lazy
    def curvature(self) -> Array:
        """c_k."""
        return np.array(self.curvatures)

    @lazy
    def at_knots(self) -> Array:
        """L' at the knots."""
        return self.derivative(np.array(self.knots))

    @lazy
    def slopes(self) -> Array:
        """p_k, with which L'(u) = p_k + c_k u on piece k."""
        if not self.knots:
            return np.zeros(1)
        ends = np.append(np.arange(len(self.knots)), len(self.knots) - 1)  # a knot of each piece
        return self.at_knots[ends] - self.curvature * np.array(self.knots)[ends]

    @lazy
    def range(self) -> tuple[float, float]:
        """The smallest and the largest L'."""
        p, c = self.slopes, self.curvatures
        return (float(p[0]) if c[0] == 0.0 else -np.inf), (float(p[-1]) if c[-1] == 0.0 else np.inf)

    @lazy
    def largest(self) -> float:
        """The largest curvature: systems are divided by it."""
        return max(self.curvatures)

    @lazy
    def shares(self) -> Array:
        """c_k over the largest."""
        return self.curvature / self.largest

    @lazy
    def is_uniform(self) -> bool:
        """Whether all pieces that are not linear have the same curvature."""
        return bool(np.isin(self.shares, (0.0, 1.0)).all())

    @lazy
    def is_bounded(self) -> bool:
        """Whether the derivative is bounded on both sides, and so are the coefficients."""
        return self.curvatures[0] == 0.0 == self.curvatures[-1]

    @lazy
    def has_linear(self) -> bool:
        """Whether a piece is linear, and not constant."""
        return bool(((self.curvature == 0.0) & (self.slopes != 0.0)).any())

    @lazy
    def is_one_square(self) -> bool:
        """Whether it is a square, of all u or of those on one side, and zero elsewhere."""
        return self.is_uniform and not self.has_linear

    @lazy
    def _parts(self) -> list[tuple[float, float, float, float]]:
        """Ends, slope and curvature of the pieces on which L is not constant."""
        every = zip(self.low.tolist(), self.high.tolist(), self.slopes.tolist(), self.curvatures, strict=True)
        return [(low, high, p, c) for low, high, p, c in every if c != 0.0 or p != 0.0]

    # --- of samples --------------------------------------------------------------------------------------------------

    def u(self, y: Array, f: Array) -> Array:
        """u of these targets and decision values."""
        return 1.0 - y * f if self.of_margin else y - f

    def signed(self, y: Array, g: Array) -> Array:
        """Z g, with Z of the targets y."""
        return y * g if self.of_margin else g

    def region(self, u: Array) -> Array:
        """The piece of each u; a u on a knot belongs to the flatter side. True and False if there are two pieces."""
        c = self.curvatures
        passed = [u > knot if c[k] <= c[k + 1] else u >= knot for k, knot in enumerate(self.knots)]
        if len(passed) == 1:
            return passed[0]
        return np.asarray(np.sum(passed, axis=0, dtype=np.int8)) if passed else np.zeros(len(u), dtype=np.int8)

    def of_regions(self, what: Array, E: Array) -> Array:
        """What each sample has of a quantity that there is one of for each piece."""
        return what[E.astype(np.int8)]

    def is_curved(self, E: Array) -> Array:
        """Which samples are on a piece that is not linear."""
        if self.curvatures == (0.0, self.largest):  # as of the squared hinge, where E says it
            return E
        return self.of_regions(self.curvature > 0.0, E)

    def derivative(self, u: Array) -> Array:
        """L'(u)."""
        total: Array = np.zeros(len(u))
        for low, high, c in zip(self.low.tolist(), self.high.tolist(), self.curvatures, strict=True):
            if c != 0.0:
                total += c * (_clip(u, low, high) - min(max(low, 0.0), high))
        return total

    def value(self, u: Array) -> Array:
        """L(u)."""
        total: Array = np.zeros(len(u))
        for low, high, p, c in self._parts:
            zero = min(max(low, 0.0), high)
            v = _clip(u, low, high)
            total += (0.5 * c) * (v * v) if zero == 0.0 == p else (v - zero) * (p + 0.5 * c * (v + zero))
        return total

    def excess(self, u: Array, a: Array) -> Array:
        """L(u) + L*(a) - a u, not negative; a slope beyond those that L has counts as the nearest one."""
        a = np.clip(a, *self.range)
        k = np.searchsorted(self.at_knots, a)
        bend = self.curvature[k]
        knot = self.high[k] if self.knots else np.zeros(len(k))
        v = np.where(bend > 0.0, (a - self.slopes[k]) / np.where(bend > 0.0, bend, 1.0), knot)
        total: Array = np.zeros(len(u))
        for low, high, p, c in zip(self.low, self.high, self.slopes, self.curvatures, strict=True):
            end, begin = _clip(u, low, high), _clip(v, low, high)
            total += (end - begin) * (p - a + 0.5 * c * (end + begin))
        return np.maximum(total, 0.0)

    # --- of sums along a line ----------------------------------------------------------------------------------------

    def lowest(
        self, u: Array, rate: Array, s: Array, level: float, steep: float, ends: tuple[float, float] = (0.0, 1.0)
    ) -> float:
        """The t between two ends at which ``sum_i s_i L(u_i + t rate_i) + level t + steep t^2 / 2`` is lowest.

        Its slope rises, and is linear between the t at which some u passes a knot: it is added up in their order. Where
        it is zero over an interval, this is the middle.
        """
        first, last = ends
        moves = (rate != 0.0) & (s > 0)
        u, rate, s = u[moves], rate[moves], s[moves]
        size = s * rate**2
        curvature = steep + float(size @ np.where(rate > 0, self.curvatures[0], self.curvatures[-1]))
        bends, kinks = [], [np.array([first])]
        for k, knot in enumerate(self.knots):
            at, bend = (knot - u) / rate, np.sign(rate) * size * (self.curvatures[k + 1] - self.curvatures[k])
            curvature += float(bend[at <= first].sum())
            inside = (at > first) & (at < last)
            kinks.append(at[inside])
            bends.append(bend[inside])
        at = np.concatenate([*kinks, [last]])
        order = np.argsort(at[1:-1], kind="stable")
        at[1:-1] = at[1:-1][order]
        changes = np.concatenate([[curvature], np.concatenate([*bends, []])[order]])
        slope = np.empty(len(at))
        slope[0] = level + steep * first + (s * rate) @ self.derivative(u + first * rate)
        slope[1:] = slope[0] + np.cumsum(np.maximum(np.cumsum(changes), 0.0) * np.diff(at))
        zero = _FLAT * float(s @ np.abs(rate)) if self.has_linear else 0.0  # else there are no such intervals
        below, above = int(np.searchsorted(slope, -zero)), int(np.searchsorted(slope, zero, side="right"))
        if below == len(slope) or above == 0:  # it falls, or rises, throughout
            return last if above else first
        if below < above:
            return float(0.5 * (at[below] + at[above - 1]))
        before, after = slope[below - 1], slope[below]
        return float(at[below - 1] + (at[below] - at[below - 1]) * before / (before - after))

    def best_offset(self, f: Array, y: Array, s: Array) -> float:
        """The b at which ``sum_i s_i L(u_i)`` is lowest for decision values f + b; the middle where many are."""
        f, y, s = f[s > 0], y[s > 0], s[s > 0]
        u = self.u(y, f)
        if self.of_margin and np.ptp(y) == 0.0:  # one class, wholly where it costs nothing
            none = np.empty(0)
            return middle(u, none) if y[0] > 0 else middle(none, -u)
        ends = np.concatenate([self.signed(y, u - knot) for knot in {0.0, *self.knots}])
        first, last = float(ends.min()), float(ends.max())
        return self.lowest(u, self.signed(y, -np.ones(len(u))), s, 0.0, 0.0, (first, last)) if first < last else first


def _clip(u: Array, low: float, high: float) -> Array:
    """As np.clip, which takes longer for short arrays."""
    if high < np.inf:
        u = np.minimum(u, high)
    return np.maximum(u, low) if low > -np.inf else u


SQUARED_HINGE = Pieces((0.0,), (0.0, 2.0))

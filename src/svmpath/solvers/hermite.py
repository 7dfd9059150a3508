"""Many smooth functions between two points at which their values and rates are known, as cubic polynomials.

On an interval of length h, with x from 0 to 1 along it, the cubic with values s_a, s_b and rates d_a, d_b has the
Bernstein coefficients::

    s_a,    s_a + h d_a / 3,    s_b - h d_b / 3,    s_b

and lies between the smallest and the largest of them. So a function all of whose coefficients are positive has no zero
there, and few are left to be looked at. The error is of the fourth order in h.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

Array = np.ndarray

_STEPS = 60  # of a root search; half of them would do for bisection alone in single precision
_NEXT = 0.02  # how near to an end, relative to the interval, a minimum is as good as there
_STILL = 1e-10  # a function that varies by less does not dip
_EXACT = 1e-15  # relative to the interval; a root is not told more exactly


@dataclass(frozen=True)
class Cubics:
    """Cubics over [t, t + h], one per column of their Bernstein coefficients, of shape (4, k)."""

    t: float
    h: float
    B: Array

    @staticmethod
    def between(t: float, s: Array, d: Array, t2: float, s2: Array, d2: Array) -> Cubics:
        """From values and rates at two points."""
        h = t2 - t
        return Cubics(t, h, np.array([s, s + (h / 3) * d, s2 - (h / 3) * d2, s2]))

    def first_below(self, floor: Array) -> tuple[float, int] | None:
        """Where the first of them falls below its -floor, told where it is zero shortly before; and which one.

        None if none does. At the beginning none may be below.
        """
        best, which = 2.0, -1
        for k in np.flatnonzero((self.B < -floor).any(axis=0)):
            x = _fall(self.B[:, k].tolist(), float(floor[k]))
            if x is not None and x < best:
                best, which = x, int(k)
        return None if which < 0 else (self.t + self.h * best, which)

    def dips(self, margin: float, until: float) -> list[float]:
        """Where some of them come near zero and turn: minima below this share of their variation, up to some t.

        Those next to an end of the interval are told by its value.
        """
        B = self.B
        spread = np.abs(np.diff(B, axis=0)).sum(axis=0)
        near = (B[1:3].min(axis=0) < margin * spread) & (spread > _STILL)
        # A minimum inside needs a rate that rises from below zero: one of the first two differences negative.
        falls = (B[1] < B[0]) | (B[2] < B[1])
        rises = (B[2] > B[1]) | (B[3] > B[2])
        found = []
        for k in np.flatnonzero(near & falls & rises):
            x = _lowest(B[:, k].tolist())
            if x is not None and _NEXT < x < 1.0 - _NEXT and _at(B[:, k].tolist(), x) < margin * spread[k]:
                found.append(self.t + self.h * x)
        return sorted(t for t in found if t < until)

    def second(self, k: int | slice, *, last: bool) -> Array:
        """Second derivatives at the beginning or at the end."""
        B = self.B[:, k]
        return 6.0 / self.h**2 * (B[3] - 2 * B[2] + B[1] if last else B[2] - 2 * B[1] + B[0])


def first_zero(s: Array, d: Array, q: Array) -> tuple[float, int]:
    """The first zero beyond 0 of the functions s + d x + q x^2 / 2, s not negative, and whose it is.

    Infinity if there is none.
    """
    under = d * d - 2 * q * s
    below = np.sqrt(np.maximum(under, 0.0)) - d
    crosses = (under >= 0) & (below > 0)
    x = np.full(len(s), np.inf)
    with np.errstate(over="ignore"):  # as good as never
        np.divide(2 * s, below, out=x, where=crosses)
    k = int(np.argmin(x))
    return float(x[k]), k


def _at(b: list[float], x: float) -> float:
    """The cubic at x, by de Casteljau's rule."""
    y = 1.0 - x
    b01, b12, b23 = y * b[0] + x * b[1], y * b[1] + x * b[2], y * b[2] + x * b[3]
    return y * (y * b01 + x * b12) + x * (y * b12 + x * b23)


def _slope(b: list[float], x: float) -> float:
    y = 1.0 - x
    return 3.0 * (y * y * (b[1] - b[0]) + 2 * x * y * (b[2] - b[1]) + x * x * (b[3] - b[2]))


def _turns(b: list[float]) -> list[float]:
    """The zeros of the derivative inside (0, 1), in order."""
    p, q, r = b[1] - b[0], b[2] - b[1], b[3] - b[2]
    a, half = p - 2 * q + r, q - p  # a x^2 + 2 half x + p
    under = half * half - a * p
    if under < 0:
        return []
    c = -half - (sqrt(under) if half > 0 else -sqrt(under))
    roots = [c / a if a else np.inf, p / c if c else np.inf]
    return sorted(x for x in roots if 0.0 < x < 1.0)


def _lowest(b: list[float]) -> float | None:
    """The minimum inside (0, 1), if there is one."""
    inside = [x for x in _turns(b) if b[0] > _at(b, x) or b[3] > _at(b, x)]
    return min(inside, key=lambda x: _at(b, x)) if inside else None


def _fall(b: list[float], floor: float) -> float | None:
    """The first x at which the cubic falls below -floor, moved back to where it is zero; None if it does not."""
    begin = 0.0
    for end in [*_turns(b), 1.0]:  # monotone between them
        if _at(b, end) < -floor:
            return _zero(b, begin, end) if _at(b, begin) > 0.0 else begin
        begin = end
    return None


def _zero(b: list[float], low: float, high: float) -> float:
    """The zero of a cubic that falls from a positive to a negative value: Newton's method, kept inside a bracket."""
    x = 0.5 * (low + high)
    for _ in range(_STEPS):
        value, slope = _at(b, x), _slope(b, x)
        if value > 0:
            low = x
        else:
            high = x
        new = x - value / slope if slope else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - x) <= _EXACT or value == 0.0:
            return new
        x = new
    return x

"""Compiled loops over many cubics: see ``solvers.hermite``."""

from __future__ import annotations

import numpy as np

from svmpath.solvers.loops.decorators import exact_entry, exact_inner

Array = np.ndarray

_ROOT_STEPS = 100  # of a root search, at most: bisection alone takes 50
_ROOT = 1e-15  # relative to the interval; a root has no more digits
_AT_END = 0.02  # how near to an end, relative to the interval, a minimum is as good as there
_CONSTANT = 1e-10  # a function that varies by less does not dip


@exact_inner
def _at(b0: float, b1: float, b2: float, b3: float, x: float) -> float:
    """The cubic at x, by de Casteljau's rule."""
    y = 1.0 - x
    b01, b12, b23 = y * b0 + x * b1, y * b1 + x * b2, y * b2 + x * b3
    return y * (y * b01 + x * b12) + x * (y * b12 + x * b23)


@exact_inner
def _slope(b0: float, b1: float, b2: float, b3: float, x: float) -> float:
    y = 1.0 - x
    return 3.0 * (y * y * (b1 - b0) + 2.0 * x * y * (b2 - b1) + x * x * (b3 - b2))


@exact_inner
def _turns(b0: float, b1: float, b2: float, b3: float) -> tuple[float, float]:
    """The zeros of the derivative, in order; 2 where there is none inside (0, 1)."""
    p, q, r = b1 - b0, b2 - b1, b3 - b2
    a, half = p - 2.0 * q + r, q - p  # a x^2 + 2 half x + p
    under = half * half - a * p
    if under < 0.0:
        return 2.0, 2.0
    c = -half - (np.sqrt(under) if half > 0.0 else -np.sqrt(under))
    x = c / a if a != 0.0 else 2.0
    z = p / c if c != 0.0 else 2.0
    x = x if 0.0 < x < 1.0 else 2.0
    z = z if 0.0 < z < 1.0 else 2.0
    return min(x, z), max(x, z)


@exact_inner
def _zero(b0: float, b1: float, b2: float, b3: float, low: float, high: float) -> float:
    """The zero of a cubic that falls from a positive to a negative value: Newton's method, kept inside a bracket."""
    x = 0.5 * (low + high)
    for _ in range(_ROOT_STEPS):
        value, slope = _at(b0, b1, b2, b3, x), _slope(b0, b1, b2, b3, x)
        if value == 0.0:
            return x
        if value > 0.0:
            low = x
        else:
            high = x
        new = x - value / slope if slope != 0.0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - x) <= _ROOT:
            return new
        x = new
    return x


@exact_inner
def _fall(b0: float, b1: float, b2: float, b3: float, floor: float) -> float:
    """The first x at which the cubic falls below -floor, moved back to where it is zero; 2 if it does not."""
    x, z = _turns(b0, b1, b2, b3)
    begin = 0.0
    for part in range(3):  # monotone between them
        end = min(x if part == 0 else (z if part == 1 else 1.0), 1.0)
        if _at(b0, b1, b2, b3, end) < -floor:
            return _zero(b0, b1, b2, b3, begin, end) if _at(b0, b1, b2, b3, begin) > 0.0 else begin
        begin = end
    return 2.0


@exact_entry
def inspect_cubics(
    s: Array, d: Array, s2: Array, d2: Array, h: float, floor: Array, margin: float
) -> tuple[float, int, float]:
    """Where the first cubic falls below its -floor, whose it is, and where the first one dips before that.

    Positions are in units of h; 2 where there is none.
    """
    best, which, dip = 2.0, -1, 2.0
    for k in range(len(s)):
        b0, b1, b2, b3 = s[k], s[k] + h / 3.0 * d[k], s2[k] - h / 3.0 * d2[k], s2[k]
        lowest = min(min(b0, b1), min(b2, b3))
        if lowest < -floor[k]:
            x = _fall(b0, b1, b2, b3, floor[k])
            if x < best:
                best, which = x, k
        spread = abs(b1 - b0) + abs(b2 - b1) + abs(b3 - b2)
        if min(b1, b2) < margin * spread and spread > _CONSTANT:
            x, z = _turns(b0, b1, b2, b3)
            for turn in (x, z):  # at a minimum the slope comes from below zero
                if _AT_END < turn < 1.0 - _AT_END and _slope(b0, b1, b2, b3, turn - _AT_END) < 0.0:
                    value = _at(b0, b1, b2, b3, turn)
                    if -floor[k] <= value < margin * spread:
                        dip = min(dip, turn)
    return best, which, dip if dip < best else 2.0


@exact_entry
def first_zero(s: Array, d: Array, q: Array, floor: Array) -> tuple[float, int]:
    """The first zero beyond 0 of floor + max(s, 0) + d x + q x^2 / 2, and whose it is; infinity if none."""
    best, which = np.inf, 0
    for k in range(len(s)):
        value = max(s[k], 0.0) + floor[k]
        under = d[k] * d[k] - 2.0 * q[k] * value
        if under >= 0.0:
            below = np.sqrt(under) - d[k]
            if below > 0.0 and 2.0 * value < best * below:
                best, which = 2.0 * value / below, k
    return best, which

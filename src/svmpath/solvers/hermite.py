"""Many smooth functions between two points at which their values and rates are known, as cubic polynomials.

On an interval of length h, with x from 0 to 1 along it, the cubic with values s_a, s_b and rates d_a, d_b has the
Bernstein coefficients::

    s_a,    s_a + h d_a / 3,    s_b - h d_b / 3,    s_b

and lies between the smallest and the largest of them. So a function all of whose coefficients are positive has no zero
there, and few have to be looked at. The error is of the fourth order in h.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Inspection:
    """What the cubics do on an interval.

    Attributes
    ----------
    zero : float
        The zero of the first of them that falls below its floor, shortly before that; infinity if none does.
    which : int
        Whose zero that is.
    dip : float
        Where the first of them comes near zero and turns, before that; infinity if none does.
    """

    zero: float
    which: int
    dip: float


def inspect_cubics(
    t: float, s: Array, d: Array, t2: float, s2: Array, d2: Array, floor: Array, margin: float
) -> Inspection:
    """The cubics between values s and rates d at t, and those at t2.

    At the beginning none may be below its -floor. A dip is a minimum inside that is not below the floor, but less than
    ``margin`` times the variation: what the cubic leaves out might be enough to make it a zero.
    """
    from svmpath.solvers.loops import hermite

    h = t2 - t
    zero, which, dip = hermite.inspect_cubics(s, d, s2, d2, h, floor, margin)
    return Inspection(t + h * zero if zero <= 1.0 else np.inf, which, t + h * dip if dip <= 1.0 else np.inf)


def curvature(t: float, s: Array, d: Array, t2: float, s2: Array, d2: Array) -> Array:
    """Second derivatives of the cubics at t2; swap the points for those at t."""
    h = t2 - t
    return (6.0 * (s - s2) / h + 2.0 * d + 4.0 * d2) / h


def first_zero(s: Array, d: Array, q: Array, floor: Array) -> tuple[float, int]:
    """The first zero beyond 0 of floor + max(s, 0) + d x + q x^2 / 2, and whose it is; infinity if there is none."""
    from svmpath.solvers.loops import hermite

    return hermite.first_zero(s, d, q, floor)

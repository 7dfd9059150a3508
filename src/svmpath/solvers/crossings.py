"""Where the first of many slacks becomes zero, none of their zeros being missed.

A slack q(u) is known as a polynomial p of K terms up to a remainder: |q - p| <= rho, |q' - p'| <= rho'
(``solvers.fixed_sides``). On an interval [a, b] write p in Bernstein's basis, p(u) = sum_l p_l B_l(x) with
x = (u - a) / (b - a). The B_l are not negative on [0, 1] and sum to one, and p'(u) is the sum of
(K - 1) / (b - a) (p_{l+1} - p_l) in the basis of one degree less. Hence q

    has no zero if                  min_l p_l > rho
    rises throughout if             min_l (p_{l+1} - p_l) >  rho' (b - a) / (K - 1)
    falls throughout if             max_l (p_{l+1} - p_l) < -rho' (b - a) / (K - 1)

A slack that rises and is not negative at a does not become negative; one that falls has one zero or none, depending on
the sign at b. If none of these holds, the interval is halved: the p_l tend to p as b - a shrinks, and rho does not
grow. So this ends, except near a common zero of q and q', and where rho hides the sign. Halving stops where p is
constant to rounding. If rho is below rounding there, the slack touches zero to rounding, which is no crossing;
otherwise the proof ends there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import comb

from svmpath.solvers.fixed_sides import Series, powers

Array = np.ndarray

_FLAT_SLACK = 1e-14  # a slack that changes by no more, in units of its terms, is constant to rounding
_REMAINDER_ZERO = 1e-11  # a remainder that is as good as rounding
_U_ROUNDING = 2e-16  # u is known no better, being below one
_ROOT_STEPS = 100  # of the root finder


class Crossing(NamedTuple):
    """The slack of a row falls below zero at u, and none did before; no row: none does before u."""

    u: float
    row: int | None


def first_crossing(series: Series, start: float, end: float, rows: Array) -> Crossing:
    """The first crossing of these rows in [start, end]; without a row, the u up to which there is none."""
    first = Crossing(end, None)
    waiting = [(start, end, rows)]  # intervals, the leftmost at the end
    while waiting:
        a, b, rows = waiting.pop()
        b = min(b, first.u)
        if b < a:
            break
        falling, unclear, is_stuck = _classify(series, a, b, rows)
        if is_stuck:
            return Crossing(a, None)
        if len(falling):
            first = _first_root(series, a, b, falling)
        if len(unclear):
            middle = 0.5 * (a + b)
            waiting += [(middle, b, unclear), (a, middle, unclear)]
    return first


def _classify(series: Series, a: float, b: float, rows: Array) -> tuple[Array, Array, bool]:
    """Rows that cross once in an interval, rows of which that is not known yet, and whether it never will for some."""
    p, rho = _bernstein(series, a, b, rows)
    maybe = p.min(axis=1) <= rho
    rows, p, rho = rows[maybe], p[maybe], rho[maybe]
    falls, rises, flat = _shapes(series, a, b, rows, p)
    below = ~rises & ~falls & (p.max(axis=1) < -rho)  # it is negative already: rounding has hidden its zero
    unclear = ~falls & ~rises & ~below
    is_stuck = bool(np.any(rho[unclear & flat] > _REMAINDER_ZERO))
    return rows[below | (falls & (p[:, -1] < 0))], rows[unclear & ~flat], is_stuck


def _bernstein(series: Series, a: float, b: float, rows: Array) -> tuple[Array, Array]:
    """Coefficients of Bernstein's basis on [a, b], and the bound rho on the remainder."""
    shift, gap, basis = _tables(series.terms)
    to_bernstein = (shift * powers(a, series.terms)[gap]) @ (powers(b - a, series.terms)[:, None] * basis)
    return series.coefs[rows] @ to_bernstein, series.beta[rows] * series.remainder(max(abs(a), abs(b)))


def _shapes(series: Series, a: float, b: float, rows: Array, p: Array) -> tuple[Array, Array, Array]:
    """Whether each slack falls throughout, rises throughout, or is constant to rounding."""
    steps = np.diff(p, axis=1)
    slope_rho = series.slope_remainder(max(abs(a), abs(b))) * (b - a) / (series.terms - 1) * series.beta[rows]
    size = np.maximum(1.0, np.abs(series.coefs[rows]).max(axis=1))
    flat = p.max(axis=1) - p.min(axis=1) <= _FLAT_SLACK * size
    return steps.max(axis=1) < -slope_rho, steps.min(axis=1) > slope_rho, flat


class SignChanges(NamedTuple):
    """Where functions change sign, which do, and which have a remainder that hides their sign somewhere."""

    u: Array
    rows: Array
    hidden: Array


def sign_changes(series: Series, start: float, end: float) -> SignChanges:
    """All sign changes of all rows in [start, end], by the same proof; zeros without a change are none."""
    u: list[float] = []
    changed: list[int] = []
    hidden: list[Array] = []
    waiting = [(start, end, np.arange(len(series.coefs)))]
    while waiting:
        a, b, rows = waiting.pop()
        p, rho = _bernstein(series, a, b, rows)
        maybe = (p.min(axis=1) <= rho) & (p.max(axis=1) >= -rho)
        rows, p, rho = rows[maybe], p[maybe], rho[maybe]
        if not len(rows):
            continue
        falls, rises, flat = _shapes(series, a, b, rows, p)
        # Each row is summed alone: neighbours must see the same sign at a common end.
        at_a, at_b = ((series.coefs[rows] * powers(x, series.terms)).sum(axis=1) for x in (a, b))
        for k in np.flatnonzero((falls | rises) & ((at_a > 0) != (at_b > 0))).tolist():
            u.append(_root(series.coefs[rows[k]] * (1.0 if falls[k] else -1.0), a, b))
            changed.append(int(rows[k]))
        unclear = ~falls & ~rises
        hidden.append(rows[unclear & flat & (rho > _REMAINDER_ZERO)])
        if np.any(unclear & ~flat):
            middle = 0.5 * (a + b)
            waiting += [(middle, b, rows[unclear & ~flat]), (a, middle, rows[unclear & ~flat])]
    order = np.argsort(u, kind="stable")
    return SignChanges(
        np.array(u)[order], np.array(changed, dtype=int)[order], np.unique(np.concatenate([np.empty(0, int), *hidden]))
    )


def _first_root(series: Series, a: float, b: float, rows: Array) -> Crossing:
    """The first zero of slacks that fall throughout and are negative at b; of those negative at a, the first row.

    Where the remainder is felt, only that there is no zero before the slacks are as small as it.
    """
    coefs = series.coefs[rows]
    rho = series.beta[rows] * series.remainder(max(abs(a), abs(b)))
    is_vague = bool(rho.max() > _REMAINDER_ZERO)
    if is_vague:
        coefs[:, 0] -= rho
    at_a, at_b = coefs @ powers(a, series.terms), coefs @ powers(b, series.terms)
    if at_a.min() <= 0:
        return Crossing(a, None if is_vague else int(rows[at_a <= 0].min()))
    guess = at_a / (at_a - at_b)
    while True:
        which = int(np.argmin(guess))
        u = _root(coefs[which], a, b)
        earlier = coefs @ powers(u, series.terms) < 0
        earlier[which] = False
        if not earlier.any():
            return Crossing(u, None if is_vague else int(rows[which]))
        rows, coefs, guess, b = rows[earlier], coefs[earlier], guess[earlier], u


def _root(coefs: Array, a: float, b: float) -> float:
    """The zero of a polynomial that falls from a to b: Newton's steps, halving where they leave the bracket."""
    terms = coefs[::-1].tolist()
    u = 0.5 * (a + b)
    for _ in range(_ROOT_STEPS):
        value = slope = 0.0
        for term in terms:
            slope = slope * u + value
            value = value * u + term
        a, b = (u, b) if value > 0 else (a, u)
        new = u - value / slope if slope < 0 else b
        new = new if a <= new <= b else 0.5 * (a + b)
        if abs(new - u) <= _U_ROUNDING:
            return new
        u = new
    return u


@lru_cache(maxsize=64)
def _tables(terms: int) -> tuple[Array, Array, Array]:
    """Tables that take coefficients of powers of u to coefficients of Bernstein's basis on [a, b].

    For u^k = sum_i shift[k, i] a^gap[k, i] (u - a)^i, and x^i = sum_l basis[i, l] B_l(x).
    """
    k, i = np.arange(terms)[:, None], np.arange(terms)
    return comb(k, i), np.maximum(k - i, 0), comb(i, k) / comb(terms - 1, k)

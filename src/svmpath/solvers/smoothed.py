"""Machines with an elbow in features, to a given duality gap: Newton's method on a smoothed loss.

The problem, with f = A x, A = [Z, 1], x = (w, b), and terms j of row r_j, each with a side +-1, a limit o and a weight
s (hinge: side = y, o = 1; epsilon-insensitive: two terms per row, side = +-1, o = +-y - epsilon)::

    minimise   lambda / 2 |w|^2 + sum_j s_j max(0, u_j),      u_j = o_j - side_j f_{r_j}

max(0, u) is replaced by the function that is u^2 / (2 h) between 0 and h, and u - h/2 beyond: its derivatives
a_j = s_j min(max(u_j / h, 0), 1) are coefficients of the dual problem, and only rows between 0 < u < h count in the
second derivative. theta_i = sum of side_j a_j over the terms of row i is made to sum to zero, and with
w = Z'theta / lambda the duality gap times lambda is

    lambda |w|^2 - sum_j o_j a_j + sum_j s_j max(0, u_j)

whatever a is: h becomes smaller until it is small enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from svmpath.exceptions import PathError
from svmpath.lazy import lazy
from svmpath.solvers.newton import Newton
from svmpath.solvers.offset import middle

Array = np.ndarray

_STEPS_PER_H = 40  # of Newton's method
_H_FACTOR = 0.25  # the smallest factor of h from one stage to the next
_MOST_WIDENINGS = 6  # times that h is made larger again
_H_FIRST = 1.0  # the h to begin with
_H_LAST = 1e-12  # the smallest h
_OFFSET_RIDGE = 1e-10  # on the offset, in units of all weights: it only keeps an empty second derivative regular
_WORTH_SINGLE = 1_000_000  # entries of A from which on single precision saves time
_SINGLE_TOL, _SINGLE_H = 1e-5, 3e-3  # the smallest tol and the smallest h for which it is enough
_SINGLE_ROUNDING = 1e-3  # rows nearer to the margin than this are looked at, whatever single precision says of them
_MOSTLY = 0.5  # share of the rows from which on all are looked at
_SPARE = 1.3  # times as many rows as needed may be held
_DISTANCE = 0.3  # how far beyond the margin rows are looked at
_PART = 0.05  # the share of the gap aimed at that the gradient may leave
_MOST_REFINED = 1000  # rows between 0 and h up to which their coefficients are computed anew
_BISECTIONS = 60
_SLOPE_ZERO = 1e-12  # a slope less than this part of all weights is zero
_BALANCED = 1e-10  # relative; how far the coefficients of both sides may differ
_TINY = np.finfo(float).tiny
_PIECES = 32  # into which a stretch between two nodes is cut for its bound


@dataclass(frozen=True, eq=False)
class Terms:
    """The features and the terms; arrays of shape (k, n) with k terms per row.

    Attributes
    ----------
    A : array of shape (n, r + 1)
        The last column is one.
    side, limit, s : arrays of shape (k, n)
    """

    A: Array
    side: Array
    limit: Array
    s: Array
    is_single: bool = False

    @lazy
    def light(self) -> Array:
        """The features in the precision that is searched with."""
        return self.A.astype(np.float32, copy=False) if self.is_single else self.A

    @lazy
    def single(self) -> Terms:
        """The same in single precision: enough while h is wide, at half the traffic."""
        return replace(self, is_single=True)

    @lazy
    def longest(self) -> float:
        """The largest norm of a row of features."""
        return float(np.sqrt(np.einsum("ij,ij->i", self.light, self.light).max()))

    @lazy
    def breadth(self) -> float:
        """How far apart the decision values are that the terms ask for."""
        wanted = self.side * self.limit
        return float(np.ptp(wanted)) if wanted.size else 0.0

    def product(self, x: Array) -> Array:
        """A x."""
        return (self.light @ x.astype(self.light.dtype, copy=False)).astype(float, copy=False)

    def back(self, v: Array) -> Array:
        """A' v."""
        return (self.light.T @ v.astype(self.light.dtype, copy=False)).astype(float, copy=False)

    def take(self, rows: Array) -> Terms:
        """Some of the rows, in the same precision."""
        if len(rows) == self.side.shape[1]:
            return self
        return Terms(self.light[rows], self.side[:, rows], self.limit[:, rows], self.s[:, rows], self.is_single)

    def u(self, f: Array) -> Array:
        """What each term is above zero: o - side f."""
        return self.limit - self.side * f


@dataclass(frozen=True, eq=False)
class Node:
    """A machine that is optimal up to its gap, in units of theta: everything is multiplied by lambda.

    Attributes
    ----------
    lam : float
    a : array of shape (k, n)
        Coefficients between 0 and s.
    x : array of shape (r + 1,)
        Z'theta, and lambda b.
    reward : float
        sum_j o_j a_j.
    gap : float
        lambda^2 times the duality gap.
    dual : float
        lambda^2 times the dual objective.
    h : float
        The smoothing that was needed.
    """

    lam: float
    a: Array
    x: Array
    reward: float
    gap: float
    dual: float
    h: float

    @property
    def relative(self) -> float:
        """The gap over the primal objective."""
        return self.gap / max(self.gap + self.dual, np.finfo(float).tiny)


class Seen:
    """The rows that Newton's method looks at, copied out of all; kept from one machine to the next where they serve.

    To copy rows takes as long as several steps with them, and from one machine to the next few rows change.
    """

    def __init__(self, terms: Terms) -> None:
        self._all = terms
        self.rows, self.terms = np.arange(terms.side.shape[1]), terms

    def show(self, near: Array) -> None:
        """Hold these rows at least."""
        if near.mean() > _MOSTLY:  # to copy so many rows takes longer than to look at the others, too
            near = np.ones_like(near)
        count = np.count_nonzero(near)
        if len(self.rows) <= _SPARE * count and np.count_nonzero(near[self.rows]) == count:
            return
        self.rows = np.flatnonzero(near)
        self.terms = self._all.take(self.rows)

    @property
    def near(self) -> Array:
        """Which of all rows are held."""
        near = np.zeros(self._all.side.shape[1], dtype=bool)
        near[self.rows] = True
        return near


def solve(terms: Terms, lam: float, tol: float, start: Array, h: float = _H_FIRST, kept: Seen | None = None) -> Node:
    """The machine at lambda with a relative duality gap of at most tol, from x = (w, b) and with a first h.

    Newton's method sees the rows that are not far beyond the margin; should others come near it, they are added. The
    gap has a part that h makes, and one that rounding makes: where that is larger, the coefficients are computed anew.
    ``kept`` holds the rows of the machine before.
    """
    x, best, widenings, is_wide = start, None, 0, terms.A.size >= _WORTH_SINGLE and tol >= _SINGLE_TOL
    kept = Seen(terms) if kept is None else kept
    near = _near(terms, (terms.single if is_wide else terms).product(start))
    while True:
        is_wide = is_wide and h >= _SINGLE_H
        kept.show(near)
        near, rows = kept.near, kept.rows
        every, seen = (terms.single, kept.terms.single) if is_wide else (terms, kept.terms)
        (x, _), is_found = _Smoothed(seen, lam, h, _PART * tol).minimise(_Point(x, seen.product(x)))
        f = every.product(x)
        if np.any(_near(terms, f, 0.0) & ~near):
            near |= _near(terms, f)
            continue
        node = _certify(every, seen, rows, lam, h, x, f)
        if is_wide and node.relative <= tol:  # what is promised is proved in double precision
            node = _certify(terms, kept.terms, rows, lam, h, x, f)
            is_wide = node.relative <= tol
        u = np.clip(seen.u(f[rows]), 0.0, h)
        smoothed_away = float(np.sum(seen.s * u * (1.0 - u / h)))  # the gap at the minimum of the smoothed problem
        if not is_wide and node.relative > tol and node.gap > 2.0 * lam * smoothed_away:
            node = _refined(terms, node)
        best = node if best is None or node.relative < best.relative else best
        if best.relative <= tol or h <= _H_LAST or widenings > _MOST_WIDENINGS:
            return best
        if is_found:
            h *= max(min(0.8 * tol / node.relative, 0.8), _H_FACTOR)
        elif is_wide:  # rounding
            is_wide = False
        else:  # too few rows in between to find the way: a wider loss first
            h, widenings = h / _H_FACTOR**2, widenings + 1


def _near(terms: Terms, f: Array, distance: float = _DISTANCE) -> Array:
    """Which rows are not farther beyond the margin than this."""
    return np.asarray((terms.u(f) > -distance).any(axis=0))


class _Point(NamedTuple):
    """x = (w, b) and the decision values f = A x."""

    x: Array
    f: Array


class _Smoothed(Newton[_Point]):
    """The smoothed problem at one h, to be minimised until what the gradient adds to the gap is less than tol.

    The gap holds |gradient|^2 / (2 lambda), which is to be less than tol of the objective: much more than what is
    missing to the minimum, where the rows in between make the problem steep.
    """

    most_steps = _STEPS_PER_H

    def __init__(self, terms: Terms, lam: float, h: float, tol: float) -> None:
        self._terms, self._lam, self._h, self._tol = terms, lam, h, tol
        self._weight = terms.s.sum()

    def is_minimum(self, point: _Point) -> bool:
        terms, lam, x = self._terms, self._lam, point.x
        self._u = u = terms.u(point.f)
        a = terms.s * np.clip(u / self._h, 0.0, 1.0)
        self._gradient = gradient = -terms.back((terms.side * a).sum(axis=0))
        gradient[:-1] += lam * x[:-1]
        value = 0.5 * lam * x[:-1] @ x[:-1] + np.sum(terms.s * np.maximum(u, 0.0))
        # To make up for what the sum of the coefficients misses costs that much times a move of the offset.
        missed = abs(gradient[-1]) * terms.breadth
        size = 0.5 * gradient[:-1] @ gradient[:-1] / lam
        return bool(size <= self._tol * value and missed <= self._tol * value)

    def aim(self, point: _Point) -> _Point:
        """The step of x, and what it adds to f."""
        terms, u = self._terms, self._u
        curvature = np.where((u > 0.0) & (u < self._h), terms.s / self._h, 0.0).sum(axis=0)
        rows = np.flatnonzero(curvature)
        B = terms.light[rows] * np.sqrt(curvature[rows]).astype(terms.light.dtype)[:, None]
        step = -_regular_solve(B, self._lam, _OFFSET_RIDGE * self._weight, self._gradient)
        return _Point(step, terms.product(step))

    def advance(self, point: _Point, aim: _Point) -> tuple[_Point, bool]:
        """To the minimum along the step: a zero of a derivative that rises piecewise linearly."""
        terms, lam, h, step = self._terms, self._lam, self._h, aim.x[:-1]
        linear, square, rate = lam * point.x[:-1] @ step, lam * step @ step, -terms.side * aim.f

        def slope(tau: float) -> tuple[float, float]:
            v = self._u + tau * rate
            inner = (v > 0.0) & (v < h)
            first = linear + tau * square + np.sum(terms.s * rate * np.clip(v / h, 0.0, 1.0))
            return float(first), float(square + np.sum(terms.s[inner] * rate[inner] ** 2) / h)

        tau = rising_root(slope)
        return _Point(point.x + tau * aim.x, point.f + tau * aim.f), False


def _regular_solve(B: Array, lam: float, ridge: float, v: Array) -> Array:
    """(B'B + diag(lambda, .., lambda, ridge))^-1 v, in the precision of B, or in double if that is too little.

    With few rows W = B without its last column e, G = I + W W' / lambda is small: (W'W + lambda)^-1 = (I - W' G^-1 W /
    lambda) / lambda, and the offset is eliminated.
    """
    W, e = B[:, :-1], B[:, -1]
    try:
        if len(B) > B.shape[1]:
            H = B.T @ B
            H[np.diag_indices(len(v))] += np.append(np.full(len(v) - 1, lam), ridge)
            return cho_solve(cho_factor(H, check_finite=False), v, check_finite=False)
        G = W @ W.T
        G /= lam
        G[np.diag_indices(len(G))] += 1.0
        right = np.column_stack([e, W @ (v[:-1] / lam).astype(B.dtype)])
        inner = cho_solve(cho_factor(G, check_finite=False), right, check_finite=False).astype(float)
    except LinAlgError as error:
        if B.dtype == np.float64:
            raise PathError(
                "The features are too large for double precision at this C: scale the columns, or end the span earlier."
            ) from error
        return _regular_solve(B.astype(float), lam, ridge, v)
    offset = (v[-1] - e @ inner[:, 1]) / (ridge + e @ inner[:, 0])
    return np.append((v[:-1] - W.T @ (inner[:, 1] + offset * inner[:, 0]).astype(B.dtype)) / lam, offset)


def rising_root(slope: Callable[[float], tuple[float, float]]) -> float:
    """A zero of a rising function that is negative at 0, by Newton's method with a bracket; 0 if there is none."""
    low, high, tau = 0.0, np.inf, 1.0
    for _ in range(_BISECTIONS):
        value, derivative = slope(tau)
        if value <= 0.0:
            low = tau
        else:
            high = tau
        following = tau - value / derivative if derivative > 0.0 else np.inf
        if not low < following < high:
            following = 0.5 * (low + high) if np.isfinite(high) else 2.0 * tau
        if abs(following - tau) <= 1e-12 * tau or not np.isfinite(following):
            return tau
        tau = following
    return low


def _certify(terms: Terms, seen: Terms, rows: Array, lam: float, h: float, x: Array, f: Array) -> Node:
    """The dual coefficients at x, with the offset at which they sum to zero, and what they prove.

    Rows that are not seen have u < 0 at x, and no coefficient. The machine of the coefficients is another one than x;
    where it differs from x by so little that their u stays negative, too, they need not be looked at.
    """
    u = seen.u(f[rows])

    def coefficients(shift: float) -> Array:
        return seen.s * np.clip((u - seen.side * shift) / h, 0.0, 1.0)

    def excess(shift: float) -> float:  # rises with the offset
        return -float(np.sum(seen.side * coefficients(shift)))

    lowest, highest, shift = -1.0, 1.0, 0.0
    while excess(lowest) > 0.0 and lowest > -1e12:
        lowest *= 2.0
    while excess(highest) < 0.0 and highest < 1e12:
        highest *= 2.0
    if excess(lowest) * excess(highest) <= 0.0:
        shift = float(brentq(excess, lowest, highest, xtol=1e-15, rtol=1e-14))
    a = coefficients(shift)
    ups, downs = a[seen.side > 0].sum(), a[seen.side < 0].sum()
    if max(ups, downs) > 0.0:  # against rounding
        a *= np.where(seen.side > 0, min(1.0, downs / max(ups, _TINY)), min(1.0, ups / max(downs, _TINY)))
    every = np.zeros_like(terms.s)
    every[:, rows] = a
    node = node_of(seen, lam, a, lam * (x[-1] + shift), h)
    unseen = np.delete(np.arange(len(f)), rows) if len(rows) < len(f) else rows[:0]
    nearest = terms.u(f)[:, unseen].max(initial=-np.inf)
    moved = np.abs(node.x[-1] / lam - x[-1]) + terms.longest * np.linalg.norm(node.x[:-1] / lam - x[:-1])
    if nearest + moved >= -_SINGLE_ROUNDING:
        return node_of(terms, lam, every, node.x[-1], h)
    return replace(node, a=every)


def _refined(terms: Terms, node: Node) -> Node:
    """The machine with the same places, its coefficients not from u / h, which has few digits where they are small.

    A row has one term with u > 0 at most. With its side y and limit o, theta = y a, those in between (I) and those at
    their weight (J) have u_I = h a_I / s_I, which is

        (K_II + lambda h / s_I) theta_I + lambda b = lambda y o_I - K_IJ theta_J,        sum theta_I = -sum theta_J
    """
    lam, h = node.lam, node.h
    term, every = np.argmax(node.a, axis=0), np.arange(node.a.shape[1])
    a, s, side = (each[term, every] for each in (node.a, terms.s, terms.side))
    inner, full = np.flatnonzero((a > 0.0) & (a < s)), np.flatnonzero((a > 0.0) & (a >= s))
    if not 0 < len(inner) <= _MOST_REFINED:
        return node
    Z, theta = terms.A[:, :-1], side * a
    M = np.ones((len(inner) + 1, len(inner) + 1))
    M[:-1, :-1] = Z[inner] @ Z[inner].T + np.diag(lam * h / s[inner])
    M[-1, -1] = 0.0
    right = lam * (side * terms.limit[term, every])[inner] - Z[inner] @ (Z[full].T @ theta[full])
    try:
        solved = np.linalg.solve(M, np.append(right, -theta[full].sum()))
    except np.linalg.LinAlgError:
        return node
    new = node.a.copy()
    new[term[inner], inner] = np.clip(side[inner] * solved[:-1], 0.0, s[inner])
    refined = node_of(terms, lam, new, float(solved[-1]), h)
    is_balanced = abs(np.sum(terms.side * new)) <= _BALANCED * new.sum()
    return refined if is_balanced and refined.relative < node.relative else node


def node_of(terms: Terms, lam: float, a: Array, offset: float, h: float) -> Node:
    """What coefficients and an offset (times lambda) prove."""
    x = terms.back((terms.side * a).sum(axis=0))
    x[-1] = offset
    f = terms.product(x)
    size, reward = float(x[:-1] @ x[:-1]), float(np.sum(terms.limit * a))
    losses = float(np.sum(terms.s * np.maximum(lam * terms.limit - terms.side * f, 0.0)))
    gap = size - lam * reward + losses
    return Node(lam, a, x, reward, max(gap, 0.0), lam * reward - 0.5 * size, h)


def middle_offset(terms: Terms, x: Array) -> float:
    """The offset with the least losses beside x = (w, .); the middle one where many are as good, as with little C.

    The losses fall while the rows that a larger offset helps weigh more than those that it hurts.
    """
    f = terms.A[:, :-1] @ x[:-1]
    kink = (terms.side * (terms.limit - terms.side * f)).ravel()  # where a term reaches zero
    order = np.argsort(kink, kind="stable")
    s, kink = terms.s.ravel()[order], kink[order]
    # At the far left every term of side +1 counts. Each kink passed makes the slope rise by s: one less of side +1, or
    # one more of side -1.
    slope = np.cumsum(s) - float(terms.s[terms.side > 0].sum())
    level = _SLOPE_ZERO * float(s.sum())
    first, last = np.searchsorted(slope, -level), np.searchsorted(slope, level, side="right")
    return middle(kink[[first]], kink[[min(last, len(kink) - 1)]])


def between(one: Node, other: Node) -> float:
    """A bound of the relative gap of all machines on the straight line from one node to another.

    With tau from 0 to 1, lambda, a and x are linear in tau; the sum of the losses is convex; so the gap is at most
    ``(1 - tau) gap_0 + tau gap_1 + tau (1 - tau) bump``, and the dual objective at least
    ``(1 - tau) dual_0 + tau dual_1 - tau (1 - tau) dip``.
    """
    square = float(np.sum((one.x - other.x)[:-1] ** 2))
    cross = (other.lam - one.lam) * (other.reward - one.reward)
    bump, dip = max(cross - square, 0.0), max(cross - 0.5 * square, 0.0)
    tau = np.linspace(0.0, 1.0, _PIECES + 1)
    # On each piece: the largest gap over the smallest dual objective that the piece can have.
    part = tau * (1.0 - tau)
    gap = (1 - tau) * one.gap + tau * other.gap + part * bump
    dual = (1 - tau) * one.dual + tau * other.dual - part * dip
    slack = 0.25 / _PIECES**2  # most that tau (1 - tau) exceeds its chord within a piece
    top = np.maximum(gap[1:], gap[:-1]) + slack * bump
    bottom = np.minimum(dual[1:], dual[:-1]) - slack * dip
    if not top.any():  # no gap anywhere
        return 0.0
    if np.any(bottom <= 0.0):
        return np.inf
    return float(np.max(top / (top + bottom)))

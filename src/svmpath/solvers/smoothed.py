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
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from svmpath.lazy import lazy

Array = np.ndarray

_STEPS = 40  # of Newton's method at one h
_SHRINK = 0.25  # the smallest factor of h from one stage to the next
_LOST = 6  # times that h is made larger again
_WIDE = 1.0  # the h to begin with
_NARROW = 1e-12  # the smallest h
_PART = 0.05  # the share of the gap aimed at that the gradient may leave
_BISECTIONS = 60
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

    @lazy
    def light(self) -> Array:
        """The features in single precision: enough to search with, at half the traffic."""
        return self.A.astype(np.float32)

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


def solve(terms: Terms, lam: float, tol: float, start: Array, h: float = _WIDE) -> Node:
    """The machine at lambda with a relative duality gap of at most tol, from x = (w, b) and with a first h."""
    x, f, best, lost = start.copy(), terms.A @ start, None, 0
    while True:
        x, f, is_found = _newton(terms, lam, h, x, f, _PART * tol)
        node = certify(terms, lam, h, x, f)
        best = node if best is None or node.relative < best.relative else best
        if best.relative <= tol or h <= _NARROW or lost > _LOST:
            return best
        if is_found:
            h *= max(min(0.8 * tol / node.relative, 0.8), _SHRINK)
        else:  # too few rows in between to find the way: a wider loss first
            h, lost = h / _SHRINK**2, lost + 1


def _newton(terms: Terms, lam: float, h: float, x: Array, f: Array, tol: float) -> tuple[Array, Array, bool]:
    """The minimum of the smoothed problem, until what the gradient leaves of the gap is less than tol of the objective.

    The gap holds |gradient|^2 / (2 lambda): much more than what is missing to the minimum, where the rows in between
    make the problem steep.
    """
    A = terms.light
    ridge = np.full(len(x), lam)
    ridge[-1] = 1e-10 * terms.s.sum()  # of the offset: it only keeps an empty second derivative regular
    for _ in range(_STEPS):
        u = terms.u(f)
        a = terms.s * np.clip(u / h, 0.0, 1.0)
        gradient = -(A.T @ (terms.side * a).sum(axis=0).astype(A.dtype)).astype(float)
        gradient[:-1] += lam * x[:-1]
        value = 0.5 * lam * x[:-1] @ x[:-1] + np.sum(terms.s * np.maximum(u, 0.0))
        if 0.5 * gradient[:-1] @ gradient[:-1] / lam <= tol * value and abs(gradient[-1]) <= tol * terms.s.sum():
            return x, f, True
        curvature = np.where((u > 0.0) & (u < h), terms.s / h, 0.0).sum(axis=0)
        rows = np.flatnonzero(curvature)
        B = terms.A[rows] * np.sqrt(curvature[rows])[:, None]
        H = B.T @ B
        H[np.diag_indices(len(x))] += ridge
        step = -_regular_solve(H, gradient)
        moved = (A @ step.astype(A.dtype)).astype(float)
        tau = _line_search(terms, lam, h, x, u, step, moved)
        x, f = x + tau * step, f + tau * moved
    return x, f, False


def _regular_solve(H: Array, gradient: Array) -> Array:
    """H^-1 gradient, H being lifted where rounding has left it without a Cholesky factor."""
    lift = 0.0
    while True:
        try:
            return cho_solve(cho_factor(H + lift * np.eye(len(H)), check_finite=False), gradient, check_finite=False)
        except LinAlgError:
            lift = max(10.0 * lift, 1e-14 * float(np.trace(H)))


def _line_search(terms: Terms, lam: float, h: float, x: Array, u: Array, step: Array, moved: Array) -> float:
    """The minimum along a step: a zero of a derivative that rises piecewise linearly."""
    linear, square = lam * x[:-1] @ step[:-1], lam * step[:-1] @ step[:-1]
    rate = -terms.side * moved

    def slope(tau: float) -> tuple[float, float]:
        v = u + tau * rate
        inner = (v > 0.0) & (v < h)
        first = linear + tau * square + np.sum(terms.s * rate * np.clip(v / h, 0.0, 1.0))
        return float(first), float(square + np.sum(terms.s[inner] * rate[inner] ** 2) / h)

    return rising_root(slope)


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


def certify(terms: Terms, lam: float, h: float, x: Array, f: Array) -> Node:
    """The dual coefficients at x, with the offset at which they sum to zero, and what they prove."""
    b = x[-1] + _balance(terms, h, f)
    a = terms.s * np.clip(terms.u(f + (b - x[-1])) / h, 0.0, 1.0)
    positive = terms.side > 0
    ups, downs = a[positive].sum(), a[~positive].sum()
    if ups > downs:
        a = np.where(positive, a * (downs / ups), a)
    elif downs > ups:
        a = np.where(positive, a, a * (ups / downs))
    return node_of(terms, lam, a, lam * b, h)


def _balance(terms: Terms, h: float, f: Array) -> float:
    """What to add to the offset so that the coefficients of both sides weigh the same."""
    u, lowest, highest = terms.u(f), -1.0, 1.0

    def excess(shift: float) -> float:  # rises with the offset
        return -float(np.sum(terms.side * terms.s * np.clip((u - terms.side * shift) / h, 0.0, 1.0)))

    while excess(lowest) > 0.0 and lowest > -1e12:
        lowest *= 2.0
    while excess(highest) < 0.0 and highest < 1e12:
        highest *= 2.0
    if excess(lowest) * excess(highest) > 0.0:
        return 0.0
    return float(brentq(excess, lowest, highest, xtol=1e-15, rtol=1e-14))


def node_of(terms: Terms, lam: float, a: Array, offset: float, h: float) -> Node:
    """What coefficients and an offset (times lambda) prove."""
    x = terms.A.T @ (terms.side * a).sum(axis=0)
    x[-1] = offset
    f = terms.A @ x
    size, reward = float(x[:-1] @ x[:-1]), float(np.sum(terms.limit * a))
    losses = float(np.sum(terms.s * np.maximum(lam * terms.limit - terms.side * f, 0.0)))
    gap = size - lam * reward + losses
    return Node(lam, a, x, reward, max(gap, 0.0), lam * reward - 0.5 * size, h)


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
    bottom = np.minimum(dual[1:], dual[:-1])
    if np.any(bottom <= 0.0):
        return np.inf
    return float(np.max(top / (top + bottom)))

"""The elastic-net hinge machine at one point of its parameters, without a path: an interior-point method.

The problem of ``solvers.elastic`` with beta = p - q, p, q >= 0, and slacks s, t >= 0 of |c_j| <= lambda1 om_j::

    margin - y b - Z beta = xi - eta,     c = Z'alpha,     y'alpha = 0
    lambda1 om - (c - lambda2 beta) = s,     lambda1 om + (c - lambda2 beta) = t
    xi (w - alpha) = eta alpha = p s = q t = mu -> 0          (columns without a penalty: c = lambda2 beta instead)

A Newton step of these, with everything but alpha, beta and b eliminated, is the system

    D da + Z dx + y db = g,     Z'da - T dx = h,     y'da = k          D, T > 0 and diagonal

whose smaller half is factorised. Nearly dependent rows do it no harm, and it needs no start, so that it is the last
resort of the walk. It ends at a relative gap of 1e-10 or so, inside of the set of solutions; the walk's own steps make
a corner of it (``solvers.elastic.walk.corner``).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from svmpath.solvers.elastic.design import Design
from svmpath.solvers.elastic.measure import relative_gap
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, OUT, RIGHT
from svmpath.solvers.loops.elastic_tolerances import NEWTON_STEPS, NO_GAIN, RIDGE, SMALL_ENOUGH, TO_BOUNDARY
from svmpath.solvers.parallel import checkpoint

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Direct:
    """A point near the optimum: coefficients, and which of them the two sides of each product decide.

    Attributes
    ----------
    alpha : array of shape (n,)
    beta : array of shape (p,)
    b : float
    place : array of int8 of shape (n,)
        RIGHT where alpha is at 0, LEFT where it is at its weight, ELBOW between; OUT without a weight.
    is_used : array of bool of shape (p,)
    gap : float
        Relative duality gap.
    """

    alpha: Array
    beta: Array
    b: float
    place: Array
    is_used: Array
    gap: float


def solve_directly(design: Design, w: Array, lam1: float, lam2: float) -> Direct:
    """The machine at one point; samples without weight and their alpha = 0 are left aside."""
    Z, rows = design.Z, np.flatnonzero(w > 0.0)
    size = np.where(design.zmax > 0.0, design.zmax, 1.0)
    unit = float(w[rows].mean())
    part = Z[rows].multiply(1.0 / size).tocsr() if sparse.issparse(Z) else Z[rows] / size
    wall, ridge = lam1 * design.om / size / unit, lam2 / size**2 / unit
    newton = _Newton(part, design.y[rows], wall, ridge, design.margin[rows], w[rows] / unit)
    best, since = None, 0
    for _ in range(NEWTON_STEPS):
        checkpoint()
        alpha, beta, b = np.zeros(len(w)), newton.beta / size, float(newton.b)
        alpha[rows] = newton.alpha * unit
        gap = relative_gap(design, w, lam1, lam2, alpha, beta, b)
        since += 1
        if best is None or gap < best.gap:
            since = 0 if best is None or gap < 0.5 * best.gap else since
            place = np.full(len(w), OUT, np.int8)
            place[rows] = newton.places()
            best = Direct(alpha, beta, b, place, newton.used(), gap)
        if best.gap <= SMALL_ENOUGH or since > NO_GAIN:
            break
        with np.errstate(all="ignore"):  # near the end numbers may vanish: then it is over
            if not newton.step():
                break
    assert best is not None
    return best


class _Newton:
    """The iterates; weights of mean one and columns of size one."""

    def __init__(self, Z: Any, y: Array, wall: Array, lam2: Array, margin: Array, w: Array) -> None:
        self.Z, self.y, self.wall, self.lam2, self.margin, self.w = Z, y, wall, lam2, margin, w
        self.walled = wall != 0.0  # columns with a penalty
        up, down = w[y > 0].sum(), w[y < 0].sum()
        share = 0.5 * min(up, down) / np.where(y > 0, up or 1.0, down or 1.0)
        self.alpha = w * np.maximum(share, 1e-3)
        self.v = w - self.alpha  # kept apart: near its bound the difference has no digits
        self.b, self.beta = 0.0, np.zeros(len(wall))
        self.xi, self.eta = np.ones(len(y)), np.ones(len(y))
        self.p, self.q = np.ones(len(wall)), np.ones(len(wall))
        c = np.abs(np.asarray(Z.T @ self.alpha))
        self.s = np.maximum(wall, c) + 1.0
        self.t = self.s.copy()

    def places(self) -> Array:
        """Where each alpha goes: to zero, to its weight, or to neither."""
        low, high = self.eta > self.alpha / self.w, self.xi > self.v / self.w
        return np.where(low, RIGHT, np.where(high, LEFT, ELBOW))

    def used(self) -> Array:
        """Whether a coefficient, rather than its slack, stays away from zero."""
        total = self.w.sum()
        return ~self.walled | (self.p > self.s / total) | (self.q > self.t / total)

    def step(self) -> bool:
        """A predictor and a corrector step; False where nothing moves any more."""
        v, f = self.v, self.walled
        pairs = 2 * len(v) + 2 * int(f.sum())
        mu = (self.xi @ v + self.eta @ self.alpha + self.p[f] @ self.s[f] + self.q[f] @ self.t[f]) / pairs
        try:
            system = self._factorise()
        except linalg.LinAlgError:
            return False
        goals = [-self.xi * v, -self.eta * self.alpha, -self.p * self.s, -self.q * self.t]
        first = self._direction(system, goals)
        go, back = self._lengths(first)
        da, _, _, dxi, deta, dp, dq, ds, dt = first
        far = (self.xi + go * dxi) @ (v - back * da) + (self.eta + go * deta) @ (self.alpha + back * da)
        far += (self.p + go * dp)[f] @ (self.s + back * ds)[f] + (self.q + go * dq)[f] @ (self.t + back * dt)[f]
        aim = mu * max((far / pairs / mu) ** 3, 1e-6) if mu > 0 else 0.0
        second = (dxi * -da, deta * da, dp * ds, dq * dt)
        moved = self._direction(system, [goal + aim - both for goal, both in zip(goals, second, strict=True)])
        if not all(np.isfinite(part).all() for part in moved):
            return False
        go, back = self._lengths(moved)
        if max(go, back) < 1e-10:
            return False
        go, back = (TO_BOUNDARY * length if length < 1 else 1.0 for length in (go, back))
        # Primal numbers by one length and dual ones by another, as beta in s and t allows: one where lambda2 > 0.
        if self.lam2.any():
            go = back = min(go, back)
        da, dx, db, dxi, deta, dp, dq, ds, dt = moved
        self.alpha, self.v = self.alpha + back * da, self.v - back * da
        self.beta, self.b = self.beta + go * dx, self.b + go * db
        self.xi, self.eta = self.xi + go * dxi, self.eta + go * deta
        self.p, self.q = self.p + go * dp, self.q + go * dq
        self.s, self.t = self.s + back * ds, self.t + back * dt
        return True

    def _lengths(self, direction: tuple[Any, ...]) -> tuple[float, ...]:
        """How far primal and dual numbers stay positive, at most one."""
        da, _, _, dxi, deta, dp, dq, ds, dt = direction
        f = self.walled
        primal = ((self.xi, dxi), (self.eta, deta), (self.p[f], dp[f]), (self.q[f], dq[f]))
        dual = ((self.alpha, da), (self.v, -da), (self.s[f], ds[f]), (self.t[f], dt[f]))
        return tuple(
            min(float(np.min(-here[move < 0.0] / move[move < 0.0], initial=1.0)) for here, move in pairs)
            for pairs in (primal, dual)
        )

    def _factorise(self) -> tuple[Any, ...]:
        """The diagonals D and T, and the factor of the smaller half; fails where rounding has the last word."""
        D = self.xi / self.v + self.eta / self.alpha
        theta = self.p / self.s + self.q / self.t
        T = self.lam2 + np.where(self.walled, 1.0 / theta, 0.0)
        T = np.maximum(T, RIDGE * max(float(T.max(initial=0.0)), 1.0))
        Z, (n, p) = self.Z, self.Z.shape
        if n <= p:
            H, diagonal = Z @ sparse.diags(1.0 / T) @ Z.T if sparse.issparse(Z) else (Z / T) @ Z.T, D
        elif sparse.issparse(Z):
            M = sparse.hstack([Z, self.y[:, None]]).tocsr()
            H, diagonal = M.T @ sparse.diags(1.0 / D) @ M, T
        else:
            M = np.column_stack([Z, self.y])
            H, diagonal = (M / D[:, None]).T @ M, T
        H = np.asarray(H.todense()) if sparse.issparse(H) else H
        H[np.diag_indices(len(diagonal))] += diagonal
        scale = np.abs(np.diagonal(H)).max(initial=0.0)
        for more in (0.0, 1e-15, 1e-13, 1e-11):  # a little more where rounding has made the diagonal negative
            with suppress(linalg.LinAlgError, ValueError):
                H[np.diag_indices(len(H))] += more * scale
                return D, T, theta, linalg.cho_factor(H, lower=True, check_finite=True)
        raise linalg.LinAlgError("not positive definite")

    def _direction(self, system: tuple[Any, ...], goals: list[Array]) -> tuple[Any, ...]:
        """The step that brings the four products to their goals, to first order."""
        D, T, theta, _ = system
        Z, y, v, free = self.Z, self.y, self.v, ~self.walled
        c = np.asarray(Z.T @ self.alpha) - self.lam2 * self.beta
        rest = self.margin - y * self.b - np.asarray(Z @ self.beta) - self.xi + self.eta
        over, under = self.wall - c - self.s, self.wall + c - self.t
        balance = goals[0] / v - goals[1] / self.alpha
        change = goals[2] / self.s - goals[3] / self.t - self.p / self.s * over + self.q / self.t * under
        # beta moves apart from p - q: what they differ by is made up for.
        change = change + (self.p - self.q - self.beta)
        g, h, k = rest - balance, np.where(free, -c, -change / theta), -float(y @ self.alpha)
        da, dx, db = self._solve(system, g, h, k)
        for _ in range(2):  # refined: the halves are badly conditioned at the end
            more = self._solve(
                system, g - D * da - np.asarray(Z @ dx) - y * db, h - np.asarray(Z.T @ da) + T * dx, k - float(y @ da)
            )
            da, dx, db = da + more[0], dx + more[1], db + more[2]
        dc = np.asarray(Z.T @ da) - self.lam2 * dx
        ds, dt = over - dc, under + dc
        dxi, deta = (goals[0] + self.xi * da) / v, (goals[1] - self.eta * da) / self.alpha
        dp, dq = (goals[2] - self.p * ds) / self.s, (goals[3] - self.q * dt) / self.t
        dp[free] = dq[free] = ds[free] = dt[free] = 0.0
        return da, dx, db, dxi, deta, dp, dq, ds, dt

    def _solve(self, system: tuple[Any, ...], g: Array, h: Array, k: float) -> tuple[Array, Array, float]:
        D, T, _, factor = system
        Z, y = self.Z, self.y
        if Z.shape[0] <= Z.shape[1]:
            right = g + np.asarray(Z @ (h / T))
            both = linalg.cho_solve(factor, np.column_stack([right, y]), check_finite=False)
            db = (y @ both[:, 0] - k) / (y @ both[:, 1])
            da = both[:, 0] - db * both[:, 1]
            return da, (np.asarray(Z.T @ da) - h) / T, float(db)
        right = np.append(np.asarray(Z.T @ (g / D)) - h, y @ (g / D) - k)
        moved = linalg.cho_solve(factor, right, check_finite=False)
        dx, db = moved[:-1], float(moved[-1])
        return (g - np.asarray(Z @ dx) - y * db) / D, dx, db

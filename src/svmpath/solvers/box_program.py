"""A quadratic program that moves with one parameter t, and its solution where no variable changes place.

The problem, for variables theta_j of row r_j and group p_j::

    minimise    1/2 sum_ij theta_i K[r_i, r_j] theta_j + c(t)'theta
    subject to  l(t) <= theta <= u(t),    sum of theta over group p = b_p(t)        (G theta = b)

with c, l, u, b affine in t: c(t) = c0 + t c1 and so on. With the multipliers nu of the groups the gradient is
``g_j = (K theta)_{r_j} + c_j + nu_{p_j}``, and theta is optimal where

    g_j >= 0 at LOW (theta_j = l_j),    g_j <= 0 at UP (theta_j = u_j),    g_j = 0 where FREE;

a FIXED variable stays at l_j(t), whatever its gradient. While no variable changes place, theta and nu are linear in
t.

Where the sum of theta is not to be kept, there is one more variable, the anchor: its row of K is zero, and its box so
wide that it is always FREE. Then its gradient, which is nu, is zero, and it takes up whatever the others sum to.

The elbow system of the free variables F is M = [0, G_F; G_F', K_FF], and R is its inverse. ``solvers.box_qp`` walks
along the solutions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

from svmpath.lazy import lazy
from svmpath.solvers.loops.box_state import FREE, UP, ProgramArrays
from svmpath.solvers.loops.box_tolerances import AT_BOUND, ORIGIN_FAR, ORIGIN_SAME, SINGULAR_BELOW
from svmpath.solvers.offset import middle

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Centred:
    """A kernel matrix whose origin was moved: the kernel is K_ij + h_i + h_j.

    Where theta sums to zero, that changes K theta by a constant, which the multiplier takes up.
    """

    K: Array
    h: Array


def centred(K: Array) -> Centred:
    """The matrix as it is, or with the origin among its points if they are far away from it and lose digits there."""
    n, diag = len(K), np.diagonal(K)
    spread = float(np.max(diag + K[0, 0] - 2 * K[0], initial=0.0))
    largest = float(np.max(diag, initial=0.0))
    if not ORIGIN_SAME * largest < spread < ORIGIN_FAR * largest:
        return Centred(K, np.zeros(n))
    h = K.mean(axis=0) - 0.5 * K.mean()
    return Centred(K - h - h[:, None], h)


def with_anchor(K: Array) -> Array:
    """The matrix with a last row and column of zeros."""
    return np.pad(K, (0, 1))


@dataclass(frozen=True, eq=False)
class Program:
    """The data of the program; see the module's first lines.

    Attributes
    ----------
    K : array of shape (n, n)
    rows, group : arrays of int of shape (N,)
        r and p.
    c0, c1, l0, l1, u0, u1 : arrays of shape (N,)
    b0, b1 : arrays of shape (q,)
    unit : array of three
        What one unit of f is in the gradient: unit_0 + t unit_1 + unit_2 (nu_0 - nu_last) / 2.
    """

    K: Array
    rows: Array
    group: Array
    c0: Array
    c1: Array
    l0: Array
    l1: Array
    u0: Array
    u1: Array
    b0: Array
    b1: Array
    unit: Array

    @lazy
    def kmax(self) -> float:
        """The unit of K: its largest diagonal entry."""
        return float(max(np.diagonal(self.K).max(initial=0.0), np.finfo(float).tiny))

    @lazy
    def data(self) -> ProgramArrays:
        """The same as compiled code takes it: of one type each, so that it is compiled once."""
        kinds = (float, np.int64, np.int64, *[float] * 9)
        names = ("K", "rows", "group", "c0", "c1", "l0", "l1", "u0", "u1", "b0", "b1", "unit")
        parts = (np.require(getattr(self, name), kind, ("C", "W")) for name, kind in zip(names, kinds, strict=True))
        return ProgramArrays._make([*parts, self.kmax])

    @lazy
    def speeds(self) -> tuple[float, float]:
        """The largest rates of c, and of the bounds."""
        bounds = max(np.abs(self.l1).max(initial=0.0), np.abs(self.u1).max(initial=0.0))
        return float(np.abs(self.c1).max(initial=0.0)), float(bounds)

    @lazy
    def fixed(self) -> Array:
        """Variables without room to move, at any t."""
        return (self.l0 == self.u0) & (self.l1 == self.u1)

    @property
    def is_plain(self) -> bool:
        """Whether variable j is row j, each once."""
        return len(self.rows) == len(self.K)

    def anchored(self) -> Program:
        """The program without the sum of its one group: one more variable, of the last row of K, takes it up."""
        wide0, wide1 = (2.0 * float(np.sum(up - low)) for up, low in ((self.u0, self.l0), (self.u1, self.l1)))
        last = len(self.K) - 1
        ends = {"rows": last, "group": 0, "c0": 0.0, "c1": 0.0, "l0": -wide0, "l1": -wide1, "u0": wide0, "u1": wide1}
        return replace(self, **{name: np.append(getattr(self, name), end) for name, end in ends.items()})

    def product(self, theta: Array) -> Array:
        """(K theta) at the row of each variable."""
        weights = theta if self.is_plain else np.bincount(self.rows, theta, len(self.K))
        support = np.flatnonzero(weights)
        is_sparse = 4 * len(support) < len(weights)
        f = weights[support] @ self.K[support] if is_sparse else self.K @ weights
        return f if self.is_plain else f[self.rows]

    def sums(self, theta: Array) -> Array:
        """G theta."""
        return np.bincount(self.group, theta, len(self.b0))

    def low(self, t: float) -> Array:
        """l(t)."""
        return self.l0 + t * self.l1

    def up(self, t: float) -> Array:
        """u(t)."""
        return self.u0 + t * self.u1

    def gradient(self, t: float, theta: Array, nu: Array) -> Array:
        """The gradient g at any point."""
        return self.product(theta) + self.c0 + t * self.c1 + nu[self.group]

    def least(self, t: float) -> float:
        """The theta that changes f by one, where that is known without the multipliers: much less counts as nothing."""
        return max(float(self.unit[0] + t * self.unit[1]), 0.0) / self.kmax

    def frozen(self, t: float) -> Program:
        """The program at one t, as one that does not move."""
        none, nothing = np.zeros_like(self.c0), np.zeros_like(self.b0)
        return replace(
            self, c0=self.c0 + t * self.c1, l0=self.low(t), u0=self.up(t), b0=self.b0 + t * self.b1,
            c1=none, l1=none, u1=none, b1=nothing,
            unit=np.array([self.unit[0] + t * self.unit[1], 0.0, self.unit[2]]),
        )  # fmt: skip


def elbow_matrix(program: Program, F: Array) -> Array:
    """M of the free variables F."""
    q, rows = len(program.b0), program.rows[F]
    M = np.zeros((q + len(F), q + len(F)))
    M[program.group[F], q + np.arange(len(F))] = 1.0
    M[q:, :q] = M[:q, q:].T
    M[q:, q:] = program.K[np.ix_(rows, rows)]
    return M


def elbow_inverse(program: Program, F: Array) -> Array | None:
    """R of the free variables F, or None where M is singular to working precision."""
    q = len(program.b0)
    if len(F) > q:
        return inverse(elbow_matrix(program, F), q, program.kmax)
    # One variable per group, as at a start: M = [0, P; P', K] with a permutation P.
    rows, R = program.rows[F], np.zeros((2 * q, 2 * q))
    R[program.group[F], q + np.arange(q)] = 1.0
    P = R[:q, q:]
    R[q:, :q] = P.T
    R[:q, :q] = -P @ program.K[np.ix_(rows, rows)] @ P.T
    return R


def inverse(M: Array, q: int, kmax: float) -> Array | None:
    """M^-1, or None where M is singular to working precision, its parts being brought to one scale."""
    scale = unit_scales(len(M), q, kmax)
    M = M * scale * scale[:, None]
    try:
        R = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return None
    condition = np.abs(M).sum(axis=0).max() * np.abs(R).sum(axis=0).max()
    return R * scale * scale[:, None] if condition * SINGULAR_BELOW < 1.0 else None


def unit_scales(size: int, q: int, kmax: float) -> Array:
    """Factors of rows and columns of M that bring its parts to one scale."""
    scale = np.full(size, kmax**-0.5)
    scale[:q] = kmax**0.5
    return scale


def at_places(program: Program, t: float, status: Array) -> tuple[Array, Array, Array] | None:
    """theta, nu and g at t with these places; None if the elbow system is singular."""
    q, F = len(program.b0), np.flatnonzero(status == FREE)
    theta = np.where(status == UP, program.up(t), program.low(t))
    theta[F] = 0.0
    nu = np.zeros(q)
    lu, pivots, info = lapack.dgetrf(elbow_matrix(program, F))
    if info:
        return None
    for _ in range(3):  # from zero; then refined
        g = program.gradient(t, theta, nu)
        residual = np.concatenate([program.b0 + t * program.b1 - program.sums(theta), -g[F]])
        step = lapack.dgetrs(lu, pivots, residual)[0]
        if not np.isfinite(step).all():
            return None
        nu += step[:q]
        theta[F] += step[q:]
    return theta, nu, program.gradient(t, theta, nu)


def offset_shift(program: Program, t: float, theta: Array, g: Array, near: float = AT_BOUND) -> Array:
    """What to add to nu so that each multiplier is the middle of its interval; zero where an elbow point fixes it."""
    low, up = program.low(t), program.up(t)
    width = near * np.minimum(up - low, max(np.abs(theta).max(initial=0.0), program.least(t)))
    is_low, is_up = theta <= low + width, theta >= up - width
    moves = ~program.fixed & (up > low)
    shift = np.zeros(len(program.b0))
    for p in range(len(shift)):
        mine = moves & (program.group == p)
        if not np.any(mine & ~is_low & ~is_up):
            shift[p] = middle(-g[mine & is_low], -g[mine & is_up])
    return shift

"""A quadratic program whose matrix moves with a parameter of the kernel, at fixed places.

The program is that of ``solvers.box_qp`` with c, l, u, b constant and K moving, and may have a ridge::

    minimise    1/2 theta' (K(v) + diag(rho)) theta + c'theta,    l <= theta <= u,    G theta = b

The value v of the kernel's parameter is given by t, which counts from the first value on: in the logarithm of v where
v is a scale. As long as no place changes, with F the free variables and B the others,

    M (nu, theta_F) = (b - G theta_B, -c_F - K_FB theta_B),         M = [ 0, G_F; G_F', K_FF + rho_F ]
    M (nu, theta_F)' = (0, -(K' theta)_F),        g' = K' theta + K_:F theta_F' + nu'

in which K' is the derivative by t: values and rates come from one factor. They need the kernel between the rows that
are watched and those with a coefficient, and no other entries.

The slacks are the distances that must not become negative: of a free variable from its bounds, in units of the box; of
a bound variable's gradient from zero, in units of f.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from svmpath.kernels import Kernel
from svmpath.lazy import lazy
from svmpath.solvers.box_qp import FREE, LOW, UP
from svmpath.solvers.parallel import interruptible

Array = np.ndarray

_EPS, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
_SINGULAR = 1e-14  # an elbow system with a smaller reciprocal condition number is not solved: two digits at most
_DEPENDENT_ON_FREE = 1e-10  # a variable whose Schur complement is less, in units of the largest K_ii, depends on F
_REGULAR = 1e-11  # the reciprocal condition number that is asked of the free variables at a start, far from singular


@dataclass(frozen=True)
class ParameterAxis:
    """A parameter between two values, and t from 0 to ``length`` along it.

    Attributes
    ----------
    first, last : float
    is_log : bool
        Whether t is the change of its logarithm, or its change.
    """

    first: float
    last: float
    is_log: bool

    @property
    def length(self) -> float:
        """The last t."""
        return abs(np.log(self.last / self.first)) if self.is_log else abs(self.last - self.first)

    @property
    def _sign(self) -> float:
        return 1.0 if self.last > self.first else -1.0

    def value(self, t: Any) -> Any:
        """The value at t."""
        return self.first * np.exp(self._sign * t) if self.is_log else self.first + self._sign * t

    def at(self, t: float) -> float:
        """The same for one t, quicker."""
        return self.first * math.exp(self._sign * t) if self.is_log else self.first + self._sign * t

    def t(self, value: float) -> float:
        """The t of a value between the ends."""
        change = np.log(value / self.first) if self.is_log else value - self.first
        return float(min(max(self._sign * change, 0.0), self.length))

    def rate(self, value: float) -> float:
        """The derivative of the value by t."""
        return self._sign * (value if self.is_log else 1.0)


@dataclass(frozen=True, eq=False)
class MovingProgram:
    """The data of the program.

    Attributes
    ----------
    kernel : Kernel
    S : object
        What ``kernel.compare`` gives for all rows: distances, say.
    name : str
        The parameter of the kernel that moves.
    axis : ParameterAxis
    rows, group : arrays of int of shape (N,)
        The row of each variable and the sum it counts in.
    c, low, up, rho, width : arrays of shape (N,)
        rho is added to the diagonal; width is the unit of theta.
    b : array of shape (q,)
    unit : float
        What one unit of f is in the gradient.
    n : int
        Number of rows.
    noise : array of shape (n,) or None
        What is added to the diagonal of K where it is numerically singular.
    """

    kernel: Kernel
    S: Any
    name: str
    axis: ParameterAxis
    rows: Array
    group: Array
    c: Array
    low: Array
    up: Array
    rho: Array
    width: Array
    b: Array
    unit: float
    n: int
    noise: Array | None = None

    def block(self, t: float, rows: Array, cols: Array) -> tuple[Array, Array]:
        """K and its derivative by t, between some rows and others."""
        return self.evaluate(t, self.kernel.part(self.S, rows, cols), rows, cols)

    def evaluate(self, t: float, S: Any, rows: Array, cols: Array) -> tuple[Array, Array]:
        """The same, from the part of S between them."""
        value = self.axis.at(t)
        K, rates = self.kernel.at(self.name, value).values_and_rates(S, self.name)
        if self.noise is not None:
            K = K + np.where(rows[:, None] == cols, self.noise[cols], 0.0)
        rates *= self.axis.rate(value)
        return K, rates


@dataclass(frozen=True, eq=False)
class SlackPoint:
    """theta, slacks and rates at one t.

    Attributes
    ----------
    t : float
    theta : array of shape (m,)
        Of the free variables.
    slacks, rates : arrays of shape (k,)
        Of the watched variables in the order of ``Places.names``.
    noise : float
        How far rounding may have moved theta, in units of the box.
    """

    t: float
    theta: Array
    slacks: Array
    rates: Array
    noise: float

    def some(self, which: Array) -> SlackPoint:
        """Only some of the slacks."""
        return SlackPoint(self.t, self.theta, self.slacks[which], self.rates[which], self.noise)


@dataclass(frozen=True, eq=False)
class Watched:
    """Which bound variables are watched, their signs, and what the kernel needs of them and of the free variables."""

    is_all: bool
    c: Array
    group: Array
    sign: Array
    rows: Array
    S: Any


class Places:
    """The places of all variables, which determine the point at any t.

    Attributes
    ----------
    free : array of int of shape (m,)
        The free variables F.
    bound : array of int
        The others, apart from those that have no room to move.
    """

    def __init__(self, program: MovingProgram, status: Array) -> None:
        p = self.program = program
        self.status = status
        self.free = np.flatnonzero(status == FREE)
        self.bound = np.flatnonzero((status == LOW) | (status == UP))
        self.sign = np.where(status[self.bound] == LOW, 1.0, -1.0) / p.unit
        theta = np.where(status == UP, p.up, p.low)
        theta[self.free] = 0.0
        self.theta = theta
        weights = np.bincount(p.rows, theta, p.n)
        others = weights.nonzero()[0]  # rows of bound variables with a coefficient
        self._weights = weights[others]
        self._cols = np.concatenate([p.rows[self.free], others])
        self._free_sums = p.b - np.bincount(p.group, theta, len(p.b))
        self._minus_c, self._width = -p.c[self.free], p.width[self.free]
        self._low, self._up = p.low[self.free] / self._width, p.up[self.free] / self._width
        self._rho, self._group = p.rho[self.free], p.group[self.free]
        self._border = len(p.b) + np.arange(len(self.free))
        self.lows = np.isfinite(self._low).nonzero()[0]
        self.tops = np.isfinite(self._up).nonzero()[0]

    def event(self, k: int, bound: Array) -> tuple[int, int]:
        """Variable and new status that belong to slack k, where the bound variables ``bound`` were watched."""
        if k < len(bound):
            return int(bound[k]), FREE
        k -= len(bound)
        if k < len(self.lows):
            return int(self.free[self.lows[k]]), LOW
        return int(self.free[self.tops[k - len(self.lows)]]), UP

    def position(self, j: int, status: int, bound: int) -> int:
        """The position of the slack of variable j with this status; of a free one, that to the bound it came from."""
        if status != FREE:
            return int(np.searchsorted(self.bound, j))
        k = int(np.searchsorted(self.free, j))
        if bound == LOW:
            return len(self.bound) + int(np.searchsorted(self.lows, k))
        return len(self.bound) + len(self.lows) + int(np.searchsorted(self.tops, k))

    @lazy
    def all_watched(self) -> Watched:
        """What is needed to watch all bound variables."""
        p = self.program
        rows = np.concatenate([p.rows[self.free], p.rows[self.bound]])
        S = p.kernel.part(p.S, rows, self._cols)
        return Watched(True, p.c[self.bound], p.group[self.bound], self.sign, rows, S)

    def watched(self, some: Array) -> Watched:
        """What is needed to watch the bound variables at some positions."""
        every, which = self.all_watched, np.concatenate([np.arange(len(self.free)), len(self.free) + some])
        S = self.program.kernel.part(every.S, which, np.arange(len(self._cols)))
        return Watched(False, every.c[some], every.group[some], every.sign[some], every.rows[which], S)

    def point(self, t: float, watched: Watched | None = None) -> SlackPoint | None:
        """The point at t, with the slacks of all bound variables or of those that are watched; None if singular."""
        seen, q, m = self.all_watched if watched is None else watched, len(self.program.b), len(self.free)
        K, dK = self.program.evaluate(t, seen.S, seen.rows, self._cols)
        M, scale = self._system(K[:m, :m])
        lu, pivots, info = lapack.dgetrf(M)
        if info:
            return None
        # Estimated if all variables are watched, else from the smallest pivot, which is faster.
        smallest = float(np.abs(lu.diagonal()).min()) / scale
        rcond = float(lapack.dgecon(lu, lapack.dlange("1", M))[0]) if seen.is_all else smallest
        if not rcond > _SINGULAR:
            return None
        right = np.empty(q + m)
        right[:q], right[q:] = scale * self._free_sums, self._minus_c - K[:m, m:] @ self._weights
        solved = lapack.dgetrs(lu, pivots, right)[0]
        if seen.is_all:
            solved += lapack.dgetrs(lu, pivots, right - M @ solved)[0]
        both = np.zeros((2, len(self._cols)))  # theta and its rate, of all that have a coefficient
        both[0, :m], both[0, m:] = solved[q:], self._weights
        moved = dK @ both[0]
        right[:q], right[q:] = 0.0, -moved[:m]
        rate = lapack.dgetrs(lu, pivots, right)[0]
        both[1, :m] = rate[q:]
        g = both @ K[m:].T
        g[0] += seen.c + (scale * solved)[seen.group]
        g[1] += moved[m:] + (scale * rate)[seen.group]
        g *= seen.sign
        free = both[:, :m] / self._width
        slacks = np.concatenate([g[0], (free[0] - self._low)[self.lows], (self._up - free[0])[self.tops]])
        rates = np.concatenate([g[1], free[1][self.lows], -free[1][self.tops]])
        if not math.isfinite(slacks.sum() + rates.sum()):
            return None
        return SlackPoint(t, solved[q:], slacks, rates, _EPS / rcond * float(np.abs(free[0]).max(initial=0.0)))

    def _system(self, K: Array) -> tuple[Array, float]:
        """M, the sums being brought to the scale of the kernel, and that scale."""
        q, m = len(self.program.b), len(self.free)
        scale = float(K.diagonal().max(initial=0.0)) or 1.0
        M = np.zeros((q + m, q + m), order="F")
        M[q:, q:] = K
        M.ravel("K")[q * (q + m + 1) :: q + m + 1] += self._rho
        M[self._group, self._border] = scale
        M[q:, :q] = M[:q, q:].T
        return M, scale

    def depends(self, t: float, j: int) -> bool:
        """Whether a variable depends on the free ones: its kernel function is a combination of theirs, to rounding."""
        p, F = self.program, self.free
        q, rows = len(p.b), np.append(p.rows[F], p.rows[j])
        K, _ = p.block(t, rows, rows)
        M, scale = self._system(K[:-1, :-1])
        v = np.concatenate([scale * (np.arange(q) == p.group[j]), K[:-1, -1]])
        lu, pivots, info = lapack.dgetrf(M)
        if info:
            return True
        z = lapack.dgetrs(lu, pivots, v)[0]
        z += lapack.dgetrs(lu, pivots, v - M @ z)[0]
        own = K[-1, -1] + p.rho[j]
        return bool(not own - v @ z > _DEPENDENT_ON_FREE * max(scale, abs(own)))


def regular(program: MovingProgram, t: float, theta: Array, status: Array) -> tuple[Array, Array]:
    """The same machine with free variables none of which depends on the others.

    Where M is singular, theta moves along its null direction, which changes no decision value, until a free variable
    reaches a bound and stays there.
    """
    theta, status = theta.copy(), status.copy()
    while True:
        places = Places(program, status)
        F, q = places.free, len(program.b)
        K, _ = program.block(t, program.rows[F], program.rows[F])
        M, _ = places._system(K)
        values, vectors = interruptible(np.linalg.eigh, M)
        k = int(np.argmin(np.abs(values)))
        if len(F) <= q or abs(values[k]) > _REGULAR * np.abs(values).max():
            return theta, status
        v = vectors[q:, k]
        room = np.where(v > 0, program.up[F] - theta[F], theta[F] - program.low[F])
        back = np.where(v < 0, program.up[F] - theta[F], theta[F] - program.low[F])
        size = np.maximum(np.abs(v), _TINY)
        if np.min(back / size) < np.min(room / size):
            v, room = -v, back
        first = int(np.argmin(room / size))
        theta[F] += room[first] / size[first] * v
        status[F[first]] = UP if v[first] > 0 else LOW
        theta[F[first]] = program.up[F[first]] if v[first] > 0 else program.low[F[first]]

"""A quadratic program that moves with one parameter t, and the walk along its solutions.

The problem, for variables theta_j of row r_j and group p_j::

    minimise    1/2 sum_ij theta_i K[r_i, r_j] theta_j + c(t)'theta
    subject to  l(t) <= theta <= u(t),    sum of theta over group p = b_p(t)        (G theta = b)

with c, l, u, b affine in t: c(t) = c0 + t c1 and so on. With the multipliers nu of the groups the gradient is
``g_j = (K theta)_{r_j} + c_j + nu_{p_j}``, and theta is optimal where

    g_j >= 0 at LOW (theta_j = l_j),    g_j <= 0 at UP (theta_j = u_j),    g_j = 0 where FREE;

a FIXED variable stays at l_j(t), whatever its gradient. While nobody changes place, theta and nu are linear in t. An
event is a free variable that reaches a bound, or a gradient that reaches zero.

The matrix M of the free variables F (``solvers._loops``) is kept regular: every group has a member in F, and no member
depends on the others. So F is never empty: where all elbows are empty, one variable per group stays free at its bound.
Two exchanges keep that up. If the last of its group reaches a bound, the multiplier moves on alone until another
variable of the group can take its place. If a variable that becomes free depends on F, theta moves along the null
direction until some variable reaches a bound and leaves. Otherwise R = M^-1 is updated in the order of |F|^2.

Any solution is reached from any point: c is shifted so that the point is optimal, and the shift is taken back along t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from scipy.linalg import lapack

from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint
from svmpath.lazy import lazy
from svmpath.solvers.compiling import announce

Array = np.ndarray

LOW, UP, FREE, FIXED = 0, 1, 2, 3  # as in solvers._loops, which is compiled only when first used
_SIGNS = np.array([1.0, -1.0, 0.0, 0.0])  # of the gradient at these
_EVENT = (float, np.int64, np.int8, np.int8, float)  # an event: t, variable, status before and after, what is watched

EVERY = 2**62  # events: as many as there are

_PAD = 1e-3  # what a wrong gradient is shifted to at a start, in units of the largest K_ii
_DEPENDENT = 1e-10  # a variable whose Schur complement is less, in units of the largest K_ii, depends on F
_FAR = 0.01  # points nearer to each other than this, in units of their squared distance to the origin, are far from it
_DISTINCT = 1e-12  # and nearer than this they are one
_ROUNDING = 1e-14  # a sum that is wrong by less, relative to the box, is right
_SHIFTS, _MISSED = 4, 1e-8  # random starts, and the error from which on one has missed its end
_SINGULAR = 1e-14  # a matrix M with a smaller reciprocal condition number is not inverted
_NONE = 1e-9  # a component of a null direction below this is zero
_SOON = 1e-9  # a step shorter than this, relative to t, is as good as none
_SLOW = 1e-8  # a gradient that moves more slowly than this, in units of the fastest c, may be overlooked for a while
_MOST_FAILURES = 20  # times that M may turn out to be singular at one t
_MOST_STEPS = 40  # steps of a walk, per variable, before it is given up
_COMPILING = 15  # seconds that the engine takes to compile, about
_WORK = 100_000_000  # entries that one call of compiled code may touch: about a tenth of a second
_ADVICE = (
    "Bring the columns of X to one scale (StandardScaler), remove rows that are nearly equal, or end the path earlier."
)


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
    if not _DISTINCT * largest < spread < _FAR * largest:
        return Centred(K, np.zeros(n))
    h = K.mean(axis=0) - 0.5 * K.mean()
    return Centred(K - h - h[:, None], h)


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
    def data(self) -> Any:
        """The same as compiled code takes it: of one type each, so that it is compiled once."""
        from svmpath.solvers import _loops

        kinds = (float, np.int64, np.int64, *[float] * 9)
        names = ("K", "rows", "group", "c0", "c1", "l0", "l1", "u0", "u1", "b0", "b1", "unit")
        parts = (np.require(getattr(self, name), kind, ("C", "W")) for name, kind in zip(names, kinds, strict=True))
        return _loops.Data._make([*parts, self.kmax])

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
        """g at any point."""
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


@dataclass(frozen=True)
class Told:
    """Events in order: where, which variable, from which status to which, and the gradient that was watched."""

    t: Array
    variable: Array
    source: Array
    target: Array
    seen: Array

    @staticmethod
    def of(parts: list[tuple[Array, ...]]) -> Told:
        """The parts one after another."""
        columns = ([np.empty(0, kind), *(part[k] for part in parts)] for k, kind in enumerate(_EVENT))
        return Told(*(np.concatenate(column) for column in columns))


@dataclass(frozen=True)
class Limit:
    """Where a walk is to end before its time: after so many events, or at an hour of the monotonic clock."""

    events: int = EVERY
    hour: float = np.inf

    def events_left(self, events: int) -> int:
        """How many more events there may be; a step has one at least."""
        return max(self.events - events, 1)

    def is_reached(self, events: int) -> bool:
        """Whether the walk is to end here."""
        return events >= self.events or monotonic() >= self.hour


def make_work(program: Program, room: int) -> Any:
    """The room that compiled code needs for its vectors, with an inverse of so many rows."""
    from svmpath.solvers import _loops

    n, N, q = len(program.K), len(program.rows), len(program.b0)
    sizes = (*[room] * 5, *[N] * 3, *[n] * 3, q)
    whole = (np.zeros(q, np.int64), np.zeros(n + room, np.int64))
    return _loops.Work._make([*(np.zeros(size) for size in sizes), *whole])


def make_log(room: int) -> Any:
    """Room for so many events."""
    from svmpath.solvers import _loops

    return _loops.Log(*(np.empty(room, kind) for kind in _EVENT))


class Walker:
    """A point on the solution path of a program, which can be moved on; the only thing here that changes.

    Attributes
    ----------
    program : Program
    t : float
    theta, status, g : arrays of shape (N,)
    nu : array of shape (q,)
    worst : float
        The largest wrong gradient, in units of f, that was met when it was computed exactly: at the end of each walk,
        and on the way after every so many events.
    """

    def __init__(
        self,
        program: Program,
        t: float,
        theta: Array,
        status: Array,
        nu: Array,
        tol: float = _DEPENDENT,
        g: Array | None = None,
    ) -> None:
        from svmpath.solvers import _loops

        self.program = program
        self.tol = tol
        self.worst = 0.0
        self._loops = _loops
        self._told: list[tuple[Array, ...]] = []
        self._failures, self._failed_at = 0, np.nan
        theta, nu = np.array(theta, dtype=float), np.array(nu, dtype=float)
        g = program.gradient(t, theta, nu) if g is None else np.array(g, dtype=float)
        x, k = np.zeros(7), np.zeros(14, dtype=np.int64)
        F = np.zeros(len(theta) + 1, dtype=np.int64)
        self.state = _loops.State(theta, np.array(status, dtype=np.int8), nu, g, F, np.zeros((0, 0)), x, k)
        k[_loops.SEED], x[_loops.T] = 1, t
        self._set_free(np.flatnonzero(self.status == FREE))
        self._work, self._log = make_work(program, 0), make_log(min(4 * len(theta), 4_000) + 64)
        if not self._invert():
            raise PathError(f"The system of {len(self.F)} elbow points is singular at t = {self.t:.6g}. {_ADVICE}")

    @property
    def t(self) -> float:
        """Where the walk is."""
        return float(self.state.x[self._loops.T])

    @property
    def theta(self) -> Array:
        return self.state.theta

    @property
    def status(self) -> Array:
        return self.state.status

    @property
    def nu(self) -> Array:
        return self.state.nu

    @property
    def g(self) -> Array:
        return self.state.g

    @property
    def F(self) -> Array:
        """The free variables, in the order of R."""
        return self.state.F[: self.state.k[self._loops.M]]

    @property
    def R(self) -> Array:
        """The inverse of M."""
        size = len(self.nu) + len(self.F)
        return self.state.R[:size, :size]

    @property
    def told(self) -> Told:
        """All events so far."""
        return Told.of(self._told)

    def forget(self) -> None:
        """Leave out the events so far."""
        self._told = []

    def move_onto(self, program: Program, t: float) -> None:
        """Take another program of which this point is a solution, at t, with no events yet."""
        self.program, self.worst = program, 0.0
        self.state.x[self._loops.T] = t
        self.forget()
        self._invert()

    def refresh(self) -> None:
        """Make R anew, where M is regular: after many events it has lost digits."""
        self._invert()

    def _set_free(self, F: Array) -> None:
        self.state.F[: len(F)] = F
        self.state.k[self._loops.M] = len(F)

    def _invert(self) -> bool:
        """R from the beginning; left as it is, and False, where M is singular to working precision."""
        R = elbow_inverse(self.program, self.F)
        if R is None:
            return False
        if len(R) + 2 > len(self.state.R):
            self._grow(len(R) + 32)
        self.state.R[: len(R), : len(R)] = R
        return True

    def _grow(self, room: int) -> None:
        old = self.state.R
        R = np.zeros((room, room))
        R[: len(old), : len(old)] = old
        self.state = self.state._replace(R=R)

    def to(self, t_end: float, *, most: int = EVERY, watch: int = 0, limit: Limit | None = None) -> None:
        """Walk to t_end; after ``most`` events nobody changes place any more. ``watch`` as in :class:`Told`.

        The compiled loop comes back after a bounded amount of work, so that the walk can be interrupted. It ends with
        an error after so many steps that it cannot have been getting anywhere, and before t_end if a limit is reached.
        """
        loops, o, n = self._loops, self.program, len(self.theta)
        k, x = self.state.k, self.state.x
        k[loops.EVENTS :] = 0
        k[loops.WATCH] = watch
        x[loops.FIRST] = x[loops.SYNCED_AT] = self.t
        x[loops.LARGEST], x[loops.FASTEST] = o.speeds
        most_steps_here, log = most_steps(n), self._log
        announce(loops.follow, "the path engine", _COMPILING)
        self._work.sign[:] = _SIGNS[self.status]
        while True:
            if len(self._work.d) < len(self.state.R):
                self._work = make_work(o, len(self.state.R))._replace(sign=self._work.sign)
            work = self._work
            k[loops.RECORDED], x[loops.WORST] = 0, 0.0
            steps = steps_at_once(len(o.K), len(self.nu) + len(self.F))
            if limit is not None and self.t < t_end:  # at its end a walk takes one more step, without an event
                steps = min(steps, limit.events_left(int(k[loops.EVENTS])))
            code = loops.follow(o.data, self.state, work, log, float(t_end), self.tol, most, steps, 0.0, 0.0)
            if k[loops.RECORDED]:
                self._told.append(tuple(part[: k[loops.RECORDED]].copy() for part in log))
            self.worst = max(self.worst, float(x[loops.WORST])) if np.isfinite(x[loops.WORST]) else np.inf
            if not np.isfinite(self.g).all():
                raise PathError(f"The numbers overflow at t = {self.t:.6g}. {_ADVICE}")
            if code in (loops.END, loops.CUT):
                return
            if k[loops.STEPS] > most_steps_here:
                raise PathError(f"More than {most_steps_here} steps before t = {self.t:.6g}. {_ADVICE}")
            if limit is not None and limit.is_reached(int(k[loops.EVENTS])):
                return
            checkpoint()
            self._go_on(code, work, float(t_end))

    def _go_on(self, code: int, work: Any, t_end: float) -> None:
        """Do what compiled code leaves to Python."""
        loops = self._loops
        if code == loops.GROW:
            self._grow(len(self.state.R) + max(64, len(self.state.R) // 2))
        elif code == loops.REFACTOR:
            self._renew()
        elif code == loops.NEAR:
            self._squeeze(work, t_end)
        elif code == loops.INFEASIBLE:
            raise PathError(f"No point satisfies the constraints beyond t = {self.t:.6g}. {_ADVICE}")
        elif code == loops.LOST:
            raise PathError(f"The walk turns in circles at t = {self.t:.6g}. {_ADVICE}")

    def _renew(self) -> None:
        """Make R anew. Where M is singular to working precision, R is kept once, as it is refined when it is used.

        If that does not lead on, a variable that depends on the others leaves F.
        """
        k, loops = self.state.k, self._loops
        k[loops.FRESH], k[loops.NULL] = 1, 0
        if self._invert():
            return
        self._failures = self._failures + 1 if self.t == self._failed_at else 1
        self._failed_at = self.t
        if self._failures > _MOST_FAILURES:
            raise PathError(f"The system of {len(self.F)} elbow points is singular at t = {self.t:.6g}. {_ADVICE}")
        if self._failures > 1:
            self._drop_dependent()

    def _drop_dependent(self) -> None:
        """Move along the null vector of M, which changes no gradient on F, until a variable reaches a bound."""
        q, kmax = len(self.nu), self.program.kmax
        M = elbow_matrix(self.program, self.F)
        scale = _scales(len(M), q, kmax)
        values, U = np.linalg.eigh(M * scale * scale[:, None])
        null = U[:, np.argmin(np.abs(values))] * scale
        step, a, side = self._first_bound(null[q:])
        if a < 0:
            return
        self.nu[:] += step * null[:q]
        self.theta[self.F] += step * null[q:]
        with np.errstate(all="ignore"):  # a R that is lost shows in its rates
            self._loops.delete.py_func(self.state.R, len(M), q + a, np.empty(len(M)))
        self._exchange(a, len(self.F) - 1, side)
        self._invert()  # where M is still singular, R stays what the deletion has left

    def _first_bound(self, rates: Array) -> tuple[float, int, int]:
        """The shortest step, forwards or backwards, to a bound of a free variable whose group has others."""
        F, program = self.F, self.program
        members = np.bincount(program.group[F], minlength=len(self.nu))
        low, up = program.low(self.t)[F], program.up(self.t)[F]
        can = (np.abs(rates) > _NONE * np.abs(rates).max(initial=0.0)) & (members[program.group[F]] > 1)
        best: tuple[float, int, int] = (np.inf, -1, LOW)
        for a in np.flatnonzero(can):
            for bound, side in ((low[a], LOW), (up[a], UP)):
                step = (bound - self.theta[F[a]]) / rates[a]
                if abs(step) < abs(best[0]):
                    best = (float(step), int(a), side)
        return best

    def _exchange(self, a: int, last: int, side: int) -> None:
        """The free variable at position a goes to a bound, the last one takes its place."""
        F = self.F.copy()
        F[a] = F[last]
        self._to_bound(int(self.F[a]), side)
        self._set_free(F[:last])

    def _to_bound(self, j: int, side: int) -> None:
        self.theta[j] = (self.program.up if side == UP else self.program.low)(self.t)[j]
        self._tell(j, side)

    def _tell(self, j: int, target: int) -> None:
        k, loops = self.state.k, self._loops
        event = (self.t, j, self.status[j], target, self.g[k[loops.WATCH]])
        self._told.append(tuple(np.array([part], kind) for part, kind in zip(event, _EVENT, strict=True)))
        self.status[j] = target
        k[loops.EVENTS] += 1

    def _squeeze(self, work: Any, t_end: float) -> None:
        """Free a variable j that nearly depends on F: R would lose its digits.

        With the Schur complement sc, j moves at the rate -dg_j / sc beyond that of its bound, which is fast: somebody
        soon reaches a bound and makes room for it. Step there, and exchange the two.
        """
        loops, o, S = self._loops, self.program, self.state
        q, m, j, sc = len(self.nu), len(self.F), int(S.k[loops.WHO]), float(S.x[loops.SC])
        rho = (o.u1 if self.status[j] == UP else o.l1)[j]
        x = -work.dg[j] / sc
        d = np.append(work.d[: q + m] - x * work.z[: q + m], rho + x)
        F = np.append(self.F, j)
        h, which, side = self._next_bound(F, d[q:])
        if h > _SOON * abs(self.t) and abs(work.dg[j]) <= _SLOW * S.x[loops.LARGEST]:
            work.sign[j] = 0.0  # overlooked until the gradient is next computed exactly
            return
        self._tell(j, FREE)
        if h > t_end - self.t or (which < m and abs(work.z[q + which]) < _NONE):
            loops.append.py_func(S.R, q + m, work.z, sc)
            self._set_free(F)
        else:
            self._set_free(F)
            self._step(h, d)
            if which < m:
                loops.replace.py_func(S.R, q + m, q + which, work.z, sc, work.spare)
            self._exchange(which, m, side)
        self._renew()

    def _next_bound(self, F: Array, rates: Array) -> tuple[float, int, int]:
        """The first of the variables F that reaches a bound at these rates: the step, its position, the bound."""
        o, t = self.program, self.t
        rate = np.array([o.l1[F] - rates, rates - o.u1[F]])
        room = np.maximum([self.theta[F] - o.low(t)[F], o.up(t)[F] - self.theta[F]], 0.0)
        h = np.where(rate > 0.0, room / np.where(rate > 0.0, rate, 1.0), np.inf)
        first = float(h.min())
        side, a = np.unravel_index(np.argmax(np.where(h <= first, rate, -np.inf)), h.shape)  # of ties the fastest
        return first, int(a), int(side)

    def _step(self, h: float, d: Array) -> None:
        """Go on by h, the multipliers and F moving at these rates and the others with their bounds."""
        o, q, at_bound = self.program, len(self.nu), self.status != FREE
        self.state.x[self._loops.T] += h
        self.nu[:] += h * d[:q]
        self.theta[self.F] += h * d[q:]
        bounds = np.where(self.status == UP, o.up(self.t), o.low(self.t))
        self.theta[at_bound] = bounds[at_bound]
        self.g[:] = o.gradient(self.t, self.theta, self.nu)


def most_steps(n: int) -> int:
    """Steps after which a walk with n variables is given up."""
    return _MOST_STEPS * n + 5_000


def steps_at_once(n: int, size: int) -> int:
    """Steps of the walk that take about a tenth of a second, with n rows and an inverse of this size."""
    return max(_WORK // (n * (size + 16) + 2 * size**2), 4)


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
    scale = _scales(len(M), q, kmax)
    M = M * scale * scale[:, None]
    try:
        R = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return None
    condition = np.abs(M).sum(axis=0).max() * np.abs(R).sum(axis=0).max()
    return R * scale * scale[:, None] if condition * _SINGULAR < 1.0 else None


def _scales(size: int, q: int, kmax: float) -> Array:
    """Factors of rows and columns of M that bring its parts to one scale."""
    scale = np.full(size, kmax**-0.5)
    scale[:q] = kmax**0.5
    return scale


def at_places(program: Program, t: float, status: Array) -> tuple[Array, Array, Array] | None:
    """theta, nu and g at t, everybody keeping the place told; None if the elbow system is singular."""
    q, F = len(program.b0), np.flatnonzero(status == FREE)
    theta = np.where(status == UP, program.up(t), program.low(t))
    theta[F] = 0.0
    nu = np.zeros(q)
    lu, pivots, info = lapack.dgetrf(elbow_matrix(program, F))
    if info:
        return None
    for _ in range(3):  # from zero; then refined
        g = program.gradient(t, theta, nu)
        left = np.concatenate([program.b0 + t * program.b1 - program.sums(theta), -g[F]])
        step = lapack.dgetrs(lu, pivots, left)[0]
        if not np.isfinite(step).all():
            return None
        nu += step[:q]
        theta[F] += step[q:]
    return theta, nu, program.gradient(t, theta, nu)


def reach(program: Program, t: float, theta: Array, status: Array, *, tol: float = _DEPENDENT) -> Walker:
    """The optimum at t, from any point with any places; other random shifts are tried if it is missed."""
    reason = PathError(f"The optimum at t = {t:.6g} could not be reached. {_ADVICE}")
    for seed in range(_SHIFTS):
        try:
            walker = _reach(program, t, theta, status, tol, seed)
        except PathError as error:
            reason = error
            continue
        if _is_optimal(walker):
            return walker
    raise reason


def _is_optimal(walker: Walker) -> bool:
    """Whether all gradients have their sign, in units of the largest |K theta| that can be, and theta is in the box."""
    program, theta, g, status = walker.program, walker.theta, walker.g, walker.status
    low, up = program.low(walker.t), program.up(walker.t)
    width = float(np.max(up - low, initial=0.0))
    wrong = (np.abs(g[status == FREE]), -g[status == LOW], g[status == UP])
    worst = max(float(part.max(initial=0.0)) for part in wrong)
    beyond = float(np.maximum(low - theta, theta - up).max(initial=0.0))
    return worst <= _MISSED * program.kmax * width * len(theta) and beyond <= _MISSED * width


def _reach(program: Program, t: float, theta: Array, status: Array, tol: float, seed: int) -> Walker:
    """The optimum at t, from any point with any places: c is shifted until it is optimal, and followed back.

    The wrong gradients are shifted to random ones of the right sign, so that no ties begin the walk.
    """
    here, rng = program.frozen(t), np.random.default_rng(seed)
    theta, status = _regular(here, theta, status)
    g = here.gradient(0.0, theta, np.zeros(len(here.b0)))
    nu = _means(here, -g, status == FREE)
    g += nu[here.group]
    pad = _PAD * here.kmax * (0.5 + rng.random(len(theta)))
    # A variable without room has the place that its gradient asks for.
    tight = (here.l0 == here.u0) & ((status == LOW) | (status == UP))
    status[tight] = np.where(g[tight] >= 0, LOW, UP)
    shift = np.where((status == LOW) & (g < 0), pad - g, 0.0)
    shift = np.where((status == UP) & (g > 0), -pad - g, shift)
    shift[status == FREE] = -g[status == FREE]
    sums, room = here.sums(theta), here.sums(np.abs(here.l0) + np.abs(here.u0))
    missing = here.b0 - sums
    missing[np.abs(missing) < _ROUNDING * room] = 0.0  # of a group that is full, nothing could take it up
    moving = replace(here, c0=here.c0 + shift, c1=-shift, b0=sums, b1=missing)
    walker = Walker(moving, 0.0, theta, status, nu, tol, g + shift)
    walker.to(1.0)
    walker.move_onto(program, t)
    return walker


def _regular(program: Program, theta: Array, status: Array) -> tuple[Array, Array]:
    """The point moved into the box, with places of which the elbow system is regular."""
    status, q = status.astype(np.int8).copy(), len(program.b0)
    status[program.fixed] = FIXED
    middle = 0.5 * (program.l0 + program.u0)
    for _ in range(2):
        for p in range(q):
            mine = np.flatnonzero((program.group == p) & (status != FIXED))
            if len(mine) == 0:
                raise PathError(
                    "No sample of positive weight is left, or none of a class: leave out fewer, or give larger weights."
                )
            if not np.any(status[mine] == FREE):
                status[mine[np.argmin(np.abs(theta - middle)[mine])]] = FREE
        if elbow_inverse(program, np.flatnonzero(status == FREE)) is not None:
            break
        free = status == FREE  # too many: to the nearest bound with them, and one per group next time
        status[free] = np.where(theta[free] > middle[free], UP, LOW)
    theta = np.where(status == FREE, np.clip(theta, program.l0, program.u0), program.l0)
    theta[status == UP] = program.u0[status == UP]
    return theta, status


def _means(program: Program, x: Array, chosen: Array) -> Array:
    """The mean of x over the chosen variables of each group."""
    group = program.group[chosen]
    return np.bincount(group, x[chosen], len(program.b0)) / np.bincount(group, minlength=len(program.b0))


def middle(program: Program, t: float, theta: Array, g: Array, near: float = 1e-10) -> Array:
    """What to add to nu so that each multiplier is the middle of its interval; zero where an elbow point fixes it."""
    low, up = program.low(t), program.up(t)
    width = near * np.minimum(up - low, max(np.abs(theta).max(initial=0.0), program.least(t)))
    is_low, is_up = theta <= low + width, theta >= up - width
    moves = ~program.fixed & (up > low)
    shift = np.zeros(len(program.b0))
    for p in range(len(shift)):
        mine = moves & (program.group == p)
        if np.any(mine & ~is_low & ~is_up):
            continue
        lowest, highest = -g[mine & is_low].min(initial=np.inf), -g[mine & is_up].max(initial=-np.inf)
        ends = [end for end in (lowest, highest) if np.isfinite(end)]
        shift[p] = np.mean(ends) if ends else 0.0
    return shift

"""The walk along the solutions of a quadratic program that moves with one parameter t (``solvers.box_program``).

An event is a free variable that reaches a bound, or the gradient of one at a bound that reaches zero. Between events
theta and nu are linear in t; the loop from event to event is compiled (``solvers.loops.box_walk``).

The matrix M of the free variables F is kept regular: every group has a member in F, and no member depends on the
others. So F is never empty: where all elbows are empty, one variable per group stays free at its bound. Two exchanges
keep that up. If the last of its group reaches a bound, the multiplier moves on alone until another variable of the
group can take its place. If a variable that becomes free depends on F, theta moves along the null direction until some
variable reaches a bound and leaves. Otherwise R = M^-1 is updated in the order of |F|^2.

Every solution can be reached from any point: c is shifted so that the point is optimal, and the shift is taken back
along t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np

from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint
from svmpath.solvers.attempts import first_success
from svmpath.solvers.box_program import Program, elbow_inverse, elbow_matrix, unit_scales
from svmpath.solvers.compiling import announce
from svmpath.solvers.events import EventLog
from svmpath.solvers.loops import box_state
from svmpath.solvers.loops import box_tolerances as tolerances
from svmpath.solvers.loops.box_state import FIXED, FREE, LOW, UP

Array = np.ndarray

EVERY = 2**62  # events: as many as there are

_SIGNS = np.array([1.0, -1.0, 0.0, 0.0])  # of the gradient of a variable that is LOW, UP, FREE, FIXED
_SECONDS_TO_COMPILE = 15  # seconds that the engine takes to compile, about
_WORK = 100_000_000  # entries that one call of compiled code may touch: about a tenth of a second
_ADVICE = "Scale the columns of X (StandardScaler), remove rows that are nearly equal, or end the path earlier."


@dataclass(frozen=True)
class Limit:
    """Where a walk is to end before its time: after so many events, or at an hour of the monotonic clock."""

    events: int = EVERY
    hour: float = np.inf

    def is_reached(self, events: int) -> bool:
        """Whether the walk is to end here."""
        return events >= self.events or monotonic() >= self.hour


def make_work(program: Program, room: int) -> box_state.Work:
    """Room for the vectors of the compiled loops, with an inverse of so many rows."""
    n, N, q = len(program.K), len(program.rows), len(program.b0)
    sizes = (*[room] * 5, *[N] * 3, *[n] * 3, q)
    integers = (np.zeros(q, np.int64), np.zeros(n + room, np.int64))
    return box_state.Work._make([*(np.zeros(size) for size in sizes), *integers])


def make_log(room: int) -> box_state.EventArrays:
    """Room for so many events."""
    return box_state.EventArrays(*(np.empty(room, kind) for kind in (float, np.int64, np.int8, np.int8, float)))


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
        tol: float = tolerances.DEPENDENT_BELOW,
        g: Array | None = None,
    ) -> None:
        self.program = program
        self.tol = tol
        self.worst = 0.0
        self._parts: list[EventLog] = []
        self._failures, self._failed_at = 0, np.nan
        self.theta, self.status = np.array(theta, dtype=float), np.array(status, dtype=np.int8)
        self.nu = np.array(nu, dtype=float)
        self.g = program.gradient(t, self.theta, self.nu) if g is None else np.array(g, dtype=float)
        x, k = np.zeros(7), np.zeros(14, dtype=np.int64)
        F = np.zeros(len(theta) + 1, dtype=np.int64)
        self.state = box_state.State(self.theta, self.status, self.nu, self.g, F, np.zeros((0, 0)), x, k)
        k[box_state.SEED], x[box_state.T] = 1, t
        self._set_free(np.flatnonzero(self.status == FREE))
        self._work, self._log = make_work(program, 0), make_log(min(4 * len(theta), 4_000) + 64)
        if not self.refresh():
            raise PathError(f"The system of {len(self.F)} elbow points is singular at t = {self.t:.6g}. {_ADVICE}")

    @property
    def t(self) -> float:
        """Where the walk is."""
        return float(self.state.x[box_state.T])

    @property
    def F(self) -> Array:
        """The free variables, in the order of R."""
        return self.state.F[: self.state.k[box_state.SIZE]]

    @property
    def R(self) -> Array:
        """The inverse of M."""
        size = len(self.nu) + len(self.F)
        return self.state.R[:size, :size]

    @property
    def events(self) -> EventLog:
        """All events so far; its ``extra`` is the gradient that was watched."""
        return EventLog.joined(self._parts)

    def violation(self) -> float:
        """What is wrong here, computed afresh: gradients in units of f, bounds, and sums of groups beyond rounding."""
        o, t = self.program, self.t
        g, low, up = o.gradient(t, self.theta, self.nu), o.low(t), o.up(t)
        f = o.unit[0] + t * o.unit[1] + o.unit[2] * (self.nu[0] - self.nu[-1]) / 2.0
        wrong = np.where(self.status == FREE, np.abs(g), -_SIGNS[self.status] * g)
        beyond = np.maximum(low - self.theta, self.theta - up)
        missing = np.abs(o.b0 + t * o.b1 - o.sums(self.theta))
        missing[missing <= tolerances.SUM_ROUNDING * o.sums(np.abs(low) + np.abs(up))] = 0.0
        worst = max(wrong.max(initial=0.0), o.kmax * max(beyond.max(initial=0.0), missing.max(initial=0.0)))
        return float(worst / f) if f > 0.0 and np.isfinite(worst) else np.inf

    def forget(self) -> None:
        """Leave out the events so far."""
        self._parts = []

    def _set_free(self, F: Array) -> None:
        self.state.F[: len(F)] = F
        self.state.k[box_state.SIZE] = len(F)

    def refresh(self) -> bool:
        """Make R anew, as after many events it has lost digits; unchanged, and False, where M is singular."""
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
        """Walk to t_end; after ``most`` events no variable changes place any more.

        The gradient of the variable ``watch`` is recorded with every event. The compiled loop comes back after a
        bounded amount of work, so that the walk can be interrupted. It ends with an error after so many steps that it
        cannot have been getting anywhere, and before t_end if a limit is reached.
        """
        from svmpath.solvers.loops.box_walk import follow

        o, n = self.program, len(self.theta)
        k, x = self.state.k, self.state.x
        k[box_state.EVENTS :] = 0
        k[box_state.WATCH] = watch
        x[box_state.FIRST] = x[box_state.SYNCED_AT] = self.t
        x[box_state.LARGEST], x[box_state.FASTEST] = o.speeds
        most_steps_here, log = most_steps(n), self._log
        announce(follow, "the path engine", _SECONDS_TO_COMPILE)
        self._work.sign[:] = _SIGNS[self.status]
        while True:
            if len(self._work.d) < len(self.state.R):
                self._work = make_work(o, len(self.state.R))._replace(sign=self._work.sign)
            work = self._work
            k[box_state.RECORDED], x[box_state.WORST] = 0, 0.0
            steps = steps_at_once(len(o.K), len(self.nu) + len(self.F))
            if limit is not None and self.t < t_end:  # at its end a walk takes one more step, without an event
                steps = min(steps, max(limit.events - int(k[box_state.EVENTS]), 1))
            code = follow(o.data, self.state, work, log, float(t_end), self.tol, most, steps, 0.0, 0.0)
            if k[box_state.RECORDED]:
                self._parts.append(EventLog(*(part[: k[box_state.RECORDED]].copy() for part in log)))
            self.worst = max(self.worst, float(x[box_state.WORST])) if np.isfinite(x[box_state.WORST]) else np.inf
            if not np.isfinite(self.g).all():
                raise PathError(f"The numbers overflow at t = {self.t:.6g}. {_ADVICE}")
            if code in (box_state.END, box_state.CUT):
                return
            if k[box_state.STEPS] > most_steps_here:
                raise PathError(f"More than {most_steps_here} steps before t = {self.t:.6g}. {_ADVICE}")
            if limit is not None and limit.is_reached(int(k[box_state.EVENTS])):
                return
            checkpoint()
            self._go_on(code, work, float(t_end))

    def _go_on(self, code: int, work: Any, t_end: float) -> None:
        """Do what compiled code leaves to Python."""
        if code == box_state.GROW:
            self._grow(len(self.state.R) + max(64, len(self.state.R) // 2))
        elif code == box_state.REFACTOR:
            self._renew()
        elif code == box_state.NEARLY_DEPENDENT:
            self._squeeze(work, t_end)
        elif code == box_state.INFEASIBLE:
            raise PathError(f"No point satisfies the constraints beyond t = {self.t:.6g}. {_ADVICE}")
        elif code == box_state.CYCLING:
            raise PathError(f"The walk repeats itself at t = {self.t:.6g}. {_ADVICE}")

    def _renew(self) -> None:
        """Make R anew. Where M is singular to working precision, R is kept once, as it is refined when it is used.

        If that does not lead on, a variable that depends on the others leaves F.
        """
        k = self.state.k
        k[box_state.FRESH], k[box_state.ZERO_STEPS] = 1, 0
        if self.refresh():
            return
        self._failures = self._failures + 1 if self.t == self._failed_at else 1
        self._failed_at = self.t
        if self._failures > tolerances.SINGULAR_AT_MOST:
            raise PathError(f"The system of {len(self.F)} elbow points is singular at t = {self.t:.6g}. {_ADVICE}")
        if self._failures > 1:
            self._drop_dependent()

    def _drop_dependent(self) -> None:
        """Move along the null vector of M, which changes no gradient on F, until a variable reaches a bound."""
        from svmpath.solvers.loops import linalg

        q, kmax = len(self.nu), self.program.kmax
        M = elbow_matrix(self.program, self.F)
        scale = unit_scales(len(M), q, kmax)
        values, U = np.linalg.eigh(M * scale * scale[:, None])
        null = U[:, np.argmin(np.abs(values))] * scale
        F, rates, group = self.F, null[q:], self.program.group[self.F]
        # The shortest step, forwards or backwards, to a bound of a free variable whose group has others.
        can = np.abs(rates) > tolerances.NULL_ZERO * np.abs(rates).max(initial=0.0)
        can &= np.bincount(group, minlength=q)[group] > 1
        rooms = np.column_stack([self.program.low(self.t)[F], self.program.up(self.t)[F]]) - self.theta[F][:, None]
        steps = np.where(can[:, None], rooms / np.where(can, rates, 1.0)[:, None], np.inf)
        a, side = (int(k) for k in np.unravel_index(np.argmin(np.abs(steps)), steps.shape))
        if not np.isfinite(steps[a, side]):
            return
        self.nu[:] += steps[a, side] * null[:q]
        self.theta[F] += steps[a, side] * rates
        with np.errstate(all="ignore"):  # an R without digits shows in its rates
            linalg.delete.py_func(self.state.R, len(M), q + a, np.empty(len(M)))
        self._exchange(a, len(F) - 1, side)
        self.refresh()  # where M is still singular, R stays as the deletion has made it

    def _exchange(self, a: int, last: int, side: int) -> None:
        """The free variable at position a goes to a bound, the last one takes its place."""
        F, j = self.F.copy(), int(self.F[a])
        F[a] = F[last]
        self.theta[j] = (self.program.up if side == UP else self.program.low)(self.t)[j]
        self._record(j, side)
        self._set_free(F[:last])

    def _record(self, j: int, target: int) -> None:
        """Give variable j another status, and keep that as an event."""
        k = self.state.k
        self._parts.append(EventLog.of([(self.t, j, self.status[j], target, self.g[k[box_state.WATCH]])]))
        self.status[j] = target
        k[box_state.EVENTS] += 1

    def _squeeze(self, work: Any, t_end: float) -> None:
        """Free a variable j that nearly depends on F: R would lose its digits.

        With the Schur complement sc, j moves at the rate -dg_j / sc beyond that of its bound, which is fast: one of
        them soon reaches a bound and makes room for it. Step there, and exchange the two.
        """
        from svmpath.solvers.loops import linalg

        o, S = self.program, self.state
        q, m, j, sc = len(self.nu), len(self.F), int(S.k[box_state.ENTERING]), float(S.x[box_state.COMPLEMENT])
        rho = (o.u1 if self.status[j] == UP else o.l1)[j]
        x = -work.dg[j] / sc
        d = np.append(work.d[: q + m] - x * work.z[: q + m], rho + x)
        F = np.append(self.F, j)
        # The first of F that reaches a bound at these rates, and which bound.
        rate = np.array([o.l1[F] - d[q:], d[q:] - o.u1[F]])
        room = np.maximum([self.theta[F] - o.low(self.t)[F], o.up(self.t)[F] - self.theta[F]], 0.0)
        steps = np.where(rate > 0.0, room / np.where(rate > 0.0, rate, 1.0), np.inf)
        h = float(steps.min())
        ties = np.argmax(np.where(steps <= h, rate, -np.inf))  # of ties the fastest
        side, which = (int(k) for k in np.unravel_index(ties, steps.shape))
        is_slow = abs(work.dg[j]) <= tolerances.SLOW_GRADIENT * S.x[box_state.LARGEST]
        if h > tolerances.STEP_SOON * abs(self.t) and is_slow:
            work.sign[j] = 0.0  # overlooked until the gradient is next computed exactly
            return
        self._record(j, FREE)
        if h > t_end - self.t or (which < m and abs(work.z[q + which]) < tolerances.NULL_ZERO):
            linalg.append.py_func(S.R, q + m, work.z, sc)
            self._set_free(F)
        else:
            self._set_free(F)
            self._step(h, d)
            if which < m:
                linalg.replace.py_func(S.R, q + m, q + which, work.z, sc, work.spare)
            self._exchange(which, m, side)
        self._renew()

    def _step(self, h: float, d: Array) -> None:
        """Go on by h, the multipliers and F moving at these rates and the others with their bounds."""
        o, q, at_bound = self.program, len(self.nu), self.status != FREE
        self.state.x[box_state.T] += h
        self.nu[:] += h * d[:q]
        self.theta[self.F] += h * d[q:]
        bounds = np.where(self.status == UP, o.up(self.t), o.low(self.t))
        self.theta[at_bound] = bounds[at_bound]
        self.g[:] = o.gradient(self.t, self.theta, self.nu)


def most_steps(n: int) -> int:
    """Steps after which a walk with n variables is given up."""
    return tolerances.STEPS_PER_VARIABLE * n + 5_000


def steps_at_once(n: int, size: int) -> int:
    """Steps of the walk that take about a tenth of a second, with n rows and an inverse of this size."""
    return max(_WORK // (n * (size + 16) + 2 * size**2), 4)


def solve_from(
    program: Program, t: float, theta: Array, status: Array, *, tol: float = tolerances.DEPENDENT_BELOW
) -> Walker:
    """The optimum at t by a homotopy from any point with any places; other random shifts are tried if it is missed."""

    def is_optimal(walker: Walker) -> bool:  # in units of the largest |K theta| that can be, and of the box
        low, up, theta = program.low(t), program.up(t), walker.theta
        width = float(np.max(up - low, initial=0.0))
        wrong = np.where(walker.status == FREE, np.abs(walker.g), -_SIGNS[walker.status] * walker.g)
        beyond = np.maximum(low - theta, theta - up).max(initial=0.0)
        missed = tolerances.START_MISSED * width
        return bool(wrong.max(initial=0.0) <= missed * program.kmax * len(theta) and beyond <= missed)

    return first_success(
        range(tolerances.START_SEEDS),
        lambda seed: _solve_from(program, t, theta, status, tol, seed),
        is_good=is_optimal,
        otherwise=PathError(f"The optimum at t = {t:.6g} could not be found. {_ADVICE}"),
    )


def _solve_from(program: Program, t: float, theta: Array, status: Array, tol: float, seed: int) -> Walker:
    """The optimum at t, from any point with any places: c is shifted until it is optimal, and followed back.

    The wrong gradients are shifted to random ones of the right sign, so that no ties begin the walk.
    """
    here, rng = program.frozen(t), np.random.default_rng(seed)
    theta, status = _regular(here, theta, status)
    g = here.gradient(0.0, theta, np.zeros(len(here.b0)))
    free = here.group[status == FREE]
    nu = np.bincount(free, -g[status == FREE], len(here.b0)) / np.bincount(free, minlength=len(here.b0))
    g += nu[here.group]
    pad = tolerances.START_PAD * here.kmax * (0.5 + rng.random(len(theta)))
    # A variable without room has the place that its gradient asks for.
    tight = (here.l0 == here.u0) & ((status == LOW) | (status == UP))
    status[tight] = np.where(g[tight] >= 0, LOW, UP)
    shift = np.where((status == LOW) & (g < 0), pad - g, 0.0)
    shift = np.where((status == UP) & (g > 0), -pad - g, shift)
    shift[status == FREE] = -g[status == FREE]
    sums, room = here.sums(theta), here.sums(np.abs(here.l0) + np.abs(here.u0))
    missing = here.b0 - sums
    missing[np.abs(missing) < tolerances.SUM_ROUNDING * room] = 0.0  # of a group that is full, nothing could take it up
    moving = replace(here, c0=here.c0 + shift, c1=-shift, b0=sums, b1=missing)
    walker = Walker(moving, 0.0, theta, status, nu, tol, g + shift)
    walker.to(1.0)
    # The point is a solution of the program itself, with no events yet.
    walker.program, walker.worst, walker.state.x[box_state.T] = program, 0.0, t
    walker.forget()
    walker.refresh()
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
                    "No sample of positive weight remains, or none of one class: leave out fewer, or give larger "
                    "weights."
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

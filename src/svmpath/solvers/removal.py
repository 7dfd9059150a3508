"""The program of ``solvers.box_qp`` without one sample, for one sample after another, from the solution with all.

Leaving out sample i drives its variables theta_i to zero while the others stay optimal; the sums of the groups may have
to change on the way, by ``change_i``. With t from 0 to 1 that is one more program that moves: theta_i = (1 - t)
theta_i.

While no variable changes place, the rates are those of the frozen elbow system. With R = M^-1 of the free variables F,
v the column of M that i would have, and d = (d nu, d theta_F) from the beginning to the end of the way,

    d = R (change_i, 0) + theta_i R v                                        i not in F,
    d = R (change_i, 0) + x R_:i,     x so that d_i = -theta_i,              i in F,

and without change_i the gradient at i itself goes down by theta_i s_i, where s_i is the span of i: the squared distance
from i to all combinations of F (without i) whose coefficients sum to one,

    s_i = K_ii - v'R v                                                       i not in F,
    s_i = 1 / R_ii                                                           i in F.

All samples at once are a few products of matrices. Where that leads no variable across a bound it is the exact answer,
the slacks being linear in t; the samples for which it does are driven one by one, from event to event.

How far the frozen answer can be from the exact one is known, too. For theta_i > 0 let phi(x) be the optimal value where
theta_i = x: it is convex, and its slopes at zero are the gradients at i that the exact answer may have. At the frozen
end, theta_i = 0, let -a be the gradient at i, and P the value. By duality phi(0) >= P - eps,

    eps = sum of |g_j| (u_j - l_j) over all j not in F whose gradient there has the wrong sign,

or eps = s_i theta_i^2 / 2, by the tangent at theta_i, if that is less.

A feasible point with theta_i = -mu or +mu is the frozen one a little further or not so far, where P changes by
+-a mu + s_i mu^2 / 2, the free variables beyond their bounds brought back by some change D of them that sums to zero in
each group; as their gradient is zero, that costs rho = D'K_FF D / 2. Hence, for any mu > 0,

    | slope of phi at 0  -  (-a) |  <=  s_i mu / 2 + (eps + rho) / mu

whatever events come, and where the offset jumps. With it most signs of held-out decision values are known at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint
from svmpath.lazy import lazy
from svmpath.solvers.box_program import Program, elbow_matrix, offset_shift
from svmpath.solvers.box_qp import EVERY, LOW, UP, Walker, make_log, make_work, most_steps, solve_from, steps_at_once
from svmpath.solvers.compiling import announce
from svmpath.solvers.loops import box_state
from svmpath.solvers.loops import box_tolerances as tolerances

Array = np.ndarray

_SECONDS_TO_COMPILE_REMOVAL = 8  # seconds that the compiled loop takes to compile, about
_SAMPLES_AT_ONCE = 256  # samples treated at a time
_DRIVE_BELOW = 64  # free variables up to which it is not worth while to settle signs before samples are driven


@dataclass(frozen=True, eq=False)
class Removed:
    """The solutions without each of some samples, as far as the sample itself needs them.

    Attributes
    ----------
    product : array of shape (S,)
        (K theta) at the sample that is left out.
    nu : array of shape (q, S)
        The multipliers.
    events : array of int of shape (S,)
        Changes of place on the way.
    passes : array of bool of shape (S,)
        Whether, with the places frozen, some variable would cross a bound.
    failed : array of bool of shape (S,)
        Where no answer has the precision that was requested.
    """

    product: Array
    nu: Array
    events: Array
    passes: Array
    failed: Array

    @staticmethod
    def room(count: int, q: int) -> Removed:
        """To be filled in."""
        kinds = ((count, float), ((q, count), float), (count, int), (count, bool), (count, bool))
        return Removed(*(np.zeros(shape, dtype=kind) for shape, kind in kinds))


@dataclass(frozen=True, eq=False)
class Removal:
    """The samples to leave out, one at a time, from the point of a walker.

    Attributes
    ----------
    walker : Walker
        At an optimum, its R just made.
    variables : array of int of shape (S, w)
        The variables of each sample. The first is the one that may be away from zero; -1 stands for none.
    change : array of shape (S, q)
        What is added to b when the sample is left out.
    inverse : array of shape (q + m, q + m), optional
        R, if not that of the walker.
    """

    walker: Walker
    variables: Array
    change: Array
    inverse: Array | None = None

    @lazy
    def here(self) -> Program:
        """The program at the point of the walker, which does not move."""
        return self.walker.program.frozen(self.walker.t)

    def leave_out(
        self,
        *,
        most: int = EVERY,
        find_crossings: bool = True,
        trust: float = np.inf,
        turns: Array | None = None,
        levels: Array | None = None,
    ) -> Removed:
        """The solutions without each sample, exact if ``most`` allows for all events.

        Parameters
        ----------
        most : int
            Events after which every variable keeps its place; events at the very beginning do not count.
        find_crossings : bool
            Whether to find out for which samples a variable crosses a bound on the way. Needed unless ``most`` is zero.
        trust : float
            The largest wrong gradient, in units of f, with which an exact answer is taken.
        turns, levels : arrays of shape (S,), optional
            All that is asked is whether turns times the gradient at the sample falls below this level.
        """
        removed = Removed.room(len(self.variables), len(self.here.b0))
        if turns is not None and len(self.walker.F) < _DRIVE_BELOW:  # to drive them is as cheap
            self._drive(np.arange(len(self.variables)), most, trust, turns, levels, removed)
            return removed
        for frozen in self._blocks():
            block = frozen.block
            frozen.record(removed)
            passes = frozen.find_crossings(removed) if find_crossings else None
            which = frozen.at_once() if passes is None or most == 0 else passes
            if turns is not None and levels is not None:
                which &= ~frozen.is_settled(turns[block] * frozen.g_own - levels[block])
            self._drive(block[which], most, trust, turns, levels, removed)
        return removed

    def spans(self) -> Array:
        """Bounds on the squared distance of each sample to what can take over its coefficient inside the box of F.

        Infinite where nothing can. The combination of the frozen answer, brought back, is at s_i + 2 rho / theta_i^2.
        """
        bounds = np.full(len(self.variables), np.inf)
        for frozen in self._blocks():
            theta = np.where(frozen.theta_own == 0.0, np.inf, frozen.theta_own)
            spans = frozen.span + 2.0 * frozen.brought_back(0.0) / theta**2
            bounds[frozen.block] = np.where(frozen.awkward, np.inf, spans)
        return bounds

    def _blocks(self) -> Iterator[_Frozen]:
        every = np.arange(len(self.variables))
        for start in range(0, len(every), _SAMPLES_AT_ONCE):
            yield _Frozen(self, every[start : start + _SAMPLES_AT_ONCE])

    def _drive(
        self, which: Array, most: int, trust: float, turns: Array | None, levels: Array | None, removed: Removed
    ) -> None:
        """Leave out some of the samples one by one, from event to event."""
        if len(which) == 0:
            return
        from svmpath.solvers.loops.box_removal import leave_out

        o, S = self.here, len(which)
        still = np.zeros(S)
        turns, levels = (still if each is None else each[which] for each in (turns, levels))
        walks = box_state.Removals(
            np.ascontiguousarray(self.variables[which]), np.ascontiguousarray(self.change[which]), turns, levels,
            np.empty(S), np.empty((S, len(o.b0))), np.empty(S, np.int64), np.empty(S, np.int64), np.empty(S),
            np.zeros(2, np.int64),
        )  # fmt: skip
        n, N, size, state = len(o.K), len(self.walker.theta), len(self.walker.R), self.walker.state
        room = min(size + size // 2 + 64, len(o.b0) + N + 3)
        program = replace(o, l0=o.l0.copy(), l1=np.zeros(N), b1=np.zeros_like(o.b0)).data
        spare = box_state.State(*(np.zeros_like(part) for part in state))._replace(R=np.zeros((room, room)))
        work, log, steps = make_work(o, room), make_log(4 * N + 64), steps_at_once(n, size)
        announce(leave_out, "leave-one-out", _SECONDS_TO_COMPILE_REMOVAL)
        while walks.place[0] < S:  # compiled code comes back every so often
            checkpoint()
            leave_out(program, spare, work, log, state, walks, o.l0, self.walker.tol, most, most_steps(N), steps)
        failed = ~np.isin(walks.codes, (box_state.END, box_state.DECIDED, box_state.CUT))
        if most == EVERY:
            failed |= ~(walks.worsts <= trust)
        removed.product[which], removed.nu[:, which], removed.events[which] = (
            walks.product,
            walks.offsets.T,
            walks.counts,
        )
        if most < EVERY:
            removed.passes[which] = failed | (walks.codes == box_state.CUT)
        for s in which[failed]:
            removed.failed[s] = not self._solve_without(int(s), removed)

    def _solve_without(self, s: int, removed: Removed) -> bool:
        """Leave out one sample by a homotopy from the point of the walker: slow, and sure."""
        o, w = self.here, self.walker
        mine = self.variables[s][self.variables[s] >= 0]
        low, up = o.l0.copy(), o.u0.copy()
        low[mine] = up[mine] = 0.0
        without = replace(o, l0=low, u0=up, b0=o.b0 + self.change[s])
        try:
            end = solve_from(without, 0.0, w.theta, w.status, tol=w.tol)
        except PathError:
            return False
        nu = end.nu + offset_shift(without, 0.0, end.theta, end.g)
        removed.product[s] = end.g[mine[0]] - o.c0[mine[0]] - end.nu[o.group[mine[0]]]
        removed.nu[:, s] = nu
        return True


class _Frozen:
    """Some samples left out while every variable keeps its place: one column per sample in all matrices here."""

    def __init__(self, removal: Removal, block: Array) -> None:
        o, w = removal.here, removal.walker
        self.here, self.walker, self.block = o, w, block
        self.R = w.R if removal.inverse is None else removal.inverse
        self.variables, self.change = removal.variables[block], removal.change[block]
        self.J, self.columns = self.variables[:, 0], np.arange(len(block))
        self.q, self.F = len(o.b0), w.F
        spot = np.full(len(w.theta), -1)
        spot[self.F] = np.arange(len(self.F))
        others, is_free = self.variables[:, 1:], spot[self.J] >= 0
        members = np.bincount(o.group[self.F], minlength=self.q)
        # None of its group would remain in F, or the sample has another variable there.
        self.awkward = is_free & (members[o.group[self.J]] == 1) | np.any((others >= 0) & (spot[others] >= 0), axis=1)
        self.inside = np.flatnonzero(is_free & ~self.awkward)
        self.own = spot[self.J[self.inside]]  # their positions in F
        self.theta_own = w.theta[self.J]
        self.M = elbow_matrix(o, self.F)
        self.D, slope, residual = self._rates()
        self.g_own = w.g[self.J] + slope
        self.size = o.kmax * (np.abs(self.D[self.q :]).sum(axis=0) + np.abs(self.theta_own))
        self.low, self.up = o.l0[self.F][:, None], o.u0[self.F][:, None]
        self.theta = w.theta[self.F][:, None] + self.D[self.q :]
        self.theta[self.own, self.inside] = np.nan  # has no place
        is_driven = np.abs(self.theta_own) > np.finfo(float).tiny
        self.span = np.where(is_driven, np.abs(slope), 0.0) / np.where(is_driven, np.abs(self.theta_own), 1.0)
        self.at_bounds = (w.status == LOW) | (w.status == UP)
        # The unit of theta: the box, or the largest change and coefficient, much smaller than the box where C is large.
        largest = max(float(np.abs(w.theta).max(initial=0.0)), o.least(0.0))
        self.unit = np.minimum(self.up - self.low, self.size / o.kmax + largest)
        near = tolerances.SLACK_ROUNDING * self.unit
        self.beyond = (self.theta < self.low - near) | (self.theta > self.up + near)
        # Where a group ends without a free variable between its bounds, its multiplier is not unique.
        near, groups = tolerances.AT_BOUND * self.unit, o.group[self.F]
        inner = (self.theta > self.low + near) & (self.theta < self.up - near)
        unheld = np.any([~inner[groups == p].any(axis=0) for p in range(self.q)], axis=0)
        # Where R has too few digits, the gradient on F moves.
        self.is_weak = residual > tolerances.FROZEN_MOVED * self.size
        self.is_unsure = self.awkward | self.is_weak | unheld

    def _rates(self) -> tuple[Array, Array, Array]:
        """D of each sample, and how far the gradient at the sample itself moves, and on F, where it should not."""
        o, q, R, J, inside = self.here, self.q, self.R, self.J, self.inside
        out = np.setdiff1d(self.columns, inside)
        K = o.K[np.ix_(o.rows[self.F], o.rows[J[out]])]
        goal = np.zeros((q + len(self.F), len(J)))
        goal[:q] = self.change.T
        goal[o.group[J[out]], out] += self.theta_own[out]
        goal[q:, out] = K * self.theta_own[out]
        D, own = np.zeros_like(goal), q + self.own
        miss = goal
        for k in range(2):  # and once more, against rounding
            if k:
                miss = goal - self.M @ D
                miss[own, inside] = 0.0
            D += R @ miss
            D[:, inside] += R[:, own] * ((-self.theta_own[inside] - D[own, inside]) / R[own, own])
        moved = self.M @ D - goal
        slope = np.empty(len(J))
        slope[inside] = moved[own, inside]
        moved[own, inside] = 0.0
        residual = np.abs(moved[q:]).max(axis=0, initial=0.0)
        diag = o.K[o.rows[J[out]], o.rows[J[out]]]
        slope[out] = np.einsum("ij,ij->j", K, D[q:, out]) + D[o.group[J[out]], out] - self.theta_own[out] * diag
        return D, slope, residual

    def record(self, removed: Removed) -> None:
        """Fill in the frozen answers."""
        o, w, q = self.here, self.walker, self.q
        nu = w.nu[:, None] + self.D[:q]
        removed.product[self.block] = self.g_own - o.c0[self.J] - nu[o.group[self.J], self.columns]
        removed.nu[:, self.block] = nu

    def _slacks(self, rows: Array) -> Array:
        """The gradients of some variables at the end, times 1 at LOW and -1 at UP; zero for the sample's own."""
        o, w = self.here, self.walker
        theta = self.theta_own.copy()
        theta[self.inside] = 0.0  # is in F, and in D
        which, back = np.unique(o.rows[rows], return_inverse=True)
        f = o.K[np.ix_(which, o.rows[self.F])] @ self.D[self.q :] - o.K[np.ix_(which, o.rows[self.J])] * theta
        g = (w.g[rows, None] + f[back] + self.D[o.group[rows]]) * np.where(w.status[rows] == LOW, 1.0, -1.0)[:, None]
        spot = np.full(len(w.theta), -1)
        spot[rows] = np.arange(len(rows))
        for v in self.variables.T:
            known = np.flatnonzero((v >= 0) & (spot[v] >= 0))
            g[spot[v[known]], known] = 0.0
        return g

    def at_once(self) -> Array:
        """The samples for which a variable changes place at the very beginning, or for which R will not do."""
        o, w = self.here, self.walker
        begin, near = w.theta[self.F][:, None], tolerances.AT_BOUND * self.unit
        at_bound = (begin <= self.low + near) | (begin >= self.up - near)
        ties = np.flatnonzero(self.at_bounds & (np.abs(w.g) <= tolerances.SLACK_ROUNDING * o.kmax))
        crossed = np.any(self._slacks(ties) < -tolerances.SLACK_ROUNDING * self.size, axis=0)
        return self.is_unsure | crossed | (self.beyond & at_bound).any(axis=0)

    def find_crossings(self, removed: Removed) -> Array:
        """The samples for which a variable crosses a bound on the way, which are recorded as well."""
        passes = self.is_unsure | self.beyond.any(axis=0)
        passes |= np.any(self._all_slacks < -tolerances.SLACK_ROUNDING * self.size, axis=0)
        removed.passes[self.block] = passes
        return passes

    @lazy
    def _all_slacks(self) -> Array:
        return self._slacks(np.flatnonzero(self.at_bounds))

    def is_settled(self, above: Array) -> Array:
        """Whether the gradient at the sample, times the sign of theta so far above some level, cannot be below it."""
        width = (self.here.u0 - self.here.l0)[self.at_bounds]
        size, tiny = np.abs(self.theta_own), np.finfo(float).tiny
        eps = np.minimum(-width @ np.minimum(self._all_slacks, 0.0), 0.5 * self.span * size**2)
        # The best mu, but not more than theta_i; and not less than does no harm, as its point has to be feasible.
        span = np.maximum(self.span, tiny)
        with np.errstate(over="ignore"):
            mu = np.maximum(np.sqrt(2.0 * (eps + self.brought_back(0.0)) / span), 0.5 * np.abs(above) / span)
        mu = np.maximum(np.minimum(mu, size), tiny)
        cost = eps + self.brought_back(np.where(above > 0, mu, -mu))
        is_decided = np.abs(above) > 0.5 * span * mu + cost / mu + tolerances.SIGN_DECIDED * self.here.unit[0]
        return is_decided & ~self.awkward & ~self.is_weak & (size > 0.0)

    def brought_back(self, mu: Array | float) -> Array:
        """The cost rho of bringing F back into its box where theta_i = -mu."""
        o, q = self.here, self.q
        share = 1.0 + mu / np.where(self.theta_own == 0.0, 1.0, np.abs(self.theta_own))
        theta = self.walker.theta[self.F][:, None] + share * self.D[q:]
        theta[self.own, self.inside] = 0.0
        low, up = np.broadcast_to(self.low, theta.shape).copy(), np.broadcast_to(self.up, theta.shape).copy()
        low[self.own, self.inside] = up[self.own, self.inside] = 0.0
        back = np.clip(theta, low, up)
        rho = np.zeros(theta.shape[1])
        for p in range(q):
            mine = o.group[self.F] == p
            rest = (theta[mine] - back[mine]).sum(axis=0)
            room = np.where(rest > 0, (up - back)[mine], (low - back)[mine])
            total = room.sum(axis=0)
            fits = np.abs(total) >= np.abs(rest) * (1.0 + tolerances.RETURN_ROOM)
            back[mine] += room * np.where(fits, rest / np.where(total == 0.0, 1.0, total), 0.0)
            rho[~fits] = np.inf
        change = back - theta
        K = self.M[q:, q:]
        return rho + 0.5 * np.einsum("ij,ij->j", change, K @ change)


def has_unique_offsets(walker: Walker) -> bool:
    """Whether in every group a free variable is strictly between its bounds, so that nu is unique."""
    program, F, t = walker.program, walker.F, walker.t
    low, up = program.low(t)[F], program.up(t)[F]
    near = tolerances.AT_BOUND * np.minimum(up - low, max(np.abs(walker.theta).max(initial=0.0), program.least(t)))
    inner = (walker.theta[F] > low + near) & (walker.theta[F] < up - near)
    return bool(np.all(np.bincount(program.group[F][inner], minlength=len(program.b0)) > 0))


def inverse_in_features(group: Array, Z: Array, q: int) -> Array | None:
    """R of free variables with features Z, M = [0, G; G', Z Z']; None where M is singular to working precision.

    With N = G G' (the number of members of each group), the rows of Z centred in each group being B = U S V', and
    S+ = U S^-2 U', the blocks of R are

        R_FF = S+,    R_Fq = (I - S+ Z Z') G'N^-1,    R_qq = -N^-1 G Z Z' R_Fq.
    """
    m = len(Z)
    G = (group[None, :] == np.arange(q)[:, None]).astype(float)
    mean = G / G.sum(axis=1, keepdims=True)
    U, S, _ = np.linalg.svd(Z - G.T @ (mean @ Z), full_matrices=False)
    U, S = U[:, : m - q], S[: m - q]
    if len(S) < m - q or (len(S) and S[-1] <= np.sqrt(tolerances.SINGULAR_BELOW) * S[0]):
        return None
    inner = (U / S**2) @ U.T
    ZG = Z.T @ mean.T
    border = mean.T - inner @ (Z @ ZG)
    corner = -(ZG.T @ (Z.T @ border))
    return np.block([[corner, border.T], [border, inner]])

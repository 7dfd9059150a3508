"""Compiled: the walk along the solutions of ``solvers.box_qp``, from event to event.

Letters as there and in ``box_rates``. Every call ends after a given number of steps at the latest, so that Python can
look for an interrupt. Nothing is allocated here: all arrays belong to the caller.

What is called here is called nowhere else, where possible: every function that calls another contains it once more
when it is compiled.
"""

from __future__ import annotations

import numpy as np

from svmpath.solvers.loops.box_rates import bound_rate, carry, respond, set_direction, set_rates, synchronise
from svmpath.solvers.loops.box_state import *
from svmpath.solvers.loops.box_tolerances import *
from svmpath.solvers.loops.decorators import entry, inner
from svmpath.solvers.loops.infinite import INFINITE
from svmpath.solvers.loops.linalg import append, combine, delete, replace


@inner
def _room(P: ProgramArrays, S: State, k: int, side: int) -> float:
    """How far a free variable is from a bound."""
    t = S.x[T]
    return max(S.theta[k] - P.l0[k] - t * P.l1[k] if side == LOW else P.u0[k] + t * P.u1[k] - S.theta[k], 0.0)


@inner
def _put_on_bound(P: ProgramArrays, S: State, j: int, status: int) -> None:
    """The theta of a variable exactly on its bound."""
    S.theta[j] = P.u0[j] + S.x[T] * P.u1[j] if status == UP else P.l0[j] + S.x[T] * P.l1[j]


@inner
def _draw(k: Array, ties: int) -> bool:
    """True once in so many times."""
    k[SEED] = (k[SEED] * 1103515245 + 12345) & 0x7FFFFFFF
    return (k[SEED] >> 8) % ties == 0


@inner
def _first_event(P: ProgramArrays, S: State, W: Work, tau: float, tie: float) -> tuple[float, int, int, int]:
    """The first event: its step, its kind, which variable, and to which bound that goes.

    Kind 0: the free variable at that position of F reaches a bound. Kind 1: that variable becomes free. Of ties the
    fastest one, or any one.
    """
    best, q, m, d, is_random = INFINITE, len(S.nu), S.k[SIZE], W.d, S.k[ZERO_STEPS] > ZERO_STEPS_IN_ORDER
    sign, g, dg, steps = W.sign, S.g, W.dg, W.steps
    for j in range(len(g)):
        rate = -sign[j] * dg[j]
        h = max(sign[j] * g[j], 0.0) / rate if rate > tau else INFINITE
        steps[j] = h
        best = min(best, h)
    for a in range(m):
        k = S.F[a]
        down, rise = P.l1[k] - d[q + a], d[q + a] - P.u1[k]
        if down * P.kmax > tau:
            best = min(best, _room(P, S, k, LOW) / down)
        if rise * P.kmax > tau:
            best = min(best, _room(P, S, k, UP) / rise)
    kind, which, side, speed, ties = -1, -1, LOW, 0.0, 0
    if best >= INFINITE:
        return best, kind, which, side
    limit = best + tie
    for j in range(len(g)):
        if steps[j] <= limit:
            ties += 1
            if _draw(S.k, ties) if is_random else abs(dg[j]) > speed:
                kind, which, speed = 1, j, abs(dg[j])
    for a in range(m):
        k = S.F[a]
        for b in range(2):
            rate = P.l1[k] - d[q + a] if b == LOW else d[q + a] - P.u1[k]
            if rate * P.kmax > tau and _room(P, S, k, b) / rate <= limit:
                ties += 1
                if _draw(S.k, ties) if is_random else rate * P.kmax > speed:
                    kind, which, side, speed = 0, a, b, rate * P.kmax
    return best, kind, which, side


@inner
def _cost_of_return(P: ProgramArrays, S: State, W: Work, step: float) -> float:
    """What it costs to bring F back into its box after a step: the one with most room takes up what the others cannot.

    For one group. Infinity where that is not enough, or too much to compute.
    """
    q, m, count, rest = len(S.nu), S.k[SIZE], 0, 0.0
    for a in range(m):
        k = S.F[a]
        x = S.theta[k] + step * W.d[q + a]
        beyond = x - P.u0[k] if x > P.u0[k] else min(x - P.l0[k], 0.0)
        if beyond != 0.0:
            if count > RETURN_AT_MOST:
                return INFINITE
            W.rows[count], W.spare[count] = P.r[k], -beyond
            count, rest = count + 1, rest + beyond
    if count == 0:
        return 0.0
    best, room = -1, abs(rest)
    for a in range(m):
        k = S.F[a]
        x = S.theta[k] + step * W.d[q + a]
        own = P.u0[k] - x if rest > 0.0 else x - P.l0[k]
        if P.l0[k] <= x <= P.u0[k] and own >= room:
            best, room = a, own
    if best < 0:
        return INFINITE
    W.rows[count], W.spare[count] = P.r[S.F[best]], rest
    cost = 0.0
    for a in range(count + 1):
        row, total = P.K[W.rows[a]], 0.0
        for b in range(count + 1):
            total += row[W.rows[b]] * W.spare[b]
        cost += 0.5 * W.spare[a] * total
    return cost


@inner
def _is_known(P: ProgramArrays, S: State, W: Work, above: float, rate: float) -> bool:
    """Whether it is known on which side of its level the gradient that is watched is at t = 1.

    Now it is so far above, and falls with this rate. ``solvers.removal`` gives the bound, here with mu in units of t.
    """
    rest, amount = 1.0 - S.x[T], abs(P.l1[S.k[WATCH]])
    back = _cost_of_return(P, S, W, rest)
    if back == INFINITE or rate <= 0.0:
        return False
    end, most, eps = above - rate * rest, 0.5 * rate * rest * rest * amount, 0.0
    for j in range(len(S.g)):
        slack = W.sign[j] * (S.g[j] + rest * W.dg[j])
        if slack < 0.0:
            eps -= slack * (P.u0[j] - P.l0[j])
            if eps >= most:  # what the tangent says is better
                eps = most
                break
    # The best mu, but not more than is left; and not less than does no harm, as its point has to be feasible.
    mu = min(max(np.sqrt(2.0 * (eps + back) / (rate * amount)), 0.5 * abs(end) / rate), rest)
    if mu <= 0.0:
        return False
    eps += _cost_of_return(P, S, W, rest + mu if end > 0.0 else rest - mu)
    return abs(end) > 0.5 * rate * mu + eps / (amount * mu) + SIGN_DECIDED * P.unit[0]


@inner
def _advance(P: ProgramArrays, S: State, W: Work, h: float, t: float) -> None:
    """A step of length h, to t."""
    q = len(S.nu)
    for e in range(q):
        S.nu[e] += h * W.d[e]
    for a in range(S.k[SIZE]):
        S.theta[S.F[a]] += h * W.d[q + a]
    for j in range(len(S.g)):
        S.g[j] += h * W.dg[j]
    S.x[T] = t
    if S.x[FASTEST] > 0.0:
        for j in range(len(S.theta)):
            if S.status[j] != FREE:
                _put_on_bound(P, S, j, S.status[j])


@inner
def _record(S: State, W: Work, log: EventArrays, j: int, target: int) -> None:
    """Give variable j another status, and record it."""
    e = S.k[RECORDED]
    log.t[e], log.variable[e], log.source[e], log.target[e] = S.x[T], j, S.status[j], target
    log.extra[e] = S.g[S.k[WATCH]]
    S.k[RECORDED] += 1
    S.k[EVENTS] += 1
    S.status[j] = target
    W.sign[j] = 1.0 if target == LOW else (-1.0 if target == UP else 0.0)


@inner
def find_successor(P: ProgramArrays, S: State, W: Work, k: int) -> int:
    """Move the multiplier of k, alone in its group, until another variable can take its place: which (-1: none)."""
    best, step = -1, INFINITE
    for j in range(len(S.g)):
        if P.p[j] == P.p[k] and j != k and W.sign[j] == -W.sign[k]:
            slack = max(W.sign[j] * S.g[j], 0.0)
            if slack < step:
                best, step = j, slack
    if best >= 0:
        S.nu[P.p[k]] += W.sign[k] * step
        for i in range(len(S.g)):
            if P.p[i] == P.p[k]:
                S.g[i] += W.sign[k] * step
    return best


@inner
def _slide(P: ProgramArrays, S: State, W: Work, j: int) -> tuple[int, int]:
    """Move theta_j and F along the null direction of j until one of them reaches a bound: position (-1: j) and side."""
    upwards, z, q, m, t = W.sign[j], W.z, len(S.nu), S.k[SIZE], S.x[T]
    step, speed, which, side = P.u0[j] - P.l0[j] + t * (P.u1[j] - P.l1[j]), 1.0, -1, UP if upwards > 0 else LOW
    for a in range(m):
        rate = -upwards * z[q + a]
        if abs(rate) >= NULL_ZERO:
            to = UP if rate > 0 else LOW
            h = _room(P, S, S.F[a], to) / abs(rate)
            if h < step * (1.0 - SLIDE_TIE) or (h <= step and abs(rate) > speed):
                step, speed, which, side = min(h, step), abs(rate), a, to
    x = upwards * step
    for e in range(q):
        S.nu[e] -= x * z[e]
    S.theta[j] += x
    for i in range(P.K.shape[0]):
        W.buffer[i] = 0.0
    for a in range(m):
        S.theta[S.F[a]] -= x * z[q + a]
        W.rows[a] = P.r[S.F[a]]
    combine(P.K, W.rows, z[q:], m, W.buffer)
    row = P.K[P.r[j]]
    for i in range(len(S.g)):
        S.g[i] += x * (row[P.r[i]] - W.buffer[P.r[i]] - z[P.p[i]])
    return which, side


@inner
def _swap(P: ProgramArrays, S: State, W: Work, a: int, j: int, sc: float) -> None:
    """Variable j takes the place of the one at position a of F."""
    q = len(S.nu)
    replace(S.R, q + S.k[SIZE], q + a, W.z, sc, W.spare)
    W.members[P.p[S.F[a]]] -= 1
    W.members[P.p[j]] += 1
    S.F[a], S.g[j], S.k[TURNED] = j, 0.0, 1


@inner
def _leave(P: ProgramArrays, S: State, W: Work, log: EventArrays, which: int, side: int) -> int:
    """The variable at this position of F has reached a bound and stays there.

    If it is the only one of its group, the multiplier moves, and theta does not, until another can take its place,
    which becomes free next.
    """
    q, m, k = len(S.nu), S.k[SIZE], S.F[which]
    _put_on_bound(P, S, k, side)
    _record(S, W, log, k, side)
    if W.members[P.p[k]] == 1:
        S.k[ENTERING] = find_successor(P, S, W, k)
        return INFEASIBLE if S.k[ENTERING] < 0 else GO
    S.k[STALE] = S.R[q + which, q + which] * P.kmax * COMPLEMENT_STALE > 1.0
    # Its rate changes from d to that of the bound; the last one of F takes its place.
    rho = bound_rate(P, S, k)
    x = (W.d[q + which] - rho) / S.R[q + which, q + which]
    for b in range(q + m):
        W.d[b] -= x * S.R[b, q + which]
    delete(S.R, q + m, q + which, W.spare)
    W.d[q + which], S.F[which] = W.d[q + m - 1], S.F[m - 1]
    S.k[SIZE] -= 1
    W.members[P.p[k]] -= 1
    carry(P, W, k, rho)
    return GO


@inner
def _make_room(P: ProgramArrays, S: State, W: Work, log: EventArrays, j: int) -> None:
    """Free a variable that depends on F: theta moves along the null direction until a variable makes room for it."""
    which, side = _slide(P, S, W, j)
    k = j if which < 0 else S.F[which]
    _put_on_bound(P, S, k, side)
    _record(S, W, log, k, side)
    S.k[TURNED] = 1
    if which >= 0:  # else j itself is at its other bound
        _record(S, W, log, j, FREE)
        _swap(P, S, W, which, j, 0.0)


@inner
def _join(P: ProgramArrays, S: State, W: Work, log: EventArrays, j: int, sc: float) -> None:
    """Variable j, whose Schur complement is sc, becomes free besides the others."""
    q, m, rho, x = len(S.nu), S.k[SIZE], bound_rate(P, S, j), -W.dg[j] / sc
    for a in range(q + m):
        W.d[a] -= x * W.z[a]
    W.d[q + m], S.F[m], S.g[j] = rho + x, j, 0.0
    carry(P, W, j, -rho)
    W.members[P.p[j]] += 1
    _record(S, W, log, j, FREE)
    append(S.R, q + m, W.z, sc)
    S.k[SIZE] += 1
    S.k[STALE] = sc < COMPLEMENT_STALE * P.kmax


@inner
def _is_sync_due(P: ProgramArrays, S: State, t_end: float) -> bool:
    """Whether the gradient should be computed exactly."""
    k, t = S.k, S.x[T]
    long = t - S.x[SYNCED_AT] > SYNC_STRETCH * max(abs(t), abs(t_end))
    return k[FRESH] != 0 or long or k[EVENTS] - k[SYNCED] >= max(SYNC_EVENTS, P.K.shape[0] // 4)


@inner
def _advance_to_event(
    P: ProgramArrays, S: State, W: Work, t_end: float, most: int, turn: float, level: float, size: float
) -> tuple[int, int, int, int]:  # fmt: skip
    """Go to the next event, or to the end: how that ended, the event's kind, which variable, and the bound."""
    x, k, t, rest, watch = S.x, S.k, S.x[T], t_end - S.x[T], S.k[WATCH]
    if turn != 0.0 and rest > END_NEAR and _is_known(P, S, W, turn * S.g[watch] - level, -turn * W.dg[watch]):
        S.g[watch] += rest * W.dg[watch]
        return DECIDED, 0, 0, 0
    tie = STEP_TIE * max(abs(t), rest)
    best, kind, which, side = _first_event(P, S, W, RATE_ZERO * size, tie)
    if k[EVENTS] - k[FIRST_EVENTS] >= most and (t > x[FIRST] or best > tie):
        k[WAS_CUT] = k[WAS_CUT] or best < rest
        best = INFINITE
    _advance(P, S, W, min(best, rest), t_end if best >= rest else t + best)
    if best >= rest:
        return ARRIVED, 0, 0, 0
    if turn * S.g[watch] < level - SIGN_DECIDED * P.unit[0] and t_end - x[T] > END_NEAR:
        return DECIDED, 0, 0, 0
    k[ZERO_STEPS] = k[ZERO_STEPS] + 1 if best <= tie else 0
    return CYCLING if k[ZERO_STEPS] > ZERO_STEPS_AT_ALL else GO, kind, which, side


@entry
def follow(
    P: ProgramArrays, S: State, W: Work, log: EventArrays,
    t_end: float, tol: float, most: int, steps: int, turn: float, level: float,
) -> int:  # fmt: skip
    """Walk from event to event to t_end, for so many steps, or while there is room to record events.

    After ``most`` events, those at the very beginning not counted, no variable changes place any more; the code is CUT
    if one would have. If ``turn`` is not zero, the walk to t_end = 1 ends where it is known whether turn times the
    gradient that is watched will be below ``level``, which it never crosses upwards; the gradient is then one on the
    same side. A Schur complement of at most ``tol``, in units of kmax, means that a variable nearly depends on F.
    """
    k, q, code, kind, which, side = S.k, len(S.nu), GO, 0, 0, 0
    for e in range(q):
        W.members[e] = 0
    for a in range(k[SIZE]):
        W.members[P.p[S.F[a]]] += 1
    k[TURNED] = 1
    for _ in range(steps):
        if code == GO:
            if k[RECORDED] + 3 > len(log.t):
                return FULL
            if q + k[SIZE] + 2 > S.R.shape[0]:
                return GROW
            if k[STALE]:
                k[STALE] = 0
                return REFACTOR
            k[STEPS] += 1
            if S.x[T] == S.x[FIRST]:
                k[FIRST_EVENTS] = k[EVENTS]
        if code == ARRIVED or _is_sync_due(P, S, t_end):
            S.x[WORST] = max(S.x[WORST], synchronise(P, S, W))
        if code == ARRIVED:
            return CUT if k[WAS_CUT] else END
        if k[TURNED]:
            set_direction(P, S, W)
            k[TURNED] = 0
        size = set_rates(P, S, W)
        if size < 0.0:
            return REFACTOR
        k[FRESH] = 0
        code, kind, which, side = _advance_to_event(P, S, W, t_end, most, turn, level, size)
        if code == ARRIVED:
            continue
        k[ENTERING] = which if kind == 1 else -1
        if code == GO and kind == 0:
            code = _leave(P, S, W, log, which, side)
        if code != GO:
            return code
        j = k[ENTERING]
        if j < 0:
            continue
        sc = respond(P, S, W, j)
        if kind == 0:
            _record(S, W, log, j, FREE)
            _swap(P, S, W, which, j, sc)
        elif sc <= 0.0:
            _make_room(P, S, W, log, j)
        elif sc <= tol * P.kmax:  # R would lose its digits
            S.x[COMPLEMENT] = sc
            return NEARLY_DEPENDENT
        else:
            _join(P, S, W, log, j, sc)
    return PAUSE

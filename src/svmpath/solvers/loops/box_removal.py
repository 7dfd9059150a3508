"""Compiled: walks that drive the variables of one sample after another to zero (see ``solvers.removal``)."""

from __future__ import annotations

from svmpath.solvers.loops.box_rates import respond, set_signs
from svmpath.solvers.loops.box_state import *
from svmpath.solvers.loops.box_tolerances import *
from svmpath.solvers.loops.box_walk import find_successor, follow
from svmpath.solvers.loops.decorators import entry, inner
from svmpath.solvers.loops.infinite import INFINITE
from svmpath.solvers.loops.linalg import delete, replace


@inner
def _middle(P: ProgramArrays, S: State, noise: Array, offsets: Array) -> None:
    """The multipliers, each in the middle of its interval: ``box_program.offset_shift`` without FIXED ones.

    Where variables were kept from changing place, the interval may be empty: then the multiplier stays where it is.
    """
    q, m = len(S.nu), S.k[SIZE]
    scale = (P.unit[0] + P.unit[2] * (S.nu[0] - S.nu[q - 1]) / 2.0) / P.kmax
    for j in range(len(S.g)):
        noise[j], scale = 0.0, max(scale, abs(S.theta[j]))
    for a in range(m):
        k = S.F[a]
        noise[k] = THETA_NOISE * (abs(P.c0[k]) + abs(S.nu[P.p[k]])) * S.R[q + a, q + a]
    for e in range(q):
        lowest, highest, is_held = -INFINITE, INFINITE, False
        for j in range(len(S.g)):
            width = P.u0[j] - P.l0[j]
            if P.p[j] != e or S.status[j] == FIXED or width <= 0.0:
                continue
            near = max(AT_BOUND * min(width, scale), min(noise[j], AT_BOUND * width * NOISE_AT_MOST))
            is_low, is_up = S.theta[j] <= P.l0[j] + near, S.theta[j] >= P.u0[j] - near
            if is_low:
                lowest = max(lowest, -S.g[j])
            if is_up:
                highest = min(highest, -S.g[j])
            if not is_low and not is_up:
                is_held = True
                break
        shift = 0.0
        if not is_held and lowest == -INFINITE:
            shift = highest if highest < INFINITE else 0.0
        elif not is_held and highest == INFINITE:
            shift = lowest
        elif not is_held and lowest <= highest + AT_BOUND * P.unit[0]:
            shift = 0.5 * (lowest + highest)
        offsets[e] = S.nu[e] + shift


@inner
def _dismiss(P: ProgramArrays, S: State, W: Work, j: int, upwards: bool) -> int:
    """Take the FIXED variable j out of F; REFACTOR or INFEASIBLE where that is not so easy.

    If it is the only one of its group, another takes its place that can move upwards (downwards).
    """
    q, m, position, members = len(S.nu), S.k[SIZE], -1, 0
    for a in range(m):
        if S.F[a] == j:
            position = a
        if P.p[S.F[a]] == P.p[j]:
            members += 1
    if position < 0:
        return GO
    a = q + position
    if members > 1:
        if S.R[a, a] * P.kmax * COMPLEMENT_STALE > 1.0:
            return REFACTOR
        delete(S.R, q + m, a, W.spare)
        S.F[position] = S.F[m - 1]
        S.k[SIZE] -= 1
        return GO
    W.sign[j] = -1.0 if upwards else 1.0
    k = find_successor(P, S, W, j)
    W.sign[j] = 0.0
    if k < 0:
        return INFEASIBLE
    sc = respond(P, S, W, k)
    replace(S.R, q + m, a, W.z, sc, W.spare)
    S.F[position], S.status[k], S.g[k], W.sign[k] = k, FREE, 0.0, 0.0
    return GO


@inner
def _begin_removal(P: ProgramArrays, S: State, W: Work, origin: State, o: Removals, s: int) -> int:
    """Copy the state with all samples, and fix the variables of sample s, which are then driven to zero."""
    q, m, driven = len(S.nu), origin.k[SIZE], -1
    for j in range(len(S.g)):
        S.theta[j], S.status[j], S.g[j] = origin.theta[j], origin.status[j], origin.g[j]
    for e in range(q):
        S.nu[e], P.b1[e] = origin.nu[e], o.changes[s, e]
    for a in range(m):
        S.F[a] = origin.F[a]
    for a in range(q + m):
        for b in range(q + m):
            S.R[a, b] = origin.R[a, b]
    for e in range(len(S.x)):
        S.x[e] = 0.0
    for e in range(len(S.k)):
        S.k[e] = 0
    for v in o.variables[s]:
        if v >= 0:
            P.l0[v], P.l1[v] = origin.theta[v], -origin.theta[v]
            S.x[FASTEST] = max(S.x[FASTEST], abs(origin.theta[v]))
            driven = v if S.status[v] == FREE else driven
            S.status[v] = FIXED
    S.k[SIZE], S.k[SEED], S.k[WATCH] = m, 1, o.variables[s, 0]
    set_signs(S, W)
    if driven < 0:
        return GO
    return _dismiss(P, S, W, driven, o.changes[s, P.p[driven]] + origin.theta[driven] > 0.0)


@inner
def _end_removal(P: ProgramArrays, S: State, W: Work, o: Removals, s: int, code: int, low: Array) -> None:
    """Fill in what was found without sample s, and let its variables go."""
    first = o.variables[s, 0]
    for v in o.variables[s]:
        if v >= 0:
            P.l0[v], P.l1[v] = low[v], 0.0
    o.product[s] = S.g[first] - P.c0[first] - S.nu[P.p[first]]
    for e in range(len(S.nu)):
        o.offsets[s, e] = S.nu[e]
    if code in (END, CUT):
        _middle(P, S, W.steps, o.offsets[s])
    o.codes[s], o.counts[s], o.worsts[s] = code, S.k[EVENTS], S.x[WORST]
    if code == END:
        for k in S.F[: S.k[SIZE]]:  # outside its box by more than rounding, in units of the box
            if max(P.l0[k] - S.theta[k], S.theta[k] - P.u0[k]) > THETA_OUTSIDE * (P.u0[k] - P.l0[k]):
                o.worsts[s] = INFINITE


@entry
def leave_out(
    P: ProgramArrays, S: State, W: Work, log: EventArrays, origin: State, o: Removals,
    low: Array, tol: float, most: int, limit: int, steps: int,
) -> None:  # fmt: skip
    """Drive the variables of one sample after another to zero, each from the same state.

    It returns after so many ``steps``; a walk is given up after ``limit`` of them. ``low`` are the lower bounds of P,
    of which those of the sample are moved. A walk that needs Python (a variable that nearly depends on F, an inverse to
    be made anew) is ended as it is; its code says so.
    """
    rest = steps
    while o.place[0] < len(o.variables) and rest > 0:
        s, code = o.place[0], GO
        if o.place[1] == 0:
            code = _begin_removal(P, S, W, origin, o, s)
            o.place[1] = 1
        if code == GO:
            before = S.k[STEPS]
            S.k[RECORDED] = 0
            code = follow(P, S, W, log, 1.0, tol, most, rest, o.turns[s], o.levels[s])
            rest -= S.k[STEPS] - before
        if code == PAUSE and S.k[STEPS] > limit:
            code = CYCLING
        if code == PAUSE:
            return
        if code == FULL:  # the events of a removal are not read
            continue
        _end_removal(P, S, W, o, s, code, low)
        o.place[0] += 1
        o.place[1] = 0
        rest -= 1

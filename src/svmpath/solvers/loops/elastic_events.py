"""Compiled loops of the elastic-net hinge machine: the rates along a line, and what ends a step.

Letters as in ``elastic_system``. Along a line everything is linear, until the first of these: a sample leaves the elbow
(``leaving``), a feature reaches its threshold (``entering``), a coefficient reaches zero (``vanishing``), a sample
comes to the elbow (``hitting``).
"""

from __future__ import annotations

import numpy as np

from svmpath.solvers.loops.decorators import inner
from svmpath.solvers.loops.elastic_state import *
from svmpath.solvers.loops.elastic_system import add_one, add_products, solve
from svmpath.solvers.loops.elastic_tolerances import *
from svmpath.solvers.loops.infinite import INFINITE


@inner
def random(num: Array) -> int:
    """The next of a row of random numbers."""
    x = num[RANDOM]
    x ^= (x << 13) & 0x7FFFFFFFFFFF
    x ^= x >> 7
    x ^= (x << 17) & 0x7FFFFFFFFFFF
    num[RANDOM] = x
    return x >> 3


@inner
def record_event(
    x: Array, num: Array, when: Array, what: Array, feature: int, index: int, source: int, target: int
) -> None:
    """Record an event: where; whether a feature's, whose, from which place to which."""
    at = num[LOGGED]
    if at < len(when):
        when[at] = x[U]
        what[at, 0], what[at, 1], what[at, 2], what[at, 3] = feature, index, source, target
    num[LOGGED] = at + 1


@inner
def moved_weights(D: DesignArrays, S: ElasticState, moving: Array) -> float:
    """Z_L' w_L' in P[CW]; returns y_L' w_L'."""
    g, cw, dw, n = 0.0, S.P[CW], S.N[DW], len(S.place)
    for j in range(len(cw)):
        cw[j] = 0.0
    for i in moving:
        if S.place[i] == LEFT:
            g += S.N[Y, i] * dw[i]
            add_one(D.Zr, D.ri, D.rv, n, i, dw[i], cw)
    return g


@inner
def rates(D: DesignArrays, S: ElasticState, g: float) -> tuple[bool, float, float]:
    """Rates along the line in Q, N[DR], P[DC]; whether the step is fast (at a constant parameter), b', noise in dr."""
    x, A, E, place, sign = S.x, S.A, S.E, S.place, S.sign
    beta, cw, dc, om, zmax = S.P[BETA], S.P[CW], S.P[DC], S.P[OM], S.P[ZMAX]
    y, dr, margin, r = S.N[Y], S.N[DR], S.N[MARGIN], S.N[R]
    da, dx, f, e, u = S.Q[DA], S.Q[DX], S.Q[F_], S.Q[E_], S.Q[U_]
    k, m, d2, n, p = S.num[K], S.num[M], x[D2], len(place), len(sign)
    largest = 0.0
    for j in range(m):
        at = A[j]
        f[j] = cw[at] - (0.0 if sign[at] == UNPENALISED else x[D1] * om[at] * sign[at])
        largest = max(largest, abs(f[j]))
    is_flat = True  # lambda2 beta moves with lambda2 alone
    if k == 0:
        b = d2 * x[B]
        for j in range(m):
            dx[j] = f[j] if g == 0.0 else 0.0
            is_flat = is_flat and f[j] == d2 * beta[A[j]]
        if g != 0.0:  # no sample can take over the removed weight: the offset moves alone
            b, is_flat = np.sign(g), False
    else:
        for a in range(k):
            e[a] = d2 * margin[E[a]]
        b = solve(S, g)
        if k < m + 1:
            push = 0.0
            for a in range(k):
                push += abs(da[a])
            for j in range(m):
                at = A[j]
                if abs(dx[j] - d2 * beta[at]) > FLAT * (largest + push * zmax[at]):
                    is_flat = False
                    break
        if is_flat:
            b = d2 * x[B]
            for j in range(m):
                dx[j] = d2 * beta[A[j]]
    fast = (k == 0 and g != 0.0) or (x[LAM2] == 0.0 and not is_flat)
    rate2 = 0.0 if fast else d2
    noise = abs(b) + abs(rate2)
    for j in range(m):
        noise += abs(dx[j]) * zmax[A[j]]
        u[j] = -dx[j]
    for i in range(n):
        dr[i] = d2 * r[i] if is_flat else rate2 * margin[i] - y[i] * b
    if not is_flat:
        add_products(D.Zc, D.ci, D.cv, p, A, u, m, dr)
    for a in range(k):
        dr[E[a]] = 0.0
        da[a] = 0.0 if fast else da[a]
    for j in range(p):
        dc[j] = 0.0 if fast else cw[j]
    if not fast:
        add_products(D.Zr, D.ri, D.rv, n, E, da, k, dc)
    return fast, b, RATE_NOISE * noise


@inner
def leaving(num: Array, E: Array, N: Array, da: Array, is_moving: bool, floor: float) -> tuple[float, int, int]:
    """Which elbow sample reaches a bound first: the step, its position and where it goes; rates below floor are none.

    Each of these searches begins anywhere where the walk has stood still for long, so that another of several equal
    steps can be found.
    """
    k, alpha, w, dw = num[K], N[ALPHA], N[WEIGHT], N[DW]
    skip = offset(num, k)
    t, at, to, least = INFINITE, -1, 0, floor
    for a in range(k):
        least = max(least, RATE_NOISE * abs(da[a]))
        if is_moving:
            least = max(least, RATE_NOISE * abs(dw[E[a]]))
    for step in range(k):
        a = (step + skip) % k
        i = E[a]
        up = da[a] - dw[i] if is_moving else da[a]
        if da[a] < -least and max(alpha[i], 0.0) < t * -da[a]:
            t, at, to = max(alpha[i], 0.0) / -da[a], a, RIGHT
        if up > least and max(w[i] - alpha[i], 0.0) < t * up:
            t, at, to = max(w[i] - alpha[i], 0.0) / up, a, LEFT
    return t, at, to


@inner
def entering(num: Array, sign: Array, P: Array, lam1: float, d1: float, push: float) -> tuple[float, int, int]:
    """Which feature reaches its threshold first, and on which side; ``push`` is the sum of the rates that make dc."""
    c, om, zmax, dc = P[C], P[OM], P[ZMAX], P[DC]
    t, at, to, p = INFINITE, -1, 0, len(sign)
    skip = offset(num, p)
    for step in range(p):
        j = step + skip
        if j >= p:
            j -= p
        if sign[j] == ZERO:
            wall, slope = lam1 * om[j], d1 * om[j]
            least = RATE_NOISE * (abs(slope) + push * zmax[j])
            up, down = dc[j] - slope, -dc[j] - slope
            if up > least and max(wall - c[j], 0.0) < t * up:
                t, at, to = max(wall - c[j], 0.0) / up, j, PLUS
            if down > least and max(wall + c[j], 0.0) < t * down:
                t, at, to = max(wall + c[j], 0.0) / down, j, MINUS
    return t, at, to


@inner
def vanishing(num: Array, A: Array, sign: Array, beta: Array, dx: Array, unit: float) -> tuple[float, int]:
    """Which coefficient reaches zero first."""
    m = num[M]
    t, at, least, skip = INFINITE, -1, 0.0, offset(num, m)
    for j in range(m):
        least = max(least, RATE_NOISE * abs(dx[j]))
    for step in range(m):
        j = (step + skip) % m
        s = 0 if sign[A[j]] == UNPENALISED else sign[A[j]]
        if s * dx[j] < -least and unit * max(s * beta[A[j]], 0.0) < t * -(s * dx[j]):
            t, at = unit * max(s * beta[A[j]], 0.0) / -(s * dx[j]), j
    return t, at


@inner
def hitting(num: Array, place: Array, r: Array, dr: Array, unit: float, noise: float) -> tuple[float, int]:
    """Which sample reaches the elbow first."""
    t, at, n = INFINITE, -1, len(place)
    skip = offset(num, n)
    for step in range(n):
        i = step + skip
        if i >= n:
            i -= n
        # Towards the elbow is down on the left and up on the right.
        turn = -1.0 if place[i] == LEFT else (1.0 if place[i] == RIGHT else 0.0)
        if turn * dr[i] > noise and unit * max(-turn * r[i], 0.0) < t * (turn * dr[i]):
            t, at = unit * max(-turn * r[i], 0.0) / (turn * dr[i]), i
    return t, at


@inner
def is_next(num: Array, t: float, best: float) -> bool:
    """Whether a step is shorter than the best so far; of equal ones any, where the walk has stood still for long."""
    if num[IDLE] > PATIENCE and random(num) % 2 == 0:
        return t <= best * (1.0 + SAME_STEP)
    return t < best * (1.0 - SAME_STEP)


@inner
def offset(num: Array, size: int) -> int:
    """Where a search begins: at the first, or anywhere where the walk has stood still for long."""
    return random(num) % size if num[IDLE] > PATIENCE and size > 0 else 0


@inner
def first_event(S: ElasticState, u_end: float, fast: bool, noise: float, moving: Array) -> tuple[float, int, int, int]:
    """What ends the step: its length, kind (0 the end, 1 leave, 2 enter, 3 vanish, 4 hit), which, and where to."""
    unit = 1.0 if fast else S.x[LAM2]
    best, kind, at, to = INFINITE if fast else max(S.x[U] - u_end, 0.0), 0, 0, 0
    if not fast:
        t, which, where = leaving(S.num, S.E, S.N, S.Q[DA], len(moving) > 0, S.x[FLOOR])
        if which >= 0 and is_next(S.num, t, best):
            best, kind, at, to = t, 1, which, where
        push = 0.0
        for a in range(S.num[K]):
            push += abs(S.Q[DA, a])
        for i in moving:
            push += abs(S.N[DW, i])
        t, which, where = entering(S.num, S.sign, S.P, S.x[LAM1], S.x[D1], push)
        if which >= 0 and is_next(S.num, t, best):
            best, kind, at, to = t, 2, which, where
    if fast or unit > 0.0:
        t, which = vanishing(S.num, S.A, S.sign, S.P[BETA], S.Q[DX], unit)
        if which >= 0 and is_next(S.num, t, best):
            best, kind, at = t, 3, which
        t, which = hitting(S.num, S.place, S.N[R], S.N[DR], unit, noise)
        if which >= 0 and is_next(S.num, t, best):
            best, kind, at = t, 4, which
    return best, kind, at, to

"""Compiled loops of the parametric quadratic program: the walk from event to event (see ``solvers.box_qp``).

Letters as there. The elbow system of the free variables F, with G_pj = 1 where j is of group p::

    M = [ 0    G_F  ]      R = M^-1, rows and columns: the q groups first, then F in the order of the array F
        [ G_F' K_FF ]

d = (d nu, d theta_F) are the rates of the multipliers and of the free variables by t; dg those of the gradient. KB and
dB are what the moving bounds of the other variables add to K d theta and to G d theta.

A variable j that becomes free has the column v of M. With z = R v and sc = K_jj - v'z, theta_j can rise by x while the
free variables move by -x z_F and the multipliers by -x z_nu: no gradient on F changes, and g_j rises by x sc.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

Array = np.ndarray

LOW, UP, FREE, FIXED = 0, 1, 2, 3
END, FULL, GROW, REFACTOR, INFEASIBLE, LOST, DECIDED, CUT = 0, 1, 2, 3, 4, 5, 6, 7

# Rounding: a rate below _RATE is none, a residual above _RESIDUAL is corrected, above _BROKEN the inverse is made anew.
_RATE, _RESIDUAL, _BROKEN = 1e-11, 1e-14, 1e-9
_CANCELLED = 1e-5  # a Schur complement below this, in units of kmax, is computed again with refinement
_NULL = 1e-14  # and one below this, in units of the terms that cancel in it, is zero
_STALE = 1e-6  # a Schur complement below this, in units of kmax, leaves R with too few digits: it is made anew
_SOON = 1e-9  # a step shorter than this, relative to t, is as good as none
_SLOW = 1e-8  # a gradient that moves more slowly than this, in units of the fastest c, may be overlooked for a while
_NONE = 1e-9  # a component of a null direction below this is zero
_SYNC, _LONG = 64, 0.75  # events (n / 4 if that is more), or a relative stretch of t, between two exact gradients
_TIE = 1e-13  # steps that differ by less, relative to t, are one
_PATIENCE, _MOST_NULL = 20, 5000  # steps of length zero before ties are broken at random, and before giving up
_FAR = 1e300
_FEW = 16  # free variables beyond their bounds up to which the cost of bringing them back is computed
_DECIDED = 1e-9  # how far from its level a gradient must be, in units of f, so that rounding does not decide
_LATE = 1e-9  # so near to the end nothing is decided any more: an event just before it may be one at it
_NEAR = 1e-10  # a variable nearer to its bound than this, relative to the box and to the largest one, is at it
_NOISE = 2e-15  # rounding of a free variable, in units of the terms of its gradient times R_jj
_OUTSIDE = 1e-7  # a free variable so far outside its box, in units of the box, is wrong

_options: Any = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}
# For what is called by compiled code only: without doors for Python it compiles faster.
_without_doors: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_options}
_jit: Any = njit(cache=True, **_options)
_inner: Any = njit(**_without_doors)


class Data(NamedTuple):
    """The program: see ``solvers.box_qp.Program``."""

    K: Array
    r: Array
    p: Array
    c0: Array
    c1: Array
    l0: Array
    l1: Array
    u0: Array
    u1: Array
    b0: Array
    b1: Array
    unit: Array
    kmax: float
    watch: int  # the variable whose gradient is told with every event


class State(NamedTuple):
    """Where the walk stands; all of it is changed in place. Of F the first m entries count, of R the first q + m."""

    theta: Array
    status: Array
    nu: Array
    g: Array
    F: Array
    R: Array


class Log(NamedTuple):
    """The events told: where, which variable, from which status to which, and the gradient that is watched."""

    t: Array
    variable: Array
    source: Array
    target: Array
    seen: Array


class Work(NamedTuple):
    """Room for vectors that are made at every event."""

    d: Array
    dg: Array
    KB: Array
    dB: Array
    sign: Array  # 1 for LOW, -1 for UP, 0 for the others
    members: Array  # number of the free variables of each group
    z: Array
    v: Array
    spare: Array
    buffer: Array
    steps: Array
    rows: Array


@_jit
def combine(K: Array, rows: Array, x: Array, count: int, out: Array) -> None:
    """``out += sum_a x_a K[rows_a]``, some rows at a time so that ``out`` is read and written less often."""
    n, a = K.shape[0], 0
    while a + 8 <= count:
        A, B, C, D = K[rows[a]], K[rows[a + 1]], K[rows[a + 2]], K[rows[a + 3]]
        E, F, G, H = K[rows[a + 4]], K[rows[a + 5]], K[rows[a + 6]], K[rows[a + 7]]
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        x4, x5, x6, x7 = x[a + 4], x[a + 5], x[a + 6], x[a + 7]
        for i in range(n):
            out[i] += (x0 * A[i] + x1 * B[i] + x2 * C[i] + x3 * D[i]) + (x4 * E[i] + x5 * F[i] + x6 * G[i] + x7 * H[i])
        a += 8
    while a + 2 <= count:
        A, B, x0, x1 = K[rows[a]], K[rows[a + 1]], x[a], x[a + 1]
        for i in range(n):
            out[i] += x0 * A[i] + x1 * B[i]
        a += 2
    if a < count:
        A, x0 = K[rows[a]], x[a]
        for i in range(n):
            out[i] += x0 * A[i]


@_jit
def times(R: Array, size: int, v: Array, out: Array) -> None:
    """``out = R v`` on the leading block."""
    for a in range(size):
        row, total = R[a], 0.0
        for b in range(size):
            total += row[b] * v[b]
        out[a] = total


@_jit
def append(R: Array, size: int, z: Array, sc: float) -> None:
    """R with one more free variable."""
    for a in range(size):
        row, x = R[a], z[a] / sc
        for b in range(size):
            row[b] += x * z[b]
        row[size] = -x
        R[size, a] = -x
    R[size, size] = 1.0 / sc


@_jit
def delete(R: Array, size: int, a: int, column: Array) -> None:
    """R without the variable at position a; the last one takes its place."""
    pivot, last = R[a, a], size - 1
    for b in range(size):
        column[b] = R[b, a]
    for b in range(size):
        row, x = R[b], column[b] / pivot
        for e in range(size):
            row[e] -= x * column[e]
    if a != last:
        for b in range(size):
            R[a, b] = R[last, b]
        for b in range(size):
            R[b, a] = R[b, last]


@_jit
def replace(R: Array, size: int, a: int, z: Array, sc: float, column: Array) -> None:
    """R with another variable at position a; never divides by sc, so that one may replace its duplicate."""
    for b in range(size):
        column[b] = R[b, a]
    pivot, za = column[a], z[a]
    D = pivot * sc + za * za
    for b in range(size):
        row, x, y = R[b], (pivot * z[b] - za * column[b]) / D, (sc * column[b] + za * z[b]) / D
        for e in range(size):
            row[e] += x * z[e] - y * column[e]
    for b in range(size):
        R[b, a] = R[a, b] = (za * column[b] - z[b] * pivot) / D
    R[a, a] = pivot / D


@_inner
def _respond(
    K: Array,
    r: Array,
    p: Array,
    F: Array,
    R: Array,
    q: int,
    m: int,
    j: int,
    kmax: float,
    v: Array,
    z: Array,
    spare: Array,
) -> float:
    """The z of variable j, and sc; refined where digits cancel."""
    size, row, own = q + m, K[r[j]], K[r[j], r[j]]
    for e in range(q):
        v[e] = 0.0
    v[p[j]] = 1.0
    for a in range(m):
        v[q + a] = row[r[F[a]]]
    times(R, size, v, z)
    sc = own
    for a in range(size):
        sc -= v[a] * z[a]
    if sc < _CANCELLED * kmax:
        left = v[:size].copy()
        for a in range(m):
            left[p[F[a]]] -= z[q + a]
            other, total = K[r[F[a]]], z[p[F[a]]]
            for b in range(m):
                total += other[r[F[b]]] * z[q + b]
            left[q + a] -= total
        times(R, size, left, spare)
        sc, total = own, own
        for a in range(size):
            z[a] += spare[a]
            sc -= v[a] * z[a]
            total += abs(v[a] * z[a])
        if sc <= _NULL * total:
            return 0.0
    return sc


@_inner
def _gradient_rates(
    K: Array, r: Array, p: Array, c1: Array, KB: Array, F: Array, q: int, m: int, d: Array, rows: Array, buffer: Array,
    dg: Array,
) -> None:  # fmt: skip
    """The dg of all variables at rates d."""
    for a in range(m):
        rows[a] = r[F[a]]
    for i in range(K.shape[0]):
        buffer[i] = KB[i]
    combine(K, rows, d[q:], m, buffer)
    for j in range(len(r)):
        dg[j] = buffer[r[j]] + c1[j] + d[p[j]]


@_inner
def _carry(P: Data, W: Work, j: int, rate: float) -> None:
    """Let the bound of j carry it with this rate (or, with its negative, no longer)."""
    if rate != 0.0:
        W.dB[P.p[j]] += rate
        row = P.K[P.r[j]]
        for i in range(len(W.KB)):
            W.KB[i] += rate * row[i]


@_inner
def _direction(P: Data, S: State, W: Work, q: int, m: int) -> None:
    """d, KB and dB from the beginning: M d = (b1 - dB, -c1_F - KB_F)."""
    W.dB[:] = 0.0
    W.KB[:] = 0.0
    for j in range(len(P.r)):
        rate = P.u1[j] if S.status[j] == UP else P.l1[j]
        if S.status[j] != FREE and rate != 0.0:
            _carry(P, W, j, rate)
    for e in range(q):
        W.spare[e] = P.b1[e] - W.dB[e]
    for a in range(m):
        W.spare[q + a] = -P.c1[S.F[a]] - W.KB[P.r[S.F[a]]]
    times(S.R, q + m, W.spare, W.d)


@_inner
def _correct(P: Data, S: State, W: Work, q: int, m: int, size: float, fresh: bool) -> bool:
    """Refine d until the gradient does not move on F; whether R is good enough for that."""
    for _ in range(3):
        for e in range(q):
            W.v[e] = P.b1[e] - W.dB[e]
        for a in range(m):
            W.v[P.p[S.F[a]]] -= W.d[q + a]
            W.v[q + a] = -W.dg[S.F[a]]
        times(S.R, q + m, W.v, W.spare)
        for a in range(q + m):
            W.d[a] += W.spare[a]
        _gradient_rates(P.K, P.r, P.p, P.c1, W.KB, S.F, q, m, W.d, W.rows, W.buffer, W.dg)
        moved = 0.0
        for a in range(m):
            moved = max(moved, abs(W.dg[S.F[a]]))
        if moved <= _RESIDUAL * size:
            break
        if moved > _BROKEN * size and not fresh:
            return False
    return True


@_inner
def _first(
    theta: Array, g: Array, dg: Array, sign: Array, l0: Array, l1: Array, u0: Array, u1: Array, F: Array, d: Array,
    q: int, m: int, t: float, tau: float, kmax: float, tie: float, is_random: bool, seed: int, steps: Array,
) -> tuple[float, int, int, int, int]:  # fmt: skip
    """The first event: its step, its kind, whom it concerns, and to which bound it goes.

    Kind 0: the free variable at that position of F reaches a bound. Kind 1: that variable becomes free. Of ties the
    fastest one, or any one.
    """
    best = _FAR
    for j in range(len(g)):
        rate = -sign[j] * dg[j]
        h = max(sign[j] * g[j], 0.0) / rate if rate > tau else _FAR
        steps[j] = h
        best = min(best, h)
    for a in range(m):
        k = F[a]
        down, rise = l1[k] - d[q + a], d[q + a] - u1[k]
        if down * kmax > tau:
            best = min(best, max(theta[k] - l0[k] - t * l1[k], 0.0) / down)
        if rise * kmax > tau:
            best = min(best, max(u0[k] + t * u1[k] - theta[k], 0.0) / rise)
    kind, which, side, speed, ties = -1, -1, LOW, 0.0, 0
    if best >= _FAR:
        return best, kind, which, side, seed
    limit = best + tie
    for j in range(len(g)):
        if steps[j] <= limit:
            rate, ties = abs(dg[j]), ties + 1
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            if ((seed >> 8) % ties == 0) if is_random else rate > speed:
                kind, which, speed = 1, j, rate
    for a in range(m):
        k = F[a]
        for b in range(2):
            rate = l1[k] - d[q + a] if b == LOW else d[q + a] - u1[k]
            room = theta[k] - l0[k] - t * l1[k] if b == LOW else u0[k] + t * u1[k] - theta[k]
            if rate * kmax > tau and max(room, 0.0) / rate <= limit:
                ties += 1
                seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                if ((seed >> 8) % ties == 0) if is_random else rate * kmax > speed:
                    kind, which, side, speed = 0, a, b, rate * kmax
    return best, kind, which, side, seed


@_inner
def _first_bound(P: Data, S: State, W: Work, q: int, m: int, t: float) -> tuple[float, int, int]:
    """The first free variable that reaches a bound: the step, its position in F, the bound."""
    best, which, side = _FAR, -1, LOW
    for a in range(m):
        k = S.F[a]
        for b in range(2):
            rate = P.l1[k] - W.d[q + a] if b == LOW else W.d[q + a] - P.u1[k]
            if rate > 0.0 and _room(P, S, k, b, t) < best * rate:
                best, which, side = _room(P, S, k, b, t) / rate, a, b
    return best, which, side


@_inner
def _back(P: Data, S: State, W: Work, q: int, m: int, step: float) -> float:
    """What it costs to bring F back into its box after a step: the one with most room takes up what the others cannot.

    For one group. Infinity where that is not enough, or too much to compute.
    """
    count, rest = 0, 0.0
    for a in range(m):
        k = S.F[a]
        x = S.theta[k] + step * W.d[q + a]
        beyond = x - P.u0[k] if x > P.u0[k] else min(x - P.l0[k], 0.0)
        if beyond != 0.0:
            if count == len(W.rows) or count > _FEW:
                return _FAR
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
    if best < 0 or count == len(W.rows):
        return _FAR
    W.rows[count], W.spare[count] = P.r[S.F[best]], rest
    cost = 0.0
    for a in range(count + 1):
        row, total = P.K[W.rows[a]], 0.0
        for b in range(count + 1):
            total += row[W.rows[b]] * W.spare[b]
        cost += 0.5 * W.spare[a] * total
    return cost


@_inner
def _is_known(P: Data, S: State, W: Work, q: int, m: int, t: float, above: float, rate: float) -> bool:
    """Whether it is known on which side of its level the gradient that is watched is at t = 1.

    Now it is so far above, and falls with this rate. ``solvers.removal`` gives the bound, here with mu in units of t.
    """
    rest, amount = 1.0 - t, abs(P.l1[P.watch])
    back = _back(P, S, W, q, m, rest)
    if back == _FAR or rate <= 0.0:
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
    eps += _back(P, S, W, q, m, rest + mu if end > 0.0 else rest - mu)
    return abs(end) > 0.5 * rate * mu + eps / (amount * mu) + _DECIDED * P.unit[0]


@_inner
def _advance(theta: Array, nu: Array, g: Array, dg: Array, F: Array, d: Array, q: int, m: int, h: float) -> None:
    """A step of length h."""
    for e in range(q):
        nu[e] += h * d[e]
    for a in range(m):
        theta[F[a]] += h * d[q + a]
    for j in range(len(g)):
        g[j] += h * dg[j]


@_inner
def _follow_bounds(P: Data, S: State, t: float) -> None:
    """The theta of all variables that are not free, where their bounds are at t."""
    for j in range(len(S.theta)):
        if S.status[j] != FREE:
            _put(P, S, j, S.status[j], t)


@_inner
def _room(P: Data, S: State, k: int, side: int, t: float) -> float:
    """How far a free variable is from a bound."""
    return max(S.theta[k] - P.l0[k] - t * P.l1[k] if side == LOW else P.u0[k] + t * P.u1[k] - S.theta[k], 0.0)


@_inner
def _put(P: Data, S: State, j: int, status: int, t: float) -> None:
    """The theta of a variable exactly on its bound."""
    S.theta[j] = P.u0[j] + t * P.u1[j] if status == UP else P.l0[j] + t * P.l1[j]


@_inner
def _tell(status: Array, sign: Array, log: Log, told: int, t: float, j: int, target: int, seen: float) -> int:
    """Give variable j another status, and tell it."""
    log.t[told], log.variable[told], log.source[told], log.target[told] = t, j, status[j], target
    log.seen[told] = seen
    status[j] = target
    sign[j] = 1.0 if target == LOW else (-1.0 if target == UP else 0.0)
    return told + 1


@_inner
def _successor(P: Data, S: State, W: Work, k: int) -> int:
    """Move the multiplier of k, alone in its group, until another variable can take its place: which (-1: none)."""
    best, step = -1, _FAR
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


@_inner
def _slide(P: Data, S: State, W: Work, q: int, m: int, t: float, j: int) -> tuple[int, int]:
    """Move theta_j and F along the null direction of j until somebody reaches a bound: position (-1: j) and side."""
    upwards, z = W.sign[j], W.z
    step, speed, which, side = P.u0[j] - P.l0[j] + t * (P.u1[j] - P.l1[j]), 1.0, -1, UP if W.sign[j] > 0 else LOW
    for a in range(m):
        rate = -upwards * z[q + a]
        if abs(rate) >= _NONE:
            to = UP if rate > 0 else LOW
            h = _room(P, S, S.F[a], to, t) / abs(rate)
            if h < step * (1.0 - 1e-14) or (h <= step and abs(rate) > speed):
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


@_inner
def _sync(P: Data, S: State, W: Work, q: int, m: int, t: float) -> float:
    """The exact gradient, one step of Newton's method for (nu, theta_F), and what is wrong then, in units of f."""
    n = P.K.shape[0]
    for j in range(len(P.r)):
        W.sign[j] = 1.0 if S.status[j] == LOW else (-1.0 if S.status[j] == UP else 0.0)
    weights, support = np.zeros(n), np.empty(n, dtype=np.int64)
    for e in range(q):
        W.v[e] = P.b0[e] + t * P.b1[e]
    for j in range(len(P.r)):
        weights[P.r[j]] += S.theta[j]
        W.v[P.p[j]] -= S.theta[j]
    count = 0
    for i in range(n):
        if weights[i] != 0.0:
            support[count], weights[count] = i, weights[i]
            count += 1
    W.buffer[:] = 0.0
    combine(P.K, support, weights, count, W.buffer)
    for j in range(len(P.r)):
        S.g[j] = W.buffer[P.r[j]] + P.c0[j] + t * P.c1[j] + S.nu[P.p[j]]
    for a in range(m):
        W.v[q + a] = -S.g[S.F[a]]
        W.rows[a] = P.r[S.F[a]]
    times(S.R, q + m, W.v, W.spare)
    W.buffer[:] = 0.0
    combine(P.K, W.rows, W.spare[q:], m, W.buffer)
    wrong = 0.0
    for e in range(q):
        S.nu[e] += W.spare[e]
    for j in range(len(P.r)):
        S.g[j] += W.buffer[P.r[j]] + W.spare[P.p[j]]
        wrong = max(wrong, -W.sign[j] * S.g[j])
    for a in range(m):
        k = S.F[a]
        S.theta[k] += W.spare[q + a]
        low, up = P.l0[k] + t * P.l1[k], P.u0[k] + t * P.u1[k]
        wrong = max(wrong, abs(S.g[k]), P.kmax * (low - S.theta[k]), P.kmax * (S.theta[k] - up))
    unit = P.unit[0] + t * P.unit[1] + P.unit[2] * (S.nu[0] - S.nu[q - 1]) / 2.0
    return wrong / unit if unit > 0.0 else _FAR  # without a margin nothing can be told


@_inner
def _prepare(P: Data, S: State, q: int, m: int) -> tuple[Work, float, float]:
    """The work room, and the largest rates of c and of the bounds."""
    n, N, room = P.K.shape[0], len(P.r), S.R.shape[0]
    W = Work(
        np.zeros(room), np.empty(N), np.zeros(n), np.zeros(q), np.zeros(N), np.zeros(q, dtype=np.int64), np.empty(room),
        np.empty(room), np.empty(room), np.empty(n), np.empty(N), np.empty(room, dtype=np.int64),
    )  # fmt: skip
    largest, fastest = 0.0, 0.0
    for j in range(N):
        W.sign[j] = 1.0 if S.status[j] == LOW else (-1.0 if S.status[j] == UP else 0.0)
        largest = max(largest, abs(P.c1[j]))
        fastest = max(fastest, abs(P.l1[j]), abs(P.u1[j]))
    for a in range(m):
        W.members[P.p[S.F[a]]] += 1
    return W, largest, fastest


@_inner
def _quit(R: Array, d: Array, q: int, m: int, a: int, rho: float, spare: Array) -> None:
    """The variable at position a leaves F and moves with rate rho from now on; the last one takes its place."""
    x = (d[q + a] - rho) / R[q + a, q + a]
    for b in range(q + m):
        d[b] -= x * R[b, q + a]
    delete(R, q + m, q + a, spare)
    d[q + a] = d[q + m - 1]


@_inner
def _enter(P: Data, S: State, W: Work, log: Log, told: int, t: float, j: int, rho: float) -> int:
    """Variable j, which moved with rate rho, becomes free."""
    if rho != 0.0:
        _carry(P, W, j, -rho)
    S.g[j] = 0.0
    W.members[P.p[j]] += 1
    return _tell(S.status, W.sign, log, told, t, j, FREE, S.g[P.watch])


@_inner
def _swap(P: Data, S: State, W: Work, q: int, m: int, a: int, j: int, sc: float) -> None:
    """Variable j takes the place of the one at position a of F."""
    replace(S.R, q + m, q + a, W.z, sc, W.spare)
    W.members[P.p[S.F[a]]] -= 1
    W.members[P.p[j]] += 1
    S.F[a], S.g[j] = j, 0.0
    _direction(P, S, W, q, m)


@_inner
def _replace_alone(P: Data, S: State, W: Work, log: Log, told: int, q: int, m: int, t: float, which: int) -> int:
    """Replace the only free variable of its group, which is at its bound: the multiplier moves, theta does not.

    Returns the number of events told; its negative if there is nobody to take its place.
    """
    j = _successor(P, S, W, S.F[which])
    if j < 0:
        return -told
    sc = _respond(P.K, P.r, P.p, S.F, S.R, q, m, j, P.kmax, W.v, W.z, W.spare)
    told = _tell(S.status, W.sign, log, told, t, j, FREE, S.g[P.watch])
    _swap(P, S, W, q, m, which, j, sc)
    return told


@_inner
def _make_room(P: Data, S: State, W: Work, log: Log, told: int, q: int, m: int, t: float, j: int) -> int:
    """Free a variable that depends on F: theta moves along the null direction until a variable makes room."""
    which, side = _slide(P, S, W, q, m, t, j)
    k = j if which < 0 else S.F[which]
    _put(P, S, k, side, t)
    told = _tell(S.status, W.sign, log, told, t, k, side, S.g[P.watch])
    if which < 0:  # j itself, at its other bound
        _direction(P, S, W, q, m)
        return told
    told = _tell(S.status, W.sign, log, told, t, j, FREE, S.g[P.watch])
    _swap(P, S, W, q, m, which, j, 0.0)
    return told


@_inner
def _squeeze(
    P: Data, S: State, W: Work, log: Log, told: int, q: int, m: int, t: float, t_end: float, j: int, sc: float,
    x: float, rho: float, slow: bool, fastest: float,
) -> tuple[int, int, float, bool]:  # fmt: skip
    """Free a variable that nearly depends on F, whose rates with it are in d: R would lose its digits.

    The variable moves fast, and somebody soon makes room for it: step there, and exchange the two. Returns the events
    told, the size of F, t, and whether R must be made anew.
    """
    h, which, side = _first_bound(P, S, W, q, m + 1, t)
    if h > _SOON * abs(t) and slow:
        for a in range(q + m):
            W.d[a] += x * W.z[a]
        W.sign[j] = 0.0  # overlooked until the gradient is next computed exactly
        return told, m, t, False
    told = _enter(P, S, W, log, told, t, j, rho)
    if h > t_end - t or (which < m and abs(W.z[q + which]) < _NONE):
        append(S.R, q + m, W.z, sc)
        return told, m + 1, t, True
    _gradient_rates(P.K, P.r, P.p, P.c1, W.KB, S.F, q, m + 1, W.d, W.rows, W.buffer, W.dg)
    t += h
    _advance(S.theta, S.nu, S.g, W.dg, S.F, W.d, q, m + 1, h)
    if fastest > 0.0:
        _follow_bounds(P, S, t)
    k = S.F[which]
    _put(P, S, k, side, t)
    told = _tell(S.status, W.sign, log, told, t, k, side, S.g[P.watch])
    W.members[P.p[j]] -= 1  # which the exchange counts again
    if which == m:
        _direction(P, S, W, q, m)
        return told, m, t, False
    _swap(P, S, W, q, m, which, j, sc)
    return told, m, t, True


@_inner
def follow(
    P: Data,
    S: State,
    log: Log,
    m: int,
    t: float,
    t_end: float,
    tol: float,
    seed: int,
    fresh: bool,
    most: int,
    turn: float,
    level: float,
) -> tuple[int, float, int, int, int, float]:  # fmt: skip
    """Walk from event to event until t_end, or until there is no room to tell another.

    After ``most`` events, those at the very beginning not counted, nobody changes place any more; the code is CUT if
    somebody would have. If ``turn`` is not
    zero, the walk to t_end = 1 ends where it is known whether turn times the gradient that is watched will be below
    ``level``, which it never crosses upwards; the gradient is then one on the same side.

    Returns (code, t, m, events told, seed, worst): the largest wrong gradient, in units of f, met when it was computed
    exactly. ``fresh`` says that R was just made.
    """
    q, room, n = len(S.nu), S.R.shape[0], P.K.shape[0]
    K, r, p, kmax, F, R, g, status = P.K, P.r, P.p, P.kmax, S.F, S.R, S.g, S.status
    W, largest, fastest = _prepare(P, S, q, m)
    d, dg, z, sign, members = W.d, W.dg, W.z, W.sign, W.members
    told, since, begin, null, worst, stale, first, idle = 0, 0, t, 0, 0.0, False, t, 0
    is_cut = False
    _direction(P, S, W, q, m)
    while True:
        if told + 3 > len(log.t):
            return FULL, t, m, told, seed, worst
        if t == first:
            idle = told
        if q + m + 2 > room:
            return GROW, t, m, told, seed, worst
        if stale:
            return REFACTOR, t, m, told, seed, worst
        if fresh or told - since >= max(_SYNC, n // 4) or t - begin > _LONG * max(abs(t), abs(t_end)):
            worst = max(worst, _sync(P, S, W, q, m, t))
            since, begin = told, t
        # Rates, and the free test of R: the gradient must not move on F.
        _gradient_rates(K, r, p, P.c1, W.KB, F, q, m, d, W.rows, W.buffer, dg)
        top, moved = fastest, 0.0
        for a in range(m):
            top, moved = max(top, abs(d[q + a])), max(moved, abs(dg[F[a]]))
        size = largest + kmax * top
        if moved > _RESIDUAL * size and not _correct(P, S, W, q, m, size, fresh):
            return REFACTOR, t, m, told, seed, worst
        fresh = False
        if (
            turn != 0.0
            and t_end - t > _LATE
            and _is_known(P, S, W, q, m, t, turn * g[P.watch] - level, -turn * dg[P.watch])
        ):
            g[P.watch] += (t_end - t) * dg[P.watch]
            return DECIDED, t, m, told, seed, worst
        # The first event, and the step to it.
        tau, rest = _RATE * size, t_end - t
        tie = _TIE * max(abs(t), rest)
        best, kind, which, side, seed = _first(
            S.theta, g, dg, sign, P.l0, P.l1, P.u0, P.u1, F, d, q, m, t, tau, kmax, tie, null > _PATIENCE, seed, W.steps
        )
        if told - idle >= most and (t > first or best > tie):
            is_cut = is_cut or best < rest
            best = _FAR
        h = min(best, rest)
        t = t_end if best >= rest else t + h
        _advance(S.theta, S.nu, g, dg, F, d, q, m, h)
        if fastest > 0.0:
            _follow_bounds(P, S, t)
        if best >= rest:
            worst = max(worst, _sync(P, S, W, q, m, t))
            return CUT if is_cut else END, t, m, told, seed, worst
        if turn * g[P.watch] < level - _DECIDED * P.unit[0] and t_end - t > _LATE:
            return DECIDED, t, m, told, seed, worst
        null = null + 1 if h <= tie else 0
        if null > _MOST_NULL:
            return LOST, t, m, told, seed, worst
        if kind == 0:
            k = F[which]
            S.theta[k] = P.u0[k] + t * P.u1[k] if side == UP else P.l0[k] + t * P.l1[k]
            told = _tell(status, sign, log, told, t, k, side, g[P.watch])
            if members[p[k]] > 1:
                rho, stale = P.u1[k] if side == UP else P.l1[k], R[q + which, q + which] * kmax * _STALE > 1.0
                _quit(R, d, q, m, which, rho, W.spare)
                m -= 1
                F[which] = F[m]
                members[p[k]] -= 1
                if rho != 0.0:
                    _carry(P, W, k, rho)
                continue
            told = _replace_alone(P, S, W, log, told, q, m, t, which)
            if told < 0:
                return INFEASIBLE, t, m, -told, seed, worst
            continue
        j = which
        sc = _respond(K, r, p, F, R, q, m, j, kmax, W.v, z, W.spare)
        if sc <= 0.0:
            told = _make_room(P, S, W, log, told, q, m, t, j)
            continue
        rho, x, slow = P.u1[j] if status[j] == UP else P.l1[j], -dg[j] / sc, abs(dg[j]) <= _SLOW * largest
        for a in range(q + m):
            d[a] -= x * z[a]
        d[q + m], F[m] = rho + x, j
        if sc > tol * kmax:  # as in _enter, which would count references
            if rho != 0.0:
                _carry(P, W, j, -rho)
            g[j] = 0.0
            members[p[j]] += 1
            told = _tell(status, sign, log, told, t, j, FREE, g[P.watch])
            append(R, q + m, z, sc)
            m, stale = m + 1, sc < _STALE * kmax
            continue
        told, m, t, stale = _squeeze(P, S, W, log, told, q, m, t, t_end, j, sc, x, rho, slow, fastest)


@_jit
def run(
    K: Array, r: Array, p: Array, c0: Array, c1: Array, l0: Array, l1: Array, u0: Array, u1: Array, b0: Array,
    b1: Array, unit: Array, kmax: float, theta: Array, status: Array, nu: Array, g: Array, F: Array, R: Array,
    told_t: Array, told_variable: Array, told_source: Array, told_target: Array, seen: Array, m: int, t: float,
    t_end: float, tol: float, seed: int, fresh: bool, most: int, watch: int, turn: float, level: float,
) -> tuple[int, float, int, int, int, float]:  # fmt: skip
    """:func:`follow`, given plain arrays: to look at tuples of them takes Python longer than many a walk."""
    data = Data(K, r, p, c0, c1, l0, l1, u0, u1, b0, b1, unit, kmax, watch)
    state, log = State(theta, status, nu, g, F, R), Log(told_t, told_variable, told_source, told_target, seen)
    return follow(data, state, log, m, t, t_end, tol, seed, fresh, most, turn, level)


@_inner
def _middle(P: Data, S: State, q: int, m: int, shift: Array) -> None:
    """What to add to nu so that each multiplier is the middle of its interval: ``box_qp.middle`` without FIXED ones.

    Where nobody was to change place, the interval may be none: then nothing.
    """
    noise, scale = np.zeros(len(S.g)), (P.unit[0] + P.unit[2] * (S.nu[0] - S.nu[q - 1]) / 2.0) / P.kmax
    for a in range(m):
        k = S.F[a]
        noise[k] = _NOISE * (abs(P.c0[k]) + abs(S.nu[P.p[k]])) * S.R[q + a, q + a]
    for j in range(len(S.g)):
        scale = max(scale, abs(S.theta[j]))
    for e in range(q):
        lowest, highest, is_held = -_FAR, _FAR, False
        for j in range(len(S.g)):
            width = P.u0[j] - P.l0[j]
            if P.p[j] != e or S.status[j] == FIXED or width <= 0.0:
                continue
            near = max(_NEAR * min(width, scale), min(noise[j], _NEAR * width * 1e3))
            is_low, is_up = S.theta[j] <= P.l0[j] + near, S.theta[j] >= P.u0[j] - near
            if is_low:
                lowest = max(lowest, -S.g[j])
            if is_up:
                highest = min(highest, -S.g[j])
            if not is_low and not is_up:
                is_held = True
                break
        shift[e] = 0.0
        if is_held:
            continue
        if lowest == -_FAR:
            shift[e] = highest if highest < _FAR else 0.0
        elif highest == _FAR:
            shift[e] = lowest
        elif lowest <= highest + _NEAR * P.unit[0]:
            shift[e] = 0.5 * (lowest + highest)


@_inner
def _is_outside(P: Data, S: State, m: int) -> bool:
    """Whether a free variable is outside its box by more than rounding, in units of the box."""
    for a in range(m):
        k = S.F[a]
        if max(P.l0[k] - S.theta[k], S.theta[k] - P.u0[k]) > _OUTSIDE * (P.u0[k] - P.l0[k]):
            return True
    return False


@_inner
def _dismiss(P: Data, S: State, q: int, m: int, j: int, upwards: bool) -> tuple[int, int]:
    """Take the FIXED variable j out of F; the size of F, and REFACTOR or INFEASIBLE where that is not so easy.

    If it is the only one of its group, another takes its place that can move upwards (downwards).
    """
    position, members = -1, 0
    for a in range(m):
        if S.F[a] == j:
            position = a
        if P.p[S.F[a]] == P.p[j]:
            members += 1
    if position < 0:
        return m, END
    a = q + position
    W, _, _ = _prepare(P, S, q, m)
    if members > 1:
        if S.R[a, a] * P.kmax * _STALE > 1.0:
            return m, REFACTOR
        delete(S.R, q + m, a, W.spare)
        S.F[position] = S.F[m - 1]
        return m - 1, END
    W.sign[j] = -1.0 if upwards else 1.0
    k = _successor(P, S, W, j)
    if k < 0:
        return m, INFEASIBLE
    sc = _respond(P.K, P.r, P.p, S.F, S.R, q, m, k, P.kmax, W.v, W.z, W.spare)
    replace(S.R, q + m, a, W.z, sc, W.spare)
    S.F[position], S.status[k], S.g[k] = k, FREE, 0.0
    return m, END


@_jit
def leave_out(
    K: Array, r: Array, p: Array, c: Array, low: Array, up: Array, b: Array, unit: Array, kmax: float, theta: Array,
    status: Array, nu: Array, g: Array, F: Array, R: Array, m: int, variables: Array, changes: Array, turns: Array,
    levels: Array, most: int, tol: float, product: Array, offsets: Array, codes: Array, counts: Array, worsts: Array,
) -> None:  # fmt: skip
    """Drive the variables of one sample after another to zero, each time from the same state.

    ``variables`` (S, w) are those of each sample, -1 for none; ``changes`` (S, q) what is added to b on the way;
    ``turns`` and ``levels`` where to stop (see :func:`follow`). Filled in: K theta at the sample, the multipliers, how
    the walk ended, its events, and the largest wrong gradient.
    """
    q, N = len(nu), len(g)
    size, limit = q + m, 20 * N + 1000
    room = min(size + size // 2 + 64, q + N + 3)
    own, none = np.zeros((room, room)), np.zeros(N)
    l0, l1 = low.copy(), np.zeros(N)
    told_t, told_j, seen = np.empty(limit), np.empty(limit, np.int64), np.empty(limit)
    source, target = np.empty(limit, np.int8), np.empty(limit, np.int8)
    shift = np.zeros(q)
    for s in range(len(variables)):
        x, places, mu, slope, free = theta.copy(), status.copy(), nu.copy(), g.copy(), np.zeros(N + 1, np.int64)
        free[:m] = F[:m]
        for a in range(size):
            own[a, :size] = R[a, :size]
        driven, m_now = -1, m
        for v in variables[s]:
            if v >= 0:
                l0[v], l1[v] = theta[v], -theta[v]
                driven = v if places[v] == FREE else driven
                places[v] = FIXED
        first = variables[s, 0]
        P = Data(K, r, p, c, none, l0, l1, up, none, b, changes[s], unit, kmax, first)
        S = State(x, places, mu, slope, free, own)
        code, worst, told = END, 0.0, 0
        if driven >= 0:
            m_now, code = _dismiss(P, S, q, m, driven, changes[s, p[driven]] + theta[driven] > 0.0)
        if code == END:
            code, _, m_now, told, _, worst = run(
                K, r, p, c, none, l0, l1, up, none, b, changes[s], unit, kmax, x, places, mu, slope, free, own,
                told_t, told_j, source, target, seen, m_now, 0.0, 1.0, tol, 1, False, most, first, turns[s], levels[s],
            )  # fmt: skip
        for v in variables[s]:
            if v >= 0:
                l0[v], l1[v] = low[v], 0.0
        product[s] = slope[first] - c[first] - mu[p[first]]
        shift[:] = 0.0
        if code == END and _is_outside(P, S, m_now):
            worst = _FAR
        if code in (END, CUT):
            _middle(P, S, q, m_now, shift)
        offsets[s] = mu + shift
        codes[s], counts[s], worsts[s] = code, told, worst

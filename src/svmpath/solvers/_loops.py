"""Compiled loops of the parametric quadratic program: the walk from event to event (see ``solvers.box_qp``).

Letters as there. The elbow system of the free variables F, with G_pj = 1 where j is of group p::

    M = [ 0    G_F  ]      R = M^-1, rows and columns: the q groups first, then F in the order of the array F
        [ G_F' K_FF ]

d = (d nu, d theta_F) are the rates of the multipliers and of the free variables by t; dg those of the gradient. KB and
dB are what the moving bounds of the other variables add to K d theta and to G d theta.

A variable j that becomes free has the column v of M. With z = R v and sc = K_jj - v'z, theta_j can rise by x while the
free variables move by -x z_F and the multipliers by -x z_nu: no gradient on F changes, and g_j rises by x sc.

Every call ends after a given number of steps at the latest, so that Python can look for an interrupt. Nothing is
allocated here: all arrays belong to the caller, and the code is compiled without counting references, which takes less
time both to compile and to run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

Array = np.ndarray

LOW, UP, FREE, FIXED = 0, 1, 2, 3
# How a call ended. GO: not yet. ARRIVED: at the end, where the gradient is still to be computed exactly. NEAR: a
# variable that nearly depends on F is to become free, which is left to Python.
END, FULL, GROW, REFACTOR, INFEASIBLE, LOST, DECIDED, CUT, PAUSE, NEAR, GO, ARRIVED = range(12)
# Numbers of a walk, in State.x: where it is, the largest wrong gradient found, where the gradient was last computed
# exactly, where the walk began, the Schur complement of the variable that nearly depends on F, the largest |c1|, the
# largest rate of a bound.
T, WORST, SYNCED_AT, FIRST, SC, LARGEST, FASTEST = range(7)
# Whole numbers of a walk, in State.k: the free variables, the seed of random choices, events in this log, events of
# this walk, those at the last exact gradient, those at its very beginning, steps of length zero in a row, steps of this
# walk; whether R was just made, whether it must be made anew, whether an event was left out, whether the direction must
# be made anew; the variable whose gradient is recorded, the variable that becomes free.
M, SEED, RECORDED, EVENTS, SYNCED, IDLE, NULL, STEPS, FRESH, STALE, WAS_CUT, TURNED, WATCH, WHO = range(14)

# Rounding: a rate below _RATE is none, a residual above _RESIDUAL is corrected, above _BROKEN the inverse is made anew.
_RATE, _RESIDUAL, _BROKEN = 1e-11, 1e-14, 1e-9
_CANCELLED = 1e-5  # a Schur complement below this, in units of kmax, is computed again with refinement
_NULL = 1e-14  # and one below this, in units of the terms that cancel in it, is zero
_STALE = 1e-6  # a Schur complement below this, in units of kmax, leaves R with too few digits: it is made anew
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

# Without allocations no references need to be counted (_nrt), and what is called by compiled code only needs no
# wrapper for Python.
_options: Any = {
    "no_cfunc_wrapper": True, "nogil": True, "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "_nrt": False,
}  # fmt: skip
_unwrapped: Any = {"no_cpython_wrapper": True}
_entry: Any = njit(cache=True, **_options)
_inner: Any = njit(**_options, **_unwrapped)


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


class State(NamedTuple):
    """Where the walk is; all of it is changed in place. Of F the first m entries count, of R the first q + m."""

    theta: Array
    status: Array
    nu: Array
    g: Array
    F: Array
    R: Array
    x: Array
    k: Array


class Log(NamedTuple):
    """The events: where, which variable, from which status to which, and the gradient that is watched."""

    t: Array
    variable: Array
    source: Array
    target: Array
    seen: Array


class Work(NamedTuple):
    """Room for vectors made at every event: in the order of R, of the variables, of the rows, of the groups."""

    d: Array
    z: Array
    v: Array
    spare: Array
    extra: Array
    dg: Array
    sign: Array  # 1 for LOW, -1 for UP, 0 for the others and for variables that are overlooked for a while
    steps: Array
    KB: Array
    buffer: Array
    weights: Array
    dB: Array
    members: Array  # number of the free variables of each group
    rows: Array


class Removals(NamedTuple):
    """Samples to leave out one after another, and what is found.

    ``variables`` (S, w) are those of each sample, -1 for none; ``changes`` (S, q) what is added to b on the way;
    ``turns`` and ``levels`` where to stop (see :func:`follow`). Filled in: K theta at the sample, the multipliers, how
    the walk ended, its events, and the largest wrong gradient. ``place`` is how far this is: the sample, and whether
    its walk has begun.
    """

    variables: Array
    changes: Array
    turns: Array
    levels: Array
    product: Array
    offsets: Array
    codes: Array
    counts: Array
    worsts: Array
    place: Array


@_inner
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
    while a < count:
        A, x0 = K[rows[a]], x[a]
        for i in range(n):
            out[i] += x0 * A[i]
        a += 1


@_inner
def times(R: Array, size: int, v: Array, out: Array) -> None:
    """``out = R v`` on the leading block."""
    for a in range(size):
        row, total = R[a], 0.0
        for b in range(size):
            total += row[b] * v[b]
        out[a] = total


@_inner
def append(R: Array, size: int, z: Array, sc: float) -> None:
    """R with one more free variable."""
    for a in range(size):
        row, x = R[a], z[a] / sc
        for b in range(size):
            row[b] += x * z[b]
        row[size] = -x
        R[size, a] = -x
    R[size, size] = 1.0 / sc


@_inner
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


@_inner
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
def _respond(P: Data, S: State, W: Work, j: int) -> float:
    """The z of variable j, and sc; refined where digits cancel."""
    q, m, row, own, v, z, left = len(S.nu), S.k[M], P.K[P.r[j]], P.K[P.r[j], P.r[j]], W.v, W.z, W.extra
    for e in range(q):
        v[e] = 0.0
    v[P.p[j]] = 1.0
    for a in range(m):
        v[q + a] = row[P.r[S.F[a]]]
    times(S.R, q + m, v, z)
    sc = own
    for a in range(q + m):
        sc -= v[a] * z[a]
    if sc >= _CANCELLED * P.kmax:
        return sc
    for a in range(q + m):
        left[a] = v[a]
    for a in range(m):
        k = S.F[a]
        left[P.p[k]] -= z[q + a]
        other, total = P.K[P.r[k]], z[P.p[k]]
        for b in range(m):
            total += other[P.r[S.F[b]]] * z[q + b]
        left[q + a] -= total
    times(S.R, q + m, left, W.spare)
    sc, total = own, own
    for a in range(q + m):
        z[a] += W.spare[a]
        sc -= v[a] * z[a]
        total += abs(v[a] * z[a])
    return 0.0 if sc <= _NULL * total else sc


@_inner
def _gradient_rates(P: Data, S: State, W: Work) -> None:
    """The dg of all variables at rates d."""
    q, m = len(S.nu), S.k[M]
    for a in range(m):
        W.rows[a] = P.r[S.F[a]]
    for i in range(P.K.shape[0]):
        W.buffer[i] = W.KB[i]
    combine(P.K, W.rows, W.d[q:], m, W.buffer)
    for j in range(len(P.r)):
        W.dg[j] = W.buffer[P.r[j]] + P.c1[j] + W.d[P.p[j]]


@_inner
def _carry(P: Data, W: Work, j: int, rate: float) -> None:
    """Let the bound of j carry it with this rate (or, with its negative, no longer)."""
    if rate != 0.0:
        W.dB[P.p[j]] += rate
        row = P.K[P.r[j]]
        for i in range(len(W.KB)):
            W.KB[i] += rate * row[i]


@_inner
def _bound_rate(P: Data, S: State, j: int) -> float:
    """The rate of a variable that is not free: that of its bound."""
    return P.u1[j] if S.status[j] == UP else P.l1[j]


@_inner
def _direction(P: Data, S: State, W: Work) -> None:
    """d, KB and dB from the beginning: M d = (b1 - dB, -c1_F - KB_F)."""
    q, m = len(S.nu), S.k[M]
    for e in range(q):
        W.dB[e] = 0.0
    for i in range(len(W.KB)):
        W.KB[i] = 0.0
    for j in range(len(P.r)):
        if S.status[j] != FREE:
            _carry(P, W, j, _bound_rate(P, S, j))
    for e in range(q):
        W.spare[e] = P.b1[e] - W.dB[e]
    for a in range(m):
        W.spare[q + a] = -P.c1[S.F[a]] - W.KB[P.r[S.F[a]]]
    times(S.R, q + m, W.spare, W.d)


@_inner
def _rates(P: Data, S: State, W: Work) -> float:
    """All dg, d being refined until the gradient does not move on F; the size of the rates, or -1 if R is no good."""
    q, m, size = len(S.nu), S.k[M], 0.0
    for turn in range(4):
        _gradient_rates(P, S, W)
        fastest, moved = S.x[FASTEST], 0.0
        for a in range(m):
            fastest, moved = max(fastest, abs(W.d[q + a])), max(moved, abs(W.dg[S.F[a]]))
        if turn == 0:
            size = S.x[LARGEST] + P.kmax * fastest
        elif moved > _BROKEN * size and S.k[FRESH] == 0:
            return -1.0
        if moved <= _RESIDUAL * size or turn == 3:
            break
        for e in range(q):
            W.v[e] = P.b1[e] - W.dB[e]
        for a in range(m):
            W.v[P.p[S.F[a]]] -= W.d[q + a]
            W.v[q + a] = -W.dg[S.F[a]]
        times(S.R, q + m, W.v, W.spare)
        for a in range(q + m):
            W.d[a] += W.spare[a]
    return size


@_inner
def _room(P: Data, S: State, k: int, side: int) -> float:
    """How far a free variable is from a bound."""
    t = S.x[T]
    return max(S.theta[k] - P.l0[k] - t * P.l1[k] if side == LOW else P.u0[k] + t * P.u1[k] - S.theta[k], 0.0)


@_inner
def _put(P: Data, S: State, j: int, status: int) -> None:
    """The theta of a variable exactly on its bound."""
    S.theta[j] = P.u0[j] + S.x[T] * P.u1[j] if status == UP else P.l0[j] + S.x[T] * P.l1[j]


@_inner
def _draw(k: Array, ties: int) -> bool:
    """True once in so many times."""
    k[SEED] = (k[SEED] * 1103515245 + 12345) & 0x7FFFFFFF
    return (k[SEED] >> 8) % ties == 0


@_inner
def _first(P: Data, S: State, W: Work, tau: float, tie: float) -> tuple[float, int, int, int]:
    """The first event: its step, its kind, whom it concerns, and to which bound it goes.

    Kind 0: the free variable at that position of F reaches a bound. Kind 1: that variable becomes free. Of ties the
    fastest one, or any one.
    """
    best, q, m, d, is_random = _FAR, len(S.nu), S.k[M], W.d, S.k[NULL] > _PATIENCE
    sign, g, dg, steps = W.sign, S.g, W.dg, W.steps
    for j in range(len(g)):
        rate = -sign[j] * dg[j]
        h = max(sign[j] * g[j], 0.0) / rate if rate > tau else _FAR
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
    if best >= _FAR:
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


@_inner
def _back(P: Data, S: State, W: Work, step: float) -> float:
    """What it costs to bring F back into its box after a step: the one with most room takes up what the others cannot.

    For one group. Infinity where that is not enough, or too much to compute.
    """
    q, m, count, rest = len(S.nu), S.k[M], 0, 0.0
    for a in range(m):
        k = S.F[a]
        x = S.theta[k] + step * W.d[q + a]
        beyond = x - P.u0[k] if x > P.u0[k] else min(x - P.l0[k], 0.0)
        if beyond != 0.0:
            if count > _FEW:
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
    if best < 0:
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
def _is_known(P: Data, S: State, W: Work, above: float, rate: float) -> bool:
    """Whether it is known on which side of its level the gradient that is watched is at t = 1.

    Now it is so far above, and falls with this rate. ``solvers.removal`` gives the bound, here with mu in units of t.
    """
    rest, amount = 1.0 - S.x[T], abs(P.l1[S.k[WATCH]])
    back = _back(P, S, W, rest)
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
    eps += _back(P, S, W, rest + mu if end > 0.0 else rest - mu)
    return abs(end) > 0.5 * rate * mu + eps / (amount * mu) + _DECIDED * P.unit[0]


@_inner
def _advance(P: Data, S: State, W: Work, h: float, t: float) -> None:
    """A step of length h, to t."""
    q = len(S.nu)
    for e in range(q):
        S.nu[e] += h * W.d[e]
    for a in range(S.k[M]):
        S.theta[S.F[a]] += h * W.d[q + a]
    for j in range(len(S.g)):
        S.g[j] += h * W.dg[j]
    S.x[T] = t
    if S.x[FASTEST] > 0.0:
        for j in range(len(S.theta)):
            if S.status[j] != FREE:
                _put(P, S, j, S.status[j])


@_inner
def _tell(S: State, W: Work, log: Log, j: int, target: int) -> None:
    """Give variable j another status, and record it."""
    e = S.k[RECORDED]
    log.t[e], log.variable[e], log.source[e], log.target[e] = S.x[T], j, S.status[j], target
    log.seen[e] = S.g[S.k[WATCH]]
    S.k[RECORDED] += 1
    S.k[EVENTS] += 1
    S.status[j] = target
    W.sign[j] = 1.0 if target == LOW else (-1.0 if target == UP else 0.0)


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
def _slide(P: Data, S: State, W: Work, j: int) -> tuple[int, int]:
    """Move theta_j and F along the null direction of j until somebody reaches a bound: position (-1: j) and side."""
    upwards, z, q, m, t = W.sign[j], W.z, len(S.nu), S.k[M], S.x[T]
    step, speed, which, side = P.u0[j] - P.l0[j] + t * (P.u1[j] - P.l1[j]), 1.0, -1, UP if upwards > 0 else LOW
    for a in range(m):
        rate = -upwards * z[q + a]
        if abs(rate) >= _NONE:
            to = UP if rate > 0 else LOW
            h = _room(P, S, S.F[a], to) / abs(rate)
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
def _set_signs(S: State, W: Work) -> None:
    """The signs of all gradients, also of variables that were overlooked."""
    for j in range(len(S.g)):
        W.sign[j] = 1.0 if S.status[j] == LOW else (-1.0 if S.status[j] == UP else 0.0)


@_inner
def _sync(P: Data, S: State, W: Work) -> float:
    """The exact gradient, one step of Newton's method for (nu, theta_F), and what is wrong then, in units of f."""
    n, q, m, t, weights, rows = P.K.shape[0], len(S.nu), S.k[M], S.x[T], W.weights, W.rows
    _set_signs(S, W)
    for i in range(n):
        weights[i] = W.buffer[i] = 0.0
    for e in range(q):
        W.v[e] = P.b0[e] + t * P.b1[e]
    for j in range(len(P.r)):
        weights[P.r[j]] += S.theta[j]
        W.v[P.p[j]] -= S.theta[j]
    count = 0
    for i in range(n):
        if weights[i] != 0.0:
            rows[count], weights[count] = i, weights[i]
            count += 1
    combine(P.K, rows, weights, count, W.buffer)
    for j in range(len(P.r)):
        S.g[j] = W.buffer[P.r[j]] + P.c0[j] + t * P.c1[j] + S.nu[P.p[j]]
    for a in range(m):
        W.v[q + a] = -S.g[S.F[a]]
        rows[a] = P.r[S.F[a]]
    times(S.R, q + m, W.v, W.spare)
    for i in range(n):
        W.buffer[i] = 0.0
    combine(P.K, rows, W.spare[q:], m, W.buffer)
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
    S.k[SYNCED], S.x[SYNCED_AT] = S.k[EVENTS], t
    unit = P.unit[0] + t * P.unit[1] + P.unit[2] * (S.nu[0] - S.nu[q - 1]) / 2.0
    return wrong / unit if unit > 0.0 else _FAR  # without a margin nothing can be told


@_inner
def _swap(P: Data, S: State, W: Work, a: int, j: int, sc: float) -> None:
    """Variable j takes the place of the one at position a of F."""
    q = len(S.nu)
    replace(S.R, q + S.k[M], q + a, W.z, sc, W.spare)
    W.members[P.p[S.F[a]]] -= 1
    W.members[P.p[j]] += 1
    S.F[a], S.g[j], S.k[TURNED] = j, 0.0, 1


@_inner
def _leave(P: Data, S: State, W: Work, log: Log, which: int, side: int) -> int:
    """The variable at this position of F has reached a bound and stays there.

    If it is the only one of its group, the multiplier moves, and theta does not, until another can take its place,
    which becomes free next.
    """
    q, m, k = len(S.nu), S.k[M], S.F[which]
    _put(P, S, k, side)
    _tell(S, W, log, k, side)
    if W.members[P.p[k]] == 1:
        S.k[WHO] = _successor(P, S, W, k)
        return INFEASIBLE if S.k[WHO] < 0 else GO
    S.k[STALE] = S.R[q + which, q + which] * P.kmax * _STALE > 1.0
    # Its rate changes from d to that of the bound; the last one of F takes its place.
    rho = _bound_rate(P, S, k)
    x = (W.d[q + which] - rho) / S.R[q + which, q + which]
    for b in range(q + m):
        W.d[b] -= x * S.R[b, q + which]
    delete(S.R, q + m, q + which, W.spare)
    W.d[q + which], S.F[which] = W.d[q + m - 1], S.F[m - 1]
    S.k[M] -= 1
    W.members[P.p[k]] -= 1
    _carry(P, W, k, rho)
    return GO


@_inner
def _make_room(P: Data, S: State, W: Work, log: Log, j: int) -> None:
    """Free a variable that depends on F: theta moves along the null direction until a variable makes room for it."""
    which, side = _slide(P, S, W, j)
    k = j if which < 0 else S.F[which]
    _put(P, S, k, side)
    _tell(S, W, log, k, side)
    S.k[TURNED] = 1
    if which >= 0:  # else j itself is at its other bound
        _tell(S, W, log, j, FREE)
        _swap(P, S, W, which, j, 0.0)


@_inner
def _join(P: Data, S: State, W: Work, log: Log, j: int, sc: float) -> None:
    """Variable j, whose Schur complement is sc, becomes free besides the others."""
    q, m, rho, x = len(S.nu), S.k[M], _bound_rate(P, S, j), -W.dg[j] / sc
    for a in range(q + m):
        W.d[a] -= x * W.z[a]
    W.d[q + m], S.F[m], S.g[j] = rho + x, j, 0.0
    _carry(P, W, j, -rho)
    W.members[P.p[j]] += 1
    _tell(S, W, log, j, FREE)
    append(S.R, q + m, W.z, sc)
    S.k[M] += 1
    S.k[STALE] = sc < _STALE * P.kmax


@_inner
def _is_late(P: Data, S: State, t_end: float) -> bool:
    """Whether the gradient should be computed exactly."""
    k, t = S.k, S.x[T]
    long = t - S.x[SYNCED_AT] > _LONG * max(abs(t), abs(t_end))
    return k[FRESH] != 0 or long or k[EVENTS] - k[SYNCED] >= max(_SYNC, P.K.shape[0] // 4)


@_inner
def _advance_to_event(
    P: Data, S: State, W: Work, t_end: float, most: int, turn: float, level: float, size: float
) -> tuple[int, int, int, int]:  # fmt: skip
    """Go to the next event, or to the end: how that ended, and the event's kind, whom it concerns, and the bound."""
    x, k, t, rest, watch = S.x, S.k, S.x[T], t_end - S.x[T], S.k[WATCH]
    if turn != 0.0 and rest > _LATE and _is_known(P, S, W, turn * S.g[watch] - level, -turn * W.dg[watch]):
        S.g[watch] += rest * W.dg[watch]
        return DECIDED, 0, 0, 0
    tie = _TIE * max(abs(t), rest)
    best, kind, which, side = _first(P, S, W, _RATE * size, tie)
    if k[EVENTS] - k[IDLE] >= most and (t > x[FIRST] or best > tie):
        k[WAS_CUT] = k[WAS_CUT] or best < rest
        best = _FAR
    _advance(P, S, W, min(best, rest), t_end if best >= rest else t + best)
    if best >= rest:
        return ARRIVED, 0, 0, 0
    if turn * S.g[watch] < level - _DECIDED * P.unit[0] and t_end - x[T] > _LATE:
        return DECIDED, 0, 0, 0
    k[NULL] = k[NULL] + 1 if best <= tie else 0
    return LOST if k[NULL] > _MOST_NULL else GO, kind, which, side


@_inner
def _count_members(P: Data, S: State, W: Work) -> None:
    """How many variables of each group are free."""
    for e in range(len(S.nu)):
        W.members[e] = 0
    for a in range(S.k[M]):
        W.members[P.p[S.F[a]]] += 1


@_entry
def follow(
    P: Data, S: State, W: Work, log: Log, t_end: float, tol: float, most: int, steps: int, turn: float, level: float,
) -> int:  # fmt: skip
    """Walk from event to event until t_end, for so many steps, or until there is no room to record another event.

    After ``most`` events, those at the very beginning not counted, nobody changes place any more; the code is CUT if
    somebody would have. If ``turn`` is not zero, the walk to t_end = 1 ends where it is known whether turn times the
    gradient that is watched will be below ``level``, which it never crosses upwards; the gradient is then one on the
    same side. A Schur complement of at most ``tol``, in units of kmax, means that a variable nearly depends on F.

    What is called here is called nowhere else, where possible: every function that calls another contains it once more
    when it is compiled.
    """
    k, q, code, kind, which, side = S.k, len(S.nu), GO, 0, 0, 0
    _count_members(P, S, W)
    k[TURNED] = 1
    for _ in range(steps):
        if code == GO:
            if k[RECORDED] + 3 > len(log.t):
                return FULL
            if q + k[M] + 2 > S.R.shape[0]:
                return GROW
            if k[STALE]:
                k[STALE] = 0
                return REFACTOR
            k[STEPS] += 1
            if S.x[T] == S.x[FIRST]:
                k[IDLE] = k[EVENTS]
        if code == ARRIVED or _is_late(P, S, t_end):
            S.x[WORST] = max(S.x[WORST], _sync(P, S, W))
        if code == ARRIVED:
            return CUT if k[WAS_CUT] else END
        if k[TURNED]:
            _direction(P, S, W)
            k[TURNED] = 0
        size = _rates(P, S, W)
        if size < 0.0:
            return REFACTOR
        k[FRESH] = 0
        code, kind, which, side = _advance_to_event(P, S, W, t_end, most, turn, level, size)
        if code == ARRIVED:
            continue
        k[WHO] = which if kind == 1 else -1
        if code == GO and kind == 0:
            code = _leave(P, S, W, log, which, side)
        if code != GO:
            return code
        j = k[WHO]
        if j < 0:
            continue
        sc = _respond(P, S, W, j)
        if kind == 0:
            _tell(S, W, log, j, FREE)
            _swap(P, S, W, which, j, sc)
        elif sc <= 0.0:
            _make_room(P, S, W, log, j)
        elif sc <= tol * P.kmax:  # R would lose its digits
            S.x[SC] = sc
            return NEAR
        else:
            _join(P, S, W, log, j, sc)
    return PAUSE


@_inner
def _middle(P: Data, S: State, noise: Array, offsets: Array) -> None:
    """The multipliers, each in the middle of its interval: ``box_qp.middle`` without FIXED ones.

    Where nobody was to change place, the interval may be none: then it stays where it is.
    """
    q, m = len(S.nu), S.k[M]
    scale = (P.unit[0] + P.unit[2] * (S.nu[0] - S.nu[q - 1]) / 2.0) / P.kmax
    for j in range(len(S.g)):
        noise[j], scale = 0.0, max(scale, abs(S.theta[j]))
    for a in range(m):
        k = S.F[a]
        noise[k] = _NOISE * (abs(P.c0[k]) + abs(S.nu[P.p[k]])) * S.R[q + a, q + a]
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
        shift = 0.0
        if not is_held and lowest == -_FAR:
            shift = highest if highest < _FAR else 0.0
        elif not is_held and highest == _FAR:
            shift = lowest
        elif not is_held and lowest <= highest + _NEAR * P.unit[0]:
            shift = 0.5 * (lowest + highest)
        offsets[e] = S.nu[e] + shift


@_inner
def _is_outside(P: Data, S: State) -> bool:
    """Whether a free variable is outside its box by more than rounding, in units of the box."""
    for a in range(S.k[M]):
        k = S.F[a]
        if max(P.l0[k] - S.theta[k], S.theta[k] - P.u0[k]) > _OUTSIDE * (P.u0[k] - P.l0[k]):
            return True
    return False


@_inner
def _dismiss(P: Data, S: State, W: Work, j: int, upwards: bool) -> int:
    """Take the FIXED variable j out of F; REFACTOR or INFEASIBLE where that is not so easy.

    If it is the only one of its group, another takes its place that can move upwards (downwards).
    """
    q, m, position, members = len(S.nu), S.k[M], -1, 0
    for a in range(m):
        if S.F[a] == j:
            position = a
        if P.p[S.F[a]] == P.p[j]:
            members += 1
    if position < 0:
        return GO
    a = q + position
    if members > 1:
        if S.R[a, a] * P.kmax * _STALE > 1.0:
            return REFACTOR
        delete(S.R, q + m, a, W.spare)
        S.F[position] = S.F[m - 1]
        S.k[M] -= 1
        return GO
    W.sign[j] = -1.0 if upwards else 1.0
    k = _successor(P, S, W, j)
    W.sign[j] = 0.0
    if k < 0:
        return INFEASIBLE
    sc = _respond(P, S, W, k)
    replace(S.R, q + m, a, W.z, sc, W.spare)
    S.F[position], S.status[k], S.g[k], W.sign[k] = k, FREE, 0.0, 0.0
    return GO


@_inner
def _begin_removal(P: Data, S: State, W: Work, origin: State, o: Removals, s: int) -> int:
    """Copy the state with all samples, and fix the variables of sample s, which are then driven to zero."""
    q, m, driven = len(S.nu), origin.k[M], -1
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
    S.k[M], S.k[SEED], S.k[WATCH] = m, 1, o.variables[s, 0]
    _set_signs(S, W)
    if driven < 0:
        return GO
    return _dismiss(P, S, W, driven, o.changes[s, P.p[driven]] + origin.theta[driven] > 0.0)


@_inner
def _end_removal(P: Data, S: State, W: Work, o: Removals, s: int, code: int, low: Array) -> None:
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
    if code == END and _is_outside(P, S):
        o.worsts[s] = _FAR


@_entry
def leave_out(
    P: Data, S: State, W: Work, log: Log, origin: State, o: Removals, low: Array, tol: float, most: int, limit: int,
    steps: int,
) -> None:  # fmt: skip
    """Drive the variables of one sample after another to zero, each time from the same state, for so many steps.

    A walk is given up after ``limit`` steps. ``low`` are the lower bounds of P, of which those of the sample are moved.
    A walk that needs Python (a variable that nearly depends on F, an inverse to be made anew) is ended as it is; its
    code says so.
    """
    left = steps
    while o.place[0] < len(o.variables) and left > 0:
        s, code = o.place[0], GO
        if o.place[1] == 0:
            code = _begin_removal(P, S, W, origin, o, s)
            o.place[1] = 1
        if code == GO:
            before = S.k[STEPS]
            S.k[RECORDED] = 0
            code = follow(P, S, W, log, 1.0, tol, most, left, o.turns[s], o.levels[s])
            left -= S.k[STEPS] - before
        if code == PAUSE and S.k[STEPS] > limit:
            code = LOST
        if code == PAUSE:
            return
        if code == FULL:  # nobody reads the events of a removal
            continue
        _end_removal(P, S, W, o, s, code, low)
        o.place[0] += 1
        o.place[1] = 0
        left -= 1

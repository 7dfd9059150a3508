"""Compiled loops of the elastic-net hinge machine: the walk from event to event (see ``solvers.elastic``).

Letters as there. E holds the k samples on the elbow and A the m active features, in the order of W and G::

    W = Z_EA,    M = [W, sqrt(tau) y_E],    G = (M M')^-1 = (W W' + tau y_E y_E')^-1

All that is ever solved for, given e (one per elbow sample), f (one per active feature) and g, is

    W x + y_E b = e,    x = W'a + f,    y_E'a = -g            ("solve")

with e = lambda2' (times the margins), f = Z_LA' w_L' - lambda1' om s and g = y_L' w_L' for the rates of lambda2 beta,
lambda2 b and alpha along a line, and with what is missing in the conditions of optimality to settle a point.
tau > 0 is arbitrary: it makes the matrix positive definite without changing the answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

Array = np.ndarray

RIGHT, ELBOW, LEFT, OUT = 0, 1, 2, 3  # places of a sample; OUT has no weight and is only watched
ZERO, PLUS, MINUS, FREE, BANNED = 0, 1, -1, 2, 3  # of a feature: FREE is active without a penalty, BANNED never enters
END, FULL, GROW, STOP, LOST, UNBOUNDED, SINGULAR = 0, 1, 2, 3, 4, 5, 6
U, LAM1, LAM2, B, WORST, FLOOR = 0, 1, 2, 3, 4, 5  # numbers of a state
K, M, SEED, IDLE, EVENTS, NULLS = 0, 1, 2, 3, 4, 5  # counts of a state

_NOISE = 1e-10  # a rate below this, in units of what it is made of, is none
_CANCELLED = 1e-13  # and in units of the terms that cancel in it
_FLAT = 1e-12  # the same for what is left of f outside the span of the elbow
_RESIDUAL, _BROKEN = 1e-13, 1e-8  # of a solution: refined above the first; G is made anew above the second
_DEPENDENT = 1e-8  # a row nearer to the span of the others than this, in units of its length, depends on them
_STALE = 1e-4  # a pivot below this, relative, leaves G with too few digits
_TIE = 1e-12  # steps that differ by less, relative, are one
_SOON = 1e-15  # a step shorter than this, relative to the value, is none
_STILL = 1e-13  # and so is one at a constant parameter that moves margins by less
_SYNC = 100  # events between two settlings
_UNUSED = 1e-8  # a coefficient that moves margins by less is not in use: ties have steps of rounding
_AT_BOUND = 1e-10  # an alpha nearer to its bound than this, relative, is at it
_REMOVAL = 10  # events per sample and feature before the removal of a sample is given up
_PATIENCE = 40  # steps of length zero before ties are broken at random
_FAR = 1e300

_options: Any = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}
_jit: Any = njit(cache=True, **_options)
# For what is called by compiled code only: without doors for Python it compiles faster.
_without_doors: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_options}
_inner: Any = njit(**_without_doors)


class Data(NamedTuple):
    """Z = diag(y) X by rows and by columns: dense (Zr, Zc), or sparse (pointers, indices, numbers) with Zr empty."""

    Zr: Array
    Zc: Array
    rp: Array
    ri: Array
    rv: Array
    cp: Array
    ci: Array
    cv: Array
    y: Array
    mg: Array  # margins asked for: one, but for a walk that is shaken
    om: Array
    zmax: Array  # largest |z_ij| of a column
    tau: float


class Course(NamedTuple):
    """The line: lambda1 = lam1 - u d1, lambda2 = lam2 - u d2, w = w0 - u dw while the value u falls.

    So d1, d2 and dw are what is gained on a way of length one; ``moving`` are the rows with dw != 0.
    """

    lam1: float
    lam2: float
    d1: float
    d2: float
    w0: Array
    dw: Array
    moving: Array


class State(NamedTuple):
    """Where the walk stands; all of it is changed in place."""

    x: Array  # u, lambda1, lambda2, b; residual of the last solution, rounding in its a
    num: Array  # k, m, seed, idle, events, null steps
    w: Array
    alpha: Array
    r: Array
    beta: Array
    c: Array
    place: Array
    sign: Array
    E: Array
    A: Array
    W: Array
    G: Array


class Log(NamedTuple):
    """The events told: where, whether a feature's, whose, from which place to which."""

    u: Array
    feature: Array
    who: Array
    source: Array
    target: Array


class Work(NamedTuple):
    """Room for vectors that are made at every event."""

    dr: Array
    dc: Array
    cw: Array  # Z_L' w_L'
    da: Array
    dx: Array
    f: Array
    e: Array
    v: Array
    q: Array
    h: Array
    z: Array
    u: Array
    none: Array  # zeros


@_inner
def room(n: int, p: int, k: int, m: int) -> Work:
    """Vectors for k rows and m columns at most."""
    return Work(
        np.empty(n), np.empty(p), np.empty(p), np.empty(k), np.empty(m), np.empty(m), np.empty(k), np.empty(k),
        np.empty(k), np.empty(k), np.empty(k), np.empty(m), np.zeros(n),
    )  # fmt: skip


# --- products with Z -------------------------------------------------------------------------------------------------


@_inner
def fill(x: Array, size: int) -> None:
    """The first entries become zero."""
    for i in range(size):
        x[i] = 0.0


@_inner
def combine(Z: Array, rows: Array, x: Array, count: int, out: Array) -> None:
    """``out += sum_a x_a Z[rows_a]``, some rows at a time so that ``out`` is read and written less often."""
    size, a = Z.shape[1], 0
    while a + 8 <= count:
        z0, z1, z2, z3 = Z[rows[a]], Z[rows[a + 1]], Z[rows[a + 2]], Z[rows[a + 3]]
        z4, z5, z6, z7 = Z[rows[a + 4]], Z[rows[a + 5]], Z[rows[a + 6]], Z[rows[a + 7]]
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        x4, x5, x6, x7 = x[a + 4], x[a + 5], x[a + 6], x[a + 7]
        for i in range(size):
            out[i] += (x0 * z0[i] + x1 * z1[i] + x2 * z2[i] + x3 * z3[i]) + (
                x4 * z4[i] + x5 * z5[i] + x6 * z6[i] + x7 * z7[i]
            )
        a += 8
    while a + 2 <= count:
        z0, z1, x0, x1 = Z[rows[a]], Z[rows[a + 1]], x[a], x[a + 1]
        for i in range(size):
            out[i] += x0 * z0[i] + x1 * z1[i]
        a += 2
    if a < count:
        z0, x0 = Z[rows[a]], x[a]
        for i in range(size):
            out[i] += x0 * z0[i]


@_inner
def scatter(pointer: Array, index: Array, number: Array, rows: Array, x: Array, count: int, out: Array) -> None:
    """The same for sparse rows."""
    for a in range(count):
        row, factor = rows[a], x[a]
        for at in range(pointer[row], pointer[row + 1]):
            out[index[at]] += factor * number[at]


@_inner
def add_rows(D: Data, rows: Array, x: Array, count: int, out: Array) -> None:
    """``out += Z[rows]' x``, one number per feature."""
    if D.Zr.shape[0] > 0:
        combine(D.Zr, rows, x, count, out)
    else:
        scatter(D.rp, D.ri, D.rv, rows, x, count, out)


@_inner
def add_columns(D: Data, columns: Array, x: Array, count: int, out: Array) -> None:
    """``out += Z[:, columns] x``, one number per sample."""
    if D.Zr.shape[0] > 0:
        combine(D.Zc, columns, x, count, out)
    else:
        scatter(D.cp, D.ci, D.cv, columns, x, count, out)


@_inner
def entry(D: Data, i: int, j: int) -> float:
    """z_ij."""
    if D.Zr.shape[0] > 0:
        return D.Zr[i, j]
    low, high = D.rp[i], D.rp[i + 1]
    while low < high:
        middle = (low + high) // 2
        if D.ri[middle] < j:
            low = middle + 1
        else:
            high = middle
    return D.rv[low] if low < D.rp[i + 1] and D.ri[low] == j else 0.0


@_inner
def side(sign: int) -> float:
    """The sign of an active feature's penalty: zero where it has none."""
    return float(sign) if abs(sign) == 1 else 0.0


# --- the elbow system ------------------------------------------------------------------------------------------------


@_inner
def times(G: Array, k: int, v: Array, out: Array) -> None:
    """``out = G v`` on the leading block."""
    for a in range(k):
        row, total = G[a], 0.0
        for b in range(k):
            total += row[b] * v[b]
        out[a] = total


@_inner
def spread(S: State, x: Array, f: Array, out: Array) -> None:
    """``out = W'x + f``."""
    k, m = S.num[K], S.num[M]
    for j in range(m):
        out[j] = f[j]
    a = 0
    while a + 4 <= k:
        w0, w1, w2, w3, x0, x1, x2, x3 = S.W[a], S.W[a + 1], S.W[a + 2], S.W[a + 3], x[a], x[a + 1], x[a + 2], x[a + 3]
        for j in range(m):
            out[j] += (x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
        a += 4
    while a < k:
        row, x0 = S.W[a], x[a]
        for j in range(m):
            out[j] += x0 * row[j]
        a += 1


@_inner
def gather(S: State, x: Array, out: Array) -> None:
    """``out = W x``."""
    k, m = S.num[K], S.num[M]
    for a in range(k):
        row, total = S.W[a], 0.0
        for j in range(m):
            total += row[j] * x[j]
        out[a] = total


@_inner
def solve(D: Data, S: State, R: Work, e: Array, f: Array, g: float) -> float:
    """The system of the module's first lines: a in R.da, x in R.dx; returns b. Needs k >= 1."""
    k, m, tau = S.num[K], S.num[M], D.tau
    for a in range(k):
        R.h[a] = D.y[S.E[a]]
    gather(S, f, R.v)
    for a in range(k):
        R.v[a] = e[a] - R.v[a] - tau * g * R.h[a]
    up, yy = 0.0, 0.0
    for a in range(k):
        row, one, other = S.G[a], 0.0, 0.0
        for c in range(k):
            one += row[c] * R.v[c]
            other += row[c] * R.h[c]
        R.da[a], R.q[a] = one, other
        up += R.h[a] * one
        yy += R.h[a] * other
    b, floor = (up + g) / yy, 0.0
    for a in range(k):
        floor = max(floor, abs(R.da[a]) + abs(b * R.q[a]))
        R.da[a] -= b * R.q[a]
    first = -1.0
    for _ in range(3):  # measured; refined where rounding has taken too much
        spread(S, R.da, f, R.dx)
        gather(S, R.dx, R.v)
        scale, worst, left = abs(b), 0.0, -g
        for j in range(m):
            scale += (abs(R.dx[j]) + abs(f[j])) * D.zmax[S.A[j]]  # x may be nothing but what is left of f
        for a in range(k):
            scale = max(scale, abs(e[a]))
            R.v[a] = e[a] - R.h[a] * b - R.v[a]
            left -= R.h[a] * R.da[a]
            worst = max(worst, abs(R.v[a]))
        if first < 0.0:
            first = worst / scale if scale > 0.0 else 0.0
        if not worst > _RESIDUAL * scale:
            break
        for a in range(k):
            R.v[a] += tau * left * R.h[a]
        times(S.G, k, R.v, R.z)
        up = -left
        for a in range(k):
            up += R.h[a] * R.z[a]
        db = up / yy
        b += db
        for a in range(k):
            R.da[a] += R.z[a] - db * R.q[a]
    S.x[WORST] = first
    S.x[FLOOR] = _CANCELLED * floor
    if k == 1:
        R.da[0] = -g * R.h[0]
    return b


@_inner
def factor(D: Data, S: State) -> bool:
    """G from W, by orthogonalising the rows of M; False where they depend on each other."""
    k, m = S.num[K], S.num[M]
    Q, L = np.empty((k, m + 1)), np.zeros((k, k))
    for a in range(k):
        Q[a, m] = np.sqrt(D.tau) * D.y[S.E[a]]
        size = D.tau
        for j in range(m):
            Q[a, j] = S.W[a, j]
            size += Q[a, j] * Q[a, j]
        left = size
        for again in range(2):
            if again == 1 and left > 0.01 * size:
                break  # once is enough where little has cancelled
            for b in range(a):
                part = 0.0
                for j in range(m + 1):
                    part += Q[a, j] * Q[b, j]
                for j in range(m + 1):
                    Q[a, j] -= part * Q[b, j]
                L[a, b] += part
            left = 0.0
            for j in range(m + 1):
                left += Q[a, j] * Q[a, j]
        if not left > (0.1 * _DEPENDENT) ** 2 * size:
            return False
        L[a, a] = left = np.sqrt(left)
        for j in range(m + 1):
            Q[a, j] /= left
    row = np.empty(k)
    for a in range(k):  # the inverse of L, in place, row by row
        fill(row, a)
        for c in range(a):
            x = L[a, c]
            for b in range(c + 1):
                row[b] += x * L[c, b]
        L[a, a] = 1.0 / L[a, a]
        for b in range(a):
            L[a, b] = -row[b] * L[a, a]
    for a in range(k):
        fill(S.G[a], k)
    for c in range(k):
        for a in range(c + 1):
            x = L[c, a]
            for b in range(a + 1):
                S.G[a, b] += x * L[c, b]
    for a in range(k):
        for b in range(a):
            S.G[b, a] = S.G[a, b]
    return True


@_inner
def rank_one(G: Array, k: int, q: Array, scale: float) -> None:
    """``G += scale q q'``."""
    for a in range(k):
        row, x = G[a], scale * q[a]
        for b in range(k):
            row[b] += x * q[b]


@_inner
def add_row(D: Data, S: State, i: int, q: Array, d: float) -> None:
    """Sample i joins E, with q = G M m_i and the squared distance d of its row from the others."""
    k, m, G = S.num[K], S.num[M], S.G
    for j in range(m):
        S.W[k, j] = entry(D, i, S.A[j])
    rank_one(G, k, q, 1.0 / d)
    for a in range(k):
        G[a, k] = G[k, a] = -q[a] / d
    G[k, k] = 1.0 / d
    S.E[k] = i
    S.num[K] = k + 1
    S.place[i] = ELBOW


@_inner
def drop_row(S: State, at: int) -> bool:
    """The sample at that position leaves E; False where G has to be made anew."""
    last, m, G = S.num[K] - 1, S.num[M], S.G
    S.E[at] = S.E[last]
    for j in range(m):
        S.W[at, j] = S.W[last, j]
    if at != last:
        for b in range(last + 1):
            G[at, b], G[last, b] = G[last, b], G[at, b]
        for a in range(last + 1):
            G[a, at], G[a, last] = G[a, last], G[a, at]
    pivot = G[last, last]
    S.num[K] = last
    if not pivot > 0.0:
        return False
    for a in range(last):
        row, x = G[a], G[a, last] / pivot
        for b in range(last):
            row[b] -= x * G[last, b]
    return True


@_inner
def add_column(D: Data, S: State, R: Work, j: int, sign: int) -> None:
    """Feature j joins A."""
    k, m = S.num[K], S.num[M]
    for a in range(k):
        S.W[a, m] = R.z[a] = entry(D, S.E[a], j)
    S.A[m] = j
    S.num[M] = m + 1
    S.sign[j] = sign
    times(S.G, k, R.z, R.q)
    total = 1.0
    for a in range(k):
        total += R.z[a] * R.q[a]
    rank_one(S.G, k, R.q, -1.0 / total)


@_inner
def drop_column(S: State, R: Work, at: int) -> bool:
    """The feature at that position leaves A; False where G has to be made anew."""
    k, last = S.num[K], S.num[M] - 1
    for a in range(k):
        R.z[a] = S.W[a, at]
        S.W[a, at] = S.W[a, last]
    S.sign[S.A[at]] = ZERO
    S.A[at] = S.A[last]
    S.num[M] = last
    times(S.G, k, R.z, R.q)
    left = 1.0
    for a in range(k):
        left -= R.z[a] * R.q[a]
    if not left > _STALE:
        return False
    rank_one(S.G, k, R.q, 1.0 / left)
    return True


@_inner
def distance(D: Data, S: State, R: Work, i: int) -> tuple[float, float]:
    """Squared distance of row m_i from the rows of M, and its squared length; q = G M m_i in R.q, m_i in R.u."""
    k, m, tau = S.num[K], S.num[M], D.tau
    size = tau
    for j in range(m):
        R.u[j] = entry(D, i, S.A[j])
        size += R.u[j] * R.u[j]
    gather(S, R.u, R.v)
    for a in range(k):
        R.v[a] += tau * D.y[i] * D.y[S.E[a]]
    times(S.G, k, R.v, R.q)
    d = size
    for a in range(k):
        d -= R.v[a] * R.q[a]
    if d > _STALE * size:
        return d, size
    for _ in range(2):  # too much has cancelled: from the residual itself
        last = D.y[i]
        for j in range(m):
            R.dx[j] = R.u[j]
        for a in range(k):
            row, x = S.W[a], R.q[a]
            last -= D.y[S.E[a]] * x
            for j in range(m):
                R.dx[j] -= x * row[j]
        d = tau * last * last
        for j in range(m):
            d += R.dx[j] * R.dx[j]
        gather(S, R.dx, R.v)
        for a in range(k):
            R.v[a] += tau * last * D.y[S.E[a]]
        times(S.G, k, R.v, R.z)
        for a in range(k):
            R.q[a] += R.z[a]
    return d, size


# --- a point on the line ---------------------------------------------------------------------------------------------


@_inner
def measure(D: Data, S: State) -> None:
    """R and c of all samples and features, from beta, b and alpha."""
    n, p, b = len(S.r), len(S.c), S.x[B]
    x, rows = np.empty(max(n, p)), np.empty(max(n, p), np.int64)
    count = 0
    for j in range(p):
        if S.beta[j] != 0.0:
            rows[count], x[count] = j, -S.beta[j]
            count += 1
    for i in range(n):
        S.r[i] = D.mg[i] - D.y[i] * b
    add_columns(D, rows, x, count, S.r)
    count = 0
    for i in range(n):
        if S.alpha[i] != 0.0:
            rows[count], x[count] = i, S.alpha[i]
            count += 1
    fill(S.c, p)
    add_rows(D, rows, x, count, S.c)


@_inner
def settle(D: Data, S: State, R: Work) -> None:
    """Correct beta_A, b and alpha_E so that the equations of E and A hold to rounding, everybody keeping its place."""
    measure(D, S)
    k, m, lam1, lam2 = S.num[K], S.num[M], S.x[LAM1], S.x[LAM2]
    g = 0.0
    for i in range(len(S.r)):
        g += D.y[i] * S.alpha[i]
    for j in range(m):
        at = S.A[j]
        R.f[j] = S.c[at] - lam2 * S.beta[at] - lam1 * D.om[at] * side(S.sign[at])
    if k == 0:
        if lam2 > 0.0:
            for j in range(m):
                S.beta[S.A[j]] += R.f[j] / lam2
            measure(D, S)
        return
    for a in range(k):
        R.e[a] = lam2 * S.r[S.E[a]]
    b = solve(D, S, R, R.e, R.f, g)
    for a in range(k):
        S.alpha[S.E[a]] += R.da[a]
    if lam2 > 0.0:
        for j in range(m):
            S.beta[S.A[j]] += R.dx[j] / lam2
        S.x[B] += b / lam2
    else:  # the shortest step onto the elbow
        for a in range(k):
            R.v[a] = S.r[S.E[a]]
        times(S.G, k, R.v, R.q)
        fill(R.f, m)
        spread(S, R.q, R.f, R.dx)
        for j in range(m):
            S.beta[S.A[j]] += R.dx[j]
        for a in range(k):
            S.x[B] += D.tau * D.y[S.E[a]] * R.q[a]
    measure(D, S)


@_inner
def seat(D: Data, S: State) -> bool:
    """E, A, W and G from the places; False where the elbow system is singular."""
    k, m = 0, 0
    for i in range(len(S.r)):
        if S.place[i] == ELBOW:
            S.E[k] = i
            k += 1
    for j in range(len(S.c)):
        if S.sign[j] == PLUS or S.sign[j] == MINUS or S.sign[j] == FREE:
            S.A[m] = j
            m += 1
    S.num[K], S.num[M] = k, m
    if k > m + 1:
        return False
    for a in range(k):
        for j in range(m):
            S.W[a, j] = entry(D, S.E[a], S.A[j])
    return factor(D, S)


@_jit
def stand(D: Data, S: State, rounds: int) -> bool:
    """Make the elbow system of the places and its equations hold; False where the system is singular.

    In three rounds the point is what the places alone determine, whatever beta and alpha were.
    """
    if not seat(D, S):
        return False
    R = room(0, 0, max(S.num[K], 1), max(S.num[M], 1))
    for _ in range(rounds):
        settle(D, S, R)
    return True


@_jit
def wrong(D: Data, S: State) -> float:
    """The largest r on the wrong side, and the largest c beyond its threshold in units of the weights on its column."""
    worst, total = 0.0, 0.0
    for i in range(len(S.r)):
        total += S.w[i]
        if S.place[i] == ELBOW:
            worst = max(worst, abs(S.r[i]))
        elif S.place[i] == LEFT:
            worst = max(worst, -S.r[i])
        elif S.place[i] == RIGHT:
            worst = max(worst, S.r[i])
    for j in range(len(S.c)):
        unit = max(total * D.zmax[j], 1e-300)
        if S.sign[j] == ZERO:
            worst = max(worst, (abs(S.c[j]) - S.x[LAM1] * D.om[j]) / unit)
        elif S.sign[j] != BANNED:
            target = S.x[LAM2] * S.beta[j] + S.x[LAM1] * D.om[j] * side(S.sign[j])
            worst = max(worst, abs(S.c[j] - target) / unit)
    return worst


# --- the walk --------------------------------------------------------------------------------------------------------


@_inner
def random(num: Array) -> int:
    """The next of a row of random numbers."""
    x = num[SEED]
    x ^= (x << 13) & 0x7FFFFFFFFFFF
    x ^= x >> 7
    x ^= (x << 17) & 0x7FFFFFFFFFFF
    num[SEED] = x
    return x >> 3


@_inner
def tell(S: State, log: Log, feature: int, index: int, source: int, target: int) -> None:
    """Write an event down."""
    at = S.num[EVENTS]
    if at < len(log.u):
        log.u[at], log.feature[at], log.who[at] = S.x[U], feature, index
        log.source[at], log.target[at] = source, target
    S.num[EVENTS] = at + 1


@_inner
def moved_weights(D: Data, S: State, L: Course, R: Work) -> float:
    """Z_L' w_L' in R.cw; returns y_L' w_L'."""
    g, one, x = 0.0, np.empty(1, np.int64), np.empty(1)
    fill(R.cw, len(R.cw))
    for i in L.moving:
        if S.place[i] == LEFT:
            g += D.y[i] * L.dw[i]
            one[0], x[0] = i, L.dw[i]
            add_rows(D, one, x, 1, R.cw)
    return g


@_inner
def rates(D: Data, S: State, L: Course, R: Work, g: float) -> tuple[bool, float, float]:
    """R.da, R.dx, R.dr, R.dc along the line; whether the step is fast (at a constant parameter), b', noise in dr."""
    k, m, lam2, d2 = S.num[K], S.num[M], S.x[LAM2], L.d2
    largest = 0.0
    for j in range(m):
        at = S.A[j]
        R.f[j] = R.cw[at] - L.d1 * D.om[at] * side(S.sign[at])
        largest = max(largest, abs(R.f[j]))
    is_flat = True  # lambda2 beta moves with lambda2 alone
    if k == 0:
        b = d2 * S.x[B]
        for j in range(m):
            R.dx[j] = R.f[j]
            is_flat = is_flat and R.f[j] == d2 * S.beta[S.A[j]]
        if g != 0.0:  # nobody takes up the weight that is lost: the offset moves alone
            b, is_flat = np.sign(g), False
            fill(R.dx, m)
    else:
        for a in range(k):
            R.e[a] = d2 * D.mg[S.E[a]]
        b = solve(D, S, R, R.e, R.f, g)
        if k < m + 1:
            push = 0.0
            for a in range(k):
                push += abs(R.da[a])
            for j in range(m):
                at = S.A[j]
                if abs(R.dx[j] - d2 * S.beta[at]) > _FLAT * (largest + push * D.zmax[at]):
                    is_flat = False
                    break
        if is_flat:
            b = d2 * S.x[B]
            for j in range(m):
                R.dx[j] = d2 * S.beta[S.A[j]]
    alone = k == 0 and g != 0.0
    fast = alone or (lam2 == 0.0 and not is_flat)
    pull = 0.0 if fast else d2
    noise = abs(b) + abs(pull)
    for j in range(m):
        noise += abs(R.dx[j]) * D.zmax[S.A[j]]
        R.u[j] = -R.dx[j]
    if is_flat:
        for i in range(len(R.dr)):
            R.dr[i] = d2 * S.r[i]
    else:
        for i in range(len(R.dr)):
            R.dr[i] = pull * D.mg[i] - D.y[i] * b
        add_columns(D, S.A, R.u, m, R.dr)
    for a in range(k):
        R.dr[S.E[a]] = 0.0
    if fast:
        fill(R.da, k)
        fill(R.dc, len(R.dc))
    else:
        for j in range(len(R.dc)):
            R.dc[j] = R.cw[j]
        add_rows(D, S.E, R.da, k, R.dc)
    return fast, b, _NOISE * noise


@_inner
def leaving(k: int, E: Array, alpha: Array, w: Array, dw: Array, da: Array, floor: float, skip: int) -> Any:
    """Who of the elbow reaches a bound first: the step, its position and where it goes; rates below floor are none.

    Each of these searches begins at ``skip``, so that another of several equal steps can be found.
    """
    t, at, to, least = _FAR, -1, 0, floor
    for a in range(k):
        least = max(least, _NOISE * abs(da[a]), _NOISE * abs(dw[E[a]]))
    for step in range(k):
        a = (step + skip) % k
        i = E[a]
        up = da[a] - dw[i]
        if da[a] < -least and max(alpha[i], 0.0) < t * -da[a]:
            t, at, to = max(alpha[i], 0.0) / -da[a], a, RIGHT
        if up > least and max(w[i] - alpha[i], 0.0) < t * up:
            t, at, to = max(w[i] - alpha[i], 0.0) / up, a, LEFT
    return t, at, to


@_inner
def entering(
    sign: Array, c: Array, om: Array, zmax: Array, lam1: float, d1: float, dc: Array, push: float, skip: int
) -> Any:
    """Which feature reaches its threshold first, and on which side; ``push`` is the sum of the rates that make dc."""
    t, at, to, p = _FAR, -1, 0, len(c)
    for step in range(p):
        j = step + skip
        if j >= p:
            j -= p
        if sign[j] == ZERO:
            wall, slope = lam1 * om[j], d1 * om[j]
            least = _NOISE * (abs(slope) + push * zmax[j])
            up, down = dc[j] - slope, -dc[j] - slope
            if up > least and max(wall - c[j], 0.0) < t * up:
                t, at, to = max(wall - c[j], 0.0) / up, j, PLUS
            if down > least and max(wall + c[j], 0.0) < t * down:
                t, at, to = max(wall + c[j], 0.0) / down, j, MINUS
    return t, at, to


@_inner
def vanishing(m: int, A: Array, sign: Array, beta: Array, dx: Array, unit: float, skip: int) -> Any:
    """Which coefficient reaches zero first."""
    t, at, least = _FAR, -1, 0.0
    for j in range(m):
        least = max(least, _NOISE * abs(dx[j]))
    for step in range(m):
        j = (step + skip) % m
        s = side(sign[A[j]])
        if s * dx[j] < -least and unit * max(s * beta[A[j]], 0.0) < t * -(s * dx[j]):
            t, at = unit * max(s * beta[A[j]], 0.0) / -(s * dx[j]), j
    return t, at


@_inner
def hitting(place: Array, r: Array, dr: Array, unit: float, noise: float, skip: int) -> Any:
    """Who reaches the elbow first."""
    t, at, n = _FAR, -1, len(r)
    for step in range(n):
        i = step + skip
        if i >= n:
            i -= n
        # Towards the elbow is down on the left and up on the right.
        turn = -1.0 if place[i] == LEFT else (1.0 if place[i] == RIGHT else 0.0)
        if turn * dr[i] > noise and unit * max(-turn * r[i], 0.0) < t * (turn * dr[i]):
            t, at = unit * max(-turn * r[i], 0.0) / (turn * dr[i]), i
    return t, at


@_inner
def is_next(num: Array, t: float, best: float) -> bool:
    """Whether a step is shorter than the best so far; of equal ones any, where the walk has stood still for long."""
    if num[IDLE] > _PATIENCE and random(num) % 2 == 0:
        return t <= best * (1.0 + _TIE)
    return t < best * (1.0 - _TIE)


@_inner
def offset(num: Array, size: int) -> int:
    """Where a search begins: at the first, or anywhere where the walk has stood still for long."""
    return random(num) % size if num[IDLE] > _PATIENCE and size > 0 else 0


@_inner
def advance(D: Data, S: State, L: Course, R: Work, t: float, b: float, fast: bool) -> None:
    """Go a step of length t."""
    k, m, x = S.num[K], S.num[M], S.x
    old = 1.0 if fast else x[LAM2]
    new = old if fast else max(L.lam2 - (x[U] - t) * L.d2, 0.0)
    if new > 0.0 and t != 0.0:
        keep, go = old / new, t / new
        for j in range(m):
            at = S.A[j]
            S.beta[at] = keep * S.beta[at] + go * R.dx[j]
        x[B] = keep * x[B] + go * b
        for i in range(len(S.r)):
            S.r[i] = keep * S.r[i] + go * R.dr[i]
    if not fast:
        x[U] -= t
        x[LAM1] = max(L.lam1 - x[U] * L.d1, 0.0)
        x[LAM2] = new
        for a in range(k):
            S.alpha[S.E[a]] += t * R.da[a]
        for j in range(len(S.c)):
            S.c[j] += t * R.dc[j]
        for i in L.moving:
            S.w[i] = max(L.w0[i] - x[U] * L.dw[i], 0.0)
            if S.place[i] == LEFT:
                S.alpha[i] = S.w[i]
    for a in range(k):
        S.r[S.E[a]] = 0.0


@_inner
def leave(S: State, log: Log, at: int, to: int) -> bool:
    """The elbow sample at that position goes to the left or to the right."""
    i = S.E[at]
    S.alpha[i] = 0.0 if to == RIGHT else S.w[i]
    S.r[i] = 0.0
    tell(S, log, 0, i, ELBOW, to)
    S.place[i] = to
    return drop_row(S, at)


@_inner
def hit(D: Data, S: State, R: Work, log: Log, i: int, is_stuck: Array) -> bool:
    """Sample i comes to the elbow; where its row depends on the others, somebody gives way ("null step")."""
    source = S.place[i]
    S.r[i] = 0.0
    d, size = distance(D, S, R, i)
    if not d > _STALE * size and factor(D, S):  # nearly dependent, or G has lost its digits: measured with a new one
        d, size = distance(D, S, R, i)
    if S.num[K] <= S.num[M] and np.sqrt(d) > _DEPENDENT * np.sqrt(size):
        tell(S, log, 0, i, source, ELBOW)
        add_row(D, S, i, R.q, d)
        return d > _STALE * size
    # alpha_i moves away from its bound, E makes up for it, and no c of A changes.
    S.num[NULLS] += 1
    k, turn = S.num[K], 1.0 if source == RIGHT else -1.0
    for a in range(k):
        R.da[a] = -turn * R.q[a]
    push = drift(D, S, R, k, i, turn)
    t, kind, at, to = give_way(D, S, R, push, S.w[i])
    shift(S, R, k, t)
    S.alpha[i] += turn * t
    if kind == 0:
        to = LEFT if source == RIGHT else RIGHT
        S.alpha[i] = 0.0 if to == RIGHT else S.w[i]
        tell(S, log, 0, i, source, to)
        S.place[i] = to
        return True
    fine = True
    if kind == 1:
        fine = leave(S, log, at, to)
    else:
        enter(D, S, R, log, at, to)
    tell(S, log, 0, i, source, ELBOW)
    fine = fine or factor(D, S)
    d, size = distance(D, S, R, i)
    is_stuck[0] = not d > 0.0
    add_row(D, S, i, R.q, d if d > 0.0 else 1.0)
    return fine and d > _STALE * size


@_inner
def drift(D: Data, S: State, R: Work, k: int, i: int, turn: float) -> float:
    """R.dc while alpha_E moves by R.da, and alpha_i by turn if i >= 0; the sum of their rates."""
    fill(R.dc, len(R.dc))
    push = 0.0
    if i >= 0:
        one, x = np.empty(1, np.int64), np.empty(1)
        one[0], x[0] = i, turn
        add_rows(D, one, x, 1, R.dc)
        push = abs(turn)
    add_rows(D, S.E, R.da, k, R.dc)
    for a in range(k):
        push += abs(R.da[a])
    return push


@_inner
def give_way(D: Data, S: State, R: Work, push: float, far: float) -> Any:
    """What ends a null step of R.da and R.dc: its length, kind (0 nothing before far, 1 leave, 2 enter), who, where."""
    k, kind, at, to, best = S.num[K], 0, 0, 0, far
    t, who, where = leaving(k, S.E, S.alpha, S.w, R.none, R.da, 0.0, offset(S.num, k))
    if who >= 0 and is_next(S.num, t, best):
        best, kind, at, to = t, 1, who, where
    t, who, where = entering(S.sign, S.c, D.om, D.zmax, S.x[LAM1], 0.0, R.dc, push, offset(S.num, len(S.c)))
    if who >= 0 and is_next(S.num, t, best):
        best, kind, at, to = t, 2, who, where
    return best, kind, at, to


@_inner
def shift(S: State, R: Work, k: int, t: float) -> None:
    """Alpha_E and c after a null step of length t."""
    for a in range(k):
        S.alpha[S.E[a]] += t * R.da[a]
    for j in range(len(S.c)):
        if S.sign[j] == ZERO:
            S.c[j] += t * R.dc[j]


@_inner
def vanish(D: Data, S: State, R: Work, log: Log, at: int) -> bool:
    """The active feature at that position comes to zero; where E needs its column, somebody else gives way."""
    k, m, j = S.num[K], S.num[M], S.A[at]
    sign = S.sign[j]
    S.beta[j] = 0.0
    for a in range(k):
        R.z[a] = S.W[a, at]
    times(S.G, k, R.z, R.q)
    if k <= m and not is_needed(D, S, R, at):
        tell(S, log, 1, j, sign, ZERO)
        S.c[j] = sign * S.x[LAM1] * D.om[j]
        return drop_column(S, R, at)
    # alpha_E moves along the null vector of the other columns, so that c_j comes away from its threshold.
    S.num[NULLS] += 1
    s = float(sign)
    for a in range(k):
        R.da[a] = -s * R.q[a]
    push = drift(D, S, R, k, -1, 0.0)
    speed = -s * R.dc[j]
    far = 2.0 * S.x[LAM1] * D.om[j] / speed if speed > 0.0 else _FAR
    t, kind, other, to = give_way(D, S, R, push, far)
    if t >= _FAR:
        return False
    shift(S, R, k, t)
    S.c[j] = s * S.x[LAM1] * D.om[j] + t * R.dc[j]
    if kind == 0:
        S.sign[j] = -sign
        S.c[j] = -s * S.x[LAM1] * D.om[j]
        tell(S, log, 1, j, sign, -sign)
        return True
    tell(S, log, 1, j, sign, ZERO)
    fine = True
    if kind == 1:
        fine = leave(S, log, other, to)
    else:
        enter(D, S, R, log, other, to)
    return drop_column(S, R, at) and fine


@_inner
def is_needed(D: Data, S: State, R: Work, at: int) -> bool:
    """Whether the rows of M depend on each other without the column at that position; R.q = G z of it."""
    k, m = S.num[K], S.num[M]
    left = 1.0
    for a in range(k):
        left -= R.z[a] * R.q[a]
    if left > _STALE or k == 0:
        return False
    fill(R.dx, m)
    spread(S, R.q, R.dx, R.u)
    last, size, length = 0.0, 0.0, 0.0
    for a in range(k):
        last += D.y[S.E[a]] * R.q[a]
        length += R.q[a] * R.q[a]
    for j in range(m):
        if j != at:
            size += R.u[j] * R.u[j]
    size += D.tau * last * last
    norm = D.tau
    for j in range(m):
        norm = max(norm, D.zmax[S.A[j]] ** 2)
    return size <= (10.0 * _DEPENDENT) ** 2 * length * norm


@_inner
def enter(D: Data, S: State, R: Work, log: Log, j: int, sign: int) -> None:
    """Feature j comes to its threshold."""
    S.c[j] = sign * S.x[LAM1] * D.om[j]
    tell(S, log, 1, j, ZERO, sign)
    add_column(D, S, R, j, sign)


@_jit
def run(D: Data, S: State, L: Course, log: Log, u_end: float, most: int, most_features: int) -> int:
    """Walk until the value is u_end, through at most so many events.

    The walk stops where more penalised features than allowed would be used; a negative number allows all of them, and
    0 stops where the first coefficient is about to leave zero.
    """
    n, p = len(S.r), len(S.c)
    R = room(n, p, S.G.shape[0], S.W.shape[1])
    patience, since, total = 10 * (n + p) + 500, 0, 0
    is_stuck = np.zeros(1, np.bool_)
    g = moved_weights(D, S, L, R)
    while True:
        k, m = S.num[K], S.num[M]
        if k + 2 > S.G.shape[0] or m + 2 > S.W.shape[1]:
            return GROW
        if total >= most or S.num[EVENTS] + 4 > len(log.u) > 0:
            return FULL
        fast, b, noise = rates(D, S, L, R, g)
        if k > 0 and S.x[WORST] > _BROKEN:
            if not factor(D, S):
                return SINGULAR
            fast, b, noise = rates(D, S, L, R, g)
        unit = 1.0 if fast else S.x[LAM2]
        best, kind, at, to = _FAR if fast else max(S.x[U] - u_end, 0.0), 0, 0, 0
        if not fast:
            t, who, where = leaving(k, S.E, S.alpha, S.w, L.dw, R.da, S.x[FLOOR], offset(S.num, k))
            if who >= 0 and is_next(S.num, t, best):
                best, kind, at, to = t, 1, who, where
            push = 0.0
            for a in range(k):
                push += abs(R.da[a])
            for i in L.moving:
                push += abs(L.dw[i])
            t, who, where = entering(S.sign, S.c, D.om, D.zmax, S.x[LAM1], L.d1, R.dc, push, offset(S.num, p))
            if who >= 0 and is_next(S.num, t, best):
                best, kind, at, to = t, 2, who, where
        if fast or unit > 0.0:
            t, who = vanishing(m, S.A, S.sign, S.beta, R.dx, unit, offset(S.num, m))
            if who >= 0 and is_next(S.num, t, best):
                best, kind, at = t, 3, who
            t, who = hitting(S.place, S.r, R.dr, unit, noise, offset(S.num, n))
            if who >= 0 and is_next(S.num, t, best):
                best, kind, at = t, 4, who
        if best >= _FAR:
            return UNBOUNDED
        if most_features == 0 and kind >= 3 and best * noise <= _UNUSED * _NOISE * unit:
            best = 0.0  # a tie: nothing must move before the first coefficient does
        still = best * noise <= _STILL * _NOISE if fast else best <= _SOON * S.x[U]
        if most_features >= 0 and not still and in_use(S, R, D.zmax, best / max(unit, 1e-300)) > most_features:
            settle(D, S, R)
            return STOP
        advance(D, S, L, R, best, b, fast)
        if kind == 0:
            S.x[U] = u_end
            settle(D, S, R)
            return END
        S.num[IDLE] = S.num[IDLE] + 1 if still or fast else 0
        if S.num[IDLE] > patience:
            return LOST
        total += 1
        since += 1
        fine = True
        if kind == 1:
            fine = leave(S, log, at, to)
        elif kind == 2:
            enter(D, S, R, log, at, to)
        elif kind == 3:
            fine = vanish(D, S, R, log, at)
        else:
            fine = hit(D, S, R, log, at, is_stuck)
        if is_stuck[0] or (not fine and not factor(D, S)):
            return SINGULAR
        if since >= _SYNC:
            settle(D, S, R)
            since = 0
        if len(L.moving) > 0:
            g = moved_weights(D, S, L, R)


@_inner
def in_use(S: State, R: Work, zmax: Array, go: float) -> int:
    """The number of penalised features whose coefficient, after ``go`` times R.dx, moves margins at all."""
    count = 0
    for j in range(S.num[M]):
        at = S.A[j]
        if S.sign[at] != FREE and max(abs(S.beta[at]), abs(S.beta[at] + go * R.dx[j])) * zmax[at] > _UNUSED:
            count += 1
    return count


# --- leaving out one sample after another ----------------------------------------------------------------------------


@_inner
def copy(source: State, S: State) -> None:
    """S becomes a copy."""
    k, m = source.num[K], source.num[M]
    for j in range(len(S.x)):
        S.x[j] = source.x[j]
    for j in range(len(S.num)):
        S.num[j] = source.num[j]
    for i in range(len(S.r)):
        S.w[i], S.alpha[i], S.r[i], S.place[i] = source.w[i], source.alpha[i], source.r[i], source.place[i]
    for j in range(len(S.c)):
        S.beta[j], S.c[j], S.sign[j] = source.beta[j], source.c[j], source.sign[j]
    for j in range(m):
        S.A[j] = source.A[j]
    for a in range(k):
        S.E[a] = source.E[a]
        for j in range(m):
            S.W[a, j] = source.W[a, j]
        for b in range(k):
            S.G[a, b] = source.G[a, b]


@_inner
def middle(y: Array, w: Array, alpha: Array, r: Array, skip: int) -> float:
    """What the offset lacks to the middle of its interval, without one sample; zero where an elbow sample fixes it."""
    low, high = -_FAR, _FAR
    for i in range(len(r)):
        if i == skip or w[i] == 0.0:
            continue
        is_low, is_high = alpha[i] <= _AT_BOUND * w[i], alpha[i] >= (1.0 - _AT_BOUND) * w[i]
        if not is_low and not is_high:
            return 0.0
        if is_low == (
            y[i] > 0.0
        ):  # y f must not fall below one (alpha = 0, y > 0), or not rise above (alpha = w, y < 0)
            low = max(low, y[i] * r[i])
        else:
            high = min(high, y[i] * r[i])
    if low > -_FAR and high < _FAR:
        return 0.5 * (low + high)
    return low if low > -_FAR else (high if high < _FAR else 0.0)


@_jit
def leave_out(D: Data, base: State, S: State, most: int, f: Array, code: Array, off: Array) -> None:
    """Decision values f of all samples, each left out of the machine at ``base``; how each walk ended, and its error.

    With ``most`` >= 0 nobody changes place after so many events (code FULL): the rest of the way is straight.
    """
    n = len(f)
    w0, dw, moving = base.w.copy(), np.zeros(n), np.zeros(1, np.int64)
    limit = _REMOVAL * (n + len(base.c)) + 1000
    log = Log(np.empty(0), np.empty(0, np.bool_), np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.int8))
    for i in range(n):
        code[i], off[i] = END, 0.0
        if not base.alpha[i] > 0.0 or base.w[i] == 0.0:
            f[i] = D.y[i] * (D.mg[i] - base.r[i]) + middle(D.y, base.w, base.alpha, base.r, i)
            continue
        copy(base, S)
        S.x[U] = 1.0
        if S.place[i] == ELBOW:  # as much of its weight as it does not use goes at once
            S.w[i] = S.alpha[i]
            for at in range(S.num[K]):
                if S.E[at] == i:
                    break
            if not leave(S, log, at, LEFT) and not factor(D, S):
                code[i] = SINGULAR
                continue
        w0[i], dw[i], moving[0] = 0.0, -S.w[i], i
        L = Course(base.x[LAM1], base.x[LAM2], 0.0, 0.0, w0, dw, moving)
        code[i] = run(D, S, L, log, 0.0, limit if most < 0 else most, -1)
        r = S.r[i]
        if code[i] == FULL and most >= 0:
            R = room(n, len(S.c), S.G.shape[0], S.W.shape[1])
            fast, _, _ = rates(D, S, L, R, moved_weights(D, S, L, R))
            if not fast and S.x[LAM2] > 0.0:
                r += S.x[U] * R.dr[i] / S.x[LAM2]
        f[i] = D.y[i] * (D.mg[i] - r)
        if code[i] == END:
            off[i] = wrong(D, S)
            S.w[i] = 0.0
            f[i] += middle(D.y, S.w, S.alpha, S.r, i)
        w0[i], dw[i] = base.w[i], 0.0

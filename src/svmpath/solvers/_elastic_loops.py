"""Compiled loops of the elastic-net hinge machine: the walk from event to event (see ``solvers.elastic``).

Letters as there. E holds the k samples on the elbow and A the m active features, in the order of W and G::

    W = Z_EA,    M = [W, sqrt(tau) y_E],    G = (M M')^-1 = (W W' + tau y_E y_E')^-1

All that is ever solved for, given e (one per elbow sample), f (one per active feature) and g, is

    W x + y_E b = e,    x = W'a + f,    y_E'a = -g            ("solve")

with e = lambda2' (times the margins), f = Z_LA' w_L' - lambda1' om s and g = y_L' w_L' for the rates of lambda2 beta,
lambda2 b and alpha along a line. tau > 0 is arbitrary: it makes the matrix positive definite without changing the
answer.

``run`` returns to Python after some work, and whenever G has to be made anew: that is LAPACK's. So an interrupt is
seen soon, and little has to be compiled. For the same reason many short vectors are rows of a few arrays: every array
that is handed from function to function costs time to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

Array = np.ndarray

RIGHT, ELBOW, LEFT, OUT = 0, 1, 2, 3  # places of a sample; OUT has no weight and is only watched
ZERO, PLUS, MINUS, FREE = 0, 1, -1, 2  # of a feature: FREE is active without a penalty
END, FULL, GROW, STOP, LOST, UNBOUNDED, SINGULAR, PAUSE, REFACTOR = 0, 1, 2, 3, 4, 5, 6, 7, 8

# State.x: the value and the parameters there; what the last solution said of itself; what the line begins with and
# gains on a way of length one; and when a row counts as dependent on others, relative to its length.
U, LAM1, LAM2, B, FIRST_RESIDUAL, RESIDUAL, FLOOR, TAU, LINE1, LINE2, D1, D2, DEPENDENT = range(13)
K, M, SEED, IDLE, EVENTS, NULLS, IS_FRESH = range(7)  # State.num; fresh: G is LAPACK's, not updated yet
Y, MARGIN, WEIGHT, ALPHA, R, DR, W0, DW = range(8)  # rows of State.N, one number per sample
OM, ZMAX, BETA, C, DC, CW = range(6)  # rows of State.P, one number per feature; CW is Z_L' w_L'
DA, DX, F_, E_, V_, Q_, H_, Z_, U_ = range(9)  # rows of State.Q: room for vectors as long as E or A

_NOISE = 1e-10  # a rate below this, in units of what it is made of, is none
_CANCELLED = 1e-13  # and in units of the terms that cancel in it
_FLAT = 1e-12  # the same for what is left of f outside the span of the elbow
_REFINED, _BROKEN, _USELESS = 1e-13, 1e-8, 1e-6  # of a residual: good; G is made anew; even a new G does not solve
_ROUNDS = 6  # of refinement
_STALE = 1e-4  # a pivot below this, relative, leaves G with too few digits
_TIE = 1e-12  # steps that differ by less, relative, are one
_SOON = 1e-15  # a step shorter than this, relative to the value, is none
_STILL = 1e-13  # and so is one at a constant parameter that moves margins by less
_UNUSED = 1e-8  # a coefficient that moves margins by less is not in use: ties have steps of rounding
_PATIENCE = 40  # steps of length zero before ties are broken at random
_FAR = 1e300

_options: Any = {
    "_nrt": False,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
_jit: Any = njit(cache=True, **_options)
# For what is called by compiled code only: without doors for Python it compiles faster.
_without_doors: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_options}
_inner: Any = njit(**_without_doors)


class Data(NamedTuple):
    """Z = diag(y) X by rows and by columns: dense (Zr, Zc), or sparse with Zr empty.

    Sparse rows are numbers ``rv`` with ``ri``: first the n + 1 pointers, then the column of each number; columns alike.
    """

    Zr: Array
    Zc: Array
    ri: Array
    rv: Array
    ci: Array
    cv: Array


class State(NamedTuple):
    """Where the walk stands, and on which line; all of it is changed in place. Rows: see the top of this file."""

    x: Array
    num: Array
    N: Array
    P: Array
    place: Array
    sign: Array
    E: Array
    A: Array
    W: Array
    G: Array
    Q: Array


# --- products with Z -------------------------------------------------------------------------------------------------


@_inner
def add_products(
    Z: Array, index: Array, number: Array, size: int, rows: Array, x: Array, count: int, out: Array
) -> None:
    """``out += sum_a x_a Z[rows_a]``: by rows one number per feature, by columns one per sample.

    Dense rows are taken some at a time so that ``out`` is read and written less often. Sparse ones number ``size``.
    """
    a = 0
    if Z.shape[0] == 0:
        while a < count:
            for at in range(index[rows[a]], index[rows[a] + 1]):
                out[index[size + 1 + at]] += x[a] * number[at]
            a += 1
    while a + 8 <= count:
        z0, z1, z2, z3 = Z[rows[a]], Z[rows[a + 1]], Z[rows[a + 2]], Z[rows[a + 3]]
        z4, z5, z6, z7 = Z[rows[a + 4]], Z[rows[a + 5]], Z[rows[a + 6]], Z[rows[a + 7]]
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        x4, x5, x6, x7 = x[a + 4], x[a + 5], x[a + 6], x[a + 7]
        for i in range(Z.shape[1]):
            out[i] += (x0 * z0[i] + x1 * z1[i] + x2 * z2[i] + x3 * z3[i]) + (
                x4 * z4[i] + x5 * z5[i] + x6 * z6[i] + x7 * z7[i]
            )
        a += 8
    while a < count:
        z0, x0 = Z[rows[a]], x[a]
        for i in range(Z.shape[1]):
            out[i] += x0 * z0[i]
        a += 1


@_inner
def add_one(Z: Array, index: Array, number: Array, size: int, row: int, x: float, out: Array) -> None:
    """``out += x Z[row]``."""
    if Z.shape[0] > 0:
        for j in range(len(out)):
            out[j] += x * Z[row, j]
    else:
        for at in range(index[row], index[row + 1]):
            out[index[size + 1 + at]] += x * number[at]


@_inner
def entry(Zr: Array, ri: Array, rv: Array, n: int, i: int, j: int) -> float:
    """z_ij."""
    if Zr.shape[0] > 0:
        return Zr[i, j]
    low, high = ri[i], ri[i + 1]
    while low < high:
        middle = (low + high) // 2
        if ri[n + 1 + middle] < j:
            low = middle + 1
        else:
            high = middle
    return rv[low] if low < ri[i + 1] and ri[n + 1 + low] == j else 0.0


# --- the elbow system ------------------------------------------------------------------------------------------------


@_inner
def gather(W: Array, k: int, m: int, x: Array, out: Array) -> None:
    """``out = W x`` on the leading block."""
    for a in range(k):
        row, total = W[a], 0.0
        for j in range(m):
            total += row[j] * x[j]
        out[a] = total


@_inner
def spread(W: Array, k: int, m: int, x: Array, out: Array) -> None:
    """``out += W'x`` on the leading block."""
    a = 0
    while a + 4 <= k:
        w0, w1, w2, w3, x0, x1, x2, x3 = W[a], W[a + 1], W[a + 2], W[a + 3], x[a], x[a + 1], x[a + 2], x[a + 3]
        for j in range(m):
            out[j] += (x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
        a += 4
    while a < k:
        row, x0 = W[a], x[a]
        for j in range(m):
            out[j] += x0 * row[j]
        a += 1


@_inner
def rank_one(G: Array, k: int, q: Array, scale: float) -> None:
    """``G += scale q q'``."""
    for a in range(k):
        row, x = G[a], scale * q[a]
        for b in range(k):
            row[b] += x * q[b]


@_inner
def solve(S: State, g: float) -> float:
    """The system of the module's first lines with e, f in Q: a in Q[DA], x in Q[DX]; returns b. Needs k >= 1."""
    x, E, A, Q, G, W, zmax = S.x, S.E, S.A, S.Q, S.G, S.W, S.P[ZMAX]
    k, m, tau, y = S.num[K], S.num[M], x[TAU], S.N[Y]
    da, dx, f, e, v, q, h, z = Q[DA], Q[DX], Q[F_], Q[E_], Q[V_], Q[Q_], Q[H_], Q[Z_]
    gather(W, k, m, f, v)
    for a in range(k):
        h[a] = y[E[a]]
        v[a] = e[a] - v[a] - tau * g * h[a]
    gather(G, k, k, h, q)
    gather(G, k, k, v, da)
    up, yy = 0.0, 0.0
    for a in range(k):
        up += h[a] * da[a]
        yy += h[a] * q[a]
    b, floor = (up + g) / yy, 0.0
    for a in range(k):
        floor = max(floor, abs(da[a]) + abs(b * q[a]))
        da[a] -= b * q[a]
    x[FIRST_RESIDUAL] = -1.0
    for _ in range(_ROUNDS):  # measured; refined where rounding has taken too much
        for j in range(m):
            dx[j] = f[j]
        spread(W, k, m, da, dx)
        gather(W, k, m, dx, v)
        scale, worst, left = abs(b), 0.0, -g
        for j in range(m):
            scale += (abs(dx[j]) + abs(f[j])) * zmax[A[j]]  # x may be nothing but what is left of f
        for a in range(k):
            scale = max(scale, abs(e[a]))
            v[a] = e[a] - h[a] * b - v[a]
            left -= h[a] * da[a]
            worst = max(worst, abs(v[a]))
        x[RESIDUAL] = worst / scale if scale > 0.0 else 0.0
        if x[FIRST_RESIDUAL] < 0.0:
            x[FIRST_RESIDUAL] = x[RESIDUAL]
        if not worst > _REFINED * scale:
            break
        for a in range(k):
            v[a] += tau * left * h[a]
        gather(G, k, k, v, z)
        up = -left
        for a in range(k):
            up += h[a] * z[a]
        db = up / yy
        b += db
        for a in range(k):
            da[a] += z[a] - db * q[a]
    x[FLOOR] = _CANCELLED * floor
    if k == 1:
        da[0] = -g * h[0]
    return b


@_inner
def add_row(D: Data, S: State, i: int, d: float) -> None:
    """Sample i joins E, with Q[Q_] = G M m_i and the squared distance d of its row from the others; 0: without G."""
    k, G, q, n = S.num[K], S.G, S.Q[Q_], len(S.place)
    for j in range(S.num[M]):
        S.W[k, j] = entry(D.Zr, D.ri, D.rv, n, i, S.A[j])
    if d > 0.0:
        rank_one(G, k, q, 1.0 / d)
        for a in range(k):
            G[a, k] = G[k, a] = -q[a] / d
        G[k, k] = 1.0 / d
    S.E[k] = i
    S.num[K] = k + 1
    S.num[IS_FRESH] = 0
    S.place[i] = ELBOW


@_inner
def drop_column(S: State, at: int) -> bool:
    """The feature at that position leaves A; False where G has to be made anew."""
    k, last, z, q = S.num[K], S.num[M] - 1, S.Q[Z_], S.Q[Q_]
    for a in range(k):
        z[a] = S.W[a, at]
        S.W[a, at] = S.W[a, last]
    S.sign[S.A[at]] = ZERO
    S.A[at] = S.A[last]
    S.num[M], S.num[IS_FRESH] = last, 0
    gather(S.G, k, k, z, q)
    left = 1.0
    for a in range(k):
        left -= z[a] * q[a]
    if not left > _STALE:
        return False
    rank_one(S.G, k, q, 1.0 / left)
    return True


@_inner
def distance(D: Data, S: State, i: int) -> tuple[float, float]:
    """Squared distance of row m_i from the rows of M, and its squared length; Q[Q_] = G M m_i."""
    k, m, tau, W, G, E, y = S.num[K], S.num[M], S.x[TAU], S.W, S.G, S.E, S.N[Y]
    u, v, q, z, dx = S.Q[U_], S.Q[V_], S.Q[Q_], S.Q[Z_], S.Q[DX]
    size, n = tau, len(S.place)
    for j in range(m):
        u[j] = dx[j] = entry(D.Zr, D.ri, D.rv, n, i, S.A[j])
        size += u[j] * u[j]
    for a in range(k):
        q[a] = 0.0
    last, d = y[i], size
    for again in range(3):
        gather(W, k, m, dx, v)
        for a in range(k):
            v[a] += tau * last * y[E[a]]
        gather(G, k, k, v, z)
        for a in range(k):
            q[a] += z[a]
            d -= v[a] * z[a]
        if again == 0 and d > _STALE * size:
            break
        # Too much has cancelled: from the residual itself.
        last = y[i]
        for j in range(m):
            dx[j] = u[j]
        for a in range(k):
            last -= y[E[a]] * q[a]
            z[a] = -q[a]
        spread(W, k, m, z, dx)
        d = tau * last * last
        for j in range(m):
            d += dx[j] * dx[j]
    return d, size


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
def tell(x: Array, num: Array, when: Array, what: Array, feature: int, index: int, source: int, target: int) -> None:
    """Write an event down: where; whether a feature's, whose, from which place to which."""
    at = num[EVENTS]
    if at < len(when):
        when[at] = x[U]
        what[at, 0], what[at, 1], what[at, 2], what[at, 3] = feature, index, source, target
    num[EVENTS] = at + 1


@_inner
def moved_weights(D: Data, S: State, moving: Array) -> float:
    """Z_L' w_L' in P[CW]; returns y_L' w_L'."""
    g, cw, dw, n = 0.0, S.P[CW], S.N[DW], len(S.place)
    for j in range(len(cw)):
        cw[j] = 0.0
    for i in moving:
        if S.place[i] == LEFT:
            g += S.N[Y, i] * dw[i]
            add_one(D.Zr, D.ri, D.rv, n, i, dw[i], cw)
    return g


@_inner
def rates(D: Data, S: State, g: float) -> tuple[bool, float, float]:
    """Rates along the line in Q, N[DR], P[DC]; whether the step is fast (at a constant parameter), b', noise in dr."""
    x, A, E, place, sign = S.x, S.A, S.E, S.place, S.sign
    beta, cw, dc, om, zmax = S.P[BETA], S.P[CW], S.P[DC], S.P[OM], S.P[ZMAX]
    y, dr, margin, r = S.N[Y], S.N[DR], S.N[MARGIN], S.N[R]
    da, dx, f, e, u = S.Q[DA], S.Q[DX], S.Q[F_], S.Q[E_], S.Q[U_]
    k, m, d2, n, p = S.num[K], S.num[M], x[D2], len(place), len(sign)
    largest = 0.0
    for j in range(m):
        at = A[j]
        f[j] = cw[at] - (0.0 if sign[at] == FREE else x[D1] * om[at] * sign[at])
        largest = max(largest, abs(f[j]))
    is_flat = True  # lambda2 beta moves with lambda2 alone
    if k == 0:
        b = d2 * x[B]
        for j in range(m):
            dx[j] = f[j] if g == 0.0 else 0.0
            is_flat = is_flat and f[j] == d2 * beta[A[j]]
        if g != 0.0:  # nobody takes up the weight that is lost: the offset moves alone
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
                if abs(dx[j] - d2 * beta[at]) > _FLAT * (largest + push * zmax[at]):
                    is_flat = False
                    break
        if is_flat:
            b = d2 * x[B]
            for j in range(m):
                dx[j] = d2 * beta[A[j]]
    fast = (k == 0 and g != 0.0) or (x[LAM2] == 0.0 and not is_flat)
    pull = 0.0 if fast else d2
    noise = abs(b) + abs(pull)
    for j in range(m):
        noise += abs(dx[j]) * zmax[A[j]]
        u[j] = -dx[j]
    for i in range(n):
        dr[i] = d2 * r[i] if is_flat else pull * margin[i] - y[i] * b
    if not is_flat:
        add_products(D.Zc, D.ci, D.cv, p, A, u, m, dr)
    for a in range(k):
        dr[E[a]] = 0.0
        da[a] = 0.0 if fast else da[a]
    for j in range(p):
        dc[j] = 0.0 if fast else cw[j]
    if not fast:
        add_products(D.Zr, D.ri, D.rv, n, E, da, k, dc)
    return fast, b, _NOISE * noise


@_inner
def leaving(num: Array, E: Array, N: Array, da: Array, is_moving: bool, floor: float) -> tuple[float, int, int]:
    """Who of the elbow reaches a bound first: the step, its position and where it goes; rates below floor are none.

    Each of these searches begins anywhere where the walk has stood still for long, so that another of several equal
    steps can be found.
    """
    k, alpha, w, dw = num[K], N[ALPHA], N[WEIGHT], N[DW]
    skip = offset(num, k)
    t, at, to, least = _FAR, -1, 0, floor
    for a in range(k):
        least = max(least, _NOISE * abs(da[a]))
        if is_moving:
            least = max(least, _NOISE * abs(dw[E[a]]))
    for step in range(k):
        a = (step + skip) % k
        i = E[a]
        up = da[a] - dw[i] if is_moving else da[a]
        if da[a] < -least and max(alpha[i], 0.0) < t * -da[a]:
            t, at, to = max(alpha[i], 0.0) / -da[a], a, RIGHT
        if up > least and max(w[i] - alpha[i], 0.0) < t * up:
            t, at, to = max(w[i] - alpha[i], 0.0) / up, a, LEFT
    return t, at, to


@_inner
def entering(num: Array, sign: Array, P: Array, lam1: float, d1: float, push: float) -> tuple[float, int, int]:
    """Which feature reaches its threshold first, and on which side; ``push`` is the sum of the rates that make dc."""
    c, om, zmax, dc = P[C], P[OM], P[ZMAX], P[DC]
    t, at, to, p = _FAR, -1, 0, len(sign)
    skip = offset(num, p)
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
def vanishing(num: Array, A: Array, sign: Array, beta: Array, dx: Array, unit: float) -> tuple[float, int]:
    """Which coefficient reaches zero first."""
    m = num[M]
    t, at, least, skip = _FAR, -1, 0.0, offset(num, m)
    for j in range(m):
        least = max(least, _NOISE * abs(dx[j]))
    for step in range(m):
        j = (step + skip) % m
        s = 0 if sign[A[j]] == FREE else sign[A[j]]
        if s * dx[j] < -least and unit * max(s * beta[A[j]], 0.0) < t * -(s * dx[j]):
            t, at = unit * max(s * beta[A[j]], 0.0) / -(s * dx[j]), j
    return t, at


@_inner
def hitting(num: Array, place: Array, r: Array, dr: Array, unit: float, noise: float) -> tuple[float, int]:
    """Who reaches the elbow first."""
    t, at, n = _FAR, -1, len(place)
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
def first_event(S: State, u_end: float, fast: bool, noise: float, moving: Array) -> tuple[float, int, int, int]:
    """What ends the step: its length, kind (0 the end, 1 leave, 2 enter, 3 vanish, 4 hit), who, and where to."""
    unit = 1.0 if fast else S.x[LAM2]
    best, kind, at, to = _FAR if fast else max(S.x[U] - u_end, 0.0), 0, 0, 0
    if not fast:
        t, who, where = leaving(S.num, S.E, S.N, S.Q[DA], len(moving) > 0, S.x[FLOOR])
        if who >= 0 and is_next(S.num, t, best):
            best, kind, at, to = t, 1, who, where
        push = 0.0
        for a in range(S.num[K]):
            push += abs(S.Q[DA, a])
        for i in moving:
            push += abs(S.N[DW, i])
        t, who, where = entering(S.num, S.sign, S.P, S.x[LAM1], S.x[D1], push)
        if who >= 0 and is_next(S.num, t, best):
            best, kind, at, to = t, 2, who, where
    if fast or unit > 0.0:
        t, who = vanishing(S.num, S.A, S.sign, S.P[BETA], S.Q[DX], unit)
        if who >= 0 and is_next(S.num, t, best):
            best, kind, at = t, 3, who
        t, who = hitting(S.num, S.place, S.N[R], S.N[DR], unit, noise)
        if who >= 0 and is_next(S.num, t, best):
            best, kind, at = t, 4, who
    return best, kind, at, to


@_inner
def advance(S: State, t: float, b: float, fast: bool, moving: Array) -> None:
    """Go a step of length t."""
    k, m, x, E, A = S.num[K], S.num[M], S.x, S.E, S.A
    beta, c, dc, r, dr, alpha, w = S.P[BETA], S.P[C], S.P[DC], S.N[R], S.N[DR], S.N[ALPHA], S.N[WEIGHT]
    old = 1.0 if fast else x[LAM2]
    new = old if fast else max(x[LINE2] - (x[U] - t) * x[D2], 0.0)
    if new > 0.0 and t != 0.0:
        keep, go = old / new, t / new
        for j in range(m):
            beta[A[j]] = keep * beta[A[j]] + go * S.Q[DX, j]
        x[B] = keep * x[B] + go * b
        for i in range(len(r)):
            r[i] = keep * r[i] + go * dr[i]
    if not fast:
        x[U] -= t
        x[LAM1] = max(x[LINE1] - x[U] * x[D1], 0.0)
        x[LAM2] = new
        for a in range(k):
            alpha[E[a]] += t * S.Q[DA, a]
        for j in range(len(c)):
            c[j] += t * dc[j]
        for i in moving:
            w[i] = max(S.N[W0, i] - x[U] * S.N[DW, i], 0.0)
            if S.place[i] == LEFT:
                alpha[i] = w[i]
    for a in range(k):
        r[E[a]] = 0.0


@_inner
def leave(S: State, when: Array, what: Array, at: int, to: int) -> bool:
    """The elbow sample at that position goes to the left or to the right; False where G has to be made anew."""
    i, last, W, G, E = S.E[at], S.num[K] - 1, S.W, S.G, S.E
    S.N[ALPHA, i] = 0.0 if to == RIGHT else S.N[WEIGHT, i]
    S.N[R, i] = 0.0
    tell(S.x, S.num, when, what, 0, i, ELBOW, to)
    S.place[i] = to
    E[at] = E[last]
    for j in range(S.num[M]):
        W[at, j] = W[last, j]
    if at != last:
        for b in range(last + 1):
            G[at, b], G[last, b] = G[last, b], G[at, b]
        for a in range(last + 1):
            G[a, at], G[a, last] = G[a, last], G[a, at]
    pivot = G[last, last]
    S.num[K], S.num[IS_FRESH] = last, 0
    if not pivot > 0.0:
        return False
    rank_one(G, last, G[last], -1.0 / pivot)
    return True


@_inner
def enter(D: Data, S: State, when: Array, what: Array, j: int, sign: int) -> None:
    """Feature j comes to its threshold and joins A."""
    k, m, z, q, n = S.num[K], S.num[M], S.Q[Z_], S.Q[Q_], len(S.place)
    S.P[C, j] = sign * S.x[LAM1] * S.P[OM, j]
    tell(S.x, S.num, when, what, 1, j, ZERO, sign)
    for a in range(k):
        S.W[a, m] = z[a] = entry(D.Zr, D.ri, D.rv, n, S.E[a], j)
    S.A[m] = j
    S.num[M], S.num[IS_FRESH] = m + 1, 0
    S.sign[j] = sign
    gather(S.G, k, k, z, q)
    total = 1.0
    for a in range(k):
        total += z[a] * q[a]
    rank_one(S.G, k, q, -1.0 / total)


@_inner
def null_step(D: Data, S: State, i: int, turn: float, j: int, far: float) -> tuple[float, int, int, int]:
    """Alpha_E moves by Q[DA], and alpha_i by turn if i >= 0, while beta stands still, until somebody gives way.

    Returns its length, kind (0 nobody before ``far``, 1 leave, 2 enter), who, and where to. With j >= 0 that active
    feature's c comes away from its threshold, and the other one is ``far``.
    """
    dc, n, k, da, num = S.P[DC], len(S.place), S.num[K], S.Q[DA], S.num
    num[NULLS] += 1
    for a in range(len(dc)):
        dc[a] = 0.0
    push = abs(turn)
    if i >= 0:
        add_one(D.Zr, D.ri, D.rv, n, i, turn, dc)
    add_products(D.Zr, D.ri, D.rv, n, S.E, da, k, dc)
    for a in range(k):
        push += abs(da[a])
    kind, at, to, best = 0, 0, 0, far
    if j >= 0:
        speed = -S.sign[j] * dc[j]
        best = 2.0 * S.x[LAM1] * S.P[OM, j] / speed if speed > 0.0 else _FAR
    t, who, where = leaving(num, S.E, S.N, da, False, 0.0)
    if who >= 0 and is_next(num, t, best):
        best, kind, at, to = t, 1, who, where
    t, who, where = entering(num, S.sign, S.P, S.x[LAM1], 0.0, push)
    if who >= 0 and is_next(num, t, best):
        best, kind, at, to = t, 2, who, where
    if best < _FAR:
        for a in range(k):
            S.N[ALPHA, S.E[a]] += best * da[a]
        for a in range(len(dc)):
            if S.sign[a] == ZERO:
                S.P[C, a] += best * dc[a]
    return best, kind, at, to


@_inner
def hit(D: Data, S: State, when: Array, what: Array, i: int) -> int:
    """Sample i comes to the elbow; where its row depends on the others, somebody gives way ("null step").

    1 where G is as good as before, 0 where it has to be made anew, -1 where that comes first and nothing was done.
    """
    source = S.place[i]
    S.N[R, i] = 0.0
    d, size = distance(D, S, i)
    is_far, is_full = d > S.x[DEPENDENT] ** 2 * size, S.num[K] > S.num[M]
    if is_far and (is_full or not d > _STALE * size) and S.num[IS_FRESH] == 0:
        return -1  # nearly dependent, or G has lost its digits: measured again with a new one
    if is_far and not is_full:
        tell(S.x, S.num, when, what, 0, i, source, ELBOW)
        add_row(D, S, i, d)
        return 1 if d > _STALE * size else 0
    # alpha_i moves away from its bound, E makes up for it, and no c of A changes.
    turn = 1.0 if source == RIGHT else -1.0
    for a in range(S.num[K]):
        S.Q[DA, a] = -turn * S.Q[Q_, a]
    t, kind, at, to = null_step(D, S, i, turn, -1, S.N[WEIGHT, i])
    S.N[ALPHA, i] += turn * t
    if kind == 0:
        to = LEFT if source == RIGHT else RIGHT
        S.N[ALPHA, i] = 0.0 if to == RIGHT else S.N[WEIGHT, i]
        tell(S.x, S.num, when, what, 0, i, source, to)
        S.place[i] = to
        return 1
    fine = True
    if kind == 1:
        fine = leave(S, when, what, at, to)
    else:
        enter(D, S, when, what, at, to)
    tell(S.x, S.num, when, what, 0, i, source, ELBOW)
    if fine:
        d, size = distance(D, S, i)
        fine = d > _STALE * size
    add_row(D, S, i, d if fine else 0.0)
    return 1 if fine else 0


@_inner
def vanish(D: Data, S: State, when: Array, what: Array, at: int) -> int:
    """The active feature at that position comes to zero; where E needs its column, somebody else gives way.

    1 where G is as good as before, 0 where it has to be made anew, -2 where nothing gives way.
    """
    k, j, lam1 = S.num[K], S.A[at], S.x[LAM1]
    sign, wall = S.sign[j], lam1 * S.P[OM, j]
    S.P[BETA, j] = 0.0
    for a in range(k):
        S.Q[Z_, a] = S.W[a, at]
    gather(S.G, k, k, S.Q[Z_], S.Q[Q_])
    if k <= S.num[M] and not is_needed(S, at):
        tell(S.x, S.num, when, what, 1, j, sign, ZERO)
        S.P[C, j] = sign * wall
        return 1 if drop_column(S, at) else 0
    # alpha_E moves along the null vector of the other columns, so that c_j comes away from its threshold.
    s = float(sign)
    for a in range(k):
        S.Q[DA, a] = -s * S.Q[Q_, a]
    t, kind, other, to = null_step(D, S, -1, 0.0, j, 0.0)
    if t >= _FAR:
        return -2
    S.P[C, j] = s * wall + t * S.P[DC, j]
    if kind == 0:
        S.sign[j] = -sign
        S.P[C, j] = -s * wall
        tell(S.x, S.num, when, what, 1, j, sign, -sign)
        return 1
    tell(S.x, S.num, when, what, 1, j, sign, ZERO)
    fine = True
    if kind == 1:
        fine = leave(S, when, what, other, to)
    else:
        enter(D, S, when, what, other, to)
    return 1 if drop_column(S, at) and fine else 0


@_inner
def is_needed(S: State, at: int) -> bool:
    """Whether the rows of M depend on each other without the column at that position; Q[Q_] = G z of it."""
    k, m, q, u, zmax = S.num[K], S.num[M], S.Q[Q_], S.Q[U_], S.P[ZMAX]
    left = 1.0
    for a in range(k):
        left -= S.Q[Z_, a] * q[a]
    if left > _STALE or k == 0:
        return False
    for j in range(m):
        u[j] = 0.0
    spread(S.W, k, m, q, u)
    last, size, length, norm = 0.0, 0.0, 0.0, S.x[TAU]
    for a in range(k):
        last += S.N[Y, S.E[a]] * q[a]
        length += q[a] * q[a]
    for j in range(m):
        norm = max(norm, zmax[S.A[j]] ** 2)
        if j != at:
            size += u[j] * u[j]
    size += S.x[TAU] * last * last
    return size <= (10.0 * S.x[DEPENDENT]) ** 2 * length * norm


@_inner
def in_use(S: State, go: float) -> int:
    """The number of penalised features whose coefficient, after ``go`` times Q[DX], moves margins at all."""
    count = 0
    for j in range(S.num[M]):
        at = S.A[j]
        here = S.P[BETA, at]
        if S.sign[at] != FREE and max(abs(here), abs(here + go * S.Q[DX, j])) * S.P[ZMAX, at] > _UNUSED:
            count += 1
    return count


@_jit
def run(
    D: Data, S: State, moving: Array, when: Array, what: Array, u_end: float, most: int, most_features: int, budget: int
) -> int:
    """Walk until the value is u_end, through at most so many events; ``moving`` are the samples whose weight moves.

    The walk stops where more penalised features than allowed would be used; a negative number allows all of them, and
    0 stops where the first coefficient is about to leave zero. Returns END, STOP, or FULL where the events or the room
    to write them down are used up; GROW, REFACTOR or PAUSE (after so many numbers were touched) to be
    called again; or why it is lost.
    """
    n, p, x, num = len(S.place), len(S.sign), S.x, S.num
    patience, work = 10 * (n + p) + 500, 0
    g = moved_weights(D, S, moving)
    while work < budget:
        k, m = num[K], num[M]
        if k + 2 > S.G.shape[0] or m + 2 > S.W.shape[1]:
            return GROW
        if num[EVENTS] + 4 > len(when) > 0:
            return FULL
        fast, b, noise = rates(D, S, g)
        work += 6 * k * (k + m) + n * m + p * k + 10 * (n + p) + 1000
        if k > 0 and x[FIRST_RESIDUAL] > _BROKEN and num[IS_FRESH] == 0:
            return REFACTOR
        if k > 0 and not x[RESIDUAL] <= _USELESS:
            return SINGULAR
        best, kind, at, to = first_event(S, u_end, fast, noise, moving)
        if best >= _FAR:
            return UNBOUNDED
        if kind != 0 and most >= 0 and num[EVENTS] >= most:
            return FULL
        unit = 1.0 if fast else x[LAM2]
        if most_features == 0 and kind >= 3 and best * noise <= _UNUSED * _NOISE * unit:
            best = 0.0  # a tie: nothing must move before the first coefficient does
        still = best * noise <= _STILL * _NOISE if fast else best <= _SOON * x[U]
        if most_features >= 0 and not still and in_use(S, best / max(unit, 1e-300)) > most_features:
            return STOP
        advance(S, best, b, fast, moving)
        if kind == 0:
            x[U] = u_end
            return END
        num[IDLE] = num[IDLE] + 1 if still or fast else 0
        if num[IDLE] > patience:
            return LOST
        fine = 1
        if kind == 1:
            fine = 1 if leave(S, when, what, at, to) else 0
        elif kind == 2:
            enter(D, S, when, what, at, to)
        elif kind == 3:
            fine = vanish(D, S, when, what, at)
        else:
            fine = hit(D, S, when, what, at)
        if fine <= 0:
            return UNBOUNDED if fine == -2 else REFACTOR
        if len(moving) > 0:
            g = moved_weights(D, S, moving)
    return PAUSE

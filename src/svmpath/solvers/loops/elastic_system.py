"""Compiled loops of the elastic-net hinge machine: products with the rows, and the elbow system.

Letters as in ``solvers.elastic``. E holds the k samples on the elbow and A the m active features, in the order of W and
G::

    W = Z_EA,    M = [W, sqrt(tau) y_E],    G = (M M')^-1 = (W W' + tau y_E y_E')^-1

All that is ever solved for, given e (one per elbow sample), f (one per active feature) and g, is

    W x + y_E b = e,    x = W'a + f,    y_E'a = -g            ("solve")

with e = lambda2' (times the margins), f = Z_LA' w_L' - lambda1' om s and g = y_L' w_L' for the rates of lambda2 beta,
lambda2 b and alpha along a line. tau > 0 is arbitrary: it makes the matrix positive definite without changing the
answer.

G is updated when a sample or a feature comes or goes. Where too many digits are lost it is made anew, in Python, by
LAPACK.
"""

from __future__ import annotations

from svmpath.solvers.loops.decorators import inner
from svmpath.solvers.loops.elastic_state import *
from svmpath.solvers.loops.elastic_tolerances import *
from svmpath.solvers.loops.linalg import combine

# --- products with Z -------------------------------------------------------------------------------------------------


@inner
def add_products(
    Z: Array, index: Array, number: Array, size: int, rows: Array, x: Array, count: int, out: Array
) -> None:
    """``out += sum_a x_a Z[rows_a]``: by rows one number per feature, by columns one per sample.

    Sparse rows number ``size``.
    """
    if Z.shape[0] > 0:
        combine(Z, rows, x, count, out)
    else:
        for a in range(count):
            for at in range(index[rows[a]], index[rows[a] + 1]):
                out[index[size + 1 + at]] += x[a] * number[at]


@inner
def add_one(Z: Array, index: Array, number: Array, size: int, row: int, x: float, out: Array) -> None:
    """``out += x Z[row]``."""
    if Z.shape[0] > 0:
        for j in range(len(out)):
            out[j] += x * Z[row, j]
    else:
        for at in range(index[row], index[row + 1]):
            out[index[size + 1 + at]] += x * number[at]


@inner
def element(Zr: Array, ri: Array, rv: Array, n: int, i: int, j: int) -> float:
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


@inner
def gather(W: Array, k: int, m: int, x: Array, out: Array) -> None:
    """``out = W x`` on the leading block."""
    for a in range(k):
        row, total = W[a], 0.0
        for j in range(m):
            total += row[j] * x[j]
        out[a] = total


@inner
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


@inner
def rank_one(G: Array, k: int, q: Array, scale: float) -> None:
    """``G += scale q q'``."""
    for a in range(k):
        row, x = G[a], scale * q[a]
        for b in range(k):
            row[b] += x * q[b]


@inner
def solve(S: ElasticState, g: float) -> float:
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
    for _ in range(REFINEMENTS):  # measured; refined where rounding has taken too much
        for j in range(m):
            dx[j] = f[j]
        spread(W, k, m, da, dx)
        gather(W, k, m, dx, v)
        scale, worst, lack = abs(b), 0.0, -g
        for j in range(m):
            scale += (abs(dx[j]) + abs(f[j])) * zmax[A[j]]  # x may be nothing but what remains of f
        for a in range(k):
            scale = max(scale, abs(e[a]))
            v[a] = e[a] - h[a] * b - v[a]
            lack -= h[a] * da[a]
            worst = max(worst, abs(v[a]))
        x[RESIDUAL] = worst / scale if scale > 0.0 else 0.0
        if x[FIRST_RESIDUAL] < 0.0:
            x[FIRST_RESIDUAL] = x[RESIDUAL]
        if not worst > REFINED * scale:
            break
        for a in range(k):
            v[a] += tau * lack * h[a]
        gather(G, k, k, v, z)
        up = -lack
        for a in range(k):
            up += h[a] * z[a]
        db = up / yy
        b += db
        for a in range(k):
            da[a] += z[a] - db * q[a]
    x[FLOOR] = CANCELLED * floor
    if k == 1:
        da[0] = -g * h[0]
    return b


@inner
def add_row(D: DesignArrays, S: ElasticState, i: int, d: float) -> None:
    """Sample i joins E, with Q[Q_] = G M m_i and the squared distance d of its row from the others; 0: without G."""
    k, G, q, n = S.num[K], S.G, S.Q[Q_], len(S.place)
    for j in range(S.num[M]):
        S.W[k, j] = element(D.Zr, D.ri, D.rv, n, i, S.A[j])
    if d > 0.0:
        rank_one(G, k, q, 1.0 / d)
        for a in range(k):
            G[a, k] = G[k, a] = -q[a] / d
        G[k, k] = 1.0 / d
    S.E[k] = i
    S.num[K] = k + 1
    S.num[IS_FRESH] = 0
    S.place[i] = ELBOW


@inner
def drop_column(S: ElasticState, at: int) -> bool:
    """The feature at that position leaves A; False where G has to be made anew."""
    k, last, z, q = S.num[K], S.num[M] - 1, S.Q[Z_], S.Q[Q_]
    for a in range(k):
        z[a] = S.W[a, at]
        S.W[a, at] = S.W[a, last]
    S.sign[S.A[at]] = ZERO
    S.A[at] = S.A[last]
    S.num[M], S.num[IS_FRESH] = last, 0
    gather(S.G, k, k, z, q)
    pivot = 1.0
    for a in range(k):
        pivot -= z[a] * q[a]
    if not pivot > STALE_PIVOT:
        return False
    rank_one(S.G, k, q, 1.0 / pivot)
    return True


@inner
def distance(D: DesignArrays, S: ElasticState, i: int) -> tuple[float, float]:
    """Squared distance of row m_i from the rows of M, and its squared length; Q[Q_] = G M m_i."""
    k, m, tau, W, G, E, y = S.num[K], S.num[M], S.x[TAU], S.W, S.G, S.E, S.N[Y]
    u, v, q, z, dx = S.Q[U_], S.Q[V_], S.Q[Q_], S.Q[Z_], S.Q[DX]
    size, n = tau, len(S.place)
    for j in range(m):
        u[j] = dx[j] = element(D.Zr, D.ri, D.rv, n, i, S.A[j])
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
        if again == 0 and d > STALE_PIVOT * size:
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

"""Compiled: how the solution of the program of ``solvers.box_qp`` moves with t while no variable changes place.

Letters as there. The elbow system of the free variables F, with G_pj = 1 where j is of group p::

    M = [ 0    G_F  ]      R = M^-1, rows and columns: the q groups first, then F in the order of the array F
        [ G_F' K_FF ]

d = (d nu, d theta_F) are the rates of the multipliers and of the free variables by t; dg those of the gradient. KB and
dB are what the moving bounds of the other variables add to K d theta and to G d theta.

A variable j that becomes free has the column v of M. With z = R v and sc = K_jj - v'z, theta_j can rise by x while the
free variables move by -x z_F and the multipliers by -x z_nu: no gradient on F changes, and g_j rises by x sc.
"""

from __future__ import annotations

from svmpath.solvers.loops.box_state import *
from svmpath.solvers.loops.box_tolerances import *
from svmpath.solvers.loops.decorators import inner
from svmpath.solvers.loops.infinite import INFINITE
from svmpath.solvers.loops.linalg import combine, times


@inner
def respond(P: ProgramArrays, S: State, W: Work, j: int) -> float:
    """The z of variable j, and sc; refined where digits cancel."""
    q, m, row, own, v, z, residual = len(S.nu), S.k[SIZE], P.K[P.r[j]], P.K[P.r[j], P.r[j]], W.v, W.z, W.extra
    for e in range(q):
        v[e] = 0.0
    v[P.p[j]] = 1.0
    for a in range(m):
        v[q + a] = row[P.r[S.F[a]]]
    times(S.R, q + m, v, z)
    sc = own
    for a in range(q + m):
        sc -= v[a] * z[a]
    if sc >= COMPLEMENT_CANCELLED * P.kmax:
        return sc
    for a in range(q + m):
        residual[a] = v[a]
    for a in range(m):
        k = S.F[a]
        residual[P.p[k]] -= z[q + a]
        other, total = P.K[P.r[k]], z[P.p[k]]
        for b in range(m):
            total += other[P.r[S.F[b]]] * z[q + b]
        residual[q + a] -= total
    times(S.R, q + m, residual, W.spare)
    sc, total = own, own
    for a in range(q + m):
        z[a] += W.spare[a]
        sc -= v[a] * z[a]
        total += abs(v[a] * z[a])
    return 0.0 if sc <= COMPLEMENT_ZERO * total else sc


@inner
def carry(P: ProgramArrays, W: Work, j: int, rate: float) -> None:
    """Let the bound of j carry it with this rate (or, with its negative, no longer)."""
    if rate != 0.0:
        W.dB[P.p[j]] += rate
        row = P.K[P.r[j]]
        for i in range(len(W.KB)):
            W.KB[i] += rate * row[i]


@inner
def bound_rate(P: ProgramArrays, S: State, j: int) -> float:
    """The rate of a variable that is not free: that of its bound."""
    return P.u1[j] if S.status[j] == UP else P.l1[j]


@inner
def set_direction(P: ProgramArrays, S: State, W: Work) -> None:
    """d, KB and dB from the beginning: M d = (b1 - dB, -c1_F - KB_F)."""
    q, m = len(S.nu), S.k[SIZE]
    for e in range(q):
        W.dB[e] = 0.0
    for i in range(len(W.KB)):
        W.KB[i] = 0.0
    for j in range(len(P.r)):
        if S.status[j] != FREE:
            carry(P, W, j, bound_rate(P, S, j))
    for e in range(q):
        W.spare[e] = P.b1[e] - W.dB[e]
    for a in range(m):
        W.spare[q + a] = -P.c1[S.F[a]] - W.KB[P.r[S.F[a]]]
    times(S.R, q + m, W.spare, W.d)


@inner
def set_rates(P: ProgramArrays, S: State, W: Work) -> float:
    """All dg, with d refined until the gradient does not move on F; the size of the rates, or -1 if R is inexact."""
    q, m, size = len(S.nu), S.k[SIZE], 0.0
    for a in range(m):
        W.rows[a] = P.r[S.F[a]]
    for turn in range(4):
        for i in range(P.K.shape[0]):
            W.buffer[i] = W.KB[i]
        combine(P.K, W.rows, W.d[q:], m, W.buffer)
        for j in range(len(P.r)):
            W.dg[j] = W.buffer[P.r[j]] + P.c1[j] + W.d[P.p[j]]
        fastest, moved = S.x[FASTEST], 0.0
        for a in range(m):
            fastest, moved = max(fastest, abs(W.d[q + a])), max(moved, abs(W.dg[S.F[a]]))
        if turn == 0:
            size = S.x[LARGEST] + P.kmax * fastest
        elif moved > RATE_BROKEN * size and S.k[FRESH] == 0:
            return -1.0
        if moved <= RATE_REFINED * size or turn == 3:
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


@inner
def set_signs(S: State, W: Work) -> None:
    """The signs of all gradients, also of variables that were overlooked."""
    for j in range(len(S.g)):
        W.sign[j] = 1.0 if S.status[j] == LOW else (-1.0 if S.status[j] == UP else 0.0)


@inner
def synchronise(P: ProgramArrays, S: State, W: Work) -> float:
    """The exact gradient, one step of Newton's method for (nu, theta_F), and what is wrong then, in units of f."""
    n, q, m, t, weights, rows = P.K.shape[0], len(S.nu), S.k[SIZE], S.x[T], W.weights, W.rows
    set_signs(S, W)
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
    return wrong / unit if unit > 0.0 else INFINITE  # without a margin nothing can be measured

"""Compiled loops of the elastic-net hinge machine: one sample after another is left out, each from the same point.

Letters as in ``elastic_system``. What is left out is a weight that falls to zero along a line, from event to event
(``elastic_walk.run``); the point at its end is settled, and measured. A removal that needs Python (a larger elbow
system, a new G, more events) is left to it: ``ElasticWalker.leave_out``, whose own removals do the same step by step.
"""

from __future__ import annotations

from svmpath.solvers.loops.decorators import entry, inner
from svmpath.solvers.loops.elastic_state import *
from svmpath.solvers.loops.elastic_system import add_one, add_products, gather, rank_one, solve, spread
from svmpath.solvers.loops.elastic_tolerances import *
from svmpath.solvers.loops.elastic_walk import run
from svmpath.solvers.loops.infinite import INFINITE


@inner
def measure(D: DesignArrays, S: ElasticState) -> None:
    """r and c of all samples and features, from beta, b and alpha."""
    n, p, m, r, c, beta = len(S.place), len(S.sign), S.num[M], S.N[R], S.P[C], S.P[BETA]
    for i in range(n):
        r[i] = S.N[MARGIN, i] - S.N[Y, i] * S.x[B]
    for j in range(m):
        S.Q[U_, j] = -beta[S.A[j]]
    add_products(D.Zc, D.ci, D.cv, p, S.A, S.Q[U_], m, r)
    for j in range(p):
        c[j] = 0.0
    for i in range(n):
        if S.N[ALPHA, i] != 0.0:
            add_one(D.Zr, D.ri, D.rv, n, i, S.N[ALPHA, i], c)


@entry
def settle(D: DesignArrays, S: ElasticState, rounds: int) -> None:
    """Correct beta_A, b and alpha_E so that the equations of E and A hold to rounding; no place changes."""
    k, m, x, Q, E, A = S.num[K], S.num[M], S.x, S.Q, S.E, S.A
    alpha, r, y, beta, c, om = S.N[ALPHA], S.N[R], S.N[Y], S.P[BETA], S.P[C], S.P[OM]
    measure(D, S)
    for _ in range(rounds):
        lam1, lam2, g = x[LAM1], x[LAM2], 0.0
        for j in range(m):
            at = A[j]
            wall = 0.0 if S.sign[at] == UNPENALISED else lam1 * om[at] * S.sign[at]
            Q[F_, j] = c[at] - lam2 * beta[at] - wall
        if k == 0 and not lam2 > 0.0:
            return
        if k == 0:
            for j in range(m):
                beta[A[j]] += Q[F_, j] / lam2
            measure(D, S)
            continue
        for i in range(len(y)):
            g += y[i] * alpha[i]
        for a in range(k):
            Q[E_, a] = lam2 * r[E[a]]
        b = solve(S, g)
        for a in range(k):
            alpha[E[a]] += Q[DA, a]
        if not lam2 > 0.0:  # the shortest step onto the elbow
            for a in range(k):
                Q[V_, a] = r[E[a]]
            gather(S.G, k, k, Q[V_], Q[Q_])
            for j in range(m):
                Q[DX, j] = 0.0
            spread(S.W, k, m, Q[Q_], Q[DX])
            b, lam2 = 0.0, 1.0
            for a in range(k):
                b += x[TAU] * y[E[a]] * Q[Q_, a]
        for j in range(m):
            beta[A[j]] += Q[DX, j] / lam2
        x[B] += b / lam2
        measure(D, S)


@inner
def shift(S: ElasticState, without: int) -> float:
    """``measure.offset_shift`` of the point, a sample having no weight: what brings b to its interval's middle."""
    low, high = -INFINITE, INFINITE
    for i in range(len(S.place)):
        w, alpha, r, y = S.N[WEIGHT, i], S.N[ALPHA, i], S.N[R, i], S.N[Y, i]
        if i == without or not w > 0.0:
            continue
        is_low, is_high = alpha <= ALPHA_AT_BOUND * w, alpha >= (1.0 - ALPHA_AT_BOUND) * w
        if not is_low and not is_high:
            return 0.0
        lack = y - y * (S.N[MARGIN, i] - r)
        if (is_low and y > 0.0) or (is_high and y < 0.0):
            low = max(low, lack)
        if (is_low and y < 0.0) or (is_high and y > 0.0):
            high = min(high, lack)
    if low > -INFINITE and high < INFINITE:
        return 0.5 * (low + high)
    return low if low > -INFINITE else (high if high < INFINITE else 0.0)


@inner
def worst_breach(S: ElasticState) -> float:
    """``PlacedPoint.violation``: the largest r on the wrong side, or c beyond its threshold in units of weights."""
    worst, total = 0.0, 0.0
    for i in range(len(S.place)):
        r, place = S.N[R, i], S.place[i]
        total += S.N[WEIGHT, i]
        if place != OUT:
            worst = max(worst, abs(r) if place == ELBOW else (-r if place == LEFT else r))
    for j in range(len(S.sign)):
        sign, c, wall = S.sign[j], S.P[C, j], S.x[LAM1] * S.P[OM, j]
        off = abs(c) - wall
        if sign != ZERO:
            off = abs(c - S.x[LAM2] * S.P[BETA, j] - (0.0 if sign == UNPENALISED else wall * sign))
        worst = max(worst, off / max(total * S.P[ZMAX, j], 1e-300))
    return worst


@inner
def dismiss(S: ElasticState, i: int) -> bool:
    """Elbow sample i goes to the left with the weight that it uses; False where G has to be made anew."""
    last, at, G, W = S.num[K] - 1, 0, S.G, S.W
    S.place[i], S.N[WEIGHT, i] = LEFT, S.N[ALPHA, i]
    while S.E[at] != i:
        at += 1
    if not G[at, at] > 0.0:
        return False
    S.E[at] = S.E[last]
    for j in range(S.num[M]):
        W[at, j] = W[last, j]
    for b in range(last + 1):
        G[at, b], G[last, b] = G[last, b], G[at, b]
    for a in range(last + 1):
        G[a, at], G[a, last] = G[a, last], G[a, at]
    S.num[K], S.num[IS_FRESH] = last, 0
    rank_one(G, last, G[last], -1.0 / G[last, last])
    return True


@inner
def set_back(S: ElasticState, first: ElasticState) -> None:
    """Everything as it was at first."""
    k, m = first.num[K], first.num[M]
    for a in range(len(S.x)):
        S.x[a] = first.x[a]
    for a in range(len(S.num)):
        S.num[a] = first.num[a]
    for i in range(len(S.place)):
        S.place[i], S.E[i] = first.place[i], first.E[i]
        for a in range(S.N.shape[0]):
            S.N[a, i] = first.N[a, i]
    for j in range(len(S.sign)):
        S.sign[j], S.A[j] = first.sign[j], first.A[j]
        for a in range(S.P.shape[0]):
            S.P[a, j] = first.P[a, j]
    for a in range(k):
        for j in range(m):
            S.W[a, j] = first.W[a, j]
        for b in range(k):
            S.G[a, b] = first.G[a, b]


@entry
def leave_out(
    D: DesignArrays, S: ElasticState, first: ElasticState, held: Array, i: int, moving: Array, when: Array,
    what: Array, most: int, budget: int,
) -> int:  # fmt: skip
    """Leave out sample i and those after it; S is as ``first`` before and after.

    ``held`` has three rows: the held-out decision values; 1 where the removal was completed, 0 where it is left to
    Python; the violation at its end. Returns the next sample after so much work.
    """
    n, p = len(S.place), len(S.sign)
    work = 0
    while i < n and work < budget:
        y, margin = S.N[Y, i], S.N[MARGIN, i]
        work += 20 * n + 1000
        if not S.N[ALPHA, i] > 0.0 or S.N[WEIGHT, i] == 0.0:
            held[0, i], held[1, i], held[2, i] = y * (margin - S.N[R, i]) + shift(S, i), 1.0, 0.0
            i += 1
            continue
        held[1, i], held[2, i], code = 0.0, INFINITE, REFACTOR
        S.x[U] = 1.0
        if S.place[i] != ELBOW or dismiss(S, i):
            for a in range(n):
                S.N[DW, a], S.N[W0, a] = 0.0, S.N[WEIGHT, a]
            S.N[W0, i], S.N[DW, i], moving[0] = 0.0, -S.N[WEIGHT, i], i
            S.x[LINE1], S.x[LINE2], S.x[D1], S.x[D2] = S.x[LAM1], S.x[LAM2], 0.0, 0.0
            S.x[DEPENDENT], S.num[LOGGED] = ATTEMPTS[0][0], 0
            code = run(D, S, moving, when, what, 0.0, most, -1, budget)
            work += (1 + S.num[LOGGED]) * (n * (S.num[M] + p) + 4 * S.num[K] * (S.num[K] + S.num[M]))
        if code == END:
            settle(D, S, 1)
            S.N[WEIGHT, i], S.place[i] = 0.0, OUT
            held[0, i] = y * (margin - S.N[R, i]) + shift(S, i)
            held[1, i], held[2, i] = 1.0, worst_breach(S)
        set_back(S, first)
        work += 14 * (n + p) + S.num[K] * (S.num[K] + S.num[M])
        i += 1
    return i

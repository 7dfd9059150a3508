"""Compiled loops of the elastic-net hinge machine: steps, changes of place, and the walk from event to event.

Letters as in ``elastic_system``. ``run`` returns to Python after some work, and whenever G has to be made anew: that is
LAPACK's. So an interrupt is seen soon, and little has to be compiled.
"""

from __future__ import annotations

from svmpath.solvers.loops.decorators import entry, inner
from svmpath.solvers.loops.elastic_events import (
    entering,
    first_event,
    is_next,
    leaving,
    moved_weights,
    rates,
    record_event,
)
from svmpath.solvers.loops.elastic_state import *
from svmpath.solvers.loops.elastic_system import (
    add_one,
    add_products,
    add_row,
    distance,
    drop_column,
    element,
    gather,
    rank_one,
    spread,
)
from svmpath.solvers.loops.elastic_tolerances import *
from svmpath.solvers.loops.infinite import INFINITE


@inner
def advance(S: ElasticState, t: float, b: float, fast: bool, moving: Array) -> None:
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


@inner
def leave(S: ElasticState, when: Array, what: Array, at: int, to: int) -> bool:
    """The elbow sample at that position goes to the left or to the right; False where G has to be made anew."""
    i, last, W, G, E = S.E[at], S.num[K] - 1, S.W, S.G, S.E
    S.N[ALPHA, i] = 0.0 if to == RIGHT else S.N[WEIGHT, i]
    S.N[R, i] = 0.0
    record_event(S.x, S.num, when, what, 0, i, ELBOW, to)
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


@inner
def enter(D: DesignArrays, S: ElasticState, when: Array, what: Array, j: int, sign: int) -> None:
    """Feature j comes to its threshold and joins A."""
    k, m, z, q, n = S.num[K], S.num[M], S.Q[Z_], S.Q[Q_], len(S.place)
    S.P[C, j] = sign * S.x[LAM1] * S.P[OM, j]
    record_event(S.x, S.num, when, what, 1, j, ZERO, sign)
    for a in range(k):
        S.W[a, m] = z[a] = element(D.Zr, D.ri, D.rv, n, S.E[a], j)
    S.A[m] = j
    S.num[M], S.num[IS_FRESH] = m + 1, 0
    S.sign[j] = sign
    gather(S.G, k, k, z, q)
    total = 1.0
    for a in range(k):
        total += z[a] * q[a]
    rank_one(S.G, k, q, -1.0 / total)


@inner
def null_step(D: DesignArrays, S: ElasticState, i: int, turn: float, j: int, far: float) -> tuple[float, int, int, int]:
    """alpha_E changes by Q[DA], and alpha_i by turn if i >= 0, while beta stays, until a place changes.

    Returns the length of the step, its kind (0 no event before ``far``, 1 a sample leaves the elbow, 2 a feature
    enters), which one, and its new place. With j >= 0 the c of that active feature leaves its threshold, and the other
    threshold is ``far``.
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
        best = 2.0 * S.x[LAM1] * S.P[OM, j] / speed if speed > 0.0 else INFINITE
    t, which, where = leaving(num, S.E, S.N, da, False, 0.0)
    if which >= 0 and is_next(num, t, best):
        best, kind, at, to = t, 1, which, where
    t, which, where = entering(num, S.sign, S.P, S.x[LAM1], 0.0, push)
    if which >= 0 and is_next(num, t, best):
        best, kind, at, to = t, 2, which, where
    if best < INFINITE:
        for a in range(k):
            S.N[ALPHA, S.E[a]] += best * da[a]
        for a in range(len(dc)):
            if S.sign[a] == ZERO:
                S.P[C, a] += best * dc[a]
    return best, kind, at, to


@inner
def hit(D: DesignArrays, S: ElasticState, when: Array, what: Array, i: int) -> int:
    """Sample i comes to the elbow; if its row depends on the others, another place changes first ("null step").

    1 where G is as good as before, 0 where it has to be made anew, -1 where that comes first and nothing was done.
    """
    source = S.place[i]
    S.N[R, i] = 0.0
    d, size = distance(D, S, i)
    is_far, is_full = d > S.x[DEPENDENT] ** 2 * size, S.num[K] > S.num[M]
    if is_far and (is_full or not d > STALE_PIVOT * size) and S.num[IS_FRESH] == 0:
        return -1  # nearly dependent, or G has lost its digits: measured again with a new one
    if is_far and not is_full:
        record_event(S.x, S.num, when, what, 0, i, source, ELBOW)
        add_row(D, S, i, d)
        return 1 if d > STALE_PIVOT * size else 0
    # alpha_i moves away from its bound, E makes up for it, and no c of A changes.
    turn = 1.0 if source == RIGHT else -1.0
    for a in range(S.num[K]):
        S.Q[DA, a] = -turn * S.Q[Q_, a]
    t, kind, at, to = null_step(D, S, i, turn, -1, S.N[WEIGHT, i])
    S.N[ALPHA, i] += turn * t
    if kind == 0:
        to = LEFT if source == RIGHT else RIGHT
        S.N[ALPHA, i] = 0.0 if to == RIGHT else S.N[WEIGHT, i]
        record_event(S.x, S.num, when, what, 0, i, source, to)
        S.place[i] = to
        return 1
    fine = True
    if kind == 1:
        fine = leave(S, when, what, at, to)
    else:
        enter(D, S, when, what, at, to)
    record_event(S.x, S.num, when, what, 0, i, source, ELBOW)
    if fine:
        d, size = distance(D, S, i)
        fine = d > STALE_PIVOT * size
    add_row(D, S, i, d if fine else 0.0)
    return 1 if fine else 0


@inner
def vanish(D: DesignArrays, S: ElasticState, when: Array, what: Array, at: int) -> int:
    """The active feature at that position becomes zero; if E needs its column, another place changes first.

    1 where G is as good as before, 0 where it has to be made anew, -2 where nothing gives way.
    """
    k, j, lam1 = S.num[K], S.A[at], S.x[LAM1]
    sign, wall = S.sign[j], lam1 * S.P[OM, j]
    S.P[BETA, j] = 0.0
    for a in range(k):
        S.Q[Z_, a] = S.W[a, at]
    gather(S.G, k, k, S.Q[Z_], S.Q[Q_])
    if k <= S.num[M] and not is_needed(S, at):
        record_event(S.x, S.num, when, what, 1, j, sign, ZERO)
        S.P[C, j] = sign * wall
        return 1 if drop_column(S, at) else 0
    # alpha_E moves along the null vector of the other columns, so that c_j comes away from its threshold.
    s = float(sign)
    for a in range(k):
        S.Q[DA, a] = -s * S.Q[Q_, a]
    t, kind, other, to = null_step(D, S, -1, 0.0, j, 0.0)
    if t >= INFINITE:
        return -2
    S.P[C, j] = s * wall + t * S.P[DC, j]
    if kind == 0:
        S.sign[j] = -sign
        S.P[C, j] = -s * wall
        record_event(S.x, S.num, when, what, 1, j, sign, -sign)
        return 1
    record_event(S.x, S.num, when, what, 1, j, sign, ZERO)
    fine = True
    if kind == 1:
        fine = leave(S, when, what, other, to)
    else:
        enter(D, S, when, what, other, to)
    return 1 if drop_column(S, at) and fine else 0


@inner
def is_needed(S: ElasticState, at: int) -> bool:
    """Whether the rows of M depend on each other without the column at that position; Q[Q_] = G z of it."""
    k, m, q, u, zmax = S.num[K], S.num[M], S.Q[Q_], S.Q[U_], S.P[ZMAX]
    pivot = 1.0
    for a in range(k):
        pivot -= S.Q[Z_, a] * q[a]
    if pivot > STALE_PIVOT or k == 0:
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
    return size <= (DEPENDENCE_MARGIN * S.x[DEPENDENT]) ** 2 * length * norm


@inner
def in_use(S: ElasticState, go: float) -> int:
    """The number of penalised features whose coefficient, after ``go`` times Q[DX], moves margins at all."""
    count = 0
    for j in range(S.num[M]):
        at = S.A[j]
        here = S.P[BETA, at]
        if S.sign[at] != UNPENALISED and max(abs(here), abs(here + go * S.Q[DX, j])) * S.P[ZMAX, at] > UNUSED:
            count += 1
    return count


@entry
def run(
    D: DesignArrays, S: ElasticState, moving: Array, when: Array, what: Array, u_end: float, most: int,
    most_features: int, budget: int,
) -> int:  # fmt: skip
    """Walk until the value is u_end, through at most so many events; ``moving`` are the samples whose weight moves.

    The walk stops where more penalised features than allowed would be used; a negative number allows all of
    them, and 0 stops where the first coefficient is about to leave zero. Returns why, by a code of
    ``elastic_state``; after GROW, REFACTOR and PAUSE (so many numbers were touched) it is to be called again.
    """
    n, p, x, num = len(S.place), len(S.sign), S.x, S.num
    patience, work = 10 * (n + p) + 500, 0
    g = moved_weights(D, S, moving)
    while work < budget:
        k, m = num[K], num[M]
        if k + 2 > S.G.shape[0] or m + 2 > S.W.shape[1]:
            return GROW
        if num[LOGGED] + 4 > len(when) > 0:
            return FULL
        fast, b, noise = rates(D, S, g)
        work += 6 * k * (k + m) + n * m + p * k + 10 * (n + p) + 1000
        if k > 0 and x[FIRST_RESIDUAL] > BROKEN and num[IS_FRESH] == 0:
            return REFACTOR
        if k > 0 and not x[RESIDUAL] <= USELESS:
            return SINGULAR
        best, kind, at, to = first_event(S, u_end, fast, noise, moving)
        if best >= INFINITE:
            return UNBOUNDED
        if kind != 0 and most >= 0 and num[LOGGED] >= most:
            return FULL
        unit = 1.0 if fast else x[LAM2]
        if most_features == 0 and kind >= 3 and best * noise <= UNUSED * RATE_NOISE * unit:
            best = 0.0  # a tie: nothing must move before the first coefficient does
        still = best * noise <= NO_MOVE * RATE_NOISE if fast else best <= NO_STEP * x[U]
        if most_features >= 0 and not still and in_use(S, best / max(unit, 1e-300)) > most_features:
            return STOP
        advance(S, best, b, fast, moving)
        if kind == 0:
            x[U] = u_end
            return END
        num[IDLE] = num[IDLE] + 1 if still or fast else 0
        if num[IDLE] > patience:
            return STALLED
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

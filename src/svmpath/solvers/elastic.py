"""The elastic-net hinge machine along straight lines of its parameters: state, start, walk.

The problem, for Z = diag(y) X with n rows and p columns::

    minimise over beta, b:   sum_i w_i max(0, r_i) + lambda2/2 ||beta||^2 + lambda1 sum_j om_j |beta_j|
    r_i = 1 - y_i b - z_i'beta

With a coefficient alpha_i per sample and c = Z'alpha, (beta, b) is optimal where

    alpha_i = 0 on the RIGHT (r_i <= 0),    alpha_i = w_i on the LEFT (r_i >= 0),    r_i = 0 on the ELBOW
    c_j = lambda2 beta_j + lambda1 om_j s_j where feature j is active with sign s_j,    |c_j| <= lambda1 om_j elsewhere
    sum_i y_i alpha_i = 0

While nobody changes place, alpha, lambda2 beta and lambda2 b are linear along any straight line of (lambda1, lambda2,
w). With lambda2 = 0 the same rates say what happens in the limit: if lambda2 beta' = 0, alpha moves and beta stands
still; otherwise beta jumps in that direction while the parameter stands still, until somebody comes to the elbow or a
coefficient comes to zero (the parametric simplex method).

The elbow is kept independent: a sample whose row depends on the others', or a feature whose column they need, is
exchanged at constant beta ("null step"). So there are never more samples on the elbow than active features plus one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from svmpath.exceptions import PathError
from svmpath.lazy import lazy

Array = np.ndarray

RIGHT, ELBOW, LEFT, OUT = 0, 1, 2, 3  # as in solvers._elastic_loops, which is compiled only when first used
ZERO, PLUS, MINUS, FREE, BANNED = 0, 1, -1, 2, 3

_EVEN = 1e-12  # classes whose weights differ by less, relative, are balanced
_ROUNDING = 1e-11  # c below this, in units of all weights on the largest entry of its column, is zero
_NEGLIGIBLE = 1e-11  # a rest of the way that is less, relative to where it began, need not be walked
_CHUNK = 512  # events between two snapshots of a walk
_ROOM = 56  # rows and columns of the elbow system at a start, and by how much it grows at least
_MOST = 400  # events per sample and feature before a walk is given up


@dataclass(frozen=True, eq=False)
class Table:
    """Z by rows and by columns, as compiled code reads it, with labels and penalty factors.

    Attributes
    ----------
    Z : array or CSR matrix of shape (n, p)
    y : array of shape (n,)
        Labels -1 and +1.
    om : array of shape (p,)
        Penalty factors; 0 for a feature whose absolute value costs nothing.
    margin : array of shape (n,)
        The margins asked for: ones.
    """

    Z: Any
    y: Array
    om: Array
    margin: Array

    @staticmethod
    def of(X: Any, y: Array, om: Array) -> Table:
        """The table of rows X."""
        Z = sparse.csr_matrix(X.multiply(y[:, None])) if sparse.issparse(X) else np.ascontiguousarray(X * y[:, None])
        return Table(Z, y, om, np.ones(len(y)))

    @lazy
    def parts(self) -> tuple[Any, ...]:
        """Both orders of Z, and the largest entry of each column: what does not depend on om and the margins."""
        Z, y, none = self.Z, self.y, np.empty(0, np.int64)
        n, p = Z.shape
        if sparse.issparse(Z):
            Z.sort_indices()
            C, empty = Z.tocsc(), np.empty((0, 0))
            rows = (Z.indptr.astype(np.int64), Z.indices.astype(np.int64), Z.data.astype(float))
            columns = (C.indptr.astype(np.int64), C.indices.astype(np.int64), C.data.astype(float))
            zmax = np.asarray(abs(Z).max(axis=0).todense(), dtype=float).ravel() if n else np.zeros(p)
            square = float((Z.data**2).sum())
            return empty, empty, *rows, *columns, y, zmax, square / (n * p) or 1.0
        zmax = np.abs(Z).max(axis=0, initial=0.0)
        square = float(np.einsum("ij,ij->", Z, Z)) / max(n * p, 1)
        holes = (none, none, np.empty(0))
        return Z, np.ascontiguousarray(Z.T), *holes, *holes, y, zmax, square or 1.0

    @property
    def zmax(self) -> Array:
        """The largest |z_ij| of each column."""
        return self.parts[-2]

    @lazy
    def data(self) -> Any:
        """The same as compiled code takes it."""
        from svmpath.solvers import _elastic_loops as loops

        *matrices, y, zmax, tau = self.parts
        return loops.Data._make([*matrices, y, self.margin, self.om, zmax, tau])

    def with_om(self, om: Array, margin: Array | None = None) -> Table:
        """The same rows with other penalty factors, and other margins."""
        table = replace(self, om=om, margin=self.margin if margin is None else margin)
        table.__dict__["parts"] = self.parts
        return table

    def shaken(self, size: float, seed: int) -> Table:
        """Penalty factors and margins changed by tiny random parts, so that there are no ties."""
        rng = np.random.default_rng(seed)
        n, p = self.Z.shape
        return self.with_om(self.om * (1 + size * rng.random(p)), self.margin + size * rng.random(n))


@dataclass(frozen=True, eq=False)
class Line:
    """A straight line of the parameters, along which a value u falls: (lambda1, lambda2, w) - u (d1, d2, dw)."""

    lam1: float
    lam2: float
    d1: float
    d2: float
    w: Array
    dw: Array

    @staticmethod
    def lambda1(lam2: float, w: Array) -> Line:
        """The value is lambda1."""
        return Line(0.0, lam2, -1.0, 0.0, w, np.zeros_like(w))

    @lazy
    def course(self) -> Any:
        """The same as compiled code takes it."""
        from svmpath.solvers import _elastic_loops as loops

        moving = np.flatnonzero(self.dw)
        return loops.Course(float(self.lam1), float(self.lam2), float(self.d1), float(self.d2), self.w, self.dw, moving)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A point of a walk, to walk on from: value, lambda1, lambda2, b; coefficients and places."""

    x: Array
    w: Array
    alpha: Array
    beta: Array
    place: Array
    sign: Array


@dataclass(frozen=True)
class Told:
    """Events in order: where, whether a feature's, whose, from which place to which."""

    u: Array
    feature: Array
    index: Array
    source: Array
    target: Array

    @staticmethod
    def of(parts: list[tuple[Array, ...]]) -> Told:
        """The parts one after another."""
        kinds = (float, np.bool_, np.int64, np.int8, np.int8)
        return Told(
            *(np.concatenate([np.empty(0, kind), *(part[k] for part in parts)]) for k, kind in enumerate(kinds))
        )


class Walker:
    """A point on the solution path, which can be moved on along lines; the only thing here that changes."""

    def __init__(self, table: Table, point: Snapshot) -> None:
        from svmpath.solvers import _elastic_loops as loops

        self._loops = loops
        self.table = table
        n, p = table.Z.shape
        k = int(np.count_nonzero(point.place == ELBOW))
        m = int(np.count_nonzero((point.sign != ZERO) & (point.sign != BANNED)))
        rows, columns = min(n, p + 1) + 2, p + 2
        self.state = loops.State(
            np.concatenate([point.x, [0.0, 0.0]]), np.array([0, 0, 1, 0, 0, 0], dtype=np.int64), point.w.copy(),
            point.alpha.copy(), np.empty(n), point.beta.copy(), np.empty(p), point.place.copy(), point.sign.copy(),
            np.empty(n + 1, np.int64), np.empty(p + 1, np.int64),
            np.empty((min(k + _ROOM, rows), min(m + _ROOM, columns))), np.empty((min(k + _ROOM, rows),) * 2),
        )  # fmt: skip
        self._top = float(point.x[0])
        self._told: list[tuple[Array, ...]] = []
        self.snapshots: list[Snapshot] = []

    @property
    def value(self) -> float:
        """Where the walk stands on its line."""
        return float(self.state.x[0])

    @property
    def b(self) -> float:
        """The offset."""
        return float(self.state.x[3])

    @property
    def null_steps(self) -> int:
        """How many samples and features were exchanged at constant beta."""
        return int(self.state.num[5])

    @property
    def told(self) -> Told:
        """All events so far."""
        return Told.of(self._told)

    def forget(self) -> None:
        """Leave out the events so far."""
        self._told, self.snapshots = [], []

    def seat(self) -> None:
        """Make the elbow system of the places, and the equations of the point hold."""
        if not self._loops.stand(self.table.data, self.state, 1):
            raise PathError("The elbow system of the point to start from is singular.")

    def stand(self) -> bool:
        """Go to the point that the places determine; False where their system is singular."""
        return bool(self._loops.stand(self.table.data, self.state, 3))

    def snapshot(self) -> Snapshot:
        """The point as it is."""
        S = self.state
        return Snapshot(S.x[:4].copy(), S.w.copy(), S.alpha.copy(), S.beta.copy(), S.place.copy(), S.sign.copy())

    def turn(self, value: float, lam1: float, lam2: float) -> None:
        """Begin a new line, at this value of it, with these parameters."""
        self.state.x[:3] = value, lam1, lam2
        self._top = value
        self.forget()

    @property
    def violation(self) -> float:
        """How far the point is from optimal, given its places."""
        return float(self._loops.wrong(self.table.data, self.state))

    def to(self, line: Line, end: float, *, most_features: int = -1, record: bool = True) -> bool:
        """Walk to a smaller value on a line; False where it stopped before, at the number of features allowed."""
        near = _NEGLIGIBLE * self._top
        if end >= near or end >= self.value:
            return self._to(line, end, most_features, record)
        done = self.value <= near or self._to(line, near, most_features, record)
        if done:
            self._arrive(line, end)
            if record:
                self.snapshots.append(self.snapshot())
        return done

    def _to(self, line: Line, end: float, most_features: int, record: bool) -> bool:
        loops = self._loops
        n, p = self.table.Z.shape
        limit, count = _MOST * (n + p) + 10_000, 0
        size = _CHUNK if record else 0
        while True:
            log = loops.Log(
                np.empty(size), np.empty(size, np.bool_), np.empty(size, np.int64), np.empty(size, np.int8),
                np.empty(size, np.int8),
            )  # fmt: skip
            self.state.num[4] = 0
            code = loops.run(self.table.data, self.state, line.course, log, float(end), limit, most_features)
            done = int(self.state.num[4])
            count += done
            if record:
                self._told.append(tuple(part[:done].copy() for part in log))
                self.snapshots.append(self.snapshot())
            if code == loops.END:
                return True
            if code == loops.STOP:
                return False
            if code == loops.GROW:
                self._grow()
            elif code != loops.FULL or count >= limit:
                raise PathError(f"{_REASONS.get(code, 'There is no end of events')} at {self.value:.6g}.")

    def _arrive(self, line: Line, end: float) -> None:
        """Take the end as reached: what is left of the way is rounding."""
        self.state.x[:3] = end, max(line.lam1 - end * line.d1, 0.0), max(line.lam2 - end * line.d2, 0.0)
        if line.dw.any():
            S = self.state
            S.w[:] = np.maximum(line.w - end * line.dw, 0.0)
            S.alpha[:] = np.where(S.place == LEFT, S.w, S.alpha)
        self.seat()

    def leave_out(self, max_events: int | None = None) -> tuple[Array, Array, Array]:
        """Decision values of all samples, each left out; whether its way was walked to the end; how wrong the end is.

        With ``max_events`` nobody changes place after so many events.
        """
        loops, S = self._loops, self.state
        n = len(S.r)
        f, code, off = np.empty(n), np.zeros(n, np.int64), np.zeros(n)
        spare = loops.State(*(np.empty_like(part) for part in S))
        loops.leave_out(self.table.data, S, spare, -1 if max_events is None else max_events, f, code, off)
        return f, code == loops.END, off

    def _grow(self) -> None:
        S = self.state
        k, m = S.G.shape[0], S.W.shape[1]
        rows, columns = k + max(_ROOM, k // 2), m + max(_ROOM, m // 2)
        W, G = np.empty((rows, columns)), np.empty((rows, rows))
        W[:k, :m], G[:k, :k] = S.W, S.G
        self.state = S._replace(W=W, G=G)


_REASONS = {4: "The walk turns in circles", 5: "Nothing ends a step", 6: "The elbow system becomes singular"}


def crash(table: Table, w: Array, allowed: Array) -> Snapshot:
    """A point with beta = 0 that is optimal for a large lambda1, which it tells; its offset is that of the constants.

    The lighter class is on the left; of the heavier one as many as it takes, first those whose rows lie where they
    make c small. The one that is filled in part is on the elbow. Only ``allowed`` features count.
    """
    y, Z = table.y, table.Z
    up, down = float(w[y > 0].sum()), float(w[y < 0].sum())
    place = np.where(w > 0, LEFT, OUT).astype(np.int8)
    alpha, b = w.copy(), 0.0
    if abs(up - down) > _EVEN * (up + down):
        b = 1.0 if up > down else -1.0
        heavy = np.flatnonzero((y == b) & (w > 0))
        alpha[heavy] = 0.0
        order = heavy[np.argsort(np.asarray(Z[heavy] @ (Z.T @ alpha)), kind="stable")]
        needed = min(up, down)
        before = np.concatenate([[0.0], np.cumsum(w[order])])
        alpha[order] = np.clip(needed - before[:-1], 0.0, w[order])
        last = int(np.searchsorted(before[1:], needed * (1 - 1e-15)))
        place[order[:last]], place[order[last:]] = LEFT, RIGHT
        place[order[min(last, len(order) - 1)]] = ELBOW
    lam1 = threshold(table, np.asarray(Z.T @ alpha).ravel(), w, allowed)
    sign = np.where(allowed, ZERO, BANNED).astype(np.int8)
    return Snapshot(np.array([0.0, lam1, 0.0, b]), w.copy(), alpha, np.zeros(Z.shape[1]), place, sign)


def threshold(table: Table, c: Array, w: Array, allowed: Array) -> float:
    """The smallest lambda1 for which no allowed feature is beyond its threshold; rounding in c is none."""
    noise = _ROUNDING * w.sum() * table.zmax
    c = np.where(allowed & (np.abs(c) > noise), np.abs(c), 0.0)
    return float(np.max(c[allowed] / table.om[allowed], initial=0.0))


def start(table: Table, w: Array, lam2: float) -> Walker:
    """A walker where no penalised feature is used, at the lambda1 that it tells, which is also its value."""
    free = table.om == 0.0
    if not free.any():
        return _seated(table, crash(table, w, ~free), lam2)
    # First the machine of the free features alone: they are penalised, too, until lambda1 = 0.
    alone = table.with_om(np.where(free, 1.0, 0.0))
    walker = _seated(alone, crash(alone, w, free), lam2)
    lam1 = float(walker.state.x[1])
    if lam1 > 0.0:
        walker.to(Line.lambda1(lam2, w), 0.0, record=False)
    point = walker.snapshot()
    point.sign[:] = np.where(free, FREE, ZERO)
    point.x[1] = threshold(table, walker.state.c, w, ~free)
    return _seated(table, point, lam2)


def _seated(table: Table, point: Snapshot, lam2: float) -> Walker:
    point.x[0], point.x[2] = point.x[1], lam2
    walker = Walker(table, point)
    walker.seat()
    return walker


def walk_to(walker: Walker, lam1: float) -> None:
    """Walk from a start down to a lambda1; where that is larger than at the start, the point is optimal as it is."""
    S = walker.state
    if lam1 < S.x[1]:
        walker.to(Line.lambda1(float(S.x[2]), S.w.copy()), lam1, record=False)
    S.x[1] = lam1

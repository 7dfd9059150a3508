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
from scipy import linalg, sparse
from scipy.linalg import lapack

from svmpath.exceptions import PathError
from svmpath.lazy import lazy
from svmpath.solvers.compiling import announce
from svmpath.solvers.elastic_direct import Direct, solve_directly
from svmpath.solvers.elastic_measure import middle, relative_gap
from svmpath.solvers.parallel import checkpoint

Array = np.ndarray

RIGHT, ELBOW, LEFT, OUT = 0, 1, 2, 3  # as in solvers._elastic_loops, which is compiled only when first used
ZERO, PLUS, MINUS, FREE = 0, 1, -1, 2

_EVEN = 1e-12  # classes whose weights differ by less, relative, are balanced
_ROUNDING = 1e-11  # c below this, in units of all weights on the largest entry of its column, is zero
_NEGLIGIBLE = 1e-11  # a rest of the way that is less, relative to where it began, need not be walked
_STRETCH = 256  # events between two measurements of a walk
_BUDGET = 30_000_000  # numbers that compiled steps touch before they come back: some hundredths of a second
_ROOM = 56  # rows and columns of the elbow system at a start, and by how much it grows at least
_MOST = 400  # events per sample and feature before a walk is given up
_REMOVAL = 10  # events per sample and feature before the removal of a sample is given up
_REFINED = 1e-13  # a residual of the elbow system that need not be refined
_SURE, _PASSABLE = 1e-9, 1e-7  # a relative gap after a stretch: taken at once; taken where no other attempt does better
# What is tried, stretch by stretch, until one is good: when a row depends on the others, relative to its length (their
# inverse has half as many digits as the rows, so that 1e-8 is too little to be sure of anything), and by how much
# weights, factors and margins are changed.
ATTEMPTS = ((1e-7, 0.0), (1e-5, 0.0), (1e-7, 1e-10), (1e-5, 1e-9), (1e-9, 0.0), (1e-6, 1e-8))
_COMPILING = 15.0  # seconds, about
_LEAP = 1e-6  # relative; what is skipped where no attempt is good, ten times more where it fails again
_INDEPENDENT = 1e-6  # a row nearer to the others, relative to its length, does not begin on the elbow of a corner


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
        """Both orders of Z as compiled code reads them, the largest entry of each column, and tau."""
        from svmpath.solvers import _elastic_loops as loops

        Z, none, empty = self.Z, np.empty(0, np.int64), np.empty((0, 0))
        n, p = Z.shape
        if sparse.issparse(Z):
            Z.sort_indices()
            zmax = np.asarray(abs(Z).max(axis=0).todense(), dtype=float).ravel() if n else np.zeros(p)
            square = float((Z.data**2).sum())
            data = loops.Data(empty, empty, *_packed(Z), *_packed(Z.tocsc()))
        else:
            zmax = np.abs(Z).max(axis=0, initial=0.0)
            square = float(np.einsum("ij,ij->", Z, Z))
            data = loops.Data(Z, np.ascontiguousarray(Z.T), none, np.empty(0), none, np.empty(0))
        return data, zmax, square / max(n * p, 1) or 1.0

    @property
    def data(self) -> Any:
        """Z by rows and by columns."""
        return self.parts[0]

    @property
    def zmax(self) -> Array:
        """The largest |z_ij| of each column."""
        return self.parts[1]

    @property
    def tau(self) -> float:
        """What is added to the elbow system along y, of the size of a squared entry."""
        return self.parts[2]

    def with_om(self, om: Array, margin: Array | None = None) -> Table:
        """The same rows with other penalty factors, and other margins."""
        table = replace(self, om=om, margin=self.margin if margin is None else margin)
        table.__dict__["parts"] = self.parts
        return table

    def of_columns(self, columns: Array) -> Table:
        """Some columns alone, each with a penalty factor of one."""
        Z = self.Z[:, columns]
        return Table(Z if sparse.issparse(Z) else np.ascontiguousarray(Z), self.y, np.ones(len(columns)), self.margin)


def _packed(Z: Any) -> tuple[Array, Array]:
    """Pointers and indices one after another, and the numbers."""
    return np.concatenate([Z.indptr, Z.indices]).astype(np.int64), Z.data.astype(float)


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

    def at(self, value: float) -> tuple[float, float, Array]:
        """Lambda1, lambda2 and the weights at a value."""
        w = np.maximum(self.w - value * self.dw, 0.0) if self.dw.any() else self.w
        return max(self.lam1 - value * self.d1, 0.0), max(self.lam2 - value * self.d2, 0.0), w


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
    """A point on the solution path, which can be moved on along lines; the only thing here that changes.

    A walk goes in stretches of some hundred events. After each the point is settled and its duality gap is measured; a
    stretch that is lost, or not good, is walked again with other tolerances, or with weights, factors and margins
    changed a little, so that there are no ties. Where nothing helps, the point a little further on is found without a
    walk (``solvers.elastic_direct``).
    """

    def __init__(self, table: Table, point: Snapshot) -> None:
        from svmpath.solvers import _elastic_loops as loops

        self._loops = loops
        self.table = table
        n, p = table.Z.shape
        k = int(np.count_nonzero(point.place == ELBOW))
        m = int(np.count_nonzero(point.sign))
        rows, columns = min(k + _ROOM, min(n, p + 1) + 2), min(m + _ROOM, p + 2)
        x, num = np.zeros(13), np.zeros(7, np.int64)
        x[loops.TAU], x[loops.DEPENDENT], num[loops.SEED] = table.tau, ATTEMPTS[0][0], 1
        self.state = loops.State(
            x, num, np.zeros((8, n)), np.zeros((6, p)), np.empty(n, np.int64), np.empty(p, np.int64),
            np.empty(n + 1, np.int64), np.empty(p + 1, np.int64), np.empty((rows, columns)), np.empty((rows, rows)),
            np.empty((9, max(rows, columns))),
        )  # fmt: skip
        self.state.N[loops.Y], self.state.P[loops.ZMAX] = table.y, table.zmax
        self._moving = np.empty(0, np.int64)
        self._attempt = 0
        self.shaken, self.leaps = 0.0, 0  # the most that was needed, and how often a walk had to skip something
        self._restore(point)
        self._top = float(point.x[0])
        self.forget()

    def _restore(self, point: Snapshot) -> None:
        """Everything as in a snapshot, but for the elbow system."""
        loops, S = self._loops, self.state
        S.x[:4], S.num[loops.IDLE] = point.x, 0
        S.N[loops.MARGIN], S.P[loops.OM] = self.table.margin, self.table.om
        S.N[loops.WEIGHT], S.N[loops.ALPHA], S.P[loops.BETA] = point.w, point.alpha, point.beta
        S.place[:], S.sign[:] = point.place, point.sign

    # --- what it says of itself --------------------------------------------------------------------------------------

    @property
    def value(self) -> float:
        """Where the walk stands on its line."""
        return float(self.state.x[0])

    @property
    def b(self) -> float:
        """The offset."""
        return float(self.state.x[3])

    @property
    def alpha(self) -> Array:
        """Coefficients of the samples."""
        return self.state.N[self._loops.ALPHA]

    @property
    def beta(self) -> Array:
        """Coefficients of the features."""
        return self.state.P[self._loops.BETA]

    @property
    def c(self) -> Array:
        """Z'alpha."""
        return self.state.P[self._loops.C]

    @property
    def r(self) -> Array:
        """What the margins lack to one."""
        return self.state.N[self._loops.R]

    @property
    def w(self) -> Array:
        """Weights of the samples."""
        return self.state.N[self._loops.WEIGHT]

    @property
    def null_steps(self) -> int:
        """How many samples and features were exchanged at constant beta."""
        return int(self.state.num[self._loops.NULLS])

    @property
    def told(self) -> Told:
        """All events so far."""
        return Told.of(self._told)

    def forget(self) -> None:
        """Leave out the events so far."""
        self._told: list[tuple[Array, ...]] = []
        self.snapshots: list[Snapshot] = []

    def snapshot(self) -> Snapshot:
        """The point as it is."""
        S = self.state
        return Snapshot(
            S.x[:4].copy(), self.w.copy(), self.alpha.copy(), self.beta.copy(), S.place.copy(), S.sign.copy()
        )

    @property
    def gap(self) -> float:
        """The relative duality gap of the point, as far as rounding in its margins lets it be known."""
        S, table = self.state, self.table
        gap = relative_gap(
            table.Z, table.y, table.om, table.margin, self.w, float(S.x[1]), float(S.x[2]),
            np.clip(self.alpha, 0.0, self.w), self.beta, self.b,
        )  # fmt: skip
        total = self.w.sum()
        lost = 8 * np.finfo(float).eps * (np.abs(self.beta) @ table.zmax + abs(self.b))
        return gap - lost * total / max(self.w @ np.maximum(self.r, 0.0), 1e-6 * total)

    @property
    def violation(self) -> float:
        """The largest r on the wrong side, or c beyond its threshold in units of the weights on its column."""
        S, om = self.state, self.table.om
        wrong = np.select([S.place == ELBOW, S.place == LEFT, S.place == RIGHT], [np.abs(self.r), -self.r, self.r], 0.0)
        unit = np.maximum(self.w.sum() * self.table.zmax, 1e-300)
        side = np.where(np.abs(S.sign) == 1, S.sign, 0)
        off = np.abs(self.c - S.x[2] * self.beta - S.x[1] * om * side)
        off = np.where(S.sign == ZERO, np.abs(self.c) - S.x[1] * om, off)
        return float(max(wrong.max(initial=0.0), (off / unit).max(initial=0.0)))

    # --- the point that the places determine -------------------------------------------------------------------------

    def seat(self) -> None:
        """Make the elbow system of the places, and the equations of the point hold."""
        if not self._stand(1):
            raise PathError(
                "The samples that are to have a margin of exactly one depend on each other; remove columns or rows "
                "that are nearly copies of others, or use a larger lambda2."
            )

    def stand(self) -> bool:
        """Go to the point that the places alone determine, whatever beta and alpha are; False where they do not."""
        return self._stand(3)

    def stand_near(self) -> bool:
        """The same from a point that is nearly right already."""
        return self._stand(2)

    def drive(self, w: Array) -> bool:
        """Move the weights along a straight line, everything else being kept; False where no attempt is good."""
        S = self.state
        lam1, lam2 = float(S.x[1]), float(S.x[2])
        if np.array_equal(w, self.w):
            return True
        line = Line(lam1, lam2, 0.0, 0.0, w, w - self.w)
        self.turn(1.0, lam1, lam2)
        for _ in range(1 + _REMOVAL * sum(self.table.Z.shape) // _STRETCH):
            code = self._attempts(line, 0.0, -1, False)
            if code == self._loops.END:
                return True
            if code is None:
                return False
        return False

    def _stand(self, rounds: int) -> bool:
        S, loops = self.state, self._loops
        E, A = np.flatnonzero(S.place == ELBOW), np.flatnonzero(S.sign)
        k, m = len(E), len(A)
        if k > m + 1:
            return False
        while k + 2 > S.G.shape[0] or m + 2 > S.W.shape[1]:
            self._grow()
            S = self.state
        S.num[loops.K], S.num[loops.M] = k, m
        S.E[:k], S.A[:m] = E, A
        block = self.table.Z[E][:, A]
        S.W[:k, :m] = block.todense() if sparse.issparse(block) else block
        if not self._factor():
            return False
        for _ in range(rounds):
            self.settle()
        return True

    def _factor(self) -> bool:
        """G from W, by orthogonalising the rows of M; False where they depend on each other."""
        loops, S = self._loops, self.state
        k, m = S.num[:2]
        S.num[loops.IS_FRESH] = 1
        if k == 0:
            return True
        if k > m + 1:
            return False
        rows = np.empty((k, m + 1))
        rows[:, :m], rows[:, m] = S.W[:k, :m], np.sqrt(self.table.tau) * self.table.y[S.E[:k]]
        upper = lapack.dgeqrf(rows.T)[0][:k]
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        if not (np.abs(np.diagonal(upper)) > 0.1 * S.x[loops.DEPENDENT] * length).all():
            return False
        inverse = np.triu(lapack.dtrtri(upper)[0])
        S.G[:k, :k] = inverse @ inverse.T
        return True

    def settle(self) -> None:
        """Correct beta_A, b and alpha_E so that the equations of E and A hold to rounding; nobody changes place."""
        self._measure()
        loops, S = self._loops, self.state
        k, m = S.num[:2]
        E, A, y, lam1, lam2 = S.E[:k], S.A[:m], self.table.y, S.x[1], S.x[2]
        side = np.where(np.abs(S.sign[A]) == 1, S.sign[A], 0)
        f = self.c[A] - lam2 * self.beta[A] - lam1 * S.P[loops.OM][A] * side
        if k == 0:
            if lam2 > 0.0:
                self.beta[A] += f / lam2
                self._measure()
            return
        a, x, b = self._solve(lam2 * self.r[E], f, float(y @ self.alpha))
        self.alpha[E] += a
        if lam2 > 0.0:
            self.beta[A] += x / lam2
            S.x[3] += b / lam2
        else:  # the shortest step onto the elbow
            q = S.G[:k, :k] @ self.r[E]
            self.beta[A] += q @ S.W[:k, :m]
            S.x[3] += self.table.tau * (y[E] @ q)
        self._measure()

    def _solve(self, e: Array, f: Array, g: float) -> tuple[Array, Array, float]:
        """The system at the top of ``_elastic_loops``: a, x and b."""
        S, tau = self.state, self.table.tau
        k, m = S.num[:2]
        G, W, h = S.G[:k, :k], S.W[:k, :m], self.table.y[S.E[:k]]
        q = G @ h
        v = G @ (e - W @ f - tau * g * h)
        b = (h @ v + g) / (h @ q)
        a = v - b * q
        for _ in range(4):
            x = a @ W + f
            left, missing = -g - h @ a, e - h * b - W @ x
            scale = max(abs(b), np.abs(e).max(), (np.abs(x) + np.abs(f)) @ self.table.zmax[S.A[:m]])
            if not np.abs(missing).max() > _REFINED * scale:
                break
            z = G @ (missing + tau * left * h)
            more = (h @ z - left) / (h @ q)
            a, b = a + z - more * q, b + more
        return a, a @ W + f, float(b)

    def _measure(self) -> None:
        """r and c of all samples and features, from beta, b and alpha."""
        loops, S, Z = self._loops, self.state, self.table.Z
        S.N[loops.R] = S.N[loops.MARGIN] - self.table.y * self.b - Z @ self.beta
        S.P[loops.C] = Z.T @ self.alpha

    # --- the walk ----------------------------------------------------------------------------------------------------

    def turn(self, value: float, lam1: float, lam2: float) -> None:
        """Begin a new line, at this value of it, with these parameters."""
        self.state.x[:3] = value, lam1, lam2
        self._top = value
        self.forget()

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
        n, p = self.table.Z.shape
        left, leap = (_MOST * (n + p) + 10_000) // _STRETCH, _LEAP
        while True:
            code = self._attempts(line, end, most_features, record) if left > 0 else None
            if code is None:
                code = self._leap(line, end, leap if left > 0 else 1.0, most_features, record)
                leap *= 10.0
            else:
                leap = _LEAP
            if record:
                self.snapshots.append(self.snapshot())
            if code == self._loops.END:
                return True
            if code == self._loops.STOP:
                return False
            left -= 1

    def _attempts(self, line: Line, end: float, most_features: int, record: bool) -> int | None:
        """One stretch by the first attempt that is good, or the best one; None where none is."""
        start, best = self.snapshot(), None
        for number in range(len(ATTEMPTS)):
            which = (self._attempt + number) % len(ATTEMPTS)
            if number > 0:
                self._restore(start)
                if not self._stand(1):
                    continue
            code, events = self._stretch(line, end, most_features, *ATTEMPTS[which])
            gap = self.gap if code in (self._loops.END, self._loops.FULL, self._loops.STOP) else np.inf
            if gap <= _SURE:
                self._attempt = which
                self._took(which, events, record)
                return code
            if gap <= _PASSABLE and (best is None or gap < best[0]):
                best = gap, which, code, events, self.snapshot()
        if best is None:
            self._restore(start)
            return None
        _, which, code, events, point = best
        self._restore(point)
        if not self._stand(1):
            return None
        self._took(which, events, record)
        return code

    def _took(self, which: int, events: tuple[Array, ...], record: bool) -> None:
        self.shaken = max(self.shaken, ATTEMPTS[which][1])
        if record:
            self._told.append(events)

    def _stretch(
        self, line: Line, end: float, most_features: int, dependent: float, shaken: float
    ) -> tuple[int, tuple[Array, ...]]:
        """Some hundred events; how they ended, and what they were. The point is settled."""
        loops = self._loops
        self._set(line, dependent, shaken)
        code, when, what = self._run(end, _STRETCH, most_features)
        if code in (loops.END, loops.FULL, loops.STOP):
            if shaken:
                self._calm(line)
            self.settle()
        kinds = what[:, 0].astype(np.bool_), what[:, 1], what[:, 2].astype(np.int8), what[:, 3].astype(np.int8)
        return code, (when, *kinds)

    def _set(self, line: Line, dependent: float, shaken: float) -> None:
        """The line and the tolerances for the next steps."""
        loops, S = self._loops, self.state
        S.x[loops.LINE1 : loops.D2 + 1] = line.lam1, line.lam2, line.d1, line.d2
        S.x[loops.DEPENDENT] = dependent
        self._moving = np.flatnonzero(line.dw)
        S.N[loops.W0], S.N[loops.DW] = line.w, line.dw
        if shaken:
            rng = np.random.default_rng(1)
            factor = 1.0 + shaken * rng.random(len(line.w))
            S.N[[loops.W0, loops.DW, loops.WEIGHT]] *= factor
            S.P[loops.OM] *= 1.0 + shaken * rng.random(S.P.shape[1])
            S.N[loops.MARGIN] += shaken * rng.random(len(line.w))
            self._hold_left()
            self.settle()

    def _calm(self, line: Line) -> None:
        """The problem as it is, with the places of the changed one."""
        loops, S = self._loops, self.state
        S.N[loops.MARGIN], S.P[loops.OM] = self.table.margin, self.table.om
        S.N[loops.WEIGHT] = line.at(self.value)[2]
        self._hold_left()
        self.settle()

    def _hold_left(self) -> None:
        """alpha at its bounds off the elbow."""
        place = self.state.place
        self.alpha[:] = np.where(place == ELBOW, self.alpha, np.where(place == LEFT, self.w, 0.0))

    def _run(self, end: float, most: int, most_features: int = -1) -> tuple[int, Array, Array]:
        """Compiled steps up to a value, or through so many events, and these; the one place that calls them.

        They come back every tenth of a second, so that an interrupt is seen.
        """
        loops = self._loops
        when, what = np.empty(most + 8), np.empty((most + 8, 4), np.int64)
        self.state.num[loops.EVENTS] = 0
        announce(loops.run, "the elastic-net engine", _COMPILING)
        while True:
            checkpoint()
            code = loops.run(
                self.table.data, self.state, self._moving, when, what, float(end), most, most_features, _BUDGET
            )
            if code == loops.GROW:
                self._grow()
            elif code == loops.REFACTOR:
                if not self._factor():
                    code = loops.SINGULAR
                    break
            elif code != loops.PAUSE:
                break
        done = int(self.state.num[loops.EVENTS])
        return int(code), when[:done], what[:done]

    def _arrive(self, line: Line, end: float) -> None:
        """Take the end as reached: what is left of the way is rounding."""
        lam1, lam2, w = line.at(end)
        self.state.x[:3] = end, lam1, lam2
        if line.dw.any():
            self.w[:] = w
            self._hold_left()
        self.seat()

    def _grow(self) -> None:
        S = self.state
        k, m = S.G.shape[0], S.W.shape[1]
        rows, columns = k + max(_ROOM, k // 2), m + max(_ROOM, m // 2)
        W, G, Q = np.empty((rows, columns)), np.empty((rows, rows)), np.empty((9, max(rows, columns)))
        W[:k, :m], G[:k, :k], Q[:, : S.Q.shape[1]] = S.W, S.G, S.Q
        self.state = S._replace(W=W, G=G, Q=Q)

    # --- without a walk ----------------------------------------------------------------------------------------------

    def _leap(self, line: Line, end: float, share: float, most_features: int, record: bool) -> int:
        """Go on where no walk does: to a point a little further, or the first one that can be found."""
        loops, before = self._loops, self.snapshot()
        self.leaps += 1
        while True:
            value = max(self.value - share * max(self.value, _NEGLIGIBLE * self._top), end)
            lam1, lam2, w = line.at(value)
            point = corner(self.table, np.array([value, lam1, lam2, 0.0]), w)
            if point is not None or value <= end:
                break
            share *= 10.0
        nowhere = PathError(
            f"No machine could be found at {value:.6g}; scale the columns (standardize=True), remove those that are "
            "nearly copies of others, or use a larger lambda2."
        )
        if point is None:
            raise nowhere
        used = np.count_nonzero((np.abs(point.beta) * self.table.zmax > 1e-8) & (self.table.om > 0.0))
        if 0 <= most_features < used:
            self._restore(before)
            self._stand(1)
            return loops.STOP
        self._restore(point)
        self._top = max(self._top, value)
        if not self._stand(1):
            raise nowhere
        if record:
            self._told.append(_difference(before, point))
        return loops.END if value <= end else loops.FULL

    def leave_out(self, max_events: int | None = None) -> tuple[Array, Array, Array]:
        """Decision values of all samples, each left out; whether its way was walked to the end; how wrong the end is.

        With ``max_events`` nobody changes place after so many events: the rest of the way is taken as straight.
        """
        n = len(self.r)
        f, done, off = np.empty(n), np.ones(n, dtype=bool), np.zeros(n)
        base, y, margin = self.snapshot(), self.table.y, self.table.margin
        first, limit = self._system(), _REMOVAL * (n + len(base.beta)) + 1000
        for i in range(n):
            if not base.alpha[i] > 0.0 or base.w[i] == 0.0:
                without = middle(y, _without(base.w, i), base.alpha, y * (margin - first.N[self._loops.R]))
                f[i] = y[i] * (margin[i] - first.N[self._loops.R, i]) + without
                continue
            self._put(first)
            most, is_straight = limit if max_events is None else max_events, max_events is not None
            f[i], done[i], off[i] = self._removed(i, most, is_straight)
        self._put(first)
        return f, done, off

    def _removed(self, i: int, most: int, is_straight: bool) -> tuple[float, bool, float]:
        """The decision value of one sample while its weight goes to zero; whether all of the way was walked."""
        loops, S = self._loops, self.state
        y, margin = self.table.y[i], self.table.margin[i]
        S.x[0] = 1.0
        if S.place[i] == ELBOW:  # as much of its weight as it does not use goes at once
            S.place[i], self.w[i] = LEFT, self.alpha[i]
            if not self._drop(i):
                return y * (margin - self.r[i]), False, np.inf
        w, dw = self.w.copy(), np.zeros(len(self.w))
        w[i], dw[i] = 0.0, -self.w[i]
        self._set(Line(float(S.x[1]), float(S.x[2]), 0.0, 0.0, w, dw), ATTEMPTS[0][0], 0.0)
        code, _, _ = self._run(0.0, most)
        S = self.state
        if code == loops.FULL and is_straight:
            slope = S.N[loops.DR, i] / S.x[2] if S.x[2] > 0.0 and S.num[loops.K] > 0 else 0.0
            return y * (margin - self.r[i] - S.x[0] * slope), False, 0.0
        if code != loops.END:
            return y * (margin - self.r[i]), False, np.inf
        self.settle()
        self.w[i], S.place[i] = 0.0, OUT
        lacking = middle(self.table.y, self.w, self.alpha, self.table.y * (self.table.margin - self.r))
        return y * (margin - self.r[i]) + lacking, True, self.violation

    def _system(self) -> Any:
        """A copy of the state, to go back to."""
        return self._loops.State(*(part.copy() for part in self.state))

    def _put(self, kept: Any) -> None:
        """Everything as in a copy."""
        k, m = kept.num[:2]
        for mine, its in zip(self.state[:8], kept[:8], strict=True):
            mine[:] = its
        self.state.W[:k, :m], self.state.G[:k, :k] = kept.W[:k, :m], kept.G[:k, :k]

    def _drop(self, i: int) -> bool:
        """Sample i leaves the elbow system."""
        loops, S = self._loops, self.state
        k, m = S.num[:2]
        at = int(np.flatnonzero(S.E[:k] == i)[0])
        rest = np.delete(np.arange(k), at)
        G, column, pivot = S.G[np.ix_(rest, rest)], S.G[rest, at], S.G[at, at]
        S.E[: k - 1], S.W[: k - 1, :m] = S.E[rest], S.W[rest, :m]
        S.num[loops.K], S.num[loops.IS_FRESH] = k - 1, 0
        if not pivot > 0.0:
            return self._factor()
        S.G[: k - 1, : k - 1] = G - np.outer(column, column / pivot)
        return True


def _difference(before: Snapshot, after: Snapshot) -> tuple[Array, ...]:
    """Events that lead from the places of one point to those of another."""
    samples, features = np.flatnonzero(before.place != after.place), np.flatnonzero(before.sign != after.sign)
    index = np.concatenate([samples, features])
    return (
        np.full(len(index), after.x[0]), np.repeat([False, True], [len(samples), len(features)]), index,
        np.concatenate([before.place[samples], before.sign[features]]),
        np.concatenate([after.place[samples], after.sign[features]]),
    )  # fmt: skip


def corner(table: Table, x: Array, w: Array) -> Snapshot | None:
    """The machine at one point without a walk, as places to walk on from; None where they cannot be told.

    The interior-point method tells who is on the elbow. Those of them whose rows depend on the others' are put on the
    left with the weight that they use, so that the machine is that of other weights; along a straight line from these
    to the right ones the walk's null steps make up for it.
    """
    found = direct(table, w, float(x[1]), float(x[2]))
    sign = np.where(found.is_used, np.where(found.beta >= 0.0, PLUS, MINUS), ZERO)
    sign = np.where(table.om == 0.0, FREE, sign).astype(np.int8)
    place = np.select([w == 0.0, found.side < 0, found.side > 0], [OUT, RIGHT, LEFT], ELBOW).astype(np.int8)
    elbow, active = np.flatnonzero(place == ELBOW), np.flatnonzero(sign)
    block = table.Z[elbow][:, active]
    rows = np.column_stack([block.toarray() if sparse.issparse(block) else block, np.sqrt(table.tau) * table.y[elbow]])
    if len(elbow):
        upper, order = linalg.qr(rows.T, mode="r", pivoting=True)
        size = np.abs(np.diagonal(upper)) > _INDEPENDENT * np.linalg.norm(rows[order[: min(upper.shape)]], axis=1)
        rank = len(size) if size.all() else int(np.argmin(size))
        place[elbow[order[rank:]]] = LEFT
    held = np.where((place == LEFT) & (found.side == 0), found.alpha, w)
    alpha = np.where(place == ELBOW, found.alpha, np.where(place == LEFT, held, 0.0))
    beta = np.where(sign != ZERO, found.beta, 0.0)
    point = Snapshot(np.append(x[:3], found.b), held, alpha, beta, place, sign)
    walker = Walker(table, point)
    if not walker.stand_near() or not walker.drive(w):
        return None
    walker.turn(*x[:3])
    return walker.snapshot() if walker.gap <= _PASSABLE else None


def direct(table: Table, w: Array, lam1: float, lam2: float) -> Direct:
    """The machine at one point, by the interior-point method."""
    return solve_directly(table.Z, table.y, table.om, table.margin, w, lam1, lam2)


def _without(w: Array, i: int) -> Array:
    """Weights without a sample."""
    w = w.copy()
    w[i] = 0.0
    return w


def crash(table: Table, w: Array) -> Snapshot:
    """A point with beta = 0 that is optimal for a large lambda1, which it tells; its offset is that of the constants.

    The lighter class is on the left; of the heavier one as many as it takes, first those whose rows lie where they
    make c small. The one that is filled in part is on the elbow.
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
    lam1 = threshold(table, np.asarray(Z.T @ alpha).ravel(), w)
    beta, sign = np.zeros(Z.shape[1]), np.zeros(Z.shape[1], np.int8)
    return Snapshot(np.array([0.0, lam1, 0.0, b]), w.copy(), alpha, beta, place, sign)


def threshold(table: Table, c: Array, w: Array) -> float:
    """The smallest lambda1 for which no penalised feature is beyond its threshold; rounding in c is none."""
    noise, penalised = _ROUNDING * w.sum() * table.zmax, table.om > 0.0
    c = np.where(np.abs(c) > noise, np.abs(c), 0.0)
    return float(np.max(c[penalised] / table.om[penalised], initial=0.0))


def start(table: Table, w: Array, lam2: float) -> Walker:
    """A walker where no penalised feature is used, at the lambda1 that it tells, which is also its value."""
    free = np.flatnonzero(table.om == 0.0)
    if not len(free):
        return _seated(table, crash(table, w), lam2)
    # First the machine of the free features alone: they are penalised, too, until lambda1 = 0.
    alone = table.of_columns(free)
    walker = _seated(alone, crash(alone, w), lam2)
    if walker.state.x[1] > 0.0:
        walker.to(Line.lambda1(lam2, w), 0.0, record=False)
    found, p = walker.snapshot(), len(table.om)
    beta, sign = np.zeros(p), np.zeros(p, np.int8)
    beta[free], sign[free] = found.beta, FREE
    point = replace(found, beta=beta, sign=sign)
    point.x[1] = threshold(table, np.asarray(table.Z.T @ found.alpha).ravel(), w)
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
        walker.to(Line.lambda1(float(S.x[2]), walker.w.copy()), lam1, record=False)
    S.x[1] = lam1

"""The walk along a line of the elastic-net hinge machine, from event to event, and what is done where it fails.

A walk goes in stretches of some hundred events. After each the point is settled and its duality gap is measured; a
stretch that ends nowhere, or not well, is walked again with other tolerances, or with weights, factors and margins
perturbed a little, so that there are no ties (``ATTEMPTS``). Where nothing helps, the point a little further on is
found without a walk (``corner``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from svmpath.exceptions import PathError
from svmpath.solvers.attempts import try_in_turn
from svmpath.solvers.compiling import announce
from svmpath.solvers.elastic.design import Design, Line, Snapshot
from svmpath.solvers.elastic.interior_point import solve_directly
from svmpath.solvers.elastic.measure import offset_shift
from svmpath.solvers.elastic.point import PlacedPoint
from svmpath.solvers.events import EventLog
from svmpath.solvers.loops import elastic_state as layout
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, MINUS, OUT, PLUS, UNPENALISED, ZERO
from svmpath.solvers.loops.elastic_tolerances import (
    ATTEMPTS,
    BUDGET,
    EVENTS_PER_PLACE,
    INDEPENDENT,
    LEAP,
    NEGLIGIBLE,
    PASSABLE,
    REMOVAL_EVENTS,
    STRETCH,
    SURE,
    UNUSED,
)
from svmpath.solvers.parallel import checkpoint

Array = np.ndarray

_COMPILING = 15.0  # seconds, about


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Where an attempt at a stretch has ended: its number, the gap there, how it ended, its events, and the point."""

    attempt: int
    gap: float
    code: int
    log: EventLog
    point: Snapshot


class ElasticWalker(PlacedPoint):
    """A point on the solution path, which can be moved on along lines.

    Attributes
    ----------
    perturbation : float
        The most by which weights, factors and margins had to be perturbed.
    leaps : int
        How often a walk had to skip something.
    snapshots : list of Snapshot
        Points of the walk, one per stretch.
    """

    def __init__(self, design: Design, point: Snapshot) -> None:
        super().__init__(design, point)
        self._moving = np.empty(0, np.int64)
        self._attempt = 0
        self.perturbation, self.leaps = 0.0, 0
        self.begin_line(*point.x[:3].tolist())

    @property
    def events(self) -> EventLog:
        """All events so far; ``extra`` says whether an event is a feature's."""
        return EventLog.joined(self._logs, extra=bool)

    def move_weights(self, w: Array) -> bool:
        """Move the weights along a straight line, everything else being kept; False where no attempt is good."""
        lam1, lam2 = self.lam1, self.lam2
        if np.array_equal(w, self.w):
            return True
        line = Line(lam1, lam2, 0.0, 0.0, w, w - self.w)
        self.begin_line(1.0, lam1, lam2)
        for _ in range(1 + REMOVAL_EVENTS * sum(self.design.Z.shape) // STRETCH):
            code = self._attempts(line, 0.0, -1, False)
            if code in (layout.END, None):
                return code == layout.END
        return False

    def begin_line(self, value: float, lam1: float, lam2: float) -> None:
        """Begin a new line, at this value of it, with these parameters."""
        self.state.x[:3] = value, lam1, lam2
        self._top = value
        self._logs: list[EventLog] = []
        self.snapshots: list[Snapshot] = []

    def to(self, line: Line, end: float, *, most_features: int = -1, record: bool = True) -> bool:
        """Walk to a smaller value on a line; False where it stopped before, at the number of features allowed."""
        near = NEGLIGIBLE * self._top
        if end >= near or end >= self.value:
            return self._to(line, end, most_features, record)
        done = self.value <= near or self._to(line, near, most_features, record)
        if done:
            # At once: the rest of the way is rounding.
            lam1, lam2, w = line.at(end)
            self.state.x[:3] = end, lam1, lam2
            if line.dw.any():
                self.w[:] = w
                self._keep_bounds()
            self.assemble()
            if record:
                self.snapshots.append(self.snapshot())
        return done

    def _to(self, line: Line, end: float, most_features: int, record: bool) -> bool:
        n, p = self.design.Z.shape
        stretches, leap = (EVENTS_PER_PLACE * (n + p) + 10_000) // STRETCH, LEAP
        while True:
            code = self._attempts(line, end, most_features, record) if stretches > 0 else None
            if code is None:
                code = self._leap(line, end, leap if stretches > 0 else 1.0, most_features, record)
                leap *= 10.0
            else:
                leap = LEAP
            if record:
                self.snapshots.append(self.snapshot())
            if code == layout.END:
                return True
            if code == layout.STOP:
                return False
            stretches -= 1

    def _attempts(self, line: Line, end: float, most_features: int, record: bool) -> int | None:
        """One stretch by the first attempt that is good, or the best one; None where none is."""
        start, count = self.snapshot(), len(ATTEMPTS)

        def attempt(which: int) -> _Stretch | None:
            if which != self._attempt:
                self._restore(start)
                if not self.solve_places(1):
                    return None
            code, log = self._stretch(line, end, most_features, *ATTEMPTS[which])
            gap = self.gap if code in (layout.END, layout.FULL, layout.STOP) else np.inf
            return _Stretch(which, gap, code, log, self.snapshot()) if gap <= PASSABLE else None

        tried = try_in_turn(
            [(self._attempt + number) % count for number in range(count)], attempt, is_good=lambda one: one.gap <= SURE
        )
        best = tried.best(lambda one: one.gap)
        if tried.good is not None:
            self._attempt = tried.good.attempt
        else:
            self._restore(start if best is None else best.point)
            if best is None or not self.solve_places(1):
                return None
        assert best is not None
        self.perturbation = max(self.perturbation, ATTEMPTS[best.attempt][1])
        if record:
            self._logs.append(best.log)
        return best.code

    def _stretch(
        self, line: Line, end: float, most_features: int, dependent: float, perturbation: float
    ) -> tuple[int, EventLog]:
        """Some hundred events; how they ended, and what they were. The point is settled."""
        self._prepare(line, dependent, perturbation)
        code, when, what = self._run(end, STRETCH, most_features)
        if code in (layout.END, layout.FULL, layout.STOP):
            if perturbation:  # the problem as it is, with the places of the perturbed one
                S = self.state
                S.N[layout.MARGIN], S.P[layout.OM] = self.design.margin, self.design.om
                S.N[layout.WEIGHT] = line.at(self.value)[2]
                self._keep_bounds()
                self.settle()
            self.settle()
        source, target, is_feature = what[:, 2].astype(np.int8), what[:, 3].astype(np.int8), what[:, 0].astype(np.bool_)
        return code, EventLog(when, what[:, 1], source, target, is_feature)

    def _prepare(self, line: Line, dependent: float, perturbation: float) -> None:
        """The line and the tolerances for the next steps."""
        S = self.state
        S.x[layout.LINE1 : layout.D2 + 1] = line.lam1, line.lam2, line.d1, line.d2
        S.x[layout.DEPENDENT] = dependent
        self._moving = np.flatnonzero(line.dw)
        S.N[layout.W0], S.N[layout.DW] = line.w, line.dw
        if perturbation:
            rng = np.random.default_rng(1)
            factor = 1.0 + perturbation * rng.random(len(line.w))
            S.N[[layout.W0, layout.DW, layout.WEIGHT]] *= factor
            S.P[layout.OM] *= 1.0 + perturbation * rng.random(S.P.shape[1])
            S.N[layout.MARGIN] += perturbation * rng.random(len(line.w))
            self._keep_bounds()
            self.settle()

    def _run(self, end: float, most: int, most_features: int = -1) -> tuple[int, Array, Array]:
        """Compiled steps up to a value, or through so many events, and these; the one place that calls them.

        They come back every tenth of a second, so that an interrupt is seen.
        """
        from svmpath.solvers.loops.elastic_walk import run  # numba is imported when first used

        when, what = np.empty(most + 8), np.empty((most + 8, 4), np.int64)
        self.state.num[layout.LOGGED] = 0
        announce(run, "the elastic-net engine", _COMPILING)
        while True:
            checkpoint()
            code = run(
                self.design.arrays, self.state, self._moving, when, what, float(end), most, most_features, BUDGET
            )
            if code == layout.GROW:
                self._grow()
            elif code == layout.REFACTOR:
                if not self._factor():
                    code = layout.SINGULAR
                    break
            elif code != layout.PAUSE:
                break
        done = int(self.state.num[layout.LOGGED])
        return int(code), when[:done], what[:done]

    def _leap(self, line: Line, end: float, share: float, most_features: int, record: bool) -> int:
        """Go on where no walk does: to a point a little further, or the first one that can be found."""
        before = self.snapshot()
        self.leaps += 1
        while True:
            value = max(self.value - share * max(self.value, NEGLIGIBLE * self._top), end)
            lam1, lam2, w = line.at(value)
            point = corner(self.design, w, value, lam1, lam2)
            if point is not None or value <= end:
                break
            share *= 10.0
        nowhere = PathError(
            f"No machine could be found at {value:.6g}; scale the columns (standardize=True), remove those that are "
            "nearly copies of others, or use a larger lambda2."
        )
        if point is None:
            raise nowhere
        used = np.count_nonzero((np.abs(point.beta) * self.design.zmax > UNUSED) & (self.design.om > 0.0))
        if 0 <= most_features < used:
            self._restore(before)
            self.solve_places(1)
            return layout.STOP
        self._restore(point)
        self._top = max(self._top, value)
        if not self.solve_places(1):
            raise nowhere
        if record:
            places, signs = np.flatnonzero(before.place != point.place), np.flatnonzero(before.sign != point.sign)
            index = np.concatenate([places, signs])
            source = np.concatenate([before.place[places], before.sign[signs]])
            target = np.concatenate([point.place[places], point.sign[signs]])
            is_feature = np.arange(len(index)) >= len(places)
            self._logs.append(EventLog(np.full(len(index), point.value), index, source, target, is_feature))
        return layout.END if value <= end else layout.FULL

    def leave_out(self, max_events: int | None = None) -> tuple[Array, Array, Array]:
        """Held-out decision values of all samples; whether each removal was completed; and the violation at its end.

        With ``max_events`` places are kept fixed after that many events: the rest of the way is a straight line.
        """
        n, (k, m) = len(self.r), self.state.num[:2]
        held = np.zeros((3, n))  # decision values, whether each removal was completed, violations
        first = layout.ElasticState(*(part.copy() for part in self.state))
        most = REMOVAL_EVENTS * (n + len(self.beta)) + 1000 if max_events is None else max_events
        if max_events is None:
            self._leave_out_at_once(held, first, most)
        y, margin, alpha, w, r = self.design.y, self.design.margin, *first.N[[layout.ALPHA, layout.WEIGHT, layout.R]]
        for i in np.flatnonzero(held[1] == 0.0).tolist():
            if not alpha[i] > 0.0 or w[i] == 0.0:
                rest = np.where(np.arange(n) == i, 0.0, w)
                shift = offset_shift(y, rest, alpha, y * (margin - r))
                held[:, i] = y[i] * (margin[i] - r[i]) + shift, 1.0, 0.0
            else:
                held[:, i] = self._remove(i, most, max_events is not None)
                S = self.state
                for part, original in zip(S[:8], first[:8], strict=True):
                    part[:] = original
                S.W[:k, :m], S.G[:k, :k] = first.W[:k, :m], first.G[:k, :k]
        return held[0], held[1] == 1.0, held[2]

    def _leave_out_at_once(self, held: Array, first: layout.ElasticState, most: int) -> None:
        """Fill in the samples whose removals compiled code completes by itself: nearly all."""
        from svmpath.solvers.loops.elastic_removal import leave_out  # numba is imported when first used

        room = np.empty(1, np.int64), np.empty(0), np.empty((0, 4), np.int64)  # events are not written down
        announce(leave_out, "leave-one-out of the elastic net", _COMPILING)
        i, n = 0, held.shape[1]
        while i < n:
            checkpoint()
            i = int(leave_out(self.design.arrays, self.state, first, held, i, *room, most, BUDGET))

    def _remove(self, i: int, most: int, is_straight: bool) -> tuple[float, bool, float]:
        """The decision value of one sample while its weight goes to zero; whether all of the way was walked."""
        S, y, margin = self.state, self.design.y[i], self.design.margin[i]
        S.x[layout.U] = 1.0
        if S.place[i] == ELBOW:  # as much of its weight as it does not use goes at once
            S.place[i], self.w[i] = LEFT, self.alpha[i]
            if not self._drop(i):
                return y * (margin - self.r[i]), False, np.inf
        w, dw = self.w.copy(), np.zeros(len(self.w))
        w[i], dw[i] = 0.0, -self.w[i]
        self._prepare(Line(self.lam1, self.lam2, 0.0, 0.0, w, dw), ATTEMPTS[0][0], 0.0)
        code, _, _ = self._run(0.0, most)
        S = self.state
        if code == layout.FULL and is_straight:
            slope = S.N[layout.DR, i] / self.lam2 if self.lam2 > 0.0 and S.num[layout.K] > 0 else 0.0
            return y * (margin - self.r[i] - S.x[layout.U] * slope), False, 0.0
        if code != layout.END:
            return y * (margin - self.r[i]), False, np.inf
        self.settle()
        self.w[i], S.place[i] = 0.0, OUT
        lacking = offset_shift(self.design.y, self.w, self.alpha, self.design.y * (self.design.margin - self.r))
        return y * (margin - self.r[i]) + lacking, True, self.violation


def corner(design: Design, w: Array, value: float, lam1: float, lam2: float) -> Snapshot | None:
    """The machine at one point without a walk, as places to walk on from; None where they cannot be found.

    The interior-point method finds which samples are on the elbow. Those of them whose rows depend on the others' are
    put on the left with the weight that they use, so that the machine is that of other weights; along a straight line
    from these to the right ones the walk's null steps make up for it.
    """
    inner = solve_directly(design, w, lam1, lam2)
    sign = np.where(inner.is_used, np.where(inner.beta >= 0.0, PLUS, MINUS), ZERO)
    sign = np.where(design.om == 0.0, UNPENALISED, sign).astype(np.int8)
    place, elbow, active = inner.place.copy(), np.flatnonzero(inner.place == ELBOW), np.flatnonzero(sign)
    block = design.Z[elbow][:, active]
    block = block.toarray() if sparse.issparse(block) else block
    rows = np.column_stack([block, np.sqrt(design.tau) * design.y[elbow]])
    if len(elbow):
        upper, order = linalg.qr(rows.T, mode="r", pivoting=True)
        size = np.abs(np.diagonal(upper)) > INDEPENDENT * np.linalg.norm(rows[order[: min(upper.shape)]], axis=1)
        rank = len(size) if size.all() else int(np.argmin(size))
        place[elbow[order[rank:]]] = LEFT
    used = np.where((place == LEFT) & (inner.place == ELBOW), inner.alpha, w)
    alpha = np.where(place == ELBOW, inner.alpha, np.where(place == LEFT, used, 0.0))
    x, beta = np.array([value, lam1, lam2, inner.b]), np.where(sign != ZERO, inner.beta, 0.0)
    walker = ElasticWalker(design, Snapshot(x, used, alpha, beta, place, sign))
    if not walker.solve_places(rounds=2) or not walker.move_weights(w):
        return None
    walker.begin_line(value, lam1, lam2)
    return walker.snapshot() if walker.gap <= PASSABLE else None

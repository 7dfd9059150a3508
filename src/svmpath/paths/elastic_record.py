"""What is kept of a walk along an elastic-net path, and the machines that are read from it.

The machine at a value is solved afresh from the places there, and measured. Where it is not good, the walk is repeated
from the last snapshot; where that does not lead to it either, it is solved for directly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.exceptions import PathError
from svmpath.losses.elastic_hinge import ElasticSolution
from svmpath.paths.elastic_family import GAP_OF_WALKS, ElasticFamily
from svmpath.paths.path import Array
from svmpath.solvers.attempts import try_in_turn
from svmpath.solvers.elastic.design import Snapshot
from svmpath.solvers.elastic.interior_point import solve_directly
from svmpath.solvers.elastic.walk import ElasticWalker
from svmpath.solvers.events import EventLog
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, ZERO

_GOOD_GAP = 1e-11  # a relative duality gap of rounding: no better machine is looked for
_GOOD_VIOLATION = 1e-9  # the same for its violation
_EVENT_DIGITS = 1e-9  # relative; so near to an event the places before or after it may be the right ones
_LARGEST_GAP = 1e-6  # a machine with a larger one is not returned: PathError


@dataclass(frozen=True, eq=False)
class ElasticRecord:
    """A walk: the first point, the events and snapshots, and what it took.

    Attributes
    ----------
    family : ElasticFamily
        The machines among which it leads.
    first : Snapshot
        Where it begins, at its largest value.
    events : EventLog
        ``extra`` says whether an event is a feature's.
    snapshots : list of Snapshot
    end : float
        The value where it ended.
    perturbation, leaps, null_steps
        As in :class:`ElasticPath`.
    """

    family: ElasticFamily
    first: Snapshot
    events: EventLog
    snapshots: list[Snapshot]
    end: float
    perturbation: float
    leaps: int
    null_steps: int

    @staticmethod
    def of_span(family: ElasticFamily, low: float, high: float, max_features: int | None) -> ElasticRecord:
        """The walk from one value to another; where none can begin, the machine at the larger one."""
        try:
            return ElasticRecord.of_walk(family, family.begin(high), low, max_features)
        except PathError:
            if max_features is not None:
                raise
        w, lam1, lam2 = family.at(high)
        inner = solve_directly(family.design, w, lam1, lam2)
        beta = np.where(inner.is_used, inner.beta, 0.0)
        sign = np.where(inner.is_used, np.sign(beta), ZERO).astype(np.int8)
        first = Snapshot(np.array([high, lam1, lam2, inner.b]), w, inner.alpha, beta, inner.place, sign)
        return ElasticRecord(family, first, EventLog.of(extra=bool), [], low, 0.0, 1, 0)

    @staticmethod
    def of_walk(family: ElasticFamily, walker: ElasticWalker, low: float, max_features: int | None) -> ElasticRecord:
        """The walk from where a walker is to a smaller value, or to where more features would be used."""
        first, end = walker.snapshot(), walker.value
        if low < end:
            try:
                walker.to(family.line, low, most_features=-1 if max_features is None else max_features)
                end = walker.value
            except PathError:
                # No walk leads there: these machines are solved directly, one by one, but it is not known where they
                # begin to use too many features.
                end = low if max_features is None else walker.value
        kept = walker.events, walker.snapshots, end
        return ElasticRecord(family, first, *kept, walker.perturbation, walker.leaps, walker.null_steps)

    def places(self, value: float) -> tuple[Array, Array]:
        """The places of samples and features at a value; at an event, those after it."""
        place, sign = self.first.place.copy(), self.first.sign.copy()
        done = self.events.count_until(value, falling=True)
        index, target, is_feature = self.events.index[:done], self.events.target[:done], self.events.extra[:done]
        place[index[~is_feature]] = target[~is_feature]  # of several events of one the last counts
        sign[index[is_feature]] = target[is_feature]
        return place, sign

    def machine(self, value: float) -> ElasticSolution:
        """The machine at a value: from the recorded places, or where that is not good from the walk itself."""

        def attempt(places_at: float | None) -> ElasticSolution | None:
            if value >= self.first.value:
                return self.family.machine(value, self.first)
            walker = self._walk(value) if places_at is None else self._solve_places(value, places_at)
            return None if walker is None else self.family.machine(value, walker)

        # Events are known to so many digits: near to one the places on its other side are tried, too.
        nearby = (value, value * (1.0 + _EVENT_DIGITS), value * (1.0 - _EVENT_DIGITS), None)
        tried = try_in_turn(nearby[:1] if value >= self.first.value else nearby, attempt, is_good=_is_good)
        best = tried.best(_badness)
        if best is None or (tried.good is None and not best.gap <= GAP_OF_WALKS):
            best = _better(best, self.family.solve_alone(value))
        if not _is_good(best) and not best.gap <= _LARGEST_GAP:
            raise PathError(
                f"No machine could be found at {self.family.path_parameter.over} = {value:.6g}; scale the columns "
                "(standardize=True), remove those that are nearly copies of others, or use a larger lambda2."
            )
        return best

    def walker_at(self, value: float) -> ElasticWalker:
        """A walker at a value, with its elbow system."""
        if value > self.first.value:
            return self.family.start_at(value)
        walker = self._solve_places(value, value)
        if walker is not None and _is_good(self.family.machine(value, walker)):
            return walker
        solution = self.machine(value)
        if walker is not None and self.family.machine(value, walker).gap <= max(_GOOD_GAP, 2 * solution.gap):
            return walker
        return self._walk(value)

    def _solve_places(self, value: float, places_at: float) -> ElasticWalker | None:
        """A walker at a value with the recorded places of another; None if these do not determine a point."""
        (place, sign), (w, lam1, lam2) = self.places(places_at), self.family.at(value)
        if lam2 == 0.0 and np.count_nonzero(place == ELBOW) < np.count_nonzero(sign) + 1:
            return None  # beta is not determined by the places
        x, alpha, beta = np.array([value, lam1, lam2, 0.0]), np.where(place == LEFT, w, 0.0), np.zeros(len(sign))
        walker = ElasticWalker(self.family.design, Snapshot(x, w, alpha, beta, place, sign))
        return walker if walker.solve_places() else None

    def _walk(self, value: float) -> ElasticWalker:
        """The walk to a value once more, from the last snapshot before it."""
        passed = [point for point in self.snapshots if point.value >= value]
        walker = ElasticWalker(self.family.design, passed[-1] if passed else self.first)
        walker.assemble()
        walker.to(self.family.line, value, record=False)
        return walker


def unrecorded_machine(family: ElasticFamily, walker: ElasticWalker | None, value: float) -> ElasticSolution | None:
    """The machine of a walker that was moved to a value, or a better one; None where there is no good one."""
    best = None if walker is None else family.machine(value, walker)
    if best is None or not best.gap <= GAP_OF_WALKS:
        best = _better(best, family.solve_alone(value))
    return best if best.gap <= _LARGEST_GAP else None


def _badness(solution: ElasticSolution) -> float:
    """Gap and violation in units of what needs no polish."""
    worst = max(solution.gap / _GOOD_GAP, solution.violation / _GOOD_VIOLATION)
    return worst if np.isfinite(worst) else np.inf


def _is_good(solution: ElasticSolution) -> bool:
    return _badness(solution) <= 1.0


def _better(one: ElasticSolution | None, other: ElasticSolution) -> ElasticSolution:
    return other if one is None else min(one, other, key=_badness)

"""Paths of the elastic-net hinge machine: over lambda1, lambda2, a ray of both, or the weight of some samples.

A walk (``solvers.elastic``) goes through all events while the value falls. What is kept of it are the places at its
beginning, the events, and a snapshot after every few hundred of them. The machine at a value is solved afresh from the
places there, and measured; where it is not good, the walk is repeated from the last snapshot.

Where no penalised feature is used, the machine does not depend on lambda1: above :attr:`ElasticPath.first_value` it is
that of this value, and there are no events.

The walk measures itself. A stretch of it that is not good is repeated with other tolerances, or with weights, penalty
factors and margins perturbed by 1e-10 of themselves, so that there are no ties (:attr:`ElasticPath.perturbation`).
Where nothing helps, a millionth of the value or more is skipped (:attr:`ElasticPath.leaps`). Every machine that is
returned is measured, too; where the walk does not lead to it, it is solved for directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.lazy import lazy, with_known
from svmpath.losses.elastic_hinge import ElasticHinge, ElasticProblem, ElasticSolution
from svmpath.paths.elastic_record import Record, is_plain, penalties
from svmpath.paths.elastic_record import line as line_of
from svmpath.paths.path import Array, Event, Path
from svmpath.solvers.attempts import try_in_turn
from svmpath.solvers.elastic import (
    ELBOW,
    LEFT,
    OUT,
    RIGHT,
    ZERO,
    Line,
    Snapshot,
    Table,
    Walker,
    corner,
    direct,
    start,
    walk_to,
)
from svmpath.solvers.events import EventLog
from svmpath.solvers.threads import blas_threads

# When a machine is good, and what is done until it is:
_GOOD_GAP = 1e-11  # a relative duality gap of rounding: no better machine is looked for
_GOOD_VIOLATION = 1e-9  # the same for its violation
_EVENT_DIGITS = 1e-9  # relative; so near to an event the places before or after it may be the right ones
_GAP_OF_WALKS = 1e-9  # a relative gap up to which a machine need not be solved for directly
_LARGEST_GAP = 1e-6  # a machine with a larger one is not returned: PathError
_PLACES = {RIGHT: "right", ELBOW: "elbow", LEFT: "left", OUT: "out"}


@dataclass(frozen=True, repr=False, eq=False)
class ElasticPath(Path):
    """The elastic-net hinge machine over one parameter; piecewise linear, over lambda2 in 1 / lambda2.

    Attributes
    ----------
    max_features : int or None
        The walk ends where one more would be used; ``span`` says where.

    See Also
    --------
    svmpath.trace_elastic : Follow the elastic-net hinge machine.
    svmpath.paths.SPath : The path over the size of the coefficients.
    svmpath.paths.elastic.FeatureEvent : One feature changes its place.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 5)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> path = svmpath.trace_elastic(X, y, lambda2=1.0)
    >>> path(path.span[0]).features.tolist(), path(1.0).gap < 1e-9
    ([], True)
    """

    problem: ElasticProblem
    loss: ElasticHinge
    max_features: int | None = None

    def __repr__(self) -> str:
        (first, last), problem = self.span, self.problem
        return (
            f"<Path: {self.loss.name} over {self.over} from {first:.6g} to {last:.6g}; {problem.n} samples, "
            f"{problem.p} features>"
        )

    @lazy
    def table(self) -> Table:
        """The rows, with the penalty factors that hold on this path."""
        table = self.problem.table
        return table.with_om(np.zeros_like(table.om)) if is_plain(self.motion) else table

    @lazy
    def record(self) -> Record:
        """The walk over the span."""
        with blas_threads(self.problem.n * self.problem.p):
            try:
                walker, line = self.begin(self._ends[1])
            except PathError:
                if self.max_features is not None:
                    raise
                return self._unwalked(self._ends[1])
            return self._follow(walker, line)

    def _unwalked(self, value: float) -> Record:
        """What is known where no walk can begin: a machine at the largest value; the others are solved for directly."""
        here, w = penalties(self.motion, value), self.motion.weights(self.problem.s, value)
        found = direct(self.table, w, here["lambda1"], here["lambda2"])
        place = np.select([w == 0.0, found.side < 0, found.side > 0], [OUT, RIGHT, LEFT], ELBOW).astype(np.int8)
        sign = np.where(found.is_used, np.sign(found.beta), ZERO).astype(np.int8)
        x = np.array([value, here["lambda1"], here["lambda2"], found.b])
        first = Snapshot(x, w, found.alpha, np.where(found.is_used, found.beta, 0.0), place, sign)
        log = EventLog.of(extra=bool)
        return Record(value, first, line_of(self.motion, self.problem.s), log, [], self._ends[0], 0.0, 1, 0)

    @property
    def perturbation(self) -> float:
        """By how much weights, factors and margins had to be changed, relative, to follow the path; 0 as a rule."""
        return self.record.perturbation

    @property
    def leaps(self) -> int:
        """How often the walk could not be followed, and a millionth of the value or more was skipped; 0 as a rule.

        Events in what was skipped are missing from :meth:`events` and ``breakpoints``; machines there are solved for.
        """
        return self.record.leaps

    @property
    def null_steps(self) -> int:
        """Exchanges at constant coefficients: what ties and duplicates cost."""
        return self.record.null_steps

    @property
    def first_value(self) -> float:
        """The value below which the machine is no longer constant (lambda1 and rays), if that is inside the span."""
        return self.record.value

    @property
    def _ends(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return min(self.span), max(self.span)

    @property
    def _is_reversed(self) -> bool:
        return self.span[0] < self.span[1]

    def _follow(self, walker: Walker, line: Line) -> Record:
        """The walk from where a walker is."""
        low, first, limit, value = self._ends[0], walker.snapshot(), self.max_features, walker.value
        end = value
        if low < value:
            try:
                walker.to(line, low, most_features=-1 if limit is None else limit)
                end = walker.value
            except PathError:
                # No walk leads there: these machines are solved directly, one by one, but it is not known where they
                # begin to use too many features.
                end = low if limit is None else walker.value
        done = walker.events, walker.snapshots, end
        return Record(value, first, line, *done, walker.perturbation, walker.leaps, walker.null_steps)

    def begin(self, value: float) -> tuple[Walker, Line]:
        """A walker at the value (or, where the machine is constant, where it ceases to be so), and the line ahead."""
        table, motion, s = self.table, self.motion, self.problem.s
        line = line_of(motion, s)
        if self.has_top:
            return self._from_the_top(table, s, value, line), line
        here = penalties(motion, value)
        walker = start(table, motion.weights(s, value), here["lambda2"])
        walk_to(walker, here["lambda1"])
        walker.begin_line(value, here["lambda1"], here["lambda2"])
        return walker, line

    @property
    def has_top(self) -> bool:
        """Whether the machine is constant above some value."""
        over, motion = self.over, self.motion
        return over == "lambda1" or (over == "ray" and not is_plain(motion) and bool(np.all(self.table.om > 0.0)))

    def _from_the_top(self, table: Table, w: Array, value: float, line: Line) -> Walker:
        """Over lambda1 or a ray, from where no penalised feature is used: down to the value if that is lower."""
        walker = start(table, w, self.motion.fixed.get("lambda2", 0.0))
        top = walker.lam1 / penalties(self.motion, 1.0)["lambda1"]
        self._begin_line(walker, top)
        b = walker.b
        if top > 0.0:
            walker.to(line, 0.0, most_features=0, record=False)
            walker.beta[table.om > 0.0] = 0.0  # exactly
            if abs(b) == 1.0 and (table.om > 0.0).all():
                walker.state.x[3] = b  # which a beta of rounding has moved
        if value < walker.value:
            walker.to(line, value, record=False)
        self._begin_line(walker, walker.value)
        return walker

    def _begin_line(self, walker: Walker, value: float) -> None:
        here = penalties(self.motion, value)
        walker.begin_line(value, here["lambda1"], here["lambda2"])

    def from_the_top(self, part: float) -> ElasticPath:
        """The path from where the machine ceases to be constant to a part of that value; walked at once."""
        with blas_threads(self.problem.n * self.problem.p):
            walker, line = self.begin(np.inf)
            top = walker.value or 1.0
            path = replace(self, span=(top, part * top))
            return with_known(path, record=path._follow(walker, line))

    def top(self) -> float:
        """The value below which the machine is no longer constant, wherever the span is; 0 if there is none."""
        return self.begin(np.inf)[0].value

    # --- breakpoints and events --------------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> Array:
        """The values at which a sample or a feature changes its place, and both ends, in the direction of the span."""
        record, (low, high) = self.record, self._ends
        inside = record.events.t
        top = [record.value] if low < record.value < high else []
        inside = np.unique(np.concatenate([inside[(inside > low) & (inside < high)], top]))
        nodes = np.concatenate([[low], inside, [high]])
        nodes = nodes[np.concatenate([[True], np.diff(nodes) > 0])]
        return nodes if self._is_reversed else nodes[::-1]

    def events(self) -> Iterable[Event]:
        """Every change of place, in the direction of the span; features are "zero" or "active"."""
        log = self.record.events
        if not self._is_reversed:
            yield from self._first_features()
        for k in range(len(log) - 1, -1, -1) if self._is_reversed else range(len(log)):
            value, index = float(log.t[k]), int(log.index[k])
            source, target = int(log.source[k]), int(log.target[k])
            if self._is_reversed:
                source, target = target, source
            if not log.extra[k]:  # a sample's
                yield Event(value, index, _PLACES[source], _PLACES[target])
            else:
                yield FeatureEvent(value, index, _feature(source), _feature(target))
        if self._is_reversed:
            yield from self._first_features()

    def _first_features(self) -> Iterator[Event]:
        """The features that come into use where the machine ceases to be constant."""
        first = self.record.first
        penalised = self.table.om > 0.0
        low, high = sorted(self.span)
        if self.has_top and low <= self.record.value <= high and not first.beta[penalised].any():
            used = np.flatnonzero(penalised & (first.sign != ZERO)).tolist()
            ends = ("active", "zero") if self._is_reversed else ("zero", "active")
            for j in used[::-1] if self._is_reversed else used:
                yield FeatureEvent(self.record.value, j, *ends)

    def __call__(self, value: float) -> ElasticSolution:
        """The solution at a value inside the span."""
        return self._solve(self.inside(value))

    def _solve(self, value: float) -> ElasticSolution:
        with blas_threads(self.problem.n * self.problem.p):
            return self._at(value)

    def _at(self, value: float) -> ElasticSolution:
        """The machine at a value: from the recorded places, or where that is not good from the walk itself."""
        is_first = value >= self.record.value
        answers = (self._constant,) if is_first else (self._solved, self._before, self._after, self._walked)
        tried = try_in_turn(answers, lambda answer: answer(value), is_good=_is_good)
        best = tried.best(_badness)
        if tried.good is None and (best is None or not best.gap <= _GAP_OF_WALKS):
            found = self._direct(value)
            best = found if best is None else min(best, found, key=_badness)
        if best is not None and _is_good(best):
            return best
        if best is None or not best.gap <= _LARGEST_GAP:
            raise PathError(
                f"No machine could be found at {self.over} = {value:.6g}; scale the columns (standardize=True), remove "
                "those that are nearly copies of others, or use a larger lambda2."
            )
        return best

    def _direct(self, value: float) -> ElasticSolution:
        """The machine without any walk: as a corner where that can be had, else from inside the set of solutions."""
        here, w = penalties(self.motion, value), self.motion.weights(self.problem.s, value)
        lam1, lam2 = here["lambda1"], here["lambda2"]
        point = corner(self.table, np.array([value, lam1, lam2, 0.0]), w)
        if point is not None:
            solution = self._read(value, point.alpha, point.beta, float(point.x[3]))
            if solution.gap <= _GAP_OF_WALKS:
                return solution
        found = direct(self.table, w, lam1, lam2)
        sparse = self._read(value, found.alpha, np.where(found.is_used, found.beta, 0.0), found.b)
        full = self._read(value, found.alpha, found.beta, found.b)
        return sparse if sparse.gap <= max(_GAP_OF_WALKS, full.gap) else full

    def _constant(self, value: float) -> ElasticSolution:
        """The machine at or above the first value of the walk: there lambda1 makes no difference."""
        first = self.record.first
        if not self.has_top or value == self.record.value:
            return self._read(value, first.alpha, first.beta, float(first.x[3]))
        penalised = self.table.om > 0.0
        return self._read(value, first.alpha, np.where(penalised, 0.0, first.beta), float(first.x[3]))

    def _solved(self, value: float) -> ElasticSolution | None:
        """With the recorded places."""
        walker = self._at_places(value)
        return None if walker is None else self._machine_of(walker, value)

    def _before(self, value: float) -> ElasticSolution | None:
        """With the places of a little larger value: events are known to so many digits."""
        walker = self._at_places(value, value * (1.0 + _EVENT_DIGITS))
        return None if walker is None else self._machine_of(walker, value)

    def _after(self, value: float) -> ElasticSolution | None:
        """With the places of a little smaller value."""
        walker = self._at_places(value, value * (1.0 - _EVENT_DIGITS))
        return None if walker is None else self._machine_of(walker, value)

    def _at_places(self, value: float, places_at: float | None = None) -> Walker | None:
        """A walker with the recorded places; None if these do not determine a point."""
        place, sign = self.record.places(value if places_at is None else places_at)
        here, w = penalties(self.motion, value), self.motion.weights(self.problem.s, value)
        x = np.array([value, here["lambda1"], here["lambda2"], 0.0])
        alpha = np.where(place == LEFT, w, 0.0)
        k, m = np.count_nonzero(place == ELBOW), np.count_nonzero(sign)
        if here["lambda2"] == 0.0 and k < m + 1:
            return None  # beta is not determined by the places
        walker = Walker(self.table, Snapshot(x, w, alpha, np.zeros(self.problem.p), place, sign))
        return walker if walker.solve_places() else None

    def _walked(self, value: float) -> ElasticSolution:
        """The machine at which the walk itself arrives."""
        return self._machine_of(self._walk(value), value)

    def _walk(self, value: float) -> Walker:
        """The walk to a value once more, from the last snapshot before it."""
        record = self.record
        walker = Walker(self.table, record.before(value))
        walker.assemble()
        walker.to(record.line, value, record=False)
        return walker

    def walker_at(self, value: float) -> Walker:
        """A walker at a value, with its elbow system."""
        if value > self.record.value:
            return self._walker_of_constant(value)
        solution, walker = self(value), self._at_places(value)
        if walker is not None and self._machine_of(walker, value).gap <= max(_GOOD_GAP, 2 * solution.gap):
            return walker
        return self._walk(value)

    def _walker_of_constant(self, value: float) -> Walker:
        """A walker where the machine is constant."""
        here = penalties(self.motion, value)
        walker = start(self.table, self.motion.weights(self.problem.s, value), here["lambda2"])
        walk_to(walker, here["lambda1"])
        return walker

    def _machine_of(self, walker: Walker, value: float) -> ElasticSolution:
        return self._read(value, walker.alpha, walker.beta, walker.b)

    def _read(self, value: float, alpha: Array, beta: Array, b: float) -> ElasticSolution:
        problem = self.problem
        if self.motion.rows is not None:
            problem = replace(problem, s=self.motion.weights(problem.s, value))
        if is_plain(self.motion):
            problem = replace(problem, om=np.zeros_like(problem.om))
        return self.loss.read(problem, penalties(self.motion, value), alpha, beta, b)

    # --- what criteria ask for ---------------------------------------------------------------------------------------

    def without(self, rows: Array) -> ElasticPath:
        """The path of the same machine with weight zero for some rows, over the whole span."""
        s = self.problem.s.copy()
        s[rows] = 0.0
        problem = with_known(replace(self.problem, s=s), table=self.problem.table)
        return replace(self, problem=problem, max_features=None)

    def machines(self, values: Array) -> Iterator[tuple[int, ElasticSolution]]:
        """The machines at several values, in the order of one walk that is not recorded; with their positions."""
        order = np.argsort(-values, kind="stable")
        carried: tuple[Walker, Line] | None = None
        for k in order:
            value = float(values[k])
            carried = self._carried(carried, value) if carried is not None or k == order[0] else None
            solution = None if carried is None else self._arrived(carried[0], value)
            if solution is None or not solution.gap <= _GAP_OF_WALKS:
                solution = self._better(solution, value)
            yield int(k), solution

    def _better(self, solution: ElasticSolution | None, value: float) -> ElasticSolution:
        """The machine at a value to which a walk has not come, or not well."""
        found = self._direct(value)
        best = min((one for one in (solution, found) if one is not None), key=_badness)
        return best if best.gap <= _LARGEST_GAP else self._solve(value)

    def _carried(self, carried: tuple[Walker, Line] | None, value: float) -> tuple[Walker, Line] | None:
        """A walker and its line, moved on to a value; None where no walk leads there."""
        try:
            walker, line = carried or self.begin(value)
            if value < walker.value:
                walker.to(line, value, record=False)
        except PathError:
            return None
        return walker, line

    def _arrived(self, walker: Walker, value: float) -> ElasticSolution:
        """The machine of a walker, which is constant as long as it has not left its first value."""
        beta = walker.beta
        if value > walker.value:
            beta = np.where(self.table.om > 0.0, 0.0, beta)
        return self._read(value, walker.alpha, beta, walker.b)

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows, also of those with weight zero, at each value."""
        held = np.empty((len(values), self.problem.n))
        with blas_threads(self.problem.n * self.problem.p):
            for k, solution in self.machines(values):
                held[k] = solution.fitted
        return held

    def coefs(self, values: Array) -> tuple[Array, Array]:
        """Coefficients of shape (m, p) and offsets of shape (m,) at several values, by one walk."""
        values = np.array([self.inside(value) for value in np.atleast_1d(values)])
        coef, b = np.empty((len(values), self.problem.p)), np.empty(len(values))
        with blas_threads(self.problem.n * self.problem.p):
            for k, solution in self.machines(values):
                coef[k], b[k] = solution.coef, solution.b
        return coef, b


class FeatureEvent(Event):
    """One feature changes its place; ``sample`` is its column.

    Attributes
    ----------
    value : float
        Where on the path.
    sample : int
        The column, which is also called ``feature``.
    source : str
        The place before.
    target : str
        The place after, in the direction of the path.

    See Also
    --------
    svmpath.paths.ElasticPath : What ``svmpath.trace_elastic`` returns.
    svmpath.paths.Event : One sample changes its place.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.paths.elastic import FeatureEvent
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 5)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> events = svmpath.trace_elastic(X, y, lambda2=1.0).events()
    >>> first = next(event for event in events if isinstance(event, FeatureEvent))
    >>> first.feature, first.source, first.target
    (0, 'zero', 'active')
    """

    __slots__ = ()

    @property
    def feature(self) -> int:
        """The column."""
        return self.sample


def _badness(solution: ElasticSolution) -> float:
    """Gap and violation in units of what needs no polish."""
    worst = max(solution.gap / _GOOD_GAP, solution.violation / _GOOD_VIOLATION)
    return worst if np.isfinite(worst) else np.inf


def _is_good(solution: ElasticSolution) -> bool:
    return _badness(solution) <= 1.0


def _feature(sign: int) -> str:
    return "zero" if sign == ZERO else "active"


def cut(path: ElasticPath) -> ElasticPath:
    """The path over the part of its span that the walk has covered."""
    record, (low, high) = path.record, path._ends
    end = record.end
    if record.value <= low or end <= low * (1 + 1e-12) or end <= 0.0:
        return path
    if not end < high:
        raise PathError(
            f"At {path.over} = {high:.6g} more than max_features = {path.max_features} features are already active; "
            "start the span at a larger value or allow more features."
        )
    return with_known(replace(path, span=(end, high) if path._is_reversed else (high, end)), record=record)

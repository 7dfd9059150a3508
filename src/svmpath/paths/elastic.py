"""Paths of the elastic-net hinge machine: over lambda1, lambda2, a ray of both, or the weight of some samples.

A walk (``solvers.elastic``) goes through all events while the value falls. What is kept of it (``elastic_record``) are
the places at its beginning, the events, and a snapshot after every few hundred of them. What moves along the path, and
where it begins, is in ``elastic_family``.

Where no penalised feature is used, the machine does not depend on lambda1: above :attr:`ElasticPath.first_value` it is
that of this value, and there are no events.

The walk measures itself. A stretch of it that is not good is repeated with other tolerances, or with weights, penalty
factors and margins perturbed by 1e-10 of themselves, so that there are no ties (:attr:`ElasticPath.perturbation`).
Where nothing helps, a millionth of the value or more is skipped (:attr:`ElasticPath.leaps`). Every machine that is
returned is measured, too; where the walk does not lead to it, it is solved for directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.exceptions import PathError
from svmpath.lazy import lazy, with_known
from svmpath.losses.elastic_hinge import ElasticHinge, ElasticProblem, ElasticSolution
from svmpath.paths.elastic_family import ElasticFamily
from svmpath.paths.elastic_record import ElasticRecord, unrecorded_machine
from svmpath.paths.path import Array, Event, Path
from svmpath.solvers.elastic.walk import ElasticWalker
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, OUT, RIGHT, ZERO
from svmpath.solvers.threads import blas_threads

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
    def family(self) -> ElasticFamily:
        """The machines at all values."""
        return ElasticFamily(self.problem, self.path_parameter)

    @lazy
    def record(self) -> ElasticRecord:
        """The walk over the span."""
        with blas_threads(self.problem.n * self.problem.p):
            return ElasticRecord.of_span(self.family, min(self.span), max(self.span), self.max_features)

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
        return self.record.first.value

    # --- breakpoints and events --------------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> Array:
        """The values at which a sample or a feature changes its place, and both ends, in the direction of the span."""
        low, high = sorted(self.span)
        inside = np.append(self.record.events.t, self.first_value)
        inside = inside[(inside > low) & (inside < high)]
        nodes = np.unique(np.concatenate([[low], inside, [high]]))
        return nodes if self.span[0] < self.span[1] else nodes[::-1]

    def _events(self) -> Iterable[Event]:
        """Every change of place, in the direction of the span; features are "zero" or "active"."""
        if not self.span[0] < self.span[1]:
            yield from self._falling_events()
        else:
            for event in reversed(list(self._falling_events())):
                yield event._replace(source=event.target, target=event.source)

    def _falling_events(self) -> Iterator[Event]:
        """The events while the value falls; the first are the features in use where the machine is constant no more."""
        record, is_penalised = self.record, self.family.design.om > 0.0
        first, log = record.first, record.events
        is_inside = min(self.span) <= first.value <= max(self.span)
        if self.family.has_top and is_inside and not first.beta[is_penalised].any():
            for j in np.flatnonzero(is_penalised & (first.sign != ZERO)).tolist():
                yield FeatureEvent(first.value, j, "zero", "active")
        columns = (column.tolist() for column in (log.t, log.index, log.source, log.target, log.extra))
        for value, index, source, target, is_feature in zip(*columns, strict=True):
            if is_feature:
                yield FeatureEvent(value, index, *("zero" if sign == ZERO else "active" for sign in (source, target)))
            else:
                yield Event(value, index, _PLACES[source], _PLACES[target])

    # --- machines ----------------------------------------------------------------------------------------------------

    def __call__(self, value: float) -> ElasticSolution:
        """The solution at a value inside the span."""
        return self._solve(self.inside(value))

    def _solve(self, value: float) -> ElasticSolution:
        with blas_threads(self.problem.n * self.problem.p):
            return self.record.machine(value)

    def walker_at(self, value: float) -> ElasticWalker:
        """A walker at a value, with its elbow system."""
        return self.record.walker_at(value if value > self.first_value else self.inside(value))

    def without(self, rows: Array) -> ElasticPath:
        """The path of the same machine with weight zero for some rows, over the whole span."""
        return replace(self, problem=without(self.problem, rows), max_features=None)

    def machines(self, values: Array) -> Iterator[tuple[int, ElasticSolution]]:
        """The machines at several values, in the order of one walk that is not recorded; with their positions."""
        family, walker, is_lost = self.family, None, False
        line = family.line
        for k in np.argsort(-values, kind="stable"):
            value = float(values[k])
            try:
                if not is_lost:
                    walker = walker or family.begin(value)
                    if value < walker.value:
                        walker.to(line, value, record=False)
            except PathError:  # no walk leads there
                walker, is_lost = None, True
            solution = unrecorded_machine(family, walker, value)
            yield int(k), self._solve(value) if solution is None else solution

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows, also of those with weight zero, at each value."""
        return np.array(self._read_all(values, lambda machine: machine.fitted)).reshape(len(values), self.problem.n)

    def coefs(self, values: Array) -> tuple[Array, Array]:
        """Coefficients of shape (m, p) and offsets of shape (m,) at several values, by one walk."""
        values = np.array([self.inside(value) for value in np.atleast_1d(values)])
        coefs, offsets = zip(*self._read_all(values, lambda machine: (machine.coef, machine.b)), strict=True)
        return np.array(coefs), np.array(offsets)

    def _read_all(self, values: Array, read: Callable[[ElasticSolution], Any]) -> list[Any]:
        """What is read from the machine at each value."""
        with blas_threads(self.problem.n * self.problem.p):
            parts = {k: read(solution) for k, solution in self.machines(values)}
        return [parts[k] for k in range(len(values))]


def without(problem: ElasticProblem, rows: Array) -> ElasticProblem:
    """The problem with weight zero for some rows."""
    s = problem.s.copy()
    s[rows] = 0.0
    return with_known(replace(problem, s=s), design=problem.design)


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

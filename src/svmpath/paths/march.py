"""Paths whose slacks are smooth, not linear: step, correct, and keep the points found (squared hinge over C)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from svmpath.lazy import lazy
from svmpath.losses import Problem, Solution, SquaredHinge
from svmpath.paths.curved import STRIDE, CurvedPath
from svmpath.paths.path import Array, Event, Path, changes
from svmpath.paths.sides import Sides, exact_sides
from svmpath.paths.store import KernelStore
from svmpath.solvers.feature_newton import (
    AnyRows,
    Factored,
    FeatureNewton,
    FeaturePoint,
    FewSamples,
)
from svmpath.solvers.threads import blas_threads

_MANY_ENTRIES = 2_000_000  # of the features, from which on the first machine is found with some of them first
_FEWER = 4  # times fewer features


@dataclass(frozen=True)
class Stop:
    """One value on the way: its position among the given values, the point there, and the system that gave it."""

    position: int
    C: float
    point: FeaturePoint
    factored: Factored | FewSamples


@dataclass(frozen=True, repr=False, eq=False)
class MarchPath(CurvedPath):
    """The squared hinge machine over C.

    Between two changes of sides the machine is a smooth function of C; a change of sides makes a kink. The machine at
    each value is found by Newton's method from a neighbour already known, and is exact.

    Attributes
    ----------
    exact : bool
        Whether every change of side is found, or changes are only recorded from one node to the next.
    start : array of shape (n,), optional
        Decision values of a similar machine, whose sides the first machine starts from.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.criteria.span : Leave-one-out, predicted from the spans.
    svmpath.paths.NewtonKernelPath : The squared hinge over a kernel parameter.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="squared_hinge", gamma=1.0)
    >>> isinstance(path, svmpath.paths.MarchPath), path(2.5).violation < 1e-9
    (True, True)
    """

    loss: SquaredHinge
    exact: bool = False
    start: Array | None = None

    @property
    def start_decisions(self) -> Array | None:
        return self.start

    @lazy
    def sides(self) -> Sides:
        """The side of every sample at every C, all changes included."""
        return exact_sides(self.rows, self.span)

    @property
    def breakpoints(self) -> Array:
        """Every value at which a sample changes sides if ``exact``, else nodes evenly spaced in the logarithm."""
        return self.sides.breakpoints if self.exact and self.span[0] != self.span[1] else self.nodes

    def _events(self) -> Iterable[Event]:
        """Every change of side if ``exact``; else those between one node and the next, recorded where first seen."""
        if self.exact:
            yield from self.sides.events()
            return
        stops = sorted(self.walk(self.breakpoints), key=lambda stop: stop.position)
        yield from changes(self.breakpoints, (stop.point.E.astype(int) for stop in stops), ("right", "left"))

    def walk(self, values: Array) -> Iterator[Stop]:
        """Walk through the values from the smallest C to the largest, each from the last."""
        rows, order = self.rows, np.argsort(values, kind="stable")
        with blas_threads(rows.entries):
            newton = self._newton()
            point, last = self._approach(newton, float(values[order[0]])), None
            for position in order:
                C = float(values[position])
                point, last = newton.prolonged(1.0 / C, point, last), point
                point, factored = newton.at(1.0 / C, point)
                self._remember(C, point)
                yield Stop(int(position), C, point, factored)
            self.store.of_path.newton["last"] = newton

    def _newton(self) -> FeatureNewton:
        return self.store.of_path.newton.pop("last", None) or FeatureNewton.of(self.loss.pieces, self.rows)

    def _start_from(self, other: Path | Solution | Array | None) -> MarchPath:
        """The path, its first machine to be found from the sides of a solution, or of decision values."""
        f = other.fitted if isinstance(other, Solution) else other
        return replace(self, start=f) if isinstance(f, np.ndarray) else self

    def on(self, problem: Problem, store: KernelStore | None = None) -> MarchPath:
        """The same path of another problem, which keeps its start if the rows are the same."""
        is_same = problem.n == self.problem.n and problem.copies is self.problem.copies
        return replace(super().on(problem, store), start=self.start if is_same else None)

    def _known_decisions(self, C: float) -> Array | None:
        """At the value nearest to C of those visited so far; None if there is none."""
        if not self.store.of_path.points:
            return None
        _, (theta, _) = min(self.store.of_path.points.values(), key=lambda each: abs(np.log(each[0] / C)))
        return self.rows.matvec(theta)

    def _approach(self, machines: FeatureNewton, C: float) -> FeaturePoint:
        """As of every curved path; the first of all from the sides of a similar machine, if there is one."""
        f = self.start
        if self.store.of_path.points or (f is None and self.rows.entries < _MANY_ENTRIES):
            return super()._approach(machines, C)
        return machines.from_decisions(1.0 / C, self._with_few_features(self.rows, C) if f is None else f)

    def _with_few_features(self, rows: AnyRows, C: float) -> Array:
        """Decision values at C of the machine that has the leading features only."""
        few = rows.leading(rows.width // _FEWER)
        newton, largest = FeatureNewton.of(self.loss.pieces, few), few.largest * max(1.0, float(few.s.max()))
        if few.entries >= _MANY_ENTRIES:
            point, steps = newton.from_decisions(1.0 / C, self._with_few_features(few, C)), np.array([C])
        else:
            near = min(C, 1.0 / largest)
            point, steps = newton.start(), np.geomspace(near, C, 2 + int(np.log(C / near) / STRIDE))
        for value in steps:
            point, _ = newton.at(1.0 / value, point)
        return point.f

    def _decisions(self, values: Array) -> Array:
        decisions = np.empty((len(values), self.distinct.n))
        for stop in self.walk(values):
            decisions[stop.position] = stop.point.f
        return decisions

    def _first_point(self, machines: FeatureNewton) -> FeaturePoint:
        return machines.start()

    def _next_point(self, machines: FeatureNewton, C: float, point: FeaturePoint) -> FeaturePoint:
        return machines.at(1.0 / C, point)[0]

    def _pack(self, point: FeaturePoint) -> tuple[Array, Array]:
        return point.theta, np.packbits(point.E)

    def _unpack(self, machines: FeatureNewton, kept: tuple[Array, Array]) -> FeaturePoint:
        theta, E = kept
        return FeaturePoint(theta, self.rows.matvec(theta), np.unpackbits(E, count=self.distinct.n).astype(bool))

    def _solve(self, value: float) -> Solution:
        with blas_threads(self.rows.entries):
            newton = self._newton()
            return self.loss.solve(self.distinct, newton, self._approach(newton, value), value)

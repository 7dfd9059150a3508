"""Paths whose slacks are smooth, not linear: step, correct, and keep the points found (squared hinge over C)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import log

import numpy as np

from svmpath.lazy import lazy
from svmpath.losses import Problem, Solution, SquaredHinge
from svmpath.paths.made import Made
from svmpath.paths.path import Array, Event, Path, Request
from svmpath.paths.sides import Sides, exact_sides
from svmpath.solvers.feature_newton import (
    ActiveSystem,
    Factored,
    FewSamples,
    Point,
    Rows,
    minimise,
    objective,
    point_at,
    start,
)
from svmpath.solvers.threads import blas_threads

_NODES_PER_DECADE = 4  # nodes of the path per factor of ten
_NEAR_ENOUGH = 16  # points kept per factor of e
_STRIDE = 2.0  # most that the logarithm of C changes from one Newton start to the next


@dataclass(frozen=True)
class Stop:
    """One value on the way: its position among the given values, the point there, and the system that gave it."""

    position: int
    C: float
    point: Point
    factored: Factored | FewSamples


@dataclass(frozen=True, repr=False, eq=False)
class MarchPath(Path):
    """The squared hinge machine over C.

    Between two changes of sides the machine is a smooth function of C; a change of sides makes a kink. The machine at
    each value is found by Newton's method from a neighbour already known, and is exact.

    Attributes
    ----------
    exact : bool
        Whether every change of side is found, or changes are only recorded from one node to the next.
    """

    loss: SquaredHinge
    exact: bool = False

    @classmethod
    def of(cls, problem: Problem, request: Request, made: Made) -> MarchPath:
        """The path of a problem."""
        return cls(problem, request.loss, request.motion, request.span, request.exact, made=made)

    def without(self, rows: Array) -> MarchPath:
        """The path of the same machine with weight zero for some rows, in the same features."""
        self.rows  # noqa: B018 - computed with all weights, including those of the samples left out
        return super().without(rows)

    @lazy
    def rows(self) -> Rows:
        """The problem in features, which is the same for all values."""
        if self.made.of_kernel.rows is None:
            self.made.of_kernel.rows = self.loss.rows(self.problem)
        return replace(self.made.of_kernel.rows, y=self.problem.y, s=self.problem.s)

    @lazy
    def _visited(self) -> dict[int, tuple[float, Array, Array]]:
        """C, theta and the packed sides at the points found so far, by the logarithm of C in steps."""
        return {}

    @lazy
    def sides(self) -> Sides:
        """The side of every sample at every C, all changes included."""
        return exact_sides(self.rows, self.span)

    @property
    def breakpoints(self) -> Array:
        """Every value at which a sample changes sides if ``exact``, else nodes evenly spaced in the logarithm."""
        first, last = self.span
        if self.exact and first != last:
            return self.sides.breakpoints
        if first == last:
            return np.array([first])
        count = 1 + max(1, round(_NODES_PER_DECADE * abs(np.log10(last / first))))
        nodes = np.geomspace(first, last, count)
        nodes[[0, -1]] = self.span
        return nodes

    def events(self) -> Iterable[Event]:
        """Every change of side if ``exact``; else those between one node and the next, recorded where first seen."""
        if self.exact:
            yield from self.sides.events()
            return
        before: Array | None = None
        for stop in self._in_order(self.breakpoints):
            if before is not None:
                for sample in np.flatnonzero(before != stop.point.E):
                    sides = ("right", "left") if stop.point.E[sample] else ("left", "right")
                    yield Event(stop.C, int(sample), *sides)
            before = stop.point.E

    def _in_order(self, values: Array) -> Iterator[Stop]:
        """The stops in the order of the values, walked from the smallest C."""
        stops = sorted(self.walk(values), key=lambda stop: stop.position)
        return iter(stops)

    def walk(self, values: Array) -> Iterator[Stop]:
        """Walk through the values from the smallest C to the largest, each from the last."""
        rows, order = self.rows, np.argsort(values, kind="stable")
        with blas_threads(rows.A.size):
            system, point, last = ActiveSystem(rows), self._approach(float(values[order[0]])), None
            for position in order:
                C = float(values[position])
                point, last = self._predict(point, last, 1.0 / C), point
                point, factored = minimise(rows, system, 1.0 / C, point)
                self._remember(C, point)
                yield Stop(int(position), C, point, factored)

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows at each value: one walk."""
        held = np.empty((len(values), self.problem.n))
        for stop in self.walk(values):
            held[stop.position] = stop.point.f
        return held

    def _predict(self, point: Point, last: Point | None, lam: float) -> Point:
        """The last two points prolonged, if that is lower: free, since f is linear in theta."""
        if last is None:
            return point
        guess = point_at(self.rows, 2 * point.theta - last.theta, 2 * point.f - last.f)
        return guess if objective(self.rows, guess, lam) < objective(self.rows, point, lam) else point

    def _approach(self, C: float) -> Point:
        """A point near the one at C: the nearest visited, and steps from there where it is far.

        From the limit for C to zero straight to a large C Newton's method can take hundreds of steps.
        """
        visited = list(self._visited.values())  # another thread may add to it
        if visited:
            near, theta, E = min(visited, key=lambda each: abs(log(each[0] / C)))
            point = Point(theta, self.rows.A @ theta, np.unpackbits(E, count=self.problem.n).astype(bool))
        else:
            largest = float(np.einsum("ij,ij->i", self.rows.A, self.rows.A).max())
            near, point = min(C, 1.0 / largest), start(self.rows)
        between = np.geomspace(near, C, 2 + int(abs(np.log(C / near)) / _STRIDE))[:-1]
        system = ActiveSystem(self.rows)
        for value in between[1:] if visited else between:
            point, _ = minimise(self.rows, system, 1.0 / value, point)
            self._remember(float(value), point)
        return point

    def _remember(self, C: float, point: Point) -> None:
        """Keep a point to start from; of points closer to each other than a start need be, the last."""
        self._visited[round(_NEAR_ENOUGH * np.log(C))] = (C, point.theta, np.packbits(point.E))

    def _solve(self, value: float) -> Solution:
        with blas_threads(self.rows.A.size):
            return self.loss.solve(self.problem, self.rows, self._approach(value), value)

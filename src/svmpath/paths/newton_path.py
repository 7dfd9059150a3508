"""Paths over C that are curved between events: every machine is found by Newton's method from a neighbour.

The machine of a smooth piecewise quadratic loss such as the huberised hinge is neither linear in C nor in 1 / C while
places stay. So there are no segments to write down; but the machine at C is a good start for those near it, and a few
Newton steps are exact wherever they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from svmpath.interrupts import checkpoint
from svmpath.lazy import lazy
from svmpath.losses import Problem, Solution
from svmpath.losses.huber_hinge import HuberHinge
from svmpath.paths.made import Made
from svmpath.paths.path import Array, Event, Path, Request
from svmpath.solvers.feature_newton import Rows
from svmpath.solvers.huber_newton import HuberMachines, Point
from svmpath.solvers.threads import blas_threads

_NODES_PER_DECADE = 4  # nodes of the path per factor of ten
_KEPT = 16  # points kept per factor of e
_STRIDE = 2.0  # most that the logarithm of C changes from one Newton start to the next


@dataclass(frozen=True, repr=False, eq=False)
class NewtonPath(Path):
    """The huberised hinge machine over C.

    Each value is reached by Newton's method from the nearest one that is known, and is exact there. Breakpoints are
    nodes, four per factor of ten; events are recorded at nodes: a change of place between two of them has the value of
    the second.

    Of its loss it asks four things: ``names``, the names of the places; ``rows(problem)``, the features;
    ``machines(rows)``, which has ``start()`` and ``at(C, point)``; and ``solve(problem, machines, point, C)``.
    """

    loss: HuberHinge

    @classmethod
    def of(cls, problem: Problem, request: Request, made: Made) -> NewtonPath:
        """The path of a problem."""
        return cls(problem, request.loss, request.motion, request.span, made=made)

    def without(self, rows: Array) -> NewtonPath:
        """The path of the same machine with weight zero for some rows, in the same features."""
        self.rows  # noqa: B018 - computed with all weights, including those of the samples left out
        return super().without(rows)

    @lazy
    def rows(self) -> Rows:
        """The problem in features: made once, whatever the values asked for."""
        if self.made.of_kernel.rows is None:
            self.made.of_kernel.rows = self.loss.rows(self.problem)
        return replace(self.made.of_kernel.rows, y=self.problem.y, s=self.problem.s)

    @lazy
    def _visited(self) -> dict[int, tuple[float, Array]]:
        """C and theta where one has been, by the logarithm of C in steps."""
        return {}

    @property
    def breakpoints(self) -> Array:
        """Nodes evenly spaced in the logarithm of C, in the direction of the span."""
        first, last = self.span
        if first == last:
            return np.array([first])
        nodes = np.geomspace(first, last, 1 + max(1, round(_NODES_PER_DECADE * abs(np.log10(last / first)))))
        nodes[[0, -1]] = self.span
        return nodes

    def events(self) -> Iterable[Event]:
        """Changes of place between one node and the next, recorded at the second."""
        nodes, names = self.breakpoints, self.loss.names
        points = dict(self._walk(nodes))
        for k in range(1, len(nodes)):
            before, now = points[k - 1].E, points[k].E
            for i in np.flatnonzero(before != now):
                yield Event(float(nodes[k]), int(i), names[before[i]], names[now[i]])

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows at each value: one walk."""
        held = np.empty((len(values), self.problem.n))
        for position, point in self._walk(values):
            held[position] = point.f
        return held

    def _walk(self, values: Array) -> Iterator[tuple[int, Point]]:
        """The position of each value and the point there, from the smallest C to the largest, each from the last."""
        order = np.argsort(values, kind="stable")
        with blas_threads(self.rows.A.size):
            machines = self.loss.machines(self.rows)  # of this walk alone: a path may be asked by several threads
            for position in order:
                checkpoint()
                C = float(values[position])
                point = machines.at(C, self._approach(machines, C))
                self._remember(C, point)
                yield int(position), point

    def _approach(self, machines: HuberMachines, C: float) -> Point:
        """A point near the one at C: the nearest visited, and steps from there where it is far."""
        visited = list(self._visited.values())  # another thread may add to it
        if visited:
            near, theta = min(visited, key=lambda each: abs(np.log(each[0] / C)))
            point = machines.point(theta)
        else:
            largest = float(np.einsum("ij,ij->i", self.rows.A, self.rows.A).max() * self.rows.s.max())
            near, point = min(C, 1.0 / largest), machines.start()
        between = np.geomspace(near, C, 2 + int(abs(np.log(C / near)) / _STRIDE))[:-1]
        for value in between[1:] if visited else between:
            point = machines.at(float(value), point)
            self._remember(float(value), point)
        return point

    def _remember(self, C: float, point: Point) -> None:
        """Keep a point to start from; of points closer to each other than a start need be, the last."""
        self._visited[round(_KEPT * np.log(C))] = (C, point.theta)

    def _solve(self, value: float) -> Solution:
        with blas_threads(self.rows.A.size):
            machines = self.loss.machines(self.rows)
            return self.loss.solve(self.problem, machines, self._approach(machines, value), value)

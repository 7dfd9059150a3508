"""The path over C of a smooth loss that is quadratic in pieces, its events recorded at nodes (huberised hinge)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from svmpath.interrupts import checkpoint
from svmpath.losses import Problem, Solution
from svmpath.losses.huber_hinge import HuberHinge
from svmpath.paths.curved import CurvedPath
from svmpath.paths.path import Array, Event, Request
from svmpath.paths.store import KernelStore
from svmpath.solvers.huber_newton import HuberMachines, Point
from svmpath.solvers.threads import blas_threads


@dataclass(frozen=True, repr=False, eq=False)
class NewtonPath(CurvedPath):
    """The huberised hinge machine over C.

    Each value is reached by Newton's method from the nearest one that is known, and is exact there. Breakpoints are
    nodes, four per factor of ten; events are recorded at nodes: a change of place between two of them has the value of
    the second.

    Of its loss it asks four things: ``names``, the names of the places; ``rows(problem)``, the features;
    ``machines(rows)``, which has ``start()`` and ``at(C, point)``; and ``solve(problem, machines, point, C)``.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.losses.HuberHinge : The hinge with a rounded kink.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="huber_hinge", span=(0.1, 10.0), gamma=1.0)
    >>> type(path).__name__, len(path.breakpoints)
    ('NewtonPath', 9)
    """

    loss: HuberHinge

    @classmethod
    def of(cls, problem: Problem, request: Request, store: KernelStore) -> NewtonPath:
        """The path of a problem."""
        if request.exact:
            raise ValueError(f"breakpoints='exact' does not work for loss={request.loss.name!r}; leave it out.")
        return cls(problem, request.loss, request.motion, request.span, store=store)

    @property
    def breakpoints(self) -> Array:
        """Nodes evenly spaced in the logarithm of C, in the direction of the span."""
        return self.nodes

    def _events(self) -> Iterable[Event]:
        """Changes of place between one node and the next, recorded at the second."""
        nodes, names = self.breakpoints, self.loss.names
        points = dict(self._walk(nodes))
        for k in range(1, len(nodes)):
            before, now = points[k - 1].E, points[k].E
            for i in np.flatnonzero(before != now):
                yield Event(float(nodes[k]), int(i), names[before[i]], names[now[i]])

    def _decisions(self, values: Array) -> Array:
        held = np.empty((len(values), self.distinct.n))
        for position, point in self._walk(values):
            held[position] = point.f
        return held

    def _walk(self, values: Array) -> Iterator[tuple[int, Point]]:
        """The position of each value and the point there, from the smallest C to the largest, each from the last."""
        order = np.argsort(values, kind="stable")
        with blas_threads(self.rows.entries):
            machines = self.loss.machines(self.rows)  # of this walk alone: a path may be asked by several threads
            for position in order:
                checkpoint()
                C = float(values[position])
                point = machines.at(C, self._approach(machines, C))
                self._remember(C, point)
                yield int(position), point

    def _first_point(self, machines: HuberMachines) -> Point:
        return machines.start()

    def _next_point(self, machines: HuberMachines, C: float, point: Point) -> Point:
        return machines.at(C, point)

    def _pack(self, point: Point) -> Array:
        return point.theta

    def _unpack(self, machines: HuberMachines, kept: Array) -> Point:
        return machines.point(kept)

    def _solve(self, value: float) -> Solution:
        with blas_threads(self.rows.entries):
            machines = self.loss.machines(self.rows)
            return self.loss.solve(self.distinct, machines, self._approach(machines, value), value)

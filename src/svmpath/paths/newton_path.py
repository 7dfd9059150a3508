"""The path over C of a smooth loss that is quadratic in pieces, its events recorded at nodes (huberised hinge)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from svmpath.interrupts import checkpoint
from svmpath.losses import PiecewiseQuadratic, Problem, Solution
from svmpath.paths.curved import CurvedPath
from svmpath.paths.path import Array, Event, Request
from svmpath.paths.store import KernelStore
from svmpath.solvers.feature_newton import FeatureNewton, FeaturePoint, Rows
from svmpath.solvers.threads import blas_threads


@dataclass(frozen=True, repr=False, eq=False)
class NewtonPath(CurvedPath):
    """The machine of a loss that is quadratic in pieces, such as the huberised hinge, over C.

    Each value is reached by Newton's method from the nearest one that is known, and is exact there. Breakpoints are
    nodes, four per factor of ten; events are recorded at nodes: a change of place between two of them has the value of
    the second.

    Of its loss it asks three things: ``names``, the names of the pieces; ``pieces``, its knots and curvatures; and
    ``solve(problem, newton, point, C)``.

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

    loss: PiecewiseQuadratic

    @classmethod
    def of(cls, problem: Problem, request: Request, store: KernelStore) -> NewtonPath:
        """The path of a problem."""
        if request.exact:
            raise ValueError(f"breakpoints='exact' does not work for loss={request.loss.name!r}; leave it out.")
        return cls(problem, request.loss, request.path_parameter, request.span, store=store)

    @property
    def breakpoints(self) -> Array:
        """Nodes evenly spaced in the logarithm of C, in the direction of the span."""
        return self.nodes

    def _events(self) -> Iterable[Event]:
        """Changes of place between one node and the next, recorded at the second."""
        nodes, names = self.breakpoints, self.loss.names
        points = {position: point for position, point, _ in self.walk(nodes)}
        for k in range(1, len(nodes)):
            before, now = points[k - 1].E, points[k].E
            for i in np.flatnonzero(before != now):
                yield Event(float(nodes[k]), int(i), names[int(before[i])], names[int(now[i])])

    def _decisions(self, values: Array) -> Array:
        held = np.empty((len(values), self.distinct.n))
        for position, point, _ in self.walk(values):
            held[position] = point.f
        return held

    def walk(self, values: Array) -> Iterator[tuple[int, FeaturePoint, FeatureNewton]]:
        """The position of each value, the point there and what found it, from the smallest C to the largest."""
        order = np.argsort(values, kind="stable")
        with blas_threads(self.rows.entries):
            newton = self._newton()
            for position in order:
                checkpoint()
                C = float(values[position])
                point, _ = newton.at(1.0 / C, self._approach(newton, C))
                self._remember(C, point)
                yield int(position), point, newton

    def _newton(self) -> FeatureNewton:
        """What finds the machines of one walk, in double precision: a path may be asked by several threads."""
        rows = self.rows
        return FeatureNewton(self.loss.pieces, Rows(rows.A, rows.y, rows.s, rows.matrix, rows.offset))

    def _first_point(self, machines: FeatureNewton) -> FeaturePoint:
        return machines.start()

    def _next_point(self, machines: FeatureNewton, C: float, point: FeaturePoint) -> FeaturePoint:
        return machines.at(1.0 / C, point)[0]

    def _pack(self, point: FeaturePoint) -> Array:
        return point.theta

    def _unpack(self, machines: FeatureNewton, kept: Array) -> FeaturePoint:
        return machines.point(kept)

    def _solve(self, value: float) -> Solution:
        with blas_threads(self.rows.entries):
            newton = self._newton()
            return self.loss.solve(self.distinct, newton, self._approach(newton, value), value)

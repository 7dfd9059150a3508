"""Paths over C that are curved between events: every machine is found by Newton's method from a neighbour.

A smooth loss that is quadratic in pieces has a machine that is a smooth function of C while places stay, but linear in
neither C nor 1 / C. Machines along the path are kept, so that the next one is not far from one that is known.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from svmpath.lazy import lazy
from svmpath.paths.path import Array, Path
from svmpath.solvers.feature_newton import AnyRows

_NODES_PER_DECADE = 4  # nodes of the path per factor of ten
_KEPT_PER_E = 16  # points kept per factor of e
STRIDE = 2.0  # most that the logarithm of C changes from one Newton start to the next


@dataclass(frozen=True, repr=False, eq=False)
class CurvedPath(Path):
    """What such paths share: features, nodes, and the points where one has been.

    A subclass says how points are found: ``machines`` in the methods below is what one walk needs for that.
    """

    loss: Any

    def without(self, rows: Array) -> Any:
        """The path of the same machine with weight zero for some rows, in the same features."""
        self.rows  # noqa: B018 - made with all the weights, also of rows that are left out
        return super().without(rows)

    @lazy
    def rows(self) -> AnyRows:
        """The problem in features: made once, whatever the values asked for."""
        if self.store.of_kernel.rows is None:
            self.store.of_kernel.rows = self.loss.rows(self.distinct)
        return replace(self.store.of_kernel.rows, y=self.distinct.y, s=self.distinct.s)

    @property
    def nodes(self) -> Array:
        """Values evenly spaced in the logarithm of C, in the direction of the span."""
        first, last = self.span
        if first == last:
            return np.array([first])
        nodes = np.geomspace(first, last, 1 + max(1, round(_NODES_PER_DECADE * abs(np.log10(last / first)))))
        nodes[[0, -1]] = self.span
        return nodes

    @abstractmethod
    def _first_point(self, machines: Any) -> Any:
        """The point in the limit for C to zero."""

    @abstractmethod
    def _next_point(self, machines: Any, C: float, point: Any) -> Any:
        """The point at C, from another one."""

    @abstractmethod
    def _pack(self, point: Any) -> Any:
        """What is kept of a point."""

    @abstractmethod
    def _unpack(self, machines: Any, kept: Any) -> Any:
        """The point of which this was kept."""

    def _approach(self, machines: Any, C: float) -> Any:
        """A point near the one at C: the nearest visited, and steps from there where it is far.

        From the limit for C to zero straight to a large C Newton's method can take hundreds of steps.
        """
        visited = list(self.store.of_path.points.values())  # another thread may add to them
        if visited:
            near, kept = min(visited, key=lambda each: abs(log(each[0] / C)))
            point = self._unpack(machines, kept)
        else:
            largest = self.rows.largest * max(1.0, float(self.rows.s.max()))
            near, point = min(C, 1.0 / largest), self._first_point(machines)
        between = np.geomspace(near, C, 2 + int(abs(np.log(C / near)) / STRIDE))[:-1]
        for value in between[1:] if visited else between:
            point = self._next_point(machines, float(value), point)
            self._remember(float(value), point)
        return point

    def _remember(self, C: float, point: Any) -> None:
        """Keep a point to start from; of points closer to each other than a start need be, the last."""
        self.store.of_path.points[round(_KEPT_PER_E * log(C))] = (C, self._pack(point))

"""Newton's method with an exact line search: the loop. The mathematics is in the files of the problems.

A step aims at the minimiser of the quadratic function that equals J around the point. Where J is quadratic in pieces
(:class:`PiecewiseQuadratic`), each piece belongs to a set E of samples on one side of the margin, and

- an aim on the same piece is the minimiser of J, and ends the search;
- an aim on another piece is taken if J is less there;
- else the lowest point on the way to it is taken, and J becomes less unless the point is the minimiser to rounding.

There are finitely many pieces, and J falls at every step: so this ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

Array = np.ndarray


class HasSides(Protocol):
    """A point that knows its piece: E is True for samples on the left of the margin, or numbers their places."""

    @property
    def E(self) -> Array:
        """The side of every sample."""


AnyPoint = TypeVar("AnyPoint")
SidedPoint = TypeVar("SidedPoint", bound=HasSides)


class Newton(ABC, Generic[AnyPoint]):
    """A function to be minimised; ``most_steps`` is how many steps it may take."""

    most_steps: int

    @abstractmethod
    def aim(self, point: AnyPoint) -> AnyPoint:
        """Where Newton's step leads from a point, or the step itself, as :meth:`advance` takes it."""

    @abstractmethod
    def advance(self, point: AnyPoint, aim: AnyPoint) -> tuple[AnyPoint, bool]:
        """The next point, by a line search towards the aim, and whether it is the last."""

    def is_minimum(self, point: AnyPoint) -> bool:
        """Whether a point is good enough, as far as that can be seen before the next step is computed."""
        return False

    def minimise(self, point: AnyPoint) -> tuple[AnyPoint, bool]:
        """The minimiser, from a point; and whether it was found within the steps allowed."""
        for _ in range(self.most_steps):
            if self.is_minimum(point):
                return point, True
            point, is_last = self.advance(point, self.aim(point))
            if is_last:
                return point, True
        return point, False


class PiecewiseQuadratic(Newton[SidedPoint]):
    """A convex function that is once differentiable and quadratic in pieces."""

    _value: float | None = None  # J at the present point

    @abstractmethod
    def objective(self, point: SidedPoint) -> float:
        """J at a point."""

    @abstractmethod
    def search(self, point: SidedPoint, aim: SidedPoint) -> SidedPoint:
        """The lowest point between two points."""

    @abstractmethod
    def is_tied(self, point: SidedPoint, aim: SidedPoint, moved: Array) -> bool:
        """Whether these samples, which change sides from the point to the aim, lie on the margin to rounding."""

    def with_minimiser(self, point: SidedPoint) -> SidedPoint:
        """The point itself, or one where J is less and whose piece has a minimiser."""
        return point

    def advance(self, point: SidedPoint, aim: SidedPoint) -> tuple[SidedPoint, bool]:
        moved = aim.E != point.E
        if not moved.any() or self.is_tied(point, aim, moved):
            keeps_sides: Any = aim
            return replace(keeps_sides, E=point.E), True
        value = self.objective(point) if self._value is None else self._value
        new, lower = aim, self.objective(aim)
        if not lower < value:
            new = self.search(point, aim)
            lower = self.objective(new)
            if np.array_equal(new.E, point.E) and not lower < value:
                return new, True  # no step lowers J any more, in double precision
        mended = self.with_minimiser(new)
        self._value = lower if mended is new else self.objective(mended)
        return mended, False

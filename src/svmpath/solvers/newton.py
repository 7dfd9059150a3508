"""Newton's method with an exact line search: the loop. The mathematics is in the files of the problems.

A step aims at the minimiser of the quadratic function that equals J around the point. Where J is quadratic in pieces
(:class:`NewtonOnPieces`), each piece belongs to the pieces E of the loss on which the samples are, and

- an aim on the same piece is the minimiser of J, and ends the search;
- an aim on another piece is taken if J is less there;
- else the lowest point on the way to it is taken, and J becomes less unless the point is the minimiser to rounding.

There are finitely many pieces, and J falls at every step: so this ends.

Rows need not be at hand (``distributed.newton``): then a step asks about them, and several searches share the answers
of one pass over all rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from svmpath.exceptions import PathError
from svmpath.solvers.pieces import Pieces

Array = np.ndarray

MOST_STEPS = 300  # of Newton's method per machine
KNOT_TIE = 1e-11  # samples so close to a knot (times the size of f) may be on either side of it


class HasRegions(Protocol):
    """A point that knows its decision values f, and the piece E of the loss on which each sample is."""

    @property
    def f(self) -> Array:
        """The decision value of every sample."""

    @property
    def E(self) -> Array:
        """The piece of every sample; True and False if there are two."""


AnyPoint = TypeVar("AnyPoint")
PointOnPieces = TypeVar("PointOnPieces", bound=HasRegions)


class AskingNewton(ABC, Generic[AnyPoint]):
    """A function of rows that are asked about; ``most_steps`` is how many steps a search may take."""

    most_steps: int

    @abstractmethod
    def aim(self, point: AnyPoint) -> Any:
        """Where Newton's step leads from a point, or the step itself, as :meth:`advancing` takes it."""

    @abstractmethod
    def advancing(self, point: AnyPoint, aim: Any) -> Generator[Any, Any, tuple[AnyPoint, bool]]:
        """The next point, by a line search towards the aim, and whether it is the last.

        Yields questions about the rows, and is sent the answers.
        """

    def is_minimum(self, point: AnyPoint) -> bool:
        """Whether a point is good enough, as far as that can be seen before the next step is computed."""
        return False

    def searching(self, point: AnyPoint) -> Generator[Any, Any, tuple[AnyPoint, bool]]:
        """The minimiser, from a point; and whether it was found within the steps allowed. Yields questions."""
        for _ in range(self.most_steps):
            if self.is_minimum(point):
                return point, True
            point, is_last = yield from self.advancing(point, self.aim(point))
            if is_last:
                return point, True
        return point, False


class Newton(AskingNewton[AnyPoint]):
    """A function of rows that are at hand: a step has nothing to ask."""

    @abstractmethod
    def advance(self, point: AnyPoint, aim: Any) -> tuple[AnyPoint, bool]:
        """The next point, by a line search towards the aim, and whether it is the last."""

    def advancing(self, point: AnyPoint, aim: Any) -> Generator[Any, Any, tuple[AnyPoint, bool]]:
        yield from ()
        return self.advance(point, aim)

    def minimise(self, point: AnyPoint) -> tuple[AnyPoint, bool]:
        """The minimiser, from a point; and whether it was found within the steps allowed."""
        search = self.searching(point)
        while True:
            try:
                next(search)
            except StopIteration as end:
                minimiser: tuple[AnyPoint, bool] = end.value
                return minimiser


class NewtonOnPieces(Newton[PointOnPieces]):
    """J(theta) = sum_i s_i L(u_i) + penalty(theta), f linear in theta, for a loss that is quadratic in pieces.

    Subclasses say what theta is (weights of features, coefficients of samples), and so what the penalty and the
    minimiser of one piece are.
    """

    _value: float | None = None  # J at the present point

    def __init__(self, loss: Pieces, y: Array, s: Array) -> None:
        self.loss, self.y, self.s, self.lam = loss, y, s, 1.0
        self._all_count = bool(np.all(s > 0))

    @abstractmethod
    def penalty(self, point: PointOnPieces) -> float:
        """What is added to the losses."""

    @abstractmethod
    def penalty_along(self, point: PointOnPieces, aim: PointOnPieces) -> tuple[float, float]:
        """Slope and curvature of the penalty at a point, towards another."""

    @abstractmethod
    def between(self, point: PointOnPieces, aim: PointOnPieces, t: float) -> PointOnPieces:
        """The point at the share t of the way from one to another."""

    def with_minimiser(self, point: PointOnPieces) -> PointOnPieces:
        """The point itself, or one where J is less and whose piece has a minimiser."""
        return point

    def region(self, f: Array) -> Array:
        """The pieces of samples with these decision values; the first one without a weight."""
        E = self.loss.region(self.loss.u(self.y, f))
        return E if self._all_count else np.where(self.s > 0, E, E.dtype.type(0))

    def objective(self, point: PointOnPieces) -> float:
        """J at a point."""
        return float(self.s @ self.loss.value(self.loss.u(self.y, point.f))) + self.penalty(point)

    def objective_at(self, lam: float, point: PointOnPieces) -> float:
        """J at lam."""
        self.lam = lam
        return self.objective(point)

    def prolonged(self, lam: float, now: PointOnPieces, last: PointOnPieces | None) -> PointOnPieces:
        """The point now, or the last two prolonged if J is less there: free, since f is linear in theta."""
        if last is None:
            return now
        guess = self.between(last, now, 2.0)
        return guess if self.objective_at(lam, guess) < self.objective_at(lam, now) else now

    def search(self, point: PointOnPieces, aim: PointOnPieces) -> PointOnPieces:
        """The lowest point between two points."""
        loss, y = self.loss, self.y
        rate = loss.signed(y, point.f - aim.f)
        t = loss.lowest(loss.u(y, point.f), rate, self.s, *self.penalty_along(point, aim))
        return self.between(point, aim, t)

    def is_tied(self, point: PointOnPieces, aim: PointOnPieces, moved: Array) -> bool:
        """Whether these samples, which change pieces from the point to the aim, lie on the knot to rounding."""
        u, before = self.loss.u(self.y[moved], aim.f[moved]), point.E[moved].astype(np.int8)
        # How far u is from the piece that the sample had: it may have crossed more than one.
        off = np.maximum(self.loss.low[before] - u, u - self.loss.high[before])
        return bool(off.max() <= KNOT_TIE * (1.0 + np.abs(aim.f[moved]).max()))

    def advance(self, point: PointOnPieces, aim: PointOnPieces) -> tuple[PointOnPieces, bool]:
        moved = aim.E != point.E
        if not moved.any() or self.is_tied(point, aim, moved):
            keeps_pieces: Any = aim
            return replace(keeps_pieces, E=point.E), True
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

    def minimiser(self, lam: float, point: PointOnPieces) -> PointOnPieces:
        """The minimiser at lam, from a point; raises an error if it is not found within the steps allowed."""
        self.lam, self._value = lam, None
        point, is_found = self.minimise(self.with_minimiser(point))
        if not is_found:
            raise not_found(lam)
        return point


def not_found(lam: float) -> PathError:
    """The error of a machine that was not found within the steps allowed."""
    return PathError(
        f"No machine was found within {MOST_STEPS} steps of Newton's method at C = {1 / lam:.6g}: bring the columns "
        "to one scale (StandardScaler), or use smaller C."
    )

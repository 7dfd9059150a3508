"""Every change of side of the squared hinge machine over a span of C.

The machine at C minimises a convex function, and is known by its optimality: theta solves the equations of the rows E
(``solvers.feature_newton``), with y f < 1 on E and y f >= 1 elsewhere. So a set E is right at C exactly if no slack of
the machine *of the fixed set E* is negative there: 1 - y f on the left, y f - 1 on the right.

Hence the walk, from the smallest C on. With E right at C, find the first larger C at which a slack of the machine of E
becomes zero, every earlier zero being excluded by proof (``solvers.crossings``): up to there E is right. There its row
i changes sides. The new machine has the same theta there, and at every C the slack of row i in it is the one it had,
times -1, over 1 + s_i h_i if the row came in and 1 - s_i h_i if it went, h_i = a_i' M_E^-1 a_i: both are positive, so
that a slack that was about to be negative is about to be positive. Nothing between two values is left to a mesh: a
sample that crosses and comes back is seen, however soon.

Where several rows reach the margin at one C, the rates of their slacks solve a linear complementarity problem with a
positive definite matrix. To change, of the rows whose slack is zero and falls, always the first, ends at its solution
(Murty's rule); should rounding make it turn in circles, Newton's method decides, slightly beyond.

The proof is one in exact arithmetic. What rounding adds is measured: where one series takes over from another, both
give the slacks at the same C, and the largest difference is kept in :attr:`Sides.rounding`. A crossing whose depth is
less cannot be distinguished from none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svmpath.exceptions import PathError
from svmpath.paths.path import Array, Event, nodes_within
from svmpath.solvers.crossings import first_crossing
from svmpath.solvers.feature_newton import AnyRows, FeatureNewton, Rows
from svmpath.solvers.fixed_sides import FixedSides, Series
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.pieces import SQUARED_HINGE
from svmpath.solvers.threads import blas_threads

_EVENTS_PER_CENTRE = 8  # events for which a centre should serve: to find one costs as much as these save
_FAR, _LEAST = 0.4, 1e-3  # how far a series is used at most, in u, and at least
_SAME_C = 1e-12  # values of C that differ by no more, relative, are one
_CIRCLES = 3  # times that a row may change sides at one value before Newton's method decides
_BEYOND = 1e-9  # how far beyond a value, relative, it is evaluated
_WRONG = 1e-9  # a slack so negative, in units of its size, is not rounding: Newton's method decides
_LOST = 1e-6  # and so negative after that: the path is given up
_HOPELESS = 1e-3  # no rounding may be as large as this, whatever kernel and C let expect


@dataclass(frozen=True)
class Sides:
    """The side of every sample at every C of a span: those at its first value, and the changes in order.

    Attributes
    ----------
    span : tuple of two floats
    first : array of bits, packed
        Which samples are on the left at the first value.
    n : int
        Number of samples.
    values : array of shape (m,)
        Where samples change sides, in the direction of the span.
    samples : array of shape (m,)
        Which do.
    rounding : float
        The largest change of a slack, in units of its size, that rounding was seen to make.
    """

    span: tuple[float, float]
    first: Array
    n: int
    values: Array
    samples: Array
    rounding: float

    def __repr__(self) -> str:
        first, last = self.span
        return f"<Sides of {self.n} samples over C from {first:.6g} to {last:.6g}: {len(self.values)} events>"

    @property
    def breakpoints(self) -> Array:
        """The values at which samples change sides, and both ends, strictly monotone."""
        return nodes_within(self.span, self.values)

    def at(self, C: float) -> Array:
        """Which samples are on the left at C."""
        sign = 1.0 if self.span[0] < self.span[1] else -1.0
        done = np.searchsorted(sign * self.values, sign * C, side="right")
        flips = np.bincount(self.samples[:done], minlength=self.n)
        return self._unpacked() ^ (flips % 2 == 1)

    def events(self) -> Iterator[Event]:
        """The changes of side, in the direction of the span."""
        left = self._unpacked()
        for value, sample in zip(self.values.tolist(), self.samples.tolist(), strict=True):
            yield Event(value, sample, *(("left", "right") if left[sample] else ("right", "left")))
            left[sample] = not left[sample]

    def _unpacked(self) -> Array:
        return np.unpackbits(self.first, count=self.n).astype(bool)


def exact_sides(rows: AnyRows, span: tuple[float, float]) -> Sides:
    """The sides over a span of C, in either direction; see the module's first lines."""
    low, high = sorted(span)
    if len(np.unique(rows.y[rows.s > 0])) < 2:  # f is the label of the one class that counts, at every C
        none = np.zeros(len(rows.y), dtype=bool)
        return Sides(span, np.packbits(none), len(none), np.empty(0), np.empty(0, dtype=int), 0.0)
    with blas_threads(rows.entries):
        walk = SideWalk(principal_rows(rows), low)
        first = walk.E
        walk.to(high)
    net: dict[tuple[float, int], None] = {}  # without events that undo each other at one value
    for event in zip(walk.values, walk.samples, strict=True):
        if event in net:
            del net[event]
        else:
            net[event] = None
    values, samples = np.array([value for value, _ in net]), np.array([sample for _, sample in net], dtype=int)
    if span[0] > span[1]:
        first, values, samples = walk.E, values[::-1], samples[::-1]
    return Sides(span, np.packbits(first), len(first), values, samples, walk.rounding)


def principal_rows(rows: AnyRows) -> Rows:
    """The rows in centred features along their principal axes, in which M keeps most digits."""
    Z = rows.A[:, :-1] - rows.s @ rows.A[:, :-1] / rows.s.sum()
    scaled = Z * np.sqrt(rows.s)[:, None]
    return Rows.of(Z @ interruptible(np.linalg.eigh, scaled.T @ scaled)[1][:, ::-1], rows.y, rows.s)


class Stretch(NamedTuple):
    """A part of the walk without an event: rows E on the left for u from start to end, around this centre of C."""

    E: Array
    series: Series
    centre: float
    start: float
    end: float

    def C(self, u: float) -> float:
        """The C at u."""
        return self.centre * (1.0 + u) / (1.0 - u)


def _sides_at(rows: Rows, C: float) -> Array:
    """Which samples are on the left at C, by Newton's method."""
    newton = FeatureNewton(SQUARED_HINGE, rows)
    return newton.at(1.0 / C, newton.start())[0].E.copy()


class SideWalk:
    """From one C to a larger one, with a list of the rows that changed sides and where; ``watch`` sees each stretch."""

    def __init__(self, rows: Rows, C: float, watch: Callable[[Stretch], None] | None = None) -> None:
        self._rows, self._watch = rows, watch
        self._counted = np.flatnonzero(rows.s > 0)
        # What rounding the features to double precision does to f, over C.
        self._noise = float(20 * np.finfo(float).eps * (rows.s * np.einsum("ij,ij->i", rows.A, rows.A)).max())
        self._before: _Slacks | None = None  # at the end of the series before
        self._is_new = True  # whether E comes from Newton's method
        self._turns: dict[int, int] = {}  # how often each row changed sides at the last value
        self.C = float(C)
        self.E = _sides_at(self._rows, self.C)
        self.values: list[float] = []
        self.samples: list[int] = []
        self.rounding = 0.0

    def to(self, high: float) -> None:
        """Walk up to this C."""
        radius = _FAR
        while high > self.C:
            before = len(self.samples)
            is_through = self._stretch(high, radius)
            events = max(len(self.samples) - before, 1)
            # What the remainder hides is clearer around a nearer centre.
            radius = min(radius * min(max(_EVENTS_PER_CENTRE / events, 0.5), 2.0), _FAR) if is_through else 0.5 * radius
            if radius < _LEAST:
                raise PathError(
                    f"The sides next to C = {self.C:.6g} cannot be resolved in double precision: scale the data, end "
                    "the span earlier, or use breakpoints='auto'."
                )

    def _stretch(self, high: float, radius: float) -> bool:
        """Walk as far as one centre serves; whether that was as far as it should."""
        centre = self.C * (1.0 + radius) / (1.0 - radius)
        piece = FixedSides(self._rows, self.E, 0.5 / centre)
        u, last = (self.C - centre) / (self.C + centre), (high - centre) / (high + centre)
        end = min(radius, last)
        while True:
            C = centre * (1.0 + u) / (1.0 - u)
            series = piece.series(max(abs(u), abs(end)))
            if self._is_wrong(_Slacks.of(series, u)) or max(self._turns.values(), default=0) > _CIRCLES:
                # The sides slightly beyond C are those that Newton's method finds.
                self.C = min(C * (1.0 + _BEYOND), high)
                self.E = _sides_at(self._rows, self.C)
                for changed in np.flatnonzero(self.E != piece.E).tolist():
                    self._record(C, changed)
                self._turns, self._is_new, self._before = {}, True, None
                return True
            start = u
            u, row = first_crossing(series, start, end, self._counted)
            if self._watch is not None:
                self._watch(Stretch(piece.E.copy(), series, centre, start, u))
            self._before = _Slacks.of(series, u)
            C = centre * (1.0 + u) / (1.0 - u)
            if row is None:
                break
            self._record(C, row)
            piece.flip(row)
        self.C, self.E = (high if u == last else C), piece.E
        return u >= end

    def _record(self, C: float, row: int) -> None:
        """Add an event; values that differ by rounding are one."""
        if self.values and self.values[-1] * (1.0 + _SAME_C) >= C:
            C = self.values[-1]
        else:
            self._turns = {}
        self._turns[row] = self._turns.get(row, 0) + 1
        self.values.append(C)
        self.samples.append(row)

    def _is_wrong(self, slacks: _Slacks) -> bool:
        """Whether a slack is negative, not only by rounding; measures that as well."""
        if self._before is not None:
            self.rounding = max(self.rounding, slacks.difference(self._before))
        lowest = float((slacks.values / (1.0 + np.abs(slacks.values)))[self._counted].min())
        is_new, self._is_new = self._is_new, False
        if self.rounding > _HOPELESS or (is_new and lowest < -min(_LOST + 100 * self._noise * self.C, _HOPELESS)):
            raise PathError(
                f"The sides next to C = {self.C:.6g} cannot be resolved: kernel values times C leave too few digits. "
                "Scale the data, or end the span earlier."
            )
        return not is_new and lowest < -min(_WRONG + self._noise * self.C, _HOPELESS)


@dataclass(frozen=True)
class _Slacks:
    """The slacks at one u, and a bound on what the series leaves out."""

    values: Array
    remainder: Array

    @staticmethod
    def of(series: Series, u: float) -> _Slacks:
        return _Slacks(series.at(u), series.beta * series.remainder(abs(u)))

    def difference(self, other: _Slacks) -> float:
        """The largest difference that the remainders do not explain, in the size of the slacks.

        A row that changes sides changes the sign of its slack, which is zero there.
        """
        rest = np.abs(np.abs(self.values) - np.abs(other.values)) - self.remainder - other.remainder
        return float((rest / (1.0 + np.abs(self.values))).max())

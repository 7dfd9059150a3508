"""Paths over a parameter of the kernel, from event to event (hinge, epsilon-insensitive, squared hinge).

While everybody keeps their place the machine is a smooth function of the parameter, known exactly at any value, with
its rate (``solvers.moving_kernel``). It is not linear, so that the next event has to be searched for. In t, which is
the logarithm of the parameter as a rule:

 1. at t with the places there, all slacks and their rates: the rates predict the first zero;
 2. there, the slacks of the same places and their rates once more. Between the two points every slack is a cubic to
    fourth order (``solvers.hermite``), and its first zero is told to many digits;
 3. there the sample changes its place, and all slacks are computed for the new places. The sample's own slack must be
    zero before and after: what is left of it, over its rate, settles the zero. If too much is left, the old places are
    solved there once more. Then on from 1, with what is already known.

That is little more than two solves per event. Slacks that are far from zero for their rates are left out of 2 (the
paper by Wang, Yeung and Lochovsky calls the others marginal points); in 3 it is seen whether that was right.

Certificate: between two points a slack could fall below zero and rise again. Every cubic is looked at, not only at the
ends: one that dips close to zero in between is solved for at its lowest place. At each breakpoint all slacks are
computed afresh.

Trouble: where an elbow system is singular, where several slacks vanish at once and their exchanges turn in circles, or
where a slack is wrong after an event, the machine slightly beyond is reached by homotopy from where one stands, and
the path goes on from there. If that fails, too, the walk is repeated with tiny numbers on the diagonal of the kernel
matrix; then :class:`svmpath.PathError` is raised.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.exceptions import PathError
from svmpath.gram import DenseGram
from svmpath.lazy import lazy
from svmpath.losses import Motion, Problem, Solution, SquaredHinge
from svmpath.losses.elbow import ElbowLoss
from svmpath.paths.jump import JumpPath
from svmpath.paths.made import Made
from svmpath.paths.march import MarchPath
from svmpath.paths.path import Array, Event, Path, Request
from svmpath.solvers.box_qp import FIXED, FREE, LOW, UP, Program, Walker
from svmpath.solvers.hermite import curvature, first_zero, inspect_cubics
from svmpath.solvers.moving_kernel import Axis, MovingProgram, Places, Point, regular
from svmpath.solvers.threads import blas_threads

_STRIDE = 0.3  # the longest step in t of a logarithm; of a plain parameter, a twentieth of its span
_FLOOR = 1e-12  # slacks of less, in units of f or of the box, are zero
_WRONG = 1e-9  # a slack so negative after an event is wrong
_SETTLED = 1e-12  # what the curvature may leave of a slack at its zero
_NEAR = 0.003  # how far beyond two points a zero may be, in t, to be taken as they tell it
_CLOSE = 1e-7  # how far a zero may be from where a cubic has told it, to be settled by the rates
_SOON = 1e-9  # an event so near is taken where the rates predict it
_GOOD = 1e-11  # a violation of a machine that needs no polish
_NOISY = 1e-8  # rounding of theta, in units of the box, at which steps are made shorter
_SHORT = 0.01  # but not shorter than this, in units of the longest
_HORIZON = 3.0  # how many predicted steps marginal points are watched for
_HALF = 0.5  # share of its slack that a sample must keep that was not watched
_MARGIN = 0.01  # a minimum between two points below this share of the variation is solved for
_LOST = 1e-6  # rounding up to which a violation may be put down to it
_PER_DECADE, _NEAR_ENOUGH = 4, 16  # nodes per factor of ten, and points kept per factor of e
_MOST_TRIALS = 60  # solves for one event
_MOST_CARE = 5  # times that a stretch is searched again, each time in shorter steps
_MOST_NULL = 12  # events at one t before the machine beyond is asked
_BEYOND = (1e-9, 1e-8, 1e-7, 1e-6)  # how far beyond, in t
_MOST_SOLVES = 1000  # per sample, on the whole path
_MOST_AGAIN = 30  # times that this is repeated at one place
_JITTERS = (0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)  # on the diagonal, in units of the largest K_ii

Reach = Callable[[float, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Told:
    """Events in order: where, which variable, from which status to which."""

    t: Array
    variable: Array
    source: Array
    target: Array

    @staticmethod
    def of(events: list[tuple[float, int, int, int]]) -> Told:
        """From a list of events."""
        t, variable, source, target = zip(*events, strict=True) if events else ((), (), (), ())
        return Told(
            np.array(t, dtype=float),
            np.array(variable, dtype=int),
            np.array(source, np.int8),
            np.array(target, np.int8),
        )


@dataclass(frozen=True)
class March:
    """A walk: the places at the first value, the events, and what it took.

    Attributes
    ----------
    first : array of shape (N,)
    told : Told
        Its t counts along the axis.
    solves : int
        Elbow systems solved.
    entries : int
        How often the machine beyond was reached by homotopy.
    jitter : float
    violation : float
        The largest wrong slack after an event.
    """

    first: Array
    told: Told
    solves: int
    entries: int
    jitter: float
    violation: float

    def status(self, t: float) -> Array:
        """The statuses at t; at an event, those after it."""
        status = self.first.copy()
        done = int(np.searchsorted(self.told.t, t, side="right"))
        status[self.told.variable[:done]] = self.told.target[:done]
        return status


@dataclass(frozen=True)
class _Found:
    """Where a search has ended, the variable that changes its place there with its new status, and how sure that is."""

    t: float
    event: tuple[int, int] | None = None
    is_guess: bool = False


class Walk:
    """From one end of an axis to the other; the only thing here that changes.

    Parameters
    ----------
    program : MovingProgram
    theta, status : arrays of shape (N,)
        The optimum at the first value.
    reach : callable
        ``reach(value, theta, status)`` gives theta and statuses of the optimum at a value, from any point.
    """

    def __init__(self, program: MovingProgram, theta: Array, status: Array, reach: Reach) -> None:
        self.program, self._reach = program, reach
        self._length = program.axis.length
        self._stride = _STRIDE if program.axis.is_log else self._length / 20
        self.t, self._null, self.solves, self.entries, self.worst = 0.0, 0, 0, 0, 0.0
        self.theta, self.status = regular(program, 0.0, theta, status)
        self._dependent: set[int] = set()  # variables that are known to depend on the free ones
        self._entered, self._again, self._bold = -np.inf, 0, 0.02
        self._events: list[tuple[float, int, int, int]] = []
        self._places = Places(program, self.status)

    def told(self) -> Told:
        """The events so far."""
        return Told.of(self._events)

    def march(self, jitter: float) -> March:
        """What is kept of the walk."""
        return March(self.first, self.told(), self.solves, self.entries, jitter, self.worst)

    def run(self) -> None:
        """Walk to the end."""
        here = self._point(0.0)
        if here is None or not self._is_right(here):
            here = self._enter(self.status)
            self._events.clear()  # nothing happened: the places were not those of the first machine
        self.first = self.status
        limit = _MOST_SOLVES * (len(self.status) + 100)
        while self.t < self._length - _FLOOR:
            here = self._segment(here)
            if self.solves > limit:
                value = self.program.axis.at(self.t)
                raise PathError(f"more than {limit} systems were solved up to {self.program.name} = {value:.6g}.")

    def _point(self, t: float, watch: Array | None = None) -> Point | None:
        self.solves += 1
        return self._places.point(t, watch)

    def _segment(self, here: Point, care: int = 0, bold: float | None = None) -> Point:
        """Up to the next event and beyond it, or as far as the marginal points serve; all slacks there.

        With care, all samples are watched, and steps are shorter. ``bold`` is the longest interval on which the zero of
        a cubic is taken as it is.
        """
        watch = self._marginal(here, care)
        bold = self._bold if bold is None else bold
        found = self._search(here, watch, bold) if self._null <= _MOST_NULL else None
        if found is None:
            return self._enter(self.status)
        before, places = self.status, self._places
        there = self._beyond(found)
        event = found.event
        is_doubtful = there is None or there.noise > _NOISY
        if event is not None and event[1] == FREE and is_doubtful and places.depends(found.t, event[0]):
            self.status, self._places = before, places
            return self._overlook(here, event[0])
        if event is not None and there is not None and found.is_guess:
            there = self._settled(there, *event, int(before[event[0]]))
        is_right = there is not None and self._is_right(there)
        if found.is_guess:
            self._bold = min(self._bold * (2.0 if is_right else 0.5), self._stride)
            if not is_right:
                self.status, self._places = before, places
                return self._segment(here, care, 0.0)
        if there is None or not is_right or not self._has_kept(here, places, there, watch):
            self.status, self._places = before, places
            return self._segment(here, care + 1) if is_right else self._doubt(here, found.t, care)
        if event is not None:
            self._dependent = set()
            self._null = self._null + 1 if there.t - self.t <= _SOON else 0
            self._events.append((there.t, event[0], int(before[event[0]]), event[1]))
        self._stand(there)
        return there

    def _beyond(self, found: _Found) -> Point | None:
        """All slacks where the search has ended, the event having happened; None if that cannot be solved."""
        if found.event is not None:
            j, target = found.event
            self.status = self.status.copy()
            self.status[j] = target
            self._places = Places(self.program, self.status)
            if target != FREE and not self._has_members():
                return None
        return self._point(found.t)

    def _settled(self, point: Point, j: int, target: int, source: int) -> Point | None:
        """The point moved to where the slack of the variable that has changed its place is exactly zero.

        The places before and after share that zero. None if it is so far that the rates do not tell it.
        """
        k = self._places.position(j, target, source)
        s, d = point.slacks[k], point.rates[k]
        x = -s / d if d > 0 else np.inf
        if not (abs(x) <= _CLOSE and self.t <= point.t + x <= self._length):
            return None
        return replace(point, t=point.t + x, slacks=point.slacks + x * point.rates)

    def _overlook(self, here: Point, j: int) -> Point:
        """Of a variable that depends on the free ones the gradient is zero as long as theirs are.

        Only if it clearly falls below zero, somebody has to make room.
        """
        if j in self._dependent:
            return self._enter(self.status)
        self._dependent.add(j)
        return here

    def _doubt(self, here: Point, t: float, care: int) -> Point:
        """After an event at t that was not right: reach beyond it if nothing happened before, else search again."""
        old = self._point(t)
        if old is not None and self._is_right(old):
            self._stand(old)
            return self._enter(self.status)
        if care < _MOST_CARE:
            return self._segment(here, care + 1)
        return self._enter(self.status)

    def _stand(self, point: Point) -> None:
        """Be at a point."""
        self.t, self.theta = point.t, self._places.whole(point)

    def _tell(self, t: float, before: Array) -> None:
        for j in np.flatnonzero(before != self.status):
            self._events.append((t, int(j), int(before[j]), int(self.status[j])))

    def _has_members(self) -> bool:
        """Whether every sum has a free variable left."""
        p = self.program
        return bool(np.all(np.bincount(p.group[self.status == FREE], minlength=len(p.b)) > 0))

    def _is_right(self, point: Point) -> bool:
        """Whether no slack is negative by more than rounding explains."""
        lowest = float(point.slacks.min(initial=0.0))
        if lowest < -_WRONG:
            bound = len(self._places.bound)
            free = float(point.slacks[bound:].min(initial=0.0))
            if float(point.slacks[:bound].min(initial=0.0)) < -_WRONG or free < -10 * point.noise:
                return False
        self.worst = max(self.worst, -lowest)
        return True

    def _has_kept(self, here: Point, places: Places, there: Point, watch: Array) -> bool:
        """Whether those who were not watched are still far from zero."""
        aside = np.ones(len(places.bound), dtype=bool)
        aside[watch] = False
        new = np.empty(len(self.status))
        new[self._places.bound] = there.slacks[: len(self._places.bound)]
        return bool((new[places.bound[aside]] >= _HALF * here.slacks[: len(aside)][aside] - _WRONG).all())

    def _marginal(self, here: Point, care: int) -> Array:
        """Positions of the bound variables that may reach zero before the horizon, which is set; or of every one."""
        rates = here.rates
        self._floors = self._floor(here)
        step = first_zero(here.slacks, rates, np.zeros(len(rates)), self._floors)[0]
        self._ahead = min(step, self._stride, self._length - here.t)
        self._horizon = min(max(_HORIZON * self._ahead, _SOON), self._stride, self._length - here.t)
        bound = len(self._places.bound)
        if care:
            self._horizon = max(self._horizon * 4.0 ** (1 - care), _SOON)
            self._ahead = min(self._ahead, self._horizon)
            return np.arange(bound)
        if bound == 0:
            return np.arange(0)
        speed = np.abs(rates[:bound])
        return np.flatnonzero(here.slacks[:bound] < 4 * self._horizon * (speed + speed.mean()) + _WRONG)

    def _floor(self, point: Point) -> Array:
        """What each slack must fall below zero by to count."""
        bound, floor = self._places.bound, np.empty(len(point.slacks))
        floor[: len(bound)], floor[len(bound) :] = _FLOOR, max(_FLOOR, point.noise)
        if self._dependent:
            floor[: len(bound)][np.isin(bound, list(self._dependent))] = _HALF * _WRONG
        return floor

    def _search(self, here: Point, watch: Array, bold: float) -> _Found | None:
        """The next event, or how far nothing happens; None in trouble."""
        places = self._places
        bound, every = places.bound[watch], len(places.bound)
        some = np.concatenate([watch, np.arange(every, len(here.slacks))])
        lo, floor = here.some(some), self._floors[some]
        curve, t, end = np.zeros(len(floor)), here.t + self._ahead, here.t + self._horizon
        x, k = first_zero(lo.slacks, lo.rates, curve, floor)
        for _ in range(_MOST_TRIALS):
            # Where the rates (and curvatures, once they are known) say so clearly, the event needs no solve.
            if x <= _SOON or (lo.t > here.t and lo.t + x <= end and abs(curve[k]) * x * x <= _SETTLED):
                alone = slice(k, k + 1)
                back = first_zero(lo.slacks[alone], lo.rates[alone], curve[alone], np.zeros(1))[0]
                return _Found(min(lo.t + min(back, x), self._length), places.event(k, bound))
            if lo.t >= end - _FLOOR:
                return _Found(end)
            t = min(t, end)
            there = self._point(t, watch)
            step = t - lo.t
            if there is None or (there.noise > max(_NOISY, 4 * lo.noise) and step > _SHORT * self._stride):
                t = lo.t + 0.5 * step
                if t - lo.t < _BEYOND[-1]:
                    return _Found(lo.t) if lo.t > here.t else None
                continue
            ends = lo.t, lo.slacks, lo.rates, there.t, there.slacks, there.rates
            seen = inspect_cubics(*ends, floor, _MARGIN)
            if seen.dip < np.inf:
                t = seen.dip
                continue
            if seen.zero < np.inf:
                t, j = seen.zero, seen.which
                is_last = there.t - t < t - lo.t
                apart = there.t - t if is_last else t - lo.t
                if _bend(lo, there, j, is_last) * apart**2 <= _SETTLED or t - lo.t <= _FLOOR:
                    return _Found(t, places.event(j, bound))
                if step <= bold:
                    return _Found(t, places.event(j, bound), is_guess=True)
                continue
            curve, lo = curvature(*ends), there
            x, k = first_zero(lo.slacks, lo.rates, curve, floor)
            if step <= bold and x <= _NEAR and lo.t + x <= end:
                return _Found(lo.t + x, places.event(k, bound), is_guess=True)
            t = lo.t + min(x, 4 * step)
        return None

    def _enter(self, before: Array) -> Point:
        """The machine slightly beyond t, reached by homotopy from here; who is elsewhere changes at t."""
        # Farther, if one has just been here.
        self._again = self._again + 1 if self.t - self._entered <= 10 * _BEYOND[min(self._again, 3)] else 0
        for beyond in _BEYOND[min(self._again, 3) :] if self._again < _MOST_AGAIN else ():
            t = min(self.t + beyond, self._length)
            self.entries += 1
            try:
                theta, status = self._reach(float(self.program.axis.value(t)), self.theta, before)
            except PathError:
                continue
            theta, self.status = regular(self.program, t, theta, status)
            self._places = Places(self.program, self.status)
            there = self._point(t)
            if there is not None and self._is_right(there):
                self._dependent = set()
                self._tell(self.t, before)
                self.t, self.theta, self._null, self._entered = t, theta, 0, t
                return there
        value = float(self.program.axis.value(self.t))
        raise PathError(f"the places next to {self.program.name} = {value:.6g} cannot be told in double precision.")


def _bend(a: Point, b: Point, k: int, is_last: bool) -> float:
    """How much the cubic of slack k bends at one of the ends of its interval."""
    a, b = (a, b) if is_last else (b, a)
    one = slice(k, k + 1)
    return abs(float(curvature(a.t, a.slacks[one], a.rates[one], b.t, b.slacks[one], b.rates[one])[0]))


@dataclass(frozen=True, repr=False, eq=False)
class OverKernel(Path):
    """A path over a parameter of the kernel along which every event is known."""

    @property
    @abstractmethod
    def record(self) -> March: ...

    @property
    def C(self) -> float:
        """The value of C."""
        return self.motion.fixed["C"]

    @abstractmethod
    def over_C(self, value: float) -> Path:
        """The path over C of the machine with the kernel at one value, standing still at its C: for criteria."""

    @abstractmethod
    def _place(self, status: int, j: int) -> str:
        """The name of the place of variable j."""

    @lazy
    def axis(self) -> Axis:
        """The parameter as the walk sees it."""
        return Axis(*self.span, is_log=min(self.span) > 0 and self.gram.kernel.parameter(self.over).log)

    def _compared(self) -> Any:
        """What the kernel needs of all rows, if the kernel matrix is used as it is."""
        gram = self.problem.gram
        if not isinstance(gram, DenseGram) or gram.clip:
            raise ValueError(
                f"Events of {self.loss!r} over {self.over} need the kernel matrix as it is: without rank= and without "
                "psd='clip'."
            )
        return gram.compared

    def _lost(self, reason: PathError | None) -> PathError:
        return PathError(
            f"The path of {self.loss!r} over {self.over} could not be followed from {self.span[0]:.6g} to "
            f"{self.span[1]:.6g}: {reason} Shorten the span, or bring the columns to one scale."
        )

    @property
    def breakpoints(self) -> Array:
        """The values at which a sample changes its place, and both ends, in the direction of the span."""
        inside = self.axis.value(np.unique(self.record.told.t))
        low, high = sorted(self.span)
        nodes = np.concatenate([[self.span[0]], inside[(inside > low) & (inside < high)], [self.span[1]]])
        return nodes[np.concatenate([[True], np.diff(nodes) != 0])]

    @property
    def certificate(self) -> float:
        """The largest wrong slack after an event, in units of f or of the box."""
        return self.record.violation

    def events(self) -> Iterable[Event]:
        """Every change of place, in the direction of the span."""
        told = self.record.told
        for t, j, source, target in zip(told.t, told.variable, told.source, told.target, strict=True):
            ends = (self._place(int(status), int(j)) for status in (source, target))
            yield Event(float(self.axis.value(t)), int(j % self.problem.n), *ends)


@dataclass(frozen=True, repr=False, eq=False)
class KernelPath(OverKernel):
    """A machine with an elbow over a parameter of its kernel.

    Attributes
    ----------
    start : array of shape (n,) or None
        Coefficients alpha / C of a similar machine, from which the first one is reached.
    """

    loss: ElbowLoss
    start: Array | None = None

    @classmethod
    def of(cls, problem: Problem, request: Request, made: Made) -> KernelPath:
        """The path of a problem."""
        return cls(problem, request.loss, request.motion, request.span, made=made)

    @property
    def has_boxes(self) -> bool:
        """True."""
        return True

    def started(self, start: Array) -> KernelPath:
        """The path, its first machine to be found from the coefficients alpha / C of a similar one."""
        return replace(self, start=start)

    def followed(self, *, shorten: bool = False) -> KernelPath:
        """The path with its walk; one that cannot be followed is refused here."""
        self.record  # noqa: B018 - walks
        return self

    def machine(self, value: float) -> JumpPath:
        """The machine at one value, as a path that stands still."""
        problem = self.problem.at(self.over, value)
        return JumpPath(problem, self.loss, self.motion, (value, value), self.start)

    @lazy
    def record(self) -> March:
        """The walk over the span."""
        self._compared()  # refuses what has no events
        reason: PathError | None = None
        with blas_threads(self.problem.n**2):
            for jitter in _JITTERS:
                try:
                    return self._march(jitter)
                except PathError as error:
                    reason = reason or error
        raise self._lost(reason)

    @property
    def jitter(self) -> float:
        """What had to be added to the diagonal of the kernel matrix, in units of its largest entry; 0 as a rule."""
        return self.record.jitter

    def _march(self, jitter: float) -> March:
        first = self.machine(self.span[0])
        noise = jitter * np.abs(first.gram.diag).max() * (1.0 + np.random.default_rng(0).random(self.problem.n))
        walker = first.begin(noise=noise)
        program = self._moving(walker.program, noise if jitter else None)

        def reach(value: float, theta: Array, status: Array) -> tuple[Array, Array]:
            found = self.machine(value).begin(theta, status, noise)
            return found.theta, found.status

        walk = Walk(program, walker.theta, walker.status, reach)
        walk.run()
        return walk.march(jitter)

    def _moving(self, still: Program, noise: Array | None) -> MovingProgram:
        """The program with a kernel that moves, from the one at the first value."""
        width = still.u0 - still.l0
        return MovingProgram(
            self.gram.kernel, self._compared(), self.over, self.axis, still.rows, still.group, still.c0, still.l0,
            still.u0, np.zeros(len(width)), np.where(width > 0, width, 1.0), still.b0, float(still.unit[0]),
            self.problem.n, noise,
        )  # fmt: skip

    def _place(self, status: int, j: int) -> str:
        return self.loss.place(status, self.loss.signs(self.problem)[j])

    def _solve(self, value: float) -> Solution:
        solution, other, reason = None, None, PathError("")
        try:
            solution = self.machine(value).from_places(self.record.status(self.axis.t(value)), _GOOD)
            if solution.violation <= _WRONG * self.loss.scale(self.problem) + min(solution.rounding, _LOST):
                return solution
        except PathError as error:
            reason = error
        with suppress(PathError):
            other = self._over_C(value, None)(self.C)
        found = [each for each in (solution, other) if each is not None]
        if not found:
            raise reason
        return min(found, key=lambda each: each.violation)

    def over_C(self, value: float) -> JumpPath:
        """The path over C of the machine with the kernel at one value, standing still at its C: for criteria."""
        return self._over_C(value, self(value).alpha / self.C)

    def _over_C(self, value: float, start: Array | None) -> JumpPath:
        """The same from another machine, or from where it is constant: a longer way, but with fewer ties."""
        problem, span = self.problem.at(self.over, value), (self.C, self.C)
        return JumpPath(problem, self.loss, Motion("C", self.loss.own), span, start)

    def without(self, rows: Array) -> KernelPath:
        """The path of the same machine with weight zero for some rows; it begins as a path does by itself."""
        return replace(super().without(rows), start=None)

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows at each value, each reached by homotopy from the last; nothing is recorded."""
        held = np.empty((len(values), self.problem.n))
        walker: Walker | None = None
        with blas_threads(self.problem.n**2):
            for k in np.argsort(values, kind="stable"):
                machine = self.machine(float(values[k]))
                walker = machine.begin() if walker is None else machine.begin(walker.theta, walker.status)
                held[k] = machine.from_places(walker.status).fitted
        return held


@dataclass(frozen=True, repr=False, eq=False)
class NewtonKernelPath(OverKernel):
    """The squared hinge machine over a parameter of its kernel.

    The machine at a value is solved on the samples left of the margin, starting with those of a neighbour, until they
    are the right ones. In exact form the same walk as for a loss with an elbow tells every change of side: with
    theta = alpha the machine is the program with rho = 1 / (2 C s) and bounds on one side only.

    Attributes
    ----------
    exact : bool
        Whether breakpoints and events are those of every single change of side, or told at the nodes between which
        they happen.
    """

    loss: SquaredHinge
    exact: bool = False

    @classmethod
    def of(cls, problem: Problem, request: Request, made: Made) -> NewtonKernelPath:
        """The path of a problem."""
        return cls(problem, request.loss, request.motion, request.span, request.exact, made=made)

    def followed(self, *, shorten: bool = False) -> NewtonKernelPath:
        """The path, its walk made if every change of side is to be known."""
        if self.exact:
            self.record  # noqa: B018 - walks
        return self

    @lazy
    def _visited(self) -> dict[float, Array]:
        """The samples on the left, packed, by the t where one has been."""
        return {}

    @lazy
    def record(self) -> March:
        """The walk over the span."""
        problem, s = self.problem, self.problem.s
        y, counts, n = problem.y, problem.s > 0, problem.n
        low, up = np.where(counts & (y < 0), -np.inf, 0.0), np.where(counts & (y > 0), np.inf, 0.0)
        with np.errstate(divide="ignore"):
            rho = np.where(counts, 0.5 / (self.C * s), 0.0)
        program = MovingProgram(
            self.gram.kernel, self._compared(), self.over, self.axis, np.arange(n), np.zeros(n, dtype=np.int64), -y,
            low, up, rho, np.where(counts, 2 * self.C * s, 1.0), np.zeros(1), 1.0, n,
        )  # fmt: skip
        if len(np.unique(y[counts])) < 2:  # f is the label of the one class that counts
            return March(self._status(np.zeros(n, dtype=bool)), Told.of([]), 0, 0, 0.0, 0.0)

        def reach(value: float, theta: Array, status: Array) -> tuple[Array, Array]:
            alpha = self._near(value, status == FREE).alpha
            return alpha, self._status(alpha != 0)

        with blas_threads(n**2):
            first = self._from_afar(self.span[0])
            walk = Walk(program, first.alpha, self._status(first.alpha != 0), reach)
            try:
                walk.run()
            except PathError as error:
                raise self._lost(error) from error
        return walk.march(0.0)

    def _status(self, left: Array) -> Array:
        status = np.where(left, FREE, np.where(self.problem.y > 0, LOW, UP)).astype(np.int8)
        status[self.problem.s == 0] = FIXED
        return status

    def _place(self, status: int, j: int) -> str:
        return "left" if status == FREE else "right"

    @property
    def breakpoints(self) -> Array:
        """Every value at which a sample changes sides if ``exact``, else nodes evenly spaced in t."""
        if self.exact:
            return OverKernel.breakpoints.fget(self)  # type: ignore[attr-defined]
        count = _PER_DECADE * self.axis.length / np.log(10) if self.axis.is_log else 20
        nodes = self.axis.value(np.linspace(0.0, self.axis.length, 1 + max(1, round(count))))
        nodes[[0, -1]] = self.span
        return nodes

    def events(self) -> Iterable[Event]:
        """Every change of side if ``exact``; else those between one node and the next, told where first seen."""
        if self.exact:
            yield from super().events()
            return
        before: Array | None = None
        for value in self.breakpoints:
            left = self(float(value)).alpha != 0
            for sample in np.flatnonzero(left != before) if before is not None else ():
                ends = ("right", "left") if left[sample] else ("left", "right")
                yield Event(float(value), int(sample), *ends)
            before = left

    def _solve(self, value: float) -> Solution:
        t = self.axis.t(value)
        with blas_threads(self.problem.n**2):
            if self.exact:
                return self._near(value, self.record.status(t) == FREE)
            if self._visited and isinstance(self.problem.gram, DenseGram):
                near = min(list(self._visited), key=lambda each: abs(each - t))
                left = np.unpackbits(self._visited[near], count=self.problem.n).astype(bool)
                solution = self._near(value, left)
            else:
                solution = self._from_afar(value)
            self._visited[round(t * _NEAR_ENOUGH) / _NEAR_ENOUGH] = np.packbits(solution.alpha != 0)
        return solution

    def _near(self, value: float, left: Array) -> Solution:
        """The machine at a value, from samples that are about those on the left."""
        if not left.any():
            return self._from_afar(value)
        solution = self.loss.in_samples(self.problem.at(self.over, value), np.flatnonzero(left), self.C)
        if solution.violation <= _WRONG + min(solution.rounding, _LOST):
            return solution
        return min(solution, self._from_afar(value), key=lambda each: each.violation)

    def _from_afar(self, value: float) -> Solution:
        """The machine at a value, as a path over C finds it."""
        return self.over_C(value)(self.C)

    def over_C(self, value: float) -> MarchPath:
        """The path over C of the machine with the kernel at one value, standing still at its C: for criteria."""
        return MarchPath(self.problem.at(self.over, value), self.loss, Motion("C"), (self.C, self.C))

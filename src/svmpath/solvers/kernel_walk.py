"""A walk over a parameter of the kernel, from event to event.

As long as no place changes, the machine is a smooth function of the parameter, known exactly at any value, with
its rate (``solvers.moving_kernel``). It is not linear, so that the next event has to be searched for. In t, which is
the logarithm of the parameter as a rule:

 1. at t with the places there, all slacks and their rates: the rates predict the first zero;
 2. there, the slacks of the same places and their rates once more. Between the two points every slack is a cubic to
    fourth order (``solvers.hermite``), and its first zero is known to many digits;
 3. there the sample changes its place, and all slacks are computed for the new places. The sample's own slack must be
    zero before and after: what it still is, over its rate, settles the zero. If it is too much, the old places are
    solved there once more. Then on from 1, with what is already known.

That is little more than two solves per event. Slacks that are far from zero for their rates are left out of 2 (the
paper by Wang, Yeung and Lochovsky calls the others marginal points); in 3 it is seen whether that was right.

Certificate: between two points a slack could fall below zero and rise again. Every cubic is looked at, not only at the
ends: one that dips close to zero in between is solved for at its lowest place. At each breakpoint all slacks are
computed afresh.

Trouble: where an elbow system is singular, where several slacks vanish at once and their exchanges turn in circles, or
where a slack is wrong after an event, the machine slightly beyond is solved for by homotopy from the last one, and the
path goes on from there. If that fails, too, the walk is repeated with tiny numbers on the diagonal of the kernel
matrix; then :class:`svmpath.PathError` is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.solvers.box_qp import FREE
from svmpath.solvers.events import EventLog
from svmpath.solvers.hermite import curvature, first_zero, inspect_cubics
from svmpath.solvers.moving_kernel import MovingProgram, Places, SlackPoint, Watched, regular

Array = np.ndarray
SolveFrom = Callable[[float, Array, Array], tuple[Array, Array]]

# The tolerances of this engine. Slacks are in units of f or of the box, lengths in t unless it says otherwise.

# --- slacks ---
ZERO_SLACK = 1e-12  # slacks of less are zero: rounding
WRONG_SLACK = 1e-9  # a slack so negative after an event is wrong: rounding explains no more as a rule
LARGEST_ROUNDING = 1e-6  # where rounding may explain more, a violation is put down to it up to this
SETTLED = 1e-12  # what the curvature may add to a slack at its zero, for the zero to need no further solve
NOISY = 1e-8  # rounding of theta at which steps are made shorter: towards a singular system it grows
KEPT_SHARE = 0.5  # share of its slack that a sample must keep that was not watched; if not, all are watched
DIP_SHARE = 0.01  # a minimum between two points below this share of the variation is solved for: cubics have errors

# --- steps ---
STRIDE = 0.3  # the longest step of a logarithm; of a plain parameter, a twentieth of its span
SHORTEST = 0.01  # a noisy step is not made shorter than this, in units of the longest
HORIZON = 3.0  # how many predicted steps marginal points are watched for: a prediction may fall short
EXTRAPOLATED = 0.003  # how far beyond two points a zero may be to be taken as they predict it
CORRECTED = 1e-7  # how far a zero may be from that of a cubic to be corrected by the rates: the square is rounding
AT_ONCE = 1e-9  # an event so near is taken where the rates predict it
BEYOND = (1e-9, 1e-8, 1e-7, 1e-6)  # how far beyond trouble the machine is solved for, one after another

# --- limits ---
TRIALS = 60  # solves for one event, which as a rule takes two or three
REPEATED_SEARCHES = 5  # times that a stretch is searched again, each time in shorter steps
EVENTS_AT_ONE_VALUE = 12  # before the machine beyond is asked: exchanges may turn in circles
ENTRIES_AT_ONE_VALUE = 30  # times that this is repeated there
SOLVES_PER_SAMPLE = 1000  # on the whole path

# Numbers on the diagonal, in units of the largest K_ii, with which the walk is repeated.
JITTERS = (0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)


@dataclass(frozen=True)
class KernelRecord:
    """A walk: the places at the first value, the events, and what it took.

    Attributes
    ----------
    first : array of shape (N,)
    events : EventLog
        Its t counts along the axis.
    solves : int
        Elbow systems solved.
    entries : int
        How often the machine slightly beyond was solved for by homotopy.
    jitter : float
    violation : float
        The largest wrong slack after an event.
    """

    first: Array
    events: EventLog
    solves: int
    entries: int
    jitter: float
    violation: float

    def status(self, t: float) -> Array:
        """The statuses at t; at an event, those after it."""
        return self.events.places(self.first, t)


@dataclass(frozen=True)
class _Stop:
    """Where a search has ended, the variable that changes its place there with its new status, and how sure that is."""

    t: float
    event: tuple[int, int] | None = None
    is_guess: bool = False


class KernelWalk:
    """From one end of an axis to the other; the only thing here that changes.

    Parameters
    ----------
    program : MovingProgram
    theta, status : arrays of shape (N,)
        The optimum at the first value.
    solve_from : callable
        ``solve_from(value, theta, status)`` gives theta and statuses of the optimum at a value, from any point.
    """

    def __init__(self, program: MovingProgram, theta: Array, status: Array, solve_from: SolveFrom) -> None:
        self.program, self._solve_from = program, solve_from
        self._length = program.axis.length
        self._stride = STRIDE if program.axis.is_log else self._length / 20
        self.t, self._null, self.solves, self.entries, self.worst = 0.0, 0, 0, 0, 0.0
        self.theta, self.status = regular(program, 0.0, theta, status)
        self._dependent: set[int] = set()  # variables that are known to depend on the free ones
        self._entered, self._again, self._bold = -np.inf, 0, 0.02
        self._events: list[tuple[float, int, int, int]] = []
        self._places = Places(program, self.status)

    def record(self, jitter: float) -> KernelRecord:
        """What is kept of the walk."""
        events = EventLog.of(self._events)
        return KernelRecord(self.first, events, self.solves, self.entries, jitter, self.worst)

    def run(self) -> None:
        """Walk to the end."""
        here = self._point(0.0)
        if here is None or not self._is_right(here):
            here = self._enter(self.status)
            self._events.clear()  # nothing happened: the places were not those of the first machine
        self.first = self.status
        limit = SOLVES_PER_SAMPLE * (len(self.status) + 100)
        while self.t < self._length - ZERO_SLACK:
            here = self._segment(here)
            if self.solves > limit:
                value = float(self.program.axis.value(self.t))
                raise PathError(f"more than {limit} systems were solved up to {self.program.name} = {value:.6g}.")

    def _point(self, t: float, watched: Watched | None = None) -> SlackPoint | None:
        self.solves += 1
        return self._places.point(t, watched)

    def _segment(self, here: SlackPoint, care: int = 0, bold: float | None = None) -> SlackPoint:
        """Up to the next event and beyond it, or as far as the marginal points serve; all slacks there.

        With care, all samples are watched, and steps are shorter. ``bold`` is the longest interval on which the zero of
        a cubic is taken as it is.
        """
        watch = self._marginal(here, care)
        bold = self._bold if bold is None else bold
        stop = self._search(here, watch, bold) if self._null <= EVENTS_AT_ONE_VALUE else None
        if stop is None:
            return self._enter(self.status)
        before, places = self.status, self._places
        there = self._beyond(stop)
        event = stop.event
        is_unsure = there is None or there.noise > NOISY
        if event is not None and event[1] == FREE and is_unsure and places.depends(stop.t, event[0]):
            self.status, self._places = before, places
            # A variable that depends on the free ones is not freed: its gradient is zero as long as theirs are. Only if
            # it clearly falls below zero, the variable becomes free and another one has to leave.
            if event[0] in self._dependent:
                return self._enter(self.status)
            self._dependent.add(event[0])
            return here
        if event is not None and there is not None and stop.is_guess:
            there = self._settled(there, *event, int(before[event[0]]))
        is_right = there is not None and self._is_right(there)
        if stop.is_guess:
            self._bold = min(self._bold * (2.0 if is_right else 0.5), self._stride)
            if not is_right:
                self.status, self._places = before, places
                return self._segment(here, care, 0.0)
        if there is None or not is_right or not self._has_kept(here, places, there, watch):
            self.status, self._places = before, places
            return self._segment(here, care + 1) if is_right else self._search_again(here, stop.t, care)
        if event is not None:
            self._dependent = set()
            self._null = self._null + 1 if there.t - self.t <= AT_ONCE else 0
            self._events.append((there.t, event[0], int(before[event[0]]), event[1]))
        self._move_to(there)
        return there

    def _beyond(self, stop: _Stop) -> SlackPoint | None:
        """All slacks where the search has ended, the event having happened; None if that cannot be solved."""
        if stop.event is not None:
            j, target = stop.event
            self.status = self.status.copy()
            self.status[j] = target
            self._places = Places(self.program, self.status)
            members = np.bincount(self.program.group[self.status == FREE], minlength=len(self.program.b))
            if target != FREE and not members.all():  # a sum without a free variable
                return None
        return self._point(stop.t)

    def _settled(self, point: SlackPoint, j: int, target: int, source: int) -> SlackPoint | None:
        """The point moved to where the slack of the variable that has changed its place is exactly zero.

        The places before and after share that zero. None if it is too far for the rates.
        """
        k = self._places.position(j, target, source)
        s, d = point.slacks[k], point.rates[k]
        x = -s / d if d > 0 else np.inf
        if not (abs(x) <= CORRECTED and self.t <= point.t + x <= self._length):
            return None
        return replace(point, t=point.t + x, slacks=point.slacks + x * point.rates)

    def _search_again(self, here: SlackPoint, t: float, care: int) -> SlackPoint:
        """After an event at t that was not right: enter beyond it if nothing happened before, else search again."""
        old = self._point(t)
        if old is not None and self._is_right(old):
            self._move_to(old)
            return self._enter(self.status)
        if care < REPEATED_SEARCHES:
            return self._segment(here, care + 1)
        return self._enter(self.status)

    def _move_to(self, point: SlackPoint) -> None:
        """Go to a point."""
        self.t, self.theta = point.t, self._places.theta.copy()
        self.theta[self._places.free] = point.theta

    def _is_right(self, point: SlackPoint) -> bool:
        """Whether no slack is negative by more than rounding explains."""
        lowest = float(point.slacks.min(initial=0.0))
        if lowest < -WRONG_SLACK:
            bound = len(self._places.bound)
            free = float(point.slacks[bound:].min(initial=0.0))
            if float(point.slacks[:bound].min(initial=0.0)) < -WRONG_SLACK or free < -10 * point.noise:
                return False
        self.worst = max(self.worst, -lowest)
        return True

    def _has_kept(self, here: SlackPoint, places: Places, there: SlackPoint, watch: Array) -> bool:
        """Whether the slacks that were not watched are still far from zero."""
        aside = np.ones(len(places.bound), dtype=bool)
        aside[watch] = False
        new = np.empty(len(self.status))
        new[self._places.bound] = there.slacks[: len(self._places.bound)]
        return bool((new[places.bound[aside]] >= KEPT_SHARE * here.slacks[: len(aside)][aside] - WRONG_SLACK).all())

    def _marginal(self, here: SlackPoint, care: int) -> Array:
        """Positions of the bound variables that may reach zero before the horizon, which is set; or of every one."""
        rates, bound = here.rates, len(self._places.bound)
        # What each slack must fall below zero by to count.
        self._floors = np.full(len(rates), ZERO_SLACK)
        self._floors[bound:] = max(ZERO_SLACK, here.noise)
        if self._dependent:
            self._floors[:bound][np.isin(self._places.bound, list(self._dependent))] = KEPT_SHARE * WRONG_SLACK
        step = first_zero(here.slacks, rates, np.zeros(len(rates)), self._floors)[0]
        self._ahead = min(step, self._stride, self._length - here.t)
        self._horizon = min(max(HORIZON * self._ahead, AT_ONCE), self._stride, self._length - here.t)
        if care:
            self._horizon = max(self._horizon * 4.0 ** (1 - care), AT_ONCE)
            self._ahead = min(self._ahead, self._horizon)
            return np.arange(bound)
        if bound == 0:
            return np.arange(0)
        speed = np.abs(rates[:bound])
        return np.flatnonzero(here.slacks[:bound] < 4 * self._horizon * (speed + speed.mean()) + WRONG_SLACK)

    def _search(self, here: SlackPoint, watch: Array, bold: float) -> _Stop | None:
        """The next event, or how far nothing happens; None in trouble."""
        places = self._places
        bound, every, watched = places.bound[watch], len(places.bound), places.watched(watch)
        some = np.concatenate([watch, np.arange(every, len(here.slacks))])
        lo, floor = here.some(some), self._floors[some]
        curve, t, end = np.zeros(len(floor)), here.t + self._ahead, here.t + self._horizon
        x, k = first_zero(lo.slacks, lo.rates, curve, floor)
        for _ in range(TRIALS):
            # Where the rates (and curvatures, once they are known) say so clearly, the event needs no solve.
            if x <= AT_ONCE or (lo.t > here.t and lo.t + x <= end and abs(curve[k]) * x * x <= SETTLED):
                alone = slice(k, k + 1)
                back = first_zero(lo.slacks[alone], lo.rates[alone], curve[alone], np.zeros(1))[0]
                return _Stop(min(lo.t + min(back, x), self._length), places.event(k, bound))
            if lo.t >= end - ZERO_SLACK:
                return _Stop(end)
            t = min(t, end)
            there = self._point(t, watched)
            step = t - lo.t
            if there is None or (there.noise > max(NOISY, 4 * lo.noise) and step > SHORTEST * self._stride):
                t = lo.t + 0.5 * step
                if t - lo.t < BEYOND[-1]:
                    return _Stop(lo.t) if lo.t > here.t else None
                continue
            ends = lo.t, lo.slacks, lo.rates, there.t, there.slacks, there.rates
            seen = inspect_cubics(*ends, floor, DIP_SHARE)
            if seen.dip < np.inf:
                t = seen.dip
                continue
            if seen.zero < np.inf:
                t, j = seen.zero, seen.which
                is_last = there.t - t < t - lo.t
                apart = there.t - t if is_last else t - lo.t
                start, stop, one = (lo, there, slice(j, j + 1)) if is_last else (there, lo, slice(j, j + 1))
                near = start.t, start.slacks[one], start.rates[one], stop.t, stop.slacks[one], stop.rates[one]
                if abs(float(curvature(*near)[0])) * apart**2 <= SETTLED or t - lo.t <= ZERO_SLACK:
                    return _Stop(t, places.event(j, bound))
                if step <= bold:
                    return _Stop(t, places.event(j, bound), is_guess=True)
                continue
            curve, lo = curvature(*ends), there
            x, k = first_zero(lo.slacks, lo.rates, curve, floor)
            if step <= bold and x <= EXTRAPOLATED and lo.t + x <= end:
                return _Stop(lo.t + x, places.event(k, bound), is_guess=True)
            t = lo.t + min(x, 4 * step)
        return None

    def _enter(self, before: Array) -> SlackPoint:
        """The machine slightly beyond t, by homotopy from here; variables with another place there change it at t."""
        # Farther, if one has just been here.
        self._again = self._again + 1 if self.t - self._entered <= 10 * BEYOND[min(self._again, 3)] else 0
        for beyond in BEYOND[min(self._again, 3) :] if self._again < ENTRIES_AT_ONE_VALUE else ():
            t = min(self.t + beyond, self._length)
            self.entries += 1
            try:
                theta, status = self._solve_from(float(self.program.axis.value(t)), self.theta, before)
            except PathError:
                continue
            theta, self.status = regular(self.program, t, theta, status)
            self._places = Places(self.program, self.status)
            there = self._point(t)
            if there is not None and self._is_right(there):
                self._dependent = set()
                for j in np.flatnonzero(before != self.status).tolist():
                    self._events.append((self.t, j, int(before[j]), int(self.status[j])))
                self.t, self.theta, self._null, self._entered = t, theta, 0, t
                return there
        value = float(self.program.axis.value(self.t))
        raise PathError(f"the places next to {self.program.name} = {value:.6g} cannot be resolved in double precision.")

"""Paths whose slacks are linear in a parameter: from event to event, exactly (hinge, epsilon-insensitive, nu).

A walk is stored as the status of every variable at its beginning, and the events. The machine at a value is solved anew
from the statuses there, so that it does not inherit the rounding errors of the walk. Its optimality is measured each
time; if a status is wrong, the optimum is found from that point by the same engine ("polish").

Trust: optimality is measured from the exact gradient at the end of the walk and at some of its breakpoints. If it fails
there, also for machines that are solved anew, the walk is repeated with other tolerances for what counts as dependent.
If none of these walks is good, one is used whose machines can be polished, although some of its events may be wrong.
The last attempt adds tiny multiples of the largest entry to the diagonal of the kernel matrix
(:attr:`JumpPath.jitter`). If that fails, too, :class:`svmpath.PathError` is raised.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.exceptions import LimitWarning, NoMarginError, PathError, PrecisionWarning
from svmpath.lazy import lazy
from svmpath.losses import Problem, Solution
from svmpath.losses.elbow import ElbowLoss
from svmpath.paths.made import Made
from svmpath.paths.path import Array, Event, Path, Request
from svmpath.solvers.attempts import first_success, try_in_turn
from svmpath.solvers.box_program import Centred, Program, at_places, centred, offset_shift
from svmpath.solvers.box_qp import FREE, LOW, UP, Limit, Walker, solve_from
from svmpath.solvers.events import EventLog
from svmpath.solvers.loops.box_tolerances import (
    DEPENDENT_BELOW,
    EMPTY_ELBOW,
    MACHINE_GOOD,
    PLAIN_ATTEMPTS,
    WALK_ACCEPTED,
    WALK_ATTEMPTS,
    WALK_TRUSTED,
)
from svmpath.solvers.threads import blas_threads

WHOLE_ROWS = 20_000  # up to which a kernel matrix is held whole
_MEASURED = 32  # breakpoints at which a walk that is not trusted is measured once more


@dataclass(frozen=True)
class Record:
    """A walk: the program, the statuses at its first t, the events, and how it was found.

    Attributes
    ----------
    program : Program
    first : array of shape (N,)
    events : EventLog
    tol : float
        The tolerance for what counts as dependent.
    jitter : float
        What was added to the diagonal of K, in units of its largest entry.
    violation : float
        The largest violation that was measured.
    end : float
        The last t.
    """

    program: Program
    first: Array
    events: EventLog
    tol: float
    jitter: float
    violation: float
    end: float = np.inf

    def status(self, t: float) -> Array:
        """The statuses at t; at an event, those after it."""
        return self.events.places(self.first, t)


@dataclass(frozen=True, repr=False, eq=False)
class JumpPath(Path):
    """A machine that is piecewise linear in a parameter (for C: in 1 / C).

    Attributes
    ----------
    start : array of shape (n,) or None
        Coefficients alpha / C of a similar machine, from which the first one is found.
    limit : Limit or None
        A limit at which the walk ends before the span does.
    walked : Record or None
        The walk, if it has already been made.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.paths.NodePath : Approximate paths of losses with an elbow.
    svmpath.paths.KernelPath : Losses with an elbow over a kernel parameter.
    svmpath.criteria.loo : Exact leave-one-out.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", span=(0.1, 10.0), gamma=1.0)
    >>> type(path).__name__, path.certificate < 1e-9, path.jitter
    ('JumpPath', True, 0.0)
    >>> event = next(iter(path.events()))
    >>> event.source, event.target in ("left", "elbow", "right")
    ('left', True)
    """

    loss: ElbowLoss
    start: Array | None = None
    limit: Limit | None = None
    walked: Record | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A saved model stays small: the walk is made again when needed.
        return super().__getstate__() | {"walked": None}

    @property
    def matrix(self) -> Centred:
        """The full kernel matrix."""
        made = self.made.of_kernel
        if made.matrix is None:
            made.matrix = self._make_matrix()
        return made.matrix

    @lazy
    def _program(self) -> Program:
        return self.loss.program(self.problem, self.motion, self.matrix.K)

    def _make_matrix(self) -> Centred:
        n = self.problem.n
        if n > WHOLE_ROWS:
            raise ValueError(
                f"An exact path of {self.loss!r} needs the full kernel matrix and allows at most {WHOLE_ROWS} samples, "
                f"but there are {n}; use tol=1e-3 for a certified approximate path."
            )
        K = np.ascontiguousarray(self.problem.gram.block(slice(None), slice(None)))
        return centred(K)

    @property
    def record(self) -> Record:
        """The walk over the span, certified."""
        if isinstance(self._outcome, PathError):
            raise self._outcome
        return self._outcome

    @lazy
    def _outcome(self) -> Record | PathError:
        """The walk, or the reason why there is none: all attempts are made once, not at every value."""
        if self.walked is not None:
            return self.walked
        with blas_threads(self.problem.n**2):
            try:
                return self._first_good_walk()
            except PathError as error:  # it may be for where it starts
                return error if self.start is None else replace(self, start=None)._outcome

    @property
    def jitter(self) -> float:
        """What was added to the diagonal of the kernel matrix, in units of its largest entry; usually 0.

        One random number per sample, between this and twice this, which also breaks ties.
        """
        return max([self.record.jitter, *(record.jitter for record in self._other_walks.values() if record)])

    @property
    def certificate(self) -> float:
        """The largest violation of optimality that was measured after the walk.

        If no attempt at the walk was good (for example with rows that agree in ten digits), it is that of machines
        solved from its places; some of its events may then be wrong.
        """
        return self.record.violation

    @property
    def _ends(self) -> tuple[float, float]:
        """The span as an increasing pair of t."""
        a, b = (self.motion.t(value) for value in self.span)
        return min(a, b), max(a, b)

    @property
    def _is_reversed(self) -> bool:
        return self.motion.t(self.span[0]) > self.motion.t(self.span[1])

    @property
    def breakpoints(self) -> Array:
        """The values at which a sample changes its place, and both ends, in the direction of the span."""
        a, b = self._ends
        inside = np.unique(self.record.events.t)
        nodes = self.motion.value(inside[(inside > a) & (inside < b)])
        if self._is_reversed:
            nodes = nodes[::-1]
        nodes = np.concatenate([[self.span[0]], nodes, [self.span[1]]])
        return nodes[np.concatenate([[True], np.diff(nodes) != 0])]

    def events(self) -> Iterable[Event]:
        """Every change of place, in the direction of the span."""
        log, program = self.record.events, self.record.program
        signs, rows = self.loss.signs(self.problem), program.rows
        order = range(len(log.t) - 1, -1, -1) if self._is_reversed else range(len(log.t))
        for k in order:
            j = int(log.index[k])
            ends = [self.loss.place(int(status), signs[j]) for status in (log.source[k], log.target[k])]
            source, target = ends[::-1] if self._is_reversed else ends
            yield Event(float(self.motion.value(log.t[k])), int(rows[j]), source, target)

    def begin(self, theta: Array | None = None, status: Array | None = None, noise: Array | float = 0.0) -> Walker:
        """The optimum at the first value of the span: from a point with places, or as the path itself starts.

        ``noise`` is added to the diagonal of the kernel matrix.
        """
        t, program = self.motion.t(self.span[0]), self._program
        if np.any(noise):
            program = replace(program, K=program.K + np.diag(noise))

        def make(attempt: tuple[float, float]) -> Walker:
            if theta is None or status is None:
                return self._start(program, t, attempt[0])
            return solve_from(program, t, theta, status, tol=attempt[0])

        return first_success(PLAIN_ATTEMPTS, make)

    def from_places(self, status: Array, good: float = MACHINE_GOOD) -> Solution:
        """The machine at the first value of the span from these places; polished if its violation is not good."""
        with blas_threads(self.problem.n**2):
            record, t = (
                Record(self._program, status, EventLog.of(), DEPENDENT_BELOW, 0.0, np.inf),
                self.motion.t(self.span[0]),
            )
            try:
                return self._at(record, t, good)
            except PathError as error:
                return self._elsewhere(t, error)

    @classmethod
    def of(cls, problem: Problem, request: Request, made: Made) -> JumpPath:
        """The path of a problem."""
        return cls(problem, request.loss, request.motion, request.span, made=made)

    def start_from(self, other: Path | Solution | Array | None) -> JumpPath:
        """The path, its first machine to be found from a solution, or from the first one of a similar path over C."""
        if isinstance(other, JumpPath) and self.over == other.over == "C":
            try:
                theta, _, nu, g, _ = other._beginning
                other = other._read(other._program, other._ends[0], theta, nu, g)
            except PathError:  # it is not easily found
                return self
        if not isinstance(other, Solution):
            return self
        return replace(self, start=np.where(self.problem.s > 0, other.coefficients, 0.0))

    def limited(self, limit: Limit) -> JumpPath:
        """The path, which ends at a limit."""
        return replace(self, limit=limit)

    def followed(self, *, shorten: bool = False) -> JumpPath:
        """The path with its walk; raises an error if the path cannot be followed."""
        path = self.within_reach() if shorten else self
        path.record  # noqa: B018 - walks
        return path.as_far_as_walked()

    def with_kernel(self, name: str, value: float) -> JumpPath:
        """The path with another value of a kernel parameter, which has a walk of its own."""
        return replace(super().with_kernel(name, value), limit=None, walked=None)

    def over_span(self, span: tuple[float, float]) -> JumpPath:
        """The same path over another span, which has a walk of its own."""
        return replace(self, span=span, limit=None, walked=None)

    def _problem_at(self, t: float) -> Problem:
        """The problem with the weights that it has at t."""
        if self.motion.rows is None:
            return self.problem
        s0, s1 = self.motion.weights_along(self.problem.s)
        return replace(self.problem, s=s0 + t * s1)

    def without(self, rows: Array) -> JumpPath:
        """The path of the same machine with weight zero for some rows; it begins and ends as a path does by itself."""
        return replace(super().without(rows), start=None, limit=None, walked=None)

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows, including those with weight zero, at each value: one walk, not recorded."""
        held = np.empty((len(values), self.problem.n))
        for k, walker in self._stops(values):
            # A walk that has failed or cannot be trusted is replaced by all attempts.
            held[k] = self(float(values[k])).fitted if walker is None else self.decided(walker)
        return held

    def states(self, values: Array) -> Iterator[tuple[int, Walker]]:
        """A walker at the optimum at each value with a fresh R, and the position of the value; it is moved on later."""
        if "_outcome" in self.__dict__:  # the walk was made: the statuses are known
            with blas_threads(self.problem.n**2):
                for k, value in enumerate(values.tolist()):
                    yield k, self._recorded(self.motion.t(value)) or self._settled(value)
            return
        for k, stopped in self._stops(values):
            walker = self._settled(float(values[k])) if stopped is None else stopped
            walker.refresh()
            yield k, walker

    def _recorded(self, t: float) -> Walker | None:
        """A walker at t by the statuses of the record, or None if what they give is not an optimum."""
        status = self.record.status(t)
        found = at_places(self._program, t, status)
        if found is None:
            return None
        theta, nu, g = found
        low, up = self._program.low(t), self._program.up(t)
        unit = self._program.unit
        f = unit[0] + t * unit[1] + unit[2] * (nu[0] - nu[-1]) / 2.0
        wrong = np.where(status == LOW, -g, np.where(status == UP, g, np.where(status == FREE, np.abs(g), 0.0)))
        beyond = np.maximum(low - theta, theta - up)
        if np.any(beyond > MACHINE_GOOD * (up - low)):
            return None
        if not max(wrong.max(initial=0.0), self._program.kmax * beyond.max(initial=0.0)) <= self.trust * f:
            return None
        try:
            return Walker(self._program, t, np.clip(theta, low, up), status, nu, g=g)
        except PathError:
            return None

    def _stops(self, values: Array) -> Iterator[tuple[int, Walker | None]]:
        """One walk from value to value, in its own order; None from where on what it finds is not an optimum."""
        order = np.argsort([self.motion.t(float(value)) for value in values], kind="stable")
        walker: Walker | None = None
        with blas_threads(self.problem.n**2):
            for position, k in enumerate(order):
                if position == 0 or walker is not None:  # a walk that has failed is not begun again at every value
                    walker = self._carried(walker, self.motion.t(float(values[k])))
                yield int(k), walker

    def _settled(self, value: float) -> Walker:
        """A walker at the machine that the attempts have found."""
        machine, t = self(value), self.motion.t(value)
        theta = self.loss.split(machine.coefficients)
        return solve_from(self._program, t, theta, _places(self._program, t, theta))

    def _carried(self, walker: Walker | None, t: float) -> Walker | None:
        """The walker at t, or None if what it finds there is not an optimum."""
        try:
            walker = walker or self._start(self._program, t, DEPENDENT_BELOW)
            walker.worst = 0.0
            walker.forget()
            walker.to(t)
        except PathError:
            return None
        return walker if walker.worst <= self.trust else None

    def profile(self, row: int) -> tuple[Array, Array]:
        """Nodes in t, and (K theta + nu) at one row there, linear in between; a jump has the same node twice.

        For losses with one group and one variable per row.
        """
        program, (a, b) = self._program, self._ends
        status, first, walker = self._watched(row)
        log = walker.events
        t = np.concatenate([[a], log.t, [b]])
        seen = np.concatenate([[first], log.extra, [walker.g[row]]]) - program.c0[row] - t * program.c1[row]
        nodes, values = [], []
        for k in range(len(t) - 1):
            if k:
                status[log.index[k - 1]] = log.target[k - 1]
            if t[k + 1] > t[k]:
                part = self._without_elbow(status, row, t[k], t[k + 1]) or (t[k : k + 2], seen[k : k + 2])
                nodes.append(part[0])
                values.append(part[1])
        return np.concatenate(nodes), np.concatenate(values)

    def _watched(self, row: int) -> tuple[Array, float, Walker]:
        """The statuses and the gradient at a row at the beginning of the span, and a walker at its end."""
        a, b = self._ends

        def make(attempt: tuple[float, float]) -> tuple[Array, float, Walker]:
            walker = self._start(self._perturbed(attempt[1]), a, attempt[0])
            status, first = walker.status.copy(), float(walker.g[row])
            walker.to(b, watch=row)
            return status, first, walker

        found = try_in_turn(WALK_ATTEMPTS, make, is_good=lambda each: each[2].worst <= self.trust)
        best = found.best(lambda each: each[2].worst)
        if best is None or not best[2].worst <= WALK_ACCEPTED * self.loss.scale(self.problem):
            raise PathError(f"{self._not_followed} {self._advice}")
        return best

    def _without_elbow(self, status: Array, row: int, begin: float, end: float) -> tuple[Array, Array] | None:
        """(K theta + nu) at a row between two events where all are at their bounds, nu being in the middle; else None.

        The gradients are p_j + t c_j + nu, p and c being constant: the lower end of nu is the largest of -p_j - t c_j
        at LOW, and of those with the same c_j it is always the same one.
        """
        program, free = self._program, np.flatnonzero(status == FREE)
        if len(free) > 1:
            return None
        low, up = program.low(begin), program.up(begin)
        theta = np.where(status == UP, up, low)
        theta[free] = 0.0
        theta[free] = program.b0 - theta.sum()
        if np.any(np.minimum(theta - low, up - theta)[free] > EMPTY_ELBOW * (up - low)[free]):
            return None
        p, c = program.product(theta), program.c1
        ends = []
        for at, pick in ((theta <= low, np.max), (theta >= up, np.min)):
            mine = at | (np.abs(theta - (low if pick is np.max else up)) <= EMPTY_ELBOW * (up - low))
            mine &= up > low
            lines = [(pick(-p[mine & (c == slope)]), -slope) for slope in np.unique(c[mine])]
            if lines:
                ends.append((lines, pick))
        kinks = [(x - z) / (w - v) for lines, _ in ends for x, v in lines for z, w in lines if w > v]
        t = np.array([begin, *sorted(k for k in kinks if begin < k < end), end])
        nu = np.mean([pick([x + v * t for x, v in lines], axis=0) for lines, pick in ends], axis=0)
        return t, p[row] + nu

    def decided(self, walker: Walker) -> Array:
        """Decision values of all rows, from the gradient at the point of a walker."""
        program, t, g = self._program, walker.t, walker.g
        product = g - program.c0 - t * program.c1 - walker.nu[program.group]
        nu = walker.nu + offset_shift(program, t, walker.theta, g)
        return self.loss.decide(product[: self.problem.n], nu, self.motion.at_t(t))

    @property
    def trust(self) -> float:
        """The violation up to which a walk is trusted."""
        return WALK_TRUSTED * self.loss.scale(self.problem)

    @lazy
    def _beginning(self) -> tuple[Array, Array, Array, Array, float]:
        """theta, statuses, nu, g and worst of a walker at the first t of the span, where several walks begin."""
        found = self._found(self._program, self._ends[0], DEPENDENT_BELOW)
        return found.theta.copy(), found.status.copy(), found.nu.copy(), found.g.copy(), found.worst

    def _start(self, program: Program, t: float, tol: float) -> Walker:
        """A walker at the optimum at t."""
        is_first = program is self._program and tol == DEPENDENT_BELOW and t == self._ends[0]
        if not is_first or self.over != "C":
            return self._found(program, t, tol)
        theta, status, nu, g, worst = self._beginning
        try:
            walker = Walker(program, t, theta, status, nu, tol, g)
        except PathError:  # tied samples: a walker that was led there copes with them, a new one may not
            return self._found(program, t, tol)
        walker.worst = worst
        return walker

    def _found(self, program: Program, t: float, tol: float) -> Walker:
        """The optimum at t. Over C the walk begins where the machine is constant: the guess is good there."""
        if self.start is not None:
            theta = self.loss.split(self.start)
            walker = solve_from(program, t, theta, _places(program, t, theta), tol=tol)
            walker.forget()
            return walker
        constant = -4.0 * program.kmax * self.problem.s.sum()
        begin = min(t, constant) if self.over == "C" else t
        theta, status = self.loss.guess(self.problem, program, begin)
        walker = solve_from(program, begin, theta, status, tol=tol)
        walker.to(t)
        walker.forget()
        return walker

    def _first_good_walk(self) -> Record:
        """The first attempt that holds, or the best of those that do not fail."""

        def make(attempt: tuple[float, float]) -> Record:
            record = self._walk(*attempt)
            return record if record.violation <= self.trust else self._measured(record)

        def is_over() -> bool:  # another walk would not get anywhere
            return self.limit is not None and self.limit.is_reached(0)

        found = try_in_turn(WALK_ATTEMPTS, make, is_good=lambda record: record.violation <= self.trust, is_over=is_over)
        if found.good is not None:
            return found.good
        best = found.best(lambda record: record.violation)
        if best is not None and best.violation <= WALK_ACCEPTED * self.loss.scale(self.problem):
            return best
        repaired = self._repaired(found.poor)
        if repaired is not None:
            return repaired
        reason = found.error if best is None else f"the violation is {best.violation:.2e}."
        # The engine's own reasons say what to do, but do not know the kernel.
        advice = "" if best is None and self._is_convex else f" {self._advice}"
        raise PathError(
            f"The path of {self.loss!r} over {self.over} could not be followed from {self.span[0]:.6g} to "
            f"{self.span[1]:.6g} in double precision: {reason}{advice}"
        )

    @property
    def _not_followed(self) -> str:
        return f"The path of {self.loss!r} over {self.over} could not be followed in double precision."

    def _repaired(self, made: list[Record]) -> Record | None:
        """A walk whose machines are right once they are polished, though not all of its events are; with a warning."""
        if not self._is_convex:  # a polish may end anywhere
            return None
        for record in made:
            polished = self._measured(record, polish=True)
            if polished.violation <= WALK_ACCEPTED * self.loss.scale(self.problem):
                warnings.warn(
                    f"Some events of the path of {self.loss!r} over {self.over} cannot be resolved in double "
                    "precision, because many samples reach the margin together, or rows are nearly equal. Machines are "
                    "corrected and their optimality is checked when you call the path.",
                    PrecisionWarning,
                    stacklevel=5,
                )
                return polished
        return None

    @property
    def _is_convex(self) -> bool:
        """Whether the kernel matrix is known to be positive semi-definite."""
        return self.gram.kernel.psd is True or bool(getattr(self.gram, "clip", False))

    @property
    def _advice(self) -> str:
        if not self._is_convex:
            return "If the kernel is indefinite, rank=gram.Clipped() makes it positive semi-definite."
        return "Scale the columns, or end the span earlier."

    def within_reach(self) -> JumpPath:
        """The path, or its part up to just before the machine ceases to exist (nu: the margin becomes zero)."""
        (a, b), program = self._ends, self._program
        walker = self._start(program, a, DEPENDENT_BELOW)
        status = walker.status.copy()
        with suppress(PathError):  # where there is no machine any more the walk may fail
            walker.to(b, limit=self.limit)
        record = Record(program, status, walker.events, walker.tol, 0.0, np.inf, walker.t)
        nodes = np.unique(np.concatenate([[a], record.events.t, [walker.t]]))
        first, last = 0, len(nodes)  # the machine exists at nodes[first] and not at nodes[last]
        while last - first > 1:
            k = (first + last) // 2
            first, last = (k, last) if self._exists(record, nodes[k]) else (first, k)
        if first == len(nodes) - 1 and walker.t == b:
            return self
        if first == len(nodes) - 1 and self.limit is not None and self.limit.is_reached(len(record.events.t)):
            return replace(self, walked=self._measured(record))
        if first == 0:
            raise NoMarginError(
                f"With this kernel the classes overlap so much that there is no margin for {self.over} below "
                f"{self.span[0]:.6g}, the largest feasible value; use another kernel."
            )
        end = float(self.motion.value(nodes[first]))
        return replace(self, span=(end, self.span[1]) if self._is_reversed else (self.span[0], end))

    def as_far_as_walked(self) -> JumpPath:
        """The path, or the part that was walked before a limit was reached, with a warning."""
        (a, b), record = self._ends, self.record
        if self.limit is None:
            return self
        if record.end >= b:  # a saved path, or one of other weights, is not to be limited by the clock of this call
            return replace(self, limit=None, walked=record)
        first, last = float(self.motion.value(a)), float(self.motion.value(record.end))
        if first == last:
            raise PathError(
                f"The limit was reached at the first value, {self.over} = {first:.6g}, with {len(record.events.t)} "
                "events: raise max_events or time_limit."
            )
        warnings.warn(
            f"The path over {self.over} reached its limit after {len(record.events.t)} events: it goes from "
            f"{first:.6g} to {last:.6g}, not from {self.span[0]:.6g} to {self.span[1]:.6g}.",
            LimitWarning,
            stacklevel=4,
        )
        span = (last, first) if self._is_reversed else (first, last)
        return replace(self, span=span, limit=None, walked=replace(record, end=np.inf))

    def _exists(self, record: Record, t: float) -> bool:
        try:
            solution = self._solved(record.program, t, record.status(t))
            return solution is not None and self.loss.is_clear(solution)
        except NoMarginError:
            return False

    def _walk(self, tol: float, jitter: float) -> Record:
        """One attempt at the walk over the span."""
        program = self._perturbed(jitter)
        a, b = self._ends
        walker = self._start(program, a, tol)
        first = walker.status.copy()
        walker.to(b, limit=self.limit)
        return Record(program, first, walker.events, tol, jitter, walker.worst, walker.t)

    def _perturbed(self, jitter: float) -> Program:
        """The program with tiny numbers on the diagonal of its kernel matrix."""
        program = self._program
        if jitter:
            noise = 1.0 + np.random.default_rng(0).random(len(program.K))  # uneven: it breaks ties, too
            program = replace(program, K=program.K + np.diag(jitter * program.kmax * noise))
        return program

    def _measured(self, record: Record, *, polish: bool = False) -> Record:
        """The record with the violation of machines that are solved afresh, at the places of the record.

        Polished machines are optimal whatever the places of the record: they prove nothing about its events.
        """
        nodes = np.append(record.events.t, min(record.end, self._ends[1]))
        worst = 0.0
        for t in nodes[np.linspace(0, len(nodes) - 1, _MEASURED).astype(int)]:
            status = record.status(float(t))
            found = self._solved(record.program, float(t), status)
            if polish and (found is None or not self._excess(found) <= self.trust):
                found = self._polished(record.program, float(t), status)
            worst = np.inf if found is None else max(worst, self._excess(found))
        return replace(record, violation=worst)

    def _excess(self, solution: Solution) -> float:
        """The violation beyond what rounding explains; rounding is assumed to explain only a small part."""
        return max(solution.violation - min(solution.rounding, WALK_ACCEPTED * self.loss.scale(self.problem)), 0.0)

    def _solve(self, value: float) -> Solution:
        t = self.motion.t(value)
        with blas_threads(self.problem.n**2):
            try:
                return self._at(self.record, t)
            except NoMarginError:
                raise
            except PathError as error:
                return self._elsewhere(t, error)

    def _elsewhere(self, t: float, error: PathError) -> Solution:
        """The machine at t from another attempt, if the trusted walk is wrong near t; at last, without a walk."""

        def by_another_walk(attempt: tuple[float, float]) -> Solution | None:
            record = self._other_record(attempt)
            return None if record is None else self._at(record, t)

        def alone(attempt: tuple[float, float]) -> Solution:
            tol, jitter = attempt
            walker = self._start(self._perturbed(jitter), t, tol)
            return self._at(Record(walker.program, walker.status, EventLog.of(), tol, jitter, np.inf), t)

        def make(way: tuple[Callable[[tuple[float, float]], Solution | None], tuple[float, float]]) -> Solution | None:
            with suppress(NoMarginError):  # of a machine that is not optimal the margin may vanish
                return way[0](way[1])
            return None

        found = try_in_turn([(way, attempt) for way in (by_another_walk, alone) for attempt in WALK_ATTEMPTS], make)
        if found.good is None:
            raise error
        return found.good

    def _other_record(self, attempt: tuple[float, float]) -> Record | None:
        """The walk of one attempt, made once; None if it failed."""
        if attempt not in self._other_walks:
            self._other_walks[attempt] = None
            with suppress(PathError):
                self._other_walks[attempt] = self._walk(*attempt)
        return self._other_walks[attempt]

    @lazy
    def _other_walks(self) -> dict[tuple[float, float], Record | None]:
        return {}

    def _at(self, record: Record, t: float, good: float = MACHINE_GOOD) -> Solution:
        """The machine at t, from the statuses there; polished where they do not hold."""
        status, own = record.status(t), self._program
        # First with the kernel as it is, also where the walk needed a jitter; last by repeating the walk.
        answers = (
            lambda: self._solved(own, t, status),
            lambda: self._polished(own, t, status),
            lambda: self._solved(record.program, t, status) if record.jitter else None,
            lambda: self._walked(record, t),
        )
        best: Solution | None = None
        for answer in answers:
            solution = answer()
            if solution is not None and (best is None or solution.violation < best.violation):
                best = solution
            if best is not None and self._excess(best) <= good * self.loss.scale(self.problem):
                return best
        if best is None or not self._excess(best) <= WALK_ACCEPTED * self.loss.scale(self.problem):
            found = "its elbow system is singular" if best is None else f"the violation is {best.violation:.2e}"
            raise PathError(
                f"No machine could be found at {self.over} = {self.motion.value(t):.6g}: {found}. {self._advice}"
            )
        return best

    def _solved(self, program: Program, t: float, status: Array) -> Solution | None:
        """The machine with these places; a free variable that rounding puts beyond a bound is on that bound."""
        status = self.loss.tidy(status)
        found = at_places(program, t, status)
        if found is None:
            return None
        theta, low, up = found[0], program.low(t), program.up(t)
        beyond = (status == FREE) & ((theta < low) | (theta > up))
        rest = np.bincount(program.group[(status == FREE) & ~beyond], minlength=len(program.b0))
        if beyond.any() and rest.all():
            found = at_places(program, t, np.where(beyond, np.where(theta < low, LOW, UP), status)) or found
        return self._read(program, t, *found)

    def _polished(self, program: Program, t: float, status: Array) -> Solution | None:
        """The optimum found from these places."""
        found = at_places(program, t, status)
        theta = np.where(status == UP, program.up(t), program.low(t)) if found is None else found[0]
        try:
            walker = solve_from(program, t, theta, status)
        except PathError:
            return None
        return self._read(program, t, walker.theta, walker.nu, walker.g)

    def _walked(self, record: Record, t: float) -> Solution | None:
        """The machine at which the walk itself arrives."""
        try:
            walker = self._start(record.program, self._ends[0], record.tol)
            walker.to(t)
        except PathError:
            return None
        return self._read(record.program, t, walker.theta, walker.nu, walker.g)

    def _read(self, program: Program, t: float, theta: Array, nu: Array, g: Array) -> Solution:
        theta = np.clip(theta, program.low(t), program.up(t))
        nu = nu + offset_shift(program, t, theta, g) - self.matrix.h[program.rows] @ theta
        return self.loss.read(self._problem_at(t), self.motion, t, theta, nu)


def _places(program: Program, t: float, theta: Array) -> Array:
    """At a bound where theta is, and free in between."""
    low, up = program.low(t), program.up(t)
    return np.where(theta <= low, LOW, np.where(theta >= up, UP, FREE))

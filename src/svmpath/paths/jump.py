"""Paths whose slacks are linear in a parameter: from event to event, exactly (hinge, epsilon-insensitive, nu).

A walk (``paths.jump_walk``) is stored as the status of every variable at its beginning, and the events. The machine at
a value is solved anew from the statuses there (``paths.elbow_machines``), so that it does not inherit the rounding
errors of the walk. Its optimality is measured each time; if a status is wrong, the optimum is found from that point by
the same engine ("polish"). What is done where a walk cannot be trusted is in ``paths.jump_rescue``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.exceptions import LimitWarning, NoMarginError, PathError
from svmpath.lazy import lazy
from svmpath.losses import Problem, Solution
from svmpath.losses.elbow import ElbowLoss
from svmpath.paths.elbow_machines import ElbowMachines
from svmpath.paths.jump_rescue import Rescue
from svmpath.paths.jump_walk import JumpRecord, JumpWalks
from svmpath.paths.path import Array, Event, Path, nodes_within
from svmpath.paths.store import KernelStore
from svmpath.solvers.attempts import first_success
from svmpath.solvers.box_program import Centred, centred, with_anchor
from svmpath.solvers.box_qp import Limit, Walker, solve_from
from svmpath.solvers.events import EventLog
from svmpath.solvers.loops.box_tolerances import MACHINE_GOOD, PLAIN_ATTEMPTS
from svmpath.solvers.threads import blas_threads

WHOLE_ROWS = 20_000  # up to which a kernel matrix is held whole


@dataclass(frozen=True, repr=False, eq=False)
class JumpPath(Path):
    """A machine that is piecewise linear in a parameter (for C: in 1 / C).

    Attributes
    ----------
    start : array of shape (n,) or None
        Coefficients alpha / C of a similar machine, from which the first one is found.
    limit : Limit or None
        A limit at which the walk ends before the span does.
    walked : JumpRecord or None
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

    has_statuses = True

    loss: ElbowLoss
    start: Array | None = None
    limit: Limit | None = None
    walked: JumpRecord | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A saved model stays small: the walk is made again when needed.
        return super().__getstate__() | {"walked": None}

    # --- its parts ---------------------------------------------------------------------------------------------------

    @property
    def matrix(self) -> Centred:
        """The full kernel matrix; with an anchor, where there is no offset."""
        of_kernel, n = self.store.of_kernel, self.distinct.n
        if of_kernel.matrix is None:
            if n > WHOLE_ROWS:
                raise ValueError(
                    f"An exact path of {self.loss!r} needs the full kernel matrix and allows at most {WHOLE_ROWS} "
                    f"samples, but there are {n}; use tol=1e-3 for a certified approximate path."
                )
            with blas_threads(n**2):
                K = np.ascontiguousarray(self.distinct.gram.block(slice(None), slice(None)))
                if not self.distinct.offset:
                    of_kernel.matrix = Centred(with_anchor(K), np.zeros(n + 1))
                else:
                    of_kernel.matrix = centred(K) if self.loss.sums_to_zero else Centred(K, np.zeros(n))
        return of_kernel.matrix

    @lazy
    def machines(self) -> ElbowMachines:
        """The machines along the path, from the places of their variables."""
        rows, copies = self.path_parameter.rows, self.problem.copies
        moving = rows if rows is None or copies is None else np.unique(copies[rows])
        return ElbowMachines(self.distinct, self.loss, replace(self.path_parameter, rows=moving), self.matrix)

    @lazy
    def walks(self) -> JumpWalks:
        """The walks over the span."""
        return JumpWalks(self.machines, self.span, self.start, self.limit)

    @lazy
    def _rescue(self) -> Rescue:
        return Rescue(self.walks, {})

    @property
    def record(self) -> JumpRecord:
        """The walk over the span, certified."""
        if isinstance(self._outcome, PathError):
            raise self._outcome
        return self._outcome

    @lazy
    def _outcome(self) -> JumpRecord | PathError:
        """The walk, or the reason why there is none: all attempts are made once, not at every value."""
        if self.walked is not None:
            return self.walked
        with blas_threads(self.distinct.n**2):
            try:
                return self._rescue.best_walk()
            except PathError as error:  # it may be for where it starts
                return error if self.start is None else replace(self, start=None)._outcome

    @property
    def jitter(self) -> float:
        """What was added to the diagonal of the kernel matrix, in units of its largest entry; usually 0.

        One random number per sample, between this and twice this, which also breaks ties.
        """
        return max([self.record.jitter, *(record.jitter for record in self._rescue.others.values() if record)])

    @property
    def certificate(self) -> float:
        """The largest violation of optimality that was measured after the walk.

        If no attempt at the walk was good (for example with rows that agree in ten digits), it is that of machines
        solved from its places; some of its events may then be wrong.
        """
        return self.record.violation

    # --- events ------------------------------------------------------------------------------------------------------

    @property
    def _is_reversed(self) -> bool:
        return self.path_parameter.t(self.span[0]) > self.path_parameter.t(self.span[1])

    @property
    def breakpoints(self) -> Array:
        """The values at which a sample changes its place, and both ends, in the direction of the span."""
        (a, b), t = self.walks.ends, self.record.events.t
        return nodes_within(self.span, self.path_parameter.value(t[(t > a) & (t < b)]))

    def _events(self) -> Iterable[Event]:
        log, rows = self.record.events, self.record.program.rows
        signs, way = self.loss.signs(self.distinct), -1 if self._is_reversed else 1
        for k in range(len(log.t))[::way]:
            j = int(log.index[k])
            ends = [self.loss.place(int(status), signs[j]) for status in (log.source[k], log.target[k])]
            yield Event(float(self.path_parameter.value(log.t[k])), int(rows[j]), *ends[::way])

    # --- similar paths -----------------------------------------------------------------------------------------------

    def _start_from(self, other: Path | Solution | Array | None) -> JumpPath:
        """The path, its first machine to be found from a solution, or from the first one of a similar path over C."""
        if isinstance(other, JumpPath) and self.over == other.over == "C":
            try:
                other = other.machines.at_walker(other.walks.first)
            except PathError:  # it is not easily found
                return self
        if not isinstance(other, Solution):
            return self
        return replace(self, start=np.where(self.distinct.s > 0, other.coefficients, 0.0))

    def with_kernel(self, name: str, value: float) -> JumpPath:
        """The path with another value of a kernel parameter, which has a walk of its own."""
        return replace(super().with_kernel(name, value), limit=None, walked=None)

    def over_span(self, span: tuple[float, float]) -> JumpPath:
        """The same path over another span, which has a walk of its own."""
        return replace(self, span=span, limit=None, walked=None)

    def on(self, problem: Problem, store: KernelStore | None = None) -> JumpPath:
        """The same path of another problem; it begins and ends as a path does by itself."""
        return replace(super().on(problem, store), start=None, limit=None, walked=None)

    def followed(self, *, shorten: bool = False) -> JumpPath:
        """The path with its walk; raises an error if the path cannot be followed."""
        path = self.within_reach() if shorten else self
        path.record  # noqa: B018 - walks
        return path.as_far_as_walked()

    def within_reach(self) -> JumpPath:
        """The path, or its part up to just before the machine ceases to exist (nu: the margin becomes zero)."""
        (a, b), program = self.walks.ends, self.machines.program
        walker = self.walks.begin(program, a)
        status = walker.status.copy()
        with suppress(PathError):  # where there is no machine any more the walk may fail
            walker.to(b, limit=self.limit)
        record = JumpRecord(program, status, walker.events, walker.tol, end=walker.t)
        nodes = np.unique(np.concatenate([[a], record.events.t, [walker.t]]))
        first, last = 0, len(nodes)  # the machine exists at nodes[first] and not at nodes[last]
        while last - first > 1:
            k, solution = (first + last) // 2, None
            with suppress(NoMarginError):
                solution = self.machines.solved(program, nodes[k], record.status(nodes[k]))
            first, last = (k, last) if solution is not None and self.loss.is_clear(solution) else (first, k)
        if first == len(nodes) - 1 and walker.t == b:
            return self
        if first == len(nodes) - 1 and self.limit is not None and self.limit.is_reached(len(record.events.t)):
            return replace(self, walked=self._rescue.measured(record))
        if first == 0:
            raise NoMarginError(
                f"{self.loss.no_machine}: there is no machine for {self.over} below {self.span[0]:.6g}, the largest "
                "feasible value; use another kernel."
            )
        end = float(self.path_parameter.value(nodes[first]))
        return replace(self, span=(end, self.span[1]) if self._is_reversed else (self.span[0], end))

    def as_far_as_walked(self) -> JumpPath:
        """The path, or the part that was walked before a limit was reached, with a warning."""
        (a, b), record = self.walks.ends, self.record
        if self.limit is None:
            return self
        if record.end >= b:  # a saved path, or one of other weights, is not to be limited by the clock of this call
            return replace(self, limit=None, walked=record)
        first, last = float(self.path_parameter.value(a)), float(self.path_parameter.value(record.end))
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

    # --- machines ----------------------------------------------------------------------------------------------------

    def _solve(self, value: float) -> Solution:
        with blas_threads(self.distinct.n**2):
            return self._rescue.machine(self._outcome, self.path_parameter.t(value))

    def _decisions(self, values: Array) -> Array:
        """By one walk, not recorded."""
        decisions = np.empty((len(values), self.distinct.n))
        with blas_threads(self.distinct.n**2):
            for k, walker in self.walks.stops(values):
                # A walk that has failed or cannot be trusted is replaced by all attempts.
                f = self._solution(float(values[k])).fitted if walker is None else self.machines.decided(walker)
                decisions[k] = f
        return decisions

    def states(self, values: Array) -> Iterator[tuple[int, Walker]]:
        """A walker at the optimum at each value with a fresh R, and the position of the value; it is moved on later."""
        with blas_threads(self.distinct.n**2):
            if "_outcome" in self.__dict__:  # the walk was made: the statuses are known
                for k, value in enumerate(values.tolist()):
                    yield k, self.walks.at_record(self.record, self.path_parameter.t(value)) or self._settled(value)
                return
            for k, stopped in self.walks.stops(values):
                walker = self._settled(float(values[k])) if stopped is None else stopped
                walker.refresh()
                yield k, walker

    def _settled(self, value: float) -> Walker:
        """A walker at the machine that the attempts have found."""
        return self.machines.solve_from(
            self._solution(value).coefficients, self.machines.program, self.path_parameter.t(value)
        )

    def begin(self, theta: Array | None = None, status: Array | None = None, noise: Array | float = 0.0) -> Walker:
        """The optimum at the first value of the span: from a point with places, or as the path itself starts.

        ``noise`` is added to the diagonal of the kernel matrix.
        """
        t, program = self.path_parameter.t(self.span[0]), self.machines.program
        if np.any(noise):
            program = replace(program, K=program.K + np.diag(noise))

        def make(attempt: tuple[float, float]) -> Walker:
            if theta is None or status is None:
                return self.walks.begin(program, t, attempt[0])
            return solve_from(program, t, theta, status, tol=attempt[0])

        return first_success(PLAIN_ATTEMPTS, make)

    def from_places(self, status: Array, good: float = MACHINE_GOOD) -> Solution:
        """The machine at the first value of the span from these places; polished if its violation is not good."""
        with blas_threads(self.distinct.n**2):
            record = JumpRecord(self.machines.program, status, EventLog.of())
            return self._rescue.machine(record, self.path_parameter.t(self.span[0]), good)

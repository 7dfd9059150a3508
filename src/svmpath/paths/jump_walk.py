"""Walks from event to event along a path that is piecewise linear in a parameter, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from svmpath.exceptions import PathError
from svmpath.lazy import lazy
from svmpath.paths.elbow_machines import ElbowMachines
from svmpath.solvers.attempts import try_in_turn
from svmpath.solvers.box_program import Program, at_places
from svmpath.solvers.box_qp import FREE, LOW, UP, Limit, Walker, solve_from
from svmpath.solvers.events import EventLog
from svmpath.solvers.loops.box_tolerances import DEPENDENT_BELOW, EMPTY_ELBOW, MACHINE_GOOD, WALK_ATTEMPTS

Array = np.ndarray


@dataclass(frozen=True)
class JumpRecord:
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
    tol: float = DEPENDENT_BELOW
    jitter: float = 0.0
    violation: float = np.inf
    end: float = np.inf

    def status(self, t: float) -> Array:
        """The statuses at t; at an event, those after it."""
        return self.events.places(self.first, t)


@dataclass(frozen=True, eq=False)
class JumpWalks:
    """The walks over a span.

    Attributes
    ----------
    machines : ElbowMachines
    span : tuple of two floats
    start : array of shape (n,) or None
        Coefficients alpha / C of a similar machine, from which the first one is found.
    limit : Limit or None
        A limit at which a walk ends before the span does.
    """

    machines: ElbowMachines
    span: tuple[float, float]
    start: Array | None = None
    limit: Limit | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The span as an increasing pair of t."""
        a, b = (self.machines.path_parameter.t(value) for value in self.span)
        return min(a, b), max(a, b)

    @lazy
    def first(self) -> Walker:
        """A walker at the first t of the span, where several walks begin; it stays there."""
        return self._found(self.machines.program, self.ends[0], DEPENDENT_BELOW)

    def begin(self, program: Program, t: float, tol: float = DEPENDENT_BELOW) -> Walker:
        """A walker at the optimum at t."""
        is_first = program is self.machines.program and tol == DEPENDENT_BELOW and t == self.ends[0]
        if is_first and self.machines.path_parameter.over == "C":
            first = self.first
            try:
                walker = Walker(program, t, first.theta, first.status, first.nu, tol, first.g)
            except PathError:  # tied samples: a walker that was led there copes with them, a new one may not
                return self._found(program, t, tol)
            walker.worst = first.worst
            return walker
        return self._found(program, t, tol)

    def _found(self, program: Program, t: float, tol: float) -> Walker:
        """The optimum at t. Over C the walk begins where the machine is constant: the guess is good there."""
        if self.start is not None:
            walker = self.machines.solve_from(self.start, program, t, tol)
        else:
            constant = -4.0 * program.kmax * self.machines.problem.s.sum()
            begin = min(t, constant) if self.machines.path_parameter.over == "C" else t
            walker = solve_from(program, begin, *self.machines.guess(program, begin), tol=tol)
            walker.to(t)
        walker.forget()
        return walker

    def walk(self, tol: float, jitter: float) -> JumpRecord:
        """One attempt at the walk over the span."""
        program, (a, b) = self.machines.perturbed(jitter), self.ends
        walker = self.begin(program, a, tol)
        first = walker.status.copy()
        walker.to(b, limit=self.limit)
        return JumpRecord(program, first, walker.events, tol, jitter, walker.worst, walker.t)

    def stops(self, values: Array) -> Iterator[tuple[int, Walker | None]]:
        """One walk from value to value, in its own order; None from where on what it finds is not an optimum."""
        t = np.array([self.machines.path_parameter.t(float(value)) for value in values])
        walker: Walker | None = None
        for position, k in enumerate(np.argsort(t, kind="stable")):
            if position == 0 or walker is not None:  # a walk that has failed is not begun again at every value
                try:
                    walker = walker or self.begin(self.machines.program, float(t[k]))
                    walker.worst = 0.0
                    walker.forget()
                    walker.to(float(t[k]))
                    walker = walker if self._is_optimal(walker) else None
                except PathError:
                    walker = None
            yield int(k), walker

    def _is_optimal(self, walker: Walker) -> bool:
        """Whether a walker can be trusted to be at an optimum, if need be whatever the way there was.

        With many samples of a smooth kernel in the elbow, R loses digits on the way, and events come late: that is no
        fault of a point that is optimal. Where there are other stationary points it may be on a wrong one.
        """
        trusted = self.machines.trusted
        return walker.worst <= trusted or (self.machines.is_convex and walker.violation() <= trusted)

    def at_record(self, record: JumpRecord, t: float) -> Walker | None:
        """A walker at t by the statuses of a record, or None if what they give is not an optimum."""
        program, status = self.machines.program, record.status(t)
        point = at_places(program, t, status)
        if point is None:
            return None
        theta, nu, g = point
        low, up, unit = program.low(t), program.up(t), program.unit
        f = unit[0] + t * unit[1] + unit[2] * (nu[0] - nu[-1]) / 2.0
        wrong = np.where(status == LOW, -g, np.where(status == UP, g, np.where(status == FREE, np.abs(g), 0.0)))
        beyond = np.maximum(low - theta, theta - up)
        worst = max(wrong.max(initial=0.0), program.kmax * beyond.max(initial=0.0))
        if np.any(beyond > MACHINE_GOOD * (up - low)) or not worst <= self.machines.trusted * f:
            return None
        try:
            return Walker(program, t, np.clip(theta, low, up), status, nu, g=g)
        except PathError:
            return None

    def profile(self, row: int) -> tuple[Array, Array]:
        """Nodes in t, and (K theta + nu) at one row there, linear in between; a jump has the same node twice.

        For losses with one group and one variable per row.
        """
        program, (a, b) = self.machines.program, self.ends

        def make(attempt: tuple[float, float]) -> tuple[Array, float, Walker]:
            walker = self.begin(self.machines.perturbed(attempt[1]), a, attempt[0])
            status, first = walker.status.copy(), float(walker.g[row])
            walker.to(b, watch=row)
            return status, first, walker

        tried = try_in_turn(WALK_ATTEMPTS, make, is_good=lambda each: each[2].worst <= self.machines.trusted)
        best = tried.best(lambda each: each[2].worst)
        if best is None or not best[2].worst <= self.machines.accepted:
            what = f"{self.machines.loss!r} over {self.machines.path_parameter.over}"
            raise PathError(f"The path of {what} could not be followed in double precision. {self.machines.advice}")
        status, first, walker = best
        log = walker.events
        t = np.concatenate([[a], log.t, [b]])
        seen = np.concatenate([[first], log.extra, [walker.g[row]]]) - program.c0[row] - t * program.c1[row]
        nodes, values = [], []
        for k in range(len(t) - 1):
            if k:
                status[log.index[k - 1]] = log.target[k - 1]
            if t[k + 1] > t[k]:
                part = _without_elbow(program, status, row, t[k], t[k + 1]) or (t[k : k + 2], seen[k : k + 2])
                nodes.append(part[0])
                values.append(part[1])
        return np.concatenate(nodes), np.concatenate(values)


def _without_elbow(program: Program, status: Array, row: int, begin: float, end: float) -> tuple[Array, Array] | None:
    """(K theta + nu) at a row between two events where all are at their bounds, nu being in the middle; else None.

    The gradients are p_j + t c_j + nu, p and c being constant: the lower end of nu is the largest of -p_j - t c_j at
    LOW, and of those with the same c_j it is always the same one.
    """
    free = np.flatnonzero(status == FREE)
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
    for at, bound, pick in ((theta <= low, low, np.max), (theta >= up, up, np.min)):
        mine = (at | (np.abs(theta - bound) <= EMPTY_ELBOW * (up - low))) & (up > low)
        lines = [(pick(-p[mine & (c == slope)]), -slope) for slope in np.unique(c[mine])]
        if lines:
            ends.append((lines, pick))
    kinks = [(x - z) / (w - v) for lines, _ in ends for x, v in lines for z, w in lines if w > v]
    t = np.array([begin, *sorted(k for k in kinks if begin < k < end), end])
    nu = np.mean([pick([x + v * t for x, v in lines], axis=0) for lines, pick in ends], axis=0)
    return t, p[row] + nu

"""What is done where a walk of a machine with an elbow gets stuck, or cannot be trusted.

Optimality is measured from the exact gradient at the end of the walk and at some of its breakpoints. If it fails there,
also for machines that are solved anew, the walk is repeated with other tolerances for what counts as dependent. If none
of these walks is good, one is used whose machines can be polished, although some of its events may be wrong. The last
attempt adds tiny multiples of the largest entry to the diagonal of the kernel matrix. If that fails, too,
:class:`svmpath.PathError` is raised.

At a single value, the places of the record are solved with the kernel as it is; if what they give is not optimal, it is
polished, or the walk is repeated up to there; then other walks are tried, and at last the machine is found alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import NoMarginError, PathError, PrecisionWarning
from svmpath.losses import Solution
from svmpath.paths.elbow_machines import ElbowMachines
from svmpath.paths.jump_walk import JumpRecord, JumpWalks
from svmpath.solvers.attempts import try_in_turn
from svmpath.solvers.events import EventLog
from svmpath.solvers.loops.box_tolerances import MACHINE_GOOD, WALK_ATTEMPTS

_MEASURED = 32  # breakpoints at which a walk that is not trusted is measured once more

Attempt = tuple[float, float]  # the tolerance for what counts as dependent, and a jitter


@dataclass(frozen=True, eq=False)
class Rescue:
    """Attempts at the walks over a span, and at single machines of it.

    Attributes
    ----------
    walks : JumpWalks
    others : dict
        The walks of other attempts than the trusted one, None where they failed: filled as they are needed.
    """

    walks: JumpWalks
    others: dict[Attempt, JumpRecord | None]

    @property
    def machines(self) -> ElbowMachines:
        """The machines along the walks."""
        return self.walks.machines

    def best_walk(self) -> JumpRecord:
        """The first attempt that holds, or the best of those that do not fail."""
        machines, limit = self.machines, self.walks.limit

        def make(attempt: Attempt) -> JumpRecord:
            record = self.walks.walk(*attempt)
            return record if record.violation <= machines.trusted else self.measured(record)

        tried = try_in_turn(
            WALK_ATTEMPTS,
            make,
            is_good=lambda record: record.violation <= machines.trusted,
            is_over=lambda: limit is not None and limit.is_reached(0),  # another walk would not get anywhere
        )
        best = tried.best(lambda record: record.violation)
        if best is not None and best.violation <= machines.accepted:
            return best
        what = f"the path of {machines.loss!r} over {machines.path_parameter.over}"
        for record in tried.poor if machines.is_convex else ():  # else a polish may end anywhere
            polished = self.measured(record, polish=True)
            if polished.violation <= machines.accepted:
                warnings.warn(
                    f"Some events of {what} cannot be resolved in double precision, because many samples reach the "
                    "margin together, or rows are nearly equal. Machines are corrected and their optimality is checked "
                    "when you call the path.",
                    PrecisionWarning,
                    stacklevel=5,
                )
                return polished
        reason = tried.error if best is None else f"the violation is {best.violation:.2e}."
        # The engine's own reasons say what to do, but do not know the kernel.
        advice = "" if best is None and machines.is_convex else f" {machines.advice}"
        first, last = self.walks.span
        raise PathError(
            f"T{what[1:]} could not be followed from {first:.6g} to {last:.6g} in double precision: {reason}{advice}"
        )

    def measured(self, record: JumpRecord, *, polish: bool = False) -> JumpRecord:
        """The record with the violation of machines that are solved afresh, at the places of the record.

        Polished machines are optimal whatever the places of the record: they prove nothing about its events.
        """
        machines = self.machines
        nodes = np.append(record.events.t, min(record.end, self.walks.ends[1]))
        worst = 0.0
        for t in nodes[np.linspace(0, len(nodes) - 1, _MEASURED).astype(int)].tolist():
            status = record.status(t)
            excess = machines.excess(machines.solved(record.program, t, status))
            if polish and not excess <= machines.trusted:
                excess = machines.excess(machines.polished(record.program, t, status))
            worst = max(worst, excess)
        return replace(record, violation=worst)

    def machine(self, record: JumpRecord | PathError, t: float, good: float = MACHINE_GOOD) -> Solution:
        """The machine at t by a record; from another attempt, if that is wrong near t; at last, without a walk."""
        try:
            if isinstance(record, PathError):
                raise record
            return self._at(record, t, good)
        except NoMarginError:
            raise
        except PathError as error:
            reason = error

        def by_another_walk(attempt: Attempt) -> Solution | None:
            if attempt not in self.others:
                self.others[attempt] = None
                with suppress(PathError):
                    self.others[attempt] = self.walks.walk(*attempt)
            other = self.others[attempt]
            return None if other is None else self._at(other, t)

        def alone(attempt: Attempt) -> Solution:
            tol, jitter = attempt
            walker = self.walks.begin(self.machines.perturbed(jitter), t, tol)
            return self._at(JumpRecord(walker.program, walker.status, EventLog.of(), tol, jitter), t)

        def make(way: tuple[Callable[[Attempt], Solution | None], Attempt]) -> Solution | None:
            with suppress(NoMarginError):  # of a machine that is not optimal the margin may vanish
                return way[0](way[1])
            return None

        tried = try_in_turn([(way, attempt) for way in (by_another_walk, alone) for attempt in WALK_ATTEMPTS], make)
        if tried.good is None:
            raise reason
        return tried.good

    def _at(self, record: JumpRecord, t: float, good: float = MACHINE_GOOD) -> Solution:
        """The machine at t, from the statuses there; polished where they do not hold."""
        machines, status = self.machines, record.status(t)
        # First with the kernel as it is, also where the walk needed a jitter; last by repeating the walk.
        answers = (
            lambda: machines.solved(machines.program, t, status),
            lambda: machines.polished(machines.program, t, status),
            lambda: machines.solved(record.program, t, status) if record.jitter else None,
            lambda: self._walked(record, t),
        )
        best: Solution | None = None
        for answer in answers:
            solution = answer()
            if solution is not None and (best is None or solution.violation < best.violation):
                best = solution
            if machines.excess(best) <= good * machines.loss.scale(machines.problem):
                break
        if best is None or not machines.excess(best) <= machines.accepted:
            fault = "its elbow system is singular" if best is None else f"the violation is {best.violation:.2e}"
            if best is not None and best.rounding > machines.accepted:
                fault += f", of which rounding explains up to {best.rounding:.2e}: kernel values are too large"
            where = f"{machines.path_parameter.over} = {machines.path_parameter.value(t):.6g}"
            raise PathError(f"No machine could be found at {where}: {fault}. {machines.advice}")
        return best

    def _walked(self, record: JumpRecord, t: float) -> Solution | None:
        """The machine at which the walk itself arrives."""
        try:
            walker = self.walks.begin(record.program, self.walks.ends[0], record.tol)
            walker.to(t)
        except PathError:
            return None
        return self.machines.read(record.program, t, walker.theta, walker.nu, walker.g)

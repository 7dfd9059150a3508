"""Paths over a parameter of the kernel, of which every event is known (hinge, epsilon-insensitive, squared hinge).

The walk is that of ``solvers.kernel_walk``. What is kept of it are the places at its beginning and the events; the
machine at a value is solved from the places there, with the kernel as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
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
from svmpath.paths.march import MarchPath
from svmpath.paths.path import Array, Event, Path, Request
from svmpath.paths.store import KernelStore
from svmpath.solvers.attempts import try_in_turn
from svmpath.solvers.box_qp import FIXED, FREE, LOW, UP, Program, Walker
from svmpath.solvers.events import EventLog
from svmpath.solvers.kernel_walk import JITTERS, LARGEST_ROUNDING, WRONG_SLACK, Record, Walk
from svmpath.solvers.moving_kernel import Axis, MovingProgram
from svmpath.solvers.threads import blas_threads

_NO_POLISH = 1e-11  # a violation of a machine that needs no polish
_KERNELS_PER_DECADE = 4  # nodes per factor of ten of a path that is not exact
_VISITS_PER_E = 16  # machines whose places are kept, per factor of e


@dataclass(frozen=True, repr=False, eq=False)
class OverKernel(Path):
    """A path over a parameter of the kernel along which every event is known."""

    @property
    @abstractmethod
    def record(self) -> Record: ...

    @property
    def C(self) -> float:
        """The value of C."""
        return self.motion.fixed["C"]

    @abstractmethod
    def over_C(self, value: float) -> Path:
        """The path over C of the machine with the kernel at one value, with the one value C: for criteria."""

    @abstractmethod
    def _place(self, status: int, j: int) -> str:
        """The name of the place of variable j."""

    @lazy
    def axis(self) -> Axis:
        """The parameter as the walk sees it."""
        return Axis(*self.span, is_log=min(self.span) > 0 and self.gram.kernel.parameter(self.over).log)

    def _compared(self) -> Any:
        """What the kernel needs of all rows, if the kernel matrix is used as it is."""
        gram = self.distinct.gram
        if not isinstance(gram, DenseGram) or gram.clip:
            raise ValueError(
                f"A path of {self.loss!r} over {self.over} needs the unmodified full kernel matrix; leave out rank= "
                "and psd='clip'."
            )
        return gram.compared

    def _failure(self, reason: PathError | None) -> PathError:
        return PathError(
            f"The path of {self.loss!r} over {self.over} could not be followed from {self.span[0]:.6g} to "
            f"{self.span[1]:.6g}: {reason} Shorten the span, or scale the columns."
        )

    @property
    def breakpoints(self) -> Array:
        """The values at which a sample changes its place, and both ends, in the direction of the span."""
        inside = self.axis.value(np.unique(self.record.events.t))
        low, high = sorted(self.span)
        nodes = np.concatenate([[self.span[0]], inside[(inside > low) & (inside < high)], [self.span[1]]])
        return nodes[np.concatenate([[True], np.diff(nodes) != 0])]

    @property
    def certificate(self) -> float:
        """The largest wrong slack after an event, in units of f or of the box."""
        return self.record.violation

    def _events(self) -> Iterable[Event]:
        log = self.record.events
        for t, j, source, target in zip(log.t, log.index, log.source, log.target, strict=True):
            ends = (self._place(int(status), int(j)) for status in (source, target))
            yield Event(float(self.axis.value(t)), int(j % self.distinct.n), *ends)


@dataclass(frozen=True, repr=False, eq=False)
class KernelPath(OverKernel):
    """A machine with an elbow over a parameter of its kernel.

    Attributes
    ----------
    start : array of shape (n,) or None
        Coefficients alpha / C of a similar machine, from which the first one is solved for.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.paths.JumpPath : Exact paths of losses with an elbow.
    svmpath.paths.NewtonKernelPath : The squared hinge over a kernel parameter.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", over="gamma", span=(0.5, 2.0), C=1.0)
    >>> type(path).__name__, path(1.3).violation < 1e-9
    ('KernelPath', True)
    """

    loss: ElbowLoss
    start: Array | None = None

    def _start_from(self, other: Path | Solution | Array | None) -> KernelPath:
        """The path, its first machine to be found from a solution."""
        return replace(self, start=other.coefficients) if isinstance(other, Solution) else self

    def followed(self, *, shorten: bool = False) -> KernelPath:
        """The path with its walk; one that cannot be followed is refused here."""
        self.record  # noqa: B018 - walks
        return self

    def machine(self, value: float) -> JumpPath:
        """The machine at one value, as a path over one value."""
        problem = self.distinct.at(self.over, value)
        return JumpPath(problem, self.loss, self.motion, (value, value), self.start)

    @lazy
    def record(self) -> Record:
        """The walk over the span."""
        self._compared()  # refuses what has no events
        with blas_threads(self.distinct.n**2):
            tried = try_in_turn(JITTERS, self._march)
        if tried.good is None:
            raise self._failure(tried.first_error)  # later ones are about a kernel with jitter
        return tried.good

    @property
    def jitter(self) -> float:
        """What had to be added to the diagonal of the kernel matrix, in units of its largest entry; 0 as a rule."""
        return self.record.jitter

    def _march(self, jitter: float) -> Record:
        first = self.machine(self.span[0])
        noise = jitter * np.abs(first.gram.diag).max() * (1.0 + np.random.default_rng(0).random(self.distinct.n))
        walker = first.begin(noise=noise)
        program = self._moving(walker.program, noise if jitter else None)

        def solve_from(value: float, theta: Array, status: Array) -> tuple[Array, Array]:
            found = self.machine(value).begin(theta, status, noise)
            return found.theta, found.status

        walk = Walk(program, walker.theta, walker.status, solve_from)
        walk.run()
        return walk.record(jitter)

    def _moving(self, still: Program, noise: Array | None) -> MovingProgram:
        """The program with a kernel that moves, from the one at the first value."""
        width = still.u0 - still.l0
        return MovingProgram(
            self.gram.kernel, self._compared(), self.over, self.axis, still.rows, still.group, still.c0, still.l0,
            still.u0, np.zeros(len(width)), np.where(width > 0, width, 1.0), still.b0, float(still.unit[0]),
            self.distinct.n, noise,
        )  # fmt: skip

    def _place(self, status: int, j: int) -> str:
        return self.loss.place(status, self.loss.signs(self.distinct)[j])

    def _solve(self, value: float) -> Solution:
        solution, other, reason = None, None, PathError("")
        try:
            solution = self.machine(value).from_places(self.record.status(self.axis.t(value)), _NO_POLISH)
            if solution.violation <= WRONG_SLACK * self.loss.scale(self.distinct) + min(
                solution.rounding, LARGEST_ROUNDING
            ):
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
        """The path over C of the machine with the kernel at one value, with the one value C: for criteria."""
        return self._over_C(value, self._solution(value).alpha / self.C)

    def _over_C(self, value: float, start: Array | None) -> JumpPath:
        """The same from another machine, or from where it is constant: a longer way, but with fewer ties."""
        problem, span = self.distinct.at(self.over, value), (self.C, self.C)
        return JumpPath(problem, self.loss, Motion("C", self.loss.own), span, start)

    def on(self, problem: Problem, store: KernelStore | None = None) -> KernelPath:
        """The same path of another problem; it begins as a path does by itself."""
        return replace(super().on(problem, store), start=None)

    def _decisions(self, values: Array) -> Array:
        """Each by homotopy from the last; nothing is recorded."""
        held = np.empty((len(values), self.distinct.n))
        walker: Walker | None = None
        with blas_threads(self.distinct.n**2):
            for k in np.argsort(values, kind="stable"):
                machine = self.machine(float(values[k]))
                walker = machine.begin() if walker is None else machine.begin(walker.theta, walker.status)
                held[k] = machine.from_places(walker.status).fitted
        return held


@dataclass(frozen=True, repr=False, eq=False)
class NewtonKernelPath(OverKernel):
    """The squared hinge machine over a parameter of its kernel.

    The machine at a value is solved on the samples left of the margin, starting with those of a neighbour, until they
    are the right ones. In exact form the same walk as for a loss with an elbow finds every change of side: with
    theta = alpha the machine is the program with rho = 1 / (2 C s) and bounds on one side only.

    Attributes
    ----------
    exact : bool
        Whether breakpoints and events are those of every single change of side, or the nodes between which they
        happen.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.paths.MarchPath : The squared hinge over C.
    svmpath.paths.KernelPath : Losses with an elbow over a kernel parameter.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="squared_hinge", over="gamma", span=(0.5, 2.0), C=1.0)
    >>> type(path).__name__, path(1.3).violation < 1e-9
    ('NewtonKernelPath', True)
    """

    loss: SquaredHinge
    exact: bool = False

    @classmethod
    def of(cls, problem: Problem, request: Request, store: KernelStore) -> NewtonKernelPath:
        """The path of a problem."""
        return cls(problem, request.loss, request.motion, request.span, request.exact, store=store)

    def followed(self, *, shorten: bool = False) -> NewtonKernelPath:
        """The path, its walk made if every change of side is to be known."""
        if self.exact:
            self.record  # noqa: B018 - walks
        return self

    @lazy
    def record(self) -> Record:
        """The walk over the span."""
        problem, s = self.distinct, self.distinct.s
        y, counts, n = problem.y, problem.s > 0, problem.n
        low, up = np.where(counts & (y < 0), -np.inf, 0.0), np.where(counts & (y > 0), np.inf, 0.0)
        with np.errstate(divide="ignore"):
            rho = np.where(counts, 0.5 / (self.C * s), 0.0)
        program = MovingProgram(
            self.gram.kernel, self._compared(), self.over, self.axis, np.arange(n), np.zeros(n, dtype=np.int64), -y,
            low, up, rho, np.where(counts, 2 * self.C * s, 1.0), np.zeros(1), 1.0, n,
        )  # fmt: skip
        if len(np.unique(y[counts])) < 2:  # f is the label of the one class that counts
            return Record(self._status(np.zeros(n, dtype=bool)), EventLog.of(), 0, 0, 0.0, 0.0)

        def solve_from(value: float, theta: Array, status: Array) -> tuple[Array, Array]:
            alpha = self._near(value, status == FREE).alpha
            return alpha, self._status(alpha != 0)

        with blas_threads(n**2):
            first = self._from_afar(self.span[0])
            walk = Walk(program, first.alpha, self._status(first.alpha != 0), solve_from)
            try:
                walk.run()
            except PathError as error:
                raise self._failure(error) from error
        return walk.record(0.0)

    def _status(self, left: Array) -> Array:
        status = np.where(left, FREE, np.where(self.distinct.y > 0, LOW, UP)).astype(np.int8)
        status[self.distinct.s == 0] = FIXED
        return status

    def _place(self, status: int, j: int) -> str:
        return "left" if status == FREE else "right"

    @property
    def breakpoints(self) -> Array:
        """Every value at which a sample changes sides if ``exact``, else nodes evenly spaced in t."""
        if self.exact:
            return OverKernel.breakpoints.fget(self)  # type: ignore[attr-defined]
        count = _KERNELS_PER_DECADE * self.axis.length / np.log(10) if self.axis.is_log else 20
        nodes = self.axis.value(np.linspace(0.0, self.axis.length, 1 + max(1, round(count))))
        nodes[[0, -1]] = self.span
        return nodes

    def _events(self) -> Iterable[Event]:
        """Every change of side if ``exact``; else those between one node and the next, at the latter."""
        if self.exact:
            yield from super()._events()
            return
        before: Array | None = None
        for value in self.breakpoints:
            left = self._solve(float(value)).alpha != 0
            for sample in np.flatnonzero(left != before) if before is not None else ():
                ends = ("right", "left") if left[sample] else ("left", "right")
                yield Event(float(value), int(sample), *ends)
            before = left

    def _solve(self, value: float) -> Solution:
        t = self.axis.t(value)
        with blas_threads(self.distinct.n**2):
            if self.exact:
                return self._near(value, self.record.status(t) == FREE)
            sides = self.store.of_path.points  # the samples on the left, packed, by the t of a machine
            if sides and isinstance(self.distinct.gram, DenseGram):
                nearest = min(list(sides), key=lambda each: abs(each - t))
                left = np.unpackbits(sides[nearest], count=self.distinct.n).astype(bool)
                solution = self._near(value, left)
            else:
                solution = self._from_afar(value)
            sides[round(t * _VISITS_PER_E) / _VISITS_PER_E] = np.packbits(solution.alpha != 0)
        return solution

    def _near(self, value: float, left: Array) -> Solution:
        """The machine at a value, from samples that are about those on the left."""
        if not left.any():
            return self._from_afar(value)
        solution = self.loss.in_samples(self.distinct.at(self.over, value), left, self.C)
        if solution.violation <= WRONG_SLACK + min(solution.rounding, LARGEST_ROUNDING):
            return solution
        return min(solution, self._from_afar(value), key=lambda each: each.violation)

    def _from_afar(self, value: float) -> Solution:
        """The machine at a value, as a path over C finds it."""
        return self.over_C(value)(self.C)

    def over_C(self, value: float) -> MarchPath:
        """The path over C of the machine with the kernel at one value, with the one value C: for criteria."""
        return MarchPath(self.distinct.at(self.over, value), self.loss, Motion("C"), (self.C, self.C))

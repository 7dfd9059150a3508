"""Paths over a parameter of the kernel, of which every event is known (hinge, epsilon-insensitive, squared hinge).

The walk is that of ``solvers.kernel_walk``. What is kept of it are the places at its beginning and the events; the
machine at a value is solved from the places there, with the kernel as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from svmpath.exceptions import PathError
from svmpath.gram import DenseGram
from svmpath.lazy import lazy
from svmpath.losses import PathParameter, Problem, Solution, SquaredHinge
from svmpath.losses.elbow import ElbowLoss
from svmpath.paths.jump import JumpPath
from svmpath.paths.march import MarchPath
from svmpath.paths.path import Array, Event, Path, changes, nodes_within
from svmpath.paths.store import KernelStore
from svmpath.solvers.attempts import try_in_turn
from svmpath.solvers.box_qp import FIXED, FREE, LOW, UP, Walker
from svmpath.solvers.events import EventLog
from svmpath.solvers.kernel_walk import JITTERS, LARGEST_ROUNDING, WRONG_SLACK, KernelRecord, KernelWalk
from svmpath.solvers.moving_kernel import MovingProgram, ParameterAxis
from svmpath.solvers.threads import blas_threads

_NO_POLISH = 1e-11  # a violation of a machine that needs no polish
_KERNELS_PER_DECADE = 4  # nodes per factor of ten of a path that is not exact
_VISITS_PER_E = 16  # machines whose places are kept, per factor of e


@dataclass(frozen=True, repr=False, eq=False)
class OverKernel(Path):
    """A path over a parameter of the kernel along which every event is known."""

    @property
    @abstractmethod
    def record(self) -> KernelRecord: ...

    @property
    def C(self) -> float:
        """The value of C."""
        return self.path_parameter.fixed["C"]

    @abstractmethod
    def over_C(self, value: float) -> Path:
        """The path over C of the machine with the kernel at one value, with the one value C: for criteria."""

    @abstractmethod
    def _place(self, status: int, j: int) -> str:
        """The name of the place of variable j."""

    @lazy
    def axis(self) -> ParameterAxis:
        """The parameter as the walk sees it."""
        return ParameterAxis(*self.span, is_log=min(self.span) > 0 and self.gram.kernel.parameter(self.over).log)

    def _compared(self) -> Any:
        """What the kernel needs of all rows, if the kernel matrix is used as it is."""
        gram = self.distinct.gram
        if not isinstance(gram, DenseGram) or gram.clip:
            raise ValueError(
                f"A path of {self.loss!r} over {self.over} needs the unmodified full kernel matrix; leave out rank= "
                "and rank=gram.Clipped()."
            )
        return gram.compared

    def _failure(self, reason: PathError | None) -> PathError:
        return PathError(
            f"The path of {self.loss!r} over {self.over} could not be followed from {self.span[0]:.6g} to "
            f"{self.span[1]:.6g}: {reason} Shorten the span, or scale the columns."
        )

    def followed(self, *, shorten: bool = False) -> Self:
        """The path, with its walk if every event is to be known; one that cannot be followed is refused here."""
        if getattr(self, "exact", True):
            self.record  # noqa: B018 - walks
        return self

    @property
    def breakpoints(self) -> Array:
        """The values at which a sample changes its place, and both ends, in the direction of the span."""
        return nodes_within(self.span, self.axis.value(self.record.events.t))

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

    has_statuses = True

    loss: ElbowLoss
    start: Array | None = None

    def _start_from(self, other: Path | Solution | Array | None) -> KernelPath:
        """The path, its first machine to be found from a solution."""
        return replace(self, start=other.coefficients) if isinstance(other, Solution) else self

    def machine(self, value: float) -> JumpPath:
        """The machine at one value, as a path over one value."""
        problem = self.distinct.at(self.over, value)
        return JumpPath(problem, self.loss, self.path_parameter, (value, value), self.start)

    @lazy
    def record(self) -> KernelRecord:
        """The walk over the span."""
        self._compared()  # refuses what has no events
        with blas_threads(self.distinct.n**2):
            tried = try_in_turn(JITTERS, self.walk)
        if tried.good is None:
            raise self._failure(tried.first_error)  # later ones are about a kernel with jitter
        return tried.good

    @property
    def jitter(self) -> float:
        """What had to be added to the diagonal of the kernel matrix, in units of its largest entry; 0 as a rule."""
        return self.record.jitter

    def walk(self, jitter: float) -> KernelRecord:
        """One attempt at the walk, with tiny numbers on the diagonal of the kernel matrix."""
        first = self.machine(self.span[0])
        noise = jitter * np.abs(first.gram.diag).max() * (1.0 + np.random.default_rng(0).random(self.distinct.n))
        walker = first.begin(noise=noise)
        still, width = walker.program, walker.program.u0 - walker.program.l0
        program = MovingProgram(
            self.gram.kernel, self._compared(), self.over, self.axis, still.rows, still.group, still.c0, still.l0,
            still.u0, np.zeros(len(width)), np.where(width > 0, width, 1.0), still.b0, float(still.unit[0]),
            self.distinct.n, noise if jitter else None,
        )  # fmt: skip

        def solve_from(value: float, theta: Array, status: Array) -> tuple[Array, Array]:
            walker = self.machine(value).begin(theta, status, noise)
            return walker.theta, walker.status

        walk = KernelWalk(program, walker.theta, walker.status, solve_from)
        walk.run()
        return walk.record(jitter)

    def _place(self, status: int, j: int) -> str:
        return self.loss.place(status, self.loss.signs(self.distinct)[j])

    def _solve(self, value: float) -> Solution:
        solutions, reason = [], PathError("")
        try:
            solutions.append(self.machine(value).from_places(self.record.status(self.axis.t(value)), _NO_POLISH))
            allowed = WRONG_SLACK * self.loss.scale(self.distinct) + min(solutions[0].rounding, LARGEST_ROUNDING)
            if solutions[0].violation <= allowed:
                return solutions[0]
        except PathError as error:
            reason = error
        with suppress(PathError):  # from where it is constant: a longer way, but with fewer ties
            solutions.append(self._over_C(value, None)(self.C))
        if not solutions:
            raise reason
        return min(solutions, key=lambda each: each.violation)

    def over_C(self, value: float) -> JumpPath:
        """The path over C of the machine with the kernel at one value, with the one value C: for criteria."""
        return self._over_C(value, self._solution(value).alpha / self.C)

    def _over_C(self, value: float, start: Array | None) -> JumpPath:
        path_parameter, span = PathParameter("C", self.loss.fixed_parameters), (self.C, self.C)
        return JumpPath(self.distinct.at(self.over, value), self.loss, path_parameter, span, start)

    def on(self, problem: Problem, store: KernelStore | None = None) -> KernelPath:
        """The same path of another problem; it begins as a path does by itself."""
        return replace(super().on(problem, store), start=None)

    def _decisions(self, values: Array) -> Array:
        """Each by homotopy from the last; nothing is recorded."""
        decisions = np.empty((len(values), self.distinct.n))
        walker: Walker | None = None
        with blas_threads(self.distinct.n**2):
            for k in np.argsort(values, kind="stable"):
                machine = self.machine(float(values[k]))
                walker = machine.begin() if walker is None else machine.begin(walker.theta, walker.status)
                decisions[k] = machine.from_places(walker.status).fitted
        return decisions


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

    @lazy
    def record(self) -> KernelRecord:
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
            return KernelRecord(self._status(np.zeros(n, dtype=bool)), EventLog.of(), 0, 0, 0.0, 0.0)

        def solve_from(value: float, theta: Array, status: Array) -> tuple[Array, Array]:
            alpha = self._near(value, status == FREE).alpha
            return alpha, self._status(alpha != 0)

        with blas_threads(n**2):
            first = self._from_afar(self.span[0])
            walk = KernelWalk(program, first.alpha, self._status(first.alpha != 0), solve_from)
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
            return super().breakpoints
        count = _KERNELS_PER_DECADE * self.axis.length / np.log(10) if self.axis.is_log else 20
        nodes = self.axis.value(np.linspace(0.0, self.axis.length, 1 + max(1, round(count))))
        nodes[[0, -1]] = self.span
        return nodes

    def _events(self) -> Iterable[Event]:
        """Every change of side if ``exact``; else those between one node and the next, at the latter."""
        if self.exact:
            yield from super()._events()
            return
        nodes = self.breakpoints
        yield from changes(nodes, ((self._solve(value).alpha != 0) + 0 for value in nodes.tolist()), ("right", "left"))

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
        return MarchPath(self.distinct.at(self.over, value), self.loss, PathParameter("C"), (self.C, self.C))

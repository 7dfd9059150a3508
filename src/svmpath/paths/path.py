"""A path: the solution as a function of one hyper-parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint
from svmpath.lazy import lazy
from svmpath.losses import Loss, PathParameter, Problem, Solution
from svmpath.notebook import Shown
from svmpath.paths.copies import expand, merge
from svmpath.paths.store import KernelStore

Array = np.ndarray

_LARGEST_ROUNDING = 1e-6  # rounding, in units of decision values, up to which a violation may be put down to it
_END_ROUNDING = 1e-12  # relative; an end of the span that went through a logarithm still counts as inside


@dataclass(frozen=True)
class Request:
    """What to trace, independent of the problem.

    Attributes
    ----------
    loss : Loss
    over : str
        The hyper-parameter to follow.
    span : tuple of two floats
    C : float
        The value of C, unless the path is over C.
    exact : bool
        Whether to find every event, on a path that does not need to.
    rows : array of int, optional
        For ``over="weight"``: the rows whose weight changes.
    tol : float, optional
        The largest relative duality gap that is accepted.
    """

    loss: Any
    over: str
    span: tuple[float, float]
    C: float = 1.0
    exact: bool = False
    rows: Array | None = None
    tol: float | None = None

    @property
    def path_parameter(self) -> PathParameter:
        """The hyper-parameter to follow, and the fixed ones of the machine."""
        values = {**({"C": self.C} if "C" in self.loss.parameter_names else {}), **self.loss.fixed_parameters}
        values.pop(self.over, None)
        return PathParameter(self.over, values, self.rows)


class Event(NamedTuple):
    """One sample changes its place.

    Attributes
    ----------
    value : float
        Where on the path.
    sample : int
        The row.
    source : str
        The place before.
    target : str
        The place after, in the direction of the path.

    See Also
    --------
    svmpath.paths.Path : What all paths have in common.
    svmpath.paths.elastic.FeatureEvent : One feature changes its place.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", span=(0.1, 10.0), gamma=1.0)
    >>> event = next(iter(path.events()))
    >>> 0.1 <= event.value <= 10.0, 0 <= event.sample < 60, event.source != event.target
    (True, True, True)
    """

    value: float
    sample: int
    source: str
    target: str


def changes(nodes: Iterable[float], places: Iterable[Array], names: Sequence[str]) -> Iterator[Event]:
    """The changes of place between one node and the next, recorded at the second.

    ``places`` has an array for each node, which holds the number of the place of each sample.
    """
    for (_, before), (value, now) in pairwise(zip(nodes, places, strict=True)):
        for i in np.flatnonzero(now != before).tolist():
            yield Event(float(value), i, names[before[i]], names[now[i]])


def nodes_within(span: tuple[float, float], values: Array) -> Array:
    """The values inside a span and both its ends, each once, in the direction of the span."""
    low, high = sorted(span)
    nodes = np.unique(np.concatenate([values[(values > low) & (values < high)], span]))
    return nodes if span[0] <= span[1] else nodes[::-1]


@dataclass(frozen=True, repr=False, eq=False)
class Path(Shown, ABC):
    """The solution as a function of one hyper-parameter; call it with a value to get the solution there.

    Whatever its class, six things may be asked of a path:

    ``path(value)``
        The machine at a value inside the span.
    ``path.decisions(values)``
        Decision values of all rows at each value, of shape (m, n).
    ``path.without(rows)``
        The path of the same machine with weight zero for some rows.
    ``path.breakpoints``
        The values at which there are events, and both ends.
    ``path.events()``
        The changes of place, in order.
    ``path.start_from(other)``
        The same path, which finds its first machine from a similar one, if that saves anything.

    Everything else follows from these. Copies of a sample are merged: a path is followed on its ``distinct`` rows, and
    what is asked is answered for all rows. A subclass knows of distinct rows only. It defines ``_solve(value)``,
    ``breakpoints`` and ``_events()``, overrides ``_decisions(values)`` where one walk is quicker than one machine after
    another, and ``_start_from(other)`` where that saves work.

    Attributes
    ----------
    problem : Problem
    loss : Loss
    path_parameter : PathParameter
        Which hyper-parameter the path follows, and the values of the others.
    span : tuple of two floats
        The first and the last value of the hyper-parameter.
    store : KernelStore
        Results that other paths can share, and what the path has met on its way.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.losses.Solution : The machine at one value.
    svmpath.paths.Event : One sample changes its place.
    svmpath.displays.PathDisplay : Coefficients or multipliers along a path.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", gamma=1.0)
    >>> path
    <Path: hinge over C from 0.001 to 1000; 60 samples, RBF(gamma=1.0)>
    >>> path(0.7)(X[:2]).shape, path(0.7).violation < 1e-9
    ((2,), True)
    >>> path.check()  # raises PathError if a machine is not optimal
    """

    problem: Problem
    loss: Loss
    path_parameter: PathParameter
    span: tuple[float, float]
    store: KernelStore = field(default_factory=KernelStore, repr=False, kw_only=True)
    is_chunked = False  # whether the rows are chunks of a Dask collection
    compared: ClassVar[str | None] = None  # why pairs were compared by folds, unless the loss says so
    has_statuses = False  # whether the place of a sample is the status of its coefficient in a box

    @property
    def gathered(self) -> Path:
        """The path whose problem has the numbers of its rows at hand: itself, unless the rows are in chunks."""
        return self

    @property
    def start_decisions(self) -> Array | None:
        """Decision values that the first machine is found from, where a path keeps them for its copies, too."""
        return None

    @property
    def over(self) -> str:
        """Name of the hyper-parameter."""
        return self.path_parameter.over

    def __getstate__(self) -> dict[str, Any]:
        # Lazy attributes and results computed from the kernel matrix are not saved: saved models stay small.
        return {each.name: self.__dict__[each.name] for each in fields(self)} | {"store": KernelStore()}

    def __repr__(self) -> str:
        first, last = self.span
        return (
            f"<Path: {self.loss.name} over {self.over} from {first:.6g} to {last:.6g}; "
            f"{self.problem.n} samples, {self.gram.kernel!r}>"
        )

    @property
    @abstractmethod
    def breakpoints(self) -> Array:
        """Values at which there are events, and both ends, in the direction of the span."""

    @abstractmethod
    def _events(self) -> Iterable[Event]:
        """The changes of place of distinct rows, in the order of the path."""

    @abstractmethod
    def _solve(self, value: float) -> Solution:
        """The solution of the distinct rows at a value inside the span."""

    @classmethod
    def of(cls, problem: Problem, request: Request, store: KernelStore) -> Self:
        """The path of a problem; a field ``exact`` or ``tol`` is that of the request."""
        own = {each.name: getattr(request, each.name) for each in fields(cls) if each.name in ("exact", "tol")}
        return cls(problem, request.loss, request.path_parameter, request.span, store=store, **own)

    @property
    def is_exact(self) -> bool:
        """Whether machines are optimal up to rounding, and not only up to a given gap."""
        return True

    # --- copies ------------------------------------------------------------------------------------------------------

    @lazy
    def distinct(self) -> Problem:
        """The problem with one row for all copies of a sample, on which the path is followed."""
        problem, of_kernel = self.problem, self.store.of_kernel
        if problem.copies is None:
            return problem
        distinct = merge(problem, of_kernel.distinct)
        of_kernel.distinct = distinct.gram
        return distinct

    @property
    def unmerged(self) -> Self:
        """The path whose copies are rows of their own; the path itself, if there are none."""
        return self if self.problem.copies is None else self.on(replace(self.problem, copies=None))

    def _solution(self, value: float) -> Solution:
        """The solution of the distinct rows at a value."""
        return self._solve(self.inside(value))

    # --- what criteria ask -------------------------------------------------------------------------------------------

    def __call__(self, value: float) -> Solution:
        """The solution at a value inside the span."""
        solution, problem = self._solution(value), self.problem
        if problem.copies is None:
            return solution
        if self.over in self.gram.kernel.parameters:
            problem = problem.at(self.over, value)
        solution = expand(solution, problem, self.distinct.s)
        return replace(solution, problem=replace(problem, s=self.path_parameter.weights(problem.s, value)))

    def events(self) -> Iterable[Event]:
        """The changes of place, in the order of the path; one for every copy of positive weight."""
        copies = self.problem.copies
        if copies is None:
            return self._events()
        active = self.problem.active
        order = active[np.argsort(copies[active], kind="stable")]
        members = np.split(order, np.cumsum(np.bincount(copies[active], minlength=self.distinct.n))[:-1])
        return (event._replace(sample=int(row)) for event in self._events() for row in members[event.sample])

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows, including those with weight zero, at each value."""
        decisions, copies = self._decisions(values), self.problem.copies
        return decisions if copies is None else decisions[:, copies]

    def _decisions(self, values: Array) -> Array:
        return np.array([self._solution(float(value)).fitted for value in values])

    def without(self, rows: Array) -> Any:
        """The path of the same machine with weight zero for some rows; over nu it may have to begin later."""
        s = self.problem.s.copy()
        s[rows] = 0.0
        path, largest = self.on(replace(self.problem, s=s), self.store.for_weights()), self.loss.largest
        most = largest(self.over, self.problem.y, s)
        if not min(self.span) < most < max(self.span):
            return path
        return path.over_span((min(self.span[0], most), min(self.span[1], most)))

    def without_each(self, parts: Sequence[Array], value: float) -> list[Solution]:
        """The machines at a value with weight zero for each part of the rows, started from the whole machine."""
        start, machines = self(value).fitted, []
        for rows in parts:
            checkpoint()
            machines.append(self.without(rows).start_from(self).start_from(start)(value))
        return machines

    def is_lost_to_rounding(self, values: Array) -> Array:
        """At which values rounding leaves fewer than about four digits of held-out values, if this is known."""
        return np.zeros(len(values), dtype=bool)

    # --- similar paths -----------------------------------------------------------------------------------------------

    def start_from(self, other: Path | Solution | Array | None) -> Self:
        """The path, its first machine to be found from a similar one: of another kernel, other weights or labels.

        ``other`` is a path, a solution, or decision values of all rows. What a path cannot use, None among it, changes
        nothing.
        """
        copies = self.problem.copies
        if isinstance(other, Path) and not np.array_equal(other.problem.copies, copies):  # type: ignore[arg-type]
            return self
        if isinstance(other, Solution) and copies is not None:
            other = replace(other, problem=self.distinct, alpha=np.bincount(copies, other.alpha, self.distinct.n))
        if isinstance(other, np.ndarray) and copies is not None:
            other = other[np.unique(copies, return_index=True)[1]]
        return self._start_from(other)

    def _start_from(self, other: Path | Solution | Array | None) -> Self:
        return self

    def known_decisions(self, value: float) -> Array | None:
        """Decision values of all rows at a value near this one, to start another path from; None if not at hand."""
        path, rows = self.store.of_path.scored or (self, self.problem.copies)
        f = path._known_decisions(value)
        return f if f is None or rows is None else f[rows]

    def _known_decisions(self, value: float) -> Array | None:
        return None

    def on(self, problem: Problem, store: KernelStore | None = None) -> Self:
        """The same path of another problem, perhaps of other rows."""
        return replace(self, problem=problem, store=KernelStore() if store is None else store)

    def over_span(self, span: tuple[float, float]) -> Self:
        """The same path over another span."""
        return replace(self, span=span)

    def with_kernel(self, name: str, value: float) -> Self:
        """The path with another value of a kernel parameter."""
        return replace(self, problem=self.problem.at(name, value), store=KernelStore())

    def followed(self, *, shorten: bool = False) -> Self:
        """The path, with its events computed if it needs them; raises an error if the path cannot be followed.

        With ``shorten`` it may end before the span does, where the problem has no solution any more.
        """
        return self

    def forget(self) -> None:
        """Free what takes up memory and can be computed again, after a machine has been chosen."""
        self.store.forget_factors()

    # --- values ------------------------------------------------------------------------------------------------------

    def inside(self, value: float) -> float:
        """The value if it lies in the span; raises an error otherwise."""
        low, high = sorted(self.span)
        if not low - _END_ROUNDING * abs(low) <= value <= high + _END_ROUNDING * abs(high):
            raise ValueError(
                f"{self.over} = {value:.6g} lies outside the span [{low:.6g}, {high:.6g}] of this path; trace it over "
                "a wider span=."
            )
        return float(min(max(value, low), high))

    @property
    def gram(self) -> Any:
        """The Gram matrix of the problem."""
        return self.problem.gram

    @property
    def residual(self) -> float:
        """Relative error of a low-rank kernel, see :class:`svmpath.gram.Gram`; 0 for a full kernel matrix.

        On a path over a kernel parameter, each value has its own residual: ``path(value).problem.gram.residual``.
        """
        return self.problem.gram.residual

    @property
    def classes(self) -> Array | None:
        """The labels of negative and positive decision values."""
        return self.problem.classes

    def check(self, tol: float = 1e-8) -> None:
        """Raise :class:`svmpath.PathError` if the path is not optimal.

        Checks every breakpoint and one value between each two. A violation that is no larger than the rounding error
        of the decision values cannot be distinguished from zero, and is accepted up to 1e-6. Beyond that, a violation
        that rounding explains (in the decision values, or in solving for the coefficients) is reported as too few
        digits.
        """
        nodes = self.breakpoints
        between = (nodes[1:] + nodes[:-1]) / 2
        for value in np.concatenate([nodes, between]):
            solution = self(value)
            violation, rounding = solution.violation, solution.rounding if tol > 0 else 0.0
            if violation <= tol + min(rounding, _LARGEST_ROUNDING):
                continue
            where = f"at {self.over} = {value:.6g}: violation {violation:.2e} > {tol:.2e}"
            # A Cholesky solve of m equations leaves (3 m + 1) / 2 units of rounding in each (Higham 2002, theorem
            # 10.4): no more than m times those of a decision value.
            if violation <= tol + rounding * max(len(solution.support), 1):
                raise PathError(
                    f"The path has too few digits {where}. Kernel values times coefficients are too large for "
                    "double precision: scale the data, or end the span earlier."
                )
            raise PathError(
                f"The path is not optimal {where}. Scale the columns, end the span earlier, or accept a larger tol."
            )

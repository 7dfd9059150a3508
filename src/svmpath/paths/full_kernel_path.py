"""Machines on the full kernel of many rows over C, each to a small duality gap.

With a :class:`svmpath.gram.ProductGram` nothing is decomposed: machines are found by products with the kernel matrix
(``solvers.full_kernel``). One product serves many columns, so whatever is asked is asked of all machines at once: all
values of C, all folds, and all classes. The problems of several classes share weights and a store; the one that is
asked first is answered for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from svmpath.exceptions import PathError
from svmpath.gram.exact import exact_product
from svmpath.gram.memory import memory_limit
from svmpath.lazy import with_known
from svmpath.losses import PiecewiseQuadratic, Problem, Solution
from svmpath.paths.copies import expand, merge
from svmpath.paths.path import Array, Event, Path, Request, changes
from svmpath.paths.store import KernelStore
from svmpath.solvers.full_kernel import FullMachines, gap_beyond, solve_full
from svmpath.solvers.threads import blas_threads

FULL_GAP = 1e-4  # relative; decision values are then about 1e-2 of the margin from those of the machine without a gap
RANKING_GAP = 2e-3  # of machines that are only compared: at 1e-2 their held-out errors vary by half a standard error
_UNREFINED = 0.5  # of a gap that is refined: what the products in single precision leave of it
_CHECKED_ROWS = 1000  # on which products in single precision are compared with those in double precision
_FARTHER = 2.0  # times the largest difference on these rows, at most, on any row
_COLUMN_BYTES = 1e9  # of the columns that are solved together


@dataclass
class Together:
    """The problems that are solved together.

    Attributes
    ----------
    problems : list of Problem
        One for each machine, before copies are merged.
    last : tuple or None
        What was asked last, and its answer: the machines of each problem.
    near : dict
        By loss and value of C, coefficients of each problem near those of all rows: those of folds, on average.
    """

    problems: list[Problem] = field(default_factory=list)
    last: tuple[tuple[Any, ...], list[FullMachines]] | None = None
    near: dict[tuple[str, float], list[Array]] = field(default_factory=dict)

    def learn(self, loss: str, values: Array, weights: Array, machines: list[FullMachines]) -> None:
        """Keep what machines of several columns of weights know of those of all rows, at each value."""
        folds = weights.shape[1]
        seen = np.maximum(np.count_nonzero(weights, axis=1), 1)
        for k, value in enumerate(values.tolist() if folds > 1 else ()):
            some = slice(k * folds, (k + 1) * folds)
            self.near[loss, value] = [each.a[:, some].sum(axis=1) / seen for each in machines]


@dataclass(frozen=True, repr=False, eq=False)
class FullKernelPath(Path):
    """The machine on the full kernel over C, at each value to a relative duality gap of at most ``tol``.

    Attributes
    ----------
    tol : float

    See Also
    --------
    svmpath.gram.ProductGram : The kernel matrix, known by its products.
    svmpath.paths.Path : What all paths have in common.
    svmpath.paths.MarchPath : Exact paths of the squared hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.datasets import banana
    >>> from svmpath.gram import Nystroem, ProductGram
    >>> from svmpath.kernels import RBF
    >>> from svmpath.losses import Problem, SquaredHinge
    >>> from svmpath.paths import Request, trace_problem
    >>> X, y = banana(200, random_state=0)
    >>> problem = Problem(ProductGram(RBF(1.0), X, Nystroem(40)), y.astype(float), np.ones(200), "classification")
    >>> path = trace_problem(problem, Request(SquaredHinge(), "C", (0.1, 10.0)))
    >>> type(path).__name__, path(1.0).gap <= path.tol
    ('FullKernelPath', True)
    """

    compared: ClassVar[str] = "a low rank was not enough, so pairs were compared on the full kernel"

    loss: PiecewiseQuadratic
    tol: float = FULL_GAP

    @classmethod
    def of(cls, problem: Problem, request: Request, store: KernelStore) -> FullKernelPath:
        """The path of a problem, which is solved together with those of the same store."""
        loss, over = request.loss, request.over
        if over != "C" or not isinstance(loss, PiecewiseQuadratic) or not loss.pieces.is_one_square:
            raise ValueError(
                "On the full kernel of many rows a path can be that of the squared hinge or of least squares over C, "
                f"not of loss={loss.name!r} over {over!r}; use rank= for fewer features."
            )
        together = store.of_weights.together = store.of_weights.together or Together()
        if not any(each.y is problem.y for each in together.problems):
            together.problems.append(problem)
        tol = FULL_GAP if request.tol is None else request.tol
        return cls(problem, loss, request.path_parameter, request.span, tol, store=store)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, gaps up to {self.tol:g}>"

    @property
    def is_exact(self) -> bool:
        """False: machines are optimal to a gap of ``tol``."""
        return False

    # --- all machines at once ----------------------------------------------------------------------------------------

    def columns(self, values: Array, weights: Array, tol: float, *, refined: bool = False) -> FullMachines:
        """The machines at each value with each column of weights, in columns: those of the first value come first.

        Parameters
        ----------
        values : array of shape (m,)
        weights : array of shape (n, q)
            Of the distinct rows.
        tol : float
            The relative duality gap.
        refined : bool
            Whether the gap also has what rounding in single precision may hide.
        """
        together = self.store.of_weights.together
        numbers = [k for k, each in enumerate(together.problems) if each.y is self.problem.y] if together else []
        if together is None or not numbers:  # with other weights than those problems
            together, numbers = Together([self.problem]), [0]
        asked = (self.loss.name, values.tobytes(), weights.tobytes(), tol, refined)
        if together.last is None or together.last[0] != asked:
            near = [together.near.get((self.loss.name, value)) for value in values.tolist()]
            start = None
            if weights.shape[1] == 1 and all(each is not None and len(each) == len(together.problems) for each in near):
                start = np.stack([each[k] for k in range(len(together.problems)) for each in near if each], axis=1)
            machines = self._solve_all(together.problems, values, weights, tol, refined, start)
            together.last = asked, machines
            together.learn(self.loss.name, values, weights, machines)
        return together.last[1][numbers[0]]

    def _solve_all(
        self, problems: list[Problem], values: Array, weights: Array, tol: float, refined: bool, start: Array | None
    ) -> list[FullMachines]:
        """The columns of each problem, as many problems at a time as there is room for; perhaps from a start."""
        gram: Any = self.distinct.gram
        (n, q), width = weights.shape, len(values) * weights.shape[1]
        targets = np.stack([each.y if each.copies is None else merge(each, gram).y for each in problems], axis=1)
        # A dozen arrays of n numbers, and three of the size of the preconditioner, for each column.
        room = min(_COLUMN_BYTES, 0.25 * memory_limit()) / (8.0 * (12 * n + 3 * gram.low.rank**2))
        every, answers = np.arange(len(problems) * width), list[FullMachines]()
        for first in range(0, len(every), max(1, int(room))):
            some = every[first : first + max(1, int(room))]
            y, C, s = targets[:, some // width], values[some % width // q], weights[:, some % q]
            with blas_threads(gram.entries):
                given = self.loss.pieces, gram.low.Z, y, s, C, gram.fast
                near = None if start is None else start[:, some]
                found = solve_full(*given, tol=_UNREFINED * tol if refined else tol, start=near)
                gaps = found.gap + (self._unknown(found, y, s, C) if refined else 0.0)
                if refined and gaps.max() > tol:  # rounding was in the way
                    found = solve_full(*given, exact=gram.matmul, tol=tol, start=found.a)
                else:
                    found = replace(found, gap=gaps)
            answers.append(found)
        joined = FullMachines.join(answers)
        return [joined.take(slice(k, k + width)) for k in range(0, len(every), width)]

    def _unknown(self, found: FullMachines, y: Array, s: Array, C: Array) -> Array:
        """How much of the gaps of machines is not known for rounding in single precision.

        On some rows products are computed in double precision. All rows are taken to be at most twice as far off.
        """
        gram: Any = self.distinct.gram
        rows = np.unique(np.linspace(0, gram.n - 1, _CHECKED_ROWS).astype(int))
        exact = exact_product(gram.low, found.a, rows, watch=False)
        off = _FARTHER * np.abs(exact + found.b - found.f[rows]).max(axis=0)
        return gap_beyond(self.loss.pieces, y, s, C, found, off)

    def machine(self, value: float) -> tuple[Array, float, Array]:
        """Coefficients, offset and decision values of the distinct rows, which are kept."""
        machines = self.store.of_path.machines
        if value not in machines or machines[value][1] > self.tol:
            found = self.columns(np.array([value]), self.distinct.s[:, None], self.tol, refined=True)
            if not found.gap[0] <= self.tol:
                raise self._not_found(value, float(found.gap[0]))
            machines[value] = (found.a[:, 0], float(found.b[0]), found.f[:, 0]), self.tol
        return machines[value][0]

    def without_each(self, parts: Sequence[Array], value: float) -> list[Solution]:
        """The machines with weight zero for each part of the rows: columns of the same products."""
        problem, distinct, copies, solutions = self.problem, self.distinct, self.problem.copies, list[Solution]()
        of_row = np.arange(problem.n) if copies is None else copies
        s = [np.where(np.isin(np.arange(problem.n), rows), 0.0, problem.s) for rows in parts]
        weights = np.stack([np.bincount(of_row, each, distinct.n) for each in s], axis=1)
        found = self.columns(np.array([value]), weights, self.tol, refined=True)
        if not found.gap.max() <= self.tol:
            raise self._not_found(value, float(found.gap.max()))
        for k, each in enumerate(s):
            merged = replace(distinct, s=weights[:, k])
            solution = self._as_solution(merged, found.a[:, k], float(found.b[k]), found.f[:, k], value)
            whole = replace(problem, s=each)
            solutions.append(solution if copies is None else expand(solution, whole, weights[:, k]))
        return solutions

    def gap_of(self, alpha: Array, value: float) -> float:
        """The relative duality gap that coefficients of all rows have on the full kernel at a value of C."""
        distinct, copies = self.distinct, self.problem.copies
        a = alpha if copies is None else np.bincount(copies, alpha, distinct.n)
        gram: Any = distinct.gram
        with blas_threads(gram.entries):
            columns = distinct.y[:, None], distinct.s[:, None], np.array([value])
            found = solve_full(self.loss.pieces, gram.low.Z, *columns, gram.fast, tol=np.inf, start=a[:, None])
        return float(found.gap[0])

    # --- what a path is asked ----------------------------------------------------------------------------------------

    def _solve(self, value: float) -> Solution:
        return self._as_solution(self.distinct, *self.machine(value), value)

    def _as_solution(self, problem: Problem, alpha: Array, b: float, f: Array, value: float) -> Solution:
        parameters = {**self.path_parameter.fixed, "C": value, **self.gram.kernel.parameters}
        return with_known(Solution(problem, self.loss, alpha, b, parameters), fitted=f)

    def _not_found(self, value: float, gap: float) -> PathError:
        return PathError(
            f"At C = {value:.6g} no machine with a gap below {self.tol:.1e} was found on the full kernel, but one of "
            f"{gap:.1e}: use a smaller C, scale the columns, or use rank=."
        )

    def _decisions(self, values: Array) -> Array:
        return np.array([self.machine(float(value))[2] for value in values])

    def _known_decisions(self, value: float) -> Array | None:
        machines = self.store.of_path.machines
        nearest = min(list(machines), key=lambda each: abs(np.log(each / value)), default=None)
        return None if nearest is None else machines[nearest][0][2]

    @property
    def breakpoints(self) -> Array:
        """Both ends: between them a machine costs as much as any other."""
        return np.unique(self.span) if self.span[0] <= self.span[1] else np.unique(self.span)[::-1]

    def _events(self) -> Iterable[Event]:
        """Changes of place from one end to the other."""
        pieces, y = self.loss.pieces, self.distinct.y
        places = (pieces.region(pieces.u(y, f)).astype(int) for f in self._decisions(self.breakpoints))
        return changes(self.breakpoints, places, self.loss.names)

    def forget(self) -> None:
        """Free the kernel matrix, too."""
        super().forget()
        gram: Any = self.problem.gram
        gram.release()
        if self.store.of_weights.together is not None:
            self.store.of_weights.together.last = None
            self.store.of_weights.together.near.clear()

    def check(self, tol: float = 1e-8) -> None:
        """Raise :class:`svmpath.PathError` if the gap is larger than guaranteed, or than ``tol`` if that is larger."""
        for value in self.breakpoints:
            gap, allowed = self(float(value)).gap, max(self.tol, tol)
            if not gap <= allowed * (1.0 + 1e-6):
                raise PathError(
                    f"At C = {value:.6g} the relative duality gap is {gap:.2e} > {allowed:.2e}: scale the columns, or "
                    "use a smaller C."
                )

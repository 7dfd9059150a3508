"""Paths over C on rows in chunks: the squared hinge and least squares in a low-rank kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import OneVsRest, error
from svmpath.distributed import cluster
from svmpath.distributed.blocks import Block, Evaluate, Moments, Recipe, answer, sum_moments
from svmpath.distributed.closed_form import Decomposition, first_solution, left_of, refined, sum_residuals
from svmpath.distributed.data import Data, choose_dtype
from svmpath.distributed.leave_one_out import Machine, Press, Rule, SpanRule, hold_out, sample_held, sum_scores
from svmpath.distributed.newton import Point, first_point, minimise_all
from svmpath.exceptions import PathError
from svmpath.gram.features import FeatureMap
from svmpath.kernels import Kernel
from svmpath.lazy import lazy, with_known
from svmpath.losses import LeastSquares, Loss, Motion, SquaredHinge
from svmpath.paths.path import Event, Path
from svmpath.solvers.threads import blas_threads

Array = np.ndarray
Progress = Callable[[int, int], None]

_MANY = 3000  # rows from which errors of the squared hinge are screened, as in memory
_PROJECTIONS = 32
_NODES_PER_DECADE = 4
_POLISHED = 2  # steps of refinement from features in single precision: seven digits each
_TOO_FEW_DIGITS = 1e-4  # relative error from which on a held-out residual is doubtful


@dataclass(frozen=True)
class ChunkedGram:
    """K ~ Z Z', whose rows Z are made where the rows of X are.

    Attributes
    ----------
    kernel : Kernel
    features : FeatureMap
    n : int
    residual : float
        Relative error of the approximation: the part of the trace that it misses.
    """

    kernel: Kernel
    features: FeatureMap
    n: int
    residual: float = np.nan

    @property
    def rank(self) -> int:
        """Number of features."""
        return self.features.rank

    @property
    def entries(self) -> int:
        """Number of entries of Z."""
        return self.n * self.rank

    @property
    def rows(self) -> Array:
        """Refused: criteria ask for it that hold out folds of rows."""
        raise ValueError("k-fold does not work for rows in chunks: use criterion='auto', which leaves out single rows.")

    def apply(self, X: Any, alpha: Any, w: Array) -> Array:
        """Features of new rows times w; ``alpha`` stays with the rows and is not used."""
        return self.features(X) @ w

    def weights(self, alpha: Any, w: Array) -> Array:
        """The weights of the columns of X, for the linear kernel."""
        return self.features.weights(w)


@dataclass(frozen=True)
class ChunkedProblem:
    """What is known of a problem whose rows are in chunks.

    Attributes
    ----------
    gram : ChunkedGram
    n : int
    weight : float
        The sum of the weights.
    share : float
        The sum of their squares, over the square of their sum.
    task : {"classification", "regression"}
    classes : array or None
    """

    gram: ChunkedGram
    n: int
    weight: float
    share: float
    task: str
    classes: Array | None = None

    @property
    def machines(self) -> int:
        """One, or one per class if there are more than two."""
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)


class Rows:
    """The blocks of all chunks: held where they were computed, if there is room, or made anew in every pass."""

    def __init__(self, data: Data, recipe: Recipe, limit: Any) -> None:
        self.data, self._limit = data, limit
        held = choose_dtype(data.n, recipe.width - 1, limit)
        self.recipe = replace(recipe, dtype=held or np.float64)
        self.are_held = held is not None
        self._blocks = data.blocks(self.recipe)
        self._is_ready = False
        self._places: list[Any] | None = None
        self.passes: Counter[str] = Counter()  # over all chunks, by what was computed

    @property
    def storage(self) -> str:
        """How features are kept, in words."""
        if not self.are_held:
            return "made anew in every pass"
        return f"held in {'double' if self.recipe.dtype is np.float64 else 'single'} precision"

    @property
    def blocks(self) -> list[Any]:
        """One task per chunk that gives its block."""
        if self.are_held and not self._is_ready:
            with self._guarded():
                self._blocks = cluster.hold(self._blocks)
                self._places = cluster.places_of(self._blocks)
            self._is_ready = True
        return self._blocks

    @property
    def is_rounded(self) -> bool:
        """Whether features are held in single precision."""
        return self.are_held and self.recipe.dtype is np.float32

    def exact(self) -> Rows:
        """The same rows with features in double precision, made anew in every pass."""
        return Rows(self.data, self.recipe, 1)

    def reduce(self, name: str, function: Callable[..., list[Any]], *shared: Any) -> list[Any]:
        """The sum over all chunks of ``function(block, *shared)``."""
        blocks = self.blocks
        self.passes[name] += 1
        with self._guarded():
            return cluster.reduce_chunks(name, function, [(block,) for block in blocks], shared, self._places)

    def map(self, name: str, function: Callable[[Block, Any], Array], shared: Any) -> list[Any]:
        """One task per chunk."""
        common = cluster.as_delayed(shared)
        return [cluster.task(name, function, block, common) for block in self.blocks]

    def release(self) -> None:
        """Let go of features that are held; they are made anew when they are asked for again."""
        if self._is_ready:
            cluster.release(self._blocks)
        self._blocks, self.are_held = self.data.blocks(self.recipe), False
        self._is_ready, self._places = False, None

    def _guarded(self) -> Any:
        data = self.data
        numbers = 3 * data.table.columns + 2 * self.recipe.width
        return _Guard(self, cluster.explained(max(data.table.lengths), numbers))


class _Guard:
    """Ends what runs on the cluster when a pass fails or is interrupted."""

    def __init__(self, rows: Rows, explained: Any) -> None:
        self._rows, self._explained = rows, explained

    def __enter__(self) -> None:
        self._explained.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if error is not None:
            self._rows.release()
        return self._explained.__exit__(kind, error, trace)


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedSolution:
    """A machine at one value of C; call it with new rows, also a Dask array, to get their decision values.

    Attributes
    ----------
    problem : ChunkedProblem
    loss : Loss
    w : array of shape (r,) or (r, k)
        Weights of the features.
    b : float or array of shape (k,)
        Offset.
    parameters : dict
        The hyper-parameters at this point.
    scaler : StandardScaler or None
        Applied to new rows first.

    See Also
    --------
    svmpath.losses.Solution : The same in memory, with a coefficient for every row.
    ChunkedPath : Returns it at any value of C.

    Examples
    --------
    >>> import dask.array as da, numpy as np, svmpath
    >>> X = np.random.default_rng(0).normal(size=(200, 2)); y = X[:, 0] > 0
    >>> path = svmpath.trace(da.from_array(X, chunks=(50, 2)), da.from_array(y, chunks=50), rank=10, random_state=0)
    >>> solution = path(1.0)
    >>> solution.w.shape, bool(np.mean((solution(X) > 0) == y) > 0.95)
    ((10,), True)
    """

    problem: ChunkedProblem
    loss: Loss
    w: Array
    b: Any
    parameters: dict[str, float]
    scaler: Any = None

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in self.parameters.items())
        return f"<Solution: {self.loss.name} at {values}; {self.problem.n} samples in chunks>"

    def __call__(self, X: Any) -> Any:
        """Decision values of the rows of X; lazy for a Dask array or data frame."""
        if hasattr(X, "__dask_graph__"):
            return cluster.map_rows("decide", self._decide, X, self.w.shape[1:], float)
        return self._decide(X)

    def _decide(self, X: Any) -> Array:
        X = np.asarray(X, dtype=float)
        if len(X) == 0:
            return np.empty((0, *self.w.shape[1:]))
        with blas_threads(0):
            X = X if self.scaler is None else self.scaler.transform(X)
            return self.problem.gram.apply(X, None, self.w) + self.b


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedPath(Path):
    """Machines over C on rows in chunks, of one class against the other, or of each class against the rest.

    Attributes
    ----------
    rows : Rows or None
        The chunks; None for a path that was saved: it has machines only where it was asked for them before.
    found : dict
        theta of all machines, of shape (k, r + 1), at each C that was asked for.
    centre : array of shape (r,)
        What is subtracted from the features.
    scaler : StandardScaler or None
        Applied to the rows first.

    See Also
    --------
    svmpath.trace : Returns it for Dask arrays and data frames.
    ChunkedCurve : Held-out scores along it.

    Examples
    --------
    >>> import dask.array as da, numpy as np, svmpath
    >>> X = np.random.default_rng(0).normal(size=(200, 2)); y = X[:, 0] > 0
    >>> path = svmpath.trace(da.from_array(X, chunks=(50, 2)), da.from_array(y, chunks=50), rank=10, random_state=0)
    >>> path.decisions([0.1, 1.0]).shape, path.storage
    ((2, 200), 'held in double precision')
    """

    problem: Any  # a ChunkedProblem
    is_chunked = True

    rows: Rows | None = field(default=None, kw_only=True)
    found: dict[float, Array] = field(default_factory=dict, kw_only=True)
    centre: Any = field(default=None, kw_only=True)
    scaler: Any = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        first, last = self.span
        return (
            f"<ChunkedPath: {self.loss.name} over C from {first:.6g} to {last:.6g}; {self.problem.n} samples in "
            f"chunks, {self.gram.kernel!r}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "rows": None}

    @property
    def live(self) -> Rows:
        """The chunks; raises an error if the path has lost them."""
        if self.rows is None:
            raise ValueError("This path was saved without its rows: use svmpath.trace again for other values of C.")
        return self.rows

    @property
    def storage(self) -> str:
        """How features are kept on the workers."""
        return self.live.storage

    @property
    def passes(self) -> dict[str, int]:
        """How many passes over all rows there were, by what was computed."""
        return dict(self.live.passes)

    @property
    def breakpoints(self) -> Array:
        """Nodes evenly spaced in the logarithm of C; both ends for least squares."""
        first, last = np.log10(self.span)
        return np.logspace(first, last, 2 + int(_NODES_PER_DECADE * abs(last - first)))

    def events(self) -> Iterable[Event]:
        """Refused: places stay with the rows."""
        raise ValueError(
            "The path of rows in chunks does not collect events, one for every row: trace a sample in memory "
            "(X.compute()) to see them."
        )

    @abstractmethod
    def thetas(self, values: Array) -> Iterator[tuple[int, Array]]:
        """The position of each value and theta of all machines there, of shape (k, r + 1)."""

    @abstractmethod
    def rules(self, values: Array, screened: bool) -> Iterator[tuple[Array, Rule]]:
        """The positions of some values, and how samples are held out there; all values come once."""

    def is_screened(self, loss: Any) -> bool:
        """Whether errors are counted without all held-out decision values."""
        return False

    @abstractmethod
    def violation(self, value: float) -> float:
        """How far the machines at a value are from optimal, in units of decision values."""

    def check(self, tol: float = 1e-8) -> None:
        """Raise :class:`svmpath.PathError` if the path is not optimal at a breakpoint."""
        for value in self.breakpoints:
            violation = self.violation(self.inside(float(value)))
            if violation > tol:
                raise PathError(
                    f"The path is not optimal at C = {value:.6g}: violation {violation:.2e} > {tol:.2e}. Scale the "
                    "columns, end the span earlier, or accept a larger tol."
                )

    def polish(self, value: float) -> None:
        """Find the machine at a value once more, with exact features, if those that are held are rounded."""
        if self.live.is_rounded:
            self.found[value] = self._polished(value, self.live.exact())

    @abstractmethod
    def _polished(self, value: float, exact: Rows) -> Array:
        """theta of all machines at a value, by a few steps from what rounded features gave."""

    def count_doubts(self, values: Array) -> Array:
        """How many held-out values are known to be lost to rounding."""
        return np.zeros(len(values), dtype=int)

    def _solve(self, value: float) -> Any:
        Theta = self._at(value)
        w, b = Theta[:, :-1].T, Theta[:, -1] - Theta[:, :-1] @ self.centre
        if self.problem.machines == 1:
            w, b = w[:, 0], float(b[0])
        parameters = {"C": float(value), **self.gram.kernel.parameters}
        return ChunkedSolution(self.problem, self.loss, w, b, parameters, self.scaler)

    def _at(self, value: float) -> Array:
        if value not in self.found:
            for _, Theta in self.thetas(np.array([value])):
                self.found[value] = Theta
        return self.found[value]

    def decisions(self, values: Array) -> Any:
        """Decision values of all rows at each value, as a lazy Dask array of shape (m, n), or (m, n, k)."""
        Theta = np.array([self._at(float(value)) for value in values])
        return self._lazily("decide", _decide, Theta, len(values))

    def hold_out(self, values: Array) -> Any:
        """Held-out decision values at each value, as a lazy Dask array of shape (m, n), or (m, n, k)."""
        parts = [(at, self._lazily("leave-one-out", hold_out, rule, len(at))) for at, rule in self.rules(values, False)]
        order = np.argsort(np.concatenate([at for at, _ in parts]))
        return cluster.da.concatenate([part for _, part in parts], axis=0)[order]

    def _lazily(self, name: str, function: Any, shared: Any, m: int) -> Any:
        k, rows = self.problem.machines, self.live
        # Rows come first, because chunks are joined along them.
        tasks = [cluster.task(name, _rows_first, each) for each in rows.map(name, function, shared)]
        joined = cluster.concatenated(tasks, rows.data.full_lengths, (m, k), float)
        joined = cluster.da.moveaxis(joined, 0, 1)
        return joined[:, :, 0] if k == 1 else joined

    def sum_scores(self, values: Array, loss: Any, progress: Progress | None = None) -> Array:
        """Weighted sums of losses, squared losses and squared residuals at each value, of shape (3, m)."""
        is_screened, sums = self.is_screened(loss), np.empty((3, len(values)))
        done = 0
        for at, rule in self.rules(values, is_screened):
            sums[:, at] = self.live.reduce("leave-one-out", sum_scores, rule, loss, is_screened)[0]
            done += len(at)
            if progress is not None:
                progress(done, len(values))
        return sums

    def sample_held(self, value: float, rows: Array) -> tuple[Array, Array, Array]:
        """Held-out decision values (N, k), targets and weights of some rows; ``rows`` must be in order."""
        chunks = self.live
        starts = np.cumsum([0, *chunks.data.full_lengths])
        _, rule = next(iter(self.rules(np.array([value]), False)))
        shared, tasks = cluster.as_delayed(rule), []
        for block, first, end in zip(chunks.blocks, starts[:-1], starts[1:], strict=True):
            here = rows[(rows >= first) & (rows < end)] - first
            if len(here):
                tasks.append(cluster.task("held-out-sample", sample_held, block, shared, here))
        found = cluster.compute(tasks)
        held, target, s = (np.concatenate([part[at][0] for part in found]) for at in range(3))
        return held, target, s


def _rows_first(values: Array) -> Array:
    return np.moveaxis(values, 1, 0)


def _decide(block: Block, Theta: Array) -> Array:
    m, k, width = Theta.shape
    with blas_threads(0):
        return np.moveaxis(block.decide(Theta.reshape(m * k, width)).reshape(-1, m, k), 1, 0)


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedMarch(ChunkedPath):
    """The squared hinge machine over C on rows in chunks.

    Each value is found from the last one by Newton's method, and is exact.
    """

    @lazy
    def _state(self) -> list[list[Point]]:
        """The points of all machines that were visited last."""
        moments = self.moments
        return [[first_point(moments, machine) for machine in range(self.problem.machines)]]

    @lazy
    def moments(self) -> Moments:
        """Of all rows: one pass."""
        return self.live.reduce("sum-moments", sum_moments)[0]

    def _walk(self, values: Array) -> Iterator[tuple[int, list[Point]]]:
        """The position of each value and the machines there, from the smallest C to the largest."""
        for position in np.argsort(values, kind="stable"):
            C = float(values[position])
            points = minimise_all(self._state[0], 1.0 / C, self._ask)
            self._state[0] = points
            self.found[C] = np.array([point.theta for point in points])
            yield int(position), points

    def _ask(self, questions: list[Any]) -> list[Any]:
        return self.live.reduce("newton-step", answer, questions)

    def violation(self, value: float) -> float:
        _, points = next(self._walk(np.array([value])))
        return max(point.step(1.0 / value)[1] for point in points)

    def _polished(self, value: float, exact: Rows) -> Array:
        def ask(questions: list[Any]) -> list[Any]:
            return exact.reduce("newton-step", answer, questions)

        _, points = next(self._walk(np.array([value])))
        found = ask([Evaluate(machine, point.theta, point.theta) for machine, point in enumerate(points)])
        points = [point.moved(point.theta, each) for point, each in zip(points, found, strict=True)]
        return np.array([point.theta for point in minimise_all(points, 1.0 / value, ask)])

    def thetas(self, values: Array) -> Iterator[tuple[int, Array]]:
        for position, points in self._walk(values):
            yield position, np.array([point.theta for point in points])

    def rules(self, values: Array, screened: bool) -> Iterator[tuple[Array, Rule]]:
        for position, points in self._walk(values):
            lam = 1.0 / float(values[position])
            yield np.array([position]), SpanRule([self._machine(point, lam, screened) for point in points])

    def _machine(self, point: Point, lam: float, screened: bool) -> Machine:
        inverse = point.factor(lam).inverse
        return Machine(point.theta, inverse, self._project(point, lam) if screened else None)

    def _project(self, point: Point, lam: float) -> Array:
        """The random projection that ``criteria.of_march`` has, whose features are centred at their weighted mean."""
        G = self.moments.G
        move = np.eye(len(G))  # from features minus their mean to features minus the centre
        move[-1, :-1] = -G[-1, :-1] / G[-1, -1]
        moved = Point(point.theta, point.loss, point.pull, move.T @ point.G @ move)
        Om = np.random.default_rng(0).normal(size=(_PROJECTIONS, len(G))) / np.sqrt(_PROJECTIONS)
        return move @ moved.factor(lam).project(Om).T

    def is_screened(self, loss: Any) -> bool:
        return self.problem.n > _MANY and loss in (error, OneVsRest(error))


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedClosedForm(ChunkedPath):
    """The least squares machine over C on rows in chunks: one decomposition, and one pass to refine any values."""

    @lazy
    def moments(self) -> Moments:
        """Of all rows: one pass."""
        return self.live.reduce("sum-moments", sum_moments)[0]

    @lazy
    def decomposition(self) -> Decomposition:
        """Of the centred moments."""
        return Decomposition.of(self.moments)

    def _solve_all(self, values: Array) -> Array:
        """theta at all values, of shape (m, k, r + 1)."""
        mu = 0.5 / values
        Theta = first_solution(self.moments, self.decomposition, mu)
        pull = self.live.reduce("sum-residuals", sum_residuals, Theta)[0]
        Theta = refined(Theta, pull, self.decomposition, mu)
        self.found.update(zip(values.tolist(), Theta, strict=True))
        return Theta

    def violation(self, value: float) -> float:
        mu, Theta = np.array([0.5 / value]), self._at(value)[None]
        g = left_of(Theta, self.live.reduce("sum-residuals", sum_residuals, Theta)[0], mu)
        delta = self.decomposition.solve(g, mu)
        return float(np.sqrt(np.maximum((g * delta).sum(axis=2), 0.0).max()))

    def _polished(self, value: float, exact: Rows) -> Array:
        mu, Theta = np.array([0.5 / value]), self._at(value)[None]
        for _ in range(_POLISHED):
            pull = exact.reduce("sum-residuals", sum_residuals, Theta)[0]
            Theta = refined(Theta, pull, self.decomposition, mu)
        return Theta[0]

    def thetas(self, values: Array) -> Iterator[tuple[int, Array]]:
        yield from enumerate(self._solve_all(values))

    def rules(self, values: Array, screened: bool) -> Iterator[tuple[Array, Rule]]:
        d = self.decomposition
        rule = Press(self._solve_all(values), d.mean, d.V, d.shrink(0.5 / values), d.weight)
        yield np.arange(len(values)), rule

    def count_doubts(self, values: Array) -> Array:
        lost = self.decomposition.rounding(0.5 / values) > _TOO_FEW_DIGITS
        return np.where(lost, self.problem.n, 0)


KINDS: dict[type[Loss], type[ChunkedPath]] = {SquaredHinge: ChunkedMarch, LeastSquares: ChunkedClosedForm}


def make_path(
    data: Data, kernel: Kernel, features: FeatureMap, centre: Array, loss: Loss, span: Any, limit: Any
) -> Any:
    """The path of one loss on chunks."""
    task = "regression" if data.classes is None else "classification"
    rows = Rows(data, Recipe(features, centre, np.float64, data.positives, data.scaler), limit)
    problem = ChunkedProblem(ChunkedGram(kernel, features, data.n), data.n, 1.0, 1.0, task, data.classes)
    kind = KINDS[type(loss)]
    path: Any = kind(problem, loss, Motion("C", {}, None), span, rows=rows, centre=centre, scaler=data.scaler)
    moments = path.moments
    residual = max(1.0 - moments.trace / moments.diag, 0.0) if moments.diag > 0 else 0.0
    gram, weight = replace(problem.gram, residual=float(residual)), float(moments.G[-1, -1])
    problem = replace(problem, gram=gram, weight=weight, share=moments.weights / weight**2)
    made = replace(path, problem=problem)
    return with_known(made, moments=moments)

"""What all paths over C on rows in chunks have: machines at any C, decision values and held-out scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from svmpath.chunked import is_chunked
from svmpath.distributed import cluster
from svmpath.distributed.blocks import Block, Moments, sum_moments
from svmpath.distributed.data import split
from svmpath.distributed.folds import FoldRule, Masks, Split, sum_fold_moments
from svmpath.distributed.leave_one_out import Held, Rule, gather_held, hold_out, sum_scores
from svmpath.distributed.rows import ChunkedRows, FoldedRows
from svmpath.exceptions import PathError
from svmpath.gram.expansion import OnFeatures
from svmpath.gram.features import FeatureMap
from svmpath.kernels import Kernel
from svmpath.lazy import lazy, with_known
from svmpath.losses import Loss
from svmpath.paths.path import Event, Path
from svmpath.row_order import KeyedRows
from svmpath.solvers.threads import blas_threads

Array = np.ndarray
Progress = Callable[[int, int], None]

MOST_NUMBERS = 10_000_000  # of one kind that are brought together: 80 MB; of more rows a random sample
_NODES_PER_DECADE = 4
_SAMPLE_SEED = 0


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

    def apply(self, X: Any, alpha: Any, w: Array) -> Array:
        """Features of new rows times w; ``alpha`` stays with the rows and is not used."""
        return self.features(X) @ w

    def expansion(self, alpha: Any, w: Array) -> OnFeatures:
        """The same as a function of X alone."""
        return OnFeatures(self.features, w)

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
    copies: ClassVar[None] = None  # rows are not merged

    @property
    def machines(self) -> int:
        """One, or one per class if there are more than two."""
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)


@dataclass(frozen=True)
class KeyedGram(ChunkedGram):
    """The same, and the keys of rows whose numbers were brought together."""

    keys: Array = field(kw_only=True)

    def contents(self) -> KeyedRows:
        """What a random order of the rows is made of."""
        return KeyedRows(self.keys)


@dataclass(frozen=True)
class GatheredProblem(ChunkedProblem):
    """The problem with the numbers of its rows brought together, or of a sample of them: n of each kind, and no rows.

    What works on held-out decision values in memory works on these.

    Attributes
    ----------
    rows : array of shape (N,)
        The numbers of these rows, in order.
    labels : array of shape (N,)
        The number of each row's class, or its target.
    s : array of shape (N,)
        Weights.
    Y : array of shape (N,) or (N, k)
        The targets of all machines.
    total : int
        The number of all rows.
    """

    rows: Array = field(kw_only=True)
    labels: Array = field(kw_only=True)
    s: Array = field(kw_only=True)
    Y: Array = field(kw_only=True)
    total: int = field(kw_only=True)

    @property
    def y(self) -> Array:
        """The targets of the first machine."""
        return self.Y if self.Y.ndim == 1 else self.Y[:, 0]

    @property
    def active(self) -> Array:
        """The rows of positive weight."""
        return np.flatnonzero(self.s > 0)

    @property
    def are_all(self) -> bool:
        """Whether these are all rows."""
        return len(self.rows) == self.total


@dataclass(frozen=True)
class FeatureMachines:
    """Several machines as functions of new rows, scaled already: f(x) = phi(x)' W + b, a column for each."""

    gram: ChunkedGram
    W: Array
    b: Array

    @classmethod
    def of(cls, Theta: Array, path: ChunkedPath) -> FeatureMachines:
        """Of the theta of machines on features minus the centre of a path."""
        return cls(path.gram, Theta[:, :-1].T, Theta[:, -1] - Theta[:, :-1] @ path.centre)

    def __call__(self, X: Any) -> Array:
        """Decision values of new rows, of shape (m, number of machines)."""
        return np.asarray(self.gram.apply(X, None, self.W) + self.b)


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
        if is_chunked(X):
            cluster.check_rows(X)
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
    rows : ChunkedRows or None
        The chunks; None for a path that was saved: it has machines only where it was asked for them before.
    found : dict
        theta of all machines, of shape (k, r + 1), at each C that was asked for.
    centre : array of shape (r,)
        What is subtracted from the features.
    scaler : StandardScaler or None
        Applied to the rows first.
    counts : dict or None
        ``passes`` of a path that was saved.

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

    rows: ChunkedRows | None = field(default=None, kw_only=True)
    found: dict[float, Array] = field(default_factory=dict, kw_only=True)
    centre: Any = field(default=None, kw_only=True)
    scaler: Any = field(default=None, kw_only=True)
    counts: dict[str, int] | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        first, last = self.span
        return (
            f"<ChunkedPath: {self.loss.name} over C from {first:.6g} to {last:.6g}; {self.problem.n} samples in "
            f"chunks, {self.gram.kernel!r}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "rows": None, "counts": self.passes}

    @property
    def live(self) -> ChunkedRows:
        """The chunks; raises an error if the path has lost them."""
        if self.rows is None:
            raise ValueError(
                "This path was saved without its rows: fit or trace again for other values of C and held-out values."
            )
        return self.rows

    @lazy
    def moments(self) -> Moments:
        """Of all rows: one pass."""
        return self.live.reduce("sum-moments", sum_moments)[0]

    @property
    def storage(self) -> str:
        """How features are kept on the workers."""
        return self.live.storage

    @property
    def passes(self) -> dict[str, int]:
        """How many passes over all rows there were, by what was computed."""
        return dict((self.counts or {}) if self.rows is None else self.rows.passes)

    @property
    def breakpoints(self) -> Array:
        """Nodes evenly spaced in the logarithm of C; both ends for least squares."""
        first, last = np.log10(self.span)
        return np.logspace(first, last, 2 + int(_NODES_PER_DECADE * abs(last - first)))

    def _events(self) -> Iterable[Event]:
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
    def _polished(self, value: float, exact: ChunkedRows) -> Array:
        """theta of all machines at a value, by a few steps from what rounded features gave."""

    def count_unreliable(self, values: Array) -> Array | None:
        """How many held-out values are lost to rounding; None if they are not counted."""
        return None

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

    def sum_scores(self, values: Array, loss: Any, margin_loss: Any, progress: Progress | None = None) -> Array:
        """Sums over all entries at each value, as :func:`sum_scores` has them, of shape (5, m)."""
        is_screened, sums = self.is_screened(loss), np.empty((5, len(values)))
        done = 0
        for at, rule in self.rules(values, is_screened):
            sums[:, at] = self.live.reduce("leave-one-out", sum_scores, rule, loss, margin_loss, is_screened)[0]
            done += len(at)
            if progress is not None:
                progress(done, len(values))
        return sums

    # --- numbers of rows, brought together ---------------------------------------------------------------------------

    @lazy
    def gathered(self) -> ChunkedPath:
        """The same path, whose problem has the numbers of the rows: of all of them, or of a random sample."""
        n, k = self.problem.n, self.problem.machines
        rows = None if n * k <= MOST_NUMBERS else self.live.data.sample(max(MOST_NUMBERS // k, 1), _SAMPLE_SEED)
        found = self.live.gather("gather-rows", numbers_of, rows=rows)
        labels, s, keys = (np.concatenate(parts) for parts in zip(*found, strict=True))
        positives, every = self.live.recipe.positives, np.arange(n) if rows is None else rows
        Y = labels if positives is None else np.where(labels[:, None] == positives, 1.0, -1.0)
        Y = Y[:, 0] if Y.ndim == 2 and k == 1 else Y
        gram = KeyedGram(self.gram.kernel, self.gram.features, len(every), self.gram.residual, keys=keys)
        known = self.problem
        problem = GatheredProblem(
            gram, len(every), known.weight, known.share, known.task, known.classes,
            rows=every, labels=labels, s=s, Y=Y, total=n,
        )  # fmt: skip
        return with_known(replace(self, problem=problem, store=self.store), moments=self.moments)

    def gather_held(self, values: Array, is_screened: bool = False) -> Iterator[tuple[Array, Held]]:
        """The positions of some values, and the held-out entries of the gathered rows there, fold by fold."""
        problem = self.gathered.problem
        rows = None if problem.are_all else problem.rows
        lengths = (
            self.live.full_lengths if rows is None else [len(here) for _, here in split(rows, self.live.full_lengths)]
        )
        starts = np.cumsum([0, *lengths[:-1]])
        for at, rule in self.rules(values, is_screened):
            parts = self.live.gather("leave-one-out", gather_held, rule, is_screened, rows=rows)
            fold = np.concatenate([part.fold for part in parts])
            order = np.argsort(fold, kind="stable")
            here = np.concatenate([start + part.rows for start, part in zip(starts, parts, strict=True)])[order]
            decisions = np.concatenate([part.decisions for part in parts], axis=1)[:, order]
            errors = None
            if is_screened:
                errors = np.concatenate([part.errors for part in parts], axis=1)[:, order]
            yield at, Held(decisions[:, :, 0] if decisions.shape[2] == 1 else decisions, here, fold[order], errors)

    def gather_decisions(self, value: float) -> Array:
        """Decision values of the gathered rows, of shape (N, k)."""
        problem = self.gathered.problem
        rows = None if problem.are_all else problem.rows
        return np.concatenate(self.live.gather("decide", _decide_some, self._at(value)[None], rows=rows))

    # --- folds -------------------------------------------------------------------------------------------------------

    @property
    def is_folded(self) -> bool:
        """Whether its machines are those without each fold."""
        return isinstance(self.rows, FoldedRows)

    def on_folds(self, folds: Split) -> ChunkedPath:
        """The machines without each fold, which are found in the same passes."""
        gathered, masks = self.gathered, Masks.of(folds, self.problem.n)
        if not gathered.problem.are_all:
            raise ValueError(
                f"Folds are drawn from the numbers of all rows together, of at most {MOST_NUMBERS} rows (times the "
                f"classes, if there are more than two), but there are {self.problem.n}: use leave-one-out, "
                "criterion='auto', or fit a sample."
            )
        folded = replace(self, rows=self.live.on_folds(masks), found={}, store=self.store)
        return with_known(folded, moments=self.moments, gathered=gathered)

    @lazy
    def parts(self) -> list[Moments]:
        """The moments of all rows; or of the rows that train each fold."""
        if not self.is_folded:
            return [self.moments]
        others = self.live.reduce("sum-moments", sum_fold_moments)
        return [self.moments.without(each) for each in others]

    def without_each_fold(self, value: float) -> tuple[FeatureMachines, Held]:
        """The machines without each fold at a value, fold by fold, and what they say of the rows of their folds."""
        ((_, held),) = self.gather_held(np.array([value]))
        return FeatureMachines.of(self._at(value), self), held

    def fold_rule(self, Theta: Array) -> FoldRule:
        """How rows are held out by machines of folds, of shape (F k, r + 1)."""
        return FoldRule(Theta.reshape(-1, self.problem.machines, Theta.shape[-1]))


def _rows_first(values: Array) -> Array:
    return np.moveaxis(values, 1, 0)


def numbers_of(block: Block, some: Array | None) -> tuple[Array, Array, Array]:
    """Target, weight and key of all rows of a chunk, or of some."""
    which: Any = slice(None) if some is None else some
    return block.target[which], block.s[which], block.keys[which]


def _decide_some(block: Block, Theta: Array, some: Array | None) -> Array:
    return np.asarray(_decide(block, Theta)[0][slice(None) if some is None else some])


def _decide(block: Block, Theta: Array) -> Array:
    m, k, width = Theta.shape
    with blas_threads(0):
        return np.moveaxis(block.matvec(Theta.reshape(m * k, width)).reshape(-1, m, k), 1, 0)

"""Choosing C and the kernel's parameters by the gradient of a held-out score.

The score of ``criteria.gradients``, L(log C, log gamma) or, with one gamma per feature, L(log C, log gamma_1, ...), is
minimised by L-BFGS within the bounds of the search. It has several minima: the descent starts from the best points of
a coarse grid, scored along paths, and from a random one near the best.

With many gammas leave-one-out itself can be fitted too well: no sample is held out from the choice of the gammas. So L
is minimised with a penalty on their spread,

    L + eta L_0 / n sum_j (z_j - mean)^2,    z_j = log(gamma_j v_j),    L_0 the score of the best single gamma,

v_j being the variance of feature j, so that the units of the features do not matter,

for eta of infinity (one gamma for all), one, a tenth and zero. Which of them is decided by folds that are held out from
the descent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import issparse
from sklearn.model_selection import KFold, StratifiedKFold

from svmpath.criteria.gradients import SMOOTHING, HeldOutScore
from svmpath.exceptions import PathError
from svmpath.gram import DenseGram
from svmpath.kernels import ARD
from svmpath.losses import Problem
from svmpath.search.choice import Choice, Scores, is_end
from svmpath.search.grid import Progress, Search
from svmpath.solvers.kernel_newton import Coefficients

Array = np.ndarray

_STARTS = 2  # of the best gammas of the grid
_AWAY = 1.0  # deviation of a random start from the best one, in logarithms
_STEPS = 60  # of L-BFGS
_ENOUGH = 1e-6  # relative change of the score at which it stops
_WALL = 10.0  # times the first score: what a machine lost to rounding counts for
_COARSE = 8  # values of C at each gamma of the grid
_ROUGHLY = 1e-4  # the same where only the best of several is looked for
_ETAS = (1.0, 0.1, 0.0)
_FOLDS = 4
_AWAY_FROM_MIDDLE = 4.0  # times the middle of the grid, beyond which that is a start of its own
_GAMMA_RANGE = (1e-6, 1e4)  # of a feature's gamma, in units of one over the number of features times its variance


@dataclass(frozen=True)
class GradientSearch:
    """Minimises the held-out score of a search's machines.

    Attributes
    ----------
    search : Search
        Its ``held_out`` loss must be smooth, and its problems share a kernel matrix held whole.
    gammas : array of shape (m,)
        Values of gamma to start from; their range is searched. Empty where the kernel stays as it is.
    seed : int
        For the random starts and the folds.
    smoothing : float
        Of the span prediction; see :func:`svmpath.criteria.gradient`.
    """

    search: Search
    gammas: Array
    seed: int = 0
    smoothing: float = SMOOTHING

    def single(self, n_jobs: int | None = None, progress: Progress | None = None) -> Choice:
        """The best C and gamma."""
        steps = _Steps(progress, 1 + _STARTS + 1)
        return self._choice(*self._single(n_jobs, steps))

    def ard(self, n_jobs: int | None = None, progress: Progress | None = None) -> Choice:
        """The best C and gammas, one per feature."""
        steps = _Steps(progress, 1 + _STARTS + 1 + _FOLDS + 1)
        chart, x, tried = self._single(n_jobs, steps)
        problems = self.search.problems
        C, gamma = chart.C(x), float(np.exp(x[-1]))
        wide = Features(self._span, C, column_variances(problems[0].gram.X), gamma)
        first = wide.point(C, np.full(len(wide.variances), gamma))
        base = self._score(problems)(chart.gram(x, problems), C)[0].score
        penalty = _Penalty(base, len(problems[0].active), wide)
        start = self._screened(wide, [first, *self._others(wide, C, gamma, tried)], penalty)
        eta = self._eta(wide, first, start, penalty, steps)
        if eta < np.inf:
            pair = (start, wide.perturbed(start, np.random.default_rng(self.seed)))
            ends = [self._down(wide, each, penalty.times(eta), problems) for each in pair]
            found = [end for end in ends if end is not None]
            first = min(found, key=lambda end: end.score).x if found else first
        steps.end()
        return self._choice(wide, first, tried)

    def _screened(self, wide: Features, starts: list[Array], penalty: _Penalty) -> Array:
        """The start from which a middling penalty leads lowest."""
        if len(starts) == 1:
            return starts[0]
        middling = penalty.times(_ETAS[len(_ETAS) // 2])
        ends = [self._down(wide, start, middling, self.search.problems, _ROUGHLY) for start in starts]
        scores = [np.inf if end is None else end.score for end in ends]
        return starts[int(np.argmin(scores))]

    def _others(self, wide: Features, C: float, gamma: float, tried: Mapping[float, Scores]) -> list[Array]:
        """Starts beside the best single gamma.

        A very small one makes a linear machine, which hardly feels its gammas: then also the middle of the grid. And
        where columns have other scales, gammas that undo this.
        """
        middle = sorted(tried)[len(tried) // 2]
        scores = tried[middle]
        pairs = [(C, gamma)]
        if abs(np.log(middle / gamma)) > np.log(_AWAY_FROM_MIDDLE):
            pairs.append((float(scores.values[np.argmin(scores.scores)]), middle))
        even = wide.even
        starts = [wide.point(C, g * np.ones(len(even))) for C, g in pairs[1:]]
        return starts if np.allclose(even, 1.0) else [*starts, *(wide.point(C, g * even) for C, g in pairs)]

    # --- one gamma ---------------------------------------------------------------------------------------------------

    @property
    def _span(self) -> tuple[float, float]:
        return float(self.search.C.min()), float(self.search.C.max())

    def _single(self, n_jobs: int | None, steps: _Steps) -> tuple[_Chart, Array, dict[float, Scores]]:
        """Where the descents from the best of a coarse grid end lowest, and the grid."""
        chart = Single(self._span, float(self.search.C[0]), self.search.over, self.gammas)
        C = np.geomspace(*self._span, min(_COARSE, len(self.search.C)))
        coarse = replace(self.search, C=C).grid(self.gammas, n_jobs)
        steps.done()
        tried = coarse.tried or {float("nan"): Scores.of(coarse.curve)}
        order = sorted(tried, key=lambda gamma: float(tried[gamma].scores.min()))
        starts = [chart.point(tried[gamma].values[np.argmin(tried[gamma].scores)], gamma) for gamma in order[:_STARTS]]
        starts.append(chart.perturbed(starts[0], np.random.default_rng(self.seed)))
        ends = []
        for start in starts:
            ends.append(_descend(self._terrain(chart, self.search.problems), start, chart.bounds))
            steps.done()
        found = [end for end in ends if end is not None]
        if not found:
            raise PathError(
                "The gradient search found no starting point that can be resolved in double precision: scale the "
                "columns (StandardScaler), or search smaller C."
            )
        return chart, min(found, key=lambda end: end.score).x, dict(coarse.tried)

    # --- one gamma per feature -------------------------------------------------------------------------------------

    def _eta(self, wide: Features, first: Array, start: Array, penalty: _Penalty, steps: _Steps) -> float:
        """The penalty, by folds that are held out from the descent; infinity is one gamma for all."""
        problems = self.search.problems
        folds = _folds(problems, self.seed)
        losses = np.zeros((len(folds), 1 + len(_ETAS)))
        for row, (train, test) in zip(losses, folds, strict=True):
            part = [_take(problem, train) for problem in problems]
            ends = [self._down(wide, start, penalty.times(eta), part, _ROUGHLY) for eta in _ETAS]
            points = [first, *(None if end is None else end.x for end in ends)]
            row[:] = [self._error(wide, x, part, test) for x in points]
            steps.done()
        weight = np.array([problems[0].s[test].sum() for _, test in folds])
        return (np.inf, *_ETAS)[int(np.argmin(weight @ losses))] if len(folds) else np.inf

    def _down(
        self, wide: Features, x: Array, penalty: _Penalty, problems: Sequence[Problem], enough: float = _ENOUGH
    ) -> _End | None:
        """The minimum of the penalised score from x."""
        return _descend(self._terrain(wide, problems, penalty), x, wide.bounds, enough)

    def _error(self, wide: Features, x: Array | None, problems: Sequence[Problem], test: Array) -> float:
        """The mean loss on rows that had no part in the choice of x."""
        if x is None:
            return np.inf
        gram, whole, score = wide.gram(x, problems), self.search.problems, self._score(problems)
        try:
            machines = score.machines(gram, wide.C(x))
        except PathError:
            return np.inf
        K, s = gram.cross(whole[0].gram.X[test]), whole[0].s[test]
        pairs = zip(whole, machines, strict=True)
        losses = [s @ score.loss(each.y[test], K @ u + b) / s.sum() for each, (u, b) in pairs]
        return float(np.mean(losses))

    # --- parts -------------------------------------------------------------------------------------------------------

    def _score(self, problems: Sequence[Problem]) -> HeldOutScore:
        return HeldOutScore.of(problems, self.search.loss, self.search.held_out, self.smoothing)

    def _terrain(self, chart: _Chart, problems: Sequence[Problem], penalty: Any = None) -> _Terrain:
        return _Terrain(self._score(problems), chart, problems, penalty)

    def _choice(self, chart: _Chart, x: Array, tried: dict[float, Scores]) -> Choice:
        """The end of the descent, on the curve over C of its kernel."""
        problems, C = self.search.problems, chart.C(x)
        values = np.unique(np.append(self.search.C, C))
        curve = self.search.on(chart.gram(x, problems), values)
        edges = ("C",) if is_end(self.search.C, C) else ()
        if isinstance(chart, Single) and chart.over is not None and is_end(self.gammas, float(np.exp(x[-1]))):
            edges = (*edges, chart.over)
        return Choice(curve, int(np.searchsorted(values, C)), self.search.rule, tried, edges)


# --- from numbers to machines and back -------------------------------------------------------------------------------


class _Chart(ABC):
    """What the coordinates x of a descent stand for: log C, unless it is fixed, and logarithms of gammas."""

    span: tuple[float, float]
    fixed: float

    @property
    def is_free(self) -> bool:
        """Whether C is searched."""
        return self.span[0] < self.span[1]

    def C(self, x: Array) -> float:
        """The value of C, inside its span in spite of rounding."""
        return float(np.clip(np.exp(x[0]), *self.span)) if self.is_free else self.fixed

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of the coordinates."""
        first = [tuple(np.log(self.span).tolist())] if self.is_free else []
        return [*first, *self.gamma_bounds]

    def perturbed(self, x: Array, rng: np.random.Generator) -> Array:
        """A random point near x."""
        low, high = np.array(self.bounds).reshape(-1, 2).T
        return np.clip(x + _AWAY * rng.normal(size=len(x)), low, high)

    def point(self, C: float, gamma: Any) -> Array:
        """The coordinates of C and gamma."""
        first = [np.log(C)] if self.is_free else []
        return np.append(first, self._logs(gamma))

    @property
    @abstractmethod
    def gamma_bounds(self) -> list[tuple[float, float]]:
        """Of the logarithms of the gammas."""

    @abstractmethod
    def _logs(self, gamma: Any) -> Array: ...

    @abstractmethod
    def gram(self, x: Array, problems: Sequence[Problem]) -> DenseGram:
        """The Gram matrix at x."""

    @abstractmethod
    def slope(self, by: Any) -> Array:
        """The gradient by the coordinates."""


@dataclass(frozen=True)
class Single(_Chart):
    """C, and one parameter of the kernel or none."""

    span: tuple[float, float]
    fixed: float
    over: str | None
    gammas: Array

    @property
    def gamma_bounds(self) -> list[tuple[float, float]]:
        return [] if self.over is None else [(float(np.log(self.gammas.min())), float(np.log(self.gammas.max())))]

    def _logs(self, gamma: Any) -> Array:
        return np.empty(0) if self.over is None else np.array([np.log(gamma)])

    def gram(self, x: Array, problems: Sequence[Problem]) -> DenseGram:
        gram = problems[0].gram
        assert isinstance(gram, DenseGram)
        return gram if self.over is None else gram.at(self.over, float(np.exp(x[-1])))

    def slope(self, by: Any) -> Array:
        names = ["C"] if self.is_free else []
        return np.array([by[name] for name in ([*names, self.over] if self.over is not None else names)])


@dataclass(frozen=True)
class Features(_Chart):
    """C, and a gamma for every column that is not constant; the others' is zero."""

    span: tuple[float, float]
    fixed: float
    variances: Array
    single: float  # a gamma that every column may have

    @property
    def columns(self) -> Array:
        """Those that are not constant."""
        return np.flatnonzero(self.variances > 0)

    @property
    def even(self) -> Array:
        """Factors that make up for the columns' variances."""
        factors, columns = np.ones(len(self.variances)), self.columns
        factors[columns] = self.variances.sum() / (len(columns) or 1) / self.variances[columns]
        return factors

    @property
    def gamma_bounds(self) -> list[tuple[float, float]]:
        unit = 1.0 / (len(self.variances) * self.variances[self.columns])
        low, high = np.minimum(_GAMMA_RANGE[0] * unit, self.single), np.maximum(_GAMMA_RANGE[1] * unit, self.single)
        low, high = np.log(low), np.log(high)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _logs(self, gamma: Any) -> Array:
        low, high = np.array(self.gamma_bounds).reshape(-1, 2).T
        return np.clip(np.log(gamma[self.columns]), low, high)

    def gammas(self, x: Array) -> Array:
        """One per column."""
        gamma = np.zeros(len(self.variances))
        gamma[self.columns] = np.exp(x[int(self.is_free) :])
        return gamma

    def gram(self, x: Array, problems: Sequence[Problem]) -> DenseGram:
        return DenseGram(ARD(self.gammas(x)), problems[0].gram.X)

    def slope(self, by: Any) -> Array:
        names = ["C"] if self.is_free else []
        return np.array([by[name] for name in [*names, *(f"gamma[{j}]" for j in self.columns)]])


@dataclass(frozen=True)
class _Penalty:
    """eta L_0 / n times the sum of squared deviations of log(gamma_j v_j) from their mean."""

    base: float
    n: int
    chart: Features
    eta: float = 0.0

    def times(self, eta: float) -> _Penalty:
        return replace(self, eta=eta)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Its value and gradient."""
        first = int(self.chart.is_free)
        z = x[first:] + np.log(self.chart.variances[self.chart.columns])
        away = z - z.sum() / max(len(z), 1)
        rate = self.eta * self.base / self.n
        return float(rate * (away @ away)), np.append(np.zeros(first), 2.0 * rate * away)


class _Terrain:
    """The score as a function of the coordinates; it begins each machine from the last one found."""

    def __init__(self, score: HeldOutScore, chart: _Chart, problems: Sequence[Problem], penalty: Any = None) -> None:
        self._score, self._chart, self._problems, self._penalty = score, chart, problems, penalty
        self._machines: list[Coefficients] = []

    def __call__(self, x: Array) -> tuple[float, Array]:
        chart = self._chart
        gram = chart.gram(x, self._problems)
        found, self._machines = self._score(gram, chart.C(x), self._machines)
        slope = chart.slope(found.by)
        if self._penalty is None:
            return found.score, slope
        more, by = self._penalty(x)
        return found.score + more, slope + by


@dataclass(frozen=True)
class _End:
    """Where a descent ended."""

    x: Array
    score: float


def _descend(
    terrain: Callable[[Array], tuple[float, Array]], start: Array, bounds: list[Any], enough: float = _ENOUGH
) -> _End | None:
    """The lowest point that L-BFGS finds from a start; None where the start itself is lost to rounding."""
    try:
        first, _ = terrain(start)
    except PathError:
        return None
    if len(start) == 0 or not first > 0.0:
        return _End(start, first)
    best = [_End(start, first)]

    def relative(x: Array) -> tuple[float, Array]:
        # L-BFGS measures change against one: scores of targets in any unit are brought there.
        try:
            score, slope = terrain(x)
        except PathError:
            return _WALL, np.zeros(len(x))
        if score < best[0].score:
            best[0] = _End(x.copy(), score)
        return score / first, slope / first

    options = {"maxiter": _STEPS, "ftol": enough, "gtol": 1e-6}
    minimize(relative, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return best[0]


def _take(problem: Problem, rows: Array) -> Problem:
    """The problem of some rows, with their own data."""
    gram = problem.gram
    assert isinstance(gram, DenseGram)
    return replace(
        problem, gram=DenseGram(gram.kernel, gram.X[rows]), y=problem.y[rows], s=problem.s[rows], copies=None
    )


def _folds(problems: Sequence[Problem], seed: int) -> list[tuple[Array, Array]]:
    """Folds of the rows that have weight, with all classes in each training part; none where there are too few rows."""
    active, y = problems[0].active, np.stack([problem.y for problem in problems], axis=1)
    if problems[0].task == "regression":
        parts = KFold(_FOLDS, shuffle=True, random_state=seed).split(active) if len(active) >= 2 * _FOLDS else []
    else:
        labels = np.unique(y[active], axis=0, return_inverse=True)[1].ravel()
        count = min(_FOLDS, int(np.bincount(labels).min()))
        parts = StratifiedKFold(count, shuffle=True, random_state=seed).split(active, labels) if count > 1 else []
    return [(active[train], active[test]) for train, test in parts]


def column_variances(X: Any) -> Array:
    """Of each column; a variance that is rounding is zero."""
    if issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        spread = square - mean**2
    else:
        mean, spread = X.mean(axis=0), X.var(axis=0)
        square = spread + mean**2
    return np.where(spread > 1e-14 * square, spread, 0.0)


class _Steps:
    """Reports the progress."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._count = progress, total, 0

    def done(self) -> None:
        self._count += 1
        if self._progress is not None:
            self._progress(min(self._count, self._total), self._total)

    def end(self) -> None:
        """All is done, also where there was less to do than might have been."""
        self._count = self._total - 1
        self.done()

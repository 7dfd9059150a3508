"""Choosing C and the kernel's parameters by the gradient of a held-out score.

The score of ``criteria.gradients``, L(log C, log gamma) or, with one gamma per feature, L(log C, log gamma_1, ...), is
minimised by L-BFGS within the bounds of the search. It has several minima: a screen of many pairs (``search.screen``)
says where the descent starts. Each machine of a descent starts from the last one.

With many gammas leave-one-out itself can be fitted too well: no sample is held out from the choice of the gammas. So L
is minimised with a penalty on their spread,

    L + eta L_0 / n sum_j (z_j - mean)^2,    z_j = log(gamma_j v_j),    L_0 the score of the best single gamma,

v_j being the variance of feature j, so that the units of the features do not matter,

for eta of infinity (one gamma for all), one, a tenth and zero, each descent from the end of the one before. Which of
them is decided by folds that are held out from the descent.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import diags_array, issparse

from svmpath.criteria.folds import random_folds
from svmpath.criteria.gradients import SMOOTHING, HeldOutScore
from svmpath.exceptions import PathError
from svmpath.gram import DenseGram
from svmpath.kernels import ARD
from svmpath.losses import Problem
from svmpath.progress import best_so_far
from svmpath.search.axis import Axis
from svmpath.search.choice import Choice, Scores, Stage, is_end, lowest
from svmpath.search.log import NO_GAMMA, pair_text
from svmpath.search.screen import Screen
from svmpath.search.tuner import Tuned, Tuner
from svmpath.solvers.kernel_newton import Coefficients
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import count_jobs

Array = np.ndarray

_STARTS = 2  # valleys of the screen from which a descent starts
_SMALLER_C = (1.0, 4.0, 16.0, 64.0)  # by which C is divided to find the best one at the gamma of a start
_FEW = 100  # samples up to which the score is rough, and the next best gamma and a random point are starts as well
_AWAY = 1.0  # deviation of a random start from the best one, in logarithms
_STEPS = 60  # of L-BFGS
_CLOSE_ENOUGH = 1e-5  # relative change of the score at which it stops
_ROUGHLY = 1e-4  # the same where only the best of several is looked for
_STEEP = 8.0  # times the relative score: what is minimised, with a curvature of about one near a minimum
_WALL = 10.0  # times the first score: what a machine lost to rounding counts for
_BESIDE = 2  # values of C on either side of the choice, on its curve
_ETAS = (1.0, 0.1, 0.0)
_FOLDS = 4
_HOPELESS = 1.02  # times the lowest loss on the folds, beyond which no smaller penalty is tried
_AWAY_FROM_MIDDLE = 4.0  # times the middle of the screen, beyond which that is a start of its own
_UNEVEN = 4.0  # ratio of the columns' variances beyond which gammas that make up for them are a start of their own
_GAMMA_RANGE = (1e-6, 1e4)  # of a feature's gamma, in units of one over the number of features times its variance


def follow_gradient(tuner: Tuner) -> Tuned:
    """The best C and gamma.

    The evaluator's ``held_out`` loss must be smooth, and its problems share a kernel matrix held whole. Any value
    within the limits of C and gamma, or between the first and the last of a list, may be chosen.
    """
    return Descents(tuner).single()


def follow_gradients_of_features(tuner: Tuner) -> Tuned:
    """The best C and gammas, one per feature."""
    return Descents(tuner).ard()


class Descents:
    """Minimises the held-out score of a tuner's machines."""

    def __init__(self, tuner: Tuner) -> None:
        self.tuner, self.evaluator, self.deadline = tuner, tuner.evaluator, tuner.deadline
        self.problems = tuner.evaluator.problems

    def single(self) -> Tuned:
        """The best C and gamma."""
        self.tuner.log.begin("gradient", 1 + _STARTS)
        ground, end, _ = self._one_gamma()
        return self._result(ground, end)

    def ard(self) -> Tuned:
        """The best C and gammas, one per feature."""
        self.tuner.log.begin("gradient", 1 + _STARTS + 1 + len(_ETAS) + 1)
        one, best, screen = self._one_gamma()
        problem, C, gamma = self.problems[0], one.chart.C(best.x), float(np.exp(best.x[-1]))
        wide = Features(one.chart.span, C, column_variances(problem.gram.X[problem.active]), gamma)
        ground, start = self._ground(wide, self.problems), time.perf_counter()
        first = replace(best, x=wide.point(C, np.full(len(wide.variances), gamma)))
        ground.visits.append((first.x, first.score))
        penalty = _Penalty(best.score, len(problem.active), wide)
        begin = self._best_start(ground, [first, *self._other_starts(wide, gamma, screen)], penalty)
        eta = self._eta(first, begin, penalty)
        # Each descent begins at the end of that with the next larger penalty.
        end: _End | None = None
        for each in (each for each in _ETAS if each >= eta):
            if not self.deadline.is_over():
                enough = _CLOSE_ENOUGH if each == eta else _ROUGHLY
                end = self._down(ground, end or begin, penalty.times(each), enough) or end
        end = end or first
        if eta == 0.0 and not self.deadline.is_over():  # without a penalty there are several minima
            away = replace(begin, x=wide.perturbed(begin.x, np.random.default_rng(self.tuner.seed)))
            end = _best([end, self._down(ground, away) or end])
        self._enter("ard", ground, end, time.perf_counter() - start)
        return self._result(ground, end)

    # --- one gamma ---------------------------------------------------------------------------------------------------

    def _one_gamma(self) -> tuple[_Ground, _End, Screen]:
        """Where the descents from the best pairs of a screen end lowest, and the screen."""
        tuner = self.tuner
        gammas = np.empty(0) if tuner.gamma is None else np.array(_limits(tuner.gamma))
        chart, screen = Single(_limits(tuner.C), float(tuner.C.values[0]), tuner.over, gammas), self._screen()
        screen.enter("screen", tuner.log)
        self.tuner.log.part_done()
        start, ground = time.perf_counter(), self._ground(chart, self.problems)
        valleys = screen.valleys()[:_STARTS]
        others = [gamma for gamma in screen.best() if gamma not in valleys]  # if those cannot be resolved
        starts = [chart.point(screen.tried[gamma].best, gamma) for gamma in [*valleys, *others]]
        enough, ends = len(valleys), list[_End]()
        if len(self.problems[0].active) <= _FEW:
            starts.insert(enough, chart.perturbed(starts[0], np.random.default_rng(tuner.seed)))
            enough += 2
        for k, x in enumerate(starts):
            if ends and (k >= enough or self.deadline.is_over()):
                break
            end = self._down(ground, self._with_best_C(ground, x))
            if end is not None:
                ends.append(end)
                self.tuner.log.part_done()
        if not ends:
            raise PathError(
                "The gradient search found no starting point that can be resolved in double precision: scale the "
                "columns (StandardScaler), or search smaller C."
            )
        best = _best(ends)
        self._enter("gradient", ground, best, time.perf_counter() - start)
        return ground, best, screen

    def _with_best_C(self, ground: _Ground, x: Array) -> _End:
        """The start with the C, or a smaller one, at which the score is lowest.

        The screen scores least squares, to which a large C does less harm than to other losses.
        """
        is_same_loss = self.evaluator.loss.is_linear
        tried = [_End(x)]
        for factor in _SMALLER_C if ground.chart.is_free and not is_same_loss else ():
            nearer = x - np.eye(len(x))[0] * np.log(factor)
            with suppress(PathError):
                if nearer[0] >= ground.chart.bounds[0][0] and not self.deadline.is_over():
                    tried.append(ground(nearer, tried[-1].machines)[0])
        return _best(tried)

    def _screen(self, factors: Array | None = None) -> Screen:
        """Least squares on landmarks at many pairs; with squared distances that are sums with these factors."""
        tuner, problems = self.tuner, self.problems
        if factors is not None:
            X, root = tuner.gram.X, np.sqrt(factors)
            gram = DenseGram(tuner.gram.kernel, X @ diags_array(root) if issparse(X) else X * root)
            problems = self.evaluator.on(gram).problems
        screen = Screen(problems, tuner.C.values, tuner.over, tuner.seed)
        screen.look(tuner.gamma, tuner.n_jobs, self.deadline)
        return screen

    # --- one gamma per feature -------------------------------------------------------------------------------------

    def _other_starts(self, wide: Features, gamma: float, screen: Screen) -> list[_End]:
        """Starts beside the best single gamma.

        A very small one makes a linear machine, which hardly feels its gammas: then also the middle of the screen. And
        where columns have other scales, the best pairs after gammas that undo this.
        """
        axis = self.tuner.gamma
        assert axis is not None
        middle = float(axis.values[len(axis.values) // 2])

        def from_middle(gamma: float, screen: Screen) -> list[tuple[float, float]]:
            is_far = abs(np.log(middle / gamma)) > np.log(_AWAY_FROM_MIDDLE)
            return [(screen.best_C(middle), middle)] if is_far else []

        even, ones = wide.even, np.ones(len(wide.variances))
        starts = [wide.point(C, each * ones) for C, each in from_middle(gamma, screen)]
        if even.max() > _UNEVEN * even.min():
            screen = self._screen(even)
            best = screen.best()[0]
            pairs = [(screen.best_C(best), best), *from_middle(best, screen)]
            starts += [wide.point(C, each * even) for C, each in pairs]
        return [_End(x) for x in starts]

    def _best_start(self, ground: _Ground, starts: list[_End], penalty: _Penalty) -> _End:
        """The start from which a middling penalty leads lowest."""
        if len(starts) == 1:
            return starts[0]
        middling = penalty.times(_ETAS[len(_ETAS) // 2])
        ends = [None if self.deadline.is_over() else self._down(ground, start, middling, _ROUGHLY) for start in starts]
        scores = [np.inf if end is None else end.score for end in ends]
        return starts[int(lowest(np.array(scores))[0])]

    def _eta(self, first: _End, begin: _End, penalty: _Penalty) -> float:
        """The penalty, by folds that are held out from the descent; infinity is one gamma for all.

        Smaller and smaller ones are tried, until the loss on the folds is clearly above the lowest.
        """
        problems, start = self.problems, time.perf_counter()
        folds = []
        for train, test in _folds(problems, self.tuner.seed):
            ground = self._ground(penalty.chart, [_subset(problem, train) for problem in problems])
            folds.append(_Fold(ground, test, first.among(train), begin.among(train)))
        weight, mean = np.array([problems[0].s[fold.test].sum() for fold in folds]), {np.inf: 0.0}
        for eta in (np.inf, *_ETAS) if folds else ():
            held_out = partial(self._held_out, penalty=penalty.times(eta))
            losses = side_by_side(held_out, folds, count_jobs(self.tuner.n_jobs))
            if self.deadline.is_over():  # what was cut short is no measure
                break
            mean[eta] = float(weight @ losses / weight.sum())
            self.tuner.log.part_done()
            if mean[eta] > _HOPELESS * min(mean.values()):
                break
        eta = list(mean)[lowest(np.array(list(mean.values())))[0]]
        seconds, n = time.perf_counter() - start, problems[0].n
        tried = {each: _scores([each], [loss]) for each, loss in mean.items()}
        stage = Stage("penalty", self.evaluator.loss.name, "kfold", n, tried, seconds)
        sentence = f"penalty: {len(mean)} values of eta on {len(folds)} folds: best {eta:g} ({seconds:.2f} s)"
        self.tuner.log.enter([stage], sentence)
        return eta

    def _held_out(self, fold: _Fold, penalty: _Penalty) -> float:
        """The mean loss on rows that had no part in a descent with this penalty, nor in the machine."""
        if penalty.eta < np.inf:
            end = self._down(fold.ground, fold.now, penalty, _ROUGHLY)
            if end is None:
                return np.inf
            fold.now = end
        end, score, chart = fold.now if penalty.eta < np.inf else fold.first, fold.ground.score, fold.ground.chart
        gram = chart.gram(end.x, fold.ground.problems)
        try:
            machines = score.machines(gram, chart.C(end.x), end.machines)
        except PathError:
            return np.inf
        K, s = gram.cross(self.problems[0].gram.X[fold.test]), self.problems[0].s[fold.test]
        pairs = zip(self.problems, machines, strict=True)
        return float(np.mean([s @ score.loss(each.y[fold.test], K @ u + b) / s.sum() for each, (u, b) in pairs]))

    # --- parts -------------------------------------------------------------------------------------------------------

    def _ground(self, chart: _Chart, problems: Sequence[Problem]) -> _Ground:
        score = HeldOutScore.of(problems, self.evaluator.loss, self.evaluator.held_out, SMOOTHING)
        return _Ground(score, chart, problems)

    def _down(
        self, ground: _Ground, start: _End, penalty: _Penalty | None = None, enough: float = _CLOSE_ENOUGH
    ) -> _End | None:
        """The lowest score that L-BFGS finds from a start, with a penalty or without.

        None where the start itself is lost to rounding.
        """

        def visit(x: Array, machines: Sequence[Coefficients]) -> tuple[_End, Array]:
            end, slope = ground(x, machines)
            more, by = (0.0, 0.0) if penalty is None else penalty(x)
            return replace(end, score=end.score + more), slope + by

        try:
            first, slope = visit(start.x, start.machines)
        except PathError:
            return None
        if len(start.x) == 0 or not first.score > 0.0:
            return first
        known: dict[bytes, tuple[_End, Array] | None] = {start.x.tobytes(): (first, slope)}
        best = last = first
        # With two bounds for every coordinate the first step of L-BFGS is the gradient itself, however long.
        length = float(np.linalg.norm(_STEEP * slope / first.score))
        flatter = 1.0 / max(1.0, length / ground.chart.longest)
        scale = flatter * _STEEP / first.score

        def relative(x: Array) -> tuple[float, Array]:
            # L-BFGS measures change against one: scores of targets in any unit are brought there.
            nonlocal best, last
            if self.deadline.is_over():
                raise _Late
            try:
                last, slope = known.pop(x.tobytes(), None) or visit(x, last.machines)
            except PathError:
                return _WALL * scale * first.score, np.zeros(len(x))
            best = last if last.score < best.score else best
            return scale * last.score, scale * slope

        options = {"maxiter": _STEPS, "ftol": flatter * enough, "gtol": 1e-6 * flatter * _STEEP}
        with suppress(_Late):
            minimize(relative, start.x, jac=True, method="L-BFGS-B", bounds=ground.chart.bounds, options=options)
        return best

    def _enter(self, name: str, ground: _Ground, end: _End, seconds: float) -> None:
        """Enter a stage in the log."""
        n, (tried, gammas) = self.tuner.n, ground.chart.tried(ground.visits)
        best = f"{ground.chart.text(end.x)}, score {end.score:.4g}"
        best_so_far(best)
        stage = Stage(name, self.evaluator.loss.name, ground.score.name, n, tried, seconds, gammas)
        self.tuner.log.add(stage, n, best, points=len(ground.visits))

    def _result(self, ground: _Ground, end: _End) -> Tuned:
        """The end of the descent, on the curve over C of its kernel."""
        self.tuner.log.part_done(is_last=True)  # also where there was less to do than might have been
        tuner, chart, C = self.tuner, ground.chart, ground.chart.C(end.x)
        values = replace(tuner.C, limits=chart.span).around(C, _BESIDE)  # also where only a list was screened
        starts = [machine.f for machine in end.machines] or None
        paths = self.evaluator.paths(chart.gram(end.x, ground.problems), chart.span, None, starts)
        edges = ("C",) if is_end(np.array(chart.span), C) else ()
        if isinstance(chart, Single) and chart.over is not None and is_end(chart.gammas, float(np.exp(end.x[-1]))):
            edges = (*edges, chart.over)
        stages = tuple(tuner.log.stages)
        tried, at = stages[1].tried if tuner.gamma is not None else {}, int(np.argmin(np.abs(values - C)))
        choice = Choice(self.evaluator.curve(paths, values), at, self.evaluator.rule, tried, edges, stages)
        return Tuned(choice, self.evaluator, paths)


def _limits(axis: Axis) -> tuple[float, float]:
    """Between which values a descent may go."""
    return (float(axis.values.min()), float(axis.values.max())) if axis.limits is None else axis.limits


def _scores(values: Sequence[float], scores: Sequence[float]) -> Scores:
    """Scores without more."""
    unknown = np.full(len(values), np.nan)
    return Scores(np.array(values), np.array(scores), unknown, unknown)


# --- from numbers to machines and back -------------------------------------------------------------------------------


class _Chart(ABC):
    """What the coordinates x of a descent stand for: log C, unless it is fixed, and logarithms of gammas.

    Attributes
    ----------
    gamma_names : list of str
        The kernel's names of the gammas.
    gamma_bounds : list of pairs
        Of their logarithms.
    longest : float
        The longest first step of a descent.
    """

    span: tuple[float, float]
    fixed: float
    gamma_names: list[str]
    gamma_bounds: list[tuple[float, float]]
    longest: float

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
        return [*([tuple(np.log(self.span).tolist())] if self.is_free else []), *self.gamma_bounds]

    def perturbed(self, x: Array, rng: np.random.Generator) -> Array:
        """A random point near x."""
        low, high = np.array(self.bounds).reshape(-1, 2).T
        return np.clip(x + _AWAY * rng.normal(size=len(x)), low, high)

    def slope(self, by: Any) -> Array:
        """The gradient by the coordinates."""
        return np.array([by[name] for name in [*(["C"] if self.is_free else []), *self.gamma_names]])

    @abstractmethod
    def point(self, C: float, gamma: Any) -> Array:
        """The coordinates of C and gamma."""

    @abstractmethod
    def gram(self, x: Array, problems: Sequence[Problem]) -> DenseGram:
        """The Gram matrix at x."""

    @abstractmethod
    def text(self, x: Array) -> str:
        """The point in words."""

    @abstractmethod
    def tried(self, visits: Sequence[tuple[Array, float]]) -> tuple[dict[float, Scores], Array | None]:
        """The scores at the points visited, and their gammas, as a stage keeps them."""


class Single(_Chart):
    """C, and one parameter of the kernel or none."""

    # A longer first step could leave the valley that the screen has found, where the score is steep.
    longest = 1.0

    def __init__(self, span: tuple[float, float], fixed: float, over: str | None, gammas: Array) -> None:
        self.span, self.fixed, self.over, self.gammas = span, fixed, over, gammas
        self.gamma_names = [] if over is None else [over]
        self.gamma_bounds = [] if over is None else [(float(np.log(gammas.min())), float(np.log(gammas.max())))]

    def point(self, C: float, gamma: Any) -> Array:
        logs = ([np.log(C)] if self.is_free else []) + ([] if self.over is None else [np.log(gamma)])
        return np.array(logs, dtype=float)

    def gram(self, x: Array, problems: Sequence[Problem]) -> DenseGram:
        gram = problems[0].gram
        assert isinstance(gram, DenseGram)
        return gram if self.over is None else gram.at(self.over, float(np.exp(x[-1])))

    def _gamma(self, x: Array) -> float:
        return NO_GAMMA if self.over is None else float(np.exp(x[-1]))

    def text(self, x: Array) -> str:
        return pair_text(self._gamma(x), self.C(x))

    def tried(self, visits: Sequence[tuple[Array, float]]) -> tuple[dict[float, Scores], None]:
        scores: dict[float, dict[float, float]] = {}
        for x, score in visits:
            scores.setdefault(self._gamma(x), {})[self.C(x)] = score
        return {gamma: _scores(list(each), list(each.values())) for gamma, each in scores.items()}, None


class Features(_Chart):
    """C, and a gamma for every column that is not constant; the others' is zero."""

    longest = np.inf

    def __init__(self, span: tuple[float, float], fixed: float, variances: Array, single: float) -> None:
        """``single`` is a gamma that every column may have."""
        self.span, self.fixed, self.variances = span, fixed, variances
        self.columns = np.flatnonzero(variances > 0)
        self.gamma_names = [f"gamma[{j}]" for j in self.columns]
        unit = 1.0 / (len(variances) * variances[self.columns])
        low, high = np.minimum(_GAMMA_RANGE[0] * unit, single), np.maximum(_GAMMA_RANGE[1] * unit, single)
        self.gamma_bounds = list(zip(np.log(low).tolist(), np.log(high).tolist(), strict=True))

    @property
    def even(self) -> Array:
        """Factors that make up for the columns' variances."""
        factors, columns = np.ones(len(self.variances)), self.columns
        factors[columns] = self.variances.sum() / (len(columns) or 1) / self.variances[columns]
        return factors

    def point(self, C: float, gamma: Any) -> Array:
        low, high = np.array(self.gamma_bounds).reshape(-1, 2).T
        return np.append([np.log(C)] if self.is_free else [], np.clip(np.log(gamma[self.columns]), low, high))

    def gammas(self, x: Array) -> Array:
        """One per column."""
        gamma = np.zeros(len(self.variances))
        gamma[self.columns] = np.exp(x[int(self.is_free) :])
        return gamma

    def gram(self, x: Array, problems: Sequence[Problem]) -> DenseGram:
        gram = problems[0].gram
        assert isinstance(gram, DenseGram)
        return gram.with_kernel(ARD(self.gammas(x)))

    def text(self, x: Array) -> str:
        gammas = self.gammas(x)
        return f"gammas from {gammas.min():.3g} to {gammas.max():.3g}, C = {self.C(x):.3g}"

    def tried(self, visits: Sequence[tuple[Array, float]]) -> tuple[dict[float, Scores], Array]:
        scores = {float(k): _scores([self.C(x)], [score]) for k, (x, score) in enumerate(visits)}
        return scores, np.array([self.gammas(x) for x, _ in visits]).reshape(len(visits), len(self.variances))


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


@dataclass(frozen=True)
class _End:
    """Where a descent ended, or may begin; the machines there or nearby, if they are known."""

    x: Array
    score: float = np.inf
    machines: Sequence[Coefficients] = ()

    def among(self, rows: Array) -> _End:
        """The same with some of the rows, whose coefficients have a sum of zero."""
        parts = ((each, each.u[rows]) for each in self.machines)
        machines = [Coefficients(u - u.mean(), each.b, each.f[rows], each.E[rows]) for each, u in parts]
        return replace(self, score=np.inf, machines=machines)


class _Ground:
    """The score as a function of the coordinates, and what was visited."""

    def __init__(self, score: HeldOutScore, chart: _Chart, problems: Sequence[Problem]) -> None:
        self.score, self.chart, self.problems = score, chart, problems
        self.visits: list[tuple[Array, float]] = []

    def __call__(self, x: Array, machines: Sequence[Coefficients]) -> tuple[_End, Array]:
        """The score at x with its machines, which start from those given; and its gradient."""
        value, machines = self.score(self.chart.gram(x, self.problems), self.chart.C(x), machines)
        self.visits.append((x.copy(), value.score))
        return _End(x.copy(), value.score, machines), self.chart.slope(value.by)


@dataclass
class _Fold:
    """Rows to descend with, and rows to test: the single gamma, and where the next descent begins."""

    ground: _Ground
    test: Array
    first: _End
    now: _End


class _Late(Exception):
    """There is no time for another step."""


def _best(ends: Sequence[Any]) -> Any:
    """The first of the points with the lowest score."""
    return ends[lowest(np.array([end.score for end in ends]))[0]]


def _subset(problem: Problem, rows: Array) -> Problem:
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
        labels, count = y[active, 0], _FOLDS if len(active) >= 2 * _FOLDS else 0
    else:
        labels = np.unique(y[active], axis=0, return_inverse=True)[1].ravel()
        count = min(_FOLDS, int(np.bincount(labels).min()))
    if count < 2:
        return []
    is_classification = problems[0].task == "classification"
    X, s = problems[0].gram.X[active], problems[0].s[active]
    parts = random_folds(count, X, labels, is_classification=is_classification, s=s, seed=seed)
    return [(active[train], active[test]) for train, test in parts]


def column_variances(X: Any, s: Array | None = None) -> Array:
    """Of each column, the rows weighted by s; a variance that is rounding is zero."""
    s = None if s is None else s / s.max()  # whose sum is finite

    def mean(Z: Any) -> Array:
        return np.asarray(Z.mean(axis=0) if s is None else (Z.T @ s) / s.sum()).ravel()

    centre = mean(X)
    if issparse(X):
        square = mean(X.multiply(X))
        spread = square - centre**2
    else:
        spread = mean((X - centre) ** 2)
        square = spread + centre**2
    return np.where(spread > 1e-14 * square, spread, 0.0)

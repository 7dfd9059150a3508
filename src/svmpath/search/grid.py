"""The two-layer search for C and gamma.

The inner layer follows a path over C and scores it; the outer layer varies gamma. The criterion and the search are
arguments. (Ding & Liao's Algorithm 2 is this search with k-fold, a Nystroem kernel and a grid.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from svmpath.criteria.curve import Curve, HeldOutLoss, OneVsRest, held_out_loss, one_vs_rest
from svmpath.criteria.scoring import Scoring
from svmpath.gram import Gram
from svmpath.lazy import lazy
from svmpath.losses import Loss, Problem
from svmpath.paths import Curves, Made, Path, Request, trace_problem
from svmpath.progress import begin, best_so_far, doing, part_done
from svmpath.search.choice import Choice, Scores, best_pair, best_value, check_rule, is_end
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import count_jobs
from svmpath.validation import check_whole

Array = np.ndarray
Counted = Callable[[int, int], None]  # how many parts are done, of how many
Starts = dict[int, Array]  # by the number of a machine: its decision values on all rows

_ONE_ROW_EACH = ("loo", "press", "span", "alo")  # criteria that hold out every sample once
_WHOLE_STEPS = 1e-6  # a width that is a whole number of steps but for rounding is that number
_MOST_GAMMAS = 16  # evaluations of Brent's method over log gamma


def select(curve: Curve | Curves, rule: str = "min", *, refine: int = 2) -> Choice:
    """Choose a value on a curve, or a pair of C and gamma on the curves of a surface.

    Parameters
    ----------
    curve : Curve or Curves
    rule : {"min", "one_se"}
        "min": the lowest score; among equal scores the lowest mean squared held-out residual, then the smallest value.
        "one_se": the smallest value whose score is within one standard error of the lowest (a smaller C and a smaller
        gamma both mean a smoother machine).
    refine : int, default=2
        For a surface: how many times new gammas are tried halfway between the best one and its neighbours. Each time,
        the values of C near the lowest scores are twice as close to each other as before. 0 compares only the scores
        of the surface itself.

    Returns
    -------
    Choice
        ``choice.value``, ``choice.score`` and ``choice.solution``, the machine there.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.kfold : Exact k-fold.
    svmpath.surface : Follow a machine over C and gamma together.
    svmpath.search.Choice : What ``svmpath.select`` returns.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] + 0.3 * rng.normal(size=60)
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> choice = svmpath.select(criteria.press(path, np.logspace(-2, 2, 5)))
    >>> choice.value
    10.0
    """
    check_rule(rule)
    check_whole(refine, "refine", least=0)
    if isinstance(curve, Curves):
        return _search_of(curve, rule).along_valley(curve, refine)
    if not hasattr(curve, "scores"):
        raise TypeError(
            f"select needs a curve, such as criteria.loo(path, values), not {type(curve).__name__}: score the path "
            "first."
        )
    index, values = best_value(curve, rule), curve.values
    return Choice(curve, index, rule, {}, (curve.path.over,) if is_end(values, values[index]) else ())


def _search_of(curves: Curves, rule: str) -> Search:
    """The search that refines a surface."""
    surface = curves.surface
    return Search([surface.problem], surface.loss, curves.values, surface.over, curves.criterion, None, rule)


@dataclass(frozen=True)
class Search:
    """The two-layer search on problems that share a Gram matrix and weights (one per class, one-vs-rest).

    Attributes
    ----------
    problems : list of Problem
    loss : Loss
    C : array of shape (m,)
        Values of C to score; their span is the span of the paths.
    over : str or None
        The kernel parameter that the outer layer varies; None for a fixed kernel.
    criterion : callable
        ``criterion(path, values, loss=...) -> Curve``.
    held_out : HeldOutLoss
        The per-sample loss of the criterion.
    rule : str
    tol : float or None
        For approximate paths; see :func:`svmpath.trace`.
    scoring : Scoring or None
        A scorer of scikit-learn instead of the mean of ``held_out``.
    units : array of int of shape (n,) or None
        The group of each sample, for standard errors.
    """

    problems: list[Problem]
    loss: Loss
    C: Array
    over: str | None
    criterion: Callable[..., Curve]
    held_out: HeldOutLoss
    rule: str = "min"
    tol: float | None = None
    scoring: Scoring | None = None
    units: Array | None = None

    def curve(self, gamma: float | None = None, C: Array | None = None) -> Curve:
        """The curve over C at one value of the kernel parameter."""
        values = self.C if C is None else C
        doing(f"{self.loss.name} over C" + ("" if gamma is None else f" at gamma = {gamma:.3g}"))
        gram = self.problems[0].gram
        if gamma is not None and self.over is not None:
            gram = gram.at(self.over, float(gamma))
        return self.on(gram, values)

    def on(self, gram: Gram, values: Array, starts: Starts | None = None) -> Curve:
        """The curve over these values of C on a Gram matrix.

        ``starts`` holds decision values of each machine on a similar kernel (another gamma or rank), which the first
        machines are found from; it is empty at first, and left with those at the best value.
        """
        return self.traced(gram, values, starts)[0]

    def traced(self, gram: Gram, values: Array, starts: Starts | None = None) -> tuple[Curve, list[Path]]:
        """The same curve, and the paths of all its machines."""
        return self._along(gram, (float(values.min()), float(values.max())), values, None, starts)

    def with_gram(self, gram: Gram) -> Search:
        """The same search on another kernel matrix of the rows."""
        return replace(self, problems=[replace(problem, gram=gram) for problem in self.problems])

    def paths(self, gram: Gram, span: tuple[float, float], made: Made | None = None) -> Iterator[Path]:
        """The paths of all machines on one kernel; they share the kernel, the weights and results from these."""
        made = Made() if made is None else made
        for problem in self.problems:
            yield trace_problem(replace(problem, gram=gram), Request(self.loss, "C", span, tol=self.tol), made)

    def _along(
        self,
        gram: Gram,
        span: tuple[float, float],
        values: Array,
        made: Made | None,
        starts: Starts | None = None,
    ) -> tuple[Curve, list[Path]]:
        """The curve on one kernel, and its paths."""
        paths = list(self.paths(gram, span, made))
        if starts is not None:
            paths = [path.start_from(starts.get(k)) for k, path in enumerate(paths)]
        curve = self.scored(paths, values)
        if starts is not None:
            best = float(values[best_value(curve, self.rule)])
            starts.update({k: f for k, path in enumerate(paths) if (f := path.known_decisions(best)) is not None})
        return curve, paths

    def scored(self, paths: Iterable[Path], values: Array) -> Curve:
        """The curve of the paths of all machines."""
        curves = [self.criterion(path, values, loss=self.held_out) for path in paths]
        curve = curves[0] if len(curves) == 1 else one_vs_rest(curves)
        if self.scoring is None and self.units is None:
            return curve
        if isinstance(curve, Curve):
            return replace(curve, scoring=self.scoring, units=self.units)
        if self.scoring is not None:  # a user's criterion may return a bound
            raise ValueError("scoring needs held-out decision values, which the curve of this criterion does not have.")
        return curve

    def later(self, paths: list[Path], values: Array) -> Curve:
        """The curve of the paths; if it can be, computed when it is first looked at."""
        name = getattr(self.criterion, "__name__", "")
        if name not in _ONE_ROW_EACH:
            return self.scored(paths, values)
        problems = [path.problem for path in paths]
        loss = held_out_loss(self.held_out, problems[0].task)
        whole = _Whole(self, paths, values)
        held, doubts = (_Later(whole, what) for what in ("held", "doubtful"))
        rows, target = np.arange(problems[0].n), problems[0].y
        if len(paths) > 1:
            loss, target = OneVsRest(loss), np.stack([problem.y for problem in problems], axis=1)
        return Curve(paths[0], name, values, loss, rows, held, target, doubts, scoring=self.scoring, units=self.units)

    def grid(self, gammas: Array, n_jobs: int | None = None, progress: Counted | None = None) -> Choice:
        """The best of all pairs of C and gamma."""
        ledger = Ledger(progress, max(len(gammas), 1))
        self._score(gammas, ledger, n_jobs)
        return self._choose(ledger, gammas)

    def coarse_to_fine(self, gammas: Array, n_jobs: int | None = None, progress: Counted | None = None) -> Choice:
        """A grid, then the two values halfway (in the logarithm) between its best gamma and its neighbours."""
        ledger = Ledger(progress, len(gammas) + 2)
        self._score(gammas, ledger, n_jobs)
        best, _ = best_pair(ledger.tried, self.rule)
        self._score(_halfway(gammas, best), ledger, n_jobs)
        return self._choose(ledger, gammas)

    def along_valley(self, curves: Curves, rounds: int) -> Choice:
        """The best cell of a surface, then repeatedly values halfway to its neighbours along the valley of scores."""
        ledger = Ledger(None, len(curves.curves))
        gammas = curves.surface.gammas
        for gamma, curve in zip(gammas.tolist(), curves.curves, strict=True):
            ledger.add(gamma, curve)
        for turn in range(1, rounds + 1):
            best, _ = best_pair(ledger.tried, self.rule)
            for gamma in _halfway(np.array(list(ledger.tried)), best).tolist():
                ledger.add(gamma, self.curve(gamma, self._valley(ledger.tried, gamma, turn)))
        return self._choose(ledger, gammas)

    def _valley(self, tried: Mapping[float, Scores], gamma: float, turn: int) -> Array:
        """Values of C near the expected minimum at a gamma: between the minima of its two neighbours."""
        known = np.sort(list(tried))
        lows = [np.log(tried[each].values[best_value(tried[each])]) for each in known]
        middle = np.interp(np.log(gamma), np.log(known), lows)
        C = np.log(np.unique(self.C))
        if len(C) == 1:
            return self.C
        step = float(np.median(np.diff(C))) / 2**turn
        # As far as the neighbours' valleys are from each other, and one old step more.
        place = int(np.clip(np.searchsorted(known, gamma), 1, len(known) - 1))
        width = abs(lows[place] - lows[place - 1]) / 2 + 2 * step
        reach = np.ceil(width / step - _WHOLE_STEPS)
        steps = np.arange(-reach, reach + 1)
        return np.exp(np.unique(np.clip(middle + step * steps, C[0], C[-1])))

    def continuous(self, gammas: Array, n_jobs: int | None = None, progress: Counted | None = None) -> Choice:
        """Minimise over (log gamma, log C), starting from the best of a grid.

        One decomposition serves every C, so the minimisation is nested: for each gamma the minimum over log C, and over
        log gamma Brent's method between the neighbours of the best gamma of the grid.
        """
        ledger = Ledger(progress, max(len(gammas), 1) + _MOST_GAMMAS)
        self._score(gammas, ledger, n_jobs)
        if self.over is not None and len(gammas) > 1:
            best, _ = best_pair(ledger.tried, self.rule)
            near = np.log(_around(gammas, best))
            minimize_scalar(
                lambda log_gamma: ledger.add(float(np.exp(log_gamma)), self._polish(self.curve(np.exp(log_gamma)))),
                bounds=(near.min(), near.max()),
                method="bounded",
                options={"maxiter": _MOST_GAMMAS, "xatol": 0.01},
            )
        choice = self._choose(ledger, gammas)
        curve = choice.curve if len(choice.curve.values) > len(self.C) else self._polish(choice.curve)
        index = best_value(curve, self.rule)
        edges = tuple(name for name in choice.at_edge if name != "C")
        at_C = is_end(self.C, float(curve.values[index]))
        return replace(choice, curve=curve, index=index, at_edge=("C", *edges) if at_C else edges)

    def _score(self, gammas: Array, ledger: Ledger, n_jobs: int | None) -> None:
        """Score the kernels at several gammas, in parallel."""
        if self.over is None:
            ledger.add(np.nan, self.curve())
        else:
            side_by_side(lambda gamma: ledger.add(gamma, self.curve(gamma)), gammas.tolist(), count_jobs(n_jobs))

    def _polish(self, curve: Curve) -> Curve:
        """The curve with one more value: the minimum over log C between the neighbours of its best value."""
        if len(curve.values) < 2:
            return curve
        values = np.sort(curve.values)
        near = np.log(_around(values, float(curve.values[np.argmin(curve.scores)])))

        def score(log_C: float) -> float:
            return float(self.rescore(curve, np.array([np.exp(log_C)])).scores[0])

        found = minimize_scalar(score, bounds=(near.min(), near.max()), method="bounded", options={"xatol": 1e-3})
        return self.rescore(curve, np.append(values, np.exp(found.x)))

    def rescore(self, curve: Curve, values: Array) -> Curve:
        """The criterion at other values of the same kernel, with its decomposition."""
        return self._along(curve.path.problem.gram, curve.path.span, values, curve.path.made)[0]

    def _choose(self, ledger: Ledger, offered: Array) -> Choice:
        """The choice among all that was tried."""
        gamma, index = best_pair(ledger.tried, self.rule)
        curve = ledger.curve(gamma)
        if curve is None:  # its matrices were dropped when another kernel scored better
            curve = self.curve(None if self.over is None else gamma, ledger.tried[gamma].values)
        edges = ("C",) if is_end(self.C, float(curve.values[index])) else ()
        if self.over is not None and is_end(offered, gamma):
            edges = (*edges, self.over)
        tried = {} if self.over is None else {gamma: ledger.tried[gamma] for gamma in sorted(ledger.tried)}
        return Choice(curve, index, self.rule, tried, edges)


def _around(values: Array, chosen: float) -> Array:
    """The chosen one of several values, between its neighbours."""
    ordered = np.sort(values)
    place = int(np.searchsorted(ordered, chosen))
    return ordered[max(place - 1, 0) : place + 2]


def _halfway(values: Array, chosen: float) -> Array:
    """Between the chosen value and its neighbours, halfway in the logarithm."""
    return np.array([np.sqrt(value * chosen) for value in _around(values, chosen) if value != chosen])


@dataclass(frozen=True)
class _Whole:
    """A curve that is computed once, when one of its arrays is first asked for."""

    search: Search
    paths: list[Path]
    values: Array

    @lazy
    def curve(self) -> Curve:
        return self.search.scored(self.paths, self.values)

    def __getstate__(self) -> dict[str, Any]:  # what a model is saved without can be computed again
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class _Later:
    """Computes an array of a curve."""

    whole: _Whole
    what: str

    def __len__(self) -> int:
        return len(self.whole.values)

    def __call__(self) -> Array:
        found: Array = getattr(self.whole.curve, self.what)
        return found


class Ledger:
    """What was tried: all scores, the curve of the best kernel only, and how far the work is.

    A curve holds its kernel matrix and decomposition; a search that kept every curve would fill the memory.
    """

    def __init__(self, progress: Counted | None, total: int) -> None:
        self.tried: dict[float, Scores] = {}
        self._progress = progress
        self._total = total
        self._best: tuple[float, float, float, Curve] | None = None
        self._lock = Lock()
        begin("grid", total)

    def add(self, gamma: float, curve: Curve) -> float:
        """Enter a curve; returns its lowest score."""
        scores = Scores.of(curve)
        index = best_value(scores)
        rank = (float(scores.scores[index]), float(scores.smooth[index]))
        with self._lock:
            self.tried[gamma] = scores
            if self._best is None or rank < self._best[:2] or gamma == self._best[2]:
                self._best = (*rank, gamma, curve)
            if self._progress is not None:
                self._progress(min(len(self.tried), self._total), self._total)
            self._report()
        return rank[0]

    def _report(self) -> None:
        """Tell of the best so far, for whoever watches."""
        gamma, index = best_pair(self.tried)
        at = "" if gamma != gamma else f"gamma = {gamma:.3g}, "
        best = self.tried[gamma]
        best_so_far(f"{at}C = {best.values[index]:.3g}, score {best.scores[index]:.4g}")
        part_done()

    def curve(self, gamma: float) -> Curve | None:
        """The curve at this gamma, if it is the one kept."""
        same = self._best is not None and np.array_equal([self._best[2]], [gamma], equal_nan=True)
        return self._best[3] if same else None  # type: ignore[index]

"""The two-layer searches for C and gamma, and the choice of a value on a curve.

The inner layer follows a path over C and scores it; the outer layer varies gamma, over a grid, between its values, or
continuously. (Ding & Liao's Algorithm 2 is this search with k-fold, a Nystroem kernel and a grid.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
from scipy.optimize import minimize_scalar

from svmpath.criteria.curve import MARGIN_SHARE, Curve, HeldOutCurve
from svmpath.paths import Curves, Path
from svmpath.progress import best_so_far, doing
from svmpath.search import limits
from svmpath.search.axis import Axis
from svmpath.search.choice import Choice, Scores, best_pair, best_value, check_rule, is_end, lowest
from svmpath.search.evaluator import Evaluator
from svmpath.search.log import NO_GAMMA, pair_text, where_text
from svmpath.search.results import only_stage
from svmpath.search.tuner import Tuned, Tuner
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import count_jobs
from svmpath.validation import check_whole

Array = np.ndarray

_WHOLE_STEPS = 1e-6  # a width that is a whole number of steps but for rounding is that number


def select(curve: Curve | Curves, rule: str = "min", *, refine: int = 2) -> Choice:
    """Choose a value on a curve, or a pair of C and gamma on the curves of a surface.

    Parameters
    ----------
    curve : Curve or Curves
    rule : {"min", "auto", "one_se"}
        "min": the lowest score; among equal scores the lowest mean held-out margin loss (for classification the loss
        of the machine itself, cut off for single samples; else the squared residual), then the smallest value.
        "auto": where scores are shares of errors, the lowest sum of the score and half the margin loss; else "min".
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
    share = MARGIN_SHARE if rule == "auto" else 0.0
    check_whole(refine, "refine", least=0)
    if isinstance(curve, Curves):
        surface = curve.surface
        evaluator = Evaluator([surface.problem], surface.loss, curve.criterion, rule=rule)
        tuner = Tuner([evaluator], Axis(np.unique(curve.values)), Axis(np.unique(surface.gammas)), surface.over)
        return _along_valley(Grid(tuner, evaluator, len(curve.curves)), curve, refine).choice
    if not hasattr(curve, "scores"):
        raise TypeError(
            f"select needs a curve, such as criteria.loo(path, values), not {type(curve).__name__}: score the path "
            "first."
        )
    curve = replace(curve, margin_share=share) if isinstance(curve, HeldOutCurve) else curve
    index, values = best_value(curve, rule), curve.values
    return Choice(curve, index, rule, {}, (curve.path.over,) if is_end(values, values[index]) else ())


def over_grid(tuner: Tuner) -> Tuned:
    """The best of all pairs of C and gamma; unless gamma is a list, also of values halfway to its neighbours."""
    is_list = tuner.gamma is None or tuner.gamma.limits is None
    return _best_loss(tuner, _pairs if is_list else _coarse_to_fine)


def continuously(tuner: Tuner) -> Tuned:
    """Minimise over (log gamma, log C), starting from the best of a grid.

    One decomposition serves every C, so the minimisation is nested: for each gamma the minimum over log C, and over
    log gamma Brent's method between the neighbours of the best gamma of the grid.
    """
    return _best_loss(tuner, _continuous)


def _best_loss(tuner: Tuner, search: Callable[[Tuner, Evaluator], Tuned]) -> Tuned:
    """The best of the same search with each loss, or value of epsilon, with what all of them tried; its own is last."""
    results = [search(tuner, evaluator) for evaluator in tuner.evaluators]
    best = results.pop(lowest(np.array([result.choice.score for result in results]))[0])
    if not results:
        return best
    tuner.log.stages += [only_stage(result.choice) for result in [*results, best]]
    return best._replace(choice=replace(best.choice, stages=tuple(tuner.log.stages)))


def _pairs(tuner: Tuner, evaluator: Evaluator) -> Tuned:
    grid = Grid(tuner, evaluator, 1 if tuner.gamma is None else len(tuner.gamma.values))
    grid.score_axis()
    return grid.result()


def _coarse_to_fine(tuner: Tuner, evaluator: Evaluator) -> Tuned:
    assert tuner.gamma is not None
    grid = Grid(tuner, evaluator, len(tuner.gamma.values) + 2)
    grid.score_axis()
    grid.score(_halfway(tuner.gamma.values, grid.best()[0]).tolist())
    return grid.result()


def _continuous(tuner: Tuner, evaluator: Evaluator) -> Tuned:
    gammas, is_free = np.zeros(1), False
    if tuner.gamma is not None:  # of a list, only its values may be chosen
        gammas, is_free = tuner.gamma.values, tuner.gamma.limits is not None
    grid = Grid(tuner, evaluator, len(gammas) + is_free * limits.BRENT_GAMMAS)
    grid.score_axis()
    if is_free and len(gammas) > 1:

        def score(log_gamma: float) -> float:
            gamma = float(np.exp(log_gamma))
            return grid.add(gamma, *grid.polished(*grid.at(gamma)))

        near = np.log(_around(gammas, grid.best()[0]))
        options = {"maxiter": limits.BRENT_GAMMAS, "xatol": 0.01}
        minimize_scalar(score, bounds=(near.min(), near.max()), method="bounded", options=options)
    choice, _, paths = grid.result()
    curve = choice.curve
    if len(curve.values) <= len(tuner.C.values):
        curve, paths = grid.polished(curve, paths)
    index = best_value(curve, evaluator.rule)
    edges = ("C",) if is_end(tuner.C.values, float(curve.values[index])) else ()
    edges = (*edges, *(name for name in choice.at_edge if name != "C"))
    return Tuned(replace(choice, curve=curve, index=index, at_edge=edges), evaluator, paths)


def _along_valley(grid: Grid, curves: Curves, rounds: int) -> Tuned:
    """The best cell of a surface, then repeatedly values halfway to its neighbours along the valley of scores."""
    for gamma, curve in zip(curves.surface.gammas.tolist(), curves.curves, strict=True):
        grid.add(gamma, replace(curve, margin_share=grid.evaluator.margin_share), [curve.path])
    values = grid.tuner.C.values
    C = np.log(values)
    for turn in range(1, rounds + 1):
        for gamma in _halfway(np.array(list(grid.tried)), grid.best()[0]).tolist():
            known = np.sort(list(grid.tried))
            lows = [np.log(grid.tried[each].best) for each in known]
            if len(C) > 1:
                step = float(np.median(np.diff(C))) / 2**turn
                # As far as the neighbours' valleys are from each other, and one old step more.
                place = int(np.clip(np.searchsorted(known, gamma), 1, len(known) - 1))
                width = abs(lows[place] - lows[place - 1]) / 2 + 2 * step
                reach = np.ceil(width / step - _WHOLE_STEPS)
                steps, middle = np.arange(-reach, reach + 1), np.interp(np.log(gamma), np.log(known), lows)
                values = np.exp(np.unique(np.clip(middle + step * steps, C[0], C[-1])))
            grid.add(gamma, *grid.at(gamma, values))
    return grid.result()


class Grid:
    """Curves over C at several gammas: all scores, the machines of the best kernel only, and how far the work is.

    A curve holds its kernel matrix and decomposition; a search that kept every curve would fill the memory.

    Attributes
    ----------
    tried : dict
        The scores over C at each gamma.
    """

    def __init__(self, tuner: Tuner, evaluator: Evaluator, total: int) -> None:
        self.tuner, self.evaluator = tuner, evaluator
        self.tried: dict[float, Scores] = {}
        self._best: tuple[tuple[float, float], float, Curve, list[Path]] | None = None
        self._lock = Lock()
        tuner.log.begin("grid", total)

    def best(self) -> tuple[float, int]:
        """The gamma of the best pair, and the position of its C."""
        return best_pair(self.tried, self.evaluator.rule)

    def at(self, gamma: float, values: Array | None = None) -> tuple[Curve, list[Path]]:
        """The curve over C at a gamma, and the paths of its machines."""
        doing(f"{self.evaluator.loss.name} {where_text(gamma)}")
        gram = self.tuner.gram_at(self.evaluator.gram, gamma)
        return self.evaluator.traced(gram, self.tuner.C.values if values is None else values)

    def score_axis(self) -> None:
        """Score the kernels at all values of gamma, or the only kernel."""
        self.score([NO_GAMMA] if self.tuner.gamma is None else self.tuner.gamma.values.tolist())

    def score(self, gammas: Sequence[float]) -> None:
        """Score the kernels at several gammas, in parallel."""
        side_by_side(lambda gamma: self.add(gamma, *self.at(gamma)), gammas, count_jobs(self.tuner.n_jobs))

    def add(self, gamma: float, curve: Curve, paths: list[Path]) -> float:
        """Enter a curve; returns its lowest score."""
        scores = Scores.of(curve)
        rank = scores.lowest
        with self._lock:
            self.tried[gamma] = scores
            if self._best is None or rank < self._best[0] or gamma == self._best[1]:
                self._best = rank, gamma, curve, paths
            at, place = best_pair(self.tried)
            low = self.tried[at]
            best_so_far(f"{pair_text(at, float(low.values[place]))}, score {low.scores[place]:.4g}")
            self.tuner.log.part_done()
        return rank[0]

    def polished(self, curve: Curve, paths: list[Path]) -> tuple[Curve, list[Path]]:
        """The curve with one more value, unless C is a list: the lowest between the neighbours of its best value."""
        if len(curve.values) < 2 or self.tuner.C.limits is None:
            return curve, paths
        values = np.sort(curve.values)
        near = np.log(_around(values, float(curve.values[np.argmin(curve.scores)])))

        def score(log_C: float) -> float:
            return float(self.evaluator.curve(paths, np.array([np.exp(log_C)])).scores[0])

        best = minimize_scalar(score, bounds=(near.min(), near.max()), method="bounded", options={"xatol": 1e-3})
        return self.evaluator.curve(paths, np.append(values, np.exp(best.x))), paths

    def result(self) -> Tuned:
        """The choice among all that was tried."""
        tuner, evaluator, (gamma, index) = self.tuner, self.evaluator, self.best()
        assert self._best is not None
        _, kept, curve, paths = self._best
        if kept != gamma and kept == kept:  # its matrices were dropped when another kernel scored better
            curve, paths = self.at(gamma, self.tried[gamma].values)
        edges = ("C",) if is_end(tuner.C.values, float(curve.values[index])) else ()
        if tuner.gamma is not None and is_end(tuner.gamma.values, gamma):
            edges = (*edges, str(tuner.over))
        tried = {} if tuner.gamma is None else {each: self.tried[each] for each in sorted(self.tried)}
        return Tuned(Choice(curve, index, evaluator.rule, tried, edges), evaluator, paths)


def _around(values: Array, chosen: float) -> Array:
    """The chosen one of several values, between its neighbours."""
    ordered = np.sort(values)
    place = int(np.searchsorted(ordered, chosen))
    return ordered[max(place - 1, 0) : place + 2]


def _halfway(values: Array, chosen: float) -> Array:
    """Between the chosen value and its neighbours, halfway in the logarithm."""
    return np.array([np.sqrt(value * chosen) for value in _around(values, chosen) if value != chosen])

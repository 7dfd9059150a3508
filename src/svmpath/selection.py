"""From curves to a choice, and the two-layer search for C and gamma.

The inner layer follows a path over C and scores it; the outer layer moves gamma. Both the criterion and the search
are arguments (Ding & Liao's Algorithm 2 is this with a k-fold criterion on a Nystroem kernel and a grid).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize_scalar

from svmpath import criteria
from svmpath.criteria.curve import Curve, HeldOutLoss, one_vs_rest
from svmpath.losses import Problem, Solution
from svmpath.paths import ClosedFormPath, trace_problem
from svmpath.solvers.threads import one_thread

Array = np.ndarray
Progress = Callable[[int, int], None]

RULES = ("min", "one_se")
_TIE = 1e-12  # relative; scores closer than this are the same score in another order of addition


@dataclass(frozen=True)
class Choice:
    """A value chosen on a curve.

    Attributes
    ----------
    curve : Curve
    index : int
        Position of the chosen value on the curve.
    rule : str
    tried : dict
        For a search over gamma: the curve at each gamma tried.
    at_edge : tuple of str
        The parameters whose chosen value is the first or last one that was offered.
    """

    curve: Curve
    index: int
    rule: str
    tried: Mapping[float, Curve]
    at_edge: tuple[str, ...]

    @property
    def value(self) -> float:
        """The chosen value of the path's parameter."""
        return float(self.curve.values[self.index])

    @property
    def score(self) -> float:
        """Its held-out score."""
        return float(self.curve.scores[self.index])

    @property
    def solution(self) -> Solution:
        """The machine at the chosen value."""
        return self.curve.path(self.value)

    @property
    def parameters(self) -> dict[str, float]:
        """The hyper-parameters chosen, and those of the kernel."""
        path = self.curve.path
        fixed = dict(path.problem.gram.kernel.parameters)
        if path.over != "C" and isinstance(path, ClosedFormPath):
            fixed["C"] = path.C
        return fixed | {path.over: self.value}


def select(curve: Curve, rule: str = "min") -> Choice:
    """Choose a value on a curve.

    Parameters
    ----------
    curve : Curve
    rule : {"min", "one_se"}
        "min": the lowest score; of equal scores the lowest mean squared held-out residual, then the smallest value.
        "one_se": the smallest value whose score is within one standard error of the lowest (smaller C and smaller
        gamma both mean a smoother machine).

    Returns
    -------
    Choice

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] + 0.3 * rng.normal(size=60)
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> choice = svmpath.select(criteria.press(path, np.logspace(-2, 2, 5)))
    >>> choice.value
    1.0
    """
    index = _best(curve, rule)
    values = curve.values
    return Choice(curve, index, rule, {}, (curve.path.over,) if _is_end(values, values[index]) else ())


def _is_end(values: Array, value: float) -> bool:
    return len(values) > 1 and value in (values.min(), values.max())


def _best(curve: Curve, rule: str) -> int:
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}, got {rule!r}.")
    scores = curve.scores
    if not np.isfinite(scores).all():
        raise ValueError("The curve has scores that are not finite; nothing can be chosen on it.")
    lowest = int(np.argmin(scores))
    if rule == "one_se":
        good = np.flatnonzero(scores <= scores[lowest] + curve.standard_errors[lowest])
        return int(good[np.argmin(curve.values[good])])
    equal = np.flatnonzero(scores <= scores[lowest] + _TIE * abs(scores[lowest]))
    if len(equal) == 1:
        return lowest
    return int(equal[np.lexsort((curve.values[equal], curve.smooth[equal]))[0]])


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
        The kernel's parameter that the outer layer moves; None to leave the kernel alone.
    criterion : callable
        ``criterion(path, values, loss=...) -> Curve``.
    held_out : HeldOutLoss
        The per-sample loss of the criterion.
    rule : str
    """

    problems: list[Problem]
    loss: Any
    C: Array
    over: str | None
    criterion: Callable[..., Curve]
    held_out: HeldOutLoss
    rule: str = "min"

    def curve(self, gamma: float | None = None, C: Array | None = None) -> Curve:
        """The curve over C at one value of the kernel's parameter."""
        values = self.C if C is None else C
        gram = self.problems[0].gram
        if gamma is not None and self.over is not None:
            gram = gram.at(self.over, gamma)
        span = (float(values.min()), float(values.max()))
        curves: list[Curve] = []
        for problem in self.problems:
            # All machines share kernel and weights, so that they share the first one's decomposition.
            shared = curves[0].path.spectrum if curves else None  # type: ignore[attr-defined]
            path = trace_problem(replace(problem, gram=gram), self.loss, "C", span, spectrum=shared)
            curves.append(self.criterion(path, values, loss=self.held_out))
        return curves[0] if len(curves) == 1 else one_vs_rest(curves)

    def grid(self, gammas: Array, n_jobs: int | None = None, progress: Progress | None = None) -> Choice:
        """The best of all pairs of C and gamma."""
        return self._choose(self._curves(gammas, {}, n_jobs, progress, len(gammas)), gammas)

    def coarse_to_fine(self, gammas: Array, n_jobs: int | None = None, progress: Progress | None = None) -> Choice:
        """A grid, then the two values halfway (in the logarithm) between its best gamma and its neighbours."""
        tried = self._curves(gammas, {}, n_jobs, progress, len(gammas) + 2)
        near = _neighbours(gammas, self._choose(tried, gammas))
        tried = self._curves(near, tried, n_jobs, progress, len(gammas) + 2)
        return self._choose(tried, gammas)

    def continuous(self, gammas: Array, n_jobs: int | None = None, progress: Progress | None = None) -> Choice:
        """Minimise over (log gamma, log C), starting from the best of a grid.

        One decomposition serves every C, so that the minimisation is nested: Brent's method over log gamma, between
        the neighbours of the grid's best, of the minimum over log C.
        """
        total = len(gammas) + _OUTER
        tried = self._curves(gammas, {}, n_jobs, progress, total)
        start = self._choose(tried, gammas)
        if self.over is None or len(gammas) < 2:
            return self._refine(start, tried)
        steps = _Counter(progress, len(gammas), total)

        def lowest(log_gamma: float) -> float:
            gamma = float(np.exp(log_gamma))
            tried[gamma] = self._polish(self.curve(gamma))
            steps()
            return float(tried[gamma].scores.min())

        near = _neighbours(gammas, start, halfway=False)
        bounds = (np.log(near.min()), np.log(near.max()))
        minimize_scalar(lowest, bounds=bounds, method="bounded", options={"maxiter": _OUTER, "xatol": 0.01})
        return self._refine(self._choose(tried, gammas), tried)

    def _refine(self, choice: Choice, tried: dict[float, Curve]) -> Choice:
        """The same choice with C minimised between its neighbours."""
        curve = self._polish(choice.curve)
        return replace(choice, curve=curve, index=_best(curve, self.rule), tried=tried)

    def _polish(self, curve: Curve) -> Curve:
        """The curve with one more value: the minimum over log C between the neighbours of its best value."""
        if len(curve.values) < 2:
            return curve
        order = np.argsort(curve.values)
        values = curve.values[order]
        best = int(np.argmin(curve.scores[order]))
        low, high = values[max(best - 1, 0)], values[min(best + 1, len(values) - 1)]

        def score(log_C: float) -> float:
            return float(self._rescore(curve, np.array([np.exp(log_C)])).scores[0])

        found = minimize_scalar(score, bounds=(np.log(low), np.log(high)), method="bounded", options={"xatol": 1e-3})
        return self._rescore(curve, np.append(values, np.exp(found.x)))

    def _rescore(self, curve: Curve, values: Array) -> Curve:
        """The criterion at other values of the same kernel, with its decomposition."""
        spectrum = curve.path.spectrum  # type: ignore[attr-defined]
        curves = []
        for problem in self.problems:
            shared = replace(problem, gram=curve.path.problem.gram)
            path = trace_problem(shared, self.loss, "C", curve.path.span, spectrum=spectrum)
            curves.append(self.criterion(path, values, loss=self.held_out))
        return curves[0] if len(curves) == 1 else one_vs_rest(curves)

    def _curves(
        self,
        gammas: Array,
        tried: dict[float, Curve],
        n_jobs: int | None,
        progress: Progress | None,
        total: int,
    ) -> dict[float, Curve]:
        """The curves at several gammas, side by side, added to those tried before."""
        steps = _Counter(progress, len(tried), total)
        if self.over is None:
            steps()
            return {np.nan: self.curve()}
        if n_jobs in (None, 1):
            found = [self._counted(gamma, steps) for gamma in gammas]
        else:
            # The work is in BLAS and LAPACK, which let other threads run: one BLAS thread each.
            with one_thread():
                jobs = (delayed(self._counted)(gamma, steps) for gamma in gammas)
                found = Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
        return tried | {float(gamma): curve for gamma, curve in zip(gammas, found, strict=True)}

    def _counted(self, gamma: float, steps: Callable[[], None]) -> Curve:
        curve = self.curve(float(gamma))
        curve.scores  # noqa: B018 - computed here, where it is done side by side
        steps()
        return curve

    def _choose(self, tried: dict[float, Curve], offered: Array) -> Choice:
        """The best pair of C and gamma by the rule, with ties broken as on one curve."""
        gammas = sorted(tried)
        choices = [select(tried[gamma]) for gamma in gammas]
        best = _lowest(choices) if self.rule == "min" else _within_one_se(choices)
        edges = ("C",) if _is_end(self.C, best.value) else ()
        gamma = next(gamma for gamma in gammas if tried[gamma] is best.curve)
        if self.over is not None and _is_end(offered, gamma):
            edges = (*edges, self.over)
        return replace(best, tried=tried, at_edge=edges, rule=self.rule)


_OUTER = 16  # most evaluations of Brent's method over log gamma


def _lowest(choices: list[Choice]) -> Choice:
    """The lowest score; of equal scores the lowest mean squared held-out residual; then the first."""
    low = min(choice.score for choice in choices)
    equal = [choice for choice in choices if choice.score <= low + _TIE * abs(low)]
    return equal[0] if len(equal) == 1 else min(equal, key=lambda c: float(c.curve.smooth[c.index]))


def _within_one_se(choices: list[Choice]) -> Choice:
    """The smallest C, then the first (smallest) gamma, within one standard error of the lowest score."""
    lowest = _lowest(choices)
    bar = lowest.score + lowest.curve.standard_errors[lowest.index]
    good = [
        (float(choice.curve.values[i]), order, i)
        for order, choice in enumerate(choices)
        for i in np.flatnonzero(choice.curve.scores <= bar)
    ]
    _, order, index = min(good)
    return replace(choices[order], index=int(index))


def _neighbours(gammas: Array, choice: Choice, halfway: bool = True) -> Array:
    """The values next to the chosen one on the grid, or halfway there in the logarithm."""
    ordered = np.sort(gammas)
    chosen = next(gamma for gamma, curve in choice.tried.items() if curve is choice.curve)
    place = int(np.searchsorted(ordered, chosen))
    near = [ordered[i] for i in (place - 1, place + 1) if 0 <= i < len(ordered)]
    return np.array([np.sqrt(gamma * chosen) for gamma in near]) if halfway else np.array([*near, chosen])


@dataclass
class _Counter:
    """Calls ``progress(done, total)`` after each step."""

    progress: Progress | None
    done: int
    total: int

    def __call__(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(min(self.done, self.total), self.total)


def make_criterion(criterion: Any, cv: Any = 5) -> Callable[..., Curve]:
    """The criterion meant by "loo", "press", "kfold" or a callable ``criterion(path, values, loss=...)``."""
    if callable(criterion):
        return criterion
    named: dict[str, Callable[..., Curve]] = {
        "loo": criteria.loo,
        "press": criteria.press,
        "kfold": lambda path, values, loss=None: criteria.kfold(path, values, cv=cv, loss=loss),
    }
    if criterion not in named:
        raise ValueError(f"criterion must be one of {', '.join(named)}, or a callable, got {criterion!r}.")
    return named[criterion]

"""Scores of held-out decision values by any scorer of scikit-learn, with standard errors by the jackknife.

Row i of a curve has a label y_i, a weight w_i and, at each value, a decision value f_i of a machine that has not seen
it. A score is

    S(y, f, w) = scorer(estimator, X, y, sample_weight=w),

where the estimator answers with f (``criteria.frozen``). All rows are scored together, also those of different folds.
Rows of weight zero are left out; w is passed on only if the others are not all equal.

Standard errors. Where the score is a mean, S = sum_i w_i l_i / sum_i w_i (table ``MEANS``), with p_i = w_i / sum_j w_j

    se^2 = sum_i p_i (l_i - S)^2 sum_i p_i^2,

which for equal weights is (n - 1) / n times the variance by the jackknife. Other scores: the samples, sorted by their
label, are dealt in turn to G = min(10, n) parts; S_g is the score without part g, and

    se^2 = (G - 1) / G sum_g (S_g - mean_g S_g)^2

(the delete-a-group jackknife). Entries of one sample that was held out several times are in one part. Where ``fit`` was
given groups, these are dealt instead of samples, and the mean's error is that of groups (``Curve.standard_errors``).
Probabilities are those calibrated on all rows: the calibration is a minimum, so what it would change is of second
order. Parts without which the score is not defined (the only samples of a class) are not counted; where fewer than two
are left, the standard error is infinite: unknown.

A scorer takes a millisecond or two, whatever it is asked; the jackknife asks it ten more times at every value, and
k-fold once more for each fold. A search needs a standard error at its best value, if at all, so nothing is computed
before it is asked for. What is kept for that are decision values, without the path that they belong to.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, absolute, error, squared
from svmpath.criteria.folds import deal, random_places
from svmpath.criteria.frozen import FrozenClassifier, FrozenRegressor, rows_of
from svmpath.criteria.sources import LazyRows

Array = np.ndarray

MOST_PARTS = 10  # a scorer takes 1 to 2 ms whatever it is asked, and each part asks it once more
_PINBALL = "neg_mean_pinball_loss"
_LOCK = Lock()  # filters of warnings belong to the process, not to a thread


def scorer_names() -> list[str]:
    """The names that scikit-learn knows, and one of a metric that it has no scorer for."""
    from sklearn.metrics import get_scorer_names

    return [*get_scorer_names(), _PINBALL]


def named_scorer(name: str) -> Any:
    """The scorer of this name."""
    from sklearn.metrics import get_scorer, make_scorer, mean_pinball_loss

    return make_scorer(mean_pinball_loss, greater_is_better=False) if name == _PINBALL else get_scorer(name)


MEANS: dict[str, Callable[[Array, Array], Array]] = {
    "accuracy": error,
    "neg_mean_squared_error": squared,
    "neg_mean_absolute_error": absolute,
}


@dataclass(frozen=True, eq=False)
class Scoring:
    """A scorer that fits the task.

    Attributes
    ----------
    scorer : callable
        ``scorer(estimator, X, y) -> float``.
    name : str
        As it was given.
    classes : array of shape (k,) or None
        The labels; None for a regression.
    mean : callable or None
        The per-sample loss that it is minus the mean of, or one minus it, if it is.
    positive : int, optional
        The number of the positive one of two classes: the scorer is given 1 for it, and 0 for the other. If None, it
        is given the labels.
    """

    scorer: Callable[..., Any]
    name: str
    classes: Array | None = None
    mean: Callable[[Array, Array], Array] | None = None
    positive: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A scorer that scikit-learn knows by its name is saved as that: its object may hold anything."""
        return {**self.__dict__, "scorer": None} if self.name in scorer_names() else dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        scorer = named_scorer(state["name"]) if state["scorer"] is None else state["scorer"]
        self.__dict__.update(state, scorer=scorer)

    def values(self, curve: Curve) -> Array:
        """Its values along a curve, of shape (m,), in scikit-learn's sign."""
        rows = self._counted(curve)
        return np.array([self._value(rows, self.estimator(rows, f)) for f in curve.finite[:, rows.at]])

    def standard_errors(self, curve: Curve) -> Array:
        """Standard errors of the values, of shape (m,)."""
        if self.mean is not None:
            return curve.rescored(self.mean).standard_errors
        return np.asarray(self.on_demand(curve, "standard_error"))

    def split_values(self, curve: Curve) -> Array:
        """Values on each fold alone, of shape (m, number of folds); NaN where the score is not defined."""
        return 0.0 - np.asarray(self.on_demand(curve, "on_folds"))

    def jackknife(self, curve: Curve) -> Jackknife:
        """What its standard errors and its values on folds are computed from."""
        rows, problem = self._counted(curve), curve.path.problem
        fold = None if curve.splits is None else curve.splits[rows.at]
        f = curve.finite if len(rows.at) == len(curve.rows) else curve.finite[:, rows.at]
        # Units with weight, sorted by their label, are dealt in turn; of a group of several labels the first counts.
        key = curve.target if problem.task == "regression" else code_of(curve)
        part, samples = np.full(len(key), -1), np.unique(rows.samples)
        units = samples if curve.units is None else curve.units[samples]
        part[samples] = deal(units, key[samples], random_places(problem)[samples], MOST_PARTS)
        return Jackknife(self, rows, f, part[rows.samples], fold)

    def on_demand(self, curve: Curve, what: str) -> OnDemand:
        """Standard errors ("standard_error"), or scores "on_folds", each computed when it is asked for."""
        return OnDemand(what, curve.jackknife, np.arange(len(curve.values)))

    def over_thresholds(self, curve: Curve, thresholds: Array) -> Array:
        """Values at the first value of a curve of two classes, if class 1 begins at each of these decision values.

        A scorer that looks at no predictions is asked once.
        """
        rows = self._counted(curve)
        estimator = self.estimator(rows, curve.finite[0, rows.at])
        value = self._value(rows, estimator)
        if not estimator.has_predicted:
            return np.full(len(thresholds), value)
        return np.array([self._value(rows, estimator.set_params(threshold=float(each))) for each in thresholds])

    def _counted(self, curve: Curve) -> ScoredRows:
        s = curve.path.problem.s[curve.rows]
        at = np.flatnonzero(s > 0)
        y = curve.target if self.classes is None else code_of(curve)
        return ScoredRows(at, curve.rows[at], y[curve.rows[at]], s[at])

    def _value(self, rows: ScoredRows, estimator: Any) -> float:
        with _quiet():
            try:
                value = self.call(rows, estimator)
            except Exception as fault:
                raise ValueError(
                    f"scoring={self.name!r} cannot be evaluated on these held-out decision values: {fault}"
                ) from fault
        if not np.isfinite(value):
            raise ValueError(
                f"scoring={self.name!r} is not defined on these held-out decision values (it gives {value}), perhaps "
                "because they are of one class only; use another score, or hold out other rows."
            )
        return value

    def parts(self, rows: ScoredRows, parts: list[ScoredRows], f: Array) -> Array:
        """Values on some of the rows only."""
        estimator, values = self.estimator(rows, f), np.full(len(parts), np.nan)
        with _quiet(UserWarning):  # such as that a class is missing
            for k, part in enumerate(parts):
                try:
                    values[k] = self.call(part, estimator)
                except Exception:  # it works on all rows, so a class must be missing
                    continue
        return values

    def estimator(self, rows: ScoredRows, f: Array) -> Any:
        """An estimator that answers with the decision values f."""
        if self.classes is None:
            return FrozenRegressor(f)
        labels = self.classes if self.positive is None else np.arange(2)
        return FrozenClassifier(f, labels, rows.y, rows.weights, rows.samples, is_swapped=self.positive == 0)

    def call(self, rows: ScoredRows, estimator: Any) -> float:
        """The value on some rows."""
        y = rows.y if self.classes is None else self.classes[rows.y]
        y = y if self.positive is None else (rows.y == self.positive).astype(int)
        is_even = len(rows.y) == 0 or bool(np.all(rows.weights == rows.weights[0]))
        extra = {} if is_even else {"sample_weight": rows.weights}
        return float(self.scorer(estimator, rows.X, y, **extra))


class ScoredRows:
    """ScoredRows that are scored: places on the curve, samples, targets or codes of classes, weights."""

    def __init__(self, at: Array, samples: Array, y: Array, weights: Array, X: Array | None = None) -> None:
        self.at, self.samples, self.y, self.weights = at, samples, y, weights
        self.X = rows_of(samples) if X is None else X

    def part(self, some: Array) -> ScoredRows:
        """Some of the rows."""
        return ScoredRows(self.at[some], self.samples[some], self.y[some], self.weights[some], self.X[some])


@dataclass(frozen=True, eq=False)
class Jackknife:
    """What standard errors and scores of folds are computed from.

    Attributes
    ----------
    scoring : Scoring
    rows : ScoredRows
        The N rows that are scored.
    decisions : array of shape (m, N) or (m, N, k)
        Their held-out decision values at each value.
    part : array of int of shape (N,)
        The part of the jackknife that each row belongs to.
    fold : array of int of shape (N,) or None
        Its fold, if there are folds.
    """

    scoring: Scoring
    rows: ScoredRows
    decisions: Array
    part: Array
    fold: Array | None
    known: dict[tuple[str, int], Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:  # what a model is saved without can be computed again
        return {**self.__dict__, "known": {}}

    def get(self, what: str, at: int) -> Any:
        """A "standard_error" or the scores "on_folds", at a value given by its position; computed once."""
        if (what, at) not in self.known:
            self.known[what, at] = getattr(self, what)(at)
        return self.known[what, at]

    def standard_error(self, at: int) -> float:
        """The standard error at a value."""
        kept = [self.rows.part(self.part != g) for g in range(int(self.part.max()) + 1)]
        scores = self.scoring.parts(self.rows, kept, self.decisions[at])
        scores = scores[np.isfinite(scores)]
        return float(np.sqrt((len(scores) - 1) * np.var(scores))) if len(scores) > 1 else np.inf

    def on_folds(self, at: int) -> Array:
        """Minus the scorer's values on each fold alone; NaN where the score is not defined."""
        assert self.fold is not None
        parts = [self.rows.part(self.fold == number) for number in range(self.folds)]
        return 0.0 - self.scoring.parts(self.rows, parts, self.decisions[at])

    @property
    def folds(self) -> int:
        """The number of folds."""
        return 0 if self.fold is None else int(self.fold.max()) + 1


@dataclass(frozen=True, eq=False)
class OnDemand(LazyRows):
    """A "standard_error", or the scores "on_folds", at the values of a curve at these positions."""

    what: str
    jackknife: Jackknife
    at: Array

    def __call__(self) -> Array:
        return np.array([self.jackknife.get(self.what, at) for at in self.at.tolist()])

    def __len__(self) -> int:
        return len(self.at)

    def take(self, order: Array) -> OnDemand:
        """The same at some of the values."""
        return replace(self, at=self.at[order])


def code_of(curve: Curve) -> Array:
    """The number of each sample's class."""
    return np.argmax(curve.target, axis=1) if curve.target.ndim == 2 else (curve.target > 0).astype(int)


@contextmanager
def _quiet(kind: type[Warning] | None = None) -> Iterator[None]:
    """Without checks that were made once, and warnings of a score that is 0 by definition, or of a kind."""
    from sklearn import config_context
    from sklearn.exceptions import UndefinedMetricWarning

    with _LOCK, config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning if kind is None else kind)
        yield

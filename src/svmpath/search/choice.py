"""From curves to a choice: one rule for one curve, and for several curves.

The lowest score wins; among equal scores the lowest mean held-out margin loss, then the simplest machine. Simple
means a small C, a small gamma, a large lambda1, a large lambda2: a sign says in which direction to sort.

Scores are sums of many terms, after the solution of linear systems. In another order of the rows, or on another
processor, their last digits are different. If these decided between machines that are equally good, the same data would
not give the same choice everywhere. So two scores a and b are equal if

    |a - b| <= 1e-9 min(|a|, |b|) + 1e-18 max over all scores,

where the first term is above rounding and far below what any number of rows could show; the second is the square of
a residual that is rounding in a system of condition 1e7, for targets without noise, whose best scores are nothing else.
The scores of a screen are made for speed, not for digits: there it is 1e-6 instead of 1e-9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.criteria.sources import Joined, LazyRows, at_some
from svmpath.criteria.table import is_bound
from svmpath.lazy import lazy
from svmpath.losses import Solution
from svmpath.names import unknown_name
from svmpath.notebook import Shown
from svmpath.search import limits

Array = np.ndarray

RULES = ("auto", "min", "one_se")
_NEAR_END = 0.02  # relative; a continuous search stops slightly before the end of its range
_SAME_SCORE = 1e-9  # relative difference up to which scores are equal
_NO_SCORE = 1e-18  # of the largest score: a difference that is rounding
_OF_VALUES = ("values", "scores", "standard_errors", "smooth", "splits", "losses", "errors")
RANKED = ("decisive", "smooth")  # of a machine: what it is chosen by, and what decides between equal ones
_ENOUGH = 0.25  # of a standard error: a smaller gain does not show that values beyond would be better


@dataclass(frozen=True)
class Scores:
    """The numbers of a curve that are kept after scoring, without the matrices that they were computed from.

    Attributes
    ----------
    values, scores, standard_errors, smooth : array of shape (m,)
        As on the :class:`svmpath.criteria.Curve`. Standard errors of a scorer are computed one by one when they are
        asked for (``standard_errors[k]``, or all by ``np.asarray``); if that needs more than 4 MB of decision values,
        they are known at the best value only, and NaN elsewhere.
    splits : array of shape (m, number of folds) or None
        For k-fold: the scores on each fold alone; of a scorer as the standard errors.
    losses : array of shape (m, N) or None
        The held-out losses whose means decide, as truth values (errors) or in single precision. None if there are none
        (bounds, scorers that are not means), if they would take more than 16 MB, or if they were not asked for.
    errors : array of shape (m, N) or None
        The same of the default loss of the task; None if that is the loss itself.
    rounding : float
        Relative difference up to which scores are equal.
    share : float
        Of ``smooth``, how much is added to the scores where machines are compared.
    """

    values: Array
    scores: Array
    standard_errors: Array | LazyRows
    smooth: Array
    splits: Array | LazyRows | None = None
    losses: Array | None = None
    errors: Array | None = None
    rounding: float = _SAME_SCORE
    share: float = 0.0

    @staticmethod
    def of(curve: Curve) -> Scores:
        """The scores of a curve, and the losses that they are means of; what takes a scorer long is not computed."""
        if hasattr(curve, "numbers"):  # losses of rows in chunks stay with the rows
            return curve.numbers
        scoring = None if is_bound(curve.criterion) else curve.scoring
        is_mean = not is_bound(curve.criterion) and (scoring is None or scoring.mean is not None)
        errors: Any = (
            curve.standard_errors if scoring is None or is_mean else scoring.on_demand(curve, "standard_error")
        )
        splits: Any = curve.split_scores if scoring is None else None
        if scoring is not None and curve.splits is not None:
            splits = scoring.on_demand(curve, "on_folds")
        if scoring is not None and curve.finite.size > limits.KEPT_DECISIONS:
            known = range(len(errors)) if is_mean else {int(np.argmin(curve.scores)), best_value(curve)}
            errors = np.array([errors[at] if at in known else np.nan for at in range(len(errors))])
            splits = None if splits is None else np.full((len(errors), curve.jackknife.folds), np.nan)
        numbers = curve.values, curve.scores, errors, curve.smooth, splits
        share = getattr(curve, "share", 0.0)
        if not is_mean or len(curve.values) * len(curve.rows) > limits.KEPT_LOSSES:
            return Scores(*numbers, share=share)
        curve = curve if scoring is None else curve.rescored(scoring.mean)
        plain = curve.rescored(None)
        errors = None if plain.loss == curve.loss and not share else _compact(plain.losses)
        return Scores(*numbers, _compact(curve.decisive_losses), errors, share=share)

    def and_of(self, curve: Curve) -> Scores:
        """These and the scores of a curve at other values."""
        return self.and_(Scores.of(curve))

    def and_(self, new: Scores) -> Scores:
        """These and the scores at other values."""
        return replace(new, **{name: _joined(getattr(self, name), getattr(new, name)) for name in _OF_VALUES})

    def taken(self, order: Array) -> Scores:
        """The scores at some of the values, given by their positions."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in _OF_VALUES}
        columns = {name: None if each is None else at_some(each, order) for name, each in columns.items()}
        return replace(self, **columns)

    @property
    def decisive(self) -> Array:
        """What decides between machines."""
        return self.scores + self.share * self.smooth if self.share else self.scores

    @lazy
    def position(self) -> int:
        """The position of the best value, which is asked for again and again."""
        return _best_position(self, "min", 1.0)

    @property
    def best(self) -> float:
        """The value with the best score."""
        return float(self.values[best_value(self)])

    @property
    def lowest(self) -> tuple[float, float]:
        """The lowest of what decides, and what breaks ties."""
        at = best_value(self)
        return float(self.decisive[at]), float(self.smooth[at])

    @property
    def score(self) -> float:
        """The score of the best value."""
        return float(self.scores[best_value(self)])

    def standard_error(self, at: int) -> float:
        """The standard error at the value of this position."""
        return float(self.standard_errors[at])

    def without_losses(self) -> Scores:
        """The scores alone."""
        return replace(self, losses=None, errors=None)


def _joined(first: Any, second: Any) -> Any:
    """Two arrays over values, one after the other; None if one is missing."""
    if first is None or second is None:
        return None
    joined = Joined([first, second])
    return joined if isinstance(first, LazyRows) or isinstance(second, LazyRows) else joined()


def _compact(losses: Array) -> Array:
    """Losses in as few bytes as they need: one each for errors, else four."""
    return losses.astype(bool) if ((losses == 0.0) | (losses == 1.0)).all() else losses.astype(np.float32)


@dataclass(frozen=True)
class Stage:
    """What one stage of a search tried.

    Attributes
    ----------
    name : {"screen", "narrow", "confirm", "rank", "scout", "full kernel", "compare", "pairs", "grid", "gradient",
           "penalty", "ard"}
        "pairs" has machines of pairs of classes, others one per class against the rest.
    loss : str
        The loss of its machines.
    criterion : str
        What its scores are. Scores of different stages cannot be compared.
    rank : int
        The rank of its kernel matrix; the number of samples for the full matrix.
    tried : dict
        The scores over C at each gamma; NaN stands for a kernel that stays as it is. Of a descent ("gradient", "ard"):
        the points that it came to, in order, whose scores have no standard errors; with one gamma per feature they are
        numbered from 0. Of "penalty": the loss on folds at each eta.
    seconds : float
        How long it took.
    gammas : array of shape (m, d) or None
        With one gamma per feature: those of each point.
    own : dict
        Parameters of the loss beside C.
    """

    name: str
    loss: str
    criterion: str
    rank: int
    tried: Mapping[float, Scores]
    seconds: float
    gammas: Array | None = None
    own: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, repr=False, eq=False)
class Choice(Shown):
    """A value chosen on a curve.

    Attributes
    ----------
    curve : Curve
    index : int
        Position of the chosen value on the curve.
    rule : str
    tried : dict
        For a search over gamma: the scores over C at each gamma tried; empty otherwise.
    at_edge : tuple of str
        The parameters whose chosen value is the first or the last that was allowed.
    stages : tuple of Stage
        What each stage of the search tried.

    See Also
    --------
    svmpath.select : Choose a value on a curve.
    svmpath.PathSVC : Classifier that chooses C and gamma.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="least_squares", gamma=1.0)
    >>> choice = svmpath.select(criteria.loo(path, [0.01, 1.0, 100.0]))
    >>> choice.value == choice.parameters["C"], choice.solution(X[:3]).shape
    (True, (3,))
    """

    curve: Curve
    index: int
    rule: str
    tried: Mapping[float, Scores]
    at_edge: tuple[str, ...]
    stages: tuple[Stage, ...] = ()

    def __repr__(self) -> str:
        path = self.curve.path
        return f"<Choice: {path.over} = {self.value:.6g}, score {self.score:.6g}, {path.gram.kernel!r}>"

    @property
    def value(self) -> float:
        """The chosen value of the path's parameter."""
        return float(self.curve.values[self.index])

    @property
    def score(self) -> float:
        """Its held-out score."""
        return float(self.curve.scores[self.index])

    @lazy
    def solution(self) -> Solution:
        """The machine at the chosen value."""
        return self.curve.path(self.value)

    @property
    def parameters(self) -> dict[str, float]:
        """The chosen hyper-parameters, and those of the kernel."""
        return dict(self.solution.parameters)


def is_end(values: Array, value: float) -> bool:
    """Whether a value is the first or last of several values, or very close to it."""
    ends = np.array([values.min(), values.max()]) if len(values) > 1 else np.array([])
    return bool(np.any(np.abs(ends - value) <= _NEAR_END * np.abs(ends)))


def check_rule(rule: Any, known: Sequence[str] = RULES) -> str:
    """The rule; raises an error for an unknown name."""
    if rule not in known:
        raise ValueError(unknown_name("rule", rule, known))
    return str(rule)


def best_value(curve: Curve | Scores, rule: str = "min", sign: float = 1.0) -> int:
    """The position of the best value of a curve; a sign of -1 means that larger values make simpler machines."""
    if check_rule(rule) != "one_se" and sign == 1.0 and isinstance(curve, Scores):
        return curve.position
    return _best_position(curve, rule, sign)


def _best_position(curve: Curve | Scores, rule: str, sign: float) -> int:
    scores = curve.scores
    if not np.isfinite(scores).all():
        raise ValueError("The curve has scores that are not finite, so no value can be chosen; scale the data first.")
    rounding = getattr(curve, "rounding", _SAME_SCORE)
    best = lowest(_decisive(curve), curve.smooth, rounding=rounding)
    if rule == "one_se":
        low = float(scores[best].min())
        bar = low + curve.standard_error(int(best[np.argmin(sign * curve.values[best])]))
        best = np.flatnonzero(scores <= bar + same_score(low, scores, rounding))
    return int(best[np.argmin(sign * curve.values[best])])


def best_pair(tried: Mapping[float, Curve | Scores], rule: str = "min", sign: float = 1.0) -> tuple[float, int]:
    """The value of the best of several curves, and the position of the best value on it.

    Smaller values make simpler machines; with a sign of -1, larger values do. The rule "one_se" takes the simplest
    value, then the simplest curve, whose score is within one standard error of the lowest.
    """
    best = {outer: best_value(tried[outer], "min", sign) for outer in sorted(tried, key=lambda outer: sign * outer)}
    outers = list(best)
    decisive = np.array([_decisive(tried[outer])[i] for outer, i in best.items()])
    scores, smooth = (np.array([getattr(tried[o], name)[i] for o, i in best.items()]) for name in ("scores", "smooth"))
    rounding = max(getattr(each, "rounding", _SAME_SCORE) for each in tried.values())
    outer = outers[lowest(decisive, smooth, rounding=rounding)[0]]
    if check_rule(rule) != "one_se":
        return outer, best[outer]
    low = float(scores.min())
    bar = low + tried[outer].standard_error(best[outer]) + same_score(low, scores, rounding)
    good = (
        (sign * float(each.values[i]), sign * outer, int(i), outer)
        for outer, each in tried.items()
        for i in np.flatnonzero(each.scores <= bar)
    )
    _, _, index, outer = min(good)
    return outer, index  # the very key: NaN, which stands for a kernel without parameters, equals no other NaN


def _decisive(curve: Curve | Scores) -> Array:
    """What decides between the values of a curve; bounds have scores only."""
    return getattr(curve, "decisive", curve.scores)


def same_score(low: Any, scores: Array, rounding: float) -> Any:
    """The difference from a score, or several, up to which others are equal to it, if all these scores are compared."""
    return rounding * np.abs(low) + _NO_SCORE * np.abs(scores[np.isfinite(scores)]).max(initial=0.0)


def lowest(scores: Array, *ties: Array, rounding: float = _SAME_SCORE) -> Array:
    """Positions of the lowest score; of equal ones, of those that are lowest in what breaks ties, one after another."""
    best = np.arange(len(scores))
    for column in (scores, *ties):
        values = np.where(np.isnan(column), np.inf, column)  # a bound has no residuals
        low = float(values[best].min())
        best = best[values[best] <= low + same_score(low, values, rounding)]
    return best


def is_lower(new: Sequence[float], old: Sequence[float], largest: Sequence[float] = ()) -> bool:
    """Whether a score is lower than another, or equal to it and what breaks ties is lower.

    ``largest`` holds the largest of all scores that are compared, and so on, where there are more than these two.
    """
    for k, pair in enumerate(zip(new, old, strict=True)):
        first = lowest(np.array([*pair, *largest[k : k + 1]]))
        if len({0, 1} & set(first.tolist())) == 1:
            return bool(first[0] == 0)
    return False


def ranks(scores: Array, rounding: float = _SAME_SCORE) -> Array:
    """Whole numbers in the order of the scores, the same for equal scores."""
    order = np.argsort(scores, kind="stable")
    ordered, places = scores[order], np.empty(len(scores), dtype=int)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        steps = np.diff(ordered) > same_score(ordered[:-1], scores, rounding)
    places[order] = np.concatenate([[0], np.cumsum(steps)])
    return places


# --- several curves --------------------------------------------------------------------------------------------------


def ordered(tried: Mapping[float, Scores]) -> list[float]:
    """The values tried, the best first."""
    best = {each: best_value(scores) for each, scores in tried.items()}
    columns = [np.array([getattr(tried[each], name)[i] for each, i in best.items()]) for name in RANKED]
    rounding = max(each.rounding for each in tried.values())
    order = np.lexsort((np.array(list(best)), *(ranks(column, rounding) for column in reversed(columns))))
    return [list(best)[k] for k in order]


def lowest_over_gamma(tried: Mapping[float, Scores]) -> Scores:
    """The lowest score at each gamma, as scores over gamma."""
    gammas = sorted(tried)
    at = [best_value(tried[gamma]) for gamma in gammas]
    names = ("scores", "standard_errors", "smooth")
    columns = ([float(getattr(tried[g], name)[i]) for g, i in zip(gammas, at, strict=True)] for name in names)
    scores, errors, smooth = (np.array(column) for column in columns)
    return Scores(np.array(gammas), scores, errors, smooth, share=tried[gammas[0]].share)


def gain_at_end(scores: Scores, by: str = "decisive") -> tuple[float, float]:
    """By how much the best value, if it is an end, is better than its only neighbour; and the standard error there.

    ``by`` names what is compared: what decides, or the "scores", which have the standard error.
    """
    order = np.argsort(scores.values)
    best = int(np.flatnonzero(order == best_value(scores))[0])
    neighbour = order[best - 1 if best > 0 else min(1, len(order) - 1)]
    at = order[best]
    compared = getattr(scores, by)
    return float(compared[neighbour] - compared[at]), float(scores.standard_errors[at])


def falls_at_end(scores: Scores) -> bool:
    """Whether the best value is better than its only neighbour by more than chance gives all the time."""
    gain, deviation = gain_at_end(scores)
    return gain > _ENOUGH * deviation and (deviation > 0 or not scores.share)  # without an error nothing is to gain

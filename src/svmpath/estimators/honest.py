"""The error of the whole procedure: of tuning and fitting, not of the hyper-parameters that were chosen.

``held_out_error()`` is the smallest of many held-out errors, or close to it, so that it is too small on the average
(``criteria.optimism``). Nested cross-validation holds rows out from the choice, too: k times, the whole estimator is
fitted without one of k folds, and scored on it. The corrections by bootstrap and by parts need no fit: they look at how
the choice among the losses that are already there varies.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

from svmpath.criteria.folds import most_folds, random_folds, random_places
from svmpath.criteria.interval import mean_interval
from svmpath.criteria.optimism import LossTable, bootstrap_error, parts_optimism
from svmpath.criteria.table import is_bound, is_by_folds
from svmpath.names import unknown_name
from svmpath.progress import begin, finish, part_done, unwatched
from svmpath.search.choice import Choice, Scores
from svmpath.search.results import candidates
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import count_jobs
from svmpath.validation import check_whole, is_pairwise, is_whole_number

if TYPE_CHECKING:
    from svmpath.estimators.held_out import HeldOut

Array = np.ndarray
Fold = tuple[Array, Array]

METHODS = ("nested", "bootstrap", "parts")
_FOLDS = 10
_NO_OPTIMISM = 1e-12  # a difference of two means that is rounding


@dataclass(frozen=True, repr=False)
class HonestError:
    """An estimate of the error of the whole procedure, choice included.

    Attributes
    ----------
    value : float
        Error rate, or mean squared error; weighted as ``held_out_error()`` is.
    interval : tuple of two floats
        Its confidence interval: Clopper and Pearson's for error rates, the normal one for other errors.
    method : {"nested", "bootstrap", "parts"}
    n_fits : int
        How many times the estimator was fitted for it.
    has_optimism : bool
        False if a correction ("bootstrap", "parts") has found nothing that ``held_out_error()`` is too low by: then the
        value is that error. A correction never lowers it. "nested" is no correction, but an estimate of its own, which
        may be lower.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.criteria.optimism.bootstrap_error : The error of a choice, by the bootstrap.
    svmpath.criteria.interval.mean_interval : The interval of a mean of losses.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> from svmpath.datasets import banana
    >>> model = PathSVC(loss="least_squares", random_state=0).fit(*banana(100, random_state=0))
    >>> estimate = model.nested_error("bootstrap")
    >>> estimate.method, estimate.n_fits, estimate.interval[0] <= estimate.value <= estimate.interval[1]
    ('bootstrap', 0, True)
    """

    value: float
    interval: tuple[float, float]
    method: str
    n_fits: int
    has_optimism: bool = True

    def __repr__(self) -> str:
        low, high = self.interval
        words = "" if self.has_optimism else ", no optimism found: it is the held-out error"
        return (
            f"<HonestError: {self.value:.6g}, 95 % interval {low:.6g} to {high:.6g}, by {self.method!r} with "
            f"{self.n_fits} fits{words}>"
        )


@dataclass(frozen=True)
class FittedRows:
    """What an estimator was fitted to: the rows of positive weight."""

    X: Any
    y: Array
    s: Array  # weights, those of the classes included
    given: Array | None  # weights as given to ``fit``
    groups: Array | None
    pairwise: bool
    is_classification: bool

    @classmethod
    def of(cls, held_out: HeldOut) -> FittedRows:
        """Rows of weight zero are as good as absent."""
        problem, classes = held_out.problem, held_out.classes
        gram, at = problem.gram, np.flatnonzero(problem.s > 0)
        y = held_out.labels if classes is None else classes[held_out.labels]
        given, groups = (None if each is None else each[at] for each in (held_out.weight, held_out.groups))
        pairwise = is_pairwise(held_out.options.get("kernel"))
        X = gram.X[at][:, at] if pairwise else gram.X[at]
        return cls(X, y[at], problem.s[at], given, groups, pairwise, classes is not None)

    @property
    def units(self) -> Array:
        """What is independent of each other: groups, or rows."""
        return np.arange(len(self.y)) if self.groups is None else np.unique(self.groups, return_inverse=True)[1]

    def most_folds(self, cv: Any, train: Array) -> Any:
        """``cv``; of a number no more folds than the rows that remain allow."""
        if cv is not None and not is_whole_number(cv, least=2):
            return cv
        most, _ = most_folds(self.y[train], None if self.groups is None else self.groups[train], self.is_classification)
        return min(5 if cv is None else int(cv), max(most, 2))

    def at(self, rows: Array, columns: Array) -> Any:
        """Some rows of X; of a kernel matrix also some columns."""
        return self.X[rows][:, columns] if self.pairwise else self.X[rows]


def error_of_procedure(
    held_out: HeldOut, make: Callable[..., Any], method: str = "nested", n_splits: int | None = None
) -> HonestError:
    """The error of tuning and fitting, then predicting new rows; ``make`` makes an estimator from its parameters."""
    if method not in METHODS:
        raise ValueError(unknown_name("method", method, METHODS))
    number = 0 if n_splits is None else check_whole(n_splits, "n_splits", least=2, words=" or None")
    if method == "nested":
        return _nested(held_out, make, number)
    table, optimism = _table(held_out), 0.0
    if table is not None and method == "bootstrap":
        optimism = bootstrap_error(table, seed=held_out.seed) - table.apparent
    elif table is not None:
        optimism = parts_optimism(table, parts=number or _FOLDS, seed=held_out.seed)
    # The estimate varies, too, and may say that a choice of the lowest made the error larger, which it cannot.
    value = held_out.error() + max(optimism, 0.0)
    value = value if held_out.classes is None else min(value, 1.0)
    return HonestError(value, held_out.interval(value), method, 0, has_optimism=optimism > _NO_OPTIMISM)


# --- nested cross-validation -----------------------------------------------------------------------------------------


def _nested(held_out: HeldOut, make: Callable[..., Any], n_splits: int) -> HonestError:
    gram = held_out.machines.gram
    if not isinstance(getattr(getattr(gram, "approximation", None), "landmarks", ""), str):
        raise ValueError(
            "Nested cross-validation fits to part of the rows, so that landmarks cannot be row numbers: name a way "
            "to choose them, such as landmarks='uniform', or use nested_error('bootstrap')."
        )
    data = FittedRows.of(held_out)
    folds = outer_folds(held_out, data, n_splits)
    threads = min(count_jobs(held_out.options["n_jobs"]), len(folds))
    options = {**held_out.options, "verbose": 0, **({"n_jobs": 1} if threads > 1 else {})}

    def losses_of(fold: Fold) -> Array:
        with unwatched():  # a fit within is one part of this
            losses = _losses_of(make, options, data, fold)
        part_done()
        return losses

    begin("nested cross-validation", len(folds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows has given them already
        losses = np.concatenate(side_by_side(losses_of, folds, threads))
    finish(f"nested cross-validation of {len(folds)} folds")
    rows = np.concatenate([test for _, test in folds])
    value = float(min(np.average(losses, weights=data.s[rows]), losses.max()))
    interval = mean_interval(value, losses, data.s[rows], data.units[rows], is_rate=data.is_classification)
    return HonestError(value, interval, "nested", len(folds))


def _losses_of(make: Callable[..., Any], options: dict[str, Any], data: FittedRows, fold: Fold) -> Array:
    """Losses on a fold of the whole procedure on the other rows."""
    train, test = fold
    y, truth = data.y[train], data.y[test]
    if data.is_classification and (y == y[0]).all():
        return (truth != y[0]).astype(float)
    weight, groups = (None if each is None else each[train] for each in (data.given, data.groups))
    model = clone(make(**{**options, "cv": data.most_folds(options["cv"], train)}))
    predicted = model.fit(data.at(train, train), y, sample_weight=weight, groups=groups).predict(data.at(test, train))
    return (predicted != truth).astype(float) if data.is_classification else model._known.losses_of(truth, predicted)


def outer_folds(held_out: HeldOut, data: FittedRows, n_splits: int) -> list[Fold]:
    """By ``cv`` if that is a splitter, else stratified or grouped folds in random order."""
    cv, kind = held_out.options["cv"], data.is_classification
    if is_by_folds(held_out.choice.curve.criterion) and cv is not None and not is_whole_number(cv, least=2):
        if not hasattr(cv, "split") or isinstance(cv, PredefinedSplit):
            raise ValueError(
                "Nested cross-validation splits the training rows of each fold again, which fixed splits do not "
                "allow: give a splitter or a number as cv, or use nested_error('bootstrap')."
            )
        return _checked(data, list(cv.split(data.X, data.y, data.groups)))
    most, of = most_folds(data.y, data.groups, kind)
    if most < 2:
        raise ValueError(f"Nested cross-validation needs two or more {of}, but there is 1; give fit more of them.")
    if max(n_splits, 2) > most:
        raise ValueError(f"n_splits={max(n_splits, 2)} is more than the {most} {of}; use fewer folds.")
    number = n_splits or min(_FOLDS, most)
    of_rows: dict[str, Any] = {"groups": data.groups, "pairwise": data.pairwise}
    return _checked(data, random_folds(number, data.X, data.y, is_classification=kind, **of_rows, seed=held_out.seed))


def _checked(data: FittedRows, folds: list[Fold]) -> list[Fold]:
    """The folds; refused if they leave too little to choose on, where rows are held out once more."""
    what, units = ("rows", np.arange(len(data.y))) if data.groups is None else ("groups", data.units)
    if min(len(np.unique(units[train])) for train, _ in folds) < 2:
        raise ValueError(
            f"Nested cross-validation leaves fewer than two {what} to choose on, as there are "
            f"{len(np.unique(units))} in {len(folds)} folds: give fit at least three {what}, use more folds, or use "
            "nested_error('bootstrap')."
        )
    return folds


# --- corrections without a fit ---------------------------------------------------------------------------------------


def can_be_corrected(held_out: HeldOut) -> bool:
    """Whether a correction without fits is possible: nothing was chosen, or the losses were kept."""
    return not _is_chosen(held_out.choice) or _kept(held_out) is not None


def _is_chosen(choice: Choice) -> bool:
    """Whether there was more than one candidate."""
    return bool(choice.stages or choice.tried or len(choice.curve.values) > 1)


def _kept(held_out: HeldOut) -> list[Scores] | None:
    """The candidates, with their losses; None if a correction is not possible."""
    choice = held_out.choice
    is_possible = choice.rule != "one_se" and not is_bound(choice.curve.criterion) and not held_out.cut
    return candidates(choice) if is_possible else None


def _table(held_out: HeldOut) -> LossTable | None:
    """The losses of all candidates; None if there is but one.

    Of equal ones the choice takes that with the least squared residual, so these come first.
    """
    choice, scoring = held_out.choice, getattr(held_out.choice.curve, "scoring", None)
    if not _is_chosen(choice):
        return None
    if held_out.cut:
        raise ValueError(
            f"A correction without fits knows the errors of all candidates at the cut 0 only, but threshold_ is "
            f"{held_out.cut:.6g}: use nested_error('nested')."
        )
    if scoring is not None and scoring.mean is None:
        raise ValueError(
            f"A correction without fits needs candidates that were compared by a mean of losses, but these were by "
            f"scoring={scoring.name!r}: use nested_error('nested')."
        )
    kept = _kept(held_out)
    if kept is None:
        raise ValueError(
            "A correction without fits needs the held-out losses of all candidates, of which the one with the "
            "lowest mean was taken; with rule='one_se', a bound, a search by gradient or more than 16 MB of losses "
            "there are none: use nested_error('nested')."
        )
    order = np.argsort(np.concatenate([scores.smooth for scores in kept]), kind="stable")
    deciding = losses = _stacked([scores.losses for scores in kept], order)
    if any(scores.errors is not None for scores in kept):
        losses = _stacked([scores.errors for scores in kept], order)
    rows, problem = held_out.as_chosen().rows, held_out.problem
    # Units are drawn by their number; that of a row goes with the row.
    units = random_places(problem)[rows] if held_out.groups is None else held_out.units(rows)
    return LossTable.of(losses, deciding, problem.s[rows], units)


def _stacked(tables: list[Any], order: Array) -> Array:
    """Losses of shape (N, m), the candidates in this order."""
    return np.vstack(tables)[order].T.astype(float)

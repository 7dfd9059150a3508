"""The error of the whole procedure: of tuning and fitting, not of the hyper-parameters that were found.

``held_out_error_`` is the smallest of many held-out errors, or close to it, so that it is too small on the average
(``criteria.optimism``). Nested cross-validation holds rows out from the choice, too: k times, the whole estimator is
fitted without one of k folds, and judged on it. The corrections by bootstrap and by parts need no fit: they look at how
the choice among the losses that are already there varies.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.validation import check_is_fitted

from svmpath.criteria.folds import most_folds, random_folds, random_places
from svmpath.criteria.interval import mean_interval
from svmpath.criteria.optimism import LossTable, bootstrap_error, parts_optimism
from svmpath.criteria.table import is_bound
from svmpath.estimators.held_out import HeldOutMixin
from svmpath.names import unknown_name
from svmpath.progress import begin, finish, part_done, unwatched
from svmpath.search.choice import Scores
from svmpath.search.results import candidates
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import count_jobs
from svmpath.validation import check_whole, is_whole_number

Array = np.ndarray
Fold = tuple[Array, Array]

METHODS = ("nested", "bootstrap", "parts")
_FOLDS = 10


@dataclass(frozen=True)
class HonestError:
    """An estimate of the error of the whole procedure, choice included.

    Attributes
    ----------
    value : float
        Error rate, or mean squared error; weighted as ``held_out_error_`` is.
    interval : tuple of two floats
        Its confidence interval: Clopper and Pearson's for error rates, the normal one for other errors.
    method : {"nested", "bootstrap", "parts"}
    n_fits : int
        How many times the estimator was fitted for it.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.criteria.optimism.bootstrap_error : The error of a choice, by the bootstrap.
    svmpath.criteria.interval.mean_interval : The interval of a mean of losses.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> from svmpath.datasets import banana
    >>> model = PathSVC("least_squares", random_state=0).fit(*banana(100, random_state=0))
    >>> found = model.honest_error("bootstrap")
    >>> found.method, found.n_fits, found.interval[0] <= found.value <= found.interval[1]
    ('bootstrap', 0, True)
    """

    value: float
    interval: tuple[float, float]
    method: str
    n_fits: int


@dataclass(frozen=True)
class _Rows:
    """What an estimator was fitted to: the rows of positive weight."""

    X: Any
    y: Array
    s: Array  # weights, those of the classes included
    given: Array | None  # weights as given to ``fit``
    groups: Array | None
    pairwise: bool

    @property
    def units(self) -> Array:
        """What is independent of each other: groups, or rows."""
        return np.arange(len(self.y)) if self.groups is None else np.unique(self.groups, return_inverse=True)[1]

    def taken(self, rows: Array, columns: Array) -> Any:
        """Some rows of X; of a kernel matrix also some columns."""
        return self.X[rows][:, columns] if self.pairwise else self.X[rows]


class HonestMixin(HeldOutMixin):
    """``honest_error_`` and intervals, computed when they are first asked for."""

    _honest: dict[str, HonestError]
    _pairwise = False

    def _forget(self) -> None:
        super()._forget()
        self._honest = {}

    @property
    def honest_error_(self) -> float:
        """Estimate of the error of the whole procedure, choice included: ``honest_error().value``."""
        return self.honest_error().value

    @property
    def honest_interval_(self) -> tuple[float, float]:
        """The 95 % confidence interval of ``honest_error_``."""
        return self.honest_error().interval

    @property
    def held_out_interval_(self) -> tuple[float, float]:
        """The 95 % confidence interval of ``held_out_error_``, as if the hyper-parameters had been given."""
        return self._interval_around(self.held_out_error_)

    def honest_error(self, method: str = "nested", *, n_splits: int | None = None) -> HonestError:
        """Estimate the error of the whole procedure: of tuning and fitting on so many rows, then predicting new ones.

        Parameters
        ----------
        method : {"nested", "bootstrap", "parts"}, default="nested"
            "nested": cross-validation of the whole estimator, its search included; it costs ``n_splits`` fits, each on
            fewer rows. "bootstrap": the held-out error plus the bootstrap estimate of its optimism (BBC-CV); "parts":
            plus Tibshirani and Tibshirani's. These two need no fit, but see only the pairs that were scored with the
            machine asked for; not for ``rule="one_se"``, bounds, searches by gradient, a ``threshold_`` other than 0,
            and ``scoring`` by scores that are not a mean of losses.
        n_splits : int, optional
            Number of folds of "nested" (10, or fewer if there are fewer rows of a class, or groups), stratified or of
            whole groups, in random order; of "parts", the number of parts. A splitter given as ``cv`` is used for the
            outer folds as well.

        Returns
        -------
        HonestError
            ``value`` and ``interval`` (95 %), among others.

        Notes
        -----
        A fold whose training rows are of one class is judged by predicting that class. Warnings of the fits are not
        repeated. Folds and bootstrap samples follow from ``random_state`` if that is a number, else from 0.

        References
        ----------
        Tsamardinos, Greasidou and Borboudakis (2018); Tibshirani and Tibshirani (2009): see
        :mod:`svmpath.criteria.optimism`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from svmpath import PathSVC
        >>> X, y = load_iris(return_X_y=True)
        >>> model = PathSVC("least_squares", random_state=0).fit(X, y)
        >>> found = model.honest_error(n_splits=5)
        >>> found.n_fits, found.interval[0] < found.value < found.interval[1]
        (5, True)
        >>> model.honest_error("bootstrap").value >= model.held_out_error_
        True
        """
        check_is_fitted(self)
        if method not in METHODS:
            raise ValueError(unknown_name("method", method, METHODS))
        number = 0 if n_splits is None else check_whole(n_splits, "n_splits", least=2, words=" or None")
        key = f"{method} {number}"
        if key not in self._honest:
            ways: dict[str, Callable[[int], HonestError]] = {"nested": self._nested, "bootstrap": self._bootstrap}
            self._honest[key] = ways.get(method, self._parts)(number)
        return self._honest[key]

    def can_be_corrected(self) -> bool:
        """Whether ``honest_error("bootstrap")`` is possible: nothing was chosen, or the losses were kept."""
        check_is_fitted(self)
        return not self._is_chosen or self._candidates_kept() is not None

    # --- the training rows -------------------------------------------------------------------------------------------

    def _rows(self) -> _Rows:
        """What the estimator was fitted to; rows of weight zero are as good as absent."""
        problem = self.path_.problem  # type: ignore[attr-defined]
        s = problem.s
        y = self.classes_[self._code] if self._is_classifier else problem.y  # type: ignore[attr-defined]
        at = np.flatnonzero(s > 0)
        given, groups = (None if each is None else each[at] for each in (self._given_weight, self._groups))
        X = problem.gram.X[at]
        return _Rows(X[:, at] if self._pairwise else X, y[at], s[at], given, groups, self._pairwise)

    @property
    def _is_classifier(self) -> bool:
        return hasattr(self, "classes_")

    @property
    def _seed(self) -> int:
        seed = self._option("random_state") if "random_state" in vars(self) else None
        return int(seed) if seed is not None and is_whole_number(seed, least=0) else 0

    # --- nested cross-validation -------------------------------------------------------------------------------------

    def _nested(self, n_splits: int) -> HonestError:
        self._refuse_row_numbers()
        data = self._rows()
        folds = self._outer_folds(data, n_splits)
        _check_training(data, folds)
        threads = min(count_jobs(self.n_jobs), len(folds))  # type: ignore[attr-defined]

        def judged(fold: Fold) -> Array:
            with unwatched():  # a fit within is one part of this
                losses = self._losses_of(data, fold, is_alone=threads == 1)
            part_done()
            return losses

        begin("nested cross-validation", len(folds))
        with _quiet():
            losses = np.concatenate(side_by_side(judged, folds, threads))
        finish(f"nested cross-validation of {len(folds)} folds")
        rows = np.concatenate([test for _, test in folds])
        value = float(min(np.average(losses, weights=data.s[rows]), losses.max()))
        interval = mean_interval(value, losses, data.s[rows], data.units[rows], is_rate=self._is_classifier)
        return HonestError(value, interval, "nested", len(folds))

    def _refuse_row_numbers(self) -> None:
        """Refuse landmarks that are rows of all the data: a fold has other rows, or lacks them."""
        gram = self.path_.problem.gram  # type: ignore[attr-defined]
        landmarks = getattr(getattr(gram, "approximation", None), "landmarks", "")
        if not isinstance(landmarks, str):
            raise ValueError(
                "Nested cross-validation fits to part of the rows, so that landmarks cannot be row numbers: name a way "
                "to choose them, such as landmarks='uniform', or use honest_error('bootstrap')."
            )

    def _losses_of(self, data: _Rows, fold: Fold, is_alone: bool) -> Array:
        """Losses on a fold of the whole procedure on the other rows."""
        train, test = fold
        y, truth = data.y[train], data.y[test]
        if self._is_classifier and (y == y[0]).all():
            return (truth != y[0]).astype(float)
        asked = self.get_params(deep=False) if self._asked is None else self._asked  # type: ignore[attr-defined]
        model = clone(type(self)(**{**asked, "verbose": 0, "cv": self._inner_cv(data, train)}))
        if not is_alone:
            model.set_params(n_jobs=1)
        weight, groups = (None if each is None else each[train] for each in (data.given, data.groups))
        model.fit(data.taken(train, train), y, sample_weight=weight, groups=groups)
        found = model.predict(data.taken(test, train))
        return (found != truth).astype(float) if self._is_classifier else (found - truth) ** 2

    def _inner_cv(self, data: _Rows, train: Array) -> Any:
        """``cv`` for the rows that are left; a number is reduced to what they allow."""
        cv = self._option("cv")
        if cv is not None and not is_whole_number(cv, least=2):
            return cv
        most, _ = most_folds(data.y[train], None if data.groups is None else data.groups[train], self._is_classifier)
        return min(5 if cv is None else int(cv), max(most, 2))

    def _outer_folds(self, data: _Rows, n_splits: int) -> list[Fold]:
        """By ``cv`` if that is a splitter, else stratified or grouped folds in random order."""
        cv = self._option("cv")
        if self.curve_.criterion == "kfold" and cv is not None and not is_whole_number(cv, least=2):
            if not hasattr(cv, "split") or isinstance(cv, PredefinedSplit):
                raise ValueError(
                    "Nested cross-validation splits the training rows of each fold again, which fixed splits do not "
                    "allow: give a splitter or a number as cv, or use honest_error('bootstrap')."
                )
            return list(cv.split(data.X, data.y, data.groups))
        most, of = most_folds(data.y, data.groups, self._is_classifier)
        if most < 2:
            raise ValueError(f"Nested cross-validation needs two or more {of}, but there is 1; give fit more of them.")
        if max(n_splits, 2) > most:
            raise ValueError(f"n_splits={max(n_splits, 2)} is more than the {most} {of}; use fewer folds.")
        number = n_splits or min(_FOLDS, most)
        kind, seed = self._is_classifier, self._seed
        return random_folds(
            number, data.X, data.y, is_classification=kind, groups=data.groups, seed=seed, pairwise=data.pairwise
        )

    # --- corrections without a fit -----------------------------------------------------------------------------------

    def _bootstrap(self, _: int) -> HonestError:
        table = self._table()
        optimism = 0.0 if table is None else bootstrap_error(table, seed=self._seed) - table.apparent
        return self._corrected(optimism, "bootstrap")

    def _parts(self, parts: int) -> HonestError:
        table = self._table()
        optimism = 0.0 if table is None else parts_optimism(table, parts=parts or _FOLDS, seed=self._seed)
        return self._corrected(optimism, "parts")

    def _corrected(self, optimism: float, method: str) -> HonestError:
        value = max(self.held_out_error_ + optimism, 0.0)
        value = min(value, 1.0) if self._is_classifier else value
        return HonestError(value, self._interval_around(value), method, 0)

    def _table(self) -> LossTable | None:
        """The losses of all candidates; None if there is but one.

        Of equal ones the choice takes that with the least squared residual, so these come first.
        """
        if not self._is_chosen:
            return None
        self._refuse_to_correct()
        found = self._candidates_kept()
        if found is None:
            raise ValueError(
                "A correction without fits needs the held-out losses of all candidates, of which the one with the "
                "lowest mean was taken; with rule='one_se', a bound, a search by gradient or more than 16 MB of losses "
                "there are none: use honest_error('nested')."
            )
        choice = self.choice_  # type: ignore[attr-defined]
        order = np.argsort(np.concatenate([scores.smooth for scores in found]), kind="stable")
        deciding = _stacked([scores.losses for scores in found], order)
        is_same = all(scores.errors is None for scores in found)
        losses = deciding if is_same else _stacked([scores.errors for scores in found], order)
        rows, problem = choice.curve.rows, choice.curve.path.problem
        # Units are drawn by their number; that of a row goes with the row.
        units = self._units(rows) if self._groups is not None else random_places(problem)[rows]
        return LossTable.of(losses, deciding, problem.s[rows], units)

    def _refuse_to_correct(self) -> None:
        """Refuse what the losses of the candidates, which are errors at the cut 0, say nothing of."""
        scoring = self.curve_.scoring if hasattr(self.curve_, "scoring") else None
        if self._cut:
            raise ValueError(
                f"A correction without fits knows the errors of all candidates at the cut 0 only, but threshold_ is "
                f"{self._cut:.6g}: use honest_error('nested')."
            )
        if scoring is not None and scoring.mean is None:
            raise ValueError(
                f"A correction without fits needs candidates that were compared by a mean of losses, but these were by "
                f"scoring={scoring.name!r}: use honest_error('nested')."
            )

    @property
    def _is_chosen(self) -> bool:
        """Whether there was more than one candidate."""
        choice = self.choice_  # type: ignore[attr-defined]
        return bool(choice.stages or choice.tried or len(choice.curve.values) > 1)

    def _candidates_kept(self) -> list[Scores] | None:
        """The candidates, with their losses; None if a correction is not possible."""
        choice = self.choice_  # type: ignore[attr-defined]
        is_possible = choice.rule == "min" and not is_bound(choice.curve.criterion) and not self._cut
        return candidates(choice) if is_possible else None

    def _interval_around(self, value: float) -> tuple[float, float]:
        """The interval around an error, as wide as the held-out losses of the choice make it."""
        curve = self._held
        if is_bound(curve.criterion):
            raise AttributeError(
                f"There is no interval of the bound {curve.criterion!r}, which is not a mean of losses; use "
                "honest_error('nested')."
            )
        plain, s = self._judged(curve), curve.path.problem.s[curve.rows]
        units = self._units(curve.rows)
        return mean_interval(value, plain.losses[0], s, units, is_rate=self._is_classifier)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings, which the fit to all rows has given already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _stacked(tables: list[Any], order: Array) -> Array:
    """Losses of shape (N, m), the candidates in this order."""
    return np.vstack(tables)[order].T.astype(float)


def _check_training(data: _Rows, folds: list[Fold]) -> None:
    """Refuse folds that leave too little to choose on, where rows are held out once more."""
    what, units = ("rows", np.arange(len(data.y))) if data.groups is None else ("groups", data.units)
    if min(len(np.unique(units[train])) for train, _ in folds) < 2:
        raise ValueError(
            f"Nested cross-validation leaves fewer than two {what} to choose on, as there are "
            f"{len(np.unique(units))} in {len(folds)} folds: give fit at least three {what}, use more folds, or use "
            "honest_error('bootstrap')."
        )

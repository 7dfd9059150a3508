"""What a model that was fitted on rows in chunks knows of rows that its machines have not seen.

Held-out decision values of the choice are n numbers (k n for k classes), targets, weights and groups n each. They are
brought together when the model is fitted, or those of a random sample where they are more than ten million; what works
on held-out values in memory works on them. The rows stay where they are: machines without each fold, or without each
row, are found by passes over the chunks when they are asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from svmpath.criteria.calibration import Calibration
from svmpath.criteria.conformal import LeftOut, OfFolds, ten_folds
from svmpath.criteria.curve import Curve
from svmpath.criteria.importance import Importance
from svmpath.criteria.interval import mean_interval
from svmpath.estimators.held_out import HeldOut
from svmpath.estimators.honest import FittedRows, HonestError, outer_folds
from svmpath.estimators.machines import squeezed
from svmpath.estimators.samples import classification_table, regression_table
from svmpath.progress import begin, finish, part_done, unwatched
from svmpath.row_order import order_of_keys
from svmpath.validation import check_whole

Array = np.ndarray

CALIBRATED_ROWS = 200_000  # held-out decision values that probabilities are calibrated on
ENTRIES = 200_000  # held-out residuals that the ends of intervals, and label sets, are quantiles of, by folds
ENTRIES_OF_ROWS = 20_000  # the same where each row has a machine without it: their features are brought together
_EQUAL_WEIGHTS = 1e-9  # relative variance of weights up to which all are equal
_CALIBRATED_DRAW, _ENTRY_DRAW = 11, 12  # so that samples have nothing to do with what else is drawn by the same seed


class ChunkedHeldOut(HeldOut):
    """Held-out values of machines on rows in chunks: the numbers of the rows are at hand, and not the rows."""

    @property
    def problem(self) -> Any:
        """The targets and weights of the gathered rows; its ``rows`` are their numbers."""
        return self._chosen.path.problem

    @property
    def _chosen(self) -> Curve:
        """The curve at the choice, in memory."""
        return self._curves[self.choice.curve.criterion]

    @property
    def _path(self) -> Any:
        """The path on all rows; asked for new passes, it says so if it was saved without them."""
        return self.choice.curve.path

    def criterion(self, *, exact: bool = False) -> str | None:
        """What the choice was made by: leave-one-out, exact or predicted, or k-fold."""
        name = self.choice.curve.criterion
        return None if exact and name not in ("loo", "press") else name

    def decisions(self) -> Any:
        """Held-out decision values as a lazy Dask array, of shape (n,) or (n, k)."""
        return self.choice.curve.taken(np.array([self.choice.index])).decisions[0]

    def error(self) -> float:
        """Weighted held-out error of the choice: of all rows, or at another cut than 0 of the gathered ones."""
        chosen: Any = self.choice.curve
        if chosen.scoring is None and chosen.is_plain and not self.cut:
            return float(chosen.scores[self.choice.index])
        return super().error()

    def loo_error(self) -> float:
        """Exact leave-one-out error, which does not look at weights; from sums that do."""
        problem: Any = self._path.problem
        if self.criterion(exact=True) is not None and problem.share * problem.n > 1.0 + _EQUAL_WEIGHTS:
            raise ValueError(
                "There is no leave-one-out error, which is unweighted, of a model that was fitted on rows in chunks "
                "with different weights; use held_out_error()."
            )
        return super().loo_error() if self.criterion(exact=True) is None else self.error()

    def table(self, method: str = "sigmoid") -> Any:
        """The gathered rows, those with the largest loss first, as a DataFrame; takes a pass over the rows."""
        curve = self._chosen
        fitted = squeezed(self._path.gather_decisions(self.choice.value))
        if self.classes is None:
            table = regression_table(curve, fitted)
        else:
            calibration = self.calibration(method)
            table = classification_table(curve, fitted, self.classes, self.labels, calibration, self.cut)
        table["sample"] = self.problem.rows[table["sample"]]
        return table

    def importance(self, *arguments: Any) -> list[Importance]:
        """Not possible: columns of rows would have to be shuffled."""
        self._refuse("Importance shuffles columns of rows, which stay in their chunks; fit a sample in memory")

    # --- probabilities -----------------------------------------------------------------------------------------------

    def _calibrated_rows(self) -> tuple[Array, Array, Array, Array]:
        f, code, s, rows = super()._calibrated_rows()
        some = self._some(rows, CALIBRATED_ROWS, _CALIBRATED_DRAW)
        return f[some], code[some], s[some], rows[some]

    def calibration(self, method: str) -> Calibration:
        """How held-out decision values become probabilities; of at most 200 000 random rows."""
        return super().calibration(method)

    def _some(self, rows: Array, most: int, draw: int) -> Array:
        """Which of several entries to take: all, or so many at random; ``rows`` are those of the entries."""
        if len(rows) <= most:
            return np.arange(len(rows))
        return np.sort(order_of_keys(self.problem.gram.contents().keys[rows], (self.seed, draw))[:most])

    # --- intervals and sets ------------------------------------------------------------------------------------------

    def left_out(self) -> LeftOut:
        """The machines without each of a sample of rows for least squares, else without each fold."""
        if self._left_out is None:
            chosen: Any = self.choice.curve
            has_folds = chosen.held_by is not None or self.groups is not None
            if self._path.loss.is_linear and not has_folds:
                counted = self.problem.active
                some = counted[self._some(counted, ENTRIES_OF_ROWS, _ENTRY_DRAW)]
                self._left_out = self._path.without_each_row(self.choice.value, some)
            else:
                self._left_out = self._without_folds(chosen.held_by)
        return self._left_out

    def _without_folds(self, folded: Any) -> OfFolds:
        """The machines without each fold of the choice, or without each of ten."""
        problem, is_class = self.problem, self.classes is not None
        if folded is None:
            kind: dict[str, Any] = {"is_classification": is_class, "groups": self.groups, "s": problem.s}
            folded = self._path.on_folds(ten_folds(problem.gram.contents(), self.labels, pairwise=False, **kind))
        fold, held = folded.without_each_fold(self.choice.value)
        some = self._some(held.rows, ENTRIES, _ENTRY_DRAW)
        decisions = held.decisions[0].reshape(len(held.rows), -1)
        return OfFolds(held.rows[some], decisions[some], held.fold[some], fold)

    # --- the error of the procedure ----------------------------------------------------------------------------------

    def nested_error(self, make: Callable[..., Any], method: str, n_splits: int | None) -> HonestError:
        """The error of tuning and fitting together; nested cross-validation reads the rows again for every fold."""
        key = f"{method} {n_splits}"
        if method == "nested" and key not in self._nested:
            self._nested[key] = self._nested_in_chunks(
                make, 0 if n_splits is None else check_whole(n_splits, "n_splits", least=2)
            )
        return super().nested_error(make, method, n_splits)

    def _nested_in_chunks(self, make: Callable[..., Any], n_splits: int) -> HonestError:
        problem, rows_of = self.problem, self._path.live.data.part
        if not problem.are_all:
            self._refuse("Nested cross-validation needs the numbers of all rows; use held_out_error(), or fit a sample")
        rows, keys, is_class = problem.active, problem.gram.contents(), self.classes is not None
        y = self.labels[rows] if self.classes is None else self.classes[self.labels[rows]]
        given, groups = (None if each is None else each[rows] for each in (self.weight, self.groups))
        data = FittedRows(keys[rows], y, problem.s[rows], given, groups, False, is_class)
        folds = [
            (np.sort(train), np.sort(test)) for train, test in outer_folds(self, data, n_splits)
        ]  # as rows are read
        begin("nested cross-validation", len(folds))

        def losses_of(train: Array, test: Array) -> Array:
            if is_class and (y[train] == y[train][0]).all():
                return (y[test] != y[train][0]).astype(float)
            weight, group = (None if each is None else each[train] for each in (given, groups))
            model = make(**{**self.options, "verbose": 0, "cv": data.most_folds(self.options["cv"], train)})
            with unwatched():  # a fit within is one part of this
                model.fit(rows_of(rows[train]), y[train], weight, groups=group)
            predicted = np.asarray(model.predict(rows_of(rows[test])))
            return (predicted != y[test]).astype(float) if is_class else self.losses_of(y[test], predicted)

        parts = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows has given them already
            for fold in folds:
                parts.append(losses_of(*fold))
                part_done()
        finish(f"nested cross-validation of {len(folds)} folds")
        losses, out = np.concatenate(parts), np.concatenate([test for _, test in folds])
        value = float(min(np.average(losses, weights=data.s[out]), losses.max()))
        interval = mean_interval(value, losses, data.s[out], data.units[out], is_rate=is_class)
        return HonestError(value, interval, "nested", len(folds))

    @staticmethod
    def _refuse(sentence: str) -> NoReturn:
        raise ValueError(f"{sentence}: the model was fitted on rows in chunks.")

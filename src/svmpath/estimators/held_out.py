"""What a tuned model knows of rows that its machines have not seen: decision values, errors, probabilities, intervals.

What the choice was made by is calibrated: exact held-out values, or their prediction (span, ALO). The exact ones would
take longer than the fit, and give the same probabilities: the calibration has a few numbers, fitted to all samples at
once (``benchmarks/calibration.py`` has both). A bound has no held-out values; there exact leave-one-out is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svmpath.criteria.calibration import Calibration, fit_calibration
from svmpath.criteria.conformal import (
    LeftOut,
    OfFolds,
    fold_machines,
    intervals,
    label_sets,
    narrowest_pair,
    ten_folds,
)
from svmpath.criteria.curve import Curve, ErrorAbove
from svmpath.criteria.effective import counted, effective_number
from svmpath.criteria.folds import deal, random_places
from svmpath.criteria.frozen import predicted_codes
from svmpath.criteria.held_out import Folds
from svmpath.criteria.importance import Importance, Measure, Shuffled, shuffle_columns
from svmpath.criteria.interval import mean_interval
from svmpath.criteria.metrics import class_metrics, positive_class, regression_metrics
from svmpath.criteria.recall import Recall, recall_by_class
from svmpath.criteria.table import is_bound, is_by_folds, is_estimate, make_criterion
from svmpath.estimators.honest import HonestError, can_be_corrected, error_of_procedure
from svmpath.estimators.machines import Machines, squeezed
from svmpath.estimators.probabilities import CalibrationCurve, binned
from svmpath.estimators.quantiles import LevelMachines
from svmpath.estimators.samples import classification_table, regression_table
from svmpath.losses.pinball import weighted_quantile
from svmpath.names import unknown_name
from svmpath.search.choice import Choice
from svmpath.solvers.threads import jobs
from svmpath.validation import check_coverage, check_whole, is_pairwise, is_whole_number

Array = np.ndarray

ERROR_RATE, SQUARED_ERROR = "error rate", "mean squared error"
LOG_LOSS, ROOT = "log loss", "root mean squared error"
DEFAULT_ROWS = 2000  # that are shuffled, at most, to see which columns matter
_EXACT = ("loo", "press")  # criteria that are exact leave-one-out
_TIE = 1e-9  # relative; a residual so small is none
_HARMLESS = 0.01  # of the root mean squared residual: a change of predictions that is not worth n kernel values each
_PAIRS = np.array([0.0, 0.25, 0.5, 0.75])  # pairs of quantiles: how far from those of the coverage to the median
_CURVE_FOLDS = 5  # for a calibration curve it is calibrated on the other folds


@dataclass(eq=False)
class HeldOut:
    """Held-out values of the chosen machines; each is computed when it is first needed, and kept.

    Attributes
    ----------
    machines : Machines
    choice : Choice
    options : mapping
        The parameters of the estimator, as they were when it was fitted.
    classes : array of shape (k,) or None
        The labels; None for a regression.
    labels : array of shape (n,)
        The number of each row's class, or the target of a regression.
    weight : array of shape (n,) or None
        Sample weights, as ``fit`` was given them.
    groups : array of shape (n,) or None
        Rows that are held out together.
    folds : list of pairs or None
        What the choice was made by, if that was k-fold.
    cut : float
        The decision value above which the second of two classes is predicted.
    """

    machines: Machines
    choice: Choice
    options: Mapping[str, Any]
    classes: Array | None
    labels: Array
    weight: Array | None = None
    groups: Array | None = None
    folds: Folds | None = None
    cut: float = 0.0
    _curves: dict[str, Curve] = field(default_factory=dict)
    _calibrations: dict[str, Calibration] = field(default_factory=dict)
    _left_out: LeftOut | None = None
    _nested: dict[str, HonestError] = field(default_factory=dict)  # a saved model has texts as keys
    _between: dict[str, OfFolds] = field(default_factory=dict)
    _shift: dict[str, float] = field(default_factory=dict)

    @property
    def problem(self) -> Any:
        """The targets and weights of the rows."""
        return self.machines.whole.problem

    # --- how rows are held out ---------------------------------------------------------------------------------------

    def criterion(self, *, exact: bool = False) -> str | None:
        """The best criterion of held-out values that is affordable.

        It is exact leave-one-out if there are not too many samples, else what the choice was made by; with ``exact``
        None if it is not exact leave-one-out.
        """
        name = self.choice.curve.criterion
        name = "span" if is_bound(name) else name  # a bound has no held-out values
        is_affordable = self.problem.n <= self.machines.exact_rows
        if name not in _EXACT and is_affordable and (exact or is_estimate(name)):
            name = "loo"
        return None if exact and name not in _EXACT else name

    def curve(self, name: str | None = None) -> Curve:
        """The curve at the choice alone by a criterion; by default the best that is affordable."""
        name = name or self.criterion()
        assert name is not None
        if name not in self._curves:
            chosen = self.choice.curve
            if name == chosen.criterion and chosen.screened is None:
                self._curves[name] = chosen.taken(np.array([self.choice.index]))
            else:
                with jobs(self.options["n_jobs"]):
                    self._curves[name] = self.machines.scored(make_criterion(name))
        return self._curves[name]

    def chosen_by(self) -> str:
        """The criterion that the choice was made by; for a bound, which has no held-out values, the best other one."""
        name = self.choice.curve.criterion
        return str(self.criterion()) if is_bound(name) else name

    def as_chosen(self) -> Curve:
        """The curve at the choice by what it was chosen by."""
        return self.curve(self.chosen_by())

    def of_predictions(self, curve: Curve) -> Curve:
        """The curve with the errors of what ``predict`` predicts; of a regression, squares or its own losses."""
        return curve.rescored(ErrorAbove(self.cut) if self.cut else None)

    @property
    def kind(self) -> str:
        """What the mean of these losses is called."""
        if self.classes is not None:
            return ERROR_RATE
        return self.machines.paths[0].loss.own_score or SQUARED_ERROR

    def losses_of(self, y: Array, predicted: Array) -> Array:
        """The same losses of other targets and what is predicted for them, of a regression."""
        loss = self.of_predictions(self.choice.curve).loss
        return np.asarray(loss(y if predicted.ndim == 1 else np.broadcast_to(y[:, None], predicted.shape), predicted))

    @property
    def seed(self) -> int:
        """``random_state`` if that was a number, else 0."""
        seed = self.options["random_state"]
        return int(seed) if seed is not None and is_whole_number(seed, least=0) else 0

    def units(self, rows: Array) -> Array:
        """The samples or groups that rows belong to, as numbers."""
        return rows if self.groups is None else np.unique(self.groups, return_inverse=True)[1][rows]

    def is_unchanged(self, difference: Array) -> bool:
        """Whether no held-out label changes when these numbers are added to the decision values of all rows.

        Of a regression: whether no prediction changes by more than a hundredth of the root mean squared residual.
        """
        curve = self.as_chosen()
        f, change = curve.held[0], squeezed(difference)[curve.rows]  # one entry each time that a row was held out
        if self.classes is None:
            residual = self.labels[curve.rows] - f
            return bool(np.abs(change).max() <= _HARMLESS * np.sqrt(np.mean(residual**2)))
        return bool(np.array_equal(predicted_codes(f + change, self.cut), predicted_codes(f, self.cut)))

    # --- decision values and errors ----------------------------------------------------------------------------------

    def decisions(self) -> Any:
        """Held-out decision values, of shape (n,) or (n, k)."""
        return self.curve().decisions[0]

    def error(self) -> float:
        """Weighted held-out error of the choice."""
        return float(self.of_predictions(self.curve()).scores[0])

    def loo_error(self) -> float:
        """Exact leave-one-out error, unweighted."""
        name = self.criterion(exact=True)
        if name is None:
            raise ValueError(
                f"There is no leave-one-out error, as {self.machines.why_no_loo}; use held_out_error(), which is "
                f"computed by {self.criterion()!r}."
            )
        curve = self.curve(name)
        is_counted = curve.path.problem.s[curve.rows] > 0
        return float(self.of_predictions(curve).losses[0][is_counted].mean())

    def interval(self, value: float) -> tuple[float, float]:
        """The interval around an error, as wide as the held-out losses of the choice make it."""
        curve = self.curve()
        if is_bound(curve.criterion):
            raise ValueError(
                f"There is no interval of the bound {curve.criterion!r}, which is not a mean of losses; use "
                "nested_error()."
            )
        losses, s = self.of_predictions(curve).losses[0], curve.path.problem.s[curve.rows]
        return mean_interval(value, losses, s, self.units(curve.rows), is_rate=self.classes is not None)

    def recall(self, curve: Curve | None = None) -> Recall:
        """What part of each class is found, by a curve; by default the best that is affordable."""
        assert self.classes is not None
        curve = self.curve() if curve is None else curve
        s, rows = curve.path.problem.s[curve.rows], curve.rows
        units, losses = self.units(rows), self.of_predictions(curve).losses[0]
        return recall_by_class(losses, self.labels[rows], s, rows, self.classes, units)

    def caution(self) -> str | None:
        """What to warn of, if held-out errors are at hand: no machine is fitted for it."""
        chosen = self.choice.curve
        if chosen.criterion in self._curves:
            return self.recall(self._curves[chosen.criterion]).caution(self.options)
        # Errors that were counted without decision values are those of the cut 0.
        is_known = not is_bound(chosen.criterion) and (chosen.screened is None or not self.cut)
        return self.recall(chosen.taken(np.array([self.choice.index]))).caution(self.options) if is_known else None

    def nested_error(self, make: Callable[..., Any], method: str, n_splits: int | None) -> HonestError:
        """The error of tuning and fitting together; ``make`` makes the estimator from its parameters."""
        key = f"{method} {n_splits}"
        if key not in self._nested:
            self._nested[key] = error_of_procedure(self, make, method, n_splits)
        return self._nested[key]

    def can_be_corrected(self) -> bool:
        """Whether a correction of the error without fits is possible."""
        return can_be_corrected(self)

    def table(self, method: str = "sigmoid") -> Any:
        """The samples, those with the largest loss first, as a DataFrame; probabilities are calibrated by a method."""
        curve, fitted = self.curve(), self.machines.fitted()
        if self.classes is None:
            return regression_table(curve, fitted)
        return classification_table(curve, fitted, self.classes, self.labels, self.calibration(method), self.cut)

    # --- metrics, and which columns matter ---------------------------------------------------------------------------

    @property
    def positive(self) -> int:
        """Of two classes, the number of the one that metrics speak of."""
        assert self.classes is not None
        return positive_class(self.classes, self.labels, self.options.get("pos_label"))

    def metrics(self) -> dict[str, Any]:
        """What people ask for, of held-out predictions; weighted as ``fit`` was told, but not by the class."""
        curve = self.curve()
        weight = np.ones(len(self.labels)) if self.weight is None else self.weight
        is_counted = (curve.path.problem.s[curve.rows] > 0) & (weight[curve.rows] > 0)
        f, rows = curve.held[0][is_counted], curve.rows[is_counted]
        if f.ndim == 2 and self.classes is None:
            raise ValueError("There are several predictions per row, one for each quantile; use held_out_error().")
        if self.classes is None:
            return regression_metrics(self.labels[rows], f, weight[rows])
        return class_metrics(f, self.labels[rows], weight[rows], self.classes, self.cut, self.positive)

    def measure(self, scoring: str | None) -> Measure:
        """The loss of held-out decision values that importance is measured by."""
        if self.classes is None:
            known = {None: self.kind, self.kind: self.kind}
            if scoring not in known:
                raise ValueError(unknown_name("scoring", scoring, [self.kind], "None"))
            is_root, y = self.kind == SQUARED_ERROR, self.labels
            return Measure(
                ROOT if is_root else self.kind, lambda rows, f: self.losses_of(y[rows], squeezed(f)), is_root
            )
        if scoring == "error":
            return Measure(
                ERROR_RATE, lambda rows, f: (predicted_codes(squeezed(f), self.cut) != self.labels[rows]).astype(float)
            )
        if scoring not in (None, "log_loss"):
            raise ValueError(unknown_name("scoring", scoring, ["log_loss", "error"], "None"))
        calibration = self.calibration(str(self.options.get("calibration", "sigmoid")))
        return Measure(
            LOG_LOSS,
            lambda rows, f: -calibration.log_probabilities(squeezed(f))[np.arange(len(rows)), self.labels[rows]],
        )

    def importance(
        self, data: Shuffled | None, scorings: Sequence[str | None], n_repeats: int, max_rows: int, seed: int
    ) -> list[Importance]:
        """How much the held-out loss rises when a column is shuffled; of the columns that the machine sees, or others.

        One for each of ``scorings``, from the same permutations.
        """
        repeats, most = check_whole(n_repeats, "n_repeats", least=1), check_whole(max_rows, "max_rows", least=2)
        if is_pairwise(self.options.get("kernel")):
            raise ValueError("The model was fitted to a kernel matrix, which has no columns to shuffle.")
        n, left_out = len(self.labels), self.left_out()
        if data is None:
            X = self.machines.gram.X
            data = Shuffled(X, [f"x{j}" for j in range(X.shape[1])], lambda rows: rows)
        if data.X.shape[0] != n:
            raise ValueError(
                f"Importance needs the {n} rows that the model was fitted to, but X has {data.X.shape[0]}; pass the "
                "same X as to fit."
            )
        weight = np.ones(n) if self.weight is None else self.weight
        weight = np.where(self.problem.s > 0, weight, 0.0)
        measures = [self.measure(scoring) for scoring in scorings]
        with jobs(self.options["n_jobs"]):
            return shuffle_columns(
                left_out,
                data,
                measures,
                weight,
                self.units(np.arange(n)),
                n_repeats=repeats,
                max_rows=most,
                seed=check_whole(seed, "random_state", least=0),
            )

    # --- probabilities -----------------------------------------------------------------------------------------------

    def calibration(self, method: str) -> Calibration:
        """How held-out decision values become probabilities."""
        if method not in self._calibrations:
            self.calibrate_on(method, *self._calibrated_rows())
        return self._calibrations[method]

    def calibrate_on(self, method: str, f: Array, code: Array, s: Array, rows: Array | None = None) -> None:
        """Calibrate these held-out decision values."""
        assert self.classes is not None
        self._calibrations[method] = fit_calibration(f, code, len(self.classes), s, method, samples=rows)

    def _calibrated_rows(self) -> tuple[Array, Array, Array, Array]:
        """Decision values, classes, weights and samples, an entry each time that one with weight was held out."""
        curve = self.as_chosen()
        s = curve.path.problem.s
        is_counted = s[curve.rows] > 0
        rows = curve.rows[is_counted]
        return curve.held[0][is_counted], self.labels[rows], s[rows], rows

    def calibration_curve(self, method: str) -> CalibrationCurve:
        """How often what was given a probability came true; each probability is calibrated on the other folds."""
        assert self.classes is not None
        f, code, s, rows = self._calibrated_rows()
        k, places = len(self.classes), random_places(self.problem)
        fold, p = deal(self.units(rows), code, places[rows], _CURVE_FOLDS), np.empty((len(code), k))
        for each in np.unique(fold):
            out = fold == each
            use = ~out if not out.all() else out  # a single sample has no others
            others = fit_calibration(f[use], code[use], k, s[use], method, samples=rows[use])
            p[out] = others.probabilities(f[out])
        best = np.argmax(p, axis=1) if k > 2 else np.ones(len(p), dtype=int)
        return binned(p[np.arange(len(p)), best], code == best, counted(s, rows))

    # --- intervals and sets of new rows ------------------------------------------------------------------------------

    def left_out(self) -> LeftOut:
        """The machines without each sample if that takes no fits, else without each fold."""
        if self._left_out is None:
            has_folds = is_by_folds(self.choice.curve.criterion) or self.groups is not None
            left_out = None if has_folds else self.machines.without_each()
            self._left_out = self.machines.without(self.outer_folds()) if left_out is None else left_out
        return self._left_out

    def outer_folds(self, *, as_chosen: bool = True) -> Folds:
        """The folds that the choice was made by, or ten; with ``as_chosen=False`` ten, unless folds were given."""
        is_given = as_chosen or not is_whole_number(self.options["cv"], least=2)
        if is_by_folds(self.choice.curve.criterion) and self.folds is not None and is_given:
            return self.folds
        gram, s = self.machines.gram, self.problem.s
        kind: dict[str, Any] = {"is_classification": self.classes is not None, "groups": self.groups}
        return ten_folds(gram.X, self.labels, **kind, s=s, pairwise=gram.kernel.pairwise)

    def intervals(self, X: Any, coverage: float, left_out: LeftOut | None = None) -> Array:
        """Prediction intervals of new rows, of shape (m, 2); by other machines if these are given."""
        with jobs(self.options["n_jobs"]):
            left_out = left_out or self.left_out()
            return intervals(left_out, self.labels, X, check_coverage(coverage), self.weight)

    def between(self, coverage: float, *, is_nominal: bool = False) -> OfFolds:
        """The machines of the two quantiles that an interval is made from: those of the coverage, or the best pair."""
        key, low = f"{check_coverage(coverage)!r} {is_nominal}", 0.5 * (1.0 - coverage)
        with jobs(self.options["n_jobs"]):
            if key not in self._between:
                C, lows = self.machines.values[0], low + (0.5 - low) * (_PAIRS[:1] if is_nominal else _PAIRS)
                paths = LevelMachines(self.machines.paths[0], C).paths(np.concatenate([lows, 1.0 - lows[::-1]]))
                # Machines at these levels are new, so that the folds may be, too: of more rows each, as ten are.
                every = fold_machines(paths, [C] * len(paths), self.outer_folds(as_chosen=False))
                self._between[key] = narrowest_pair(every, self.labels, coverage, self.weight)
            return self._between[key]

    def shares_below(self) -> Array:
        """The weighted share of targets below their held-out value, for each column of predictions."""
        f, e, s = self._residuals(self.as_chosen())
        tie = _TIE * np.maximum(1.0, np.abs(f).max(initial=0.0))  # a target on the quantile counts half
        return np.asarray(np.average(0.5 * (e < tie) + 0.5 * (e < -tie), axis=0, weights=s))

    @property
    def effective(self) -> float:
        """How many independent rows the held-out values are worth."""
        return float(effective_number(self._residuals(self.as_chosen())[2]))

    def shifts(self, levels: Array, fitted: Array) -> Array:
        """The quantiles of held-out residuals: what makes the share below each level right.

        Of levels that were not fitted, the residuals are those of machines without each fold.
        """
        _, e, w = self._residuals(self.as_chosen())
        self._shift |= {
            repr(q): weighted_quantile(column, w, q) for q, column in zip(fitted.tolist(), e.T, strict=True)
        }
        new = np.array([q for q in levels.tolist() if repr(q) not in self._shift])
        if len(new):
            C = self.machines.values[0]
            paths = LevelMachines(self.machines.paths[0], C).paths(new)
            left_out = fold_machines(paths, [C] * len(new), self.outer_folds(as_chosen=False))
            w, e = self.problem.s[left_out.rows], self.labels[left_out.rows][:, None] - left_out.held
            self._shift |= {
                repr(q): weighted_quantile(column, w, q) for q, column in zip(new.tolist(), e.T, strict=True)
            }
        return np.array([self._shift[repr(q)] for q in levels.tolist()])

    def _residuals(self, curve: Curve) -> tuple[Array, Array, Array]:
        """Held-out values, residuals, both with a column per machine, and weights, of the rows that have one."""
        s, f = curve.path.problem.s[curve.rows], curve.held[0].reshape(len(curve.rows), -1)
        is_counted = s > 0
        return f[is_counted], (self.labels[curve.rows][:, None] - f)[is_counted], s[is_counted]

    def label_sets(self, X: Any, coverage: float) -> Array:
        """Which labels are plausible for new rows, of shape (m, k)."""
        with jobs(self.options["n_jobs"]):
            return label_sets(self.left_out(), self.labels, X, check_coverage(coverage), self.weight)

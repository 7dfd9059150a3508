"""Fitting on rows in chunks (Dask arrays and data frames): gamma, rank and loss on a sample, C on all rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np
from sklearn.base import clone

from svmpath.chunked import distributed, is_chunked
from svmpath.criteria.curve import held_out_loss
from svmpath.criteria.table import CRITERIA
from svmpath.estimators.cautions import warn_of_edges, warn_of_rounding
from svmpath.estimators.scaling import warn_of_uneven_deviations
from svmpath.estimators.tuning import C_values, check_options, how_given, is_ard, kernel_and_gammas
from svmpath.kernels import Kernel
from svmpath.losses import Loss, make_loss
from svmpath.names import either, unknown_name
from svmpath.progress import begin, part_done
from svmpath.search.choice import Choice, Stage, best_value, check_rule, is_end
from svmpath.validation import draw_seed

Array = np.ndarray

_SAMPLED_ROWS = 20_000  # rows that gamma, the rank and the loss are chosen on
_MOST_LANDMARKS = 1200  # that "auto" takes: the work per row grows with the square of their number
_CALIBRATED_ROWS = 200_000  # held-out decision values that probabilities are calibrated on
_EQUAL_WEIGHTS = 1e-9  # relative variance of weights up to which all are equal
_SEARCHES = ("auto", "grid")
_OF_EARLIER = ("_given_weight", "_groups", "_scoring", "_drawn", "_code")
# Fitted attributes that hold something for every row; those of an earlier fit in memory are dropped.
_OF_ROWS = ("support_", "dual_coef_")
_NO_COEFFICIENTS = "a machine on chunks has no coefficients of single rows; use predict or decision_function."
_NO_SETS = "it needs machines without each of the rows; fit a sample in memory."
_NO_REFITS = "it takes many fits in memory; use held_out_error_, or ask a model of a sample in memory."
# Attributes and methods that do not exist after a fit on chunks, and why.
_ABSENT = {
    **dict.fromkeys((*_OF_ROWS, "support_vectors_", "n_support_"), _NO_COEFFICIENTS),
    **dict.fromkeys(("honest_error", "honest_error_", "honest_interval_"), _NO_REFITS),
    **dict.fromkeys(("predict_interval", "predict_set"), _NO_SETS),
    "held_out_": "it has an entry for every row; held_out_decisions_ is a lazy Dask array of the decision values.",
    "held_out_interval_": "it needs the held-out losses of all rows; use curve_.standard_error(choice_.index).",
    "calibration_curve_": "it needs the held-out values of all rows; fit a sample in memory.",
}


def lazy_for_chunks(method: Any) -> Any:
    """A method of new rows that returns a lazy Dask array if these are a Dask collection."""

    @wraps(method)
    def call(self: Any, X: Any) -> Any:
        return distributed().map_method(self, method.__name__, X) if is_chunked(X) else method(self, X)

    return call


class ChunksMixin:
    """Fits of Dask collections. A class that uses it is a :class:`svmpath.estimators._base.PathMachine`."""

    _task: str
    sample_size_: int

    def __getattribute__(self, name: str) -> Any:
        if name in _ABSENT and self._is_chunked:
            owner = type(self).__name__
            raise AttributeError(f"{owner} has no {name} when it was fitted on rows in chunks: {_ABSENT[name]}")
        return super().__getattribute__(name)

    @property
    def _is_chunked(self) -> bool:
        """Whether the model was fitted on rows in chunks."""
        return getattr(vars(self).get("path_"), "is_chunked", False)

    def _fit_chunks(self: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Choose gamma, rank and loss on a sample of rows, and C on all of them."""
        check_options(self)
        self._refuse_for_chunks(groups)
        room, is_labelled = distributed(), self._task == "classification"
        begin("look at all chunks")
        data = room.read(X, y, sample_weight, is_labelled)
        if is_labelled:
            data = room.with_classes(data, self.class_weight)
            self.classes_ = data.classes
            self._check_threshold(data.classes)
        if how_given(self, "C") != "fixed":
            data = replace(data, unit=data.mean_weight)
        self._forget_rows(data)
        data = self._scale_chunks(room, data)
        seed = draw_seed(self.random_state)
        loss, kernel, rank, stages = self._from_sample(room, data, seed)
        features, centre = room.make_features(data, kernel, rank, self.landmarks, seed)
        C = C_values(self, loss)
        span = (float(C[0]), float(C[-1]))
        begin("features of all rows")
        path = room.make_path(data, kernel, features, centre, loss, span, self.memory_limit)
        self._tell(f"{data.n} rows in {len(data.X)} chunks, {path.gram.rank} features {path.storage}")
        try:
            choice = self._choose_C(path, C, stages)
            self._calibrate_chunks(path, choice.value, seed)
            path.polish(choice.value)
            self._store_chunked(choice, path)
        finally:
            path.live.release()

    def _refuse_for_chunks(self: Any, groups: Any) -> None:
        """Raise an error for options that look at all rows together."""
        asked = {
            "groups": groups is not None,
            "scoring": self.scoring is not None,
            "time_limit": self.time_limit is not None,
            "threshold": isinstance(getattr(self, "threshold", 0.0), str),
            "gamma": is_ard(self),
        }
        for name, is_asked in asked.items():
            if is_asked:
                given = "" if name == "groups" else f"={getattr(self, name)!r}"
                raise ValueError(f"{name}{given} does not work for rows in chunks; leave it out, or fit a sample.")
        if self.search not in _SEARCHES:
            raise ValueError(unknown_name("With rows in chunks search", self.search, _SEARCHES))
        held_out_loss(self.criterion_loss, self._task, "criterion_loss")
        distributed().refuse_pairwise(self.kernel)

    def _forget_rows(self: Any, data: Any) -> None:
        """Drop what an earlier fit knew of its rows, and keep the names of the columns."""
        self._forget()
        asked = self.get_params(deep=False)
        told = {name: value for name, value in asked.items() if name != "verbose"}
        vars(self).update(_asked=told, **dict.fromkeys(_OF_EARLIER))
        for name in _OF_ROWS:
            vars(self).pop(name, None)
        self.n_features_in_ = data.table.columns
        vars(self).pop("feature_names_in_", None)
        if data.names is not None:
            self.feature_names_in_ = data.names

    def _scale_chunks(self: Any, room: Any, data: Any) -> Any:
        """The data with a scaler if that was asked for; else a warning where columns differ much."""
        self.scaler_ = room.fit_scaler(data) if self.scale else None
        if self.scaler_ is not None:
            return replace(data, scaler=self.scaler_)
        d = np.sqrt(data.table.spread().variance)
        names = getattr(self, "feature_names_in_", None)
        warn_of_uneven_deviations(d, data.table.two_valued, self.kernel, names)
        return data

    def _from_sample(self: Any, room: Any, data: Any, seed: int) -> tuple[Loss, Kernel, Any, tuple[Stage, ...]]:
        """The loss, the kernel and the rank; those that are not given are chosen in memory on a sample of rows."""
        kernel, over, _ = kernel_and_gammas(self, room.shape_of(data))
        loss = room.check_loss(make_loss(self.loss, self._task))
        is_auto = isinstance(self.rank, str) and self.rank == "auto" and self.landmarks is None
        is_open = self.loss is None and data.classes is not None and len(data.classes) > 2 and self.search == "auto"
        self.sample_size_ = 0
        if over is None and not is_auto and not is_open:
            return loss, kernel, self.rank, ()
        X, target, s = data.take(data.sample_of_classes(_SAMPLED_ROWS, seed))
        self.sample_size_ = len(X)
        self._tell(f"gamma, rank and loss on a sample of {len(X)} of {data.n} rows")
        sample = self._sample_model(room.for_sample(self.rank, self.landmarks, len(X))).fit(X, target, s)
        rank = min(sample.rank_, _MOST_LANDMARKS) if is_auto else self.rank
        # What was scored on a sample cannot be compared with scores of all rows: it was a screen.
        stages = tuple(replace(stage, name="screen") for stage in sample.choice_.stages)
        return make_loss(sample.loss_, self._task), sample.kernel_, rank, stages

    def _sample_model(self: Any, options: dict[str, Any]) -> Any:
        """An estimator for the sample, whose columns are scaled and whose classes are weighted already."""
        model = clone(self).set_params(scale=False, verbose=0, criterion="auto", warm_start=False, **options)
        return model.set_params(class_weight=None) if "class_weight" in model.get_params() else model

    def _criterion_for_chunks(self: Any, loss: Loss) -> str:
        """The name of the criterion: leave-one-out, exact for least squares and predicted for the squared hinge."""
        possible = {"least_squares": ("loo", "press"), "squared_hinge": ("span", "alo")}[loss.name]
        if self.criterion == "auto":
            return possible[0]
        if self.criterion not in possible:
            names = either(list(possible))
            raise ValueError(
                f"Rows in chunks with loss={loss.name!r} need criterion={names} or 'auto', got {self.criterion!r}."
            )
        return str(self.criterion)

    def _choose_C(self: Any, path: Any, C: Array, stages: tuple[Stage, ...]) -> Choice:
        """Score all values of C on all rows, and choose the best."""
        name = self._criterion_for_chunks(path.loss)
        curve = CRITERIA["span" if name == "alo" else name].function(path, C, loss=self.criterion_loss)
        begin("C on all rows", len(C))
        curve = curve.computed(self._scored)
        index = best_value(curve, check_rule(self.rule))
        gamma = self._gamma_of(path.gram.kernel)
        key = np.nan if gamma is None else float(gamma)  # as of a kernel that stays as it is
        last = Stage("confirm", path.loss.name, curve.criterion, path.gram.rank, {key: curve.numbers}, np.nan)
        edge = ("C",) if is_end(C, float(C[index])) else ()
        choice = Choice(curve, index, self.rule, {}, edge, (*stages, last))
        if how_given(self, "C") == "span":
            warn_of_edges(choice, partial(how_given, self), np.zeros(0))
        warn_of_rounding(choice, 0.0)
        return choice

    def _loo_of_chunks(self: Any) -> float:
        """Exact leave-one-out error, which does not look at weights; from sums that do."""
        problem = self.path_.problem
        if problem.share * problem.n > 1.0 + _EQUAL_WEIGHTS:
            raise AttributeError(
                f"{type(self).__name__} has no loo_error_, which is unweighted, when it was fitted on rows in chunks "
                "with different weights; use held_out_error_."
            )
        return float(self.held_out_error_)

    def _scored(self: Any, done: int, total: int) -> None:
        part_done()
        if callable(self.verbose):
            self.verbose(done, total)
        else:
            self._tell(f"scored {done} of {total} values of C")

    def _store_chunked(self: Any, choice: Choice, path: Any) -> None:
        """The choice under scikit-learn's names."""
        vars(self).update(choice_=choice, curve_=choice.curve, path_=path, tol_=None, _alpha=None)
        self.loss_, self.criterion_ = path.loss.name, choice.curve.criterion
        self.kernel_, self.C_ = path.gram.kernel, choice.value
        self.gamma_ = self._gamma_of(self.kernel_)
        for name in self._own_names & vars(self).keys():
            delattr(self, name)
        solution: Any = choice.solution
        self._w = solution.w.reshape(path.gram.rank, -1)
        self._set_intercept(np.atleast_1d(solution.b))
        if self._task == "classification":
            self._set_threshold(self.classes_, np.zeros(0), np.zeros(0))

    def _calibrate_chunks(self: Any, path: Any, C: float, seed: int) -> None:
        """Calibrate probabilities while the features are at hand: a saved model has no rows to do it with."""
        if self._task == "classification":
            rows = path.live.data.sample(_CALIBRATED_ROWS, seed)
            held, code, s = path.sample_held(C, rows)
            self._calibrate_on(held[:, 0] if held.shape[1] == 1 else held, code, s)

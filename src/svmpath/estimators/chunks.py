"""Fitting on rows in chunks (Dask arrays and data frames): gamma, rank and loss on a sample, C on all rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from svmpath.chunked import distributed, is_chunked
from svmpath.criteria.curve import MARGIN_SHARE, held_out_loss
from svmpath.criteria.scorers import positive_class
from svmpath.criteria.table import CRITERIA
from svmpath.estimators.cautions import warn_of_a_weak_model, warn_of_edges, warn_of_rounding
from svmpath.estimators.held_out import ChunkedHeldOut
from svmpath.estimators.machines import ChunkedMachines, squeezed
from svmpath.estimators.options import check_options
from svmpath.estimators.scaling import warn_of_uneven_deviations
from svmpath.estimators.scoring import check_threshold, fit_threshold, is_held_out_loss
from svmpath.exceptions import WeakModelWarning
from svmpath.gram.memory import given_limit
from svmpath.kernels import Kernel
from svmpath.losses import Loss, make_loss
from svmpath.names import either, unknown_name
from svmpath.progress import begin, part_done
from svmpath.search.choice import Choice, Stage, best_value, check_rule, is_end
from svmpath.validation import draw_seed

if TYPE_CHECKING:
    from svmpath.estimators._base import PathMachine

Array = np.ndarray

_SAMPLED_ROWS = 20_000  # rows that gamma, the rank and the loss are chosen on
_MOST_LANDMARKS = 1200  # that "auto" takes: the work per row grows with the square of their number
_CALIBRATED_ROWS = 200_000  # held-out decision values that probabilities are calibrated on
_SEARCHES = ("auto", "grid")


def lazy_for_chunks(method: Any) -> Any:
    """A method of new rows that returns a lazy Dask array if these are a Dask collection."""

    @wraps(method)
    def call(model: Any, X: Any) -> Any:
        return distributed().map_method(model, method.__name__, X) if is_chunked(X) else method(model, X)

    return call


def fit_chunks(model: PathMachine, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
    """Choose gamma, rank and loss on a sample of rows, and C on all of them; store the result in the model."""
    check_options(model)
    _refuse(model, groups)
    room, is_labelled = distributed(), model._task == "classification"
    begin("look at all chunks")
    data = room.read(X, y, sample_weight, is_labelled)
    if is_labelled:
        data = room.with_classes(data, model.class_weight)
        model.classes_ = data.classes
        check_threshold(model.threshold, data.classes)
        positive_class(getattr(model, "pos_label", None), data.classes)
    if model._axes.given("C") != "fixed":
        data = replace(data, unit=data.mean_weight)
    model.n_features_in_ = data.table.columns
    if data.names is not None:
        model.feature_names_in_ = data.names
    model.scaler_ = room.fit_scaler(data) if model.scale else None
    if model.scaler_ is None:
        d = np.sqrt(data.table.spread().variance)
        warn_of_uneven_deviations(d, data.table.two_valued, model.kernel, data.names)
    else:
        data = replace(data, scaler=model.scaler_)
    seed = draw_seed(model.random_state)
    loss, kernel, rank, stages = _from_sample(model, room, data, seed)
    features, centre = room.make_features(data, kernel, rank, None, seed)
    C = model._axes.C_values(loss)
    span = (float(C[0]), float(C[-1]))
    begin("features of all rows")
    path = room.make_path(data, kernel, features, centre, loss, span, given_limit())
    model._log(f"{data.n} rows in {len(data.X)} chunks, {path.gram.rank} features {path.storage}")
    try:
        choice = _choose_C(model, path, C, stages)
        rows = path.live.data.sample(_CALIBRATED_ROWS, seed) if is_labelled else None
        calibrated = None if rows is None else path.sample_held(choice.value, rows)
        path.polish(choice.value)
        _store(model, choice, path, calibrated)
    finally:
        path.live.release()


def _refuse(model: PathMachine, groups: Any) -> None:
    """Raise an error for options that look at all rows together."""
    refused = {
        "groups": groups is not None,
        "scoring": not is_held_out_loss(model.scoring),
        "time_limit": model.time_limit is not None,
        "threshold": isinstance(getattr(model, "threshold", 0.0), str),
        "gamma": model._axes.is_ard,
    }
    for name in (name for name, is_given in refused.items() if is_given):
        given = "" if name == "groups" else f"={getattr(model, name)!r}"
        raise ValueError(f"{name}{given} does not work for rows in chunks; leave it out, or fit a sample.")
    if model.search not in _SEARCHES:
        raise ValueError(unknown_name("With rows in chunks search", model.search, _SEARCHES))
    held_out_loss(model.scoring, model._task, "scoring")
    distributed().refuse_pairwise(model.kernel)


def _from_sample(model: PathMachine, room: Any, data: Any, seed: int) -> tuple[Loss, Kernel, Any, tuple[Stage, ...]]:
    """The loss, the kernel and the rank; those that are not given are chosen in memory on a sample of rows."""
    kernel, over, _ = model._axes.make_kernel(room.shape_of(data), None)
    loss = room.check_loss(make_loss(model.loss, model._task))
    is_auto = isinstance(model.rank, str) and model.rank == "auto"
    is_open = model.loss is None and data.classes is not None and len(data.classes) > 2 and model.search == "auto"
    model.sample_size_ = 0
    if over is None and not is_auto and not is_open:
        return loss, kernel, model.rank, ()
    X, target, s = data.take(data.sample_of_classes(_SAMPLED_ROWS, seed))
    model.sample_size_ = len(X)
    model._log(f"gamma, rank and loss on a sample of {len(X)} of {data.n} rows")
    # The columns of the sample are scaled and its classes are weighted already.
    rank = room.for_sample(model.rank, len(X))
    options = {"scale": False, "class_weight": None, "verbose": 0, "criterion": "auto", "rank": rank}
    sample = clone(model)
    sample.set_params(**{name: options[name] for name in options.keys() & sample.get_params().keys()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakModelWarning)  # all rows are judged later
        sample.fit(X, target, s)
    rank = min(sample.rank_, _MOST_LANDMARKS) if is_auto else model.rank
    # What was scored on a sample cannot be compared with scores of all rows: it was a screen.
    stages = tuple(replace(stage, name="screen") for stage in sample.choice_.stages)
    return make_loss(sample.loss_, model._task), sample.kernel_, rank, stages


def _choose_C(model: PathMachine, path: Any, C: Array, stages: tuple[Stage, ...]) -> Choice:
    """Score all values of C on all rows, and choose the best."""
    # Leave-one-out, exact for least squares and predicted for the squared hinge.
    possible = path.loss.policy.chunked
    name = possible[0] if model.criterion == "auto" else model.criterion
    if name not in possible:
        raise ValueError(
            f"Rows in chunks with loss={path.loss.name!r} need criterion={either(list(possible))} or 'auto', got "
            f"{name!r}."
        )

    def scored(done: int, total: int) -> None:
        part_done()
        model._log(f"scored {done} of {total} values of C")

    curve = CRITERIA["span" if name == "alo" else name].function(path, C, loss=model.scoring)
    begin("C on all rows", len(C))
    share = MARGIN_SHARE if check_rule(model.rule) == "auto" else 0.0
    curve = replace(curve.computed(scored), margin_share=share)
    index = best_value(curve, model.rule)
    gamma = model._gamma_of(path.gram.kernel)
    key = np.nan if gamma is None else float(gamma)  # as of a kernel that stays as it is
    last = Stage("confirm", path.loss.name, curve.criterion, path.gram.rank, {key: curve.numbers}, np.nan)
    edge = ("C",) if is_end(C, float(C[index])) else ()
    choice = Choice(curve, index, model.rule, {}, edge, (*stages, last))
    if model._axes.given("C") == "range":
        warn_of_edges(choice, model._axes.given, np.zeros(0))
    warn_of_rounding(choice, 0.0)
    return choice


def _store(model: PathMachine, choice: Choice, path: Any, calibrated: Any) -> None:
    """The choice, and what the model is made of; probabilities are calibrated now: a saved model has no rows for it."""
    model.loss_, model.criterion_, model.tol_ = path.loss.name, choice.curve.criterion, None
    model._machines = ChunkedMachines.of([path], choice.value)
    model._name_choice(choice)
    model._held_out = held_out = ChunkedHeldOut(
        model._machines, choice, model.get_params(deep=False), model._classes, np.zeros(0, dtype=int)
    )
    if calibrated is not None:
        held_out.calibrate_on(model.calibration, squeezed(calibrated[0]), *calibrated[1:])
        model.threshold_ = fit_threshold(model.threshold, None, held_out)
        held_out.judge(squeezed(calibrated[0]), *calibrated[1:])
        warn_of_a_weak_model(held_out, stacklevel=5)

"""Fitting on rows in chunks (Dask arrays and data frames): gamma, rank and loss on a sample, C on all rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from svmpath.chunked import distributed, is_chunked
from svmpath.criteria.curve import MARGIN_SHARE
from svmpath.criteria.table import CRITERIA
from svmpath.estimators.cautions import warn_of_a_weak_model, warn_of_edges, warn_of_rounding, warn_of_time
from svmpath.estimators.chunked_held_out import ChunkedHeldOut
from svmpath.estimators.machines import ChunkedMachines
from svmpath.estimators.options import check_options
from svmpath.estimators.quantiles import at_level
from svmpath.estimators.scaling import warn_of_uneven_deviations
from svmpath.estimators.scoring import check_threshold, fit_threshold, resolve_scoring
from svmpath.exceptions import WeakModelWarning
from svmpath.gram.memory import given_limit
from svmpath.kernels import Kernel
from svmpath.losses import Loss, make_loss
from svmpath.names import either, unknown_name
from svmpath.progress import begin, part_done
from svmpath.search.choice import Choice, Stage, best_value, check_rule, is_end
from svmpath.search.deadline import Deadline
from svmpath.validation import check_groups, draw_seed

if TYPE_CHECKING:
    from svmpath.estimators._base import PathMachine

Array = np.ndarray

_SAMPLED_ROWS = 20_000  # rows that gamma, the rank and the loss are chosen on
_MOST_LANDMARKS = 1200  # that "auto" takes: the work per row grows with the square of their number
GATHERED_ROWS = 5_000  # up to which rows in chunks are fitted in memory: there are more seconds in passes than in rows
_TRIED_ROWS = 100_000  # targets that a scorer is tried on, at most
_SEARCHES = ("auto", "grid")


def lazy_for_chunks(method: Any) -> Any:
    """A method of new rows that returns a lazy Dask array if these are a Dask collection."""

    @wraps(method)
    def call(model: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if not is_chunked(X):
            return method(model, X, *arguments, **options)
        return distributed().map_method(model, method.__name__, X, *arguments, **options)

    return call


def fit_chunks(model: PathMachine, X: Any, y: Any, sample_weight: Any, groups: Any) -> bool:
    """Choose gamma, rank and loss on a sample of rows, and C on all of them; store the result in the model.

    Of few rows nothing is done but a check of their chunks: False says that they are to be fitted in memory.
    """
    check_options(model)
    deadline = Deadline(model.time_limit)
    room, is_labelled = distributed(), model._task == "classification"
    begin("look at all chunks")
    data = room.read(X, y, sample_weight, is_labelled)
    if is_labelled:
        data = room.with_classes(data, model.class_weight)
    model.gathered_rows_ = data.n if data.n <= GATHERED_ROWS else 0
    if model.gathered_rows_:
        model._log(f"{data.n} rows in {len(data.X)} chunks: few enough to be fitted in memory")
        return False
    _refuse(model)
    if is_labelled:
        model.classes_ = data.classes
        check_threshold(model.threshold, data.classes)
    model._held_out_loss, model._scoring = _scoring_of(model, data)
    model._given_weight = None if sample_weight is None else np.ones(1)
    if groups is not None:
        groups = check_groups(groups.compute() if is_chunked(groups) else groups, np.empty((data.n, 0)))
    model._keep_groups(groups)
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
    loss, kernel, rank, stages = _from_sample(model, room, data, seed, deadline)
    criterion = _criterion(model, loss)
    features, centre = room.make_features(data, kernel, rank, None, seed)
    C = model._axes.C_values(loss)
    begin("features of all rows")
    path = room.make_path(data, kernel, features, centre, loss, (float(C[0]), float(C[-1])), given_limit())
    model._log(f"{data.n} rows in {len(data.X)} chunks, {path.gram.rank} features {path.storage}")
    try:
        choice = _choose_C(model, path, criterion, C, stages, deadline)
        path.polish(choice.value)
        _store(model, choice, path, data)
    finally:
        path.live.release()
    if deadline.has_stopped:
        warn_of_time(model.time_limit)
    return True


def in_memory(*collections: Any) -> tuple[Any, ...]:
    """What a few rows in chunks hold, as arrays and data frames."""
    return tuple(each.compute() if is_chunked(each) else each for each in collections)


def _refuse(model: PathMachine) -> None:
    """Raise an error for options that look at all rows together."""
    if model._axes.is_ard:
        raise ValueError(f"gamma={model.gamma!r} does not work for rows in chunks; leave it out, or fit a sample.")
    if model.search not in _SEARCHES:
        raise ValueError(unknown_name("With rows in chunks search", model.search, _SEARCHES))
    distributed().refuse_pairwise(model.kernel)
    if model._levels is not None and np.ndim(model.get_params(deep=False)["quantile"]) > 0:
        raise ValueError("Several quantiles do not work for rows in chunks; fit one after the other.")


def _scoring_of(model: PathMachine, data: Any) -> Any:
    """What ``scoring`` stands for; a scorer is tried on a few rows."""
    pos_label = getattr(model, "pos_label", None)
    if data.classes is None:
        _, y, s = data.take(np.arange(min(data.n, _TRIED_ROWS)))
        return resolve_scoring(model.scoring, None, y, s if s.any() else np.ones(len(s)))
    rows = np.array([count for _, _, count in data.table.labels_in_order()])
    code = np.repeat(np.arange(len(rows)), np.ceil(rows * min(1.0, _TRIED_ROWS / rows.sum())).astype(int))
    return resolve_scoring(model.scoring, data.classes, code, np.ones(len(code)), pos_label)


def _criterion(model: PathMachine, loss: Loss) -> str:
    """The criterion that is asked for, or that "auto" stands for."""
    possible = (*loss.policy.chunked, "kfold")
    if model.criterion == "auto":
        by_folds = model._groups is not None or model._is_split_by_user
        return "kfold" if by_folds else possible[0]
    if model.criterion not in possible:
        raise ValueError(
            f"Rows in chunks with loss={loss.name!r} need criterion={either(list(possible))} or 'auto', got "
            f"{model.criterion!r}."
        )
    return str(model.criterion)


def _from_sample(
    model: PathMachine, room: Any, data: Any, seed: int, deadline: Deadline
) -> tuple[Loss, Kernel, Any, tuple[Stage, ...]]:
    """The loss, the kernel and the rank; those that are not given are chosen in memory on a sample of rows."""
    kernel, over, _ = model._axes.make_kernel(room.shape_of(data), None)
    loss = room.check_loss(make_loss(model.loss, model._task))
    loss = loss if model._levels is None else at_level(loss, float(model._levels[0]))
    is_auto = isinstance(model.rank, str) and model.rank == "auto"
    is_open = model.loss is None and data.classes is not None and len(data.classes) > 2 and model.search == "auto"
    model.sample_size_ = 0
    if over is None and not is_auto and not is_open:
        return loss, kernel, model.rank, ()
    rows = data.sample_of_classes(_SAMPLED_ROWS, seed)
    X, target, s = data.take(rows)
    model.sample_size_ = len(X)
    model._log(f"gamma, rank and loss on a sample of {len(X)} of {data.n} rows")
    # The columns of the sample are scaled and its classes are weighted already.
    rank = room.for_sample(model.rank, len(X))
    options = {
        "scale": False, "class_weight": None, "verbose": 0, "criterion": "auto", "rank": rank, "threshold": 0.0,
        "time_limit": deadline.left,
    }  # fmt: skip
    if model._is_split_by_user and not hasattr(model.cv, "split"):
        options["cv"] = 5  # splits are row numbers
    if getattr(model, "pos_label", None) is not None:  # the sample has numbers of classes
        options["pos_label"] = int(np.flatnonzero(data.classes == model.pos_label)[0])
    sample = clone(model)
    sample.set_params(**{name: options[name] for name in options.keys() & sample.get_params().keys()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakModelWarning)  # all rows are judged later
        sample.fit(X, target, s, groups=None if model._groups is None else model._groups[rows])
    rank = min(sample.rank_, _MOST_LANDMARKS) if is_auto else model.rank
    # What was scored on a sample cannot be compared with scores of all rows: it was a screen.
    stages = tuple(replace(stage, name="screen") for stage in sample.choice_.stages)
    return (make_loss(sample.loss_, model._task) if is_open else loss), sample.kernel_, rank, stages


def _choose_C(
    model: PathMachine, path: Any, criterion: str, C: Array, stages: tuple[Stage, ...], deadline: Deadline
) -> Choice:
    """Score the values of C on all rows, and choose the best; as many as there is time for."""

    def scored(done: int, total: int) -> None:
        part_done()
        model._log(f"scored {done} of {total} values of C")

    function, more = CRITERIA[criterion].function, {}
    if criterion == "kfold":
        numbers = path.gathered.problem
        more = {"cv": model._draw_folds(numbers.gram.contents(), numbers.labels, numbers.s)}
    curve = function(path, C, loss=model._held_out_loss, **more)
    begin("C on all rows", len(C))
    share = MARGIN_SHARE if check_rule(model.rule) == "auto" else 0.0
    curve = replace(curve, margin_share=share, scoring=model._scoring, units=_units_of(model, path))
    curve = curve.computed(scored, keep=True, deadline=deadline, first=_last_C(stages))
    if model._scoring is not None:
        curve = curve.with_error_of_best(model.rule)
    C, index = curve.values, best_value(curve, model.rule)
    gamma = model._gamma_of(path.gram.kernel)
    key = np.nan if gamma is None else float(gamma)  # as of a kernel that stays as it is
    last = Stage("confirm", path.loss.name, curve.criterion, path.gram.rank, {key: curve.numbers}, np.nan)
    edge = ("C",) if is_end(C, float(C[index])) else ()
    choice = Choice(curve, index, model.rule, {}, edge, (*stages, last))
    if model._axes.given("C") == "range":
        warn_of_edges(choice, model._axes.given, np.zeros(0))
    warn_of_rounding(choice, 0.0)
    return choice


def _units_of(model: PathMachine, path: Any) -> Array | None:
    """The groups of the gathered rows, as numbers."""
    return None if model._row_units is None else model._row_units[path.gathered.problem.rows]


def _last_C(stages: tuple[Stage, ...]) -> float | None:
    """The best C of a sample, if one was looked at."""
    return next(iter(stages[-1].tried.values())).best if stages else None


def _store(model: PathMachine, choice: Choice, path: Any, data: Any) -> None:
    """The choice, and what the model is made of; a saved model has no rows, so that their numbers are kept now."""
    model.loss_, model.criterion_, model.tol_ = path.loss.name, choice.curve.criterion, None
    model._machines = ChunkedMachines.of([path], choice.value)
    model._name_choice(choice)
    for name, value in path.loss.fixed_parameters.items():
        setattr(model, f"{name}_", value)
    chosen: Any = choice.curve
    curve = chosen.at(choice.index)
    numbers = curve.path.problem
    labels, weight = numbers.labels, None
    if model._given_weight is not None:
        factors = 1.0 if data.class_weights is None else data.class_weights[labels]
        weight = np.divide(numbers.s, factors, out=np.zeros(len(labels)), where=np.asarray(factors) > 0) * data.unit
        model._given_weight = weight
    groups = None if model._groups is None else model._groups[numbers.rows]
    model._held_out = held_out = ChunkedHeldOut(
        model._machines, choice, model.get_params(deep=False), model._classes, labels, weight, groups,
        _curves={choice.curve.criterion: curve},
    )  # fmt: skip
    if model._classes is not None:
        model.threshold_ = fit_threshold(model.threshold, model._scoring, held_out)
        warn_of_a_weak_model(held_out, stacklevel=5)

"""From data and settings to a fitted pipeline, for the commands that fit models."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import typer

from svmpath.cli.console import note
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.data_options import Data, DataOptions

_FOR_ONE_TASK = {"epsilon": "regression", "threshold": "classification"}


def data_options(context: typer.Context) -> DataOptions:
    """What the user said about the data, checked as far as that is possible without them."""
    from dataclasses import fields
    from pathlib import Path

    from svmpath.cli.data_options import DataOptions

    given = {**context.params, "data": Path(context.params["data"]), "format": context.params["data_format"]}
    options = DataOptions(**{each.name: given[each.name] for each in fields(DataOptions) if each.name in given})
    options.check()
    return options


def read_noted(options: DataOptions) -> Data:
    """The data, with a note for what was done to them."""
    from svmpath.cli.data_options import read_data

    data = read_data(options)
    for sentence in data.notes:
        note(sentence)
    return data


def make_pipeline(data: Data, settings: Mapping[str, Any]) -> Any:
    """The model to fit: the columns as numbers, then the estimator."""
    from sklearn.pipeline import Pipeline

    from svmpath.cli.preparation import prepare_columns
    from svmpath.estimators import PathSVC, PathSVR

    if settings.get("threshold", 0.0) != 0.0 and data.task != "classification":
        raise DataError("--threshold works for classification only; leave it out")
    used = {name: value for name, value in settings.items() if _FOR_ONE_TASK.get(name, data.task) == data.task}
    is_class = data.task == "classification"
    model = PathSVC(class_weight=data.class_weight, **used) if is_class else PathSVR(**used)
    return Pipeline([("columns", prepare_columns(data)), ("model", model)])


def fit(pipeline: Any, data: Data, says_stages: bool = False) -> None:
    """Fit to the data; with ``says_stages`` a line for each stage goes to standard error."""
    with redirect_stdout(sys.stderr) if says_stages else nullcontext():
        pipeline.set_params(model__verbose=int(says_stages))
        pipeline.fit(data.X, data.y, **data.fit_parameters())
    pipeline.set_params(model__verbose=0)

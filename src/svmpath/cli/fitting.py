"""From data and settings to a fitted pipeline, for the commands that fit models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.data_options import TrainingData

_FOR_ONE_TASK = {"epsilon": "regression", "threshold": "classification"}


class TuneResult(NamedTuple):
    """A tuned model, to be saved.

    Attributes
    ----------
    pipeline : Pipeline
    data : TrainingData
        What its columns were learnt from.
    facts : dict
        What is printed, and written as summary.json.
    page : str or None
        The report, if there is one.
    rows : DataFrame or None
        The held-out rows, if they are asked for.
    """

    pipeline: Any
    data: TrainingData
    facts: dict[str, Any]
    page: str | None = None
    rows: Any = None


def make_pipeline(data: TrainingData, settings: Mapping[str, Any]) -> Any:
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

"""From data and settings to a fitted pipeline, for the commands that fit models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.data_options import TrainingData

_FOR_ONE_TASK = {
    "epsilon": "regression",
    "quantile": "regression",
    "calibrate": "regression",
    "threshold": "classification",
    "pos_label": "classification",
}


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


def within_memory(limit: str | None, work: Callable[[], Any]) -> Any:
    """Do some work in which one matrix may take so much memory."""
    from svmpath.gram.memory import config_context

    with config_context(memory_limit=limit):
        return work()


def kernel_rank(rank: Any, landmarks: str | None, psd: str, n: int) -> Any:
    """``rank=`` of the estimators, and of ``svmpath.trace``, from --rank, --landmarks and --psd for n rows."""
    from svmpath.gram import Clipped, Nystroem, automatic_rank

    if psd == "clip" and rank in (None, "auto"):
        return Clipped()
    if landmarks is None:
        return rank
    number = automatic_rank(n) if rank == "auto" else rank
    return None if number is None else Nystroem(number, landmarks)


def make_pipeline(
    data: TrainingData, settings: Mapping[str, Any], landmarks: str | None = None, psd: str = "warn"
) -> Any:
    """The model to fit: the columns as numbers, then the estimator."""
    from sklearn.pipeline import Pipeline

    from svmpath.cli.data_options import read_positive
    from svmpath.cli.preparation import prepare_columns
    from svmpath.estimators import PathSVC, PathSVR

    if settings.get("threshold", 0.0) != 0.0 and data.task != "classification":
        raise DataError("--threshold works for classification only; leave it out")
    positive = read_positive(settings.get("pos_label"), data.y, data.task)
    used = {name: value for name, value in settings.items() if _FOR_ONE_TASK.get(name, data.task) == data.task}
    used["rank"] = kernel_rank(used["rank"], landmarks, psd, data.table.n_rows)
    is_class = data.task == "classification"
    if is_class:
        used["pos_label"] = positive
    model = PathSVC(class_weight=data.class_weight, **used) if is_class else PathSVR(**used)
    return Pipeline([("columns", prepare_columns(data)), ("model", model)])

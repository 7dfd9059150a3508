"""``svmpath predict``: the target for each row of a table, by a saved model."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.console import ProgressBar, ignore_closed_output, note, user_errors
from svmpath.cli.outputs import check_file

if TYPE_CHECKING:
    from svmpath.datasets import Table


def predict(
    model: Annotated[Path, typer.Argument(help="The model.skops that svmpath tune has written.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="Data file with the columns of the training data.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="csv file to write.", show_default=False)],
) -> None:
    """Predict the target for each row of a table; write a csv with the column `prediction`."""
    with user_errors():
        check_file(output, (model, data))
        with ProgressBar(f"Reading {data.name}") as progress:
            from svmpath.cli.saved_model import read_model, training_data
            from svmpath.datasets import read_table
            from svmpath.report import write_files

            pipeline = read_model(model)
            trained = training_data(pipeline)
            table = read_table(data, trained["target"], columns=_columns(pipeline), zero_based=trained["zero_based"])
            _note_unseen(pipeline, table)
            progress.stage("Predicting")
            predictions = pipeline.predict(_features(table, pipeline))
            write_files({output: lambda part: _write_predictions(predictions, part)})
    with ignore_closed_output():
        print(f"Wrote {len(predictions)} predictions to {output}.", flush=True)


def _columns(pipeline: Any) -> dict[str, str]:
    """The features a model needs and their kinds, in the order of its training data."""
    from sklearn.compose import ColumnTransformer

    step = pipeline["columns"]
    if not isinstance(step, ColumnTransformer):
        return {f"x{position + 1}": "number" for position in range(step.n_features_in_)}
    kinds = dict.fromkeys(step.feature_names_in_.tolist(), "number")
    for name, known in _categories(pipeline).items():
        kinds[name] = "boolean" if known.dtype == bool else "category"
    return kinds


def _categories(pipeline: Any) -> dict[str, Any]:
    """The categories a model knows, by column."""
    for part, words, names in getattr(pipeline["columns"], "transformers_", ()):
        if part == "categories":
            return dict(zip(names, words[-1].categories_, strict=True))
    return {}


def _note_unseen(pipeline: Any, table: Table) -> None:
    """Say where rows have categories that were not in the training data."""
    for name, known in _categories(pipeline).items():
        seen = set(known.tolist())
        unseen = [value for value in table.X[name] if value not in seen]
        if unseen:
            words = ", ".join(repr(str(word)) for word in list(dict.fromkeys(unseen))[:3])
            note(
                f"{table.source}: column {name!r} has categories in {len(unseen)} of {table.n_rows} rows that were not "
                f"in the training data (such as {words}); they are treated as none of the known ones."
            )


def _features(table: Table, pipeline: Any) -> Any:
    """The features in the form the pipeline was fitted to: with names, or without."""
    from scipy.sparse import issparse

    if not hasattr(pipeline["columns"], "transformers_"):
        return table.X.to_numpy() if table.named else table.X
    if table.named:
        return table.X
    import pandas as pd

    X = table.X.toarray() if issparse(table.X) else table.X
    return pd.DataFrame(X, columns=list(table.kinds))


def _write_predictions(predictions: Any, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["prediction"])
        writer.writerows([value] for value in predictions.tolist())

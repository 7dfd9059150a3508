"""``svmpath predict``: the target for each row of a table, by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.console import note, show_facts, user_errors
from svmpath.cli.live import Live
from svmpath.cli.outputs import check_file
from svmpath.cli.predictions import check_wanted, predictions
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, QuietOption

if TYPE_CHECKING:
    import pandas as pd

    from svmpath.datasets import Table


def predict(
    model: Annotated[Path, typer.Argument(help="The model.skops that svmpath tune has written.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="Data file with the columns of the training data.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="csv file to write.", rich_help_panel=OUTPUT, show_default=False
        ),
    ],
    proba: Annotated[
        bool,
        typer.Option("--proba", help="Add the probability of each class.", rich_help_panel=OUTPUT),
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="COVERAGE",
            help="Add an interval that contains the target with this probability, such as 0.9; for a classification, "
            "the set of labels that does.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Predict the target for each row of a table, by a saved model."""
    with user_errors(quiet):
        check_file(output, (model, data))
        with Live(f"Reading {data.name}", is_hidden=quiet) as live:
            table = live.run(lambda: _predict(model, data, proba, interval, live))
            live.stage("Saving")
            _write(table, output)
        facts = {"rows": len(table), "columns": list(table.columns), "written": [str(output)]}
    show_facts(facts, lambda: print(f"Wrote {len(table)} predictions to {output}."), as_json=as_json, quiet=quiet)


def _predict(model: Path, data: Path, proba: bool, interval: float | None, live: Live) -> pd.DataFrame:
    """Read the model and the rows, and predict."""
    from svmpath.cli.saved_model import read_model, training_data
    from svmpath.datasets import read_table

    pipeline = read_model(model)
    check_wanted(pipeline, model.name, proba, interval)
    trained = training_data(pipeline)
    table = read_table(data, trained["target"], columns=_columns(pipeline), zero_based=trained["zero_based"])
    _note_unseen(pipeline, table)
    live.stage("Predicting")
    return predictions(pipeline, _features(table, pipeline), proba, interval)


def _write(table: pd.DataFrame, path: Path) -> None:
    from svmpath.report import write_files

    write_files({path: lambda part: table.to_csv(part, index=False, lineterminator="\n")})


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

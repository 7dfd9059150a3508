"""``svmpath predict``: the target for each row of a table, by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from svmpath.cli.console import show_facts, user_errors
from svmpath.cli.data_options import DataArgument, FormatOption
from svmpath.cli.live import Live, reading
from svmpath.cli.outputs import check_file, write_table
from svmpath.cli.predictions import check_wanted, predictions
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, ModelArgument, QuietOption

if TYPE_CHECKING:
    import pandas as pd


def predict(
    model: ModelArgument,
    data: DataArgument,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="csv file to write, with a line for each row, in the same order.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ],
    data_format: FormatOption = None,
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
        with Live(reading(data), is_hidden=quiet) as live:
            table = live.run(lambda: _predict(model, data, data_format, proba, interval, live))
            live.stage("Saving")
            write_table(table, output)
        facts = {"rows": len(table), "columns": list(table.columns), "written": [str(output)]}
    show_facts(facts, lambda: print(f"Wrote {len(table)} predictions to {output}."), as_json=as_json, quiet=quiet)


def _predict(
    model: Path, data: Path, data_format: str | None, proba: bool, interval: float | None, live: Live
) -> pd.DataFrame:
    """Read the model and the rows, and predict."""
    from svmpath.cli.new_rows import read_rows
    from svmpath.cli.saved_model import read_model

    pipeline = read_model(model)
    check_wanted(pipeline, model.name, proba, interval)
    rows = read_rows(pipeline, data, data_format)
    live.stage("Predicting")
    return predictions(pipeline, rows.X, proba, interval)

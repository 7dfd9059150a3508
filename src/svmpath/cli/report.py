"""``svmpath report``: the page with pictures of a saved model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.console import show_facts, user_errors
from svmpath.cli.live import Live
from svmpath.cli.outputs import REPORT, check_file
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, ModelArgument, QuietOption
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.data_options import Data


def report(
    model: ModelArgument,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="The data file that it was tuned on.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="html file to write.", rich_help_panel=OUTPUT),
    ] = Path(REPORT),
    config: ConfigOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the report of a saved model: one page with pictures that you can explore, without a network."""
    with user_errors(quiet):
        check_file(output, (model, data), kind="an html file")
        with Live(f"Reading {model.name}", is_hidden=quiet) as live:
            page, facts = live.run(lambda: _page(model, data, live))
            live.stage("Saving")
            _write(page, output)
        facts["written"] = [str(output)]
    show_facts(facts, lambda: print(f"Wrote {output}: open it in a browser."), as_json=as_json, quiet=quiet)


def _page(model: Path, data: Path, live: Live) -> tuple[str, dict[str, Any]]:
    """The page, and the facts of its summary."""
    from svmpath.cli.saved_model import read_model, training_data
    from svmpath.report import Report

    pipeline = read_model(model)
    live.stage(f"Reading {data.name}")
    rows = _training_rows(training_data(pipeline), data)
    fitted = pipeline["model"].path_.problem.n
    if len(rows.y) != fitted:
        raise DataError(
            f"{data.name}: the report needs the {fitted} rows that the model was fitted to, but there are "
            f"{len(rows.y)}; give the file that it was tuned on"
        )
    live.stage("Making the report")
    try:
        made = Report(pipeline, rows.X, rows.y, title=data.name, target=rows.table.target, first_row=1, rows=rows.rows)
    except ValueError as error:
        raise DataError(f"{data.name}: {error}") from error
    live.stage("Drawing the page")
    return made.html(), made.facts["summary"]


def _training_rows(trained: Mapping[str, Any], path: Path) -> Data:
    """The rows that the model was fitted to, read as they were then."""
    from svmpath.cli.data_options import DataOptions, read_data

    how = trained.get("options") or {"target": trained["target"], "task": trained["task"]}
    return read_data(DataOptions(data=path, **how))


def _write(page: str, path: Path) -> None:
    from svmpath.report import write_files

    write_files({path: lambda part: part.write_text(page, encoding="utf-8")})

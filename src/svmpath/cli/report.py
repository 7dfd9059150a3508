"""``svmpath report``: the page with pictures of a saved model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome
from svmpath.cli.live import Live
from svmpath.cli.outputs import check_file, save
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.options import Given


def report(given: Given) -> Outcome:
    """Write the report of a saved model: one page with pictures that you can explore, without a network."""
    check_file(given.output, (given.model, given.data), kind="an html file")
    with Live(f"Reading {given.model.name}", is_hidden=given.quiet) as live:
        page, facts = live.run(lambda: _page(given.model, given.data, live))
        facts["written"] = save({given.output: partial(Path.write_text, data=page, encoding="utf-8")}, live)
    return facts, lambda: print(f"Wrote {given.output}: open it in a browser.")


def _page(model: Path, data: Path, live: Live) -> tuple[str, dict[str, Any]]:
    """The page, and the facts of its summary."""
    from svmpath.cli.data_options import DataOptions, read_data
    from svmpath.cli.saved_model import read_model, training_data
    from svmpath.report import Report

    pipeline = read_model(model)
    live.stage(f"Reading {data.name}")
    trained = training_data(pipeline)
    how = trained.get("options") or {"target": trained["target"], "task": trained["task"]}
    rows = read_data(DataOptions(data=data, **how))
    fitted = pipeline["model"].path_.problem.n
    if len(rows.y) != fitted:
        raise DataError(
            f"{data.name}: the report needs the {fitted} rows that the model was fitted to, but there are "
            f"{len(rows.y)}; give the file that it was tuned on"
        )
    live.stage("Making the report")
    table = rows.table
    try:
        made = Report(
            pipeline,
            rows.X,
            rows.y,
            title=data.name,
            target=table.target,
            first_row=1,
            rows=table.rows,
            notes=rows.notes,
        )
    except ValueError as error:
        raise DataError(f"{data.name}: {error}") from error
    live.stage("Drawing the page")
    return made.html(), made.facts["summary"]

"""``svmpath predict``: the target for each row of a table, by a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svmpath.cli.console import Outcome
from svmpath.cli.live import Live, reading
from svmpath.cli.outputs import check_file, save_table
from svmpath.cli.predictions import check_wanted, predictions

if TYPE_CHECKING:
    import pandas as pd

    from svmpath.cli.options import Given


def predict(given: Given) -> Outcome:
    """Predict the target for each row of a table, by a saved model."""
    check_file(given.output, (given.model, given.data))
    with Live(reading(given.data), is_hidden=given.quiet) as live:
        table = live.run(lambda: _predict(given, live))
        written = save_table(table, given.output, live)
    facts = {"rows": len(table), "columns": list(table.columns), "written": written}
    return facts, lambda: print(f"Wrote {len(table)} predictions to {given.output}.")


def _predict(given: Given, live: Live) -> pd.DataFrame:
    """Read the model and the rows, and predict."""
    from svmpath.cli.new_rows import read_rows
    from svmpath.cli.saved_model import read_model

    pipeline = read_model(given.model)
    check_wanted(pipeline, given.model.name, given.proba, given.interval, given.novelty)
    rows = read_rows(pipeline, given.data, given.format)
    live.stage("Predicting")
    return predictions(pipeline, rows.X, given.proba, given.interval, given.novelty)

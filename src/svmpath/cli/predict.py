"""``svmpath predict``: the target for each row of a table, by a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome
from svmpath.cli.live import Live, reading
from svmpath.cli.outputs import check_file, save_table
from svmpath.cli.predictions import beside, check_wanted, kept_columns, predictions

if TYPE_CHECKING:
    import pandas as pd

    from svmpath.cli.options import Given

_FIRST_ROWS = 10  # rows that are printed


def predict(given: Given) -> Outcome:
    """Predict the target for each row of a table, by a saved model; score a table that has the target."""
    if given.output is not None:
        check_file(given.output, (given.model, given.data))
    with Live(reading(given.data), is_hidden=given.quiet) as live:
        table, facts = live.run(lambda: _predict(given, live))
        written = save_table(table, given.output, live)
    facts = {"rows": len(table), "columns": list(table.columns), **facts, "written": written}
    return facts, lambda: _print(table, facts)


def _predict(given: Given, live: Live) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read the model and the rows, and predict: the table, and the score if it is asked for."""
    from svmpath.cli.new_rows import read_rows
    from svmpath.cli.saved_model import read_model
    from svmpath.cli.score import read_truth, score

    pipeline = read_model(given.model)
    check_wanted(pipeline, given.model.name, given.proba, given.interval, given.novelty)
    rows = read_rows(pipeline, given.data, given.format)
    kept = kept_columns(rows, given.keep)
    truth = read_truth(pipeline, rows) if given.score else None
    live.stage("Predicting")
    table = predictions(pipeline, rows.X, given.proba, given.interval, given.novelty)
    facts: dict[str, Any] = {} if truth is None else {"score": score(pipeline, table["prediction"], *truth)}
    if given.output is None:
        facts["table"] = table.head(_FIRST_ROWS).to_dict("records")
    return beside(kept, table), facts


def _print(table: pd.DataFrame, facts: dict[str, Any]) -> None:
    """Where the predictions are, or the first of them; and the score."""
    from svmpath.cli.results import print_table
    from svmpath.cli.score import print_score

    if facts["written"]:
        print(f"Wrote {len(table)} predictions to {facts['written'][0]}.")
    else:
        first = table.head(_FIRST_ROWS)
        shown = [[str(k + 1), *map(_cell, row)] for k, row in enumerate(first.itertuples(index=False))]
        more = [f"The first {len(first)} of {len(table)} rows; -o FILE writes all of them."]
        print_table("svmpath predict", shown, *(more if len(table) > len(first) else []), heads=["row", *table.columns])
    if "score" in facts:
        print_score(facts["score"])


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)

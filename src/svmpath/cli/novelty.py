"""``svmpath novelty``: which rows of one table are not like those of another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome, note
from svmpath.cli.data_options import DataOptions, read_noted, read_untargeted
from svmpath.cli.live import Live, reading
from svmpath.cli.outputs import check_file, save_table
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.options import Given

_MOST_SHOWN = 20  # rows that are printed
_HOW = {"loo": "leave-one-out", "kfold": "folds", "split": "one fold"}


def novelty(given: Given) -> Outcome:
    """Find the rows of a table that are not like those of another one, with p-values."""
    options = DataOptions.of(given)
    if str(given.data) == str(given.new) == "-":
        raise DataError("DATA and NEW cannot both be read from standard input; give the name of a file")
    if given.output is not None:
        check_file(given.output, (given.data, given.new))
    with Live(reading(given.data), is_hidden=given.quiet) as live:
        facts, table = live.run(lambda: _novelty(given, options, live))
        facts["written"] = save_table(table, given.output, live)
    return facts, lambda: _print(facts)


def _novelty(given: Given, options: DataOptions, live: Live) -> tuple[dict[str, Any], Any]:
    """Read both tables, fit, and compare: the facts, and the table of the new rows."""
    import pandas as pd
    from sklearn.pipeline import Pipeline

    from svmpath.cli.new_rows import read_rows
    from svmpath.cli.preparation import prepare_columns
    from svmpath.cli.saved_model import with_data
    from svmpath.estimators import PathOneClassSVM

    data = read_noted(options, read_untargeted)
    model = PathOneClassSVM(**given.settings)
    pipeline = Pipeline([("columns", prepare_columns(data)), ("model", model)])
    live.stage("Tuning")
    start = time.perf_counter()
    pipeline.fit(data.X, **data.fit_parameters())
    live.stage("Comparing the new rows")
    rows = read_rows(with_data(pipeline, data.trained()), given.new, given.format)
    Z = pipeline[:-1].transform(rows.X)
    parts = {"prediction": model.predict, "p_value": model.p_values, "decision": model.decision_function}
    table = pd.DataFrame({name: decide(Z) for name, decide in parts.items()})
    seconds = time.perf_counter() - start
    count = int((table["prediction"] == -1).sum())
    if count > 3 * model.nu_ * len(table) and count > 5:
        note(
            f"{count} of {len(table)} rows are rejected, but {model.nu_ * len(table):.0f} would be if they were like "
            f"those of {data.table.source}: the data have changed."
        )
    facts = {
        "file": data.table.source,
        "rows": data.table.n_rows,
        "new_file": rows.source,
        "new_rows": len(table),
        "nu": float(model.nu_),
        "gamma": None if model.gamma_ is None else float(model.gamma_),
        "held_out_by": model.criterion_,
        "novelties": count,
        "seconds": seconds,
        "table": [{"row": k + 1, **row} for k, row in enumerate(table.to_dict("records"))],
    }
    return facts, table


def _print(facts: dict[str, Any]) -> None:
    """The most surprising rows, and how many there are."""
    from svmpath.cli.results import print_table

    first = sorted(facts["table"], key=lambda row: row["decision"])[:_MOST_SHOWN]
    shown = [
        (str(row["row"]), f"{row['p_value']:.4f}", "novel" if row["prediction"] == -1 else "usual") for row in first
    ]
    gamma = "" if facts["gamma"] is None else f"; gamma = {facts['gamma']:.4g}"
    lines = [
        f"{facts['novelties']} of {facts['new_rows']} rows have a p-value of at most {facts['nu']:g}{gamma}.",
        f"p-values: among the {facts['rows']} rows of {facts['file']}, each by a machine that has not seen it "
        f"({_HOW[facts['held_out_by']]}).",
    ]
    if len(facts["table"]) > len(first):
        lines.insert(0, f"The {len(first)} most surprising of {len(facts['table'])} rows; -o FILE writes all of them.")
    title = f"svmpath novelty: {facts['new_file']}"
    print_table(title, shown, *lines, heads=("row", "p-value", "label"), written=facts["written"])

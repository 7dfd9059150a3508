"""``svmpath tune`` for parquet files that do not fit into memory: columns as learnt from a sample, C on all rows."""

from __future__ import annotations

import sys
import tempfile
import warnings
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.chunked import distributed
from svmpath.cli.console import first_line, note
from svmpath.cli.data_options import PATTERN, read_noted
from svmpath.cli.fitting import TuneResult, make_pipeline
from svmpath.cli.honest import estimate_error
from svmpath.cli.live import Stopwatch
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.data_options import DataOptions, TrainingData
    from svmpath.cli.live import Live
    from svmpath.cli.options import Given

_SAMPLED_ROWS = 20_000  # rows from which the columns are learnt
_SHOWN_ROWS = 2000  # of these, whose pictures and tables a report shows


def is_in_chunks(data: Path, scheduler: str | None) -> bool:
    """Whether the data are to be read in chunks."""
    # A file may be called [1].csv.
    return scheduler is not None or (any(sign in str(data) for sign in PATTERN) and not data.exists())


def refuse_with_chunks(given: Given) -> None:
    """Refuse options that look at all rows together."""
    refused = {
        "--impute drop-rows": given.impute == "drop-rows",
        f"--format {given.format}": given.format not in (None, "parquet"),
    }
    for option, is_given in refused.items():
        if is_given:
            raise DataError(f"{option} does not work for data in chunks (--scheduler); leave it out")


def tune_chunks(given: Given, options: DataOptions, live: Live) -> TuneResult:
    """Learn the columns from a sample, then tune on all rows."""
    from svmpath.cli.data_notes import without_target

    room, clock = distributed(), Stopwatch()
    frame = room.read_parquet(str(options.data))
    columns_of = {
        "--target": options.target, "--weight-column": options.weight_column, "--group-column": options.group_column
    }  # fmt: skip
    for option, name in columns_of.items():
        if name not in frame.columns and (name is not None or option == "--target"):
            raise DataError(f"{option} must be one of the columns {', '.join(map(str, frame.columns))}")
    frame, missing = room.with_target(frame, options.target)
    if missing:
        note(without_target(missing, str(options.target)))
    rows, n = room.sample_rows(frame, _SAMPLED_ROWS, given.seed)
    with tempfile.TemporaryDirectory() as folder:  # read as a file of its own would be: the same kinds and notes
        file = Path(folder) / "sample.parquet"
        rows.to_parquet(file, index=False)
        sample = read_noted(replace(options, data=file, format="parquet"))
    clock.lap("reading")
    pipeline = make_pipeline(sample, given.settings, given.landmarks, given.psd)
    columns, model = pipeline["columns"], pipeline["model"]
    Z = columns.fit_transform(sample.X, sample.y)
    X = room.transformed(frame, list(sample.table.kinds), columns.transform, Z.shape[1])
    weight = None if options.weight_column is None else frame[options.weight_column]
    groups = None if options.group_column is None else frame[options.group_column].compute().to_numpy()
    live.stage("Tuning")
    model.set_params(verbose=int(given.verbose))
    with redirect_stdout(sys.stderr) if given.verbose else nullcontext():
        model.fit(X, frame[options.target], weight, groups=groups)
    model.set_params(verbose=0)
    clock.lap("search")
    live.stage("Estimating the error of the whole procedure")
    honest = estimate_error(model, given.honest, given.settings)
    clock.lap("honest error")
    learnt = "columns, gamma and rank were" if getattr(model, "sample_size_", 0) else "columns were"
    notes = [*sample.notes, f"{learnt} learnt from a sample of {len(rows)} of {n} rows; C was chosen on all of them."]
    if model.gathered_rows_:
        notes[-1] = f"{n} rows in chunks are few, and were tuned in memory."
    note(notes[-1])
    facts = _facts(model, sample, str(options.data), n, honest)
    facts["data"] |= {"chunks": frame.npartitions, "notes": notes}
    page = None
    if given.report:
        live.stage("Making the report")
        page = _page(pipeline, sample, facts, given.seed)
        clock.lap("report")
    facts["times"], facts["seconds"] = clock.times, sum(clock.times.values())
    table = None
    if given.held_out is not None:  # rows without a target are not counted
        table = model.held_out_table().rename(columns={"sample": "row"})
        table["row"] += 1
    return TuneResult(pipeline, sample, facts, page, table)


def _facts(model: Any, sample: TrainingData, file: str, n: int, honest: Any) -> dict[str, Any]:
    """What is printed, and written as summary.json: as of data in memory."""
    from svmpath.report import summarise

    held_out = model._known
    y = held_out.labels if held_out.classes is None else held_out.classes[held_out.labels]
    facts = summarise(
        model, y, file=file, kinds=sample.table.kinds, target=sample.table.target, task=sample.task, seconds=None,
        honest=honest,
    )  # fmt: skip
    facts["data"]["rows"], facts["columns"], facts["importance"] = n, sample.columns, None
    facts["choice"]["sample_size"] = getattr(model, "sample_size_", 0)
    facts["passes"] = getattr(model.path_, "passes", {})
    if getattr(model, "threshold", 0.0) != 0.0:
        facts["choice"]["threshold"] = model.threshold_
    return facts


def _page(pipeline: Any, sample: TrainingData, facts: dict[str, Any], seed: int) -> str | None:
    """The report: facts of all rows; pictures and rows of a machine with the same C and kernel on a sample.

    None if it cannot be made, as a tuned model must not be lost for that.
    """
    import numpy as np
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    from svmpath.report import Report
    from svmpath.report.facts import plain
    from svmpath.report.importance import importance_facts

    model, n, title = pipeline["model"], facts["data"]["rows"], facts["data"]["file"]
    rows = np.sort(np.random.default_rng(seed).permutation(len(sample.y))[:_SHOWN_ROWS])
    X = sample.X.iloc[rows] if hasattr(sample.X, "iloc") else sample.X[rows]
    options = {
        "C": model.C_, "kernel": model.kernel_, "gamma": None, "loss": model.path_.loss, "search": "grid", "cv": 5,
        "rank": min(model.rank_, len(rows)), "quantile": None, "threshold": getattr(model, "threshold_", 0.0),
    }  # fmt: skip
    try:
        few, columns, y = clone(model), pipeline["columns"], sample.y[rows]
        few.set_params(**{name: options[name] for name in options.keys() & few.get_params(deep=False).keys()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # all rows were judged
            table = sample.table
            weight, groups = (None if each is None else each[rows] for each in (table.weights, table.groups))
            few.fit(columns.transform(X), y, sample_weight=weight, groups=groups)
        shown = Pipeline([("columns", columns), ("model", few)])
        sentence = (
            f"Numbers are those of all {n} rows. Curves, pictures and rows are those of a machine with the same C and "
            f"kernel that was fitted to a sample of {len(rows)} of them."
        )
        facts["data"]["notes"].append(sentence)
        facts["importance"] = plain(importance_facts(shown, X, list(sample.table.kinds)))
        return Report(shown, X, y, title=title, summary=facts).html()
    except Exception as error:
        note(f"the report could not be made ({first_line(error)}); the model is saved without it.")
        return None

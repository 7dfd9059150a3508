"""``svmpath tune`` for parquet files that do not fit into memory: columns as learnt from a sample, C on all rows."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.chunked import distributed
from svmpath.cli.console import note
from svmpath.cli.data_options import PATTERN, read_noted
from svmpath.cli.fitting import TuneResult, make_pipeline
from svmpath.cli.messages import in_options
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.data_options import DataOptions, TrainingData
    from svmpath.cli.live import Live
    from svmpath.cli.options import Given

_SAMPLED_ROWS = 20_000  # rows from which the columns are learnt


def is_in_chunks(data: Path, scheduler: str | None) -> bool:
    """Whether the data are to be read in chunks."""
    # A file may be called [1].csv.
    return scheduler is not None or (any(sign in str(data) for sign in PATTERN) and not data.exists())


def refuse_with_chunks(given: Given) -> None:
    """Refuse options that look at all rows together."""
    refused = {
        "--group-column": given.group_column is not None,
        "--held-out": given.held_out is not None,
        "--impute drop-rows": given.impute == "drop-rows",
        f"--honest {given.honest}": given.honest not in ("auto", "none"),
        f"--format {given.format}": given.format not in (None, "parquet"),
    }
    for option, is_given in refused.items():
        if is_given:
            raise DataError(f"{option} does not work for data in chunks (--scheduler); leave it out")


def tune_chunks(given: Given, options: DataOptions, live: Live) -> TuneResult:
    """Learn the columns from a sample, then tune on all rows."""
    from svmpath.cli.data_notes import without_target

    room = distributed()
    frame = room.read_parquet(str(options.data))
    for option, name in (("--target", options.target), ("--weight-column", options.weight_column)):
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
    pipeline = make_pipeline(sample, given.settings, given.landmarks, given.psd)
    columns, model = pipeline["columns"], pipeline["model"]
    Z = columns.fit_transform(sample.X, sample.y)
    names = list(sample.table.kinds)
    X = room.transformed(frame, names, columns.transform, Z.shape[1])
    weight = None if options.weight_column is None else frame[options.weight_column]
    live.stage("Tuning")
    start = time.perf_counter()
    model.fit(X, frame[options.target], weight)
    what = "columns, gamma and rank were" if model.sample_size_ else "columns were"
    note(f"{what} learnt from a sample of {len(rows)} of {n} rows; C was chosen on all of them.")
    note("there is no report for data in chunks; tune a sample to see one.")
    facts = _facts(model, sample, str(options.data), n, frame.npartitions, time.perf_counter() - start)
    if facts["held_out"].get("caution") is not None:
        note(in_options(facts["held_out"]["caution"]))
    return TuneResult(pipeline, sample, facts)


def _facts(model: Any, sample: TrainingData, file: str, n: int, parts: int, seconds: float) -> dict[str, Any]:
    """What is printed, and written as summary.json."""
    from svmpath.report.facts import plain
    from svmpath.report.summary import recall_facts

    is_class = sample.task == "classification"
    return {
        "data": {
            "file": file,
            "rows": n,
            "chunks": parts,
            "target": sample.table.target,
            "task": sample.task,
            "columns": sample.columns,
            **({"classes": model.classes_.tolist()} if is_class else {}),
        },
        "choice": {
            "loss": model.loss_,
            "kernel": str(model.kernel),
            "C": model.C_,
            "gamma": model.gamma_,
            "rank": model.rank_,
            "residual": model.residual_,
            "sample_size": model.sample_size_,
        },
        "held_out": {
            "criterion": model.error_criterion_,
            "kind": "error rate" if is_class else "mean squared error",
            "value": model.held_out_error(),
            "standard_error": model.curve_.standard_error(model.choice_.index),
            **(plain(recall_facts(model)) if is_class else {}),
        },
        "curve": {"C": model.curve_.values.tolist(), "score": model.curve_.scores.tolist()},
        "passes": model.path_.passes,
        "seconds": seconds,
    }


def print_chunks(facts: Mapping[str, Any]) -> None:
    """Show the most important facts."""
    from svmpath.cli.results import amount, held_out_by, print_table, recalls

    data, choice, held_out = facts["data"], facts["choice"], facts["held_out"]
    rows = {
        "Task": data["task"] + (f" ({len(data['classes'])} classes)" if "classes" in data else ""),
        "Target": data["target"],
        "Rows": f"{data['rows']} in {data['chunks']} chunks",
        "Machine": f"{choice['loss']}, {choice['kernel']} kernel",
        "C": f"{choice['C']:.6g}",
        "gamma": None if choice["gamma"] is None else f"{choice['gamma']:.6g}",
        "Rank": f"{choice['rank']} (residual {choice['residual']:.2g})",
        "Held-out error": f"{amount(held_out['value'], held_out['kind'])} ({held_out_by(held_out['criterion'], None)})",
        "Recall": recalls(held_out, len(data.get("classes", ()))),
        "Time": f"{facts['seconds']:.2f} s, {sum(facts['passes'].values())} passes over the rows",
    }
    print_table(f"svmpath tune: {data['file']}", rows.items(), written=facts["written"])

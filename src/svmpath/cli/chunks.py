"""``svmpath tune`` for parquet files that do not fit into memory: columns as learnt from a sample, C on all rows."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.chunked import distributed
from svmpath.cli.console import note
from svmpath.cli.data_options import PANEL
from svmpath.cli.fitting import make_pipeline, read_noted
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.data_options import Data, DataOptions
    from svmpath.cli.live import Live

_SAMPLED_ROWS = 20_000  # rows from which the columns are learnt
_PATTERN = "*?["  # a name with one of these stands for several files

SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="NAME",
        help="Read parquet files in chunks with Dask, for tables that do not fit into memory: threads, processes (of "
        "this computer), or the address of a cluster, tcp://host:port. threads if DATA is a pattern such as "
        "'big/*.parquet'.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]


def is_in_chunks(data: Path, scheduler: str | None) -> bool:
    """Whether the data are to be read in chunks."""
    # A file may be called [1].csv.
    return scheduler is not None or (any(sign in str(data) for sign in _PATTERN) and not data.exists())


def refuse_with_chunks(given: Mapping[str, Any]) -> None:
    """Refuse options that look at all rows together."""
    asked = {
        "--group-column": given["group_column"] is not None,
        "--held-out": given["held_out"] is not None,
        "--impute drop-rows": given["impute"] == "drop-rows",
        f"--honest {given['honest']}": given["honest"] not in ("auto", "none"),
        f"--format {given['data_format']}": given["data_format"] not in (None, "parquet"),
    }
    for option, is_asked in asked.items():
        if is_asked:
            raise DataError(f"{option} does not work for data in chunks (--scheduler); leave it out")


@dataclass(frozen=True)
class TunedChunks:
    """What was found: the pipeline, the sample that its columns were learnt from, and the facts."""

    pipeline: Any
    sample: Data
    facts: dict[str, Any]


def tune_chunks(options: DataOptions, settings: Mapping[str, Any], live: Live) -> TunedChunks:
    """Learn the columns from a sample, then tune on all rows."""
    from svmpath.cli.data_notes import without_target

    room = distributed()
    frame, missing = room.with_target(_with_columns(room.read_parquet(str(options.data)), options), options.target)
    if missing:
        note(without_target(missing, str(options.target)))
    rows, n = room.sample_rows(frame, _SAMPLED_ROWS, settings["random_state"])
    sample = _read_sample(options, rows)
    pipeline = make_pipeline(sample, settings)
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
    facts = _facts(model, sample, options, n, frame.npartitions, time.perf_counter() - start)
    return TunedChunks(pipeline, sample, facts)


def _with_columns(frame: Any, options: DataOptions) -> Any:
    """The frame; raises an error if it lacks the target or the weights."""
    for option, name, is_asked in (
        ("--target", options.target, True),
        ("--weight-column", options.weight_column, options.weight_column is not None),
    ):
        if is_asked and name not in frame.columns:
            raise DataError(f"{option} must be one of the columns {', '.join(map(str, frame.columns))}")
    return frame


def _read_sample(options: DataOptions, rows: Any) -> Data:
    """The sample, read as a file of its own would be: with the same kinds of columns and the same notes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sample.parquet"
        rows.to_parquet(file, index=False)
        return read_noted(replace(options, data=file, format="parquet"))


def _facts(model: Any, sample: Data, options: DataOptions, n: int, parts: int, seconds: float) -> dict[str, Any]:
    """What is printed, and written as summary.json."""
    is_class = sample.task == "classification"
    return {
        "data": {
            "file": str(options.data),
            "rows": n,
            "chunks": parts,
            "target": options.target,
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
        },
        "curve": {"C": model.curve_.values.tolist(), "score": model.curve_.scores.tolist()},
        "passes": model.path_.passes,
        "seconds": seconds,
    }


def print_chunks(facts: Mapping[str, Any]) -> None:
    """Show the most important facts."""
    from rich.console import Console
    from rich.table import Table

    from svmpath.cli.results import amount, held_out_by, written_text

    data, choice, held = facts["data"], facts["choice"], facts["held_out"]
    rows = {
        "Task": data["task"] + (f" ({len(data['classes'])} classes)" if "classes" in data else ""),
        "Target": data["target"],
        "Rows": f"{data['rows']} in {data['chunks']} chunks",
        "Machine": f"{choice['loss']}, {choice['kernel']} kernel",
        "C": f"{choice['C']:.6g}",
        "gamma": None if choice["gamma"] is None else f"{choice['gamma']:.6g}",
        "Rank": f"{choice['rank']} (residual {choice['residual']:.2g})",
        "Held-out error": f"{amount(held['value'], held['kind'])} ({held_out_by(held['criterion'], None)})",
        "Time": f"{facts['seconds']:.2f} s, {sum(facts['passes'].values())} passes over the rows",
    }
    table = Table(title=f"svmpath tune: {data['file']}", show_header=False, title_justify="left")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, value)
    Console(markup=False, highlight=False).print(table)
    print(written_text(facts["written"]))

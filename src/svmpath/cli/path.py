"""``svmpath path``: follow one hyper-parameter, and write breakpoints, events and solutions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.console import show_facts, user_errors
from svmpath.cli.data_options import (
    CategoricalOption,
    ClassWeightOption,
    ColumnsOption,
    DataArgument,
    DataOptions,
    DropOption,
    FormatOption,
    ImputeOption,
    TargetOption,
    TaskOption,
    WeightColumnOption,
)
from svmpath.cli.fitting import data_options, read_noted
from svmpath.cli.live import Live, reading
from svmpath.cli.machine_options import (
    MACHINE,
    SEARCH,
    Coef0Option,
    DegreeOption,
    KernelOption,
    LandmarksOption,
    PsdOption,
    SeedOption,
)
from svmpath.cli.options import check_name, read_rank
from svmpath.cli.outputs import check_file, to_csv
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, QuietOption
from svmpath.exceptions import DataError
from svmpath.names import did_you_mean

if TYPE_CHECKING:
    import numpy as np

_VALUES = 50  # at which solutions are written, if not said otherwise


def path(
    context: typer.Context,
    data: DataArgument,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="NAME.npz for one file with all arrays, or NAME.csv for NAME_breakpoints.csv, NAME_events.csv and "
            "NAME_solutions.csv.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ],
    data_format: FormatOption = None,
    target: TargetOption = None,
    task: TaskOption = None,
    drop: DropOption = None,
    columns: ColumnsOption = None,
    categorical: CategoricalOption = None,
    impute: ImputeOption = "auto",
    class_weight: ClassWeightOption = None,
    weight_column: WeightColumnOption = None,
    over: Annotated[
        str | None,
        typer.Option(
            "--over",
            metavar="NAME",
            help="Hyper-parameter to follow: C, epsilon (for epsilon_insensitive), nu (for nu), gamma or coef0. If not "
            "given, C, or nu for nu.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    span: Annotated[
        str | None,
        typer.Option(
            "--span",
            metavar="FROM:TO",
            help="Its first and its last value; the path may go up or down. If not given, a wide range: 0.001 to "
            "1e6 for C, to 1000 for losses with an elbow; for the others it depends on the data.",
            rich_help_panel=SEARCH,
            show_default=False,
        ),
    ] = None,
    values: Annotated[
        str,
        typer.Option(
            "--values",
            metavar="VALUES",
            help="Where solutions are written: a number of values along the span, breakpoints, or a list 0.1,1,10.",
            rich_help_panel=SEARCH,
        ),
    ] = str(_VALUES),
    loss: Annotated[
        str | None,
        typer.Option(
            "--loss",
            metavar="NAME",
            help="Loss of the machine: squared_hinge (default for two classes), hinge, huber_hinge, least_squares "
            "(default for regression), epsilon_insensitive or nu.",
            rich_help_panel=MACHINE,
            show_default=False,
        ),
    ] = None,
    C: Annotated[
        float, typer.Option("--C", metavar="NUMBER", help="C, unless it is followed.", rich_help_panel=MACHINE)
    ] = 1.0,
    gamma: Annotated[
        str,
        typer.Option(
            "--gamma",
            metavar="VALUE",
            help="Parameter of the kernel, unless it is followed: scale, auto or a number.",
            rich_help_panel=MACHINE,
        ),
    ] = "scale",
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon",
            metavar="NUMBER",
            help="Half the width of the tube of epsilon_insensitive, unless it is followed.",
            rich_help_panel=MACHINE,
        ),
    ] = 0.1,
    kernel: KernelOption = "rbf",
    degree: DegreeOption = 3,
    coef0: Coef0Option = 0.0,
    rank: Annotated[
        str,
        typer.Option(
            "--rank",
            metavar="VALUE",
            help="Low-rank kernel: exact (none), a number of landmarks, a target for the residual in (0, 1), or auto "
            "(500 landmarks with more than 2000 rows).",
            rich_help_panel=MACHINE,
        ),
    ] = "auto",
    landmarks: LandmarksOption = None,
    psd: PsdOption = "warn",
    random_state: SeedOption = 0,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Follow the machine over one hyper-parameter; write breakpoints, events and solutions."""
    with user_errors(quiet):
        settings = {
            "loss": loss,
            "over": over,
            "span": _read_span(span),
            "C": C,
            "gamma": _read_gamma(gamma),
            "epsilon": epsilon,
            "kernel": check_name("--kernel", kernel),
            "degree": degree,
            "coef0": coef0,
            "rank": read_rank(rank),
            "landmarks": landmarks if landmarks is None else check_name("--landmarks", landmarks),
            "psd": check_name("--psd", psd),
            "random_state": random_state,
        }
        wanted, options, files = _read_values(values), data_options(context), _files(output)
        for file in files.values():
            check_file(file, (data,))
        with Live(reading(data), is_hidden=quiet) as live:
            traced = live.run(lambda: _trace(options, settings, wanted, live))
            live.stage("Saving")
            _write(traced, files)
        facts = {**traced.facts, "written": [str(file) for file in files.values()]}
    show_facts(facts, lambda: _print(facts), as_json=as_json, quiet=quiet)


def _read_span(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, last = (float(part) for part in text.split(":"))
    except ValueError:
        raise DataError(f"--span must be FROM:TO, such as 0.01:100, not {text!r}") from None
    return first, last


def _read_gamma(text: str) -> str | float:
    words = ("scale", "auto")
    if text in words:
        return text
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise DataError(f"--gamma must be scale, auto or a positive number, not {text!r}.{did_you_mean(text, words)}")
    return value


def _read_values(text: str) -> int | str | list[float]:
    """A number of values, "breakpoints", or the values."""
    if text == "breakpoints":
        return text
    try:
        if text.strip().isdecimal() and int(text) >= 1:
            return int(text)
        if "," in text or "." in text or "e" in text:
            return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        pass
    raise DataError(
        f"--values must be a number of values, breakpoints, or a list such as 0.1,1,10, not {text!r}."
        f"{did_you_mean(text, ['breakpoints'])}"
    )


def _files(output: Path) -> dict[str, Path]:
    """The files to write: one, or a csv file for each table."""
    if output.suffix == ".npz":
        return {"npz": output}
    if output.suffix == ".csv":
        return {name: output.with_name(f"{output.stem}_{name}.csv") for name in ("breakpoints", "events", "solutions")}
    raise DataError(f"--output must end with .csv or .npz, not {output.name!r}")


@dataclass(frozen=True)
class _Traced:
    """A path, as arrays and facts."""

    facts: dict[str, Any]
    breakpoints: np.ndarray
    events: Any  # a DataFrame
    values: np.ndarray
    offsets: np.ndarray
    alpha: np.ndarray  # a row for each value
    decisions: np.ndarray
    rows: np.ndarray
    classes: Any


def _trace(options: DataOptions, settings: Mapping[str, Any], wanted: Any, live: Live) -> _Traced:
    """Read, follow, and evaluate."""
    import numpy as np
    import pandas as pd

    from svmpath.cli.preparation import prepare_columns
    from svmpath.paths import trace
    from svmpath.progress import begin, doing, part_done

    data = read_noted(options)
    X = prepare_columns(data).fit_transform(data.X)
    live.stage("Following the path" + (f" over {settings['over']}" if settings["over"] else ""))
    weights = {"sample_weight": data.sample_weight, "class_weight": data.class_weight, "task": data.task}
    start = time.perf_counter()
    traced = trace(X, data.y, **settings, **weights)
    events = [(event.value, int(data.rows[event.sample]) + 1, event.source, event.target) for event in traced.events()]
    seconds = time.perf_counter() - start
    values = _values_along(traced, wanted)
    live.stage("Solving")
    begin("solutions", len(values))
    solutions = []
    for value in values.tolist():
        doing(f"{traced.over} = {value:.4g}")
        solutions.append(traced(value))
        part_done()
    facts = {
        "file": data.table.source,
        "target": data.table.target,
        "task": data.task,
        "rows": len(data.y),
        "loss": traced.loss.name,
        "kernel": settings["kernel"],
        "over": traced.over,
        "span": [float(end) for end in traced.span],
        "fixed": {name: float(value) for name, value in _fixed(traced).items()},
        "breakpoints": len(traced.breakpoints),
        "events": len(events),
        "exact": bool(traced.is_exact),
        "rank": None if traced.gram.Z is None else int(traced.gram.rank),
        "values": len(values),
        "largest_violation": max(float(solution.violation) for solution in solutions),
        "seconds": seconds,
    }
    return _Traced(
        facts,
        np.asarray(traced.breakpoints, dtype=float),
        pd.DataFrame(events, columns=["value", "row", "from", "to"]),
        values,
        np.array([solution.b for solution in solutions]),
        np.array([solution.alpha for solution in solutions]),
        np.array([solution.fitted for solution in solutions]),
        data.rows + 1,
        traced.classes,
    )


def _fixed(traced: Any) -> dict[str, float]:
    """The hyper-parameters that stay: of the machine, and of the kernel."""
    of_kernel = {name: value for name, value in traced.gram.kernel.parameters.items() if name != traced.over}
    return {**traced.motion.fixed, **of_kernel}


def _values_along(traced: Any, wanted: int | str | list[float]) -> np.ndarray:
    """The values at which solutions are asked for, in the direction of the path."""
    import numpy as np

    from svmpath.paths.trace import parameter_of

    if isinstance(wanted, str):
        return np.unique(traced.breakpoints)[:: 1 if traced.span[0] <= traced.span[1] else -1]
    if isinstance(wanted, list):
        return np.array([traced.inside(value) for value in wanted])
    first, last = traced.span
    is_log = parameter_of(traced.over, traced.loss, traced.gram.kernel).log and min(first, last) > 0
    return (np.geomspace if is_log else np.linspace)(first, last, wanted)


def _write(traced: _Traced, files: Mapping[str, Path]) -> None:
    """Write all files, or none."""
    from svmpath.report import write_files

    writers: dict[str, Callable[[Path], object]] = {
        "npz": lambda part: _write_npz(traced, part),
        "breakpoints": lambda part: to_csv(_table(traced, "breakpoints"), part),
        "events": lambda part: to_csv(traced.events, part),
        "solutions": lambda part: to_csv(_table(traced, "solutions"), part),
    }
    write_files({file: writers[name] for name, file in files.items()})


def _table(traced: _Traced, name: str) -> Any:
    """Breakpoints, or solutions with a line for each value and a column for each row of the data."""
    import pandas as pd

    over = traced.facts["over"]
    if name == "breakpoints":
        return pd.DataFrame({over: traced.breakpoints})
    alpha = pd.DataFrame(traced.alpha, columns=[f"alpha_{row}" for row in traced.rows])
    return pd.concat([pd.DataFrame({over: traced.values, "offset": traced.offsets}), alpha], axis=1)


def _write_npz(traced: _Traced, path: Path) -> None:
    import numpy as np

    events = {f"event_{name}": traced.events[name].to_numpy() for name in ("value", "row")}
    places = {f"event_{name}": traced.events[name].to_numpy().astype("U8") for name in ("from", "to")}
    arrays: dict[str, Any] = {} if traced.classes is None else {"classes": np.asarray(traced.classes)}
    arrays.update(events, **places)
    with path.open("wb") as file:  # numpy would add .npz to a name
        np.savez_compressed(
            file,
            over=np.array(traced.facts["over"]),
            breakpoints=traced.breakpoints,
            values=traced.values,
            alpha=traced.alpha,
            offset=traced.offsets,
            decision=traced.decisions,
            row=traced.rows,
            **arrays,
        )


def _print(facts: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from svmpath.cli.results import written_text

    table = Table(title=f"svmpath path: {facts['file']}", show_header=False, title_justify="left")
    first, last = facts["span"]
    fixed = ", ".join(f"{name} = {value:.4g}" for name, value in facts["fixed"].items())
    rows = {
        "Machine": f"{facts['loss']}, {facts['kernel']} kernel" + (f", {fixed}" if fixed else ""),
        "Rows": str(facts["rows"]),
        "Path": f"over {facts['over']} from {first:.6g} to {last:.6g}" + ("" if facts["exact"] else ", approximate"),
        "Rank": "full" if facts["rank"] is None else str(facts["rank"]),
        "Breakpoints": str(facts["breakpoints"]),
        "Events": str(facts["events"]),
        "Solutions": f"{facts['values']}, largest violation of optimality {facts['largest_violation']:.1e}",
        "Time": f"{facts['seconds']:.2f} s",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    Console(markup=False, highlight=False).print(table)
    print(written_text(facts["written"]))

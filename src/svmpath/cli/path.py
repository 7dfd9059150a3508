"""``svmpath path``: follow one hyper-parameter, and write breakpoints, events and solutions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome
from svmpath.cli.data_options import DataOptions, read_noted
from svmpath.cli.fitting import kernel_rank
from svmpath.cli.live import Live, reading
from svmpath.cli.outputs import check_file, check_folder, save, to_csv
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    import numpy as np

    from svmpath.cli.options import Given


def path(given: Given) -> Outcome:
    """Follow the machine over one hyper-parameter; write breakpoints, events and solutions."""
    output = given.output
    if output.suffix == ".csv":
        raise DataError(
            f"--output must be a folder, for three tables, or a name that ends with .npz, not {output.name!r}"
        )
    files = {"npz": output}
    if output.suffix == ".npz":
        check_file(output, (given.data,), kind="an npz file")
    else:
        files = {name: output / f"{name}.csv" for name in ("breakpoints", "events", "solutions")}
        check_folder(output, tuple(file.name for file in files.values()))
        for file in files.values():
            if file.exists():
                check_file(file, (given.data,))
    with Live(reading(given.data), is_hidden=given.quiet) as live:
        facts, arrays = live.run(lambda: _trace(given, live))
        writers = {
            file: partial(_write_npz, arrays) if name == "npz" else partial(to_csv, _table(name, facts["over"], arrays))
            for name, file in files.items()
        }
        facts["written"] = save(writers, live)
    return facts, lambda: _print(facts)


def _trace(given: Given, live: Live) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read, follow, and evaluate: the facts, and the arrays that are written."""
    import numpy as np

    from svmpath.cli.preparation import prepare_columns
    from svmpath.paths import trace

    data, settings = read_noted(DataOptions.of(given)), given.settings
    X, table = prepare_columns(data).fit_transform(data.X), data.table
    live.stage("Following the path" + (f" over {settings['over']}" if settings["over"] else ""))
    weights = {"sample_weight": table.weights, "class_weight": data.class_weight, "task": data.task}
    start = time.perf_counter()
    rank = kernel_rank(settings["rank"], given.landmarks, given.psd, table.n_rows)
    traced = trace(X, data.y, **{**settings, "rank": rank}, **weights)
    events = list(traced.events())
    seconds = time.perf_counter() - start
    values = _values_along(traced, given.values)
    live.stage("Solving")
    solutions = _solve(traced, values.tolist())
    of_kernel = {name: value for name, value in traced.gram.kernel.parameters.items() if name != traced.over}
    facts = {
        "file": table.source,
        "target": table.target,
        "task": data.task,
        "rows": len(data.y),
        "loss": traced.loss.name,
        "kernel": settings["kernel"],
        "over": traced.over,
        "span": [float(end) for end in traced.span],
        "fixed": {name: float(value) for name, value in {**traced.path_parameter.fixed, **of_kernel}.items()},
        "breakpoints": len(traced.breakpoints),
        "events": len(events),
        "exact": bool(traced.is_exact),
        "rank": None if traced.gram.Z is None else int(traced.gram.rank),
        "values": len(values),
        "largest_violation": max(float(solution.violation) for solution in solutions),
        "seconds": seconds,
    }
    arrays = {
        "over": np.array(traced.over),
        "breakpoints": np.asarray(traced.breakpoints, dtype=float),
        "values": values,
        "alpha": np.array([solution.alpha for solution in solutions]),
        "offset": np.array([solution.b for solution in solutions]),
        "decision": np.array([solution.fitted for solution in solutions]),
        "row": table.rows + 1,
        **({} if traced.classes is None else {"classes": np.asarray(traced.classes)}),
        "event_value": np.array([event.value for event in events], dtype=float),
        "event_row": table.rows[np.array([event.sample for event in events], dtype=int)] + 1,
        "event_from": np.array([event.source for event in events], dtype=str),
        "event_to": np.array([event.target for event in events], dtype=str),
    }
    return facts, arrays


def _solve(traced: Any, values: Sequence[float]) -> list[Any]:
    """The solutions at the values, with a report of each."""
    from svmpath.progress import begin, doing, part_done

    begin("solutions", len(values))
    solutions = []
    for value in values:
        doing(f"{traced.over} = {value:.4g}")
        solutions.append(traced(value))
        part_done()
    return solutions


def _values_along(traced: Any, wanted: int | str | list[float]) -> np.ndarray:
    """The values at which solutions are asked for, in the direction of the path."""
    import numpy as np

    from svmpath.paths.trace import parameter_of

    first, last = traced.span
    if isinstance(wanted, str):
        return np.unique(traced.breakpoints)[:: 1 if first <= last else -1]
    if isinstance(wanted, list):
        return np.array([traced.inside(value) for value in wanted])
    is_log = parameter_of(traced.over, traced.loss, traced.gram.kernel).log and min(first, last) > 0
    return (np.geomspace if is_log else np.linspace)(first, last, wanted)


def _table(name: str, over: str, arrays: Mapping[str, Any]) -> Any:
    """Breakpoints; events; or solutions, with a line for each value and a column for each row of the data."""
    import pandas as pd

    if name == "breakpoints":
        return pd.DataFrame({over: arrays["breakpoints"]})
    if name == "events":
        return pd.DataFrame({key: arrays[f"event_{key}"] for key in ("value", "row", "from", "to")})
    alpha = pd.DataFrame(arrays["alpha"], columns=[f"alpha_{row}" for row in arrays["row"]])
    return pd.concat([pd.DataFrame({over: arrays["values"], "offset": arrays["offset"]}), alpha], axis=1)


def _write_npz(arrays: Mapping[str, Any], path: Path) -> None:
    import numpy as np

    with path.open("wb") as file:  # numpy would add .npz to a name
        np.savez_compressed(file, **arrays)


def _print(facts: Mapping[str, Any]) -> None:
    from svmpath.cli.results import print_table

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
    print_table(f"svmpath path: {facts['file']}", rows.items(), written=facts["written"])

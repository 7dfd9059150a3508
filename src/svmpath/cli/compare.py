"""``svmpath compare``: tune several losses and kernels, and test which is the best on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.console import note, show_facts, user_errors
from svmpath.cli.data_options import (
    CategoricalOption,
    ClassWeightOption,
    ColumnsOption,
    Data,
    DataArgument,
    DataOptions,
    DropOption,
    FormatOption,
    GroupColumnOption,
    ImputeOption,
    TargetOption,
    TaskOption,
    WeightColumnOption,
)
from svmpath.cli.fitting import data_options, make_pipeline, read_noted
from svmpath.cli.live import Live, reading
from svmpath.cli.machine_options import (
    MACHINE,
    SEARCH,
    Coef0Option,
    CriterionOption,
    DegreeOption,
    JobsOption,
    MemoryLimitOption,
    RankOption,
    ScoringOption,
    SearchOption,
    SeedOption,
    TimeLimitOption,
)
from svmpath.cli.options import check_name, read_settings
from svmpath.cli.outputs import check_file, write_table
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, QuietOption
from svmpath.exceptions import DataError, PathError

if TYPE_CHECKING:
    import numpy as np

_KERNELS = "rbf,linear"
_LEVEL = 0.05


def compare(
    context: typer.Context,
    data: DataArgument,
    data_format: FormatOption = None,
    target: TargetOption = None,
    task: TaskOption = None,
    drop: DropOption = None,
    columns: ColumnsOption = None,
    categorical: CategoricalOption = None,
    impute: ImputeOption = "auto",
    class_weight: ClassWeightOption = None,
    weight_column: WeightColumnOption = None,
    group_column: GroupColumnOption = None,
    losses: Annotated[
        str | None,
        typer.Option(
            "--losses",
            metavar="NAME,...",
            help="Losses to compare: squared_hinge, hinge, huber_hinge, least_squares or epsilon_insensitive. If not "
            "given, squared_hinge and least_squares, or least_squares for regression.",
            rich_help_panel=MACHINE,
            show_default=False,
        ),
    ] = None,
    kernels: Annotated[
        str,
        typer.Option(
            "--kernels",
            metavar="NAME,...",
            help="Kernels to compare: linear, rbf, poly, laplacian or sigmoid.",
            rich_help_panel=MACHINE,
        ),
    ] = _KERNELS,
    degree: DegreeOption = 3,
    coef0: Coef0Option = 0.0,
    rank: RankOption = "auto",
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=2,
            metavar="N",
            help="Folds of the comparison: everything is tuned without each of them, and judged on it.",
            rich_help_panel=SEARCH,
        ),
    ] = 5,
    criterion: CriterionOption = "auto",
    scoring: ScoringOption = None,
    search: SearchOption = "auto",
    n_jobs: JobsOption = None,
    time_limit: TimeLimitOption = None,
    memory_limit: MemoryLimitOption = None,
    random_state: SeedOption = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="csv file for the held-out prediction of every row by every machine.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Tune several losses and kernels on the same folds, and test which has the lowest error on held-out rows."""
    with user_errors(quiet):
        settings, options = read_settings(context.params), data_options(context)
        names = {"--kernel": split(kernels), "--loss": split(losses)}
        for option, values in names.items():
            for value in values:
                check_name(option, value)
        if not names["--kernel"]:
            raise DataError("--kernels must name at least one kernel, such as rbf,linear")
        if output is not None:
            check_file(output, (data,))
        with Live(reading(data), is_hidden=quiet) as live:
            found = live.run(lambda: _compare(options, settings, names, folds, live))
            if output is not None:
                live.stage("Saving")
                write_table(found.rows, output)
        facts = {**found.facts, "written": [] if output is None else [str(output)]}
    show_facts(facts, lambda: _print(facts), as_json=as_json, quiet=quiet)


def split(text: str | None) -> list[str]:
    """The names in a list with commas, each once.

    Examples
    --------
    >>> from svmpath.cli.compare import split
    >>> split("rbf, linear,rbf"), split(None)
    (['rbf', 'linear'], [])
    """
    return list(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))


@dataclass(frozen=True)
class _Compared:
    """What was found: the facts, and the rows with the held-out predictions of every machine."""

    facts: dict[str, Any]
    rows: Any  # a DataFrame


def _compare(
    options: DataOptions, settings: Mapping[str, Any], names: Mapping[str, list[str]], folds: int, live: Live
) -> _Compared:
    """Read, then tune and judge every machine on the same folds."""
    import numpy as np
    import pandas as pd

    from svmpath.losses import quick_losses

    data = read_noted(options)
    is_class = data.task == "classification"
    losses = names["--loss"] or quick_losses(data.task)
    parts = _folds(data, folds, settings["random_state"])
    weights = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
    rows = {"row": data.rows + 1, "target": data.y}
    machines, judged = [], []
    pairs = list(product(losses, names["--kernel"]))
    if settings["time_limit"] is not None:  # of the command, not of each of its fits
        settings = {**settings, "time_limit": settings["time_limit"] / (len(pairs) * len(parts))}
    for loss, kernel in pairs:
        name = f"{loss} {kernel}"
        live.stage(f"Tuning {loss} with the {kernel} kernel")
        start = time.perf_counter()
        try:
            found, choices = _held_out(data, {**settings, "loss": loss, "kernel": kernel}, parts)
        except PathError as error:
            note(f"{name} is left out: {error}")
            continue
        wrong = (found != data.y).astype(float) if is_class else (found - data.y) ** 2
        rows[name], seconds = found, time.perf_counter() - start
        judged.append(wrong)
        machines.append({"name": name, "loss": loss, "kernel": kernel, **choices, "seconds": seconds})
    facts = _judge(data, machines, judged, weights, len(parts))
    return _Compared({"file": data.table.source, "target": data.table.target, **facts}, pd.DataFrame(rows))


def _folds(data: Data, number: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The folds that all machines share: of classes in about equal parts, and of whole groups."""
    import pandas as pd

    from svmpath.criteria.folds import most_folds, random_folds

    is_class = data.task == "classification"
    most, of = most_folds(data.y, data.groups, is_class)
    if number > most:
        raise DataError(f"--folds {number} is more than the {most} {of}; use --folds {most} or less")
    kind: dict[str, Any] = {"is_classification": is_class, "groups": data.groups, "seed": seed}
    X = data.table.X
    if hasattr(X, "columns"):  # words and dates as numbers, so that folds do not depend on the order of the rows
        X = pd.DataFrame({name: pd.util.hash_array(X[name].astype(str).to_numpy(object)) for name in X.columns})
        X = X.to_numpy(float)
    return random_folds(number, X, data.y, **kind)


def _held_out(
    data: Data, settings: Mapping[str, Any], parts: Sequence[tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, dict[str, list[float]]]:
    """The prediction of every row by a machine that was tuned without its fold, and what was chosen each time."""
    import numpy as np
    from sklearn.utils import _safe_indexing as taken

    from svmpath.progress import begin, part_done, unwatched

    found, choices = np.empty_like(data.y), dict[str, list[float]](C=[], gamma=[])
    begin("folds", len(parts))
    for train, test in parts:
        pipeline = make_pipeline(data, settings)
        given = {name: values[train] for name, values in data.fit_parameters().items()}
        with unwatched():  # a fit is one part of this
            pipeline.fit(taken(data.X, train), data.y[train], **given)
        found[test] = pipeline.predict(taken(data.X, test))
        for name, values in choices.items():
            value = getattr(pipeline["model"], f"{name}_")
            if np.ndim(value) == 0 and value is not None:
                values.append(float(value))
        part_done()
    return found, {name: values for name, values in choices.items() if values}


def _judge(
    data: Data, machines: list[dict[str, Any]], judged: list[np.ndarray], weights: np.ndarray, folds: int
) -> dict[str, Any]:
    """The errors with their intervals, the best first, and the tests of all pairs."""
    import numpy as np

    from svmpath.criteria.interval import mean_interval
    from svmpath.criteria.paired import holm, paired_test

    if not machines:
        raise DataError("none of the machines could be fitted; try other losses, kernels or a smaller --rank")
    is_class = data.task == "classification"
    units = np.arange(len(data.y)) if data.groups is None else data.groups
    for machine, losses in zip(machines, judged, strict=True):
        machine["error"] = float(np.average(losses, weights=weights))
        ends = mean_interval(machine["error"], losses, weights, units, is_rate=is_class)
        machine["interval"] = list(ends)
    order = sorted(range(len(machines)), key=lambda k: machines[k]["error"])
    given = {"weights": data.sample_weight, "units": data.groups}
    pairs = list(combinations(order, 2))
    tests = [paired_test(judged[a], judged[b], is_rate=is_class, **given) for a, b in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    return {
        "task": data.task,
        "rows": len(data.y),
        "folds": folds,
        "kind": "error rate" if is_class else "mean squared error",
        "machines": [machines[k] for k in order],
        "best": machines[order[0]]["name"],
        "tests": [
            {
                "first": machines[a]["name"],
                "second": machines[b]["name"],
                "test": test.method,
                "worse_first": test.only_first,
                "worse_second": test.only_second,
                "p": test.p,
                "p_holm": float(p),
                "different": bool(p < _LEVEL),
            }
            for (a, b), test, p in zip(pairs, tests, corrected, strict=True)
        ],
    }


def _print(facts: Mapping[str, Any]) -> None:
    """The machines, the best first, and in words which differences are more than chance."""
    from rich.console import Console
    from rich.table import Column, Table

    from svmpath.cli.results import amount, interval, written_text

    kind = facts["kind"]
    against = {test["second"]: test for test in facts["tests"] if test["first"] == facts["best"]}
    word = "error rate" if kind == "error rate" else "RMSE"  # the table must fit into 80 columns
    longest = max(len(machine["loss"]) for machine in facts["machines"])
    table = Table(
        Column("loss", min_width=longest), "kernel", word, Column("95 % interval", no_wrap=True), "p (Holm)",
        title=f"svmpath compare: {facts['file']}, {facts['rows']} rows, {facts['folds']} folds", title_justify="left",
    )  # fmt: skip
    for machine in facts["machines"]:
        test = against.get(machine["name"])
        table.add_row(
            machine["loss"],
            machine["kernel"],
            amount(machine["error"], kind),
            interval(machine["interval"], kind),
            "best" if test is None else f"{test['p_holm']:.3g}",
        )
    Console(markup=False, highlight=False).print(table)
    print(verdict(facts))
    if facts["written"]:
        print(written_text(facts["written"]))


def verdict(facts: Mapping[str, Any]) -> str:
    """Which machine is the best, and how sure that is.

    Examples
    --------
    >>> from svmpath.cli.compare import verdict
    >>> tests = [{"first": "a", "second": "b", "test": "McNemar", "different": False}]
    >>> print(verdict({"best": "a", "tests": tests}))
    a has the lowest error on held-out rows. No significant difference to b (McNemar's test, Holm's correction, 5 %).
    """
    best = facts["best"]
    mine = [test for test in facts["tests"] if test["first"] == best]
    first = f"{best} has the lowest error on held-out rows."
    if not mine:
        return first
    how = "McNemar's test" if mine[0]["test"] == "McNemar" else "paired t test"
    worse, same = ([test["second"] for test in mine if test["different"] is wanted] for wanted in (True, False))
    parts = [f"Significantly better than {', '.join(worse)}"] if worse else []
    parts += [f"{'no' if worse else 'No'} significant difference to {', '.join(same)}"] if same else []
    return f"{first} {'; '.join(parts)} ({how}, Holm's correction, {100 * _LEVEL:g} %)."

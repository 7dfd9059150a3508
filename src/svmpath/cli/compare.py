"""``svmpath compare``: tune several losses and kernels, and test which is the best on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome, note
from svmpath.cli.data_options import DataOptions, TrainingData, read_noted
from svmpath.cli.fitting import make_pipeline, within_memory
from svmpath.cli.live import Live, reading
from svmpath.cli.outputs import check_file, save_table
from svmpath.exceptions import DataError, PathError

if TYPE_CHECKING:
    import numpy as np

    from svmpath.cli.options import Given

_LEVEL = 0.05


def compare(given: Given) -> Outcome:
    """Tune several losses and kernels on the same folds, and test which has the lowest error on held-out rows."""
    if not given.kernels:
        raise DataError("--kernels must name at least one kernel, such as rbf,linear")
    if given.output is not None:
        check_file(given.output, (given.data,))
    with Live(reading(given.data), is_hidden=given.quiet) as live:
        facts, rows = live.run(lambda: within_memory(given.memory_limit, lambda: _compare(given, live)))
        facts["written"] = save_table(rows, given.output, live)
    return facts, lambda: _print(facts)


def _compare(given: Given, live: Live) -> tuple[dict[str, Any], Any]:
    """Read, then tune and score every machine on the same folds: the facts, and the held-out predictions by row."""
    import numpy as np
    import pandas as pd

    from svmpath.losses import quick_losses

    data, settings = read_noted(DataOptions.of(given)), given.settings
    is_class = data.task == "classification"
    parts = _folds(data, given.folds, given.seed)
    weights = np.ones(len(data.y)) if data.table.weights is None else data.table.weights
    rows = {"row": data.table.rows + 1, "target": data.y}
    machines, losses = [], []
    pairs = list(product(given.losses or quick_losses(data.task), given.kernels))
    if settings["time_limit"] is not None:  # of the command, not of each of its fits
        settings = {**settings, "time_limit": settings["time_limit"] / (len(pairs) * len(parts))}
    for loss, kernel in pairs:
        name = f"{loss} {kernel}"
        live.stage(f"Tuning {loss} with the {kernel} kernel")
        start = time.perf_counter()
        try:
            predicted, choices = _held_out(data, {**settings, "loss": loss, "kernel": kernel}, parts)
        except PathError as error:
            note(f"{name} is left out: {error}")
            continue
        rows[name], seconds = predicted, time.perf_counter() - start
        losses.append((predicted != data.y).astype(float) if is_class else (predicted - data.y) ** 2)
        machines.append({"name": name, "loss": loss, "kernel": kernel, **choices, "seconds": seconds})
    facts = _score(data, machines, losses, weights, len(parts))
    return {"file": data.table.source, "target": data.table.target, **facts}, pd.DataFrame(rows)


def _folds(data: TrainingData, number: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The folds that all machines share: of classes in about equal parts, and of whole groups."""
    import pandas as pd

    from svmpath.criteria.folds import most_folds, random_folds

    is_class = data.task == "classification"
    most, of = most_folds(data.y, data.table.groups, is_class)
    if number > most:
        raise DataError(f"--folds {number} is more than the {most} {of}; use --folds {most} or less")
    kind: dict[str, Any] = {"is_classification": is_class, "groups": data.table.groups, "seed": seed}
    X = data.table.X
    if hasattr(X, "columns"):  # words and dates as numbers, so that folds do not depend on the order of the rows
        X = pd.DataFrame({name: pd.util.hash_array(X[name].astype(str).to_numpy(object)) for name in X.columns})
        X = X.to_numpy(float)
    return random_folds(number, X, data.y, **kind)


def _held_out(
    data: TrainingData, settings: Mapping[str, Any], parts: Sequence[tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, dict[str, list[float]]]:
    """The prediction of every row by a machine that was tuned without its fold, and what was chosen each time."""
    import numpy as np
    from sklearn.utils import _safe_indexing as subset

    from svmpath.progress import begin, part_done, unwatched

    predicted, choices = np.empty_like(data.y), dict[str, list[float]](C=[], gamma=[])
    begin("folds", len(parts))
    for train, test in parts:
        pipeline = make_pipeline(data, settings)
        given = {name: values[train] for name, values in data.fit_parameters().items()}
        with unwatched():  # a fit is one part of this
            pipeline.fit(subset(data.X, train), data.y[train], **given)
        predicted[test] = pipeline.predict(subset(data.X, test))
        for name, values in choices.items():
            value = getattr(pipeline["model"], f"{name}_")
            if np.ndim(value) == 0 and value is not None:
                values.append(float(value))
        part_done()
    return predicted, {name: values for name, values in choices.items() if values}


def _score(
    data: TrainingData, machines: list[dict[str, Any]], scored: list[np.ndarray], weights: np.ndarray, folds: int
) -> dict[str, Any]:
    """The errors with their intervals, the best first, and the tests of all pairs."""
    import numpy as np

    from svmpath.criteria.interval import mean_interval
    from svmpath.criteria.paired import holm, paired_test

    if not machines:
        raise DataError("none of the machines could be fitted; try other losses, kernels or a smaller --rank")
    is_class = data.task == "classification"
    units = np.arange(len(data.y)) if data.table.groups is None else data.table.groups
    for machine, losses in zip(machines, scored, strict=True):
        machine["error"] = float(np.average(losses, weights=weights))
        ends = mean_interval(machine["error"], losses, weights, units, is_rate=is_class)
        machine["interval"] = list(ends)
    order = sorted(range(len(machines)), key=lambda k: machines[k]["error"])
    given = {"weights": data.table.weights, "units": data.table.groups}
    pairs = list(combinations(order, 2))
    tests = [paired_test(scored[a], scored[b], is_rate=is_class, **given) for a, b in pairs]
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
    from rich.table import Column

    from svmpath.cli.results import amount, interval, print_table

    kind = facts["kind"]
    against = {test["second"]: test for test in facts["tests"] if test["first"] == facts["best"]}
    word = "error rate" if kind == "error rate" else "RMSE"  # the table must fit into 80 columns
    longest = max(len(machine["loss"]) for machine in facts["machines"])
    heads = (Column("loss", min_width=longest), "kernel", word, Column("95 % interval", no_wrap=True), "p (Holm)")
    rows = [
        (
            machine["loss"],
            machine["kernel"],
            amount(machine["error"], kind),
            interval(machine["interval"], kind),
            f"{against[machine['name']]['p_holm']:.3g}" if machine["name"] in against else "best",
        )
        for machine in facts["machines"]
    ]
    title = f"svmpath compare: {facts['file']}, {facts['rows']} rows, {facts['folds']} folds"
    print_table(title, rows, verdict(facts), heads=heads, written=facts["written"])


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

"""``svmpath select``: which features a classification needs, by the elastic net."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome, note
from svmpath.cli.data_options import DataOptions, TrainingData, read_noted, read_positive
from svmpath.cli.live import Live, reading
from svmpath.cli.messages import in_options
from svmpath.cli.outputs import check_file, save_table
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    from svmpath.cli.options import Given

_SAME = 1e-9  # relative; two values of lambda1 that are one, but for rounding


def select(given: Given) -> Outcome:
    """Select features by the elastic net: in which order they enter the machine, and with which coefficients."""
    if given.output is not None:
        check_file(given.output, (given.data,))
    with Live(reading(given.data), is_hidden=given.quiet) as live:
        facts, table = live.run(lambda: _select(given, live))
        facts["written"] = save_table(table, given.output, live)
    return facts, lambda: _print(facts)


def _select(given: Given, live: Live) -> tuple[dict[str, Any], Any]:
    """Read, fit, and see when each feature enters: the facts, and the table of features."""
    import pandas as pd
    from sklearn.pipeline import Pipeline

    from svmpath.cli.preparation import prepare_columns
    from svmpath.estimators import ElasticNetSVC
    from svmpath.report.facts import plain
    from svmpath.report.fitted import Fitted
    from svmpath.report.summary import recall_facts

    data = read_noted(DataOptions.of(given))
    if data.task != "classification":
        raise DataError(
            f"{data.table.source}: select works for classification, but the target {data.table.target!r} holds "
            "numbers; choose another --target"
        )
    positive = read_positive(given.positive, data.y, data.task)
    model = ElasticNetSVC(**{**given.settings, "class_weight": data.class_weight, "pos_label": positive})
    pipeline = Pipeline([("columns", prepare_columns(data)), ("model", model)])
    live.stage("Selecting features")
    start = time.perf_counter()
    pipeline.fit(data.X, data.y, **data.fit_parameters())
    seconds = time.perf_counter() - start
    found = recall_facts(model)
    if found["caution"] is not None:
        note(in_options(found["caution"]))
    live.stage("Following the features")
    names = Fitted.of(pipeline, data.X, data.y).feature_names
    features = list(_features(pipeline, names, data))
    used = {feature["feature"] for feature in features if feature["coefficient"] != 0}
    facts = {
        "file": data.table.source,
        "target": data.table.target,
        "rows": len(data.y),
        "classes": model.classes_.tolist(),
        "features": len(names),
        "selected": len(used),
        "lambda1": float(model.lambda1_),
        "lambda2": float(model.lambda2_),
        "criterion": model.error_criterion_,
        "folds": given.cv if model.error_criterion_ == "kfold" else None,
        "error": float(model.held_out_error()),
        "interval": list(model.held_out_interval()),
        **plain(found),
        "seconds": seconds,
        "table": features,
    }
    return facts, pd.DataFrame(features).astype({"order": "Int64"})


def _features(pipeline: Any, names: list[str], data: TrainingData) -> Iterator[dict[str, Any]]:
    """A row for each feature, and class if there are more than two, in the order in which they enter."""
    model = pipeline["model"]
    classes = model.classes_.tolist()
    machines = [None] if len(classes) == 2 else classes
    for label, coef in zip(machines, model.coef_, strict=True):
        at = _entries(pipeline, data, classes[1] if label is None else label)
        order = sorted(range(len(names)), key=lambda j: (-at.get(j, 0.0), -abs(coef[j]), j))
        turns = _turns([at.get(j) for j in order])
        for turn, j in zip(turns, order, strict=True):
            value = float(coef[j])
            yield {
                **({} if label is None else {"class": label}),
                "order": turn,
                "feature": names[j],
                "enters_at_lambda1": at.get(j),
                "coefficient": value,
                "sign": "+" if value > 0 else "-" if value < 0 else "0",
            }


def _entries(pipeline: Any, data: TrainingData, label: Any) -> dict[int, float]:
    """The lambda1 at which each feature enters first, of the machine of one class against the rest.

    Followed once more, from the first feature on, at the lambda2 of the choice: what the search kept begins later.
    """
    import numpy as np

    from svmpath.paths import trace_elastic
    from svmpath.paths.elastic import FeatureEvent

    model = pipeline["model"]
    X, y = pipeline[:-1].transform(data.X), np.where(data.y == label, 1, -1)
    s = model.path_.problem.s  # weights, those of the classes included
    path = trace_elastic(X, y, lambda2=model.lambda2_, standardize=True, sample_weight=s)
    first: dict[int, float] = {}
    for event in path.events():
        if isinstance(event, FeatureEvent) and event.target == "active":
            first.setdefault(int(event.feature), float(event.value))
    return first


def _turns(values: list[float | None]) -> list[int | None]:
    """The place of each of falling values; those that are equal but for rounding share one, None has none.

    Of the hinge, several features often enter together at the largest lambda1.
    """
    turns: list[int | None] = []
    for k, value in enumerate(values):
        before = values[k - 1] if k else None
        is_same = value is not None and before is not None and before - value <= _SAME * before
        turns.append(None if value is None else turns[-1] if is_same else k + 1)
    return turns


def _print(facts: Mapping[str, Any]) -> None:
    """The features that are used, in the order in which they enter."""
    from svmpath.cli.results import amount, held_out_by, interval, print_table

    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.4g}"

    has_classes = any("class" in row for row in facts["table"])
    heads = [*(["class"] if has_classes else []), "order", "feature", "enters at lambda1", "coefficient", "sign"]
    rows = [
        (
            *([str(row["class"])] if has_classes else []),
            "-" if row["order"] is None else str(row["order"]),
            row["feature"],
            number(row["enters_at_lambda1"]),
            number(row["coefficient"]),
            row["sign"],
        )
        for row in facts["table"]
        if row["coefficient"] != 0
    ]
    speaks, against = "the class of its line", "against it"
    if not has_classes:
        speaks, against = repr(facts["classes"][1]), f"for {facts['classes'][0]!r}"
    how, kind = held_out_by(facts["criterion"], facts["folds"]), "error rate"
    print_table(
        f"svmpath select: {facts['file']}",
        rows,
        f"A coefficient > 0 speaks for {speaks}, one < 0 {against}; columns are standardised.",
        f"{facts['selected']} of {facts['features']} features at lambda1 = {facts['lambda1']:.4g}, lambda2 = "
        f"{facts['lambda2']:.4g}. Held-out error ({how}): {amount(facts['error'], kind)}, "
        f"95 % interval {interval(facts['interval'], kind)}.",
        heads=heads,
        written=facts["written"],
    )

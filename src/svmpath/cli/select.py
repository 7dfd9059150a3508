"""``svmpath select``: which features a classification needs, by the elastic net."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from svmpath.cli.console import show_facts, user_errors
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
    WeightColumnOption,
)
from svmpath.cli.fitting import data_options, read_noted
from svmpath.cli.live import Live, reading
from svmpath.cli.machine_options import FOLDS, MACHINE, SEARCH, CvOption, JobsOption, ScoringOption
from svmpath.cli.options import read_scoring, read_tuned
from svmpath.cli.outputs import check_file, write_table
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, QuietOption
from svmpath.exceptions import DataError
from svmpath.names import unknown_name

_CRITERIA = ("auto", "kfold", "loo")
_RULES = ("min", "one_se")
_SAME = 1e-9  # relative; two values of lambda1 that are one, but for rounding


def select(
    context: typer.Context,
    data: DataArgument,
    data_format: FormatOption = None,
    target: TargetOption = None,
    drop: DropOption = None,
    columns: ColumnsOption = None,
    categorical: CategoricalOption = None,
    impute: ImputeOption = "auto",
    class_weight: ClassWeightOption = None,
    weight_column: WeightColumnOption = None,
    group_column: GroupColumnOption = None,
    lambda1: Annotated[
        str,
        typer.Option(
            "--lambda1",
            metavar="VALUE",
            help="Weight of the l1 penalty, which selects features: tune or a number.",
            rich_help_panel=MACHINE,
        ),
    ] = "tune",
    lambda2: Annotated[
        str,
        typer.Option(
            "--lambda2",
            metavar="VALUE",
            help="Weight of the l2 penalty, which keeps correlated features together: tune or a number.",
            rich_help_panel=MACHINE,
        ),
    ] = "tune",
    max_features: Annotated[
        int | None,
        typer.Option(
            "--max-features",
            min=1,
            metavar="N",
            help="The largest number of features of a machine.",
            rich_help_panel=MACHINE,
            show_default=False,
        ),
    ] = None,
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion",
            metavar="NAME",
            help="Held-out error to minimise: kfold, exact leave-one-out (loo), or auto: kfold if each class has at "
            "least ten rows.",
            rich_help_panel=SEARCH,
        ),
    ] = "auto",
    rule: Annotated[
        str,
        typer.Option(
            "--rule",
            metavar="NAME",
            help="min: the lowest error; one_se: the fewest features whose error is within one standard error of it.",
            rich_help_panel=SEARCH,
        ),
    ] = "min",
    scoring: ScoringOption = None,
    cv: CvOption = None,
    n_jobs: JobsOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="csv file for the table of features, those that are not used included.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Select features by the elastic net: in which order they enter the machine, and with which coefficients."""
    with user_errors(quiet):
        for option, given, possible in (("--criterion", criterion, _CRITERIA), ("--rule", rule, _RULES)):
            if given not in possible:
                raise DataError(unknown_name(option, given, possible))
        settings = {
            "lambda1": read_tuned("--lambda1", lambda1),
            "lambda2": read_tuned("--lambda2", lambda2),
            "max_features": max_features,
            "criterion": criterion,
            "rule": rule,
            "scoring": read_scoring(scoring),
            "cv": FOLDS if cv is None else cv,
            "n_jobs": n_jobs,
        }
        options = data_options(context)
        if output is not None:
            check_file(output, (data,))
        with Live(reading(data), is_hidden=quiet) as live:
            facts = live.run(lambda: _select(options, settings, live))
            if output is not None:
                live.stage("Saving")
                write_table(_table(facts), output)
        facts["written"] = [] if output is None else [str(output)]
    show_facts(facts, lambda: _print(facts), as_json=as_json, quiet=quiet)


def _select(options: DataOptions, settings: Mapping[str, Any], live: Live) -> dict[str, Any]:
    """Read, fit, and find when each feature enters."""
    from sklearn.pipeline import Pipeline

    from svmpath.cli.preparation import prepare_columns
    from svmpath.estimators import ElasticNetSVC
    from svmpath.report.fitted import Fitted

    data = read_noted(options)
    if data.task != "classification":
        raise DataError(
            f"{data.table.source}: select works for classification, but the target {data.table.target!r} holds "
            "numbers; choose another --target"
        )
    model = ElasticNetSVC(class_weight=data.class_weight, **settings)
    pipeline = Pipeline([("columns", prepare_columns(data)), ("model", model)])
    live.stage("Selecting features")
    start = time.perf_counter()
    pipeline.fit(data.X, data.y, **data.fit_parameters())
    seconds = time.perf_counter() - start
    live.stage("Following the features")
    names = Fitted.of(pipeline, data.X, data.y).feature_names
    features = list(_features(pipeline, names, data))
    used = {feature["feature"] for feature in features if feature["coefficient"] != 0}
    return {
        "file": data.table.source,
        "target": data.table.target,
        "rows": len(data.y),
        "classes": model.classes_.tolist(),
        "features": len(names),
        "selected": len(used),
        "lambda1": float(model.lambda1_),
        "lambda2": float(model.lambda2_),
        "criterion": model.error_criterion_,
        "folds": settings["cv"] if model.error_criterion_ == "kfold" else None,
        "error": float(model.held_out_error()),
        "interval": list(model.held_out_interval()),
        "seconds": seconds,
        "table": features,
    }


def _features(pipeline: Any, names: list[str], data: Data) -> Iterator[dict[str, Any]]:
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


def _entries(pipeline: Any, data: Data, label: Any) -> dict[int, float]:
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


def _table(facts: Mapping[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(facts["table"]).astype({"order": "Int64"})


def _print(facts: Mapping[str, Any]) -> None:
    """The features that are used, in the order in which they enter."""
    from rich.console import Console
    from rich.table import Table

    from svmpath.cli.results import amount, held_out_by, interval, written_text

    has_classes = any("class" in row for row in facts["table"])
    heads = [*(["class"] if has_classes else []), "order", "feature", "enters at lambda1", "coefficient", "sign"]
    table = Table(*heads, title=f"svmpath select: {facts['file']}", title_justify="left")
    for row in facts["table"]:
        if row["coefficient"] != 0:
            cells = [
                "-" if row["order"] is None else str(row["order"]),
                row["feature"],
                _number(row["enters_at_lambda1"]),
            ]
            label = [str(row["class"])] if has_classes else []
            table.add_row(*label, *cells, _number(row["coefficient"]), row["sign"])
    Console(markup=False, highlight=False).print(table)
    print(_sign_words(facts["classes"]))
    how = held_out_by(facts["criterion"], facts["folds"])
    kind = "error rate"
    print(
        f"{facts['selected']} of {facts['features']} features at lambda1 = {facts['lambda1']:.4g}, lambda2 = "
        f"{facts['lambda2']:.4g}. Held-out error ({how}): {amount(facts['error'], kind)}, "
        f"95 % interval {interval(facts['interval'], kind)}."
    )
    if facts["written"]:
        print(written_text(facts["written"]))


def _sign_words(classes: list[Any]) -> str:
    """What a sign speaks for."""
    if len(classes) > 2:
        return "A coefficient > 0 speaks for the class of its line, one < 0 against it; columns are standardised."
    against, favoured = classes
    return f"A coefficient > 0 speaks for {favoured!r}, one < 0 for {against!r}; columns are standardised."


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"

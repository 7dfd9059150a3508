"""``svmpath tune``: choose the hyper-parameters for a table of data and save the fitted model."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.automatic import note_approximations
from svmpath.cli.console import ProgressBar, first_line, ignore_closed_output, note, user_errors
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
    read_data,
)
from svmpath.cli.honest import estimate_error
from svmpath.cli.options import check_name, read_epsilon, read_number_or_span, read_rank, read_size
from svmpath.cli.outputs import MODEL, REPORT, SUMMARY, check_folder, check_held_out
from svmpath.cli.results import print_results

if TYPE_CHECKING:
    from svmpath.datasets import Table

_FOLDS = 5  # where --cv is not given


def tune(
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
    output: Annotated[Path, typer.Option(help="Folder for model.skops, summary.json and report.html.")] = Path("."),
    held_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="csv file for the rows as machines see them that have not seen them: held-out decision value, "
            "probability of the label, loss, influence; likely label errors first.",
            show_default=False,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Loss of the machine: squared_hinge (default for two classes), hinge, huber_hinge, least_squares "
            "(default for regression) or epsilon_insensitive. With several classes, the better of squared_hinge and "
            "least_squares is the default.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="Half the width of the tube of --loss epsilon_insensitive: tune (the default) or a number.",
            show_default=False,
        ),
    ] = None,
    kernel: Annotated[
        str, typer.Option(metavar="NAME", help="Kernel: linear, rbf, poly, laplacian or sigmoid.")
    ] = "rbf",
    degree: Annotated[int, typer.Option(min=1, help="Degree of the poly kernel.")] = 3,
    coef0: Annotated[float, typer.Option(help="Constant of the poly and sigmoid kernels.")] = 0.0,
    gamma: Annotated[
        str,
        typer.Option(
            help="Parameter of the kernel: tune, scale, auto, a number, LOW:HIGH to search between, or ard for one per "
            "column."
        ),
    ] = "tune",
    C: Annotated[
        str, typer.Option("--C", help="Weight of the losses: tune, a number, or LOW:HIGH to search between.")
    ] = "tune",
    criterion: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Held-out error to minimise: exact leave-one-out (loo), its approximation (alo; not for "
            "least_squares and huber_hinge) or k-fold (kfold). auto is leave-one-out, which is predicted for the "
            "squared hinge; for hinge with more than 500 rows, epsilon_insensitive with more than 200 and huber_hinge "
            "with more than 20 it is k-fold.",
        ),
    ] = "auto",
    cv: Annotated[
        int | None, typer.Option(min=2, help=f"Number of folds of k-fold ({_FOLDS}).", show_default=False)
    ] = None,
    search: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How gamma and C are searched: auto (many pairs screened, few confirmed), grid (all pairs), "
            "continuous (along paths) or gradient.",
        ),
    ] = "auto",
    rank: Annotated[
        str,
        typer.Option(
            help="Low-rank kernel: exact (none), a number of landmarks, a target for the residual in (0, 1), or auto "
            "(exact up to 2000 rows; with more, --search auto doubles the rank while that helps, other searches and "
            "losses with an elbow use 500 landmarks)."
        ),
    ] = "auto",
    landmarks: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Landmarks for --rank: rpcholesky (the default), greedy, uniform (where --rank auto chooses the "
            "rank), kmeans or density.",
            show_default=False,
        ),
    ] = None,
    psd: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="An indefinite kernel (sigmoid): warn, or clip it to its positive semi-definite part.",
        ),
    ] = "warn",
    honest: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How the error of the whole procedure, choice included, is estimated: nested (the tuning is repeated "
            "without each of ten folds), bootstrap (no fit), none, or auto: nested up to 500 rows (150 for losses "
            "other than least_squares and squared_hinge, and for searches other than auto), bootstrap with more.",
        ),
    ] = "auto",
    n_jobs: Annotated[int | None, typer.Option(help="Number of threads; -1 uses all cores.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Begin nothing new after so many seconds of --search auto.", show_default=False
        ),
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="What one matrix may take, such as 4GiB or 500MB; 70 % of what is free if not given.",
            show_default=False,
        ),
    ] = None,
    random_state: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    has_report: Annotated[
        bool,
        typer.Option("--report/--no-report", help="Write report.html, a page with pictures, for a browser."),
    ] = True,
    says_stages: Annotated[
        bool, typer.Option("--verbose", help="Print a line for each stage of the search, in place of a progress bar.")
    ] = False,
) -> None:
    """Choose the hyper-parameters for a table of data and save the fitted model."""
    with user_errors():
        settings = {
            "loss": loss if loss is None else check_name("--loss", loss),
            "epsilon": read_epsilon(epsilon),
            "kernel": check_name("--kernel", kernel),
            "degree": degree,
            "coef0": coef0,
            "gamma": read_number_or_span("--gamma", gamma, ("tune", "scale", "auto", "ard")),
            "C": read_number_or_span("--C", C, ("tune",)),
            "criterion": check_name("--criterion", criterion),
            "cv": _FOLDS if cv is None else cv,
            "search": check_name("--search", search),
            "rank": read_rank(rank),
            "landmarks": landmarks if landmarks is None else check_name("--landmarks", landmarks),
            "psd": check_name("--psd", psd),
            "n_jobs": n_jobs,
            "time_limit": time_limit,
            "memory_limit": memory_limit if memory_limit is None else read_size("--memory-limit", memory_limit),
            "random_state": random_state,
        }
        options = DataOptions(
            data,
            data_format,
            target,
            task,
            drop,
            columns,
            categorical,
            impute,
            class_weight,
            weight_column,
            group_column,
        )
        options.check()
        check_name("--honest", honest)
        if epsilon is not None and loss != "epsilon_insensitive":
            note("--epsilon has an effect with --loss epsilon_insensitive only.")
        if kernel == "linear" and gamma not in ("tune", "ard"):  # ard is refused
            note("--gamma has no effect with --kernel linear.")
        if time_limit is not None and (search != "auto" or gamma == "ard"):
            note("--time-limit has an effect with --search auto only.")
        names = (MODEL, SUMMARY, *((REPORT,) if has_report else ()))
        check_folder(output, names)
        if held_out is not None:
            check_held_out(held_out, data, output, names)
        files = {"folder": output, "held_out": held_out, "has_report": has_report}
        facts, written = _read_fit_save(options, settings, honest, says_stages, files)
    with ignore_closed_output():
        print_results(facts)
        if cv is not None and facts["curve"]["criterion"] != "kfold":
            note("--cv has an effect with --criterion kfold only.")
        print(f"Wrote {', '.join(map(str, written[:-1]))} and {written[-1]}.", flush=True)


def _read_fit_save(
    options: DataOptions,
    settings: Mapping[str, Any],
    honest: str,
    says_stages: bool,
    files: Mapping[str, Any],
) -> tuple[dict[str, Any], list[Path]]:
    """Read, fit, save; returns the facts for the summary, and the files that were written."""
    with ProgressBar(f"Reading {options.data.name}", is_hidden=says_stages) as progress:
        from svmpath.report import summarise

        data = read_data(options)
        table, y, task = data.table, data.y, data.task
        for sentence in data.notes:
            note(sentence)
        note_approximations(settings, task, table.n_rows)
        pipeline = _pipeline(data, settings)
        progress.stage("Tuning", parts="stage" if settings["search"] == "auto" else "kernel")
        start = time.perf_counter()
        with redirect_stdout(sys.stderr) if says_stages else nullcontext():
            pipeline.set_params(model__verbose=1 if says_stages else progress)
            pipeline.fit(table.X, y, **data.fit_parameters())
        pipeline.set_params(model__verbose=0)
        progress.stage("Computing the held-out error")
        _ = pipeline["model"].held_out_error_  # computed when it is first asked for
        seconds = time.perf_counter() - start
        progress.stage("Estimating the error of the whole procedure")
        honest_error = estimate_error(pipeline["model"], honest, settings)
        facts = summarise(
            pipeline["model"],
            y,
            file=table.source,
            kinds=table.kinds,
            target=table.target or "y",
            task=task,
            seconds=seconds,
            named=table.named,
            honest=honest_error,
        )
        page = None
        if files["has_report"]:
            progress.stage("Making the report")
            page = _page(pipeline, table, y, table.source, honest_error, seconds)
        progress.stage("Saving")
        trained = {"target": table.target, "task": task, "zero_based": table.zero_based}
        written = _save(pipeline, trained, facts, files["folder"], files["held_out"], page)
    return facts, written


def _page(pipeline: Any, table: Table, y: Any, title: str, honest: Any, seconds: float) -> str | None:
    """The report; None if it cannot be made, as a tuned model must not be lost for that."""
    from svmpath.report import Report

    target = table.target or "y"
    try:
        report = Report(pipeline, table.X, y, title=title, target=target, honest=honest, seconds=seconds, first_row=1)
        return report.html()
    except Exception as error:
        note(f"the report could not be made ({first_line(error)}); the model is saved without it.")
        return None


def _pipeline(data: Data, settings: Mapping[str, Any]) -> Any:
    """The model to fit: the columns as numbers, then the estimator."""
    from sklearn.pipeline import Pipeline

    from svmpath.cli.preparation import prepare_columns
    from svmpath.estimators import PathSVC, PathSVR

    is_class = data.task == "classification"
    settings = {name: value for name, value in settings.items() if name != "epsilon" or not is_class}
    model = PathSVC(class_weight=data.class_weight, **settings) if is_class else PathSVR(**settings)
    return Pipeline([("columns", prepare_columns(data)), ("model", model)])


def _save(
    pipeline: Any,
    trained: Mapping[str, Any],
    facts: Mapping[str, Any],
    folder: Path,
    held_out: Path | None,
    page: str | None,
) -> list[Path]:
    """Write model, summary and, if there are any, report and held-out rows: all or none; returns the files."""
    from svmpath.cli.saved_model import write_model
    from svmpath.report.render import to_json, write_files

    text = to_json(facts)
    writers: dict[Path, Callable[[Path], object]] = {
        folder / MODEL: lambda part: write_model(pipeline, trained, part),
        folder / SUMMARY: lambda part: part.write_text(text, encoding="utf-8"),
    }
    if page is not None:
        writers[folder / REPORT] = lambda part: part.write_text(page, encoding="utf-8")
    if held_out is not None:
        writers[held_out] = lambda part: _write_held_out(pipeline["model"], part)
    write_files(writers)
    return list(writers)


def _write_held_out(model: Any, path: Path) -> None:
    """The rows by the number that they have in the file: the first is 1, a header is not counted."""
    rows = model.held_out_.rename(columns={"sample": "row"})
    rows["row"] += 1
    rows.to_csv(path, index=False, lineterminator="\n")

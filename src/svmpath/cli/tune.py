"""``svmpath tune``: choose the hyper-parameters for a table of data and save the fitted model."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from svmpath.chunked import distributed
from svmpath.cli.automatic import note_approximations
from svmpath.cli.chunks import SchedulerOption, is_in_chunks, print_chunks, refuse_with_chunks, tune_chunks
from svmpath.cli.console import first_line, note, show_facts, user_errors
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
from svmpath.cli.fitting import data_options, fit, make_pipeline, read_noted
from svmpath.cli.honest import estimate_error
from svmpath.cli.live import Live, reading
from svmpath.cli.machine_options import (
    Coef0Option,
    COption,
    CriterionOption,
    CvOption,
    DegreeOption,
    EpsilonOption,
    GammaOption,
    HonestOption,
    JobsOption,
    KernelOption,
    LandmarksOption,
    LossOption,
    MemoryLimitOption,
    PsdOption,
    RankOption,
    ScoringOption,
    SearchOption,
    SeedOption,
    ThresholdOption,
    TimeLimitOption,
)
from svmpath.cli.options import check_name, read_settings
from svmpath.cli.outputs import CONFIG, MODEL, REPORT, SUMMARY, check_folder, check_held_out, to_csv
from svmpath.cli.results import print_notes, print_results
from svmpath.cli.run_options import OUTPUT, ConfigOption, JsonOption, QuietOption, check_config_kept, write_config


def tune(
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
    loss: LossOption = None,
    epsilon: EpsilonOption = None,
    kernel: KernelOption = "rbf",
    degree: DegreeOption = 3,
    coef0: Coef0Option = 0.0,
    gamma: GammaOption = "tune",
    C: COption = "tune",
    rank: RankOption = "auto",
    landmarks: LandmarksOption = None,
    psd: PsdOption = "warn",
    threshold: ThresholdOption = None,
    criterion: CriterionOption = "auto",
    scoring: ScoringOption = None,
    cv: CvOption = None,
    search: SearchOption = "auto",
    honest: HonestOption = "auto",
    n_jobs: JobsOption = None,
    time_limit: TimeLimitOption = None,
    memory_limit: MemoryLimitOption = None,
    random_state: SeedOption = 0,
    scheduler: SchedulerOption = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder for model.skops, summary.json, config.toml and report.html.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("."),
    held_out: Annotated[
        Path | None,
        typer.Option(
            "--held-out",
            metavar="FILE",
            help="csv file for the rows as machines see them that have not seen them: held-out decision value, "
            "probability of the label, loss, influence; likely label errors first.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    has_report: Annotated[
        bool,
        typer.Option(
            "--report/--no-report",
            help="Write report.html, a page with pictures, for a browser.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    says_stages: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Print a line for each stage of the search, in place of the display.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Choose the hyper-parameters for a table of data and save the fitted model."""
    with user_errors(quiet):
        check_name("--honest", honest)
        settings, options = read_settings(context.params), data_options(context)
        _note_options_without_effect(context.params)
        in_chunks = is_in_chunks(data, scheduler)
        if in_chunks:
            refuse_with_chunks(context.params)
        names = (MODEL, SUMMARY, CONFIG, *((REPORT,) if has_report and not in_chunks else ()))
        check_folder(output, names)
        check_config_kept(config, output / CONFIG)
        if held_out is not None:
            check_held_out(held_out, data, output, names)
        asked = _Asked(options, settings, honest, has_report, held_out is not None, says_stages)
        repeated = write_config(context, "tune")  # before the work: nothing that can fail comes after it
        tune_all = _on_scheduler(scheduler or "threads", memory_limit) if in_chunks else _tune
        with Live(reading(data), is_hidden=quiet or says_stages) as live:
            tuned = tune_all(asked, live)
            live.stage("Saving")
            written = _save(tuned, repeated, output, held_out)
        facts = {**tuned.facts, "written": [str(path) for path in written]}
        if not has_report and (output / REPORT).exists():
            note(f"{output / REPORT} is from an earlier run.")
        if not in_chunks:
            print_notes(tuned.facts, is_cv_given=cv is not None)
    show = print_chunks if in_chunks else print_results
    show_facts(facts, lambda: show(facts), as_json=as_json, quiet=quiet)


@dataclass(frozen=True)
class _Asked:
    """What is to be done."""

    options: DataOptions
    settings: Mapping[str, Any]
    honest: str
    has_report: bool
    has_rows: bool
    says_stages: bool


@dataclass(frozen=True)
class _Tuned:
    """What was found, to be saved."""

    options: DataOptions
    pipeline: Any
    data: Data
    facts: dict[str, Any]
    page: str | None
    rows: Any  # a DataFrame, or None


def _note_options_without_effect(given: Mapping[str, Any]) -> None:
    """Say which options have no effect beside the others."""
    is_auto = given["search"] == "auto" and given["gamma"] != "ard"
    without = {
        "--epsilon has an effect with --loss epsilon_insensitive only.": (
            given["epsilon"] is not None and given["loss"] != "epsilon_insensitive"
        ),
        "--gamma has no effect with --kernel linear.": (
            given["kernel"] == "linear" and given["gamma"] not in ("tune", "ard")  # ard is refused
        ),
        "--time-limit has an effect with --search auto only.": given["time_limit"] is not None and not is_auto,
    }
    for sentence, is_so in without.items():
        if is_so:
            note(sentence)


def _on_scheduler(name: str, memory_limit: str | None) -> Callable[[_Asked, Live], _Tuned]:
    """What tunes in chunks on a scheduler; Ctrl-C leaves the block, which cancels what is running there."""

    def tune_all(asked: _Asked, live: Live) -> _Tuned:
        with distributed().scheduler(name, memory_limit):
            tuned = live.run(lambda: tune_chunks(asked.options, asked.settings, live))
        return _Tuned(asked.options, tuned.pipeline, tuned.sample, tuned.facts, None, None)

    return tune_all


def _tune(asked: _Asked, live: Live) -> _Tuned:
    """Read, fit, and find all that is to be saved, while the main thread listens for Ctrl-C."""
    return live.run(lambda: _find(asked, live))


def _find(asked: _Asked, live: Live) -> _Tuned:
    """Read, fit, and find all that is to be saved."""
    from svmpath.report import summarise

    data = read_noted(asked.options)
    table, y = data.table, data.y
    note_approximations(asked.settings, data.task, table.n_rows)
    pipeline = make_pipeline(data, asked.settings)
    live.stage("Tuning")
    start = time.perf_counter()
    fit(pipeline, data, asked.says_stages)
    live.stage("Computing the held-out error")
    _ = pipeline["model"].held_out_error()  # computed when it is first asked for
    seconds = time.perf_counter() - start
    live.stage("Estimating the error of the whole procedure")
    honest = estimate_error(pipeline["model"], asked.honest, asked.settings)
    facts = summarise(
        pipeline["model"],
        y,
        file=table.source,
        kinds=table.kinds,
        target=table.target,
        task=data.task,
        seconds=seconds,
        named=table.named,
        honest=honest,
    )
    facts["columns"] = data.columns
    if asked.settings["threshold"] != 0.0:
        facts["choice"]["threshold"] = pipeline["model"].threshold_
    page = None
    if asked.has_report:
        live.stage("Making the report")
        page = _page(pipeline, data, honest, seconds)
    return _Tuned(
        asked.options, pipeline, data, facts, page, _rows(pipeline["model"], data) if asked.has_rows else None
    )


def _rows(model: Any, data: Data) -> Any:
    """The held-out rows by the number that they have in the file: the first is 1, a header is not counted."""
    rows = model.held_out_table().rename(columns={"sample": "row"})
    rows["row"] = data.rows[rows["row"].to_numpy()] + 1
    return rows


def _page(pipeline: Any, data: Data, honest: Any, seconds: float) -> str | None:
    """The report; None if it cannot be made, as a tuned model must not be lost for that."""
    from svmpath.report import Report

    table = data.table
    more: dict[str, Any] = {"honest": honest, "seconds": seconds, "first_row": 1, "rows": data.rows}
    try:
        return Report(pipeline, data.X, data.y, title=table.source, target=table.target, **more).html()
    except Exception as error:
        note(f"the report could not be made ({first_line(error)}); the model is saved without it.")
        return None


def _save(tuned: _Tuned, config: str, folder: Path, held_out: Path | None) -> list[Path]:
    """Write model, summary and configuration and, if there are any, report and held-out rows: all or none."""
    from svmpath.cli.saved_model import write_model
    from svmpath.report.render import to_json, write_files

    text = to_json(tuned.facts)
    how = {name: value for name, value in asdict(tuned.options).items() if name != "data"}
    trained = {**tuned.data.trained(), "options": how}
    writers: dict[Path, Callable[[Path], object]] = {
        folder / MODEL: lambda part: write_model(tuned.pipeline, trained, part),
        folder / SUMMARY: lambda part: part.write_text(text, encoding="utf-8"),
        folder / CONFIG: lambda part: part.write_text(config, encoding="utf-8"),
    }
    if tuned.page is not None:
        page = tuned.page
        writers[folder / REPORT] = lambda part: part.write_text(page, encoding="utf-8")
    if held_out is not None:
        writers[held_out] = lambda part: to_csv(tuned.rows, part)
    write_files(writers)
    return list(writers)

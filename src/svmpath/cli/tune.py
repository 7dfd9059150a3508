"""``svmpath tune``: choose the hyper-parameters for a table of data and save the fitted model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.chunked import distributed
from svmpath.cli.automatic import note_approximations
from svmpath.cli.chunks import is_in_chunks, refuse_with_chunks, tune_chunks
from svmpath.cli.config import check_config_kept, write_config
from svmpath.cli.console import Outcome, first_line, note
from svmpath.cli.data_options import DataOptions, TrainingData, read_noted
from svmpath.cli.fitting import TuneResult, make_pipeline, within_memory
from svmpath.cli.honest import estimate_error
from svmpath.cli.live import Live, Stopwatch, reading
from svmpath.cli.outputs import CONFIG, MODEL, REPORT, SUMMARY, check_folder, check_held_out, save, to_csv
from svmpath.cli.results import print_notes, print_results
from svmpath.cli.values import FOLDS

if TYPE_CHECKING:
    from svmpath.cli.options import Given


def tune(given: Given) -> Outcome:
    """Choose the hyper-parameters for a table of data and save the fitted model."""
    options, in_chunks = DataOptions.of(given), is_in_chunks(given.data, given.scheduler)
    _note_options_without_effect(given)
    if in_chunks:
        refuse_with_chunks(given)
    names = (MODEL, SUMMARY, CONFIG, *((REPORT,) if given.report else ()))
    check_folder(given.output, names)
    check_config_kept(given.config, given.output / CONFIG)
    if given.held_out is not None:
        check_held_out(given.held_out, given.data, given.output, names)
    repeated = write_config(given.context, "tune")  # before the work: nothing that can fail comes after it
    with Live(reading(given.data), is_hidden=given.quiet or given.verbose) as live:
        # Ctrl-C leaves the block, which cancels what is running on the scheduler.
        with distributed().scheduler(given.scheduler or "threads", given.memory_limit) if in_chunks else nullcontext():
            work = partial(tune_chunks if in_chunks else _tune, given, options, live)
            tuned = live.run(lambda: within_memory(given.memory_limit, work))
        written = save(_writers(tuned, repeated, given.output, given.held_out), live)
    facts = {**tuned.facts, "written": written}
    if not given.report and (given.output / REPORT).exists():
        note(f"{given.output / REPORT} is from an earlier run.")
    print_notes(tuned.facts, is_cv_given=given.context.params["cv"] == FOLDS)
    return facts, lambda: print_results(facts)


def _note_options_without_effect(given: Given) -> None:
    """Say which options have no effect beside the others."""
    from svmpath.losses import LOSSES

    with_levels = [name for name, kind in LOSSES.items() if kind.level]
    with_quantiles = [name for name in with_levels if LOSSES[name].level == "quantile"]
    is_auto = given.search == "auto" and given.gamma != "ard"
    without = {
        "--epsilon has an effect with --loss epsilon_insensitive only.": (
            given.context.params["epsilon"] is not None and given.loss != "epsilon_insensitive"
        ),
        f"--quantile has an effect with --loss {' or '.join(with_levels)} only.": (
            given.settings["quantile"] is not None and given.loss not in with_levels
        ),
        f"--calibrate has an effect with --loss {' or '.join(with_quantiles)} only.": (
            given.settings["calibrate"] and given.loss not in with_quantiles
        ),
        "--gamma has no effect with --kernel linear.": (
            given.kernel == "linear" and given.gamma not in ("tune", "ard")  # ard is refused
        ),
        "--time-limit has an effect with --search auto only.": given.time_limit is not None and not is_auto,
    }
    for sentence, is_so in without.items():
        if is_so:
            note(sentence)
            if "--epsilon" in sentence:
                given.settings["epsilon"] = "tune"  # the estimator need not say it, too
            if "--quantile" in sentence:
                given.settings["quantile"] = None
            if "--calibrate" in sentence:
                given.settings["calibrate"] = False


def _tune(given: Given, options: DataOptions, live: Live) -> TuneResult:
    """Read, fit, and collect all that is to be saved."""
    from svmpath.report import summarise
    from svmpath.report.facts import plain
    from svmpath.report.importance import importance_facts

    clock = Stopwatch()
    data = read_noted(options)
    clock.lap("reading")  # what is imported for it included
    table, settings = data.table, given.settings
    note_approximations({**settings, "landmarks": given.landmarks}, data.task, table.n_rows)
    pipeline = make_pipeline(data, settings, given.landmarks, given.psd)
    model = pipeline["model"]
    live.stage("Tuning")
    model.set_params(verbose=int(given.verbose))
    with redirect_stdout(sys.stderr) if given.verbose else nullcontext():
        pipeline.fit(data.X, data.y, **data.fit_parameters())
    model.set_params(verbose=0)
    live.stage("Computing the held-out error")
    _ = model.held_out_error()  # computed when it is first asked for
    clock.lap("search")
    live.stage("Estimating the error of the whole procedure")
    honest = estimate_error(model, given.honest, settings)
    clock.lap("honest error")
    facts = summarise(
        model,
        data.y,
        file=table.source,
        kinds=table.kinds,
        target=table.target,
        task=data.task,
        seconds=None,
        named=table.named,
        honest=honest,
    )
    facts["columns"], facts["data"]["notes"] = data.columns, list(data.notes)
    live.stage("Looking for the columns that matter")
    facts["importance"] = plain(importance_facts(pipeline, data.X, list(table.kinds)))
    clock.lap("columns that matter")
    facts["times"] = clock.times
    if settings["threshold"] != 0.0:
        facts["choice"]["threshold"] = model.threshold_
    page = rows = None
    if given.report:
        live.stage("Making the report")
        page = _page(pipeline, data, facts)
        clock.lap("report")
    facts["seconds"] = sum(clock.times.values())
    if given.held_out is not None:  # by the number that a row has in the file: the first is 1, a header is not counted
        rows = model.held_out_table().rename(columns={"sample": "row"})
        rows["row"] = table.rows[rows["row"].to_numpy()] + 1
    return TuneResult(pipeline, data, facts, page, rows)


def _page(pipeline: Any, data: TrainingData, facts: dict[str, Any]) -> str | None:
    """The report; None if it cannot be made, as a tuned model must not be lost for that."""
    from svmpath.report import Report

    title, rows = data.table.source, data.table.rows
    try:
        return Report(pipeline, data.X, data.y, title=title, first_row=1, rows=rows, summary=facts).html()
    except Exception as error:
        note(f"the report could not be made ({first_line(error)}); the model is saved without it.")
        return None


def _writers(
    tuned: TuneResult, config: str, folder: Path, held_out: Path | None
) -> dict[Path, Callable[[Path], object]]:
    """What writes model, summary and configuration and, if there are any, report and held-out rows."""
    from svmpath.cli.saved_model import write_model
    from svmpath.report.render import to_json

    how = {name: value for name, value in asdict(tuned.data.options).items() if name != "data"}
    trained = {**tuned.data.trained(), "options": how}
    texts = {SUMMARY: to_json(tuned.facts), CONFIG: config, REPORT: tuned.page}
    writers: dict[Path, Callable[[Path], object]] = {folder / MODEL: partial(write_model, tuned.pipeline, trained)}
    for name, text in texts.items():
        if text is not None:
            writers[folder / name] = partial(Path.write_text, data=text, encoding="utf-8")
    if held_out is not None:
        writers[held_out] = partial(to_csv, tuned.rows)
    return writers

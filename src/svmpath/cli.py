"""The command line: ``svmpath tune``, ``svmpath predict`` and ``svmpath compile``.

Whatever the user can get wrong ends in one sentence on stderr, exit code 2, and no file written. The modules
that take long to import are imported where they are used, so that ``--help`` is quick.
"""

from __future__ import annotations

import csv
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from svmpath.exceptions import DataError, PathError
from svmpath.interrupts import workers_left
from svmpath.solvers.compiling import count_compiled

if TYPE_CHECKING:
    from svmpath.datasets import Table

__all__ = ["app", "main"]

app = typer.Typer(
    name="svmpath",
    help="Tune support vector machines by following the path, not by searching a grid.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_INFO = "svmpath_data_"  # attribute of the saved pipeline: what prediction must know beyond the fitted steps
# What a model may hold beyond what this package defines: sparse rows, which skops stores as plain arrays, and
# the list of columns that some versions of ColumnTransformer keep.
_HARMLESS = {
    "scipy.sparse._csr.csr_matrix",
    "scipy.sparse._csr.csr_array",
    "sklearn.compose._column_transformer._RemainderColsList",
}
_INTERRUPTED = 130  # the exit code of what was ended by Ctrl-C
_MOST_CELLS = 5e8  # of the encoded table: 4 GB
_MANY_ROWS = 2000  # from here on a decomposition per kernel takes seconds, and --rank auto approximates
_LANDMARKS = 500
_ELBOW = ("hinge", "epsilon_insensitive")  # losses followed from event to event
_WHOLE_ROWS = 20_000  # up to which their paths are exact
_GAP = 1e-3  # the relative duality gap of their paths beyond
_LOSS = {"classification": "squared_hinge", "regression": "least_squares"}  # where --loss is not given
_HOW = {
    "loo": "exact leave-one-out",
    "span": "span prediction of leave-one-out",
    "alo": "approximate leave-one-out",
}


class Task(StrEnum):
    """What to fit."""

    classification = "classification"
    regression = "regression"


class Criterion(StrEnum):
    """How held-out error is measured."""

    auto = "auto"
    loo = "loo"
    alo = "alo"
    kfold = "kfold"


class Psd(StrEnum):
    """What to do with an indefinite kernel."""

    warn = "warn"
    clip = "clip"


class Search(StrEnum):
    """How the range of gamma and C is searched."""

    grid = "grid"
    continuous = "continuous"
    gradient = "gradient"


# ----------------------------------------------------------------------------------------------------
# tune
# ----------------------------------------------------------------------------------------------------


@app.command()
def tune(
    data: Annotated[Path, typer.Argument(help="Data file: csv, parquet, libsvm or npz.", show_default=False)],
    target: Annotated[
        str | None,
        typer.Option(help="Column to predict; not needed for npz (array y) and libsvm.", show_default=False),
    ] = None,
    task: Annotated[
        Task | None,
        typer.Option(help="What to fit; decided from the target if not given.", show_default=False),
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for model.skops and summary.json.")] = Path("."),
    loss: Annotated[
        str | None,
        typer.Option(
            help="Loss of the machine: squared_hinge (default for classification), hinge, least_squares (default for "
            "regression) or epsilon_insensitive.",
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
    kernel: Annotated[str, typer.Option(help="Kernel: linear, rbf, poly, laplacian or sigmoid.")] = "rbf",
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
        Criterion,
        typer.Option(
            help="Held-out error: exact leave-one-out (loo), its approximation (alo: hinge and epsilon_insensitive) or "
            "k-fold. auto is leave-one-out, which the squared hinge predicts while it searches, and k-fold where "
            "that takes long: hinge with more than 500 rows, epsilon_insensitive with more than 200."
        ),
    ] = Criterion.auto,
    cv: Annotated[int | None, typer.Option(min=2, help="Number of folds of k-fold (5).", show_default=False)] = None,
    search: Annotated[
        Search, typer.Option(help="Search gamma and C on a grid, continuously along paths, or by gradient.")
    ] = Search.grid,
    rank: Annotated[
        str,
        typer.Option(
            help="Low-rank kernel: exact (none), a number of landmarks, the residual in (0, 1) to reach, or auto "
            f"(exact up to {_MANY_ROWS} rows, then {_LANDMARKS} landmarks)."
        ),
    ] = "auto",
    landmarks: Annotated[
        str, typer.Option(help="Landmarks for --rank: rpcholesky, greedy, uniform, kmeans or density.")
    ] = "rpcholesky",
    psd: Annotated[
        Psd, typer.Option(help="An indefinite kernel (sigmoid): warn, or clip it to its positive semi-definite part.")
    ] = Psd.warn,
    n_jobs: Annotated[int | None, typer.Option(help="Number of threads; -1 uses all cores.")] = None,
    random_state: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all that is random.")] = 0,
) -> None:
    """Choose the hyper-parameters for a table of data and save the fitted model."""
    with _user_errors():
        settings = {
            "loss": loss,
            "epsilon": _epsilon(epsilon, loss),
            "kernel": _kernel(kernel),
            "degree": degree,
            "coef0": coef0,
            "gamma": _number_or_word("--gamma", gamma, ("tune", "scale", "auto", "ard")),
            "C": _number_or_word("--C", C, ("tune",)),
            "criterion": _criterion(criterion, loss),
            "cv": 5 if cv is None else cv,
            "search": search.value,
            "rank": _rank(rank),
            "landmarks": landmarks,
            "psd": psd.value,
            "n_jobs": n_jobs,
            "random_state": random_state,
        }
        _check_folder(output)
        facts = _tune(data, target, task.value if task else None, output, settings)
    with _said_or_not():
        _print_table(facts)
        if cv is not None and facts["curve"]["criterion"] != "kfold":
            _note("--cv counts for --criterion kfold only.")
        print(f"Wrote {output / 'model.skops'} and {output / 'summary.json'}.", flush=True)


def _tune(data: Path, target: str | None, task: str | None, output: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Read, fit, save; gives the facts of the summary."""
    with _Progress(f"Reading {data.name}") as progress:
        from svmpath.datasets import prepare_target, read_table
        from svmpath.report import summarise

        table = read_table(data, target)
        assert table.y is not None
        try:
            y, task = prepare_target(table.y, task)
        except DataError as error:
            raise DataError(f"{data.name}: {error}") from error
        _check_categories(table)
        settings = {**settings, "rank": _for_rows(settings, table.n_rows)}
        settings["loss"] = settings["loss"] or _LOSS[task]
        settings["tol"] = _gap(settings, table.n_rows)
        pipeline = _pipeline(table, task, settings)
        progress.stage("Tuning")
        start = time.perf_counter()
        pipeline.set_params(model__verbose=progress)
        pipeline.fit(table.X, y)
        pipeline.set_params(model__verbose=0)
        seconds = time.perf_counter() - start
        facts = summarise(
            pipeline["model"],
            y,
            file=data.name,
            kinds=table.kinds,
            target=table.target or "y",
            task=task,
            seconds=seconds,
            named=table.named,
        )
        progress.stage("Saving")
        setattr(pipeline, _INFO, {"target": table.target, "task": task, "zero_based": table.zero_based})
        _save(pipeline, facts, output)
    return facts


def _pipeline(table: Table, task: str, settings: Mapping[str, Any]) -> Any:
    """The model to fit: columns brought to one scale, then the estimator."""
    from scipy.sparse import issparse
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    from svmpath.datasets import refuse_missing
    from svmpath.estimators import PathSVC, PathSVR

    numbers = [name for name, kind in table.kinds.items() if kind == "number"]
    categories = [name for name, kind in table.kinds.items() if kind != "number"]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    # The encoder takes a missing value for one more unknown word: it must not get to see any.
    words = Pipeline([("complete", FunctionTransformer(refuse_missing)), ("encoder", encoder)])
    parts = [("numbers", StandardScaler(), numbers), ("categories", words, categories)]
    columns = (
        ColumnTransformer([part for part in parts if part[2]])
        if table.named
        # Columns without names are taken by position; taking the mean from a sparse matrix would fill it.
        else StandardScaler(with_mean=not issparse(table.X))
    )
    settings = {name: value for name, value in settings.items() if name != "epsilon" or task == "regression"}
    model = (PathSVC if task == "classification" else PathSVR)(**settings)
    return Pipeline([("columns", columns), ("model", model)])


def _check_categories(table: Table) -> None:
    """Say which columns of words can hardly help, and refuse those that would fill the memory."""
    if not table.named:
        return
    levels = {name: table.X[name].nunique() for name, kind in table.kinds.items() if kind == "category"}
    widest = max(levels, key=lambda name: levels[name], default=None)
    if widest is not None and table.n_rows * sum(levels.values()) > _MOST_CELLS:
        raise DataError(
            f"{table.source}: column {widest!r} has {levels[widest]} different words, too many to encode; leave it out"
        )
    for name, count in levels.items():
        if count == table.n_rows:
            _note(f"column {name!r} has a different word in every row, so nothing can be learnt from it; leave it out.")


def _save(pipeline: Any, facts: Mapping[str, Any], folder: Path) -> None:
    """Write model and summary: both or neither."""
    import skops.io

    from svmpath.report.render import to_json, write_files

    text = to_json(facts)
    write_files(
        {
            folder / "model.skops": lambda part: skops.io.dump(pipeline, part),
            folder / "summary.json": lambda part: part.write_text(text, encoding="utf-8"),
        }
    )


def _print_table(facts: Mapping[str, Any]) -> None:
    """Show the facts a user looks for first."""
    data, choice, held_out = facts["data"], facts["choice"], facts["held_out"]
    classes = f" ({len(data['classes'])} classes)" if "classes" in data else ""
    kinds = [f"{count} {kind}" for kind, count in data["columns"].items() if count]
    how = _how(held_out["criterion"], held_out["folds"])
    if held_out["kind"] == "error rate":
        error = f"{100 * held_out['value']:.2f} % error rate ({how})"
    else:
        error = f"{held_out['root_mean_squared_error']:.6g} root mean squared error ({how})"
    rows = {
        "Task": data["task"] + classes,
        "Target": data["target"],
        "Rows": str(data["rows"]),
        "Columns": ", ".join(kinds),
        "Machine": f"{choice['loss']}, {choice['kernel']} kernel",
        "C": _figures(choice["C"]),
        "gamma": _figures(choice["gamma"]),
        "epsilon": _figures(choice.get("epsilon")),
        "Rank": None if choice["rank"] is None else f"{choice['rank']} (residual {choice['residual']:.2g})",
        "Chosen by": _how(facts["curve"]["criterion"], held_out["folds"]),
        "Held-out error": error,
        "Without columns": _yardstick(held_out),
        "Support vectors": str(facts["support_vectors"]),
        "Time": f"{facts['seconds']:.2f} s",
    }
    table = RichTable(title=f"svmpath tune: {data['file']}", show_header=False, title_justify="left")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, value)
    Console(markup=False, highlight=False).print(table)
    if facts["curve"]["switched"]:
        more = "; --criterion loo asks for it all the same" if choice["tol"] is None else ""
        _note(f"{facts['curve']['switched']}{more}.")
    for name in choice["at_edge"]:
        _note(
            f"the chosen {name} = {_figures(choice.get(name))} lies at the edge of the searched range; "
            f"a better value may lie beyond it (--{name} LOW:HIGH searches elsewhere)."
        )
    if held_out["value"] >= held_out["baseline"]:
        _note("the model is no better than one that knows nothing of the columns.")


def _how(criterion: str, folds: int | None) -> str:
    """In words how samples were held out."""
    return f"{folds}-fold" if criterion == "kfold" else _HOW.get(criterion, criterion)


def _yardstick(held_out: Mapping[str, Any]) -> str:
    """The error of always naming the largest class, or the mean: what there is to beat."""
    if held_out["kind"] == "error rate":
        return f"{100 * held_out['baseline']:.1f} % (always the largest class)"
    return f"{held_out['baseline'] ** 0.5:.6g} (always the mean)"


def _figures(value: Any) -> str | None:
    """A number, or the smallest and largest of several, with six figures."""
    if isinstance(value, list):
        return f"{min(value):.6g} ... {max(value):.6g}"
    return None if value is None else f"{value:.6g}"


# ----------------------------------------------------------------------------------------------------
# predict
# ----------------------------------------------------------------------------------------------------


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="The model.skops that svmpath tune has written.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="Data file with the columns of the training data.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="csv file to write.", show_default=False)],
) -> None:
    """Predict the target for each row of a table; write a csv with the column `prediction`."""
    with _user_errors():
        _check_file(output, (model, data))
        with _Progress(f"Reading {data.name}") as progress:
            from svmpath.datasets import read_table
            from svmpath.report import write_files

            pipeline = _load(model)
            kinds, info = _columns(pipeline), getattr(pipeline, _INFO)
            table = read_table(data, info["target"], columns=kinds, zero_based=info["zero_based"])
            _note_unseen(pipeline, table)
            progress.stage("Predicting")
            predictions = pipeline.predict(_form(table, pipeline))
            write_files({output: lambda part: _write_predictions(predictions, part)})
    with _said_or_not():
        print(f"Wrote {len(predictions)} predictions to {output}.", flush=True)


def _load(path: Path) -> Any:
    """Load a model that ``svmpath tune`` has written; nothing in it is run before it is known harmless."""
    import skops.io
    from sklearn.pipeline import Pipeline

    _check_model_file(path)
    try:
        foreign = [name for name in skops.io.get_untrusted_types(file=path) if not _is_known(name)]
    except Exception as error:  # whatever a damaged archive makes skops stumble over
        raise DataError(f"{path.name}: the file is damaged or not a model written by svmpath tune") from error
    if foreign:
        raise DataError(
            f"{path.name}: the model holds types that svmpath does not write and will not run "
            f"({', '.join(sorted(foreign)[:5])}); use a model written by svmpath tune"
        )
    try:
        pipeline = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    except Exception as error:
        raise DataError(
            f"{path.name}: the model cannot be loaded ({_first_line(error)}); it may come from another "
            "version of "
            "svmpath, then tune again"
        ) from error
    if not isinstance(pipeline, Pipeline) or not hasattr(pipeline, _INFO):
        raise DataError(f"{path.name}: the file holds no model written by svmpath tune")
    return pipeline


def _check_model_file(path: Path) -> None:
    if not path.exists():
        raise DataError(f"{path.name}: there is no model file {str(path)!r}; check its name and folder")
    if not path.is_file():
        raise DataError(f"{path.name}: a model file was expected, but this is a folder")


def _is_known(name: str) -> bool:
    """Whether a model may hold it: what this package defines (not merely imports), and what is harmless."""
    import importlib
    from types import FunctionType

    if name in _HARMLESS:
        return True
    module, _, attribute = name.rpartition(".")
    if not module.startswith("svmpath."):
        return False
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    return isinstance(found, type | FunctionType) and found.__module__ == module


def _columns(pipeline: Any) -> dict[str, str]:
    """The features a model needs and their kinds, in the order of its training data."""
    from sklearn.compose import ColumnTransformer

    step = pipeline["columns"]
    if not isinstance(step, ColumnTransformer):
        return {f"x{position + 1}": "number" for position in range(step.n_features_in_)}
    kinds = dict.fromkeys(step.feature_names_in_.tolist(), "number")
    for name, known in _categories(pipeline).items():
        kinds[name] = "boolean" if known.dtype == bool else "category"
    return kinds


def _categories(pipeline: Any) -> dict[str, Any]:
    """The categories a model knows, by column."""
    for part, words, names in getattr(pipeline["columns"], "transformers_", ()):
        if part == "categories":
            return dict(zip(names, words[-1].categories_, strict=True))
    return {}


def _note_unseen(pipeline: Any, table: Table) -> None:
    """Say where rows have categories that were not in the training data."""
    for name, known in _categories(pipeline).items():
        seen = set(known.tolist())
        unseen = [value for value in table.X[name] if value not in seen]
        if unseen:
            words = ", ".join(repr(str(word)) for word in list(dict.fromkeys(unseen))[:3])
            _note(
                f"{table.source}: column {name!r} has categories in {len(unseen)} of {table.n_rows} rows "
                "that were not in "
                f"the training data (such as {words}); they count as none of the known ones."
            )


def _form(table: Table, pipeline: Any) -> Any:
    """The features in the form the pipeline was fitted to: with names, or without."""
    from scipy.sparse import issparse

    if not hasattr(pipeline["columns"], "transformers_"):
        return table.X.to_numpy() if table.named else table.X
    if table.named:
        return table.X
    import pandas as pd

    X = table.X.toarray() if issparse(table.X) else table.X
    return pd.DataFrame(X, columns=list(table.kinds))


def _write_predictions(predictions: Any, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["prediction"])
        writer.writerows([value] for value in predictions.tolist())


# ----------------------------------------------------------------------------------------------------
# compile
# ----------------------------------------------------------------------------------------------------


@app.command("compile")
def compile_engines() -> None:
    """Compile the engines now, so that the first path need not wait for it; the result is kept on disk."""
    with _user_errors():
        for what, module, work in _engines():
            start, before = time.perf_counter(), count_compiled(import_module(module))
            work()
            seconds, done = time.perf_counter() - start, count_compiled(import_module(module)) > before
            print(f"{what}: {f'compiled in {seconds:.1f} s' if done else 'already compiled'}", flush=True)


def _engines() -> list[tuple[str, str, Callable[[], Any]]]:
    """The name of each engine, the module that is compiled, and a small problem that makes use of all of it."""
    import numpy as np

    from svmpath import criteria, trace, trace_elastic

    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=24) > 0, 1, -1)

    def follow(**options: Any) -> Any:
        return trace(X, y, **options)

    def features() -> None:
        path = trace_elastic(X, y)
        for criterion in (criteria.loo, criteria.kfold):
            criterion(path, path.span[0] * np.array([0.5, 0.1]))

    return [
        ("The path engine", "svmpath.solvers.loops.box_walk", lambda: follow(loss="hinge")(1.0)),
        ("Leave-one-out", "svmpath.solvers.loops.box_removal", lambda: criteria.loo(follow(loss="hinge"), [0.1, 1.0])),
        ("The engine of the elastic net", "svmpath.solvers.loops.elastic_walk", features),
        ("Paths over the kernel", "svmpath.solvers.loops.hermite", lambda: follow(loss="hinge", over="gamma")(1.0)),
    ]


# ----------------------------------------------------------------------------------------------------
# What the user gave
# ----------------------------------------------------------------------------------------------------


def _number_or_word(option: str, text: str, words: tuple[str, ...]) -> str | float | tuple[float, float]:
    """The value of an option that is a word, a positive number, or two of them, LOW:HIGH."""
    if text in words:
        return text
    try:
        values = [float(part) for part in text.split(":")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= 2 or not all(0 < value < float("inf") for value in values):
        raise DataError(f"{option} must be {', '.join(words)}, a positive number or LOW:HIGH, not {text!r}")
    if len(values) == 1:
        return values[0]
    if not values[0] < values[1]:
        raise DataError(f"{option} LOW:HIGH must rise, and {text!r} does not")
    return values[0], values[1]


def _criterion(criterion: Criterion, loss: str | None) -> str:
    """The criterion, refused where the loss has no such thing."""
    if criterion is Criterion.alo and loss not in _ELBOW:
        raise DataError(f"--criterion alo needs --loss {' or '.join(_ELBOW)}; for other losses auto is as quick")
    return criterion.value


def _epsilon(text: str | None, loss: str | None) -> str | float:
    """Half the width of the tube, or "tune"; said aloud where it does nothing."""
    if text is not None and loss != "epsilon_insensitive":
        _note("--epsilon counts for --loss epsilon_insensitive only.")
    if text is None or text == "tune":
        return "tune"
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise DataError(f"--epsilon must be tune or a number >= 0, not {text!r}")
    return value


def _gap(settings: Mapping[str, Any], rows: int) -> float | None:
    """The duality gap to which paths with an elbow are followed; None where they are exact."""
    if settings["loss"] not in _ELBOW or rows <= _WHOLE_ROWS:
        return None
    if settings["rank"] is None:
        raise DataError(f"--rank exact with --loss {settings['loss']} is for at most {_WHOLE_ROWS} rows, not {rows}")
    if settings["criterion"] == "loo":
        raise DataError(
            f"--criterion loo with --loss {settings['loss']} is for at most {_WHOLE_ROWS} rows, not {rows}; "
            "use alo or kfold"
        )
    _note(f"{rows} rows: paths of {settings['loss']} are followed to a relative duality gap of {_GAP:g}.")
    return _GAP


def _for_rows(settings: Mapping[str, Any], rows: int) -> int | float | None:
    """The rank that "auto" stands for."""
    rank: int | float | str | None = settings["rank"]
    if not isinstance(rank, str):
        return rank
    if rows <= _MANY_ROWS:
        return None
    if settings["search"] == "gradient" or settings["gamma"] == "ard":
        asked = "--gamma ard" if settings["gamma"] == "ard" else "--search gradient"
        raise DataError(
            f"{asked} needs the whole kernel matrix, which for {rows} rows takes long; --rank exact allows it"
        )
    _note(f"{rows} rows: the kernel is approximated with {_LANDMARKS} landmarks; --rank exact does without.")
    return _LANDMARKS


def _rank(text: str) -> int | float | str | None:
    """A number of landmarks, the residual to reach, None for exact, or "auto"."""
    if text in ("exact", "auto"):
        return None if text == "exact" else text
    try:
        value: int | float = int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        value = 0
    if (isinstance(value, int) and value >= 1) or (isinstance(value, float) and 0 < value < 1):
        return value
    raise DataError(
        f"--rank must be exact, auto, a whole number of landmarks or a residual between 0 and 1, not {text!r}"
    )


def _kernel(name: str) -> str:
    """A kernel that can be computed from a table."""
    if name == "precomputed":
        raise DataError("--kernel precomputed needs kernel values; in Python, use PathSVC(kernel='precomputed')")
    return name


def _check_folder(folder: Path) -> None:
    """Make sure, before any work, that files can be written to `folder`, which need not exist yet."""
    level = next(level for level in (folder, *folder.absolute().parents) if level.exists())
    if not level.is_dir():
        raise DataError(f"--output must be a folder, but {str(level)!r} is a file")
    if not os.access(level, os.W_OK | os.X_OK):
        raise DataError(f"--output: the folder {str(level)!r} cannot be written to")
    for name in ("model.skops", "summary.json"):
        if (folder / name).is_dir():
            raise DataError(f"--output: {str(folder / name)!r} is a folder; remove it or choose another --output")


def _check_file(path: Path, inputs: tuple[Path, ...]) -> None:
    """Make sure, before any work, that `path` can be written and is none of the files read."""
    if path.is_dir():
        raise DataError(f"--output must be a csv file, but {str(path)!r} is a folder")
    if path.exists() and not path.is_file():
        raise DataError(f"--output must be a csv file, but {str(path)!r} is none")
    if not path.parent.is_dir():
        raise DataError(f"--output: there is no folder {str(path.parent)!r}; make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"--output: the folder {str(path.parent)!r} cannot be written to")
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise DataError(f"--output {str(path)!r} would overwrite a file that is read; choose another name")


# ----------------------------------------------------------------------------------------------------
# Errors, notes, progress
# ----------------------------------------------------------------------------------------------------


@contextmanager
def _user_errors() -> Iterator[None]:
    """Turn what can go wrong into one sentence and an exit code, and warnings into notes."""
    shown = warnings.showwarning
    warnings.showwarning = _notes_once()
    try:
        yield
    except KeyboardInterrupt:
        print("Interrupted; nothing was written.", file=sys.stderr)
        raise typer.Exit(_INTERRUPTED) from None
    except MemoryError:
        _fail("there is not enough memory for a table of this size; use --rank, or fewer rows or columns")
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _fail(f"{error.strerror or error}{where}")
    except (ValueError, PathError) as error:  # of the files, or of the estimators
        _fail(_first_line(error))
    finally:
        warnings.showwarning = shown


@contextmanager
def _said_or_not() -> Iterator[None]:
    """Print what there is to say: the work is done, and a closed pipe or a full disk does not undo it."""
    try:
        yield
    except OSError:
        # What is left in the buffer must not fail again when Python ends.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(sentence: str) -> NoReturn:
    print(f"Error: {sentence.rstrip('.')}.", file=sys.stderr)
    raise typer.Exit(2) from None


def _note(sentence: str) -> None:
    print(f"Note: {sentence}", file=sys.stderr)


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _notes_once() -> Callable[..., None]:
    """What shows warnings: those meant for users as notes, each once, the others not at all."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
        sentence = " ".join(str(message).split())
        if category.__name__ == "InconsistentVersionWarning":  # of each step of the pipeline
            sentence = "the model was written with another version of scikit-learn; tune again to be safe."
        if category.__name__ == "IndefiniteKernelWarning":  # of each gamma, each with its own numbers
            sentence = "the kernel is indefinite on these data: the problem is not convex; --psd clip makes it convex."
        if issubclass(category, UserWarning) and sentence not in told:
            told.add(sentence)
            _note(sentence)

    return show


class _Progress:
    """A bar on the terminal for work that lasts longer than `delay` seconds; elsewhere silence.

    It is also the function the estimators call: ``progress(done, total)``.
    """

    def __init__(self, description: str, delay: float = 1.0) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task(description, total=None)
        self._lock = threading.Lock()
        self._over = not console.is_terminal
        # A timer, because the first report of the estimator may come late.
        self._timer = threading.Timer(delay, self._show)
        self._timer.daemon = True

    def __enter__(self) -> _Progress:
        if not self._over:
            self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar.live.is_started:  # stopping what has not begun would print an empty line
                self._bar.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._bar.start()

    def stage(self, description: str) -> None:
        """Begin another piece of work."""
        self._bar.update(self._task, description=description, total=None, completed=0)

    def __call__(self, done: int, total: int) -> None:
        """Report that `done` of `total` parts are done."""
        self._bar.update(self._task, completed=done, total=total)


# ----------------------------------------------------------------------------------------------------
# The entry point
# ----------------------------------------------------------------------------------------------------


def _print_version(wanted: bool) -> None:
    if wanted:
        from svmpath import __version__

        print(f"svmpath {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code: 0, 2 for what the user can set right, 130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show must not end the work
    code = _run(lambda: app(args=arguments, prog_name="svmpath", standalone_mode=False))
    if code == _INTERRUPTED and workers_left():
        # They stop at their next checkpoint, which may be seconds away, and nobody waits for them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _run(command: Callable[[], Any]) -> int:
    """The exit code of a command; options that do not exist and the like are told in one sentence, too."""
    try:
        code = command()
    except KeyboardInterrupt:
        print("Interrupted; nothing was written.", file=sys.stderr)
        return _INTERRUPTED
    except Exception as error:
        # The exceptions of click, whichever copy of it typer brings along.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if not message.startswith("Usage:"):  # which is what a bare svmpath gets
            message = f"Error: {' '.join(message.split()).rstrip('.')}; see svmpath --help."
        print(message, file=sys.stderr)
        return 2
    return code if isinstance(code, int) else 0

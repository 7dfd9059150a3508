"""The options of the program: one table, from which signatures, help, completion, settings and messages follow.

A row declares one option: its flags, the commands that have it, its panel in the help, and how its text is read. An
option that commands understand differently has a row for each meaning. What is rarely needed is in the last panel.
Names that an option accepts are written out, so that ``--help`` need not load scikit-learn; a test compares them with
the tables of the library.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from svmpath.cli.config import read_config
from svmpath.cli.values import (
    FOLDS,
    check_name,
    read_fixed,
    read_folds,
    read_level,
    read_names,
    read_rank,
    read_scoring,
    read_size,
    read_span,
    read_threshold,
    read_tried,
    read_tuned,
    read_values,
)

DATA, MACHINE, SEARCH, OUTPUT, ADVANCED = "Data", "Machine", "Search", "Output", "Advanced"
REQUIRED = inspect.Parameter.empty
_LARGEST_SEED = 2**32 - 1  # of numpy.random.RandomState


class Given(SimpleNamespace):
    """The values of a command's options by their names: those of the flags, with underscores.

    ``settings`` has those that are parameters of an estimator or of ``svmpath.trace``, by their names there, and
    ``context`` is that of typer.
    """


@dataclass(frozen=True)
class Option:
    """One option, or an argument if there is no dash in its name.

    Attributes
    ----------
    flags : str
        ``"--output -o"``, ``"--report/--no-report"`` or ``"DATA"``; the first is its name in messages, in
        configuration files and for commands.
    commands : str
        The commands that have it.
    panel, help : str
        Where ``--help`` shows it, and what it says.
    metavar : str
        What stands for the value; empty for a flag, which has none.
    default : object
        None if there is none; `REQUIRED` if it must be given.
    type : type
    names : tuple of str
        Names that are accepted, which a shell completes.
    read : callable, optional
        ``read(flag, text, names)`` is the value. If not given, one of the names is taken if there are any, else the
        text.
    sets : str
        The parameter of the estimator, or of ``svmpath.trace``, that it sets.
    least : int, optional
    callback : callable, optional
        Called by typer with the value, before the command begins.
    """

    flags: str
    commands: str
    panel: str
    help: str
    metavar: str = ""
    default: Any = None
    type: Any = str
    names: tuple[str, ...] = ()
    read: Callable[[str, Any, Any], Any] | None = None
    sets: str = ""
    least: int | None = None
    callback: Callable[..., Any] | None = None

    @property
    def flag(self) -> str:
        """The name of the option in messages."""
        return re.split(r"[ /]", self.flags)[0]

    @property
    def name(self) -> str:
        """The name of the option for commands."""
        is_option = self.flag.startswith("--")
        return self.flag.removeprefix("--").replace("-", "_") if is_option else self.flag.lower()

    def parameter(self) -> inspect.Parameter:
        """The option in the signature of a command, as typer reads it."""

        def complete(incomplete: str) -> list[str]:
            return [name for name in self.names if name.startswith(incomplete)]

        shown: dict[str, Any] = {
            "help": self.help,
            "metavar": self.metavar or None,
            "show_default": self.default not in (None, REQUIRED),
            "autocompletion": complete if self.names else None,
        }
        info = (
            typer.Option(
                *self.flags.split(),
                rich_help_panel=self.panel,
                min=self.least,
                callback=self.callback,
                is_eager=self.callback is read_config,
                **shown,
            )
            if self.flag.startswith("--")
            else typer.Argument(**shown)
        )
        kind = self.type | None if self.default is None else self.type
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=Annotated[kind, info]
        )

    def value(self, text: Any) -> Any:
        """What is meant by the text."""
        read = self.read or (check_name if self.names else None)
        return text if read is None else read(self.flag, text, self.names)


def _check_seed(value: int) -> int:
    """The seed, if numpy takes it; ``min`` and ``max`` would print both ends in the help."""
    if not 0 <= value <= _LARGEST_SEED:
        raise typer.BadParameter(f"{value} is not between 0 and {_LARGEST_SEED}")
    return value


_TABLES, _TUNING, _WITH_KERNEL = "tune compare select path", "tune compare", "tune compare path"
_ALL = f"{_TABLES} novelty predict update forget report export datasets compile"
_LOSSES = ("least_squares", "squared_hinge", "hinge", "huber_hinge", "epsilon_insensitive", "expectile", "pinball")
_KERNELS = ("linear", "rbf", "poly", "laplacian", "sigmoid")
_FORMATS = ("csv", "tsv", "parquet", "arff", "libsvm", "npz")
_SETS = ("banana", "mixture", "ringnorm", "twonorm", "waveform", "flats")
_ENGINES = ("path", "loo", "elastic", "kernel")

TABLE = (
    # Arguments
    Option(
        "MODEL", "predict report export update forget", "", "The model.skops that svmpath tune has written.", "MODEL",
        REQUIRED, type=Path,
    ),
    Option(
        "DATA", f"{_TABLES} novelty predict update", "",
        "Data file: csv, tsv, parquet, arff, libsvm or npz, also compressed (.gz, .bz2); - reads standard input.",
        "DATA", REQUIRED, type=Path,
    ),
    Option(
        "NEW", "novelty", "", "The rows to be compared with those of DATA, in a file of the same columns.", "NEW",
        REQUIRED, type=Path,
    ),
    Option("ONNX", "export", "", "The onnx file to write.", "ONNX", REQUIRED, type=Path),
    Option("DATA", "report", "", "The data file that it was tuned on.", "DATA", REQUIRED, type=Path),
    Option(
        "NAME", "datasets", "",
        "banana, mixture, ringnorm, twonorm, waveform or flats; without it, they are listed.",
        "NAME", names=_SETS,
    ),
    Option(
        "ENGINE", "compile", "", "path, loo, elastic or kernel; all of them if none is given.", "ENGINE",
        type=list[str], names=_ENGINES, read=read_names,
    ),
    # Data
    Option(
        "--format", f"{_TABLES} novelty predict update", ADVANCED,
        "Format of the data: csv, tsv, parquet, arff, libsvm or npz; found from the file's name or its content if not "
        "given.",
        "NAME", names=_FORMATS,
    ),
    Option("--target", _TABLES, DATA, "Column to predict; not needed for npz (array y) and libsvm.", "COLUMN"),
    Option(
        "--task", _WITH_KERNEL, DATA,
        "What to fit: classification or regression; decided from the target if not given.",
        "NAME", names=("classification", "regression"),
    ),
    Option(
        "--drop", f"{_TABLES} novelty", DATA, "Columns to leave out; can be given several times.", "COLUMN,...",
        type=list[str],
    ),
    Option(
        "--columns", f"{_TABLES} novelty", ADVANCED,
        "Columns to predict from, and no others; can be given several times.",
        "COLUMN,...", type=list[str],
    ),
    Option(
        "--categorical", f"{_TABLES} novelty", DATA,
        "Columns whose values are categories, even if they are numbers; can be given several times.",
        "COLUMN,...", type=list[str],
    ),
    Option(
        "--impute", f"{_TABLES} novelty", ADVANCED,
        "Missing values: auto (numbers by the median with an indicator column, words as a category of their own), "
        "median, mean, most-frequent, drop-rows, or none (they are an error).",
        "NAME", "auto", names=("auto", "median", "mean", "most-frequent", "drop-rows", "none"),
    ),
    Option(
        "--class-weight", _TABLES, ADVANCED, "Weights of the classes: balanced, or LABEL:WEIGHT,LABEL:WEIGHT.",
        "WEIGHTS", sets="class_weight",
    ),
    Option("--weight-column", f"{_TABLES} novelty", ADVANCED, "Column with the weight of each row.", "COLUMN"),
    Option(
        "--group-column", "tune compare select", ADVANCED,
        "Column that says which rows belong together, such as the visits of a patient; they are held out together.",
        "COLUMN",
    ),
    Option(
        "--scheduler", "tune", ADVANCED,
        "Read parquet files in chunks with Dask, for tables that do not fit into memory: threads, processes (of this "
        "computer), or the address of a cluster, tcp://host:port. threads if DATA is a pattern such as "
        "'big/*.parquet'.",
        "NAME",
    ),
    Option("--rows", "datasets", DATA, "Number of rows.", "N", 400, type=int, least=2),
    # The machine
    Option(
        "--loss", "tune", MACHINE,
        "Loss of the machine: squared_hinge (default for two classes), hinge, huber_hinge, least_squares (default for "
        "regression), epsilon_insensitive, expectile or pinball (quantiles). With several classes, the better of "
        "squared_hinge and least_squares is the default.",
        "NAME", names=_LOSSES, sets="loss",
    ),
    Option(
        "--loss", "path", MACHINE,
        "Loss of the machine: squared_hinge (default for two classes), hinge, huber_hinge, least_squares (default for "
        "regression), epsilon_insensitive, expectile, pinball or nu.",
        "NAME", names=(*_LOSSES, "nu"), sets="loss",
    ),
    Option(
        "--losses", "compare", MACHINE,
        "Losses to compare: squared_hinge, hinge, huber_hinge, least_squares, epsilon_insensitive, expectile or "
        "pinball. If not given, squared_hinge and least_squares, or least_squares for regression.",
        "NAME,...", names=_LOSSES, read=read_names,
    ),
    Option(
        "--epsilon", "tune", ADVANCED,
        "Half the width of the tube of --loss epsilon_insensitive: tune (the default), a number, candidates such as "
        "0.05,0.1,0.2 or LOW:HIGH.",
        "VALUE", names=("tune",), read=read_tuned, sets="epsilon",
    ),
    Option(
        "--quantile", "tune", ADVANCED,
        "The level that --loss pinball or expectile predicts, between 0 and 1, or several, such as 0.05,0.5,0.95; if "
        "not given, 0.5 for pinball and 0.9 for expectile.",
        "NUMBER,...", read=read_level, sets="quantile",
    ),
    Option(
        "--calibrate", "tune", ADVANCED,
        "Move the quantiles of --loss pinball, each by a constant, so that the right share of held-out targets lies "
        "below.",
        "", False, type=bool, sets="calibrate",
    ),
    Option(
        "--epsilon", "path", ADVANCED,
        "Half the width of the tube of epsilon_insensitive, unless it is followed.",
        "NUMBER", 0.1, type=float, sets="epsilon",
    ),
    Option(
        "--kernel", "tune novelty path", MACHINE, "Kernel: linear, rbf, poly, laplacian or sigmoid.", "NAME", "rbf",
        names=_KERNELS, sets="kernel",
    ),
    Option(
        "--kernels", "compare", MACHINE, "Kernels to compare: linear, rbf, poly, laplacian or sigmoid.", "NAME,...",
        "rbf,linear", names=_KERNELS, read=read_names,
    ),
    Option(
        "--degree", _WITH_KERNEL, ADVANCED, "Degree of the poly kernel.", "N", 3, type=int, sets="degree", least=1
    ),
    Option(
        "--coef0", _WITH_KERNEL, ADVANCED, "Constant of the poly and sigmoid kernels.", "NUMBER", 0.0, type=float,
        sets="coef0",
    ),
    Option(
        "--gamma", "tune", MACHINE,
        "Parameter of the kernel: tune, scale, auto, a number, LOW:HIGH to search between, candidates such as "
        "0.1,1,10, or ard for one per column.",
        "VALUE", "tune", names=("tune", "scale", "auto", "ard"), read=read_tried, sets="gamma",
    ),
    Option(
        "--gamma", "novelty", MACHINE,
        "Parameter of the kernel: tune, scale, auto, a number, LOW:HIGH to search between, or candidates such as "
        "0.1,1,10.",
        "VALUE", "tune", names=("tune", "scale", "auto"), read=read_tried, sets="gamma",
    ),
    Option(
        "--nu", "novelty", MACHINE,
        "False-alarm rate: the share of rows like those of DATA that are taken for novelties; tune or a number.",
        "VALUE", "0.1", names=("tune",), read=read_tuned, sets="nu",
    ),
    Option(
        "--gamma", "path", MACHINE,
        "Parameter of the kernel, unless it is followed: scale, auto or a number.",
        "VALUE", "scale", names=("scale", "auto"), read=read_fixed, sets="gamma",
    ),
    Option(
        "--C", "tune", MACHINE,
        "Weight of the losses: tune, a number, LOW:HIGH to search between, or candidates such as 0.1,1,10.",
        "VALUE", "tune", names=("tune",), read=read_tried, sets="C",
    ),
    Option("--C", "path", MACHINE, "C, unless it is followed.", "NUMBER", 1.0, type=float, sets="C"),
    Option(
        "--rank", _TUNING, ADVANCED,
        "Low-rank kernel: exact (none), a number of landmarks, a target for the residual in (0, 1), or auto (exact up "
        "to 2000 rows; with more, --search auto doubles the rank while that helps, other searches and losses with an "
        "elbow use 500 landmarks).",
        "VALUE", "auto", names=("exact", "auto"), read=read_rank, sets="rank",
    ),
    Option(
        "--rank", "path", ADVANCED,
        "Low-rank kernel: exact (none), a number of landmarks, a target for the residual in (0, 1), or auto (500 "
        "landmarks with more than 2000 rows).",
        "VALUE", "auto", names=("exact", "auto"), read=read_rank, sets="rank",
    ),
    Option(
        "--landmarks", "tune path", ADVANCED,
        "Landmarks for --rank: rpcholesky (the default), greedy, uniform (where --rank auto chooses the rank), kmeans "
        "or density.",
        "NAME", names=("rpcholesky", "greedy", "uniform", "kmeans", "density"),
    ),
    Option(
        "--psd", "tune path", ADVANCED,
        "An indefinite kernel (sigmoid): warn, or clip it to its positive semi-definite part.",
        "NAME", "warn", names=("warn", "clip"),
    ),
    Option(
        "--threshold", "tune", ADVANCED,
        "Of two classes, the second is predicted where the decision value is larger: a number (0 if not given), or "
        "tune for the cut with the best held-out score.",
        "VALUE", names=("tune",), read=read_threshold, sets="threshold",
    ),
    Option(
        "--positive", "tune compare select", ADVANCED,
        "The positive one of two classes, for --scoring f1, precision, recall, average_precision, ...; 1 if that is a "
        "label and none is given, else the rarer class.",
        "LABEL", sets="pos_label",
    ),
    Option(
        "--lambda1", "select", MACHINE,
        "Weight of the l1 penalty, which selects features: tune, a number, candidates such as 1,3,10 or LOW:HIGH.",
        "VALUE", "tune", names=("tune",), read=read_tuned, sets="lambda1",
    ),
    Option(
        "--lambda2", "select", MACHINE,
        "Weight of the l2 penalty, which keeps correlated features together: tune, a number, candidates or LOW:HIGH.",
        "VALUE", "tune", names=("tune",), read=read_tuned, sets="lambda2",
    ),
    Option(
        "--max-features", "select", MACHINE, "The largest number of features of a machine.", "N", type=int,
        sets="max_features", least=1,
    ),
    # The search
    Option(
        "--over", "path", SEARCH,
        "Hyper-parameter to follow: C, epsilon (for epsilon_insensitive), quantile (for pinball), nu (for nu), gamma "
        "or coef0. If not given, C, or nu for nu.",
        "NAME", sets="over",
    ),
    Option(
        "--span", "path", SEARCH,
        "Its first and its last value; the path may go up or down. If not given, a wide range: 0.001 to 1e6 for C, to "
        "1000 for losses with an elbow; for the others it depends on the data.",
        "FROM:TO", read=read_span, sets="span",
    ),
    Option(
        "--values", "path", SEARCH,
        "Where solutions are written: a number of values along the span, breakpoints, or a list 0.1,1,10.",
        "VALUE", "50", names=("breakpoints",), read=read_values,
    ),
    Option(
        "--folds", "compare", SEARCH,
        "Folds of the comparison: everything is tuned without each of them, and scored on it.",
        "N", 5, type=int, least=2,
    ),
    Option(
        "--criterion", _TUNING, SEARCH,
        "Held-out error to minimise: exact leave-one-out (loo), its approximation (alo; not for "
        "least_squares) or k-fold (kfold). auto is leave-one-out, which is predicted for the squared hinge; for hinge "
        "with more than 500 rows, epsilon_insensitive with more than 200 and huber_hinge with more than 20 it is "
        "k-fold.",
        "NAME", "auto", names=("auto", "loo", "alo", "kfold"), sets="criterion",
    ),
    Option(
        "--criterion", "select", SEARCH,
        "Held-out error to minimise: kfold, exact leave-one-out (loo), or auto: kfold if each class has at least ten "
        "rows.",
        "NAME", "auto", names=("auto", "kfold", "loo"), sets="criterion",
    ),
    Option(
        "--rule", "select", SEARCH,
        "min: the lowest error; one_se: the fewest features whose error is within one standard error of it.",
        "NAME", "min", names=("min", "one_se"), sets="rule",
    ),
    Option(
        "--scoring", "tune compare select", SEARCH,
        "Score to maximise instead of minimising the held-out error: the name of a scikit-learn scorer, such as f1, "
        "roc_auc or neg_mean_absolute_error.",
        "NAME", read=read_scoring, sets="scoring",
    ),
    Option(
        "--cv", "tune select", ADVANCED, f"Number of folds of k-fold ({FOLDS}).", "N", type=int, read=read_folds,
        sets="cv", least=2,
    ),
    Option(
        "--search", _TUNING, ADVANCED,
        "How gamma and C are searched: auto (many pairs screened, few confirmed), grid (all pairs) or gradient.",
        "NAME", "auto", names=("auto", "grid", "gradient"), sets="search",
    ),
    Option(
        "--effort", _TUNING, ADVANCED,
        "With more than 2000 rows: quick stays in low rank, auto goes on with the full kernel where that is not "
        "enough, best does so with more rows.",
        "NAME", "auto", names=("quick", "auto", "best"), sets="effort",
    ),
    Option(
        "--honest", "tune", ADVANCED,
        "How the error of the whole procedure, choice included, is estimated: nested (the tuning is repeated without "
        "each of ten folds), bootstrap (no fit), none, or auto: nested up to 500 rows (150 for losses other than "
        "least_squares and squared_hinge, and for searches other than auto), bootstrap with more.",
        "NAME", "auto", names=("auto", "nested", "bootstrap", "none"),
    ),
    Option(
        "--n-jobs", "tune compare select", SEARCH, "Number of threads; -1 uses all cores.", "N", type=int,
        sets="n_jobs",
    ),
    Option(
        "--time-limit", _TUNING, ADVANCED,
        "Stop searching after so many seconds, and take the best so far; what is under way is finished. Needs --search "
        "auto.",
        "SECONDS", type=float, sets="time_limit",
    ),
    Option(
        "--memory-limit", _TUNING, ADVANCED,
        "What one matrix may take, such as 4GiB or 500MB; 70 % of what is free if not given.",
        "SIZE", read=read_size,
    ),
    Option(
        "--seed --random-state", "tune compare novelty path datasets", SEARCH,
        "Random seed: the same seed gives the same result.",
        "N", 0, type=int, sets="random_state", callback=_check_seed,
    ),
    # Output
    Option(
        "--output -o", "tune", OUTPUT, "Folder for model.skops, summary.json, config.toml and report.html.", "FOLDER",
        Path("."), type=Path,
    ),
    Option(
        "--output -o", "predict", OUTPUT,
        "csv file to write, with a line for each row, in the same order; without it, the first rows are printed.",
        "FILE", type=Path,
    ),
    Option(
        "--output -o", "compare", OUTPUT, "csv file for the held-out prediction of every row by every machine.",
        "FILE", type=Path,
    ),
    Option(
        "--output -o", "select", OUTPUT, "csv file for the table of features, those that are not used included.",
        "FILE", type=Path,
    ),
    Option(
        "--output -o", "novelty", OUTPUT,
        "csv file for the label, the p-value and the decision value of each row of NEW.",
        "FILE", type=Path,
    ),
    Option(
        "--output -o", "path", OUTPUT,
        "Folder for breakpoints.csv, events.csv and solutions.csv, or NAME.npz for one file with all arrays.",
        "FOLDER", REQUIRED, type=Path,
    ),
    Option(
        "--rows", "forget", DATA,
        "Training rows to take out, such as 3,17-20: counted from 1 in the order in which they were used, first those "
        "of the file that the model was tuned on (without rows that were left out), then those that were added.",
        "N,M-N,...", REQUIRED,
    ),
    Option(
        "--output -o", "update forget", OUTPUT, "skops file to write; MODEL itself if not given.", "FILE", type=Path,
    ),
    Option("--output -o", "report", OUTPUT, "html file to write.", "FILE", Path("report.html"), type=Path),
    Option("--output -o", "datasets", OUTPUT, "csv file to write; NAME.csv if not given.", "FILE", type=Path),
    Option(
        "--keep", "predict", OUTPUT,
        "Columns of the file to write before the predictions, such as id,name, or all; can be given several times.",
        "COLUMN,...", type=list[str],
    ),
    Option(
        "--score", "predict", OUTPUT,
        "Compare with the target in the file: the error and its interval, of each class too, and whether it is as "
        "expected.",
        "", False, type=bool,
    ),
    Option("--single", "export", OUTPUT, "Numbers go in and come out in single precision.", "", False, type=bool),
    Option("--proba", "predict", OUTPUT, "Add the probability of each class.", "", False, type=bool),
    Option(
        "--interval", "predict", OUTPUT,
        "Add an interval that contains the target with this probability, such as 0.9; for a classification, the set "
        "of labels that does.",
        "COVERAGE", type=float,
    ),
    Option(
        "--novelty", "predict", OUTPUT,
        "Add the p-value of each row among the training rows: small if it is not like them.",
        "", False, type=bool,
    ),
    Option(
        "--held-out", "tune", ADVANCED,
        "csv file for the rows as machines see them that have not seen them: held-out decision value, probability of "
        "the label, loss, influence; likely label errors first.",
        "FILE", type=Path,
    ),
    Option(
        "--report/--no-report", "tune", ADVANCED, "Write report.html, a page with pictures, for a browser.", "", True,
        type=bool,
    ),
    Option(
        "--config", f"{_TABLES} novelty predict report datasets", OUTPUT,
        "toml file with values for options, by their names; the command line wins over it.",
        "FILE", type=Path, callback=read_config,
    ),
    Option(
        "--json", _ALL, OUTPUT,
        "Print the results as JSON on standard output.",
        "", False, type=bool,
    ),
    Option(
        "--quiet -q", _ALL, OUTPUT,
        "Print neither tables nor notes nor progress, only errors, and what --json prints.",
        "", False, type=bool,
    ),
    Option(
        "--verbose", "tune", ADVANCED, "Print a line for each stage of the search, in place of the display.", "",
        False, type=bool,
    ),
)  # fmt: skip

# The option of svmpath tune for words of messages: parameters of the estimators and of their parts, and what
# scikit-learn's splitters call the number of folds.
OPTIONS = {
    **{row.sets: row.flag for row in TABLE if row.sets and "tune" in row.commands.split()},
    **{"n_splits": "--cv", "landmarks": "--landmarks", "memory_limit": "--memory-limit"},
}


def options_of(command: str) -> list[Option]:
    """The options of a command, those of the last panel at the end."""
    rows = [row for row in TABLE if command in row.commands.split()]
    return sorted(rows, key=lambda row: row.panel == ADVANCED)


def signature_of(command: str) -> inspect.Signature:
    """The signature of a command, as typer reads it."""
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    return inspect.Signature([context, *(row.parameter() for row in options_of(command))])


def read_options(command: str, context: typer.Context, texts: dict[str, Any]) -> Given:
    """The values of the options of a command."""
    rows = options_of(command)
    values = {row.name: row.value(texts[row.name]) for row in rows}
    # The weights of classes need the labels.
    settings = {row.sets: values[row.name] for row in rows if row.sets and row.sets != "class_weight"}
    return Given(**values, settings=settings, context=context)

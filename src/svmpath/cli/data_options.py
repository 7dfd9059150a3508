"""What every command asks about its data: the options of the help panel "Data", and how they are read.

A command takes the annotated types below for its parameters, collects them in :class:`DataOptions`, and calls
:func:`read_data`. The result has the table, the target and the rest of what ``fit`` takes, the kind of every column,
and sentences that say what was done. Printing them is up to the command.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from svmpath.cli.options import check_name
from svmpath.exceptions import DataError
from svmpath.names import did_you_mean, unknown_name

if TYPE_CHECKING:
    from svmpath.datasets import Table

PANEL = "Data"
IMPUTE = ("auto", "median", "mean", "most-frequent", "drop-rows", "none")
FORMATS = ("csv", "tsv", "parquet", "arff", "libsvm", "npz")

DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Data file: csv, tsv, parquet, arff, libsvm or npz, also compressed (.gz, .bz2); - reads standard input.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of the data: csv, tsv, parquet, arff, libsvm or npz; found from the file's name or its content if "
        "not given.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="Column to predict; not needed for npz (array y) and libsvm.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
TaskOption = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="NAME",
        help="What to fit: classification or regression; decided from the target if not given.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN,...",
        help="Columns to leave out; can be given several times.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="COLUMN,...",
        help="Columns to predict from, and no others; can be given several times.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN,...",
        help="Columns whose values are categories, even if they are numbers; can be given several times.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
ImputeOption = Annotated[
    str,
    typer.Option(
        "--impute",
        metavar="NAME",
        help="Missing values: auto (numbers by the median with an indicator column, words as a category of their own), "
        "median, mean, most-frequent, drop-rows, or none (they are an error).",
        rich_help_panel=PANEL,
    ),
]
ClassWeightOption = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="WEIGHTS",
        help="Weights of the classes: balanced, or LABEL:WEIGHT,LABEL:WEIGHT.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
WeightColumnOption = Annotated[
    str | None,
    typer.Option(
        "--weight-column",
        metavar="COLUMN",
        help="Column with the weight of each row.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupColumnOption = Annotated[
    str | None,
    typer.Option(
        "--group-column",
        metavar="COLUMN",
        help="Column that says which rows belong together, such as the visits of a patient; they are held out "
        "together.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]


@dataclass(frozen=True)
class DataOptions:
    """What the user said about the data, as text.

    Attributes
    ----------
    data : Path
        The file; ``-`` is standard input.
    format : str or None
        One of `FORMATS`; None finds out.
    target, task : str or None
    drop, columns, categorical : sequence of str or None
        Names of columns, several of them separated by commas.
    impute : str
        One of `IMPUTE`.
    class_weight : str or None
        ``"balanced"`` or ``"LABEL:WEIGHT,LABEL:WEIGHT"``.
    weight_column, group_column : str or None
    """

    data: Path
    format: str | None = None
    target: str | None = None
    task: str | None = None
    drop: Iterable[str] | None = None
    columns: Iterable[str] | None = None
    categorical: Iterable[str] | None = None
    impute: str = "auto"
    class_weight: str | None = None
    weight_column: str | None = None
    group_column: str | None = None

    def check(self) -> None:
        """Refuse names that are not known, before any work."""
        if self.task is not None:
            check_name("--task", self.task)
        for option, value, possible in (("--impute", self.impute, IMPUTE), ("--format", self.format, FORMATS)):
            if value is not None and value not in possible:
                raise DataError(unknown_name(option, value, possible))


@dataclass(frozen=True)
class Data:
    """A table, ready to be fitted to.

    Attributes
    ----------
    table : Table
        The features, of the columns that are used.
    y : ndarray of shape (n,)
    task : {"classification", "regression"}
    sample_weight, groups : ndarray of shape (n,) or None
    class_weight : dict, "balanced" or None
    rows : ndarray of shape (n,)
        The row of the file that each row was, counted from 0.
    columns : list of dict
        For each column of the file: ``name``, ``kind``, ``missing`` (number of cells), ``use`` (what was done).
    notes : tuple of str
        Sentences for the user.
    impute : str
    """

    table: Table
    y: Any
    task: str
    sample_weight: Any
    groups: Any
    class_weight: Any
    rows: Any
    columns: list[dict[str, Any]]
    notes: tuple[str, ...]
    impute: str = "auto"

    @property
    def X(self) -> Any:
        """The features."""
        return self.table.X

    def fit_parameters(self, step: str = "model") -> dict[str, Any]:
        """Weights and groups, under the names that a pipeline hands on to the fit of `step`."""
        given = {"sample_weight": self.sample_weight, "groups": self.groups}
        return {f"{step}__{name}": value for name, value in given.items() if value is not None}


def read_data(options: DataOptions) -> Data:
    """Read the data that the options describe; whatever cannot be used is an error of one sentence."""
    import numpy as np

    from svmpath.datasets import prepare_target, read_table

    options.check()
    table = read_table(options.data, options.target)
    assert table.y is not None
    try:
        y, task = prepare_target(table.y, options.task)
        weights = read_class_weight(options.class_weight, y, task)
        sample_weight, groups = (_column(table, name) for name in (options.weight_column, options.group_column))
        table = _choose(table, options)
    except DataError as error:
        raise DataError(f"{table.source}: {error}") from error
    facts = [{"name": name, "kind": kind, "missing": 0, "use": "used"} for name, kind in table.kinds.items()]
    rows = np.arange(len(y))
    notes = tuple(
        f"column {name!r} has a different value in every row, so nothing can be learnt from it; leave it out."
        for name, kind in table.kinds.items()
        if kind == "category" and table.X[name].nunique() == len(y)
    )
    return Data(table, y, task, sample_weight, groups, weights, rows, facts if table.named else [], notes)


def _column(table: Table, name: str | None) -> Any:
    """A column by its name."""
    if name is None:
        return None
    _check_column(name, table.kinds)
    return table.X[name].to_numpy()


def _choose(table: Table, options: DataOptions) -> Table:
    """The columns that are asked for."""
    taken = {options.weight_column, options.group_column}
    kept = split_names(options.columns) or [name for name in table.kinds if name not in taken]
    dropped = split_names(options.drop)
    for name in (*kept, *dropped):
        _check_column(name, table.kinds)
    kept = [name for name in kept if name not in dropped]
    if len(kept) == len(table.kinds):
        return table
    return replace(table, X=table.X[kept], kinds={name: table.kinds[name] for name in kept})


def _check_column(name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        raise DataError(
            f"there is no column {name!r}; there are {', '.join(map(repr, names))}.{did_you_mean(name, names)}"
        )


def split_names(given: Iterable[str] | None) -> list[str]:
    """The names in an option that can be given several times; a name with a comma stands in double quotes.

    Examples
    --------
    >>> from svmpath.cli.data_options import split_names
    >>> split_names(["zip,grade", '"last, first"'])
    ['zip', 'grade', 'last, first']
    """
    rows = csv.reader(given or [], skipinitialspace=True)
    return list(dict.fromkeys(name.strip() for row in rows for name in row if name.strip()))


def read_class_weight(text: str | None, y: Any, task: str) -> Mapping[Any, float] | str | None:
    """The weights of the classes, by label; classes that are not named keep the weight 1."""
    import numpy as np

    if text is None or text == "balanced":
        if text is not None and task != "classification":
            raise DataError("--class-weight works for classification only; use --weight-column to weight rows")
        return text
    if task != "classification":
        raise DataError("--class-weight works for classification only; use --weight-column to weight rows")
    labels = {str(label): label for label in np.unique(y).tolist()}
    weights = dict.fromkeys(labels.values(), 1.0)
    for part in next(csv.reader([text], skipinitialspace=True)):
        label, _, number = part.rpartition(":")
        if label not in labels:
            raise DataError(
                f"--class-weight must be balanced or LABEL:WEIGHT,LABEL:WEIGHT with the labels {', '.join(labels)}, "
                f"not {text!r}.{did_you_mean(label or text, [*labels, 'balanced'])}"
            )
        weights[labels[label]] = _positive(number, text)
    return weights


def _positive(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise DataError(f"--class-weight needs a positive number after each label, not {text!r} (in {whole!r})")
    return value

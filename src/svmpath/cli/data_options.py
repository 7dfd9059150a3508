"""What every command asks about its data: the options of the help panel "Data", and how they are read.

A command takes the annotated types below for its parameters, collects them in :class:`DataOptions`, and calls
:func:`read_data`. The result has the table, the target and the rest of what ``fit`` takes, the kind of every column,
and sentences that say what was done. Printing them is up to the command.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
        One of `svmpath.datasets.sources.FORMATS`; None finds out.
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
        from svmpath.datasets.sources import FORMATS

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
        For each feature of the file: ``name``, ``kind``, ``missing`` (number of cells), ``used`` and ``detail``; empty
        if columns have no names.
    notes : tuple of str
        Sentences for the user.
    options : DataOptions
        What was asked for.
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
    options: DataOptions

    @property
    def X(self) -> Any:
        """The features."""
        return self.table.X

    @property
    def impute(self) -> str:
        """What is done about missing values."""
        return self.options.impute

    def trained(self) -> dict[str, Any]:
        """What prediction must know beyond the fitted pipeline: see :func:`svmpath.cli.saved_model.write_model`."""
        others = (self.table.target, self.options.weight_column, self.options.group_column)
        dropped = [column["name"] for column in self.columns if not column["used"]]
        return {
            "target": self.table.target,
            "task": self.task,
            "zero_based": self.table.zero_based,
            "impute": self.impute,
            "ignored": [*(name for name in others if name is not None), *dropped, *split_names(self.options.drop)],
        }

    def fit_parameters(self, step: str = "model") -> dict[str, Any]:
        """Weights and groups, under the names that a pipeline hands on to the fit of `step`."""
        given = {"sample_weight": self.sample_weight, "groups": self.groups}
        return {f"{step}__{name}": value for name, value in given.items() if value is not None}


def read_data(options: DataOptions) -> Data:
    """Read the data that the options describe; whatever cannot be used is an error of one sentence."""
    from svmpath.cli.data_notes import column_facts, data_notes, label_notes
    from svmpath.datasets import prepare_target, read_table

    options.check()
    table = read_table(
        options.data,
        options.target,
        format=options.format,
        task=options.task,
        drop=split_names(options.drop),
        columns=split_names(options.columns),
        categorical=split_names(options.categorical),
        weight=options.weight_column,
        group=options.group_column,
        keeps_missing=options.impute == "auto",
    )
    notes = data_notes(table, options.impute)
    try:
        table, dropped = _without_gaps(table, options.impute)
        y, task = prepare_target(table.y, options.task)
        weights = read_class_weight(options.class_weight, y, task)
    except DataError as error:
        raise DataError(f"{table.source}: {error}") from error
    return Data(
        table, y, task, table.weights, table.groups, weights, table.rows, column_facts(table),
        (*notes, *dropped, *label_notes(y)), options,
    )  # fmt: skip


def _without_gaps(table: Table, impute: str) -> tuple[Table, list[str]]:
    """Refuse missing values, or leave rows with one out, if that is asked for."""
    import numpy as np
    import pandas as pd
    from scipy.sparse import csr_matrix, issparse

    from svmpath.datasets.faults import refuse_missing_cell

    if impute not in ("drop-rows", "none"):
        return table, []
    X = table.X
    gaps = csr_matrix((np.isnan(X.data), X.indices, X.indptr), X.shape).toarray() if issparse(X) else pd.isna(X)
    gaps = np.asarray(gaps)
    if not gaps.any():
        return table, []
    if impute == "none":
        row, column = np.argwhere(gaps)[0]
        refuse_missing_cell(list(table.kinds)[column], int(table.rows[row]))
    kept = np.asarray(~gaps.any(axis=1))
    if not kept.any():
        raise DataError("every row has a missing value, so --impute drop-rows leaves none; use --impute auto")
    count = int((~kept).sum())
    return table.take(kept), [f"{count} of {len(kept)} rows have a missing value and are left out."]


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

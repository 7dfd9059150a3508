"""The data of a command, read as its options say.

A command collects its options in :class:`DataOptions` and calls :func:`read_data`. The result has the table, the target
and the rest of what ``fit`` takes, the kind of every column, and sentences that say what was done, which
:func:`read_noted` prints.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import note
from svmpath.cli.values import to_number
from svmpath.exceptions import DataError
from svmpath.names import did_you_mean, no_file

if TYPE_CHECKING:
    from svmpath.cli.options import Given
    from svmpath.datasets import Table


PATTERN = "*?["  # a name with one of these stands for several files


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
        As ``--impute`` says it.
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

    @staticmethod
    def of(given: Given) -> DataOptions:
        """What the options of a command say; a file that is not there is named before anything heavy is imported."""
        if str(given.data) != "-" and not any(sign in str(given.data) for sign in PATTERN) and not given.data.exists():
            raise DataError(f"{given.data.name}: {no_file(given.data)}")
        values: dict[str, Any] = {each.name: getattr(given, each.name, each.default) for each in fields(DataOptions)}
        return DataOptions(**values)


@dataclass(frozen=True)
class TrainingData:
    """A table, ready to be fitted to.

    Attributes
    ----------
    table : Table
        The features, of the columns that are used; weights and groups; and the row of the file that each row was.
    y : ndarray of shape (n,)
    task : {"classification", "regression", "novelty"}
    class_weight : dict, "balanced" or None
    notes : tuple of str
        Sentences for the user.
    options : DataOptions
        What was asked for.
    """

    table: Table
    y: Any
    task: str
    class_weight: Any
    notes: tuple[str, ...]
    options: DataOptions

    @property
    def X(self) -> Any:
        """The features."""
        return self.table.X

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What each feature of the file was read as; empty if columns have no names."""
        names = {"name": "name", "kind": "kind", "missing": "missing", "used": "is_used", "detail": "detail"}
        return [{key: getattr(column, name) for key, name in names.items()} for column in self.table.columns]

    def trained(self) -> dict[str, Any]:
        """What prediction must know beyond the fitted pipeline: see :func:`svmpath.cli.saved_model.write_model`."""
        others = (self.table.target or None, self.options.weight_column, self.options.group_column)
        dropped = [column["name"] for column in self.columns if not column["used"]]
        return {
            "target": self.table.target,
            "task": self.task,
            "zero_based": self.table.zero_based,
            "impute": self.options.impute,
            "ignored": [*(name for name in others if name is not None), *dropped, *split_names(self.options.drop)],
        }

    def fit_parameters(self, step: str = "model") -> dict[str, Any]:
        """Weights and groups, under the names that a pipeline hands on to the fit of `step`."""
        given = {"sample_weight": self.table.weights, "groups": self.table.groups}
        return {f"{step}__{name}": value for name, value in given.items() if value is not None}


def read_data(options: DataOptions) -> TrainingData:
    """Read the data that the options describe; whatever cannot be used is an error of one sentence."""
    from svmpath.cli.data_notes import data_notes, label_notes
    from svmpath.datasets import prepare_target, read_table

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
    return TrainingData(table, y, task, weights, (*notes, *dropped, *label_notes(y)), options)


def read_untargeted(options: DataOptions) -> TrainingData:
    """Read data of which no column is to be predicted."""
    from svmpath.cli.data_notes import data_notes
    from svmpath.datasets import read_table

    table = read_table(
        options.data,
        format=options.format,
        drop=split_names(options.drop),
        columns=split_names(options.columns),
        categorical=split_names(options.categorical),
        weight=options.weight_column,
        keeps_missing=options.impute == "auto",
        has_target=False,
    )
    notes = data_notes(table, options.impute)
    try:
        table, dropped = _without_gaps(table, options.impute)
    except DataError as error:
        raise DataError(f"{table.source}: {error}") from error
    return TrainingData(table, table.y, "novelty", None, (*notes, *dropped), options)


def read_noted(options: DataOptions, read: Callable[[DataOptions], TrainingData] = read_data) -> TrainingData:
    """The data, with a note for what was done to them."""
    data = read(options)
    for sentence in data.notes:
        note(sentence)
    return data


def _without_gaps(table: Table, impute: str) -> tuple[Table, list[str]]:
    """Refuse missing values, or leave rows with one out, if that is asked for."""
    import numpy as np
    import pandas as pd
    from scipy.sparse import csr_matrix, issparse

    from svmpath.datasets.faults import missing_cell

    if impute not in ("drop-rows", "none"):
        return table, []
    X = table.X
    gaps = csr_matrix((np.isnan(X.data), X.indices, X.indptr), X.shape).toarray() if issparse(X) else pd.isna(X)
    gaps = np.asarray(gaps)
    if not gaps.any():
        return table, []
    if impute == "none":
        row, column = np.argwhere(gaps)[0]
        raise missing_cell(list(table.kinds)[column], int(table.rows[row]))
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

    if text is not None and task != "classification":
        raise DataError("--class-weight works for classification only; use --weight-column to weight rows")
    if text is None or text == "balanced":
        return text
    labels = {str(label): label for label in np.unique(y).tolist()}
    weights = dict.fromkeys(labels.values(), 1.0)
    for part in next(csv.reader([text], skipinitialspace=True)):
        label, _, number = part.rpartition(":")
        if label not in labels:
            raise DataError(
                f"--class-weight must be balanced or LABEL:WEIGHT,LABEL:WEIGHT with the labels {', '.join(labels)}, "
                f"not {text!r}.{did_you_mean(label or text, [*labels, 'balanced'])}"
            )
        weight = to_number(number)
        if not 0 < weight < float("inf"):
            raise DataError(f"--class-weight needs a positive number after each label, not {number!r} (in {text!r})")
        weights[labels[label]] = weight
    return weights


def read_positive(text: str | None, y: Any, task: str) -> Any:
    """The label that is meant by the text of --positive; None if it was not given."""
    import numpy as np

    if text is None:
        return None
    if task != "classification":
        raise DataError("--positive names a class, but this is a regression; leave it out")
    labels = {str(label): label for label in np.unique(y).tolist()}
    if text not in labels:
        raise DataError(
            f"--positive must be one of the labels {', '.join(labels)}, not {text!r}.{did_you_mean(text, labels)}"
        )
    return labels[text]

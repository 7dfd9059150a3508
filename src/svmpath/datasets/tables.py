"""A table of features and a target, and the choice of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from svmpath.datasets.columns import Column, infer_column
from svmpath.datasets.faults import NO_ROWS, finite, listed, missing_cell, unknown_column
from svmpath.datasets.matrices import Matrix, column_names
from svmpath.datasets.recipes import follow_recipe
from svmpath.datasets.sources import DataFile
from svmpath.datasets.target import read_target
from svmpath.datasets.typed import objects, read_typed
from svmpath.exceptions import DataError

_MOST_CELLS = 1e8  # of a sparse matrix whose columns are asked for by name


@dataclass(frozen=True)
class Table:
    """What a data file holds.

    Attributes
    ----------
    source : str
        Name of the file, without its folder.
    X : pandas.DataFrame, ndarray or CSR matrix
        The features that are used. Files whose columns have names give a data frame, npz gives an array, libsvm a CSR
        matrix. Missing values are NaN, or None among words.
    y : ndarray
        The target: float64 for numbers, bool for True and False, object for words.
    target : str
        The name of the target.
    columns : tuple of Column
        What each feature was read as, also of those that are left out. Features of npz and libsvm files have no
        entry unless columns were chosen.
    weights, groups : ndarray or None
        The weight of each row, and the group that it belongs to.
    rows : ndarray
        The place of each row in the file, counted from 0: rows without a target are left out.
    n_read : int
        Number of rows in the file.
    format : str
        The format that the file was read in.
    is_guessed : bool
        Whether the format was guessed from the content.
    zero_based : bool
        Whether the indices of a libsvm file began at 0.
    decimal : {".", ","}
        The decimal sign of a csv file.

    See Also
    --------
    svmpath.datasets.read_table : Read a data file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from svmpath.datasets import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "cars.csv")
    ...     pd.DataFrame({"speed": [100, 120], "fuel": ["gas", "oil"], "price": [1.5, 2.5]}).to_csv(file, index=False)
    ...     table = read_table(file, target="price")
    >>> table.source, dict(table.kinds), table.y.tolist()
    ('cars.csv', {'speed': 'number', 'fuel': 'category'}, [1.5, 2.5])
    """

    source: str
    X: Any
    y: NDArray[Any]
    target: str
    columns: tuple[Column, ...] = ()
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None
    rows: NDArray[Any] = field(default_factory=lambda: np.arange(0))
    n_read: int = 0
    format: str = ""
    is_guessed: bool = False
    zero_based: bool = False
    decimal: str = "."

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return isinstance(self.X, pd.DataFrame)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each feature that is used, by its name and in the order of `X`."""
        if not self.named:
            return dict.fromkeys(column_names(self.X), "number")
        return {column.name: column.kind for column in self.columns if column.is_used}

    def take(self, kept: NDArray[np.bool_]) -> Table:
        """The table without some of its rows."""
        X = self.X[kept].reset_index(drop=True) if isinstance(self.X, pd.DataFrame) else self.X[kept]
        weights = None if self.weights is None else self.weights[kept]
        groups = None if self.groups is None else self.groups[kept]
        return replace(self, X=X, y=self.y[kept], weights=weights, groups=groups, rows=self.rows[kept])


@dataclass(frozen=True)
class Wanted:
    """Which columns of a file are wanted, and what for: the arguments of :func:`svmpath.datasets.read_table`."""

    target: str | None = None
    task: str | None = None
    drop: Sequence[str] = ()
    columns: Sequence[str] = ()
    categorical: Sequence[str] = ()
    weight: str | None = None
    group: str | None = None
    keeps_missing: bool = True
    has_target: bool = True


@dataclass(frozen=True)
class NewRows:
    """Rows to predict.

    Attributes
    ----------
    source : str
        Name of the file, without its folder.
    X : DataFrame, ndarray or CSR matrix
        In the form that the model was fitted to.
    unexpected : list of str
        Columns that the model does not know.
    unseen : dict of str to list of str
        Words in columns of truth values that are none, with one entry per row.
    format : str
        The format that the file was read in.
    is_guessed : bool
        Whether the format was guessed from the content.
    frame : DataFrame or None
        All columns of the file as they are in it; None for a sparse matrix.
    decimal : str
        The decimal sign of the file, "" if it does not show.

    See Also
    --------
    svmpath.datasets.read_new_rows : Read rows to predict.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from svmpath.datasets import read_new_rows
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "new.csv")
    ...     pd.DataFrame({"area": [60], "floor": [2]}).to_csv(file, index=False)
    ...     rows = read_new_rows(file, {"area": {"kind": "number"}})
    >>> rows.X["area"].tolist(), rows.unexpected
    ([60.0], ['floor'])
    """

    source: str
    X: Any
    unexpected: list[str]
    unseen: dict[str, list[str]]
    format: str = ""
    is_guessed: bool = False
    frame: pd.DataFrame | None = None
    decimal: str = "."

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


# ----------------------------------------------------------------------------------------------------
# To tune
# ----------------------------------------------------------------------------------------------------


def choose(content: pd.DataFrame | Matrix, file: DataFile, wanted: Wanted, decimal: str = ".") -> Table:
    """The table that is wanted."""
    X: Any = content
    others, target = dict[str, pd.Series](), wanted.target
    if isinstance(content, Matrix):
        # Features have names only where they are asked for by name.
        X = named_columns(content.X) if wanted.drop or wanted.columns or wanted.categorical else content.X
        others, target = dict(content.others), target or "y"
    is_named = isinstance(X, pd.DataFrame)
    if is_named and not len(X):
        raise DataError(NO_ROWS)
    series = {**others, **(dict(X.items()) if is_named else {})}
    if not wanted.has_target:
        target, kept = None, np.ones(X.shape[0], dtype=bool)
        y, rows = objects([""] * len(kept)), np.arange(len(kept))
    else:
        target, y, kept = _target(target, series, wanted, decimal)
        rows = np.flatnonzero(kept)
    for name in (wanted.weight, wanted.group):
        if name is not None and name not in series:
            raise unknown_column(name, series)
    weights = None if wanted.weight is None else _weights(series[wanted.weight], wanted.weight, rows, decimal)
    groups = None if wanted.group is None else _groups(series[wanted.group].iloc[rows], wanted.group)
    columns: tuple[Column, ...] = ()
    if is_named:
        X, columns = _features(X, rows, target, wanted, decimal)
    else:
        X = X[rows]
    zero_based = isinstance(content, Matrix) and content.zero_based
    return Table(
        file.name, X, y, target or "", columns, weights, groups, rows, len(kept),
        file.format, file.is_guessed, zero_based, decimal,
    )  # fmt: skip


def _target(
    target: str | None, series: Mapping[str, pd.Series], wanted: Wanted, decimal: str
) -> tuple[str, NDArray[Any], NDArray[np.bool_]]:
    """The name of the target, its values, and which rows have one."""
    if target is None:
        raise DataError(f"name the column to predict with --target; there are {listed(series)}")
    if target not in series:
        raise unknown_column(target, series, " to predict")
    for option, name in (("--weight-column", wanted.weight), ("--group-column", wanted.group)):
        if name == target:
            raise DataError(f"{option} names the target {target!r}; choose another column")
    y, kept = read_target(series[target], target, wanted.task, decimal)
    if not kept.any():
        raise DataError(f"no row has a value in the target {target!r}; choose another target")
    return target, y, kept


def named_columns(X: Any) -> pd.DataFrame:
    """A matrix as a table with the columns x1, x2, ..."""
    if issparse(X):
        if X.shape[0] * X.shape[1] > _MOST_CELLS:
            raise DataError("the sparse matrix is too large for choosing columns by name; leave them out of the file")
        X = X.toarray()
    return pd.DataFrame(X, columns=column_names(X))


def _features(
    frame: pd.DataFrame, rows: NDArray[Any], target: str | None, wanted: Wanted, decimal: str
) -> tuple[pd.DataFrame, tuple[Column, ...]]:
    """The features that are used, and what each was read as."""
    values: dict[str, NDArray[Any]] = {}
    columns: list[Column] = []
    for name in _feature_names(list(frame.columns), target, wanted):
        read, column = _inferred(frame[name], name, rows, is_category=name in wanted.categorical, decimal=decimal)
        if column.kind == "identifier" and name in (*wanted.columns, *wanted.categorical):
            column = replace(column, kind=column.recipe["kind"], is_used=True)
        elif column.is_used and column.missing and not wanted.keeps_missing and pd.Series(read).nunique() == 1:
            column = replace(column, kind="constant", is_used=False, detail="one value, or none, in every row")
        columns.append(column)
        if column.is_used:
            values[name] = read
    if not values:
        reasons = ", ".join(f"{column.name!r} ({column.kind})" for column in columns[:12])
        raise DataError(f"no column is left to predict from: {reasons}; use --columns to name those that you need")
    return as_frame(values), tuple(columns)


def as_frame(values: Mapping[str, NDArray[Any]]) -> pd.DataFrame:
    """A table of columns; of a dictionary of object arrays pandas would turn words into its own string type."""
    return pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in values.items()})


def _inferred(series: pd.Series, name: str, rows: NDArray[Any], **how: Any) -> tuple[NDArray[Any], Column]:
    """What a column is in the rows that are used; errors name the row of the file."""
    try:
        return infer_column(series.iloc[rows].reset_index(drop=True), name, **how)
    except DataError:
        infer_column(series, name, **how)  # raises the same, counting all rows
        raise


def _feature_names(names: list[str], target: str | None, wanted: Wanted) -> list[str]:
    """The columns to predict from; every name that was given must be there."""
    others = [name for name in (target, wanted.weight, wanted.group) if name is not None]
    for name in (*wanted.columns, *wanted.drop, *wanted.categorical):
        if name not in names:
            raise unknown_column(name, names)
    for option, given in (("--columns", wanted.columns), ("--categorical", wanted.categorical)):
        if target in given:
            raise DataError(f"{option} names the target {target!r}; leave it out there")
    possible = wanted.columns or [name for name in names if name not in others]
    features = [name for name in possible if name not in wanted.drop]
    if not features:
        if target is None:
            raise DataError("no column is left; use fewer names in --drop")
        only = f"the target {target!r} is the only column" if len(names) == 1 else "no column is left to predict from"
        raise DataError(f"{only}; at least one more is needed to predict it from")
    return features


def _weights(series: pd.Series, name: str, rows: NDArray[Any], decimal: str) -> NDArray[np.float64]:
    """The weights of the rows."""
    values, column = _inferred(series, name, rows, decimal=decimal)
    missing = np.flatnonzero(pd.isna(values))
    if len(missing):
        raise missing_cell(name, int(rows[missing[0]]))
    if values.dtype != np.float64 or column.recipe.get("kind") == "date" or (values < 0).any() or not values.any():
        raise DataError(f"--weight-column {name!r} must hold numbers that are not negative, and not all of them 0")
    return finite(values, name)


def _groups(series: pd.Series, name: str) -> NDArray[Any]:
    """The groups of the rows, as words."""
    typed = read_typed(series, name)
    words = typed.words() if typed is not None else series.tolist()
    missing = [index for index, word in enumerate(words) if word is None or pd.isna(word) or not str(word).strip()]
    if missing:
        raise missing_cell(name, int(series.index[missing[0]]))
    return objects([str(word).strip() for word in words])


# ----------------------------------------------------------------------------------------------------
# To predict
# ----------------------------------------------------------------------------------------------------


def choose_new(
    content: pd.DataFrame | Matrix,
    file: DataFile,
    recipes: Mapping[str, Mapping[str, Any]] | int,
    ignored: Sequence[str] = (),
    decimal: str = ".",
) -> NewRows:
    """The rows to predict; `recipes` says how each column is read, or is a number of columns without names.

    `decimal` is the decimal sign of the file, "" if it does not show.
    """
    if isinstance(content, Matrix) and isinstance(recipes, int):
        X = content.X
        if issparse(X) and X.shape[1] < recipes:  # a row need not mention the last columns
            X = X.copy()
            X.resize((X.shape[0], recipes))
        if X.shape[1] != recipes:
            raise DataError(f"the table has {X.shape[1]} columns, but the model was fitted with {recipes}")
        frame = None if issparse(X) and not content.others else pd.DataFrame(dict(content.others))
        if not issparse(X):
            frame = pd.concat([named_columns(X), frame], axis=1)
        return NewRows(file.name, X, [], {}, file.format, file.is_guessed, frame, decimal)
    is_named, needed = True, recipes
    if isinstance(needed, int):
        is_named, needed = False, {f"x{k + 1}": {"kind": "number"} for k in range(needed)}
    frame = named_columns(content.X) if isinstance(content, Matrix) else content
    if isinstance(content, Matrix) and not set(needed) & set(frame.columns):
        raise DataError(f"the columns have no names, but the model needs {listed(needed)}; give a csv or parquet file")
    lacking = [name for name in needed if name not in frame.columns]
    if lacking:
        every = f"the model needs the columns {listed(needed)}"
        if len(lacking) == len(needed):
            every = "that is all the model needs, so it may be another table"
        raise DataError(f"the table lacks {listed(lacking)}; {every}")
    if not len(frame):
        raise DataError(NO_ROWS)
    read = {name: follow_recipe(frame[name], name, recipe, decimal) for name, recipe in needed.items()}
    X = as_frame({name: values for name, (values, _) in read.items()})
    unexpected = [name for name in frame.columns if is_named and name not in needed and name not in ignored]
    unseen = {name: words for name, (_, words) in read.items() if words}
    X = X if is_named else X.to_numpy()
    return NewRows(file.name, X, unexpected, unseen, file.format, file.is_guessed, frame, decimal)

"""Readers of csv, tsv, parquet, arff, libsvm and npz files."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from svmpath.datasets.arff_files import read_arff
from svmpath.datasets.delimited import read_delimited
from svmpath.datasets.faults import check_names
from svmpath.datasets.matrices import Matrix, read_libsvm, read_npz
from svmpath.datasets.sources import DataFile, open_source, source_name
from svmpath.datasets.tables import NewRows, Table, Wanted, choose, choose_new
from svmpath.exceptions import DataError

__all__ = ["read_new_rows", "read_table"]


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    format: str | None = None,
    task: str | None = None,
    drop: Sequence[str] = (),
    columns: Sequence[str] = (),
    categorical: Sequence[str] = (),
    weight: str | None = None,
    group: str | None = None,
    keeps_missing: bool = True,
    has_target: bool = True,
) -> Table:
    r"""Read a data file and find out what its columns are.

    =======================  ==============================================================================
    .csv .tsv                first line: names of the columns; comma, semicolon or tab between cells
    .parquet .pq             needs pyarrow: ``pip install "svmpath[parquet]"``
    .arff                    dense or sparse; needs liac-arff: ``pip install "svmpath[arff]"``
    .libsvm .svm .svmlight   ``label index:value index:value ...``; stays sparse
    .npz                     arrays ``X`` and ``y``
    =======================  ==============================================================================

    All of them may be compressed (.gz, .bz2). Missing values are NaN, or None among words; rows without a target are
    left out. Columns from which nothing can be learnt are left out, and `Table.columns` says so.

    Parameters
    ----------
    path : str or Path
        The file; ``-`` is standard input.
    target : str or None
        The column to predict. Needed where columns have names. In an npz file it names an array (default "y"); in
        a libsvm file it is always the label.
    format : str or None
        "csv", "tsv", "parquet", "arff", "libsvm" or "npz". None goes by the suffix, and for standard input by the
        content.
    task : {"classification", "regression"} or None
        In a classification, a target may hold numbers and words.
    drop, columns, categorical : sequence of str
        Columns to leave out; to use, all if empty; whose values are categories, even if they are numbers.
    weight, group : str or None
        Columns with the weight of each row, and with the group that it belongs to.
    keeps_missing : bool
        Whether something can be learnt from which values are missing: if not, a column with one value and missing ones
        is constant.
    has_target : bool
        Whether one of the columns is to be predicted; if not, all of them are features, and `Table.y` is empty words.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file, or something in it, cannot be used.

    See Also
    --------
    svmpath.datasets.Table : What a data file holds.
    svmpath.datasets.prepare_target : The target as an estimator takes it.

    Examples
    --------
    >>> import tempfile
    >>> from svmpath.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flats.csv"
    ...     _ = path.write_text("area,town,price\n50,Ulm,900\n70.5,Bonn,1100\n,Bonn,1000\n")
    ...     table = read_table(path, target="price")
    >>> table.kinds
    {'area': 'number', 'town': 'category'}
    >>> table.y, table.X["area"].tolist()
    (array([ 900., 1100., 1000.]), [50.0, 70.5, nan])
    """
    wanted = Wanted(target, task, drop, columns, categorical, weight, group, keeps_missing, has_target)
    others = [name for name in (weight, group) if name is not None]
    as_text = {name for name in (target, group, *categorical) if name is not None and name != weight}
    with _named_errors(path):
        file = open_source(path, format)
        if file.format == "libsvm" and target not in (None, "y"):
            raise DataError(f"a libsvm file has only one target, its labels; leave --target {target!r} out")
        content, decimal = _read(file, as_text, [target or "y", *others])
        return choose(content, file, wanted, decimal or ".")


def read_new_rows(
    path: str | Path,
    recipes: Mapping[str, Mapping[str, Any]] | int,
    *,
    format: str | None = None,
    ignored: Sequence[str] = (),
    zero_based: bool | None = None,
) -> NewRows:
    r"""Read rows to predict, as those were read that a model was fitted to.

    Parameters
    ----------
    path : str or Path
        The file; ``-`` is standard input.
    recipes : mapping of str to mapping, or int
        How each column is read (`Column.recipe`), or the number of columns if they have no names.
    format : str or None
        As in :func:`read_table`.
    ignored : sequence of str
        Columns that may be there and are not needed.
    zero_based : bool or None
        Whether the indices of a libsvm file begin at 0. None finds out from the file.

    Returns
    -------
    NewRows
        The rows, and what was not as expected.

    See Also
    --------
    svmpath.datasets.read_table : Read a data file.
    svmpath.datasets.NewRows : What is returned.

    Examples
    --------
    >>> import tempfile
    >>> from svmpath.datasets import read_new_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new.csv"
    ...     _ = path.write_text("town,area,floor\nKiel,60,2\n")
    ...     rows = read_new_rows(path, {"area": {"kind": "number"}, "town": {"kind": "category"}})
    >>> rows.X.to_dict("records"), rows.unexpected
    ([{'area': 60.0, 'town': 'Kiel'}], ['floor'])
    """
    names = {} if isinstance(recipes, int) else recipes
    with _named_errors(path):
        file = open_source(path, format)
        # A plain 1.234 may be 1234.
        as_text = {
            name
            for name, recipe in names.items()
            if recipe["kind"] in ("category", "date") or recipe.get("thousands") == "."
        }
        content, decimal = _read(file, as_text, zero_based=zero_based)
        return choose_new(content, file, recipes, ignored, decimal)


@contextmanager
def _named_errors(path: str | Path) -> Iterator[None]:
    """Errors that begin with the name of the file."""
    name = source_name(path)
    try:
        yield
    except DataError as error:
        raise DataError(f"{name}: {error}") from error.__cause__
    except OSError as error:
        raise DataError(f"{name}: the file cannot be read ({error.strerror or error})") from error


def _read(
    file: DataFile, as_text: Collection[str], arrays: Sequence[str] = (), zero_based: bool | None = None
) -> tuple[pd.DataFrame | Matrix, str]:
    """What a file holds, and its decimal sign, "" if it does not show.

    `as_text` are columns that stay text, `arrays` those beside the features of an npz file, and `zero_based` says where
    the indices of a libsvm file begin.
    """
    if file.format in ("csv", "tsv"):
        return read_delimited(file.text(), "\t" if file.format == "tsv" else None, as_text)
    readers: dict[str, Callable[[], pd.DataFrame | Matrix]] = {
        "parquet": lambda: _read_parquet(file.content),
        "arff": lambda: read_arff(file.text()),
        "libsvm": lambda: read_libsvm(file.text(), zero_based),
        "npz": lambda: read_npz(file.content, arrays),
    }
    return readers[file.format](), "."


def _read_parquet(content: bytes) -> pd.DataFrame:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise DataError('parquet files need pyarrow; install it with pip install "svmpath[parquet]"') from error
    try:
        table = parquet.ParquetFile(io.BytesIO(content)).read()
        check_names(table.column_names)
        frame = table.to_pandas()
    except (ArrowException, OSError) as error:
        raise DataError("the file is damaged or not a parquet file; write or fetch it again") from error
    return frame.set_axis([str(name) for name in frame.columns], axis=1).reset_index(drop=True)

"""Readers of csv, parquet, libsvm and npz files."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from svmpath.datasets.columns import finite, row, text_column, typed_column
from svmpath.datasets.table import Request, Table, assemble, check_names, listed, numbered
from svmpath.exceptions import DataError

__all__ = ["read_table"]

_COMPRESSED = (".gz", ".bz2")


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    zero_based: bool | None = None,
) -> Table:
    r"""Read a data file; its suffix says how.

    =======================  ==============================================================================
    .csv .tsv                first line: names of the columns; comma, semicolon or tab between cells
    .parquet .pq             needs pyarrow: ``pip install "svmpath[parquet]"``
    .libsvm .svm .svmlight   ``label index:value index:value ...``; stays sparse
    .npz                     arrays ``X`` and ``y``
    =======================  ==============================================================================

    Text and libsvm files may be compressed (.gz, .bz2). A csv column of which every cell is a number is
    numeric; one without any number is categorical; a mixture is refused.

    Parameters
    ----------
    path : str or Path
        The file.
    target : str or None
        The column to predict. Needed for csv and parquet. In an npz file it names an array (default "y"); in
        a libsvm file it is always the label.
    columns : mapping of str to str, or None
        Given, the file is read for prediction: it must hold exactly these features, of these kinds (see
        :class:`Table`), and a column called `target` is ignored whatever it holds.
    zero_based : bool or None
        Whether the indices of a libsvm file begin at 0. None finds out from the file.

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
    ...     _ = path.write_text("area,town,price\n50,Ulm,900\n70.5,Bonn,1100\n")
    ...     table = read_table(path, target="price")
    >>> table.kinds
    {'area': 'number', 'town': 'category'}
    >>> table.y
    array([ 900., 1100.])
    """
    path = Path(path)
    request = Request(target, columns, zero_based)
    try:
        return _reader(path)(path, request)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error.__cause__
    except OSError as error:
        raise DataError(f"{path.name}: the file cannot be read ({error.strerror or error})") from error


def _reader(path: Path) -> Callable[[Path, Request], Table]:
    """Check that `path` is a file with something in it and find the reader for its suffix."""
    readers = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".parquet": _read_parquet,
        ".pq": _read_parquet,
        ".libsvm": _read_libsvm,
        ".svm": _read_libsvm,
        ".svmlight": _read_libsvm,
        ".npz": _read_npz,
    }
    suffix = _suffix(path)
    if not path.exists():
        raise DataError(f"there is no file {str(path)!r}; check its name and folder")
    if not path.is_file():
        raise DataError("a data file was expected, but this is a folder")
    reader = readers.get(suffix)
    packed = path.suffix.lower() in _COMPRESSED
    if reader is None or (packed and reader not in (_read_csv, _read_libsvm)):
        known = ", ".join(readers)
        raise DataError(
            f"the ending {path.suffix!r} does not say what the file holds; rename it to end in one of {known}"
        )
    if path.stat().st_size == 0:
        raise DataError("the file is empty; a table with at least one row was expected")
    return reader


def _suffix(path: Path) -> str:
    """The suffix of `path` that says what it holds, in lower case, without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _read_csv(path: Path, request: Request) -> Table:
    text = _read_text(path)
    separator = "\t" if _suffix(path) == ".tsv" else _separator(text)
    try:
        header, *rows = _records(text, separator)
    except csv.Error as error:
        raise DataError(f"the file is not a readable csv table ({error}); check quotes and separators") from error
    except ValueError as error:
        raise DataError("the file is empty; a table with at least one row was expected") from error
    for index, record in enumerate(rows):
        if len(record) != len(header):
            raise DataError(
                f"{row(index)} has {len(record)} cells, but the header has {len(header)}; "
                "check separators and quotes there"
            )
    cells = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {}
    return assemble(path, header, len(rows), lambda name, kind: text_column(list(cells[name]), name, kind), request)


def _read_text(path: Path) -> str:
    """The text of a file, unpacked where its suffix says so."""
    content = path.read_bytes()
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix.lower(), bytes)
    try:
        text = unpack(content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("the file is not text in UTF-8; save it as text in UTF-8") from error
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DataError(f"the compressed file is damaged ({error}); fetch or pack it again") from error
    if "\0" in text:
        raise DataError("the file is not text (it holds NUL characters); save it as text in UTF-8")
    return text


def _separator(text: str) -> str:
    """Comma, semicolon or tab: the one that parts the header into most cells."""
    header = next((line for line in io.StringIO(text) if line.strip()), "")
    counts = {sep: len(next(csv.reader([header], delimiter=sep), [])) for sep in (",", ";", "\t")}
    return max(counts, key=lambda sep: counts[sep])


def _records(text: str, separator: str) -> list[list[str]]:
    """The lines as lists of cells, without blank lines."""
    records = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    while records and not any(cell.strip() for cell in records[-1]) and len(records[-1]) < 2:
        records.pop()
    first = next((index for index, record in enumerate(records) if record), len(records))
    records = records[first:]
    if records and len(records[0]) == 1:  # with one column, a blank line is an empty cell
        return [record or [""] for record in records]
    return [record for record in records if record]


def _read_parquet(path: Path, request: Request) -> Table:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise DataError('parquet files need pyarrow; install it with pip install "svmpath[parquet]"') from error
    try:
        # Not read_table: it would take the names of folders for columns.
        content = parquet.ParquetFile(path).read()
        check_names(content.column_names)
        frame = content.to_pandas()
    except (ArrowException, OSError) as error:
        raise DataError("the file is damaged or not a parquet file; write or fetch it again") from error
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    return assemble(
        path,
        list(frame.columns),
        len(frame),
        lambda name, kind: typed_column(frame[name], name, kind),
        request,
    )


def _read_npz(path: Path, request: Request) -> Table:
    target = request.target or "y"
    if not zipfile.is_zipfile(path):
        raise DataError("the file is damaged or not an npz file; write arrays X and y with numpy.savez")
    try:
        with np.load(path, allow_pickle=False) as archive:
            names = list(archive.files)
            arrays = {name: archive[name] for name in ("X", target) if name in names}
    except (zipfile.BadZipFile, EOFError, ValueError, KeyError, RuntimeError, zlib.error) as error:
        fault = "holds Python objects" if "Object arrays" in str(error) else "is damaged"
        raise DataError(f"the file {fault}; write plain arrays X and y with numpy.savez") from error
    if "X" not in arrays:
        raise DataError(f"there is no array 'X' with the features; there are {listed(names)}")
    X = _npz_features(arrays["X"])
    kinds = numbered(X.shape[1], request)
    y = None
    if request.columns is None:
        if target not in arrays:
            raise DataError(f"there is no array {target!r} to predict; there are {listed(names)}")
        y = _npz_target(arrays[target], target, len(X))
    return Table(path.name, X, y, target, kinds)


def _npz_features(X: NDArray[Any]) -> NDArray[np.float64]:
    """Check that `X` is a matrix of finite numbers."""
    if X.ndim != 2:
        raise DataError(f"the array 'X' has {X.ndim} dimensions; a matrix with a row per sample was expected")
    if not X.size:
        raise DataError(f"the array 'X' of shape {X.shape} has no rows or no columns; at least one was expected")
    if X.dtype.kind not in "biuf":
        raise DataError(f"the array 'X' is of type {X.dtype} where numbers are due; encode its columns as numbers")
    X = X.astype(np.float64)
    for position, column in enumerate(X.T):
        finite(column, f"x{position + 1}")
    return X


def _npz_target(y: NDArray[Any], name: str, n_rows: int) -> NDArray[Any]:
    """Check that `y` has a value per row, and give it one of the types of a target."""
    if y.size != n_rows or max(y.shape, default=0) != n_rows:
        raise DataError(f"the array {name!r} has shape {y.shape}; one value for each of the {n_rows} rows was expected")
    return typed_column(pd.Series(y.ravel()), name, None)[0]


def _read_libsvm(path: Path, request: Request) -> Table:
    from sklearn.datasets import load_svmlight_file

    if request.columns is None and request.target not in (None, "y"):
        raise DataError(f"a libsvm file has only one target, its labels; leave --target {request.target!r} out")
    zero_based = _starts_at_zero(path) if request.zero_based is None else request.zero_based
    # A row need not mention the last columns, so the file may look narrower than the model.
    width = None if request.columns is None else len(request.columns)
    try:
        X, y = load_svmlight_file(str(path), zero_based=zero_based)
    except (ValueError, OSError, EOFError, zlib.error, OverflowError) as error:
        raise DataError(
            "the file is not in libsvm format, 'label index:value ...' on every line with rising indices "
            f"({' '.join(str(error).split())})"
        ) from error
    if not X.shape[0]:
        raise DataError("there are no rows; at least one was expected")
    if width is not None and X.shape[1] < width:
        X.resize((X.shape[0], width))
    _check_entries(X)
    kinds = numbered(X.shape[1], request)
    y = None if request.columns is not None else finite(y, "y")
    return Table(path.name, sparse.csr_matrix(X), y, request.target or "y", kinds, zero_based)


def _check_entries(X: Any) -> None:
    """Refuse entries of a sparse matrix that cannot be used."""
    try:
        finite(X.data, "")
    except DataError:
        columns = X.tocsc()  # say where it is
        for position in range(X.shape[1]):
            finite(columns[:, [position]].toarray().ravel(), f"x{position + 1}")


def _starts_at_zero(path: Path) -> bool:
    """Whether a line of a libsvm file mentions index 0; otherwise indices begin at 1, as in the format."""
    return re.search(r"^[^#\n]*\s0+:", _read_text(path), re.MULTILINE) is not None

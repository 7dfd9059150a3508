"""Files whose columns have no names: npz archives and libsvm files."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from svmpath.datasets.faults import finite, listed
from svmpath.exceptions import DataError


@dataclass(frozen=True)
class Matrix:
    """Features as an array or CSR matrix, and further arrays with a value per row, by their names."""

    X: Any
    others: Mapping[str, pd.Series] = field(default_factory=dict)
    zero_based: bool = False


def column_names(X: Any) -> list[str]:
    """What columns without names are called: x1, x2, ..."""
    return [f"x{position + 1}" for position in range(X.shape[1])]


def read_npz(content: bytes, wanted: Sequence[str]) -> Matrix:
    """The array ``X``, and those of the wanted names."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise DataError("the file is damaged or not an npz file; write arrays X and y with numpy.savez")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            names = list(archive.files)
            arrays = {name: archive[name] for name in ("X", *wanted) if name in names}
    except (zipfile.BadZipFile, EOFError, ValueError, KeyError, RuntimeError, zlib.error) as error:
        fault = "holds Python objects" if "Object arrays" in str(error) else "is damaged"
        raise DataError(f"the file {fault}; write plain arrays X and y with numpy.savez") from error
    for name in ("X", *wanted):
        if name not in arrays:
            features = " with the features" if name == "X" else ""
            raise DataError(f"there is no array {name!r}{features}; there are {listed(names)}")
    X = _features(arrays.pop("X"))
    for name, values in arrays.items():
        if values.size != len(X) or max(values.shape, default=0) != len(X):
            raise DataError(
                f"the array {name!r} has shape {values.shape}; one value for each of the {len(X)} rows was expected"
            )
    return Matrix(X, {name: pd.Series(values.ravel()) for name, values in arrays.items()})


def _features(X: NDArray[Any]) -> NDArray[np.float64]:
    """Check that `X` is a matrix of numbers."""
    if X.ndim != 2:
        raise DataError(f"the array 'X' has {X.ndim} dimensions; a matrix with a row per sample was expected")
    if not X.size:
        raise DataError(f"the array 'X' of shape {X.shape} has no rows or no columns; at least one was expected")
    if X.dtype.kind not in "biuf":
        raise DataError(f"the array 'X' is of type {X.dtype} where numbers are due; encode its columns as numbers")
    X = X.astype(np.float64)
    for name, column in zip(column_names(X), X.T, strict=True):
        finite(column, name)
    return X


def read_libsvm(text: str, zero_based: bool | None = None) -> Matrix:
    """The features as a CSR matrix; the labels as "y", and the numbers after ``qid:`` as "qid"."""
    from sklearn.datasets import load_svmlight_file

    if zero_based is None:
        zero_based = re.search(r"^[^#\n]*\s0+:", text, re.MULTILINE) is not None
    try:
        X, y, qid = load_svmlight_file(io.BytesIO(text.encode()), zero_based=zero_based, query_id=True)
    except (ValueError, OSError, EOFError, OverflowError) as error:
        raise DataError(
            "the file is not in libsvm format, 'label index:value ...' on every line with rising indices "
            f"({' '.join(str(error).split())})"
        ) from error
    if not X.shape[0]:
        raise DataError("there are no rows; at least one was expected")
    try:
        finite(X.data, "")
    except DataError:
        for name, column in zip(column_names(X), X.T.tocsr(), strict=True):  # say where it is
            finite(column.toarray().ravel(), name)
    finite(y, "y")
    others = {"y": pd.Series(y)} | ({"qid": pd.Series(qid)} if len(qid) == len(y) else {})
    return Matrix(sparse.csr_matrix(X), others, zero_based)

"""The file ``model.skops``: how a model is written, checked and read.

The file is a zip archive that ``skops.io`` writes: a :class:`sklearn.pipeline.Pipeline` of the steps "columns"
(encoding and scaling) and "model" (the estimator), with the attribute ``svmpath_data_``, which holds what prediction
must know beyond the fitted steps. One more member, ``svmpath.json``, says in which format and by which version it was
written. It is read before anything else, so that a model of another format is refused by name; ``skops.io.load``
ignores it.

`FORMAT` counts up when a model that an older version has written can no longer be read: when a class that models hold
moves to another module or gets other attributes, or when ``svmpath_data_`` changes.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from svmpath.cli.console import first_line
from svmpath.exceptions import DataError

FORMAT = 3
_HEADER = "svmpath.json"
_DATA = "svmpath_data_"
# What a model may hold beyond what this package defines: sparse rows and the type of the numbers that an imputer was
# fitted to, both of which skops stores as plain arrays, and the list of columns that some versions of ColumnTransformer
# keep.
_HARMLESS = {
    "numpy.dtype",
    "scipy.sparse._csr.csr_matrix",
    "scipy.sparse._csr.csr_array",
    "sklearn.compose._column_transformer._RemainderColsList",
}


def write_model(pipeline: Any, data: Mapping[str, Any], path: Path) -> None:
    """Write a fitted pipeline.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Its steps are "columns" and "model".
    data : mapping
        What prediction must know of the training data: ``target``, ``task``, ``zero_based``, ``impute`` and
        ``ignored``, the columns of the file that are not used.
    path : Path
    """
    import skops.io

    from svmpath import __version__

    skops.io.dump(with_data(pipeline, data), path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(_HEADER, json.dumps({"format": FORMAT, "svmpath": __version__}))


def read_model(path: Path) -> Any:
    """A pipeline that ``svmpath tune`` has written; nothing in it is run before all of it is known to be harmless."""
    import skops.io
    from sklearn.pipeline import Pipeline

    if not path.exists():
        raise DataError(f"{path.name}: there is no model file {str(path)!r}; check its name and folder")
    if not path.is_file():
        raise DataError(f"{path.name}: a model file was expected, but this is a folder")
    header = _read_header(path)
    if header is not None and header.get("format") != FORMAT:
        written = header.get("format")
        age = ("older " if written < FORMAT else "newer ") if isinstance(written, int) else ""
        raise DataError(
            f"{path.name}: the model was written by svmpath {header.get('svmpath')} in the {age}format {written}, but "
            f"this version reads format {FORMAT}; tune again, or use the version that wrote it"
        )
    types = _check_types(path, is_headed=header is not None)
    try:
        pipeline = skops.io.load(path, trusted=types)
    except Exception as error:
        raise DataError(
            f"{path.name}: the model cannot be loaded ({first_line(error)}); the file is damaged, or was written with "
            "other versions of scikit-learn and skops: tune again"
        ) from error
    if header is None or not isinstance(pipeline, Pipeline) or not hasattr(pipeline, _DATA):
        raise DataError(f"{path.name}: the file contains no model written by svmpath tune; choose another file")
    return pipeline


def with_data(pipeline: Any, data: Mapping[str, Any]) -> Any:
    """The pipeline, which knows what prediction must know of the training data."""
    setattr(pipeline, _DATA, dict(data))
    return pipeline


def training_data(pipeline: Any) -> dict[str, Any]:
    """The facts about the training data that :func:`write_model` has stored."""
    data: dict[str, Any] = getattr(pipeline, _DATA)
    return data


def _read_header(path: Path) -> dict[str, Any] | None:
    """Format and version of a model; None if the file has no such member."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(_HEADER)) if _HEADER in archive.namelist() else None
    except Exception as error:  # whatever a damaged archive makes zipfile stumble over
        raise _damaged(path) from error
    return header if isinstance(header, dict) else None


def _check_types(path: Path, is_headed: bool) -> list[str]:
    """The types in a model that skops does not trust by itself, if all of them are known."""
    import skops.io

    try:
        types: list[str] = skops.io.get_untrusted_types(file=path)
    except Exception as error:  # whatever a damaged archive makes skops stumble over
        raise _damaged(path) from error
    foreign = [name for name in types if not is_known(name)]
    if foreign and not is_headed and all(name.startswith("svmpath.") for name in foreign):
        raise DataError(f"{path.name}: the model was written by an earlier version of svmpath; tune again")
    if foreign:
        raise DataError(
            f"{path.name}: the model contains types that svmpath does not write and will not load "
            f"({', '.join(sorted(foreign)[:5])}); use a model written by svmpath tune"
        )
    return types


def is_known(name: str) -> bool:
    """Whether a model may hold it: what this package defines (not merely imports), and what is harmless."""
    if name in _HARMLESS:
        return True
    module, _, attribute = name.rpartition(".")
    if not module.startswith("svmpath."):
        return False
    try:
        kind = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    return isinstance(kind, type | FunctionType) and kind.__module__ == module


def _damaged(path: Path) -> DataError:
    order = "" if path.suffix == ".skops" else "; give MODEL first, such as model.skops, then DATA"
    return DataError(f"{path.name}: the file is damaged or not a model written by svmpath tune{order}")

"""Data in chunks: recognised without Dask, and handed to the room that knows it.

``svmpath.distributed`` stands above paths and below the estimators, and Dask is an optional package. So it is found by
its name when a Dask collection comes in, as ``notebook`` finds pictures; no other import goes up.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_ROOM = "svmpath.distributed"


def is_chunked(*collections: Any) -> bool:
    """Whether one of them is a Dask collection (array, data frame, series).

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.chunked import is_chunked
    >>> is_chunked(np.zeros(3), None)
    False
    """
    package = sys.modules.get("dask.base")  # who has a collection has loaded it
    return package is not None and any(map(package.is_dask_collection, collections))


def distributed() -> Any:
    """The room that works on Dask collections; raises an ImportError with a remedy if Dask is missing."""
    try:
        return import_module(_ROOM)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("dask", "distributed"):
            raise
        raise ImportError(
            f"Data in chunks need Dask, but the package {error.name!r} is missing: install it with "
            "pip install 'svmpath[dask]'."
        ) from error

"""Predictions for Dask collections, chunk by chunk and lazily."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.distributed import cluster

Array = np.ndarray

_OF_MACHINES = ("decision_function", "predict", "predict_proba", "predict_log_proba")


@dataclass(frozen=True)
class _Method:
    """A method of a fitted model, for the rows of one chunk; a chunk without rows has a result without rows."""

    model: Any
    name: str
    empty: Array
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def __call__(self, X: Any) -> Array:
        if not X.shape[0]:
            return self.empty
        return np.asarray(getattr(self.model, self.name)(X, *self.arguments, **self.options))


def map_method(model: Any, name: str, X: Any, *arguments: Any, **options: Any) -> Any:
    """The lazy array of what a method of a fitted model returns for the rows of X.

    Shape and type are found with one row, before anything is sent: a model that is not fitted, or was fitted on other
    columns, says so at once. The result is that of the model as it is now, also if it is fitted again before it is
    computed.
    """
    cluster.check_rows(X)
    is_frame = cluster.is_frame(X)
    zeros = type(X._meta)({each: [0.0] for each in X.columns}) if is_frame else np.zeros((1, X.shape[1]))
    known = getattr(model, name)(zeros, *arguments, **options)
    # Workers are sent what they need: neither the search, nor the held-out values of all rows.
    sent = model.for_prediction() if name in _OF_MACHINES else copy(model)
    call = _Method(sent, name, known[:0], arguments, options)
    return cluster.map_rows(name.replace("_", "-"), call, X, known.shape[1:], known.dtype)

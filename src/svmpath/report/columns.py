"""The columns of the data, the paths of features, and which features matter."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.paths import Path
from svmpath.report.facts import Column, Columns, FeaturePaths, Relevance, rounded
from svmpath.report.fitted import Fitted

Array = np.ndarray

_MOST_COLUMNS = 200
_MOST_FEATURES = 30  # whose paths are drawn
_MOST_GAMMAS = 60
_ROUNDING = 1e-12  # of the deviation: a mean below that is zero but for rounding


def columns(fitted: Fitted) -> Columns:
    """The columns as the user knows them."""
    names = fitted.column_names
    if getattr(fitted.model, "kernel", None) == "precomputed":
        return Columns([], 0)
    X = fitted.X.tocsc() if issparse(fitted.X) else fitted.X
    return Columns([_column(name, _values(X, j)) for j, name in enumerate(names[:_MOST_COLUMNS])], len(names))


def _values(X: Any, j: int) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, j].to_numpy()
    return X[:, [j]].toarray().ravel() if issparse(X) else X[:, j]


def _column(name: str, values: Any) -> Column:
    values = np.asarray(values)
    is_number = values.dtype.kind in "fiu"
    if not is_number and values.dtype.kind != "b":
        with suppress(TypeError, ValueError):
            values, is_number = values.astype(float), True
    if not is_number:
        return _category(name, values)
    values = values.astype(float)
    finite = values[np.isfinite(values)]
    missing = len(values) - len(finite)
    if not len(finite):
        return Column(name, "number", None, None, None, None, 0, missing, None)
    mean, spread = float(finite.mean()), float(finite.std())
    mean = 0.0 if abs(mean) < _ROUNDING * spread else mean
    ends = float(finite.min()), float(finite.max())
    return Column(name, "number", mean, spread, *ends, len(np.unique(finite)), missing, None)


def _category(name: str, values: Array) -> Column:
    is_missing = np.array([value is None or value != value for value in values], dtype=bool)
    words, counts = np.unique([str(value) for value in values[~is_missing]], return_counts=True)
    top = str(words[np.argmax(counts)]) if len(words) else None
    return Column(name, "category", None, None, None, None, len(words), int(is_missing.sum()), top)


def feature_paths(fitted: Fitted, values: Array, paths: list[Path]) -> FeaturePaths | None:
    """Coefficients along the path, of the features with the largest; for the elastic net only."""
    if not fitted.is_elastic:
        return None
    coefs = np.array([[path(_inside(path, value)).coef for value in values.tolist()] for path in paths])  # type: ignore[attr-defined]
    largest = np.abs(coefs * fitted.path.problem.scale).max(axis=(0, 1))  # type: ignore[attr-defined]
    order = np.argsort(-largest, kind="stable")[:_MOST_FEATURES]
    order = order[largest[order] > 0]
    names = [fitted.feature_names[j] for j in order.tolist()]
    tables = [[rounded(machine[:, j]) for j in order.tolist()] for machine in coefs]
    return FeaturePaths(names, values.tolist(), tables, int((largest > 0).sum()), len(largest))


def _inside(path: Path, value: float) -> float:
    return min(max(value, min(path.span)), max(path.span))


def relevance(fitted: Fitted) -> Relevance | None:
    """One gamma per feature, the largest first; None if all features share one."""
    gammas: Any = getattr(fitted.model, "gamma_", None)
    if np.ndim(gammas) != 1:
        return None
    order = np.argsort(-np.asarray(gammas), kind="stable")[:_MOST_GAMMAS]
    return Relevance(
        [fitted.feature_names[j] for j in order.tolist()],
        rounded(np.asarray(gammas)[order], 6),
        len(np.asarray(gammas)),
    )

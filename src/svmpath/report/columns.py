"""The columns of the data, the paths of features, and which features matter."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.paths import Path
from svmpath.report.facts import Facts, rounded
from svmpath.report.fitted import Fitted, machine_at
from svmpath.validation import is_pairwise

Array = np.ndarray

_MOST_COLUMNS = 200
_MOST_FEATURES = 30  # whose paths are drawn
_MOST_GAMMAS = 60
_ROUNDING = 1e-6  # of the deviation: a mean below that is zero but for the rounding of standardised columns in files


def columns(fitted: Fitted) -> Facts:
    """The columns as the user knows them."""
    if is_pairwise(getattr(fitted.model, "kernel", None)):
        return {"shown": [], "of": 0}
    X = fitted.X.tocsc() if issparse(fitted.X) else fitted.X
    names = fitted.column_names
    return {"shown": [_column(X, j, name) for j, name in enumerate(names[:_MOST_COLUMNS])], "of": len(names)}


def _column(X: Any, j: int, name: str) -> Facts:
    if hasattr(X, "iloc"):
        values = X.iloc[:, j].to_numpy()
    else:
        values = X[:, [j]].toarray().ravel() if issparse(X) else np.asarray(X[:, j])
    is_number = values.dtype.kind in "fiu"
    if not is_number and values.dtype.kind != "b":
        with suppress(TypeError, ValueError):
            values, is_number = values.astype(float), True
    facts: Facts = {"name": name, "kind": "number" if is_number else "category"}
    facts |= dict.fromkeys(("mean", "deviation", "low", "high"))
    top = None
    if is_number:
        values = values.astype(float)
        known: Any = values[np.isfinite(values)]
        distinct = np.unique(known)
        if len(known):
            mean, spread = known.mean(), known.std()
            mean = 0.0 if abs(mean) < _ROUNDING * spread else mean
            facts |= {"mean": mean, "deviation": spread, "low": known.min(), "high": known.max()}
    else:
        known = [str(value) for value in values if not (value is None or value != value)]
        distinct, counts = np.unique(known, return_counts=True)
        top = distinct[np.argmax(counts)] if len(known) else None
    return facts | {"distinct": len(distinct), "missing": len(values) - len(known), "top": top}


def feature_paths(fitted: Fitted, values: Array, paths: list[Path]) -> Facts | None:
    """Coefficients along the path, of the features with the largest; for the elastic net only."""
    if not fitted.is_elastic:
        return None
    coefs = np.array([[machine_at(path, value).coef for value in values.tolist()] for path in paths])
    problem: Any = fitted.path.problem
    largest = np.abs(coefs * problem.scale).max(axis=(0, 1))
    order = np.argsort(-largest, kind="stable")[:_MOST_FEATURES]
    order = order[largest[order] > 0]
    return {
        "names": [fitted.feature_names[j] for j in order.tolist()],
        "values": values,
        "coefs": [[rounded(machine[:, j]) for j in order.tolist()] for machine in coefs],
        "used": int((largest > 0).sum()),
        "of": len(largest),
    }


def relevance(fitted: Fitted) -> Facts | None:
    """One gamma per feature, the largest first; None if all features share one."""
    gammas = np.asarray(getattr(fitted.model, "gamma_", None))
    if gammas.ndim != 1:
        return None
    order = np.argsort(-gammas, kind="stable")[:_MOST_GAMMAS]
    names = [fitted.feature_names[j] for j in order.tolist()]
    return {"names": names, "gammas": rounded(gammas[order], 6), "of": len(gammas)}

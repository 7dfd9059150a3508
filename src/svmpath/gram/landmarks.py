"""Ways to choose landmarks that do not depend on the kernel: random rows, or the centres of clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

Array = np.ndarray

_FILTERS = Lock()  # the warning filters belong to the process: one thread at a time may change them
_BATCHES_FROM = 20_000  # from here on k-means looks at batches of rows


@dataclass(frozen=True)
class Landmarks:
    """Points that stand for all rows.

    Parameters
    ----------
    points : array of shape (c, d)
    rows : array of int or None
        Their positions where they are rows of X.
    weights : array of shape (c,) or None
        How many rows each stands for, scaled to mean one; None weighs all alike.
    """

    points: Any
    rows: Array | None = None
    weights: Array | None = None


def uniform(X: Any, order: Array, c: int, seed: int) -> Landmarks:
    """The first c rows of a random order; those of a smaller c are among them."""
    return given(X, np.sort(order[:c]))


def given(X: Any, rows: Any) -> Landmarks:
    """The rows that the user names."""
    rows = np.asarray(rows)
    n = X.shape[0]
    are_whole = rows.ndim == 1 and rows.size > 0 and np.issubdtype(rows.dtype, np.integer)
    if not are_whole or len(np.unique(rows)) < len(rows) or rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"landmarks given as row numbers must be distinct integers from 0 to {n - 1}; got {rows!r}.")
    return Landmarks(X[rows], rows)


def kmeans(X: Any, order: Array, c: int, seed: int) -> Landmarks:
    """The centres of c clusters (fewer where X has fewer distinct rows)."""
    return replace(density(X, order, c, seed), weights=None)


def density(X: Any, order: Array, c: int, seed: int) -> Landmarks:
    """The centres of c clusters, weighted by the number of rows in each (Zhang & Kwok's weighting)."""
    # Loaded here, because that takes long, and few fits need it.
    from sklearn.cluster import KMeans, MiniBatchKMeans

    method = MiniBatchKMeans if X.shape[0] > _BATCHES_FROM else KMeans
    model = method(n_clusters=c, n_init=1, max_iter=20, random_state=seed)
    with _FILTERS, warnings.catch_warnings():
        # Fewer distinct rows than clusters is no fault here: the empty clusters are left out below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[order])
    sizes = np.bincount(model.labels_, minlength=c).astype(float)
    centres, sizes = model.cluster_centers_[sizes > 0], sizes[sizes > 0]
    return Landmarks(centres, weights=sizes * (len(sizes) / sizes.sum()))

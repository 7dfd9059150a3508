"""How much room a region takes up: the share of rows drawn where there is nothing to see that are inside of it.

Of two machines that accept the same share of rows like the training rows, the one is better that accepts less else: the
volume of its region is smaller (mass-volume curve; Clemencon & Jakubowicz 2013). In many columns a box is nearly empty,
and draws from it are inside no region. A reference that stays near the rows serves in any dimension (as feature
subsets do, Goix 2016): rows of which some columns, at random from one to all of them, are replaced by uniform draws
between the least and the largest number in the column. In one column it is the uniform distribution itself. In a column
whose values repeat, such as an indicator, draws are among these values: in between there is nothing to be told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.names import unknown_name
from svmpath.row_order import random_order

Array = np.ndarray

_DRAWS = 2000
_FEWEST, _ENTRIES = 100, 20_000_000  # rows at least, and numbers that they may hold
_DRAW = 6  # so that draws have nothing to do with what else is drawn by the same seed
_FEW_VALUES = 0.5  # different values per row up to which a column has few of them
_WIDER = 2.0  # deviations of the envelope in units of those of the rows


def _in_columns(X: Array, size: int, rng: np.random.Generator) -> Array:
    """Rows with some columns replaced."""
    d = X.shape[1]
    rows, draws = X[rng.integers(len(X), size=size)], _in_box(X, size, rng)
    many = rng.integers(1, d + 1, size=size)
    return np.where(np.argsort(np.argsort(rng.random((size, d)), axis=1), axis=1) < many[:, None], draws, rows)


def _in_box(X: Array, size: int, rng: np.random.Generator) -> Array:
    """Uniform in the smallest box around the rows; in columns of few values, among these."""
    low, high = X.min(axis=0), X.max(axis=0)
    draws = low + (high - low) * rng.random((size, X.shape[1]))
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        if len(values) <= _FEW_VALUES * len(X):
            draws[:, j] = rng.choice(values, size)
    return draws


def _in_envelope(X: Array, size: int, rng: np.random.Generator) -> Array:
    """A normal distribution with the mean of the rows and twice their deviations in every direction."""
    centred = X - X.mean(axis=0)
    _, lengths, axes = np.linalg.svd(centred / np.sqrt(len(X)), full_matrices=False)
    return np.asarray(X.mean(axis=0) + _WIDER * (rng.normal(size=(size, len(lengths))) * lengths) @ axes)


REFERENCES: dict[str, Callable[[Array, int, np.random.Generator], Array]] = {
    "columns": _in_columns,
    "box": _in_box,
    "envelope": _in_envelope,
}


def draw_reference(kind: Any, X: Any, seed: int) -> Array:
    """Rows of the reference, the same for the same rows in any order.

    Parameters
    ----------
    kind : {"columns", "box", "envelope"}
        Some columns uniform; all of them; or a normal distribution twice as wide as the rows.
    X : array or CSR matrix of shape (n, d)
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.volume import draw_reference
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> draws = draw_reference("columns", X, 0)
    >>> draws.shape, bool(np.all((draws >= X.min(axis=0)) & (draws <= X.max(axis=0))))
    ((2000, 3), True)
    """
    if not isinstance(kind, str) or kind not in REFERENCES:
        raise ValueError(unknown_name("reference", kind, REFERENCES, "an array of rows"))
    size = int(np.clip(_ENTRIES // X.shape[1], _FEWEST, _DRAWS))
    X = X[random_order(X, seed=(seed, _DRAW))]
    if issparse(X):  # as many rows as are drawn from, in full
        X = X[:size].toarray()
    return REFERENCES[kind](X, size, np.random.default_rng([seed, _DRAW]))

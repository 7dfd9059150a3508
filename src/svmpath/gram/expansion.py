"""What is left of machines once they only predict: f(x) = k(x, points) V, phi(x)'V, or x'V, one column per machine.

A Gram matrix says which of the three its machines are (``Gram.expansion``): kernel functions on the rows that have a
coefficient, features of a low-rank kernel, or weights of the columns for the linear kernel, which needs no rows at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.gram.base import in_chunks
from svmpath.gram.features import FeatureMap
from svmpath.kernels import Kernel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class OnRows:
    """f(x) = k(x, points) coef.

    Attributes
    ----------
    kernel : Kernel
    points : array or CSR matrix of shape (c, d), or None
        None for a precomputed kernel, where ``columns`` says which of the kernel values of a new row are read.
    columns : array of int or None
    coef : array of shape (c, k)
    """

    kernel: Kernel
    points: Any
    columns: Array | None
    coef: Array

    @property
    def size(self) -> int:
        """How many kernel values a new row takes."""
        return len(self.coef)

    def __call__(self, X: Any) -> Array:
        """Values of new rows, of shape (m, k)."""
        if self.size == 0:
            return np.zeros((X.shape[0], self.coef.shape[1]))
        return in_chunks(X, self.size, lambda part: self.kernel(part, self.points, self.columns) @ self.coef)


@dataclass(frozen=True, eq=False)
class OnFeatures:
    """f(x) = phi(x)'w, with w of shape (rank, k)."""

    features: FeatureMap
    w: Array

    @property
    def size(self) -> int:
        """How many kernel values, or waves, a new row takes."""
        return self.features.width

    def __call__(self, X: Any) -> Array:
        """Values of new rows, of shape (m, k)."""
        return in_chunks(X, self.features.width, lambda part: self.features(part) @ self.w)


@dataclass(frozen=True, eq=False)
class OnColumns:
    """f(x) = x'w, with w of shape (d, k)."""

    w: Array

    @property
    def size(self) -> int:
        """How many numbers a new row takes: its own."""
        return len(self.w)

    def __call__(self, X: Any) -> Array:
        """Values of new rows, of shape (m, k)."""
        return np.asarray(X @ self.w)


Expansion = OnRows | OnFeatures | OnColumns


def on_rows(kernel: Kernel, X: Any, places: Array, coef: Array) -> OnRows | OnColumns:
    """The expansion on some rows of X, those without a coefficient left out; weights of columns where k(x, z) = x'z."""
    used = np.flatnonzero(np.any(coef != 0.0, axis=1))
    places, coef = places[used], np.ascontiguousarray(coef[used])
    if kernel.pairwise:
        return OnRows(kernel, None, places, coef)
    if kernel.sklearn_name == "linear":
        return OnColumns(np.asarray(X[places].T @ coef))
    return OnRows(kernel, X[places], None, coef)

"""The Gram matrix as K ~ Z Z' with few columns; nothing of size n x n is ever formed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.gram.base import Array, Gram, in_chunks
from svmpath.kernels import Kernel


@dataclass(frozen=True)
class FeatureMap:
    """x -> k(x, points) T, so that its inner products are the low-rank kernel.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (c, d) or None
        The landmarks; None for a precomputed kernel, where ``rows`` names columns instead.
    rows : array of int or None
    T : array of shape (c, r)
    """

    kernel: Kernel
    points: Any
    rows: Any
    T: Array

    def __call__(self, X: Any) -> Array:
        """Features of new rows."""
        return self.kernel(X, self.points, self.rows) @ self.T


@dataclass(frozen=True)
class Factor:
    """Z, and the map that makes such features of new rows."""

    Z: Array
    features: FeatureMap


class LowRankGram(Gram):
    """K ~ Z Z', made by ``build(kernel) -> Factor``; the same call makes it at other kernel parameters."""

    def __init__(self, kernel: Kernel, X: Any, factor: Factor, build: Callable[[Kernel], Factor]) -> None:
        self.kernel = kernel
        self.X = X
        self.features = factor.features
        self.build = build
        self._Z: Array | None = factor.Z
        trace = float(kernel.diag(X).sum())
        left = trace - float(np.einsum("ij,ij->", factor.Z, factor.Z))
        self.residual = max(left / trace, 0.0) if trace > 0 else 0.0

    def __getstate__(self) -> dict[str, Any]:
        # A saved model holds the rows and the landmarks; Z is made of them again when it is needed.
        return {**self.__dict__, "_Z": None}

    @property
    def Z(self) -> Array:  # type: ignore[override]
        if self._Z is None:
            self._Z = self.features(self.X)
        return self._Z

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @property
    def rank(self) -> int:
        return self.features.T.shape[1]

    @property
    def diag(self) -> Array:
        return np.einsum("ij,ij->i", self.Z, self.Z)

    def block(self, rows: Any, cols: Any) -> Array:
        return self.Z[rows] @ self.Z[cols].T

    def matmul(self, v: Array) -> Array:
        return self.Z @ (self.Z.T @ v)

    def cross(self, X: Any) -> Array:
        return self.features(X) @ self.Z.T

    def apply(self, X: Any, v: Array) -> Array:
        w = self.Z.T @ v
        return in_chunks(X, len(self.features.T), lambda part: self.features(part) @ w)

    def apply_exact(self, X: Any, v: Array) -> Array:
        return in_chunks(X, self.n, lambda part: self.kernel(part, self.X) @ v)

    def at(self, name: str, value: float) -> LowRankGram:
        kernel = self.kernel.at(name, value)
        return LowRankGram(kernel, self.X, self.build(kernel), self.build)

    def take(self, rows: Any) -> LowRankGram:
        """Some of the rows, with the same landmarks and features."""
        X = self.X[rows][:, rows] if self.kernel.pairwise else self.X[rows]
        return LowRankGram(self.kernel, X, Factor(self.Z[rows], self.features), self.build)

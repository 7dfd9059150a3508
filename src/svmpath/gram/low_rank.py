"""The Gram matrix as K ~ Z Z' with few columns; nothing of size n x n is ever formed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from svmpath.gram.base import Array, Gram, in_chunks
from svmpath.kernels import Kernel, Linear
from svmpath.kernels.base import pick
from svmpath.kernels.repeated import find_repeats
from svmpath.lazy import lazy


@dataclass(frozen=True)
class FeatureMap:
    """x -> k(x, points) T, so that its inner products are the low-rank kernel.

    Parameters
    ----------
    kernel : Kernel
    points : array of shape (c, d) or None
        The landmarks; None for a precomputed kernel, where ``rows`` names columns instead.
    rows : array of int or None
    root : array of shape (c, r)
        T itself, or the lower triangular L with T = L^-T, which is inverted when first used.
    triangular : bool
    """

    kernel: Kernel
    points: Any
    rows: Any
    root: Array
    triangular: bool = False

    @lazy
    def T(self) -> Array:
        """The (c, r) matrix that makes features of kernel values."""
        if not self.triangular:
            return self.root
        return solve_triangular(self.root, np.eye(len(self.root)), lower=True, check_finite=False).T

    def __call__(self, X: Any) -> Array:
        """Features of new rows."""
        repeats = None if self.kernel.pairwise else find_repeats(X)
        if repeats is None:
            return self._features(X)
        return self._features(X[repeats.first])[repeats.ids]

    def _features(self, X: Any) -> Array:
        return self.kernel(X, self.points, self.rows) @ self.T

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Factor:
    """Z (None where it is to be made again), and the map that makes such features of new rows."""

    Z: Array | None
    features: FeatureMap


class LowRankGram(Gram):
    """K ~ Z Z', made by ``build(kernel) -> Factor`` when first used, and again at other kernel parameters."""

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        build: Callable[[Kernel], Factor],
        factor: Factor | None = None,
        rows: Any = None,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.rows = rows  # those of X that count; all if None
        self.build = build
        self._factor = factor

    def __getstate__(self) -> dict[str, Any]:
        # A saved model holds the rows and the landmarks; Z is made of them again when it is needed.
        state = {name: value for name, value in self.__dict__.items() if name != "repeats"}
        return {**state, "_factor": replace(self.factor, Z=None)}

    @property
    def factor(self) -> Factor:
        """Z and the map to such features."""
        if self._factor is None:
            whole = self.build(self.kernel)
            self._factor = replace(whole, Z=pick(whole.Z, self.rows))
        return self._factor

    @property
    def features(self) -> FeatureMap:
        """The map that makes rows of Z of new rows."""
        return self.factor.features

    @property
    def Z(self) -> Array:  # type: ignore[override]
        if self.factor.Z is None:
            self._factor = Factor(self.features(self._own_rows), self.features)
        assert self.factor.Z is not None
        return self.factor.Z

    @lazy
    def residual(self) -> float:
        trace = float(self._exact_diag.sum())
        left = trace - float(np.einsum("ij,ij->", self.Z, self.Z))
        share = left / trace if trace > 0 else 0.0
        return share if share < -1e-10 else max(share, 0.0)  # below zero by more than rounding: indefinite

    @property
    def _own_rows(self) -> Any:
        return pick(self.X, self.rows)

    @property
    def _exact_diag(self) -> Array:
        # A precomputed kernel has its diagonal in the whole matrix only.
        whole = self.kernel.pairwise
        return pick(self.kernel.diag(self.X), self.rows) if whole else self.kernel.diag(self._own_rows)

    @property
    def n(self) -> int:
        return self.X.shape[0] if self.rows is None else len(self.rows)

    @property
    def rank(self) -> int:
        return self.features.root.shape[1]

    @property
    def entries(self) -> int:
        return self.n * (self.rank if self._factor is not None else getattr(self.build, "limit", self.n))

    @property
    def diag(self) -> Array:
        return np.einsum("ij,ij->i", self.Z, self.Z)

    def block(self, rows: Any, cols: Any) -> Array:
        own = np.arange(self.n)
        return Linear().compare(self.Z[rows], None if np.array_equal(own[rows], own[cols]) else self.Z[cols])

    def matmul(self, v: Array) -> Array:
        return self.Z @ (self.Z.T @ v)

    def cross(self, X: Any) -> Array:
        return Linear().compare(self.features(X), self.Z)

    def contract(self, v: Array) -> Array:
        return self.Z.T @ v

    def apply(self, X: Any, v: Array, w: Array | None = None) -> Array:
        w = self.contract(v) if w is None else w
        return in_chunks(X, len(self.features.root), lambda part: self.features(part) @ w)

    def apply_exact(self, X: Any, v: Array) -> Array:
        return in_chunks(X, self.n, lambda part: self.kernel(part, self.X, self.rows) @ v)

    def at(self, name: str, value: float) -> LowRankGram:
        kernel = self.kernel.at(name, value)
        return LowRankGram(kernel, self.X, self.build, rows=self.rows)

    def take(self, rows: Any) -> LowRankGram:
        """Some of the rows, with the same landmarks and features."""
        rows = np.arange(self.n)[rows]
        own = rows if self.rows is None else self.rows[rows]
        return LowRankGram(self.kernel, self.X, self.build, Factor(self.Z[rows], self.features), own)

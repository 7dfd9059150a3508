"""The Gram matrix as K ~ Z Z' with few columns; nothing of size n x n is ever formed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.gram.approximation import Approximation
from svmpath.gram.base import Array, Gram, in_chunks
from svmpath.gram.expansion import OnFeatures
from svmpath.gram.features import Factor, FeatureMap
from svmpath.gram.products import times, transposed_times
from svmpath.kernels import Kernel, Linear
from svmpath.kernels.base import pick
from svmpath.lazy import lazy


class LowRankGram(Gram):
    """K ~ Z Z' by an approximation; the factor is made when first used, and again at other kernel parameters.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix of shape (N, d)
    approximation : Approximation
    seed : int
    rows : array of int, optional
        The rows of X that count; all if None. The approximation looks at all of them.
    build : callable, optional
        ``approximation.prepare(X, seed)``, if another Gram matrix of these rows has it already.
    factor : Factor, optional
        The factor, if it is known already.

    See Also
    --------
    svmpath.gram.make_gram : The kernel matrix of some rows.
    svmpath.gram.DenseGram : The full kernel matrix.
    svmpath.gram.Nystroem : Landmarks.
    svmpath.gram.RandomFourier : Random Fourier features.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.gram import LowRankGram, Nystroem
    >>> from svmpath.kernels import RBF
    >>> gram = LowRankGram(RBF(0.1), np.random.default_rng(0).normal(size=(50, 2)), Nystroem(10))
    >>> gram.rank, gram.residual < 0.1
    (10, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        approximation: Approximation,
        seed: int = 0,
        rows: Any = None,
        build: Callable[[Kernel], Factor] | None = None,
        factor: Factor | None = None,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.approximation = approximation
        self.seed = seed
        self.rows = rows
        self._build = build
        self._factor = factor

    def __getstate__(self) -> dict[str, Any]:
        # A saved model holds the rows and the map to features; Z is made of them again when it is needed.
        state = {name: value for name, value in self.__dict__.items() if name != "repeats"}
        return {**state, "_build": None, "_factor": replace(self.factor, Z=None)}

    @property
    def build(self) -> Callable[[Kernel], Factor]:
        """The factor of all rows of X as a function of the kernel; shared by the values of the kernel's parameters."""
        if self._build is None:
            self._build = self.approximation.prepare(self.X, self.seed)
        return self._build

    @property
    def factor(self) -> Factor:
        """Z and the map to such features."""
        if self._factor is None:
            of_all_rows = self.build(self.kernel)
            self._factor = replace(of_all_rows, Z=pick(of_all_rows.Z, self.rows))
        return self._factor

    @property
    def features(self) -> FeatureMap:
        """The map that makes rows of Z of new rows."""
        return self.factor.features

    @property
    def Z(self) -> Array:
        if self.factor.Z is None:
            self._factor = Factor(self.features(self.own_rows, self.approximation.dtype), self.features)
        assert self.factor.Z is not None
        return self.factor.Z

    @lazy
    def residual(self) -> float:
        return self.approximation.residual(self)

    @property
    def own_rows(self) -> Any:
        """The rows of X that count."""
        return pick(self.X, self.rows)

    @property
    def rank(self) -> int:
        return self.features.rank

    @property
    def entries(self) -> int:
        return self.n * (self.rank if self._factor is not None else self.approximation.columns(self.X.shape[0]))

    @property
    def diag(self) -> Array:
        return np.einsum("ij,ij->i", self.Z, self.Z).astype(float)

    def block(self, rows: Any, cols: Any) -> Array:
        all_rows = np.arange(self.n)
        return Linear().compare(
            self._some(rows), None if np.array_equal(all_rows[rows], all_rows[cols]) else self._some(cols)
        )

    def _some(self, rows: Any) -> Array:
        """Some rows of Z, in double precision."""
        return self.Z[rows].astype(float, copy=False)

    def matmul(self, v: Array) -> Array:
        return times(self.Z, self.contract(v))

    def cross(self, X: Any) -> Array:
        return Linear().compare(self.features(X), self._some(slice(None)))

    def contract(self, v: Array) -> Array:
        return transposed_times(self.Z, v)

    def apply(self, X: Any, v: Array, w: Array | None = None) -> Array:
        w = self.contract(v) if w is None else w
        return in_chunks(X, self.features.width, lambda part: self.features(part) @ w)

    def expansion(self, v: Array, w: Array | None = None) -> Any:
        return OnFeatures(self.features, self.contract(v) if w is None else w)

    def weights(self, v: Array, w: Array | None = None) -> Array:
        return self.features.weights(self.contract(v) if w is None else w)

    def apply_exact(self, X: Any, v: Array) -> Array:
        return in_chunks(X, self.n, lambda part: self.kernel(part, self.X, self.rows) @ v)

    def at(self, name: str, value: float) -> LowRankGram:
        kernel = self.kernel.at(name, value)
        return LowRankGram(kernel, self.X, self.approximation, self.seed, self.rows, self.build)

    def take(self, rows: Any) -> LowRankGram:
        """Some of the rows, with the same landmarks and features."""
        places, factor = self.places(rows), Factor(self.Z[rows], self.features)
        return LowRankGram(self.kernel, self.X, self.approximation, self.seed, places, self.build, factor)

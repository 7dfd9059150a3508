"""The Gaussian kernel with one gamma per feature (automatic relevance determination)::

    k(x, z) = exp(-sum_j gamma_j (x_j - z_j)^2),        d k / d gamma_j = -(x_j - z_j)^2 k(x, z)

A gradient W with respect to the kernel values becomes one with respect to the gammas by one matrix product: with
P = -W * K (entry by entry), row sums p and column sums q,

    sum_ab W_ab d k(x_a, z_b) / d gamma_j = sum_a p_a x_aj^2 + sum_b q_b z_bj^2 - 2 sum_a x_aj (P Z)_aj
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import diags_array, issparse

from svmpath.kernels.base import Array, Kernel, RowKernel
from svmpath.kernels.stationary import squared_distances
from svmpath.parameters import Parameter

_GAMMAS_SHOWN = 6  # gammas that are written out


@dataclass(frozen=True, repr=False)
class ARD(RowKernel):
    """exp(-sum_j gamma_j (x_j - z_j)^2): a Gaussian kernel with one gamma per feature.

    Parameters
    ----------
    gamma : sequence of float
        One number >= 0 per feature; a feature with gamma zero is ignored. The parameters are called ``gamma[0]``,
        ``gamma[1]``, ...

    See Also
    --------
    svmpath.kernels.RBF : The Gaussian kernel.
    svmpath.PathSVC : Classifier that chooses C and gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import ARD
    >>> kernel = ARD([0.5, 0.0])
    >>> kernel(np.array([[0.0, 1.0], [2.0, 5.0]])).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    >>> kernel.parameters
    {'gamma[0]': 0.5, 'gamma[1]': 0.0}
    """

    gamma: tuple[float, ...]
    sklearn_name = "rbf"  # of columns times the roots of the gammas

    def __init__(self, gamma: Iterable[float]) -> None:
        values = np.array(list(gamma), dtype=float)
        if values.ndim != 1 or len(values) == 0 or not np.all(np.isfinite(values) & (values >= 0)):
            raise ValueError(f"gamma must hold one number >= 0 per feature, got {gamma!r}.")
        object.__setattr__(self, "gamma", tuple(values.tolist()))

    def __repr__(self) -> str:
        few = ", ".join(f"{value:.4g}" for value in self.gamma[:_GAMMAS_SHOWN])
        return f"ARD([{few}, ... {len(self.gamma)} in all])" if len(self.gamma) > _GAMMAS_SHOWN else f"ARD([{few}])"

    @property
    def parameters(self) -> Mapping[str, float]:
        return {f"gamma[{j}]": value for j, value in enumerate(self.gamma)}

    def declare(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(name, lowest="not negative") for name in self.parameters)

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> tuple[Any, Any]:
        """The rows themselves, where they have as many columns as there are gammas."""
        S = super().compare(X, Z, rows)
        for A in S:
            if A.shape[1] != len(self.gamma):
                raise ValueError(
                    f"An ARD kernel needs one gamma per column, but this one has {len(self.gamma)} gammas and the data "
                    f"have {A.shape[1]} columns."
                )
        return S

    def evaluate(self, S: tuple[Any, Any]) -> Array:
        X, Z = S
        D = squared_distances(self._scaled(X), None if Z is X else self._scaled(Z))
        return np.exp(-D, out=D)

    def _scaled(self, X: Any) -> Any:
        root = np.sqrt(self.gamma)
        return (X @ diags_array(root)).tocsr() if issparse(X) else X * root

    def derive(self, S: tuple[Any, Any], name: str) -> Array:
        j = list(self.parameters).index(name)
        X, Z = (A[:, [j]].toarray().ravel() if issparse(A) else A[:, j] for A in S)
        return -((X[:, None] - Z) ** 2) * self.evaluate(S)

    def parameter_gradient(self, W: Array, S: tuple[Any, Any], K: Array | None = None) -> Array:
        """With respect to all gammas at once; see the head of the module."""
        X, Z = S
        P = -W * (self.evaluate(S) if K is None else K)
        if not (issparse(X) or issparse(Z)):
            centre = X.mean(axis=0)  # distances do not change, and squares of far-away numbers would lose digits
            X, Z = X - centre, Z - centre
            return P.sum(axis=1) @ X**2 + P.sum(axis=0) @ Z**2 - 2.0 * np.einsum("aj,aj->j", X, P @ Z)
        squares = P.sum(axis=1) @ X.power(2) + P.sum(axis=0) @ Z.power(2)
        return np.asarray(squares - 2.0 * np.asarray(X.multiply(P @ Z).sum(axis=0)).ravel())

    def diag(self, X: Any) -> Array:
        return np.ones(X.shape[0])

    def at(self, name: str, value: float) -> Kernel:
        return ARD({**self.parameters, self.resolve(name): float(value)}.values())

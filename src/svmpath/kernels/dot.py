"""Kernels of the inner product: linear, polynomial, sigmoid."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from svmpath.kernels.base import Array, SimpleKernel, pick
from svmpath.kernels.repeated import PAIRWISE_ROWS, compare_distinct, make_symmetric
from svmpath.kernels.stationary import squared_norms
from svmpath.parameters import Parameter

# The factor and the constant of <x, z>.
_SLOPE, _SHIFT = Parameter("gamma"), Parameter("coef0", lowest="any", log=False)


class _Dot(SimpleKernel):
    """A function of the inner product <x, z>."""

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Array:
        """Inner products."""
        Z = None if Z is None else pick(Z, rows)
        if Z is not None and X.shape[0] < PAIRWISE_ROWS and not (issparse(X) or issparse(Z)):
            return np.einsum("ij,kj->ik", X, Z)  # pair by pair
        return compare_distinct(_products, X, Z)

    def diag(self, X: Any) -> Array:
        return self.evaluate(squared_norms(X))


def _products(X: Any, Z: Any) -> Array:
    """<x_i, z_j>; symmetric to the last bit for X against itself, with |x_i|^2 on the diagonal."""
    S = X @ (X if Z is None else Z).T
    S = np.asarray(S.toarray() if issparse(S) else S, dtype=float)
    if Z is None:
        make_symmetric(S)
        np.fill_diagonal(S, squared_norms(X))
    return S


@dataclass(frozen=True)
class Linear(_Dot):
    """The inner product <x, z>; it has no parameter.

    See Also
    --------
    svmpath.kernels.Polynomial : Powers of inner products.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import Linear
    >>> Linear()(np.array([[1.0], [2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """

    sklearn_name = "linear"

    def evaluate(self, S: Array) -> Array:
        return S


@dataclass(frozen=True)
class Polynomial(_Dot):
    """(gamma <x, z> + coef0)^degree, scikit-learn's ``"poly"``.

    The degree is a positive whole number; ``gamma`` and ``coef0`` are the real parameters. Positive
    semi-definite for ``gamma, coef0 >= 0``; declared indefinite otherwise.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        Constant that is added to it.
    degree : int, default=3
        The power: a positive whole number.

    See Also
    --------
    svmpath.kernels.Linear : Inner products.
    svmpath.kernels.Sigmoid : The hyperbolic tangent.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import Polynomial
    >>> Polynomial(gamma=1.0, coef0=1.0, degree=2)(np.array([[1.0], [2.0]]))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    declared = (_SLOPE, _SHIFT)
    sklearn_name = "poly"

    def __post_init__(self) -> None:
        if not isinstance(self.degree, Real) or self.degree < 1 or not float(self.degree).is_integer():
            raise ValueError(f"The degree of a polynomial kernel must be a whole number >= 1, got {self.degree!r}.")

    @property
    def psd(self) -> bool:
        """Whether gamma and coef0 make it positive semi-definite."""
        return self.gamma >= 0 and self.coef0 >= 0

    def evaluate(self, S: Array) -> Array:
        return (self.gamma * S + self.coef0) ** int(self.degree)

    def derive(self, S: Array, name: str) -> Array:
        outer = self.degree * (self.gamma * S + self.coef0) ** (int(self.degree) - 1)
        return outer * S if name == "gamma" else outer


@dataclass(frozen=True)
class Sigmoid(_Dot):
    """tanh(gamma <x, z> + coef0), scikit-learn's ``"sigmoid"``; declared indefinite.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        Constant that is added to it.

    See Also
    --------
    svmpath.kernels.Polynomial : Powers of inner products.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)(np.array([[1.0], [2.0]])).round(3)
    array([[0.462, 0.762],
           [0.762, 0.964]])
    """

    gamma: float = 1.0
    coef0: float = 0.0
    psd = False
    declared = (_SLOPE, _SHIFT)
    sklearn_name = "sigmoid"

    def evaluate(self, S: Array) -> Array:
        return np.tanh(self.gamma * S + self.coef0)

    def derive(self, S: Array, name: str) -> Array:
        outer = 1.0 - self.evaluate(S) ** 2
        return outer * S if name == "gamma" else outer

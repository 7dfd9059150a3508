"""Kernels that users bring along: a matrix of values, a Python callable, a scikit-learn GP kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse import vstack as sparse_vstack
from sklearn.gaussian_process import kernels as gp

from svmpath.kernels.base import Array, Kernel, RowKernel, SimpleKernel
from svmpath.kernels.repeated import compare_distinct, make_symmetric
from svmpath.names import unknown_name
from svmpath.parameters import Parameter

_DIAGONAL_ROWS = 64  # rows whose full block is computed to read off a diagonal


@dataclass(frozen=True)
class Precomputed(SimpleKernel):
    """X holds the kernel values: n x n of the training rows, m x n of m new rows against them.

    See Also
    --------
    svmpath.kernels.FunctionKernel : A function of your own.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import Precomputed
    >>> Precomputed().diag(np.array([[2.0, 1.0], [1.0, 3.0]]))
    array([2., 3.])
    """

    psd = None
    pairwise = True

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Array:
        """The values themselves, or their columns ``rows``."""
        values = X if rows is None else X[:, rows]
        return np.asarray(values.toarray() if issparse(values) else values, dtype=float)

    def evaluate(self, S: Array) -> Array:
        return S

    def diag(self, X: Any) -> Array:
        return np.asarray(X.diagonal(), dtype=float)

    def at(self, name: str, value: float) -> Kernel:
        raise ValueError(f"A precomputed kernel has no parameter {name!r}; use a kernel that has it.")


class _BlockKernel(RowKernel):
    """A kernel that can only compute whole blocks k(X, Z)."""

    def evaluate(self, S: tuple[Any, Any]) -> Array:
        X, Z = S
        return compare_distinct(self._values, X, None if Z is X else Z)

    @abstractmethod
    def _values(self, X: Any, Z: Any) -> Array:
        """The block k(X, Z) of distinct rows, of X against itself if Z is None."""

    def diag(self, X: Any) -> Array:
        """The diagonal, read off blocks along it: n * 64 kernel values instead of n^2."""
        blocks = [X[start : start + _DIAGONAL_ROWS] for start in range(0, X.shape[0], _DIAGONAL_ROWS)]
        return np.concatenate([np.diagonal(self(block)) for block in blocks])


@dataclass(frozen=True)
class FunctionKernel(_BlockKernel):
    """A Python function k(X, Z) -> matrix.

    Parameters
    ----------
    function : callable
        ``function(X, Z, **values)`` returns the matrix of kernel values, with a row for each row of X and a column for
        each row of Z. Sparse rows reach it as CSR matrices, as in scikit-learn (landmarks by "kmeans" and "density",
        which are means of rows, as arrays), and its matrix may be sparse.
    values : dict, default={}
        Its real parameters by name. Derivatives are approximated by central differences of fourth order (relative
        accuracy about 1e-10), because the function does not provide them.
    declared : tuple of Parameter, default=()
        Declarations of parameters that may be zero or negative, or that are not searched on a logarithmic scale:
        ``Parameter("shift", lowest="any", log=False)``. The others are positive and searched on a logarithmic scale.

    See Also
    --------
    svmpath.kernels.GPKernel : A kernel of scikit-learn's Gaussian processes.
    svmpath.kernels.Precomputed : Kernel values that you have.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import FunctionKernel
    >>> kernel = FunctionKernel(lambda X, Z, a: (X @ Z.T + a) ** 2, {"a": 1.0})
    >>> kernel.derivative("a", np.array([[2.0]])).round(6)
    array([[10.]])
    """

    function: Callable[..., Any]
    values: Mapping[str, float] = field(default_factory=dict)
    declared: tuple[Parameter, ...] = ()
    psd = None

    def __post_init__(self) -> None:
        for parameter in self.declared:
            if parameter.name not in self.values:
                raise ValueError(unknown_name("A declared parameter", parameter.name, self.values))

    @property
    def parameters(self) -> Mapping[str, float]:
        return dict(self.values)

    def declare(self) -> tuple[Parameter, ...]:
        known = {parameter.name: parameter for parameter in self.declared}
        return tuple(known.get(name, Parameter(name)) for name in self.values)

    def _values(self, X: Any, Z: Any) -> Array:
        Z = X if Z is None else Z
        K = self.function(X, Z, **self.values)
        K = np.asarray(K.toarray() if issparse(K) else K, dtype=float)
        if K.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"The kernel function must return a matrix of shape {(X.shape[0], Z.shape[0])} for "
                f"{X.shape[0]} and {Z.shape[0]} rows, but it returned shape {K.shape}."
            )
        return K

    def derive(self, S: tuple[Any, Any], name: str) -> Array:
        value = self.values[name]
        h = 1e-3 * max(abs(value), 1e-3)
        near, far = (
            self.at(name, value + k * h).evaluate(S) - self.at(name, value - k * h).evaluate(S) for k in (1, 2)
        )
        return (8.0 * near - far) / (12.0 * h)

    def at(self, name: str, value: float) -> Kernel:
        return replace(self, values={**self.values, self.resolve(name): float(value)})


@dataclass(frozen=True)
class GPKernel(_BlockKernel):
    """A kernel of ``sklearn.gaussian_process.kernels``.

    Its parameters are the free (not ``"fixed"``) hyper-parameters; an element of a vector is called
    ``length_scale[0]``. A ``WhiteKernel`` is not accepted, because ``C`` already plays the part of noise on the
    diagonal.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel of scikit-learn.

    See Also
    --------
    svmpath.kernels.FunctionKernel : A function of your own.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from svmpath.kernels import GPKernel
    >>> GPKernel(RBF(2.0)).derivative("length_scale", np.array([[0.0], [2.0]])).round(3)
    array([[0.   , 0.303],
           [0.303, 0.   ]])
    """

    kernel: gp.Kernel

    def __post_init__(self) -> None:
        parts = self.kernel.get_params(deep=True).values()
        if any(isinstance(part, gp.WhiteKernel) for part in [self.kernel, *parts]):
            raise ValueError(
                "A WhiteKernel adds noise to the diagonal of the training matrix only; the parameter C of the "
                "machine plays that part, so leave the WhiteKernel out of the kernel."
            )

    @property
    def psd(self) -> bool | None:
        """Not known if a part is a periodic or pairwise kernel, which are indefinite on some data."""
        parts = [self.kernel, *self.kernel.get_params(deep=True).values()]
        return None if any(isinstance(part, gp.ExpSineSquared | gp.PairwiseKernel) for part in parts) else True

    @property
    def parameters(self) -> Mapping[str, float]:
        return dict(zip(self._names(), np.exp(self.kernel.theta).tolist(), strict=True))

    def declare(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(name) for name in self._names())

    def _names(self) -> list[str]:
        return [
            h.name if h.n_elements == 1 else f"{h.name}[{j}]"
            for h in self.kernel.hyperparameters
            if not h.fixed
            for j in range(h.n_elements)
        ]

    def _values(self, X: Any, Z: Any) -> Array:
        K = np.asarray(self.kernel(X, Z), dtype=float)
        if Z is None:
            make_symmetric(K)
        return K

    def derive(self, S: tuple[Any, Any], name: str) -> Array:
        # These kernels give gradients for one set of rows only, by the logarithm of each parameter:
        # stack both sets, take the block between them, and divide by the parameter.
        X, Z = S
        both = sparse_vstack([X, Z]).tocsr() if issparse(X) else np.vstack([X, Z])
        position = self._names().index(name)
        _, gradient = self.kernel(both, eval_gradient=True)
        n = X.shape[0]
        return gradient[:n, n:, position] / self.parameters[name]

    def diag(self, X: Any) -> Array:
        return np.asarray(self.kernel.diag(X), dtype=float)

    def at(self, name: str, value: float) -> Kernel:
        if not value > 0:
            raise ValueError(f"Kernel parameter {name!r} of {self.kernel} must be positive, got {value!r}.")
        theta = self.kernel.theta.copy()
        theta[self._names().index(self.resolve(name))] = np.log(value)
        return replace(self, kernel=self.kernel.clone_with_theta(theta))

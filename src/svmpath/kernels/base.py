"""The interface of all kernels: values, diagonal, derivatives, and the same kernel with another parameter value.

A kernel works in two steps, so that many parameter values share the costly one::

    S = kernel.compare(X, Z)          # squared distances, inner products: independent of the parameters
    K = kernel.evaluate(S)            # k(x_i, z_j)
    dK = kernel.derive(S, "gamma")    # d k(x_i, z_j) / d gamma
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np

from svmpath.names import did_you_mean
from svmpath.parameters import Parameter

Array = np.ndarray


class Kernel(ABC):
    """A kernel function k(x, z) with named real parameters.

    Attributes
    ----------
    psd : bool or None
        Whether the kernel is positive semi-definite by construction: True, False (declared indefinite) or
        None (not known; the eigenvalues of the Gram matrix are then checked).
    pairwise : bool
        True if X itself holds kernel values (``"precomputed"``).
    sklearn_name : str
        The name of the kernel in scikit-learn; empty if it has none there.

    See Also
    --------
    svmpath.kernels.make_kernel : A kernel by its name.
    svmpath.kernels.RBF : The Gaussian kernel.
    svmpath.kernels.FunctionKernel : A function of your own.

    Examples
    --------
    >>> from svmpath.kernels import RBF
    >>> kernel = RBF(gamma=0.5)
    >>> kernel.parameters, kernel.at("gamma", 2.0), kernel.psd
    ({'gamma': 0.5}, RBF(gamma=2.0), True)
    >>> kernel([[0.0], [1.0]]).shape
    (2, 2)
    """

    pairwise: bool = False
    sklearn_name: ClassVar[str] = ""

    @property
    def psd(self) -> bool | None:
        """Whether it is positive semi-definite."""
        return True

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, float]:
        """The real parameters by name, with their values."""

    @abstractmethod
    def declare(self) -> tuple[Parameter, ...]:
        """The declarations of the real parameters, in the same order."""

    def parameter(self, name: str) -> Parameter:
        """The declaration of one parameter, named as for :meth:`resolve`."""
        full = self.resolve(name)
        return next(parameter for parameter in self.declare() if parameter.name == full)

    @abstractmethod
    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Any:
        """The part of the computation for X against Z (X itself if None), or ``Z[rows]``, that needs no parameters."""

    @abstractmethod
    def evaluate(self, S: Any) -> Array:
        """Kernel values from the result of :meth:`compare`."""

    @abstractmethod
    def derive(self, S: Any, name: str) -> Array:
        """Derivative of the kernel values with respect to a parameter, from the result of :meth:`compare`."""

    def values_and_rates(self, S: Any, name: str) -> tuple[Array, Array]:
        """Kernel values and their derivative with respect to a parameter; many kernels share work between the two."""
        return self.evaluate(S), self.derive(S, name)

    def part(self, S: Any, rows: Any, cols: Any) -> Any:
        """The result of :meth:`compare` for some rows of X and some of Z (None: all), taken from that for all rows."""
        some = S.take(rows, axis=0)
        return some if cols is None else some.take(cols, axis=1)

    @abstractmethod
    def diag(self, X: Any) -> Array:
        """k(x_i, x_i) for the rows of X."""

    @abstractmethod
    def at(self, name: str, value: float) -> Kernel:
        """The same kernel with the parameter ``name`` at ``value``."""

    def __call__(self, X: Any, Z: Any = None, rows: Any = None) -> Array:
        """Kernel matrix of the rows of X against those of Z, against ``Z[rows]``, or against X."""
        return self.evaluate(self.compare(X, Z, rows))

    def single(self, X: Any, Z: Any, rows: Any) -> Array:
        """The kernel matrix in single precision."""
        return self(X, Z, rows).astype(np.float32)

    def derivative(self, name: str, X: Any, Z: Any = None) -> Array:
        """Matrix of d k(x_i, z_j) / d ``name``."""
        return self.derive(self.compare(X, Z), self.resolve(name))

    def parameter_gradient(self, W: Array, S: Any, K: Array | None = None) -> Array:
        """``sum_ij W_ij d k(x_i, z_j) / d p`` for every parameter p: the gradient with respect to the parameters.

        S is the result of :meth:`compare`, K the kernel values if they are known.
        """
        return np.array([np.vdot(W, self.derive(S, name)) for name in self.parameters])

    def resolve(self, name: str) -> str:
        """The full name of a parameter; the last part of the name is enough if it is unique."""
        names = list(self.parameters)
        if name in names:
            return name
        if f"{name}[0]" in names:
            raise ValueError(f"Kernel parameter {name!r} is a vector; name one of its elements, such as {name}[0].")
        ending = [full for full in names if full.endswith("__" + name)]
        if len(ending) == 1:
            return ending[0]
        wanted = "is ambiguous" if ending else "is unknown"
        known = ", ".join(ending or names) or "none"
        question = "" if ending else did_you_mean(name, names)
        raise ValueError(f"Kernel parameter {name!r} {wanted} for {self!r}; its parameters are: {known}.{question}")

    def __add__(self, other: Kernel) -> Kernel:
        from svmpath.kernels.compound import Sum

        return Sum(self, other)

    def __mul__(self, other: Kernel | float) -> Kernel:
        from svmpath.kernels.compound import Product, Scaled

        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, float(other))

    __rmul__ = __mul__


class SimpleKernel(Kernel):
    """A kernel that is a frozen dataclass, with a field for each parameter that it declares.

    Attributes
    ----------
    declared : tuple of Parameter
    """

    declared: ClassVar[tuple[Parameter, ...]] = ()

    def declare(self) -> tuple[Parameter, ...]:
        return self.declared

    @property
    def parameters(self) -> Mapping[str, float]:
        """The real parameters by name, with their values."""
        return {parameter.name: getattr(self, parameter.name) for parameter in self.declared}

    def derive(self, S: Any, name: str) -> Array:
        raise ValueError(f"{self!r} has no parameter {name!r}; use another kernel.")

    def at(self, name: str, value: float) -> Kernel:
        """The same kernel with the parameter ``name`` at ``value``."""
        return replace(cast(Any, self), **{self.resolve(name): float(value)})


class RowKernel(Kernel):
    """A kernel of which no part is free of the parameters: rows are kept as they are, until it is evaluated."""

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> tuple[Any, Any]:
        """The rows themselves."""
        return X, (X if Z is None else pick(Z, rows))

    def part(self, S: tuple[Any, Any], rows: Any, cols: Any) -> tuple[Any, Any]:
        return S[0][rows], pick(S[1], cols)


def pick(Z: Any, rows: Any) -> Any:
    """Z, or some of its rows."""
    return Z if rows is None else Z[rows]

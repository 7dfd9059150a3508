"""Sums, products and multiples of kernels; written ``k1 + k2``, ``k1 * k2`` and ``2.0 * k``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from svmpath.kernels.base import Array, Kernel, inside
from svmpath.parameters import Parameter


class _Pair(Kernel):
    """Two kernels k1 and k2; their parameters are called ``k1__gamma``, ``k2__gamma``, ..."""

    k1: Kernel
    k2: Kernel

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        """Positive semi-definite if both parts are; otherwise not known."""
        return True if self.k1.psd and self.k2.psd else None

    @property
    def parameters(self) -> Mapping[str, float]:
        first = {f"k1__{name}": value for name, value in self.k1.parameters.items()}
        return first | {f"k2__{name}": value for name, value in self.k2.parameters.items()}

    def declare(self) -> tuple[Parameter, ...]:
        return inside("k1", self.k1.declare()) + inside("k2", self.k2.declare())

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> tuple[Any, Any]:
        return self.k1.compare(X, Z, rows), self.k2.compare(X, Z, rows)

    def part(self, S: tuple[Any, Any], rows: Any, cols: Any) -> tuple[Any, Any]:
        return self.k1.part(S[0], rows, cols), self.k2.part(S[1], rows, cols)

    def at(self, name: str, value: float) -> Kernel:
        part, inner = self.resolve(name).split("__", 1)
        return replace(self, **{part: getattr(self, part).at(inner, value)})  # type: ignore[type-var]


@dataclass(frozen=True)
class Sum(_Pair):
    """k1(x, z) + k2(x, z).

    Parameters
    ----------
    k1 : Kernel
        The first kernel; its parameters are called ``k1__gamma`` and so on.
    k2 : Kernel
        The second kernel.

    See Also
    --------
    svmpath.kernels.Product : The product of two kernels.
    svmpath.kernels.Scaled : A multiple of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import RBF, Linear
    >>> kernel = RBF(gamma=1.0) + Linear()
    >>> kernel(np.array([[1.0]]))
    array([[2.]])
    >>> kernel.at("gamma", 3.0).parameters
    {'k1__gamma': 3.0}
    """

    k1: Kernel
    k2: Kernel

    def evaluate(self, S: tuple[Any, Any]) -> Array:
        return self.k1.evaluate(S[0]) + self.k2.evaluate(S[1])

    def derive(self, S: tuple[Any, Any], name: str) -> Array:
        part, inner = name.split("__", 1)
        return self.k1.derive(S[0], inner) if part == "k1" else self.k2.derive(S[1], inner)

    def diag(self, X: Any) -> Array:
        return self.k1.diag(X) + self.k2.diag(X)


@dataclass(frozen=True)
class Product(_Pair):
    """k1(x, z) * k2(x, z).

    Parameters
    ----------
    k1 : Kernel
        The first kernel; its parameters are called ``k1__gamma`` and so on.
    k2 : Kernel
        The second kernel.

    See Also
    --------
    svmpath.kernels.Sum : The sum of two kernels.
    svmpath.kernels.Scaled : A multiple of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import RBF, Linear
    >>> (RBF(gamma=1.0) * Linear())(np.array([[1.0], [2.0]])).round(3)
    array([[1.   , 0.736],
           [0.736, 4.   ]])
    """

    k1: Kernel
    k2: Kernel

    def evaluate(self, S: tuple[Any, Any]) -> Array:
        return self.k1.evaluate(S[0]) * self.k2.evaluate(S[1])

    def derive(self, S: tuple[Any, Any], name: str) -> Array:
        part, inner = name.split("__", 1)
        if part == "k1":
            return self.k1.derive(S[0], inner) * self.k2.evaluate(S[1])
        return self.k1.evaluate(S[0]) * self.k2.derive(S[1], inner)

    def diag(self, X: Any) -> Array:
        return self.k1.diag(X) * self.k2.diag(X)


@dataclass(frozen=True)
class Scaled(Kernel):
    """scale * kernel(x, z), with ``scale`` a parameter like the others.

    Parameters
    ----------
    kernel : Kernel
        The kernel to be multiplied.
    scale : float, default=1.0
        The factor, positive.

    See Also
    --------
    svmpath.kernels.Sum : The sum of two kernels.
    svmpath.kernels.Product : The product of two kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.kernels import Linear
    >>> kernel = 2.0 * Linear()
    >>> kernel(np.array([[3.0]])), kernel.derivative("scale", np.array([[3.0]]))
    (array([[18.]]), array([[9.]]))
    """

    kernel: Kernel
    scale: float = 1.0

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        """Positive semi-definite if the kernel is and the scale is not negative."""
        return self.kernel.psd if self.scale >= 0 else None

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"scale": self.scale} | {f"kernel__{n}": v for n, v in self.kernel.parameters.items()}

    def declare(self) -> tuple[Parameter, ...]:
        return (Parameter("scale"), *inside("kernel", self.kernel.declare()))

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> Any:
        return self.kernel.compare(X, Z, rows)

    def part(self, S: Any, rows: Any, cols: Any) -> Any:
        return self.kernel.part(S, rows, cols)

    def evaluate(self, S: Any) -> Array:
        return self.scale * self.kernel.evaluate(S)

    def derive(self, S: Any, name: str) -> Array:
        if name == "scale":
            return self.kernel.evaluate(S)
        return self.scale * self.kernel.derive(S, name.split("__", 1)[1])

    def diag(self, X: Any) -> Array:
        return self.scale * self.kernel.diag(X)

    def at(self, name: str, value: float) -> Kernel:
        name = self.resolve(name)
        if name == "scale":
            return replace(self, scale=float(value))
        return replace(self, kernel=self.kernel.at(name.split("__", 1)[1], value))

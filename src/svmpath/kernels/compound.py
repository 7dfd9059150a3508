"""Sums, products and multiples of kernels; written ``k1 + k2``, ``k1 * k2`` and ``2.0 * k``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from svmpath.kernels.base import Array, Kernel
from svmpath.parameters import Parameter


class _Compound(Kernel):
    """A kernel of the kernels that are its fields; the parameters of a field k1 are called ``k1__gamma``, ..."""

    @property
    def _parts(self) -> dict[str, Kernel]:
        return {name: part for name, part in vars(self).items() if isinstance(part, Kernel)}

    @property
    def psd(self) -> bool | None:
        """Positive semi-definite if all parts are; otherwise not known."""
        return True if all(part.psd for part in self._parts.values()) else None

    @property
    def parameters(self) -> Mapping[str, float]:
        return {f"{name}__{own}": value for name, part in self._parts.items() for own, value in part.parameters.items()}

    def declare(self) -> tuple[Parameter, ...]:
        parts = self._parts.items()
        return tuple(replace(own, name=f"{name}__{own.name}") for name, part in parts for own in part.declare())

    def compare(self, X: Any, Z: Any = None, rows: Any = None) -> tuple[Any, ...]:
        return tuple(part.compare(X, Z, rows) for part in self._parts.values())

    def part(self, S: tuple[Any, ...], rows: Any, cols: Any) -> tuple[Any, ...]:
        return tuple(part.part(each, rows, cols) for part, each in zip(self._parts.values(), S, strict=True))

    def at(self, name: str, value: float) -> Kernel:
        field, _, own = self.resolve(name).partition("__")
        changed = self._parts[field].at(own, value) if own else float(value)
        return replace(cast(Any, self), **{field: changed})


@dataclass(frozen=True)
class Sum(_Compound):
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
class Product(_Compound):
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
class Scaled(_Compound):
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
    def psd(self) -> bool | None:
        """Positive semi-definite if the kernel is and the scale is not negative."""
        return self.kernel.psd if self.scale >= 0 else None

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"scale": self.scale, **super().parameters}

    def declare(self) -> tuple[Parameter, ...]:
        return (Parameter("scale"), *super().declare())

    def evaluate(self, S: tuple[Any]) -> Array:
        return self.scale * self.kernel.evaluate(S[0])

    def derive(self, S: tuple[Any], name: str) -> Array:
        if name == "scale":
            return self.kernel.evaluate(S[0])
        return self.scale * self.kernel.derive(S[0], name.split("__", 1)[1])

    def diag(self, X: Any) -> Array:
        return self.scale * self.kernel.diag(X)

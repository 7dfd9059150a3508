"""Which hyper-parameter changes along a path, and which stay fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class PathParameter:
    """Which hyper-parameter a path follows, and the values of the others.

    A walk goes along an increasing t: over C it is t = -1 / C, in which machines with an elbow are piecewise linear;
    over any other parameter it is minus the value.

    Attributes
    ----------
    over : str
        The hyper-parameter that the path follows.
    fixed : mapping
        The fixed hyper-parameters of the machine.
    rows : array of int or None
        For "weight": the samples whose weight is multiplied.
    """

    over: str
    fixed: Mapping[str, float] = field(default_factory=dict)
    rows: Array | None = None

    def at(self, value: float) -> dict[str, float]:
        """All hyper-parameters at a value."""
        return {**self.fixed, self.over: value}

    def t(self, value: float) -> float:
        """The t of a value."""
        return -1.0 / value if self.over == "C" else -value

    def value(self, t: Any) -> Any:
        """The value that t stands for."""
        return -1.0 / t if self.over == "C" else -t

    def at_t(self, t: float) -> dict[str, float]:
        """All hyper-parameters at t."""
        return self.at(float(self.value(t)))

    @property
    def unit(self) -> Array:
        """What one unit of f is in the gradient, as ``Program.unit`` has it: lambda, or rho of the nu machine."""
        if self.over == "C":
            return np.array([0.0, -1.0, 0.0])
        return np.array([0.0, 0.0, 1.0]) if self.over == "nu" else np.array([1.0 / self.fixed["C"], 0.0, 0.0])

    def weights(self, s: Array, value: float) -> Array:
        """The sample weights at a value; s are those at one."""
        if self.rows is None:
            return s
        s = s.copy()
        s[self.rows] *= value
        return s

    def weights_along(self, s: Array) -> tuple[Array, Array]:
        """s0 and s1: the sample weights are s0 + t s1."""
        s0, s1 = s.copy(), np.zeros(len(s))
        if self.rows is not None:
            s0[self.rows], s1[self.rows] = 0.0, -s[self.rows]
        return s0, s1

"""Rows of an array over the values of a curve, or functions that compute them when they are first asked for.

A function that has ``take(order)`` can be asked for some of the values only: one value then costs what one value costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from svmpath.criteria.curve import Curve

Array = np.ndarray


def at_some(part: Any, order: Array) -> Any:
    """Some rows of an array, or of one that a function computes; a function with ``take`` computes no others."""
    if not callable(part):
        return part[order]
    return part.take(order) if hasattr(part, "take") else Ordered(part, order)


class AtValues:
    """A function that computes the rows of an array from its field ``values``, one row each."""

    values: Array

    def __len__(self) -> int:
        return len(self.values)

    def take(self, order: Array) -> Any:
        """The function for some of the values."""
        return replace(cast(Any, self), values=self.values[order])


@dataclass(frozen=True)
class Most:
    """The largest number of doubtful samples among several curves, at each value."""

    doubts: list[Any]  # arrays, or functions with a length

    def __call__(self) -> Array:
        return np.max([each() if callable(each) else each for each in self.doubts], axis=0)

    def __len__(self) -> int:
        return len(self.doubts[0])

    def take(self, order: Array) -> Most:
        """The function for some of the values."""
        return Most([at_some(each, order) for each in self.doubts])


@dataclass(frozen=True)
class Stacked:
    """Held-out decision values of several curves side by side, of shape (m, N, k)."""

    curves: list[Curve]

    def __call__(self) -> Array:
        return np.stack([curve.held for curve in self.curves], axis=2)

    def __len__(self) -> int:
        return len(self.curves[0].values)

    def take(self, order: Array) -> Stacked:
        """The function for some of the values."""
        return Stacked([curve.taken(order) for curve in self.curves])


@dataclass(frozen=True)
class Joined:
    """Several arrays, or functions that compute them, one after another."""

    parts: list[Any]

    def __call__(self) -> Array:
        return np.concatenate([part() if callable(part) else part for part in self.parts])

    def take(self, order: Array) -> Ordered:
        """The function for some of the values; parts that do not know how many they have are computed whole."""
        try:
            sizes = [len(part) for part in self.parts]
        except TypeError:
            return Ordered(self, order)
        ends = np.cumsum(sizes)
        of, starts = np.searchsorted(ends, order, side="right"), ends - sizes
        used = [(part, order[of == k] - starts[k]) for k, part in enumerate(self.parts) if (of == k).any()]
        back = np.argsort(np.argsort(of, kind="stable"))
        return Ordered(Joined([at_some(part, some) for part, some in used]), back)

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)


@dataclass(frozen=True)
class Ordered:
    """The rows of an array, or of one that a function computes, in another order."""

    part: Any
    order: Array

    def __call__(self) -> Array:
        return (self.part() if callable(self.part) else self.part)[self.order]

    def __len__(self) -> int:
        return len(self.order)

    def take(self, order: Array) -> Any:
        """The function for some of the values."""
        return at_some(self.part, self.order[order])

"""Rows of an array over the values of a curve that are computed when they are first asked for.

One value then costs what one value costs: ``take(order)`` gives the rows at some of the values, still not computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Array = np.ndarray


class LazyRows(ABC):
    """Rows that are not computed yet; call it for all of them."""

    @abstractmethod
    def __call__(self) -> Array:
        """All rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, order: Array) -> Any:
        """Some of the rows, given by their positions."""

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, (int, np.integer)):
            return self()[at]
        return computed(self.take(np.array([range(len(self))[at]])))[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self(), dtype=dtype)


def computed(rows: Any) -> Array:
    """Rows as an array, or those that a function computes."""
    return rows() if callable(rows) else rows


def at_some(rows: Any, order: Array) -> Any:
    """Some of the rows; those of a function that is not lazy are computed whole."""
    return rows.take(order) if isinstance(rows, LazyRows) else computed(rows)[order]


def joined(first: Any, second: Any) -> Any:
    """Rows, and others after them; what computes both in the same way, from one path, stays one."""
    is_alike = isinstance(first, AtValues) and isinstance(second, AtValues) and first.compute is second.compute
    if is_alike and first.path is second.path:
        return replace(first, values=np.concatenate([first.values, second.values]))
    if isinstance(first, Rowwise) and isinstance(second, Rowwise) and first.function is second.function:
        return Rowwise(first.function, [joined(*parts) for parts in zip(first.parts, second.parts, strict=True)])
    return Joined([first, second])


def is_at_hand(rows: Any) -> bool:
    """Whether nothing is left to be computed."""
    return all(map(is_at_hand, rows.parts)) if isinstance(rows, Joined) else not callable(rows)


@dataclass(frozen=True)
class AtValues(LazyRows):
    """Computes rows by ``compute(path, values)``, one row for each value."""

    compute: Callable[[Any, Array], Array]
    path: Any
    values: Array

    def __call__(self) -> Array:
        return self.compute(self.path, self.values)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, order: Array) -> AtValues:
        return replace(self, values=self.values[order])


@dataclass(frozen=True)
class Rowwise(LazyRows):
    """A function, row by row, of several arrays or what computes them, such as their largest entries."""

    function: Callable[[list[Array]], Array]
    parts: Sequence[Any]

    def __call__(self) -> Array:
        return self.function([computed(part) for part in self.parts])

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, order: Array) -> Rowwise:
        return Rowwise(self.function, [at_some(part, order) for part in self.parts])


@dataclass(frozen=True)
class Joined(LazyRows):
    """Several arrays, or what computes them, one after another; or some rows of these, in any order."""

    parts: Sequence[Any]
    order: Array | None = None

    def __call__(self) -> Array:
        rows = np.concatenate([computed(part) for part in self.parts])
        return rows if self.order is None else rows[self.order]

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts) if self.order is None else len(self.order)

    def take(self, order: Array) -> Joined:
        order = order if self.order is None else self.order[order]
        parts = [part if hasattr(part, "__len__") else part() for part in self.parts]
        sizes = [len(part) for part in parts]
        ends = np.cumsum(sizes)
        of, starts = np.searchsorted(ends, order, side="right"), ends - sizes
        used = [(part, order[of == k] - starts[k]) for k, part in enumerate(parts) if (of == k).any()]
        return Joined([at_some(part, some) for part, some in used], np.argsort(np.argsort(of, kind="stable")))

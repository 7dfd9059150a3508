"""The values that one hyper-parameter may take in a search, and how to move among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

_SAME = 1e-6  # relative; values closer than this are one


@dataclass(frozen=True)
class Axis:
    """Positive values: those of a list, or any between two limits.

    Attributes
    ----------
    values : array of shape (m,)
        The values to begin with, in increasing order.
    step : float
        The factor from one value to the next, when a search goes from place to place.
    limits : tuple of two floats, or None
        Between them any value may be taken; None if only those of the list may.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.search.axis import Axis
    >>> free = Axis(np.array([0.1, 1.0, 10.0]), step=2.0, limits=(0.01, 15.0))
    >>> free.neighbours(10.0), free.neighbours(1.0), free.beyond(10.0, [0.1, 1.0, 10.0])
    ([15.0, 5.0], [2.0, 0.5], 15.0)
    >>> Axis(np.array([1.0, 3.0, 9.0])).neighbours(3.0)
    [9.0, 1.0]
    """

    values: Array
    step: float = 2.0
    limits: tuple[float, float] | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether there is nothing to choose."""
        return len(self.values) == 1 and self.limits is None

    def next(self, value: float, direction: int, step: float | None = None) -> float | None:
        """The next larger (+1) or smaller (-1) value, the last step up to the limit; None if there is none."""
        if self.limits is None:
            place = int(np.argmin(np.abs(np.log(self.values / value)))) + direction
            return float(self.values[place]) if 0 <= place < len(self.values) else None
        moved = float(np.clip(value * (self.step if step is None else step) ** direction, *self.limits))
        return moved if abs(moved / value - 1.0) > _SAME and (moved > value) == (direction > 0) else None

    def neighbours(self, value: float, step: float | None = None) -> list[float]:
        """The next larger and the next smaller value, as far as there are any."""
        return [each for direction in (1, -1) if (each := self.next(value, direction, step)) is not None]

    def around(self, value: float, each_side: int) -> Array:
        """The value and so many on either side, in increasing order."""
        values = [self.nearest(value)]
        for direction in (1, -1):
            at: float | None = values[0]
            for _ in range(each_side):
                at = self.next(at, direction) if at is not None else None
                values += [] if at is None else [at]
        return np.array(sorted(values))

    def nearest(self, value: float) -> float:
        """The value itself if it may be taken; else the nearest that may."""
        if self.limits is not None:
            return float(np.clip(value, *self.limits))
        return float(self.values[int(np.argmin(np.abs(np.log(self.values / value))))])

    def beyond(self, best: float, tried: Sequence[float], wide: bool = False, times: int = 1) -> float | None:
        """The next value beyond the best one if that is the largest or the smallest tried; else None.

        ``wide`` takes as large a step as the values to begin with, ``times`` so many steps at once.
        """
        step = self.step**times
        if wide and len(self.values) > 1:
            step = float(np.exp(np.median(np.diff(np.log(self.values)))))
        for end, direction in ((max(tried), 1), (min(tried), -1)):
            if abs(best / end - 1.0) <= _SAME:
                return self.next(best, direction, step)
        return None

    def is_end(self, value: float) -> bool:
        """Whether there is more than one value, and none beyond this one."""
        return not self.is_fixed and len(self.neighbours(value)) < 2


def is_among(value: float, values: Iterable[float]) -> bool:
    """Whether a value is one of several, but for rounding; NaN is itself."""
    return bool(np.isclose(value, list(values), rtol=_SAME, atol=0.0, equal_nan=True).any())

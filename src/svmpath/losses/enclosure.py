"""Where the offset of a machine must be, when its decision values are known up to some error.

For decision values h without offset, b is best where the derivative of the sum of the losses changes its sign::

    Phi(b) = sum_i s_i loss(y_i, h_i + b),      Phi'(b-) <= 0 <= Phi'(b+)

The sums are not negative and not positive up to rounding, and ends of intervals are rounded outwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

_FLAT = 1e-11  # relative to the slopes that are added up: a sum so small is zero
_WIDEST = 10  # doublings of the range in which an offset is looked for
_HALVINGS = 100


@dataclass(frozen=True)
class Offsets:
    """The offset is between low and high; so is, for machines that are divided by it, the margin rho.

    Attributes
    ----------
    low, high : float
    rho : tuple of float
    """

    low: float
    high: float
    rho: tuple[float, float] = (1.0, 1.0)

    @property
    def middle(self) -> tuple[float, float]:
        """An offset and a margin in between."""
        return 0.5 * (self.low + self.high), 0.5 * (self.rho[0] + self.rho[1])

    def within(self, other: Offsets) -> Offsets:
        """What both allow; the first if rounding leaves nothing."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        rho = max(self.rho[0], other.rho[0]), min(self.rho[1], other.rho[1])
        return Offsets(*((low, high) if low <= high else (self.low, self.high)), rho if rho[0] <= rho[1] else self.rho)


def best_offsets(slopes: Callable[[float], tuple[Array, Array]], width: float) -> tuple[float, float]:
    """The lowest and the highest b that is best; infinite where there is none.

    Parameters
    ----------
    slopes : callable
        The derivatives of the losses at b from the left and from the right.
    width : float
        The order of magnitude of the offset.
    """

    def falls(b: float) -> bool:
        """Whether Phi falls to the right of b."""
        left, right = slopes(b)
        return bool(right.sum() < -_FLAT * np.maximum(np.abs(left), np.abs(right)).sum())

    def rises(b: float) -> bool:
        """Whether Phi rises to the left of b."""
        left, right = slopes(b)
        return bool(left.sum() > _FLAT * np.maximum(np.abs(left), np.abs(right)).sum())

    return _first(falls, width), -_first(lambda b: rises(-b), width)


def _first(falls: Callable[[float], bool], width: float) -> float:
    """The end of the b at which it falls, from below; minus infinity if it falls nowhere."""
    ends = width * 2.0 ** np.arange(_WIDEST + 1)
    below = next((-end for end in ends if falls(-end)), None)
    above = next((end for end in ends if not falls(end)), None)
    if below is None or above is None:
        return -np.inf if below is None else float(ends[-1])
    for _ in range(_HALVINGS):
        b = 0.5 * (below + above)
        if not below < b < above:
            break
        below, above = (b, above) if falls(b) else (below, b)
    return float(below)

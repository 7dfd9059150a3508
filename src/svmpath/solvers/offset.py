"""The offset where no sample on the elbow fixes it: then it may be anything in an interval, and its middle is taken.

Samples at a bound limit the offset from below or from above. Either side may be empty, as with a single class: then
the offset is at the one end that there is.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def offset_interval(at_least: Array, at_most: Array) -> tuple[float, float]:
    """The ends of the interval from the limits below and above; infinite where there is none."""
    return float(at_least.max(initial=-np.inf)), float(at_most.min(initial=np.inf))


def middle(at_least: Array, at_most: Array) -> float:
    """The middle of the interval; the one end if the other is infinite, and zero if both are."""
    ends = [end for end in offset_interval(at_least, at_most) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0

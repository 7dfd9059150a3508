"""The time that a search may take."""

from __future__ import annotations

import time

import numpy as np

_MOMENT = 1e-3  # seconds


class Deadline:
    """When to begin nothing new, and whether that kept anything from being done.

    Parameters
    ----------
    seconds : float or None
        From now on; None if there is no limit.

    Attributes
    ----------
    has_stopped : bool
        Whether anything was skipped. So ask :meth:`is_over` only where something remains to be done.

    Examples
    --------
    >>> from svmpath.search.deadline import Deadline
    >>> free, over = Deadline(None), Deadline(0.0)
    >>> free.is_over(), over.is_over(), free.has_stopped, over.has_stopped
    (False, True, False, True)
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._end = np.inf if seconds is None else time.monotonic() + seconds
        self.has_stopped = False

    @property
    def left(self) -> float | None:
        """The seconds that remain, a moment at least; None if there is no limit."""
        return None if self._end == np.inf else max(self._end - time.monotonic(), _MOMENT)

    def is_over(self, needed: float = 0.0) -> bool:
        """Whether it is too late to begin something that takes about so many seconds."""
        is_late = time.monotonic() + needed >= self._end
        self.has_stopped |= is_late
        return is_late

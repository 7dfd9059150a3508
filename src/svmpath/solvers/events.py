"""What is kept of a walk: the events, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class EventLog:
    """Changes of place in order, one entry per event in every array.

    Attributes
    ----------
    t : array of float
        The value of the parameter.
    index : array of int
        Which variable (sample, feature) changes its place.
    source, target : arrays of int8
        Its place before and after.
    extra : array
        One more number per event where an engine needs one: a gradient that is watched, whether it is a feature's.
    """

    t: Array
    index: Array
    source: Array
    target: Array
    extra: Array

    @staticmethod
    def of(events: Sequence[tuple[float, ...]] = (), *, extra: type = float) -> EventLog:
        """A log of single events (t, index, source, target[, extra]); ``extra`` is the type of the last one."""
        rows = [(*event, 0)[:5] for event in events]
        columns = zip(*rows, strict=True) if rows else [()] * 5
        kinds = (float, np.int64, np.int8, np.int8, extra)
        return EventLog(*(np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)))

    @staticmethod
    def joined(parts: Iterable[EventLog], *, extra: type = float) -> EventLog:
        """The events of several logs, one after another."""
        logs = [EventLog.of(extra=extra), *parts]
        names = ("t", "index", "source", "target", "extra")
        return EventLog(*(np.concatenate([getattr(log, name) for log in logs]) for name in names))

    def __len__(self) -> int:
        return len(self.t)

    def count_until(self, t: float, *, falling: bool = False) -> int:
        """How many events there are up to t and at t; ``falling`` if the walk goes to smaller t."""
        return int(np.searchsorted(-self.t, -t, side="right") if falling else np.searchsorted(self.t, t, side="right"))

    def places(self, first: Array, t: float) -> Array:
        """The places at t if they were ``first`` at the beginning; at an event, those after it."""
        places, done = first.copy(), self.count_until(t)
        places[self.index[:done]] = self.target[:done]  # of several events of one variable the last counts
        return places

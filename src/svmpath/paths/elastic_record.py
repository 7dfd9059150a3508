"""What moves along an elastic-net path, and what is kept of a walk over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.paths.path import Array
from svmpath.solvers.elastic import Line, Snapshot
from svmpath.solvers.events import EventLog


@dataclass(frozen=True)
class Motion:
    """Which parameter moves, and what the others are.

    Attributes
    ----------
    over : {"lambda1", "lambda2", "ray", "weight"}
    lam1, lam2 : float
        The parameters that stay.
    l1_ratio : float
        For "ray": lambda1 = value * l1_ratio, lambda2 = value * (1 - l1_ratio).
    rows : array of int or None
        For "weight": the samples whose weight is multiplied.
    """

    over: str
    lam1: float = 0.0
    lam2: float = 0.0
    l1_ratio: float = 1.0
    rows: Array | None = None

    def at(self, value: float) -> dict[str, float]:
        """All hyper-parameters at a value."""
        if self.over == "ray":
            mixed = {"lambda1": value * self.l1_ratio, "lambda2": value * (1.0 - self.l1_ratio)}
            return {**mixed, "l1_ratio": self.l1_ratio}
        return {"lambda1": self.lam1, "lambda2": self.lam2, self.over: value}

    def weights(self, s: Array, value: float) -> Array:
        """The sample weights at a value."""
        if self.rows is None:
            return s
        s = s.copy()
        s[self.rows] *= value
        return s

    def line(self, w: Array) -> Line:
        """The line of all values; w are the weights at value one."""
        none, here, unit = np.zeros_like(w), self.at(0.0), self.at(1.0)
        lam1, lam2 = here["lambda1"], here["lambda2"]
        d1, d2 = lam1 - unit["lambda1"], lam2 - unit["lambda2"]
        if self.rows is None:
            return Line(lam1, lam2, d1, d2, w, none)
        w0, dw = w.copy(), none
        w0[self.rows], dw[self.rows] = 0.0, -w[self.rows]
        return Line(lam1, lam2, d1, d2, w0, dw)

    @property
    def is_plain(self) -> bool:
        """Whether lambda1 costs nothing all along."""
        return {"ray": self.l1_ratio == 0.0, "lambda1": False}.get(self.over, self.lam1 == 0.0)


@dataclass(frozen=True, eq=False)
class Record:
    """A walk: the value and the places at its beginning, the line, the events and snapshots, and what it took.

    Attributes
    ----------
    value : float
        The largest, where it begins.
    first : Snapshot
    line : Line
    events : EventLog
        ``extra`` says whether an event is a feature's.
    snapshots : list of Snapshot
    end : float
        The value where it ended.
    perturbation, leaps, null_steps
        As in :class:`ElasticPath`.
    """

    value: float
    first: Snapshot
    line: Line
    events: EventLog
    snapshots: list[Snapshot]
    end: float
    perturbation: float
    leaps: int
    null_steps: int

    def places(self, value: float) -> tuple[Array, Array]:
        """The places of samples and features at a value; at an event, those after it."""
        place, sign = self.first.place.copy(), self.first.sign.copy()
        done = self.events.count_until(value, falling=True)
        index, target, is_feature = self.events.index[:done], self.events.target[:done], self.events.extra[:done]
        place[index[~is_feature]] = target[~is_feature]  # of several events of one the last counts
        sign[index[is_feature]] = target[is_feature]
        return place, sign

    def before(self, value: float) -> Snapshot:
        """The last snapshot before a value."""
        found = self.first
        for point in self.snapshots:
            if point.x[0] < value:
                break
            found = point
        return found

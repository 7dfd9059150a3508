"""What moves along an elastic-net path, and what is kept of a walk over it."""

from __future__ import annotations

from dataclasses import dataclass

from svmpath.losses import Motion
from svmpath.paths.path import Array
from svmpath.solvers.elastic import Line, Snapshot
from svmpath.solvers.events import EventLog


def penalties(motion: Motion, value: float) -> dict[str, float]:
    """All hyper-parameters at a value; on a ray lambda1 = value * l1_ratio and lambda2 = value * (1 - l1_ratio)."""
    if motion.over != "ray":
        return motion.at(value)
    ratio = motion.fixed["l1_ratio"]
    return {"lambda1": value * ratio, "lambda2": value * (1.0 - ratio), "l1_ratio": ratio}


def line(motion: Motion, w: Array) -> Line:
    """The line of all values; w are the weights at value one."""
    here, unit = penalties(motion, 0.0), penalties(motion, 1.0)
    lam1, lam2 = here["lambda1"], here["lambda2"]
    return Line(lam1, lam2, lam1 - unit["lambda1"], lam2 - unit["lambda2"], *motion.weights_along(w))


def is_plain(motion: Motion) -> bool:
    """Whether lambda1 costs nothing all along."""
    plain = {"ray": motion.fixed.get("l1_ratio") == 0.0, "lambda1": False}
    return plain.get(motion.over, motion.fixed.get("lambda1") == 0.0)


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

"""The leave-one-out error of the hinge machine as an exact step function of C.

Without sample i, lambda f(x_i) is piecewise linear in lambda = 1 / C along the path of the other samples. Its signs are
known all along, and the error changes where one of these functions crosses zero. Where the elbow is empty, the offset
is the middle of an interval: each of its ends is the largest or smallest of two linear functions, one per class.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, error, held_out_loss
from svmpath.criteria.held_out import HeldOut
from svmpath.criteria.of_copies import split_copies
from svmpath.paths import JumpPath, Path

Array = np.ndarray

_MOST_PATHS = 2000  # the largest number of paths, one per sample
_SAME = 1e-12  # relative; edges nearer to each other than this are one


@dataclass(frozen=True, repr=False, eq=False)
class StepCurve(Curve):
    """A curve that is known at every value: the errors are constant between two edges.

    Attributes
    ----------
    edges : array of shape (m + 1,)
        The ends of the intervals in which the m values lie, in increasing order.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.Curve : Held-out scores along a path.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath import criteria
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="hinge", span=(0.1, 10.0), gamma=1.0)
    >>> steps = criteria.loo(path, exact=True)
    >>> len(steps.edges) == len(steps.values) + 1, 0 <= steps(0.7) <= 1
    (True, True)
    """

    edges: Array | None = None

    def rescored(self, loss: Any) -> Curve:
        """The curve at its values under another loss, which is not known between them."""
        names = [each.name for each in fields(Curve)]
        return Curve(**{name: getattr(self, name) for name in names}).rescored(loss)

    def __call__(self, value: Any) -> Any:
        """The error rate at any value of the span."""
        assert self.edges is not None
        inside = [self.path.inside(float(v)) for v in np.atleast_1d(value)]
        place = np.clip(np.searchsorted(self.edges, inside, side="right") - 1, 0, len(self.values) - 1)
        errors = self.scores[place]
        return errors if np.ndim(value) else float(errors[0])


class Steps(NamedTuple):
    """Held-out decision values between the edges at which an error comes or goes."""

    edges: Array
    values: Array
    held: HeldOut


def step_curve(path: Path, loss: HeldOutLoss) -> StepCurve:
    """The leave-one-out error at every value of the path."""
    if held_out_loss(loss, path.problem.task) is not error and path.loss.falls_when_left_out:
        raise ValueError("exact=True works for the error rate only, which is a step function; leave loss out.")
    edges, values, held = find_steps(path)
    none = np.zeros(len(values), dtype=int)
    return StepCurve(path, "loo", values, error, held.rows, held.decisions, path.problem.y, none, edges=edges)


@singledispatch
def find_steps(path: Path) -> Steps:
    """Where the leave-one-out errors change; raises an error for paths on which this is not known."""
    raise ValueError(
        f"exact=True works for the error of the hinge machine over C, but this path has {path.loss!r} over "
        f"{path.over}; give values instead."
    )


@find_steps.register
def _(path: JumpPath) -> Steps:
    """By one path per sample."""
    problem = path.problem
    if not path.loss.falls_when_left_out or path.over != "C":
        return find_steps.dispatch(Path)(path)
    if problem.copies is not None:  # by one path for each distinct sample
        small, to_all = split_copies(path)
        edges, values, held = find_steps(small)
        return Steps(edges, values, to_all(held))
    if problem.n > _MOST_PATHS:
        raise ValueError(
            f"exact=True follows a path for every sample and allows at most {_MOST_PATHS} samples, but there are "
            f"{problem.n}; give values instead."
        )
    rows = np.flatnonzero(problem.is_counted())
    profiles = [_profile(path, i) for i in rows.tolist()]
    low, high = sorted(path.span)
    ends = np.array([-1.0 / low, -1.0 / high])
    zeros = []
    for t, v in profiles:  # where a piecewise linear function changes between positive and not
        k = np.flatnonzero((v[1:] > 0) != (v[:-1] > 0))
        zeros.append(t[k] - v[k] * (t[k + 1] - t[k]) / (v[k + 1] - v[k]))
    t = np.sort(np.concatenate(zeros))
    t = t[(t > ends[0]) & (t < ends[1])]
    t = np.concatenate([ends[:1], t, ends[1:]])
    t = t[np.concatenate([[True], np.diff(t) > _SAME * np.abs(t[1:])])]
    t[-1] = ends[1]
    middle = 0.5 * (t[1:] + t[:-1])
    held = np.array([np.interp(middle, *profile) for profile in profiles]).T / -middle[:, None]
    edges = -1.0 / t
    edges[[0, -1]] = low, high
    return Steps(edges, -1.0 / middle, HeldOut(rows, held, np.zeros(len(middle), dtype=int)))


def _profile(path: JumpPath, i: int) -> tuple[Array, Array]:
    """Nodes t = -lambda and lambda f(x_i) there, without sample i; a jump has the same node twice."""
    y, s = path.problem.y, path.problem.s
    if s[i] == 0.0:
        return path.walks.profile(i)
    if not np.any((s > 0) & (y == y[i]) & (np.arange(len(y)) != i)):  # the other class is alone, and f is its label
        t = np.sort([path.path_parameter.t(value) for value in path.span])
        return t, y[i] * t
    return path.without(np.array([i])).walks.profile(i)

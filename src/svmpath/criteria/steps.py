"""The leave-one-out error as an exact step function of C: of the hinge here, of squares in ``steps_of_squares``.

The hinge: without sample i, lambda f(x_i) is piecewise linear in lambda = 1 / C along the path of the other samples.
Its signs are known all along, and the error changes where one of these functions crosses zero. Where the elbow is
empty, the offset is the middle of an interval: each of its ends is the largest or smallest of two linear functions, one
per class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import singledispatch
from typing import Any, NamedTuple, NoReturn

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, error, held_out_loss
from svmpath.criteria.held_out import HeldOut
from svmpath.criteria.of_copies import split_copies
from svmpath.lazy import lazy
from svmpath.paths import JumpPath, Path

Array = np.ndarray

MOST_PATHS = 2000  # the largest number of paths, one per sample
_MOST_NUMBERS = 1 << 28  # held-out values inside all steps
_EQUAL_ERRORS = 1e-12  # error rates nearer to each other than this are one
_SAME = 1e-12  # relative; edges nearer to each other than this are one


@dataclass(frozen=True, repr=False, eq=False)
class StepCurve(Curve):
    """A curve that is known at every value: the errors are constant between two edges.

    Attributes
    ----------
    edges : array of shape (m + 1,)
        The ends of the intervals in which the m values lie, in increasing order. At an edge itself a held-out decision
        value is zero, or jumps.

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
    >>> steps.minima.shape[1], len(steps.minima) <= len(steps.local_minima)  # intervals of C
    (2, True)
    """

    edges: Array | None = None

    @property
    def minima(self) -> Array:
        """All intervals with the smallest error on the span, of shape (k, 2)."""
        ends, errors = self._levels
        return np.column_stack([ends[:-1], ends[1:]])[errors <= errors.min() + _EQUAL_ERRORS]

    @property
    def local_minima(self) -> Array:
        """All intervals with a smaller error than those next to them, of shape (k, 2)."""
        ends, errors = self._levels
        padded = np.concatenate([[np.inf], errors, [np.inf]])
        return np.column_stack([ends[:-1], ends[1:]])[(errors < padded[:-2]) & (errors < padded[2:])]

    @lazy
    def _levels(self) -> tuple[Array, Array]:
        """Intervals with one error each, and these: without edges at which errors change but not their sum."""
        assert self.edges is not None
        changes = np.abs(np.diff(self.scores)) > _EQUAL_ERRORS
        return self.edges[np.concatenate([[True], changes, [True]])], self.scores[np.concatenate([[True], changes])]

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


def step_curve(path: Path, loss: HeldOutLoss, criterion: str, find: Callable[[Path], Steps]) -> StepCurve:
    """The leave-one-out error, or its prediction, at every value of the path."""
    if path.problem.task != "classification":
        refuse_steps(path)
    if held_out_loss(loss, path.problem.task) is not error:
        raise ValueError("exact=True works for the error rate only, which is a step function; leave loss out.")
    if not path.problem.offset and not path.loss.falls_when_left_out:
        raise ValueError(f"exact=True for {path.loss!r} needs an offset, which this path has not: give values instead.")
    edges, values, held = find(path)
    return StepCurve(
        path, criterion, values, error, held.rows, held.decisions, path.problem.y, held.doubts, edges=edges
    )


@singledispatch
def find_steps(path: Path) -> Steps:
    """Where the leave-one-out errors change; raises an error for paths on which this is not known."""
    refuse_steps(path)


@singledispatch
def find_predicted_steps(path: Path) -> Steps:
    """Where the errors of the span prediction change; raises an error for paths on which this is not known."""
    raise ValueError(
        f"exact=True works for the span prediction of the squared hinge over C, but this path has {path.loss!r} over "
        f"{path.over}; give values instead."
    )


def refuse_steps(path: Path) -> NoReturn:
    """Raise an error for a path whose errors are not known as a step function."""
    raise ValueError(
        "exact=True works for the error of classification over C by the hinge, the squared hinge and least squares, "
        f"but this path has {path.loss!r} over {path.over} for {path.problem.task}; give values instead."
    )


def refuse_many(steps: int, n: int) -> None:
    """Raise an error if there are more steps than their held-out values can be kept of."""
    if steps * n > _MOST_NUMBERS:
        raise ValueError(
            f"exact=True found {steps} steps of the error of {n} samples, more than can be kept: give values instead, "
            "or a shorter span."
        )


def steps_of_copies(path: Path, find: Callable[[Path], Steps]) -> Steps:
    """The same where rows repeat, by taking one copy of each sample apart."""
    small, to_all = split_copies(path)
    edges, values, held = find(small)
    return Steps(edges, values, to_all(held))


def steps_jump(path: JumpPath) -> Steps:
    """Of the hinge, by one path per sample."""
    problem = path.problem
    if not path.loss.falls_when_left_out or path.over != "C":
        refuse_steps(path)
    if problem.n > MOST_PATHS:
        raise ValueError(
            f"exact=True follows a path for every sample and allows at most {MOST_PATHS} samples, but there are "
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
    is_last = not np.any((s > 0) & (y == y[i]) & (np.arange(len(y)) != i))
    if is_last and path.problem.offset:  # the other class is alone, and f is its label
        t = np.sort([path.path_parameter.t(value) for value in path.span])
        return t, y[i] * t
    return path.without(np.array([i])).walks.profile(i)

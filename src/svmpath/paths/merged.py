"""Merging repeated rows: one row with the sum of their weights, and solutions for the original rows.

In ``C sum_i s_i loss(y_i, f(x_i)) + 1/2 ||f - b||^2`` rows with the same x and y have the same loss, whatever f is, so
that only the sum of their weights counts: with one row of weight S = sum_i s_i in their place the objective is the same
function of f and b, term by term. The coefficient A of that row is split in proportion,

    alpha_i = A s_i / S,

which keeps f = sum alpha_i k(., x_i) + b, stays in each row's own box (0 to C s_i where A is in 0 to C S), and is the
only solution if alpha is unique. Rows with the same x but another y are not copies and are not merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.gram import Gram
from svmpath.kernels.repeated import group
from svmpath.lazy import lazy
from svmpath.losses import Problem, Solution
from svmpath.paths.made import Made
from svmpath.paths.path import Array, Event, Path
from svmpath.solvers.box_qp import Limit

_PAYS = 0.9  # share of distinct samples up to which they are merged


def find_copies(gram: Gram, labels: Array) -> Array | None:
    """Which rows are the same sample, as numbers from 0 on; None if there are too few copies to be worth merging.

    Rows of a clipped kernel are not merged: the clipped part depends on how often each row occurs.
    """
    if getattr(gram, "clip", False) and gram.kernel.psd is not True:
        return None
    rows = gram.repeats
    return None if rows is None else refine(rows.ids, np.unique(labels, return_inverse=True)[1])


def has_contradictions(gram: Gram, labels: Array) -> bool:
    """Whether most rows occur with several of a few labels."""
    rows = gram.repeats
    if rows is None:
        return False
    classes, codes = np.unique(labels, return_inverse=True)
    seen = len(np.unique(rows.ids.astype(np.int64) * len(classes) + codes))
    return len(classes) < len(rows.first) and seen > 1.5 * len(rows.first)


def refine(copies: Array | None, marks: Array) -> Array | None:
    """The copies that also have equal marks (whole numbers >= 0); None if too few are left to be worth merging."""
    if copies is None:
        return None
    found = group(copies.astype(np.int64) * (int(marks.max(initial=0)) + 1) + marks)
    return None if found is None or len(found.first) > _PAYS * len(copies) else found.ids


def merge(problem: Problem) -> Problem:
    """The problem with one row for all copies of a sample."""
    assert problem.copies is not None
    first = np.unique(problem.copies, return_index=True)[1]
    s = np.bincount(problem.copies, problem.s)
    return replace(problem, gram=problem.gram.take(first), y=problem.y[first], s=s, copies=None)


@dataclass(frozen=True, repr=False, eq=False)
class MergedPath(Path):
    """A path of a problem with repeated rows, which is followed with one row for each distinct sample.

    Attributes
    ----------
    inner : Path
        The path of the merged problem.
    trace : callable
        ``trace(problem, span, made)`` is the path of another problem.
    start : array of shape (n,), optional
        Decision values of a similar machine on the original rows.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(np.vstack([X, X]), np.append(y, y), loss="hinge", gamma=1.0)
    >>> type(path).__name__, path.problem.n, path.inner.problem.n
    ('MergedPath', 120, 60)
    """

    inner: Path
    trace: Callable[..., Path]
    start: Array | None = None

    @property
    def copies(self) -> Array:
        """Which row of the merged problem each row is."""
        assert self.problem.copies is not None
        return self.problem.copies

    @lazy
    def _share(self) -> Array:
        """The share of each row in the coefficient of its merged row."""
        total = self.inner.problem.s[self.copies]
        return np.divide(self.problem.s, total, out=np.zeros(self.problem.n), where=total > 0)

    @property
    def is_exact(self) -> bool:
        """Whether the merged path is."""
        return self.inner.is_exact

    @property
    def breakpoints(self) -> Array:
        """Those of the merged path."""
        return self.inner.breakpoints

    @property
    def record(self) -> Any:
        """The walk of the merged path."""
        return self.inner.record  # type: ignore[attr-defined]

    @property
    def certificate(self) -> float:
        """The largest violation found when optimality of the merged path was measured."""
        return self.inner.certificate  # type: ignore[attr-defined]

    @property
    def jitter(self) -> float:
        """What was added to the diagonal of the merged kernel matrix, in units of its largest entry."""
        return self.inner.jitter  # type: ignore[attr-defined]

    def events(self) -> Iterable[Event]:
        """The changes of place, with one event for every copy of positive weight."""
        members = [rows[self.problem.s[rows] > 0] for rows in self._members]
        for event in self.inner.events():
            for row in members[event.sample]:
                yield event._replace(sample=int(row))

    @lazy
    def _members(self) -> list[Array]:
        order = np.argsort(self.copies, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.copies))[:-1])

    def _solve(self, value: float) -> Solution:
        merged, problem = self.inner(value), self.problem
        if self.over in problem.gram.kernel.parameters:
            problem = problem.at(self.over, value)
        if merged.problem.s is not self.inner.problem.s:  # a path over weights
            before = self.inner.problem.s
            factor = np.divide(merged.problem.s, before, out=np.zeros(len(before)), where=before > 0)
            problem = replace(problem, s=problem.s * factor[self.copies])
        return self.split(merged, problem)

    def split(self, merged: Solution, problem: Problem) -> Solution:
        """The solution for the original rows, from one of the merged problem."""
        return replace(merged, problem=problem, alpha=merged.alpha[self.copies] * self._share)

    def check(self, tol: float = 1e-8) -> None:
        """Raise :class:`svmpath.PathError` if the merged path is not optimal."""
        self.inner.check(tol)

    def without(self, rows: Array) -> Path:
        """The path of the same machine with weight zero for some rows."""
        s = self.problem.s.copy()
        s[rows] = 0.0
        return self.again(replace(self.problem, s=s), self.made.for_weights()).feasible()

    def again(self, problem: Problem, made: Made | None = None) -> Path:
        """The path of another problem with the same parameters."""
        return self.trace(problem, self.span, Made() if made is None else made)

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows at each value."""
        return self.inner.decisions(values)[:, self.copies]

    def around(self, inner: Path) -> MergedPath:
        """The same rows, with another path of the merged problem."""
        gram, parameters = self.problem.gram, inner.gram.kernel.parameters
        moved = [name for name, value in gram.kernel.parameters.items() if parameters[name] != value]
        problem = self.problem
        for name in moved:
            problem = problem.at(name, parameters[name])
        made = Made(merged=inner.made, split=None if moved else self.made.split)  # nothing of another kernel
        return replace(self, problem=problem, inner=inner, span=inner.span, made=made)

    def over_span(self, span: tuple[float, float]) -> MergedPath:
        """The same path over another span."""
        return self.around(self.inner.over_span(span))

    def is_lost_to_rounding(self, values: Array) -> Array:
        """As for the merged path."""
        return self.inner.is_lost_to_rounding(values)

    def start_from(self, other: Path | Solution | Array | None) -> MergedPath:
        """The path that starts from a similar path with the same copies, or from a machine of the original rows."""
        if isinstance(other, Solution):
            alpha = np.bincount(self.copies, other.alpha, self.inner.problem.n)
            return self.around(self.inner.start_from(replace(other, problem=self.inner.problem, alpha=alpha)))
        if isinstance(other, np.ndarray):
            merged = np.empty(self.inner.problem.n)
            merged[self.copies] = other
            return replace(self, inner=self.inner.start_from(merged), start=other)
        if isinstance(other, MergedPath) and np.array_equal(other.copies, self.copies):
            return self.around(self.inner.start_from(other.inner))
        return self

    def known_decisions(self, value: float) -> Array | None:
        """Decision values of the original rows near a value, of the path itself or of the one that was scored."""
        path, rows = self.scored.get("path", (self.inner, self.copies))
        f = path.known_decisions(value)
        return None if f is None else f[rows]

    @lazy
    def scored(self) -> dict[str, tuple[Path, Array]]:
        """The path that a criterion took in place of this one, and its row for each of these."""
        return {}

    def limited(self, limit: Limit) -> MergedPath:
        """The path, which ends at a limit."""
        return self.around(self.inner.limited(limit))

    def followed(self, *, shorten: bool = False) -> MergedPath:
        """The path, with its events computed if it needs them."""
        return self.around(self.inner.followed(shorten=shorten))

    def with_kernel(self, name: str, value: float) -> MergedPath:
        """The path with another value of a kernel parameter."""
        return self.around(self.inner.with_kernel(name, value))

    @property
    def unmerged(self) -> Path:
        """The path of the original problem, without merged rows."""
        return self.again(replace(self.problem, copies=None))


def split_off(problem: Problem) -> tuple[Problem, Array, Array] | None:
    """The problem with one copy of each sample apart from the others, and the row to be left out for each sample.

    Also the original row of each of its rows.

    Leaving out one of m copies of weight w is the same for each of them, and the others may stay merged: two rows, one
    of weight w and one of weight (m - 1) w, of which the first is left out and stands for all m. Copies of weight zero
    are not in the machine and need no second row. None if this is not worthwhile.
    """
    assert problem.copies is not None
    weights = np.unique(problem.s, return_inverse=True)[1]
    alike = group(problem.copies.astype(np.int64) * (int(weights.max()) + 1) + weights)
    if alike is None:
        return None
    is_rest = np.ones(problem.n, dtype=bool)
    is_rest[alike.first] = False
    is_rest &= problem.s > 0
    rows = group(2 * alike.ids + is_rest)
    if rows is None or len(rows.first) > _PAYS * problem.n:
        return None
    small = merge(replace(problem, copies=rows.ids))
    counts = np.bincount(alike.ids)[alike.ids[rows.first]] * ~is_rest[rows.first]
    leader = rows.ids[alike.first][alike.ids]
    return replace(small, stands_for=counts), leader, rows.first

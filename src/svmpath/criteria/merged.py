"""Criteria on paths whose repeated rows are merged: told for the rows as they were given.

Leave-one-out takes one copy of a sample apart from the others (``paths.merged.split_off``) and asks the criterion about
that smaller problem; the answer for the copy is the answer for each. Bounds look at all rows one by one and are asked
about the problem as it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from svmpath.criteria.curve import Curve, Screened
from svmpath.paths import JumpPath, KernelPath, MergedPath, Path
from svmpath.paths.merged import split_off

Array = np.ndarray
Criterion = TypeVar("Criterion", bound=Callable[..., Any])


def by_split_copies(criterion: Criterion) -> Criterion:
    """The criterion, which leaves out one sample at a time, also for merged paths."""

    @wraps(criterion)
    def on_any_path(path: Path, *args: Any, **options: Any) -> Any:
        if not isinstance(path, MergedPath):
            return criterion(path, *args, **options)
        is_frozen = criterion.__name__ in ("alo", "span") or options.get("max_events") is not None
        split = split_off(path.problem) if _is_split_alike(path, is_frozen) else None
        if split is None:
            return replace(criterion(path.unmerged, *args, **options), path=path)
        problem, leader = split
        known = path.made.split
        small = path.again(problem, None if known is None else known.shared)
        curve = criterion(small, *args, **options)
        path.made.split = small
        return _expand(curve, path, leader)

    return cast(Criterion, on_any_path)


def _is_split_alike(path: MergedPath, is_frozen: bool) -> bool:
    """Whether the answer is the same for all copies of a sample.

    Not where their weights move, not all alike. And not with places that are frozen, or are after some events, on a
    path with an elbow: there the copies share a coefficient in any way that fits their boxes, one of them can be at
    zero and another at its limit, and to freeze them there has other consequences.
    """
    return path.over != "weight" and not (is_frozen and isinstance(path.inner, JumpPath | KernelPath))


def by_all_rows(criterion: Criterion) -> Criterion:
    """The criterion, asked about the problem as it was given where a path is merged."""

    @wraps(criterion)
    def on_any_path(path: Path, *args: Any, **options: Any) -> Any:
        if not isinstance(path, MergedPath):
            return criterion(path, *args, **options)
        found = criterion(path.unmerged, *args, **options)
        return replace(found, path=path) if hasattr(found, "path") else found

    return cast(Criterion, on_any_path)


@dataclass(frozen=True)
class _Copied:
    """Held-out decision values of some samples, for others that are their copies."""

    curve: Curve
    places: Array

    def __call__(self) -> Array:
        return self.curve.held[:, self.places]


def _expand(curve: Curve, path: MergedPath, leader: Array) -> Curve:
    """The curve for all samples from one on which each is answered for by the row ``leader``."""
    places = np.searchsorted(curve.rows, leader)
    source = _Copied(curve, places) if callable(curve.source) else curve.source[:, places]
    seen = curve.screened
    screened = None if seen is None else Screened(seen.errors[:, places], seen.estimate[:, places])
    rows, target = np.arange(path.problem.n), path.problem.y
    return replace(curve, path=path, rows=rows, source=source, target=target, screened=screened)

"""Criteria along a path over a parameter of the kernel: value by value, on the machine's path over C there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, Screened, check_values
from svmpath.paths import OverKernel, Path

Array = np.ndarray


@dataclass(frozen=True)
class _Joined:
    """An attribute of several curves, one after another; computed when first asked for."""

    curves: list[Curve]
    name: str

    def __call__(self) -> Array:
        return np.concatenate([getattr(curve, self.name) for curve in self.curves])


def along_kernel(path: OverKernel, values: Any, criterion: Callable[[Path, Array], Curve]) -> Curve:
    """One curve from a criterion that is asked at each value about the path over C that stands still there."""
    values = check_values(path, values)
    still = [path.over_C(float(value)) for value in values]
    curves = [criterion(there, np.array([there.span[0]])) for there in still]
    first, screened = curves[0], [curve.screened for curve in curves if curve.screened is not None]
    seen = None
    if len(screened) == len(curves):
        seen = Screened(np.vstack([one.errors for one in screened]), np.vstack([one.estimate for one in screened]))
    held, doubts = _Joined(curves, "held"), _Joined(curves, "doubtful")
    return Curve(path, first.criterion, values, first.loss, first.rows, held, first.target, doubts, seen)

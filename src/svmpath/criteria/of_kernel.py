"""Held-out values along a path over a parameter of the kernel: value by value, on the machine's path over C there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmpath.criteria.held_out import HeldOut, join, leave_folds_out, leave_one_out, predict_left_out
from svmpath.paths import OverKernel

Array = np.ndarray


def along_kernel(function: Callable[..., HeldOut]) -> Callable[..., HeldOut]:
    """The function, asked at each value about the path over C that stands still there."""

    def value_by_value(path: OverKernel, values: Array, *args: Any, **options: Any) -> HeldOut:
        there = [path.over_C(float(value)) for value in values]
        return join([function(each, np.array([each.span[0]]), *args, **options) for each in there])

    return value_by_value


leave_one_out_over_kernel = along_kernel(leave_one_out)
predict_left_out_over_kernel = along_kernel(predict_left_out)
leave_folds_out_over_kernel = along_kernel(leave_folds_out)

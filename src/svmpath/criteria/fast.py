"""Which kinds of path have something better than ``path.without(rows)`` and ``path.decisions(values)``.

``tests/criteria/test_fast.py`` compares them with the general form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from svmpath.criteria.conformal import leave_one_out_machines
from svmpath.criteria.held_out import leave_folds_out, leave_one_out, predict_left_out
from svmpath.criteria.of_closed import leave_folds_out_closed, leave_one_out_closed, leave_one_out_machines_closed
from svmpath.criteria.of_copies import (
    leave_folds_out_of_copies,
    leave_one_out_machines_of_copies,
    leave_one_out_of_copies,
    predict_left_out_of_copies,
    unless_copies,
)
from svmpath.criteria.of_elastic import leave_one_out_elastic, predict_left_out_elastic
from svmpath.criteria.of_full_kernel import leave_folds_out_full
from svmpath.criteria.of_joint import leave_one_out_joint, predict_left_out_joint
from svmpath.criteria.of_jump import leave_one_out_jump, predict_left_out_jump
from svmpath.criteria.of_kernel import (
    leave_folds_out_over_kernel,
    leave_one_out_over_kernel,
    predict_left_out_over_kernel,
)
from svmpath.criteria.of_march import leave_one_out_march, predict_left_out_march
from svmpath.criteria.of_newton import predict_left_out_newton
from svmpath.criteria.of_nodes import leave_one_out_nodes, predict_left_out_nodes
from svmpath.criteria.of_samples import predict_left_out_samples
from svmpath.criteria.steps import find_predicted_steps, find_steps, steps_jump, steps_of_copies
from svmpath.criteria.steps_of_squares import predicted_steps_march, steps_closed, steps_march
from svmpath.paths import (
    ClosedFormPath,
    ElasticPath,
    FullKernelPath,
    JumpPath,
    MarchPath,
    NewtonKernelPath,
    NodePath,
    OverKernel,
    Path,
    SamplePath,
)
from svmpath.paths.joint import JointPath
from svmpath.paths.newton_path import NewtonPath

FAST: dict[Any, dict[type, Callable[..., Any]]] = {
    leave_one_out: {
        Path: leave_one_out.dispatch(object),
        ClosedFormPath: leave_one_out_closed,
        MarchPath: leave_one_out_march,
        JumpPath: leave_one_out_jump,
        NodePath: leave_one_out_nodes,
        ElasticPath: leave_one_out_elastic,
        JointPath: leave_one_out_joint,
        OverKernel: leave_one_out_over_kernel,
    },
    predict_left_out: {
        MarchPath: predict_left_out_march,
        NewtonPath: predict_left_out_newton,
        JointPath: predict_left_out_joint,
        SamplePath: predict_left_out_samples,
        JumpPath: predict_left_out_jump,
        NodePath: predict_left_out_nodes,
        ElasticPath: predict_left_out_elastic,
        OverKernel: predict_left_out_over_kernel,
    },
    leave_folds_out: {
        ClosedFormPath: leave_folds_out_closed,
        NewtonKernelPath: leave_folds_out_over_kernel,
    },
    leave_one_out_machines: {
        ClosedFormPath: leave_one_out_machines_closed,
    },
}

# The same for paths whose rows repeat, whatever their kind.
COPIES: dict[Any, Callable[..., Any]] = {
    leave_one_out: leave_one_out_of_copies,
    predict_left_out: predict_left_out_of_copies,
    leave_folds_out: leave_folds_out_of_copies,
    leave_one_out_machines: leave_one_out_machines_of_copies,
}

for function, table in FAST.items():
    for kind, fast in table.items():
        function.register(kind, unless_copies(COPIES[function], fast))

leave_folds_out.register(FullKernelPath, leave_folds_out_full)  # of copies, too

# What has no general form.
STEPS: dict[Any, dict[type, Callable[..., Any]]] = {
    find_steps: {JumpPath: steps_jump, ClosedFormPath: steps_closed, MarchPath: steps_march},
    find_predicted_steps: {MarchPath: predicted_steps_march},
}

for function, table in STEPS.items():
    for kind, steps in table.items():
        function.register(kind, unless_copies(partial(steps_of_copies, find=function), steps))

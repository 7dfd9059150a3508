"""The target: which task it means, and what is refused."""

import numpy as np
import pytest

from svmpath.datasets import infer_task, prepare_target
from svmpath.exceptions import DataError


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array(["u", "v"], dtype=object), "classification"),
        (np.array([True, False]), "classification"),
        (np.array([0.5, 1.5, 0.5]), "classification"),
        (np.arange(10.0), "classification"),
        (np.arange(11.0), "regression"),
        (np.array([0.5, 1.0, 2.0]), "regression"),
    ],
)
def test_infer_task(y, task):
    assert infer_task(y) == task


def test_prepared_targets():
    y, task = prepare_target(np.array([1.0, -1.0, 1.0]))
    assert (y.dtype, task) == (np.int64, "classification")
    y, task = prepare_target(np.array([0.5, 1.5, 0.5]))
    assert (y.tolist(), task) == (["0.5", "1.5", "0.5"], "classification")
    y, task = prepare_target(np.array([True, False, True]))
    assert (y.dtype, task) == (bool, "classification")
    y, task = prepare_target(np.repeat(np.arange(20.0), 2), "classification")
    assert len(np.unique(y)) == 20


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (np.ones(3), None, "only one class: every row has the target value 1.0"),
        (np.array(["u", "u"], dtype=object), None, "only one class: every row has the target value 'u'"),
        (np.full(3, 2.5), "regression", "the target is constant: every row has the target value 2.5"),
        (np.array(["u", "v"], dtype=object), "regression", "regression needs numbers in the target, but it holds 'u'"),
        (np.array([True, False]), "regression", "regression needs numbers in the target, but it holds False"),
        (np.linspace(0, 1, 30), "classification", "30 different fractional numbers; use --task regression"),
        (np.arange(5.0), None, "every row has a class of its own; use --task regression"),
        (np.array(["C1", "C2", "C3"], dtype=object), None, "every row has a class of its own; choose another target"),
    ],
)
def test_targets_that_are_refused(y, task, message):
    with pytest.raises(DataError, match=message):
        prepare_target(y, task)

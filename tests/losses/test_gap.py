"""The duality gap means something where the objective is zero, and is the plain quotient where it is not."""

from dataclasses import replace

import numpy as np
import pytest

import svmpath


@pytest.mark.parametrize("seed", range(8))
def test_the_gap_at_the_largest_epsilon_is_small(seed):
    # Nobody is outside of the tube and the objective is zero: any rounding used to be "1 to 6.7".
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", over="epsilon", C=float(10.0 ** rng.uniform(-3, 3)))
    for share in (1.0, 1.0 - 1e-12, 1.0 - 1e-9, 1.0 - 1e-6, 0.999, 0.5):
        assert path(share * path.span[0]).gap < 1e-9


def test_a_machine_that_is_wrong_next_to_a_zero_objective_has_a_large_gap():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", over="epsilon", C=1.0)
    right = path(path.span[0])
    wrong = replace(right, b=right.b + 1e-3 * np.ptp(y))
    assert right.gap < 1e-9
    assert wrong.gap > 1e-2


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "least_squares"])
def test_a_single_class_leaves_no_gap(loss):
    X = np.random.default_rng(0).normal(size=(20, 2))
    y, s = np.where(np.arange(20) < 10, 1.0, -1.0), np.where(np.arange(20) < 10, 1.0, 0.0)
    path = svmpath.trace(X, y, loss=loss, span=(0.1, 10.0), sample_weight=s)
    for C in (0.1, 1.0, 10.0):
        assert path(C).gap < 1e-9


@pytest.mark.parametrize(("loss", "C"), [("hinge", 1.0), ("hinge", 100.0), ("epsilon_insensitive", 10.0)])
def test_elsewhere_it_is_the_gap_over_the_primal_objective(loss, C):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=40)
    y = np.sign(y) if loss == "hinge" else y
    right = svmpath.trace(X, y, loss=loss, span=(0.1, 1000.0))(C)
    near = replace(right, alpha=0.99 * right.alpha, b=right.b + 0.01)
    f, a = near.fitted, np.abs(near.alpha)
    if loss == "hinge":
        losses, dual = C * np.maximum(1.0 - y * f, 0.0).sum(), a.sum()
    else:
        losses, dual = C * np.maximum(np.abs(y - f) - 0.1, 0.0).sum(), near.alpha @ y - 0.1 * a.sum()
    penalty = 0.5 * near.alpha @ (f - near.b)
    # alpha still sums to zero, so that the dual objective is that of a feasible point
    np.testing.assert_allclose(near.gap, (losses + penalty - (dual - penalty)) / (losses + penalty), rtol=1e-6)
    assert near.gap > 1e-5


def test_constant_targets_without_a_tube_have_no_gap():
    X = np.random.default_rng(0).normal(size=(10, 2))
    path = svmpath.trace(X, np.full(10, 0.1), loss="epsilon_insensitive", epsilon=0.0, task="regression")
    assert path(1.0).gap < 1e-9

"""Quick leave-one-out of least squares in features, against plain refits and against the exact criterion."""

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.solvers.ridge import press_residuals
from tests import reference

rng = np.random.default_rng(0)
N = 25
Z = rng.normal(size=(N, 4)) + 3.0  # far from the origin: the offset must take that up
Y = np.column_stack([Z[:, 0] - 1.0 + 0.3 * rng.normal(size=N), np.sign(Z[:, 1] - 3.0), np.full(N, 2.0)])
C = np.array([1e-3, 0.5, 20.0, 1e5])
WEIGHTS = rng.uniform(0.2, 3.0, size=N)


@pytest.mark.parametrize("s", [np.ones(N), WEIGHTS], ids=["unit", "weights"])
def test_residuals_are_those_of_plain_refits(s):
    found = press_residuals(Z, Y, s, C)
    assert found.shape == (N, len(C), Y.shape[1])
    for m, value in enumerate(C):
        for k in range(Y.shape[1]):
            held = reference.leave_one_out(Z @ Z.T, Y[:, k], s, value)
            np.testing.assert_allclose(found[:, m, k], Y[:, k] - held, atol=1e-5)


def test_a_constant_target_leaves_nothing():
    np.testing.assert_allclose(press_residuals(Z, Y, WEIGHTS, C)[:, :, 2], 0.0, atol=1e-9)


def test_residuals_are_those_of_press():
    path = svmpath.trace(
        Z, Y[:, 0], loss="least_squares", kernel="linear", sample_weight=WEIGHTS, span=(1e-3, 1e5), task="regression"
    )
    curve = criteria.press(path, C)
    found = press_residuals(Z, Y[:, :1], WEIGHTS, C)[:, :, 0]
    np.testing.assert_allclose(Y[:, 0] - curve.decisions, found.T, atol=1e-6)


def test_features_that_are_combinations_of_others_change_nothing():
    twice = np.hstack([Z, Z]) / np.sqrt(2.0)
    np.testing.assert_allclose(press_residuals(twice, Y, WEIGHTS, C), press_residuals(Z, Y, WEIGHTS, C), atol=1e-7)


def test_a_sample_that_determines_a_feature_has_a_finite_residual():
    """Its leverage tends to one; without it the feature is unknown, and stays out of the machine."""
    alone = np.zeros((N, 1))
    alone[3] = 1.0
    found = press_residuals(np.hstack([Z, alone]), Y[:, :1], np.ones(N), C)
    assert np.isfinite(found).all()
    plain = press_residuals(np.delete(Z, 3, axis=0), np.delete(Y[:, :1], 3, axis=0), np.ones(N - 1), C)
    assert plain.shape[0] == N - 1
    held = reference.leave_one_out(Z @ Z.T, Y[:, 0], np.ones(N), 0.5)
    np.testing.assert_allclose(Y[3, 0] - found[3, 1, 0], held[3], atol=1e-6)


@pytest.mark.parametrize("features", [Z[:, :0], np.ones((N, 2))], ids=["none", "constant"])
def test_without_features_the_mean_of_the_others_is_left(features):
    found = press_residuals(features, Y, WEIGHTS, C)
    share = WEIGHTS / WEIGHTS.sum()
    expected = (Y - share @ Y) / (1.0 - share)[:, None]
    np.testing.assert_allclose(found, np.repeat(expected[:, None], len(C), axis=1), atol=1e-12)

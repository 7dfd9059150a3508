"""Least squares at single values, from a factor each: against the spectrum that serves all values."""

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.criteria import leave_one_out
from svmpath.solvers.samples import OneValue
from svmpath.solvers.spectral import decompose_dense
from tests import reference

rng = np.random.default_rng(0)
N = 30
X = rng.normal(size=(N, 2))
Y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=N)
WEIGHTS = {
    "unit": np.ones(N),
    "weights": rng.uniform(0.1, 3.0, size=N),
    "zeros": np.where(np.arange(N) % 5 == 0, 0.0, rng.uniform(0.5, 2.0, size=N)),
}
VALUES = np.array([0.01, 300.0, 2.0])


@pytest.mark.parametrize("mu", [1e3, 0.5, 1e-4])
@pytest.mark.parametrize("name", ["unit", "weights"])
@pytest.mark.parametrize("gamma", [0.05, 5.0])
def test_a_factor_tells_what_the_spectrum_tells(gamma, name, mu):
    K, s, mus = reference.rbf(X, X, gamma), WEIGHTS[name], np.array([mu])
    one, spectrum = OneValue(K.copy(), s, mu), decompose_dense(K, s)
    assert one.is_regular
    z = np.sqrt(s) * Y
    np.testing.assert_allclose(one.residuals(z, mus), spectrum.residuals(z, mus), atol=1e-8)
    np.testing.assert_allclose(one.slack_diag(mus), spectrum.slack_diag(mus), rtol=1e-6)


@pytest.mark.parametrize("name", ["unit", "weights"])
def test_residuals_are_those_of_the_bordered_system(name):
    s, C = WEIGHTS[name], 2.0
    K = reference.rbf(X, X, 1.0)
    alpha, b = reference.fit(K, Y, s, C)
    root = np.sqrt(s)
    found = OneValue(K.copy(), s, 0.5 / C).residuals(root * Y, np.array([0.5 / C]))[:, 0] / root
    np.testing.assert_allclose(found, Y - K @ alpha - b, atol=1e-9)


def test_a_matrix_without_a_factor_says_so():
    K = np.ones((4, 4)) - 5.0 * np.eye(4)
    assert not OneValue(K, np.ones(4), 1e-3).is_regular


def path_of(name, y=Y, **options):
    s = WEIGHTS[name]
    return svmpath.trace(
        X, y, loss="least_squares", gamma=1.0, sample_weight=s, span=(1e-3, 1e6), task="regression", **options
    )


@pytest.mark.parametrize("name", WEIGHTS)
def test_few_values_are_held_out_like_many(name):
    few, many = path_of(name), path_of(name)
    assert many.spectrum is not None  # made before anything is asked: no factors are made then
    ours, theirs = leave_one_out(few, VALUES), leave_one_out(many, VALUES)
    assert sorted(few.store.of_weights.factors) == sorted(VALUES)
    assert few.store.of_weights.spectrum is None
    assert not many.store.of_weights.factors
    ours, theirs = (each.decisions() if callable(each.decisions) else each.decisions for each in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, atol=1e-8)
    K = reference.rbf(X, X, 1.0)
    for k, C in enumerate(VALUES):
        np.testing.assert_allclose(ours[k], reference.leave_one_out(K, Y, WEIGHTS[name], C), atol=1e-8)


def test_pieces_are_one_per_value_only_while_there_are_few():
    path = path_of("unit")
    assert [piece.C.tolist() for piece in path.few_pieces(VALUES)] == [[0.01], [300.0], [2.0]]
    many = path_of("unit")
    (piece,) = many.few_pieces(np.geomspace(0.01, 100, 9))
    assert len(piece.C) == 9
    low = path_of("unit", rank=5, random_state=0)
    (piece,) = low.few_pieces(VALUES)
    assert len(piece.C) == 3


def test_near_is_the_machine_of_a_factor():
    path = path_of("weights")
    assert path.known_decisions(2.0) is None
    criteria.press(path, VALUES)
    np.testing.assert_allclose(path.known_decisions(2.0), path(2.0).fitted, atol=1e-9)
    assert path_of("zeros").known_decisions(2.0) is None


def test_factors_are_not_saved_with_a_path():
    import pickle

    path = path_of("unit")
    criteria.press(path, VALUES)
    again = pickle.loads(pickle.dumps(path))
    assert not again.store.of_weights.factors
    np.testing.assert_allclose(again(2.0).fitted, path(2.0).fitted, atol=1e-12)

"""The spectrum's three forms (full, thin, identity) against the bordered system they stand for."""

import numpy as np
import pytest

from svmpath.solvers.spectral import decompose_dense, decompose_factor
from tests import reference

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
MU = np.array([1e-4, 0.05, 3.0])


def slack_matrix(K, s, mu):
    """B(mu) from the inverse of the bordered matrix: mu R^-1 G R^-1."""
    G = np.linalg.inv(reference.bordered(K, s, 0.5 / mu))[:N, :N]
    root = np.sqrt(s)
    return mu * G / root[:, None] / root


def matrices():
    rough = reference.rbf(X, X, 50.0)
    smooth = reference.rbf(X, X, 1e-3)
    far = reference.rbf(1e3 * X, 1e3 * X, 1.0)
    indefinite = np.tanh(X @ X.T - 0.5)
    rank_one = np.outer(X[:, 0], X[:, 0])
    return {"rough": rough, "smooth": smooth, "identity": far, "indefinite": indefinite, "rank_one": rank_one}


EXPECTED = {"rough": "full", "smooth": "thin", "identity": "identity", "indefinite": "full", "rank_one": "thin"}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", EXPECTED)
def test_every_form_is_the_bordered_system(name, weighted):
    K = matrices()[name]
    s = RNG.exponential(size=N) + 0.1 if weighted else np.ones(N)
    spectrum = decompose_dense(K, s)
    form = "identity" if spectrum.rest_value else "full" if spectrum.is_full else "thin"
    assert form == ("full" if weighted and name == "identity" else EXPECTED[name])
    z = RNG.normal(size=N)
    residuals, diagonal = spectrum.residuals(z, MU), spectrum.slack_diag(MU)
    rows = np.array([3, 9, 27, 28])
    for j, mu in enumerate(MU):
        B = slack_matrix(K, s, mu)
        tol = 1e-7 if name == "indefinite" else 1e-9  # an indefinite K + mu can be nearly singular
        np.testing.assert_allclose(residuals[:, j], B @ z, atol=tol * np.abs(B).max())
        np.testing.assert_allclose(diagonal[:, j], np.diag(B), atol=tol * np.abs(B).max())
        np.testing.assert_allclose(spectrum.slack_block(rows, mu), B[np.ix_(rows, rows)], atol=tol * np.abs(B).max())


def test_factor_equals_dense():
    Z = RNG.normal(size=(N, 5))
    s = RNG.exponential(size=N) + 0.1
    z = RNG.normal(size=N)
    low, dense = decompose_factor(Z, s), decompose_dense(Z @ Z.T, s)
    np.testing.assert_allclose(low.residuals(z, MU), dense.residuals(z, MU), atol=1e-9)
    np.testing.assert_allclose(low.slack_diag(MU), dense.slack_diag(MU), atol=1e-9)


def test_a_factor_wider_than_the_centred_space_is_cut():
    Z = RNG.normal(size=(6, 9))
    spectrum = decompose_factor(Z, np.ones(6))
    assert len(spectrum.values) == 5
    assert spectrum.is_full


def test_small_mu_keeps_its_digits():
    # One minus the leverage is about mu / lambda here; formed as a difference it would have no digit left.
    K = reference.rbf(X, X, 50.0)
    mu = 1e-14
    slack = decompose_dense(K, np.ones(N)).slack_diag(np.array([mu]))[:, 0] / mu
    G = np.linalg.inv(reference.bordered(K, np.ones(N), 0.5 / mu))[:N, :N]
    np.testing.assert_allclose(slack, np.diag(G), rtol=1e-6)


@pytest.mark.parametrize("Z", [np.ones((7, 1)), np.column_stack([np.ones(7), 1e-9 * np.arange(7.0)])])
def test_a_factor_that_centring_leaves_empty(Z):
    # What is left is rounding: it must not be blown up to a direction of its own.
    s = np.arange(1.0, 8.0)
    spectrum = decompose_factor(Z, s)
    np.testing.assert_allclose(spectrum.Q.T @ spectrum.v, 0.0, atol=1e-14)
    B = slack_matrix_of(Z @ Z.T, s, 0.3)
    np.testing.assert_allclose(spectrum.slack_diag(np.array([0.3]))[:, 0], np.diag(B), atol=1e-12)


def slack_matrix_of(K, s, mu):
    n = len(s)
    G = np.linalg.inv(reference.bordered(K, s, 0.5 / mu))[:n, :n]
    return mu * G / np.sqrt(np.outer(s, s))


def test_an_indefinite_matrix_is_not_taken_for_one_of_low_rank():
    # Its pivots end after one column with nothing left on the diagonal, and yet they do not explain it.
    K = np.zeros((6, 6))
    K[0, 0] = K[1, 2] = K[2, 1] = 1.0
    spectrum = decompose_dense(K, np.ones(6))
    B = slack_matrix_of(K, np.ones(6), 3.0)
    np.testing.assert_allclose(spectrum.slack_diag(np.array([3.0]))[:, 0], np.diag(B), atol=1e-12)

"""The squared hinge's system in the samples against the same system in the features."""

from dataclasses import replace

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.datasets import twonorm
from svmpath.solvers import samples
from svmpath.solvers.feature_newton import ActiveSystem, Factored, FewSamples
from svmpath.solvers.pieces import SQUARED_HINGE
from tests.speed import each_once

X, Y = twonorm(80, 0)
S = np.where(np.arange(80) % 3, 1.0, 2.5)


def rows(gamma, s=None, shift=0.0):
    return svmpath.trace(X + shift, Y, loss="squared_hinge", gamma=gamma, sample_weight=s).rows


@each_once
@pytest.mark.parametrize("s", [None, S], ids=["plain", "weighted"])
@pytest.mark.parametrize("gamma", [0.003, 0.05, 1.0])
@pytest.mark.parametrize("size", [1, 2, 30, 80])
@pytest.mark.parametrize("lam", [1e4, 1.0, 1e-4])
def test_theta_and_leverages_are_those_of_the_features(lam, size, gamma, s):
    data = rows(gamma, s)
    E = np.sort(np.random.default_rng(size).choice(80, size, replace=False))
    few, features = FewSamples(data, E, lam), Factored.at(*data.moments(E), lam)
    theta = features.solve()
    np.testing.assert_allclose(data.A @ few.solve(), data.A @ theta, atol=1e-9)
    np.testing.assert_allclose(few.slack_diag(data, E[::2]), features.slack_diag(data, E[::2]), atol=1e-9)
    np.testing.assert_allclose(few.features.half(data.A), features.half(data.A))
    np.testing.assert_allclose(few.solve(few.features.c), theta)


@pytest.mark.parametrize("gamma", [0.003, 1.0, 1e4])
def test_the_spectrum_gives_what_the_factor_gives(gamma, monkeypatch):
    data, every = rows(gamma), np.arange(80)
    factored = {lam: FewSamples(data, every, lam) for lam in (1e4, 1.0, 1e-4)}
    monkeypatch.setattr(samples, "_PAYS", 0)
    for lam, plain in factored.items():
        spectral = FewSamples(data, every, lam)
        assert isinstance(spectral._system, samples.SpectralSystem)
        np.testing.assert_allclose(data.A @ spectral.solve(), data.A @ plain.solve(), atol=1e-9)
        np.testing.assert_allclose(
            spectral.slack_diag(data, every), plain.slack_diag(data, every), rtol=1e-7, atol=1e-12
        )


def test_a_far_away_origin_costs_no_digits():
    path = svmpath.trace(X + 1e4, Y, loss="squared_hinge", kernel="linear")
    near = svmpath.trace(X, Y, loss="squared_hinge", kernel="linear")
    np.testing.assert_allclose(path(1.0)(X + 1e4), near(1.0)(X), atol=1e-6)


def test_a_system_without_a_factor_is_solved_in_the_features():
    data = rows(0.05)
    broken = replace(data, matrix=samples.KernelMatrix(-data.matrix.K))
    E = np.arange(80) < 20
    assert isinstance(ActiveSystem(SQUARED_HINGE, broken).factor(E, 1e-6), Factored)
    assert isinstance(ActiveSystem(SQUARED_HINGE, data).factor(E, 1e-6), FewSamples)


def test_equal_rows_and_a_C_that_adds_nothing_to_them():
    K, y = np.ones((4, 4)) + np.kron(np.eye(2), 1e6 * np.ones((2, 2))), np.array([1.0, 1.0, -1.0, -1.0])
    u = samples.balanced(K, y, np.ones(4), 1e30)
    left = y - K @ u
    np.testing.assert_allclose(left, left.mean(), atol=1e-9)
    assert abs(u.sum()) < 1e-15


def test_the_path_is_that_of_the_same_kernel_in_low_rank():
    whole = svmpath.trace(X, Y, loss="squared_hinge", gamma=0.05, span=(1e-6, 1e6))
    low = svmpath.trace(X, Y, loss="squared_hinge", gamma=0.05, span=(1e-6, 1e6), rank=80)
    values = np.geomspace(1e-6, 1e6, 25)
    np.testing.assert_allclose(criteria.span(whole, values).held, criteria.span(low, values).held, atol=1e-6)
    np.testing.assert_array_equal(
        criteria.span(whole, values, screen=True).scores, criteria.span(whole, values, screen=False).scores
    )

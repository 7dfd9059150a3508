"""One-class machines on many rows in low rank, by an interior point method, beside exact paths."""

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.exceptions import PathError
from svmpath.paths import InteriorPath, JumpPath
from svmpath.solvers.box_features import minimise_in_box

NUS = np.array([0.893, 0.313, 0.053])  # no whole number of samples: rho is unique


@pytest.fixture
def many(monkeypatch):
    """Every path in low rank is by interior points."""
    monkeypatch.setattr("svmpath.paths.trackers.exact_is_cheaper", lambda n, rank: False)


def rows(n=150, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def weights(n=150):
    s = np.random.default_rng(1).exponential(size=n)
    s[::7] = 0.0
    return s


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("repeats", [1, 2])
def test_machines_are_those_of_the_exact_path(monkeypatch, weighted, repeats):
    X = np.repeat(rows(), repeats, axis=0)
    options = {"loss": "one_class", "gamma": 0.3, "rank": 20, "sample_weight": weights(len(X)) if weighted else None}
    exact = svmpath.trace(X, **options)
    monkeypatch.setattr("svmpath.paths.trackers.exact_is_cheaper", lambda n, rank: False)
    path = svmpath.trace(X, **options)
    assert (type(exact), type(path)) == (JumpPath, InteriorPath)
    assert not path.is_exact
    assert list(path.events()) == []
    path.check(1e-6)
    for nu in NUS:
        np.testing.assert_allclose(path(nu).fitted, exact(nu).fitted, atol=2e-6)
        assert path(nu).gap < 1e-6
        assert path(nu).alpha.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.all(path(nu).alpha <= path(nu).loss.limits(path(nu)) * (1 + 1e-12))
    np.testing.assert_allclose(path(1.0).fitted, exact(1.0).fitted, atol=1e-9)
    few = set(exact(0.05).support) ^ set(path(0.05).support)
    assert len(few) <= 0.02 * len(X)


def test_folds_are_those_of_the_exact_path(monkeypatch):
    options = {"loss": "one_class", "gamma": 0.3, "rank": 20}
    exact = criteria.kfold(svmpath.trace(rows(), **options), NUS, cv=3)
    monkeypatch.setattr("svmpath.paths.trackers.exact_is_cheaper", lambda n, rank: False)
    found = criteria.kfold(svmpath.trace(rows(), **options), NUS, cv=3)
    np.testing.assert_allclose(found.decisions, exact.decisions, atol=5e-6)


def test_the_full_kernel_has_an_exact_path(many):
    assert type(svmpath.trace(rows(), loss="one_class")) is JumpPath


@pytest.mark.parametrize("seed", range(5))
def test_the_interior_point_method_beside_a_convex_programme(seed):
    import cvxpy as cp

    from tests.reference_qp import solve

    rng = np.random.default_rng(seed)
    Z, u = rng.normal(size=(80, 5)) + 1.0, rng.exponential(size=80) + 0.01
    m = float(rng.uniform(0.01, 0.99) * u.sum())
    found = minimise_in_box(Z, u, m, 1e-10)
    x = cp.Variable(80)
    problem = solve(0.5 * cp.sum_squares(Z.T @ x), [x >= 0, x <= u, cp.sum(x) == m])
    assert 0.5 * np.sum((Z.T @ found.x) ** 2) == pytest.approx(problem.value, rel=1e-7, abs=1e-7)
    assert found.x.sum() == pytest.approx(m, rel=1e-12)
    assert np.all((found.x > 0) & (found.x < u))


def test_what_cannot_be_reached_is_said():
    with pytest.raises(PathError, match="interior point method"):
        minimise_in_box(np.random.default_rng(0).normal(size=(50, 3)) + 2.0, np.ones(50), 5.0, 1e-30)


def test_the_choice_by_the_number_of_rows():
    X = np.random.default_rng(0).normal(size=(2100, 2))
    path = svmpath.trace(X, loss="one_class", gamma=0.5, rank=20)
    assert type(path) is InteriorPath
    outside = np.mean(path(0.1).fitted < -1e-7)
    assert 0.085 < outside <= 0.1

"""Ding & Liao's Algorithm 1, written from its own formulas, against a path in low rank."""

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.gram import Nystroem
from tests import reference

N, GAMMA = 200, 0.1
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.2 * RNG.normal(size=N) > 0, 1.0, -1.0)


def algorithm_1(K, y, rows, k, mu):
    """Steps 1 to 5, with the sum of nu (not of y) in step 5."""
    C, W = K[:, rows], K[np.ix_(rows, rows)]
    U, sigma, _ = np.linalg.svd(W)
    V = C @ U[:, :k] @ np.diag(1 / np.sqrt(sigma[:k]))
    z = np.column_stack([np.ones(len(y)), y])
    t = np.linalg.solve(mu * np.eye(k) + V.T @ V, V.T @ z)
    u = (z - V @ t) / mu
    rho, nu = u.T
    b = nu.sum() / rho.sum()
    return nu - rho * b, b


@pytest.mark.parametrize("mu", [2.0**-10, 2.0**-3, 2.0**4])
def test_nystroem_path_reproduces_algorithm_1(mu):
    c, k = N // 10, N // 20
    path = svmpath.trace(
        X, Y, loss="least_squares", gamma=GAMMA, rank=Nystroem(c, "uniform", truncate=k), random_state=5
    )
    points = path.gram.features.points
    rows = np.array([int(np.flatnonzero((point == X).all(axis=1))[0]) for point in points])
    assert len(rows) == c
    alpha, b = algorithm_1(reference.rbf(X, X, GAMMA), Y, rows, k, mu)
    solution = path(1 / (2 * mu))
    scale = np.abs(alpha).max()
    np.testing.assert_allclose(solution.alpha, alpha, atol=1e-9 * scale)
    np.testing.assert_allclose(solution.b, b, atol=1e-9)
    assert path.gram.rank == k


def test_the_bound_is_the_papers_formula_and_holds():
    c, k, C, delta = 60, 20, 0.5, 0.1
    path = svmpath.trace(
        X, Y, loss="least_squares", gamma=GAMMA, rank=Nystroem(c, "uniform", truncate=k), random_state=0
    )
    bound = criteria.approximation_bound(path, C, delta=delta)
    K = reference.rbf(X, X, GAMMA)
    n, mu0 = N, 1 / (2 * C) / N
    values = np.sort(np.linalg.eigvalsh(K))[::-1]
    epsilon = (64 * k / c) ** 0.25
    g = c * (n - c) / (n - 0.5) / (1 - 1 / (2 * max(c, n - c)))
    eta = np.sqrt(np.log(2 / delta) * g / c)
    term = np.sqrt((n / c * c) * (np.sqrt(n * n) + eta * n))  # the diagonal of this kernel is one
    frobenius = np.sqrt((values[k:] ** 2).sum()) + epsilon * term
    np.testing.assert_allclose(bound.theorem3, (1 + abs(path(C).b)) / (n * mu0**2) * frobenius, rtol=1e-6)
    np.testing.assert_allclose(bound.theorem2, frobenius, rtol=1e-6)
    exact = svmpath.trace(X, Y, loss="least_squares", gamma=GAMMA)(C)
    new = RNG.normal(size=(500, 4))
    difference = np.abs(path(C)(new, exact_kernel=True) - exact(new)).max()
    assert 0 < difference <= bound.with_offset <= bound.theorem3
    np.testing.assert_allclose(bound.error_norm, np.linalg.norm(K - path.gram.Z @ path.gram.Z.T, 2), rtol=1e-6)
    np.testing.assert_allclose(bound.frobenius, np.linalg.norm(K - path.gram.Z @ path.gram.Z.T), rtol=1e-6)
    assert bound.error_norm <= bound.frobenius <= bound.theorem2
    assert bound.measured <= bound.theorem3
    assert bound.violated == ()
    assert len(bound.assumptions) == 6


def test_the_bound_in_blocks_equals_the_bound_on_the_whole_matrix(monkeypatch):
    path = svmpath.trace(X, Y, loss="least_squares", gamma=GAMMA, rank=20, landmarks="uniform", random_state=0)
    whole = criteria.approximation_bound(path, 1.0)
    monkeypatch.setattr("svmpath.criteria.bound._WHOLE", 10)
    monkeypatch.setattr("svmpath.criteria.bound._CHUNK", 7 * N)
    blocks = criteria.approximation_bound(path, 1.0)
    np.testing.assert_allclose(blocks.theorem3, whole.theorem3, rtol=1e-8)
    np.testing.assert_allclose(blocks.error_norm, whole.error_norm, rtol=1e-6)
    np.testing.assert_allclose(blocks.frobenius, whole.frobenius, rtol=1e-6)


def test_the_bound_says_which_assumptions_fail():
    path = svmpath.trace(X, X[:, 0], loss="least_squares", rank=20, random_state=0)
    violated = criteria.approximation_bound(path, 1.0).violated
    assert "uniformly" in violated[0]
    assert "-1 and +1" in violated[1]


@pytest.mark.parametrize(
    ("options", "over", "message"),
    [({}, "C", "needs a low-rank kernel"), ({"rank": 5}, "gamma", "needs a path over C")],
)
def test_the_bound_needs_an_approximation_over_C(options, over, message):
    path = svmpath.trace(X, Y, loss="least_squares", over=over, span=(0.1, 10.0), **options)
    with pytest.raises(ValueError, match=message):
        criteria.approximation_bound(path, 1.0)


@pytest.mark.parametrize("C", [1e-3, 0.1])
@pytest.mark.parametrize("weight", [1.0, 100.0, None])
def test_the_bound_with_offset_holds_for_any_weights_and_targets(weight, C):
    s = np.random.default_rng(1).exponential(size=N) * 30 if weight is None else np.full(N, weight)
    y = 5 + X[:, 0]
    path = svmpath.trace(X, y, loss="least_squares", gamma=GAMMA, rank=100, sample_weight=s, random_state=0)
    exact = svmpath.trace(X, y, loss="least_squares", gamma=GAMMA, sample_weight=s)(C)
    new = RNG.normal(size=(300, 4))
    difference = np.abs(path(C)(new, exact_kernel=True) - exact(new)).max()
    assert 0 < difference <= criteria.approximation_bound(path, C).with_offset

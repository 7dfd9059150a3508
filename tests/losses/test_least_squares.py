"""The least squares machine against a linear solve and a QP model."""

import cvxpy as cp
import numpy as np
import pytest

import svmpath
from svmpath.losses.base import Solution
from tests import reference
from tests.speed import each_once

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0, 1.0, -1.0)
T = X[:, 0] ** 2 + 0.1 * RNG.normal(size=40)
S = RNG.exponential(size=40)
K = reference.rbf(X, X, 0.4)
C_VALUES = [1e-3, 1.0, 1e3]


@pytest.mark.parametrize("C", C_VALUES)
@pytest.mark.parametrize(("y", "s"), [(Y, None), (Y, S), (T, None), (T, S)])
def test_solution_equals_the_linear_system(y, s, C):
    solution = svmpath.trace(X, y, loss="least_squares", gamma=0.4, sample_weight=s)(C)
    alpha, b = reference.fit(K, y, np.ones(40) if s is None else s, C)
    np.testing.assert_allclose(solution.alpha, alpha, atol=1e-10 * max(1, np.abs(alpha).max()))
    np.testing.assert_allclose(solution.b, b, atol=1e-10)
    new = RNG.normal(size=(5, 3))
    np.testing.assert_allclose(solution(new), reference.rbf(new, X, 0.4) @ alpha + b, atol=1e-9)
    assert solution.violation < 1e-10
    assert solution.gap < 1e-14
    assert solution.parameters == {"C": C, "gamma": 0.4}


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_solution_equals_a_qp_model(C):
    L = np.linalg.cholesky(K + 1e-10 * np.eye(40))
    alpha, b = cp.Variable(40), cp.Variable()
    residual = Y - K @ alpha - b
    objective = C * cp.sum(cp.multiply(S, residual**2)) + 0.5 * cp.sum_squares(L.T @ alpha)
    cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    solution = svmpath.trace(X, Y, loss="least_squares", gamma=0.4, sample_weight=S)(C)
    np.testing.assert_allclose(solution.fitted, K @ alpha.value + b.value, atol=1e-5)
    primal = C * S @ (Y - solution.fitted) ** 2 + 0.5 * solution.alpha @ K @ solution.alpha
    assert primal <= objective.value * (1 + 1e-7)


def test_violation_and_gap_measure_a_wrong_solution():
    right = svmpath.trace(X, Y, loss="least_squares", gamma=0.4, sample_weight=S)(2.0)
    alpha = right.alpha + 0.01 * (RNG.normal(size=40) - 0.5)
    alpha -= alpha.mean()
    wrong = Solution(right.problem, right.loss, alpha, right.b + 0.02, right.parameters)
    f = K @ alpha + wrong.b
    np.testing.assert_allclose(wrong.violation, np.abs(Y - f - alpha / (4 * S)).max(), rtol=1e-10)
    primal = 2 * S @ (Y - f) ** 2 + 0.5 * alpha @ K @ alpha
    dual = alpha @ Y - 0.5 * alpha @ K @ alpha - (alpha**2 / (8 * S)).sum()
    np.testing.assert_allclose(wrong.gap, (primal - dual) / primal, rtol=1e-8)
    assert wrong.gap > 1e-6


def test_unbalanced_coefficients_are_a_violation():
    right = svmpath.trace(X, Y, loss="least_squares", gamma=0.4)(2.0)
    shifted = Solution(right.problem, right.loss, right.alpha + 1.0, right.b, right.parameters)
    assert shifted.violation >= 1.0 / 4


def test_a_weight_of_two_is_a_sample_that_is_there_twice():
    s = np.ones(40)
    s[:7] = 2.0
    weighted = svmpath.trace(X, Y, loss="least_squares", gamma=0.4, sample_weight=s)(3.0)
    repeated = svmpath.trace(np.vstack([X, X[:7]]), np.append(Y, Y[:7]), loss="least_squares", gamma=0.4)(3.0)
    np.testing.assert_allclose(weighted(X), repeated(X), atol=1e-11)


def test_a_weight_of_zero_is_a_sample_that_is_not_there():
    s = np.ones(40)
    s[:7] = 0.0
    weighted = svmpath.trace(X, Y, loss="least_squares", gamma=0.4, sample_weight=s)(3.0)
    fewer = svmpath.trace(X[7:], Y[7:], loss="least_squares", gamma=0.4)(3.0)
    np.testing.assert_allclose(weighted(X), fewer(X), atol=1e-11)
    assert set(weighted.support) == set(range(7, 40))


TWICE = np.vstack([X, X[:1]])  # 40 distinct rows of 41: forty landmarks are the full rank


@each_once
@pytest.mark.parametrize("way", ["rpcholesky", "greedy", "rows"])
@pytest.mark.parametrize("gamma", [2.0**-15, 2.0**-9, 2.0**-3, 8.0])
def test_low_rank_of_full_rank_equals_dense(way, gamma):
    y = np.append(Y, Y[0])
    options = {"landmarks": np.arange(40)} if way == "rows" else {"landmarks": way, "rank": 40}
    dense = svmpath.trace(TWICE, y, loss="least_squares", gamma=gamma, span=(1e-2, 2e4))
    low = svmpath.trace(TWICE, y, loss="least_squares", gamma=gamma, span=(1e-2, 2e4), random_state=0, **options)
    new = RNG.normal(size=(20, 3))
    for C in 0.5 / 2.0 ** np.arange(-15, 6, 2):
        np.testing.assert_allclose(low(C)(TWICE), dense(C)(TWICE), atol=1e-8)
        # Away from the rows the numerical null space of the kernel counts, times the size of the coefficients.
        slip = 1e-8 if gamma != 2.0**-9 else 1e-11 * max(1e3, np.abs(dense(C).alpha).max())
        np.testing.assert_allclose(low(C)(new), dense(C)(new), atol=slip)


def test_sparse_float32_and_lists_give_the_same_machine():
    from scipy.sparse import csr_matrix

    plain = svmpath.trace(X, Y, loss="least_squares", gamma=0.4)(2.0)
    np.testing.assert_allclose(
        svmpath.trace(csr_matrix(X), Y, loss="least_squares", gamma=0.4)(2.0)(csr_matrix(X)), plain(X), atol=1e-9
    )
    np.testing.assert_allclose(
        svmpath.trace(X.tolist(), Y.tolist(), loss="least_squares", gamma=0.4)(2.0)(X.tolist()), plain(X), atol=1e-12
    )
    single = svmpath.trace(X.astype(np.float32), Y, loss="least_squares", gamma=0.4)(2.0)
    np.testing.assert_allclose(single(X.astype(np.float32)), plain(X), atol=1e-4)
    assert single(X.astype(np.float32)).dtype == np.float64

"""The enclosing ball against a quadratic programme, and where its radius is known in closed form."""

import cvxpy as cp
import numpy as np
import pytest

from svmpath.solvers.enclosing_ball import EnclosingBall
from svmpath.solvers.pieces import SQUARED_HINGE
from tests.speed import first_quick

LAMS = [1e7, 1e4, 100.0, 1.0, 1e-2, 1e-4, 1e-6]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))


def with_ones(Z):
    return np.column_stack([Z, np.ones(len(Z))])


def features(K):
    values, Q = np.linalg.eigh(K)
    return Q * np.sqrt(np.maximum(values, 0.0))


def squared_radius(K, lam):
    """The dual problem: the largest of beta' diag - beta' K beta over the simplex, for K + lam/2 I."""
    scale = np.trace(K) / len(K) + lam
    K = (K + 0.5 * lam * np.eye(len(K))) / scale
    beta = cp.Variable(len(K), nonneg=True)
    L = np.linalg.cholesky(K + 1e-14 * np.eye(len(K)))
    problem = cp.Problem(cp.Maximize(beta @ np.diag(K) - cp.sum_squares(L.T @ beta)), [cp.sum(beta) == 1])
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11) * scale


def rbf(gamma):
    return np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))


KERNELS = {
    "rbf": rbf(0.5),
    "narrow": rbf(50.0),
    "linear": X @ X.T,
    "poly": (X @ X.T + 1.0) ** 3,
    "far": (X + 30.0) @ (X + 30.0).T,
    "twice": np.kron(rbf(0.5)[:20, :20], np.ones((2, 2))),
}


@first_quick(2)
@pytest.mark.parametrize("name", KERNELS)
def test_radius_equals_a_qp(name):
    K = KERNELS[name]
    balls, ball = EnclosingBall(with_ones(features(K))), None
    for lam in LAMS:
        ball = balls.at(lam, ball)
        np.testing.assert_allclose(ball.squared_radius, squared_radius(K, lam), rtol=1e-6)
        np.testing.assert_allclose(ball.squared_radius, ball.lower, rtol=1e-9)
        np.testing.assert_allclose(ball.beta.sum(), 1.0)
        assert ball.beta.min() >= 0


@pytest.mark.parametrize("name", KERNELS)
def test_the_way_there_does_not_matter(name):
    balls = EnclosingBall(with_ones(features(KERNELS[name])))
    near = balls.at(1e-2)
    for lam in LAMS:
        alone = balls.at(lam).squared_radius
        np.testing.assert_allclose(balls.at(lam, near).squared_radius, alone, rtol=1e-9)


def test_every_sample_is_inside_and_those_with_a_multiplier_are_on_the_sphere():
    lam, K = 0.1, KERNELS["rbf"]
    ball = EnclosingBall(with_ones(features(K))).at(lam)
    whole = K + 0.5 * lam * np.eye(len(K))
    far = np.diag(whole) - 2 * whole @ ball.beta + ball.beta @ whole @ ball.beta
    assert far.max() <= ball.squared_radius * (1 + 1e-10)
    np.testing.assert_allclose(far[ball.beta > 0], ball.squared_radius, rtol=1e-9)


@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("width", [0, 1, 7])
def test_equal_samples_form_a_regular_simplex(lam, width):
    for n in (1, 2, 9):
        Z = np.full((n, width), 3.0)
        ball = EnclosingBall(with_ones(Z)).at(lam)
        np.testing.assert_allclose(ball.squared_radius, 0.5 * lam * (1 - 1 / n), atol=1e-9 * lam)


@pytest.mark.parametrize("lam", LAMS)
def test_two_samples_have_half_their_distance(lam):
    Z = np.array([[1.0, 2.0], [4.0, 6.0]])
    np.testing.assert_allclose(EnclosingBall(with_ones(Z)).at(lam).squared_radius, (25.0 + lam) / 4, rtol=1e-10)


def test_without_lam_it_is_the_ball_of_the_points():
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.2]])
    np.testing.assert_allclose(EnclosingBall(with_ones(corners)).at(1e-9).squared_radius, 2.0, rtol=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_hard_sets(seed):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(1, 60)), int(rng.integers(0, 40))
    Z = 10 ** rng.uniform(-3, 1) * (rng.normal(size=(n, r)) + rng.choice([0, 10]) * rng.normal(size=r))
    if seed % 4 == 1:
        Z[rng.integers(n, size=n // 2)] = Z[0]  # duplicates
    if seed % 4 == 2:
        Z = np.round(Z)  # ties
    if seed % 4 == 3:
        Z[:, : r // 2] = 1.0  # constant columns
    balls, ball = EnclosingBall(with_ones(Z)), None
    for lam in 10 ** rng.uniform(-6, 7, size=6):
        ball = balls.at(lam, ball)
        size = (Z**2).sum(axis=1).max() + lam
        assert abs(ball.squared_radius - ball.lower) <= 1e-8 * ball.lower + 1e-14 * size


def test_a_lam_that_is_lost_in_rounding_still_gives_a_ball():
    Z = 1e8 * RNG.normal(size=(20, 4))
    ball = EnclosingBall(with_ones(Z)).at(1e-6)
    assert ball.squared_radius >= ball.lower > 0
    np.testing.assert_allclose(ball.squared_radius, 1e16 * EnclosingBall(with_ones(Z / 1e8)).at(1e-6).lower, rtol=1e-2)


def test_the_line_search_finds_the_lowest_point_of_a_line():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        slack, rate, s = rng.normal(size=(3, 12))
        s = np.abs(s) * (rng.random(12) < 0.8)
        level, steep = rng.normal() - 3, rng.exponential()

        def J(t, slack=slack, rate=rate, s=s, level=level, steep=steep):
            return s @ np.maximum(slack + t * rate, 0.0) ** 2 + level * t + 0.5 * steep * t**2

        t = SQUARED_HINGE.lowest(slack, rate, s, level, steep)
        assert 0 <= t <= 1
        assert J(t) <= min(J(each) for each in np.linspace(0, 1, 1001)) + 1e-12

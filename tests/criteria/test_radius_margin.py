"""The radius-margin bound against quadratic programmes and against exact leave-one-out."""

import pickle

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_wine

import svmpath
from svmpath import criteria, datasets
from tests.solvers.test_enclosing_ball import squared_radius
from tests.speed import first_quick, slow_except

N = 36
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.4 * RNG.normal(size=N) > 0, 1.0, -1.0)
C_VALUES = np.array([1e-4, 1e-2, 0.3, 10.0, 1e3])
SPAN = (1e-7, 1e6)


def whole(path):
    return path.gram.block(slice(None), slice(None))


def inverse_squared_margin(K, y, lam):
    """|w|^2 of the hard margin machine of K + lam/2 I."""
    scale = np.trace(K) / len(K) + lam
    L = np.linalg.cholesky((K + 0.5 * lam * np.eye(len(K))) / scale + 1e-14 * np.eye(len(K)))
    a = cp.Variable(len(K), nonneg=True)
    objective = cp.sum(a) - 0.5 * cp.sum_squares(L.T @ cp.multiply(y, a))
    problem = cp.Problem(cp.Maximize(objective), [y @ a == 0])
    return 2 * problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11) / scale


@first_quick(1)
@pytest.mark.parametrize("options", [{"gamma": 0.5}, {"kernel": "linear"}, {"gamma": 0.5, "rank": 12}], ids=str)
def test_scores_equal_a_qp(options):
    path = svmpath.trace(X, Y, loss="squared_hinge", span=SPAN, random_state=0, **options)
    curve = criteria.radius_margin(path, C_VALUES)
    K = whole(path)
    for C, score in zip(C_VALUES, curve.scores, strict=True):
        wanted = 4 * squared_radius(K, 1 / C) * inverse_squared_margin(K, Y, 1 / C) / N
        np.testing.assert_allclose(score, wanted, rtol=2e-6)
    assert curve.criterion == "radius_margin"
    assert "radius_margin at 5 values of C" in repr(curve)


def test_the_order_of_the_values_does_not_matter():
    path = svmpath.trace(X, Y, loss="squared_hinge", span=SPAN[::-1])
    forward = criteria.radius_margin(path, C_VALUES)
    shuffled = criteria.radius_margin(path, C_VALUES[[3, 0, 4, 2, 1]])
    np.testing.assert_allclose(shuffled.scores, forward.scores[[3, 0, 4, 2, 1]], rtol=1e-9)
    np.testing.assert_array_equal(shuffled.unreliable, forward.unreliable[[3, 0, 4, 2, 1]])
    np.testing.assert_allclose(criteria.radius_margin(path, 10.0).scores, forward.scores[3], rtol=1e-9)


SETS = {
    "banana": datasets.banana,
    "ringnorm": datasets.ringnorm,
    "twonorm": datasets.twonorm,
    "gaussian_mixture": datasets.gaussian_mixture,
}


@first_quick(1)
@pytest.mark.parametrize("rank", slow_except([None, 30], [30]))
@pytest.mark.parametrize("name", SETS)
def test_it_bounds_the_exact_leave_one_out_error(name, rank):
    X, y = SETS[name](120, random_state=0)[:2]
    path = svmpath.trace(X, y, loss="squared_hinge", span=SPAN, rank=rank, random_state=0)
    values = np.logspace(-7, 6, 27)
    curve, exact = criteria.radius_margin(path, values), criteria.loo(path, values)
    assert np.all(curve.scores >= exact.scores)
    assert curve.scores.min() < 4.0  # it is not empty of meaning everywhere: below the limit for C to zero


def test_a_sample_that_is_an_error_has_a_coefficient_of_at_least_one_over_the_squared_diameter():
    path = svmpath.trace(X, Y, loss="squared_hinge", span=SPAN, gamma=0.5)
    K = whole(path)
    for C in C_VALUES:
        wrong = Y * criteria.loo(path, C).decisions[0] <= 0
        distances = np.diag(K)[:, None] + np.diag(K) - 2 * K + 1 / C
        a = Y * path(C).alpha
        assert wrong.any()
        assert a[wrong].min() >= 1 / distances.max()


def test_the_limit_for_small_C():
    y = np.where(np.arange(N) < 10, 1.0, -1.0)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-10, 1.0))
    limit = 16 * 10 * (N - 10) * (N - 1) / N**3  # of 4 R^2 sum(a) / m with R^2 -> (1 - 1/m) / (2 C)
    np.testing.assert_allclose(criteria.radius_margin(path, 1e-10).scores, limit, rtol=1e-6)


def test_doubtful_counts_the_training_errors():
    path = svmpath.trace(X, Y, loss="squared_hinge", span=SPAN)
    curve = criteria.radius_margin(path, C_VALUES)
    wrong = [np.count_nonzero(Y * path(C).fitted <= 0) for C in C_VALUES]
    np.testing.assert_array_equal(curve.unreliable, wrong)
    assert curve.unreliable[0] > 0


def test_on_noisy_data_the_choice_is_doubtful():
    X, y = datasets.gaussian_mixture(200, random_state=0)[:2]
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-4, 1e4))
    values = np.logspace(-4, 4, 33)
    choice = svmpath.select(criteria.radius_margin(path, values))
    assert choice.curve.unreliable[choice.index] > 10
    assert choice.solution.parameters["C"] == choice.value


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_select_takes_the_lowest_bound(rule):
    path = svmpath.trace(X, Y, loss="squared_hinge", span=SPAN)
    curve = criteria.radius_margin(path, np.logspace(-4, 4, 17))
    choice = svmpath.select(curve, rule)
    assert choice.score == pytest.approx(curve.scores.min())
    np.testing.assert_array_equal(curve.smooth, curve.scores)
    assert not curve.standard_errors.any()


def test_samples_of_weight_zero_are_not_there():
    s = np.ones(N)
    s[::5] = 0.0
    some = svmpath.trace(X, Y, loss="squared_hinge", gamma=0.5, span=SPAN, sample_weight=s)
    fewer = svmpath.trace(X[s > 0], Y[s > 0], loss="squared_hinge", gamma=0.5, span=SPAN)
    found, wanted = criteria.radius_margin(some, C_VALUES), criteria.radius_margin(fewer, C_VALUES)
    np.testing.assert_allclose(found.scores, wanted.scores, rtol=1e-8)
    np.testing.assert_array_equal(found.unreliable, wanted.unreliable)


def test_one_sample_per_class():
    path = svmpath.trace([[0.0], [1.0]], ["a", "b"], loss="squared_hinge", kernel="linear", span=SPAN)
    # R^2 = (1 + lam) / 4 and |w|^2 = 4 / (1 + lam): the bound is 2 whatever C.
    np.testing.assert_allclose(criteria.radius_margin(path, C_VALUES).scores, 2.0, rtol=1e-8)


def test_contradictory_duplicates():
    twice, y = np.vstack([X, X]), np.append(Y, -Y)
    path = svmpath.trace(twice, y, loss="squared_hinge", span=SPAN)
    curve = criteria.radius_margin(path, C_VALUES)
    assert np.all(curve.scores >= criteria.loo(path, C_VALUES).scores)
    assert np.all(curve.unreliable > N / 2)  # f is zero up to rounding


def test_it_is_a_criterion_of_the_estimator():
    X, y = datasets.twonorm(80, random_state=0)[:2]
    model = svmpath.PathSVC(loss="squared_hinge", gamma=0.02, C=[0.01, 1.0, 100.0], criterion=criteria.radius_margin)
    model.fit(X, y)
    assert model.C_ == 1.0


def test_a_curve_can_be_saved():
    curve = criteria.radius_margin(svmpath.trace(X, Y, loss="squared_hinge", span=SPAN), C_VALUES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(curve)).scores, curve.scores)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: criteria.radius_margin(p, 1e9), ValueError, "outside the span"),
        (lambda p: criteria.radius_margin(p, 1.0, loss="squared"), ValueError, "bounds the error rate"),
        (lambda p: criteria.radius_margin(p, 1.0).rescored("squared"), ValueError, "bounds the error rate"),
        (lambda p: criteria.radius_margin(p, 1.0).decisions, AttributeError, "no held-out decision values"),
    ],
)
def test_what_a_bound_has_not(call, error, message):
    path = svmpath.trace(X, Y, loss="squared_hinge", span=SPAN)
    with pytest.raises(error, match=message):
        call(path)


@pytest.mark.parametrize("options", [{"sample_weight": np.linspace(0.5, 2, N)}, {"class_weight": "balanced"}], ids=str)
def test_weights_are_refused_in_a_sentence(options):
    y = np.where(np.arange(N) < 10, 1.0, -1.0)
    path = svmpath.trace(X, y, loss="squared_hinge", span=SPAN, **options)
    with pytest.raises(ValueError, match="weights must be 0 or 1"):
        criteria.radius_margin(path, 1.0)


def test_other_losses_are_refused():
    with pytest.raises(ValueError, match="works for loss='squared_hinge' only"):
        criteria.radius_margin(svmpath.trace(X, Y, loss="least_squares"), 1.0)


@pytest.mark.parametrize("rank", [None, 40])
def test_kernel_values_far_too_large_for_C(rank):
    X, y = load_wine(return_X_y=True)
    path = svmpath.trace(
        X, np.where(y == 1, 1.0, -1.0), loss="squared_hinge", kernel="poly", degree=2, gamma=1.0, coef0=1.0,
        span=(1e-3, 1e6), rank=rank, random_state=0,
    )  # fmt: skip
    scores = criteria.radius_margin(path, np.geomspace(1.0, 1e6, 7)).scores
    np.testing.assert_allclose(scores, scores[0], rtol=1e-3)  # the margin is hard from C = 1 on
    np.testing.assert_allclose(criteria.radius_margin(path, 1e6).scores, scores[0], rtol=1e-3)

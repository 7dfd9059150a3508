"""Calibration of decision values: against scikit-learn, identities, and data that give a plain formula trouble."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from svmpath.criteria.calibration import METHODS, fit_calibration

RNG = np.random.default_rng(0)
N, K = 200, 4
Y = RNG.integers(0, 2, N)
F = RNG.normal(size=N) + 1.5 * Y - 0.4
W = RNG.integers(0, 4, N).astype(float)
COUNTED = W * W.sum() / (W @ W)  # as numbers of rows
CODE = RNG.integers(0, K, N)
MATRIX = RNG.normal(size=(N, K)) + 2.0 * np.eye(K)[CODE]
TWO, MANY = (F, Y, 2), (MATRIX, CODE, K)
ONES = np.ones(N)


def targets(y, w):
    """Platt's."""
    more, less = w[y == 1].sum(), w[y == 0].sum()
    return np.where(y == 1, (more + 1) / (more + 2), 1 / (less + 2))


def logistic(f, y, w):
    """Platt's problem as one of rows with hard labels: each row once per class, weighted by its target."""
    t = targets(y, w)
    rows = np.tile(f, 2)[:, None], np.repeat([1, 0], len(f)), np.concatenate([w * t, w * (1 - t)])
    return LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12).fit(*rows)


def test_the_sigmoid_is_a_logistic_regression_on_soft_targets():
    f = np.linspace(-5, 5, 50)
    expected = logistic(F, Y, COUNTED).predict_proba(f[:, None])
    np.testing.assert_allclose(fit_calibration(F, Y, 2, W).probabilities(f), expected, atol=1e-9)


def test_log_loss_on_fresh_rows_is_near_that_of_the_distribution():
    def draw(n, rng):
        f = rng.normal(scale=2.0, size=n)
        return f, (rng.random(n) < expit(1.7 * f - 0.6)).astype(int)

    f, y = draw(2000, np.random.default_rng(1))
    new, label = draw(20_000, np.random.default_rng(2))
    best = expit(1.7 * new - 0.6)
    for method, most in (("sigmoid", 2e-3), ("isotonic", 1e-2)):
        p = fit_calibration(f, y, 2, np.ones(2000), method).probabilities(new)[np.arange(20_000), label]
        optimum = np.log(np.where(label == 1, best, 1 - best)).mean()
        assert -np.log(p).mean() + optimum < most


def test_temperature_minimises_the_cross_entropy_of_one_slope():
    sums = np.bincount(CODE, COUNTED)[CODE]
    T = np.repeat(1 / ((sums + 2) * (K - 1))[:, None], K, axis=1)
    T[np.arange(N), CODE] = (sums + 1) / (sums + 2)
    best = minimize(lambda a: -(W @ (T * log_softmax(a * MATRIX, axis=1)).sum(axis=1)), 1.0, tol=1e-12)
    found = fit_calibration(*MANY, W, "temperature")
    np.testing.assert_allclose(found.log_probabilities(MATRIX), log_softmax(best.x[0] * MATRIX, axis=1), atol=1e-4)
    two = fit_calibration(*TWO, W, "temperature").probabilities(np.array([0.0]))
    assert two[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("w", "counted"), [(ONES, ONES), (W + 1, (W + 1) * (W + 1).sum() / ((W + 1) @ (W + 1)))])
def test_isotonic_is_that_of_scikit_learn_with_one_row_more_at_each_end(w, counted):
    plain = IsotonicRegression().fit(
        np.concatenate([F, [F.min(), F.max()]]), np.concatenate([Y, [1, 0]]), np.concatenate([counted, [1, 1]])
    )
    found = fit_calibration(*TWO, w, "isotonic").probabilities(F)[:, 1]
    np.testing.assert_allclose(found, plain.predict(F), atol=1e-12)
    assert found.min() > 0
    assert found.max() < 1
    assert (np.diff(found[np.argsort(F)]) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [TWO, MANY], ids=["two", "four"])
def test_weights_are_relative_and_rows_sum_to_one(method, data):
    decisions, code, k = data
    p = fit_calibration(decisions, code, k, W, method).probabilities(decisions)
    for factor in (1e-3, 1e3, 1 / N):
        other = fit_calibration(decisions, code, k, factor * W, method).probabilities(decisions)
        np.testing.assert_allclose(p, other, atol=1e-10)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert p.shape == (N, k)
    other = fit_calibration(decisions, code, k, ONES, method).probabilities(decisions)
    assert np.abs(p - other).max() > 1e-3  # so that the weights matter


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [TWO, MANY], ids=["two", "four"])
def test_a_sample_that_is_given_twice_counts_once(method, data):
    decisions, code, k = data
    again = np.repeat(np.arange(N), 2)
    once = fit_calibration(decisions, code, k, W, method).probabilities(decisions)
    twice = fit_calibration(decisions[again], code[again], k, W[again], method, samples=again)
    np.testing.assert_allclose(twice.probabilities(decisions), once, atol=1e-10)
    other = fit_calibration(decisions[again], code[again], k, W[again], method).probabilities(decisions)
    assert np.abs(other - once).max() > 1e-5  # as two rows they are worth more


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [TWO, MANY], ids=["two", "four"])
def test_rows_without_weight_or_decision_are_ignored(method, data):
    decisions, code, k = data
    spoilt, w = decisions.copy(), ONES.copy()
    spoilt[:20], w[20:40] = np.nan, 0.0
    found = fit_calibration(spoilt, code, k, w, method).probabilities(decisions)
    expected = fit_calibration(decisions[40:], code[40:], k, ONES[40:], method).probabilities(decisions)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("data", [TWO, MANY], ids=["two", "four"])
@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1e9, 1e250])
def test_any_scale_of_decisions_gives_the_same(method, data, scale):
    decisions, code, k = data
    p = fit_calibration(decisions, code, k, W, method).probabilities(decisions)
    scaled = fit_calibration(scale * decisions, code, k, W, method).probabilities(scale * decisions)
    np.testing.assert_allclose(scaled, p, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_separated_classes_have_probabilities_by_laplace(method):
    f = np.where(Y == 1, 1.0, -1.0)
    p = fit_calibration(f, Y, 2, ONES, method).probabilities(np.array([-1.0, 1.0]))[:, 1]
    less = int((Y == 0).sum())
    assert 0.0 < p[0] < 2 / less
    assert 0.98 < p[1] < 1.0
    matrix = 10.0 * np.eye(K)[CODE]
    p = fit_calibration(matrix, CODE, K, ONES, method).probabilities(matrix)
    assert (p.argmax(axis=1) == CODE).all()
    assert p.max() < 1.0


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_what_says_nothing_gives_the_frequencies(method):
    rate = np.average(Y, weights=W)
    equal = fit_calibration(np.full(N, 0.1), Y, 2, W, method).probabilities(np.array([-9.0, 0.1, 9.0]))[:, 1]
    np.testing.assert_allclose(equal, rate, atol=0.01)
    wrong = fit_calibration(np.where(Y == 1, -1.0, 1.0), Y, 2, W, method).probabilities(np.array([-1.0, 1.0]))[:, 1]
    np.testing.assert_allclose(wrong, rate, atol=0.01)
    many = fit_calibration(np.full((N, K), 0.1), CODE, K, W, method).probabilities(MATRIX)
    np.testing.assert_allclose(many, np.tile(np.bincount(CODE, W) / W.sum(), (N, 1)), atol=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_one_class_alone_and_a_class_without_rows(method):
    p = fit_calibration(F, np.ones(N, dtype=int), 2, ONES, method).probabilities(np.array([-1.0, 3.0]))
    assert np.isfinite(p).all()
    assert p[1, 1] >= p[0, 1] > 0.0
    p = fit_calibration(MATRIX, np.minimum(CODE, 2), K, ONES, method).probabilities(MATRIX)
    assert np.isfinite(p).all()
    assert (p > 0).all()
    p = fit_calibration(np.array([0.3]), np.array([1]), 2, np.ones(1), method).probabilities(np.array([0.3]))
    assert 0.5 < p[0, 1] < 1.0


def test_several_classes_keep_the_order_of_the_decisions():
    new = 3.0 * RNG.normal(size=(500, K))
    for method in ("sigmoid", "temperature"):
        p = fit_calibration(*MANY, W, method).probabilities(new)
        assert (p.argmax(axis=1) == new.argmax(axis=1)).all()


def test_logarithms_are_finite_where_probabilities_underflow():
    logs = fit_calibration(*TWO, ONES).log_probabilities(np.array([-1e6, 1e6]))
    assert np.isfinite(logs).all()
    assert logs.min() < -1e5


def test_bad_input_gets_a_sentence():
    with pytest.raises(
        ValueError, match="calibration must be one of 'sigmoid', 'isotonic', 'temperature'; got 'sigmiod'"
    ):
        fit_calibration(*TWO, ONES, "sigmiod")
    with pytest.raises(ValueError, match="every one has weight zero or was never held out"):
        fit_calibration(np.full(N, np.nan), Y, 2, ONES)

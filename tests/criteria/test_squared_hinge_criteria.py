"""Span prediction, exact leave-one-out and k-fold of the squared hinge, against their definitions."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import KFold

import svmpath
from svmpath import criteria, datasets
from svmpath.criteria import of_march
from tests import reference
from tests.cases import CASES
from tests.speed import each_once, first_quick, slow_except

SETS = {
    "twonorm": datasets.twonorm,
    "banana": datasets.banana,
    "waveform": datasets.waveform,
    "mixture": datasets.gaussian_mixture,
}
VALUES = 1 / np.logspace(4, -4, 5)


def traced(name, rank=None, n=60, s=None):
    X, y = SETS[name](n, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-7, 1e6), rank=rank, sample_weight=s, random_state=0)
    return path, path.gram.block(slice(None), slice(None)), y


def weights(n):
    s = np.random.default_rng(3).exponential(size=n)
    s[::9] = 0.0
    return s


@each_once
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rank", [None, 20])
@pytest.mark.parametrize("name", SETS)
def test_span_is_the_dense_inverse_formula(name, rank, weighted):
    s = weights(60) if weighted else np.ones(60)
    path, K, y = traced(name, rank, s=s)
    values = 1 / np.logspace(6, -5, 12)
    curve = criteria.span(path, values)
    for C, found in zip(values, curve.decisions, strict=True):
        alpha, b, E = reference.squared_hinge(K, y, s, C)
        rows = np.flatnonzero(E)
        inverse = np.linalg.inv(reference.bordered(K[np.ix_(rows, rows)], s[rows], C))
        expected = K @ alpha + b
        expected[rows] = y[rows] - alpha[rows] / np.diag(inverse)[:-1]
        np.testing.assert_allclose(found, expected, atol=1e-9 * (1 + C) + 1e-9)


@each_once
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rank", [None, 20])
@pytest.mark.parametrize("name", slow_except(SETS, ["twonorm", "banana"]))
def test_loo_equals_refits(name, rank, weighted):
    s = weights(60) if weighted else np.ones(60)
    path, K, y = traced(name, rank, s=s)
    curve = criteria.loo(path, VALUES)
    assert not curve.unreliable.any()
    for C, found in zip(VALUES, curve.decisions, strict=True):
        assert found == pytest.approx([_without(K, y, s, C, i) for i in range(60)], abs=1e-6)


def _without(K, y, s, C, i):
    s = s.copy()
    s[i] = 0.0
    alpha, b, _ = reference.squared_hinge(K, y, s, C)
    return K[i] @ alpha + b


@pytest.mark.parametrize("name", ["duplicates", "contradictory_duplicates", "ties_on_a_grid", "unbalanced"])
def test_loo_of_hard_cases_equals_refits(name):
    X, y, s = CASES[name]()
    path = svmpath.trace(X, y, loss="squared_hinge", gamma=0.4, span=(1e-3, 1e4))
    curve = criteria.loo(path, [1e-3, 1.0, 1e4])
    K = reference.rbf(X, X, 0.4)
    for C, found in zip(curve.values, curve.decisions, strict=True):
        assert found == pytest.approx([_without(K, y, s, C, i) for i in range(len(y))], abs=1e-6)


def test_span_is_exact_for_the_samples_that_move_no_other():
    path, _, _ = traced("banana")
    span, loo = criteria.span(path, VALUES), criteria.loo(path, VALUES)
    differ = np.abs(span.decisions - loo.decisions) > 1e-8
    assert np.all(differ.sum(axis=1) <= span.unreliable)
    assert differ.any(), "the data are made so that the prediction is not exact everywhere"
    assert span.unreliable[0] == 0  # all samples on the left: least squares


def test_newton_takes_over_where_corrections_do_not_settle(monkeypatch):
    path, _, _ = traced("banana")
    exact = criteria.loo(path, VALUES).decisions
    for limit in ("_ILL_CONDITIONED", "_MOST_CORRECTIONS"):
        monkeypatch.setattr(of_march, limit, 0)
        np.testing.assert_allclose(criteria.loo(path, VALUES).decisions, exact, atol=1e-9)


@pytest.mark.parametrize("name", ["duplicates", "ties_on_a_grid", "unbalanced"])
def test_corrections_made_together_equal_those_made_one_by_one(monkeypatch, name):
    X, y, s = CASES[name]()
    path = svmpath.trace(X, y, loss="squared_hinge", gamma=0.4, sample_weight=s, span=(1e-4, 1e4))
    together = criteria.loo(path, VALUES).decisions
    monkeypatch.setattr(of_march, "_CORRECTED_ENTRIES", 1)
    np.testing.assert_allclose(criteria.loo(path, VALUES).decisions, together, atol=1e-9)


@pytest.mark.parametrize("rank", [None, 20])
def test_kfold_equals_refits(rank):
    path, K, y = traced("banana", rank)
    cv = KFold(4, shuffle=True, random_state=0)
    curve = criteria.kfold(path, VALUES, cv=cv)
    for C, found in zip(VALUES, curve.decisions, strict=True):
        for train, test in cv.split(y):
            s = np.zeros(60)
            s[train] = 1.0
            alpha, b, _ = reference.squared_hinge(K, y, s, C)
            np.testing.assert_allclose(found[test], K[test] @ alpha + b, atol=1e-7)


def test_criteria_of_other_losses_are_refused():
    X, y = datasets.banana(30, random_state=0)
    squares = svmpath.trace(X, y, loss="least_squares")
    with pytest.raises(ValueError, match="predicted for the squared hinge"):
        criteria.span(squares, [1.0])
    path, _, _ = traced("banana")
    with pytest.raises(ValueError, match="works for least squares only"):
        criteria.press(path, [1.0])


@first_quick(1)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", slow_except(SETS, ["banana", "mixture"]))
def test_screened_errors_are_those_of_the_full_formula(name, weighted):
    s = weights(600) if weighted else np.ones(600)
    path, _, _ = traced(name, 80, n=600, s=s)
    values = 1 / np.logspace(7, -6, 27)
    full, screened = (criteria.span(path, values, screen=screen) for screen in (False, True))
    np.testing.assert_array_equal(screened.screened.errors[:, s > 0], full.losses[:, s > 0] > 0)
    np.testing.assert_allclose(screened.scores, full.scores, atol=1e-14)
    assert "held" not in screened.__dict__  # nothing was computed that was not asked for
    np.testing.assert_allclose(screened.decisions, full.decisions, atol=1e-6)
    np.testing.assert_allclose(screened.rescored("squared").scores, full.rescored("squared").scores, rtol=1e-6)
    # An estimate of the leverages, which a large C makes too small: it breaks ties, only among good machines.
    good = full.scores <= full.scores.min() + full.standard_errors[np.argmin(full.scores)]
    good &= values <= values[np.argmin(full.scores)]
    assert screened.smooth[good] == pytest.approx(full.smooth[good], rel=0.5)
    assert (screened.smooth <= full.smooth * (1 + 1e-6) + 0.05).all()
    np.testing.assert_array_equal(screened.decisive, screened.scores)
    np.testing.assert_array_equal(screened.unreliable, full.unreliable)


def wild(name):
    """Problems whose kernel values times C leave a system in the features no digits."""
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return X, np.where(y == 1, 1.0, -1.0), {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
    X, y = load_iris(return_X_y=True)
    return 1000 * X, np.where(y == 0, 1.0, -1.0), {"kernel": "linear"}


@first_quick(1)
@pytest.mark.parametrize("rank", slow_except([None, 40], [40]))
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_loo_at_kernel_values_far_too_large_for_C_equals_refits(name, rank):
    X, y, options = wild(name)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-3, 1e6), rank=rank, random_state=0, **options)
    K = path.gram.block(slice(None), slice(None))
    values = np.array([1.0, 1e2, 1e4, 1e6])
    curve = criteria.loo(path, values)
    assert not curve.unreliable.any()
    for C, found in zip(values, curve.decisions, strict=True):
        for i in path(C).support:
            s = np.ones(len(y))
            s[i] = 0.0
            machine = svmpath.trace(
                X, y, loss="squared_hinge", sample_weight=s, rank=rank, random_state=0, span=(1e-3, 1e6), **options
            )(C)
            assert machine.violation < 1e-8
            expected = K[i] @ machine.alpha + machine.b
            assert found[i] == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", ["wine", "iris"])
def test_span_in_samples_keeps_its_digits_at_large_C(name):
    X, y, options = wild(name)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-3, 1e6), **options)
    K, s = path.gram.K, np.ones(len(y))
    for C in (1.0, 1e3, 1e6):
        E = path(C).support
        alpha, _ = reference.fit(K, y, np.where(np.isin(np.arange(len(y)), E), s, 0.0), C)
        inverse = np.linalg.inv(reference.bordered(K[np.ix_(E, E)], s[E], C))
        expected = y[E] - alpha[E] / np.diag(inverse)[:-1]
        np.testing.assert_allclose(criteria.span(path, C).decisions[0, E], expected, rtol=1e-4)


def test_predictions_that_are_lost_to_rounding_are_doubtful():
    # In low rank they are made in the features, where C times the weights has used up double precision.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y, s = np.sign(X[:, 0] * X[:, 1]), 10.0 ** rng.uniform(-6, 6, size=60)
    path = svmpath.trace(X, y, loss="squared_hinge", gamma=1.0, sample_weight=s, rank=40, random_state=0)
    K = path.gram.block(slice(None), slice(None))
    for C, some in ((1.0, False), (1e6, True)):
        E, curve = path(C).support, criteria.span(path, C)
        alpha, _ = reference.fit(K, y, np.where(np.isin(np.arange(60), E), s, 0.0), C)
        residual = alpha[E] / np.diag(np.linalg.inv(reference.bordered(K[np.ix_(E, E)], s[E], C)))[:-1]
        lost = np.count_nonzero(np.abs(y[E] - residual - curve.decisions[0, E]) > 1e-4 * np.abs(residual))
        assert bool(lost) == some
        moving = criteria.span(svmpath.trace(K, y, loss="squared_hinge", kernel="precomputed", sample_weight=s), C)
        assert curve.unreliable[0] >= lost
        assert (curve.unreliable[0] > moving.unreliable[0] + 2) == some


@pytest.mark.slow
def test_held_out_values_that_are_lost_are_doubtful(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    path = svmpath.trace(
        X, np.where(y == 1, 1.0, -1.0), loss="squared_hinge", kernel="poly", degree=2, gamma=1.0, coef0=1.0,
        span=(1e-3, 1e8),
    )  # fmt: skip
    monkeypatch.setattr(of_march, "_TOO_FEW_DIGITS", 1e-6)  # which kernel values of 1e13 do not allow
    assert criteria.loo(path, [1e3]).unreliable[0] > 0
    monkeypatch.setattr(of_march, "_TOO_FEW_DIGITS", 1e-4)
    monkeypatch.setattr(of_march, "_MOST_REFITS", 0)
    assert criteria.loo(path, [1e3]).unreliable[0] >= 0.8 * len(path(1e3).support)  # rounding decides on one or two


@each_once
@pytest.mark.parametrize("rank", [None, 1])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_a_held_out_value_of_zero_counts_alike_with_and_without_a_screen(label, rank):
    # Without the sample at the origin the others are symmetric around it.
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [0.0]]), np.array([-1.0, -1.0, 1.0, 1.0, label])
    path = svmpath.trace(X, y, loss="squared_hinge", kernel="linear", rank=rank, span=(1e-4, 1e4), random_state=0)
    values = np.geomspace(1e-4, 1e4, 200)
    full, screened = (criteria.span(path, values, screen=screen) for screen in (False, True))
    assert np.any(full.held[:, -1] == 0), "the data are made for a tie"
    np.testing.assert_array_equal(screened.screened.errors, full.losses > 0)


def test_samples_that_are_alone_with_their_feature_have_finite_predictions():
    """A kernel far too large for C: leverages are one but for rounding, and what they leave is rounding alone."""
    path, values = poly_path_too_large(), np.geomspace(1e3, 1e9, 40)
    assert np.isfinite(criteria.span(path, values).held).all()


def poly_path_too_large():
    rng = np.random.default_rng(9)
    return svmpath.trace(
        rng.normal(size=(24, 7)), np.where(np.arange(24) % 2, 1.0, -1.0), loss="squared_hinge", kernel="poly", degree=3,
        gamma=5e3, rank=8, landmarks="uniform", span=(1e3, 1e9), random_state=0,
    )  # fmt: skip

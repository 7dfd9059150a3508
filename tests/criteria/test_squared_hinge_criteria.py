"""Span prediction, exact leave-one-out and k-fold of the squared hinge, against their definitions."""

import sys

import numpy as np
import pytest
from sklearn.model_selection import KFold

import svmpath
from svmpath import criteria, datasets
from tests import reference
from tests.cases import CASES

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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rank", [None, 20])
@pytest.mark.parametrize("name", SETS)
def test_loo_equals_refits(name, rank, weighted):
    s = weights(60) if weighted else np.ones(60)
    path, K, y = traced(name, rank, s=s)
    curve = criteria.loo(path, VALUES)
    assert not curve.doubtful.any()
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
    assert np.all(differ.sum(axis=1) <= span.doubtful)
    assert differ.any(), "the data are made so that the prediction is not exact everywhere"
    assert span.doubtful[0] == 0  # all samples on the left: least squares


def test_newton_takes_over_where_corrections_do_not_settle(monkeypatch):
    path, _, _ = traced("banana")
    exact = criteria.loo(path, VALUES).decisions
    monkeypatch.setattr(sys.modules["svmpath.criteria.loo"], "_MOST", 0)
    np.testing.assert_allclose(criteria.loo(path, VALUES).decisions, exact, atol=1e-9)


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
    with pytest.raises(ValueError, match="made for the squared hinge"):
        criteria.span(squares, [1.0])
    path, _, _ = traced("banana")
    with pytest.raises(ValueError, match="exact for least squares only"):
        criteria.press(path, [1.0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SETS)
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
    assert screened.smooth == pytest.approx(full.smooth, rel=0.5)
    np.testing.assert_array_equal(screened.doubtful, full.doubtful)

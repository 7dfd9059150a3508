"""Held-out decision values of the elastic-net hinge machine, against machines fitted afresh."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import svmpath
from svmpath import criteria
from svmpath.criteria import of_elastic
from tests.cases import CASES
from tests.rounding import assert_same
from tests.speed import first_quick, slow_except


def data(n=40, p=8, seed=0, tied=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X[:, :3] += 0.7 * y[:, None]
    return (np.round(X) if tied else X), y


def refits(X, y, value, s=None, **options):
    """Held-out decision values by a machine per sample, each traced on its own rows."""
    held = np.empty(len(y))
    s = np.ones(len(y)) if s is None else s
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        path = svmpath.trace_elastic(X[rest], y[rest], sample_weight=s[rest], span=(1e5, value / 2), **options)
        held[i] = path(value)(X[i : i + 1])[0]
    return held


@first_quick(1)
@pytest.mark.parametrize("lambda2", [10.0, 0.1, 1e-3])
@pytest.mark.parametrize("tied", slow_except([False, True], [True]))
@pytest.mark.parametrize("p", [8, 60])
def test_leave_one_out_is_what_refits_say(p, lambda2, tied):
    X, y = data(30, p, tied=tied)
    path = svmpath.trace_elastic(X, y, lambda2=lambda2)
    values = path.span[0] * np.array([0.5, 0.05])
    curve = criteria.loo(path, values)
    for k, value in enumerate(values):
        np.testing.assert_allclose(curve.decisions[k], refits(X, y, value, lambda2=lambda2), atol=1e-9)
    assert curve.criterion == "loo"
    assert not curve.unreliable.any()


def test_leave_one_out_of_the_l1_machine():
    X, y = data(30, 12)
    path = svmpath.trace_elastic(X, y, lambda2=0.0)
    value = path.span[0] * 0.1
    found = criteria.loo(path, value).decisions[0]
    np.testing.assert_allclose(found, refits(X, y, value, lambda2=0.0), atol=1e-9)


def test_leave_one_out_with_weights_and_factors():
    X, y = data(30, 6)
    rng = np.random.default_rng(1)
    s, om = rng.exponential(size=30) + 0.05, rng.choice([0.5, 1.0, 2.0], size=6)
    path = svmpath.trace_elastic(X, y, lambda2=0.5, sample_weight=s, penalty_factor=om)
    value = path.span[0] * 0.1
    found = criteria.loo(path, value).decisions[0]
    np.testing.assert_allclose(found, refits(X, y, value, s, lambda2=0.5, penalty_factor=om), atol=1e-9)


@pytest.mark.parametrize("over", ["lambda2", "ray"])
def test_leave_one_out_over_lambda2_and_rays(over):
    X, y = data(25, 6)
    options = {"lambda1": 1.0, "span": (10, 0.1)} if over == "lambda2" else {"l1_ratio": 0.5}
    path = svmpath.trace_elastic(X, y, over=over, **options)
    value = 0.8
    lam = path(value).parameters
    found = criteria.loo(path, value).decisions[0]
    np.testing.assert_allclose(found, refits(X, y, lam["lambda1"], lambda2=lam["lambda2"]), atol=1e-9)


def test_above_the_first_value_the_other_class_may_outweigh():
    X, y = data(21, 4)
    path = svmpath.trace_elastic(X, y, span=(1e4, 1.0))
    np.testing.assert_allclose(criteria.loo(path, 5e3).decisions[0], refits(X, y, 5e3, lambda2=1.0), atol=1e-9)


@first_quick(3)
@pytest.mark.parametrize("name", ["duplicates", "contradictory_duplicates", "ties_on_a_grid", "one_sample_per_class",
                                  "unbalanced", "weights_with_zeros", "all_rows_equal"])  # fmt: skip
def test_hard_cases_walked_and_fitted_afresh(name):
    X, y, s = CASES[name]()
    path = svmpath.trace_elastic(X, y, lambda2=0.5, sample_weight=s)
    value = path.span[0] * 0.2
    found = criteria.loo(path, value).decisions[0]
    expected = [of_elastic.refitted(path, value, i) for i in range(len(y))]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_what_cannot_be_walked_is_fitted_afresh(monkeypatch):
    X, y = data()
    path = svmpath.trace_elastic(X, y)
    expected = criteria.loo(path, 1.0).decisions
    monkeypatch.setattr(of_elastic, "_WRONG", -1.0)
    np.testing.assert_allclose(criteria.loo(path, 1.0).decisions, expected, atol=1e-10)


def test_frozen_places_are_a_closed_form():
    """The design's formulas for the elbow and the left, from dense matrices."""
    X, y = data(40, 8)
    lam2 = 5.0
    path = svmpath.trace_elastic(X, y, lambda2=lam2)
    value = path.span[0] * 0.11
    solution = path(value)
    a, margin = y * solution.alpha, y * solution.fitted
    A, E = solution.features, np.flatnonzero((y * solution.alpha > 1e-9) & (y * solution.alpha < 1 - 1e-9))
    assert 2 < len(E) <= len(A)
    Z = X[:, A] * y[:, None]
    H = Z[E] @ Z[E].T + np.outer(y[E], y[E])
    G = np.linalg.inv(H)
    h = G @ y[E]
    C = G - np.outer(h, h) / (y[E] @ h)
    expected = margin.copy()
    expected[E] = 1 - a[E] / (lam2 * np.diag(C))
    for i in np.flatnonzero(a > 1 - 1e-9):
        rhs = -(Z[E] @ Z[i]) - y[i] * y[E]
        nu = (y[E] @ G @ rhs + y[i]) / (y[E] @ h)
        d = (Z[E].T @ (G @ rhs - nu * h) + Z[i]) / lam2
        expected[i] -= Z[i] @ d + y[i] * nu / lam2
    curve = criteria.loo(path, value, max_events=0)
    np.testing.assert_allclose(y * curve.decisions[0], expected, atol=1e-9)


def test_frozen_places_are_exact_where_not_doubtful():
    X, y = data(60, 10)
    path = svmpath.trace_elastic(X, y, lambda2=30.0)
    value = path.span[0] * 0.3
    walker = path.walker_at(value)
    frozen, done, _ = walker.leave_out(0)
    exact, every, _ = walker.leave_out()
    assert every.all()
    assert 0 < np.count_nonzero(~done) < 60
    np.testing.assert_allclose(frozen[done], exact[done], atol=1e-12)
    assert criteria.loo(path, value, max_events=0).unreliable[0] == np.count_nonzero(~done)
    assert np.abs(frozen - exact).max() > 1e-3


def test_folds_by_paths_are_refits():
    X, y = data(50, 10)
    folds = list(StratifiedKFold(5).split(X, y))
    path = svmpath.trace_elastic(X, y, lambda2=0.5)
    values = np.geomspace(*path.span, 6)
    curve = criteria.kfold(path, values, cv=folds)
    for train, test in folds:
        fold = svmpath.trace_elastic(X[train], y[train], lambda2=0.5, span=(2 * values[0], values[-1] / 2))
        for k, value in enumerate(values):
            np.testing.assert_allclose(curve.decisions[k, test], fold(value)(X[test]), atol=1e-9)
    assert svmpath.select(curve).value in values


def test_what_has_no_formula_is_refused():
    X, y = data()
    path = svmpath.trace_elastic(X, y, over="weight", sample=0, lambda1=1.0)
    with pytest.raises(ValueError, match="not over a weight"):
        criteria.loo(path, 0.5)
    path = svmpath.trace_elastic(X, y)
    with pytest.raises(ValueError, match="max_events"):
        criteria.loo(path, 1.0, max_events=-1)
    with pytest.raises(ValueError, match="max_events and count_only work for losses with an elbow only"):
        criteria.loo(svmpath.trace(X, y, loss="least_squares"), 1.0, max_events=0)


def test_alo_is_leave_one_out_without_events():
    X, y = data()
    path = svmpath.trace_elastic(X, y)
    value = 0.3 * path.span[0]
    frozen = criteria.alo(path, [value])
    assert frozen.criterion == "alo"
    assert_same(frozen.decisions, criteria.loo(path, [value], max_events=0).decisions)

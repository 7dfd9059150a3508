"""What decides where scores count errors, and the checks of a search on itself."""

from __future__ import annotations

import numpy as np
import pytest

import svmpath
from svmpath import PathSVC, PathSVR, criteria
from svmpath.criteria.curve import MARGIN_SHARE
from svmpath.search import limits, stages
from svmpath.search.choice import Scores, best_value

VALUES = np.geomspace(0.01, 100.0, 9)


def noisy(n=120, seed=0, columns=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, 1, -1)


OWN = {
    "squared_hinge": lambda y, f: np.minimum(np.maximum(1 - y * f, 0), 3) ** 2,
    "hinge": lambda y, f: np.minimum(np.maximum(1 - y * f, 0), 3),
    "huber_hinge": lambda y, f: np.minimum(np.maximum(1 - y * f, 0), 3),
    "least_squares": lambda y, f: np.minimum((y - f) ** 2, 9),
}


@pytest.mark.parametrize("loss", list(OWN))
def test_errors_and_half_the_loss_of_the_machine_decide(loss):
    X, y = noisy()
    curve = criteria.kfold(svmpath.trace(X, y, loss=loss, gamma=0.5, span=(0.01, 100.0)), VALUES, cv=5)
    target = np.asarray(y, dtype=float)[curve.rows]
    errors = ((curve.held > 0) != (target > 0)).mean(axis=1)
    both = errors + 0.5 * OWN[loss](target, curve.held).mean(axis=1)
    choice = svmpath.select(curve, rule="auto")
    np.testing.assert_allclose(choice.curve.decisive, both)
    assert choice.value == VALUES[np.argmin(both)]
    assert choice.score == pytest.approx(errors[np.argmin(both)])  # what is reported is the error
    assert svmpath.select(curve).score == pytest.approx(errors.min())
    kept = Scores.of(choice.curve)
    np.testing.assert_allclose(kept.decisive, both)
    np.testing.assert_allclose(kept.losses.mean(axis=1), both, rtol=1e-6)
    assert best_value(kept) == choice.index


def test_several_classes_count_as_two_do():
    """The mean over two machines that mirror each other is that of one; k machines count k / 2 times as much."""
    X, _ = noisy(90, 1)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = PathSVC(loss="least_squares", random_state=0).fit(X, y)
    curve = model.choice_.curve
    assert curve.share == pytest.approx(MARGIN_SHARE * 1.5)
    own = np.minimum((curve.target[curve.rows] - curve.held) ** 2, 9).mean(axis=(1, 2))
    np.testing.assert_allclose(curve.decisive, curve.scores + curve.share * own)


def test_the_rule_changes_nothing_where_scores_are_no_errors():
    X, y = noisy()
    for model in (PathSVC(scoring="squared", random_state=0), PathSVC(scoring="roc_auc", random_state=0), PathSVR()):
        found = model.fit(X, y)
        curve = found.choice_.curve
        np.testing.assert_array_equal(curve.decisive, curve.scores)
        assert pytest.approx(found.set_params(rule="min").fit(X, y).C_) == found.C_


def test_accuracy_by_name_is_the_error():
    X, y = noisy()
    plain, named = (PathSVC(scoring=scoring, random_state=0).fit(X, y) for scoring in (None, "accuracy"))
    assert (plain.C_, plain.gamma_) == pytest.approx((named.C_, named.gamma_))


def test_a_gamma_far_from_the_best_is_tried_at_large_C():
    """Two valleys: least squares prefers the wide one, a machine with a margin the one of small gamma and large C."""
    rng = np.random.default_rng([500, 0])
    X = rng.standard_t(1.5, size=(500, 6))
    y = np.abs(X[:, 0]) + 0.3 * rng.normal(size=500) > np.abs(X[:, 1])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = PathSVC(random_state=0).fit(X, y)
    gammas = np.array(sorted(model.choice_.tried))
    assert gammas.max() / gammas.min() >= 16 or len(gammas) > limits.CONFIRMED_GAMMAS
    assert model.held_out_error() < 0.2


def test_a_broken_promise_makes_the_search_go_on(monkeypatch):
    X, y = noisy(150, 2)
    kept = len(PathSVC(random_state=0).fit(X, y).choice_.tried)
    narrowed = stages.Shortlist._replace
    monkeypatch.setattr(stages.Shortlist, "_replace", lambda self, **new: narrowed(self, **{**new, "promised": -1.0}))
    more = len(PathSVC(random_state=0).fit(X, y).choice_.tried)
    assert kept < more <= kept + limits.BROKEN_PROMISES + limits.PATH_WIDENINGS


def test_a_promise_is_the_error_of_least_squares_on_landmarks():
    X, y = noisy(60, 3)
    model = PathSVC(loss="least_squares", gamma=[0.05, 0.5], C=VALUES, random_state=0)
    problem = model.fit(X, y).path_.problem
    screen = stages.Screen([problem], VALUES, "gamma", 0, landmarks=60)  # all rows: the machines themselves
    screen.score([0.5])
    curve = criteria.loo(svmpath.trace(X, y, loss="least_squares", gamma=0.5, span=(0.01, 100.0)), VALUES)
    at = np.flatnonzero(screen.tried[0.5].best == VALUES)[0]
    assert screen.promised[0.5] == pytest.approx(curve.scores[at])


@pytest.mark.slow
def test_many_narrow_classes_are_not_taken_for_smooth_ones():
    """On 64 landmarks small gammas looked best, with a C at the end of its range: 8 % errors instead of 3 %."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(11, 6, 10))
    y = np.repeat(np.arange(11), 70)
    X = centres[y, rng.integers(6, size=len(y))] + 0.35 * rng.normal(size=(len(y), 10))
    order = rng.permutation(len(y))
    train, test = order[:550], order[550:]
    model, grid = PathSVC(random_state=0), PathSVC(search="grid", random_state=0)
    error, best = (np.mean(each.fit(X[train], y[train]).predict(X[test]) != y[test]) for each in (model, grid))
    assert error <= best + 0.02
    assert model.C_ < 1e5

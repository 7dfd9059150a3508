"""Rows that belong together are held out together in all stages of the default search."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

from svmpath import PathSVC, PathSVR, Range
from svmpath.gram import make_gram
from svmpath.kernels import RBF
from svmpath.losses import Problem
from svmpath.search import limits
from svmpath.search.screen import Screen
from svmpath.solvers.ridge import fold_residuals, press_residuals
from tests.speed import first_quick


def alike(seed, groups=40, size=8):
    """Groups of nearly equal rows with one label each, of which some are wrong; and new rows."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(groups + 1000, 4))
    truth = (centres[:, 0] + centres[:, 1] > 0).astype(int)
    labels = truth ^ (rng.random(len(truth)) < 0.15)
    X = np.repeat(centres[:groups], size, axis=0)
    X = X + 0.02 * rng.normal(size=X.shape)
    group = np.repeat(np.arange(groups), size)
    return X, np.repeat(labels[:groups], size), group, centres[groups:], truth[groups:]


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "hinge"])
def test_groups_of_similar_rows_do_not_lead_to_narrow_kernels(loss):
    errors = []
    for seed in range(3):
        X, y, group, new, truth = alike(seed)
        errors.append(1 - PathSVC(loss=loss, random_state=0).fit(X, y, groups=group).score(new, truth))
    assert np.mean(errors) < 0.2  # 0.29 by leave-one-out in the first stages


@first_quick(1)
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
def test_nor_where_they_are_narrowed(monkeypatch, loss):
    monkeypatch.setattr(limits, "UNNARROWED_ROWS", 100)
    X, y, group, new, truth = alike(0)
    model = PathSVC(loss=loss, random_state=0).fit(X, y, groups=group)
    assert {stage.name for stage in model.choice_.stages} == {"screen", "narrow", "confirm"}
    assert {stage.criterion for stage in model.choice_.stages} == {"kfold"}
    assert model.score(new, truth) > 0.8


def test_nor_in_a_regression():
    X, _, group, new, _ = alike(0)
    rng = np.random.default_rng(0)
    y = np.repeat(X[::8, 0] + X[::8, 1] + 0.3 * rng.normal(size=40), 8)
    model = PathSVR(random_state=0).fit(X, y, groups=group)
    assert np.mean((model.predict(new) - new[:, 0] - new[:, 1]) ** 2) < 0.2


@pytest.mark.slow
def test_splits_of_ones_own_count_from_the_beginning():
    X, y, group, new, truth = alike(1)
    splits = list(GroupKFold(5).split(X, y, group))
    model = PathSVC(criterion="kfold", cv=splits, random_state=0).fit(X, y)
    assert {stage.criterion for stage in model.choice_.stages} == {"kfold"}
    assert model.score(new, truth) > 0.8
    each = PathSVC(loss="least_squares", cv=LeaveOneGroupOut(), random_state=0).fit(X, y, groups=group)
    assert each.score(new, truth) > 0.8


def test_folds_that_are_taken_for_want_of_something_cheaper_do_not_slow_down_the_screen():
    X, y, _, _, _ = alike(0, groups=30, size=1)
    model = PathSVC(loss="huber_hinge", random_state=0, C=Range(0.1, 10.0), gamma=Range(0.1, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert [stage.criterion for stage in model.choice_.stages] == ["press", "kfold"]


@pytest.mark.parametrize("options", [{"search": "gradient"}, {"gamma": "ard"}])
def test_a_gradient_of_leave_one_out_is_refused(options):
    X, y, group, _, _ = alike(0)
    with pytest.raises(ValueError, match="minimises leave-one-out, which does not hold groups out together"):
        PathSVC(**options).fit(X, y, groups=group)


# --- residuals of folds ----------------------------------------------------------------------------------------------

rng = np.random.default_rng(0)
Z, Y, S = rng.normal(size=(40, 9)), rng.normal(size=(40, 3)), rng.uniform(0.5, 2.0, size=40)
VALUES = np.array([0.01, 1.0, 100.0])


def refitted(train, test):
    """Residuals of plain least squares, with a column of ones for the offset, which is not shrunk."""
    A = np.column_stack([Z, np.ones(40)])
    found = []
    for C in VALUES:
        M = A[train].T @ (S[train, None] * A[train]) + np.diag([0.5 / C] * 9 + [0.0])
        found.append(Y[test] - A[test] @ np.linalg.solve(M, A[train].T @ (S[train, None] * Y[train])))
    return np.array(found).swapaxes(0, 1)


def complement(test):
    return np.setdiff1d(np.arange(40), test)


SPLITS = {
    "small folds": [(complement([k, k + 1]), np.array([k, k + 1])) for k in range(0, 40, 2)],
    "large folds": [(complement(np.arange(k, 40, 2)), np.arange(k, 40, 2)) for k in range(2)],
    "rows in neither": [(np.arange(10), np.arange(10, 14)), (np.arange(36), np.array([39, 37]))],
    "a row in both": [(np.arange(39), np.array([0, 39]))],
}


@pytest.mark.parametrize("name", SPLITS)
def test_residuals_of_folds_are_those_of_refits(name):
    folds = SPLITS[name]
    expected = np.concatenate([refitted(train, test) for train, test in folds])
    np.testing.assert_allclose(fold_residuals(Z, Y, S, VALUES, folds), expected, rtol=1e-5, atol=1e-7)


def test_folds_of_one_row_are_leave_one_out():
    folds = [(complement([k]), np.array([k])) for k in range(40)]
    press = press_residuals(Z, Y, S, VALUES)
    np.testing.assert_allclose(fold_residuals(Z, Y, S, VALUES, folds), press, rtol=1e-5, atol=1e-7)


def test_folds_among_rows_that_are_drawn():
    X, y, group, _, _ = alike(0)
    problem = Problem(make_gram(X, RBF(1.0)), np.where(y == 1, 1.0, -1.0), np.ones(len(y)), "classification")
    folds = [(np.flatnonzero(group != k), np.flatnonzero(group == k)) for k in range(40)]
    screen = Screen([problem], VALUES, "gamma", 0, rows=50, folds=folds)
    held = [group[screen.rows[test]] for _, test in screen.folds]
    assert sorted(np.concatenate(held)) == sorted(group[screen.rows])
    for (train, test), each in zip(screen.folds, held, strict=True):
        assert len(set(each)) == 1
        assert len(train) + len(test) == 50
    screen.score([10.0])
    alone = Screen([problem], VALUES, "gamma", 0, rows=50)
    alone.score([10.0])
    assert alone.tried[10.0].scores.min() < screen.tried[10.0].scores.min()  # the others of a group give a row away

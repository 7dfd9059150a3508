"""PRESS and exact k-fold against plain refits."""

import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeavePOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)

import svmpath
from svmpath import criteria
from svmpath.criteria.folds import make_folds
from svmpath.validation import draw_seed
from tests import reference
from tests.rounding import assert_same
from tests.speed import each_once, slow_except

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=N) > 0, 1.0, -1.0)
T = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=N)
S = RNG.exponential(size=N)
S[[4, 9, 33]] = 0.0
GAMMAS = [2.0**-15, 2.0**-3, 8.0]
C_VALUES = 0.5 / 2.0 ** np.arange(-15, 6, 2)  # the paper's eleven values of mu


def path_and_matrix(gamma, rank, y=Y, s=None):
    path = svmpath.trace(
        X, y, loss="least_squares", gamma=gamma, rank=rank, sample_weight=s, span=(1e-2, 2e4), random_state=0
    )
    return path, path.gram.block(slice(None), slice(None))


@each_once
@pytest.mark.parametrize("rank", [None, 15])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("s", [None, S], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("y", [Y, T], ids=["labels", "numbers"])
def test_press_equals_refits(gamma, rank, s, y):
    path, K = path_and_matrix(gamma, rank, y, s)
    curve = criteria.press(path, C_VALUES)
    weights = np.ones(N) if s is None else s
    for C, found in zip(C_VALUES, curve.decisions, strict=True):
        np.testing.assert_allclose(found, reference.leave_one_out(K, y, weights, C), atol=1e-6)


@each_once
@pytest.mark.parametrize("rank", [None, 8, 15])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("s", [None, S], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("folds", slow_except([2, 5, 12], [5]))
def test_kfold_equals_refits(gamma, rank, s, folds):
    path, K = path_and_matrix(gamma, rank, Y, s)
    cv = KFold(folds, shuffle=True, random_state=0)
    curve = criteria.kfold(path, C_VALUES, cv=cv)
    weights = np.ones(N) if s is None else s
    for C, found in zip(C_VALUES, curve.decisions, strict=True):
        for train, test in cv.split(X):
            np.testing.assert_allclose(found[test], reference.held_out(K, Y, weights, C, train, test), atol=1e-6)


GROUPS = np.arange(N) % 7
SPLITTERS = {
    "number": (4, None),
    "stratified": (StratifiedKFold(3), None),
    "repeated": (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1), None),
    "shuffled": (ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=1), None),
    "groups": (LeaveOneGroupOut(), GROUPS),
    "pairs": (LeavePOut(2), None),
    "list": ([(np.arange(10, N), np.arange(5)), (np.arange(20), np.arange(15, 40))], None),
}


@pytest.mark.parametrize("name", [name for name in SPLITTERS if name != "pairs"])
def test_any_splitter(name):
    cv, groups = SPLITTERS[name]
    path, K = path_and_matrix(0.3, None, Y, S)
    curve = criteria.kfold(path, [2.0], cv=cv, groups=groups)
    if name == "number":
        cv = make_folds(4, X, Y, is_classification=True, s=S, seed=draw_seed(None))
    splits = cv if isinstance(cv, list) else list(cv.split(X, Y, groups))
    total, times, losses, weights = np.zeros(N), np.zeros(N), [], []
    for train, test in splits:
        f = reference.held_out(K, Y, S, 2.0, train, test)
        total[test] += f
        times[test] += 1
        losses.append((f > 0) != (Y[test] > 0))
        weights.append(S[test])
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(curve.decisions[0], total / times, atol=1e-8)
    np.testing.assert_allclose(curve.scores[0], np.average(np.concatenate(losses), weights=np.concatenate(weights)))


def test_leaving_pairs_out():
    few = slice(0, 9)
    path = svmpath.trace(X[few], Y[few], loss="least_squares", gamma=0.3)
    K = reference.rbf(X[few], X[few], 0.3)
    curve = criteria.kfold(path, [2.0], cv=LeavePOut(2))
    slow = [reference.held_out(K, Y[few], np.ones(9), 2.0, a, b) for a, b in LeavePOut(2).split(X[few])]
    np.testing.assert_allclose(curve.held[0], np.concatenate(slow), atol=1e-9)


def test_loo_is_press_here():
    path, _ = path_and_matrix(0.3, None)
    assert_same(criteria.loo(path, [1.0]).decisions, criteria.press(path, [1.0]).decisions)


def test_kfold_of_single_samples_is_press():
    path, _ = path_and_matrix(0.3, None, Y, S)
    singles = criteria.kfold(path, [0.1, 10.0], cv=KFold(N))
    np.testing.assert_allclose(singles.decisions, criteria.press(path, [0.1, 10.0]).decisions, atol=1e-9)


@pytest.mark.parametrize("rank", [None, 15])
def test_criteria_over_a_kernel_parameter(rank):
    path = svmpath.trace(X, Y, loss="least_squares", over="gamma", span=(0.01, 10.0), C=2.0, rank=rank, random_state=0)
    for criterion in (criteria.press, criteria.kfold):
        curve = criterion(path, [0.02, 5.0])
        for gamma, found in zip(curve.values, curve.decisions, strict=True):
            fixed = svmpath.trace(X, Y, loss="least_squares", gamma=gamma, rank=rank, random_state=0)
            np.testing.assert_allclose(found, criterion(fixed, [2.0]).decisions[0], atol=1e-10)


def test_scores_are_weighted_means_of_the_losses():
    path, _ = path_and_matrix(0.3, None, Y, S)
    curve = criteria.press(path, [1.0, 3.0])
    wrong = (curve.decisions > 0) != (Y > 0)
    np.testing.assert_allclose(curve.scores, np.average(wrong, axis=1, weights=S))
    squared = criteria.press(path, [1.0, 3.0], loss="squared")
    np.testing.assert_allclose(squared.scores, np.average((curve.decisions - Y) ** 2, axis=1, weights=S))
    smooth = np.minimum(np.maximum(0, 1 - Y * curve.decisions), 3) ** 2
    np.testing.assert_allclose(curve.rescored("squared_hinge").scores, np.average(smooth, axis=1, weights=S))
    logistic = np.log1p(np.exp(-Y * curve.decisions))
    np.testing.assert_allclose(curve.rescored("logistic").scores, np.average(logistic, axis=1, weights=S))
    hinge = criteria.press(path, [1.0, 3.0], loss=lambda y, f: np.maximum(0, 1 - y * f))
    np.testing.assert_allclose(hinge.scores, np.average(np.maximum(0, 1 - Y * curve.decisions), axis=1, weights=S))
    assert_same(curve.rescored("squared").scores, squared.scores)
    assert not curve.unreliable.any()


def test_standard_errors_are_those_of_a_mean():
    path, _ = path_and_matrix(0.3, None)
    curve = criteria.press(path, [1.0], loss="squared")
    np.testing.assert_allclose(curve.standard_errors[0], np.std(curve.losses[0]) / np.sqrt(N))


def test_the_embedded_error_rate_of_a_balanced_pair_is_one():
    # Two samples: each is predicted by the machine of the other, which knows one label only.
    path = svmpath.trace(np.array([[0.0], [1.0]]), ["a", "b"], loss="least_squares")
    assert criteria.loo(path, [1.0]).scores[0] == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: criteria.press(p, [1e9]), "outside the span"),
        (lambda p: criteria.press(p, []), "list of numbers"),
        (
            lambda p: criteria.press(p, [1.0], loss="hinge"),
            "loss must be one of 'error', 'squared', 'squared_hinge', 'logistic'",
        ),
        (lambda p: criteria.press(p, [1.0], loss=lambda y, f: 0.0).scores, "one number per sample"),
        (lambda p: criteria.kfold(p, [1.0], cv=1), "at least one train/test split|n_splits"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, message):
    path, _ = path_and_matrix(0.3, None)
    with pytest.raises(ValueError, match=message):
        call(path)


def test_error_rate_of_a_regression_is_refused():
    path, _ = path_and_matrix(0.3, None, T)
    with pytest.raises(ValueError, match="use loss='squared'"):
        criteria.press(path, [1.0], loss="error")


def test_one_active_sample_cannot_be_left_out():
    s = np.zeros(N)
    s[0] = 1.0
    path, _ = path_and_matrix(0.3, None, T, s)
    with pytest.raises(ValueError, match="at least two samples"):
        criteria.press(path, [1.0])
    with pytest.raises(ValueError, match="use fewer folds"):
        criteria.kfold(path, [1.0], cv=2)


def test_values_lost_to_rounding_are_doubtful():
    wide = 1e4 * RNG.normal(size=(60, 50))
    path = svmpath.trace(wide, Y, loss="least_squares", kernel="linear", span=(1e-12, 1e6))
    for criterion in (criteria.press, criteria.kfold):
        curve = criterion(path, [1e-12, 1e3])
        assert curve.unreliable.tolist() == [0, 60]
    # A large kernel that is well-conditioned keeps its digits.
    diagonal = svmpath.trace(
        1e12 * np.eye(6), [0.0, 1.0, 2.0, 3.0, 4.0, 5.5], loss="least_squares", kernel="precomputed", span=(1e-3, 1e6)
    )
    curve = criteria.press(diagonal, [1e6])
    assert curve.unreliable.tolist() == [0]
    slow = reference.leave_one_out(1e12 * np.eye(6), diagonal.problem.y, np.ones(6), 1e6)
    np.testing.assert_allclose(curve.decisions[0], slow, rtol=1e-12)


def test_splits_are_checked():
    path, K = path_and_matrix(0.3, None)
    mask = np.arange(N) % 4 == 0
    by_mask = criteria.kfold(path, [2.0], cv=[(~mask, mask)])
    expected = reference.held_out(K, Y, np.ones(N), 2.0, np.flatnonzero(~mask), np.flatnonzero(mask))
    np.testing.assert_allclose(by_mask.held[0], expected, atol=1e-9)
    negative = criteria.kfold(path, [2.0], cv=[(np.arange(-N, -10), np.arange(N - 10, N))])
    expected = reference.held_out(K, Y, np.ones(N), 2.0, np.arange(N - 10), np.arange(N - 10, N))
    np.testing.assert_allclose(negative.held[0], expected, atol=1e-9)
    with pytest.raises(ValueError, match="same row twice in its training part"):
        criteria.kfold(path, [2.0], cv=[([0, 0, 1, 2], [3])])
    with pytest.raises(ValueError, match=r"at least one \(train, test\) pair"):
        criteria.kfold(path, [2.0], cv=[])


def test_repeats_do_not_shrink_standard_errors():
    path, _ = path_and_matrix(0.3, None)
    once = criteria.kfold(path, [2.0], cv=KFold(5))
    often = criteria.kfold(path, [2.0], cv=[fold for _ in range(20) for fold in KFold(5).split(Y)])
    np.testing.assert_allclose(often.standard_errors, once.standard_errors, rtol=1e-10)


def test_nearly_singular_folds_are_solved():
    data, labels = load_wine(return_X_y=True)
    path = svmpath.trace(data, labels == 0, loss="least_squares", kernel="poly", gamma=1e-3, span=(1e-3, 1e6))
    assert np.isfinite(criteria.kfold(path, [1e-3, 1.0, 1e6]).decisions).all()
    sigmoid = svmpath.trace(X, Y, loss="least_squares", kernel="sigmoid", gamma=1.0, coef0=-1.0)
    with pytest.warns(svmpath.IndefiniteKernelWarning):
        curve = criteria.kfold(sigmoid, [0.1, 10.0])
    assert np.isfinite(curve.decisions).all()


def test_held_out_values_that_are_not_finite_are_refused():
    path, _ = path_and_matrix(0.3, None)
    curve = criteria.press(path, [1.0])
    broken = dataclasses.replace(curve, source=np.where(np.arange(N) == 3, np.nan, curve.held))
    with pytest.raises(ValueError, match="not finite"):
        broken.scores  # noqa: B018


def test_held_out_samples_of_weight_zero_cannot_be_scored():
    s = np.ones(N)
    s[:10] = 0.0
    path, _ = path_and_matrix(0.3, None, Y, s)
    curve = criteria.kfold(path, [1.0], cv=[(np.arange(10, N), np.arange(10))])
    with pytest.raises(ValueError, match="all have weight zero"):
        curve.scores  # noqa: B018
    assert np.isfinite(curve.decisions[0, :10]).all()


def test_answers_are_shown_in_a_line():
    path, _ = path_and_matrix(0.3, None)
    curve = criteria.press(path, [0.1, 1.0])
    assert repr(path) == "<Path: least_squares over C from 0.01 to 20000; 60 samples, RBF(gamma=0.3)>"
    assert repr(curve) == "<Curve: press at 2 values of C in [0.1, 1]>"
    assert repr(path(1.0)) == "<Solution: least_squares at C = 1, gamma = 0.3; 60 of 60 samples support it>"
    assert repr(svmpath.select(curve)).startswith("<Choice: C = ")

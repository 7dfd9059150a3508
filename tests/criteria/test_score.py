"""Scores of curves by scorers of scikit-learn: against its metrics on plain refits, and brute-force jackknives."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import make_moons
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import RepeatedKFold

import svmpath
from svmpath import criteria
from svmpath.criteria.calibration import fit_calibration
from svmpath.criteria.curve import one_vs_rest
from svmpath.criteria.folds import random_places
from svmpath.criteria.scorers import make_scoring, scorer_names
from svmpath.criteria.scoring import MOST_PARTS
from svmpath.criteria.threshold import MOST_CUTS, best_threshold, threshold_candidates
from svmpath.kernels import RBF
from tests.speed import first_quick, slow_except

RNG = np.random.default_rng(0)
X, Y = make_moons(50, noise=0.35, random_state=1)
S = RNG.integers(1, 4, size=50).astype(float)
C = np.array([0.3, 5.0])
THREE = np.digitize(X[:, 0], [-0.3, 1.1])
NUMBERS = np.sin(2 * X[:, 0]) + 0.2 * RNG.normal(size=50)


def traced(y, loss, weights=S, rows=slice(None), **options):
    return svmpath.trace(
        X[rows], y[rows], kernel=RBF(1.0), loss=loss, span=(0.1, 10.0), sample_weight=weights[rows], **options
    )


def refits(y, loss, weights=S, **options):
    """Decision values of each row by a path of the others, at all C."""
    found = np.empty((len(C), len(y)))
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        path = traced(y, loss, weights, keep, **options)
        found[:, i] = [path(value)(X[[i]])[0] for value in C]
    return found


@first_quick(3)
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge", "hinge", "huber_hinge"])
def test_two_classes_against_plain_refits(loss):
    curve, f = criteria.loo(traced(Y, loss), C), refits(Y, loss)
    weighted = {"sample_weight": S}
    expected = {
        "f1": [metrics.f1_score(Y, each > 0, **weighted) for each in f],
        "roc_auc": [metrics.roc_auc_score(Y, each, **weighted) for each in f],
        "average_precision": [metrics.average_precision_score(Y, each, **weighted) for each in f],
        "balanced_accuracy": [metrics.balanced_accuracy_score(Y, each > 0, **weighted) for each in f],
        make_scorer(metrics.fbeta_score, beta=2): [metrics.fbeta_score(Y, each > 0, beta=2, **weighted) for each in f],
    }
    for scoring, values in expected.items():
        np.testing.assert_allclose(criteria.score(curve, scoring), values, atol=1e-9)


@first_quick(1)
@pytest.mark.parametrize("loss", ["least_squares", "epsilon_insensitive"])
def test_regressions_against_plain_refits(loss):
    options = {"epsilon": 0.1} if loss == "epsilon_insensitive" else {}
    curve, f = criteria.loo(traced(NUMBERS, loss, **options), C), refits(NUMBERS, loss, **options)
    for scoring in ("r2", "neg_mean_absolute_error", "neg_median_absolute_error", "explained_variance"):
        expected = [get_scorer(scoring)._score_func(NUMBERS, each, sample_weight=S) for each in f]
        np.testing.assert_allclose(np.abs(criteria.score(curve, scoring)), np.abs(expected), rtol=1e-9, atol=1e-9)
    pinball = make_scorer(metrics.mean_pinball_loss, alpha=0.9, greater_is_better=False)
    expected = [-metrics.mean_pinball_loss(NUMBERS, each, alpha=0.9, sample_weight=S) for each in f]
    np.testing.assert_allclose(criteria.score(curve, pinball), expected, rtol=1e-9)
    half = criteria.score(curve, "neg_mean_pinball_loss")
    np.testing.assert_allclose(2 * half, criteria.score(curve, "neg_mean_absolute_error"), rtol=1e-12)


def labels_against_rest(c):
    return np.where(c == THREE, 1, -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss", slow_except(["least_squares", "squared_hinge", "hinge", "huber_hinge"], ["squared_hinge"])
)
def test_three_classes_against_plain_refits(loss):
    curve = one_vs_rest([criteria.loo(traced(labels_against_rest(c), loss), C) for c in range(3)])
    f = np.stack([refits(labels_against_rest(c), loss) for c in range(3)], axis=2)
    predicted = np.argmax(f, axis=2)
    expected = [metrics.f1_score(THREE, each, average="macro", sample_weight=S) for each in predicted]
    np.testing.assert_allclose(criteria.score(curve, "f1_macro"), expected, atol=1e-9)
    expected = [metrics.recall_score(THREE, each, labels=[2], average="macro", sample_weight=S) for each in predicted]
    last = make_scorer(metrics.recall_score, labels=["c"], average="macro")
    np.testing.assert_allclose(criteria.score(curve, last, classes=["a", "b", "c"]), expected, atol=1e-9)
    p = [fit_calibration(each, THREE, 3, S).probabilities(each) for each in f]
    for scoring, score in (("roc_auc_ovr", metrics.roc_auc_score), ("neg_log_loss", metrics.log_loss)):
        extra = {"multi_class": "ovr"} if scoring == "roc_auc_ovr" else {}
        expected = [score(THREE, each, sample_weight=S, **extra) for each in p]
        np.testing.assert_allclose(np.abs(criteria.score(curve, scoring)), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="must hold the 3 labels"):
        criteria.score(curve, "f1_macro", classes=["a", "b"])


def test_probabilities_are_calibrated_on_the_same_decisions():
    curve = criteria.press(traced(Y, "least_squares"), C)
    p = [fit_calibration(f, Y, 2, S).probabilities(f)[:, 1] for f in curve.held]
    expected = [-metrics.brier_score_loss(Y, each, sample_weight=S) for each in p]
    np.testing.assert_allclose(criteria.score(curve, "neg_brier_score"), expected, rtol=1e-12)


@pytest.mark.parametrize("scoring", ["f1", "roc_auc", "accuracy", "matthews_corrcoef"])
def test_a_weight_of_two_is_a_row_given_twice(scoring):
    curve = criteria.press(traced(Y, "least_squares"), C)  # the rows are held out once, and are worth S
    at = np.repeat(np.arange(50), S.astype(int))
    twice = replace(curve, rows=np.arange(len(at)), source=curve.held[:, at], target=curve.target[at])
    twice = replace(twice, path=replace(curve.path, problem=replace(curve.path.problem, s=np.ones(len(at)))))
    np.testing.assert_allclose(criteria.score(twice, scoring), criteria.score(curve, scoring), rtol=1e-8)


def test_rows_of_weight_zero_are_left_out():
    s = np.where(np.arange(50) % 5 == 0, 0.0, 1.0)
    curve, kept = criteria.press(traced(Y, "least_squares", s), C), s > 0
    expected = [metrics.f1_score(Y[kept], f[kept] > 0) for f in curve.held]
    assert criteria.score(curve, "f1").tolist() == expected
    assert not np.allclose(expected, [metrics.f1_score(Y, f > 0) for f in curve.held])
    # The others are all worth the same, so that a score without weights will do.
    assert criteria.score(curve, lambda estimator, X, y: len(y)).tolist() == [40.0, 40.0]


def test_repeated_folds_count_each_time():
    curve = criteria.kfold(traced(Y, "least_squares"), C, cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    expected = [metrics.f1_score(Y[curve.rows], f > 0, sample_weight=S[curve.rows]) for f in curve.held]
    np.testing.assert_allclose(criteria.score(curve, "f1"), expected, rtol=1e-12)
    scored = replace(curve, scoring=make_scoring("f1", np.arange(2), Y, S))
    one = curve.splits == 4
    expected = [-metrics.f1_score(Y[curve.rows[one]], f[one] > 0, sample_weight=S[curve.rows[one]]) for f in curve.held]
    np.testing.assert_allclose(scored.split_scores[:, 4], expected, rtol=1e-12)
    assert scored.split_scores.shape == (2, 6)
    wrong = (curve.held > 0) != Y[curve.rows]
    expected = [np.average(each[one], weights=S[curve.rows[one]]) for each in wrong]
    np.testing.assert_allclose(curve.split_scores[:, 4], expected)


def test_functions_see_samples_and_labels():
    names = np.array(["no", "yes"])[Y]
    curve, seen = criteria.press(traced(names, "least_squares", np.ones(50)), C), []

    def half(estimator, X, y):
        seen.append((X[:, 0], y))
        return np.mean(estimator.predict(X[::2]) == y[::2])

    expected = [np.mean((f > 0)[::2] == Y[::2]) for f in curve.held]
    np.testing.assert_allclose(criteria.score(curve, half), expected)
    assert np.array_equal(seen[-1][0], np.arange(50))
    assert np.array_equal(seen[-1][1], names)


# --- standard errors -------------------------------------------------------------------------------------------------


def test_the_error_of_a_mean_is_that_of_the_jackknife():
    curve = criteria.press(traced(Y, "least_squares", np.ones(50)), C)
    scored = replace(curve, scoring=make_scoring("accuracy", np.arange(2), Y, np.ones(50)))
    np.testing.assert_allclose(scored.scores + 1.0, curve.scores)
    right = ((curve.held > 0) == Y).astype(float)
    without = np.array([[np.delete(each, i).mean() for i in range(50)] for each in right])
    jackknife = np.sqrt(49 / 50 * ((without - without.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
    np.testing.assert_allclose(scored.standard_errors, np.sqrt(49 / 50) * jackknife)


@pytest.mark.parametrize("scoring", ["f1", make_scorer(metrics.accuracy_score)])
def test_other_errors_are_those_of_a_jackknife_of_groups(scoring):
    curve = replace(criteria.press(traced(Y, "least_squares"), C), scoring=make_scoring(scoring, np.arange(2), Y, S))
    score = metrics.f1_score if scoring == "f1" else metrics.accuracy_score
    order = np.lexsort((random_places(curve.path.problem), Y))
    expected = []
    for f in curve.held:
        parts = []
        for g in range(MOST_PARTS):
            keep = np.setdiff1d(np.arange(50), order[g::MOST_PARTS])
            parts.append(score(Y[keep], f[keep] > 0, sample_weight=S[keep]))
        expected.append(np.sqrt((MOST_PARTS - 1) / MOST_PARTS * np.sum((parts - np.mean(parts)) ** 2)))
    np.testing.assert_allclose(curve.standard_errors, expected, rtol=1e-9)
    assert (curve.standard_errors > 0).all()


def test_a_group_with_the_only_sample_of_a_class_is_not_counted():
    y = np.zeros(50, dtype=int)
    y[7] = 1
    curve = criteria.press(traced(y, "least_squares", np.ones(50)), C)
    scored = replace(curve, scoring=make_scoring("roc_auc", np.arange(2), y, np.ones(50)))
    assert np.isfinite(scored.standard_errors).all()


def test_longer_curves_keep_what_is_known():
    calls = []

    def counted(estimator, X, y):
        calls.append(len(y))
        return metrics.accuracy_score(y, estimator.predict(X))

    path, scoring = traced(Y, "least_squares", np.ones(50)), make_scoring(counted, np.arange(2), Y, np.ones(50))
    parts = [replace(criteria.press(path, [value]), scoring=scoring) for value in C[::-1]]
    expected = [(part.scores[0], part.standard_errors[0]) for part in parts]
    done = len(calls)
    whole = parts[0].joined(parts[1]).in_order()
    assert [*zip(whole.scores, whole.standard_errors, strict=True)] == expected[::-1]
    assert len(calls) == done
    assert whole.rescored(None).scores[0] == pytest.approx(1.0 + whole.scores[0])


# --- what is refused -------------------------------------------------------------------------------------------------

LABELS, WORDS, MORE = np.arange(2), np.array(["no", "yes"]), np.arange(3)


@first_quick(3)
@pytest.mark.parametrize(
    ("scoring", "classes", "s", "message"),
    [
        ("roc_auk", LABELS, None, r"got 'roc_auk'. Did you mean 'roc_auc'\?$"),
        ("r2", LABELS, None, "'r2' is a score of regressions, but this is a classification; use one of labels"),
        ("neg_mean_squared_error", MORE, None, "is a score of regressions"),
        ("accuracy", None, None, "'accuracy' is a score of labels, but this is a regression"),
        ("roc_auc", None, None, "is a score of labels, but this is a regression"),
        ("adjusted_rand_score", None, None, "is a score of labels, but this is a regression"),
        (
            "f1",
            MORE,
            None,
            r"'f1' cannot be evaluated on the decision values of 3 classes: .*Did you mean 'f1_m...o'\?$",
        ),
        ("roc_auc", MORE, None, r"3 classes: .*Did you mean 'roc_auc_ov.'\?$"),
        (
            make_scorer(metrics.f1_score),
            WORDS,
            None,
            "takes 1 for the positive label, but the labels are .*make_scorer",
        ),
        (lambda estimator, X, y: 1.0, LABELS, S, "takes no sample_weight, but the weights of the rows differ"),
        ("neg_max_error", None, S, "takes no sample_weight"),
        (lambda estimator, X, y: {"a": 1.0}, LABELS, None, "cannot be evaluated"),
        (["f1"], LABELS, None, "must be one name, one scorer"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(scoring, classes, s, message):
    y = NUMBERS if classes is None else THREE if len(classes) == 3 else Y
    with pytest.raises(ValueError, match=message) as refused:
        make_scoring(scoring, classes, y, np.ones(50) if s is None else s)
    assert "\n" not in str(refused.value)


def test_names_are_those_of_scikit_learn():
    assert set(metrics.get_scorer_names()) < set(scorer_names())


def test_a_score_that_is_not_defined_is_refused():
    curve = criteria.kfold(traced(Y, "least_squares"), C, cv=[(np.arange(50), np.flatnonzero(Y == 1))])
    with pytest.raises(ValueError, match=r"not defined on these held-out decision values|cannot be evaluated on these"):
        criteria.score(curve, "roc_auc")


def test_a_bound_has_nothing_to_score():
    with pytest.raises(ValueError, match="needs held-out decision values, which 'radius_margin' does not have"):
        criteria.score(criteria.radius_margin(traced(Y, "squared_hinge", np.ones(50)), C), "f1")


# --- thresholds ------------------------------------------------------------------------------------------------------


def test_the_threshold_is_the_best_of_all_cuts():
    y = (X[:, 0] > 1.2).astype(int)
    curve = criteria.press(traced(y, "least_squares"), C[:1])
    f, levels = curve.held[0], np.unique(curve.held[0])
    cuts = np.append((levels[1:] + levels[:-1]) / 2, 0.0)
    scores = np.array([metrics.f1_score(y, f > cut, sample_weight=S, zero_division=0.0) for cut in cuts])
    found = best_threshold(curve, make_scoring("f1", np.arange(2), y, S))
    equal = cuts[scores >= scores.max() - 1e-12]
    assert found == pytest.approx(equal[np.argmin(np.abs(equal))])
    assert scores.max() > scores[-2]
    assert best_threshold(curve, make_scoring("roc_auc", np.arange(2), y, S)) == 0.0
    assert best_threshold(curve, make_scoring("neg_log_loss", np.arange(2), y, S)) == 0.0


def test_cuts_are_few_and_hold_zero():
    assert threshold_candidates(np.ones(5)).tolist() == [0.0, 0.0, 2.0]  # all decision values are equal
    assert threshold_candidates(np.array([1.0, 3.0, 1.0])).tolist() == [2.0, -1.0, 0.0, 5.0]
    many = threshold_candidates(RNG.normal(size=5000))
    assert len(many) == MOST_CUTS + 3
    assert np.abs(np.quantile(many, 0.25) + 0.67) < 0.1  # evenly by rank

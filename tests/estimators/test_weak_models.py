"""A model that misses a class, or is no better than a constant, says so; one that does not stays silent."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import RepeatedStratifiedKFold

from svmpath import ElasticNetSVC, PathSVC, WeakModelWarning
from svmpath.criteria.recall import recall_by_class

GIVEN = {"C": 1.0, "gamma": 0.5, "rank": None, "random_state": 0}


def frauds(ok=300, fraud=12, shift=1.3, seed=0):
    """Two classes, of which the rare one lies at the border of the other."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(ok, 2)), rng.normal(shift, 1, size=(fraud, 2))])
    return X, np.repeat(["ok", "fraud"], [ok, fraud])


def said(model, X, y, **more):
    """What fit warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **more)
    return [str(each.message) for each in caught if each.category is WeakModelWarning]


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "hinge", "huber_hinge"])
def test_a_rare_class_that_is_missed_is_named_with_remedies(loss):
    (sentence,) = said(PathSVC(loss=loss, **GIVEN), *frauds())
    assert "of 12 rows of class 'fraud' are found" in sentence
    assert "always predicting 'ok'" in sentence
    for remedy in ("class_weight='balanced'", "scoring='balanced_accuracy'", "threshold='tune'"):
        assert remedy in sentence


def test_the_warning_names_the_line_that_called_fit():
    with pytest.warns(WeakModelWarning) as caught:
        PathSVC(**GIVEN).fit(*frauds())
    assert caught[0].filename == __file__


def test_the_elastic_net_says_it_too():
    X, y = frauds(shift=1.0)
    (sentence,) = said(ElasticNetSVC(lambda1=1.0, lambda2=1.0), X, y)
    assert "'fraud'" in sentence


@pytest.mark.parametrize(
    "given",
    [{"class_weight": "balanced"}, {"scoring": "balanced_accuracy", "threshold": "tune"}],
    ids=["weights", "score and threshold"],
)
def test_who_has_looked_after_the_classes_is_not_disturbed(given):
    model = PathSVC(**GIVEN, **given)
    assert said(model, *frauds()) == []
    assert model.held_out_recall().recall.min() >= 0.5


def test_a_model_that_is_useless_for_a_class_is_not_silent_whatever_is_given():
    model = PathSVC(scoring="roc_auc", **GIVEN)
    (sentence,) = said(model, *frauds())
    assert "of 12 rows of class 'fraud'" in sentence
    assert "class_weight='balanced' or threshold='tune'" in sentence
    assert "scoring" not in sentence  # which is used already
    assert "baseline" not in sentence


def test_noise_with_weights_is_guessing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = PathSVC(class_weight="balanced", **GIVEN)
    sentences = said(model, X, y)
    assert bool(sentences) == (
        model.held_out_recall().balanced_accuracy <= 0.5 or min(model.held_out_recall().recall) < 0.25
    )


def test_classes_that_are_told_apart_are_silent():
    assert said(PathSVC(**GIVEN), *frauds(shift=6.0)) == []


def test_a_few_rows_without_an_error_are_silent():
    X = np.concatenate([np.arange(4.0), 100 + np.arange(4.0)])[:, None]  # no interval of 8 rows is below the baseline
    assert said(PathSVC(kernel="linear", C=1.0, scale=True), X, np.repeat([0, 1], 4)) == []


def test_a_class_of_three_rows_is_counted():
    X, y = frauds(40, 3, shift=0.3)
    (sentence,) = said(PathSVC(**GIVEN), X, y)
    assert "0 of 3 rows of class 'fraud' are found" in sentence


def test_no_more_than_three_classes_are_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 6
    (sentence,) = said(PathSVC(loss="least_squares", **GIVEN), X, y)
    assert "more classes are found" in sentence
    assert "threshold" not in sentence  # there is none


def test_a_bound_has_no_held_out_errors_so_fit_computes_none(monkeypatch):
    monkeypatch.setattr("svmpath.estimators.machines.Machines.scored", lambda *_: pytest.fail("no fit for a warning"))
    assert said(PathSVC(criterion="radius_margin", **GIVEN), *frauds()) == []


@pytest.mark.parametrize("threshold", [0.0, -0.6, "tune"])
def test_recall_is_that_of_scikit_learn_on_held_out_decisions(threshold):
    X, y = frauds()
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = PathSVC(loss="least_squares", threshold=threshold, class_weight="balanced", **GIVEN)
    said(model, X, y, sample_weight=w)
    predicted = model.classes_[(model.held_out_decisions() > model.threshold_).astype(int)]
    found = model.held_out_recall()
    expected = recall_score(y, predicted, labels=model.classes_, average=None, sample_weight=w)
    np.testing.assert_allclose(found.recall, expected, atol=1e-12)
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, predicted, sample_weight=w))
    assert found.error == pytest.approx(model.held_out_error())
    assert found.interval == pytest.approx(model.held_out_interval())
    assert found.baseline < 0.55  # weighted as the error is: each class weighs the same


def test_rows_held_out_several_times_count_once():
    X, y = frauds(60, 12)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = PathSVC(loss="least_squares", criterion="kfold", cv=cv, **GIVEN)
    said(model, X, y)
    assert model.held_out_recall().rows.tolist() == [12, 60]


def test_a_class_that_was_never_held_out_has_no_recall():
    found = recall_by_class(np.zeros(3), np.zeros(3, int), np.ones(3), np.arange(3), np.array(["a", "b"]))
    assert found.recall[0] == 1.0
    assert np.isnan(found.recall[1])
    assert found.lowest.tolist() == [0]
    assert found.balanced_accuracy == 1.0


def test_one_class_alone_with_weight_is_silent():
    found = recall_by_class(np.zeros(4), np.repeat([0, 1], 2), np.array([1.0, 1, 0, 0]), np.arange(4), np.array([0, 1]))
    assert found.baseline == 0.0
    assert found.caution({}) is None

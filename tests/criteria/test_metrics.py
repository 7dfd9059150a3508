"""Metrics of held-out predictions: against scikit-learn's, and what is not defined."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from svmpath import PathSVC, PathSVR
from svmpath.criteria.metrics import class_metrics, positive_class
from svmpath.datasets import banana

X, Y = banana(120, random_state=0)


def test_two_classes_speak_of_the_rare_one():
    y = np.where(Y > 0, "rare", "usual") if (Y > 0).sum() < 60 else np.where(Y > 0, "usual", "rare")
    s = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = PathSVC(C=1.0, gamma=1.0).fit(X, y, s)
    found, f = model.held_out_metrics(), model.held_out_decisions()
    is_rare, called = y == "rare", model.classes_[(f > 0).astype(int)] == "rare"
    assert found["positive"] == "rare"
    row = next(row for row in found["per_class"] if row["label"] == "rare")
    for name, score in (("recall", recall_score), ("precision", precision_score), ("f1", f1_score)):
        assert row[name] == pytest.approx(score(is_rare, called, sample_weight=s))
    side = f if model.classes_[1] == "rare" else -f
    assert found["roc_auc"] == pytest.approx(roc_auc_score(is_rare, side, sample_weight=s))
    assert found["average_precision"] == pytest.approx(average_precision_score(is_rare, side, sample_weight=s))
    assert found["balanced_accuracy"] == pytest.approx(model.held_out_recall().balanced_accuracy)


def test_the_weights_of_classes_do_not_count():
    plain = PathSVC(C=1.0, gamma=1.0).fit(X, Y)
    f, code = plain.held_out_decisions(), (Y > 0).astype(int)
    weighted = PathSVC(C=1.0, gamma=1.0, class_weight={-1: 1.0, 1: 5.0}).fit(X, Y)
    g = weighted.held_out_decisions()
    for model, values in ((plain, f), (weighted, g)):
        assert model.held_out_metrics()["per_class"][1]["precision"] == pytest.approx(precision_score(code, values > 0))


def test_a_regression():
    rng = np.random.default_rng(0)
    y = X[:, 0] + 0.1 * rng.normal(size=len(X))
    model = PathSVR(C=1.0, gamma=1.0).fit(X, y)
    found, f = model.held_out_metrics(), model.held_out_decisions()
    assert found["root_mean_squared_error"] == pytest.approx(np.sqrt(model.held_out_error()))
    assert found["r2"] == pytest.approx(1 - model.held_out_error() / np.var(y))
    assert found["mean_absolute_error"] == pytest.approx(np.abs(y - f).mean())


def test_what_is_not_defined_is_none():
    found = class_metrics(np.full(4, -1.0), np.array([0, 0, 0, 1]), np.ones(4), np.array(["a", "b"]), 0.0, 1)
    assert found["per_class"][1]["precision"] is None
    assert found["per_class"][1]["recall"] == 0.0
    found = class_metrics(np.full(3, -1.0), np.zeros(3, dtype=int), np.ones(3), np.array(["a", "b"]), 0.0, 1)
    assert found["roc_auc"] is None
    assert found["balanced_accuracy"] == 1.0


def test_the_positive_class_can_be_given():
    assert positive_class(np.array(["a", "b"]), np.array([0, 0, 1]), "a") == 0
    assert positive_class(np.array(["a", "b"]), np.array([0, 0, 1])) == 1

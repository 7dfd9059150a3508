"""The hinge beside the squared hinge, where equal rows have both labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from svmpath import PathSVC, criteria, trace
from svmpath.gram import DenseGram
from svmpath.kernels import RBF
from svmpath.paths.copies import contradicted
from svmpath.search import limits, rival


def cells(n=300, seed=9):
    """Sixteen kinds of rows, each with both labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(2, size=(n, 4)).astype(float)
    return X, np.where(rng.random(n) < 0.2 + 0.6 * ((X @ [1, 2, 4, 8]) % 3 > 0), "yes", "no")


def test_contradicted_is_the_share_of_rows_with_an_equal_one_of_another_label():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(60, 3)).astype(float), rng.integers(2, size=60)
    by_hand = [any((X[i] == X[j]).all() and y[i] != y[j] for j in range(60)) for i in range(60)]
    assert contradicted(DenseGram(RBF(1.0), X), y) == pytest.approx(np.mean(by_hand))
    assert contradicted(DenseGram(RBF(1.0), rng.normal(size=(60, 3))), y) == 0.0


@pytest.mark.parametrize("is_better", [True, False])
def test_the_hinge_is_chosen_only_if_it_is_better_by_a_standard_error(monkeypatch, is_better):
    X, y = cells()
    monkeypatch.setattr(rival, "is_clearly_better", lambda curve, first: is_better)
    model = PathSVC(random_state=0).fit(X, y)
    stages = [(stage.name, stage.loss, stage.criterion) for stage in model.choice_.stages]
    assert ("compare", "hinge", "kfold") in stages
    assert model.loss_ == ("hinge" if is_better else "squared_hinge")
    assert model.criterion_ == ("kfold" if is_better else "span")
    assert model.path_.loss.name == model.loss_
    if is_better:  # the machine is that of LIBSVM
        plain = SVC(C=model.C_, gamma=model.gamma_, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-6)


def test_better_is_by_a_standard_error_of_the_weighted_difference():
    X, y = cells(80)
    y, s = np.where(y == "yes", 1.0, -1.0), np.random.default_rng(0).uniform(0.1, 3.0, 80)
    values = np.array([0.5, 1.0, 2.0])
    paths = [trace(X, y, loss=loss, gamma=0.5, span=(0.5, 2.0), sample_weight=s) for loss in ("squared_hinge", "hinge")]
    first, other = (criteria.kfold(path, values, cv=4, random_state=0) for path in paths)
    first = replace(first, source=first.held[:1], values=values[:1], doubts=np.zeros(1))
    w = s[first.rows] / s[first.rows].sum()
    seen = set()
    for wrong in range(0, 80, 4):  # as if the squared hinge were wrong on so many rows
        held = np.where(np.arange(80) < wrong, -1.0, 1.0) * y[first.rows]
        changed = replace(first, source=held[None, :])
        best = int(np.argmin(other.scores + 1e-9 * other.smooth))
        gain = np.where(np.arange(80) < wrong, 1.0, 0.0) - ((other.held[best] > 0) != (y[other.rows] > 0))
        mean = np.average(gain, weights=w)
        expected = mean > np.sqrt(np.sum(w**2 * (gain - mean) ** 2))
        assert rival.is_clearly_better(other, changed) == expected
        seen.add(bool(expected))
    assert seen == {True, False}


def test_no_rival_where_it_was_not_asked_for(monkeypatch):
    X, y = cells()
    asked = ({"loss": "squared_hinge"}, {"criterion": "kfold"}, {"scoring": "f1_macro"}, {"search": "grid"}, {"C": 1.0})
    for options in asked:
        model = PathSVC(**{"gamma": [0.1, 1.0], "C": [0.1, 1.0], "random_state": 0, **options}).fit(X, y)
        assert model.loss_ == "squared_hinge"
        assert all(stage.loss != "hinge" for stage in model.choice_.stages)
    monkeypatch.setattr(limits, "CONTRADICTED", 1.0)
    assert all(stage.loss != "hinge" for stage in PathSVC(random_state=0).fit(X, y).choice_.stages)

"""A criterion is its row: what it can do is asked of the row, not of its name."""

import numpy as np
import pytest

from svmpath import PathSVC, criteria
from svmpath.criteria.table import CRITERIA, Criterion
from svmpath.datasets import banana


@pytest.fixture
def another(monkeypatch):
    def by_halves(path, values, *, loss=None, cv=None):
        seen.append(cv)
        return criteria.kfold(path, values, loss=loss, cv=cv)

    seen = []
    monkeypatch.setitem(CRITERIA, "by_halves", Criterion(by_halves, "exact", "k-fold, renamed", takes_folds=True))
    return seen


def test_another_criterion_with_folds_gets_the_folds_and_groups(another):
    X, y = banana(60, random_state=0)
    options = {"gamma": 1.0, "C": [0.1, 1.0], "cv": 3}
    model, usual = (PathSVC(criterion=name, **options).fit(X, y) for name in ("by_halves", "kfold"))
    assert [len(list(folds)) for folds in another] == [3] * len(another)
    np.testing.assert_array_equal(model.curve_.scores, usual.curve_.scores)
    groups = np.arange(60) // 6
    model, usual = (PathSVC(criterion=name, **options).fit(X, y, groups=groups) for name in ("by_halves", "kfold"))
    np.testing.assert_array_equal(model.curve_.scores, usual.curve_.scores)

"""The default search on data that break engines: each case has a name, and must be fitted, with a sensible machine."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import svmpath
from svmpath import PathSVC, PathSVR, criteria
from svmpath.criteria.folds import make_folds
from tests.speed import each_once, first_quick

_RNG = np.random.default_rng(0)
_X = _RNG.normal(size=(60, 4))
_Y = np.sign(_X[:, 0] + 0.5 * _RNG.normal(size=60))
_FEW = np.where(np.arange(60) < 2, -1.0, 1.0)

# rows, labels, and the largest training error that a machine may have
CASES = {
    "copies": (np.repeat(_X, 3, axis=0), np.repeat(_Y, 3), 0.2),
    "every row with both labels": (np.vstack([_X, _X]), np.concatenate([_Y, -_Y]), 0.5),
    "some rows with both labels": (np.vstack([_X, _X[:20]]), np.concatenate([_Y, -_Y[:20]]), 0.4),
    "two samples in a class": (_X, _FEW, 0.05),
    "a class of two and one of three": (_X, np.where(np.arange(60) < 2, 1, np.where(np.arange(60) < 5, 2, 0)), 0.1),
    "a constant column": (np.column_stack([_X, np.ones(60)]), _Y, 0.2),
    "constant rows": (np.ones((40, 3)), np.repeat([1.0, -1.0], 20), 0.5),
    "one feature": (_X[:, :1], _Y, 0.25),
    "five samples": (_X[:5], np.array([1, -1, 1, -1, 1]), 0.5),
    "two samples": (_X[:2], np.array([1, -1]), 0.5),
    "more columns than rows": (_RNG.normal(size=(30, 1000)), np.sign(_RNG.normal(size=30)), 0.5),
    "sparse": (sp.csr_matrix(_RNG.random((100, 50)) < 0.1, dtype=float), np.sign(_RNG.normal(size=100)), 0.5),
    "tied rows": (np.round(np.repeat(_X, 3, axis=0)), np.sign(_RNG.normal(size=180)), 0.5),
    "checkerboard": (
        np.array([(i, j) for i in range(9) for j in range(9)], dtype=float),
        np.array([(-1) ** (i // 3 + j // 3) for i in range(9) for j in range(9)]),
        0.1,
    ),
}


@each_once
@pytest.mark.filterwarnings("ignore:The smallest class has only")
@pytest.mark.parametrize("loss", ["hinge", "huber_hinge", "squared_hinge", "least_squares"])
@pytest.mark.parametrize("case", CASES)
def test_classification(case: str, loss: str) -> None:
    X, y, worst = CASES[case]
    model = PathSVC(loss=loss, random_state=0).fit(X, y)
    assert np.mean(model.predict(X) != y) <= worst
    assert np.isfinite(model.loo_error())
    assert model.path_(model.C_).violation < 1e-6


@first_quick(8)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "least_squares"])
@pytest.mark.parametrize("case", CASES)
def test_regression(case: str, loss: str) -> None:
    X, y, _ = CASES[case]
    model = PathSVR(loss=loss, random_state=0).fit(X, np.asarray(y, dtype=float))
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, y) > -0.2  # a median is no mean
    assert model.path_(model.C_).violation < 1e-6


@first_quick(1)
@pytest.mark.parametrize("loss", ["hinge", "huber_hinge"])
def test_choice_is_a_value_that_was_scored(loss: str) -> None:
    """With several classes, too, where the best C need not be that of the last machine."""
    X = np.vstack([_X + shift for shift in (0.0, 1.5, 3.0)])
    model = PathSVC(loss=loss, random_state=0).fit(X, np.repeat([0, 1, 2], 60))
    lowest = min(each.lowest[0] for each in model.choice_.tried.values())
    assert model.choice_.curve.decisive[model.choice_.index] == pytest.approx(lowest)
    low, high = sorted(model.path_.span)
    assert low <= model.C_ <= high


def test_folds_that_start_from_the_whole_machine_are_the_same() -> None:
    """Against a cold start for every fold."""
    values = np.geomspace(0.5, 50.0, 4)
    path = svmpath.trace(_X, _Y, loss="hinge", gamma=0.2, span=(0.5, 50.0))
    folds = make_folds(4, _X, _Y, is_classification=True)
    cold = np.empty((4, 60))
    for _, test in folds:
        cold[:, test] = path.without(test).decisions(values)[:, test]
    np.testing.assert_allclose(criteria.kfold(path, values, cv=folds).decisions, cold, atol=1e-8)

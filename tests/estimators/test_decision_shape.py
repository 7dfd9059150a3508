"""``decision_function_shape`` of PathSVC."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from svmpath import PathSVC
from tests.rounding import assert_same

X, Y = make_blobs(80, centers=4, cluster_std=1.0, random_state=0)
QUICK = {"gamma": 0.3, "C": [1.0]}


def test_pairs_are_differences_in_the_order_of_svc():
    model = PathSVC(**QUICK).fit(X, Y)
    f = model.decision_function(X)
    assert f.shape == (80, 4)
    pairs = model.set_params(decision_function_shape="ovo").decision_function(X)
    assert_same(pairs, np.column_stack([f[:, i] - f[:, j] for i, j in combinations(range(4), 2)]))
    theirs = SVC(gamma=0.3, decision_function_shape="ovo").fit(X, Y).decision_function(X)
    assert pairs.shape == theirs.shape
    apart = np.minimum(abs(pairs), abs(theirs)) > 0.5  # where both are sure, they name the same winner
    assert apart.mean() > 0.3
    assert np.mean(np.sign(pairs[apart]) == np.sign(theirs[apart])) > 0.99


def test_the_class_that_wins_all_its_pairs_is_predicted():
    model = PathSVC(**QUICK, decision_function_shape="ovo").fit(X, Y)
    wins = np.zeros((80, 4), dtype=int)
    for column, (i, j) in zip(model.decision_function(X).T, combinations(range(4), 2), strict=True):
        wins[column > 0, i] += 1
        wins[column < 0, j] += 1
    np.testing.assert_array_equal(wins.argmax(axis=1), model.predict(X))
    np.testing.assert_array_equal(model.predict(X), PathSVC(**QUICK).fit(X, Y).predict(X))


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_two_classes_have_one_value(shape):
    model = PathSVC(**QUICK, decision_function_shape=shape).fit(X, Y > 1)
    f = model.decision_function(X)
    assert f.shape == (80,)
    np.testing.assert_array_equal(f > 0, model.predict(X))


def test_unknown_shape_is_refused():
    with pytest.raises(ValueError, match=r"decision_function_shape must be one of 'ovr', 'ovo'; got 'ovx'"):
        PathSVC(decision_function_shape="ovx").fit(X, Y)
    model = PathSVC(**QUICK).fit(X, Y).set_params(decision_function_shape=None)
    with pytest.raises(ValueError, match="got None"):
        model.decision_function(X)

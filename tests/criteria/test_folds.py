"""Numbers of folds that do not fit the rows."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

import svmpath
from svmpath import criteria
from svmpath.criteria.folds import make_folds

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.repeat([0, 1], 10)


@pytest.mark.parametrize("is_classification", [True, False])
def test_more_folds_than_rows_are_refused(is_classification):
    with pytest.raises(ValueError, match=r"^cv=21 is more than the 20 rows; use cv=20 or less[.]$"):
        make_folds(21, X, Y, is_classification=is_classification)


def test_more_folds_than_rows_of_any_class_are_refused():
    with pytest.raises(ValueError, match=r"^cv=11 is more than the 10 rows of the largest class; use fewer folds"):
        make_folds(11, X, Y, is_classification=True)
    assert len(make_folds(11, X, Y, is_classification=False)) == 11


def test_a_class_with_fewer_rows_than_folds_is_named_once():
    y = np.repeat([0, 1], [17, 3])
    with pytest.warns(UserWarning, match="smallest class") as caught:
        folds = make_folds(5, X, y, is_classification=True)
    assert [str(each.message) for each in caught] == [
        "The smallest class has only 3 of the 20 rows, so with cv=5 some folds hold none of it; use fewer folds."
    ]
    assert len(folds) == 5


@pytest.mark.parametrize(
    ("cv", "splitter"), [(5, StratifiedKFold(5)), (None, StratifiedKFold(5)), (KFold(4), KFold(4))]
)
def test_folds_are_those_of_scikit_learn(cv, splitter):
    expected = list(splitter.split(X, Y))
    found = make_folds(cv, X, Y, is_classification=True)
    assert len(found) == len(expected)
    for pair, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(pair[0], other[0])
        np.testing.assert_array_equal(pair[1], other[1])


def test_a_criterion_refuses_them_in_the_same_words():
    path = svmpath.trace(X, Y, loss="least_squares", span=(0.1, 10.0))
    with pytest.raises(ValueError, match="cv=21 is more than the 20 rows"):
        criteria.kfold(path, [1.0], cv=21)

"""Targets as pandas keeps them: labels keep their type, and missing ones are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import svmpath
from svmpath import ElasticNetSVC, PathSVC, PathSVR
from tests.speed import each_once

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
IS_HIGH = X[:, 0] + 0.3 * RNG.normal(size=60) > 0
WORDS = np.where(IS_HIGH, "high", "low")

COLUMNS = {
    "Int64": (pd.array(IS_HIGH.astype(int), dtype="Int64"), [0, 1], "i"),
    "UInt8": (pd.array(IS_HIGH.astype(int), dtype="UInt8"), [0, 1], "u"),
    "boolean": (pd.array(IS_HIGH, dtype="boolean"), [False, True], "b"),
    "Float64": (pd.array(IS_HIGH.astype(float), dtype="Float64"), [0.0, 1.0], "f"),
    "string": (pd.array(WORDS, dtype="string"), ["high", "low"], "OU"),
    "category": (pd.Categorical(WORDS), ["high", "low"], "OU"),
    "category of Int64": (pd.Categorical(pd.array(IS_HIGH.astype(int), dtype="Int64")), [0, 1], "i"),
    "category of boolean": (pd.Categorical(pd.array(IS_HIGH, dtype="boolean")), [False, True], "b"),
    "list": (WORDS.tolist(), ["high", "low"], "OU"),
}
ESTIMATORS = [PathSVC(C=1.0, gamma=0.3), ElasticNetSVC(lambda1=1.0, lambda2=1.0)]


@each_once
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("kind", COLUMNS)
def test_labels_keep_their_type(kind, estimator):
    y, classes, letters = COLUMNS[kind]
    for each in (y, pd.Series(y, index=np.arange(60) + 100)):
        model = estimator.fit(X, each)
        assert model.classes_.tolist() == classes
        assert model.classes_.dtype.kind in letters
        assert model.predict(X).dtype == model.classes_.dtype
        assert model.score(X, each) > 0.8
    assert cross_val_score(estimator, X, pd.Series(y), cv=3).mean() > 0.7


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_path_knows_the_labels_as_they_were(kind):
    y, classes, letters = COLUMNS[kind]
    found = svmpath.trace(X, y, task="classification").problem.classes
    assert found.tolist() == classes
    assert found.dtype.kind in letters


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "Int8"])
def test_amounts_of_nullable_types_are_numbers(dtype):
    y = np.round(10 * X[:, 0])
    plain, model = (PathSVR(C=1.0, gamma=0.3).fit(X, each) for each in (y, pd.array(y, dtype=dtype)))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    path = svmpath.trace(X, pd.Series(y).astype(dtype), task="regression")
    np.testing.assert_array_equal(path.problem.y, y)


def with_a_gap(y):
    y = pd.Series(y).copy()
    y[7] = None
    return y


WORDS_AND = WORDS.astype(object)
GAPS = {
    **{kind: with_a_gap(y) for kind, (y, _, _) in COLUMNS.items()},
    **{str(gap): [*WORDS_AND[:7], gap, *WORDS_AND[8:]] for gap in (None, np.nan, pd.NA, pd.NaT)},
}


@pytest.mark.parametrize("form", [lambda y: y, lambda y: np.asarray(y, dtype=object)], ids=["as it is", "objects"])
@pytest.mark.parametrize("kind", GAPS)
def test_missing_labels_are_refused_in_a_sentence(kind, form):
    y, message = form(GAPS[kind]), r"y has missing values .* in 1 of 60 rows, the first of them row 7; leave these rows"
    for estimator in ESTIMATORS:
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)
    with pytest.raises(ValueError, match=message):
        svmpath.trace(X, y)


def test_missing_amounts_are_refused_in_a_sentence():
    y = pd.Series(X[:, 0]).astype("Float64")
    y[7] = pd.NA
    with pytest.raises(ValueError, match="y has missing values"):
        PathSVR().fit(X, y)

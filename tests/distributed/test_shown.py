"""Notebooks show what was fitted on chunks, and what does not exist there is said in a sentence."""

import pickle

import numpy as np
import pytest

import svmpath
from svmpath import PathSVC, PathSVR, criteria
from svmpath.displays import CurveDisplay
from tests.distributed.chunks import amounts, cut, moons

SIZES = (200, 200, 280)
OPTIONS = {"gamma": 0.4, "C": [0.1, 1.0, 10.0], "rank": 20, "random_state": 0}


@pytest.fixture(scope="module")
def classifier():
    X, y = moons()
    return PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))


@pytest.fixture(scope="module")
def regressor():
    X, y = amounts()
    return PathSVR("least_squares", **OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))


@pytest.mark.parametrize("name", ["classifier", "regressor"])
@pytest.mark.parametrize("saved", [False, True])
def test_a_notebook_shows_facts_and_a_picture(name, saved, request):
    model = request.getfixturevalue(name)
    model = pickle.loads(pickle.dumps(model)) if saved else model
    page = model._repr_mimebundle_(include=None, exclude=None)["text/html"]
    assert '<td style="text-align: left">680</td>' in page
    for thing in (model.choice_, model.curve_):
        assert "<img" in thing._repr_html_()
    assert "samples in chunks" in model.path_._repr_html_()


def test_a_curve_is_not_computed_to_be_shown():
    X, y = moons()
    path = svmpath.trace(cut(X, SIZES), cut(y, SIZES), gamma=0.4, rank=20, random_state=0)
    curve, before = criteria.span(path, [0.1, 1.0]), dict(path.passes)
    assert "<img" not in curve._repr_html_()
    assert path.passes == before
    display = CurveDisplay.from_curve(curve)
    assert np.allclose(display.table()["score"], curve.scores)


def test_doubtful_rows_are_counted_or_not_there(classifier, regressor):
    assert regressor.curve_.doubtful.tolist() == [0, 0, 0]
    assert not hasattr(classifier.curve_, "doubtful")
    with pytest.raises(AttributeError, match="doubtful is not counted for loss='squared_hinge' on rows in chunks"):
        _ = classifier.curve_.doubtful

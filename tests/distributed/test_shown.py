"""Notebooks show what was fitted on chunks, and what does not exist there is said in a sentence."""

import pickle

import numpy as np
import pytest

import svmpath
from svmpath import PathSVC, PathSVR, Report, criteria
from svmpath.displays import CurveDisplay
from svmpath.gram import Nystroem
from tests.distributed.chunks import amounts, cut, moons
from tests.speed import first_quick

SIZES = (200, 200, 280)
OPTIONS = {"gamma": 0.4, "C": [0.1, 1.0, 10.0], "rank": 20, "random_state": 0}


@pytest.fixture(scope="module")
def classifier():
    X, y = moons()
    return PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))


@pytest.fixture(scope="module")
def regressor():
    X, y = amounts()
    return PathSVR(loss="least_squares", **OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))


@first_quick(1)
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
    assert regressor.curve_.unreliable.tolist() == [0, 0, 0]
    assert not hasattr(classifier.curve_, "unreliable")
    with pytest.raises(AttributeError, match="unreliable is not counted for loss='squared_hinge' on rows in chunks"):
        _ = classifier.curve_.unreliable


@pytest.mark.parametrize("name", ["support_", "dual_coef_", "support_vectors_", "n_support_"])
def test_coefficients_of_rows_are_not_there_and_say_why(name, classifier):
    assert not hasattr(classifier, name)
    with pytest.raises(AttributeError, match="on rows in chunks has no coefficients of single rows; use predict or"):
        getattr(classifier, name)


def test_columns_of_rows_are_not_at_hand(classifier):
    with pytest.raises(ValueError, match=r"fit a sample in memory: the model was fitted on rows in chunks\."):
        classifier.importance()


def test_a_saved_model_answers_what_needs_no_rows(classifier):
    saved = pickle.loads(pickle.dumps(classifier))
    assert saved.held_out_metrics() == classifier.held_out_metrics()
    assert saved.held_out_interval() == classifier.held_out_interval()
    saved.set_params(calibration="isotonic").predict_proba(moons(3)[0])
    for ask in (saved.held_out_table, saved.nested_error, lambda: saved.predict_set(moons(3)[0])):
        with pytest.raises(ValueError, match="saved without its rows"):
            ask()


def test_it_is_there_again_after_a_fit_in_memory(classifier):
    model = pickle.loads(pickle.dumps(classifier)).fit(*moons(60))
    assert len(model.support_) == model.n_support_.sum()
    assert model.predict_set(moons(3)[0]).shape == (3, 2)


def test_a_report_is_refused(classifier):
    with pytest.raises(ValueError, match="does not work for a model that was fitted on rows in chunks"):
        Report(classifier, *moons())


def test_leave_one_out_of_least_squares_is_exact(regressor):
    X, y = amounts()
    whole = PathSVR(loss="least_squares", **{**OPTIONS, "rank": Nystroem(OPTIONS["rank"], "uniform")}).fit(X, y)
    assert np.isclose(regressor.loo_error(), whole.loo_error(), rtol=1e-9)
    s = np.arange(len(y)) % 2 + 1.0
    weighted = PathSVR(loss="least_squares", **OPTIONS).fit(cut(X, SIZES), cut(y, SIZES), cut(s, SIZES))
    with pytest.raises(ValueError, match="no leave-one-out error, which is unweighted"):
        weighted.loo_error()


def test_a_saved_model_knows_how_many_passes_there_were(regressor):
    saved = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(regressor))))
    assert saved.path_.passes == regressor.path_.passes
    assert sum(saved.path_.passes.values()) > 2
    with pytest.raises(ValueError, match="saved without its rows"):
        saved.held_out_decisions()

"""Held-out decision values of the choice, and the errors that are read off them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedGroupKFold, TimeSeriesSplit

from svmpath import ElasticNetSVC, PathSVC, PathSVR, WeakModelWarning, criteria
from svmpath.criteria.sources import AtValues, Joined, Rowwise, at_some
from svmpath.estimators.machines import Machines
from svmpath.losses import SquaredHinge
from tests.speed import first_quick

X, Y = make_moons(80, noise=0.3, random_state=0)
S = np.random.default_rng(1).integers(1, 4, size=80).astype(float)
GROUPS = np.repeat(np.arange(20), 4)
ONE = {"gamma": 1.0, "C": 2.0}


def left_out(model, fit_to, i):
    """The decision value of row i by a machine fitted without it."""
    keep = np.arange(len(X)) != i
    return model.fit(X[keep], fit_to[keep], sample_weight=S[keep])


@first_quick(1)
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "hinge"])
def test_decisions_and_both_errors_are_those_of_refits(loss):
    model = PathSVC(loss=loss, **ONE).fit(X, Y, sample_weight=S)
    held = np.array([left_out(PathSVC(loss=loss, **ONE), Y, i).decision_function(X[[i]])[0] for i in range(len(X))])
    np.testing.assert_allclose(model.held_out_decisions(), held, atol=1e-7)
    wrong = (held > 0) != Y
    assert model.loo_error() == pytest.approx(wrong.mean())
    assert model.held_out_error() == pytest.approx(np.average(wrong, weights=S))
    assert model.loo_error() != model.held_out_error()


def test_where_leave_one_out_is_not_affordable_there_is_no_loo_error(monkeypatch):
    monkeypatch.setattr(SquaredHinge, "policy", replace(SquaredHinge.policy, exact_rows=50))
    model = PathSVC(**ONE).fit(X, Y)
    assert model.error_criterion_ == "span"
    assert 0.0 < model.held_out_error() < 0.5
    with pytest.raises(
        ValueError, match=r"would take too long here; use held_out_error\(\), which is computed by 'span'"
    ):
        model.loo_error()


def test_folds_and_leave_one_out_are_two_figures():
    model = PathSVC(criterion="kfold", random_state=0, **ONE).fit(X, Y)
    assert model.error_criterion_ == "kfold"
    assert model.loo_error() == pytest.approx(PathSVC(random_state=0, **ONE).fit(X, Y).loo_error())
    with pytest.raises(ValueError, match="it was not chosen by exact leave-one-out"):
        ElasticNetSVC(lambda1=1.0, lambda2=1.0, criterion="kfold").fit(X, Y).loo_error()
    assert ElasticNetSVC(lambda1=1.0, lambda2=1.0, criterion="loo").fit(X, Y).loo_error() < 0.5


def test_an_error_rate_is_not_above_one():
    # Seven equal weights of 1/7 add up to more than one.
    model = PathSVC(gamma=1e-6, C=1e-6).fit(np.arange(14.0)[:, None] % 7, np.arange(14) // 7)
    assert 0.0 <= model.loo_error() <= 1.0
    assert 0.0 <= model.held_out_error() <= 1.0


@pytest.mark.parametrize("make", [PathSVC, PathSVR, ElasticNetSVC])
def test_groups_are_held_out_together(make):
    model = (
        make(random_state=0, **ONE) if make is not ElasticNetSVC else make(lambda1=0.5, lambda2=1.0, standardize=False)
    )
    model.fit(X, Y, groups=GROUPS)
    assert model.error_criterion_ == "kfold"
    splitter = GroupKFold(5) if make is PathSVR else StratifiedGroupKFold(5)
    for train, test in splitter.split(X, Y, GROUPS):
        other = type(model)(**model.get_params()).fit(X[train], Y[train])
        f = other.predict(X[test]) if make is PathSVR else other.decision_function(X[test])
        np.testing.assert_allclose(model.held_out_decisions()[test], f, atol=1e-6)


def test_splitters_are_given_the_groups():
    model = PathSVC(cv=LeaveOneGroupOut(), **ONE).fit(X, Y, groups=GROUPS)
    keep = GROUPS != 7
    f = PathSVC(**ONE).fit(X[keep], Y[keep]).decision_function(X[~keep])
    np.testing.assert_allclose(model.held_out_decisions()[~keep], f, atol=1e-6)
    ordered = PathSVR(criterion="kfold", cv=TimeSeriesSplit(4), **ONE).fit(X, X[:, 1])
    assert np.isnan(ordered.held_out_decisions()).sum() == 16  # the first part is never held out
    assert np.isfinite(ordered.held_out_error())


def test_wrong_groups_get_a_sentence():
    with pytest.raises(ValueError, match="groups must have one entry per row: 80 rows, 79 groups"):
        PathSVC().fit(X, Y, groups=GROUPS[:-1])
    with pytest.raises(ValueError, match="cv=5 is more than the 2 groups; use cv=2 or less, or LeaveOneGroupOut"):
        PathSVC().fit(X, Y, groups=GROUPS > 10)


def test_support_vectors_are_counted_by_class():
    data, labels = load_iris(return_X_y=True)
    model = PathSVC(loss="squared_hinge", gamma=0.5, C=1.0).fit(data, labels)
    assert model.n_support_.sum() == len(model.support_)
    assert model.n_support_.shape == (3,)
    assert model.n_support_[1] == np.sum(labels[model.support_] == 1)
    assert PathSVR(**ONE).fit(X, X[:, 0]).n_support_.tolist() == [80]


@pytest.mark.filterwarnings("ignore:The machine chosen by criterion='radius_margin'")
def test_a_choice_by_a_bound_has_predicted_held_out_values_where_exact_ones_take_too_long(monkeypatch):
    monkeypatch.setattr(SquaredHinge, "policy", replace(SquaredHinge.policy, exact_rows=50))
    model = PathSVC(criterion="radius_margin", gamma=1.0, C=[0.5, 1.0]).fit(X, Y)
    other = PathSVC(criterion="span", gamma=1.0, C=model.C_).fit(X, Y)
    assert model.error_criterion_ == "span"
    assert model.held_out_error() == pytest.approx(other.held_out_error())
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_what_is_held_out_once_is_not_held_out_again(monkeypatch):
    model = PathSVC(criterion="span", gamma=1.0, C=[0.5, 1.0], threshold="tune").fit(X, Y)
    scored = []
    score = Machines.scored
    monkeypatch.setattr(Machines, "scored", lambda self, criterion: scored.append(criterion) or score(self, criterion))
    assert "loo" not in model._held_out._curves  # not for the threshold
    assert model.loo_error() == pytest.approx(model.held_out_error())
    model.held_out_decisions(), model.held_out_table(), model.calibration_curve(), model.calibration_curve()
    assert scored == [criteria.loo]


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("labels", [Y, np.arange(80) % 3])
def test_one_value_of_a_curve_counts_its_doubts_alone(loss, labels):
    """Also of curves that were joined, at any of their values in any order."""
    model = PathSVC(loss=loss, criterion="span", gamma=0.5, C=np.geomspace(0.1, 100, 6).tolist(), search="grid").fit(
        X, labels
    )
    first, second = model.curve_.taken(np.array([4, 0, 2])), model.curve_.taken(np.array([1, 3, 5]))
    whole = first.joined(second)
    some = whole.taken(np.array([5, 0, 3]))
    assert len(some.doubts) == 3
    assert callable(some.doubts)
    np.testing.assert_array_equal(some.values, model.curve_.values[[5, 4, 1]])
    np.testing.assert_array_equal(some.unreliable, model.curve_.unreliable[[5, 4, 1]])
    np.testing.assert_allclose(some.held, model.curve_.held[[5, 4, 1]], atol=1e-9)


def squares(times, values):
    """Squares of values, and a list of how many it was asked for at a time."""
    times.append(len(values))
    return values**2


def test_functions_of_values_compute_no_others():
    times = []
    pair = [AtValues(squares, times, np.arange(10.0, 13.0)), np.full(3, 120.0)]
    parts = [AtValues(squares, times, np.arange(4.0)), Rowwise(lambda parts: np.max(parts, axis=0), pair)]
    joined = Joined([Joined(parts), np.array([7.0])])
    found = at_some(at_some(joined, np.array([6, 0, 7, 3, 4])), np.array([3, 0, 2]))
    assert found().tolist() == [9.0, 144.0, 7.0]
    assert times == [1, 1]
    assert at_some(Joined([lambda: np.arange(3.0), np.ones(2)]), np.array([4, 1]))().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_a_splitter_is_used_without_being_asked_twice(loss):
    """Rows in the order of time are not held out from a fit to later rows."""
    model = PathSVC(loss=loss, cv=TimeSeriesSplit(4), **ONE).fit(X, Y)
    assert model.criterion_ == model.error_criterion_ == "kfold"
    assert np.isnan(model.held_out_decisions()[:16]).all()
    assert np.isfinite(model.held_out_decisions()[16:]).all()
    with pytest.warns(UserWarning, match="cv=4 has no effect, as rows are left out one by one; use criterion='kfold'"):
        assert PathSVC(loss=loss, cv=4, **ONE).fit(X, Y).criterion_ == ("loo" if loss == "least_squares" else "span")
    few = ElasticNetSVC(lambda1=1.0, lambda2=1.0, cv=LeaveOneGroupOut(), standardize=False)
    few.set_params(cv=TimeSeriesSplit(3)).fit(X[:16], np.arange(16) % 8 == 0)
    assert few.error_criterion_ == "kfold"


def test_folds_that_are_not_made_are_said_once_by_the_line_that_called_fit():
    for model in (
        PathSVC(loss="least_squares", criterion="loo", cv=KFold(3), **ONE),
        PathSVC(loss="hinge", cv=7, **ONE),
        ElasticNetSVC(lambda1=1.0, lambda2=1.0, criterion="loo", cv=3),
    ):
        with pytest.warns(UserWarning, match=r"cv=.* has no effect") as said:
            model.fit(X, Y)
        assert [each.filename for each in said if "cv=" in str(each.message)] == [__file__]


@pytest.mark.parametrize("options", [{}, {"cv": None}, {"cv": 5}, {"cv": 3, "criterion": "kfold"}], ids=str)
def test_folds_that_are_made_or_not_asked_for_are_not_said(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakModelWarning)
        PathSVC(loss="least_squares", **options, **ONE).fit(X, Y)


@pytest.mark.parametrize("criterion", ["loo", "press", "span", "radius_margin"])
def test_groups_are_refused_where_single_rows_are_left_out(criterion):
    loss = "least_squares" if criterion == "press" else "squared_hinge"
    with pytest.raises(ValueError, match=f"criterion='{criterion}' leaves out single rows, but groups are to be"):
        PathSVC(loss=loss, criterion=criterion, **ONE).fit(X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="criterion='loo' leaves out single rows"):
        ElasticNetSVC(criterion="loo").fit(X, Y, groups=GROUPS)
    assert PathSVC(loss=loss, criterion="kfold", **ONE).fit(X, Y, groups=GROUPS).error_criterion_ == "kfold"


def test_an_elastic_net_says_what_gives_a_loo_error():
    with pytest.raises(ValueError, match=r"not chosen by exact leave-one-out \(criterion='loo'\)"):
        ElasticNetSVC(lambda1=1.0, lambda2=1.0).fit(X, Y).loo_error()

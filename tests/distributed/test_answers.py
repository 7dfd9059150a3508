"""What n numbers can answer has the same answer on chunks as in memory: even, uneven and empty ones, of one class."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, ShuffleSplit

import svmpath
from svmpath import PathSVC, PathSVR, criteria
from svmpath.distributed import path as chunked_path
from svmpath.estimators import chunked_held_out, chunks
from svmpath.estimators.machines import Machines
from svmpath.gram import Nystroem
from svmpath.losses import Expectile, HuberHinge
from tests.distributed.chunks import SIZES, N, amounts, cut, moons
from tests.rounding import assert_same
from tests.speed import first_quick, slow_except

CUTS = slow_except(["one_class", *SIZES], ["one_class", "empty"])
pytestmark = [
    pytest.mark.filterwarnings("ignore::svmpath.ChunkWarning"),
    pytest.mark.filterwarnings("ignore::svmpath.EdgeWarning"),
    pytest.mark.filterwarnings("ignore::svmpath.WeakModelWarning"),
]
OPTIONS = {"gamma": 0.4, "C": [0.1, 1.0, 10.0], "random_state": 0, "search": "grid", "rank": Nystroem(30, "uniform")}


@pytest.fixture(autouse=True)
def nothing_is_left_out_again(monkeypatch):
    """In memory the error of few rows is exact leave-one-out, whatever the choice was made by."""
    monkeypatch.setattr(Machines, "exact_rows", 0)


def both(model, cutting="uneven", classes=2, weights=None, groups=None):
    """A model fitted in memory and one fitted on chunks."""
    X, y = amounts() if isinstance(model, PathSVR) else moons(classes=classes)
    if cutting == "one_class":
        order = np.argsort(y, kind="stable")
        X, y, cutting = X[order], y[order], "three"
        weights, groups = (None if each is None else each[order] for each in (weights, groups))
    sizes = SIZES[cutting]
    whole = type(model)(**model.get_params()).fit(X, y, weights, groups=groups)
    given = None if weights is None else cut(weights, sizes)
    return whole, model.fit(cut(X, sizes), cut(y, sizes), given, groups=groups)


def assert_equal_answers(whole, chunked):
    assert chunked.C_ == whole.C_
    assert np.isclose(chunked.held_out_error(), whole.held_out_error(), rtol=1e-6)
    assert np.allclose(chunked.held_out_interval(), whole.held_out_interval(), rtol=1e-6)
    assert np.allclose(chunked.curve_.scores, whole.curve_.scores, rtol=1e-6)
    at = chunked.choice_.index
    assert np.isclose(chunked.curve_.standard_error(at), whole.curve_.standard_error(at), rtol=1e-6)
    has_weight = whole._held_out.problem.s > 0  # of folds, others may be in any
    difference = np.abs(np.asarray(chunked.held_out_decisions()) - whole.held_out_decisions())
    assert difference[has_weight].max() < 1e-6
    for name in ("mean_test_score", "std_test_score", "rank_test_score"):
        assert np.allclose(chunked.cv_results_[name], whole.cv_results_[name], rtol=1e-5), name
    found, expected = (model.held_out_metrics() for model in (chunked, whole))
    assert found.keys() == expected.keys()
    assert all(np.isclose(found[key], expected[key]) for key in found if isinstance(found[key], float))
    table, other = (model.held_out_table().sort_values("sample")[has_weight] for model in (chunked, whole))
    for name in ("sample", "decision", "loss", "influence", "weight"):
        assert np.allclose(table[name], other[name], rtol=1e-6, atol=1e-6), name
    if isinstance(whole, PathSVR):
        return
    found, expected = (model.held_out_recall() for model in (chunked, whole))
    assert np.allclose(found.recall, expected.recall, equal_nan=True)
    assert chunked.threshold_ == pytest.approx(whole.threshold_, abs=1e-6)
    found, expected = (model.calibration_curve() for model in (chunked, whole))
    assert np.allclose(found.mean_predicted, expected.mean_predicted, atol=1e-6)
    X = np.random.default_rng(5).normal(size=(20, 3))
    assert np.abs(chunked.predict_proba(X) - whole.predict_proba(X)).max() < 1e-6


@pytest.mark.parametrize("cutting", CUTS)
def test_held_out_answers_of_two_classes(cutting):
    assert_equal_answers(*both(PathSVC(loss="squared_hinge", **OPTIONS), cutting))


@first_quick(1)
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_several_classes_and_weights(loss):
    s = np.random.default_rng(2).integers(0, 3, N).astype(float)
    model = PathSVC(loss=loss, class_weight="balanced", **OPTIONS)
    assert_equal_answers(*both(model, classes=3, weights=s))


@pytest.mark.parametrize("cutting", CUTS)
def test_a_regression(cutting):
    whole, chunked = both(PathSVR(loss="least_squares", **OPTIONS), cutting)
    assert_equal_answers(whole, chunked)
    assert np.isclose(chunked.nested_error("bootstrap").value, whole.nested_error("bootstrap").value, rtol=1e-6)


SCORERS = slow_except(["roc_auc", "f1", "accuracy", "neg_log_loss", "balanced_accuracy"], ["roc_auc", "accuracy"])


@pytest.mark.parametrize("scoring", SCORERS)
def test_scorers_and_a_tuned_threshold(scoring):
    model = PathSVC(loss="squared_hinge", scoring=scoring, threshold="tune", pos_label="yes", **OPTIONS)
    assert_equal_answers(*both(model))


@pytest.mark.parametrize("scoring", slow_except(["r2", "neg_mean_absolute_error"], ["r2"]))
def test_scorers_of_a_regression(scoring):
    assert_equal_answers(*both(PathSVR(loss="least_squares", scoring=scoring, **OPTIONS)))


@pytest.mark.parametrize("cutting", CUTS)
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
def test_k_fold(loss, cutting):
    whole, chunked = both(PathSVC(loss=loss, criterion="kfold", **OPTIONS), cutting)
    assert_equal_answers(whole, chunked)
    assert np.allclose(chunked.curve_.split_scores, whole.curve_.split_scores, atol=1e-6)


@first_quick(1)
@pytest.mark.parametrize("cv", [5, GroupKFold(4), ShuffleSplit(3, test_size=0.3, random_state=1)])
def test_groups_and_splitters(cv):
    groups = np.random.default_rng(4).integers(40, size=N)
    s = np.random.default_rng(2).integers(0, 3, N).astype(float)
    is_grouped = not isinstance(cv, ShuffleSplit)
    model = PathSVC(loss="squared_hinge", cv=cv, **OPTIONS)
    whole, chunked = both(model, weights=s, groups=groups if is_grouped else None, classes=3)
    assert chunked.criterion_ == "kfold"
    assert np.allclose(chunked.curve_.scores, whole.curve_.scores, rtol=1e-6)
    assert np.allclose(chunked.curve_.standard_errors, whole.curve_.standard_errors, rtol=1e-6)
    assert np.isclose(chunked.held_out_error(), whole.held_out_error(), rtol=1e-6)
    held = np.asarray(chunked.held_out_decisions())
    assert np.allclose(held, whole.held_out_decisions(), atol=1e-6, equal_nan=True)
    assert chunked.held_out_recall().error == pytest.approx(whole.held_out_recall().error)


def test_k_fold_of_a_path():
    X, y = moons()
    options = {"gamma": 0.4, "rank": 20, "landmarks": "uniform", "random_state": 0}
    whole = svmpath.trace(X, y, **options)
    curve = criteria.kfold(whole, [0.1, 1.0])
    chunked = criteria.kfold(svmpath.trace(cut(X, SIZES["uneven"]), cut(y, SIZES["uneven"]), **options), [0.1, 1.0])
    assert np.allclose(chunked.scores, curve.scores, rtol=1e-9)
    assert np.allclose(chunked.standard_errors, curve.standard_errors, rtol=1e-9)
    assert np.abs(chunked.decisions.compute() - curve.decisions).max() < 1e-6


@first_quick(1)
@pytest.mark.parametrize("options", [{"loss": "least_squares"}, {"loss": "least_squares", "criterion": "kfold"}])
def test_prediction_intervals(options):
    whole, chunked = both(PathSVR(**options, **OPTIONS))
    X = np.random.default_rng(5).normal(size=(30, 3))
    expected = whole.predict_interval(X, coverage=0.8)
    assert np.abs(chunked.predict_interval(X, coverage=0.8) - expected).max() < 1e-6
    lazy = chunked.predict_interval(da.from_array(X, chunks=(10, 3)), coverage=0.8)
    assert np.abs(lazy.compute() - expected).max() < 1e-6


@first_quick(1)
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
@pytest.mark.parametrize("classes", [2, 3])
def test_prediction_sets(loss, classes):
    whole, chunked = both(PathSVC(loss=loss, **OPTIONS), classes=classes)
    X = np.random.default_rng(5).normal(size=(30, 3))
    assert np.array_equal(chunked.predict_set(X, coverage=0.9), whole.predict_set(X, coverage=0.9))
    lazy = chunked.predict_set(da.from_array(X, chunks=(10, 3)), coverage=0.9)
    assert np.array_equal(lazy.compute(), whole.predict_set(X, coverage=0.9))


def test_entries_of_intervals_are_a_sample_where_there_are_many(monkeypatch):
    monkeypatch.setattr(chunked_held_out, "ENTRIES_OF_ROWS", 300)
    whole, chunked = both(PathSVR(loss="least_squares", **OPTIONS))
    X = np.random.default_rng(5).normal(size=(30, 3))
    difference = chunked.predict_interval(X) - whole.predict_interval(X)
    width = np.diff(whole.predict_interval(X)).mean()
    assert 0.0 < np.abs(difference).max() < 0.15 * width  # two standard errors of a quantile of 300


def test_nested_error_of_rows_and_groups():
    whole, chunked = both(PathSVC(loss="squared_hinge", **OPTIONS))
    assert_same_error(whole, chunked, "nested", 3)
    assert_same_error(whole, chunked, "bootstrap")
    groups = np.random.default_rng(4).integers(30, size=N)
    assert_same_error(*both(PathSVC(loss="least_squares", **OPTIONS), groups=groups), "nested", 3)


def assert_same_error(whole, chunked, method, n_splits=None):
    found, expected = (model.nested_error(method, n_splits=n_splits) for model in (chunked, whole))
    assert np.isclose(found.value, expected.value, rtol=1e-6)
    assert np.allclose(found.interval, expected.interval, rtol=1e-6)


def test_more_rows_than_are_brought_together(monkeypatch):
    monkeypatch.setattr(chunked_path, "MOST_NUMBERS", 400)
    whole, chunked = both(PathSVC(loss="squared_hinge", **OPTIONS))
    assert chunked._held_out.problem.n == 400
    assert np.isclose(chunked.held_out_error(), whole.held_out_error(), rtol=1e-6)  # of all rows, by sums
    assert abs(chunked.held_out_recall().error - whole.held_out_error()) < 0.05
    model = PathSVC(loss="squared_hinge", scoring="roc_auc", **OPTIONS)
    whole, chunked = both(model)
    assert np.abs(chunked.curve_.scores - whole.curve_.scores).max() < 0.05
    X, y = moons()
    with pytest.raises(ValueError, match=r"of at most 400 rows .* but there are 680"):
        PathSVC(criterion="kfold", loss="squared_hinge", **OPTIONS).fit(cut(X, SIZES["one"]), cut(y, SIZES["one"]))


@pytest.mark.parametrize(
    "model", [PathSVC(loss=HuberHinge(h=0.3), **OPTIONS), PathSVR(loss=Expectile(tau=0.8), **OPTIONS)]
)
@pytest.mark.parametrize("criterion", ["alo", "kfold"])
def test_other_losses_that_are_quadratic_in_pieces(model, criterion):
    weights = np.random.default_rng(2).integers(0, 3, N).astype(float)
    assert_equal_answers(*both(clone(model).set_params(criterion=criterion), weights=weights))


def test_a_level_of_an_expectile():
    X, y = amounts()
    options = {**OPTIONS, "loss": "expectile"}
    model = PathSVR(quantile=0.8, **options).fit(cut(X, SIZES["one"]), cut(y, SIZES["one"]))
    assert model.tau_ == 0.8
    whole = PathSVR(quantile=0.8, **options).fit(X, y)
    assert np.abs(model.predict(X) - whole.predict(X)).max() < 1e-6
    with pytest.raises(ValueError, match=r"fit with quantile=0\.7"):
        model.predict_quantiles(X, 0.7)
    with pytest.raises(ValueError, match="Several quantiles do not work"):
        PathSVR(quantile=[0.2, 0.8], **options).fit(cut(X, SIZES["one"]), cut(y, SIZES["one"]))


def test_a_limit_of_time_leaves_some_values_out(monkeypatch):
    X, y = moons()
    clock = iter(range(10_000))
    monkeypatch.setattr("svmpath.search.deadline.time.monotonic", lambda: 0.1 * next(clock))
    options = {**OPTIONS, "C": np.geomspace(1e-2, 1e2, 9).tolist(), "loss": "squared_hinge"}
    with pytest.warns(svmpath.LimitWarning, match="time_limit"):
        model = PathSVC(time_limit=0.5, **options).fit(cut(X, SIZES["one"]), cut(y, SIZES["one"]))
    whole = PathSVC(**options).fit(cut(X, SIZES["one"]), cut(y, SIZES["one"]))
    tried = model.curve_.values
    assert 1 <= len(tried) < 9
    places = np.searchsorted(whole.curve_.values, tried)
    assert np.allclose(model.curve_.scores, whole.curve_.scores[places], rtol=1e-6)


def test_few_rows_are_fitted_in_memory(monkeypatch):
    monkeypatch.setattr(chunks, "GATHERED_ROWS", N)
    X, y = moons()
    given = {"gamma": 0.4, "random_state": 0}
    model, whole = PathSVC(**given).fit(cut(X, SIZES["uneven"]), cut(y, SIZES["uneven"])), PathSVC(**given).fit(X, y)
    assert model.gathered_rows_ == N
    assert model.rank_ == whole.rank_
    assert_same(model.decision_function(X), whole.decision_function(X))
    assert len(model.support_) == len(whole.support_)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    parts = dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    model.fit(*parts)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert_same(model.decision_function(frame), whole.decision_function(X))


def test_criteria_of_a_loss_of_its_own():
    X, y = amounts()
    options = {"loss": "expectile", "gamma": 0.4, "rank": Nystroem(20, "uniform"), "random_state": 0}
    sizes, values = SIZES["uneven"], [0.1, 1.0]
    whole, chunked = svmpath.trace(X, y, **options), svmpath.trace(cut(X, sizes), cut(y, sizes), **options)
    for criterion in (criteria.alo, criteria.span, lambda path, at: criteria.kfold(path, at, cv=4)):
        found, expected = criterion(chunked, values), criterion(whole, values)
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-8)
        np.testing.assert_allclose(found.smooth, expected.smooth, rtol=1e-8)
    found, expected = (criteria.alo(path, values, loss="squared") for path in (chunked, whole))
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-8)


def test_nested_folds_in_any_order():
    """Row numbers of a splitter need not be sorted."""
    X, y = moons()
    splitter = ShuffleSplit(2, test_size=0.3, random_state=0)
    model = PathSVC(**{**OPTIONS, "C": 1.0}, criterion="kfold", cv=splitter)
    sizes = SIZES["three"]
    value = model.fit(cut(X, sizes), cut(y, sizes)).nested_error().value
    errors = []
    for train, test in splitter.split(X, y):
        errors.append(np.mean(PathSVC(**{**OPTIONS, "C": 1.0}).fit(X[train], y[train]).predict(X[test]) != y[test]))
    assert abs(value - np.mean(errors)) < 0.05  # their landmarks differ


def test_folds_without_weight_are_refused():
    X, y = moons()
    s = np.ones(N)
    s[: N // 2] = 0.0
    rows, labels, weights = (cut(each, SIZES["three"]) for each in (X, y, s))
    options = {"loss": "least_squares", "gamma": 0.4, "rank": Nystroem(20, "uniform"), "random_state": 0}
    path = svmpath.trace(rows, labels, sample_weight=weights, **options)
    with pytest.raises(ValueError, match="At least one held-out sample must have a positive weight"):
        criteria.kfold(path, [1.0], cv=[(np.arange(N // 2, N), np.arange(N // 2))]).scores  # noqa: B018

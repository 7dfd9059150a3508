"""Probabilities of the classifiers, and the table of their samples."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit, TunedThresholdClassifierCV, cross_val_predict

from svmpath import ElasticNetSVC, PathSVC, PathSVR
from svmpath.criteria.calibration import fit_calibration
from svmpath.criteria.folds import deal
from svmpath.losses import SquaredHinge
from tests.rounding import assert_same

X, Y = make_moons(100, noise=0.3, random_state=0)
WORDS = np.array(["no", "yes"])[Y]
W = np.random.default_rng(1).integers(0, 4, size=100).astype(float)
ONE = {"gamma": 1.0, "C": 2.0}
IRIS = load_iris(return_X_y=True)
NEW, NEW_Y = make_moons(2000, noise=0.3, random_state=1)
LINEAR = ElasticNetSVC(lambda1=1.0, lambda2=1.0)


def two_classes(method="sigmoid"):
    return PathSVC(loss="least_squares", **ONE, calibration=method).fit(X, WORDS)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("model", [PathSVC(**ONE), LINEAR], ids=["path", "linear"])
def test_probabilities_are_the_calibrated_decisions(model, method):
    model.set_params(calibration=method).fit(X, WORDS, sample_weight=W)
    p = model.predict_proba(NEW)
    f = model.curve_.decisions[model.choice_.index]  # the held-out values of the fit
    expected = fit_calibration(f, Y, 2, W, method).probabilities(model.decision_function(NEW))
    np.testing.assert_allclose(p, expected, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(NEW)), p, atol=1e-12)
    assert model.classes_.tolist() == ["no", "yes"]
    assert log_loss(NEW_Y, p[:, 1]) < 0.45


def test_log_loss_is_that_of_a_logistic_regression_on_held_out_decisions():
    model = PathSVC(loss="least_squares", **ONE).fit(X, Y)
    f, more = model.held_out_decisions(), int(Y.sum())
    t = np.where(Y == 1, (more + 1) / (more + 2), 1 / (100 - more + 2))  # Platt's targets, as weights of both labels
    regression = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
    regression.fit(np.tile(f, 2)[:, None], np.repeat([1, 0], 100), np.concatenate([t, 1 - t]))
    theirs = regression.predict_proba(model.decision_function(NEW)[:, None])
    assert log_loss(NEW_Y, model.predict_proba(NEW)) == pytest.approx(log_loss(NEW_Y, theirs), abs=1e-6)


def test_predicted_held_out_values_are_calibrated_as_well_as_exact_ones():
    model = PathSVC(**ONE).fit(X, Y)
    assert model.calibration_criterion_ == "span"
    assert model.error_criterion_ == "loo"
    exact = fit_calibration(model.held_out_decisions(), Y, 2, np.ones(100))
    by_exact = log_loss(NEW_Y, exact.probabilities(model.decision_function(NEW)))
    assert log_loss(NEW_Y, model.predict_proba(NEW)) == pytest.approx(by_exact, abs=2e-3)


def test_a_bound_has_no_held_out_values_so_that_leave_one_out_is_computed_or_predicted(monkeypatch):
    X, y = make_classification(60, 4, class_sep=3.0, random_state=0)
    model = PathSVC(criterion="radius_margin", **ONE).fit(X, y)
    assert model.calibration_criterion_ == "loo"
    assert model.predict_proba(X).shape == (60, 2)
    monkeypatch.setattr(SquaredHinge, "policy", replace(SquaredHinge.policy, exact_rows=50))
    assert PathSVC(criterion="radius_margin", **ONE).fit(X, y).calibration_criterion_ == "span"


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge", "hinge"])
def test_several_classes(loss):
    X, y = IRIS
    model = PathSVC(loss=loss, **ONE).fit(X, np.array(["a", "b", "c"])[y])
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()
    assert -np.log(p[np.arange(150), y]).mean() < 0.2


def test_weights_reach_the_calibration():
    folds = list(StratifiedKFold(4).split(X, Y))
    weighted = PathSVC(loss="least_squares", **ONE, criterion="kfold", cv=folds).fit(X, Y, sample_weight=W)
    twice = PathSVC(loss="least_squares", **ONE, criterion="kfold", cv=folds * 2).fit(X, Y, sample_weight=W)
    np.testing.assert_allclose(weighted.predict_proba(NEW), twice.predict_proba(NEW), atol=1e-8)
    plain = PathSVC(loss="least_squares", **ONE, criterion="kfold", cv=folds).fit(X, Y)
    assert np.abs(plain.predict_proba(NEW) - weighted.predict_proba(NEW)).max() > 1e-2
    for model in (weighted, twice):
        assert model.calibration_curve().counts.sum() == pytest.approx(W.sum() ** 2 / (W @ W))


def test_balanced_classes_have_balanced_probabilities():
    X, y = make_classification(300, 4, weights=[0.9], random_state=0)
    plain = PathSVC(loss="least_squares", gamma=0.1, C=1.0).fit(X, y)
    balanced = PathSVC(loss="least_squares", gamma=0.1, C=1.0, class_weight="balanced").fit(X, y)
    assert plain.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)
    assert np.average(balanced.predict_proba(X)[:, 1], weights=np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean()))) == (
        pytest.approx(0.5, abs=0.03)
    )


def test_sparse_and_single_precision_rows():
    dense = two_classes().predict_proba(X)
    model = PathSVC(loss="least_squares", **ONE).fit(sparse.csr_matrix(X), WORDS)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_matrix(X)), dense, atol=1e-9)
    np.testing.assert_allclose(two_classes().predict_proba(X.astype(np.float32)), dense, atol=1e-4)


def test_calibration_may_change_after_fit_and_is_saved_with_the_model():
    model = two_classes()
    first = model.predict_proba(X)
    other = model.set_params(calibration="isotonic").predict_proba(X)
    assert np.abs(first - other).max() > 1e-3
    assert_same(pickle.loads(pickle.dumps(model)).predict_proba(X), other)
    assert_same(two_classes("isotonic").predict_proba(X), other)
    with pytest.raises(ValueError, match="calibration must be"):
        PathSVC(**ONE, calibration="platt").fit(X, Y)
    with pytest.raises(ValueError, match="calibration must be"):
        ElasticNetSVC(calibration="platt").fit(X, Y)


def test_rows_that_are_never_held_out_or_several_times():
    never = PathSVC(loss="least_squares", **ONE, criterion="kfold", cv=TimeSeriesSplit(4)).fit(X, Y)
    assert np.isfinite(never.predict_proba(X)).all()
    assert never.calibration_curve().counts.sum() == 80
    table = never.held_out_table()
    assert table["probability"].isna().sum() == 20
    assert table["probability"].tail(20).isna().all()
    assert table["unreliable"].tail(20).isna().all()
    assert table["predicted"].tail(20).isna().all()
    folds = list(StratifiedKFold(4).split(X, Y))
    once = PathSVC(loss="least_squares", **ONE, criterion="kfold", cv=folds).fit(X, Y)
    twice = PathSVC(loss="least_squares", **ONE, criterion="kfold", cv=folds * 2).fit(X, Y)
    np.testing.assert_allclose(twice.predict_proba(X), once.predict_proba(X), atol=1e-9)


def test_the_calibration_curve_is_cross_fitted():
    mean, fraction, counts = two_classes("isotonic").calibration_curve()
    assert counts.sum() == 100
    assert np.average(mean, weights=counts) == pytest.approx(0.5, abs=0.05)
    assert np.average(fraction, weights=counts) == 0.5
    model = two_classes("isotonic")
    own = model.predict_proba(X)[:, 1]
    used = np.bincount(np.minimum((10 * own).astype(int), 9), minlength=10)
    assert used[used > 0].tolist() != counts.tolist()
    X3, y3 = IRIS
    mean, fraction, counts = PathSVC(**ONE).fit(X3, y3).calibration_curve()
    assert mean.min() > 1 / 3
    assert np.average(fraction, weights=counts) > 0.9
    groups = np.repeat(np.arange(20), 5)
    grouped = PathSVC(loss="least_squares", **ONE).fit(X, Y, groups=groups)
    assert grouped.calibration_curve().counts.sum() == 100


def test_groups_stay_in_one_fold_of_the_calibration_curve():
    groups = np.random.default_rng(0).integers(0, 12, 100)
    place = np.random.default_rng(1).permutation(100)
    fold = deal(groups, Y, place, 5)
    assert all(len(set(fold[groups == group])) == 1 for group in range(12))
    fold = deal(np.arange(100), Y, place, 5)
    assert set(fold) == set(range(5))
    assert np.bincount(fold[Y == 1]).tolist() == [10] * 5
    order = np.random.default_rng(2).permutation(100)
    np.testing.assert_array_equal(deal(np.arange(100)[order], Y[order], place[order], 5), fold[order])


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_rows(n):
    X, y = np.arange(float(n))[:, None], np.array([0, 1, 1, 0, 1])[:n]
    model = PathSVC(loss="least_squares", **ONE).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.calibration_curve().counts.sum() == n


def test_labels_that_are_wrong_come_first():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 4.0])
    y = np.repeat(["left", "right"], 60)
    wrong = [5, 17, 70, 100]
    y[wrong] = np.where(y[wrong] == "left", "right", "left")
    model = PathSVC(gamma=0.5, C=1.0).fit(X, y)
    table = model.held_out_table()
    assert sorted(table["sample"].head(4)) == wrong
    assert (table["predicted"].head(4) != table["label"].head(4)).all()
    assert table["probability"].is_monotonic_increasing
    np.testing.assert_allclose(table["loss"], -np.log(table["probability"]))
    ordered = table.sort_values("sample")
    assert ordered["label"].tolist() == y.tolist()
    np.testing.assert_array_equal(ordered["decision"], model.held_out_decisions())
    np.testing.assert_allclose(
        ordered["influence"], model.decision_function(X) - model.held_out_decisions(), atol=1e-12
    )
    assert (ordered["weight"] == 1.0).all()
    assert not table["unreliable"].any()


def test_the_table_of_several_classes_has_margins():
    X, y = IRIS
    model = PathSVC(loss="least_squares", **ONE, class_weight={0: 2.0}).fit(X, y)
    table = model.held_out_table().sort_values("sample")
    held = model.held_out_decisions()
    others = np.where(np.eye(3, dtype=bool)[y], -np.inf, held).max(axis=1)
    np.testing.assert_allclose(table["decision"], held[np.arange(150), y] - others)
    assert ((table["decision"] > 0) == (table["predicted"] == y)).all()
    assert table["weight"].tolist() == np.where(y == 0, 2.0, 1.0).tolist()
    linear = ElasticNetSVC(lambda1=1.0, lambda2=1.0).fit(X, y)
    f, held = linear.decision_function(X), linear.held_out_decisions()
    margin = lambda f: f[np.arange(150), y] - np.where(np.eye(3, dtype=bool)[y], -np.inf, f).max(axis=1)  # noqa: E731
    np.testing.assert_allclose(
        linear.held_out_table().sort_values("sample")["influence"], margin(f) - margin(held), atol=1e-12
    )


def test_the_table_of_a_regression():
    y = X[:, 0] ** 2 + 0.1 * W
    model = PathSVR(**ONE, scale=True).fit(X, y, sample_weight=W)
    table = model.held_out_table()
    assert table.columns.tolist() == ["sample", "target", "decision", "loss", "influence", "weight", "unreliable"]
    assert table["loss"].is_monotonic_decreasing
    ordered = table.sort_values("sample")
    np.testing.assert_allclose(ordered["loss"], (y - model.held_out_decisions()) ** 2)
    np.testing.assert_allclose(ordered["influence"], model.predict(X) - model.held_out_decisions(), atol=1e-9)
    np.testing.assert_allclose(ordered["influence"].to_numpy()[W == 0], 0.0, atol=1e-9)  # which no machine has seen
    assert ordered["weight"].tolist() == W.tolist()


def test_doubts_are_unknown_where_only_their_number_is_known(monkeypatch):
    monkeypatch.setattr(SquaredHinge, "policy", replace(SquaredHinge.policy, exact_rows=50))
    model = PathSVC(**ONE).fit(X, Y)
    assert model.error_criterion_ == "span"
    assert model.held_out_table()["unreliable"].isna().all()


@pytest.mark.slow
def test_in_scikit_learns_tools():
    model = PathSVC(loss="least_squares", **ONE)
    p = cross_val_predict(model, X, WORDS, cv=3, method="predict_proba")
    assert p.shape == (100, 2)
    stack = StackingClassifier([("svm", model), ("line", LogisticRegression())], cv=3).fit(X, WORDS)
    assert stack.stack_method_ == ["predict_proba", "predict_proba"]
    tuned = TunedThresholdClassifierCV(model, response_method="predict_proba", scoring="balanced_accuracy", cv=3)
    assert tuned.fit(X, Y).score(X, Y) > 0.8
    assert CalibratedClassifierCV(model, cv=3).fit(X, WORDS).predict_proba(X).shape == (100, 2)


def test_in_scikit_learns_displays():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from sklearn.calibration import CalibrationDisplay
    from sklearn.metrics import RocCurveDisplay

    model = two_classes()
    try:
        shown = CalibrationDisplay.from_estimator(model, X, WORDS)
        assert len(shown.prob_true) > 2
        roc = RocCurveDisplay.from_estimator(model, X, WORDS, response_method="predict_proba")
        assert np.max(roc.roc_auc) > 0.9
    finally:
        pyplot.close("all")

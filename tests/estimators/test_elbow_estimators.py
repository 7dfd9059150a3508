"""``PathSVC(loss="hinge")`` and ``PathSVR(loss="epsilon_insensitive")``: their choices are those of refits."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from svmpath import PathSVC, PathSVR
from tests.speed import first_quick

X, Y = make_moons(80, noise=0.3, random_state=0)
WAVE = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=80)
C = [0.1, 1.0, 10.0]


EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data": "a sample of weight two is left out as one",
    "check_sample_weight_equivalence_on_sparse_data": "a sample of weight two is left out as one",
}


@pytest.mark.slow
@parametrize_with_checks(
    [PathSVR(loss="epsilon_insensitive", gamma=[0.5], C=C)], expected_failed_checks=lambda estimator: EXCUSED
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([PathSVC(loss="hinge", gamma=[0.5], C=C)], expected_failed_checks=lambda estimator: EXCUSED)
def test_estimator_checks_of_the_hinge(estimator, check):
    check(estimator)


def test_hinge_chooses_like_a_grid_search_and_is_the_same_machine():
    folds = list(StratifiedKFold(5).split(X, Y))
    grid = GridSearchCV(SVC(tol=1e-8), {"C": C, "gamma": [0.2, 1.0, 5.0]}, cv=folds).fit(X, Y)
    model = PathSVC(loss="hinge", C=C, gamma=[0.2, 1.0, 5.0], criterion="kfold", cv=folds).fit(X, Y)
    assert model.held_out_error() == pytest.approx(1 - grid.best_score_, abs=1e-9)
    assert model.error_criterion_ == "kfold"
    twin = SVC(C=model.C_, gamma=model.gamma_, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(model.support_, np.sort(twin.support_))


def test_epsilon_insensitive_chooses_epsilon_too():
    folds = list(StratifiedKFold(5).split(X, Y))
    values = {"C": C, "epsilon": [0.01, 0.1, 0.5]}
    grid = GridSearchCV(SVR(gamma=1.0, tol=1e-8), values, cv=folds, scoring="neg_mean_squared_error").fit(X, WAVE)
    given = {"loss": "epsilon_insensitive", "gamma": 1.0, "C": C, "criterion": "kfold", "cv": folds}
    model = PathSVR(epsilon=values["epsilon"], **given).fit(X, WAVE)
    assert (model.C_, model.epsilon_) == (grid.best_params_["C"], grid.best_params_["epsilon"])
    twin = SVR(C=model.C_, gamma=1.0, epsilon=model.epsilon_, tol=1e-10).fit(X, WAVE)
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-4)
    tuned = PathSVR(epsilon="tune", **given).fit(X, WAVE)
    assert 0 < tuned.epsilon_ <= np.std(WAVE)


@first_quick(1)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_exact_leave_one_out_is_the_default_and_that_of_refits(task):
    if task == "classification":
        model = PathSVC(loss="hinge", C=C, gamma=1.0).fit(X, Y)
        twin, target = SVC(C=model.C_, gamma=1.0, tol=1e-8), Y
    else:
        model = PathSVR(loss="epsilon_insensitive", C=C, gamma=1.0).fit(X, WAVE)
        twin, target = SVR(C=model.C_, gamma=1.0, epsilon=model.epsilon_, tol=1e-8), WAVE
    assert model.criterion_ == model.error_criterion_ == "loo"
    held = cross_val_predict(twin, X, target, cv=LeaveOneOut())
    expected = np.mean(held != target) if task == "classification" else np.mean((held - target) ** 2)
    assert model.loo_error() == pytest.approx(expected, abs=1e-6)


def test_many_samples_are_left_to_folds_and_it_is_said(capsys):
    points, labels = make_moons(501, noise=0.3, random_state=0)
    model = PathSVC(loss="hinge", C=[1.0], gamma=1.0, verbose=1).fit(points, labels)
    assert model.criterion_ == model.error_criterion_ == "kfold"
    assert "k-fold instead of exact leave-one-out: 501 samples (more than 500)" in capsys.readouterr().out
    few = PathSVC(loss="hinge", C=[1.0], gamma=1.0, verbose=1).fit(points[:500], labels[:500])
    assert few.criterion_ == "loo"


@pytest.mark.parametrize("criterion", ["alo", "span", "xi_alpha", "span_bound"])
def test_estimates_and_bounds_choose_and_the_error_reported_is_exact(criterion):
    model = PathSVC(loss="hinge", C=C, gamma=1.0, criterion=criterion).fit(X, Y)
    assert (model.criterion_, model.error_criterion_) == (criterion, "loo")
    exact = PathSVC(loss="hinge", C=[model.C_], gamma=1.0).fit(X, Y)
    assert model.loo_error() == pytest.approx(exact.loo_error())


def test_several_classes_and_approximate_paths(monkeypatch):
    points, labels = load_iris(return_X_y=True)
    exact = PathSVC(loss="hinge", C=C, gamma=[0.1, 0.5]).fit(points, labels)
    assert exact.loo_error() < 0.06
    monkeypatch.setattr("svmpath.estimators._base.automatic_gap", lambda loss, n: 1e-4)
    monkeypatch.setattr("svmpath.paths.trackers._FEW_ROWS", 100)
    near = PathSVC(loss="hinge", C=C, gamma=[0.1, 0.5], rank=10).fit(points, labels)
    assert not near.path_.is_exact
    assert np.mean(near.predict(points) == exact.predict(points)) > 0.98


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PathSVC(loss="nu"), "no C to choose"),
        (PathSVC(loss="hinge", criterion="radius_margin"), "works for loss='squared_hinge' only"),
        (PathSVC(loss="epsilon_insensitive"), "does regression"),
    ],
)
def test_what_cannot_be_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="empty list"):
        PathSVR(loss="epsilon_insensitive", epsilon=[]).fit(X, WAVE)


@pytest.mark.parametrize("options", [pytest.param({}, marks=pytest.mark.slow), {"gamma": [0.5, 2.0]}])
def test_the_defaults_fit(options):
    points, labels = make_moons(200, noise=0.3, random_state=0)
    assert PathSVC(loss="hinge", **options).fit(points, labels).loo_error() < 0.12

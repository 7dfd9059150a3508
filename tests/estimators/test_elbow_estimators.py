"""``PathSVC(loss="hinge")`` and ``PathSVR(loss="epsilon_insensitive")``: their choices are those of refits."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from svmpath import PathSVC, PathSVR

X, Y = make_moons(80, noise=0.3, random_state=0)
WAVE = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=80)
C = [0.1, 1.0, 10.0]


@parametrize_with_checks(
    [PathSVC(loss="hinge", gamma=[0.5], C=C, cv=2), PathSVR(loss="epsilon_insensitive", gamma=[0.5], C=C, cv=2)],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": "folds are drawn of rows, not of weights",
        "check_sample_weight_equivalence_on_sparse_data": "folds are drawn of rows, not of weights",
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_hinge_chooses_like_a_grid_search_and_is_the_same_machine():
    folds = list(StratifiedKFold(5).split(X, Y))
    grid = GridSearchCV(SVC(tol=1e-8), {"C": C, "gamma": [0.2, 1.0, 5.0]}, cv=folds).fit(X, Y)
    model = PathSVC(loss="hinge", C=C, gamma=[0.2, 1.0, 5.0], cv=folds).fit(X, Y)
    assert model.loo_error_ == pytest.approx(1 - grid.best_score_, abs=1e-9)
    assert model.error_criterion_ == "kfold"
    twin = SVC(C=model.C_, gamma=model.gamma_, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(model.support_, np.sort(twin.support_))


def test_epsilon_insensitive_chooses_epsilon_too():
    folds = list(StratifiedKFold(5).split(X, Y))
    values = {"C": C, "epsilon": [0.01, 0.1, 0.5]}
    grid = GridSearchCV(SVR(gamma=1.0, tol=1e-8), values, cv=folds, scoring="neg_mean_squared_error").fit(X, WAVE)
    model = PathSVR(loss="epsilon_insensitive", gamma=1.0, C=C, epsilon=values["epsilon"], cv=folds).fit(X, WAVE)
    assert (model.C_, model.epsilon_) == (grid.best_params_["C"], grid.best_params_["epsilon"])
    twin = SVR(C=model.C_, gamma=1.0, epsilon=model.epsilon_, tol=1e-10).fit(X, WAVE)
    np.testing.assert_allclose(model.predict(X), twin.predict(X), atol=1e-4)
    tuned = PathSVR(loss="epsilon_insensitive", gamma=1.0, C=C, epsilon="tune", cv=folds).fit(X, WAVE)
    assert 0 < tuned.epsilon_ <= np.std(WAVE)


def test_several_classes_and_approximate_paths():
    points, labels = load_iris(return_X_y=True)
    exact = PathSVC(loss="hinge", C=C, gamma=[0.1, 0.5]).fit(points, labels)
    assert exact.loo_error_ < 0.06
    near = PathSVC(loss="hinge", C=C, gamma=[0.1, 0.5], tol=1e-4).fit(points, labels)
    assert np.mean(near.predict(points) == exact.predict(points)) > 0.98


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PathSVC(loss="nu"), "no C to choose"),
        (PathSVC(loss="hinge", tol=0.0), "tol must be a positive number"),
        (PathSVC(loss="hinge", criterion="span"), "span"),
        (PathSVC(loss="epsilon_insensitive"), "does regression"),
    ],
)
def test_what_cannot_be_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="empty list"):
        PathSVR(loss="epsilon_insensitive", epsilon=[]).fit(X, WAVE)


@pytest.mark.parametrize("options", [{}, {"tol": 1e-2, "gamma": [0.5, 2.0]}])
def test_the_defaults_fit(options):
    points, labels = make_moons(200, noise=0.3, random_state=0)
    assert PathSVC(loss="hinge", **options).fit(points, labels).loo_error_ < 0.12

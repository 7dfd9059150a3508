"""ElasticNetSVC: the choice against a search by hand, scikit-learn's conventions, early stopping."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import svmpath
from svmpath import ElasticNetSVC, criteria
from svmpath.losses import PathParameter
from svmpath.paths.trace_elastic import elastic_problem, lambda1_max
from tests.rounding import assert_same
from tests.speed import first_quick

REPETITION = "folds, and leaving one sample out, tell a weight of two from a sample that is there twice"
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data": REPETITION,
    "check_sample_weight_equivalence_on_sparse_data": REPETITION,
}
QUICK = [ElasticNetSVC(lambda1=[1.0], lambda2=1.0, cv=2)]
# Platt's sigmoid need not be 1/2 at the boundary; one check wants the class predicted to be the more probable.
ESTIMATORS = [
    ElasticNetSVC(lambda2=1.0, cv=3, calibration="temperature"),
    ElasticNetSVC(
        lambda1=[0.1, 1.0, 3.0], lambda2=[0.0, 0.5], criterion="loo", standardize=False, calibration="temperature"
    ),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:cv=. has no effect:UserWarning")  # some checks have few rows
@pytest.mark.filterwarnings("ignore:.*no feature:UserWarning")  # many checks have labels at random
@parametrize_with_checks(QUICK, expected_failed_checks=lambda estimator: EXCUSED)
def test_estimator_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*no feature:UserWarning", "ignore:cv=. has no effect:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXCUSED)
def test_estimator_check_of_a_search(estimator, check):
    check(estimator)


def data(n=90, d=20, seed=0):
    return make_classification(
        n, d, n_informative=4, n_redundant=2, n_clusters_per_class=1, flip_y=0.1, shuffle=False, random_state=seed
    )


def test_the_choice_is_the_best_of_all_pairs():
    X, y = data()
    folds = list(StratifiedKFold(4).split(X, y))
    lambda1, lambda2 = np.array([8.0, 4.0, 2.0, 1.0, 0.5]), [0.0, 0.5, 20.0]
    model = ElasticNetSVC(lambda1=lambda1, lambda2=lambda2, cv=folds, patience=None, standardize=False).fit(X, y)
    table = np.empty((3, 5))
    for k, lam2 in enumerate(lambda2):
        for j, lam1 in enumerate(lambda1):
            wrong = 0
            for train, test in folds:
                path = svmpath.trace_elastic(X[train], y[train], lambda2=lam2, span=(30, 0.1))
                wrong += np.sum((path(lam1)(X[test]) > 0) != (y[test] == 1))
            table[k, j] = wrong / len(y)
        np.testing.assert_allclose(model.choice_.tried[lam2].scores, table[k])
    assert model.held_out_error() == pytest.approx(table.min())
    assert table[lambda2.index(model.lambda2_), lambda1.tolist().index(model.lambda1_)] == pytest.approx(table.min())
    assert model.error_criterion_ == "kfold"


def test_the_machine_is_that_of_the_path():
    X, y = data()
    model = ElasticNetSVC(cv=3).fit(X, y)
    path = svmpath.trace_elastic(X, y, lambda2=model.lambda2_, standardize=True, span=(100, model.lambda1_ / 2))
    np.testing.assert_allclose(model.coef_[0], path(model.lambda1_).coef, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), path(model.lambda1_)(X), atol=1e-9)
    assert model.path_(model.lambda1_).gap < 1e-9
    assert model.choice_.solution.parameters == {"lambda1": model.lambda1_, "lambda2": model.lambda2_}
    assert "lambda1" in repr(model.choice_)


def test_leave_one_out_is_the_exact_one():
    X, y = data(40, 8)
    model = ElasticNetSVC(criterion="loo", lambda2=1.0, lambda1=[5.0, 2.0, 1.0], standardize=False).fit(X, y)
    path = svmpath.trace_elastic(X, y, lambda2=1.0, span=(20, 0.5))
    curve = criteria.loo(path, [5.0, 2.0, 1.0])
    np.testing.assert_allclose(model.curve_.scores, curve.scores)
    assert model.error_criterion_ == "loo"
    assert ElasticNetSVC(lambda1=1.0, lambda2=1.0).fit(X[:15], y[:15]).error_criterion_ == "loo"  # few of a class


@pytest.mark.slow
def test_several_classes_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = ElasticNetSVC(lambda2=[0.1, 1.0], cv=3).fit(X, names)
    assert model.coef_.shape == (3, 4)
    assert model.decision_function(X).shape == (150, 3)
    assert set(model.predict(X)) == {"a", "b", "c"}
    assert model.score(X, names) > 0.9
    k = 1
    path = svmpath.trace_elastic(X, y == k, lambda2=model.lambda2_, standardize=True, span=(1e3, model.lambda1_ / 2))
    np.testing.assert_allclose(model.coef_[k], path(model.lambda1_).coef, atol=1e-9)


def test_features_are_selected():
    X, y = data(120, 40)
    model = ElasticNetSVC().fit(X, y)
    kept = SelectFromModel(model, prefit=True, threshold=1e-10).get_support()
    np.testing.assert_array_equal(kept, model.coef_[0] != 0)
    assert 0 < kept.sum() < 40
    chain = make_pipeline(
        StandardScaler(), SelectFromModel(ElasticNetSVC(lambda2=1.0)), ElasticNetSVC(lambda1=1.0, lambda2=1.0)
    )
    assert cross_val_score(chain, X, y, cv=3).mean() > 0.6


def test_one_standard_error_uses_fewer_features():
    X, y = data()
    best, sparse_one = (ElasticNetSVC(lambda2=0.5, rule=rule).fit(X, y) for rule in ("min", "one_se"))
    assert sparse_one.lambda1_ >= best.lambda1_
    assert np.count_nonzero(sparse_one.coef_) <= np.count_nonzero(best.coef_)
    low = best.curve_.scores[best.choice_.index]
    assert sparse_one.held_out_error() <= low + best.curve_.standard_errors[best.choice_.index]


@pytest.mark.slow
def test_max_features_bounds_the_choice():
    X, y = data()
    model = ElasticNetSVC(max_features=3).fit(X, y)
    assert np.count_nonzero(model.coef_) <= 3
    with pytest.raises(ValueError, match="At all values of lambda1 there are more than max_features"):
        ElasticNetSVC(lambda1=1e-3, max_features=1).fit(X, y)


def test_the_search_ends_when_the_minimum_is_passed():
    X, y = data()
    short, whole = (ElasticNetSVC(lambda2=1e-3, patience=patience).fit(X, y) for patience in (3, None))
    assert len(short.curve_.values) < len(whole.curve_.values) == 40
    np.testing.assert_allclose(short.curve_.scores, whole.curve_.scores[: len(short.curve_.values)])
    best = int(np.argmin(short.curve_.scores))
    assert len(short.curve_.values) - best >= 3


def test_sparse_rows_weights_and_factors():
    X, y = data()
    X[np.abs(X) < 0.7] = 0.0
    s, om = np.where(np.arange(90) % 2, 2.0, 1.0), np.r_[0.0, np.ones(19)]
    options = {"lambda2": 0.5, "penalty_factor": om, "class_weight": "balanced", "cv": 3}
    dense = ElasticNetSVC(**options).fit(X, y, sample_weight=s)
    held = ElasticNetSVC(**options).fit(sparse.csr_matrix(X), y, sample_weight=s)
    np.testing.assert_allclose(dense.coef_, held.coef_, atol=1e-8)
    np.testing.assert_allclose(dense.decision_function(X), held.decision_function(sparse.csr_matrix(X)), atol=1e-8)
    assert dense.coef_[0, 0] != 0


@pytest.mark.slow
def test_threads_and_progress_change_nothing(capsys):
    X, y = data()
    one = ElasticNetSVC(cv=3).fit(X, y)
    two = clone(one).set_params(n_jobs=2, verbose=1).fit(X, y)
    assert_same(one.coef_, two.coef_)
    assert "scored 6 of 6 values of lambda2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lambda1": "auto"}, "lambda1 must be 'tune'"),
        ({"lambda2": "auto"}, "lambda2 must be 'tune'"),
        ({"lambda1": "tun"}, "Did you mean 'tune'"),
        ({"scoring": "eror"}, "scoring must be one of .* Did you mean 'error'"),
        ({"criterion": "kfold", "cv": 500}, "cv=500 is more than the .* rows; use cv="),
        ({"lambda1": -1.0}, "lambda1 must be a number >= 0"),
        ({"lambda2": []}, "lambda2 is an empty list"),
        ({"criterion": "press"}, "criterion must be one of"),
        ({"rule": "max"}, "rule must be one of"),
        ({"patience": 0}, "patience must be"),
        ({"max_features": 0}, "max_features must be"),
        ({"penalty_factor": [1.0]}, "one number per feature"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        ElasticNetSVC(**options).fit(X, y)


@pytest.mark.slow
def test_few_features_are_searched_as_finely_as_many():
    X, y = load_iris(return_X_y=True)
    model = ElasticNetSVC(max_features=1, patience=None).fit(X[50:], y[50:])
    assert np.count_nonzero(np.abs(model.coef_) > 1e-6) == 1
    assert model.score(X[50:], y[50:]) > 0.9
    assert 35 <= len(model.curve_.values) <= 40


def many_features(seed):
    """Six of 500 features count, and little."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 500))
    return X, np.sign(X[:, :6].sum(axis=1) + 2 * rng.normal(size=200))


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("seed", [1, 4, 11])
def test_few_features_are_better_than_none(seed):
    """The values lie close together near the first, where the score is flat: patience must not end the search there."""
    X, y = many_features(seed)
    model = ElasticNetSVC(max_features=5, lambda2=1.0).fit(X, y)
    assert 1 <= np.count_nonzero(model.coef_) <= 5
    assert model.held_out_error() < model.curve_.scores[np.argmax(model.curve_.values)]
    whole = ElasticNetSVC(max_features=5, lambda2=1.0, patience=None).fit(X, y)
    assert model.held_out_error() == pytest.approx(whole.held_out_error())


def test_a_machine_without_features_is_warned_of():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], [30, 10])
    with pytest.warns(UserWarning, match="uses no feature"):
        model = ElasticNetSVC(lambda1=[1e3, 2e3], lambda2=1.0).fit(X, y)
    assert not model.coef_.any()


def test_each_class_stops_at_its_own_number_of_features():
    """The last class comes into use with many features at once, and stays constant; the others need not wait for it."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 20, 20])
    X = rng.normal(size=(100, 10))
    X[y == 1, 0] += 4.0
    X[y == 2, 1:7] += 0.9
    with pytest.warns(UserWarning, match="1 of 3 classes"):
        model = ElasticNetSVC(max_features=2, lambda2=1.0).fit(X, y)
    used = np.count_nonzero(model.coef_, axis=1)
    assert used.max() <= 2
    assert used[0] >= 1
    assert used[1] >= 1
    assert used[2] == 0


def test_with_unpenalised_columns_the_values_of_lambda1_reach_the_largest_of_every_lambda2():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(2 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=60) > 0, 1, -1)
    model = ElasticNetSVC(lambda2=[0.0, 300.0], penalty_factor=[0.0, 1.0, 1.0, 1.0], patience=None).fit(X, y)
    ends = [
        lambda1_max(
            elastic_problem(X, y.astype(float), np.ones(60), None, penalty_factor=[0.0, 1, 1, 1], standardize=True),
            PathParameter("lambda1", {"lambda2": lambda2}),
        )
        for lambda2 in (0.0, 300.0)
    ]
    assert ends[1] > 1.2 * ends[0]  # the column without a penalty does less
    assert max(scores.values.max() for scores in model.choice_.tried.values()) == pytest.approx(max(ends))

"""PathSVC and PathSVR as a user meets them."""

import copy
import gc
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.gaussian_process import kernels as gp
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath import ElasticNetSVC, KernelDictionary, PathSVC, PathSVR, Range, criteria
from svmpath.criteria import CRITERIA
from svmpath.kernels import RBF, Linear
from svmpath.losses import EpsilonInsensitive, SquaredHinge
from tests import reference
from tests.rounding import assert_same
from tests.speed import first_quick, slow_except

X, Y = make_moons(120, noise=0.25, random_state=0)
NEW, NEW_Y = make_moons(400, noise=0.25, random_state=1)
BIG, BIG_Y = make_moons(500, noise=0.25, random_state=2)
T = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]


def test_fit_chooses_and_stores_the_choice():
    model = PathSVC(loss="least_squares").fit(X, Y)
    assert model.choice_.parameters["C"] == model.C_
    assert model.gamma_ == model.choice_.parameters["gamma"]
    curve = criteria.loo(svmpath.trace(X, Y, loss="least_squares", gamma=model.gamma_), [model.C_])
    assert model.loo_error() == pytest.approx(curve.scores[0])
    assert model.loo_error() == pytest.approx(model.curve_.scores[model.choice_.index])
    assert model.score(NEW, NEW_Y) > 0.9
    assert model.dual_coef_.shape == (1, len(model.support_))
    assert model.support_vectors_.shape == (len(model.support_), 2)
    K = reference.rbf(NEW, X, model.gamma_)
    expected = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(NEW), expected, atol=1e-9)
    assert model.path_.residual == 0.0


def test_no_pair_of_values_tried_has_a_lower_score():
    model = PathSVC(search="grid").fit(X, Y)
    lowest = min(scores.scores.min() for scores in model.choice_.tried.values())
    assert model.choice_.score == pytest.approx(lowest)
    assert len(model.choice_.tried) == 11


@pytest.mark.slow
@pytest.mark.parametrize("loss", slow_except(["least_squares", "squared_hinge"], ["least_squares"]))
def test_a_search_keeps_one_kernel_matrix_not_all(loss):
    # Two matrices (kernel and its eigenvectors or factor) of the chosen kernel, and the distances, may stay.
    gc.collect()
    tracemalloc.start()
    options = {"gamma": list(np.geomspace(1.0, 100.0, 12)), "C": [0.1, 1.0, 10.0], "search": "grid"}
    model = PathSVC(loss=loss, **options).fit(BIG, BIG_Y)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(model.choice_.tried) == 12
    assert kept < 5 * len(BIG) ** 2 * 8


def test_the_chosen_curve_is_recomputed_where_it_was_let_go():
    model = PathSVC(rule="one_se").fit(X, Y)
    assert_same(model.curve_.scores, model.choice_.tried[model.gamma_].scores)


def test_held_out_error_is_that_of_refits():
    model = PathSVC(loss="least_squares").fit(X, Y)
    K = reference.rbf(X, X, model.gamma_)
    f = reference.leave_one_out(K, 2.0 * Y - 1, np.ones(120), model.C_)
    assert model.loo_error() == pytest.approx(np.mean((f > 0) != Y))


def test_regression():
    model = PathSVR(loss="least_squares").fit(X, T)
    assert model.score(X, T) > 0.99
    path = svmpath.trace(X, T, loss="least_squares", gamma=model.gamma_)
    assert model.loo_error() == pytest.approx(criteria.press(path, [model.C_]).scores[0])


def test_several_classes_share_C_gamma_and_one_decomposition():
    data, labels = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[labels]
    model = PathSVC(loss="least_squares").fit(data, names)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.decision_function(data).shape == (150, 3)
    assert model.dual_coef_.shape[0] == 3
    held = np.column_stack(
        [
            criteria.loo(
                svmpath.trace(data, (labels == c) * 2.0 - 1, loss="least_squares", gamma=model.gamma_), [model.C_]
            ).decisions[0]
            for c in range(3)
        ]
    )
    assert model.loo_error() == pytest.approx(np.mean(held.argmax(axis=1) != labels))
    assert model.curve_.decisions.shape == (len(model.curve_.values), 150, 3)
    np.testing.assert_allclose(model.curve_.decisions[model.choice_.index], held, atol=1e-8)
    assert model.score(data, names) > 0.95


@first_quick(1)
@pytest.mark.parametrize("rank", [None, 30])
def test_kfold_scores_every_kernel_on_the_same_folds(rank, monkeypatch):
    rows = []
    kfold = criteria.kfold

    def watched(*arguments, **options):
        curve = kfold(*arguments, **options)
        rows.append(curve.rows)
        return curve

    monkeypatch.setitem(CRITERIA, "kfold", replace(CRITERIA["kfold"], function=watched))
    cv = StratifiedKFold(4, shuffle=True)  # no random_state: drawn anew at each call of split
    PathSVC(criterion="kfold", cv=cv, rank=rank, random_state=0, search="grid").fit(X, Y)
    assert len(rows) >= 11
    assert all(np.array_equal(rows[0], other) for other in rows)


def test_pipeline_clone_grid_search_and_cross_validation():
    pipeline = make_pipeline(StandardScaler(), PathSVC(gamma=[0.5, 2.0], C=[0.1, 1.0, 10.0]))
    assert clone(pipeline).fit(X, Y).score(NEW, NEW_Y) > 0.9
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > 0.85
    outer = GridSearchCV(PathSVC(), {"kernel": ["rbf", "linear"]}, cv=3).fit(X, Y)
    assert outer.best_params_ == {"kernel": "rbf"}


def test_pandas_and_string_labels():
    frame = pd.DataFrame(X, columns=["width", "height"])
    labels = np.where(Y == 1, "ripe", "green")
    model = PathSVC().fit(frame, pd.Series(labels))
    assert list(model.feature_names_in_) == ["width", "height"]
    assert set(model.predict(frame)) == {"ripe", "green"}
    np.testing.assert_array_equal(model.predict(frame) == "ripe", PathSVC().fit(X, Y).predict(X) == 1)


@pytest.mark.parametrize("rank", slow_except([None, 30], [30]))
def test_sparse_float32_and_order_do_not_matter(rank):
    dense = PathSVC(rank=rank, random_state=0).fit(X, Y)
    sparse = PathSVC(rank=rank, random_state=0).fit(csr_matrix(X), Y)
    assert sparse.predict(csr_matrix(NEW)).tolist() == dense.predict(NEW).tolist()
    single = PathSVC(rank=rank, random_state=0).fit(X.astype(np.float32), Y)
    assert np.mean(single.predict(NEW) == dense.predict(NEW)) > 0.99
    fortran = PathSVC(rank=rank, random_state=0).fit(np.asfortranarray(X), Y)
    np.testing.assert_allclose(fortran.decision_function(NEW), dense.decision_function(NEW), atol=1e-6)


def test_ways_to_give_C_and_gamma():
    fixed = PathSVC(C=2.0, gamma=0.5).fit(X, Y)
    assert fixed.C_ == 2.0
    assert fixed.gamma_ == 0.5
    assert fixed.choice_.at_edge == ()
    assert PathSVC(gamma="scale").fit(X, Y).gamma_ == pytest.approx(1 / (2 * X.var()))
    listed = PathSVC(C=[0.1, 1.0], gamma=[0.5, 2.0]).fit(X, Y)
    assert listed.C_ in (0.1, 1.0)
    assert sorted(listed.choice_.tried) == [0.5, 2.0]
    spans = PathSVC(C=Range(0.1, 10.0), gamma=Range(0.5, 8.0), search="grid").fit(X, Y)
    assert spans.curve_.values[[0, -1]] == pytest.approx([0.1, 10.0])
    assert 0.5 <= spans.gamma_ <= 8.0
    assert len(spans.choice_.tried) in (10, 11)


@pytest.mark.parametrize(
    "kernel",
    ["linear", "poly", "laplacian", 2.0 * RBF(1.0) + Linear(), gp.Matern(1.0, nu=2.5), lambda A, B: (A @ B.T + 1) ** 2],
    ids=["linear", "poly", "laplacian", "sum", "gp", "function"],
)
def test_kernels_of_every_kind(kernel):
    model = PathSVC(kernel=kernel, coef0=1.0).fit(X, Y)
    assert model.score(NEW, NEW_Y) > 0.8
    assert (model.gamma_ is None) == (
        kernel == "linear" or isinstance(kernel, gp.Kernel) or type(kernel).__name__ == "function"
    )


def inner_products(A, B):
    return A @ B.T  # a sparse matrix for sparse rows


@first_quick(3)
@pytest.mark.parametrize("gamma", ["tune", "scale", "auto", 0.5])
@pytest.mark.parametrize("estimator", [PathSVC(C=1.0), PathSVR(C=1.0)])
def test_a_callable_kernel_takes_sparse_rows_and_ignores_gamma(estimator, gamma):
    y = Y if isinstance(estimator, PathSVC) else T
    plain = clone(estimator).set_params(kernel="linear").fit(X, y)
    rows = csr_matrix(X)
    model = clone(estimator).set_params(kernel=inner_products, gamma=gamma).fit(rows, y)
    assert model.gamma_ is None
    np.testing.assert_allclose(model._decide(csr_matrix(NEW)), plain._decide(NEW), atol=1e-7)
    np.testing.assert_array_equal(model.predict(rows), copy.deepcopy(model).predict(rows))
    assert model.loo_error() == pytest.approx(plain.loo_error())


def test_a_grid_may_hold_callable_kernels_beside_others():
    grid = {"kernel": ["rbf", inner_products], "gamma": [0.1, 1.0], "C": [1.0]}
    search = GridSearchCV(PathSVC(loss="least_squares"), grid, cv=3, error_score="raise").fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_linear_kernel_has_coef():
    model = PathSVC(kernel="linear").fit(X, Y)
    np.testing.assert_allclose(NEW @ model.coef_[0] + model.intercept_, model.decision_function(NEW), atol=1e-9)
    with pytest.raises(AttributeError, match="linear kernel only"):
        PathSVC(C=1.0, gamma=1.0).fit(X, Y).coef_  # noqa: B018


def test_precomputed_kernel():
    K, cross = reference.rbf(X, X, 0.7), reference.rbf(NEW, X, 0.7)
    model = PathSVC(kernel="precomputed").fit(K, Y)
    other = PathSVC(gamma=0.7).fit(X, Y)
    assert model.C_ == other.C_
    np.testing.assert_allclose(model.decision_function(cross), other.decision_function(NEW), atol=1e-8)
    assert cross_val_score(PathSVC(kernel="precomputed"), K, Y, cv=3).mean() > 0.85
    with pytest.raises(ValueError, match="square"):
        PathSVC(kernel="precomputed").fit(K[:, :50], Y)


@pytest.mark.slow
def test_continuous_search_is_at_least_as_good_as_the_grid():
    noisy = T + 0.3 * np.random.default_rng(0).normal(size=120)
    grid = PathSVR(gamma=Range(0.1, 100.0)).fit(X, noisy)
    free = PathSVR(gamma=Range(0.1, 100.0), search="grid", scoring="squared").fit(X, noisy)
    assert free.loo_error() < grid.loo_error()
    assert free.C_ not in grid.curve_.values
    model = PathSVC(gamma=Range(0.05, 20.0), search="grid", scoring="squared").fit(X, Y)
    assert model.choice_.score < 1.0  # the squared residual is what was minimised
    assert model.loo_error() == pytest.approx(model.curve_.rescored("error").scores[model.choice_.index])


def test_weights():
    s = np.ones(120)
    s[Y == 0] = 20.0
    heavy, plain = PathSVC(C=1.0, gamma=1.0).fit(X, Y, sample_weight=s), PathSVC(C=1.0, gamma=1.0).fit(X, Y)
    assert np.mean(heavy.predict(NEW) == 0) > np.mean(plain.predict(NEW) == 0)
    by_class = PathSVC(C=1.0, gamma=1.0, class_weight={0: 20.0, 1: 1.0}).fit(X, Y)
    np.testing.assert_allclose(by_class.decision_function(NEW), heavy.decision_function(NEW))
    some = np.random.default_rng(0).random(120) < 0.5
    zero = PathSVC().fit(X, Y, sample_weight=some.astype(float))
    fewer = PathSVC(gamma=zero.gamma_).fit(X[some], Y[some])
    assert zero.loo_error() == pytest.approx(fewer.loo_error())


def test_same_seed_same_model_and_jobs_change_nothing():
    first, second = (PathSVC(rank=20, random_state=3).fit(X, Y) for _ in range(2))
    assert_same(first.decision_function(NEW), second.decision_function(NEW))
    parallel = PathSVC(rank=20, random_state=3, n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(parallel.decision_function(NEW), first.decision_function(NEW), atol=1e-9)


def test_verbose_prints(capsys):
    PathSVC(verbose=1, gamma=[1.0], search="grid").fit(X, Y)
    assert "scored 1 of 1 kernels" in capsys.readouterr().out
    PathSVC(verbose=1, random_state=0).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["screen:", "confirm:"]


@first_quick(2)
@pytest.mark.parametrize("rank", [None, 20])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (PathSVC(loss="least_squares"), Y),
        (PathSVR(), T),
        (PathSVC(loss="least_squares"), np.arange(120) % 3),
        (PathSVC(loss="squared_hinge", gamma=1.0), Y),
        (PathSVC(loss="squared_hinge", gamma=1.0), np.arange(120) % 3),
    ],
)
def test_saved_models_predict_the_same_and_are_small(tmp_path, model, y, rank):
    model = clone(model).set_params(rank=rank, random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(copy.predict(NEW), model.predict(NEW), atol=1e-9)
    skops.io.dump(model, tmp_path / "model.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith("svmpath.") for name in trusted)
    copy = skops.io.load(tmp_path / "model.skops", trusted=trusted)
    np.testing.assert_allclose(copy.predict(NEW), model.predict(NEW), atol=1e-9)
    np.testing.assert_allclose(copy.path_(1.0)(NEW), model.path_(1.0)(NEW), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, np.zeros(120), "only one class"),
        ({}, T, "Unknown label type|continuous"),
        ({"loss": "logistic"}, Y, "loss must be one of"),
        ({"C": -1.0}, Y, "C must be a positive number"),
        ({"C": "big"}, Y, "C must be 'tune'"),
        ({"C": []}, Y, "empty list"),
        ({"C": [1.0, 0.0]}, Y, "Each value of C must be a positive number"),
        ({"C": [1.0, -1.0]}, Y, "must be a positive number"),
        ({"gamma": "big"}, Y, "gamma must be"),
        ({"gamma": [1.0, "x"]}, Y, "Each value of gamma"),
        ({"kernel": "poly", "coef0": [0.0, 1.0]}, Y, r"coef0 must be a finite number, got \[0.0, 1.0\]"),
        ({"kernel": "poly", "degree": np.array([2, 3])}, Y, "degree .* must be a whole number >= 1, got array"),
        ({"rule": "best"}, Y, "rule must be"),
        ({"search": "random"}, Y, "search must be"),
        ({"criterion": "aic"}, Y, "criterion must be"),
        ({"criterion": "lo"}, Y, "criterion must be one of 'auto', 'loo', .* Did you mean 'loo'"),
        ({"criterion": ["loo"]}, Y, r"criterion must be one of 'auto', .* got \['loo'\]"),
        ({"scoring": "eror"}, Y, "scoring must be one of .* Did you mean 'error'"),
        ({"scoring": ["error"]}, Y, "scoring must be one name"),
        ({"C": "tun"}, Y, "C must be 'tune', or .* got 'tun'. Did you mean 'tune'"),
        ({"gamma": "scal"}, Y, "gamma must be one of 'tune', 'scale', 'auto', 'ard', or .* Did you mean 'scale'"),
        ({"rank": "atuo"}, Y, "Did you mean 'auto'"),
        ({"rank": -3}, Y, "rank must be"),
        ({"kernel": "rfb"}, Y, "kernel must be"),
        ({"criterion": "kfold", "cv": 500}, Y, "cv=500 is more than the 120 rows; use cv=120 or less"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(options, y, message):
    with pytest.raises(ValueError, match=message):
        PathSVC(**options).fit(X, y)


def test_nan_is_refused():
    data = X.copy()
    data[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PathSVC().fit(data, Y)
    with pytest.raises(ValueError, match="NaN"):
        PathSVR().fit(X, np.where(Y == 1, np.nan, 0.0))
    with pytest.raises(ValueError, match="features"):
        PathSVR(C=1.0, gamma=1.0).fit(X, T).predict(X[:, :1])


def test_groups_go_in_as_splits():
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    for loss in ("least_squares", "squared_hinge"):
        model = PathSVC(loss=loss, criterion="kfold", cv=folds, gamma=1.0, C=[0.1, 1.0]).fit(X, Y)
        curve = criteria.kfold(svmpath.trace(X, Y, loss=loss, gamma=1.0), [0.1, 1.0], cv=folds)
        np.testing.assert_allclose(model.curve_.scores, curve.scores)
        assert model.error_criterion_ == "kfold"


def test_a_choice_lost_to_rounding_warns():
    wide = 1e4 * np.random.default_rng(0).normal(size=(60, 50))
    with pytest.warns(svmpath.PrecisionWarning, match="StandardScaler"):
        PathSVR(kernel="linear", C=1e3).fit(wide, wide[:, 0])


@pytest.mark.parametrize("criterion", ["span", "loo"])
def test_a_machine_lost_to_rounding_warns(criterion):
    data, labels = load_iris(return_X_y=True)
    model = PathSVC(kernel="linear", criterion=criterion, C=1e6)
    with pytest.warns(svmpath.PrecisionWarning, match=r"violates .*StandardScaler"):
        model.fit(1000 * data, labels == 1)
    model.set_params(C=1.0).fit(data, labels == 1)


@pytest.mark.parametrize("criterion", ["radius_margin", criteria.radius_margin])
def test_what_the_bound_cannot_choose_is_refused_in_a_sentence(criterion):
    data, labels = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="for two classes only, but y has 3"):
        PathSVC(criterion=criterion).fit(data, labels)


def test_a_choice_by_the_bound_on_noisy_data_warns():
    noisy, noisy_Y = make_moons(200, noise=0.5, random_state=0)
    with pytest.warns(UserWarning, match=r"misclassifies \d+ of 200 training samples"):
        PathSVC(criterion="radius_margin", gamma=1.0).fit(noisy, noisy_Y)
    clean, clean_Y = make_moons(200, noise=0.05, random_state=0)
    PathSVC(criterion="radius_margin", gamma=1.0).fit(clean, clean_Y)


def test_a_saved_low_rank_model_predicts_to_the_last_digit():
    model = PathSVC(rank=100, gamma=0.125, C=1e6, random_state=0).fit(BIG, BIG_Y)
    copy = pickle.loads(pickle.dumps(model))
    assert_same(copy.decision_function(NEW), model.decision_function(NEW))


@first_quick(5)
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", lambda A, B: A @ B.T])
def test_a_saved_model_predicts_the_training_rows_to_the_last_digit(kernel, form):
    rows = form(np.random.default_rng(0).normal(size=(150, 8)))  # the very array that the model holds
    model = PathSVR(kernel=kernel, gamma="scale", C=10.0, loss="least_squares").fit(rows, rows @ np.arange(8.0) ** 2)
    copies = [copy.deepcopy(model)] if callable(kernel) else [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for other in copies:
        np.testing.assert_array_equal(other.predict(rows), model.predict(rows))


def test_edges_are_those_of_the_value_chosen():
    inside = PathSVR(search="grid", C=Range(1e-3, 1e3), scoring="squared", gamma=0.5).fit(X, T + 0.5 * np.sign(X[:, 1]))
    assert 2e-3 < inside.C_ < 5e2
    assert inside.choice_.at_edge == ()
    outside = PathSVR(gamma=[1e-4, 2e-4, 4e-4], C=[0.1, 1.0, 10.0]).fit(X, T)
    assert outside.gamma_ == 4e-4
    assert outside.choice_.at_edge == ("C", "gamma")
    between = PathSVR(gamma=[1e-4, 1.0, 1e4], C=[1e-4, 10.0, 1e9]).fit(X, T + 0.3 * np.cos(50 * X[:, 1]))
    assert between.gamma_ == 1.0
    assert between.choice_.at_edge == ()


def test_a_kernel_object_keeps_its_gamma_when_asked_to():
    assert PathSVC(kernel=RBF(3.0), gamma=None).fit(X, Y).gamma_ == 3.0
    assert PathSVC(kernel=RBF(3.0)).fit(X, Y).gamma_ != 3.0
    with pytest.raises(ValueError, match="ambiguous"):
        PathSVC(kernel=RBF(1.0) + RBF(2.0)).fit(X, Y)
    both = PathSVC(kernel=RBF(1.0) + RBF(2.0), gamma=None).fit(X, Y)
    assert both.gamma_ is None


def test_several_classes_rescore():
    model = PathSVC(C=[0.1, 1.0], gamma=1.0).fit(X, np.arange(120) % 3)
    assert_same(model.curve_.rescored(model.curve_.loss).scores, model.curve_.scores)
    assert model.choice_.tried == {}


def test_squared_hinge_is_the_default_chooses_by_the_span_prediction_and_reports_exact_leave_one_out():
    model = PathSVC().fit(X, Y)
    assert model.loss_ == "squared_hinge"
    assert model.curve_.criterion == "span"
    assert model.error_criterion_ == "loo"
    path = svmpath.trace(X, Y, loss="squared_hinge", gamma=model.gamma_)
    assert model.choice_.score == pytest.approx(criteria.span(path, [model.C_]).scores[0])
    assert model.loo_error() == pytest.approx(criteria.loo(path, [model.C_]).scores[0])
    assert model.score(NEW, NEW_Y) > 0.9
    assert len(model.support_) < 120
    np.testing.assert_allclose(model.decision_function(NEW), path(model.C_)(NEW), atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", slow_except(["loo", "kfold"], ["loo"]))
def test_squared_hinge_with_other_criteria(criterion):
    model = PathSVC(loss="squared_hinge", criterion=criterion, gamma=[0.3, 1.0, 3.0], C=[0.1, 1.0, 10.0]).fit(X, Y)
    assert model.score(NEW, NEW_Y) > 0.9
    assert model.held_out_error() == pytest.approx(model.choice_.score)
    options = {"gamma": Range(0.1, 10.0), "C": Range(0.1, 100.0), "search": "grid", "scoring": "squared"}
    continuous = PathSVC(loss="squared_hinge", **options).fit(X, Y)
    assert continuous.score(NEW, NEW_Y) > 0.9


def test_squared_hinge_with_several_classes_weights_and_low_rank():
    data, labels = load_iris(return_X_y=True)
    model = PathSVC(loss="squared_hinge", gamma=[0.1, 0.5], C=[0.1, 1.0, 10.0]).fit(data, labels)
    assert model.score(data, labels) > 0.95
    assert model.dual_coef_.shape[0] == 3
    s = np.where(Y == 0, 20.0, 1.0)
    heavy = PathSVC(loss="squared_hinge", C=1.0, gamma=1.0).fit(X, Y, sample_weight=s)
    plain = PathSVC(loss="squared_hinge", C=1.0, gamma=1.0).fit(X, Y)
    assert np.mean(heavy.predict(NEW) == 0) > np.mean(plain.predict(NEW) == 0)
    low = PathSVC(loss="squared_hinge", rank=40, random_state=0, n_jobs=2).fit(X, Y)
    assert low.score(NEW, NEW_Y) > 0.9


def test_beyond_the_samples_for_which_it_is_exact_the_error_is_called_a_prediction(monkeypatch):
    monkeypatch.setattr(SquaredHinge, "policy", replace(SquaredHinge.policy, exact_rows=100))
    model = PathSVC(gamma=1.0).fit(X, Y)
    assert model.error_criterion_ == "span"
    assert model.held_out_error() == pytest.approx(model.curve_.scores[model.choice_.index])


@pytest.mark.filterwarnings("ignore:The machine chosen by criterion='radius_margin'")
def test_a_choice_by_the_bound_reports_exact_leave_one_out():
    model = PathSVC(criterion="radius_margin", gamma=1.0).fit(X, Y)
    assert model.curve_.criterion == "radius_margin"
    assert model.error_criterion_ == "loo"
    path = svmpath.trace(X, Y, loss="squared_hinge", gamma=1.0)
    assert model.loo_error() == pytest.approx(criteria.loo(path, [model.C_]).scores[0])


def test_several_classes_of_the_squared_hinge_are_those_of_single_paths():
    data, labels = load_iris(return_X_y=True)
    model = PathSVC(gamma=0.1).fit(data, labels)
    values = model.curve_.values
    for c in range(3):
        path = svmpath.trace(data, (labels == c) * 2.0 - 1, loss="squared_hinge", gamma=0.1, rank=150)
        np.testing.assert_allclose(model.curve_.held[:, :, c], criteria.span(path, values).held, atol=1e-6)


def test_a_held_out_loss_for_labels_is_refused_for_regression_by_its_name():
    with pytest.raises(ValueError, match=r"scoring='error' needs labels.*use scoring='squared'"):
        PathSVR(scoring="error").fit(X, T)


def test_folds_by_default_are_explained(capsys):
    PathSVC(loss="huber_hinge", C=1.0, gamma=1.0, verbose=1).fit(X, Y)
    out = capsys.readouterr().out
    assert "using k-fold instead of exact leave-one-out: that takes one path per sample with loss='huber_hinge'" in out
    assert "more than 0" not in out


@pytest.mark.filterwarnings("error")
def test_doubts_of_a_users_criterion_are_not_taken_for_rounding():
    def mine(path, values, loss=None):
        return replace(criteria.alo(path, values, loss=loss), criterion="mine")

    model = PathSVC(loss="hinge", gamma=1.0, criterion=mine).fit(X, Y)
    assert model.curve_.unreliable[model.choice_.index] > 0


def test_attributes_of_another_loss_are_gone_after_a_second_fit():
    model = PathSVR(loss="epsilon_insensitive", gamma=1.0, C=[1.0], epsilon=0.3).fit(X[:40], X[:40, 0])
    assert model.epsilon_ == 0.3
    assert not hasattr(model.set_params(loss=None, epsilon="tune").fit(X[:40], X[:40, 0]), "epsilon_")


def test_merged_rows_decide_whether_paths_are_exact(monkeypatch):
    monkeypatch.setattr("svmpath.paths.trackers._FEW_ROWS", 40)
    twice = np.repeat(X[:30], 2, axis=0)
    monkeypatch.setattr("svmpath.estimators._base.automatic_gap", lambda loss, n: 1e-3)
    model = PathSVC(loss="hinge", gamma=1.0, C=[1.0], rank=3, random_state=0).fit(twice, np.repeat(Y[:30], 2))
    assert model.path_.is_exact
    assert model.tol_ is None
    assert model.criterion_ == "loo"


def test_lists_tuples_and_arrays_are_candidates():
    values = [0.1, 10.0]
    for kind in (list, tuple, np.array):
        model = PathSVC(C=kind(values), gamma=kind([1.0, 2.0]), search="grid").fit(X, Y)
        assert model.curve_.values.tolist() == values


def test_a_range_is_checked_printed_and_cloned():
    given = Range(0.1, 10)
    assert repr(PathSVC(C=given)) == "PathSVC(C=Range(0.1, 10))"
    assert given == clone(PathSVC(C=given)).C
    for low, high, message in (
        (10.0, 0.1, "from a smaller to a larger"),
        (0.0, 1.0, "must be a positive number"),
        (1e-320, 1.0, "normal number"),
    ):
        with pytest.raises(ValueError, match=message):
            Range(low, high)


def test_removed_parameters_name_their_successors():
    for kind in (PathSVC, PathSVR, ElasticNetSVC):
        with pytest.raises(TypeError, match=rf"{kind.__name__} has no parameter warm_start any more: use fit"):
            kind(**{"warm_start": True})
    with pytest.raises(TypeError, match=r"use rank=svmpath\.gram\.Nystroem"):
        PathSVC(**{"landmarks": "kmeans"})
    with pytest.raises(TypeError, match="unexpected keyword argument 'landmark'"):
        PathSVC(**{"landmark": "kmeans"})
    with pytest.raises(ValueError, match=r"got 'continuous'\. A search over a Range with search='grid'"):
        PathSVC(search="continuous").fit(X, Y)


def test_parameters_are_given_by_name():
    with pytest.raises(TypeError, match=r"by name, as in \w+\((C|lambda1)=1.0\)"):
        PathSVC(*["hinge"])
    for kind, example in ((PathSVR, "C=1.0"), (ElasticNetSVC, "lambda1=1.0"), (KernelDictionary, r"gamma=\[0.5\]")):
        with pytest.raises(TypeError, match=rf"as in {kind.__name__}\({example}\); got 2 without a name"):
            kind(*[1.0, 2.0])
    assert len(PathSVC().get_params()) == 22


def test_a_pickle_of_an_earlier_version_is_refused_by_name():
    # As pickle asks for a class of svmpath 0.1 that every path of it holds.
    with pytest.raises(ValueError, match=r"saved by svmpath 0\.1, .* fit it again"):
        pickle.loads(b"csvmpath.losses.motion\nMotion\n.")


def test_a_choice_needs_a_curve():
    with pytest.raises(TypeError, match="needs a curve"):
        svmpath.select(svmpath.trace(X, Y))


@pytest.mark.parametrize("C", [True, np.True_, [True, 2.0], [1.0, np.False_]], ids=str)
def test_truth_values_are_no_hyper_parameters(C):
    with pytest.raises(ValueError, match=r"C must be .*a positive number.* got (np\.)?(True|False)"):
        PathSVC(C=C).fit(X[:40], Y[:40])
    with pytest.raises(ValueError, match=r"gamma must be a positive number, .*got True"):
        PathSVC(gamma=True).fit(X[:40], Y[:40])


@pytest.mark.parametrize("loss", [None, "least_squares", "expectile", EpsilonInsensitive(0.3)], ids=repr)
def test_an_epsilon_without_effect_is_said_by_the_line_that_called_fit(loss):
    with pytest.warns(UserWarning, match=r"epsilon=0.1 has no effect with loss=") as said:
        PathSVR(loss=loss, epsilon=0.1, gamma=1.0, C=1.0).fit(X[:40], X[:40, 0])
    assert [each.filename for each in said] == [__file__]

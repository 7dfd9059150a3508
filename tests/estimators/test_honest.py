"""``nested_error().value``: the error of tuning and fitting, beside loops that anyone would write."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)

from svmpath import ElasticNetSVC, PathSVC, PathSVR
from svmpath.criteria.folds import random_folds
from svmpath.gram import Nystroem
from svmpath.search.results import candidates
from tests.speed import each_once, first_quick

X, Y = make_moons(90, noise=0.35, random_state=0)
S = np.random.default_rng(1).integers(1, 4, size=90).astype(float)
GROUPS = np.repeat(np.arange(15), 6)
GAMMAS = {"gamma": [0.3, 1.0, 3.0], "C": [0.1, 1.0, 10.0]}


def by_hand(model, X, y, folds, weight=None, groups=None):
    """The mean loss on folds of clones that are fitted to the other rows."""
    losses, w = [], []
    for train, test in folds:
        given = {"sample_weight": None if weight is None else weight[train]}
        given["groups"] = None if groups is None else groups[train]
        found = clone(model).fit(X[train], y[train], **given).predict(X[test])
        losses.append((found != y[test]) * 1.0 if hasattr(model, "classes_") else (found - y[test]) ** 2)
        w.append(np.ones(len(test)) if weight is None else weight[test])
    return np.average(np.concatenate(losses), weights=np.concatenate(w))


def assert_same_estimate(one, two):
    """The same up to rounding: they were computed twice."""
    assert (one.method, one.n_fits) == (two.method, two.n_fits)
    assert (one.value, *one.interval) == pytest.approx((two.value, *two.interval))


CASES = {
    "default": (PathSVC(random_state=0), Y),
    "grid": (PathSVC(loss="least_squares", search="grid", random_state=3), np.array(["no", "yes"])[Y]),
    "three": (PathSVC(loss="least_squares", random_state=0, **GAMMAS), np.where(X[:, 0] > 1, 2, Y)),
    "regression": (PathSVR(random_state=0, **GAMMAS), X[:, 0] ** 2 + Y),
    "elastic": (ElasticNetSVC(lambda1=[0.5, 2.0], lambda2=[0.1, 10.0]), Y),
}


@first_quick(1)
@pytest.mark.parametrize("case", CASES)
def test_nested_is_a_loop_of_clones(case):
    model, y = CASES[case]
    model = clone(model).fit(X, y, sample_weight=S)
    folds = random_folds(4, X, y, is_classification=case != "regression", seed=model.random_state or 0)
    found = model.nested_error(n_splits=4)
    assert found.value == pytest.approx(by_hand(model, X, y, folds, S), rel=1e-9)
    assert (found.method, found.n_fits) == ("nested", 4)
    assert found.interval[0] < found.value < found.interval[1]
    assert model.nested_error(n_splits=4) is found  # kept


def test_the_property_is_the_default_and_kept_until_the_next_fit():
    model = PathSVC(random_state=0, **GAMMAS).fit(X, Y)
    assert model.nested_error().value == model.nested_error().value
    assert model.nested_error().interval == model.nested_error("nested").interval
    assert model.nested_error().n_fits == 10
    first = pickle.loads(pickle.dumps(model))
    assert_same_estimate(first.nested_error("bootstrap"), model.nested_error("bootstrap"))
    value = model.nested_error().value
    assert model.fit(X[:60], Y[:60]).nested_error().value != value


@pytest.mark.slow
def test_jobs_change_nothing():
    one, two = (PathSVC(random_state=0, n_jobs=n, **GAMMAS).fit(X, Y) for n in (1, 2))
    assert_same_estimate(one.nested_error(), two.nested_error())
    assert_same_estimate(one.nested_error("bootstrap"), two.nested_error("bootstrap"))


@pytest.mark.slow
def test_groups_stay_together():
    model = PathSVC(loss="least_squares", random_state=0, cv=3, **GAMMAS).fit(X, Y, groups=GROUPS)
    folds = list(StratifiedGroupKFold(5, shuffle=True, random_state=0).split(X, Y, GROUPS))
    assert model.nested_error(n_splits=5).value == pytest.approx(by_hand(model, X, Y, folds, groups=GROUPS))
    svr = PathSVR(random_state=0, cv=3, **GAMMAS).fit(X, X[:, 1], groups=GROUPS)
    folds = list(GroupKFold(5, shuffle=True, random_state=0).split(X, Y, GROUPS))
    assert svr.nested_error(n_splits=5).value == pytest.approx(by_hand(svr, X, X[:, 1], folds, groups=GROUPS))


def test_few_groups_need_fewer_inner_folds():
    groups = np.arange(90) % 3
    model = PathSVC(loss="least_squares", cv=3, random_state=0, **GAMMAS).fit(X, Y, groups=groups)
    assert model.nested_error().n_fits == 3  # each with two groups left to choose by
    with pytest.raises(ValueError, match="n_splits=4 is more than the 3 groups; use fewer folds"):
        model.nested_error(n_splits=4)


@first_quick(1)
@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), LeaveOneGroupOut()], ids=["time", "groups"])
def test_a_splitter_is_used_for_the_outer_folds_as_well(cv):
    groups = GROUPS if isinstance(cv, LeaveOneGroupOut) else None
    model = PathSVC(loss="least_squares", criterion="kfold", cv=cv, random_state=0, **GAMMAS).fit(X, Y, groups=groups)
    folds = list(cv.split(X, Y, groups))
    assert model.nested_error().value == pytest.approx(by_hand(model, X, Y, folds, groups=groups))
    assert model.nested_error().n_fits == len(folds)


@pytest.mark.parametrize("cv", [PredefinedSplit(np.arange(90) % 3), list(KFold(3).split(X))], ids=["object", "list"])
def test_fixed_splits_cannot_be_nested(cv):
    model = PathSVC(loss="least_squares", criterion="kfold", cv=cv, random_state=0, **GAMMAS).fit(X, Y)
    with pytest.raises(ValueError, match="give a splitter or a number as cv, or use nested_error\\('bootstrap'\\)"):
        model.nested_error().value  # noqa: B018
    assert model.nested_error("bootstrap").value > 0


def test_low_rank():
    model = PathSVC(loss="least_squares", rank=85, random_state=0, **GAMMAS).fit(X, Y)
    folds = random_folds(3, X, Y, is_classification=True)  # of 60 rows, fewer than the rank
    assert model.nested_error(n_splits=3).value == pytest.approx(by_hand(model, X, Y, folds))
    assert model.nested_error("bootstrap").value > 0
    model.set_params(rank=Nystroem(landmarks=np.arange(0, 90, 5))).fit(X, Y)
    with pytest.raises(ValueError, match="landmarks cannot be row numbers: name a way to choose them"):
        model.nested_error().value  # noqa: B018


def test_scaling_is_part_of_what_is_repeated():
    data = X * [1.0, 1000.0] + [5.0, -3.0]
    model = PathSVC(loss="least_squares", scale=True, random_state=0).fit(data, Y, sample_weight=S)
    folds = random_folds(3, model.path_.gram.X, Y, is_classification=True)
    assert model.nested_error(n_splits=3).value == pytest.approx(by_hand(model, data, Y, folds, S))


def test_precomputed_kernels_and_sparse_rows():
    plain = PathSVC(loss="least_squares", gamma=1.0, C=[0.1, 1.0, 10.0], random_state=0).fit(X, Y)
    expected = plain.nested_error(n_splits=3).value
    K = rbf_kernel(X, gamma=1.0)
    model = PathSVC(loss="least_squares", kernel="precomputed", C=[0.1, 1.0, 10.0], random_state=0)
    # Rows of a kernel matrix are dealt to other folds than the rows that it is of.
    folds = random_folds(3, K, Y, is_classification=True, pairwise=True)
    in_rows = by_hand(plain, X, Y, folds)
    assert model.fit(K, Y).nested_error(n_splits=3).value == pytest.approx(in_rows)
    thin = clone(plain).fit(sparse.csr_matrix(X), Y)
    assert thin.nested_error(n_splits=3).value == pytest.approx(expected)
    assert clone(plain).fit(X.astype(np.float32), Y).nested_error(n_splits=3).value == pytest.approx(expected, abs=0.03)


# --- corrections without a fit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [PathSVC, PathSVR, ElasticNetSVC])
def test_corrections_use_the_losses_of_all_candidates(make):
    options = {"lambda2": [0.1, 1.0]} if make is ElasticNetSVC else {"random_state": 0}
    model = make(**options).fit(X, Y)
    found = candidates(model.choice_)
    assert sum(len(scores.values) for scores in found) > 3
    for scores in found:
        assert scores.losses.dtype == (bool if make is ElasticNetSVC else np.float32)
        assert make is not PathSVC or scores.errors.dtype == bool  # what decides is more than the errors
        np.testing.assert_allclose(scores.losses.mean(axis=1), scores.decisive, rtol=1e-5)
        reported = scores.losses if scores.errors is None else scores.errors
        np.testing.assert_allclose(reported.mean(axis=1), scores.scores, rtol=1e-5)
    for method in ("bootstrap", "parts"):
        error = model.nested_error(method)
        assert error.value > model.held_out_error()
        assert error.n_fits == 0


def test_a_smooth_loss_decides_and_the_error_is_reported():
    model = PathSVC(loss="least_squares", scoring="logistic", search="grid", random_state=0).fit(X, Y)
    scores = candidates(model.choice_)[0]
    assert (scores.losses.dtype, scores.errors.dtype) == (np.float32, bool)
    assert 0.0 < model.nested_error("bootstrap").value < 0.5


def test_losses_of_stand_ins_and_very_large_tables_are_not_kept(monkeypatch):
    monkeypatch.setattr("svmpath.search.limits.UNNARROWED_ROWS", 50)
    model = PathSVC(random_state=0).fit(X, Y)
    stages = {stage.name: stage for stage in model.choice_.stages}
    assert all(scores.losses is None for scores in stages["narrow"].tried.values())
    assert all(scores.losses is not None for scores in stages["confirm"].tried.values())
    monkeypatch.setattr("svmpath.search.limits.KEPT_LOSSES", 100)
    with pytest.raises(ValueError, match="more than 16 MB of losses there are none: use nested_error\\('nested'\\)"):
        PathSVC(random_state=0).fit(X, Y).nested_error("bootstrap")


@pytest.mark.parametrize("options", [{"rule": "one_se"}, {"search": "gradient"}, {"criterion": "radius_margin"}])
@pytest.mark.filterwarnings("ignore:The machine chosen by criterion='radius_margin'")
def test_where_there_is_no_correction_it_says_so(options):
    model = PathSVC(loss="squared_hinge", random_state=0, **options).fit(X, Y)
    with pytest.raises(ValueError, match="use nested_error\\('nested'\\)"):
        model.nested_error("bootstrap")


def test_a_pair_that_was_given_is_not_corrected():
    model = PathSVC(gamma=1.0, C=1.0).fit(X, Y)
    for method in ("bootstrap", "parts"):
        assert model.nested_error(method).value == pytest.approx(model.held_out_error())
    assert model.nested_error("bootstrap").interval == pytest.approx(model.held_out_interval())


@pytest.mark.slow
def test_optimism_on_labels_that_nothing_predicts():
    held, honest, corrected = [], [], []
    pairs = {"gamma": np.geomspace(0.01, 10, 6).tolist(), "C": np.geomspace(0.01, 1e3, 10).tolist()}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data, labels = rng.normal(size=(60, 3)), rng.permutation(np.repeat([0, 1], 30))
        model = PathSVC(loss="least_squares", criterion="kfold", search="grid", **pairs).fit(data, labels)
        held.append(model.held_out_error())
        honest.append(model.nested_error(n_splits=4).value)
        corrected.append(model.nested_error("bootstrap").value)
    assert np.mean(held) < 0.42  # the best of 60 pairs
    assert np.mean(honest) == pytest.approx(0.5, abs=0.05)
    assert np.mean(corrected) > np.mean(held) + 0.04


# --- weights ---------------------------------------------------------------------------------------------------------


@each_once
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("make", [PathSVC, PathSVR, ElasticNetSVC])
def test_a_weight_is_so_many_copies_where_copies_stay_together_and_C_is_given(make, class_weight):
    if make is ElasticNetSVC:
        model = make(lambda1=[0.1, 1.0], lambda2=10.0, cv=LeaveOneGroupOut(), criterion="kfold")
    else:
        model = make(loss="least_squares", gamma=[0.5, 2.0], C=0.1, cv=LeaveOneGroupOut(), search="grid")
    if make is not PathSVR:
        model.set_params(class_weight=class_weight)
    weight = np.random.default_rng(4).integers(0, 4, size=60).astype(float)
    y = (X[:60, 0] + Y[:60] > 1.2) * 1  # unbalanced
    groups, copies = np.arange(60) % 5, np.repeat(np.arange(60), weight.astype(int))
    weighted = clone(model).fit(X[:60], y, sample_weight=weight, groups=groups)
    repeated = clone(model).fit(X[copies], y[copies], groups=groups[copies])
    assert weighted.choice_.value == repeated.choice_.value
    assert weighted.held_out_error() == pytest.approx(repeated.held_out_error(), abs=1e-9)
    for method in ("nested", "bootstrap", "parts"):
        assert weighted.nested_error(method).value == pytest.approx(repeated.nested_error(method).value, abs=1e-9)


def test_zero_weights_are_absent_rows():
    weight = S * (np.arange(90) % 4 > 0)
    kept = weight > 0
    model = PathSVC(loss="least_squares", random_state=0, class_weight="balanced", search="grid", **GAMMAS)
    model.fit(X, Y, sample_weight=weight)
    other = clone(model).fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert model.held_out_error() == pytest.approx(other.held_out_error())
    assert model.held_out_interval() == pytest.approx(other.held_out_interval())
    for method in ("nested", "bootstrap", "parts"):
        assert model.nested_error(method).value == pytest.approx(other.nested_error(method).value)
        assert model.nested_error(method).interval == pytest.approx(other.nested_error(method).interval)


def test_balanced_weights_count_the_sample_weights():
    model = PathSVC(gamma=1.0, C=1.0, class_weight="balanced").fit(X, Y, sample_weight=S)
    s = model.path_.problem.s
    assert s[Y == 0].sum() == pytest.approx(s[Y == 1].sum())
    assert s.sum() == pytest.approx(S.sum())


# --- hard cases ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tiny_classes():
    y = np.zeros(40, dtype=int)
    y[:2] = 1
    model = PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(X[:40], y)
    assert 0.0 < model.nested_error().value < 0.2  # two folds with a row of the class; no warning
    y[1] = 0  # left out, the other class is all that is known
    assert PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(X[:40], y).nested_error().value >= 1 / 40
    data, labels = load_iris(return_X_y=True)
    labels[labels == 2] = np.where(np.arange(50) < 1, 2, 1)  # a class of one row
    assert (
        PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(data, labels).nested_error(n_splits=3).value < 0.1
    )


def test_equal_rows_and_equal_decisions():
    data, labels = np.zeros((20, 2)), np.arange(20) % 2
    model = PathSVC(loss="least_squares", gamma=1.0, C=[0.1, 1.0], random_state=0).fit(data, labels)
    for method in ("nested", "bootstrap", "parts"):
        assert 0.0 <= model.nested_error(method).value <= 1.0


def test_two_rows_of_each_class():
    model = PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(X[:4], [0, 0, 1, 1])
    assert model.nested_error().n_fits == 2
    assert 0.0 <= model.nested_error("bootstrap").value <= 1.0


def test_warnings_of_fits_are_not_repeated():
    data = X * [1.0, 1000.0]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(data, Y)
        before = len(said)
        model.nested_error().value  # noqa: B018
    assert before == len(said) > 0


def test_an_interrupted_estimate_leaves_nothing_behind(monkeypatch):
    model, fit, fits = PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(X, Y), PathSVC.fit, []

    def interrupted(self, *arguments, **options):
        fits.append(self)
        if len(fits) == 3:
            raise KeyboardInterrupt
        return fit(self, *arguments, **options)

    monkeypatch.setattr(PathSVC, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.nested_error(n_splits=4)
    assert len(fits) == 3
    assert model.nested_error(n_splits=4).n_fits == 4  # from the beginning
    assert len(fits) == 7


def test_bad_arguments_get_a_sentence():
    model = PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(X, Y)
    with pytest.raises(ValueError, match="method must be"):
        model.nested_error("boot")
    with pytest.raises(ValueError, match="n_splits must be"):
        model.nested_error(n_splits=1)
    with pytest.raises(ValueError, match="n_splits=60 is more than the 45 rows of the largest class"):
        model.nested_error(n_splits=60)
    with pytest.raises(ValueError, match="n_splits=91 is more than the 90 rows"):
        PathSVR(random_state=0, **GAMMAS).fit(X, X[:, 0]).nested_error(n_splits=91)


def test_parameters_set_after_the_fit_do_not_count():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 2))
    b = (A[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = PathSVC(loss="least_squares", random_state=0).fit(A, b)
    other = PathSVC(loss="least_squares", random_state=0).fit(A, b)
    model.set_params(C=1e-6, cv=2, random_state=5, threshold=100.0)
    assert_same_estimate(model.nested_error(n_splits=3), other.nested_error(n_splits=3))
    assert_same_estimate(model.nested_error("bootstrap"), other.nested_error("bootstrap"))


def test_a_correction_names_the_scoring_that_it_cannot_use():
    plain = PathSVC(loss="least_squares", search="grid", **GAMMAS).fit(X, Y)
    means = PathSVC(loss="least_squares", search="grid", scoring="accuracy", **GAMMAS).fit(X, Y)
    assert_same_estimate(means.nested_error("bootstrap"), plain.nested_error("bootstrap"))
    other = PathSVC(loss="least_squares", search="grid", scoring="f1", **GAMMAS).fit(X, Y)
    for method in ("bootstrap", "parts"):
        with pytest.raises(ValueError, match=r"these were by scoring='f1': use nested_error\('nested'\)"):
            other.nested_error(method)


def test_too_little_to_choose_on_gets_a_sentence():
    model = PathSVC(loss="least_squares", cv=2, **GAMMAS).fit(X, Y, groups=GROUPS > 7)
    with pytest.raises(ValueError, match="leaves fewer than two groups to choose on, as there are 2 in 2 folds"):
        model.nested_error()
    assert model.nested_error("bootstrap").value >= model.held_out_error()
    with pytest.raises(ValueError, match="needs two or more rows of the largest class, but there is 1"):
        PathSVC(loss="least_squares", **GAMMAS).fit(X[:3], ["a", "b", "c"]).nested_error()
    with pytest.raises(ValueError, match="leaves fewer than two rows to choose on, as there are 2 in 2 folds"):
        PathSVR(**GAMMAS).fit(X[:2], [0.0, 1.0]).nested_error()


@pytest.mark.parametrize(("method", "found"), [("bootstrap", "bootstrap_error"), ("parts", "parts_optimism")])
def test_a_correction_never_lowers_the_error_and_says_that_it_found_nothing(method, found, monkeypatch):
    model = PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(X, Y)
    monkeypatch.setattr(f"svmpath.estimators.honest.{found}", lambda *_, **__: -0.01)
    estimate = model.nested_error(method)
    assert estimate.value == model.held_out_error()
    assert estimate.interval == model.held_out_interval()
    assert not estimate.has_optimism
    assert "no optimism found: it is the held-out error" in repr(estimate)


def test_a_correction_that_finds_something_says_nothing_of_that():
    model = PathSVC(loss="least_squares", random_state=0, **GAMMAS).fit(X, Y)
    estimate = model.nested_error("bootstrap")
    assert estimate.has_optimism == (estimate.value > model.held_out_error())
    assert ("no optimism" in repr(estimate)) != estimate.has_optimism
    assert repr(estimate).startswith(f"<HonestError: {estimate.value:.6g}, 95 % interval ")


def test_where_nothing_was_chosen_there_is_no_optimism():
    estimate = PathSVC(loss="least_squares", C=1.0, gamma=1.0).fit(X, Y).nested_error("bootstrap")
    assert not estimate.has_optimism

"""PathSVC and PathSVR with the default search: every way to give C, gamma and a kernel, limits, and what is kept."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import svmpath
from svmpath import PathSVC, PathSVR, Range, criteria
from svmpath.exceptions import EdgeWarning, IndefiniteKernelWarning, LimitWarning, WeakModelWarning
from svmpath.gram import Clipped
from tests import certificates, reference
from tests.rounding import assert_same
from tests.speed import each_once, first_quick, slow_except

N = 70
X, LABELS = make_moons(N, noise=0.3, random_state=0)
rng = np.random.default_rng(0)
AMOUNTS = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=N)
CLASSES = np.digitize(X[:, 0], [0.0, 1.0])
TARGETS = {"labels": LABELS, "classes": CLASSES, "amounts": AMOUNTS}


def make(what, **options):
    return (PathSVR if what == "amounts" else PathSVC)(random_state=0, **options)


def check(model, X, y, s=None):
    """The machine is optimal, predicts as it should, and its score is that of a path of its own."""
    solution = model.path_(model.C_)
    certificates.check(solution, repr(model))
    if getattr(model, "multi_class_", "ovr") == "ovo":  # whose machines are those of pairs, see test_pairs
        return
    f = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    first = f if f.ndim == 1 else f[:, 0]
    np.testing.assert_allclose(first, solution.fitted, atol=1e-6 * (1 + np.abs(first).max()))
    if len(np.unique(y)) == 2 or model._task == "regression":
        assert model.choice_.score == pytest.approx(direct_score(model, X, y, s), rel=1e-5, abs=1e-9)


def direct_score(model, X, y, s):
    """The criterion of a path that is traced for this pair alone; a tuned C is that of a row of mean weight."""
    s = None if s is None else s / s[s > 0].mean()
    own = {"epsilon": model.epsilon_} if model.loss_ == "epsilon_insensitive" else {}
    path = svmpath.trace(
        X, y, loss=model.loss_, kernel=model.kernel_, gamma=None, sample_weight=s, task=model._task,
        span=(0.99 * model.C_, 1.01 * model.C_), **own,
    )  # fmt: skip
    return getattr(criteria, model.criterion_)(path, np.array([model.C_]), loss=model._held_out_loss).scores[0]


# --- how C and gamma are given ---------------------------------------------------------------------------------------

C_GIVEN = {"tune": "tune", "list": [0.1, 1.0, 10.0], "span": (0.05, 50.0), "fixed": 2.0, "one": [3.0]}
GAMMA_GIVEN = {"tune": "tune", "list": [0.3, 1.0, 3.0], "span": (0.1, 10.0), "fixed": 1.5, "scale": "scale"}


@each_once
@pytest.mark.filterwarnings("ignore::svmpath.exceptions.EdgeWarning")
@pytest.mark.parametrize("what", TARGETS)
@pytest.mark.parametrize("gamma", GAMMA_GIVEN)
@pytest.mark.parametrize("C", C_GIVEN)
def test_every_way_to_give_C_and_gamma(C, gamma, what):
    model = make(what, C=C_GIVEN[C], gamma=GAMMA_GIVEN[gamma]).fit(X, TARGETS[what])
    check(model, X, TARGETS[what])
    assert_inside(model.C_, C_GIVEN[C])
    if gamma != "scale":
        assert_inside(model.gamma_, GAMMA_GIVEN[gamma])
    else:
        assert model.gamma_ == pytest.approx(1.0 / (2 * X.var()))


def assert_inside(value, given):
    if isinstance(given, list):
        assert np.isclose(value, given).any()
    elif isinstance(given, tuple):
        assert given[0] * (1 - 1e-9) <= value <= given[1] * (1 + 1e-9)
    elif given != "tune":
        assert value == given


# --- kernels ---------------------------------------------------------------------------------------------------------

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "laplacian": {"kernel": "laplacian"},
    "callable": {"kernel": lambda A, B: (1.0 + A @ B.T) ** 2},
    "of Gaussian processes": {"kernel": ConstantKernel(2.0) * RBF(0.7)},
}


@each_once
@pytest.mark.parametrize("rule", ["min", "one_se"])
@pytest.mark.parametrize("what", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, what, rule):
    model = make(what, rule=rule, **KERNELS[name]).fit(X, TARGETS[what])
    check(model, X, TARGETS[what])
    assert (model.gamma_ is None) == (name not in ("poly", "laplacian"))


@pytest.mark.parametrize("what", TARGETS)
def test_a_precomputed_kernel_is_like_the_kernel_itself(what):
    K = reference.rbf(X, X, 1.0)
    given, own = make(what, kernel="precomputed").fit(K, TARGETS[what]), make(what, gamma=1.0).fit(X, TARGETS[what])
    assert given.C_ == own.C_
    np.testing.assert_allclose(given.predict(K[:9]), own.predict(X[:9]), atol=1e-7)


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "hinge"])
def test_an_indefinite_kernel(loss):
    options = {"kernel": "sigmoid", "coef0": -1.0, "gamma": Range(0.05, 1.0), "rank": Clipped(), "random_state": 0}
    model = PathSVC(loss=loss, **options).fit(X, LABELS)
    solution = model.path_(model.C_)
    assert solution.violation < 1e-6
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, LABELS) > 0.6


def test_an_indefinite_kernel_that_is_not_clipped_is_refused_or_warned_of():
    options = {"kernel": "sigmoid", "coef0": -1.0, "gamma": Range(0.05, 1.0), "random_state": 0}
    with pytest.warns(IndefiniteKernelWarning), pytest.raises(ValueError, match=r"gram\.Clipped"):
        PathSVC(**options).fit(X, LABELS)
    with pytest.warns(IndefiniteKernelWarning):
        model = PathSVC(loss="least_squares", **options).fit(X, LABELS)
    assert np.isfinite(model.decision_function(X)).all()


def test_sparse_rows_are_like_dense_ones():
    few = np.where(rng.random((N, 6)) < 0.6, 0.0, rng.normal(size=(N, 6)))
    y = np.sign(few[:, 0] - few[:, 1] + 0.1)
    dense, thin = (PathSVC(random_state=0).fit(rows, y) for rows in (few, sparse.csr_matrix(few)))
    assert (thin.C_, thin.gamma_) == pytest.approx((dense.C_, dense.gamma_))
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(few)), dense.decision_function(few), atol=1e-6)


# --- criteria, losses, weights ---------------------------------------------------------------------------------------

CRITERIA = {
    "squared_hinge": ("auto", "loo", "span", "alo", "kfold"),
    "least_squares": ("auto", "loo", "press", "kfold"),
    "hinge": ("auto", "alo", "kfold", "xi_alpha", "span_bound"),
    "huber_hinge": ("auto", "kfold"),
}
PAIRS = [(loss, criterion) for loss, names in CRITERIA.items() for criterion in names]


@pytest.mark.filterwarnings("ignore:The machine chosen by criterion='radius_margin'")
@pytest.mark.parametrize(("loss", "criterion"), [*PAIRS, ("squared_hinge", "radius_margin")])
def test_criteria(loss, criterion):
    # kfold of a direct path draws the same folds, as labels decide about them
    few = {"C": [0.1, 1.0, 10.0], "gamma": [0.5, 2.0]} if loss in ("hinge", "huber_hinge") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EdgeWarning)
        model = PathSVC(loss=loss, criterion=criterion, random_state=0, **few).fit(X, LABELS)
    check(model, X, LABELS)
    assert model.criterion_ == criterion or criterion == "auto"
    assert 0.0 <= model.loo_error() <= 0.5


@each_once
@pytest.mark.parametrize("name", ["error", "squared", "squared_hinge", "logistic", "sigmoid"])
@pytest.mark.parametrize("what", ["labels", "classes"])
def test_losses_of_held_out_values(name, what):
    model = make(what, scoring=name).fit(X, TARGETS[what])
    check(model, X, TARGETS[what])
    assert model.curve_.scores[model.choice_.index] == pytest.approx(min(model.curve_.scores))


def test_a_criterion_of_ones_own():
    def squares(path, values, loss=None):
        return criteria.span(path, values, loss="squared")

    model = PathSVC(criterion=squares, random_state=0).fit(X, LABELS)
    named = PathSVC(criterion="span", scoring="squared", random_state=0).fit(X, LABELS)
    assert (model.C_, model.gamma_) == (named.C_, named.gamma_)


@pytest.mark.parametrize("what", TARGETS)
def test_weights_and_rows_without_weight(what):
    y = TARGETS[what]
    s = np.where(np.arange(N) % 6 == 0, 0.0, rng.uniform(0.5, 2.0, size=N))
    model = make(what).fit(X, y, sample_weight=s)
    check(model, X, y, s)
    assert not np.isin(np.flatnonzero(s == 0), model.support_).any()
    moved = np.where(s[:, None] == 0, 100.0 + X, X)  # rows that do not count may be anything
    again = make(what, gamma=model.gamma_, C=model.C_).fit(moved, y, sample_weight=s / s[s > 0].mean())
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-6)


def test_class_weight_is_a_weight():
    s = np.where(LABELS == 1, 3.0, 1.0)
    gamma = (0.01, 10.0)  # a range around "scale" would be another one, as it does not look at class weights
    by_class = PathSVC(gamma=gamma, class_weight={0: 1.0, 1: 3.0}, random_state=0).fit(X, LABELS)
    by_sample = PathSVC(gamma=gamma, random_state=0).fit(X, LABELS, sample_weight=s)
    assert (by_class.C_, by_class.gamma_) == (by_sample.C_, by_sample.gamma_)
    np.testing.assert_allclose(by_class.decision_function(X), by_sample.decision_function(X), atol=1e-9)
    check(by_sample, X, LABELS, s)


def test_copies():
    twice, y = np.repeat(X, 2, axis=0), np.repeat(LABELS, 2)
    model = PathSVC(random_state=0).fit(twice, y)
    check(model, twice, y)


@first_quick(1)
@pytest.mark.parametrize("what", TARGETS)
def test_the_seed_and_not_the_threads_decide(what):
    found = [make(what, n_jobs=n_jobs).fit(X, TARGETS[what]) for n_jobs in (1, 2, None)]
    for model in found[1:]:
        assert (model.C_, model.gamma_) == (found[0].C_, found[0].gamma_)
        assert model.choice_.score == pytest.approx(found[0].choice_.score)
        assert_same(model.predict(X), found[0].predict(X))
        pd.testing.assert_frame_equal(model.search_table_, found[0].search_table_)


# --- limits ----------------------------------------------------------------------------------------------------------


@first_quick(2)
@pytest.mark.parametrize("loss", [None, "hinge"])
@pytest.mark.parametrize("what", TARGETS)
def test_a_tiny_time_limit_leaves_a_model_that_works(what, loss):
    loss = "epsilon_insensitive" if loss and what == "amounts" else loss
    with pytest.warns(LimitWarning, match="time_limit=1e-09 seconds"):
        model = make(what, loss=loss, time_limit=1e-9).fit(X, TARGETS[what])
    check(model, X, TARGETS[what])
    assert model.score(X, TARGETS[what]) > 0.6


def test_a_time_limit_that_cuts_nothing_short_gives_no_warning():
    """One pair is fitted in any case, and a grid is not limited; warnings are errors here."""
    PathSVC(C=1.0, gamma=1.0, time_limit=1e-9).fit(X, LABELS)
    PathSVC(loss="least_squares", search="grid", time_limit=1e-9).fit(X, LABELS)


def test_enough_time_changes_nothing():
    free, limited = (PathSVC(time_limit=limit, random_state=0).fit(X, LABELS) for limit in (None, 1000.0))
    assert (free.C_, free.gamma_) == (limited.C_, limited.gamma_)
    with pytest.raises(ValueError, match="time_limit"):
        PathSVC(time_limit=-1.0).fit(X, LABELS)


def test_a_search_may_start_from_another_model():
    model = PathSVC(random_state=0).fit(X[:50], LABELS[:50])
    before, cold = (model.C_, model.gamma_), PathSVC(random_state=0).fit(X, LABELS)
    model.fit(X, LABELS, start_from=model)
    check(model, X, LABELS)
    screen = model.search_table_.query("stage == 'screen'")
    assert np.isclose(screen.gamma, before[1]).any()
    assert len(screen) < len(cold.search_table_.query("stage == 'screen'"))
    assert model.loo_error() <= cold.loo_error() + 0.05
    with pytest.raises(ValueError, match="start_from must be a fitted PathSVC or PathSVR, got str"):
        PathSVC().fit(X, LABELS, start_from="last")
    PathSVC(scale=np.False_, C=1.0, gamma=1.0).fit(X, LABELS)
    with pytest.raises(ValueError, match="scale must be True or False, got 'yes'"):
        PathSVC(scale="yes").fit(X, LABELS)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_start_of_C_alone(kernel):
    given = {} if kernel == "linear" else {"gamma": 1.0}
    model = PathSVC(kernel=kernel, random_state=0, **given).fit(X[:50], LABELS[:50])
    before, cold = model.C_, len(model.search_table_.query("stage == 'screen'"))
    screen = model.fit(X, LABELS, start_from=model).search_table_.query("stage == 'screen'")
    assert len(screen) < cold == 28
    assert screen.C.between(before / 31, before * 31).all()


# --- a fit that fails ------------------------------------------------------------------------------------------------

WRONG = {
    "search": {"search": "none"},
    "criterion": {"criterion": "none"},
    "C": {"C": -1.0},
    "rank": {"rank": "much"},
    "threshold": {"threshold": "none"},
    "scoring": {"scoring": "none"},
}


@first_quick(3)
@pytest.mark.parametrize("name", WRONG)
def test_a_fit_that_fails_leaves_the_model_of_the_last_one(name):
    model = PathSVC(random_state=0).fit(X, LABELS)
    f, table, error = model.decision_function(X), model.search_table_, model.held_out_error()
    usual = {key: model.get_params()[key] for key in WRONG[name]}
    with pytest.raises((ValueError, MemoryError)):
        model.set_params(scale=True, **WRONG[name]).fit(np.column_stack([X, 30.0 + X]), CLASSES)
    model.set_params(scale=False, **usual)
    assert_same(model.decision_function(X), f)
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert (model.n_features_in_, model.scaler_, model.held_out_error()) == (2, None, error)
    pd.testing.assert_frame_equal(model.search_table_, table)


def test_memory_limit():
    with pytest.raises(MemoryError, match=r"would need 0\.037 MiB .* may take 0\.0095 MiB"):
        fitted_within("10kB", PathSVC(rank=None, gamma=1.0, C=1.0), X, LABELS)
    fitted_within("10MB", PathSVC(rank=None, gamma=1.0, C=1.0), X, LABELS)
    with pytest.raises(ValueError, match="memory_limit must be"):
        fitted_within("much", PathSVC(), X, LABELS)
    svmpath.set_config(memory_limit="10kB")
    try:
        with pytest.raises(MemoryError, match=r"may take 0\.0095 MiB"):
            PathSVC(rank=None, gamma=1.0, C=1.0).fit(X, LABELS)
        fitted_within("10MB", PathSVC(rank=None, gamma=1.0, C=1.0), X, LABELS)
    finally:
        svmpath.set_config()
    PathSVC(rank=None, gamma=1.0, C=1.0).fit(X, LABELS)


def fitted_within(limit, model, *data):
    with svmpath.config_context(memory_limit=limit):
        return model.fit(*data)


@first_quick(1)
@pytest.mark.parametrize("what", TARGETS)
def test_more_than_two_thousand_rows_in_low_rank(what):
    rng = np.random.default_rng(0)
    many = rng.normal(size=(2100, 2))
    f = np.sin(2 * many[:, 0]) + many[:, 1] + 0.5 * rng.normal(size=2100)
    y = {"labels": f > 0, "classes": np.digitize(f, [-1, 1]), "amounts": f}[what]
    model = fitted_within("60MB", make(what, effort="quick"), many, y)
    assert model.rank_ < 2100
    assert 0.0 <= model.residual_ <= 1.0
    assert "rank" in set(model.search_table_.stage)
    assert model.score(many, y) > 0.7
    assert model.path_(model.C_).violation < 1e-4


@pytest.mark.slow
def test_a_time_limit_ends_a_descent_and_is_no_matter_of_a_grid():
    with pytest.warns(LimitWarning, match="time_limit"):
        quick = PathSVC(search="gradient", time_limit=1e-9, random_state=0).fit(X, LABELS)
    points = [len(each.search_table_.query("stage == 'gradient'")) for each in (quick, fitted_by_descent())]
    assert points[0] == 1 < points[1]
    PathSVC(search="grid", C=[1.0, 2.0], gamma=[1.0, 2.0], time_limit=1e-9).fit(X, LABELS)  # no warning


def test_a_descent_may_end_between_the_values_of_a_list():
    model, free = fitted_by_descent(C=[0.3, 10.0]), fitted_by_descent(C=Range(0.3, 10.0))
    assert abs(model.C_ / free.C_ - 1) < 0.05
    assert model.choice_.score == pytest.approx(free.choice_.score, rel=1e-3)


def fitted_by_descent(**options):
    return PathSVC(search="gradient", random_state=0, **options).fit(X, LABELS)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_kernel_that_is_zero(kernel):
    zero = np.zeros((N, 2))
    np.testing.assert_allclose(make("amounts", kernel=kernel).fit(zero, AMOUNTS).predict(zero), AMOUNTS.mean())
    assert make("labels", kernel=kernel).fit(zero, LABELS).decision_function(zero) == pytest.approx(0.0)


def test_one_sample_of_positive_weight_is_too_few():
    with pytest.raises(ValueError, match="at least two samples of positive weight"):
        PathSVR().fit(X, AMOUNTS, sample_weight=np.eye(N)[0])


def test_factors_of_values_tried_are_not_kept():
    rows, y = np.repeat(X[:20], 4, axis=0), np.repeat(AMOUNTS[:20], 4)
    store = PathSVR(random_state=0).fit(rows, y).path_.store
    assert store.of_weights.split is not None
    assert not store.of_weights.factors
    assert not store.split.of_weights.factors


def test_a_value_of_epsilon_is_a_plain_number():
    model = PathSVR(loss="epsilon_insensitive", C=1.0, gamma=1.0).fit(X, AMOUNTS)
    assert type(model.epsilon_) is float


# --- warnings at edges -----------------------------------------------------------------------------------------------


def test_a_range_that_ends_too_early_is_reported():
    with pytest.warns(EdgeWarning, match=r"C = 0.01 is the largest value allowed.*allow larger values of C") as found:
        PathSVR(C=Range(1e-3, 1e-2), gamma=1.0).fit(X, AMOUNTS)
    assert {warning.filename for warning in found} == {__file__}
    with pytest.warns(EdgeWarning, match=r"gamma = 50 is the smallest value allowed.*smaller values of gamma"):
        PathSVR(gamma=Range(50.0, 500.0), random_state=0).fit(X, AMOUNTS)


@first_quick(1)
@pytest.mark.parametrize("seed", range(5))
def test_free_values_give_no_warning_on_ordinary_data(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3))
    f = rows[:, 0] + rows[:, 1] ** 2 + 0.5 * rng.normal(size=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakModelWarning)  # classes of a few rows are hard to find
        PathSVC(random_state=0).fit(rows, f > 1)
        PathSVR(random_state=0).fit(rows, f)
        PathSVC(random_state=0).fit(rows, np.digitize(f, [0, 1, 2]))


# --- the error -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
@pytest.mark.parametrize("given", [{}, {"C": 2.0, "gamma": 1.0}])
def test_the_error_is_that_of_exact_leave_one_out_when_it_is_asked_for(loss, given):
    model = PathSVC(loss=loss, random_state=0, **given).fit(X, LABELS)
    assert model._held_out._curves == {}
    path = svmpath.trace(X, LABELS, loss=loss, gamma=model.gamma_, span=(0.9 * model.C_, 1.1 * model.C_))
    assert model.loo_error() == pytest.approx(criteria.loo(path, np.array([model.C_])).scores[0])
    assert model.error_criterion_ == "loo"
    assert model._held_out._curves


def test_the_error_of_numbers_and_classes():
    model = PathSVR(random_state=0).fit(X, AMOUNTS)
    held = reference.leave_one_out(reference.rbf(X, X, model.gamma_), AMOUNTS, np.ones(N), model.C_)
    assert model.loo_error() == pytest.approx(np.mean((AMOUNTS - held) ** 2))
    model = PathSVC(loss="least_squares", random_state=0).fit(X, CLASSES)
    K = reference.rbf(X, X, model.gamma_)
    held = [reference.leave_one_out(K, np.where(k == CLASSES, 1.0, -1.0), np.ones(N), model.C_) for k in range(3)]
    assert model.loo_error() == pytest.approx(np.mean(np.argmax(held, axis=0) != CLASSES))


# --- what is kept ----------------------------------------------------------------------------------------------------


@first_quick(2)
@pytest.mark.parametrize("what", TARGETS)
@pytest.mark.parametrize("given", [{}, {"C": 1.0, "gamma": 1.0}], ids=["tuned", "given"])
def test_fitted_models_are_saved_whole(what, given, tmp_path):
    import joblib
    import skops.io

    model = make(what, **given).fit(X, TARGETS[what])
    file = tmp_path / "model"
    joblib.dump(model, file)
    trusted = skops.io.get_untrusted_types(data=skops.io.dumps(model))
    copies = [
        pickle.loads(pickle.dumps(model)),
        joblib.load(file),
        skops.io.loads(skops.io.dumps(model), trusted=trusted),
    ]
    for again in copies:
        np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-12)
        assert again.loo_error() == pytest.approx(model.loo_error())
        pd.testing.assert_frame_equal(again.search_table_, model.search_table_)
        assert again.rank_ == N
        assert again.residual_ == 0.0
    fresh = clone(model)
    assert not hasattr(fresh, "C_")
    assert_same(fresh.fit(X, TARGETS[what]).predict(X), model.predict(X))


def test_kinds_of_input():
    plain = PathSVC(random_state=0).fit(X, LABELS)
    words = np.where(LABELS == 1, "yes", "no")
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = PathSVC(random_state=0).fit(frame, pd.Series(words))
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.predict(frame) == np.where(plain.predict(X) == 1, "yes", "no")).all()
    single = PathSVC(random_state=0).fit(X.astype(np.float32), LABELS)
    assert np.mean(single.predict(X.astype(np.float32)) == plain.predict(X)) > 0.95
    assert PathSVC(random_state=0).fit(X.tolist(), LABELS.astype(bool)).classes_.tolist() == [False, True]


def test_stages_are_told(capsys):
    PathSVC(verbose=1, random_state=0).fit(X, LABELS)
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told] == ["[PathSVC] screen", "[PathSVC] confirm"]


@pytest.mark.parametrize("seed", slow_except(range(12), [0, 1]))
def test_the_pair_is_the_best_of_all_that_were_confirmed(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(50, 2))
    y = np.sign(rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=50))
    model = PathSVC(random_state=seed).fit(rows, y)
    curve = model.choice_.curve
    lowest = min(each.lowest[0] for each in model.choice_.tried.values())
    assert curve.decisive[model.choice_.index] == pytest.approx(lowest)
    check(model, rows, y)


# --- the end of what "tune" tries ------------------------------------------------------------------------------------


def test_columns_that_are_too_small_for_any_C_are_reported():
    with pytest.warns(
        EdgeWarning, match=r"C = 1e\+05 is the largest value that 'tune' tries, and the decision"
    ) as found:
        PathSVC(kernel="linear").fit(1e-6 * X, LABELS)
    assert {warning.filename for warning in found} == {__file__}
    with pytest.warns(EdgeWarning, match=r"C = 1e\+06 .* score still falls there: scale the columns \(scale=True\)"):
        PathSVR(kernel="linear").fit(1e-4 * X, X[:, 0])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_an_end_at_which_nothing_is_gained_is_not_reported(kernel):
    """Separable classes, numbers without noise, and nothing but noise; warnings are errors here."""
    far = np.where(LABELS == 1, 5.0, -5.0)
    PathSVC(kernel=kernel, random_state=0).fit(np.column_stack([X[:, 0] + far, X[:, 1]]), LABELS)
    PathSVR(kernel=kernel, random_state=0).fit(X, X[:, 0])
    PathSVR(kernel=kernel, random_state=0).fit(X, np.sin(X[:, 0]))
    PathSVR(kernel=kernel, random_state=0).fit(X, np.random.default_rng(1).normal(size=N))
    PathSVC(kernel=kernel, random_state=0).fit(X, np.random.default_rng(1).integers(0, 2, size=N))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("factor", [1e160, 1e200])
def test_numbers_without_squares_are_refused(kernel, factor):
    for model in (PathSVC(kernel=kernel), PathSVC(kernel=kernel, scale=True), PathSVR(kernel=kernel)):
        with pytest.raises(ValueError, match=r"X has numbers as large as .* divide X by a constant"):
            model.fit(factor * X, LABELS)
    with pytest.raises(ValueError, match="X has numbers as large as"):
        PathSVC().fit(sparse.csr_matrix(factor * X), LABELS)


# --- the rank that is found by itself --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2100, 3))
    return rows, (rows[:, 0] + 0.2 * rng.normal(size=2100) > 0).astype(int)


@pytest.mark.slow
def test_C_and_gamma_given_use_the_full_matrix_where_the_search_would(many):
    model = PathSVC(C=1.0, gamma=0.1, random_state=0).fit(*many)
    assert (model.rank_, model.choice_.stages) == (2100, ())
    check(model, *many)
    noisy = np.random.default_rng(0).integers(0, 2, size=2100)  # all are left of the margin
    model = fitted_within("60MB", PathSVC(C=1.0, gamma=0.1, random_state=0), many[0], noisy)
    assert model.rank_ < 2100
    assert model.search_table_.C.unique().tolist() == [1.0]


@first_quick(1)
@pytest.mark.parametrize("given", [{}, {"C": 1.0, "gamma": 0.1}])
def test_the_first_rank_fits_into_memory(many, given):
    rows, labels = many
    model = fitted_within(
        "3MB", PathSVC(effort="quick", random_state=0, **given), rows, labels
    )  # 300 columns take 5 MB
    assert model.rank_ <= 3e6 / (8 * 2100)
    assert model.score(rows, labels) > 0.9


def test_the_error_is_computed_within_the_limit_of_memory():
    model = PathSVC(rank=None, criterion="span", random_state=0).fit(X, LABELS)
    model = pickle.loads(pickle.dumps(model))  # without its matrices
    with svmpath.config_context(memory_limit="1kB"), pytest.raises(MemoryError, match="memory_limit=1e"):
        model.held_out_error()


@pytest.mark.parametrize("what", TARGETS)
def test_a_kernel_that_is_zero_on_many_rows(what):
    zero, y = np.zeros((2100, 2)), np.resize(TARGETS[what], 2100)
    model = make(what, kernel="linear").fit(zero, y)
    f = model.predict(zero) if what == "amounts" else model.decision_function(zero)
    assert np.ptp(f, axis=0).max() < 1e-9


def test_rows_that_are_few_but_for_copies_use_the_full_matrix():
    model = PathSVC(random_state=0).fit(np.tile(X, (40, 1)), np.tile(LABELS, 40))
    assert (model.rank_, model.residual_) == (2800, 0.0)


def test_held_out_values_of_a_pair_that_is_given_are_computed_once(monkeypatch):
    from svmpath.search import Evaluator

    calls, curve = [], Evaluator.curve
    monkeypatch.setattr(Evaluator, "curve", lambda *args: (calls.append(1), curve(*args))[1])
    model = PathSVC(loss="least_squares", C=1.0, gamma=1.0).fit(X, LABELS)
    model.held_out_error(), model.held_out_decisions(), model.loo_error()
    assert len(calls) == 1

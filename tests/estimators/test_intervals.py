"""``predict_interval`` and ``predict_set``: against plain refits, their coverage, and input of every kind."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from svmpath import ElasticNetSVC, PathSVC, PathSVR
from svmpath.criteria.folds import make_folds, random_folds
from svmpath.datasets import gaussian_mixture
from svmpath.validation import draw_seed
from tests.rounding import assert_same
from tests.speed import each_once, first_quick

N, M = 60, 25
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = np.sin(2 * X[:, 0]) + 0.3 * RNG.normal(size=N)
NEW = RNG.normal(size=(M, 2))
LABELS = np.array(["no", "perhaps", "yes"])[np.digitize(Y, [-0.4, 0.4])]
S = RNG.integers(0, 4, size=N).astype(float)
ONE = {"gamma": 0.7, "C": 2.0}


def k_th(values, k):
    """The k-th smallest of each row; infinite beyond the ends."""
    n = values.shape[1]
    return np.full(len(values), -np.inf if k < 1 else np.inf) if not 1 <= k <= n else np.sort(values, axis=1)[:, k - 1]


def heavy_th(values, w, alpha):
    """The same with whole weights w, which count as (sum w)^2 / sum w^2 samples; infinite if they are not enough."""
    found = np.full(len(values), np.inf)
    for k, row in enumerate(values):
        order = np.argsort(row)
        is_enough = np.cumsum(w[order]) * w.sum() * alpha >= (alpha - 1) * (w.sum() ** 2 + w @ w)
        found[k] = row[order][np.argmax(is_enough)] if is_enough.any() else np.inf
    return found


def plain_intervals(model, X, y, folds, alpha, weight=None):
    """The paper's rule, with a refit per fold; alpha is given as 1 / alpha so that nothing is rounded."""
    low, high = [], []
    for train, test in folds:
        s = None if weight is None else weight[train]
        machine = clone(model).fit(X[train], y[train], sample_weight=s)
        r, f = np.abs(y[test] - machine.predict(X[test])), machine.predict(NEW)
        low.append(f[:, None] - r)
        high.append(f[:, None] + r)
    low, high = np.hstack(low), np.hstack(high)
    if weight is not None:
        w = np.concatenate([weight[test] for _, test in folds]).astype(int)
        return np.column_stack([-heavy_th(-low, w, alpha), heavy_th(high, w, alpha)])
    n = low.shape[1]
    return np.column_stack([k_th(low, (n + 1) // alpha), k_th(high, -(-(n + 1) * (alpha - 1) // alpha))])


def each_alone(n):
    return [(np.delete(np.arange(n), i), np.array([i])) for i in range(n)]


@first_quick(1)
@pytest.mark.parametrize("options", [{}, {"criterion": "press"}, {"kernel": "linear"}], ids=str)
@pytest.mark.parametrize("weight", [None, S], ids=["1", "s"])
def test_least_squares_is_jackknife_plus(options, weight):
    model = PathSVR(loss="least_squares", **ONE, **options).fit(X, Y, sample_weight=weight)
    expected = plain_intervals(PathSVR(loss="least_squares", **ONE, **options), X, Y, each_alone(N), 10, weight)
    np.testing.assert_allclose(model.predict_interval(NEW, 0.9), expected, atol=1e-8)


@pytest.mark.slow
def test_repeated_rows_are_left_out_one_by_one():
    rows, y = np.tile(X[:20], (3, 1)), np.tile(Y[:20], 3)
    model = PathSVR(**ONE).fit(rows, y)
    np.testing.assert_allclose(
        model.predict_interval(NEW, 0.8), plain_intervals(PathSVR(**ONE), rows, y, each_alone(N), 5), atol=1e-8
    )


@pytest.mark.parametrize("loss", ["least_squares", "epsilon_insensitive"])
def test_a_choice_by_folds_is_cv_plus_with_these_folds(loss):
    folds = list(KFold(6, shuffle=True, random_state=3).split(X))
    own = {"epsilon": 0.1} if loss == "epsilon_insensitive" else {}
    model = PathSVR(loss=loss, criterion="kfold", cv=iter(folds), **own, **ONE).fit(X, Y)
    expected = plain_intervals(PathSVR(loss=loss, **own, **ONE), X, Y, folds, 10)
    np.testing.assert_allclose(model.predict_interval(NEW), expected, atol=1e-7)


def test_other_losses_have_ten_folds_which_are_kept(monkeypatch):
    model = PathSVR(loss="epsilon_insensitive", epsilon=0.1, **ONE).fit(X, Y)
    assert model.criterion_ == "loo"
    first = model.predict_interval(NEW)
    folds = random_folds(10, X, Y, is_classification=False)
    np.testing.assert_allclose(first, plain_intervals(PathSVR(**model.get_params()), X, Y, folds, 10), atol=1e-7)
    monkeypatch.setattr("svmpath.estimators.machines.fold_machines", None)  # no machine is trained again
    assert_same(model.predict_interval(NEW), first)
    monkeypatch.undo()
    assert not np.array_equal(model.fit(X, -Y).predict_interval(NEW), first)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), ShuffleSplit(8, random_state=0)], ids=["ordered", "repeated"])
def test_rows_that_are_held_out_never_or_often(cv):
    ends = PathSVR(criterion="kfold", cv=cv, **ONE).fit(X, Y).predict_interval(NEW, 0.8)
    assert np.isfinite(ends).all()
    assert (ends[:, 0] < ends[:, 1]).all()


def test_few_rows_have_infinite_intervals_and_whole_sets():
    model = PathSVR(**ONE).fit(X[:8], Y[:8])
    np.testing.assert_array_equal(model.predict_interval(NEW, 0.9), np.tile([-np.inf, np.inf], (M, 1)))
    assert np.isfinite(PathSVR(**ONE).fit(X[:9], Y[:9]).predict_interval(NEW, 0.9)).all()
    code = np.arange(8) % 2
    assert PathSVC(loss="least_squares", **ONE).fit(X[:8], code).predict_set(NEW, 0.9).all()


def plain_sets(model, X, labels, folds, twentieths):
    """Which labels are in the set at coverage twentieths / 20, by refits and counting."""
    classes = np.unique(labels)
    better, n = np.zeros((M, len(classes))), sum(len(test) for _, test in folds)
    for train, test in folds:
        machine = clone(model).fit(X[train], labels[train])
        seen = np.searchsorted(classes, machine.classes_)
        f, held = np.full((M, len(classes)), -1.0), np.full((len(test), len(classes)), -1.0)
        if len(classes) == 2:
            f, held = (np.outer(machine.decision_function(rows) / 2, [-1, 1]) for rows in (NEW, X[test]))
        elif len(seen) == 2:  # a machine for two classes: one value, and the other class is its opposite
            raise AssertionError("use classes with enough rows")
        else:
            f[:, seen], held[:, seen] = machine.decision_function(NEW), machine.decision_function(X[test])
        for i, label in enumerate(np.searchsorted(classes, labels[test])):
            own = np.delete(held[i], label).max() - held[i, label]
            for y in range(len(classes)):
                better[:, y] += own < np.delete(f, y, axis=1).max(axis=1) - f[:, y] - 1e-9
    return 20 * better < twentieths * (n + 1)


@each_once
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge", "hinge"])
def test_sets_by_refits_and_counting(loss, classes):
    labels = LABELS if classes == 3 else np.where(LABELS == "no", "no", "yes")
    model = PathSVC(loss=loss, **ONE).fit(X, labels)
    folds = each_alone(N)
    if loss != "least_squares":
        code = np.unique(labels, return_inverse=True)[1]
        folds = random_folds(10, X, code, is_classification=True)
    found = model.predict_set(NEW, 0.75)
    np.testing.assert_array_equal(found, plain_sets(PathSVC(loss=loss, **ONE), X, labels, folds, 15))
    assert found.dtype == bool
    assert 0 < found.mean() < 1


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_sets_with_repeated_rows_of_three_classes(loss):
    thirds = np.argsort(np.argsort(Y[:20])) * 3 // 20
    rows, labels = np.tile(X[:20], (3, 1)), np.tile(np.unique(LABELS)[thirds], 3)
    labels[:2] = "yes"  # the same rows with other labels, too
    model = PathSVC(loss=loss, **ONE).fit(rows, labels)
    assert model.path_.problem.copies is not None
    folds = each_alone(N)
    if loss != "least_squares":
        code = np.unique(labels, return_inverse=True)[1]
        folds = random_folds(10, rows, code, is_classification=True)
    np.testing.assert_array_equal(
        model.predict_set(NEW, 0.75), plain_sets(PathSVC(loss=loss, **ONE), rows, labels, folds, 15)
    )


def test_a_class_of_one_row():
    labels = np.where(np.arange(N) == 4, "rare", LABELS)
    for loss in ("least_squares", "squared_hinge", "hinge"):
        is_in = PathSVC(loss=loss, **ONE).fit(X, labels).predict_set(NEW, 0.9)
        assert is_in.shape == (M, 4)
        assert is_in[:, 2].mean() < is_in[:, [0, 1, 3]].mean()
    two = np.where(np.arange(N) == 4, 1, 0)
    for loss in ("least_squares", "squared_hinge", "hinge"):
        assert PathSVC(loss=loss, **ONE).fit(X, two).predict_set(NEW, 0.95)[:, 0].mean() > 0.9


@pytest.mark.slow
def test_feature_selection_has_sets():
    model = ElasticNetSVC(lambda1=1.0, lambda2=1.0, cv=5).fit(X, LABELS)
    is_in = model.predict_set(NEW, 0.8)
    folds = make_folds(5, X, LABELS, is_classification=True, seed=draw_seed(None))
    plain = ElasticNetSVC(lambda1=1.0, lambda2=1.0, standardize=False)
    model = clone(plain).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict_set(NEW, 0.75), plain_sets(plain, X, LABELS, folds, 15))
    assert is_in.shape == (M, 3)
    alone = ElasticNetSVC(lambda1=1.0, lambda2=1.0, criterion="loo").fit(csr_matrix(X), LABELS == "yes")
    assert alone.predict_set(csr_matrix(NEW)).shape == (M, 2)


def test_groups_are_held_out_together():
    groups = np.repeat(np.arange(12), 5)
    for criterion in ("auto", "kfold"):
        model = PathSVR(criterion=criterion, **ONE).fit(X, Y, groups=groups)
        model.predict_interval(NEW)
        fold = np.empty(N, dtype=int)
        left_out = model._held_out.left_out()
        fold[left_out.rows] = left_out.fold
        assert all(len(set(fold[groups == g])) == 1 for g in range(12))


# --- coverage --------------------------------------------------------------------------------------------------------


def is_likely(hits, rows, coverage):
    """Whether as many hits are within the limits of a binomial, widened by what the training rows add."""
    low, high = binom.interval(0.999, rows, coverage)
    return low - 0.03 * rows <= hits <= high + 0.03 * rows


@first_quick(1)
@pytest.mark.parametrize(
    "model",
    [PathSVR(random_state=0), PathSVR(rank=40, random_state=0), PathSVR(loss="epsilon_insensitive", epsilon=0.1)],
)
def test_intervals_cover(model):
    rng = np.random.default_rng(7)
    rows = rng.uniform(-3, 3, size=(1200, 1))
    y = np.sin(rows[:, 0]) + 0.3 * rng.standard_t(4, size=1200)
    model = clone(model).fit(rows[:200], y[:200])
    widths = []
    for coverage in (0.8, 0.9, 0.95):
        low, high = model.predict_interval(rows[200:], coverage).T
        assert is_likely(((low <= y[200:]) & (y[200:] <= high)).sum(), 1000, coverage)
        widths.append((high - low).mean())
    assert widths[0] < widths[1] < widths[2] < 3.0


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_sets_cover(loss):
    rows, y = gaussian_mixture(1300, np.random.default_rng(3))
    model = PathSVC(loss=loss, random_state=0).fit(rows[:300], y[:300])
    code, sizes = np.searchsorted(model.classes_, y[300:]), []
    for coverage in (0.8, 0.9, 0.95):
        is_in = model.predict_set(rows[300:], coverage)
        assert is_likely(is_in[np.arange(1000), code].sum(), 1000, coverage)
        sizes.append(is_in.sum(axis=1).mean())
    assert sizes[0] < sizes[1] < sizes[2] < 2.0


# --- input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0, 1, 0.0, 1.0, -0.1, 90, "0.9", None, np.nan, True])
def test_coverage_outside_is_refused(coverage):
    for model in (PathSVR(**ONE).fit(X, Y).predict_interval, PathSVC(**ONE).fit(X, LABELS).predict_set):
        with pytest.raises(ValueError, match=r"coverage must be a number between 0 and 1, such as 0\.9 for 90 %; got"):
            model(NEW, coverage)


def test_sparse_rows_single_precision_and_scaling():
    dense = PathSVR(**ONE).fit(X, Y).predict_interval(NEW)
    np.testing.assert_allclose(PathSVR(**ONE).fit(csr_matrix(X), Y).predict_interval(csr_matrix(NEW)), dense, atol=1e-9)
    single = PathSVR(**ONE).fit(X.astype(np.float32), Y).predict_interval(NEW.astype(np.float32))
    np.testing.assert_allclose(single, dense, atol=1e-4)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    scaled = PathSVR(**ONE).fit((X - mean) / deviation, Y).predict_interval((NEW - mean) / deviation)
    np.testing.assert_allclose(PathSVR(scale=True, **ONE).fit(X, Y).predict_interval(NEW), scaled, atol=1e-9)


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_precomputed_kernels(loss):
    K, cross = rbf_kernel(X, gamma=0.7), rbf_kernel(NEW, X, gamma=0.7)
    model = PathSVC(loss=loss, kernel="precomputed", C=2.0).fit(K, LABELS)
    if loss == "least_squares":
        expected = PathSVC(loss=loss, **ONE).fit(X, LABELS).predict_set(NEW)
    else:  # folds that are drawn from kernel values are not those that are drawn from the rows
        code = np.unique(LABELS, return_inverse=True)[1]
        folds = random_folds(10, K, code, is_classification=True, pairwise=True)
        expected = plain_sets(PathSVC(loss=loss, **ONE), X, LABELS, folds, 18)
    np.testing.assert_array_equal(model.predict_set(cross, 0.9), expected)


def test_names_of_features_are_checked():
    model = PathSVR(**ONE).fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict_interval(pd.DataFrame(NEW, columns=["b", "a"]))


def test_what_is_not_fitted_has_none():
    with pytest.raises(AttributeError, match="not fitted"):
        PathSVR().predict_interval(X)


def test_a_saved_model_has_the_same_intervals():
    for model in (PathSVR(**ONE), PathSVR(loss="epsilon_insensitive", epsilon=0.1, criterion="kfold", **ONE)):
        model.fit(X, Y)
        fresh = pickle.loads(pickle.dumps(model))  # before the machines are made
        ends = model.predict_interval(NEW)
        np.testing.assert_allclose(fresh.predict_interval(NEW), ends, atol=1e-10)
        np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict_interval(NEW), ends, atol=1e-10)


def test_class_weights_and_sample_weights():
    X, y = load_iris(return_X_y=True)
    keep = np.r_[0:50, 50:60, 100:140]
    model = PathSVC(loss="least_squares", class_weight="balanced", **ONE).fit(X[keep], y[keep])
    assert model.predict_set(X, 0.9).mean() < 0.5
    weight = np.where(np.arange(100) % 10, 1.0, 0.0)
    few = PathSVC(loss="least_squares", **ONE).fit(X[keep], y[keep], sample_weight=weight).predict_set(X, 0.9)
    rest = weight > 0
    expected = PathSVC(loss="least_squares", **ONE).fit(X[keep][rest], y[keep][rest]).predict_set(X, 0.9)
    np.testing.assert_array_equal(few, expected)


def test_threads_change_nothing():
    one, two = (PathSVR(n_jobs=n_jobs, **ONE).fit(X, Y).predict_interval(NEW) for n_jobs in (1, 2))
    np.testing.assert_allclose(one, two, atol=1e-12)

"""An order that goes with the rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from svmpath import ElasticNetSVC, PathSVC, PathSVR, Range
from svmpath.gram import make_gram
from svmpath.kernels import RBF, Precomputed
from svmpath.row_order import random_order
from tests.speed import slow_except

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)) * [1.0, 1e-3, 1e3, 0.0]
TURNED = RNG.permutation(120)


@pytest.mark.parametrize("change", [np.asarray, StandardScaler().fit_transform, MinMaxScaler().fit_transform])
@pytest.mark.parametrize("seed", [0, 7, (7, 1)])
def test_the_order_goes_with_the_rows_and_survives_scaling(change, seed):
    order, turned = random_order(change(X), seed=seed), random_order(change(X[TURNED]), seed=seed)
    np.testing.assert_array_equal(TURNED[turned], order)
    np.testing.assert_array_equal(np.sort(order), np.arange(120))


def test_another_unit_of_a_column_changes_nothing():
    np.testing.assert_array_equal(random_order(X * [3.0, 0.1, 7.0, 1.0], seed=0), random_order(X, seed=0))


def test_sparse_rows_have_the_order_of_dense_ones():
    rows = X * (RNG.random(X.shape) < 0.5)
    np.testing.assert_array_equal(random_order(csr_matrix(rows), seed=3), random_order(rows, seed=3))
    K = rows @ rows.T
    np.testing.assert_array_equal(
        random_order(csr_matrix(K), seed=3, pairwise=True), random_order(K, seed=3, pairwise=True)
    )


def test_kernel_values_are_turned_with_the_rows():
    K = RBF(0.5)(X[:, :1])
    turned = random_order(K[TURNED][:, TURNED], seed=0, pairwise=True)
    np.testing.assert_array_equal(TURNED[turned], random_order(K, seed=0, pairwise=True))


def test_seeds_targets_and_purposes_give_other_orders():
    y = RNG.normal(size=120)
    orders = [random_order(X, seed=s) for s in range(20)]
    orders += [random_order(X, seed=(0, 1)), random_order(X, seed=(0, 2)), random_order(X, y, seed=0)]
    assert len({tuple(order) for order in orders}) == len(orders)
    first = np.array([np.flatnonzero(order == 5)[0] for order in orders])
    assert first.min() < 30  # anywhere
    assert first.max() > 90


def test_copies_are_spread():
    rows = np.repeat(X[:12], 10, axis=0)
    assert len(np.unique(random_order(rows, seed=0)[:24] // 10)) > 6
    first = [random_order(rows[np.roll(np.arange(120), k)], seed=0)[:24] for k in (0, 35)]
    held = [np.sort(rows[np.roll(np.arange(120), k)][order][:, 0]) for k, order in zip((0, 35), first, strict=True)]
    np.testing.assert_array_equal(*held)
    assert sorted(random_order(np.zeros((9, 2)), seed=0)) == list(range(9))


def test_rounding_of_halves_and_quarters_does_not_change_the_order():
    quarters = np.random.default_rng(1).integers(-8, 9, size=(60, 3)) / 4.0
    quarters[0] = 2.0  # the largest of each column, from which the steps are made, stays
    below = np.nextafter(quarters, 0.0)
    below[0] = 2.0
    np.testing.assert_array_equal(random_order(below, seed=0), random_order(quarters, seed=0))


@pytest.mark.parametrize("landmarks", ["rpcholesky", "greedy", "uniform", "kmeans", "density"])
def test_landmarks_go_with_the_rows(landmarks):
    rows = StandardScaler().fit_transform(X)
    first, turned = (make_gram(A, RBF(0.3), rank=15, landmarks=landmarks, seed=4) for A in (rows, rows[TURNED]))
    # Equal up to what a factor of so many landmarks makes of rounding.
    np.testing.assert_allclose(turned.cross(rows[:9]), first.cross(rows[:9])[:, TURNED], atol=1e-7)


@pytest.mark.parametrize("landmarks", ["rpcholesky", "greedy", "uniform"])
def test_landmarks_of_kernel_values_go_with_the_rows(landmarks):
    K = RBF(0.3)(StandardScaler().fit_transform(X))
    first, turned = (
        make_gram(A, Precomputed(), rank=15, landmarks=landmarks, seed=4) for A in (K, K[TURNED][:, TURNED])
    )
    np.testing.assert_allclose(turned.matmul(np.eye(120)), first.matmul(np.eye(120))[TURNED][:, TURNED], atol=1e-7)


def test_rows_that_differ_in_few_digits_or_in_their_weight_only():
    far = RNG.normal(size=(120, 1)) + 1e9
    np.testing.assert_array_equal(TURNED[random_order(far[TURNED], seed=0)], random_order(far, seed=0))
    few, s = RNG.integers(2, size=(120, 3)).astype(float), RNG.exponential(size=120)
    order = random_order(few, seed=0, ties=s)
    turned = random_order(few[TURNED], seed=0, ties=s[TURNED] * (1 + 1e-15))
    np.testing.assert_array_equal(TURNED[turned], order)
    np.testing.assert_array_equal(random_order(csr_matrix(few), seed=0, ties=s), order)
    np.testing.assert_array_equal(random_order(few, seed=0, ties=np.ones(120)), random_order(few, seed=0))


def test_what_is_drawn_after_a_fit_goes_with_the_rows():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(70, 2))
    y = (rows[:, 0] + rng.normal(size=70) > 0).astype(int)
    found = []
    for order in (np.arange(70), rng.permutation(70)):
        model = PathSVC(gamma=0.5, loss="least_squares").fit(rows[order], y[order])
        errors = [model.nested_error(method).value for method in ("bootstrap", "parts")]
        found.append([*errors, *model.calibration_curve().mean_predicted])
    np.testing.assert_allclose(*found, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::svmpath.exceptions.EdgeWarning")
def test_weighted_rows_of_few_kinds():
    rng = np.random.default_rng(0)
    rows = rng.integers(2, size=(120, 4)).astype(float)
    y, s = (rows.sum(axis=1) + rng.normal(size=120) > 2).astype(int), rng.exponential(size=120)
    found = []
    for order in (np.arange(120), rng.permutation(120), rng.permutation(120)):
        model = PathSVC(criterion="kfold").fit(rows[order], y[order], sample_weight=s[order])
        found.append([model.C_, model.gamma_, model.held_out_error()])
    np.testing.assert_allclose(found, [found[0]] * 3, rtol=1e-9)


def choice(model):
    names = ("C_", "gamma_", "lambda1_", "lambda2_", "epsilon_")
    chosen = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return {**chosen, "error": model.held_out_error()}


MODELS = {
    "two classes": PathSVC(),
    "a scorer and one standard error": PathSVC(
        criterion="kfold", scoring="roc_auc", rule="one_se", gamma=[0.1, 0.5, 2.0]
    ),
    "kfold": PathSVC(criterion="kfold", gamma=Range(0.05, 5.0)),
    "one standard error": PathSVC(rule="one_se"),
    "scaled": PathSVC(scale=True),
    "low rank": PathSVC(rank=30, loss="least_squares", gamma=[0.1, 0.5]),
    "hinge": PathSVC(loss="hinge", gamma=0.5),
    "gradient": PathSVC(search="gradient"),
    "three classes": PathSVC(),
    "elastic net": ElasticNetSVC(lambda2=[0.1, 10.0]),
    "regression": PathSVR(),
    "regression by folds": PathSVR(criterion="kfold"),
    "no noise": PathSVR(),
    "epsilon": PathSVR(loss="epsilon_insensitive", gamma=0.3, epsilon=[0.05, 0.2]),
}
QUICK = ("two classes", "kfold", "low rank", "hinge", "three classes", "elastic net", "regression by folds")


@pytest.mark.filterwarnings("ignore::svmpath.exceptions.EdgeWarning")
@pytest.mark.parametrize("case", slow_except(MODELS, QUICK))
def test_the_choice_does_not_depend_on_the_order_of_the_rows(case):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(90, 2)) * [1.0, 2.0]
    y = np.where(rows[:, 0] ** 2 + rows[:, 1] + 0.4 * rng.normal(size=90) > 1.0, "in", "out")
    if case == "three classes":
        y = np.where(rows[:, 1] > 1.5, "up", y)
    elif isinstance(MODELS[case], PathSVR):
        y = np.sin(rows[:, 0]) + rows[:, 1] + (case != "no noise") * 0.3 * rng.normal(size=90)
    expected = None
    for order in (np.arange(90), rng.permutation(90), np.argsort(y, kind="stable")):
        scaled = StandardScaler().fit_transform(rows[order])
        found = choice(MODELS[case].fit(scaled, y[order]))
        expected = found if expected is None else expected
        # Errors are equal up to the order of addition; without noise they are rounding themselves.
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)

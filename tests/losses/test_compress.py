"""A compressed machine against the whole one."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import svmpath
from svmpath import datasets
from svmpath.gram import Clipped, DenseGram
from tests.rounding import assert_same
from tests.speed import each_once

RNG = np.random.default_rng(0)
N = 150
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * RNG.normal(size=N) > 0, 1.0, -1.0)
NEW = RNG.normal(size=(70, 3))
LOSSES = ["squared_hinge", "least_squares"]

# Kernels whose space has few dimensions, and how many.
FINITE = {
    "linear": ({"kernel": "linear"}, 3),
    "quadratic": ({"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}, 10),
    "cubic": ({"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.5}, 20),
    "homogeneous": ({"kernel": "poly", "degree": 2, "coef0": 0.0, "gamma": 1.0}, 6),
}


def solved(loss, C=1.0, **options):
    return svmpath.trace(X, Y, loss=loss, span=(1e-4, 1e4), random_state=0, **options)(C)


@each_once
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e2])
@pytest.mark.parametrize("rank", [None, 40])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", FINITE)
def test_exact_from_the_dimension_of_the_kernel_on(name, loss, rank, C):
    options, dimension = FINITE[name]
    whole = solved(loss, C, rank=rank, **options)
    for size in (dimension, dimension + 1, 60):
        few = whole.compress(size, random_state=0)
        assert len(few.support) == len(few.coef) == dimension
        assert few.error < 1e-8
        np.testing.assert_allclose(few(NEW), whole(NEW), atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_all_support_vectors_are_the_whole_machine(loss):
    whole = solved(loss, gamma=0.7)
    few = whole.compress(10 * N, random_state=0)
    assert set(few.support) == set(whole.support)
    np.testing.assert_allclose(few.coef, whole.alpha[few.support], atol=1e-8)
    np.testing.assert_allclose(few(NEW), whole(NEW), atol=1e-9)


@pytest.mark.parametrize("landmarks", ["rpcholesky", "greedy", "uniform"])
@pytest.mark.parametrize("loss", LOSSES)
def test_in_low_rank_the_landmarks_are_enough(loss, landmarks):
    whole = solved(loss, 10.0, gamma=0.7, rank=25, landmarks=landmarks)
    few = whole.compress(25, random_state=1)
    assert len(few.support) <= 25
    np.testing.assert_allclose(few(NEW), whole(NEW), atol=1e-8)


@pytest.mark.parametrize("landmarks", ["kmeans", "density"])
def test_landmarks_that_are_no_rows(landmarks):
    whole = solved("least_squares", gamma=0.2, rank=20, landmarks=landmarks)
    few = whole.compress(40, random_state=0)
    assert len(few.support) == 40
    assert few.error < 0.05 * np.abs(whole.fitted).max()


@pytest.mark.parametrize("rank", [None, 60])
@pytest.mark.parametrize("loss", LOSSES)
def test_more_rows_come_nearer(loss, rank):
    X, y = datasets.banana(300, random_state=0)[:2]
    new = datasets.banana(500, random_state=1)[0]
    whole = svmpath.trace(X, y, loss=loss, rank=rank, random_state=0)(1.0)
    machines = [whole.compress(size, random_state=0) for size in (5, 15, 45)]
    away = [np.sqrt(np.mean((few(new) - whole(new)) ** 2)) for few in machines]
    assert away[2] < 1e-3 < away[1] < away[0]
    assert machines[2].error < 1e-3
    assert np.mean((machines[1](new) > 0) != (whole(new) > 0)) < 0.02


def test_coefficients_are_the_least_squares_fit_and_error_the_largest_difference():
    whole = solved("squared_hinge", gamma=0.7)
    few = whole.compress(12, random_state=0)
    K = whole.problem.gram.block(slice(None), few.support)
    f = whole.fitted
    np.testing.assert_allclose(few.coef, np.linalg.lstsq(K, f - whole.b, rcond=None)[0], rtol=1e-6)
    np.testing.assert_allclose(few.error, np.abs(few(X) - f).max(), rtol=1e-9)
    assert few.b == whole.b
    assert set(few.support) <= set(whole.support)
    assert "12 samples, error" in repr(few)


def test_the_choice_is_better_than_a_random_one():
    whole = solved("least_squares", gamma=0.7)
    few = whole.compress(15, random_state=0)
    errors = []
    for seed in range(20):
        rows = np.random.default_rng(seed).choice(N, 15, replace=False)
        K = whole.problem.gram.block(slice(None), rows)
        coef = np.linalg.lstsq(K, whole.fitted - whole.b, rcond=None)[0]
        errors.append(np.mean((K @ coef + whole.b - whole.fitted) ** 2))
    assert np.mean((few(X) - whole.fitted) ** 2) < 0.6 * np.median(errors)


def test_the_random_state_decides():
    whole = solved("least_squares", gamma=0.7)
    once, again = whole.compress(10, random_state=3), whole.compress(10, random_state=3)
    np.testing.assert_array_equal(once.support, again.support)
    assert_same(once(NEW), again(NEW))


@pytest.mark.parametrize("rank", [None, 30])
def test_sparse_rows(rank):
    dense = solved("squared_hinge", gamma=0.7, rank=rank).compress(20, random_state=0)
    path = svmpath.trace(csr_matrix(X), Y, loss="squared_hinge", gamma=0.7, rank=rank, random_state=0)
    sparse = path(1.0).compress(20, random_state=0)
    np.testing.assert_allclose(sparse(csr_matrix(NEW)), dense(NEW), atol=1e-6)


@pytest.mark.parametrize("rank", [None, 30])
@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
def test_precomputed_kernels(rank, make):
    K, cross = np.exp(-0.7 * _distances(X, X)), np.exp(-0.7 * _distances(NEW, X))
    path = svmpath.trace(make(K), Y, loss="squared_hinge", kernel="precomputed", rank=rank, random_state=0)
    # Rows that are drawn from kernel values are not those that are drawn from rows: take the same landmarks, and all.
    landmarks = None if rank is None else path.gram.features.rows
    few = path(1.0).compress(N, random_state=0)
    wanted = solved("squared_hinge", gamma=0.7, landmarks=landmarks).compress(N, random_state=0)
    np.testing.assert_allclose(few(make(cross)), wanted(NEW), atol=1e-6)


def _distances(X, Z):
    return ((X[:, None] - Z) ** 2).sum(axis=2)


def test_a_kernel_function():
    whole = solved("least_squares", kernel=lambda X, Z: (1.0 + X @ Z.T) ** 2)
    np.testing.assert_allclose(whole.compress(10)(NEW), whole(NEW), atol=1e-9)


@pytest.mark.filterwarnings("ignore::svmpath.IndefiniteKernelWarning")
@pytest.mark.parametrize("rank", [None, Clipped()])
def test_an_indefinite_kernel(rank):
    whole = solved("least_squares", kernel="sigmoid", gamma=0.3, coef0=-1.0, rank=rank)
    few = whole.compress(N, random_state=0)
    assert few.error < 1e-6 * np.abs(whole.fitted).max()
    np.testing.assert_allclose(few(X), whole.fitted, atol=2 * few.error)
    assert len(whole.compress(30, random_state=0).support) == 30


def test_some_rows_of_a_gram_matrix():
    gram = DenseGram(solved("least_squares", gamma=0.7).problem.gram.kernel, X, rows=np.arange(0, N, 2))
    problem = svmpath.losses.Problem(gram, Y[::2], np.ones(N // 2), "classification")
    loss = svmpath.losses.LeastSquares()
    whole = loss.solve_closed(problem, loss.decompose(problem), 1.0)
    few = whole.compress(N, random_state=0)
    np.testing.assert_allclose(few(NEW), whole(NEW), atol=1e-9)
    np.testing.assert_allclose(few.points, X[::2][few.support])


def test_samples_of_weight_zero_count_as_rows():
    s = np.ones(N)
    s[::3] = 0.0
    whole = solved("squared_hinge", gamma=0.7, sample_weight=s)
    few = whole.compress(15, random_state=0)
    np.testing.assert_allclose(few.error, np.abs(few(X) - whole(X)).max(), rtol=1e-9)
    K = whole.problem.gram.block(slice(None), few.support)
    np.testing.assert_allclose(few.coef, np.linalg.lstsq(K, whole.fitted - whole.b, rcond=None)[0], rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_landmarks_of_weight_zero(loss):
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(60, 2)), rng.normal(size=(500, 2))
    s = (np.arange(60) % 2).astype(float)
    path = svmpath.trace(
        rows, np.sign(rows[:, 0] * rows[:, 1]), loss=loss, gamma=2.0, rank=40, random_state=0, sample_weight=s
    )
    whole = path(10.0)
    few = whole.compress(60, random_state=0)
    assert few.error < 1e-9
    np.testing.assert_allclose(few(new), whole(new), atol=1e-8)


def test_a_regression_and_a_constant_machine():
    t = np.sin(X[:, 0])
    whole = svmpath.trace(X, t, loss="least_squares")(1.0)
    assert whole.compress(40, random_state=0).error < 0.1
    flat = svmpath.trace(X, np.full(N, 2.5), loss="least_squares", task="regression")(1.0).compress(5)
    np.testing.assert_allclose(flat(NEW), 2.5)
    nothing = svmpath.trace(np.zeros((N, 3)), Y, loss="least_squares", kernel="linear")(1.0).compress(5)
    np.testing.assert_allclose(nothing(NEW), Y.mean())


def test_it_holds_its_own_rows_only():
    X, y = datasets.banana(1000, random_state=0)[:2]
    few = svmpath.trace(X, y, loss="squared_hinge")(1.0).compress(10, random_state=0)
    saved = pickle.dumps(few)
    assert len(saved) < 3000
    assert_same(pickle.loads(saved)(X), few(X))


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "all"])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(ValueError, match="size must be a whole number"):
        solved("least_squares").compress(size)


def test_rows_of_another_width_are_refused():
    few = solved("least_squares").compress(5)
    with pytest.raises(ValueError, match=r"X must have shape \(m, 3\)"):
        few(NEW[:, :2])
    np.testing.assert_allclose(few(NEW.tolist()), few(NEW))

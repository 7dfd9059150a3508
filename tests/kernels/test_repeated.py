"""Rows that repeat have the same kernel values to the last bit, and close ones the right distance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.gaussian_process import kernels as gp

from svmpath.gram import Clipped, make_gram
from svmpath.kernels import (
    ARD,
    RBF,
    GPKernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    make_kernel,
    repeated,
    squared_distances,
)
from svmpath.kernels.repeated import find_repeats
from tests.speed import each_once, first_quick


def repeated_rows(n=150, d=7, distinct=23, seed=0, scale=1.0):
    """Few distinct rows, in mixed order, and which is which."""
    rng = np.random.default_rng(seed)
    points = scale * rng.normal(size=(distinct, d)) + 3.0
    points[:, 0] = rng.integers(3, size=distinct)
    points[rng.random(points.shape) < 0.2] = 0.0
    which = np.concatenate([np.arange(distinct), rng.integers(distinct, size=n - distinct)])
    rng.shuffle(which)
    return points[which], which


def function(X, Z):
    X, Z = (A.toarray() if hasattr(A, "toarray") else A for A in (X, Z))
    return np.exp(-0.1 * ((X[:, None] - Z) ** 2).sum(axis=2)) + X @ Z.T


KERNELS = {
    "rbf": RBF(3.0),
    "laplacian": Laplacian(0.7),
    "linear": Linear(),
    "poly": Polynomial(0.3, 1.0, 3),
    "sigmoid": Sigmoid(0.01),
    "ard": ARD(np.linspace(0.0, 2.0, 7)),
    "sum": RBF(2.0) + Linear(),
    "product": RBF(0.1) * Polynomial(0.2, 1.0, 2),
    "multiple": 3.7 * (Laplacian(0.2) + Linear()),
    "gp rbf": GPKernel(gp.RBF(0.7)),
    "gp dot": GPKernel(2.0 * gp.DotProduct(0.7) + gp.Matern(1.3)),
    "function": make_kernel(function),
}
FORMS = {"dense": np.asarray, "sparse": csr_matrix, "sparse array": csr_array, "fortran": np.asfortranarray}
pytestmark = pytest.mark.filterwarnings("ignore::svmpath.exceptions.IndefiniteKernelWarning")


def expect_copies(K, which):
    """Rows of K are equal to the last bit where the samples are."""
    for group in np.unique(which):
        rows = K[which == group]
        assert (rows == rows[0]).all()


def can_do(kernel, form):
    """The Gaussian process kernels of scikit-learn take arrays only."""
    return not (isinstance(kernel, GPKernel) and form.startswith("sparse"))


@first_quick(16)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_copies_have_the_values_of_their_row_in_a_whole_matrix(name, form):
    kernel = KERNELS[name]
    if not can_do(kernel, form):
        pytest.skip("scikit-learn's kernels take arrays")
    X, which = repeated_rows()
    K = make_gram(FORMS[form](X), kernel).K
    expect_copies(K, which)
    assert np.array_equal(K, K.T)
    assert np.allclose(K, kernel(np.asarray(X)), rtol=1e-12)
    if name not in ("function", "gp dot"):
        diag = kernel.diag(FORMS[form](X))
        same = which[:, None] == which
        assert np.array_equal(K[same], np.broadcast_to(diag[:, None], K.shape)[same])


@each_once
@pytest.mark.parametrize("m", [3, 40])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_copies_have_the_same_values_against_new_rows(name, form, m):
    kernel = KERNELS[name]
    if not can_do(kernel, form):
        pytest.skip("scikit-learn's kernels take arrays")
    X, which = repeated_rows()
    new = np.vstack([X[:m], X[:m]])
    K = kernel(FORMS[form](new), FORMS[form](X))
    expect_copies(K.T, which)
    expect_copies(K, np.concatenate([which[:m], which[:m]]))
    if isinstance(kernel, RBF | Laplacian | ARD):
        same = np.concatenate([which[:m], which[:m]])[:, None] == which
        assert (K[same] == 1.0).all()


@each_once
@pytest.mark.parametrize("landmarks", ["rpcholesky", "greedy", "uniform", "kmeans", "density"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "ard", "sum", "product", "multiple"])
def test_copies_have_the_same_features_in_low_rank(name, form, landmarks):
    X, which = repeated_rows()
    gram = make_gram(FORMS[form](X), KERNELS[name], rank=12, landmarks=landmarks, seed=1)
    expect_copies(gram.Z, which)
    expect_copies(gram.features(FORMS[form](X[::-1])), which[::-1])
    K = gram.block(slice(None), slice(None))
    expect_copies(K, which)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diagonal(K), gram.diag)
    assert np.allclose(K, gram.Z @ gram.Z.T, rtol=0, atol=1e-12 * K.max())
    expect_copies(gram.cross(FORMS[form](X[::-1])), which[::-1])


def test_some_rows_of_a_gram_matrix_have_the_values_of_the_whole():
    X, which = repeated_rows()
    rows = np.arange(0, 150, 2)
    K = make_gram(X, RBF(3.0)).take(rows).K
    expect_copies(K, which[rows])
    assert np.array_equal(K, K.T)


def test_clipped_kernel_has_equal_rows_for_copies():
    X, which = repeated_rows()
    K = make_gram(X, Sigmoid(0.3, -2.0), rank=Clipped()).K
    expect_copies(K, which)
    assert np.array_equal(K, K.T)


@each_once
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0.0, 2000.0])
@pytest.mark.parametrize("distance", 10.0 ** np.arange(-16, -1))
def test_distances_of_close_rows_have_nine_digits(distance, offset, form):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 6)) + offset
    Z = X + distance * rng.choice([-1.0, 1.0], size=X.shape) / np.sqrt(6)
    exact = ((X.astype(np.longdouble) - Z) ** 2).sum(axis=1).astype(float)
    both = FORMS[form](np.vstack([X, Z]))
    S = squared_distances(both)
    assert np.array_equal(S, S.T)
    assert np.allclose(np.diagonal(S[:40, 40:]), exact, rtol=1e-9, atol=0)
    assert np.allclose(np.diagonal(squared_distances(both[:40], both[40:])), exact, rtol=1e-9, atol=0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", ["continuous", "two values", "counts"])
def test_distances_have_nine_digits_beside_a_column_of_scale_1e6(column, form):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 6))
    values = {
        "continuous": rng.normal(size=300),
        "two values": rng.integers(2, size=300),
        "counts": rng.poisson(2, 300),
    }
    X[:, 2] = 1e6 * values[column]
    exact = ((X[:, None].astype(np.longdouble) - X) ** 2).sum(axis=2).astype(float)
    assert np.allclose(squared_distances(FORMS[form](X)), exact, rtol=1e-9, atol=0)
    assert np.allclose(squared_distances(FORMS[form](X[:100]), FORMS[form](X)), exact[:100], rtol=1e-9, atol=0)


def test_an_outlier_does_not_cost_others_their_digits():
    X = np.random.default_rng(5).normal(size=(200, 4))
    X[7] *= 1e9
    exact = ((X[:, None].astype(np.longdouble) - X) ** 2).sum(axis=2).astype(float)
    assert np.allclose(squared_distances(X), exact, rtol=1e-9, atol=0)


def test_negative_zeros_and_explicit_zeros_are_zeros():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])
    assert find_repeats(X).ids.tolist() == [0, 0, 1]
    stored = csr_array((np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 1, 1, 0]), np.array([0, 2, 3, 4])), shape=(3, 2))
    assert stored.nnz == 4
    assert find_repeats(stored).ids.tolist() == [0, 0, 1]
    unsorted = csr_array((np.array([1.0, 2.0, 2.0, 1.0]), np.array([1, 0, 0, 1]), np.array([0, 2, 4])), shape=(2, 2))
    assert find_repeats(unsorted).ids.tolist() == [0, 0]
    twice = csr_array((np.array([0.5, 0.5, 1.0]), np.array([1, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert find_repeats(twice).ids.tolist() == [0, 0]


def test_nothing_repeats():
    assert find_repeats(np.arange(6.0).reshape(3, 2)) is None
    assert find_repeats(csr_array(np.eye(3))) is None


def test_nan_rows_keep_their_nan():
    X = np.array([[np.nan, 1.0, 0.0], [np.nan, 1.0, 0.0], [1.0, 1.0, 2.0]])
    assert np.isnan(squared_distances(X, X.copy())[0, 2])


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_different_rows_with_the_same_key_are_told_apart(monkeypatch, form):
    X, which = repeated_rows()
    monkeypatch.setattr(repeated, "_keys", lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    found = find_repeats(FORMS[form](X))
    assert np.array_equal(found.first[found.ids], [np.flatnonzero(which == k)[0] for k in which])


def test_precomputed_values_stay_as_given():
    K = np.array([[1.0, 1 - 2e-14, 0.5], [1 - 2e-14, 1.0, 0.5], [0.5, 0.5, 1.0]])
    gram = make_gram(K, make_kernel("precomputed"))
    assert np.array_equal(gram.K, K)
    assert gram.repeats is None

"""LAPACK without Python's lock gives what SciPy's functions give."""

import numpy as np
import pytest
from scipy.linalg import lapack as theirs

from svmpath.solvers import lapack


@pytest.mark.parametrize("n", [1, 2, 30, 800])
@pytest.mark.parametrize("rank", [1, 5, 800])
def test_pivoted_cholesky_equals_that_of_scipy(n, rank):
    Z = np.random.default_rng(n).normal(size=(n, rank))
    K = Z @ Z.T
    before, tol = K.copy(), 1e-10 * K.diagonal().max()
    L, pivots, r = lapack.pivoted_cholesky(K, tol)
    L2, pivots2, r2, _ = theirs.dpstrf(K, tol=tol, lower=1)
    assert r == r2 == min(n, rank)
    np.testing.assert_array_equal(pivots, pivots2 - 1)  # random rows: no two residuals are nearly the same
    # The last columns are roots of small residuals, which have lost some digits.
    np.testing.assert_allclose(np.tril(L)[:, :r], np.tril(L2)[:, :r], atol=1e-8 * np.sqrt(abs(K).max()))
    np.testing.assert_array_equal(K, before)
    L = np.tril(L)[:, :r]
    np.testing.assert_allclose(L @ L.T, K[np.ix_(pivots, pivots)], atol=1e-8 * abs(K).max())


def test_without_the_routine_scipy_is_asked(monkeypatch):
    K = np.eye(3) + 1.0
    expected = lapack.pivoted_cholesky(K, 1e-12)
    monkeypatch.setattr(lapack, "_dpstrf", None)
    for one, two in zip(lapack.pivoted_cholesky(K, 1e-12), expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)


def test_a_matrix_without_rows(capfd):
    L, pivots, rank = lapack.pivoted_cholesky(np.zeros((0, 0)), 1e-12)
    assert (L.shape, len(pivots), rank) == ((0, 0), 0, 0)
    assert capfd.readouterr() == ("", "")

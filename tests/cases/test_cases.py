"""Every named case through the whole of least squares, against plain refits."""

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from tests import reference
from tests.cases import CASES
from tests.speed import each_once

C = np.array([1e-3, 0.3, 50.0, 1e4])
KERNELS = {"rbf": 0.4, "linear": None, "poly": 0.3, "laplacian": 0.2}


def traced(name, kernel, **options):
    X, y, s = CASES[name]()
    path = svmpath.trace(
        X,
        y,
        loss="least_squares",
        kernel=kernel,
        gamma=KERNELS[kernel],
        coef0=1.0,
        sample_weight=s,
        span=(1e-3, 1e4),
        **options,
    )
    return path, path.gram.block(slice(None), slice(None)), y, s


def close(a, b, s, value):
    # Both sides solve systems with condition max(K) / (mu / max(s)); compare to what doubles can carry there.
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-8 * (1 + 1e-3 * value) * (1 + s.max()) * (1 + np.abs(b).max()))


@each_once
@pytest.mark.parametrize("rank", [None, 0.01])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CASES)
def test_leave_one_out_and_kfold_equal_refits(name, kernel, rank):
    rank = None if (name, kernel) == ("zero_kernel", "linear") else rank  # which has no factor, and says so
    if kernel != "rbf" and name == "far_from_the_origin" and kernel != "laplacian":
        C_values = C[:2] * 1e-11  # inner products of 1e10: a kernel of that size needs a C to match
        X, y, s = CASES[name]()
        path = svmpath.trace(
            X, y, loss="least_squares", kernel="linear", sample_weight=s, span=(1e-15, 1e-9), rank=rank
        )
        K = path.gram.block(slice(None), slice(None))
    else:
        C_values = C
        path, K, y, s = traced(name, kernel, rank=rank, random_state=0)
    curve = criteria.loo(path, C_values)
    for value, found in zip(C_values, curve.decisions, strict=True):
        close(found, reference.leave_one_out(K, y, s, value), s, value * np.abs(K).max())
    folds = [(np.flatnonzero(np.arange(len(y)) % 2 != k), np.flatnonzero(np.arange(len(y)) % 2 == k)) for k in (0, 1)]
    kfold = criteria.kfold(path, C_values, cv=folds)
    for value, found in zip(C_values, kfold.decisions, strict=True):
        for train, test in folds:
            close(found[test], reference.held_out(K, y, s, value, train, test), s, value * np.abs(K).max())


@each_once
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CASES)
def test_solution_is_optimal(name, kernel):
    if kernel in ("linear", "poly") and name == "far_from_the_origin":
        kernel = "rbf"
    path, _, _, s = traced(name, kernel)
    path.check(tol=1e-7)
    for value in C:
        solution = path(value)
        assert solution.gap <= 1e-9
        assert abs(solution.alpha.sum()) <= 1e-9 * (1 + np.abs(solution.alpha).sum())
        assert not solution.alpha[s == 0].any()

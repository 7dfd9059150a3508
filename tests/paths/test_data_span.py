"""Spans of C from the data: nobody has left E before the first, little changes beyond the last."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

import svmpath
from tests.speed import first_quick


def moons(seed, scale=1.0):
    X, y = make_moons(60, noise=0.3, random_state=seed)
    return scale * np.column_stack([X, np.random.default_rng(seed).normal(size=60)]), y


@first_quick(3)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "linear"}, {"kernel": "poly", "rank": 12}])
def test_everyone_is_on_the_left_up_to_the_first(options, seed):
    X, y = moons(seed)
    if seed % 2:
        y = (y > 0) & (np.arange(60) % 4 == 0)  # unbalanced
    s = np.random.default_rng(seed).exponential(size=60) if seed % 3 else None
    options = {**options, "sample_weight": s, "random_state": 0}
    path = svmpath.trace(X, y, loss="squared_hinge", span="data", **options)
    first, last = path.span
    longer = svmpath.trace(X, y, loss="squared_hinge", span=(first / 100, last), breakpoints="exact", **options)
    assert longer.sides.values.min() > first  # proven: no event before
    assert longer.sides.values.min() < 1e4 * first  # and not far from the first event
    labels = np.where(y, 1.0, -1.0)
    assert (labels * path(first).fitted < 1.0).all()


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares"])
def test_a_kernel_times_a_million_has_the_same_path_in_scaled_C(loss):
    X, y = moons(1)
    K = X @ X.T
    one, many = (svmpath.trace(k * K, y, loss=loss, kernel="precomputed", span="data") for k in (1.0, 1e6))
    np.testing.assert_allclose(np.array(many.span) * 1e6, one.span, rtol=1e-6)
    for value in np.geomspace(*one.span, 5)[1:-1]:
        np.testing.assert_allclose(many(value / 1e6).fitted, one(value).fitted, atol=1e-7)


def test_beyond_the_last_a_linear_machine_hardly_changes():
    X, y = moons(2, scale=100.0)
    path = svmpath.trace(X, y, loss="least_squares", kernel="linear", span="data")
    beyond = svmpath.trace(X, y, loss="least_squares", kernel="linear", span=(1.0, 1e4 * path.span[1]))
    at_end, far = path(path.span[1]).fitted, beyond(1e3 * path.span[1]).fitted
    assert np.abs(at_end - far).max() < 1e-5


def test_without_an_offset():
    X, y = moons(4)
    path = svmpath.trace(X, y, loss="squared_hinge", span="data", offset=False)
    at_first = path(path.span[0])
    assert (np.where(y, 1.0, -1.0) * at_first.fitted < 1.0).all()


def test_regression_begins_near_the_mean():
    X, _ = moons(3)
    y = 50.0 + 3.0 * X[:, 0]
    path = svmpath.trace(X, y, loss="least_squares", span="data")
    assert np.abs(path(path.span[0]).fitted - y.mean()).max() < y.std()


def test_where_nothing_changes_the_span_is_the_usual_one():
    X, y = moons(0)
    usual = svmpath.trace(X, y, loss="least_squares").span
    assert svmpath.trace(0 * X, y, loss="least_squares", kernel="linear", span="data").span == usual
    assert svmpath.trace(0 * X + 1e3, y, loss="least_squares", kernel="linear", span="data").span == usual
    assert svmpath.trace(X, np.full(60, 2.5), loss="least_squares", task="regression", span="data").span == usual


def test_other_paths_have_no_such_span():
    X, y = moons(0)
    for options in ({"loss": "hinge"}, {"loss": "least_squares", "over": "gamma"}):
        with pytest.raises(ValueError, match="works for least squares and the squared hinge over C"):
            svmpath.trace(X, y, span="data", **options)

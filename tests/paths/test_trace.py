"""``svmpath.trace``: what goes in, what comes out, what is refused."""

import dataclasses
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.gaussian_process import kernels as gp

import svmpath
from svmpath.gram import Clipped
from svmpath.kernels import RBF, Linear, Polynomial
from svmpath.losses import LeastSquares
from tests import reference
from tests.rounding import assert_same

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.where(X[:, 0] > 0, 1, 0)


@pytest.mark.parametrize("span", [(1e-3, 1e3), (1e3, 1e-3)])
def test_breakpoints_run_in_the_direction_of_the_span(span):
    path = svmpath.trace(X, Y, loss="least_squares", span=span)
    np.testing.assert_array_equal(path.breakpoints, span)
    assert path.over == "C"
    assert list(path.events()) == []
    assert path.residual == 0.0
    path.check()
    assert path(span[0]).parameters["C"] == span[0]


@pytest.mark.parametrize("rank", [None, 12])
@pytest.mark.parametrize(
    ("over", "kernel", "at"),
    [
        ("gamma", "rbf", lambda v: RBF(v)),
        ("gamma", "poly", lambda v: Polynomial(v, 1.0)),
        ("coef0", "poly", lambda v: Polynomial(0.5, v)),
        ("scale", 2.0 * Linear(), lambda v: v * Linear()),
    ],
)
def test_a_path_over_a_kernel_parameter_is_exact_at_every_value(over, kernel, at, rank):
    gamma = 0.5 if isinstance(kernel, str) else None
    path = svmpath.trace(
        X,
        Y,
        loss="least_squares",
        over=over,
        span=(0.1, 5.0),
        kernel=kernel,
        gamma=gamma,
        coef0=1.0,
        C=3.0,
        rank=rank,
        random_state=0,
    )
    for value in (0.1, 0.77, 5.0):
        fixed = svmpath.trace(X, Y, loss="least_squares", kernel=at(value), rank=rank, random_state=0)(3.0)
        np.testing.assert_allclose(path(value)(X), fixed(X), atol=1e-10)
        assert path(value).parameters["C"] == 3.0
    path.check(1e-9)


def test_a_scikit_learn_gp_kernel_traces_over_its_own_parameter():
    path = svmpath.trace(X, Y, loss="least_squares", over="length_scale", span=(0.2, 3.0), kernel=gp.RBF(1.0), C=2.0)
    alpha, _ = reference.fit(reference.rbf(X, X, 0.5 / 0.7**2), 2.0 * Y - 1, np.ones(30), 2.0)
    np.testing.assert_allclose(path(0.7).alpha, alpha, atol=1e-10)


def test_a_callable_and_a_precomputed_kernel_trace_alike():
    K = reference.rbf(X, X, 0.3)
    named = svmpath.trace(X, Y, loss="least_squares", gamma=0.3)(2.0)
    callable_ = svmpath.trace(X, Y, loss="least_squares", kernel=lambda A, B: reference.rbf(A, B, 0.3))(2.0)
    matrix = svmpath.trace(K, Y, loss="least_squares", kernel="precomputed")(2.0)
    np.testing.assert_allclose(callable_(X[:5]), named(X[:5]), atol=1e-11)
    np.testing.assert_allclose(matrix(K[:5]), named(X[:5]), atol=1e-11)


@pytest.mark.parametrize("loss", ["least_squares", "hinge"])
def test_a_callable_kernel_takes_sparse_rows(loss):
    def product(A, B):
        return A @ B.T

    path = svmpath.trace(csr_matrix(X), Y, loss=loss, kernel=product, gamma="scale", span=(0.1, 10.0))
    plain = svmpath.trace(X, Y, loss=loss, kernel="linear", span=(0.1, 10.0))
    np.testing.assert_allclose(path(1.0)(csr_matrix(X)), plain(1.0)(X), atol=1e-7)


@pytest.mark.parametrize(("loss", "over"), [("nu", "nu"), ("hinge", "C"), ("least_squares", "C")])
def test_a_path_goes_over_the_first_parameter_of_its_loss_by_default(loss, over):
    path = svmpath.trace(X, Y, loss=loss, gamma=1.0)
    same = svmpath.trace(X, Y, loss=loss, over=over, gamma=1.0)
    assert (path.over, path.span) == (over, same.span)
    np.testing.assert_allclose(path(path.span[0]).alpha, same(path.span[0]).alpha, atol=1e-12)


def test_an_indefinite_kernel_warns_and_clips():
    with pytest.warns(svmpath.IndefiniteKernelWarning):
        svmpath.trace(X, Y, loss="least_squares", kernel="sigmoid", gamma=1.0, coef0=-1.0)(0.1)
    solution = svmpath.trace(X, Y, loss="least_squares", kernel="sigmoid", gamma=1.0, coef0=-1.0, rank=Clipped())(0.1)
    assert solution.violation < 1e-10
    np.testing.assert_allclose(solution(X), solution.fitted, atol=1e-9)


def test_labels_of_any_kind():
    numbers = svmpath.trace(X, Y, loss="least_squares")
    words = svmpath.trace(X, np.where(Y == 1, "yes", "no"), loss="least_squares")
    assert_same(words(1.0).alpha, numbers(1.0).alpha)
    assert list(words.classes) == ["no", "yes"]


def test_task_is_inferred_and_can_be_decided():
    assert svmpath.trace(X, X[:, 0], loss="least_squares").problem.task == "regression"
    assert svmpath.trace(X, Y, loss="least_squares").problem.task == "classification"
    counts = np.arange(30)
    assert svmpath.trace(X, counts, loss="least_squares", task="regression").problem.task == "regression"


def test_class_weights_multiply_sample_weights():
    s = RNG.exponential(size=30)
    options = {"loss": "least_squares", "gamma": 0.5}  # "scale" does not look at class weights
    by_class = svmpath.trace(X, Y, sample_weight=s, class_weight={0: 2.0, 1: 0.5}, **options)(1.0)
    by_sample = svmpath.trace(X, Y, sample_weight=s * np.where(Y == 0, 2.0, 0.5), **options)(1.0)
    assert_same(by_class.alpha, by_sample.alpha)
    balanced = svmpath.trace(X, Y, loss="least_squares", class_weight="balanced").problem.s
    np.testing.assert_allclose(balanced[Y == 0].sum(), balanced[Y == 1].sum())


def test_random_state_decides_the_landmarks():
    first, again, other = (
        svmpath.trace(X, Y, loss="least_squares", rank=5, random_state=r)(1.0).alpha for r in (0, 0, 1)
    )
    assert_same(first, again)
    assert np.abs(first - other).max() > 1e-6


def test_check_raises_where_the_path_is_not_optimal(monkeypatch):
    path = svmpath.trace(X, Y, loss="least_squares", span=(1e-2, 1e2))
    path.check(1e-9)
    right = LeastSquares.solve_closed

    def off(self, problem, spectrum, C):
        solution = right(self, problem, spectrum, C)
        return dataclasses.replace(solution, b=solution.b + 1e-6) if C == 1e2 else solution

    monkeypatch.setattr(LeastSquares, "solve_closed", off)
    with pytest.raises(svmpath.PathError, match=r"not optimal at C = 100: violation 1.00e-06"):
        path.check(1e-9)
    path.check(1e-5)


def test_the_default_path_checks():
    svmpath.trace(X, Y, loss="least_squares").check()
    svmpath.trace(X, Y, loss="least_squares", rank=10, random_state=0).check()


def test_rounding_is_let_pass_within_limits():
    svmpath.trace(100 * X, Y, loss="least_squares", kernel="linear", span=(1e-3, 1e3)).check()
    with pytest.raises(svmpath.PathError, match="too few digits at C"):
        svmpath.trace(100 * X, Y, loss="least_squares", kernel="linear", span=(1e-3, 1e6)).check()


def test_a_path_pickles_as_what_it_is_made_of():
    path = svmpath.trace(X, Y, loss="least_squares")
    alpha = path(0.7).alpha
    text = pickle.dumps(path)
    assert len(text) < 5000
    np.testing.assert_allclose(pickle.loads(text)(0.7).alpha, alpha, atol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(path(0.7)))(X), path(0.7)(X), atol=1e-12)


NAN = X.copy()
NAN[3, 1] = np.nan


@pytest.mark.parametrize(
    ("data", "target", "options", "message"),
    [
        (NAN, Y, {}, "NaN"),
        (X, np.where(Y == 1, np.nan, 0.0), {}, "NaN"),
        (X, np.zeros(30), {}, "only one class"),
        (X, np.arange(30) % 3, {}, "y has 3: use PathSVC"),
        (X, Y[:-1], {}, "inconsistent numbers of samples"),
        (X[0], Y, {}, "2D array"),
        (X, Y, {"loss": "hinges"}, "loss must be one of .* got 'hinges'. Did you mean 'hinge'"),
        (X, Y, {"task": "ranking"}, "task must be"),
        (X, Y, {"task": "clasification"}, "task must be one of .*, or None; .* Did you mean 'classification'"),
        (X, Y, {"gamma": "scal"}, "gamma must be one of 'scale', 'auto', or a positive number; .* mean 'scale'"),
        (X, Y, {"span": (1.0, 1.0)}, "two different positive numbers"),
        (X, Y, {"span": (0.0, 1.0)}, "two different positive numbers"),
        (X, Y, {"span": 3.0}, "pair of numbers"),
        (X, Y, {"gamma": [0.1, 1.0]}, r"gamma must be a positive number, 'scale' or 'auto', got \[0.1, 1.0\]"),
        (X, Y, {"kernel": "poly", "coef0": [0.0, 1.0]}, r"coef0 must be a finite number, got \[0.0, 1.0\]"),
        (X, Y, {"kernel": "poly", "degree": [2, 3]}, r"degree .* must be a whole number >= 1, got \[2, 3\]"),
        (X, X[:, 0], {"epsilon": [0.1, 1.0]}, r"epsilon must be a number >= 0, got \[0.1, 1.0\]"),
        (X, Y, {"over": "gamma", "C": [0.1, 1.0]}, r"C must be a positive number, got \[0.1, 1.0\]"),
        (X, Y, {"loss": "nu", "over": "C"}, "With loss='nu' over must be 'nu'; got 'C'"),
        (X, Y, {"over": "nu"}, "over must be one of 'C', 'gamma'; got 'nu'"),
        (X, Y, {"over": "c"}, "Did you mean 'C'"),
        (X, Y, {"over": "gamma", "kernel": "linear"}, "over must be 'C'; got 'gamma'"),
        (X, Y, {"over": "coef0", "kernel": "poly"}, r"give span=\(first, last\)"),
        (X, Y, {"over": "gamma", "span": (0.1, 1.0), "C": -1.0}, "C must be a positive number"),
        (X, Y, {"over": "length_scale", "kernel": gp.RBF(), "span": (-1.0, 2.0)}, "two different positive numbers"),
        (X, Y, {"sample_weight": -np.ones(30)}, "[Nn]egative"),
        (X, Y, {"sample_weight": np.zeros(30)}, "weight|zero"),
        (X, X[:, 0], {"class_weight": "balanced"}, "class_weight works for classification only"),
        (X, Y, {"kernel": "precomputed"}, "square"),
        (X @ X.T + np.tri(30), Y, {"kernel": "precomputed"}, "symmetric"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(data, target, options, message):
    with pytest.raises(ValueError, match=message):
        svmpath.trace(data, target, **options)


@pytest.mark.parametrize("value", [1e-4, 1e5, np.nan, np.inf, -1.0])
def test_a_value_outside_the_span_is_refused(value):
    with pytest.raises(ValueError, match="outside the span"):
        svmpath.trace(X, Y, loss="least_squares", span=(1e-3, 1e4))(value)


@pytest.mark.parametrize("new", [np.ones((3, 5)), np.ones(2), csr_matrix(np.ones((3, 1)))])
def test_new_rows_of_another_width_are_refused(new):
    with pytest.raises(ValueError, match=r"shape \(m, 2\)"):
        svmpath.trace(X, Y, loss="least_squares")(1.0)(new)

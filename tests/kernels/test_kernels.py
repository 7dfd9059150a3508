"""Kernels against scikit-learn, and their derivatives against differences."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise
from sklearn.svm import SVC
from typer.main import get_command

import svmpath
from svmpath.kernels import (
    ARD,
    RBF,
    FunctionKernel,
    GPKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    gamma_value,
    make_kernel,
    squared_distances,
)
from svmpath.kernels import KERNELS as NAMED
from svmpath.kernels.base import SimpleKernel, pick
from svmpath.parameters import Parameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(15, 4))
Z = RNG.normal(size=(7, 4))

KERNELS = {
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.2),
    "linear": Linear(),
    "poly": Polynomial(0.5, 0.7, 4),
    "sigmoid": Sigmoid(0.1, -0.2),
    "sum": RBF(0.3) + Polynomial(0.5, 0.7, 2),
    "product": RBF(0.3) * Laplacian(0.1),
    "scaled": 2.5 * RBF(0.3),
    "nested": (2.0 * RBF(0.3) + Linear()) * Laplacian(0.4),
    "function": FunctionKernel(lambda A, B, a, p: (A @ B.T + a) ** 2 * p, {"a": 1.3, "p": 0.4}),
    "gp": GPKernel(gp.ConstantKernel(2.0) * gp.Matern(1.4, nu=1.5) + gp.RationalQuadratic(1.1, 0.8)),
    "ard": ARD([0.3, 0.01, 1.2, 0.05]),
    "gp_ard": GPKernel(gp.RBF([0.5, 1.0, 2.0, 3.0])),
}
SKLEARN = {
    "rbf": lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.3),
    "laplacian": lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.2),
    "linear": pairwise.linear_kernel,
    "poly": lambda A, B: pairwise.polynomial_kernel(A, B, degree=4, gamma=0.5, coef0=0.7),
    "sigmoid": lambda A, B: pairwise.sigmoid_kernel(A, B, gamma=0.1, coef0=-0.2),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_values_equal_scikit_learn(name):
    np.testing.assert_allclose(KERNELS[name](X, Z), SKLEARN[name](X, Z), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_square_cross_rows_and_diagonal_agree(name):
    kernel = KERNELS[name]
    K = kernel(X)
    np.testing.assert_allclose(K, kernel(X, X.copy()), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(kernel(X, X, np.array([3, 1])), K[:, [3, 1]], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_derivative_by_every_parameter_equals_differences(name):
    kernel = KERNELS[name]
    for parameter, value in kernel.parameters.items():
        h = 1e-5 * max(abs(value), 0.1)
        slow = (kernel.at(parameter, value + h)(X, Z) - kernel.at(parameter, value - h)(X, Z)) / (2 * h)
        np.testing.assert_allclose(kernel.derivative(parameter, X, Z), slow, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear", "poly", "sigmoid", "sum", "product", "scaled", "ard"])
def test_sparse_rows_give_the_same_values(name):
    sparse = X * (RNG.random(X.shape) < 0.4)
    kernel = KERNELS[name]
    for A, B in ((csr_matrix(sparse), None), (csr_matrix(sparse), csr_matrix(Z)), (csr_matrix(sparse), Z)):
        K = kernel(A, B)
        assert isinstance(K, np.ndarray)
        np.testing.assert_allclose(K, kernel(sparse, None if B is None else Z), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(csr_matrix(sparse)), kernel.diag(sparse), rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_a_gradient_by_values_becomes_one_by_parameters(name):
    kernel, W = KERNELS[name], RNG.normal(size=(len(X), len(Z)))
    slow = [(W * kernel.derivative(parameter, X, Z)).sum() for parameter in kernel.parameters]
    np.testing.assert_allclose(kernel.parameter_gradient(W, kernel.compare(X, Z)), slow, rtol=1e-10, atol=1e-12)
    far = kernel.parameter_gradient(W, kernel.compare(X + 1e5, Z + 1e5)) if name == "ard" else slow
    np.testing.assert_allclose(far, slow, rtol=1e-6, atol=1e-9)


def test_ard_with_equal_gammas_is_rbf():
    np.testing.assert_allclose(ARD([0.3] * 4)(X, Z), RBF(0.3)(X, Z), rtol=1e-12)
    assert repr(ARD([0.3, 0.25])) == "ARD([0.3, 0.25])"
    assert repr(ARD(np.ones(40))) == "ARD([1, 1, 1, 1, 1, 1, ... 40 in all])"
    assert ARD([0.3, 0.25]) == ARD(np.array([0.3, 0.25]))


def test_compound_kernels_are_what_they_say():
    a, b = RBF(0.3), Polynomial(0.5, 0.7, 2)
    np.testing.assert_allclose((a + b)(X, Z), a(X, Z) + b(X, Z))
    np.testing.assert_allclose((a * b)(X, Z), a(X, Z) * b(X, Z))
    np.testing.assert_allclose((3 * a)(X, Z), 3 * a(X, Z))
    assert (a + b).psd is True
    assert (a + Sigmoid()).psd is None
    assert (-1.0 * a).psd is None


def test_parameter_names_resolve_by_their_last_part_where_unique():
    kernel = RBF(0.3) + 2.0 * Polynomial(0.5, 0.7)
    assert kernel.resolve("coef0") == "k2__kernel__coef0"
    assert kernel.at("coef0", 9.0).parameters["k2__kernel__coef0"] == 9.0
    with pytest.raises(ValueError, match=r"'gamma' is ambiguous.*k1__gamma, k2__kernel__gamma"):
        kernel.resolve("gamma")
    with pytest.raises(ValueError, match="'nu' is unknown"):
        kernel.resolve("nu")


@pytest.mark.parametrize("gamma", ["scale", "auto"])
@pytest.mark.parametrize("data", [X, csr_matrix(X * (X > 0)), np.ones((5, 3))], ids=["dense", "sparse", "constant"])
def test_gamma_words_mean_what_they_mean_in_scikit_learn(gamma, data):
    y = np.arange(data.shape[0]) % 2
    peer = SVC(gamma=gamma).fit(data, y)
    np.testing.assert_allclose(gamma_value(gamma, data), peer._gamma, rtol=1e-12)


@pytest.mark.parametrize("data", [X, csr_matrix(X * (X > 0)), X + 1e6], ids=["dense", "sparse", "far away"])
def test_the_variance_of_scale_is_weighted(data):
    w = np.arange(15) % 4  # with zeros
    again = data[np.repeat(np.arange(15), w)]
    expected = gamma_value("scale", again)  # in a variance a weight of two is a row given twice
    for factor in (1.0, 1e-3, 1e3):
        assert gamma_value("scale", data, factor * w) == pytest.approx(expected, rel=1e-9)
    assert abs(gamma_value("scale", data) / expected - 1) > 1e-2
    assert gamma_value("scale", data, np.full(15, 0.1)) == gamma_value("scale", data)  # equal weights are none
    assert gamma_value("scale", data, (w > 0) * 0.1) == gamma_value("scale", data[w > 0])
    assert make_kernel("rbf", X=data, sample_weight=w * 2.0).gamma == pytest.approx(expected, rel=1e-9)
    assert gamma_value("auto", data, 1.0 * w) == gamma_value("auto", data)


def test_trace_weighs_the_variance_by_samples_and_not_by_classes():
    w, y = 1.0 + np.arange(15) % 4, np.arange(15) % 2
    for options in ({"gamma": "scale", "span": (0.1, 1.0)}, {"gamma": None, "over": "gamma"}):
        path = svmpath.trace(X, y, loss="hinge", sample_weight=1e-3 * w, class_weight={0: 1.0, 1: 9.0}, **options)
        assert path.gram.kernel.gamma == pytest.approx(gamma_value("scale", X, w), rel=1e-12)
    assert np.sqrt(path.span[0] * path.span[1]) == pytest.approx(gamma_value("scale", X, w), rel=1e-12)
    class_only = svmpath.trace(X, y, loss="hinge", class_weight="balanced", span=(0.1, 1.0))
    assert class_only.gram.kernel.gamma == gamma_value("scale", X)


def test_far_away_origin_loses_no_digits():
    np.testing.assert_allclose(RBF(0.3)(X + 1e6, Z + 1e6), RBF(0.3)(X, Z), rtol=1e-8)


def test_declared_indefinite():
    assert Sigmoid().psd is False
    assert Polynomial(coef0=-1.0).psd is False
    assert RBF().psd is True
    assert Precomputed().psd is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_kernel("rfb"), r"kernel must be one of 'linear', 'rbf', .*; got 'rfb'\. Did you mean 'rbf'\?"),
        (lambda: make_kernel(3), "kernel must be one of .*, or a kernel object or function; got 3"),
        (lambda: make_kernel("RBF"), "Did you mean 'rbf'"),
        (lambda: make_kernel(RBF), "kernel must be one of"),
        (lambda: RBF().resolve("gama"), "'gama' is unknown.*Did you mean 'gamma'"),
        (lambda: RBF().parameter("nu"), "'nu' is unknown"),
        (
            lambda: FunctionKernel(lambda A, B, a: A @ B.T + a, {"a": 1.0}, (Parameter("b"),)),
            "A declared parameter must be 'a'; got 'b'",
        ),
        (lambda: make_kernel("rbf", gamma=-1.0), "gamma must be a positive number"),
        (lambda: make_kernel("rbf", gamma="big"), "gamma must be one of 'scale', 'auto', or a positive number"),
        (lambda: make_kernel("rbf"), "needs the data X"),
        (lambda: make_kernel("rbf", gamma=[1.0, 2.0]), r"gamma must be a positive number, .* got \[1.0, 2.0\]"),
        (lambda: make_kernel(RBF(1.0) + RBF(2.0), gamma=1.0), "'gamma' is ambiguous"),
        (lambda: make_kernel(ARD([0.1, 0.2]), gamma=1.0), "is a vector"),
        (lambda: make_kernel("poly", gamma=1.0, coef0=[0.0, 1.0]), r"coef0 must be a finite number, got \[0.0, 1.0\]"),
        (lambda: make_kernel("poly", gamma=1.0, coef0=np.array([0.0, 1.0])), "coef0 must be a finite number"),
        (lambda: make_kernel("poly", gamma=1.0, coef0="1.0"), "coef0 must be a finite number, got '1.0'"),
        (lambda: make_kernel("poly", gamma=1.0, coef0=None), "coef0 must be a finite number, got None"),
        (lambda: make_kernel("poly", gamma=1.0, coef0=np.inf), "coef0 must be a finite number, got inf"),
        (lambda: make_kernel("poly", gamma=1.0, degree=[2, 3]), r"whole number >= 1, got \[2, 3\]"),
        (lambda: Polynomial(degree=2.5), "whole number"),
        (lambda: Polynomial(degree=np.nan), "whole number"),
        (lambda: Polynomial(degree="2"), "whole number >= 1, got '2'"),
        (lambda: FunctionKernel(lambda A, B: A)(X, Z), r"must return a matrix of shape \(15, 7\)"),
        (lambda: GPKernel(gp.RBF() + gp.WhiteKernel()), "leave the WhiteKernel out"),
        (lambda: Linear().derivative("gamma", X), "'gamma' is unknown"),
        (lambda: Precomputed().at("gamma", 1.0), "has no parameter"),
        (lambda: ARD([0.1, 0.2]).at("gamma", 1.0), "is a vector"),
        (lambda: ARD([0.1, -0.2]), "one number >= 0 per feature"),
        (lambda: ARD([]), "one number >= 0 per feature"),
        (lambda: ARD([0.1, 0.2])(X), "2 gammas and the data have 4 columns"),
        (lambda: KERNELS["gp_ard"].derivative("length_scale", X), "is a vector"),
    ],
)
def test_wrong_kernels_are_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_gamma_given_beside_a_kernel_object_sets_its_gamma():
    assert make_kernel(2.0 * RBF(1.0), gamma=0.25).parameters == {"scale": 2.0, "kernel__gamma": 0.25}


@pytest.mark.parametrize("gamma", [None, "scale", "auto", 0.25])
@pytest.mark.parametrize("kernel", [Linear(), GPKernel(gp.RBF(2.0)), FunctionKernel(lambda A, B: A @ B.T)])
def test_a_kernel_without_gamma_ignores_it_as_in_scikit_learn(kernel, gamma):
    assert make_kernel(kernel, gamma=gamma, X=X) == kernel


@pytest.mark.parametrize("form", [csr_matrix, csr_array])
def test_a_function_is_given_sparse_rows_as_they_are_and_may_return_a_sparse_matrix(form):
    seen = []

    def product(A, B):
        seen.append((type(A), type(B)))
        return A @ B.T

    kernel = make_kernel(product)
    np.testing.assert_allclose(kernel(form(X), form(Z)), X @ Z.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(form(X)), (X**2).sum(axis=1), rtol=1e-12)
    assert set(seen) == {(form, form)}


@pytest.mark.parametrize("name", KERNELS)
def test_every_parameter_is_declared_in_its_order(name):
    kernel = KERNELS[name]
    declared = kernel.declare()
    assert [parameter.name for parameter in declared] == list(kernel.parameters)
    for parameter in declared:
        assert kernel.parameter(parameter.name) == parameter
        assert kernel.at(parameter.name, 0.37).parameters[parameter.name] == pytest.approx(0.37, rel=1e-15)


def test_parameters_say_their_range_and_their_scale():
    assert Polynomial().parameter("gamma") == Parameter("gamma", "positive", log=True)
    assert Polynomial().parameter("coef0") == Parameter("coef0", "any", log=False)
    nested = RBF(0.3) + 2.0 * Sigmoid(0.5, 0.7)
    assert nested.parameter("coef0") == Parameter("k2__kernel__coef0", "any", log=False)
    assert nested.parameter("scale") == Parameter("k2__scale")
    assert ARD([1.0, 2.0]).parameter("gamma[1]") == Parameter("gamma[1]", "not negative")
    shift = Parameter("shift", "any", log=False)
    kernel = FunctionKernel(lambda A, B, width, shift: A @ B.T / width + shift, {"width": 1.0, "shift": 0.0}, (shift,))
    assert kernel.declare() == (Parameter("width"), shift)


def test_a_path_takes_its_range_from_the_declaration():
    y = np.arange(15) % 2
    shift = Parameter("shift", "any", log=False)

    def wave(A, B, width, shift):
        return np.exp(-(((A @ B.T) / width + shift) ** 2))

    kernel = FunctionKernel(wave, {"width": 1.0, "shift": 0.5}, (shift,))
    options = {"kernel": kernel, "loss": "least_squares", "rank": 5, "landmarks": "uniform"}
    assert svmpath.trace(X, y, over="shift", span=(-1.0, 1.0), **options).span == (-1.0, 1.0)
    with pytest.raises(ValueError, match="two different positive numbers"):
        svmpath.trace(X, y, over="width", span=(-1.0, 1.0), **options)
    walks = [
        svmpath.trace(X, y, loss="hinge", kernel="poly", coef0=1.0, gamma=0.5, over=over, span=(0.5, 1.0)).axis.is_log
        for over in ("gamma", "coef0")
    ]
    assert walks == [True, False]


def test_an_ard_path_may_begin_where_a_feature_is_left_out():
    y = np.where(X[:, 0] > 0, 1, -1)
    path = svmpath.trace(X, y, loss="hinge", kernel=ARD([0.3, 0.2, 0.1, 0.4]), over="gamma[1]", span=(0.0, 1.0))
    first = svmpath.trace(X, y, loss="hinge", kernel=ARD([0.3, 0.0, 0.1, 0.4]))(1.0)
    np.testing.assert_allclose(path(0.0)(Z), first(Z), atol=1e-8)
    path.check(1e-8)


@dataclass(frozen=True)
class Cauchy(SimpleKernel):
    """1 / (1 + gamma |x - z|^2): a new kernel, as the recipe in CONTRIBUTING.md has it."""

    gamma: float = 1.0
    declared = (Parameter("gamma"),)

    def compare(self, X, Z=None, rows=None):
        return squared_distances(X, None if Z is None else pick(Z, rows))

    def evaluate(self, S):
        return 1.0 / (1.0 + self.gamma * S)

    def derive(self, S, name):
        return -S * self.evaluate(S) ** 2

    def diag(self, X):
        return np.ones(X.shape[0])


def test_a_class_and_a_row_in_the_table_are_a_kernel(monkeypatch):
    monkeypatch.setitem(NAMED, "cauchy", Cauchy)
    assert make_kernel("cauchy", gamma=0.5) == Cauchy(0.5)
    assert make_kernel("cauchy", X=X).gamma == gamma_value("scale", X)
    with pytest.raises(ValueError, match=r"'cauchy', or a kernel object.*Did you mean 'cauchy'\?"):
        make_kernel("couchy")
    y = np.where(X[:, 0] > 0, 1, -1)
    path = svmpath.trace(X, y, loss="hinge", kernel="cauchy", over="gamma", span=(0.1, 1.0))
    path.check(1e-8)
    model = svmpath.PathSVC(kernel="cauchy").fit(X, y)
    assert model.kernel_ == Cauchy(model.gamma_)


def test_the_help_of_the_command_line_names_every_kernel_of_a_table():
    from svmpath import cli

    tune = get_command(cli.app).commands["tune"]
    text = next(option.help for option in tune.params if option.name == "kernel")
    assert [name for name in NAMED if name not in text] == ["precomputed"]  # which is no table of features

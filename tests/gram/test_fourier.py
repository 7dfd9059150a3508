"""Random Fourier features: against the kernels they stand for, and machines on them against slow twins."""

import pickle

import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp

import svmpath
from svmpath import PathSVC, PathSVR, Range, criteria
from svmpath.gram import LowRankGram, Nystroem, RandomFourier, make_gram
from svmpath.gram.fourier import FourierFeatures
from svmpath.kernels import ARD, RBF, FunctionKernel, GPKernel, Laplacian, Linear, Polynomial, Precomputed
from tests import reference
from tests.rounding import assert_same
from tests.speed import first_quick

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NEW = RNG.normal(size=(9, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0, 1.0, -1.0)
KERNELS = {
    "rbf": RBF(0.4),
    "laplacian": Laplacian(0.3),
    "ard": ARD([0.4, 0.0, 1.5]),
    "gp rbf": GPKernel(gp.RBF(1.3)),
    "gp ard": GPKernel(gp.RBF([0.7, 1.3, 3.0])),
    "matern": GPKernel(gp.Matern(1.2, nu=1.5)),
    "exponential": GPKernel(gp.Matern([1.2, 0.7, 2.0], nu=0.5)),
    "smooth matern": GPKernel(gp.Matern(1.2, nu=np.inf)),
}


def approximate(kernel, rank, seed=0, rows=X):
    Z = make_gram(rows, kernel, rank=RandomFourier(rank), seed=seed).Z
    return Z @ Z.T


@first_quick(2)
@pytest.mark.parametrize("name", KERNELS)
def test_the_mean_over_seeds_is_the_kernel_with_the_variance_of_the_theory(name):
    kernel, pairs, seeds = KERNELS[name], 20, 400
    K = np.array([approximate(kernel, pairs, seed) for seed in range(seeds)])
    exact = kernel(X)
    # Of one wave: E cos^2 - k^2, and cos^2 is half of 1 + the wave of twice the difference.
    variance = np.maximum((1.0 + kernel(2.0 * X) - 2.0 * exact**2) / pairs, 0.0)
    deviations = (K.mean(axis=0) - exact) / np.sqrt(variance / seeds + 1e-20)
    assert np.abs(deviations[variance > 1e-12]).max() < 5.5  # 1770 pairs
    np.testing.assert_allclose(K.var(axis=0).sum(), variance.sum(), rtol=0.1)


@first_quick(2)
@pytest.mark.parametrize("name", KERNELS)
def test_the_error_falls_with_the_root_of_the_rank(name):
    exact = KERNELS[name](X)
    errors = [
        np.mean([np.linalg.norm(approximate(KERNELS[name], rank, seed) - exact) for seed in range(10)])
        for rank in (100, 1600)
    ]
    assert 3.0 < errors[0] / errors[1] < 5.0  # 4 in theory


@pytest.mark.parametrize("name", KERNELS)
def test_the_diagonal_is_exact_and_new_rows_have_the_same_features(name):
    gram = make_gram(X, KERNELS[name], rank=RandomFourier(50), seed=3)
    assert isinstance(gram, LowRankGram)
    assert gram.rank == 50
    assert gram.entries == 50 * len(X)
    np.testing.assert_allclose(gram.diag, 1.0, atol=1e-14)
    np.testing.assert_allclose(gram.features(X[:7]), gram.Z[:7], atol=1e-12)
    np.testing.assert_allclose(gram.cross(NEW), gram.features(NEW) @ gram.Z.T, atol=1e-14)
    again = pickle.loads(pickle.dumps(gram))
    np.testing.assert_allclose(again.Z, gram.Z, atol=1e-14)


@pytest.mark.parametrize(
    ("kernel", "name", "scale"),
    [
        (RBF(0.4), "gamma", lambda ratio: np.sqrt(ratio)),
        (Laplacian(0.4), "gamma", lambda ratio: ratio),
        (GPKernel(gp.Matern(0.4, nu=1.5)), "length_scale", lambda ratio: 1.0 / ratio),
    ],
)
def test_over_a_kernel_parameter_the_directions_stay(kernel, name, scale):
    gram = make_gram(X, kernel, rank=RandomFourier(40), seed=5)
    moved = gram.at(name, 0.8)
    assert moved.kernel == kernel.at(name, 0.8)
    np.testing.assert_allclose(moved.features.W, scale(2.0) * gram.features.W, rtol=1e-14)
    other = make_gram(X, kernel, rank=RandomFourier(40), seed=6)
    assert np.abs(other.features.W - gram.features.W).max() > 0.1


def test_an_ard_gamma_moves_its_own_feature_only():
    gram = make_gram(X, ARD([0.4, 0.2, 1.5]), rank=RandomFourier(40))
    moved = gram.at("gamma[1]", 0.8).features.W
    np.testing.assert_allclose(moved, gram.features.W * np.array([[1.0], [2.0], [1.0]]), rtol=1e-14)


def test_the_residual_is_the_relative_frobenius_error():
    gram = make_gram(X, RBF(0.4), rank=RandomFourier(100))
    exact = RBF(0.4)(X)
    expected = np.linalg.norm(exact - gram.Z @ gram.Z.T) / np.linalg.norm(exact)
    np.testing.assert_allclose(gram.residual, expected, rtol=1e-10)
    part = gram.take(np.arange(0, 60, 2))
    exact = RBF(0.4)(X[::2])
    expected = np.linalg.norm(exact - part.Z @ part.Z.T) / np.linalg.norm(exact)
    np.testing.assert_allclose(part.residual, expected, rtol=1e-10)
    assert svmpath.trace(X, Y, loss="least_squares", gamma=0.4, rank=RandomFourier(2000)).residual < 0.5 * gram.residual


def test_with_many_rows_the_residual_is_estimated_from_some():
    rows = np.random.default_rng(1).normal(size=(1500, 3))
    gram = make_gram(rows, RBF(0.4), rank=RandomFourier(100))
    exact = RBF(0.4)(rows)
    expected = np.linalg.norm(exact - gram.Z @ gram.Z.T) / np.linalg.norm(exact)
    np.testing.assert_allclose(gram.residual, expected, rtol=0.1)


def test_one_row_has_no_pairs():
    assert make_gram(X[:1], RBF(0.4), rank=RandomFourier(10)).residual == 0.0


def test_sparse_and_single_precision_rows_have_the_same_features():
    rows = (X * (RNG.random(X.shape) < 0.5)).astype(np.float32)
    grams = [make_gram(A, RBF(0.4), rank=RandomFourier(50)) for A in (rows, rows.astype(float), csr_array(rows))]
    for gram in grams:
        assert type(gram.Z) is np.ndarray
        assert gram.Z.dtype == np.float64
        np.testing.assert_allclose(gram.Z, grams[1].Z, atol=1e-12)
    paths = [
        svmpath.trace(A, Y, loss="least_squares", gamma=0.4, rank=RandomFourier(50), random_state=0)
        for A in (rows, csr_array(rows))
    ]
    np.testing.assert_allclose(paths[0](1.0).alpha, paths[1](1.0).alpha, atol=1e-9)


def test_copies_have_the_same_features_to_the_last_bit():
    rows = np.vstack([X, X[::-1], X[:5]])
    gram = make_gram(rows, Laplacian(0.4), rank=RandomFourier(50))
    which = np.concatenate([np.arange(60), np.arange(60)[::-1], np.arange(5)])
    first = np.array([np.flatnonzero(which == k)[0] for k in which])
    assert np.array_equal(gram.Z, gram.Z[first])


NONE = {
    "linear": Linear(),
    "poly": Polynomial(),
    "sum": RBF(1.0) + Linear(),
    "multiple": 2.0 * RBF(1.0),
    "function": FunctionKernel(lambda A, B: A @ B.T),
    "gp": GPKernel(gp.RationalQuadratic()),
    "precomputed": Precomputed(),
}


@pytest.mark.parametrize("name", NONE)
def test_a_kernel_without_a_law_of_frequencies_is_refused_at_once(name):
    with pytest.raises(ValueError, match=r"RandomFourier works for the kernels rbf.*use gram\.Nystroem"):
        make_gram(X, NONE[name], rank=RandomFourier(10))


@pytest.mark.parametrize("rank", [0, 1, 7, -2, 0.5, 10.0, True, "auto", None])
def test_a_rank_that_is_not_even_is_refused(rank):
    with pytest.raises(ValueError, match=r"rank of RandomFourier must be an even whole number.*got"):
        RandomFourier(rank)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_gram(X, RBF(1.0), rank=RandomFourier(10), landmarks="uniform"), "leave landmarks out"),
        (lambda: svmpath.trace(X, Y, loss="least_squares", kernel="poly", rank=RandomFourier(10)), "use gram.Nystroem"),
        (lambda: make_gram(X, ARD([1.0]), rank=RandomFourier(10)), "1 gammas and the data have 3 columns"),
        (
            lambda: criteria.approximation_bound(
                svmpath.trace(X, Y, loss="least_squares", rank=RandomFourier(10)), 1.0
            ),
            "works for landmarks",
        ),
        (
            lambda: svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.1, 1.0), rank=RandomFourier(10))(0.5),
            "leave out rank=",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def features(gamma, rank, seed, rows=X):
    """Slow twin: the features written out, with the directions that the seed stands for."""
    G = np.random.default_rng(seed).standard_normal((rows.shape[1], rank // 2))
    phase = rows @ G * np.sqrt(2 * gamma)
    return np.hstack([np.cos(phase), np.sin(phase)]) / np.sqrt(rank // 2)


def seed_of(random_state):
    return int(np.random.RandomState(random_state).randint(2**31 - 1))


LOSSES = {
    "least_squares": {},
    "squared_hinge": {},
    "hinge": {},
    "epsilon_insensitive": {"epsilon": 0.1, "task": "regression"},
    "nu": {"over": "nu"},
}


@first_quick(2)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_equals_the_dense_path_on_the_product_of_features(loss):
    options = {"loss": loss, **LOSSES[loss]}
    path = svmpath.trace(X, Y, gamma=0.4, rank=RandomFourier(200), random_state=1, **options)
    Z = features(0.4, 200, seed_of(1))
    twin = svmpath.trace(Z @ Z.T, Y, kernel="precomputed", **options)
    assert path.span == twin.span
    for value in np.geomspace(*path.span, 7)[1:-1]:
        np.testing.assert_allclose(path(value).fitted, twin(value).fitted, atol=2e-7)
    value = float(np.sqrt(path.span[0] * path.span[1]))
    np.testing.assert_allclose(path(value)(X[:5]), path(value).fitted[:5], atol=1e-9)
    path.check(1e-8)


@first_quick(1)
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_a_path_over_gamma_equals_machines_on_the_same_directions_and_is_smooth(loss):
    path = svmpath.trace(X, Y, loss=loss, over="gamma", span=(0.1, 3.0), C=2.0, rank=RandomFourier(80), random_state=1)
    for gamma in (0.1, 0.7, 3.0):
        Z = features(gamma, 80, seed_of(1))
        twin = svmpath.trace(Z @ Z.T, Y, loss=loss, kernel="precomputed")(2.0)
        np.testing.assert_allclose(path(gamma).fitted, twin.fitted, atol=1e-8)

    def largest_step(count):
        f = np.array([path(value)(NEW) for value in np.geomspace(1.0, 1.3, count)])
        return np.abs(np.diff(f, axis=0)).max()

    assert 8.0 < largest_step(6) / largest_step(51) < 12.0  # a tenth of the step, a tenth of the change


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_leave_one_out_equals_plain_refits_on_the_same_features(loss):
    path = svmpath.trace(X, Y, loss=loss, gamma=0.4, rank=RandomFourier(40), random_state=1)
    Z = features(0.4, 40, seed_of(1))
    K = Z @ Z.T
    for C in (0.1, 10.0):
        f = criteria.loo(path, [C]).decisions[0]
        for i in range(0, len(Y), 7):
            s = np.ones(len(Y))
            s[i] = 0.0
            alpha, b = (reference.fit if loss == "least_squares" else reference.squared_hinge)(K, Y, s, C)[:2]
            np.testing.assert_allclose(f[i], K[i] @ alpha + b, atol=1e-7)


def test_leave_one_out_of_the_hinge_equals_plain_refits_on_the_same_features():
    path = svmpath.trace(X, Y, loss="hinge", gamma=0.4, rank=RandomFourier(200), random_state=1)
    f = criteria.loo(path, [1.0]).decisions[0]
    Z = features(0.4, 200, seed_of(1))
    for i in range(0, len(Y), 13):
        rest = np.delete(np.arange(len(Y)), i)
        twin = svmpath.trace(Z[rest], Y[rest], loss="hinge", kernel="linear")(1.0)
        np.testing.assert_allclose(f[i], twin(Z[[i]])[0], atol=1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "hinge"])
def test_a_classifier_on_random_features_fits_predicts_and_survives_cloning_and_saving(loss):
    model = PathSVC(loss=loss, rank=RandomFourier(100), gamma=[0.1, 0.5], C=[0.1, 1.0, 10.0], random_state=0)
    assert clone(model).rank == RandomFourier(100)
    assert "rank=RandomFourier(rank=100)" in repr(model)
    model = clone(model).fit(X, Y)
    assert model.score(X, Y) > 0.8
    Z, Z_new = (features(model.gamma_, 100, seed_of(0), rows) for rows in (X, NEW))
    twin = svmpath.trace(Z, Y, loss=loss, kernel="linear")(model.C_)
    np.testing.assert_allclose(model.decision_function(NEW), twin(Z_new), atol=1e-6)
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    assert {"svmpath.gram.fourier.RandomFourier", "svmpath.gram.fourier.FourierFeatures"} <= set(types)
    again = skops.io.loads(data, trusted=types)
    assert_same(again.decision_function(NEW), model.decision_function(NEW))
    assert again.rank == RandomFourier(100)


def test_a_regressor_on_random_features_searches_gamma_continuously():
    y = X[:, 0] ** 2 + X[:, 1]
    options = {"gamma": Range(0.01, 10), "search": "grid", "scoring": "squared", "random_state": 0}
    model = PathSVR(rank=RandomFourier(100), **options).fit(X, y)
    assert model.score(X, y) > 0.9
    assert isinstance(model.path_.gram.features, FourierFeatures)


def test_a_surface_and_folds_work_on_random_features():
    surface = svmpath.surface(
        X, Y, loss="squared_hinge", C=(0.1, 10.0), gamma=[0.2, 0.8], rank=RandomFourier(60), random_state=1
    )
    Z = features(0.5, 60, seed_of(1))
    twin = svmpath.trace(Z @ Z.T, Y, loss="squared_hinge", kernel="precomputed")(2.0)
    np.testing.assert_allclose(surface(2.0, 0.5).fitted, twin.fitted, atol=1e-8)
    path = svmpath.trace(X, Y, loss="squared_hinge", gamma=0.4, rank=RandomFourier(60), random_state=1)
    folds = [(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))]
    f = criteria.kfold(path, [1.0], cv=folds).decisions[0]
    Z = features(0.4, 60, seed_of(1))
    for train, test in folds:
        s = np.zeros(60)
        s[train] = 1.0
        alpha, b, _ = reference.squared_hinge(Z @ Z.T, Y, s, 1.0)
        np.testing.assert_allclose(f[test], (Z @ Z.T)[test] @ alpha + b, atol=1e-7)


def test_landmarks_of_the_same_rank_come_closer_than_random_features():
    kernel, exact = RBF(0.1), RBF(0.1)(X)
    errors = [
        np.linalg.norm(make_gram(X, kernel, rank=rank).Z @ make_gram(X, kernel, rank=rank).Z.T - exact)
        for rank in (Nystroem(30), RandomFourier(30))
    ]
    assert errors[0] < 0.1 * errors[1]

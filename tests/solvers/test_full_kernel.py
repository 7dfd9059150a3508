"""Machines on the full kernel by conjugate gradients: against dense systems, and against the exact paths."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import svmpath
from svmpath.gram import Nystroem, ProductGram, make_gram
from svmpath.gram.products import symmetric_times
from svmpath.kernels import RBF
from svmpath.progress import watched
from svmpath.solvers.full_kernel import gap_beyond, solve_full
from svmpath.solvers.pieces import SQUARED_HINGE, Pieces
from svmpath.solvers.preconditioned import FactorProducts, Preconditioner, conjugate_gradients

SQUARES = Pieces((), (2.0,), of_margin=False)
GAMMA = 0.1
DIGITS = 1e-18  # a relative gap: its root is the error of decision values


def data(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    t = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=n)
    return X, t, rng


def columns(y, rng, Cs=(0.1, 1.0, 10.0, 100.0)):
    """Values of C, some with folds left out and other weights."""
    m, n = len(Cs), len(y)
    s = np.ones((n, m))
    s[: n // 5, 1] = 0.0
    s[:, 2] = rng.choice([0.0, 0.5, 1.0, 2.0], size=n)
    return np.tile(y[:, None], (1, m)), s, np.array(Cs)


@pytest.mark.parametrize("single", [False, True], ids=["double", "refined"])
@pytest.mark.parametrize(("loss", "name"), [(SQUARED_HINGE, "squared_hinge"), (SQUARES, "least_squares")])
def test_against_exact_paths(loss, name, single):
    X, t, rng = data()
    y = np.where(t > 0, 1.0, -1.0)
    K, Z = RBF(GAMMA)(X), make_gram(X, RBF(GAMMA), rank=80).Z
    K32 = K.astype(np.float32)
    Y, s, C = columns(y, rng)

    def fast(V):
        return (K32 @ V.astype(np.float32)).astype(float) if single else K @ V

    found = solve_full(loss, Z, Y, s, C, fast, exact=lambda V: K @ V, tol=DIGITS)
    for j, value in enumerate(C):
        exact = svmpath.trace(X, y, loss=name, kernel="rbf", gamma=GAMMA, sample_weight=s[:, j])(value)
        np.testing.assert_allclose(found.f[:, j], exact.fitted, atol=1e-8)
        np.testing.assert_allclose(found.a[:, j], exact.alpha, atol=1e-6 * max(value, 1.0))
        assert found.b[j] == pytest.approx(exact.b, abs=1e-8)
    np.testing.assert_allclose(found.a.sum(axis=0), 0.0, atol=1e-9)


def test_gap_bounds_the_error():
    """The gap that is returned is that of feasible coefficients on the full kernel, and bounds the distance."""
    X, t, rng = data(200)
    y = np.where(t > 0, 1.0, -1.0)
    K, Z = RBF(GAMMA)(X), make_gram(X, RBF(GAMMA), rank=30).Z
    Y, s, C = columns(y, rng)
    for tol in (1e-1, 1e-3, 1e-6):
        found = solve_full(SQUARED_HINGE, Z, Y, s, C, lambda V: K @ V, tol=tol)
        assert np.all(found.gap <= tol)
        for j, value in enumerate(C):
            exact = svmpath.trace(X, y, kernel="rbf", gamma=GAMMA, sample_weight=s[:, j])(value)
            a, f, weight = found.a[:, j], found.f[:, j], s[:, j]
            primal = value * weight @ np.maximum(1 - y * f, 0) ** 2 + 0.5 * a @ K @ a
            some = weight > 0
            dual = y @ a - 0.5 * a @ K @ a - np.sum(a[some] ** 2 / (4 * value * weight[some]))
            assert np.all(y * a >= 0)
            assert np.all(a[~some] == 0)
            assert found.gap[j] == pytest.approx((primal - dual) / primal, rel=1e-5, abs=1e-12)
            assert (a - exact.alpha) @ K @ (a - exact.alpha) <= (primal - dual) * (1 + 1e-6) + 1e-12


def test_start_regression_and_classes():
    """Targets may differ between columns, as those of one-vs-rest classes, and a start saves products."""
    X, t, _ = data(150)
    K, Z = RBF(GAMMA)(X), make_gram(X, RBF(GAMMA), rank=30).Z
    Y = np.stack([t, t**2, np.cos(t)], axis=1)
    C, s = np.array([1.0, 2.0, 3.0]), np.ones(Y.shape)
    found = solve_full(SQUARES, Z, Y, s, C, lambda V: K @ V, tol=1e-12)
    for j in range(3):
        exact = svmpath.trace(X, Y[:, j], loss="least_squares", kernel="rbf", gamma=GAMMA, task="regression")(C[j])
        np.testing.assert_allclose(found.f[:, j], exact.fitted, atol=1e-5)
    again = solve_full(SQUARES, Z, Y, s, C, lambda V: K @ V, tol=1e-12, start=found.a)
    assert again.steps == 0
    assert again.products == 1


def test_single_class_and_no_samples_left_of_the_margin():
    X, t, _ = data(60)
    K, Z = RBF(GAMMA)(X), make_gram(X, RBF(GAMMA), rank=20).Z
    y = np.where(t > 0, 1.0, -1.0)
    s = np.stack([y > 0, np.ones(60)], axis=1).astype(float)
    start = 1e3 * np.stack([np.zeros(60), np.linalg.solve(K + 1e-9 * np.eye(60), 2 * y)], axis=1)
    Y, C = np.stack([y, y], axis=1), np.ones(2)
    found = solve_full(SQUARED_HINGE, Z, Y, s, C, lambda V: K @ V, tol=1e-12, start=start)
    assert np.all(found.a[:, 0] == 0)
    assert found.b[0] == pytest.approx(1.0)
    exact = svmpath.trace(X, y, kernel="rbf", gamma=GAMMA)(1.0)
    np.testing.assert_allclose(found.f[:, 1], exact.fitted, atol=1e-5)


def test_conjugate_gradients_against_dense_systems():
    X, _t, rng = data(120)
    K, Z = RBF(GAMMA)(X), make_gram(X, RBF(GAMMA), rank=25).Z
    d = rng.uniform(0.5, 20.0, size=(120, 3)) * (rng.random((120, 3)) < 0.7)
    target = rng.normal(size=(120, 3))
    products = FactorProducts(Z)
    products.of_columns((d > 0).astype(float))  # known before: updates must not change the result
    precondition = Preconditioner.of(Z, d, products.of_columns(d))
    start = np.zeros((120, 3)), np.zeros((120, 3))
    for _ in range(3):  # each search takes off ten digits of the gap
        found = conjugate_gradients(lambda V: K @ V, precondition, target, start, 1e-30)
        start = found.a, K @ found.a
    for j in range(3):
        E = np.flatnonzero(d[:, j])
        k = len(E)
        system = np.zeros((k + 1, k + 1))
        system[:k, :k] = K[np.ix_(E, E)] + np.diag(1 / d[E, j])
        system[:k, k] = system[k, :k] = 1.0
        exact = np.linalg.solve(system, np.append(target[E, j], 0.0))
        np.testing.assert_allclose(found.a[E, j], exact[:k], atol=1e-8)
        assert np.all(found.a[d[:, j] == 0, j] == 0)
    np.testing.assert_allclose(found.product, K @ found.a, atol=1e-9)


def test_preconditioner_is_the_inverse_of_the_low_rank_system():
    X, _, rng = data(40)
    Z = make_gram(X, RBF(GAMMA), rank=8).Z
    d = rng.uniform(0.5, 2.0, size=(40, 2)) * (rng.random((40, 2)) < 0.7)
    precondition = Preconditioner.of(Z, d, FactorProducts(Z).of_columns(d))
    R = rng.normal(size=(40, 2))
    z = precondition(R)
    for j in range(2):
        E = np.flatnonzero(d[:, j])
        rest = Z[E] @ (Z[E].T @ z[E, j]) + z[E, j] / d[E, j] - R[E, j]
        np.testing.assert_allclose(rest, rest[0], atol=1e-10)  # beta 1
    np.testing.assert_allclose(z.sum(axis=0), 0.0, atol=1e-12)


def test_a_better_factor_saves_products():
    X, t, _ = data()
    K, y = RBF(GAMMA)(X), np.where(t > 0, 1.0, -1.0)[:, None]
    counts = []
    for rank in (5, 40, 150):
        Z = make_gram(X, RBF(GAMMA), rank=rank).Z
        counts.append(solve_full(SQUARES, Z, y, np.ones(y.shape), np.ones(1), lambda V: K @ V, tol=1e-6).products)
    assert counts[0] > counts[1] > counts[2]


def test_products():
    X, _, rng = data(90)
    gram = ProductGram(RBF(GAMMA), X, Nystroem(20))
    V, K = rng.normal(size=(90, 3)), RBF(GAMMA)(X)
    assert gram.is_held
    assert gram.Z is None
    np.testing.assert_allclose(gram.fast(V), K @ V, atol=1e-4)
    np.testing.assert_allclose(gram.matmul(V), K @ V, atol=1e-11)
    np.testing.assert_allclose(gram.block([3, 5], slice(7)), K[[3, 5], :7], atol=1e-14)
    np.testing.assert_allclose(gram.diag, np.diag(K))
    other = gram.at("gamma", 0.5)  # the matrix that is held is now that of the other kernel
    np.testing.assert_allclose(other.fast(V), RBF(0.5)(X) @ V, atol=1e-4)
    np.testing.assert_allclose(gram.fast(V), K @ V, atol=1e-4)
    part = gram.take(np.arange(10, 40))
    np.testing.assert_allclose(part.fast(V[:30]), K[10:40, 10:40] @ V[:30], atol=1e-4)
    np.testing.assert_allclose(part.apply(X, V[:30]), K[:, 10:40] @ V[:30], atol=1e-11)
    assert part.apply(X, np.zeros(30)).tolist() == [0.0] * 90
    again = pickle.loads(pickle.dumps(other))
    np.testing.assert_allclose(again.matmul(V), other.matmul(V))
    with svmpath.config_context(memory_limit=8000):
        blocks = ProductGram(RBF(GAMMA), X, Nystroem(20))
        assert not blocks.is_held
        np.testing.assert_allclose(blocks.fast(V), K @ V, atol=1e-4)


@pytest.mark.parametrize("columns", [1, 3, 5, 8, 17])
def test_half_of_a_symmetric_matrix(columns, monkeypatch):
    monkeypatch.setattr("svmpath.gram.products._TILE", 7)
    rng = np.random.default_rng(0)
    A, V = rng.normal(size=(50, 50)), rng.normal(size=(50, columns))
    K = A + A.T
    for step in (1, 12, 20, 50):
        lower = [K[k : k + step, : k + step].astype(np.float32) for k in range(0, 50, step)]
        np.testing.assert_allclose(symmetric_times(lower, V), K @ V, atol=1e-4)


@pytest.mark.parametrize("loss", [SQUARES, SQUARED_HINGE], ids=["least squares", "squared hinge"])
def test_what_rounding_may_hide_of_a_gap(loss):
    X, t, rng = data(80)
    K, y = RBF(GAMMA)(X), (np.where(t > 0, 1.0, -1.0) if loss.of_margin else t)[:, None]
    s, C = rng.uniform(0.5, 2.0, size=y.shape), np.array([5.0])
    Z = make_gram(X, RBF(GAMMA), rank=9).Z
    found = solve_full(loss, Z, y, s, C, lambda V: K @ V, tol=1e-3)
    for off in (1e-6, 1e-3, 1e-1):  # by which the decision values are not known
        f = found.f + rng.uniform(-off, off, size=y.shape)
        excess = C * s * loss.excess(loss.u(y, f)[:, 0], (loss.signed(y, found.a) / (C * s))[:, 0])[:, None]
        true = C * s * loss.excess(loss.u(y, found.f)[:, 0], (loss.signed(y, found.a) / (C * s))[:, 0])[:, None]
        primal = (C * s * loss.value(loss.u(y, found.f)[:, 0])[:, None]).sum() + 0.5 * (found.a * found.f).sum()
        more = float(gap_beyond(loss, y, s, C, found, np.array([off]))[0])
        assert (excess.sum() - true.sum()) / primal <= more * (1 + 1e-9)
    assert float(gap_beyond(loss, y, s, C, found, np.array([1e-6]))[0]) < 1e-3 * found.gap[0]


def test_progress():
    X, t, _ = data(80)
    K, y = RBF(GAMMA)(X), np.where(t > 0, 1.0, -1.0)[:, None]
    seen = []
    with watched(seen.append):
        solve_full(SQUARED_HINGE, make_gram(X, RBF(GAMMA), rank=9).Z, y, np.ones(y.shape), np.ones(1), lambda V: K @ V)
    assert seen[-1].stage == "full kernel"
    assert "products" in seen[-1].doing
    counts = [int(each.doing.split()[-2]) for each in seen if "products" in each.doing]
    assert 0 <= min(np.diff(counts)) <= max(np.diff(counts)) <= 3  # also within a step

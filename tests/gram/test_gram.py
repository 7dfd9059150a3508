"""Gram matrices, whole and in low rank."""

import pickle
import tracemalloc
import warnings
from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.gaussian_process import kernels as gp

import svmpath
from svmpath import criteria
from svmpath.gram import Clipped, DenseGram, LowRankGram, Nystroem, make_gram
from svmpath.gram.landmarks import density, kmeans
from svmpath.gram.nystroem import nystroem
from svmpath.gram.pivoted_cholesky import KernelRows, _reject, search
from svmpath.kernels import RBF, FunctionKernel, GPKernel, Linear, Precomputed, Sigmoid
from tests.rounding import assert_same

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NEW = RNG.normal(size=(11, 3))
WAYS = ["rpcholesky", "greedy", "uniform", "kmeans", "density"]


@pytest.mark.parametrize("rank", [None, 40])
def test_block_matmul_cross_take_agree(rank):
    gram = make_gram(X, RBF(0.5), rank=rank)
    K = gram.block(slice(None), slice(None))
    v = RNG.normal(size=gram.n)
    np.testing.assert_allclose(gram.matmul(v), K @ v, atol=1e-12)
    np.testing.assert_allclose(gram.block(slice(None), [3, 5]), K[:, [3, 5]], atol=1e-14)
    np.testing.assert_allclose(gram.diag, np.diag(K), atol=1e-14)
    np.testing.assert_allclose(gram.cross(X), K, atol=1e-9)
    np.testing.assert_allclose(gram.apply(NEW, v), gram.cross(NEW) @ v, atol=1e-11)
    np.testing.assert_allclose(gram.apply_exact(NEW, v), RBF(0.5)(NEW, X) @ v, atol=1e-11)
    rows = np.array([7, 2, 40])
    part = gram.take(rows)
    np.testing.assert_allclose(part.block(slice(None), slice(None)), K[np.ix_(rows, rows)], atol=1e-12)
    np.testing.assert_allclose(part.cross(NEW), gram.cross(NEW)[:, rows], atol=1e-12)
    np.testing.assert_allclose(part.take([1]).cross(NEW), gram.cross(NEW)[:, [2]], atol=1e-12)


@pytest.mark.parametrize("rank", [None, 40])
def test_at_moves_the_kernel_parameter(rank):
    gram = make_gram(X, RBF(0.5), rank=rank).at("gamma", 2.0)
    fresh = make_gram(X, RBF(2.0), rank=rank)
    np.testing.assert_allclose(gram.cross(NEW), fresh.cross(NEW), atol=1e-12)
    assert gram.kernel == RBF(2.0)


@pytest.mark.parametrize("way", WAYS)
def test_residual_is_the_trace_left_out_and_falls_with_the_rank(way):
    K = RBF(0.5)(X)
    residuals = []
    for rank in (5, 20, 60):
        gram = make_gram(X, RBF(0.5), rank=rank, landmarks=way, seed=1)
        left = K - gram.Z @ gram.Z.T
        np.testing.assert_allclose(gram.residual, np.trace(left) / np.trace(K), atol=1e-10)
        assert np.linalg.eigvalsh(left).min() > -1e-9  # a Nystroem factor leaves something semi-definite
        assert gram.rank <= rank
        residuals.append(gram.residual)
    assert residuals[0] > residuals[1] > residuals[2]


# One row is there twice, so that one landmark less than rows still reaches the full rank.
TWICE = np.vstack([X, X[:1]])
FULL = {
    "rpcholesky": {"rank": len(X), "landmarks": "rpcholesky"},
    "greedy": {"rank": len(X), "landmarks": "greedy"},
    "rows": {"landmarks": np.arange(len(X))},
}


@pytest.mark.parametrize("way", FULL)
@pytest.mark.parametrize("gamma", [2.0**-15, 2.0**-3, 8.0])
def test_full_rank_equals_dense(way, gamma):
    gram = make_gram(TWICE, RBF(gamma), **FULL[way])
    assert isinstance(gram, LowRankGram)
    np.testing.assert_allclose(gram.Z @ gram.Z.T, RBF(gamma)(TWICE), atol=1e-12)
    np.testing.assert_allclose(gram.cross(NEW), RBF(gamma)(NEW, TWICE), atol=1e-9)


def test_as_many_landmarks_as_rows_are_the_matrix_itself():
    assert isinstance(make_gram(X, RBF(1.0), rank=len(X) + 5), DenseGram)
    assert isinstance(make_gram(X, RBF(1.0), rank=Nystroem(len(X), truncate=7)), LowRankGram)


@pytest.mark.parametrize("way", WAYS)
def test_a_trace_residual_is_reached(way):
    gram = make_gram(X, RBF(0.2), rank=1e-2, landmarks=way)
    assert gram.residual <= 1e-2
    assert gram.rank <= 64


def test_eigenvalues_are_dropped_by_number_and_by_size():
    whole = make_gram(X, RBF(0.2), rank=30, landmarks="uniform")
    values = np.linalg.eigvalsh(RBF(0.2)(X[_rows(whole)]))[::-1]
    assert make_gram(X, RBF(0.2), rank=Nystroem(30, "uniform", truncate=7)).rank == 7
    gram = make_gram(X, RBF(0.2), rank=Nystroem(30, "uniform", min_eigenvalue=1e-2))
    assert gram.rank == np.count_nonzero(values > 1e-2) < whole.rank
    pivots = make_gram(X, RBF(0.2), rank=Nystroem(30, truncate=7))
    assert pivots.rank == 7
    with pytest.raises(ValueError, match="Lower min_eigenvalue"):
        make_gram(X, RBF(0.2), rank=Nystroem(30, min_eigenvalue=1e9)).rank  # noqa: B018


def test_girolamis_rule_keeps_what_describes_the_density():
    rng = np.random.default_rng(0)
    sizes = (60, 40, 30)  # of clouds far apart: one eigenvector each is nearly constant there, and zero elsewhere
    rows = np.vstack([rng.normal(size=(m, 2)) * 0.3 + 20 * k for k, m in enumerate(sizes)])
    gram = make_gram(rows, RBF(0.5), rank=Nystroem(100, "uniform", truncate="girolami"))
    s, U = np.linalg.eigh(RBF(0.5)(gram.features.points))
    worth = (s > 1e-12) & (U.sum(axis=0) ** 2 > 200 / 101)
    assert gram.rank == np.count_nonzero(worth) == 3
    C = RBF(0.5)(rows, gram.features.points)
    np.testing.assert_allclose(gram.Z @ gram.Z.T, (C @ U[:, worth]) / s[worth] @ (C @ U[:, worth]).T, atol=1e-9)
    assert make_gram(np.eye(40), RBF(1e4), rank=Nystroem(20, truncate="girolami")).rank == 1  # nothing is worth it


def _rows(gram):
    points = gram.features.points
    return [int(np.flatnonzero((point == X).all(axis=1))[0]) for point in points]


def test_landmarks_can_be_given_as_rows():
    gram = make_gram(X, RBF(0.2), landmarks=[5, 1, 77])
    assert sorted(_rows(gram)) == [1, 5, 77]
    np.testing.assert_allclose(gram.block([5, 1, 77], slice(None)), RBF(0.2)(X[[5, 1, 77]], X), atol=1e-10)


def test_density_weights_cancel_unless_eigenvalues_are_dropped():
    plain, weighted = (way(X, np.arange(len(X)), 12, 0) for way in (kmeans, density))
    np.testing.assert_allclose(weighted.weights.mean(), 1.0)

    def matrix(landmarks, **options):
        Z = nystroem(RBF(0.5), X, landmarks, **options).Z
        return Z @ Z.T

    np.testing.assert_allclose(matrix(plain), matrix(weighted), atol=1e-9)
    assert np.abs(matrix(plain, truncate=4) - matrix(weighted, truncate=4)).max() > 1e-3
    # The weighted eigenproblem itself, from its definition.
    C, W, D = RBF(0.5)(X, weighted.points), RBF(0.5)(weighted.points), np.diag(np.sqrt(weighted.weights))
    s, U = np.linalg.eigh(D @ W @ D)
    Z = C @ D @ U[:, -4:] / np.sqrt(s[-4:])
    np.testing.assert_allclose(matrix(weighted, truncate=4), Z @ Z.T, atol=1e-10)


def test_proposals_are_accepted_as_if_looked_at_one_by_one():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(30, 12))
    H = A @ A.T  # of rank 12: what is proposed after that is rejected
    u = rng.random(30) * np.diag(H)
    kept, L = _reject(H.copy(), u, np.full(30, 1e-9), 30)
    slow = []
    for i in range(30):
        explained = H[i, slow] @ np.linalg.solve(H[np.ix_(slow, slow)], H[slow, i])
        if H[i, i] - explained > max(u[i], 1e-9):
            slow.append(i)
    assert kept.tolist() == slow
    assert 3 < len(slow) < 13
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, H[np.ix_(slow, slow)], atol=1e-10)
    np.testing.assert_array_equal(_reject(H.copy(), u, np.full(30, 1e-9), 3)[0], slow[:3])


@pytest.mark.slow
def test_random_pivots_in_blocks_have_the_law_of_pivots_drawn_one_by_one():
    A = np.random.default_rng(3).normal(size=(4, 4))
    K = A @ A.T

    def one_by_one(rng):
        R, pivots = K.copy(), []
        for _ in range(2):
            d = np.maximum(np.diag(R), 0.0)
            d[pivots] = 0.0
            p = rng.choice(4, p=d / d.sum())
            R = R - np.outer(R[:, p], R[p]) / R[p, p]
            pivots.append(int(p))
        return tuple(pivots)

    def blocked(rng):
        source = KernelRows(np.diag(K).copy(), np.array([2, 0, 3, 1]), lambda rows: (K, rows), Linear().part)
        return tuple(search(source, 2, 0.0, rng)[0].tolist())

    draws = 6000
    rng = np.random.default_rng(0)
    slow, fast = (Counter(draw(rng) for _ in range(draws)) for draw in (one_by_one, blocked))
    for pair in set(slow) | set(fast):
        p = slow[pair] / draws
        assert abs(p - fast[pair] / draws) < 5 * np.sqrt(2 * max(p, 1e-3) / draws)


@pytest.mark.parametrize("way", ["rpcholesky", "greedy"])
def test_duplicates_end_the_factor_at_the_number_of_distinct_rows(way):
    gram = make_gram(np.repeat(X[:9], 5, axis=0), RBF(1.0), rank=40, landmarks=way)
    assert gram.rank == 9
    assert gram.residual < 1e-13


def test_clusters_of_duplicates_are_left_out():
    gram = make_gram(np.repeat(X[:4], 5, axis=0), RBF(1.0), rank=10, landmarks="kmeans")
    assert gram.rank <= 4


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_size_n_by_n_is_formed(way):
    n = 2000
    data = np.random.default_rng(0).normal(size=(n, 2))
    largest = []

    def watched(A, B):
        largest.append(A.shape[0] * B.shape[0])
        return RBF(0.5)(A, B)

    gram = make_gram(data, FunctionKernel(watched), rank=30, landmarks=way)
    gram.apply(data, np.ones(n))
    assert max(largest) <= n * 64


@pytest.mark.parametrize("way", WAYS)
def test_the_same_seed_gives_the_same_factor(way):
    first, second = (make_gram(X, RBF(0.5), rank=10, landmarks=way, seed=3).Z for _ in range(2))
    assert_same(first, second)


def test_sparse_rows_stay_sparse_and_agree():
    data = X * (RNG.random(X.shape) < 0.5)
    for way in ("rpcholesky", "uniform", "greedy"):
        dense, sparse = (make_gram(A, RBF(0.5), rank=20, landmarks=way) for A in (data, csr_matrix(data)))
        np.testing.assert_allclose(sparse.Z @ sparse.Z.T, dense.Z @ dense.Z.T, atol=1e-8)
    assert make_gram(csr_matrix(data), RBF(0.5), rank=20, landmarks="kmeans").residual < 0.5


def test_precomputed_in_low_rank():
    K = RBF(0.5)(X)
    for way in ("rpcholesky", "greedy", "uniform"):
        gram = make_gram(K, Precomputed(), rank=60, landmarks=way)
        other = make_gram(X, RBF(0.5), rank=Nystroem(landmarks=gram.features.rows))
        np.testing.assert_allclose(gram.cross(RBF(0.5)(NEW, X)), other.cross(NEW), atol=1e-6)
    with pytest.raises(ValueError, match="needs the rows of X"):
        make_gram(K, Precomputed(), rank=10, landmarks="kmeans").rank  # noqa: B018


def test_an_indefinite_matrix_warns_or_is_clipped_everywhere_alike():
    kernel = Sigmoid(1.0, -1.0)
    with pytest.warns(svmpath.IndefiniteKernelWarning, match=r"gram\.Clipped"):
        K = make_gram(X, kernel).K
    gram = make_gram(X, kernel, rank=Clipped())
    values, Q = np.linalg.eigh(K)
    expected = (Q * np.maximum(values, 0)) @ Q.T
    np.testing.assert_allclose(gram.K, expected, atol=1e-6)
    np.testing.assert_allclose(gram.cross(X), gram.K, atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_gram(X, FunctionKernel(lambda A, B: A @ B.T)).K  # noqa: B018 - not declared, but semi-definite


def test_a_pickled_gram_holds_rows_not_matrices():
    gram = make_gram(X, RBF(0.5))
    K = gram.K
    text = pickle.dumps(gram)
    assert len(text) < 3 * X.nbytes
    np.testing.assert_array_equal(pickle.loads(text).K, K)
    low = make_gram(X, RBF(0.5), rank=20)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(low)).Z, low.Z, atol=1e-10)


@pytest.mark.parametrize("rank", [None, 30])
def test_some_rows_of_a_precomputed_kernel_survive_pickling(rank):
    K = RBF(0.5)(X)
    rows = np.array([7, 2, 40])
    part = make_gram(K, Precomputed(), rank=rank).take(rows)
    expected = part.block(slice(None), slice(None))
    again = pickle.loads(pickle.dumps(part))
    np.testing.assert_allclose(again.block(slice(None), slice(None)), expected, atol=1e-10)
    np.testing.assert_allclose(part.cross(K), again.cross(K), atol=1e-10)
    np.testing.assert_allclose(part.apply_exact(K, np.ones(3)), K[:, rows] @ np.ones(3), atol=1e-10)
    assert 0 <= part.residual < 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 5, "landmarks": [0, 1]}, "leave rank out"),
        ({"rank": 0}, "rank must be None"),
        ({"rank": 1.5}, "rank must be None"),
        ({"rank": True}, "rank must be None"),
        ({"rank": "many"}, "rank must be None"),
        ({"rank": 5, "landmarks": "best"}, "landmarks must be one of"),
        ({"landmarks": [0, 0]}, "distinct integers"),
        ({"landmarks": [0.5]}, "distinct integers"),
        ({"landmarks": [500]}, "from 0 to 119"),
        ({"landmarks": "best"}, "landmarks must be one of"),
        ({"rank": Nystroem(5), "landmarks": "uniform"}, "leave landmarks out"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        make_gram(X, RBF(1.0), **options).rank  # noqa: B018 - the factor is made when first used


def test_pivots_need_a_semi_definite_kernel():
    with pytest.raises(ValueError, match="is indefinite"):
        make_gram(X, Sigmoid(), rank=10).rank  # noqa: B018
    assert make_gram(X, Sigmoid(0.1), rank=10, landmarks="uniform").rank <= 10


def test_a_kernel_that_is_zero_has_no_factor():
    with pytest.raises(ValueError, match="zero on every row"):
        make_gram(np.zeros((5, 2)), Linear(), rank=3).rank  # noqa: B018


def test_indefinite_kernels_do_not_pass_for_low_rank_ones():
    K = np.tanh(X @ X.T - 0.5)
    for way in ("rpcholesky", "greedy"):
        with pytest.raises(ValueError, match="indefinite"):
            make_gram(K, Precomputed(), rank=50, landmarks=way).residual  # noqa: B018
    assert GPKernel(gp.ExpSineSquared()).psd is None
    assert GPKernel(gp.RBF() + gp.PairwiseKernel(metric="sigmoid")).psd is None
    assert GPKernel(gp.RBF() * gp.Matern()).psd is True
    with pytest.raises(ValueError, match="gamma must be"):
        RBF(-1.0)
    with pytest.raises(ValueError, match="must be symmetric"):
        make_gram(X, FunctionKernel(lambda A, B: A @ B.T + A[:, :1])).K  # noqa: B018


@pytest.mark.parametrize("options", [{"rank": 20}, {"rank": 1e-3}, {"rank": 1e-3, "landmarks": "greedy"}])
def test_memory_in_low_rank_stays_far_below_n_by_n(options):
    n = 6000
    data = np.random.default_rng(0).normal(size=(n, 2))
    y = np.sign(data[:, 0])
    s = np.ones(n)
    s[::7] = 0.0
    tracemalloc.start()
    path = svmpath.trace(data, y, loss="least_squares", gamma=0.1, sample_weight=s, random_state=0, **options)
    criteria.press(path, [0.1, 1.0])
    criteria.kfold(path, [1.0], cv=3)
    path(1.0)(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < n * n  # bytes: an eighth of one n x n array


@pytest.mark.parametrize("way", ["greedy", "rpcholesky"])
def test_a_slightly_indefinite_kernel_is_refused_and_rounding_is_not(way):
    A = np.random.default_rng(0).normal(size=(40, 6))
    K = A @ A.T
    make_gram(K + 1e-12 * np.diag(np.random.default_rng(1).normal(size=40)), Precomputed(), rank=12, landmarks=way).Z  # noqa: B018
    with pytest.raises(ValueError, match="indefinite"):
        make_gram(K - 0.05 * np.eye(40), Precomputed(), rank=12, landmarks=way).Z  # noqa: B018


@pytest.mark.parametrize("landmarks", ["rpcholesky", "greedy"])
def test_rows_compared_at_once_give_the_landmarks_of_rows_compared_one_by_one(landmarks, monkeypatch):
    X = np.random.default_rng(5).normal(size=(90, 3))
    X[40:50] = X[:10]  # copies
    kernels = [RBF(0.1), RBF(0.7), RBF(0.1) + Linear(), RBF(0.1) * Linear()]
    build = Nystroem(20, landmarks).prepare(X, 0)
    at_once = [build(kernel) for kernel in kernels]  # what is known of one kernel must not serve another of its class
    monkeypatch.setattr("svmpath.gram.pivoted_cholesky._ALL_COMPARED", 0)
    for kernel, factor in zip(kernels, at_once, strict=True):
        slow = Nystroem(20, landmarks).factor(kernel, X, 0)
        np.testing.assert_allclose(factor.Z, slow.Z, atol=1e-9)

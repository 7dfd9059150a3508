"""Many rows: nested landmarks, features made in chunks and stored in single precision, and memory that is not there."""

import numpy as np
import pytest

from svmpath import config_context
from svmpath.gram import DenseGram, LowRankGram, Nystroem, features, make_gram, memory
from svmpath.gram.landmarks import uniform
from svmpath.gram.products import times, transposed_times
from svmpath.kernels import RBF
from svmpath.row_order import random_order

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))


def test_uniform_landmarks_are_nested_and_the_same_for_every_kernel():
    rows = [set(uniform(X, random_order(X, seed=3), c, 3).rows.tolist()) for c in (10, 20, 40)]
    assert rows[0] < rows[1] < rows[2]
    gram = make_gram(X, RBF(0.1), rank=Nystroem(20, "uniform"), seed=3)
    points = {tuple(point) for point in gram.at("gamma", 2.0).features.points}
    assert points == {tuple(X[i]) for i in rows[1]}


def test_landmarks_that_are_combinations_of_others_are_left_out():
    twice = np.vstack([X[:20], X[:20]])
    gram = make_gram(twice, RBF(0.5), landmarks=np.arange(40))
    assert gram.rank == 20
    np.testing.assert_allclose(gram.Z @ gram.Z.T, RBF(0.5)(twice), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_in_chunks_are_those_at_once(dtype, monkeypatch):
    repeated = np.vstack([X, X[:50]])
    whole = make_gram(X, RBF(0.2), rank=Nystroem(25, "uniform"))
    at_once = whole.features(repeated, dtype)
    monkeypatch.setattr(features, "_NUMBERS_AT_ONCE", 25 * 7)
    in_chunks = whole.features(repeated, dtype)
    assert in_chunks.dtype == dtype
    np.testing.assert_allclose(in_chunks, at_once, atol=1e-12 if dtype == np.float64 else 1e-6)
    np.testing.assert_array_equal(in_chunks[:50], in_chunks[300:])


def test_single_precision_changes_kernel_values_in_the_seventh_digit():
    double = make_gram(X, RBF(0.2), rank=Nystroem(50, "uniform"), seed=1)
    single = make_gram(X, RBF(0.2), rank=Nystroem(50, "uniform", single=True), seed=1)
    assert single.Z.dtype == np.float32
    v = rng.normal(size=300)
    np.testing.assert_allclose(single.matmul(v), double.matmul(v), atol=1e-5)
    np.testing.assert_allclose(
        single.block(slice(0, 9), slice(0, 9)), double.block(slice(0, 9), slice(0, 9)), atol=1e-6
    )
    np.testing.assert_allclose(single.diag, double.diag, atol=1e-6)
    assert single.residual == pytest.approx(double.residual, abs=1e-6)
    assert single.diag.dtype == single.matmul(v).dtype == single.contract(v).dtype == np.float64


def test_single_precision_is_refused_for_landmarks_that_depend_on_the_kernel():
    with pytest.raises(ValueError, match="single=True does not work with landmarks='rpcholesky'"):
        Nystroem(10, single=True)


def test_products_are_computed_in_double_precision():
    A = rng.normal(size=(1000, 300)).astype(np.float32)
    exact = A.astype(float)
    v, w = rng.normal(size=300), rng.normal(size=(1000, 2))
    np.testing.assert_allclose(times(A, v), exact @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(transposed_times(A, w), exact.T @ w, rtol=1e-12, atol=1e-11)


def test_a_full_matrix_without_room_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2.0**30 * 10)
    gram = DenseGram(RBF(1.0), np.arange(50_000.0)[:, None])
    with pytest.raises(MemoryError, match=r"50000 rows would need 18\.6 GiB .* take 7\.0 GiB here .* rank=1000"):
        gram.K  # noqa: B018
    with pytest.raises(MemoryError, match="rank="):
        gram.at("gamma", 2.0)


def test_a_rank_is_proposed_that_is_smaller_than_the_matrix():
    with config_context(memory_limit="100kB"), pytest.raises(MemoryError, match=r"rank=50, say"):
        DenseGram(RBF(1.0), np.arange(200.0)[:, None]).K  # noqa: B018


def test_features_without_room_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2.0**29)
    gram = LowRankGram(RBF(1.0), np.arange(400_000.0)[:, None], Nystroem(300, "uniform", single=True))
    with pytest.raises(MemoryError, match=r"400000 x \d+ features .* a smaller rank="):
        gram.Z  # noqa: B018


def test_small_matrices_do_not_ask_for_the_free_memory(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: pytest.fail("asked"))
    assert DenseGram(RBF(1.0), X).K.shape == (300, 300)


def test_free_memory_is_the_least_of_the_computer_and_its_control_group(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    5000 kB\n")
    (tmp_path / "max").write_text("4000000\n")
    (tmp_path / "current").write_text("1000000\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUPS", ((tmp_path / "max", tmp_path / "current"),))
    assert memory.free_memory() == 3_000_000
    (tmp_path / "max").write_text("max\n")
    assert memory.free_memory() == 5_120_000
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    assert memory.free_memory() > 0


def test_a_limit_that_was_given_is_named():
    with (
        memory.config_context(memory_limit="1GB"),
        pytest.raises(MemoryError, match=r"take 0\.9 GiB here \(memory_limit=1e\+09\); use less"),
    ):
        memory.require(2e9, "The matrix", "less")

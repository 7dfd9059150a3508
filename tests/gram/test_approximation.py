"""What ``rank=`` may be: a number, a residual, "auto" or an approximation, everywhere alike."""

from dataclasses import dataclass

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

import svmpath
from svmpath import PathSVC, PathSVR, gram
from svmpath.gram import Approximation, DenseGram, Factor, FeatureMap, LowRankGram, Nystroem, make_gram
from svmpath.kernels import RBF, Precomputed, Sigmoid
from tests.rounding import assert_same

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"rank": 12}, Nystroem(12)),
        ({"rank": np.int64(12), "landmarks": "uniform"}, Nystroem(12, "uniform")),
        ({"rank": 1e-2, "landmarks": "kmeans"}, Nystroem(1e-2, "kmeans")),
        ({"landmarks": [3, 1, 4, 15]}, Nystroem(landmarks=[3, 1, 4, 15])),
        ({"landmarks": np.array([3, 1, 4, 15])}, Nystroem(landmarks=(3, 1, 4, 15))),
    ],
)
def test_a_number_and_an_approximation_mean_the_same(short, long):
    short, long = (make_gram(X, RBF(0.5), seed=4, **options) for options in (short, {"rank": long}))
    assert short.approximation == long.approximation
    assert_same(short.Z, long.Z)


@pytest.mark.parametrize("call", [svmpath.trace, lambda X, Y, **options: PathSVC(**options).fit(X, Y).path_])
def test_every_form_of_rank_works_wherever_there_is_one(call, monkeypatch):
    whole = call(X, Y, gamma=0.5, random_state=0)
    assert isinstance(whole.gram, DenseGram)
    few = call(X, Y, gamma=0.5, rank=Nystroem(30, truncate=7), random_state=0)
    assert few.gram.rank == 7
    assert isinstance(call(X, Y, gamma=0.5, rank="auto", random_state=0).gram, DenseGram)
    monkeypatch.setattr(gram, "AUTO_ROWS", 50)
    monkeypatch.setattr(gram, "AUTO_LANDMARKS", 20)
    many = call(X, Y, gamma=0.5, rank=Nystroem(20, "uniform"), random_state=0)
    assert many.gram.approximation == Nystroem(20, "uniform")
    assert many.gram.rank == 20


def test_auto_holds_the_matrix_whole_up_to_2000_rows_and_takes_500_landmarks_beyond():
    assert gram.automatic_rank(2000) is None
    assert gram.automatic_rank(2001) == 500


@pytest.mark.parametrize("model", [PathSVC(loss="least_squares"), PathSVR()])
def test_a_model_that_holds_an_approximation_can_be_cloned_printed_and_saved(model):
    rank = Nystroem(40, "uniform", truncate=9, min_eigenvalue=1e-9)
    model = clone(model.set_params(rank=rank, gamma=0.5, random_state=0))
    assert model.rank == rank
    assert "rank=Nystroem(rank=40," in repr(model)
    model.fit(X, Y)
    assert model.path_.gram.rank == 9
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    assert "svmpath.gram.nystroem.Nystroem" in types
    assert [name for name in types if not name.startswith("svmpath.")] == []
    again = skops.io.loads(data, trusted=types)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.rank == rank
    np.testing.assert_allclose(again.path_.gram.at("gamma", 1.0).Z, model.path_.gram.at("gamma", 1.0).Z, atol=1e-12)


def test_clusters_are_found_once_for_all_values_of_a_kernel_parameter(monkeypatch):
    from svmpath.gram import nystroem

    calls = []

    def counted(X, order, c, seed):
        calls.append(c)
        return kmeans(X, order, c, seed)

    kmeans = nystroem._BLIND["kmeans"]
    monkeypatch.setitem(nystroem._BLIND, "kmeans", counted)
    first = make_gram(X, RBF(0.5), rank=10, landmarks="kmeans")
    for gamma in (0.1, 1.0, 10.0):
        first.at("gamma", gamma).Z  # noqa: B018
    first.take([1, 2, 3]).at("gamma", 2.0).Z  # noqa: B018
    assert calls == [10]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Nystroem(), "rank of Nystroem must be"),
        (lambda: Nystroem(0), "rank of Nystroem must be"),
        (lambda: Nystroem(True), "rank of Nystroem must be"),
        (lambda: Nystroem(1.0), "rank of Nystroem must be"),
        (lambda: Nystroem("auto"), "rank of Nystroem must be"),
        (lambda: Nystroem(5, "unifrom"), r"landmarks must be one of 'rpcholesky',.*Did you mean 'uniform'\?"),
        (lambda: Nystroem(5, [0, 1]), "leave rank out"),
        (lambda: Nystroem(5, truncate=0), "truncate must be"),
        (lambda: Nystroem(5, truncate=2.5), "truncate must be"),
        (lambda: Nystroem(5, min_eigenvalue=-1.0), "min_eigenvalue must be"),
        (lambda: make_gram(X, Sigmoid(), rank=5), "is indefinite"),
        (lambda: make_gram(X @ X.T, Precomputed(), rank=5, landmarks="density"), "needs the rows of X"),
        (lambda: make_gram(X, RBF(), landmarks=[80]), "from 0 to 79"),
        (lambda: make_gram(X, RBF(), rank="auto", landmarks="best"), "landmarks must be one of"),
        (lambda: make_gram(X, RBF(), rank=Nystroem), "an approximation such as"),
        (
            lambda: svmpath.trace(X, Y, loss="least_squares", rank=Nystroem(5), landmarks="greedy"),
            "leave landmarks out",
        ),
    ],
)
def test_what_is_wrong_is_refused_at_once(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@dataclass(frozen=True)
class Squares(Approximation):
    """A new approximation, as the recipe in CONTRIBUTING.md has it: two methods, and a map."""

    def factor(self, kernel, X, seed):
        features = SquaresMap()
        return Factor(features(X), features)

    def columns(self, n):
        return 6


class SquaresMap(FeatureMap):
    rank = 6

    def compute(self, X):
        return 0.1 * np.hstack([X, X**2])


def test_a_new_approximation_needs_a_factor_and_a_number_of_columns():
    path = svmpath.trace(X, Y, loss="squared_hinge", rank=Squares())
    assert isinstance(path.gram, LowRankGram)
    Z = 0.1 * np.hstack([X, X**2])
    twin = svmpath.trace(Z, Y, loss="squared_hinge", kernel="linear")(1.0)
    np.testing.assert_allclose(path(1.0)(X[:9] + 0.1), twin(SquaresMap()(X[:9] + 0.1)), atol=1e-9)
    np.testing.assert_allclose(path.residual, 1.0 - (Z**2).sum() / len(X))
    assert 0.5 < PathSVC(rank=Squares(), gamma=0.5).fit(X, Y).score(X, Y) <= 1.0

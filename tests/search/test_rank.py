"""Doubling the rank until the held-out score hardly gains, and warm starts between kernels."""

import numpy as np
import pytest

from svmpath import criteria
from svmpath.gram import LowRankGram, Nystroem, memory
from svmpath.kernels import RBF
from svmpath.losses import LeastSquares, Problem, SquaredHinge
from svmpath.search import Search, rank
from svmpath.search.deadline import Deadline
from svmpath.search.rank import double_rank

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 2))
TARGET = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.1 * rng.normal(size=600)
LABELS = np.sign(TARGET)


def gram_of(landmarks, gamma=1.0):
    return LowRankGram(RBF(gamma), X, Nystroem(landmarks, "uniform", single=True), seed=0)


def search_of(*targets, loss=None):
    loss = SquaredHinge() if loss is None else loss
    task = "regression" if isinstance(loss, LeastSquares) else "classification"
    criterion = criteria.press if isinstance(loss, LeastSquares) else criteria.span
    problems = [Problem(gram_of(10), y, np.ones(600), task) for y in targets]
    return Search(problems, loss, np.array([1.0]), None, criterion, None)


def test_the_rank_is_doubled_until_the_score_hardly_gains():
    search = search_of(TARGET, loss=LeastSquares())
    grown = double_rank(search, gram_of, 10.0, rank=10)
    ranks, scores = [step.rank for step in grown.steps], [step.score for step in grown.steps]
    assert ranks == [10 * 2**k for k in range(len(ranks))]
    gains = -np.diff(scores) / [step.standard_error for step in grown.steps[1:]]
    assert grown.reason == "enough"
    assert np.all(gains[:-1] >= rank.GAIN)
    assert gains[-1] < rank.GAIN
    assert grown.curve.scores.min() == min(scores)


def test_the_first_curve_is_not_computed_again():
    search = search_of(LABELS)
    first = search.on(gram_of(20), np.array([0.5, 1.0, 2.0]))
    grown = double_rank(search, gram_of, 1.0, rank=20, most=40, first=first)
    assert [step.rank for step in grown.steps] == [20, 40]
    assert grown.steps[0].score == first.scores.min()
    assert len(grown.curve.values) == 3


def test_limits_end_it(monkeypatch):
    search = search_of(TARGET, loss=LeastSquares())
    assert [step.rank for step in double_rank(search, gram_of, 10.0, rank=10, most=30).steps] == [10, 20, 30]
    late = double_rank(search, gram_of, 10.0, rank=10, deadline=Deadline(0.0))
    assert (len(late.steps), late.reason) == (1, "time")
    monkeypatch.setattr(memory, "free_memory", lambda: 4.0 * 600 * 50)
    full = double_rank(search, gram_of, 10.0, rank=10)
    assert ([step.rank for step in full.steps], full.reason) == ([10, 20], "memory")


@pytest.mark.parametrize("targets", [[LABELS], [LABELS, -LABELS, np.sign(X[:, 0])]])
def test_starts_lead_to_the_same_curve(targets):
    search, values, starts = search_of(*targets), np.array([0.5, 1.0, 2.0]), {}
    search.on(gram_of(40), values, starts)
    assert sorted(starts) == list(range(len(targets)))
    warm, cold = search.on(gram_of(80, 2.0), values, starts), search.on(gram_of(80, 2.0), values)
    np.testing.assert_allclose(warm.held, cold.held, atol=1e-4)


def test_starts_pass_through_merged_rows():
    twice = np.vstack([X, X])
    copies = np.tile(np.arange(600), 2)
    gram = LowRankGram(RBF(1.0), twice, Nystroem(60, "uniform", single=True), seed=0)
    problem = Problem(gram, np.tile(LABELS, 2), np.ones(1200), "classification", copies=copies)
    search, values, starts = Search([problem], SquaredHinge(), np.ones(1), None, criteria.span, None), np.ones(1), {}
    cold = search.on(gram, values, starts)
    np.testing.assert_allclose(starts[0], cold.path.decisions(values)[0], atol=1e-5)
    warm = search.on(gram, values, starts)
    np.testing.assert_allclose(warm.held, cold.held, atol=1e-4)


def test_several_classes_are_screened_by_estimates(monkeypatch):
    classes = np.digitize(TARGET + 0.3 * rng.normal(size=600), [-0.3, 0.3])
    targets = [np.where(classes == k, 1.0, -1.0) for k in range(3)]
    search, values = search_of(*targets), np.array([0.3, 1.0, 3.0])
    exact = search.on(gram_of(30), values)
    monkeypatch.setattr("svmpath.criteria.of_march._MANY", 100)
    rough = search.on(gram_of(30), values)
    assert exact.screened is None
    assert rough.screened is not None
    np.testing.assert_allclose(rough.scores, exact.scores, atol=8 / 600)
    np.testing.assert_allclose(rough.smooth, exact.smooth, rtol=0.02)
    np.testing.assert_allclose(rough.held, exact.held, atol=1e-4)
    np.testing.assert_allclose(rough.rescored("squared").scores, exact.rescored("squared").scores, rtol=1e-3)

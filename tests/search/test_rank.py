"""Doubling the rank until the held-out score hardly gains, and warm starts between kernels."""

import numpy as np
import pytest

from svmpath import criteria
from svmpath.gram import DenseGram, LowRankGram, Nystroem, memory
from svmpath.kernels import RBF, Linear
from svmpath.losses import LeastSquares, Problem, SquaredHinge
from svmpath.search import Evaluator, Tuner, limits, rank
from svmpath.search.axis import Axis
from svmpath.search.deadline import Deadline
from svmpath.search.rank import double_rank

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 2))
TARGET = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.1 * rng.normal(size=600)
LABELS = np.sign(TARGET)


def gram_of(landmarks, gamma=1.0):
    return LowRankGram(RBF(gamma), X, Nystroem(landmarks, "uniform", single=True), seed=0)


def evaluator_of(*targets, loss=None):
    loss = SquaredHinge() if loss is None else loss
    task = "regression" if isinstance(loss, LeastSquares) else "classification"
    criterion = criteria.press if isinstance(loss, LeastSquares) else criteria.span
    problems = [Problem(gram_of(10), y, np.ones(600), task) for y in targets]
    return Evaluator(problems, loss, criterion)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Ranks from 10 on; the full matrix is not tried."""
    for name, value in {"FIRST_RANK": 10, "MOST_RANK": 600, "LAST_FULL_ROWS": 0, "SINGLE_PRECISION_ENTRIES": 0}.items():
        monkeypatch.setattr(limits, name, value)


def grow(evaluator, C, kernel=None, deadline=None, first=None):
    problem = evaluator.problems[0]
    evaluator = evaluator.on(DenseGram(RBF(1.0) if kernel is None else kernel, X))
    tuner = Tuner([evaluator], Axis(np.array([C]), 2.0, (1e-3, 1e5)), deadline=deadline or Deadline())
    assert tuner.n == problem.n
    return double_rank(tuner, evaluator, tuner.gram.kernel, (np.nan, C), None, first)


def test_the_rank_is_doubled_until_the_score_hardly_gains():
    evaluator = evaluator_of(TARGET, loss=LeastSquares())
    grown = grow(evaluator, 10.0)
    ranks, scores = (
        [stage.rank for stage in grown.stages],
        [scores.scores[k] for scores, k in map(best_of, grown.stages)],
    )
    assert ranks[:4] == [10, 20, 40, 80]
    assert ranks[4:] == [gram_of(10 * 2**k).rank for k in range(4, len(ranks))]  # less where landmarks are combinations
    least = [max(0.25 * s.standard_errors[k], 0.005 * s.scores[k]) for s, k in map(best_of, grown.stages[1:])]
    assert grown.reason == "enough"
    assert np.all(-np.diff(scores)[:-1] >= least[:-1])
    assert -np.diff(scores)[-1] < least[-1]
    assert grown.curve.scores.min() == pytest.approx(min(scores))


def best_of(stage):
    (scores,) = stage.tried.values()
    return scores, int(np.argmin(scores.scores))


def test_the_first_curve_is_not_computed_again(monkeypatch):
    monkeypatch.setattr(limits, "FIRST_RANK", 20)
    monkeypatch.setattr(limits, "MOST_RANK", 40)
    evaluator = evaluator_of(LABELS)
    first, _ = evaluator.traced(gram_of(20), np.array([0.5, 1.0, 2.0]))
    grown = grow(evaluator, 1.0, first=first)
    assert [stage.rank for stage in grown.stages] == [20, 40]
    scores, k = best_of(grown.stages[0])
    assert scores.scores[k] == pytest.approx(first.scores.min())
    assert len(grown.curve.values) == 3


def test_limits_end_it(monkeypatch):
    evaluator = evaluator_of(TARGET, loss=LeastSquares())
    late = grow(evaluator, 10.0, deadline=Deadline(0.0))
    assert (len(late.stages), late.reason) == (1, "time")
    with monkeypatch.context() as patch:
        patch.setattr(memory, "free_memory", lambda: 4.0 * 600 * 50)
        full = grow(evaluator, 10.0)
    assert ([stage.rank for stage in full.stages], full.reason) == ([10, 20], "memory")
    monkeypatch.setattr(limits, "MOST_RANK", 30)
    grown = grow(evaluator, 10.0)
    assert ([stage.rank for stage in grown.stages], grown.reason) == ([10, 20, 30], "rank")
    monkeypatch.setattr(limits, "LAST_FULL_ROWS", 600)
    monkeypatch.setattr(limits, "LAST_FULL_OPERATIONS", 1.0)
    costly = grow(evaluator, 10.0)
    assert ([stage.rank for stage in costly.stages], costly.reason) == ([10, 20, 30], "rank")


def test_a_limit_that_leaves_no_time_for_the_next_rank_has_stopped_something(monkeypatch):
    monkeypatch.setattr(limits, "MOST_RANK", 20)
    evaluator, deadline = evaluator_of(TARGET, loss=LeastSquares()), Deadline(1000.0)
    grow(evaluator, 10.0, deadline=deadline)
    assert not deadline.has_stopped
    monkeypatch.setattr(rank, "_MORE", 1e12)  # the double of a rank is expected to end in centuries
    grown = grow(evaluator, 10.0, deadline=deadline)
    assert (len(grown.stages), grown.reason, deadline.has_stopped) == (1, "time", True)


def test_a_kernel_of_low_rank_ends_it():
    grown = grow(evaluator_of(TARGET, loss=LeastSquares()), 10.0, kernel=Linear())
    assert ([stage.rank for stage in grown.stages], grown.reason) == ([2], "whole")


@pytest.mark.parametrize("targets", [[LABELS], [LABELS, -LABELS, np.sign(X[:, 0])]])
def test_starts_lead_to_the_same_curve(targets):
    evaluator, values = evaluator_of(*targets), np.array([0.5, 1.0, 2.0])
    _, paths = evaluator.traced(gram_of(40), values)
    starts = [path.known_decisions(1.0) for path in paths]
    warm, cold = (evaluator.traced(gram_of(80, gamma=2.0), values, start)[0] for start in (starts, None))
    np.testing.assert_allclose(warm.held, cold.held, atol=1e-4)


def test_starts_pass_through_merged_rows():
    twice = np.vstack([X, X])
    copies = np.tile(np.arange(600), 2)
    gram = LowRankGram(RBF(1.0), twice, Nystroem(60, "uniform", single=True), seed=0)
    problem = Problem(gram, np.tile(LABELS, 2), np.ones(1200), "classification", copies=copies)
    evaluator, values = Evaluator([problem], SquaredHinge(), criteria.span), np.ones(1)
    cold, (path,) = evaluator.traced(gram, values)
    start = path.known_decisions(1.0)
    np.testing.assert_allclose(start, path.decisions(values)[0], atol=1e-5)
    warm, _ = evaluator.traced(gram, values, [start])
    np.testing.assert_allclose(warm.held, cold.held, atol=1e-4)


def test_several_classes_are_screened_by_estimates(monkeypatch):
    classes = np.digitize(TARGET + 0.3 * rng.normal(size=600), [-0.3, 0.3])
    targets = [np.where(classes == k, 1.0, -1.0) for k in range(3)]
    evaluator, values = evaluator_of(*targets), np.array([0.3, 1.0, 3.0])
    exact, _ = evaluator.traced(gram_of(30), values)
    monkeypatch.setattr("svmpath.criteria.of_march.MANY", 100)
    rough, _ = evaluator.traced(gram_of(30), values)
    assert exact.screened is None
    assert rough.screened is not None
    np.testing.assert_allclose(rough.scores, exact.scores, atol=8 / 600)
    np.testing.assert_allclose(rough.smooth, exact.smooth, rtol=0.02)
    np.testing.assert_allclose(rough.held, exact.held, atol=1e-4)
    np.testing.assert_allclose(rough.rescored("squared").scores, exact.rescored("squared").scores, rtol=1e-3)

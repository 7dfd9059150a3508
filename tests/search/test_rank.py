"""Doubling the rank until the held-out score hardly gains, and warm starts between kernels."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from svmpath import criteria
from svmpath.gram import LowRankGram, Nystroem, memory
from svmpath.kernels import RBF, Linear
from svmpath.losses import LeastSquares, Problem, SquaredHinge
from svmpath.search import Search, rank
from svmpath.search.deadline import Deadline
from svmpath.search.rank import double_rank, doubled

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


def grow(search, C, ranks, seconds=None, **options):
    around = lambda C: C * np.array([0.5, 1.0, 2.0])  # noqa: E731
    options = {"starts": {}, "deadline": Deadline(seconds), **options}
    return double_rank(search, options.pop("gram_of", gram_of), C, ranks, around, **options)


def test_the_rank_is_doubled_until_the_score_hardly_gains():
    search = search_of(TARGET, loss=LeastSquares())
    grown = grow(search, 10.0, doubled(10, 600))
    ranks, scores = [step.rank for step in grown.steps], [step.score for step in grown.steps]
    assert ranks[:4] == [10, 20, 40, 80]
    assert ranks[4:] == [gram_of(10 * 2**k).rank for k in range(4, len(ranks))]  # less where landmarks are combinations
    least = [max(0.25 * s.standard_errors[k], 0.005 * s.scores[k]) for s, k in map(best_of, grown.steps[1:])]
    assert grown.reason == "enough"
    assert np.all(-np.diff(scores)[:-1] >= least[:-1])
    assert -np.diff(scores)[-1] < least[-1]
    assert grown.curve.scores.min() == pytest.approx(min(scores))


def best_of(step):
    return step.scores, int(np.argmin(step.scores.scores))


def test_the_first_curve_is_not_computed_again():
    search = search_of(LABELS)
    first = search.on(gram_of(20), np.array([0.5, 1.0, 2.0]))
    grown = grow(search, 1.0, [20, 40], first=first)
    assert [step.rank for step in grown.steps] == [20, 40]
    assert grown.steps[0].score == pytest.approx(first.scores.min())
    assert len(grown.curve.values) == 3


def test_limits_end_it(monkeypatch):
    search = search_of(TARGET, loss=LeastSquares())
    grown = grow(search, 10.0, doubled(10, 30))
    assert ([step.rank for step in grown.steps], grown.reason) == ([10, 20, 30], "rank")
    late = grow(search, 10.0, doubled(10, 600), seconds=0.0)
    assert (len(late.steps), late.reason) == (1, "time")
    dear = grow(search, 10.0, doubled(10, 600), gram_of=lambda landmarks: gram_of(10) if landmarks == 10 else None)
    assert (len(dear.steps), dear.reason) == (1, "rank")
    monkeypatch.setattr(memory, "free_memory", lambda: 4.0 * 600 * 50)
    full = grow(search, 10.0, doubled(10, 600))
    assert ([step.rank for step in full.steps], full.reason) == ([10, 20], "memory")


def test_a_limit_that_leaves_no_time_for_the_next_rank_has_stopped_something():
    search, deadline = search_of(TARGET, loss=LeastSquares()), Deadline(1000.0)
    grow(search, 10.0, [10, 20], deadline=deadline)
    assert not deadline.has_stopped
    first = search.on(gram_of(10), np.array([10.0]))
    slow = replace(rank._step(first, 0.0), seconds=1e6)  # its double is expected to end in weeks
    with mock.patch.object(rank, "_step", return_value=slow):
        grown = grow(search, 10.0, [10, 20], deadline=deadline, first=first)
    assert (len(grown.steps), grown.reason, deadline.has_stopped) == (1, "time", True)


def test_a_kernel_of_low_rank_ends_it():
    search = search_of(TARGET, loss=LeastSquares())
    linear = lambda landmarks: LowRankGram(Linear(), X, Nystroem(landmarks, "uniform"), seed=0)  # noqa: E731
    grown = grow(search, 10.0, doubled(10, 600), gram_of=linear)
    assert ([step.rank for step in grown.steps], grown.reason) == ([2], "whole")


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
    monkeypatch.setattr("svmpath.criteria.of_march.MANY", 100)
    rough = search.on(gram_of(30), values)
    assert exact.screened is None
    assert rough.screened is not None
    np.testing.assert_allclose(rough.scores, exact.scores, atol=8 / 600)
    np.testing.assert_allclose(rough.smooth, exact.smooth, rtol=0.02)
    np.testing.assert_allclose(rough.held, exact.held, atol=1e-4)
    np.testing.assert_allclose(rough.rescored("squared").scores, exact.rescored("squared").scores, rtol=1e-3)

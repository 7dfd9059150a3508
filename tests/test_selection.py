"""From curves to a choice, and the two-layer search."""

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.criteria import make_criterion
from svmpath.criteria.curve import Curve, squared
from svmpath.gram import make_gram
from svmpath.kernels import RBF
from svmpath.losses import LOSSES, Problem
from svmpath.search import Evaluator, Tuner, select
from svmpath.search.axis import Axis
from svmpath.search.grid import continuously, over_grid
from svmpath.search.log import TrialLog

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = np.where(X[:, 0] ** 2 + X[:, 1] + 0.4 * RNG.normal(size=80) > 0.5, 1.0, -1.0)
C = np.geomspace(1e-2, 1e3, 11)
GAMMAS = 4.0 ** np.arange(-3, 4)


def curve_of(scores, y=None):
    """A curve with given squared losses: held-out values at that distance from the target."""
    scores = np.asarray(scores, dtype=float)
    path = svmpath.trace(X[:4], [0.0, 0.1, 0.2, 0.4], loss="least_squares", span=(0.1, 100.0))
    target = path.problem.y
    spread = np.array([0.5, 0.5, 1.5, 1.5])  # losses differ between samples, so that a standard error exists
    held = target + np.sqrt(scores[:, None] * spread)
    values = np.geomspace(0.1, 100.0, len(scores))
    return Curve(path, "made", values, squared, np.arange(4), held, target, np.zeros(len(scores), dtype=int))


def test_the_lowest_score_is_chosen():
    choice = select(curve_of([3.0, 1.0, 2.0, 4.0]))
    assert choice.index == 1
    assert choice.value == pytest.approx(1.0)
    assert choice.score == pytest.approx(1.0)
    assert choice.at_edge == ()
    assert choice.parameters["C"] == choice.value
    np.testing.assert_allclose(choice.solution.alpha, choice.curve.path(choice.value).alpha)


def test_an_end_of_the_curve_is_reported():
    assert select(curve_of([1.0, 2.0, 3.0])).at_edge == ("C",)


def test_one_standard_error_takes_the_smallest_value_that_is_good_enough():
    curve = curve_of([1.6, 1.2, 1.05, 1.0, 2.0])
    error = curve.standard_errors[3]
    assert 0.2 < error < 0.6
    choice = select(curve, rule="one_se")
    assert choice.index == 1
    assert select(curve_of([1.0 + 1.01 * error, 1.2, 1.05, 1.0, 2.0]), "one_se").index == 1


def test_ties_of_the_error_rate_fall_to_the_squared_residual_then_to_the_smaller_value():
    path = svmpath.trace(X, Y, loss="least_squares", span=(1e-2, 1e3))
    curve = criteria.press(path, C)
    low = np.flatnonzero(np.isclose(curve.scores, curve.scores.min(), rtol=1e-12))  # added in another order
    assert len(low) > 1, "the data are made so that the error rate ties"
    assert select(curve).index == low[np.argmin(curve.smooth[low])]
    same = curve_of([2.0, 1.0, 1.0, 2.0])
    assert select(same).index == 1


@pytest.mark.parametrize("rule", ["max", None])
def test_an_unknown_rule_is_refused(rule):
    with pytest.raises(ValueError, match="rule must be one of 'auto', 'min', 'one_se'"):
        select(curve_of([1.0, 2.0]), rule)


def test_a_curve_with_a_hole_is_refused():
    with pytest.raises(ValueError, match="not finite"):
        select(curve_of([1.0, np.nan]))


def tuner(held_out=None, rule="min", limits=None, C_limits=None, over="gamma", **options):
    problem = Problem(make_gram(X, RBF(1.0)), Y, np.ones(80), "classification")
    evaluator = Evaluator([problem], LOSSES["least_squares"](), criteria.press, held_out, rule)
    gamma = None if over is None else Axis(GAMMAS, limits=limits)
    return Tuner([evaluator], Axis(C, limits=C_limits), gamma, over, **options)


def test_the_grid_is_the_best_of_all_pairs():
    choice = over_grid(tuner(held_out="squared")).choice
    scores = {}
    for gamma in GAMMAS:
        path = svmpath.trace(X, Y, loss="least_squares", gamma=gamma, span=(C[0], C[-1]))
        for value, score in zip(C, criteria.press(path, C, loss="squared").scores, strict=True):
            scores[gamma, value] = score
    best = min(scores, key=scores.get)
    assert (choice.parameters["gamma"], choice.value) == pytest.approx(best)
    assert choice.score == pytest.approx(scores[best])
    assert sorted(choice.tried) == pytest.approx(sorted(GAMMAS))


def test_coarse_to_fine_looks_between_and_is_never_worse():
    grid, fine = (over_grid(tuner(limits=limits)).choice for limits in (None, (GAMMAS[0], GAMMAS[-1])))
    assert (fine.score, float(fine.curve.smooth[fine.index])) <= (grid.score, float(grid.curve.smooth[grid.index]))
    assert len(fine.tried) == len(GAMMAS) + 2


def test_continuous_search_finds_a_stationary_point():
    ends = {"limits": (GAMMAS[0], GAMMAS[-1]), "C_limits": (C[0], C[-1])}
    grid, choice = over_grid(tuner(held_out="squared")).choice, continuously(tuner(held_out="squared", **ends)).choice
    assert choice.score < grid.score
    gamma, value = choice.parameters["gamma"], choice.value

    def score(log_gamma, log_C):
        path = svmpath.trace(X, Y, loss="least_squares", gamma=np.exp(log_gamma), span=(1e-9, 1e9))
        return criteria.press(path, [np.exp(log_C)], loss="squared").scores[0]

    at = score(np.log(gamma), np.log(value))
    assert at == pytest.approx(choice.score, rel=1e-9)
    for step in (-0.1, 0.1):
        assert score(np.log(gamma) + step, np.log(value)) > at
        assert score(np.log(gamma), np.log(value) + step) > at


def test_one_standard_error_over_both_parameters():
    choice = over_grid(tuner(rule="one_se")).choice
    lowest = over_grid(tuner()).choice
    bar = lowest.score + lowest.curve.standard_errors[lowest.index]
    assert choice.score <= bar
    good = [curve.values[curve.scores <= bar].min() for curve in choice.tried.values() if (curve.scores <= bar).any()]
    assert choice.value == min(good) <= lowest.value


def test_jobs_and_progress_do_not_change_the_choice():
    seen = []
    limits = (GAMMAS[0], GAMMAS[-1])
    alone = over_grid(tuner(limits=limits, log=TrialLog(count=lambda done, total: seen.append((done, total))))).choice
    together = over_grid(tuner(limits=limits, n_jobs=2)).choice
    assert alone.parameters == together.parameters
    assert seen[0] == (1, 9)
    assert seen[-1] == (9, 9)


def test_without_a_kernel_parameter_only_C_is_searched():
    fixed = tuner(over=None)
    curve, _ = fixed.evaluator.traced(fixed.gram, C)
    grid = over_grid(fixed).choice
    assert grid.value == select(curve).value
    assert continuously(fixed).choice.score <= grid.score


def test_an_unknown_criterion_is_refused():
    with pytest.raises(ValueError, match=r"criterion must be one of 'loo', 'press', .* got 'aic'"):
        make_criterion("aic")

"""Surfaces: paths over C along gamma, machines between them, criteria over them, and the choice of a cell."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import StratifiedKFold

import svmpath
from svmpath import criteria
from svmpath.paths import JumpPath
from tests import reference, reference_qp

X, Y01 = make_moons(80, noise=0.3, random_state=0)
Y = 2.0 * Y01 - 1.0
WAVE = np.sin(2 * X[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=80)
GAMMAS = [0.3, 1.0, 3.0]


@pytest.fixture(scope="module")
def hinge():
    return svmpath.surface(X, Y, loss="hinge", C=(1e-2, 1e2), gamma=GAMMAS)


def same_path(one, other):
    """The same machines, and the same events beyond where the elbow is empty: there it depends on the start."""
    for C in np.geomspace(*one.span, 9):
        np.testing.assert_allclose(one(C).alpha, other(C).alpha, atol=1e-9 * C)
        assert one(C).b == pytest.approx(other(C).b, abs=1e-9)
    events, others = ([e for e in path.events() if e.value > 1.0] for path in (one, other))
    assert [e[1:] for e in events] == [e[1:] for e in others]
    np.testing.assert_allclose([e.value for e in events], [e.value for e in others], rtol=1e-9)


def test_every_path_is_that_of_its_gamma(hinge):
    hinge.check(1e-9)
    for gamma, path in zip(GAMMAS, hinge.paths, strict=True):
        alone = svmpath.trace(X, Y, loss="hinge", span=(1e-2, 1e2), gamma=gamma)
        same_path(path, alone)


def test_paths_start_from_their_neighbours(hinge):
    starts = [path.start for path in hinge.paths]
    assert starts[0] is None
    for k in (1, 2):
        np.testing.assert_allclose(starts[k], hinge(0.01, GAMMAS[k - 1]).alpha / 0.01)


@pytest.mark.slow
def test_between_gammas_the_machine_is_exact(hinge):
    rng = np.random.default_rng(0)
    for _ in range(15):
        C, gamma = 10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(np.log10(0.3), np.log10(3.0))
        solution = hinge(C, gamma)
        assert solution.violation <= 1e-10
        assert solution.parameters == pytest.approx({"C": C, "gamma": gamma})
        f, objective = reference_qp.hinge(reference.rbf(X, X, gamma), Y, np.ones(80), C)
        ours = reference_qp.hinge_objective(reference.rbf(X, X, gamma), Y, np.ones(80), C, solution.alpha, solution.b)
        assert ours <= objective * (1 + 1e-10)
        size = np.abs(solution.alpha)
        if np.any((size > 1e-9) & (size < C * (1 - 1e-9))):
            np.testing.assert_allclose(solution.fitted, f, atol=1e-7)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_hinge", "least_squares"])
def test_other_losses(loss):
    regression = loss != "squared_hinge"
    options = {"task": "regression"} if regression else {}
    surface = svmpath.surface(X, WAVE if regression else Y, loss=loss, C=(0.1, 10.0), gamma=GAMMAS, **options)
    for C, gamma in ((0.1, 0.3), (2.0, 0.77), (10.0, 3.0)):
        assert surface(C, gamma).violation <= 1e-9
        alone = svmpath.trace(X, surface.problem.y, loss=loss, gamma=gamma, span=(0.05, 20.0), **options)(C)
        np.testing.assert_allclose(surface(C, gamma).fitted, alone.fitted, atol=1e-8)


def test_threads_give_the_same_surface(hinge):
    threaded = svmpath.surface(X, Y, loss="hinge", C=(1e-2, 1e2), gamma=GAMMAS[::-1], n_jobs=2)
    assert threaded.gammas.tolist() == GAMMAS[::-1]
    for one, other in zip(hinge.paths, threaded.paths[::-1], strict=True):
        same_path(one, other)
    curves = threaded.curves(criteria.kfold, [0.1, 1.0, 10.0], cv=4, n_jobs=2)
    np.testing.assert_allclose(curves.scores[::-1], hinge.curves(criteria.kfold, [0.1, 1.0, 10.0], cv=4).scores)


def test_a_span_of_gammas_is_filled():
    surface = svmpath.surface(X[:30], Y[:30], C=(0.1, 1.0), gamma=(0.1, 10.0))
    assert len(surface.gammas) == 20
    assert np.all(surface.gammas[1:] / surface.gammas[:-1] <= 1.281)
    assert "20 values of gamma in [0.1, 10]" in repr(surface)


def test_a_compound_kernel_has_its_gamma_moved():
    kernel = svmpath.kernels.RBF(1.0) + svmpath.kernels.Linear()
    surface = svmpath.surface(X, Y, C=(0.1, 1.0), gamma=[0.5, 1.0], kernel=kernel)
    assert surface.over == "k1__gamma"
    assert surface(0.5, 0.7).parameters["k1__gamma"] == 0.7


def test_criteria_are_those_of_each_path(hinge):
    folds = list(StratifiedKFold(5).split(X, Y))
    values = np.geomspace(0.01, 100.0, 5)
    curves = hinge.curves(criteria.kfold, values, cv=folds, loss="squared_hinge")
    assert curves.scores.shape == (3, 5)
    for gamma, scores in zip(GAMMAS, curves.scores, strict=True):
        path = svmpath.trace(X, Y, loss="hinge", span=(1e-2, 1e2), gamma=gamma)
        alone = criteria.kfold(path, values, cv=folds, loss="squared_hinge")
        np.testing.assert_allclose(scores, alone.scores, rtol=1e-8)
    assert hinge.curves(criteria.kfold).values.shape == (13,)


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_select_without_refinement_takes_the_best_cell(hinge, rule):
    curves = hinge.curves(criteria.kfold, np.geomspace(0.01, 100.0, 9), cv=5, loss="squared_hinge")
    choice = svmpath.select(curves, rule, refine=0)
    k, i = np.unravel_index(np.argmin(curves.scores), curves.scores.shape)
    if rule == "min":
        assert choice.parameters == pytest.approx({"C": curves.values[i], "gamma": GAMMAS[k]})
        assert choice.score == pytest.approx(curves.scores[k, i])
    else:
        assert choice.value <= curves.values[i]
        assert choice.score <= curves.scores[k, i] + curves.curves[k].standard_errors[i]
    assert len(choice.tried) == 3


def test_select_follows_the_valley(hinge):
    values = np.geomspace(0.01, 100.0, 5)
    curves = hinge.curves(criteria.kfold, values, cv=5, loss="squared_hinge")
    plain, refined = svmpath.select(curves, refine=0), svmpath.select(curves, refine=3)
    assert refined.score <= plain.score
    gammas = np.array(list(refined.tried))
    assert len(gammas) > 3
    best = refined.parameters["gamma"]
    assert np.abs(np.log(np.delete(gammas, np.argmin(np.abs(gammas - best))) / best)).min() < np.log(3.0) / 4
    for gamma, scores in refined.tried.items():
        if gamma not in GAMMAS:  # close to each other, and inside the span
            assert np.all(np.diff(np.log(scores.values)) <= np.log(values[1] / values[0]) / 2 * (1 + 1e-9))
            assert 0.01 <= scores.values.min() <= scores.values.max() <= 100 * (1 + 1e-12)
    # The score of a new cell is what the criterion gives there.
    path = svmpath.trace(X, Y, loss="hinge", span=(1e-2, 1e2), gamma=best)
    alone = criteria.kfold(path, refined.value, cv=5, loss="squared_hinge")
    assert refined.score == pytest.approx(alone.scores[0])
    assert refined.solution.violation < 1e-9


def test_select_on_a_surface_of_one_cell():
    surface = svmpath.surface(X, Y, loss="squared_hinge", C=(0.5, 2.0), gamma=[1.0])
    choice = svmpath.select(surface.curves(criteria.kfold, [1.0], cv=3))
    assert choice.parameters == {"C": 1.0, "gamma": 1.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": []}, "list of positive numbers"),
        ({"gamma": [1.0, -1.0]}, "list of positive numbers"),
        ({"gamma": "scale"}, "list of positive numbers"),
        ({"gamma": [1.0, 1.0]}, "twice"),
        ({"gamma": (1.0, 1.0)}, "two different positive numbers"),
        ({"gamma": [1.0], "C": (0.0, 1.0)}, "two different positive numbers"),
        ({"gamma": [1.0], "loss": "nu"}, "losses that have a C"),
        ({"gamma": [1.0], "over": "C"}, "a function of C and gamma"),
        ({"gamma": [1.0], "n_jobs": 0}, "got 0"),
        ({"gamma": [1.0], "kernel": "linear"}, "'gamma' is unknown"),
        ({"gamma": [1.0], "kernel": lambda A, B: A @ B.T}, "'gamma' is unknown"),
        ({"gamma": [1.0], "kernel": "poly", "coef0": [0.0, 1.0]}, r"coef0 must be a finite number, got \[0.0, 1.0\]"),
        ({"gamma": [1.0], "kernel": "poly", "degree": [2, 3]}, r"whole number >= 1, got \[2, 3\]"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        svmpath.surface(X, Y, **options)


def test_outside_is_refused(hinge):
    with pytest.raises(ValueError, match=r"gamma = 5 lies outside the range \[0\.3, 3\]"):
        hinge(1.0, 5.0)
    with pytest.raises(ValueError, match="C = 1000 lies outside the span"):
        hinge(1000.0, 1.0)
    with pytest.raises(ValueError, match="rule must be one of"):
        svmpath.select(hinge.curves(criteria.kfold, [1.0], cv=3), "best")
    assert isinstance(hinge.paths[0], JumpPath)

"""Machines at pairs of C and gamma: what is tried, what is best; the curves that are joined on the way."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

import svmpath
from svmpath import criteria
from svmpath.criteria.table import make_criterion
from svmpath.gram import make_gram
from svmpath.kernels import RBF, Linear
from svmpath.losses import Hinge, LeastSquares, Problem, SquaredHinge
from svmpath.search import Evaluator, Tuner
from svmpath.search.axis import Axis
from svmpath.search.choice import Scores, falls_at_end, lowest_over_gamma, ordered
from svmpath.search.deadline import Deadline
from svmpath.search.trials import Trials

N = 60
X, LABELS = make_moons(N, noise=0.3, random_state=0)
Y = np.where(LABELS == 1, 1.0, -1.0)
T = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=N)
C_AXIS = Axis(np.geomspace(1e-3, 1e4, 22), 10 ** (1 / 3), (1e-4, 1e5))
GAMMA_AXIS = Axis(4.0 ** np.arange(-4, 5), 2.0, (1e-4, 1e4))
CRITERIA = {SquaredHinge: "span", LeastSquares: "press", Hinge: "loo"}


def trials_of(loss, kernel=None, rule="min", C=C_AXIS, gamma=GAMMA_AXIS, seconds=None, targets=None):
    kernel = RBF(1.0) if kernel is None else kernel
    task = "regression" if isinstance(loss, LeastSquares) and targets is None else "classification"
    targets = [T if task == "regression" else Y] if targets is None else targets
    gram = make_gram(X, kernel)
    problems = [Problem(gram, target, np.ones(N), task) for target in targets]
    over = None if gamma is None else "gamma"
    evaluator = Evaluator(problems, loss, make_criterion(CRITERIA[type(loss)]), rule=rule)
    return Trials(Tuner([evaluator], C, gamma, over, deadline=Deadline(seconds)), evaluator)


def direct(loss, gamma, C):
    """The score of a pair on a path of its own."""
    y, task = (T, "regression") if isinstance(loss, LeastSquares) else (Y, "classification")
    path = svmpath.trace(X, y, loss=loss.name, gamma=gamma, span=(0.9 * C, 1.1 * C), task=task)
    return getattr(criteria, CRITERIA[type(loss)])(path, np.array([C])).scores[0]


@pytest.mark.parametrize(
    ("loss", "way"),
    [
        (SquaredHinge(), "follow"),
        (SquaredHinge(), "descend"),
        (LeastSquares(), "follow"),
        (LeastSquares(), "descend"),
        (Hinge(), "follow"),
    ],
)
def test_scores_are_those_of_single_machines_and_the_choice_is_the_lowest(loss, way):
    trials = trials_of(loss)
    if way == "follow":
        trials.follow({0.5: 1.0, 2.0: 0.1}, 2)
    else:
        trials.descend(0.5, lambda gamma: 1.0, jumps=True)
    pairs = [
        (gamma, C, score)
        for gamma, scores in trials.tried.items()
        for C, score in zip(scores.values, scores.scores, strict=True)
    ]
    assert len(pairs) > 2
    for gamma, C, score in pairs:
        assert score == pytest.approx(direct(loss, gamma, C), rel=1e-6)
    choice = trials.result().choice
    assert choice.score == pytest.approx(min(score for *_, score in pairs))
    assert np.array_equal(choice.curve.values, np.sort(choice.curve.values))
    assert len(choice.curve.values) == len(trials.tried[trials.best()[0]].values)
    (path,) = trials.machines()
    assert path(choice.value).violation < 1e-8
    assert path.gram.kernel.gamma == trials.best()[0]


def test_a_descent_ends_where_no_neighbour_is_better():
    trials = trials_of(LeastSquares())
    trials.descend(0.01, lambda gamma: 0.1, jumps=True)
    assert sum(len(each.values) for each in trials.tried.values()) <= 8
    first = trials.tried[0.01].scores[np.flatnonzero(np.isclose(trials.tried[0.01].values, 0.1))[0]]
    assert trials.score() < first


def test_a_descent_jumps_only_where_it_may():
    for jumps in (True, False):
        trials = trials_of(SquaredHinge())
        trials.descend(0.05, lambda gamma: 1.0, jumps=jumps)
        moves = trials.neighbours(0.05, 1.0, lambda gamma: 1.0, jumps)
        assert np.isclose(moves[0], [0.1, 1.0]).all()
        assert moves[1][0] == 0.05
        assert np.isclose([gamma for gamma, _ in moves], 0.2).any() == jumps
        assert len(trials.tried) > 1


@pytest.mark.parametrize("rule", ["min", "one_se"])
@pytest.mark.parametrize("way", ["follow", "descend"])
def test_a_kernel_without_gamma(rule, way):
    trials, nan = trials_of(SquaredHinge(), Linear(), rule, gamma=None), float("nan")
    if way == "follow":
        trials.follow({nan: 1.0}, 1)
    else:
        trials.descend(nan, lambda gamma: 1.0, jumps=True)
    choice = trials.result().choice
    assert choice.tried == {}
    scores, errors = choice.curve.scores, choice.curve.standard_errors
    low = int(np.argmin(scores))
    good = scores <= scores[low] + (errors[low] if rule == "one_se" else 1e-12)
    assert good[choice.index]
    if rule == "one_se":
        assert choice.value == choice.curve.values[good].min()


def test_one_standard_error_takes_the_simplest_machine_of_all():
    trials = trials_of(SquaredHinge(), rule="one_se")
    trials.follow({0.5: 1.0, 2.0: 1.0}, 2)
    lowest = min((each.scores.min(), gamma) for gamma, each in trials.tried.items())
    best = trials.tried[lowest[1]]
    bar = lowest[0] + best.standard_errors[np.argmin(best.scores)]
    good = min((C, g) for g, each in trials.tried.items() for C, s in zip(each.values, each.scores) if s <= bar)  # noqa: B905
    assert trials.best() == (good[1], good[0])


def test_a_list_of_values_is_not_left():
    axis = Axis(np.array([0.1, 1.0, 10.0]))
    trials = trials_of(SquaredHinge(), C=axis, gamma=Axis(np.array([0.3, 3.0])))
    trials.follow({0.3: 1.0, 3.0: 1.0}, 2)
    assert set(trials.tried) == {0.3, 3.0}
    assert all(set(each.values) <= {0.1, 1.0, 10.0} for each in trials.tried.values())


def test_nothing_is_begun_after_the_time_is_over():
    trials = trials_of(SquaredHinge(), seconds=-1.0)
    trials.follow({0.5: 1.0, 2.0: 1.0}, 2)
    assert list(trials.tried) == [0.5]
    trials = trials_of(LeastSquares(), seconds=-1.0)
    trials.descend(0.5, lambda gamma: 1.0, jumps=True)
    assert sum(len(each.values) for each in trials.tried.values()) == 1


def test_matrices_that_were_dropped_are_made_again(monkeypatch):
    plain = trials_of(SquaredHinge(), rule="one_se")
    plain.follow({2.0: 1.0, 0.5: 1.0}, 2)
    monkeypatch.setattr("svmpath.search.limits.KEPT_ENTRIES", 1.0)
    dropped = trials_of(SquaredHinge(), rule="one_se")
    dropped.follow({2.0: 1.0, 0.5: 1.0}, 2)
    assert dropped.best() == plain.best()
    np.testing.assert_allclose(dropped.result().choice.curve.held, plain.result().choice.curve.held, atol=1e-7)


def test_the_others_are_compared_at_one_pair():
    targets = [Y, -Y, np.sign(X[:, 0] - 0.5)]
    first, other = (trials_of(loss, targets=targets) for loss in (LeastSquares(), SquaredHinge()))
    first.descend(1.0, lambda gamma: 1.0, jumps=True)
    gamma, C = first.best()
    other.compare(gamma, C, first)
    assert list(other.tried) == [gamma]
    assert len(other.machines()) == 3


# --- scores ----------------------------------------------------------------------------------------------------------


def scores(*pairs, error=0.1):
    values, found = (np.array(each, dtype=float) for each in zip(*pairs, strict=True))
    return Scores(values, found, np.full(len(values), error), found)


def test_an_end_counts_only_if_the_score_falls_there():
    assert falls_at_end(scores((1, 1.0), (2, 0.9), (3, 0.5)))
    assert not falls_at_end(scores((1, 1.0), (2, 0.51), (3, 0.5)))
    assert falls_at_end(scores((3, 1.0), (1, 0.5), (2, 0.9)))
    assert not falls_at_end(scores((1, 0.5)))


def test_lowest_over_gamma_and_order():
    tried = {2.0: scores((1, 0.4), (2, 0.3)), 1.0: scores((1, 0.2), (2, 0.9)), 3.0: scores((1, 0.5))}
    lowest = lowest_over_gamma(tried)
    np.testing.assert_array_equal(lowest.values, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(lowest.scores, [0.2, 0.3, 0.5])
    assert ordered(tried) == [1.0, 2.0, 3.0]


# --- curves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["span", "loo", "radius_margin", "kfold"])
def test_joined_curves_in_order_are_one_curve(name):
    criterion = getattr(criteria, name)
    path = svmpath.trace(X, Y, loss="squared_hinge", gamma=1.0)
    more = {"cv": 3} if name == "kfold" else {}
    whole = criterion(path, np.array([0.1, 1.0, 10.0, 50.0]), **more)
    parts = [criterion(path, np.array(values), **more) for values in ([10.0, 0.1], [50.0], [1.0])]
    joined = parts[0].joined(parts[1]).joined(parts[2])
    np.testing.assert_array_equal(joined.values, [10.0, 0.1, 50.0, 1.0])
    ordered = joined.in_order()
    np.testing.assert_array_equal(ordered.values, whole.values)
    np.testing.assert_allclose(ordered.scores, whole.scores, rtol=1e-7)
    np.testing.assert_array_equal(ordered.unreliable, whole.unreliable)
    if name != "radius_margin":
        np.testing.assert_allclose(ordered.held, whole.held, atol=1e-7)
        np.testing.assert_allclose(ordered.rescored("squared").scores, whole.rescored("squared").scores, rtol=1e-6)
        np.testing.assert_allclose(ordered.smooth, whole.smooth, rtol=1e-6)
    assert whole.in_order().scores.tolist() == whole.scores.tolist()


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_a_far_gamma_is_looked_at_with_larger_C_while_that_helps(C):
    trials = trials_of(SquaredHinge())
    trials.follow({1.0: 1.0}, 1)
    looks, scored, best = [], trials._scored, trials.score()
    trials._scored = lambda gamma, values: looks.append((gamma, scored(gamma, values))) or looks[-1][1]
    trials.explore(0.125, C)
    single = [curve for _, curve in looks if len(curve.values) == 1][:3]
    values, bars = [float(curve.values[0]) for curve in single], [0.5 * curve.standard_errors[0] for curve in single]
    scores = [direct(SquaredHinge(), 0.125, value) for value in values]
    assert values == pytest.approx([C, 30 * C, 900 * C][: len(values)])
    is_worse = [scores[k] > scores[k - 1] + bars[k] for k in range(1, len(scores))]
    assert not any(is_worse[:-1])
    assert len(values) == 3 or is_worse[-1]
    assert (0.125 in trials.tried) == any(len(curve.values) > 1 for _, curve in looks)
    assert trials.score() <= best

"""The default search: stages, budgets, and its choice against a direct evaluation and against a grid."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_gaussian_quantiles, make_moons

from svmpath import PathSVC, PathSVR
from svmpath.datasets import twonorm
from svmpath.exceptions import LimitWarning
from svmpath.gram import Clipped
from svmpath.paths import Request, trace_problem
from svmpath.search import limits, rank, stages
from svmpath.search.rank import double_rank
from svmpath.search.trials import Trials
from tests import reference
from tests.speed import each_once, first_quick


def rings(n, seed):
    """Two rings with noise: no linear machine, and no kernel that is too smooth."""
    rng = np.random.default_rng(seed)
    radius, angle = np.where(np.arange(n) % 2, 1.0, 2.0), rng.uniform(0, 2 * np.pi, n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + 0.35 * rng.normal(size=(n, 2))
    return X, (radius > 1.5).astype(int)


def moons(n, seed):
    return make_moons(n, noise=0.3, random_state=seed)


def waves(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(3 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)


@first_quick(1)
@pytest.mark.parametrize("make", [rings, moons, twonorm], ids=lambda make: make.__name__)
def test_its_choice_is_about_as_good_as_that_of_a_grid(make):
    X, y = make(120, 0)
    new, labels = make(2000, 1)
    errors = {}
    for search in ("auto", "grid"):
        model = PathSVC(search=search, random_state=0).fit(X, y)
        errors[search] = np.mean(model.predict(new) != labels)
    dull = np.mean(PathSVC(C=1e-3, gamma=1e-3).fit(X, y).predict(new) != labels)
    assert errors["auto"] <= errors["grid"] + 0.025
    if make is not twonorm:  # which any machine solves
        assert errors["auto"] < dull - 0.1


def test_its_choice_for_numbers_is_about_as_good_as_that_of_a_grid():
    X, y = waves(150, 0)
    new, amounts = waves(1000, 1)
    auto, grid = (PathSVR(search=search, random_state=0).fit(X, y).score(new, amounts) for search in ("auto", "grid"))
    assert auto >= grid - 0.02
    assert auto > 0.85


# --- stages ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_limits(monkeypatch):
    """All stages with some hundred samples."""
    monkeypatch.setattr(limits, "UNNARROWED_ROWS", 60)
    monkeypatch.setattr(limits, "FIRST_RANK", 30)


def stages_of(model):
    return [stage.name for stage in model.choice_.stages]


def test_few_samples_are_screened_and_confirmed():
    X, y = moons(80, 0)
    assert stages_of(PathSVC(random_state=0).fit(X, y)) == ["screen", "confirm"]
    three = np.digitize(X[:, 0], [0.0, 1.0])
    # The squared hinge is first tried with a much smoother kernel, then at the pair of least squares; then pairs.
    assert stages_of(PathSVC(random_state=0).fit(X, three)) == ["screen", "confirm", "compare", "compare", "pairs"]
    assert stages_of(PathSVR(random_state=0).fit(X, X[:, 0])) == ["screen", "confirm"]


@first_quick(2)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("what", ["labels", "classes", "numbers"])
def test_more_samples_are_narrowed_in_between(small_limits, what, kernel):
    X, y = moons(120, 0)
    target = {"labels": y, "classes": np.digitize(X[:, 0], [0.0, 1.0]), "numbers": np.sin(2 * X[:, 0])}[what]
    model = (PathSVR if what == "numbers" else PathSVC)(kernel=kernel, random_state=0).fit(X, target)
    screen, narrow, confirm, *others = model.choice_.stages
    assert [screen.name, narrow.name, confirm.name] == ["screen", "narrow", "confirm"]
    of_classes = {"compare"} | ({"pairs"} if kernel == "rbf" else set())
    assert {stage.name for stage in others} == (of_classes if what == "classes" else set())
    assert narrow.rank == (2 if (what, kernel) == ("labels", "linear") else 30)  # two columns have no more
    assert confirm.rank == model.rank_ == 120
    assert narrow.loss == ("squared_hinge" if what == "labels" else "least_squares")
    assert len(narrow.tried) < len(screen.tried) or kernel == "linear"
    assert model.path_(model.C_).violation < 1e-6
    assert model.score(X, target) > (0.1 if (what, kernel) == ("numbers", "linear") else 0.8)


@pytest.mark.parametrize("gains", [True, False])
def test_another_loss_sees_the_full_matrix_if_it_gains_in_low_rank(small_limits, monkeypatch, gains):
    in_low_rank = stages.in_low_rank

    def better_or_worse(*args):
        first, other = in_low_rank(*args)
        curve, shift = other.best_curve(), 1.0 if not gains else -1.0
        vars(curve)["scores"] = first.best_curve().scores + shift
        monkeypatch.setattr(other, "best_curve", lambda: curve)
        return [first, other]

    monkeypatch.setattr(stages, "in_low_rank", better_or_worse)
    monkeypatch.setattr(limits, "PAIR_OPERATIONS", 0.0)
    X, _ = moons(120, 0)
    model = PathSVC(random_state=0).fit(X, np.digitize(X[:, 0], [0.0, 1.0]))
    compared = [(stage.loss, stage.rank) for stage in model.choice_.stages if stage.name == "compare"]
    assert compared[0][0] == "squared_hinge"  # with a much smoother kernel
    assert compared[1:3] == [("least_squares", 30), ("squared_hinge", 30)]
    assert compared[3:] == ([("squared_hinge", 120)] if gains else [])
    assert gains or model.loss_ == "least_squares"


def test_one_class_around_another_wants_a_smooth_kernel_with_a_large_C(monkeypatch):
    # Least squares needs a narrow kernel for the ring in the middle, and errs twice as often.
    X, y = make_gaussian_quantiles(n_samples=1300, n_features=5, n_classes=3, random_state=2)
    model, squares = (PathSVC(loss=loss, random_state=0).fit(X[:300], y[:300]) for loss in (None, "least_squares"))
    assert model.loss_ == "squared_hinge"
    assert model.gamma_ < squares.gamma_ / 10
    errors = [np.mean(each.predict(X[300:]) != y[300:]) for each in (model, squares)]
    assert errors[0] < 0.6 * errors[1]
    # With so many rows that the rank grows, too.
    for name, value in (("FULL_ROWS", 100), ("FULL_OPERATIONS", 1.0), ("LAST_FULL_ROWS", 0), ("UNNARROWED_ROWS", 100)):
        monkeypatch.setattr(limits, name, value)
    monkeypatch.setattr(limits, "FIRST_RANK", 100)
    many = PathSVC(random_state=0).fit(X[:300], y[:300])
    assert (many.loss_, many.rank_ < 300) == ("squared_hinge", True)
    assert np.mean(many.predict(X[300:]) != y[300:]) < 0.6 * errors[1]


def test_a_narrow_kernel_is_seen_with_more_landmarks():
    # Eight waves: 64 landmarks miss a third of such a kernel, by which it looks worse than a straight line.
    rng = np.random.default_rng(1000)
    X = rng.uniform(-1, 1, size=(900, 2))
    y = (X[:, 1] > 0.5 * np.sin(8 * np.pi * X[:, 0])).astype(int)
    X = np.sqrt(3.0) * X
    model = PathSVC(random_state=0).fit(X[:500], y[:500])
    assert model.gamma_ > 4
    assert np.mean(model.predict(X[500:]) != y[500:]) < 0.12


def test_a_low_rank_that_grows(monkeypatch):
    monkeypatch.setattr(limits, "FULL_ROWS", 60)
    monkeypatch.setattr(limits, "FULL_OPERATIONS", 1.0)
    monkeypatch.setattr(limits, "FIRST_RANK", 10)
    monkeypatch.setattr(limits, "MOST_RANK", 80)
    monkeypatch.setattr(limits, "LAST_FULL_ROWS", 0)
    X, y = moons(200, 0)
    for target, make in ((y, PathSVC), (np.digitize(X[:, 0], [0.0, 1.0]), PathSVC), (X[:, 0] ** 2, PathSVR)):
        model = make(random_state=0, effort="quick").fit(X, target)
        ranks = [stage for stage in model.choice_.stages if stage.name == "rank"]
        ranks = [stage for stage in ranks if stage.tried.keys() == ranks[0].tried.keys()]  # of the first kernel
        assert [stage.rank for stage in ranks[:-1]] == [10 * 2**k for k in range(len(ranks) - 1)]
        assert ranks[-1].rank <= 10 * 2 ** (len(ranks) - 1)  # less where landmarks are nearly combinations of others
        assert model.rank_ in [stage.rank for stage in model.choice_.stages if stage.name == "rank"]
        assert 0.0 <= model.residual_ <= 1.0
        assert model.loss_ == model.path_.loss.name
        table = model.search_table_
        assert table[~table.stage.isin(["screen", "narrow"])].kept.sum() == 1
        assert model.score(X, target) > 0.85
        full = make(rank=None, random_state=0).fit(X, target)
        assert full.rank_ == 200
        assert abs(full.score(X, target) - model.score(X, target)) < 0.06


@pytest.mark.parametrize("best", ["least_squares", "squared_hinge"])
def test_all_classes_have_machines_of_the_loss_that_is_best_in_low_rank(monkeypatch, best):
    monkeypatch.setattr(limits, "FULL_ROWS", 60)
    monkeypatch.setattr(limits, "FULL_OPERATIONS", 1.0)
    monkeypatch.setattr(limits, "FIRST_RANK", 20)
    monkeypatch.setattr(limits, "MOST_RANK", 40)
    monkeypatch.setattr(limits, "LAST_FULL_ROWS", 0)
    score = Trials.score
    monkeypatch.setattr(Trials, "score", lambda self: score(self) if self.evaluator.loss.name == best else np.inf)
    X, y = moons(200, 0)
    classes = np.digitize(X[:, 0], [0.0, 1.0])
    model = PathSVC(random_state=0, effort="quick").fit(X, classes)
    assert model.loss_ == model.path_.loss.name == best
    Z, f = np.asarray(model.path_.gram.Z, dtype=float), model.decision_function(X)
    for k in range(3):
        y = np.where(classes == k, 1.0, -1.0)
        if best == "least_squares":
            alpha, b = reference.fit(Z @ Z.T, y, np.ones(200), model.C_)
        else:
            alpha, b, _ = reference.squared_hinge(Z @ Z.T, y, np.ones(200), model.C_)
        np.testing.assert_allclose(f[:, k], Z @ (Z.T @ alpha) + b, atol=1e-4)


@pytest.fixture
def many(monkeypatch):
    """A hundred samples are many: narrowed, and in a low rank that grows."""
    few = {"UNNARROWED_ROWS": 40, "FULL_ROWS": 60, "MOST_FULL_ROWS": 0, "FIRST_RANK": 16, "LAST_FULL_ROWS": 0}
    for name, value in few.items():
        monkeypatch.setattr(limits, name, value)


@first_quick(1)
@pytest.mark.filterwarnings("ignore::svmpath.exceptions.EdgeWarning")
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "huber_hinge"])
@pytest.mark.parametrize("gamma", ["tune", 0.5])
def test_a_rank_that_grows_leaves_the_values_of_C_that_were_given(many, loss, gamma):
    X, y = twonorm(120, 0)
    for C in (1.0, [1.0, 9.0], (1.0, 1.5)):
        model = PathSVC(loss=loss, C=C, gamma=gamma, random_state=0).fit(X, y)
        assert "rank" in stages_of(model)
        assert model.C_ in C if isinstance(C, list) else np.min(C) <= model.C_ <= np.max(C)


@pytest.mark.parametrize("seed", [2, 1])
def test_all_machines_of_a_rank_that_grows_have_the_loss_that_was_chosen(many, seed):
    X, y = make_classification(150, 6, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.1, random_state=seed)
    model = PathSVC(random_state=0, effort="quick").fit(X, y)
    last = [stage for stage in model.choice_.stages if stage.name == "rank"][-1]
    assert model.loss_ == model.path_.loss.name == last.loss == ("least_squares" if seed == 1 else "squared_hinge")
    f = model.decision_function(X)
    for k in range(3):
        sign = np.where(y == k, 1.0, -1.0)
        path = trace_problem(replace(model.path_.problem, y=sign), Request(model.path_.loss, "C", model.path_.span))
        np.testing.assert_allclose(f[:, k], path(model.C_).fitted, atol=1e-6)


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_the_pair_chosen_is_marked_where_a_rank_grows(many, rule):
    X, y = moons(110, 0)
    model = PathSVC(rule=rule, random_state=0, effort="quick").fit(X, y)
    table = model.search_table_.query("stage == 'rank'")
    assert table[table.kept].C.tolist() == [model.C_]


@first_quick(1)
@pytest.mark.parametrize("criterion", ["radius_margin", "kfold", "loo"])
def test_scores_of_a_rank_that_grows_are_of_the_criterion_asked_for(many, monkeypatch, criterion):
    first = []
    monkeypatch.setattr(rank, "double_rank", lambda *args: (first.append(args[-2]), double_rank(*args))[1])
    X, y = twonorm(120, 0)
    model = PathSVC(criterion=criterion, random_state=0, effort="quick").fit(X, y)
    assert [each.criterion for each in first if each is not None] == (["kfold"] if criterion == "kfold" else [])
    assert model.curve_.criterion == criterion


def test_a_rank_that_grows_begins_with_the_curve_of_its_own_gamma(many, monkeypatch):
    seen = []

    def spied(tuner, evaluator, kernel, *args):
        seen.append((kernel, args[-2]))
        return double_rank(tuner, evaluator, kernel, *args)

    monkeypatch.setattr(rank, "double_rank", spied)
    for seed in range(3):
        X, y = make_classification(150, 6, n_informative=4, n_redundant=0, flip_y=0.1, random_state=seed)
        for rule in ("min", "one_se"):
            PathSVC(rule=rule, random_state=0, effort="quick").fit(X, y)
    assert all(first is None or first.path.gram.kernel == kernel for kernel, first in seen)
    assert sum(first is None for _, first in seen) < 6


def test_time_that_is_over_leaves_one_machine():
    X, y = moons(100, 0)
    with pytest.warns(LimitWarning, match="time_limit"):
        model = PathSVC(time_limit=1e-9, random_state=0).fit(X, y)
    confirm = model.choice_.stages[-1]
    assert len(confirm.tried) == 1
    assert np.mean(model.predict(X) == y) > 0.8
    assert model.path_(model.C_).violation < 1e-8


def test_seconds_of_the_stages_are_those_of_the_search(monkeypatch):
    """By a clock that goes on by one second whenever somebody looks at it."""
    X, y = moons(100, 0)
    looks = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: float(next(looks)))
    model = PathSVC(random_state=0).fit(X, y)
    total = next(looks)
    seconds = [stage.seconds for stage in model.choice_.stages]
    assert all(each > 0 for each in seconds)
    assert sum(seconds) <= total


# --- beyond the largest rank -----------------------------------------------------------------------------------------


def wide(n, d, seed):
    """A linear problem with so many columns that each rank gains."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) > 0).astype(int)


@each_once
@pytest.mark.parametrize("what", ["labels", "classes"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_full_matrix_follows_the_largest_rank_if_that_still_gained(many, monkeypatch, kernel, what):
    monkeypatch.setattr(limits, "MOST_RANK", 32)
    X, y = wide(160, 100, 3)
    y = y if what == "labels" else y + (X[:, 0] > 1.0)
    low = PathSVC(kernel=kernel, random_state=0, effort="quick").fit(X, y)
    monkeypatch.setattr(limits, "LAST_FULL_ROWS", 1000)
    model = PathSVC(kernel=kernel, random_state=0, effort="quick").fit(X, y)
    assert [stage.rank for stage in model.choice_.stages if stage.name == "rank"] == [16, 32, 160]
    assert (low.rank_, model.rank_, model.residual_) == (32 if kernel == "rbf" else 64, 160, 0.0)
    assert model.path_(model.C_).violation < 1e-6
    table = model.search_table_
    assert model.choice_.score < table[(table.stage == "rank") & (table["rank"] < 160)].score.min()
    assert table[table.stage == "rank"].query("kept")["rank"].tolist() == [160]
    monkeypatch.setattr(limits, "LAST_FULL_OPERATIONS", 1.0)  # too dear
    assert PathSVC(kernel=kernel, random_state=0, effort="quick").fit(X, y).rank_ == 32


def test_the_linear_kernel_goes_on_to_as_many_landmarks_as_columns(many, monkeypatch):
    monkeypatch.setattr(limits, "MOST_RANK", 32)
    for d, most in ((20, 20), (50, 50), (100, 64)):
        X, y = wide(160, d, 3)
        ranks = [
            stage.rank for stage in PathSVC(kernel="linear", random_state=0, effort="quick").fit(X, y).choice_.stages
        ]
        assert max(ranks[2:]) == most


@pytest.mark.parametrize(("loss", "times"), [("squared_hinge", 1), ("least_squares", 0), ("huber_hinge", 0)])
def test_only_a_machine_that_gains_from_it_is_started_in_low_rank(small_limits, monkeypatch, loss, times):
    calls, stand_in = [], stages.stand_in
    monkeypatch.setattr(stages, "stand_in", lambda tuner: (calls.append(1), stand_in(tuner))[1])
    X, y = moons(120, 0)
    model = PathSVC(loss=loss, C=1.0, gamma=1.0).fit(X, y)
    assert len(calls) == times
    assert model.path_(1.0).violation < 1e-6


def test_decompositions_of_a_clipped_kernel_count(monkeypatch):
    X, y = moons(80, 0)
    monkeypatch.setattr("svmpath.search.limits.DESCENT_OPERATIONS", 3 * 15.0 * 80**3)
    options = {"kernel": "sigmoid", "coef0": -1.0, "rank": Clipped(), "random_state": 0}
    confirm = PathSVC(loss="least_squares", **options).fit(X, y + (X[:, 0] > 1)).choice_.stages[1]
    assert sum(len(scores.values) for scores in confirm.tried.values()) <= 3


def test_two_classes_try_a_smoother_kernel_with_a_larger_C(monkeypatch):
    """A product of two of six columns: the squared hinge is better at a gamma that least squares never shortlists."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 6))
    y = np.sign(X[:, 0] * X[:, 1])
    model = PathSVC().fit(X, y)
    monkeypatch.setattr(limits, "SMOOTHER_CONFIRMED", 1.0)  # as if there were no such look
    other = PathSVC().fit(X, y)
    lowest = [min(each.lowest[0] for each in fit.choice_.stages[-1].tried.values()) for fit in (model, other)]
    assert model.gamma_ < other.gamma_ / 4.0
    assert model.C_ > other.C_
    assert lowest[0] < lowest[1] - 0.03
    exact = [
        PathSVC(C=fit.C_, gamma=fit.gamma_, loss="squared_hinge", criterion="loo").fit(X, y) for fit in (model, other)
    ]
    assert exact[0].held_out_error() <= exact[1].held_out_error() + 1e-9


def test_about_the_same_smooth_kernel_is_not_looked_at_twice(monkeypatch):
    looks, explore = [], Trials.explore
    monkeypatch.setattr(Trials, "explore", lambda self, *pair: looks.append(pair) or explore(self, *pair))
    for seed in range(6):
        X, y = make_classification(120, 6, flip_y=0.2, random_state=seed)
        looks.append(None)  # another fit
        PathSVC().fit(X, y)
    for first, second in itertools.pairwise(looks):
        if first is not None and second is not None:
            assert not 0.49 < first[0] / second[0] < 2.1 or first[1] < second[1]
    assert sum(each is not None for each in looks) > 6

"""Certified approximate paths: the promised gap, and what it is promised for."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.datasets import make_moons

import svmpath
from svmpath import criteria, datasets
from svmpath.losses import make_loss
from svmpath.paths import NodePath, Request, trace_problem
from svmpath.solvers.smoothed import Terms, between, middle_offset, node_of, solve
from tests.rounding import assert_same
from tests.speed import first_quick, slow_except

RNG = np.random.default_rng(0)
X, Y = make_moons(150, noise=0.3, random_state=0)
WAVE = np.sin(2 * X[:, 0]) + 0.2 * RNG.normal(size=150)
S = RNG.exponential(size=150) * (RNG.random(150) < 0.9) + 1e-300


@pytest.fixture(autouse=True)
def approximate(monkeypatch):
    """Approximate paths also where exact ones would take less time."""
    monkeypatch.setattr(sys.modules["svmpath.paths.trackers"], "exact_is_cheaper", lambda n, rank: False)


OPTIONS = [{}, {"rank": 40}, {"sample_weight": S}, {"kernel": "linear"}]
KINDS = [(loss, options) for loss in ("hinge", "epsilon_insensitive", "pinball") for options in OPTIONS]


@first_quick(5)
@pytest.mark.parametrize(("loss", "options"), [*KINDS, ("hinge", {"class_weight": "balanced"})])
@pytest.mark.parametrize("tol", slow_except([1e-2, 1e-3], [1e-2]))
def test_the_gap_is_as_promised_at_every_value(loss, options, tol):
    target = Y if loss == "hinge" else WAVE
    path = svmpath.trace(X, target, loss=loss, span=(1e-3, 10.0), tol=tol, random_state=0, **options)
    for C in 10 ** np.random.default_rng(1).uniform(-3, 1, size=100):
        solution = path(C)
        assert solution.gap <= tol
        assert abs(solution.alpha.sum()) <= 1e-12 * C * path.problem.s.sum()
    path.check()
    exact = svmpath.trace(X, target, loss=loss, span=(1e-3, 10.0), random_state=0, **options)
    assert len(path.breakpoints) < len(exact.breakpoints)


def test_the_objective_is_within_tol_of_the_exact_one():
    def objective(solution):
        losses = np.maximum(1 - path.problem.y * solution.fitted, 0).sum()
        return solution.parameters["C"] * losses + 0.5 * solution.alpha @ (solution.fitted - solution.b)

    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 10.0), tol=1e-3)
    exact = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 10.0))
    for C in np.geomspace(1e-2, 10, 13):
        best = objective(exact(C))
        assert best * (1 - 1e-12) <= objective(path(C)) <= best * (1 + 1.1e-3)


def test_the_bound_holds_all_along_a_line_and_is_not_empty():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(0.1, 1.0), tol=1e-3)
    terms: Terms = path.terms
    one, two = (solve(terms, lam, 1e-5, np.zeros(terms.A.shape[1])) for lam in (4.0, 2.0))
    bound = between(one, two)
    gaps = []
    for tau in np.linspace(0, 1, 101):
        mix = node_of(
            terms,
            (1 - tau) * 4.0 + tau * 2.0,
            (1 - tau) * one.a + tau * two.a,
            (1 - tau) * one.x[-1] + tau * two.x[-1],
            0.0,
        )
        gaps.append(mix.relative)
    assert max(gaps) <= bound <= 20 * max(gaps)
    assert max(gaps) > 10 * max(one.relative, two.relative)  # it is the line that costs, not its ends


def test_both_directions_pickles_and_events():
    up = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1.0), tol=1e-2)
    down = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1.0, 1e-2), tol=1e-2)
    assert isinstance(up, NodePath)
    assert_same(up.breakpoints, down.breakpoints[::-1])
    assert_same(up(0.3).alpha, down(0.3).alpha)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(up))(0.3).alpha, up(0.3).alpha, atol=1e-12)
    events = list(up.events())
    assert events
    assert all(event.source != event.target for event in events)
    assert len(list(down.events())) == len(events)
    assert up(1e-2).parameters["C"] == 1e-2


@pytest.mark.slow
def test_kfold_along_an_approximate_path_is_near_the_exact_one():
    C = np.array([0.1, 1.0])
    near = criteria.kfold(svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(0.1, 1.0), tol=1e-5), C)
    exact = criteria.kfold(svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(0.1, 1.0)), C)
    np.testing.assert_allclose(near.held, exact.held, atol=0.05)
    np.testing.assert_allclose(near.scores, exact.scores, atol=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "least_squares"}, "tol= works for loss='hinge', 'epsilon_insensitive' or 'pinball' over C"),
        ({"loss": "squared_hinge"}, "tol= works for loss='hinge', 'epsilon_insensitive' or 'pinball' over C"),
        ({"loss": "nu", "over": "nu"}, "tol= works for loss='hinge', 'epsilon_insensitive' or 'pinball' over C"),
        ({"loss": "hinge", "tol": -1.0}, "tol must be a positive number"),
    ],
)
def test_tol_is_refused_where_it_means_nothing(options, message):
    with pytest.raises(ValueError, match=message):
        svmpath.trace(X, Y, **{"tol": 1e-3, **options})


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    pytest.param({"kernel": "linear", "scale": 1e3, "span": (1e-3, 10.0), "tol": 1e-3}, marks=pytest.mark.slow),
    pytest.param({"gamma": 1.0, "scale": 1.0, "span": (10.0, 1e3), "tol": 1e-4}, marks=pytest.mark.slow),
    pytest.param({"gamma": 1.0, "scale": 1.0, "span": (0.1, 1.0), "tol": 1e-6}, marks=pytest.mark.slow),
    {"gamma": 1.0, "scale": 1.0, "span": (0.1, 1.0), "tol": 1e-4},
], ids=["large numbers", "large C", "tiny gap", "small gap"])  # fmt: skip
def test_hard_cases_end(options):
    scale, tol = options["scale"], options["tol"]
    options = {name: value for name, value in options.items() if name != "scale"}
    path = svmpath.trace(scale * X, Y, loss="hinge", **options)
    assert max(path(C).gap for C in np.geomspace(*path.span, 20)) <= tol


def test_one_class_with_weight_and_a_tube_that_holds_everything():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(0.1, 1.0), tol=1e-3, sample_weight=(Y == 1).astype(float))
    np.testing.assert_allclose(path(0.5)(X), 1.0)
    path = svmpath.trace(X, WAVE, loss="epsilon_insensitive", epsilon=10.0, gamma=1.0, span=(0.1, 1.0), tol=1e-3)
    assert not path(0.5).alpha.any()


@pytest.mark.slow
def test_events_are_about_as_many_as_there_are():
    near = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 10.0), tol=1e-4)
    exact = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 10.0))
    assert len(list(near.events())) < 3 * len(list(exact.events()))


def test_start_does_not_go_with_tol():
    with pytest.raises(ValueError, match="leave out start= or tol="):
        svmpath.trace(X, Y, loss="hinge", tol=1e-3, start=np.zeros(150))


@pytest.mark.slow
def test_what_is_searched_in_single_precision_is_proved_in_double():
    points, labels = datasets.twonorm(2600, random_state=0)
    path = svmpath.trace(
        points,
        labels,
        loss="hinge",
        gamma=0.05,
        rank=400,
        landmarks="uniform",
        random_state=0,
        span=(0.01, 0.1),
        tol=1e-3,
    )
    assert path.terms.A.size >= 1_000_000  # from which on single precision is used
    for node in path.nodes:
        assert node.a.dtype == node.x.dtype == float
        proved = node_of(path.terms, node.lam, node.a, node.x[-1], node.h)
        assert node.gap == pytest.approx(proved.gap, rel=1e-6)
    assert max(path(C).gap for C in np.geomspace(0.01, 0.1, 30)) <= 1e-3


def test_a_path_of_one_value_keeps_its_promise():
    problem = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(0.5, 1.0), tol=1e-4).problem
    path = trace_problem(problem, Request(make_loss("hinge", "classification"), "C", (0.7, 0.7), tol=1e-4))
    assert path(0.7).gap <= 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, pytest.param(S, marks=pytest.mark.slow)], ids=["plain", "weights"])
def test_an_undetermined_offset_is_the_middle_of_its_interval(weights):
    # With little C and balanced classes all samples are left of the margin, whatever the offset: as on an exact path
    # the middle is taken. An offset at one end of the interval would call all samples by one name.
    approximate = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-3, 10.0), tol=1e-3, sample_weight=weights)
    exact = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-3, 10.0), sample_weight=weights)
    for C in (1e-3, 2e-3, 5e-3):
        np.testing.assert_allclose(approximate(C).b, exact(C).b, atol=1e-3)
    values = np.geomspace(1e-3, 10.0, 9)
    near, right = (criteria.kfold(path, values, cv=5).scores for path in (approximate, exact))
    np.testing.assert_allclose(near, right, atol=0.02)


def test_an_approximate_path_of_repeated_rows_says_that_it_is_not_exact():
    path = svmpath.trace(np.repeat(X, 3, axis=0), np.repeat(Y, 3), loss="hinge", span=(1e-2, 1.0), tol=1e-2)
    assert isinstance(path, NodePath)
    assert not path.is_exact


def test_the_offset_has_the_least_losses():
    rng = np.random.default_rng(0)
    for trial in range(20):
        n = int(rng.integers(2, 12))
        A = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)])
        y, s = np.where(np.arange(n) % 2, 1.0, -1.0), rng.integers(0, 3, size=n) + (trial % 2) * rng.random(n)
        if not (s[y > 0].any() and s[y < 0].any()):
            continue
        x = rng.normal(size=3)
        b = middle_offset(Terms(A, y[None], np.ones((1, n)), s[None]), x)
        f = A[:, :-1] @ x[:-1]
        losses = [s @ np.maximum(1.0 - y * (f + each), 0.0) for each in np.append(np.concatenate([1 - f, -1 - f]), b)]
        assert losses[-1] <= min(losses) + 1e-12


def test_with_few_rows_tol_gives_the_exact_path(monkeypatch):
    monkeypatch.undo()
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, tol=1e-3)
    assert path.is_exact
    assert_same(path(1.0).alpha, svmpath.trace(X, Y, loss="hinge", gamma=1.0)(1.0).alpha)
    points, labels = datasets.twonorm(2001, random_state=0)
    for rank, is_exact in ((5, False), (300, True)):
        path = svmpath.trace(points, labels, loss="hinge", gamma=0.05, span=(1e-3, 2e-3), tol=1e-2, rank=rank)
        assert path.is_exact is is_exact
        assert ("gaps up to 0.01" in repr(path)) is not is_exact


def test_an_estimator_with_a_gap_and_few_rows_chooses_as_without(monkeypatch):
    # It used to take k-fold along approximate paths, which with 100 rows takes longer and chose another C.
    monkeypatch.undo()
    one = svmpath.PathSVC(loss="hinge", gamma=[0.5, 1.0]).fit(X, Y)
    monkeypatch.setattr("svmpath.estimators._base.automatic_gap", lambda loss, n: 1e-3)
    two = svmpath.PathSVC(loss="hinge", gamma=[0.5, 1.0]).fit(X, Y)
    assert (one.C_, one.gamma_, one.criterion_) == (two.C_, two.gamma_, two.criterion_)
    assert two.path_.is_exact


@first_quick(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_separable_data_with_a_large_C(weighted):
    # All coefficients are tiny parts of their weights: what u / h tells of them is lost in rounding.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 120)), np.where(np.arange(16) % 2, 1.0, -1.0)
    s = 10.0 ** rng.uniform(-3, 2, size=16) if weighted else np.ones(16)
    path = svmpath.trace(X, y, loss="hinge", kernel="linear", tol=3e-4, span=(1.0, 1e3), sample_weight=s)
    exact = svmpath.trace(X, y, loss="hinge", kernel="linear", span=(1.0, 1e3), sample_weight=s)
    for value in np.geomspace(1.0, 1e3, 7):
        assert path(value).gap <= 3e-4
        np.testing.assert_allclose(path(value).fitted, exact(value).fitted, atol=0.05)


@pytest.mark.slow
def test_features_too_large_for_double_precision_are_refused_in_a_sentence():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([np.full(12, 1e30), rng.normal(size=12)]), np.where(np.arange(12) % 2, 1.0, -1.0)
    X[0, 0] = 0.0
    with pytest.raises(svmpath.PathError, match=r"scale the columns"):
        svmpath.trace(X, y, loss="hinge", kernel="linear", tol=1e-3).breakpoints  # noqa: B018

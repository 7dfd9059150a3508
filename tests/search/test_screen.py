"""The first look at many kernels: its scores against plain refits, the rows that it draws, kernels of every kind."""

import numpy as np
import pytest
from scipy import sparse

from svmpath.gram import Clipped, make_gram
from svmpath.kernels import make_kernel
from svmpath.losses import Problem
from svmpath.search.axis import Axis
from svmpath.search.choice import Scores
from svmpath.search.log import NO_GAMMA, TrialLog
from svmpath.search.screen import Screen, drawn_rows
from tests import reference
from tests.rounding import assert_same

rng = np.random.default_rng(0)
N = 40
X = rng.normal(size=(N, 2))
LABELS = np.sign(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=N))
WEIGHTS = np.where(np.arange(N) % 5 == 0, 0.0, rng.uniform(0.5, 2.0, size=N))
C = np.array([0.1, 10.0, 1e3])


def problem_of(kernel="rbf", X=X, y=LABELS, s=None, task="classification", **options):
    gram = make_gram(X, make_kernel(kernel, gamma=options.pop("gamma", 1.0), X=X, **options), rank=Clipped())
    return Problem(gram, y, np.ones(len(y)) if s is None else s, task)


def plain_scores(K, Y, s, task):
    """The mean over samples and classes of squared held-out residuals, cut off at 9 for labels."""
    residuals = np.array([[y - reference.leave_one_out(K, y, s, c) for y in Y] for c in C])
    squares = residuals**2 if task == "regression" else np.minimum(residuals**2, 9.0)
    return squares.mean(axis=1) @ (s / s.sum())


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("s", [np.ones(N), WEIGHTS], ids=["unit", "zeros"])
def test_scores_are_those_of_refits_if_every_row_is_a_landmark(task, s):
    y = LABELS if task == "classification" else 3.0 * X[:, 0] ** 2 + rng.normal(size=N)
    screen = Screen([problem_of(y=y, s=s, task=task)], C, "gamma", seed=0)
    screen.score([0.3, 3.0])
    rows = np.flatnonzero(s)
    assert np.array_equal(screen.landmarks, rows)
    for gamma, found in screen.tried.items():
        K = reference.rbf(X[rows], X[rows], gamma)
        np.testing.assert_allclose(found.scores, plain_scores(K, [y[rows]], s[rows], task), rtol=1e-3)
        np.testing.assert_array_equal(found.values, C)


def test_several_classes_are_averaged():
    targets = [LABELS, np.sign(X[:, 0]), np.sign(X[:, 1] - 0.5)]
    screen = Screen([problem_of(y=y) for y in targets], C, "gamma", seed=0)
    screen.score([1.0])
    expected = plain_scores(reference.rbf(X, X, 1.0), targets, np.ones(N), "classification")
    np.testing.assert_allclose(screen.tried[1.0].scores, expected, rtol=1e-3)


def test_the_same_seed_gives_the_same_scores_and_threads_change_nothing():
    X = rng.normal(size=(200, 3))
    y = np.sign(X[:, 0] - X[:, 1] ** 2 + 0.5)
    found = []
    for n_jobs in (1, 2):
        screen = Screen([problem_of(X=X, y=y)], C, "gamma", seed=3, rows=150, landmarks=20)
        screen.score([0.1, 1.0, 10.0], n_jobs)
        found.append(np.array([screen.tried[gamma].scores for gamma in (0.1, 1.0, 10.0)]))
    assert_same(*found)
    other = Screen([problem_of(X=X, y=y)], C, "gamma", seed=4, rows=150, landmarks=20)
    assert not np.array_equal(other.landmarks, screen.landmarks)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [("linear", {}), ("poly", {"degree": 2, "coef0": 1.0}), ("laplacian", {}), ("sigmoid", {"coef0": -1.0})],
)
def test_kernels_of_every_kind(kernel, options):
    """Landmarks that are all rows leave a kernel as it is, but for the negative part of an indefinite one."""
    problem = problem_of(kernel, **options)
    over = None if kernel == "linear" else "gamma"
    screen = Screen([problem], C, over, seed=0)
    screen.score([NO_GAMMA] if over is None else [0.2])
    (scores,) = screen.tried.values()
    assert np.isfinite(scores.scores).all()
    if kernel == "sigmoid":
        return
    K = (problem.gram.kernel if over is None else problem.gram.kernel.at("gamma", 0.2))(X, X)
    np.testing.assert_allclose(scores.scores, plain_scores(K, [LABELS], np.ones(N), "classification"), rtol=2e-2)


def test_rows_of_a_precomputed_kernel_and_sparse_rows():
    dense, screen = (
        Screen([problem_of(X=rows)], C, "gamma", seed=0, rows=30, landmarks=12) for rows in (X, sparse.csr_matrix(X))
    )
    for each in (dense, screen):
        each.score([1.0])
    np.testing.assert_allclose(screen.tried[1.0].scores, dense.tried[1.0].scores, rtol=1e-6)
    # Rows and landmarks that are drawn from kernel values are not those that are drawn from rows: take all.
    dense, screen = (
        Screen([problem_of(**options)], C, over, seed=0, rows=N, landmarks=N)
        for options, over in (({}, "gamma"), ({"kernel": "precomputed", "X": reference.rbf(X, X, 1.0)}, None))
    )
    dense.score([1.0])
    screen.score([NO_GAMMA])
    (scores,) = screen.tried.values()
    np.testing.assert_allclose(scores.scores, dense.tried[1.0].scores, rtol=1e-4)


def test_rows_of_rare_classes_are_kept():
    y = np.full(5000, -1.0)
    y[rng.choice(5000, 25, replace=False)] = 1.0
    X = np.zeros((5000, 1))
    rows = drawn_rows([problem_of(X=X, y=y)], 200, seed=0)
    assert len(rows) == len(np.unique(rows)) == 200
    assert (np.diff(rows) > 0).all()
    assert (y[rows] > 0).sum() >= 20
    np.testing.assert_array_equal(rows, drawn_rows([problem_of(X=X, y=y)], 200, seed=0))
    assert not np.array_equal(rows, drawn_rows([problem_of(X=X, y=y)], 200, seed=1))
    rare = np.zeros(5000, dtype=int)
    rare[y > 0], rare[:3] = 1, 2
    many = [problem_of(X=X, y=np.where(rare == k, 1.0, -1.0)) for k in range(3)]
    counts = np.bincount(rare[drawn_rows(many, 200, seed=0)])
    assert counts[2] == 3
    assert counts[1] >= 20


def test_rows_without_weight_are_never_drawn():
    s = np.where(np.arange(N) < 20, 0.0, 1.0)
    assert (drawn_rows([problem_of(s=s)], 10, seed=0) >= 20).all()
    np.testing.assert_array_equal(drawn_rows([problem_of(s=s)], 50, seed=0), np.arange(20, N))
    y = np.linspace(0, 1, N)
    assert len(drawn_rows([problem_of(y=y, task="regression")], 10, seed=0)) == 10


def test_a_range_is_widened_where_the_best_is_an_end():
    x = np.linspace(-1.0, 1.0, 60)[:, None]
    problem = problem_of(X=x, y=np.sin(8 * x[:, 0]), task="regression")  # needs a large gamma
    begin = np.array([0.5, 1.0])
    values = {}
    for limits in ((1e-4, 1e2), None):
        screen = Screen([problem], np.geomspace(0.1, 10.0, 3), "gamma", seed=0)
        screen.look(Axis(begin, 2.0, limits))
        values[limits] = sorted(screen.tried)
    assert values[None] == begin.tolist()
    assert max(values[1e-4, 1e2]) > 3.0


def test_the_best_come_first_and_have_their_best_C():
    screen = Screen([problem_of()], C, "gamma", seed=0)
    screen.score([0.01, 1.0, 100.0])
    lowest = [screen.tried[gamma].scores.min() for gamma in screen.best()]
    assert lowest == sorted(lowest)
    best = screen.best()[0]
    scores = screen.tried[best].scores
    assert scores[screen.best_C(best) == C] == pytest.approx(scores.min())
    assert screen.best_C(1.1 * best) == screen.best_C(best)
    sentences = []
    log = TrialLog(sentences.append)
    screen.enter("screen", log)
    (stage,) = log.stages
    assert (stage.name, stage.loss, stage.criterion, stage.rank) == ("screen", "least_squares", "press", N)
    assert "9 pairs" in sentences[0]


def test_more_landmarks_are_tried_where_few_miss_a_narrow_kernel():
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, size=(300, 2))
    problem = problem_of(X=X, y=np.sign(X[:, 1] - np.sin(8 * X[:, 0])))
    few, many = (Screen([problem], C, "gamma", 0, landmarks=number) for number in (20, 300))
    gammas = [0.01, 1.0, 16.0, 64.0]
    few.score(gammas)
    assert few.missed[0.01] < 0.01
    assert few.missed[16.0] > 0.3
    before = dict(few.tried)
    few.look_closer(many, few.unknown())
    looked_at = [gamma for gamma in gammas if few.tried[gamma] is not before[gamma]]
    assert looked_at
    assert looked_at == sorted(many.tried)
    assert all(few.tried[gamma] is many.tried[gamma] for gamma in looked_at)
    assert 0.01 not in looked_at  # which few landmarks know
    assert few.best()[0] in (1.0, 16.0)


def test_a_regression_keeps_away_from_the_largest_C_where_a_larger_gamma_is_as_good():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    screen = Screen([problem_of(X=X, y=X[:, 0] + 0.5 * rng.normal(size=60), task="regression")], C, "gamma", 0)

    def scores(at, low):
        values = np.where(np.arange(3) == at, low, low + 0.1)
        return Scores(C, values, np.full(3, 0.1), values)

    valley = {1e-4: scores(2, 0.4), 1e-2: scores(2, 0.401), 0.1: scores(1, 0.402), 1.0: scores(0, 0.404)}
    screen.tried = {**valley, 10.0: scores(0, 0.5)}
    screen.leave_corner()
    assert sorted(screen.tried) == [1.0, 10.0]
    # Not where the corner is better, nor where the best is elsewhere.
    for low in ({1e-4: scores(2, 0.3)}, {1e-4: scores(1, 0.4)}):
        screen.tried = valley | low
        screen.leave_corner()
        assert sorted(screen.tried) == sorted(valley)

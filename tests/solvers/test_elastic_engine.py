"""The engine of the elastic hinge by its parts."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse

import svmpath
from svmpath.exceptions import PathError
from svmpath.losses import PathParameter
from svmpath.paths.elastic_family import ElasticFamily
from svmpath.paths.trace_elastic import elastic_problem, lambda1_max
from svmpath.solvers.elastic.design import Design, Line, Snapshot
from svmpath.solvers.elastic.first_point import constant_point, start, walk_to
from svmpath.solvers.elastic.interior_point import solve_directly
from svmpath.solvers.elastic.walk import ElasticWalker, corner
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, ZERO
from svmpath.solvers.loops.elastic_tolerances import ATTEMPTS
from tests import reference_elastic
from tests.speed import first_quick


def data(n=60, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X[:, :4] += 0.6 * y[:, None]
    return X, y


def check_system(walker):
    """W and G are what the places say, and the equations hold."""
    S, Z, y = walker.state, np.asarray(walker.design.Z), walker.design.y
    k, m = S.num[:2]
    E, A = S.E[:k], S.A[:m]
    assert set(E) == set(np.flatnonzero(S.place == ELBOW))
    assert set(A) == set(np.flatnonzero(S.sign != ZERO))
    W = Z[np.ix_(E, A)]
    np.testing.assert_array_equal(S.W[:k, :m], W)
    H = W @ W.T + walker.design.tau * np.outer(y[E], y[E])
    np.testing.assert_allclose(S.G[:k, :k] @ H, np.eye(k), atol=1e-6)
    r = 1 - y * walker.b - Z @ walker.beta
    np.testing.assert_allclose(walker.r, r, atol=1e-10)
    np.testing.assert_allclose(r[E], 0, atol=1e-10)
    np.testing.assert_allclose(walker.c, Z.T @ walker.alpha, atol=1e-9)
    np.testing.assert_allclose(walker.c[A], S.x[2] * walker.beta[A] + S.x[1] * S.sign[A], atol=1e-9)
    assert walker.violation < 1e-9


@pytest.mark.parametrize("lam2", [1.0, 1e-3, 0.0])
def test_system_after_hundreds_of_events(lam2):
    X, y = data()
    w = np.ones(60)
    walker = start(Design.of(X, y, np.ones(20)), w, lam2)
    line = Line.lambda1(lam2, w)
    for part in (0.5, 0.2, 0.05, 0.01):
        walker.to(line, part * 20)
        check_system(walker)
    assert len(walker.events.t) > 100
    assert np.all(np.diff(walker.events.t) <= 0)


def test_the_system_grows_beyond_its_first_room():
    X, y = data(150, 150)
    walker = start(Design.of(X, y, np.ones(150)), np.ones(150), 1e-3)
    room = walker.state.G.shape[0]
    walker.to(Line.lambda1(1e-3, np.ones(150)), 0.05)
    assert walker.state.num[0] > room
    assert walker.state.G.shape[0] > room
    check_system(walker)


def test_crash_start_is_optimal_for_its_lambda1():
    X, y = data()
    design, w = Design.of(X, y, np.ones(20)), np.random.default_rng(0).exponential(size=60)
    point = constant_point(design, w)
    assert abs(y @ point.alpha) < 1e-12
    assert np.all((point.alpha >= 0) & (point.alpha <= w))
    assert np.count_nonzero(point.place == ELBOW) == 1
    assert np.abs(X.T @ (y * point.alpha)).max() == pytest.approx(point.x[1])
    assert abs(point.x[3]) == 1.0


def test_sparse_and_dense_walks_tell_the_same_events():
    X, y = data()
    X[np.abs(X) < 0.8] = 0.0
    logs = []
    for rows in (X, sparse.csr_matrix(X)):
        walker = start(Design.of(rows, y, np.ones(20)), np.ones(60), 0.5)
        walker.to(Line.lambda1(0.5, np.ones(60)), 0.5)
        logs.append(walker.events)
    np.testing.assert_array_equal(logs[0].index, logs[1].index)
    np.testing.assert_allclose(logs[0].t, logs[1].t, rtol=1e-10)


def test_walk_to_a_lambda1_above_the_start_stands_still():
    X, y = data()
    walker = start(Design.of(X, y, np.ones(20)), np.ones(60), 1.0)
    walk_to(walker, 1e5)
    assert walker.state.x[1] == 1e5
    assert not walker.beta.any()


def test_dependent_places_are_refused():
    X, y = data()
    X[1], y[1] = X[0], y[0]
    walker = start(Design.of(X, y, np.ones(20)), np.ones(60), 1.0)
    walker.to(Line.lambda1(1.0, np.ones(60)), 1.0)
    point = walker.snapshot()
    place = point.place.copy()
    place[:2] = ELBOW
    twice = ElasticWalker(walker.design, Snapshot(point.x, point.w, point.alpha, point.beta, place, point.sign))
    assert not twice.solve_places()
    with pytest.raises(PathError, match="remove columns or rows"):
        twice.assemble()


NULL_STEPS = """
import numpy as np
from svmpath.solvers.loops import elastic_walk as loops
from svmpath.solvers.elastic.design import Design, Snapshot
from svmpath.solvers.elastic.walk import ElasticWalker
from svmpath.solvers.loops.elastic_removal import measure
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, RIGHT

def standing(Z, place, alpha, sign, beta):
    design = Design.of(np.array(Z, float), np.ones(len(Z)), np.ones(len(Z[0])))
    design.y[1::2] = -1.0
    x = np.array([1.0, 9.0, 1.0, 0.0])
    parts = [np.array(part, kind) for part, kind in ((alpha, float), (beta, float), (place, int), (sign, int))]
    walker = ElasticWalker(design, Snapshot(x, np.ones(len(Z)), *parts))
    assert walker.solve_places(0)
    measure(design.arrays, walker.state)
    return walker, design.arrays, walker.state

def check(walker, before):
    active, c, total = before
    S, Z, y = walker.state, walker.design.Z, walker.design.y
    assert np.all((walker.alpha >= 0) & (walker.alpha <= walker.w))
    k, m = S.num[:2]
    assert np.linalg.matrix_rank(np.column_stack([S.W[:k, :m], y[S.E[:k]]])) == k
    kept = np.intersect1d(S.A[:m], active)
    assert np.allclose((Z.T @ walker.alpha)[kept], c[kept])
    assert np.isclose(y @ walker.alpha, total)

when, what = np.empty(9), np.empty((9, 4), int)
for source, start in ((RIGHT, 0.0), (LEFT, 1.0)):
    # Rows 0 and 2 are the same: 2 comes to the elbow where 0 is.
    Z = [[1, 2], [3, 1], [1, 2], [0, 1]]
    walker, D, S = standing(Z, [ELBOW, ELBOW, source, LEFT], [0.3, 0.6, start, 1], [1, 0], [0.5, 0])
    before = S.A[: S.num[1]].copy(), D.Zr.T @ walker.alpha, walker.design.y @ walker.alpha
    assert loops.hit(D, S, when, what, 2) >= 0
    check(walker, before)
    assert walker.null_steps == 1 and S.place[0] != S.place[2]
# Without column 1 rows 0 and 2 are the same: it comes to zero.
Z = [[1, 2], [3, 1], [1, 5], [0, 1]]
walker, D, S = standing(Z, [ELBOW, RIGHT, ELBOW, LEFT], [0.3, 0, 0.6, 1], [1, 1], [0.5, 0.1])
before = np.array([0]), D.Zr.T @ walker.alpha, walker.design.y @ walker.alpha
assert loops.vanish(D, S, when, what, int(np.flatnonzero(S.A[:2] == 1)[0])) >= 0
check(walker, before)
assert walker.null_steps == 1 and walker.beta[1] == 0.0
print("done")
"""


@pytest.mark.slow
def test_null_steps_keep_the_equations():
    """Few data need them, so that they are taken by hand, in a process that does not compile."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    run = subprocess.run([sys.executable, "-c", NULL_STEPS], env=environment, capture_output=True, text=True)
    assert run.stdout == "done\n", run.stderr


def test_leaving_out_needs_no_more_than_the_weights():
    X, y = data(40, 6)
    w = np.ones(40)
    walker = start(Design.of(X, y, np.ones(6)), w, 1.0)
    walk_to(walker, 2.0)
    before = walker.snapshot()
    f, done, off = walker.leave_out()
    after = walker.snapshot()
    assert done.all()
    assert off.max() < 1e-10
    for name in ("x", "alpha", "beta", "place"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))  # the machine itself is kept
    right = before.alpha == 0
    np.testing.assert_allclose(f[right], (X @ before.beta + before.x[3])[right], atol=1e-10)


@pytest.mark.parametrize("lam2", [1.0, 1e-3, 0.0])
@pytest.mark.parametrize("kind", ["plain", "sparse", "weighted", "free", "tied"])
def test_samples_are_left_out_at_once_as_one_by_one(kind, lam2):
    """With as many events as it takes, ``max_events`` removes sample after sample in Python."""
    X, y = data(40, 6, seed=1)
    X, w, om = (np.round(X) if kind == "tied" else X), np.ones(40), np.ones(6)
    w[::3] = 0.0 if kind == "weighted" else 1.0
    om[0] = 0.0 if kind == "free" else 1.0
    walker = start(Design.of(sparse.csr_matrix(X) if kind == "sparse" else X, y, om), w, lam2)
    for lam1 in (0.5 * walker.lam1, 0.1 * walker.lam1):
        walk_to(walker, lam1)
        before = walker.snapshot()
        f, done, off = walker.leave_out()
        slow, completed, _ = walker.leave_out(10**6)
        np.testing.assert_array_equal(before.alpha, walker.alpha)
        assert done[completed].all()
        sure = completed & (off <= 1e-8)
        assert sure.mean() > 0.6  # ties stop some removals either way
        np.testing.assert_allclose(f[sure], slow[sure], atol=1e-7)


def test_removals_that_need_python_are_left_to_it(monkeypatch):
    X, y = data(40, 6)
    walker = start(Design.of(X, y, np.ones(6)), np.ones(40), 1.0)
    walk_to(walker, 2.0)
    f, _, _ = walker.leave_out()
    monkeypatch.setattr(ElasticWalker, "_leave_out_at_once", lambda *arguments: None)
    slow, done, _ = walker.leave_out()
    assert done.all()
    np.testing.assert_allclose(f, slow, atol=1e-10)


@pytest.mark.parametrize("lam2", [10.0, 0.1, 0.0])
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_machines_cease_to_be_constant_at_one_point_for_all_lambda2(lam2, share):
    X, y = data(80, 8, seed=2)
    y = np.where(np.arange(80) < share * 80, 1.0, -1.0)
    problem = elastic_problem(X, y, np.ones(80), None)
    family = ElasticFamily(problem, PathParameter("lambda1", {"lambda2": lam2}))
    known, walked = family._known_top(), family._walked_top()
    assert known.value == pytest.approx(walked.value, rel=1e-9)
    assert known.value == pytest.approx(lambda1_max(problem, family.path_parameter), rel=1e-9)
    assert known.b == walked.b
    assert not known.beta.any()
    for walker in (known, walked):
        walker.begin_line(walker.value, walker.value, lam2)
        walker.to(family.line, 0.3 * walker.value)
    if lam2 > 0.0:
        np.testing.assert_allclose(known.beta, walked.beta, atol=1e-8)
    assert known.gap < 1e-9


def few_values(seed, n=60, p=9, precision=np.float32):
    """Columns of few values, standardised and rounded: rows depend on each other but for the rounding."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(2, 6, size=p), size=(n, p)).astype(float)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(precision).astype(float)
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("lam2", [1.0, 1e-3, 0.0])
def test_the_direct_solve_finds_the_optimum(lam2):
    X, y = few_values(3)
    om, w = np.linspace(0.5, 2.0, 9), np.random.default_rng(0).exponential(size=60)
    found = solve_directly(Design.of(X, y, om), w, 2.0, lam2)
    assert found.gap <= 1e-9
    lowest = reference_elastic.minimum(X, y, w, om, 2.0, lam2)
    cost = reference_elastic.objective(X, y, w, om, 2.0, lam2, found.beta, found.b)
    assert cost == pytest.approx(lowest, rel=1e-8)


def test_the_direct_solve_takes_sparse_rows_and_free_columns():
    X, y = data(40, 60)
    X[np.abs(X) < 0.8] = 0.0
    om, w = np.ones(60), np.ones(40)
    om[:2], w[:3] = 0.0, 0.0
    dense = solve_directly(Design.of(X, y, om), w, 2.0, 0.5)
    thin = solve_directly(Design.of(sparse.csr_matrix(X), y, om), w, 2.0, 0.5)
    assert max(dense.gap, thin.gap) <= 1e-9
    assert not dense.alpha[:3].any()
    np.testing.assert_allclose(dense.beta, thin.beta, atol=1e-5)


@pytest.mark.parametrize("lam2", [1.0, 1e-3, 0.0])
def test_a_corner_is_where_the_walk_goes(lam2):
    X, y = data()
    design, w = Design.of(X, y, np.ones(20)), np.ones(60)
    walker = start(design, w, lam2)
    walker.to(Line.lambda1(lam2, w), 3.0)
    point = corner(design, w, 3.0, 3.0, lam2)
    np.testing.assert_array_equal(point.place, walker.state.place)
    np.testing.assert_array_equal(point.sign, walker.state.sign)
    np.testing.assert_allclose(point.beta, walker.beta, atol=1e-9)


@first_quick(1)
@pytest.mark.parametrize("lam2", [1.0, 1e-3, 0.0])
def test_a_walk_that_no_attempt_can_follow_leaps(lam2, monkeypatch):
    """Every second stretch fails: what is skipped is found directly, and the walk goes on from there."""
    X, y = data()
    w = np.ones(60)
    walker = start(Design.of(X, y, np.ones(20)), w, lam2)
    attempts, calls = ElasticWalker._attempts, []

    def failing(self, *arguments):
        calls.append(len(calls))
        is_mine = self is walker and len(calls) % 2 == 0
        return None if is_mine else attempts(self, *arguments)

    monkeypatch.setattr("svmpath.solvers.elastic.walk.STRETCH", 40)
    monkeypatch.setattr(ElasticWalker, "_attempts", failing)
    walker.to(Line.lambda1(lam2, w), 1.0)
    assert walker.leaps > 0
    assert walker.value == 1.0
    assert walker.gap <= 1e-9
    place = walker.snapshots[0].place * 0 + LEFT
    for u, i, _, target, is_feature in zip(*vars(walker.events).values(), strict=True):
        assert u <= walker._top
        if not is_feature:
            place[i] = target
    moved = np.unique(walker.events.index[~walker.events.extra])
    np.testing.assert_array_equal(place[moved], walker.state.place[moved])  # the events tell of what was skipped


def test_a_stretch_that_is_not_good_is_walked_again(monkeypatch):
    """The gap is looked at, not only how the walk ended."""
    X, y = data()
    w = np.ones(60)
    walker, seen = start(Design.of(X, y, np.ones(20)), w, 1.0), []
    stretch = ElasticWalker._stretch

    def spoilt(self, line, end, most_features, dependent, perturbation):
        found = stretch(self, line, end, most_features, dependent, perturbation)
        seen.append((dependent, perturbation))
        if len(seen) == 1:
            self.beta[:] *= 1.01
        return found

    monkeypatch.setattr(ElasticWalker, "_stretch", spoilt)
    walker.to(Line.lambda1(1.0, w), 1.0)
    assert seen[:2] == list(ATTEMPTS[:2])
    assert walker.gap <= 1e-9


def test_compiled_steps_come_back_soon(monkeypatch):
    """With hardly any budget the walk is the same: it is called again and again."""
    X, y = data()
    w = np.ones(60)
    whole = start(Design.of(X, y, np.ones(20)), w, 1.0)
    whole.to(Line.lambda1(1.0, w), 1.0)
    calls = []
    monkeypatch.setattr("svmpath.solvers.elastic.walk.checkpoint", lambda: calls.append(1))
    monkeypatch.setattr("svmpath.solvers.elastic.walk.BUDGET", 1)
    again = start(Design.of(X, y, np.ones(20)), w, 1.0)
    again.to(Line.lambda1(1.0, w), 1.0)
    assert len(calls) > len(whole.events.t)
    np.testing.assert_array_equal(again.events.index, whole.events.index)


INTERRUPTED = """
import numpy as np, sys
from svmpath import ElasticNetSVC, trace_elastic
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4)); y = np.sign(X[:, 0] + rng.normal(size=30))
trace_elastic(X, y)  # compiles
X = rng.normal(size=(900, 450)); y = np.sign(X[:, :5].sum(axis=1) + 3 * rng.normal(size=900))
print("working", flush=True)
ElasticNetSVC(n_jobs=JOBS).fit(X, y)
print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_interrupt_ends_a_fit(jobs):
    command = [sys.executable, "-c", INTERRUPTED.replace("JOBS", str(jobs))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "working\n", child.stderr.read()
            time.sleep(1.5)  # it is somewhere in its work; where does not matter
            child.send_signal(signal.SIGINT)
            out, errors = child.communicate(timeout=300)
        finally:
            child.kill()
    assert child.returncode != 0
    assert "done" not in out
    assert "KeyboardInterrupt" in errors


def test_the_largest_lambda1_is_that_of_a_convex_programme_in_any_order_of_the_rows():
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=(60, 2))
    X = np.column_stack([kinds == value for value in range(3)]).astype(float)  # columns that depend on each other
    y = np.where(kinds[:, 0] + rng.normal(size=60) > 1.6, 1.0, -1.0)
    found = []
    for order in (np.arange(60), rng.permutation(60), np.argsort(y, kind="stable")):
        problem = elastic_problem(X[order], y[order], np.ones(60), None, penalty_factor=None, standardize=True)
        found.append(lambda1_max(problem, PathParameter("lambda1", {"lambda2": 1.0})))
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
    path = svmpath.trace_elastic(X, y, lambda2=1.0, standardize=True, span=(2.0 * found[0], 0.5 * found[0]))
    assert not path(found[0] * (1 + 1e-6)).coef.any()
    assert path(found[0] * (1 - 1e-3)).coef.any()

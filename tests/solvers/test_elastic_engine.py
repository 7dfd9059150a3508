"""The engine of the elastic hinge by its parts."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from svmpath.exceptions import PathError
from svmpath.solvers.elastic import ELBOW, ZERO, Line, Snapshot, Table, Walker, crash, start, walk_to


def data(n=60, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X[:, :4] += 0.6 * y[:, None]
    return X, y


def check_system(walker):
    """W and G are what the places say, and the equations hold."""
    S, Z, y = walker.state, np.asarray(walker.table.Z), walker.table.y
    k, m = S.num[:2]
    E, A = S.E[:k], S.A[:m]
    assert set(E) == set(np.flatnonzero(S.place == ELBOW))
    assert set(A) == set(np.flatnonzero(S.sign != ZERO))
    W = Z[np.ix_(E, A)]
    np.testing.assert_array_equal(S.W[:k, :m], W)
    H = W @ W.T + walker.table.data.tau * np.outer(y[E], y[E])
    np.testing.assert_allclose(S.G[:k, :k] @ H, np.eye(k), atol=1e-6)
    r = 1 - y * walker.b - Z @ S.beta
    np.testing.assert_allclose(S.r, r, atol=1e-10)
    np.testing.assert_allclose(r[E], 0, atol=1e-10)
    np.testing.assert_allclose(S.c, Z.T @ S.alpha, atol=1e-9)
    np.testing.assert_allclose(S.c[A], S.x[2] * S.beta[A] + S.x[1] * S.sign[A], atol=1e-9)
    assert walker.violation < 1e-9


@pytest.mark.parametrize("lam2", [1.0, 1e-3, 0.0])
def test_system_after_hundreds_of_events(lam2):
    X, y = data()
    w = np.ones(60)
    walker = start(Table.of(X, y, np.ones(20)), w, lam2)
    line = Line.lambda1(lam2, w)
    for part in (0.5, 0.2, 0.05, 0.01):
        walker.to(line, part * 20)
        check_system(walker)
    assert len(walker.told.u) > 100
    assert np.all(np.diff(walker.told.u) <= 0)


def test_the_system_grows_beyond_its_first_room():
    X, y = data(150, 150)
    walker = start(Table.of(X, y, np.ones(150)), np.ones(150), 1e-3)
    room = walker.state.G.shape[0]
    walker.to(Line.lambda1(1e-3, np.ones(150)), 0.05)
    assert walker.state.num[0] > room
    assert walker.state.G.shape[0] > room
    check_system(walker)


def test_crash_start_is_optimal_for_its_lambda1():
    X, y = data()
    table, w = Table.of(X, y, np.ones(20)), np.random.default_rng(0).exponential(size=60)
    point = crash(table, w, np.ones(20, dtype=bool))
    assert abs(y @ point.alpha) < 1e-12
    assert np.all((point.alpha >= 0) & (point.alpha <= w))
    assert np.count_nonzero(point.place == ELBOW) == 1
    assert np.abs(X.T @ (y * point.alpha)).max() == pytest.approx(point.x[1])
    assert abs(point.x[3]) == 1.0


def test_sparse_and_dense_walks_tell_the_same_events():
    X, y = data()
    X[np.abs(X) < 0.8] = 0.0
    told = []
    for rows in (X, sparse.csr_matrix(X)):
        walker = start(Table.of(rows, y, np.ones(20)), np.ones(60), 0.5)
        walker.to(Line.lambda1(0.5, np.ones(60)), 0.5)
        told.append(walker.told)
    np.testing.assert_array_equal(told[0].index, told[1].index)
    np.testing.assert_allclose(told[0].u, told[1].u, rtol=1e-10)


def test_walk_to_a_lambda1_above_the_start_stands_still():
    X, y = data()
    walker = start(Table.of(X, y, np.ones(20)), np.ones(60), 1.0)
    walk_to(walker, 1e5)
    assert walker.state.x[1] == 1e5
    assert not walker.state.beta.any()


def test_dependent_places_are_refused():
    X, y = data()
    X[1], y[1] = X[0], y[0]
    walker = start(Table.of(X, y, np.ones(20)), np.ones(60), 1.0)
    walker.to(Line.lambda1(1.0, np.ones(60)), 1.0)
    point = walker.snapshot()
    place = point.place.copy()
    place[:2] = ELBOW
    twice = Walker(walker.table, Snapshot(point.x, point.w, point.alpha, point.beta, place, point.sign))
    assert not twice.stand()
    with pytest.raises(PathError, match="singular"):
        twice.seat()


NULL_STEPS = """
import numpy as np
from svmpath.solvers import _elastic_loops as loops
from svmpath.solvers.elastic import ELBOW, LEFT, RIGHT, Snapshot, Table, Walker

def standing(Z, place, alpha, sign, beta):
    table = Table.of(np.array(Z, float), np.ones(len(Z)), np.ones(len(Z[0])))
    table.y[1::2] = -1.0
    x = np.array([1.0, 9.0, 1.0, 0.0])
    parts = [np.array(part, kind) for part, kind in ((alpha, float), (beta, float), (place, np.int8), (sign, np.int8))]
    walker = Walker(table, Snapshot(x, np.ones(len(Z)), *parts))
    assert loops.seat(table.data, walker.state)
    loops.measure(table.data, walker.state)
    return table.data, walker.state

def check(D, S, c):
    assert np.all((S.alpha >= 0) & (S.alpha <= S.w))
    k, m = S.num[:2]
    M = np.column_stack([S.W[:k, :m], D.y[S.E[:k]]])
    assert np.linalg.matrix_rank(M) == k
    kept = np.intersect1d(S.A[:m], c[0])
    assert np.allclose((D.Zr.T @ S.alpha)[kept], c[1][kept])
    assert np.isclose(D.y @ S.alpha, c[2])

log = loops.Log(np.empty(9), np.empty(9, bool), np.empty(9, int), np.empty(9, np.int8), np.empty(9, np.int8))
for source, start in ((RIGHT, 0.0), (LEFT, 1.0)):
    # Rows 0 and 2 are the same: 2 comes to the elbow where 0 is.
    Z = [[1, 2], [3, 1], [1, 2], [0, 1]]
    D, S = standing(Z, [ELBOW, ELBOW, source, LEFT], [0.3, 0.6, start, 1], [1, 0], [0.5, 0])
    before = S.A[: S.num[1]].copy(), D.Zr.T @ S.alpha, D.y @ S.alpha
    loops.hit(D, S, loops.room(4, 2, *S.W.shape), log, 2, np.zeros(1, bool))
    check(D, S, before)
    assert S.num[loops.NULLS] == 1 and S.place[0] != S.place[2]
# Without column 1 rows 0 and 2 are the same: it comes to zero.
D, S = standing([[1, 2], [3, 1], [1, 5], [0, 1]], [ELBOW, RIGHT, ELBOW, LEFT], [0.3, 0, 0.6, 1], [1, 1], [0.5, 0.1])
before = np.array([0]), D.Zr.T @ S.alpha, D.y @ S.alpha
fine = loops.vanish(D, S, loops.room(4, 2, *S.W.shape), log, int(np.flatnonzero(S.A[:2] == 1)[0]))
check(D, S, before)
assert S.num[loops.NULLS] == 1 and S.beta[1] == 0.0
print("done")
"""


def test_null_steps_keep_the_equations():
    """Few data need them, so that they are taken by hand, in a process that does not compile."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    run = subprocess.run([sys.executable, "-c", NULL_STEPS], env=environment, capture_output=True, text=True)
    assert run.stdout == "done\n", run.stderr


def test_leaving_out_needs_no_more_than_the_weights():
    X, y = data(40, 6)
    w = np.ones(40)
    walker = start(Table.of(X, y, np.ones(6)), w, 1.0)
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

"""Rows that are equal, or nearly: paths from event to event end, and are right."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.paths.jump_walk import JumpWalks
from svmpath.solvers.box_qp import Walker
from svmpath.solvers.events import EventLog
from tests import reference_qp
from tests.speed import first_quick


def groups(seed, n=20, distinct=5, off=2e-14):
    """Kernel values of few distinct points, those within a group a little less than one (and not quite definite)."""
    rng = np.random.default_rng(seed)
    member, points = rng.integers(0, distinct, n), rng.normal(size=(distinct, 3))
    K = np.exp(-rng.choice([0.1, 1.0, 10.0]) * ((points[:, None] - points) ** 2).sum(axis=2))[np.ix_(member, member)]
    K *= 1 - off * rng.random((n, n))
    K = (K + K.T) / 2
    np.fill_diagonal(K, 1.0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return K, y


@first_quick(3)
@pytest.mark.parametrize("seed", range(40))
def test_a_precomputed_kernel_with_near_duplicates(seed):
    K, y = groups(seed)
    path = svmpath.trace(K, y, loss="hinge", kernel="precomputed", span=(1e-2, 1e2))
    for C in np.geomspace(1e-2, 1e2, 5):
        assert path(C).violation < 1e-8
        assert path(C).gap < 1e-8


@first_quick(5)
@pytest.mark.parametrize("distance", 10.0 ** np.arange(-16, -5))
def test_near_duplicates_at_every_distance(distance):
    rng = np.random.default_rng(int(-np.log10(distance)))
    points = rng.normal(size=(8, 2))
    X = np.repeat(points, 4, axis=0) + distance * rng.normal(size=(32, 2))
    y = np.where(rng.random(32) < 0.5, 1.0, -1.0)
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    values = np.geomspace(1e-2, 1e2, 4)
    assert max(path(C).violation for C in values) < 1e-8
    held = criteria.loo(path, values).decisions
    for i in (0, 7):
        rest = np.delete(np.arange(32), i)
        other = svmpath.trace(X[rest], y[rest], loss="hinge", gamma=1.0, span=(1e-2, 1e2))
        np.testing.assert_allclose(held[:, i], [other(C)(X[[i]])[0] for C in values], atol=1e-6)


def test_few_distinct_rows_against_a_quadratic_program():
    rng = np.random.default_rng(0)
    member = rng.integers(0, 5, 60)
    X = rng.normal(size=(5, 4))[member]
    y = np.where(rng.random(60) < 0.2 + 0.6 * (member % 2), 1.0, -1.0)
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    for C in (0.01, 1.0, 100.0):
        solution = path(C)
        _, objective = reference_qp.hinge(K, y, np.ones(60), C)
        slack = np.maximum(0.0, 1.0 - y * solution.fitted)
        own = C * slack.sum() + 0.5 * solution.alpha @ K @ solution.alpha
        assert own <= objective * (1 + 1e-7) + 1e-9


def test_attempts_that_failed_are_not_made_again_at_every_value(monkeypatch):
    K, y = groups(0)
    attempts = []

    def fail(self, tol, jitter):
        attempts.append((tol, jitter))
        raise svmpath.PathError("lost")

    path = svmpath.trace(K, y, loss="hinge", kernel="precomputed", span=(1e-2, 1e2))
    path = svmpath.paths.trace_problem(path.problem, svmpath.paths.Request(path.loss, "C", path.span))
    monkeypatch.setattr(JumpWalks, "walk", fail)
    machines = [path(C) for C in (0.1, 1.0, 10.0)]  # each found alone
    assert max(machine.violation for machine in machines) < 1e-8
    assert len(attempts) == 2 * len(set(attempts))


def test_a_wrong_walk_is_repeated_before_its_machines_are_polished(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0)
    right, walk = svmpath.trace(X, y, loss="hinge", gamma=1.0), JumpWalks.walk

    def forgetful(self, tol, jitter):
        record = walk(self, tol, jitter)
        return record if tol != 1e-10 else replace(record, events=EventLog.of(), violation=1.0)

    monkeypatch.setattr(JumpWalks, "walk", forgetful)
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0)
    assert path.certificate < 1e-8
    np.testing.assert_allclose([e.value for e in path.events()], [e.value for e in right.events()], rtol=1e-9)


def test_a_path_may_be_limited_by_events():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, 1.0, -1.0)
    whole = svmpath.trace(X, y, loss="hinge", gamma=1.0)
    with pytest.warns(svmpath.LimitWarning, match="reached its limit after 30 events"):
        part = svmpath.trace(X, y, loss="hinge", gamma=1.0, max_events=30)
    assert part.span[0] == whole.span[0]
    assert part.span[1] < whole.span[1]
    assert len(list(part.events())) == 30
    np.testing.assert_allclose(part.breakpoints, whole.breakpoints[: len(part.breakpoints)], rtol=1e-12)
    np.testing.assert_allclose(part(part.span[1]).alpha, whole(part.span[1]).alpha, atol=1e-9)


def test_the_search_for_the_smallest_nu_is_limited_too(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, 1.0, -1.0)
    whole, walk, limits = svmpath.trace(X, y, loss="nu", over="nu", gamma=1.0), Walker.to, []

    def to(self, t_end, **options):
        if t_end == -0.01 * whole.span[0]:
            limits.append(options.get("limit"))
        walk(self, t_end, **options)

    monkeypatch.setattr(Walker, "to", to)
    with pytest.warns(svmpath.LimitWarning, match=r"reached its limit after 3. events"):
        part = svmpath.trace(X, y, loss="nu", over="nu", gamma=1.0, max_events=30)
    assert len(limits) == 1
    assert limits[0].events == 30
    assert part.span[1] > whole.span[1]
    np.testing.assert_allclose(part(part.span[1]).alpha, whole(part.span[1]).alpha, atol=1e-9)


def test_a_limit_that_is_not_reached_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1.0, -1.0)
    whole = svmpath.trace(X, y, loss="hinge")
    events = len(list(whole.events()))
    for more in (1, 2, 3):
        path = svmpath.trace(X, y, loss="hinge", max_events=events + more, time_limit=60.0)
        assert path.span == whole.span
        assert len(list(path.events())) == events
    # Walked again in another process, whose clock says something else, and in many short calls of compiled code.
    monkeypatch.setattr("svmpath.solvers.box_qp._WORK", 1)
    monkeypatch.setattr("svmpath.solvers.box_qp.monotonic", lambda: np.inf)
    assert len(list(pickle.loads(pickle.dumps(path)).events())) == events


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_events": 0}, "max_events must be a whole number >= 1"),
        ({"time_limit": -1.0}, "time_limit must be a positive number"),
        ({"max_events": 5, "loss": "squared_hinge"}, "for exact paths of losses with an elbow"),
    ],
)
def test_limits_that_make_no_sense(options, message):
    X, y = np.arange(6.0)[:, None], np.array([-1, -1, 1, -1, 1, 1])
    with pytest.raises(ValueError, match=message):
        svmpath.trace(X, y, **{"loss": "hinge", **options})


def test_a_tube_of_width_zero_keeps_its_digits_where_c_is_much_larger_than_the_coefficients():
    # theta+ and theta- of a sample may both be away from zero there; in their sum nine digits cancelled.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(14, 100)), 0.02 * rng.normal(size=14)
    path = svmpath.trace(X, y, loss="epsilon_insensitive", epsilon=0.0, kernel="linear", span=(1e-3, 1e3))
    solution = path(1e3)  # interpolates: K alpha + b = y, and alpha sums to zero
    M = np.block([[X @ X.T, np.ones((14, 1))], [np.ones((1, 14)), np.zeros((1, 1))]])
    np.testing.assert_allclose(solution.alpha, np.linalg.solve(M, np.append(y, 0.0))[:14], rtol=1e-9)

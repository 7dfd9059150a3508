"""The parametric quadratic program: updates of the inverse, centring, the offset's interval, the way to an optimum."""

import numpy as np
import pytest

from svmpath.exceptions import PathError
from svmpath.solvers import box_qp
from svmpath.solvers.box_program import Program, at_places, centred, elbow_matrix, inverse, offset_shift
from svmpath.solvers.box_qp import FREE, LOW, UP, Walker, solve_from
from svmpath.solvers.loops import linalg
from tests import reference_qp
from tests.speed import each_once


def kernel(rng, n, d=3, gamma=0.5):
    X = rng.normal(size=(n, d))
    return np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))


def program(K, group, low, up, b, c=None):
    """A program that does not move."""
    n, none = len(group), np.zeros(len(group))
    c = none if c is None else c
    unit = np.array([1.0, 0.0, 0.0])
    return Program(K, np.arange(n), group, c, none, low, none, up, none, b, np.zeros(len(b)), unit)


def system(K, group, F):
    """M of the free variables F."""
    n, q = len(K), int(group.max()) + 1
    return elbow_matrix(program(K, group, np.zeros(n), np.ones(n), np.zeros(q)), np.asarray(F))


def room(R, more=4):
    """R in a larger array, as the walk holds it."""
    held = np.full((len(R) + more, len(R) + more), np.nan)
    held[: len(R), : len(R)] = R
    return held


def respond(K, group, F, R, j):
    """The column z of j and its Schur complement, by their definition."""
    q = int(group.max()) + 1
    v = np.concatenate([np.arange(q) == group[j], K[j, F]]).astype(float)
    z = R @ v
    return z, K[j, j] - v @ z


def padded(z):
    return np.concatenate([z, np.zeros(4)])


# ----------------------------------------------------------------------------------------------------
# The inverse and its updates
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_append_is_the_inverse_of_one_more(seed, q):
    rng = np.random.default_rng(seed)
    K, group = kernel(rng, 12), np.arange(12) % q
    F, j = [0, 1, 5, 8], 10
    R = np.linalg.inv(system(K, group, F))
    z, sc = respond(K, group, F, R, j)
    held = room(R)
    linalg.append.py_func(held, len(R), padded(z), sc)
    size = len(R) + 1
    np.testing.assert_allclose(held[:size, :size], np.linalg.inv(system(K, group, [*F, j])), atol=1e-9)
    assert np.isnan(held[size:]).all()  # nothing else was touched


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("position", range(4))
def test_delete_is_the_inverse_of_one_less_with_the_last_in_its_place(position, q):
    rng = np.random.default_rng(position)
    K, group = kernel(rng, 12), np.arange(12) % q
    F = [0, 1, 4, 5, 8, 3]
    held = room(np.linalg.inv(system(K, group, F)))
    size = q + len(F)
    linalg.delete.py_func(held, size, q + position, np.empty(size))
    F[position] = F[-1]
    F.pop()
    np.testing.assert_allclose(held[: size - 1, : size - 1], np.linalg.inv(system(K, group, F)), atol=1e-9)


def test_delete_of_the_last():
    rng = np.random.default_rng(0)
    K, group = kernel(rng, 6), np.zeros(6, dtype=np.int64)
    held = room(np.linalg.inv(system(K, group, [0, 1, 2])))
    linalg.delete.py_func(held, 4, 3, np.empty(4))
    np.testing.assert_allclose(held[:3, :3], np.linalg.inv(system(K, group, [0, 1])), atol=1e-10)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("position", range(4))
def test_replace_is_the_inverse_with_another_in_its_place(position, q):
    rng = np.random.default_rng(10 + position)
    K, group = kernel(rng, 12), np.arange(12) % q
    F = [0, 1, 4, 7]
    R = np.linalg.inv(system(K, group, F))
    j = 10 if group[F[position]] == group[10] else 9
    z, sc = respond(K, group, F, R, j)
    held = room(R)
    linalg.replace.py_func(held, len(R), q + position, padded(z), sc, np.empty(len(R)))
    F[position] = j
    np.testing.assert_allclose(held[: len(R), : len(R)], np.linalg.inv(system(K, group, F)), atol=1e-9)


def test_a_duplicate_may_replace_its_twin_though_its_schur_complement_is_zero():
    rng = np.random.default_rng(0)
    K = kernel(rng, 8)
    twins = np.r_[np.arange(8), 3]  # row 8 is row 3 once more
    K, group = K[np.ix_(twins, twins)], np.zeros(9, dtype=np.int64)
    F = [1, 3, 6]
    R = np.linalg.inv(system(K, group, F))
    z, _ = respond(K, group, F, R, 8)
    np.testing.assert_allclose(z, [0, 0, 1, 0], atol=1e-12)
    held = room(R)
    linalg.replace.py_func(held, 4, 2, padded(z), 0.0, np.empty(4))
    np.testing.assert_allclose(held[:4, :4], R, atol=1e-12)


def test_a_dependent_variable_replaces_any_that_it_depends_on():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    K, group, F = X @ X.T, np.zeros(4, dtype=np.int64), [0, 1, 2]  # three points span the plane, offset included
    R = np.linalg.inv(system(K, group, F))
    z, sc = respond(K, group, F, R, 3)
    assert abs(sc) < 1e-12
    for position in range(3):
        held = room(R)
        linalg.replace.py_func(held, 4, 1 + position, padded(z), 0.0, np.empty(4))
        others = [3 if k == position else F[k] for k in range(3)]
        np.testing.assert_allclose(held[:4, :4], np.linalg.inv(system(K, group, others)), atol=1e-10)


def test_many_updates_in_a_row_stay_the_inverse():
    rng = np.random.default_rng(3)
    K, group = kernel(rng, 40, gamma=2.0), np.zeros(40, dtype=np.int64)
    F = [0]
    held = np.zeros((60, 60))
    held[:2, :2] = np.linalg.inv(system(K, group, F))
    for _ in range(300):
        size, kind = 1 + len(F), rng.integers(3)
        others = np.setdiff1d(np.arange(40), F)
        j, a = int(rng.choice(others)), int(rng.integers(len(F)))
        z, sc = respond(K, group, F, held[:size, :size], j)
        z = np.concatenate([z, np.zeros(60 - size)])
        if kind == 0 and len(F) < 20:
            linalg.append.py_func(held, size, z, sc)
            F.append(j)
        elif kind == 1 and len(F) > 2:
            linalg.delete.py_func(held, size, 1 + a, np.empty(size))
            F[a] = F[-1]
            F.pop()
        else:
            linalg.replace.py_func(held, size, 1 + a, z, sc, np.empty(size))
            F[a] = j
    size = 1 + len(F)
    np.testing.assert_allclose(held[:size, :size] @ system(K, group, F), np.eye(size), atol=1e-8)


def test_inverse_of_regular_matrices():
    rng = np.random.default_rng(0)
    K, group = kernel(rng, 6), np.array([0, 1, 0, 1, 0, 1])
    M = system(K, group, range(6))
    np.testing.assert_allclose(inverse(M, 2, 1.0) @ M, np.eye(8), atol=1e-9)
    for scale in (1e-12, 1e12):  # the unit of the kernel does not matter
        M = system(scale * K, group, range(6))
        found = inverse(M, 2, scale)
        assert found is not None
        np.testing.assert_allclose(found, found.T, rtol=1e-6, atol=1e-12 * np.abs(found).max())


@pytest.mark.parametrize("case", ["no free variable", "group without a member", "duplicate", "too many on a line"])
def test_inverse_of_singular_matrices_is_none(case):
    K, group = np.eye(4), np.zeros(4, dtype=np.int64)
    if case == "no free variable":
        M = np.zeros((1, 1))
    elif case == "group without a member":
        M = system(K, np.array([0, 0, 1, 1]), [0, 1])
    elif case == "duplicate":
        K[1] = K[0]
        K[:, 1] = K[:, 0]
        M = system(K, group, [0, 1, 2])
    else:
        x = np.arange(4.0)
        M = system(np.outer(x, x), group, [0, 1, 3])
    assert inverse(M, 2 if case == "group without a member" else 1, 1.0) is None


def test_a_walker_refuses_a_singular_beginning():
    P = program(np.ones((3, 3)), np.zeros(3, dtype=np.int64), np.zeros(3), np.ones(3), np.array([1.0]))
    with pytest.raises(PathError, match="3 elbow points is singular"):
        Walker(P, 0.0, np.full(3, 1 / 3), np.full(3, FREE), np.zeros(1))


# ----------------------------------------------------------------------------------------------------
# The origin, and the middle of an interval
# ----------------------------------------------------------------------------------------------------


def test_moving_the_origin_keeps_decision_values():
    rng = np.random.default_rng(0)
    X = 1e3 + rng.normal(size=(30, 2))
    K = X @ X.T
    found = centred(K)
    assert np.abs(found.K).max() < 1e2  # they were a million
    np.testing.assert_allclose(found.K + found.h + found.h[:, None], K, rtol=1e-14)
    theta = rng.normal(size=30)
    theta -= theta.mean()
    np.testing.assert_allclose(found.K @ theta + found.h @ theta, K @ theta, atol=1e-8)
    # The distances are those of the points, to more digits than K has.
    square = np.diagonal(found.K)
    np.testing.assert_allclose(square + square[:, None] - 2 * found.K, ((X[:, None] - X) ** 2).sum(axis=2), atol=1e-8)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_an_origin_among_the_points_stays(shift):
    X = shift + np.random.default_rng(0).normal(size=(30, 2))
    K = X @ X.T
    found = centred(K)
    assert found.K is K
    assert not found.h.any()


def test_one_point_alone_stays():
    for K in (np.full((3, 3), 5.0), np.zeros((2, 2))):
        assert centred(K).K is K


def test_the_middle_of_an_interval():
    group, none = np.zeros(4, dtype=np.int64), np.zeros(4)
    P = program(np.eye(4), group, none, np.ones(4), np.array([2.0]))
    g = np.array([0.5, 0.3, -0.2, -1.0])
    # Two at LOW, two at UP: nu may fall by 0.3 and rise by 0.2.
    assert offset_shift(P, 0.0, np.array([0.0, 0.0, 1.0, 1.0]), g) == pytest.approx([-0.05])
    # One in between fixes it.
    assert offset_shift(P, 0.0, np.array([0.0, 0.4, 0.6, 1.0]), g) == pytest.approx([0.0])
    # Open to one side: the end that there is.
    assert offset_shift(P, 0.0, none, np.array([0.5, 0.3, 0.2, 1.0])) == pytest.approx([-0.2])
    assert offset_shift(P, 0.0, np.ones(4), -np.array([0.5, 0.3, 0.2, 1.0])) == pytest.approx([0.2])


def test_each_group_has_its_own_middle():
    group = np.array([0, 0, 1, 1])
    P = program(np.eye(4), group, np.zeros(4), np.array([1.0, 1.0, 1.0, 0.0]), np.array([1.0, 0.0]))
    theta, g = np.array([0.0, 1.0, 0.0, 0.0]), np.array([0.6, -0.2, 0.4, -9.0])  # the last one cannot move: no say
    assert offset_shift(P, 0.0, theta, g) == pytest.approx([-0.2, -0.4])


# ----------------------------------------------------------------------------------------------------
# The way to an optimum
# ----------------------------------------------------------------------------------------------------


def by_clarabel(P):
    """K theta and the objective at the optimum, by an interior point method."""
    import cvxpy as cp

    Z, theta = reference_qp.root(P.K), cp.Variable(len(P.c0))
    constraints = [theta >= P.l0, theta <= P.u0]
    constraints += [cp.sum(theta[np.flatnonzero(P.group == p)]) == P.b0[p] for p in range(len(P.b0))]
    problem = reference_qp.solve(0.5 * cp.sum_squares(Z.T @ theta) + P.c0 @ theta, constraints)
    return P.K @ theta.value, problem.value


def assert_optimal(P, theta, nu, tol=1e-9):
    g = P.gradient(0.0, theta, nu)
    assert np.all(theta >= P.l0 - tol)
    assert np.all(theta <= P.u0 + tol)
    np.testing.assert_allclose(P.sums(theta), P.b0, atol=tol)
    moves = P.u0 > P.l0
    assert np.all(g[moves & (theta < P.u0 - tol)] >= -tol)
    assert np.all(g[moves & (theta > P.l0 + tol)] <= tol)


def random_program(seed, q):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 25))
    K = kernel(rng, n, gamma=float(rng.choice([0.05, 0.5, 5.0])))
    if seed % 3 == 0:  # duplicates
        rows = rng.integers(0, n, size=n)
        K = K[np.ix_(rows, rows)]
    group = rng.permutation(np.arange(n) % q)
    low, up = -rng.random(n), rng.random(n)
    if seed % 2:
        still = rng.random(n) < 0.2
        still[np.unique(group, return_index=True)[1]] = False
        low[still] = up[still] = 0.0
    inside = low + rng.random(n) * (up - low)
    return rng, program(K, group, low, up, np.bincount(group, inside, q), rng.normal(size=n))


@each_once
@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_reach_from_anywhere_is_the_optimum(seed, q):
    rng, P = random_program(seed, q)
    f, objective = by_clarabel(P)
    for _ in range(3):
        theta = rng.uniform(-2, 2, size=len(P.c0))  # also outside of the box, with wrong sums
        walker = solve_from(P, 0.0, theta, rng.choice([LOW, UP, FREE], size=len(P.c0)))
        assert_optimal(P, walker.theta, walker.nu)
        ours = 0.5 * walker.theta @ P.K @ walker.theta + P.c0 @ walker.theta
        assert ours <= objective + 1e-9 * max(abs(objective), 1.0)
        np.testing.assert_allclose(P.K @ walker.theta, f, atol=1e-6)
        assert walker.events.t.size == 0
        np.testing.assert_allclose(walker.R @ elbow_matrix(P, walker.F), np.eye(len(walker.R)), atol=1e-6)


def test_reach_from_the_optimum_stays_there():
    _, P = random_program(1, 1)
    rng = np.random.default_rng(0)
    first = solve_from(P, 0.0, rng.uniform(-1, 1, len(P.c0)), np.full(len(P.c0), LOW))
    again = solve_from(P, 0.0, first.theta, first.status)
    np.testing.assert_allclose(again.theta, first.theta, atol=1e-12)
    np.testing.assert_array_equal(again.status, first.status)


@pytest.mark.parametrize("seed", [1, 2, 4, 5])
def test_places_alone_give_the_optimum_back(seed):
    rng, P = random_program(seed, 2)
    walker = solve_from(P, 0.0, rng.uniform(-1, 1, len(P.c0)), np.full(len(P.c0), UP))
    theta, nu, g = at_places(P, 0.0, walker.status)
    np.testing.assert_allclose(theta, walker.theta, atol=1e-9)
    np.testing.assert_allclose(nu, walker.nu, atol=1e-9)
    np.testing.assert_allclose(g[walker.F], 0.0, atol=1e-12)


def test_singular_places_are_reported():
    P = program(np.zeros((2, 2)), np.zeros(2, dtype=np.int64), np.zeros(2), np.ones(2), np.array([1.0]))
    assert at_places(P, 0.0, np.array([FREE, FREE])) is None


@pytest.mark.parametrize("total", [-0.5, 3.5])
def test_sums_that_cannot_be_met_are_refused(total):
    rng = np.random.default_rng(0)
    P = program(kernel(rng, 6), np.repeat([0, 1], 3), np.zeros(6), np.ones(6), np.array([1.0, total]))
    with pytest.raises(PathError, match="No point satisfies the constraints"):
        solve_from(P, 0.0, np.full(6, 0.3), np.full(6, FREE))


def test_a_group_without_room_is_refused():
    rng = np.random.default_rng(0)
    P = program(
        kernel(rng, 4), np.array([0, 0, 1, 1]), np.zeros(4), np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0])
    )
    with pytest.raises(PathError, match="No sample of positive weight remains"):
        solve_from(P, 0.0, np.zeros(4), np.full(4, LOW))


def test_a_walk_ends_where_the_constraints_do():
    rng = np.random.default_rng(0)
    P = program(kernel(rng, 5), np.zeros(5, dtype=np.int64), np.zeros(5), np.ones(5), np.array([1.0]))
    P = box_qp.replace(P, b1=np.array([1.0]))  # the sum is 1 + t, and 5 is the most
    walker = solve_from(P, 0.0, np.full(5, 0.2), np.full(5, FREE))
    with pytest.raises(PathError, match="beyond t = 4"):
        walker.to(6.0)

"""Leave-one-out of losses with an elbow, exact and approximate, against refits and against definitions."""

import sys

import numpy as np
import pytest
from sklearn.datasets import make_moons

import svmpath
from svmpath import criteria
from svmpath.criteria.of_jump import samples
from svmpath.gram import Clipped
from svmpath.solvers.box_qp import FREE
from tests import fuzz_loo, reference_qp
from tests.rounding import assert_same
from tests.speed import each_once, first_quick, slow_except

N = 50
MOONS, LABELS = make_moons(N, noise=0.3, random_state=3)
LABELS = np.where(LABELS > 0, 1.0, -1.0)
AMOUNTS = np.sin(2 * MOONS[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=N)
WEIGHTS = np.random.default_rng(1).exponential(size=N) + 0.1
WEIGHTS[::9] = 0.0
VALUES = np.array([0.02, 0.3, 2.0, 30.0])

KINDS = {
    "hinge": {"loss": "hinge", "over": "C", "span": (1e-2, 1e2)},
    "svr": {"loss": "epsilon_insensitive", "over": "C", "span": (1e-2, 1e2), "epsilon": 0.15},
    "tube": {"loss": "epsilon_insensitive", "over": "epsilon", "span": (0.8, 0.01), "C": 3.0},
    "nu": {"loss": "nu", "over": "nu", "span": (0.7, 0.05)},
}
AT = {"hinge": VALUES, "svr": VALUES, "tube": np.array([0.5, 0.1, 0.02]), "nu": np.array([0.1, 0.3, 0.6])}


def traced(kind, X=MOONS, y=None, **options):
    given = {"gamma": 1.0, **KINDS[kind], **options}
    if y is None:
        y = AMOUNTS if kind in ("svr", "tube") else LABELS
    return svmpath.trace(X, y, **given)


def refit(kind, value, K, y, s, keep):
    """Decision values of all rows by a convex programme on some of them."""
    K, y, s = K[np.ix_(keep, keep)], y[keep], s[keep]
    if kind == "hinge":
        return reference_qp.hinge(K, y, s, value)[0]
    if kind == "nu":
        return reference_qp.nu(K, y, s, value)
    C, epsilon = (value, 0.15) if kind == "svr" else (3.0, value)
    return reference_qp.epsilon_insensitive(K, y, s, C, epsilon)[0]


@first_quick(2)
@pytest.mark.parametrize("weighted", slow_except([False, True], [True]))
@pytest.mark.parametrize("kind", KINDS)
def test_loo_equals_solves_on_the_other_rows(kind, weighted):
    path = traced(kind, sample_weight=WEIGHTS if weighted else None)
    curve = criteria.loo(path, AT[kind])
    assert not curve.unreliable.any()
    for value, found in zip(AT[kind], curve.decisions, strict=True):
        for i in range(N):
            assert found[i] == pytest.approx(fuzz_loo.without(path, value, i).fitted[i], rel=1e-9, abs=1e-9)


@first_quick(2)
@pytest.mark.parametrize("kind", KINDS)
def test_loo_equals_a_convex_programme(kind):
    # With kernel values of the row left out: its decision value is an affine function of the others'.
    s = np.where(WEIGHTS > 0, WEIGHTS, 0.4)  # real weights: the elbow is not empty, and b is unique
    path = traced(kind, sample_weight=s)
    K, y, value = path.gram.K, path.problem.y, AT[kind][1]
    found = criteria.loo(path, value).decisions[0]
    for i in range(0, N, 7):
        keep = np.delete(np.arange(N), i)
        f = refit(kind, value, K, y, s, keep)
        # f = K alpha + b on the rows kept; alpha and b by least squares, which the value at i does not depend on
        M = np.column_stack([K[np.ix_(keep, keep)], np.ones(N - 1)])
        alpha = np.linalg.lstsq(M, f, rcond=1e-13)[0]
        machine = fuzz_loo.without(path, value, i)
        np.testing.assert_allclose(machine.fitted[keep], f, atol=2e-6)
        assert found[i] == pytest.approx(machine.fitted[i], abs=1e-9)
        assert found[i] == pytest.approx(np.append(K[i, keep], 1.0) @ alpha, abs=1e-3)


def frozen_by_hand(path, walker, i):
    """The held-out decision value of i if nobody changes place: one dense solve without i, in the rows' own terms."""
    program, t = walker.program, walker.t
    here = program.frozen(t)
    mine = np.flatnonzero(here.rows == i)
    F = np.array([j for j in walker.F if j not in mine])
    bound = np.setdiff1d(np.arange(len(here.rows)), np.concatenate([F, mine]))
    b = here.b0 + path.loss.released(path.problem, t)[i]
    q, K = len(b), here.K
    G = (here.group[:, None] == np.arange(q)).astype(float)
    M = np.block([[np.zeros((q, q)), G[F].T], [G[F], K[np.ix_(here.rows[F], here.rows[F])]]])
    still = K[:, here.rows[bound]] @ walker.theta[bound]
    right = np.concatenate([b - G[bound].T @ walker.theta[bound], -here.c0[F] - still[here.rows[F]]])
    solved = np.linalg.solve(M, right)
    product = still[i] + K[i, here.rows[F]] @ solved[q:]
    total = path.problem.s.sum() - path.problem.s[i]
    return path.loss.decision_values(product, solved[:q], path.path_parameter.at_t(t), total)


@each_once
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_alo_is_the_machine_with_frozen_places(kind, weighted):
    path = traced(kind, sample_weight=np.where(WEIGHTS > 0, WEIGHTS, 0.4) if weighted else None)
    curve = criteria.alo(path, AT[kind][1:])
    for k, walker in path.states(AT[kind][1:]):
        members = np.bincount(walker.program.group[walker.F], minlength=len(walker.nu))
        assert members.min() > 1
        _, rows = samples(path, walker)
        for i in rows:
            assert curve.decisions[k, i] == pytest.approx(frozen_by_hand(path, walker, i), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", ["hinge", "svr", "tube"])
def test_alo_is_the_span_rule(kind):
    # The span by its definition: the squared distance to the affine hull of the other elbow points, in features.
    path = traced(kind)
    values = AT[kind][1:]
    curve = criteria.span(path, values)
    assert curve.criterion == "span"
    for k, walker in path.states(values):
        solution = path(values[k])
        Z = reference_qp.root(path.gram.K)
        elbow = walker.program.rows[walker.F]
        for i in solution.support:
            others = Z[elbow[elbow != i]]
            base = others[0]
            Q = np.linalg.qr((others[1:] - base).T)[0]
            rest = Z[i] - base
            span = np.sum((rest - Q @ (Q.T @ rest)) ** 2)
            expected = solution.fitted[i] - solution.alpha[i] * span
            assert curve.decisions[k, i] == pytest.approx(expected, abs=1e-10 * (1 + abs(solution.alpha[i])))


@pytest.mark.parametrize("kind", KINDS)
def test_the_forms_of_alo_agree(kind):
    path = traced(kind)
    one, other = criteria.alo(path, AT[kind]), criteria.alo(path, AT[kind], form="features")
    np.testing.assert_allclose(one.decisions, other.decisions, atol=1e-9 * (1 + np.abs(one.decisions).max()))
    np.testing.assert_allclose(one.decisions, criteria.loo(path, AT[kind], max_events=0).decisions, atol=1e-9)
    rank = traced(kind, rank=15, random_state=0)
    one, other = criteria.alo(rank, AT[kind]), criteria.alo(rank, AT[kind], form="features")
    np.testing.assert_allclose(one.decisions, other.decisions, atol=1e-7 * (1 + np.abs(one.decisions).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_alo_is_exact_where_it_is_not_doubtful(kind):
    path = traced(kind)
    exact, rough = criteria.loo(path, AT[kind]), criteria.alo(path, AT[kind])
    off = np.abs(exact.decisions - rough.decisions) > 1e-9 * (1 + np.abs(exact.decisions))
    assert off.any()  # else nothing is tested
    assert np.all(off.sum(axis=1) <= rough.unreliable)
    assert np.all(rough.unreliable <= N)


def test_few_events_come_close_and_all_are_exact():
    path = traced("hinge")
    exact = criteria.loo(path, VALUES)
    errors, unreliable = [], []
    for most in (0, 1, 4, 1000):
        curve = criteria.loo(path, VALUES, max_events=most)
        errors.append(np.abs(curve.decisions - exact.decisions).mean())
        unreliable.append(curve.unreliable.sum())
    assert errors[0] > errors[2] > errors[3]
    assert errors[3] < 1e-9
    assert unreliable[0] > unreliable[2] > unreliable[3] == 0


def test_an_empty_elbow_leaves_the_offset_in_the_middle_without_the_sample_too():
    # Both classes have the same weight: at a small C everybody is at his limit, and the other class wins without one.
    path = traced("hinge")
    assert np.sum(LABELS) == 0
    curve = criteria.loo(path, 0.01)
    assert curve.scores[0] == 1.0
    for i in range(N):
        assert curve.decisions[0, i] == pytest.approx(fuzz_loo.without(path, 0.01, i).fitted[i], abs=1e-10)


def test_alo_of_an_empty_elbow_moves_the_offset_to_the_end_of_its_interval():
    # A sample j comes to the elbow at that end and takes over: f falls by the way of the offset and |phi_i - phi_j|^2.
    rows = np.concatenate([np.flatnonzero(LABELS > 0)[:24], np.flatnonzero(LABELS < 0)[:12]])
    X, y, C = MOONS[rows], LABELS[rows], 0.001
    s = np.where(y > 0, 1.0, 2.0)  # both classes weigh the same, and j ends between its bounds
    path = traced("hinge", X, y, sample_weight=s, span=(1e-3, 1.0))
    machine, K = path(C), path.gram.K
    assert np.allclose(np.abs(machine.alpha), C * s)
    held = criteria.alo(path, C).decisions[0]
    for i in np.flatnonzero(y > 0):
        slack = np.where(y < 0, machine.fitted + 1.0, np.inf)  # how far f must fall until j is on its elbow
        j = int(np.argmin(slack))
        expected = machine.fitted[i] - slack[j] - machine.alpha[i] * (K[i, i] + K[j, j] - 2 * K[i, j])
        assert held[i] == pytest.approx(expected, abs=1e-9)


@first_quick(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_counting_errors_finds_the_same_and_computes_decisions_later(weighted):
    X, y = make_moons(90, noise=0.35, random_state=5)
    s = np.random.default_rng(0).exponential(size=90) if weighted else None
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(1e-3, 1e3), sample_weight=s)
    values = np.geomspace(1e-3, 1e3, 25)
    exact, counted = criteria.loo(path, values), criteria.loo(path, values, count_only=True)
    np.testing.assert_array_equal(exact.losses, counted.losses)
    assert_same(exact.decisions, counted.decisions)
    assert svmpath.select(counted).score == pytest.approx(svmpath.select(exact).score)


@first_quick(1)
@pytest.mark.parametrize("n", [40, 41])
def test_the_step_function_is_leave_one_out_everywhere(n):
    X, y = make_moons(n, noise=0.3, random_state=1)
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(1e-3, 1e3))
    steps = criteria.loo(path, exact=True)
    values = np.geomspace(1e-3, 1e3, 60)
    np.testing.assert_allclose(steps(values), criteria.loo(path, values).scores, atol=1e-12)
    np.testing.assert_allclose(criteria.loo(path, steps.values).decisions, steps.decisions, atol=1e-8)
    # Every inner edge is a jump of somebody's error, and each is where that sample's decision value is zero.
    edges = steps.edges[1:-1]
    nearest = np.abs(criteria.loo(path, edges).decisions).min(axis=1)
    jumps = np.any(steps.losses[1:] != steps.losses[:-1], axis=1)
    assert jumps.all()
    assert np.sum(nearest > 1e-7) <= 3  # an offset that jumps takes a sign with it
    assert steps(steps.values[3]) == steps.scores[3]
    assert not callable(steps.rescored("squared"))  # of which nothing is known between the values
    assert svmpath.select(steps).score == pytest.approx(steps.scores.min())


@pytest.mark.slow
def test_the_step_function_knows_weights_and_a_class_of_one():
    X, y = make_moons(30, noise=0.3, random_state=2)
    s = np.random.default_rng(0).exponential(size=30) + 0.1
    s[3] = 0.0
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(1e-2, 1e2), sample_weight=s)
    values = np.geomspace(1e-2, 1e2, 40)
    np.testing.assert_allclose(criteria.loo(path, exact=True)(values), criteria.loo(path, values).scores, atol=1e-12)
    y = np.where(np.arange(30) == 0, 1, -1)
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    curve = criteria.loo(path, values)
    np.testing.assert_allclose(curve.decisions[:, 0], -1.0, atol=1e-9)  # without it there is one class only
    np.testing.assert_allclose(criteria.loo(path, exact=True)(values), curve.scores, atol=1e-12)


def test_duplicates_take_over_from_each_other():
    X, y = np.repeat(MOONS[:20], 2, axis=0), np.repeat(LABELS[:20], 2)
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    curve = criteria.loo(path, [0.5, 50.0])
    for k, value in enumerate((0.5, 50.0)):
        for i in range(40):
            assert curve.decisions[k, i] == pytest.approx(fuzz_loo.without(path, value, i).fitted[i], abs=1e-9)


def test_low_rank_keeps_the_landmarks():
    path = traced("hinge", rank=12, random_state=0)
    curve = criteria.loo(path, [1.0])
    for i in range(0, N, 5):
        assert curve.decisions[0, i] == pytest.approx(fuzz_loo.without(path, 1.0, i).fitted[i], abs=1e-9)


@pytest.fixture
def approximate(monkeypatch):
    """Approximate paths also where exact ones would take less time."""
    monkeypatch.setattr(sys.modules["svmpath.paths.trackers"], "exact_is_cheaper", lambda n, rank: False)


@pytest.mark.usefixtures("approximate")
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hinge", "svr"])
def test_alo_of_an_approximate_path_tends_to_that_of_the_exact_one(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=150)) if kind == "hinge" else X[:, 0] + 0.3 * rng.normal(size=150)
    given = {"gamma": 0.1, "rank": 40, "random_state": 0, "span": (0.05, 2.0)}
    exact = traced(kind, X, y, **given)
    values, slips = [0.1, 1.0], []
    for tol in (1e-3, 1e-6):
        near = traced(kind, X, y, **given, tol=tol)
        rough = criteria.alo(near, values)
        slips.append(np.abs(rough.decisions - criteria.alo(exact, values).decisions).max())
    assert slips[1] < 2e-3 * (1 + np.abs(rough.decisions).max())
    assert slips[1] < slips[0]
    assert np.all(np.abs(rough.unreliable - criteria.alo(exact, values).unreliable) <= 3)


def test_indefinite_kernels_warn_and_are_clipped_alike_everywhere():
    sigmoid = {"kernel": "sigmoid", "gamma": 0.5, "coef0": 0.3}
    with (
        pytest.warns(svmpath.IndefiniteKernelWarning, match="the problem is not convex"),
        pytest.raises(svmpath.PathError, match=r"gram\.Clipped"),
    ):
        traced("hinge", **sigmoid)
    path = traced("hinge", rank=Clipped(), **sigmoid)
    curve = criteria.loo(path, [0.5])
    for i in range(0, N, 5):
        machine = fuzz_loo.without(path, 0.5, i)
        assert curve.decisions[0, i] == pytest.approx(machine.fitted[i], abs=1e-9)
        assert machine(MOONS[i : i + 1])[0] == pytest.approx(machine.fitted[i], abs=1e-9)


def test_xi_alpha_is_its_formula_where_it_does_not_doubt():
    path = traced("hinge")
    bound = criteria.xi_alpha(path, VALUES)
    K = path.gram.K
    height = K.diagonal().max() - K.min()
    sure = bound.unreliable == 0
    assert sure.any()
    for k in np.flatnonzero(sure):
        machine = path(VALUES[k])
        a, xi = LABELS * machine.alpha, np.maximum(1 - LABELS * machine.fitted, 0)
        assert bound.scores[k] == np.mean((2 * a * height + xi >= 1) & (a > 0))


@first_quick(2)
@pytest.mark.parametrize("n", [20, 21, 50, 51])
def test_bounds_hold_where_the_offset_jumps(n):
    # Classes of the same weight, or nearly so, at a small C: the formulas alone would say 0.2 where all are errors.
    X, y = make_moons(n, noise=0.3, random_state=0)
    path = svmpath.trace(X, y, loss="hinge", gamma=1.0, span=(1e-3, 1e3))
    values = np.geomspace(1e-3, 1e3, 19)
    exact = criteria.loo(path, values).scores
    assert exact.max() > 0.5
    for bound in (criteria.xi_alpha(path, values), criteria.span_bound(path, values)):
        assert np.all(bound.scores >= exact - 1e-12)
        assert bound.unreliable[0] > 0
    assert criteria.xi_alpha(path, values).unreliable[-1] == 0


def test_bounds_of_equal_rows_are_computed_without_a_warning():
    path = svmpath.trace(np.ones((20, 2)), LABELS[:20], loss="hinge", gamma=1.0, span=(0.1, 10.0))
    assert np.all(criteria.span_bound(path, [1.0]).scores >= criteria.loo(path, [1.0]).scores - 1e-12)


def test_a_nu_without_margin_when_a_sample_is_left_out_is_refused():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(27, 2))
    y = np.where(X[:, 0] + rng.normal(size=27) > 0, 1, -1)
    path = svmpath.trace(X, y, loss="nu", over="nu", kernel="linear")
    refused = 0
    for value in min(path.span) * np.array([1.0003, 1.003, 1.03, 1.3]):
        gone = []
        for i in range(27):
            try:
                fuzz_loo.without(path, value, i)
            except svmpath.PathError:
                gone.append(i)
        if gone:
            with pytest.raises(svmpath.PathError, match="the margin becomes zero when sample"):
                criteria.loo(path, [value])
            refused += 1
        else:
            criteria.loo(path, [value])
    assert refused


@first_quick(1)
@pytest.mark.parametrize("seed", range(4))
def test_boxes_much_wider_than_the_coefficients(seed):
    # A hard margin: C is so large that every coefficient is a tiny part of its box.
    rng = np.random.default_rng(seed)
    X = 300.0 * rng.normal(size=(40, 60))
    path = svmpath.trace(X, X[:, 0] + X[:, 1] > 0, loss="hinge", kernel="linear", span=(1e-6, 1e6))
    C = np.abs(path(1e3).alpha).max() / 2e-10
    curve, rough = criteria.loo(path, [C]), criteria.alo(path, [C])
    for i in range(40):
        assert curve.decisions[0, i] == pytest.approx(fuzz_loo.without(path, C, i).fitted[i], abs=1e-9)
    assert np.count_nonzero(np.abs(curve.decisions - rough.decisions) > 1e-9) <= rough.unreliable[0]


def test_decision_values_of_zero_are_errors_of_the_same_samples_however_they_are_counted():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(40, 2)).astype(float)
    y = np.where(rng.random(40) < 0.5, 1, -1)
    path = svmpath.trace(X, y, loss="hinge", kernel="linear", span=(1e-3, 1e3))
    values = np.geomspace(1e-3, 1e3, 25)
    exact, counted = criteria.loo(path, values), criteria.loo(path, values, count_only=True)
    assert np.any(exact.decisions == 0.0)
    np.testing.assert_array_equal(exact.losses, counted.losses)


def test_the_span_bound_holds_and_bounds_the_span_that_a_programme_finds():
    import cvxpy as cp

    path = traced("hinge")
    assert np.all(criteria.span_bound(path, VALUES).scores >= criteria.loo(path, VALUES).scores)
    Z = reference_qp.root(path.gram.K)
    for _, walker in path.states(np.array([2.0])):
        removal, rows = samples(path, walker)
        spans, checked = removal.spans(), 0
        low, up = walker.program.low(walker.t), walker.program.up(walker.t)
        for k, i in enumerate(rows):
            F = np.array([j for j in walker.F if j != i])
            if walker.status[i] != FREE or not np.isfinite(spans[k]):
                continue
            x = cp.Variable(len(F))
            moved = walker.theta[F] + walker.theta[i] * x
            problem = cp.Problem(
                cp.Minimize(cp.sum_squares(Z[i] - Z[F].T @ x)), [cp.sum(x) == 1, moved >= low[F], moved <= up[F]]
            )
            problem.solve(solver=cp.CLARABEL)
            assert spans[k] >= problem.value - 1e-7
            checked += 1
        assert checked > 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: criteria.loo(p), "needs values"),
        (lambda p: criteria.loo(p, [1.0], max_events=-1), "max_events must be a whole number"),
        (lambda p: criteria.loo(p, [1.0], max_events=True), "max_events must be a whole number"),
        (lambda p: criteria.loo(p, [1.0], exact=True), "leave values and max_events out"),
        (lambda p: criteria.loo(p, exact=True, loss="squared"), "leave loss out"),
        (lambda p: criteria.loo(p, [1.0], count_only=True, loss="squared"), "leave loss out"),
        (lambda p: criteria.alo(p, [1.0], form="dual"), "form must be one of direct, features"),
        (lambda p: criteria.span(p, [1.0], screen=True), "screen= works for the squared hinge only"),
        (lambda p: criteria.xi_alpha(p, [1.0], loss="squared"), "bounds the error rate"),
        (lambda p: criteria.press(p, [1.0]), "least squares only"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(traced("hinge"))


@pytest.mark.usefixtures("approximate")
def test_what_other_paths_cannot_do_is_refused():
    svr, squared, nu = traced("svr"), svmpath.trace(MOONS, LABELS, loss="squared_hinge"), traced("nu", span=(0.99, 0.1))
    with pytest.raises(ValueError, match="error rate of a classification"):
        criteria.loo(svr, [1.0], count_only=True)
    with pytest.raises(ValueError, match="error of classification over C"):
        criteria.loo(svr, exact=True)
    with pytest.raises(ValueError, match="works for loss='hinge' only"):
        criteria.xi_alpha(svr, [1.0])
    with pytest.raises(ValueError, match="work for losses with an elbow only"):
        criteria.loo(squared, [1.0], max_events=0)
    with pytest.raises(ValueError, match="form= works for losses with an elbow only"):
        criteria.alo(squared, [1.0], form="features")
    with pytest.raises(ValueError, match="infeasible when a sample of the smaller class"):
        criteria.loo(nu, [0.99])
    with pytest.raises(ValueError, match="weights must be 0 or 1"):
        criteria.span_bound(traced("hinge", sample_weight=WEIGHTS), [1.0])
    with pytest.raises(ValueError, match="needs an exact path"):
        criteria.loo(traced("hinge", tol=1e-3), [1.0])


def test_errors_alone_are_right_where_nobody_is_on_the_elbow():
    # The offset is the middle of an interval that row 1 limits: without it, it moves, but not as far as the other end.
    X = np.array([
        [0.24, 1.555, -1.199], [-0.611, 1.555, 0.834], [-0.611, 0.923, -1.199], [-1.461, -0.972, -1.199],
        [-1.461, 0.292, 0.834], [-1.461, -0.972, -1.199], [1.091, 0.923, 0.834],
    ])  # fmt: skip
    y = np.array([1.0, -1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
    gamma, C = 0.0541, 0.43
    path = svmpath.trace(X, y, loss="hinge", kernel="laplacian", over="gamma", C=C, span=(gamma, 0.08))
    curve = criteria.loo(path, [gamma])
    for i in range(7):
        rest = np.delete(np.arange(7), i)
        machine = svmpath.trace(X[rest], y[rest], loss="hinge", kernel="laplacian", gamma=gamma, span=(C, 1.0))(C)
        assert curve.decisions[0, i] == pytest.approx(machine(X[[i]])[0], abs=1e-9)
    counted = criteria.loo(path, [gamma], count_only=True)
    np.testing.assert_array_equal(counted.losses, curve.losses)


def test_kfold_over_nu_needs_only_the_values_asked_for_to_be_feasible_in_every_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(np.arange(30) < 12, 1.0, -1.0)
    X[:12] += 1.0
    path = svmpath.trace(X, y, loss="nu", over="nu", gamma=0.5)
    test = np.concatenate([np.arange(6), np.arange(20, 24)])  # half of the smaller class: nu is at most 0.6 without it
    train = np.setdiff1d(np.arange(30), test)
    assert max(path.span) > 0.6
    curve = criteria.kfold(path, [0.6, 0.5], cv=[(train, test)])
    for value, held in zip(curve.values, curve.held, strict=True):
        machine = svmpath.trace(X[train], y[train], loss="nu", over="nu", gamma=0.5, span=(value, 0.9 * value))(value)
        np.testing.assert_allclose(held, machine(X[test]), rtol=1e-7, atol=1e-9)

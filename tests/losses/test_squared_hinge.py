"""The squared hinge machine along its path, against dual systems on the whole matrix."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath import datasets
from svmpath.gram import Clipped
from svmpath.losses import pieces
from svmpath.losses.base import Solution
from svmpath.solvers.feature_newton import FeatureNewton
from svmpath.solvers.pieces import SQUARED_HINGE
from tests import reference
from tests.cases import CASES
from tests.speed import each_once, first_quick, slow_except

LAMBDAS = np.logspace(7, -6, 53)
SETS = {
    "twonorm": datasets.twonorm,
    "ringnorm": datasets.ringnorm,
    "waveform": datasets.waveform,
    "banana": datasets.banana,
    "mixture": datasets.gaussian_mixture,
}
KERNELS = {"rbf": (1e-9, 1e-8), "linear": (1e-8, 1e-8), "poly": (1e-8, 1e-8)}


def traced(name, kernel, rank, n=100):
    X, y = SETS[name](n, random_state=0)
    options = {"gamma": None if kernel == "linear" else 1 / (X.shape[1] * X.var()), "coef0": 1.0, "degree": 2}
    path = svmpath.trace(
        X, y, loss="squared_hinge", span=(1e-7, 1e6), kernel=kernel, rank=rank, random_state=0, **options
    )
    return path, path.gram.block(slice(None), slice(None)), y


@each_once
@pytest.mark.parametrize("rank", [None, 40])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", slow_except(SETS, ["ringnorm", "banana", "mixture"]))
def test_sides_gap_and_certificate_at_53_values(name, kernel, rank):
    path, K, y = traced(name, kernel, rank)
    s, E = np.ones(len(y)), None
    most_gap, most_violation = KERNELS[kernel]
    for lam in LAMBDAS:
        solution = path(1 / lam)
        alpha, b, E = reference.squared_hinge(K, y, s, 1 / lam, E)
        sides = np.zeros(len(y), dtype=bool)
        sides[solution.support] = True
        margin = y * (K @ alpha + b)
        clear = np.abs(margin - 1) > 1e-9 * (1 + np.abs(margin))
        np.testing.assert_array_equal(sides[clear], E[clear])
        assert solution.gap <= most_gap
        assert certificate(K, y, lam, solution) <= most_violation


def certificate(K, y, lam, solution):
    """Primal minus dual objective of alpha over the primal, by definition, with more digits than the solver has."""
    alpha = solution.alpha.astype(np.longdouble)
    Z = solution.problem.gram.Z
    K = K.astype(np.longdouble) if Z is None else Z.astype(np.longdouble) @ Z.T.astype(np.longdouble)
    alpha[solution.support[0]] -= alpha.sum()  # feasible, so that weak duality holds to the last digit
    a, Ka = y * alpha, K @ alpha
    assert a.min() >= 0
    dual = a.sum() - alpha @ Ka / 2 - lam * (a @ a) / 4
    xi = np.maximum(0.0, 1 - y * (Ka + solution.b))
    primal = (xi @ xi) / lam + alpha @ Ka / 2
    return float((primal - dual) / primal)


@each_once
@pytest.mark.parametrize("rank", [None, 0.01])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "far_from_the_origin"])
def test_named_cases(name, kernel, rank):
    rank = None if (name, kernel) == ("zero_kernel", "linear") else rank  # which has no factor, and says so
    X, y, s = CASES[name]()
    path = svmpath.trace(
        X, y, loss="squared_hinge", kernel=kernel, gamma=0.4, sample_weight=s, rank=rank, random_state=0
    )
    K = path.gram.block(slice(None), slice(None))
    for C in (1e-3, 1.0, 1e3, 1e5):
        solution = path(C)
        alpha, b, _ = reference.squared_hinge(K, y, s, C)
        slip = 1e-9 * (1 + C * s.max()) + 1e-8
        np.testing.assert_allclose(solution.fitted, K @ alpha + b, atol=slip)
        assert solution.gap < 1e-8
        assert not solution.alpha[s == 0].any()


def test_either_direction_and_any_order_give_the_same_machine():
    X, y = datasets.banana(120, random_state=1)
    up = svmpath.trace(X, y, loss="squared_hinge", span=(1e-4, 1e4))
    down = svmpath.trace(X, y, loss="squared_hinge", span=(1e4, 1e-4))
    np.testing.assert_allclose(up.breakpoints, down.breakpoints[::-1])
    assert up.breakpoints[0] == 1e-4
    assert np.all(np.diff(up.breakpoints) > 0)
    for C in (3e3, 1e-3, 20.0):
        np.testing.assert_allclose(up(C).alpha, down(C).alpha, atol=1e-8 * C)
    up.check(1e-7)


def test_events_are_changes_of_side_between_nodes():
    X, y = datasets.banana(120, random_state=1)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-4, 1e4))
    sides = path(1e-4).alpha != 0
    for event in path.events():
        assert (event.source == "left") == sides[event.sample]
        sides[event.sample] ^= True
    np.testing.assert_array_equal(sides, path(1e4).alpha != 0)


def test_the_start_is_the_limit_for_small_C():
    X, y = datasets.twonorm(90, random_state=0)
    y[:30] = 1.0
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-12, 1.0))
    solution = path(1e-12)
    plus, minus = np.count_nonzero(y > 0), np.count_nonzero(y < 0)
    np.testing.assert_allclose(solution.b, (plus - minus) / 90, atol=1e-9)
    expected = np.where(y > 0, 4 * minus, -4 * plus) * 1e-12 / 90
    np.testing.assert_allclose(solution.alpha, expected, rtol=1e-8)
    np.testing.assert_allclose(FeatureNewton(SQUARED_HINGE, path.rows).start().theta[-1], (plus - minus) / 90)


def test_a_separable_set_ends_at_the_hard_margin():
    X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    path = svmpath.trace(X, [-1, -1, 1, 1], loss="squared_hinge", kernel="linear", span=(1e-3, 1e9))
    solution = path(1e9)
    np.testing.assert_allclose(solution(np.array([[-1.0], [1.0]])), [-1.0, 1.0], atol=1e-6)
    assert solution.support.tolist() == [1, 2]


@first_quick(2)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_a_large_C_is_reached_at_once(name, kernel):
    # Straight from the limit for C to zero Newton's method took more than 100 steps on one of these.
    path, _, _ = traced(name, kernel, 120, n=300)
    walked, _, _ = traced(name, kernel, 120, n=300)
    for C in (316227.766, 1e6):
        for stop in walked.walk(np.append(np.geomspace(1e-7, 1e5, 49), C)):
            last = stop
        np.testing.assert_array_equal(path(C).alpha != 0, last.point.E)


def test_newton_settles_from_a_far_start():
    X, y = datasets.banana(150, random_state=2)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-7, 1e6))
    rows = path.rows
    for C in (1e-5, 1.0, 1e6):
        newton = FeatureNewton(SQUARED_HINGE, rows)
        cold, _ = newton.at(1 / C, newton.start())
        np.testing.assert_array_equal(cold.E, path(C).alpha != 0)


def test_violation_and_gap_measure_a_wrong_solution():
    path, K, y = traced("banana", "rbf", None)
    right = path(2.0)
    alpha = right.alpha + 0.01 * (np.arange(len(y)) % 3 - 1.0)
    alpha -= alpha.mean()
    wrong = Solution(right.problem, right.loss, alpha, right.b, right.parameters)
    margin = y * (K @ alpha + wrong.b)
    xi, a = np.maximum(0, 1 - margin), y * alpha
    np.testing.assert_allclose(wrong.violation, np.abs(xi - a / 4).max(), rtol=1e-9)
    assert wrong.gap > 1e-6


def test_indefinite_kernels_are_refused_or_clipped():
    X, y = datasets.banana(60, random_state=0)
    options = {"loss": "squared_hinge", "kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0}
    with pytest.warns(svmpath.IndefiniteKernelWarning), pytest.raises(ValueError, match=r"gram\.Clipped"):
        svmpath.trace(X, y, **options)(1.0)
    assert svmpath.trace(X, y, rank=Clipped(), **options)(1.0).gap < 1e-9


def test_regression_and_other_parameters_are_refused():
    X, y = datasets.banana(30, random_state=0)
    with pytest.raises(ValueError, match="classification, not regression"):
        svmpath.trace(X, X[:, 0], loss="squared_hinge")
    with pytest.raises(ValueError, match="over must be one of 'C', 'gamma'"):
        svmpath.trace(X, y, loss="squared_hinge", over="epsilon")


def test_exact_breakpoints_of_a_traced_path():
    X, y = datasets.banana(80, random_state=1)
    for span in ((1e-3, 1e3), (1e3, 1e-3)):
        path = svmpath.trace(X, y, loss="squared_hinge", span=span, breakpoints="exact")
        nodes = path.breakpoints
        assert tuple(nodes[[0, -1]]) == span
        assert np.all(np.diff(nodes) * (span[1] - span[0]) > 0)
        events = list(path.events())
        assert len(events) > 30
        sides = path(nodes[0]).alpha != 0
        for event in events[:25]:
            assert (event.source == "left") == sides[event.sample]
            sides[event.sample] ^= True
            assert abs(1 - y[event.sample] * path(event.value).fitted[event.sample]) < 1e-8
        for begin, end in zip(nodes[:-1:7], nodes[1::7], strict=False):
            inside = path(np.sqrt(begin * end))
            np.testing.assert_array_equal(inside.alpha != 0, path.sides.at(np.sqrt(begin * end)))
    with pytest.raises(ValueError, match="breakpoints must be"):
        svmpath.trace(X, y, loss="squared_hinge", breakpoints="all")


def wild():
    """Problems whose kernel values times C leave a system in the features no digits."""
    X, y = load_wine(return_X_y=True)
    quadratic = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
    yield pytest.param(X, np.where(y == 1, 1.0, -1.0), None, quadratic, 1e-8, id="wine")
    X, y = load_iris(return_X_y=True)
    yield pytest.param(1000 * X, np.where(y == 0, 1.0, -1.0), None, {"kernel": "linear"}, 1e-13, id="iris")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    weights = 10.0 ** rng.uniform(-6, 6, size=60)
    yield pytest.param(X, np.sign(X[:, 0] * X[:, 1]), weights, {"gamma": 1.0}, 1e-12, id="weights")


@pytest.mark.parametrize("rank", [None, 40])
@pytest.mark.parametrize(("X", "y", "s", "options", "most"), list(wild()))
def test_kernel_values_times_C_far_beyond_double_precision(X, y, s, options, most, rank):
    path = svmpath.trace(
        X, y, loss="squared_hinge", span=(1e-3, 1e6), sample_weight=s, rank=rank, random_state=0, **options
    )
    for C in (1.0, 1e2, 1e4, 1e6):
        solution = path(C)
        assert solution.violation < most
        assert solution.gap < 1e-6
        assert (y * solution.alpha).min() >= 0


@pytest.mark.parametrize("rank", [None, 8])
def test_samples_on_the_margin_to_rounding_have_the_side_of_their_coefficient(rank):
    # In decision values the sample that has to go is 1e-11 from the margin, as near as Newton's method looks.
    rng = np.random.default_rng(279)
    X, y = rng.normal(size=(8, 2)), np.where(np.arange(8) % 2, 1.0, -1.0)
    s = np.where(rng.random(8) < 0.5, 1e6, 1.0)
    path = svmpath.trace(X, y, loss="squared_hinge", gamma=0.3, sample_weight=s, rank=rank, random_state=0)
    solution = path(1e3)
    assert (y * solution.alpha).min() >= 0
    assert solution.gap < 1e-18


def test_a_refinement_that_does_not_bring_the_machine_nearer_is_not_taken(monkeypatch):
    # With more samples on the left than features, C times the kernel is past what double precision can tell.
    X, y = load_iris(return_X_y=True)
    y = np.where(y == 1, 1.0, -1.0)
    violations = {}
    for steps in (0, 1, 2, 5):
        monkeypatch.setattr(pieces, "_REFINE", steps)
        path = svmpath.trace(1000 * X, y, loss="squared_hinge", kernel="linear", span=(1e-3, 1e6))
        violations[steps] = [path(C).violation for C in (1.0, 1e2, 1e4, 1e6)]
    for fewer, more in ((0, 1), (1, 2), (2, 5)):
        assert np.all(np.array(violations[more]) <= violations[fewer])


def test_sides_that_newton_has_wrong_are_repaired():
    X, y = datasets.banana(60, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", gamma=1.0, span=(1e-3, 1e6))
    right = path(1e3)
    for seed in range(20):
        E = np.random.default_rng(seed).random(60) < 0.5
        found = path.loss.in_samples(path.problem, E, 1e3)
        np.testing.assert_array_equal(found.support, right.support)
        np.testing.assert_allclose(found.alpha, right.alpha, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
def test_one_path_serves_many_threads():
    X, y = datasets.banana(30, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", gamma=1.0, span=(1e-4, 1e4))
    values = np.geomspace(1e-4, 1e4, 1500)
    list(path.walk(values[::3]))

    def ask(k):
        return max(path(stop.C).violation for stop in path.walk(values[k::150]))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(ask, range(150)))
    finally:
        sys.setswitchinterval(interval)
    assert max(found) < 1e-9


def test_what_is_kept_of_the_way_does_not_grow_with_the_values_asked_for():
    X, y = datasets.banana(20, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", gamma=1.0, span=(1e-2, 1e2))
    list(path.walk(np.geomspace(1e-2, 1e2, 1000)))
    assert len(path.store.of_path.points) < 200


def test_a_path_with_too_few_digits_is_not_called_optimal():
    X, y = load_breast_cancer(return_X_y=True)
    options = {"loss": "squared_hinge", "kernel": "linear"}
    with pytest.raises(svmpath.PathError, match="too few digits"):
        svmpath.trace(X, y, span=(1e5, 1e6), **options).check()
    svmpath.trace(StandardScaler().fit_transform(X), y, span=(1e-2, 1.0), **options).check()


@pytest.mark.parametrize(("times", "words"), [(3.0, "too few digits"), (1e4, "not optimal")])
def test_what_rounding_explains_is_called_too_few_digits(monkeypatch, times, words):
    """As a processor may leave it: three times the rounding of decision values, by solving for the coefficients."""
    X, y = datasets.banana(60, random_state=0)
    path = svmpath.trace(1e8 * X, y, loss="squared_hinge", kernel="linear", span=(0.5, 1.0))
    monkeypatch.setattr(type(path.loss), "violation", lambda _, solution: times * solution.rounding)
    with pytest.raises(svmpath.PathError, match=words):
        path.check()


def test_signs_that_rounding_has_turned_leave_a_sample(monkeypatch):
    """Columns of dates, unscaled: the dual system has so few digits that every coefficient has the wrong sign."""
    module = sys.modules["svmpath.losses.pieces"]
    solve, calls = module.balanced, []

    def turned(*system, **options):
        calls.append(len(system[1]))
        return -solve(*system, **options) if len(calls) == 1 else solve(*system, **options)

    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    path = svmpath.trace(X, y, loss="squared_hinge", kernel="linear", span=(0.1, 10.0))
    monkeypatch.setattr(module, "balanced", turned)
    machine = path.loss.in_samples(path.problem, np.ones(4, dtype=bool), 1.0)
    assert calls[0] == 4
    assert min(calls) >= 1
    assert machine.violation < 1e-9

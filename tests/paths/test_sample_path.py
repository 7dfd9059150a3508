"""The squared hinge in the coefficients of a full kernel matrix, against features, plain systems and Clarabel."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

import svmpath
from svmpath import criteria
from svmpath.criteria.of_march import predict_left_out_march
from svmpath.criteria.of_samples import predict_left_out_samples
from svmpath.exceptions import PathError
from svmpath.paths import MarchPath, SamplePath
from svmpath.paths.store import KernelStore
from svmpath.solvers.kernel_newton import KernelNewton
from tests import certificates, reference, reference_qp

N = 40
X, LABELS = make_moons(N, noise=0.3, random_state=0)
Y = np.where(LABELS == 1, 1.0, -1.0)
rng = np.random.default_rng(0)
VALUES = np.array([20.0, 0.02, 1.0, 3e3])  # not in order
WEIGHTS = {
    "unit": np.ones(N),
    "weights": rng.uniform(0.1, 3.0, size=N),
    "zeros": np.where(np.arange(N) % 4 == 0, 0.0, 1.0 + 0.1 * np.arange(N)),
}


def traced(s=None, gamma=2.0, span=(1e-3, 1e6), X=X, y=Y, **options):
    return svmpath.trace(X, y, loss="squared_hinge", gamma=gamma, span=span, sample_weight=s, **options)


def in_features(path):
    """The same path as its parent follows it."""
    return MarchPath(path.problem, path.loss, path.path_parameter, path.span, store=KernelStore())


@pytest.mark.parametrize("name", WEIGHTS)
def test_decisions_are_those_in_features_and_of_plain_systems(name):
    s = WEIGHTS[name]
    path = traced(s)
    assert type(path) is SamplePath
    found = path.decisions(VALUES)
    np.testing.assert_allclose(found, in_features(path).decisions(VALUES), atol=1e-7)
    K = reference.rbf(X, X, 2.0)
    for f, C in zip(found, VALUES, strict=True):
        alpha, b, _ = reference.squared_hinge(K, Y, s, C)
        np.testing.assert_allclose(f, K @ alpha + b, atol=1e-7)


@pytest.mark.parametrize("name", ["unit", "zeros"])
def test_decisions_are_those_of_an_interior_point_method(name):
    cp = pytest.importorskip("cvxpy")
    s, C = WEIGHTS[name], 5.0
    Z = reference_qp.root(reference.rbf(X, X, 2.0))
    w, b, xi = cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable(N, nonneg=True)
    f = Z @ w + b
    objective = C * cp.sum_squares(cp.multiply(np.sqrt(s), xi)) + 0.5 * cp.sum_squares(w)
    lowest = cp.Problem(cp.Minimize(objective), [cp.multiply(Y, f) >= 1 - xi]).solve(solver=cp.CLARABEL)
    solution = traced(s)(C)
    ours = C * s @ np.maximum(1 - Y * solution.fitted, 0) ** 2 + 0.5 * solution.alpha @ (solution.fitted - solution.b)
    assert ours == pytest.approx(lowest, rel=1e-6)
    np.testing.assert_allclose(solution.fitted, f.value, atol=2e-3)  # three digits are half of those of the objective


@pytest.mark.parametrize("name", WEIGHTS)
def test_machines_are_optimal_with_coefficients_on_the_left_only(name):
    path = traced(WEIGHTS[name])
    for C in VALUES:
        solution = path(C)
        certificates.check(solution, f"C = {C}")
        assert abs(solution.alpha.sum()) < 1e-9 * np.abs(solution.alpha).sum()
        outside = Y * solution.fitted > 1.0 + 1e-7
        assert not solution.alpha[outside].any()
        assert not solution.alpha[WEIGHTS[name] == 0].any()


@pytest.mark.parametrize("name", WEIGHTS)
def test_span_predictions_are_those_in_features(name):
    path = traced(WEIGHTS[name])
    ours, theirs = predict_left_out_samples(path, VALUES), predict_left_out_march(in_features(path), VALUES)
    np.testing.assert_allclose(values_of(ours), values_of(theirs), atol=1e-6)
    np.testing.assert_array_equal(ours.doubts(), theirs.doubts())


def test_span_predictions_are_leave_one_out_while_no_side_changes():
    """At a small C every sample is on the left, with and without any other: the prediction is exact."""
    path, s = traced(WEIGHTS["weights"]), WEIGHTS["weights"]
    held = values_of(predict_left_out_samples(path, np.array([0.01])))[0]
    expected = reference.leave_one_out(reference.rbf(X, X, 2.0), Y, s, 0.01)
    assert (Y * expected < 1.0).all()
    np.testing.assert_allclose(held, expected, atol=1e-9)


def test_a_screened_curve_has_the_same_errors():
    path = traced()
    plain, screened = predict_left_out_samples(path, VALUES), predict_left_out_samples(path, VALUES, screen=True)
    errors = (values_of(plain) > 0) != (Y > 0)
    np.testing.assert_array_equal(screened.screened.errors, errors)


def test_starts_of_any_kind_lead_to_the_same_machine():
    cold = traced().decisions(VALUES)
    for start in (cold[0], -cold[0], np.zeros(N), np.full(N, 5.0) * Y, rng.normal(size=N)):
        warm = traced().start_from(start)
        np.testing.assert_allclose(warm.decisions(VALUES), cold, atol=1e-7)
        np.testing.assert_allclose(traced().start_from(start)(20.0).fitted, cold[0], atol=1e-7)


def test_near_is_the_machine_at_the_nearest_value():
    path = traced()
    assert path.known_decisions(1.0) is None
    found = path.decisions(VALUES)
    np.testing.assert_array_equal(path.known_decisions(0.9), found[2])
    np.testing.assert_array_equal(path.known_decisions(30.0), found[0])
    assert path.known_decisions(1e9) is None  # farther than a start may be


def test_starts_of_the_solver():
    K, y, s = reference.rbf(X, X, 2.0), Y, WEIGHTS["zeros"]
    newton = KernelNewton(K, y, s)
    exact, _ = newton.at(0.1, newton.approach(10.0))
    alpha, b, E = reference.squared_hinge(K, y, s, 10.0)
    np.testing.assert_allclose(exact.f, K @ alpha + b, atol=1e-8)
    np.testing.assert_array_equal(exact.E, E)
    # The machine with the right samples on the left is the machine itself; without any it is an offset.
    np.testing.assert_allclose(newton.with_sides(0.1, exact.E).f, exact.f, atol=1e-9)
    nothing = newton.with_sides(0.1, np.zeros(N, dtype=bool))
    np.testing.assert_allclose(nothing.f, s @ y / s.sum())
    # Two machines are prolonged only where that is better.
    far, _ = newton.at(10.0, exact)
    near, _ = newton.at(0.2, exact)
    guess = newton.prolonged(1e-4, near, far)
    assert guess is near or objective(guess, y, s, 1e-4) < objective(near, y, s, 1e-4)
    assert newton.prolonged(0.1, near, None) is near
    assert newton.prolonged(0.1, exact, far) is exact  # nothing is better than the minimum


def objective(machine, y, s, lam):
    K = reference.rbf(X, X, 2.0)
    f = K @ machine.u + machine.b
    return s @ np.maximum(1 - y * f, 0) ** 2 + 0.5 * lam * machine.u @ K @ machine.u


def test_one_class_that_is_left_gives_a_constant():
    path = traced().without(np.flatnonzero(Y > 0))
    assert isinstance(path, SamplePath)
    assert not path.has_both_classes
    with pytest.raises(PathError, match="Only one class"):
        next(path.walk_samples(VALUES))
    np.testing.assert_allclose(path.decisions(VALUES), in_features(path).decisions(VALUES), atol=1e-9)
    assert (path.decisions(VALUES) <= -1.0 + 1e-6).all()


def test_without_is_the_path_of_the_other_rows():
    rows = np.array([0, 5, 17, 30])
    left = np.delete(np.arange(N), rows)
    found = traced(WEIGHTS["weights"]).without(rows).decisions(VALUES)
    other = traced(WEIGHTS["weights"][left], X=X[left], y=Y[left]).decisions(VALUES)
    np.testing.assert_allclose(found[:, left], other, atol=1e-8)


@pytest.mark.parametrize("C", [1e9, 1e12, 1e14, 1e17])
def test_a_C_too_large_for_the_coefficients_is_done_in_features(C):
    """A linear kernel of two columns has rank two: with a huge C the systems have few digits, or none."""
    values = np.array([1.0, C])
    path = svmpath.trace(X, Y, loss="squared_hinge", kernel="linear", span=(1e-3, 1e17))
    assert isinstance(path, SamplePath)
    with pytest.raises(PathError):
        list(path.walk_samples(values))
    found, design = path.decisions(values), np.column_stack([X, np.ones(N)])
    np.testing.assert_allclose(found[1], design @ without_penalty(design), atol=1e-5)


def without_penalty(design):
    """The limit for C to infinity: least squares of the samples on the left, until they stay the same."""
    left = np.ones(N, dtype=bool)
    for _ in range(30):
        w = np.linalg.lstsq(design[left], Y[left], rcond=None)[0]
        left, before = Y * (design @ w) < 1.0, left
        if np.array_equal(left, before):
            return w
    raise AssertionError("the reference did not settle")


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_singular_kernels(kernel):
    path = svmpath.trace(X, Y, loss="squared_hinge", kernel=kernel, gamma=None, degree=2, span=(1e-3, 1e4))
    assert np.linalg.matrix_rank(path.K) < N
    values = np.array([0.01, 1.0, 1e3])
    np.testing.assert_allclose(path.decisions(values), in_features(path).decisions(values), atol=1e-6)
    ours, theirs = predict_left_out_samples(path, values), predict_left_out_march(in_features(path), values)
    np.testing.assert_allclose(values_of(ours), values_of(theirs), atol=1e-5)


def test_copies_are_merged_and_held_out_one_by_one():
    twice, y = np.repeat(X[:20], 2, axis=0), np.repeat(Y[:20], 2)
    path = traced(X=twice, y=y)
    assert path.problem.copies is not None
    plain = replace(path.unmerged, store=KernelStore())
    assert isinstance(plain, SamplePath)
    values = np.array([0.1, 10.0])
    np.testing.assert_allclose(path.decisions(values), plain.decisions(values), atol=1e-8)
    merged, all_rows = criteria.span(path, values), predict_left_out_samples(plain, values)
    np.testing.assert_allclose(merged.decisions, values_of(all_rows), atol=1e-6)


def test_exact_leave_one_out_is_that_of_refits():
    s, K = WEIGHTS["weights"], reference.rbf(X, X, 2.0)
    curve = criteria.loo(traced(s), np.array([2.0]))
    for i in range(0, N, 7):
        weights = np.where(np.arange(N) == i, 0.0, s)
        alpha, b, _ = reference.squared_hinge(K, Y, weights, 2.0)
        np.testing.assert_allclose(curve.decisions[0, i], K[i] @ alpha + b, atol=1e-7)


def values_of(held):
    return held.decisions() if callable(held.decisions) else held.decisions

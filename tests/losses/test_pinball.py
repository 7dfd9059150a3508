"""The pinball machine: against CVXPY models, plain refits, the quantile property, and in hard cases."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import svmpath
from svmpath import PathSVR, criteria
from svmpath.losses import EpsilonInsensitive, Expectile, Pinball
from svmpath.paths import JumpPath, KernelPath, NodePath
from tests.cases import CASES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.2 + 0.5 * (X[:, 0] > 0)) * RNG.normal(size=50)
S = RNG.choice([0.0, 0.5, 1.0, 2.0], size=50)
QUICK = 6  # of the problems that are compared with CVXPY


def rho(e, q):
    return np.where(e > 0, q * e, (q - 1) * e)


def matrix(path):
    return path.gram.block(slice(None), slice(None))


def model(K, y, s, C, loss):
    """Decision values and objective of the primal problem in features, by Clarabel; ``loss`` takes residuals."""
    import cvxpy as cp

    values, Q = np.linalg.eigh(K)
    Z = Q * np.sqrt(np.maximum(values, 0.0))
    w, b = cp.Variable(len(K)), cp.Variable()
    f = Z @ w + b
    problem = cp.Problem(cp.Minimize(C * (s @ loss(y - f)) + cp.sum_squares(w) / 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return f.value, problem.value


def pinball(q):
    import cvxpy as cp

    return lambda e: q * cp.pos(e) + (1 - q) * cp.pos(-e)


def expectile(tau):
    import cvxpy as cp

    return lambda e: tau * cp.square(cp.pos(e)) + (1 - tau) * cp.square(cp.pos(-e))


def objective(solution, losses):
    problem, half = solution.problem, solution.alpha @ (solution.fitted - solution.b) / 2
    return solution.parameters["C"] * (problem.s @ losses(problem.y - solution.fitted)) + half


def random_problem(seed):
    """Rows, targets, weights and a kernel: some on grids, some with few values of y, some with weights of zero."""
    rng = np.random.default_rng([seed, 7])
    n, d = int(rng.integers(8, 32)), int(rng.integers(1, 4))
    rows = rng.normal(size=(n, d)) if seed % 3 else rng.integers(0, 4, size=(n, d)).astype(float)
    y = rows[:, 0] + rng.normal(size=n)
    y = np.round(y) if seed % 4 == 1 else y
    s = np.ones(n) if seed % 2 else rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
    s[:3] = 1.0
    kernel = [{"kernel": "rbf", "gamma": 0.5}, {"kernel": "linear"}, {"kernel": "poly", "gamma": 0.3, "coef0": 1.0}]
    return rows, y, s, kernel[seed % 3], float(10.0 ** rng.uniform(-2, 2)), float(rng.uniform(0.03, 0.97))


def slow_after(count):
    return [pytest.param(seed, marks=() if seed < QUICK else pytest.mark.slow) for seed in range(count)]


@pytest.mark.parametrize("seed", slow_after(60))
@pytest.mark.parametrize("over", ["C", "quantile"])
def test_the_machine_is_that_of_a_cvxpy_model(seed, over):
    rows, y, s, kernel, C, q = random_problem(seed)
    span, loss = ((1e-2, 1e2), Pinball(q)) if over == "C" else ((0.02, 0.98), "pinball")
    path = svmpath.trace(rows, y, loss=loss, over=over, span=span, C=C, sample_weight=s, task="regression", **kernel)
    solution = path(C if over == "C" else q)
    f, value = model(matrix(path), y, s, C, pinball(q))
    np.testing.assert_allclose(objective(solution, lambda e: rho(e, q)), value, rtol=1e-7, atol=1e-7 * C)
    assert objective(solution, lambda e: rho(e, q)) <= value * (1 + 1e-9) + 1e-9 * C
    # The objective is strictly convex but for the offset: differences of decision values follow from the gap.
    at = s > 0
    shifted = solution.fitted[at] - f[at]
    if np.any((solution.alpha[at] > 1e-6 * C * (q - 1)) & (solution.alpha[at] < 1e-6 * C * q)):
        assert np.ptp(shifted) <= 1e-7 * (1 + np.abs(f).max())
    assert solution.gap < 1e-9
    assert solution.violation < 1e-8
    assert not solution.alpha[s == 0].any()
    assert (solution.parameters["C"], solution.parameters["quantile"]) == pytest.approx((C, q))


@pytest.mark.parametrize("seed", slow_after(60))
def test_the_expectile_is_that_of_a_cvxpy_model(seed):
    rows, y, s, kernel, C, tau = random_problem(seed)
    path = svmpath.trace(rows, y, loss=Expectile(tau), span=(1e-2, 1e2), sample_weight=s, task="regression", **kernel)
    _, value = model(matrix(path), y, s, C, expectile(tau))
    found = objective(path(C), lambda e: np.where(e < 0, 1 - tau, tau) * e**2)
    np.testing.assert_allclose(found, value, rtol=1e-7, atol=1e-9)


def check_quantiles(path, values):
    """At most q W below and (1 - q) W above, at every value; those on the elbow are neither."""
    y, s = path.problem.y, path.problem.s
    for value in values:
        solution = path(value)
        e, q, near = y - solution.fitted, solution.parameters["quantile"], 1e-8 * (1 + np.abs(y).max())
        assert s[e < -near].sum() <= q * s.sum() + 1e-9
        assert s[e > near].sum() <= (1 - q) * s.sum() + 1e-9


@pytest.mark.parametrize("over", ["C", "quantile", "gamma"])
@pytest.mark.parametrize("weights", [None, S])
def test_paths_are_optimal_and_have_the_quantile_property_everywhere(over, weights):
    spans = {"C": (1e-3, 1e3), "quantile": None, "gamma": (0.1, 3.0)}
    gamma = None if over == "gamma" else 0.5
    path = svmpath.trace(X, Y, loss=Pinball(0.8), over=over, span=spans[over], gamma=gamma, sample_weight=weights)
    assert isinstance(path, KernelPath if over == "gamma" else JumpPath)
    path.check(1e-8)
    nodes = path.breakpoints
    check_quantiles(path, np.concatenate([nodes, (nodes[1:] + nodes[:-1]) / 2]))


@pytest.mark.parametrize("over", ["C", "quantile"])
def test_events_lead_from_end_to_end(over):
    span = (1e-3, 1e3) if over == "C" else (0.05, 0.95)
    path = svmpath.trace(X, Y, loss=Pinball(0.31), over=over, span=span, gamma=0.5)

    def places(value):
        e = Y - path(value).fitted
        return np.where(np.abs(e) < 1e-8, "elbow", np.where(e < 0, "below", "above"))

    first, last = (value * (1 + step) for value, step in zip(span, (1e-9, -1e-9), strict=True))
    at = places(first)
    for event in path.events():
        assert event.source == at[event.sample]
        at[event.sample] = event.target
    np.testing.assert_array_equal(at, places(last))


def test_over_the_quantile_coefficients_are_piecewise_linear():
    path = svmpath.trace(X, Y, loss="pinball", over="quantile", span=(0.1, 0.9), gamma=0.5, C=3.0)
    for low, high in zip(path.breakpoints[:-1], path.breakpoints[1:], strict=True):
        ends = [path(low + share * (high - low)).alpha for share in (0.1, 0.5, 0.9)]
        np.testing.assert_allclose(ends[1], (ends[0] + ends[2]) / 2, atol=1e-8)
    down = svmpath.trace(X, Y, loss="pinball", over="quantile", span=(0.9, 0.1), gamma=0.5, C=3.0)
    np.testing.assert_allclose(down(0.37).alpha, path(0.37).alpha, atol=1e-8)
    np.testing.assert_allclose(path.decisions(np.array([0.2, 0.7])), [path(q).fitted for q in (0.2, 0.7)], atol=1e-9)


def test_the_median_is_a_tube_of_no_width_with_half_the_C():
    options = {"gamma": 0.5, "span": (1e-2, 1e2), "sample_weight": S}
    half = svmpath.trace(X, Y, loss=Pinball(0.5), **options)(2.0)
    tube = svmpath.trace(X, Y, loss=EpsilonInsensitive(0.0), **options)(1.0)
    np.testing.assert_allclose(half.fitted, tube.fitted, atol=1e-8)
    np.testing.assert_allclose(half.alpha, tube.alpha, atol=1e-7)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.83])
def test_for_large_C_a_linear_machine_is_the_quantile_regressor_of_scikit_learn(q):
    solution = svmpath.trace(X, Y, loss=Pinball(q), kernel="linear", span=(1.0, 1e5))(1e5)
    theirs = QuantileRegressor(quantile=q, alpha=0.0, solver="highs").fit(X, Y).predict(X)
    found = [mean_pinball_loss(Y, f, alpha=q) for f in (solution.fitted, theirs)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_for_small_C_the_machine_is_the_quantile_of_the_targets():
    solution = svmpath.trace(X, Y, loss=Pinball(0.83), span=(1e-9, 1.0))(1e-9)
    np.testing.assert_allclose(solution.fitted, np.sort(Y)[41], atol=1e-6)  # the 42nd of 50: 41 < 0.83 * 50 < 42


def test_the_gap_is_primal_minus_dual_and_wrong_coefficients_are_a_violation():
    path, C, q = svmpath.trace(X, Y, loss=Pinball(0.8), gamma=0.5, span=(1e-3, 1e3)), 3.0, 0.8
    right = path(C)
    wrong = replace(right, alpha=0.9 * right.alpha, b=right.b + 0.1)
    dual = Y @ wrong.alpha - wrong.alpha @ matrix(path) @ wrong.alpha / 2
    np.testing.assert_allclose(wrong.gap, 1 - dual / objective(wrong, lambda e: rho(e, q)), rtol=1e-9)
    assert right.gap < 1e-12
    assert wrong.gap > 1e-3
    assert wrong.violation > 0.01
    assert replace(right, alpha=2.0 * right.alpha).violation > 0.1
    slopes = path.loss.slopes(right, right.fitted + 0.3), path.loss.slopes(right, Y)
    np.testing.assert_allclose(slopes[0][0], np.where(right.fitted + 0.3 < Y, -q, 1 - q))
    np.testing.assert_allclose(slopes[1], [np.full(50, -q), np.full(50, 1 - q)])


@pytest.mark.parametrize("over", ["C", "quantile"])
@pytest.mark.parametrize(("weights", "integer"), [(None, False), (S, False), (None, True)])
def test_leave_one_out_is_that_of_plain_refits(over, weights, integer):
    y = np.round(2 * Y) if integer else Y
    span, values = ((1e-2, 1e2), [0.1, 3.0]) if over == "C" else ((0.05, 0.95), [0.2, 0.71])
    options = {"loss": Pinball(0.7), "over": over, "span": span, "gamma": 0.5, "C": 2.0, "task": "regression"}
    path = svmpath.trace(X, y, sample_weight=weights, **options)
    exact, predicted = criteria.loo(path, values), criteria.alo(path, values)
    s = np.ones(50) if weights is None else weights
    assert not exact.unreliable.any()
    for k, value in enumerate(values):
        wrong = 0
        for i in np.flatnonzero(s > 0)[::2]:
            rest = np.delete(np.arange(50), i)
            f = svmpath.trace(X[rest], y[rest], sample_weight=s[rest], **options)(value)(X[[i]])[0]
            np.testing.assert_allclose(exact.decisions[k, i], f, atol=1e-9)
            wrong += abs(predicted.decisions[k, i] - f) > 1e-7
        assert wrong <= predicted.unreliable[k]
        q = 0.7 if over == "C" else value
        np.testing.assert_allclose(
            exact.scores[k], mean_pinball_loss(y, exact.decisions[k], sample_weight=s, alpha=q), rtol=1e-12
        )


@pytest.mark.parametrize("over", ["C", "quantile", "gamma"])
def test_kfold_is_that_of_plain_refits(over):
    spans = {"C": (1e-2, 1e2), "quantile": (0.05, 0.95), "gamma": (0.1, 2.0)}
    values = {"C": [0.3, 10.0], "quantile": [0.1, 0.6], "gamma": [0.3, 1.5]}[over]
    options = {"loss": Pinball(0.8), "over": over, "span": spans[over], "C": 2.0}
    options |= {} if over == "gamma" else {"gamma": 0.5}
    folds = [(np.delete(np.arange(50), np.arange(k, 50, 4)), np.arange(k, 50, 4)) for k in range(4)]
    curve = criteria.kfold(svmpath.trace(X, Y, **options), values, cv=folds)
    for value, held in zip(values, curve.decisions, strict=True):
        for train, test in folds:
            refit = svmpath.trace(X[train], Y[train], **options)(value)
            np.testing.assert_allclose(held[test], refit(X[test]), atol=1e-8)


def test_weights_low_rank_sparse_rows_and_single_precision():
    s = np.ones(50)
    s[:5], s[5:10] = 2.0, 0.0
    rows = np.r_[0:5, 0:5, 10:50]
    options = {"loss": Pinball(0.8), "gamma": 0.5, "span": (1e-2, 1e2)}
    weighted = svmpath.trace(X, Y, sample_weight=s, **options)(3.0)
    np.testing.assert_allclose(weighted(X), svmpath.trace(X[rows], Y[rows], **options)(3.0)(X), atol=1e-8)
    whole = svmpath.trace(X, Y, **options)(3.0)
    np.testing.assert_allclose(svmpath.trace(X, Y, rank=50, **options)(3.0).fitted, whole.fitted, atol=1e-5)
    np.testing.assert_allclose(
        svmpath.trace(scipy.sparse.csr_matrix(X), Y, **options)(3.0).fitted, whole.fitted, atol=1e-8
    )
    np.testing.assert_allclose(svmpath.trace(X.astype(np.float32), Y, **options)(3.0).fitted, whole.fitted, atol=1e-4)
    low = svmpath.trace(X, Y, rank=8, random_state=0, **options)(3.0)
    certificate = criteria.approximation_gap(low)
    assert low.gap < 1e-9
    assert np.abs(low(X) - whole.fitted).max() <= certificate.bound
    assert criteria.approximation_gap(whole).gap < 1e-9


def test_a_weight_goes_to_zero():
    path = svmpath.trace(X, Y, loss=Pinball(0.2), over="weight", sample=[3, 8], gamma=0.5, C=2.0)
    path.check()
    rest = np.delete(np.arange(50), [3, 8])
    without = svmpath.trace(X[rest], Y[rest], loss=Pinball(0.2), gamma=0.5, span=(1.0, 3.0))(2.0)
    np.testing.assert_allclose(path(0.0)(X), without(X), atol=1e-8)


def test_a_path_to_a_gap_in_many_rows():
    rng = np.random.default_rng(3)
    rows = rng.uniform(-2, 2, size=(2500, 2))
    y = np.sin(2 * rows[:, 0]) + (0.2 + 0.2 * np.abs(rows[:, 0])) * rng.normal(size=2500)
    path = svmpath.trace(rows, y, loss=Pinball(0.9), gamma=0.5, rank=30, span=(0.1, 1.0), tol=1e-2, random_state=0)
    assert isinstance(path, NodePath)
    assert not path.is_exact
    for C in (0.1, 0.33, 1.0):
        assert path(C).gap <= 1e-2
    assert {event.target for event in path.events()} <= {"below", "elbow", "above"}
    assert abs(np.mean(y < path(1.0).fitted) - 0.9) < 0.02
    assert criteria.alo(path, [0.3]).scores[0] > 0


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("over", ["C", "quantile"])
def test_hard_cases(case, over):
    rows, y, s = CASES[case]()
    span = (1e-2, 1e2) if over == "C" else (0.05, 0.95)
    kernel = {"kernel": "linear"} if rows.shape[1] > 20 else {"kernel": "rbf", "gamma": 0.5}
    options = {"loss": Pinball(0.7), "over": over, "span": span, "sample_weight": s, "task": "regression", **kernel}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", svmpath.PrecisionWarning)
        path = svmpath.trace(rows, y, **options)
    path.check(1e-7)
    check_quantiles(path, path.breakpoints[:: max(1, len(path.breakpoints) // 10)])


@pytest.mark.parametrize("y", [np.zeros(12), np.full(12, 7.25), np.r_[np.zeros(11), 1.0], np.arange(12) % 2])
def test_targets_with_few_values(y):
    rows = np.random.default_rng(1).normal(size=(12, 2))
    for over, span in (("C", (1e-2, 1e2)), ("quantile", (0.1, 0.9))):
        path = svmpath.trace(rows, y, loss=Pinball(0.6), over=over, span=span, gamma=0.5, task="regression")
        path.check(1e-8)
        assert path(0.5).gap < 1e-8
        check_quantiles(path, [span[0], 0.5, span[1]])


@pytest.mark.parametrize("n", [2, 3])
def test_very_few_rows(n):
    rows, y = np.arange(n, dtype=float)[:, None], np.arange(n, dtype=float) ** 2 + 0.5
    svmpath.trace(rows, y, loss="pinball", gamma=1.0, span=(1e-2, 1e2), task="regression").check()
    svmpath.trace(rows, y, loss="pinball", over="quantile", gamma=1.0, task="regression").check()


def test_many_columns():
    rows = np.random.default_rng(2).normal(size=(20, 300))
    path = svmpath.trace(rows, Y[:20], loss="pinball", over="quantile", C=10.0)
    path.check(1e-8)
    np.testing.assert_allclose(path(0.5).fitted, Y[:20], atol=1e-8)  # it passes through all targets


def test_the_surface_over_C_and_gamma():
    surface = svmpath.surface(X, Y, loss=Pinball(0.3), C=(0.1, 10.0), gamma=[0.2, 1.0])
    assert surface(3.0, 0.5).violation < 1e-8
    choice = svmpath.select(surface.curves(criteria.kfold, [0.1, 1.0, 10.0], cv=4))
    assert choice.solution.parameters["quantile"] == 0.3


def test_held_out_values_are_scored_by_the_loss_itself():
    values = [0.1, 1.0, 10.0]
    path = svmpath.trace(X, Y, loss=Pinball(0.9), gamma=0.5, span=(1e-2, 1e2))
    curve = criteria.kfold(path, values, cv=5)
    expected = [mean_pinball_loss(Y, f, alpha=0.9) for f in curve.decisions]
    np.testing.assert_allclose(curve.scores, expected, rtol=1e-12)
    np.testing.assert_allclose(curve.rescored("squared").scores, np.mean((curve.decisions - Y) ** 2, axis=1))
    np.testing.assert_allclose(curve.rescored("squared").rescored(None).scores, expected, rtol=1e-12)
    asked = criteria.kfold(path, values, cv=5, loss="squared")
    np.testing.assert_allclose(asked.scores, curve.rescored("squared").scores)
    squares = criteria.loo(svmpath.trace(X, Y, loss=Expectile(0.8), gamma=0.5, span=(1e-2, 1e2)), values)
    e = Y - squares.decisions
    np.testing.assert_allclose(squares.scores, (np.where(e < 0, 0.2, 0.8) * e**2).mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.5, float("nan"), "high", True, None])
def test_what_is_refused(quantile):
    with pytest.raises(ValueError, match="quantile must be a number between 0 and 1, got"):
        Pinball(quantile)


def test_spans_beyond_zero_and_one_and_classification_are_refused():
    with pytest.raises(ValueError, match="span must hold two different numbers between 0 and 1, got"):
        svmpath.trace(X, Y, loss="pinball", over="quantile", span=(0.0, 0.9))
    with pytest.raises(ValueError, match="loss='pinball' does regression, not classification"):
        svmpath.trace(X, np.sign(Y), loss="pinball")
    with pytest.raises(ValueError, match="With loss='hinge' over must be"):
        svmpath.trace(X, np.sign(Y), loss="hinge", over="quantile")
    with pytest.raises(ValueError, match="NaN"):
        svmpath.trace(X, np.where(np.arange(50) == 3, np.nan, Y), loss="pinball")


@pytest.mark.slow
@parametrize_with_checks(
    [PathSVR(loss="pinball", quantile=0.6, gamma=0.5, C=[1.0, 100.0])],
    # Two copies may be in two folds, a row of weight two is in one.
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "folds tell a weight of two from two samples"
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_a_kernel_too_large_for_the_targets_is_refused_or_right():
    """Rows that are all alike, with kernel values of 1e11 and targets of 0.01: K alpha keeps three digits of them."""
    rows, y = np.full((33, 2), 50.0), 0.01 * np.random.default_rng(0).normal(size=33)
    path = svmpath.trace(rows, y, loss="pinball", quantile=0.97, kernel="poly", gamma=1.0, coef0=1.0, span=(1e-3, 1e3))
    np.testing.assert_allclose(path(1e-3).fitted, np.sort(y)[-1], rtol=1e-3)  # the quantile itself
    with pytest.raises(svmpath.PathError, match=r"of which rounding explains up to .*: kernel values are too large"):
        path(1e3)


def test_trace_takes_the_quantile():
    X, y = np.random.default_rng(1).normal(size=(30, 2)), np.random.default_rng(2).normal(size=30)
    for loss, same in (("pinball", Pinball(0.8)), ("expectile", Expectile(0.8))):
        found = svmpath.trace(X, y, loss=loss, quantile=0.8, gamma=1.0)(2.0)
        np.testing.assert_allclose(found.fitted, svmpath.trace(X, y, loss=same, gamma=1.0)(2.0).fitted)
        assert found.loss == same
    with pytest.raises(ValueError, match=r"quantile=0.8 is for loss='pinball' .*, but loss='hinge' has no quantile"):
        svmpath.trace(X, np.sign(y), loss="hinge", quantile=0.8)
    with pytest.raises(ValueError, match=r"quantile=0.8 is for .*, but loss='pinball' has its own parameters"):
        svmpath.trace(X, y, loss=Pinball(0.3), quantile=0.8)
    with pytest.raises(ValueError, match="quantile"):
        svmpath.trace(X, y, loss="pinball", quantile=1.5)

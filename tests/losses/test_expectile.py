"""The expectile machine: against a CVXPY model, plain refits and least squares."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import svmpath
from svmpath import PathSVR, Range, criteria
from svmpath.losses import Expectile
from svmpath.paths.newton_path import NewtonPath
from tests.speed import each_once

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.2 + 0.5 * (X[:, 0] > 0)) * RNG.normal(size=50)
S = RNG.choice([0.0, 0.5, 1.0, 2.0], size=50)


def L(e, tau):
    return np.where(e < 0, 1 - tau, tau) * e**2


def matrix(path):
    return path.gram.block(slice(None), slice(None))


def model(K, y, s, C, tau):
    """Decision values and objective of the primal problem in features, by Clarabel."""
    import cvxpy as cp

    values, Q = np.linalg.eigh(K)
    Z = Q * np.sqrt(np.maximum(values, 0.0))
    w, b = cp.Variable(len(K)), cp.Variable()
    f = Z @ w + b
    losses = tau * cp.square(cp.pos(y - f)) + (1 - tau) * cp.square(cp.pos(f - y))
    problem = cp.Problem(cp.Minimize(C * (s @ losses) + cp.sum_squares(w) / 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return f.value, problem.value


def objective(solution, tau):
    C, problem = solution.parameters["C"], solution.problem
    losses = problem.s @ L(problem.y - solution.fitted, tau)
    return C * losses + solution.alpha @ (solution.fitted - solution.b) / 2


@each_once
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("tau", [0.02, 0.5, 0.9])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_machine_is_that_of_a_cvxpy_model(kernel, tau, C):
    options = {"gamma": 0.5} if kernel == "rbf" else {}
    path = svmpath.trace(X, Y, loss=Expectile(tau), kernel=kernel, span=(1e-3, 1e3), sample_weight=S, **options)
    solution = path(C)
    f, value = model(matrix(path), Y, S, C, tau)
    np.testing.assert_allclose(solution.fitted, f, atol=2e-5)
    np.testing.assert_allclose(objective(solution, tau), value, rtol=1e-8)
    np.testing.assert_allclose(path.decisions(np.array([C]))[0], solution.fitted, atol=1e-9)
    assert solution.gap < 1e-12
    assert solution.violation < 1e-10
    assert not solution.alpha[S == 0].any()
    assert solution.parameters["tau"] == tau


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
def test_half_is_least_squares_of_half_the_C(C):
    options = {"gamma": 0.5, "span": (1e-3, 1e4), "sample_weight": S}
    half = svmpath.trace(X, Y, loss=Expectile(0.5), **options)(C)
    squares = svmpath.trace(X, Y, loss="least_squares", **options)(C / 2)
    np.testing.assert_allclose(half.alpha, squares.alpha, atol=1e-9 * C)
    np.testing.assert_allclose(half.b, squares.b, atol=1e-9)


def test_for_small_C_the_machine_is_the_expectile_of_the_targets():
    solution = svmpath.trace(X, Y, loss=Expectile(0.8), span=(1e-12, 1.0))(1e-12)
    e = Y - solution.b
    assert abs((np.where(e < 0, 0.2, 0.8) * e).sum()) < 1e-6


def test_the_gap_is_primal_minus_dual_and_wrong_coefficients_are_a_violation():
    path, C, tau = svmpath.trace(X, Y, loss=Expectile(0.8), gamma=0.5, span=(1e-3, 1e3)), 3.0, 0.8
    wrong = replace(path(C), alpha=0.9 * path(C).alpha, b=path(C).b + 0.1)
    share = np.where(wrong.alpha > 0, tau, 1 - tau)
    dual = Y @ wrong.alpha - (wrong.alpha**2 / (4 * C * share)).sum() - wrong.alpha @ matrix(path) @ wrong.alpha / 2
    np.testing.assert_allclose(wrong.gap, 1 - dual / objective(wrong, tau), rtol=1e-9)
    assert wrong.gap > 1e-3
    assert wrong.violation > 0.01


def test_the_path_is_optimal_everywhere_and_events_lead_from_end_to_end():
    path = svmpath.trace(X, Y, loss=Expectile(0.7), gamma=0.5, span=(1e-3, 1e3))
    assert isinstance(path, NewtonPath)
    path.check(1e-8)
    below = path(1e-3).fitted > Y
    for event in path.events():
        assert event.source == ("below" if below[event.sample] else "above")
        below[event.sample] = not below[event.sample]
    np.testing.assert_array_equal(below, path(1e3).fitted > Y)


def test_weights_low_rank_and_sparse_rows():
    s = np.ones(50)
    s[:5], s[5:10] = 2.0, 0.0
    rows = np.r_[0:5, 0:5, 10:50]
    options = {"loss": Expectile(0.8), "gamma": 0.5, "span": (1e-2, 1e2)}
    weighted = svmpath.trace(X, Y, sample_weight=s, **options)(3.0)
    np.testing.assert_allclose(weighted(X), svmpath.trace(X[rows], Y[rows], **options)(3.0)(X), atol=1e-9)
    full = svmpath.trace(X, Y, rank=50, random_state=0, **options)(3.0)
    np.testing.assert_allclose(full.fitted, svmpath.trace(X, Y, **options)(3.0).fitted, atol=1e-6)
    low = svmpath.trace(X, Y, rank=8, random_state=0, **options)(3.0)  # more samples than features
    assert low.gap < 1e-12
    sparse = svmpath.trace(scipy.sparse.csr_matrix(X), Y, **options)(3.0)
    np.testing.assert_allclose(sparse.fitted, svmpath.trace(X, Y, **options)(3.0).fitted, atol=1e-9)


@pytest.mark.parametrize("rank", [None, 8])
def test_leave_one_out_and_its_prediction_are_those_of_plain_refits(rank):
    path = svmpath.trace(
        X, Y, loss=Expectile(0.8), gamma=0.5, span=(1e-2, 1e2), sample_weight=S, rank=rank, random_state=0
    )
    K, values = matrix(path), [0.1, 3.0]
    exact, predicted, changes = criteria.loo(path, values), criteria.alo(path, values), np.zeros(2, dtype=int)
    for k, C in enumerate(values):
        before = path(C).fitted > Y
        for i in np.flatnonzero(S > 0):
            rows = np.delete(np.arange(50), i)
            refit = svmpath.trace(
                K[np.ix_(rows, rows)], Y[rows], loss=Expectile(0.8), kernel="precomputed", span=(1e-2, 1e2),
                sample_weight=S[rows],
            )(C)  # fmt: skip
            f = refit(K[[i]][:, rows])[0]
            np.testing.assert_allclose(exact.decisions[k, i], f, atol=1e-7)
            if np.array_equal((refit.fitted > Y[rows])[S[rows] > 0], before[rows][S[rows] > 0]):
                np.testing.assert_allclose(predicted.decisions[k, i], f, atol=1e-7)
            else:
                changes[k] += 1
    assert 0 < changes.sum() < 80
    np.testing.assert_allclose(predicted.unreliable, changes, atol=6)
    np.testing.assert_allclose(criteria.span(path, values).held, predicted.held)


def test_kfold_is_that_of_plain_refits():
    options = {"loss": Expectile(0.8), "gamma": 0.5, "span": (1e-2, 1e2)}
    folds = [(np.delete(np.arange(50), np.arange(k, 50, 4)), np.arange(k, 50, 4)) for k in range(4)]
    curve = criteria.kfold(svmpath.trace(X, Y, **options), [0.3, 10.0], cv=folds)
    for C, held in zip((0.3, 10.0), curve.decisions, strict=True):
        for train, test in folds:
            np.testing.assert_allclose(held[test], svmpath.trace(X[train], Y[train], **options)(C)(X[test]), atol=1e-8)


def test_the_estimator():
    model = clone(PathSVR(loss=Expectile(0.9), gamma=0.5, C=Range(0.01, 100.0))).fit(X, Y)
    assert model.criterion_ == "kfold"
    assert model.tau_ == 0.9
    np.testing.assert_allclose(model.predict(X), model.path_(model.C_).fitted, atol=1e-9)
    assert np.mean(model.predict(X) > Y) > 0.65
    assert PathSVR(loss="expectile", random_state=0).fit(X, Y).loss_ == "expectile"
    assert PathSVR(loss="expectile", criterion="alo", gamma=0.5, C=[0.1, 1.0]).fit(X, Y).criterion_ == "alo"


@pytest.mark.parametrize("tau", [0.0, 1.0, -0.5, float("nan"), "high"])
def test_what_is_refused(tau):
    with pytest.raises(ValueError, match="tau must be a number between 0 and 1, got"):
        Expectile(tau)


def test_a_classifier_refuses_it():
    with pytest.raises(ValueError, match="loss='expectile' does regression, not classification"):
        svmpath.trace(X, np.sign(Y), loss="expectile")


@pytest.mark.slow
@parametrize_with_checks(
    [PathSVR(loss=Expectile(0.6), gamma=0.5, C=[100.0])],
    # Two copies may be in two folds, a row of weight two is in one.
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "folds tell a weight of two from two samples"
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_no_other_file_needs_to_know_it():
    src = Path(svmpath.__file__).parent
    files = {path.relative_to(src).as_posix() for path in src.rglob("*.py") if "xpectile" in path.read_text()}
    # The file itself, its row in LOSSES, the words of help, which load nothing, and those of docstrings and comments.
    assert files <= {
        "losses/expectile.py",
        "losses/__init__.py",
        "losses/pinball.py",
        "cli/options.py",
        "estimators/quantiles.py",
        "paths/trace.py",
        "estimators/regressor.py",
        "report/facts.py",
        "report/levels.py",
    }

"""The huberised hinge machine: against a CVXPY model, plain refits, and the hinges that are its limits."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import svmpath
from svmpath import PathSVC, Range, criteria, datasets
from svmpath.cli import main
from svmpath.losses import HuberHinge
from svmpath.paths.newton_path import NewtonPath
from svmpath.solvers.pieces import Pieces
from tests.cases import CASES
from tests.speed import each_once, first_quick

PLACES = ("right", "slope", "left")


def banana(n=60, seed=0):
    return datasets.banana(n, random_state=seed)


def matrix(path):
    return path.gram.block(slice(None), slice(None))


def H(u, h):
    return np.where(u <= 0, 0.0, np.where(u < h, u**2 / (2 * h), u - h / 2))


def model(K, y, s, C, h):
    """Decision values and objective of the primal problem in features, by Clarabel."""
    import cvxpy as cp

    values, Q = np.linalg.eigh(K)
    Z = Q * np.sqrt(np.maximum(values, 0.0))
    w, b, p, q = cp.Variable(len(K)), cp.Variable(), cp.Variable(len(K)), cp.Variable(len(K))
    f = Z @ w + b
    # H(u) is the least p^2 / (2 h) + q over p + q >= u, q >= 0, p >= 0.
    objective = C * (s @ (cp.square(p) / (2 * h) + q)) + cp.sum_squares(w) / 2
    problem = cp.Problem(cp.Minimize(objective), [p + q >= 1 - cp.multiply(y, f), p >= 0, q >= 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate" at tolerances that it can just reach
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return f.value, problem.value


def objective(solution, h):
    C, problem = solution.parameters["C"], solution.problem
    losses = H(1 - problem.y * solution.fitted, h)
    return C * (problem.s @ losses) + solution.alpha @ (solution.fitted - solution.b) / 2


# --- the machine -----------------------------------------------------------------------------------------------------


@each_once
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("h", [0.05, 0.5, 2.5])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_machine_is_that_of_a_cvxpy_model(kernel, h, C):
    X, y = banana()
    y[:7] = 1.0  # classes of different size: the offset is fixed by somebody on the slope
    s = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=60)
    options = {"gamma": 0.5} if kernel == "rbf" else {}
    path = svmpath.trace(X, y, loss=HuberHinge(h), kernel=kernel, span=(1e-3, 1e3), sample_weight=s, **options)
    solution = path(C)
    f, value = model(matrix(path), y, s, C, h)
    np.testing.assert_allclose(solution.fitted, f, atol=1e-6)
    np.testing.assert_allclose(objective(solution, h), value, rtol=1e-9)
    np.testing.assert_allclose(path.decisions(np.array([C]))[0], solution.fitted, atol=1e-10)
    assert solution.gap < 1e-12
    assert solution.violation < 1e-10
    assert not solution.alpha[s == 0].any()


def test_coefficients_follow_from_the_slacks():
    X, y = banana()
    solution = svmpath.trace(X, y, loss="huber_hinge", span=(1e-3, 1e3))(2.0)
    u = 1 - y * solution.fitted
    np.testing.assert_allclose(solution.alpha, 2.0 * y * np.clip(u / 0.5, 0, 1), atol=1e-12)
    assert solution.parameters["h"] == 0.5
    assert abs(solution.alpha.sum()) < 1e-12


def test_the_path_is_optimal_everywhere_and_the_same_in_any_order():
    X, y = banana(80)
    up = svmpath.trace(X, y, loss="huber_hinge", span=(1e-4, 1e4))
    down = svmpath.trace(X, y, loss="huber_hinge", span=(1e4, 1e-4))
    assert isinstance(up, NewtonPath)
    up.check(1e-8)
    np.testing.assert_allclose(up.breakpoints, down.breakpoints[::-1])
    for C in (5e3, 1e-3, 20.0):
        np.testing.assert_allclose(up(C).alpha, down(C).alpha, atol=1e-8 * C)


@pytest.mark.parametrize("span", [(1e-2, 1e2), (1e2, 1e-2)])
def test_events_lead_from_the_places_of_one_end_to_those_of_the_other(span):
    X, y = banana(80)
    path = svmpath.trace(X, y, loss="huber_hinge", span=span)

    def places(C):
        u = 1 - y * path(C).fitted
        return [PLACES[int(each > 0) + int(each >= 0.5)] for each in u]

    now = places(span[0])
    events = list(path.events())
    for event in events:
        assert event.source == now[event.sample]
        assert event.value in path.breakpoints
        now[event.sample] = event.target
    assert now == places(span[1])
    assert {name for event in events for name in (event.source, event.target)} == set(PLACES)


# --- gap and violation of wrong solutions ----------------------------------------------------------------------------


def test_the_gap_is_primal_minus_dual_at_any_feasible_point():
    X, y = banana()
    path = svmpath.trace(X, y, loss="huber_hinge", span=(1e-3, 1e3))
    right, C, h = path(3.0), 3.0, 0.5
    wrong = replace(right, alpha=0.9 * right.alpha, b=right.b + 0.1)  # still in the box and of sum zero
    a = y * wrong.alpha / C
    dual = C * (a - h * a**2 / 2).sum() - wrong.alpha @ matrix(path) @ wrong.alpha / 2
    np.testing.assert_allclose(wrong.gap, 1 - dual / objective(wrong, h), rtol=1e-10)
    assert wrong.gap > 1e-3


@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_coefficient_is_a_violation_at_every_place(place):
    X, y = banana()
    right = svmpath.trace(X, y, loss="huber_hinge", span=(1e-3, 1e3))(1.0)
    u = 1 - y * right.fitted
    row = {"right": np.argmin(u), "slope": np.argmin(np.abs(u - 0.25)), "left": np.argmax(u)}[place]
    alpha = right.alpha.copy()
    alpha[row] += y[row] * (-0.1 if place == "left" else 0.1)
    wrong = replace(right, alpha=alpha)
    assert wrong.violation > 0.04
    assert replace(right, alpha=right.alpha * 1.2).violation > 0.1  # outside of the box
    assert replace(right, b=right.b + 0.1).violation > 0.09


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_narrow_slope_is_the_hinge():
    X, y = banana(50)
    y[:5] = 1.0
    hinge = svmpath.trace(X, y, loss="hinge", span=(1e-2, 1e2))
    off = []
    for h in (1e-2, 1e-4):
        huber = svmpath.trace(X, y, loss=HuberHinge(h), span=(1e-2, 1e2))
        off.append(max(np.abs(huber(C).fitted - hinge(C).fitted).max() for C in (0.05, 1.0, 20.0)))
        assert max(huber(C).violation for C in (0.05, 1.0, 20.0)) < 1e-9
    assert off[1] < 1e-3
    assert off[1] < 0.05 * off[0]


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_a_wide_slope_is_the_squared_hinge(C):
    X, y = banana(50)
    h = 3.0  # more than any u
    huber = svmpath.trace(X, y, loss=HuberHinge(h), span=(1e-3, 1e3))(C)
    squared = svmpath.trace(X, y, loss="squared_hinge", span=(1e-3, 1e3))(C / (2 * h))
    assert (1 - y * huber.fitted).max() < h
    np.testing.assert_allclose(huber.alpha, squared.alpha, atol=1e-10)
    np.testing.assert_allclose(huber.b, squared.b, atol=1e-10)


def test_without_anybody_on_the_slope_the_offset_is_the_middle_of_an_interval():
    X, y = banana(40)
    y[:] = np.repeat([1.0, -1.0], 20)
    solution = svmpath.trace(X, y, loss="huber_hinge", span=(1e-9, 1.0))(1e-9)
    np.testing.assert_array_equal(solution.alpha, 1e-9 * y)  # everybody on the left
    np.testing.assert_allclose(solution.b, 0.0, atol=1e-6)  # b in [h - 1, 1 - h]
    assert solution.violation < 1e-8


# --- weights, low rank, sparse ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_weight_of_two_is_a_sample_twice_and_zero_none(C):
    X, y = banana(40)
    s = np.ones(40)
    s[:5], s[5:10] = 2.0, 0.0
    rows = np.r_[0:5, 0:5, 10:40]
    options = {"loss": "huber_hinge", "gamma": 0.5, "span": (1e-2, 1e2)}
    weighted = svmpath.trace(X, y, sample_weight=s, **options)(C)
    repeated = svmpath.trace(X[rows], y[rows], **options)(C)
    np.testing.assert_allclose(weighted(X), repeated(X), atol=1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_low_rank_of_full_rank_is_dense(C):
    X, y = banana(50)
    options = {"loss": "huber_hinge", "gamma": 2.0, "span": (1e-3, 1e3)}
    dense = svmpath.trace(X, y, **options)(C)
    full = svmpath.trace(X, y, rank=50, random_state=0, **options)(C)
    np.testing.assert_allclose(dense.fitted, full.fitted, atol=1e-6)
    assert full.gap < 1e-10


def test_more_samples_on_the_slope_than_features():
    X, y = datasets.twonorm(300, random_state=0)
    path = svmpath.trace(X, y, loss="huber_hinge", rank=10, random_state=0, span=(1e-3, 1e4))
    for C in (1e-2, 1.0, 1e3):
        solution = path(C)
        assert np.count_nonzero((np.abs(solution.alpha) < C) & (solution.alpha != 0)) > 11
        assert solution.violation < 1e-8
        assert solution.gap < 1e-12


def test_sparse_rows_are_dense_rows():
    X, y = banana(40)
    X[np.abs(X) < 0.5] = 0.0
    options = {"loss": "huber_hinge", "kernel": "linear", "span": (1e-2, 1e2)}
    dense, sparse = svmpath.trace(X, y, **options), svmpath.trace(scipy.sparse.csr_matrix(X), y, **options)
    np.testing.assert_allclose(sparse(1.0).fitted, dense(1.0).fitted, atol=1e-10)


# --- hard cases ------------------------------------------------------------------------------------------------------


@each_once
@pytest.mark.parametrize("rank", [None, 0.01])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "far_from_the_origin"])
def test_named_cases(name, kernel, rank):
    rank = None if (name, kernel) == ("zero_kernel", "linear") else rank  # which has no factor, and says so
    X, y, s = CASES[name]()
    for h in (0.5, 0.01):
        path = svmpath.trace(
            X, y, loss=HuberHinge(h), kernel=kernel, gamma=0.4, sample_weight=s, rank=rank, random_state=0
        )
        for C in (1e-3, 1.0, 1e3):
            solution = path(C)
            assert solution.gap < 1e-9
            assert solution.violation < 1e-7
            assert not solution.alpha[s == 0].any()
            np.testing.assert_allclose(path.decisions(np.array([C]))[0], solution.fitted, atol=1e-6)


@pytest.mark.parametrize("h", [0.5, 2.0])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_class_by_weights_is_the_constant_of_its_label(label, h):
    X, y = banana(30)
    path = svmpath.trace(X, y, loss=HuberHinge(h), sample_weight=(y == label).astype(float), span=(1e-2, 1e2))
    for C in (1e-2, 1.0, 1e2):
        np.testing.assert_array_equal(path(C).alpha, 0.0)
        assert path(C).b == label
        assert path(C).gap == 0.0


def test_a_step_across_the_whole_slope_is_not_taken_for_a_tie():
    # At C = 1 / 2 both samples are on the left; at C = 1 the first step leads both to u = 0, a kink, but not theirs.
    path = svmpath.trace(np.array([[1.0], [0.0]]), [1, -1], loss="huber_hinge", kernel="linear", span=(0.1, 10.0))
    f = path.decisions(np.array([0.5, 1.0, 2.0]))
    for C, found in zip((0.5, 1.0, 2.0), f, strict=True):
        expected, _ = model(matrix(path), np.array([1.0, -1.0]), np.ones(2), C, 0.5)
        np.testing.assert_allclose(found[0] - found[1], expected[0] - expected[1], atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_line_search_finds_the_lowest_point(seed):
    rng = np.random.default_rng(seed)
    u, rate, s, h = rng.normal(size=12), rng.normal(size=12), rng.uniform(size=12), rng.uniform(0.1, 2.0)
    rate[:3] = 0.0
    level, steep = rng.normal(), rng.uniform()

    def value(t):
        return s @ H(u + t * rate, h) + level * t + steep * t**2 / 2

    t = Pieces((0.0, h), (0.0, 1.0 / h, 0.0)).lowest(u, rate, s, level, steep)
    grid = np.linspace(0.0, 1.0, 2001)
    assert value(t) <= min(value(each) for each in grid) + 1e-12


# --- criteria and estimators, by the defaults of the interface -------------------------------------------------------


@first_quick(1)
@pytest.mark.parametrize("rank", [None, 10])
def test_leave_one_out_is_that_of_plain_refits(rank):
    X, y = banana(30)
    y[:4] = 1.0
    s = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=30)
    path = svmpath.trace(
        X, y, loss="huber_hinge", gamma=0.5, span=(1e-2, 1e2), sample_weight=s, rank=rank, random_state=0
    )
    curve = criteria.loo(path, [0.1, 1.0, 30.0])
    K = matrix(path)
    for C, held in zip((0.1, 1.0, 30.0), curve.decisions, strict=True):
        for i in range(0, 30, 5):
            rows = np.delete(np.arange(30), i)
            refit = svmpath.trace(
                K[np.ix_(rows, rows)],
                y[rows],
                loss="huber_hinge",
                kernel="precomputed",
                span=(1e-2, 1e2),
                sample_weight=s[rows],
            )
            np.testing.assert_allclose(held[i], refit(C)(K[[i]][:, rows])[0], atol=1e-7)


@pytest.mark.parametrize("rank", [None, 10])
@pytest.mark.parametrize("C", [0.02, 1.0, 20.0])
def test_the_prediction_is_exact_where_no_other_sample_changes_its_piece(C, rank):
    X, y = banana(40)
    y[:5] = 1.0
    s = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], size=40)
    path = svmpath.trace(
        X, y, loss="huber_hinge", gamma=0.5, span=(1e-2, 1e2), sample_weight=s, rank=rank, random_state=0
    )
    before = np.digitize(1 - y * path(C).fitted, [0.0, 0.5])
    predicted, changes = criteria.alo(path, [C]), 0
    for i in range(40):
        after = path.without(np.array([i]))(C).fitted
        others = (np.arange(40) != i) & (s > 0)
        if np.array_equal(np.digitize(1 - y * after, [0.0, 0.5])[others], before[others]):
            np.testing.assert_allclose(predicted.decisions[0, i], after[i], atol=1e-7)
        elif s[i] > 0:
            changes += 1
    assert 0 < changes < 40
    assert abs(predicted.unreliable[0] - changes) <= 0.3 * changes + 2  # by the prediction, others change or do not


def test_kfold_is_that_of_plain_refits():
    X, y = banana(40)
    path = svmpath.trace(X, y, loss="huber_hinge", gamma=0.5, span=(1e-2, 1e2))
    folds = [(np.delete(np.arange(40), np.arange(k, 40, 4)), np.arange(k, 40, 4)) for k in range(4)]
    curve = criteria.kfold(path, [0.3, 10.0], cv=folds)
    for C, held in zip((0.3, 10.0), curve.decisions, strict=True):
        for train, test in folds:
            refit = svmpath.trace(X[train], y[train], loss="huber_hinge", gamma=0.5, span=(1e-2, 1e2))
            np.testing.assert_allclose(held[test], refit(C)(X[test]), atol=1e-8)


def test_the_estimator_chooses_by_folds():
    X, y = banana(80)
    model = PathSVC(loss="huber_hinge", gamma=[0.1, 1.0], C=Range(0.1, 1000.0)).fit(X, y)
    assert model.criterion_ == "kfold"
    assert model.h_ == 0.5
    assert model.score(X, y) > 0.85
    np.testing.assert_allclose(model.decision_function(X), model.path_(model.C_).fitted, atol=1e-9)


@pytest.mark.slow
def test_several_classes_weights_and_low_rank():
    X, y = load_iris(return_X_y=True)
    s = np.random.default_rng(0).choice([0.5, 1.0], size=len(y))
    for rank in (None, 20):
        model = PathSVC(loss="huber_hinge", gamma=0.3, C=[1.0, 10.0], rank=rank, random_state=0).fit(
            X, y, sample_weight=s
        )
        assert model.score(X, y) > 0.95
        assert model.dual_coef_.shape[0] == 3


def test_the_width_is_a_parameter_of_the_object():
    X, y = banana(50)
    model = clone(PathSVC(loss=HuberHinge(0.1), gamma=0.5, C=[1.0])).fit(X, y)
    assert model.h_ == 0.1
    for wrong in (0.0, -1.0, float("nan"), "wide"):
        with pytest.raises(ValueError, match="h must be a positive number, got"):
            HuberHinge(wrong)


def test_a_surface_comes_with_the_path():
    X, y = banana(40)
    surface = svmpath.surface(X, y, loss="huber_hinge", C=(0.1, 10.0), gamma=[0.3, 1.0])
    assert surface(2.0, 0.5).violation < 1e-9
    assert svmpath.select(surface.curves(criteria.kfold, cv=3), refine=0).value > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"over": "gamma"}, "With loss='huber_hinge' over must be 'C'; got 'gamma'."),
        (
            {"tol": 1e-3},
            "tol= works for loss='hinge', 'epsilon_insensitive' or 'pinball' over C, not for HuberHinge(h=0.5)",
        ),
        (
            {"start": np.zeros(30)},
            "start= works for losses with an elbow ('hinge', 'epsilon_insensitive', 'pinball', 'nu', 'one_class')",
        ),
        ({"max_events": 3}, "max_events and time_limit work for exact paths of losses with an elbow"),
        ({"task": "regression"}, "loss='huber_hinge' does classification, not regression; use loss='least_squares'"),
    ],
)
def test_what_it_cannot_do_is_refused_with_what_is_possible(options, words):
    X, y = banana(30)
    with pytest.raises(ValueError, match=re.escape(words)):
        svmpath.trace(X, y, loss="huber_hinge", **options)


def test_criteria_without_a_formula_for_it_refuse_it():
    X, y = banana(30)
    path = svmpath.trace(X, y, loss="huber_hinge", span=(0.1, 10.0))
    for criterion in (criteria.press, criteria.radius_margin, criteria.xi_alpha):
        with pytest.raises(ValueError, match=r"this path has|not for loss='huber_hinge'"):
            criterion(path, [1.0])


@pytest.mark.slow
def test_the_command_line_tunes_saves_and_predicts(tmp_path):
    X, y = banana(40)
    data, folder = tmp_path / "data.npz", tmp_path / "out"
    np.savez(data, X=X, y=y)
    for arguments in (
        ["tune", data, "--loss", "huber_hinge", "--gamma", "0.5", "--C", "0.1:10", "--output", folder],
        ["predict", folder / "model.skops", data, "--output", tmp_path / "predicted.csv"],
    ):
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        assert end.value.code == 0
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["choice"]["loss"] == "huber_hinge"
    assert summary["held_out"]["criterion"] == "kfold"
    assert len((tmp_path / "predicted.csv").read_text(encoding="utf-8").splitlines()) == 41


@pytest.mark.slow
@parametrize_with_checks(
    [PathSVC(loss="huber_hinge", gamma=1.0, C=[1.0])],
    # Two copies may be in two folds, a row of weight two is in one.
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "folds tell a weight of two from two samples"
        for kind in ("dense", "sparse")
    },
)
def test_estimator_check(estimator, check):
    check(estimator)

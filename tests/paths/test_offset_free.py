"""Machines without an offset: against CVXPY, refits, and the formulas of Xu's note written plainly."""

import warnings

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from tests.cases import CASES
from tests.reference_qp import root
from tests.speed import slow_except

LOSSES = ("hinge", "epsilon_insensitive", "least_squares", "squared_hinge", "huber_hinge", "expectile")
VALUES = np.array([0.03, 0.7, 40.0])
EPSILON = 0.1


def draw(loss, seed=0, n=36, weighted=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    f = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3  # with an offset that there is no parameter for
    y = (
        f + 0.1 * rng.normal(size=n)
        if loss in ("epsilon_insensitive", "expectile")
        else np.sign(f + rng.normal(size=n))
    )
    s = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    s[3] = 0.0 if weighted else 1.0
    return X, y, s


def traced(loss, X, y, s=None, **options):
    task = "regression" if loss in ("epsilon_insensitive", "expectile") else "classification"
    given = {"gamma": 0.5, "span": (0.01, 100.0), "epsilon": EPSILON, "task": task, **options}
    return svmpath.trace(X, y, loss=loss, offset=False, sample_weight=s, **given)


def matrix(path):
    return path.gram.block(slice(None), slice(None))


def model(loss, K, y, s, C):
    """Decision values by Clarabel."""
    import cvxpy as cp

    Z = root(K)
    w = cp.Variable(Z.shape[1])
    f = Z @ w
    u = 1 - cp.multiply(y, f)
    each = {
        "hinge": lambda: cp.pos(u),
        "squared_hinge": lambda: cp.square(cp.pos(u)),
        "least_squares": lambda: cp.square(y - f),
        "epsilon_insensitive": lambda: cp.pos(cp.abs(y - f) - EPSILON),
    }[loss]()
    problem = cp.Problem(cp.Minimize(C * (s @ each) + cp.sum_squares(w) / 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate" at tolerances that it can just reach
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return f.value


@pytest.mark.parametrize("rank", [None, 12])
@pytest.mark.parametrize("loss", LOSSES[:4])
def test_machines_are_those_of_a_model(loss, rank):
    X, y, s = draw(loss)
    path = traced(loss, X, y, s, rank=rank)
    for C in VALUES:
        machine = path(C)
        assert machine.b == 0.0
        assert max(machine.violation, machine.gap) < 1e-10
        assert np.abs(machine.fitted - model(loss, matrix(path), y, s, C)).max() < 1e-6
    assert abs(machine.alpha.sum()) > 1e-2  # nothing wants it to be zero
    path.check()


@pytest.mark.parametrize("seed", slow_except(list(range(30)), [0]))
@pytest.mark.parametrize("loss", LOSSES[:4])
def test_random_problems(loss, seed):
    rng = np.random.default_rng(seed)
    X, y, s = draw(loss, seed + 100, n=int(rng.integers(5, 40)))
    path = traced(loss, X, y, s, gamma=float(rng.choice([0.1, 1.0, 5.0])))
    C = float(10 ** rng.uniform(-2, 2))
    assert np.abs(path(C).fitted - model(loss, matrix(path), y, s, C)).max() < 1e-6


@pytest.mark.parametrize("rank", [None, 12])
@pytest.mark.parametrize("loss", LOSSES)
def test_leave_one_out_is_that_of_refits(loss, rank):
    X, y, s = draw(loss, n=20)
    path = traced(loss, X, y, s, rank=rank, random_state=0)
    K = matrix(path)
    exact = criteria.loo(path, VALUES)
    held = np.empty_like(exact.held)
    for i in range(len(y)):
        rows = np.delete(np.arange(len(y)), i)
        alone = traced(loss, K[np.ix_(rows, rows)], y[rows], s[rows], kernel="precomputed", gamma=None)
        held[:, i] = [K[i, rows] @ alone(C).alpha for C in VALUES]
    assert np.abs(exact.held - held).max() < 1e-8


@pytest.mark.parametrize("loss", LOSSES[:4])
def test_folds_are_those_of_refits(loss):
    X, y, s = draw(loss, n=20)
    path = traced(loss, X, y, s)
    parts = [(np.setdiff1d(np.arange(20), test), test) for test in np.array_split(np.arange(20), 4)]
    held = criteria.leave_folds_out(path, VALUES, parts)
    for train, test in parts:
        alone = traced(loss, X[train], y[train], s[train])
        found = np.array([held.decisions[:, np.flatnonzero(held.rows == i)[0]] for i in test]).T
        assert np.abs(found - [alone(C)(X[test]) for C in VALUES]).max() < 1e-8


def note(K, y, alpha, f, lam, epsilon=None):
    """Xu's sections 1.1 and 1.2 with his inverses, the sign of the residual where he has that of the fitted value."""
    u = 1 - y * f if epsilon is None else np.abs(y - f) - epsilon
    V = np.flatnonzero(np.abs(u) < 1e-8)
    S = np.setdiff1d(np.arange(len(y)), V)
    inverse = np.linalg.inv(K)
    H = np.linalg.inv(K[:, V].T @ inverse @ K[:, V])
    a = np.diagonal(K @ (inverse - inverse @ K[:, V] @ H @ K[:, V].T @ inverse) @ K) / lam
    a[V] = 1.0 / (lam * np.diagonal(H))
    g = np.where(u > 0, -y if epsilon is None else -np.sign(y - f), 0.0)
    g[V] = np.linalg.lstsq(K[:, V], -K[:, S] @ g[S] - lam * K @ alpha, rcond=None)[0]
    return f + a * g


@pytest.mark.parametrize("form", ["direct", "features"])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_the_formulas_of_the_note(loss, form):
    """The derivatives' sign is that of the loss, so that removing a sample adds a_i g_i."""
    X, y, _ = draw(loss, n=40, weighted=False)
    path = traced(loss, X, y)
    K, C = matrix(path), 0.7
    machine = path(C)
    found = criteria.alo(path, C, form=form).held[0]
    expected = note(K, y, machine.alpha, machine.fitted, 1 / C, EPSILON if loss == "epsilon_insensitive" else None)
    assert np.abs(found - expected).max() < 1e-8
    assert np.count_nonzero(np.abs(found - machine.fitted) > 1e-3) > 10


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "squared_hinge"])
def test_approximate_is_exact_where_no_place_changes(loss):
    X, y, s = draw(loss)
    path = traced(loss, X, y, s)
    values = np.array([0.02, 0.05, 0.5, 5.0])
    exact, near = criteria.loo(path, values), criteria.alo(path, values)
    is_safe = near.unreliable == 0
    assert is_safe.any() == (loss != "epsilon_insensitive")
    assert np.abs(exact.held - near.held)[is_safe].max(initial=0.0) < 1e-9
    wrong = (np.abs(exact.held - near.held) > 1e-8).sum(axis=1)
    assert np.all(wrong <= near.unreliable)


def test_press_divides_by_one_minus_the_leverage():
    X, y, _ = draw("least_squares", weighted=False)
    path = traced("least_squares", X, y)
    K, C = matrix(path), 3.0
    leverages = np.diagonal(K @ np.linalg.inv(K + np.eye(len(y)) / (2 * C)))
    residuals = y - path(C).fitted
    assert np.abs(criteria.press(path, C).held[0] - (y - residuals / (1 - leverages))).max() < 1e-10


def test_over_epsilon_and_over_a_weight():
    X, y, s = draw("epsilon_insensitive")
    over = traced("epsilon_insensitive", X, y, s, over="epsilon", span=(0.5, 0.01), C=2.0)
    assert np.abs(over(EPSILON).fitted - model("epsilon_insensitive", matrix(over), y, s, 2.0)).max() < 1e-6
    over.check()
    X, y, s = draw("hinge")
    away = traced("hinge", X, y, s, over="weight", sample=[0, 1, 2], span=(1.0, 0.0), C=2.0)
    s[:3] *= 0.4
    assert np.abs(away(0.4).fitted - model("hinge", matrix(away), y, s, 2.0)).max() < 1e-6
    away.check()


@pytest.mark.parametrize("name", slow_except(list(CASES), ["contradictory_duplicates", "few_distinct_rows"]))
@pytest.mark.parametrize("loss", ["hinge", "least_squares", "squared_hinge"])
def test_cases(loss, name):
    X, y, s = CASES[name]()
    path = traced(loss, X, y, s)
    for C in (0.02, 1.0, 50.0):
        machine = path(C)
        assert machine.b == 0.0
        assert machine.violation < 1e-8


def test_copies_and_weights_agree():
    X, y, s = CASES["few_distinct_rows"]()
    for loss in ("hinge", "squared_hinge"):
        path = traced(loss, X, y, s)
        assert np.abs(path(1.0).fitted - path.unmerged(1.0).fitted).max() < 1e-9
        assert np.abs(criteria.loo(path, 1.0).held - criteria.loo(path.unmerged, 1.0).held).max() < 1e-8


def test_what_is_refused():
    X, y, _ = draw("hinge", weighted=False)
    for options, why in (
        ({"loss": "nu", "span": (0.1, 0.5)}, "offset=False works for loss="),
        ({"loss": "hinge", "over": "gamma", "span": (0.1, 1.0)}, "not over a parameter of the kernel"),
        ({"loss": "hinge", "tol": 1e-3}, "not over a parameter of the kernel or with tol="),
    ):
        with pytest.raises(ValueError, match=why):
            traced(options.pop("loss"), X, y, **options)
    with pytest.raises(ValueError, match="offset must be True or False, got 'no'"):
        svmpath.trace(X, y, loss="hinge", offset="no")
    with pytest.raises(ValueError, match="machines with an offset"):
        criteria.xi_alpha(traced("hinge", X, y), 1.0)
    with pytest.raises(ValueError, match="no bound for offset=False"):
        criteria.approximation_gap(traced("least_squares", X, y, rank=10)(1.0))

"""Machines of all classes at once: against CVXPY, refits, and the squared hinge machine of two classes."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning

import svmpath
from svmpath import criteria
from svmpath.criteria.calibration import fit_calibration
from svmpath.displays import PathDisplay
from svmpath.paths import JointPath
from svmpath.solvers import joint
from tests.cases import CASES
from tests.speed import slow_except

VALUES = np.array([0.01, 1.0, 100.0])


def draw(seed=0, n=40, Q=4, weighted=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n)
    code = np.searchsorted(np.quantile(score, np.arange(1, Q) / Q), score)
    code[:Q] = np.arange(Q)
    s = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    s[Q] = 0.0 if weighted else 1.0
    return X, np.array(list("dcbaefgh"))[code], s


def matrix(path):
    return path.gram.block(slice(None), slice(None))


def coded(path):
    return np.argmax(path.problem.y, axis=1)


def model(K, code, s, C):
    """Decision values by Clarabel, of the primal problem with its slacks and the matrix M = I + 1 1'."""
    import cvxpy as cp

    n, Q = len(K), int(code.max()) + 1
    values, V = np.linalg.eigh(K)
    kept = values > 1e-14 * values[-1]
    Z = V[:, kept] * np.sqrt(values[kept])
    W, b, xi = cp.Variable((Z.shape[1], Q)), cp.Variable((1, Q)), cp.Variable((n, Q))
    H, wrong = Z @ W + np.ones((n, 1)) @ b, np.ones((n, Q))
    wrong[np.arange(n), code] = 0.0
    slack = cp.multiply(wrong, xi)
    losses = s @ (cp.sum(cp.square(slack), axis=1) + cp.square(cp.sum(slack, axis=1)))
    conditions = [cp.multiply(wrong, H + 1 / (Q - 1) - xi) <= 0, cp.sum(W, axis=1) == 0, cp.sum(b) == 0]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + C * losses), conditions)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return H.value


@pytest.mark.parametrize("rank", [None, 12])
def test_machines_are_those_of_a_model(rank):
    X, y, s = draw()
    path = svmpath.trace_joint(X, y, gamma=0.5, sample_weight=s, rank=rank)
    for C in VALUES:
        machine = path(C)
        assert max(machine.violation, machine.gap) < 1e-9
        assert np.abs(machine.fitted.sum(axis=1)).max() < 1e-9
        assert np.abs(machine.alpha[s == 0]).max() == 0.0
        assert np.abs(machine.fitted - model(matrix(path), coded(path), s, C)).max() < 1e-6
    path.check()


@pytest.mark.parametrize("seed", slow_except(list(range(30)), [0]))
def test_random_problems(seed):
    rng = np.random.default_rng(seed)
    X, y, s = draw(seed + 50, n=int(rng.integers(8, 40)), Q=int(rng.integers(2, 7)))
    path = svmpath.trace_joint(X, y, gamma=float(rng.choice([0.1, 1.0, 5.0])), sample_weight=s)
    C = float(10 ** rng.uniform(-2, 2))
    assert np.abs(path(C).fitted - model(matrix(path), coded(path), s, C)).max() < 1e-6


def test_two_classes_are_the_squared_hinge_machine():
    X, y, _ = draw(Q=2, weighted=False)
    both, one = svmpath.trace_joint(X, y, gamma=0.5), svmpath.trace(X, y, gamma=0.5)
    for criterion in (criteria.span, criteria.loo):
        assert np.abs(criterion(both, VALUES).held[:, :, 1] - criterion(one, VALUES).held).max() < 1e-8
    assert np.allclose(criteria.radius_margin(both, VALUES).scores, criteria.radius_margin(one, VALUES).scores)
    for C in VALUES:
        assert np.abs(both(C)(X)[:, 1] - one(C)(X)).max() < 1e-9


def test_hard_margin_machine_of_another_kernel():
    """Slacks are those of the machine without slacks in K + I / (2 C): active pairs lie on -1 / (Q - 1) there."""
    X, y, _ = draw(weighted=False)
    path = svmpath.trace_joint(X, y, gamma=0.5)
    machine, C, Q = path(3.0), 3.0, 4
    hard = machine.fitted + machine.alpha / (2 * C)
    wrong = np.arange(Q) != coded(path)[:, None]
    is_active = machine.multipliers > 1e-9
    assert np.abs(hard[is_active] + 1 / (Q - 1)).max() < 1e-9
    assert hard[wrong].max() < -1 / (Q - 1) + 1e-9
    # The norm of the hard margin machine is the sum of its multipliers over Q - 1.
    norm = np.sum(machine.alpha * (matrix(path) @ machine.alpha)) + np.sum(machine.alpha**2) / (2 * C)
    assert np.isclose(norm, machine.multipliers.sum() / (Q - 1))


def test_where_all_classes_are_active_it_is_least_squares():
    X, y, _ = draw(weighted=False)
    path = svmpath.trace_joint(X, y, gamma=0.5)
    targets = np.where(path.problem.y > 0, 1.0, -1.0 / 3.0)
    C = 0.01
    assert (path(C).multipliers > 0).sum() == 3 * len(y)
    for k in range(4):
        squares = svmpath.trace(X, targets[:, k], loss="least_squares", task="regression", gamma=0.5)
        assert np.abs(squares(C).fitted - path(C).fitted[:, k]).max() < 1e-9


@pytest.mark.parametrize("rank", [None, 12])
def test_leave_one_out_is_that_of_refits(rank):
    X, y, s = draw(n=24)
    path = svmpath.trace_joint(X, y, gamma=0.5, sample_weight=s, rank=rank)
    exact, near = criteria.loo(path, VALUES), criteria.span(path, VALUES)
    K, code = matrix(path), coded(path)
    for i in range(len(y)):
        rows = np.delete(np.arange(len(y)), i)
        alone = svmpath.trace_joint(K[np.ix_(rows, rows)], code[rows], kernel="precomputed", sample_weight=s[rows])
        for at, C in enumerate(VALUES):
            machine = alone(C)
            assert np.abs(exact.held[at, i] - (K[i, rows] @ machine.alpha + machine.b)).max() < 1e-8
    newton = path.newton()
    for at, C in enumerate(VALUES):
        held, moves = newton.left_out(C, newton.at(C, newton.start()), count=True)
        assert np.count_nonzero(moves) == near.unreliable[at]
        assert np.abs(held - exact.held[at])[~moves].max() < 1e-8
        assert np.allclose(held, near.held[at])
    assert near.unreliable[0] == 0
    assert near.unreliable[-1] > 0


def test_folds_are_those_of_refits():
    X, y, s = draw()
    path = svmpath.trace_joint(X, y, gamma=0.5, sample_weight=s)
    parts = [(np.setdiff1d(np.arange(40), test), test) for test in np.array_split(np.arange(40), 4)]
    held = criteria.leave_folds_out(path, VALUES, parts)
    for train, test in parts:
        alone = svmpath.trace_joint(X[train], y[train], gamma=0.5, sample_weight=s[train])
        found = np.stack([held.decisions[:, np.flatnonzero(held.rows == i)[0]] for i in test], axis=1)
        assert np.abs(found - [alone(C)(X[test]) for C in VALUES]).max() < 1e-8
    curve = criteria.kfold(path, VALUES, cv=4, random_state=0)
    assert curve.scores.shape == (3,)
    assert svmpath.select(curve).value in VALUES


def test_the_bound_is_above_the_error():
    X, y, _ = draw(weighted=False)
    path = svmpath.trace_joint(X, y, gamma=0.5)
    values = np.geomspace(1e-3, 1e3, 7)
    bound, exact = criteria.radius_margin(path, values), criteria.loo(path, values)
    assert np.all(bound.scores >= exact.scores)
    with pytest.raises(ValueError, match="must be 0 or 1"):
        criteria.radius_margin(svmpath.trace_joint(X, y, sample_weight=np.full(40, 2.0)), 1.0)


def test_conjugate_gradients_agree_with_a_factor(monkeypatch):
    X, y, s = draw(n=60)
    path = svmpath.trace_joint(X, y, gamma=0.5, sample_weight=s)
    whole = [path(C).fitted for C in VALUES]
    monkeypatch.setattr(joint, "MOST_UNKNOWNS", 10)
    iterated = svmpath.trace_joint(X, y, gamma=0.5, sample_weight=s)
    for C, f in zip(VALUES, whole, strict=True):
        assert iterated(C).violation < 1e-8
        assert np.abs(iterated(C).fitted - f).max() < 1e-7
    with pytest.raises(ValueError, match="use a low rank"):
        criteria.span(iterated, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_slack_sum_solves_its_equation(seed):
    rng = np.random.default_rng(seed)
    n, Q = 30, 5
    code, H = rng.integers(Q, size=n), 2 * rng.normal(size=(n, Q))
    found = joint.slopes_of(H, code)
    v = np.array([np.delete(H[i], code[i]) + 1 / (Q - 1) for i in range(n)])
    assert np.allclose(found.S, np.maximum(v, -found.S[:, None]).sum(axis=1))
    M = np.eye(Q - 1) + 1.0
    xi = np.maximum(v, -found.S[:, None])
    assert np.allclose(found.loss, np.einsum("nk,kl,nl->n", xi, M, xi))
    step = 1e-6 * rng.normal(size=(n, Q))
    ahead, behind = joint.slopes_of(H + step, code).loss, joint.slopes_of(H - step, code).loss
    assert np.allclose(ahead - behind, 4 * np.einsum("nk,nk->n", found.p, step), atol=1e-11)


@pytest.mark.parametrize("name", slow_except(list(CASES), ["contradictory_duplicates", "unbalanced"]))
def test_cases(name):
    X, y, s = CASES[name]()
    three = np.where(np.arange(len(y)) % 3 == 0, 2.0, y)
    if len(np.unique(three[s > 0])) < 2:
        pytest.skip("one class")
    path = svmpath.trace_joint(X, three, sample_weight=s)
    for C in (0.02, 1.0, 50.0):
        assert path(C).violation < 1e-7


def test_what_is_refused():
    X, y, s = draw()
    path = svmpath.trace_joint(X, y, gamma=0.5, sample_weight=s, rank=12, span=(0.1, 10.0))
    with pytest.raises(ValueError, match="all classes at once"):
        criteria.approximation_gap(path(1.0))
    with pytest.raises(ValueError, match="all classes at once"):
        path(1.0).compress(10)
    with pytest.raises(ValueError, match="works for least squares only"):
        criteria.press(path, 1.0)
    with pytest.raises(ValueError, match="one for each class"):
        PathDisplay.from_path(path)
    assert "joint_squared_hinge" in path._repr_html_()


def test_probabilities():
    X, y, _ = draw(n=80, Q=3, weighted=False)
    path = svmpath.trace_joint(X, y, gamma=0.2)
    curve = criteria.span(path, 1.0)
    calibration = fit_calibration(curve.held[0], coded(path), 3, np.ones(80))
    p = calibration.probabilities(path(1.0)(X))
    assert np.allclose(p.sum(axis=1), 1.0)
    assert np.mean(p.argmax(axis=1) == coded(path)) > 0.6


def test_a_path_of_labels():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    path = svmpath.trace_joint(X, names, gamma=0.1, span=(0.1, 10.0), class_weight="balanced")
    assert isinstance(path, JointPath)
    machine = path(1.0)
    assert np.mean(machine.predict(X) == names) > 0.95
    assert {event.source for event in path.events()} <= {"active", "satisfied"}
    again = pickle.loads(pickle.dumps(path))
    assert np.abs(again(1.0)(X) - machine(X)).max() < 1e-9
    sparse = pytest.importorskip("scipy.sparse").csr_matrix(X)
    assert np.abs(svmpath.trace_joint(sparse, names, kernel="linear")(1.0)(sparse).sum(axis=1)).max() < 1e-8
    with pytest.raises(ValueError, match="only one class"):
        svmpath.trace_joint(X, np.zeros(150))


def test_large_values_of_the_kernel_times_C():
    """What the machine predicts is what the curve was made of, or a warning says that digits are lost."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = np.digitize(X[:, 0] + 0.4 * rng.normal(size=90), [-0.5, 0.5])
    for scale in (1e2, 1e3):
        path = svmpath.trace_joint(scale * X, y, kernel="linear")
        machine = path(1e4)
        assert machine.gap < 1e-5
        np.testing.assert_allclose(machine.fitted, path.decisions([1e4])[0], atol=1e-2)
    path = svmpath.trace_joint(1e7 * X, y, kernel="linear")
    with pytest.warns(svmpath.PrecisionWarning, match="rounding leaves decision values"):
        path(1e4)


def test_labels_in_a_column_are_taken_with_a_warning():
    X, y, _ = draw()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        path = svmpath.trace_joint(X, y[:, None])
    np.testing.assert_allclose(path(1.0).fitted, svmpath.trace_joint(X, y)(1.0).fitted)

"""Gradients of held-out scores against differences of independent scores, at kinks, and where they are refused."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import svmpath
from svmpath import criteria, datasets
from svmpath.criteria.gradients import HeldOutScore
from svmpath.exceptions import PathError
from svmpath.gram import DenseGram
from svmpath.kernels import ARD, RBF, Linear, Polynomial
from svmpath.losses import LeastSquares, Problem, SquaredHinge
from svmpath.solvers.kernel_newton import KernelNewton
from svmpath.solvers.samples import SampleSystem
from tests import reference
from tests.cases import CASES
from tests.speed import first_quick, slow_except

SPAN = (1e-4, 1e7)
SMOOTH = ["squared", "squared_hinge", "logistic", "sigmoid"]
STEP = 1e-5


def problem(seed, task="classification"):
    """Data, weights of which some are zero, log C and log gammas."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 60)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    y = X[:, 0] + 0.5 * rng.normal(size=n) * X[:, 0].std()
    if task == "classification":
        y = np.where(y > np.median(y), 1.0, -1.0)
    s = rng.exponential(size=n)
    s[rng.random(n) < 0.1] = 0.0
    logs = np.append(rng.uniform(-3, 5), np.log(1.0 / (d * X.var(axis=0))) + rng.uniform(-1.5, 1.5, d))
    return X, y, s, logs


def slow_held_out(K, y, s, C, loss, smoothing=0.0):
    """Held-out values from dense inverses, with no code of the package; the sides, too."""
    if loss == "least_squares":
        alpha, b = reference.fit(K, y, s, C)
        E = s > 0
    else:
        alpha, b, E = reference.squared_hinge(K, y, s, C)
    rows = np.flatnonzero(E)
    D = smoothing / (alpha[rows] ** 2 + 1e-12) if smoothing else np.zeros(len(rows))
    M = reference.bordered(K[np.ix_(rows, rows)], s[rows], C)
    M[np.arange(len(rows)), np.arange(len(rows))] += D
    held = K @ alpha + b
    held[rows] = y[rows] - alpha[rows] * (1.0 / np.diag(np.linalg.inv(M))[:-1] - D)
    return held, E


def slow_loss(name, y, f):
    return {
        "squared": lambda: (y - f) ** 2,
        "squared_hinge": lambda: np.minimum(np.maximum(1 - y * f, 0), 3) ** 2,
        "logistic": lambda: np.log1p(np.exp(-y * f)),
        "sigmoid": lambda: 1 / (1 + np.exp(5 * y * f)),
    }[name]()


def ard(X, gammas):
    return np.exp(-(((X[:, None] - X[None]) ** 2) * gammas).sum(axis=2))


def slow_score(X, y, s, logs, loss, held_out, smoothing):
    held, E = slow_held_out(ard(X, np.exp(logs[1:])), y, s, np.exp(logs[0]), loss, smoothing)
    return s @ slow_loss(held_out, y, held) / s.sum(), E


def differences(score, logs):
    """Central differences, and whether every point has the same sides."""
    sides = score(logs)[1]
    found, is_smooth = [], True
    for step in STEP * np.eye(len(logs)):
        (up, E_up), (down, E_down) = score(logs + step), score(logs - step)
        found.append((up - down) / (2 * STEP))
        is_smooth &= np.array_equal(E_up, sides) and np.array_equal(E_down, sides)
    return np.array(found), is_smooth


def fast(X, y, s, logs, loss, held_out, smoothing=0.0, task="classification"):
    path = svmpath.trace(
        X, y, loss=loss, kernel=ARD(np.exp(logs[1:])), span=SPAN, sample_weight=s, task=task, gamma=None
    )
    return criteria.gradient(path, float(np.exp(logs[0])), loss=held_out, smoothing=smoothing)


@first_quick(1)
@pytest.mark.parametrize("held_out", slow_except(SMOOTH, list(SMOOTH)[:1]))
@pytest.mark.parametrize(
    ("loss", "smoothing"), [("least_squares", 0.0), ("squared_hinge", 0.0), ("squared_hinge", 0.1)]
)
def test_gradients_equal_differences_of_dense_inverses(loss, smoothing, held_out):
    compared = 0
    for seed in range(25):
        X, y, s, logs = problem(seed)
        found = fast(X, y, s, logs, loss, held_out, smoothing)
        value, _ = slow_score(X, y, s, logs, loss, held_out, smoothing)
        assert found.score == pytest.approx(value, rel=1e-8, abs=1e-12), seed
        slow, is_smooth = differences(lambda at: slow_score(X, y, s, at, loss, held_out, smoothing), logs)  # noqa: B023
        if is_smooth and (held_out != "squared_hinge" or _is_off_its_kinks(X, y, s, logs, loss, smoothing)):
            np.testing.assert_allclose(list(found.by.values()), slow, rtol=0, atol=1e-5 * np.abs(slow).max() + 1e-10)
            compared += 1
    assert compared >= 15


def _is_off_its_kinks(X, y, s, logs, loss, smoothing):
    """Whether no held-out value lies where the cut squared hinge is not smooth."""
    held, _ = slow_held_out(ard(X, np.exp(logs[1:])), y, s, np.exp(logs[0]), loss, smoothing)
    slack = 1 - y * held
    return min(np.abs(slack).min(), np.abs(slack - 3).min()) > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_gradients_of_regression_equal_differences(seed):
    X, y, s, logs = problem(seed, "regression")
    found = fast(X, y, s, logs, "least_squares", None, task="regression")
    slow, _ = differences(lambda at: slow_score(X, y, s, at, "least_squares", "squared", 0.0), logs)
    np.testing.assert_allclose(list(found.by.values()), slow, rtol=0, atol=1e-5 * np.abs(slow).max())


@pytest.mark.parametrize(
    "kernel", [RBF(0.4), 2.0 * RBF(0.4) + Polynomial(0.3, 1.0, 2), Linear(), RBF(0.5) * Linear()], ids=repr
)
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_any_kernel_with_derivatives_has_a_gradient(kernel, loss):
    X, y = datasets.banana(50, random_state=1)
    C = 0.7

    def score(kernel, C):
        path = svmpath.trace(X, y, loss=loss, kernel=kernel, gamma=None, span=SPAN)
        return criteria.gradient(path, C, loss="logistic")

    found = score(kernel, C)
    for name, value in {"C": C, **kernel.parameters}.items():
        ends = []
        for sign in (1, -1):
            moved = value * np.exp(sign * STEP)
            ends.append(score(kernel, moved) if name == "C" else score(kernel.at(name, moved), C))
        slow = (ends[0].score - ends[1].score) / (2 * STEP)
        assert found.by[name] == pytest.approx(slow, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("machine", [LeastSquares(), SquaredHinge()], ids=repr)
def test_several_machines_give_the_mean_of_their_scores(machine):
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(45, 2)), rng.exponential(size=45)
    gram = DenseGram(ARD([0.5, 0.2]), X)
    labels = [np.where(rng.integers(0, 3, 45) == c, 1.0, -1.0) for c in range(3)]
    problems = [Problem(gram, y, s, "classification") for y in labels]
    together, _ = HeldOutScore.of(problems, machine, "squared")(gram, 2.0)
    alone = [HeldOutScore.of([each], machine, "squared")(gram, 2.0)[0] for each in problems]
    assert together.score == pytest.approx(np.mean([each.score for each in alone]))
    for name, value in together.by.items():
        assert value == pytest.approx(np.mean([each.by[name] for each in alone]), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("machine", [LeastSquares(), SquaredHinge()], ids=repr)
def test_machines_are_those_of_refits(machine):
    X, y, s, logs = problem(4)
    K, C = ard(X, np.exp(logs[1:])), 3.0
    gram = DenseGram(ARD(np.exp(logs[1:])), X)
    labels = [y, -y, np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)]
    score = HeldOutScore.of([Problem(gram, each, s, "classification") for each in labels], machine, None)
    for each, (u, b) in zip(labels, score.machines(gram, C), strict=True):
        if isinstance(machine, LeastSquares):
            alpha, offset = reference.fit(K, each, s, C)
        else:
            alpha, offset, _ = reference.squared_hinge(K, each, s, C)
        np.testing.assert_allclose(u, alpha, atol=1e-8)
        assert b == pytest.approx(offset, abs=1e-8)


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_sparse_rows_have_the_same_gradient(loss):
    X, y, s, logs = problem(3)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    dense, sparse = (fast(data, y, s, logs, loss, "logistic") for data in (X, csr_matrix(X)))
    assert sparse.score == pytest.approx(dense.score, rel=1e-10)
    np.testing.assert_allclose(list(sparse.by.values()), list(dense.by.values()), rtol=1e-7, atol=1e-12)


def test_the_score_is_that_of_the_curves():
    X, y = datasets.twonorm(80, random_state=0)
    for loss, criterion in (("least_squares", criteria.press), ("squared_hinge", criteria.span)):
        path = svmpath.trace(X, y, loss=loss, span=SPAN)
        for name in SMOOTH:
            curve = criterion(path, [0.01, 1.0, 1e3], loss=name)
            found = [criteria.gradient(path, C, loss=name).score for C in curve.values]
            np.testing.assert_allclose(found, curve.scores, rtol=1e-9)


def crossing(path):
    """A C at which exactly one sample crosses the margin, and a distance within which no other does."""
    for first, here, last in zip(path.breakpoints[:-2], path.breakpoints[1:-1], path.breakpoints[2:], strict=True):
        apart = min(np.log(here / first), np.log(last / here))
        if 0.1 < here < 10 and apart > 2e-3:
            return here, 0.25 * apart
    raise AssertionError("the data have no crossing that stands alone")


def test_at_a_crossing_the_prediction_jumps_unless_it_is_smoothed():
    X, y = datasets.banana(40, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(0.05, 50.0), gamma=1.0, breakpoints="exact")
    C, _ = crossing(path)
    jumps = {}
    for smoothing in (0.0, 0.1):
        before, after = (criteria.gradient(path, C * (1 + e), smoothing=smoothing) for e in (-1e-9, 1e-9))
        jumps[smoothing] = abs(after.score - before.score)
        # Both sides have a gradient, each its own.
        assert all(np.isfinite(list(each.by.values())).all() for each in (before, after))
    assert jumps[0.0] > 1e-7
    assert jumps[0.1] < 1e-8


def test_beside_a_crossing_the_gradient_is_that_of_its_side():
    X, y = datasets.banana(40, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", span=(0.05, 50.0), gamma=1.0, breakpoints="exact")
    C, room = crossing(path)
    for side in (-1, 1):
        logs = np.log(C) + side * room + STEP * np.array([-1, 0, 1])
        found = [criteria.gradient(path, float(np.exp(log)), loss="logistic") for log in logs]
        slow = (found[2].score - found[0].score) / (logs[2] - logs[0])
        assert found[1].by["C"] == pytest.approx(slow, rel=1e-5)


def test_the_less_smoothing_the_nearer_to_the_span_prediction():
    X, y = datasets.banana(50, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", span=SPAN)
    exact = criteria.gradient(path, 1.0).score
    apart = [abs(criteria.gradient(path, 1.0, smoothing=eta).score - exact) for eta in (1e-1, 1e-4, 1e-7)]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-3 * exact


@pytest.mark.parametrize("name", ["duplicates", "contradictory_duplicates", "ties_on_a_grid", "unbalanced"])
def test_hard_cases_have_the_scores_of_dense_inverses(name):
    X, y, s = CASES[name]()
    for C in (1e-2, 1.0, 1e2):
        path = svmpath.trace(X, y, loss="squared_hinge", gamma=0.4, span=SPAN, sample_weight=s)
        held, _ = slow_held_out(reference.rbf(X, X, 0.4), y, s, C, "squared_hinge")
        expected = s @ slow_loss("logistic", y, held) / s.sum()
        assert criteria.gradient(path, C, loss="logistic").score == pytest.approx(expected, rel=1e-6)


@first_quick(5)
@pytest.mark.parametrize("seed", range(20))
def test_newton_in_the_coefficients_finds_the_machine_of_the_path(seed):
    X, y, s, logs = problem(seed)
    K, C = ard(X, np.exp(logs[1:])), float(np.exp(2 * logs[0]))
    expected = svmpath.trace(K, y, loss="squared_hinge", kernel="precomputed", span=(1e-9, 1e9), sample_weight=s)(C)
    newton = KernelNewton(K, y, s)
    cold, _ = newton.at(1 / C, newton.approach(C))
    rng = np.random.default_rng(seed)
    far, _ = newton.at(1 / C, newton.machine(rng.normal(size=len(y)), 1.0))
    for found in (cold, far):
        np.testing.assert_allclose(found.f, expected.fitted, atol=1e-6 * (1 + np.abs(expected.fitted).max()))
        assert np.all((y * found.f < 1 + 1e-9)[found.E])
        assert np.all((y * found.f > 1 - 1e-9)[~found.E & (s > 0)])


def test_newton_leaves_a_machine_without_samples_left_of_the_margin():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    K, s = X @ X.T, np.ones(4)
    newton = KernelNewton(K, y, s)
    start = newton.machine(np.array([0.0, -50.0, 50.0, 0.0]), 0.0)
    assert not start.E.any()
    found, _ = newton.at(1.0, start)
    expected, _, _ = reference.squared_hinge(K, y, s, 1.0)
    np.testing.assert_allclose(found.u, expected, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "keywords", "message"),
    [
        ({"loss": "hinge"}, {}, "least squares and squared hinge, not for"),
        ({"loss": "least_squares", "rank": 5}, {}, "full kernel matrix"),
        ({"loss": "least_squares", "over": "gamma", "span": (0.1, 1.0)}, {}, "needs a path over C"),
        ({"loss": "least_squares"}, {"loss": "error"}, "smooth held-out loss"),
        ({"loss": "least_squares"}, {"loss": lambda y, f: y * f}, "smooth held-out loss"),
        ({"loss": "least_squares"}, {"loss": "hinge"}, "loss must be one of"),
        ({"loss": "squared_hinge"}, {"smoothing": -1.0}, "smoothing must be"),
        ({"loss": "least_squares", "kernel": lambda X, Z: X @ Z.T}, {}, "positive semi-definite"),
    ],
)
def test_what_has_no_gradient_is_refused(options, keywords, message):
    X, y = datasets.banana(30, random_state=0)
    path = svmpath.trace(X, y, **options)
    with pytest.raises(ValueError, match=message):
        criteria.gradient(path, 0.5, **keywords)


def test_a_precomputed_kernel_is_refused():
    X, y = datasets.banana(30, random_state=0)
    path = svmpath.trace(X @ X.T, y, loss="least_squares", kernel="precomputed", span=SPAN)
    with pytest.raises(ValueError, match="need the data rows"):
        criteria.gradient(path, 1.0)


def test_one_class_with_weight_is_refused():
    X, y = datasets.banana(30, random_state=0)
    path = svmpath.trace(X, y, loss="squared_hinge", span=SPAN, sample_weight=(y > 0).astype(float))
    with pytest.raises(ValueError, match="both classes"):
        criteria.gradient(path, 1.0)


def test_a_system_lost_to_rounding_is_reported():
    X, y = datasets.banana(30, random_state=0)
    path = svmpath.trace(1e9 * X, y, loss="least_squares", kernel="linear", span=(1.0, 1e300))
    with pytest.raises(PathError, match="singular in double precision"):
        criteria.gradient(path, 1e300)


# --- parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(0.4), ARD([0.4, 0.1, 0.7]), RBF(0.4) + Polynomial(0.3, 1.0, 2)], ids=repr)
def test_a_gram_matrix_pulls_back_like_its_kernel(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))[rng.integers(0, 12, 30)]  # rows that repeat
    rows, cols = np.array([3, 1, 20, 7]), np.array([5, 29, 0])
    W = rng.normal(size=(4, 3))
    for gram in (DenseGram(kernel, X), DenseGram(kernel, X, rows=np.arange(30)[::-1])):
        own = X if gram.rows is None else X[gram.rows]
        expected = [(W * kernel.derivative(name, own[rows], own[cols])).sum() for name in kernel.parameters]
        np.testing.assert_allclose(gram.parameter_gradient(W, rows, cols), expected, rtol=1e-12)
        gram.distinct.compared  # noqa: B018 - known from now on
        np.testing.assert_allclose(gram.parameter_gradient(W, rows, cols), expected, rtol=1e-12)


def test_a_softened_system_is_that_of_smaller_weights():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(9, 12))
    K, y, s, D = A @ A.T, np.sign(rng.normal(size=9)), rng.exponential(size=9), rng.exponential(size=9)
    found = SampleSystem(K.copy(), y, s, 0.3).softened(D)
    H = K + np.diag(0.15 / s + D)
    inverse = np.linalg.inv(H)
    ones = inverse.sum(axis=1)
    B = inverse - np.outer(ones, ones) / ones.sum()
    np.testing.assert_allclose(found.B, B, atol=1e-12)
    np.testing.assert_allclose(found.solve(), B @ y, atol=1e-12)
    np.testing.assert_allclose(found.slack_diag, (0.15 / s + D) * np.diag(B), atol=1e-12)

"""Paths over a kernel parameter: against programmes, the paper's own search, refits, and between events."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import svmpath
from svmpath import criteria, kernels
from svmpath.kernels import squared_distances
from svmpath.paths import KernelPath, NewtonKernelPath
from svmpath.solvers import hermite, kernel_walk
from svmpath.solvers.box_qp import FREE
from svmpath.solvers.moving_kernel import ParameterAxis
from tests import fuzz_kernel, problems, reference, reference_qp
from tests.decay_scheme import DecayPath
from tests.speed import each_once, first_quick, slow_except

X, Y01 = make_moons(60, noise=0.2, random_state=0)
Y = 2.0 * Y01 - 1.0
WAVE = np.sin(2 * X[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=60)


def inside(path):
    nodes = path.breakpoints
    return np.concatenate([nodes[:-1] + share * np.diff(nodes) for share in (0.25, 0.5, 0.75)])


# --- against independent solutions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "C", [pytest.param(0.2, marks=pytest.mark.slow), pytest.param(1.0, marks=pytest.mark.slow), 10.0]
)
def test_hinge_equals_a_quadratic_programme_at_fifty_values(C):
    path = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.1, 50.0), C=C)
    for gamma in np.geomspace(*path.span, 50):
        K = reference.rbf(X, X, gamma)
        f, objective = reference_qp.hinge(K, Y, np.ones(60), C)
        solution = path(gamma)
        ours = reference_qp.hinge_objective(K, Y, np.ones(60), C, solution.alpha, solution.b)
        assert ours <= objective * (1 + 1e-10)
        size = np.abs(solution.alpha)
        if np.any((size > 1e-9) & (size < C * (1 - 1e-9))):  # the offset is unique
            np.testing.assert_allclose(solution.fitted, f, atol=1e-7)


@pytest.mark.slow
def test_regression_equals_a_quadratic_programme():
    path = svmpath.trace(X, WAVE, loss="epsilon_insensitive", over="gamma", span=(20.0, 0.1), C=2.0, epsilon=0.1)
    assert path.breakpoints[0] == 20.0
    assert np.all(np.diff(path.breakpoints) < 0)
    path.check(1e-9)
    for gamma in np.geomspace(*path.span, 8):
        f, _ = reference_qp.epsilon_insensitive(reference.rbf(X, X, gamma), WAVE, np.ones(60), 2.0, 0.1)
        np.testing.assert_allclose(path(gamma).fitted, f, atol=1e-7)


def test_weights_and_coef0_equal_a_quadratic_programme():
    s = np.random.default_rng(1).exponential(size=60) + 0.1
    options = {"kernel": "poly", "degree": 2, "gamma": 1.0, "sample_weight": s, "C": 1.0}
    path = svmpath.trace(X, Y, loss="hinge", over="coef0", span=(0.1, 3.0), **options)
    path.check(1e-9)
    assert len(path.breakpoints) > 5
    for coef0 in np.linspace(*path.span, 8):
        K = (X @ X.T + coef0) ** 2
        solution = path(coef0)
        f, objective = reference_qp.hinge(K, Y, s, 1.0)
        ours = reference_qp.hinge_objective(K, Y, s, 1.0, solution.alpha, solution.b)
        assert ours <= objective * (1 + 1e-10)
        np.testing.assert_allclose(solution.fitted, f, atol=1e-6)
        assert solution.parameters["coef0"] == coef0


def test_squared_hinge_equals_plain_newton():
    exact = svmpath.trace(X, Y, loss="squared_hinge", over="gamma", span=(0.1, 20.0), C=2.0, breakpoints="exact")
    nodes = svmpath.trace(X, Y, loss="squared_hinge", over="gamma", span=(0.1, 20.0), C=2.0)
    exact.check(1e-10)
    nodes.check(1e-10)
    for gamma in np.geomspace(0.1, 20.0, 7):
        K = reference.rbf(X, X, gamma)
        alpha, b, E = reference.squared_hinge(K, Y, np.ones(60), 2.0)
        np.testing.assert_allclose(exact(gamma).fitted, K @ alpha + b, atol=1e-9)
        np.testing.assert_allclose(nodes(gamma).fitted, K @ alpha + b, atol=1e-9)
        assert np.array_equal(exact.record.status(exact.axis.t(gamma)) == FREE, E)


# --- against the paper's search --------------------------------------------------------------------------------------


@first_quick(1)
@pytest.mark.parametrize("C", [10.0, 1.0])
def test_events_are_those_of_the_decay_scheme(C):
    path = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.1, 50.0), C=C)
    slow = DecayPath(squared_distances(X), Y, C, 0.1, path(0.1).alpha).to(50.0)
    events = [(event.value, event.sample) for event in path.events()]
    assert [sample for _, sample in events] == [sample for _, sample in slow.events]
    np.testing.assert_allclose([g for g, _ in events], [g for g, _ in slow.events], rtol=1e-5)
    assert path.record.solves <= 5 * len(events) < slow.trials / 4
    assert path.record.entries == 0


def test_both_directions_tell_the_same_events():
    for options in ({"loss": "hinge"}, {"loss": "squared_hinge", "breakpoints": "exact"}):
        up = svmpath.trace(X, Y, over="gamma", span=(0.1, 20.0), C=3.0, **options)
        down = svmpath.trace(X, Y, over="gamma", span=(20.0, 0.1), C=3.0, **options)
        forth, back = list(up.events()), list(down.events())[::-1]
        assert [(e.sample, e.source, e.target) for e in forth] == [(e.sample, e.target, e.source) for e in back]
        np.testing.assert_allclose([e.value for e in forth], [e.value for e in back], rtol=1e-9)
        np.testing.assert_allclose(up.breakpoints, down.breakpoints[::-1], rtol=1e-9)


# --- random and hard problems ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("block", slow_except(range(5), [0]))
def test_random_paths_are_optimal_at_and_between_breakpoints(block):
    for seed in range(20 * block, 20 * (block + 1)):
        try:
            fuzz_kernel.run(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


HARD = {
    "duplicates": (np.repeat(X[:20], 3, axis=0), np.repeat(Y[:20], 3)),
    "contradictory duplicates": (np.repeat(X[:20], 2, axis=0), np.where(np.arange(40) % 2, 1.0, -1.0)),
    "grid": (
        np.array([(a, b) for a in range(5) for b in range(5)], dtype=float),
        np.where(np.arange(25) % 3, 1.0, -1.0),
    ),
    "circles": make_circles(40, factor=0.5, random_state=2),
    "one of a class": (X[:20], np.where(np.arange(20) == 3, 1.0, -1.0)),
    "two samples": (X[:2], np.array([1.0, -1.0])),
    "constant column": (np.column_stack([X, np.full(60, 7.0)]), Y),
    "far origin": (X + 1000.0, Y),
    "strings": (X, np.where(Y > 0, "yes", "no")),
}


@each_once
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "circles" else name for name in HARD]
)
@pytest.mark.parametrize(
    "options", [{"loss": "hinge"}, {"loss": "squared_hinge", "breakpoints": "exact"}], ids=["l1", "l2"]
)
def test_hard_cases(name, options):
    points, labels = HARD[name]
    path = svmpath.trace(points, labels, over="gamma", span=(0.05, 20.0), C=2.0, **options)
    for value in np.concatenate([path.breakpoints, inside(path)]):
        # Circles: dozens of events at once, and a kernel matrix of low numerical rank.
        assert path(value).violation <= (1e-6 if name == "circles" else 1e-9)


def test_empty_elbow_has_the_middle_offset():
    labels = np.where(np.arange(40) % 2, 1.0, -1.0)
    path = svmpath.trace(X[:40], labels, loss="hinge", over="gamma", span=(0.1, 100.0), C=0.01)
    for gamma in np.geomspace(0.1, 100.0, 5):
        ours = svmpath.trace(X[:40], labels, loss="hinge", gamma=gamma, span=(0.005, 0.02))(0.01)
        assert path(gamma).b == pytest.approx(ours.b, abs=1e-10)


def test_one_class_of_positive_weight():
    s = (Y > 0).astype(float)
    path = svmpath.trace(
        X, Y, loss="squared_hinge", over="gamma", span=(0.1, 10.0), sample_weight=s, breakpoints="exact"
    )
    assert list(path.events()) == []
    assert path(1.0)(X) == pytest.approx(np.ones(60))


# --- the certificate, and trouble ------------------------------------------------------------------------------------


def test_a_double_crossing_is_seen(monkeypatch):
    # Steps so long that samples come and go between two solves, unless somebody looks between them.
    exact = list(svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.1, 50.0), C=3.0).events())
    monkeypatch.setattr(kernel_walk, "STRIDE", 3.0)
    monkeypatch.setattr(kernel_walk, "HORIZON", 30.0)
    rough = list(svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.1, 50.0), C=3.0).events())
    assert [event.sample for event in rough] == [event.sample for event in exact]


@pytest.mark.slow
def test_dips_of_cubics_are_found():
    t = np.array([0.0, 1.0])
    values = (t - 0.5) ** 2 + np.array([[1e-4], [0.5]])  # one comes close to zero, one does not
    rates = np.tile(2 * (t - 0.5), (2, 1))
    seen = hermite.inspect_cubics(
        0.0, values[:, 0], rates[:, 0], 1.0, values[:, 1], rates[:, 1], np.full(2, 1e-12), 0.01
    )
    assert seen.zero == np.inf
    assert seen.dip == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(20))
def test_first_zero_of_cubics(seed):
    rng = np.random.default_rng(seed)
    c = rng.normal(size=(4, 6))
    c[3] = np.abs(c[3]) + 0.01  # positive at zero
    rates = c[2], 3 * c[0] + 2 * c[1] + c[2]
    seen = hermite.inspect_cubics(0.0, c[3], rates[0], 1.0, c.sum(axis=0), rates[1], np.full(6, 1e-12), 0.0)
    roots = [np.roots(column) for column in c.T]
    real = [np.sort(r[np.abs(r.imag) < 1e-9].real) for r in roots]
    first = [next((x for x in r if 0 < x <= 1), np.inf) for r in real]
    assert seen.zero == pytest.approx(min(first), abs=1e-9)
    if np.isfinite(seen.zero):
        assert seen.which == int(np.argmin(first))
    bend = hermite.curvature(0.0, c[3], rates[0], 1.0, c.sum(axis=0), rates[1])
    np.testing.assert_allclose(bend, 6 * c[0] + 2 * c[1], atol=1e-10)


def test_trouble_is_met_by_homotopy(monkeypatch):
    expected = list(svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0)).events())
    search = kernel_walk.KernelWalk._search
    count = [0]

    def sometimes_lost(self, *args):
        count[0] += 1
        return None if count[0] % 3 == 0 else search(self, *args)

    monkeypatch.setattr(kernel_walk.KernelWalk, "_search", sometimes_lost)
    path = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0))
    assert path.record.entries > 3
    assert [event.sample for event in path.events()] == [event.sample for event in expected]
    path.check(1e-9)


def test_failure_is_loud(monkeypatch):
    monkeypatch.setattr(kernel_walk.KernelWalk, "_search", lambda *_: None)
    with pytest.raises(svmpath.PathError, match=r"could not be followed from 0\.5 to 2"):
        svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0))


def test_failure_gives_the_reason_of_the_attempt_without_jitter(monkeypatch):
    def fail(self, jitter):
        raise svmpath.PathError(f"no way with a jitter of {jitter:g}.")

    monkeypatch.setattr(KernelPath, "walk", fail)
    with pytest.raises(svmpath.PathError, match=r"no way with a jitter of 0\."):
        svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0))


def test_jitter_is_reported(monkeypatch):
    march = KernelPath.walk
    monkeypatch.setattr(KernelPath, "walk", lambda self, jitter: march(self, max(jitter, 1e-12)))
    path = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0))
    assert path.jitter == 1e-12
    path.check(1e-9)  # the machines themselves are those of the kernel as it is


# --- the contract of a path ------------------------------------------------------------------------------------------


def test_events_lead_from_the_first_places_to_the_last():
    path = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.1, 20.0), C=3.0)
    names = {0: "right", 1: "left", 2: "elbow"}
    place = {i: names[int(k) if k == 2 or Y[i] > 0 else 1 - int(k)] for i, k in enumerate(path.record.first)}
    last = 0.0
    for event in path.events():
        assert event.value >= last
        assert place[event.sample] == event.source
        place[event.sample], last = event.target, event.value
    alpha = np.abs(path(20.0).alpha)
    for i in range(60):
        assert (alpha[i] > 1e-9) == (place[i] != "right")
        assert (alpha[i] < 3 - 1e-9) == (place[i] != "left")


@pytest.mark.slow
def test_compound_and_foreign_kernels():
    from sklearn.gaussian_process.kernels import RBF

    for kernel, over in (
        (kernels.RBF(1.0) + 0.3 * kernels.Laplacian(0.5), "k1__gamma"),
        (2.0 * kernels.RBF(1.0), "scale"),
        (RBF(1.0), "length_scale"),
        (lambda A, B, w: np.exp(-w * squared_distances(A, B)), None),
    ):
        if over is None:
            kernel, over = kernels.FunctionKernel(kernel, {"w": 1.0}), "w"
        path = svmpath.trace(X[:30], Y[:30], loss="hinge", over=over, span=(0.3, 3.0), kernel=kernel)
        assert len(path.breakpoints) > 3
        path.check(1e-9)


def test_a_path_can_be_saved():
    path = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0))
    again = pickle.loads(pickle.dumps(path))
    assert np.array_equal(again.breakpoints, path.breakpoints)
    assert again(1.1).b == pytest.approx(path(1.1).b)


def test_start_gives_the_same_path():
    near = svmpath.trace(X, Y, loss="hinge", gamma=0.4, span=(0.5, 2.0))(1.0)
    path = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0))
    started = svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 2.0), start=near)
    np.testing.assert_allclose(started.breakpoints, path.breakpoints, rtol=1e-11)


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_kfold_along_gamma_equals_refits(loss):
    target = Y if loss == "hinge" else WAVE
    path = svmpath.trace(X, target, loss=loss, over="gamma", span=(0.1, 10.0), C=2.0)
    folds = list(StratifiedKFold(4).split(X, Y))
    values = np.array([0.2, 1.0, 5.0])
    curve = criteria.kfold(path, values, cv=folds)
    for j, gamma in enumerate(values):
        for train, test in folds:
            if loss == "hinge":
                model = SVC(C=2.0, gamma=gamma, tol=1e-10).fit(X[train], Y[train])
                np.testing.assert_allclose(curve.decisions[j, test], model.decision_function(X[test]), atol=1e-5)
            else:
                part = svmpath.trace(X[train], target[train], loss=loss, gamma=gamma, span=(1.0, 3.0))(2.0)
                np.testing.assert_allclose(curve.decisions[j, test], part(X[test]), atol=1e-8)
    assert 0.2 <= svmpath.select(curve).value <= 5.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_criteria_along_gamma_are_those_over_C_at_each_gamma(loss):
    path = svmpath.trace(X, Y, loss=loss, over="gamma", span=(0.1, 10.0), C=2.0)
    values = np.array([0.2, 1.0, 5.0])
    folds = list(StratifiedKFold(4).split(X, Y))
    for criterion in (
        criteria.loo,
        criteria.span,
        lambda path, values: criteria.kfold(path, values, cv=folds),
        lambda path, values: criteria.loo(path, values, count_only=loss == "hinge"),
    ):
        curve = criterion(path, values)
        assert curve.path is path
        for j, gamma in enumerate(values):
            alone = criterion(svmpath.trace(X, Y, loss=loss, gamma=gamma, span=(1.0, 3.0)), [2.0])
            assert curve.scores[j] == pytest.approx(alone.scores[0], rel=1e-12)
            np.testing.assert_allclose(curve.decisions[j], alone.decisions[0], atol=1e-8)
            assert curve.unreliable[j] == alone.unreliable[0]
    if loss == "hinge":
        with pytest.raises(
            ValueError, match=r"error of classification over C by the hinge, .* has Hinge\(\) over gamma"
        ):
            criteria.loo(path, exact=True)


def test_low_rank_is_refused_where_events_are_asked_for():
    with pytest.raises(ValueError, match="leave out rank="):
        svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.1, 1.0), rank=10)
    path = svmpath.trace(X, Y, loss="squared_hinge", over="gamma", span=(0.1, 1.0), rank=20, random_state=0)
    assert isinstance(path, NewtonKernelPath)
    assert path(0.5).violation < 1e-9


def test_what_cannot_be_traced_is_refused():
    with pytest.raises(ValueError, match="over must be 'nu'; got 'gamma'"):
        svmpath.trace(X, Y, loss="nu", over="gamma", span=(0.1, 1.0))
    with pytest.raises(ValueError, match="over must be one of 'C', 'weight'; got 'gamma'"):
        svmpath.trace(X, Y, loss="hinge", over="gamma", kernel="linear", span=(0.1, 1.0))
    with pytest.raises(ValueError, match="two different positive numbers"):
        svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.0, 1.0))
    with pytest.raises(ValueError, match="lies outside the span"):
        svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 1.0))(2.0)
    with pytest.raises(ValueError, match="tol= works for loss='hinge', 'epsilon_insensitive' or 'pinball' over C"):
        svmpath.trace(X, Y, loss="hinge", over="gamma", span=(0.5, 1.0), tol=1e-3)


def test_an_axis_goes_both_ways():
    for axis in (
        ParameterAxis(0.1, 10.0, True),
        ParameterAxis(10.0, 0.1, True),
        ParameterAxis(-1.0, 2.0, False),
        ParameterAxis(2.0, -1.0, False),
    ):
        for t in (0.0, 0.3 * axis.length, axis.length):
            assert axis.t(float(axis.value(t))) == pytest.approx(t, abs=1e-12)
            slope = (axis.value(t + 1e-6) - axis.value(t - 1e-6)) / 2e-6
            assert axis.rate(axis.value(t)) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "least_squares"])
def test_one_of_many_gammas_is_followed_like_any_other(loss):
    gammas = np.array([0.4, 1.5])
    path = svmpath.trace(X, Y, loss=loss, kernel=kernels.ARD(gammas), over="gamma[1]", span=(0.1, 20.0), C=2.0)
    path.check(1e-9)
    for value in (0.1, 3.0, 20.0):
        scaled = X * np.sqrt([0.4, value])
        same = svmpath.trace(scaled, Y, loss=loss, kernel="rbf", gamma=1.0, span=(1.0, 3.0))(2.0)
        np.testing.assert_allclose(path(value).fitted, same.fitted, atol=1e-8)


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_nothing_happens_beyond_the_span_however_few_samples_there_are(loss):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 6))
        rows, labels = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1.0, -1.0)
        given = {"kernel": "poly", "degree": 2, "gamma": 1.0, "over": "coef0", "span": (5.0, 0.0)}
        path = svmpath.trace(rows, labels, loss=loss, C=100.0, breakpoints="exact", **given)
        values = np.array([event.value for event in path.events()])
        assert np.all((values >= 0.0) & (values <= 5.0))


def test_a_row_of_zeros_whose_kernel_vanishes_makes_no_warning():
    rows = np.arange(8.0)[:, None]
    labels = np.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    path = svmpath.trace(rows, labels, loss="hinge", kernel="poly", degree=3, gamma=1.0, over="coef0", span=(10.0, 0.0))
    assert path.jitter == 0.0


@pytest.mark.slow
def test_near_duplicates_in_a_tube_of_width_zero():
    # Two thirds of the rows are copies at distances of 1e-16 to 1e-6: only a larger jitter tells their places apart.
    data = problems.make("near_duplicates", np.random.default_rng([101832, 13]), "numbers")
    options = {"loss": "epsilon_insensitive", "epsilon": 0.0, "task": "regression", "C": 210.0}
    path = svmpath.trace(data.X, data.y, over="gamma", span=(7.28, 0.03), **options)
    assert path.jitter > 0.0
    path.check()

"""Paths from event to event: hinge, epsilon-insensitive, nu, weights; against programmes, refits and certificates."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, SVR, NuSVC

import svmpath
from svmpath import criteria
from svmpath.gram import Clipped
from svmpath.paths.jump_walk import JumpWalks
from svmpath.solvers.box_qp import LOW, Walker
from tests import reference, reference_qp
from tests.cases import CASES
from tests.rounding import assert_same
from tests.speed import each_once, first_quick, slow_except

RNG = np.random.default_rng(0)
X, Y01 = make_moons(60, noise=0.3, random_state=0)
Y = 2.0 * Y01 - 1.0
WAVE = np.sin(2 * X[:, 0]) + 0.2 * RNG.normal(size=60)


def both(path):
    """All breakpoints, and a value between each two."""
    nodes = path.breakpoints
    return np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])])


def worst(path):
    return max(path(value).violation for value in both(path))


def problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(15, 40)), int(rng.integers(1, 5))
    points = rng.normal(size=(n, d))
    y = np.where(points[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return points, y, rng.exponential(size=n) + 0.1, 10.0 ** rng.uniform(-1, 0.5)


@first_quick(1)
@pytest.mark.parametrize("seed", slow_except(range(10), range(4)))
def test_hinge_equals_a_quadratic_programme(seed):
    points, y, s, gamma = problem(seed)
    K = reference.rbf(points, points, gamma)
    path = svmpath.trace(points, y, loss="hinge", gamma=gamma, sample_weight=s, span=(1e-2, 1e2))
    path.check(1e-9)
    for C in np.geomspace(*path.span, 20):
        f, objective = reference_qp.hinge(K, y, s, C)
        solution = path(C)
        ours = reference_qp.hinge_objective(K, y, s, C, solution.alpha, solution.b)
        assert ours <= objective * (1 + 1e-10)
        assert solution.gap < 1e-11
        if np.any((np.abs(solution.alpha) > 1e-9) & (np.abs(solution.alpha) < C * s * (1 - 1e-9))):  # b is unique
            np.testing.assert_allclose(solution.fitted, f, atol=1e-7)
        model = SVC(C=C, gamma=gamma, tol=1e-10).fit(points, y, s)
        alpha = np.zeros(len(y))
        alpha[model.support_] = model.dual_coef_[0]
        assert ours <= reference_qp.hinge_objective(K, y, s, C, alpha, model.intercept_[0]) * (1 + 1e-12)


@each_once
@pytest.mark.parametrize("seed", slow_except(range(4), range(2)))
@pytest.mark.parametrize(("over", "span"), [("C", (1e-2, 1e2)), ("epsilon", (1.0, 0.0)), ("epsilon", (0.0, 1.0))])
def test_epsilon_insensitive_equals_a_quadratic_programme(seed, over, span):
    points, _, s, gamma = problem(seed)
    y = np.sin(points[:, 0]) + 0.3 * np.random.default_rng(seed).normal(size=len(points))
    K = reference.rbf(points, points, gamma)
    path = svmpath.trace(
        points, y, loss="epsilon_insensitive", over=over, span=span, gamma=gamma, sample_weight=s, C=3.0
    )
    path.check(1e-9)
    for value in np.linspace(*span, 6):
        solution = path(value)
        C, epsilon = solution.parameters["C"], solution.parameters["epsilon"]
        f, objective = reference_qp.epsilon_insensitive(K, y, s, C, epsilon)
        losses = s @ np.maximum(np.abs(y - solution.fitted) - epsilon, 0)
        assert C * losses + 0.5 * solution.alpha @ K @ solution.alpha <= objective + 1e-8 * max(objective, 1.0)
        size = np.abs(solution.alpha)
        if np.any((size > 1e-9) & (size < C * s * (1 - 1e-9))):
            np.testing.assert_allclose(solution.fitted, f, atol=1e-7)
            model = SVR(C=C, epsilon=epsilon, gamma=gamma, tol=1e-10).fit(points, y, s)
            np.testing.assert_allclose(solution(points), model.predict(points), atol=1e-4)


@first_quick(1)
@pytest.mark.parametrize("seed", range(4))
def test_nu_equals_a_quadratic_programme_and_scikit_learn(seed):
    points, y, s, gamma = problem(seed)
    K = reference.rbf(points, points, gamma)
    path = svmpath.trace(points, y, loss="nu", over="nu", gamma=gamma, sample_weight=s)
    assert path.span[0] == pytest.approx(2 * min(s[y > 0].sum(), s[y < 0].sum()) / s.sum())
    path.check(1e-9)
    for nu in np.linspace(0.97 * path.span[0], path.span[1], 6)[:-1]:
        solution = path(nu)
        if solution.rho < 1e-2:
            continue
        np.testing.assert_allclose(solution.fitted, reference_qp.nu(K, y, s, nu), atol=1e-6)
        model = NuSVC(nu=nu, gamma=gamma, tol=1e-10).fit(points, y, s)
        np.testing.assert_allclose(solution(points), model.decision_function(points), atol=1e-4)
        twin = svmpath.trace(points, y, loss="hinge", gamma=gamma, sample_weight=s, span=(1e-3, 1e4))(1 / solution.rho)
        np.testing.assert_allclose(solution.alpha, twin.alpha, atol=1e-7)


@first_quick(5)
@pytest.mark.parametrize("kernel", slow_except(["rbf", "linear", "poly"], ["rbf"]))
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_named_case_is_optimal_all_along_the_path(name, kernel):
    points, y, s = CASES[name]()
    scale = max(1.0, np.abs(points).max())
    span = (1e-3, 1e3) if kernel == "rbf" or scale < 100 else (1e-15, 1e-9)
    options = {"kernel": kernel, "gamma": 0.5, "coef0": 1.0, "degree": 2, "sample_weight": s}
    if kernel == "poly" and scale > 100:
        options["gamma"] = scale**-2
        span = (1e-3, 1e2)
    for loss, target in (("hinge", y), ("epsilon_insensitive", y + 0.1 * np.sin(np.arange(len(y))))):
        path = svmpath.trace(
            points, target, loss=loss, span=span, task=None if loss == "hinge" else "regression", **options
        )
        for value in both(path):
            solution = path(value)
            assert solution.violation <= 1e-9 + solution.rounding, f"{loss} at {value}"


def circles():
    points, labels = make_circles(60, noise=None, factor=0.5, random_state=0)
    return points, 2.0 * labels - 1


def xor():
    points = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=float)
    return np.repeat(points, 5, axis=0), np.repeat([1.0, 1.0, -1.0, -1.0], 5)


def binary_columns():
    points = RNG.integers(0, 2, size=(50, 4)).astype(float)
    return points, np.where(points.sum(axis=1) + RNG.normal(size=50) > 2, 1.0, -1.0)


def wide():
    points = RNG.normal(size=(20, 200))
    return points, np.where(np.arange(20) % 2, 1.0, -1.0)


@each_once
@pytest.mark.parametrize("make", [circles, xor, binary_columns, wide], ids=lambda make: make.__name__)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_simultaneous_events_and_dependent_elbows(make, kernel):
    points, y = make()
    # Thirty samples reach the margin at once, and their elbow systems have a condition beyond 1e12.
    is_singular = (make, kernel) == (circles, "rbf")
    with warnings.catch_warnings():
        if is_singular:
            warnings.simplefilter("ignore", svmpath.PrecisionWarning)
        path = svmpath.trace(points, y, loss="hinge", kernel=kernel, gamma=0.5, coef0=1.0, span=(1e-3, 1e3))
    assert worst(path) < (1e-6 if is_singular else 1e-9)
    assert is_singular or path.jitter == 0.0


def test_the_other_direction_is_the_same_path():
    up = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    down = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e2, 1e-2))
    assert_same(up.breakpoints, down.breakpoints[::-1])
    assert np.all(np.diff(up.breakpoints) > 0)
    mirrored = [(e.value, e.sample, e.target, e.source) for e in down.events()][::-1]
    assert [tuple(event)[1:] for event in up.events()] == [event[1:] for event in mirrored]
    assert_same([event.value for event in up.events()], [event[0] for event in mirrored])
    assert_same(up(0.7).alpha, down(0.7).alpha)


def test_events_lead_from_the_places_at_one_end_to_those_at_the_other():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-3, 1e2))
    place = dict.fromkeys(range(60), "left")  # balanced classes: everybody is left of the margin at first
    for event in path.events():
        assert place[event.sample] in (event.source, "left"), event  # one of them is nominally on the elbow
        assert event.source != event.target
        place[event.sample] = event.target
    end = path(1e2)
    margin = Y * end.fitted
    for i, where in place.items():
        slack = {"right": margin[i] - 1, "left": 1 - margin[i], "elbow": 1e-9 - abs(margin[i] - 1)}[where]
        assert slack > -1e-9, (i, where, margin[i])


def test_theta_is_linear_between_breakpoints_and_kinked_at_them():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    nodes = 1 / path.breakpoints
    theta = np.array([path(1 / lam).alpha * lam for lam in nodes])
    between = np.array([path(1 / lam).alpha * lam for lam in 0.5 * (nodes[1:] + nodes[:-1])])
    np.testing.assert_allclose(between, 0.5 * (theta[1:] + theta[:-1]), atol=1e-10)
    slopes = np.diff(theta, axis=0) / np.diff(nodes)[:, None]
    kinks = np.abs(np.diff(slopes, axis=0)).max(axis=1)
    assert np.all(kinks > 1e-9 * np.abs(slopes[1:]).max(axis=1))


def test_the_offset_is_the_middle_of_its_interval_as_in_libsvm():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-3, 1.0))
    first = path.breakpoints[1]
    for C in (1e-3, 0.5 * first):
        model = SVC(C=C, gamma=1.0, tol=1e-10).fit(X, Y)
        np.testing.assert_allclose(path(C)(X), model.decision_function(X), atol=1e-8)
    f = path(1e-3).fitted - path(1e-3).b
    shifts = Y - f  # b lies between those at which a sample of either class would reach the margin
    assert path(1e-3).b == pytest.approx(0.5 * (shifts[Y > 0].min() + shifts[Y < 0].max()), abs=1e-9)


def test_a_separable_problem_has_an_end():
    points = np.vstack([RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2)) + 6])
    y = np.repeat([0, 1], 20)
    path = svmpath.trace(points, y, loss="hinge", kernel="linear", span=(1e-3, 1e6))
    last = path.breakpoints[-2]
    assert last < 1e3
    np.testing.assert_allclose(path(1e6).alpha, path(last * 1.01).alpha, rtol=1e-9)
    assert len(path(1e6).support) <= 5


@first_quick(1)
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_a_removed_sample_is_a_solve_without_it(C):
    s = RNG.exponential(size=60) + 0.2
    for target, loss in ((Y, "hinge"), (WAVE, "epsilon_insensitive")):
        for i in (0, 7, 23):
            options = {"loss": loss, "gamma": 1.0, "epsilon": 0.1}
            path = svmpath.trace(X, target, over="weight", sample=i, span=(1, 0), C=C, sample_weight=s, **options)
            path.check(1e-9)
            rest = np.delete(np.arange(60), i)
            fresh = svmpath.trace(X[rest], target[rest], sample_weight=s[rest], span=(C, 10 * C), **options)(C)
            np.testing.assert_allclose(path(0.0)(X), fresh(X), atol=1e-9)
            np.testing.assert_allclose(path(0.0).alpha[rest], fresh.alpha, atol=1e-8)
            whole = svmpath.trace(X, target, sample_weight=s, span=(C, 10 * C), **options)(C)
            np.testing.assert_allclose(path(1.0).alpha, whole.alpha, atol=1e-8)
            back = svmpath.trace(X, target, over="weight", sample=i, span=(0, 1), C=C, sample_weight=s, **options)
            np.testing.assert_allclose(back(1.0).alpha, whole.alpha, atol=1e-8)


def test_a_class_weight_moves():
    labels = np.where(Y > 0, "yes", "no")
    path = svmpath.trace(X, labels, loss="hinge", over="weight", sample=labels == "yes", span=(1, 5), C=0.5, gamma=1.0)
    path.check(1e-9)
    for v in (1.0, 2.3, 5.0):
        refit = svmpath.trace(X, labels, loss="hinge", class_weight={"yes": v, "no": 1.0}, gamma=1.0, span=(0.5, 1.0))
        np.testing.assert_allclose(path(v)(X), refit(0.5)(X), atol=1e-8)


def test_a_warm_start_reaches_the_same_machine_from_any_other():
    cold = svmpath.trace(X, Y, loss="hinge", gamma=2.0, span=(1.0, 3.0))
    others = {
        "kernel": svmpath.trace(X, Y, loss="hinge", gamma=0.3, span=(0.5, 2.0))(1.0),
        "weights": svmpath.trace(X, Y, loss="hinge", gamma=2.0, span=(1.0, 3.0), sample_weight=1 + np.arange(60) % 3)(
            1.0
        ),
        "labels": svmpath.trace(X, -Y, loss="hinge", gamma=2.0, span=(1.0, 3.0))(1.0),
        "rows": np.append(
            svmpath.trace(X[:50], Y[:50], loss="hinge", gamma=2.0, span=(1.0, 3.0))(1.0).alpha, np.zeros(10)
        ),
    }
    for name, start in others.items():
        warm = svmpath.trace(X, Y, loss="hinge", gamma=2.0, span=(1.0, 3.0), start=start)
        for C in (1.0, 2.2, 3.0):
            np.testing.assert_allclose(warm(C).alpha, cold(C).alpha, atol=1e-9, err_msg=name)
    svr = svmpath.trace(X, WAVE, loss="epsilon_insensitive", gamma=1.0, span=(1.0, 3.0))
    warm = svmpath.trace(X, WAVE, loss="epsilon_insensitive", gamma=2.0, span=(1.0, 3.0), start=svr(2.0))
    fresh = svmpath.trace(X, WAVE, loss="epsilon_insensitive", gamma=2.0, span=(1.0, 3.0))
    np.testing.assert_allclose(warm(2.0).alpha, fresh(2.0).alpha, atol=1e-9)


def test_low_rank_of_full_rank_is_the_whole_kernel():
    whole = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 10))
    thin = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 10), rank=59, landmarks="greedy")
    np.testing.assert_allclose(thin(1.0)(X), whole(1.0)(X), atol=1e-6)
    assert thin(1.0).violation < 1e-9


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_kfold_by_paths_equals_refits(loss):
    target = Y if loss == "hinge" else WAVE
    path = svmpath.trace(X, target, loss=loss, gamma=1.0, span=(1e-2, 1e2))
    folds = list(StratifiedKFold(4).split(X, Y))
    C = np.array([30.0, 0.1, 1.0])
    curve = criteria.kfold(path, C, cv=folds)
    rows = np.concatenate([test for _, test in folds])
    for j, value in enumerate(C):
        held = np.empty(60)
        for train, test in folds:
            held[test] = svmpath.trace(X[train], target[train], loss=loss, gamma=1.0, span=(value, 2 * value))(value)(
                X[test]
            )
        np.testing.assert_allclose(curve.held[j], held[rows], atol=1e-8)


def test_a_path_can_be_saved_and_stays_small():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    path.breakpoints  # noqa: B018 - walks
    data = pickle.dumps(path)
    assert len(data) < 10 * X.nbytes + 10_000
    assert_same(pickle.loads(data)(1.0).alpha, path(1.0).alpha)
    assert path.record.events.t.nbytes < 20 * len(path.breakpoints)  # grows with the events, not with events times rows


def test_wrong_places_are_polished():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    right = path(1.0)
    first = path.record.first.copy()
    first[::3] = LOW
    path.record.first[:] = first
    np.testing.assert_allclose(path(1.0).alpha, right.alpha, atol=1e-9)


def test_the_last_attempts_have_a_jitter_which_is_stated(monkeypatch):
    walked = JumpWalks.walk

    def only_with_jitter(self, tol, jitter):
        if not jitter:
            raise svmpath.PathError("lost")
        return walked(self, tol, jitter)

    monkeypatch.setattr(JumpWalks, "walk", only_with_jitter)
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    assert path.jitter == 1e-12
    assert worst(path) < 1e-9  # solved with the kernel as it is, all the same


def test_no_path_rather_than_a_wrong_one(monkeypatch):
    def lost(self, tol, jitter):
        raise svmpath.PathError("lost")

    monkeypatch.setattr(JumpWalks, "walk", lost)
    with pytest.raises(svmpath.PathError, match=r"could not be followed from 0\.01 to 100"):
        svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))


def test_an_infeasible_nu_is_refused_before_any_kernel_is_computed():
    def never(A, B):
        raise AssertionError("the kernel was computed")

    with pytest.raises(ValueError, match=r"nu = 0.9 is infeasible.*at most 0.5"):
        svmpath.trace(X, np.arange(60) < 15, loss="nu", over="nu", span=(0.9, 0.1), kernel=never)


def test_without_a_margin_there_is_no_nu_machine():
    points = np.vstack([X, X])
    y = np.concatenate([Y, -Y])
    with pytest.raises(svmpath.PathError, match="margin rho is zero"):
        svmpath.trace(points, y, loss="nu", over="nu", span=(1.0, 0.5), gamma=1.0)
    points[60:] += 0.05  # the classes overlap: below some nu nothing is left
    path = svmpath.trace(points, y, loss="nu", over="nu", gamma=0.1)
    assert 0.01 < path.span[1] < path.span[0]
    assert path(path.span[1]).rho > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "epsilon"}, "over must be one of 'C', 'weight', 'gamma'; got 'epsilon'"),
        ({"over": "weight"}, "needs sample="),
        ({"over": "weight", "sample": 60}, "row numbers from 0 to 59"),
        ({"over": "weight", "sample": [True, False]}, "a mask of"),
        ({"sample": 3}, "sample= works with over='weight' only"),
        ({"span": (0.0, 1.0)}, "positive"),
        ({"start": np.zeros(3)}, r"shape \(60,\)"),
        ({"loss": "nu", "over": "C"}, "over must be 'nu'; got 'C'"),
        ({"loss": "epsilon_insensitive"}, "does regression"),
        ({"epsilon": -1.0}, "epsilon must be a number >= 0"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        svmpath.trace(X, Y.astype(int), **{"loss": "hinge", **options})


def test_kfold_of_a_nu_path_equals_refits():
    folds = list(StratifiedKFold(4).split(X, Y))
    path = svmpath.trace(X, Y, loss="nu", over="nu", gamma=1.0, span=(0.9, 0.5))
    curve = criteria.kfold(path, [0.6, 0.8], cv=folds)
    for j, nu in enumerate((0.6, 0.8)):
        held = [NuSVC(nu=nu, gamma=1.0, tol=1e-10).fit(X[a], Y[a]).decision_function(X[b]) for a, b in folds]
        np.testing.assert_allclose(curve.held[j], np.concatenate(held), atol=1e-5)


def test_a_walk_that_cannot_be_trusted_is_left_to_the_ladder(monkeypatch):
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(1e-2, 1e2))
    expected = path.decisions(np.array([0.1, 1.0]))
    np.testing.assert_allclose(expected, [path(0.1).fitted, path(1.0).fitted], atol=1e-9)
    monkeypatch.setattr(JumpWalks, "stops", lambda self, values: ((k, None) for k in range(len(values))))
    np.testing.assert_allclose(path.decisions(np.array([0.1, 1.0])), expected, atol=1e-9)


def test_an_optimum_is_taken_although_digits_were_lost_on_the_way(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.uniform(-2, 2, size=(120, 3))
    b = np.sin(A[:, 0]) * A[:, 1] + A[:, 2] ** 2 + 0.1 * rng.normal(size=120)
    path = svmpath.trace(A, b, loss="epsilon_insensitive", gamma=0.05, epsilon=0.1, span=(1.0, 1e5))
    path = path.over_span(path.span)  # not walked yet; the kernel is smooth
    walkers, way = [], Walker.to

    def spoiled(self, *args, **options):  # as if rounding had been in the way
        way(self, *args, **options)
        self.worst = max(self.worst, 1e-3)
        walkers.append(self)

    monkeypatch.setattr(Walker, "to", spoiled)
    C = np.array([1e2, 1e4])
    found = path.decisions(C)
    assert "_outcome" not in path.__dict__  # there was no second walk
    assert walkers[-1].violation() <= path.machines.trusted
    walkers[-1].theta[walkers[-1].F[0]] += 1e-6  # is noticed
    assert walkers[-1].violation() > 1e-3
    monkeypatch.setattr(JumpWalks, "_is_optimal", lambda self, walker: False)
    np.testing.assert_allclose(found, path.decisions(C), atol=1e-6)  # the slow way: the whole walk, and its machines
    assert "_outcome" in path.__dict__


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1e6, pytest.param(1e8, marks=pytest.mark.slow)])
def test_a_kernel_that_has_lost_its_digits_is_refused(shift):
    with pytest.raises(svmpath.PathError, match="double precision"):
        svmpath.trace(X + shift, Y, loss="hinge", kernel="linear")


@pytest.mark.slow
def test_regression_is_polished_whatever_the_unit_of_y():
    path = svmpath.trace(X, 1e-10 * WAVE, loss="epsilon_insensitive", gamma=1.0, epsilon=1e-11, span=(1e-2, 10.0))
    right = path(1.0)
    path.record.first[::3] = LOW
    np.testing.assert_allclose(path(1.0).alpha, right.alpha, atol=1e-9)


def test_weights_that_cannot_be_moved_are_refused():
    with pytest.raises(ValueError, match="at least one sample of positive weight"):
        svmpath.trace(X, Y, loss="hinge", over="weight", sample=np.arange(60))
    with pytest.raises(ValueError, match="both classes"):
        svmpath.trace(X, Y, loss="nu", over="nu", sample_weight=(Y > 0).astype(float))
    with pytest.raises(ValueError, match="must hold finite numbers"):
        svmpath.trace(X, Y, loss="hinge", start=np.full(60, np.nan))


def test_an_indefinite_kernel_warns_and_clips():
    options = {"loss": "hinge", "kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0, "span": (1e-3, 1e3)}
    with pytest.warns(svmpath.IndefiniteKernelWarning), pytest.raises(svmpath.PathError, match=r"gram\.Clipped"):
        svmpath.trace(X, Y, **options)
    svmpath.trace(X, Y, rank=Clipped(), **options).check(1e-9)


@first_quick(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_default_span_of_nu_begins_at_a_feasible_value(weighted):
    # Classes of 34 and 37, and many others: twice the share of the lighter class, times the weights, may round up.
    rng = np.random.default_rng(0)
    sizes = [(34, 37), (37, 34), *rng.integers(2, 60, size=(30, 2)).tolist()]
    for positive, negative in sizes:
        y = rng.permutation(np.repeat([1.0, -1.0], [positive, negative]))
        s = rng.uniform(0.1, 3.0, size=len(y)) if weighted else np.ones(len(y))
        X = rng.normal(size=(len(y), 2)) + y[:, None]
        path = svmpath.trace(X, y, loss="nu", over="nu", gamma=5.0, sample_weight=s)
        light = min(s[y > 0].sum(), s[y < 0].sum())
        assert 0.5 * s.sum() * path.span[0] <= light
        np.testing.assert_allclose(0.5 * s.sum() * path.span[0], light, rtol=1e-14)
        assert path(path.span[0]).gap < 1e-9


def test_a_nu_that_is_feasible_but_for_its_last_digits_is_taken():
    rng = np.random.default_rng(0)
    for positive, negative in rng.integers(3, 50, size=(20, 2)).tolist():
        y = np.repeat([1.0, -1.0], [positive, negative])
        X = rng.normal(size=(len(y), 2)) + y[:, None]
        largest = 2.0 * min(positive, negative) / len(y) * (1.0 + 9e-13)
        path = svmpath.trace(X, y, loss="nu", over="nu", gamma=5.0, span=(largest, 0.9 * largest))
        assert path(largest).gap < 1e-9


@pytest.mark.parametrize("copies", [0, 5])
def test_kfold_refuses_a_nu_that_a_fold_cannot_have(copies):
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], [34, 37])
    X = rng.normal(size=(71, 2)) + y[:, None]
    X[1 : 1 + copies] = X[0]
    path = svmpath.trace(X, y, loss="nu", over="nu", gamma=1.0)
    with pytest.raises(ValueError, match=r"nu = 0.957746 is infeasible for the training part of a fold.*at most 0.94"):
        criteria.kfold(path, [path.span[0]])
    assert criteria.kfold(path, [0.94]).scores.shape == (1,)

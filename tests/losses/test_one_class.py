"""The one-class machine: its path over nu, leave-one-out and folds, against convex programmes, LIBSVM and refits."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.model_selection import KFold
from sklearn.svm import OneClassSVM

import svmpath
from svmpath import criteria
from svmpath.exceptions import NoMarginError
from svmpath.losses import OneClass
from tests import fuzz_one_class, reference_qp
from tests.cases import CASES
from tests.speed import slow_except

MOONS = make_moons(60, noise=0.2, random_state=0)[0]
WEIGHTS = np.random.default_rng(1).exponential(size=60) + 0.1
WEIGHTS[::9] = 0.0
NUS = np.array([0.03, 0.11, 0.36, 0.81])  # no whole number of samples: the elbow is not empty, and rho is unique


def traced(X=MOONS, **options):
    return svmpath.trace(X, loss="one_class", **{"gamma": 1.0, **options})


def random_problem(seed):
    """Rows, some of them equal or on a grid; weights; a kernel with positive values; nu."""
    rng = np.random.default_rng([seed, 60])
    X = fuzz_one_class.random_rows(rng)
    s = rng.exponential(size=len(X)) + 0.05 if seed % 2 else np.ones(len(X))
    kernel = [{"gamma": 1.0}, {"gamma": 0.1}, {"kernel": "laplacian", "gamma": 0.5}, {"gamma": 10.0}][seed % 4]
    return X, s, kernel, float(rng.uniform(0.02, 0.98))


@pytest.mark.parametrize("seed", slow_except(range(60), range(6)))
def test_machines_equal_a_convex_programme(seed):
    X, s, kernel, nu = random_problem(seed)
    solution = svmpath.trace(X, loss="one_class", sample_weight=s, **kernel)(max(nu, 0.01))
    K = solution.problem.gram.block(slice(None), slice(None))
    f, objective = reference_qp.one_class(K, s, max(nu, 0.01))
    product = solution.fitted - solution.b
    value = (
        0.5 * solution.alpha @ product + solution.b + solution.loss.limits(solution) @ np.maximum(-solution.fitted, 0)
    )
    assert value == pytest.approx(objective, abs=1e-9)
    assert solution.violation < 1e-10
    assert solution.gap < 1e-10
    inner = (solution.alpha > 1e-9) & (solution.alpha < solution.loss.limits(solution) - 1e-9)
    if inner.any():  # else rho may be anything in an interval
        np.testing.assert_allclose(solution.fitted, f, atol=1e-7)
    else:
        np.testing.assert_allclose(product - product.mean(), f - f.mean(), atol=1e-7)


@pytest.mark.parametrize("options", [{"gamma": 1.0}, {"gamma": 0.05}, {"kernel": "poly", "coef0": 1.0, "gamma": 0.5}])
def test_machines_equal_those_of_libsvm(options):
    path = traced(**options)
    for nu in NUS:
        model = OneClassSVM(nu=nu, tol=1e-10, degree=3, **options).fit(MOONS)
        mine = path(nu)
        unit, scale = nu * len(MOONS), mine.loss.scale(mine.problem)
        np.testing.assert_allclose(mine(MOONS[:20]), model.decision_function(MOONS[:20]) / unit, atol=1e-7 * scale)
        np.testing.assert_allclose(-mine.b, model.offset_[0] / unit, atol=1e-7 * scale)
        np.testing.assert_allclose(mine.alpha[model.support_], model.dual_coef_[0] / unit, atol=1e-6)


def test_weights_equal_those_of_libsvm():
    path, counted = traced(sample_weight=WEIGHTS), WEIGHTS > 0
    for nu in NUS:
        s = WEIGHTS[counted] / WEIGHTS[counted].mean()
        model = OneClassSVM(nu=nu, gamma=1.0, tol=1e-10).fit(MOONS[counted], sample_weight=s)
        np.testing.assert_allclose(path(nu)(MOONS), model.decision_function(MOONS) / (nu * counted.sum()), atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_nu_property_holds_all_along_the_path(weighted):
    path = traced(sample_weight=WEIGHTS if weighted else None)
    s, nodes = path.problem.s, path.breakpoints
    assert len(nodes) > 60
    for nu in np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])]):
        f = path(nu).fitted
        assert s[f < -1e-9].sum() <= nu * s.sum() * (1 + 1e-9)
        assert s[f < 1e-9].sum() >= nu * s.sum() * (1 - 1e-9)
        assert path(nu).alpha.sum() == pytest.approx(1.0, abs=1e-12)


def test_theta_is_linear_between_breakpoints():
    path = traced()
    nodes = path.breakpoints
    assert nodes[0] == 1.0
    for left, right in zip(nodes[:-1:5], nodes[1::5], strict=False):
        ends = [path(nu).coefficients for nu in (0.75 * left + 0.25 * right, 0.25 * left + 0.75 * right)]
        np.testing.assert_allclose(path(0.5 * (left + right)).coefficients, np.mean(ends, axis=0), atol=1e-9)


@pytest.mark.parametrize(
    "name", slow_except(list(CASES), [name for name in CASES if name != "many_samples_one_feature"])
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_hard_cases(name, kernel):
    X, _, s = CASES[name]()
    options = {"gamma": 0.5} if kernel == "rbf" else {}
    try:
        path = svmpath.trace(X, loss="one_class", kernel=kernel, sample_weight=s, **options)
    except NoMarginError:
        assert kernel == "linear"  # whose rows surround the origin
        return
    path.check(1e-8 * max(path.loss.scale(path.problem), 1.0))  # a kernel of 1e10 has no more digits
    nu = 0.5 * sum(path.span)
    curve = criteria.loo(path, nu)
    assert not curve.unreliable.any()
    for i in path.problem.active[::5]:
        rest = np.delete(np.arange(len(X)), i)
        refit = svmpath.trace(
            X[rest], loss="one_class", kernel=kernel, sample_weight=s[rest], span=(nu, 0.99 * nu), **options
        )(nu)
        size = refit.loss.scale(refit.problem)
        assert curve.decisions[0, i] == pytest.approx(refit(X[[i]])[0], abs=1e-9 * size)


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_equals_refits(weighted):
    s = WEIGHTS if weighted else np.ones(60)
    path = traced(sample_weight=s)
    curve = criteria.loo(path, NUS)
    assert not curve.unreliable.any()
    for i in path.problem.active:
        rest = np.delete(np.arange(60), i)
        refit = traced(MOONS[rest], sample_weight=s[rest])
        expected = [refit(nu)(MOONS[[i]])[0] for nu in NUS]
        np.testing.assert_allclose(curve.decisions[:, i], expected, atol=1e-9)
    rejected = curve.decisions < 0
    np.testing.assert_allclose(curve.scores, rejected @ s / s.sum(), atol=1e-12)


def test_predicted_leave_one_out_is_close_and_counts_its_doubts():
    path = traced()
    exact, predicted = criteria.loo(path, NUS), criteria.alo(path, NUS)
    wrong = np.abs(exact.decisions - predicted.decisions) > 1e-9
    assert np.all(wrong.sum(axis=1) <= predicted.unreliable)
    assert np.median(np.abs(exact.decisions - predicted.decisions)) < 1e-3


def test_folds_equal_refits():
    path, folds = traced(sample_weight=WEIGHTS), list(KFold(4, shuffle=True, random_state=0).split(MOONS))
    curve = criteria.kfold(path, NUS, cv=folds)
    start = 0
    for train, test in folds:
        refit = traced(MOONS[train], sample_weight=WEIGHTS[train])
        for k, nu in enumerate(NUS):
            np.testing.assert_allclose(curve.held[k, start : start + len(test)], refit(nu)(MOONS[test]), atol=1e-9)
        start += len(test)


def test_a_weight_of_two_is_a_copy_and_of_zero_none():
    s = np.tile([0.0, 1.0, 2.0], 20)
    rows = np.repeat(np.arange(60), s.astype(int))
    weighted, repeated = traced(sample_weight=s), traced(MOONS[rows])
    for nu in NUS:
        np.testing.assert_allclose(weighted(nu)(MOONS), repeated(nu)(MOONS), atol=1e-9)
    # A copy left out leaves the other one.
    held = criteria.loo(repeated, NUS).decisions
    for i in (0, 5, 30):
        refit = traced(np.delete(MOONS[rows], i, axis=0))
        np.testing.assert_allclose(held[:, i], [refit(nu)(MOONS[rows[[i]]])[0] for nu in NUS], atol=1e-9)


def test_a_common_factor_of_the_weights_changes_nothing():
    one, other = traced(sample_weight=WEIGHTS), traced(sample_weight=1e-3 * WEIGHTS)
    np.testing.assert_allclose(one.decisions(NUS), other.decisions(NUS), atol=1e-9)


def test_low_rank_of_full_rank_is_the_full_kernel():
    full, low = traced(), traced(rank=60)
    np.testing.assert_allclose(low.decisions(NUS), full.decisions(NUS), atol=1e-6)
    few = traced(rank=15)
    few.check(1e-8)
    held, Z = criteria.loo(few, NUS).decisions, few.gram.Z
    refit = svmpath.trace(Z[1:], loss="one_class", kernel="linear")
    np.testing.assert_allclose(held[:, 0], [refit(nu)(Z[:1])[0] for nu in NUS], atol=1e-9)


def test_sparse_rows_float32_and_precomputed_kernels():
    plain = traced()
    for X, options in (
        (sparse.csr_matrix(MOONS), {}),
        (plain.gram.K, {"kernel": "precomputed"}),
    ):
        np.testing.assert_allclose(traced(X, **options).decisions(NUS), plain.decisions(NUS), atol=1e-9)
    single = MOONS.astype(np.float32)
    np.testing.assert_allclose(traced(single).decisions(NUS), traced(single.astype(float)).decisions(NUS), atol=1e-12)


def test_two_rows_and_one():
    path = traced(MOONS[:2])
    assert path(0.5)(MOONS[:2]) == pytest.approx(0.0, abs=1e-12)
    path.check()
    assert criteria.loo(path, 0.5).scores == 1.0
    alone = traced(MOONS[:1])
    assert alone(0.3).alpha == pytest.approx(1.0)
    with pytest.raises(ValueError, match="at least two samples"):
        criteria.loo(alone, 0.3)


def test_the_path_ends_where_the_origin_is_among_the_rows():
    X = np.random.default_rng(0).normal(size=(40, 2)) + 1.0
    path = svmpath.trace(X, loss="one_class", kernel="linear")
    assert 0.02 < path.span[1] < 1.0
    path.check(1e-8)
    with pytest.raises(NoMarginError, match="surround the origin"):
        svmpath.trace(X, loss="one_class", kernel="linear", span=(0.5, 0.01))(0.01)


def test_wrong_machines_are_seen():
    solution = traced()(0.2)
    other = type(solution)(
        solution.problem, solution.loss, solution.alpha[::-1].copy(), solution.b, solution.parameters
    )
    assert other.violation > 1e-3
    assert other.gap > 1e-3
    shifted = type(solution)(solution.problem, solution.loss, solution.alpha, solution.b - 0.01, solution.parameters)
    assert shifted.violation == pytest.approx(0.01, rel=1e-6)


def test_a_start_and_a_limit():
    path = traced()
    again = traced(start=path(1.0))
    np.testing.assert_allclose(again.decisions(NUS), path.decisions(NUS), atol=1e-9)
    with pytest.warns(svmpath.LimitWarning):
        short = traced(max_events=20)
    assert short.span[1] > 0.1


def test_what_is_refused():
    with pytest.raises(ValueError, match="y is missing"):
        svmpath.trace(MOONS)
    with pytest.raises(ValueError, match="y is missing"):
        svmpath.trace(MOONS, loss="hinge")
    with pytest.raises(ValueError, match="takes no targets"):
        svmpath.trace(MOONS, np.arange(60) % 2, loss="one_class")
    with pytest.raises(ValueError, match="at 1 every sample is outside"):
        traced(span=(0.5, 1.5))
    with pytest.raises(ValueError, match="one_class"):
        traced(over="C")
    with pytest.raises(ValueError, match="class_weight"):
        traced(class_weight="balanced")
    with pytest.raises(ValueError, match="takes no targets"):
        svmpath.PathSVC(loss="one_class").fit(MOONS, np.arange(60) % 2)
    with pytest.raises(ValueError, match="do not sum"):
        criteria.approximation_gap(traced(rank=10)(0.1))
    with pytest.raises(ValueError, match="NaN"):
        traced(np.full((5, 2), np.nan))


def test_pictures():
    import matplotlib

    matplotlib.use("agg")
    from svmpath.displays import BoundaryDisplay, CurveDisplay, ElbowDisplay, MarginDisplay

    path = traced()
    curve = criteria.loo(path, NUS)
    assert len(ElbowDisplay.from_path(path, [0.1, 0.3]).elbow) == 2
    assert CurveDisplay.from_curve(curve) is not None
    with pytest.raises(ValueError, match="this is a one-class machine"):
        BoundaryDisplay.from_path(path)
    with pytest.raises(ValueError, match="this is a one-class machine"):
        MarginDisplay.from_curve(curve)


@pytest.mark.parametrize("seed", slow_except(range(200), range(8)))
def test_random_problems(seed):
    fuzz_one_class.run(seed)


def test_loss_object():
    np.testing.assert_allclose(
        svmpath.trace(MOONS, loss=OneClass(), gamma=1.0).decisions(NUS), traced().decisions(NUS), atol=0
    )

"""The errors of leave-one-out as step functions of C, against dense grids, refits and polynomials."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

import svmpath
from svmpath import criteria
from svmpath.criteria.steps import StepCurve
from svmpath.solvers.crossings import sign_changes
from svmpath.solvers.fixed_sides import Series
from tests import reference
from tests.speed import first_quick, slow_except

SPAN = (1e-2, 1e3)
WAYS = {
    "least_squares": ("least_squares", criteria.loo),
    "span": ("squared_hinge", criteria.span),
    "loo": ("squared_hinge", criteria.loo),
}


def steps_and_path(way, X, y, **options):
    loss, criterion = WAYS[way]
    path = svmpath.trace(X, y, loss=loss, **{"gamma": 1.0, "span": SPAN, **options})
    return criterion(path, exact=True), path, criterion


def assert_is_everywhere(steps, path, criterion, m=150):
    """Not only at a grid: inside every step, near both of its ends."""
    low, high = steps.edges[:-1], steps.edges[1:]
    wide = high / low > 1 + 1e-3  # Newton's method knows an event to rounding of the slack only
    values = np.concatenate([low[wide] * (1 + 1e-5), high[wide] * (1 - 1e-5), np.geomspace(*sorted(path.span), m)])
    near = np.array([np.abs(np.log(steps.edges / value)).min() < 5e-6 for value in values])
    expected = criterion(path, values).scores
    np.testing.assert_allclose(steps(values)[~near], expected[~near], atol=1e-12)
    np.testing.assert_array_equal(steps.edges[[0, -1]], sorted(path.span))
    assert (np.diff(steps.edges) > 0).all()
    assert np.any(steps.losses[1:] != steps.losses[:-1], axis=1).all()  # every edge changes somebody's error


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", slow_except(list(range(10)), [0]))  # with the three ways 30 problems
def test_the_steps_are_those_of_a_dense_grid(way, seed):
    rng = np.random.default_rng(seed)
    X, y = make_moons(int(rng.integers(20, 60)), noise=rng.uniform(0.1, 0.5), random_state=seed)
    X = np.column_stack([X, rng.normal(size=(len(X), seed % 3))])
    s = rng.exponential(size=len(y)) + 0.1 if seed % 2 else None
    if s is not None:
        s[3] = 0.0
    rank = {2: 12, 5: 15}.get(seed)
    steps, path, criterion = steps_and_path(way, X, y, gamma=10 ** rng.uniform(-1.5, 1), sample_weight=s, rank=rank)
    assert_is_everywhere(steps, path, criterion)


@pytest.mark.parametrize("way", ["least_squares", "loo"])
@first_quick(1)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_steps_are_those_of_refits(way, seed):
    X, y = make_moons(24, noise=0.35, random_state=seed)
    steps, _, _ = steps_and_path(way, X, y)
    K, labels = reference.rbf(X, X, 1.0), np.where(y == 1, 1.0, -1.0)
    for value, score in zip(steps.values[::3], steps.scores[::3], strict=True):
        wrong = 0
        for i in range(24):
            rest = np.flatnonzero(np.arange(24) != i)
            small, one = K[np.ix_(rest, rest)], np.ones(23)
            solve = reference.fit if way == "least_squares" else reference.squared_hinge
            alpha, b = solve(small, labels[rest], one, value)[:2]
            wrong += (K[i, rest] @ alpha + b > 0) != (labels[i] > 0)
        assert score == pytest.approx(wrong / 24, abs=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hard", ["copies", "contradictions", "one of a class", "downwards", "constant column", "wide"])
def test_hard_cases(way, hard):
    rng = np.random.default_rng(3)
    X, y = make_moons(18, noise=0.4, random_state=3)
    options = {}
    if hard == "copies":
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    elif hard == "contradictions":
        X, y = np.repeat(X, 2, axis=0), np.where(np.arange(36) % 6 == 0, 1 - np.repeat(y, 2), np.repeat(y, 2))
    elif hard == "one of a class":
        y = (np.arange(18) == 4).astype(int)
    elif hard == "downwards":
        options = {"span": SPAN[::-1]}
    elif hard == "constant column":
        X = np.column_stack([X, np.full(18, 7.0)])
    else:
        X, options = rng.normal(size=(18, 40)), {"kernel": "linear"}
    assert_is_everywhere(*steps_and_path(way, X, y, **options), m=40)


def test_all_minima_are_listed():
    X, y = make_moons(60, noise=0.35, random_state=5)
    steps, path, _ = steps_and_path("least_squares", X, y)
    assert isinstance(steps, StepCurve)
    values = np.geomspace(*path.span, 4000)
    errors = criteria.loo(path, values).scores
    assert errors.min() >= steps.scores.min() - 1e-12  # no grid finds a smaller one
    for low, high in steps.minima:
        inside = (values > low) & (values < high)
        assert np.ptp(steps(np.array([low * (1 + 1e-9), high * (1 - 1e-9)]))) == 0
        np.testing.assert_allclose(errors[inside], steps.scores.min(), atol=1e-12)
    at_least = errors <= steps.scores.min() + 1e-12
    covered = np.any((values[:, None] >= steps.minima[:, 0]) & (values[:, None] <= steps.minima[:, 1]), axis=1)
    np.testing.assert_array_equal(at_least, covered)
    assert len(steps.local_minima) > len(steps.minima)
    for low, high in steps.local_minima:
        level = steps(np.sqrt(low * high))
        assert low == path.span[0] or steps(low * (1 - 1e-9)) > level
        assert high == path.span[1] or steps(high * (1 + 1e-9)) > level


def test_sign_changes_are_the_real_roots_of_polynomials():
    rng = np.random.default_rng(0)
    coefs = rng.normal(size=(200, 8))
    coefs[0] = [0.01**2, -0.02, 1.0, 0, 0, 0, 0, 0]  # a zero without a change of sign
    coefs[1] = np.poly([0.1, 0.1 + 1e-5, -0.2, 3, 4, 5, 6])[::-1]  # two zeros next to each other
    u, rows, hidden = sign_changes(Series(coefs, np.zeros(200)), -0.5, 0.5)
    assert not len(hidden)
    for row in range(200):
        roots = np.roots(coefs[row, ::-1])
        real = np.sort(roots[(np.abs(roots.imag) < 1e-9) & (np.abs(roots.real) < 0.5)].real)
        if row == 0:
            real = []
        np.testing.assert_allclose(np.sort(u[rows == row]), real, atol=1e-9)


def test_a_remainder_that_hides_a_sign_is_told():
    series = Series(np.array([[1e-9, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]]), np.array([1e-3, 1e-3]))
    assert sign_changes(series, -0.5, 0.5).hidden.tolist() == [0]


def test_what_has_no_steps_is_refused():
    X, y = make_moons(20, noise=0.3, random_state=0)
    squared, least = (svmpath.trace(X, y, loss=loss) for loss in ("squared_hinge", "least_squares"))
    with pytest.raises(ValueError, match="leave values and screen out"):
        criteria.span(squared, [1.0], exact=True)
    with pytest.raises(ValueError, match="needs values"):
        criteria.span(squared)
    with pytest.raises(ValueError, match="span prediction of the squared hinge"):
        criteria.span(svmpath.trace(X, y, loss="hinge"), exact=True)
    for loss in ("squared", "squared_hinge"):
        with pytest.raises(ValueError, match="error rate only"):
            criteria.loo(least, exact=True, loss=loss)
    with pytest.raises(ValueError, match="for regression"):
        criteria.loo(svmpath.trace(X, X[:, 0], loss="least_squares"), exact=True)
    for loss, criterion in WAYS.values():
        with pytest.raises(ValueError, match="needs an offset"):
            criterion(svmpath.trace(X, y, loss=loss, offset=False), exact=True)
    with pytest.raises(ValueError, match="over gamma"):
        criteria.loo(svmpath.trace(X, y, loss="least_squares", over="gamma"), exact=True)
    with pytest.warns(svmpath.IndefiniteKernelWarning), pytest.raises(ValueError, match="positive semi-definite"):
        criteria.loo(svmpath.trace(X, y, loss="least_squares", kernel="sigmoid", gamma=2.0, coef0=-1.0), exact=True)


@pytest.mark.parametrize("offset", [True, False])
def test_a_class_of_one_sample(offset):
    """Without it the machine is the other label, but only if there is an offset."""
    X = np.random.default_rng(1).normal(size=(8, 2))
    y = np.array([1, -1, -1, -1, -1, -1, -1, -1])
    X[0] = -X[1:].mean(axis=0) - 1.0
    path = svmpath.trace(X, y, loss="hinge", kernel="linear", offset=offset)
    steps = criteria.loo(path, exact=True)
    np.testing.assert_allclose(steps.scores, criteria.loo(path, steps.values).scores, atol=1e-12)

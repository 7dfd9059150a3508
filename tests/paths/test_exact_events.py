"""Every change of side of the squared hinge over C, against dense scans by Newton's method."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import svmpath
from svmpath.paths import sides as module
from svmpath.paths.sides import exact_sides
from svmpath.solvers import fixed_sides
from svmpath.solvers.crossings import first_crossing
from svmpath.solvers.feature_newton import FeatureNewton, Rows
from svmpath.solvers.fixed_sides import FixedSides, Series
from svmpath.solvers.pieces import SQUARED_HINGE
from tests.rounding import assert_same
from tests.speed import first_quick, slow_except

NEAR = 1e-9  # samples so near to the margin may be on either side


def blobs(n, seed, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > np.quantile(X[:, 0] * X[:, 1], 1 - share), 1.0, -1.0)
    return X, y


def duplicates(flipped):
    X, y = blobs(40, 1)
    return np.vstack([X, X[:20]]), np.concatenate([y, np.where(flipped, -y[:20], y[:20])])


def grid():
    """Four and more samples reach the margin at the same value."""
    axis = np.linspace(-1, 1, 5)
    X = np.array(np.meshgrid(axis, axis)).reshape(2, -1).T
    return X, np.where((X**2).sum(axis=1) > 1.1, 1.0, -1.0)


PROBLEMS = {
    "rbf of large width": (*blobs(120, 0), (1e-3, 1e4), {"gamma": 0.1}, None),
    "rbf of small width": (*blobs(80, 1), (1e4, 1e-3), {"gamma": 8.0}, None),
    "linear": (*blobs(100, 2), (1e-4, 1e2), {"kernel": "linear"}, None),
    "poly": (*blobs(60, 3), (1e2, 1e-4), {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 1.0}, None),
    "weights": (*blobs(60, 4), (1e-3, 1e4), {"gamma": 1.0}, np.random.default_rng(0).integers(0, 4, size=60) / 2.0),
    "duplicates": (*duplicates(False), (1e-3, 1e4), {"gamma": 1.0}, None),
    "contradictory duplicates": (*duplicates(True), (1e4, 1e-3), {"gamma": 1.0}, None),
    "unbalanced": (*blobs(80, 5, share=0.06), (1e-3, 1e4), {"gamma": 1.0}, None),
    "one sample per class": (np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), (1e-4, 1e5), {"gamma": 1.0}, None),
    "ties on a grid": (*grid(), (1e-3, 1e4), {"gamma": 1.0}, None),
    "low rank": (*blobs(150, 6), (1e-3, 1e3), {"gamma": 1.0, "rank": 20, "random_state": 0}, None),
}


def features(X, y, span, options, s=None):
    path = svmpath.trace(X, y, loss="squared_hinge", span=span, sample_weight=s, **options)
    return getattr(path, "unmerged", path).rows  # repeated rows stay as they are here


def scanned(rows, values):
    """The points at rising values, by Newton's method."""
    newton = FeatureNewton.of(SQUARED_HINGE, rows)
    point = newton.start()
    for C in values:
        point = newton.at(1.0 / C, point)[0]
        yield C, point


def assert_agrees(rows, sides, values):
    for C, point in scanned(rows, np.sort(values)):
        clear = np.abs(1.0 - rows.y * point.f) > NEAR * (1.0 + np.abs(point.f))
        np.testing.assert_array_equal(sides.at(C)[clear], point.E[clear], err_msg=f"at C = {C!r}")


def middles(sides):
    nodes = sides.breakpoints
    return np.sqrt(nodes[1:] * nodes[:-1])


@first_quick(1)
@pytest.mark.parametrize("name", slow_except(PROBLEMS, ["duplicates", "linear"]))
def test_sides_of_a_dense_scan(name):
    X, y, span, options, s = PROBLEMS[name]
    rows = features(X, y, span, options, s)
    sides = exact_sides(rows, span)
    assert_agrees(rows, sides, np.geomspace(*span, 4000))
    assert_agrees(rows, sides, middles(sides))
    assert sides.rounding < 1e-10


@first_quick(4)
@pytest.mark.parametrize("name", PROBLEMS)
def test_samples_are_on_the_margin_at_their_events(name):
    X, y, span, options, s = PROBLEMS[name]
    rows = features(X, y, span, options, s)
    events = sorted(exact_sides(rows, span).events())
    for event, (_, point) in zip(events, scanned(rows, [event.value for event in events]), strict=True):
        assert abs(1.0 - rows.y[event.sample] * point.f[event.sample]) <= 1e-9
        assert rows.s[event.sample] > 0


@first_quick(4)
@pytest.mark.parametrize("name", PROBLEMS)
def test_both_directions_tell_the_same(name):
    X, y, span, options, s = PROBLEMS[name]
    rows = features(X, y, span, options, s)
    there, back = exact_sides(rows, span), exact_sides(rows, span[::-1])
    assert_same(there.breakpoints, back.breakpoints[::-1])
    assert there.breakpoints[0] == span[0]
    assert there.breakpoints[-1] == span[1]
    assert np.all(np.diff(there.breakpoints) * (span[1] - span[0]) > 0)
    turned = [(event.value, event.sample, event.target, event.source) for event in back.events()]
    # Samples that cross at the same value may come in another order where rounding parts them.
    assert sorted(event[1:] for event in turned) == sorted(tuple(event)[1:] for event in there.events())
    assert_same(sorted(event[0] for event in turned), sorted(event.value for event in there.events()))
    for C in middles(there):
        np.testing.assert_array_equal(there.at(C), back.at(C))


def test_the_sides_follow_from_the_events():
    X, y, span, options, s = PROBLEMS["contradictory duplicates"]
    sides = exact_sides(features(X, y, span, options, s), span)
    left, events = sides.at(span[0]), list(sides.events())
    for begin, end in pairwise(sides.breakpoints.tolist()):
        for event in [event for event in events if event.value == begin]:
            left[event.sample] = event.target == "left"
        np.testing.assert_array_equal(left, sides.at(np.sqrt(begin * end)))


# Samples that cross the margin and come back within this factor of C: (seed, sample, first crossing, factor).
RETURNS = [
    (78, 46, 27.0491, 1.00012),
    (32, 56, 884.476, 1.00061),
    (227, 47, 25.5181, 1.0041),
    (150, 36, 1600.92, 1.0048),
]


@first_quick(1)
@pytest.mark.parametrize(("seed", "sample", "value", "factor"), RETURNS)
def test_a_sample_that_comes_back_soon_is_seen(seed, sample, value, factor):
    X, y = returning(seed)
    rows = features(X, y, (1e-3, 1e4), {"gamma": 1.0})
    sides = exact_sides(rows, (1e-3, 1e4))
    events = [event for event in sides.events() if event.sample == sample]
    pair = next(pair for pair in pairwise(events) if abs(pair[0].value / value - 1) < 1e-4)
    assert pair[1].value / pair[0].value < factor
    assert pair[0].source == pair[1].target
    # It is on the other side in between, and only there; a scan of four values per decade, or of 500, is blind to it.
    inside = np.geomspace(pair[0].value, pair[1].value, 9)[1:-1]
    width = pair[1].value / pair[0].value
    outside = np.concatenate(
        [pair[0].value / width ** np.array([2.0, 1.0, 0.5]), pair[1].value * width ** np.array([0.5, 1.0])]
    )
    for values, place in ((inside, pair[0].target), (np.sort(outside), pair[0].source)):
        for _, point in scanned(rows, values):
            assert point.E[sample] == (place == "left")
    assert_agrees(rows, sides, np.geomspace(pair[0].value / width, pair[1].value * width, 200))


def returning(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)


@first_quick(8)
@pytest.mark.parametrize("seed", slow_except(range(60), range(30)))
def test_random_problems(seed):
    rng = np.random.default_rng(1000 + seed)
    rows, span = random_rows(rng)
    sides = exact_sides(rows, span)
    assert_agrees(rows, sides, np.geomspace(*span, 200))
    assert_agrees(rows, sides, middles(sides))


def random_rows(rng):
    n, d = int(rng.integers(4, 35)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if rng.random() < 0.6 else rng.integers(-2, 3, size=(n, d)).astype(float)
    X = X[rng.integers(0, n, size=n)] if rng.random() < 0.3 else X
    y = np.where(rng.random(n) < rng.choice([0.1, 0.3, 0.5]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    s = None if rng.random() < 0.5 else np.where(np.arange(n) < 2, 1.0, rng.integers(0, 3, size=n))
    options = [
        {"gamma": 10.0 ** rng.uniform(-2, 1)},
        {"kernel": "linear"},
        {"kernel": "poly", "gamma": 1.0, "degree": 2},
    ]
    span = (10.0 ** rng.uniform(-5, -2), 10.0 ** rng.uniform(0, 5))
    span = span if rng.random() < 0.5 else span[::-1]
    return features(X, y, span, options[rng.integers(3)], s), span


@first_quick(3)
@pytest.mark.parametrize("seed", range(10))
def test_sides_in_exact_arithmetic(seed):
    """Before and after every event and between them no slack of the machine of these sides is negative."""
    rng = np.random.default_rng(seed)
    Z, y = rng.normal(size=(14, 4)), np.where(rng.random(14) < 0.4, 1.0, -1.0)
    Z[10:], y[:2] = Z[:4] * 10.0 ** rng.integers(0, 2), (1.0, -1.0)
    rows = Rows.of(Z, y, rng.integers(1, 4, size=14) / 2.0)
    sides = exact_sides(rows, (1e-4, 1e5))
    near = np.concatenate([sides.values * (1 - 1e-8), sides.values * (1 + 1e-8)])
    for C in np.concatenate([near, middles(sides)]):
        assert min(exact_slacks(rows, sides.at(C), C)) >= 0


def exact_slacks(rows, E, C):
    A = [[Fraction(value) for value in row] for row in rows.A.tolist()]
    s, y = [Fraction(value) for value in rows.s.tolist()], [int(value) for value in rows.y]
    r, left = len(A[0]), np.flatnonzero(E)
    M = [[sum(s[i] * A[i][k] * A[i][h] for i in left) for h in range(r)] for k in range(r)]
    c = [sum(s[i] * A[i][k] * y[i] for i in left) for k in range(r)]
    for k in range(r - 1):
        M[k][k] += 1 / (2 * Fraction(C))
    theta = solved(M, c)
    slack = [1 - y[j] * sum(a * t for a, t in zip(A[j], theta, strict=True)) for j in range(len(y))]
    return [q if E[j] else -q for j, q in enumerate(slack)]


def solved(M, c):
    """Gauss's elimination, in fractions."""
    rows = [[*row, right] for row, right in zip(M, c, strict=True)]
    for k, pivot in enumerate(rows):
        for j, row in enumerate(rows):
            if j != k:
                factor = row[k] / pivot[k]
                rows[j] = [x - factor * p for x, p in zip(row, pivot, strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def test_newton_is_asked_where_sides_turn_in_circles(monkeypatch):
    X, y, span, options, s = PROBLEMS["rbf of small width"]
    rows = features(X, y, span, options, s)
    expected = exact_sides(rows, span)
    calls = []
    ask = module._sides_at

    def counted(rows, C):
        calls.append(C)
        return ask(rows, C)

    monkeypatch.setattr(module, "_sides_at", counted)
    exact_sides(rows, span)
    assert len(calls) == 1  # at the first value; as in the walk above
    monkeypatch.setattr(module, "_CIRCLES", 0)  # every event counts as a circle
    asked = exact_sides(rows, span)
    assert len(calls) >= 2 + len(expected.values)
    np.testing.assert_allclose(asked.values, expected.values, rtol=1e-7)
    np.testing.assert_array_equal(asked.samples, expected.samples)


def test_sides_that_are_not_the_minimisers_are_refused(monkeypatch):
    X, y, span, options, s = PROBLEMS["rbf of small width"]
    rows = features(X, y, span, options, s)
    monkeypatch.setattr(module, "_sides_at", lambda rows, C: FeatureNewton(SQUARED_HINGE, rows).start().E)
    with pytest.raises(svmpath.PathError, match="cannot be resolved"):
        exact_sides(rows, (1e2, 1e1))


def test_too_few_digits_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5)) + 100.0
    y = np.where(rng.random(12) < 0.5, 1.0, -1.0)
    rows = features(X, y, (1e-4, 1e4), {"kernel": "poly", "gamma": 20.0, "coef0": 1.0})
    with pytest.raises(svmpath.PathError, match="too few digits"):
        exact_sides(rows, (1e-4, 1e4))


def test_one_class_that_counts_has_no_events():
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 5)
    sides = exact_sides(Rows.of(rng.normal(size=(10, 3)), y, (y > 0).astype(float)), (1e-3, 1e3))
    assert len(sides.values) == 0
    assert not sides.at(1.0).any()
    np.testing.assert_array_equal(sides.breakpoints, [1e-3, 1e3])


@pytest.mark.parametrize("size", [0.1, 0.3])
@pytest.mark.parametrize("m", [1e-2, 1.0, 10.0])
@pytest.mark.parametrize("terms", [4, 5, 6])
def test_series_and_remainder(monkeypatch, terms, m, size):
    """Slacks and slopes at other mu, from their own systems, lie within what the series promises, not far within."""
    monkeypatch.setattr(fixed_sides, "_MOST_TERMS", terms)  # so few that what they leave out is seen
    rng = np.random.default_rng(0)
    rows = Rows.of(rng.normal(size=(30, 8)), np.where(rng.random(30) < 0.4, 1.0, -1.0), rng.random(30) + 0.5)
    E = rng.random(30) < 0.6
    piece = FixedSides(rows, E, m)
    for row in (3, 17, 3, 8):
        piece.flip(row)
        E[row] = not E[row]
    series = piece.series(size)
    assert series.terms == terms
    share, slope_share, power = [], [], np.arange(terms)
    for u in (-size, -0.3 * size, 0.7 * size, size):
        slack, slope = slacks(rows, E, m, u)
        slopes = series.coefs[:, 1:] @ (power[1:] * u ** power[:-1])
        share.append(np.abs(series.at(u) - slack) / (series.beta * series.remainder(abs(u))))
        slope_share.append(np.abs(slopes - slope) / (series.beta * series.slope_remainder(abs(u))))
    for each in (share, slope_share):
        assert 1e-3 < np.max(each) <= 1.0


def slacks(rows, E, m, u):
    """Slacks and their slopes by u, by definition."""
    mu, A, s = m * (1 - u) / (1 + u), rows.A[E], rows.s[E]
    D = np.diag(np.append(np.ones(A.shape[1] - 1), 0.0))
    M = A.T @ (s[:, None] * A) + mu * D
    theta = np.linalg.solve(M, A.T @ (s * rows.y[E]))
    slope = np.linalg.solve(M, D @ theta) * (2 * m / (1 + u) ** 2)
    side = np.where(E, -rows.y, rows.y)
    return side * (rows.A @ theta - rows.y), side * (rows.A @ slope)


def test_first_crossing_of_known_polynomials():
    """Zeros of (u - a)(u - b): two within a hair, none, and one beyond the end."""

    def series(*pairs):
        coefs = np.zeros((len(pairs), 12))
        for row, (scale, *zeros) in enumerate(pairs):
            coefs[row, : len(zeros) + 1] = scale * np.polynomial.polynomial.polyfromroots(zeros)
        return Series(coefs, np.zeros(len(pairs)))

    hair = series((1.0, 0.1, 0.1 + 1e-6), (1.0, 0.3, 0.4))
    u, row = first_crossing(hair, -0.3, 0.35, np.arange(2))
    assert row == 0
    assert abs(u - 0.1) < 1e-9
    assert first_crossing(hair, 0.1 + 2e-6, 0.35, np.arange(2)).row == 1
    assert first_crossing(hair, 0.1 + 2e-6, 0.29, np.arange(2)) == (0.29, None)
    above = series((1.0, 0.05, 0.05))
    above.coefs[0, 0] += 1e-8  # comes as near as this and goes away again
    assert first_crossing(above, -0.3, 0.3, np.arange(1)) == (0.3, None)
    touching = series((1.0, 0.05, 0.05))
    assert first_crossing(touching, -0.3, 0.3, np.arange(1)) == (0.3, None)
    vague = Series(series((-1.0, 0.2)).coefs, np.ones(1))
    u, row = first_crossing(vague, -0.3, 0.3, np.arange(1))
    assert row is None
    assert 0.19 < u < 0.2

"""Paths of the elastic-net hinge machine, against convex programmes, identities, limits and duality gaps."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import svmpath
from svmpath.paths.elastic import ElasticPath, FeatureEvent
from svmpath.solvers.elastic.walk import ElasticWalker
from tests import reference_elastic as reference
from tests.cases import CASES
from tests.rounding import assert_same
from tests.speed import each_once, first_quick, slow_except


def data(n=60, p=10, seed=0, balanced=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(np.arange(n) % 2, 1.0, -1.0) if balanced else np.where(rng.random(n) < 0.35, 1.0, -1.0)
    X[:, :5] += 0.5 * y[:, None]
    return X, y


def elastic(X, y, **options):
    return svmpath.trace_elastic(X, y, **options)


def cost(path, value, X, y, s=None, om=None):
    """The cost of the machine at a value, in terms of the data as given, and the lowest there is."""
    solution = path(value)
    lam1, lam2 = solution.parameters["lambda1"], solution.parameters["lambda2"]
    s = np.ones(len(y)) if s is None else s
    om = np.ones(X.shape[1]) if om is None else om
    found = reference.objective(X, y, s, om, lam1, lam2, solution.coef, solution.b)
    return found, reference.minimum(X, y, s, om, lam1, lam2)


@first_quick(2)
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("lambda2", [1.0, 1e-3, 0.0])
@pytest.mark.parametrize(("n", "p"), [(60, 10), pytest.param(30, 80, marks=pytest.mark.slow)])
def test_twenty_values_cost_what_a_convex_programme_finds(n, p, lambda2, balanced):
    X, y = data(n, p, balanced=balanced)
    path = elastic(X, y, lambda2=lambda2)
    for value in np.geomspace(*path.span, 20):
        found, lowest = cost(path, value, X, y)
        assert found <= lowest * (1 + 1e-8)
        assert found >= lowest * (1 - 1e-8)


@first_quick(1)
@pytest.mark.parametrize("balanced", slow_except([True, False], [False]))
@pytest.mark.parametrize("lambda2", [1.0, 1e-3, 0.0])
def test_gap_at_every_breakpoint_and_between(lambda2, balanced):
    X, y = data(60, 10, balanced=balanced)
    path = elastic(X, y, lambda2=lambda2)
    nodes = path.breakpoints
    assert np.all(np.diff(nodes) < 0)
    assert len(nodes) > 50
    for value in np.concatenate([nodes, (nodes[1:] + nodes[:-1]) / 2]):
        solution = path(value)
        assert solution.gap <= 1e-9
        assert solution.violation <= 1e-8
    path.check()
    assert path.perturbation == 0


@first_quick(1)
@pytest.mark.parametrize("over", ["lambda2", "ray"])
def test_lambda2_and_rays_cost_what_a_convex_programme_finds(over):
    X, y = data(50, 12)
    options = {"lambda1": 2.0, "span": (100, 0.1)} if over == "lambda2" else {"l1_ratio": 0.3}
    path = elastic(X, y, over=over, **options)
    for value in np.geomspace(*path.span, 12):
        found, lowest = cost(path, value, X, y)
        assert found == pytest.approx(lowest, rel=1e-8)
    path.check()


def test_over_lambda2_coefficients_are_linear_in_its_reciprocal():
    X, y = data()
    path = elastic(X, y, over="lambda2", lambda1=2.0, span=(50, 0.1))
    nodes = path.breakpoints
    k = int(np.argmax(nodes[:-1] - nodes[1:]))
    a, b = nodes[k] * (1 - 1e-9), nodes[k + 1] * (1 + 1e-9)
    middle = 2 / (1 / a + 1 / b)
    mean = (path(a).coef + path(b).coef) / 2
    np.testing.assert_allclose(path(middle).coef, mean, atol=1e-10)
    assert np.abs(path((a + b) / 2).coef - mean).max() > 1e-6  # and not linear in lambda2 itself


def test_three_kinds_of_path_meet():
    X, y = data(40, 15)
    by_1 = elastic(X, y, lambda2=0.7)(1.5)
    by_2 = elastic(X, y, over="lambda2", lambda1=1.5, span=(10, 0.1))(0.7)
    by_ray = elastic(X, y, over="ray", l1_ratio=1.5 / 2.2)(2.2)
    for other in (by_2, by_ray):
        np.testing.assert_allclose(by_1.coef, other.coef, atol=1e-11)
        assert by_1.b == pytest.approx(other.b, abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_first_value_is_the_linear_programme_of_the_start(seed):
    rng = np.random.default_rng(seed)
    X, y = data(30, 8, seed)
    if seed % 2:
        X = rng.integers(-1, 2, size=X.shape).astype(float)
    s, om = rng.exponential(size=30) + 0.1, rng.exponential(size=8) + 0.1
    path = elastic(X, y, lambda2=0.5, sample_weight=s, penalty_factor=om)
    assert path.span[0] == pytest.approx(reference.largest_lambda1(X, y, s, om), rel=1e-7)
    assert len(path(path.span[0]).features) == 0
    assert len(path(path.span[0] * 0.99).features) > 0


def test_above_the_first_value_the_machine_is_constant():
    X, y = data()
    first = elastic(X, y).span[0]
    path = elastic(X, y, span=(3 * first, 0.5 * first))
    assert path.breakpoints[1] == pytest.approx(first, rel=1e-12)
    for value in (3 * first, 1.5 * first, first):
        solution = path(value)
        assert not solution.coef.any()
        assert solution.b == pytest.approx(-1.0)  # the heavier class
        assert solution.gap <= 1e-12
    assert path.breakpoints[0] == 3 * first


def test_balanced_classes_begin_with_the_middle_of_the_offsets():
    X, y = data(balanced=True)
    path = elastic(X, y, span=(1e4, 1.0))
    assert path(1e4).b == 0.0


def test_lambda2_zero_is_the_limit():
    X, y = data(40, 20)
    exact, near = elastic(X, y, lambda2=0.0), elastic(X, y, lambda2=1e-9)
    for value in np.geomspace(*exact.span, 9)[1:-1] * 1.00123:
        np.testing.assert_allclose(exact(value).coef, near(value).coef, atol=1e-5)
    assert (
        np.count_nonzero(np.abs(np.diff(exact.coefs(exact.breakpoints)[0], axis=0)).max(axis=1) > 1e-3) > 5
    )  # it jumps


@each_once
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("lambda2", [1.0, 0.0])
def test_hard_cases(name, lambda2):
    X, y, s = CASES[name]()
    path = elastic(X, y, sample_weight=s, lambda2=lambda2)
    path.check()
    for value in path.breakpoints[:: max(len(path.breakpoints) // 15, 1)]:
        assert path(value).gap <= 1e-8
    value = path.breakpoints[len(path.breakpoints) // 2]
    found, lowest = cost(path, value, X, y, s)
    assert found == pytest.approx(lowest, rel=1e-7, abs=1e-7 * s.sum())


def test_span_in_either_direction_and_down_to_zero():
    X, y = data(40, 6)
    down, up = elastic(X, y, span=(20, 0)), elastic(X, y, span=(0, 20))
    assert_same(down.breakpoints, up.breakpoints[::-1])
    assert [event.sample for event in down.events()] == [event.sample for event in up.events()][::-1]
    assert_same([event.value for event in down.events()], [event.value for event in up.events()][::-1])
    np.testing.assert_allclose(down(0).coef, up(0).coef)
    found, lowest = cost(down, 0.0, X, y)
    assert found == pytest.approx(lowest, rel=1e-8)


def test_events_lead_from_place_to_place():
    X, y = data()
    path = elastic(X, y)
    place, kinds = {}, set()
    for event in path.events():
        key = (isinstance(event, FeatureEvent), event.sample)
        assert place.get(key, event.source) == event.source
        assert event.source != event.target
        place[key] = event.target
        kinds |= {event.source, event.target}
    assert kinds == {"zero", "active", "right", "elbow", "left"}
    solution = path(path.span[1])
    active = {index for (feature, index), where in place.items() if feature and where == "active"}
    assert active >= set(solution.features.tolist())
    elbow = [index for (feature, index), where in place.items() if not feature and where == "elbow"]
    np.testing.assert_allclose(y[elbow] * solution(X[elbow]), 1.0, atol=1e-10)


def test_weights_are_copies():
    X, y = data(25, 4)
    times = np.where(np.arange(25) % 3 == 0, 3, 1)
    whole = elastic(np.repeat(X, times, axis=0), np.repeat(y, times), lambda2=0.5, span=(20, 0.5))
    weighted = elastic(X, y, lambda2=0.5, sample_weight=times, span=(20, 0.5))
    for value in np.geomspace(20, 0.5, 7):
        np.testing.assert_allclose(whole(value).coef, weighted(value).coef, atol=1e-10)


def test_class_weights():
    X, y = data()
    path = elastic(X, y, class_weight="balanced", lambda2=0.1)
    s = np.where(y > 0, 60 / (2 * np.sum(y > 0)), 60 / (2 * np.sum(y < 0)))
    found, lowest = cost(path, path.span[0] / 7, X, y, s)
    assert found == pytest.approx(lowest, rel=1e-8)
    assert path(path.span[0]).b == pytest.approx(0.0, abs=1e-12)


@first_quick(1)
@pytest.mark.parametrize("lambda2", [2.0, 0.0])
def test_unpenalised_features_are_always_used(lambda2):
    X, y = data(80, 8)
    X, y = X, np.where(np.random.default_rng(3).random(80) < 0.3, -y, y)
    om = np.array([0.0, 1.0, 0.5, 1.0, 0.0, 2.0, 1.0, 1.0])
    path = elastic(X, y, penalty_factor=om, lambda2=lambda2)
    assert path(path.span[0]).features.tolist() == [0, 4]
    for value in np.geomspace(*path.span, 8):
        found, lowest = cost(path, value, X, y, om=om)
        assert found == pytest.approx(lowest, rel=1e-8)
    path.check()


def test_lambda1_zero_is_the_linear_hinge_machine():
    X, y = data(50, 4)
    path = elastic(X, y, over="lambda2", lambda1=0.0, span=(10, 0.1))
    kernel = svmpath.trace(X, y, loss="hinge", kernel="linear", span=(0.1, 10))
    for value in (10, 1.3, 0.1):
        np.testing.assert_allclose(path(value).fitted, kernel(1 / value).fitted, atol=1e-8)
    ray = elastic(X, y, over="ray", l1_ratio=0.0, span=(10, 0.1))
    np.testing.assert_allclose(ray(1.3).coef, path(1.3).coef, atol=1e-10)


def test_standardised_columns():
    X, y = data()
    scale = np.linspace(0.1, 100, 10)
    path = elastic(X * scale, y, standardize=True)
    plain = elastic(X / X.std(axis=0), y)
    for value in np.geomspace(*plain.span, 5):
        np.testing.assert_allclose(path(value).coef * scale * X.std(axis=0), plain(value).coef, atol=1e-9)
        np.testing.assert_allclose(path(value)(X * scale), plain(value)(X / X.std(axis=0)), atol=1e-9)


@pytest.mark.parametrize("standardize", slow_except([False, True], [True]))
def test_sparse_rows_give_the_same_path(standardize):
    rng = np.random.default_rng(0)
    X = sparse.random(40, 100, density=0.1, random_state=0, format="csr")
    y = np.where(rng.random(40) < 0.4, 1.0, -1.0)
    for lambda2 in (0.5, 0.0):
        options = {"lambda2": lambda2, "standardize": standardize}
        held, dense = elastic(X, y, **options), elastic(X.toarray(), y, **options)
        assert not isinstance(held.problem.design.Z, np.ndarray)
        value = np.sqrt(dense.span[0] * dense.span[1])
        assert held.span[0] == pytest.approx(dense.span[0], rel=1e-10)
        held.check()
        if lambda2:
            np.testing.assert_allclose(held(value).coef, dense(value).coef, atol=1e-10)
        np.testing.assert_allclose(held(value)(X), held(value)(X.toarray()), atol=1e-12)


def test_float32_and_string_labels():
    X, y = data()
    labels = np.where(y > 0, "yes", "no")
    path = elastic(X.astype(np.float32), labels)
    assert path.classes.tolist() == ["no", "yes"]
    np.testing.assert_allclose(path(1.0).coef, elastic(X, y)(1.0).coef, atol=1e-4)


@pytest.mark.slow
def test_far_columns_are_no_harder():
    X, y = data()
    near, far = elastic(X, y), elastic(X + 1e6, y)
    for value in np.geomspace(0.99 * near.span[0], 1.01 * near.span[1], 5):
        np.testing.assert_allclose(near(value).coef, far(value).coef, atol=1e-7)
    far.check()


def test_max_features_is_kept_where_a_walk_is_lost(monkeypatch):
    X, y = data(50, 30)
    whole, walk = elastic(X, y, max_features=4), ElasticWalker._to
    middle = float(np.mean(whole.span))

    def lost(self, line, end, most_features, record):
        if most_features <= 0:
            return walk(self, line, end, most_features, record)
        walk(self, line, max(end, middle), most_features, record)
        raise svmpath.PathError("lost")

    monkeypatch.setattr(ElasticWalker, "_to", lost)
    path = elastic(X, y, max_features=4)
    assert path.span[1] == pytest.approx(middle)
    np.testing.assert_allclose(path(middle).coef, whole(middle).coef, atol=1e-9)


def test_max_features_ends_the_path():
    X, y = data(50, 30)
    path = elastic(X, y, max_features=4)
    whole = elastic(X, y)
    assert path.span[1] > whole.span[1]
    used = [len(path(value).features) for value in path.breakpoints]
    assert max(used) == 4
    assert len(whole(path.span[1] * (1 - 1e-9)).features) == 5
    np.testing.assert_allclose(path(path.span[1]).coef, whole(path.span[1]).coef, atol=1e-10)
    with pytest.raises(ValueError, match="outside the span"):
        path(whole.span[1])


def test_one_walk_gives_the_coefficients_at_many_values():
    X, y = data()
    for lambda2 in (1.0, 0.0):
        path = elastic(X, y, lambda2=lambda2)
        values = np.geomspace(*path.span, 40) * 0.9999 + 1e-4
        coef, b = path.coefs(values)
        for k in (0, 11, 39):
            np.testing.assert_allclose(coef[k], path(values[k]).coef, atol=1e-10)
            assert b[k] == pytest.approx(path(values[k]).b, abs=1e-9)


@pytest.mark.parametrize("lambda2", [1.0, 0.0])
def test_removing_a_sample_ends_at_the_machine_of_the_others(lambda2):
    X, y = data(30, 6)
    for i in (0, 7, 13):
        path = elastic(X, y, over="weight", sample=i, lambda1=1.0, lambda2=lambda2)
        path.check()
        rest = np.arange(30) != i
        found, lowest = cost(path, 0.0, X, y, rest.astype(float))
        assert found == pytest.approx(lowest, rel=1e-8)


def test_perturbed_walks_are_as_good(monkeypatch):
    """The fallback, which no data here asks for."""
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(40, 8)).astype(float)
    y = np.where(rng.random(40) < 0.4, 1.0, -1.0)
    monkeypatch.setattr("svmpath.solvers.elastic.walk.ATTEMPTS", ((1e-7, 1e-10),))
    for lambda2 in (1.0, 0.0):
        path = elastic(X, y, lambda2=lambda2)
        assert path.perturbation == 1e-10
        assert max(path(value).gap for value in path.breakpoints) <= 1e-8
        path.check(1e-7)


def few_values(seed):
    """Integer columns, standardised and stored in single precision: rows depend on each other to about 1e-8."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(30, 120)), int(rng.integers(6, 21))
    X = rng.integers(0, rng.integers(2, 6, size=p), size=(n, p)).astype(float)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32).astype(float)
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


@first_quick(2)
@pytest.mark.parametrize(("seed", "lambda2"), [(16, 0.0), (40, 0.0), (66, 1.0), (71, 1e-3), (71, 1.0), (90, 1e-3)])
def test_integers_in_single_precision(seed, lambda2):
    """An elbow system that is nearly singular, on which a walk that was not measured ended anywhere."""
    X, y = few_values(seed)
    path = elastic(X, y, lambda2=lambda2)
    values = np.geomspace(*path.span, 10)
    assert max(path(value).gap for value in [*values, *path.breakpoints[::20]]) <= 1e-8
    for value in values[[4, 9]]:
        found, lowest = cost(path, value, X, y)
        assert found == pytest.approx(lowest, rel=1e-7)
    held = svmpath.criteria.kfold(path, values[3:6], cv=3)
    assert np.isfinite(held.scores).all()


@each_once
@pytest.mark.parametrize("distance", [1e-15, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("lambda2", [1.0, 1e-3, 0.0])
def test_rows_that_are_nearly_copies(distance, lambda2):
    """With equal and with contradictory labels."""
    rng = np.random.default_rng(5)
    X, y = data(30, 8)
    X = np.vstack([X, X[:20] + distance * rng.normal(size=(20, 8))])
    y = np.concatenate([y, y[:10], -y[10:20]])
    path = elastic(X, y, lambda2=lambda2)
    nodes = path.breakpoints
    assert max(path(value).gap for value in nodes[:: max(len(nodes) // 40, 1)]) <= 1e-8


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize(("over", "options"), [("lambda1", {"lambda2": 1e-3}), ("lambda2", {"lambda1": 1.0})])
def test_machines_without_any_walk(monkeypatch, over, options):
    """The last resort, at every value: each is solved for directly, and optimal."""
    monkeypatch.setattr("svmpath.solvers.elastic.walk.ElasticWalker._attempts", lambda *_: None)
    X, y = data()
    span = (30.0, 0.5)
    path = elastic(X, y, over=over, span=span, **options)
    for value in (20.0, 5.0, 1.0, 0.5):
        assert path(value).gap <= 1e-8
        found, lowest = cost(path, value, X, y)
        assert found == pytest.approx(lowest, rel=1e-7)
    assert path.leaps > 0
    assert len(path(5.0).features) < 10 or over == "lambda2"  # zero coefficients are exactly zero


def test_no_machine_says_what_to_do(monkeypatch):
    monkeypatch.setattr("svmpath.paths.elastic_record._LARGEST_GAP", -1.0)
    X, y = data()
    path = elastic(X, y)
    monkeypatch.setattr("svmpath.paths.elastic_record._GOOD_GAP", -1.0)
    monkeypatch.setattr("svmpath.paths.elastic_record._badness", lambda solution: np.inf)
    with pytest.raises(svmpath.PathError, match="standardize=True"):
        path(1.0)


def test_paths_and_solutions_are_pickled():
    X, y = data()
    path = elastic(X, y)
    again = pickle.loads(pickle.dumps(path))
    assert_same(again(1.0).coef, path(1.0).coef)
    solution = pickle.loads(pickle.dumps(path(1.0)))
    assert_same(solution(X), path(1.0)(X))
    assert "features are used" in repr(solution)
    assert "10 features" in repr(again)
    assert isinstance(again, ElasticPath)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "gamma"}, "over must be one of 'lambda1', 'lambda2', 'ray', 'weight'; got 'gamma'"),
        ({"over": "C"}, "over must be one of 'lambda1', 'lambda2', 'ray', 'weight'; got 'C'"),
        ({"over": "lambda2"}, "needs lambda1"),
        ({"over": "lambda1", "lambda1": 1.0}, "leave lambda1= out"),
        ({"over": "ray", "lambda2": 1.0}, "leave lambda2= out"),
        ({"l1_ratio": 0.5}, "l1_ratio= works with over='ray' only"),
        ({"over": "ray", "l1_ratio": 1.5}, "from 0 to 1"),
        ({"lambda2": -1.0}, "lambda2 must be a number >= 0"),
        ({"penalty_factor": [1.0]}, "one number per feature"),
        ({"penalty_factor": -np.ones(10)}, "finite numbers >= 0"),
        ({"max_features": 0}, "max_features must be a whole number >= 1"),
        ({"span": (1, 1)}, "two different"),
        ({"span": (1, -1)}, "numbers >= 0"),
        ({"over": "lambda2", "lambda1": 1, "span": (1, 0)}, "positive numbers"),
        ({"sample": 3}, "sample= works with over='weight' only"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        elastic(X, y, **options)


def test_trace_names_the_function_of_the_elastic_hinge():
    X, y = data()
    with pytest.raises(ValueError, match=r"use svmpath.trace_elastic or svmpath.ElasticNetSVC"):
        svmpath.trace(X, y, loss="elastic_hinge")


def test_bad_data_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="NaN"):
        elastic(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="only one class"):
        elastic(X, np.ones(60))
    with pytest.raises(ValueError, match="two classes, but y has 60"):
        elastic(X, np.arange(60.0))
    with pytest.raises(ValueError, match="one coefficient per feature"):
        elastic(X, y)(1.0).compress(3)

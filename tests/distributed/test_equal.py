"""On rows in chunks everything comes out as in memory."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import softmax

import svmpath
from svmpath import ChunkWarning, PathError, PathSVC, PathSVR, criteria
from svmpath.distributed import fit_scaler, read, with_classes
from svmpath.gram import Nystroem, RandomFourier
from svmpath.row_order import random_order
from tests.distributed.chunks import SIZES, N, amounts, cut, moons
from tests.rounding import assert_same
from tests.speed import each_once, first_quick, slow_except

VALUES = np.geomspace(1e-3, 1e3, 9)
CRITERIA = {"squared_hinge": criteria.span, "least_squares": criteria.press}
pytestmark = pytest.mark.filterwarnings("ignore::svmpath.ChunkWarning")


def both(X, y, sizes, **options):
    """The path in memory and the path of chunks."""
    options = {"span": (1e-3, 1e3), "gamma": 0.4, "rank": 40, "landmarks": "uniform", "random_state": 1, **options}
    weights = options.pop("sample_weight", None)
    whole = svmpath.trace(X, y, sample_weight=weights, **options)
    weights = None if weights is None else cut(weights, sizes)
    return whole, svmpath.trace(cut(X, sizes), cut(y, sizes), sample_weight=weights, **options)


def assert_equal_paths(whole, chunked, criterion):
    expected = whole.decisions(VALUES)
    assert np.abs(chunked.decisions(VALUES).compute() - expected).max() < 1e-6
    curve, curve_of_chunks = criterion(whole, VALUES), criterion(chunked, VALUES)
    assert np.allclose(curve_of_chunks.scores, curve.scores, rtol=1e-12, atol=0)  # the same held-out counts
    assert np.allclose(curve_of_chunks.standard_errors, curve.standard_errors, rtol=1e-9)
    assert np.allclose(curve_of_chunks.smooth, curve.smooth, rtol=1e-5)
    assert np.abs(curve_of_chunks.decisions.compute() - curve.decisions).max() < 1e-6
    assert svmpath.select(curve_of_chunks).value == svmpath.select(curve).value
    assert abs(chunked.residual - whole.residual) < 1e-9


@each_once
@pytest.mark.parametrize("cutting", slow_except(list(SIZES), ["uneven", "empty"]))
@pytest.mark.parametrize("loss", list(CRITERIA))
def test_any_chunks(loss, cutting):
    whole, chunked = both(*moons(), SIZES[cutting], loss=loss)
    assert_equal_paths(whole, chunked, CRITERIA[loss])
    X_new = np.random.default_rng(5).normal(size=(50, 3))
    assert np.abs(whole(0.3)(X_new) - chunked(0.3)(X_new)).max() < 1e-9


@first_quick(1)
@pytest.mark.parametrize("loss", list(CRITERIA))
def test_a_chunk_with_one_class(loss):
    X, y = moons()
    order = np.argsort(y, kind="stable")  # chunks with one class
    assert_equal_paths(*both(X[order], y[order], SIZES["three"], loss=loss), CRITERIA[loss])


@first_quick(1)
@pytest.mark.parametrize("loss", list(CRITERIA))
def test_weights(loss):
    X, y = moons()
    s = np.random.default_rng(2).integers(0, 4, N).astype(float)
    whole, chunked = both(X, y, SIZES["three"], loss=loss, sample_weight=s, class_weight="balanced")
    assert_equal_paths(whole, chunked, CRITERIA[loss])
    whole, chunked = both(X, y, SIZES["three"], loss=loss, class_weight={"no": 1.0, "yes": 3.0})
    assert_equal_paths(whole, chunked, CRITERIA[loss])


def test_tiny_weights():
    X, y = moons()
    s, unit = np.random.default_rng(2).integers(1, 4, N).astype(float), 1e-22
    _, chunked = both(X, y, SIZES["three"], sample_weight=s)
    _, tiny = both(X, y, SIZES["three"], sample_weight=unit * s, span=(1e-3 / unit, 1e3 / unit))
    for C in (1e-2, 1.0, 1e2):
        assert np.abs(chunked(C)(X) - tiny(C / unit)(X)).max() < 1e-8
        assert tiny.violation(C / unit) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_hinge"])
def test_errors_are_screened_as_in_memory(loss):
    X, y = moons(n=3600)
    whole, chunked = both(X, y, (1000, 2600), loss=loss)
    curve = criteria.span(whole, VALUES)
    assert curve.screened is not None
    assert chunked.is_screened(criteria.span(chunked, VALUES).loss)
    assert_equal_paths(whole, chunked, criteria.span)


def test_repeated_rows():
    X, y = moons(n=200)
    X, y = np.vstack([X, X, X]), np.concatenate([y, y, y])
    assert_equal_paths(*both(X, y, (250, 350)), criteria.span)


def test_regression():
    X, y = amounts()
    assert_equal_paths(*both(X, y, SIZES["three"]), criteria.press)


@first_quick(1)
@pytest.mark.parametrize("name", ["squared", "squared_hinge", "logistic"])
def test_other_held_out_losses(name):
    whole, chunked = both(*moons(), SIZES["three"])
    scores = criteria.span(whole, VALUES, loss=name).scores
    assert np.allclose(criteria.span(chunked, VALUES, loss=name).scores, scores, rtol=1e-9)


@first_quick(2)
@pytest.mark.parametrize(
    "options",
    [
        {"rank": Nystroem(40, "uniform", truncate=20)},
        {"rank": RandomFourier(60)},
        {"rank": None, "landmarks": [400, 3, 77, 12]},
        {"rank": 30, "kernel": "poly", "degree": 2, "coef0": 1.0},
        {"rank": 3, "kernel": "linear"},
        {"rank": 40, "gamma": "scale"},
    ],
    ids=["truncated", "fourier", "rows", "poly", "linear", "scale"],
)
def test_kernels_and_approximations(options):
    options = {"landmarks": None if not isinstance(options["rank"], int) else "uniform", **options}
    whole, chunked = both(*moons(), SIZES["three"], **options)
    # Random Fourier features have no trace to miss.
    expected = whole.decisions(VALUES)
    assert np.abs(chunked.decisions(VALUES).compute() - expected).max() < 1e-6
    assert np.allclose(criteria.span(chunked, VALUES).scores, criteria.span(whole, VALUES).scores, rtol=1e-12)


def test_a_far_away_origin_costs_no_digits():
    X, y = moons()
    whole, chunked = both(X + 300.0, y, SIZES["three"], kernel="linear", gamma=None, rank=3)
    centred, _ = both(X, y, SIZES["three"], kernel="linear", gamma=None, rank=3)
    found = chunked.decisions(VALUES).compute()
    assert np.abs(found - whole.decisions(VALUES)).max() < 1e-6
    assert np.abs(found - centred.decisions(VALUES)).max() < 1e-6


def test_landmarks_are_the_rows_that_they_are_in_memory():
    X, y = moons()
    data = with_classes(read(cut(X, SIZES["uneven"]), cut(y, SIZES["uneven"]), None, True), None)
    assert np.array_equal(data.sample(50, 7), np.sort(random_order(X, seed=7)[:50]))
    rows = data.sample(50, 7)
    assert np.array_equal(data.take(rows)[0], X[rows])


def test_values_in_any_order_and_twice():
    _, chunked = both(*moons(), SIZES["three"])
    up, down = chunked.decisions(VALUES).compute(), chunked.decisions(VALUES[::-1]).compute()
    assert_same(up[::-1], down)
    assert np.abs(chunked(VALUES[4])(moons()[0]) - up[4]).max() < 1e-9


def test_a_large_C_at_once():
    # Straight to C = 1e4 took more than 300 steps here, and C = 1e6 was not found at all.
    X = np.random.default_rng(0).normal(size=(2000, 3))
    X[:, 0] += 2.5 * np.sign(X[:, 0])
    y = X[:, 0] > 0
    whole, chunked = both(X, y, (1000, 1000), rank=80, gamma=0.3, span=(1e-3, 1e9))
    assert np.abs(chunked(1e6)(X) - whole(1e6)(X)).max() < 1e-6
    assert chunked.passes["newton-step"] < 60
    assert np.abs(chunked(1.0)(X) - whole(1.0)(X)).max() < 1e-6
    few = both(X, y, (1000, 1000), rank=80, gamma=0.3, span=(1e-3, 1e9))[1]
    few(1e-3)
    few(1.0)
    assert few.passes["newton-step"] <= 12  # ordinary values of C have no stages


@first_quick(1)
@pytest.mark.parametrize("loss", list(CRITERIA))
def test_a_path_can_be_checked(loss):
    _, chunked = both(*moons(), SIZES["three"], loss=loss)
    chunked.check()
    C = float(chunked.breakpoints[3])
    chunked.found[C] = chunked._at(C) + 1e-3
    if loss == "squared_hinge":
        point = chunked._last["points"][0]
        assert replace(point, theta=point.theta + 1e-3).step(1.0)[1] > 1e-3
    else:
        with pytest.raises(PathError, match="not optimal at C"):
            chunked.check()


# --- estimators ------------------------------------------------------------------------------------------------------


@each_once
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("loss", list(CRITERIA))
def test_classifiers(loss, classes):
    X, y = moons(n=900, classes=classes)
    options = {"loss": loss, "gamma": 0.4, "C": np.geomspace(1e-2, 1e2, 7).tolist(), "rank": 40, "random_state": 3}
    whole = PathSVC(search="grid", **uniform(options)).fit(X, y)
    chunked = PathSVC(**options).fit(cut(X, (300, 100, 500)), cut(y, (300, 100, 500)))
    X_new = np.random.default_rng(5).normal(size=(80, 3))
    assert whole.C_ == chunked.C_
    assert np.allclose(whole.curve_.scores, chunked.curve_.scores, rtol=1e-12)
    assert np.abs(whole.decision_function(X_new) - chunked.decision_function(X_new)).max() < 1e-6
    assert np.array_equal(whole.predict(X_new), chunked.predict(X_new))
    assert np.abs(whole.predict_proba(X_new) - chunked.predict_proba(X_new)).max() < 1e-6
    assert np.allclose(whole._held_out.as_chosen().rescored(None).scores[0], chunked.held_out_error())
    assert chunked.sample_size_ == 0
    assert chunked.rank_ == whole.rank_ == 40
    assert len(chunked.cv_results_["params"]) == len(chunked.search_table_) == 7


@pytest.mark.slow
def test_several_classes_are_screened_as_in_memory():
    X, y = moons(n=3300, classes=3)
    options = {"loss": "squared_hinge", "gamma": 0.4, "C": [0.01, 1.0, 100.0], "rank": 40, "random_state": 3}
    whole = PathSVC(search="grid", **uniform(options)).fit(X, y)
    chunked = PathSVC(**options).fit(cut(X, (1100,) * 3), cut(y, (1100,) * 3))
    assert whole.C_ == chunked.C_
    assert np.allclose(whole.curve_.scores, chunked.curve_.scores, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_column_of_many_rows_stays_as_it_is(weighted):
    """A sum of many equal numbers is rounded, so that their mean is none of them."""
    X = np.random.default_rng(0).normal(size=(60_000, 2))
    X[:, 1], s = 0.1, np.ones(len(X))
    if weighted:
        X[::2, 1], s[::2] = 7.0, 0.0  # rows that do not count
    y = X[:, 0] > 0
    sizes = (20_000,) * 3
    scaler = fit_scaler(read(cut(X, sizes), cut(y, sizes), cut(s, sizes), True))
    expected = StandardScaler().fit(X, sample_weight=s)
    assert scaler.scale_[1] == expected.scale_[1] == 1.0
    assert scaler.mean_[1] == 0.1
    assert np.allclose(scaler.scale_, expected.scale_, rtol=1e-12)


def test_scaled_columns_and_weights():
    X, y = moons()
    X = X * [1.0, 100.0, 0.01] + [0.0, 1e4, 3.0]
    s = np.random.default_rng(0).uniform(0.5, 2.0, N)
    options = {"gamma": "scale", "C": [0.1, 1.0, 10.0], "rank": 40, "scale": True, "random_state": 0}
    whole = PathSVC(search="grid", **uniform(options)).fit(X, y, s)
    chunked = PathSVC(**options).fit(*(cut(each, SIZES["three"]) for each in (X, y, s)))
    assert np.allclose(whole.scaler_.mean_, chunked.scaler_.mean_)
    assert np.allclose(whole.scaler_.scale_, chunked.scaler_.scale_)
    assert np.isclose(whole.gamma_, chunked.gamma_, rtol=1e-12)
    assert np.abs(whole.decision_function(X) - chunked.decision_function(X)).max() < 1e-6


@first_quick(1)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 1.0, "yes": 3.0}], ids=str)
def test_weights_are_relative_where_C_is_tuned(class_weight):
    X, y = moons()
    s = np.random.default_rng(0).uniform(0.5, 2.0, N) * (np.arange(N) % 5 > 0)
    options = {"gamma": "scale", "C": [0.1, 1.0, 10.0], "rank": 40, "random_state": 0, "class_weight": class_weight}
    whole = PathSVC(loss="least_squares", search="grid", **uniform(options)).fit(X, y, s)
    for factor in (1.0, 1e-3, 1e3, 1 / N):
        chunks = (cut(each, SIZES["three"]) for each in (X, y, factor * s))
        chunked = PathSVC(loss="least_squares", **options).fit(*chunks)
        assert chunked.C_ == whole.C_
        assert np.isclose(chunked.gamma_, whole.gamma_, rtol=1e-12)
        assert np.abs(whole.decision_function(X) - chunked.decision_function(X)).max() < 1e-6
        assert np.abs(whole.predict_proba(X) - chunked.predict_proba(X)).max() < 1e-6


def test_weights_of_a_regression_in_chunks_are_relative_where_C_is_tuned():
    X, _ = moons()
    y, s = X[:, 0] + 0.5 * X[:, 1], np.random.default_rng(0).uniform(0.5, 2.0, N)
    one, other, given = (
        PathSVR(gamma="scale", C=C, rank=40, random_state=0).fit(*(cut(each, SIZES["three"]) for each in (X, y, w)))
        for C, w in (([0.1, 1.0], s), ([0.1, 1.0], 1e-3 * s), (1.0, s))
    )
    assert one.C_ == other.C_ == 1.0
    assert np.abs(one.predict(X) - other.predict(X)).max() < 1e-8
    assert one.path_.problem.weight == pytest.approx(N)
    assert given.path_.problem.weight == pytest.approx(s.sum())


def test_a_linear_regressor_has_coefficients():
    X, y = amounts()
    options = {"kernel": "linear", "C": [0.1, 1.0], "rank": 3, "scale": True, "random_state": 0}
    whole = PathSVR(search="grid", **uniform(options)).fit(X, y)
    chunked = PathSVR(**options).fit(cut(X, SIZES["three"]), cut(y, SIZES["three"]))
    assert np.allclose(whole.coef_, chunked.coef_, atol=1e-8)
    assert np.allclose(whole.intercept_, chunked.intercept_, atol=1e-8)
    assert np.allclose(X @ chunked.coef_[0] + chunked.intercept_[0], chunked.predict(X))
    assert np.isclose(whole.held_out_error(), chunked.held_out_error(), rtol=1e-10)


@pytest.mark.slow
def test_gamma_and_rank_are_chosen_on_a_sample(monkeypatch):
    monkeypatch.setattr("svmpath.estimators.chunks._SAMPLED_ROWS", 400)
    X, y = moons(n=1500)
    model = PathSVC(random_state=0).fit(cut(X, (500,) * 3), cut(y, (500,) * 3))
    assert model.sample_size_ == 400
    rows = read(cut(X, (500,) * 3), cut(y, (500,) * 3), None, True).sample(
        400, int(np.random.RandomState(0).randint(2**31 - 1))
    )
    in_memory = PathSVC(random_state=0).fit(X[rows], y[rows])
    assert model.gamma_ == in_memory.gamma_
    assert model.held_out_error() < 0.2
    stages = model.search_table_.groupby("stage", sort=False).size()
    assert list(stages.index) == ["screen", "confirm"]
    assert model.search_table_["kept"].sum() >= 1
    assert model.path_.problem.n == 1500  # C was chosen on all rows


def test_a_sample_has_rows_of_rare_classes(monkeypatch):
    monkeypatch.setattr("svmpath.estimators.chunks._SAMPLED_ROWS", 300)
    X, _ = moons(n=3000)
    y = np.zeros(3000, dtype=int)
    y[[700, 2900]] = 1
    X[y == 1] += 3.0
    data = with_classes(read(cut(X, (1000,) * 3), cut(y, (1000,) * 3), None, True), None)
    assert not y[data.sample(300, 0)].any()
    rows = data.sample_of_classes(300, 0)
    assert np.array_equal(rows, np.union1d(data.sample(300, 0), [700, 2900]))
    seeds = [seed for seed in range(20) if not y[data.sample(300, drawn(seed))].any()]
    options = {"loss": "squared_hinge", "gamma": [0.1, 0.4], "C": [0.1, 1.0], "rank": 20, "random_state": seeds[0]}
    model = PathSVC(**options).fit(cut(X, (1000,) * 3), cut(y, (1000,) * 3))
    assert model.sample_size_ == 302
    assert model.gamma_ in (0.1, 0.4)


def uniform(options):
    """Options in memory for what chunks do by themselves: uniform landmarks."""
    return {**options, "rank": Nystroem(options["rank"], "uniform")}


def drawn(seed):
    """The seed that an estimator draws from its random_state."""
    return int(np.random.RandomState(seed).randint(2**31 - 1))


def test_landmarks_that_are_not_in_the_sample(monkeypatch):
    monkeypatch.setattr("svmpath.estimators.chunks._SAMPLED_ROWS", 300)
    X, y = moons()
    given = [5, 600, 30, 40, 650]  # the sample has no row 600
    options = {"gamma": [0.2, 0.4], "C": [0.1, 1.0], "rank": Nystroem(landmarks=given), "random_state": 0}
    model = PathSVC(loss="squared_hinge", **options)
    model.fit(cut(X, SIZES["three"]), cut(y, SIZES["three"]))
    assert model.sample_size_ == 300
    whole = svmpath.trace(X, y, gamma=model.gamma_, rank=None, landmarks=given)
    assert np.abs(model.decision_function(X) - whole(model.C_)(X)).max() < 1e-6


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("loss", list(CRITERIA))
def test_features_in_single_precision_and_made_anew(monkeypatch, loss):
    X, y = moons(n=900)
    options = {"loss": loss, "gamma": 0.4, "C": [0.1, 1.0, 10.0], "rank": 40, "random_state": 3}
    models = {}
    for limit in (None, 250_000, 50_000):
        said = []
        monkeypatch.setattr(PathSVC, "_log", lambda _, sentence, said=said: said.append(sentence))
        with svmpath.config_context(memory_limit=limit):
            models[limit] = PathSVC(**options).fit(cut(X, (300,) * 3), cut(y, (300,) * 3))
        words = {None: "double precision", 250_000: "single precision", 50_000: "made anew"}[limit]
        assert any(words in sentence for sentence in said)
    f = models[None].decision_function(X)
    assert np.abs(models[50_000].decision_function(X) - f).max() < 1e-9
    assert np.abs(models[250_000].decision_function(X) - f).max() < 1e-8  # polished with exact features
    assert models[250_000].held_out_error() == pytest.approx(models[None].held_out_error())


def test_probabilities_are_those_of_their_calibration():
    X, y = moons(classes=3)
    model = PathSVC(gamma=0.4, C=[1.0], rank=30, calibration="temperature", random_state=0)
    model.fit(cut(X, SIZES["three"]), cut(y, SIZES["three"]))
    p = model.predict_proba(X[:20])
    slope = model._held_out.calibration("temperature")
    f = model.decision_function(X[:20])
    assert np.allclose(p, softmax(f * slope.slope / slope.scale), atol=1e-12)


def test_only_one_of_them_is_a_collection():
    X, y = moons()
    sizes = SIZES["three"]
    path = svmpath.trace(cut(X, sizes), y, gamma=0.4, rank=20, random_state=0)
    other = svmpath.trace(cut(X, sizes), da.from_array(y, chunks=100), gamma=0.4, rank=20, random_state=0)
    assert_same(path(1.0).w, other(1.0).w)
    with pytest.raises(TypeError, match="X must be one, too"):
        svmpath.trace(X, cut(y, sizes))


def test_a_warning_of_empty_chunks():
    X, y = moons()
    with pytest.warns(ChunkWarning, match="Chunk 1 has no rows"):
        svmpath.trace(cut(X, SIZES["empty"]), cut(y, SIZES["empty"]), gamma=0.4, rank=20)

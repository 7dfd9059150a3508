"""Predictions of chunks stay lazy, and chunks may come from anywhere."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import svmpath
from svmpath import PathSVC, PathSVR
from tests.distributed.chunks import amounts, cut, moons
from tests.rounding import assert_same
from tests.speed import first_quick

SIZES = (200, 200, 280)
OPTIONS = {"gamma": 0.4, "C": [0.1, 1.0], "rank": 20, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    X, y = moons()
    return PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))


class Counted:
    """Rows that count how often they are read."""

    def __init__(self, X):
        self.X, self.reads = X, 0
        self.shape, self.dtype, self.ndim = X.shape, X.dtype, X.ndim

    def __getitem__(self, key):
        self.reads += 1
        return self.X[key]


@first_quick(2)
@pytest.mark.parametrize("name", ["predict", "decision_function", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("classes", [2, 3])
def test_methods_are_lazy(name, classes):
    X, y = moons(classes=classes)
    model = PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    rows = Counted(X)
    chunks = da.from_array(rows, chunks=(100, 3))
    rows.reads = 0  # Dask has looked at its type
    found = getattr(model, name)(chunks)
    assert rows.reads == 0
    expected = getattr(model, name)(X)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert found.chunks[0] == (100,) * 6 + (80,)
    computed = found.compute()
    assert rows.reads == 7
    assert np.array_equal(computed, expected) if name == "predict" else np.allclose(computed, expected, atol=1e-12)


def test_a_lazy_prediction_is_of_the_model_as_it_was(model):
    X, y = moons()
    again = pickle.loads(pickle.dumps(model))
    found = again.decision_function(cut(X, SIZES))
    again.set_params(gamma=5.0).fit(cut(X, SIZES), cut(y, SIZES))
    assert np.allclose(found.compute(), model.decision_function(X), atol=1e-12)


@first_quick(2)
@pytest.mark.parametrize("kind", ["int8", "bool", "object", "datetime64[ns]", "<U5"])
def test_labels_keep_their_type(kind):
    X, y = moons()
    two = {"object": ["no", "yes"], "<U5": ["no", "yes"], "datetime64[ns]": ["2024-01-01", "2025-01-01"]}
    y = np.array(two.get(kind, [0, 1]), dtype=kind)[(y == "yes").astype(int)]
    model = PathSVC(**OPTIONS, class_weight="balanced").fit(cut(X, SIZES), cut(y, SIZES))
    assert model.classes_.dtype == y.dtype
    assert np.array_equal(model.classes_, np.unique(y))
    found = model.predict(cut(X, SIZES))
    assert found.dtype == y.dtype
    assert np.mean(found.compute() == y) > 0.8


def test_a_model_fitted_in_memory_predicts_chunks():
    X, y = amounts()
    model = PathSVR(gamma=0.4, C=[1.0]).fit(X[:200], y[:200])
    assert np.allclose(model.predict(cut(X, SIZES)).compute(), model.predict(X))


def test_empty_chunks_and_several_chunks_of_columns(model):
    X, _ = moons()
    found = model.predict_proba(da.from_array(X, chunks=((300, 0, 380), (2, 1))))
    assert np.allclose(found.compute(), model.predict_proba(X))


def test_held_out_decisions_are_lazy(model):
    held = model.held_out_decisions()
    assert held.shape == (680,)
    _, y = moons()
    wrong = np.mean((held.compute() > 0) != (y == "yes"))
    assert np.isclose(wrong, model.held_out_error())


def test_data_frames_keep_their_names():
    X, y = moons()
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=y)
    parts = dd.from_pandas(frame, npartitions=3)
    model = PathSVC(**OPTIONS).fit(parts[["a", "b", "c"]], parts["label"])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    found = model.predict(parts[["a", "b", "c"]])
    assert np.array_equal(found.compute(), model.predict(frame[["a", "b", "c"]]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(parts[["a", "c"]])
    arrays = PathSVC(**OPTIONS).fit(cut(X, (227, 227, 226)), cut(y, (227, 227, 226)))
    assert np.allclose(arrays.decision_function(X), model.decision_function(frame[["a", "b", "c"]]), atol=1e-9)


@pytest.mark.slow
def test_unknown_chunk_sizes():
    X, y = moons()
    y = (y == "yes").astype(int)
    frame = pd.DataFrame(X).assign(label=y)
    kept = dd.from_pandas(frame, npartitions=4)
    kept = kept[kept[0] < 1.0]  # nobody knows how many rows are left
    rows = frame[0].to_numpy() < 1.0
    Xd, yd = kept[[0, 1, 2]].to_dask_array(), kept["label"].to_dask_array()
    assert np.isnan(Xd.shape[0])
    path = svmpath.trace(Xd, yd, gamma=0.4, rank=20, landmarks="uniform", random_state=0)
    whole = svmpath.trace(X[rows], y[rows], gamma=0.4, rank=20, landmarks="uniform", random_state=0)
    assert np.abs(path.decisions(np.array([1.0])).compute()[0] - whole.decisions(np.array([1.0]))[0]).max() < 1e-6
    model = PathSVC(**OPTIONS).fit(Xd, y[rows])  # targets in memory
    assert np.isnan(model.predict(Xd).shape[0])
    assert len(model.predict(Xd).compute()) == rows.sum()


def test_from_files(tmp_path):
    X, y = moons()
    expected = svmpath.trace(cut(X, SIZES), y, gamma=0.4, rank=20, random_state=0)(1.0).w
    np.save(tmp_path / "X.npy", X)
    mapped = da.from_array(np.load(tmp_path / "X.npy", mmap_mode="r"), chunks=(200, 3))
    assert np.allclose(svmpath.trace(mapped, y, gamma=0.4, rank=20, random_state=0)(1.0).w, expected, atol=1e-9)
    zarr = pytest.importorskip("zarr")
    zarr.save(str(tmp_path / "X.zarr"), X)
    stored = da.from_zarr(str(tmp_path / "X.zarr")).rechunk((200, 3))
    assert np.allclose(svmpath.trace(stored, y, gamma=0.4, rank=20, random_state=0)(1.0).w, expected, atol=1e-9)
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=y)
    for at in range(3):
        frame[200 * at : 200 * (at + 1) if at < 2 else None].to_parquet(tmp_path / f"part-{at}.parquet")
    parts = dd.read_parquet(tmp_path / "part-*.parquet")
    path = svmpath.trace(parts[["a", "b", "c"]], parts["label"], gamma=0.4, rank=20, random_state=0)
    assert np.allclose(path(1.0).w, expected, atol=1e-9)


def test_saved_models_predict_and_hold_no_rows(model):
    X, _ = moons()
    saved = pickle.dumps(model)
    assert len(saved) < X.nbytes + 60_000
    loaded = pickle.loads(saved)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert_same(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.held_out_error() == model.held_out_error()


def test_tasks_have_names_that_say_what_they_do():
    from dask.callbacks import Callback
    from dask.utils import key_split

    X, y = moons()
    names = set()
    with Callback(pretask=lambda key, *_: names.add(key_split(key))), dask.config.set(scheduler="threads"):
        PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    assert {"check-chunk", "pick-rows", "make-feature-rows", "sum-moments", "newton-step", "leave-one-out"} <= names


@first_quick(1)
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_schedulers_give_the_same(scheduler):
    X, y = moons()
    with dask.config.set(scheduler=scheduler):
        model = PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    expected = PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    assert_same(model.decision_function(X), expected.decision_function(X))


@pytest.mark.filterwarnings("ignore::svmpath.EdgeWarning")
def test_a_class_that_is_missed_is_named():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)), rng.normal(1.3, 1, size=(12, 2))])
    y = np.repeat([0, 1], [300, 12])
    order = rng.permutation(312)
    rows, labels = da.from_array(X[order], chunks=(78, 2)), da.from_array(y[order], chunks=78)
    model = PathSVC(rank=20, gamma=0.5, C=1.0, random_state=0)
    with pytest.warns(svmpath.WeakModelWarning, match="of 12 rows of class 1 are found") as caught:
        model.fit(rows, labels)
    assert [each.filename for each in caught] == [__file__]
    found = model.held_out_recall()
    assert found.rows.tolist() == [300, 12]
    assert found.error == pytest.approx(model.held_out_error())


def test_no_leave_one_out_error_speaks_of_chunks(model):
    with pytest.raises(ValueError, match="as rows in chunks have only its prediction with this loss; use held_out_er"):
        model.loo_error()

"""What is wrong with a chunk is said in one sentence that names it; what cannot be done is refused before any work."""

import builtins
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import svmpath
from svmpath import ChunkWarning, PathSVC, PathSVR, criteria
from svmpath.chunked import distributed
from svmpath.distributed.cluster import out_of_memory
from tests.distributed.chunks import amounts, cut, moons
from tests.rounding import assert_same

SIZES = (200, 200, 280)


def damaged(at, value, seed=0):
    """Chunks, of which one has a fault."""
    X, y = moons(seed=seed)
    X[at] = value
    return cut(X, SIZES), cut(y, SIZES)


def from_blocks(blocks, columns=3):
    """An array whose chunks may have other shapes than they claim."""
    parts = [da.from_delayed(dask.delayed(block), (len(block), columns), float) for block in blocks]
    return da.concatenate(parts)


def fit(X, y, **options):
    return PathSVC(gamma=0.4, C=[1.0], rank=20, random_state=0, **options).fit(X, y)


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        ((250, 1), np.nan, r"Chunk 1 of 3, counted from 0 \(rows 200 to 399\) .* NaN in row 50 of the chunk, column 1"),
        ((679, 2), np.inf, r"Chunk 2 .*\(rows 400 to 679\) .* infinity in row 279"),
        ((0, 0), 1e200, r"Chunk 0 .* as large as 1e\+200"),
    ],
)
def test_a_number_that_is_none(at, value, words):
    X, y = damaged(at, value)
    for call in (fit, svmpath.trace):
        with pytest.raises(ValueError, match=words):
            call(X, y)


def test_another_number_of_columns():
    X, y = moons()
    blocks = [X[:200], np.hstack([X[200:400], X[200:400]]), X[400:]]
    with pytest.raises(ValueError, match=r"Chunk 1 of 3.* has 6 columns, but other chunks have 3"):
        fit(from_blocks(blocks), cut(y, SIZES))


def test_words_among_numbers():
    X, y = moons()
    blocks = [X[:200].astype(object), X[200:400].astype(object), X[400:].astype(object)]
    blocks[2][5, 1] = "six"
    with pytest.raises(ValueError, match=r"Chunk 2 of 3.*not a number.*'six'"):
        fit(from_blocks(blocks), cut(y, SIZES))


def test_targets_that_are_missing_or_too_many():
    X, y = moons()
    missing = y.astype(object)
    missing[420] = None
    with pytest.raises(ValueError, match=r"Chunk 2 .*y has a missing value in row 20 of the chunk"):
        fit(cut(X, SIZES), cut(missing, SIZES))
    column = dd.from_pandas(pd.Series(missing, dtype="string"), npartitions=3)  # text with pd.NA
    with pytest.raises(ValueError, match=r"Chunk 1 .*y has a missing value in row 193 of the chunk"):
        fit(cut(X, (227, 227, 226)), column)
    values = np.where(y == "yes", 1.0, 0.0)
    values[3] = np.inf
    with pytest.raises(ValueError, match=r"Chunk 0 .*y has infinity in row 3 of the chunk"):
        PathSVR(gamma=0.4, rank=20).fit(cut(X, SIZES), cut(values, SIZES))
    values[3] = np.nan
    with pytest.raises(ValueError, match=r"Chunk 0 .*y has a missing value in row 3 of the chunk"):
        PathSVR(gamma=0.4, rank=20).fit(cut(X, SIZES), cut(values, SIZES))
    with pytest.raises(ValueError, match=r"Chunk 0 .*y must hold numbers"):
        PathSVR(gamma=0.4, rank=20).fit(cut(X, SIZES), cut(y, SIZES))
    unknown = [da.from_delayed(dask.delayed(part), (np.nan,), y.dtype) for part in (y[:200], y[200:390], y[400:])]
    with pytest.raises(ValueError, match=r"Chunk 1 .* has 200 rows of X but 190 entries of y"):
        fit(cut(X, SIZES), da.concatenate(unknown, allow_unknown_chunksizes=True))
    unknown = da.concatenate(unknown[:2], allow_unknown_chunksizes=True)
    with pytest.raises(ValueError, match="X has 3 chunks and y has 2"):
        fit(cut(X, SIZES), unknown)
    with pytest.raises(ValueError, match="X has 680 rows, y 679"):
        fit(cut(X, SIZES), y[1:])


def test_a_label_that_no_other_chunk_has():
    X, y = moons()
    y = y.astype(object)
    y[450] = "yse"
    with pytest.warns(
        ChunkWarning, match=r"Chunk 2 of 3.*\(rows 400 to 679\) is the only one with label 'yse' \(1 row"
    ):
        fit(cut(X, SIZES), cut(y, SIZES))
    words = r"y has 3 \(Chunk 2 of 3.* is the only one with 'yse'\): use PathSVC"
    with pytest.raises(ValueError, match=words), pytest.warns(ChunkWarning):
        svmpath.trace(cut(X, SIZES), cut(y, SIZES), rank=20)
    y[450] = 7
    with pytest.raises(ValueError, match=r"Chunk 2 of 3.* y mixes labels of the types int and str"):
        fit(cut(X, SIZES), cut(y, SIZES))
    y[400:] = 7
    with pytest.raises(ValueError, match=r"Chunk 2 of 3.* labels that are not text"):
        fit(cut(X, SIZES), cut(y, SIZES))


def test_a_single_class_and_amounts():
    X, y = moons()
    with pytest.raises(ValueError, match=r"Chunk 0 .*labels of the type bytes, which must be text"):
        fit(cut(X, SIZES), cut(y.astype(bytes), SIZES))
    with pytest.raises(ValueError, match="only one class: 'no'"):
        fit(cut(X, SIZES), cut(np.full(len(y), "no"), SIZES))
    with pytest.raises(ValueError, match=r"Chunk 0 .*amounts.*PathSVR"):
        fit(cut(X, SIZES), cut(amounts()[1], SIZES))


def test_weights_that_are_none():
    X, y = moons()
    s = np.ones(len(y))
    s[210] = -1.0
    with pytest.raises(ValueError, match=r"Chunk 1 .*sample_weight has an entry that is not a finite number >= 0"):
        PathSVC(rank=20).fit(cut(X, SIZES), cut(y, SIZES), cut(s, SIZES))
    with pytest.raises(ValueError, match="Every sample has weight zero"):
        PathSVC(rank=20).fit(cut(X, SIZES), cut(y, SIZES), cut(np.zeros(len(y)), SIZES))


def test_sparse_chunks():
    X, y = moons()
    chunks = cut(X, SIZES).map_blocks(sparse.csr_matrix)
    with pytest.raises(ValueError, match=r"Chunk 0 of 3.* its rows are sparse, but must be dense"):
        fit(chunks, cut(y, SIZES))
    model = fit(cut(X, SIZES), cut(y, SIZES))
    assert np.array_equal(model.predict(chunks).compute(), model.predict(X))


def test_what_is_no_table():
    X, y = moons()
    rows, labels = cut(X, SIZES), cut(y, SIZES)
    model = fit(rows, labels)
    column = dd.from_pandas(pd.Series(X[:, 0]), npartitions=3)
    for flat in (rows[:, 0], column):
        for call in (model.predict, model.path_(1.0), lambda flat: fit(flat, labels)):
            with pytest.raises(ValueError, match=r"X must have two dimensions, rows and columns; got 1: use"):
                call(flat)
    for call in (model.predict, lambda X: fit(X, labels)):
        with pytest.raises(TypeError, match=r"X must be a Dask array, data frame or series, got Delayed"):
            call(dask.delayed(X))
    with pytest.raises(ValueError, match="X has no columns"):
        fit(rows[:, :0], labels)
    with pytest.raises(ValueError, match=r"y must have one entry for each row of X, got None"):
        fit(rows, None)
    with pytest.raises(ValueError, match=r"sample_weight must have one entry for each row of X, got 2\.0"):
        PathSVC(rank=20).fit(rows, labels, 2.0)


def test_warnings_name_the_line_of_the_caller():
    X, y = moons()
    rows, labels = cut(X, (300, 0, 380)), cut(y, (300, 0, 380))
    for call in (lambda: fit(rows, labels), lambda: svmpath.trace(rows, labels, rank=20)):
        with pytest.warns(ChunkWarning, match="Chunk 1 has no rows") as caught:
            call()
        assert [each.filename for each in caught] == [__file__]


def test_what_only_looks_like_a_collection():
    """An array of another package may have Dask's methods and be in memory."""

    class Labelled:
        def __init__(self, values):
            self._values, self.shape = values, values.shape

        def __len__(self):
            return len(self._values)

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self._values, dtype=dtype)

        def __dask_graph__(self):
            return None

    X, y = moons(100)
    model = PathSVC(gamma=0.4, C=[1.0]).fit(Labelled(X), y)
    assert isinstance(model.predict(Labelled(X)), np.ndarray)


def test_uneven_columns():
    X, y = moons()
    with pytest.warns(UserWarning, match=r"Column 1 has standard deviation .*use scale=True"):
        fit(cut(X * [1.0, 1000.0, 1.0], SIZES), cut(y, SIZES))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": None}, "Rows in chunks need a kernel of low rank"),
        ({"rank": "atuo"}, "Did you mean 'auto'"),
        ({"loss": "hinge"}, "Rows in chunks need loss='least_squares', 'squared_hinge'"),
        ({"kernel": "precomputed"}, "kernel='precomputed' does not work"),
        ({"over": "gamma"}, "over='gamma' does not work for rows in chunks"),
        ({"breakpoints": "exact"}, "breakpoints='exact' does not work"),
        ({"tol": 1e-3}, "tol=0.001 does not work"),
        ({"span": (1.0, -1.0)}, "span must hold two different positive numbers"),
        ({"task": "regresion"}, "task must be one of"),
    ],
)
def test_what_trace_refuses(options, words):
    X, y = moons()
    with pytest.raises(ValueError, match=words):
        svmpath.trace(cut(X, SIZES), cut(y, SIZES), **{"rank": 20, **options})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scoring": "f2"}, "scoring must be one of"),
        ({"threshold": "tuned"}, "threshold must be"),
        ({"gamma": "ard"}, "gamma='ard' does not work"),
        ({"search": "gradient"}, "search must be one of 'auto', 'grid'"),
        ({"criterion": "loo"}, "need criterion='span', 'alo' or 'kfold' or 'auto'"),
        ({"loss": "hinge"}, "Rows in chunks need loss="),
        ({"rank": None}, "Rows in chunks need a kernel of low rank"),
    ],
)
def test_what_estimators_refuse(options, words):
    X, y = moons()
    with pytest.raises(ValueError, match=words):
        PathSVC(**{"gamma": 0.4, "rank": 20, **options}).fit(cut(X, SIZES), cut(y, SIZES))


def test_groups_that_do_not_fit():
    X, y = moons()
    with pytest.raises(ValueError, match="groups must have one entry per row"):
        PathSVC(gamma=0.4, rank=20).fit(cut(X, SIZES), cut(y, SIZES), groups=np.arange(len(y) - 1))
    with pytest.raises(ValueError, match="leaves out single rows, but groups"):
        PathSVC(gamma=0.4, rank=20, criterion="span").fit(cut(X, SIZES), cut(y, SIZES), groups=np.arange(len(y)))


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = moons()
    model = fit(cut(X, SIZES), cut(y, SIZES))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(*damaged((250, 1), np.nan))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


def test_what_criteria_refuse():
    X, y = moons()
    path = svmpath.trace(cut(X, SIZES), cut(y, SIZES), gamma=0.4, rank=20, span=(0.1, 10.0))
    with pytest.raises(ValueError, match=r"use its prediction, criteria\.span"):
        criteria.loo(path, [1.0])
    with pytest.raises(ValueError, match="screen= do not work"):
        criteria.span(path, [1.0], screen=True)
    with pytest.raises(ValueError, match="does not collect events"):
        path.events()
    with pytest.raises(ValueError, match="outside the span"):
        path(1e5)


def test_a_saved_path_has_the_machines_that_it_knew():
    import pickle

    X, y = moons()
    path = svmpath.trace(cut(X, SIZES), cut(y, SIZES), gamma=0.4, rank=20, span=(0.1, 10.0))
    f = path(1.0)(X[:5])
    loaded = pickle.loads(pickle.dumps(path))
    assert_same(loaded(1.0)(X[:5]), f)
    with pytest.raises(ValueError, match="saved without its rows"):
        loaded(2.0)


def test_dask_is_missing(monkeypatch):
    """A collection can come in without the package only by accident, but then the sentence says what to install."""
    for name in [name for name in sys.modules if name.startswith(("dask", "svmpath.distributed"))]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def without_dask(name, *arguments, **options):
        if name.split(".")[0] == "dask":
            raise ModuleNotFoundError("No module named 'dask'", name="dask")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_dask)
    with pytest.raises(ImportError, match=r"pip install 'svmpath\[dask\]'"):
        distributed()


def test_a_worker_that_runs_out_of_memory_is_told_a_chunk_size():
    workers = [{"memory_limit": 2**30, "nthreads": 2}]
    sentence = out_of_memory(1_000_000, 3 * 20 + 2 * 301, workers)
    assert "the largest chunk has 1000000 rows; use chunks of 12000 rows (X.rechunk({0: 12000})" in sentence
    assert "use chunks of 500 rows" in out_of_memory(1000, 300, workers)

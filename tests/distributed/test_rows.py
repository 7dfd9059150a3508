"""Features are held where there is room, and nothing of them is left running."""

import dask
import dask.array as da
import numpy as np
import pytest
from dask.callbacks import Callback
from dask.utils import key_split

import svmpath
from svmpath.distributed import cluster
from svmpath.distributed.data import choose_dtype, read
from tests.distributed.chunks import cut, moons

SIZES = (200, 200, 280)


def test_features_that_are_interrupted_are_released(monkeypatch):
    X, y = moons()
    begun, ended = [], []

    def hold(tasks):
        begun.extend(tasks)
        return list(tasks)

    def interrupted(tasks):
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "hold", hold)
    monkeypatch.setattr(cluster, "places_of", interrupted)
    monkeypatch.setattr(cluster, "release", ended.extend)
    with pytest.raises(KeyboardInterrupt):
        svmpath.trace(cut(X, SIZES), cut(y, SIZES), gamma=0.4, rank=20)
    assert [each.key for each in ended] == [each.key for each in begun]
    assert len(begun) == 3


def test_a_limit_does_not_give_workers_more_memory_than_they_have(monkeypatch):
    n, r = 1000, 100  # 0.8 MB in double precision
    assert choose_dtype(n, r, 2_000_000) is np.float64
    monkeypatch.setattr(cluster, "_workers", lambda: [{"memory_limit": 500_000}] * 2)
    assert choose_dtype(n, r, 2_000_000) is np.float32  # half of 1 MB
    assert choose_dtype(n, r, 500_000) is None  # 70 % of the limit
    monkeypatch.setattr(cluster, "_workers", lambda: [{"memory_limit": 0}])  # no limit
    assert choose_dtype(n, r, 2_000_000) is np.float64


def counted(X, y, s):
    """How many tasks of one path count rows."""
    names = []
    with Callback(pretask=lambda key, *_: names.append(key_split(key))), dask.config.set(scheduler="synchronous"):
        svmpath.trace(X, y, sample_weight=s, gamma=0.4, rank=20)
    return names.count("count-rows")


def test_rows_are_counted_once_and_only_if_that_is_not_known():
    X, y = moons()
    s = np.ones(len(y))
    assert counted(cut(X, SIZES), y, s) == 0
    parts = [da.from_delayed(dask.delayed(part), (np.nan, 3), float) for part in (X[:400], X[400:])]
    assert counted(da.concatenate(parts, allow_unknown_chunksizes=True), y, s) == 2


def test_moments_of_columns_begin_with_any_chunk():
    X, y = moons()
    s = np.random.default_rng(1).uniform(0.0, 2.0, len(y))
    s[:200] = 0.0  # all of the first chunk
    spread = read(cut(X, SIZES), cut(y, SIZES), cut(s, SIZES), True).table.spread(weighted=True)
    assert np.allclose(spread.mean, np.average(X, axis=0, weights=s), rtol=1e-12)
    assert np.allclose(spread.variance, np.average((X - spread.mean) ** 2, axis=0, weights=s), rtol=1e-12)

"""On a cluster of processes: the same result, also if a worker dies; nothing is left behind by Ctrl-C."""

import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest

import svmpath
from distributed import Client, LocalCluster
from svmpath import PathSVC, PathSVR, criteria
from svmpath.gram import Nystroem
from tests.distributed.chunks import amounts, cut, moons
from tests.distributed.traffic import bytes_per_step

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

OPTIONS = {"gamma": 0.4, "C": np.geomspace(1e-2, 1e2, 4).tolist(), "rank": 30, "random_state": 0}
SIZES = (300,) * 4
CLUSTER = {
    "processes": True,
    "threads_per_worker": 1,
    "dashboard_address": None,
    "host": "127.0.0.1",
    "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},  # of the health check, which has no dashboard
}


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, **CLUSTER) as cluster, Client(cluster) as client:
        yield client


def tasks_left(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def wait_until(is_true):
    for _ in range(6000):
        if is_true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_the_same_result_and_nothing_left_behind(client):
    X, y = moons(n=1200)
    expected = PathSVC(search="grid", **{**OPTIONS, "rank": Nystroem(30, "uniform")}).fit(X, y)
    model = PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    assert model.C_ == expected.C_
    assert np.abs(model.decision_function(X) - expected.decision_function(X)).max() < 1e-6
    found = model.predict(cut(X, SIZES))
    assert np.array_equal(found.compute(), expected.predict(X))
    del found
    wait_until(lambda: tasks_left(client) == 0)
    path = svmpath.trace(cut(X, SIZES), cut(y, SIZES), gamma=0.4, rank=30, landmarks="uniform", random_state=0)
    assert np.allclose(criteria.span(path, OPTIONS["C"]).scores, expected.curve_.scores, rtol=1e-12)
    assert tasks_left(client) >= 4  # the features, as long as there is the path
    del path
    wait_until(lambda: tasks_left(client) == 0)


def test_least_squares(client):
    X, y = amounts(n=1200)
    expected = PathSVR(search="grid", **{**OPTIONS, "rank": Nystroem(30, "uniform")}).fit(X, y)
    model = PathSVR(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    assert np.abs(model.predict(X) - expected.predict(X)).max() < 1e-6


def test_a_lost_worker_costs_time_and_not_the_result(client, monkeypatch):
    X, y = moons(n=1200)
    undisturbed = PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    killed = []

    def kill(sentence):
        if sentence.startswith("scored 2 of"):
            killed.append(next(iter(client.run(os.getpid).values())))
            threading.Timer(0.02, os.kill, (killed[0], signal.SIGKILL)).start()  # in the middle of the next pass

    monkeypatch.setattr(PathSVC, "_log", lambda _, sentence: kill(sentence))
    model = PathSVC(**OPTIONS).fit(cut(X, SIZES), cut(y, SIZES))
    assert killed
    wait_until(lambda: killed[0] not in client.run(os.getpid).values())
    assert model.C_ == undisturbed.C_
    assert np.abs(model.decision_function(X) - undisturbed.decision_function(X)).max() < 1e-8
    assert np.allclose(model.curve_.scores, undisturbed.curve_.scores, rtol=1e-12)


def slowly(chunk):
    time.sleep(0.2)
    return chunk


def press_ctrl_c(client, name):
    """Press Ctrl-C as soon as the cluster has tasks of a name."""

    def count(dask_scheduler):
        return sum(str(key).startswith(name) for key in dask_scheduler.tasks)

    while not client.run_on_scheduler(count):
        time.sleep(0.05)
    time.sleep(0.4)  # some of them have begun
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.parametrize("name", ["check-chunk", "make-feature-rows"])
def test_ctrl_c_leaves_no_task_behind(client, name):
    X, y = moons(n=1200)
    wait_until(lambda: tasks_left(client) == 0)
    chunks = cut(X, (50,) * 24).map_blocks(slowly, dtype=float)
    model = PathSVC(**OPTIONS)
    threading.Thread(target=press_ctrl_c, args=(client, name), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(chunks, cut(y, (50,) * 24))
    assert not hasattr(model, "C_")
    del chunks
    wait_until(lambda: tasks_left(client) == 0)


def dies(chunk):
    """What the operating system does with a worker that takes too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_too_little_memory_names_a_chunk_size():
    X, y = moons(n=1200)
    chunks = da.map_blocks(dies, cut(X, SIZES), dtype=float, meta=np.empty((0, 3)))
    words = r"the largest chunk has 300 rows; use chunks of 150 rows \(X\.rechunk\(\{0: 150\}\)"
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, memory_limit="600MiB", **CLUSTER) as cluster,
        Client(cluster),
        pytest.raises(MemoryError, match=words),
    ):
        PathSVC(**OPTIONS).fit(chunks, cut(y, SIZES))


def test_bytes_per_newton_step_do_not_grow_with_the_rows():
    # An idle worker may steal a chunk from a busy one, which is up to Dask and moves the chunk: not here.
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        LocalCluster(n_workers=2, **CLUSTER) as cluster,
        Client(cluster) as client,
    ):
        few, many = (bytes_per_step(client, chunks, rank=60) for chunks in (4, 24))
    one_sum = 8 * 61**2
    assert few > 0.2 * one_sum  # the counter sees what moves
    assert many < 3 * one_sum

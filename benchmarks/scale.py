"""The squared hinge on rows in chunks: time and memory over n, traffic, overhead, and stochastic gradients beside it.

    linear     PathSVC on a memory-mapped file of 10^5, 5 10^5 and 2 10^6 rows, 20 columns, 300 landmarks, 22 values of
               C with the leave-one-out curve, on Dask's threads. Memory is that of the whole process tree, sampled
               every 50 ms; files that are mapped count. Aim: 2 10^6 rows within 4 GiB, time linear in n.
    processes  the same rows on a LocalCluster of 1 and of 2 processes, with the bytes that workers send, by Dask's own
               counters: in the whole fit, where Dask also moves rows and features to idle workers, and in a Newton step
               along a path whose features stay where they are (no work stealing). Aim: the latter does not grow with n.
    overhead   50 000 rows in memory, in 10 chunks on two threads, beside the in-memory form with two. Aim: at most 2
               times.
    sgd        SGDClassifier.partial_fit on the same Nystroem features, chunk by chunk, for several alphas, until its
               test error is that of PathSVC.

Each measurement runs in a process of its own. Run it on an idle machine:

    python benchmarks/scale.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from _common import ROOT, Array, arguments, chosen, machine, progress, publish, table, warn_if_busy

from svmpath import PathSVC, config_context, trace
from svmpath.estimators import chunks
from svmpath.gram import Nystroem

D, CHUNK, GAMMA, THREADS = 20, 50_000, 0.04, 2
SIZES = (100_000, 500_000, 2_000_000)
TEST_ROWS = 20_000
LIMIT = 4 * 2**30
PICTURE = ROOT / "benchmarks" / "out" / "scale.png"
ALPHAS = (1e-7, 1e-6, 1e-5, 1e-4)
MOST_EPOCHS = 10
OVERHEAD_CHUNKS = 10
Facts = dict[str, Any]


# --- data ------------------------------------------------------------------------------------------------------------


def draw_rows(n: int, seed: int) -> tuple[Array, Array]:
    """Rows of 20 columns, of which three decide in curves, the others a little each; a fifth of the labels is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    g = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.07 * X[:, 3:].sum(axis=1) + 0.3 * rng.normal(size=n)
    return X, (g > 0.2).astype(np.int8)


def write_rows(folder: Path, n: int) -> None:
    """n rows in two npy files, written a chunk at a time."""
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=float, shape=(n, D))
    y = np.lib.format.open_memmap(folder / "y.npy", mode="w+", dtype=np.int8, shape=(n,))
    for at, start in enumerate(range(0, n, CHUNK)):
        end = min(start + CHUNK, n)
        X_new, y_new = draw_rows(CHUNK, 1000 + at)  # in full, so that the rows are the same however many there are
        X[start:end], y[start:end] = X_new[: end - start], y_new[: end - start]


def read_rows(options: Facts) -> tuple[Any, Any]:
    """The files as Dask arrays."""
    import dask.array as da

    folder, chunk = Path(options["folder"]), options.get("chunk", CHUNK)
    X, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "Xy")
    return da.from_array(X, chunks=(chunk, D)), da.from_array(y, chunks=chunk)


# --- measurements, each in a process of its own ----------------------------------------------------------------------


def model(options: Facts, **more: Any) -> PathSVC:
    C = values_of_C(options).tolist()
    return PathSVC(loss="squared_hinge", gamma=GAMMA, C=C, random_state=0, **{"rank": options["rank"], **more})


def values_of_C(options: Facts) -> Array:
    return np.geomspace(1e-3, 1e4, options["Cs"])


@contextmanager
def cluster_of(processes: int) -> Iterator[Any]:
    """A local cluster with one thread per process, and its client; Dask's threads if there is no process."""
    import dask

    if not processes:
        with dask.config.set(scheduler="threads", num_workers=THREADS):
            yield None
        return
    from distributed import Client, LocalCluster

    loopback = {"host": "127.0.0.1", "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}}
    with (
        LocalCluster(n_workers=processes, threads_per_worker=1, dashboard_address=None, **loopback) as cluster,
        Client(cluster) as client,
    ):
        yield client


def sent(client: Any) -> int:
    """Bytes that workers have sent to each other so far."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def fit_chunks(options: Facts) -> Facts:
    """One fit on chunks: seconds, passes, bytes, errors."""
    chunks.GATHERED_ROWS = 0  # few rows would be fitted in memory
    X, y = read_rows(options)
    with cluster_of(options["processes"]) as client:
        before, start, cpu = sent(client) if client else 0, time.perf_counter(), time.process_time()
        with config_context(memory_limit=LIMIT):
            svc = model(options).fit(X, y)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        moved = sent(client) - before if client else 0
    X_test, y_test = draw_rows(TEST_ROWS, 1)
    error = float(np.mean(svc.predict(X_test) != y_test))
    passes = svc.path_.passes
    return {
        "seconds": seconds,
        "cpu": cpu,
        "passes": passes,
        "bytes": moved,
        "C": svc.C_,
        "held_out": svc.held_out_error(),
        "error": error,
        "chunks": X.numblocks[0],
    }


def step_chunks(options: Facts) -> Facts:
    """Bytes that workers send to each other in the Newton steps of a path, and how many steps there are."""
    import dask

    X, y = read_rows(options)
    first, *others = values_of_C(options).tolist()
    with dask.config.set({"distributed.scheduler.work-stealing": False}), cluster_of(options["processes"]) as client:
        rank, span = options["rank"], (first, others[-1])
        path: Any = trace(X, y, loss="squared_hinge", gamma=GAMMA, rank=rank, span=span, random_state=0)
        path(first)
        before, steps = sent(client), path.passes["newton-step"]
        for C in others:
            path(C)
        return {"bytes": sent(client) - before, "steps": path.passes["newton-step"] - steps}


def fit_memory(options: Facts) -> Facts:
    """One fit of the same rows in memory."""
    X, y = (np.load(Path(options["folder"]) / f"{name}.npy") for name in "Xy")
    start = time.perf_counter()
    svc = model(options, rank=Nystroem(options["rank"], "uniform"), search="grid", n_jobs=THREADS).fit(X, y)
    return {"seconds": time.perf_counter() - start, "C": svc.C_, "held_out": svc.held_out_error()}


def fit_sgd(options: Facts) -> Facts:
    """Epochs of stochastic gradients on Nystroem features until the test error is small enough, for each alpha."""
    from sklearn.linear_model import SGDClassifier

    from svmpath.gram import Nystroem
    from svmpath.kernels import RBF

    X, y = (np.load(Path(options["folder"]) / f"{name}.npy", mmap_mode="r") for name in "Xy")
    X_test, y_test = draw_rows(TEST_ROWS, 1)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[: options["rank"]])
    features = Nystroem(landmarks=tuple(range(len(rows)))).factor(RBF(GAMMA), X[rows], 0).features
    Z_test, runs = features(X_test), []
    for alpha in ALPHAS:
        sgd, start, best = SGDClassifier("squared_hinge", alpha=alpha, average=True, random_state=0), time.time(), 1.0
        epoch = 0
        while epoch < MOST_EPOCHS and best > options["aim"]:
            epoch += 1
            for at in range(0, len(X), CHUNK):
                sgd.partial_fit(features(X[at : at + CHUNK]), y[at : at + CHUNK], classes=[0, 1])
            best = min(best, float(np.mean(sgd.predict(Z_test) != y_test)))
        runs.append({"alpha": alpha, "epochs": epoch, "seconds": time.time() - start, "error": best})
    return {"runs": runs}


KINDS: dict[str, Callable[[Facts], Facts]] = {
    "chunks": fit_chunks,
    "steps": step_chunks,
    "memory": fit_memory,
    "sgd": fit_sgd,
}


def measured(kind: str, options: Facts) -> Facts:
    """What a measurement in a process of its own found, and the largest memory of its process tree in bytes."""
    command = [sys.executable, __file__, "--child", json.dumps({"kind": kind, **options})]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = [0]
    watcher = threading.Thread(target=_watch, args=(child, peak), daemon=True)
    watcher.start()
    out, _ = child.communicate()
    watcher.join()
    if child.returncode:
        raise SystemExit(f"The measurement {kind} {options} failed.")
    return {**json.loads(out.splitlines()[-1]), "peak": peak[0]}


def _watch(child: subprocess.Popen[str], peak: list[int]) -> None:
    import psutil

    root = psutil.Process(child.pid)
    while child.poll() is None:
        total = 0
        try:
            for each in [root, *root.children(recursive=True)]:
                total += each.memory_info().rss
        except psutil.Error:
            continue
        peak[0] = max(peak[0], total)
        time.sleep(0.05)


# --- output ----------------------------------------------------------------------------------------------------------


def linear(options: Any) -> tuple[str, list[Facts]]:
    rows: list[Facts] = []
    for n in options.sizes:
        with _rows(n) as folder:
            progress(f"n = {n}, threads ...")
            found = measured("chunks", {"folder": folder, "processes": 0, "rank": options.rank, "Cs": options.Cs})
        rows.append({"n": n, **found})
    header = [
        "n",
        "seconds",
        "processor seconds",
        "microseconds per row",
        "passes",
        "peak GiB",
        "C",
        "held-out error %",
        "test error %",
    ]
    lines = [
        [
            str(row["n"]),
            f"{row['seconds']:.1f}",
            f"{row['cpu']:.1f}",
            f"{1e6 * row['cpu'] / row['n']:.1f}",
            str(sum(row["passes"].values())),
            f"{row['peak'] / 2**30:.2f}",
            f"{row['C']:.3g}",
            f"{100 * row['held_out']:.2f}",
            f"{100 * row['error']:.2f}",
        ]
        for row in rows
    ]
    text = table(header, lines)
    if len(rows) > 1:
        n, seconds, cpu = (np.log([row[name] for row in rows]) for name in ("n", "seconds", "cpu"))
        slopes = np.polyfit(n, seconds, 1)[0], np.polyfit(n, cpu, 1)[0]
        text += f"\ntime ~ n^{slopes[0]:.2f}, processor time ~ n^{slopes[1]:.2f}, fitted"
    most = max(row["peak"] for row in rows)
    return text + f"\nmemory of the process tree within 4 GiB: {'reached' if most <= LIMIT else 'MISSED'}", rows


def processes(options: Any) -> str:
    lines = []
    for n in options.cluster_sizes:
        with _rows(n) as folder:
            for count in (1, 2):
                progress(f"n = {n}, {count} processes ...")
                asked = {"folder": folder, "processes": count, "rank": options.rank, "Cs": options.Cs}
                found = measured("chunks", asked)
                alone = measured("steps", asked)
                lines.append(
                    [
                        str(n),
                        str(count),
                        f"{found['seconds']:.1f}",
                        str(found["passes"]["newton-step"]),
                        f"{found['bytes'] / 1e6:.1f}",
                        f"{alone['bytes'] / alone['steps'] / 1e6:.2f}",
                        f"{found['peak'] / 2**30:.2f}",
                    ]
                )
    header = ["n", "processes", "seconds", "Newton steps", "MB sent in the fit", "MB per Newton step", "peak GiB"]
    return table(header, lines) + f"\none sum of (r + 1)^2 numbers: {8e-6 * (options.rank + 1) ** 2:.2f} MB"


def overhead(options: Any) -> str:
    with _rows(options.overhead_rows) as folder:
        asked = {"folder": folder, "processes": 0, "rank": options.rank, "Cs": options.Cs}
        asked["chunk"] = -(-options.overhead_rows // OVERHEAD_CHUNKS)
        ratios = []
        for _ in range(options.repeats):
            progress("overhead ...")
            found, whole = measured("chunks", asked), measured("memory", asked)["seconds"]
            ratios.append((found["seconds"], whole, found["seconds"] / whole))
    best = min(ratios, key=lambda each: each[2])
    verdict = "reached" if np.median([each[2] for each in ratios]) <= 2.0 else "MISSED"
    listed = ", ".join(f"{ratio:.2f}" for _, _, ratio in ratios)
    return (
        f"n = {options.overhead_rows} in {found['chunks']} chunks: {best[0]:.1f} s, in memory {best[1]:.1f} s; chunks "
        f"over memory in {len(ratios)} runs: {listed}; at most 2: {verdict}"
    )


def sgd(options: Any) -> str:
    n = options.sgd_rows
    with _rows(n) as folder:
        progress(f"sgd, n = {n} ...")
        asked = {"folder": folder, "processes": 0, "rank": options.rank, "Cs": options.Cs}
        ours = measured("chunks", asked)
        runs = measured("sgd", {**asked, "aim": ours["error"]})["runs"]
    lines = [[f"PathSVC, {options.Cs} values of C", "-", f"{ours['seconds']:.1f}", f"{100 * ours['error']:.2f}"]]
    for run in runs:
        lines.append(
            [f"SGD, alpha = {run['alpha']:g}", str(run["epochs"]), f"{run['seconds']:.1f}", f"{100 * run['error']:.2f}"]
        )
    lines.append(["SGD, all alphas", "-", f"{sum(run['seconds'] for run in runs):.1f}", "-"])
    note = f"n = {n}. An alpha ends when its test error is that of PathSVC, or after {MOST_EPOCHS} epochs."
    return table(["", "epochs", "seconds", "test error %"], lines) + "\n" + note


@contextmanager
def _rows(n: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), n)
        yield folder


def draw(rows: Sequence[Facts], file: Path) -> None:
    """Time and memory over n; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    n = np.array([row["n"] for row in rows])
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.loglog(n, [row["cpu"] for row in rows], "o-", label="fit, leave-one-out curve included")
    left.loglog(n, rows[0]["cpu"] * n / n[0], "k:", label="linear in n")
    left.set(xlabel="rows", ylabel="processor seconds")
    left.legend()
    right.semilogx(n, [row["peak"] / 2**30 for row in rows], "s-", label="whole process tree")
    right.axhline(LIMIT / 2**30, color="k", linestyle=":", label="limit")
    right.set(xlabel="rows", ylabel="GiB", ylim=(0, None))
    right.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=22)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="rows of the first part")
    parser.add_argument("--cluster-sizes", type=int, nargs="+", default=(100_000, 400_000), help="rows on processes")
    parser.add_argument("--overhead-rows", type=int, default=50_000)
    parser.add_argument("--sgd-rows", type=int, default=500_000)
    parser.add_argument("--rank", type=int, default=300, help="landmarks (default 300)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of the overhead (default 3)")
    parser.add_argument("--child", help="for the script itself: one measurement")
    options = parser.parse_args(argv)
    if options.child:
        asked = json.loads(options.child)
        print(json.dumps(KINDS[asked.pop("kind")](asked)))
        return
    warn_if_busy()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    names = chosen(("linear", "processes", "overhead", "sgd"), options.sets)
    parts = [f"Rows in chunks, d = {D}, r = {options.rank}, chunks of {CHUNK} rows\n{machine()}"]
    parts.append(f"{THREADS} threads, or processes with one thread each; load of the machine at the start: {load:.1f}")
    if "linear" in names:
        text, rows = linear(options)
        parts.append("Time and memory over n\n" + text)
        draw(rows, PICTURE)
    tables = {"processes": processes, "overhead": overhead, "sgd": sgd}
    titles = {"processes": "Processes", "overhead": "Overhead", "sgd": "Stochastic gradients"}
    parts += [f"{titles[name]}\n{tables[name](options)}" for name in tables if name in names]
    publish("scale", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()

"""Rows added and forgotten: CPU time per row, beside a fit of the changed rows at the same hyper-parameters.

    python benchmarks/add_forget.py --write
    python benchmarks/add_forget.py --sizes 500

fit       PathSVC or PathSVR with C, gamma and epsilon given, on n rows; a classifier also looks at its held-out errors
machine   the machine alone, at this C, with its kernel matrix
first     the first row that is added, which makes what later ones change
add       a row, mean of --changes; "fit / add" and "machine / add" are how many fit into that
forget    a row, mean of --changes
error     the largest difference of a decision value from a fresh fit after all changes
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import arguments, machine, publish, table

from svmpath import PathSVC, PathSVR, trace
from svmpath.datasets import banana

Array = np.ndarray
LOSSES = ("squared_hinge", "least_squares", "hinge", "epsilon_insensitive")
REPEATS = 3


def data(loss: str, n: int) -> tuple[Any, Array, Array]:
    """An estimator at fixed hyper-parameters, and n rows for it."""
    if loss != "epsilon_insensitive":
        return PathSVC(loss=loss, C=3.0, gamma=1.0, rank=None), *banana(n, random_state=0)
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, (n, 2))
    y = np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=n)
    return PathSVR(loss=loss, C=3.0, gamma=1.0, epsilon=0.1, rank=None), X, y


def seconds(function: Callable[[], Any]) -> float:
    """CPU time."""
    start = time.process_time()
    function()
    return time.process_time() - start


def measure(loss: str, n: int, changes: int) -> list[str]:
    """One line of the table."""
    model, X, y = data(loss, n + changes + 1)
    model.fit(X[:50], y[:50]).add(X[50:52], y[50:52]).forget(0)  # compiles
    fit = min(seconds(lambda: model.fit(X[:n], y[:n])) for _ in range(REPEATS))
    loss_of = model.path_.loss
    alone = min(
        seconds(lambda: trace(X[:n], y[:n], loss=loss_of, gamma=1.0, span=(3.0, 3.01))(3.0)) for _ in range(REPEATS)
    )
    first = seconds(lambda: model.add(X[n : n + 1], y[n : n + 1]))
    rows = range(n + 1, n + 1 + changes)
    add = seconds(lambda: [model.add(X[i : i + 1], y[i : i + 1]) for i in rows]) / changes
    gone = np.random.default_rng(1).integers(0, n - changes, changes)
    forget = seconds(lambda: [model.forget(int(i)) for i in gone]) / changes
    stay = np.arange(n + changes + 1)
    for i in gone:
        stay = np.delete(stay, i)
    decide = "predict" if isinstance(model, PathSVR) else "decision_function"
    fresh = data(loss, 10)[0].fit(X[stay], y[stay])
    error = float(np.abs(getattr(model, decide)(X) - getattr(fresh, decide)(X)).max())
    times = [f"{1e3 * each:.1f}" for each in (fit, alone, first, add, forget)]
    return [loss, f"{n}", *times, f"{fit / add:.0f}", f"{alone / add:.1f}", f"{error:.0e}"]


def main() -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--changes", type=int, default=20)
    args = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [measure(loss, n, args.changes) for loss in LOSSES for n in args.sizes]
    header = ["loss", "n", "fit", "machine", "first", "add", "forget", "fit / add", "machine / add", "error"]
    text = f"{table(header, lines)}\n\nCPU time in ms on one thread; {machine()}."
    publish("add_forget", text, args.write)


if __name__ == "__main__":
    main()

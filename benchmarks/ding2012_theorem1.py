"""Ding & Liao (2012), Theorem 1: the time of one low-rank LS-SVM grows as c^3 + n c k.

Nystroem with c uniform columns and rank k = c / 2 as in the paper, then the machine at one C. The theorem leaves out
the n c kernel values, which our time has: the model is

    t = p0 + p1 c^3 + p2 n c k + p3 n c,    p >= 0 by least squares relative to t

and what is told is how far each time is from it, and the slopes of log t over log n (c fixed) and over log c (n fixed).
Processor seconds of one thread, medians of --repeats; twonorm, d = 20, rbf.

    python benchmarks/ding2012_theorem1.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from _common import Array, arguments, machine, progress, publish, table, timed, warn_if_busy
from scipy.optimize import nnls

import svmpath
from svmpath import datasets
from svmpath.gram import Nystroem

SIZES = (4000, 8000, 16_000, 32_000)
COLUMNS = (100, 200, 400, 800, 1600)


def seconds(n: int, c: int, repeats: int) -> float:
    """Of the approximation and one machine."""
    X, y = datasets.twonorm(n, 0)
    rank = Nystroem(c, "uniform", truncate=c // 2)

    def fit() -> Array:
        path = svmpath.trace(X, y, loss="least_squares", gamma=0.02, rank=rank, random_state=0)
        return path(1.0).alpha

    return timed(fit, repeats).cpu_median


def model(n: Array, c: Array, t: Array) -> Array:
    """The times of the model fitted to these."""
    parts = np.column_stack([np.ones_like(t), c**3, n * c * c / 2, n * c])
    scale = parts.max(axis=0)
    p, _ = nnls(parts / scale / t[:, None], np.ones_like(t))
    return parts / scale @ p


def _block(title: str, head: Sequence[str], rows: Sequence[str], values: Array, digits: int) -> str:
    cells = [[row, *(f"{value:.{digits}f}" for value in line)] for row, line in zip(rows, values, strict=True)]
    return table([title, *head], cells)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="rows (default 4000 .. 32000)")
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS, help="c (default 100 .. 1600)")
    parser.add_argument("--repeats", type=int, default=3, help="runs, the median counts (default 3)")
    options = parser.parse_args(argv)
    warn_if_busy()
    seconds(500, 50, 1)  # loads what is loaded at the first call
    t = np.empty((len(options.sizes), len(options.columns)))
    for i, n in enumerate(options.sizes):
        progress(f"n = {n} ...")
        t[i] = [seconds(n, c, options.repeats) for c in options.columns]
    n, c = (each.astype(float) for each in np.meshgrid(options.sizes, options.columns, indexing="ij"))
    ratio = t / model(n.ravel(), c.ravel(), t.ravel()).reshape(t.shape)
    rows = [f"n = {size}" for size in options.sizes]
    over_n = np.log2(t[1:] / t[:-1]) / np.log2(n[1:] / n[:-1])
    over_c = np.log2(t[:, 1:] / t[:, :-1]) / np.log2(c[:, 1:] / c[:, :-1])
    head = [f"c = {each}" for each in options.columns]
    parts = [
        f"Ding & Liao 2012, Theorem 1: seconds of one machine, k = c / 2\n{machine()}",
        _block("seconds", head, rows, t, 3),
        _block("measured / model", head, rows, ratio, 2),
        _block("slope over n", head, [f"{a} to {b}" for a, b in pairwise(options.sizes)], over_n, 2),
        _block("slope over c", [f"{a} to {b}" for a, b in pairwise(options.columns)], rows, over_c, 2),
        "model: c^3 + n c k + n c + a constant, coefficients at least zero. The theorem has slope 1 over n where n k\n"
        "is large beside c^2, 2 over c where n is large beside c; the n c kernel values pull the latter towards 1.",
    ]
    publish("ding2012_theorem1", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()

"""How far machines in low rank are from those on the full kernel: the bounds of ``criteria.approximation_gap``.

Protocol: for each loss some random problems (rows, columns, gamma, C, number and kind of landmarks and weights drawn
anew), each fitted in low rank and on the full kernel. The truth is the largest difference of decision values on the
training rows, on as many new rows, and on rows far away. A bound that is below the truth is a failure.

Then four values of C on the full kernel at once, by conjugate gradients (``solvers.full_kernel``) with a factor of rank
600 as preconditioner: 20 columns, y = sign(sin(2 x0) + x1 x2 + x3 / 2) with 15 % of the labels flipped, gamma = 0.03.
Products with K in single precision; "refined" computes residuals and gap in double precision. CPU seconds, one thread:

    python benchmarks/full_kernel.py --write
    python benchmarks/full_kernel.py --rows 4000 10000 20000
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, Array, machine, progress, publish, table, timed
from sklearn.svm import SVC

import svmpath
from svmpath import criteria
from svmpath.gram import Nystroem, ProductGram
from svmpath.kernels import RBF
from svmpath.losses import Expectile, HuberHinge, LeastSquares
from svmpath.solvers.full_kernel import solve_full
from svmpath.solvers.pieces import SQUARED_HINGE

LOSSES: dict[str, tuple[Any, str]] = {
    "squared hinge": ("squared_hinge", "classification"),
    "hinge": ("hinge", "classification"),
    "huberised hinge": (HuberHinge(0.3), "classification"),
    "least squares, classes": ("least_squares", "classification"),
    "least squares": ("least_squares", "regression"),
    "epsilon-insensitive": ("epsilon_insensitive", "regression"),
    "expectile": (Expectile(0.8), "regression"),
}


def draw(seed: int, task: str) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
    """Rows, targets, weights, rows to compare on, and the options of the two machines."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(100, 400)), int(rng.integers(1, 11))
    X = rng.normal(size=(n, d))
    t = np.sin(2 * X[:, 0]) + (X[:, 1] * X[:, 2] if d > 2 else 0.0) + 0.4 * rng.normal(size=n)
    y = np.where(t > 0, 1.0, -1.0) if task == "classification" else t
    s = rng.choice([0.0, 0.5, 1.0, 2.0], size=n) if seed % 2 else np.ones(n)
    new = np.concatenate([X, rng.normal(size=(n, d)), 4 * rng.normal(size=(n, d))])
    kind = ("rpcholesky", "uniform", "kmeans")[seed % 3]
    rank = Nystroem(int(rng.integers(n // 20, n // 2)), kind)
    return X, y, s, new, {"gamma": 10 ** rng.uniform(-1, 0) / d, "C": 10 ** rng.uniform(-1, 2), "rank": rank}


def compare(loss: Any, task: str, seed: int) -> Array:
    """Bound and truth of the machine as it predicts, and the same with the exact kernel."""
    X, y, s, new, options = draw(seed, task)
    common = {"loss": loss, "kernel": "rbf", "gamma": options["gamma"], "sample_weight": s}
    low = svmpath.trace(X, y, rank=options["rank"], random_state=seed, **common)(options["C"])
    truth = svmpath.trace(X, y, **common)(options["C"])(new)
    found = criteria.approximation_gap(low)
    distances = [float(np.abs(truth - low(new, exact_kernel=exact)).max()) for exact in (False, True)]
    return np.array([found.bound, distances[0], found.exact_kernel_bound, distances[1]])


def noisy(n: int, seed: int) -> tuple[Array, Array]:
    """Twenty columns, of which four count, and labels of which some are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    y = np.sign(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] / 2)
    return X, np.where(rng.random(n) < 0.15, -y, y)


def solve(n: int) -> list[list[str]]:
    """Rows of the second table, for one number of rows."""
    (X, y), (new, truth) = noisy(n, 0), noisy(5000, 1)
    gram, C = ProductGram(RBF(0.03), X, Nystroem(600)), np.array([0.1, 0.3, 1.0, 3.0])
    made = timed(lambda: (gram.low.Z, gram.fast(X[:, :1]))).cpu_median
    Y, s = np.tile(y[:, None], (1, len(C))), np.ones((n, len(C)))
    K_new, rows = gram.kernel(new, X), []
    for name, loss in (("squared hinge", SQUARED_HINGE), ("least squares", LeastSquares().pieces)):
        for tol, exact in ((1e-2, None), (1e-3, None), (1e-3, gram.matmul), (1e-10, gram.matmul)):
            progress(f"{n} rows, {name}, {tol:g}")
            timing = timed(partial(solve_full, loss, gram.low.Z, Y, s, C, gram.fast, exact=exact, tol=tol))
            found = timing.result
            errors = np.mean((K_new @ found.a + found.b > 0) != (truth[:, None] > 0), axis=0)
            counts = [str(found.steps), str(found.products), f"{found.gap.max():.0e}"]
            times = [f"{made:.1f}", f"{timing.cpu_median:.1f}", f"{100 * errors.min():.1f}"]
            rows.append([str(n), name, f"{tol:g}", "refined" if exact else "single", *counts, *times])
    peer = timed(lambda: [SVC(gamma=0.03, C=each).fit(X, y) for each in C])
    least = min(float(np.mean(each.predict(new) != truth)) for each in peer.result)
    return [*rows, [str(n), "SVC, hinge", *["-"] * 6, f"{peer.cpu_median:.1f}", f"{100 * least:.1f}"]]


def main(argv: Sequence[str] | None = None) -> None:
    """Write a table: bounds over distances, by loss."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=30, help="random problems for each loss (default 30)")
    text = "put the output into its section of this file (default benchmarks/RESULTS.md)"
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help=text)
    parser.add_argument("--rows", type=int, nargs="*", default=[4000, 10000], help="of machines on the full kernel")
    options: Any = parser.parse_args(argv)
    rows = []
    for name, (loss, task) in LOSSES.items():
        progress(name)
        found = np.array([compare(loss, task, seed) for seed in range(options.problems)])
        ratios = found[:, 0] / found[:, 1], found[:, 2] / found[:, 3]
        cells = [f"{q:.1f}" for each in ratios for q in (each.min(), np.median(each), each.max())]
        holds = sum(int(np.count_nonzero(each >= 1.0)) for each in ratios)
        distances = [f"{np.median(found[:, column]):.2g}" for column in (1, 3)]
        rows.append([name, f"{holds} of {2 * options.problems}", distances[0], *cells[:3], distances[1], *cells[3:]])
    header = ["loss", "holds", "distance", "least", "median", "most", "exact kernel", "least", "median", "most"]
    notes = (
        "distance: the median over the problems of the largest |f'(x) - f(x)|; least, median and most: bound over\n"
        "distance. First the machine as it predicts, then with exact_kernel=True. 100 to 400 rows, 1 to 10 columns."
    )
    parts = [f"Bounds of approximation_gap\n{machine()}", table(header, rows), notes]
    if options.rows:
        header = [
            "n",
            "loss",
            "tol",
            "precision",
            "steps",
            "products",
            "gap",
            "Z and K (s)",
            "solve (s)",
            "error %",
        ]
        parts += ["Four values of C on the full kernel", table(header, [row for n in options.rows for row in solve(n)])]
        parts += [
            "error: the least of the four on 5000 new rows, which no choice among them can promise; solve: all four."
        ]
    publish("full_kernel", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()

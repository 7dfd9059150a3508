"""How the cost of the full kernel grows: products, seconds, gap and memory, by stage of the default search.

For each number of rows of "noisy" (20 columns, 15 % of the labels flipped) a process of its own: ``PathSVC()`` by
stage, then one machine of the squared hinge on the full kernel at gamma = 0.03 and C = 1, to a gap of 2e-3. Seconds of
stages are wall seconds, those of the last two lines CPU seconds, all with one thread. The gap is that on the full
kernel, also of a machine in low rank.

    python benchmarks/full_kernel_growth.py --rows 4000 10000 20000 50000 100000 --pair 4000 10000 20000 50000 --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import multiprocessing
import resource
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, Array, machine, progress, publish, table, timed
from full_kernel import noisy

from svmpath import PathSVC, criteria
from svmpath.gram import Nystroem, ProductGram
from svmpath.kernels import RBF
from svmpath.search import limits
from svmpath.solvers.full_kernel import solve_full
from svmpath.solvers.pieces import SQUARED_HINGE

NEW = 10_000  # rows that errors are measured on
CERTIFIED = 50_000  # rows up to which the gap of a machine in low rank is computed: n^2 kernel values

Row = list[str]


def peak() -> str:
    """The most memory of this process so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f}"


def wrong(f: Array, truth: Array) -> str:
    """The error in %."""
    return f"{100 * np.mean(np.sign(f) != truth):.2f}"


def search(n: int) -> list[Row]:
    """The stages of the default search, and its machine."""
    warnings.simplefilter("ignore")
    (X, y), (new, truth) = noisy(n, 10), noisy(NEW, 11)
    PathSVC(random_state=0).fit(X[:100], y[:100])  # what is loaded once
    timing = timed(lambda: PathSVC(random_state=0).fit(X, y))
    model, rows = timing.result, []
    for stage in model.choice_.stages:
        pairs = sum(len(scores.values) for scores in stage.tried.values())
        products = str(model.path_.gram.products) if stage.name == "full kernel" else ""
        rows.append([str(n), stage.name, str(stage.rank), str(pairs), products, f"{stage.seconds:.1f}", "", "", ""])
    found, is_low = model.path_(model.C_), model.path_.gram.Z is not None
    gap = found.gap if not is_low else criteria.approximation_gap(found).gap if n <= CERTIFIED else np.nan
    cells = ["" if np.isnan(gap) else f"{gap:.0e}", wrong(model.decision_function(new), truth), peak()]
    return [*rows, [str(n), "all of it, CPU", str(model.rank_), "", "", f"{timing.cpu_median:.1f}", *cells]]


def one_pair(n: int) -> list[Row]:
    """A machine on the full kernel."""
    (X, y), (new, truth) = noisy(n, 10), noisy(NEW, 11)
    kernel, rank = RBF(0.03), int(min(limits.PRECONDITIONER * n**0.5, limits.MOST_RANK))

    def fit() -> Any:
        gram = ProductGram(kernel, X, Nystroem(rank, "uniform"))
        return solve_full(SQUARED_HINGE, gram.low.Z, y[:, None], np.ones((n, 1)), np.ones(1), gram.fast, tol=2e-3)

    timing = timed(fit)
    found, most = timing.result, peak()
    f = np.concatenate([kernel(part, X) @ found.a[:, 0] for part in np.array_split(new, 50)]) + found.b
    cells = [str(found.products), f"{timing.cpu_median:.1f}", f"{found.gap[0]:.0e}", wrong(f, truth), most]
    return [[str(n), "one pair, CPU", str(n), "1", *cells]]


def apart(work: Callable[[int], list[Row]], n: int) -> list[Row]:
    """Done in a process of its own, so that its memory is seen."""
    progress(f"{n} rows: {work.__name__}")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, n).result()


def main(argv: Sequence[str] | None = None) -> None:
    """Write a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[4000], help="default 4000")
    parser.add_argument("--pair", type=int, nargs="*", default=[4000], help="of one machine (default 4000)")
    text = "put the output into its section of this file (default benchmarks/RESULTS.md)"
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help=text)
    options: Any = parser.parse_args(argv)
    rows = []
    for n in sorted({*options.rows, *options.pair}):
        rows += apart(search, n) if n in options.rows else []
        rows += apart(one_pair, n) if n in options.pair else []
    header = ["n", "stage", "rank", "pairs", "products", "seconds", "gap", "error %", "GiB"]
    publish("full_kernel_growth", "\n\n".join([machine(), table(header, rows)]), options.write)


if __name__ == "__main__":
    main()

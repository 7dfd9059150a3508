"""How near the squared hinge path is to its floor, and that it is linear in the number of rows.

The floor: a machine at one value of C needs A'A for its n x (r + 1) features A, one product (SYRK). With n = 50 000
rows, r = 500 columns and two BLAS threads this measures

    path   the machines at 53 values of lambda = 1 / C from 1e7 to 1e-6        aim: 15 products, ambition 8
    span   the leave-one-out curve, error rates only, beyond the path          aim: 15 more, ambition 6

Then the same at r = 100 for 10^4, 3 10^4, ... rows up to --max-n: time per row and memory; with matplotlib also as a
picture, benchmarks/out/squared_hinge_floor.png. Data: generated twonorm, Gaussian kernel with gamma = 1/(2ms), uniform
landmarks. Run it on an idle machine:

    python benchmarks/squared_hinge_floor.py --max-n 1000000 --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
os.environ.setdefault("MKL_NUM_THREADS", "2")
os.environ.setdefault("OMP_NUM_THREADS", "2")

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _bonidal import HEURISTICS, C_values, Parts, trace, walk_and_curve
from _common import ROOT, Array, arguments, chosen, machine, progress, publish, table, timed, warn_if_busy

from svmpath import datasets

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PATH_AIM, PATH_AMBITION = 15.0, 8.0  # in products A'A
SPAN_AIM, SPAN_AMBITION = 15.0, 6.0
PICTURE = ROOT / "benchmarks" / "out" / "squared_hinge_floor.png"


@dataclass(frozen=True)
class Row:
    """What was measured at one number of rows."""

    n: int
    rank: int
    factor: float
    product: float
    parts: Parts
    features: float  # GB
    peak: float  # GB, of the whole process so far

    @property
    def total(self) -> float:
        """Path and curve, without the factor."""
        return self.parts.curve.best


def peak_memory() -> float:
    """The largest memory of this process so far, in GB; NaN where it cannot be told."""
    if resource is None:
        return float("nan")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def measure(n: int, rank: int, values: Array, repeats: int) -> Row:
    """Factor, one product A'A, path and curve of n rows."""
    X, y = datasets.twonorm(n, 0)
    low = {"rank": min(rank, n), "landmarks": "uniform", "random_state": 0}

    def factor() -> Any:
        path = trace(X, y, gamma=HEURISTICS["1/(2ms)"](X[:10_000]), **low)
        return path, path.rows.A

    built = timed(factor)
    path, A = built.result
    product = timed(lambda: A.T @ A, 2 + repeats).best
    parts = walk_and_curve(path, values, repeats)
    return Row(n, A.shape[1] - 1, built.best, product, parts, A.nbytes / 1e9, peak_memory())


# --- output ----------------------------------------------------------------------------------------------------------


def floor_table(row: Row) -> str:
    header = ["part", "seconds", "products A'A", "aim", "ambition", "verdict"]
    lines = [
        ["factor", f"{row.factor:.3f}", f"{row.factor / row.product:.1f}", "-", "-", "-"],
        ["one A'A", f"{row.product:.3f}", "1.0", "-", "-", "-"],
        _against("path", row.parts.walk.best, row.product, PATH_AIM, PATH_AMBITION),
        _against("span, beyond the path", row.parts.span, row.product, SPAN_AIM, SPAN_AMBITION),
    ]
    return table(header, lines)


def _against(name: str, seconds: float, product: float, aim: float, ambition: float) -> list[str]:
    products = seconds / product
    verdict = "ambition" if products <= ambition else "reached" if products <= aim else "MISSED"
    return [name, f"{seconds:.3f}", f"{products:.1f}", f"<= {aim:g}", f"<= {ambition:g}", verdict]


def linear_table(rows: list[Row]) -> str:
    header = ["n", "rank", "factor s", "path s", "span s", "path + span s", "microseconds per row", "features GB"]
    lines = []
    for row in rows:
        times = [row.factor, row.parts.walk.best, row.parts.span, row.total]
        line = [str(row.n), str(row.rank), *(f"{seconds:.3f}" for seconds in times)]
        lines.append([*line, f"{1e6 * row.total / row.n:.1f}", f"{row.features:.3f}", f"{row.peak:.2f}"])
    return table([*header, "peak GB"], lines)


def slope(rows: list[Row]) -> float:
    """The exponent p of time ~ n^p, fitted to the rows."""
    if len(rows) < 2:
        return float("nan")
    return float(np.polyfit(np.log([row.n for row in rows]), np.log([row.total for row in rows]), 1)[0])


def draw(rows: list[Row], file: Path) -> bool:
    """The times over n, both in logarithms, beside a straight line; False where there is no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    n = np.array([row.n for row in rows])
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(n, [row.total for row in rows], "o-", label="path + leave-one-out curve")
    axes.loglog(n, [row.parts.walk.best for row in rows], "s-", label="path")
    axes.loglog(n, [row.factor for row in rows], "^-", label="factor")
    axes.loglog(n, rows[0].total * n / n[0], "k:", label="linear in n")
    axes.set(xlabel="rows", ylabel="seconds", title=f"Squared hinge, {rows[0].rank} features")
    axes.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)
    return True


def notes(rows: list[Row], drawn: bool, options: Any) -> str:
    """What a reader must know of the tables."""
    lines = [
        f"Generated twonorm, {options.Cs} values of lambda from 1e7 to 1e-6, uniform landmarks.",
        f"Times: the best of {options.repeats}; of the factor, one run.",
        "path: all machines; span: what the leave-one-out curve (error rates only) takes beyond the path it walks.",
    ]
    if rows:
        lines.append(f"time of path + span ~ n^{slope(rows):.2f}, fitted. peak: of the whole process up to that row.")
        where = PICTURE.relative_to(ROOT) if PICTURE.is_relative_to(ROOT) else PICTURE
        lines.append(f"Picture: {where}" if drawn else "No picture: matplotlib is not installed.")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=53)
    parser.add_argument("--n", type=int, default=50_000, help="rows for the floor (default 50000)")
    parser.add_argument("--rank", type=int, default=500, help="columns for the floor (default 500)")
    parser.add_argument("--max-n", type=int, default=100_000, help="most rows of the second part (default 100000)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="rows of the second part")
    parser.add_argument("--linear-rank", type=int, default=100, help="columns of the second part (default 100)")
    parser.add_argument("--repeats", type=int, default=3, help="runs, the best counts (default 3)")
    options = parser.parse_args(argv)
    warn_if_busy()
    names, values = chosen(("floor", "linear"), options.sets), C_values(options.Cs)
    measure(200, 20, C_values(3), 1)  # load what is loaded at the first call
    rows: list[Row] = []
    for n in sorted(n for n in options.sizes if n <= options.max_n and "linear" in names):
        progress(f"n = {n}, r = {options.linear_rank} ...")
        rows.append(measure(n, options.linear_rank, values, options.repeats))
    parts = [f"The squared hinge path beside its floor\n{machine()}"]
    if "floor" in names:
        progress(f"n = {options.n}, r = {options.rank} ...")
        row = measure(options.n, options.rank, values, options.repeats)
        parts += [f"n = {row.n}, r = {row.rank}", floor_table(row)]
    if rows:
        parts += ["Linear in n", linear_table(rows)]
    drawn = bool(rows) and draw(rows, PICTURE)
    publish("squared_hinge_floor", "\n\n".join([*parts, notes(rows, drawn, options)]), options.write)


if __name__ == "__main__":
    main()

"""Exact leave-one-out of the hinge machine beside refits of scikit-learn's SVC, in the same process.

    exact      criteria.loo(path, [C]) at one value of C, the path traced before
    count      the same with count_only=True
    refits     SVC(kernel="rbf", tol=1e-3), same gamma and C, once without each support vector; the others need none.
               All of them if that is expected to take less than a minute, else 40 at random, extrapolated
    ALO        criteria.alo(path, 25 values of C from 0.01 to 100), the whole curve
    steps      criteria.loo(path, exact=True), the error as a step function of C from 0.01 to 100

Data: two moons (noise 0.3, gamma 1: a small elbow), and two normal classes in 20 dimensions (gamma 0.05) whose means
are four ("normal", an elbow of about n/3) or two standard deviations apart ("overlap", n/2 and more); 300 and 600 rows,
C = 1, 10, 100. Aims: exact against refits 20 times for elbows up to 30 samples and 6 times for larger ones; counting
alone twice as fast as exact; the ALO curve of the smaller size in less time than the refits at one value.

One BLAS thread on both sides. The ratios are of CPU times, which other work on the machine disturbs little; those of
wall times stand beside them. Of our times medians of --repeats, of the refits one run over all of them. The decision
values of SVC are those of its tolerance: that exact leave-one-out is exact is a matter of the tests.

    python benchmarks/peers_loo.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from _common import Array, Timing, arguments, chosen, machine, progress, publish, table, timed, warn_if_busy
from peers_hinge import moons, normal, verdict
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import svmpath
from svmpath import criteria
from svmpath.criteria.of_jump import drive_out

SPAN = (1e-2, 1e2)
C_VALUES = (1.0, 10.0, 100.0)
SMALL = 30  # the largest elbow that is called small
AIM_SMALL, AIM_LARGE, AIM_COUNT = 20.0, 6.0, 2.0
BUDGET = 60.0  # CPU seconds for the refits of one machine
SAMPLED = 40  # refits beyond it


def overlap(n: int) -> tuple[Array, Array, float]:
    """The normal classes with their means half as far from each other."""
    X, y, gamma = normal(n)
    return X - np.where(y == 1, 1.0, -1.0)[:, None] / np.sqrt(X.shape[1]), y, gamma


DATA: dict[str, Callable[[int], tuple[Array, Array, float]]] = {
    "moons": moons,
    "normal": normal,
    "overlap": overlap,
}


@dataclass(frozen=True)
class Refits:
    """Decision values of some rows, each by a machine without it, and the time for all support vectors."""

    rows: Array
    held: Array
    support: int
    cpu: float
    wall: float

    @property
    def timed(self) -> str:
        """How many were timed."""
        return "all" if len(self.rows) == self.support else str(len(self.rows))


def refit(X: Array, y: Array, gamma: float, C: float, rows: Array) -> Array:
    """Held-out decision values by SVC without each of the rows."""
    held = np.empty(len(rows))
    for k, i in enumerate(rows):
        rest = np.delete(np.arange(len(y)), i)
        held[k] = SVC(kernel="rbf", gamma=gamma, C=C).fit(X[rest], y[rest]).decision_function(X[i : i + 1])[0]
    return held


def refits(X: Array, y: Array, gamma: float, C: float) -> Refits:
    """Without every support vector, or without some of them where that would take too long."""
    rows = SVC(kernel="rbf", gamma=gamma, C=C).fit(X, y).support_
    shuffled = np.random.default_rng(0).permutation(rows)
    trial = timed(lambda: refit(X, y, gamma, C, shuffled[:5]))
    size = len(rows) if trial.cpu_median * len(rows) / min(len(rows), 5) < BUDGET else min(SAMPLED, len(rows))
    chosen_rows = np.sort(shuffled[:size])
    run = timed(lambda: refit(X, y, gamma, C, chosen_rows))
    scale = len(rows) / size
    return Refits(chosen_rows, run.result, len(rows), scale * run.cpu_median, scale * run.median)


@dataclass(frozen=True)
class Row:
    """What was measured at one C."""

    name: str
    n: int
    C: float
    elbow: int
    support: int
    events: int
    path: Timing
    exact: Timing
    count: Timing
    refits: Refits
    y: Array

    @property
    def ratio(self) -> float:
        """Refits over exact, CPU times."""
        return self.refits.cpu / self.exact.cpu_median

    @property
    def count_ratio(self) -> float:
        """Exact over count only, CPU times."""
        return self.exact.cpu_median / self.count.cpu_median

    @property
    def aim(self) -> float:
        return AIM_SMALL if self.elbow <= SMALL else AIM_LARGE

    def cells(self) -> list[str]:
        held, rows = self.exact.result.held[0], self.refits.rows
        errors = [int(np.count_nonzero((f > 0) != (self.y[rows] > 0))) for f in (held[rows], self.refits.held)]
        counted = np.array_equal(self.count.result.losses, self.exact.result.losses)
        wall = self.refits.wall / self.exact.median
        return [
            f"{self.name}, {self.n}", f"{self.C:g}", str(self.elbow), str(self.support), str(self.events),
            f"{1e3 * self.path.cpu_median:.1f}", f"{1e3 * self.exact.cpu_median:.2f}", f"{self.refits.cpu:.3f}",
            self.refits.timed, f"{self.ratio:.1f}", f"{wall:.1f}", verdict(self.ratio, self.aim, below=False),
            f"{self.count_ratio:.2f}", verdict(self.count_ratio, AIM_COUNT, below=False), f"{errors[0]}, {errors[1]}",
            "yes" if counted else "NO", f"{np.abs(held[rows] - self.refits.held).max():.1e}",
        ]  # fmt: skip


HEAD = [
    "data, n", "C", "elbow", "SVs", "events", "path ms", "exact ms", "refits s", "timed", "refits / exact", "by wall",
    "aim", "exact / count", "aim", "errors", "count equal", "values differ",
]  # fmt: skip


def measure(name: str, n: int, C_values: Sequence[float], repeats: int) -> tuple[list[Row], Any]:
    """All lines of one data set, and its path."""
    X, y, gamma = DATA[name](n)
    traced = timed(lambda: svmpath.trace(X, y, loss="hinge", gamma=gamma, span=SPAN), repeats)
    path, rows = traced.result, []
    for C in C_values:
        progress(f"{name}, n = {n}, C = {C:g} ...")
        share = np.abs(path(C).alpha) / C
        support = share > 1e-9
        elbow = int(np.count_nonzero(support & (share < 1.0 - 1e-9)))
        exact, count = alternating(
            lambda C=C: criteria.loo(path, [C]), lambda C=C: criteria.loo(path, [C], count_only=True), repeats
        )
        events = int(drive_out(path, np.array([C])).events[0])
        again = refits(X, y, gamma, C)
        rows.append(Row(name, n, C, elbow, int(support.sum()), events, traced, exact, count, again, path.problem.y))
    return rows, path


def alternating(first: Callable[[], Any], second: Callable[[], Any], repeats: int) -> tuple[Timing, Timing]:
    """Two functions in turn, so that other work on the machine disturbs both alike."""
    pairs = [(timed(first), timed(second)) for _ in range(repeats)]
    runs = [[pair[k] for pair in pairs] for k in (0, 1)]
    one, two = (
        Timing(tuple(r.seconds[0] for r in each), tuple(r.cpu[0] for r in each), each[-1].result) for each in runs
    )
    return one, two


def alo_row(rows: list[Row], path: Any, size: int, repeats: int) -> list[str]:
    """A line of the table of ALO curves: the curve against the cheapest refits."""
    curve = timed(lambda: criteria.alo(path, np.geomspace(*SPAN, size)), repeats)
    cheapest = min(rows, key=lambda row: row.refits.cpu)
    ratio = curve.cpu_median / cheapest.refits.cpu
    return [
        f"{cheapest.name}, {cheapest.n}", str(size), f"{curve.cpu_median:.4f}", f"{cheapest.refits.cpu:.3f}",
        f"{cheapest.C:g}", f"{ratio:.3f}", f"< 1 {'reached' if ratio < 1 else 'MISSED'}",
    ]  # fmt: skip


def step_row(name: str, n: int, repeats: int) -> list[str]:
    """A line of the table of step functions."""
    progress(f"steps, {name}, n = {n} ...")
    X, y, gamma = DATA[name](n)
    one = timed(lambda: svmpath.trace(X, y, loss="hinge", gamma=gamma, span=SPAN), repeats)
    steps = timed(lambda: criteria.loo(one.result, exact=True), repeats)
    values = steps.result.values
    some = np.unique(np.linspace(0, len(values) - 1, 25).astype(int))
    equal = np.array_equal(steps.result.losses[some], criteria.loo(one.result, values[some]).losses)
    return [
        f"{name}, {n}", f"{steps.cpu_median:.3f}", str(len(values) - 1), f"{steps.cpu_median / one.cpu_median:.0f}",
        f"{steps.result.scores.min():.4f}", "yes" if equal else "NO",
    ]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=25)
    parser.add_argument("--sizes", type=int, nargs="+", default=(300, 600), help="rows (default 300 600)")
    parser.add_argument("--steps", type=int, nargs="+", default=(100, 200), help="rows of the step functions")
    parser.add_argument("--repeats", type=int, default=7, help="runs, the median counts (default 7)")
    options = parser.parse_args(argv)
    warn_if_busy()
    names = chosen(list(DATA), options.sets)
    with threadpool_limits(1, "blas"):
        for name in names:  # compiles
            _, path = measure(name, 40, C_VALUES[:1], 1)
            criteria.alo(path, [1.0])
        lines, curves = [], []
        for n in options.sizes:
            for name in names:
                rows, path = measure(name, n, C_VALUES, options.repeats)
                lines += [row.cells() for row in rows]
                if n == min(options.sizes):
                    curves.append(alo_row(rows, path, options.Cs, options.repeats))
        steps = [step_row(name, n, min(options.repeats, 3)) for n in options.steps for name in names]
    publish("peers_loo", report(lines, curves, steps, options.repeats), options.write)


def report(lines: list[list[str]], curves: list[list[str]], steps: list[list[str]], repeats: int) -> str:
    return "\n\n".join(
        [
            "Exact leave-one-out of the hinge machine beside refits\n" + machine(),
            table(HEAD, lines),
            table(["data, n", "values", "ALO curve s", "refits s", "at C", "ALO / refits", "aim"], curves),
            table(["data, n", "step function s", "jumps", "in paths", "smallest error", "equal to loo"], steps),
            f"CPU seconds, one thread; exact and count: median of {repeats}; step functions: of {min(repeats, 3)}.\n"
            "refits: SVC at its default tolerance, without each support vector, or as many as timed, extrapolated.\n"
            "errors: of the rows refitted, by exact and by SVC. count equal: the same samples are errors.\n"
            "values differ: largest difference of decision values to SVC. events: on the ways of all samples.\n"
            "path: traced once for all C from 0.01 to 100, before; it is not part of exact.\n"
            "The ALO curve stands beside the cheapest refits of its data. in paths: the time of tracing one path is 1.",
        ]
    )


if __name__ == "__main__":
    main()

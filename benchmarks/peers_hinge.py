"""The hinge path beside scikit-learn's SVC, in the same process: one fit, a grid search, and approximate paths.

    whole path      svmpath.trace(loss="hinge") over C from 1e-3 to 100, kernel included, certificate included
    one fit         SVC at C = 1, the same kernel
    grid            GridSearchCV over 20 values of C from 0.01 to 100, five folds, n_jobs=1
    by paths        svmpath.trace and criteria.kfold at the same values and folds

Data: two moons (noise 0.3, gamma 1: a small elbow) and two normal classes in 20 dimensions (gamma 0.05: a large one);
twonorm and ringnorm (gamma 1/20) of 800 and 1600 rows beside the CPU seconds that R's svmpath 0.970 is known to need.
Approximate: twonorm, 20 000 rows, rank 500, C from 1e-3 to 10, tol = 1e-3, beside LinearSVC(loss="hinge", C=1) on the
same features, and the largest gap at 100 random values. Exact paths and SVC run with one BLAS thread, the approximate
ones with two. Run it on an idle machine:

    python benchmarks/peers_hinge.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
os.environ.setdefault("MKL_NUM_THREADS", "2")
os.environ.setdefault("OMP_NUM_THREADS", "2")

import warnings
from collections.abc import Sequence

import numpy as np
from _common import Array, arguments, machine, progress, publish, table, timed, warn_if_busy
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import svmpath
from svmpath import criteria, datasets

R_SECONDS = {800: "1.1", 1600: "6 to 7"}  # of R's svmpath, CPU seconds
SPAN = (1e-3, 1e2)


def moons(n: int) -> tuple[Array, Array, float]:
    X, y = make_moons(n, noise=0.3, random_state=0)
    return X, y, 1.0


def normal(n: int) -> tuple[Array, Array, float]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 20)) + np.where(y == 1, 1.0, -1.0)[:, None] * 2 / np.sqrt(20), y, 0.05


def whole_path(X: Array, y: Array, gamma: float) -> svmpath.paths.Path:
    return svmpath.trace(X, y, loss="hinge", gamma=gamma, span=SPAN)


def one_row(name: str, X: Array, y: Array, gamma: float, aims: tuple[float, float], repeats: int) -> list[str]:
    """One line of the first table."""
    progress(f"{name}, n = {len(y)} ...")
    whole_path(X[:50], y[:50], gamma)  # compiles
    path = timed(lambda: whole_path(X, y, gamma), repeats)
    fit = timed(lambda: SVC(C=1, gamma=gamma).fit(X, y), repeats)
    values, folds = np.geomspace(1e-2, 1e2, 20), list(StratifiedKFold(5).split(X, y))
    by_paths = timed(
        lambda: criteria.kfold(svmpath.trace(X, y, loss="hinge", gamma=gamma, span=(1e-2, 1e2)), values, cv=folds),
        min(repeats, 3),
    )
    grid = timed(lambda: GridSearchCV(SVC(gamma=gamma), {"C": values}, cv=folds, n_jobs=1, refit=False).fit(X, y))
    difference = np.abs(1 - grid.result.cv_results_["mean_test_score"] - by_paths.result.scores).max()
    ratio, gain = path.best / fit.best, grid.best / by_paths.best
    events = len(path.result.breakpoints) - 2
    violation = max(path.result(C).violation for C in path.result.breakpoints[:: max(events // 50, 1)])
    return [
        f"{name}, {len(y)}", str(events), f"{1e3 * path.best:.1f}", f"{1e3 * fit.best:.1f}", f"{ratio:.1f}",
        verdict(ratio, aims[0], below=True), f"{grid.best:.2f}", f"{by_paths.best:.3f}", f"{gain:.1f}",
        verdict(gain, aims[1], below=False), f"{difference:.3f}", f"{violation:.0e}",
    ]  # fmt: skip


def verdict(value: float, aim: float, *, below: bool) -> str:
    if not np.isfinite(aim):
        return "-"
    reached = value <= aim if below else value >= aim
    return f"{'<=' if below else '>='} {aim:g} {'reached' if reached else 'MISSED'}"


def beside_r(make: str, n: int) -> list[str]:
    """One line of the second table."""
    progress(f"{make}, n = {n} ...")
    X, y = getattr(datasets, make)(n, random_state=0)
    run = timed(lambda: whole_path(X, y, 1 / 20), 3)
    return [f"{make}, {n}", str(len(run.result.breakpoints) - 2), f"{run.best:.3f}", R_SECONDS.get(n, "-")]


def approximate(n: int, rank: int, tol: float) -> list[str]:
    """The line of the third table."""
    progress(f"approximate, n = {n} ...")
    X, y = datasets.twonorm(n, random_state=0)
    options = {"loss": "hinge", "gamma": 1 / 20, "rank": rank, "landmarks": "uniform", "random_state": 0}
    path = svmpath.trace(X, y, span=(1e-3, 10.0), tol=tol, **options)
    features = path.terms.A
    run = timed(lambda: len(path.nodes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = timed(lambda: LinearSVC(loss="hinge", C=1).fit(features[:, :-1], y), 3)
    gap = max(path(C).gap for C in 10 ** np.random.default_rng(0).uniform(-3, 1, size=100))
    ratio = run.best / fit.best
    return [
        f"twonorm, {n}", str(rank), f"{tol:g}", str(run.result), f"{run.best:.2f}", f"{fit.best:.2f}", f"{ratio:.1f}",
        verdict(ratio, 3, below=True), f"{gap:.1e}",
    ]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--quick", action="store_true", help="small problems only, to see that it runs")
    options = parser.parse_args(argv)
    warn_if_busy()
    sizes, repeats = ((60,), 1) if options.quick else ((200, 1000), 7)
    aims = {("moons", 200): (2, 12), ("normal", 200): (2, np.inf), ("moons", 1000): (8, 8), ("normal", 1000): (12, 3)}
    with threadpool_limits(1, "blas"):
        first = [
            one_row(make.__name__, *make(n), aims.get((make.__name__, n), (np.inf, np.inf)), repeats)
            for n in sizes
            for make in (moons, normal)
        ]
        rows = (50,) if options.quick else (800, 1600)
        second = [beside_r(make, n) for n in rows for make in ("twonorm", "ringnorm")]
    third = [approximate(*((300, 20) if options.quick else (20_000, 500)), 1e-3)]
    publish("peers_hinge", report(first, second, third), options.write)


def report(first: list[list[str]], second: list[list[str]], third: list[list[str]]) -> str:
    head = ["data, n", "events", "path ms", "fit ms", "path / fit", "aim", "grid s", "by paths s", "grid / by paths"]
    return "\n\n".join(
        [
            "The hinge path beside its peers\n" + machine(),
            table([*head, "aim", "scores differ", "violation"], first),
            table(["data, n", "events", "path s", "R svmpath CPU s"], second),
            table(["data, n", "rank", "tol", "nodes", "path s", "LinearSVC s", "ratio", "aim", "largest gap"], third),
            "path: kernel, walk and certificate, C from 1e-3 to 100, best of 7; fit: SVC at C = 1, best of 7.\n"
            "grid: GridSearchCV, 20 values of C, 5 folds; by paths: the path and 5-fold along it at the same values.\n"
            "scores differ: largest difference of the two curves (LIBSVM stops at its tolerance of 1e-3).\n"
            "violation: largest at some fifty breakpoints. R's figures are of other hardware.\n"
            "Approximate: without the features, which both sides are given.",
        ]
    )


if __name__ == "__main__":
    main()

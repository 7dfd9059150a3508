"""Choosing C and gamma: ``PathSVC(loss="least_squares")`` by exact leave-one-out against ``GridSearchCV(SVC)``.

Wall time in one run, both with two workers and the same 13 gammas x 11 values of C: the grid search fits 13 x 11 x 5
machines (5 folds) and the chosen one again; ours scores every pair by exact leave-one-out and fits the chosen one,
with the full kernel ("dense") and in low rank (100 or 200 landmarks). The test error of both is printed beside the
time, so that speed bought with error would show.

Ours is run once before it is timed, then the best of five runs counts. The grid search is timed once; its worker
processes are started before. Run it on an idle machine:

    python benchmarks/peers_least_squares.py --write
"""

from __future__ import annotations

import os

# One BLAS thread per worker, on both sides: two are slower than one on small matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from _common import (
    Array,
    C_grid,
    arguments,
    chosen,
    gamma_grid,
    load,
    machine,
    progress,
    publish,
    table,
    timed,
    warn_if_busy,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from svmpath import PathSVC, datasets
from svmpath.gram import Nystroem

N_TEST = 5000
LARGE = 1000  # from so many rows on SVC's iterations are capped
MAX_ITER = 1_000_000


# --- data ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A training and a test set."""

    name: str
    X: Array
    y: Array
    X_test: Array
    y_test: Array


def _drawn(generator: Callable[..., tuple[Array, Array]]) -> Callable[[str, int], Case]:
    def draw(name: str, n: int) -> Case:
        X, y = generator(n + N_TEST, 0)  # one call: a mixture draws its centres too
        return Case(name, X[:n], y[:n], X[n:], y[n:])

    return draw


def _real_banana(name: str, n: int) -> Case | None:
    data = load("banana")
    if data is None:
        return None
    train = data["train_gen"][0][:n]
    test = np.setdiff1d(np.arange(len(data["y"])), data["train_gen"][0])
    return Case(name, data["X"][train], data["y"][train], data["X"][test], data["y"][test])


SETS: dict[str, Callable[[str, int], Case | None]] = {
    "twonorm": _drawn(datasets.twonorm),
    "ringnorm": _drawn(datasets.ringnorm),
    "waveform": _drawn(datasets.waveform),
    "banana-like": _drawn(datasets.banana),
    "banana (file)": _real_banana,
    "gaussian mixture": _drawn(datasets.gaussian_mixture),
}
SMALL_SETS = ("twonorm", "ringnorm", "waveform", "banana-like", "banana (file)")
LARGE_SETS = ("gaussian mixture", "banana-like")


# --- both sides ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ours:
    """One of our rows: rank None is dense; target and ambition are times as fast as the grid, None if not set."""

    rank: int | None
    landmarks: str
    target: int | None
    ambition: int | None

    @property
    def name(self) -> str:
        return "dense" if self.rank is None else f"rank {self.rank} {self.landmarks}"


SMALL_RUNS = (
    Ours(None, "", 15, 30),
    Ours(100, "rpcholesky", 50, 100),
    Ours(100, "uniform", 50, 100),
)
LARGE_RUNS = (
    Ours(None, "", None, None),
    Ours(100, "rpcholesky", 150, 300),
    Ours(100, "uniform", 150, 300),
    Ours(200, "rpcholesky", None, None),
)


@dataclass(frozen=True)
class Row:
    """What was measured of one of our runs on one set, and of the grid search beside it."""

    case: Case
    ours: Ours
    seconds: float
    error: float
    grid_seconds: float
    grid_error: float
    capped: int
    fits: int

    @property
    def ratio(self) -> float:
        return self.grid_seconds / self.seconds


def score(model: SVC, X: Array, y: Array) -> dict[str, float]:
    """Accuracy, as ``GridSearchCV`` scores by default, and whether the fit ended at its limit of iterations."""
    limit = model.max_iter
    return {"accuracy": model.score(X, y), "capped": float(limit > 0 and np.max(model.n_iter_) >= limit)}


def grid_search(grid: dict[str, list[float]], jobs: int, max_iter: int) -> GridSearchCV:
    """The peer: five folds, the default of scikit-learn."""
    model = SVC(kernel="rbf", max_iter=max_iter)
    return GridSearchCV(model, grid, cv=5, n_jobs=jobs, scoring=score, refit="accuracy")


def path_svc(grid: dict[str, list[float]], jobs: int, ours: Ours) -> PathSVC:
    options = {"rank": None, "search": "grid", "n_jobs": jobs, "random_state": 0}
    low_rank = {} if ours.rank is None else {"rank": Nystroem(ours.rank, ours.landmarks)}
    return PathSVC(loss="least_squares", criterion="loo", **{**options, **low_rank, **grid})


def start_workers(jobs: int) -> None:
    """Start the grid search's processes, so that their start is not timed."""
    X, y = datasets.twonorm(40, 0)
    grid_search({"gamma": [0.1, 1.0], "C": [0.1, 1.0]}, jobs, -1).fit(X, y)


def held_out_error(model: Any, case: Case) -> float:
    """Error rate on the test set, in per cent."""
    return float(100.0 * np.mean(model.predict(case.X_test) != case.y_test))


def measure(case: Case, runs: Sequence[Ours], grid: dict[str, list[float]], jobs: int, repeats: int) -> list[Row]:
    """The grid search once and each of our runs on one set."""
    n = len(case.y)
    search = grid_search(grid, jobs, MAX_ITER if n >= LARGE else -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
        peer = timed(lambda: search.fit(case.X, case.y)).best
    capped = sum(search.cv_results_[f"split{fold}_test_capped"].sum() for fold in range(5))
    fits = 5 * len(search.cv_results_["params"])
    error = held_out_error(search, case)
    rows = []
    for ours in runs:
        model = path_svc(grid, jobs, ours)
        model.fit(case.X, case.y)
        timing = timed(lambda model=model: model.fit(case.X, case.y), repeats)
        rows.append(Row(case, ours, timing.best, held_out_error(model, case), peer, error, int(capped), fits))
    return rows


# --- output ----------------------------------------------------------------------------------------------------------


def rows_table(rows: list[Row]) -> str:
    header = ["set", "n", "d", "grid (s)", "ours", "ours (s)", "ratio", "target", "grid error %", "ours error %"]
    return table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    n, d = row.case.X.shape
    peer = f"{row.grid_seconds:.2f}" + ("*" if row.capped else "")
    times = [peer, row.ours.name, f"{row.seconds:.4f}", f"{row.ratio:.1f}", _verdict(row)]
    return [row.case.name, str(n), str(d), *times, f"{row.grid_error:.2f}", f"{row.error:.2f}"]


def _verdict(row: Row) -> str:
    ours = row.ours
    if ours.target is None or ours.ambition is None:
        return "-"
    if row.ratio >= ours.ambition:
        return f">= {ours.ambition} ambition"
    return f">= {ours.target} reached" if row.ratio >= ours.target else f"< {ours.target} MISSED"


def targets_table(rows: list[Row]) -> str:
    """For every target: on how many sets it is reached."""
    groups: dict[tuple[int, Ours], list[float]] = {}
    for row in rows:
        if row.ours.target is not None:
            groups.setdefault((len(row.case.y), row.ours), []).append(row.ratio)
    header = ["target", "times faster", "reached on", "smallest", "median", "ambition", "reached on"]
    lines = []
    for (n, ours), ratios in groups.items():
        reached, beyond = (f"{sum(r >= bar for r in ratios)} of {len(ratios)}" for bar in (ours.target, ours.ambition))
        spread = [f"{min(ratios):.1f}", f"{np.median(ratios):.1f}"]
        lines.append([f"{ours.name}, n = {n}", str(ours.target), reached, *spread, str(ours.ambition), beyond])
    return table(header, lines)


def notes(rows: list[Row], missing: list[str], jobs: int, repeats: int) -> str:
    """What a reader must know of the tables."""
    held_out = min((len(row.case.y_test) for row in rows), default=0)
    lines = [
        f"grid: GridSearchCV(SVC(kernel='rbf'), cv=5, n_jobs={jobs}), one run, worker processes started before.",
        f"ours: PathSVC(loss='least_squares', search='grid', criterion='loo', n_jobs={jobs}), best of {repeats}.",
        "Both include the final fit. Same gammas and same numbers C; the losses differ (hinge, squares), so that",
        "equal C is not an equal machine. In low rank ours also predicts in low rank.",
        f"Test errors: one draw, at least {held_out} held-out rows.",
    ]
    for row in {row.case.name: row for row in rows if row.capped}.values():
        lines.append(
            f"* {row.case.name}, n = {len(row.case.y)}: {row.capped} of the {row.fits} fits of SVC were stopped at "
            f"max_iter = {MAX_ITER:.0e}; uncapped the grid would take longer."
        )
    if missing:
        lines.append(f"Without the data folder (SVMPATH_DATA) there is no {', '.join(missing)}.")
    return "\n".join(lines)


def plan(sizes: Sequence[int], wanted: Sequence[str] | None) -> list[tuple[str, int, Sequence[Ours]]]:
    """Which sets at which n, and our runs on them."""
    names = chosen(list(SETS), wanted)
    small = [(name, n, SMALL_RUNS) for n in sizes if n < LARGE for name in SMALL_SETS if name in names]
    return small + [(name, n, LARGE_RUNS) for n in sizes if n >= LARGE for name in LARGE_SETS if name in names]


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[400, 1000], help="training rows (default 400 1000)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of ours, the best counts (default 5)")
    parser.add_argument("--jobs", type=int, default=2, help="workers of both sides (default 2)")
    options = parser.parse_args(argv)
    warn_if_busy()
    grid = {"gamma": gamma_grid(options.gammas), "C": C_grid(options.Cs)}
    start_workers(options.jobs)
    rows: list[Row] = []
    missing = []
    for name, n, runs in plan(options.sizes, options.sets):
        case = SETS[name](name, n)
        if case is None:
            missing.append(name)
            continue
        progress(f"{name}, n = {n} ...")
        rows += measure(case, runs, grid, options.jobs, options.repeats)
    title = f"Choosing among {options.gammas} gammas x {options.Cs} values of C, {options.jobs} workers on both sides"
    parts = [f"{title}\n{machine()}", rows_table(rows), targets_table(rows)]
    parts.append(notes(rows, missing, options.jobs, options.repeats))
    publish("peers_least_squares", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()

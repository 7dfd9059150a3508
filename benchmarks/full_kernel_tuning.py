"""Tuning with the full kernel of many rows: error, and time in fits of SVC.

Each set is tuned by ``PathSVC`` or ``PathSVR`` with effort="quick" (low rank) and effort="auto" (the full kernel where
low rank is not enough), and beside it SVC or SVR is fitted at six pairs, of which the one with the least error on the
new rows is shown: no choice can promise as much. CPU seconds, one thread; the peer's are those of one fit at that pair.

"noisy" is generated: 20 columns, y = sign(sin(2 x0) + x1 x2 + x3 / 2) with 15 % of the labels flipped. So are
"checker", a board of 3^4 fields in four of eight columns with 10 % of the labels flipped, and "sines", a regression on
six columns. The others are files of the data folder, standardised, rows drawn at random. Each ``--draw`` has other
rows: constants of the search were settled with those of draw 0, so that others say more.

    python benchmarks/full_kernel_tuning.py --sets noisy:4000 noisy:10000 kin40k:5000 --draw 1 --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import resource
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, Array, load, machine, progress, publish, table, timed
from full_kernel import noisy
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from svmpath import PathSVC, PathSVR

NUMBERS = ("kin40k", "sines")  # sets whose target is a number
NEW = 10_000  # rows that errors are measured on


def checker(n: int, seed: int) -> tuple[Array, Array]:
    """A board in four of eight columns, one in ten of whose labels is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 3.0, size=(n, 8))
    y = np.where(np.floor(X[:, :4]).sum(axis=1) % 2 == 0, 1.0, -1.0)
    return X, np.where(rng.random(n) < 0.1, -y, y)


def sines(n: int, seed: int) -> tuple[Array, Array]:
    """A regression on products of sines."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 6))
    f = np.sin(3.0 * X[:, 0]) * np.sin(2.0 * X[:, 1]) + np.sin(2.0 * X[:, 2] * X[:, 3]) + 0.5 * X[:, 4]
    return X, f + 0.3 * rng.normal(size=n)


GENERATED = {"noisy": noisy, "checker": checker, "sines": sines}


def data(name: str, n: int, draw: int = 0) -> tuple[Array, Array, Array, Array]:
    """Training rows and new ones."""
    if name in GENERATED:
        return (*GENERATED[name](n, 10 + 2 * draw), *GENERATED[name](NEW, 11 + 2 * draw))
    held = load(name)
    if held is None:
        raise SystemExit(f"There is no file {name}.npz in the data folder; use noisy.")
    if "X" not in held:  # a set in ten parts
        both = ("train", "test")
        held = {part: np.concatenate([held[f"fold0-{part.lower()}_{each}"] for each in both]) for part in "Xy"}
    X, y = held["X"].astype(float), held["y"]
    order = np.random.default_rng(draw).permutation(len(y))
    train, test = order[:n], order[n : n + NEW]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def tune(name: str, n: int, efforts: Sequence[str], draw: int) -> list[list[str]]:
    """Rows of the table for one set."""
    X, y, new, truth = data(name, n, draw)
    make, peer = (PathSVR, SVR) if name in NUMBERS else (PathSVC, SVC)

    def error(predicted: Array) -> float:
        wrong = (predicted - truth) ** 2 / np.var(truth) if name in NUMBERS else predicted != truth
        return 100 * float(np.mean(wrong))

    def row(who: str, model: Any, seconds: float, fit: float, what: str) -> list[str]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        cells = [f"{error(model.predict(new)):.2f}", f"{seconds:.1f}", f"{seconds / fit:.1f}", f"{peak:.1f}"]
        return [name, str(n), who, *cells, what]

    best: tuple[float, Any, float] = (np.inf, None, 1.0)
    for gamma in (0.3 / X.shape[1], 1.0 / X.shape[1], 3.0 / X.shape[1]):
        for C in (1.0, 10.0):
            progress(f"{name}, {n} rows, {peer.__name__} at gamma = {gamma:.3g}, C = {C:g}")
            timing = timed(lambda gamma=gamma, C=C: peer(gamma=gamma, C=C).fit(X, y))
            here = error(timing.result.predict(new)), timing.result, timing.cpu_median
            best = here if here[0] < best[0] else best
    _, model, fit = best
    rows = [row(f"{peer.__name__}, best of 6 pairs", model, fit, fit, f"gamma {model.gamma:.3g}, C {model.C:g}")]
    for effort in efforts:
        progress(f"{name}, {n} rows, {effort}")
        timing = timed(lambda effort=effort: make(effort=effort, random_state=0).fit(X, y))
        model = timing.result
        what = f"gamma {model.gamma_:.3g}, C {model.C_:.3g}, {model.loss_}, rank {model.rank_}"
        rows.append(row(effort, model, timing.cpu_median, fit, what))
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Write a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=["noisy:4000"], metavar="NAME:ROWS", help="default noisy:4000")
    parser.add_argument("--draw", type=int, default=0, help="which rows (default 0)")
    parser.add_argument("--efforts", nargs="*", default=["quick", "auto"], help="default quick and auto")
    text = "put the output into its section of this file (default benchmarks/RESULTS.md)"
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help=text)
    options: Any = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    PathSVC(random_state=0).fit(*noisy(100, 0))  # what is loaded once
    sets = [(name, int(n)) for name, n in (each.split(":") for each in options.sets)]
    rows = [row for name, n in sets for row in tune(name, n, options.efforts, options.draw)]
    header = ["set", "n", "", "error %", "CPU s", "in fits", "GiB", "chosen"]
    notes = (
        "error: on 10 000 new rows or what is left; of kin40k, of the variance. GiB: the most that the process had\n"
        "taken by then. Fits: CPU seconds over those of one fit of the best pair of SVC or SVR."
    )
    publish("full_kernel_tuning", "\n\n".join([machine(), table(header, rows), notes]), options.write)


if __name__ == "__main__":
    main()

"""What it saves to merge rows that repeat, on categorical columns.

Protocol: columns of a few values each, standardised, so that most rows are there several times, some with both labels;
and ``tied_X`` of ``hard_cases.npz`` where that file is in the data folder. Each estimator is fitted as it is, and once
more with the search for copies switched off. What they choose must be the same. Times are CPU seconds in one thread,
best of some repeats:

    python benchmarks/repeated_rows.py --write
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from _common import RESULTS, Array, chosen, load, machine, progress, publish, table, timed, warn_if_busy
from sklearn.preprocessing import StandardScaler

from svmpath import PathSVC, PathSVR
from svmpath.estimators import _base

MODELS = {
    "PathSVC()": lambda: PathSVC(random_state=0),
    'PathSVC(loss="hinge")': lambda: PathSVC(loss="hinge", random_state=0),
    'PathSVC(loss="least_squares")': lambda: PathSVC(loss="least_squares", random_state=0),
    "PathSVR()": lambda: PathSVR(random_state=0),
    'PathSVR(loss="epsilon_insensitive")': lambda: PathSVR(loss="epsilon_insensitive", random_state=0),
}
AIM = 5.0


def categorical(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Nine columns of two to four values that depend on each other, and labels that contradict each other at times."""
    rng = np.random.default_rng(seed)
    levels = np.array([2, 2, 3, 3, 4, 2, 3, 2, 2])
    kinds = rng.integers(levels, size=(85, 9)).astype(float)
    kinds = kinds[rng.choice(85, p=rng.dirichlet(np.ones(85)), size=n)]
    score = kinds[:, 0] + kinds[:, 2] - kinds[:, 4] + rng.normal(size=n)
    return StandardScaler().fit_transform(kinds), np.where(score > np.median(score), 1, -1)


def data(name: str) -> tuple[Array, Array] | None:
    """A set by its name; None where its file is not there."""
    if name.startswith("categorical"):
        return categorical(int(name.split()[1]))
    found = load("hard_cases")
    return None if found is None else (found["tied_X"], found["tied_y"])


def measure(name: str, label: str, X: Array, y: Array, repeats: int) -> list[str]:
    """One line of the table: the fit with copies merged, and without."""
    progress(f"{name}: {label} ...")
    merged = timed(lambda: MODELS[label]().fit(X, y), repeats)
    with patch.object(_base, "find_copies", lambda gram, labels: None):
        plain = timed(lambda: MODELS[label]().fit(X, y), repeats)
    same = (merged.result.C_, merged.result.gamma_) == (plain.result.C_, plain.result.gamma_)
    ratio = min(plain.cpu) / min(merged.cpu)
    distinct = len(np.unique(np.column_stack([X, y]), axis=0))
    line = [name, str(len(y)), str(X.shape[1]), str(distinct), label]
    line += [f"{min(plain.cpu):.3f}", f"{min(merged.cpu):.3f}", f"{ratio:.1f}"]
    return [*line, f">= {AIM:g} reached" if ratio >= AIM else f"< {AIM:g} MISSED", "yes" if same else "NO"]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help='only these sets ("categorical N" has N rows)')
    parser.add_argument("--models", nargs="+", metavar="NAME", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--repeats", type=int, default=3)
    text = "put the output into its section of this file (default benchmarks/RESULTS.md)"
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help=text)
    options: Any = parser.parse_args(argv)
    known = ["tied (file)", "categorical 666", "categorical 2000"]
    known += [name for name in options.sets or () if name.startswith("categorical ")]
    warn_if_busy()
    for model in MODELS.values():
        model().fit(*categorical(60))  # load and compile what is needed at the first call
    rows = []
    for name in chosen(list(dict.fromkeys(known)), options.sets):
        found = data(name)
        rows += [measure(name, label, *found, options.repeats) for label in options.models] if found else []
    header = ["set", "n", "d", "distinct", "model", "all rows (s)", "merged (s)", "ratio", "aim", "same choice"]
    notes = "distinct: rows with their labels. Times: CPU seconds of one fit in one thread, best of some repeats."
    publish("repeated_rows", "\n\n".join([f"Rows that repeat\n{machine()}", table(header, rows), notes]), options.write)


if __name__ == "__main__":
    main()

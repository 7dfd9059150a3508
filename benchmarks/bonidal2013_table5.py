"""Bonidal, Tindel & Guermeur (2013), Table 5, beside ours: the Spam set, with a close and a loose approximation.

As in the paper: for each realization 1000 rows are drawn for the test, the others (3601) are standardised and trained
on; density-weighted Nystroem kernel, eigenvalues below 1e-3 dropped, lambda = 1 / C from 1e7 down to 1e-6 chosen by the
leave-one-out prediction of the spans. The rows of the table are

    default        60 % of the training rows as landmarks
    rank=600       600 landmarks
    rpcholesky     600 landmarks by randomly pivoted Cholesky, nothing dropped: ours, not the paper's

    gradient       ``PathSVC(search="gradient")``: gamma and C together, no landmarks

each but the last with both readings of the heuristic for the width, 1/ms and 1/(2ms) (see bonidal2013_table3_4.py), and
with the width at which the gradient ended.

Data: spambase.npz in the folder named by SVMPATH_DATA (or ../shared/data). Where there is none, a GENERATED set of the
same size stands in (scikit-learn's make_classification: 4601 rows, 57 columns): its times and ranks tell something of
the method, its error rates nothing of Spam. Times are the processor's, of one thread.

    python benchmarks/bonidal2013_table5.py --splits 30 --resume --write
"""

from __future__ import annotations

import os

# One BLAS thread, as for the other tables: the paper's times are of one process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from _bonidal import (
    HEURISTICS,
    C_values,
    Sample,
    Split,
    by_gradient,
    by_span,
    in_standard_errors,
    set_changes,
    spread,
    standardised,
)
from _common import Array, arguments, chosen, load, machine, pieces, progress, publish, table, warn_if_busy
from sklearn.datasets import make_classification

from svmpath.gram import Nystroem

ROWS, COLUMNS, N_TEST = 4601, 57, 1000


@dataclass(frozen=True)
class Paper:
    """A row of the paper's Table 5: error rate in per cent (mean, deviation) and seconds, of path and gradient."""

    path: tuple[float, float]
    gradient: tuple[float, float]
    path_seconds: float
    gradient_seconds: float


# The paper's numbers, MATLAB R2010b.
PAPER = {
    "default": Paper((6.22, 0.87), (6.58, 0.84), 27.8510, 97.5712),
    "rank=600": Paper((6.64, 0.97), (6.56, 0.76), 15.9084, 102.9281),
}
REALIZATIONS = 30  # of the paper
GRADIENT = "gradient"
CRITERIA = (*PAPER, "rpcholesky", GRADIENT)


def pool(size: int) -> tuple[str, Array, Array]:
    """Where the set comes from, and all of its rows; ``size`` is the number of generated ones."""
    data = load("spambase")
    if data is not None:
        return "file", data["X"], np.where(data["y"] > 0, 1, -1)
    shape = {"n_samples": size, "n_features": COLUMNS, "n_informative": 20, "n_redundant": 17, "weights": [0.6]}
    X, y = make_classification(**shape, n_clusters_per_class=3, flip_y=0.05, class_sep=1.5, random_state=0)
    return "generated", X, 2 * y - 1


def splits(X: Array, y: Array, count: int, n_test: int) -> Iterator[Split]:
    """Some rows at random for the test, the others to train on."""
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(len(y))
        test, train = order[:n_test], order[n_test:]
        yield standardised(X[train], y[train], X[test], y[test])


def approximation(name: str, n: int, rank: int, seed: int) -> dict[str, Any]:
    """The options of a row of the table."""
    if name == "rpcholesky":
        return {"rank": min(rank, n), "landmarks": "rpcholesky", "random_state": seed}
    count = int(0.6 * n) if name == "default" else min(rank, n)
    return {"rank": Nystroem(count, "density", min_eigenvalue=1e-3), "random_state": seed}


@dataclass(frozen=True)
class Outcome:
    """One row of the table: one number per split."""

    errors: Sample
    seconds: Sample
    ranks: Sample
    sets: Sample


def on_split(split: Split, names: list[str], seed: int, options: Any) -> list[list[Any]]:
    """Row, width, error, seconds, rank and set changes of each machine on one split."""
    X, y, X_test, y_test = split
    values = C_values(options.Cs)
    widths = {width: gamma(X) for width, gamma in HEURISTICS.items()}
    found = []
    if GRADIENT in names:
        best, widths[GRADIENT] = by_gradient(X, y, seed)
        found.append([GRADIENT, GRADIENT, best.error(X_test, y_test), best.seconds, best.rank, 0])
    for name in names:
        if name == GRADIENT:
            continue
        low = approximation(name, len(y), options.rank, seed)
        for width, gamma in widths.items():
            best = by_span(X, y, values, gamma=gamma, **low)
            sets, _ = set_changes(best.path, values)
            found.append([name, width, best.error(X_test, y_test), best.seconds, best.rank, sets])
    return found


def run(data: tuple[Array, Array], names: list[str], options: Any) -> dict[tuple[str, str], Outcome]:
    """All rows of the table."""
    keep = pieces("bonidal2013_table5", options)
    found: dict[tuple[str, str], list[list[float]]] = {}
    for seed, split in enumerate(splits(*data, options.splits, options.test)):
        key = (len(data[1]), options.test, seed, options.rank, options.Cs, *names)
        for name, width, *numbers in keep(key, lambda split=split, seed=seed: on_split(split, names, seed, options)):
            found.setdefault((name, width), []).append(numbers)
        progress(f"split {seed + 1} of {options.splits}")
    return {key: Outcome(*(Sample(column) for column in np.array(rows).T)) for key, rows in found.items()}


def rows_table(results: dict[tuple[str, str], Outcome]) -> str:
    header = ["criterion", "gamma", "paper path %", "paper gradient %", "error %", "paper path s", "paper gradient s"]
    header += ["time s", "rank", "sets", "path - paper", "gradient - paper"]
    rows = []
    for (name, width), ours in results.items():
        paper = PAPER.get(name)
        errors = ["-", "-"] if paper is None else [spread(*paper.path), spread(*paper.gradient)]
        times = ["-", "-"] if paper is None else [f"{paper.path_seconds:.2f}", f"{paper.gradient_seconds:.2f}"]
        tail = [f"{ours.seconds.mean:.2f}", f"{ours.ranks.mean:.1f}", f"{ours.sets.mean:.1f}"]
        beside = ["-", "-"]
        if len(ours.errors.numbers) > 1 and (paper is not None or name == GRADIENT):
            theirs = PAPER["default"].gradient if paper is None else paper.path
            distance = f"{in_standard_errors(ours.errors, *theirs, REALIZATIONS):+.1f}"
            beside = ["-", distance] if paper is None else [distance, "-"]
        rows.append([name, width, *errors, str(ours.errors), *times, *tail, *beside])
    return table(header, rows)


def notes(kind: str, rank: int) -> str:
    """What a reader must know of the table."""
    lines = []
    if kind == "generated":
        lines += [
            "The Spam set (spambase.npz) is not here: OURS IS A GENERATED STAND-IN of as many rows and columns.",
            "Its error rates are not those of Spam and must not be compared with the paper's columns.",
        ]
    lines += [
        'Columns "paper ...": Bonidal, Tindel & Guermeur 2013, Table 5, 30 realizations of Spam, MATLAB R2010b.',
        "error: mean +- deviation over the splits. time: mean processor seconds of approximation, path, leave-one-out",
        "along it, and machine. sets: values of C at which the set E differs from the one before, mean.",
        "... - paper: ours minus the paper's mean, in standard errors of the difference.",
        f"Rows rank=600 and rpcholesky: {rank} landmarks; rpcholesky is not in the paper.",
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments(__doc__, gammas=None, Cs=53)
    parser.add_argument("--splits", type=int, default=10, help="realizations (default 10; the paper has 30)")
    parser.add_argument("--rank", type=int, default=600, help="landmarks of the loose approximation (default 600)")
    parser.add_argument("--size", type=int, default=ROWS, help=f"rows of the generated set (default {ROWS})")
    parser.add_argument("--test", type=int, default=N_TEST, help=f"rows of the test (default {N_TEST})")
    options = parser.parse_args(argv)
    warn_if_busy()
    kind, X, y = pool(options.size)
    results = run((X, y), chosen(CRITERIA, options.sets), options)
    shape = f"{len(y) - options.test} + {options.test} rows, {X.shape[1]} columns, {options.splits} splits"
    title = f"Bonidal, Tindel & Guermeur 2013, Table 5: {'Spam' if kind == 'file' else 'a GENERATED stand-in for Spam'}"
    parts = [f"{title}, {shape}\n{machine()}", rows_table(results), notes(kind, options.rank)]
    publish("bonidal2013_table5", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()

"""How long ``PathSVC()`` takes as it is, on sets that come with scikit-learn.

Protocol: standardised columns, all rows, one thread: wall time of one fit (11 kernels x 22 values of C, one machine per
class where there are more than two), its leave-one-out error, and how many samples the machine rests on; beside it the
same in low rank, and least squares. Run it on an idle machine:

    python benchmarks/default_times.py --write
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

from _common import RESULTS, chosen, machine, progress, publish, table, timed, warn_if_busy
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

from svmpath import PathSVC

SETS = {"iris": load_iris, "breast_cancer": load_breast_cancer, "digits": load_digits}


def models(rank: int) -> dict[str, PathSVC]:
    return {
        "PathSVC()": PathSVC(),
        f"PathSVC(rank={rank})": PathSVC(rank=rank, random_state=0),
        'PathSVC(loss="least_squares")': PathSVC(loss="least_squares"),
    }


def measure(name: str, label: str, model: PathSVC, most: int | None) -> list[str]:
    """One line of the table."""
    progress(f"{name}: {label} ...")
    X, y = SETS[name](return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:most], y[:most]
    seconds = timed(lambda: model.fit(X, y)).best
    line = [
        name,
        str(len(y)),
        str(len(model.classes_)),
        label,
        f"{seconds:.2f}",
        f"{model.C_:.3g}",
        f"{model.gamma_:.3g}",
    ]
    return [*line, f"{100 * model.held_out_error():.2f}", str(len(model.support_))]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these data sets")
    parser.add_argument("--rank", type=int, default=300, help="landmarks of the low-rank row (default 300)")
    parser.add_argument("--rows", type=int, help="only the first rows of each set")
    text = "put the output into its section of this file (default benchmarks/RESULTS.md)"
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE", help=text)
    options: Any = parser.parse_args(argv)
    names = chosen(list(SETS), options.sets)
    warn_if_busy()
    PathSVC(gamma=1.0).fit(*load_iris(return_X_y=True))  # load what is loaded at the first call
    rows = []
    for name in names:
        ranked = models(options.rank).items()
        rows += [measure(name, label, model, options.rows) for label, model in ranked]
    header = ["set", "n", "classes", "model", "time (s)", "C", "gamma", "leave-one-out %", "support"]
    notes = "time: wall time of one fit in one thread. leave-one-out: exact, of the choice (of the low-rank kernel)."
    parts = [f"PathSVC as it is\n{machine()}", table(header, rows), notes]
    publish("default_times", "\n\n".join(parts), options.write)


if __name__ == "__main__":
    main()

"""Whether the choice depends on the order of the rows or on the processor, for PathSVC, PathSVR and ElasticNetSVC.

    python benchmarks/same_choice.py                        # every order of the rows, and every kind of BLAS kernels
    python benchmarks/same_choice.py --sets heart wine --orders 2 --cores Haswell

Rows are put in five orders: as they are, three random ones, and sorted by the target. Another processor is another
set of kernels of OpenBLAS (``OPENBLAS_CORETYPE``), in a process of its own. Columns are standardised after the rows
were ordered, so that scaled values differ in their last digits, too. A choice is the same if it is equal to 1e-6.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

CORES = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "SkylakeX")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ROWS = 400  # of each set, so that slow machines take part
SETS = (
    "breast_cancer_wisconsin",
    "wine",
    "iris",
    "digits",
    "heart",
    "german",
    "banana",
    "thyroid",
    "flare_solar",
    "splice",
)
NUMBERS = ("housing", "autompg", "airfoil", "diabetes", "energy", "yacht")


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y of a set, at most so many rows of it."""
    own = {
        "breast_cancer_wisconsin": "breast_cancer",
        "wine": "wine",
        "iris": "iris",
        "digits": "digits",
        "diabetes": "diabetes",
    }
    if name in own:
        X, y = getattr(datasets, f"load_{own[name]}")(return_X_y=True)
    else:
        with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
            X, y = file["X"], file["y"]
    some = np.sort(np.random.default_rng(0).permutation(len(y))[:ROWS])
    return np.asarray(X, dtype=float)[some], y[some]


def orders_of(y: np.ndarray, number: int) -> list[np.ndarray]:
    """The rows as they are, sorted by the target, and at random."""
    n = len(y)
    orders = [np.arange(n), np.argsort(y, kind="stable")]
    return [*orders, *(np.random.default_rng(k).permutation(n) for k in range(1, number))][:number]


def choices(names: list[str], number: int, is_told: bool) -> dict[str, list[dict[str, float | str]]]:
    """The choices on each set, for each order of its rows."""
    from svmpath import ElasticNetSVC, PathSVC, PathSVR

    found: dict[str, list[dict[str, float | str]]] = {}
    for name in names:
        X, y = rows_of(name)
        is_class = name not in NUMBERS
        makers = {
            "PathSVC": lambda: PathSVC(),
            "PathSVC hinge": lambda: PathSVC(loss="hinge"),
            "PathSVC kfold": lambda: PathSVC(criterion="kfold"),
            "ElasticNetSVC": lambda: ElasticNetSVC(),
        } if is_class else {
            "PathSVR": lambda: PathSVR(),
            "PathSVR kfold": lambda: PathSVR(criterion="kfold"),
            "PathSVR epsilon": lambda: PathSVR(loss="epsilon_insensitive"),
        }  # fmt: skip
        for maker, make in makers.items():
            for order in orders_of(y, number):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = make().fit(StandardScaler().fit_transform(X[order]), y[order])
                names_ = ("C_", "gamma_", "loss_", "criterion_", "rank_", "lambda1_", "lambda2_", "epsilon_")
                facts = {each: getattr(model, each) for each in names_ if hasattr(model, each)}
                facts["error"] = model.held_out_error()
                facts = {
                    each: v if isinstance(v, str) else None if v is None else float(v) for each, v in facts.items()
                }
                found.setdefault(f"{name}: {maker}", []).append(facts)
            if is_told:
                print(f"{name}: {maker}", file=sys.stderr, flush=True)
    return found


def differ(first: dict, other: dict) -> list[str]:
    """The names of what is not the same."""

    def same(a, b):
        return a == b if isinstance(a, str) or a is None else bool(np.isclose(a, b, rtol=1e-6, atol=1e-12))

    return [name for name in first if name not in other or not same(first[name], other[name])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=[*SETS, *NUMBERS[:4]])
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--cores", nargs="*", default=list(CORES))
    parser.add_argument("--json", action="store_true", help="print the choices of this processor only")
    wanted = parser.parse_args()
    here = choices(wanted.sets, wanted.orders, not wanted.json)
    if wanted.json:
        print(json.dumps(here))
        return
    count = bad = 0
    for key, runs in here.items():
        for k, run in enumerate(runs[1:], 1):
            count += 1
            if names := differ(runs[0], run):
                bad += 1
                print(f"{key}: order {k}: " + ", ".join(f"{n} {runs[0][n]} -> {run[n]}" for n in names))
    print(f"orders of rows: {bad} of {count} choices differ")
    for core in wanted.cores:
        command = [sys.executable, __file__, "--json", "--orders", "1", "--sets", *wanted.sets]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "OPENBLAS_CORETYPE": core}, check=True
        )
        there = json.loads(done.stdout)
        bad = 0
        for key, runs in there.items():
            if names := differ(here[key][0], runs[0]):
                bad += 1
                print(f"{key}: {core}: " + ", ".join(f"{n} {here[key][0][n]} -> {runs[0][n]}" for n in names))
        print(f"{core}: {bad} of {len(there)} choices differ")


if __name__ == "__main__":
    main()

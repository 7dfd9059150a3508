"""Several classes: pairs of classes beside one class against the rest, and a grid of SVC, which has pairs only.

    python benchmarks/pairs.py --splits 3 --write
    python benchmarks/pairs.py --sets digits letter

rest    PathSVC() without the stage "pairs": one-vs-rest, as it was before
pairs   PathSVC() as it is: pairs of classes where their held-out error is clearly lower
grid    GridSearchCV of SVC: 5 values of C (0.1 to 1000), 7 of gamma (1e-4 to 10), 5 folds

Test errors in per cent and wall time in seconds, means over the splits. Columns are standardised on the training rows.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from _common import arguments, chosen, load, machine, publish, table
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svmpath import PathSVC
from svmpath.search import limits

Array = np.ndarray
GRID = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-4, 1, 7)}
AS_IT_IS = limits.PAIR_OPERATIONS


def shells(k: int, d: int, rng: np.random.Generator, n: int = 2600) -> tuple[Array, Array]:
    """Classes on concentric shells, one apart, with noise of 0.3."""
    y, u = rng.integers(0, k, n), rng.normal(size=(n, d))
    radius = 1.0 + y + 0.3 * rng.normal(size=n)
    return u / np.linalg.norm(u, axis=1)[:, None] * radius[:, None], y


def mixture(rng: np.random.Generator, n: int = 3000) -> tuple[Array, Array]:
    """Twenty classes, each of three clouds in ten columns."""
    centres, of = np.random.default_rng(7).normal(size=(60, 10)), rng.integers(0, 60, n)
    return centres[of] + 0.75 * rng.normal(size=(n, 10)), of % 20


def digits(rng: np.random.Generator) -> tuple[Array, Array]:
    """Of scikit-learn."""
    X, y = load_digits(return_X_y=True)
    return X, y


def file(name: str, rng: np.random.Generator) -> tuple[Array, Array] | None:
    """A data set of the data folder; None if it is not there."""
    data = load(name)
    if data is None:
        return None
    if "X" in data:
        return data["X"], data["y"]
    parts = ("train", "test")
    X, y = ([data[f"fold0-{letter}_{part}"] for part in parts] for letter in "xy")
    return np.vstack(X), np.concatenate([each.ravel() for each in y])


SETS: dict[str, tuple[Callable[..., Any], int]] = {  # and the number of training rows
    "six shells, 4 columns": (partial(shells, 6, 4), 600),
    "fifteen shells, 3 columns": (partial(shells, 15, 3), 700),
    "twenty classes": (mixture, 1000),
    "digits": (digits, 1000),
    "vowel": (partial(file, "vowel"), 693),
    "zoo/vowel": (partial(file, "zoo/vowel"), 500),
    "zoo/letter": (partial(file, "zoo/letter"), 800),
}


def methods() -> dict[str, Any]:
    return {"rest": PathSVC(random_state=0), "pairs": PathSVC(random_state=0), "grid": GridSearchCV(SVC(), GRID)}


def measure(make: Callable[..., Any], rows: int, splits: int) -> dict[str, list[Any]] | None:
    """Errors, times and what was chosen, of each method on each split."""
    found: dict[str, list[Any]] = {name: [] for name in methods()}
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        data = make(rng)
        if data is None:
            return None
        order = rng.permutation(len(data[1]))
        (X, y), train, test = data, order[:rows], order[rows : rows + 4000]
        scaler = StandardScaler().fit(X[train])
        for name, model in methods().items():
            limits.PAIR_OPERATIONS = 0.0 if name == "rest" else AS_IT_IS
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # small classes of the zoo
                model.fit(scaler.transform(X[train]), y[train])
            seconds = time.perf_counter() - start
            wrong = np.mean(model.predict(scaler.transform(X[test])) != y[test])
            found[name].append((100.0 * wrong, seconds, getattr(model, "multi_class_", "ovo") == "ovo"))
    return found


def main() -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--splits", type=int, default=3)
    args = parser.parse_args()
    lines = []
    for name in chosen(list(SETS), args.sets):
        make, rows = SETS[name]
        found = measure(make, rows, args.splits)
        if found is None:
            continue
        mean = {each: np.mean(numbers, axis=0) for each, numbers in found.items()}
        errors, times = ([mean[each][at] for each in found] for at in (0, 1))
        taken = f"{int(sum(each[2] for each in found['pairs']))} of {args.splits}"
        lines.append([name, str(rows), *(f"{e:.1f}" for e in errors), taken, *(f"{t:.1f}" for t in times)])
        lines[-1].append(f"{times[1] / times[0]:.2f}")
        print(*lines[-1], sep="  ", flush=True)
    heads = ["set", "rows", "rest", "pairs", "grid", "taken", "rest (s)", "pairs (s)", "grid (s)", "pairs/rest"]
    publish("pairs", f"{machine()}\n\n{table(heads, lines)}", args.write)


if __name__ == "__main__":
    main()

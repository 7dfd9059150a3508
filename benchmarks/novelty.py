"""The one-class machine: false alarms on fresh rows, novelties found, and what a path over nu costs.

    python benchmarks/novelty.py                     # all tables
    python benchmarks/novelty.py --parts alarms --repeats 5
    python benchmarks/novelty.py --write

alarms   the share of fresh rows that are rejected at nu = 0.1, mean over training sets, for five distributions:
         PathOneClassSVM(), and scikit-learn's OneClassSVM with the same nu and its default gamma, and with the gamma
         that was chosen here
found    ROC-AUC on ten sets: the majority class is normal, half of it (400 rows at most) is for training, the rest and
         all other classes are told apart. "hindsight" is the best of a grid of nine gammas by the test rows themselves,
         which nobody can choose by; "labelled" is fitted with twenty known novelties, which are not tested
many     a fit on many rows, gamma tuned on a thousand of them, and its false alarms
path     the exact path over nu from 0.5 to 0.01, and exact leave-one-out at one nu, in fits of OneClassSVM
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _common import RESULTS, data_folder, machine, progress, publish, table, timed, warn_if_busy
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import svmpath
from svmpath import PathOneClassSVM, criteria

Array = np.ndarray

NU = 0.1
MACHINE_NU = 0.3  # chosen on generated rows and other draws of the same sets, where 0.5 did as well
FRESH = 5000
SIZES = (100, 200, 500, 1000, 2000)
GRID = 4.0 ** np.arange(-4, 5)  # times 1 / (columns * variance)
SETS = (
    "car-good", "contraceptive", "ecoli-0-1_vs_5", "glass1", "hayes-roth", "optdigits", "shuttle-c2-vs-c4", "texture",
    "vehicle1", "yeast4",
)  # fmt: skip
MOST, KNOWN, MOST_NOVEL = 800, 20, 400


# --- false alarms ----------------------------------------------------------------------------------------------------


def ring(n: int, rng: np.random.Generator) -> Array:
    """A noisy circle."""
    angle = rng.uniform(0.0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.normal(size=(n, 2))


def clusters(n: int, rng: np.random.Generator) -> Array:
    """Three normal distributions of different width in five dimensions."""
    k = rng.integers(3, size=n)
    return 4.0 * np.eye(3, 5)[k] + np.array([0.3, 1.0, 0.6])[k][:, None] * rng.normal(size=(n, 5))


SHAPES: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "normal, d = 2": lambda n, rng: rng.normal(size=(n, 2)),
    "normal, d = 20": lambda n, rng: rng.normal(size=(n, 20)),
    "heavy tails, d = 4": lambda n, rng: rng.standard_t(3, size=(n, 4)),
    "ring, d = 2": ring,
    "clusters, d = 5": clusters,
}


def alarms(repeats: int, sizes: tuple[int, ...]) -> str:
    """Rates of false alarms by distribution and number of rows."""
    lines = []
    for name, draw in SHAPES.items():
        for n in sizes:
            rates = []
            for k in range(max(repeats * 100 // n, 5)):
                rng = np.random.default_rng([n, k])
                X, fresh = draw(n, rng), draw(FRESH, rng)
                mine = PathOneClassSVM(nu=NU).fit(X)
                others = [OneClassSVM(nu=NU, gamma=gamma).fit(X) for gamma in ("scale", mine.gamma_)]
                rates.append([np.mean(each.predict(fresh) == -1) for each in (mine, *others)])
            mean, spread = np.mean(rates, axis=0), np.std(np.array(rates)[:, 0])
            error = spread / np.sqrt(len(rates))
            progress(f"{name}, n = {n}: {mean[0]:.3f} +- {error:.3f}")
            cells = [f"{100 * value:.1f}" for value in (mean[0], error, *mean[1:])]
            lines.append([name, str(n), str(len(rates)), *cells])
    head = ("rows", "n", "sets", "svmpath %", "std. error", "OneClassSVM, scale %", "OneClassSVM, same gamma %")
    off = max(abs(float(line[3]) - 100 * NU) for line in lines)
    return f"{table(head, lines)}\n\nLargest distance of svmpath from {100 * NU:.0f} %: {off:.1f} points."


# --- novelties found -------------------------------------------------------------------------------------------------


def read_set(file: Path) -> tuple[Array, Array]:
    """All rows of a set that comes in folds."""
    with np.load(file) as arrays:
        X = np.vstack([arrays["fold0-x_train"], arrays["fold0-x_test"]]).astype(float)
        y = np.concatenate([arrays["fold0-y_train"], arrays["fold0-y_test"]])
    return X, y


def found(repeats: int) -> str:
    """ROC-AUC of machines whose gamma was chosen in several ways."""
    folder = data_folder()
    files = [] if folder is None else [folder / "zoo" / f"{name}.npz" for name in SETS]
    files = [file for file in files if file.is_file()]
    if not files:
        return "The sets are not there: name their folder in SVMPATH_DATA."
    lines, sums = [], []
    for file in files:
        X, y = read_set(file)
        labels, counts = np.unique(y, return_counts=True)
        scores = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            normal = rng.permutation(np.flatnonzero(y == labels[np.argmax(counts)]))[:MOST]
            novel = rng.permutation(np.flatnonzero(y != labels[np.argmax(counts)]))[:MOST_NOVEL]
            known, novel = np.split(novel, [min(KNOWN, len(novel) // 2)])
            train, rest = np.split(normal, [len(normal) // 2])
            scores.append(
                aucs(X, train, np.concatenate([rest, novel]), np.arange(len(rest) + len(novel)) < len(rest), known)
            )
        mean = np.mean(scores, axis=0)
        progress(f"{file.stem}: {np.round(mean, 3)}")
        sums.append(mean)
        lines.append([file.stem, str(len(train)), str(X.shape[1]), *(f"{value:.3f}" for value in mean)])
    lines.append(["mean", "", "", *(f"{value:.3f}" for value in np.mean(sums, axis=0))])
    return table(("set", "n", "d", "svmpath", "machine_nu=0.3", "OneClassSVM", "hindsight", "svmpath, labelled"), lines)


def aucs(X: Array, train: Array, test: Array, is_normal: Array, known: Array) -> list[float]:
    """Of the choice here, with a larger nu of the machine, of defaults, of hindsight, and with known novelties."""
    scaler = StandardScaler().fit(X[train])
    rows, seen, other = (scaler.transform(X[at]) for at in (train, test, known))
    scale = 1.0 / (rows.shape[1] * (rows.var() or 1.0))
    both, y = np.vstack([rows, other]), np.repeat([1, -1], [len(rows), len(other)])
    tried = [OneClassSVM(nu=NU, gamma=scale * factor).fit(rows) for factor in GRID]
    ours = [PathOneClassSVM(nu=NU).fit(rows), PathOneClassSVM(nu=NU, machine_nu=MACHINE_NU).fit(rows)]
    models = [*ours, OneClassSVM().fit(rows), PathOneClassSVM(nu=NU).fit(both, y), *tried]
    scores = [float(roc_auc_score(is_normal, model.decision_function(seen))) for model in models]
    return [*scores[:3], max(scores[4:]), scores[3]]


# --- what a path costs -----------------------------------------------------------------------------------------------


def path(repeats: int) -> str:
    """Times of a path and of leave-one-out beside one fit of OneClassSVM."""
    lines = []
    for n in (300, 1000):
        for name, draw, gamma in (("normal, d = 2", SHAPES["normal, d = 2"], 1.0), ("clusters, d = 5", clusters, 0.1)):
            X = draw(n, np.random.default_rng(n))
            fit = timed(lambda X=X, gamma=gamma: OneClassSVM(nu=NU, gamma=gamma, tol=1e-6).fit(X), repeats).median
            traced = timed(lambda X=X, gamma=gamma: _trace(X, gamma), repeats)
            held = timed(lambda X=X, gamma=gamma: criteria.loo(_trace(X, gamma, (NU, 0.99 * NU)), NU), repeats).median
            lines.append([
                name, str(n), f"{1e3 * fit:.1f}", str(len(traced.result.breakpoints)), f"{traced.median / fit:.1f}",
                f"{held / fit:.1f}", f"{n:d}",
            ])  # fmt: skip
    head = ("rows", "n", "one fit, ms", "breakpoints", "path, fits", "leave-one-out, fits", "by refits, fits")
    return table(head, lines)


def _trace(X: Array, gamma: float, span: tuple[float, float] = (0.5, 0.01)) -> svmpath.paths.Path:
    return svmpath.trace(X, loss="one_class", gamma=gamma, span=span)


# --- many rows -------------------------------------------------------------------------------------------------------


def many(sizes: tuple[int, ...] = (5000, 20_000, 100_000)) -> str:
    """Seconds of a fit in low rank, gamma tuned, and false alarms."""
    lines = []
    for n in sizes:
        rng = np.random.default_rng(n)
        X, fresh = (_bent(size, rng) for size in (n, 4 * FRESH))
        fit = timed(lambda X=X: PathOneClassSVM(nu=NU).fit(X))
        model = fit.result
        gap = model._machines.paths[0](model.nu_).gap
        rate = 100 * np.mean(model.predict(fresh) == -1)
        lines.append([str(n), str(model.rank_), model.criterion_, f"{fit.cpu_median:.1f}", f"{gap:.0e}", f"{rate:.1f}"])
    return table(("n, d = 8", "rank", "held out by", "CPU seconds", "duality gap", "false alarms %"), lines)


def _bent(n: int, rng: np.random.Generator) -> Array:
    X = rng.normal(size=(n, 8))
    X[:, 1] += X[:, 0] ** 2
    return X


PARTS: dict[str, tuple[str, Callable[[argparse.Namespace], str]]] = {
    "alarms": ("False alarms on fresh rows at nu = 0.1", lambda given: alarms(given.repeats, tuple(given.sizes))),
    "found": ("ROC-AUC, normal rows against others", lambda given: found(min(given.repeats, 5))),
    "many": ("Many rows in low rank, nu = 0.1", lambda given: many()),
    "path": ("A path over nu from 0.5 to 0.01", lambda given: path(min(given.repeats, 5))),
}


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, and write them where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=40, help="training sets of 100 rows; of more rows, fewer")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="training rows of alarms")
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, metavar="FILE")
    given = parser.parse_args(arguments)
    warn_if_busy()
    svmpath.trace(np.random.default_rng(0).normal(size=(30, 2)), loss="one_class")  # compiled, or loaded
    sections = [f"{title}\n\n{run(given)}" for title, run in (PARTS[name] for name in given.parts)]
    publish("novelty", "\n\n\n".join([machine(), *sections]), given.write)


if __name__ == "__main__":
    main()

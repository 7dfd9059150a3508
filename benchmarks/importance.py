"""Which columns matter: shuffled columns of held-out rows, without a refit, beside refits without each column.

    python benchmarks/importance.py --write
    python benchmarks/importance.py --sets airfoil

shuffled  model.importance(n_repeats=20): the rise of the held-out error when a column is shuffled
refits    the rise of the held-out error of a model that is tuned and fitted again without the column
same C    refits without the column at the same C and gamma: what tuning again adds is the rest
explicit  shuffled columns, by machines that are fitted again without each of ten folds, at the same C and gamma
residual  the same with the column's linear prediction from the others left in place: only the rest of it is shuffled

At most 400 rows, standardised. CPU seconds; the first five columns by each way, Spearman's rank correlation of all
columns with "shuffled" and with "refits", and of those pairs among the first five columns that "shuffled" tells apart
(either mean is outside the 95 % interval of the other) how many a way puts in the other order. Without a column the
others take over what they share with it, so that refits may rank differently: a column that two others repeat is idle
for them, but not for the machine that was fitted with it.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import time
import warnings
from typing import Any

import numpy as np
from _common import arguments, chosen, load, machine, publish, table
from scipy.stats import spearmanr
from sklearn.datasets import load_wine
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from svmpath import PathSVC, PathSVR

Array = np.ndarray
ROWS, REPEATS, FIRST = 400, 20, 5


def rows_of(name: str) -> tuple[Array, Array] | None:
    """At most 400 rows of a data set, drawn at random; None if it is not there."""
    if name == "friedman":  # five columns that matter, by different amounts, and five that do not
        rng = np.random.default_rng(1)
        X = rng.uniform(size=(ROWS, 10))
        y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
        return X, y + rng.normal(size=ROWS)
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return X, y
    data = load(name)
    if data is None:
        return None
    if "X" in data:
        X, y = data["X"], data["y"].ravel()
    else:
        X, y = data["fold0-x_train"], data["fold0-y_train"].ravel()
    few = np.random.default_rng(0).permutation(len(y))[:ROWS]
    return np.asarray(X[few], dtype=float), y[few]


def make(y: Array) -> Any:
    return PathSVR(random_state=0) if y.dtype.kind == "f" and len(np.unique(y)) > 10 else PathSVC(random_state=0)


def loss_of(model: Any) -> float:
    """The held-out error: root mean squared, or log loss."""
    if isinstance(model, PathSVR):
        return float(np.sqrt(model.held_out_error()))
    known = model._held_out
    f, code = model.held_out_decisions(), known.labels
    log_p = known.calibration(model.calibration).log_probabilities(f)
    return float(-log_p[np.arange(len(code)), code].mean())


def explicit(model: Any, X: Array, y: Array, *, is_residual: bool = False) -> Array:
    """Shuffled columns by machines that are fitted again without each of ten folds, at the choice."""
    rng, fixed = np.random.default_rng(0), {"C": model.C_, "gamma": model.gamma_, "loss": model.loss_}
    rise, shared = np.zeros((X.shape[1], REPEATS)), np.zeros_like(X)
    if is_residual:
        others = [np.delete(X, j, axis=1) for j in range(X.shape[1])]
        shared = np.stack([LinearRegression().fit(Z, x).predict(Z) for Z, x in zip(others, X.T, strict=True)], axis=1)
    shuffled = [
        [shared[:, j] + rng.permutation(X[:, j] - shared[:, j]) for _ in range(REPEATS)] for j in range(X.shape[1])
    ]
    squares, base = np.zeros_like(rise), 0.0
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        fold = type(model)(**fixed).fit(X[train], y[train])
        base += np.sum((fold.predict(X[test]) - y[test]) ** 2)
        for j, values in enumerate(shuffled):
            for k, value in enumerate(values):
                Z = X[test].copy()
                Z[:, j] = value[test]
                squares[j, k] += np.sum((fold.predict(Z) - y[test]) ** 2)
    return (np.sqrt(squares / len(y)) - np.sqrt(base / len(y))).mean(axis=1)


def compare(name: str) -> list[list[str]] | None:
    """The lines of one set."""
    known = rows_of(name)
    if known is None:
        return None
    X, y = StandardScaler().fit_transform(known[0]), known[1]
    X = X[:, X.std(axis=0) > 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(y).fit(X, y)
        start = time.process_time()
        importance = model.importance(n_repeats=REPEATS)
        own = importance.importances_mean
        ways = {"shuffled": (own, time.process_time() - start)}
        start, base = time.process_time(), loss_of(model)
        without = [loss_of(make(y).fit(np.delete(X, j, axis=1), y)) - base for j in range(X.shape[1])]
        ways["refits"] = np.array(without), time.process_time() - start
        start, fixed = time.process_time(), {"C": [model.C_], "gamma": model.gamma_, "loss": model.loss_}
        without = [loss_of(type(model)(**fixed).fit(np.delete(X, j, axis=1), y)) - base for j in range(X.shape[1])]
        ways["same C"] = np.array(without), time.process_time() - start
        for way in ("explicit", "residual") if isinstance(model, PathSVR) else ():
            start = time.process_time()
            ways[way] = explicit(model, X, y, is_residual=way == "residual"), time.process_time() - start
    first = set(np.argsort(-own)[:FIRST].tolist())
    low, high = importance.intervals.T
    clear = [(a, b) for a in first for b in first if own[a] > high[b] and low[a] > own[b]]
    lines = []
    for way, (found, seconds) in ways.items():
        order = np.argsort(-found)[:FIRST].tolist()
        ranks = [f"{spearmanr(ways[each][0], found)[0]:.2f}" for each in ("shuffled", "refits")]
        turned = f"{sum(found[a] < found[b] for a, b in clear)} of {len(clear)}"
        among = f"{len(first & set(order))} of {FIRST}"
        lines.append([name, way, " ".join(f"x{j}" for j in order), among, turned, *ranks, f"{seconds:.2f}"])
    return lines


SETS = ("airfoil", "autompg", "housing", "friedman", "heart", "wine")


def main() -> None:
    options = arguments(__doc__, gammas=None).parse_args()
    lines = [line for name in chosen(SETS, options.sets) for line in compare(name) or []]
    header = [
        "set",
        "way",
        f"first {FIRST}, in order",
        "among the first",
        "turned round",
        "rank corr.",
        "to refits",
        "CPU s",
    ]
    publish("importance", f"{machine()}\n\n{table(header, lines)}", options.write)


if __name__ == "__main__":
    main()

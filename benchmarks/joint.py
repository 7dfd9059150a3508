"""Several classes: one machine of all classes at once (M-SVM^2) beside one class against the rest.

    python benchmarks/joint.py --splits 3 --write

Test errors in per cent, means over the splits, and CPU seconds of the search. Columns are standardised on the training
rows. Both machines have the full rbf kernel and choose among the same values, 5 of gamma around "scale" (a factor of 4
apart) and 9 of C from 0.01 to 100, by the same criterion, the span prediction of leave-one-out:

    joint   svmpath.trace_joint and criteria.span
    rest    PathSVC(loss="squared_hinge", criterion="span", search="grid"), each class against the rest

difference  joint minus rest in points, with the standard error of a paired comparison of all test rows
violation   of the chosen machine, and gap: its certificate

A second table has one machine of many rows, from nothing, at C = 1 and C = 100: a full kernel (conjugate gradients) and
200 landmarks (a factor), with the certificate.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import time
import warnings
from typing import Any

import numpy as np
from _common import arguments, chosen, machine, progress, publish, table
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_classification
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath import PathSVC, criteria
from svmpath.kernels import gamma_value

Array = np.ndarray
TIMES = 4.0 ** np.arange(-2, 3)
VALUES = np.geomspace(0.01, 100.0, 9)


def shells(rng: np.random.Generator, k: int, n: int = 1200) -> tuple[Array, Array]:
    """Classes on concentric shells in three columns, one apart, with noise of 0.3."""
    y, u = rng.integers(0, k, n), rng.normal(size=(n, 3))
    return u / np.linalg.norm(u, axis=1)[:, None] * (1.0 + y + 0.3 * rng.normal(size=n))[:, None], y


def spirals(rng: np.random.Generator, k: int = 5, n: int = 1200) -> tuple[Array, Array]:
    """Arms of a spiral."""
    y, t = rng.integers(0, k, n), np.sqrt(rng.random(n))
    turn = 4.0 * t + 2.0 * np.pi * y / k + 0.2 * rng.normal(size=n)
    return np.column_stack([t * np.cos(turn), t * np.sin(turn)]), y


def mixture(rng: np.random.Generator, k: int = 10, n: int = 1500) -> tuple[Array, Array]:
    """Classes of three clouds each in ten columns."""
    centres, of = np.random.default_rng(7).normal(size=(3 * k, 10)), rng.integers(0, 3 * k, n)
    return centres[of] + 0.75 * rng.normal(size=(n, 10)), of % k


SETS: dict[str, tuple[Any, int]] = {  # and the number of training rows
    "iris": (lambda rng: load_iris(return_X_y=True), 100),
    "wine": (lambda rng: load_wine(return_X_y=True), 100),
    "digits": (lambda rng: load_digits(return_X_y=True), 200),
    "three shells": (lambda rng: shells(rng, 3), 300),
    "five shells": (lambda rng: shells(rng, 5), 300),
    "five spirals": (spirals, 300),
    "ten classes": (mixture, 200),
    "noisy": (
        lambda rng: make_classification(
            1200, 12, n_informative=6, n_classes=4, flip_y=0.1, random_state=int(rng.integers(99))
        ),
        300,
    ),
}


def split(name: str, seed: int) -> tuple[Array, Array, Array, Array]:
    """Training and test rows, standardised."""
    rng = np.random.default_rng(seed)
    make, rows = SETS[name]
    X, y = make(rng)
    order = rng.permutation(len(X))
    train, test = order[:rows], order[rows : rows + 1000]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def joint(X: Array, y: Array) -> Any:
    """The machine with the lowest predicted error, ties to the lower margin loss."""
    best = None
    for gamma in gamma_value("scale", X, None) * TIMES:
        path = svmpath.trace_joint(X, y, gamma=float(gamma), span=(0.01, 100.0))
        choice = svmpath.select(criteria.span(path, VALUES))
        key = choice.score, float(choice.curve.smooth[choice.index])
        if best is None or key < best[0]:
            best = key, choice.solution
    assert best is not None
    return best[1]


def rest(X: Array, y: Array) -> Any:
    """Each class against the rest, at the same pairs."""
    gammas = (gamma_value("scale", X, None) * TIMES).tolist()
    options = {"loss": "squared_hinge", "criterion": "span", "search": "grid", "rank": None}
    return PathSVC(gamma=gammas, C=VALUES.tolist(), **options).fit(X, y)


def clocked(work: Any, *args: Any) -> tuple[Any, float]:
    """What it returns, and its CPU seconds."""
    start = time.process_time()
    found = work(*args)
    return found, time.process_time() - start


def line(name: str, splits: int) -> list[str]:
    """A line of the first table."""
    wrong, seconds, certificates = [], [], []
    for seed in range(splits):
        X, y, X_new, y_new = split(name, seed)
        ours, first = clocked(joint, X, y)
        theirs, second = clocked(rest, X, y)
        wrong.append(np.array([ours.predict(X_new) != y_new, theirs.predict(X_new) != y_new], dtype=float))
        seconds.append((first, second))
        certificates.append((ours.violation, ours.gap))
    both, (first, second) = np.concatenate(wrong, axis=1), np.mean(seconds, axis=0)
    difference = 100 * (both[0] - both[1])
    violation, gap = np.max(certificates, axis=0)
    return [
        name, str(len(y)), str(len(np.unique(y))), f"{100 * both[0].mean():.1f}", f"{100 * both[1].mean():.1f}",
        f"{difference.mean():+.1f} ({difference.std() / np.sqrt(len(difference)):.1f})",
        f"{first:.1f}", f"{second:.1f}", f"{first / second:.1f}", f"{violation:.0e}", f"{gap:.0e}",
    ]  # fmt: skip


def many(n: int, k: int, rank: int | None, C: float) -> list[str]:
    """A line of the second table."""
    X, y = make_blobs(n, 10, centers=3 * k, cluster_std=3.0, random_state=0)
    path = svmpath.trace_joint(StandardScaler().fit_transform(X), y % k, gamma=0.1, rank=rank)
    path.rows  # noqa: B018 - the features are made before
    found, seconds = clocked(path, C)
    size = path.rows.width * (k - 1)
    return [
        str(n),
        str(k),
        str(rank or "full"),
        f"{C:g}",
        str(size),
        f"{seconds:.1f}",
        f"{found.violation:.0e}",
        f"{found.gap:.0e}",
    ]


def main() -> None:
    parser = arguments(__doc__, gammas=None)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2000, help="of the second table (default 2000)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name in chosen(list(SETS), options.sets):
        lines.append(line(name, options.splits))
        progress(" ".join(lines[-1]))
    head = [
        "set",
        "rows",
        "classes",
        "joint",
        "rest",
        "difference",
        "joint (s)",
        "rest (s)",
        "ratio",
        "violation",
        "gap",
    ]
    text = [machine(), table(head, lines)]
    more = []
    for rank in (200, None):
        for C in (1.0, 100.0):
            more.append(many(options.rows, 10, rank, C))
            progress(" ".join(more[-1]))
    text.append(table(["rows", "classes", "rank", "C", "unknowns", "CPU (s)", "violation", "gap"], more))
    publish("joint", "\n\n".join(text), options.write)


if __name__ == "__main__":
    main()

"""The sets of ``peers_tuning.py`` and their splits.

A set of a folder is named by its npz file; which splits it has is seen from its arrays:

    train, test, train_gen   the official realizations first, then our own (test: all other rows)
    test_mask                column k has the test rows of split k
    X_test, y_test           random training rows, random rows of the official test set
    X, y alone               random rows

Labels of whole numbers are classes, others a regression. A set with more than 2000 training rows is used in subsets of
2000 and of 5000 of them, ``name-2000`` and ``name-5000`` (of n - 1000 where n < 6000 rows have no test set), and tested
on at most 5000 other rows. All columns, and the target of a regression, get mean 0 and deviation 1 on the training
part.

The halves
----------
Constants of the search may be chosen on generated data and on the sets of TUNING; all other sets are for reporting:
nothing may be chosen by looking at them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

Array = np.ndarray
Split = tuple[Array, Array, Array, Array]  # X, y, X_test, y_test

TUNING = ("a9a", "airfoil", "banana", "diabetis", "german", "heart", "housing", "ijcnn1", "image")
SIZES = (2000, 5000)  # training rows of large sets
MOST_TEST = 5000  # test rows of large and of generated sets
LEAST_TEST = 1000  # rows that a large set without a test set of its own keeps for it
NOISE = (1000, 5000, 10_000, 20_000, 100_000)
FLIPPED = 0.15  # labels of the noise sets
CHOSEN, REPORTED = "chosen on", "reported on"
NO_SETS = ("hard_cases",)  # rows on which engines failed, not a benchmark
CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass(frozen=True)
class Source:
    """A set: its name, "classification" or "regression", its half, its training rows, and what makes split k."""

    name: str
    task: str
    half: str
    n: int
    raw: Callable[[int], Split]

    def split(self, k: int) -> Split:
        """Split k, standardised on its training part."""
        X, y, X_test, y_test = self.raw(k)
        scaler = StandardScaler().fit(np.asarray(X, dtype=float))
        X, X_test = (scaler.transform(np.asarray(rows, dtype=float)) for rows in (X, X_test))
        if self.task == REGRESSION:
            mean, deviation = np.mean(y, dtype=float), np.std(y, dtype=float)
            y, y_test = ((np.asarray(values, dtype=float) - mean) / deviation for values in (y, y_test))
        else:
            y, y_test = (np.asarray(labels).astype(int) for labels in (y, y_test))
        return X, y, X_test, y_test


def sources(folder: Path | None) -> dict[str, Source]:
    """All sets, the small ones first."""
    files = sorted(folder.glob("*.npz")) if folder is not None else []
    stored = [source for file in files if file.stem not in NO_SETS for source in _of_file(file)]
    found = sorted([*stored, *_embedded(), *_generated()], key=lambda source: (source.n, source.name))
    return {source.name: source for source in found}


def scale(n: int) -> Source:
    """The noise set with another number of rows: a point of the plot of times."""
    return Source(f"scale-{n}", CLASSIFICATION, CHOSEN, n, partial(_drawn, noise, n))


def named(folder: Path | None, name: str) -> Source:
    """One set by its name."""
    kind, _, size = name.partition("-")
    return scale(int(size)) if kind == "scale" else sources(folder)[name]


# --- files -----------------------------------------------------------------------------------------------------------


def _of_file(file: Path) -> list[Source]:
    """A small set as it is, a large one in its sizes."""
    with np.load(file) as arrays:
        keys, y = set(arrays.files), arrays["y"]
        n = len(y)
        if "train_gen" in keys:
            n = arrays["train_gen"].shape[1]
        elif "test_mask" in keys:
            n -= int(arrays["test_mask"][:, 0].sum())
    task = REGRESSION if y.dtype.kind == "f" else CLASSIFICATION
    half = CHOSEN if file.stem in TUNING else REPORTED
    has_test = bool(keys & {"train_gen", "test_mask", "X_test"})
    most = n if has_test else n - LEAST_TEST
    if most <= SIZES[0]:
        size = n if has_test else int(0.7 * n)
        return [Source(file.stem, task, half, size, partial(_stored, file, None if has_test else size))]
    sizes = sorted({min(size, most) for size in SIZES})
    return [Source(f"{file.stem}-{size}", task, half, size, partial(_stored, file, size)) for size in sizes]


def _stored(file: Path, size: int | None, k: int) -> Split:
    """Split k of a file, with so many training rows."""
    with np.load(file) as arrays:
        data = {key: arrays[key] for key in arrays.files if key != "source"}
    X, y, rng = data["X"], data["y"], np.random.default_rng([zlib.crc32(file.stem.encode()), k])
    X_test, y_test = data.get("X_test", X), data.get("y_test", y)
    if "train_gen" in data:
        train, test = _realization(data, k)
    elif "test_mask" in data:
        is_test = data["test_mask"][:, k % data["test_mask"].shape[1]]
        train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    elif "X_test" in data:
        train, test = np.arange(len(y)), np.arange(len(y_test))
    else:
        order = rng.permutation(len(y))
        train, test = order[:size], order[size:]
    if size is not None:
        train, test = rng.permutation(train)[:size], rng.permutation(test)[:MOST_TEST]
    return X[train], y[train], X_test[test], y_test[test]


def _realization(data: dict[str, Array], k: int) -> tuple[Array, Array]:
    official = len(data.get("train", ()))
    if k < official:
        return data["train"][k], data["test"][k]
    train = data["train_gen"][k - official]
    return train, np.setdiff1d(np.arange(len(data["y"])), train)


# --- embedded and generated ------------------------------------------------------------------------------------------


def _embedded() -> list[Source]:
    made = []
    for name, load in (("wine", load_wine), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        made.append(Source(name, CLASSIFICATION, REPORTED, int(0.7 * len(y)), partial(_seventy, X, y)))
    return made


def _seventy(X: Array, y: Array, k: int) -> Split:
    X, X_test, y, y_test = train_test_split(X, y, train_size=int(0.7 * len(y)), stratify=y, random_state=k)
    return X, y, X_test, y_test


def _generated() -> list[Source]:
    recipes = [(f"noise-{n}", n, noise) for n in NOISE]
    recipes += [(f"{name}-{n}", n, make) for n in SIZES for name, make in (("cover", cover), ("letters", letters))]
    return [Source(name, CLASSIFICATION, CHOSEN, n, partial(_drawn, make, n)) for name, n, make in recipes]


def _drawn(make: Callable[[int, np.random.Generator], tuple[Array, Array]], n: int, k: int) -> Split:
    X, y = make(n + MOST_TEST, np.random.default_rng([n, k]))
    return X[:n], y[:n], X[n:], y[n:]


def noise(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Twonorm with 15 % of the labels flipped, also those of the test rows: the best rule errs in 16.6 %."""
    from svmpath.datasets import twonorm

    X, y = twonorm(n, rng)
    return X, np.where(rng.random(n) < FLIPPED, -y, y)


def cover(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Like covertype: 7 classes of unequal size, 10 measured columns of very different scale, 14 that are 0 or 1.

    A class is a mixture of 5 Gaussians, and has its own probability for each column of 0 and 1.
    """
    recipe = np.random.default_rng(1)  # the distribution is the same for all splits
    centres, chances = recipe.normal(scale=1.2, size=(7, 5, 10)), recipe.beta(0.5, 1.5, size=(7, 14))
    scales = np.geomspace(1e-2, 1e3, 10)
    y = rng.choice(7, size=n, p=np.array([30, 30, 12, 4, 6, 8, 10]) / 100.0)
    measured = (centres[y, rng.integers(5, size=n)] + rng.normal(size=(n, 10))) * scales
    return np.hstack([measured, rng.random((n, 14)) < chances[y]]), y


def letters(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Like letter: 26 classes, 16 columns of whole numbers from 0 to 15, 3 clusters per class."""
    centres = np.random.default_rng(2).uniform(3.0, 12.0, size=(26, 3, 16))
    y = rng.integers(26, size=n)
    X = centres[y, rng.integers(3, size=n)] + rng.normal(scale=3.0, size=(n, 16))
    return np.clip(np.round(X), 0, 15), y

"""The sets of ``zoo.py``: files with their own folds, the sets of ``peers_tuning.py``, and twenty that are generated.

The generated ones are shapes on which searches fail: many basins (spirals, rings, checkerboards), few relevant columns,
rare classes, contradictory labels, few rows, many columns.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from _peers_sets import CLASSIFICATION, REGRESSION, REPORTED, Array, Source, Split, sources

Draw = Callable[[int, np.random.Generator], tuple[Array, Array]]

TEST = 1000  # rows of a generated set that are predicted
TWICE = ("-5000", "-10000", "-20000", "-100000")  # larger sizes of the sets of peers_tuning


def zoo_sources(folder: Path | None, most: int) -> dict[str, Source]:
    """All sets by name, with at most so many training rows."""
    files = sorted((folder / "zoo").glob("*.npz")) if folder is not None else []
    kept = [_of_folds(file) for file in files]
    kept += [source for name, source in sources(folder).items() if not name.endswith(TWICE)]
    kept += [Source(name, CLASSIFICATION, REPORTED, n, partial(_drawn, draw, n)) for name, (n, draw) in SHAPES.items()]
    kept += [Source(name, REGRESSION, REPORTED, n, partial(_drawn, draw, n)) for name, (n, draw) in CURVES.items()]
    return {each.name: _limited(each, most) for each in sorted(kept, key=lambda each: (each.n, each.name))}


def _of_folds(file: Path) -> Source:
    with np.load(file) as arrays:
        n = len(arrays["fold0-y_train"])
    return Source(f"zoo/{file.stem}", CLASSIFICATION, REPORTED, n, partial(_fold, file))


def _fold(file: Path, k: int) -> Split:
    """A fold of the file; beyond the last one, as large a part of all its rows that is drawn anew, class by class."""
    with np.load(file) as arrays:
        own = sum(key.endswith("-y_train") for key in arrays.files)
        parts = [arrays[f"fold{k % own}-{part}"] for part in ("x_train", "y_train", "x_test", "y_test")]
    X, y, X_test, y_test = (part.astype(float if at % 2 == 0 else int) for at, part in enumerate(parts))
    if k < own:
        return X, y, X_test, y_test
    X, y = np.vstack([X, X_test]), np.concatenate([y, y_test])
    order = np.random.default_rng([zlib.crc32(file.stem.encode()), k]).permutation(len(y))
    # Sorted by class, every m-th row: each class has its share, and the rest of the order is random.
    sorted_rows = order[np.argsort(y[order], kind="stable")]
    at = (np.arange(len(y)) * len(y_test) // len(y)) != ((np.arange(len(y)) + 1) * len(y_test) // len(y))
    train, test = sorted_rows[~at], sorted_rows[at]
    return X[train], y[train], X[test], y[test]


def _limited(source: Source, most: int) -> Source:
    if source.n <= most:
        return source

    def raw(k: int) -> Split:
        X, y, X_test, y_test = source.raw(k)
        some = np.random.default_rng([zlib.crc32(source.name.encode()), k]).permutation(len(y))[:most]
        return X[some], y[some], X_test[:TEST], y_test[:TEST]

    return Source(source.name, source.task, source.half, most, raw)


def _drawn(draw: Draw, n: int, k: int) -> Split:
    X, y = draw(n + TEST, np.random.default_rng([n, k]))
    return X[:n], y[:n], X[n:], y[n:]


# --- shapes ----------------------------------------------------------------------------------------------------------


def _spirals(n: int, rng: np.random.Generator, turns: float = 2.0, arms: int = 2) -> tuple[Array, Array]:
    y, t = rng.integers(arms, size=n), np.sqrt(rng.random(n))
    angle = 2 * np.pi * (turns * t + y / arms)
    return np.column_stack([t * np.cos(angle), t * np.sin(angle)]) + 0.03 * rng.normal(size=(n, 2)), y


def _rings(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    y = rng.integers(4, size=n)
    X = rng.normal(size=(n, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * (1 + y + 0.25 * rng.normal(size=n))[:, None], y % 2


def _board(n: int, rng: np.random.Generator, fields: int, flipped: float = 0.0) -> tuple[Array, Array]:
    X = rng.random((n, 2)) * fields
    return X, (np.floor(X).sum(axis=1).astype(int) % 2) ^ (rng.random(n) < flipped)


def _xor(n: int, rng: np.random.Generator, columns: int) -> tuple[Array, Array]:
    X = rng.normal(size=(n, columns))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def _one_of_fifty(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 50))
    return X, (np.sin(3 * X[:, 0]) > 0).astype(int)


def _rare(n: int, rng: np.random.Generator, share: float) -> tuple[Array, Array]:
    y = (rng.random(n) < share).astype(int)
    y[:5] = 1
    return rng.normal(size=(n, 5)) + 1.5 * y[:, None], y


def _contradictory(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.integers(3, size=(n, 5)).astype(float)
    return X, (rng.random(n) < 0.2 + 0.5 * (X[:, 0] == X[:, 1])).astype(int)


def _blobs(
    n: int, rng: np.random.Generator, classes: int, columns: int, width: float, parts: int = 1
) -> tuple[Array, Array]:
    centres = np.random.default_rng(3).normal(size=(classes, parts, columns))
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    return centres[y, rng.integers(parts, size=n)] + width * rng.normal(size=(n, columns)), y


def _wide(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 1000))
    return X, (X[:, :10].sum(axis=1) + rng.normal(size=n) > 0).astype(int)


def _linear(n: int, rng: np.random.Generator, flipped: float) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 10))
    return X, ((X[:, :3].sum(axis=1) > 0) ^ (rng.random(n) < flipped)).astype(int)


def _heavy_tails(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.standard_t(1.5, size=(n, 6))
    return X, (np.abs(X[:, 0]) + 0.3 * rng.normal(size=n) > np.abs(X[:, 1])).astype(int)


def _two_scales(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.random((n, 2)) * 4
    return X, np.where(X[:, 0] < 3, X[:, 1] > 2, np.floor(6 * X[:, 1]) % 2 == 0).astype(int)


SHAPES: dict[str, tuple[int, Draw]] = {
    "tiny": (12, partial(_blobs, classes=2, columns=3, width=0.7)),
    "tiny, 3 classes": (15, partial(_blobs, classes=3, columns=3, width=0.7)),
    "wide": (60, _wide),
    "spirals": (400, _spirals),
    "spirals, 3 turns": (800, partial(_spirals, turns=3.0)),
    "spirals, 5 arms": (600, partial(_spirals, turns=1.0, arms=5)),
    "rings": (500, _rings),
    "checkerboard 2": (200, partial(_board, fields=2)),
    "checkerboard 4": (400, partial(_board, fields=4)),
    "checkerboard 6": (900, partial(_board, fields=6)),
    "checkerboard 4, noise": (600, partial(_board, fields=4, flipped=0.1)),
    "xor": (150, partial(_xor, columns=2)),
    "xor in noise": (600, partial(_xor, columns=10)),
    "one of fifty": (600, _one_of_fifty),
    "rare": (800, partial(_rare, share=0.03)),
    "contradictory": (500, _contradictory),
    "20 classes": (800, partial(_blobs, classes=20, columns=8, width=0.6)),
    "8 classes of parts": (800, partial(_blobs, classes=8, columns=4, width=0.35, parts=4)),
    "linear, noise": (300, partial(_linear, flipped=0.2)),
    "heavy tails": (500, _heavy_tails),
    "two scales": (800, _two_scales),
}


def _sines(n: int, rng: np.random.Generator, columns: int, deviation: float) -> tuple[Array, Array]:
    X = rng.random((n, columns))
    return X, np.sin(12 * X[:, 0]) + X[:, -1] + deviation * rng.normal(size=n)


def _outliers(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] * X[:, 1] + 0.2 * rng.standard_t(2, size=n)


def _steps(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.random((n, 2)) * 5
    return X, np.floor(X[:, 0]) + 0.1 * rng.normal(size=n)


def _plane(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 20))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n)


def _product(n: int, rng: np.random.Generator, columns: int) -> tuple[Array, Array]:
    X = rng.normal(size=(n, columns))
    return X, np.sin(X[:, 0] * X[:, 1]) + X[:, 2] ** 2 / 4 + 0.3 * rng.normal(size=n)


CURVES: dict[str, tuple[int, Draw]] = {
    "sine": (100, partial(_sines, columns=1, deviation=0.2)),
    "sines in 8 columns": (500, partial(_sines, columns=8, deviation=0.2)),
    "outliers": (400, _outliers),
    "steps": (500, _steps),
    "plane": (200, _plane),
    "product": (300, partial(_product, columns=3)),
    "product in 10 columns": (800, partial(_product, columns=10)),
}

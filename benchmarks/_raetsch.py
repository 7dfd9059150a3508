"""Raetsch's benchmark sets as the papers split them: official realizations, then random splits, or generated rows.

Files are in the folder named by SVMPATH_DATA (or ../shared/data): the pool ``X``, ``y``, the rows ``train`` and
``test`` of the official realizations that the file has, and ``train_gen``, random training rows of the same number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from _common import Array, load

from svmpath import datasets

Split = tuple[Array, Array, Array, Array]  # X_train, y_train, X_test, y_test
GENERATORS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "ringnorm": datasets.ringnorm,
    "twonorm": datasets.twonorm,
    "waveform": datasets.waveform,
}


@dataclass(frozen=True)
class Source:
    """Where the splits of a set come from."""

    name: str
    kind: str  # "file", "file*" (the pool was changed by ``prepare``), "generated"
    n: int
    d: int
    official: int  # how many of the splits are official realizations: the first ones
    split: Callable[[int], Split]

    def count(self, splits: int) -> str:
        """So many splits as a sum: official ones and random ones."""
        return f"{min(splits, self.official)} + {max(splits - self.official, 0)}"


def source(
    name: str, file: str, n: int, n_test: int, prepare: Callable[[Array], tuple[Array, bool]] | None = None
) -> Source | None:
    """The set's file, else its generator with so many rows, else None; ``prepare`` may change a pool, and says so."""
    data = load(file)
    if data is not None and "train_gen" in data:
        X, y = np.asarray(data["X"], dtype=float), data["y"]
        X, changed = prepare(X) if prepare is not None else (X, False)
        official = list(zip(data["train"], data["test"], strict=True)) if "train" in data else []
        parts = official + [(train, np.setdiff1d(np.arange(len(X)), train)) for train in data["train_gen"]]

        def stored(k: int) -> Split:
            train, test = parts[k]
            return X[train], y[train], X[test], y[test]

        return Source(name, "file*" if changed else "file", len(parts[0][0]), X.shape[1], len(official), stored)
    if name not in GENERATORS:
        return None

    def drawn(seed: int) -> Split:
        X, y = GENERATORS[name](n + n_test, seed)
        return X[:n], y[:n], X[n:], y[n:]

    return Source(name, "generated", n, GENERATORS[name](1, 0)[0].shape[1], 0, drawn)

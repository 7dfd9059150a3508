"""Data sets in chunks, and ways to cut them."""

import dask.array as da
import numpy as np

N = 680
SIZES = {
    "one": (N,),
    "three": (227, 227, 226),
    "seventeen": (40,) * 17,
    "uneven": (1, 500, 7, 172),
    "empty": (300, 0, 380),
}


def moons(n=N, d=3, seed=0, classes=2):
    """Rows, and labels (text for two classes, numbers for more) that depend on them in curves."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    g = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    if classes == 2:
        return X, np.where(g > 0.2, "yes", "no")
    return X, np.digitize(g, np.quantile(g, np.arange(1, classes) / classes))


def amounts(n=N, d=3, seed=0):
    """Rows and targets of a regression."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


def cut(X, sizes):
    """A Dask array with chunks of these numbers of rows."""
    return da.from_array(X, chunks=(sizes, *X.shape[1:]))

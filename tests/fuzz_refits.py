"""Random problems of least squares and the squared hinge against plain refits; dense and in low rank.

``make fuzz`` runs them as the tasks "refits:..." (see ``trials``).
"""

from __future__ import annotations

import numpy as np

import svmpath
from svmpath import criteria
from tests import reference

KERNELS = ("rbf", "laplacian", "linear", "poly")


def random_data(rng):
    """Rows with the troubles of real data: grids, duplicates, constant columns, a far origin, few rows."""
    n, d = int(rng.integers(3, 45)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = rng.normal()
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, size=n)]
    if rng.random() < 0.1:
        X += 100.0
    return X


def random_target(rng, n):
    """Numbers, or labels of any balance with each class at least once."""
    if rng.random() < 0.4:
        return rng.normal(size=n) * 10.0 ** rng.integers(-2, 3), "regression"
    y = np.where(rng.random(n) < rng.choice([0.05, 0.3, 0.5]), 1.0, -1.0)
    y[rng.permutation(n)[:2]] = 1.0, -1.0
    return y, "classification"


def random_weights(rng, n):
    """None, real weights, or weights with zeros (at least three samples count)."""
    if rng.random() < 0.4:
        return None
    s = rng.exponential(size=n) + 0.01
    if rng.random() < 0.5:
        s[rng.permutation(n)[3:]] *= rng.random(n - 3) < 0.7
    return s


def random_rank(rng, n):
    if rng.random() < 0.5:
        return {}
    way = rng.choice(["rpcholesky", "greedy", "uniform", "kmeans", "density"])
    rank = int(rng.integers(1, n + 1)) if rng.random() < 0.7 else 10.0 ** -rng.uniform(0.5, 6)
    return {"rank": rank, "landmarks": str(way)}


def run_squared_hinge(seed):
    """Path, certificate and leave-one-out of one random problem."""
    rng = np.random.default_rng([seed, 1])
    X = random_data(rng)
    n = len(X)
    y = np.where(rng.random(n) < rng.choice([0.05, 0.3, 0.5]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    s = random_weights(rng, n)
    if s is not None:
        s[:2] = 1.0
    kernel = str(rng.choice(KERNELS))
    gamma = 10.0 ** rng.uniform(-3, 1) if kernel in ("rbf", "laplacian") else 0.1
    options = random_rank(rng, n)
    if options and kernel == "linear" and not np.abs(X).sum():
        return
    C = 10.0 ** rng.uniform(-4, 4, size=3)
    path = svmpath.trace(
        X, y, loss="squared_hinge", kernel=kernel, gamma=gamma, degree=2, coef0=1.0, sample_weight=s,
        span=(1e-4, 1e4), random_state=seed, **options,
    )  # fmt: skip
    K = path.gram.block(slice(None), slice(None))
    weights = np.ones(n) if s is None else s
    loo = criteria.loo(path, C)
    for j, value in enumerate(C):
        condition = 1 + value * weights.max() * np.abs(K).max() * n
        slip = 1e-13 * condition + 1e-9
        solution = path(value)
        assert solution.gap < 1e-12 + (1e-15 * condition) ** 2, f"gap {solution.gap} at condition {condition:.1e}"
        try:
            alpha, b, E = reference.squared_hinge(K, y, weights, value)
            compare(solution.fitted, K @ alpha + b, slip, "squared hinge", value)
            for i in rng.permutation(n)[:3]:
                without = weights.copy()
                without[i] = 0.0
                if len(np.unique(y[without > 0])) == 2:
                    alpha, b, _ = reference.squared_hinge(K, y, without, value, E & (without > 0))
                    compare(loo.decisions[j, i], K[i] @ alpha + b, 10 * slip, f"leave-one-out of {i}", value)
        except reference.NoReference:
            continue  # the gap above is a certificate of its own


def run_least_squares(seed):
    """PRESS and k-fold of one random problem."""
    rng = np.random.default_rng(seed)
    X = random_data(rng)
    n = len(X)
    y, task = random_target(rng, n)
    s = random_weights(rng, n)
    kernel = str(rng.choice(KERNELS))
    gamma = 10.0 ** rng.uniform(-4, 1) if kernel in ("rbf", "laplacian") else 0.3
    C = 10.0 ** rng.uniform(-3, 3, size=3)
    options = random_rank(rng, n)
    if options and kernel == "linear" and not np.abs(X).sum():
        return  # a zero kernel has no low-rank factor, and says so
    path = svmpath.trace(
        X,
        y,
        loss="least_squares",
        kernel=kernel,
        gamma=gamma,
        degree=2,
        coef0=1.0,
        task=task,
        sample_weight=s,
        random_state=seed,
        **options,
    )
    K = path.gram.block(slice(None), slice(None))
    weights = np.ones(n) if s is None else s
    order = rng.permutation(n)
    folds = [(np.setdiff1d(order, part), part) for part in np.array_split(order, int(rng.integers(2, 4)))]
    folds = [fold for fold in folds if weights[fold[0]].any()]
    loo, kfold = criteria.press(path, C), criteria.kfold(path, C, cv=folds)
    for j, value in enumerate(C):
        condition = 1 + value * weights.max() * np.abs(K).max() * n
        slip = 1e-13 * condition * max(1.0, np.abs(y).max()) + 1e-11 * np.abs(y).max()
        solution = path(value)
        assert solution.gap < 1e-14 + (1e-15 * condition) ** 2, f"gap {solution.gap} at condition {condition:.1e}"
        compare(loo.decisions[j], reference.leave_one_out(K, y, weights, value), slip, "leave-one-out", value)
        position = 0
        for train, test in folds:
            found = kfold.held[j, position : position + len(test)]
            compare(found, reference.held_out(K, y, weights, value, train, test), slip, "k-fold", value)
            position += len(test)


def compare(found, expected, slip, what, value):
    difference = np.abs(found - expected).max()
    allowed = slip * (1 + np.abs(expected).max())
    assert difference <= allowed, f"{what} at C = {value:.3g}: differs by {difference:.2e} > {allowed:.2e}"

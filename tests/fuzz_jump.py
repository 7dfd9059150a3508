"""Random problems through the losses with an elbow; every path is measured at all its breakpoints and between them.

The kinds are those that break path followers: integer grids, duplicates, contradictory labels, one to four dimensions,
kernels that are singular or nearly so, a constant kernel, weights with zeros, classes of 5 : 95.
"""

from __future__ import annotations

import numpy as np

import svmpath
from svmpath.solvers.box_qp import FREE, elbow_matrix

KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 1.0},
    "smooth rbf": {"kernel": "rbf", "gamma": 0.01},
    "near-singular rbf": {"kernel": "rbf", "gamma": 1e-3},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0},
    "constant": {"kernel": "poly", "degree": 1, "gamma": 1e-300, "coef0": 1.0},
}
SHARP, ALWAYS = 1e-9, 1e-6  # violations allowed where the elbow system's condition is below 1e8, and anywhere


def random_rows(rng):
    n, d = int(rng.integers(4, 50)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.35:
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
    if rng.random() < 0.35:
        X = X[rng.integers(0, n, size=n)]
    return X


def random_labels(rng, X):
    """Noise, or a rule with noise; 5 : 95 to balanced; exactly balanced now and then."""
    n = len(X)
    y = np.where(rng.random(n) < rng.choice([0.05, 0.2, 0.5]), 1.0, -1.0)
    if rng.random() < 0.5:
        y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > rng.choice([0.0, 1.0]), 1.0, -1.0)
    if rng.random() < 0.3:
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def random_weights(rng, n):
    if rng.random() < 0.5:
        return None
    s = rng.exponential(size=n) + 0.01 if rng.random() < 0.5 else rng.integers(1, 4, size=n).astype(float)
    if rng.random() < 0.5:
        s *= rng.random(n) < 0.8
    s[:2] = 1.0
    return s


def random_path(seed):
    """The arguments of one random path."""
    rng = np.random.default_rng([seed, 4])
    X = random_rows(rng)
    n = len(X)
    name = str(rng.choice(list(KERNELS)))
    options = {"sample_weight": random_weights(rng, n), **KERNELS[name]}
    kind = rng.choice(["hinge", "hinge", "hinge", "svr C", "svr epsilon", "nu", "weight"])
    if kind.startswith("svr"):
        y = X[:, 0] + rng.normal(size=n) if rng.random() < 0.7 else rng.integers(0, 4, size=n).astype(float)
        over = kind.split()[1]
        options |= {"loss": "epsilon_insensitive", "over": over, "task": "regression", "epsilon": 0.1, "C": 10.0}
        options["span"] = (1e-3, 1e3) if over == "C" else (3.0, float(rng.choice([0.0, 0.01])))
    else:
        y = random_labels(rng, X)
        options |= {"loss": "nu" if kind == "nu" else "hinge", "over": {"nu": "nu", "weight": "weight"}.get(kind, "C")}
        if kind == "weight":
            options |= {"sample": rng.permutation(n)[: rng.integers(1, 3)], "span": (1, 0)}
            options["C"] = 10.0 ** rng.uniform(-2, 2)
        elif kind != "nu":
            options["span"] = (1e-3, 1e3)
    return name, kind, X, y, options


def condition(path, value):
    path = getattr(path, "inner", path)  # of distinct samples
    record = path.record
    F = np.flatnonzero(record.status(path.path_parameter.t(value)) == FREE)
    return np.linalg.cond(elbow_matrix(record.program, F))


def run(seed):
    """One path; raises AssertionError where it is not optimal."""
    name, kind, X, y, options = random_path(seed)
    try:
        path = svmpath.trace(X, y, **options)
    except svmpath.PathError:
        return  # some of these kernels are constant or nearly so
    nodes = path.breakpoints
    nodes = np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])])
    solutions = [path(value) for value in nodes]
    violations = np.array([solution.violation for solution in solutions])
    violations -= [min(solution.rounding, ALWAYS) for solution in solutions]  # what double precision cannot tell
    check_decisions(path, nodes, solutions)
    worst = int(np.argmax(violations))
    what = f"{kind}, {name}: violation {violations[worst]:.2e} at {path.over} = {nodes[worst]:.6g}"
    assert violations[worst] <= ALWAYS, what
    if violations[worst] > SHARP:
        for value in nodes[violations > SHARP]:
            assert condition(path, value) > 1e8, f"{what}, well conditioned"


def check_decisions(path, nodes, solutions):
    """One walk through some values gives the decision values of the machines between breakpoints."""
    between = np.arange(len(path.breakpoints), len(nodes))
    chosen = between[[len(between) // 3, -1]]
    found = path.decisions(nodes[chosen])
    for row, k in zip(found, chosen, strict=True):
        expected = solutions[k].fitted
        slack = 1e-6 * (1 + np.abs(expected).max()) + 10 * solutions[k].rounding
        difference = np.abs(row - expected).max()
        assert difference <= slack, f"decisions at {path.over} = {nodes[k]:.6g} differ by {difference:.2e}"

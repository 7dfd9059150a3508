"""Random paths of the elastic-net hinge machine; each is measured at all its breakpoints and between them.

The kinds are those that break path followers: integer and binary columns, duplicate and negated columns, constant ones,
low rank, duplicate and contradictory rows, unit weights and integer ones, few of one class, more features than samples.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

import svmpath

KINDS = (
    "normal", "balanced", "ternary", "binary", "duplicate columns", "negated columns", "duplicate rows",
    "contradictory rows", "constant columns", "low rank", "few distinct rows",
)  # fmt: skip
GENERAL, TIED = 1e-9, 1e-8  # relative duality gaps allowed


def random_rows(rng, kind):
    n, p = int(rng.integers(4, 40)), int(rng.integers(1, 25))
    X = rng.normal(size=(n, p))
    if kind == "ternary":
        X = rng.integers(-1, 2, size=(n, p)).astype(float)
    elif kind == "binary":
        X = (rng.random(size=(n, p)) < 0.4).astype(float)
    elif kind == "duplicate columns":
        X = X[:, rng.integers(0, p, size=p)]
    elif kind == "negated columns":
        X = np.hstack([X, -X])
    elif kind in ("duplicate rows", "contradictory rows"):
        X = X[rng.integers(0, n, size=n)]
    elif kind == "constant columns":
        X[:, rng.random(p) < 0.5] = 3.0
    elif kind == "low rank":
        X = rng.integers(-2, 3, size=(n, 2)) @ rng.integers(-2, 3, size=(2, p)).astype(float)
    elif kind == "few distinct rows":
        X = rng.integers(0, 2, size=(n, min(p, 3))).astype(float)
    return X


def random_labels(rng, X, kind):
    n = len(X)
    y = np.where(rng.random(n) < rng.choice([0.1, 0.3, 0.5]), 1.0, -1.0)
    if rng.random() < 0.5:
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    if kind == "balanced" or rng.random() < 0.2:
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
    if kind == "duplicate rows":  # equal rows have equal labels
        _, first = np.unique(X, axis=0, return_inverse=True)
        y = y[first.ravel() % n]
    y[:2] = 1.0, -1.0
    return y


def random_path(seed):
    """Kind and arguments of one random path."""
    rng = np.random.default_rng([seed, 7])
    kind = KINDS[seed % len(KINDS)]
    X = random_rows(rng, kind)
    n, p = X.shape
    y = random_labels(rng, X, kind)
    options = {
        "loss": "elastic_hinge",
        "over": str(rng.choice(["lambda1", "lambda1", "lambda1", "lambda2", "ray", "weight"])),
    }
    way = rng.random()
    if way < 0.2:
        options["sample_weight"] = rng.exponential(size=n) + 0.01
    elif way < 0.4:
        options["sample_weight"] = np.where(np.arange(n) < 2, 1, rng.integers(0, 4, size=n)).astype(float)
    if rng.random() < 0.25:
        factors = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0], size=p) if rng.random() < 0.5 else rng.exponential(size=p)
        options["penalty_factor"] = factors
    if rng.random() < 0.1:
        options["standardize"] = True
    lam2 = float(rng.choice([1.0, 1e-3, 0.0, 10.0 ** rng.uniform(-2, 2)]))
    if options["over"] == "lambda1":
        options["lambda2"] = lam2
        if rng.random() < 0.2:
            top = 1 + np.abs(X).sum()
            options["span"] = (top, float(rng.choice([0.0, 1e-3 * top])))
    elif options["over"] == "ray":
        options["l1_ratio"] = float(rng.choice([0.0, 0.1, 0.5, 0.9, 1.0]))
    else:
        options["lambda1"] = float(rng.choice([0.0, 1e-2, 10.0 ** rng.uniform(-1, 1)]))
        if options["over"] == "weight":
            lam2 = lam2 if options["lambda1"] else max(lam2, 1e-3)
            options |= {"lambda2": lam2, "sample": rng.permutation(n)[: rng.integers(1, 3)]}
    if rng.random() < 0.1:
        X = sparse.csr_matrix(X)
    return kind, X, y, options


def run(seed):
    """One path; raises AssertionError where it is not optimal."""
    kind, X, y, options = random_path(seed)
    s = options.get("sample_weight")
    rows = options.get("sample")
    if rows is not None and s is not None and not np.delete(s, rows).any():
        return
    path = svmpath.trace(X, y, **options)
    nodes = path.breakpoints
    nodes = np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])])
    solutions = [path(value) for value in nodes]
    total = path.problem.s.sum()
    gaps = np.array([solution.gap - lost(solution) for solution in solutions])
    worst = int(np.argmax(gaps))
    allowed = GENERAL if kind in ("normal", "balanced") else TIED
    what = f"{kind}, {options}: gap {gaps[worst]:.2e} at {path.over} = {nodes[worst]:.6g}, n, p = {X.shape}"
    assert gaps[worst] <= allowed, what
    sums = max(abs(solution.alpha.sum()) for solution in solutions)
    assert sums <= 1e-9 * total, f"{what}: sum of alpha {sums:.2e}"


def lost(solution):
    """What rounding in large decision values can add to the gap, relative to a cost that is next to nothing."""
    problem = solution.problem
    cost = problem.s @ np.maximum(1 - problem.y * solution.fitted, 0)
    return solution.rounding * problem.s.sum() / max(cost, 1e-6 * problem.s.sum())

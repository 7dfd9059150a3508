"""Random problems through paths over a kernel parameter; measured at breakpoints and at three values of every segment.

Grids, duplicates, contradictory labels, weights with zeros, one to four dimensions; rbf, laplacian and polynomial
kernels, sums and products; both directions.
"""

from __future__ import annotations

import numpy as np

import svmpath
from svmpath import kernels
from svmpath.solvers.box_qp import FREE, elbow_matrix
from tests.fuzz_jump import random_labels, random_rows, random_weights

NODES, INSIDE, ALWAYS = 1e-10, 1e-8, 1e-6  # violations allowed at breakpoints, between them, and where M is singular
SINGULAR = 1e8  # a condition number of the elbow system from which on double precision has few digits left


def random_kernel(rng, wide):
    """A kernel, the name of its parameter, and a span of it."""
    name = str(rng.choice(["rbf", "rbf", "rbf", "laplacian", "poly gamma", "poly coef0", "sum", "product"]))
    if name in ("rbf", "laplacian"):
        span = (1e-3, 100.0) if wide else (0.05, 20.0)
        options = {"kernel": name, "over": "gamma"}
    elif name == "poly gamma":
        span = (0.1, 2.0)
        options = {"kernel": "poly", "degree": int(rng.integers(2, 4)), "coef0": 1.0, "over": "gamma"}
    elif name == "poly coef0":
        span = (0.0, 3.0)
        options = {"kernel": "poly", "degree": 3, "gamma": 0.5, "over": "coef0"}
    else:
        span = (0.1, 10.0)
        rbf, other = kernels.RBF(1.0), kernels.Laplacian(0.5)
        options = {"kernel": rbf + 0.5 * other if name == "sum" else rbf * other, "over": "k1__gamma"}
    options["span"] = span if rng.random() < 0.5 else span[::-1]
    return name, options


def random_path(seed, wide=False):
    """The arguments of one random path; wide spans and large C meet singular kernels."""
    rng = np.random.default_rng([seed, 6])
    X = random_rows(rng)
    name, options = random_kernel(rng, wide)
    options |= {"sample_weight": random_weights(rng, len(X)), "C": 10.0 ** rng.uniform(-1, 3 if wide else 1.5)}
    if rng.random() < 0.25:
        y = X[:, 0] + rng.normal(size=len(X)) if rng.random() < 0.7 else rng.integers(0, 4, size=len(X)).astype(float)
        options |= {"loss": "epsilon_insensitive", "epsilon": 0.1, "task": "regression"}
    else:
        y = random_labels(rng, X)
        options["loss"] = "hinge"
    return name, X, y, options


def condition(path, value):
    path = getattr(path, "inner", path)  # that of the merged rows
    program = path.machine(value).begin().program
    F = np.flatnonzero(path.record.status(path.axis.t(value)) == FREE)
    return np.linalg.cond(elbow_matrix(program, F))


def run(seed, wide=False):
    """One path; raises AssertionError where it is not optimal."""
    name, X, y, options = random_path(seed, wide)
    try:
        path = svmpath.trace(X, y, **options)
    except svmpath.PathError:
        return  # wide spans meet kernels that are singular
    nodes = path.breakpoints
    inside = np.concatenate([nodes[:-1] + share * np.diff(nodes) for share in (0.25, 0.5, 0.75)])
    for values, allowed in ((nodes, NODES), (inside, INSIDE)):
        for value in values:
            solution = path(value)
            violation = solution.violation - min(solution.rounding, ALWAYS)
            if violation > allowed * path.loss.scale(path.problem):
                what = f"{name}: violation {violation:.2e} at {path.over} = {value:.6g}"
                assert violation <= ALWAYS, what
                assert condition(path, value) > SINGULAR, f"{what}, well conditioned"

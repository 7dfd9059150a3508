"""Random problems for gradients: scores against those of the curves, derivatives against their differences.

A task of ``make fuzz`` (see ``trials``).
"""

from __future__ import annotations

import numpy as np

import svmpath
from svmpath import criteria
from svmpath.kernels import ARD
from tests import fuzz_refits

STEP = 1e-5


def run(seed):
    """One random problem for each loss; returns how many derivatives were compared."""
    return sum(compare(seed, loss) for loss in ("least_squares", "squared_hinge"))


def compare(seed, loss):
    """The gradient of one problem beside differences of a curve; those that disagree with each other tell nothing."""
    rng = np.random.default_rng([seed, 2])
    X = fuzz_refits.random_data(rng)
    n, d = X.shape
    y = np.where(rng.random(n) < rng.choice([0.2, 0.5]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    s = fuzz_refits.random_weights(rng, n)
    if s is not None:
        s[:2] = 1.0
    held_out = str(rng.choice(["squared", "squared_hinge", "logistic", "sigmoid"]))
    logs = np.append(rng.uniform(-4, 5), np.log(10.0) * rng.uniform(-3, 1, size=d))
    criterion = criteria.press if loss == "least_squares" else criteria.span

    def path_at(at):
        kernel = ARD(np.exp(at[1:]))
        return svmpath.trace(X, y, loss=loss, kernel=kernel, gamma=None, sample_weight=s, span=(1e-3, 1e3))

    def score(at):
        return criterion(path_at(at), float(np.exp(at[0])), loss=held_out).scores[0]

    found = criteria.gradient(path_at(logs), float(np.exp(logs[0])), loss=held_out)
    middle = score(logs)
    assert abs(found.score - middle) <= 1e-8 * (1 + middle), f"score {found.score} is not {middle} ({loss})"
    by = np.array(list(found.by.values()))
    size, compared = np.abs(by).max(), 0
    for j, step in enumerate(STEP * np.eye(d + 1)):
        near = (score(logs + step) - score(logs - step)) / (2 * STEP)
        far = (score(logs + 2 * step) - score(logs - 2 * step)) / (4 * STEP)
        if abs(near - far) > 1e-6 * (size + abs(near)) + 1e-9:
            continue  # somebody crosses the margin in between
        off = abs(by[j] - near)
        assert off <= 1e-5 * (size + abs(near)) + 1e-8, f"{loss}, {held_out}: {by[j]} by parameter {j}, not {near}"
        compared += 1
    return compared

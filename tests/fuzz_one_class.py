"""Random problems through the one-class machine: every breakpoint measured, every sample left out, beside refits."""

from __future__ import annotations

import numpy as np

import svmpath
from svmpath import criteria
from svmpath.exceptions import NoMarginError
from tests import fuzz_jump, fuzz_loo
from tests.fuzz_jump import ALWAYS, SHARP, random_rows, random_weights


def run(seed):
    """One path; raises AssertionError where a machine is not optimal or a held-out value is not that of a refit."""
    rng = np.random.default_rng([seed, 7])
    X = random_rows(rng)
    name = str(rng.choice(list(fuzz_jump.KERNELS)))
    options = {"sample_weight": random_weights(rng, len(X)), **fuzz_jump.KERNELS[name]}
    try:
        path = svmpath.trace(X, loss="one_class", **options)
    except NoMarginError:
        return  # rows around the origin
    nodes = path.breakpoints
    nodes = np.concatenate([nodes, 0.5 * (nodes[1:] + nodes[:-1])])
    solutions = [path(value) for value in nodes]
    unit = path.loss.scale(path.problem)
    for solution, nu in zip(solutions, nodes, strict=True):
        wrong = (solution.violation - min(solution.rounding, ALWAYS * unit)) / unit
        allowed = SHARP if wrong <= SHARP or fuzz_jump.condition(path, nu) < 1e8 else ALWAYS
        assert wrong <= allowed, f"{name}: violation {wrong:.2e} at nu = {nu:.6g}"
        check_share(solution, nu, 1e-9 * unit + 10 * solution.rounding)
    fuzz_jump.check_decisions(path, nodes, solutions)
    low, high = sorted(path.span)
    chosen = np.exp(rng.uniform(np.log(low), np.log(high), 2))
    try:
        curve = criteria.loo(path, chosen)
    except NoMarginError:
        return  # the origin is among the rows without one of them
    fuzz_loo.compare(path.unmerged, chosen, curve, name)


def check_share(solution, nu, zero):
    """The nu property."""
    s, f = solution.problem.s, solution.fitted
    total = s.sum()
    assert s[f < -zero].sum() <= nu * total * (1 + 1e-9), f"more than nu = {nu:.6g} outside"
    assert s[f < zero].sum() >= nu * total * (1 - 1e-9), f"fewer than nu = {nu:.6g} outside or on the elbow"

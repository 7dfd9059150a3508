"""Random problems of ``fuzz_jump``, every sample left out: exact leave-one-out against a machine without the sample.

That machine is solved from scratch on the other rows, from a start of its own. The errors of ``count_only`` must be the
same, approximate leave-one-out must be exact wherever it is not unreliable, and equal in both forms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import svmpath
from svmpath import criteria
from svmpath.exceptions import NoMarginError
from tests import fuzz_jump

SHARP, ALWAYS = 1e-9, 1e-6  # where the elbow system's condition is below 1e8, and anywhere


def without(path, value, i):
    """The machine without row i at one value, from its own start."""
    low, high = sorted(path.span)
    near = value * 1.0001 if value * 1.0001 <= high else value / 1.0001
    fold = path.without(np.array([i]))
    return replace(fold, span=(value, near) if value != near else (low, high))(value)


def run(seed, values=2):
    """One path at some values; raises AssertionError where a held-out decision value is not that of a refit."""
    name, kind, X, y, options = fuzz_jump.random_path(seed)
    if len(X) < 4 or kind == "weight":
        return
    try:
        path = svmpath.trace(X, y, **options)
    except svmpath.PathError:
        return
    rng = np.random.default_rng([seed, 5])
    low, high = sorted(path.span)
    chosen = np.exp(rng.uniform(np.log(max(low, 1e-3)), np.log(high), values))
    try:
        curve = criteria.loo(path, chosen)
    except (ValueError, svmpath.PathError):
        if kind != "nu":  # which is infeasible without some sample
            raise
        return
    compare(getattr(path, "unmerged", path), chosen, curve, f"{kind}, {name}")
    approximate(path, chosen, curve, f"{kind}, {name}")
    if kind == "hinge":
        counted = criteria.loo(path, chosen, count_only=True)
        differ = (counted.losses != curve.losses) & (np.abs(curve.decisions) > ALWAYS)
        assert not differ.any(), f"{kind}, {name}: other errors for {np.argwhere(differ).tolist()}"


def compare(path, chosen, curve, what):
    for k, value in enumerate(chosen):
        sharp = fuzz_jump.condition(path, value) < 1e8
        for i in path.problem.active:
            try:
                machine = without(path, value, i)
            except NoMarginError:
                raise AssertionError(f"{what}: there is no machine without row {i} at {value:.6g}") from None
            except svmpath.PathError:
                continue
            expected, found = machine.fitted[i], curve.decisions[k, i]
            slack = (SHARP if sharp else ALWAYS) * (1 + abs(expected)) + 100 * machine.rounding
            difference = abs(found - expected)
            assert difference <= slack or curve.unreliable[k], f"{what}: row {i} at {value:.6g} off by {difference:.2e}"


def approximate(path, chosen, curve, what):
    direct, features = criteria.alo(path, chosen), criteria.alo(path, chosen, form="features")
    frozen = criteria.loo(path, chosen, max_events=0)
    for k in range(len(chosen)):
        size = 1 + np.abs(direct.decisions[k]).max()
        if fuzz_jump.condition(path, chosen[k]) < 1e8:
            for other in (features.decisions[k], frozen.decisions[k]):
                difference = np.abs(direct.decisions[k] - other).max()
                assert difference <= 1e-7 * size, f"{what}: forms of alo differ by {difference:.2e}"
            wrong = np.abs(direct.decisions[k] - curve.decisions[k]) > 1e-7 * size
            assert np.count_nonzero(wrong) <= direct.unreliable[k], f"{what}: more wrong than unreliable"

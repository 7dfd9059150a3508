"""The candidates that a choice was made among: those scored with the machine, criterion and kernel matrix asked for."""

from __future__ import annotations

import numpy as np

from svmpath.search.axis import is_among
from svmpath.search.choice import Choice, Scores, Stage

# Stages whose scores can be compared with each other; what was screened or narrowed has scores of another kind, and
# those of a descent are smoothed.
_DECIDING = ("confirm", "compare", "rank", "grid")


def only_stage(choice: Choice) -> Stage:
    """A search without stages, as one."""
    path = choice.curve.path
    tried = dict(choice.tried) or {float("nan"): Scores.of(choice.curve)}
    here = [*path.gram.kernel.parameters.values(), float("nan")]
    for gamma in tried:
        # The curve of the choice may have been made finer since.
        if is_among(gamma, here) and len(tried[gamma].values) < len(choice.curve.values):
            tried[gamma] = Scores.of(choice.curve)
    return Stage("grid", path.loss.name, choice.curve.criterion, path.gram.rank, tried, np.nan, own=path.loss.own)


def deciding_stages(choice: Choice) -> list[Stage]:
    """The stages with the scores that decided, on a kernel matrix of the rank that was chosen; none of a descent."""
    if not choice.stages:
        return [only_stage(choice)]
    rank = choice.curve.path.gram.rank
    return [stage for stage in choice.stages if stage.name in _DECIDING and stage.rank == rank]


def candidates(choice: Choice) -> list[Scores] | None:
    """Their scores, one entry for each kernel; None where they were not kept, or the search went by a gradient."""
    found = [scores for stage in deciding_stages(choice) for scores in stage.tried.values()]
    return None if not found or any(scores.losses is None for scores in found) else found

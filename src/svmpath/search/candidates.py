"""The candidates that a choice was made among: those scored with the machine, criterion and kernel matrix asked for."""

from __future__ import annotations

from svmpath.search.choice import Choice, Scores

_DECIDING = ("confirm", "compare", "rank")  # stages of the default search whose scores can be compared with each other


def candidates(choice: Choice) -> list[Scores] | None:
    """Their scores, one entry for each kernel; None where they were not kept, or the search went by a gradient.

    Of the stages of the default search: those on a kernel matrix of the rank that was chosen. What was screened or
    narrowed had scores of another kind.
    """
    rank = choice.curve.path.gram.rank
    kept = [stage for stage in choice.stages if stage.name in _DECIDING and stage.rank == rank]
    if choice.stages and not kept:
        return None
    found = [scores for stage in kept for scores in stage.tried.values()]
    found = found or list(choice.tried.values()) or [Scores.of(choice.curve)]
    return None if any(scores.losses is None for scores in found) else found

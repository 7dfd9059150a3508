"""Everything that a search tried, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.search.axis import is_among
from svmpath.search.candidates import only_stage
from svmpath.search.choice import Choice, Stage

if TYPE_CHECKING:
    import pandas as pd


_FIRST = ("screen", "narrow")  # stages after which other stages decide


def search_table(choice: Choice) -> pd.DataFrame:
    """One row per pair of C and gamma that was tried, in the order of the stages.

    Columns: ``stage``, ``loss``, ``criterion``, ``rank``, ``gamma`` (NaN if it was not searched), ``C``, ``score``,
    ``standard_error``, ``kept`` (whether the gamma went on to the next stage; in the last one, whether this is the
    pair chosen). Scores of different stages cannot be compared with each other.
    """
    import pandas as pd  # not needed for a fit

    return pd.DataFrame(list(_rows(choice)))


def _rows(choice: Choice) -> Iterator[dict[str, Any]]:
    stages = choice.stages or (only_stage(choice),)
    chosen = _chosen(choice, stages)
    for number, stage in enumerate(stages):
        later = [gamma for after in stages[number + 1 :] for gamma in after.tried]
        for gamma, scores in stage.tried.items():
            is_kept = is_among(gamma, later)
            for place, C in enumerate(scores.values):
                yield {
                    "stage": stage.name,
                    "loss": stage.loss,
                    "criterion": stage.criterion,
                    "rank": stage.rank,
                    "gamma": gamma,
                    "C": float(C),
                    "score": float(scores.scores[place]),
                    "standard_error": float(scores.standard_errors[place]),
                    "kept": is_kept if stage.name in _FIRST else (number, gamma, place) == chosen,
                }


def _chosen(choice: Choice, stages: Sequence[Stage]) -> tuple[int, float, int] | None:
    """Where the pair chosen stands: the number of the first stage with its score, its gamma, its position."""
    path = choice.curve.path
    gammas = [*path.gram.kernel.parameters.values(), float("nan")]
    for number, stage in enumerate(stages):
        is_descent = stage.name == "gradient"
        if stage.name in _FIRST or stage.loss != path.loss.name or (is_descent and number < len(stages) - 1):
            continue
        for gamma, scores in stage.tried.items():
            is_here = np.isclose(scores.values, choice.value, atol=0.0)
            if not is_descent:  # which has smoothed scores, and comes to a pair once
                is_here &= np.isclose(scores.scores, choice.score, atol=0.0)
            if is_among(gamma, gammas) and is_here.any():
                return number, gamma, int(np.argmax(is_here))
    return None

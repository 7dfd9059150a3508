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
_NUMBERED = ("penalty", "ard")  # stages whose keys are no gammas, but values of eta, and numbers of points


def search_table(choice: Choice) -> pd.DataFrame:
    """One row per pair of C and gamma that was tried, in the order of the stages.

    Columns: ``stage``, ``loss``, ``criterion``, ``rank``, ``gamma`` (NaN if it was not searched, or if each feature has
    its own), ``C``, ``score``, ``standard_error``, ``kept`` (whether the gamma went on to the next stage; in the last
    ones, whether this is the pair chosen). Then one column for each parameter of the loss, such as ``epsilon``; and
    ``eta``, of the penalty on the spread of the gammas, if there was one. Scores of different stages cannot be compared
    with each other.
    """
    import pandas as pd  # not needed for a fit

    return pd.DataFrame(list(_rows(choice)))


def _rows(choice: Choice) -> Iterator[dict[str, Any]]:
    stages = choice.stages or (only_stage(choice),)
    chosen = _chosen(choice, stages)
    unknown = dict.fromkeys(_more_columns(stages), np.nan)
    for number, stage in enumerate(stages):
        later = [gamma for after in stages[number + 1 :] if after.name not in _NUMBERED for gamma in after.tried]
        for key, scores in stage.tried.items():
            for place, value in enumerate(scores.values.tolist()):
                is_kept = is_among(key, later) if stage.name in _FIRST else (number, key, place) in chosen
                yield {
                    "stage": stage.name,
                    "loss": stage.loss,
                    "criterion": stage.criterion,
                    "rank": stage.rank,
                    **_pair(stage, key, value),
                    "score": float(scores.scores[place]),
                    "standard_error": float(scores.standard_errors[place]),
                    "kept": is_kept,
                    **unknown,
                    **stage.own,
                    **({"eta": key} if stage.name == "penalty" else {}),
                }


def _pair(stage: Stage, key: float, value: float) -> dict[str, float]:
    """Gamma and C, as far as they are single numbers."""
    is_numbered = stage.name in _NUMBERED  # then the key is no gamma
    return {"gamma": np.nan if is_numbered else key, "C": np.nan if stage.name == "penalty" else value}


def _more_columns(stages: Sequence[Stage]) -> list[str]:
    """The parameters of the losses beside C, and of penalties."""
    names = dict.fromkeys(name for stage in stages for name in stage.own)
    return [*names, *(["eta"] if any(stage.name == "penalty" for stage in stages) else [])]


def _chosen(choice: Choice, stages: Sequence[Stage]) -> set[tuple[int, float, int]]:
    """Where what was chosen stands, as the number of a stage, the key there, and the position.

    The pair, in the first stage with its score; where each feature has its gamma, their point and the penalty.
    """
    found = [(number, _key_of(choice, stage)) for number, stage in enumerate(stages) if stage.name in _NUMBERED]
    if found:
        return {(number, key, 0) for number, key in found if key is not None}
    path = choice.curve.path
    gammas = [*path.gram.kernel.parameters.values(), float("nan")]
    for number, stage in enumerate(stages):
        if stage.name in _FIRST or stage.loss != path.loss.name or dict(stage.own) != dict(path.loss.own):
            continue
        for gamma, scores in stage.tried.items():
            is_here = np.isclose(scores.values, choice.value, atol=0.0)
            if stage.name != "gradient":  # which has smoothed scores, and comes to a pair once
                is_here &= np.isclose(scores.scores, choice.score, atol=0.0)
            if is_among(gamma, gammas) and is_here.any():
                return {(number, gamma, int(np.argmax(is_here)))}
    return set()


def _key_of(choice: Choice, stage: Stage) -> float | None:
    """The eta with the lowest loss; or the number of the point with the gammas and the C of the choice."""
    if stage.gammas is None:
        return min(stage.tried, key=lambda eta: float(stage.tried[eta].scores[0]))
    gammas = np.array(list(choice.curve.path.gram.kernel.parameters.values()))
    at = np.array([float(scores.values[0]) for scores in stage.tried.values()])
    is_here = np.isclose(at, choice.value, atol=0.0) & np.isclose(stage.gammas, gammas, atol=0.0).all(axis=1)
    return list(stage.tried)[int(np.argmax(is_here))] if is_here.any() else None

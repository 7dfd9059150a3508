"""What an estimator is told to score by: ``scoring`` and ``threshold``."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from svmpath.criteria.scorers import make_scoring
from svmpath.criteria.scoring import Scoring
from svmpath.criteria.threshold import best_threshold
from svmpath.estimators.held_out import HeldOut
from svmpath.names import unknown_name

Array = np.ndarray


def resolve_scoring(scoring: Any, criterion_loss: Any, classes: Array | None, y: Array, s: Array) -> Scoring | None:
    """``scoring`` for this task; ``y`` holds numbers of classes, or a regression's targets. None for a loss."""
    if scoring is None:
        return None
    if criterion_loss is not None:
        raise ValueError(
            "scoring and criterion_loss both say what a held-out decision value is worth; give only one of them."
        )
    return make_scoring(scoring, classes, y, s)


def check_threshold(threshold: Any, classes: Array) -> None:
    """Refuse what is not a threshold, before any work."""
    if isinstance(threshold, str):
        if threshold != "tune":
            raise ValueError(unknown_name("threshold", threshold, ["tune"], "a number"))
    elif not isinstance(threshold, Real) or isinstance(threshold, bool) or not np.isfinite(float(threshold)):
        raise ValueError(f"threshold must be a number or 'tune', got {threshold!r}.")
    if len(classes) > 2 and threshold != 0.0:
        raise ValueError(
            f"threshold works for two classes only, but y has {len(classes)}: leave it at 0.0, and the class with "
            "the largest decision value is predicted."
        )


def fit_threshold(threshold: float | str, scoring: Scoring | None, held_out: HeldOut) -> float | None:
    """The threshold as given, or tuned on the held-out decision values of the choice; None for several classes."""
    assert held_out.classes is not None
    if len(held_out.classes) > 2:
        return None
    if isinstance(threshold, str):
        s = held_out.machines.paths[0].problem.s
        scoring = scoring or make_scoring("accuracy", held_out.classes, held_out.labels, s)
        threshold = best_threshold(held_out.as_chosen(), scoring)
    held_out.cut = float(threshold)
    return held_out.cut

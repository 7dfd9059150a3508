"""What an estimator is told to score by: ``scoring`` and ``threshold``."""

from __future__ import annotations

from inspect import signature
from numbers import Real
from typing import Any

import numpy as np

from svmpath.criteria.curve import HELD_OUT_LOSSES, HeldOutLoss, held_out_loss
from svmpath.criteria.scorers import make_scoring, positive_class
from svmpath.criteria.scoring import Scoring
from svmpath.criteria.threshold import best_threshold
from svmpath.estimators.held_out import HeldOut
from svmpath.names import unknown_name

Array = np.ndarray


def resolve_scoring(
    scoring: Any, classes: Array | None, y: Array, s: Array, pos_label: Any = None
) -> tuple[HeldOutLoss, None] | tuple[None, Scoring]:
    """What ``scoring`` stands for: a loss of each held-out decision value (None is that of the task), or a scorer.

    ``y`` holds numbers of classes, or a regression's targets; ``pos_label`` is the positive one of two classes.
    """
    if is_held_out_loss(scoring):
        held_out_loss(scoring, "regression" if classes is None else "classification", "scoring")  # may refuse it
        positive_class(pos_label, classes)  # as may this
        return scoring, None
    return None, make_scoring(scoring, classes, y, s, pos_label=pos_label)


def is_held_out_loss(scoring: Any) -> bool:
    """Whether it is None, the name of a held-out loss, or a function of two arguments; scorers have three."""
    if scoring is None or isinstance(scoring, str):
        return scoring is None or scoring in HELD_OUT_LOSSES
    try:
        parameters = list(signature(scoring).parameters.values())
    except (TypeError, ValueError):  # not a function, or one that cannot say
        return False
    needed = [each for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    return len(needed) == 2


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
        s = held_out.problem.s
        scoring = scoring or make_scoring("accuracy", held_out.classes, held_out.labels, s)
        threshold = best_threshold(held_out.as_chosen(), scoring)
    held_out.cut = float(threshold)
    return held_out.cut

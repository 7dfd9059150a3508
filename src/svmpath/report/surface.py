"""Every pair of hyper-parameters that the search tried, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from svmpath.criteria.curve import error
from svmpath.criteria.table import CRITERIA, is_bound
from svmpath.report.facts import Tried, plain, rounded
from svmpath.report.fitted import Fitted

_NO_PAIRS = ("ard", "penalty")  # stages whose points are no pairs of C and gamma
_SMOOTH = ("screen", "gradient")  # stages whose scores are mean squared residuals, or smoothed errors
_STAGE_KEYS = ("stage", "loss", "criterion", "rank")


def tried(fitted: Fitted) -> list[Tried]:
    """One entry per stage, in the order of the search; scores of different stages cannot be compared."""
    rows = list(_elastic(fitted)) if fitted.is_elastic else fitted.model.search_table_.to_dict("records")
    groups = groupby(rows, key=lambda row: tuple(row[key] for key in _STAGE_KEYS))
    return [_stage(fitted, key, list(group)) for key, group in groups if key[0] not in _NO_PAIRS]


def _stage(fitted: Fitted, key: tuple[Any, ...], rows: list[dict[str, Any]]) -> Tried:
    stage, loss, criterion, rank = key
    words = CRITERIA[criterion].words if criterion in CRITERIA else criterion
    low = "" if rank >= fitted.n else f", rank {rank}"
    x, y, score, spread = (
        np.array([row[key] for row in rows], dtype=float) for key in ("C", "gamma", "score", "standard_error")
    )
    kept = [bool(row["kept"]) for row in rows]
    title = f"{stage}: {loss.replace('_', ' ')}, {words}{low}"
    return Tried(
        stage,
        title,
        stage not in _SMOOTH and _is_rate(fitted),
        plain(x),
        plain(y),
        rounded(score, 8),
        rounded(spread, 8),
        kept,
    )


def _is_rate(fitted: Fitted) -> bool:
    """Whether scores are error rates."""
    curve = fitted.choice.curve
    if is_bound(curve.criterion):
        return False
    return getattr(curve.loss, "loss", curve.loss) is error and curve.scoring is None


def _elastic(fitted: Fitted) -> Iterator[dict[str, Any]]:
    """The pairs of lambda1 and lambda2, in the form of ``search_table_``."""
    choice, model = fitted.choice, fitted.model
    for lam2, scores in choice.tried.items():
        for place, value in enumerate(scores.values):
            yield {
                "stage": "grid",
                "loss": fitted.path.loss.name,
                "criterion": choice.curve.criterion,
                "rank": fitted.n,
                "gamma": lam2,
                "C": float(value),
                "score": float(scores.scores[place]),
                "standard_error": float(scores.standard_errors[place]),
                "kept": lam2 == model.lambda2_ and value == model.lambda1_,
            }

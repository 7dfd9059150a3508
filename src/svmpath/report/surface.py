"""Every pair of hyper-parameters that the search tried, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pandas as pd

from svmpath.criteria.curve import error
from svmpath.criteria.table import is_bound
from svmpath.report.facts import Facts, rounded
from svmpath.report.fitted import Fitted
from svmpath.report.overview import criterion_words

_NO_PAIRS = ("ard", "penalty")  # stages whose points are no pairs of C and gamma
_SMOOTH = ("screen", "gradient")  # stages whose scores are mean squared residuals, or smoothed errors
_STAGE_KEYS = ("stage", "loss", "criterion", "rank")


def tried(fitted: Fitted) -> list[Facts]:
    """One entry per stage, in the order of the search; scores of different stages cannot be compared."""
    curve = fitted.choice.curve
    is_rate = not is_bound(curve.criterion) and curve.scoring is None
    is_rate = is_rate and getattr(curve.loss, "loss", curve.loss) is error
    rows = _elastic_rows(fitted) if fitted.is_elastic else fitted.model.search_table_.to_dict("records")
    stages = []
    for key, group in groupby(rows, key=lambda row: tuple(row[name] for name in _STAGE_KEYS)):
        stage, loss, criterion, rank = key
        if stage in _NO_PAIRS:
            continue
        table = pd.DataFrame(list(group))
        low = "" if rank >= fitted.n else f", rank {rank}"
        stages.append(
            {
                "stage": stage,
                "title": f"{stage}: {loss.replace('_', ' ')}, {criterion_words(criterion)}{low}",
                "is_rate": is_rate and stage not in _SMOOTH,
                "x": table["C"].to_numpy(float),
                "y": table["gamma"].to_numpy(float),
                "score": rounded(table["score"], 8),
                "error": rounded(table["standard_error"], 8),
                "kept": table["kept"].to_numpy(bool),
            }
        )
    return stages


def _elastic_rows(fitted: Fitted) -> Iterator[Facts]:
    """The pairs of lambda1 and lambda2, in the form of ``search_table_``."""
    choice, model = fitted.choice, fitted.model
    for lam2, scores in choice.tried.items():
        for value, score, spread in zip(scores.values, scores.scores, np.asarray(scores.standard_errors), strict=True):
            yield {
                "stage": "grid",
                "loss": fitted.path.loss.name,
                "criterion": choice.curve.criterion,
                "rank": fitted.n,
                "gamma": lam2,
                "C": value,
                "score": score,
                "standard_error": spread,
                "kept": lam2 == model.lambda2_ and value == model.lambda1_,
            }

"""Every pair of hyper-parameters that the search tried, stage by stage."""

from __future__ import annotations

from svmpath.criteria.curve import error
from svmpath.criteria.table import is_bound
from svmpath.estimators.held_out import ROOT
from svmpath.report.curves import rooted, searched_by
from svmpath.report.facts import Facts, rounded
from svmpath.report.fitted import Fitted
from svmpath.report.overview import criterion_words
from svmpath.search.results import search_table

_NO_PAIRS = ("ard", "penalty")  # stages whose points are no pairs of C and gamma
_SMOOTH = ("screen", "gradient")  # stages whose scores are mean squared residuals, or smoothed errors
_SQUARES = {"classification": "squared residual", "regression": ROOT}
_STAGE_KEYS = ["stage", "loss", "criterion", "rank"]


def tried(fitted: Fitted) -> list[Facts]:
    """One entry per stage, in the order of the search; scores of different stages cannot be compared."""
    curve, table = fitted.choice.curve, search_table(fitted.choice)
    if fitted.is_elastic:  # lambda1 and lambda2 are in the columns of C and gamma
        table["kept"] = (table["gamma"] == fitted.model.lambda2_) & (table["C"] == fitted.model.lambda1_)
    is_rate = not is_bound(curve.criterion) and curve.scoring is None
    is_rate = is_rate and getattr(curve.loss, "loss", curve.loss) is error
    words, is_own = searched_by(curve, fitted.task)[1], bool(fitted.path.loss.own_score)
    stages = []
    for _, rows in table.groupby((table[_STAGE_KEYS] != table[_STAGE_KEYS].shift()).any(axis=1).cumsum()):
        stage, loss, criterion, rank = rows[_STAGE_KEYS].iloc[0]
        if stage in _NO_PAIRS:
            continue
        is_smooth = stage in _SMOOTH and curve.scoring is None
        kind = _SQUARES[fitted.task] if is_smooth and not (stage == "gradient" and is_own) else words
        scores, errors = rows["score"].to_numpy(float), rows["standard_error"].to_numpy(float)
        if kind == ROOT:
            scores, errors = rooted(scores, errors)
        low = "" if rank >= fitted.n else f", rank {rank}"
        stages.append(
            {
                "stage": stage,
                "title": f"{stage}: {loss.replace('_', ' ')}, {criterion_words(criterion)}{low}",
                "words": kind,
                "is_rate": is_rate and stage not in _SMOOTH,
                "x": rows["C"].to_numpy(float),
                "y": rows["gamma"].to_numpy(float),
                "score": rounded(scores, 8),
                "error": rounded(errors, 8),
                "kept": rows["kept"].to_numpy(bool),
            }
        )
    return stages

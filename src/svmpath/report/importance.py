"""Which columns matter, as far as that takes a few seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.importance import Shuffled
from svmpath.estimators.pipelines import split_pipeline
from svmpath.report.facts import Facts
from svmpath.validation import is_pairwise

_REPEATS = 5
_MOST_COLUMNS = 200
_MOST_ROWS = 5000  # of the training data: beyond, machines without some rows take long
_KERNEL_VALUES = 100_000_000  # that are computed, about: a few seconds
_FEWEST_ROWS = 100  # rows that are shuffled


def importance_facts(model: Any, X: Any, names: list[str]) -> Facts | None:
    """How much the held-out loss rises when a column of X is shuffled; None where that would take long.

    Of a classification the log loss says which columns matter most, and the rise of the error rate is told beside it.
    """
    last, take = split_pipeline(model, "importance")
    known, n = last._held_out, last.path_.problem.n
    if is_pairwise(getattr(last, "kernel", None)) or len(names) > _MOST_COLUMNS or n > _MOST_ROWS:
        return None
    rows = max(_FEWEST_ROWS, _KERNEL_VALUES // (_REPEATS * len(names) * max(int(last.path_.gram.rank), 1)))
    scorings = (None,) if known.classes is None else (None, "error")
    data = Shuffled(X.tocsr() if hasattr(X, "tocsr") else X, names, lambda rows: last._check_new(take(rows)))
    try:
        found, *others = known.importance(data, scorings, _REPEATS, rows, known.seed)
    except ValueError:  # rows that cannot be held out, such as one group
        return None
    errors = [None] * len(names) if not others else others[0].importances_mean
    return {
        "kind": found.kind,
        "baseline": found.baseline,
        "held_out": found.held_out,
        "rows": found.n_rows,
        "repeats": _REPEATS,
        "columns": [
            {
                "name": names[j],
                "rise": found.importances_mean[j],
                "interval": np.asarray(found.intervals[j]),
                "error_rise": errors[j],
            }
            for j in found.order.tolist()
        ],
    }

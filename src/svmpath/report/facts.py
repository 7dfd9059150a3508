"""The facts about a tuned model are dictionaries that JSON can hold; this is their schema.

Each section of a report is a function from a fitted model to a dictionary. ``summary.json`` holds ``SUMMARY``, and
``Report.facts`` holds ``REPORT``. In a schema,

- a type stands for a value of that type, with ``int`` allowed for ``float``, and ``A | None`` for one that may be null;
- ``[item]`` is a list of such items, ``{str: item}`` a dictionary with any names, ``(a, b)`` one or the other;
- a key that ends with "?" may be absent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

Facts = dict[str, Any]
Schema = Any

_NUMBERS = [float]
_CELL = {"name": str, "value": str, "more": str}  # a fact for people: name, value in words, what else to say of it
_INTERVAL = [float | None]  # both ends; null where there is none

_CLASS = {
    "label": str | int | float | bool,
    "rows": int,
    "predicted": int,  # how many rows are predicted to be of this class
    **dict.fromkeys(("recall", "precision", "f1"), float | None),
}
_METRICS = {  # of held-out predictions; of a regression in the unit of the target
    "r2?": float | None,
    "mean_absolute_error?": float,
    "root_mean_squared_error?": float,
    "below?": float,  # the part of the targets below their prediction
    **dict.fromkeys(("accuracy?", "balanced_accuracy?", "precision?", "recall?", "f1?"), float),
    **dict.fromkeys(("roc_auc?", "average_precision?"), float | None),
    "positive?": str | int | float | bool | None,
    "per_class?": [_CLASS],
}

_IMPORTANCE = {  # how much the held-out loss rises when a column is shuffled
    "kind": str,
    "baseline": float,
    "held_out": str,
    "rows": int,
    "repeats": int,
    "columns": [{"name": str, "rise": float, "interval": _INTERVAL, "error_rise": float | None}],
}

SUMMARY: Schema = {
    "versions": {str: str},
    "data": {  # where the rows came from, and what they are
        "file": str,
        "rows": int,
        "columns": {str: int},  # their number, by kind
        "target": str,
        "task": str,
        "names?": {str: [str]},
        "classes?": [{"label": str | int | float | bool, "rows": int}],
        "notes?": [str],  # what was done to the cells of a file
        "chunks?": int,
    },
    "choice": {
        "loss": str,
        "losses": [str],  # that were compared
        "kernel?": str,
        "C?": float,
        "gamma?": (float | None, _NUMBERS),  # or one per feature
        "at_edge": [str],  # parameters whose value is the first or last that was allowed
        "rank": int | None,
        "residual": float,
        "tol": float | None,
        "epsilon?": float,
        "quantile?": (float, _NUMBERS),  # or several, each with a prediction
        "share_below?": (float, _NUMBERS),  # of the held-out targets, below each quantile
        "lambda1?": float,
        "lambda2?": float,
        "threshold?": float,
        "sample_size?": int,  # of rows in chunks: those that gamma, rank and loss were chosen on
        "multi_class?": str,  # of several classes: "ovr", each against the rest, or "ovo", each pair
    },
    "held_out": {  # the held-out error of the choice, and that of a constant prediction
        "criterion": str,
        "folds": int | str | None,
        "folds_are": str | None,
        "kind": str,
        "value": float,
        "interval": _INTERVAL,
        "baseline": float,
        # of a classification: what part of each class is found (of many classes, the five with the lowest recall), and
        # a sentence where that is little
        "balanced_accuracy?": float,
        "recall?": [{"label": str | int | float | bool, "rows": int, "recall": float | None}],
        "metrics?": _METRICS,
        "caution?": str | None,
        "root_mean_squared_error?": float,
    },
    # the error of the whole procedure, choice included
    "honest": (
        {
            "method": str,
            "fits": int,
            "has_optimism": bool,  # false if a correction has left the held-out error as it is
            "value": float,
            "interval": _INTERVAL,
            "root_mean_squared_error?": float,
        },
        None,
    ),
    # the scores along the path at the chosen kernel, as the search computed them
    "curve": {
        "over": str,
        "criterion": str,
        "switched": str | None,
        "kind": str,
        "values": _NUMBERS,
        "scores": [float | None],
    },
    # the columns as the user has them, the most important first; null where that would take long
    "importance?": (_IMPORTANCE, None),
    "support_vectors": int | None,  # null of rows in chunks
    "seconds": float | None,
    "times?": {str: float},  # the parts of these seconds
    "passes?": {str: int},  # over rows in chunks
    "columns?": [{str: Any}],  # what the command line did with the columns of a file
    "written?": [str],
}

# The machines along the path. `kind` is "line" (one column), "plane" (two), "projection" (more) or "fit" (a regression
# with more). `points` has the coordinates and targets of the rows that are drawn; `pictures[machine][frame]` the
# decision values at them ("projection", "fit") or on the grid ("line", "plane").
_WALK = {
    "kind": str,
    "titles": [str],
    "values": _NUMBERS,
    "start": int,
    "support": [int],
    "features": ([int], None),
    "held_out": [float | None],
    "training": _NUMBERS,
    "training_kind": str,
    "points": {"x": _NUMBERS, "y?": _NUMBERS, "code?": [int], "target?": _NUMBERS},
    "grid": ({"x": _NUMBERS, "y?": _NUMBERS}, None),
    "pictures": [[_NUMBERS]],
    "of": int,
}
_CLASSIFIED = {  # held-out decisions of a classifier
    "labels": [str],
    "confusion": [[int]],
    "roc": [{"machine": str, "fpr": _NUMBERS, "tpr": _NUMBERS, "area": float}],
    "calibration": ({"words": str, "predicted": _NUMBERS, "fraction": _NUMBERS, "counts": _NUMBERS}, None),
}
_RESIDUALS = {  # held-out residuals of a regression, and how often intervals of their quantiles contain the target
    "predicted": _NUMBERS,
    "residual": _NUMBERS,
    "edges": _NUMBERS,
    "counts": [int],
    "nominal": _NUMBERS,
    "covered": _NUMBERS,
    "width": float | None,
    "of": int,
}
_OF_LEVELS = {  # several quantiles or expectiles, in increasing order
    "kind": str,
    "loss": str,
    "each": [
        {
            "level": float,
            "below": float,  # the part of the held-out targets below it
            "deviation": float | None,  # of this part, if the level is met
            "loss": float,
            "baseline": float,  # of the best constant
            "crossed": int | None,  # held-out rows in which it is below the level before it
            "shift": float,  # what predictions are moved by
        }
    ],
    "crossed": int,  # held-out rows in which some two cross
    "of": int,
    "is_sorted": bool,
    "is_moved": bool,
    "inside": float,  # the part of the held-out targets between the first and the last
    "meant_inside": float | None,
    "fan": {"predicted": [_NUMBERS], "target": _NUMBERS},  # by level; rows in the order of the middle one
}
_COLUMN = {  # of categories, `top` is the most frequent one
    "name": str,
    "kind": str,
    **dict.fromkeys(("mean", "deviation", "low", "high"), float | None),
    "distinct": int,
    "missing": int,
    "top": str | None,
}

REPORT: Schema = {
    "title": str,
    "task": str,
    "over": str,  # the parameter that the path follows, and the other one that was searched
    "other": str | None,
    "machines": [str],
    "classes": ([str], None),
    "chosen": {"value": float, "other": float | None},
    "summary": SUMMARY,
    "overview": {
        "chosen": [_CELL],
        "sure": [_CELL],
        "why": str,
        "checked": str,
        "notes": [{"level": str, "text": str}],
    },
    # criteria along the path at the chosen kernel, each under several losses per sample
    "curves": [
        {
            "criterion": str,
            "words": str,
            "values": _NUMBERS,
            "measures": [
                {"name": str, "words": str, "is_rate": bool, "scores": [float | None], "errors": [float | None]}
            ],
        }
    ],
    # the pairs that each stage of the search tried; `y` is null for a kernel that stays as it is
    "tried": [
        {
            "stage": str,
            "title": str,
            "words": str,  # what its scores are
            "is_rate": bool,
            "x": _NUMBERS,
            "y": [float | None],
            "score": [float | None],
            "error": [float | None],
            "kept": [bool],
        }
    ],
    "walk": (_WALK, None),
    # each row has one entry per column; `first` is the number of the first row of X
    "samples": {
        "columns": [{"key": str, "label": str, "kind": str}],
        "rows": [[str | int | float | None]],
        "wrong": int,
        "doubtful": int,
        "of": int,
        "first": int,
    },
    "classified": (_CLASSIFIED, None),
    "residuals": (_RESIDUALS, None),
    "levels": (_OF_LEVELS, None),
    # coefficients of elastic-net machines along the path (machine, feature, value), of the features that matter most
    "feature_paths": ({"names": [str], "values": _NUMBERS, "coefs": [[_NUMBERS]], "used": int, "of": int}, None),
    # one gamma per feature, the largest first
    "relevance": ({"names": [str], "gammas": _NUMBERS, "of": int}, None),
    "columns": {"shown": [_COLUMN], "of": int},
    "importance": (_IMPORTANCE, None),
    "times": {str: float},  # seconds of each part of the work
    "stages": [{"name": str, "words": str, "seconds": float | None}],
    # the same model with scikit-learn's own classes, if there is one
    "snippet": {"code": str | None, "words": str},
}


def plain(value: Any) -> Any:
    """`value` in types that JSON knows; what is not finite becomes None, which JSON writes as null.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.report.facts import plain
    >>> plain({"a": np.array([1.0, np.inf]), "b": (np.int64(1), "text")})
    {'a': [1.0, None], 'b': [1, 'text']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else str(value)


def rounded(values: Any, digits: int = 4) -> list[Any]:
    """Nested lists of numbers with so many digits of the largest: a third of the text, and the same picture.

    Examples
    --------
    >>> from svmpath.report.facts import rounded
    >>> rounded([123.456789, 0.00123])
    [123.5, 0.0]
    """
    values = np.asarray(values, dtype=float)
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
    decimals = digits - 1 - (math.floor(math.log10(largest)) if largest > 0 else 0)
    lists: list[Any] = plain(np.round(values, decimals) + 0.0)  # no minus zero
    return lists

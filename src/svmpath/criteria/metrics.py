"""The numbers that people ask for first, of held-out decision values: recall, precision, AUC; R^2 and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.frozen import predicted_codes

Array = np.ndarray


def positive_class(classes: Array, code: Array, given: Any = None) -> int:
    """Of two classes, the number of the one that metrics speak of: the one given, else the rarer of two words.

    Of two numbers, such as 0 and 1, it is the larger one.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.metrics import positive_class
    >>> code = np.array([0, 1, 1])
    >>> positive_class(np.array(["fraud", "ok"]), code), positive_class(np.array([0, 1]), code)
    (0, 1)
    """
    if given is not None:
        return int(np.flatnonzero(classes == given)[0])
    counts = np.bincount(code, minlength=len(classes))
    is_first_rare = len(counts) == 2 and counts[0] < counts[1]
    return 0 if classes.dtype.kind in "OUS" and is_first_rare else 1


def class_metrics(f: Array, code: Array, weights: Array, classes: Array, cut: float, positive: int) -> dict[str, Any]:
    """Metrics of a classification.

    Parameters
    ----------
    f : array of shape (N,) or (N, k)
        Held-out decision values.
    code : array of int of shape (N,)
        The number of each row's class.
    weights : array of shape (N,)
    classes : array of shape (k,)
        The labels.
    cut : float
        The decision value above which the second of two classes is predicted.
    positive : int
        Of two classes, the one that the area and the average precision speak of.

    Returns
    -------
    dict
        ``None`` for what is not defined, such as the precision of a class that is never predicted.
    """
    from sklearn.metrics import average_precision_score, precision_recall_fscore_support, roc_auc_score

    k = len(classes)
    predicted, every = predicted_codes(f, cut), np.arange(k)
    found: Any = precision_recall_fscore_support(
        code, predicted, labels=every, sample_weight=weights, zero_division=np.nan
    )
    precision, recall, f1, _ = found
    held, called = np.bincount(code, minlength=k), np.bincount(predicted, minlength=k)
    f1 = np.where(held > 0, np.nan_to_num(f1), np.nan)  # a class that is never predicted is not found
    # One decision value for each class that is told from the rest.
    columns = {positive: f if positive else -f} if f.ndim == 1 else dict(enumerate(f.T))
    is_mixed = [c for c in columns if 0 < (code == c).sum() < len(code)]
    areas = [roc_auc_score(code == c, columns[c], sample_weight=weights) for c in is_mixed]
    averages = [average_precision_score(code == c, columns[c], sample_weight=weights) for c in is_mixed]
    return {
        "accuracy": float(np.average(predicted == code, weights=weights)),
        "balanced_accuracy": _mean(recall[held > 0]),
        "precision": _mean(np.nan_to_num(precision[held > 0])),
        "recall": _mean(recall[held > 0]),
        "f1": _mean(f1[held > 0]),
        "roc_auc": _mean(np.array(areas)),
        "average_precision": _mean(np.array(averages)),
        "positive": classes.tolist()[positive] if k == 2 else None,
        "per_class": [
            {
                "label": classes.tolist()[c],
                "rows": int(held[c]),
                "predicted": int(called[c]),
                "recall": _known(recall[c]) if held[c] else None,
                "precision": _known(precision[c]) if called[c] else None,
                "f1": _known(f1[c]),
            }
            for c in range(k)
        ],
    }


def regression_metrics(y: Array, f: Array, weights: Array) -> dict[str, Any]:
    """Metrics of a regression, of targets y and held-out predictions f, in the unit of the target.

    ``below`` is the part of the targets below their prediction, which a quantile is about. R^2 is one minus the mean
    squared error over that of the mean of the targets; None if all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.metrics import regression_metrics
    >>> regression_metrics(np.array([0.0, 2.0]), np.array([0.0, 1.0]), np.ones(2))
    {'r2': 0.5, 'mean_absolute_error': 0.5, 'root_mean_squared_error': 0.7071067811865476, 'below': 0.0}
    """
    squared = float(np.average((y - f) ** 2, weights=weights))
    spread = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    return {
        "r2": 1.0 - squared / spread if spread > 0 else None,
        "mean_absolute_error": float(np.average(np.abs(y - f), weights=weights)),
        "root_mean_squared_error": float(np.sqrt(squared)),
        "below": float(np.average(y < f, weights=weights)),
    }


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""Held-out decisions, sample by sample: what is wrong or doubtful, and how good they are together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.report.facts import Calibration, Classified, Residuals, Roc, Samples, plain, rounded
from svmpath.report.fitted import Fitted, optional

Array = np.ndarray

_LISTED = 1000
_DOUBTFUL = 0.5  # of the margin: decision values nearer to the boundary are doubtful
_FAR = 2.0  # root mean squared errors from the prediction: residuals beyond are listed
_DRAWN = 1500
_ROC_POINTS = 200
_BINS = 30
_LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
_PARTS = 5
_INTERVAL_ROWS = 200


def samples(fitted: Fitted, first: int, places: Array | None = None) -> Samples:
    """The samples whose held-out decision is wrong or doubtful; of a regression, the largest residuals.

    They are numbered from `first` on, by their `places` in a file if these are given.
    """
    found = (_of_classes if fitted.task == "classification" else _of_numbers)(fitted)
    numbers = (np.arange(fitted.n) if places is None else np.asarray(places)) + first
    return replace(found, rows=[[int(numbers[row[0]]), *row[1:]] for row in found.rows], first=first)


def _margins(fitted: Fitted) -> tuple[Array, Array]:
    """Held-out margin of each row (negative is wrong), and the class that is predicted."""
    f, code, rows = fitted.held_out, fitted.code, np.arange(fitted.n)
    if f.ndim == 1:
        threshold = getattr(fitted.model, "threshold_", None) or 0.0
        f = f - threshold
        return np.where(code == 1, f, -f), (f > 0).astype(int)
    rest = f.copy()
    rest[rows, code] = -np.inf
    return f[rows, code] - rest.max(axis=1), np.argmax(np.where(np.isnan(f), -np.inf, f), axis=1)


def _of_classes(fitted: Fitted) -> Samples:
    margin, predicted = _margins(fitted)
    labels, seen = fitted.labels, fitted.seen
    is_wrong = predicted[seen] != fitted.code[seen]
    is_doubtful = ~is_wrong & (margin[seen] < _DOUBTFUL)
    listed = seen[is_wrong | is_doubtful]
    order = listed[np.argsort(margin[listed], kind="stable")][:_LISTED]
    columns = [
        {"key": "sample", "label": "Row", "kind": "integer"},
        {"key": "verdict", "label": "Held out", "kind": "text"},
        {"key": "label", "label": "Label", "kind": "text"},
        {"key": "predicted", "label": "Predicted", "kind": "text"},
        {"key": "margin", "label": "Margin", "kind": "number"},
    ]
    wrong = set(seen[is_wrong].tolist())
    rows = [
        [
            i,
            "wrong" if i in wrong else "doubtful",
            labels[fitted.code[i]],
            labels[predicted[i]],
            float(f"{margin[i]:.5g}"),
        ]
        for i in order.tolist()
    ]
    columns, rows = _with_probability(fitted, columns, rows)
    return Samples(columns, plain(rows), int(is_wrong.sum()), int(is_doubtful.sum()), len(seen), 0)


def _with_probability(fitted: Fitted, columns: list[dict[str, str]], rows: list[list[Any]]) -> tuple[Any, Any]:
    """The same with the probability of the label and its influence, where the model has them."""
    table = optional(fitted.model, "held_out_table") if fitted.counts_doubts else None  # it has a column for doubts
    if table is None or not {"sample", "probability", "influence"} <= set(table.columns):
        return columns, rows
    table = table.set_index("sample")
    more = [
        {"key": "probability", "label": "Probability of the label", "kind": "number"},
        {"key": "influence", "label": "Influence", "kind": "number"},
    ]
    values = table.loc[[row[0] for row in rows], ["probability", "influence"]].to_numpy(dtype=float)
    found = [[*row, *(float(f"{value:.4g}") for value in pair)] for row, pair in zip(rows, values, strict=True)]
    return [*columns, *more], found


def _of_numbers(fitted: Fitted) -> Samples:
    y, f, seen = fitted.targets[0], fitted.held_out, fitted.seen
    residual = y - f
    scale = float(np.sqrt(np.mean(residual[seen] ** 2))) or 1.0
    far = seen[np.abs(residual[seen]) > _FAR * scale]
    order = far[np.argsort(-np.abs(residual[far]), kind="stable")][:_LISTED]
    columns = [
        {"key": "sample", "label": "Row", "kind": "integer"},
        {"key": "target", "label": "Target", "kind": "number"},
        {"key": "predicted", "label": "Predicted, held out", "kind": "number"},
        {"key": "residual", "label": "Residual", "kind": "number"},
        {"key": "ratio", "label": "In units of the error", "kind": "number"},
    ]
    rows = [
        [i, *(float(f"{value:.6g}") for value in (y[i], f[i], residual[i])), float(f"{residual[i] / scale:.3g}")]
        for i in order.tolist()
    ]
    return Samples(columns, plain(rows), len(far), 0, len(seen), 0)


def classified(fitted: Fitted) -> Classified:
    """Confusion matrix, ROC curves and calibration of held-out decisions."""
    from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve  # not needed for a fit

    _, predicted = _margins(fitted)
    seen, code, s = fitted.seen, fitted.code[fitted.seen], fitted.path.problem.s[fitted.seen]
    table = confusion_matrix(code, predicted[seen], labels=np.arange(len(fitted.labels)))
    f = fitted.held_out[seen].reshape(len(seen), -1)
    curves = []
    for k, machine in enumerate(fitted.machines):
        is_positive = code == (1 if f.shape[1] == 1 else k)
        if is_positive.all() or not is_positive.any():
            continue
        fpr, tpr, _ = roc_curve(is_positive, f[:, k], sample_weight=s)
        few = np.unique(np.linspace(0, len(fpr) - 1, _ROC_POINTS).round().astype(int))
        area = float(roc_auc_score(is_positive, f[:, k], sample_weight=s))
        curves.append(Roc(machine, rounded(fpr[few]), rounded(tpr[few]), area))
    return Classified(fitted.labels, plain(table), curves, _calibration(fitted))


def _calibration(fitted: Fitted) -> Calibration | None:
    found = optional(fitted.model, "calibration_curve")
    if found is None:
        return None
    words = f"probability of {fitted.labels[1]}" if len(fitted.labels) == 2 else "probability of the class predicted"
    return Calibration(words, rounded(found.mean_predicted), rounded(found.fraction_positive), rounded(found.counts))


def residuals(fitted: Fitted) -> Residuals:
    """Held-out residuals, their histogram, and the coverage of intervals made of them."""
    seen = fitted.seen
    predicted = fitted.held_out[seen]
    residual = fitted.targets[0][seen] - predicted
    counts, edges = np.histogram(residual, bins=min(_BINS, max(5, len(seen) // 5)))
    few = np.arange(len(seen))
    if len(few) > _DRAWN:
        few = np.sort(np.random.default_rng(0).choice(len(seen), _DRAWN, replace=False))
    return Residuals(
        rounded(predicted[few], 5),
        rounded(residual[few], 5),
        rounded(edges, 5),
        counts.tolist(),
        _LEVELS.tolist(),
        rounded(_coverage(np.abs(residual))),
        _width(fitted),
        len(seen),
    )


def _coverage(size: Array) -> Array:
    """How often a residual is within the quantile of those in other parts of the rows, for each level.

    The quantile is the ceil(level (m + 1))-th smallest of the m others, as split conformal intervals take it; infinite
    if there is none.
    """
    part = np.random.default_rng(0).permutation(len(size)) % _PARTS
    is_within = np.zeros((len(_LEVELS), len(size)), dtype=bool)
    for each in range(_PARTS):
        others = np.append(np.sort(size[part != each]), np.inf)
        place = np.minimum(np.ceil(_LEVELS * len(others)).astype(int) - 1, len(others) - 1)
        is_within[:, part == each] = size[part == each] <= others[place][:, None]
    return is_within.mean(axis=1)


def _width(fitted: Fitted) -> float | None:
    """Median width of the intervals of 90 % that the model gives, where it gives any."""
    if not hasattr(fitted.model, "predict_interval") or fitted.columns is not None:
        return None
    rows = np.linspace(0, fitted.n - 1, min(_INTERVAL_ROWS, fitted.n)).round().astype(int)
    X = fitted.X.iloc[rows] if hasattr(fitted.X, "iloc") else fitted.X[rows]
    try:
        ends = fitted.model.predict_interval(X, 0.9)
    except ValueError:
        return None
    width = float(np.median(ends[:, 1] - ends[:, 0]))
    return width if np.isfinite(width) else None

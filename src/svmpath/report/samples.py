"""Held-out decisions, sample by sample: what is wrong or doubtful, and how good they are together."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.frozen import margins, predicted_codes
from svmpath.estimators.quantiles import rearranged
from svmpath.report.facts import Facts, rounded
from svmpath.report.fitted import Fitted, optional

Array = np.ndarray
_Column = tuple[str, str, str, Any]  # key, label, kind and values

_LISTED = 1000
_DOUBTFUL = 0.5  # of the margin: decision values nearer to the boundary are doubtful
_FAR = 2.0  # root mean squared errors from the prediction: residuals beyond are listed
_MOST_DRAWN = 1500
_ROC_POINTS = 200
_BINS = 30
_LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
_PARTS = 5
_INTERVAL_ROWS = 200


def samples(fitted: Fitted, first: int, places: Array | None = None) -> Facts:
    """The samples whose held-out decision is wrong or doubtful; of a regression, the largest residuals.

    They are numbered from `first` on, by their `places` in a file if these are given.
    """
    numbers = (np.arange(fitted.n) if places is None else np.asarray(places)) + first
    if fitted.task == "classification":
        order, columns, counts = _wrong_or_doubtful(fitted)
    elif fitted.levels is not None:
        order, columns, counts = _outside(fitted)
    else:
        order, columns, counts = _largest_residuals(fitted)
    columns = [("sample", "Row", "integer", numbers[order].tolist()), *columns]
    return {
        "columns": [{"key": key, "label": label, "kind": kind} for key, label, kind, _ in columns],
        "rows": list(zip(*(values for *_, values in columns), strict=True)),
        **counts,
        "of": len(fitted.seen),
        "first": first,
    }


def _significant(values: Array, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


def _predicted(fitted: Fitted) -> Array:
    """The class that the held-out decision values mean."""
    f = fitted.decisions
    return predicted_codes(np.where(np.isnan(f), -np.inf, f), fitted.held_out.cut)


def _wrong_or_doubtful(fitted: Fitted) -> tuple[Array, list[_Column], Facts]:
    """The rows to list, the columns of the list, and how many rows are wrong or doubtful."""
    predicted = _predicted(fitted)
    margin = margins(fitted.decisions, fitted.code, fitted.held_out.cut)
    labels, seen = np.array(fitted.labels, dtype=object), fitted.seen
    is_wrong = predicted != fitted.code
    listed = seen[is_wrong[seen] | (margin[seen] < _DOUBTFUL)]
    order = listed[np.argsort(margin[listed], kind="stable")][:_LISTED]
    columns: list[_Column] = [
        ("verdict", "Held out", "text", np.where(is_wrong[order], "wrong", "doubtful").tolist()),
        ("label", "Label", "text", labels[fitted.code[order]]),
        ("predicted", "Predicted", "text", labels[predicted[order]]),
        ("margin", "Margin", "number", _significant(margin[order], 5)),
    ]
    # The probability of the label and its influence, where the model has them; the table counts doubtful samples.
    table = optional(fitted.model, "held_out_table") if fitted.counts_unreliable else None
    if table is not None and {"sample", "probability", "influence"} <= set(table.columns):
        table = table.set_index("sample").loc[order.tolist()]
        for key, title in (("probability", "Probability of the label"), ("influence", "Influence")):
            columns.append((key, title, "number", _significant(table[key].to_numpy(dtype=float), 4)))
    wrong = int(is_wrong[seen].sum())
    return order, columns, {"wrong": wrong, "doubtful": len(listed) - wrong}


def _largest_residuals(fitted: Fitted) -> tuple[Array, list[_Column], Facts]:
    """The same of a regression: rows far from their prediction."""
    y, f, seen = fitted.targets[0], fitted.decisions, fitted.seen
    residual = y - f
    scale = float(np.sqrt(np.mean(residual[seen] ** 2))) or 1.0
    far = seen[np.abs(residual[seen]) > _FAR * scale]
    order = far[np.argsort(-np.abs(residual[far]), kind="stable")][:_LISTED]
    columns: list[_Column] = [
        ("target", "Target", "number", _significant(y[order], 6)),
        ("predicted", "Predicted, held out", "number", _significant(f[order], 6)),
        ("residual", "Residual", "number", _significant(residual[order], 6)),
        ("ratio", "In units of the error", "number", _significant(residual[order] / scale, 3)),
    ]
    return order, columns, {"wrong": len(far), "doubtful": 0}


def _outside(fitted: Fitted) -> tuple[Array, list[_Column], Facts]:
    """The same of several levels: rows whose target is not between the first and the last."""
    assert fitted.levels is not None
    y, f, seen = fitted.targets[0][fitted.seen], predicted(fitted), fitted.seen
    beyond = np.maximum(f[:, 0] - y, y - f[:, -1])
    out = np.flatnonzero(beyond > 0)
    order = out[np.argsort(-beyond[out], kind="stable")][:_LISTED]
    low, high = fitted.machines[int(np.argmin(fitted.levels))], fitted.machines[int(np.argmax(fitted.levels))]
    columns: list[_Column] = [
        ("target", "Target", "number", _significant(y[order], 6)),
        ("low", f"{low.capitalize()}, held out", "number", _significant(f[order, 0], 6)),
        ("high", f"{high.capitalize()}, held out", "number", _significant(f[order, -1], 6)),
        ("beyond", "Beyond by", "number", _significant(beyond[order], 4)),
    ]
    return seen[order], columns, {"wrong": len(out), "doubtful": 0}


def predicted(fitted: Fitted) -> Array:
    """Of several levels in order: what is predicted for the rows held out, by machines that have not seen them."""
    assert fitted.levels is not None
    f = fitted.decisions[fitted.seen] + fitted.model.shift_
    f = rearranged(f, fitted.levels) if fitted.model.rearrange else f
    return np.asarray(f[:, np.argsort(fitted.levels)])


def classified(fitted: Fitted) -> Facts:
    """Confusion matrix, ROC curves and calibration of held-out decisions."""
    from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve  # not needed for a fit

    predicted = _predicted(fitted)
    seen, code, s = fitted.seen, fitted.code[fitted.seen], fitted.path.problem.s[fitted.seen]
    f = fitted.decisions[seen].reshape(len(seen), -1)
    curves = []
    for k, machine in enumerate(fitted.machines):
        is_positive = code == (1 if f.shape[1] == 1 else k)
        if is_positive.all() or not is_positive.any():
            continue
        fpr, tpr, _ = roc_curve(is_positive, f[:, k], sample_weight=s)
        few = np.unique(np.linspace(0, len(fpr) - 1, _ROC_POINTS).round().astype(int))
        area = float(roc_auc_score(is_positive, f[:, k], sample_weight=s))
        curves.append({"machine": machine, "fpr": rounded(fpr[few]), "tpr": rounded(tpr[few]), "area": area})
    calibration, which = optional(fitted.model, "calibration_curve"), "the class predicted"
    if calibration is not None:
        positive = fitted.held_out.positive if len(fitted.labels) == 2 else None
        p, fraction, counts = calibration
        if positive == 0:  # the curve speaks of the second class
            p, fraction, counts = 1.0 - p[::-1], 1.0 - fraction[::-1], counts[::-1]
        calibration = {
            "words": f"probability of {which if positive is None else fitted.labels[positive]}",
            "predicted": rounded(p),
            "fraction": rounded(fraction),
            "counts": rounded(counts),
        }
    return {
        "labels": fitted.labels,
        "confusion": confusion_matrix(code, predicted[seen], labels=np.arange(len(fitted.labels))),
        "roc": curves,
        "calibration": calibration,
    }


def residuals(fitted: Fitted) -> Facts:
    """Held-out residuals, their histogram, and the coverage of intervals made of them."""
    seen = fitted.seen
    predicted = fitted.decisions[seen]
    residual = fitted.targets[0][seen] - predicted
    counts, edges = np.histogram(residual, bins=min(_BINS, max(5, len(seen) // 5)))
    few = some_rows(len(seen), _MOST_DRAWN)
    return {
        "predicted": rounded(predicted[few], 5),
        "residual": rounded(residual[few], 5),
        "edges": rounded(edges, 5),
        "counts": counts,
        "nominal": _LEVELS,
        "covered": rounded(_coverage(np.abs(residual))),
        "width": _width(fitted),
        "of": len(seen),
    }


def some_rows(n: int, most: int) -> Array:
    """At most so many of n rows, in order and drawn at random."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))


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
    return float(np.median(ends[:, 1] - ends[:, 0]))  # infinite with too few rows

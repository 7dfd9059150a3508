"""Criteria along the path at the chosen kernel: at more values than the search needed, where that takes little time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, one_vs_rest
from svmpath.criteria.table import CRITERIA, is_bound
from svmpath.exceptions import PathError
from svmpath.paths import Path
from svmpath.report.facts import CriterionCurve, Measure, rounded
from svmpath.report.fitted import Fitted
from svmpath.validation import is_whole_number

Array = np.ndarray

_STEPS = np.arange(-8, 9)
_WIDE, _NARROW = 4, 8  # steps per factor of ten; the latter for paths that cost more the longer they are
_TOO_NEAR = 0.02  # in the logarithm: two values that look the same
_SAME = {"press": "loo"}
_MEASURES: dict[str, dict[str, tuple[Any, str]]] = {
    "classification": {
        "error": ("error", "error rate"),
        "squared_hinge": ("squared_hinge", "squared hinge"),
        "logistic": ("logistic", "logistic loss"),
        "squared": ("squared", "squared residual"),
    },
    "regression": {
        "squared": ("squared", "mean squared error"),
        "absolute": (lambda y, f: np.abs(y - f), "mean absolute error"),
    },
}


def _is_dense(fitted: Fitted) -> bool:
    """Whether the criteria are computed at more values than the search needed."""
    most = fitted.path.loss.policy.shown_rows
    is_plain = getattr(fitted.model, "scoring", None) is None and fitted.path.over == "C"
    return is_plain and fitted.path.is_exact and fitted.n * len(fitted.paths) <= most


def values_along(fitted: Fitted) -> Array:
    """The values at which machines are shown; the chosen one is among them."""
    chosen, (low, high) = fitted.choice.value, sorted(fitted.path.span)
    if not _is_dense(fitted):
        return np.sort(fitted.choice.curve.values)
    if fitted.path.loss.policy.cost_grows_with_span:
        return chosen * 10.0 ** (_STEPS / _NARROW)
    values = chosen * 10.0 ** (_STEPS / _WIDE)
    is_inside = (values >= low) & (values <= high) | (_STEPS == 0)
    return values[is_inside] if is_inside.sum() > 2 else values


def frames_along(fitted: Fitted, values: Array) -> Array:
    """The values at which machines are drawn: also between those of the curve, where a machine costs little."""
    if _is_dense(fitted) or not (fitted.path.loss.policy.cost_grows_with_span and fitted.path.is_exact):
        return values
    low, high = sorted(fitted.path.span)
    between = np.geomspace(low, high, len(_STEPS))
    is_new = [float(np.abs(np.log(values / each)).min()) > _TOO_NEAR for each in between]
    return np.sort(np.concatenate([values, between[is_new]]))


def paths_along(fitted: Fitted, values: Array) -> list[Path]:
    """The paths of all machines, over a span that holds the values."""
    (low, high), ends = sorted(fitted.path.span), (float(values.min()), float(values.max()))
    if low <= ends[0] and ends[1] <= high:
        return fitted.paths
    return [path.over_span(ends) for path in fitted.paths]


def curves(fitted: Fitted, values: Array, paths: list[Path]) -> list[CriterionCurve]:
    """The criterion that decided first, then others that can be had for little."""
    own = fitted.choice.curve.in_order()
    name = _SAME.get(own.criterion, own.criterion)
    found = list(_dense(fitted, values, paths, name)) if _is_dense(fitted) else []
    # Where the criterion that decided cannot be computed again, it is shown as the search computed it.
    return found if found and found[0].criterion == name else [_facts(own, fitted, name, is_own=True), *found]


def _dense(fitted: Fitted, values: Array, paths: list[Path], name: str) -> Iterator[CriterionCurve]:
    others = [each for each in fitted.path.loss.policy.shown if each != name]
    for each in [name, *others]:
        if each not in CRITERIA or not _can_do(fitted, each):
            continue
        with suppress(PathError, ValueError):  # a machine that cannot be had without some rows
            found = [fitted.criterion(each)(path, values) for path in paths]
            yield _facts(found[0] if len(found) == 1 else one_vs_rest(found), fitted, each, is_own=False)


def _can_do(fitted: Fitted, name: str) -> bool:
    if is_bound(name) and len(fitted.paths) > 1:
        return False
    is_grouped = getattr(fitted.model, "_groups", None) is not None
    if name != "kfold":
        return not is_grouped
    # Another call of a splitter may give other folds.
    return is_whole_number(fitted.model.cv, least=2) and fitted.n >= 5 * int(fitted.model.cv)


def _facts(curve: Curve, fitted: Fitted, name: str, *, is_own: bool) -> CriterionCurve:
    words = CRITERIA[name].words if name in CRITERIA else name
    if name == "kfold" and is_whole_number(fitted.model.cv, least=2):
        words = f"{fitted.model.cv}-fold cross-validation"
    measures = list(_own_measure(curve, fitted)) if is_own or is_bound(name) else list(_measures(curve, fitted.task))
    return CriterionCurve(name, words, curve.values.tolist(), measures)


def _own_measure(curve: Curve, fitted: Fitted) -> Iterator[Measure]:
    """The scores as the search saw them."""
    key, words = "score", "score"
    if is_bound(curve.criterion):  # which has no loss per sample
        yield Measure(
            key, "bound on the error rate", False, rounded(curve.scores, 8), rounded(curve.standard_errors, 8)
        )
        return
    name = getattr(getattr(curve.loss, "loss", curve.loss), "__name__", "")
    if curve.scoring is not None:
        words = f"minus {curve.scoring.name}"
    elif name in _MEASURES[fitted.task]:
        key, words = name, _MEASURES[fitted.task][name][1]
    yield Measure(key, words, key == "error", rounded(curve.scores, 8), rounded(curve.standard_errors, 8))


def _measures(curve: Curve, task: str) -> Iterator[Measure]:
    for key, (loss, words) in _MEASURES[task].items():
        found = curve.rescored(loss)
        if key != "error":
            found = replace(found, screened=None)
        yield Measure(key, words, key == "error", rounded(found.scores, 8), rounded(found.standard_errors, 8))

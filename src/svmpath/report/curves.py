"""Criteria along the path at the chosen kernel: at more values than the search needed, where that takes little time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, is_own
from svmpath.criteria.table import CRITERIA, is_bound, is_by_folds, plain_name
from svmpath.estimators.held_out import ROOT
from svmpath.exceptions import PathError
from svmpath.paths import Path
from svmpath.report.facts import Facts, rounded
from svmpath.report.fitted import Fitted
from svmpath.report.overview import criterion_words
from svmpath.validation import is_whole_number

Array = np.ndarray

_STEPS = np.arange(-8, 9)
_WIDE, _NARROW = 4, 8  # steps per factor of ten; the latter for paths that cost more the longer they are
_OWN = "own"  # the measure that the loss of the machine declares
_SMALLEST = 1e-300  # nothing is divided by zero
_FEWEST_VALUES = 15  # values of a curve
_MOST_FILLED = 5000  # rows times machines up to which a curve of fewer values is computed again
_TOO_NEAR = 0.02  # in the logarithm: two values that look the same
_MEASURES: dict[str, dict[str, tuple[Any, str]]] = {
    "classification": {
        "error": ("error", "error rate"),
        "squared_hinge": ("squared_hinge", "squared hinge"),
        "logistic": ("logistic", "logistic loss"),
        "squared": ("squared", "squared residual"),
    },
    "regression": {
        "squared": ("squared", ROOT),
        "absolute": (lambda y, f: np.abs(y - f), "mean absolute error"),
    },
}


def _is_dense(fitted: Fitted) -> bool:
    """Whether the criteria are computed at more values than the search needed."""
    most = fitted.path.loss.policy.shown_rows
    is_plain = getattr(fitted.model, "scoring", None) is None and fitted.path.over == "C"
    return is_plain and fitted.path.is_exact and fitted.n * len(fitted.paths) <= most


def _is_filled(fitted: Fitted) -> bool:
    """Whether the criterion that decided is computed again because the search has looked at few values only."""
    is_plain = getattr(fitted.model, "scoring", None) is None and fitted.path.over == "C"
    is_few = len(fitted.choice.curve.values) < _FEWEST_VALUES and fitted.n * len(fitted.paths) <= _MOST_FILLED
    return is_plain and is_few and not fitted.is_elastic and plain_name(fitted.choice.curve.criterion) in CRITERIA


def values_along(fitted: Fitted) -> Array:
    """The values at which machines are shown; the chosen one is among them."""
    chosen, (low, high) = fitted.choice.value, sorted(fitted.path.span)
    if not (_is_dense(fitted) or _is_filled(fitted)):
        return np.sort(fitted.choice.curve.values)
    if fitted.path.loss.policy.cost_grows_with_span or not _is_dense(fitted):
        return chosen * 10.0 ** (_STEPS / _NARROW)
    values = chosen * 10.0 ** (_STEPS / _WIDE)
    is_inside = (values >= low) & (values <= high) | (_STEPS == 0)
    if is_inside.sum() < _FEWEST_VALUES:  # near an end of the span: as many on that side, nearer to each other
        values = chosen * 10.0 ** (_STEPS / _NARROW)
    return values[is_inside] if is_inside.sum() >= _FEWEST_VALUES else values


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
    is_inside = low <= ends[0] and ends[1] <= high
    return list(fitted.paths) if is_inside else [path.over_span(ends) for path in fitted.paths]


def curves(fitted: Fitted, values: Array, paths: list[Path]) -> list[Facts]:
    """The criterion that decided first, then others that can be had for little."""
    curve = fitted.choice.curve.in_order()
    name = plain_name(curve.criterion)
    others = [each for each in fitted.path.loss.policy.shown if each != name] if _is_dense(fitted) else []
    is_computed = _is_dense(fitted) or _is_filled(fitted)
    dense = list(_dense(fitted, values, paths, [name, *others])) if is_computed else []
    # Where the criterion that decided cannot be computed again, it is shown as the search computed it.
    is_first = bool(dense) and dense[0]["criterion"] == name
    return (
        dense
        if is_first
        else [_facts(fitted, name, curve, [_measure(*searched_by(curve, fitted.task), curve)]), *dense]
    )


def _dense(fitted: Fitted, values: Array, paths: list[Path], names: list[str]) -> Iterator[Facts]:
    is_grouped = fitted.held_out.groups is not None
    # Another call of a splitter may give other folds.
    has_folds = is_whole_number(fitted.model.cv, least=2) and fitted.n >= 5 * int(fitted.model.cv)
    for each in names:
        is_possible = has_folds if is_by_folds(each) else not is_grouped
        if each not in CRITERIA or not is_possible or (is_bound(each) and len(paths) > 1):
            continue
        with suppress(PathError, ValueError):  # a machine that cannot be had without some rows
            curve = fitted.model._machines.combined([fitted.criterion(each)(path, values) for path in paths])
            if is_bound(each):
                yield _facts(fitted, each, curve, [_measure(*searched_by(curve, fitted.task), curve)])
                continue
            measures = []
            own = {_OWN: (None, fitted.path.loss.own_score)} if fitted.path.loss.own_score else {}
            others = _MEASURES[fitted.task] if fitted.levels is None else {}  # which are of one prediction per row
            for key, (loss, words) in (own | others).items():
                again = curve.rescored(loss)
                measures.append(_measure(key, words, again if key == "error" else replace(again, screened=None)))
            yield _facts(fitted, each, curve, measures)


def _facts(fitted: Fitted, name: str, curve: Curve, measures: list[Facts]) -> Facts:
    cv = fitted.model.cv
    words = criterion_words(name, int(cv) if is_whole_number(cv, least=2) else None)
    return {"criterion": name, "words": words, "values": curve.values, "measures": measures}


def searched_by(curve: Curve, task: str) -> tuple[str, str]:
    """The name of the measure that the search saw, and what it is called."""
    if is_bound(curve.criterion):  # which has no loss per sample
        return "score", "bound on the error rate"
    if curve.scoring is not None:
        return "score", f"minus {curve.scoring.name}"
    if is_own(curve):
        return _OWN, curve.path.loss.own_score
    name = getattr(getattr(curve.loss, "loss", curve.loss), "__name__", "")
    return (name, _MEASURES[task][name][1]) if name in _MEASURES[task] else ("score", "score")


def _measure(key: str, words: str, curve: Curve) -> Facts:
    """Scores under one loss per sample, and their standard errors; squares in the unit of the target."""
    scores, errors = (
        rooted(curve.scores, curve.standard_errors) if words == ROOT else (curve.scores, curve.standard_errors)
    )
    is_rate = key == "error"
    return {"name": key, "words": words, "is_rate": is_rate, "scores": rounded(scores, 8), "errors": rounded(errors, 8)}


def rooted(scores: Array, errors: Array) -> tuple[Array, Array]:
    """The roots of mean squares, and their standard errors by the delta method: se / (2 root)."""
    roots = np.sqrt(np.maximum(scores, 0.0))
    return roots, np.asarray(errors) / (2.0 * np.maximum(roots, _SMALLEST))

"""What a search scored with the loss asked for, in the form of scikit-learn's ``cv_results_``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, OneVsRest, error
from svmpath.search.candidates import deciding_stages
from svmpath.search.choice import Choice, Scores

Array = np.ndarray
Entry = tuple[Mapping[str, Any], Scores]  # what is the same all along a curve, and its scores


def cv_results(curve: Curve, over: str, entries: Iterable[Entry]) -> dict[str, Any]:
    """Parameters, scores, standard errors and ranks, one entry per pair; of equal pairs the last.

    Parameters
    ----------
    curve : Curve
        Of the choice: it says what the scores are.
    over : str
        The parameter along the curves.
    entries : iterable of (parameters, Scores)
    """
    found = {}
    for fixed, scores in entries:
        for at, value in enumerate(scores.values.tolist()):
            params = {over: value, **fixed}
            found[tuple(map(_text, params.items()))] = params, scores, at
    pairs = list(found.values())
    # Scores are lower where they are better; scikit-learn's are the other way round.
    best = 1.0 if _is_error(curve) else 0.0
    mean = best - np.array([scores.scores[at] for _, scores, at in pairs])
    table: dict[str, Any] = _columns([params for params, _, _ in pairs])
    table["params"] = [dict(params) for params, _, _ in pairs]
    folds = [scores.splits[at] for _, scores, at in pairs if scores.splits is not None]
    if len(folds) == len(pairs):
        table.update({f"split{k}_test_score": best - column for k, column in enumerate(np.array(folds).T)})
    table["mean_test_score"] = mean
    table["std_test_score"] = np.array([scores.standard_errors[at] for _, scores, at in pairs])
    table["rank_test_score"] = _ranks(mean)
    return table


def entries_of(choice: Choice, gamma: Any, names: Iterable[str]) -> Iterator[Entry]:
    """The scores over C that decided: those of the last stages, in the rank of the choice.

    ``gamma`` is the one chosen, and ``names`` are the parameters of losses that may be told.
    """
    stages = deciding_stages(choice)
    if not stages:
        yield _of_gamma(gamma, choice.curve.path.loss.own, names), Scores.of(choice.curve)
    losses = {stage.loss for stage in stages}
    for stage in stages:
        for each, scores in stage.tried.items():
            more = {"loss": stage.loss} if len(losses) > 1 else {}
            yield {**_of_gamma(each, stage.own, names), **more}, scores


def _of_gamma(gamma: Any, own: Mapping[str, float], names: Iterable[str]) -> dict[str, Any]:
    """The parameters beside C; NaN and None stand for a kernel that stays as it is."""
    is_fixed = gamma is None or (isinstance(gamma, float) and gamma != gamma)
    told = {name: float(value) for name, value in own.items() if name in names}
    return told if is_fixed else {"gamma": gamma, **told}


def _text(parameter: tuple[str, Any]) -> str:
    """A name and its value, up to rounding."""
    name, value = parameter
    return f"{name}={value:.9g}" if isinstance(value, float) else f"{name}={value}"


def _is_error(curve: Any) -> bool:
    """Whether the scores are error rates, so that one minus them is the accuracy."""
    return getattr(curve, "scoring", None) is None and getattr(curve, "loss", None) in (error, OneVsRest(error))


def _columns(params: list[dict[str, Any]]) -> dict[str, Any]:
    """One masked array per parameter, as scikit-learn has them."""
    names = dict.fromkeys(name for each in params for name in each)
    columns = {}
    for name in names:
        kind = float if all(np.ndim(each.get(name, 0.0)) == 0 for each in params) and name != "loss" else object
        column = np.ma.masked_all(len(params), dtype=kind)
        for at, each in enumerate(params):
            if name in each:
                column[at] = each[name]
        columns[f"param_{name}"] = column
    return columns


def _ranks(mean: Array) -> Array:
    """1 for the best; equal ones share the smallest rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-mean, method="min"), dtype=np.int32)

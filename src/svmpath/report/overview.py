"""What was chosen, why, and how sure that is: the facts in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from svmpath.criteria.table import CRITERIA, is_exact
from svmpath.losses import labels_of
from svmpath.report.facts import ABSENT, Cell, Note, Overview, Stage, Summary
from svmpath.report.fitted import Fitted

_STAGE_WORDS = {
    "screen": "least squares on a few landmarks, many pairs",
    "narrow": "the best gammas on all rows, in low rank",
    "confirm": "the loss asked for, at the best pairs",
    "rank": "more landmarks, while that helps",
    "compare": "another loss, or other values of epsilon",
    "grid": "every pair",
    "gradient": "descent along the gradient of the held-out score",
    "penalty": "how strongly gammas are drawn together",
    "ard": "one gamma per feature, by descent",
}
_FEW_LEFT = 0.05  # residual of a low-rank kernel above which it is said
_PARAMETERS = ("C", "gamma", "epsilon", "lambda1", "lambda2")


def number(value: Any, digits: int = 4) -> str:
    """A number for people.

    Examples
    --------
    >>> from svmpath.report.overview import number
    >>> number(0.0083333), number(464.15888), number(2.154e6), number(123)
    ('0.008333', '464.2', '2.154e+06', '123')
    """
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return f"{value:.{digits}g}"


def percent(value: float) -> str:
    """A rate for people."""
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.1f} %"


def held_out_words(criterion: str, folds: Any) -> str:
    """How samples were held out, in words."""
    if criterion == "kfold" and isinstance(folds, int):
        return f"{folds}-fold cross-validation"
    return CRITERIA[criterion].words if criterion in CRITERIA else criterion


def overview(fitted: Fitted, facts: Summary) -> Overview:
    """The facts in words."""
    return Overview(list(_chosen(fitted, facts)), list(_sure(facts)), _why(fitted, facts), _notes(fitted, facts))


def _chosen(fitted: Fitted, facts: Summary) -> Iterator[Cell]:
    choice = facts.choice
    loss, short = labels_of(choice.loss)
    yield Cell("Loss", loss, "; ".join(part for part in (short, _other_losses(facts)) if part))
    if choice.kernel is not ABSENT:
        yield Cell("Kernel", choice.kernel, "" if choice.rank is None else f"rank {number(choice.rank)}")
    for name in _PARAMETERS:
        value = getattr(choice, name)
        if value is ABSENT or value is None:
            continue
        values = np.atleast_1d(value)
        if len(values) > 1:
            yield Cell(
                name, f"{number(values.min())} to {number(values.max())}", f"one for each of {len(values)} features"
            )
        else:
            edge = "at the edge of what was allowed" if name in choice.at_edge and value != 0 else ""
            yield Cell(name, number(float(values[0])), edge)
    if fitted.is_elastic:
        used = int(np.any(fitted.model.coef_ != 0, axis=0).sum())
        yield Cell("Features", number(used), f"of {number(fitted.path.gram.X.shape[1])}")
    share = f"{100 * facts.support_vectors / fitted.n:.0f} % of {number(fitted.n)} rows"
    yield Cell("Support vectors", number(facts.support_vectors), share)


def _other_losses(facts: Summary) -> str:
    others = [labels_of(name)[0] for name in facts.choice.losses if name != facts.choice.loss]
    return f"better than {', '.join(others)}" if others else ""


def _sure(facts: Summary) -> Iterator[Cell]:
    held_out, honest = facts.held_out, facts.honest
    is_rate = held_out.kind == "error rate"
    show = percent if is_rate else lambda value: number(math.sqrt(max(value, 0.0)))
    what = "error" if is_rate else "root mean squared error"
    how = held_out_words(held_out.criterion, held_out.folds)
    how = how if held_out.folds_are is None else f"{how}, {held_out.folds_are}"
    low, high = (show(end) for end in held_out.interval)
    yield Cell(
        f"Held-out {what}",
        show(held_out.value),
        f"{how}; 95 % interval: {low} to {high}",
    )
    if honest is not None:
        by = (
            f"nested cross-validation, {honest.fits} fits"
            if honest.method == "nested"
            else f"corrected by {honest.method}"
        )
        low, high = (show(end) for end in honest.interval)
        yield Cell(
            f"Honest {what}",
            show(honest.value),
            f"of tuning and fitting together ({by}); 95 % interval: {low} to {high}",
        )
    constant = "always the most frequent class" if is_rate else "always the mean of the target"
    yield Cell("Baseline", show(held_out.baseline), constant)


def _why(fitted: Fitted, facts: Summary) -> str:
    curve = fitted.choice.curve
    how = held_out_words(facts.curve.criterion, getattr(fitted.model, "cv", None))
    pairs = sum(len(scores.values) for stage in fitted.choice.stages for scores in stage.tried.values())
    pairs = pairs or sum(len(scores.values) for scores in fitted.choice.tried.values()) or len(curve.values)
    named = " and ".join(name for name in (fitted.over, fitted.other) if name is not None)
    rule = (
        "the lowest score"
        if fitted.choice.rule == "min"
        else "the simplest machine within one standard error of the lowest"
    )
    unit = "value" if fitted.other is None else "pair"
    tried = f"{number(pairs)} {unit}s of {named} were" if pairs > 1 else f"One {unit} of {named} was"
    return f"{tried} tried, and {rule} decided, by {how}."


def _notes(fitted: Fitted, facts: Summary) -> list[Note]:
    choice, held_out = facts.choice, facts.held_out
    notes = [
        Note(
            "warning",
            f"The chosen {name} lies at the edge of the range that was searched: a better value may lie beyond it.",
        )
        for name in choice.at_edge
        if getattr(choice, name, None) != 0  # nothing lies beyond no penalty at all
    ]
    if held_out.value >= held_out.baseline:
        notes.append(Note("warning", "The model is no better than a constant prediction."))
    doubtful = int(fitted.choice.curve.doubtful[fitted.choice.index]) if fitted.counts_doubts else 0
    if doubtful:
        exact = " The held-out error above does not depend on it: it is exact." if is_exact(held_out.criterion) else ""
        notes.append(
            Note(
                "info",
                f"The choice was made by {held_out_words(facts.curve.criterion, None)}, whose formula is not known to "
                f"hold for {number(doubtful)} of the samples.{exact}",
            )
        )
    if choice.rank is not None and choice.residual > _FEW_LEFT:
        notes.append(
            Note(
                "info",
                f"The kernel matrix is approximated in rank {choice.rank}; its relative error is "
                f"{choice.residual:.2g}.",
            )
        )
    if choice.tol is not None:
        notes.append(Note("info", f"The path is approximate: its relative duality gap is at most {choice.tol:g}."))
    if facts.curve.switched:
        notes.append(Note("info", f"{facts.curve.switched[0].upper()}{facts.curve.switched[1:]}."))
    never = int((fitted.path.problem.s > 0).sum()) - len(fitted.seen)
    if never:
        notes.append(Note("info", f"{number(never)} rows were never held out by cv, and are not judged here."))
    return notes


def stages(fitted: Fitted, seconds: float | None) -> list[Stage]:
    """How long each stage of the search took."""
    found = [
        Stage(stage.name, _STAGE_WORDS.get(stage.name, ""), stage.seconds if math.isfinite(stage.seconds) else None)
        for stage in fitted.choice.stages
    ]
    return [*found, *([Stage("all", "reading excluded: search, fit and held-out error", seconds)] if seconds else [])]

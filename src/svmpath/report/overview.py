"""What was chosen, why, and how sure that is: the facts in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from svmpath.criteria.certificate import approximation_gap
from svmpath.criteria.table import CRITERIA, is_by_folds, is_exact
from svmpath.estimators.cautions import caution_of_shares
from svmpath.estimators.held_out import ERROR_RATE, SQUARED_ERROR
from svmpath.losses import labels_of
from svmpath.report.facts import Facts
from svmpath.report.fitted import Fitted, machine_at
from svmpath.report.summary import PARAMETERS

_STAGE_WORDS = {
    "screen": "least squares on a few landmarks, many pairs",
    "narrow": "the best gammas on all rows, in low rank",
    "confirm": "the loss asked for, at the best pairs",
    "rank": "more landmarks, while that helps",
    "scout": "larger gammas on the full kernel of some rows, on folds",
    "full kernel": "pairs compared on the full kernel, on folds",
    "compare": "another loss, or other values of epsilon",
    "pairs": "one machine for each pair of classes",
    "grid": "every pair",
    "gradient": "descent along the gradient of the held-out score",
    "penalty": "how strongly gammas are drawn together",
    "ard": "one gamma per feature, by descent",
}
_LARGE_RESIDUAL = 0.05  # of a low-rank kernel: above that it is said
_CERTIFIED = 200_000_000  # kernel values of a certificate of low rank, up to which it takes a second or two


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
    return f"{100 * value:.2f} %" if value < 0.1 or 0.99 < value < 1.0 else f"{100 * value:.1f} %"


def criterion_words(criterion: str, folds: Any = None) -> str:
    """How samples were held out, in words."""
    if is_by_folds(criterion) and isinstance(folds, int):
        return f"{folds}-fold cross-validation"
    return CRITERIA[criterion].words if criterion in CRITERIA else criterion


def overview(fitted: Fitted, summary: Facts) -> Facts:
    """The facts in words."""
    return {
        "chosen": [_cell(*parts) for parts in _chosen(fitted, summary)],
        "sure": [_cell(*parts) for parts in _sure(summary)],
        "why": _why(fitted, summary),
        "checked": _checked(summary),
        "notes": [{"level": level, "text": text} for level, text in _notes(fitted, summary)],
    }


def _cell(name: str, value: str, more: str = "") -> Facts:
    return {"name": name, "value": value, "more": more}


def _chosen(fitted: Fitted, summary: Facts) -> Iterator[tuple[str, ...]]:
    choice, support = summary["choice"], summary["support_vectors"]
    loss, short = labels_of(choice["loss"])
    others = [labels_of(name)[0] for name in choice["losses"] if name != choice["loss"]]
    better = f"better than {', '.join(others)}" if others else ""
    yield "Loss", loss, "; ".join(part for part in (short, better) if part)
    if "kernel" in choice:
        yield "Kernel", choice["kernel"], "" if choice["rank"] is None else f"rank {number(choice['rank'])}"
    for name in PARAMETERS:
        value = choice.get(name)
        if name == "quantile" and fitted.levels is not None:
            yield f"{fitted.level_kind}s", ", ".join(map(number, value)), "with the same C and gamma"
        elif isinstance(value, list) and len(value) > 1:
            yield name, f"{number(min(value))} to {number(max(value))}", f"one for each of {len(value)} features"
        elif value is not None:
            edge = "at the edge of what was allowed" if name in choice["at_edge"] and value != 0 else ""
            yield name, number(float(np.squeeze(value))), edge
    if fitted.is_elastic:
        used = int(np.any(fitted.model.coef_ != 0, axis=0).sum())
        yield "Features", number(used), f"of {number(fitted.path.gram.X.shape[1])}"
    if len(fitted.model._machines.paths) > 1 and fitted.task == "classification":
        yield _machines(fitted, choice["multi_class"])
    if support is None:  # of rows in chunks nobody counts them
        return
    if not fitted.path.loss.is_sparse:
        yield (
            "Support vectors",
            f"all rows ({loss})",
            f"{number(support)} of {number(fitted.n)}: this loss uses every row",
        )
    else:
        yield "Support vectors", number(support), f"{100 * support / fitted.n:.0f} % of {number(fitted.n)} rows"


def _machines(fitted: Fitted, multi_class: str) -> tuple[str, str, str]:
    """How several classes are told apart."""
    number_of = len(fitted.model._machines.paths)
    if multi_class == "ovo":
        return "Machines", f"{number_of}, of pairs of classes", "one for each pair, which vote: fewer held-out errors"
    return "Machines", f"{number_of}, one per class", "each class against the rest"


def _sure(summary: Facts) -> Iterator[tuple[str, ...]]:
    held_out, honest = summary["held_out"], summary["honest"]
    is_rate, is_squared = held_out["kind"] == ERROR_RATE, held_out["kind"] == SQUARED_ERROR
    what = "error" if is_rate else "root mean squared error" if is_squared else held_out["kind"]
    other = "always the mean of the target" if is_squared else "always the best constant"
    constant = "always the most frequent class" if is_rate else other

    def show(value: float) -> str:
        return percent(value) if is_rate else number(math.sqrt(max(value, 0.0)) if is_squared else value)

    def interval(facts: Facts) -> str:
        low, high = facts["interval"]
        return f"95 % interval: {show(low)} to {show(high)}"

    how = criterion_words(held_out["criterion"], held_out["folds"])
    how = how if held_out["folds_are"] is None else f"{how}, {held_out['folds_are']}"
    yield f"Held-out {what}", show(held_out["value"]), f"{how}; {interval(held_out)}"
    if honest is not None:
        is_nested = honest["method"] == "nested"
        by = f"nested cross-validation, {honest['fits']} fits" if is_nested else f"corrected by {honest['method']}"
        by = by if honest["has_optimism"] else f"the held-out error: no optimism was found by {honest['method']}"
        yield f"Honest {what}", show(honest["value"]), f"of tuning and fitting together ({by}); {interval(honest)}"
    yield "Baseline", show(held_out["baseline"]), constant
    metrics = held_out.get("metrics")
    if metrics is None:  # several predictions per row, which are told one by one
        return
    if is_rate:
        yield "Balanced accuracy", percent(metrics["balanced_accuracy"]), "the mean recall of the classes, held out"
        of = "" if metrics["positive"] is None else f" of {metrics['positive']}"
        how = "of each class against the rest, held out" if metrics["positive"] is None else "held out"
        if metrics["roc_auc"] is not None:
            yield "ROC-AUC", number(metrics["roc_auc"]), f"0.5 is guessing, 1 is perfect; {how}"
            yield "Average precision", number(metrics["average_precision"]), f"{of.strip() or how}, held out"
        return
    if "share_below" in summary["choice"]:
        meant = f"their prediction, held out; {number(100 * float(np.squeeze(summary['choice']['quantile'])))} % meant"
        yield "Targets below", percent(metrics["below"]), meant
        return
    if metrics["r2"] is not None:
        yield "R\N{SUPERSCRIPT TWO}", number(metrics["r2"]), "part of the variance that is explained, held out"
    yield "Mean absolute error", number(metrics["mean_absolute_error"]), "in the unit of the target, held out"
    if not is_squared:
        yield "Root mean squared error", number(metrics["root_mean_squared_error"]), "in the unit of the target"


def _why(fitted: Fitted, summary: Facts) -> str:
    choice = fitted.choice
    how = criterion_words(summary["curve"]["criterion"], getattr(fitted.model, "cv", None))
    pairs = sum(len(scores.values) for stage in choice.stages for scores in stage.tried.values())
    pairs = pairs or sum(len(scores.values) for scores in choice.tried.values()) or len(choice.curve.values)
    named = " and ".join(name for name in (fitted.path.over, fitted.other) if name is not None)
    one_se = "the simplest machine within one standard error of the lowest"
    rule = one_se if choice.rule == "one_se" else "the lowest score"
    if getattr(choice.curve, "share", 0.0):
        rule = "the lowest error together with half the held-out loss of the machine itself"
    unit = "value" if fitted.other is None else "pair"
    tried = f"{number(pairs)} {unit}s of {named} were" if pairs > 1 else f"One {unit} of {named} was"
    return f"{tried} tried, and {rule} decided, by {how}."


def _checked(summary: Facts) -> str:
    """What was looked at, if there is nothing to warn of."""
    is_class = "classes" in summary["data"]
    classes = "at least half the rows of every class are found, " if is_class else ""
    return (
        f"the chosen values lie inside the range that was searched, {classes}the held-out error is below that of a "
        "constant prediction, and every row was held out."
    )


def _notes(fitted: Fitted, summary: Facts) -> Iterator[tuple[str, str]]:
    choice, held_out, curve = summary["choice"], summary["held_out"], summary["curve"]
    for name in choice["at_edge"]:
        if choice.get(name) != 0:  # nothing lies beyond no penalty at all
            yield (
                "warning",
                f"The chosen {name} lies at the edge of the range that was searched: a better value may lie beyond it.",
            )
    if held_out.get("caution") is not None:
        yield "warning", held_out["caution"]
    elif "caution" not in held_out and held_out["value"] >= held_out["baseline"]:
        yield "warning", "The model is no better than a constant prediction."
    if "share_below" in choice and not fitted.model.calibrate:
        sentence = caution_of_shares(fitted.held_out, np.atleast_1d(fitted.model.quantile_))
        if sentence is not None:
            yield "warning", sentence
    unreliable = int(fitted.choice.curve.unreliable[fitted.choice.index]) if fitted.counts_unreliable else 0
    if unreliable:
        is_sure = is_exact(held_out["criterion"])
        yield (
            "info",
            f"The choice was made by {criterion_words(curve['criterion'])}, whose formula is not known to hold for "
            f"{number(unreliable)} of the samples."
            + (" The held-out error above does not depend on it: it is exact." if is_sure else ""),
        )
    if choice["rank"] is not None and choice["residual"] > _LARGE_RESIDUAL:
        yield (
            "info",
            f"The kernel matrix is approximated in rank {choice['rank']}; its relative error is "
            f"{choice['residual']:.2g}.",
        )
    is_quick = fitted.n * (summary["support_vectors"] or fitted.n) <= _CERTIFIED
    if choice["rank"] is not None and fitted.path.gram.kernel.psd is True and is_quick:
        value = float(fitted.choice.value)
        known = [approximation_gap(machine_at(path, value)) for path in fitted.paths]
        gap, bound = max(each.gap for each in known), max(each.bound for each in known)
        far = "" if math.isinf(bound) else f", and no decision value is further than {bound:.2g} from the one there"
        yield "info", f"On the full kernel this machine of low rank has a relative duality gap of {gap:.2g}{far}."
    if choice["tol"] is not None:
        yield "info", f"The path is approximate: its relative duality gap is at most {choice['tol']:g}."
    if curve["switched"]:
        yield "info", f"{curve['switched'][0].upper()}{curve['switched'][1:]}."
    never = int((fitted.path.problem.s > 0).sum()) - len(fitted.seen)
    if never:
        yield "info", f"{number(never)} rows were never held out by cv, and are not scored here."


def stages(fitted: Fitted) -> list[Facts]:
    """How long each stage of the search took."""
    rows = [(stage.name, _STAGE_WORDS.get(stage.name, ""), stage.seconds) for stage in fitted.choice.stages]
    return [{"name": name, "words": words, "seconds": spent} for name, words, spent in rows]

"""The facts that ``svmpath tune`` prints and ``summary.json`` holds."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from svmpath.criteria.curve import error, is_own
from svmpath.criteria.table import is_bound, is_by_folds, plain_name
from svmpath.estimators.held_out import ERROR_RATE, SQUARED_ERROR
from svmpath.estimators.quantiles import constant_loss
from svmpath.report.facts import Facts, plain
from svmpath.validation import is_whole_number

__all__ = ["PARAMETERS", "recall_facts", "summarise"]

PARAMETERS = ("C", "gamma", "epsilon", "quantile", "lambda1", "lambda2")
_KINDS = {"numbers": "number", "categories": "category", "booleans": "boolean", "dates": "date"}
_SHOWN_CLASSES = 5
_PACKAGES = ("svmpath", "numpy", "scipy", "scikit-learn", "skops")


def summarise(
    model: Any,
    y: Any,
    *,
    file: str,
    kinds: Mapping[str, str],
    target: str,
    task: str,
    seconds: float | None,
    named: bool = True,
    honest: Any = None,
) -> Facts:
    """The facts about a tuned model as a dictionary, which can be written as JSON.

    Parameters
    ----------
    model : PathSVC, PathSVR or ElasticNetSVC
        The fitted estimator.
    y : array of shape (n,)
        The target it was fitted to.
    file : str
        Name of the data file.
    kinds : mapping of str to str
        The kind of each column, as in :class:`svmpath.datasets.Table`.
    target : str
        Name of the target.
    task : {"classification", "regression"}
        What was fitted.
    seconds : float or None
        How long tuning took.
    named : bool, default=True
        Whether the columns have names of their own.
    honest : HonestError, optional
        The estimated error of the whole procedure, choice included.

    Returns
    -------
    dict
        Numbers, texts, lists and dictionaries only, as ``svmpath.report.facts.SUMMARY`` describes.

    See Also
    --------
    svmpath.report.to_json : The facts as JSON.
    svmpath.Report : A page about a fitted model.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> from svmpath.datasets import banana
    >>> from svmpath.report import summarise
    >>> X, y = banana(60, random_state=0)
    >>> model = PathSVC(random_state=0).fit(X, y)
    >>> facts = summarise(
    ...     model, y, file="", kinds={"x0": "number", "x1": "number"}, target="y", task="classification", seconds=None
    ... )
    >>> facts["choice"]["C"] == model.C_
    True
    """
    y, is_class = np.asarray(y), task == "classification"
    by_kind = {word: [name for name, kind in kinds.items() if kind == known] for word, known in _KINDS.items()}
    # Numbers and categories are always told; other kinds only where there are such columns.
    by_kind = {word: names for word, names in by_kind.items() if names or word in ("numbers", "categories")}
    data: Facts = {
        "file": file,
        "rows": len(y),
        "columns": {word: len(names) for word, names in by_kind.items()},
        "target": target,
        "task": task,
    }
    if named:  # x1, x2, ... say nothing, and there may be thousands of them
        data["names"] = by_kind
    if is_class:
        labels, counts = np.unique(y, return_counts=True)
        data["classes"] = [{"label": label, "rows": count} for label, count in zip(labels, counts, strict=True)]
        more = recall_facts(model)
    else:
        more = {"baseline": _baseline(model, y)}
        if len(model._machines.paths) == 1:  # several quantiles predict several numbers for a row
            more["metrics"] = model.held_out_metrics()
    facts: Facts = plain(
        {
            "versions": _versions(),
            "data": data,
            "choice": _choice(model),
            "held_out": {
                **_held_out(model, is_class),
                **_error(model.held_out_error(), model.held_out_interval(), model._known.kind),
                **more,
            },
            "honest": None if honest is None else _honest(honest, model._known.kind),
            "curve": _curve(model, is_class),
            "support_vectors": _support(model),
            "seconds": seconds,
        }
    )
    return facts


def _support(model: Any) -> int | None:
    """The number of support vectors; None of rows in chunks, where nobody counts them."""
    if model.path_.is_chunked:
        return None
    return len(model.support_ if hasattr(model, "support_") else model.choice_.solution.support)


def recall_facts(model: Any) -> Facts:
    """The baseline of a classifier, and what part of each class is found, held out: the lowest of many classes."""
    found = model.held_out_recall()
    labels, many = found.classes.tolist(), len(found.classes) > _SHOWN_CLASSES
    shown = sorted(found.lowest[:_SHOWN_CLASSES].tolist()) if many else range(len(labels))
    return {
        "metrics": model.held_out_metrics(),
        "baseline": found.baseline,  # the error of always predicting the class of the largest weight
        "balanced_accuracy": found.balanced_accuracy,
        "recall": [{"label": labels[c], "rows": found.rows[c], "recall": found.recall[c]} for c in shown],
        "caution": found.caution(model.get_params(deep=False)),
    }


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # run from its source folder
            versions[package] = getattr(sys.modules.get(package), "__version__", "unknown")
    return versions


def _choice(model: Any) -> Facts:
    path = model.path_
    # The losses that were compared, or the only one.
    losses = {stage.loss for stage in model.choice_.stages if stage.name not in ("screen", "narrow")}
    facts = {"loss": path.loss.name, "losses": sorted({path.loss.name, *losses})}
    if hasattr(model, "kernel"):
        facts["kernel"] = model.kernel if isinstance(model.kernel, str) else repr(model.kernel)
    facts |= {name: getattr(model, f"{name}_") for name in PARAMETERS if hasattr(model, f"{name}_")}
    if path.loss.level == "quantile":
        facts["share_below"] = model.held_out_shares()
    if len(getattr(model, "classes_", ())) > 2:
        facts["multi_class"] = getattr(model, "multi_class_", "ovr")
    return facts | {
        "at_edge": model.choice_.at_edge,
        "rank": path.gram.rank if path.is_chunked or path.gram.Z is not None else None,
        "residual": path.residual,
        "tol": getattr(model, "tol_", None),  # the duality gap of an approximate path; None is exact
    }


def _held_out(model: Any, is_class: bool) -> Facts:
    """How rows were held out."""
    folds_are = None
    if is_by_folds(model.error_criterion_):
        if not (model.cv is None or is_whole_number(model.cv, least=2)):
            folds_are = "folds as given"
        elif getattr(model, "_groups", None) is not None:
            folds_are = "folds of whole groups"
        else:
            what = "equal parts of every class" if is_class else "the same quantiles of the target"
            folds_are = f"random folds with {what}"
    return {
        "criterion": model.error_criterion_,  # "loo" is exact, "span" and "alo" predict it
        "folds": model.cv if is_by_folds(model.error_criterion_) else None,  # also where "auto" meant it
        "folds_are": folds_are,
        "kind": model._known.kind,
    }


def _baseline(model: Any, y: Any) -> float:
    """The error of a constant prediction: of the mean of the target, or of the best one by the loss of the machine."""
    y, s = np.asarray(y, dtype=float), model._known.problem.s
    losses = [path.loss for path in model._machines.paths]
    if not losses[0].own_score:
        return float(np.average((y - np.average(y, weights=s)) ** 2, weights=s))
    return float(np.mean([constant_loss(loss, y, s) for loss in losses]))  # of each level


def _honest(honest: Any, kind: str) -> Facts:
    """The estimated error of the whole procedure."""
    how = {"method": honest.method, "fits": honest.n_fits, "has_optimism": honest.has_optimism}
    return {**how, **_error(honest.value, honest.interval, kind)}


def _error(value: float, interval: Any, kind: str) -> Facts:
    """An error with its interval of 95 %, as if the hyper-parameters had been given."""
    root = {"root_mean_squared_error": math.sqrt(value)} if kind == SQUARED_ERROR else {}
    return {"value": value, "interval": interval, **root}


def _curve(model: Any, is_class: bool) -> Facts:
    """The scores along the path at the chosen gamma."""
    curve = model.curve_
    if is_bound(curve.criterion):
        kind = "bound on the error rate"
    elif curve.scoring is not None:
        kind = f"minus {curve.scoring.name}"
    else:  # a continuous search needs a smooth loss, which knows what it is a smooth form of
        is_rate = is_class and getattr(curve.loss, "loss", curve.loss) is error
        kind = ERROR_RATE if is_rate else curve.path.loss.own_score if is_own(curve) else SQUARED_ERROR
    return {
        "over": curve.path.over,
        "criterion": plain_name(curve.criterion),
        "switched": _switched(model),
        "kind": kind,
        "values": curve.values,
        "scores": curve.scores,
    }


def _switched(model: Any) -> str | None:
    """Why "auto" was k-fold and not leave-one-out, in one sentence; None if it was leave-one-out."""
    if model.criterion != "auto" or not is_by_folds(getattr(model, "criterion_", None)):
        return None
    if model.path_.compared is not None:
        by = f"{model.cv}-fold" if is_whole_number(model.cv, least=2) else "the folds of cv"
        held, n = len(np.unique(model.choice_.curve.rows)), model.path_.problem.n
        some = "" if held == n or by[0] == "t" else f", of which {round(model.cv * held / n)} held out {held} rows"
        return f"{model.path_.compared}, by {by}{some}"
    if not model.path_.is_exact:
        return f"there is no exact leave-one-out along approximate paths, so {model.cv}-fold was used instead"
    policy, n = model.path_.loss.policy, model.path_.problem.n
    if not policy.cost_grows_with_span:
        return f"exact leave-one-out of {model.loss_} takes one path per sample, so {model.cv}-fold is its default"
    if n <= policy.loo_rows:
        return f"equal rows with different targets make exact leave-one-out slow, so {model.cv}-fold was used instead"
    return f"{n} samples are too many for exact leave-one-out by default, so {model.cv}-fold was used instead"

"""The facts that ``svmpath tune`` prints and ``summary.json`` holds."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from svmpath.criteria.curve import error
from svmpath.criteria.table import is_bound
from svmpath.report.facts import ABSENT, ChoiceFacts, CurveFacts, DataFacts, HeldOutFacts, HonestFacts, Summary, plain
from svmpath.validation import is_whole_number

__all__ = ["collect_summary", "summarise"]

_KINDS = {"numbers": "number", "categories": "category", "booleans": "boolean", "dates": "date"}
_PACKAGES = ("svmpath", "numpy", "scipy", "scikit-learn", "skops")


def summarise(model: Any, y: Any, **data: Any) -> dict[str, Any]:
    """The facts about a tuned model as a dictionary, which can be written as JSON; see :func:`collect_summary`.

    Parameters
    ----------
    model : PathSVC, PathSVR or ElasticNetSVC
        The fitted estimator.
    y : array of shape (n,)
        The target it was fitted to.
    **data
        What is known about the data, as the further arguments of :func:`collect_summary`.

    Returns
    -------
    dict
        Numbers, texts, lists and dictionaries only.

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
    facts: dict[str, Any] = plain(collect_summary(model, y, **data))
    return facts


def collect_summary(
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
) -> Summary:
    """Collect the facts about a tuned model.

    Parameters
    ----------
    model : PathSVC, PathSVR or ElasticNetSVC
        The fitted estimator.
    y : ndarray of shape (n,)
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
    named : bool
        Whether the columns have names of their own.
    honest : HonestError, optional
        The estimated error of the whole procedure, choice included.
    """
    return Summary(
        versions=_versions(),
        data=_data(y, file, kinds, target, task, named),
        choice=_choice(model),
        held_out=_held_out(model, y, task),
        honest=None if honest is None else _honest(honest, task),
        curve=_curve(model, task),
        support_vectors=count_support(model),
        seconds=seconds,
    )


def count_support(model: Any) -> int:
    """Number of support vectors of all machines together."""
    if hasattr(model, "support_"):
        return len(model.support_)
    return len(model.choice_.solution.support)


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # run from its source folder
            versions[package] = getattr(sys.modules.get(package), "__version__", "unknown")
    return versions


def _data(y: Any, file: str, kinds: Mapping[str, str], target: str, task: str, named: bool) -> DataFacts:
    by_kind = {word: [name for name, kind in kinds.items() if kind == known] for word, known in _KINDS.items()}
    # Numbers and categories are always told; other kinds only where there are such columns.
    by_kind = {word: names for word, names in by_kind.items() if names or word in ("numbers", "categories")}
    classes: Any = ABSENT
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        classes = [{"label": label, "rows": count} for label, count in zip(labels, counts, strict=True)]
    return DataFacts(
        file=file,
        rows=len(y),
        columns={word: len(names) for word, names in by_kind.items()},
        target=target,
        task=task,
        # x1, x2, ... say nothing, and there may be thousands of them
        names=by_kind if named else ABSENT,
        classes=classes,
    )


def _choice(model: Any) -> ChoiceFacts:
    path = model.path_
    kernel = getattr(model, "kernel", ABSENT)
    return ChoiceFacts(
        loss=path.loss.name,
        losses=_losses(model),
        kernel=kernel if isinstance(kernel, str) or kernel is ABSENT else repr(kernel),
        C=getattr(model, "C_", ABSENT),
        gamma=getattr(model, "gamma_", ABSENT),
        at_edge=list(model.choice_.at_edge),
        rank=None if path.gram.Z is None else path.gram.rank,
        residual=path.residual,
        tol=getattr(model, "tol_", None),  # the duality gap of an approximate path; None is exact
        epsilon=getattr(model, "epsilon_", ABSENT),
        lambda1=getattr(model, "lambda1_", ABSENT),
        lambda2=getattr(model, "lambda2_", ABSENT),
    )


def _losses(model: Any) -> list[str]:
    """The losses that were compared, or the only one."""
    last = [stage.loss for stage in model.choice_.stages if stage.name not in ("screen", "narrow")]
    return sorted({model.path_.loss.name, *last})


def _held_out(model: Any, y: Any, task: str) -> HeldOutFacts:
    is_class = task == "classification"
    return HeldOutFacts(
        criterion=model.error_criterion_,  # "loo" is exact, "span" and "alo" predict it
        folds=model.cv if model.error_criterion_ == "kfold" else None,  # also where "auto" meant it
        folds_are=_folds_are(model, task) if model.error_criterion_ == "kfold" else None,
        kind="error rate" if is_class else "mean squared error",
        value=model.held_out_error_,
        interval=list(model.held_out_interval_),  # of 95 %, as if the hyper-parameters had been given
        baseline=_baseline(y, task),
        root_mean_squared_error=ABSENT if is_class else math.sqrt(model.held_out_error_),
    )


def _folds_are(model: Any, task: str) -> str:
    """How the folds were drawn, in words."""
    if not (model.cv is None or is_whole_number(model.cv, least=2)):
        return "folds as given"
    if getattr(model, "_groups", None) is not None:
        return "folds of whole groups"
    what = "equal parts of every class" if task == "classification" else "the same quantiles of the target"
    return f"random folds with {what}"


def _honest(found: Any, task: str) -> HonestFacts:
    """The error of the whole procedure, in the form of the held-out error."""
    root = ABSENT if task == "classification" else math.sqrt(found.value)
    return HonestFacts(found.method, found.n_fits, found.value, list(found.interval), root)


def _baseline(y: Any, task: str) -> float:
    """The same error of a constant prediction: the most frequent class, or the mean of the target."""
    if task == "classification":
        return 1.0 - np.unique(y, return_counts=True)[1].max() / len(y)
    return float(np.var(y))


def _curve(model: Any, task: str) -> CurveFacts:
    """The scores along the path at the chosen gamma."""
    curve = model.curve_
    return CurveFacts(
        over=curve.path.over,
        criterion="loo" if curve.criterion == "press" else curve.criterion,
        switched=_switched(model),
        kind=_kind(curve, task),
        values=curve.values,
        scores=curve.scores,
    )


def _kind(curve: Any, task: str) -> str:
    """What the scores of a curve are."""
    if is_bound(curve.criterion):
        return "bound on the error rate"
    if curve.scoring is not None:
        return f"minus {curve.scoring.name}"
    loss = getattr(curve.loss, "loss", curve.loss)  # a continuous search needs a smooth one
    return "error rate" if task == "classification" and loss is error else "mean squared error"


def _switched(model: Any) -> str | None:
    """Why "auto" was k-fold and not leave-one-out, in one sentence; None if it was leave-one-out."""
    if model.criterion != "auto" or getattr(model, "criterion_", None) != "kfold":
        return None
    if not model.path_.is_exact:
        return f"there is no exact leave-one-out along approximate paths, so {model.cv}-fold was used instead"
    policy, n = model.path_.loss.policy, model.path_.problem.n
    if not policy.cost_grows_with_span:
        return f"exact leave-one-out of {model.loss_} takes one path per sample, so {model.cv}-fold is its default"
    if n <= policy.loo_rows:
        return f"equal rows with different targets make exact leave-one-out slow, so {model.cv}-fold was used instead"
    return f"{n} samples are too many for exact leave-one-out by default, so {model.cv}-fold was used instead"

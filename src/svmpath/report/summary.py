"""The facts about a tuned model, as a dictionary of plain values."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from svmpath.criteria.curve import error
from svmpath.losses import policy_of

__all__ = ["summarise"]

_PACKAGES = ("svmpath", "numpy", "scipy", "scikit-learn", "skops")


def summarise(
    model: Any,
    y: Any,
    *,
    file: str,
    kinds: Mapping[str, str],
    target: str,
    task: str,
    seconds: float,
    named: bool = True,
    honest: Any = None,
) -> dict[str, Any]:
    """Collect the facts about a tuned model.

    Parameters
    ----------
    model : PathSVC or PathSVR
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
    seconds : float
        How long tuning took.
    named : bool
        Whether the columns have names of their own.
    honest : HonestError, optional
        The estimated error of the whole procedure, choice included.

    Returns
    -------
    dict
        Only dictionaries, lists, strings, booleans, finite numbers and None: it can be written as JSON.
    """
    facts = {
        "versions": _versions(),
        "data": _data(y, file, kinds, target, task, named),
        "choice": _choice(model),
        "held_out": _held_out(model, y, task),
        "honest": None if honest is None else _honest(honest, task),
        "curve": _curve(model, task),
        "support_vectors": len(model.support_),
        "seconds": seconds,
    }
    plain = _plain(facts)
    assert isinstance(plain, dict)
    return plain


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # run from its source folder
            versions[package] = getattr(sys.modules.get(package), "__version__", "unknown")
    return versions


def _data(y: Any, file: str, kinds: Mapping[str, str], target: str, task: str, named: bool) -> dict[str, Any]:
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    categories = [name for name, kind in kinds.items() if kind != "number"]
    data: dict[str, Any] = {
        "file": file,
        "rows": len(y),
        "columns": {"numbers": len(numbers), "categories": len(categories)},
        "target": target,
        "task": task,
    }
    if named:  # x1, x2, ... say nothing, and there may be thousands of them
        data["names"] = {"numbers": numbers, "categories": categories}
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        data["classes"] = [{"label": label, "rows": count} for label, count in zip(labels, counts, strict=True)]
    return data


def _choice(model: Any) -> dict[str, Any]:
    choice = {
        "loss": model.loss_,
        "losses": _losses(model),
        "kernel": model.kernel if isinstance(model.kernel, str) else repr(model.kernel),
        "C": model.C_,
        "gamma": model.gamma_,
        "at_edge": list(model.choice_.at_edge),
        "rank": None if model.path_.gram.Z is None else model.path_.gram.rank,
        "residual": model.path_.residual,
        "tol": model.tol_,  # the duality gap of an approximate path; None is exact
    }
    if hasattr(model, "epsilon_"):
        choice["epsilon"] = model.epsilon_
    return choice


def _losses(model: Any) -> list[str]:
    """The losses that were compared, or the only one."""
    last = [stage.loss for stage in model.choice_.stages if stage.name not in ("screen", "narrow")]
    return sorted({model.loss_, *last})


def _held_out(model: Any, y: Any, task: str) -> dict[str, Any]:
    held_out = {
        "criterion": model.error_criterion_,  # "loo" is exact, "span" and "alo" predict it
        "folds": model.cv if model.error_criterion_ == "kfold" else None,  # also where "auto" meant it
        "kind": "error rate" if task == "classification" else "mean squared error",
        "value": model.held_out_error_,
        "interval": list(model.held_out_interval_),  # of 95 %, as if the hyper-parameters had been given
        "baseline": _baseline(y, task),
    }
    if task == "regression":
        held_out["root_mean_squared_error"] = math.sqrt(model.held_out_error_)
    return held_out


def _honest(error: Any, task: str) -> dict[str, Any]:
    """The error of the whole procedure, in the form of the held-out error."""
    honest = {"method": error.method, "fits": error.n_fits, "value": error.value, "interval": list(error.interval)}
    if task == "regression":
        honest["root_mean_squared_error"] = math.sqrt(error.value)
    return honest


def _baseline(y: Any, task: str) -> float:
    """The same error of a constant prediction: the most frequent class, or the mean of the target."""
    if task == "classification":
        return 1.0 - np.unique(y, return_counts=True)[1].max() / len(y)
    return float(np.var(y))


def _curve(model: Any, task: str) -> dict[str, Any]:
    """The scores over C at the chosen gamma."""
    loss = model.curve_.loss  # a continuous search needs a smooth one
    counted = task == "classification" and getattr(loss, "loss", loss) is error
    return {
        "over": "C",
        "criterion": "loo" if model.curve_.criterion == "press" else model.curve_.criterion,
        "switched": _switched(model),
        "kind": "error rate" if counted else "mean squared error",
        "values": model.curve_.values,
        "scores": model.curve_.scores,
    }


def _switched(model: Any) -> str | None:
    """Why "auto" was k-fold and not leave-one-out, in one sentence; None if it was leave-one-out."""
    if model.criterion != "auto" or model.criterion_ != "kfold":
        return None
    if not model.path_.is_exact:
        return f"there is no exact leave-one-out along approximate paths, so {model.cv}-fold was used instead"
    policy, n = policy_of(model.path_.loss), model.path_.problem.n
    if not policy.walks:
        return f"exact leave-one-out of {model.loss_} takes one path per sample, so {model.cv}-fold is its default"
    if n <= policy.loo_rows:
        return f"equal rows with different targets make exact leave-one-out slow, so {model.cv}-fold was used instead"
    return f"{n} samples are too many for exact leave-one-out by default, so {model.cv}-fold was used instead"


def _plain(value: Any) -> Any:
    """`value` in types that JSON knows; what is not finite becomes None, which JSON writes as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else str(value)

"""What options can be combined: refused in a sentence before any work, where they cannot."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.criteria.gradients import check_full_matrix, smooth_loss
from svmpath.criteria.table import is_bound
from svmpath.gram import Gram
from svmpath.kernels import RBF
from svmpath.losses import LOSSES, Loss, make_loss
from svmpath.names import either, unknown_name
from svmpath.search.full_kernel import EFFORTS
from svmpath.validation import check_positive

if TYPE_CHECKING:
    from svmpath.estimators._base import PathMachine

SEARCHES = ("auto", "grid", "gradient")


def check_options(model: PathMachine) -> None:
    """Refuse what no search can use."""
    if model.search not in SEARCHES:
        instead = ""
        if model.search == "continuous":  # of svmpath 0.1
            instead = " A search over a Range with search='grid' and a smooth scoring='squared' is continuous."
        raise ValueError(f"{unknown_name('search', model.search, SEARCHES)}{instead}")
    if model.effort not in EFFORTS:
        raise ValueError(unknown_name("effort", model.effort, EFFORTS))
    if model.time_limit is not None:
        check_positive(model.time_limit, "time_limit")
    if not isinstance(model.scale, (bool, np.bool_)):
        raise ValueError(f"scale must be True or False, got {model.scale!r}.")
    _warn_of_idle(model, "epsilon", "tune", lambda loss: "epsilon" in loss.fixed_parameters)
    _warn_of_idle(model, "quantile", None, lambda loss: bool(loss.level))
    if callable(model.verbose):
        raise ValueError(
            "verbose must be a number: 0 for silence, 1 to print the stages of the search; got a function."
        )


def _warn_of_idle(model: PathMachine, name: str, default: str | None, takes: Callable[[Any], bool]) -> None:
    """A parameter of some losses that was given, but not to a loss that takes it."""
    given = getattr(model, name, default)
    if given is None or (isinstance(given, str) and given == default):
        return
    loss = make_loss(model.get_params(deep=False)["loss"], model._task, over="C")
    others = either(each for each, kind in LOSSES.items() if kind.has_kernel and kind.tasks and takes(kind()))
    why = f"which has its own ({loss!r})" if loss is model.loss else f"which has none: use loss={others}"
    if loss is model.loss or not takes(loss):
        warnings.warn(
            f"{name}={given!r} has no effect with loss={loss.name!r}, {why}, or leave {name} out.",
            UserWarning,
            stacklevel=5,
        )


def check_scorer(model: PathMachine) -> None:
    """Refuse a scorer where nothing can be scored by it."""
    if model._axes.is_gradient:
        raise ValueError(
            f"{_by_gradient(model)} follows a gradient, which scoring={model.scoring!r} does not have; name a smooth "
            "held-out loss, such as scoring='squared' or 'logistic', or use another search."
        )
    if is_bound(model.criterion):
        raise ValueError(
            f"criterion={model.criterion!r} has no held-out decision values, which scoring={model.scoring!r} needs; "
            "use criterion='span' or 'loo'."
        )


def check_bound(criterion: Any, machines: int) -> None:
    """Refuse several machines where a criterion is a bound on the number of errors of one."""
    name = getattr(criterion, "__name__", criterion)
    if is_bound(name) and machines > 1:
        raise ValueError(
            f"criterion={name!r} works for two classes only, but y has {machines}: use criterion='span' or 'loo'."
        )


def check_gradient(model: PathMachine, loss: Loss, gram: Gram) -> None:
    """Refuse what has no gradient."""
    way = _by_gradient(model)
    possible = ("auto", *loss.policy.gradients)
    if len(possible) == 1:
        known = [name for name, kind in LOSSES.items() if kind.policy.gradients]
        raise ValueError(f"{way} works for the losses {' and '.join(known)}, not for loss={loss.name!r}.")
    if model._groups is not None:
        raise ValueError(
            f"{way} minimises leave-one-out, which does not hold groups out together; leave groups out, or use "
            "search='auto' with one gamma."
        )
    if model._axes.is_ard and not isinstance(gram.kernel, RBF):
        raise ValueError(f"gamma='ard' works for the rbf kernel only, not for kernel={model.kernel!r}.")
    if model.criterion not in possible:
        names = " or ".join(repr(name) for name in possible)
        raise ValueError(
            f"{way} with loss={loss.name!r} needs criterion={names}, which have a gradient; got {model.criterion!r}."
        )
    if model.rule == "one_se":
        raise ValueError(f"{way} minimises the score, so rule must be 'auto' or 'min'; got {model.rule!r}.")
    check_full_matrix(gram)
    smooth_loss(model._held_out_loss, model._task)


def _by_gradient(model: PathMachine) -> str:
    """What asks for the gradient."""
    return "gamma='ard'" if model._axes.is_ard else "search='gradient'"

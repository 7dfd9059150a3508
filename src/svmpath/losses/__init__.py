"""Losses: each file holds the formulas of one machine."""

from __future__ import annotations

from typing import Any

from svmpath.losses.base import Loss, Problem, Solution
from svmpath.losses.elastic_hinge import ElasticHinge
from svmpath.losses.elbow import ElbowLoss
from svmpath.losses.epsilon import EpsilonInsensitive
from svmpath.losses.expectile import Expectile
from svmpath.losses.features import feature_rows
from svmpath.losses.hinge import Hinge
from svmpath.losses.huber_hinge import HuberHinge
from svmpath.losses.least_squares import LeastSquares
from svmpath.losses.nu import Nu
from svmpath.losses.one_class import OneClass
from svmpath.losses.path_parameter import PathParameter
from svmpath.losses.pieces import PiecewiseQuadratic
from svmpath.losses.pinball import Pinball
from svmpath.losses.policies import Policy
from svmpath.losses.squared_hinge import SquaredHinge
from svmpath.names import either, unknown_name

__all__ = [
    "DEFAULT_LOSS",
    "LOSSES",
    "NOVELTY",
    "ElasticHinge",
    "ElbowLoss",
    "EpsilonInsensitive",
    "Expectile",
    "Hinge",
    "HuberHinge",
    "LeastSquares",
    "Loss",
    "Nu",
    "OneClass",
    "PathParameter",
    "PiecewiseQuadratic",
    "Pinball",
    "Policy",
    "Problem",
    "Solution",
    "SquaredHinge",
    "feature_rows",
    "labels_of",
    "loss_names",
    "make_loss",
    "quick_losses",
]

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        LeastSquares,
        SquaredHinge,
        Hinge,
        HuberHinge,
        EpsilonInsensitive,
        Expectile,
        Pinball,
        Nu,
        OneClass,
        ElasticHinge,
    )
}
NOVELTY = "novelty"  # the task without targets
DEFAULT_LOSS = {"classification": "squared_hinge", "regression": "least_squares"}


def make_loss(loss: Any, task: str, *, over: str | None = None, **own: float | None) -> Loss:
    """The loss of that name, the default loss of the task if None, or the given loss object itself.

    Raises an error if there is no such loss, or if it cannot do the task or has no parameter ``over``. ``own`` holds
    values of parameters that some losses have in addition to C; each loss takes those that it has, and an object keeps
    its own.
    """
    made = loss if isinstance(loss, Loss) else None
    name = made.name if made else DEFAULT_LOSS.get(task) if loss is None else loss
    if not isinstance(name, str) or name not in loss_names(task, over):
        raise ValueError(_refusal(name, task, over))
    if made:
        return made
    kind = LOSSES[name]
    known = getattr(kind, "__dataclass_fields__", {})
    return kind(**{key: value for key, value in own.items() if key in known and value is not None})


def loss_names(task: str, over: str | None = None) -> list[str]:
    """The losses of kernel machines that do a task and have a parameter."""
    kinds = [kind for kind in LOSSES.values() if kind.has_kernel and task in kind.tasks]
    return [kind.name for kind in kinds if over is None or over in (each.name for each in kind.parameters)]


def quick_losses(task: str) -> list[str]:
    """The losses whose fits take a fraction of a second, the default of the task first."""
    names = [name for name in loss_names(task) if LOSSES[name].policy.is_quick]
    return sorted(names, key=lambda name: name != DEFAULT_LOSS[task])


def labels_of(name: str) -> tuple[str, str]:
    """The name of a loss in prose, and what its machine is also called; the name itself if the loss is not listed."""
    return (LOSSES[name].label, LOSSES[name].also_called) if name in LOSSES else (name, "")


def _refusal(loss: Any, task: str, over: str | None) -> str:
    """Why a loss cannot be used there."""
    kind = LOSSES.get(loss) if isinstance(loss, str) else None
    if task == NOVELTY and (loss is None or kind is not None):
        return f"y is missing: without targets there is loss={either(loss_names(task))} only. Give y, or that loss."
    if kind is not None and NOVELTY in kind.tasks:
        return f"loss={loss!r} takes no targets: use svmpath.trace(X, loss={loss!r}), or svmpath.PathOneClassSVM."
    if kind is None:
        return unknown_name("loss", loss, loss_names(task, over))
    if not kind.has_kernel:
        return f"loss={loss!r} is linear and has no kernel: use svmpath.trace_elastic or svmpath.ElasticNetSVC."
    if task not in kind.tasks:
        names = either(loss_names(task, over))
        return f"loss={loss!r} does {' and '.join(kind.tasks)}, not {task}; use loss={names}."
    return f"loss={loss!r} has no {over} to choose; follow it with svmpath.trace."

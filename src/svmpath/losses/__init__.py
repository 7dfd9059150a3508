"""Losses: each file holds the formulas of one machine."""

from __future__ import annotations

from svmpath.losses.base import Loss, Problem, Solution
from svmpath.losses.elbow import ElbowLoss, Motion
from svmpath.losses.epsilon import EpsilonInsensitive
from svmpath.losses.hinge import Hinge
from svmpath.losses.least_squares import LeastSquares
from svmpath.losses.nu import Nu
from svmpath.losses.squared_hinge import SquaredHinge

__all__ = [
    "LOSSES",
    "ElbowLoss",
    "EpsilonInsensitive",
    "Hinge",
    "LeastSquares",
    "Loss",
    "Motion",
    "Nu",
    "Problem",
    "Solution",
    "SquaredHinge",
    "make_loss",
]

LOSSES: dict[str, Loss] = {
    loss.name: loss for loss in (LeastSquares(), SquaredHinge(), Hinge(), EpsilonInsensitive(), Nu())
}


def make_loss(name: str, task: str | None = None, *, epsilon: float | None = None) -> Loss:
    """The loss of that name, refused in one sentence if there is none or it cannot do the task."""
    if name not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {name!r}.")
    loss = LOSSES[name]
    if task is not None and task not in loss.tasks:
        raise ValueError(f"loss={name!r} does {' and '.join(loss.tasks)}, not {task}.")
    if isinstance(loss, EpsilonInsensitive) and epsilon is not None:
        return EpsilonInsensitive(epsilon)
    return loss

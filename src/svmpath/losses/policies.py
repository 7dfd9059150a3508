"""The defaults of each loss: the span of paths, the number of values to score, and limits on the number of samples."""

from __future__ import annotations

from dataclasses import dataclass

from svmpath.losses.base import Loss
from svmpath.losses.epsilon import EpsilonInsensitive
from svmpath.losses.hinge import Hinge
from svmpath.losses.least_squares import LeastSquares
from svmpath.losses.squared_hinge import SquaredHinge


@dataclass(frozen=True)
class Policy:
    """The defaults of one loss.

    Attributes
    ----------
    span : (float, float)
        The default span of C in ``trace``.
    tuned : (float, float)
        The span of C for ``C="tune"`` of the estimators.
    per_decade : int
        Values of C that are scored per factor of ten.
    loo_rows : float
        Largest number of samples for which ``criterion="auto"`` is exact leave-one-out.
    otherwise : str
        The criterion of "auto" with more samples.
    walks : bool
        Whether a path goes from event to event, so that it costs more the longer its span.
    exact_rows : int
        Largest number of samples for which a choice by an estimate gets its exact leave-one-out error.
    """

    span: tuple[float, float] = (1e-3, 1e3)
    tuned: tuple[float, float] = (1e-3, 1e3)
    per_decade: int = 3
    loo_rows: float = 0
    otherwise: str = "kfold"
    walks: bool = False
    exact_rows: int = 1000


POLICIES: dict[type[Loss], Policy] = {
    # A value of C costs next to nothing, and leave-one-out no more than the path.
    LeastSquares: Policy((1e-3, 1e6), (1e-3, 1e6), per_decade=5, loo_rows=float("inf"), exact_rows=3000),
    # Exact leave-one-out costs several times the path, its prediction no more than the path.
    SquaredHinge: Policy((1e-3, 1e6), (1e-3, 1e4), otherwise="span", exact_rows=3000),
    # In few dimensions the prediction is off by factors, so that it is exact leave-one-out or folds.
    Hinge: Policy(loo_rows=500, walks=True),
    EpsilonInsensitive: Policy(loo_rows=200, walks=True),
}


def policy_of(loss: Loss) -> Policy:
    """The defaults of a loss; a loss that is not in the table gets cautious ones."""
    return POLICIES.get(type(loss), Policy())

"""Machines at several levels of a loss that counts residuals above and below differently: quantiles and expectiles.

A level is a number q between 0 and 1; f_q(x) is the decision value of the machine of that level. Of a fitted machine
its C is kept, and the machine at any other level is one more on the path over q, where the loss has such a path, else
one more fit. For a fixed x, f_q(x) should rise with q. Machines of different levels are fitted apart, and may cross:
f_p(x) > f_q(x) for p < q. The rearrangement of Chernozhukov, Fernandez-Val and Galichon (2010) sorts the values at the
levels asked for; it is never further away from a function that rises with q than the values themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from svmpath.criteria.conformal import Expansions
from svmpath.losses import Loss, Solution
from svmpath.paths import Path, Request, trace_problem
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


def at_level(loss: Any, level: float) -> Loss:
    """A loss at another level."""
    return replace(loss, **{loss.level: float(level)})


def crossing(f: Array, levels: Array) -> Array:
    """In which rows of f, with a column for each level, a value falls where the level rises."""
    return np.any(np.diff(f[:, np.argsort(levels)], axis=1) < 0, axis=1)


def rearranged(f: Array, levels: Array) -> Array:
    """The values of each row in the order of the levels."""
    order = np.argsort(levels)
    result = np.empty_like(f)
    result[:, order] = np.sort(f, axis=1)
    return result


def constant_loss(loss: Loss, y: Array, s: Array) -> float:
    """The weighted mean loss of the best constant prediction."""

    def mean(constant: float) -> float:
        return float(np.average(loss.margin_loss(y, np.full(len(y), constant)), weights=s))

    low, high = float(y.min()), float(y.max())
    if low == high:
        return 0.0
    best = minimize_scalar(mean, bounds=(low, high), method="bounded", options={"xatol": 1e-10 * (high - low)})
    return min(mean(float(best.x)), mean(low), mean(high))


def explained(loss: Loss, y: Array, f: Array, s: Array) -> float:
    """D^2: one minus the loss of predictions over that of the best constant; 1 or 0 where y is constant."""
    own, constant = float(np.average(loss.margin_loss(y, f), weights=s)), constant_loss(loss, y, s)
    return float(own == 0.0) if constant == 0.0 else 1.0 - own / constant


@dataclass(frozen=True, eq=False)
class LevelMachines:
    """The machine of a path at one C, at any levels of its loss.

    Attributes
    ----------
    path : Path
        Over C.
    C : float
    """

    path: Path
    C: float
    _known: dict[str, Expansions] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:  # what a model is saved without can be computed again
        return {"path": self.path, "C": self.C, "_known": {}}

    def __call__(self, X: Any, levels: Array) -> Array:
        """Decision values of new rows, one column per level."""
        key = " ".join(map(repr, levels.tolist()))
        if key not in self._known:
            self._known[key] = Expansions.of(self.solutions(levels))
        with blas_threads(X.shape[0] * self.path.gram.rank):
            return np.asarray(self._known[key](X))

    def solutions(self, levels: Array) -> Sequence[Solution]:
        """The machine at each level: by one walk, if there is a path over the level."""
        path, loss = self.path, self.path.loss
        if not path.is_exact or loss.level not in loss.parameter_names:
            return [each(self.C) for each in self.paths(levels)]
        request = Request(loss, loss.level, (float(levels.min()), float(levels.max())), self.C)
        walk = trace_problem(path.problem, request, path.store)
        return [walk(level) for level in levels.tolist()]

    def paths(self, levels: Array) -> list[Path]:
        """Paths of the machines at these levels that begin and end at C."""
        path, span = self.path, (self.C, self.C)
        tol = getattr(path, "tol", None)
        requests = [Request(at_level(path.loss, level), "C", span, tol=tol) for level in levels.tolist()]
        return [trace_problem(path.problem, request, path.store) for request in requests]

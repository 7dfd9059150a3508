"""Several quantiles, or expectiles: how each does on rows that were held out, and all of them together.

Shares and losses are those of the machines as they are; the fan shows what ``predict`` would give, moved by
``calibrate`` and sorted by ``rearrange`` where the model has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.estimators.quantiles import constant_loss, crossing
from svmpath.report.facts import Facts, rounded
from svmpath.report.fitted import Fitted
from svmpath.report.samples import predicted, some_rows

Array = np.ndarray

_FAN_ROWS = 400  # rows of the fan


def levels(fitted: Fitted) -> Facts | None:
    """Facts of each level, of how they cross, and the fan of held-out predictions; None for a single prediction."""
    if fitted.levels is None:
        return None
    curve = fitted.held_out.curve()
    held, y, s = curve.held[0], fitted.targets[0], fitted.path.problem.s
    order, losses = np.argsort(fitted.levels), [path.loss for path in fitted.paths]
    q, f, seen = fitted.levels[order], fitted.decisions[fitted.seen][:, order], fitted.seen
    rows: list[Facts] = []
    is_quantile, below = fitted.level_kind == "quantile", fitted.held_out.shares_below()
    deviation = np.sqrt(q * (1.0 - q) / fitted.held_out.effective)
    for place, j in enumerate(order.tolist()):
        of_row = losses[j].margin_loss(y[curve.rows], held[:, j])
        rows.append(
            {
                "level": q[place],
                "below": below[j],
                "deviation": deviation[place] if is_quantile else None,
                "loss": np.average(of_row, weights=s[curve.rows]),
                "baseline": constant_loss(losses[j], y[seen], s[seen]),
                "crossed": int(np.count_nonzero(f[:, place] < f[:, place - 1])) if place else None,
                "shift": fitted.model.shift_[j],
            }
        )
    inside = np.average((y[seen] >= f[:, 0]) & (y[seen] <= f[:, -1]), weights=s[seen])
    return {
        "kind": fitted.level_kind,
        "loss": losses[0].own_score,
        "each": rows,
        "crossed": int(np.count_nonzero(crossing(f, q))),
        "of": len(seen),
        "is_sorted": bool(fitted.model.rearrange),
        "is_moved": bool(fitted.model.calibrate),
        "inside": inside,
        "meant_inside": q[-1] - q[0] if is_quantile else None,
        "fan": _fan(fitted),
    }


def _fan(fitted: Fitted) -> dict[str, Any]:
    """Predictions and targets of some rows, in the order of the middle prediction."""
    f, y = predicted(fitted), fitted.targets[0][fitted.seen]
    few = some_rows(len(y), _FAN_ROWS)
    middle = np.median(f[few], axis=1)
    few = few[np.argsort(middle, kind="stable")]
    return {"predicted": rounded(f[few].T, 5), "target": rounded(y[few], 5)}

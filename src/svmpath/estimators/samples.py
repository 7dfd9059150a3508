"""The training samples one by one: held-out decision value, loss, and influence on the fit, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svmpath.criteria.calibration import Calibration
from svmpath.criteria.curve import Curve
from svmpath.criteria.frozen import margins, predicted_codes

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray


def classification_table(
    curve: Curve, fitted: Array, classes: Array, code: Array, calibration: Calibration, threshold: float
) -> pd.DataFrame:
    """The samples of a classifier, those with the least probable label first; ``curve`` has one value."""
    held = curve.decisions[0]
    n = len(code)
    of_label = np.arange(n), code
    is_seen = np.isfinite(held) if held.ndim == 1 else np.isfinite(held).all(axis=1)
    log_p = np.full((n, len(classes)), np.nan)
    log_p[is_seen] = calibration.log_probabilities(held[is_seen])
    decision = held if held.ndim == 1 else margins(held, code)
    predicted = predicted_codes(held, threshold)
    columns = {
        "label": classes[code],
        "predicted": np.where(is_seen, classes[predicted].astype(object), None)
        if not is_seen.all()
        else classes[predicted],
        "decision": decision,
        "probability": np.exp(log_p[of_label]),
        "loss": -log_p[of_label],
        "influence": (fitted if fitted.ndim == 1 else margins(fitted, code)) - decision,
    }
    return _sorted_table(curve, columns, is_seen)


def regression_table(curve: Curve, fitted: Array) -> pd.DataFrame:
    """The samples of a regression, those with the largest loss first; ``curve`` has one value.

    Of several machines, each has its column of decision values, and the influence is that on their mean.
    """
    held, loss = curve.decisions[0], curve.rescored(None).loss
    several = {f"decision {at}": column for at, column in enumerate(held.T)} if held.ndim == 2 else {"decision": held}
    columns = {
        "target": curve.target if held.ndim == 1 else curve.target[:, 0],
        **several,
        "loss": loss(curve.target, held),
        "influence": fitted - held if held.ndim == 1 else (fitted - held).mean(axis=1),
    }
    return _sorted_table(curve, columns, np.isfinite(columns["loss"]))


def _sorted_table(curve: Curve, columns: dict[str, Any], is_seen: Array) -> pd.DataFrame:
    """The columns with number, weight and doubts of the samples, the largest loss first."""
    import pandas as pd  # not needed for a fit

    # A curve has the number of unreliable samples, not which they are.
    unreliable = pd.array(np.zeros(len(is_seen), dtype=bool), dtype="boolean")
    unreliable[np.flatnonzero(~is_seen if int(curve.unreliable[0]) == 0 else np.ones(len(is_seen), dtype=bool))] = pd.NA
    table = pd.DataFrame({"sample": np.arange(len(is_seen)), **columns})
    table["weight"] = curve.path.problem.s
    table["unreliable"] = unreliable
    return table.sort_values("loss", ascending=False, kind="stable", na_position="last", ignore_index=True)

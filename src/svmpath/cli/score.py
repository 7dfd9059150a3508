"""``svmpath predict --score``: the error on rows whose target is known, and whether it is what the model promised.

With e the mean loss of the n new rows and E the expected one (the honest error if it was estimated, else the held-out
error), whose 95 % intervals are about 3.92 standard errors wide, the test is

    z = (e - E) / sqrt(s_e^2 + s_E^2),      as expected if |z| < 1.96.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import note
from svmpath.exceptions import DataError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from svmpath.datasets import NewRows

_WIDTH = 3.92  # of a 95 % interval, in standard errors
_CRITICAL = 1.96


def read_truth(pipeline: Any, rows: NewRows) -> tuple[np.ndarray, np.ndarray]:
    """The target of the rows that have one, and which these are."""
    from svmpath.cli.saved_model import training_data
    from svmpath.datasets.target import read_target

    trained = training_data(pipeline)
    name = trained["target"] or "y"
    if rows.frame is None or name not in rows.frame.columns:
        raise DataError(f"--score: {rows.source} has no column {name!r}, the target of the model; leave --score out")
    y, is_known = read_target(rows.frame[name], name, trained["task"], rows.decimal)
    if not is_known.any():
        raise DataError(f"--score: no row of {rows.source} has a value in the target {name!r}; leave --score out")
    if not is_known.all():
        note(f"{rows.source}: {len(is_known) - len(y)} rows without a target are not scored.")
    return y, is_known


def score(pipeline: Any, predicted: pd.Series, y: np.ndarray, is_known: np.ndarray) -> dict[str, Any]:
    """The error with its interval, that of each class, and the expected error beside it."""
    import numpy as np

    from svmpath.criteria.interval import mean_interval

    model = pipeline["model"]
    guess, known = predicted.to_numpy()[is_known], model._held_out
    is_labelled = hasattr(model, "classes_")
    if is_labelled:
        truth = np.array([_text(label) for label in y])
        losses = (truth != np.array([_text(label) for label in guess])).astype(float)
        _note_unknown(truth, model)
    else:
        losses = known.losses_of(np.asarray(y, dtype=float), guess.astype(float))
    value, n = float(losses.mean()), len(losses)
    interval = mean_interval(value, losses, np.ones(n), np.arange(n), is_rate=is_labelled)
    facts = {
        "rows": n,
        "kind": known.kind,
        "value": value,
        "interval": list(interval),
        **_against(model, value, interval),
    }
    if is_labelled:
        facts["recall"] = [
            {
                "label": label,
                "rows": int(np.sum(truth == _text(label))),
                "recall": _found(losses, truth == _text(label)),
            }
            for label in model.classes_.tolist()
        ]
    return facts


def _text(label: Any) -> str:
    """A label as it is compared: 1, 1.0 and "1" are one."""
    return f"{label:g}" if isinstance(label, (int, float)) and not isinstance(label, bool) else str(label)


def _found(losses: np.ndarray, is_class: np.ndarray) -> float | None:
    return float(1.0 - losses[is_class].mean()) if is_class.any() else None


def _note_unknown(truth: np.ndarray, model: Any) -> None:
    """Say which labels the model cannot predict: these rows are errors."""
    unknown = sorted(set(truth.tolist()) - {_text(label) for label in model.classes_.tolist()})
    if unknown:
        note(f"the model does not know the label{'s' * (len(unknown) > 1)} {', '.join(map(repr, unknown[:5]))}.")


def _against(model: Any, value: float, interval: tuple[float, float]) -> dict[str, Any]:
    """The expected error, z, its p-value, and whether the error is as expected."""
    from math import erfc, sqrt

    kept = list(model._held_out._nested.values())
    expected, ends = (
        (kept[-1].value, kept[-1].interval) if kept else (model.held_out_error(), model.held_out_interval())
    )
    spread = sqrt(sum(((high - low) / _WIDTH) ** 2 for low, high in (interval, ends)))
    z = (value - expected) / spread if spread > 0.0 else 0.0
    verdict = "as expected" if abs(z) < _CRITICAL else "worse than expected" if z > 0 else "better than expected"
    return {
        "expected": float(expected),
        "expected_interval": [float(end) for end in ends],
        "expected_by": "honest error" if kept else "held-out error",
        "z": float(z),
        "p_value": float(erfc(abs(z) / sqrt(2.0))),
        "verdict": verdict,
    }


def print_score(facts: Mapping[str, Any]) -> None:
    """The score in words."""
    from svmpath.cli.results import RATE, amount, interval, print_table

    kind = facts["kind"]
    words = {"mean squared error": "root mean squared error"}.get(kind, kind)
    recalls = [
        f"{'-' if row['recall'] is None else amount(row['recall'], RATE)} of {row['rows']} rows of {row['label']}"
        for row in facts.get("recall", ())
    ]
    rows = {
        "Rows": str(facts["rows"]),
        "Error": f"{amount(facts['value'], kind)} {words}\n95 % interval: {interval(facts['interval'], kind)}",
        "Expected": f"{amount(facts['expected'], kind)} ({facts['expected_by']} of the model)\n95 % interval: "
        f"{interval(facts['expected_interval'], kind)}",
        "Recall": "\n".join(recalls) or None,
        "Verdict": facts["verdict"],
    }
    test = (
        f"Test: difference of the two errors over its standard error, z = {facts['z']:.2f}, p = {facts['p_value']:.2g}"
    )
    print_table("Score", rows.items(), f"{test}; as expected if |z| < {_CRITICAL}.")

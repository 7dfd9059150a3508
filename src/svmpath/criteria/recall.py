"""How many rows of each class are found by machines that have not seen them, and whether that is worth a caution.

With e_i in [0, 1] the held-out error of row i, w_i its weight, and I_c the rows of class c,

    recall_c = sum_{i in I_c} w_i (1 - e_i) / sum_{i in I_c} w_i,     balanced accuracy = mean_c recall_c,
    baseline = 1 - max_c sum_{i in I_c} w_i / sum_i w_i,

the error of always predicting the class of the largest weight. The weight of a class drops out of its recall.

A caution is due if a recall is below one half, or if the 95 % interval of the error reaches up to the baseline. Where
so few rows are held out that the interval of no error at all does so, it says nothing, and the error itself must reach
the baseline. Who has chosen ``class_weight``, a score or a threshold knows that classes differ: then it is due only if
a recall is below half the 1/k of guessing among k classes, or if the balanced accuracy is not above 1/k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.criteria.curve import HELD_OUT_LOSSES
from svmpath.criteria.interval import mean_interval

Array = np.ndarray

_HALF = 0.5  # the recall below which a class is mostly missed
_NAMED = 3  # classes that a caution names
_UNEVEN = 2.0  # the commonest class has so many times the rows of the rarest where weights may help
_PLAIN_SCORES = (None, "accuracy", *HELD_OUT_LOSSES)  # that do not look at classes


@dataclass(frozen=True, eq=False)
class Recall:
    """What part of the rows of each class is found, held out; as ``model.held_out_recall()`` returns it.

    Attributes
    ----------
    classes : array of shape (k,)
        The labels.
    rows : array of int of shape (k,)
        Rows of each class that were held out; those of weight zero do not count.
    recall : array of shape (k,)
        The weighted part of them whose class is predicted; NaN if none was held out.
    error : float
        The weighted held-out error.
    interval : tuple of two floats
        Its 95 % confidence interval.
    baseline : float
        The error of always predicting the class of the largest weight.
    commonest : object
        That class.
    attainable : float
        The upper end of the interval if there were no held-out error at all.

    See Also
    --------
    svmpath.PathSVC.held_out_recall : Of a fitted model.
    svmpath.WeakModelWarning : What ``fit`` warns of.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.recall import recall_by_class
    >>> e = np.repeat([0.0, 1.0], [97, 3]); code = np.repeat([0, 1], [96, 4])
    >>> found = recall_by_class(e, code, np.ones(100), np.arange(100), np.array(["ok", "fraud"]))
    >>> found.recall.tolist(), round(found.balanced_accuracy, 3), round(found.baseline, 3)
    ([1.0, 0.25], 0.625, 0.04)
    """

    classes: Array
    rows: Array
    recall: Array
    error: float
    interval: tuple[float, float]
    baseline: float
    commonest: Any
    attainable: float

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that were held out."""
        return float(np.nanmean(self.recall))

    @property
    def lowest(self) -> Array:
        """Positions of the classes that were held out, the lowest recall first."""
        order = np.argsort(self.recall, kind="stable")
        return order[: int(np.isfinite(self.recall).sum())]

    def caution(self, options: Mapping[str, Any]) -> str | None:
        """What a user should know, in a sentence or two; None if there is nothing.

        Parameters
        ----------
        options : mapping
            The parameters of the estimator: what is used already is not proposed.
        """
        if self.baseline == 0.0:  # only one class has weight
            return None
        is_weighted = options.get("class_weight") is not None
        is_plain, is_cut = options.get("scoring") in _PLAIN_SCORES, options.get("threshold", 0.0) != 0.0
        is_aware = is_weighted or not is_plain or is_cut
        # A score of all classes moves the choice, but only a threshold, or weights, move many decisions.
        parts = {
            "scoring='balanced_accuracy'": is_plain,
            "threshold='tune'": len(self.classes) == 2 and not is_cut,
        }
        together = " with ".join(name for name, is_free in parts.items() if is_free)
        remedies = [name for name in ("" if is_weighted else "class_weight='balanced'", together) if name]
        least = _HALF / len(self.classes) if is_aware else _HALF
        missed = [c for c in self.lowest if self.recall[c] < least]
        is_guessing = self.balanced_accuracy <= 1.0 / len(self.classes)
        reaches = self.baseline if self.attainable < self.baseline else np.inf
        is_level = self.interval[1] >= reaches or self.error >= self.baseline
        if not missed and not (is_guessing if is_aware else is_level):
            return None
        sentence = f"Held out, {self._missed(missed)}" if missed else ""
        if not is_aware and is_level:
            low, high = (f"{100 * end:.3g} %" for end in self.interval)
            sentence += ", and the error" if missed else "The held-out error"
            sentence += (
                f" of {100 * self.error:.3g} % (95 % interval: {low} to {high}) is not clearly below the "
                f"{100 * self.baseline:.3g} % of always predicting {self.commonest!r}"
            )
        elif not missed:
            sentence = (
                f"The held-out balanced accuracy of {100 * self.balanced_accuracy:.3g} % is not above the "
                f"{100 / len(self.classes):.3g} % of guessing"
            )
        return f"{sentence}: {self._remedy(remedies, bool(missed))}."

    def _missed(self, missed: list[Any]) -> str:
        """Which classes are mostly missed."""
        labels = self.classes.tolist()  # without numpy's names of types
        parts = [
            f"{round(self.recall[c] * self.rows[c])} of {self.rows[c]} rows of class {labels[c]!r}"
            for c in missed[:_NAMED]
        ]
        more = [f"fewer than half of those of {len(missed) - _NAMED} more classes"] if len(missed) > _NAMED else []
        *others, last = parts + more
        return f"{', '.join(others)} and {last} are found" if others else f"{last} are found"

    def _remedy(self, free: list[str], is_missed: bool) -> str:
        """What may help."""
        held = self.rows[self.rows > 0]
        is_uneven = is_missed or held.max() >= _UNEVEN * held.min()
        otherwise = "give more rows, or columns that tell the classes apart"
        return f"if each class matters, use {' or '.join(free)}; else {otherwise}" if free and is_uneven else otherwise


def recall_by_class(
    errors: Array, code: Array, weights: Array, rows: Array, classes: Array, units: Array | None = None
) -> Recall:
    """Recall per class from held-out errors.

    Parameters
    ----------
    errors : array of shape (N,)
        0 where the class of a row is predicted, else 1; one entry each time that a row was held out.
    code : array of int of shape (N,)
        The number of its class.
    weights : array of shape (N,)
    rows : array of int of shape (N,)
        The row that each entry is of.
    classes : array of shape (k,)
        The labels.
    units : array of shape (N,), optional
        The groups that rows belong to.

    Returns
    -------
    Recall

    See Also
    --------
    svmpath.criteria.interval.mean_interval : The interval of the error.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.recall import recall_by_class
    >>> found = recall_by_class(np.array([0, 0, 1]), np.array([0, 0, 1]), np.ones(3), np.arange(3), np.array([5, 7]))
    >>> found.rows.tolist(), found.recall.tolist(), found.lowest.tolist()
    ([2, 1], [1.0, 0.0], [1, 0])
    """
    is_counted = weights > 0
    units = rows if units is None else units
    errors, code, weights, rows, units = (each[is_counted] for each in (errors, code, weights, rows, units))
    k, once = len(classes), np.unique(rows, return_index=True)[1]
    total = np.bincount(code, weights, minlength=k)
    with np.errstate(invalid="ignore"):  # no row of a class was held out
        recall = np.bincount(code, weights * (1.0 - errors), minlength=k) / total
    error = float(np.average(errors, weights=weights))

    def interval(value: float, losses: Array) -> tuple[float, float]:
        return mean_interval(value, losses, weights, units, is_rate=True)

    return Recall(
        classes=classes,
        rows=np.bincount(code[once], minlength=k),
        recall=np.minimum(recall, 1.0),
        error=error,
        interval=interval(error, errors),
        baseline=float(1.0 - total.max() / total.sum()),
        commonest=classes.tolist()[int(np.argmax(total))],
        attainable=interval(0.0, np.zeros(len(errors)))[1],
    )

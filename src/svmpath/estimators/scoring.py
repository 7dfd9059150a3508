"""What an estimator is told to score by: ``scoring``, ``threshold``, and the results in scikit-learn's form."""

from __future__ import annotations

from numbers import Real

import numpy as np

from svmpath.criteria.frozen import predicted_codes
from svmpath.criteria.scorers import make_scoring
from svmpath.criteria.scoring import Scoring
from svmpath.criteria.threshold import best_threshold
from svmpath.estimators.held_out import HeldOutMixin
from svmpath.names import unknown_name

Array = np.ndarray


class ScoringMixin:
    """``scoring`` instead of a per-sample loss.

    A class that uses it has the parameters ``scoring`` and ``criterion_loss``.
    """

    _scoring: Scoring | None = None

    def _find_scoring(self, classes: Array | None, y: Array, s: Array) -> None:
        """Resolve ``scoring`` for this task; ``y`` holds numbers of classes, or a regression's targets."""
        parameters = vars(self)
        self._scoring = None
        if parameters["scoring"] is None:
            return
        if parameters["criterion_loss"] is not None:
            raise ValueError(
                "scoring and criterion_loss both say what a held-out decision value is worth; give only one of them."
            )
        self._scoring = make_scoring(parameters["scoring"], classes, y, s)


class ThresholdMixin(ScoringMixin, HeldOutMixin):
    """``threshold``: the decision value from which on the second of two classes is predicted."""

    classes_: Array
    threshold_: float | None

    def _labels(self, f: Array) -> Array:
        """The labels that decision values of shape (m,), or (m, k) for k > 2 classes, mean."""
        return self.classes_[predicted_codes(f, self._cut)]

    def _check_threshold(self, classes: Array) -> None:
        """Refuse what is not a threshold, before any work."""
        threshold = vars(self)["threshold"]
        if isinstance(threshold, str):
            if threshold != "tune":
                raise ValueError(unknown_name("threshold", threshold, ["tune"], "a number"))
        elif not isinstance(threshold, Real) or isinstance(threshold, bool) or not np.isfinite(float(threshold)):
            raise ValueError(f"threshold must be a number or 'tune', got {threshold!r}.")
        if len(classes) > 2 and threshold != 0.0:
            raise ValueError(
                f"threshold works for two classes only, but y has {len(classes)}: leave it at 0.0, and the class with "
                "the largest decision value is predicted."
            )

    def _set_threshold(self, classes: Array, code: Array, s: Array) -> None:
        """``threshold_`` as given, or tuned on the held-out decision values that the choice was made by."""
        threshold = vars(self)["threshold"]
        if len(classes) > 2:
            self.threshold_ = None
        elif not isinstance(threshold, str):
            self.threshold_ = float(threshold)
        else:
            scoring = self._scoring or make_scoring("accuracy", classes, code, s)
            self.threshold_ = best_threshold(self._as_chosen(), scoring)

"""Estimators whose answers are known already: held-out decision values in the form that scorers ask for.

A scorer of scikit-learn is a function ``scorer(estimator, X, y)``, which calls ``predict``, ``decision_function`` or
``predict_proba``. Here X does not hold features: its columns are the number of the sample, and the place of its
decision value among those that are held.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from svmpath.criteria.calibration import fit_calibration

Array = np.ndarray


def rows_of(samples: Array) -> Array:
    """X for the frozen estimators: number of the sample, place of its decision value."""
    return np.column_stack([samples, np.arange(len(samples))])


def predicted_codes(f: Array, threshold: float | None = None) -> Array:
    """The number of the class that decision values mean: of two classes 1 above the threshold, else the largest."""
    return (f > (threshold or 0.0)).astype(int) if f.ndim == 1 else np.argmax(f, axis=1)


def margins(f: Array, code: Array, threshold: float | None = None) -> Array:
    """How far decision values are on the right side of the threshold; with several classes, above the largest other."""
    if f.ndim == 1:
        return np.where(code == 1, 1.0, -1.0) * (f - (threshold or 0.0))
    is_label = np.arange(f.shape[1]) == code[:, None]
    return f[is_label] - np.where(is_label, -np.inf, f).max(axis=1)


class FrozenClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that knows the decision values of the rows it will be asked about.

    Parameters
    ----------
    decisions : array of shape (N,) for two classes, (N, k) for k
    classes : array of shape (k,)
    code : array of int of shape (N,)
        The class of each row, for the calibration of probabilities.
    weights : array of shape (N,)
    samples : array of int of shape (N,)
        The sample of each row; one may have been held out several times.
    threshold : float
        Of two classes the second is predicted where the decision value is larger.
    is_swapped : bool
        Whether ``classes`` are the labels of the second and the first of two classes: decision values and
        probabilities are told the other way round.

    Attributes
    ----------
    has_predicted : bool
        Whether ``predict`` was called: a scorer that does not do so does not depend on the threshold.
    """

    def __init__(
        self,
        decisions: Array,
        classes: Array,
        code: Array,
        weights: Array,
        samples: Array,
        threshold: float = 0.0,
        is_swapped: bool = False,
    ) -> None:
        self.decisions = decisions
        self.classes = classes
        self.code = code
        self.weights = weights
        self.samples = samples
        self.threshold = threshold
        self.is_swapped = is_swapped
        self.has_predicted = False
        self._calibration: Any = None

    @property
    def classes_(self) -> Array:
        """The labels."""
        return self.classes

    def decision_function(self, X: Any) -> Array:
        """The decision values held."""
        return -self._held(X) if self.is_swapped else self._held(X)

    def predict(self, X: Any) -> Array:
        """The labels that they mean."""
        self.has_predicted = True
        code = predicted_codes(self._held(X), self.threshold)  # a value at the threshold is of the first class
        return self.classes[1 - code if self.is_swapped else code]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities by the sigmoid calibration of all decision values held."""
        if self._calibration is None:
            k = len(self.classes)
            self._calibration = fit_calibration(self.decisions, self.code, k, self.weights, samples=self.samples)
        p = np.asarray(self._calibration.probabilities(self._held(X)))
        return p[:, ::-1] if self.is_swapped else p

    def predict_log_proba(self, X: Any) -> Array:
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    def _held(self, X: Any) -> Array:
        return self.decisions[_places(X)]


class FrozenRegressor(RegressorMixin, BaseEstimator):
    """A regressor that knows its predictions of the rows it will be asked about."""

    def __init__(self, decisions: Array) -> None:
        self.decisions = decisions

    def predict(self, X: Any) -> Array:
        """The predictions held."""
        return self.decisions[_places(X)]


def _places(X: Any) -> Array:
    return np.asarray(X)[:, 1]

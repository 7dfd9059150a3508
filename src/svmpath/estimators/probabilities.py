"""Probabilities of a tuned classifier: the calibration of its held-out decision values at the choice.

What the choice was made by is calibrated: exact held-out values, or their prediction (span, ALO). The exact ones would
take longer than the fit, and give the same probabilities: the calibration has a few numbers, fitted to all samples at
once (``benchmarks/calibration.py`` has both). A bound has no held-out values; there exact leave-one-out is computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmpath.criteria.calibration import Calibration, fit_calibration
from svmpath.criteria.curve import Curve
from svmpath.criteria.effective import counted
from svmpath.criteria.folds import deal, random_places
from svmpath.estimators.chunks import lazy_for_chunks
from svmpath.estimators.held_out import HeldOutMixin
from svmpath.estimators.samples import classification_table

Array = np.ndarray
_BINS = 10  # of a calibration curve
_CURVE_FOLDS = 5  # for which it is calibrated on the other folds


class CalibrationCurve(NamedTuple):
    """How often what was given a probability came true, in bins of equal width.

    Attributes
    ----------
    mean_predicted : array of shape (bins,)
        The weighted mean of the probabilities in each bin that is not empty.
    fraction_positive : array of shape (bins,)
        The weighted fraction of them that came true.
    counts : array of shape (bins,)
        The number of samples in each bin; with weights their sum, in units in which that of all bins is the effective
        number of samples, (sum w)^2 / sum w^2.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.criteria.calibration.fit_calibration : Fit probabilities to held-out decision values.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> from svmpath.datasets import banana
    >>> curve = PathSVC(random_state=0).fit(*banana(200, random_state=0)).calibration_curve_
    >>> int(curve.counts.sum()), len(curve.mean_predicted) == len(curve.fraction_positive)
    (200, True)
    """

    mean_predicted: Array
    fraction_positive: Array
    counts: Array


class ProbabilityMixin(HeldOutMixin):
    """Probabilities for classifiers with held-out decision values.

    A class that uses it has ``_class_decisions(X)``, of shape (m,) or (m, k), and sets ``_code`` in ``fit``.
    """

    calibration: str
    classes_: Array
    curve_: Any
    path_: Any
    _code: Array
    _groups: Array | None
    _calibrations: dict[str, Calibration]

    def _forget(self) -> None:
        super()._forget()
        self._calibrations = {}

    def _class_decisions(self, X: Any) -> Array:
        raise AssertionError("every classifier has its own")

    @lazy_for_chunks
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of shape (m, k), in the order of ``classes_``; rows sum to one.

        ``calibration`` says how they are found from the held-out decision values of the training rows; this is done at
        the first call, and fits no further machine. ``predict`` goes by the decision values. The class it predicts has
        the largest probability, except near the boundary: of two classes with "sigmoid" and "isotonic", whose
        probability 1/2 need not be at the decision value 0, and of several with "isotonic". A ``threshold_`` other than
        0 is for ``predict`` only.

        What the choice was made by is calibrated (``calibration_criterion_``), also if exact leave-one-out has been
        computed since: probabilities do not depend on what was asked before. Weights are relative: a common factor
        changes nothing. Together they count as Kish's effective number of rows, (sum w)^2 / sum w^2, beside the rows
        that "sigmoid" and "isotonic" add.
        """
        f = self._class_decisions(X)
        return self._calibrated().probabilities(f)

    @lazy_for_chunks
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of :meth:`predict_proba`, finite also where a probability is too small for a number."""
        f = self._class_decisions(X)
        return self._calibrated().log_probabilities(f)

    @property
    def calibration_criterion_(self) -> str:
        """How the held-out decision values that are calibrated were computed: "loo" is exact leave-one-out."""
        name = self._calibration_source().criterion
        return "loo" if name == "press" else name

    @property
    def calibration_curve_(self) -> CalibrationCurve:
        """Mean predicted probability, fraction that came true and counts, in ten bins of equal width.

        Of two classes it is the probability of ``classes_[1]``; of several, that of the class with the largest one,
        which came true if it is the label. Each sample's probability is calibrated on the decision values of the
        other samples, those of four of five folds; groups stay together. Empty bins are left out.
        """
        f, code, s, rows = self._calibration_rows()
        p, w = self._cross_fitted(f, code, s, rows), counted(s, rows)
        if len(self.classes_) == 2:
            return _binned(p[:, 1], code == 1, w)
        best = np.argmax(p, axis=1)
        return _binned(p[np.arange(len(p)), best], code == best, w)

    @property
    def held_out_(self) -> Any:  # a DataFrame
        """The training samples as machines see them that have not seen them; likely label errors first.

        One row per sample, in increasing order of ``probability``:

        - ``sample``: its position in X; ``label``; ``predicted``, the class by the held-out decision value
          and ``threshold_``
        - ``decision``: the held-out decision value (positive for ``classes_[1]``); of several classes that of the label
          minus the largest other one, which is negative for an error
        - ``probability``: of its own label; ``loss``: minus the logarithm of it
        - ``influence``: how much ``decision`` changes when the sample is used for the fit
        - ``weight``: the product of sample and class weight; if C was tuned, in units of its mean
        - ``doubtful``: whether the held-out value is not known to be exact; NA where only the number of such samples
          is known

        A sample that ``cv`` never holds out has NaN, and comes last.
        """
        curve = self._held
        return classification_table(curve, self._fitted(), self.classes_, self._code, self._calibrated(), self._cut)

    def _calibration_source(self) -> Curve:
        """The held-out decision values to calibrate."""
        check_is_fitted(self)
        return self._as_chosen()

    def _calibration_rows(self) -> tuple[Array, Array, Array, Array]:
        """Decision values, classes, weights and samples, an entry each time that one with weight was held out."""
        curve = self._calibration_source()
        is_counted = curve.path.problem.s[curve.rows] > 0
        rows = curve.rows[is_counted]
        return curve.held[0][is_counted], self._code[rows], curve.path.problem.s[rows], rows

    def _calibrated(self) -> Calibration:
        check_is_fitted(self)
        if self.calibration not in self._calibrations:
            self._calibrate_on(*self._calibration_rows())
        return self._calibrations[self.calibration]

    def _calibrate_on(self, f: Array, code: Array, s: Array, rows: Array | None = None) -> None:
        """Calibrate held-out decision values by the method that is set."""
        k, method = len(self.classes_), self.calibration
        self._calibrations[method] = fit_calibration(f, code, k, s, method, samples=rows)

    def _cross_fitted(self, f: Array, code: Array, s: Array, rows: Array) -> Array:
        """Probabilities of the held-out rows, calibrated on the other folds."""
        fold = deal(self._units(rows), code, random_places(self.path_.problem)[rows], _CURVE_FOLDS)
        k, p = len(self.classes_), np.empty((len(code), len(self.classes_)))
        for each in np.unique(fold):
            out = fold == each
            use = ~out if not out.all() else out  # a single sample has no others
            found = fit_calibration(f[use], code[use], k, s[use], self.calibration, samples=rows[use])
            p[out] = found.probabilities(f[out])
        return p


def _binned(p: Array, came_true: Array, w: Array) -> CalibrationCurve:
    place = np.minimum((p * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(place, w, minlength=_BINS)
    is_used = counts > 0
    mean, fraction = (np.bincount(place, w * part, minlength=_BINS)[is_used] for part in (p, came_true))
    return CalibrationCurve(mean / counts[is_used], fraction / counts[is_used], counts[is_used])

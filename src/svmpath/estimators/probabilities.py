"""How often what was given a probability came true."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
_BINS = 10  # of a calibration curve
_FEWEST = 20  # samples in a bin, so that its fraction means something


class CalibrationCurve(NamedTuple):
    """How often what was given a probability came true, in bins of equal width; those with few samples are joined.

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
    >>> curve = PathSVC(random_state=0).fit(*banana(200, random_state=0)).calibration_curve()
    >>> int(curve.counts.sum()), len(curve.mean_predicted) == len(curve.fraction_positive)
    (200, True)
    """

    mean_predicted: Array
    fraction_positive: Array
    counts: Array


def binned(p: Array, came_true: Array, w: Array) -> CalibrationCurve:
    """The curve of probabilities p of what came true or not, with weights w."""
    place = np.minimum((p * _BINS).astype(int), _BINS - 1)
    sums = np.stack([np.bincount(place, w * part, minlength=_BINS) for part in (np.ones_like(p), p, came_true)])
    bins: list[Array] = []
    for column in sums.T:  # from the lowest on, each with the next ones until it has enough
        if bins and bins[-1][0] < _FEWEST:
            bins[-1] = bins[-1] + column
        else:
            bins.append(column)
    if len(bins) > 1 and bins[-1][0] < _FEWEST:
        bins[-2:] = [bins[-2] + bins[-1]]
    counts, mean, fraction = np.array(bins).T
    return CalibrationCurve(mean / counts, fraction / counts, counts)

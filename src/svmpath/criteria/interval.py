"""Confidence intervals of a mean held-out loss.

Of an error rate p from n independent samples: Clopper and Pearson's, which for k = n p errors is

    [ B(a; k, n - k + 1),  B(1 - a; k + 1, n - k) ],      a = (1 - coverage) / 2,      B: quantiles of the beta law

With weights, or groups whose samples are not independent, n is the number of independent samples that would give p the
same variance, p (1 - p) / se^2; with weights alone Kish's (sum w)^2 / sum w^2. Other losses: p +- z se. With r_u the
sum of w_i (l_i - p) over the samples of unit u (a sample, or a group), se^2 = sum_u r_u^2 / (sum_i w_i)^2.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, ndtri

from svmpath.criteria.effective import effective_number

Array = np.ndarray

_NONE = 1e-15  # a variance that is zero, but for rounding


def mean_interval(
    value: float, losses: Array, weights: Array, units: Array, *, is_rate: bool, coverage: float = 0.95
) -> tuple[float, float]:
    """The interval around a mean of losses.

    Parameters
    ----------
    value : float
        The mean, or a corrected one.
    losses : array of shape (N,)
        The losses.
    weights : array of shape (N,)
        Their weights.
    units : array of shape (N,)
        What each loss belongs to: samples, or groups of them; losses of different units are independent.
    is_rate : bool
        Whether the losses are 0 or 1 (a sample that was held out several times has one in between).
    coverage : float, default=0.95
        Probability that the interval contains the mean, about.

    Returns
    -------
    tuple of two floats
        The lower and the upper end.

    See Also
    --------
    svmpath.criteria.interval.clopper_pearson : The interval of an error rate.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = mean_interval(0.1, np.repeat([0, 1], [90, 10]), np.ones(100), np.arange(100), is_rate=True)
    >>> round(low, 4), round(high, 4)
    (0.049, 0.1762)
    """
    _, unit = np.unique(units, return_inverse=True)
    w = weights / weights.sum()
    mean, error = float(w @ losses), standard_error(losses, weights, units)
    if not is_rate:
        z = float(ndtri(0.5 + coverage / 2))
        return max(value - z * error, 0.0), value + z * error
    # As many as the units at least, as many as the samples at most.
    least, most = effective_number(np.bincount(unit, w)), effective_number(w)
    variance = mean * (1.0 - mean)
    n = least if variance < _NONE else float(np.clip(variance / max(error**2, _NONE), least, most))
    return clopper_pearson(value * n, n, coverage)


def standard_error(losses: Array, weights: Array, units: Array) -> float:
    """The standard error of a weighted mean of numbers, of which those of one unit belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.interval import standard_error
    >>> standard_error(np.array([0.0, 0.0, 2.0, 2.0]), np.ones(4), np.arange(4))
    0.5
    """
    _, unit = np.unique(units, return_inverse=True)
    w = weights / weights.sum()
    return float(np.sqrt(np.sum(np.bincount(unit, w * (losses - w @ losses)) ** 2)))


def clopper_pearson(errors: float, n: float, coverage: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of an error rate; numbers of errors and samples need not be whole.

    Parameters
    ----------
    errors : float
        Number of errors.
    n : float
        Number of samples.
    coverage : float, default=0.95
        Probability that the interval contains the error rate, at least.

    Returns
    -------
    tuple of two floats
        The lower and the upper end.

    See Also
    --------
    svmpath.criteria.interval.mean_interval : The interval of a mean of losses.

    Examples
    --------
    >>> from svmpath.criteria.interval import clopper_pearson
    >>> low, high = clopper_pearson(10, 100)
    >>> round(low, 4), round(high, 4)
    (0.049, 0.1762)
    """
    tail = (1.0 - coverage) / 2
    low = 0.0 if errors <= 0.0 else float(betaincinv(errors, n - errors + 1.0, tail))
    high = 1.0 if errors >= n else float(betaincinv(errors + 1.0, n - errors, 1.0 - tail))
    return low, high

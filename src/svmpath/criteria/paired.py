"""Are two methods different, scored on the same held-out samples?

Classification, samples that are independent: McNemar's exact test. Of the b + c samples on which one method alone is
wrong, b are of the first; if both are equally good, b is binomial with probability 1/2, and p is twice the smaller
tail.

Otherwise (other losses, weights, groups): with d_u the sum over the samples of unit u, a sample or a group, of weight
times difference of losses, the t statistic mean(d) / (sd(d) / sqrt(m)) of m units, with m - 1 degrees of freedom.

Many pairs: Holm's correction. With the p values in ascending order, the corrected ones are the running maximum of
(m - k + 1) p_(k), cut off at 1. It needs no assumption on how the tests depend on each other.

Held-out samples of different folds are scored by machines that share training rows, which all of these tests ignore:
p values somewhat above and below a level mean the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, ttest_1samp

Array = np.ndarray

__all__ = ["PairedTest", "holm", "paired_test"]


class PairedTest(NamedTuple):
    """The outcome of a test of two methods on the same samples.

    Attributes
    ----------
    method : {"McNemar", "paired t"}
    p : float
        The probability of a difference at least as large, if both methods are equally good.
    only_first, only_second : float
        Samples (McNemar) or units (t) for which the first, or the second, has the larger loss.
    """

    method: str
    p: float
    only_first: int
    only_second: int


def paired_test(
    first: Array, second: Array, *, is_rate: bool, weights: Array | None = None, units: Array | None = None
) -> PairedTest:
    """Test whether two methods are equally good, by their losses on the same held-out samples.

    Parameters
    ----------
    first, second : array of shape (n,)
        The losses; 0 or 1 for a classification.
    is_rate : bool
        Whether they are 0 or 1.
    weights : array of shape (n,), optional
    units : array of shape (n,), optional
        The group of each sample; samples of different groups are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.paired import paired_test
    >>> first, second = np.zeros(100), np.zeros(100)
    >>> first[:9], second[9:10] = 1, 1
    >>> test = paired_test(first, second, is_rate=True)
    >>> test.method, test.only_first, test.only_second, round(test.p, 4)
    ('McNemar', 9, 1, 0.0215)
    """
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if is_rate and weights is None and units is None:
        b, c = int(np.count_nonzero(difference > 0)), int(np.count_nonzero(difference < 0))
        p = 1.0 if b + c == 0 else float(binomtest(b, b + c).pvalue)
        return PairedTest("McNemar", p, b, c)
    weighted = difference if weights is None else difference * weights
    if units is not None:
        weighted = np.bincount(np.unique(units, return_inverse=True)[1], weighted)
    b, c = int(np.count_nonzero(weighted > 0)), int(np.count_nonzero(weighted < 0))
    if not np.ptp(weighted) > 0:  # no spread to compare with: how likely is it that all signs are equal?
        return PairedTest("paired t", 0.5 ** (len(weighted) - 1) if weighted.any() else 1.0, b, c)
    return PairedTest("paired t", float(ttest_1samp(weighted, 0.0).pvalue), b, c)


def holm(p: Array) -> Array:
    """Holm's corrected p values of several tests, in the order given.

    Examples
    --------
    >>> from svmpath.criteria.paired import holm
    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(raised, 1.0)
    return corrected

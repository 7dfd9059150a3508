"""How many samples weights stand for: what a common factor of all weights must not change.

Samples of weights w_i tell as much of a mean as Kish's effective number of samples of equal weight,

    n = (sum_i w_i)^2 / sum_i w_i^2.

Where weights stand beside samples that count as one (the new row of a prediction interval, the rows that a calibration
adds) they are scaled so that their sum is n. Equal weights then are 1, whatever they were.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def effective_number(w: Array) -> float:
    """Kish's effective number of samples."""
    return float(w.sum() ** 2 / (w @ w))


def counted(weights: Array, samples: Array) -> Array:
    """The weights of entries as numbers of samples: their sum is the effective number of samples.

    Parameters
    ----------
    weights : array of shape (N,)
        The weight of each entry's sample; at least one is positive.
    samples : array of int of shape (N,)
        The sample of each entry: one that was held out several times is one sample still, in equal parts.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.effective import counted
    >>> counted(np.array([0.2, 0.2, 0.2]), np.array([0, 1, 1])).tolist()
    [1.0, 0.5, 0.5]
    >>> counted(np.array([2.0, 2.0, 0.0, 4.0]), np.arange(4)).round(3).tolist()
    [0.667, 0.667, 0.0, 1.333]
    """
    whole = weights / weights.max()  # so that equal ones are 1 to the last digit
    parts = whole / np.bincount(samples)[samples]
    return parts * (parts.sum() / (whole @ parts))

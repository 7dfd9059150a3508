"""A range of a hyper-parameter that is to be searched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.validation import check_positive


@dataclass(frozen=True, repr=False)
class Range:
    """All values between two positive numbers, searched in the logarithm: ``PathSVC(C=Range(0.1, 100))``.

    Parameters
    ----------
    low, high : float
        The ends, which are among the values.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.PathSVR : Regressor that chooses C and gamma.
    svmpath.ElasticNetSVC : Linear classifier that selects features.

    Examples
    --------
    >>> from svmpath import PathSVC, Range
    >>> from svmpath.datasets import banana
    >>> model = PathSVC(C=Range(0.1, 10), gamma=Range(0.1, 1), random_state=0).fit(*banana(80, random_state=0))
    >>> 0.1 <= model.C_ <= 10, 0.1 <= model.gamma_ <= 1, model.C
    (True, True, Range(0.1, 10))
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            check_positive(end, "Each end of a Range")
        if self.low < np.finfo(float).tiny:
            raise ValueError(f"The low end of a Range must be a normal number, got {self.low!r}; give a larger one.")
        if not self.low < self.high:
            raise ValueError(
                f"A Range goes from a smaller to a larger number, got {self!r}; exchange them, or give one number."
            )

    def __repr__(self) -> str:
        return f"Range({self.low:g}, {self.high:g})"

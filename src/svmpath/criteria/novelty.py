"""When is a row new? Thresholds and p-values from held-out decision values of a machine without targets.

Let h_i be the decision value of training row i by a machine that has not seen it, w_i >= 0 its weight in units in which
the sum W is the effective number of rows (``criteria.effective``), and f the decision value of a new row x. If x is
drawn as the training rows were, f is about as likely to be anywhere among the h_i (exactly so if the machine did not
depend on whether a row was in the fit), and

    p(x) = (1 + sum_i w_i [h_i <= f]) / (1 + W)

is a p-value: it is at most nu with a probability of about nu. A row is rejected where p(x) <= nu, which is where f is
below the threshold

    t = min {h_i : 1 + sum_j w_j [h_j <= h_i] > nu (1 + W)}.

On the training rows themselves decision values are larger than on new ones, the more so the narrower the kernel: a
machine rejects more new rows than its nu says, and the threshold makes up for that. See ``docs/math/one_class.md``.
"""

from __future__ import annotations

import numpy as np

from svmpath.criteria.effective import counted

Array = np.ndarray

_ROUNDING = 1e-10  # relative; 0.1 * 20 is 2, whatever the last digits say


class Conformity:
    """Held-out decision values in increasing order, with the weight up to each of them.

    Parameters
    ----------
    held : array of shape (N,)
    weights : array of shape (N,)
        Those of the rows; one at least is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.novelty import Conformity
    >>> seen = Conformity(np.array([0.3, -0.1, 0.2, 0.4, 0.1, 0.6, 0.5, 0.8, 0.7]), np.ones(9))
    >>> seen.threshold(0.2), seen.p_values(np.array([-1.0, -0.1, 0.25, 0.9])).tolist()
    (0.1, [0.1, 0.2, 0.4, 1.0])
    """

    def __init__(self, held: Array, weights: Array) -> None:
        counts = weights > 0
        w = counted(weights[counts], np.arange(int(counts.sum())))
        order = np.argsort(held[counts], kind="stable")
        self.values = held[counts][order]
        self.total = np.cumsum(w[order])

    @property
    def least(self) -> float:
        """The smallest p-value that a row can have."""
        return float(1.0 / (1.0 + self.total[-1]))

    def threshold(self, nu: float) -> float:
        """t; the least held-out value where nu is below the smallest p-value, so that no row should be rejected."""
        share = (1.0 + self.total) / (1.0 + self.total[-1])
        # Equal values have the weight of the last of them.
        last = np.searchsorted(self.values, self.values, side="right") - 1
        return float(self.values[np.argmax(share[last] > nu * (1.0 + _ROUNDING))])

    def p_values(self, f: Array) -> Array:
        """p of new rows with these decision values."""
        return np.asarray((1.0 + self._weight_up_to(f)) / (1.0 + self.total[-1]))

    def own_p_values(self, held: Array) -> Array:
        """p of the training rows themselves, each among the others: the row takes the place of the new one."""
        return np.asarray(np.minimum(np.maximum(self._weight_up_to(held), self.total[0]) / self.total[-1], 1.0))

    def _weight_up_to(self, f: Array) -> Array:
        return np.concatenate([[0.0], self.total])[np.searchsorted(self.values, f, side="right")]

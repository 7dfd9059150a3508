"""Wang's s-path: the elastic-net machine indexed by the size s = sum_j om_j |beta_j| instead of lambda1.

The machine with the constraint "size <= s" is the machine of the lambda1 whose size is s: one path, two indices. As
lambda1 falls, s never falls. While the elbow determines beta (as many samples on it as active features and the offset),
lambda1 falls and alpha moves, but s stands still: all of that stretch is one point of the s-path, a jump of its alpha.
Between events s is linear in lambda1. With lambda2 = 0 it is the other way round, too: where beta jumps at a
constant lambda1, s goes on, and the machines on the way are mixtures of both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svmpath.lazy import lazy
from svmpath.losses.elastic_hinge import ElasticSolution
from svmpath.paths.elastic import ElasticPath

Array = np.ndarray

_SAME = 1e-10  # sizes that differ by less, relative to the largest, are the same


class Jump(NamedTuple):
    """A size at which alpha jumps: what lambda1 is before and after, and the largest change of an alpha."""

    s: float
    first: float
    last: float
    change: float


@dataclass(frozen=True, eq=False)
class SPath:
    """A path over lambda1, indexed by the size of beta.

    Parameters
    ----------
    path : ElasticPath
        Over lambda1.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.paths import SPath
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 5)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> by_size = SPath(svmpath.trace(X, y, loss="elastic_hinge", lambda2=1e-3))
    >>> solution = by_size(0.5 * by_size.sizes[-1])
    >>> bool(np.isclose(solution.norm1, 0.5 * by_size.sizes[-1])), len(by_size.jumps()) > 0
    (True, True)
    """

    path: ElasticPath

    def __post_init__(self) -> None:
        if self.path.over != "lambda1":
            raise ValueError(f"The s-path is that over lambda1, indexed anew; this path goes over {self.path.over!r}.")

    @lazy
    def values(self) -> Array:
        """The breakpoints of the path, lambda1 falling."""
        return np.sort(self.path.breakpoints)[::-1]

    @lazy
    def sizes(self) -> Array:
        """The size of beta at each breakpoint; never falling."""
        coef, _ = self.path.coefs(self.values)
        problem = self.path.problem
        return np.maximum.accumulate(np.abs(coef * problem.scale) @ problem.om)

    def __call__(self, s: float) -> ElasticSolution:
        """The machine of size s; of a stretch of lambda1 with this size, that with the largest lambda1."""
        sizes, values = self.sizes, self.values
        if not 0.0 <= s <= sizes[-1] * (1 + 1e-12):
            raise ValueError(f"s = {s:.6g} lies outside [0, {sizes[-1]:.6g}], the sizes on this path.")
        k = int(np.searchsorted(sizes, min(s, sizes[-1]), side="left"))
        if k == 0 or sizes[k] - sizes[k - 1] <= _SAME * sizes[-1]:
            return self.path(values[k])
        share = (s - sizes[k - 1]) / (sizes[k] - sizes[k - 1])
        if self.path.motion.lam2 > 0.0:
            return self.path(values[k - 1] + share * (values[k] - values[k - 1]))
        return self._mixed(values[k - 1], values[k], share)

    def _mixed(self, before: float, after: float, share: float) -> ElasticSolution:
        """With lambda2 = 0: between the machines on both sides of a jump of beta, at the lambda1 where it jumps."""
        one, other = self.path(before), self.path(after)
        problem, loss = other.problem, self.path.loss
        beta = ((1 - share) * one.coef + share * other.coef) * problem.scale
        b = (1 - share) * one.b + share * other.b + (beta / problem.scale) @ problem.centre
        return loss.read(problem, dict(other.parameters), problem.y * other.alpha, beta, b)

    def jumps(self) -> list[Jump]:
        """The sizes at which alpha jumps, with the stretch of lambda1 that each of them hides."""
        sizes, values = self.sizes, self.values
        flat = np.diff(sizes) <= _SAME * max(sizes[-1], np.finfo(float).tiny)
        found, k = [], 0
        while k < len(flat):
            end = k
            while end < len(flat) and flat[end]:
                end += 1
            if end > k and sizes[k] > 0.0:
                change = np.abs(self.path(values[end]).alpha - self.path(values[k]).alpha).max()
                found.append(Jump(float(sizes[k]), float(values[k]), float(values[end]), float(change)))
            k = max(end, k + 1)
        return found

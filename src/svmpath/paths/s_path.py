"""Wang's s-path: the elastic-net machine indexed by the size s = sum_j om_j |beta_j| instead of lambda1.

The machine with the constraint "size <= s" is the machine of the lambda1 whose size is s: one path, two indices. As
lambda1 falls, s never falls. While the elbow determines beta (as many samples on it as active features and the offset),
lambda1 falls and alpha changes, but s does not: this whole interval is one point of the s-path, where alpha jumps.
Between events s is linear in lambda1. With lambda2 = 0 the opposite happens, too: where beta jumps at a constant
lambda1, s increases, and the machines on the way are convex combinations of both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svmpath.lazy import lazy
from svmpath.losses.elastic_hinge import ElasticSolution
from svmpath.paths.elastic import ElasticPath

Array = np.ndarray

_SAME_SIZE = 1e-8  # sizes that differ by less, relative to the largest, are the same


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

    See Also
    --------
    svmpath.trace_elastic : Follow the elastic-net hinge machine.
    svmpath.paths.ElasticPath : What ``svmpath.trace_elastic`` returns.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath.paths import SPath
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 5)); y = np.sign(X[:, 0] + 0.5 * rng.normal(size=40))
    >>> by_size = SPath(svmpath.trace_elastic(X, y, lambda2=1e-3))
    >>> solution = by_size(0.5 * by_size.sizes[-1])
    >>> bool(np.isclose(solution.norm1, 0.5 * by_size.sizes[-1])), len(by_size.jumps()) > 0
    (True, True)
    """

    path: ElasticPath

    def __post_init__(self) -> None:
        if self.path.over != "lambda1":
            raise ValueError(f"An s-path needs a path over lambda1, but this path is over {self.path.over!r}.")

    @lazy
    def values(self) -> Array:
        """The breakpoints of the path, lambda1 falling."""
        return np.sort(self.path.breakpoints)[::-1]

    @lazy
    def _ends(self) -> tuple[Array, Array]:
        """The sizes at the beginning and at the end of each segment; with lambda2 = 0 they are one."""
        values = self.values
        constant = self.path.path_parameter.fixed["lambda2"] == 0.0
        coef, _ = self.path.coefs((values[1:] + values[:-1]) / 2 if constant else values)
        problem = self.path.problem
        sizes = np.maximum.accumulate(np.abs(coef * problem.scale) @ problem.om)
        return (sizes, sizes) if constant else (sizes[:-1], sizes[1:])

    @property
    def sizes(self) -> Array:
        """The size of beta at the end of each segment of the path; never falling."""
        return self._ends[1]

    def __call__(self, s: float) -> ElasticSolution:
        """The machine of size s; if an interval of lambda1 has this size, the machine with the largest lambda1."""
        (first, last), values = self._ends, self.values
        least = self.path(values[0]).norm1
        if not least * (1 - 1e-12) <= s <= last[-1] * (1 + 1e-12):
            raise ValueError(f"s = {s:.6g} lies outside the range [{least:.6g}, {last[-1]:.6g}] of this path.")
        k = int(np.searchsorted(last, min(s, last[-1]), side="left"))
        if s < first[k]:  # before this segment beta jumps
            before = least if k == 0 else last[k - 1]
            return self._mixed(k, (s - before) / (first[k] - before)) if s > before else self.path(values[0])
        if last[k] - first[k] <= _SAME_SIZE * last[-1]:
            return self._mixed(k, 1.0) if self.path.path_parameter.fixed["lambda2"] == 0.0 else self.path(values[k])
        return self.path(values[k] + (s - first[k]) / (last[k] - first[k]) * (values[k + 1] - values[k]))

    def _mixed(self, k: int, share: float) -> ElasticSolution:
        """With lambda2 = 0: between the machines on both sides of a jump of beta, at the lambda1 where it jumps."""
        values = self.values
        before, here = self.path((values[max(k - 1, 0)] + values[k]) / 2), self.path(values[k])
        after = self.path((values[k] + values[k + 1]) / 2)
        problem = here.problem
        coef = (1 - share) * before.coef + share * after.coef
        b = (1 - share) * before.b + share * after.b + coef @ problem.centre
        parameters = dict(here.parameters)
        return self.path.loss.read(problem, parameters, problem.y * here.alpha, coef * problem.scale, b)

    def jumps(self) -> list[Jump]:
        """The sizes at which alpha jumps, with the interval of lambda1 that belongs to each."""
        (first, last), values = self._ends, self.values
        near = _SAME_SIZE * max(last[-1], np.finfo(float).tiny)
        flat = last - first <= near
        found, k = [], 0
        while k < len(flat):
            end = k
            while end < len(flat) and flat[end] and last[end] - first[k] <= near:
                end += 1
            if end > k and first[k] > 0.0:
                change = np.abs(self.path(values[end]).alpha - self.path(values[k]).alpha).max()
                found.append(Jump(float(first[k]), float(values[k]), float(values[end]), float(change)))
            k = max(end, k + 1)
        return found

"""How many landmarks are enough: double them until the held-out score hardly gains.

On noisy data the rank counts for more than gamma does, and no rule is known that tells from one rank how much the next
would gain. So the next is computed: with the same landmarks and as many again, at a few values of C around the best,
its first machine from the sides of the last. With score_k and standard error se_k at rank r_k = 2^k r_0, stop at

    score_{k-1} - score_k < max(se_k / 4, 0.005 score_k)

or where memory or time would not be enough for the next rank, or where the kernel has no higher one. A rank costs about
four times as much as the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.gram import Gram, LowRankGram
from svmpath.gram.memory import memory_limit
from svmpath.paths import Path
from svmpath.search.choice import Scores, best_value, is_lower
from svmpath.search.deadline import Deadline
from svmpath.search.grid import Search, Starts

Array = np.ndarray

GAIN = 0.25  # standard errors that a doubled rank must gain
_SMALL_GAIN = 0.005  # of the score
_NOTHING_LEFT = 1e-6  # relative residual of features, perhaps in single precision, that are all of the kernel
_MORE = 4.0  # times the seconds of a rank that its double takes


@dataclass(frozen=True)
class Step:
    """What one rank brought.

    Attributes
    ----------
    rank : int
        Of the kernel matrix: less than the number of landmarks where some are combinations of others.
    seconds : float
        That it took.
    scores : Scores
        At all values of C that were tried.
    """

    rank: int
    seconds: float
    scores: Scores

    @property
    def _best(self) -> int:
        return best_value(self.scores)

    @property
    def C(self) -> float:
        """The best value."""
        return float(self.scores.values[self._best])

    @property
    def score(self) -> float:
        """The held-out score there."""
        return float(self.scores.scores[self._best])

    @property
    def least_gain(self) -> float:
        """What the next rank must gain; with very many rows a standard error is less than anyone cares about."""
        return max(GAIN * float(self.scores.standard_errors[self._best]), _SMALL_GAIN * self.score)


@dataclass(frozen=True)
class Grown:
    """A rank that is enough, or the largest that could be had.

    Attributes
    ----------
    curve : Curve
        At the best of the ranks tried.
    paths : list of Path
        Of all its machines; empty if it is the curve that was known already.
    steps : list of Step
        All ranks tried.
    reason : {"enough", "whole", "rank", "memory", "time"}
        Why no larger one was tried: the last gained too little, the kernel has no higher rank, there was no other to
        try, or a limit was reached.
    """

    curve: Curve
    paths: list[Path]
    steps: list[Step]
    reason: str


def double_rank(
    search: Search,
    gram_of: Callable[[int], Gram | None],
    C: float,
    ranks: Sequence[int],
    around: Callable[[float], Array],
    *,
    starts: Starts,
    deadline: Deadline,
    first: Curve | None = None,
) -> Grown:
    """Go to larger ranks until the held-out score gains less than a quarter of its standard error, or 0.5 % of itself.

    Parameters
    ----------
    search : Search
    gram_of : callable
        The Gram matrix with so many landmarks, such as ``lambda rank: LowRankGram(kernel, X, Nystroem(rank, "uniform",
        single=True), seed)``; the landmarks are then nested. None if it costs too much.
    C : float
        The best value so far.
    ranks : sequence of int
        Numbers of landmarks, each twice the one before; as many as rows mean the full matrix.
    around : callable
        The values to try around the best C so far.
    starts : dict
        As for :meth:`Search.on`.
    deadline : Deadline
        A rank that is expected to end later is not begun.
    first : Curve, optional
        The curve at the first rank, if it is known already.

    Returns
    -------
    Grown

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import criteria
    >>> from svmpath.gram import LowRankGram, Nystroem
    >>> from svmpath.kernels import RBF
    >>> from svmpath.losses import LeastSquares, Problem
    >>> from svmpath.search import Search
    >>> from svmpath.search.deadline import Deadline
    >>> from svmpath.search.rank import double_rank, doubled
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)); y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=400)
    >>> gram_of = lambda rank: LowRankGram(RBF(1.0), X, Nystroem(rank, "uniform"), seed=0)
    >>> problem = Problem(gram_of(10), y, np.ones(400), "regression")
    >>> search = Search([problem], LeastSquares(), np.logspace(0, 2, 3), None, criteria.press, None)
    >>> around = lambda C: C * np.array([0.5, 1.0, 2.0])
    >>> grown = double_rank(search, gram_of, 10.0, doubled(10, 400), around, starts={}, deadline=Deadline())
    >>> [step.rank for step in grown.steps][:4], grown.reason
    ([10, 20, 40, 80], 'enough')
    """
    curve, paths, reason = first, list[Path](), "rank"
    steps = [] if first is None else [_step(first, 0.0)]
    for rank in ranks if first is None else ranks[1:]:
        gram = gram_of(rank)
        if gram is None:
            break
        if steps and _bytes(gram) > memory_limit():
            reason = "memory"
            break
        if steps and deadline.is_over(_MORE * steps[-1].seconds):
            reason = "time"
            break
        now = monotonic()
        new, traced = search.traced(gram, around(steps[-1].C if steps else C), starts)
        steps.append(_step(new, monotonic() - now))
        if curve is None or is_lower([steps[-1].score], [min(step.score for step in steps[:-1])]):
            curve, paths = new, traced
        if len(steps) > 1 and steps[-2].score - steps[-1].score < steps[-1].least_gain:
            reason = "enough"
            break
        if rank == search.problems[0].n or (gram.rank < rank and gram.residual < _NOTHING_LEFT):
            reason = "whole"
            break
    assert curve is not None
    return Grown(curve, paths, steps, reason)


def doubled(rank: int, most: int) -> list[int]:
    """A rank and its doubles, the last one cut off."""
    found = [min(rank, most)]
    while found[-1] < most:
        found.append(min(2 * found[-1], most))
    return found


def _step(curve: Curve, seconds: float) -> Step:
    return Step(int(curve.path.gram.rank), seconds, Scores.of(curve))


def _bytes(gram: Gram) -> float:
    """About how much memory the features of a Gram matrix take."""
    size = np.dtype(gram.approximation.dtype).itemsize if isinstance(gram, LowRankGram) else 8
    return float(gram.entries * size)

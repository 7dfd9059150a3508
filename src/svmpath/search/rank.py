"""How many landmarks are enough: double them until the held-out score hardly gains.

On noisy data the rank counts for more than gamma does, and no rule is known that tells from one rank how much the next
would gain. So the next is computed: with the same landmarks and as many again, at a few values of C around the best,
its first machine from the sides of the last. With score_k and standard error se_k at rank r_k = 2^k r_0, stop at

    score_{k-1} - score_k < max(share * se_k, 0.005 score_k)          (share: a quarter by default)

or where memory or time would not be enough for the next rank. A rank costs about four times as much as the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.gram import Gram, LowRankGram
from svmpath.gram.memory import memory_limit
from svmpath.paths import Path
from svmpath.search.choice import Scores, best_value
from svmpath.search.deadline import Deadline
from svmpath.search.grid import Search, Starts

Array = np.ndarray

FIRST_RANK = 300
MOST_RANK = 1200  # the next one takes four to six times as long, and gained at most a tenth of a point
GAIN = 0.25  # standard errors that a doubled rank must gain
_SMALL_GAIN = 0.005  # of the score
_MORE = 4.0  # times the seconds of a rank that its double takes
_STEP = 10 ** (1 / 3)  # between values of C


@dataclass(frozen=True)
class Step:
    """What one rank brought.

    Attributes
    ----------
    rank : int
        Number of landmarks.
    C : float
        The best value.
    score, standard_error : float
        Of the held-out loss there.
    seconds : float
        That it took.
    scores : Scores
        At all values of C that were tried.
    """

    rank: int
    C: float
    score: float
    standard_error: float
    seconds: float
    scores: Scores


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
    reason : {"enough", "rank", "memory", "time"}
        Why no larger one was tried: the last gained too little, or a limit was reached.
    """

    curve: Curve
    paths: list[Path]
    steps: list[Step]
    reason: str


def double_rank(
    search: Search,
    gram_of: Callable[[int], Gram],
    C: float | Array,
    *,
    rank: int = FIRST_RANK,
    most: int = MOST_RANK,
    deadline: Deadline | None = None,
    share: float = GAIN,
    starts: Starts | None = None,
    first: Curve | None = None,
    around: Callable[[float], Array] | None = None,
) -> Grown:
    """Double the rank until the held-out score gains less than a share of its standard error, or than 0.5 % of it.

    Parameters
    ----------
    search : Search
    gram_of : callable
        The Gram matrix with so many landmarks, such as ``lambda rank: LowRankGram(kernel, X, Nystroem(rank, "uniform",
        single=True), seed)``; the landmarks are then nested.
    C : float or array
        The best value so far, of which a third of a factor of ten to either side is tried as well; or the values to
        try at the first rank.
    rank : int
        The first rank.
    most : int
        The largest rank; with as many landmarks as rows, a kernel matrix has nothing left to gain.
    deadline : Deadline, optional
        A rank that is expected to end later is not begun.
    share : float
        Of a standard error, which the next rank must gain.
    starts : dict, optional
        As for :meth:`Search.on`.
    first : Curve, optional
        The curve at the first rank, if it is known already.
    around : callable, optional
        The values to try around the best C so far, if these are not a third of a factor of ten to either side.

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
    >>> from svmpath.search.rank import double_rank
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)); y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=400)
    >>> gram_of = lambda rank: LowRankGram(RBF(1.0), X, Nystroem(rank, "uniform"), seed=0)
    >>> problem = Problem(gram_of(10), y, np.ones(400), "regression")
    >>> search = Search([problem], LeastSquares(), np.logspace(0, 2, 3), None, criteria.press, None)
    >>> grown = double_rank(search, gram_of, 10.0, rank=10)
    >>> [step.rank for step in grown.steps][:4], grown.reason
    ([10, 20, 40, 80], 'enough')
    """
    starts = {} if starts is None else starts
    around = _around if around is None else around
    curve, steps, reason = first, [], "rank"
    paths: list[Path] = []
    if first is not None:
        steps.append(_step(rank, first, 0.0))
    for each in _ranks(rank, min(most, search.problems[0].n), skip=first is not None):
        gram = gram_of(each)
        if steps and _bytes(gram) > memory_limit():
            reason = "memory"
            break
        now = monotonic()
        if steps and deadline is not None and deadline.is_over(_MORE * steps[-1].seconds):
            reason = "time"
            break
        values = np.asarray(C, dtype=float) if not steps and np.ndim(C) else around(steps[-1].C if steps else float(C))
        new, traced = search.traced(gram, values, starts)
        steps.append(_step(each, new, monotonic() - now))
        is_enough = len(steps) > 1 and steps[-2].score - steps[-1].score < _least_gain(steps[-1], share)
        if curve is None or steps[-1].score < min(step.score for step in steps[:-1]):
            curve, paths = new, traced
        if is_enough:
            reason = "enough"
            break
    assert curve is not None
    return Grown(curve, paths, steps, reason)


def _least_gain(step: Step, share: float) -> float:
    """What a doubled rank must gain; with very many rows a standard error is less than anyone cares about."""
    return max(share * step.standard_error, _SMALL_GAIN * step.score)


def _ranks(rank: int, most: int, skip: bool) -> Iterator[int]:
    """The first rank and its doubles, the last one cut off; without the first if it is known."""
    if not skip:
        yield min(rank, most)
    while rank < most:
        rank = min(2 * rank, most)
        yield rank


def _around(C: float) -> Array:
    """A value of C between two others."""
    return C * _STEP ** np.arange(-1.0, 2.0)


def _step(rank: int, curve: Curve, seconds: float) -> Step:
    k = best_value(curve)
    scores = Scores.of(curve)
    return Step(
        rank, float(scores.values[k]), float(scores.scores[k]), float(scores.standard_errors[k]), seconds, scores
    )


def _bytes(gram: Gram) -> float:
    """About how much memory the features of a Gram matrix take."""
    size = np.dtype(gram.approximation.dtype).itemsize if isinstance(gram, LowRankGram) else 8
    return float(gram.entries * size)

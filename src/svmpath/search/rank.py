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
from svmpath.gram import DenseGram, Gram, LowRankGram, Nystroem
from svmpath.gram.memory import memory_limit
from svmpath.kernels import Kernel, Linear
from svmpath.paths import Path
from svmpath.progress import begin, doing
from svmpath.search import limits
from svmpath.search.choice import Scores, Stage, best_value, is_lower, lowest
from svmpath.search.deadline import Deadline
from svmpath.search.evaluator import Evaluator, Starts
from svmpath.search.log import NO_GAMMA
from svmpath.search.trials import StartsByGamma, Trials, on_left_side
from svmpath.search.tuner import Tuner

Array = np.ndarray

GAIN = 0.25  # standard errors that a doubled rank must gain
_SMALL_GAIN = 0.005  # of the score; with very many rows a standard error is less than anyone cares about
_NOTHING_LEFT = 1e-6  # relative residual of features, perhaps in single precision, that are all of the kernel
_MORE = 4.0  # times the seconds of a rank that its double takes
_REASONS = {
    "enough": "the last gains too little to go on",
    "whole": "the kernel matrix has no higher one",
    "rank": "more is not tried",
    "memory": "more does not fit in memory",
    "time": "there is no time for more",
}


def grow(tuner: Tuner, gamma: float, C: float, starts: StartsByGamma, first: Curve | None = None) -> Trials:
    """The loss asked for in low rank, doubled until that gains nothing; ``first`` is the curve in the first rank."""
    n, kernel, evaluator = tuner.n, tuner.gram.kernel, tuner.evaluator
    kernel = kernel if tuner.over is None else kernel.at(tuner.over, gamma)
    begin("rank")
    if len(tuner.evaluators) > 1:  # the loss that is best in the first rank
        compared = in_low_rank(tuner, tuner.evaluators, kernel, (gamma, C), starts)
        evaluator = tuner.evaluators[lowest(*np.transpose([each.lowest() for each in compared]))[0]]
    # The linear kernel has no higher rank than the number of columns.
    d, most = tuner.gram.X.shape[1], limits.MOST_RANK
    if isinstance(kernel, Linear) and n > limits.LAST_FULL_ROWS:
        most = min(max(most, d), 2 * most)
    ranks = doubled(first_rank(tuner), min(most, n))
    if n <= limits.LAST_FULL_ROWS and ranks[-1] < n:
        ranks.append(n)

    def gram_of(rank: int, starts: Starts) -> Gram | None:
        """The kernel matrix with so many landmarks; the full one, if that is not too costly, for as many as rows."""
        doing(f"{evaluator.loss.name} in rank {rank}")
        if rank < n or rank <= limits.MOST_RANK:
            return low_rank(tuner, kernel, rank)
        fits = 24.0 * n**2 <= memory_limit() and _operations(evaluator, starts) <= limits.LAST_FULL_OPERATIONS
        return tuner.gram_at(tuner.gram, gamma) if fits and isinstance(tuner.gram, DenseGram) else None

    def around(C: float) -> Array:
        # With several machines a value of C costs as much as all machines of two classes do.
        return tuner.C.around(C, each_side=int(tuner.is_single))

    # With rule="one_se" the curve that was kept may be that of another gamma.
    is_same = first is not None and first.path.gram.kernel.parameters == kernel.parameters
    grown = double_rank(
        evaluator,
        gram_of,
        C,
        ranks,
        around,
        starts=starts.get(gamma),
        deadline=tuner.deadline,
        gamma=gamma,
        first=first if is_same else None,
    )
    steps = ", ".join(
        f"{stage.rank}: {_score(stage.tried[gamma]):.4g} ({stage.seconds:.2f} s)" for stage in grown.stages
    )
    sentence = f"rank: score of {evaluator.loss.name} by rank, {n} rows: {steps}; {_REASONS[grown.reason]}"
    tuner.log.enter(grown.stages, sentence, f"raising the rank to {grown.stages[-1].rank}")
    trials = Trials(tuner, evaluator.on(grown.curve.path.gram), starts)
    trials.adopt(gamma, grown.curve, grown.paths or [grown.curve.path])  # what is narrowed is one machine
    return trials


def in_low_rank(
    tuner: Tuner, evaluators: Sequence[Evaluator], kernel: Kernel, pair: tuple[float, float], starts: StartsByGamma
) -> list[Trials]:
    """One pair of gamma and C by several losses in the first rank."""
    gram, compared = low_rank(tuner, kernel, first_rank(tuner)), []
    for evaluator in evaluators:
        compared.append(Trials(tuner, evaluator.on(gram), starts))
        compared[-1].visit(*pair)
        compared[-1].enter("compare")
    return compared


def first_rank(tuner: Tuner) -> int:
    """The rank to begin with: less than usual where that would not fit into memory."""
    single = memory_limit() / (4.0 * tuner.n)
    is_single = tuner.n * min(single, limits.FIRST_RANK) > limits.SINGLE_PRECISION_ENTRIES
    return int(np.clip(single if is_single else single / 2.0, 1, limits.FIRST_RANK))


def low_rank(tuner: Tuner, kernel: Kernel, rank: int) -> LowRankGram:
    """A Gram matrix of the same rows in low rank; in single precision if it is large."""
    approximation = Nystroem(rank, "uniform", single=tuner.n * rank > limits.SINGLE_PRECISION_ENTRIES)
    return LowRankGram(kernel, tuner.gram.X, approximation, tuner.seed, tuner.gram.rows)


def _operations(evaluator: Evaluator, starts: Starts) -> float:
    """About how many operations the machines at one C take on the full kernel matrix."""
    if evaluator.loss.is_linear:  # one factor for all machines
        return 4.0 * float(evaluator.problems[0].n) ** 3
    pairs = zip(evaluator.problems, starts, strict=True)
    return float(sum(4.0 * float(each.n if f is None else on_left_side(each.y, f)) ** 3 for each, f in pairs))


@dataclass(frozen=True)
class Grown:
    """A rank that is enough, or the largest that could be had.

    Attributes
    ----------
    curve : Curve
        At the best of the ranks tried.
    paths : list of Path
        Of all its machines; empty if it is the curve that was known already.
    stages : list of Stage
        All ranks tried. A rank is less than the number of landmarks where some are combinations of others.
    reason : {"enough", "whole", "rank", "memory", "time"}
        Why no larger one was tried: the last gained too little, the kernel has no higher rank, there was no other to
        try, or a limit was reached.
    """

    curve: Curve
    paths: list[Path]
    stages: list[Stage]
    reason: str


def double_rank(
    evaluator: Evaluator,
    gram_of: Callable[[int, Starts], Gram | None],
    C: float,
    ranks: Sequence[int],
    around: Callable[[float], Array],
    *,
    starts: Starts | None = None,
    deadline: Deadline,
    gamma: float = NO_GAMMA,
    first: Curve | None = None,
) -> Grown:
    """Go to larger ranks until the held-out score gains less than a quarter of its standard error, or 0.5 % of itself.

    Parameters
    ----------
    evaluator : Evaluator
    gram_of : callable
        The Gram matrix with so many landmarks, such as ``lambda rank, starts: LowRankGram(kernel, X, Nystroem(rank,
        "uniform", single=True), seed)``; the landmarks are then nested. None if it costs too much for machines like
        ``starts``.
    C : float
        The best value so far.
    ranks : sequence of int
        Numbers of landmarks, each twice the one before; as many as rows mean the full matrix.
    around : callable
        The values to try around the best C so far.
    starts : list, optional
        The decision values of each machine on a similar kernel, where they are known.
    deadline : Deadline
        A rank that is expected to end later is not begun.
    gamma : float
        What the stages are entered under.
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
    >>> from svmpath.search import Evaluator
    >>> from svmpath.search.deadline import Deadline
    >>> from svmpath.search.rank import double_rank, doubled
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)); y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=400)
    >>> gram_of = lambda rank, starts: LowRankGram(RBF(1.0), X, Nystroem(rank, "uniform"), seed=0)
    >>> problem = Problem(gram_of(10, []), y, np.ones(400), "regression")
    >>> evaluator = Evaluator([problem], LeastSquares(), criteria.press)
    >>> around = lambda C: C * np.array([0.5, 1.0, 2.0])
    >>> grown = double_rank(evaluator, gram_of, 10.0, doubled(10, 400), around, deadline=Deadline())
    >>> [stage.rank for stage in grown.stages][:4], grown.reason
    ([10, 20, 40, 80], 'enough')
    """
    loss, starts = evaluator.loss, list(starts or [None] * len(evaluator.problems))
    curve, paths, reason = first, list[Path](), "rank"

    def stage_of(curve: Curve, seconds: float) -> Stage:
        tried = {gamma: Scores.of(curve)}
        return Stage(
            "rank", loss.name, curve.criterion, curve.path.gram.rank, tried, seconds, own=dict(loss.fixed_parameters)
        )

    stages = [] if first is None else [stage_of(first, 0.0)]
    for rank in ranks if first is None else ranks[1:]:
        gram = gram_of(rank, starts)
        if gram is None:
            break
        entry = np.dtype(gram.approximation.dtype).itemsize if isinstance(gram, LowRankGram) else 8
        if stages and float(gram.entries * entry) > memory_limit():
            reason = "memory"
            break
        if stages and deadline.is_over(_MORE * stages[-1].seconds):
            reason = "time"
            break
        now = monotonic()
        new, traced = evaluator.traced(gram, around(stages[-1].tried[gamma].best if stages else C), starts)
        at = float(new.values[best_value(new, evaluator.rule)])
        ends = [path.known_decisions(at) for path in traced]
        starts = [f if end is None else end for end, f in zip(ends, starts, strict=True)]
        stages.append(stage_of(new, monotonic() - now))
        *before, score = (_score(stage.tried[gamma]) for stage in stages)
        if curve is None or is_lower([score], [min(before)]):
            curve, paths = new, traced
        if before and before[-1] - score < _least_gain(stages[-1].tried[gamma]):
            reason = "enough"
            break
        if rank == evaluator.problems[0].n or (gram.rank < rank and gram.residual < _NOTHING_LEFT):
            reason = "whole"
            break
    assert curve is not None
    return Grown(curve, paths, stages, reason)


def doubled(rank: int, most: int) -> list[int]:
    """A rank and its doubles, the last one cut off."""
    ranks = [min(rank, most)]
    while ranks[-1] < most:
        ranks.append(min(2 * ranks[-1], most))
    return ranks


def _score(scores: Scores) -> float:
    return float(scores.scores[best_value(scores)])


def _least_gain(scores: Scores) -> float:
    """What the next rank must gain."""
    return max(GAIN * float(scores.standard_errors[best_value(scores)]), _SMALL_GAIN * _score(scores))

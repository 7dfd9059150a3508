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
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

import numpy as np

from svmpath.criteria.curve import Curve, own_parameters
from svmpath.exceptions import PathError
from svmpath.gram import DenseGram, Gram, LowRankGram, Nystroem
from svmpath.gram.memory import memory_limit
from svmpath.kernels import Kernel, Linear
from svmpath.paths import Path
from svmpath.progress import begin, doing
from svmpath.search import limits
from svmpath.search.choice import Scores, Stage, best_value, is_lower, lowest
from svmpath.search.evaluator import Evaluator, Starts
from svmpath.search.full_kernel import Passes, is_scouted_by_search, on_full_kernel, scout, scout_by_search
from svmpath.search.trials import StartsByGamma, Trials, on_left_side
from svmpath.search.tuner import Tuner

Array = np.ndarray

GAIN = 0.25  # standard errors that a doubled rank must gain
_SMALL_GAIN = 0.005  # of the score; with very many rows a standard error is less than anyone cares about
_NOTHING_LEFT = 1e-6  # relative residual of features, perhaps in single precision, that are all of the kernel
_SMOOTHER, _LARGER = 4.0, 30.0  # factors of gamma and of C: where f bends by its second order, C ~ gamma^-2.5
_MORE = 4.0  # times the seconds of a rank that its double takes
_REASONS = {
    "enough": "the last gains too little to go on",
    "whole": "the kernel matrix has no higher one",
    "rank": "more is not tried",
    "memory": "more does not fit in memory",
    "time": "there is no time for more",
    "full": "the full kernel is next, where that is affordable",
}


def grow(
    tuner: Tuner,
    gamma: float,
    C: float,
    starts: StartsByGamma,
    valley: Callable[[float], float],
    first: Curve | None = None,
) -> Trials:
    """The requested loss in low rank, doubled until that gains nothing; or on the full kernel, if that is affordable.

    ``first`` is the curve in the first rank, and ``valley`` about the best C at a gamma.
    """
    kernel, evaluator = tuner.gram.kernel, tuner.evaluator
    kernel = kernel if tuner.over is None else kernel.at(tuner.over, gamma)
    begin("rank")
    if len(tuner.evaluators) > 1:  # the loss that is best in the first rank
        compared = in_low_rank(tuner, tuner.evaluators, kernel, (gamma, C), starts)
        evaluator = tuner.evaluators[lowest(np.array([each.score() for each in compared]))[0]]
    if first is not None and first.path.gram.kernel.parameters != kernel.parameters:
        first = None  # with rule="one_se" the curve that was kept may be that of another gamma
    best, passes = None, Passes(tuner, evaluator.loss)
    grown = double_rank(
        tuner, evaluator, kernel, (gamma, C), starts.get(gamma), first, 1 if passes.left > 0.0 else None
    )
    low = _entered(tuner, evaluator, grown, gamma, starts)
    if passes.left > 0.0:
        passes.restrict(evaluator.problems, [path.known_decisions(low.best()[1]) for path in grown.paths])
        is_next = not is_scouted_by_search(tuner) and is_full_affordable(passes, grown.curve)
        find = scout_by_search if is_scouted_by_search(tuner) else scout
        start = None if is_next else find(tuner, low, passes, valley)
        best = on_full_kernel(tuner, low, passes, valley, start) if is_next or start is not None else None
        is_behind = best is None or (start is not None and is_lower([low.score()], [best.score()]))
        if is_behind and grown.reason == "full":
            more = double_rank(tuner, evaluator, kernel, (gamma, C), starts.get(gamma), before=grown)
            low = _entered(tuner, evaluator, more, gamma, starts, len(grown.stages))
        best = low if best is None or (is_behind and is_lower([low.score()], [best.score()])) else best
    best = best or low
    for other in tuner.evaluators[1:]:
        smooth = smoother(tuner, other, best)
        if smooth is not None:
            trials = _entered(
                tuner, other, double_rank(tuner, other, smooth.evaluator.gram.kernel, smooth.best()), smooth.best()[0]
            )
            best = trials if is_lower([trials.score()], [best.score()]) else best
    return best


def is_full_affordable(passes: Passes, curve: Curve) -> bool:
    """Whether machines on the full kernel are affordable at the best pair of a low rank that is not all of it."""
    gram, C = curve.path.gram, float(curve.values[best_value(curve)])
    return isinstance(gram, LowRankGram) and gram.residual > _NOTHING_LEFT and bool(passes.values(gram, C))


def _entered(
    tuner: Tuner,
    evaluator: Evaluator,
    grown: Grown,
    gamma: float,
    starts: StartsByGamma | None = None,
    known: int = 0,
) -> Trials:
    """The trials of one loss on one kernel by rank, entered in the log but for those stages that are in it already."""
    stages = grown.stages[known:]
    if stages:
        steps = ", ".join(f"{each.rank}: {each.tried[gamma].score:.4g} ({each.seconds:.2f} s)" for each in stages)
        sentence = f"rank: score of {evaluator.loss.name} by rank, {tuner.n} rows: {steps}; {_REASONS[grown.reason]}"
        tuner.log.enter(stages, sentence, f"raising the rank to {stages[-1].rank}")
    trials = Trials(tuner, evaluator.on(grown.curve.path.gram), starts)
    trials.adopt(gamma, grown.curve, grown.paths)
    return trials


class Grown(NamedTuple):
    """A rank that is enough, or the largest that could be had.

    Attributes
    ----------
    curve : Curve
        At the best of the ranks tried.
    paths : list of Path
        Of all its machines.
    stages : list of Stage
        All ranks tried. A rank is less than the number of landmarks where some are combinations of others.
    reason : {"enough", "whole", "rank", "memory", "time", "full"}
        Why no larger one was tried: the last gained too little, the kernel has no higher rank, there was no other to
        try, a limit was reached, or the full kernel is looked at before.
    """

    curve: Curve
    paths: list[Path]
    stages: list[Stage]
    reason: str


def double_rank(
    tuner: Tuner,
    evaluator: Evaluator,
    kernel: Kernel,
    pair: tuple[float, float],
    starts: Starts | None = None,
    first: Curve | None = None,
    most: int | None = None,
    before: Grown | None = None,
) -> Grown:
    """Go to larger ranks until the held-out score gains less than a quarter of its standard error, or 0.5 % of itself.

    Parameters
    ----------
    tuner : Tuner
    evaluator : Evaluator
        One of the tuner's.
    kernel : Kernel
    pair : tuple of two floats
        Gamma and the best C so far.
    starts : list, optional
        The decision values of each machine on a similar kernel, where they are known.
    first : Curve, optional
        The curve at the first rank, if it is known already; of one machine.
    most : int, optional
        How many ranks are tried before the full kernel is looked at.
    before : Grown, optional
        The ranks that were tried already, if this goes on with them.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import criteria
    >>> from svmpath.gram import DenseGram
    >>> from svmpath.kernels import RBF
    >>> from svmpath.losses import LeastSquares, Problem
    >>> from svmpath.search import Evaluator, Tuner
    >>> from svmpath.search.axis import Axis
    >>> from svmpath.search.rank import double_rank
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)); y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=400)
    >>> problem = Problem(DenseGram(RBF(1.0), X), y, np.ones(400), "regression")
    >>> evaluator = Evaluator([problem], LeastSquares(), criteria.press)
    >>> tuner = Tuner([evaluator], Axis(np.array([10.0]), limits=(0.1, 1e3)))
    >>> double_rank(tuner, evaluator, RBF(1.0), (np.nan, 10.0)).reason
    'enough'
    """
    loss, n, (gamma, C) = evaluator.loss, tuner.n, pair
    curve, paths, reason = first, [] if first is None else [first.path], "rank"
    starts = list(starts or [None] * len(evaluator.problems))
    ranks, stages = _ranks(tuner, kernel), list[Stage]()
    if before is not None:
        curve, paths, stages = before.curve, before.paths, list(before.stages)
        starts = [path.known_decisions(stages[-1].tried[gamma].best) for path in paths]

    def enter(curve: Curve, seconds: float) -> None:
        tried = {gamma: Scores.of(curve)}
        rank, own = curve.path.gram.rank, dict(own_parameters(curve))
        stages.append(Stage("rank", loss.name, curve.criterion, rank, tried, seconds, own=own))

    if first is not None and before is None:
        enter(first, 0.0)
    for rank in ranks[len(stages) :]:
        if len(stages) == most:
            reason = "full"
            break
        doing(f"{loss.name} in rank {rank}")
        gram: Gram = low_rank(tuner, kernel, rank) if rank < n or rank <= limits.MOST_RANK else tuner.gram
        if gram is tuner.gram:  # as many landmarks as rows: the full matrix, if that is not too costly
            fits = 24.0 * n**2 <= memory_limit() and _operations(evaluator, starts) <= limits.LAST_FULL_OPERATIONS
            if not fits or not isinstance(gram, DenseGram):
                break
            gram = tuner.gram_at(gram, gamma)
        entry = np.dtype(gram.approximation.dtype).itemsize if isinstance(gram, LowRankGram) else 8
        if stages and float(gram.entries * entry) > memory_limit():
            reason = "memory"
            break
        if stages and tuner.deadline.is_over(_MORE * stages[-1].seconds):
            reason = "time"
            break
        now = monotonic()
        # With several machines a value of C costs as much as all machines of two classes do.
        values = tuner.C.around(stages[-1].tried[gamma].best if stages else C, each_side=int(tuner.is_single))
        new, traced = evaluator.traced(gram, values, starts)
        best = float(new.values[best_value(new, evaluator.rule)])
        ends = [path.known_decisions(best) for path in traced]
        starts = [f if end is None else end for end, f in zip(ends, starts, strict=True)]
        enter(new, monotonic() - now)
        *others, score = (stage.tried[gamma].score for stage in stages)
        if curve is None or is_lower([score], [min(others)]):
            curve, paths = new, traced
        if others and others[-1] - score < _least_gain(stages[-1].tried[gamma]):
            reason = "enough"
            break
        if rank == n or (gram.rank < rank and gram.residual < _NOTHING_LEFT):
            reason = "whole"
            break
    assert curve is not None
    return Grown(curve, paths, stages, reason)


def _ranks(tuner: Tuner, kernel: Kernel) -> list[int]:
    """A rank and its doubles, the last one cut off; then the full matrix, where there are not too many samples."""
    n, most, is_last_full = tuner.n, limits.MOST_RANK, tuner.n <= limits.LAST_FULL_ROWS
    if isinstance(kernel, Linear) and not is_last_full:  # which has no higher rank than the number of columns
        most = min(max(most, tuner.gram.X.shape[1]), 2 * most)
    most = min(most, n)
    ranks = [min(first_rank(tuner), most)]
    while ranks[-1] < most:
        ranks.append(min(2 * ranks[-1], most))
    return [*ranks, n] if is_last_full and most < n else ranks


def _least_gain(scores: Scores) -> float:
    """What a rank must gain."""
    at = best_value(scores)
    return max(GAIN * float(scores.standard_errors[at]), _SMALL_GAIN * float(scores.scores[at]))


def _operations(evaluator: Evaluator, starts: Starts) -> float:
    """About how many operations the machines at one C take on the full kernel matrix."""
    if evaluator.loss.is_linear:  # one factor for all machines
        return 4.0 * float(evaluator.problems[0].n) ** 3
    pairs = zip(evaluator.problems, starts, strict=True)
    return float(sum(4.0 * float(each.n if f is None else on_left_side(each.y, f)) ** 3 for each, f in pairs))


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


def smoother(tuner: Tuner, evaluator: Evaluator, best: Trials) -> Trials | None:
    """A much smaller gamma with a much larger C, if another loss is better there than the best so far, in low rank.

    Least squares wants every sample at its label, and where one class surrounds another it needs a narrow kernel for
    that. A loss with a margin does not: a smooth machine with a large C may be far better, and nothing near the pair of
    least squares shows it. Of smooth kernels a few landmarks know nearly all, so that this costs little.
    """
    is_walk = evaluator.loss.policy.cost_grows_with_span
    is_good = evaluator.scoring is None and best.score() < limits.GOOD
    if tuner.gamma is None or tuner.C.is_fixed or is_walk or is_good or tuner.deadline.is_over():
        return None
    (gamma, C), rank, found = best.best(), min(limits.SMOOTHER_RANK, first_rank(tuner), tuner.n), None
    for power in limits.SMOOTHER:
        pair = tuner.gamma.nearest(gamma / _SMOOTHER**power), tuner.C.nearest(C * _LARGER**power)
        kernel = tuner.gram_at(tuner.gram, pair[0]).kernel
        trials = Trials(tuner, evaluator.on(low_rank(tuner, kernel, rank)))
        with suppress(PathError):
            trials.visit(*pair)
            trials.enter("compare")
            found = trials if is_lower([trials.score()], [(found or best).score()]) else found
        if found is None:  # the smoothest of them, by which the others are judged
            break
    return found


def first_rank(tuner: Tuner) -> int:
    """The rank to begin with: less than usual where that would not fit into memory."""
    single = memory_limit() / (4.0 * tuner.n)
    is_single = tuner.n * min(single, limits.FIRST_RANK) > limits.SINGLE_PRECISION_ENTRIES
    return int(np.clip(single if is_single else single / 2.0, 1, limits.FIRST_RANK))


def low_rank(tuner: Tuner, kernel: Kernel, rank: int) -> LowRankGram:
    """A Gram matrix of the same rows in low rank; in single precision if it is large."""
    approximation = Nystroem(rank, "uniform", single=tuner.n * rank > limits.SINGLE_PRECISION_ENTRIES)
    return LowRankGram(kernel, tuner.gram.X, approximation, tuner.seed, tuner.gram.rows)

"""The search that is done by default: screen, narrow, confirm.

1. **Screen.** Least squares on a few landmarks scores gamma over a factor of 65 000 and C over nine decades
   (``search.screen``), then the two values next to the best gamma. If the best is at an end, the range is widened.
   For two classes, narrow kernels of which the landmarks miss much are looked at again with more of them.
2. **Narrow** (more than 700 samples). The best gammas, and twice the best, which a low rank makes look worse than it
   is, are scored on all rows in a low rank; by the squared hinge for two classes, by least squares otherwise.
3. **Confirm.** The requested loss, on the requested kernel, decides. For two classes up to 700 samples, and for losses
   with an elbow, it is followed over C around the best value at each of the best gammas; the squared hinge also at a
   much smaller gamma with a larger C. Otherwise a descent goes from the best pair to better neighbours, as long as
   there are any and the work is within its budget.

With many samples the rank is doubled instead, and the full matrix may be the last (``search.rank``); where the rank is
not enough, pairs are compared on the full kernel (``search.full_kernel``). If rows are to be held out together, they
are in all stages.

Where the best value of C is the last one tried, more are tried, and so for gamma. Every pair tried is kept, with its
score and its stage. The limits stand in ``search.limits``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutCurve
from svmpath.criteria.table import make_criterion
from svmpath.exceptions import PathError
from svmpath.gram.memory import memory_limit
from svmpath.losses import make_loss
from svmpath.progress import begin
from svmpath.search import limits
from svmpath.search.axis import Axis, is_among
from svmpath.search.choice import Choice, Scores, best_value, is_lower, ordered
from svmpath.search.evaluator import Evaluator
from svmpath.search.log import NO_GAMMA
from svmpath.search.pairs import pairs_or_rest
from svmpath.search.rank import first_rank, grow, in_low_rank, low_rank, smoother
from svmpath.search.rival import hinge_or_squared, is_worth_it
from svmpath.search.screen import Screen
from svmpath.search.trials import StartsByGamma, Trials, on_left_side
from svmpath.search.tuner import Tuned, Tuner

Array = np.ndarray


class Shortlist(NamedTuple):
    """What remains to be confirmed.

    Attributes
    ----------
    scores : dict
        The scores over C at each gamma, of the last stage.
    promised : float
        The held-out score that the screen saw, in units of the task.
    far : float or None
        The best gamma that is far from the best of all.
    starts : dict
        By gamma, decision values of each machine, as far as they are known.
    curve : Curve or None
        Of the best gamma in the first rank, if it is by the requested loss and criterion.
    """

    scores: Mapping[float, Scores]
    starts: StartsByGamma
    curve: Curve | None = None
    promised: float = np.inf
    far: float | None = None


def screen_narrow_confirm(tuner: Tuner) -> Tuned:
    """The choice of the default search."""
    is_one_kernel = tuner.gamma is None and tuner.C.is_fixed
    if is_one_kernel and len(tuner.evaluators) == 1:
        return only_pair(tuner)
    if is_one_kernel:  # there is only a loss to choose
        zero = np.zeros(1)
        shortlist = Shortlist({NO_GAMMA: Scores(tuner.C.values, zero, zero, zero)}, {})
    else:
        screened = screen(tuner)
        is_narrow = tuner.size <= limits.UNNARROWED_ROWS or is_zero(tuner) or tuner.deadline.is_over()
        shortlist = Shortlist(screened.tried, {}) if is_narrow else narrow(tuner, screened)
        best = screened.best()[0]
        shortlist = shortlist._replace(promised=screened.promised[best], far=screened.far(best))
    gamma = ordered(shortlist.scores)[0]
    if is_full_matrix(tuner, shortlist.starts, gamma):
        return compare(tuner, confirm(tuner, shortlist), shortlist.scores).result()
    C, C_at = shortlist.scores[gamma].best, valley(tuner, shortlist.scores)
    return grow(tuner, gamma, C, shortlist.starts, C_at, shortlist.curve).result()


def only_pair(tuner: Tuner) -> Tuned:
    """The machines at the only pair; their held-out error is computed when it is asked for."""
    C, evaluator, starts = float(tuner.C.values[0]), tuner.evaluator, {}
    is_hinge = tuner.is_binary and evaluator.loss.is_inside_margin and evaluator.gram.Z is None
    if is_hinge and limits.UNNARROWED_ROWS < tuner.size <= limits.MOST_FULL_ROWS:
        low = stand_in(tuner)
        (quick,) = low.paths(low.gram, (C, C))
        starts = {NO_GAMMA: [quick.decisions(tuner.C.values)[0]]}
    if not is_full_matrix(tuner, starts, NO_GAMMA):
        return grow(tuner, NO_GAMMA, C, starts, lambda gamma: C).result()
    paths = evaluator.paths(evaluator.gram, (C, C), None, starts.get(NO_GAMMA))
    return Tuned(Choice(evaluator.later(paths, tuner.C.values), 0, evaluator.rule, {}, ()), evaluator, paths)


def screen(tuner: Tuner) -> Screen:
    """Least squares on landmarks, at all values of C and many of gamma."""
    begin("screen", 1 if tuner.gamma is None else len(tuner.gamma.values) + 2)  # and the two next to the best
    targets, C = tuner.evaluator.targets, tuner.C.values
    screened = Screen(targets, C, tuner.over, tuner.seed, folds=tuner.folds, unit=tuner.unit)
    screened.look(tuner.gamma, tuner.n_jobs, tuner.deadline)
    landmarks = min(limits.CLOSER_LANDMARKS, len(screened.rows))
    is_good = not tuner.is_binary or screened.promised[screened.best()[0]] < limits.GOOD
    unknown = screened.unknown() if len(screened.landmarks) < landmarks and not is_good else []
    if unknown and not tuner.deadline.is_over():
        rows, problems = limits.SCREENED_ROWS, tuner.evaluator.problems
        closer = Screen(problems, tuner.C.values, tuner.over, tuner.seed, rows, landmarks, tuner.folds)
        screened.look_closer(closer, unknown)
    screened.enter("screen", tuner.log)
    if screened.task == "regression" and tuner.gamma is not None:
        screened.leave_corner()
    return screened


def narrow(tuner: Tuner, screened: Screen) -> Shortlist:
    """The best gammas on all rows, in low rank."""
    gammas, evaluator = screened.best(), tuner.evaluator
    larger = [] if tuner.gamma is None else tuner.gamma.neighbours(gammas[0])[:1]
    far = screened.far(gammas[0])
    far = far if far is not None and is_close(screened.tried, far, gammas[0], 3.0) else None
    gammas = gammas[: limits.NARROWED_GAMMAS]
    gammas += [each for each in (*larger, far) if each is not None and not is_among(each, gammas)]
    begin("narrow", len(gammas))
    if not tuner.is_binary:  # least squares on more landmarks and rows
        rows, landmarks = limits.NARROWED_ROWS, first_rank(tuner)
        targets, C = evaluator.targets, tuner.C.values
        screened = Screen(targets, C, tuner.over, tuner.seed, rows, landmarks, tuner.folds, tuner.unit)
        axis = None if tuner.gamma is None else replace(tuner.gamma, values=np.sort(gammas))
        screened.look(axis, tuner.n_jobs, tuner.deadline, wide=False)
        screened.enter("narrow", tuner.log)
        return Shortlist(screened.tried, {})
    trials = Trials(tuner, stand_in(tuner))
    trials.follow({gamma: screened.best_C(gamma) for gamma in gammas}, len(gammas))
    trials.enter("narrow")
    is_requested = type(evaluator.loss) is type(trials.evaluator.loss)
    is_requested = is_requested and evaluator.criterion is trials.evaluator.criterion
    curve = trials.best_curve()
    is_requested = is_requested and curve.path.gram.rank == first_rank(tuner)
    return Shortlist(trials.tried, trials.ends, curve if is_requested else None)


def stand_in(tuner: Tuner) -> Evaluator:
    """The squared hinge in low rank, with the folds of the criterion or by the span prediction."""
    gram = tuner.gram
    if gram.Z is None or gram.rank > 2 * limits.FIRST_RANK:
        gram = low_rank(tuner, gram.kernel, min(first_rank(tuner), tuner.n // 2))
    criterion = make_criterion("span") if tuner.folds is None else tuner.evaluator.criterion
    return replace(tuner.evaluator.on(gram), loss=make_loss(None, "classification"), criterion=criterion, tol=None)


def confirm(tuner: Tuner, shortlist: Shortlist) -> Trials:
    """The requested loss, at the best gammas and one far from them, or from the best pair on.

    If no machine is as good as the screen promised, up to two standard errors, others of its gammas are tried.
    """
    trials, scores = Trials(tuner, tuner.evaluator, shortlist.starts), shortlist.scores
    order, far, axis = ordered(scores), shortlist.far, tuner.gamma
    begin("confirm")
    is_walk = tuner.evaluator.loss.policy.cost_grows_with_span
    is_followed = is_walk or (tuner.is_binary and tuner.size <= limits.UNNARROWED_ROWS)

    def look(gammas: Sequence[float], most: int = 1) -> None:
        if is_followed:
            trials.follow({gamma: scores[gamma].best for gamma in gammas}, len(trials.tried) + most)
        elif not trials.tried:
            trials.descend(gammas[0], valley(tuner, scores), jumps=not tuner.is_binary)
        else:
            with suppress(PathError):  # there are others
                trials.visit(gammas[0], tuner.C.nearest(scores[gammas[0]].best))
                if trials.best()[0] == gammas[0]:
                    trials.descend(gammas[0], valley(tuner, scores), jumps=False)

    look(order, limits.CONFIRMED_GAMMAS)
    if tuner.deadline.is_over():
        far, order = None, []
    if axis is not None and far is not None and far in scores and not is_among(far, trials.tried):
        if is_close(scores, far, order[0], 3.0) and is_followed and not is_walk:
            gamma, C = smoother_pair(axis, trials)
            is_next = trials.score() >= limits.GOOD and abs(np.log(far / gamma)) <= np.log(axis.step)
            if not (is_next and scores[far].best >= C):  # else it is looked at below, from a smaller C on
                trials.explore(far, scores[far].best)
        elif is_close(scores, far, order[0]):
            look([far])
    for gamma in [each for each in order if not is_among(each, trials.tried)][: limits.BROKEN_PROMISES]:
        curve = trials.best_curve()
        is_promised = isinstance(curve, HeldOutCurve) and curve.scoring is None and curve.is_plain
        if not is_promised or trials.score() <= shortlist.promised + 2.0 * curve.standard_error(best_value(curve)):
            break
        look([gamma])
    if is_followed and not is_walk and axis is not None and not tuner.deadline.is_over():
        # Least squares, by which gammas are shortlisted, wants a narrower kernel than losses with a margin.
        smooth, C = smoother_pair(axis, trials)
        if trials.score() >= limits.GOOD and not is_among(smooth, trials.tried):
            trials.explore(smooth, C)
    trials.enter("confirm")
    return trials


def smoother_pair(axis: Axis, trials: Trials) -> tuple[float, float]:
    """A much smaller gamma than the best, and the least C there."""
    gamma, C = trials.best()
    return axis.nearest(gamma / limits.SMOOTHER_CONFIRMED), limits.SMOOTHER_CONFIRMED * C


def is_close(scores: Mapping[float, Scores], gamma: float, best: float, errors: float = 1.0) -> bool:
    """Whether a gamma is within so many standard errors of the best."""
    low, other = scores[best], scores[gamma]
    return other.lowest[0] <= low.lowest[0] + errors * low.standard_error(best_value(low))


def valley(tuner: Tuner, scores: Mapping[float, Scores]) -> Callable[[float], float]:
    """About the best C at a gamma: as far as the last scores go, and beyond as on the screen."""

    def C_at(gamma: float) -> float:
        if gamma in scores or tuner.gamma is None:
            return scores[gamma].best
        screened = tuner.log.stages[0].tried
        nearest = min(scores, key=lambda each: abs(np.log(each / gamma)))
        known = np.log([(each, screened[each].best) for each in sorted(screened)]).T
        shift = np.interp(np.log([gamma, nearest]), *known)
        return scores[nearest].best * float(np.exp(shift[0] - shift[1]))

    return C_at


def compare(tuner: Tuner, best: Trials, scores: Mapping[float, Scores]) -> Trials:
    """The best of several losses, the others from the pair of the first on; then pairs of classes."""
    if tuner.is_binary:
        return hinge_or_squared(tuner, best)
    (gamma, C), gram = best.best(), best.evaluator.gram  # in the rank that is enough
    others: Sequence[Evaluator] = tuner.evaluators[1:]
    starts = {gamma: [path.known_decisions(C) for path in best.machines()]} if others else {}
    for evaluator in others:
        if tuner.deadline.is_over():
            break
        begin("compare")
        full = best.best_curve().path.gram
        is_quick = tuner.size <= limits.UNNARROWED_ROWS or full.Z is not None
        smooth = smoother(tuner, evaluator, best)
        if smooth is not None and (is_quick or is_worth_it(smooth.best_curve(), best.best_curve())):
            trials, (first, C_first) = Trials(tuner, evaluator.on(gram)), smooth.best()
            with suppress(PathError):
                trials.descend(first, valley(tuner, scores), jumps=False, C=C_first)
                trials.enter("compare")
                best = trials if is_lower([trials.score()], [best.score()]) else best
        if not is_quick and not evaluator.loss.policy.cost_grows_with_span:
            # Is it worth the full kernel matrix? If it gains a lot in low rank.
            pair = in_low_rank(tuner, [tuner.evaluator, evaluator], full.kernel, (gamma, C), starts)
            one, other = (each.best_curve() for each in pair)
            if not is_worth_it(other, one):
                continue
        trials = Trials(tuner, evaluator.on(gram), starts)
        with suppress(PathError):  # there are others
            trials.compare(gamma, C, best)
            is_free = is_quick and tuner.gamma is not None and not evaluator.loss.policy.cost_grows_with_span
            if is_free and is_lower([trials.score()], [best.score()]):
                trials.descend(gamma, valley(tuner, scores), jumps=False, C=trials.best()[1])
            trials.enter("compare")
            best = trials if is_lower([trials.score()], [best.score()]) else best
    is_several = not tuner.is_single and len(tuner.evaluators) > 1  # classes, whose machines may be of any loss
    return pairs_or_rest(tuner, best, valley(tuner, scores)) if is_several else best


def is_full_matrix(tuner: Tuner, starts: StartsByGamma, gamma: float) -> bool:
    """Whether the kernel matrix is used as it is: its rank is given, or the full matrix is affordable."""
    if not tuner.is_rank_free or is_zero(tuner):
        return True
    if 24.0 * tuner.size**2 > memory_limit():
        return False
    if tuner.size <= limits.FULL_ROWS:
        return True
    (f, *_), left_side = starts.get(gamma) or [None], tuner.size
    if f is not None and tuner.is_binary and tuner.evaluator.loss.is_inside_margin:
        left_side = on_left_side(tuner.evaluator.problems[0].y, f)
    return tuner.size <= limits.MOST_FULL_ROWS and 4.0 * left_side**3 <= limits.FULL_OPERATIONS


def is_zero(tuner: Tuner) -> bool:
    """Whether the kernel is zero on all rows, as the linear one of columns of zeros: it has no landmarks."""
    gram = tuner.gram
    return gram.kernel.psd is True and not gram.kernel.pairwise and not gram.kernel.diag(gram.X).any()

"""Machines of one loss at pairs of C and gamma: what was tried, what is best, and what to try next.

Two ways: paths over C around a value at each of several gammas, made longer where the best value is an end; and a
descent from one pair to better neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from svmpath.criteria.curve import Curve, own_parameters
from svmpath.exceptions import PathError
from svmpath.paths import Path
from svmpath.progress import best_so_far, doing, part_done
from svmpath.search import limits
from svmpath.search.choice import (
    Choice,
    Scores,
    Stage,
    best_pair,
    best_value,
    falls_at_end,
    is_lower,
    lowest_over_gamma,
)
from svmpath.search.evaluator import Evaluator, Starts
from svmpath.search.log import pair_text, where_text
from svmpath.search.tuner import Tuned, Tuner

Array = np.ndarray
StartsByGamma = Mapping[float, Starts]

_HALF_WIDTH = 1  # values of C on either side of the first
_BEHIND = 0.5  # standard errors from the best of others, or the one before, with which a pair is clearly behind
_FAR = 64.0  # factor from a gamma at which a path fails, for rows being too much alike, to the next that is tried
_DESCENT = 10**0.5  # factor from one C to the next in a descent
_JUMP = 4.0  # factor from one gamma to a much larger one
_SHORT_LIST = 5  # candidates for C that are all scored
_COARSE = 30.0  # factor from one C to the next where nothing is known
_MOST_STEPS = 3  # at most so many steps from one C to the next


class Trials:
    """Scores of the machines of one loss at pairs of C and gamma.

    Parameters
    ----------
    tuner : Tuner
        The values that may be tried, and until when.
    evaluator : Evaluator
        The machines; one of the tuner's, perhaps on another kernel matrix.
    starts : dict
        By gamma, decision values of each machine on a similar kernel, to start from.

    Attributes
    ----------
    tried : dict
        The scores over C at each gamma.
    ends : dict
        By gamma, the decision values of each machine at its best C.
    """

    def __init__(self, tuner: Tuner, evaluator: Evaluator, starts: StartsByGamma | None = None) -> None:
        self.tuner, self.evaluator, self._starts = tuner, evaluator, starts or {}
        self._clock = time.perf_counter()
        self.ends: dict[float, Starts] = {}
        self.tried: dict[float, Scores] = {}
        self._curves: dict[float, Curve] = {}
        self._paths: dict[float, list[Path]] = {}  # the last gamma's last; as many as memory allows

    # --- what it finds -----------------------------------------------------------------------------------------------

    def best(self) -> tuple[float, float]:
        """The best pair of gamma and C."""
        gamma, index = best_pair(self.tried, self.evaluator.rule)
        return gamma, float(self.tried[gamma].values[index])

    def score(self) -> float:
        """The score of the best pair."""
        return self.tried[best_pair(self.tried)[0]].score

    def enter(self, name: str) -> None:
        """Enter these trials in the log as a stage."""
        (gamma, C), tried, loss = self.best(), self.tried, self.evaluator.loss
        if name in ("narrow", "scout"):  # a stand-in, between whose machines nothing is chosen in the end
            tried = {each: scores.without_losses() for each, scores in tried.items()}
        curve, seconds = self.best_curve(), time.perf_counter() - self._clock
        own = dict(own_parameters(curve))
        stage = Stage(name, loss.name, curve.criterion, curve.path.gram.rank, tried, seconds, own=own)
        self.tuner.log.add(stage, self.evaluator.problems[0].n, f"{pair_text(gamma, C)}, score {self.score():.4g}")

    def machines(self) -> list[Path]:
        """The paths of all machines at the best gamma."""
        gamma, _ = self.best()
        return self._paths.get(gamma) or self._paths_at(gamma, self.tried[gamma].values)

    def result(self) -> Tuned:
        """The choice among all that was tried, and its machines."""
        tuner, (gamma, C) = self.tuner, self.best()
        curve = self.best_curve().in_order()
        index = int(np.argmin(np.abs(np.log(curve.values / C))))
        edges = ("C",) if tuner.C.is_end(float(curve.values[index])) else ()
        if tuner.gamma is not None and tuner.gamma.is_end(gamma):
            edges = (*edges, str(tuner.over))
        kept = {} if tuner.gamma is None else {each: self.tried[each] for each in sorted(self.tried)}
        choice = Choice(curve, index, self.evaluator.rule, kept, edges, tuple(tuner.log.stages))
        return Tuned(choice, self.evaluator, self.machines())

    def best_curve(self) -> Curve:
        """The curve at the best gamma."""
        gamma, _ = self.best()
        curve, values = self._curves.get(gamma), self.tried[gamma].values
        if curve is None or not np.isin(values, curve.values).all():  # dropped when another kernel scored better
            self._paths.pop(gamma, None)
            curve = self._scored(gamma, values)
        return curve

    # --- paths over C ------------------------------------------------------------------------------------------------

    def adopt(self, gamma: float, curve: Curve, paths: list[Path]) -> None:
        """Take over a curve at a gamma, with the paths of its machines."""
        self._paths[gamma] = paths
        self._keep(gamma, curve)

    def compare(self, gamma: float, C: float, others: Trials) -> None:
        """One pair, and those around it unless that is clearly behind the best of others."""
        curve = self._scored(gamma, self.tuner.C.around(C, 0))
        self._keep(gamma, curve)
        bar = others.score() + _BEHIND * curve.standard_errors[0]
        if curve.scores[0] <= bar and not self.tuner.deadline.is_over():
            self._follow(gamma, C)

    def follow(self, around: Mapping[float, float], most: int) -> None:
        """Paths over C around a value at the first gammas that can be followed; and beyond, where the best is an end.

        On some kernels, such as a nearly constant one of contradictory rows, a path can fail where others do not.
        """
        failure, least, axis, deadline = None, 0.0, self.tuner.gamma, self.tuner.deadline
        is_first = not self.tried
        for gamma, C in around.items():
            if gamma < least:
                continue
            if self.tried and (len(self.tried) == most or deadline.is_over()):
                break
            try:
                self._follow(gamma, C)
            except PathError as error:
                failure, least = error, _FAR * gamma
        if failure is not None and not self.tried:
            raise failure
        with suppress(PathError):
            for _ in range(limits.PATH_WIDENINGS if axis is not None and is_first else 0):
                gamma, C = self.best()
                beyond = axis.beyond(gamma, list(self.tried)) if axis is not None else None
                if beyond is None or not falls_at_end(lowest_over_gamma(self.tried)) or deadline.is_over():
                    break
                self._follow(beyond, C)

    def explore(self, gamma: float, C: float) -> None:
        """A gamma far from the others, from C to much larger values; a path around the best, if it is better than all.

        Where gamma is small, least squares, from which C is known, wants a smaller one than losses with a margin. The
        values end where a score is clearly worse than at the one before, as larger ones would be.
        """
        with suppress(PathError):
            values = np.unique([self.tuner.C.nearest(each) for each in C * _COARSE ** np.arange(3.0)])
            curve = self._scored(gamma, values[:1])
            low = Scores.of(curve).lowest[0]
            for value in values[1:]:
                new = Scores.of(added := self._scored(gamma, np.array([value])))
                curve, before, low = curve.joined(added), low, new.lowest[0]
                if low > before + _BEHIND * new.standard_error(0):
                    break
            scores = Scores.of(curve)
            if is_lower(scores.lowest, min(each.lowest for each in self.tried.values())):
                self._follow(gamma, scores.best)

    def _follow(self, gamma: float, C: float) -> None:
        """A path over C, made longer while its best value is an end."""
        axis, is_long = self.tuner.C, self.evaluator.loss.policy.cost_grows_with_span
        is_short = axis.limits is None and len(axis.values) <= _SHORT_LIST and not is_long
        curve = self._scored(gamma, axis.values if is_short else axis.around(C, _HALF_WIDTH))
        for turn in range(limits.PATH_WIDENINGS if is_long else limits.C_WIDENINGS):
            best = float(curve.values[best_value(curve)])
            beyond = axis.beyond(best, curve.values.tolist(), times=1 if is_long else min(turn + 1, _MOST_STEPS))
            if beyond is None or not falls_at_end(Scores.of(curve)) or self.tuner.deadline.is_over():
                break
            curve = curve.joined(self._scored(gamma, np.array([beyond])))
            if is_long:  # else the path goes everywhere
                span = float(curve.values.min()), float(curve.values.max())
                self._paths[gamma] = [path.over_span(span) for path in self._paths[gamma]]
                curve = replace(curve, path=self._paths[gamma][0])
        self._keep(gamma, curve)

    def _keep(self, gamma: float, curve: Curve) -> None:
        """Keep the scores of a curve, and decision values to start from; of matrices what memory allows."""
        self.tried[gamma] = Scores.of(curve)
        self._curves[gamma] = curve
        best_so_far(f"{pair_text(*self.best())}, score {self.score():.4g}")
        if not self.evaluator.loss.is_linear:  # where a start saves nothing
            best = float(curve.values[best_value(curve)])
            self.ends[gamma] = [path.known_decisions(best) for path in self._paths[gamma]]
        if len(self._paths) * curve.path.problem.gram.entries > limits.KEPT_ENTRIES:
            kept = {gamma, self.best()[0]}
            self._curves = {each: self._curves[each] for each in self._curves if each in kept}
            self._paths = {each: self._paths[each] for each in self._paths if each in kept}

    # --- a descent ---------------------------------------------------------------------------------------------------

    def descend(
        self,
        gamma: float,
        valley: Callable[[float], float],
        jumps: bool,
        C: float | None = None,
        most: int = limits.DESCENT_PAIRS,
    ) -> None:
        """From one pair to better neighbours.

        ``valley`` is about the best C at a gamma: where gamma moves, C moves in proportion to it. With ``jumps`` much
        larger gammas are tried, too, as there may be another valley. Begins with ``C``, if it is given. No more than
        ``most`` pairs are looked at, nor more than the budget allows.
        """
        place = gamma, self.tuner.C.nearest(valley(gamma) if C is None else C)
        known = {place: self.visit(*place)}
        most = int(np.clip(limits.DESCENT_OPERATIONS / self._operations(), 1, most))
        is_better = True
        while is_better:
            is_better = False
            for pair in self.neighbours(*place, valley, jumps):
                if pair in known:
                    continue
                if len(known) >= most or self.tuner.deadline.is_over():
                    return
                known[pair] = self.visit(*pair)
                if is_lower(known[pair], known[place], np.max(list(known.values()), axis=0).tolist()):
                    place, is_better = pair, True
                    break

    def neighbours(
        self, gamma: float, C: float, valley: Callable[[float], float], jumps: bool
    ) -> list[tuple[float, float]]:
        """The pairs next to a pair, those with a larger gamma or C first: a low rank makes these look worse."""
        axis, along_C = self.tuner.gamma, [(gamma, each) for each in self.tuner.C.neighbours(C, _DESCENT)]
        if axis is None:
            return along_C
        steps = [(1, None), (-1, None), *([(1, _JUMP)] if jumps else [])]
        gammas = [axis.next(gamma, direction, step) for direction, step in steps]
        pairs = [None if g is None else (g, self.tuner.C.nearest(C * valley(g) / valley(gamma))) for g in gammas]
        larger, smaller, *far = pairs
        return [pair for pair in (larger, *along_C[:1], *far, *along_C[1:], smaller) if pair is not None]

    def visit(self, gamma: float, C: float) -> tuple[float, float]:
        """The score of a pair, and what breaks ties."""
        known = self.tried.get(gamma)
        if known is not None and C in known.values:
            at = int(np.flatnonzero(known.values == C)[0])
            return float(known.decisive[at]), float(known.smooth[at])
        return Scores.of(self.look(gamma, np.array([C]))).lowest

    def look(self, gamma: float, values: Array) -> Curve:
        """The curve at some values of C, which are kept beside those known at this gamma."""
        curve = self._scored(gamma, values)
        before, known = self._curves.get(gamma), self.tried.get(gamma)
        self._keep(gamma, curve if before is None else before.joined(curve))
        if before is None and known is not None:  # the curve was dropped, its scores are not
            self.tried[gamma] = known.and_of(curve)
        return curve

    def _operations(self) -> float:
        """About how many operations a pair takes."""
        paths = [*self._paths.values()][-1]
        problem = paths[0].problem
        n, rank = problem.n, problem.gram.rank
        if problem.gram.Z is not None:
            return 4.0 * n * rank**2 * len(paths)
        if problem.gram.is_clipped:  # which decides, whatever the loss
            return 15.0 * n**3
        if self.evaluator.loss.is_linear:
            return 1.0 * n**3
        ends = [*self.ends.values()][-1]
        left_side = [
            len(each.problem.active) if f is None else on_left_side(each.problem.y, f, each.problem.s)
            for each, f in zip(paths, ends, strict=True)
        ]
        return float(sum(20.0 * size**3 + 60.0 * n * n for size in left_side))

    # --- machines ----------------------------------------------------------------------------------------------------

    def _scored(self, gamma: float, values: Array) -> Curve:
        """The curve at some values of C."""
        doing(f"{self.evaluator.loss.name} {where_text(gamma, values)}")
        curve = self.evaluator.curve(self._paths_at(gamma, values), values)
        part_done()
        return curve

    def _paths_at(self, gamma: float, values: Array) -> list[Path]:
        """The paths of all machines at a gamma, which start from those at a similar one."""
        walks, C = self.evaluator.loss.policy.cost_grows_with_span, self.tuner.C
        if not walks and gamma in self._paths:
            return self._paths[gamma]
        low, high = float(values.min()), float(values.max())
        if not walks:  # a longer span costs nothing
            first, last = C.limits or (float(C.values[0]), float(C.values[-1]))
            low, high = min(low, first), max(high, last)
        last_ends = [*self.ends.values()][-1:]  # those at the last gamma
        starts = self.ends.get(gamma) or self._starts.get(gamma) or (last_ends[0] if last_ends else None)
        paths = self.evaluator.paths(self.tuner.gram_at(self.evaluator.gram, gamma), (low, high), None, starts)
        for before in [*self._paths.values()][-1:]:
            paths = [new.start_from(old) for new, old in zip(paths, before, strict=True)]
        self._paths.pop(gamma, None)  # so that it becomes the last
        self._paths[gamma] = paths
        return paths


def on_left_side(y: Array, f: Array, s: Array | None = None) -> int:
    """How many samples are on the left of the margin; with weights, of those that have one."""
    return int(np.count_nonzero((y * f < 1.0) & (True if s is None else s > 0)))

"""Machines of one loss at pairs of C and gamma: what was tried, what is best, and what to try next.

Two ways: paths over C around a value at each of several gammas, made longer where the best value is an end; and a
descent from one pair to better neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.exceptions import PathError
from svmpath.gram import Gram
from svmpath.paths import Path
from svmpath.progress import best_so_far, doing, part_done
from svmpath.search.axis import Axis
from svmpath.search.choice import RANKED, Choice, Scores, best_pair, best_value, is_lower, ranks
from svmpath.search.deadline import Deadline
from svmpath.search.grid import Search

Array = np.ndarray
StartsByGamma = Mapping[float, list[Array | None]]  # decision values of each machine

_HALF_WIDTH = 1  # values of C on either side of the first
_MOST_WIDER = 2  # times that values beyond an end are tried
_ENOUGH = 0.25  # of a standard error: a smaller gain does not show that values beyond would be better
_BEHIND = 0.5  # standard errors from the best of others, with which a first pair is clearly behind
_FAR = 64.0  # factor from a gamma at which a path fails, for rows being too much alike, to the next that is tried
_DESCENT = 10**0.5  # factor from one C to the next in a descent
_JUMP = 4.0  # factor from one gamma to a much larger one
_DESCENT_BUDGET = 4e10  # operations of a descent
_MOST_STEPS = 8  # machines of a descent
_MOST_HELD = 5e7  # entries of the kernel matrices that a descent may keep


class Trials:
    """Scores of the machines of a search at pairs of C and gamma.

    Parameters
    ----------
    search : Search
    C, gamma : Axis
        The values that may be tried; ``gamma`` is None if the kernel stays as it is.
    deadline : Deadline
        After which nothing new is begun.
    starts : dict
        By gamma, decision values of each machine on a similar kernel, to start from.

    Attributes
    ----------
    tried : dict
        The scores over C at each gamma.
    ends : dict
        By gamma, the decision values of each machine at its best C.
    """

    def __init__(self, search: Search, C: Axis, gamma: Axis | None, deadline: Deadline, starts: StartsByGamma) -> None:
        self.search, self._C, self._gamma, self._deadline, self._starts = search, C, gamma, deadline, starts
        self.start = time.perf_counter()
        self.ends: dict[float, list[Array | None]] = {}
        self.tried: dict[float, Scores] = {}
        self._curves: dict[float, Curve] = {}
        self._paths: dict[float, list[Path]] = {}  # the last gamma's last; as many as memory allows

    # --- what it finds -----------------------------------------------------------------------------------------------

    def best(self) -> tuple[float, float]:
        """The best pair of gamma and C."""
        gamma, index = best_pair(self.tried, self.search.rule)
        return gamma, float(self.tried[gamma].values[index])

    def lowest(self) -> tuple[float, float]:
        """The lowest score, and what breaks ties."""
        gamma, index = best_pair(self.tried)
        return float(self.tried[gamma].scores[index]), float(self.tried[gamma].smooth[index])

    @property
    def criterion(self) -> str:
        """What the scores are."""
        return self.best_curve().criterion

    @property
    def rank(self) -> int:
        """The rank of the kernel matrix of the best pair."""
        return int(self.best_curve().path.problem.gram.rank)

    def machines(self) -> list[Path]:
        """The paths of all machines at the best gamma."""
        gamma, _ = self.best()
        return self._paths.get(gamma) or self._paths_at(gamma, self.tried[gamma].values)

    def choice(self, stages: Any) -> Choice:
        """The choice among all that was tried."""
        gamma, C = self.best()
        curve = self._curve(gamma).in_order()
        index = int(np.argmin(np.abs(np.log(curve.values / C))))
        edges = ("C",) if self._C.is_end(float(curve.values[index])) else ()
        if self._gamma is not None and self._gamma.is_end(gamma):
            edges = (*edges, str(self.search.over))
        kept = {} if self._gamma is None else {each: self.tried[each] for each in sorted(self.tried)}
        return Choice(curve, index, self.search.rule, kept, edges, stages)

    def best_curve(self) -> Curve:
        """The curve at the best gamma."""
        return self._curve(self.best()[0])

    def _curve(self, gamma: float) -> Curve:
        curve, values = self._curves.get(gamma), self.tried[gamma].values
        if curve is None or not np.isin(values, curve.values).all():  # dropped when another kernel scored better
            self._paths.pop(gamma, None)
            curve = self._scored(gamma, values)
        return curve

    # --- paths over C ------------------------------------------------------------------------------------------------

    def adopt(self, gamma: float, curve: Curve, paths: list[Path]) -> None:
        """Take over a curve at a gamma, with the paths of its machines."""
        self._paths[gamma] = paths
        self._enter(gamma, curve)

    def compare(self, gamma: float, C: float, with_: Trials) -> None:
        """One pair, and those around it unless that is clearly behind the best of others."""
        curve = self._scored(gamma, self._C.around(C, 0))
        self._enter(gamma, curve)
        if curve.scores[0] <= with_.lowest()[0] + _BEHIND * curve.standard_errors[0] and not self._deadline.is_over():
            self._follow(gamma, C)

    def follow(self, around: Mapping[float, float], most: int) -> None:
        """Paths over C around a value at the first gammas that can be followed; and beyond, where the best is an end.

        On some kernels, such as a nearly constant one of contradictory rows, a path can fail where others do not.
        """
        failure, least = None, 0.0
        for gamma, C in around.items():
            if gamma < least:
                continue
            if self.tried and (len(self.tried) == most or self._deadline.is_over()):
                break
            try:
                self._follow(gamma, C)
            except PathError as error:
                failure, least = error, _FAR * gamma
        if failure is not None and not self.tried:
            raise failure
        with suppress(PathError):
            self._go_beyond(_MOST_WIDER if self._gamma is not None else 0)

    def _go_beyond(self, times: int) -> None:
        """Paths at further gammas, while the best is an end."""
        for _ in range(times):
            gamma, C = self.best()
            assert self._gamma is not None
            beyond = self._gamma.beyond(gamma, list(self.tried))
            if beyond is None or not falls_at_end(lowest_over_gamma(self.tried)) or self._deadline.is_over():
                return
            self._follow(beyond, C)

    def _follow(self, gamma: float, C: float) -> None:
        """A path over C, made longer while its best value is an end."""
        curve = self._scored(gamma, self._C.around(C, _HALF_WIDTH))
        for _ in range(_MOST_WIDER):
            best = float(curve.values[best_value(curve)])
            beyond = self._C.beyond(best, curve.values.tolist())
            if beyond is None or not falls_at_end(Scores.of(curve)) or self._deadline.is_over():
                break
            curve = self._more(gamma, curve, np.array([beyond]))
        self._enter(gamma, curve)

    def _more(self, gamma: float, curve: Curve, new: Array) -> Curve:
        """A curve with more values."""
        longer = curve.joined(self._scored(gamma, new))
        if self.search.loss.policy.cost_grows_with_span:  # else the path goes everywhere
            span = float(longer.values.min()), float(longer.values.max())
            self._paths[gamma] = [path.over_span(span) for path in self._paths[gamma]]
            longer = replace(longer, path=self._paths[gamma][0])
        return longer

    def _enter(self, gamma: float, curve: Curve) -> None:
        """Keep the scores of a curve, and decision values to start from; of matrices what memory allows."""
        self.tried[gamma] = Scores.of(curve)
        self._curves[gamma] = curve
        best_so_far(f"{pair_text(*self.best())}, score {self.lowest()[0]:.4g}")
        paths = self._paths[gamma]
        if not self.search.loss.is_linear:  # where a start saves nothing
            self.ends[gamma] = [path.known_decisions(float(curve.values[best_value(curve)])) for path in paths]
        if len(self._paths) * curve.path.problem.gram.entries > _MOST_HELD:
            kept = {gamma, self.best()[0]}
            self._curves = {each: self._curves[each] for each in self._curves if each in kept}
            self._paths = {each: self._paths[each] for each in self._paths if each in kept}

    # --- a descent ---------------------------------------------------------------------------------------------------

    def descend(self, gamma: float, valley: Callable[[float], float], jumps: bool) -> None:
        """From one pair to better neighbours.

        ``valley`` is about the best C at a gamma: where gamma moves, C moves in proportion to it. With ``jumps`` much
        larger gammas are tried, too, as there may be another valley.
        """
        place = gamma, self._C.nearest(valley(gamma))
        known = {place: self.visit(*place)}
        most = int(np.clip(_DESCENT_BUDGET / self._operations(), 1, _MOST_STEPS))
        is_better = True
        while is_better:
            is_better = False
            for pair in self._moves(*place, valley, jumps):
                if pair in known:
                    continue
                if len(known) >= most or self._deadline.is_over():
                    return
                known[pair] = self.visit(*pair)
                if is_lower(known[pair], known[place], np.max(list(known.values()), axis=0).tolist()):
                    place, is_better = pair, True
                    break

    def _moves(
        self, gamma: float, C: float, valley: Callable[[float], float], jumps: bool
    ) -> list[tuple[float, float]]:
        """The pairs next to a pair, those with a larger gamma or C first: a low rank makes these look worse."""
        if self._gamma is None:
            return self._along_C(gamma, C)
        steps = [(1, None), (-1, None), *([(1, _JUMP)] if jumps else [])]
        gammas = [self._gamma.next(gamma, direction, step) for direction, step in steps]
        pairs = [None if g is None else (g, self._C.nearest(C * valley(g) / valley(gamma))) for g in gammas]
        larger, smaller, *far = pairs
        order = [larger, *self._along_C(gamma, C)[:1], *far, *self._along_C(gamma, C)[1:], smaller]
        return [pair for pair in order if pair is not None]

    def _along_C(self, gamma: float, C: float) -> list[tuple[float, float]]:
        return [(gamma, each) for each in replace(self._C, step=_DESCENT).neighbours(C)]

    def visit(self, gamma: float, C: float) -> tuple[float, float]:
        """The score of a pair, and what breaks ties."""
        curve = self._scored(gamma, np.array([C]))
        before, known = self._curves.get(gamma), self.tried.get(gamma)
        self._enter(gamma, curve if before is None else before.joined(curve))
        if before is None and known is not None:  # the curve was dropped, its scores are not
            self.tried[gamma] = known.and_of(curve)
        return float(curve.scores[0]), float(curve.smooth[0])

    def _operations(self) -> float:
        """About how many operations a pair takes."""
        (paths,) = self._paths.values()
        problem = paths[0].problem
        n, rank = problem.n, problem.gram.rank
        if problem.gram.Z is not None:
            return 4.0 * n * rank**2 * len(paths)
        if problem.gram.is_clipped:  # which decides, whatever the loss
            return 15.0 * n**3
        if self.search.loss.is_linear:
            return 1.0 * n**3
        (ends,) = self.ends.values()
        pairs = zip(paths, ends, strict=True)
        left = [n if f is None else np.count_nonzero(path.problem.y * f < 1.0) for path, f in pairs]
        return float(sum(20.0 * size**3 + 60.0 * n * n for size in left))

    # --- machines ----------------------------------------------------------------------------------------------------

    def _scored(self, gamma: float, values: Array) -> Curve:
        """The curve at some values of C."""
        doing(f"{self.search.loss.name} {values_text(values)}{gamma_text(gamma)}")
        curve = self.search.scored(self._paths_at(gamma, values), values)
        part_done()
        return curve

    def _paths_at(self, gamma: float, values: Array) -> list[Path]:
        """The paths of all machines at a gamma, which start from those at a similar one."""
        walks = self.search.loss.policy.cost_grows_with_span
        if not walks and gamma in self._paths:
            return self._paths[gamma]
        low, high = float(values.min()), float(values.max())
        if not walks:  # a longer span costs nothing
            first, last = self._C.limits or (float(self._C.values[0]), float(self._C.values[-1]))
            low, high = min(low, first), max(high, last)
        paths = list(self.search.paths(self._gram(gamma), (low, high)))
        similar = [*self.ends][-1:]  # that of the last gamma
        starts = self.ends.get(gamma) or self._starts.get(gamma) or (self.ends[similar[0]] if similar else None)
        if starts is not None:
            paths = [path.start_from(f) for path, f in zip(paths, starts, strict=True)]
        for before in [*self._paths.values()][-1:]:
            paths = [new.start_from(old) for new, old in zip(paths, before, strict=True)]
        self._paths.pop(gamma, None)  # so that it becomes the last
        self._paths[gamma] = paths
        return paths

    def _gram(self, gamma: float) -> Gram:
        gram, over = self.search.problems[0].gram, str(self.search.over)
        is_there = self._gamma is None or gram.kernel.parameters[over] == gamma
        return gram if is_there else gram.at(over, gamma)


def ordered(scores: Mapping[float, Scores]) -> list[float]:
    """The values tried, the best first."""
    best = {each: best_value(s) for each, s in scores.items()}
    columns = [np.array([getattr(scores[each], name)[i] for each, i in best.items()]) for name in RANKED]
    rounding = max(each.rounding for each in scores.values())
    order = np.lexsort((np.array(list(best)), *(ranks(column, rounding) for column in reversed(columns))))
    return [list(best)[k] for k in order]


def best_C(scores: Scores) -> float:
    """The value with the best score."""
    return float(scores.values[best_value(scores)])


def pairs_text(number: int) -> str:
    """How many pairs."""
    return "1 pair" if number == 1 else f"{number} pairs"


def pair_text(gamma: float, C: float) -> str:
    """A pair in words; NaN stands for the gamma of a kernel without one."""
    return f"C = {C:.3g}" if gamma != gamma else f"gamma = {gamma:.3g}, C = {C:.3g}"


def gamma_text(gamma: float) -> str:
    """Where on the gammas, to be put after other words; nothing for a kernel without one."""
    return "" if gamma != gamma else f" at gamma = {gamma:.3g}"


def values_text(values: Array) -> str:
    """Where on the path over C."""
    low, high = float(np.min(values)), float(np.max(values))
    return f"at C = {low:.3g}" if low == high else f"over C from {low:.3g} to {high:.3g}"


def lowest_over_gamma(tried: Mapping[float, Scores]) -> Scores:
    """The lowest score at each gamma, as scores over gamma."""
    gammas = sorted(tried)
    at = [best_value(tried[gamma]) for gamma in gammas]
    names = ("scores", "standard_errors", "smooth")
    columns = ([float(getattr(tried[g], name)[i]) for g, i in zip(gammas, at, strict=True)] for name in names)
    scores, errors, smooth = (np.array(column) for column in columns)
    return Scores(np.array(gammas), scores, errors, smooth)


def gain_at_end(scores: Scores) -> tuple[float, float]:
    """By how much the best value, if it is an end, is better than its only neighbour; and the standard error there."""
    order = np.argsort(scores.values)
    best = int(np.flatnonzero(order == best_value(scores))[0])
    neighbour = order[best - 1 if best > 0 else min(1, len(order) - 1)]
    at = order[best]
    return float(scores.scores[neighbour] - scores.scores[at]), float(scores.standard_errors[at])


def falls_at_end(scores: Scores) -> bool:
    """Whether the best value is better than its only neighbour by more than chance gives all the time."""
    gain, deviation = gain_at_end(scores)
    return gain > _ENOUGH * deviation

"""The choice of gamma and nu of a one-class machine: by what it thinks of a reference, or by labelled rows.

For each gamma there is one path over nu; each nu on it has held-out decision values, from which p-values and the
threshold of rejection follow (``criteria.novelty``). Rows of a reference, which are not like the training rows
(``criteria.volume``), should have small p-values. Their mean is the volume of what is accepted, averaged over all rates
of rejection: the area under the mass-volume curve. The gamma is chosen where it is smallest, and then nu where

    excess mass = (1 - nu) - volume,        volume = the share of the reference that is accepted at the rate nu,

is largest (Polonik 1995). The volume at one rate alone is a noisier guide to gamma: it depends on the place of a few
held-out values. If some rows are labelled, the pair with the largest score is taken. Pairs that do equally well are
told apart by their stability: the share of held-out rows that the machine itself rejects is to be near nu.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.criteria.novelty import Conformity
from svmpath.criteria.scoring import ScoredRows, Scoring
from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint
from svmpath.losses import Solution
from svmpath.paths import Path

Array = np.ndarray

_EQUAL = 1e-12  # scores that differ by less are equal


@dataclass(frozen=True)
class NoveltyTrial:
    """One pair that was tried.

    Attributes
    ----------
    gamma : float or None
        None for a kernel without gamma.
    nu : float
    rejected : float
        The share of held-out rows that the machine itself rejects.
    mean_p : float
        The mean p-value of the reference; NaN if rows are labelled.
    volume : float
        The accepted share of the reference; NaN if rows are labelled.
    score : float
        The score by the labels; NaN if no row is labelled.
    """

    gamma: float | None
    nu: float
    rejected: float = np.nan
    mean_p: float = np.nan
    volume: float = np.nan
    score: float = np.nan


class Judge(ABC):
    """What a machine with a threshold is worth."""

    @abstractmethod
    def judge(self, trial: NoveltyTrial, solution: Solution, held: Array, seen: Conformity) -> NoveltyTrial:
        """The trial with what its machine is worth."""

    @abstractmethod
    def best(self, trials: Sequence[NoveltyTrial]) -> NoveltyTrial:
        """The best of some trials."""


@dataclass(frozen=True, eq=False)
class ByVolume(Judge):
    """By p-values of a reference, and the excess mass over it."""

    reference: Any

    def judge(self, trial: NoveltyTrial, solution: Solution, held: Array, seen: Conformity) -> NoveltyTrial:
        """The mean p-value of the reference, and its accepted share."""
        f = solution(self.reference)
        volume = float(np.mean(f >= seen.threshold(trial.nu)))
        return replace(trial, mean_p=float(np.mean(seen.p_values(f))), volume=volume)

    def best(self, trials: Sequence[NoveltyTrial]) -> NoveltyTrial:
        """The gamma with the least mean p-value, over all nu; with it the nu with the largest excess mass."""
        gammas: dict[Any, list[NoveltyTrial]] = {}
        for trial in trials:
            gammas.setdefault(trial.gamma, []).append(trial)
        means = {gamma: float(np.mean([trial.mean_p for trial in mine])) for gamma, mine in gammas.items()}
        least = min(means.values())
        equal = [trial for gamma, mine in gammas.items() if means[gamma] <= least + _EQUAL for trial in mine]
        return _most_stable(equal, lambda trial: trial.volume + trial.nu)


@dataclass(frozen=True, eq=False)
class ByLabels(Judge):
    """By a scorer of scikit-learn, on held-out decision values of the rows that are in the fit, and those of others."""

    scoring: Scoring
    rows: ScoredRows

    def judge(self, trial: NoveltyTrial, solution: Solution, held: Array, seen: Conformity) -> NoveltyTrial:
        """The score of decision values beyond the threshold."""
        f = (held - seen.threshold(trial.nu))[self.rows.at]
        return replace(trial, score=self.scoring.call(self.rows, self.scoring.estimator(self.rows, f)))

    def best(self, trials: Sequence[NoveltyTrial]) -> NoveltyTrial:
        """The largest score."""
        return _most_stable(trials, lambda trial: -trial.score)


def _most_stable(trials: Sequence[NoveltyTrial], badness: Callable[[NoveltyTrial], float]) -> NoveltyTrial:
    """The least bad one; of equal ones the one whose held-out rejections are nearest to nu."""
    least = min(map(badness, trials))
    equal = [trial for trial in trials if badness(trial) <= least + _EQUAL]
    return min(equal, key=lambda trial: abs(trial.rejected - trial.nu))


def try_pairs(
    make_path: Callable[[float | None], Path],
    gammas: Iterable[float | None],
    nus: Mapping[float, float],
    hold_out: Callable[[Path, Array], Curve],
    judge: Judge,
) -> list[NoveltyTrial]:
    """All pairs; a gamma without a path is left out, unless there is no other.

    ``nus`` has the nu of the machine for every rate of rejection.
    """
    values = np.unique(list(nus.values()))
    trials: list[NoveltyTrial] = []
    fault: PathError | None = None
    for gamma in gammas:
        checkpoint()
        try:
            path = make_path(gamma)
            curve = hold_out(path, values)
        except PathError as error:
            fault = error
            continue
        for nu, value in nus.items():
            k = int(np.argmin(np.abs(curve.values - value)))
            held, trial = curve.decisions[k], NoveltyTrial(gamma, nu, float(curve.scores[k]))
            trials.append(judge.judge(trial, path(value), held, Conformity(held, path.problem.s)))
    if not trials and fault is not None:
        raise fault
    return trials

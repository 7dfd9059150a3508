"""Held-out scores of elastic-net machines from the largest value down, until their minimum is passed.

Large values of lambda1 use few features and cost few events; the work is at the small ones, which often are past the
minimum. So all folds (or all samples left out) of all machines (one per class) are walked side by side, value by value,
and the walk ends when the score has not improved for so many values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, held_out_loss, one_vs_rest
from svmpath.criteria.held_out import fold_numbers
from svmpath.criteria.of_elastic import left_out
from svmpath.criteria.scoring import Scoring
from svmpath.lazy import with_known
from svmpath.paths.elastic import ElasticPath
from svmpath.search.choice import is_lower, lowest
from svmpath.solvers.threads import blas_threads

Array = np.ndarray
Folds = list[tuple[Array, Array]]


@dataclass(frozen=True)
class ElasticSearch:
    """How held-out scores are found along paths over lambda1 or a ray.

    Attributes
    ----------
    folds : list of (train, test) or None
        None leaves out every sample in turn, exactly.
    loss : HeldOutLoss
        Per-sample loss of the held-out decision values.
    patience : int or None
        Values without an improvement after which the rest is not scored. As long as none is better than the first, of
        which the machines as a rule are constant, all are scored.
    scoring : Scoring or None
        A scorer of scikit-learn instead of the mean of ``loss``.
    units : array of int of shape (n,) or None
        The group of each sample, for standard errors.
    """

    folds: Folds | None
    loss: HeldOutLoss = None
    patience: int | None = None
    scoring: Scoring | None = None
    units: Array | None = None

    def curve(self, paths: list[ElasticPath], values: Array, least: Sequence[float] | None = None) -> Curve:
        """The curve of machines with the same values and weights, at the values (falling) up to where it was ended.

        Below a machine's value in ``least`` it stays what it is there.
        """
        first, values = paths[0], np.sort(values)[::-1]
        least = [0.0] * len(paths) if least is None else least
        n = first.problem.n
        rows = np.arange(n) if self.folds is None else np.concatenate([test for _, test in self.folds])
        with blas_threads(n * first.problem.p):
            walks = [self._walk(path, np.maximum(values, low)) for path, low in zip(paths, least, strict=True)]
            held: list[list[Array]] = [[] for _ in paths]
            scores: list[tuple[float, float]] = []
            for at, every in enumerate(zip(*walks, strict=True)):
                for machine, decisions in zip(held, every, strict=True):
                    machine.append(decisions)
                scores.append(self._score(paths, values[at : at + 1], rows, every))
                if self._is_passed(scores):
                    break
        curve = self._joined(paths, values[: len(scores)], rows, [np.array(machine) for machine in held])
        # A scorer takes as long for a curve as for its values one by one.
        return curve if self.scoring is None else with_known(curve, scores=np.array([score for score, _ in scores]))

    def _is_passed(self, scores: list[tuple[float, float]]) -> bool:
        """Whether the minimum is so long ago that there is no use in going on."""
        best = lowest(*np.transpose(scores))[0]  # of equal ones the first, at the largest value
        if self.patience is None or not is_lower(scores[best][:1], scores[0][:1]):
            return False
        return bool(len(scores) - best > self.patience)

    def _walk(self, path: ElasticPath, values: Array) -> Iterator[Array]:
        """Held-out decision values at each value."""
        if self.folds is None:
            yield from (left_out(path, float(value))[0] for value in values)
            return
        n = path.problem.n
        walks = [path.without(np.setdiff1d(np.arange(n), train)).machines(values) for train, _ in self.folds]
        for machines in zip(*walks, strict=True):
            parts = zip(machines, self.folds, strict=True)
            yield np.concatenate([machine.fitted[test] for (_, machine), (_, test) in parts])

    def _joined(self, paths: list[ElasticPath], values: Array, rows: Array, held: list[Array]) -> Curve:
        name, doubts = "loo" if self.folds is None else "kfold", np.zeros(len(values), dtype=int)
        loss, splits = held_out_loss(self.loss, "classification"), None
        if self.folds is not None:
            splits = fold_numbers(self.folds)
        curves = [
            Curve(_over(path, values), name, values, loss, rows, decisions, path.problem.y, doubts, splits=splits)
            for path, decisions in zip(paths, held, strict=True)
        ]
        curve = curves[0] if len(curves) == 1 else one_vs_rest(curves)
        return replace(curve, scoring=self.scoring, units=self.units)

    def _score(self, paths: list[ElasticPath], value: Array, rows: Array, held: Any) -> tuple[float, float]:
        """Score, and what decides between equal ones."""
        curve = self._joined(paths, value, rows, [decisions[None] for decisions in held])
        return float(curve.scores[0]), float(curve.smooth[0])


def _over(path: ElasticPath, values: Array) -> ElasticPath:
    """The path over the values that were scored; not walked yet."""
    low, high = float(values.min()), max(path.span)
    return path if low <= min(path.span) or not low < high else replace(path, span=(high, low))

"""Held-out scores of elastic-net machines from the largest value down, until their minimum is passed.

Large values of lambda1 use few features and cost few events; the work is at the small ones, which often are past the
minimum. So all folds (or all samples left out) of all machines (one per class) are walked side by side, value by value,
and the walk ends when the score has not improved for so many values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, held_out_loss, one_vs_rest
from svmpath.criteria.held_out import fold_numbers
from svmpath.criteria.of_elastic import left_out
from svmpath.criteria.scoring import Scoring
from svmpath.lazy import with_known
from svmpath.losses.elastic_hinge import ElasticProblem
from svmpath.paths.elastic import ElasticPath, without
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

    def parts(self, problem: ElasticProblem) -> list[ElasticProblem]:
        """The problem without each of the folds; none where samples are left out one by one."""
        rows = np.arange(problem.n)
        return [without(problem, np.setdiff1d(rows, train)) for train, _ in self.folds or []]

    def curve(
        self,
        paths: list[ElasticPath],
        values: Array,
        least: Sequence[float] | None = None,
        parts: list[list[ElasticProblem]] | None = None,
    ) -> Curve:
        """The curve of machines with the same values and weights, at the values (falling) up to where it was ended.

        Below a machine's value in ``least`` it stays what it is there. ``parts`` are those of the paths' problems, so
        that curves at several lambda2 share what they know.
        """
        parts = [self.parts(path.problem) for path in paths] if parts is None else parts
        values, n = np.sort(values)[::-1], paths[0].problem.n
        least = [0.0] * len(paths) if least is None else least
        rows = np.arange(n) if self.folds is None else np.concatenate([test for _, test in self.folds])
        with blas_threads(n * paths[0].problem.p):
            walks = [
                self._walk(path, np.maximum(values, low), rest)
                for path, low, rest in zip(paths, least, parts, strict=True)
            ]
            held_out: list[tuple[Array, ...]] = []  # of every value one array per machine
            scores: list[tuple[float, float]] = []  # and what decides between equal ones
            for at, every in enumerate(zip(*walks, strict=True)):
                held_out.append(every)
                curve = self._join(paths, values[at : at + 1], rows, [every])
                scores.append((float(curve.scores[0]), float(curve.smooth[0])))
                best = lowest(*np.transpose(scores))[0]  # of equal ones the first, at the largest value
                is_passed = self.patience is not None and len(scores) - best > self.patience
                if is_passed and is_lower(scores[best][:1], scores[0][:1]):
                    break
        curve = self._join(paths, values[: len(scores)], rows, held_out)
        # A scorer takes as long for a curve as for its values one by one.
        return curve if self.scoring is None else with_known(curve, scores=np.array([score for score, _ in scores]))

    def _walk(self, path: ElasticPath, values: Array, parts: list[ElasticProblem]) -> Iterator[Array]:
        """Held-out decision values at each value."""
        if self.folds is None:
            yield from (left_out(path, float(value))[0] for value in values)
            return
        walks = [replace(path, problem=part, max_features=None).machines(values) for part in parts]
        for machines in zip(*walks, strict=True):
            held_out = zip(machines, self.folds, strict=True)
            yield np.concatenate([machine.fitted[test] for (_, machine), (_, test) in held_out])

    def _join(self, paths: list[ElasticPath], values: Array, rows: Array, held_out: list[tuple[Array, ...]]) -> Curve:
        """The curve of all machines over the values that were scored, which are not walked yet."""
        name, doubts = "loo" if self.folds is None else "kfold", np.zeros(len(values), dtype=int)
        loss = held_out_loss(self.loss, "classification")
        splits = None if self.folds is None else fold_numbers(self.folds)
        low, curves = float(values.min()), []
        for path, decisions in zip(paths, zip(*held_out, strict=True), strict=True):
            first, last = sorted(path.span, reverse=True)
            path = replace(path, span=(first, low)) if last < low < first else path
            y = path.problem.y
            curves.append(Curve(path, name, values, loss, rows, np.array(decisions), y, doubts, splits=splits))
        curve = curves[0] if len(curves) == 1 else one_vs_rest(curves)
        return replace(curve, scoring=self.scoring, units=self.units)

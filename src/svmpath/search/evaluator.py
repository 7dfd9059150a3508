"""The machines of one loss, and how they are scored: what every search asks at a kernel and values of C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from svmpath.criteria.curve import MARGIN_SHARE, Curve, HeldOutLoss, joint_score, one_vs_rest, score_by
from svmpath.criteria.held_out import Folds, fold_numbers
from svmpath.criteria.scoring import Scoring
from svmpath.criteria.table import row_of
from svmpath.gram import Gram
from svmpath.lazy import lazy
from svmpath.losses import Loss, Problem
from svmpath.paths import KernelStore, Path, Request, trace_problem

Array = np.ndarray
Starts = Sequence[Array | None]  # for each machine its decision values on all rows, from a similar kernel, if known


@dataclass(frozen=True)
class Evaluator:
    """Scores the machines of one loss on problems that share a Gram matrix and weights: one per class or quantile.

    Attributes
    ----------
    problems : list of Problem
    loss : Loss
    criterion : callable
        ``criterion(path, values, loss=...) -> Curve``.
    held_out : HeldOutLoss
        The per-sample loss of the criterion.
    rule : str
        How a value is chosen on a curve.
    tol : float or None
        For approximate paths; see :func:`svmpath.trace`.
    scoring : Scoring or None
        A scorer of scikit-learn instead of the mean of ``held_out``.
    units : array of int of shape (n,) or None
        The group of each sample, for standard errors.
    losses : tuple of Loss
        One per machine, where they are at different levels; else empty.
    """

    multi_class: ClassVar[str] = "ovr"  # each class against the rest

    problems: list[Problem]
    loss: Loss
    criterion: Callable[..., Curve]
    held_out: HeldOutLoss = None
    rule: str = "min"
    tol: float | None = None
    scoring: Scoring | None = None
    units: Array | None = None
    losses: tuple[Loss, ...] = ()

    @property
    def targets(self) -> list[Problem]:
        """The problems, those with the same targets once."""
        return list({id(problem.y): problem for problem in self.problems}.values())

    @property
    def gram(self) -> Gram:
        """The Gram matrix that all problems share."""
        return self.problems[0].gram

    @property
    def margin_share(self) -> float:
        """How much of the margin loss decides beside the errors."""
        return MARGIN_SHARE if self.rule == "auto" else 0.0

    def on(self, gram: Gram) -> Evaluator:
        """The same machines on another kernel matrix of the rows."""
        return replace(self, problems=[replace(problem, gram=gram) for problem in self.problems])

    def paths(
        self, gram: Gram, span: tuple[float, float], store: KernelStore | None = None, starts: Starts | None = None
    ) -> list[Path]:
        """The paths of all machines on one kernel matrix; they share what is computed of it and of the weights."""
        store, losses = KernelStore() if store is None else store, self.losses or [self.loss] * len(self.problems)
        paths = [
            trace_problem(replace(problem, gram=gram), Request(loss, "C", span, tol=self.tol), store)
            for problem, loss in zip(self.problems, losses, strict=True)
        ]
        if starts is None:
            return paths
        return [path.start_from(f) for path, f in zip(paths, starts, strict=True)]

    def traced(self, gram: Gram, values: Array, starts: Starts | None = None) -> tuple[Curve, list[Path]]:
        """The curve over these values of C on a Gram matrix, and the paths of all its machines."""
        paths = self.paths(gram, (float(values.min()), float(values.max())), None, starts)
        return self.curve(paths, values), paths

    def rescore(self, curve: Curve, values: Array) -> Curve:
        """The criterion at other values of the same kernel, with its decomposition."""
        path = curve.path
        return self.curve(self.paths(path.problem.gram, path.span, path.store), values)

    def curve(self, paths: Sequence[Path], values: Array) -> Curve:
        """The curve of the paths of all machines."""
        curve = self.combined([self.scored(path, values) for path in paths])
        if isinstance(curve, Curve):
            return replace(curve, scoring=self.scoring, units=self.units, margin_share=self.margin_share)
        if self.scoring is not None:  # a user's criterion may return a bound
            raise ValueError("scoring needs held-out decision values, which the curve of this criterion does not have.")
        return curve

    def scored(self, path: Path, values: Array) -> Curve:
        """The curve of one machine."""
        return self.criterion(path, values, loss=self.held_out)

    def combined(self, curves: list[Curve]) -> Curve:
        """One curve of those of all machines."""
        return curves[0] if len(curves) == 1 else one_vs_rest(curves)

    def later(self, paths: list[Path], values: Array, folds: Folds | None = None) -> Curve:
        """The curve of the paths; if it can be, computed when it is first looked at.

        ``folds`` are those of the criterion, if it is k-fold.
        """
        row = row_of(getattr(self.criterion, "func", self.criterion))
        if row is None or not (row.one_row_each or (row.takes_folds and folds)):
            return self.curve(paths, values)
        problems = [path.problem for path in paths]
        loss, target = score_by(self.held_out, paths[0]), problems[0].y
        if len(paths) > 1:
            loss, target = joint_score(loss, paths), np.stack([problem.y for problem in problems], axis=1)
        whole = _Whole(self, paths, values)
        held, doubts = (_Later(whole, what) for what in ("held", "unreliable"))
        name, rows, splits = row.function.__name__, np.arange(problems[0].n), None
        if folds is not None and row.takes_folds:
            rows, splits = np.concatenate([test for _, test in folds]), fold_numbers(folds)
        curve = Curve(paths[0], name, values, loss, rows, held, target, doubts, scoring=self.scoring, units=self.units)
        return replace(curve, margin_share=self.margin_share, splits=splits)


@dataclass(frozen=True)
class _Whole:
    """A curve that is computed once, when one of its arrays is first asked for."""

    evaluator: Evaluator
    paths: list[Path]
    values: Array

    @lazy
    def curve(self) -> Curve:
        return self.evaluator.curve(self.paths, self.values)

    def __getstate__(self) -> dict[str, Any]:  # what a model is saved without can be computed again
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class _Later:
    """Computes an array of a curve."""

    whole: _Whole
    what: str

    def __len__(self) -> int:
        return len(self.whole.values)

    def __call__(self) -> Array:
        return np.asarray(getattr(self.whole.curve, self.what))

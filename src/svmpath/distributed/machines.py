"""The two kinds of paths over C on rows in chunks: losses that are quadratic in pieces, and least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import OneVsRest, error
from svmpath.criteria.of_march import MANY, random_projection
from svmpath.distributed.blocks import Evaluate, Question, Recipe, answer
from svmpath.distributed.closed_form import Decomposition, first_solution, refined, rest_of, sum_residuals
from svmpath.distributed.data import Data
from svmpath.distributed.leave_one_out import Machine, Press, Rule, SpanRule
from svmpath.distributed.newton import ChunkedPoint, first_point, first_theta, minimise_all
from svmpath.distributed.path import ChunkedGram, ChunkedPath, ChunkedProblem, FeatureMachines
from svmpath.distributed.rows import ChunkedRows
from svmpath.distributed.without import WithoutRows, features_of
from svmpath.gram.features import FeatureMap
from svmpath.kernels import Kernel
from svmpath.lazy import lazy, with_known
from svmpath.losses import Loss, PathParameter, PiecewiseQuadratic
from svmpath.solvers.pieces import SQUARED_HINGE

Array = np.ndarray

_STRIDE = 30.0  # factor by which C grows at most from one Newton start to the next
_FROM_LIMIT = 10.0  # C times the mean of s |z|^2 that is found from the limit for C to zero in one stage
_ROUNDING = 1e-9  # of the number of strides
_TINY = np.finfo(float).tiny
_POLISHED = 2  # steps of refinement from features in single precision: seven digits each
_TOO_FEW_DIGITS = 1e-4  # relative error from which on a held-out residual is unreliable


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedMarch(ChunkedPath):
    """The machine of a loss that is quadratic in pieces over C on rows in chunks.

    Each value is found from the last one by Newton's method, and is exact.
    """

    loss: PiecewiseQuadratic

    @lazy
    def _last(self) -> dict[str, Any]:
        """C and the points of all machines that were visited last; to begin with the limit for C to zero."""
        loss, k = self.loss.pieces, self.problem.machines
        pairs = [(moments, machine) for moments in self.parts for machine in range(k)]
        if loss == SQUARED_HINGE:
            return {"C": 0.0, "points": [first_point(loss, *pair) for pair in pairs]}
        thetas = [first_theta(*pair) for pair in pairs]
        answers = _asker(self.live)([Evaluate(loss, at, theta, None) for at, theta in enumerate(thetas)])
        weights = [float(moments.G[-1, -1]) for moments, _ in pairs]
        points = [ChunkedPoint.of(loss, *each) for each in zip(thetas, answers, weights, strict=True)]
        return {"C": 0.0, "points": points}

    def _walk(self, values: Array) -> Iterator[tuple[int, list[ChunkedPoint]]]:
        """The position of each value and the machines there, from the smallest C to the largest."""
        for position in np.argsort(values, kind="stable"):
            C = float(values[position])
            # Values on the way: far upwards at once Newton's method may need hundreds of steps. From the limit for C to
            # zero it is as far as from this C, whatever the units of features and weights are.
            size = float(np.trace(self.moments.G[:-1, :-1])) / self.problem.n
            start = max(self._last["C"], _FROM_LIMIT / (_STRIDE * max(size, _TINY)))
            far = np.log(C / start) / np.log(_STRIDE)
            for value in [*np.geomspace(start, C, 1 + max(1, int(np.ceil(far - _ROUNDING))))[1:-1].tolist(), C]:
                points = minimise_all(self._last["points"], 1.0 / value, _asker(self.live), self.moments.usual_weight)
                self._last.update(C=value, points=points)
            points = self._last["points"]
            self.found[C] = np.array([point.theta for point in points])
            yield int(position), points

    def violation(self, value: float) -> float:
        _, points = next(self._walk(np.array([value])))
        return max(point.step(1.0 / value)[1] for point in points) / float(np.sqrt(self.moments.usual_weight))

    def _polished(self, value: float, exact: ChunkedRows) -> Array:
        ask, loss = _asker(exact), self.loss.pieces
        _, points = next(self._walk(np.array([value])))
        here = ask([Evaluate(loss, machine, point.theta, point.theta) for machine, point in enumerate(points)])
        points = [point.moved(point.theta, each) for point, each in zip(points, here, strict=True)]
        points = minimise_all(points, 1.0 / value, ask, self.moments.usual_weight)
        return np.array([point.theta for point in points])

    def thetas(self, values: Array) -> Iterator[tuple[int, Array]]:
        for position, points in self._walk(values):
            yield position, np.array([point.theta for point in points])

    def rules(self, values: Array, screened: bool) -> Iterator[tuple[Array, Rule]]:
        for position, points in self._walk(values):
            if self.is_folded:
                yield np.array([position]), self.fold_rule(self.found[float(values[position])])
                continue
            lam = 1.0 / float(values[position])
            machines = [Machine(point.theta, point.factor(lam).inverse) for point in points]
            if screened:
                # The random projection of ``criteria.of_march``, whose features are centred at their weighted mean.
                G = self.moments.G
                move, Om = np.eye(len(G)), random_projection(len(G))  # from features minus mean to those minus centre
                move[-1, :-1] = -G[-1, :-1] / G[-1, -1]
                moved = [replace(point, G=move.T @ point.G @ move).factor(lam).project(Om) for point in points]
                machines = [replace(each, projection=move @ P.T) for each, P in zip(machines, moved, strict=True)]
            yield np.array([position]), SpanRule(machines, self.loss.pieces)

    def is_screened(self, loss: Any) -> bool:
        is_error = self.loss.pieces == SQUARED_HINGE and loss in (error, OneVsRest(error))
        return is_error and self.problem.n > MANY and not self.is_folded


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedClosedForm(ChunkedPath):
    """The least squares machine over C on rows in chunks: one decomposition, and one pass to refine any values."""

    @lazy
    def decompositions(self) -> list[Decomposition]:
        """Of the centred moments of all rows; or of those of each fold."""
        return [Decomposition.of(moments) for moments in self.parts]

    def _refined(self, Theta: Array, gradient: Array, mu: Array) -> Array:
        """theta of all machines after a step of refinement."""
        k = self.problem.machines
        parts = [slice(at, at + k) for at in range(0, Theta.shape[1], k)]
        pairs = zip(parts, self.decompositions, strict=True)
        return np.concatenate([refined(Theta[:, at], gradient[:, at], each, mu) for at, each in pairs], axis=1)

    def _solve_all(self, values: Array) -> Array:
        """theta at all values, of shape (m, k, r + 1), or with machines of each fold."""
        mu = 0.5 / values
        pairs = zip(self.parts, self.decompositions, strict=True)
        Theta = np.concatenate([first_solution(*pair, mu) for pair in pairs], axis=1)
        Theta = self._refined(Theta, self.live.reduce("sum-residuals", sum_residuals, Theta)[0], mu)
        self.found.update(zip(values.tolist(), Theta, strict=True))
        return Theta

    def violation(self, value: float) -> float:
        mu, Theta = np.array([0.5 / value]), self._at(value)[None]
        g = rest_of(Theta, self.live.reduce("sum-residuals", sum_residuals, Theta)[0], mu)
        delta = self.decompositions[0].solve(g, mu)
        return float(np.sqrt(np.maximum((g * delta).sum(axis=2), 0.0).max() / self.moments.usual_weight))

    def _polished(self, value: float, exact: ChunkedRows) -> Array:
        mu, Theta = np.array([0.5 / value]), self._at(value)[None]
        for _ in range(_POLISHED):
            gradient = exact.reduce("sum-residuals", sum_residuals, Theta)[0]
            Theta = self._refined(Theta, gradient, mu)
        return Theta[0]

    def thetas(self, values: Array) -> Iterator[tuple[int, Array]]:
        yield from enumerate(self._solve_all(values))

    def rules(self, values: Array, screened: bool) -> Iterator[tuple[Array, Rule]]:
        Theta = self._solve_all(values)
        if self.is_folded:
            yield from ((np.array([at]), self.fold_rule(each)) for at, each in enumerate(Theta))
            return
        d = self.decompositions[0]
        yield np.arange(len(values)), Press(Theta, d, d.shrink(0.5 / values))

    def without_each_row(self, value: float, rows: Array) -> WithoutRows:
        """The machines without each of some gathered rows, at a value; ``rows`` are their places among these."""
        problem, d = self.gathered.problem, self.decompositions[0]
        ((_, held),), shrink = self.gather_held(np.array([value])), d.shrink(np.array([0.5 / value]))
        features = self.live.gather("pick-features", features_of, d, rows=problem.rows[rows])
        f = held.decisions[0].reshape(problem.n, -1)[rows]
        residuals = problem.Y.reshape(problem.n, -1)[rows] - f
        weights = problem.s[rows][:, None] * np.concatenate(features) * shrink[:, 0]
        machines = FeatureMachines.of(self._at(value), self)
        return WithoutRows(rows, f, residuals, problem.s[rows] / d.weight, weights, machines, d, self.centre)

    def count_unreliable(self, values: Array) -> Array:
        lost = self.decompositions[0].rounding(0.5 / values) > _TOO_FEW_DIGITS
        return np.where(lost, self.problem.n, 0)


def _asker(rows: ChunkedRows) -> Callable[[list[Question]], list[Any]]:
    """What answers the questions of Newton's method, in one pass over these rows."""
    return lambda questions: rows.reduce("newton-step", answer, questions)


KINDS: dict[str, type[ChunkedPath]] = {"newton": ChunkedMarch, "closed form": ChunkedClosedForm}


def make_path(
    data: Data, kernel: Kernel, features: FeatureMap, centre: Array, loss: Loss, span: Any, limit: Any
) -> Any:
    """The path of one loss on chunks."""
    task = "regression" if data.classes is None else "classification"
    recipe = Recipe(features, centre, np.float64, data.positives, data.largest(weighted=True), data.scaler)
    rows = ChunkedRows(data, recipe, limit)
    problem = ChunkedProblem(ChunkedGram(kernel, features, data.n), data.n, 1.0, 1.0, task, data.classes)
    kind = KINDS[loss.followed_by["chunks"]]
    path: Any = kind(problem, loss, PathParameter("C", {}, None), span, rows=rows, centre=centre, scaler=data.scaler)
    moments = path.moments
    residual = max(1.0 - moments.trace / moments.diag, 0.0) if moments.diag > 0 else 0.0
    gram, weight = replace(problem.gram, residual=float(residual)), float(moments.G[-1, -1])
    problem = replace(problem, gram=gram, weight=weight, share=moments.weights / weight**2)
    made = replace(path, problem=problem)
    return with_known(made, moments=moments)

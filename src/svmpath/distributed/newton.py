"""Machines on rows in chunks: Newton's method of ``solvers.newton``, one pass over the chunks per step.

The problem is that of ``solvers.feature_newton``. A machine keeps theta, the exact gradient and G = A' W A there. A
step solves, on the client,

    (G + lam/c* D) delta = A' S z L'(u) / c* - lam/c* D theta

and asks all chunks about theta + delta: J there, the gradient there, and what the rows that have changed pieces add to
G. These are sums over rows, O(r^2) numbers for any number of rows. The piece of a row follows from theta, so that it
is found again wherever its chunk is, and never travels.

A step that J does not fall by is shortened, by one more pass that evaluates J at several lengths. The gradient is exact
whatever G is, so that rounding in G costs steps and not digits. With g the right-hand side, g' delta bounds the square
of what is left to do in decision values; the search ends where that is nothing, or rounding.

Several machines (one per class) ask their questions in the same pass.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.distributed.blocks import Evaluate, Evaluation, LossesAlong, Moments, Question
from svmpath.solvers.feature_newton import Factored
from svmpath.solvers.newton import KNOT_TIE, MOST_STEPS, not_found
from svmpath.solvers.pieces import Pieces

Array = np.ndarray
Ask = Callable[[list[Question]], list[Any]]
Search = Generator[Question, Any, "ChunkedPoint"]

_NOTHING_LEFT = 1e-10  # in units of decision values, times the root of a weight
_STALLED = 0.5  # by which the rest must shrink when a step stays on its piece; else it is rounding
_STEPS = np.array([1e-3, 1e-2, 0.05, *(np.arange(1, 16) / 16)])  # lengths at which J is compared
_SHORTER = 1e-3  # times these where none of them lowers J
_MOST_SHORTENED = 3


@dataclass(frozen=True)
class ChunkedPoint:
    """A machine that may not be optimal yet: theta, the sum of its losses, A' S z L'(u) / c* and A' W A."""

    loss: Pieces
    theta: Array
    losses: float
    gradient: Array
    G: Array

    def objective(self, lam: float, theta: Array | None = None, losses: float | None = None) -> float:
        """J here, or at another theta with these losses."""
        w = (self.theta if theta is None else theta)[:-1]
        return (self.losses if losses is None else losses) + 0.5 * lam * float(w @ w)

    def moved(self, theta: Array, there: Evaluation) -> ChunkedPoint:
        """The point at another theta."""
        return ChunkedPoint(
            self.loss, theta, there.loss, there.gradient, self.G if there.G is None else self.G + there.G
        )

    def factor(self, lam: float) -> Factored:
        """The system at lam."""
        return Factored.at(self.G, self.gradient, 2.0 * lam / self.loss.largest)

    def step(self, lam: float) -> tuple[Array, float]:
        """Newton's step, and how much is left to do, in units of decision values times the root of a weight."""
        g = self.gradient.copy()
        g[:-1] -= lam / self.loss.largest * self.theta[:-1]
        delta = self.factor(lam).solve(g)
        return delta, float(np.sqrt(max(g @ delta, 0.0)))


def first_point(loss: Pieces, moments: Moments, machine: int) -> ChunkedPoint:
    """The limit of the squared hinge for lam to infinity: b is the mean label, and every row is inside the margin."""
    G, c = moments.G, moments.c[:, machine]
    b = c[-1] / G[-1, -1]
    theta = np.append(np.zeros(len(c) - 1), b)
    return ChunkedPoint(loss, theta, float(moments.squares[machine] - b * c[-1]), c - b * G[:, -1], G)


def minimise(point: ChunkedPoint, machine: int, lam: float, weight: float) -> Search:
    """The minimiser of J at lam from a point: a generator that yields questions and is sent their answers.

    ``weight`` is that of an ordinary row: what is left to do is measured beside it.
    """
    nothing = _NOTHING_LEFT * np.sqrt(weight)
    rest, stays = np.inf, False
    for _ in range(MOST_STEPS):
        before = rest
        delta, rest = point.step(lam)
        if rest <= nothing or (stays and rest > _STALLED * before):
            return point
        aim = point.theta + delta
        there = yield Evaluate(point.loss, machine, aim, point.theta)
        stays = there.moved == 0 or there.far <= KNOT_TIE * (1.0 + there.top)
        if not stays and not point.objective(lam, aim, there.loss) < point.objective(lam):
            shortened = yield from _shorten(point, machine, lam, aim)
            if shortened is None:
                return point
            aim, there = shortened
        point = point.moved(aim, there)
    raise not_found(lam)


def _shorten(point: ChunkedPoint, machine: int, lam: float, aim: Array) -> Generator[Question, Any, Any]:
    """The best of several points on the way to the aim, and what it is like; None if J falls at none of them."""
    steps = _STEPS
    for _ in range(_MOST_SHORTENED):
        losses = yield LossesAlong(point.loss, machine, point.theta, aim, steps)
        thetas = point.theta + steps[:, None] * (aim - point.theta)
        objectives = [point.objective(lam, *each) for each in zip(thetas, losses, strict=True)]
        best = int(np.argmin(objectives))
        if objectives[best] < point.objective(lam):
            there = yield Evaluate(point.loss, machine, thetas[best], point.theta)
            return thetas[best], there
        steps = steps * _SHORTER
    return None


def minimise_all(points: list[ChunkedPoint], lam: float, ask: Ask, weight: float) -> list[ChunkedPoint]:
    """The minimisers of several machines; each pass answers one question of every machine that is not found yet."""
    minimisers = list(points)
    searches = {machine: minimise(point, machine, lam, weight) for machine, point in enumerate(points)}
    replies: dict[int, Any] = dict.fromkeys(searches)
    while searches:
        questions: dict[int, Question] = {}
        for machine, search in list(searches.items()):
            try:
                questions[machine] = search.send(replies[machine])
            except StopIteration as end:
                minimisers[machine] = end.value
                del searches[machine]
        if questions:
            replies = dict(zip(questions, ask(list(questions.values())), strict=True))
    return minimisers

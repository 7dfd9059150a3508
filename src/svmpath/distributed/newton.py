"""Machines on rows in chunks: what Newton's method (``solvers.newton``) asks about rows, one pass over them per step.

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
from svmpath.solvers.newton import KNOT_TIE, MOST_STEPS, AskingNewton, not_found
from svmpath.solvers.pieces import Pieces

Array = np.ndarray
Ask = Callable[[list[Question]], list[Any]]

_NOTHING_LEFT = 1e-10  # in units of decision values, times the root of a weight
_LEAST = 1e-3  # of the weight of all rows
_ROUNDING = 1e-9
_STALLED = 0.5  # by which the rest must shrink when a step stays on its piece; else it is rounding
_STEPS = np.array([1e-3, 1e-2, 0.05, *(np.arange(1, 16) / 16)])  # lengths at which J is compared
_SHORTER = 1e-3  # times these where none of them lowers J
_MOST_SHORTENED = 3


@dataclass(frozen=True)
class ChunkedPoint:
    """A machine that may not be optimal yet: theta, the sum of its losses, A' S z L'(u) / c* and A' W A.

    ``least`` is what the sum of W counts for at least in a step: where hardly a row is on a curved piece, nothing else
    says how far the offset should go, and a step that is too long is shortened.
    """

    loss: Pieces
    theta: Array
    losses: float
    gradient: Array
    G: Array
    least: float = 0.0

    @classmethod
    def of(cls, loss: Pieces, theta: Array, there: Evaluation, weight: float) -> ChunkedPoint:
        """The point at theta, of what a question without a base was answered; ``weight`` is that of all rows."""
        G = np.zeros((len(theta),) * 2) if there.G is None else there.G
        return cls(loss, theta, there.loss, there.gradient, G, _LEAST * weight)

    def objective(self, lam: float, theta: Array | None = None, losses: float | None = None) -> float:
        """J here, or at another theta with these losses."""
        w = (self.theta if theta is None else theta)[:-1]
        return (self.losses if losses is None else losses) + 0.5 * lam * float(w @ w)

    def moved(self, theta: Array, there: Evaluation) -> ChunkedPoint:
        """The point at another theta."""
        G = self.G if there.G is None else self.G + there.G
        return ChunkedPoint(self.loss, theta, there.loss, there.gradient, G, self.least)

    def factor(self, lam: float, least: float = 0.0) -> Factored:
        """The system at lam."""
        G = self.G
        if G[-1, -1] < max(least, _ROUNDING * self.least):
            G = G.copy()
            G[-1, -1] = max(least, _ROUNDING * self.least)
        return Factored.at(G, self.gradient, 2.0 * lam / self.loss.largest)

    def step(self, lam: float) -> tuple[Array, float]:
        """Newton's step, and how much is left to do, in units of decision values times the root of a weight."""
        g = self.gradient.copy()
        g[:-1] -= lam / self.loss.largest * self.theta[:-1]
        delta = self.factor(lam, self.least).solve(g)
        return delta, float(np.sqrt(max(g @ delta, 0.0)))


def first_theta(moments: Moments, machine: int) -> Array:
    """No weights, and the mean target as offset."""
    return np.append(np.zeros(len(moments.G) - 1), moments.c[-1, machine] / moments.G[-1, -1])


def first_point(loss: Pieces, moments: Moments, machine: int) -> ChunkedPoint:
    """The limit of the squared hinge for lam to infinity: b is the mean label, and every row is inside the margin."""
    G, c, theta = moments.G, moments.c[:, machine], first_theta(moments, machine)
    b = float(theta[-1])
    return ChunkedPoint(loss, theta, float(moments.squares[machine] - b * c[-1]), c - b * G[:, -1], G)


class ChunkedNewton(AskingNewton[ChunkedPoint]):
    """J of one machine at lam, on rows that are asked about.

    Parameters
    ----------
    machine : int
        Its number in the questions.
    lam : float
    weight : float
        That of an ordinary row: what is left to do is measured beside it.
    """

    most_steps = MOST_STEPS

    def __init__(self, machine: int, lam: float, weight: float) -> None:
        self.machine, self.lam, self._nothing = machine, lam, _NOTHING_LEFT * np.sqrt(weight)
        self._step, self._rest, self._stays = np.empty(0), np.inf, False

    def is_minimum(self, point: ChunkedPoint) -> bool:
        before = self._rest
        self._step, self._rest = point.step(self.lam)
        return self._rest <= self._nothing or (self._stays and self._rest > _STALLED * before)

    def aim(self, point: ChunkedPoint) -> Array:
        return point.theta + self._step

    def advancing(self, point: ChunkedPoint, aim: Array) -> Generator[Question, Any, tuple[ChunkedPoint, bool]]:
        there = yield Evaluate(point.loss, self.machine, aim, point.theta)
        self._stays = there.moved == 0 or there.far <= KNOT_TIE * (1.0 + there.top)
        if self._stays or point.objective(self.lam, aim, there.loss) < point.objective(self.lam):
            return point.moved(aim, there), False
        steps = _STEPS
        for _ in range(_MOST_SHORTENED):  # the best of several points on the way to the aim
            losses = yield LossesAlong(point.loss, self.machine, point.theta, aim, steps)
            thetas = point.theta + steps[:, None] * (aim - point.theta)
            objectives = [point.objective(self.lam, *each) for each in zip(thetas, losses, strict=True)]
            best = int(np.argmin(objectives))
            if objectives[best] < point.objective(self.lam):
                there = yield Evaluate(point.loss, self.machine, thetas[best], point.theta)
                return point.moved(thetas[best], there), False
            steps = steps * _SHORTER
        return point, True  # J falls at none of them


def minimise_all(points: list[ChunkedPoint], lam: float, ask: Ask, weight: float) -> list[ChunkedPoint]:
    """The minimisers of several machines; each pass answers one question of every machine that is not found yet."""
    minimisers = list(points)
    searches = {k: ChunkedNewton(k, lam, weight).searching(point) for k, point in enumerate(points)}
    replies: dict[int, Any] = dict.fromkeys(searches)
    while searches:
        questions: dict[int, Question] = {}
        for machine, search in list(searches.items()):
            try:
                questions[machine] = search.send(replies[machine])
            except StopIteration as end:
                minimisers[machine], is_found = end.value
                if not is_found:
                    raise not_found(lam) from None
                del searches[machine]
        if questions:
            replies = dict(zip(questions, ask(list(questions.values())), strict=True))
    return minimisers

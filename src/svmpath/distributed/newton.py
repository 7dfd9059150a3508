"""Machines of the squared hinge on rows in chunks: Newton's method, one pass over the chunks per step.

The problem is that of ``solvers.feature_newton``. A machine keeps theta, the exact gradient and G = A_E' S A_E there. A
step solves, on the client,

    (G + lam/2 D) delta = A_E' S (y - f) - lam/2 D theta

and asks all chunks about theta + delta: J there, the gradient there, and what the rows that have changed sides add to
G. These are sums over rows, O(r^2) numbers for any number of rows. The sides of a row follow from theta, so that they
are found again wherever its chunk is, and never travel.

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
from svmpath.solvers.newton import MOST_STEPS, not_found

Array = np.ndarray
Ask = Callable[[list[Question]], list[Any]]
Search = Generator[Question, Any, "Point"]

_NOTHING_LEFT = 1e-10  # in units of decision values, times the root of a weight
_STALLED = 0.5  # by which the rest must shrink when a step stays on its piece; else it is rounding
_MARGIN_TIE = 1e-11  # rows so close to the margin (times the size of f) may be on either side
_STEPS = np.array([1e-3, 1e-2, 0.05, *(np.arange(1, 16) / 16)])  # lengths at which J is compared
_SHORTER = 1e-3  # times these where none of them lowers J
_MOST_SHORTENED = 3


@dataclass(frozen=True)
class Point:
    """A machine that may not be optimal yet: theta, J without its penalty, A_E' S (y - f) and A_E' S A_E."""

    theta: Array
    loss: float
    pull: Array
    G: Array

    def objective(self, lam: float) -> float:
        """J."""
        return self.loss + penalty(self.theta, lam)

    def moved(self, theta: Array, found: Evaluation) -> Point:
        """The point at another theta."""
        return Point(theta, found.loss, found.pull, self.G if found.G is None else self.G + found.G)

    def gradient(self, lam: float) -> Array:
        """Minus half the gradient of J."""
        g = self.pull.copy()
        g[:-1] -= 0.5 * lam * self.theta[:-1]
        return g

    def factor(self, lam: float) -> Factored:
        """The system at lam."""
        return Factored.at(self.G, self.pull, lam)

    def step(self, lam: float) -> tuple[Array, float]:
        """Newton's step, and how much is left to do, in units of decision values times the root of a weight."""
        g = self.gradient(lam)
        delta = self.factor(lam).solve(g)
        return delta, float(np.sqrt(max(g @ delta, 0.0)))


def penalty(theta: Array, lam: float) -> float:
    """lam/2 |w|^2."""
    return 0.5 * lam * float(theta[:-1] @ theta[:-1])


def first_point(moments: Moments, machine: int) -> Point:
    """The limit for lam to infinity, w = 0 and b the mean label, where every row is inside the margin."""
    G, c = moments.G, moments.c[:, machine]
    b = c[-1] / G[-1, -1]
    theta = np.zeros(len(c))
    theta[-1] = b
    return Point(theta, float(moments.squares[machine] - b * c[-1]), c - b * G[:, -1], G)


def minimise(point: Point, machine: int, lam: float, weight: float) -> Search:
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
        found = yield Evaluate(machine, aim, point.theta)
        stays = found.moved == 0 or found.far <= _MARGIN_TIE * (1.0 + found.top)
        if not stays and not found.loss + penalty(aim, lam) < point.objective(lam):
            shortened = yield from _shorten(point, machine, lam, aim)
            if shortened is None:
                return point
            aim, found = shortened
        point = point.moved(aim, found)
    raise not_found(lam)


def _shorten(point: Point, machine: int, lam: float, aim: Array) -> Generator[Question, Any, Any]:
    """The best of several points on the way to the aim, and what it is like; None if J falls at none of them."""
    steps = _STEPS
    for _ in range(_MOST_SHORTENED):
        losses = yield LossesAlong(machine, point.theta, aim, steps)
        thetas = point.theta + steps[:, None] * (aim - point.theta)
        objectives = losses + np.array([penalty(theta, lam) for theta in thetas])
        best = int(np.argmin(objectives))
        if objectives[best] < point.objective(lam):
            found = yield Evaluate(machine, thetas[best], point.theta)
            return thetas[best], found
        steps = steps * _SHORTER
    return None


def minimise_all(points: list[Point], lam: float, ask: Ask, weight: float) -> list[Point]:
    """The minimisers of several machines; each pass answers one question of every machine that is not found yet."""
    found = list(points)
    searches = {machine: minimise(point, machine, lam, weight) for machine, point in enumerate(points)}
    replies: dict[int, Any] = dict.fromkeys(searches)
    while searches:
        questions: dict[int, Question] = {}
        for machine, search in list(searches.items()):
            try:
                questions[machine] = search.send(replies[machine])
            except StopIteration as end:
                found[machine] = end.value
                del searches[machine]
        if questions:
            replies = dict(zip(questions, ask(list(questions.values())), strict=True))
    return found

"""The loop of Newton's method, on a function of one variable that is quadratic in pieces."""

from dataclasses import dataclass

import numpy as np
import pytest

from svmpath.solvers.newton import NewtonOnPieces
from svmpath.solvers.pieces import Pieces


@dataclass(frozen=True)
class Number:
    """A point of the line, x of every sample, and which kinks are to its right."""

    x: float
    f: np.ndarray
    E: np.ndarray


class Kinks(NewtonOnPieces[Number]):
    """J(x) = x^2 / 2 + sum_i s_i max(0, k_i - x)^2 / 2."""

    def __init__(self, k, s, most_steps=50):
        super().__init__(Pieces((0.0,), (0.0, 1.0), of_margin=False), np.asarray(k), np.asarray(s))
        self.most_steps, self.values = most_steps, []

    def point(self, x):
        f = np.full(len(self.y), float(x))
        return Number(float(x), f, self.region(f))

    def penalty(self, point):
        return 0.5 * point.x**2

    def penalty_along(self, point, aim):
        return point.x * (aim.x - point.x), (aim.x - point.x) ** 2

    def between(self, point, aim, t):
        return self.point(point.x + t * (aim.x - point.x))

    def aim(self, point):
        self.values.append(self.objective(point))
        s = np.where(point.E, self.s, 0.0)
        return self.point(s @ self.y / (1.0 + s.sum()))


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_has_a_derivative_of_zero_and_every_step_goes_down(seed):
    rng = np.random.default_rng(seed)
    problem = Kinks(rng.normal(size=30) * 10 ** rng.uniform(-1, 1, 30), 10 ** rng.uniform(-2, 2, 30))
    found, is_found = problem.minimise(problem.point(100.0 * rng.normal()))
    assert is_found
    assert found.x - problem.s @ np.maximum(problem.y - found.x, 0.0) == pytest.approx(0.0, abs=1e-9)
    assert np.all(np.diff(problem.values) < 0.0)


def test_a_line_search_where_the_full_step_does_not_go_down():
    # From x = 1.1, no kink to the right of it, the aim is 0; there the steep kink at 1 costs more than is gained.
    problem = Kinks([1.0], [100.0])
    start = problem.point(1.1)
    assert problem.objective(problem.aim(start)) > problem.objective(start)
    problem.values.clear()
    found, is_found = problem.minimise(start)
    assert is_found
    assert found.x == pytest.approx(100.0 / 101.0, rel=1e-12)
    assert np.all(np.diff(problem.values) < 0.0)


def test_too_few_steps_are_said_to_be_too_few():
    problem = Kinks([1.0], [100.0], most_steps=1)
    assert not problem.minimise(problem.point(1.1))[1]

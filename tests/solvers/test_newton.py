"""The loop of Newton's method, on a function of one variable that is quadratic in pieces."""

from dataclasses import dataclass

import numpy as np
import pytest

from svmpath.solvers.newton import PiecewiseQuadratic


@dataclass(frozen=True)
class Number:
    """A point of the line, and which kinks are to its right."""

    x: float
    E: np.ndarray


class Kinks(PiecewiseQuadratic[Number]):
    """J(x) = x^2 / 2 + sum_i s_i max(0, k_i - x)^2 / 2."""

    def __init__(self, k, s, most_steps=50):
        self.k, self.s, self.most_steps, self.values = np.asarray(k), np.asarray(s), most_steps, []

    def point(self, x):
        return Number(float(x), x < self.k)

    def objective(self, point):
        return float(0.5 * point.x**2 + 0.5 * self.s @ np.maximum(self.k - point.x, 0.0) ** 2)

    def aim(self, point):
        self.values.append(self.objective(point))
        s = np.where(point.E, self.s, 0.0)
        return self.point(s @ self.k / (1.0 + s.sum()))

    def is_tied(self, point, aim, moved):
        return bool(np.abs(self.k - aim.x)[moved].max() <= 1e-12)

    def search(self, point, aim):
        x = np.linspace(point.x, aim.x, 4097)
        return self.point(x[np.argmin([self.objective(self.point(each)) for each in x])])


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_has_a_derivative_of_zero_and_every_step_goes_down(seed):
    rng = np.random.default_rng(seed)
    problem = Kinks(rng.normal(size=30) * 10 ** rng.uniform(-1, 1, 30), 10 ** rng.uniform(-2, 2, 30))
    found, is_found = problem.minimise(problem.point(100.0 * rng.normal()))
    assert is_found
    assert found.x - problem.s @ np.maximum(problem.k - found.x, 0.0) == pytest.approx(0.0, abs=1e-9)
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

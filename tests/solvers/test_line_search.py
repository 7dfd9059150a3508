"""The exact line search against a fine grid of steps."""

import numpy as np
import pytest

from svmpath.solvers.line_search import exact_step


def objective(t, slack, rate, s, level, steep):
    return s @ np.maximum(slack + t * rate, 0.0) ** 2 + level * t + 0.5 * steep * t * t


@pytest.mark.parametrize("seed", range(30))
def test_no_other_step_is_lower(seed):
    rng = np.random.default_rng(seed)
    slack, rate, s = rng.normal(size=12), rng.normal(size=12), rng.exponential(size=12)
    slack[rng.random(12) < 0.3] = 0.0  # on the margin
    s[0] = 0.0
    level, steep = rng.normal(), rng.exponential()
    t = exact_step(slack, rate, s, (slack > 0) & (s > 0), level, steep)
    low = min(objective(each, slack, rate, s, level, steep) for each in np.linspace(0, 1, 2001))
    assert objective(t, slack, rate, s, level, steep) <= low + 1e-12


def test_samples_on_the_margin_that_move_to_its_left_count_at_once():
    # One sample goes from slack 2 to -2, the other from 0 to 2: the lowest sum of squares is halfway.
    slack, rate = np.array([2.0, 0.0]), np.array([-2.0, 2.0])
    assert exact_step(slack, rate, np.ones(2), slack > 0, 0.0, 0.0) == pytest.approx(0.5)

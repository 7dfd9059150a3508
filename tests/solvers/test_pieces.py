"""Losses that are quadratic in pieces: their formulas against plain ones, and the exact line search against a grid."""

import numpy as np
import pytest

from svmpath.solvers.pieces import SQUARED_HINGE, Pieces

H = 0.5
LOSSES = {
    "squared hinge": (SQUARED_HINGE, lambda u: np.maximum(u, 0.0) ** 2),
    "huberised hinge": (
        Pieces((0.0, H), (0.0, 1.0 / H, 0.0)),
        lambda u: np.where(u <= 0, 0.0, np.where(u < H, u**2 / (2 * H), u - H / 2)),
    ),
    "squares": (Pieces((), (2.0,), of_margin=False), lambda u: u**2),
    "asymmetric": (Pieces((0.0,), (0.4, 1.6), of_margin=False), lambda u: np.where(u < 0, 0.2, 0.8) * u**2),
    "three": (
        Pieces((-1.0, 1.0), (0.5, 2.0, 0.0), of_margin=False),
        lambda u: np.where(u < -1, 0.25 * (u + 1) ** 2 - 2 * (u + 1) + 1, np.where(u < 1, u**2, 2 * u - 1)),
    ),
}
every = pytest.mark.parametrize("name", LOSSES)


@every
def test_values_and_derivatives(name):
    loss, plain = LOSSES[name]
    u = np.concatenate([np.linspace(-3, 3, 61) + 0.013, loss.knots, [0.0]])
    np.testing.assert_allclose(loss.value(u), plain(u), atol=1e-13)
    step = 1e-6
    np.testing.assert_allclose(loss.derivative(u), (plain(u + step) - plain(u - step)) / (2 * step), atol=1e-5)
    k = loss.region(u).astype(int)
    np.testing.assert_allclose(loss.derivative(u), loss.slopes[k] + loss.curvature[k] * u, atol=1e-13)
    assert np.all((loss.low[k] <= u) & (u <= loss.high[k]))


@every
def test_the_excess_is_the_loss_plus_its_conjugate_minus_the_product(name):
    loss, plain = LOSSES[name]
    grid = np.linspace(-30, 30, 600_001)
    u = np.random.default_rng(0).normal(size=30)
    a = loss.derivative(np.random.default_rng(1).normal(size=30))
    conjugate = np.array([np.max(each * grid - plain(grid)) for each in a])
    np.testing.assert_allclose(loss.excess(u, a), plain(u) + conjugate - a * u, atol=1e-7)
    np.testing.assert_allclose(loss.excess(u, loss.derivative(u)), 0.0, atol=1e-15)
    assert np.all(loss.excess(u, a + 5.0) >= 0.0)  # beyond the range of the derivative, too


@every
@pytest.mark.parametrize("seed", range(30))
def test_no_other_step_is_lower(name, seed):
    loss, plain = LOSSES[name]
    rng = np.random.default_rng(seed)
    u, rate, s = rng.normal(size=12), rng.normal(size=12), rng.exponential(size=12)
    u[rng.random(12) < 0.3] = 0.0  # on a knot
    rate[1], s[0] = 0.0, 0.0
    level, steep = rng.normal(), rng.exponential()

    def J(t):
        return s @ plain(u + t * rate) + level * t + 0.5 * steep * t * t

    t = loss.lowest(u, rate, s, level, steep)
    assert 0.0 <= t <= 1.0
    assert J(t) <= min(J(each) for each in np.linspace(0, 1, 2001)) + 1e-12


@every
@pytest.mark.parametrize("seed", range(10))
def test_no_other_offset_is_lower(name, seed):
    loss, plain = LOSSES[name]
    rng = np.random.default_rng(seed)
    f, y, s = rng.normal(size=12), np.repeat([1.0, -1.0], 6), rng.exponential(size=12)

    def J(b):
        return s @ plain(loss.u(y, f + b))

    assert J(loss.best_offset(f, y, s)) <= min(J(each) for each in np.linspace(-6, 6, 2001)) + 1e-12


def test_samples_on_the_margin_that_move_to_its_left_count_at_once():
    # One sample goes from slack 2 to -2, the other from 0 to 2: the lowest sum of squares is halfway.
    slack, rate = np.array([2.0, 0.0]), np.array([-2.0, 2.0])
    assert SQUARED_HINGE.lowest(slack, rate, np.ones(2), 0.0, 0.0) == pytest.approx(0.5)


def test_an_interval_of_offsets_has_a_middle():
    loss = LOSSES["huberised hinge"][0]
    f, y = np.zeros(2), np.array([1.0, -1.0])
    assert loss.best_offset(f, y, np.ones(2)) == pytest.approx(0.0)  # both on the left from -1/2 to 1/2
    assert loss.best_offset(f[:1], y[:1], np.ones(1)) == 1.0  # one class: wholly without a loss

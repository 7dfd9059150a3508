"""What every path promises beyond its numbers: other spans, other weights, what it refuses."""

from typing import ClassVar

import numpy as np
import pytest

import svmpath
from svmpath import criteria
from svmpath.losses import EpsilonInsensitive, Hinge
from tests.rounding import assert_same

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.sign(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60))
TWICE, TWICE_Y = np.repeat(X[:30], 2, axis=0), np.repeat(Y[:30], 2)


@pytest.mark.parametrize("rows", [(X, Y), (TWICE, TWICE_Y)])
def test_a_limited_path_over_another_span_is_walked_anew(rows):
    limited = svmpath.trace(*rows, loss="hinge", gamma=1.0, span=(0.1, 10.0), max_events=100_000)
    longer = svmpath.trace(*rows, loss="hinge", gamma=1.0, span=(0.1, 1000.0))
    np.testing.assert_allclose(limited.over_span((0.1, 1000.0)).breakpoints, longer.breakpoints, rtol=1e-9)


def test_a_path_with_another_kernel_is_walked_anew():
    path = svmpath.trace(X, Y, loss="hinge", gamma=1.0, span=(0.1, 10.0), max_events=100_000)
    other = svmpath.trace(X, Y, loss="hinge", gamma=3.0, span=(0.1, 10.0))
    np.testing.assert_allclose(path.with_kernel("gamma", 3.0).breakpoints, other.breakpoints, rtol=1e-9)


def test_a_surface_has_no_limits():
    with pytest.raises(ValueError, match="max_events="):
        svmpath.surface(X, Y, gamma=[0.1, 1.0], max_events=30)


def test_a_limit_needs_an_exact_path(monkeypatch):
    monkeypatch.setattr("svmpath.paths.trackers.exact_is_cheaper", lambda n, rank: False)
    with pytest.raises(ValueError, match="leave tol out"):
        svmpath.trace(X, Y, loss="hinge", tol=1e-3, max_events=3)


@pytest.mark.parametrize("rows", [(X, Y), (TWICE, TWICE_Y)])
def test_a_nu_path_without_samples_of_the_smaller_class_begins_where_it_can(rows):
    path = svmpath.trace(*rows, loss="nu", over="nu", gamma=2.0)
    small = np.flatnonzero(rows[1] == np.sign(-rows[1].sum() or 1.0))[:4]
    rest = path.without(small)
    assert max(rest.span) < max(path.span)
    assert rest.followed().breakpoints[0] == rest.span[0]


def test_the_motion_of_a_merged_path_names_rows_as_given():
    path = svmpath.trace(TWICE, TWICE_Y, loss="hinge", over="weight", sample=[0, 1, 5], gamma=1.0)
    np.testing.assert_array_equal(path.path_parameter.rows, [0, 1, 5])


def test_a_mask_moves_the_weights_of_a_class():
    by_mask = svmpath.trace(X, Y, loss="hinge", over="weight", sample=Y > 0, span=(1, 3), gamma=1.0)
    by_rows = svmpath.trace(X, Y, loss="hinge", over="weight", sample=np.flatnonzero(Y > 0), span=(1, 3), gamma=1.0)
    assert_same(by_mask(2.0).alpha, by_rows(2.0).alpha)


def test_a_loss_without_a_path_is_refused():
    class Unknown(Hinge):
        followed_by: ClassVar = {}

    with pytest.raises(ValueError, match=r"declare one of svmpath.paths.TRACKERS"):
        svmpath.trace(X, Y, loss=Unknown())


def test_a_tube_has_a_width():
    with pytest.raises(ValueError, match="epsilon must be a number >= 0"):
        EpsilonInsensitive(-1.0)


def test_events_of_the_huberised_hinge_are_recorded_at_nodes_only():
    with pytest.raises(ValueError, match="breakpoints='exact'"):
        svmpath.trace(X, Y, loss="huber_hinge", breakpoints="exact")


def test_bounds_need_a_path_over_C():
    path = svmpath.trace(X, Y, loss="hinge", over="weight", sample=[0], gamma=1.0)
    with pytest.raises(ValueError, match="needs a path over C"):
        criteria.xi_alpha(path, [0.5])


@pytest.mark.parametrize("span", ["19", (1.0,), (1.0, 1.0), None])
def test_a_span_is_a_pair(span):
    if span is None:
        assert svmpath.trace(X, Y).span == (1e-3, 1e6)
        return
    with pytest.raises(ValueError, match="span must"):
        svmpath.trace(X, Y, span=span)

"""The values that a hyper-parameter may take, and how a search moves among them."""

import numpy as np
import pytest

from svmpath.search.axis import Axis

LIST = Axis(np.array([0.1, 1.0, 7.0]), step=2.0)
RANGE = Axis(np.array([0.1, 1.0, 10.0]), step=2.0, limits=(0.01, 15.0))


def test_a_list_offers_its_own_values_only():
    assert LIST.neighbours(1.0) == [7.0, 0.1]
    assert LIST.neighbours(7.0) == [1.0]
    assert LIST.neighbours(6.5) == [1.0]  # the nearest of the list is 7
    assert LIST.next(7.0, 1) is None
    assert LIST.next(0.1, -1) is None
    np.testing.assert_array_equal(LIST.around(1.0, 5), [0.1, 1.0, 7.0])
    np.testing.assert_array_equal(LIST.around(0.1, 1), [0.1, 1.0])
    assert LIST.beyond(7.0, [1.0, 7.0]) is None
    assert LIST.beyond(7.0, [0.1, 7.0]) is None
    assert LIST.beyond(1.0, [1.0, 7.0]) == 0.1


def test_a_range_offers_everything_between_its_limits():
    assert RANGE.neighbours(1.0) == [2.0, 0.5]
    assert RANGE.neighbours(10.0) == [15.0, 5.0]  # the last step is cut
    assert RANGE.neighbours(15.0) == [7.5]
    assert RANGE.neighbours(0.01) == [0.02]
    np.testing.assert_allclose(RANGE.around(1.0, 2), [0.25, 0.5, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(RANGE.around(14.0, 1), [7.0, 14.0, 15.0])


def test_values_beyond_the_limits_are_brought_back():
    np.testing.assert_allclose(RANGE.around(100.0, 0), [15.0])
    np.testing.assert_allclose(RANGE.around(1e-5, 1), [0.01, 0.02])
    assert RANGE.next(100.0, 1) is None
    assert RANGE.next(1e-9, -1) is None


@pytest.mark.parametrize("best", [0.1, 10.0])
def test_beyond_the_best_only_if_it_is_an_end(best):
    tried = [0.1, 1.0, 10.0]
    assert RANGE.beyond(1.0, tried) is None
    found = {0.1: 0.05, 10.0: 15.0}[best]
    assert RANGE.beyond(best, tried) == pytest.approx(found)
    assert RANGE.beyond(best * (1 + 1e-9), tried) == pytest.approx(found)


def test_a_wide_step_is_that_of_the_first_values():
    assert RANGE.beyond(0.1, [0.1, 1.0, 10.0], wide=True) == pytest.approx(0.01)
    assert Axis(np.array([1.0]), 2.0, (0.1, 10.0)).beyond(1.0, [1.0], wide=True) == 2.0


def test_ends():
    assert LIST.is_end(7.0)
    assert LIST.is_end(0.1)
    assert not LIST.is_end(1.0)
    assert RANGE.is_end(15.0)
    assert RANGE.is_end(0.01)
    assert not RANGE.is_end(10.0)


def test_one_value_is_fixed_and_no_end():
    one = Axis(np.array([3.0]))
    assert one.is_fixed
    assert not one.is_end(3.0)
    assert one.neighbours(3.0) == []
    np.testing.assert_array_equal(one.around(3.0, 4), [3.0])
    assert not Axis(np.array([3.0]), limits=(1.0, 4.0)).is_fixed


def test_a_walk_up_a_range_ends_at_its_limit():
    value, seen = 0.01, []
    while value is not None:
        seen.append(value)
        value = RANGE.next(value, 1)
    assert seen[-1] == 15.0
    np.testing.assert_allclose(np.array(seen[1:-1]) / np.array(seen[:-2]), 2.0)

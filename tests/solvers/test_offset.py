"""The middle of what the offset may be."""

import numpy as np
import pytest

from svmpath.solvers.offset import middle, offset_interval

NONE = np.empty(0)


def test_the_interval_is_between_the_tightest_limits():
    assert offset_interval(np.array([-3.0, -1.0]), np.array([2.0, 5.0])) == (-1.0, 2.0)
    assert offset_interval(NONE, NONE) == (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("at_least", "at_most", "wanted"),
    [([-3.0, -1.0], [2.0, 5.0], 0.5), ([], [2.0, 5.0], 2.0), ([-3.0, -1.0], [], -1.0), ([], [], 0.0)],
)
def test_the_middle_or_the_one_end_that_there_is(at_least, at_most, wanted):
    assert middle(np.array(at_least), np.array(at_most)) == wanted

"""Scores that differ by rounding are equal, and what breaks ties decides; others are not."""

import numpy as np
import pytest

from svmpath.search.choice import lowest


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ([0.1625, 0.1625 * (1 - 1e-12), 0.5], [0]),  # equal up to rounding: the tie is broken
        ([0.1625, 0.1625 * (1 - 1e-6), 0.5], [1]),  # a difference that rows could show
        ([1e-20, 0.0, 0.5], [0]),  # beside 0.5 both are nothing
        ([1e-12, 0.0, 0.5], [1]),
    ],
)
def test_ties_are_broken_where_scores_are_equal_up_to_rounding(scores, chosen):
    assert lowest(np.array(scores), np.array([1.0, 2.0, 0.0])).tolist() == chosen

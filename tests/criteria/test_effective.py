"""Weights as numbers of samples."""

import numpy as np
import pytest

from svmpath.criteria.effective import counted, effective_number

W = np.random.default_rng(0).uniform(0.0, 3.0, size=20) * (np.arange(20) % 5 > 0)


def test_samples_tell_as_much_as_their_number():
    assert effective_number(np.full(7, 0.3)) == pytest.approx(7.0)
    assert effective_number(np.array([1.0, 1.0, 0.0])) == 2.0
    # The variance of a weighted mean of independent numbers is theirs over the effective number.
    share = W / W.sum()
    assert share @ share == pytest.approx(1 / effective_number(W))


@pytest.mark.parametrize("factor", [1.0, 1e-3, 1e3, 1e-200, 1e200])
def test_the_sum_is_the_effective_number_whatever_the_unit(factor):
    found = counted(factor * W, np.arange(20))
    assert found.sum() == pytest.approx(effective_number(W))
    np.testing.assert_allclose(found / found.max(), W / W.max(), rtol=1e-14)


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 1e-300])
def test_equal_weights_are_one(weight):
    assert counted(np.full(30, weight), np.arange(30)).tolist() == [1.0] * 30


def test_entries_of_a_sample_share_its_weight():
    samples = np.array([0, 1, 1, 2, 2, 2])
    found = counted(W[1 + samples], samples)
    np.testing.assert_allclose(np.bincount(samples, found), counted(W[1:4], np.arange(3)), rtol=1e-14)
    assert found[1] == found[2]

"""Paired tests, against other ways to the same numbers."""

from math import comb

import numpy as np
import pytest
from scipy.stats import ttest_rel

from svmpath.criteria.paired import holm, paired_test


@pytest.mark.parametrize(("b", "c"), [(9, 1), (5, 5), (0, 6), (30, 12), (3, 0)])
def test_mcnemar_is_twice_the_smaller_binomial_tail(b, c):
    first, second = np.zeros(60), np.zeros(60)
    first[:b], second[b : b + c] = 1, 1
    test = paired_test(first, second, is_rate=True)
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
    assert test.p == pytest.approx(min(1.0, 2 * tail))
    assert (test.method, test.only_first, test.only_second) == ("McNemar", b, c)


def test_equal_methods_have_p_one():
    assert paired_test(np.ones(5), np.ones(5), is_rate=True).p == 1.0
    assert paired_test(np.ones(5), np.ones(5), is_rate=False).p == 1.0
    assert paired_test(np.ones(1), np.zeros(1), is_rate=False).p == 1.0


def test_other_losses_by_the_paired_t_test():
    first, second = np.random.default_rng(0).gamma(2.0, size=(2, 40))
    assert paired_test(first, second, is_rate=False).p == pytest.approx(ttest_rel(first, second).pvalue)


def test_a_weight_of_a_group_counts_its_rows_once():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 30))
    units = np.repeat(np.arange(10), 3)
    sums = [each.reshape(10, 3).sum(axis=1) for each in (first, second)]
    assert paired_test(first, second, is_rate=False, units=units).p == pytest.approx(ttest_rel(*sums).pvalue)
    weights = np.repeat([1.0, 2.0], 15)
    test = paired_test(first, second, is_rate=False, weights=weights)
    assert test.p == pytest.approx(ttest_rel(weights * first, weights * second).pvalue)


def test_holm_by_hand_and_in_any_order():
    p = np.array([0.005, 0.04, 0.011, 0.02])
    expected = np.array([0.02, 0.04, 0.033, 0.04])
    np.testing.assert_allclose(holm(p), expected)
    order = np.array([2, 0, 3, 1])
    np.testing.assert_allclose(holm(p[order]), expected[order])
    np.testing.assert_allclose(holm([0.6, 0.5]), [1.0, 1.0])
    assert holm([]).tolist() == []


def test_chance_is_rarely_significant():
    rng = np.random.default_rng(0)
    found = [paired_test(*rng.integers(0, 2, (2, 80)).astype(float), is_rate=True).p < 0.05 for _ in range(400)]
    assert np.mean(found) <= 0.06


@pytest.mark.parametrize("m", [2, 5, 30])
def test_differences_without_spread_are_judged_by_their_signs(m):
    """t would be infinite and p 0, with two groups even; that all of m signs are equal has probability 2 / 2^m."""
    assert paired_test(np.ones(m), np.zeros(m), is_rate=False).p == pytest.approx(2 / 2**m)
    groups = np.arange(2 * m) % m
    assert paired_test(np.ones(2 * m), np.zeros(2 * m), is_rate=True, units=groups).p == pytest.approx(2 / 2**m)

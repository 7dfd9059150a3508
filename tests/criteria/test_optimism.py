"""Corrections of the smallest of several held-out errors, beside plain loops, and intervals beside scipy's."""

import numpy as np
import pytest
from scipy import stats

from svmpath.criteria.interval import clopper_pearson, mean_interval
from svmpath.criteria.optimism import LossTable, bootstrap_error, parts_optimism

RNG = np.random.default_rng(0)
LOSSES = RNG.exponential(size=(37, 6)) * np.linspace(1.0, 1.3, 6)  # no ties
OTHER = RNG.random((37, 6))
W = RNG.integers(0, 4, size=37).astype(float)
UNITS = RNG.integers(0, 12, size=37)


def bootstrap_by_hand(losses, deciding, w, units, draws, seed):
    """BBC-CV as it is written in the paper, one draw and one row after another."""
    names = [name for name in np.unique(units) if w[units == name].sum() > 0]
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        drawn = [names[at] for at in rng.integers(len(names), size=len(names))]
        bag = np.concatenate([np.flatnonzero(units == name) for name in drawn])
        out = np.flatnonzero(np.isin(units, [name for name in names if name not in drawn]))
        if len(out) == 0:
            continue
        best = np.argmin(np.average(deciding[bag], axis=0, weights=w[bag]))
        found.append(np.average(losses[out, best], weights=w[out]))
    return np.mean(found)


def parts_by_hand(losses, w, units, parts, seed):
    """Tibshirani and Tibshirani's bias, one part after another."""
    names = np.array([name for name in np.unique(units) if w[units == name].sum() > 0])
    part = np.random.default_rng(seed).permutation(len(names)) % parts
    chosen = np.argmin(np.average(losses, axis=0, weights=w))
    found = []
    for k in range(parts):
        rows = np.isin(units, names[part == k])
        errors = np.average(losses[rows], axis=0, weights=w[rows])
        found.append(errors[chosen] - errors.min())
    return np.mean(found)


@pytest.mark.parametrize("units", [np.arange(37), UNITS], ids=["rows", "groups"])
@pytest.mark.parametrize("w", [np.ones(37), W], ids=["plain", "weighted"])
@pytest.mark.parametrize("deciding", [LOSSES, OTHER], ids=["same", "other"])
def test_the_bootstrap_is_that_of_a_plain_loop(monkeypatch, units, w, deciding):
    table = LossTable.of(LOSSES, deciding, w, units)
    expected = bootstrap_by_hand(LOSSES, deciding, w, units, 50, 3)
    assert bootstrap_error(table, draws=50, seed=3) == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr("svmpath.criteria.optimism._AT_ONCE", 200)  # a few draws at a time
    assert bootstrap_error(table, draws=50, seed=3) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("units", [np.arange(37), UNITS], ids=["rows", "groups"])
@pytest.mark.parametrize("w", [np.ones(37), W], ids=["plain", "weighted"])
def test_the_bias_by_parts_is_that_of_a_plain_loop(units, w):
    found = parts_optimism(LossTable.of(LOSSES, LOSSES, w, units), parts=4, seed=5)
    assert found == pytest.approx(parts_by_hand(LOSSES, w, units, 4, 5), rel=1e-12)
    assert found > 0


def test_weights_are_copies_and_zero_weights_are_absent_rows():
    copies = np.repeat(np.arange(37), W.astype(int))
    weighted = LossTable.of(LOSSES, OTHER, W, UNITS)
    repeated = LossTable.of(LOSSES[copies], OTHER[copies], np.ones(len(copies)), UNITS[copies])
    assert bootstrap_error(weighted, draws=20) == pytest.approx(bootstrap_error(repeated, draws=20), rel=1e-12)
    assert weighted.apparent == pytest.approx(repeated.apparent, rel=1e-12)


def test_candidates_that_guess_are_seen_through_and_one_candidate_is_not_corrected():
    wrong = (np.random.default_rng(1).random((120, 40)) < 0.5).astype(float)
    table = LossTable.of(wrong, wrong, np.ones(120), np.arange(120))
    assert table.apparent < 0.42
    assert bootstrap_error(table) == pytest.approx(0.5, abs=0.03)
    assert table.apparent + parts_optimism(table) > 0.5  # which is known to correct too much on pure noise
    one = LossTable.of(wrong[:, :1], wrong[:, :1], np.ones(120), np.arange(120))
    assert parts_optimism(one) == 0.0
    assert bootstrap_error(one) == pytest.approx(one.apparent, abs=0.005)


def test_two_units_and_equal_candidates():
    table = LossTable.of(np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros((2, 2)), np.ones(2), np.arange(2))
    assert 0.0 < bootstrap_error(table, draws=50) < 1.0  # draws of both units leave none to judge by
    assert parts_optimism(table) == 0.0


# --- intervals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("errors", "n"), [(0, 12), (3, 50), (12, 12), (400, 1000)])
@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_the_interval_of_an_error_rate_is_clopper_and_pearsons(errors, n, coverage):
    expected = stats.binomtest(errors, n).proportion_ci(coverage, method="exact")
    np.testing.assert_allclose(clopper_pearson(errors, n, coverage), expected, atol=1e-12)
    losses = np.repeat([1.0, 0.0], [errors, n - errors])
    found = mean_interval(errors / n, losses, np.ones(n), np.arange(n), is_rate=True, coverage=coverage)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_interval_of_a_mean_is_the_normal_one_and_not_negative():
    x = np.random.default_rng(2).exponential(size=400)
    low, high = mean_interval(x.mean(), x, np.ones(400), np.arange(400), is_rate=False)
    assert (high - low) / 2 == pytest.approx(1.959964 * x.std() / 20, rel=1e-6)
    assert mean_interval(0.01, x, np.ones(400), np.arange(400), is_rate=False)[0] == 0.0


def test_groups_and_uneven_weights_make_intervals_wider():
    losses, ones, rows = np.repeat([0.0, 0.0, 0.0, 1.0], 25), np.ones(100), np.arange(100)
    low, high = mean_interval(0.25, losses, ones, rows, is_rate=True)
    alike = mean_interval(0.25, losses, ones, np.repeat(np.arange(4), 25), is_rate=True)  # groups err as one
    np.testing.assert_allclose(alike, stats.binomtest(1, 4).proportion_ci(method="exact"), atol=1e-9)
    mixed = mean_interval(0.25, losses, ones, rows % 25, is_rate=True)  # each group has the same rate
    np.testing.assert_allclose(mixed, (low, high), atol=1e-9)
    w = np.where(rows % 10 == 0, 10.0, 0.1)
    uneven = mean_interval(0.25, losses, w, rows, is_rate=True)
    assert uneven[0] < low < high < uneven[1]


def test_no_error_at_all_still_has_an_interval():
    assert mean_interval(0.0, np.zeros(30), np.ones(30), np.arange(30), is_rate=True)[1] == pytest.approx(
        stats.binomtest(0, 30).proportion_ci(method="exact").high
    )


def test_equal_errors_are_equal_whatever_the_unit_of_the_weights():
    wrong = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])  # weights 1 + 5 against 6
    for unit in (1.0, 0.3, 0.7, 1.1):
        table = LossTable.of(wrong, wrong, unit * np.array([1.0, 5.0, 6.0, 4.0]), np.arange(4))
        assert table.choices(np.ones((1, 4))).tolist() == [0]  # the first, though 0.3 + 1.5 is more than 0.3 * 6

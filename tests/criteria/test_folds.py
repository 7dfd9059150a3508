"""Folds: numbers that do not fit the rows, and how the rows are dealt out."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

import svmpath
from svmpath import criteria
from svmpath.criteria.folds import make_folds

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.repeat([0, 1], 10)
RNG = np.random.default_rng(1)


@pytest.mark.parametrize("is_classification", [True, False])
def test_more_folds_than_rows_are_refused(is_classification):
    with pytest.raises(ValueError, match=r"^cv=21 is more than the 20 rows; use cv=20 or less[.]$"):
        make_folds(21, X, Y, is_classification=is_classification)


def test_more_folds_than_rows_of_any_class_are_refused():
    with pytest.raises(ValueError, match=r"^cv=11 is more than the 10 rows of the largest class; use fewer folds"):
        make_folds(11, X, Y, is_classification=True)
    assert len(make_folds(11, X, Y, is_classification=False)) == 11


def test_a_class_with_fewer_rows_than_folds_is_named_once():
    y = np.repeat([0, 1], [17, 3])
    with pytest.warns(UserWarning, match="smallest class") as caught:
        folds = make_folds(5, X, y, is_classification=True)
    assert [str(each.message) for each in caught] == [
        "The smallest class has only 3 of the 20 rows, so with cv=5 some folds hold none of it; use fewer folds."
    ]
    assert len(folds) == 5


def test_a_splitter_is_used_as_it_is():
    for pair, other in zip(make_folds(KFold(4), X, Y, is_classification=True), KFold(4).split(X, Y), strict=True):
        np.testing.assert_array_equal(pair[0], other[0])
        np.testing.assert_array_equal(pair[1], other[1])


def parts_of(folds, n):
    """The fold of each row; every row is in one."""
    part = np.full(n, -1)
    for k, (train, test) in enumerate(folds):
        assert sorted([*train, *test]) == list(range(n))
        assert (part[test] == -1).all()
        part[test] = k
    return part


@pytest.mark.parametrize("number", [2, 5, 7])
def test_folds_hold_equal_parts_of_every_class_and_are_drawn_at_random(number):
    y = np.sort(RNG.choice(["a", "b", "c"], size=103, p=[0.2, 0.5, 0.3]))
    rows = RNG.normal(size=(103, 2))
    part = parts_of(make_folds(number, rows, y, is_classification=True), 103)
    for label in "abc":
        counts = np.bincount(part[y == label], minlength=number)
        assert counts.max() - counts.min() <= 1
    counts = np.bincount(part)
    assert counts.max() - counts.min() <= 1
    other = parts_of(make_folds(number, rows, y, is_classification=True, seed=1), 103)
    assert 0.5 / number < np.mean(part == other) < 2.0 / number  # by chance


def test_folds_of_numbers_have_the_same_quantiles():
    y = np.arange(100.0) ** 2
    rows = RNG.normal(size=(100, 2))
    part = parts_of(make_folds(5, rows, y, is_classification=False), 100)
    for block in range(20):
        assert sorted(part[5 * block : 5 * block + 5]) == [0, 1, 2, 3, 4]
    assert len({tuple(part[5 * block : 5 * block + 5]) for block in range(20)}) > 5  # not always the same way


@pytest.mark.parametrize("is_classification", [True, False])
@pytest.mark.parametrize("pairwise", [True, False])
def test_folds_go_with_the_rows(is_classification, pairwise):
    rows = RNG.normal(size=(60, 3))
    y = RNG.integers(3, size=60) if is_classification else rows[:, 0] + RNG.normal(size=60)
    order = RNG.permutation(60)
    K, turned = (A @ A.T if pairwise else A for A in (rows, rows[order]))
    options = {"is_classification": is_classification, "pairwise": pairwise, "seed": 2}
    part = parts_of(make_folds(5, K, y, **options), 60)
    np.testing.assert_array_equal(parts_of(make_folds(5, turned, y[order], **options), 60), part[order])


@pytest.mark.parametrize("is_classification", [True, False])
def test_rows_of_weight_zero_change_nothing_for_the_others(is_classification):
    rows, s = RNG.normal(size=(80, 3)), RNG.integers(2, size=80)
    rows[s == 0] *= 50.0
    y = RNG.integers(2, size=80) if is_classification else RNG.normal(size=80)
    whole = parts_of(make_folds(4, rows, y, is_classification=is_classification, s=s), 80)
    kept = s > 0
    alone = parts_of(make_folds(4, rows[kept], y[kept], is_classification=is_classification), int(kept.sum()))
    np.testing.assert_array_equal(whole[kept], alone)


def test_rows_sorted_by_the_target_do_no_harm():
    rows = np.sort(RNG.uniform(-3, 3, size=(150, 1)), axis=0)
    y = np.sin(rows[:, 0]) + 0.1 * RNG.normal(size=150)
    path = svmpath.trace(rows, y, loss="least_squares", gamma=3.0)
    assert criteria.kfold(path, [10.0]).scores[0] < 0.02
    assert criteria.kfold(path, [10.0], cv=KFold(5)).scores[0] > 0.05  # blocks of rows have to be extrapolated to


def test_a_criterion_refuses_them_in_the_same_words():
    path = svmpath.trace(X, Y, loss="least_squares", span=(0.1, 10.0))
    with pytest.raises(ValueError, match="cv=21 is more than the 20 rows"):
        criteria.kfold(path, [1.0], cv=21)

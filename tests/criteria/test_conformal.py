"""f^(-i)(x) against plain refits, and the quantile rules against their definitions by counting."""

from dataclasses import replace

import numpy as np
import pytest

import svmpath
from svmpath.criteria.conformal import (
    OfFolds,
    entry_weights,
    fold_machines,
    has_formula,
    intervals,
    label_sets,
    leave_one_out_machines,
    misfits,
    ten_folds,
    upper_quantile,
)
from svmpath.paths import ClosedFormPath, MarchPath
from tests import reference
from tests.speed import each_once

N, GAMMA, C = 40, 0.5, 3.0
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = np.sin(X[:, 0]) + 0.3 * RNG.normal(size=N)
NEW = RNG.normal(size=(7, 3))
UNEVEN = RNG.uniform(0.2, 3.0, size=N)
THREES = np.array([1.0, 1.0, 1.0, 3.0] * 7 + [0.0, 0.0])  # with sum 42 and squares 84: worth 21 samples


def traced(X, y, loss="least_squares", **options):
    return svmpath.trace(X, y, loss=loss, gamma=GAMMA, span=(1e-2, 1e2), **options)


def refits(K, cross, y, s, C, out):
    """Decision values at new rows of plain machines, each fitted without some rows: shape (m, len(out))."""
    found = []
    for rows in out:
        weights = s.copy()
        weights[rows] = 0.0
        alpha, b = reference.fit(K, y, weights, C)
        found.append(cross @ alpha + b)
    return np.array(found).T


@pytest.mark.parametrize("s", [np.ones(N), UNEVEN, np.where(np.arange(N) % 5, UNEVEN, 0.0)], ids=["1", "s", "zeros"])
@pytest.mark.parametrize("is_known", [False, True], ids=["factor", "spectrum"])
def test_least_squares_at_new_rows_is_a_refit_without_each_sample(s, is_known):
    path = traced(X, Y, sample_weight=s)
    if is_known:
        path.spectrum  # noqa: B018 - from now on it is used in place of a factor
    found = leave_one_out_machines(path, C, Y[:, None])
    K, cross = reference.rbf(X, X, GAMMA), reference.rbf(NEW, X, GAMMA)
    np.testing.assert_allclose(found.at(NEW)[:, :, 0], refits(K, cross, Y, s, C, range(N)), atol=1e-8)
    np.testing.assert_allclose(found.held[:, 0], reference.leave_one_out(K, Y, s, C), atol=1e-8)


def test_large_C_keeps_eight_digits():
    path = svmpath.trace(X, Y, loss="least_squares", gamma=GAMMA, span=(1.0, 1e4))
    found = leave_one_out_machines(path, 1e4, Y[:, None])
    K, cross = reference.rbf(X, X, GAMMA), reference.rbf(NEW, X, GAMMA)
    np.testing.assert_allclose(
        found.at(NEW)[:, :, 0], refits(K, cross, Y, np.ones(N), 1e4, range(N)), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("s", [np.ones(N), UNEVEN], ids=["1", "s"])
def test_low_rank_at_new_rows_is_a_refit_without_each_sample(s):
    path = traced(X, Y, sample_weight=s, rank=12, random_state=0)
    Z, z = path.gram.Z, path.gram.features(NEW)
    found = leave_one_out_machines(path, C, Y[:, None])
    np.testing.assert_allclose(found.at(NEW)[:, :, 0], refits(Z @ Z.T, z @ Z.T, Y, s, C, range(N)), atol=1e-8)


def test_features_in_single_precision():
    rng = np.random.default_rng(3)
    X, s = rng.normal(size=(90, 2)), rng.uniform(0.5, 2.0, size=90)
    y = X[:, 0] + 0.1 * rng.normal(size=90)
    path = traced(X, y, sample_weight=s, rank=svmpath.gram.Nystroem(10, landmarks="uniform", single=True))
    Z, z = path.gram.Z.astype(float), path.gram.features(NEW[:, :2])
    found = leave_one_out_machines(path, C, y[:, None])
    assert path.gram.Z.dtype == np.float32
    np.testing.assert_allclose(found.at(NEW[:, :2])[:, :, 0], refits(Z @ Z.T, z @ Z.T, y, s, C, range(90)), atol=1e-4)


@pytest.mark.parametrize("s", ["ones", "equal in copies", "free"])
@pytest.mark.parametrize("rank", [None, 8])
def test_one_copy_of_a_repeated_row_is_left_out(s, rank):
    ids = np.tile(np.arange(N // 4), 4)
    rows, y = X[ids], Y[ids]
    y[:3] += 1.0  # equal rows with another target are no copies
    s = {"ones": np.ones(N), "equal in copies": UNEVEN[ids], "free": np.where(np.arange(N) % 7, UNEVEN, 0.0)}[s]
    path = traced(rows, y, sample_weight=s, rank=rank, random_state=0)
    assert path.problem.copies is not None
    K, cross = reference.rbf(rows, rows, GAMMA), reference.rbf(NEW, rows, GAMMA)
    if rank is not None:
        Z, z = path.unmerged.gram.Z, path.gram.features(NEW)
        K, cross = Z @ Z.T, z @ Z.T
    found = leave_one_out_machines(path, C, y[:, None])
    np.testing.assert_allclose(found.at(NEW)[:, :, 0], refits(K, cross, y, s, C, range(N)), atol=1e-8)
    np.testing.assert_array_equal(found.rows, np.arange(N))


def test_several_targets_are_several_machines():
    targets = np.where(np.arange(N)[:, None] % 3 == np.arange(3), 1.0, -1.0)
    found = leave_one_out_machines(traced(X, targets[:, 0]), C, targets).at(NEW)
    for k in range(3):
        alone = leave_one_out_machines(traced(X, targets[:, k]), C, targets[:, [k]]).at(NEW)
        np.testing.assert_allclose(found[:, :, k], alone[:, :, 0], atol=1e-12)


def test_blocks_are_the_whole(monkeypatch):
    found = leave_one_out_machines(traced(X, Y), C, Y[:, None])
    whole = found.at(NEW)
    monkeypatch.setattr("svmpath.criteria.conformal._VALUES_AT_ONCE", 2 * N)
    parts = list(found.blocks(NEW))
    assert len(parts) == 4
    np.testing.assert_allclose(np.concatenate([f for _, f in parts]), whole, atol=1e-13)


def test_which_paths_have_a_formula():
    assert has_formula(ClosedFormPath)
    assert not has_formula(MarchPath)
    assert leave_one_out_machines(traced(X, np.sign(Y), "squared_hinge"), C, np.sign(Y)[:, None]) is None
    ids = np.tile(np.arange(N // 4), 4)
    path = traced(X[ids], np.sign(Y)[ids], "hinge")
    assert path.problem.copies is not None
    assert leave_one_out_machines(path, C, np.sign(Y)[ids][:, None]) is None


LOSSES = {"squared_hinge": 1e-8, "hinge": 1e-8, "epsilon_insensitive": 1e-8, "huber_hinge": 1e-6, "least_squares": 1e-8}


def folds_of(rows, y, *, is_classification, groups=None):
    return ten_folds(rows, y, is_classification=is_classification, groups=groups, s=np.ones(len(y)), pairwise=False)


@each_once
@pytest.mark.parametrize("repeats", [1, 4])
@pytest.mark.parametrize("loss", LOSSES)
def test_fold_machines_are_refits_without_the_fold(loss, repeats):
    ids = np.tile(np.arange(N // repeats), repeats)
    is_regression = loss == "epsilon_insensitive"
    rows, y = X[ids], (Y if is_regression else np.sign(Y))[ids]
    folds = folds_of(rows, y, is_classification=not is_regression)
    path = traced(rows, y, loss, sample_weight=UNEVEN).over_span((C, C))
    found = fold_machines([path], [C], folds)
    assert len(folds) == 10
    assert sorted(found.rows) == list(range(N))
    f = found.at(NEW)[:, :, 0]
    for entry in range(0, N, 3):
        train, test = folds[found.fold[entry]]
        assert found.rows[entry] in test
        machine = traced(rows[train], y[train], loss, sample_weight=UNEVEN[train])(C)
        np.testing.assert_allclose(f[:, entry], machine(NEW), atol=LOSSES[loss])
        np.testing.assert_allclose(found.held[entry, 0], machine(rows[[found.rows[entry]]])[0], atol=LOSSES[loss])


def test_a_fold_without_one_class_has_a_machine():
    y = np.where(np.arange(N) == 5, 1.0, -1.0)
    folds = folds_of(X, y, is_classification=True)
    for loss in ("squared_hinge", "hinge", "huber_hinge", "least_squares"):
        found = fold_machines([traced(X, y, loss).over_span((C, C))], [C], folds)
        entry = int(np.flatnonzero(found.rows == 5)[0])
        np.testing.assert_allclose(found.at(NEW)[:, entry, 0], -1.0, atol=1e-6)


def test_folds_for_few_rows_tiny_classes_and_groups():
    assert len(folds_of(X[:4], Y[:4], is_classification=False)) == 4
    assert len(folds_of(X[:2], np.array([0, 1]), is_classification=True)) == 2
    assert len(folds_of(X[:7], np.array([0] * 6 + [1]), is_classification=True)) == 6
    groups = np.arange(N) % 3
    folds = folds_of(X, Y, is_classification=False, groups=groups)
    assert sorted(set(groups[test]) == {groups[test][0]} for _, test in folds) == [True] * 3
    with pytest.raises(ValueError, match="one group"):
        folds_of(X, Y, is_classification=False, groups=np.zeros(N))


# --- quantiles -------------------------------------------------------------------------------------------------------


def count_upper(values, weights, coverage):
    """By the definition, in whole numbers of hundredths so that nothing is rounded."""
    need = round(coverage * 100) * (round(weights.sum() * 2) + 2)
    enough = [v for v in sorted(values) if round(weights[values <= v].sum() * 2) * 100 >= need]
    return enough[0] if enough else np.inf


@pytest.mark.parametrize("n", [1, 4, 8, 9, 10, 19, 39, 99])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_quantiles_by_the_papers_rule(n, coverage):
    values = np.random.default_rng(n).normal(size=(3, n)).round(1)  # with ties
    ones = np.ones(n)
    k = -(-round(coverage * 100) * (n + 1) // 100)  # the ceiling of (1 - alpha) (n + 1), in whole numbers
    expected = np.sort(values, axis=1)[:, k - 1] if k <= n else np.full(3, np.inf)
    np.testing.assert_array_equal(upper_quantile(values, ones, coverage), expected)
    k = (100 - round(coverage * 100)) * (n + 1) // 100  # the floor of alpha (n + 1)
    expected = np.sort(values, axis=1)[:, k - 1] if k > 0 else np.full(3, -np.inf)
    np.testing.assert_array_equal(-upper_quantile(-values, ones, coverage), expected)


@pytest.mark.parametrize("coverage", [0.1, 0.5, 0.8, 0.9, 0.95])
def test_a_weight_counts_rows(coverage):
    rng = np.random.default_rng(5)
    values, weights = rng.normal(size=(4, 30)).round(1), rng.integers(0, 4, size=30).astype(float)
    twice = np.repeat(values, weights.astype(int), axis=1)
    found = upper_quantile(values, weights, coverage)
    np.testing.assert_array_equal(found, upper_quantile(twice, np.ones(twice.shape[1]), coverage))
    halves = weights / 2
    expected = [count_upper(row, halves, coverage) for row in values]
    np.testing.assert_array_equal(upper_quantile(values, halves, coverage), expected)


def made_up(n=30, m=5, k=1, seed=0):
    """Machines without folds of three, with decision values drawn at random."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(m, n // 3 * k)).round(1)
    held = rng.normal(size=(n, k)).round(1)
    return OfFolds(np.arange(n), held, np.repeat(np.arange(n // 3), 3), lambda X: table[X[:, 0]])


@pytest.mark.parametrize("weights", [None, THREES, 1e-3 * THREES], ids=["1", "w", "w/1000"])
def test_intervals_by_counting(weights):
    left_out, y = made_up(), np.linspace(-1, 1, 30)
    rows = np.arange(5)[:, None]
    w = np.ones(30) if weights is None else THREES / 2
    found = intervals(left_out, y, rows, 0.8, weights)
    for x in range(5):
        f, r = left_out.at(rows)[x, :, 0], np.abs(y - left_out.held[:, 0])
        assert found[x, 1] == count_upper(f + r, w, 0.8)
        assert found[x, 0] == -count_upper(r - f, w, 0.8)


@pytest.mark.parametrize("weights", [None, THREES, 1e-3 * THREES], ids=["1", "w", "w/1000"])
@pytest.mark.parametrize("k", [1, 3])
def test_sets_by_counting(k, weights):
    left_out, code, rows = made_up(k=k), np.arange(30) % max(k, 2), np.arange(5)[:, None]
    found, f = label_sets(left_out, code, rows, 0.5, weights), left_out.at(rows)
    w = np.ones(30) if weights is None else THREES / 2

    def misfit(f, y):
        return -f[0] * (2 * y - 1) if k == 1 else max(f[c] for c in range(k) if c != y) - f[y]

    for x in range(5):
        for y in range(max(k, 2)):
            better = sum(w[i] for i in range(30) if misfit(left_out.held[i], code[i]) < misfit(f[x, i], y) - 1e-6)
            assert found[x, y] == (round(better * 2) < round(w.sum()) + 1)
    assert 0 < found.mean() < 1


def test_misfits_of_equal_decisions():
    np.testing.assert_array_equal(misfits(np.array([[1.0, 1.0, 0.0]])), [[0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(misfits(np.zeros((2, 1))), np.zeros((2, 2)))


def test_a_sample_held_out_twice_counts_once():
    left_out = made_up()
    twice = replace(left_out, rows=np.repeat(left_out.rows[:15], 2))
    np.testing.assert_array_equal(entry_weights(twice, None), np.full(30, 0.5))
    np.testing.assert_array_equal(entry_weights(twice, np.full(30, 3.0)), np.full(30, 0.5))
    uneven = entry_weights(twice, np.tile([1.0, 3.0], 15))  # of the samples 0 to 14
    assert uneven.sum() == pytest.approx((8 * 1 + 7 * 3) ** 2 / (8 * 1 + 7 * 9))

"""``PathOneClassSVM``: false alarms on new rows, p-values, the choice of gamma and nu, scikit-learn's conventions."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import svmpath
from svmpath import PathOneClassSVM, Range
from svmpath.criteria.novelty import Conformity
from svmpath.criteria.volume import REFERENCES, draw_reference
from tests.rounding import assert_same

RNG = np.random.default_rng(0)


def ring(n, rng):
    angle = rng.uniform(0.0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.normal(size=(n, 2))


RING, NEW = ring(120, RNG), ring(3000, RNG)


@pytest.fixture(scope="module")
def model():
    return PathOneClassSVM(nu=0.1).fit(RING)


def test_the_machine_is_that_of_scikit_learn_with_another_offset(model):
    other = OneClassSVM(nu=model.nu_, gamma=model.gamma_, tol=1e-10).fit(RING)
    np.testing.assert_allclose(model.score_samples(NEW), other.score_samples(NEW) / (0.1 * 120), atol=1e-7)
    assert model.offset_ < other.offset_[0] / (0.1 * 120)  # which rejects many more of the new rows
    np.testing.assert_array_equal(model.decision_function(NEW), model.score_samples(NEW) - model.offset_)
    np.testing.assert_array_equal(model.predict(NEW), np.where(model.decision_function(NEW) >= 0, 1, -1))
    assert model.dual_coef_.sum() == pytest.approx(1.0)
    assert model.support_vectors_.shape == (model.n_support_[0], 2)
    assert model.path_.span == (1.0, 0.01)
    np.testing.assert_allclose(model.path_(0.1).fitted, model.score_samples(RING) + model.path_(0.1).b, atol=1e-9)


def test_the_threshold_is_set_on_refits(model):
    held = model.held_out_decisions()
    for i in (0, 17, 80):
        rest = np.delete(RING, i, axis=0)
        refit = svmpath.trace(rest, loss="one_class", gamma=model.gamma_)(0.1)
        whole = model.path_(0.1)
        assert held[i] == pytest.approx(refit(RING[[i]])[0] - (model.offset_ + whole.b), abs=1e-9)
    assert np.count_nonzero(held < 0) == 11  # 12.1 = 0.1 * 121, less one for the new row


def test_p_values_and_predictions_agree(model):
    p = model.p_values(NEW)
    np.testing.assert_array_equal(p <= 0.1, model.predict(NEW) == -1)
    assert model.p_values([[50.0, 50.0]]) == pytest.approx(1 / 121)
    # By the definition, with a plain count.
    held, f = model.held_out_decisions(), model.decision_function(NEW[:50])
    expected = [(1 + np.count_nonzero(held <= each)) / 121 for each in f]
    np.testing.assert_allclose(p[:50], expected, atol=1e-12)


def test_own_p_values_are_uniform(model):
    p = np.sort(model.held_out_p_values())
    np.testing.assert_allclose(p, np.arange(1, 121) / 120, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("nu", [0.05, 0.2])
def test_false_alarms_on_new_rows(nu):
    rng = np.random.default_rng(1)
    models = [PathOneClassSVM(nu=nu).fit(ring(100, rng)) for _ in range(40)]
    alarms = [np.mean(each.predict(NEW) == -1) for each in models]
    theirs = [
        np.mean(OneClassSVM(nu=nu, gamma=each.gamma_).fit(each.path_.gram.X).predict(NEW) == -1) for each in models
    ]
    assert abs(np.mean(alarms) - nu) < 0.02
    assert np.mean(theirs) > 1.5 * nu


def test_p_values_of_new_rows_are_uniform():
    rng = np.random.default_rng(2)
    p = np.concatenate([PathOneClassSVM(gamma=1.0).fit(ring(80, rng)).p_values(ring(40, rng)) for _ in range(30)])
    for level in (0.05, 0.1, 0.3, 0.5, 0.8):
        assert np.mean(p <= level) == pytest.approx(level, abs=0.04)


def test_gamma_is_chosen_where_the_reference_is_most_surprising(model):
    table = model.search_table_
    assert table["kept"].sum() == 1
    kept = table[table["kept"]].iloc[0]
    assert (kept["gamma"], kept["nu"]) == (model.gamma_, model.nu_)
    assert kept["mean_p"] == table["mean_p"].min()
    assert model.predict([[0.0, 0.0]]) == -1  # the hole is seen
    # The mean p-value, by its definition.
    draws = draw_reference("columns", RING, svmpath.validation.draw_seed(None))
    assert kept["mean_p"] == pytest.approx(model.p_values(draws).mean(), abs=1e-12)
    assert kept["volume"] == pytest.approx(np.mean(model.predict(draws) == 1), abs=1e-12)


def test_a_tuned_nu_has_the_largest_excess_mass():
    model = PathOneClassSVM(nu="tune").fit(RING)
    table = model.search_table_
    mine = table[table["gamma"] == model.gamma_]
    excess = 1.0 - mine["nu"] - mine["volume"]
    assert model.nu_ == mine["nu"].iloc[int(np.argmax(excess))]
    given = PathOneClassSVM(nu=[0.05, 0.2], gamma=[1.0, 4.0]).fit(RING)
    assert given.nu_ in (0.05, 0.2)
    assert len(given.search_table_) == 4
    assert 0.02 <= PathOneClassSVM(nu=Range(0.02, 0.3), gamma=1.0).fit(RING).nu_ <= 0.3


@pytest.mark.parametrize("scoring", [None, "f1", "average_precision"])
def test_labelled_novelties_choose_by_a_score(scoring):
    rng = np.random.default_rng(3)
    novel = 0.2 * rng.normal(size=(15, 2))
    X, y = np.vstack([RING, novel]), np.repeat([1, -1], [120, 15])
    model = PathOneClassSVM(scoring=scoring).fit(X, y)
    table = model.search_table_
    assert table.loc[table["kept"], "score"].iloc[0] == table["score"].max()
    assert table["volume"].isna().all()
    assert not np.any(model.support_ >= 120)  # they take no part in the fit
    plain = PathOneClassSVM(gamma=model.gamma_).fit(RING)
    assert_same(plain.decision_function(NEW), model.decision_function(NEW))
    if scoring is None:  # of held-out values, not of fitted ones
        held = np.where(y > 0, model.held_out_decisions(), model.decision_function(X))
        assert table["score"].max() == pytest.approx(roc_auc_score(y, held), abs=1e-12)
    if scoring == "f1":
        from sklearn.metrics import f1_score

        held = np.where(y > 0, model.held_out_decisions(), model.decision_function(X))
        assert table["score"].max() == pytest.approx(f1_score(y, np.where(held > 0, 1, -1), pos_label=-1), abs=1e-12)


def test_weights():
    s = np.random.default_rng(4).integers(0, 3, size=120).astype(float)
    weighted = PathOneClassSVM(gamma=2.0, nu=0.2).fit(RING, sample_weight=s)
    again = PathOneClassSVM(gamma=2.0, nu=0.2).fit(RING, sample_weight=7.0 * s)
    assert_same(weighted.decision_function(NEW), again.decision_function(NEW))
    without = PathOneClassSVM(gamma=2.0, nu=0.2).fit(RING[s > 0], sample_weight=s[s > 0])
    assert_same(weighted.decision_function(NEW), without.decision_function(NEW))
    assert not np.any(s[weighted.support_] == 0)


def test_conformity_with_weights_and_ties():
    held, w = np.array([0.0, 0.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0, 0.0])
    seen = Conformity(held, w)
    n = 16 / 6  # Kish's number
    np.testing.assert_allclose(seen.p_values(np.array([-1.0, 0.0, 1.5])), np.array([1, 1 + n / 2, 1 + n]) / (1 + n))
    assert seen.threshold(0.3) == 0.0  # no row that is not below all is rejected
    assert seen.threshold(0.7) == 1.0
    for nu in np.linspace(0.3, 0.99, 40):
        f = np.array([-1.0, 0.0, 0.5, 1.0, 3.0])
        np.testing.assert_array_equal(f < seen.threshold(nu), seen.p_values(f) <= nu * (1 + 1e-10))


@pytest.mark.parametrize("options", [{}, {"kernel": "laplacian"}, {"kernel": "linear"}, {"rank": 30}, {"nu": "tune"}])
def test_the_order_of_the_rows_does_not_matter(options):
    order = np.random.default_rng(5).permutation(120)
    X = RING + 3.0
    one, other = (PathOneClassSVM(**options).fit(rows) for rows in (X, X[order]))
    assert (one.nu_, one.gamma_) == (other.nu_, other.gamma_)
    np.testing.assert_allclose(one.decision_function(NEW + 3.0), other.decision_function(NEW + 3.0), atol=1e-7)


def test_sparse_frames_float32_and_precomputed(model):
    again = PathOneClassSVM(nu=0.1).fit(sparse.csr_matrix(RING))
    assert again.gamma_ == pytest.approx(model.gamma_)
    np.testing.assert_allclose(again.decision_function(sparse.csr_matrix(NEW)), model.decision_function(NEW), atol=1e-9)
    frame = PathOneClassSVM(nu=0.1, gamma=2.0).fit(pd.DataFrame(RING, columns=["a", "b"]))
    assert frame.feature_names_in_.tolist() == ["a", "b"]
    K = svmpath.trace(RING, loss="one_class", gamma=2.0).gram.K
    matrix = PathOneClassSVM(kernel="precomputed").fit(K)
    np.testing.assert_allclose(matrix.decision_function(K), frame.decision_function(
        pd.DataFrame(RING, columns=["a", "b"])), atol=1e-9)  # fmt: skip
    single = RING.astype(np.float32)
    same = PathOneClassSVM(gamma=2.0).fit(single), PathOneClassSVM(gamma=2.0).fit(single.astype(float))
    assert_same(same[0].decision_function(NEW), same[1].decision_function(NEW))


def test_scale_pipelines_clones_and_pickles(model):
    X = RING * np.array([1.0, 1000.0])
    inside = PathOneClassSVM(scale=True).fit(X)
    outside = make_pipeline(StandardScaler(), PathOneClassSVM()).fit(X)
    np.testing.assert_allclose(
        inside.decision_function(X), outside[-1].decision_function(outside[0].transform(X)), atol=1e-9
    )
    np.testing.assert_array_equal(outside.predict(X), inside.predict(X))
    np.testing.assert_allclose(inside.support_vectors_, X[inside.support_], rtol=1e-9)
    with pytest.warns(UserWarning, match="scale=True"):
        PathOneClassSVM(gamma=1.0).fit(X)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(NEW), model.predict(NEW))
    np.testing.assert_array_equal(loaded.p_values(NEW), model.p_values(NEW))
    assert clone(model).get_params() == model.get_params()
    np.testing.assert_array_equal(
        PathOneClassSVM(gamma=1.0).fit_predict(RING), PathOneClassSVM(gamma=1.0).fit(RING).predict(RING)
    )


def test_folds():
    by_folds = PathOneClassSVM(gamma=2.0, criterion="kfold", cv=4).fit(RING)
    assert by_folds.criterion_ == "kfold"
    folds = list(KFold(4, shuffle=True, random_state=0).split(RING))
    given = PathOneClassSVM(gamma=2.0, cv=folds).fit(RING)
    assert given.criterion_ == "kfold"
    refit = svmpath.trace(RING[folds[0][0]], loss="one_class", gamma=2.0)(0.1)
    whole = svmpath.trace(RING, loss="one_class", gamma=2.0)(0.1)
    expected = refit(RING[folds[0][1]]) - (given.offset_ + whole.b)
    np.testing.assert_allclose(given.held_out_decisions()[folds[0][1]], expected, atol=1e-9)


def test_many_rows_in_low_rank(monkeypatch):
    monkeypatch.setattr("svmpath.estimators.novelty._FOLD_ROWS", 2000)
    rng = np.random.default_rng(6)
    model = PathOneClassSVM(gamma=1.0, rank=40).fit(ring(2100, rng))
    assert (model.criterion_, model.rank_) == ("split", 40)
    assert np.isnan(model.held_out_decisions()).sum() == 1680
    assert np.isnan(model.held_out_p_values()).sum() == 1680
    assert np.mean(model.predict(NEW) == -1) == pytest.approx(0.1, abs=0.04)


def test_rows_of_the_search_are_drawn(monkeypatch):
    monkeypatch.setattr("svmpath.estimators.novelty._SEARCH_ROWS", 60)
    model = PathOneClassSVM().fit(RING)
    assert 0.5 < model.gamma_ < 64
    y = np.repeat([1, -1], [110, 10])
    assert PathOneClassSVM(gamma=[0.1, 1.0]).fit(RING, y).gamma_ in (0.1, 1.0)


@pytest.mark.parametrize("kind", REFERENCES)
def test_references(kind):
    X = np.column_stack([RING, np.full(120, 7.0), RNG.integers(2, size=120)])
    draws = draw_reference(kind, X, 0)
    assert draws.shape == (2000, 4)
    np.testing.assert_allclose(draws[:, 2], 7.0, atol=1e-9)
    if kind != "envelope":  # whose axes have any sign
        assert_same(draws, draw_reference(kind, X[::-1], 0))
    assert PathOneClassSVM(reference=kind).fit(RING).gamma_ > 0


def test_a_reference_of_rows():
    hole = 0.3 * np.random.default_rng(7).normal(size=(200, 2))
    model = PathOneClassSVM(reference=hole).fit(RING)
    assert np.mean(model.predict(hole) == -1) > 0.95


@pytest.mark.parametrize(
    ("X", "options"),
    [
        (np.ones((12, 2)), {}),
        (np.array([[0.0], [1.0]]), {"nu": 0.5}),
        (np.repeat(RING[:10], 6, axis=0), {}),
        (RNG.integers(3, size=(60, 2)).astype(float), {}),
        (RNG.normal(size=(12, 300)), {}),
        (np.column_stack([RING, np.zeros(120)]), {}),
        (RING + 1e5, {}),
    ],
    ids=["equal", "two", "copies", "ties", "wide", "constant", "far"],
)
def test_hard_rows(X, options):
    model = PathOneClassSVM(**options).fit(X)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.p_values(X)).all()
    assert np.mean(model.held_out_p_values() <= model.nu_) <= model.nu_ + 1e-9


def test_too_few_rows_for_a_small_nu():
    with pytest.warns(UserWarning, match="less than one of the 20 rows"):
        model = PathOneClassSVM(nu=0.01, gamma=1.0).fit(RING[:20])
    assert model.p_values(NEW).min() > 0.01


def test_a_failed_fit_leaves_the_model_as_it_was(model):
    kept = clone(model).fit(RING)
    with pytest.raises(ValueError, match="NaN"):
        kept.fit(np.full((5, 2), np.nan))
    np.testing.assert_array_equal(kept.predict(NEW), model.predict(NEW))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nu": 0.0}, "nu must be a number between 0 and 1"),
        ({"nu": 1.5}, "nu must be a number between 0 and 1"),
        ({"nu": "auto"}, "tune"),
        ({"gamma": "ard"}, "needs targets"),
        ({"gamma": -1.0}, "gamma"),
        ({"criterion": "span"}, "criterion"),
        ({"reference": "ball"}, "reference"),
        ({"reference": np.ones((3, 5))}, "features"),
        ({"scoring": "f1"}, "needs labelled rows"),
        ({"cv": 1}, "cv must be a whole number"),
        ({"scale": "yes"}, "scale must be True or False"),
        ({"rank": "much"}, "rank must be"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        PathOneClassSVM(**options).fit(RING)


def test_what_else_is_refused(model):
    with pytest.raises(TypeError, match="by name"):
        PathOneClassSVM(0.1)
    with pytest.raises(ValueError, match="no columns"):
        PathOneClassSVM(kernel="precomputed", nu="tune").fit(np.eye(10))
    with pytest.raises(ValueError, match="At least two rows"):
        PathOneClassSVM().fit(RING[:3], [1, -1, -1])
    with pytest.raises(ValueError, match="features"):
        model.predict(np.ones((2, 3)))


def test_other_targets_are_ignored():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = PathOneClassSVM(gamma=1.0).fit(RING), PathOneClassSVM(gamma=1.0).fit(RING, np.arange(120) % 3)
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))


def test_the_nu_of_the_machine_can_be_another_than_the_rate_of_false_alarms():
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(150, 3)), rng.normal(size=(4000, 3))
    model = PathOneClassSVM(nu=0.1, machine_nu=0.4, gamma=[0.1, 0.3]).fit(X)
    assert model.nu_ == 0.1
    assert len(model.support_) >= 0.4 * 150
    theirs = OneClassSVM(nu=0.4, gamma=model.gamma_, tol=1e-10).fit(X).score_samples(new)
    np.testing.assert_allclose(
        model.score_samples(new), theirs / theirs.mean() * model.score_samples(new).mean(), rtol=1e-5
    )
    assert abs(np.mean(model.predict(new) == -1) - 0.1) < 0.06
    same = PathOneClassSVM(nu=0.1, machine_nu=0.1, gamma=[0.1, 0.3]).fit(X)
    np.testing.assert_allclose(
        same.decision_function(new), PathOneClassSVM(gamma=[0.1, 0.3]).fit(X).decision_function(new)
    )
    with pytest.raises(ValueError, match=r"machine_nu must be a number between 0 and 1, such as 0.1, or None; got 2"):
        PathOneClassSVM(machine_nu=2).fit(X)

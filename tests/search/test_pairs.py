"""One-vs-one: machines of pairs of classes against machines of these rows alone, and when they are chosen."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import SVC
from sklearn.utils.multiclass import _ovr_decision_function

import svmpath
from svmpath import PathSVC, criteria
from svmpath.criteria.pairs import pairs_of, votes
from svmpath.criteria.table import make_criterion
from svmpath.gram import make_gram
from svmpath.kernels import RBF
from svmpath.losses import Problem, make_loss
from svmpath.search import limits
from svmpath.search.evaluator import Evaluator
from svmpath.search.pairs import PairEvaluator

SPAN = (1e-3, 1e3)


def shells(n, k, seed, d=5, noise=0.3):
    """Classes on concentric shells."""
    rng = np.random.default_rng(seed)
    y, u = np.arange(n) % k, rng.normal(size=(n, d))
    radius = 1.0 + y + noise * rng.normal(size=n)
    return u / np.linalg.norm(u, axis=1)[:, None] * radius[:, None], y


def evaluators(X, y, gamma=0.1, s=None, criterion="span", folds=None):
    """One-vs-rest, and the same with pairs."""
    gram, loss = make_gram(X, RBF(gamma)), make_loss("squared_hinge", "classification")
    s = np.ones(len(y)) if s is None else s
    problems = [Problem(gram, np.where(y == c, 1.0, -1.0), s, "classification") for c in np.unique(y)]
    rest = Evaluator(problems, loss, make_criterion(criterion, folds), rule="auto")
    return rest, PairEvaluator.of(rest)


@pytest.fixture(scope="module")
def chosen():
    X, y = shells(360, 6, 0)
    return PathSVC(random_state=0).fit(X, y), X, y


# --- votes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 4, 7])
def test_votes_are_those_of_scikit_learn(k):
    f = np.random.default_rng(k).normal(size=(50, k * (k - 1) // 2))
    theirs = _ovr_decision_function((f > 0).astype(int), f, k)
    np.testing.assert_allclose(votes(f), theirs, atol=1e-12)
    assert pairs_of(k) == list(combinations(range(k), 2))


def test_votes_decide_and_confidences_break_ties():
    f = np.array([[0.1, 5.0, 5.0], [1.0, -2.0, 0.5]])  # 0 or 1, 0 or 2, 1 or 2
    assert np.argmax(votes(f), axis=1).tolist() == [2, 0]  # the second row has one vote each
    assert (votes(f)[0].round() == [0, 1, 2]).all()


# --- machines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "weights", "copies", "rare"])
def test_machines_are_those_of_the_rows_of_two_classes_alone(kind):
    X, y = shells(60, 4, 1)
    s = np.random.default_rng(0).uniform(0.2, 2.0, 60) if kind == "weights" else np.ones(60)
    if kind == "copies":
        X, y, s = np.vstack([X, X[:20]]), np.append(y, y[:20]), np.append(s, s[:20])
    if kind == "rare":  # one row of the last class
        keep = np.append(np.flatnonzero(y < 3), np.flatnonzero(y == 3)[:1])
        X, y, s = X[keep], y[keep], s[keep]
    _, pairs = evaluators(X, y, s=s)
    paths = pairs.paths(pairs.gram, SPAN)
    for (a, b), path in zip(pairs_of(4), paths, strict=True):
        rows = np.flatnonzero((y == a) | (y == b))
        alone = svmpath.trace(X[rows], y[rows], loss="squared_hinge", gamma=0.1, span=SPAN, sample_weight=s[rows])
        for C in (0.3, 30.0):
            np.testing.assert_allclose(path(C).fitted, alone(C)(X), atol=1e-7)
            assert not path(C).alpha[np.setdiff1d(np.arange(len(y)), rows)].any()


def test_held_out_values_are_those_of_refits_without_the_row():
    X, y = shells(32, 4, 2)
    values, gamma = np.array([0.5, 20.0]), 0.1
    _, pairs = evaluators(X, y, gamma, criterion="loo")
    curve = pairs.curve(pairs.paths(pairs.gram, SPAN), values)
    expected = np.empty((2, 32, 4))
    for i in range(32):
        others = np.delete(np.arange(32), i)
        f = np.empty((2, 6))
        for at, (a, b) in enumerate(pairs_of(4)):
            rows = others[np.isin(y[others], (a, b))]
            path = svmpath.trace(X[rows], y[rows], loss="squared_hinge", gamma=gamma, span=SPAN)
            f[:, at] = [path(C)(X[i : i + 1])[0] for C in values]
        expected[:, i] = votes(f)
    np.testing.assert_allclose(curve.held, expected, atol=1e-6)
    wrong = np.argmax(expected, axis=2) != y
    np.testing.assert_allclose(curve.scores, wrong.mean(axis=1))
    assert curve.multi_class == "ovo"
    assert (curve.unreliable == 0).all()


def test_folds_hold_out_rows_of_all_classes():
    X, y = shells(40, 4, 3)
    folds = [(np.setdiff1d(np.arange(40), test), test) for test in np.arange(40).reshape(4, 10)]
    _, pairs = evaluators(X, y, criterion="kfold", folds=folds)
    curve = pairs.curve(pairs.paths(pairs.gram, SPAN), np.array([5.0]))
    for train, test in folds:
        machines = SVC(kernel="precomputed", C=1e9, tol=1e-9, decision_function_shape="ovo")
        K = RBF(0.1)(X, X)  # the squared hinge is the hinge without a limit on a ridged kernel
        machines.fit(K[np.ix_(train, train)] + 0.1 * np.eye(len(train)), y[train])
        f = -machines.decision_function(K[np.ix_(test, train)])  # of the second class
        np.testing.assert_allclose(curve.decisions[0][test], votes(f), atol=1e-4)


def test_rows_of_many_are_left_out_by_the_span_prediction(monkeypatch):
    X, y = shells(120, 4, 4)
    curves = []
    for most, name in ((500, "loo"), (0, "span")):
        monkeypatch.setattr(limits, "PAIR_LOO_ROWS", most)
        _, pairs = evaluators(X, y)
        assert pairs.criterion.__name__ == name
        curves.append(pairs.curve(pairs.paths(pairs.gram, SPAN), np.array([10.0])))
    assert abs(curves[0].scores[0] - curves[1].scores[0]) < 0.04
    # What breaks ties is the mean loss of the machines that a row belongs to.
    f = criteria.span(pairs.paths(pairs.gram, SPAN)[0], [10.0])
    of_pair = y < 2
    loss = np.minimum(np.maximum(0.0, 1.0 - f.target * f.held[0]) ** 2, 9.0)[of_pair]
    assert curves[1].margins.shape == (1, 120)
    assert (3.0 * curves[1].margins[0][of_pair] >= loss - 1e-9).all()


def test_curves_are_joined_and_taken():
    X, y = shells(60, 3, 5)
    _, pairs = evaluators(X, y)
    paths, values = pairs.paths(pairs.gram, SPAN), np.array([0.1, 1.0, 10.0])
    whole = pairs.curve(paths, values)
    joined = pairs.curve(paths, values[1:]).joined(pairs.curve(paths, values[:1])).in_order()
    for name in ("scores", "smooth", "decisive", "margins"):
        np.testing.assert_allclose(getattr(joined, name), getattr(whole, name), atol=1e-9)
    assert whole.taken(np.array([2])).decisive[0] == pytest.approx(whole.decisive[2])


# --- the choice ------------------------------------------------------------------------------------------------------


def test_shells_are_told_apart_by_pairs(chosen, monkeypatch):
    model, X, y = chosen
    new, truth = shells(1500, 6, 1)
    monkeypatch.setattr(limits, "PAIR_OPERATIONS", 0.0)
    rest = PathSVC(random_state=0).fit(X, y)
    assert (model.multi_class_, rest.multi_class_) == ("ovo", "ovr")
    assert model.score(new, truth) > rest.score(new, truth) + 0.05
    assert abs(model.held_out_error() - (1.0 - model.score(new, truth))) < 0.05


def test_what_a_model_of_pairs_knows(chosen):
    model, X, _ = chosen
    f, n_support = model.decision_function(X), len(model.support_)
    assert f.shape == (360, 6)
    np.testing.assert_array_equal(model.classes_[np.argmax(f, axis=1)], model.predict(X))
    assert model.dual_coef_.shape == (15, n_support)
    assert model.intercept_.shape == (15,)
    assert model.n_support_.sum() == n_support
    K = RBF(model.gamma_)(X, model.support_vectors_)
    np.testing.assert_allclose(votes(K @ model.dual_coef_.T + model.intercept_), f, atol=1e-8)
    p = model.predict_proba(X[:40])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(np.argmax(p, axis=1) == np.argmax(f[:40], axis=1)) > 0.9
    new, truth = shells(400, 6, 2)
    is_in = model.predict_set(new, coverage=0.9)
    assert is_in.shape == (400, 6)
    assert 0.8 < is_in[np.arange(400), truth].mean() < 1.0
    table = model.held_out_table()
    assert np.isclose((table["label"] != table["predicted"]).mean(), model.held_out_error())
    assert (table["weight"] == 1.0).all()
    assert model.nested_error("bootstrap").value >= model.held_out_error()
    assert 0.0 < model.held_out_recall().balanced_accuracy < 1.0


def test_what_was_compared_is_in_the_table(chosen):
    model, *_ = chosen
    table = model.search_table_
    assert (table["stage"] == "pairs").sum() >= 2
    kept = table[table["kept"] & ~table["stage"].isin(["screen", "narrow"])]
    assert kept["stage"].tolist() == ["pairs"]
    assert kept["C"].item() == model.C_
    results = model.cv_results_
    best = [str(each) for each in results["param_multi_class"][results["rank_test_score"] == 1]]
    assert set(best) == {"ovo"}


def test_a_report_shows_classes(chosen):
    model, X, y = chosen
    facts = svmpath.Report(model, X, y).facts
    assert any(stage["name"] == "pairs" for stage in facts["stages"])
    assert len(facts["machines"]) == 6


def test_a_saved_model_is_the_same(chosen):
    model, X, _ = chosen
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.multi_class_ == "ovo"
    assert again.held_out_error() == pytest.approx(model.held_out_error())
    np.testing.assert_allclose(again.predict_proba(X[:5]), model.predict_proba(X[:5]))


def test_sparse_rows_give_the_same_pairs(chosen):
    model, X, y = chosen
    sparse = PathSVC(random_state=0).fit(csr_matrix(X), y)
    assert sparse.multi_class_ == "ovo"
    assert sparse.gamma_ == pytest.approx(model.gamma_)
    np.testing.assert_array_equal(sparse.predict(csr_matrix(X)), model.predict(X))


def test_weights_folds_and_groups(chosen):
    _, X, y = chosen
    s = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    s[:10] = 0.0  # as good as absent
    weighted, fewer = (
        PathSVC(random_state=0, gamma=0.01, C=[100.0]).fit(X[rows], y[rows], sample_weight=s[rows])
        for rows in (np.arange(360), np.arange(10, 360))
    )
    assert weighted.multi_class_ == fewer.multi_class_ == "ovo"
    np.testing.assert_allclose(weighted.decision_function(X), fewer.decision_function(X), atol=1e-6)
    grouped = PathSVC(random_state=0, gamma=0.01, C=[100.0]).fit(X, y, groups=np.arange(360) // 3)
    assert (grouped.multi_class_, grouped.criterion_) == ("ovo", "kfold")


def test_no_pairs_where_they_gain_little_or_were_not_asked_for():
    X, y = shells(120, 3, 0, d=2, noise=0.02)  # told apart without an error
    for model in (
        PathSVC(random_state=0),
        PathSVC(loss="squared_hinge", random_state=0),
        PathSVC(scoring="squared_hinge", random_state=0),
        PathSVC(kernel="linear", random_state=0),
    ):
        assert "pairs" not in {stage.name for stage in model.fit(X, y).choice_.stages}
        assert model.multi_class_ == "ovr"
    assert PathSVC(random_state=0).fit(X, y == 1).multi_class_ == "ovr"

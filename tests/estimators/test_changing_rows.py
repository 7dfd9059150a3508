"""Rows added and forgotten, against plain fits at the same hyper-parameters."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import KFold

from svmpath import PathSVC, PathSVR
from svmpath.criteria.pairs import votes
from svmpath.datasets import banana
from svmpath.gram import Nystroem
from svmpath.solvers.kept_inverse import KeptInverse

LOSSES = ("squared_hinge", "least_squares", "hinge", "huber_hinge", "epsilon_insensitive", "pinball")
CLOSE = 1e-9  # in decision values


def fresh(model, X, y, weight=None):
    """A fit on these rows at the hyper-parameters of a model; a list of one C is a C that was tuned."""
    C = model.C if isinstance(model.C, float) else [model.C_]
    given = {"kernel": model.kernel_, "gamma": None, "C": C, "loss": model.path_.loss}
    return clone(model).set_params(**given).fit(X, y, sample_weight=weight)


def draw(seed):
    """Rows of one of six kinds: plain, weighted, with copies, tied, of three classes, with balanced weights."""
    rng = np.random.default_rng(seed)
    loss, kind = LOSSES[seed % 6], seed // 6 % 5
    n = int(rng.integers(40, 90))
    X = rng.normal(size=(n, 2))
    if kind == 2:
        X = X[rng.integers(0, n // 2, n)]  # many rows twice
    if kind == 3:
        X = np.round(X)  # ties, and equal rows with other labels
    score = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], n) if kind == 1 else None
    is_regression = loss in ("epsilon_insensitive", "pinball")
    options = {"loss": loss, "gamma": float(rng.choice([0.3, 2.0])), "random_state": 0}
    options["C"] = [float(rng.choice([0.3, 5.0, 100.0]))] if seed % 2 else float(rng.choice([0.3, 5.0, 100.0]))
    if is_regression:
        return PathSVR(**options, scale=seed % 4 == 0), X, score, weight
    y = np.digitize(score, [-0.5, 0.5]) if kind == 4 else np.where(score > 0, "b", "a")
    balance = "balanced" if seed % 3 == 0 else None
    return PathSVC(**options, class_weight=balance, scale=seed % 4 == 0), X, y, weight


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(60))
def test_a_changed_model_is_that_of_a_fresh_fit(seed):
    model, X, y, weight = draw(seed)
    rng, first = np.random.default_rng(1000 + seed), len(y) - 12
    of = (lambda rows: None) if weight is None else (lambda rows: weight[rows])
    model.fit(X[:first], y[:first], sample_weight=of(slice(first)))
    rows = np.arange(len(y))
    model.add(X[first : first + 1], y[first : first + 1], of(slice(first, first + 1)))
    model.add(X[first + 1 :], y[first + 1 :], of(slice(first + 1, None)))
    gone = rng.choice(len(y), 5, replace=False)
    model.forget(gone[:1]).forget(np.isin(np.delete(rows, gone[0]), gone))
    rows = np.delete(rows, gone)
    expected = fresh(model, X[rows], y[rows], of(rows))
    decide = "decision_function" if hasattr(model, "decision_function") else "predict"
    f, g = getattr(model, decide)(X), getattr(expected, decide)(X)
    scale = max(1.0, float(np.abs(y).max())) if decide == "predict" else 1.0
    np.testing.assert_allclose(f, g, rtol=0, atol=CLOSE * scale)
    assert model._machines.violation <= CLOSE * scale
    assert max(path(model.C_).gap for path in model._machines.paths) <= 1e-7


@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "hinge"])
def test_what_is_held_out_follows(loss):
    X, y = banana(90, random_state=0)
    model = PathSVC(loss=loss, C=2.0, gamma=1.0, threshold="tune").fit(X[:80], y[:80])
    model.add(X[80:], y[80:]).forget([4, 7])
    rows = np.delete(np.arange(90), [4, 7])
    expected = fresh(model, X[rows], y[rows])
    assert model.criterion_ == expected.criterion_
    np.testing.assert_allclose(model.held_out_decisions(), expected.held_out_decisions(), atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert model.threshold_ == pytest.approx(expected.threshold_, abs=1e-6)
    assert np.array_equal(model.predict_set(X[:20]), expected.predict_set(X[:20]))
    assert model.loo_error() == pytest.approx(expected.loo_error())
    assert model.held_out_table()["sample"].max() == len(rows) - 1


@pytest.mark.parametrize("criterion", ["kfold", "span"])
def test_folds_are_drawn_again(criterion):
    X, y = banana(80, random_state=1)
    model = PathSVC(C=2.0, gamma=1.0, criterion=criterion).fit(X[:70], y[:70]).add(X[70:], y[70:])
    expected = fresh(model, X, y)
    np.testing.assert_allclose(model.held_out_decisions(), expected.held_out_decisions(), atol=1e-7)
    assert model.curve_.scores == pytest.approx(expected.curve_.scores)


def test_intervals_follow():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, (60, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=60)
    model = PathSVR(C=3.0, gamma=1.0).fit(X[:50], y[:50]).add(X[50:], y[50:]).forget(0)
    expected = fresh(model, X[1:], y[1:])
    np.testing.assert_allclose(model.predict_interval(X), expected.predict_interval(X), atol=1e-8)


def test_pairs_of_classes_stay_pairs():
    rng = np.random.default_rng(0)
    y, X = np.arange(240) % 5, rng.normal(size=(240, 4))  # concentric shells
    X *= ((1.0 + y + 0.3 * rng.normal(size=240)) / np.linalg.norm(X, axis=1))[:, None]
    model = PathSVC(random_state=0).fit(X[:230], y[:230])
    assert model.multi_class_ == "ovo"
    model.add(X[230:], y[230:]).forget([3])
    X, y = np.delete(X, 3, axis=0), np.delete(y, 3)
    f = []
    for a, b in combinations(range(5), 2):
        two = np.isin(y, [a, b])
        pair = PathSVC(loss=model.loss_, C=float(model.C_), gamma=float(model.gamma_)).fit(X[two], y[two])
        f.append(pair.decision_function(X))
    np.testing.assert_allclose(model.decision_function(X), votes(np.stack(f, axis=1)), atol=CLOSE)
    assert model.held_out_decisions().shape == (239, 5)


def test_low_rank_keeps_its_landmarks():
    X, y = banana(200, random_state=0)
    given = {"C": 2.0, "gamma": 1.0, "loss": "squared_hinge"}
    model = PathSVC(**given, rank=Nystroem(landmarks=np.arange(30))).fit(X[:180], y[:180])
    model.add(X[180:], y[180:]).forget(np.arange(100, 110))
    rows = np.delete(np.arange(200), np.arange(100, 110))
    expected = PathSVC(**given, rank=Nystroem(landmarks=np.arange(30))).fit(X[rows], y[rows])
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match="Row 5 is a landmark"):
        model.forget(5)


def test_sparse_rows_and_saved_models():
    X, y = banana(80, random_state=0)
    model = PathSVC(C=2.0, gamma=1.0).fit(csr_matrix(X[:70]), y[:70]).add(X[70:75], y[70:75])
    model = pickle.loads(pickle.dumps(model)).add(csr_matrix(X[75:]), y[75:])
    expected = fresh(model, X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=CLOSE)


def test_retune_searches_again():
    X, y = banana(150, random_state=0)
    model = PathSVC(random_state=0).fit(X[:100], y[:100])
    start = pickle.loads(pickle.dumps(model))
    model.add(X[100:], y[100:], retune=True)
    expected = PathSVC(random_state=0).fit(X, y, start_from=start)
    assert (model.C_, model.gamma_) == (expected.C_, expected.gamma_)
    assert len(model.search_table_) > 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model, X: model.add(X[:1], ["c"]), "label 'c', which the model does not know"),
        (lambda model, X: model.add(X[:1, :1], ["a"]), "features"),
        (lambda model, X: model.add(X[:1], ["a"], groups=[1]), "fitted without groups"),
        (lambda model, X: model.forget(60), "positions from 0 to 59"),
        (lambda model, X: model.forget(0.5), "positions from 0 to 59"),
        (lambda model, X: model.forget(np.flatnonzero(X[:60, 0] > 0)), "No row of class"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(change, message):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    model = PathSVC(C=1.0, gamma=1.0).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=message):
        change(model, X)
    assert np.array_equal(model.decision_function(X), before)


def test_models_whose_rows_stay_are_named():
    X, y = banana(60, random_state=0)
    K = X @ X.T
    with pytest.raises(ValueError, match="precomputed"):
        PathSVC(kernel="precomputed", C=1.0).fit(K, y).forget(0)
    splits = list(KFold(3).split(X))
    with pytest.raises(ValueError, match="cv holds row numbers"):
        PathSVC(C=1.0, gamma=1.0, cv=splits).fit(X, y).forget(0)


def test_an_inverse_without_digits_is_made_anew():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 40))
    K, y, D = A @ A.T, rng.normal(size=30), np.full(30, 0.1)
    kept, every = KeptInverse(30), np.ones(30, dtype=bool)
    assert kept.build(K, D, every)
    expected = kept.solve(K, D, y)
    kept.R *= 1.2  # each step of refinement leaves a fifth
    assert not kept.is_worn
    found = kept.solve(K, D, y)
    assert kept.is_worn
    assert found is None or np.abs(found.f - expected.f).max() < 1e-9
    kept.R *= -1.0
    assert kept.solve(K, D, y) is None


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_hinge", "least_squares", "hinge", "epsilon_insensitive"])
def test_500_changes_do_not_drift(loss):
    rng = np.random.default_rng(0)
    X, y = banana(700, random_state=0)
    y = y.astype(float) + 0.3 * rng.normal(size=700) if loss == "epsilon_insensitive" else y
    make = PathSVR if loss == "epsilon_insensitive" else PathSVC
    model = make(loss=loss, C=20.0, gamma=1.0).fit(X[:150], y[:150])
    inside, outside = list(range(150)), list(range(150, 700))
    decide = "predict" if make is PathSVR else "decision_function"
    for step in range(500):
        if rng.random() < 0.5:
            row = outside.pop(int(rng.integers(len(outside))))
            model.add(X[[row]], y[[row]])
            inside.append(row)
        else:
            at = int(rng.integers(len(inside)))
            model.forget(at)
            outside.append(inside.pop(at))
        if step % 100 == 99:
            expected = fresh(model, X[inside], y[inside])
            np.testing.assert_allclose(getattr(model, decide)(X), getattr(expected, decide)(X), rtol=0, atol=CLOSE)

"""Which columns matter: against machines that are fitted again without each row or fold, and through a pipeline."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import svmpath
from svmpath import ElasticNetSVC, PathSVC, PathSVR
from svmpath.criteria.conformal import LeftOut
from tests.rounding import assert_same

N, REPEATS = 48, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = np.sin(2 * X[:, 0]) + 0.4 * X[:, 1] + 0.1 * RNG.normal(size=N)
LABELS = np.array(["no", "perhaps", "yes"])[np.digitize(Y, [-0.4, 0.4])]
S = RNG.integers(0, 3, size=N).astype(float)
ONE = {"gamma": 0.4, "C": 2.0}


def orders(m, d, repeats=REPEATS, seed=0):
    """The permutations that are drawn for each column."""
    rng = np.random.default_rng(seed)
    return [[rng.permutation(m) for _ in range(repeats)] for _ in range(d)]


def brute_force(model, X, y, s, folds, losses):
    """The rise of the mean loss by machines that are fitted again without each fold: a fit for each."""
    rows = np.concatenate([test for _, test in folds])
    refits = [type(model)(**model.get_params()).fit(X[t], y[t], None if s is None else s[t]) for t, _ in folds]
    w = np.ones(len(y)) if s is None else s
    rows_used = rows[w[rows] > 0]

    def mean(X):
        every = np.empty(len(rows_used))
        for at, row in enumerate(rows_used):
            refit = refits[next(k for k, (_, test) in enumerate(folds) if row in test)]
            every[at] = losses(refit, X[at : at + 1], y[row])
        return np.average(every, weights=w[rows_used])

    base, taken = mean(X[rows_used]), X[rows_used]
    found = []
    for j, each in enumerate(orders(len(taken), X.shape[1])):
        found.append([])
        for order in each:
            shuffled = taken.copy()
            shuffled[:, j] = taken[order, j]
            found[-1].append(mean(shuffled))
    return np.array(found), base


def leave_one_out():
    return [(np.delete(np.arange(N), i), np.array([i])) for i in range(N)]


def squared(refit, x, y):
    return float((refit.predict(x)[0] - y) ** 2)


@pytest.mark.parametrize("kind", ["dense", "low rank", "weights", "linear"])
def test_least_squares_against_a_refit_without_each_row(kind):
    s = S if kind == "weights" else None
    options = {"kernel": "linear", "C": 2.0} if kind == "linear" else ONE
    model = PathSVR(**options, random_state=0).fit(X, Y, s)
    if kind == "low rank":  # of full rank: the same machine by the other formula
        model = PathSVR(**options, rank=N, random_state=0).fit(X, Y)
    found = model.importance(n_repeats=REPEATS)
    after, base = brute_force(PathSVR(**options, random_state=0), X, Y, s, leave_one_out(), squared)
    assert found.held_out == "rows"
    assert found.kind == "root mean squared error"
    np.testing.assert_allclose(found.baseline, np.sqrt(base), rtol=1e-6)
    np.testing.assert_allclose(found.importances, np.sqrt(after) - np.sqrt(base), rtol=1e-5, atol=1e-6)


def test_other_losses_against_a_refit_without_each_fold():
    model = PathSVR(loss="epsilon_insensitive", epsilon=0.1, **ONE, random_state=0).fit(X, Y)
    found = model.importance(n_repeats=REPEATS)
    after, base = brute_force(model, X, Y, None, model._held_out.outer_folds(), squared)
    assert found.held_out == "folds"
    np.testing.assert_allclose(found.importances, np.sqrt(after) - np.sqrt(base), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_error_rate_of_three_classes_against_refits(loss):
    model = PathSVC(loss=loss, **ONE, random_state=0).fit(X, LABELS)
    folds = leave_one_out() if loss == "least_squares" else model._held_out.outer_folds()
    after, base = brute_force(model, X, LABELS, None, folds, lambda refit, x, y: float(refit.predict(x)[0] != y))
    found = model.importance(scoring="error", n_repeats=REPEATS)
    np.testing.assert_allclose(found.baseline, base, atol=1e-9)
    np.testing.assert_allclose(found.importances, after - base, atol=1e-9)


def test_log_loss_is_that_of_the_probabilities_of_the_model():
    y = (Y > 0).astype(int)
    model = PathSVC(loss="least_squares", **ONE, random_state=0).fit(X, y)
    p = model._held_out.calibration("sigmoid").probabilities(model.held_out_decisions())
    assert_same(model.importance(n_repeats=1).baseline, log_loss(y, p[:, 1]))


def test_ranking_is_that_of_scikit_learn_on_new_rows():
    rng = np.random.default_rng(1)
    new = rng.normal(size=(2000, 3))
    truth = np.sin(2 * new[:, 0]) + 0.4 * new[:, 1]
    model = PathSVR(**ONE, random_state=0).fit(X, Y)
    theirs = permutation_importance(model, new, truth, random_state=0, scoring="neg_root_mean_squared_error")
    found = model.importance()
    assert found.order.tolist() == np.argsort(-theirs.importances_mean).tolist() == [0, 1, 2]
    assert np.all(np.abs(found.importances_mean - theirs.importances_mean) < 0.15)


def test_columns_of_a_pipeline_move_together():
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "high", "low"), "idle": X[:, 2]})
    columns = make_column_transformer((StandardScaler(), ["a", "idle"]), (OneHotEncoder(), ["kind"]))
    model = make_pipeline(columns, PathSVR(**ONE)).fit(frame, Y)
    found = svmpath.importance(model, frame, n_repeats=REPEATS)
    encoded = np.asarray(columns.transform(frame))  # a, idle, and two columns of kind
    last, drawn = model[-1], orders(N, 3)
    own = last._held_out.left_out().own(np.arange(N))
    base = np.sqrt(np.mean((last.held_out_decisions() - Y) ** 2))
    for order, rise in zip(drawn[1], found.importances[1], strict=True):
        shuffled = encoded.copy()
        shuffled[:, 2:] = encoded[order, 2:]
        np.testing.assert_allclose(np.sqrt(np.mean((own(shuffled)[:, 0] - Y) ** 2)) - base, rise, rtol=1e-9, atol=1e-12)
    assert found.feature_names == ["a", "kind", "idle"]


def test_general_form_of_the_machines_of_entries():
    twice = np.repeat(np.arange(N), 2)[: N + 10]  # some rows are copies of others
    for model in (PathSVR(**ONE).fit(X[twice], Y[twice]), PathSVC(loss="hinge", **ONE).fit(X, LABELS)):
        left_out = model._held_out.left_out()
        entries = np.array([5, 0, 17, 5])
        new = RNG.normal(size=(4, 3))
        np.testing.assert_allclose(
            left_out.own(entries)(new), LeftOut.own(left_out, entries)(new), rtol=1e-8, atol=1e-10
        )


def test_sparse_rows_frames_and_names():
    y = (Y > 0).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = PathSVC(loss="least_squares", **ONE, random_state=0)
    plain, named = model.fit(X, y).importance(), model.fit(frame, y).importance()
    assert named.feature_names == ["a", "b", "c"]
    assert plain.feature_names == ["x0", "x1", "x2"]
    assert_same(plain.importances, named.importances)
    np.testing.assert_allclose(
        plain.importances, model.fit(csr_matrix(X), y).importance().importances, rtol=1e-9, atol=1e-12
    )
    assert "a +" in repr(named)


def test_an_interval_covers_zero_for_an_idle_column_and_not_for_the_first():
    found = PathSVR(**ONE, random_state=0).fit(X, Y).importance()
    assert found.intervals[0, 0] > 0 > found.intervals[2, 0]
    assert np.all(found.intervals[:, 0] <= found.importances_mean)
    assert np.all(found.importances_mean <= found.intervals[:, 1])
    assert np.all(found.importances_std >= 0)
    assert found.importances.shape == (3, 5)


def test_fewer_rows_and_a_linear_machine():
    found = ElasticNetSVC(random_state=0).fit(X, Y > 0).importance(max_rows=30, n_repeats=2)
    assert found.n_rows == 30
    assert found.order[0] == 0


def test_what_is_refused():
    model = PathSVR(**ONE).fit(X, Y)
    with pytest.raises(ValueError, match="needs the 48 rows"):
        svmpath.importance(model, X[:5])
    with pytest.raises(ValueError, match="scoring"):
        model.importance(scoring="roc")
    with pytest.raises(ValueError, match="n_repeats"):
        model.importance(n_repeats=0)
    with pytest.raises(TypeError, match="StandardScaler"):
        svmpath.importance(StandardScaler().fit(X), X)
    with pytest.raises(ValueError, match="no columns"):
        PathSVR(kernel="precomputed", C=1.0).fit(X @ X.T, Y).importance()


def test_intervals_and_sets_through_a_pipeline():
    scaler = StandardScaler().fit(X)
    model = make_pipeline(StandardScaler(), PathSVR(**ONE)).fit(X, Y)
    assert_same(svmpath.predict_interval(model, X, 0.8), model[-1].predict_interval(scaler.transform(X), 0.8))
    model = make_pipeline(StandardScaler(), PathSVC(loss="least_squares", **ONE)).fit(X, LABELS)
    assert (svmpath.predict_set(model, X) == model[-1].predict_set(scaler.transform(X))).all()
    assert (svmpath.predict_set(model[-1], X) == model[-1].predict_set(X)).all()
    with pytest.raises(TypeError, match="predict_interval needs"):
        svmpath.predict_interval(model, X)

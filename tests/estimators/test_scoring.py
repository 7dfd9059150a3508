"""``scoring``, ``threshold`` and ``cv_results_`` of the estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_matrix
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold

from svmpath import ElasticNetSVC, PathSVC, PathSVR, Range, criteria
from svmpath.criteria.threshold import threshold_candidates
from tests.rounding import assert_same
from tests.speed import first_quick

X, Y = make_moons(60, noise=0.35, random_state=2)
S = np.random.default_rng(1).integers(1, 4, size=60).astype(float)
WORDS = np.array(["no", "yes"])[Y]
GRID = {"gamma": [0.5, 2.0], "C": [0.3, 3.0], "search": "grid", "random_state": 0}
IRIS, KINDS = load_iris(return_X_y=True)
IRIS, KINDS = IRIS[::3], KINDS[::3]


def unbalanced(seed, n=300):
    """One row in eight is of class 1, and the classes overlap: a machine hardly ever predicts it."""
    rng = np.random.default_rng(seed)
    b = (np.arange(n) % 8 == 0).astype(int)
    return rng.normal(size=(n, 2)) + 1.1 * b[:, None], b


@first_quick(1)
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])  # the hinge counts errors only, unless it is to score
def test_the_choice_maximises_the_score(loss):
    model = PathSVC(loss=loss, scoring="roc_auc", criterion="loo", **GRID).fit(X, Y, sample_weight=S)
    best = {}
    for gamma in GRID["gamma"]:
        for C in GRID["C"]:
            held = PathSVC(loss=loss, gamma=gamma, C=C).fit(X, Y, sample_weight=S / S.mean()).held_out_decisions()
            best[C, gamma] = metrics.roc_auc_score(Y, held, sample_weight=S)
    assert (model.C_, model.gamma_) == max(best, key=best.get)
    assert -model.choice_.score == pytest.approx(max(best.values()), abs=1e-9)
    np.testing.assert_allclose(criteria.score(model.curve_, "roc_auc"), -model.curve_.scores)
    table = pd.DataFrame(model.cv_results_)
    assert {(row.param_C, row.param_gamma): row.mean_test_score for row in table.itertuples()} == pytest.approx(best)
    wrong = (model.held_out_decisions() > 0) != Y
    assert model.loo_error() == pytest.approx(wrong.mean())
    assert model.held_out_error() == pytest.approx(np.average(wrong, weights=S))


@pytest.mark.slow
def test_elastic_net_against_plain_refits():
    model = ElasticNetSVC(lambda1=2.0, lambda2=1.0, standardize=False, criterion="loo", scoring="average_precision")
    model.fit(X, Y, sample_weight=S)
    for lam1, score in zip(model.curve_.values, model.curve_.scores, strict=True):
        f = np.empty(60)
        for i in range(60):
            keep = np.arange(60) != i
            one = ElasticNetSVC(lambda1=lam1, lambda2=1.0, standardize=False, criterion="kfold", cv=2)
            f[i] = one.fit(X[keep], Y[keep], sample_weight=S[keep]).decision_function(X[[i]])[0]
        assert -score == pytest.approx(metrics.average_precision_score(Y, f, sample_weight=S), abs=1e-9)


@first_quick(1)
@pytest.mark.parametrize("make", [PathSVC, PathSVR, ElasticNetSVC])
def test_the_default_score_by_its_name_is_the_default(make):
    name = "neg_mean_squared_error" if make is PathSVR else "accuracy"
    grid = {"lambda2": [0.1, 1.0]} if make is ElasticNetSVC else {"random_state": 0}
    one, other = (make(scoring=scoring, **grid).fit(X, Y, sample_weight=S) for scoring in (None, name))
    assert one.choice_.value == other.choice_.value
    first, second = (pd.DataFrame(model.cv_results_) for model in (one, other))
    assert first.columns.tolist() == second.columns.tolist()
    for column in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(first[column], second[column])


@first_quick(1)
@pytest.mark.parametrize("scoring", ["f1_macro", "roc_auc_ovr", "neg_log_loss"])
def test_several_classes(scoring):
    names = np.array(["setosa", "versicolor", "virginica"])[KINDS]
    model = PathSVC(loss="least_squares", scoring=scoring, random_state=0).fit(IRIS, names)
    assert -model.choice_.score == pytest.approx(criteria.score(model.curve_, scoring)[model.choice_.index])
    assert model.threshold_ is None
    assert model.score(IRIS, names) > 0.9
    assert pickle.loads(pickle.dumps(model)).choice_.score == model.choice_.score


@pytest.mark.parametrize("pos_label", ["no", "yes"])
@pytest.mark.parametrize(
    "name", ["f1", "precision", "recall", "jaccard", "average_precision", "roc_auc", "neg_log_loss"]
)
def test_pos_label_is_that_of_scikit_learn(name, pos_label):
    model = PathSVC(scoring=name, pos_label=pos_label, loss="least_squares", C=1.0, gamma=1.0).fit(X, WORDS)
    f, sign = model.held_out_decisions(), 1.0 if pos_label == "yes" else -1.0
    truth, predicted = pos_label == WORDS, np.where(f > 0, "yes", "no") == pos_label
    p = model._held_out.calibration("sigmoid").probabilities(f)
    known = {
        "average_precision": lambda: metrics.average_precision_score(truth, sign * f),
        "roc_auc": lambda: metrics.roc_auc_score(truth, sign * f),
        "neg_log_loss": lambda: -metrics.log_loss(WORDS == "yes", p),
    }
    expected = known[name]() if name in known else getattr(metrics, f"{name}_score")(truth, predicted)
    assert -model.choice_.score == pytest.approx(expected, abs=1e-12)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(
        model.decision_function(X), clone(model).set_params(scoring=None).fit(X, WORDS).decision_function(X)
    )
    assert pickle.loads(pickle.dumps(model)).cv_results_["mean_test_score"][0] == pytest.approx(expected, abs=1e-12)


def test_the_rarer_class_is_positive_unless_a_label_is_1():
    few = np.arange(len(X)) % 4 == 0
    options = {"loss": "least_squares", "C": 1.0, "gamma": 1.0, "scoring": "recall"}
    for labels in (["rare", "z"], ["z", "rare"], [5, 3], [3, 5]):
        y = np.where(few, labels[0], labels[1])
        model = PathSVC(**options).fit(X, y)
        predicted = model.classes_[(model.held_out_decisions() > 0).astype(int)]
        expected = metrics.recall_score(few, predicted == y[0])
        assert -model.choice_.score == pytest.approx(expected)
    common = PathSVC(**options).fit(X, (~few).astype(int))  # the commoner class is 1, as in scikit-learn
    expected = metrics.recall_score(~few, common.held_out_decisions() > 0)
    assert -common.choice_.score == pytest.approx(expected)


def test_a_threshold_is_tuned_for_the_positive_class():
    few = np.arange(len(X)) % 4 == 0
    y = np.where(few, "a rare one", "common")
    model = PathSVC(loss="least_squares", C=1.0, gamma=1.0, scoring="f1", threshold="tune").fit(X, y)
    scores = [metrics.f1_score(few, model.held_out_decisions() <= cut) for cut in (0.0, model.threshold_)]
    assert scores[1] >= scores[0]


def test_labels_reach_scorers_and_functions():
    scorer = make_scorer(metrics.f1_score, pos_label="yes")
    model = PathSVC(scoring=scorer, criterion="loo", **GRID).fit(X, WORDS)
    f1 = metrics.f1_score(WORDS, np.where(model.held_out_decisions() > 0, "yes", "no"), pos_label="yes")
    assert -model.choice_.score == pytest.approx(f1)
    clone(model).fit(X, WORDS)
    three = np.array(["a", "b", "c"])[KINDS]
    last = make_scorer(metrics.recall_score, labels=["c"], average="macro")
    assert PathSVC(loss="least_squares", scoring=last, gamma=0.1, C=[1.0, 10.0]).fit(IRIS, three).choice_.score < -0.8


def test_regression_and_threads():
    y = np.sin(X[:, 0]) + 0.1 * Y
    one = PathSVR(scoring="r2", **GRID).fit(X, y)
    two = PathSVR(scoring="r2", n_jobs=2, **GRID).fit(X, y)
    assert_same(one.curve_.scores, two.curve_.scores)
    assert -one.choice_.score == pytest.approx(metrics.r2_score(y, one.held_out_decisions()))


TINY, SINGLE = np.arange(60) < 2, np.arange(60) == 7
HARD = {
    "two of a class": (X, TINY, {}),
    "one of a class": (X, SINGLE, {}),
    "equal rows": (np.ones((60, 2)), Y, {}),
    "weights of zero": (X, Y, {"sample_weight": np.where(np.arange(60) % 3 == 0, 0.0, 2.0)}),
    "groups": (X, Y, {"groups": np.arange(60) // 4}),
    "rows given twice": (np.vstack([X[:30], X[:30]]), np.tile(Y[:30], 2), {}),
    "sparse single precision": (csr_matrix(X.astype(np.float32)), Y, {}),
}


@first_quick(1)
@pytest.mark.parametrize("name", HARD)
def test_hard_cases(name):
    A, b, more = HARD[name]
    model = PathSVC(C=[0.5, 2.0], gamma=1.0, scoring="f1", threshold="tune", rule="one_se").fit(A, b, **more)
    s, held = more.get("sample_weight", np.ones(60)), model._held_out.as_chosen().decisions[0]
    at = {
        cut: metrics.f1_score(b, held > cut, sample_weight=s, zero_division=0.0)
        for cut in [*threshold_candidates(held), model.threshold_]
    }
    assert at[model.threshold_] == pytest.approx(max(at.values()))
    assert np.isfinite(model.curve_.scores).all()
    table = pd.DataFrame(model.cv_results_)
    np.testing.assert_allclose(table["mean_test_score"], -model.curve_.scores)


# --- threshold -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_tuned_threshold_helps_on_new_rows():
    gains = []
    for seed in range(3):
        A, b = unbalanced(seed, 600)
        half = {"C": 1.0, "gamma": 0.1, "scoring": "f1"}
        plain, tuned = (PathSVC(threshold=cut, **half).fit(A[:200], b[:200]) for cut in (0.0, "tune"))
        assert plain.threshold_ == 0.0
        assert_same(plain.decision_function(A), tuned.decision_function(A))
        np.testing.assert_array_equal(tuned.predict(A), (tuned.decision_function(A) > tuned.threshold_).astype(int))
        held = tuned.held_out_decisions()
        assert metrics.f1_score(b[:200], held > tuned.threshold_) >= metrics.f1_score(b[:200], held > 0)
        gains.append(
            metrics.f1_score(b[200:], tuned.predict(A[200:])) - metrics.f1_score(b[200:], plain.predict(A[200:]))
        )
    assert min(gains) > 0.0
    assert np.mean(gains) > 0.05


@pytest.mark.slow
def test_thresholds_of_all_kinds():
    A, b = unbalanced(0)
    fixed = PathSVC(C=1.0, gamma=0.1, threshold=-0.3).fit(A, b)
    assert fixed.threshold_ == -0.3
    np.testing.assert_array_equal(fixed.predict(A), (fixed.decision_function(A) > -0.3).astype(int))
    assert PathSVC(C=1.0, gamma=0.1, threshold="tune", scoring="roc_auc").fit(A, b).threshold_ == 0.0
    linear = ElasticNetSVC(lambda1=0.1, lambda2=1.0, threshold="tune", scoring="f1").fit(A, b)
    cut = linear.threshold_
    assert metrics.f1_score(b, linear.held_out_decisions() > cut) > metrics.f1_score(b, linear.held_out_decisions() > 0)
    np.testing.assert_array_equal(linear.predict(A), (linear.decision_function(A) > cut).astype(int))


# --- cv_results_ -----------------------------------------------------------------------------------------------------


def test_results_of_folds_have_their_splits():
    model = PathSVC(loss="hinge", criterion="kfold", cv=3, **GRID).fit(X, Y)
    found = model.cv_results_
    assert isinstance(found["param_C"], np.ma.MaskedArray)
    table = pd.DataFrame(found)
    splits = table[["split0_test_score", "split1_test_score", "split2_test_score"]]
    np.testing.assert_allclose(splits.mean(axis=1), table["mean_test_score"])  # folds of one size
    assert len(table) == 4
    assert table.loc[table["rank_test_score"] == 1, "mean_test_score"].max() == table["mean_test_score"].max()
    best = table.loc[table["mean_test_score"].idxmax()]
    assert best["param_C"] == PathSVC(loss="hinge", criterion="kfold", cv=3).set_params(**best["params"]).fit(X, Y).C_
    assert 1.0 - model.held_out_error() == pytest.approx(table["mean_test_score"].max())


def test_results_hold_what_was_searched():
    table = pd.DataFrame(PathSVC(random_state=0).fit(IRIS, KINDS).cv_results_)
    assert set(table["param_loss"]) == {"least_squares", "squared_hinge"}
    table = pd.DataFrame(
        PathSVR(loss="epsilon_insensitive", C=[1.0, 10.0], gamma=1.0, epsilon=[0.1, 0.3]).fit(X, Y).cv_results_
    )
    assert set(table["param_epsilon"]) == {0.1, 0.3}
    assert "param_gamma" not in table
    table = pd.DataFrame(PathSVC(C=1.0, gamma=1.0).fit(X, Y).cv_results_)
    assert len(table) == 1
    table = pd.DataFrame(PathSVC(criterion="radius_margin", gamma=1.0, C=[1.0, 2.0]).fit(X, X[:, 0] > 0).cv_results_)
    assert (table["mean_test_score"] < 0).all()  # a bound is no accuracy
    table = pd.DataFrame(
        PathSVC(search="gradient", gamma=[0.5, 1.0], C=Range(0.1, 10.0), random_state=0).fit(X, Y).cv_results_
    )
    assert table["param_gamma"].nunique() == 1
    table = pd.DataFrame(ElasticNetSVC(lambda1=[1.0, 2.0], lambda2=[0.1, 1.0], criterion="kfold").fit(X, Y).cv_results_)
    assert len(table) == 4
    assert {"param_lambda1", "param_lambda2", "split4_test_score"} <= set(table)


@pytest.mark.slow
def test_continuous_search_takes_a_score():
    model = PathSVC(search="grid", scoring="logistic", gamma=[0.5, 1.0], C=Range(0.3, 300.0)).fit(X, Y)
    table = pd.DataFrame(model.cv_results_)
    assert -model.choice_.score == pytest.approx(table["mean_test_score"].max())
    assert model.C_ not in np.geomspace(0.3, 300.0, 10)  # of a range any value may be chosen
    assert set(table["param_gamma"]) == {0.5, 1.0}  # of a list only its values


@pytest.mark.parametrize("gamma", [Range(0.5, 2.0), "tune"])
def test_candidates_of_C_are_not_left_where_gamma_is_free(gamma):
    model = PathSVC(loss="least_squares", search="grid", scoring="squared", gamma=gamma, C=[0.3, 3.0]).fit(X, Y)
    assert set(pd.DataFrame(model.cv_results_)["param_C"]) == {0.3, 3.0}


def test_a_loss_of_ones_own_takes_two_arguments():
    own = PathSVC(scoring=lambda y, f: (y - f) ** 2, gamma=[0.5, 1.0], C=[0.3, 3.0], search="grid").fit(X, Y)
    named = PathSVC(scoring="squared", gamma=[0.5, 1.0], C=[0.3, 3.0], search="grid").fit(X, Y)
    assert (own.C_, own.gamma_, own.choice_.score) == (named.C_, named.gamma_, pytest.approx(named.choice_.score))


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (
            PathSVC(scoring="f1", search="gradient"),
            Y,
            "search='gradient' follows a gradient, which scoring='f1' does not",
        ),
        (PathSVC(scoring="f1", gamma="ard"), Y, "gamma='ard' follows a gradient"),
        (
            PathSVC(scoring="f1", criterion="radius_margin"),
            Y,
            "has no held-out decision values, which scoring='f1' needs",
        ),
        (PathSVC(scoring="r2"), Y, "is a score of regressions"),
        (PathSVC(scoring=make_scorer(metrics.f1_score)), WORDS, r"takes 1 for the positive label.*pos_label=.*yes"),
        (
            PathSVC(scoring="f1", pos_label="maybe"),
            WORDS,
            "pos_label must be one of the labels 'no' and 'yes', got 'ma",
        ),
        (PathSVC(pos_label=2), Y, "pos_label must be one of the labels 0 and 1, got 2"),
        (PathSVC(pos_label=1), np.arange(len(Y)) % 3, "pos_label=1 works for two classes only, but y has 3"),
        (PathSVR(scoring="roc_auc"), X[:, 0], "is a score of labels, but this is a regression"),
        (PathSVC(scoring=lambda estimator, X, y: 1.0, class_weight={0: 1, 1: 3}), Y, "takes no sample_weight"),
        (PathSVC(threshold="tuned"), Y, "threshold must be 'tune', or a number; got 'tuned'. Did you mean 'tune'"),
        (PathSVC(threshold=np.nan), Y, "threshold must be a number or 'tune', got nan"),
        (PathSVC(threshold=None), Y, "threshold must be a number or 'tune', got None"),
        (ElasticNetSVC(threshold="tune"), np.arange(60) % 3, "threshold works for two classes only, but y has 3"),
        (PathSVC(threshold=0.1), np.arange(60) % 3, "threshold works for two classes only, but y has 3"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(model, y, message):
    with pytest.raises(ValueError, match=message) as refused:
        model.fit(X, y)
    assert "\n" not in str(refused.value)


@first_quick(1)
@pytest.mark.parametrize("label", [0, 1])
def test_a_cut_may_give_all_rows_one_class(label):
    """If missing a class costs everything it is predicted always, also where decision values are more extreme."""
    score = make_scorer(metrics.recall_score, pos_label=label)
    model = PathSVC(loss="least_squares", C=1.0, gamma=1.0, scoring=score, threshold="tune").fit(X, Y)
    predicted = model.classes_[(model.held_out_decisions() > model.threshold_).astype(int)]
    assert metrics.recall_score(Y, predicted, pos_label=label) == 1.0
    candidates = threshold_candidates(model.held_out_decisions())
    assert candidates.min() < model.held_out_decisions().min()
    assert candidates.max() > model.held_out_decisions().max()


@pytest.mark.slow
def test_errors_and_tables_know_the_threshold():
    A, b = unbalanced(0, 200)
    model = PathSVC(loss="least_squares", scoring="f1", threshold="tune", random_state=0).fit(A, b)
    held, s = model.held_out_decisions(), np.ones(200)
    wrong = (held > model.threshold_) != b
    assert model.threshold_ != 0.0
    assert wrong.mean() != ((held > 0) != b).mean()
    assert model.loo_error() == pytest.approx(wrong.mean())
    assert model.held_out_error() == pytest.approx(np.average(wrong, weights=s))
    low, high = model.held_out_interval()
    assert low < wrong.mean() < high
    table = model.held_out_table().sort_values("sample")
    np.testing.assert_array_equal(table["predicted"], (held > model.threshold_).astype(int))
    for method in ("bootstrap", "parts"):
        with pytest.raises(ValueError, match=r"at the cut 0 only, but threshold_ is .*: use nested_error\('nested'\)"):
            model.nested_error(method)


@first_quick(1)
@pytest.mark.parametrize(
    "estimator",
    [PathSVC(loss="least_squares", C=[0.1, 1.0], gamma=0.1), ElasticNetSVC(lambda1=[0.5, 2.0], lambda2=1.0)],
)
def test_a_threshold_changes_the_errors_but_not_what_was_searched(estimator):
    plain, cut = (clone(estimator).set_params(threshold=each).fit(X, Y) for each in (0.0, 0.7))
    for results in (plain.cv_results_, cut.cv_results_):
        assert max(results["mean_test_score"]) == pytest.approx(1.0 - plain.held_out_error())
    np.testing.assert_array_equal(cut.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(cut.predict_proba(X), plain.predict_proba(X))
    assert cut.held_out_error() == pytest.approx(np.mean((cut.held_out_decisions() > 0.7) != Y))
    assert cut.held_out_error() != pytest.approx(plain.held_out_error())
    assert cut.nested_error().value != pytest.approx(plain.nested_error().value)


def test_a_model_without_a_threshold_predicts():
    """Such as one that was saved before there was one."""
    model = PathSVC(C=1.0, gamma=1.0).fit(X, Y)
    before = model.predict(X)
    del model.threshold_
    np.testing.assert_array_equal(model.predict(X), before)
    assert 0.0 < model.held_out_error() < 0.5


class Counting:
    """A scorer that counts how often it is asked."""

    def __init__(self, score=metrics.f1_score):
        self.score, self.times = score, 0

    def __call__(self, estimator, X, y):
        self.times += 1
        return self.score(y, estimator.predict(X), average="macro", zero_division=0.0)


@first_quick(1)
@pytest.mark.parametrize(
    "model",
    [
        PathSVC(
            loss="least_squares", search="grid", **{"C": np.geomspace(0.1, 10, 7).tolist(), "gamma": [0.5, 1.0, 2.0]}
        ),
        PathSVC(
            loss="least_squares",
            criterion="kfold",
            search="grid",
            C=np.geomspace(0.1, 10, 7).tolist(),
            gamma=[0.5, 1, 2],
        ),
        ElasticNetSVC(lambda1=np.geomspace(0.1, 10, 7).tolist(), lambda2=[0.1, 1.0, 10.0], patience=None),
    ],
)
def test_a_fit_asks_the_scorer_once_for_each_pair(model):
    scorer = Counting()
    fitted = clone(model).set_params(scoring=scorer)
    scorer = fitted.scoring
    fitted.fit(X, Y)
    tries = 5  # whether it fits the task
    assert 21 <= scorer.times <= 21 + tries
    scorer.times = 0
    table = fitted.cv_results_
    folds = 5 if fitted.error_criterion_ == "kfold" else 0
    assert scorer.times == 21 * (10 + folds)
    assert np.isfinite(table["std_test_score"]).all()
    fitted.cv_results_  # noqa: B018
    assert scorer.times == 21 * (10 + folds)  # what was found is kept
    again = clone(fitted).set_params(rule="one_se")
    again.scoring.times = 0
    again.fit(X, Y)
    assert again.scoring.times <= 2 * 21 + 10 + tries  # if another gamma is chosen, its curve is made again


@pytest.mark.slow
def test_long_curves_keep_the_standard_error_of_the_best_value_only(monkeypatch):
    whole = PathSVC(loss="least_squares", criterion="kfold", scoring="f1", **GRID).fit(X, Y)
    a = whole.cv_results_
    monkeypatch.setattr("svmpath.search.limits.KEPT_DECISIONS", 100)
    part = PathSVC(loss="least_squares", criterion="kfold", scoring="f1", **GRID).fit(X, Y)
    assert (part.C_, part.gamma_) == (whole.C_, whole.gamma_)
    b = part.cv_results_
    best = int(np.argmax(a["mean_test_score"]))
    assert b["std_test_score"][best] == pytest.approx(a["std_test_score"][best])
    assert a["std_test_score"][best] > 0
    assert np.isnan(b["std_test_score"]).any()
    assert np.isnan(b["split0_test_score"]).all()
    assert np.isfinite(a["split0_test_score"]).all()
    for model in (whole, part):
        same = pickle.loads(pickle.dumps(model)).cv_results_["std_test_score"]
        np.testing.assert_array_equal(same, model.cv_results_["std_test_score"])


@first_quick(1)
@pytest.mark.parametrize("scoring", [None, "accuracy", "f1"])
def test_standard_errors_know_groups(scoring):
    """Near-copies of 20 rows are 20 rows, not 300."""
    rng = np.random.default_rng(0)
    b = np.arange(20) % 2
    A = rng.normal(size=(20, 2)) + 0.8 * b[:, None]
    groups = np.repeat(np.arange(20), 15)
    near = A[groups] + 1e-3 * rng.normal(size=(300, 2))
    models = [
        PathSVC(
            loss="least_squares", criterion="kfold", cv=5, scoring=scoring, C=[1.0], gamma=[0.5], search="grid"
        ).fit(near, b[groups], groups=each)
        for each in (groups, np.arange(300))
    ]
    errors = [float(model.cv_results_["std_test_score"][0]) for model in models]
    low, high = models[0].held_out_interval()
    assert errors[0] > 0.06
    assert errors[1] < 0.05
    if scoring != "f1":
        wrong = (models[0].held_out_decisions() > 0) != b[groups]
        means = wrong.reshape(20, 15).mean(axis=1)
        assert errors[0] == pytest.approx(np.sqrt(np.mean((means - means.mean()) ** 2) / 20))
        assert 2 * 1.3 * errors[0] < high - low


@pytest.mark.parametrize("search", ["grid", pytest.param("continuous", marks=pytest.mark.slow)])
def test_results_have_all_epsilons(search):
    y = X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=60)
    options = {"C": [0.3, 3.0], "gamma": [0.5, 2.0], "cv": 3, "criterion": "kfold", "search": "grid"}
    if search == "continuous":
        options |= {"C": Range(0.3, 3.0), "scoring": "squared"}
    model = PathSVR(loss="epsilon_insensitive", epsilon=[0.05, 0.2, 1.0], **options).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    assert sorted(table["param_epsilon"].unique()) == [0.05, 0.2, 1.0]
    assert len(table) == 12 if search == "grid" else len(table) > 12
    best = table.loc[table["rank_test_score"] == 1].iloc[0]
    assert (best["param_C"], best["param_gamma"], best["param_epsilon"]) == (model.C_, model.gamma_, model.epsilon_)
    for epsilon, rows in table.groupby("param_epsilon"):
        one = pd.DataFrame(PathSVR(loss="epsilon_insensitive", epsilon=epsilon, **options).fit(X, y).cv_results_)
        np.testing.assert_allclose(np.sort(rows["mean_test_score"]), np.sort(one["mean_test_score"]))
    shown = model.search_table_
    assert shown["kept"].sum() == 1
    assert shown.loc[shown["kept"], "C"].item() == model.C_
    if search == "grid":
        assert model.nested_error("bootstrap").value >= model.held_out_error()


def test_a_row_held_out_three_times_is_calibrated_as_one():
    """Platt's targets count rows; probabilities for a score are those of ``predict_proba``."""
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    asked = {"criterion": "kfold", "cv": cv, "scoring": "neg_log_loss"}
    model = PathSVC(loss="least_squares", C=1.0, gamma=1.0, **asked).fit(X, Y)
    curve = model._held_out.as_chosen()
    p = model._held_out.calibration(model.calibration).probabilities(curve.held[0])
    assert -model.choice_.score == pytest.approx(-metrics.log_loss(Y[curve.rows], p), abs=1e-12)


def test_sentences_of_scorers_name_what_can_be_used():
    with pytest.raises(ValueError, match=r"labels are 'no' and 'yes': use make_scorer\(..., pos_label='yes'\)"):
        PathSVC(scoring=make_scorer(metrics.f1_score)).fit(X, WORDS)
    for name in ("roc_auc", "f1"):
        with pytest.raises(ValueError, match=f"scoring='{name}' is a score of labels, but this is a regression"):
            PathSVR(scoring=name).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="cannot be evaluated") as caught:  # of targets that are negative
        PathSVR(scoring="neg_mean_poisson_deviance").fit(X, X[:, 0])
    assert "gamma_deviance" not in str(caught.value)


@first_quick(1)
@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "neg_log_loss"])
def test_a_model_chosen_by_a_named_score_is_saved_without_foreign_objects(tmp_path, scoring):
    model = PathSVC(scoring=scoring, threshold="tune", random_state=0).fit(X, Y)
    errors = model.cv_results_["std_test_score"]  # some are computed, and kept
    file = tmp_path / "model.skops"
    skops.io.dump(model, file)
    types = skops.io.get_untrusted_types(file=file)
    assert all(name.startswith("svmpath.") for name in types)
    copy = skops.io.load(file, trusted=types)
    assert_same(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_allclose(copy.cv_results_["std_test_score"], errors)
    assert copy.score(X, Y) == model.score(X, Y)

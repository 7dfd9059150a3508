"""Gradient search and one gamma per feature, as a user meets them."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.gaussian_process import kernels as gp

import svmpath
from svmpath import PathSVC, PathSVR, Range, cli, criteria, datasets
from svmpath.gram import DenseGram
from svmpath.kernels import ARD, RBF, Laplacian
from svmpath.losses import Problem, SquaredHinge
from svmpath.search import STRATEGIES, Evaluator, Tuner
from svmpath.search.axis import Axis
from svmpath.search.choice import Scores
from svmpath.search.deadline import Deadline
from svmpath.search.gradient import column_variances
from svmpath.search.screen import Screen
from tests import reference
from tests.rounding import assert_same
from tests.speed import first_quick, slow_except


def noisy(n, seed=0, extra=4):
    """Two features that matter and some that do not."""
    rng = np.random.default_rng(seed)
    X, y = datasets.banana(n, random_state=seed)
    return np.column_stack([X, rng.normal(size=(n, extra))]), y


X, Y = noisy(150)
NEW, NEW_Y = noisy(600, seed=1)
T = np.sin(3 * X[:, 0]) + 0.1 * X[:, 1]
NEW_T = np.sin(3 * NEW[:, 0]) + 0.1 * NEW[:, 1]
LOSSES = ["squared_hinge", "least_squares"]


@pytest.fixture(scope="module", params=slow_except(LOSSES, ["least_squares"]))
def fitted(request):
    return PathSVC(loss=request.param, gamma="ard", random_state=0).fit(X, Y)


# --- one gamma -------------------------------------------------------------------------------------------------------


@first_quick(1)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_neighbour_of_the_choice_has_a_lower_score(loss):
    model = PathSVC(loss=loss, search="gradient", random_state=0).fit(X[:, :2], Y)
    assert model.choice_.at_edge == ()

    def score(C, gamma):
        path = svmpath.trace(X[:, :2], Y, loss=loss, gamma=gamma, span=(1e-3, 1e6))
        return criteria.gradient(path, C, smoothing=0.1 if loss == "squared_hinge" else 0.0).score

    best = score(model.C_, model.gamma_)
    steps = [(np.cos(angle), np.sin(angle)) for angle in np.arange(8) * np.pi / 4]
    around = [score(model.C_ * np.exp(0.2 * a), model.gamma_ * np.exp(0.2 * b)) for a, b in steps]
    assert best < min(around)
    # Nor has any pair of a plain grid.
    pairs = [(C, gamma) for C in np.geomspace(1e-3, 1e4, 8) for gamma in np.geomspace(0.01, 100, 9)]
    assert best <= min(score(*pair) for pair in pairs)


def test_the_curve_is_that_of_the_criterion_and_holds_the_choice():
    model = PathSVC(search="gradient", random_state=0).fit(X, Y)
    curve = model.curve_
    assert curve.criterion == "span"
    assert curve.values[model.choice_.index] == model.C_
    assert np.all(np.diff(curve.values) > 0)
    expected = criteria.span(svmpath.trace(X, Y, loss="squared_hinge", gamma=model.gamma_), [model.C_], loss="squared")
    assert model.choice_.score == pytest.approx(expected.scores[0])
    assert model.gamma_ in model.choice_.tried


def test_every_stage_is_kept_with_the_points_it_came_to():
    model = PathSVC(search="gradient", random_state=0).fit(X, Y)
    screen, descent = model.choice_.stages
    assert (screen.name, screen.loss, screen.criterion) == ("screen", "least_squares", "press")
    assert (descent.name, descent.loss, descent.criterion) == ("gradient", "squared_hinge", "smoothed span")
    assert screen.rank < descent.rank == len(Y)
    lowest = {gamma: scores.scores.min() for gamma, scores in descent.tried.items()}
    assert min(lowest, key=lowest.get) == model.gamma_
    assert model.C_ in descent.tried[model.gamma_].values
    # It begins at the best pair of the screen, and the scores are those of the machines there.
    begin, scores = next(iter(descent.tried.items()))
    best = min(screen.tried, key=lambda gamma: screen.tried[gamma].scores.min())
    assert begin == pytest.approx(best)
    assert scores.values[0] == pytest.approx(screen.tried[best].values[np.argmin(screen.tried[best].scores)])
    path = svmpath.trace(X, Y, loss="squared_hinge", gamma=begin, span=(1e-3, 1e6))
    assert scores.scores[0] == pytest.approx(criteria.gradient(path, float(scores.values[0]), smoothing=0.1).score)


def test_stages_of_one_gamma_per_feature(fitted):
    stages = {stage.name: stage for stage in fitted.choice_.stages}
    assert list(stages) == ["screen", "gradient", "penalty", "ard"]
    assert set(stages["penalty"].tried) <= {np.inf, 1.0, 0.1, 0.0}
    found = stages["ard"]
    assert found.gammas.shape == (len(found.tried), 6)
    assert any(np.array_equal(row, fitted.gamma_) for row in found.gammas)


def test_one_line_per_stage_is_printed(capsys):
    PathSVC(loss="least_squares", gamma="ard", random_state=0, verbose=True).fit(X[:60], Y[:60])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["screen:", "gradient:", "penalty:", "ard:"]


@first_quick(1)
@pytest.mark.parametrize("way", ["gradient", "ard"])
def test_when_time_is_up_the_best_point_so_far_is_taken(way):
    problem = Problem(DenseGram(RBF(1.0), X), Y, np.ones(len(Y)), "classification")
    evaluator = Evaluator([problem], SquaredHinge(), criteria.span, "squared")
    axes = Axis(np.geomspace(1e-2, 1e4, 7), limits=(1e-3, 1e5)), Axis(np.geomspace(1e-3, 10, 5), limits=(1e-4, 1e2))

    def choice_of(way, seconds):
        return STRATEGIES[way](Tuner([evaluator], *axes, "gamma", deadline=Deadline(seconds))).choice

    choice = choice_of(way, -1.0)
    (start,) = choice.stages[1].tried  # no step was made
    assert dict(choice.parameters)["gamma" if way == "gradient" else "gamma[0]"] == pytest.approx(start)
    plain = choice_of("gradient", None)
    assert choice_of("gradient", 600.0).score == pytest.approx(plain.score)
    assert plain.score < choice.score


def test_regression_finds_what_the_continuous_search_finds():
    found = PathSVR(search="gradient", random_state=0).fit(X, T)
    other = PathSVR(search="grid", C=Range(1e-3, 1e6), scoring="squared", random_state=0).fit(X, T)
    assert found.choice_.score <= 1.001 * other.choice_.score
    assert found.gamma_ == pytest.approx(other.gamma_, rel=0.2)


@pytest.mark.slow
def test_what_is_given_stays_as_it_is():
    model = PathSVC(search="gradient", gamma=0.3).fit(X, Y)
    assert model.gamma_ == 0.3
    model = PathSVC(search="gradient", C=2.0).fit(X, Y)
    assert model.C_ == 2.0
    model = PathSVC(search="gradient", C=2.0, gamma=0.3).fit(X, Y)
    assert (model.C_, model.gamma_) == (2.0, 0.3)
    model = PathSVC(search="gradient", C=Range(0.1, 3.0), gamma=Range(0.02, 0.05)).fit(X, Y)
    assert 0.1 <= model.C_ <= 3.0
    assert 0.02 <= model.gamma_ <= 0.05
    model = PathSVC(search="gradient", kernel="linear").fit(X, Y)
    assert model.gamma_ is None


@pytest.mark.slow
def test_any_kernel_with_a_gamma_will_do():
    for kernel in ("laplacian", "poly", RBF(1.0) + Laplacian(0.1)):
        options = {"gamma": None} if not isinstance(kernel, str) else {"coef0": 1.0, "degree": 2}
        model = PathSVC(search="gradient", kernel=kernel, **options, random_state=0).fit(X[:60], Y[:60])
        assert model.loo_error() < 0.5


def test_targets_in_any_unit_give_the_same_choice():
    small, large = (PathSVR(search="gradient", random_state=0).fit(X, unit * T) for unit in (1e-6, 1e6))
    assert small.gamma_ == pytest.approx(large.gamma_, rel=1e-3)


# --- one gamma per feature -------------------------------------------------------------------------------------------


def test_irrelevant_features_are_turned_down(fitted):
    assert fitted.gamma_.shape == (6,)
    assert isinstance(fitted.kernel_, ARD)
    assert fitted.gamma_[:2].min() > 5 * fitted.gamma_[2:].max()
    one = PathSVC(loss=fitted.loss, search="gradient", random_state=0).fit(X, Y)
    assert fitted.score(NEW, NEW_Y) > one.score(NEW, NEW_Y) + 0.02
    assert fitted.choice_.score < one.choice_.score


def test_decisions_are_those_of_the_kernel_written_out(fitted):
    K = np.exp(-((NEW[:, None] - X[None]) ** 2 * fitted.gamma_).sum(axis=2))
    expected = K[:, fitted.support_] @ fitted.dual_coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(NEW), expected, atol=1e-8)


@pytest.mark.slow
def test_the_held_out_error_is_that_of_refits():
    model = PathSVC(loss="least_squares", gamma="ard", random_state=0).fit(X, Y)
    K = np.exp(-((X[:, None] - X[None]) ** 2 * model.gamma_).sum(axis=2))
    held = reference.leave_one_out(K, Y, np.ones(len(Y)), model.C_)
    assert model.loo_error() == pytest.approx(np.mean((held > 0) != (Y > 0)))


@pytest.mark.slow
def test_regression_with_one_gamma_per_feature():
    model = PathSVR(gamma="ard", random_state=0).fit(X, T)
    assert model.gamma_[0] > 5 * model.gamma_[2:].max()
    assert model.score(NEW, NEW_T) > PathSVR(search="gradient", random_state=0).fit(X, T).score(NEW, NEW_T)


@pytest.mark.slow
def test_where_no_feature_stands_out_one_gamma_serves_all():
    Z, z = datasets.ringnorm(120, random_state=0)
    model = PathSVC(loss="least_squares", gamma="ard", random_state=0).fit(Z, z)
    one = PathSVC(loss="least_squares", search="gradient", random_state=0).fit(Z, z)
    assert np.ptp(model.gamma_) == 0.0
    np.testing.assert_allclose(model.gamma_, one.gamma_, rtol=1e-3)
    test, labels = datasets.ringnorm(1000, random_state=1)
    np.testing.assert_allclose(model.decision_function(test), one.decision_function(test), atol=1e-2)
    assert np.mean(model.predict(test) == labels) > 0.95


@pytest.mark.slow
def test_columns_of_other_scales_are_made_up_for():
    scales = np.array([1e3, 1e-2, 1.0, 1.0, 1.0, 1.0])
    model, plain = (PathSVC(gamma="ard", random_state=0).fit(X * factor, Y) for factor in (scales, 1.0))
    # The same minimum, as closely as L-BFGS looks for it: where columns are noise the score is flat.
    np.testing.assert_allclose((model.gamma_ * scales**2)[:2], plain.gamma_[:2], rtol=0.06)
    assert np.all((model.gamma_ * scales**2)[2:] < 0.05)
    assert model.choice_.score == pytest.approx(plain.choice_.score, rel=0.01)
    other = PathSVC(loss="least_squares", gamma="ard", random_state=0).fit(X * scales, Y)
    assert other.score(NEW * scales, NEW_Y) > 0.85  # in another of the many minima


@pytest.mark.slow
def test_a_constant_column_has_no_gamma():
    Z = np.column_stack([X[:, :2], np.full(len(X), 7.0)])
    model = PathSVC(loss="least_squares", gamma="ard", random_state=0).fit(Z, Y)
    assert model.gamma_[2] == 0.0
    without = PathSVC(loss="least_squares", gamma="ard", random_state=0).fit(X[:, :2], Y)
    assert model.score(Z, Y) == pytest.approx(without.score(X[:, :2], Y), abs=0.03)


def test_all_columns_constant():
    model = PathSVC(gamma="ard").fit(np.ones((20, 3)), [0, 1] * 10)
    np.testing.assert_array_equal(model.gamma_, 0.0)


@pytest.mark.slow
def test_several_classes_share_one_kernel():
    Z, z = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    Z = np.column_stack([Z, rng.normal(size=(150, 2))])
    for loss in LOSSES:
        model = PathSVC(loss=loss, gamma="ard", random_state=0).fit(Z, z.astype(str))
        assert model.gamma_.shape == (6,)
        assert model.dual_coef_.shape[0] == 3
        assert model.score(Z, z.astype(str)) > 0.94
        assert model.loo_error() < 0.07


@pytest.mark.slow
def test_sparse_rows_give_the_same_choice():
    Z = np.where(np.abs(X) < 0.4, 0.0, X)
    dense, sparse = (
        PathSVC(loss="least_squares", gamma="ard", random_state=0).fit(each, Y) for each in (Z, csr_matrix(Z))
    )
    np.testing.assert_allclose(sparse.gamma_, dense.gamma_, rtol=1e-2)
    np.testing.assert_array_equal(sparse.predict(csr_matrix(NEW)), sparse.predict(NEW))


@pytest.mark.slow
def test_rows_of_weight_zero_do_not_count():
    s = np.ones(len(Y))
    s[100:] = 0.0
    labels = Y.copy()
    labels[100:] = -labels[100:]
    for loss in LOSSES:
        model = PathSVC(loss=loss, gamma="ard", random_state=0)
        weighted = clone(model).fit(X, labels, sample_weight=s)
        # The grid's "scale" is that of all rows, so that only what is chosen must agree.
        assert weighted.score(NEW, NEW_Y) > 0.85
        assert not set(weighted.support_) & set(range(100, 150))


@pytest.mark.slow
def test_deterministic_given_a_random_state():
    for options in ({"search": "gradient"}, {"gamma": "ard"}):
        one, two = (PathSVC(loss="least_squares", random_state=7, **options).fit(X, Y) for _ in range(2))
        assert_same(one.gamma_, two.gamma_)
        assert_same(one.dual_coef_, two.dual_coef_)


@pytest.mark.slow
def test_threads_change_nothing():
    one, two = (PathSVC(loss="least_squares", gamma="ard", random_state=0, n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_allclose(one.gamma_, two.gamma_, rtol=1e-6)


def test_saved_and_loaded(fitted, tmp_path):
    file = tmp_path / "model.skops"
    skops.io.dump(fitted, file)
    for copy in (
        pickle.loads(pickle.dumps(fitted)),
        skops.io.load(file, trusted=skops.io.get_untrusted_types(file=file)),
    ):
        np.testing.assert_allclose(copy.decision_function(NEW), fitted.decision_function(NEW), atol=1e-10)
        assert_same(copy.gamma_, fitted.gamma_)
        assert copy.kernel_ == fitted.kernel_


def test_texts_stay_short(fitted):
    assert len(repr(fitted.choice_.solution)) < 300
    assert len(repr(fitted.choice_)) < 300
    assert len(repr(fitted.path_)) < 300


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [{"search": "gradient"}, {"gamma": "ard"}])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "not for loss='hinge'"),
        ({"rank": 20}, "full kernel matrix"),
        ({"criterion": "kfold"}, "criterion='auto' or 'span', which have a gradient; got 'kfold'"),
        ({"criterion": "loo"}, "needs criterion='auto' or 'span'"),
        ({"criterion": "radius_margin"}, "needs criterion="),
        ({"loss": "least_squares", "criterion": criteria.press}, "needs criterion="),
        ({"scoring": "error"}, "smooth held-out loss"),
        ({"scoring": lambda y, f: y * f}, "smooth held-out loss"),
        ({"rule": "one_se"}, "rule must be 'auto' or 'min'"),
        ({"kernel": "precomputed"}, "rbf kernel only|need the data rows"),
        ({"kernel": "sigmoid"}, "rbf kernel only|positive semi-definite"),
    ],
)
def test_what_has_no_gradient_is_refused(asked, options, message):
    data = X @ X.T if options.get("kernel") == "precomputed" else X
    with pytest.raises(ValueError, match=message):
        PathSVC(**asked, **options).fit(data, Y)


@pytest.mark.slow
def test_other_kernels_have_no_ard():
    for kernel in ("linear", "poly", "laplacian", gp.RBF(1.0), RBF(1.0) + Laplacian(1.0)):
        with pytest.raises(ValueError, match=r"rbf kernel only|'gamma' is|positive semi-definite"):
            PathSVC(kernel=kernel, gamma="ard").fit(X, Y)
    assert PathSVC(kernel=RBF(2.0), loss="least_squares", gamma="ard").fit(X, Y).gamma_.shape == (6,)


def test_unknown_searches_are_refused():
    with pytest.raises(ValueError, match="search must be one of 'auto', 'grid', 'gradient'"):
        PathSVC(search="gradients").fit(X, Y)


def test_epsilon_insensitive_is_refused():
    with pytest.raises(ValueError, match="not for loss='epsilon_insensitive'"):
        PathSVR(loss="epsilon_insensitive", gamma="ard").fit(X, T)


def test_one_class_with_weight_is_refused():
    with pytest.raises(ValueError, match="both classes"):
        PathSVC(search="gradient").fit(X, Y, sample_weight=(Y > 0).astype(float))


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    frame = pd.DataFrame(X[:80, :4], columns=list("abcd"))
    frame["kind"] = np.where(Y[:80] > 0, "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        cli.main([str(argument) for argument in arguments])
    return end.value.code


@pytest.mark.slow
def test_tune_and_predict_with_one_gamma_per_column(table, tmp_path, capsys):
    assert run("tune", table, "--target", "kind", "--output", tmp_path, "--gamma", "ard") == 0
    assert "..." in capsys.readouterr().out
    facts = json.loads((tmp_path / "summary.json").read_text())
    assert len(facts["choice"]["gamma"]) == 4
    assert facts["curve"]["kind"] == "mean squared error"
    assert run("predict", tmp_path / "model.skops", table, "-o", tmp_path / "out.csv") == 0
    predicted = pd.read_csv(tmp_path / "out.csv")["prediction"]
    assert np.mean(predicted == pd.read_csv(table)["kind"]) > 0.85


@pytest.mark.slow
def test_tune_by_gradient(table, tmp_path):
    assert run("tune", table, "--target", "kind", "--output", tmp_path, "--search", "gradient") == 0
    assert isinstance(json.loads((tmp_path / "summary.json").read_text())["choice"]["gamma"], float)


def test_many_rows_are_refused_unless_asked_for(tmp_path, capsys):
    Z, z = datasets.twonorm(2100, random_state=0)
    np.savez(tmp_path / "many.npz", X=Z[:, :2], y=z.astype(int))
    assert run("tune", tmp_path / "many.npz", "--output", tmp_path, "--gamma", "ard") == 2
    assert "--gamma ard needs the full kernel matrix, which takes long for 2100 rows" in capsys.readouterr().err


# --- parts -----------------------------------------------------------------------------------------------------------


def test_valleys_of_a_screen():
    problem = Problem(DenseGram(RBF(1.0), X), Y, np.ones(len(Y)), "classification")
    screen = Screen([problem], np.array([1.0, 10.0]), "gamma", 0)
    for gamma, low in {0.1: 0.5, 0.2: 0.4, 0.4: 0.45, 0.8: 0.3, 1.6: 0.32, 3.2: 0.31, 6.4: 0.305}.items():
        screen.tried[gamma] = Scores(screen.C, np.array([9.0, low]), np.full(2, 0.02), np.zeros(2))
    assert screen.valleys() == [0.8, 6.4]  # 0.2 is more than a standard error above the best


def test_variances_of_columns():
    Z = np.column_stack([X, np.full(len(X), 0.1), np.zeros(len(X))])
    for data in (Z, csr_matrix(Z)):
        np.testing.assert_allclose(column_variances(data), [*X.var(axis=0), 0.0, 0.0], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("change", slow_except(["units", "offset", "constant"], ["constant"]))
def test_units_and_offsets_of_the_columns_do_not_matter(change):
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(60, 3)), rng.normal(size=(300, 3))
    y, truth = X[:, 0] > 0, fresh[:, 0] > 0
    factor, offset = np.ones(3), np.zeros(3)
    if change == "units":
        factor = np.array([1e-3, 1.0, 1e3])
    elif change == "offset":
        offset = np.array([0.0, 1e6, 0.0])
    else:
        factor, offset = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1e8])
    model = PathSVC(gamma="ard", random_state=0).fit(X * factor + offset, y)
    assert np.mean(model.predict(fresh * factor + offset) == truth) > 0.9


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("seed", [14, 15])
def test_the_first_step_stays_in_the_valley_of_its_start(seed):
    """With wrong labels the score is steep at the C of the screen; a long step ended at gamma near 0."""
    X, y = datasets.banana(400, random_state=seed)
    wrong = np.random.default_rng(seed).random(400) < 0.06
    model = PathSVC(search="gradient", random_state=0).fit(X, np.where(wrong, -y, y))
    assert model.gamma_ > 0.05
    new, labels = datasets.banana(1000, random_state=100 + seed)
    assert model.score(new, labels) > 0.9

"""Quantiles and expectiles of ``PathSVR``: the score, several levels, levels after the fit, order, intervals."""

import pickle
import sys
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import d2_pinball_score, mean_pinball_loss
from sklearn.model_selection import KFold

import svmpath
from svmpath import PathSVC, PathSVR, criteria
from svmpath.estimators.quantiles import constant_loss, crossing, explained, rearranged
from svmpath.exceptions import WeakModelWarning
from svmpath.losses import EpsilonInsensitive, Expectile, Pinball
from svmpath.validation import check_levels
from tests.rounding import assert_same


def waves(n, seed=0):
    """A sine whose noise grows with |x|."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 1))
    return X, np.sin(2 * X[:, 0]) + (0.1 + 0.4 * np.abs(X[:, 0])) * rng.normal(size=n)


X, Y = waves(80)
FEW = {"gamma": [0.3, 1.0], "C": [0.3, 3.0, 30.0]}


def test_C_and_gamma_are_those_with_the_least_held_out_pinball_loss():
    model = PathSVR(loss="pinball", quantile=0.9, search="grid", criterion="kfold", cv=4, **FEW).fit(X, Y)
    folds, scores = model._drawn, {}
    for gamma in FEW["gamma"]:
        path = svmpath.trace(X, Y, loss=Pinball(0.9), gamma=gamma, span=(0.3, 30.0))
        held = criteria.kfold(path, FEW["C"], cv=folds).decisions
        scores |= {(C, gamma): mean_pinball_loss(Y, f, alpha=0.9) for C, f in zip(FEW["C"], held, strict=True)}
    best = min(scores, key=scores.get)
    assert (model.C_, model.gamma_) == pytest.approx(best)
    assert model.held_out_error() == pytest.approx(scores[best])
    assert (model.quantile_, model.loss_) == (0.9, "pinball")
    assert -model.cv_results_["mean_test_score"].max() == pytest.approx(scores[best])
    table = model.held_out_table()
    expected = mean_pinball_loss(Y[table["sample"][:1]], table["decision"][:1], alpha=0.9)
    assert table["loss"][0] == pytest.approx(expected)
    np.testing.assert_allclose(table["loss"].mean(), scores[best])


def test_an_expectile_is_tuned_by_asymmetric_squares():
    model = PathSVR(loss="expectile", quantile=0.8, search="grid", criterion="alo", **FEW).fit(X, Y)
    e = Y - model.held_out_decisions()
    assert model.held_out_error() == pytest.approx(np.mean(np.where(e < 0, 0.2, 0.8) * e**2))
    assert (model.quantile_, model.tau_) == (0.8, 0.8)
    by_squares = PathSVR(loss="expectile", quantile=0.8, scoring="squared", search="grid", **FEW).fit(X, Y)
    assert by_squares.curve_.scores.min() > model.curve_.scores.min()
    same = PathSVR(loss=Expectile(0.8), search="grid", criterion="alo", **FEW).fit(X, Y)
    assert same.held_out_error() == pytest.approx(model.held_out_error())


def test_without_a_level_it_is_that_of_the_loss():
    options = {"gamma": 0.5, "C": 3.0}
    assert PathSVR(loss="pinball", **options).fit(X, Y).quantile_ == 0.5
    assert PathSVR(loss="expectile", **options).fit(X, Y).quantile_ == 0.9
    assert not hasattr(PathSVR(**options).fit(X, Y), "quantile_")


@pytest.mark.parametrize("loss", ["pinball", "expectile"])
def test_several_levels_share_a_choice_by_the_mean_of_their_losses(loss):
    levels = [0.9, 0.1, 0.5]
    model = PathSVR(loss=loss, quantile=levels, search="grid", criterion="kfold", cv=4, rearrange=False, **FEW)
    model.fit(X, Y)
    singles = [
        PathSVR(loss=loss, quantile=q, gamma=model.gamma_, C=model.C_, criterion="kfold", cv=4).fit(X, Y)
        for q in levels
    ]
    np.testing.assert_allclose(model.predict(X), np.column_stack([each.predict(X) for each in singles]), atol=1e-8)
    np.testing.assert_allclose(model.held_out_error(), np.mean([each.held_out_error() for each in singles]), rtol=1e-9)
    np.testing.assert_array_equal(model.quantile_, levels)
    assert model.held_out_decisions().shape == (80, 3)
    assert model.dual_coef_.shape[0] == len(model.intercept_) == 3
    others = [
        PathSVR(loss=loss, quantile=levels, gamma=gamma, C=C, criterion="kfold", cv=4).fit(X, Y).held_out_error()
        for gamma in FEW["gamma"]
        for C in FEW["C"]
    ]
    assert model.held_out_error() == pytest.approx(min(others))
    assert {"decision 0", "decision 2", "loss"} <= set(model.held_out_table().columns)
    assert not {"quantile", "tau"} & set(model.search_table_)
    assert model.nested_error("bootstrap").value >= model.held_out_error()


@pytest.mark.slow
def test_nested_cross_validation_scores_all_levels():
    model = PathSVR(loss="pinball", quantile=[0.2, 0.8], search="grid", **FEW).fit(X, Y)
    honest = model.nested_error(n_splits=4)
    assert 0.5 * model.held_out_error() < honest.value < 2 * model.held_out_error()


def test_each_level_may_have_its_own_choice():
    model = PathSVR(loss="pinball", quantile=[0.1, 0.9], one_choice=False, search="grid", **FEW).fit(X, Y)
    alone = PathSVR(loss="pinball", quantile=0.9, search="grid", **FEW).fit(X, Y)
    assert (model.C_[1], model.gamma_[1]) == (alone.C_, alone.gamma_)
    np.testing.assert_allclose(model.predict(X)[:, 1], alone.predict(X), atol=1e-9)
    np.testing.assert_allclose(model.predict_quantiles(X, [0.85])[:, 0], alone.predict_quantiles(X, [0.85])[:, 0])
    assert model.count_crossings(X) == 0
    frame = pd.DataFrame(X, columns=["hours"])
    named = PathSVR(loss="pinball", quantile=[0.1, 0.9], one_choice=False, gamma=1.0, C=3.0).fit(frame, Y)
    assert named.predict(frame).shape == (80, 2)  # without a warning about names
    with pytest.raises(
        AttributeError, match="With one_choice=False each quantile has a model of its own: ask those in"
    ):
        model.held_out_error()


def test_any_level_after_one_fit():
    model = PathSVR(loss="pinball", quantile=0.5, gamma=1.0, C=3.0).fit(X, Y)
    levels = np.array([0.7, 0.25, 0.5])
    found = model.predict_quantiles(X[:20], levels, rearrange=False)
    for column, q in zip(found.T, levels, strict=True):
        refit = PathSVR(loss="pinball", quantile=q, gamma=1.0, C=3.0).fit(X, Y)
        np.testing.assert_allclose(column, refit.predict(X[:20]), atol=1e-8)
    np.testing.assert_allclose(model.predict_quantiles(X[:5], 0.5)[:, 0], model.predict(X[:5]), atol=1e-8)
    assert_same(model.predict_quantiles(X[:20], levels, rearrange=False), found)  # kept
    expectile = PathSVR(loss="expectile", quantile=0.5, gamma=1.0, C=3.0).fit(X, Y)
    refit = PathSVR(loss="expectile", quantile=0.8, gamma=1.0, C=3.0).fit(X, Y)
    np.testing.assert_allclose(expectile.predict_quantiles(X, 0.8)[:, 0], refit.predict(X), atol=1e-8)


def test_levels_with_scaled_columns_weights_and_low_rank():
    rng, s = np.random.default_rng(1), np.random.default_rng(2).choice([0.0, 1.0, 2.0], size=80)
    rows = np.column_stack([1e3 * X[:, 0], rng.normal(size=80)])
    for more in ({}, {"rank": 20}):
        options = {"loss": "pinball", "gamma": 0.5, "C": 3.0, "scale": True, "random_state": 0, **more}
        model = PathSVR(quantile=0.3, **options).fit(rows, Y, sample_weight=s)
        refit = PathSVR(quantile=0.8, **options).fit(rows, Y, sample_weight=s)
        np.testing.assert_allclose(model.predict_quantiles(rows, [0.8])[:, 0], refit.predict(rows), atol=1e-7)


def test_levels_of_an_approximate_path(monkeypatch):
    monkeypatch.setattr("svmpath.paths.jump.WHOLE_ROWS", 30)
    for module in ("svmpath.paths.trackers", "svmpath.estimators._base"):  # as with many rows
        monkeypatch.setattr(sys.modules[module], "exact_is_cheaper", lambda n, rank: False)
    options = {"loss": "pinball", "gamma": 1.0, "C": 3.0, "rank": 20, "random_state": 0}
    model = PathSVR(quantile=[0.3, 0.7], **options).fit(X, Y)
    assert not model.path_.is_exact
    refit = PathSVR(quantile=0.8, **options).fit(X, Y)
    np.testing.assert_allclose(model.predict_quantiles(X, 0.8)[:, 0], refit.predict(X), atol=1e-6)
    assert np.isfinite(model.predict_interval(X, 0.8)).all()


def test_crossings_are_counted_and_rearranged():
    f, levels = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [3.0, 2.0, 1.0]]), np.array([0.1, 0.5, 0.9])
    np.testing.assert_array_equal(crossing(f, levels), [False, True, True])
    np.testing.assert_array_equal(rearranged(f, levels), [[1, 2, 3]] * 3)
    np.testing.assert_array_equal(rearranged(f, levels[::-1]), [[3, 2, 1]] * 3)
    dense = {"loss": "pinball", "quantile": [0.55, 0.45, 0.5], "gamma": 100.0, "C": 10.0}
    model, plain = PathSVR(**dense).fit(X, Y), PathSVR(rearrange=False, **dense).fit(X, Y)
    new = waves(200, 1)[0]
    assert (
        model.count_crossings(new)
        == plain.count_crossings(new)
        == np.count_nonzero(crossing(plain.predict(new), np.array(dense["quantile"])))
    )
    assert model.count_crossings(new) > 0
    assert np.all(np.diff(model.predict(new)[:, [1, 2, 0]], axis=1) >= 0)
    np.testing.assert_array_equal(np.sort(model.predict(new)), np.sort(plain.predict(new)))
    assert model.count_crossings(new, [0.1, 0.9]) <= model.count_crossings(new)


@pytest.mark.parametrize("options", [{"loss": "pinball", "quantile": 0.8}, {"loss": "epsilon_insensitive"}])
def test_a_common_factor_of_the_targets_changes_no_choice(options):
    one = PathSVR(gamma=[0.3, 1.0], random_state=0, **options).fit(X, Y)
    many = PathSVR(gamma=[0.3, 1.0], random_state=0, **options).fit(X, 1024.0 * Y)
    assert many.gamma_ == one.gamma_
    np.testing.assert_allclose(many.C_, 1024.0 * one.C_)
    np.testing.assert_allclose(many.predict(X), 1024.0 * one.predict(X), rtol=1e-6, atol=1e-6)


def test_one_level_in_a_list_has_a_column():
    model = PathSVR(loss="pinball", quantile=[0.3], gamma=1.0, C=1.0).fit(X, Y)
    assert model.predict(X).shape == (80, 1)
    np.testing.assert_array_equal(model.quantile_, [0.3])


def test_the_score_of_several_levels_is_d2():
    model = PathSVR(loss="pinball", quantile=[0.2, 0.7], gamma=1.0, C=3.0).fit(X, Y)
    s, f = np.random.default_rng(0).uniform(size=80), model.predict(X)
    expected = np.mean([d2_pinball_score(Y, f[:, k], sample_weight=s, alpha=q) for k, q in enumerate([0.2, 0.7])])
    assert model.score(X, Y, s) == pytest.approx(expected, rel=1e-2)  # whose constant is another quantile of the sample
    assert model.score(X, Y) == pytest.approx(
        np.mean([d2_pinball_score(Y, f[:, k], alpha=q) for k, q in enumerate([0.2, 0.7])]), rel=1e-6
    )
    one = np.ones(5)
    assert (explained(Pinball(0.5), one, one, one), explained(Pinball(0.5), one, 2 * one, one)) == (1.0, 0.0)
    half = constant_loss(Expectile(0.5), Y, np.ones(80))
    assert half == pytest.approx(np.var(Y) / 2)


def test_a_saved_model_predicts_the_same():
    model = PathSVR(loss="pinball", quantile=[0.1, 0.9], gamma=1.0, C=[1.0, 3.0]).fit(X, Y)
    before = model.predict_quantiles(X, [0.2, 0.6]), model.predict_interval(X[:3])
    again = pickle.loads(pickle.dumps(model))
    assert_same(again.predict(X), model.predict(X))
    assert_same(again.predict_quantiles(X, [0.2, 0.6]), before[0])
    assert_same(again.predict_interval(X[:3]), before[1])
    assert clone(model).get_params()["quantile"] == [0.1, 0.9]


# --- shares of held-out targets --------------------------------------------------------------------------------------


def smooth(n, seed):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, (n, 5))
    return rows, np.sin(3 * rows).sum(axis=1)


def test_held_out_shares_and_shifts_are_those_of_refits():
    folds = list(KFold(4).split(X))
    options = {"loss": "pinball", "gamma": 1.0, "C": [1.0, 3.0], "criterion": "kfold", "cv": folds}
    plain = PathSVR(quantile=[0.2, 0.9], **options).fit(X, Y)
    model = PathSVR(quantile=[0.2, 0.9], calibrate=True, **options).fit(X, Y)
    e = np.empty((80, 3))
    for train, test in folds:
        for k, q in enumerate((0.2, 0.9, 0.7)):
            refit = PathSVR(loss="pinball", quantile=q, gamma=1.0, C=model.C_).fit(X[train], Y[train])
            e[test, k] = Y[test] - refit.predict(X[test])
    np.testing.assert_allclose(plain.held_out_shares(), np.mean(e[:, :2] < 0, axis=0))
    shift = [np.sort(e[:, k])[int(np.ceil(80 * q)) - 1] for k, q in enumerate((0.2, 0.9, 0.7))]
    np.testing.assert_allclose(model.shift_, shift[:2], atol=1e-8)
    assert np.all(plain.shift_ == 0.0)
    order = [0, 2, 1]
    found = model.predict_quantiles(X, [0.2, 0.7, 0.9], rearrange=False)
    expected = plain.predict_quantiles(X, [0.2, 0.7, 0.9], rearrange=False) + np.array(shift)[order]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_a_quantile_of_too_few_rows_is_warned_of_and_calibrated():
    rows, y = smooth(150, 0)
    new, target = smooth(2000, 1)
    options = {"loss": "pinball", "quantile": 0.9, "gamma": 0.3, "C": 100.0, "criterion": "kfold"}
    with pytest.warns(WeakModelWarning, match=r"\d+ % of held-out targets are below the quantile 0.9: the machine"):
        plain = PathSVR(**options).fit(rows, y)
    moved = PathSVR(**options, calibrate=True).fit(rows, y)
    assert plain.held_out_shares() < 0.8
    assert np.mean(target < plain.predict(new)) < 0.8
    assert 0.86 < np.mean(target < moved.predict(new)) < 0.98
    each = PathSVR(**options | {"quantile": [0.5, 0.9]}, calibrate=True, one_choice=False).fit(rows, y)
    assert each.held_out_shares().shape == (2,)
    assert_same(each.predict_quantiles(new, [0.9])[:, 0], moved.predict(new))


# --- intervals -------------------------------------------------------------------------------------------------------


def refitted_interval(model, folds, new, q):
    """The interval between the quantiles q and 1 - q by plain refits, and its mean width around held-out values."""
    held, at_new = np.empty((80, 2)), np.empty((80, 7, 2))
    for train, test in folds:
        for k, level in enumerate((q, 1 - q)):
            refit = PathSVR(loss="pinball", quantile=level, gamma=1.0, C=model.C_).fit(X[train], Y[train])
            held[test, k], at_new[test, :, k] = refit.predict(X[test]), refit.predict(new)
    beyond = np.maximum(held.min(axis=1) - Y, Y - held.max(axis=1))
    place = int(np.ceil(0.8 * (len(Y) + 1))) - 1
    upper = np.sort(at_new.max(axis=2) + beyond[:, None], axis=0)[place]
    lower = -np.sort(beyond[:, None] - at_new.min(axis=2), axis=0)[place]
    return np.ptp(held, axis=1).mean() + 2 * np.sort(beyond)[place], np.column_stack([lower, upper])


def test_conformalised_quantiles_are_those_of_their_formula():
    folds = list(KFold(4).split(X))
    model = PathSVR(loss="pinball", gamma=1.0, C=[1.0, 3.0], criterion="kfold", cv=folds).fit(X, Y)
    new = waves(7, 3)[0]
    found = [refitted_interval(model, folds, new, q) for q in (0.1, 0.2, 0.3, 0.4)]
    nominal, narrowest = found[0][1], min(found, key=lambda each: each[0])[1]
    np.testing.assert_allclose(model.predict_interval(new, 0.8, method="cqr_nominal"), nominal, atol=1e-7)
    np.testing.assert_allclose(model.predict_interval(new, 0.8), narrowest, atol=1e-7)
    assert not np.allclose(nominal, narrowest)
    np.testing.assert_allclose(model.predict_interval(new, 0.8, method="cqr"), model.predict_interval(new, 0.8))


def test_intervals_cover_and_are_wide_where_the_noise_is():
    new, y = waves(3000, 5)
    model = PathSVR(loss="pinball", gamma=1.0, C=3.0).fit(*waves(200, 4))
    ends = model.predict_interval(new, 0.8)
    assert abs(np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) - 0.8) < 0.06
    wide, narrow = (np.mean((ends[:, 1] - ends[:, 0])[at]) for at in (np.abs(new[:, 0]) > 1.5, np.abs(new[:, 0]) < 0.5))
    assert wide > 2 * narrow
    around = model.predict_interval(new, 0.8, method="jackknife+")
    assert np.std(around[:, 1] - around[:, 0]) < 0.2 * np.std(ends[:, 1] - ends[:, 0])


def test_intervals_with_too_few_rows_weights_and_groups():
    few = PathSVR(loss="pinball", gamma=1.0, C=1.0).fit(X[:6], Y[:6])
    assert np.isinf(few.predict_interval(X[:2], 0.95)).all()
    s = np.r_[np.zeros(20), np.ones(60)]
    weighted = PathSVR(loss="pinball", gamma=1.0, C=1.0).fit(X, Y, sample_weight=s, groups=np.arange(80) // 2)
    assert np.isfinite(weighted.predict_interval(X, 0.8)).all()


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quantile", [0.0, 1.0, 2, "high", True, [0.1, 1.2], [[0.1]], [], [0.1, "a"]])
def test_wrong_levels_are_refused(quantile):
    with pytest.raises(ValueError, match="quantile must be a number between 0 and 1 or a list of such numbers, got"):
        PathSVR(loss="pinball", quantile=quantile).fit(X, Y)


def test_what_else_is_refused():
    with pytest.raises(
        ValueError, match=r"calibrate=True moves quantiles to the held-out residuals, but .*'expectile'"
    ):
        PathSVR(loss="expectile", calibrate=True).fit(X, Y)
    with pytest.raises(ValueError, match="calibrate must be True or False, got 'yes'"):
        PathSVR(loss="pinball", calibrate="yes").fit(X, Y)
    with pytest.raises(ValueError, match="loss='least_squares' has no quantiles that targets could be below"):
        PathSVR(gamma=1.0, C=1.0).fit(X, Y).held_out_shares()
    with pytest.raises(ValueError, match=r"quantile must hold different numbers, got \[0.1, 0.1\]"):
        PathSVR(loss="pinball", quantile=[0.1, 0.1]).fit(X, Y)
    with pytest.raises(ValueError, match="scoring='r2' scores one prediction per row, but there are 2 quantiles"):
        PathSVR(loss="pinball", quantile=[0.1, 0.9], scoring="r2").fit(X, Y)
    model = PathSVR(gamma=1.0, C=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="loss='least_squares' predicts one value per row and has no quantiles"):
        model.predict_quantiles(X, [0.5])
    with pytest.raises(ValueError, match="method='cqr' needs quantiles, but this model has loss='least_squares'"):
        model.predict_interval(X, method="cqr")
    with pytest.raises(ValueError, match=r"method must be one of 'auto', 'jackknife\+', 'cqr', 'cqr_nominal'; got"):
        model.predict_interval(X, method="jackknife")
    several = PathSVR(loss="pinball", quantile=[0.1, 0.9], gamma=1.0, C=1.0).fit(X, Y)
    with pytest.raises(ValueError, match=r"method='jackknife\+' needs one prediction per row"):
        several.predict_interval(X, method="jackknife+")
    with pytest.raises(ValueError, match="quantiles must be a number between 0 and 1"):
        several.predict_quantiles(X, [1.5])
    assert check_levels(np.array([0.5, 0.25])).tolist() == [0.5, 0.25]


@pytest.mark.parametrize("loss", [None, "epsilon_insensitive", EpsilonInsensitive(0.2), Pinball(0.9)])
def test_a_level_without_effect_is_noted(loss):
    with pytest.warns(UserWarning, match=r"quantile=0.2 has no effect with loss="):
        model = PathSVR(loss=loss, quantile=0.2, gamma=1.0, C=1.0, search="grid").fit(X, Y)
    assert getattr(model, "quantile_", 0.9) == 0.9


def test_a_classifier_has_no_levels():
    assert "quantile" not in signature(PathSVC).parameters


def test_the_report_speaks_of_the_pinball_loss():
    model = PathSVR(loss="pinball", quantile=0.8, gamma=1.0, C=[1.0, 3.0]).fit(X, Y)
    facts = svmpath.Report(model, X, Y).facts
    cells = {cell["name"]: cell["value"] for cell in facts["overview"]["sure"]}
    assert float(cells["Held-out pinball loss"]) == pytest.approx(model.held_out_error(), rel=1e-3)
    assert {"name": "quantile", "value": "0.8", "more": ""} in facts["overview"]["chosen"]
    measure = facts["curves"][0]["measures"][0]
    assert (measure["words"], facts["walk"]["training_kind"]) == ("pinball loss", "pinball loss")
    np.testing.assert_allclose(min(measure["scores"]), model.curve_.scores.min(), rtol=0.2)
    fitted = model.path_(model.C_).fitted
    start = facts["walk"]["start"]
    assert facts["walk"]["training"][start] == pytest.approx(mean_pinball_loss(Y, fitted, alpha=0.8), rel=1e-4)


@pytest.mark.parametrize("one_choice", [True, False])
def test_notebooks_show_several_levels(one_choice):
    model = PathSVR(loss="pinball", quantile=[0.1, 0.9], gamma=1.0, C=[1.0, 3.0], one_choice=one_choice).fit(X, Y)
    assert "PathSVR" in model._repr_html_()

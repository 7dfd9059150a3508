"""``svmpath tune`` with losses that have an elbow: hinge and epsilon-insensitive."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from svmpath.cli.results import held_out_by
from svmpath.datasets import twonorm
from svmpath.losses import EpsilonInsensitive, Hinge
from tests.cli.tables import FIXED, csv, flats, load
from tests.speed import first_quick


@pytest.mark.filterwarnings("always:cv=")
def test_folds_that_leave_one_out_did_without_are_noted(tune):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold", "--loss", "hinge", *FIXED, "--cv", "3")
    assert "Note: --cv 3 has no effect, as rows are left out one by one" in tune(*arguments)[1]
    assert "--cv" not in tune(*arguments, "--criterion", "kfold")[1]


def test_the_hinge_is_chosen_by_exact_leave_one_out(tune, run):
    table = flats().drop(columns="price")
    table.to_csv("data.csv", index=False)
    out, err, summary = tune("data.csv", "--target", "sold", "--loss", "hinge", "--gamma", "0.1:1", "--C", "0.1:10")
    assert "hinge, rbf kernel" in out
    assert out.count("exact leave-one-out") == 2  # chosen by, and held-out error
    assert "-fold" not in out + err
    assert summary["held_out"]["criterion"] == summary["curve"]["criterion"] == "loo"
    assert summary["held_out"]["folds"] is None
    assert summary["curve"]["switched"] is None
    assert summary["choice"]["tol"] is None
    assert "epsilon" not in summary["choice"]
    assert run("predict", "model.skops", "data.csv", "-o", "out.csv")[0] == 0
    assert np.mean(pd.read_csv("out.csv")["prediction"] == table["sold"]) > 0.8
    # The reported error is that of refits without each sample: here of the columns as the pipeline scaled them.
    model = load()["model"]
    X, y = model.path_.gram.X, table["sold"].to_numpy()
    refits = [
        SVC(C=model.C_, gamma=model.gamma_, tol=1e-8).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0]
        != y[i]
        for i in range(len(y))
    ]
    assert summary["held_out"]["value"] == pytest.approx(np.mean(refits))


CRITERIA = {
    "loo": ("exact leave-one-out", "loo", "loo"),
    "alo": ("approximate leave-one-out", "alo", "loo"),  # the error of the choice is exact all the same
    "kfold": ("5-fold", "kfold", "kfold"),
    "auto": ("exact leave-one-out", "loo", "loo"),
}


@first_quick(2)
@pytest.mark.filterwarnings("always::svmpath.EdgeWarning")
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("loss", "target"), [("hinge", "sold"), ("epsilon_insensitive", "price")])
def test_criteria_of_losses_with_an_elbow(tune, loss, target, criterion):
    words, chosen_by, error_by = CRITERIA[criterion]
    flats().drop(columns="price" if target == "sold" else "sold").to_csv("data.csv", index=False)
    arguments = ("--target", target, "--loss", loss, "--C", "0.1:10", "--gamma", "0.1")
    out, _, summary = tune("data.csv", *arguments, "--criterion", criterion)
    assert words in next(line for line in out.splitlines() if "Chosen by" in line)
    assert f"({held_out_by(error_by, 5)})" in next(line for line in out.splitlines() if "Held-out error" in line)
    assert summary["curve"]["criterion"] == chosen_by
    assert summary["held_out"]["criterion"] == error_by
    assert summary["curve"]["switched"] is None


def test_an_error_that_stays_approximate_is_reported_as_such(tune, monkeypatch):
    monkeypatch.setattr(Hinge, "policy", replace(Hinge.policy, exact_rows=30))
    flats().drop(columns="price").to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "sold", "--loss", "hinge", *FIXED, "--criterion", "alo")
    assert "error rate (approximate leave-one-out)" in out
    assert summary["held_out"]["criterion"] == "alo"


@pytest.mark.slow
def test_the_switch_to_folds_is_reported_in_one_sentence(tune, monkeypatch):
    monkeypatch.setattr(Hinge, "policy", replace(Hinge.policy, loo_rows=39))
    monkeypatch.setattr(EpsilonInsensitive, "policy", replace(EpsilonInsensitive.policy, loo_rows=39))
    reported = "40 samples are too many for exact leave-one-out by default, so 3-fold was used instead"
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold", "--loss", "hinge", *FIXED, "--cv", "3")
    out, err, summary = tune(*arguments)
    assert out.count("3-fold") == 2  # chosen by, and held-out error
    assert "leave-one-out" not in out
    assert err.count(reported) == 1
    assert f"Note: {reported}; use --criterion loo if you want leave-one-out anyway." in err
    assert "--cv" not in err
    assert summary["held_out"]["criterion"] == summary["curve"]["criterion"] == "kfold"
    assert summary["held_out"]["folds"] == 3
    assert summary["curve"]["switched"] == reported
    out, err, summary = tune(*arguments[:-2], "--criterion", "loo")
    assert "too many" not in err
    assert summary["curve"]["criterion"] == "loo"
    # Folds that were asked for are no switch.
    assert "too many" not in tune(*arguments, "--criterion", "kfold")[1]
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "price", "--loss", "epsilon_insensitive", *FIXED, "--cv", "3")
    assert tune(*arguments)[2]["curve"]["switched"] == reported


@pytest.mark.filterwarnings("always::svmpath.EdgeWarning")
def test_the_tube_is_tuned_or_given(tune, run):
    table = flats().drop(columns="sold")
    table.to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "price", "--loss", "epsilon_insensitive", "--gamma", "0.1")
    out, _, summary = tune(*arguments, "--C", "1:1000")
    assert "epsilon_insensitive, rbf kernel" in out
    assert "root mean squared error (exact leave-one-out)" in out
    epsilons = np.std(table["price"]) * np.array([0.01, 0.03, 0.1, 0.3, 1.0])
    assert np.any(np.isclose(summary["choice"]["epsilon"], epsilons))
    assert summary["held_out"]["value"] < summary["held_out"]["baseline"]
    assert run("predict", "model.skops", "data.csv", "-o", "out.csv")[0] == 0
    assert tune(*arguments, "--C", "1", "--epsilon", "0")[2]["choice"]["epsilon"] == 0
    out, _, summary = tune(*arguments, "--C", "1", "--epsilon", "2.5")
    assert summary["choice"]["epsilon"] == 2.5
    assert "epsilon" in out
    assert tune(*arguments, "--C", "1", "--epsilon", "0,2.5")[2]["choice"]["epsilon"] in (0, 2.5)
    assert 0.5 <= tune(*arguments, "--C", "1", "--epsilon", "0.5:2.5")[2]["choice"]["epsilon"] <= 2.5


@pytest.mark.filterwarnings("always::svmpath.EdgeWarning")
def test_a_quantile_is_tuned_by_the_pinball_loss(tune, run):
    table = flats().drop(columns="sold")
    table.to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "price", "--gamma", "0.1", "--C", "1000,10000", "--honest", "bootstrap")
    out, _, summary = tune(*arguments, "--loss", "pinball", "--quantile", "0.9")
    assert "pinball, rbf kernel" in out
    assert "pinball loss (exact leave-one-out)" in out
    assert "(best constant)" in out
    assert summary["choice"]["quantile"] == 0.9
    assert summary["held_out"]["kind"] == summary["curve"]["kind"] == "pinball loss"
    assert "root_mean_squared_error" not in summary["held_out"]
    y = table["price"].to_numpy(dtype=float)
    best = min(np.mean(np.maximum(0.9 * (y - b), -0.1 * (y - b))) for b in y)
    assert summary["held_out"]["baseline"] == pytest.approx(best, rel=1e-6)
    model = load()["model"]
    assert summary["choice"]["share_below"] == model.held_out_shares()
    assert f"{100 * model.held_out_shares():.1f} % of held-out targets" in out
    e = y - model.held_out_decisions()
    assert summary["held_out"]["value"] == pytest.approx(np.mean(np.maximum(0.9 * e, -0.1 * e)))
    assert run("predict", "model.skops", "data.csv", "--interval", "0.8", "-o", "out.csv")[0] == 0
    predicted = pd.read_csv("out.csv")
    assert (predicted["lower"] <= predicted["upper"]).mean() > 0.9
    assert tune(*arguments, "--loss", "expectile", "--quantile", "0.7")[2]["held_out"]["kind"] == (
        "asymmetric squared error"
    )
    note = "Note: --quantile has an effect with --loss expectile or pinball only."
    assert note in tune(*arguments, "--quantile", "0.7")[1]
    tune(*arguments, "--loss", "pinball", "--quantile", "0.9", "--calibrate")
    moved = load()["model"]
    assert moved.calibrate
    X = moved.path_.problem.gram.X
    np.testing.assert_allclose(moved.predict(X), model.predict(X) + moved.shift_)
    assert moved.shift_ != 0.0
    assert "Note: --calibrate has an effect with --loss pinball only." in tune(*arguments, "--calibrate")[1]


@pytest.mark.filterwarnings("always::svmpath.EdgeWarning")
def test_several_quantiles_have_columns(tune, run):
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "price", "--gamma", "0.1", "--C", "1000,10000", "--honest", "none")
    out, _, summary = tune(*arguments, "--loss", "pinball", "--quantile", "0.1,0.5,0.9", "--report")
    assert "0.1, 0.5, 0.9" in out
    assert summary["choice"]["quantile"] == [0.1, 0.5, 0.9]
    assert len(summary["choice"]["share_below"]) == 3
    assert "Quantile by quantile, held out" in Path("report.html").read_text(encoding="utf-8")
    assert run("predict", "model.skops", "data.csv", "--interval", "0.8", "-o", "out.csv")[0] == 0
    found = pd.read_csv("out.csv")
    assert list(found.columns[-5:]) == ["quantile_0.1", "quantile_0.5", "quantile_0.9", "lower", "upper"]
    assert (found["quantile_0.1"] <= found["quantile_0.9"]).all()


def test_a_path_over_the_quantile(run):
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    options = ("--target", "price", "--loss", "pinball", "--over", "quantile", "--span", "0.1:0.9", "-o", "p.npz")
    assert run("path", "data.csv", *options)[0] == 0
    with np.load("p.npz") as arrays:
        assert str(arrays["over"]) == "quantile"
        assert set(arrays["event_to"]) <= {"below", "elbow", "above"}


@pytest.mark.slow
def test_many_rows_are_followed_to_a_gap(tune, refused, monkeypatch):
    monkeypatch.setattr("svmpath.paths.jump.WHOLE_ROWS", 30)
    for module in ("svmpath.paths.trackers", "svmpath.estimators._base"):  # as with many rows
        monkeypatch.setattr(sys.modules[module], "exact_is_cheaper", lambda n, rank: False)
    X, y = twonorm(60, 0)
    np.savez("data.npz", X=X, y=y)
    _, err, summary = tune("data.npz", "--loss", "hinge", "--rank", "20", *FIXED)
    assert "Note: with 60 rows, the paths of hinge are approximated to a relative duality gap of 0.001." in err
    assert "Note: there is no exact leave-one-out along approximate paths, so 5-fold was used instead." in err
    assert summary["choice"]["tol"] == 1e-3
    assert load()["model"].path_(1.0).gap <= 1e-3
    os.remove("model.skops")
    os.remove("summary.json")
    assert "--rank exact with --loss hinge needs the full kernel matrix, which is too large for 60 rows" in refused(
        "tune", "data.npz", "--loss", "hinge", "--rank", "exact", *FIXED
    )
    assert (
        "--criterion loo with --loss hinge needs exact paths, which are not available for 60 rows; use alo or kfold"
        in refused("tune", "data.npz", "--loss", "hinge", "--rank", "20", "--criterion", "loo", *FIXED)
    )
    _, _, summary = tune("data.npz", "--loss", "hinge", "--rank", "20", "--criterion", "alo", *FIXED)
    assert summary["held_out"]["criterion"] == summary["curve"]["criterion"] == "alo"


def test_losses_that_do_not_fit_the_task_are_refused(refused):
    arguments = csv("a,y\n" + "".join(f"{i},{'uv'[i % 2]}\n" for i in range(12)))
    assert "--loss epsilon_insensitive does regression, not classification" in refused(
        "tune", *arguments, "--loss", "epsilon_insensitive"
    )
    # The nu machine is followed over nu and has no C to choose.
    names = "'least_squares', 'squared_hinge', 'hinge', 'huber_hinge', 'epsilon_insensitive', 'expectile', 'pinball'"
    assert f"--loss must be one of {names}; got 'nu'" in refused("tune", *arguments, "--loss", "nu")


def test_a_loss_whose_default_is_folds_is_not_said_to_have_too_many_samples(tune):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    _, err, summary = tune("data.csv", "--target", "sold", "--loss", "huber_hinge", *FIXED)
    reported = "exact leave-one-out of huber_hinge takes one path per sample, so 5-fold is its default"
    assert summary["curve"]["switched"] == reported
    assert f"Note: {reported}; use --criterion loo if you want leave-one-out anyway." in err


def test_folds_for_rows_that_contradict_each_other_are_explained(tune):
    arguments = csv("a,y\n" + "".join(f"{i // 2 % 6},{'uv'[i % 2]}\n" for i in range(24)))
    _, _, summary = tune(*arguments, "--loss", "hinge", *FIXED)
    reported = "equal rows with different targets make exact leave-one-out slow, so 5-fold was used instead"
    assert summary["curve"]["switched"] == reported


def test_the_approximation_is_refused_where_the_help_says_so(refused):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold", *FIXED, "--criterion", "alo", "--loss")
    assert "not for --loss least_squares" in refused("tune", *arguments, "least_squares")


def test_every_way_of_holding_out_that_is_printed_has_words():
    assert held_out_by("kfold", 5) == "5-fold"
    assert held_out_by("span", None) == "span prediction of leave-one-out"
    assert [held_out_by(name, None) for name in ("loo", "alo")] == ["exact leave-one-out", "approximate leave-one-out"]

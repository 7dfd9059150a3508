"""``svmpath tune``: from a table to a model, for every kind of table and option."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from svmpath.cli import main
from svmpath.datasets import twonorm
from svmpath.gram import Nystroem
from svmpath.losses import SquaredHinge
from tests.cli.tables import FIXED, GOOD, csv, flats, load
from tests.speed import first_quick


def test_classification_with_categories_and_words(tune, run):
    table = flats().drop(columns="price")
    table.to_csv("data.csv", index=False)
    out, err, summary = tune("data.csv", "--target", "sold")
    assert sorted(os.listdir()) == ["config.toml", "data.csv", "model.skops", "summary.json"]
    for word in (
        "classification (2 classes)",
        "40",
        "1 numeric, 1 categorical, 1 boolean",
        "error rate (exact leave-one-out)",
        "Time",
    ):
        assert word in out
    assert err == "" or err.startswith("Note: the chosen")
    assert summary["data"]["classes"] == [{"label": "cheap", "rows": 20}, {"label": "dear", "rows": 20}]
    assert summary["held_out"]["value"] < 0.2
    new = flats(15, seed=1)
    new.drop(columns=["price", "sold"]).to_csv("new.csv", index=False)
    code, out, err = run("predict", "model.skops", "new.csv", "-o", "out.csv")
    assert (code, err) == (0, "")
    assert "15 predictions" in out
    predicted = pd.read_csv("out.csv")
    assert list(predicted.columns) == ["prediction"]
    # The pipeline takes the table as pandas reads it, in any order of columns and with more of them.
    raw = pd.read_csv("new.csv")
    assert load().predict(raw).tolist() == predicted["prediction"].tolist()
    assert load().predict(new[["sold", "lift", "town", "area", "price"]]).tolist() == predicted["prediction"].tolist()
    assert np.mean(predicted["prediction"] == new["sold"]) > 0.7


def test_regression(tune, run):
    table = flats().drop(columns="sold")
    table.to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "price")
    assert "root mean squared error" in out
    assert summary["data"]["task"] == "regression"
    held_out = summary["held_out"]
    assert held_out["kind"] == "mean squared error"
    assert held_out["root_mean_squared_error"] ** 2 == pytest.approx(held_out["value"])
    assert held_out["root_mean_squared_error"] < table["price"].std() / 3
    # The target is there, but not wholly: it is not looked at.
    table.assign(price=[np.nan, *["?"] * 39]).to_csv("new.csv", index=False)
    assert run("predict", "model.skops", "new.csv", "-o", "out.csv")[0] == 0
    np.testing.assert_allclose(pd.read_csv("out.csv")["prediction"], load().predict(table), rtol=1e-12)


@pytest.mark.slow
def test_the_loss_and_how_samples_were_held_out_are_named(tune, monkeypatch):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "sold", *FIXED)
    assert "squared_hinge, rbf kernel" in out
    assert "span prediction of leave-one-out" in out  # what chose
    assert "error rate (exact leave-one-out)" in out  # what is reported
    assert (summary["choice"]["loss"], summary["held_out"]["criterion"]) == ("squared_hinge", "loo")
    assert summary["curve"]["criterion"] == "span"
    monkeypatch.setattr(SquaredHinge, "policy", replace(SquaredHinge.policy, exact_rows=30))
    out, _, summary = tune("data.csv", "--target", "sold", *FIXED)
    assert "error rate (span prediction of leave-one-out)" in out
    assert summary["held_out"]["criterion"] == "span"
    out, _, summary = tune("data.csv", "--target", "sold", "--loss", "least_squares", *FIXED)
    assert "least_squares, rbf kernel" in out
    assert summary["curve"]["criterion"] == summary["held_out"]["criterion"] == "loo"
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    assert tune("data.csv", "--target", "price", *FIXED)[2]["choice"]["loss"] == "least_squares"


@pytest.mark.slow
def test_three_classes_of_whole_numbers(tune, run):
    table = flats().drop(columns=["sold", "price"])
    table["rooms"] = np.digitize(table["area"], [50, 90]) + 1
    table.to_csv("data.csv", index=False)
    _, _, summary = tune("data.csv", "--target", "rooms", "--criterion", "kfold", "--cv", "4")
    assert [entry["label"] for entry in summary["data"]["classes"]] == [1, 2, 3]
    assert summary["held_out"]["folds"] == 4
    assert run("predict", "model.skops", "data.csv", "-o", "out.csv")[0] == 0
    assert set(Path("out.csv").read_text(encoding="utf-8").split()) <= {"prediction", "1", "2", "3"}


def test_truth_values_as_target(tune, run):
    flats().to_csv("data.csv", index=False)
    tune("data.csv", "--target", "lift", *FIXED)
    assert run("predict", "model.skops", "data.csv", "-o", "out.csv")[0] == 0
    assert set(pd.read_csv("out.csv")["prediction"]) <= {True, False}


def test_task_is_decided_by_the_option(tune):
    table = flats().drop(columns=["sold", "price"])
    table["rooms"] = np.digitize(table["area"], [50, 90]) + 1
    table.to_csv("data.csv", index=False)
    assert tune("data.csv", "--target", "rooms", *FIXED)[2]["data"]["task"] == "classification"
    _, _, summary = tune("data.csv", "--target", "rooms", "--task", "regression", *FIXED)
    assert summary["data"]["task"] == "regression"


def test_only_categories(tune, run):
    table = flats()[["town", "sold"]]
    table.to_csv("data.csv", index=False)
    assert tune("data.csv", "--target", "sold", *FIXED)[2]["data"]["columns"] == {"numbers": 0, "categories": 1}
    assert run("predict", "model.skops", "data.csv", "-o", "out.csv")[0] == 0


@pytest.mark.slow
def test_parquet(tune, run):
    pytest.importorskip("pyarrow")
    table = flats()
    table["town"] = pd.Categorical(table["town"])
    table.to_parquet("data.parquet")
    tune("data.parquet", "--target", "sold", *FIXED)
    assert run("predict", "model.skops", "data.parquet", "-o", "out.csv")[0] == 0
    expected = load().predict(pd.read_parquet("data.parquet")).tolist()
    assert pd.read_csv("out.csv")["prediction"].tolist() == expected
    table.to_csv("data.csv", index=False)
    assert run("predict", "model.skops", "data.csv", "-o", "again.csv")[0] == 0
    assert pd.read_csv("again.csv")["prediction"].tolist() == expected


def test_npz(tune, run):
    X, y = twonorm(60, 0)
    np.savez("data.npz", X=X, y=y, other=np.where(y > 0, "up", "down"))
    out, _, summary = tune("data.npz", *FIXED)
    assert "20 numeric" in out
    assert summary["data"]["target"] == "y"
    assert "names" not in summary["data"]
    assert run("predict", "model.skops", "data.npz", "-o", "out.csv")[0] == 0
    # What is raw in an npz file is the array.
    assert pd.read_csv("out.csv")["prediction"].tolist() == load().predict(X).tolist()
    pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(20)]).to_csv("named.csv", index=False)
    assert run("predict", "model.skops", "named.csv", "-o", "named_out.csv")[0] == 0
    assert Path("named_out.csv").read_text(encoding="utf-8") == Path("out.csv").read_text(encoding="utf-8")
    tune("data.npz", "--target", "other", *FIXED)
    assert run("predict", "model.skops", "data.npz", "-o", "out.csv")[0] == 0
    assert set(pd.read_csv("out.csv")["prediction"]) == {"up", "down"}


def test_libsvm_stays_sparse(tune, run):
    X, y = twonorm(60, 0)
    X = sparse.csr_matrix(np.where(abs(X) > 0.5, X, 0))
    dump_svmlight_file(X, y, "data.libsvm", zero_based=True)
    tune("data.libsvm", *FIXED)
    assert sparse.issparse(load()["model"].support_vectors_)
    dump_svmlight_file(X[:5, :19], y[:5], "new.libsvm", zero_based=True)
    assert run("predict", "model.skops", "new.libsvm", "-o", "out.csv")[0] == 0
    new = X[:5].toarray()
    new[:, 19] = 0
    assert pd.read_csv("out.csv")["prediction"].tolist() == load().predict(sparse.csr_matrix(new)).tolist()
    np.savez("new.npz", X=new)
    assert run("predict", "model.skops", "new.npz", "-o", "dense.csv")[0] == 0
    assert Path("dense.csv").read_text(encoding="utf-8") == Path("out.csv").read_text(encoding="utf-8")


def test_options_reach_the_estimator(tune):
    X, y = twonorm(60, 0)
    np.savez("data.npz", X=X, y=y)
    options = ["--kernel", "laplacian", "--gamma", "scale", "--C", "2", "--rank", "20", "--landmarks", "uniform"]
    out, _, summary = tune("data.npz", *options, "--n-jobs", "1", "--random-state", "3", "--search", "grid")
    model = load()["model"]
    chosen = (model.kernel, model.gamma, model.C, model.rank, model.search, model.random_state)
    assert chosen == ("laplacian", "scale", 2.0, Nystroem(20, "uniform"), "grid", 3)
    assert model.verbose == 0
    assert summary["choice"]["rank"] == 20
    assert 0 < summary["choice"]["residual"] < 1
    assert "Rank" in out
    assert tune("data.npz", "--kernel", "linear", "--rank", "0.5")[2]["choice"]["gamma"] is None


@pytest.mark.slow
def test_many_rows_are_approximated_and_it_is_said(tune, monkeypatch):
    monkeypatch.setattr("svmpath.gram.AUTO_ROWS", 50)
    monkeypatch.setattr("svmpath.gram.AUTO_LANDMARKS", 12)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    np.savez("data.npz", X=X, y=np.sign(X[:, 0]))
    twelve = "Note: with 60 rows, the kernel is approximated with 12 landmarks; use --rank exact to avoid this."
    for options in (["--search", "grid"], ["--landmarks", "greedy"], ["--loss", "hinge"]):
        out, err, summary = tune("data.npz", *FIXED, *options)
        assert twelve in err
        assert summary["choice"]["rank"] == 12
        assert "12 (residual" in out
    out, err, summary = tune("data.npz", *FIXED, "--rank", "exact")
    assert err == ""
    assert summary["choice"]["rank"] is None
    assert "Rank            │ full" in out


def test_a_rank_that_is_chosen_is_said_beforehand_and_reported(tune, monkeypatch):
    monkeypatch.setattr("svmpath.gram.AUTO_ROWS", 50)
    monkeypatch.setattr("svmpath.search.limits.FULL_ROWS", 50)
    monkeypatch.setattr("svmpath.search.limits.MOST_FULL_ROWS", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    np.savez("data.npz", X=X, y=np.sign(X[:, 0] + 0.5 * rng.normal(size=400)))
    out, err, summary = tune("data.npz", *FIXED)
    chosen = "the kernel may be approximated; its rank is chosen by held-out error"
    assert f"Note: with 400 rows, {chosen}; use --rank exact to avoid this.\n" in err
    model, choice = load()["model"], summary["choice"]
    assert 0 < choice["rank"] <= 300
    assert (choice["rank"], choice["residual"]) == (model.rank_, pytest.approx(model.residual_))
    assert f"{choice['rank']} (residual {choice['residual']:.2g})" in out


@pytest.mark.slow
def test_the_loss_that_was_chosen_is_named(tune):
    table = flats().drop(columns=["sold", "price"])
    table["rooms"] = np.digitize(table["area"], [50, 90]) + 1
    table.to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "rooms", *FIXED)
    names = ["least_squares", "squared_hinge"]
    assert summary["choice"]["losses"] == names
    assert summary["choice"]["loss"] == load()["model"].loss_
    other = next(name for name in names if name != summary["choice"]["loss"])
    assert f"{summary['choice']['loss']} (chosen, not {other}), rbf kernel" in out
    out, _, summary = tune("data.csv", "--target", "rooms", *FIXED, "--loss", "squared_hinge")
    assert "squared_hinge, rbf kernel" in out
    assert summary["choice"]["losses"] == ["squared_hinge"]


def test_verbose_prints_stages_on_stderr(tune):
    flats().to_csv("data.csv", index=False)
    out, err, _ = tune("data.csv", "--target", "sold", "--verbose")
    lines = [line for line in err.splitlines() if line.startswith("[PathSVC] ")]
    assert [line.split()[1] for line in lines] == ["screen:", "confirm:"]
    assert "PathSVC" not in out
    assert "[PathSVC] scored" in tune("data.csv", "--target", "sold", "--verbose", "--search", "grid")[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("always::svmpath.LimitWarning")
def test_a_limit_of_time_is_noted(tune):
    flats().to_csv("data.csv", index=False)
    reached = "Note: --time-limit was reached; the model is the best of what was tried by then.\n"
    assert reached in tune("data.csv", "--target", "sold", "--time-limit", "1e-6")[1]
    assert "limit" not in tune("data.csv", "--target", "sold", "--time-limit", "1e6", "--memory-limit", "1GB")[1]
    arguments = ("data.csv", "--target", "sold", *FIXED, "--time-limit", "1e6", "--search", "grid")
    assert "Note: --time-limit has an effect with --search auto only.\n" in tune(*arguments)[1]


def test_the_polynomial_kernel_takes_its_options(tune):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    np.savez("data.npz", X=X, y=np.sign(X[:, 0] * X[:, 1]))
    _, _, summary = tune("data.npz", "--kernel", "poly", "--degree", "2", "--coef0", "1")
    assert summary["held_out"]["value"] < 0.1


@pytest.mark.filterwarnings("always::svmpath.EdgeWarning")
def test_a_choice_at_the_edge_is_noted_once(tune):
    x = np.linspace(0, 1, 60)
    np.savez("data.npz", X=x[:, None], y=np.sin(9 * x))  # no noise: the larger C, the better
    _, err, summary = tune("data.npz", "--gamma", "1")
    assert summary["choice"]["at_edge"] == ["C"]
    assert "Note: the chosen C = 1e+06 lies at the edge of the searched range" in err
    assert err.count("Note:") == 1


def test_summary_is_json_that_anyone_can_read(tune):
    flats().to_csv("data.csv", index=False)
    _, _, summary = tune(os.path.abspath("data.csv"), "--target", "sold", *FIXED)
    text = Path("summary.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "Infinity" not in text
    assert os.getcwd() not in text
    keys = {"versions", "data", "columns", "choice", "held_out", "honest", "curve", "support_vectors", "seconds"}
    assert set(summary) == keys | {"times", "importance"}
    assert summary["seconds"] == pytest.approx(sum(summary["times"].values()))
    assert summary["data"]["file"] == "data.csv"
    assert summary["data"]["names"] == {"numbers": ["area", "price"], "categories": ["town"], "booleans": ["lift"]}
    lift = {"name": "lift", "kind": "boolean", "missing": 0, "used": True, "detail": ""}
    assert summary["columns"][2] == lift
    assert summary["choice"]["C"] == 1.0
    assert len(summary["curve"]["values"]) == len(summary["curve"]["scores"])
    assert 0 < summary["support_vectors"] < 40  # the squared hinge leaves out samples beyond the margin


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model(tune):
    flats().to_csv("data.csv", index=False)
    first = tune("data.csv", "--target", "sold", "--rank", "10")[2]
    second = tune("data.csv", "--target", "sold", "--rank", "10")[2]
    assert {**first, "seconds": 0, "times": 0} == {**second, "seconds": 0, "times": 0}


@pytest.mark.slow
def test_output_folder_is_made(run):
    flats().to_csv("data.csv", index=False)
    assert run("tune", "data.csv", "--target", "sold", "--output", "new/and deep", *FIXED)[0] == 0
    assert sorted(os.listdir("new/and deep")) == ["config.toml", "model.skops", "report.html", "summary.json"]


def test_a_column_of_names_is_noted(tune):
    table = flats()
    table["owner"] = [f"P{row}" for row in range(40)]
    table.to_csv("data.csv", index=False)
    assert "Note: column 'owner' has a different value in every row" in tune("data.csv", "--target", "sold", *FIXED)[1]


def test_names_that_look_like_markup(tune):
    flats().rename(columns={"sold": "[red]sold[/]"}).to_csv("[bold].csv", index=False)
    out, _, _ = tune("[bold].csv", "--target", "[red]sold[/]", *FIXED)
    assert "[red]sold[/]" in out
    assert "[bold].csv" in out


def test_spans_are_searched_and_wrong_ones_refused(tune):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    np.savez("data.npz", X=X, y=np.sign(X[:, 0]))
    _, _, summary = tune("data.npz", "--gamma", "0.1:1", "--C", "0.5:50")
    assert 0.1 <= summary["choice"]["gamma"] <= 1
    assert 0.5 <= summary["choice"]["C"] <= 50
    for option in ("1:0.1", "1:2:3", ":", "0:1"):
        with pytest.raises(SystemExit) as end:
            main(["tune", "data.npz", "--C", option])
        assert end.value.code == 2


@pytest.mark.filterwarnings("always:cv=")
def test_folds_without_kfold_are_noted(tune):
    csv(GOOD)
    _, err, _ = tune("data.csv", "--target", "y", "--cv", "3", *FIXED)
    assert "Note: --cv 3 has no effect, as rows are left out one by one; use --criterion kfold for folds." in err
    _, err, _ = tune("data.csv", "--target", "y", "--cv", "5", *FIXED)  # which the estimator cannot tell from none
    assert "Note: --cv has an effect with --criterion kfold only." in err


def test_an_epsilon_without_a_tube_is_noted(tune):
    note = "Note: --epsilon has an effect with --loss epsilon_insensitive only."
    err = tune(*csv(GOOD), *FIXED, "--epsilon", "0.5")[1]
    assert note in err
    assert err.count("epsilon") == 2  # no other sentence about it


def test_a_gamma_that_the_kernel_does_not_have_is_noted(tune):
    note = "Note: --gamma has no effect with --kernel linear."
    assert note in tune(*csv(GOOD), "--C", "1", "--kernel", "linear", "--gamma", "3")[1]
    assert note not in tune(*csv(GOOD), "--C", "1", "--kernel", "linear")[1]


@first_quick(1)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_indefinite_kernel_is_clipped_on_request(tune, run, loss):
    X, y = twonorm(40, 0)
    np.savez("data.npz", X=X[:, :3], y=y)
    options = ("--kernel", "sigmoid", "--gamma", "0.5", "--C", "0.1:10", "--loss", loss)
    _, err, _ = tune("data.npz", *options, "--psd", "clip")
    assert "indefinite" not in err
    model = load()["model"]
    K = model.path_.gram.block(np.arange(40), np.arange(40))
    assert np.linalg.eigvalsh(K).min() > -1e-9
    assert run("predict", "model.skops", "data.npz", "-o", "out.csv")[0] == 0
    fitted = np.where(model.path_(model.C_).fitted > 0, model.classes_[1], model.classes_[0])
    np.testing.assert_array_equal(pd.read_csv("out.csv")["prediction"], fitted)


@pytest.mark.filterwarnings("always::svmpath.IndefiniteKernelWarning")
def test_an_indefinite_kernel_is_noted_with_a_remedy(run):
    X, y = twonorm(40, 0)
    np.savez("data.npz", X=X[:, :3], y=y)
    options = ("--kernel", "sigmoid", "--loss", "least_squares", "--criterion", "kfold", *FIXED)
    _, _, err = run("tune", "data.npz", *options)
    assert "Note: the kernel is indefinite on these data: the problem is not convex; --psd clip makes it convex." in err


def test_the_report_is_written_with_the_model(run):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    code, out, err = run("tune", "data.csv", "--target", "sold", *FIXED)
    assert code == 0, err
    assert "Wrote model.skops, summary.json, config.toml and report.html." in out
    page = Path("report.html").read_text(encoding="utf-8")
    assert "data.csv: svmpath report" in page
    assert "Rows are counted from 1." in page  # as with --held-out
    os.remove("report.html")
    code, out, err = run("tune", "data.csv", "--target", "sold", *FIXED, "--no-report")
    assert code == 0, err
    assert "Wrote model.skops, summary.json and config.toml." in out
    assert not os.path.exists("report.html")


def test_a_model_is_not_lost_if_its_report_fails(run, monkeypatch):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    monkeypatch.setattr("svmpath.report.page.overview", lambda *_: 1 / 0)
    code, out, err = run("tune", "data.csv", "--target", "sold", *FIXED)
    assert code == 0, err
    assert "the report could not be made (division by zero); the model is saved without it." in err
    assert "Wrote model.skops, summary.json and config.toml." in out
    assert sorted(os.listdir()) == ["config.toml", "data.csv", "model.skops", "summary.json"]


def test_a_folder_in_place_of_the_report_is_refused(refused, run):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    os.mkdir("report.html")
    assert "'report.html' is a folder" in refused("tune", "data.csv", "--target", "sold", *FIXED)
    code, _, err = run("tune", "data.csv", "--target", "sold", *FIXED, "--no-report")
    assert code == 0, err


@pytest.mark.slow
def test_names_from_the_file_are_text_in_the_report(run):
    odd = "<script>alert(1)</script>"
    rows = flats().drop(columns="price").rename(columns={"area": odd})
    rows["word"] = ["</script><b>", "plain"] * 20
    rows.to_csv("data.csv", index=False)
    code, _, err = run("tune", "data.csv", "--target", "sold", *FIXED)
    assert code == 0, err
    page = Path("report.html").read_text(encoding="utf-8")
    assert odd not in page
    assert "</script><b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_score_is_maximised_shown_and_saved(tune, run):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "sold", "--scoring", "roc_auc", "--threshold", "tune")
    model = load()["model"]
    assert summary["curve"]["kind"] == "minus roc_auc"
    assert f"{-min(summary['curve']['scores']):.4f} roc_auc, held out" in out
    assert summary["choice"]["threshold"] == model.threshold_
    assert "Threshold" in out
    assert run("predict", "model.skops", "data.csv", "--proba", "-o", "out.csv")[0] == 0


@pytest.mark.slow
def test_where_a_score_has_no_correction_there_is_no_honest_error(tune, refused):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "sold", "--scoring", "balanced_accuracy")
    assert summary["honest"] is None
    assert "Honest error" not in out
    sentence = refused("tune", "data.csv", "--target", "sold", "--scoring", "roc_auc", "--honest", "bootstrap")
    assert "scores that are no mean of losses" in sentence


def test_positive_names_the_class_of_a_score(tune, refused):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    scored = ["data.csv", "--target", "sold", *FIXED, "--scoring", "recall", "--honest", "none"]
    for label in ("cheap", "dear"):
        _, _, facts = tune(*scored, "--positive", label)
        (recall,) = [row["recall"] for row in facts["held_out"]["recall"] if row["label"] == label]
        assert -facts["curve"]["scores"][0] == pytest.approx(recall, abs=0.1)  # of the span prediction
    assert "--positive must be one of the labels cheap, dear, not 'deer'. Did you mean 'dear'?" in refused(
        "tune", *scored, "--positive", "deer"
    )


def test_positive_is_for_two_classes(refused):
    flats().to_csv("data.csv", index=False)
    assert "--positive names a class, but this is a regression" in refused(
        "tune", "data.csv", "--target", "price", "--positive", "1"
    )
    assert "--positive Ulm works for two classes only, but y has 3" in refused(
        "tune", "data.csv", "--target", "town", "--positive", "Ulm", "--scoring", "f1"
    )


def test_a_threshold_is_for_classes(refused):
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    sentence = refused("tune", "data.csv", "--target", "price", "--threshold", "0.5")
    assert sentence == "Error: --threshold works for classification only; leave it out."

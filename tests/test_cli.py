"""The command line, from data file to predictions."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC

import svmpath
from svmpath import PathSVC, cli
from svmpath.cli import main
from svmpath.datasets import twonorm
from svmpath.report import write_files, write_json

FIXED = ("--C", "1", "--gamma", "0.1")  # where the choice does not matter


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test runs in a fresh folder, with a space in its name."""
    path = tmp_path / "a folder"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def run(capsys):
    """Run the command line; gives exit code, stdout and stderr."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return caught.value.code, out, err

    return run


@pytest.fixture
def tune(run):
    """Run ``svmpath tune``, which must succeed; gives stdout, stderr and the summary."""

    def tune(*arguments):
        code, out, err = run("tune", *arguments)
        assert code == 0, err
        return out, err, json.loads(Path("summary.json").read_text(encoding="utf-8"))

    return tune


@pytest.fixture
def refused(run):
    """Run the command line, which must refuse in one sentence and leave the folder as it was."""

    def refused(*arguments):
        before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
        code, out, err = run(*arguments)
        assert code == 2, err
        assert out == ""
        lines = err.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("Error: ")
        assert lines[0].endswith(".")
        assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before
        return lines[0]

    return refused


def flats(n=40, seed=0):
    """A table with numbers, words and truth values, a label in words and a price."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(20, 120, n).round(1)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    lift = rng.random(n) < 0.5
    price = 10 * area + 200 * (town == "Bonn") + 50 * lift + rng.normal(0, 10, n)
    sold = np.where(price > np.median(price), "dear", "cheap")
    return pd.DataFrame({"area": area, "town": town, "lift": lift, "price": price.round(2), "sold": sold})


def load(path="model.skops"):
    return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))


# ----------------------------------------------------------------------------------------------------
# From a table to predictions
# ----------------------------------------------------------------------------------------------------


def test_classification_with_categories_and_words(tune, run):
    table = flats().drop(columns="price")
    table.to_csv("data.csv", index=False)
    out, err, summary = tune("data.csv", "--target", "sold")
    assert sorted(os.listdir()) == ["data.csv", "model.skops", "summary.json"]
    for word in (
        "classification (2 classes)",
        "40",
        "1 numbers, 2 categories",
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


def test_the_loss_and_how_samples_were_held_out_are_named(tune, monkeypatch):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "sold", *FIXED)
    assert "squared_hinge, rbf kernel" in out
    assert "span prediction of leave-one-out" in out  # what chose
    assert "error rate (exact leave-one-out)" in out  # what is reported
    assert (summary["choice"]["loss"], summary["held_out"]["criterion"]) == ("squared_hinge", "loo")
    assert summary["curve"]["criterion"] == "span"
    monkeypatch.setattr("svmpath.estimators._base._EXACT", 30)
    out, _, summary = tune("data.csv", "--target", "sold", *FIXED)
    assert "error rate (span prediction of leave-one-out)" in out
    assert summary["held_out"]["criterion"] == "span"
    out, _, summary = tune("data.csv", "--target", "sold", "--loss", "least_squares", *FIXED)
    assert "least_squares, rbf kernel" in out
    assert summary["curve"]["criterion"] == summary["held_out"]["criterion"] == "loo"
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    assert tune("data.csv", "--target", "price", *FIXED)[2]["choice"]["loss"] == "least_squares"


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
    assert "20 numbers" in out
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
    out, _, summary = tune("data.npz", *options, "--n-jobs", "1", "--random-state", "3", "--search", "continuous")
    model = load()["model"]
    chosen = (model.kernel, model.gamma, model.C, model.rank, model.landmarks, model.search, model.random_state)
    assert chosen == ("laplacian", "scale", 2.0, 20, "uniform", "continuous", 3)
    assert model.verbose == 0
    assert summary["choice"]["rank"] == 20
    assert 0 < summary["choice"]["residual"] < 1
    assert "Rank" in out
    assert tune("data.npz", "--kernel", "linear", "--rank", "0.5")[2]["choice"]["gamma"] is None


def test_many_rows_are_approximated_and_it_is_said(tune, monkeypatch):
    monkeypatch.setattr("svmpath.cli._MANY_ROWS", 50)
    monkeypatch.setattr("svmpath.cli._LANDMARKS", 12)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    np.savez("data.npz", X=X, y=np.sign(X[:, 0]))
    _, err, summary = tune("data.npz", *FIXED)
    assert "Note: 60 rows: the kernel is approximated with 12 landmarks; --rank exact does without." in err
    assert summary["choice"]["rank"] == 12
    _, err, summary = tune("data.npz", *FIXED, "--rank", "exact")
    assert err == ""
    assert summary["choice"]["rank"] is None


def test_the_polynomial_kernel_takes_its_options(tune):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    np.savez("data.npz", X=X, y=np.sign(X[:, 0] * X[:, 1]))
    _, _, summary = tune("data.npz", "--kernel", "poly", "--degree", "2", "--coef0", "1")
    assert summary["held_out"]["value"] < 0.1


def test_a_choice_at_the_edge_is_noted(tune):
    x = np.linspace(0, 1, 60)
    np.savez("data.npz", X=x[:, None], y=np.sin(9 * x))  # no noise: the larger C, the better
    _, err, summary = tune("data.npz", "--gamma", "1")
    assert summary["choice"]["at_edge"] == ["C"]
    assert "Note: the chosen C = 1e+06 lies at the edge of the searched range" in err


def test_summary_is_json_that_anyone_can_read(tune):
    flats().to_csv("data.csv", index=False)
    _, _, summary = tune(os.path.abspath("data.csv"), "--target", "sold", *FIXED)
    text = Path("summary.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "Infinity" not in text
    assert os.getcwd() not in text
    assert set(summary) == {"versions", "data", "choice", "held_out", "curve", "support_vectors", "seconds"}
    assert summary["data"]["file"] == "data.csv"
    assert summary["data"]["names"] == {"numbers": ["area", "price"], "categories": ["town", "lift"]}
    assert summary["choice"]["C"] == 1.0
    assert len(summary["curve"]["values"]) == len(summary["curve"]["scores"])
    assert 0 < summary["support_vectors"] < 40  # the squared hinge leaves out samples beyond the margin


def test_the_same_seed_gives_the_same_model(tune):
    flats().to_csv("data.csv", index=False)
    first = tune("data.csv", "--target", "sold", "--rank", "10")[2]
    second = tune("data.csv", "--target", "sold", "--rank", "10")[2]
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_output_folder_is_made(run):
    flats().to_csv("data.csv", index=False)
    assert run("tune", "data.csv", "--target", "sold", "--output", "new/and deep", *FIXED)[0] == 0
    assert sorted(os.listdir("new/and deep")) == ["model.skops", "summary.json"]


def test_unseen_categories_are_noted(tune, run):
    table = flats()
    table.to_csv("data.csv", index=False)
    tune("data.csv", "--target", "sold", *FIXED)
    table.loc[[1, 4], "town"] = "Paris"
    table["lift"] = table["lift"].astype(object)
    table.loc[2, "lift"] = "broken"
    table.to_csv("new.csv", index=False)
    code, _, err = run("predict", "model.skops", "new.csv", "-o", "out.csv")
    assert code == 0
    assert "Note: new.csv: column 'town' has categories in 2 of 40 rows that were not in the training data" in err
    assert "column 'lift' has categories in 1 of 40 rows" in err
    assert "'Paris'" in err
    assert len(pd.read_csv("out.csv")) == 40


def test_a_column_of_names_is_noted(tune):
    table = flats()
    table["owner"] = [f"P{row}" for row in range(40)]
    table.to_csv("data.csv", index=False)
    assert "Note: column 'owner' has a different word in every row" in tune("data.csv", "--target", "sold", *FIXED)[1]


def test_names_that_look_like_markup(tune):
    flats().rename(columns={"sold": "[red]sold[/]"}).to_csv("[bold].csv", index=False)
    out, _, _ = tune("[bold].csv", "--target", "[red]sold[/]", *FIXED)
    assert "[red]sold[/]" in out
    assert "[bold].csv" in out


# ----------------------------------------------------------------------------------------------------
# What is refused
# ----------------------------------------------------------------------------------------------------

GOOD = "a,b,y\n" + "".join(f"{i},{'uv'[i % 2]},{i * i % 7}.5\n" for i in range(12))


def csv(text):
    """Write data.csv and give the arguments that tune on it."""
    with open("data.csv", "w", encoding="utf-8") as file:
        file.write(text)
    return ["data.csv", "--target", "y"]


REFUSED_DATA = {
    "NaN": ("a,y\n1,u\n2,v\nNaN,u\n", "column 'a' has no value in data row 3"),
    "infinite": ("a,y\n1,u\ninf,v\n", "column 'a' has the infinite value inf in data row 2"),
    "stray word": ("a,y\n1,u\nabc,v\n", "column 'a' must hold numbers"),
    "gap in the target": ("a,y\n1,u\n2,\n", "column 'y' has no value in data row 2"),
    "one class": ("a,y\n1,u\n2,u\n", "there is only one class: every row has the target value 'u'"),
    "constant": ("a,y\n1,2.5\n2,2.5\n", "every row has the target value 2.5"),
    "empty": ("", "data.csv: the file is empty"),
    "no rows": ("a,y\n", "there are no rows"),
    "duplicate": ("a,a,y\n1,2,u\n", "the column name 'a' occurs more than once"),
    "missing target": ("a,Y2\n1,u\n", "there is no column 'y' to predict (did you mean 'Y2'?); there are 'a', 'Y2'"),
    "own class each": ("a,y\n1,u\n2,v\n", "every row has a class of its own"),
    "dates": ("a,y\n2024-01-01,u\n2024-01-02,v\n", "column 'a' holds dates or times"),
}


@pytest.mark.parametrize("case", REFUSED_DATA)
def test_tune_refuses_data(refused, case):
    text, sentence = REFUSED_DATA[case]
    arguments = csv(text)
    assert sentence in refused("tune", *arguments)


@pytest.mark.parametrize("case", ["constant", "words"])
def test_tune_refuses_a_target_for_regression(refused, case):
    texts = {"constant": ("2.5", "the target is constant"), "words": ("u", "regression needs numbers in the target")}
    value, sentence = texts[case]
    other = value if case == "constant" else "v"
    arguments = csv(f"a,y\n1,{value}\n2,{other}\n3,{value}\n")
    assert sentence in refused("tune", *arguments, "--task", "regression")


def test_tune_refuses_classes_of_a_continuous_target(refused):
    arguments = csv("a,y\n" + "".join(f"{i},{i / 7}\n" for i in range(1, 30)))
    assert "different fractional numbers; use --task regression" in refused(
        "tune", *arguments, "--task", "classification"
    )


REFUSED_OPTIONS = {
    ("--gamma", "wide"): "--gamma must be tune, scale, auto, ard, a positive number or LOW:HIGH, not 'wide'",
    ("--gamma", "-1"): "--gamma must be",
    ("--gamma", "nan"): "--gamma must be",
    ("--C", "0"): "--C must be tune, a positive number or LOW:HIGH, not '0'",
    ("--cv", "1"): "Invalid value for '--cv'",
    ("--rank", "1.5"): "--rank must be exact, auto, a whole number of landmarks or a residual between 0 and 1, not",
    ("--rank", "0"): "--rank must be",
    ("--rank", "many"): "--rank must be",
    ("--kernel", "precomputed"): "--kernel precomputed needs kernel values",
    ("--kernel", "magic"): "'magic'",
    ("--loss", "magic"): "'magic'",
    ("--loss", "hinge"): "loss='hinge' does classification, not regression",
    (
        "--criterion",
        "alo",
    ): "--criterion alo needs --loss hinge or epsilon_insensitive; for other losses auto is as quick",
    ("--loss", "epsilon_insensitive", "--epsilon", "wide"): "--epsilon must be tune or a number >= 0, not 'wide'",
    ("--loss", "epsilon_insensitive", "--epsilon", "-1"): "--epsilon must be",
    ("--landmarks", "magic", "--rank", "5"): "'magic'",
    ("--criterion", "magic"): "--criterion",
    ("--search", "magic"): "--search",
    ("--task", "magic"): "--task",
    ("--random-state", "-1"): "Invalid value for '--random-state'",
    ("--random-state", "x"): "--random-state",
    ("--criterion", "kfold", "--cv", "50"): "50",
    ("--output", "data.csv"): "--output must be a folder, but 'data.csv' is a file",
    ("--output", "data.csv/deeper"): "--output must be a folder",
    ("--no-such-option",): "No such option: --no-such-option; see svmpath --help",
    ("--target", "z"): "there is no column 'z' to predict",
}


@pytest.mark.parametrize("options", REFUSED_OPTIONS, ids=" ".join)
def test_tune_refuses_options(refused, options):
    arguments = csv(GOOD)
    assert REFUSED_OPTIONS[options] in refused("tune", *arguments, *options)


def test_refusals_without_data(refused, run):
    assert "none.csv: there is no file 'none.csv'" in refused("tune", "none.csv", "--target", "y")
    assert "Missing argument" in refused("tune")
    assert "No such command 'fly'" in refused("fly")
    csv(GOOD)
    assert "name the column to predict with --target; there are 'a', 'b', 'y'" in refused("tune", "data.csv")
    os.mkdir("folder.csv")
    assert "this is a folder" in refused("tune", "folder.csv", "--target", "y")
    os.mkdir("model.skops")
    assert "'model.skops' is a folder" in refused("tune", "data.csv", "--target", "y")
    code, out, err = run()
    assert code in (0, 2)  # as the version of typer has it
    assert "Usage: svmpath" in out + err


@pytest.fixture
def fitted(tune):
    """A model of the columns a (numbers) and b (words) in model.skops."""
    tune(*csv(GOOD), *FIXED)


REFUSED_NEW = {
    "missing column": ("a\n1\n", "new.csv: the table lacks 'b'"),
    "unexpected column": ("a,b,c\n1,u,2\n", "new.csv: the table has the unexpected 'c'"),
    "text where numbers are due": ("a,b\n1,u\nx,v\n", "column 'a' must hold numbers (such as '1' in data row 1), but"),
    "only text where numbers are due": ("a,b\nx,u\n", "column 'a' must hold numbers, but data row 1"),
    "gap": ("a,b\n1,u\n,v\n", "column 'a' has no value in data row 2"),
    "no rows": ("a,b\n", "there are no rows"),
    "empty": ("", "the file is empty"),
}


@pytest.mark.parametrize("case", REFUSED_NEW)
@pytest.mark.usefixtures("fitted")
def test_predict_refuses_data(refused, case):
    text, sentence = REFUSED_NEW[case]
    with open("new.csv", "w", encoding="utf-8") as file:
        file.write(text)
    assert sentence in refused("predict", "model.skops", "new.csv", "-o", "out.csv")


@pytest.mark.usefixtures("fitted")
def test_predict_refuses_files(refused):
    assert "none.csv: there is no file" in refused("predict", "model.skops", "none.csv", "-o", "out.csv")
    assert "there is no model file 'none.skops'" in refused("predict", "none.skops", "data.csv", "-o", "out.csv")
    assert "this is a folder" in refused("predict", ".", "data.csv", "-o", "out.csv")
    assert "would overwrite a file that is read" in refused("predict", "model.skops", "data.csv", "-o", "data.csv")
    assert "would overwrite" in refused("predict", "model.skops", "data.csv", "-o", "model.skops")
    assert "there is no folder 'none'" in refused("predict", "model.skops", "data.csv", "-o", "none/out.csv")
    assert "'.' is a folder" in refused("predict", "model.skops", "data.csv", "-o", ".")
    assert "'/dev/null' is none" in refused("predict", "model.skops", "data.csv", "-o", "/dev/null")
    assert "Missing option '--output'" in refused("predict", "model.skops", "data.csv")


def test_predict_refuses_what_is_no_model(refused):
    csv(GOOD)
    with open("model.skops", "wb") as file:
        file.write(b"PK\x03\x04 no archive")
    assert "damaged or not a model" in refused("predict", "model.skops", "data.csv", "-o", "out.csv")
    skops.io.dump({"a": 1}, "model.skops")
    assert "holds no model written by svmpath tune" in refused("predict", "model.skops", "data.csv", "-o", "out.csv")
    skops.io.dump(RidgeClassifier(), "model.skops")
    assert "holds no model written by svmpath tune" in refused("predict", "model.skops", "data.csv", "-o", "out.csv")


@pytest.mark.usefixtures("fitted")
def test_predict_refuses_a_cut_model(refused):
    content = Path("model.skops").read_bytes()
    for size in (0, 100, len(content) // 2):
        with open("cut.skops", "wb") as file:
            file.write(content[:size])
        assert "damaged or not a model" in refused("predict", "cut.skops", "data.csv", "-o", "out.csv")


def test_predict_runs_nothing_foreign(refused):
    csv(GOOD)
    skops.io.dump(subprocess.Popen, "model.skops")
    sentence = refused("predict", "model.skops", "data.csv", "-o", "out.csv")
    assert "types that svmpath does not write and will not run (subprocess.Popen)" in sentence


@pytest.mark.parametrize("name", ["os.system", "svmpath.cli.os", "svmpath.cli.Path", "svmpath.none.X", "svmpathy.X"])
def test_only_what_the_package_defines_is_ours(name):
    assert not cli._is_known(name)
    assert cli._is_known("svmpath.estimators.classifier.PathSVC")


@pytest.mark.usefixtures("fitted")
def test_predict_counts_columns_without_names(refused, tune):
    np.savez("new.npz", X=np.eye(3))
    assert "have no names, but the model needs 'a', 'b'" in refused(
        "predict", "model.skops", "new.npz", "-o", "out.csv"
    )
    X, y = twonorm(30, 0)
    np.savez("data.npz", X=X, y=y)
    tune("data.npz", *FIXED)
    assert "has 3 columns, but the model was fitted with 20" in refused(
        "predict", "model.skops", "new.npz", "-o", "out.csv"
    )
    dump_svmlight_file(np.ones((2, 21)), [0, 0], "new.libsvm", zero_based=False)
    assert "has 21 columns, but the model was fitted with 20" in refused(
        "predict", "model.skops", "new.libsvm", "-o", "out.csv"
    )


# ----------------------------------------------------------------------------------------------------
# Nothing is left behind
# ----------------------------------------------------------------------------------------------------


def raising(error):
    def fail(*arguments, **options):
        raise error

    return fail


@pytest.mark.parametrize("where", ["fit", "dump"])
def test_ctrl_c_leaves_nothing_behind(run, monkeypatch, where):
    arguments = csv(GOOD.replace(".5", ""))
    owner = PathSVC if where == "fit" else skops.io
    monkeypatch.setattr(owner, where, raising(KeyboardInterrupt()))
    code, out, err = run("tune", *arguments, "--output", "made")
    assert (code, out, err) == (130, "", "Interrupted; nothing was written.\n")
    assert os.listdir() == ["data.csv"]


@pytest.mark.usefixtures("fitted")
def test_ctrl_c_keeps_what_was_there(run, monkeypatch):
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    replace = os.replace

    def once(source, destination):
        if str(destination).endswith("summary.json"):
            raise KeyboardInterrupt
        replace(source, destination)

    monkeypatch.setattr(os, "replace", once)
    assert run("tune", *csv(GOOD), "--C", "2", "--gamma", "0.2")[0] == 130
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("The kernel is odd.\nMore about it."), "Error: The kernel is odd.\n"),
        (MemoryError(), "Error: there is not enough memory"),
        (OSError(28, "No space left on device"), "Error: No space left on device.\n"),
    ],
)
def test_errors_while_saving(run, monkeypatch, error, sentence):
    arguments = csv(GOOD)
    monkeypatch.setattr(skops.io, "dump", raising(error))
    code, _, err = run("tune", *arguments, *FIXED)
    assert code == 2
    assert err.startswith(sentence)
    assert os.listdir() == ["data.csv"]


def test_write_files_is_all_or_nothing():
    write_json({"a": 1}, "first.json")
    os.mkdir("taken")
    with pytest.raises(IsADirectoryError):
        write_files({path: lambda part: part.write_text("new") for path in map(Path, ("first.json", "taken"))})
    assert sorted(os.listdir()) == ["first.json", "taken"]
    assert json.loads(Path("first.json").read_text(encoding="utf-8")) == {"a": 1}
    with pytest.raises(ValueError, match="Out of range"):
        write_json({"a": float("nan")}, "second.json")
    assert not os.path.exists("second.json")


def test_written_files_have_the_usual_rights_and_follow_links():
    write_json({}, "plain.json")
    Path("reference").touch()
    assert os.stat("plain.json").st_mode == os.stat("reference").st_mode
    os.symlink("plain.json", "link.json")
    write_json({"a": 1}, "link.json")
    assert os.path.islink("link.json")
    assert json.loads(Path("plain.json").read_text(encoding="utf-8")) == {"a": 1}


# ----------------------------------------------------------------------------------------------------
# Progress, help, the module
# ----------------------------------------------------------------------------------------------------


def test_progress_waits_and_stays_off_pipes(monkeypatch, capsys):
    with cli._Progress("Working", delay=0.01) as progress:
        time.sleep(0.05)
        progress(1, 2)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with cli._Progress("Working", delay=0.01) as progress:
        time.sleep(0.05)
        progress(1, 2)
        progress.stage("Resting")
    out, err = capsys.readouterr()
    assert out == ""
    assert "Working" in err
    with cli._Progress("Working", delay=60) as progress:
        progress(1, 2)
    assert capsys.readouterr() == ("", "")


def test_warnings_become_notes(run, monkeypatch):
    import warnings

    def fit(self, *arguments):
        warnings.simplefilter("always")
        warnings.warn("the kernel\nis indefinite", UserWarning, stacklevel=1)
        warnings.warn("the kernel is indefinite", UserWarning, stacklevel=1)
        warnings.warn("an option will go", FutureWarning, stacklevel=1)
        raise ValueError("enough")

    monkeypatch.setattr(PathSVC, "fit", fit)
    code, _, err = run("tune", *csv(GOOD.replace(".5", "")))
    assert (code, err) == (2, "Note: the kernel is indefinite\nError: enough.\n")


def test_help(run):
    for arguments in (["--help"], ["tune", "--help"], ["predict", "--help"]):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        assert "Usage: svmpath" in out
    assert run("--version") == (0, f"svmpath {svmpath.__version__}\n", "")


def test_python_m_svmpath():
    csv(GOOD)
    command = [sys.executable, "-m", "svmpath"]
    done = subprocess.run([*command, "tune", "data.csv", "--target", "y", *FIXED], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "no better than one that knows nothing of the columns" in done.stderr
    assert "Held-out error" in done.stdout
    done = subprocess.run([*command, "tune", "none.csv"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


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


def test_a_missing_word_is_not_taken_for_an_unknown_one(tune):
    rows = "\n".join(f"{word},{label}" for word, label in [("None", "a"), ("gas", "b"), ("oil", "a")] * 8)
    csv("fuel,y\n" + rows + "\n")
    tune("data.csv", "--target", "y", *FIXED)
    model = skops.io.load("model.skops", trusted=skops.io.get_untrusted_types(file="model.skops"))
    with pytest.raises(ValueError, match=r"Column 'fuel' has no value in row 1; .*keep_default_na=False"):
        model.predict(pd.read_csv("data.csv"))
    assert model.predict(pd.read_csv("data.csv", keep_default_na=False))[:3].tolist() == ["a", "b", "a"]


def test_a_closed_pipe_does_not_undo_the_work(tune, monkeypatch):
    def closed(*arguments, **options):
        raise BrokenPipeError

    csv(GOOD)
    monkeypatch.setattr("svmpath.cli._print_table", closed)
    with pytest.raises(SystemExit) as end:
        main(["tune", "data.csv", "--target", "y", *FIXED])
    assert end.value.code == 0
    assert Path("model.skops").exists()


def test_folds_without_kfold_are_noted(tune):
    csv(GOOD)
    assert "Note: --cv counts for --criterion kfold only." in tune("data.csv", "--target", "y", "--cv", "3", *FIXED)[1]


def test_folds_that_leave_one_out_did_without_are_noted(tune):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold", "--loss", "hinge", *FIXED, "--cv", "3")
    assert "Note: --cv counts for --criterion kfold only." in tune(*arguments)[1]
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
    # Told is what refits without each sample say: here of the columns as the pipeline scaled them.
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


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("loss", "target"), [("hinge", "sold"), ("epsilon_insensitive", "price")])
def test_criteria_of_losses_with_an_elbow(tune, loss, target, criterion):
    words, chosen_by, told_by = CRITERIA[criterion]
    flats().drop(columns="price" if target == "sold" else "sold").to_csv("data.csv", index=False)
    arguments = ("--target", target, "--loss", loss, "--C", "0.1:10", "--gamma", "0.1")
    out, _, summary = tune("data.csv", *arguments, "--criterion", criterion)
    assert words in next(line for line in out.splitlines() if "Chosen by" in line)
    assert f"({cli._how(told_by, 5)})" in next(line for line in out.splitlines() if "Held-out error" in line)
    assert summary["curve"]["criterion"] == chosen_by
    assert summary["held_out"]["criterion"] == told_by
    assert summary["curve"]["switched"] is None


def test_an_error_that_stays_approximate_is_told_as_such(tune, monkeypatch):
    monkeypatch.setattr("svmpath.estimators._base._EXACT_ELBOW", 30)
    flats().drop(columns="price").to_csv("data.csv", index=False)
    out, _, summary = tune("data.csv", "--target", "sold", "--loss", "hinge", *FIXED, "--criterion", "alo")
    assert "error rate (approximate leave-one-out)" in out
    assert summary["held_out"]["criterion"] == "alo"


def test_the_switch_to_folds_is_told_in_one_sentence(tune, monkeypatch):
    monkeypatch.setattr("svmpath.estimators._base._LOO", {"hinge": 39, "epsilon_insensitive": 39})
    told = "40 samples are too many for exact leave-one-out by default, so that 3-fold was used instead"
    flats().drop(columns="price").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "sold", "--loss", "hinge", *FIXED, "--cv", "3")
    out, err, summary = tune(*arguments)
    assert out.count("3-fold") == 2  # chosen by, and held-out error
    assert "leave-one-out" not in out
    assert err.count(told) == 1
    assert f"Note: {told}; --criterion loo asks for it all the same." in err
    assert "--cv" not in err
    assert summary["held_out"]["criterion"] == summary["curve"]["criterion"] == "kfold"
    assert summary["held_out"]["folds"] == 3
    assert summary["curve"]["switched"] == told
    out, err, summary = tune(*arguments[:-2], "--criterion", "loo")
    assert "too many" not in err
    assert summary["curve"]["criterion"] == "loo"
    # Folds that were asked for are no switch.
    assert "too many" not in tune(*arguments, "--criterion", "kfold")[1]
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    arguments = ("data.csv", "--target", "price", "--loss", "epsilon_insensitive", *FIXED, "--cv", "3")
    assert tune(*arguments)[2]["curve"]["switched"] == told


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


def test_many_rows_are_followed_to_a_gap(tune, refused, monkeypatch):
    monkeypatch.setattr(cli, "_WHOLE_ROWS", 30)
    for module in ("svmpath.paths.trace", "svmpath.estimators._base"):  # as with many rows
        monkeypatch.setattr(sys.modules[module], "exact_is_cheaper", lambda gram: False)
    X, y = twonorm(60, 0)
    np.savez("data.npz", X=X, y=y)
    _, err, summary = tune("data.npz", "--loss", "hinge", "--rank", "20", *FIXED)
    assert "Note: 60 rows: paths of hinge are followed to a relative duality gap of 0.001." in err
    assert "Note: there is no exact leave-one-out along approximate paths, so that 5-fold was used instead." in err
    assert summary["choice"]["tol"] == 1e-3
    assert load()["model"].path_(1.0).gap <= 1e-3
    os.remove("model.skops")
    os.remove("summary.json")
    assert "--rank exact with --loss hinge is for at most 30 rows, not 60" in refused(
        "tune", "data.npz", "--loss", "hinge", "--rank", "exact", *FIXED
    )
    assert "--criterion loo with --loss hinge is for at most 30 rows, not 60; use alo or kfold" in refused(
        "tune", "data.npz", "--loss", "hinge", "--rank", "20", "--criterion", "loo", *FIXED
    )
    _, _, summary = tune("data.npz", "--loss", "hinge", "--rank", "20", "--criterion", "alo", *FIXED)
    assert summary["held_out"]["criterion"] == summary["curve"]["criterion"] == "alo"


def test_a_path_that_cannot_be_followed_is_one_sentence(run, monkeypatch):
    monkeypatch.setattr(PathSVC, "fit", raising(svmpath.PathError("The path could not be followed.")))
    code, out, err = run("tune", *csv(GOOD.replace(".5", "")), "--loss", "hinge")
    assert (code, out, err) == (2, "", "Error: The path could not be followed.\n")


def test_losses_that_do_not_fit_the_task_are_refused(refused):
    arguments = csv("a,y\n" + "".join(f"{i},{'uv'[i % 2]}\n" for i in range(12)))
    assert "loss='epsilon_insensitive' does regression, not classification" in refused(
        "tune", *arguments, "--loss", "epsilon_insensitive"
    )
    assert "loss='nu' has no C to choose" in refused("tune", *arguments, "--loss", "nu")


def test_an_epsilon_without_a_tube_is_noted(tune):
    note = "Note: --epsilon counts for --loss epsilon_insensitive only."
    assert note in tune(*csv(GOOD), *FIXED, "--epsilon", "0.5")[1]


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


def test_compile_says_what_it_did(run):
    for _ in range(2):  # at the second time at the latest everything is there
        code, out, err = run("compile")
        assert code == 0, err
    assert out == (
        "The path engine: already compiled\n"
        "Leave-one-out: already compiled\n"
        "The engine of the elastic net: already compiled\n"
        "Paths over the kernel: already compiled\n"
    )


INTERRUPTED = """
import sys, threading
from svmpath import PathSVC
from svmpath.cli import main

fit = PathSVC._run
def announce(self, *rest):
    print("fitting", flush=True)
    return fit(self, *rest)
PathSVC._run = announce
main(sys.argv[1:])
"""


@pytest.mark.parametrize("options", [["--n-jobs", "1"], ["--n-jobs", "2"]])
@pytest.mark.parametrize("loss", ["least_squares", "squared_hinge"])
def test_a_signal_ends_tune_in_one_line_without_files(folder, loss, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    np.savez(folder / "data.npz", X=X, y=X[:, 0] + X[:, 1] ** 2 > 1)
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, "tune", "data.npz", "--loss", loss, "--rank", "exact", *options],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout.readline() == "fitting\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)  # the whole fit takes longer
    assert (child.returncode, out, err) == (130, "", "Interrupted; nothing was written.\n")
    assert os.listdir(folder) == ["data.npz"]

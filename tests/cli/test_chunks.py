"""``svmpath tune`` on parquet files in chunks: the same as on one file, with a word about what a sample decided."""

import json

import numpy as np
import pandas as pd
import pytest

from svmpath import cli
from svmpath.cli.saved_model import read_model
from svmpath.estimators import chunks
from svmpath.report.facts import SUMMARY
from tests.report.test_facts import faults

FIXED = ["--target", "y", "--rank", "30", "--gamma", "0.2", "--C", "0.1:10"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three parquet files with numbers, words and missing values, and new rows."""
    folder = tmp_path_factory.mktemp("big")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["colour"] = rng.choice(["red", "green", "blue"], 900)
    g = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + (frame["colour"] == "red")
    frame["y"] = np.where(g > 0.3, "yes", "no")
    frame["weight"] = 1.0
    frame.loc[::50, "a"] = np.nan
    for at in range(3):
        frame[300 * at : 300 * (at + 1)].to_parquet(folder / f"part-{at}.parquet")
    frame.to_parquet(folder / "whole.parquet")
    frame.drop(columns="y").to_csv(folder / "new.csv", index=False)
    return folder


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        cli.main([str(each) for each in arguments])
    return end.value.code


@pytest.fixture(autouse=True)
def few_rows_stay_in_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "GATHERED_ROWS", 0)


def test_a_pattern_is_tuned_in_chunks(folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert run("tune", folder / "part-*.parquet", *FIXED, "--weight-column", "weight", "-o", out, "--json") == 0
    captured = capsys.readouterr()
    facts = json.loads(captured.out)
    assert facts["data"]["rows"] == 900
    assert facts["data"]["chunks"] == 3
    assert "learnt from a sample of 900 of 900 rows" in captured.err
    assert sorted(path.name for path in out.iterdir()) == ["config.toml", "model.skops", "report.html", "summary.json"]
    assert "fitted to a sample of 900 of them" in (out / "report.html").read_text(encoding="utf-8")
    assert list(faults(json.loads((out / "summary.json").read_text(encoding="utf-8")), SUMMARY)) == []
    assert facts["held_out"]["metrics"]["roc_auc"] > 0.8
    assert facts["honest"]["method"] == "bootstrap"
    assert run("predict", out / "model.skops", folder / "new.csv", "-o", tmp_path / "found.csv", "--proba") == 0
    found = pd.read_csv(tmp_path / "found.csv")
    truth = pd.read_parquet(folder / "whole.parquet")["y"]
    assert (found["prediction"] == truth).mean() > 1 - facts["held_out"]["value"] - 0.02
    # The whole file in memory, with the same landmarks and values of C.
    whole = tmp_path / "whole"
    options = [*FIXED, "--landmarks", "uniform", "--search", "grid", "--drop", "weight", "--no-report"]
    assert run("tune", folder / "whole.parquet", *options, "-o", whole, "--quiet") == 0
    models = [read_model(place / "model.skops")["model"] for place in (out, whole)]
    assert models[0].C_ == models[1].C_
    assert np.isclose(models[0].held_out_error(), models[1]._held_out.as_chosen().rescored(None).scores[0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--scheduler", "proceses"], "Did you mean 'processes'?"),
        (["--group-column", "why"], "--group-column must be one of the columns a, b, c"),
        (["--impute", "drop-rows"], "--impute drop-rows does not work for data in chunks"),
        (["--target", "why"], "--target must be one of the columns a, b, c"),
        (["--weight-column", "why"], "--weight-column must be one of the columns a, b, c"),
        (["--loss", "hinge"], "Rows in chunks need --loss"),
    ],
)
def test_one_sentence_and_no_file(folder, tmp_path, capsys, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    assert run("tune", folder / "part-*.parquet", *FIXED, *arguments) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert sentence in errors[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_groups_held_out_rows_and_a_time_limit(folder, tmp_path, capsys):
    rows = tmp_path / "rows.csv"
    more = ["--group-column", "group", "--held-out", rows, "--time-limit", "600", "--scoring", "roc_auc", "--no-report"]
    for at in range(3):
        part = pd.read_parquet(folder / f"part-{at}.parquet")
        part.assign(group=np.arange(len(part)) % 20).to_parquet(tmp_path / f"group-{at}.parquet")
    assert run("tune", tmp_path / "group-*.parquet", *FIXED, *more, "-o", tmp_path / "out", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["held_out"]["folds_are"] == "folds of whole groups"
    assert facts["curve"]["kind"] == "minus roc_auc"
    assert sorted(pd.read_csv(rows)["row"]) == list(range(1, 901))


def test_few_rows_are_tuned_in_memory(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(chunks, "GATHERED_ROWS", 5000)
    assert run("tune", folder / "part-*.parquet", *FIXED, "--no-report", "-o", tmp_path / "out", "--json") == 0
    captured = capsys.readouterr()
    assert "900 rows in chunks are few, and were tuned in memory" in captured.err
    assert json.loads(captured.out)["passes"] == {}


def test_files_that_are_missing_or_of_another_kind(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("tune", folder / "nothing-*.parquet", *FIXED) == 2
    assert "check the pattern and the folder" in capsys.readouterr().err
    assert run("tune", folder / "new.csv", *FIXED, "--scheduler", "threads") == 2
    assert "read from parquet files only" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_rows_without_a_target_are_left_out(folder, tmp_path, capsys):
    for at in range(3):
        part = pd.read_parquet(folder / f"part-{at}.parquet")
        part.loc[part.index[:2], "y"] = None
        part.to_parquet(tmp_path / f"gaps-{at}.parquet")
    assert run("tune", tmp_path / "gaps-*.parquet", *FIXED, "--C", "0.1:1000", "-o", tmp_path / "out", "--json") == 0
    captured = capsys.readouterr()
    assert "6 rows without a value in the target 'y' are left out" in captured.err
    assert json.loads(captured.out)["data"]["rows"] == 894


def test_a_file_with_other_columns_is_named(folder, tmp_path, capsys):
    for at in range(3):
        pd.read_parquet(folder / f"part-{at}.parquet").to_parquet(tmp_path / f"part-{at}.parquet")
    odd = pd.read_parquet(tmp_path / "part-1.parquet")
    contents = {"it lacks 'c'": odd.drop(columns="c"), "it has 'd', too": odd.assign(d=1.0)}
    for words, frame in contents.items():
        frame.to_parquet(tmp_path / "part-1.parquet")
        assert run("tune", tmp_path / "part-*.parquet", *FIXED, "-o", tmp_path / "out") == 2
        error = capsys.readouterr().err
        assert "part-1.parquet' has other columns than the other files" in error
        assert words in error
    (tmp_path / "part-1.parquet").write_bytes(b"no parquet")
    assert run("tune", tmp_path / "part-*.parquet", *FIXED, "-o", tmp_path / "out") == 2
    assert "part-1.parquet' cannot be read" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_no_scheduler_answers(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("svmpath.distributed.files._CONNECT", "1s")
    assert run("tune", folder / "part-*.parquet", *FIXED, "--scheduler", "tcp://127.0.0.1:9", "-o", tmp_path) == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in capsys.readouterr().err


@pytest.mark.slow
def test_processes(folder, tmp_path):
    options = [*FIXED, "--scheduler", "processes", "--memory-limit", "2GiB", "-o", tmp_path, "--quiet"]
    assert run("tune", folder / "part-*.parquet", *options) == 0
    assert (tmp_path / "model.skops").is_file()

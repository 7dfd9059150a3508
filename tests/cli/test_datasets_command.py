"""``svmpath datasets`` and ``svmpath report``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmpath import datasets
from svmpath.cli.datasets import SETS
from tests.cli.tables import FIXED, flats


def test_the_sets_are_listed(run):
    code, out, err = run("datasets")
    assert (code, err) == (0, "")
    assert all(name in out for name in SETS)
    facts = json.loads(run("datasets", "--json")[1])
    assert [each["name"] for each in facts["sets"]] == list(SETS)


@pytest.mark.parametrize(("name", "function"), [(name, row[3]) for name, row in SETS.items() if name != "flats"])
def test_a_set_is_what_its_function_draws(run, name, function):
    assert run("datasets", name, "--rows", "30", "--seed", "4")[0] == 0
    table = pd.read_csv(f"{name}.csv")
    X, y = getattr(datasets, function)(30, random_state=4)
    np.testing.assert_allclose(table.drop(columns="y"), X, rtol=1e-12)
    assert table["y"].tolist() == y.tolist()


def test_flats_have_all_that_is_awkward(run):
    assert run("datasets", "flats", "--rows", "300", "-o", "flats.csv")[0] == 0
    first = Path("flats.csv").read_bytes()
    assert run("datasets", "flats", "--rows", "300", "-o", "flats.csv")[0] == 0
    assert Path("flats.csv").read_bytes() == first
    table = pd.read_csv("flats.csv")
    assert table["id"].is_unique
    assert table["currency"].nunique() == 1
    assert table[["area", "rooms", "condition"]].isna().any().all()
    assert not table[["price", "sold", "town"]].isna().any().any()
    assert pd.to_datetime(table["listed"]).dt.year.unique().tolist() == [2024]
    assert table["sold"].value_counts(normalize=True).min() > 0.2
    assert table[["area", "price"]].corr().iloc[0, 1] > 0.8


@pytest.mark.slow
def test_a_report_of_a_saved_model(run):
    flats().drop(columns="price").to_csv("data.csv", index=False)
    assert run("tune", "data.csv", "--target", "sold", *FIXED)[0] == 0
    Path("report.html").unlink()
    code, out, err = run("report", "model.skops", "data.csv", "-o", "again.html")
    assert code == 0, err
    assert out == "Wrote again.html: open it in a browser.\n"
    page = Path("again.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "data.csv" in page
    facts = json.loads(run("report", "model.skops", "data.csv", "--json")[1])
    summary = json.loads(Path("summary.json").read_text(encoding="utf-8"))
    assert facts["choice"] == summary["choice"]
    assert facts["held_out"] == summary["held_out"]
    assert Path("report.html").exists()


@pytest.mark.slow
def test_a_report_reads_the_data_as_tune_did(run):
    flats().to_csv("data.csv", index=False)
    assert run("tune", "data.csv", "--target", "sold", "--drop", "price,town", *FIXED, "--no-report")[0] == 0
    code, _, err = run("report", "model.skops", "data.csv")
    assert code == 0, err


@pytest.mark.parametrize("option", [("-o", "x.csv"), ("--rows", "30"), ("--seed", "1")])
def test_an_option_without_a_name_asks_for_the_name(run, option):
    code, out, err = run("datasets", *option)
    names = {"-o": "--output"}
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {names.get(option[0], option[0])} needs the name of the data set to write: banana,")
    assert list(Path().iterdir()) == []


@pytest.mark.slow
def test_whether_a_flat_is_sold_quickly_can_be_learnt_without_its_price(run):
    assert run("datasets", "flats", "-o", "flats.csv")[0] == 0
    options = ("--target", "sold", "--drop", "price", "--no-report", "--honest", "none", "--json", "--quiet")
    facts = json.loads(run("tune", "flats.csv", *options)[1])
    assert 0.12 < facts["held_out"]["value"] < 0.22
    assert facts["held_out"]["baseline"] > 0.4

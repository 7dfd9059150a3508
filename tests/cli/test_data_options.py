"""The options about the data: what they do to the model, and what they refuse."""

import io
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from svmpath import PathSVC
from svmpath.cli.data_options import DataOptions, read_data, split_names
from svmpath.cli.preparation import DateParts, prepare_columns
from tests.cli.tables import FIXED, csv, flats, load
from tests.speed import first_quick

HOW = ("--target", "sold", *FIXED, "--loss", "least_squares")


@pytest.fixture
def table():
    table = flats()
    table.to_csv("data.csv", index=False)
    return table


def used():
    return list(load()["columns"]["read"].recipes)


# ----------------------------------------------------------------------------------------------------
# Which columns
# ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("table")
def test_drop_and_columns(tune):
    tune("data.csv", *HOW, "--drop", "price,lift")
    assert used() == ["area", "town"]
    tune("data.csv", *HOW, "--drop", "price", "--drop", " lift ")
    assert used() == ["area", "town"]
    tune("data.csv", *HOW, "--columns", "town,area")
    assert used() == ["town", "area"]
    tune("data.csv", *HOW, "--columns", "town,area,price", "--drop", "price")
    assert used() == ["town", "area"]


def test_names_with_commas_are_quoted():
    assert split_names(['a,"b, c"', "a", " d "]) == ["a", "b, c", "d"]
    assert split_names(None) == []


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--drop", "pric"), "data.csv: there is no column 'pric' (did you mean 'price'?); there are 'area', 'town'"),
        (("--columns", "area,Town"), "there is no column 'Town' (did you mean 'town'?)"),
        (("--categorical", "x"), "there is no column 'x'; there are"),
        (("--weight-column", "w"), "there is no column 'w'; there are"),
        (("--group-column", "twon"), "there is no column 'twon' (did you mean 'town'?)"),
        (("--weight-column", "town"), "--weight-column 'town' must hold numbers that are not negative"),
        (("--columns", "sold,area"), "--columns names the target 'sold'; leave it out there"),
        (("--drop", "area,town,lift,price"), "no column is left to predict from"),
        (("--impute", "medain"), "--impute must be one of 'auto', 'median'"),
        (("--format", "cvs"), "--format must be one of 'csv'"),
        (("--format", "parquet"), "not a parquet file"),
        (("--class-weight", "cheap:2,rich:3"), "with the labels cheap, dear, not 'cheap:2,rich:3'"),
        (("--class-weight", "cheap"), "--class-weight must be balanced or LABEL:WEIGHT"),
    ],
)
def test_options_that_are_refused(refused, options, sentence):
    assert sentence in refused("tune", "data.csv", *HOW, *options)


def test_class_weights_of_a_regression_are_refused(refused, table):
    sentence = refused("tune", "data.csv", "--target", "price", *FIXED, "--class-weight", "balanced")
    assert "--class-weight works for classification only; use --weight-column" in sentence


def test_numbers_can_be_categories(tune, table):
    table["rooms"] = np.arange(40) % 3
    table.to_csv("data.csv", index=False)
    summary = tune("data.csv", *HOW, "--categorical", "rooms")[2]
    assert {column["name"]: column["kind"] for column in summary["columns"]}["rooms"] == "category"
    assert [name for name in load()[:-1].get_feature_names_out() if "rooms" in name] == [
        f"categories__rooms_{number}" for number in range(3)
    ]


@pytest.mark.slow
def test_an_identifier_that_you_name_is_kept(tune, table):
    table["id"] = np.arange(40)
    table.to_csv("data.csv", index=False)
    tune("data.csv", *HOW)
    assert "id" not in used()
    tune("data.csv", *HOW, "--columns", "id,area")
    assert used() == ["id", "area"]


# ----------------------------------------------------------------------------------------------------
# Missing values
# ----------------------------------------------------------------------------------------------------


@pytest.fixture
def gaps(table):
    table.loc[[0, 3], "area"] = np.nan
    table.loc[[5], "town"] = None
    table.to_csv("data.csv", index=False)
    return table


@first_quick(1)
@pytest.mark.parametrize(("impute", "value"), [("median", "median"), ("mean", "mean"), ("auto", "median")])
def test_numbers_are_filled_in(tune, gaps, impute, value):
    err = tune("data.csv", *HOW, "--impute", impute)[1]
    assert "values are missing ('area' 2, 'town' 1, of 40 rows): numbers are filled in with the" in err
    names = list(load()[:-1].get_feature_names_out())
    seen = load()[:-1].transform(gaps)
    filled = gaps["area"].fillna(getattr(gaps["area"], value)())
    expected = StandardScaler().fit_transform(filled.to_numpy()[:, None]).ravel()
    np.testing.assert_allclose(seen[:, names.index("numbers__area")], expected, rtol=1e-12)
    assert ("missing__area missing" in names) == (impute == "auto")
    assert ("categories__town_(missing)" in names) == (impute == "auto")
    if impute == "auto":
        assert np.flatnonzero(seen[:, names.index("missing__area missing")]).tolist() == [0, 3]


def test_the_most_frequent_values_are_filled_in(tune, gaps):
    tune("data.csv", *HOW, "--impute", "most-frequent")
    words = load()["columns"]["encode"].named_transformers_["categories"]["fill"]
    assert words.feature_names_in_.tolist() == ["town"]
    assert words.statistics_.tolist() == [gaps["town"].mode()[0]]


def test_rows_with_missing_values_are_left_out(tune, run, gaps):
    _, err, summary = tune("data.csv", *HOW, "--impute", "drop-rows", "--held-out", "rows.csv")
    assert "Note: 3 of 40 rows have a missing value and are left out.\n" in err
    assert summary["data"]["rows"] == 37
    assert sorted(pd.read_csv("rows.csv")["row"]) == [row for row in range(1, 41) if row not in (1, 4, 6)]
    code, _, err = run("predict", "model.skops", "data.csv", "-o", "out.csv")
    assert (code, len(pd.read_csv("out.csv"))) == (0, 40)
    assert "3 missing values filled in" in err


def test_missing_values_can_be_refused(refused, gaps):
    sentence = refused("tune", "data.csv", *HOW, "--impute", "none")
    assert "data.csv: column 'area' has no value in data row 1" in sentence
    gaps["price"] = np.where(np.arange(40) % 2, np.nan, 1.0) + np.arange(40)
    gaps["area"] = np.where(np.arange(40) % 2, 1.0, np.nan) + np.arange(40)
    gaps.to_csv("data.csv", index=False)
    assert "every row has a missing value" in refused("tune", "data.csv", *HOW, "--impute", "drop-rows")


def test_a_matrix_with_missing_values(tune, run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.sign(X[:, 0])
    X[3, 1] = X[7, 2] = np.nan
    np.savez("data.npz", X=X, y=y)
    err = tune("data.npz", *FIXED)[1]
    assert "2 values are missing: numbers are filled in with the median and get an indicator column" in err
    seen = load()[:-1].transform(X)
    filled = StandardScaler().fit_transform(SimpleImputer(strategy="median").fit_transform(X))
    np.testing.assert_allclose(seen, np.column_stack([filled, np.isnan(X[:, 1:])]), rtol=1e-12, atol=1e-12)
    assert run("predict", "model.skops", "data.npz", "-o", "out.csv")[0] == 0
    assert np.mean(pd.read_csv("out.csv")["prediction"] == y) > 0.9


@pytest.mark.slow
def test_a_sparse_matrix_with_missing_values(tune, run):
    rng = np.random.default_rng(0)
    X = sparse.random(60, 5, 0.5, "csr", random_state=0)
    y = np.where(np.asarray(X.sum(axis=1)).ravel() + 0.1 * rng.normal(size=60) > 1.2, 1, -1)
    dump_svmlight_file(X, y, "data.libsvm", zero_based=False)
    text = Path("data.libsvm").read_text(encoding="utf-8")
    Path("data.libsvm").write_text(re.sub(r":\S+", ":nan", text, count=1), encoding="utf-8")
    for impute in ("auto", "median", "drop-rows"):
        tune("data.libsvm", *FIXED, "--impute", impute)
        assert sparse.issparse(load()["model"].support_vectors_)
        assert run("predict", "model.skops", "data.libsvm", "-o", "out.csv")[0] == 0
        assert len(pd.read_csv("out.csv")) == 60


# ----------------------------------------------------------------------------------------------------
# Weights and groups
# ----------------------------------------------------------------------------------------------------


def decisions_of(data, **options):
    """The same model, put together by hand."""
    X = prepare_columns(data).fit_transform(data.X)
    fit = {name: options.pop(name) for name in ("sample_weight", "groups") if name in options}
    return (
        PathSVC(loss="least_squares", C=1.0, gamma=0.1, random_state=0, **options)
        .fit(X, data.y, **fit)
        .decision_function(X)
    )


@first_quick(1)
@pytest.mark.parametrize("weights", ["balanced", "dear:5", "cheap:0.5,dear:2"])
def test_class_weights(tune, table, weights):
    tune("data.csv", *HOW, "--class-weight", weights)
    expected = {"balanced": "balanced", "dear:5": {"cheap": 1, "dear": 5}}.get(weights, {"cheap": 0.5, "dear": 2})
    assert load()["model"].class_weight == expected
    data = read_data(DataOptions(Path("data.csv"), target="sold"))
    np.testing.assert_allclose(load().decision_function(table), decisions_of(data, class_weight=expected), rtol=1e-10)


@pytest.mark.slow
def test_class_weights_of_numbers(tune):
    tune(*csv("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20))), *FIXED, "--class-weight", "1:3")
    assert load()["model"].class_weight == {0: 1.0, 1: 3.0}


def test_weights_of_rows(tune, table):
    table["w"] = np.linspace(0.5, 2, 40).round(3)
    table.to_csv("data.csv", index=False)
    tune("data.csv", *HOW, "--weight-column", "w")
    assert "w" not in used()
    data = read_data(DataOptions(Path("data.csv"), target="sold", drop=["w"]))
    expected = decisions_of(data, sample_weight=table["w"].to_numpy())
    np.testing.assert_allclose(load().decision_function(table), expected, rtol=1e-10)


def test_the_unit_of_the_weights_does_not_matter(tune, table):
    found = []
    for unit in (1.0, 1e-4):
        table["w"] = np.linspace(0.5, 2, 40).round(3) * unit
        table.to_csv("data.csv", index=False)
        tuned = ("--loss", "least_squares", "--C", "0.01:100", "--gamma", "0.1")
        tune("data.csv", "--target", "sold", *tuned, "--weight-column", "w")
        found.append((load()["model"].C_, load().predict_proba(table)))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-8)


def test_groups_are_held_out_together(tune, run, table):
    table["flat"] = np.arange(40) // 4
    table.to_csv("data.csv", index=False)
    summary = tune("data.csv", *HOW, "--group-column", "flat")[2]
    assert summary["held_out"]["criterion"] == "kfold"
    assert "flat" not in used()
    # New rows may have the columns that are no features, or not.
    for frame in (table, table.drop(columns=["flat", "sold"])):
        frame.to_csv("new.csv", index=False)
        code, _, err = run("predict", "model.skops", "new.csv", "-o", "out.csv")
        assert (code, err) == (0, "")


@pytest.mark.parametrize("option", ["--weight-column", "--group-column"])
def test_a_row_without_a_weight_or_a_group_is_refused(refused, table, option):
    table["w"] = np.arange(1.0, 41)
    table.loc[6, "w"] = np.nan
    table.to_csv("data.csv", index=False)
    assert "data.csv: column 'w' has no value in data row 7" in refused("tune", "data.csv", *HOW, option, "w")


# ----------------------------------------------------------------------------------------------------
# Standard input
# ----------------------------------------------------------------------------------------------------


def test_standard_input(tune, run, refused, monkeypatch, table):
    def pipe(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    content = Path("data.csv").read_bytes()
    pipe(content)
    _, err, summary = tune("-", *HOW)
    assert err.startswith("Note: standard input was read as csv; use --format if it is something else.\n")
    assert summary["data"]["file"] == "standard input"
    pipe(content)
    assert "read as csv" not in tune("-", *HOW, "--format", "csv")[1]
    pipe(content)
    assert run("predict", "model.skops", "-", "-o", "out.csv", "--format", "csv")[0] == 0
    assert len(pd.read_csv("out.csv")) == 40
    pipe(b"")
    assert "standard input: the file is empty" in refused("tune", "-", *HOW)


# ----------------------------------------------------------------------------------------------------
# Dates
# ----------------------------------------------------------------------------------------------------


def test_parts_of_dates_against_pandas():
    stamps = pd.Series(pd.date_range("2023-11-05 00:00", periods=900, freq="25h"))
    days = (stamps - pd.Timestamp(0)) / pd.Timedelta(days=1)
    step = DateParts().fit(pd.DataFrame({"t": days}))
    found = pd.DataFrame(step.transform(pd.DataFrame({"t": days})), columns=step.get_feature_names_out())
    np.testing.assert_allclose(found["t"], (stamps - stamps.min()) / pd.Timedelta(days=1), atol=1e-9)
    circle = {"weekday": stamps.dt.day_of_week / 7, "hour": stamps.dt.hour / 24}
    circle["month"] = (stamps.dt.month - 1 + (stamps.dt.day - 1) / 31) / 12
    for part, turn in circle.items():
        np.testing.assert_allclose(found[f"t {part} sin"], np.sin(2 * np.pi * turn), atol=1e-6)
        np.testing.assert_allclose(found[f"t {part} cos"], np.cos(2 * np.pi * turn), atol=1e-6)


def test_parts_that_do_not_vary_are_left_out():
    days = np.arange(19723.0, 19723 + 28, 7)  # Mondays of one month
    assert DateParts().fit(pd.DataFrame({"t": days})).get_feature_names_out().tolist() == ["t"]


def test_classes_that_differ_in_case_are_noted(tune):
    labels = ["Yes"] * 6 + ["yes"] * 3 + ["No"] * 11
    _, err, summary = tune(*csv("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels))), *FIXED)
    assert "the classes 'Yes' and 'yes' differ only in upper and lower case; write them alike if they are one" in err
    assert [each["label"] for each in summary["data"]["classes"]] == ["No", "Yes", "yes"]

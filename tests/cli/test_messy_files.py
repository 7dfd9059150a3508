"""``svmpath tune`` on messy files does the sensible thing and says so; the saved model predicts new rows."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.messy import FILES
from tests.cli.tables import FIXED, load
from tests.rounding import assert_same
from tests.speed import first_quick

HOW = ("--target", "risk", *FIXED, "--loss", "least_squares")  # the data are tested here, not the search


def write(name, seed=None):
    text = FILES[name]() if seed is None else FILES[name](seed=seed)
    Path(f"{name}.csv").write_bytes(text.encode())
    return f"{name}.csv"


def read(name="out.csv"):
    return pd.read_csv(name)["prediction"]


# For each file the kinds of its columns (those with a dash are left out), and words of its notes.
EXPECTED = {
    "customers": (
        {
            "customer": "-identifier",
            "age": "number",
            "town": "category",
            "since": "date",
            "income": "number",
            "share": "number",
            "score": "number",
            "member": "boolean",
            "zip": "category",
            "currency": "-constant",
        },
        [
            "2 rows without a value in the target 'risk' are left out.",
            "column 'customer' has a different value in every row, so it is left out.",
            "column 'currency' has one value only, so it is left out.",
            "values are missing ('age' 3, 'town' 2, 'score' 3, of 58 rows): numbers are filled in with the median and "
            "get an indicator column, words are a category of their own.",
            "column 'income' is read as numbers: ',' separates thousands.",
            "column 'share' is read as numbers: '%' is left out.",
            "column 'score' is read as numbers: 'unknown' among the numbers treated as missing.",
            "column 'zip' is read as categories: digits that begin with 0, such as '01067', are a code.",
            "column 'since' holds dates (written like '20",
            "it becomes the days since the earliest, and month and weekday.",
        ],
    ),
    "german": (
        {"age": "number", "town": "category", "Größe": "number", "Preis": "number", "Tag": "date"},
        [
            "',' is read as the decimal sign.",
            "column 'Preis' is read as numbers: '€' is left out and '.' separates thousands and ',' is the decimal "
            "sign.",
        ],
    ),
    "quoted": ({"age": "number", "town": "category", "remark": "category"}, []),
    "many_words": (
        {
            "age": "number",
            "town": "category",
            "street": "category",
            "grade": "category",
            "fax": "number",
            "pager": "-empty",
        },
        [
            "column 'pager' has no value at all, so it is left out.",
            "column 'grade' is read as categories: numbers and words.",
            "different values: the 49 most frequent are categories of their own, the others are one.",
            "'fax' 199, of 200 rows",
        ],
    ),
    "ambiguous": (
        {
            "row": "-identifier",
            "age": "number",
            "town": "category",
            "visit": "-date",
            "weight": "number",
            "hour": "date",
        },
        [
            "column 'row' has a different value in every row, so it is left out.",
            "column 'visit' is left out: dates such as",
            "can be read in two ways; write them like '2024-01-31'.",
            "the days since the earliest, and hour.",
        ],
    ),
    "sites": (
        {"age": "number", "town": "category", "clinic": "category", "w": "number"},
        ["values are missing ('age' 2, of 60 rows)"],
    ),
    "prices": (
        {"age": "number", "town": "category", "rooms": "number"},
        ["1 row without a value in the target 'risk' is left out."],
    ),
}


@first_quick(1)
@pytest.mark.parametrize("name", FILES)
def test_messy_files_are_tuned_on_and_it_is_said_how(tune, run, name):
    kinds, notes = EXPECTED[name]
    _, err, summary = tune(write(name), *HOW)
    found = {column["name"]: "-" * (not column["used"]) + column["kind"] for column in summary["columns"]}
    assert found == kinds
    for words in notes:
        assert words in err
    assert not notes or err.startswith("Note: ")
    # New rows of the same kind, other columns first, without the target.
    separator = ";" if name == "german" else ","
    table = pd.read_csv(write(name, seed=99), sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    table.drop(columns="risk")[sorted(table.columns.drop("risk"), reverse=True)].to_csv("new.csv", index=False)
    code, _, err = run("predict", "model.skops", "new.csv", "-o", "out.csv")
    assert code == 0, err
    predicted = read()
    assert len(predicted) == len(table)
    if summary["data"]["task"] == "classification":
        known = table["risk"] != ""
        assert np.mean(predicted.astype(str)[known] == table["risk"][known]) > 0.75
    else:
        truth = pd.to_numeric(table["risk"].str.replace(r"[$,]", "", regex=True), errors="coerce")
        assert np.corrcoef(predicted[truth.notna()], truth.dropna())[0, 1] > 0.9


@pytest.mark.slow
def test_the_order_of_columns_does_not_matter(tune, run):
    """Columns of the training file and of new files may come in any order."""
    table = pd.read_csv(io.StringIO(FILES["customers"]()), dtype=str, keep_default_na=False)
    table.to_csv("data.csv", index=False)
    tune("data.csv", *HOW)
    first = load().predict(table)
    shuffled = table[np.random.default_rng(0).permutation(table.columns)]
    shuffled.to_csv("new.csv", index=False)
    assert run("predict", "model.skops", "new.csv", "-o", "out.csv")[0] == 0
    assert read().tolist() == first.tolist()
    shuffled.to_csv("data.csv", index=False)
    tune("data.csv", *HOW)
    decisions = load().decision_function(table)
    pd.testing.assert_series_equal(pd.Series(load().predict(table)), pd.Series(first))
    assert len(np.unique(decisions.round(6))) > 40


@pytest.mark.slow
def test_csv_and_parquet_give_the_same_model(tune):
    pytest.importorskip("pyarrow")
    rng, n = np.random.default_rng(0), 80
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n) * 1e-7,
            "b": pd.array(rng.integers(0, 50, n), dtype="Int64"),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 9e6, n), unit="s"),
            "ok": rng.random(n) < 0.5,
            "w": rng.choice(["u", "v", "w"], n),
        }
    )
    table.loc[:5, "b"] = pd.NA
    table.loc[3:9, "w"] = None
    table["risk"] = np.where(table["a"] + 1e-7 * table["ok"] > 0, "high", "low")
    table.to_parquet("data.parquet")
    table.to_csv("data.csv", index=False)
    decisions = []
    for name in ("data.parquet", "data.csv"):
        kinds = [column["kind"] for column in tune(name, *HOW)[2]["columns"]]
        assert kinds == ["number", "number", "date", "boolean", "category"]
        decisions.append(load().decision_function(table))
    assert_same(*decisions)


@pytest.fixture
def model(tune):
    tune(write("customers"), *HOW)
    return pd.read_csv("customers.csv", dtype=str, keep_default_na=False)


def predict(run, table, name="new.csv"):
    table.to_csv(name, index=False)
    return run("predict", "model.skops", name, "-o", "out.csv")


@pytest.mark.slow
def test_new_rows_with_unseen_categories(run, model):
    model.loc[:3, "town"] = "Paris"
    model.loc[4:5, "member"] = "perhaps"
    model.loc[6, "score"] = "unknown"
    code, _, err = predict(run, model)
    assert code == 0
    assert "column 'town' has categories in 4 of 60 rows that were not in the training data (such as 'Paris')" in err
    assert "column 'member' has categories in 2 of 60 rows" in err
    assert "score" not in err
    assert len(read()) == 60


def test_new_rows_with_other_columns(run, refused, model):
    code, _, err = predict(run, model.drop(columns=["customer", "currency", "risk"]))
    assert code == 0
    assert "does not use" not in err
    code, _, err = predict(run, model.assign(colour="red", size=1))
    assert "Note: new.csv: the model does not use the columns 'colour', 'size'.\n" in err
    model.drop(columns=["town", "zip"]).to_csv("new.csv", index=False)
    sentence = refused("predict", "model.skops", "new.csv", "-o", "other.csv")
    assert "new.csv: the table lacks 'town', 'zip'; the model needs the columns 'age', 'town'" in sentence


def test_new_rows_with_missing_cells_are_imputed_as_in_training(run, model):
    """A missing cell is the median of the training rows with its indicator, and a missing word is a category."""
    pipeline = load()
    rows = model.iloc[:1].copy()
    ages = pd.to_numeric(model["age"][model["risk"] != ""], errors="coerce")
    filled = rows.assign(age=str(ages.median()))
    names = list(pipeline[:-1].get_feature_names_out())
    given, missing = (pipeline[:-1].transform(frame)[0] for frame in (filled, rows.assign(age="", town="")))
    changed = [name for name, one, other in zip(names, given, missing, strict=True) if one != other]
    town = rows["town"].iloc[0]
    assert changed == ["missing__age missing", "categories__town_(missing)", f"categories__town_{town}"]
    code, _, err = predict(run, rows.assign(age="", town="NA"))
    assert (code, err) == (0, "Note: new.csv: 2 missing values filled in as learnt from the training data.\n")


@pytest.mark.slow
def test_new_rows_in_another_format(run, model):
    pytest.importorskip("pyarrow")
    assert predict(run, model)[0] == 0
    expected = read().tolist()
    model.to_parquet("new.parquet")
    model.to_csv("new.tsv.gz", index=False, sep="\t")
    typed = model.assign(
        age=pd.to_numeric(model["age"], errors="coerce"),
        income=pd.to_numeric(model["income"].str.replace(",", "")),
        since=pd.to_datetime(model["since"]),
        member=model["member"] == "yes",
    )
    typed.to_parquet("typed.parquet")
    for name in ("new.parquet", "new.tsv.gz", "typed.parquet"):
        assert run("predict", "model.skops", name, "-o", "out.csv")[0] == 0
        assert read().tolist() == expected


def test_a_wrong_cell_in_a_new_row_is_named(refused, model):
    for column, cell, sentence in (
        ("age", "old", "column 'age' must hold numbers (such as"),
        ("since", "soon", "column 'since' must hold dates, but data row 3"),
        ("income", "much", "column 'income' must hold numbers"),
    ):
        wrong = model.copy()
        wrong.loc[2, column] = cell
        wrong.to_csv("new.csv", index=False)
        assert sentence in refused("predict", "model.skops", "new.csv", "-o", "out.csv")

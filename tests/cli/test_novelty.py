"""``svmpath novelty``, and the p-values of ``svmpath predict --novelty``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmpath import PathOneClassSVM
from svmpath.cli.preparation import prepare_columns
from svmpath.estimators.novelty import novelty_of
from tests.cli.tables import flats, load


def write_tables(rows=80):
    """A table, and one of the same kind whose last row is far away."""
    rng = np.random.default_rng(0)
    for name in ("data.csv", "new.csv"):
        X = rng.normal(size=(rows, 2))
        frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1] * 50 + 7, "kind": np.where(X[:, 0] > 0, "up", "down")})
        if name == "new.csv":
            frame.loc[rows - 1, ["a", "b"]] = [9.0, 700.0]
        frame.to_csv(name, index=False)


def test_novel_rows_are_found(run):
    write_tables()
    code, out, err = run("novelty", "data.csv", "new.csv", "-o", "out.csv", "--json")
    assert code == 0, err
    facts, table = json.loads(out), pd.read_csv("out.csv")
    assert list(table.columns) == ["prediction", "p_value", "decision"]
    np.testing.assert_array_equal(table["prediction"] == -1, table["decision"] < 0)
    assert table["p_value"].iloc[-1] < 0.03
    np.testing.assert_array_equal(table["prediction"] == -1, table["p_value"] <= 0.1)
    assert facts["novelties"] == int((table["prediction"] == -1).sum())
    assert (facts["rows"], facts["new_rows"], facts["nu"], facts["held_out_by"]) == (80, 80, 0.1, "loo")
    last = facts["table"][-1]
    assert (last["row"], last["prediction"], last["p_value"]) == (80, -1, table["p_value"].iloc[-1])
    assert facts["written"] == ["out.csv"]


def test_it_is_the_estimator_on_prepared_columns(run):
    from svmpath.cli.data_options import DataOptions, read_untargeted

    write_tables()
    code, out, err = run("novelty", "data.csv", "new.csv", "--gamma", "0.5", "--nu", "0.2", "--json", "--drop", "kind")
    assert code == 0, err
    options = DataOptions(data=Path("data.csv"), drop=["kind"])
    data = read_untargeted(options)
    columns = prepare_columns(data).fit(data.X)
    model = PathOneClassSVM(gamma=0.5, nu=0.2).fit(columns.transform(data.X))
    new = columns.transform(pd.read_csv("new.csv"))
    found = [row["p_value"] for row in json.loads(out)["table"]]
    np.testing.assert_allclose(found, model.p_values(new), atol=1e-9)


def test_what_is_printed(run):
    write_tables()
    code, out, err = run("novelty", "data.csv", "new.csv", "--gamma", "0.1")
    assert code == 0, err
    lines = out.splitlines()
    assert "novelty: new.csv" in lines[0]
    assert "80" in lines[4]  # the most surprising row comes first
    assert "novel" in lines[4]
    assert any("of 80 rows have a p-value of at most 0.1; gamma = 0.1." in line for line in lines)
    assert any("80 rows of data.csv" in line for line in lines)


def test_changed_data_are_noted(run):
    write_tables()
    frame = pd.read_csv("new.csv")
    frame["a"] += 6.0
    frame.to_csv("new.csv", index=False)
    _, _, err = run("novelty", "data.csv", "new.csv", "--gamma", "1", "--nu", "tune")
    assert "the data have changed" in err


def test_messy_columns(run):
    table = flats(120)
    table.to_csv("data.csv", index=False)
    table.head(30).to_csv("new.csv", index=False)
    code, out, err = run("novelty", "data.csv", "new.csv", "--gamma", "scale", "--json")
    assert code == 0, err
    assert len(json.loads(out)["table"]) == 30


def test_what_is_refused(refused):
    write_tables()
    assert "none.csv: there is no file" in refused("novelty", "none.csv", "new.csv")
    assert "none.csv: there is no file" in refused("novelty", "data.csv", "none.csv", "--gamma", "1")
    assert "would overwrite an input file" in refused("novelty", "data.csv", "new.csv", "-o", "new.csv")
    assert "between 0 and 1" in refused("novelty", "data.csv", "new.csv", "--nu", "1.5")
    assert "both be read from standard input" in refused("novelty", "-", "-")
    assert "no column is left" in refused("novelty", "data.csv", "new.csv", "--drop", "a,b,kind")
    pd.DataFrame({"a": [1.0]}).to_csv("other.csv", index=False)
    assert "the table lacks 'b'" in refused("novelty", "data.csv", "other.csv", "--gamma", "1")


def test_predict_adds_p_values(tune, run):
    write_tables()
    table = pd.read_csv("data.csv")
    table["y"] = table["a"] + 0.01 * table["b"]
    table.to_csv("data.csv", index=False)
    tune("data.csv", "--target", "y", "--gamma", "0.5", "--C", "1")
    code, _, err = run("predict", "model.skops", "new.csv", "--novelty", "-o", "out.csv")
    assert code == 0, err
    found = pd.read_csv("out.csv")
    assert list(found.columns) == ["prediction", "p_value"]
    assert found["p_value"].iloc[-1] < 0.03
    pipeline = load()
    model = pipeline["model"]
    Z = pipeline[:-1].transform(pd.read_csv("new.csv"))
    seen = PathOneClassSVM().fit(pipeline[:-1].transform(table))
    np.testing.assert_allclose(found["p_value"], seen.p_values(Z), atol=1e-9)
    assert novelty_of(model, gamma=0.1).p_values(Z)[-1] == pytest.approx(1 / 81)

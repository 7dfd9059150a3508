"""``svmpath tune --held-out``: the rows of the file, likely label errors first."""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.tables import FIXED, GOOD, csv, flats, load
from tests.speed import first_quick


def test_the_wrong_label_comes_first_by_its_row_in_the_file(run):
    rng = np.random.default_rng(0)
    label = np.repeat(["no", "yes"], 20)
    table = pd.DataFrame({"a": rng.normal(size=40) + 4.0 * (label == "yes"), "y": label})
    table.loc[6, "y"] = "yes"  # data row 7
    table.to_csv("data.csv", index=False)
    code, out, err = run("tune", "data.csv", "--target", "y", *FIXED, "--output", "made", "--held-out", "made/rows.csv")
    assert code == 0, err
    assert out.endswith("made/summary.json, made/config.toml, made/report.html and made/rows.csv.\n")
    rows = pd.read_csv("made/rows.csv")
    assert rows.columns.tolist() == [
        "row", "label", "predicted", "decision", "probability", "loss", "influence", "weight", "unreliable",
    ]  # fmt: skip
    assert rows.loc[0, ["row", "label", "predicted"]].tolist() == [7, "yes", "no"]
    assert sorted(rows["row"]) == list(range(1, 41))
    assert rows["probability"].is_monotonic_increasing
    assert not rows["unreliable"].any()
    model = load("made/model.skops")["model"]
    np.testing.assert_allclose(rows.sort_values("row")["decision"], model.held_out_decisions(), atol=1e-12)


def test_a_regression_has_targets_and_squared_errors(tune):
    flats().drop(columns="sold").to_csv("data.csv", index=False)
    tune("data.csv", "--target", "price", *FIXED, "--held-out", "rows.csv")
    rows = pd.read_csv("rows.csv")
    assert rows.columns.tolist() == ["row", "target", "decision", "loss", "influence", "weight", "unreliable"]
    np.testing.assert_allclose(rows["loss"], (rows["target"] - rows["decision"]) ** 2)
    assert rows["loss"].is_monotonic_decreasing
    assert rows.sort_values("row")["target"].tolist() == flats()["price"].tolist()
    assert not any(name.endswith((".part", ".kept")) for name in os.listdir())


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("data.csv", "--held-out 'data.csv' would overwrite an input file"),
        ("./model.skops", "is what the model, the summary or the report is written to"),
        ("nowhere/rows.csv", "--held-out: there is no folder 'nowhere'"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_any_work(refused, path, words):
    assert words in refused("tune", *csv(GOOD), *FIXED, "--held-out", path)


@pytest.mark.slow
@first_quick(1)
@pytest.mark.parametrize("options", [(), ("--impute", "drop-rows")])
def test_the_report_names_rows_as_the_file_does(run, options):
    """Rows are left out before the wrong label: one without a label, and one with a gap if that is asked for."""
    rng = np.random.default_rng(0)
    label = np.repeat(["no", "yes"], 20)
    table = pd.DataFrame({"a": rng.normal(size=40) + 4.0 * (label == "yes"), "y": label})
    table.loc[6, "y"] = "yes"  # data row 7
    table.loc[0, "y"], table.loc[1, "a"] = None, None if options else table.loc[1, "a"]
    table.to_csv("data.csv", index=False)
    places = []
    for command in (("tune", "data.csv", "--target", "y", *FIXED, *options), ("report", "model.skops", "data.csv")):
        code, _, err = run(*command)
        assert code == 0, err
        page = Path("report.html").read_text(encoding="utf-8")
        places.append(re.search(r'"samples":.*?"rows":\s*\[\s*\[\s*(\d+)', page, re.DOTALL)[1])
    assert places == ["7", "7"]


def test_an_older_report_is_mentioned(tune, run):
    assert "earlier run" not in tune(*csv(GOOD), *FIXED)[1]
    Path("report.html").touch()
    code, _, err = run("tune", *csv(GOOD), *FIXED, "--no-report")
    assert code == 0
    assert "Note: report.html is from an earlier run." in err

"""``svmpath tune`` and the report say how much of each class is found, and what to do where that is little."""

import numpy as np
import pandas as pd

from svmpath import PathSVC, Report
from tests.cli.tables import FIXED

LABELS = ["ok", "fraud"]


def rare(n=200, few=8, labels=LABELS):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(n, 2)), rng.normal(1.2, 1, size=(few, 2))])
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=np.repeat(labels, [n, few]))
    table.to_csv("data.csv", index=False)
    return ["data.csv", "--target", "y", *FIXED]


def test_the_table_and_the_summary_have_recall_and_a_note_names_options(tune):
    out, err, facts = tune(*rare(), "--honest", "none")
    held_out = facts["held_out"]
    assert [row["label"] for row in held_out["recall"]] == ["fraud", "ok"]
    assert [row["rows"] for row in held_out["recall"]] == [8, 200]
    assert held_out["balanced_accuracy"] == np.mean([row["recall"] for row in held_out["recall"]])
    assert "of 8 rows of fraud" in out
    assert "balanced accuracy" in out
    assert err.count("of 8 rows of class 'fraud' are found") == 1  # fit has said it, too
    assert "--class-weight balanced or --scoring balanced_accuracy with --threshold tune" in err


def test_no_note_with_weights(tune):
    _, err, facts = tune(*rare(), "--honest", "none", "--class-weight", "balanced")
    assert facts["held_out"]["caution"] is None
    assert "class 'fraud'" not in err
    assert abs(facts["held_out"]["baseline"] - 0.5) < 1e-9  # weighted as the error is


def test_of_many_classes_the_five_lowest_are_shown(tune):
    rng = np.random.default_rng(0)
    y = np.arange(140) % 7
    table = pd.DataFrame(rng.normal(size=(140, 2)) + 4 * y[:, None] ** 0.5, columns=["a", "b"])
    table.assign(y=[f"k{each}" for each in y]).to_csv("data.csv", index=False)
    out, _, facts = tune("data.csv", "--target", "y", *FIXED, "--honest", "none")
    assert len(facts["held_out"]["recall"]) == 5
    assert "(the lowest of 7 classes)" in out


def test_the_report_has_a_note_and_the_recalls(folder):
    rare()
    table = pd.read_csv("data.csv")
    X, y = table[["a", "b"]].to_numpy(), table["y"].to_numpy()
    facts = Report(PathSVC(C=1.0, gamma=0.1).fit(X, y), X, y, honest=None).facts
    assert any("class 'fraud' are found" in note["text"] for note in facts["overview"]["notes"])
    names = [cell["name"] for cell in facts["overview"]["sure"]]
    assert {"Balanced accuracy", "ROC-AUC", "Average precision"} <= set(names)
    rows = {row["label"]: row for row in facts["summary"]["held_out"]["metrics"]["per_class"]}
    assert rows["fraud"]["recall"] < 0.5 < rows["ok"]["recall"]


def test_select_has_a_note(run):
    rare()
    code, _, err = run("select", "data.csv", "--target", "y", "--lambda1", "1", "--lambda2", "1")
    assert code == 0
    assert "class 'fraud' are found" in err

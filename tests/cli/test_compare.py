"""``svmpath compare``."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmpath import PathSVC
from svmpath.cli.compare import verdict
from svmpath.criteria.folds import random_folds
from svmpath.datasets import banana


@pytest.fixture
def rows():
    X, y = banana(120, random_state=0)
    pd.DataFrame(X, columns=["a", "b"]).assign(y=y).to_csv("data.csv", index=False)
    return X, y


def compared(run, *arguments):
    code, out, err = run("compare", "data.csv", "--target", "y", "--folds", "3", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_errors_are_those_of_tuning_without_each_fold(run, rows):
    X, y = rows
    facts = compared(
        run, "--losses", "least_squares,squared_hinge", "--kernels", "rbf", "--seed", "3", "-o", "rows.csv"
    )
    table = pd.read_csv("rows.csv")
    assert table["row"].tolist() == list(range(1, 121))
    assert table["target"].tolist() == y.tolist()
    texts = pd.read_csv("data.csv")[["a", "b"]].astype(str)
    contents = np.column_stack([pd.util.hash_array(texts[name].to_numpy(object)) for name in "ab"]).astype(float)
    folds = random_folds(3, contents, y, is_classification=True, seed=3)
    for machine in facts["machines"]:
        found = np.empty(120)
        for train, test in folds:
            model = make_pipeline(StandardScaler(), PathSVC(loss=machine["loss"], random_state=3))
            found[test] = model.fit(X[train], y[train]).predict(X[test])
        assert table[machine["name"]].tolist() == found.tolist()
        assert machine["error"] == pytest.approx(np.mean(found != y))
        assert machine["interval"][0] < machine["error"] < machine["interval"][1]


def test_the_pairs_are_tested_and_the_best_is_named(run, rows):
    facts = compared(run, "--losses", "least_squares", "--kernels", "linear,rbf")
    assert facts["best"] == "least_squares rbf"
    (test,) = facts["tests"]
    assert (test["first"], test["second"]) == ("least_squares rbf", "least_squares linear")
    assert test["test"] == "McNemar"
    difference = round(120 * (facts["machines"][1]["error"] - facts["machines"][0]["error"]))
    assert test["worse_second"] - test["worse_first"] == difference
    assert test["p_holm"] == test["p"]
    code, out, _ = run("compare", "data.csv", "--target", "y", "--folds", "3", "--losses", "least_squares")
    assert code == 0
    assert "least_squares rbf has the lowest error on held-out rows." in out


@pytest.mark.slow
def test_a_regression_is_tested_by_its_losses(run):
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 90)
    pd.DataFrame({"x": x, "y": np.sin(2 * x) + 0.1 * rng.normal(size=90)}).to_csv("data.csv", index=False)
    facts = compared(run, "-o", "rows.csv")
    assert [machine["name"] for machine in facts["machines"]] == ["least_squares rbf", "least_squares linear"]
    table = pd.read_csv("rows.csv")
    squares = [(table[name] - table["target"]) ** 2 for name in ("least_squares rbf", "least_squares linear")]
    (test,) = facts["tests"]
    assert test["test"] == "paired t"
    assert test["p"] == pytest.approx(ttest_rel(*squares).pvalue)
    assert test["different"]


def test_groups_are_held_out_together_and_are_the_units_of_the_test(run):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(12), 8)
    a = rng.normal(size=96)
    pd.DataFrame({"a": a, "g": group, "y": np.where(a + rng.normal(size=96) > 0, "u", "v")}).to_csv(
        "data.csv", index=False
    )
    facts = compared(run, "--group-column", "g", "--losses", "least_squares")
    (test,) = facts["tests"]
    assert test["test"] == "paired t"
    assert test["worse_first"] + test["worse_second"] <= 12


def test_one_machine_needs_no_test(run, rows):
    facts = compared(run, "--losses", "least_squares", "--kernels", "rbf")
    assert facts["tests"] == []
    assert verdict(facts) == "least_squares rbf has the lowest error on held-out rows."


def test_the_verdict_says_what_differs():
    tests = [
        {"first": "a", "second": "b", "test": "McNemar", "different": True},
        {"first": "a", "second": "c", "test": "McNemar", "different": False},
        {"first": "b", "second": "c", "test": "McNemar", "different": False},
    ]
    assert verdict({"best": "a", "tests": tests}) == (
        "a has the lowest error on held-out rows. Significantly better than b; no significant difference to c "
        "(McNemar's test, Holm's correction, 5 %)."
    )


@pytest.mark.slow
def test_the_time_limit_is_that_of_all_fits_together(run, rows, monkeypatch):
    limits, fit = [], PathSVC.fit
    monkeypatch.setattr(
        PathSVC, "fit", lambda self, *data, **more: (limits.append(self.time_limit), fit(self, *data))[1]
    )
    compared(run, "--losses", "least_squares", "--kernels", "rbf,linear", "--time-limit", "600")
    assert limits == [100.0] * 6

"""``svmpath path``: what is written is what ``svmpath.trace`` gives."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import svmpath
from svmpath.datasets import banana


@pytest.fixture
def rows():
    X, y = banana(60, random_state=0)
    pd.DataFrame(X, columns=["a", "b"]).assign(y=y).to_csv("data.csv", index=False)
    return StandardScaler().fit_transform(pd.read_csv("data.csv")[["a", "b"]]), y


def traced(run, *arguments):
    code, out, err = run("path", "data.csv", "--target", "y", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def arrays():
    """What is in path.npz, without pickles."""
    with np.load("path.npz") as file:
        return dict(file)


def test_one_file_with_all_arrays(run, rows):
    facts = traced(run, "--loss", "hinge", "--span", "0.1:10", "--gamma", "1", "--values", "7", "-o", "path.npz")
    path = svmpath.trace(*rows, loss="hinge", span=(0.1, 10.0), gamma=1.0)
    found = arrays()
    assert str(found["over"]) == "C"
    np.testing.assert_allclose(found["breakpoints"], path.breakpoints)
    np.testing.assert_allclose(found["values"], np.geomspace(0.1, 10.0, 7))
    for k, value in enumerate(found["values"]):
        np.testing.assert_allclose(found["alpha"][k], path(value).alpha, atol=1e-10)
        np.testing.assert_allclose(found["decision"][k], path(value).fitted, atol=1e-10)
        assert found["offset"][k] == pytest.approx(path(value).b)
    events = list(path.events())
    assert facts["events"] == len(events) == len(found["event_value"])
    assert found["event_row"].tolist() == [event.sample + 1 for event in events]
    assert found["event_from"].tolist() == [event.source for event in events]
    assert found["event_to"].tolist() == [event.target for event in events]
    assert found["classes"].tolist() == [-1, 1]
    assert facts["breakpoints"] == len(path.breakpoints)
    assert facts["largest_violation"] < 1e-8
    assert facts["fixed"] == {"gamma": 1.0}


def test_three_tables(run, rows):
    facts = traced(run, "--over", "gamma", "--span", "0.5:2", "--C", "2", "--values", "0.5,1.0,2", "-o", "way")
    assert facts["written"] == [str(Path("way", f"{name}.csv")) for name in ("breakpoints", "events", "solutions")]
    path = svmpath.trace(*rows, over="gamma", span=(0.5, 2.0), C=2.0)
    solutions = pd.read_csv("way/solutions.csv")
    assert solutions.columns[:3].tolist() == ["gamma", "offset", "alpha_1"]
    assert solutions["gamma"].tolist() == [0.5, 1.0, 2.0]
    np.testing.assert_allclose(solutions.iloc[1, 2:], path(1.0).alpha, atol=1e-10)
    np.testing.assert_allclose(pd.read_csv("way/breakpoints.csv")["gamma"], path.breakpoints)
    events = pd.read_csv("way/events.csv")
    assert events.columns.tolist() == ["value", "row", "from", "to"]
    assert len(events) == facts["events"]


def test_solutions_at_the_breakpoints_going_down(run, rows):
    facts = traced(run, "--loss", "nu", "--values", "breakpoints", "-o", "path.npz")
    found = arrays()
    np.testing.assert_allclose(found["values"], np.unique(found["breakpoints"])[::-1])
    assert facts["span"][0] > facts["span"][1]


def test_a_regression_over_the_width_of_the_tube(run):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    pd.DataFrame({"x": x, "y": x + 0.1 * rng.normal(size=40)}).to_csv("data.csv", index=False)
    options = ("--loss", "epsilon_insensitive", "--over", "epsilon", "--span", "0.5:0", "-o", "path.npz")
    facts = traced(run, *options)
    assert facts["task"] == "regression"
    assert facts["values"] == 50
    found = arrays()
    np.testing.assert_allclose(found["values"], np.linspace(0.5, 0.0, 50), atol=1e-12)
    assert "classes" not in found
    code, out, err = run("path", "data.csv", "--target", "y", *options)
    assert code == 0, err
    assert "over epsilon from 0.5 to 0" in out
    assert "Wrote path.npz." in out


def test_several_classes_are_refused(refused):
    pd.DataFrame({"a": range(9), "y": list("uvw") * 3}).to_csv("data.csv", index=False)
    assert "two" in refused("path", "data.csv", "--target", "y", "-o", "path.npz")

"""``--json``: one document on standard output and nothing else there; ``--quiet``: nothing at all."""

import json

import pytest

from svmpath.cli.program import COMMANDS
from tests.cli.tables import FIXED, flats
from tests.speed import first_quick

QUICK = ("--C", "1")
ARGUMENTS = {
    "tune": ("data.csv", "--target", "sold", *FIXED, "--no-report"),
    "export": ("model.skops", "model.onnx"),
    "predict": ("model.skops", "data.csv", "--proba", "-o", "out.csv"),
    "update": ("model.skops", "data.csv", "-o", "more.skops"),
    "forget": ("model.skops", "--rows", "3,5-6", "-o", "fewer.skops"),
    "compare": ("data.csv", "--target", "sold", "--folds", "2", "--losses", "least_squares", "--kernels", "rbf,linear"),
    "select": ("data.csv", "--target", "sold", "--drop", "price", "--lambda2", "1", "-o", "features.csv"),
    "novelty": ("data.csv", "data.csv", "--gamma", "0.1", "-o", "novelty.csv"),
    "path": ("data.csv", "--target", "sold", "--values", "3", "-o", "path.npz"),
    "report": ("model.skops", "data.csv", "-o", "report.html"),
    "datasets": ("banana", "-o", "banana.csv"),
    "compile": ("kernel",),
}
KEYS = {
    "tune": {"choice", "held_out", "honest", "data", "columns", "written"},
    "export": {"inputs", "outputs", "written"},
    "predict": {"rows", "columns", "written"},
    "update": {"rows", "rows_before", "violation", "held_out_error", "written"},
    "forget": {"rows", "rows_before", "violation", "held_out_error", "written"},
    "compare": {"machines", "tests", "best", "written"},
    "select": {"table", "selected", "lambda1", "lambda2", "written"},
    "novelty": {"table", "novelties", "nu", "gamma", "written"},
    "path": {"breakpoints", "events", "span", "written"},
    "report": {"choice", "held_out", "written"},
    "datasets": {"name", "rows", "seed", "written"},
    "compile": {"engines"},
}


@pytest.fixture
def ready(tune_once):
    flats().to_csv("data.csv", index=False)
    tune_once("data.csv", "--target", "sold", *FIXED)


def test_all_commands_are_here():
    assert set(ARGUMENTS) == set(KEYS) == set(COMMANDS)


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_there_is(run, command):
    code, out, _ = run(command, *ARGUMENTS[command], "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts.keys() >= KEYS[command]
    assert "NaN" not in out


@first_quick(3)
@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("command", COMMANDS)
def test_quiet_says_nothing(run, command):
    assert run(command, *ARGUMENTS[command], "--quiet") == (0, "", "")


@pytest.mark.usefixtures("ready")
def test_quiet_and_json_go_together(run):
    code, out, err = run("datasets", "banana", "--quiet", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["name"] == "banana"


def test_an_error_is_not_silenced(run):
    code, out, err = run("tune", "none.csv", "--quiet", "--json")
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")


def test_the_facts_of_tune_are_those_of_the_summary(run):
    flats().to_csv("data.csv", index=False)
    _, out, _ = run("tune", *ARGUMENTS["tune"], "--json")
    facts = json.loads(out)
    assert facts.pop("written") == ["model.skops", "summary.json", "config.toml"]
    with open("summary.json", encoding="utf-8") as file:
        assert json.load(file) == facts

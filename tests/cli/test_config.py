"""``--config``, and the configuration that is written beside a model."""

import tomllib
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.tables import FIXED, flats, load
from tests.rounding import assert_same
from tests.speed import first_quick


@pytest.fixture(autouse=True)
def data():
    flats().to_csv("data.csv", index=False)


def config(text):
    Path("run.toml").write_text(text, encoding="utf-8")
    return ("--config", "run.toml")


def resolved(folder="."):
    return tomllib.loads(Path(folder, "config.toml").read_text(encoding="utf-8"))


def test_a_run_is_repeated(run):
    options = ("--target", "sold", "--drop", "price,lift", "--rank", "10", "--seed", "7", "--loss", "least_squares")
    assert run("tune", "data.csv", *options, "--output", "first", "--no-report")[0] == 0
    code, _, err = run("tune", "--config", "first/config.toml", "--output", "second")
    assert code == 0, err
    first, second = load("first/model.skops"), load("second/model.skops")
    X = pd.read_csv("data.csv")
    assert_same(first.decision_function(X), second.decision_function(X))
    assert first["model"].get_params() == second["model"].get_params()
    assert {**resolved("first"), "output": ""} == {**resolved("second"), "output": ""}


def test_keys_are_names_of_options_and_the_command_line_wins(tune):
    arguments = config(
        'data = "data.csv"\ntarget = "sold"\ndrop = ["price"]\nC = 2\ngamma = "0.5"\nn-jobs = 1\nseed = 4'
    )
    _, _, summary = tune(*arguments, "--C", "3")
    assert (summary["choice"]["C"], summary["choice"]["gamma"]) == (3.0, 0.5)
    assert summary["data"]["names"]["numbers"] == ["area"]
    found = resolved()
    assert {key: found[key] for key in ("C", "gamma", "n-jobs", "seed", "drop")} == {
        "C": "3", "gamma": "0.5", "n-jobs": 1, "seed": 4, "drop": ["price"],
    }  # fmt: skip


@first_quick(1)
@pytest.mark.parametrize("key", ["random-state", "random_state", "seed"])
def test_other_spellings_of_a_key(tune, key):
    tune("data.csv", *config(f'target = "sold"\n{key} = 5'), *FIXED)
    assert resolved()["seed"] == 5


def test_flags_can_be_set(run):
    assert run("tune", "data.csv", "--target", "sold", *FIXED, *config("report = false"))[0] == 0
    assert not Path("report.html").exists()
    assert resolved()["report"] is False


def test_an_unknown_key_is_answered_with_the_nearest(refused):
    sentence = refused("tune", "data.csv", *config('krnel = "rbf"'))
    assert sentence.startswith("Error: --config run.toml: there is no option 'krnel'; there are data, ")
    assert sentence.endswith("Did you mean 'kernel'?")


@pytest.mark.parametrize("key", ["config", "json", "quiet"])
def test_how_a_run_is_shown_is_not_configured(refused, key):
    assert f"there is no option {key!r}" in refused("tune", "data.csv", *config(f'{key} = "x"'))


def test_a_file_in_utf8_with_a_mark_is_read(tune):
    Path("run.toml").write_bytes('target = "sold"  # größer\n'.encode("utf-8-sig"))
    tune("data.csv", "--config", "run.toml", *FIXED)


def test_names_of_any_kind_survive(run):
    odd = 'a "b"\\ ü\t,'
    flats().rename(columns={"sold": odd}).to_csv("odd.csv", index=False)
    assert run("tune", "odd.csv", "--target", odd, *FIXED, "--no-report")[0] == 0
    assert resolved()["target"] == odd


def test_a_configuration_that_the_user_wrote_is_not_replaced(refused, tune):
    Path("config.toml").write_text('# mine\ntarget = "sold"\n', encoding="utf-8")
    assert "'config.toml' would be replaced by the configuration of this run" in refused(
        "tune", "data.csv", "--config", "config.toml", *FIXED
    )
    Path("config.toml").rename("mine.toml")
    tune("data.csv", "--config", "mine.toml", *FIXED)
    tune("--config", "config.toml", "--seed", "3")  # its own is
    assert resolved()["seed"] == 3

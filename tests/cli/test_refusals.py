"""What ``svmpath tune`` refuses, in one sentence and without a file."""

import os

import pytest

from tests.cli.tables import GOOD, csv

REFUSED_DATA = {
    "infinite": ("a,y\n1,u\ninf,v\n", "column 'a' has the infinite value inf in data row 2"),
    "stray cell": ("a,y\n1,u\n2,v\n3,u\n4,v\n5x,u\n", "column 'a' must hold numbers"),
    "no target": ("a,y\n1,\n2,\n", "no row has a value in the target 'y'"),
    "one class": ("a,y\n1,u\n2,u\n", "there is only one class: every row has the target value 'u'"),
    "constant": ("a,y\n1,2.5\n2,2.5\n", "every row has the target value 2.5"),
    "empty": ("", "data.csv: the file is empty"),
    "no rows": ("a,y\n", "there are no rows"),
    "duplicate": ("a,a,y\n1,2,u\n", "the column name 'a' occurs more than once"),
    "missing target": ("a,Y2\n1,u\n", "there is no column 'y' to predict (did you mean 'Y2'?); there are 'a', 'Y2'"),
    "own class each": ("a,y\n1,u\n2,v\n", "every row has a class of its own"),
    "only an identifier": ("id,y\nA1,u\nA2,v\nA3,u\n", "no column is left to predict from: 'id' (identifier)"),
    "dates in two ways": ("a,y\n1/2/2024,u\n2/3/2024,v\n1/3/2024,u\n", "no column is left to predict from: 'a' (date)"),
}


@pytest.mark.parametrize("case", REFUSED_DATA)
def test_tune_refuses_data(refused, case):
    text, sentence = REFUSED_DATA[case]
    arguments = csv(text)
    assert sentence in refused("tune", *arguments)


@pytest.mark.parametrize("case", ["constant", "words"])
def test_tune_refuses_a_target_for_regression(refused, case):
    texts = {"constant": ("2.5", "the target is constant"), "words": ("u", "regression needs numbers in the target")}
    value, sentence = texts[case]
    other = value if case == "constant" else "v"
    arguments = csv(f"a,y\n1,{value}\n2,{other}\n3,{value}\n")
    assert sentence in refused("tune", *arguments, "--task", "regression")


def test_tune_refuses_classes_of_a_continuous_target(refused):
    arguments = csv("a,y\n" + "".join(f"{i},{i / 7}\n" for i in range(1, 30)))
    assert "different fractional numbers; use --task regression" in refused(
        "tune", *arguments, "--task", "classification"
    )


REFUSED_OPTIONS = {
    (
        "--gamma",
        "wide",
    ): "--gamma must be tune, scale, auto, ard, a positive number, a list such as 0.1,1,10 or LOW",
    ("--gamma", "-1"): "--gamma must be",
    ("--gamma", "nan"): "--gamma must be",
    ("--C", "0"): "--C must be tune, a positive number, a list such as 0.1,1,10 or LOW:HIGH, not '0'",
    ("--cv", "1"): "Invalid value for '--cv'",
    ("--rank", "1.5"): "--rank must be exact, auto, a whole number of landmarks or a residual between 0 and 1, not",
    ("--rank", "0"): "--rank must be",
    ("--rank", "many"): "--rank must be",
    ("--kernel", "precomputed"): "--kernel precomputed needs kernel values",
    ("--kernel", "magic"): "'magic'",
    ("--loss", "magic"): "'magic'",
    ("--loss", "hinge"): "not regression; use --loss least_squares, epsilon_insensitive, expectile or pinball.",
    (
        "--criterion",
        "alo",
    ): "not for --loss least_squares: use exact leave-one-out (--criterion loo) instead",
    ("--loss", "epsilon_insensitive", "--epsilon", "wide"): "LOW:HIGH, not 'wide'",
    ("--loss", "epsilon_insensitive", "--epsilon", "-1"): "--epsilon must be",
    ("--landmarks", "magic", "--rank", "5"): "'magic'",
    ("--criterion", "magic"): "--criterion",
    ("--search", "magic"): "--search",
    ("--task", "magic"): "--task",
    ("--random-state", "-1"): "Invalid value for '--seed' / '--random-state'",
    ("--random-state", "x"): "--random-state",
    ("--criterion", "kfold", "--cv", "50"): "50",
    ("--output", "data.csv"): "--output must be a folder, but 'data.csv' is a file",
    ("--output", "data.csv/deeper"): "--output must be a folder",
    ("--no-such-option",): "there is no option --no-such-option; see svmpath tune --help",
    ("--target", "z"): "there is no column 'z' to predict",
}


@pytest.mark.parametrize("options", REFUSED_OPTIONS, ids=" ".join)
def test_tune_refuses_options(refused, options):
    arguments = csv(GOOD)
    assert REFUSED_OPTIONS[options] in refused("tune", *arguments, *options)


def test_refusals_without_data(refused, run):
    assert "none.csv: there is no file 'none.csv'" in refused("tune", "none.csv", "--target", "y")
    assert "Missing argument" in refused("tune")
    assert "No such command 'fly'" in refused("fly")
    csv(GOOD)
    assert "name the column to predict with --target; there are 'a', 'b', 'y'" in refused("tune", "data.csv")
    os.mkdir("folder.csv")
    assert "this is a folder" in refused("tune", "folder.csv", "--target", "y")
    os.mkdir("model.skops")
    assert "'model.skops' is a folder" in refused("tune", "data.csv", "--target", "y")
    code, out, err = run()
    assert code in (0, 2)  # as the version of typer has it
    assert "Usage: svmpath" in out + err


@pytest.mark.parametrize("options", [("--n-jobs", "two"), ("--cv", "1"), ("--zzz", "x")], ids=" ".join)
def test_a_usage_error_points_to_the_help_of_its_command(refused, options):
    assert refused("tune", *csv(GOOD), *options).endswith("; see svmpath tune --help.")
    assert refused("predict", "--zzz").endswith("; see svmpath predict --help.")
    assert refused("fly").endswith("; see svmpath --help.")

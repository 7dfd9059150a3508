"""Options: their names, the nearest name to a typo, and messages that speak of options, not of parameters."""

import inspect
import re

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError
from typer.main import get_command

from svmpath import PathSVC, PathSVR, cli
from svmpath.cli.messages import in_options
from svmpath.cli.options import OPTIONS, options_of
from tests.cli.tables import GOOD, csv
from tests.speed import first_quick

NAMES = {row.flag: row.names for row in options_of("tune") if row.names}
CLASSES = "a,b,y\n" + "".join(f"{i},{i * i % 7},{'uv'[i % 2]}\n" for i in range(12))


def test_every_option_that_sets_a_parameter_is_in_the_table():
    parameters = {*inspect.signature(PathSVC).parameters, *inspect.signature(PathSVR).parameters}
    spelt = {row.name for row in options_of("tune")} | {"random_state", "pos_label"}
    assert set(OPTIONS) == parameters & spelt - {"verbose"} | {"n_splits", "landmarks", "memory_limit"}
    options = {name for option in get_command(cli.app).commands["tune"].params for name in option.opts}
    assert set(OPTIONS.values()) <= options


@first_quick(3)
@pytest.mark.parametrize("option", NAMES)
def test_help_lists_every_name(option):
    parameters = get_command(cli.app).commands["tune"].params
    text = next(parameter.help for parameter in parameters if option in parameter.opts)
    assert set(NAMES[option]) <= set(re.findall(r"[\w-]+", text))


TYPOS = {
    ("--task", "classificaton"): "classification",
    ("--task", "Regression"): "regression",
    ("--loss", "hing"): "hinge",
    ("--loss", "squared-hinge"): "squared_hinge",
    ("--loss", "epsilon"): None,
    ("--kernel", "RBF"): "rbf",
    ("--kernel", "laplace"): "laplacian",
    ("--kernel", "gaussian"): None,
    ("--criterion", "lo"): "loo",
    ("--criterion", "k-fold"): "kfold",
    ("--criterion", "no_such"): None,
    ("--search", "gradent"): "gradient",
    ("--search", "Grid"): "grid",
    ("--search", "random"): None,
    ("--effort", "bset"): "best",
    ("--effort", "Quick"): "quick",
    ("--effort", "3"): None,
    ("--landmarks", "unifrm"): "uniform",
    ("--landmarks", "k-means"): "kmeans",
    ("--landmarks", "first"): None,
    ("--psd", "clipp"): "clip",
    ("--psd", "wran"): "warn",
    ("--psd", "flip"): "clip",
}


@pytest.mark.parametrize("option", TYPOS, ids=" ".join)
def test_a_typo_lists_what_is_possible_and_the_nearest_name(refused, option):
    sentence = refused("tune", *csv(GOOD), *option)
    possible = ", ".join(map(repr, NAMES[option[0]]))
    assert f"{option[0]} must be one of {possible}" in sentence
    assert f"got {option[1]!r}" in sentence
    nearest = TYPOS[option]
    assert nearest is None or f"id you mean {nearest!r}?" in sentence


def test_a_typo_in_an_option_or_a_command_is_answered(refused):
    assert "--gamma" in refused("tune", *csv(GOOD), "--gama", "1")
    assert "'tun'" in refused("tun")


# Three wrong values for each option that is a number, as users get them wrong.
WRONG = {
    ("--epsilon", "wide"): "--epsilon must be tune, a number >= 0, a list such as 0.1,1,10 or LOW:HIGH",
    ("--epsilon", "-0.1"): "--epsilon must be",
    ("--epsilon", "inf"): "--epsilon must be",
    (
        "--quantile",
        "1",
    ): "--quantile must be a number between 0 and 1, such as 0.9, or different ones, such as 0.05,0.5,0.95, not '1'",
    ("--quantile", "high"): "--quantile must be a number between 0 and 1",
    ("--quantile", "90"): "--quantile must be a number between 0 and 1",
    ("--degree", "0"): "'--degree'",
    ("--degree", "2.5"): "'--degree'",
    ("--degree", "two"): "'--degree'",
    ("--coef0", "nan"): "--coef0 must be a finite number",
    ("--coef0", "inf"): "--coef0 must be a finite number",
    ("--coef0", "one"): "'--coef0'",
    ("--gamma", "0"): "--gamma must be",
    ("--gamma", "inf"): "--gamma must be",
    ("--gamma", "2:1"): "--gamma LOW:HIGH needs LOW smaller than HIGH",
    ("--C", "-1"): "--C must be",
    ("--C", "scale"): "--C must be",
    ("--C", "1:2:3"): "--C must be",
    ("--cv", "0"): "'--cv'",
    ("--cv", "five"): "'--cv'",
    ("--cv", "13", "--criterion", "kfold"): "--cv 13 is more than the 12 rows; use --cv 12 or less.",
    ("--rank", "-5"): "--rank must be",
    ("--rank", "1.0"): "--rank must be",
    ("--rank", "full"): "--rank must be",
    (
        "--class-weight",
        "ballanced",
    ): "--class-weight must be balanced or LABEL:WEIGHT,LABEL:WEIGHT with the labels u, v",
    ("--class-weight", "u:2,w:1"): "--class-weight must be balanced or LABEL:WEIGHT",
    ("--class-weight", "u:0"): "--class-weight needs a positive number after each label, not '0' (in 'u:0')",
    ("--n-jobs", "0"): "--n-jobs must be left out, a number of threads, or negative",
    ("--n-jobs", "many"): "'--n-jobs'",
    ("--n-jobs", "1.5"): "'--n-jobs'",
    ("--seed", "-1"): "'--seed'",
    ("--random-state", "4294967296"): "'--random-state'",
    ("--seed", "seed"): "'--seed'",
    ("--seed", "1.5"): "'--seed'",
    ("--scoring", "f11"): "scikit-learn scorer, such as accuracy, f1 or r2, not 'f11'. Did you mean 'f1'?",
    ("--scoring", "error"): "--scoring must be the name of a scikit-learn scorer",
    ("--scoring", "r2"): "--scoring r2",
    ("--threshold", "high"): "--threshold must be tune or a number, not 'high'",
    ("--threshold", "nan"): "--threshold must be tune or a number, not 'nan'",
    ("--threshold", "Tune"): "Did you mean 'tune'?",
    ("--positive", "w"): "--positive must be one of the labels u, v, not 'w'",
    ("--positive", "U"): "Did you mean 'u'?",
    ("--positive", "1", "--task", "regression", "--target", "a"): "--positive names a class, but this is a regression",
    ("--time-limit", "0"): "--time-limit must be a positive number, got 0.0.",
    ("--time-limit", "-5"): "--time-limit must be a positive number",
    ("--time-limit", "soon"): "'--time-limit'",
    ("--memory-limit", "much"): "--memory-limit must be a number of bytes, such as 4GiB or 500MB, not 'much'.",
    ("--memory-limit", "0"): "--memory-limit must be a number of bytes",
    ("--memory-limit", "4 gigs"): "--memory-limit must be a number of bytes",
    ("--loss", "epsilon_insensitive"): "--loss epsilon_insensitive does regression, not classification",
    ("--loss", "hinge", "--search", "gradient"): "--search gradient works for the losses",
    ("--loss", "hinge", "--gamma", "ard"): "not for --loss hinge",
    ("--kernel", "linear", "--gamma", "ard"): "--gamma ard works for the rbf kernel only, not for --kernel linear",
    ("--kernel", "sigmoid", "--gamma", "1", "--rank", "5"): "--rank exact with --psd clip",
    ("--criterion", "kfold", "--search", "gradient"): "needs --criterion auto or span",
    ("--rank", "5", "--search", "gradient"): "Gradients need the full kernel matrix; use --rank exact.",
    ("--gamma", "tun"): "LOW:HIGH, not 'tun'. Did you mean 'tune'?",
    ("--C", "Tune"): "LOW:HIGH, not 'Tune'. Did you mean 'tune'?",
    ("--rank", "atuo"): "between 0 and 1, not 'atuo'. Did you mean 'auto'?",
    ("--epsilon", "tun"): "LOW:HIGH, not 'tun'. Did you mean 'tune'?",
}
PYTHON = re.compile(rf"\b(?:{'|'.join(OPTIONS)})=|\b(?:n_jobs|random_state|n_splits)\b|\bNone\b")


@pytest.mark.parametrize("options", WRONG, ids=" ".join)
def test_a_wrong_value_is_answered_in_the_words_of_the_command_line(refused, options):
    poly = ("--kernel", "poly") if options[0] in ("--degree", "--coef0") else ()
    sentence = refused("tune", *csv(CLASSES), *poly, *options)
    assert WRONG[options] in sentence
    assert not PYTHON.search(re.sub(r"\w+\([^()]*\)", "", sentence))


def test_every_parameter_has_three_wrong_inputs():
    tried = [options[0] for options in (*TYPOS, *WRONG)]
    flags = {row.flag for row in options_of("tune") if row.type is bool}  # they take no value
    assert {option: tried.count(option) for option in set(OPTIONS.values()) - flags if tried.count(option) < 3} == {}


# What the library, scikit-learn's checks and its splitters say, for each parameter.
@pytest.mark.parametrize(("parameter", "option"), OPTIONS.items())
def test_every_shape_of_message_is_translated(parameter, option):
    assert in_options(f"{parameter} must be 1, got 0.") == f"{option} must be 1, got 0."
    assert in_options(f"Each value of {parameter} must be 1.") == f"Each value of {option} must be 1."
    assert in_options(f"Wrong: {parameter}='no' or 'yes'.") == f"Wrong: {option} no or yes."
    assert in_options(f"It goes with {parameter}=1.5e-3.") == f"It goes with {option} 1.5e-3."
    assert in_options(f"The '{parameter}' parameter of PathSVC must be a str.") == f"{option} must be a str."
    none = "exact" if option == "--rank" else "left out"
    assert in_options(f"{parameter} must be None or 1.") == f"{option} must be {none} or 1."
    assert in_options(f"use {parameter}=None.") == ("use --rank exact." if none == "exact" else f"use no {option}.")


@pytest.mark.parametrize("sentence", [
    "The kernel must be symmetric.",
    "data.csv: the loss of rank is large; search for it.",
    "in Python, use PathSVC(kernel='precomputed', C=1.0)",
    "At the choice (C = 1e+06, gamma = 2) values are lost.",
    "column 'gamma' has no value in data row 2",
    "data_C=1 is odd",
])  # fmt: skip
def test_other_words_of_the_same_spelling_stay(sentence):
    assert in_options(sentence) == sentence


def test_the_checks_of_scikit_learn_are_translated(run, monkeypatch):
    def fit(*arguments):
        raise InvalidParameterError("The 'n_jobs' parameter of PathSVC must be an int. Got 1.5 instead.")

    monkeypatch.setattr(PathSVC, "fit", fit)
    assert run("tune", *csv(CLASSES))[2] == "Error: --n-jobs must be an int. Got 1.5 instead.\n"


@pytest.mark.filterwarnings("always:The smallest class")
def test_notes_speak_of_options_too(run):
    rng = np.random.default_rng(0)
    rows = "".join(f"{a:.3f},{'uuv'[i % 3] if i < 9 else 'u'}\n" for i, a in enumerate(rng.normal(size=20)))
    _, _, err = run("tune", *csv("a,y\n" + rows), "--criterion", "kfold", "--C", "1", "--gamma", "1")
    assert "n_splits" not in err
    assert "The smallest class has only 3 of the 20 rows" in err
    assert "--cv 5" in err


def test_candidates_are_a_list(tune):
    _, _, summary = tune(*csv(CLASSES), "--C", "0.1,1,10", "--gamma", "0.5,2")
    assert summary["choice"]["C"] in (0.1, 1.0, 10.0)
    assert summary["choice"]["gamma"] in (0.5, 2.0)

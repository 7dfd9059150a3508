"""Broken files and arguments: one sentence on standard error, exit code 2, no traceback, and no file left behind."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.tables import FIXED, GOOD, csv


def text(content, name="data.csv"):
    return lambda: Path(name).write_text(content, encoding="utf-8")


def raw(content, name="data.csv"):
    return lambda: Path(name).write_bytes(content)


def arrays(name="data.npz", **values):
    return lambda: np.savez(name, **values)


def parquet(content):
    def make():
        pd.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"]}).to_parquet("data.parquet")
        whole = Path("data.parquet").read_bytes()
        Path("data.parquet").write_bytes(content(whole))

    return make


def nothing():
    pass


ROWS = np.arange(12.0).reshape(6, 2)
TUNE = ("tune", "data.csv", "--target", "y")
# What is wrong: the files that are there, the command, and words of the sentence.
FILES = {
    "no file": (nothing, TUNE, "there is no file 'data.csv'"),
    "a folder": (lambda: os.mkdir("data.csv"), TUNE, "folder"),
    "empty": (text(""), TUNE, "empty"),
    "only blank lines": (text("\n\n\n"), TUNE, ""),
    "only a header": (text("a,y\n"), TUNE, "no rows"),
    "one row": (text("a,y\n1,u\n"), TUNE, ""),
    "one class": (text("a,y\n1,u\n2,u\n3,u\n"), TUNE, "only one class"),
    "a class per row": (text("a,y\n1,u\n2,v\n3,w\n"), TUNE, "class of its own"),
    "constant target": (text("a,y\n1,2.5\n2,2.5\n3,2.5\n"), TUNE, "every row has the target value 2.5"),
    "no such target": (text("a,z\n1,u\n2,v\n"), TUNE, "there is no column 'y' to predict"),
    "target alone": (text("y\nu\nv\nu\nv\n"), TUNE, ""),
    "a name twice": (text("a,a,y\n1,2,u\n3,4,v\n"), TUNE, "more than once"),
    "infinite": (text("a,y\n1,u\ninf,v\n3,u\n4,v\n"), TUNE, "infinite"),
    "too many cells": (text("a,y\n1,u\n1,2,v\n3,u\n"), TUNE, ""),
    "no text": (raw(bytes(range(128, 256)) * 8), TUNE, ""),
    "zero bytes": (raw(b"a,y\n1,\x00u\n2,v\n"), TUNE, ""),
    "words for regression": (
        text(GOOD.replace(".5", "x")),
        (*TUNE, "--task", "regression"),
        "regression needs numbers",
    ),
    "fractions for classes": (
        text("a,y\n" + "".join(f"{i},{i / 7}\n" for i in range(1, 30))),
        (*TUNE, "--task", "classification"),
        "use --task regression",
    ),
    "no gzip": (raw(b"not compressed", "data.csv.gz"), ("tune", "data.csv.gz", "--target", "y"), "data.csv"),
    "cut gzip": (
        raw(gzip.compress(GOOD.encode() * 50)[:-40], "data.csv.gz"),
        ("tune", "data.csv.gz", "--target", "y"),
        "data.csv",
    ),
    "no parquet": (raw(b"PAR1 nothing", "data.parquet"), ("tune", "data.parquet", "--target", "y"), "data.parquet"),
    "cut parquet": (parquet(lambda whole: whole[:-9]), ("tune", "data.parquet", "--target", "y"), "data.parquet"),
    "no npz": (raw(b"PK nothing", "data.npz"), ("tune", "data.npz"), "data.npz"),
    "npz without X": (arrays(Z=ROWS, y=np.arange(6) % 2), ("tune", "data.npz"), "X"),
    "npz without y": (arrays(X=ROWS), ("tune", "data.npz"), "y"),
    "npz of other lengths": (arrays(X=ROWS, y=np.arange(5) % 2), ("tune", "data.npz"), ""),
    "npz of three axes": (arrays(X=np.ones((6, 2, 2)), y=np.arange(6) % 2), ("tune", "data.npz"), ""),
    "npz of words": (arrays(X=np.full((6, 2), "a"), y=np.arange(6) % 2), ("tune", "data.npz"), ""),
    "npz with a pickle": (
        lambda: np.savez("data.npz", X=np.array([[print, 1]] * 6, dtype=object), y=np.arange(6) % 2),
        ("tune", "data.npz"),
        "",
    ),
    "broken libsvm": (text("1 1:2 x\n", "data.libsvm"), ("tune", "data.libsvm"), "data.libsvm"),
    "libsvm without labels": (text("1:2 3:4\n2:1\n", "data.libsvm"), ("tune", "data.libsvm"), "data.libsvm"),
    "unknown ending": (text(GOOD, "data.docx"), ("tune", "data.docx", "--target", "y"), "data.docx"),
    "no model": (text(GOOD), ("predict", "none.skops", "data.csv", "-o", "out.csv"), "there is no model file"),
    "a model that is text": (
        lambda: (text(GOOD)(), text("hello", "model.skops")()),
        ("predict", "model.skops", "data.csv", "-o", "out.csv"),
        "damaged or not a model",
    ),
    "a report of no model": (
        text(GOOD),
        ("report", "data.csv", "data.csv", "-o", "out.html"),
        "damaged or not a model",
    ),
    "no toml file": (text(GOOD), (*TUNE, "--config", "none.toml"), "--config: there is no file 'none.toml'"),
    "a broken toml file": (
        lambda: (text(GOOD)(), text("loss = = 1", "run.toml")()),
        (*TUNE, "--config", "run.toml"),
        "is not a toml file",
    ),
    "toml that is no text": (
        lambda: (text(GOOD)(), raw(b"\xff\xfe\xff", "run.toml")()),
        (*TUNE, "--config", "run.toml"),
        "is not a toml file",
    ),
    "an unknown key": (
        lambda: (text(GOOD)(), text('los = "hinge"', "run.toml")()),
        (*TUNE, "--config", "run.toml"),
        "there is no option 'los'",
    ),
    "a wrong kind in toml": (
        lambda: (text(GOOD)(), text("loss = true", "run.toml")()),
        (*TUNE, "--config", "run.toml"),
        "loss must be a text or a number, not True",
    ),
    "a table in toml": (
        lambda: (text(GOOD)(), text("[loss]\nname = 1", "run.toml")()),
        (*TUNE, "--config", "run.toml"),
        "loss must be a text or a number",
    ),
    "a wrong flag in toml": (
        lambda: (text(GOOD)(), text("report = 1", "run.toml")()),
        (*TUNE, "--config", "run.toml"),
        "report must be true or false, not 1",
    ),
    "a wrong value in toml": (
        lambda: (text(GOOD)(), text("degree = 0", "run.toml")()),
        (*TUNE, "--config", "run.toml"),
        "'--degree'",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_broken_file_is_one_sentence(refused, case):
    make, arguments, words = FILES[case]
    make()
    assert words in refused(*arguments)


CLASSES = "a,b,y\n" + "".join(f"{i},{i * i % 7},{'uv'[i % 2]}\n" for i in range(12))
OUT = ("-o", "out.csv")
FOLDER = ("-o", "out")
ARGUMENTS = {
    ("predict",): "Missing argument",
    ("export", "model.skops"): "Missing argument",
    ("predict", "model.skops", "data.csv", "-o", "data.csv"): "would overwrite an input file",
    ("predict", "model.skops", "data.csv", "-o", "none/out.csv"): "there is no folder 'none'",
    ("predict", "model.skops", "data.csv", "-o", "."): "is a folder",
    ("forget", "model.skops"): "Missing option",
    ("forget", "model.skops", "--rows", "0"): "--rows must be numbers from 1 on",
    ("forget", "model.skops", "--rows", "5-3"): "--rows must be numbers from 1 on",
    ("forget", "model.skops", "--rows", "1", "-o", "none/out.skops"): "there is no folder 'none'",
    ("update", "model.skops", "data.csv", "-o", "data.csv"): "would overwrite an input file",
    ("update", "model.skops", "-"): "cannot be standard input",
    ("path", "data.csv", "--target", "y"): "Missing option",
    (
        "path",
        "data.csv",
        "--target",
        "y",
        *OUT,
    ): "--output must be a folder, for three tables, or a name that ends with",
    ("path", "data.csv", "--target", "y", *FOLDER, "--span", "1"): "--span must be FROM:TO",
    ("path", "data.csv", "--target", "y", *FOLDER, "--span", "0:1"): "span",
    ("path", "data.csv", "--target", "y", *FOLDER, "--over", "nu"): "over must be one of",
    ("path", "data.csv", "--target", "y", *FOLDER, "--loss", "hing"): "Did you mean 'hinge'?",
    ("path", "data.csv", "--target", "y", *FOLDER, "--values", "many"): "--values must be a number of values",
    ("path", "data.csv", "--target", "y", *FOLDER, "--values", "0"): "--values must be a number of values",
    ("path", "data.csv", "--target", "y", *FOLDER, "--values", "0.1,1e9"): "outside the span",
    (
        "path",
        "data.csv",
        "--target",
        "y",
        *FOLDER,
        "--gamma",
        "tune",
    ): "--gamma must be scale, auto or a positive number",
    ("path", "data.csv", "--target", "y", *FOLDER, "--C", "-1"): "--C must be",
    ("path", "data.csv", "--target", "y", *FOLDER, "--rank", "many"): "--rank must be",
    ("select", "data.csv", "--target", "y", "--rule", "one-se"): "Did you mean 'one_se'?",
    ("select", "data.csv", "--target", "y", "--criterion", "span"): "--criterion must be one of 'auto', 'kfold', 'loo'",
    ("select", "data.csv", "--target", "y", "--lambda1", "-1"): "--lambda1 must be tune, a number >= 0",
    ("select", "data.csv", "--target", "y", "--lambda2", "tun"): "Did you mean 'tune'?",
    ("select", "data.csv", "--target", "y", "--max-features", "0"): "'--max-features'",
    ("compare", "data.csv", "--target", "y", "--kernels", "rbf,lineer"): "Did you mean 'linear'?",
    ("compare", "data.csv", "--target", "y", "--losses", "hinge,nu"): "--losses must be one of",
    ("compare", "data.csv", "--target", "y", "--kernels", ","): "--kernels must name at least one kernel",
    ("compare", "data.csv", "--target", "y", "--folds", "50"): "--folds 50 is more than the 6 rows",
    ("compare", "data.csv", "--target", "y", "--folds", "1"): "'--folds'",
    ("compare", "data.csv", "--target", "y", "-o", "data.csv"): "would overwrite an input file",
    ("report", "model.skops"): "Missing argument",
    ("report", "model.skops", "data.csv", "-o", "data.csv"): "would overwrite an input file",
    ("report", "model.skops", "data.csv", "-o", "."): "--output must be an html file",
    ("datasets", "bananas"): "Did you mean 'banana'?",
    ("datasets", "banana", "--rows", "1"): "'--rows'",
    ("datasets", "banana", "--rows", "many"): "'--rows'",
    ("datasets", "banana", "-o", "none/x.csv"): "there is no folder 'none'",
    ("datasets", "banana", "--seed", "-1"): "'--seed'",
    ("compile", "pth"): "Did you mean 'path'?",
    ("tune", "data.csv", "--target", "y", "--config"): "requires an argument",
    ("tune", "data.csv", "data.csv", "--target", "y"): "unexpected extra argument",
    ("--vers",): "Did you mean '--version'?",
    ("tune", "data.csv", "--target", "y", "--jsn"): "Did you mean '--json'?",
    ("selct",): "Did you mean 'select'?",
}


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=" ".join)
def test_a_wrong_argument_is_one_sentence(refused, arguments):
    csv(CLASSES)
    Path("model.skops").write_text("not looked at")
    assert ARGUMENTS[arguments] in refused(*arguments)


@pytest.mark.parametrize(
    ("coverage", "words"),
    [
        ("1.5", "--interval must be a coverage between 0 and 1, such as 0.9, not 1.5."),
        ("0", "--interval must be a coverage between 0 and 1"),
        ("nan", "--interval must be a coverage between 0 and 1"),
        ("wide", "'--interval'"),
    ],
)
@pytest.mark.usefixtures("fitted")
def test_a_wrong_coverage_is_one_sentence(refused, coverage, words):
    assert words in refused("predict", "model.skops", "data.csv", *OUT, "--interval", coverage)


def test_select_does_classification(refused):
    assert "select works for classification, but the target 'y' holds numbers" in refused("select", *csv(GOOD))


@pytest.mark.usefixtures("fitted")
def test_a_model_that_cannot_is_named(refused):
    sentence = refused("predict", "model.skops", "data.csv", "--proba", *OUT)
    assert sentence.startswith(
        "Error: --proba needs a classification, but model.skops predicts numbers; use --interval"
    )


def test_a_report_needs_the_training_rows(run, refused):
    csv(GOOD)
    assert run("tune", "data.csv", "--target", "y", *FIXED, "--no-report")[0] == 0
    Path("less.csv").write_text("".join(f"{line}\n" for line in GOOD.splitlines()[:-2]))
    sentence = refused("report", "model.skops", "less.csv", "-o", "out.html")
    assert (
        "less.csv: the report needs the 12 rows that the model was fitted to, but there are 10; give the file"
        in sentence
    )


def test_there_are_enough_kinds():
    assert len(FILES) >= 40
    assert len(ARGUMENTS) >= 40

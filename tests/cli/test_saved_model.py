"""The file model.skops: nothing in it is run before it is known, and other formats are refused by name."""

import json
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import skops.io
from sklearn.linear_model import RidgeClassifier

import svmpath
from svmpath.cli.saved_model import FORMAT, is_known, training_data
from tests.cli.tables import GOOD, csv, load


def test_predict_refuses_what_is_no_model(refused):
    csv(GOOD)
    with open("model.skops", "wb") as file:
        file.write(b"PK\x03\x04 no archive")
    assert "damaged or not a model" in refused("predict", "model.skops", "data.csv", "-o", "out.csv")
    skops.io.dump({"a": 1}, "model.skops")
    assert "contains no model written by svmpath tune" in refused("predict", "model.skops", "data.csv", "-o", "out.csv")
    skops.io.dump(RidgeClassifier(), "model.skops")
    assert "contains no model written by svmpath tune" in refused("predict", "model.skops", "data.csv", "-o", "out.csv")


@pytest.mark.usefixtures("fitted")
def test_predict_refuses_a_cut_model(refused):
    content = Path("model.skops").read_bytes()
    for size in (0, 100, len(content) // 2):
        with open("cut.skops", "wb") as file:
            file.write(content[:size])
        assert "damaged or not a model" in refused("predict", "cut.skops", "data.csv", "-o", "out.csv")


def test_predict_runs_nothing_foreign(refused):
    csv(GOOD)
    skops.io.dump(subprocess.Popen, "model.skops")
    sentence = refused("predict", "model.skops", "data.csv", "-o", "out.csv")
    assert "types that svmpath does not write and will not load (subprocess.Popen)" in sentence


@pytest.mark.parametrize(
    "name",
    ["os.system", "svmpath.cli.saved_model.json", "svmpath.cli.saved_model.Path", "svmpath.none.X", "svmpathy.X"],
)
def test_only_what_the_package_defines_is_ours(name):
    assert not is_known(name)
    assert is_known("svmpath.estimators.classifier.PathSVC")


def header(path="model.skops"):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("svmpath.json"))


def with_header(content):
    """Write model.skops again with another svmpath.json; None leaves it out."""
    with zipfile.ZipFile("model.skops") as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "svmpath.json"}
    with zipfile.ZipFile("model.skops", "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
        if content is not None:
            archive.writestr("svmpath.json", content)


@pytest.mark.usefixtures("fitted")
def test_a_model_says_its_format_and_version_and_is_read_by_skops():
    assert header() == {"format": FORMAT, "svmpath": svmpath.__version__}
    pipeline = load()
    assert list(pipeline.named_steps) == ["columns", "model"]
    trained = training_data(pipeline)
    assert (trained["options"]["target"], trained["options"]["impute"]) == ("y", "auto")
    plain = {"target": "y", "task": "regression", "zero_based": False, "impute": "auto", "ignored": ["y"]}
    assert {**trained, "options": None} == {**plain, "options": None}
    assert header() == {"format": FORMAT, "svmpath": svmpath.__version__}


@pytest.mark.usefixtures("fitted")
def test_a_model_of_another_format_is_refused_by_name(refused):
    for found, age in ((FORMAT + 1, "newer"), (FORMAT - 1, "older")):
        with_header(json.dumps({"format": found, "svmpath": "9.8"}))
        sentence = refused("predict", "model.skops", "data.csv", "-o", "out.csv")
        fault = (
            f"written by svmpath 9.8 in the {age} format {found}, but this version reads format {FORMAT}; tune again"
        )
        assert fault in sentence


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(("content", "sentence"), [
    (None, "contains no model written by svmpath tune"),
    ("[1]", "contains no model written by svmpath tune"),
    ("{no json", "damaged or not a model"),
    ("{}", "in the format None"),
])  # fmt: skip
def test_a_model_without_a_proper_header_is_refused(refused, content, sentence):
    with_header(content)
    assert sentence in refused("predict", "model.skops", "data.csv", "-o", "out.csv")


def test_a_model_of_a_version_before_there_were_headers_is_named_as_such(refused):
    csv(GOOD)
    skops.io.dump(SimpleNamespace(a=1), "model.skops")
    with zipfile.ZipFile("model.skops") as archive:
        schema = archive.read("schema.json").decode().replace('"types"', '"svmpath.gone"')
    with zipfile.ZipFile("model.skops", "w") as archive:
        archive.writestr("schema.json", schema)
    sentence = refused("predict", "model.skops", "data.csv", "-o", "out.csv")
    assert "model.skops: the model was written by an earlier version of svmpath; tune again." in sentence

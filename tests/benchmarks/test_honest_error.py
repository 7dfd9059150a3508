"""The benchmark of honest errors runs, goes on from its records, and its means are those of the records."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module("honest_error")


@pytest.mark.slow
def test_it_runs_on_an_embedded_set_and_goes_on_from_its_records(script, tmp_path, capsys, monkeypatch):
    file, page = tmp_path / "records.jsonl", tmp_path / "RESULTS.md"
    arguments = ["--sets", "wine", "--records", str(file), "--write", str(page)]
    script.main([*arguments, "--splits", "1"])
    record = json.loads(file.read_text())
    out = capsys.readouterr().out
    for name in ("held out", "bootstrap", "nested 10"):
        assert f"{record[name]['value'] - record['test']:+.2f}" in out
    assert [record[name]["fits"] for name in script.METHODS] == [0, 0, 0, 5, 10]
    assert out.strip() in page.read_text()
    monkeypatch.setattr(script, "measure", None)  # nothing is left to be measured
    script.main([*arguments, "--splits", "1"])
    with pytest.raises(SystemExit, match="There is no set nonsense"):
        script.main(["--sets", "nonsense"])


def test_means_over_sets_and_intervals_that_hold(script):
    def record(name, split, test, value):
        estimate = {"value": value, "interval": [value - 1, value + 1], "fits": 0, "seconds": 1.0}
        facts = {"set": name, "task": "classification", "split": split, "n": 9, "d": 2, "seconds": 2.0, "test": test}
        return facts | dict.fromkeys(script.METHODS, estimate)

    records = [record("a", 0, 10.0, 11.0), record("a", 1, 10.0, 14.0), record("b", 0, 5.0, 4.5)]
    lines = {line.split("  ")[0]: line.split() for line in script.report(records).splitlines() if line}
    assert lines["a"][-1] == "+2.50"
    assert lines["b"][-1] == "-0.50"
    assert lines["mean"][-1] == "+1.00"
    assert lines["mean of absolute values"][-1] == "1.50"
    assert lines["its standard error"][-1] == f"{np.std([2.5, -0.5], ddof=1) / np.sqrt(2):.2f}"
    assert lines["% of intervals that hold"][-1] == "67"
    assert lines["time, in fits"][-1] == "0.5"

"""The benchmark of rows in chunks runs, on settings far too small to measure anything."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def scale(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))
    module = importlib.import_module("scale")
    monkeypatch.setattr(module, "PICTURE", tmp_path / "scale.png")
    return module


def test_rows_are_the_same_however_many_there_are(scale, tmp_path):
    for n in (300, 700):
        (tmp_path / str(n)).mkdir()
        scale.write_rows(tmp_path / str(n), n)
    few, many = (np.load(tmp_path / str(n) / "X.npy") for n in (300, 700))
    assert few.shape == (300, scale.D)
    assert len(many) == 700
    assert np.array_equal(few, many[:300])
    few_labels, many_labels = (np.load(tmp_path / str(n) / "y.npy") for n in (300, 700))
    assert np.array_equal(few_labels, many_labels[:300])


@pytest.mark.slow
def test_every_part_runs(scale, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    sizes = ["--sizes", "2000", "4000", "--cluster-sizes", "2000", "--overhead-rows", "2000", "--sgd-rows", "2000"]
    scale.main([*sizes, "--rank", "20", "--Cs", "3", "--repeats", "1", "--write", str(page)])
    out = capsys.readouterr().out
    for title in ("Time and memory over n", "Processes", "Overhead", "Stochastic gradients"):
        assert title in out
    assert "memory of the process tree within 4 GiB: reached" in out
    assert "n = 2000 in 10 chunks" in out
    assert "MB per Newton step" in out
    assert "PathSVC, 3 values of C" in out
    assert out.strip() in page.read_text()
    assert (tmp_path / "scale.png").exists() == ("matplotlib" in sys.modules)

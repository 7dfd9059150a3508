"""The script that measures gradient selection runs, on settings far too small to measure anything."""

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, where it finds one file of regression data."""
    monkeypatch.syspath_prepend(str(FOLDER))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    np.savez(tmp_path / "housing.npz", X=X, y=X[:, 0], test_mask=rng.random((80, 2)) < 0.2)
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    return importlib.import_module("gradient_selection")


@pytest.mark.slow
def test_it_runs(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    sets = ["noisy", "twonorm-40", "housing"]
    script.main(["--splits", "2", "--size", "40", "--sets", *sets, "--write", str(page)])
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines() if line.split() and line.split()[0] in sets]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("twonorm-40", "squared_hinge", "20"),
        ("twonorm-40", "least_squares", "20"),
        ("noisy", "squared_hinge", "10"),
        ("noisy", "least_squares", "10"),
        ("housing", "regression", "3"),
    ]
    assert out.strip() in page.read_text()
    with pytest.raises(SystemExit, match="There is no set nonsense"):
        script.main(["--sets", "nonsense"])

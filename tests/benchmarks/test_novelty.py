"""The script about novelty runs, with and without the sets."""

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module("novelty")


def test_it_runs_without_sets(script, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "SHAPES", {name: script.SHAPES[name] for name in ("normal, d = 2",)})
    monkeypatch.setattr(script, "FRESH", 200)
    page = tmp_path / "RESULTS.md"
    script.main(["--parts", "alarms", "found", "--repeats", "1", "--sizes", "40", "--write", str(page)])
    out, _ = capsys.readouterr()
    assert "Largest distance of svmpath from 10 %" in out
    assert "The sets are not there" in out
    assert out.strip() in page.read_text()


def test_areas_of_known_novelties(script):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(30, 2)) + 8.0])
    train, test, known = np.arange(40), np.arange(40, 80), np.arange(80, 90)
    scores = script.aucs(X, train, test, np.arange(40) < 20, known)
    assert min(scores) > 0.95

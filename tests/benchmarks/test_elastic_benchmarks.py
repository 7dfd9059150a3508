"""The benchmark scripts of the elastic hinge run, on settings far too small to measure anything."""

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    return importlib.import_module


@pytest.mark.slow
def test_toy_rows_and_images(script, capsys, monkeypatch, tmp_path):
    module = script("lachaud2014_table1")
    monkeypatch.setattr(module, "LAMBDA2", (0.0, 1.0))
    monkeypatch.setattr(module, "PAPER", {(2, 100, 10): (0.14, 0.14), (3, 50, 300): (0.122, 0.125)})
    module.main(["--repeats", "1", "--size", "300"])
    out = capsys.readouterr().out
    assert sum(line.startswith("Sigma") for line in out.splitlines()) == 2
    assert "mnist69.npz is not here" in out
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 255, size=(4000, 4)), np.repeat([6, 9], 2000)
    X[:, 0] = np.clip(X[:, 0] // 2 + 100 * (y == 9), 0, 255)
    np.savez(tmp_path / "mnist69.npz", X=X.astype(np.uint8), y=y.astype(np.int8))
    monkeypatch.setattr(module, "IMAGES_LAMBDA2", (1.0,))
    rows = module.images(1)
    assert float(rows[0][1]) < 40


def test_bayes_errors_are_those_of_the_means(script):
    module = script("lachaud2014_table1")
    assert [round(module.bayes(kind), 4) for kind in (1, 2, 3)] == [0.1318, 0.1376, 0.1147]


@pytest.mark.slow
def test_peers_run(script, capsys):
    script("peers_elastic").main(["--quick"])
    out = capsys.readouterr().out
    assert "path / one QP or LP" in out
    assert sum(line.startswith(("40, 5", "20, 30", "30, 5")) for line in out.splitlines()) == 5

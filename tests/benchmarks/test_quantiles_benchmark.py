"""The benchmark of quantiles runs without a data folder, and its figures are what they say."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module("quantiles")


@pytest.mark.slow
def test_it_runs_on_generated_data(script, capsys, monkeypatch, tmp_path):
    page = tmp_path / "RESULTS.md"
    monkeypatch.setattr(script, "LEVELS", np.array([0.25, 0.75]))
    monkeypatch.setattr(script, "FEW", np.array([0.25, 0.75]))
    monkeypatch.setattr(script, "GENERATORS", (script.waves,))
    monkeypatch.setattr(script, "TRAIN", 40)
    options = ["--sizes", "40", "--splits", "1", "--interval-splits", "1", "--write", str(page)]
    parts = ["--parts", "paths", "tuned", "intervals", "--sets", "waves"]
    script.main([*options, *parts, "--methods", "shared", "three, path"])
    out = capsys.readouterr().out
    assert "No data folder" in out
    assert out.count("\nwaves ") == 7  # a path, two methods, three kinds of intervals and the true quantiles
    assert out.strip() in page.read_text()
    with pytest.raises(SystemExit, match="There is no set nonsense"):
        script.main(["--sets", "nonsense"])


def test_the_loss_is_the_mean_over_rows_and_quantiles(script):
    y, f = np.array([0.0, 1.0, 2.0]), np.linspace(-1, 2, 57).reshape(3, 19)
    expected = np.mean([mean_pinball_loss(y, f[:, k], alpha=q) for k, q in enumerate(script.LEVELS)])
    assert script.pinball(y, f[:, ::-1], script.LEVELS) == pytest.approx(expected)  # sorted


def test_the_true_quantiles_hold_the_coverage(script):
    for make in script.GENERATORS:
        X, y = make(4000, np.random.default_rng(0))
        low, high = make.ends(X, 0.8).T
        assert abs(np.mean((low <= y) & (y <= high)) - 0.8) < 0.02, make.name

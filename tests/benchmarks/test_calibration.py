"""The script that compares probabilities runs, and its scores are scikit-learn's."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module("calibration")


def test_scores_are_those_of_scikit_learn(script):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=60)
    code = rng.integers(0, 3, 60)
    loss, brier, _ = script.scores(p, code)
    assert loss == pytest.approx(log_loss(code, p))
    two = np.stack([1 - p[:, 0], p[:, 0]], axis=1)
    assert script.scores(two, (code > 0).astype(int))[1] == pytest.approx(brier_score_loss(code > 0, p[:, 0]))
    assert 0 < brier < 1
    sure = np.tile([0.75, 0.25], (8, 1))
    assert script.scores(sure, np.array([0] * 6 + [1] * 2))[2] == pytest.approx(0.0)
    assert script.scores(sure, np.array([0] * 4 + [1] * 4))[2] == pytest.approx(0.25)


@pytest.mark.slow
def test_it_runs_on_a_small_set(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    script.main(["--splits", "1", "--sets", "wine", "--write", str(page)])
    out, err = capsys.readouterr()
    assert "No data folder" in err
    assert out.count("\nwine ") == 4  # three scores, and times
    assert out.strip() in page.read_text()

"""The benchmark of intervals and sets runs without a data folder, and its figures are what they say."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, where it finds neither a data folder nor MAPIE."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    monkeypatch.setitem(sys.modules, "mapie", None)
    return importlib.import_module("intervals")


@pytest.mark.slow
def test_it_runs_on_generated_data(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    script.main(["--splits", "1", "--rows", "40", "--sets", "noisy", "wine", "--write", str(page)])
    out = capsys.readouterr().out
    assert "No data folder" in out
    assert "MAPIE: missing (pip install mapie); no comparison." in out
    for name in ("noisy", "wine"):
        assert out.count(f"\n{name} ") == 2  # both methods
    assert out.strip() in page.read_text()
    with pytest.raises(SystemExit, match="There is no set nonsense"):
        script.main(["--sets", "nonsense"])


def test_coverage_width_and_size_by_hand(script):
    ends = np.array([[0.0, 1.0], [0.0, 3.0], [2.0, 4.0]])
    assert script.of_intervals(ends, np.array([1.0, 3.5, 3.0])) == pytest.approx((2 / 3, 2.0))
    is_in = np.array([[True, True], [False, True], [False, False]])
    assert script.of_sets(is_in, np.array([0, 0, 1])) == pytest.approx((1 / 3, 1.0))


def test_the_mean_is_compared_with_what_was_asked_for(script):
    def facts(shift):
        return {m: {level: [(level + shift, 1.0)] * 2 for level in script.LEVELS} for m in ("jackknife+", "CV+")}

    assert "0.0 points from nominal on the average (reached" in script.overview(
        {"one": ("10 2", facts(0.05)), "two": ("10 2", facts(-0.05))}, "width"
    )
    assert "5.0 points from nominal on the average (MISSED" in script.overview({"one": ("10 2", facts(0.05))}, "width")

"""The script that compares ways of choosing runs, and nobody beats the oracle on its own grid."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from svmpath import PathSVC
from svmpath.datasets import twonorm

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, where it finds no data folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path / "nothing"))
    return importlib.import_module("selection_quality")


@pytest.mark.slow
def test_it_runs_on_generated_data(script, capsys, tmp_path):
    page = tmp_path / "RESULTS.md"
    script.main(["--splits", "1", "--sizes", "40", "--gammas", "2", "--Cs", "4", "--write", str(page)])
    out = capsys.readouterr().out
    for name in ("ringnorm-40", "twonorm-40", "waveform-40"):
        assert out.count(f"\n{name} ") == 2  # its errors, its times
    assert out.strip() in page.read_text()
    with pytest.raises(SystemExit, match="There is no set nonsense"):
        script.main(["--sets", "nonsense"])


def test_it_runs_on_files_and_takes_at_most_so_many_rows(script, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 300)
    X = rng.normal(size=(600, 2)) + y[:, None]
    np.savez(tmp_path / "heart.npz", X=X, y=y, train_gen=np.sort([rng.permutation(600)[:450]]))
    monkeypatch.setenv("SVMPATH_DATA", str(tmp_path))
    found = script.sources([100, 400])
    assert list(found) == [
        "heart",
        *(f"{name}-{n}" for n in (100, 400) for name in ("ringnorm", "twonorm", "waveform")),
    ]
    ((X_train, y_train, X_test, _),) = found["heart"].splits(3)
    assert X_train.shape == (400, 2)
    assert set(y_train) == {-1.0, 1.0}
    assert len(X_test) == 150


def test_the_surface_is_that_of_single_machines_and_the_oracle_is_never_beaten_on_it(script):
    (X, y), (X_test, y_test) = twonorm(60, 0), twonorm(300, 1)
    gammas, values = np.array([0.01, 0.1]), np.geomspace(0.01, 100.0, 4)
    grid = script.surface((X, y, X_test, y_test), gammas, values)
    model = PathSVC(gamma=0.1, C=float(values[2])).fit(X, y)
    assert grid[1, 2] == pytest.approx(100.0 * np.mean(model.predict(X_test) != y_test))
    found = script.run((X, y, X_test, y_test), 0, np.array([0.2, 2.0]), values)
    assert all(found.errors[name] >= found.oracle for name in script.METHODS)
    assert found.ties >= 1


@pytest.mark.slow
def test_default_times_run(script, capsys):
    importlib.import_module("default_times").main(["--sets", "iris", "--rows", "120", "--rank", "20"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("iris ")]
    assert [line[3] for line in lines] == ["PathSVC()", "PathSVC(rank=20)", 'PathSVC(loss="least_squares")']
    assert lines[2][-1] == "120"  # least squares rests on every sample

"""Every test of the command line runs in a fresh folder."""

import functools
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import skops.io
import typer

from svmpath.cli import main
from tests.cli.tables import FIXED, GOOD, csv


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test runs in a fresh folder, with a space in its name."""
    path = tmp_path / "a folder"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture(autouse=True)
def no_nested_fits(monkeypatch):
    """The tuning is not repeated ten times in every test; those of the honest error say so."""
    monkeypatch.setattr("svmpath.cli.honest._FEW", 0)
    monkeypatch.setattr("svmpath.cli.honest._VERY_FEW", 0)


@pytest.fixture(scope="session", autouse=True)
def what_every_run_repeats():
    """A process builds the options of all commands once, not hundreds of times; and models need not be indented."""
    compact = SimpleNamespace(**vars(json) | {"dumps": lambda state, indent=None: json.dumps(state)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        patch.setattr(skops.io._persist, "json", compact)
        yield


@pytest.fixture
def run(capsys):
    """Run the command line; gives exit code, stdout and stderr."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return caught.value.code, out, err

    return run


@pytest.fixture
def tune(run):
    """Run ``svmpath tune``, which must succeed; gives stdout, stderr and the summary. No report unless asked for."""

    def tune(*arguments):
        how = () if "--report" in arguments else ("--no-report",)
        code, out, err = run("tune", *arguments, *how)
        assert code == 0, err
        return out, err, json.loads(Path("summary.json").read_text(encoding="utf-8"))

    return tune


@pytest.fixture
def refused(run):
    """Run the command line, which must refuse in one sentence and leave the folder as it was."""

    def refused(*arguments):
        before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
        code, out, err = run(*arguments)
        assert code == 2, err
        assert out == ""
        lines = err.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("Error: ")
        assert lines[0].endswith((".", "?"))
        assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before
        return lines[0]

    return refused


@pytest.fixture(scope="session")
def tuned_before():
    """By arguments and data: the files that a run of tune has written."""
    return {}


@pytest.fixture
def tune_once(tune, tuned_before):
    """Run ``svmpath tune`` on data.csv; where a test before has done the same, put its files here."""

    def tune_once(*arguments):
        key = (*arguments, Path("data.csv").read_bytes())
        if key not in tuned_before:
            tune(*arguments)
            tuned_before[key] = {path.name: path.read_bytes() for path in Path().iterdir()}
        for name, content in tuned_before[key].items():
            Path(name).write_bytes(content)

    return tune_once


@pytest.fixture
def fitted(tune_once):
    """A model of the columns a (numbers) and b (words) in model.skops."""
    tune_once(*csv(GOOD), *FIXED)

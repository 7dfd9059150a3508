"""The program itself: help, version, ``python -m svmpath``."""

import subprocess
import sys
from pathlib import Path

import pytest

import svmpath
from tests.cli.tables import FIXED, GOOD, csv


def test_help(run):
    for arguments in (["--help"], ["tune", "--help"], ["predict", "--help"]):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        assert "Usage: svmpath" in out
    assert run("--version") == (0, f"svmpath {svmpath.__version__}\n", "")


def test_a_package_that_is_not_installed_is_named_in_one_sentence(run, monkeypatch):
    csv(GOOD)
    monkeypatch.setitem(sys.modules, "tomli_w", None)  # as after an update that needs one more
    code, out, err = run("tune", "data.csv", "--target", "y", *FIXED)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("Error: svmpath needs the package 'tomli_w', which is not installed; ")
    assert not Path("model.skops").exists()


@pytest.mark.slow
def test_python_m_svmpath():
    csv(GOOD)
    command = [sys.executable, "-m", "svmpath"]
    done = subprocess.run([*command, "tune", "data.csv", "--target", "y", *FIXED], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "no better than a constant prediction" in done.stderr
    assert "Held-out error" in done.stdout
    done = subprocess.run([*command, "tune", "none.csv"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1

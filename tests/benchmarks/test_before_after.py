"""The comparison of two source trees: what is measured is the tree that was named."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("before_after")


def tree(folder, text):
    """A source tree whose package runs some text when it is imported."""
    (folder / "svmpath").mkdir(parents=True)
    (folder / "svmpath" / "__init__.py").write_text(f"__all__ = []\n{text}\n")
    return folder


def run(module, monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["before_after.py", *map(str, options)])
    module.main()


@pytest.mark.slow
def test_each_tree_is_measured_by_itself(module, monkeypatch, capsys, tmp_path):
    fast = tree(tmp_path / "fast", "")
    slow = tree(tmp_path / "slow", "sum(range(10_000_000))")
    run(module, monkeypatch, fast, slow, "--repeats", 1, "--cases", "import svmpath")
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert row[:2] == ["import", "svmpath"]
    assert float(row[4]) > 10  # the ratio of a sum of millions to nothing


def test_a_tree_that_fails_is_named_with_its_message(module, monkeypatch, tmp_path):
    good, broken = tree(tmp_path / "good", ""), tree(tmp_path / "broken", "raise RuntimeError('out of order')")
    with pytest.raises(SystemExit, match=r"(?s)broken failed:.*out of order"):
        run(module, monkeypatch, good, broken, "--repeats", 1, "--cases", "import svmpath")


def test_a_folder_without_the_package_is_refused(module, monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match="There is no package svmpath"):
        run(module, monkeypatch, tmp_path, ROOT / "src")


def test_unknown_cases_are_answered_with_the_known(module, monkeypatch):
    with pytest.raises(SystemExit, match="there are: hinge path, n = 200"):
        run(module, monkeypatch, ROOT / "src", ROOT / "src", "--cases", "nothing")


@pytest.mark.slow
def test_every_case_runs(module, monkeypatch, capsys):
    monkeypatch.setattr(module, "LEAST_SECONDS", 0.0)
    module.child("case", list(module.CASES))
    out = capsys.readouterr().out
    assert all(f'"{name}": [' in out for name in module.CASES)

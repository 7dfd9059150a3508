"""Whoever has to wait for the compiler gets a message, once; nobody else does."""

import subprocess
import sys
from pathlib import Path

import pytest

from svmpath.solvers import compiling

SOURCE = """
from svmpath.solvers import compiling
from svmpath.solvers.loops.decorators import entry

@entry
def double(x):
    return 2 * x

compiling.announce(double, "the doubling engine", {seconds})
double(1)
compiling.announce(double, "the doubling engine", {seconds})
compiling.announce(double, "another name of it", {seconds})
"""


def use(folder, seconds=9.6):
    """What a new process says when it uses a compiled function of a file."""
    source = Path(folder, "engine.py")
    if not source.exists():
        source.write_text(SOURCE.format(seconds=seconds))
    child = subprocess.run(
        [sys.executable, "-c", "import engine"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert child.returncode == 0, child.stderr
    assert child.stdout == ""
    return child.stderr


@pytest.mark.slow
def test_the_first_use_is_announced_once_and_the_next_process_finds_it_on_disk(tmp_path):
    assert use(tmp_path) == "svmpath: compiling the doubling engine, once: about 10 s\n"
    assert use(tmp_path) == ""
    source = tmp_path / "engine.py"
    source.write_text(source.read_text().replace("2 * x", "x + x + 0"))  # compiled again after a change
    assert use(tmp_path) == "svmpath: compiling the doubling engine, once: about 10 s\n"


@pytest.mark.slow
def test_short_waits_are_not_announced(tmp_path):
    assert use(tmp_path, seconds=2.0) == ""


class Strange:
    """A dispatcher of a version of numba that nobody has seen."""

    signatures = ()

    @property
    def _cache(self):
        raise RuntimeError("moved")


@pytest.mark.parametrize("dispatcher", [Strange(), abs, None])
def test_what_cannot_be_asked_is_not_announced(dispatcher, capsys):
    compiling.announce(dispatcher, f"the engine of {dispatcher!r}", 100.0)
    assert capsys.readouterr() == ("", "")

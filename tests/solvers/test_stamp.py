"""An edit in any file of a folder of compiled loops is seen by the cache of numba."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from svmpath.solvers import loops
from svmpath.solvers.keeping import Kept
from svmpath.solvers.loops.stamp import STAMP, digest

FOLDER = Path(loops.__file__).parent

PARTS = """
from tiny.decorators import inner

@inner
def change(x):
    for i in range(len(x)):
        x[i] += 1.0
"""

# The same loop twice: "plain" is how numba is commonly used, "stamped" is made as stamp.py says.
ENTRY = """
import numpy as np
from tiny.decorators import entry
from tiny.parts import change
from tiny.stamp import STAMP

@entry
def plain(x):
    change(x)

def _make_stamped(stamp):
    @entry
    def stamped(x):
        _ = stamp  # belongs to the key of numba's cache
        change(x)

    return stamped

stamped = _make_stamped(STAMP)

def call(function):
    x = np.zeros(1)
    function(x)
    return x[0]
"""

USE = """
from tiny import entry
from svmpath.solvers.compiling import is_compiled
for function in (entry.plain, entry.stamped):
    print(is_compiled(function), end=" ")
    print(entry.call(function), sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()))
"""


def use(folder):
    """For each of the two: whether it was on disk, its value, how often it was loaded, how often compiled."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    child = subprocess.run(
        [sys.executable, "-c", USE], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert child.returncode == 0, child.stderr
    return [line.split() for line in child.stdout.splitlines()]


@pytest.mark.slow
def test_an_edit_in_another_file_is_seen_by_what_is_stamped(tmp_path):
    tiny = tmp_path / "tiny"
    tiny.mkdir()
    (tiny / "__init__.py").touch()
    for name in ("stamp.py", "decorators.py"):
        shutil.copy(FOLDER / name, tiny)
    (tiny / "parts.py").write_text(PARTS)
    (tiny / "entry.py").write_text(ENTRY)
    assert use(tmp_path) == [["False", "1.0", "0", "1"]] * 2
    assert use(tmp_path) == [["True", "1.0", "1", "0"]] * 2
    (tiny / "parts.py").write_text(PARTS.replace("+= 1.0", "+= 2.0"))
    plain, stamped = use(tmp_path)
    assert plain == ["True", "1.0", "1", "0"]  # out of date: this is why there is a stamp
    assert stamped == ["False", "2.0", "0", "1"]
    assert use(tmp_path)[1] == ["True", "2.0", "1", "0"]


def test_the_digest_changes_with_text_and_name(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    first = digest(tmp_path)
    assert digest(tmp_path) == first
    (tmp_path / "notes.txt").write_text("not code\n")
    assert digest(tmp_path) == first
    (tmp_path / "a.py").write_text("x = 2\n")
    assert digest(tmp_path) != first
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    (tmp_path / "b.py").write_text("x = 1\n")
    assert digest(tmp_path) != first


def test_the_stamp_is_that_of_this_folder():
    assert digest(FOLDER) == STAMP


def cached_dispatchers():
    """What numba keeps on disk, of all modules of the folder."""
    for path in sorted(FOLDER.glob("*.py")):
        module = importlib.import_module(f"{loops.__name__}.{path.stem}" if path.stem != "__init__" else loops.__name__)
        for name, value in vars(module).items():
            is_own = isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
            if is_own and isinstance(value._cache, Kept):
                yield f"{path.stem}.{name}", value


def test_everything_that_is_kept_on_disk_is_stamped():
    found = dict(cached_dispatchers())
    assert {"hermite.first_zero", "box_walk.follow", "box_removal.leave_out"} <= set(found)
    for name, dispatcher in found.items():
        cells = dispatcher.py_func.__closure__ or ()
        assert STAMP in [cell.cell_contents for cell in cells], f"{name} is not made with STAMP: see stamp.py"

"""An edit in any file of a folder of compiled loops is seen by the cache of numba."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from svmpath.solvers import keeping, loops
from svmpath.solvers.keeping import Kept, digest

FOLDER = Path(loops.__file__).parent

PARTS = """
from tiny.decorators import inner

@inner
def change(x):
    for i in range(len(x)):
        x[i] += 1.0
"""

ENTRY = """
import numpy as np
from tiny.decorators import entry
from tiny.parts import change

@entry
def step(x):
    change(x)
"""

USE = """
import numpy as np
from tiny.entry import step
from svmpath.solvers.compiling import is_compiled
print(is_compiled(step), end=" ")
x = np.zeros(1)
step(x)
print(x[0], sum(step.stats.cache_hits.values()), sum(step.stats.cache_misses.values()))
"""


def use(folder):
    """Whether the loop was on disk, its value, how often it was loaded, how often compiled."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    child = subprocess.run(
        [sys.executable, "-c", USE], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.split()


@pytest.mark.slow
def test_an_edit_in_another_file_is_seen(tmp_path):
    tiny = tmp_path / "tiny"
    tiny.mkdir()
    (tiny / "__init__.py").touch()
    shutil.copy(FOLDER / "decorators.py", tiny)
    (tiny / "parts.py").write_text(PARTS)
    (tiny / "entry.py").write_text(ENTRY)
    assert use(tmp_path) == ["False", "1.0", "0", "1"]
    assert use(tmp_path) == ["True", "1.0", "1", "0"]
    (tiny / "parts.py").write_text(PARTS.replace("+= 1.0", "+= 2.0"))
    assert use(tmp_path) == ["False", "2.0", "0", "1"]
    assert use(tmp_path) == ["True", "2.0", "1", "0"]


def test_the_digest_changes_with_text_and_name(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    digest = keeping.digest.__wrapped__  # which is asked once per process and folder
    first = digest(tmp_path)
    assert digest(tmp_path) == first
    (tmp_path / "notes.txt").write_text("not code\n")
    assert digest(tmp_path) == first
    (tmp_path / "a.py").write_text("x = 2\n")
    assert digest(tmp_path) != first
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    (tmp_path / "b.py").write_text("x = 1\n")
    assert digest(tmp_path) != first


def cached_dispatchers():
    """What numba keeps on disk, of all modules of the folder."""
    for path in sorted(FOLDER.glob("*.py")):
        module = importlib.import_module(f"{loops.__name__}.{path.stem}" if path.stem != "__init__" else loops.__name__)
        for name, value in vars(module).items():
            is_own = isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
            if is_own and isinstance(value._cache, Kept):
                yield f"{path.stem}.{name}", value


def test_what_python_calls_is_kept_on_disk_with_the_stamp_of_the_folder():
    kept = dict(cached_dispatchers())
    expected = {"hermite.first_zero", "box_walk.follow", "box_removal.leave_out", "elastic_walk.run"}
    assert expected | {"elastic_removal.leave_out", "elastic_removal.settle"} <= set(kept)
    for dispatcher in kept.values():
        assert {folder._cache_file._source_stamp for folder in dispatcher._cache._folders} == {digest(FOLDER)}

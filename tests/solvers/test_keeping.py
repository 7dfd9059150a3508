"""Compiled code on disk: whatever is wrong with its folder, the numbers are right and nothing is raised."""

import errno
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile

import svmpath
from svmpath.solvers import keeping
from svmpath.solvers.compiling import is_compiled
from svmpath.solvers.loops.decorators import entry
from tests.speed import first_quick, slow_except


def make(stamp=0):
    """A small loop, as a new process would find it: not compiled, unless it is on disk."""

    @entry
    def add_up(x):
        _ = stamp
        total = x[0] * 0
        for i in range(len(x)):
            total += x[i]
        return total

    return add_up


def use(dtype=float, stamp=0):
    """Use the loop like a new process: whether it was on disk, how often it was loaded, and how often compiled."""
    loop = make(stamp)
    was_there = is_compiled(loop)
    assert loop(np.array([1.5, 2.0, 3.0]).astype(dtype)) == (6.5 if dtype is float else 6)
    return was_there, sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values())


LOADED, COMPILED = (True, 1, 0), (False, 0, 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """NUMBA_CACHE_DIR, and no other folder in which code may be kept."""
    only = CompileResultCacheImpl._locator_classes[:1]
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", only)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(folder, ending):
    found = sorted(folder.rglob(f"*.{ending}"))
    assert found
    return found


def test_code_is_found_again(folder):
    assert not folder.exists()  # nothing is written where a loop is only declared
    make()
    assert not folder.exists()
    assert use() == COMPILED
    assert use() == LOADED
    assert use(stamp=1) == COMPILED
    assert not list(folder.rglob("*.tmp*"))


def cut(data):
    return data[: len(data) // 2]


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]


DAMAGES = {
    "cut": cut,
    "empty": lambda data: b"",
    "garbage": lambda data: b"garbage" * 1000,
    "zeros": lambda data: bytes(len(data)),
    "one byte": flip,
}


@pytest.mark.parametrize("damage", slow_except(DAMAGES, ["cut", "one byte"]))
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_files_are_not_used_and_are_replaced(folder, ending, damage):
    use()
    [file] = files(folder, ending)
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert use() == COMPILED
    assert use() == LOADED


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_missing_files_are_made_again(folder, ending):
    use()
    files(folder, ending)[0].unlink()
    assert use() == COMPILED
    assert use() == LOADED


def test_another_version_of_numba_does_not_use_it(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(numba, "__version__", "0.1")
        use()
        assert use() == LOADED
        [theirs] = [file.read_bytes() for file in files(folder, "nbc")]
    assert use() == COMPILED
    assert use() == LOADED
    files(folder, "nbc")[0].write_bytes(theirs)  # two versions that write at the same time
    assert use() == COMPILED


def test_another_processor_does_not_use_it(folder, monkeypatch):
    use()
    with monkeypatch.context() as patch:
        patch.setattr(numba.config, "CPU_NAME", "another")
        assert not is_compiled(make())
    assert is_compiled(make())


def test_code_of_another_signature_is_not_used(folder):
    """Two processes that begin with an empty index may give their files the same name."""
    use(float)
    use(int)
    first, second = files(folder, "nbc")
    shutil.copy(first, second)
    assert use(float) == LOADED
    assert use(int)[1:] == (0, 1)
    assert use(int) == LOADED


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_full_disk_costs_the_cache_only(folder, monkeypatch, ending):
    use()
    before = [file.read_bytes() for file in files(folder, "nbc")]
    write = IndexDataCacheFile._open_for_write

    @contextmanager
    def full(self, path):
        if path.endswith(ending):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        with write(self, path) as file:
            yield file

    with monkeypatch.context() as patch:
        patch.setattr(IndexDataCacheFile, "_open_for_write", full)
        # As after an edit: the index begins anew, with the same names of files.
        patch.setattr(keeping, "digest", lambda folder: 1)
        assert use() == COMPILED
        assert use() == COMPILED
        assert [file.read_bytes() for file in files(folder, "nbc")] == before
    assert not list(folder.rglob("*.tmp*"))
    assert use() == (LOADED if ending == "nbi" else COMPILED)
    assert use() == LOADED


@first_quick(1)
@pytest.mark.parametrize("place", ["a file", "a file/below", "a file/below/deeper"])
def test_a_folder_that_cannot_be_made(folder, tmp_path, monkeypatch, place):
    (tmp_path / "a file").write_text("in the way")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / place))
    loop = make()
    assert not loop._cache.can_save()
    for numbers in ([1.0, 2.0], [3.0]):
        assert loop(np.array(numbers)) == sum(numbers)
    assert sum(loop.stats.cache_misses.values()) == 1  # once per process
    assert use() == COMPILED


def test_no_folder_at_all(folder, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert make()._cache.folders == []
    assert make().stats.cache_path is None
    assert use() == COMPILED


def test_an_unknown_home_is_not_a_folder_of_that_name(folder, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "~")
    assert make()._cache.folders == []


def test_the_next_folder_is_taken_where_one_cannot_be_used(folder, tmp_path, monkeypatch):
    first, second = (CompileResultCacheImpl._locator_classes[0] for _ in range(2))
    other = type("Other", (second,), {"get_cache_path": lambda self: str(tmp_path / "other")})
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [first, other])
    folder.write_text("in the way")
    assert use() == COMPILED
    assert files(tmp_path / "other", "nbc")
    assert use() == LOADED
    folder.unlink()
    assert use() == COMPILED  # a folder that can be written to is the one: it may have been given for this reason
    assert files(folder, "nbc")


def test_an_installer_that_empties_the_folder_beside_the_source(folder, tmp_path, monkeypatch):
    given = CompileResultCacheImpl._locator_classes[0]
    places = [tmp_path / "package" / "__pycache__", tmp_path / "home"]
    beside, user = (type("Other", (given,), {"get_cache_path": lambda self, at=place: str(at)}) for place in places)
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [beside, user])
    for stamp, place in enumerate(places):  # either is enough
        assert use(stamp=stamp) == COMPILED
        assert files(place, "nbc")
        shutil.rmtree(place)
        assert use(stamp=stamp) == LOADED


# A new process: what a loop of a module is, and where it can be kept.
MODULE = """
import sys
import numpy as np
from svmpath.solvers.compiling import announce
from svmpath.solvers.loops.decorators import entry

@entry
def add_up(x):
    total = x[0] * 0
    for i in range(len(x)):
        total += x[i]
    return total
"""
ONCE = "announce(add_up, 'the adder', 9.6); print(add_up(np.ones(3)), sum(add_up.stats.cache_misses.values()))"
NO_HOME = "/dev/null/home"  # below a file: not even root can make it
WITHOUT_A_FOLDER = (
    "svmpath: compiling the adder, about 10 s; it cannot be kept: "
    "set NUMBA_CACHE_DIR to a folder that you can write to\n"
)
WITH_ONE = "svmpath: compiling the adder, once: about 10 s\n"


@pytest.fixture
def module(tmp_path):
    source = tmp_path / "package" / "adder.py"
    source.parent.mkdir()
    source.write_text(MODULE)
    return source.parent


def start(folder, code, *, prefix=(), **variables):
    """Python in another process, with the module of a folder, without a home."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    return subprocess.Popen(
        [*prefix, sys.executable, "-B", "-c", f"from adder import *\n{code}"],
        env={**environment, "HOME": NO_HOME, **variables}, cwd=folder, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(child, said=""):
    with child:
        out, err = child.communicate(said, timeout=300)
    assert child.returncode == 0, err
    return out, err


def as_told_by_permissions():
    """What to put before a command so that permissions hold for it: root gives up its right to ignore them."""
    if os.geteuid() != 0:
        return ()
    prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    if shutil.which("setpriv") is None or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("root writes to read-only folders, and setpriv cannot take that right away here")
    return prefix


@pytest.mark.slow
def test_two_processes_at_once(module, tmp_path):
    order = (
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for dtype in ({}): print(add_up(np.array([1, 2, 3]).astype(dtype)))"
    )
    cache = str(tmp_path / "cache")
    children = [start(module, order.format(types), NUMBA_CACHE_DIR=cache) for types in ("float, int", "int, float")]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:  # both are at the gate
        child.stdin.write("go\n")
        child.stdin.flush()
    for child, expected in zip(children, ("6.0\n6\n", "6\n6.0\n"), strict=True):
        assert finish(child) == (expected, "")
    assert finish(start(module, order.format("int, float"), NUMBA_CACHE_DIR=cache), "go\n") == ("ready\n6\n6.0\n", "")


@pytest.mark.slow
def test_a_read_only_folder_without_a_home(module):
    prefix = as_told_by_permissions()
    with made_read_only(module):
        for _ in range(2):
            assert finish(start(module, ONCE, prefix=prefix)) == ("3.0 1\n", WITHOUT_A_FOLDER)


@pytest.mark.slow
def test_a_folder_of_somebody_else_that_was_filled_before(module, tmp_path):
    prefix, cache = as_told_by_permissions(), tmp_path / "cache"
    with made_read_only(module):
        assert finish(start(module, ONCE, NUMBA_CACHE_DIR=str(cache), prefix=prefix)) == ("3.0 1\n", WITH_ONE)
        if os.geteuid() == 0:
            for path in [cache, *cache.rglob("*")]:
                os.chown(path, 65534, 65534)
        with made_read_only(cache):
            assert finish(start(module, ONCE, NUMBA_CACHE_DIR=str(cache), prefix=prefix)) == ("3.0 0\n", "")
        cache.chmod(0o000)  # not even to be read
        assert finish(start(module, ONCE, NUMBA_CACHE_DIR=str(cache), prefix=prefix)) == ("3.0 1\n", WITHOUT_A_FOLDER)
        cache.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_files_that_may_not_become_as_long_as_needed(module, tmp_path):
    """As on a full disk, the index can be written and the code cannot."""
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
    for _ in range(2):
        cache = tmp_path / "cache"
        assert finish(start(module, limit + ONCE, NUMBA_CACHE_DIR=str(cache))) == ("3.0 1\n", WITHOUT_A_FOLDER)
        assert [path.suffix for path in files(cache, "*") if path.is_file()] == [".nbi"]


@pytest.mark.slow
def test_a_generic_processor_has_its_own_code(module, tmp_path):
    for expected in ("3.0 1\n", "3.0 0\n"):
        for variables in ({}, {"NUMBA_CPU_NAME": "generic"}):
            child = start(module, ONCE, NUMBA_CACHE_DIR=str(tmp_path / "cache"), **variables)
            assert finish(child)[0] == expected


# The package as a container has it: its folder cannot be written to, and there is no home.
FIT = """
import numpy as np
from svmpath import PathSVC
X = np.random.default_rng(0).normal(size=(40, 3))
model = PathSVC(loss="hinge", gamma=0.5).fit(X, X[:, 0] + X[:, 1] ** 2 > 0.5)
print(repr(float(model.C_)), np.round(model.decision_function(X), 6).tolist())
"""


@pytest.mark.slow
def test_the_package_in_a_read_only_folder(module, tmp_path, capsys):
    exec(FIT, {})
    expected = capsys.readouterr().out
    cache, variables = tmp_path / "cache", {"prefix": as_told_by_permissions(), "PYTHONPATH": str(module)}
    package = shutil.copytree(Path(svmpath.__file__).parent, module / "svmpath", ignore=shutil.ignore_patterns("*.nb?"))
    compile_now = "from svmpath.cli import main; main(['compile', 'path', 'loo'])"
    with made_read_only(module):
        with start(module, compile_now, **variables) as child:
            out, err = child.communicate(timeout=300)
        assert (child.returncode, out) == (2, "")
        assert f"(tried {package}" in err
        assert err.endswith("set NUMBA_CACHE_DIR to one that can.\n")

        numbers, err = finish(start(module, FIT, **variables))
        assert numbers == expected
        assert [line.partition(", ")[0] for line in err.splitlines()] == [
            "svmpath: compiling the path engine", "svmpath: compiling leave-one-out",
        ]  # fmt: skip
        assert err.count("; it cannot be kept: set NUMBA_CACHE_DIR to a folder that you can write to\n") == 2

        variables["NUMBA_CACHE_DIR"] = str(cache)
        out, _ = finish(start(module, compile_now, **variables))
        assert [line.split(":")[0] for line in out.splitlines()] == ["The path engine", "Leave-one-out"]
        with made_read_only(cache):
            assert finish(start(module, FIT, **variables)) == (expected, "")


@contextmanager
def made_read_only(folder):
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for each in folders:
        each.chmod(0o555)
    yield
    for each in folders:
        each.chmod(0o755)

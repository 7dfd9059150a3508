"""``svmpath compile``."""

import subprocess
import sys

import pytest

from svmpath.solvers.keeping import Kept
from svmpath.solvers.loops.box_walk import follow


def test_compile_says_what_it_did(run):
    for _ in range(2):  # at the second time at the latest everything is there
        code, out, err = run("compile")
        assert code == 0, err
    assert out == (
        "The path engine: already compiled\n"
        "Leave-one-out: already compiled\n"
        "The engine of the elastic net: already compiled\n"
        "Paths over the kernel: already compiled\n"
    )


def test_one_engine_is_compiled_alone(run):
    assert run("compile", "kernel")[1].startswith("Paths over the kernel: ")
    code, _, err = run("compile", "elastc")
    assert code == 2
    assert "Did you mean 'elastic'?" in err


def test_without_a_folder_to_keep_it_in_compile_fails_at_once(run, monkeypatch):
    monkeypatch.setattr(Kept, "holds", lambda self, codegen: False)
    monkeypatch.setattr(Kept, "can_save", lambda self: False)
    code, out, err = run("compile", "path")
    assert (code, out) == (2, "")
    tried = " or ".join(follow._cache.folders)
    assert err == (
        f"Error: compiled code cannot be kept: no folder can be written to and has room (tried {tried}); "
        "set NUMBA_CACHE_DIR to one that can.\n"
    )


def test_compile_fails_where_the_disk_becomes_full(run, monkeypatch):
    monkeypatch.setattr(Kept, "holds", lambda self, codegen: False)
    code, out, err = run("compile", "kernel")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("Error: compiled code cannot be kept: ")


# Every kind of path and held-out error that runs in compiled code, in a process of its own: what is compiled is looked
# at by signature, since a function for other types of arguments would be compiled again.
COVERED = """
import sys
import numpy as np
from svmpath import PathSVC, criteria, trace, trace_elastic
from svmpath.cli.compile import _engines

def signatures():
    found = {}
    for module in [module for name, module in sys.modules.items() if name.startswith("svmpath.solvers")]:
        for value in vars(module).values():
            if hasattr(value, "signatures") and hasattr(value, "py_func"):
                found[value.py_func.__qualname__] = set(value.signatures)
    return found

for _, _, work in _engines().values():
    work()
before = signatures()
rng = np.random.default_rng(1)
X, S = rng.normal(size=(30, 4)), rng.random(30)
y, z = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1, -1), X[:, 0] + 0.1 * rng.normal(size=30)
tube = {"loss": "epsilon_insensitive", "task": "regression"}
for labels, options in [
    (y, {"loss": "hinge", "sample_weight": S}), (y, {"loss": "hinge", "rank": 10}), (y, {"loss": "nu", "over": "nu"}),
    (z, tube), (z, {**tube, "over": "epsilon", "C": 1.0}),
]:
    path = trace(X, labels, random_state=0, **options)
    values = np.geomspace(*path.span, 3) if min(path.span) > 0 else np.linspace(*path.span, 3)[1:2]
    path.decisions(values)
    criteria.loo(path, values[1:2])
for labels, options in [(y, {"loss": "hinge"}), (y, {"loss": "squared_hinge", "breakpoints": "exact"}), (z, tube)]:
    trace(X, labels, over="gamma", span=(0.1, 1.0), **options)(0.5)
for options in [{}, {"over": "lambda2", "lambda1": 1.0}, {"penalty_factor": [1.0, 1.0, 0.0, 2.0]}]:
    path = trace_elastic(X, y, sample_weight=S, **options)
    criteria.kfold(path, [path.span[0] * 0.5])
after = signatures()
assert before, "nothing was compiled"
print({name: after[name] - before.get(name, set()) for name in after if after[name] - before.get(name, set())})
"""


@pytest.mark.slow
def test_compile_leaves_nothing_to_compile():
    done = subprocess.run([sys.executable, "-c", COVERED], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{}\n"

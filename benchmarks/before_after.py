"""The speed of two source trees, side by side in one run.

    git worktree add ../svmpath-before <commit>
    python benchmarks/before_after.py ../svmpath-before/src src
    python benchmarks/before_after.py ../svmpath-before/src src --repeats 9 --cases 'hinge*' surface
    python benchmarks/before_after.py ../svmpath-before/src src --compile
    git worktree remove ../svmpath-before

Every round starts a process for each tree, old and new in turn, with one BLAS thread. A process makes every call once
without a clock, so that compiled code is loaded, then times it some times. The table has the least CPU seconds of all
rounds, which other work on the machine disturbs least, their ratio new / old, and the least wall seconds.

With ``--compile`` the time to compile is measured instead: each entry point by its first call in a process of its own,
with an empty NUMBA_CACHE_DIR, less its second call.

Compare a tree with itself to see how much of a ratio is noise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

# Nothing else is imported here: a process that measures the import of svmpath must not have loaded its dependencies.

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LEAST_CALLS, LEAST_SECONDS = 3, 0.4  # of a case in one process: calls that are timed, and CPU seconds they take in all


@dataclass(frozen=True)
class Seconds:
    """Of the processor, and of the clock on the wall."""

    cpu: float
    wall: float


def clock(function: Callable[[], Any]) -> Seconds:
    """How long a call takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return Seconds(time.process_time() - cpu, time.perf_counter() - wall)


def least(times: Sequence[Seconds]) -> Seconds:
    """The least of several, each clock for itself."""
    return Seconds(min(each.cpu for each in times), min(each.wall for each in times))


# --- cases -----------------------------------------------------------------------------------------------------------
# Each makes the call to be timed, anew for every time: what a path has computed once it keeps.


def _moons(n: int) -> tuple[Any, Any]:
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.3, random_state=0)


def _hinge_path(n: int) -> Callable[[], Any]:
    import svmpath

    X, y = _moons(n)
    return lambda: svmpath.trace(X, y, loss="hinge", gamma=2.0, span=(1e-3, 1e3))


def _loo(n: int) -> Callable[[], Any]:
    import numpy as np

    from svmpath import criteria

    path, values = _hinge_path(n)(), np.geomspace(1e-2, 1e2, 9)
    return lambda: criteria.loo(path, values).scores


def _kernel_path(n: int) -> Callable[[], Any]:
    import svmpath

    X, y = _moons(n)
    return lambda: svmpath.trace(X, y, loss="hinge", over="gamma", span=(0.1, 10.0), C=1.0)


def _surface(n: int) -> Callable[[], Any]:
    import svmpath

    X, y = _moons(n)
    return lambda: svmpath.surface(X, y, loss="hinge", C=(1e-2, 1e2), gamma=(0.25, 8.0))


def _elastic_path(n: int, p: int) -> Callable[[], Any]:
    import numpy as np

    import svmpath

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = np.where(X[:, :5].sum(axis=1) + rng.normal(size=n) > 0, 1, -1)
    if hasattr(svmpath, "trace_elastic"):
        return lambda: svmpath.trace_elastic(X, y, over="lambda1", lambda2=1.0)
    return lambda: svmpath.trace(X, y, loss="elastic_hinge", over="lambda1", lambda2=1.0)


def _selection(n: int, **options: Any) -> Callable[[], Any]:
    import svmpath

    X, y = _moons(n)
    return lambda: svmpath.PathSVC(**options).fit(X, y)


def _regression(n: int) -> Callable[[], Any]:
    from sklearn.datasets import make_friedman1

    import svmpath

    X, y = make_friedman1(n, random_state=0)
    return lambda: svmpath.PathSVR().fit(X, y)


def _several_classes(n: int) -> Callable[[], Any]:
    from sklearn.datasets import make_blobs

    import svmpath

    X, y = make_blobs(n, centers=5, cluster_std=2.0, random_state=0)
    return lambda: svmpath.PathSVC().fit(X, y)


def _elastic_selection(n: int, criterion: str) -> Callable[[], Any]:
    from sklearn.datasets import load_iris

    import svmpath

    X, y = load_iris(return_X_y=True)
    X, y = ((X - X.mean(axis=0)) / X.std(axis=0))[:: len(y) // n], y[:: len(y) // n]
    return lambda: svmpath.ElasticNetSVC(criterion=criterion).fit(X, y)


def _landmarks(n: int, d: int, rank: int) -> Callable[[], Any]:
    import numpy as np

    from svmpath.gram import Nystroem
    from svmpath.kernels import RBF

    X = np.random.default_rng(0).normal(size=(n, d))

    def choose() -> list[Any]:
        build = Nystroem(rank).prepare(X, 0)
        return [build(RBF(gamma)) for gamma in np.geomspace(0.02, 2.0, 13) / d]

    return choose


def _span(n: int, loss: str) -> Callable[[], Any]:
    import numpy as np

    import svmpath
    from svmpath import criteria

    X, y = _moons(n)
    values = np.geomspace(1e-2, 1e2, 9)
    criterion = criteria.kfold if loss == "huber_hinge" else criteria.span
    return lambda: criterion(svmpath.trace(X, y, loss=loss, gamma=2.0, span=(1e-2, 1e2)), values).scores


CASES: dict[str, Callable[[], Callable[[], Any]]] = {
    "hinge path, n = 200": lambda: _hinge_path(200),
    "hinge path, n = 1000": lambda: _hinge_path(1000),
    "leave-one-out of a hinge path, n = 300": lambda: _loo(300),
    "hinge path over gamma, n = 100": lambda: _kernel_path(100),
    "surface of a hinge, n = 200": lambda: _surface(200),
    "elastic path, 500 x 50": lambda: _elastic_path(500, 50),
    "ElasticNetSVC(criterion='loo'), n = 30, 3 classes": lambda: _elastic_selection(30, "loo"),
    "ElasticNetSVC(criterion='kfold'), n = 30, 3 classes": lambda: _elastic_selection(30, "kfold"),
    "landmarks of 13 gammas, 400 x 20, rank 100": lambda: _landmarks(400, 20, 100),
    "landmarks of 13 gammas, 400 x 8, rank 200": lambda: _landmarks(400, 8, 200),
    "PathSVC(loss='least_squares'), n = 400": lambda: _selection(400, loss="least_squares"),
    "PathSVC(), n = 500": lambda: _selection(500),
    "PathSVC(), n = 3000": lambda: _selection(3000),
    "PathSVC(), n = 400, 5 classes": lambda: _several_classes(400),
    "PathSVC(loss='hinge'), n = 300": lambda: _selection(300, loss="hinge"),
    "PathSVR(), n = 500": lambda: _regression(500),
    "squared hinge: path and span, n = 500": lambda: _span(500, "squared_hinge"),
    "huberised hinge: path and k-fold, n = 300": lambda: _span(300, "huber_hinge"),
}
COMPILED: dict[str, Callable[[], Callable[[], Any]]] = {
    "hinge path": lambda: _hinge_path(30),
    "hinge path and leave-one-out": lambda: lambda: _loo(30)(),  # the path is traced under the clock, too
    "hinge path over gamma": lambda: _kernel_path(30),
    "elastic path": lambda: _elastic_path(40, 5),
}


def _import_package() -> None:
    import svmpath  # noqa: F401


def _import_all() -> None:
    import svmpath

    for name in svmpath.__all__:
        getattr(svmpath, name)


IMPORTS: dict[str, Callable[[], None]] = {
    "import svmpath": _import_package,
    "import svmpath, and all that it exports": _import_all,
}


# --- the process that measures ---------------------------------------------------------------------------------------


def measure_case(name: str) -> Seconds:
    """The least of some calls, after one that does not count."""
    CASES[name]()()
    times: list[Seconds] = []
    while len(times) < LEAST_CALLS or sum(each.cpu for each in times) < LEAST_SECONDS:
        times.append(clock(CASES[name]()))
    return least(times)


def measure_compiling(name: str) -> Seconds:
    """The first call less the second."""
    first, second = (clock(COMPILED[name]()) for _ in range(2))
    return Seconds(first.cpu - second.cpu, first.wall - second.wall)


def measure_import(name: str) -> Seconds:
    return clock(IMPORTS[name])


MEASURES = {"case": measure_case, "compile": measure_compiling, "import": measure_import}


def child(kind: str, names: Sequence[str]) -> None:
    """Measure, and print the seconds as JSON."""
    found = {name: MEASURES[kind](name) for name in names}
    import svmpath

    times = {name: [seconds.cpu, seconds.wall] for name, seconds in found.items()}
    print(json.dumps({"file": svmpath.__file__, "times": times}))


# --- the process that compares ---------------------------------------------------------------------------------------


def start(tree: Path, kind: str, names: Sequence[str]) -> dict[str, Seconds]:
    """The seconds of a tree, from a process of its own."""
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": str(tree)}
    with tempfile.TemporaryDirectory() as empty:
        if kind == "compile":
            environment["NUMBA_CACHE_DIR"] = empty
        command = [sys.executable, __file__, "--child", kind, *names]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tree} failed:\n{done.stderr}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if not Path(answer["file"]).resolve().is_relative_to(tree):
        raise SystemExit(f"{tree} was to be measured, but svmpath was imported from {answer['file']}.")
    return {name: Seconds(*pair) for name, pair in answer["times"].items()}


def compare(trees: Sequence[Path], kind: str, names: Sequence[str], repeats: int) -> dict[str, list[Seconds]]:
    """For each name the least seconds of each tree; the trees take turns, and who begins does, too."""
    times: dict[str, list[list[Seconds]]] = {name: [[] for _ in trees] for name in names}
    groups = [list(names)] if kind == "case" else [[name] for name in names]  # what is loaded once needs new processes
    for turn in range(repeats):
        for group in groups:
            for k in (0, 1) if turn % 2 == 0 else (1, 0):
                for name, seconds in start(trees[k], kind, group).items():
                    times[name][k].append(seconds)
        print(f"round {turn + 1} of {repeats} ({kind})", file=sys.stderr, flush=True)
    return {name: [least(each) for each in pair] for name, pair in times.items()}


def table(times: dict[str, list[Seconds]]) -> str:
    """Least seconds of old and new, and their ratios."""
    width = max(len(name) for name in times)
    head = f"{'':{width}}  {'CPU old':>9}  {'CPU new':>9}  {'ratio':>6}  {'wall old':>9}  {'wall new':>9}  {'ratio':>6}"
    lines = [head, "-" * len(head)]
    for name, (old, new) in times.items():
        cpu, wall = (f"{a:9.4f}  {b:9.4f}  {b / a:6.2f}" for a, b in ((old.cpu, new.cpu), (old.wall, new.wall)))
        lines.append(f"{name:{width}}  {cpu}  {wall}")
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD_SRC", help="the folder that holds the package svmpath, before")
    parser.add_argument("new", type=Path, metavar="NEW_SRC", help="the same after the change")
    parser.add_argument("--repeats", type=int, default=5, help="processes per tree (default 5)")
    parser.add_argument("--cases", nargs="+", default=["*"], metavar="NAME", help="only these, with wildcards")
    parser.add_argument("--compile", action="store_true", help="measure the time to compile instead")
    options = parser.parse_args()
    trees = [tree.resolve() for tree in (options.old, options.new)]
    for tree in trees:
        if not (tree / "svmpath" / "__init__.py").is_file():
            raise SystemExit(f"There is no package svmpath in {tree}: give the src folder of a source tree.")
    kinds = {"compile": COMPILED} if options.compile else {"case": CASES, "import": IMPORTS}
    times: dict[str, list[Seconds]] = {}
    for kind, known in kinds.items():
        names = [name for name in known if any(fnmatch(name, pattern) for pattern in options.cases)]
        if names:
            times |= compare(trees, kind, names, options.repeats)
    if not times:
        everything = "; ".join(name for known in kinds.values() for name in known)
        raise SystemExit(f"No case is called {' or '.join(options.cases)}; there are: {everything}.")
    print(table(times))


if __name__ == "__main__":
    main()

"""``svmpath compile``: have numba compile every engine now, so that no later path has to wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from svmpath.cli.console import Outcome
from svmpath.cli.live import Live
from svmpath.exceptions import DataError
from svmpath.solvers.compiling import count_compiled, unkept

if TYPE_CHECKING:
    from svmpath.cli.options import Given


def compile_engines(given: Given) -> Outcome:
    """Compile the engines now, so that the first path need not wait for it; the result is kept on disk."""
    facts: list[dict[str, Any]] = []
    with Live("Loading", is_hidden=given.quiet, kept="what is compiled is kept") as live:
        known = live.run(_engines)
        for name in given.engine or known:
            what, module, work = known[name]
            live.stage(f"Compiling {what[:1].lower()}{what[1:]}")
            compiled, seconds = live.run(partial(_compile, module, work))
            facts.append({"engine": name, "what": what, "compiled": compiled, "seconds": seconds})
            if not given.json and not given.quiet:
                print(f"{what}: " + (f"compiled in {seconds:.1f} s" if compiled else "already compiled"), flush=True)
    return {"engines": facts}, lambda: None


def _compile(module: str, work: Callable[[], Any]) -> tuple[bool, float]:
    """Whether an engine had to be compiled, and the seconds that it took.

    Loading numba belongs to it: Ctrl-C in the middle of that can come out as any other error.
    """
    loops = import_module(module)
    start, before = time.perf_counter(), count_compiled(loops)
    _refuse([cache for cache in unkept(loops) if not cache.can_save()])  # before anybody waits for nothing
    work()
    _refuse(unkept(loops))  # the disk may be full by now
    return count_compiled(loops) > before, time.perf_counter() - start


def _refuse(caches: list[Any]) -> None:
    if caches:
        tried = " or ".join(caches[0].folders)
        raise DataError(
            f"compiled code cannot be kept: no folder can be written to and has room (tried {tried or 'none'}); "
            "set NUMBA_CACHE_DIR to one that can"
        )


def _engines() -> dict[str, tuple[str, str, Callable[[], Any]]]:
    """For each engine what it is, the module that is compiled, and a small problem that makes use of all of it."""
    import numpy as np

    from svmpath import criteria, trace, trace_elastic

    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=24) > 0, 1, -1)

    def follow(**options: Any) -> Any:
        return trace(X, y, **options)

    def features() -> None:
        path = trace_elastic(X, y)
        for criterion in (criteria.loo, criteria.kfold):
            criterion(path, path.span[0] * np.array([0.5, 0.1]))

    loops = "svmpath.solvers.loops"
    return {
        "path": ("The path engine", f"{loops}.box_walk", lambda: follow(loss="hinge")(1.0)),
        "loo": ("Leave-one-out", f"{loops}.box_removal", lambda: criteria.loo(follow(loss="hinge"), [0.1, 1.0])),
        "elastic": ("The engine of the elastic net", f"{loops}.elastic_walk", features),
        "kernel": ("Paths over the kernel", f"{loops}.hermite", lambda: follow(loss="hinge", over="gamma")(1.0)),
    }

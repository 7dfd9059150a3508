"""``svmpath compile``: have numba compile every engine now, so that no later path has to wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from svmpath.cli.console import user_errors
from svmpath.solvers.compiling import count_compiled


def compile_engines() -> None:
    """Compile the engines now, so that the first path need not wait for it; the result is kept on disk."""
    with user_errors():
        for what, module, work in _engines():
            start, before = time.perf_counter(), count_compiled(import_module(module))
            work()
            seconds, done = time.perf_counter() - start, count_compiled(import_module(module)) > before
            print(f"{what}: {f'compiled in {seconds:.1f} s' if done else 'already compiled'}", flush=True)


def _engines() -> list[tuple[str, str, Callable[[], Any]]]:
    """The name of each engine, the module that is compiled, and a small problem that makes use of all of it."""
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

    return [
        ("The path engine", "svmpath.solvers.loops.box_walk", lambda: follow(loss="hinge")(1.0)),
        ("Leave-one-out", "svmpath.solvers.loops.box_removal", lambda: criteria.loo(follow(loss="hinge"), [0.1, 1.0])),
        ("The engine of the elastic net", "svmpath.solvers.loops.elastic_walk", features),
        ("Paths over the kernel", "svmpath.solvers.loops.hermite", lambda: follow(loss="hinge", over="gamma")(1.0)),
    ]

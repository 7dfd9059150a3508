"""``svmpath compile``: have numba compile every engine now, so that no later path has to wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from svmpath.cli.console import user_errors
from svmpath.exceptions import DataError
from svmpath.names import unknown_name
from svmpath.solvers.compiling import count_compiled


def compile_engines(
    engines: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ENGINE]...", help="path, loo, elastic or kernel; all of them if none is given."),
    ] = None,
) -> None:
    """Compile the engines now, so that the first path need not wait for it; the result is kept on disk."""
    with user_errors():
        known = _engines()
        for name in engines or known:
            if name not in known:
                raise DataError(unknown_name("ENGINE", name, known))
        for what, module, work in (known[name] for name in engines or known):
            start, before = time.perf_counter(), count_compiled(import_module(module))
            work()
            seconds, done = time.perf_counter() - start, count_compiled(import_module(module)) > before
            print(f"{what}: {f'compiled in {seconds:.1f} s' if done else 'already compiled'}", flush=True)


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

    def leave_out() -> None:
        criteria.loo(follow(loss="hinge"), [0.1, 1.0])

    loops = "svmpath.solvers.loops"
    return {
        "path": ("The path engine", f"{loops}.box_walk", lambda: follow(loss="hinge")(1.0)),
        "loo": ("Leave-one-out", f"{loops}.box_removal", leave_out),
        "elastic": ("The engine of the elastic net", f"{loops}.elastic_walk", features),
        "kernel": ("Paths over the kernel", f"{loops}.hermite", lambda: follow(loss="hinge", over="gamma")(1.0)),
    }

"""``svmpath compile``: have numba compile every engine now, so that no later path has to wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer

from svmpath.cli.console import show_facts, user_errors
from svmpath.cli.live import Live
from svmpath.cli.run_options import JsonOption, QuietOption
from svmpath.exceptions import DataError
from svmpath.names import unknown_name
from svmpath.solvers.compiling import count_compiled, unkept


def compile_engines(
    engines: Annotated[
        list[str] | None,
        typer.Argument(metavar="ENGINE", help="path, loo, elastic or kernel; all of them if none is given."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compile the engines now, so that the first path need not wait for it; the result is kept on disk."""
    with user_errors(quiet):
        facts: list[dict[str, Any]] = []
        with Live("Loading", is_hidden=quiet, kept="what is compiled is kept") as live:
            known = live.run(_engines)
            for name in engines or known:
                if name not in known:
                    raise DataError(unknown_name("ENGINE", name, known))
            for name in engines or known:
                what, module, work = known[name]
                live.stage(f"Compiling {what[:1].lower()}{what[1:]}")
                compiled, seconds = live.run(partial(_compile, module, work))
                facts.append({"engine": name, "what": what, "compiled": compiled, "seconds": seconds})
                if not as_json and not quiet:
                    print(_sentence(facts[-1]), flush=True)
    show_facts({"engines": facts}, lambda: None, as_json=as_json, quiet=quiet)


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


def _sentence(engine: dict[str, Any]) -> str:
    return f"{engine['what']}: " + (
        f"compiled in {engine['seconds']:.1f} s" if engine["compiled"] else "already compiled"
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

    def leave_out() -> None:
        criteria.loo(follow(loss="hinge"), [0.1, 1.0])

    loops = "svmpath.solvers.loops"
    return {
        "path": ("The path engine", f"{loops}.box_walk", lambda: follow(loss="hinge")(1.0)),
        "loo": ("Leave-one-out", f"{loops}.box_removal", leave_out),
        "elastic": ("The engine of the elastic net", f"{loops}.elastic_walk", features),
        "kernel": ("Paths over the kernel", f"{loops}.hermite", lambda: follow(loss="hinge", over="gamma")(1.0)),
    }

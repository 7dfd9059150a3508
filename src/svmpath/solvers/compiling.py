"""A message before something is compiled that takes a while.

What numba has compiled is kept on disk (see ``solvers.keeping``), beside the package and in the user's cache directory.
Only the first use after an installation, or on another processor, has to wait; one line on stderr then says so. Where
there is no folder to keep it in, each process has to wait, and the line says what to do about it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

_LONG = 2.0  # seconds; shorter waits are not announced
_announced: set[str] = set()


def announce(dispatcher: Any, what: str, seconds: float) -> None:
    """Say once per process that ``what`` is about to be compiled, if it is and takes a while.

    Parameters
    ----------
    dispatcher : numba.core.dispatcher.Dispatcher
        The compiled function that is called next.
    what : str
        The name of the engine: "the path engine".
    seconds : float
        How long it takes, about.
    """
    if seconds <= _LONG or what in _announced:
        return
    _announced.add(what)
    if not is_compiled(dispatcher):
        when = "once: " if dispatcher._cache.can_save() else ""
        remedy = "" if when else "; it cannot be kept: set NUMBA_CACHE_DIR to a folder that you can write to"
        print(f"svmpath: compiling {what}, {when}about {seconds:.0f} s{remedy}", file=sys.stderr, flush=True)


def is_compiled(dispatcher: Any) -> bool:
    """Whether a function was compiled in this process or is on disk for this processor; True if that is not known."""
    try:
        return bool(dispatcher.signatures) or dispatcher._cache.holds(dispatcher.targetctx.codegen())
    except Exception:  # no numba, compiling switched off, or another version of numba
        return True


def count_compiled(module: Any) -> int:
    """How many functions of a module had to be compiled in this process because they were not on disk."""
    return sum(sum(dispatcher.stats.cache_misses.values()) for dispatcher in _kept_in(module))


def unkept(module: Any) -> list[Any]:
    """The caches (``keeping.Kept``) of those functions of a module that are not on disk for this processor."""
    return [each._cache for each in _kept_in(module) if not each._cache.holds(each.targetctx.codegen())]


def _kept_in(module: Any) -> Iterator[Any]:
    """The functions of a module that numba compiles and that are to be kept on disk."""
    for value in vars(module).values():
        if hasattr(getattr(value, "_cache", None), "holds"):
            yield value

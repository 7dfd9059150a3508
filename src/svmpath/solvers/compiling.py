"""A message before something is compiled that takes a while.

numba keeps what it has compiled on disk, beside the package or in the user's cache directory. Only the first use after
an installation, or on another processor, has to wait; one line on stderr then says so.
"""

from __future__ import annotations

import sys
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
        print(f"svmpath: compiling {what}, once: about {seconds:.0f} s", file=sys.stderr, flush=True)


def is_compiled(dispatcher: Any) -> bool:
    """Whether a function was compiled in this process or is on disk for this processor; True if that is not known."""
    try:
        if dispatcher.signatures:
            return True
        # numba offers no public way to ask: an index by (signature, processor, code), empty if the source has changed.
        cache = dispatcher._cache
        wanted = cache._index_key(None, dispatcher.targetctx.codegen())
        return any(key[1:] == wanted[1:] for key in cache._cache_file._load_index())
    except Exception:  # no numba, compiling switched off, no cache, or another version of numba
        return True


def count_compiled(module: Any) -> int:
    """How many functions of a module had to be compiled in this process because they were not on disk."""
    found = 0
    for value in vars(module).values():
        misses = getattr(getattr(value, "stats", None), "cache_misses", {})
        found += sum(misses.values())
    return found

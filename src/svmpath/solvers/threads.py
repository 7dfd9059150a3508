"""How many BLAS threads a matrix is worth."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

from threadpoolctl import ThreadpoolController

_SMALL = 1_000_000  # matrices of fewer entries were measured to be no faster with two BLAS threads than with one


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through the loaded libraries, which takes a millisecond: once


def one_thread_if_small(entries: int) -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread if matrices of so many entries do not repay more."""
    return one_thread() if entries < _SMALL else nullcontext()


def one_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread, for work that is itself done side by side."""
    return _controller().limit(limits=1, user_api="blas")

"""How many BLAS threads a matrix is worth."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

from threadpoolctl import ThreadpoolController

_SMALL = 1000  # below this order two BLAS threads were measured to be no faster than one


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through the loaded libraries, which takes a millisecond: once


def one_thread_if_small(order: int) -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread if matrices of this order do not repay more."""
    return _controller().limit(limits=1, user_api="blas") if order < _SMALL else nullcontext()


def one_thread() -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread, for work that is itself done side by side."""
    return _controller().limit(limits=1, user_api="blas")

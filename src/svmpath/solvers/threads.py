"""How many BLAS threads a matrix is worth."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_SMALL = 1_000_000  # matrices of fewer entries were measured to be no faster with two BLAS threads than with one


class _OneThread(AbstractContextManager[None]):
    """While anybody is inside, BLAS uses one thread.

    The limit belongs to the process: the first to come in sets it and the last to go out lifts it, so that callers in
    several threads do not restore each other's numbers.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._controller: ThreadpoolController | None = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                # Looking through the loaded libraries takes a millisecond: once.
                self._controller = self._controller or ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()


def one_thread() -> AbstractContextManager[None]:
    """A context in which BLAS uses one thread, for work that is itself done side by side."""
    return _ONE_THREAD


def one_thread_if_small(entries: int) -> AbstractContextManager[None]:
    """A context in which BLAS uses one thread if matrices of so many entries do not repay more."""
    return _ONE_THREAD if entries < _SMALL else nullcontext()

"""How many threads BLAS may use.

One, unless the user asks for more by ``n_jobs=k``. On a computer that is busy with other work, two BLAS threads that
wait for each other take ten times as long as one, and on an idle one they gain at most a factor of 1.6. With
``n_jobs=k`` there are k kernels side by side with one BLAS thread each; where only one kernel is left to work on, large
matrices get k. ``n_jobs=None`` is one, or what ``joblib.parallel_config(n_jobs=k)`` says, which is the only switch of
functions without an ``n_jobs`` of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, get_ident
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from svmpath.interrupts import checkpoint

# Matrices of fewer entries take a second at most: two BLAS threads save a third of it, and lose ten on a busy machine.
_LARGE = 4_000_000

_requested: ContextVar[int | None] = ContextVar("svmpath_n_jobs", default=None)


class _Limit:
    """The number of BLAS threads, which belongs to the whole process: the least that any thread inside has set last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside: dict[int, list[list[int]]] = {}  # by thread, the numbers set, the innermost last
        self._number = 0
        self._controller: ThreadpoolController | None = None
        self._original: Any = None

    @contextmanager
    def at(self, number: int) -> Iterator[None]:
        """While inside, this thread sets this number; also if Ctrl-C comes before the number is set."""
        entry = [number]
        try:
            with self._lock:
                self._inside.setdefault(get_ident(), []).append(entry)
                self._apply()
            yield
        finally:
            with self._lock:
                others = [each for each in self._inside.pop(get_ident(), []) if each is not entry]
                if others:
                    self._inside[get_ident()] = others
                self._apply()

    def _apply(self) -> None:
        number = min((entries[-1][0] for entries in self._inside.values()), default=0)
        if number == self._number:
            return
        if self._number == 0:
            # Looking through the loaded libraries takes a millisecond: once.
            self._controller = self._controller or ThreadpoolController()
            self._original = self._controller.limit(limits=number, user_api="blas")
        elif number == 0:
            self._original.restore_original_limits()
        else:
            assert self._controller is not None
            self._controller.limit(limits=number, user_api="blas")
        self._number = number


_LIMIT = _Limit()


def count_jobs(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` stands for, as in scikit-learn."""
    if n_jobs == 0:
        raise ValueError("n_jobs must be None, a number of threads, or negative to count from all cores; got 0.")
    return int(effective_n_jobs(n_jobs))


@contextmanager
def jobs(n_jobs: int | None) -> Iterator[None]:
    """While inside, this thread may have so many BLAS threads for its large matrices, and has one for the others."""
    token = _requested.set(count_jobs(n_jobs))
    try:
        with _LIMIT.at(1):
            yield
    finally:
        _requested.reset(token)


@contextmanager
def blas_threads(entries: int) -> Iterator[None]:
    """Inside this context, BLAS uses one thread, or the requested number if matrices have enough entries to profit.

    It begins with a checkpoint, so that work whose results are no longer needed is not started.
    """
    checkpoint()
    number = 1
    if entries >= _LARGE:
        requested = _requested.get()
        number = count_jobs(None) if requested is None else requested
    with _LIMIT.at(number):
        yield

"""Work in threads that Ctrl-C ends at once.

Python reports Ctrl-C to the main thread alone, and only between two of its own steps: a main thread that waits for
others to end, or that is inside one long call of LAPACK, does not hear of it. Here work is done in daemon threads while
the main thread waits for a short time again and again. When it is interrupted it raises at once and does not wait for
the workers. A flag stops them, which belongs to the call that started them, and leave at their next
``checkpoint()``; what they have found by then is lost.

The work must let other threads run: compiled loops without the GIL, ``numpy.linalg`` and products of arrays do; the
functions of ``scipy.linalg`` do not, and are no faster side by side than one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAIT = 0.05  # seconds; how often the waiting thread looks up
_SHORT = 500_000  # entries; a decomposition of fewer takes a fraction of a second
_NAME = "svmpath worker"
_worker = threading.local()  # .call: the call that a worker works for


class Cancelled(BaseException):
    """Ends a worker whose results are no longer needed; never leaves the worker."""


class _Call:
    """The results of one call of ``in_threads``, and whether they are still needed.

    Workers tell of each result by a queue, whose ``get`` is one step of C: Ctrl-C within a ``Condition``, which is
    Python, can find its lock neither held nor free.
    """

    def __init__(self, size: int) -> None:
        self.results: list[Any] = [None] * size
        self.error: BaseException | None = None
        self.is_cancelled = False
        self._told: SimpleQueue[None] = SimpleQueue()

    def put(self, position: int, result: Any) -> None:
        self.results[position] = result
        self._told.put(None)

    def fail(self, error: BaseException) -> None:
        self.error = self.error or error
        self.is_cancelled = True
        self._told.put(None)

    def wait(self) -> None:
        """Until all is done or something failed, looking up often enough to be interrupted."""
        remaining = len(self.results)
        while self.error is None and remaining:
            checkpoint()  # the waiting thread may be a worker of another call
            with suppress(Empty):
                self._told.get(timeout=_WAIT)
                remaining -= 1


def checkpoint() -> None:
    """End the work of this thread if its results are no longer needed; engines call it when they return to Python."""
    call = getattr(_worker, "call", None)
    if call is not None and call.is_cancelled:
        raise Cancelled


def workers_left() -> bool:
    """Whether threads of a call that was interrupted are still on their way to a checkpoint."""
    return any(thread.name == _NAME for thread in threading.enumerate())


def interruptible(function: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
    """``function(*arguments, **options)``, for one call that may take more than a second inside BLAS or LAPACK.

    The main thread waits for another one that does the work, unless the arrays given are small. Any other thread does
    the work itself: it cannot be interrupted, but the thread that waits for it can stop waiting.
    """
    sizes = [each.size for each in arguments if isinstance(each, np.ndarray)]
    is_short = bool(sizes) and sum(sizes) < _SHORT
    if is_short or threading.current_thread() is not threading.main_thread():
        return function(*arguments, **options)
    return in_threads(lambda call: call(), [lambda: function(*arguments, **options)], 1)[0]


def in_threads(function: Callable[[Item], Result], items: list[Item], threads: int) -> list[Result]:
    """The results of a function on each item, in order, from so many threads.

    On an error, or when the calling thread is interrupted, it raises at once without waiting for the threads.
    """
    call, turns = _Call(len(items)), count()

    def work() -> None:
        _worker.call = call
        try:
            while (turn := next(turns)) < len(items):
                checkpoint()
                call.put(turn, function(items[turn]))
        except Cancelled:
            pass
        except BaseException as error:
            call.fail(error)

    try:
        for _ in range(threads):
            # numpy's errstate is part of the context, which a new thread does not have by itself.
            threading.Thread(target=copy_context().run, args=(work,), name=_NAME, daemon=True).start()
        call.wait()
    except BaseException:
        call.is_cancelled = True
        raise
    if call.error is not None:
        raise call.error
    return call.results

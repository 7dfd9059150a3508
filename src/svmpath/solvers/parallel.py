"""Many pieces of work side by side, in threads that Ctrl-C ends at once (``svmpath.interrupts``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from svmpath.interrupts import checkpoint, in_threads, interruptible
from svmpath.solvers.threads import jobs

__all__ = ["checkpoint", "interruptible", "side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int) -> list[Result]:
    """The results of a function on each item, in order, from at most ``n_jobs`` threads with one BLAS thread each.

    A plain loop where one thread is enough. On an error, or when the calling thread is interrupted, it raises at once
    without waiting for the threads, which leave at their next ``checkpoint()``.
    """
    items = list(items)
    threads = min(n_jobs, len(items))
    if threads <= 1:
        return [function(item) for item in items]

    def alone(item: Item) -> Result:
        with jobs(1):
            return function(item)

    return in_threads(alone, items, threads)

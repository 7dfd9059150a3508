"""How far a fit has come, for whoever watches it.

Work that lasts reports its stage, what it does now and the best that was found so far. Nothing is passed on from call
to call for this: a watcher is part of the context, which worker threads inherit, and where nobody watches, a report
costs next to nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Lock


@dataclass(frozen=True)
class Progress:
    """How far a piece of work has come.

    Attributes
    ----------
    stage : str
        What the work is at, such as ``"screen"``.
    doing : str
        What is computed now, such as ``"gamma = 0.1"``; empty if that is not known.
    done : int
        How many parts of the stage are done.
    total : int or None
        How many parts there are, at most; None if that is not known.
    best : str
        The best that was found so far, such as ``"gamma = 0.1, C = 2, score 0.04"``; empty at first.
    finished : tuple of str
        The stages that are over, each in a few words.
    """

    stage: str = ""
    doing: str = ""
    done: int = 0
    total: int | None = None
    best: str = ""
    finished: tuple[str, ...] = ()


class _Watch:
    """The last record, and who is told of the next."""

    def __init__(self, call: Callable[[Progress], object]) -> None:
        self._call, self._lock, self.last = call, Lock(), Progress()

    def change(self, change: Callable[[Progress], Progress]) -> None:
        with self._lock:
            self.last = change(self.last)
            self._call(self.last)


_watch: ContextVar[_Watch | None] = ContextVar("svmpath progress", default=None)


def watched(call: Callable[[Progress], object]) -> AbstractContextManager[None]:
    """Have a function called with a :class:`Progress` whenever work inside the block comes on.

    Parameters
    ----------
    call : callable
        ``call(progress)``; it is called from worker threads, too, but never twice at a time.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> from svmpath.datasets import banana
    >>> from svmpath.progress import watched
    >>> seen = []
    >>> with watched(seen.append):
    ...     model = PathSVC(random_state=0).fit(*banana(60, random_state=0))
    >>> list(dict.fromkeys(progress.stage for progress in seen))
    ['screen', 'confirm']
    >>> seen[-1].best.startswith("gamma = "), len(seen[-1].finished)
    (True, 2)
    """
    return _watching(_Watch(call))


@contextmanager
def announced(every: float = 3.0) -> Iterator[None]:
    """Have a line printed to standard error, every few seconds, while work inside the block lasts; none if it is short.

    Where somebody watches already, nothing is printed.

    Examples
    --------
    >>> import sys
    >>> from svmpath.progress import announced, begin, part_done
    >>> sys.stderr, kept = sys.stdout, sys.stderr
    >>> with announced(every=0.0):
    ...     begin("nested cross-validation", 10); part_done()
    svmpath: nested cross-validation: 1 of 10
    >>> sys.stderr = kept
    """
    if _watch.get() is not None:
        yield
        return
    last = time.monotonic()

    def tell(progress: Progress) -> None:
        nonlocal last
        if progress.total and 0 < progress.done < progress.total and time.monotonic() - last >= every:
            last = time.monotonic()
            print(f"svmpath: {progress.stage}: {progress.done} of {progress.total}", file=sys.stderr)

    with watched(tell):
        yield


def unwatched() -> AbstractContextManager[None]:
    """Report nothing from inside the block: of work that is one part of a stage."""
    return _watching(None)


@contextmanager
def _watching(watch: _Watch | None) -> Iterator[None]:
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def begin(stage: str, total: int | None = None) -> None:
    """Report that a stage has begun, and of how many parts it consists."""
    _report(lambda last: replace(last, stage=stage, doing="", done=0, total=total))


def doing(text: str) -> None:
    """Report what is computed now."""
    _report(lambda last: replace(last, doing=text))


def part_done() -> None:
    """Report that one part of the stage is done; where there are more of them than expected, so be it."""

    def one_more(last: Progress) -> Progress:
        done = last.done + 1
        return replace(last, done=done, total=last.total if last.total is None else max(last.total, done))

    _report(one_more)


def best_so_far(text: str) -> None:
    """Report the best that was found so far."""
    _report(lambda last: replace(last, best=text))


def finish(what: str) -> None:
    """Report that a stage is over, in a few words."""
    _report(lambda last: replace(last, finished=(*last.finished, what)))


def _report(change: Callable[[Progress], Progress]) -> None:
    watch = _watch.get()
    if watch is not None:
        watch.change(change)

"""Work that lasts: the live display of its progress, and how Ctrl-C ends it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from rich.console import Console, RenderableType
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.text import Text

from svmpath.cli.console import Interrupted
from svmpath.interrupts import interruptible
from svmpath.progress import Progress, watched

Result = TypeVar("Result")

_DELAY = 1.0  # seconds; what is done by then needs no display
_LATE = 3.0  # seconds of a stage after which the remaining time is worth a guess


class Live:
    """What a command is at, on the terminal; nothing where standard error is no terminal.

    Two lines: the stage with a bar, the time that has passed and the time that remains of the stage; and what is
    computed now, with the best so far. They are shown after a second, and go away at the end.

    Parameters
    ----------
    description : str
        The first piece of work, as ``"Reading data.csv"``.
    delay : float, optional
        Seconds after which the display appears; one if not given.
    is_hidden : bool
        Whether there is to be no display at all.
    kept : str
        What remains after Ctrl-C, the end of the sentence that says so.
    """

    def __init__(
        self,
        description: str,
        delay: float | None = None,
        is_hidden: bool = False,
        kept: str = "nothing was written",
    ) -> None:
        console = Console(stderr=True)
        self._bars = _TwoLines(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[parts]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[remaining]}", markup=False),
            console=console,
            transient=True,
        )
        self._task = self._bars.add_task(description, total=None, parts="", remaining="")
        self._lock = threading.Lock()
        self._description, self._kept = description, kept
        self._start = self._stage_start = time.monotonic()
        self._finished: list[str] = []
        self._reported: tuple[str, ...] = ()
        self._stage = ""
        self._over = is_hidden or not console.is_terminal
        # A timer, because the first report of the estimator may come late.
        self._timer = threading.Timer(_DELAY if delay is None else delay, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Live:
        if not self._over:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, place: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bars.live.is_started:  # stopping a display that was never shown would print an empty line
                self._bars.stop()
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(self.interrupted()) from None

    def run(self, work: Callable[[], Result]) -> Result:
        """The result of some work, which reports here while the main thread listens for Ctrl-C.

        It must not write files: it is not given the time to remove what is half-written.
        """
        with watched(self):
            return interruptible(work)

    def stage(self, description: str) -> None:
        """Begin another piece of work."""
        self._finished.append(_inside_sentence(self._description))
        self._description, self._stage = description, ""
        self._stage_start = time.monotonic()
        self._bars.second = ""
        self._bars.update(self._task, description=description, total=None, completed=0, parts="", remaining="")

    def __call__(self, progress: Progress) -> None:
        """Take a report."""
        if progress.finished != self._reported:
            self._reported = progress.finished
            self._finished.extend(progress.finished[-1:])
        if progress.stage != self._stage:
            self._stage, self._stage_start = progress.stage, time.monotonic()
        best = f"best so far: {progress.best}" if progress.best else ""
        self._bars.second = " · ".join(part for part in (progress.doing, best) if part)
        self._bars.update(
            self._task,
            description=f"{self._description}: {progress.stage}",
            completed=progress.done,
            total=progress.total,
            parts=f"{progress.done}/{progress.total}" if progress.total else "",
            remaining=remaining_time(time.monotonic() - self._stage_start, progress.done, progress.total),
        )

    def interrupted(self) -> str:
        """What Ctrl-C left, in one sentence."""
        seconds = f"{time.monotonic() - self._start:.0f} s"
        if self._finished:
            return f"Interrupted after {self._finished[-1]} ({seconds}); {self._kept}."
        return f"Interrupted while {_inside_sentence(self._description)} ({seconds}); {self._kept}."

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._bars.start()


class Stopwatch:
    """How long each part of some work takes; ``times`` has the seconds by part.

    Examples
    --------
    >>> from svmpath.cli.live import Stopwatch
    >>> clock = Stopwatch()
    >>> clock.lap("reading")
    >>> list(clock.times)
    ['reading']
    """

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """End a part."""
        now = time.perf_counter()
        self.times[part], self._last = now - self._last, now


class _TwoLines(Bars):
    """A bar, and a line of text below it."""

    second = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        if self.second:
            yield Text(f"  {self.second}", style="dim", no_wrap=True, overflow="ellipsis")


def reading(data: Path) -> str:
    """What is done first, in words.

    Examples
    --------
    >>> from pathlib import Path
    >>> from svmpath.cli.live import reading
    >>> reading(Path("flats/flats.csv")), reading(Path("-"))
    ('Reading flats.csv', 'Reading standard input')
    """
    return "Reading standard input" if str(data) == "-" else f"Reading {data.name}"


def _inside_sentence(description: str) -> str:
    return description[:1].lower() + description[1:]


def remaining_time(passed: float, done: int, total: int | None) -> str:
    """The time that remains of a stage, once there is enough to go by."""
    if not total or not 0 < done < total or passed < _LATE:
        return ""
    seconds = passed / done * (total - done)
    return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"

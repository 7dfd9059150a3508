"""Jobs in processes of their own, each with a time limit: one that does not end is killed, and its process replaced.

A process takes many jobs one after another, so that imports and compiled code are loaded once. The limit is in
processor time where the system tells it, so that a busy machine does not count as a hang, and in six times as much by
the clock.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

FINE, HANGS, DIED = "fine", "hangs", "died"
_BY_THE_CLOCK = 6.0  # times the limit
_READY = 600.0  # seconds for imports and the first compilation
_LOOK = 0.5  # seconds between looks at the clock


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes
    ----------
    job : object
        As it was given.
    state : str
        "fine", "hangs", "died" or the name of an exception.
    text : str
        What the exception says.
    result : object
        What the function returned.
    seconds : float
        Processor time.
    """

    job: Any
    state: str
    text: str = ""
    result: Any = None
    seconds: float = 0.0


def run_all(
    function: Callable[[Any], Any],
    jobs: Iterable[Any],
    *,
    processes: int = 1,
    limit: float = 20.0,
    warm_up: Callable[[], None] | None = None,
) -> Iterator[Outcome]:
    """Outcomes of ``function(job)``, as they come; function and warm_up must be importable by name."""
    queue, workers = iter(jobs), []
    try:
        workers = [_Worker(function, warm_up, limit) for _ in range(processes)]
        idle = [worker for worker in workers if not worker.give(queue)]
        while len(idle) < len(workers):
            wait([worker.pipe for worker in workers if worker not in idle], timeout=_LOOK)
            for worker in workers:
                if worker in idle:
                    continue
                outcome = worker.look()
                if outcome is not None:
                    if not worker.give(queue):
                        idle.append(worker)
                    yield outcome
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """One process and the job that it has."""

    def __init__(self, function: Callable, warm_up: Callable | None, limit: float) -> None:
        self.function, self.warm_up, self.limit = function, warm_up, limit
        self.start()

    def start(self) -> None:
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            context.set_forkserver_preload([self.function.__module__])
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.function, self.warm_up), daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready, self.job, self.since = False, None, time.monotonic()

    def give(self, queue: Iterator[Any]) -> bool:
        """Take the next job; False if there is none."""
        for self.job in queue:
            self.send()
            return True
        return False

    def send(self) -> None:
        self.since, self.cpu = time.monotonic(), cpu_seconds(self.process.pid)
        with suppress(BrokenPipeError):  # which look will see
            self.pipe.send(self.job)

    def look(self) -> Outcome | None:
        """The outcome of the job, if there is one by now."""
        try:
            if self.pipe.poll():
                return self.receive()
        except (EOFError, ConnectionResetError):
            return self.replace(DIED, f"the process ended with code {self.process.exitcode}")
        if not self.process.is_alive():
            return self.replace(DIED, f"the process ended with code {self.process.exitcode}")
        spent, clock = self.spent(), time.monotonic() - self.since
        limit = self.limit if self.is_ready else _READY
        if spent > limit or clock > _BY_THE_CLOCK * limit:
            return self.replace(HANGS, f"not done after {spent:.0f} s of processor time")
        return None

    def receive(self) -> Outcome | None:
        message = self.pipe.recv()
        if message is None:  # ready: from here on time counts
            self.is_ready, self.since, self.cpu = True, time.monotonic(), cpu_seconds(self.process.pid)
            return None
        return Outcome(self.job, *message)

    def spent(self) -> float:
        now = cpu_seconds(self.process.pid)
        return time.monotonic() - self.since if now is None or self.cpu is None else now - self.cpu

    def replace(self, state: str, text: str) -> Outcome:
        """End the process and start another."""
        outcome = Outcome(self.job, state, text, None, self.spent() if self.process.is_alive() else 0.0)
        self.end()
        self.start()
        return outcome

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def cpu_seconds(pid: int | None) -> float | None:
    """The processor time that a process has used; None where the system does not tell."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # Linux: the clock of another process
    except (AttributeError, OSError, TypeError):
        return None


def _serve(pipe: Any, function: Callable, warm_up: Callable | None) -> None:
    """In the process: do what is asked."""
    if warm_up is not None:
        warm_up()
    pipe.send(None)
    while True:
        job = pipe.recv()
        begin = time.process_time()
        try:
            answer = (FINE, "", function(job))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            answer = (type(error).__name__, f"{error} [{where.name}]", None)
        pipe.send((*answer, time.process_time() - begin))

"""What a search tried, stage by stage, and the words in which it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock

import numpy as np

from svmpath.progress import begin, finish, part_done
from svmpath.search.choice import Stage

Array = np.ndarray
NO_GAMMA = float("nan")  # stands for the gamma of a kernel without one

_DOING = {
    "screen": "screening",
    "narrow": "narrowing down",
    "confirm": "confirming",
    "compare": "comparing",
    "pairs": "with pairs of classes,",
    "scout": "scouting",
    "full kernel": "on the full kernel",
    "gradient": "following the gradient over",
    "ard": "following the gradient over",
}


class TrialLog:
    """The stages of a search, in order.

    Parameters
    ----------
    write : callable
        ``write(sentence)``, called once per stage.
    count : callable, optional
        ``count(done, total)``, called whenever a part of a grid or of a descent is done.

    Attributes
    ----------
    stages : list of Stage
    """

    def __init__(
        self, write: Callable[[str], None] = lambda sentence: None, count: Callable[[int, int], None] | None = None
    ) -> None:
        self.stages: list[Stage] = []
        self._write, self._count, self._lock = write, count, Lock()
        self._done = self._total = 0

    def begin(self, stage: str, total: int) -> None:
        """Report that a stage of so many parts has begun."""
        self._done, self._total = 0, total
        begin(stage, total)

    def part_done(self, is_last: bool = False) -> None:
        """Report that a part is done; the last may come early."""
        with self._lock:
            self._done = self._total if is_last else self._done + 1
            if self._count is not None:
                self._count(min(self._done, self._total), self._total)
            part_done()

    def add(self, stage: Stage, rows: int, best: str, points: int | None = None) -> None:
        """Enter a stage, and report its best pair; ``points`` are the steps of a descent."""
        what, by = f"{points} points", f"the gradient of {stage.criterion}"
        if points is None:
            number = sum(len(scores.values) for scores in stage.tried.values())
            what, by = "1 pair" if number == 1 else f"{number} pairs", stage.criterion
        sentence = (
            f"{stage.name}: {what} by {by} of {stage.loss}, {rows} rows, rank {stage.rank}: best {best} "
            f"({stage.seconds:.2f} s)"
        )
        self.enter([stage], sentence, f"{_DOING[stage.name]} {what}")

    def enter(self, stages: Iterable[Stage], sentence: str, finished: str | None = None) -> None:
        """Enter stages with a sentence of their own; ``finished`` says in a few words what is over."""
        self.stages.extend(stages)
        self._write(sentence)
        if finished is not None:
            finish(finished)


def pair_text(gamma: float, C: float) -> str:
    """A pair in words."""
    return f"C = {C:.3g}" if gamma != gamma else f"gamma = {gamma:.3g}, C = {C:.3g}"


def where_text(gamma: float, values: Array | None = None) -> str:
    """Where on the path over C, and at which gamma, unless the kernel has none."""
    low, high = (np.nan, np.nan) if values is None else (float(np.min(values)), float(np.max(values)))
    over = "over C" if values is None else f"over C from {low:.3g} to {high:.3g}"
    return (f"at C = {low:.3g}" if low == high else over) + ("" if gamma != gamma else f" at gamma = {gamma:.3g}")

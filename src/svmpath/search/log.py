"""What a search tried, stage by stage, and the words in which it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from svmpath.progress import finish
from svmpath.search.choice import Stage

Array = np.ndarray
NO_GAMMA = float("nan")  # stands for the gamma of a kernel without one

_DOING = {
    "screen": "screening",
    "narrow": "narrowing down",
    "confirm": "confirming",
    "compare": "comparing",
    "gradient": "following the gradient over",
    "ard": "following the gradient over",
}


class Log:
    """The stages of a search, in order.

    Parameters
    ----------
    write : callable
        ``write(sentence)``, called once per stage.

    Attributes
    ----------
    stages : list of Stage
    """

    def __init__(self, write: Callable[[str], None] = lambda sentence: None) -> None:
        self.stages: list[Stage] = []
        self._write = write

    def add(self, stage: Stage, rows: int, best: str, points: int | None = None) -> None:
        """Enter a stage, and report its best pair; ``points`` are the steps of a descent."""
        what, by = f"{points} points", f"the gradient of {stage.criterion}"
        if points is None:
            what, by = pairs_text(sum(len(scores.values) for scores in stage.tried.values())), stage.criterion
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


def pairs_text(number: int) -> str:
    """How many pairs."""
    return "1 pair" if number == 1 else f"{number} pairs"


def pair_text(gamma: float, C: float) -> str:
    """A pair in words."""
    return f"C = {C:.3g}" if gamma != gamma else f"gamma = {gamma:.3g}, C = {C:.3g}"


def gamma_text(gamma: float) -> str:
    """At which gamma, to be put after other words; nothing for a kernel without one."""
    return "" if gamma != gamma else f" at gamma = {gamma:.3g}"


def values_text(values: Array) -> str:
    """Where on the path over C."""
    low, high = float(np.min(values)), float(np.max(values))
    return f"at C = {low:.3g}" if low == high else f"over C from {low:.3g} to {high:.3g}"

"""The tuner: which machines may be tried, at which values, and what was tried.

Searches are functions over it (``search.STRATEGIES``). Each enters what it tries in the log of the tuner, and returns a
choice together with the paths of all machines that were chosen:

- "auto": screen, narrow, confirm (``search.stages``), raise the rank of many rows (``search.rank``), and go on with the
  full kernel (``search.full_kernel``);
- "grid" and "continuous": all pairs, and values between them (``search.grid``);
- "gradient" and "ard": down the gradient of a held-out score (``search.gradient``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from svmpath.criteria.held_out import Folds
from svmpath.gram import Gram
from svmpath.paths import Path
from svmpath.search.axis import Axis
from svmpath.search.choice import Choice
from svmpath.search.deadline import Deadline
from svmpath.search.evaluator import Evaluator
from svmpath.search.log import TrialLog

Array = np.ndarray


class Tuned(NamedTuple):
    """What a search comes to.

    Attributes
    ----------
    choice : Choice
    evaluator : Evaluator
        Of the loss that was chosen, on the kernel matrix that was chosen.
    paths : list of Path
        Of all machines (one, or one per class), through the chosen value of C.
    """

    choice: Choice
    evaluator: Evaluator
    paths: list[Path]


@dataclass(eq=False)
class Tuner:
    """What a search may try, and what it has tried.

    Attributes
    ----------
    evaluators : list of Evaluator
        One per loss, or value of epsilon, on the requested kernel matrix.
    C, gamma : Axis
        The values that may be chosen; ``gamma`` is None for a kernel without gamma, or one that is fixed.
    over : str or None
        The full name of the kernel's gamma.
    seed : int
        For landmarks, random starts, and the rows that are looked at.
    n_jobs : int or None
    folds : sequence of (train, test) or None
        The folds of the criterion, where rows must be held out together in all stages: if there are groups, or k-fold
        was asked for by name.
    deadline : Deadline
        After which nothing new is begun.
    is_rank_free : bool
        Whether the search also chooses the rank of the kernel matrix.
    effort : {"quick", "auto", "best"}
        How much may be done on the full kernel of many rows.
    draw_folds : callable or None
        ``draw_folds(most)`` are the folds by which machines on the full kernel are compared, at most so many unless
        they are given as such; None if they must not be.
    log : TrialLog
    unit : float
        The unit of C: least squares with C = 1 stands in for machines with this C.
    evaluator, gram : Evaluator, Gram
        The first of the evaluators, and its kernel matrix.
    n, size : int
        The number of samples; where copies count once if they are merged.
    is_single, is_binary : bool
        Whether there is one machine; and whether it is that of two classes.
    """

    evaluators: Sequence[Evaluator]
    C: Axis
    gamma: Axis | None = None
    over: str | None = None
    seed: int = 0
    n_jobs: int | None = None
    folds: Folds | None = None
    deadline: Deadline = field(default_factory=Deadline)
    is_rank_free: bool = False
    effort: str = "quick"
    draw_folds: Callable[[int | None], Folds] | None = None
    log: TrialLog = field(default_factory=TrialLog)
    unit: float = 1.0

    def __post_init__(self) -> None:
        # The default search follows the first loss in full, and the others at its gamma only.
        self.evaluator = self.evaluators[0]
        problem, self.gram = self.evaluator.problems[0], self.evaluator.gram
        self.n, self.is_single = problem.n, len(self.evaluator.problems) == 1
        self.size = self.n if problem.copies is None else int(problem.copies.max()) + 1
        self.is_binary = self.is_single and problem.task == "classification"

    def gram_at(self, gram: Gram, gamma: float) -> Gram:
        """A kernel matrix at a value of gamma; NaN leaves it as it is."""
        is_there = self.over is None or gamma != gamma or gram.kernel.parameters[self.over] == gamma
        return gram if is_there else gram.at(str(self.over), float(gamma))

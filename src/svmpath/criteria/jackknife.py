"""Standard errors of a scorer, and its values on each fold, computed one by one when they are asked for.

A scorer takes a millisecond or two, whatever it is asked; the jackknife asks it ten more times at every value, and
k-fold once more for each fold. A search needs a standard error at its best value, if at all, so nothing is computed
before somebody asks. What is kept for that are decision values, without the path that they belong to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from svmpath.criteria.scoring import Rows, Scoring

Array = np.ndarray

MOST_DECISIONS = 500_000  # decision values kept of a curve: 4 MB


@dataclass(frozen=True, eq=False)
class Jackknife:
    """What standard errors and scores of folds are computed from.

    Attributes
    ----------
    scoring : Scoring
    rows : Rows
        The N rows that are scored.
    decisions : array of shape (m, N) or (m, N, k)
        Their held-out decision values at each value.
    part : array of int of shape (N,)
        The part of the jackknife that each row belongs to.
    fold : array of int of shape (N,) or None
        Its fold, if there are folds.
    """

    scoring: Scoring
    rows: Rows
    decisions: Array
    part: Array
    fold: Array | None
    known: dict[tuple[str, int], Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:  # what a model is saved without can be computed again
        return {**self.__dict__, "known": {}}

    def get(self, what: str, at: int) -> Any:
        """A "standard_error" or the scores "on_folds", at a value given by its position; computed once."""
        if (what, at) not in self.known:
            self.known[what, at] = getattr(self, what)(at)
        return self.known[what, at]

    def standard_error(self, at: int) -> float:
        """The standard error at a value."""
        kept = [self.rows.part(self.part != g) for g in range(int(self.part.max()) + 1)]
        return _spread(self.scoring.parts(self.rows, kept, self.decisions[at]))

    def on_folds(self, at: int) -> Array:
        """Minus the scorer's values on each fold alone; NaN where the score is not defined."""
        assert self.fold is not None
        parts = [self.rows.part(self.fold == number) for number in range(self.folds)]
        return 0.0 - self.scoring.parts(self.rows, parts, self.decisions[at])

    @property
    def folds(self) -> int:
        """The number of folds."""
        return 0 if self.fold is None else int(self.fold.max()) + 1


@dataclass(frozen=True, eq=False)
class OnDemand:
    """An array over the values of a curve; each entry is computed when it is first asked for.

    Attributes
    ----------
    what : {"standard_error", "on_folds"}
    sources : list of (Jackknife, int)
        Where each entry comes from.
    """

    what: str
    sources: list[tuple[Jackknife, int]]

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, (int, np.integer)):
            return np.asarray(self)[at]
        source, place = self.sources[at]
        return source.get(self.what, place)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array([source.get(self.what, place) for source, place in self.sources], dtype=dtype)

    def and_of(self, other: OnDemand) -> OnDemand:
        """These entries and those of another one."""
        return OnDemand(self.what, self.sources + other.sources)


def _spread(parts: Array) -> float:
    """The standard error from the scores without each part."""
    parts = parts[np.isfinite(parts)]
    if len(parts) < 2:
        return np.inf
    return float(np.sqrt((len(parts) - 1) * np.var(parts)))

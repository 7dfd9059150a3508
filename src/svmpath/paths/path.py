"""A path: the solution as a function of one hyper-parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from svmpath.exceptions import PathError
from svmpath.losses import Loss, Problem, Solution

Array = np.ndarray

_LET_PASS = 1e-6  # rounding, in units of decision values, up to which a violation may be put down to it
_SLIP = 1e-12  # relative; an end of the span that went through a logarithm still counts as inside


class Event(NamedTuple):
    """One sample changes its place."""

    value: float
    sample: int
    source: str
    target: str


@dataclass(frozen=True, repr=False, eq=False)
class Path(ABC):
    """The solution over a span of one hyper-parameter; call it at a value for the solution there.

    Attributes
    ----------
    problem : Problem
    loss : Loss
    over : str
        Name of the hyper-parameter.
    span : tuple of two floats
        Where the path starts and where it ends.
    """

    problem: Problem
    loss: Loss
    over: str
    span: tuple[float, float]

    def __repr__(self) -> str:
        first, last = self.span
        return (
            f"<Path: {self.loss.name} over {self.over} from {first:.6g} to {last:.6g}; "
            f"{self.problem.n} samples, {self.gram.kernel!r}>"
        )

    @property
    @abstractmethod
    def breakpoints(self) -> Array:
        """Values where the path is kinked, with both ends, in the direction of the span."""

    @abstractmethod
    def events(self) -> Iterable[Event]:
        """The changes of place, in the order of the path."""

    @abstractmethod
    def _solve(self, value: float) -> Solution: ...

    @property
    def shared(self) -> Any:
        """What another path on the same kernel and weights can take over: a decomposition, say."""
        return None

    @property
    def is_exact(self) -> bool:
        """Whether machines are optimal to rounding, and not only to a given gap."""
        return True

    @property
    def is_shared_by_weights(self) -> bool:
        """Whether a path with other weights can take over what is :attr:`shared`, too."""
        return True

    def decisions(self, values: Array) -> Array:
        """Decision values of all rows, also of those with weight zero, at each value."""
        return np.array([self(float(value)).fitted for value in values])

    def __call__(self, value: float) -> Solution:
        """The solution at a value inside the span."""
        return self._solve(self.inside(value))

    def inside(self, value: float) -> float:
        """The value, if it lies in the span; refused otherwise."""
        low, high = sorted(self.span)
        if not low - _SLIP * abs(low) <= value <= high + _SLIP * abs(high):
            raise ValueError(f"{self.over} = {value:.6g} lies outside the span [{low:.6g}, {high:.6g}] of this path.")
        return float(min(max(value, low), high))

    @property
    def gram(self):  # type: ignore[no-untyped-def]
        """The Gram matrix of the problem."""
        return self.problem.gram

    @property
    def residual(self) -> float:
        """How much of the kernel a low-rank one misses, see :class:`svmpath.gram.Gram`; 0 when held whole.

        Over a kernel parameter each value has its own: ``path(value).problem.gram.residual``.
        """
        return self.problem.gram.residual

    @property
    def classes(self) -> Array | None:
        """The labels that negative and positive decision values stand for."""
        return self.problem.classes

    def check(self, tol: float = 1e-8) -> None:
        """Raise :class:`svmpath.PathError` where the path is not optimal.

        Looks at every breakpoint and at one value between each two. A violation that is no larger than the rounding
        in the decision values themselves cannot be told from none, and is let pass up to 1e-6: with more rounding than
        that the path has too few digits to be called optimal.
        """
        nodes = self.breakpoints
        between = (nodes[1:] + nodes[:-1]) / 2
        for value in np.concatenate([nodes, between]):
            solution = self(value)
            violation, rounding = solution.violation, solution.rounding if tol > 0 else 0.0
            if violation <= tol + min(rounding, _LET_PASS):
                continue
            where = f"at {self.over} = {value:.6g}: violation {violation:.2e} > {tol:.2e}"
            if violation <= tol + rounding:
                raise PathError(
                    f"The path has too few digits {where}. Kernel values times coefficients are too large for double "
                    "precision: scale the data, or end the span earlier."
                )
            raise PathError(
                f"The path is not optimal {where}. Bring the columns to one scale, end the span earlier, or ask for "
                "less with a larger tol."
            )

"""Paths without events: one formula holds over the whole span (least squares)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from svmpath.lazy import lazy
from svmpath.losses import LeastSquares, Problem, Solution
from svmpath.paths.path import Array, Event, Path
from svmpath.solvers.spectral import Spectrum


@dataclass(frozen=True)
class Piece:
    """Values of the path that share one kernel: the problem, its spectrum, the C of each value."""

    problem: Problem
    spectrum: Spectrum
    positions: Array
    C: Array


@dataclass(frozen=True, repr=False, eq=False)
class ClosedFormPath(Path):
    """The least squares machine over C, or over a parameter of its kernel.

    Over C one decomposition, made when first needed, serves the whole path. Over a kernel parameter each value
    has its own kernel matrix; the distances or inner products behind it are computed once.

    Attributes
    ----------
    C : float
        The value of C where the path does not go over it.
    """

    loss: LeastSquares
    C: float = 1.0
    spectrum_: Spectrum | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # The spectrum is made again when needed: a saved model stays small.
        return {**{f.name: self.__dict__[f.name] for f in fields(self)}, "spectrum_": None}

    @lazy
    def spectrum(self) -> Spectrum:
        """The decomposition behind a path over C."""
        return self.spectrum_ if self.spectrum_ is not None else self.loss.decompose(self.problem)

    @property
    def shared(self) -> Any:
        """The spectrum, on a path over C."""
        return self.spectrum if self.over == "C" else None

    @property
    def is_shared_by_weights(self) -> bool:
        """No: the spectrum is that of the weighted kernel matrix."""
        return False

    @property
    def breakpoints(self) -> Array:
        """Both ends of the span: nothing happens between them.

        In low rank, landmarks that look at the kernel ("rpcholesky", "greedy") change along a path over its parameter,
        and the path jumps there; "uniform", "kmeans", "density" and given rows stay.
        """
        return np.array(self.span if self.span[0] != self.span[1] else self.span[:1])

    def events(self) -> Iterable[Event]:
        """None: in least squares every sample keeps its place."""
        return ()

    def pieces(self, values: Array) -> Iterator[Piece]:
        """The values, grouped by the kernel they share."""
        if self.over == "C":
            yield Piece(self.problem, self.spectrum, np.arange(len(values)), values)
            return
        for position, value in enumerate(values):
            problem = self.problem.at(self.over, value)
            yield Piece(problem, self.loss.decompose(problem), np.array([position]), np.array([self.C]))

    def _solve(self, value: float) -> Solution:
        piece = next(self.pieces(np.array([value])))
        return self.loss.solve(piece.problem, piece.spectrum, float(piece.C[0]))

"""Paths without events: one formula holds over the whole span (least squares)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from svmpath.losses import LeastSquares, Problem, Solution
from svmpath.paths.made import Made
from svmpath.paths.path import Array, Event, Path, Request
from svmpath.solvers.spectral import Spectrum

_TOO_FEW_DIGITS = 1e-4  # relative error from which on a held-out residual is lost to rounding


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

    Over C, one decomposition serves the whole path; it is computed when first needed. Over a kernel parameter, each
    value has its own kernel matrix; the distances or inner products that it is made of are computed once.

    """

    loss: LeastSquares

    @classmethod
    def of(cls, problem: Problem, request: Request, made: Made) -> ClosedFormPath:
        """The path of a problem."""
        return cls(problem, request.loss, request.motion, request.span, made=made)

    @property
    def spectrum(self) -> Spectrum:
        """The decomposition behind a path over C."""
        if self.made.spectrum is None:
            self.made.spectrum = self.loss.decompose(self.problem)
        return self.made.spectrum

    @property
    def breakpoints(self) -> Array:
        """Both ends of the span; there are no events between them.

        Landmarks that depend on the kernel ("rpcholesky", "greedy") change along a path over a kernel parameter, and
        the path jumps there; "uniform", "kmeans", "density" and given rows stay fixed.
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
            yield Piece(problem, self.loss.decompose(problem), np.array([position]), np.array([self.motion.fixed["C"]]))

    def is_lost_to_rounding(self, values: Array) -> Array:
        """Where rounding leaves fewer than about four digits of the held-out residuals."""
        lost = np.zeros(len(values), dtype=bool)
        for piece in self.pieces(values):
            lost[piece.positions] = piece.spectrum.rounding(0.5 / piece.C) > _TOO_FEW_DIGITS
        return lost

    def _solve(self, value: float) -> Solution:
        piece = next(self.pieces(np.array([value])))
        return self.loss.solve(piece.problem, piece.spectrum, float(piece.C[0]))

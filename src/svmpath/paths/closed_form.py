"""Paths without events: one formula holds over the whole span (least squares)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from svmpath.losses import LeastSquares, Problem, Solution
from svmpath.paths.path import Array, Event, Path
from svmpath.solvers.samples import OneValue
from svmpath.solvers.spectral import Spectrum
from svmpath.solvers.threads import blas_threads

_FEW = 8  # values for which a factor each costs less than a spectrum
_MOST_HELD = 1 << 28  # numbers that the factors of a kernel may take up
_TOO_FEW_DIGITS = 1e-4  # relative error from which on a held-out residual is lost to rounding


@dataclass(frozen=True)
class Piece:
    """Values of the path that share one kernel: the problem, its spectrum, the C of each value."""

    problem: Problem
    spectrum: Spectrum | OneValue
    positions: Array
    C: Array


@dataclass(frozen=True, repr=False, eq=False)
class ClosedFormPath(Path):
    """The least squares machine over C, or over a parameter of its kernel.

    Over C, one decomposition serves the whole path; it is computed when first needed. Over a kernel parameter, each
    value has its own kernel matrix; the distances or inner products that it is made of are computed once.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.paths.Path : What all paths have in common.
    svmpath.criteria.press : Leave-one-out of least squares.

    Examples
    --------
    >>> import svmpath
    >>> from svmpath.datasets import banana
    >>> X, y = banana(60, random_state=0)
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(0.01, 100.0), gamma=1.0)
    >>> type(path).__name__, path.breakpoints.tolist()
    ('ClosedFormPath', [0.01, 100.0])
    """

    loss: LeastSquares

    @property
    def spectrum(self) -> Spectrum:
        """The decomposition behind a path over C."""
        if self.store.of_weights.spectrum is None:
            self.store.of_weights.spectrum = self.loss.decompose(self.distinct)
        return self.store.of_weights.spectrum

    @property
    def breakpoints(self) -> Array:
        """Both ends of the span; there are no events between them.

        Landmarks that depend on the kernel ("rpcholesky", "greedy") change along a path over a kernel parameter, and
        the path jumps there; "uniform", "kmeans", "density" and given rows stay fixed.
        """
        return np.array(self.span if self.span[0] != self.span[1] else self.span[:1])

    def _events(self) -> Iterable[Event]:
        """None: in least squares every sample keeps its place."""
        return ()

    def pieces(self, values: Array) -> Iterator[Piece]:
        """The values, grouped by the kernel they share."""
        if self.over == "C":
            yield Piece(self.distinct, self.spectrum, np.arange(len(values)), values)
            return
        for position, value in enumerate(values):
            problem = self.distinct.at(self.over, value)
            yield Piece(
                problem, self.loss.decompose(problem), np.array([position]), np.array([self.path_parameter.fixed["C"]])
            )

    def few_pieces(self, values: Array) -> Iterator[Piece]:
        """The values one by one, if that costs less than one decomposition for all of them; else as ``pieces``."""
        factors = self._factors(values)
        if factors is None:
            yield from self.pieces(values)
            return
        for position, (value, factor) in enumerate(zip(values, factors, strict=True)):
            yield Piece(self.distinct, factor, np.array([position]), np.array([value]))

    def _factors(self, values: Array) -> list[OneValue] | None:
        """What is known of each value by a factor of its own; None if there are too many, or a factor fails."""
        problem, known = self.distinct, self.store.of_weights.factors
        with blas_threads(problem.gram.entries):  # Z may be computed here
            is_dense = (
                self.over == "C" and problem.gram.Z is None and problem.gram.kernel.psd is True and problem.offset
            )
        new = [float(value) for value in values if float(value) not in known]
        held = (len(known) + len(new)) * 2 * problem.n**2
        is_known = self.store.of_weights.spectrum is not None
        if not is_dense or is_known or len(known) + len(new) > _FEW or held > _MOST_HELD:
            return None
        rows, s = problem.active, problem.s[problem.active]
        some = rows if len(rows) < problem.n else slice(None)
        for C in new:
            with blas_threads(problem.gram.entries):
                known[C] = OneValue(np.array(problem.gram.block(some, some)), s, 0.5 / C)
        factors = [known[float(value)] for value in values]
        return factors if all(factor.is_regular for factor in factors) else None

    def _known_decisions(self, value: float) -> Array | None:
        """Decision values of all rows at this value, if a factor for it is at hand and all rows have weight."""
        factor, s = self.store.of_weights.factors.get(value), self.distinct.s
        if factor is None or not factor.is_regular or not s.all():
            return None
        root = np.sqrt(s)
        return self.distinct.y - factor.residuals(root * self.distinct.y, np.array([0.5 / value]))[:, 0] / root

    def is_lost_to_rounding(self, values: Array) -> Array:
        """Where rounding leaves fewer than about four digits of the held-out residuals."""
        lost = np.zeros(len(values), dtype=bool)
        for piece in self.few_pieces(values):
            lost[piece.positions] = piece.spectrum.rounding(0.5 / piece.C) > _TOO_FEW_DIGITS
        return lost

    def _solve(self, value: float) -> Solution:
        piece = next(self.few_pieces(np.array([value])))
        return self.loss.solve_closed(piece.problem, piece.spectrum, float(piece.C[0]))

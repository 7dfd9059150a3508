"""The least squares machine (LS-SVM), for classification and regression.

The problem, with e_i = y_i - f(x_i)::

    minimise   C sum_i s_i e_i^2 + 1/2 alpha' K alpha,      f = K alpha + b

Setting the derivatives to zero gives alpha_i = 2 C s_i e_i and the linear system (mu = 1 / (2 C))::

    (K + mu S^-1) alpha + b 1 = y,     1' alpha = 0

Ding & Liao write their objective with this mu; it is the same objective. With a = S^-1/2 alpha and the spectrum
of P S^1/2 K S^1/2 P (see ``solvers.spectral``), a = B(mu) S^1/2 y / mu: one decomposition serves every C.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from svmpath.losses.base import Problem, Solution
from svmpath.losses.pieces import PiecewiseQuadratic
from svmpath.losses.policies import Policy
from svmpath.solvers.pieces import Pieces
from svmpath.solvers.samples import OneValue
from svmpath.solvers.single_spectrum import SingleSpectrum
from svmpath.solvers.spectral import Spectrum, decompose_dense, decompose_factor
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_MANY_PER_FEATURE = 2  # samples, from which on leverages in single precision are far enough from one


_SQUARES = Pieces((), (2.0,), of_margin=False)


class LeastSquares(PiecewiseQuadratic):
    """Formulas of the least squares machine."""

    name = "least_squares"
    tasks = ("classification", "regression")
    label, also_called, equivalent = "least squares", "LS-SVM", "KernelRidge"
    followed_by: ClassVar[Mapping[str, str]] = {
        "machine": "closed form",
        "kernel": "closed form",
        "chunks": "closed form",
    }
    is_linear, is_sparse = True, False
    names = ("squares",)
    # A value of C costs next to nothing, and leave-one-out no more than the path.
    policy = Policy(
        span=(1e-3, 1e6),
        tuned=(1e-3, 1e6),
        per_decade=5,
        loo_rows=float("inf"),
        exact_rows=3000,
        shown=("loo", "kfold"),
        shown_rows=2000,
        is_quick=True,
        gradients=("loo", "press"),
        chunked=("loo", "press"),
    )

    @property
    def pieces(self) -> Pieces:
        """u^2 of the residual u = y - f."""
        return _SQUARES

    def decompose(self, problem: Problem) -> Spectrum:
        """The spectrum of the problem's active samples, which serves every C."""
        gram, s = problem.gram, problem.s
        some = problem.active if len(problem.active) < problem.n else slice(None)
        with blas_threads(gram.entries):
            if gram.Z is None:
                return decompose_dense(gram.block(some, some), s[some], offset=problem.offset)
            Z = gram.Z[some]
            if Z.dtype == np.float32 and problem.offset and len(Z) > _MANY_PER_FEATURE * Z.shape[1]:
                return SingleSpectrum(Z, s[some])
            return decompose_factor(Z.astype(float, copy=False), s[some], offset=problem.offset)

    def solve_closed(self, problem: Problem, spectrum: Spectrum | OneValue, C: float) -> Solution:
        """The machine at one C, with one step of iterative refinement."""
        alpha = np.zeros(problem.n)
        self._add(alpha, problem, spectrum, problem.y, C)
        f = problem.gram.matmul(alpha)
        b = _offset(problem, f)
        # What is left of the system: rounding, which the first solve amplified by the condition of K + mu / s.
        left = problem.y - b - f
        left[problem.active] -= alpha[problem.active] / (2 * C * problem.s[problem.active])
        self._add(alpha, problem, spectrum, left, C)
        b = _offset(problem, problem.gram.matmul(alpha))
        return self._solution(problem, alpha, b, C)

    def _add(self, alpha: Array, problem: Problem, spectrum: Spectrum | OneValue, target: Array, C: float) -> None:
        """Add to alpha the coefficients for a target."""
        mu = np.array([0.5 / C])
        rows = problem.active
        root = np.sqrt(problem.s[rows])
        alpha[rows] += root * spectrum.residuals(root * target[rows], mu)[:, 0] / mu


def _offset(problem: Problem, f: Array) -> float:
    """b such that the weighted residuals sum to zero; zero without an offset."""
    return float(problem.s @ (problem.y - f) / problem.s.sum()) if problem.offset else 0.0

"""The rows of a problem in features: Z with K = Z Z', centred, beside labels and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.gram import DenseGram
from svmpath.losses.base import Problem
from svmpath.solvers.feature_newton import AnyRows, Rows
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.samples import KernelMatrix
from svmpath.solvers.single_rows import SingleRows
from svmpath.solvers.spectral import thin_factor
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


def feature_rows(problem: Problem) -> AnyRows:
    """Features whose inner products are the kernel up to the offset, with labels and weights."""
    gram, y, s = problem.gram, problem.y, problem.s
    with blas_threads(gram.entries):
        if not problem.offset:
            return Rows.without_offset(_factor(gram) if gram.Z is None else gram.Z, y, s)
        if isinstance(gram, DenseGram):
            return Rows.of(_factor(gram), y, s, KernelMatrix(gram.K))
        assert gram.Z is not None
        return SingleRows.of(gram.Z, y, s) if gram.Z.dtype == np.float32 else Rows.of(gram.Z, y, s)


def _factor(gram: Any) -> Array:
    """Z with K = Z Z' to rounding."""
    Z = thin_factor(gram.K, most=gram.n)
    if Z is not None:
        return Z
    values, Q = interruptible(np.linalg.eigh, gram.K)
    if values[0] < -1e-8 * max(values[-1], 0.0):
        raise ValueError(
            f"This path needs a positive semi-definite kernel, but the matrix of {gram.kernel!r} is indefinite; "
            "use rank=gram.Clipped() to replace it by its positive semi-definite part, or loss='least_squares'."
        )
    kept = values > 0
    return Q[:, kept] * np.sqrt(values[kept])

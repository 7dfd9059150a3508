"""Least squares machines without each of some rows, as functions of new rows.

With the decomposition of ``distributed.closed_form``, p(x) = (phi(x) - mean)' V and S the sum of the weights, the
machine is linear in the targets, f(x) = sum_i h_i(x) y_i, with

    h_i(x) = s_i (1 / S + p(x)' diag(1 / (w + mu)) p_i),

and the machine without row i is that of the targets in which y_i is replaced by f^(-i)(x_i) (``criteria.of_closed``):

    f^(-i)(x) = f(x) - h_i(x) (y_i - f^(-i)(x_i)).

r numbers of each of these rows are brought together; of all rows there would be too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.criteria.conformal import LeftOut
from svmpath.distributed.blocks import Block
from svmpath.distributed.closed_form import Decomposition
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


def features_of(block: Block, decomposition: Decomposition, some: Array | None) -> Array:
    """p of all rows of a chunk, or of some, of shape (N, r)."""
    rows = np.arange(len(block.s)) if some is None else some
    with blas_threads(0):
        parts = [(Z - decomposition.mean) @ decomposition.V for _, Z in block.parts(rows)]
    return np.concatenate(parts)


@dataclass(frozen=True)
class WithoutRows(LeftOut):
    """The machines without each of some rows.

    Attributes
    ----------
    rows : array of shape (N,)
        Their places among the gathered rows.
    held, residuals : array of shape (N, k)
        f^(-i)(x_i), and y_i minus that.
    even : array of shape (N,)
        s_i / S.
    weights : array of shape (N, r)
        s_i diag(1 / (w + mu)) p_i.
    machines : FeatureMachines
        Those of all rows.
    decomposition : Decomposition
    centre : array of shape (r,)
        What is subtracted from features before anything else.
    """

    rows: Array
    held: Array
    residuals: Array
    even: Array
    weights: Array
    machines: Any
    decomposition: Decomposition
    centre: Array

    def at(self, X: Any) -> Array:
        """Decision values of new rows by the machines without each row, of shape (m, N, k)."""
        d = self.decomposition
        with blas_threads(0):
            phi = np.asarray(self.machines.gram.features(X)) - self.centre
            h = self.even + ((phi - d.mean) @ d.V) @ self.weights.T
            return self.machines(X)[:, None, :] - h[:, :, None] * self.residuals

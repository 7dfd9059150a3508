"""Least squares machines on rows in chunks: one pass for A' S A, one to refine, one for the leave-one-out curve.

With G = A' S A of all rows, the weighted mean of the features and their centred moments (``leave_one_out.Press``),

    w = V diag(1 / (values + mu)) V' Z_c' S y_c,      mu = 1 / (2 C),

at every C from one decomposition on the client. Forming G loses digits where features depend on each other. What is
left of the equations at the first solution, A' S (y - f) - mu D theta, is summed over the rows in a second pass and
solved for with the same decomposition: one step of iterative refinement, as in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.distributed.blocks import Block, Moments, Sized
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Decomposition(Sized):
    """Of the centred moments of all rows; see the module's first lines.

    Attributes
    ----------
    values : array of shape (r,)
    V : array of shape (r, r)
    mean : array of shape (r,)
    weight : float
        The sum of the weights.
    """

    values: Array
    V: Array
    mean: Array
    weight: float

    @staticmethod
    def of(moments: Moments) -> Decomposition:
        """The decomposition of these moments."""
        G, weight = moments.G, float(moments.G[-1, -1])
        mean = G[-1, :-1] / weight
        values, V = interruptible(np.linalg.eigh, G[:-1, :-1] - weight * np.outer(mean, mean))
        return Decomposition(np.maximum(values, 0.0), V, mean, weight)

    def shrink(self, mu: Array) -> Array:
        """1 / (values + mu), of shape (r, m)."""
        return 1.0 / (self.values[:, None] + mu)

    def solve(self, right: Array, mu: Array) -> Array:
        """theta of shape (m, k, r + 1) with (G + mu D) theta = right, for right of shape (m, k, r + 1)."""
        centred = right[:, :, :-1] - right[:, :, -1:] * self.mean
        w = np.einsum("mkr,rm->mkr", centred @ self.V, self.shrink(mu)) @ self.V.T
        b = right[:, :, -1] / self.weight - w @ self.mean
        return np.concatenate([w, b[:, :, None]], axis=2)

    def rounding(self, mu: Array) -> Array:
        """About the relative error that rounding leaves in held-out residuals, as in ``solvers.spectral``."""
        largest, smallest = self.values.max(initial=0.0), self.values.min(initial=np.inf)
        if smallest <= len(self.values) * _EPS * largest:
            smallest = 0.0
        return _EPS * largest / (smallest + mu)


def first_solution(moments: Moments, decomposition: Decomposition, mu: Array) -> Array:
    """theta of all machines at all values, of shape (m, k, r + 1)."""
    right = np.broadcast_to(moments.c.T, (len(mu), *moments.c.T.shape))
    return decomposition.solve(right, mu)


def sum_residuals(block: Block, Theta: Array) -> list[Array]:
    """A' S (y - f) of a chunk for all machines at all values, of shape (m, k, r + 1)."""
    with blas_threads(0):
        m, k, width = Theta.shape
        (Y, S), every = block.columns(range(k)), Theta.reshape(m * k, width)
        total = np.zeros((width, m * k))
        for rows, Z in block.parts():
            residuals = np.tile(Y[rows], m) - (Z @ every[:, :-1].T + every[:, -1])
            pushed = np.tile(S[rows], m) * residuals
            total[:-1] += Z.T @ pushed
            total[-1] += pushed.sum(axis=0)
        return [total.T.reshape(m, k, width)]


def rest_of(Theta: Array, gradient: Array, mu: Array) -> Array:
    """What is left of the equations: A' S (y - f) - mu D theta."""
    rest = gradient.copy()
    rest[:, :, :-1] -= mu[:, None, None] * Theta[:, :, :-1]
    return rest


def refined(Theta: Array, gradient: Array, decomposition: Decomposition, mu: Array) -> Array:
    """The solution after one step of refinement."""
    return Theta + decomposition.solve(rest_of(Theta, gradient, mu), mu)

"""Held-out values of certified approximate paths (``tol=``), predicted from the smoothed loss.

An approximate path has features and no exact elbow. With the smoothed loss of ``solvers.smoothed``, H the second
derivative of its objective in x = (w, b), A_i = (z_i, 1) and c_i the curvature of the loss at i,

    f^(-i)(x_i) = f(x_i) - alpha_i q_i lambda / (1 - c_i q_i),        q_i = A_i'H^-1 A_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from svmpath.criteria.held_out import HeldOut
from svmpath.criteria.of_jump import check_options
from svmpath.criteria.sources import AtValues
from svmpath.paths import NodePath
from svmpath.paths.jump import WHOLE_ROWS
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_AT_BOUND = 1e-6  # a coefficient nearer to its bound than this, relative to the box, is at it
_SUPPORT_BLOCK = 512  # samples whose effect on all others is looked at at a time


def leave_one_out_nodes(path: NodePath, values: Array, **options: Any) -> HeldOut:
    """Refused: machines that are optimal only to a gap have no exact held-out values."""
    raise ValueError(
        f"criteria.loo needs an exact path: leave tol out (up to {WHOLE_ROWS} samples), or use criteria.kfold or "
        "criteria.alo."
    )


def predict_left_out_nodes(
    path: NodePath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the others stay on the part of the smoothed loss where they are."""
    check_options(path, form, screen)
    with blas_threads(path.terms.A.size):
        held = np.array([_Smooth.at(path, float(value)).held_out for value in values])
    return HeldOut(np.arange(path.problem.n), held, AtValues(_count_crossings, path, values))


@dataclass(frozen=True)
class _Smooth:
    """A machine of the smoothed loss: u and the coefficients a of its terms, and A H^-1 A' in parts."""

    A: Array
    side: Array
    f: Array
    u: Array
    a: Array
    curvature: Array
    h: float
    solved: Array  # H^-1 A'

    @staticmethod
    def at(path: NodePath, value: float) -> _Smooth:
        """The machine at a value of C."""
        terms, node = path.terms, path.node(value)
        lam, h, A = node.lam, node.h, terms.A
        f = A @ node.x / lam
        u = terms.u(f)
        inner = (node.a > _AT_BOUND * terms.s) & (node.a < (1.0 - _AT_BOUND) * terms.s)
        curvature = np.where(inner, terms.s / h if h > 0 else 0.0, 0.0).sum(axis=0)
        rows = np.flatnonzero(curvature)
        H = (A[rows] * curvature[rows, None]).T @ A[rows]
        H[np.diag_indices(len(H) - 1)] += lam
        H[-1, -1] += 1e-10 * terms.s.sum()  # where no row is in between the offset does not move
        return _Smooth(A, terms.side, f, u, node.a, curvature, h, cho_solve(cho_factor(H), A.T))

    @property
    def step(self) -> Array:
        """How far x moves along H^-1 A_i when sample i is left out."""
        q = np.einsum("ij,ji->i", self.A, self.solved)
        return -(self.side * self.a).sum(axis=0) / (1.0 - self.curvature * q)

    @property
    def held_out(self) -> Array:
        """Held-out decision values."""
        return self.f + self.step * np.einsum("ij,ji->i", self.A, self.solved)


def _count_crossings(path: NodePath, values: Array) -> Array:
    """The number of samples whose absence makes another leave its part of the loss: flat, curved or steep."""
    counts = np.zeros(len(values), dtype=int)
    for k, value in enumerate(values.tolist()):
        with blas_threads(path.terms.A.size):
            machine = _Smooth.at(path, value)
        part, step = np.digitize(machine.u, [0.0, machine.h]), machine.step
        support = np.flatnonzero(machine.a.max(axis=0) > 0.0)
        for start in range(0, len(support), _SUPPORT_BLOCK):
            block = support[start : start + _SUPPORT_BLOCK]
            moved = (machine.A @ machine.solved[:, block]) * step[block]
            crossed = np.zeros(moved.shape, dtype=bool)
            for side, u, before in zip(machine.side, machine.u, part, strict=True):
                crossed |= np.digitize(u[:, None] - side[:, None] * moved, [0.0, machine.h]) != before[:, None]
            crossed[block, np.arange(len(block))] = False
            counts[k] += path.problem.count(block[crossed.any(axis=0)])
    return counts

"""Held-out decision values of the rows of one chunk, and the sums that scores are made of.

The formulas are those of ``criteria.of_march`` (squared hinge: predicted from the leverages of the rows inside the
margin, as if no other row changed sides) and ``criteria.of_closed`` (least squares: exact). Leverages need the inverse
of an r x r matrix, which every chunk gets. For the number of errors alone most leverages are estimated by the same
random projections as in memory, and only close cases are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmpath.criteria.curve import error
from svmpath.criteria.of_march import LEAST_ESTIMATE, screen_errors
from svmpath.distributed.blocks import Block, Sized
from svmpath.distributed.closed_form import Decomposition
from svmpath.solvers.feature_newton import LEAST_SLACK
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


@dataclass(frozen=True)
class Machine(Sized):
    """A machine of the squared hinge, and what leverages are computed with.

    Attributes
    ----------
    theta : array of shape (r + 1,)
    inverse : array of shape (r + 1, r + 1)
        U^-1 with M_E = U'U.
    projection : array of shape (r + 1, 32) or None
        With it leverages are estimated; None computes all of them.
    """

    theta: Array
    inverse: Array
    projection: Array | None = None


@dataclass(frozen=True)
class SpanRule(Sized):
    """The held-out values of the squared hinge machines of all classes at one value of C."""

    machines: list[Machine]

    @property
    def values(self) -> int:
        """Number of values of C."""
        return 1

    def held(self, block: Block) -> Array:
        """Held-out decision values, of shape (1, n, k)."""
        F, Y = block.matvec(np.array([machine.theta for machine in self.machines])), block.Y
        for machine, y, f in zip(self.machines, Y.T, F.T, strict=True):
            E = np.flatnonzero((y * f < 1.0) & (block.s > 0))
            f[E] = y[E] - (y[E] - f[E]) / _slack(block, machine, E)
        return F[None]

    def screen(self, block: Block) -> tuple[Array, Array]:
        """Which rows are errors of their own machine, and estimates of held-out decision values; of shape (n, k)."""
        F, Y = block.matvec(np.array([machine.theta for machine in self.machines])), block.Y
        wrong = np.zeros(F.shape, dtype=bool)
        for at, (machine, y, f) in enumerate(zip(self.machines, Y.T, F.T, strict=True)):
            assert machine.projection is not None
            xi = 1.0 - y * f
            E = np.flatnonzero((xi > 0.0) & (block.s > 0))

            def exact(near: Array, machine: Machine = machine, y: Array = y, f: Array = f, E: Array = E) -> Any:
                rows = E[near]
                slack = _slack(block, machine, rows)
                return 1.0 - slack, error(y[rows], y[rows] - (y[rows] - f[rows]) / slack) > 0

            h, is_wrong = screen_errors(block.leverages(E, machine.projection), y[E] * f[E], exact)
            wrong[E, at] = is_wrong | (xi[E] > 1.0)
            xi[E] /= np.maximum(1.0 - h, LEAST_ESTIMATE)
            F[:, at] = y * (1.0 - xi)
        return wrong, F


def _slack(block: Block, machine: Machine, which: Array) -> Array:
    """One minus the leverages of some of the rows inside the margin."""
    return np.maximum(1.0 - block.leverages(which, machine.inverse), LEAST_SLACK)


@dataclass(frozen=True)
class Press(Sized):
    """The held-out values of least squares machines at all values of C.

    With centred features Z - mean, (Z - mean)' S (Z - mean) = V diag(w) V' and S the sum of the weights, the leverages
    are s_i (1 / S + sum_j ((z_i - mean)' V)_j^2 / (w_j + mu)).

    Attributes
    ----------
    Theta : array of shape (m, k, r + 1)
    decomposition : Decomposition
    shrink : array of shape (r, m)
        1 / (w + mu).
    """

    Theta: Array
    decomposition: Decomposition
    shrink: Array

    @property
    def values(self) -> int:
        """Number of values of C."""
        return len(self.Theta)

    def held(self, block: Block) -> Array:
        """Held-out decision values, of shape (m, n, k)."""
        m, k, width = self.Theta.shape
        F = block.matvec(self.Theta.reshape(m * k, width)).reshape(-1, m, k)
        for rows, Z in block.parts():
            P = (Z - self.decomposition.mean) @ self.decomposition.V
            h = block.s[rows][:, None] * (1.0 / self.decomposition.weight + (P * P) @ self.shrink)
            slack = np.maximum(1.0 - h, LEAST_SLACK)[:, :, None]
            Y = block.Y[rows, None, :]
            F[rows] = Y - (Y - F[rows]) / slack
        return F.transpose(1, 0, 2)


Rule = SpanRule | Press
Loss = Callable[[Array, Array], Array]


def sum_scores(block: Block, rule: Rule, loss: Loss, margin_loss: Loss, is_screened: bool) -> list[Array]:
    """Sums over the rows of a chunk, weighted, of shape (3, m): the loss, its square, the margin loss."""
    Y = block.Y
    with blas_threads(0):
        if is_screened:  # of the error
            assert isinstance(rule, SpanRule)
            wrong, F = rule.screen(block)
            losses = wrong[:, 0] if Y.shape[1] == 1 else np.argmax(F, axis=1) != np.argmax(Y, axis=1)
            return [_weighted(block.s, losses.astype(float), margin_loss(Y, F))[:, None]]
        sums = []
        for F in rule.held(block):
            losses = np.asarray(loss(Y[:, 0], F[:, 0]) if F.shape[1] == 1 else loss(Y, F), dtype=float)
            sums.append(_weighted(block.s, losses, margin_loss(Y, F)))
        return [np.transpose(sums)]


def _weighted(s: Array, losses: Array, margin_losses: Array) -> Array:
    return np.array([s @ losses, s @ losses**2, s @ margin_losses.mean(axis=1)])


def hold_out(block: Block, rule: Rule) -> Array:
    """Held-out decision values of a chunk, of shape (m, n, k)."""
    with blas_threads(0):
        return rule.held(block)


def sample_held(block: Block, rule: Rule, rows: Array) -> list[Any]:
    """Held-out decision values, targets and weights of some rows of a chunk; lists add up by concatenation."""
    with blas_threads(0):
        held = rule.held(block)[0]
    return [[held[rows]], [block.target[rows]], [block.s[rows]]]

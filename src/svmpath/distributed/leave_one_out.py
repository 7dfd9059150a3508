"""Held-out decision values of the rows of one chunk, and the sums that scores are made of.

The formulas are those of ``criteria.of_newton`` (losses that are quadratic in pieces: predicted from leverages, as if
no other row changed its piece) and ``criteria.of_closed`` (least squares: exact). Leverages need the inverse of an
r x r matrix, which every chunk gets. For the number of errors alone most leverages are estimated by the same
random projections as in memory, and only close cases are computed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from svmpath.criteria.curve import error
from svmpath.criteria.of_march import LEAST_ESTIMATE, screen_errors
from svmpath.distributed.blocks import Block, Sized
from svmpath.distributed.closed_form import Decomposition
from svmpath.distributed.folds import FoldRule
from svmpath.solvers.feature_newton import LEAST_SLACK
from svmpath.solvers.pieces import Pieces
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


@dataclass(frozen=True)
class Machine(Sized):
    """A machine, and what leverages are computed with.

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


class RowRule(Sized):
    """Each row is held out once, by itself."""

    @staticmethod
    def entries(block: Block) -> tuple[Any, Array]:
        """The row and the fold of each entry."""
        return np.arange(len(block.s)), np.zeros(len(block.s), dtype=int)

    def of_rows(self, block: Block) -> Array:
        """Held-out decision values of all rows, of shape (m, n, k)."""
        return self.held(block)

    @abstractmethod
    def held(self, block: Block) -> Array:
        """Held-out decision values, of shape (m, n, k)."""


@dataclass(frozen=True)
class SpanRule(RowRule):
    """The held-out values of the machines of all classes at one value of C, as if no other row changed its piece.

    The formulas, and the letters, are those of ``criteria.of_newton``.
    """

    machines: list[Machine]
    loss: Pieces

    @property
    def values(self) -> int:
        """Number of values of C."""
        return 1

    def held(self, block: Block) -> Array:
        """Held-out decision values, of shape (1, n, k)."""
        F, Y, loss = block.matvec(np.array([machine.theta for machine in self.machines])), block.Y, self.loss
        for machine, y, f in zip(self.machines, Y.T, F.T, strict=True):
            E = loss.region(loss.u(y, f))
            c, p = loss.of_regions(loss.curvature, E), loss.of_regions(loss.slopes, E)
            rows = np.flatnonzero(((c > 0.0) | (p != 0.0)) & (block.s > 0))
            s, c, z = block.s[rows], c[rows], loss.signed(y[rows], p[rows])
            P = block.norms(rows, machine.inverse)
            W = s * c / loss.largest
            step = -W * (y[rows] - f[rows]) - s * z / loss.largest  # on linear pieces W is zero
            f[rows] += P * step / np.maximum(1.0 - W * P, LEAST_SLACK)
        return F[None]

    def screen(self, block: Block) -> tuple[Array, Array]:
        """Which rows are errors of their own machine, and estimates of held-out decision values; of shape (n, k).

        Of the squared hinge.
        """
        F, Y = block.matvec(np.array([machine.theta for machine in self.machines])), block.Y
        wrong = np.zeros(F.shape, dtype=bool)
        for at, (machine, y, f) in enumerate(zip(self.machines, Y.T, F.T, strict=True)):
            assert machine.projection is not None
            xi = 1.0 - y * f
            E = np.flatnonzero((xi > 0.0) & (block.s > 0))

            def exact(near: Array, machine: Machine = machine, y: Array = y, f: Array = f, E: Array = E) -> Any:
                rows = E[near]
                slack = np.maximum(1.0 - block.s[rows] * block.norms(rows, machine.inverse), LEAST_SLACK)
                return 1.0 - slack, error(y[rows], y[rows] - (y[rows] - f[rows]) / slack) > 0

            h, is_wrong = screen_errors(block.s[E] * block.norms(E, machine.projection), y[E] * f[E], exact)
            wrong[E, at] = is_wrong | (xi[E] > 1.0)
            xi[E] /= np.maximum(1.0 - h, LEAST_ESTIMATE)
            F[:, at] = y * (1.0 - xi)
        return wrong, F


@dataclass(frozen=True)
class Press(RowRule):
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


Rule = SpanRule | Press | FoldRule
Loss = Callable[[Array, Array], Array]


def sum_scores(block: Any, rule: Any, loss: Loss, margin_loss: Loss, is_screened: bool) -> list[Array]:
    """Sums over the entries of a chunk, of shape (5, m): of weights times the loss, its square, the margin loss and
    one, and of squares of weights.
    """
    rows, _ = rule.entries(block)
    Y, s = block.Y[rows], block.s[rows]
    with blas_threads(0):
        if is_screened:  # of the error
            wrong, F = rule.screen(block)
            return [_weighted(s, _screened_errors(wrong, F, Y).astype(float), margin_loss(Y, F))[:, None]]
        sums = []
        for F in rule.held(block):
            of = (Y[:, 0], F[:, 0]) if F.shape[1] == 1 else (Y, F)
            losses, margin_losses = (np.asarray(each(*of), dtype=float) for each in (loss, margin_loss))
            sums.append(_weighted(s, losses, margin_losses[:, None] if margin_losses.ndim == 1 else margin_losses))
        return [np.transpose(sums)]


def _screened_errors(wrong: Array, F: Array, Y: Array) -> Array:
    """Which entries are errors; of several machines those of the estimates."""
    return wrong[:, 0] if Y.shape[1] == 1 else np.argmax(F, axis=1) != np.argmax(Y, axis=1)


def _weighted(s: Array, losses: Array, margin_losses: Array) -> Array:
    return np.array([s @ losses, s @ losses**2, s @ margin_losses.mean(axis=1), s.sum(), s @ s])


def hold_out(block: Any, rule: Any) -> Array:
    """Held-out decision values of all rows of a chunk, of shape (m, n, k)."""
    with blas_threads(0):
        return np.asarray(rule.of_rows(block))


class Held(NamedTuple):
    """Entries of a chunk: held-out decision values (m, N, k), their rows and folds; with ``errors`` estimates."""

    decisions: Array
    rows: Array
    fold: Array
    errors: Array | None = None


def gather_held(block: Any, rule: Any, is_screened: bool, some: Array | None) -> Held:
    """The entries of a chunk, or those of some of its rows, numbered among these."""
    with blas_threads(0):
        rows, fold = rule.entries(block)
        errors = None
        if is_screened:
            wrong, F = rule.screen(block)
            errors, decisions = _screened_errors(wrong, F, block.Y)[None], F[None]
        else:
            decisions = rule.held(block)
    if some is None:
        return Held(decisions, rows, fold, errors)
    place = np.full(len(block.s), -1)
    place[some] = np.arange(len(some))
    kept = np.flatnonzero(place[rows] >= 0)
    errors = None if errors is None else errors[:, kept]
    return Held(decisions[:, kept], place[rows[kept]], fold[kept], errors)

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
from svmpath.criteria.of_march import LEAST_ESTIMATE, TOO_LARGE, TOO_SMALL
from svmpath.distributed.blocks import Block, Sized
from svmpath.solvers.feature_newton import LEAST_SLACK
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_ROWS_AT_ONCE = 2048


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
    projection: Array | None


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
        F = block.decide(np.array([machine.theta for machine in self.machines]))
        for at, machine in enumerate(self.machines):
            y, f = block.y(at), F[:, at]
            E = np.flatnonzero((y * f < 1.0) & (block.s > 0))
            f[E] = y[E] - (y[E] - f[E]) / (1.0 - _leverages(block, machine, E))
        return F[None]

    def screen(self, block: Block) -> tuple[Array, Array]:
        """Which rows are errors of their own machine, and estimates of held-out decision values; of shape (n, k)."""
        F = block.decide(np.array([machine.theta for machine in self.machines]))
        wrong = np.zeros(F.shape, dtype=bool)
        for at, machine in enumerate(self.machines):
            wrong[:, at], F[:, at] = _screen(block, machine, block.y(at), F[:, at])
        return wrong, F


def _leverages(block: Block, machine: Machine, which: Array) -> Array:
    """Leverages of some of the rows inside the margin."""
    h = np.empty(len(which))
    for start in range(0, len(which), _ROWS_AT_ONCE):
        part = which[start : start + _ROWS_AT_ONCE]
        V = _image(block, part, machine.inverse)
        h[start : start + _ROWS_AT_ONCE] = block.s[part] * np.einsum("ij,ij->i", V, V)
    return np.minimum(h, 1.0 - LEAST_SLACK)


def _image(block: Block, which: Array, B: Array) -> Array:
    """A[which] B."""
    return block.Z[which].astype(float, copy=False) @ B[:-1] + B[-1]


def _screen(block: Block, machine: Machine, y: Array, f: Array) -> tuple[Array, Array]:
    """Errors of the span rule and estimates of its decision values, as ``criteria.of_march`` finds them."""
    assert machine.projection is not None
    slack = 1.0 - y * f
    E = np.flatnonzero((slack > 0.0) & (block.s > 0))
    about = np.empty(len(E))
    for start in range(0, len(E), _ROWS_AT_ONCE):
        part = E[start : start + _ROWS_AT_ONCE]
        B = _image(block, part, machine.projection)
        about[start : start + _ROWS_AT_ONCE] = block.s[part] * np.einsum("ij,ij->i", B, B)
    bar = y[E] * f[E]  # below zero where the row is an error even by the machine that has seen it
    is_wrong = about > TOO_LARGE * bar
    near = np.flatnonzero(~is_wrong & (about * TOO_SMALL >= bar))
    about[near] = _leverages(block, machine, E[near])
    held = y[E[near]] * (1.0 - slack[E[near]] / (1.0 - about[near]))
    is_wrong[near] = error(y[E[near]], held) > 0
    wrong = np.zeros(len(f), dtype=bool)
    wrong[E] = is_wrong | (slack[E] > 1.0)
    slack[E] /= np.maximum(1.0 - about, LEAST_ESTIMATE)
    return wrong, y * (1.0 - slack)


@dataclass(frozen=True)
class Press(Sized):
    """The held-out values of least squares machines at all values of C.

    With centred features Z - mean, (Z - mean)' S (Z - mean) = V diag(w) V' and S the sum of the weights, the leverages
    are s_i (1 / S + sum_j ((z_i - mean)' V)_j^2 / (w_j + mu)).

    Attributes
    ----------
    Theta : array of shape (m, k, r + 1)
    mean : array of shape (r,)
    V : array of shape (r, r)
    shrink : array of shape (r, m)
        1 / (w + mu).
    weight : float
        The sum of the weights.
    """

    Theta: Array
    mean: Array
    V: Array
    shrink: Array
    weight: float

    @property
    def values(self) -> int:
        """Number of values of C."""
        return len(self.Theta)

    def held(self, block: Block) -> Array:
        """Held-out decision values, of shape (m, n, k)."""
        m, k, width = self.Theta.shape
        F = block.decide(self.Theta.reshape(m * k, width)).reshape(-1, m, k)
        for rows, Z in block.parts():
            P = (Z - self.mean) @ self.V
            h = block.s[rows][:, None] * (1.0 / self.weight + (P * P) @ self.shrink)
            slack = np.maximum(1.0 - h, LEAST_SLACK)[:, :, None]
            Y = np.column_stack([block.y(at)[rows] for at in range(k)])[:, None, :]
            F[rows] = Y - (Y - F[rows]) / slack
        return F.transpose(1, 0, 2)


Rule = SpanRule | Press
Loss = Callable[[Array, Array], Array]


def sum_scores(block: Block, rule: Rule, loss: Loss, is_screened: bool) -> list[Array]:
    """Sums over the rows of a chunk, weighted, of shape (3, m): the loss, its square, the squared residual."""
    with blas_threads(0):
        if is_screened:
            assert isinstance(rule, SpanRule)
            return [_screened_sums(block, rule)]
        held = rule.held(block)
        Y = np.column_stack([block.y(at) for at in range(held.shape[2])])
        sums = np.empty((3, len(held)))
        for at, F in enumerate(held):
            losses = np.asarray(loss(Y[:, 0], F[:, 0]) if F.shape[1] == 1 else loss(Y, F), dtype=float)
            sums[:, at] = _weighted(block.s, losses, ((Y - F) ** 2).mean(axis=1))
        return [sums]


def _screened_sums(block: Block, rule: SpanRule) -> Array:
    """The same for the error, from screened values."""
    wrong, estimate = rule.screen(block)
    Y = np.column_stack([block.y(at) for at in range(wrong.shape[1])])
    if wrong.shape[1] > 1:
        wrong = (np.argmax(estimate, axis=1) != np.argmax(Y, axis=1))[:, None]
    return _weighted(block.s, wrong[:, 0].astype(float), ((Y - estimate) ** 2).mean(axis=1))[:, None]


def _weighted(s: Array, losses: Array, residuals: Array) -> Array:
    return np.array([s @ losses, s @ losses**2, s @ residuals])


def hold_out(block: Block, rule: Rule) -> Array:
    """Held-out decision values of a chunk, of shape (m, n, k)."""
    with blas_threads(0):
        return rule.held(block)


def sample_held(block: Block, rule: Rule, rows: Array) -> list[Any]:
    """Held-out decision values, targets and weights of some rows of a chunk; lists add up by concatenation."""
    with blas_threads(0):
        held = rule.held(block)[0]
    return [[held[rows]], [block.target[rows]], [block.s[rows]]]

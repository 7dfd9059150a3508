"""Held-out values of least squares, without refitting: PRESS, and its like for folds.

With B(mu) and its diagonal from ``solvers.spectral`` and e the training residuals, leaving out sample i leaves

    y_i - f^(-i)(x_i) = e_i / B_ii

for any weights: removing one sample from a linear least squares fit divides its residual by one minus its
leverage. A sample of weight zero was never in the fit; its held-out value is the plain one.

Leaving out the samples F leaves, with R = diag(sqrt(s)),

    y_F - f^(-F)(x_F) = R_F^-1 (B_FF)^-1 (B R y)_F

an |F| x |F| system per fold and value. Where the spectrum has fewer columns than the fold has samples, the same
system is solved in the space of the spectrum: with A = [v, Q], 1 - B = A diag(h) A' on the rows F and

    (I - A_F diag(h) A_F')^-1 u = u + A_F diag(h)^1/2 (I - diag(h)^1/2 A_F'A_F diag(h)^1/2)^-1 diag(h)^1/2 A_F' u

At a new row x the machine is linear in the targets, f(x) = h(x)'y with, for S = sum_i s_i,

    h(x) = s / S + R B R (k(x) - K s / S) / mu,

and the machine without sample i is the machine of the targets in which y_i is replaced by f^(-i)(x_i):

    f^(-i)(x) = f(x) - h_i(x) (y_i - f^(-i)(x_i)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from svmpath.criteria.conformal import Expansions, LeftOut
from svmpath.criteria.held_out import Folds, HeldOut, held_rows, refuse_events
from svmpath.gram.products import times
from svmpath.losses import Problem
from svmpath.paths import ClosedFormPath
from svmpath.paths.closed_form import Piece
from svmpath.solvers.spectral import Spectrum
from svmpath.solvers.threads import blas_threads

Array = np.ndarray


def leave_one_out_closed(
    path: ClosedFormPath, values: Array, *, max_events: int | None = None, count_only: bool = False
) -> HeldOut:
    """Leave out every sample, at all values at once."""
    refuse_events(path, max_events, count_only)
    problem = path.problem
    if len(problem.active) < 2:
        raise ValueError("Leave-one-out needs at least two samples of positive weight.")
    held = np.empty((len(values), problem.n))
    for piece in path.few_pieces(values):
        with blas_threads(piece.problem.gram.entries):
            held[piece.positions] = _divided(piece)
    return HeldOut(np.arange(problem.n), held, _unreliable(path, values))


def leave_folds_out_closed(path: ClosedFormPath, values: Array, folds: Folds) -> HeldOut:
    """Leave out folds of samples."""
    rows = held_rows(folds)
    ends = np.cumsum([0, *(len(test) for _, test in folds)])
    held = np.empty((len(values), len(rows)))
    for piece in path.pieces(values):
        with blas_threads(piece.problem.gram.entries):
            for (train, test), start, end in zip(folds, ends[:-1], ends[1:], strict=True):
                held[piece.positions, start:end] = _leave_fold_out(piece, train, test)
    return HeldOut(rows, held, _unreliable(path, values))


def _unreliable(path: ClosedFormPath, values: Array) -> Array:
    """How many held-out values have fewer than about four digits, at each value: all samples or none."""
    problem = path.problem
    return np.where(path.is_lost_to_rounding(values), problem.count(problem.active), 0)


def _divided(piece: Piece) -> Array:
    """Held-out decision values, of shape (m, n)."""
    problem, mu, rows = piece.problem, 0.5 / piece.C, piece.problem.active
    y, root = problem.y[rows], np.sqrt(problem.s[rows])
    slack = piece.spectrum.slack_diag(mu)
    residuals = piece.spectrum.residuals(root * y, mu) / root[:, None]
    held = np.empty((len(mu), problem.n))
    held[:, rows] = (y[:, None] - residuals / slack).T
    idle = np.flatnonzero(problem.s == 0)
    if len(idle):
        held[:, idle] = _plain(problem, residuals * (problem.s[rows] / mu[:, None]).T, idle)
    return held


def _plain(problem: Problem, alpha: Array, idle: Array) -> Array:
    """Decision values of samples that are not in the fit, from the active samples' coefficients (a, m)."""
    rows, s = problem.active, problem.s[problem.active]
    lifted = np.zeros((problem.n, alpha.shape[1]))
    lifted[rows] = alpha
    f = problem.gram.matmul(lifted)
    b = s @ (problem.y[rows, None] - f[rows]) / s.sum() if problem.offset else 0.0
    return (f[idle] + b).T


def _leave_fold_out(piece: Piece, train: Array, test: Array) -> Array:
    """Decision values of the test rows by the machines fitted on the train rows, of shape (m, len(test)).

    Whatever is not in ``train`` is left out of the fit, also rows that are in neither.
    """
    problem, spectrum = piece.problem, piece.spectrum
    assert isinstance(spectrum, Spectrum)
    active = problem.active
    out = np.flatnonzero(~np.isin(active, train))  # positions among the active samples
    root = np.sqrt(problem.s[active])
    z = root * problem.y[active]
    held = np.empty((len(piece.C), len(test)))
    left = spectrum.residuals(z, 0.5 / piece.C)
    where = np.full(problem.n, -1)
    where[active[out]] = np.arange(len(out))
    inside = where[test] >= 0
    for j, mu in enumerate(0.5 / piece.C):
        x = _invert(spectrum, out, mu, left[out, j])
        values = problem.y[active[out]] - x / root[out]
        held[j, inside] = values[where[test[inside]]]
        if not inside.all():
            held[j, ~inside] = _others(piece, out, x, left[:, j], mu, test[~inside])
    return held


def _invert(spectrum: Spectrum, out: Array, mu: float, u: Array) -> Array:
    """Solve B(mu)_FF x = u for the rows F = out."""
    if len(out) <= len(spectrum.values) + 1 or spectrum.is_full or spectrum.rest_value:
        return _symmetric(spectrum.slack_block(out, mu), u)
    inner, _ = spectrum.shrink(np.array([mu]))
    h = np.sqrt(np.concatenate([[1.0], 1.0 - inner[:, 0]]))
    A = np.column_stack([spectrum.v[out], spectrum.Q[out]]) * h
    M = np.eye(len(h)) - A.T @ A
    return u + A @ _symmetric(M, A.T @ u)


def _symmetric(M: Array, u: Array) -> Array:
    """Solve M x = u; where rounding or an indefinite kernel has left M without a Cholesky factor, by least squares."""
    try:
        return cho_solve(cho_factor(M, check_finite=False), u, check_finite=False)
    except LinAlgError:
        return lstsq(M, u, check_finite=False)[0]


def _others(piece: Piece, out: Array, x: Array, left: Array, mu: float, rows: Array) -> Array:
    """Decision values of rows that were not in the full fit, or stay in the fold's fit.

    The fold's coefficients are R (B R y - B_:F x) / mu: zero on F, and what a refit without F gives elsewhere.
    """
    problem, spectrum = piece.problem, piece.spectrum
    active = problem.active
    lifted = np.zeros(len(active))
    lifted[out] = x
    change = spectrum.residuals(lifted, np.array([mu]))[:, 0]
    s = problem.s[active].copy()
    s[out] = 0.0
    alpha = np.zeros(problem.n)
    alpha[active] = np.sqrt(s) * (left - change) / mu
    f = problem.gram.matmul(alpha)
    b = s @ (problem.y - f)[active] / s.sum() if problem.offset else 0.0
    return f[rows] + b


@dataclass(frozen=True)
class LeftOutClosed(LeftOut):
    """The machines without each sample, by h(x).

    Attributes
    ----------
    path : ClosedFormPath
        It has the factor, or the spectrum, that h(x) is made with.
    value : float
    whole : Expansions
        The machines of all samples.
    held : array of shape (n, k)
    residuals : array of shape (n, k)
        y_i - f^(-i)(x_i).
    middle : array of shape (n,)
        K s / S.
    """

    path: ClosedFormPath
    value: float
    whole: Expansions
    held: Array
    residuals: Array
    middle: Array

    @property
    def rows(self) -> Array:  # type: ignore[override]
        """All samples."""
        return np.arange(len(self.held))

    def at(self, X: Any) -> Array:
        """Decision values of new rows by the machines without each sample: two products with B per new row."""
        problem = self.path.problem
        piece = next(self.path.few_pieces(np.array([self.value])))
        rows, mu = problem.active, 0.5 / float(piece.C[0])
        s = problem.s[rows]
        root = np.sqrt(s)[:, None]
        with blas_threads(problem.gram.entries):
            K = self._kernel(X)
            f = K.T @ self.whole.alpha + self.whole.b
            K -= self.middle[:, None]
            smoothed = piece.spectrum.apply(root * K[rows], mu)
            h = np.zeros((X.shape[0], problem.n))
            h[:, rows] = s / s.sum() + (root / mu * smoothed).T
        return f[:, None, :] - h[:, :, None] * self.residuals

    def own(self, entries: Array) -> Callable[[Any], Array]:
        """New rows, each by the machine without its entry: row i of B once, then a product with it per new row."""
        problem, weights = self.path.problem, self._weights(entries)
        rows, s, residuals = problem.active, problem.s[entries], self.residuals[entries]

        def decide(X: Any) -> Array:
            with blas_threads(problem.gram.entries):
                K = self._kernel(X)
                f = K.T @ self.whole.alpha + self.whole.b
                h = s / problem.s[rows].sum() + np.einsum("nm,nm->m", weights, (K - self.middle[:, None])[rows])
            return f - h[:, None] * residuals

        return decide

    def functions(self) -> tuple[Expansions, Array]:
        """The machines of one target without each sample."""
        problem, weights = self.path.problem, self._weights(np.arange(len(self.held)))
        rows, s, residuals = problem.active, problem.s, self.residuals[:, 0]
        alpha = np.tile(self.whole.alpha[:, :1], len(s))
        alpha[rows] -= weights * residuals
        b = self.whole.b[0] - residuals * (s / s[rows].sum() - self.middle[rows] @ weights)
        return Expansions(problem.gram, alpha, b, problem.gram.contract(alpha)), np.arange(len(s))[:, None]

    def _weights(self, entries: Array) -> Array:
        """What h of each entry is of the kernel values of a new row, less their mean; of the active rows."""
        problem = self.path.problem
        piece = next(self.path.few_pieces(np.array([self.value])))
        rows, mu = problem.active, 0.5 / float(piece.C[0])
        unit = (rows[:, None] == entries).astype(float)
        with blas_threads(problem.gram.entries):
            smoothed: Array = piece.spectrum.apply(unit, mu)
        return np.sqrt(problem.s[rows])[:, None] / mu * smoothed * np.sqrt(problem.s[entries])

    def _kernel(self, X: Any) -> Array:
        """k(x_i, x), of shape (n, m); features in single precision are not copied."""
        gram: Any = self.path.problem.gram
        return np.array(gram.cross(X).T) if gram.Z is None else times(gram.Z, gram.features(X).T)


def leave_one_out_machines_closed(path: ClosedFormPath, value: float, targets: Array) -> LeftOutClosed:
    """The machines without each sample; they share what was made of the kernel."""
    paths = [replace(path, problem=replace(path.problem, y=y)) for y in targets.T]
    held = np.vstack([np.asarray(leave_one_out_closed(each, np.array([value])).decisions) for each in paths]).T
    whole = Expansions.of([each(value) for each in paths])
    s = path.problem.s
    return LeftOutClosed(path, value, whole, held, targets - held, path.problem.gram.matmul(s / s.sum()))

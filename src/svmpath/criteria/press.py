"""Exact leave-one-out of least squares: PRESS.

With B(mu) and its diagonal from ``solvers.spectral`` and e the training residuals, leaving out sample i leaves

    y_i - f^(-i)(x_i) = e_i / B_ii

for any weights: removing one sample from a linear least squares fit divides its residual by one minus its
leverage. A sample of weight zero was never in the fit; its held-out value is the plain one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values, held_out_loss
from svmpath.criteria.merged import by_split_copies
from svmpath.losses import Problem
from svmpath.paths import ClosedFormPath, Path
from svmpath.paths.closed_form import Piece
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_LOST = 1e-4  # relative error from which on a held-out residual counts as lost


@by_split_copies
def press(path: Path, values: Any, *, loss: HeldOutLoss = None) -> Curve:
    """Exact leave-one-out of a least squares path, at all values at once.

    Parameters
    ----------
    path : Path
        Of ``loss="least_squares"``, over C or a kernel parameter, dense or low rank. In low rank the landmarks
        stay as they are when a sample is left out.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic", "sigmoid"} or callable, optional
        Per-sample loss ``loss(y, f)`` of arrays; for classification y is -1 or +1 and the default is the error, for
        regression the default is the squared error.

    Returns
    -------
    Curve
        ``doubtful`` is the number of samples where rounding leaves fewer than about four digits of the held-out
        residuals (a kernel far too large for C), else 0.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> curve = criteria.press(path, np.logspace(-2, 2, 5))
    >>> curve.scores.shape, curve.decisions.shape
    ((5,), (5, 60))
    """
    path = least_squares_only(path, "press")
    values = check_values(path, values)
    problem = path.problem
    if len(problem.active) < 2:
        raise ValueError("Leave-one-out needs at least two samples of positive weight.")
    held = np.empty((len(values), problem.n))
    doubtful = np.zeros(len(values), dtype=int)
    for piece in path.pieces(values):
        with blas_threads(piece.problem.gram.entries):
            slack = piece.spectrum.slack_diag(0.5 / piece.C)
            held[piece.positions] = leave_one_out(piece, slack)
        doubtful[piece.positions] = lost_to_rounding(piece)
    rows = np.arange(problem.n)
    return Curve(path, "press", values, held_out_loss(loss, problem.task), rows, held, problem.y, doubtful)


def leave_one_out(piece: Piece, slack: Array) -> Array:
    """Held-out decision values, of shape (m, n), given the diagonals of B(mu)."""
    problem, spectrum = piece.problem, piece.spectrum
    mu = 0.5 / piece.C
    rows = problem.active
    y, root = problem.y[rows], np.sqrt(problem.s[rows])
    residuals = spectrum.residuals(root * y, mu) / root[:, None]
    active = y[:, None] - residuals / slack
    held = np.empty((len(mu), problem.n))
    held[:, rows] = active.T
    idle = np.flatnonzero(problem.s == 0)
    if len(idle):
        held[:, idle] = _plain(problem, residuals * (problem.s[rows] / mu[:, None]).T, idle)
    return held


def lost_to_rounding(piece: Piece) -> Array:
    """How many held-out values have fewer than about four digits, at each value: all samples or none."""
    lost = piece.spectrum.rounding(0.5 / piece.C) > _LOST
    return np.where(lost, piece.problem.count(piece.problem.active), 0)


def _plain(problem: Problem, alpha: Array, idle: Array) -> Array:
    """Decision values of samples that are not in the fit, from the active samples' coefficients (a, m)."""
    rows, s = problem.active, problem.s[problem.active]
    lifted = np.zeros((problem.n, alpha.shape[1]))
    lifted[rows] = alpha
    f = problem.gram.matmul(lifted)
    b = s @ (problem.y[rows, None] - f[rows]) / s.sum()
    return (f[idle] + b).T


def least_squares_only(path: Path, criterion: str) -> ClosedFormPath:
    """The path, refused if the criterion's formula does not hold for its loss."""
    if not isinstance(path, ClosedFormPath):
        raise ValueError(f"criteria.{criterion} is exact for least squares only; this path has {path.loss!r}.")
    return path

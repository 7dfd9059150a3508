"""Exact k-fold: of least squares without refitting, of other losses by a path per fold.

For least squares, with the notation of ``criteria.press``, leaving out the samples F leaves, with R = diag(sqrt(s)),

    y_F - f^(-F)(x_F) = R_F^-1 (B_FF)^-1 (B R y)_F

an |F| x |F| system per fold and value. Where the spectrum has fewer columns than the fold has samples, the same
system is solved in the space of the spectrum: with A = [v, Q], 1 - B = A diag(h) A' on the rows F and

    (I - A_F diag(h) A_F')^-1 u = u + A_F diag(h)^1/2 (I - diag(h)^1/2 A_F'A_F diag(h)^1/2)^-1 diag(h)^1/2 A_F' u
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from sklearn.model_selection import check_cv

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values, held_out_loss
from svmpath.criteria.over_kernel import along_kernel
from svmpath.criteria.press import least_squares_only, lost_to_rounding
from svmpath.losses import Nu, Problem
from svmpath.paths import (
    ClosedFormPath,
    ElasticPath,
    JumpPath,
    KernelPath,
    MarchPath,
    MergedPath,
    NewtonKernelPath,
    NodePath,
    Path,
    trace_problem,
)
from svmpath.paths.closed_form import Piece
from svmpath.solvers.spectral import Spectrum
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_SLIP = 1e-14  # relative; the largest nu of a fold and of all samples may be one number, but for its last digits


def kfold(path: Path, values: Any, *, cv: Any = 5, groups: Any = None, loss: HeldOutLoss = None) -> Curve:
    """Exact cross-validation along a path: least squares without refitting, other losses by a path per fold.

    Parameters
    ----------
    path : Path
        Of any loss, over any parameter. In low rank the landmarks stay as they are.
    values : float or array of shape (m,)
        Values of the path's parameter.
    cv : int, splitter or iterable of (train, test), default=5
        As in scikit-learn: a number of folds (stratified for classification), any splitter, or the splits.
    groups : array of shape (n,), optional
        For splitters that need groups.
    loss : {"error", "squared", "squared_hinge", "logistic", "sigmoid"} or callable, optional
        As in :func:`svmpath.criteria.press`.

    Returns
    -------
    Curve
        Scores pool the held-out samples of all folds.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> criteria.kfold(path, [0.1, 1.0, 10.0], cv=5).scores.shape
    (3,)
    """
    values = check_values(path, values)
    problem = path.problem
    folds = _splits(problem, cv, groups)
    _check_nu(path, values, folds)
    if isinstance(path, MergedPath):  # which merges anew for each fold: copies that are left out weigh nothing
        return _merged_kfold(path, values, folds, loss)
    if isinstance(path, NewtonKernelPath):
        return along_kernel(path, values, lambda there, C: kfold(there, C, cv=folds, loss=loss))
    rows = np.concatenate([test for _, test in folds])
    if isinstance(path, (MarchPath, JumpPath, KernelPath, NodePath, ElasticPath)):
        held = np.hstack([_path_fold(path, values, train, test) for train, test in folds])
        doubtful = np.zeros(len(values), dtype=int)
        return Curve(path, "kfold", values, held_out_loss(loss, problem.task), rows, held, problem.y, doubtful)
    path = least_squares_only(path, "kfold")
    ends = np.cumsum([0, *(len(test) for _, test in folds)])
    held = np.empty((len(values), len(rows)))
    doubtful = np.zeros(len(values), dtype=int)
    for piece in path.pieces(values):
        with blas_threads(piece.problem.gram.entries):
            doubtful[piece.positions] = lost_to_rounding(piece)
            for (train, test), start, end in zip(folds, ends[:-1], ends[1:], strict=True):
                held[piece.positions, start:end] = leave_fold_out(piece, train, test)
    return Curve(path, "kfold", values, held_out_loss(loss, problem.task), rows, held, problem.y, doubtful)


def _merged_kfold(path: MergedPath, values: Array, folds: list[tuple[Array, Array]], loss: HeldOutLoss) -> Curve:
    """By a path of the merged samples for every fold, whatever the loss."""
    problem, rows = path.problem, np.concatenate([test for _, test in folds])
    held = np.hstack([_fold(path, values, train, test) for train, test in folds])
    doubtful = np.zeros(len(values), dtype=int)
    if isinstance(path.inner, ClosedFormPath):
        for piece in path.inner.pieces(values):
            lost = lost_to_rounding(piece) > 0
            doubtful[piece.positions] = np.where(lost, len(problem.active), 0)
    return Curve(path, "kfold", values, held_out_loss(loss, problem.task), rows, held, problem.y, doubtful)


def _splits(problem: Problem, cv: Any, groups: Any) -> list[tuple[Array, Array]]:
    """The folds as (train, test) rows, each with something to train on."""
    splitter = check_cv(cv, problem.y, classifier=problem.task == "classification")
    every, rows = np.arange(problem.n), problem.gram.rows
    X = problem.gram.X if rows is None else problem.gram.X[rows]
    folds = [(every[a], every[b]) for a, b in splitter.split(X, problem.y, groups)]
    if not folds:
        raise ValueError("cv gives no split at all; at least one (train, test) pair is needed.")
    for train, _ in folds:
        if len(np.unique(train)) < len(train):
            raise ValueError("A split trains on a row twice; give sample weights instead of repeated rows.")
        if not problem.s[train].any():
            raise ValueError("A fold leaves no sample of positive weight to train on; use fewer folds.")
    return folds


def _check_nu(path: Path, values: Array, folds: list[tuple[Array, Array]]) -> None:
    """Refuse a nu for which there is no machine on some fold."""
    if not isinstance(path.loss, Nu):
        return
    y, s = path.problem.y, path.problem.s
    largest = min(Nu.largest(y[train], s[train]) for train, _ in folds)
    if values.max() > largest * (1.0 + _SLIP):
        raise ValueError(
            f"nu = {values.max():.6g} is infeasible for the training part of a fold: with these folds it is at most "
            f"{largest:.6g} (twice the share of the smaller class)."
        )


def _path_fold(
    path: MarchPath | JumpPath | KernelPath | NodePath | ElasticPath, values: Array, train: Array, test: Array
) -> Array:
    """Decision values of the test rows along the path of the train rows."""
    if isinstance(path, MarchPath):
        return _walk_fold(path, values, train, test)
    return _fold(path, values, train, test)


def _walk_fold(path: MarchPath, values: Array, train: Array, test: Array) -> Array:
    """Decision values of the test rows along the path of the train rows, of shape (m, len(test)).

    The path is that of the same features with weight zero for whatever is not in ``train``.
    """
    s = np.zeros(path.problem.n)
    s[train] = path.problem.s[train]
    fold = trace_problem(replace(path.problem, s=s), path.loss, "C", path.span, shared=path.shared)
    assert isinstance(fold, MarchPath)
    held = np.empty((len(values), len(test)))
    for stop in fold.walk(values):
        held[stop.position] = stop.point.f[test]
    return held


def _fold(
    path: JumpPath | KernelPath | NodePath | ElasticPath | MergedPath, values: Array, train: Array, test: Array
) -> Array:
    """The same along a path that knows how to do without some rows."""
    others = np.setdiff1d(np.arange(path.problem.n), train)
    return _where_feasible(path.without(others)).decisions(values)[:, test]


def _where_feasible(fold: Any) -> Any:
    """The path of a fold, which for the nu machine may have to begin later than that of all samples."""
    largest = Nu.largest(fold.problem.y, fold.problem.s) if isinstance(fold.loss, Nu) else np.inf
    if not min(fold.span) < largest < max(fold.span):
        return fold
    span = tuple(min(end, largest) for end in fold.span)
    return fold.around(replace(fold.inner, span=span)) if isinstance(fold, MergedPath) else replace(fold, span=span)


def leave_fold_out(piece: Piece, train: Array, test: Array) -> Array:
    """Decision values of the test rows by the machines fitted on the train rows, of shape (m, len(test)).

    Whatever is not in ``train`` is left out of the fit, also rows that are in neither.
    """
    problem, spectrum = piece.problem, piece.spectrum
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
    b = s @ (problem.y - f)[active] / s.sum()
    return f[rows] + b

"""The span prediction of the squared hinge: leave-one-out if no other sample changes its side.

With E = {y f < 1}, the slacks xi_i = 1 - y_i f_i and the leverages h_i = s_i a_i' M_E^-1 a_i of the rows E (see
``solvers.feature_newton``), leaving out i in E while the others keep their sides gives

    y_i f^(-i)(x_i) = 1 - xi_i / (1 - h_i)

which counts as an error if xi_i + h_i > 1; zero, as on every curve, if y_i = 1. A sample outside E has no coefficient:
without it the machine is the same. This is Bonidal, Tindel & Guermeur's eq. 16, 20, 23 and 24; their (A_E^-1)_ii is
2 C (1 - h_i).

For the number of errors alone most leverages need not be known well. With M_E = U'U and a Gaussian matrix Om of k
rows, ``|Om U^-T a_i|^2 / k`` is h_i / s_i times a chi-square variable over its k degrees of freedom: a sample whose
estimate is far on one side of (1 - xi_i) / s_i is decided by it, and only the others are computed in full. With k = 32
the factors 4 and 1/8 are exceeded with probabilities below 1e-12 and 1e-9.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmpath.criteria.alo import alo
from svmpath.criteria.curve import Curve, HeldOutLoss, Screened, check_values, error, held_out_loss
from svmpath.criteria.merged import by_split_copies
from svmpath.criteria.over_kernel import along_kernel
from svmpath.paths import JumpPath, MarchPath, NodePath, OverKernel, Path
from svmpath.paths.march import Stop
from svmpath.solvers.feature_newton import FewSamples, Rows
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

LOST = 1e-4  # relative error from which on a held-out residual counts as lost
_MANY = 3000  # samples from which errors are screened
_BLOCK = 2048  # rows whose leverages are computed at a time
_PROJECTIONS = 32
_FAR, _NEAR = 4.0, 8.0  # estimates so many times too large, or too small, decide


@by_split_copies
def span(path: Path, values: Any, *, loss: HeldOutLoss = None, screen: bool | None = None) -> Curve:
    """Leave-one-out as predicted from the spans: exact where leaving a sample out moves no other across the margin.

    Parameters
    ----------
    path : Path
        Of ``loss="squared_hinge"`` over C; or of a loss with an elbow, for which this is
        :func:`svmpath.criteria.alo` by another name.
    values : float or array of shape (m,)
        Values of the path's parameter.
    loss : {"error", "squared", "squared_hinge", "logistic"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    screen : bool, optional
        Find the errors by random projections, the near ones exactly, and compute decision values only when they are
        asked for. Default: for more than 3000 samples.

    Returns
    -------
    Curve
        ``doubtful``, counted when first asked for, is the number of samples whose absence does move others across the
        margin, for which the prediction is not exact, or of whose prediction rounding leaves fewer than about four
        digits (a kernel far too large for C). Of a screened curve, ``smooth`` is an estimate.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="squared_hinge", span=(1e-2, 1e2))
    >>> criteria.span(path, np.logspace(-2, 2, 5)).scores.shape
    (5,)
    """
    if isinstance(path, OverKernel):
        return along_kernel(path, values, lambda there, C: span(there, C, loss=loss, screen=screen))
    if isinstance(path, (JumpPath, NodePath)):
        if screen is not None:
            raise ValueError(f"screen= is for the squared hinge; this path has {path.loss!r}.")
        return replace(alo(path, values, loss=loss), criterion="span")
    path = squared_hinge_only(path, "span")
    values = check_values(path, values)
    problem = path.problem
    rows, held_out = np.arange(problem.n), held_out_loss(loss, problem.task)
    doubts = _Doubts(path, values)
    if problem.n > _MANY if screen is None else screen:
        full, screened = _Full(path, values), _screen(path, values)
        return Curve(path, "span", values, held_out, rows, full, problem.y, doubts, screened)
    return Curve(path, "span", values, held_out, rows, _Full(path, values)(), problem.y, doubts)


@dataclass(frozen=True)
class _Full:
    """Computes the held-out decision values, of shape (m, n)."""

    path: MarchPath
    values: Array

    def __call__(self) -> Array:
        held = np.empty((len(self.values), self.path.problem.n))
        for stop in self.path.walk(self.values):
            with blas_threads(self.path.rows.A.size):
                held[stop.position] = _predict_rows(self.path.rows, stop)
        return held


@dataclass(frozen=True)
class _Doubts:
    """Counts the samples whose absence moves others across the margin, or whose prediction is lost to rounding.

    A product of n x n_E numbers per value.
    """

    path: MarchPath
    values: Array

    def __call__(self) -> Array:
        doubtful = np.zeros(len(self.values), dtype=int)
        for stop in self.path.walk(self.values):
            with blas_threads(self.path.rows.A.size):
                E = np.flatnonzero(stop.point.E)
                V = stop.factored.half(self.path.rows.A)
                inside, _ = slips(self.path.rows, stop, E, V)
                for start in range(0, len(E), _BLOCK):
                    part = E[start : start + _BLOCK]
                    _, step, slack = predict(self.path.rows, stop, part, V)
                    doubts = moving(self.path.rows, stop, part, V, step).any(axis=0) | (inside > LOST * slack)
                    doubtful[stop.position] += self.path.problem.count(part[doubts])
        return doubtful


def _predict_rows(rows: Rows, stop: Stop) -> Array:
    """Held-out decision values, a block of the rows E at a time."""
    held = stop.point.f.copy()
    E = np.flatnonzero(stop.point.E)
    for start in range(0, len(E), _BLOCK):
        part = E[start : start + _BLOCK]
        residual = stop.factored.residuals(rows, stop.point.f, part)
        held[part] = rows.y[part] - residual / stop.factored.slack_diag(rows, part)
    return held


def _screen(path: MarchPath, values: Array) -> Screened:
    """The errors of the span prediction, most of them decided by estimates of the leverages."""
    rows = path.rows
    A = rows.A.astype(np.float32)
    Om = np.random.default_rng(0).normal(size=(_PROJECTIONS, A.shape[1])) / np.sqrt(_PROJECTIONS)
    errors = np.zeros((len(values), path.problem.n), dtype=bool)
    estimate = np.empty((len(values), path.problem.n), dtype=np.float32)
    for stop in path.walk(values):
        point = stop.point
        slack = 1.0 - rows.y * point.f
        open_ = np.flatnonzero(point.E & (slack <= 1.0))  # the others are errors, or are not in E
        if isinstance(stop.factored, FewSamples):  # which has all leverages for the price of its factor
            about, wrong = _exact(rows, stop, open_)
        else:
            about, wrong = _estimate(rows, stop, A, Om, open_)
        errors[stop.position] = point.E & (slack > 1.0)
        errors[stop.position, open_] = wrong
        slack[open_] /= np.maximum(1.0 - about, 0.1)
        estimate[stop.position] = rows.y * (1.0 - slack)
    return Screened(errors, estimate)


def _estimate(rows: Rows, stop: Stop, A: Array, Om: Array, open_: Array) -> tuple[Array, Array]:
    """Leverages of some rows by random projections, exact near the bar, and which of them are errors."""
    P = stop.factored.project(Om).T.astype(np.float32)
    # To copy many rows costs more than to project them all.
    B = (A @ P)[open_] if 3 * len(open_) > len(A) else A[open_] @ P
    about = rows.s[open_] * np.einsum("ij,ij->i", B, B)
    bar = rows.y[open_] * stop.point.f[open_]
    wrong = (about > _FAR * bar) & (bar > 0)
    near = np.flatnonzero(~wrong & (about * _NEAR >= bar))
    for start in range(0, len(near), _BLOCK):
        part = near[start : start + _BLOCK]
        about[part], wrong[part] = _exact(rows, stop, open_[part])
    return about, wrong


def _exact(rows: Rows, stop: Stop, which: Array) -> tuple[Array, Array]:
    """Leverages of some of the rows E, and which of them are errors: as on a curve that is not screened."""
    slack = stop.factored.slack_diag(rows, which)
    held = rows.y[which] - stop.factored.residuals(rows, stop.point.f, which) / slack
    return 1.0 - slack, error(rows.y[which], held) > 0


def half_leverages(rows: Rows, stop: Stop) -> tuple[Array, Array]:
    """The samples E, and V with A M_E^-1 A' = V'V."""
    return np.flatnonzero(stop.point.E), stop.factored.half(rows.A)


def predict(rows: Rows, stop: Stop, E: Array, V: Array) -> tuple[Array, Array, Array]:
    """Decision values, held-out for samples E; their steps delta with f' = f + V'V[:, i] delta_i; 1 - leverages."""
    y, s, f = rows.y[E], rows.s[E], stop.point.f
    if isinstance(stop.factored, FewSamples):
        slack = stop.factored.slack_diag(rows, E)
    else:
        slack = 1.0 - s * np.einsum("ij,ij->j", V[:, E], V[:, E])
    residual = stop.factored.residuals(rows, f, E) / slack
    held = f.copy()
    held[E] = y - residual
    return held, -s * residual, slack


def slips(rows: Rows, stop: Stop, E: Array, V: Array) -> tuple[float, float]:
    """What rounding does to the prediction of samples E, to be divided by 1 - leverage, and to V'V at all rows.

    With an offset, V'V takes the weights of E to one everywhere, and their labels times weights to f.
    """
    s, f = rows.s[E], stop.point.f
    found = V.T @ (V[:, E] @ np.column_stack([s, s * rows.y[E]]))
    miss = np.abs(found - np.column_stack([np.ones(len(f)), f])).max(axis=1) / (1.0 + np.abs(f))
    if isinstance(stop.factored, FewSamples):  # where both parts of the quotient have the same relative error
        return (np.inf if stop.factored.rounding > LOST else 0.0), float(miss.max(initial=0.0))
    return float(miss[E].max(initial=0.0)), float(miss.max(initial=0.0))


def moving(rows: Rows, stop: Stop, E: Array, V: Array, step: Array) -> Array:
    """Which samples (rows) change sides when one of E (columns) is left out and the others keep theirs."""
    f = stop.point.f[:, None] + (V.T @ V[:, E]) * step
    new = (rows.y[:, None] * f < 1.0) & (rows.s > 0)[:, None]
    moved = new != stop.point.E[:, None]
    moved[E, np.arange(len(E))] = False  # the sample that is left out has no side
    return moved


def squared_hinge_only(path: Path, criterion: str) -> MarchPath:
    """The path, refused if the criterion's formula does not hold for its loss."""
    if not isinstance(path, MarchPath):
        raise ValueError(f"criteria.{criterion} is made for the squared hinge; this path has {path.loss!r}.")
    return path

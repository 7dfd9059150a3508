"""Held-out values of the squared hinge: predicted, as if no other sample changed sides, and exact.

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

Exactly, leaving out sample i from the solution with rows E and matrix M_E changes the set of rows by i and by those
that then change sides. With the rows S that change, sigma_j = -1 for a row that goes and +1 for one that comes, and
P = A M_E^-1 A'::

    delta = (diag(1 / (sigma s)) + P)_SS^-1 (y - f)_S,        f' = f + P_:S delta

which is repeated with the sides of f' until they are those that were assumed. S = {i} is the prediction.

P has as many digits as M_E, which loses them in proportion to C times the kernel. Identities show how many it has
(``_rounding``). If they are too few, samples are left out one by one, with the dual system of the machine; those that
still violate the optimality conditions are counted as unreliable.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Screened, error
from svmpath.criteria.held_out import HeldOut, refuse_events
from svmpath.criteria.sources import AtValues
from svmpath.exceptions import PathError
from svmpath.paths import MarchPath, Path
from svmpath.paths.march import Stop
from svmpath.solvers.feature_newton import LEAST_SLACK, AnyRows, FeatureNewton, FeaturePoint, FewSamples
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_TOO_FEW_DIGITS = 1e-4  # relative error from which on a held-out residual is unreliable
_WEAK = 0.01 * _TOO_FEW_DIGITS  # rounding in V from which on samples are left out one by one
_MOST_REFITS = 200  # samples for which that is done at one value
_MOST_CORRECTIONS = 12  # before a sample is handed to Newton's method
_ILL_CONDITIONED = 1e9  # a system from which on it is handed over at once
MANY = 3000  # samples from which errors are screened
_ROW_BLOCK = 2048  # rows whose leverages are computed at a time
PROJECTIONS = 32
_CORRECTED_ENTRIES = 1_000_000  # of samples in features, of systems that are solved together
_TOO_LARGE, _TOO_SMALL = 4.0, 8.0  # estimates so many times too large, or too small, decide
LEAST_ESTIMATE = 0.1  # of one minus a leverage that is only estimated


def leave_one_out_march(
    path: MarchPath, values: Array, *, max_events: int | None = None, count_only: bool = False
) -> HeldOut:
    """Leave out every sample by corrections of the set of rows."""
    refuse_events(path, max_events, count_only)
    held, lost = np.empty((len(values), path.problem.n)), np.zeros(len(values), dtype=int)
    for stop in path.walk(values):
        with blas_threads(path.rows.entries):
            held[stop.position], lost[stop.position] = _leave_one_out(path, stop)
    return HeldOut(np.arange(path.problem.n), held, lost)


def predict_left_out_march(
    path: MarchPath, values: Array, *, form: str = "direct", screen: bool | None = None
) -> HeldOut:
    """Leave out every sample while the others keep their sides."""
    refuse_form(path, form)
    rows, doubts = np.arange(path.problem.n), AtValues(count_unreliable, path, values)
    if path.problem.n > MANY if screen is None else screen:
        return HeldOut(rows, AtValues(_predict_all, path, values), doubts, _screen(path, values))
    return HeldOut(rows, _predict_all(path, values), doubts)


def refuse_form(path: Path, form: str) -> None:
    """Raise an error for an option that only losses with an elbow have."""
    if form != "direct":
        raise ValueError(f"form= works for losses with an elbow only, but this path has {path.loss!r}; leave it out.")


def _blocks(rows: Array) -> list[Array]:
    """The rows, some thousands at a time."""
    return [rows[start : start + _ROW_BLOCK] for start in range(0, len(rows), _ROW_BLOCK)]


def _predict_all(path: MarchPath, values: Array) -> Array:
    """The predicted decision values, of shape (m, n)."""
    rows, held = path.rows, np.empty((len(values), path.problem.n))
    for stop in path.walk(values):
        with blas_threads(rows.entries):
            held[stop.position] = stop.point.f
            for part in _blocks(np.flatnonzero(stop.point.E)):
                held[stop.position, part] = _held_out(rows, stop, part, stop.factored.slack_diag(rows, part))
    return held


def count_unreliable(path: MarchPath, values: Array) -> Array:
    """The number of samples whose absence moves others across the margin, or whose prediction is lost to rounding.

    A product of n x n_E numbers per value.
    """
    rows, counts = path.rows, np.zeros(len(values), dtype=int)
    for stop in path.walk(values):
        with blas_threads(rows.entries):
            E, V = np.flatnonzero(stop.point.E), stop.factored.features.half(rows.A)
            inside, _ = _rounding(rows, stop, E, V)
            for part in _blocks(E):
                _, step, slack = _predict(rows, stop, part, V)
                moved = _changes_sides(rows, stop, part, V, step).any(axis=0)
                is_unreliable = moved | (inside > _TOO_FEW_DIGITS * slack)
                counts[stop.position] += path.problem.count(part[is_unreliable])
    return counts


def _screen(path: MarchPath, values: Array) -> Screened:
    """The errors of the span prediction, most of them decided by estimates of the leverages."""
    rows = path.rows
    image = rows.projector()
    Om = random_projection(rows.width)
    errors = np.zeros((len(values), path.problem.n), dtype=bool)
    estimate = np.empty((len(values), path.problem.n), dtype=np.float32)
    for stop in path.walk(values):
        point = stop.point
        slack = 1.0 - rows.y * point.f
        E = np.flatnonzero(point.E)
        if isinstance(stop.factored, FewSamples):  # which has all leverages for the price of its factor
            about, wrong = _leverages(rows, stop, E)
        else:
            about, wrong = _estimate(rows, stop, image, Om, E)
        errors[stop.position, E] = wrong | (slack[E] > 1.0)
        slack[E] /= np.maximum(1.0 - about, LEAST_ESTIMATE)
        estimate[stop.position] = rows.y * (1.0 - slack)
    return Screened(errors, estimate)


def random_projection(width: int) -> Array:
    """Om: the same at every value."""
    return np.random.default_rng(0).normal(size=(PROJECTIONS, width)) / np.sqrt(PROJECTIONS)


def _estimate(rows: AnyRows, stop: Stop, image: Any, Om: Array, E: Array) -> tuple[Array, Array]:
    """Leverages of the rows E by random projections, exact near the bar, and which of them are errors."""
    P = stop.factored.features.project(Om).T
    # To copy many rows costs more than to project them all.
    B = image(slice(None), P)[E] if 3 * len(E) > len(rows.y) else image(E, P)
    about = rows.s[E] * np.einsum("ij,ij->i", B, B)
    bar = rows.y[E] * stop.point.f[E]  # below zero where the sample is an error even by the machine that has seen it
    return screen_errors(about, bar, lambda near: _leverages(rows, stop, E[near]))


def screen_errors(about: Array, bar: Array, exact: Callable[[Array], tuple[Array, Array]]) -> tuple[Array, Array]:
    """Leverages from estimates of them, exact near the bar, and which samples are errors.

    ``exact`` returns both of the samples at some positions.
    """
    wrong = about > _TOO_LARGE * bar
    near = np.flatnonzero(~wrong & (about * _TOO_SMALL >= bar))
    for part in _blocks(near):
        about[part], wrong[part] = exact(part)
    return about, wrong


def _held_out(rows: AnyRows, stop: Stop, which: Array, slack: Array) -> Array:
    """The predictions for some of the rows E."""
    return rows.y[which] - stop.factored.residuals(rows, stop.point.f, which) / slack


def _leverages(rows: AnyRows, stop: Stop, which: Array) -> tuple[Array, Array]:
    """Leverages of some of the rows E, and which of them are errors: as on a curve that is not screened."""
    slack = stop.factored.slack_diag(rows, which)
    return 1.0 - slack, error(rows.y[which], _held_out(rows, stop, which, slack)) > 0


def _leave_one_out(path: MarchPath, stop: Stop) -> tuple[Array, int]:
    """Held-out decision values of all samples at one value, and how many of them are lost to rounding."""
    rows = path.rows
    E, V = np.flatnonzero(stop.point.E), stop.factored.features.half(rows.A)  # A M_E^-1 A' = V'V
    held, step, slack = _predict(rows, stop, E, V)
    moved = _changes_sides(rows, stop, E, V, step)
    inside, anywhere = _rounding(rows, stop, E, V)
    weak = (inside > _WEAK * slack) | (anywhere > _WEAK)
    counted = path.problem.is_counted()[E]
    some = np.flatnonzero(moved.any(axis=0) & ~weak & counted)
    if len(some):
        held[E[some]] = _corrected(path, stop, V, E[some], moved[:, some].T)
    if np.count_nonzero(weak & counted) > _MOST_REFITS:
        return held, path.problem.count(E[(inside > _TOO_FEW_DIGITS * slack) | (anywhere > _TOO_FEW_DIGITS)])
    lost = 0
    for i in E[weak & counted]:
        held[i], violation = _without(path, stop, int(i))
        lost += 0 if violation <= _TOO_FEW_DIGITS * (1.0 + abs(held[i])) else path.problem.count(np.array([i]))
    return held, lost


def _without(path: MarchPath, stop: Stop, i: int) -> tuple[float, float]:
    """The held-out decision value of i with as many digits as there are, and how far it is from optimal."""
    s = path.problem.s.copy()
    s[i] = 0.0
    problem = replace(path.problem, s=s)
    machines = []
    others = stop.point.E & (s > 0)
    if 0 < np.count_nonzero(others) <= path.rows.width:
        machines.append(path.loss.in_samples(problem, others, stop.C))
    if not machines or machines[0].violation > _TOO_FEW_DIGITS:
        with suppress(PathError):  # what Newton's method cannot settle shows in the violation
            machines.append(path.without(np.array([i]))(stop.C))
    if not machines:
        return float(stop.point.f[i]), np.inf
    best = min(machines, key=lambda machine: machine.violation)
    return float(best.fitted[i]), best.violation


def _corrected(path: MarchPath, stop: Stop, V: Array, which: Array, moved: Array) -> Array:
    """Held-out decision values of some rows by corrections of the rows; by Newton's method where they do not settle.

    ``moved`` says which samples (columns) changed sides without each of these (rows). Systems of about the same size
    are solved together.
    """
    rows, point = path.rows, stop.point
    held, unsettled, moved = np.empty(len(which)), np.zeros(len(which), dtype=bool), moved.copy()
    left = np.arange(len(which))
    for _ in range(_MOST_CORRECTIONS):
        sizes, settled = np.count_nonzero(moved[left], axis=1), []
        left = left[np.argsort(sizes, kind="stable")]
        parts = 1 + len(left) * (1 + int(sizes.max())) * len(V) // _CORRECTED_ENTRIES
        for part in np.array_split(left, min(parts, len(left))):
            f, is_regular = _after(rows, point, V, which[part], moved[part])
            new = ((rows.y * f < 1.0) & (rows.s > 0)) != point.E
            new[np.arange(len(part)), which[part]] = False
            settled.append((new == moved[part]).all(axis=1) | ~is_regular)
            held[part], moved[part], unsettled[part] = f[np.arange(len(part)), which[part]], new, ~is_regular
        left = left[~np.concatenate(settled)]
        if not len(left):
            break
    unsettled[left] = True
    for k in np.flatnonzero(unsettled):
        s = np.where(np.arange(len(rows.s)) == which[k], 0.0, rows.s)
        newton = FeatureNewton.of(path.loss.pieces, replace(rows, s=s))
        held[k] = newton.at(1.0 / stop.C, newton.point(point.theta, point.f))[0].f[which[k]]
    return held


def _after(rows: AnyRows, point: FeaturePoint, V: Array, which: Array, moved: Array) -> tuple[Array, Array]:
    """Decision values of all samples once one is left out and others have moved, for several; which are regular.

    With S the sample and those that move, W = V_S' and signs sigma_j = -s_j for what leaves E, s_j for what enters::

        (diag(1 / sigma) + W W') delta = (y - f)_S,     f' = f + V' W' delta

    Smaller systems are filled up with a multiple of the identity, among their singular values.
    """
    at, column = np.nonzero(moved)
    sizes = 1 + np.bincount(at, minlength=len(which))
    place = 1 + np.arange(len(at)) - np.searchsorted(at, at)
    S, is_used = np.repeat(which[:, None], sizes.max(), axis=1), np.arange(sizes.max()) < sizes[:, None]
    S[at, place] = column
    W = V.T[S] * is_used[:, :, None]
    M, k = W @ W.swapaxes(1, 2), np.arange(sizes.max())
    M[:, k, k] += np.where(is_used, np.where(point.E[S], -1.0, 1.0) / rows.s[S], 0.0)
    filled = np.sqrt(np.sum(M * M, axis=(1, 2)) / sizes)
    M[:, k, k] += np.where(is_used, 0.0, filled[:, None])
    is_regular = np.linalg.cond(M) < _ILL_CONDITIONED
    M[~is_regular] = np.eye(len(k))
    delta = np.linalg.solve(M, ((rows.y - point.f)[S] * is_used)[:, :, None])
    return point.f + (W.swapaxes(1, 2) @ delta)[:, :, 0] @ V, is_regular


def _predict(rows: AnyRows, stop: Stop, E: Array, V: Array) -> tuple[Array, Array, Array]:
    """Decision values, held-out for samples E; their steps delta with f' = f + V'V[:, i] delta_i; 1 - leverages."""
    y, s, f = rows.y[E], rows.s[E], stop.point.f
    if isinstance(stop.factored, FewSamples):
        slack = stop.factored.slack_diag(rows, E)
    else:
        slack = np.maximum(1.0 - s * np.einsum("ij,ij->j", V[:, E], V[:, E]), LEAST_SLACK)
    residual = stop.factored.residuals(rows, f, E) / slack
    held = f.copy()
    held[E] = y - residual
    return held, -s * residual, slack


def _rounding(rows: AnyRows, stop: Stop, E: Array, V: Array) -> tuple[float, float]:
    """What rounding does to the prediction of samples E, to be divided by 1 - leverage, and to V'V at all rows.

    With an offset, V'V takes the weights of E to one everywhere, and their labels times weights to f.
    """
    s, f = rows.s[E], stop.point.f
    images = V.T @ (V[:, E] @ np.column_stack([s, s * rows.y[E]]))
    miss = np.abs(images - np.column_stack([np.ones(len(f)), f])).max(axis=1) / (1.0 + np.abs(f))
    if isinstance(stop.factored, FewSamples):  # where both parts of the quotient have the same relative error
        return (np.inf if stop.factored.rounding > _TOO_FEW_DIGITS else 0.0), float(miss.max(initial=0.0))
    return float(miss[E].max(initial=0.0)), float(miss.max(initial=0.0))


def _changes_sides(rows: AnyRows, stop: Stop, E: Array, V: Array, step: Array) -> Array:
    """Which samples (rows) change sides when one of E (columns) is left out and the others keep theirs."""
    f = stop.point.f[:, None] + (V.T @ V[:, E]) * step
    new = (rows.y[:, None] * f < 1.0) & (rows.s > 0)[:, None]
    moved = new != stop.point.E[:, None]
    moved[E, np.arange(len(E))] = False  # the sample that is left out has no side
    return moved

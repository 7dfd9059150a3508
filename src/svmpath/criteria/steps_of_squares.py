"""The errors of leave-one-out, and of its prediction, as step functions of C: least squares and the squared hinge.

*Least squares.* With mu = 1 / (2 C), the eigenpairs of ``solvers.spectral``, d = Q'R y and q_ij = Q_ij^2,

    y_i f^(-i)(x_i) = sum_j c_ij mu / (l_j + mu) / sum_j q_ij mu / (l_j + mu)
    c_ij = y_i^2 q_ij - y_i Q_ij d_j / s_i^(1/2)

where the rest, if there is one, is one more term. The denominator is B_ii > 0; an error comes or goes where the
numerator changes sign. Around a centre m, with u, N = m / (l + m) and T = 2 N - 1 of ``solvers.fixed_sides``,
mu / (l + mu) = (1 - u) N / (1 - u T), so that the numerator is 1 - u times a power series with the coefficients
sum_j c_ij N_j T_j^k; beyond the K-th none is larger than sum_j |c_ij| N_j |T_j|^K. ``solvers.crossings`` finds all
sign changes of such series.

*Squared hinge, predicted.* Between two events the rows E on the left are a least squares machine, and the prediction is
its leave-one-out. At an event it jumps: a sample that comes or goes changes the leverages of all.

*Squared hinge, exactly.* Without sample i the machine has a path of its own (``paths.sides``), on each stretch of which
f(x_i) is a power series. It is walked where the full machine leaves the answer open: a sample outside E is right,
and one that is wrong by the machine which has seen it is wrong by the one which has not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from svmpath.criteria.held_out import HeldOut, leave_one_out, predict_left_out
from svmpath.criteria.sources import computed
from svmpath.criteria.steps import MOST_PATHS, Steps, refuse_many, refuse_steps
from svmpath.interrupts import checkpoint
from svmpath.paths import ClosedFormPath, MarchPath, Path
from svmpath.paths.sides import SideWalk, Stretch, principal_rows
from svmpath.solvers.crossings import sign_changes
from svmpath.solvers.feature_newton import Rows
from svmpath.solvers.fixed_sides import Series, powers
from svmpath.solvers.spectral import Spectrum, decompose_dense, decompose_factor
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

_FACTOR = 2.0  # from the smallest C to the largest around one centre: |u| is 0.18 at most
_REST = 1e-18  # what a power of u leaves of the coefficients beyond the last
_FEWEST_TERMS = 4
_SAME_C = 1e-9  # relative; edges nearer to each other are one, as those of copies, which rounding tells apart


class _Track:
    """Whether each sample is wrong, from the smallest C to the largest: notes (C, is wrong from there on)."""

    def __init__(self, n: int) -> None:
        self.notes: list[list[tuple[float, bool]]] = [[] for _ in range(n)]
        self.hidden: set[int] = set()  # samples whose sign a remainder hides somewhere

    def note(self, C: float, rows: Array, is_wrong: Array) -> None:
        """From C on these samples are wrong, or not."""
        for row, wrong in zip(rows.tolist(), is_wrong.tolist(), strict=True):
            if not self.notes[row] or self.notes[row][-1][1] != wrong:
                self.notes[row].append((C, wrong))

    def follow(self, rows: Array, series: Series, at: Callable[[float], float], start: float, end: float) -> Array:
        """Note the signs of functions that are positive where a sample is right; returns which are so anywhere.

        The signs at the start are those at the end of the stretch before, but for jumps and rounding.
        """
        right = (series.coefs * powers(start, series.terms)).sum(axis=1) > 0
        self.note(at(start), rows, ~right)
        u, which, hidden = sign_changes(series, start, end)
        for place, row in zip(u.tolist(), rows[which].tolist(), strict=True):
            self.note(at(place), np.array([row]), np.array([not self.notes[row][-1][1]]))
        self.hidden.update(rows[hidden].tolist())
        right[which] = True
        return right

    def replace(self, row: int, low: float, high: float, notes: list[tuple[float, bool]]) -> None:
        """Other notes of a sample between two values of C."""
        old = self.notes[row]
        after = [(high, wrong) for C, wrong in old if high >= C][-1:]
        self.notes[row] = [each for each in old if each[0] < low] + notes + after + [e for e in old if e[0] > high]

    def steps(self, path: Path, rows: Array, hold: Callable[[Path, Array], HeldOut]) -> Steps:
        """The steps that these samples make, and the held-out values inside each."""
        low, high = sorted(path.span)
        first = np.array([self.notes[row][0][1] for row in rows.tolist()], dtype=bool)
        flips = sorted(
            (C, k)
            for k, row in enumerate(rows.tolist())
            for (_, before), (C, wrong) in pairwise(self.notes[row])
            if before != wrong
        )
        edges, wrong = [low], [first]
        for C, k in flips:
            if edges[-1] * (1.0 + _SAME_C) < C:
                edges.append(C)
                wrong.append(wrong[-1].copy())
            wrong[-1][k] ^= True
        # Two flips at one C may cancel, and one at an end, to rounding, is none inside.
        end = high * (1.0 - _SAME_C)
        kept = [0] + [k for k in range(1, len(edges)) if edges[k] < end and np.any(wrong[k] != wrong[k - 1])]
        ends = np.array([edges[k] for k in kept] + [high])
        refuse_many(len(kept), path.problem.n)
        middle = np.sqrt(ends[1:] * ends[:-1])
        held = hold(path, middle)
        f, y = computed(held.decisions)[:, rows], path.problem.y[rows]
        differ = ((f > 0) != (y > 0)) != np.array([wrong[k] for k in kept])
        differ[:, np.isin(rows, list(self.hidden))] = True
        doubts = computed(held.doubts) + np.array([path.problem.count(rows[each]) for each in differ])
        return Steps(ends, middle, replace(held, doubts=np.minimum(doubts, path.problem.n)))


@dataclass(frozen=True)
class _LeastSquares:
    """Leave-one-out of a least squares machine as a function of mu: c, q and the poles l."""

    c: Array
    q: Array
    poles: Array

    @classmethod
    def of(cls, spectrum: Spectrum, y: Array, s: Array) -> _LeastSquares:
        z = np.sqrt(s) * y
        d = spectrum.Q.T @ z
        rest = np.zeros(len(y)) if spectrum.is_full else z - spectrum.v * (spectrum.v @ z) - spectrum.Q @ d
        q = np.column_stack([spectrum.Q**2, spectrum.rest_diag])
        fitted = np.column_stack([spectrum.Q * d, rest]) / np.sqrt(s)[:, None]
        return cls(y[:, None] ** 2 * q - y[:, None] * fitted, q, np.append(spectrum.values, spectrum.rest_value))

    def follow(self, track: _Track, rows: Array, low: float, high: float) -> None:
        """Note on a track where samples are wrong between two values of C."""
        ends = np.geomspace(low, high, 2 + int(np.log(high / low) / np.log(_FACTOR)))
        for a, b in pairwise(ends.tolist()):
            centre = float(np.sqrt(a * b))
            end = (b - centre) / (b + centre)
            at = Stretch(rows, self._series(0.5 / centre, end), centre, -end, end)
            track.follow(rows, at.series, at.C, -end, end)

    def _series(self, m: float, size: float) -> Series:
        N = m / (self.poles + m)
        T = 2.0 * N - 1.0
        terms = max(_FEWEST_TERMS, 1 + int(np.log(_REST) / np.log(size)))
        shares = N[:, None] * T[:, None] ** np.arange(terms)
        B = np.maximum(self.q @ N, np.finfo(float).tiny)
        return Series((self.c @ shares) / B[:, None], np.abs(self.c) @ (N * np.abs(T) ** terms) / B)


def steps_closed(path: ClosedFormPath) -> Steps:
    """Least squares."""
    if path.over != "C":
        refuse_steps(path)
    problem, spectrum = path.problem, path.spectrum
    if spectrum.values.min(initial=0.0) < 0:
        raise ValueError(
            "exact=True needs a positive semi-definite kernel matrix, but this one has negative eigenvalues: give "
            "values instead, or clip them by rank=svmpath.gram.Clipped()."
        )
    rows, track = problem.active, _Track(problem.n)
    with blas_threads(problem.gram.entries):
        terms = _LeastSquares.of(spectrum, problem.y[rows], problem.s[rows])
        terms.follow(track, rows, *sorted(path.span))
    return track.steps(path, _counted(path), leave_one_out)


def predicted_steps_march(path: MarchPath) -> Steps:
    """The prediction from the spans, for the squared hinge."""
    rows, track = path.rows, _Track(path.problem.n)
    everyone = np.arange(path.problem.n)
    with blas_threads(rows.entries):
        for E, low, high in _pieces(path):
            checkpoint()
            inside = np.flatnonzero(E)
            track.note(low, everyone[~E], np.zeros(np.count_nonzero(~E), dtype=bool))
            Z, s = rows.A[inside, :-1], rows.s[inside]
            spectrum = decompose_factor(Z, s) if Z.shape[1] < len(Z) else decompose_dense(Z @ Z.T, s)
            _LeastSquares.of(spectrum, rows.y[inside], s).follow(track, inside, low, high)
    return track.steps(path, _counted(path), lambda path, values: predict_left_out(path, values, screen=False))


def _pieces(path: MarchPath) -> Iterator[tuple[Array, float, float]]:
    """The samples on the left, and from where to where."""
    ends = np.sort(path.sides.breakpoints)
    for low, high in pairwise(ends.tolist()):
        yield path.sides.at(float(np.sqrt(low * high))), low, high


def steps_march(path: MarchPath) -> Steps:
    """The squared hinge, without each sample."""
    problem, (low, high) = path.problem, sorted(path.span)
    if problem.n > MOST_PATHS:
        raise ValueError(
            f"exact=True follows a path for every sample and allows at most {MOST_PATHS} samples, but there are "
            f"{problem.n}; give values instead, or use criteria.span(path, exact=True)."
        )
    track, everyone = _Track(problem.n), np.arange(problem.n)
    opens, closes = np.full(problem.n, np.inf), np.zeros(problem.n)  # from where to where the answer is open

    def watch(at: Stretch) -> None:
        right = track.follow(everyone, _margins(at, everyone, rows.y), at.C, at.start, at.end)
        is_open = right & at.E
        opens[is_open] = np.minimum(opens[is_open], at.C(at.start))
        closes[is_open] = np.maximum(closes[is_open], at.C(at.end))

    with blas_threads(path.rows.entries):
        rows = principal_rows(path.rows)
        SideWalk(rows, low, watch).to(high)
        for row in _counted(path).tolist():
            checkpoint()
            a, b = float(max(opens[row], low)), float(min(closes[row], high))
            others = (rows.s > 0) & (everyone != row)
            if a < b and np.any(others & (rows.y == rows.y[row])):
                track.replace(row, a, b, _without(rows, row, a, b, track.hidden))
            elif a < b:  # the other class is alone, and f is its label
                track.replace(row, low, high, [(low, True)])
    return track.steps(path, _counted(path), leave_one_out)


def _without(rows: Rows, row: int, low: float, high: float, hidden: set[int]) -> list[tuple[float, bool]]:
    """The notes on a sample by the machine that has not seen it."""
    track, only = _Track(len(rows.y)), np.array([row])

    def watch(at: Stretch) -> None:
        track.follow(only, _margins(at, only, rows.y), at.C, at.start, at.end)

    SideWalk(replace(rows, s=np.where(np.arange(len(rows.s)) == row, 0.0, rows.s)), low, watch).to(high)
    hidden |= track.hidden
    return track.notes[row]


def _margins(at: Stretch, which: Array, y: Array) -> Series:
    """y f of some samples, from their slacks: 1 - y f on the left, y f - 1 on the right."""
    coefs = at.series.coefs[which] * np.where(at.E[which], -1.0, 1.0)[:, None]
    coefs[:, 0] += y[which] ** 2
    return Series(coefs, at.series.beta[which])


def _counted(path: Any) -> Array:
    """The samples that are left out."""
    return np.flatnonzero((path.problem.s > 0) & path.problem.is_counted())

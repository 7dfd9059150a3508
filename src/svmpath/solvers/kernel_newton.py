"""The squared hinge in the coefficients: Newton's method without features, for kernels that change at every call.

The problem of ``solvers.feature_newton`` with w = sum_i u_i z_i, K = Z Z', lam = 1 / C::

    minimise   J(u, b) = sum_i s_i max(0, 1 - y_i f_i)^2 + lam/2 u' K u,      f = K u + b,   sum_i u_i = 0

With E = {i : y_i f_i < 1} the minimiser of the piece has u = 0 outside E and solves the system of ``solvers.samples``
on E. To make features of a kernel costs several such systems, and pays only where one kernel serves many C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.exceptions import PathError
from svmpath.solvers.feature_newton import MOST_STEPS, is_on_margin, not_found
from svmpath.solvers.line_search import exact_step
from svmpath.solvers.newton import PiecewiseQuadratic
from svmpath.solvers.samples import SampleSystem

Array = np.ndarray

_INSIDE = 0.999  # y f of the first sample after a machine without samples left of the margin was brought nearer to zero
# Most that the logarithm of C changes from one start to the next, for ten to twenty steps of Newton's method: straight
# on to a very large C it may take hundreds.
_LOG_STRIDE = 9.0


@dataclass(frozen=True)
class Coefficients:
    """A machine: its coefficients u, offset b, decision values f = K u + b, and sides E (True where y f < 1)."""

    u: Array
    b: float
    f: Array
    E: Array


def machine_of(K: Array, y: Array, s: Array, u: Array, b: float) -> Coefficients:
    """The machine of these coefficients on this kernel."""
    f = K @ u + b
    return Coefficients(u, b, f, (y * f < 1.0) & (s > 0))


def approach(K: Array, y: Array, s: Array, C: float) -> Coefficients:
    """A machine near the one at C, from the limit for C to zero; in steps if C is very large for the kernel."""
    now = machine_of(K, y, s, np.zeros(len(y)), float(s @ y / s.sum()))
    near = min(C, 1.0 / max(float(np.diagonal(K).max()), np.finfo(float).tiny))
    for value in np.geomspace(near, C, 1 + int(np.log(C / near) / _LOG_STRIDE))[:-1]:
        now, _ = minimise(K, y, s, 1.0 / value, now)
    return now


def machine_with(K: Array, y: Array, s: Array, lam: float, E: Array) -> Coefficients:
    """The machine at lam if the samples E were those on the left of the margin: a start where they nearly are."""
    rows = np.flatnonzero(E & (s > 0))
    if len(rows) == 0:
        return machine_of(K, y, s, np.zeros(len(y)), float(s @ y / s.sum()))
    system = SampleSystem(K.take(rows, axis=0).take(rows, axis=1), y[rows], s[rows], lam)
    u = np.zeros(len(y))
    if not system.is_regular:
        return machine_of(K, y, s, u, float(s @ y / s.sum()))
    u[rows] = system.solve()
    f = K @ u
    b = float(s[rows] @ (y - f)[rows] / s[rows].sum())
    return Coefficients(u, b, f + b, (y * (f + b) < 1.0) & (s > 0))


def prolonged(now: Coefficients, last: Coefficients | None, y: Array, s: Array, lam: float) -> Coefficients:
    """The machine now, or the last two prolonged if J is less there: free, since f is linear in the coefficients."""
    if last is None:
        return now
    f = 2 * now.f - last.f
    guess = Coefficients(2 * now.u - last.u, 2 * now.b - last.b, f, (y * f < 1.0) & (s > 0))
    return guess if _objective(guess, y, s, lam) < _objective(now, y, s, lam) else now


def _objective(machine: Coefficients, y: Array, s: Array, lam: float) -> float:
    slack = np.maximum(1.0 - y * machine.f, 0.0)
    return float(s @ slack**2 + 0.5 * lam * (machine.u @ (machine.f - machine.b)))


class _InCoefficients(PiecewiseQuadratic[Coefficients]):
    """J of these samples at lam; ``system`` is that of the last step."""

    most_steps = MOST_STEPS
    system: SampleSystem

    def __init__(self, K: Array, y: Array, s: Array, lam: float) -> None:
        self._K, self._y, self._s, self._lam = K, y, s, lam

    def objective(self, point: Coefficients) -> float:
        return _objective(point, self._y, self._s, self._lam)

    def aim(self, point: Coefficients) -> Coefficients:
        K, y, s, lam, E = self._K, self._y, self._s, self._lam, np.flatnonzero(point.E)
        self.system = SampleSystem(K.take(E, axis=0).take(E, axis=1), y[E], s[E], lam)
        if not self.system.is_regular:
            raise PathError(
                f"At C = {1 / lam:.6g} the system of {len(E)} samples is singular in double precision: the kernel "
                "values are too large for this C. Scale the columns (StandardScaler), or use smaller C."
            )
        u = np.zeros(len(y))
        u[E] = self.system.solve()
        f = K @ u  # all columns: to pick those of E costs more than the product
        b = float(s[E] @ (y - f)[E] / s[E].sum())
        f += b
        return Coefficients(u, b, f, (y * f < 1.0) & (s > 0))

    def is_tied(self, point: Coefficients, aim: Coefficients, moved: Array) -> bool:
        return is_on_margin(self._y[moved], aim.f[moved])

    def search(self, point: Coefficients, aim: Coefficients) -> Coefficients:
        y, s, lam = self._y, self._s, self._lam
        du, db, df = aim.u - point.u, aim.b - point.b, aim.f - point.f
        level, steep = lam * (du @ (point.f - point.b)), lam * (du @ (df - db))
        t = exact_step(1.0 - y * point.f, -y * df, s, point.E, level, steep)
        f = point.f + t * df
        return Coefficients(point.u + t * du, point.b + t * db, f, (y * f < 1.0) & (s > 0))

    def with_minimiser(self, point: Coefficients) -> Coefficients:
        """With no sample on the left, the machine nearer to zero until one is: J falls on the way there."""
        if point.E.any():
            return point
        y, s = self._y, self._s
        shrink = _INSIDE / float((y * point.f)[s > 0].min())
        f = shrink * point.f
        return Coefficients(shrink * point.u, shrink * point.b, f, (y * f < 1.0) & (s > 0))


def minimise(K: Array, y: Array, s: Array, lam: float, start: Coefficients) -> tuple[Coefficients, SampleSystem]:
    """The minimiser of J at lam, from a machine near it, and the system of the samples E that it solves.

    Both classes must have weight: then no minimiser has an empty E.
    """
    method = _InCoefficients(K, y, s, lam)
    found, is_found = method.minimise(method.with_minimiser(start))
    if not is_found:
        raise not_found(lam)
    return found, method.system

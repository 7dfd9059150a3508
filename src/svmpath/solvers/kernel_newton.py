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
_LOG_STRIDE = 2.0  # most that the logarithm of C changes from one start to the next


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
    """A machine near the one at C, from the limit for C to zero in steps: straight on may take hundreds of them."""
    now = machine_of(K, y, s, np.zeros(len(y)), float(s @ y / s.sum()))
    near = min(C, 1.0 / max(float(np.diagonal(K).max()), np.finfo(float).tiny))
    for value in np.geomspace(near, C, 2 + int(np.log(C / near) / _LOG_STRIDE))[:-1]:
        now, _ = minimise(K, y, s, 1.0 / value, now)
    return now


class _InCoefficients(PiecewiseQuadratic[Coefficients]):
    """J of these samples at lam; ``system`` is that of the last step."""

    most_steps = MOST_STEPS
    system: SampleSystem

    def __init__(self, K: Array, y: Array, s: Array, lam: float) -> None:
        self._K, self._y, self._s, self._lam = K, y, s, lam

    def objective(self, point: Coefficients) -> float:
        slack = np.maximum(1.0 - self._y * point.f, 0.0)
        return float(self._s @ slack**2 + 0.5 * self._lam * (point.u @ (point.f - point.b)))

    def aim(self, point: Coefficients) -> Coefficients:
        K, y, s, lam, E = self._K, self._y, self._s, self._lam, np.flatnonzero(point.E)
        self.system = SampleSystem(K[np.ix_(E, E)], y[E], s[E], lam)
        if not self.system.is_regular:
            raise PathError(
                f"At C = {1 / lam:.6g} the system of {len(E)} samples is singular in double precision: the kernel "
                "values are too large for this C. Scale the columns (StandardScaler), or use smaller C."
            )
        u = np.zeros(len(y))
        u[E] = self.system.solve()
        f = K[:, E] @ u[E]
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

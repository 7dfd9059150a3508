"""Machines in their coefficients: Newton's method without features, for kernels that change at every call.

The problem of ``solvers.feature_newton`` with w = sum_i u_i z_i, K = Z Z', lam = 1 / C::

    minimise   J(u, b) = sum_i s_i L(1 - y_i f_i) + lam/2 u' K u,      f = K u + b,   sum_i u_i = 0

for the squared hinge L. With E = {i : y_i f_i < 1} the minimiser of the piece has u = 0 outside E and solves the system
of ``solvers.samples`` on E. To make features of a kernel costs several such systems, and pays only where one kernel
serves many C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.exceptions import PathError
from svmpath.solvers.newton import MOST_STEPS, NewtonOnPieces
from svmpath.solvers.pieces import SQUARED_HINGE
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


class KernelNewton(NewtonOnPieces[Coefficients]):
    """J of these samples; :meth:`at` moves it to a lam. Both classes must have weight: no minimiser has an empty E."""

    most_steps = MOST_STEPS
    system: SampleSystem  # of the last step

    def __init__(self, K: Array, y: Array, s: Array) -> None:
        super().__init__(SQUARED_HINGE, y, s)
        self._K = K

    def at(self, lam: float, start: Coefficients) -> tuple[Coefficients, SampleSystem]:
        """The minimiser of J at lam, from a machine near it, and the system of the samples E that it solves."""
        return self.minimiser(lam, start), self.system

    # --- machines to start from --------------------------------------------------------------------------------------

    def machine(self, u: Array, b: float, f: Array | None = None) -> Coefficients:
        """The machine of these coefficients; f if it is known."""
        f = self._K @ u + b if f is None else f
        return Coefficients(u, b, f, self.region(f))

    def start(self) -> Coefficients:
        """The limit for C to zero."""
        return self.machine(np.zeros(len(self.y)), float(self.s @ self.y / self.s.sum()))

    def approach(self, C: float) -> Coefficients:
        """A machine near the one at C, from the limit for C to zero; in steps if C is very large for the kernel."""
        now = self.start()
        first = min(C, 1.0 / max(float(np.diagonal(self._K).max()), np.finfo(float).tiny))
        for value in np.geomspace(first, C, 1 + int(np.log(C / first) / _LOG_STRIDE))[:-1]:
            now, _ = self.at(1.0 / value, now)
        return now

    def with_sides(self, lam: float, E: Array) -> Coefficients:
        """The machine at lam if the samples E were those on the left of the margin: a start where they nearly are."""
        self.lam = lam
        rows = np.flatnonzero(E & (self.s > 0))
        found = self._solved(rows) if len(rows) else None
        return self.start() if found is None else found

    # --- what Newton's method asks -----------------------------------------------------------------------------------

    def _solved(self, E: Array) -> Coefficients | None:
        """The machine of the samples E; None if their system has no factor."""
        K, y, s = self._K, self.y, self.s
        is_all = len(E) == len(y)
        of_E = K if is_all else K.take(E, axis=0)
        self.system = SampleSystem(K.copy() if is_all else of_E.take(E, axis=1), y[E], s[E], self.lam)
        if not self.system.is_regular:
            return None
        u = np.zeros(len(y))
        u[E] = self.system.solve()
        f = u[E] @ of_E  # K is symmetric
        b = float(s[E] @ (y - f)[E] / s[E].sum())
        return self.machine(u, b, f + b)

    def aim(self, point: Coefficients) -> Coefficients:
        E = np.flatnonzero(point.E)
        found = self._solved(E)
        if found is None:
            raise PathError(
                f"At C = {1 / self.lam:.6g} the system of {len(E)} samples is singular in double precision: the "
                "kernel values are too large for this C. Scale the columns (StandardScaler), or use smaller C."
            )
        return found

    def penalty(self, point: Coefficients) -> float:
        return float(0.5 * self.lam * (point.u @ (point.f - point.b)))

    def penalty_along(self, point: Coefficients, aim: Coefficients) -> tuple[float, float]:
        du, db, df = aim.u - point.u, aim.b - point.b, aim.f - point.f
        return float(self.lam * (du @ (point.f - point.b))), float(self.lam * (du @ (df - db)))

    def between(self, point: Coefficients, aim: Coefficients, t: float) -> Coefficients:
        du, db, df = aim.u - point.u, aim.b - point.b, aim.f - point.f
        return self.machine(point.u + t * du, point.b + t * db, point.f + t * df)

    def with_minimiser(self, point: Coefficients) -> Coefficients:
        """With no sample on the left, the machine nearer to zero until one is: J falls on the way there."""
        if point.E.any():
            return point
        shrink = _INSIDE / float((self.y * point.f)[self.s > 0].min())
        return self.machine(shrink * point.u, shrink * point.b, shrink * point.f)

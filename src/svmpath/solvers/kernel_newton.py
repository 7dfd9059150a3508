"""Newton's method for the squared hinge in the coefficients: no features, for kernels that change at every call.

The problem of ``solvers.newton`` with w = sum_i u_i z_i, K = Z Z', lam = 1 / C::

    minimise   J(u, b) = sum_i s_i max(0, 1 - y_i f_i)^2 + lam/2 u' K u,      f = K u + b,   sum_i u_i = 0

With E = {i : y_i f_i < 1} the minimiser of the piece has u = 0 outside E and solves the system of ``solvers.samples``
on E. It is the minimiser of J when its own E is the same; where a step does not lower J, the exact line search does. To
make features of a kernel costs several such systems, and pays only where one kernel serves many C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.solvers.line_search import exact_step
from svmpath.solvers.samples import SampleSystem

Array = np.ndarray

_MOST = 300  # Newton steps per machine
_TIE = 1e-11  # samples so close to the margin (times the size of f) may stand on either side
_INSIDE = 0.999  # where the first sample stands after a machine without samples left of the margin was flattened
_STRIDE = 2.0  # most that the logarithm of C changes from one start to the next


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
    for value in np.geomspace(near, C, 2 + int(np.log(C / near) / _STRIDE))[:-1]:
        now, _ = minimise(K, y, s, 1.0 / value, now)
    return now


def minimise(K: Array, y: Array, s: Array, lam: float, start: Coefficients) -> tuple[Coefficients, SampleSystem]:
    """The minimiser of J at lam, from a machine near it, and the system of the samples E that it solves.

    Both classes must have weight: then no minimiser has an empty E.
    """
    now = start if start.E.any() else _flatter(y, s, start)
    value = _objective(y, s, lam, now)
    for _ in range(_MOST):
        new, system = _step(K, y, s, lam, now.E)
        if _same_sides(y, now.E, new):
            return replace(new, E=now.E), system
        lower = _objective(y, s, lam, new)
        if not lower < value:
            new = _between(y, s, lam, now, new)
            lower = _objective(y, s, lam, new)
            if np.array_equal(new.E, now.E) and not lower < value:
                return new, system  # no step lowers J any more, in double precision
        now = new if new.E.any() else _flatter(y, s, new)
        value = _objective(y, s, lam, now)
    raise PathError(
        f"No machine was found within {_MOST} steps of Newton's method at C = {1 / lam:.6g}: bring the columns to one "
        "scale (StandardScaler), or use smaller C."
    )


def _step(K: Array, y: Array, s: Array, lam: float, sides: Array) -> tuple[Coefficients, SampleSystem]:
    """The minimiser of the piece with these sides."""
    E = np.flatnonzero(sides)
    system = SampleSystem(K[np.ix_(E, E)], y[E], s[E], lam)
    if not system.is_regular:
        raise PathError(
            f"At C = {1 / lam:.6g} the system of {len(E)} samples is singular in double precision: the kernel's values "
            "are too large for this C. Bring the columns to one scale (StandardScaler), or use smaller C."
        )
    u = np.zeros(len(y))
    u[E] = system.solve()
    f = K[:, E] @ u[E]
    b = float(s[E] @ (y - f)[E] / s[E].sum())
    f += b
    return Coefficients(u, b, f, (y * f < 1.0) & (s > 0)), system


def _flatter(y: Array, s: Array, machine: Coefficients) -> Coefficients:
    """The machine nearer to zero, just so much that somebody is left of the margin again: J falls on the way there."""
    shrink = _INSIDE / float((y * machine.f)[s > 0].min())
    f = shrink * machine.f
    return Coefficients(shrink * machine.u, shrink * machine.b, f, (y * f < 1.0) & (s > 0))


def _objective(y: Array, s: Array, lam: float, machine: Coefficients) -> float:
    slack = np.maximum(1.0 - y * machine.f, 0.0)
    return float(s @ slack**2 + 0.5 * lam * (machine.u @ (machine.f - machine.b)))


def _same_sides(y: Array, E: Array, new: Coefficients) -> bool:
    """Whether the new machine has the sides E, up to samples that lie on the margin to rounding."""
    moved = new.E != E
    if not moved.any():
        return True
    off = np.abs(1.0 - y[moved] * new.f[moved])
    return bool(off.max() <= _TIE * (1.0 + np.abs(new.f[moved]).max()))


def _between(y: Array, s: Array, lam: float, now: Coefficients, aim: Coefficients) -> Coefficients:
    """The lowest machine between two machines."""
    du, db, df = aim.u - now.u, aim.b - now.b, aim.f - now.f
    level, steep = lam * (du @ (now.f - now.b)), lam * (du @ (df - db))
    t = exact_step(1.0 - y * now.f, -y * df, s, now.E, level, steep)
    f = now.f + t * df
    return Coefficients(now.u + t * du, now.b + t * db, f, (y * f < 1.0) & (s > 0))

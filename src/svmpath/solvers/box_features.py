"""A quadratic program over a box and a plane, with a matrix of low rank, by an interior point method.

The problem, with Z of shape (n, r), r much less than n::

    minimise   1/2 ||Z'x||^2     subject to   0 <= x <= u,    sum_i x_i = m,      0 < m < sum_i u_i

With the multiplier rho of the sum, p and q >= 0 of the bounds and v = u - x the optimality conditions are

    Z Z'x - rho - p + q = 0,    sum_i x_i = m,    x_i p_i = 0,    v_i q_i = 0.

All but the products hold at the start and stay true, so that the duality gap is x'p + v'q, exactly. A step brings the
products near a common value, which goes to zero (Mehrotra's predictor and corrector). With D = p / x + q / v it solves

    (Z Z' + D) dx - drho = c,    sum_i dx_i = 0

through the Cholesky factor of the r x r matrix 1 + Z' D^-1 Z: n r^2 operations, some twenty times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint

Array = np.ndarray

_INTERIOR_STEPS = 100
_TO_THE_WALL = 0.995  # share of the way to the nearest bound that a step goes at most
_START = 0.1  # least multiplier of a bound at the start, in units of the largest |Z Z'x|
_NEGLIGIBLE = 1e-12  # progress, relative to the gap, below which rounding has the last word


class BoxOptimum(NamedTuple):
    """What was found.

    Attributes
    ----------
    x : array of shape (n,)
        Strictly inside the box.
    rho : float
    gap : float
        The duality gap relative to the objective.
    """

    x: Array
    rho: float
    gap: float


def minimise_in_box(Z: Array, u: Array, m: float, tol: float) -> BoxOptimum:
    """The optimum to a relative duality gap of ``tol``.

    Parameters
    ----------
    Z : array of shape (n, r)
    u : array of shape (n,)
        Positive.
    m : float
        The sum.
    tol : float

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.solvers.box_features import minimise_in_box
    >>> found = minimise_in_box(np.array([[1.0], [2.0], [3.0]]), np.ones(3), 1.5, 1e-10)
    >>> found.x.round(6).tolist(), round(found.rho, 6)
    ([1.0, 0.5, 0.0], 4.0)
    """
    x = u * (m / u.sum())
    v, product = u - x, Z @ (Z.T @ x)
    rho = float(np.average(product, weights=u))
    slack = product - rho
    least = _START * max(float(np.abs(product).max()), np.finfo(float).tiny)
    p, q = np.maximum(slack, 0.0) + least, np.maximum(-slack, 0.0) + least
    best = np.inf
    for _ in range(_INTERIOR_STEPS):
        checkpoint()
        gap, half = float(x @ p + v @ q), 0.5 * float(x @ product)
        relative = gap / max(half, np.finfo(float).tiny)
        if relative <= tol:
            return BoxOptimum(x, rho, relative)
        if gap > (1.0 - _NEGLIGIBLE) * best or not min(x.min(), v.min()) > 0.0:
            break
        best = gap
        system = _System(Z, p / x + q / v)
        residual = product - rho - p + q  # of rounding
        # Predictor: straight to zero.
        aim_p, aim_q = -p, -q
        dx, _ = system.solve(aim_p - aim_q - residual)
        dp, dq = aim_p - p / x * dx, aim_q + q / v * dx
        step = _step(x, dx, v, -dx, p, dp, q, dq)
        after = float((x + step * dx) @ (p + step * dp) + (v - step * dx) @ (q + step * dq))
        mu = gap / (2 * len(x)) * (after / gap) ** 3
        # Corrector: to a common product, with what the predictor leaves out.
        aim_p, aim_q = (mu - dx * dp) / x - p, (mu + dx * dq) / v - q
        dx, drho = system.solve(aim_p - aim_q - residual)
        dp, dq = aim_p - p / x * dx, aim_q + q / v * dx
        step = _TO_THE_WALL * _step(x, dx, v, -dx, p, dp, q, dq)
        x, p, q, rho = x + step * dx, p + step * dp, q + step * dq, rho + step * drho
        v, product = u - x, Z @ (Z.T @ x)
    raise PathError(
        f"The interior point method ended at a relative gap of {relative:.1e}, above {tol:.1e}: scale the columns, or "
        "use a smaller rank=."
    )


class _System:
    """(Z Z' + D) dx - drho = c with sum_i dx_i = 0."""

    def __init__(self, Z: Array, D: Array) -> None:
        self.Z, self.D = Z, D
        H = (Z / D[:, None]).T @ Z
        H[np.diag_indices(len(H))] += 1.0
        self.factor = linalg.cho_factor(H, lower=True, check_finite=False)
        self.ones = self._inverse(np.ones(len(D)))

    def _inverse(self, c: Array) -> Array:
        """(Z Z' + D)^-1 c."""
        scaled = c / self.D
        return scaled - (self.Z @ linalg.cho_solve(self.factor, self.Z.T @ scaled, check_finite=False)) / self.D

    def solve(self, c: Array) -> tuple[Array, float]:
        """dx and drho, once refined."""
        dx, drho = self._once(c, 0.0)
        more, rest = self._once(c - self.Z @ (self.Z.T @ dx) - self.D * dx + drho, -float(dx.sum()))
        return dx + more, drho + rest

    def _once(self, c: Array, total: float) -> tuple[Array, float]:
        part = self._inverse(c)
        drho = (total - float(part.sum())) / float(self.ones.sum())
        return part + drho * self.ones, drho


def _step(*pairs: Array) -> float:
    """The longest step, at most one, after which all numbers are positive."""
    longest = 1.0
    for here, move in zip(pairs[::2], pairs[1::2], strict=True):
        falls = move < 0.0
        longest = min(longest, float(np.min(-here[falls] / move[falls], initial=1.0)))
    return longest

"""Many systems on one kernel matrix by conjugate gradients, preconditioned by a low-rank factor of the matrix.

Each column has a set E of rows, a diagonal and a right-hand side::

    (K_EE + D) a + b 1 = t,   1'a = 0,      D = diag(1 / d),   d > 0 on E and zero elsewhere

K enters by products K V with all columns at once. The preconditioner is the same system with Z Z' in place of K, by
Woodbury's formula in the r columns of Z::

    P = Z_E Z_E' + D,      P^-1 = diag(d) - diag(d) Z M^-1 Z' diag(d),      M = 1 + Z' diag(d) Z

and keeps the sum: z = P^-1 (r - beta 1) with beta so that 1'z = 0. Conjugate gradients that begin with 1'a = 0 then
stay there, with one right-hand side and not two (Gould, Hribar & Nocedal 2001), and b is what is left on average.

If d = 2 C s, the gap of the machine with these coefficients is C sum_i s_i (r_i - b)^2 with the residual
r = t - (K_EE + D) a, as long as samples are on the right sides: that is what a search is stopped by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from svmpath.interrupts import checkpoint

Array = np.ndarray
Product = Callable[[Array], Array]

_AT_ONCE = 8192  # rows of Z between two looks for Ctrl-C
_MOST_PRODUCTS = 400  # of one search; a preconditioner that needs more is worth nothing
_SHARE = 0.01  # of what can be gained, which a search that aims at a better machine may leave
_ROUNDING = 1e-12  # of an objective
_DIGITS = 1e-10  # of the first gap: with products in single precision there is no less to be had from one search


class FactorProducts:
    """Z' diag(e) Z for many e that differ in few rows: each from the nearest known one, and the rows that differ.

    Parameters
    ----------
    Z : array of shape (n, r)
    """

    def __init__(self, Z: Array) -> None:
        self.Z = Z
        self._known: list[tuple[Array, Array]] = []

    def of_columns(self, e: Array) -> list[Array]:
        """Of each column of e; these are known from now on, and no others."""
        known: list[tuple[Array, Array]] = []
        for column in e.T:
            nearest, G = np.zeros(len(column)), np.zeros((self.Z.shape[1],) * 2)
            for other, value in (*known, *self._known):
                if np.count_nonzero(other != column) < np.count_nonzero(nearest != column):
                    nearest, G = other, value
            change = column - nearest
            for sign in (1.0, -1.0):
                rows = np.flatnonzero(sign * change > 0.0)
                for some in np.array_split(rows, -(-len(rows) // _AT_ONCE)) if len(rows) else ():
                    checkpoint()
                    part = np.sqrt(sign * change[some])[:, None] * self.Z[some]
                    G = G + sign * (part.T @ part)  # a matrix with itself: half the operations
            known.append((column.copy(), G))
        self._known = known
        return [G for _, G in known]


@dataclass(frozen=True)
class Preconditioner:
    """P^-1 with 1'z = 0, for m columns.

    Attributes
    ----------
    Z : array of shape (n, r)
    d : array of shape (n, m)
    factors : list of Cholesky factors of M, one for each column
    ones : array of shape (n, m)
        P^-1 1.
    """

    Z: Array
    d: Array
    factors: list[tuple[Array, bool]]
    ones: Array

    @staticmethod
    def of(Z: Array, d: Array, products: list[Array]) -> Preconditioner:
        """From Z' diag(d) Z of each column."""
        factors = [cho_factor(np.eye(len(G)) + G, lower=True, overwrite_a=True, check_finite=False) for G in products]
        raw = Preconditioner(Z, d, factors, np.zeros((0, 0)))
        return Preconditioner(Z, d, factors, raw.inverse(np.ones_like(d)))

    def take(self, columns: Array) -> Preconditioner:
        """Some of the columns."""
        return Preconditioner(self.Z, self.d[:, columns], [self.factors[j] for j in columns], self.ones[:, columns])

    def inverse(self, R: Array) -> Array:
        """P^-1 R, zero outside E."""
        R = self.d * R
        inner = self.Z.T @ R
        for j, factor in enumerate(self.factors):
            inner[:, j] = cho_solve(factor, inner[:, j], check_finite=False)
        return R - self.d * (self.Z @ inner)

    def __call__(self, R: Array) -> Array:
        """P^-1 (R - beta 1) with column sums of zero."""
        raw = self.inverse(R)
        return raw - self.ones * (raw.sum(axis=0) / self.ones.sum(axis=0))


@dataclass(frozen=True)
class Solved:
    """Coefficients a of shape (n, m), K a for all rows, and how many products that took."""

    a: Array
    product: Array
    products: int


def conjugate_gradients(
    product: Product,
    precondition: Preconditioner,
    target: Array,
    start: tuple[Array, Array],
    tol: float,
    ceiling: Array | float = np.inf,
) -> Solved:
    """Solve all columns from a start with column sums of zero and no coefficient outside E.

    A column is done when its gap ``sum_i d_i (r_i - b)^2 / 2`` is small enough. Where another machine is known, its
    objective is a ceiling, and the dual objective ``a'(t + r) / 2`` a floor: a gap that is a small part of the
    difference says that the machine is better than that one, by almost all that is to be gained.

    Parameters
    ----------
    product : callable
        K V.
    precondition : Preconditioner
    target : array of shape (n, m)
        t.
    start : tuple of two arrays of shape (n, m)
        Coefficients, and their product with K.
    tol : float
        The gap that is small enough, relative to the dual objective.
    ceiling : array of shape (m,), optional
    """
    a, Ka, d = start[0].copy(), start[1].copy(), precondition.d
    inside = d > 0.0
    over = np.divide(1.0, d, out=np.zeros_like(d), where=inside)
    total, ceilings = d.sum(axis=0), np.broadcast_to(ceiling, (d.shape[1],))

    def centred(R: Array, columns: Array) -> Array:
        """R - b on E. Directions sum to zero, so b changes nothing but the digits that are left in R'Q."""
        b = (d[:, columns] * R).sum(axis=0) / total[columns]
        return np.where(inside[:, columns], R - b, 0.0)

    def is_open(R: Array, columns: Array, least: Array) -> tuple[Array, Array]:
        """Which columns are not done, and their gaps."""
        gaps = 0.5 * (d[:, columns] * R**2).sum(axis=0)
        floor = 0.5 * (a[:, columns] * (target[:, columns] + R)).sum(axis=0)
        top = ceilings[columns]
        has_top = np.isfinite(top)
        is_better = (gaps <= 0.5 * (top - floor) + _ROUNDING * np.abs(floor)) | ~has_top
        is_nearly_best = (gaps <= _SHARE * (top - floor)) & has_top
        return ~(is_nearly_best | (is_better & (gaps <= tol * floor)) | (gaps <= least[columns])), gaps

    every = np.arange(a.shape[1])
    R = centred(target - Ka - over * a, every)
    stays, first = is_open(R, every, np.zeros(len(every)))
    least, columns = _DIGITS * first, np.flatnonzero(stays)
    R, some = R[:, columns], precondition.take(columns)
    Q = some(R)
    rho, products = (R * Q).sum(axis=0), 0
    while len(columns) and products < _MOST_PRODUCTS:
        checkpoint()
        KQ = product(Q)
        products += 1
        HQ = np.where(inside[:, columns], KQ + over[:, columns] * Q, 0.0)
        curvature = (Q * HQ).sum(axis=0)
        step = np.divide(rho, curvature, out=np.zeros_like(rho), where=curvature > 0.0)
        a[:, columns] += step * Q
        Ka[:, columns] += step * KQ
        R = centred(R - step * HQ, columns)
        stays = is_open(R, columns, least)[0] & (step > 0.0)
        if not stays.all():
            columns, R, Q, rho = columns[stays], R[:, stays], Q[:, stays], rho[stays]
            some = some.take(np.flatnonzero(stays))
        z = some(R)
        new = (R * z).sum(axis=0)
        Q = z + (new / rho) * Q
        rho = new
    return Solved(a, Ka, products)

"""Machines of squares while rows come and go: one inverse, changed row by row and not trusted beyond its digits.

The samples E of a least squares machine (all of them), or those left of the margin of the squared hinge, solve

    M x = z,      M = [0, 1'; 1, K_EE + D],      x = (b, u),      z = (0, y_E),      D = diag(1 / (2 C s))

With R = M^-1, a row j that joins E, with the kernel values k to E, changes R by one outer product, as does one that
leaves:

    R + p p' / c,         p = (R m, -1 at j),     m = (1, k),     c = K_jj + D_jj - m'R m
    R - r_j r_j' / R_jj,  r_j the column of j

R has entries for all rows, which are zero outside E, so that nothing is moved. It loses digits on the way, and D may
have changed since (weights in units of their mean do, with every row). So R only proposes: x is refined with M itself,
x + R (z - M x), until nothing is left to rounding. Since K (K + D)^-1 has no eigenvalue above one, what is left of
the equations is about the error of the decision values. The factor by which a step shrinks it counts the digits that R
has; where they are used up, R is made anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

Array = np.ndarray

_GOOD = 2e-13  # of the targets: what is left of the equations when refinement may end
_LEFT_AT_MOST = 1e-11  # and what a machine may leave
_STEPS = 12  # of refinement
_WORN = 1e-2  # factor of a step of refinement from which on the inverse is made anew before the next call
_MANY = 8  # so many times fewer rows that change sides than there are in E are changed one by one
_ROUNDS = 40  # of changes of sides
_ON_THE_MARGIN = 1e-12  # a sample so near to its margin may be on either side: its coefficient is zero


class Squares(NamedTuple):
    """A machine: coefficients and decision values of all slots, and the offset."""

    u: Array
    b: float
    f: Array


class KeptInverse:
    """R for the samples E of one kernel matrix, in which rows have slots."""

    def __init__(self, size: int) -> None:
        self.R = np.zeros((size + 1, size + 1))
        self.E = np.zeros(size, dtype=bool)
        self.is_worn = True  # nothing is known yet

    @property
    def entries(self) -> int:
        """Numbers held."""
        return self.R.size

    def grow(self, size: int) -> None:
        """Make room for more slots."""
        R, E, old = np.zeros((size + 1, size + 1)), np.zeros(size, dtype=bool), len(self.E)
        R[: old + 1, : old + 1], E[:old] = self.R, self.E
        self.R, self.E = R, E

    def build(self, K: Array, D: Array, E: Array) -> bool:
        """R of the samples E; False if their matrix has no factor in double precision."""
        rows = np.flatnonzero(E)
        H = K[np.ix_(rows, rows)]
        H[np.diag_indices_from(H)] += D[rows]
        factor, failed = lapack.dpotrf(H.T, lower=0, clean=1, overwrite_a=1)
        if failed or len(rows) == 0:
            return False
        inverse = lapack.dpotri(factor, lower=0, overwrite_c=1)[0]
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        v = inverse.sum(axis=0)
        inverse -= np.outer(v, v / v.sum())
        self.R[:], self.E = 0.0, E.copy()
        self.R[np.ix_(1 + rows, 1 + rows)] = inverse
        self.R[0, 1 + rows] = self.R[1 + rows, 0] = v / v.sum()
        self.R[0, 0] = -1.0 / v.sum()
        self.is_worn = False
        return True

    def join(self, j: int, K: Array, D: Array) -> None:
        """Row j becomes one of E."""
        m = np.append(1.0, np.where(self.E, K[j], 0.0))
        p = self.R @ m
        c = K[j, j] + D[j] - m @ p
        p[1 + j] = -1.0
        self._change(p, 1.0 / c)
        self.E[j] = True
        self.is_worn |= not c > np.finfo(float).eps * (K[j, j] + D[j])

    def leave(self, j: int) -> None:
        """Row j is no longer one of E."""
        r = self.R[1 + j].copy()
        self._change(r, -1.0 / r[1 + j])
        self.R[1 + j] = self.R[:, 1 + j] = 0.0
        self.E[j] = False
        self.is_worn |= not r[1 + j] > 0.0

    def _change(self, p: Array, factor: float) -> None:
        self.R = blas.dger(factor, p, p, a=self.R.T, overwrite_a=1).T  # symmetric: which way does not matter

    def solve(self, K: Array, D: Array, y: Array) -> Squares | None:
        """The machine of the samples E; None if refinement does not come to an end that is good enough."""
        E, x = self.E, np.zeros(len(y) + 1)
        right, scale = np.append(0.0, np.where(E, y, 0.0)), max(float(np.abs(y[E]).max(initial=0.0)), 1e-300)
        left, before, product, slowest = right.copy(), np.inf, np.zeros(len(y)), 0.0
        for step in range(_STEPS):
            new = x + self.R @ left
            u = new[1:]
            product = K @ u
            left = right - np.append(u.sum(), np.where(E, product + D * u + new[0], 0.0))
            size = float(np.abs(left[1:]).max())
            if not size < before:
                break
            slowest = max(slowest, size / before) if step > 1 and before > _LEFT_AT_MOST * scale else slowest
            x, before, kept = new, size, product
            if size <= _GOOD * scale:
                break
        self.is_worn |= slowest > _WORN
        if not before <= _LEFT_AT_MOST * scale:
            return None
        return Squares(x[1:], float(x[0]), kept + x[0])


def least_squares(kept: KeptInverse, K: Array, D: Array, y: Array, active: Array) -> Squares | None:
    """The machine of all active samples."""
    if not _changed(kept, K, D, active):
        return None
    return kept.solve(K, D, y) or _anew(kept, K, D, y, active)


def squared_hinge(kept: KeptInverse, K: Array, D: Array, y: Array, active: Array) -> Squares | None:
    """The machine of the samples on the left of the margin, which are looked for from those of the last one."""
    E = kept.E & active
    if kept.is_worn and not E.any():
        return None
    for _ in range(_ROUNDS):
        if not _changed(kept, K, D, E):
            return None
        found = kept.solve(K, D, y) or _anew(kept, K, D, y, E)
        if found is None:
            return None
        slack = 1.0 - y * found.f
        E = active & (slack > 0.0)
        if np.all(np.abs(slack[E != kept.E]) <= _ON_THE_MARGIN):
            return found
        if not E.any():
            return None
    return None


def _changed(kept: KeptInverse, K: Array, D: Array, E: Array) -> bool:
    """Give R the samples E: row by row if few change, else anew; False if there is no factor."""
    out, into = np.flatnonzero(kept.E & ~E), np.flatnonzero(E & ~kept.E)
    if kept.is_worn or _MANY * (len(out) + len(into)) > kept.E.sum() + _MANY:
        return kept.build(K, D, E)
    for j in into.tolist():
        kept.join(j, K, D)
    for j in out.tolist():
        kept.leave(j)
    return True


def _anew(kept: KeptInverse, K: Array, D: Array, y: Array, E: Array) -> Squares | None:
    """The machine after R was made anew."""
    return kept.solve(K, D, y) if kept.build(K, D, E) else None

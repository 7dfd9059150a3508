"""The squared hinge machine over C while no sample changes its side: a power series with a proven remainder.

With the symbols of ``solvers.feature_newton``, mu = lam / 2 = 1 / (2 C), and the rows E on the left::

    (G + mu D) theta(mu) = c,      G = A_E' S A_E,      c = A_E' S y_E,      D = diag(1, .., 1, 0)

Without the offset, (H + mu I) w = h, H = sum_E s_i t_i t_i' with t_i = z_i - z_mean, z_mean the weighted mean of E.
Around a centre m put

    u = (m - mu) / (m + mu),     mu = m (1 - u) / (1 + u),     N = m (H + m I)^-1,     T = 2 N - I

u rises with C, and every C > 0 has its u in (-1, 1). From H + mu I = (H + m I) (I - u T) / (1 + u),

    w(u) = (1 + u) (I - u T)^-1 w_0 = w_0 + sum_{k >= 1} u^k g_k,      g_1 = 2 N w_0,      g_{k+1} = T g_k

H has no negative eigenvalue, so those of N lie in (0, 1] and those of T in (-1, 1]. Hence, for every row j and k >= K,

    |t_j' g_k| <= |t_j| |g_K|        and, for j in E,        |t_j' g_k| <= (g_K' (H + m I) g_K / s_j)^(1/2)

the latter since T, N and H + m I commute and s_j t_j' (H + m I)^-1 t_j <= 1. With beta_j the smaller of the two, the
decision value f_j(u) and its derivative differ from the first K terms of their series by no more than

    beta_j |u|^K / (1 - |u|),      beta_j |u|^(K-1) (K - (K - 1) |u|) / (1 - |u|)^2

With the offset, N g is m M^-1 D g, M = G + m D, whose last entry is -z_mean' (N g): one matrix serves for both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from svmpath.lazy import lazy
from svmpath.solvers.feature_newton import Rows
from svmpath.solvers.parallel import interruptible

Array = np.ndarray

_EPS = np.finfo(float).eps
_ESSENTIAL = 1e-6  # a row whose leverage comes so near to one is not taken out of M^-1, which is formed anew
_FEWEST_TERMS, _MOST_TERMS = 4, 40  # terms of a series
_REMAINDER_NONE = 1e-13  # a remainder that is as good as none
_BLUR_GOOD = 1e-12  # rounding in M^-1 beyond which the terms are refined
_BLUR_POOR = 1e-6  # and that beyond which M^-1 is made by orthogonal transformations, and not changed row by row
_REFINEMENTS = 4  # of refinement


@dataclass(frozen=True)
class Series:
    """Slacks of all rows as functions of u: sum_k coefs[j, k] u^k, up to a remainder that beta bounds.

    The slack of a row is 1 - y f on the left and y f - 1 on the right: positive while it keeps its side.
    """

    coefs: Array
    beta: Array

    @property
    def terms(self) -> int:
        """K, the number of terms kept."""
        return self.coefs.shape[1]

    def remainder(self, size: float) -> float:
        """What beta is to be multiplied with to bound the remainder wherever |u| <= size."""
        return float(size**self.terms / (1.0 - size))

    def slope_remainder(self, size: float) -> float:
        """The same for the derivative by u."""
        K = self.terms
        return float(size ** (K - 1) * (K - (K - 1) * size) / (1.0 - size) ** 2)

    def at(self, u: float) -> Array:
        """The slacks at u."""
        return self.coefs @ powers(u, self.terms)


class FixedSides:
    """M^-1 and theta of the rows E at a centre m, changed row by row."""

    def __init__(self, rows: Rows, E: Array, centre: float) -> None:
        self._rows, self._centre = rows, centre
        self.E = E.copy()
        self._build()

    def _build(self) -> None:
        A, y, s = self._rows.A[self.E], self._rows.y[self.E], self._rows.s[self.E]
        scaled = A * np.sqrt(s)[:, None]
        M = scaled.T @ scaled
        M[np.diag_indices(len(M) - 1)] += self._centre
        self._diagonal, self._sums = np.diagonal(M).copy(), M[-1].copy()  # of M, and of s a over E
        self._W = _inverse(M)
        if self._blur > _BLUR_POOR:
            # From the rows that M is made of: half of its digits are lost at worst, not all.
            ridge = np.sqrt(self._centre) * np.eye(len(M) - 1, len(M))
            root, _ = lapack.dtrtri(interruptible(np.linalg.qr, np.vstack([scaled, ridge]), mode="r"), lower=0)
            self._W = np.asfortranarray(root @ root.T)
        self._theta = self._W @ (A.T @ (s * y))
        self._refine()

    @property
    def _blur(self) -> float:
        """About how far W M is from the identity."""
        return float(_EPS * self._diagonal.max() * np.diagonal(self._W).max())

    @property
    def _weights(self) -> Array:
        return np.where(self.E, self._rows.s, 0.0)

    def _refine(self) -> None:
        """One step towards what the rows themselves ask of theta: they have more digits than M."""
        rows, theta = self._rows, self._theta
        residual = rows.A.T @ (self._weights * (rows.y - rows.A @ theta))
        residual[:-1] -= self._centre * theta[:-1]
        self._theta = theta + self._W @ residual

    def flip(self, row: int) -> None:
        """Move one row to the other side."""
        a, y, s = self._rows.A[row], self._rows.y[row], self._rows.s[row]
        s = -s if self.E[row] else s
        self.E[row] = not self.E[row]
        h = self._W @ a
        pivot = 1.0 + s * (a @ h)
        if pivot < _ESSENTIAL or self._blur > _BLUR_POOR:
            self._build()
            return
        self._theta = self._theta + (s * (y - a @ self._theta) / pivot) * h
        self._W = blas.dger(-s / pivot, h, h, a=self._W, overwrite_a=1)
        self._diagonal += s * a * a
        self._sums += s * a
        self._refine()

    def series(self, size: float) -> Series:
        """The slacks as power series in u, with terms enough for |u| <= size if there are enough at all."""
        rows = self._rows
        G = self._terms(size)
        f = rows.A @ G
        blur = self._blur
        for _ in range(_REFINEMENTS if blur > _BLUR_GOOD else 0):
            step = self._correction(G, f)
            change = rows.A @ step
            G += step
            f += change
            if blur * np.abs(change).max() <= _EPS:
                break
        side = np.where(self.E, -rows.y, rows.y)
        coefs = side[:, None] * f[:, :-1]
        coefs[:, 0] -= side * rows.y
        # The bound on |t_j' g_k| for every k from the last on, of which each entry of f = A g is t_j' g.
        g, f_last = G[:-1, -1], f[:, -1]
        beta = self._far * np.sqrt(g @ g)
        inside = np.sqrt((self._weights @ (f_last * f_last) + self._centre * (g @ g)) / rows.s[self.E])
        beta[self.E] = np.minimum(beta[self.E], inside)
        return Series(coefs, beta)

    def _terms(self, size: float) -> Array:
        """theta and g_1 to g_K, as columns."""
        G = np.empty((len(self._theta), _MOST_TERMS + 1), order="F")
        G[:, 0], G[:, 1] = self._theta, self._twice(self._theta)
        far, power = float(self._far.max()) / (1.0 - size), size
        for k in range(1, _MOST_TERMS):
            g = G[:, k]
            if k >= _FEWEST_TERMS and far * power * (g @ g) ** 0.5 <= _REMAINDER_NONE:
                return G[:, : k + 1]
            G[:, k + 1] = self._twice(g) - g
            power *= size
        return G

    def _twice(self, g: Array) -> Array:
        """2 N g, of which T g = 2 N g - g."""
        return (2.0 * self._centre) * (self._W[:, :-1] @ g[:-1])

    def _correction(self, G: Array, f: Array) -> Array:
        """A step of refinement of all terms.

        Their sum is to solve ``(M + u (M - 2 m D)) theta(u) = (1 + u) c``. The residual of this, from the rows, is a
        series itself, with terms r_k; the error solves the same equation: ``M e_k = r_k - (M - 2 m D) e_{k-1}``,
        that is, ``e_k = M^-1 r_k + T e_{k-1}``.
        """
        rows = self._rows
        residual = -f
        residual[:, 1:] -= f[:, :-1]
        residual[:, :2] += rows.y[:, None]
        r = rows.A.T @ (self._weights[:, None] * residual)
        r[:-1] -= self._centre * G[:-1]
        r[:-1, 1:] += self._centre * G[:-1, :-1]
        step = np.asfortranarray(self._W @ r)
        for k in range(1, step.shape[1]):
            step[:, k] += self._twice(step[:, k - 1]) - step[:, k - 1]
        return step

    @property
    def _far(self) -> Array:
        """A bound on |t_j|."""
        return self._norms + np.linalg.norm(self._sums[:-1]) / self._sums[-1]

    @lazy
    def _norms(self) -> Array:
        return np.sqrt(np.einsum("ij,ij->i", self._rows.A[:, :-1], self._rows.A[:, :-1]))


def powers(u: float, terms: int) -> Array:
    """1, u, u^2, ..."""
    return np.asarray(u ** np.arange(terms))


def _inverse(M: Array) -> Array:
    """M^-1, eigenvalues below rounding being lifted to it."""
    U, failed = lapack.dpotrf(M, lower=0, clean=1)
    if failed:
        values, Q = interruptible(np.linalg.eigh, M)
        floor = len(M) * _EPS * values[-1]
        return np.asfortranarray((Q / np.maximum(values, floor)) @ Q.T)
    W, _ = lapack.dpotri(U, lower=0, overwrite_c=1)
    diagonal = np.diagonal(W).copy()
    W = W + W.T  # the lower triangle was zero
    np.fill_diagonal(W, diagonal)
    return np.asfortranarray(W)

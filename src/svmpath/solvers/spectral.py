"""The centred, weighted spectrum of a Gram matrix: what least squares needs of a kernel, once for all C.

With weights s > 0, R = diag(sqrt(s)), the unit vector v = sqrt(s) / |sqrt(s)| and P = I - v v'::

    P R K R P = Q diag(values) Q' + rest_value * (I - v v' - Q Q')

with Q orthonormal and orthogonal to v. In the rest, the space that neither v nor Q spans, the matrix is a
multiple of the identity: zero where K has low rank, one where K is the identity. A machine without offset has v = 0,
and nothing is centred. For mu > 0 the map

    B(mu) = Q diag(mu / (values + mu)) Q' + mu / (rest_value + mu) * (I - v v' - Q Q')

takes R y to R times the residuals of the least squares machine with C = 1 / (2 mu); its diagonal is one minus
the leverages. The diagonal is a sum of positive terms, so that it keeps its digits for small mu where one minus a
leverage would lose them; what rounding spoils is the rest's own diagonal, one minus squares, where Q is not square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmpath.solvers.lapack import pivoted_cholesky
from svmpath.solvers.parallel import interruptible

Array = np.ndarray

_EPS = np.finfo(float).eps
# The thin factor pays while its rank is below this share of n (measured: QR and SVD against a full eigh).
_THIN_SHARE = 0.5
# Smallest over largest eigenvalue down to which Z'Z may be decomposed instead of Z: six digits are given away. And
# smallest eigenvalue over the trace before centring: the directions are then orthogonal to v to twelve digits.
_WELL_CONDITIONED = 1e-6
_CENTRED = 1e-8


@dataclass(frozen=True)
class Spectrum:
    """Eigenpairs of the centred, weighted Gram matrix; see the module's first lines.

    Attributes
    ----------
    values : array of shape (r,)
    Q : array of shape (n, r)
    v : array of shape (n,)
    rest_value : float
    rest_diag : array of shape (n,)
        Diagonal of I - v v' - Q Q'.
    """

    values: Array
    Q: Array
    v: Array
    rest_value: float
    rest_diag: Array

    def shrink(self, mu: Array) -> tuple[Array, Array]:
        """The factors mu / (values + mu), of shape (r, m), and mu / (rest_value + mu), of shape (m,)."""
        return mu / (self.values[:, None] + mu), mu / (self.rest_value + mu)

    def residuals(self, z: Array, mu: Array) -> Array:
        """B(mu) z for every mu: an (n, m) array."""
        inner, outer = self.shrink(mu)
        c = self.Q.T @ z
        rest = z - self.v * (self.v @ z) - self.Q @ c
        if self.is_full:
            rest[:] = 0.0  # there is no rest; what the subtraction leaves is rounding
        return self.Q @ (inner * c[:, None]) + rest[:, None] * outer

    def apply(self, Z: Array, mu: float) -> Array:
        """B(mu) Z for the columns of Z, at one mu: an array of the shape of Z."""
        inner, outer = self.shrink(np.array([mu]))
        c = self.Q.T @ Z
        if self.is_full:
            return self.Q @ (inner * c)
        return self.Q @ ((inner - outer) * c) + outer * (Z - np.outer(self.v, self.v @ Z))

    def slack_diag(self, mu: Array) -> Array:
        """The diagonal of B(mu), one minus the leverages, for every mu: an (n, m) array."""
        inner, outer = self.shrink(mu)
        return (self.Q * self.Q) @ inner + self.rest_diag[:, None] * outer

    def slack_block(self, rows: Array, mu: float) -> Array:
        """B(mu)[rows][:, rows]."""
        inner, outer = self.shrink(np.array([mu]))
        Q, v = self.Q[rows], self.v[rows]
        if self.is_full:
            return (Q * inner[:, 0]) @ Q.T
        block = (Q * (inner[:, 0] - outer[0])) @ Q.T - outer[0] * np.outer(v, v)
        block[np.diag_indices_from(block)] += outer[0]
        return block

    def rounding(self, mu: Array) -> Array:
        """About the relative error that rounding leaves in held-out residuals: eps times a condition number."""
        rest = [] if self.is_full else [self.rest_value]
        values = np.concatenate([self.values, rest])
        largest, smallest = np.abs(values).max(initial=0.0), np.abs(values).min(initial=np.inf)
        if smallest <= len(self.v) * _EPS * largest:
            smallest = 0.0
        return _EPS * largest / (smallest + mu)

    @property
    def is_full(self) -> bool:
        """Whether v and Q span everything."""
        return len(self.values) >= len(self.v) - bool(self.v.any())


def decompose_dense(K: Array, s: Array, *, offset: bool = True) -> Spectrum:
    """The spectrum of a dense matrix; faster where its numerical rank is low or it is the identity."""
    v = _unit(s, offset)
    if _is_multiple_of_identity(K, s):
        empty = np.empty((len(s), 0))
        return _spectrum(np.empty(0), empty, v, rest_value=float(K[0, 0] * s[0]))
    thin = thin_factor(K, most=int(_THIN_SHARE * len(K)))
    if thin is not None:
        return decompose_factor(thin, s, offset=offset)
    # P R K R P, with v made an eigenvector of its own far from the others, so that they come out orthogonal to it:
    # R K R - v w' - w v' with w = R K R v - (v' R K R v + far) v / 2.
    root = np.sqrt(s)
    K = K * root[:, None] * root if np.any(s != 1.0) else K.copy()
    far = 2.0 * np.abs(K).sum(axis=1).max() or 1.0
    if offset:
        Kv = K @ v
        w = Kv - 0.5 * (v @ Kv + far) * v
        K -= v[:, None] * w
        K -= w[:, None] * v
    values, Q = interruptible(np.linalg.eigh, K)
    if offset:
        values, Q = values[:-1], Q[:, :-1]
    # Below zero by rounding is zero: next to a small mu the sign would count.
    values[(values < 0) & (values > -len(s) * _EPS * far)] = 0.0
    return _spectrum(values, Q, v)


def decompose_factor(Z: Array, s: Array, *, offset: bool = True) -> Spectrum:
    """The spectrum of Z Z' from its factor."""
    v = _unit(s, offset)
    Z = Z * np.sqrt(s)[:, None] if np.any(s != 1.0) else Z
    return _by_normal_equations(Z, v) or _by_orthogonal_factors(Z, v)


def _by_normal_equations(Z: Array, v: Array) -> Spectrum | None:
    """Eigenvectors of Z'P Z; three times faster than the other way, and refused where it would cost digits."""
    n, r = Z.shape
    if r >= n:
        return None
    # Compared with Z itself, too: centring may leave nothing but rounding.
    floor = _CENTRED * float(np.einsum("ij,ij->", Z, Z))
    Z = Z - v[:, None] * (v @ Z)
    G = Z.T @ Z
    # The eigenvalues spread at least as far as the diagonal: a look at it saves most vain attempts.
    if np.diagonal(G).min() <= max(floor, _WELL_CONDITIONED * np.diagonal(G).max()):
        return None
    values, V = interruptible(np.linalg.eigh, G)
    if values[0] <= max(floor, _WELL_CONDITIONED * values[-1]):
        return None
    return _spectrum(values, Z @ (V / np.sqrt(values)), v)


def _by_orthogonal_factors(Z: Array, v: Array) -> Spectrum:
    """QR and a small singular value decomposition.

    With v as the first column, QR makes the other columns orthogonal to v to rounding, whatever their size, and its
    triangle without first row and column belongs to the centred factor.
    """
    first = int(v.any())
    Q, T = interruptible(np.linalg.qr, np.column_stack([v, Z][1 - first :]))
    U, sigma, _ = interruptible(np.linalg.svd, T[first:, first:], full_matrices=False)
    return _spectrum(sigma**2, Q[:, first:] @ U, v)


def _spectrum(values: Array, Q: Array, v: Array, rest_value: float = 0.0) -> Spectrum:
    full = len(values) >= len(v) - bool(v.any())
    rest_diag = np.zeros(len(v))
    if not full:
        rest_diag = 1.0 - v * v - np.einsum("ij,ij->i", Q, Q)
        rest_diag[rest_diag < 10 * _EPS] = 0.0
    return Spectrum(values, Q, v, rest_value, rest_diag)


def _unit(s: Array, offset: bool) -> Array:
    return np.sqrt(s / s.sum()) if offset else np.zeros(len(s))


def _is_multiple_of_identity(K: Array, s: Array) -> bool:
    """Whether K and the weights are multiples of the identity, as for an rbf kernel of very small width."""
    d = K[0, 0] * s[0]
    if d <= 0 or abs(K[0, -1]) > _EPS * d or not np.all(np.abs(np.diagonal(K) * s - d) <= _EPS * d):
        return False
    off = np.abs(K).sum(axis=1) - np.abs(np.diagonal(K))
    return bool(np.all(off * s.max() <= _EPS * d))


def thin_factor(K: Array, most: int) -> Array | None:
    """Z with K = Z Z' to rounding and at most so many columns, by LAPACK's pivoted Cholesky; None if there is none."""
    n = len(K)
    tol = _EPS * float(np.diagonal(K).max())
    # A leading block that has full rank itself settles it at a part of the cost.
    if tol <= 0 or (most < n and pivoted_cholesky(K[:most, :most], tol)[2] == most):
        return None
    L, pivots, r = pivoted_cholesky(K, tol)
    if r > most:
        return None
    Z = np.empty((n, r))
    Z[pivots] = np.tril(L)[:, :r]
    residual = np.diagonal(K) - np.einsum("ij,ij->i", Z, Z)
    if np.abs(residual).max() > 100 * n * tol:
        return None
    # An indefinite matrix also stops early. Its diagonal alone does not show that, but a probe vector does.
    probe = np.cos(np.arange(n) ** 2)
    error = K @ probe - Z @ (Z.T @ probe)
    return Z if np.abs(error).max() <= 1e3 * n * _EPS * float(np.abs(K).max()) else None

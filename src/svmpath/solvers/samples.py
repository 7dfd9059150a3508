"""The squared hinge's system in as many unknowns as there are samples on the left of the margin.

``solvers.feature_newton`` solves M_E theta = c_E in the r + 1 features. With the kernel matrix K at hand the same theta
comes from the samples E alone, which are few where C is large::

    H u + b 1 = y_E,   1'u = 0,      H = K_EE + lam/2 S_E^-1,      w = Z_E' u

and one minus the leverages, which is what leave-one-out divides by, from the inverse of the same matrix::

    1 - h_i = lam / (2 s_i) B_ii,     B = H^-1 - H^-1 1 1' H^-1 / (1' H^-1 1)

Since 1'u = 0, whatever is added to K_EE as 1 a' + a 1' changes b only: K_EE is centred, so that a far-away origin costs
no digits, and b is the mean of what w leaves. A multiple of 1 1' is put back, or 1 would have the eigenvalue lam/2.

While E holds all samples, H has the eigenvectors of K at every lam, and for every machine on that kernel: one spectrum
serves the classes of a one-against-rest machine together. It costs as much as several factors, and is made when it
pays.

:func:`balanced` solves the same equations as one bordered system. With row pivots what its solution leaves of them is
rounding whatever the condition of H, where a factor of H may not even exist: a machine that is wanted by itself is
made by it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, lstsq

from svmpath.lazy import lazy
from svmpath.solvers.spectral import Spectrum, decompose_dense

Array = np.ndarray


_EPS = np.finfo(float).eps
_PAYS = 16  # factors of the whole matrix that cost about as much as its spectrum


class KernelMatrix:
    """A dense kernel matrix, and its spectrum once that has paid."""

    def __init__(self, K: Array) -> None:
        self.K = K
        self._factored = 0
        self._slack: dict[float, Array] = {}

    def system(self, y: Array, s: Array, E: Array, lam: float) -> SampleSystem | SpectralSystem:
        """The system of the samples E."""
        if len(E) < len(self.K):
            return SampleSystem(self.K[E][:, E], y[E], s[E], lam)
        self._factored += 1
        if self._factored <= _PAYS or np.any(s != 1.0):
            return SampleSystem(self.K.copy(), y, s, lam)
        return SpectralSystem(self, y, lam)

    @lazy
    def spectrum(self) -> Spectrum:
        """Of the whole matrix, all weights one."""
        return decompose_dense(self.K, np.ones(len(self.K)))

    def slack_diag(self, lam: float) -> Array:
        """One minus the leverages of all samples; the same for every machine."""
        if lam not in self._slack:
            self._slack[lam] = self.spectrum.slack_diag(np.array([0.5 * lam]))[:, 0]
        return self._slack[lam]


def balanced(K: Array, y: Array, s: Array, C: float, *, offset: bool = True) -> Array:
    """The u with H u + b 1 = y and 1'u = 0, for samples with this kernel matrix; without an offset H u = y."""
    m = len(y)
    mean = K.mean(axis=0) if offset else np.zeros(m)
    M = np.empty((m + 1, m + 1), order="F")
    M[:m, :m] = K - mean - (mean - mean.mean())[:, None]
    M[np.arange(m), np.arange(m)] += 0.5 / (C * s)
    M[m, :m] = M[:m, m] = np.abs(M[:m, :m]).max()  # any multiple of the border will do: one as large as the rest
    M[m, m] = 0.0
    if not offset:
        M[m, :m] = M[:m, m] = 0.0
        M[m, m] = 1.0
    right = np.append(y, 0.0)
    lu, pivots, singular = lapack.dgetrf(M)
    if singular:  # equal rows of K, and a C that adds nothing to them: any solution will do
        return lstsq(M, right, check_finite=False)[0][:m]
    u = lapack.dgetrs(lu, pivots, right)[0]
    u += lapack.dgetrs(lu, pivots, right - M @ u)[0]
    return u[:m]


class SpectralSystem:
    """The system of all samples with unit weights, by the spectrum of K."""

    is_regular = True

    def __init__(self, matrix: KernelMatrix, y: Array, lam: float) -> None:
        self._matrix, self._y, self._lam = matrix, y, lam

    def solve(self) -> Array:
        """u, with one step of refinement."""
        u = self._balanced(self._y)
        return u + self._balanced(self._y - self._matrix.K @ u - 0.5 * self._lam * u)

    def _balanced(self, right: Array) -> Array:
        mu = 0.5 * self._lam
        return self._matrix.spectrum.residuals(right, np.array([mu]))[:, 0] / mu

    @property
    def slack_diag(self) -> Array:
        """One minus the leverages."""
        return self._matrix.slack_diag(self._lam)

    @property
    def rounding(self) -> float:
        """About the relative error that rounding leaves in u and the leverages' complements."""
        return float(self._matrix.spectrum.rounding(np.array([0.5 * self._lam]))[0])


class SampleSystem:
    """H = U'U for the samples E at one lam, from their own K, which is overwritten."""

    def __init__(self, K: Array, y: Array, s: Array, lam: float) -> None:
        mean, H = K.mean(axis=0), K
        along = (np.trace(H) / len(H) - mean.mean()) / len(H)  # an eigenvalue of 1 like the others, not lam/2 alone
        H -= mean
        H -= (mean - mean.mean() - along)[:, None]
        H[np.diag_indices_from(H)] += 0.5 * lam / s
        self._y, self._s, self._lam = y, s, lam
        self._factor(H)

    def _factor(self, H: Array) -> None:
        self._H = H
        self._U, failed = lapack.dpotrf(H.T, lower=0, clean=1)
        self.is_regular = not failed  # or H has no factor because of rounding

    def softened(self, D: Array) -> SampleSystem:
        """The system of H + diag(D), by weights that are smaller."""
        other = object.__new__(SampleSystem)
        other._y, other._lam = self._y, self._lam
        other._s = 1.0 / (1.0 / self._s + 2.0 / self._lam * D)
        H = self._H.copy()
        H[np.diag_indices_from(H)] += D
        other._factor(H)
        return other

    @lazy
    def _ones(self) -> Array:
        """H^-1 1."""
        return lapack.dpotrs(self._U, np.ones(len(self._y)))[0]

    def solve(self) -> Array:
        """u, with one step of refinement: the system's condition grows like C."""
        return self.solve_for(self._y)

    def solve_for(self, y: Array) -> Array:
        """The same for other targets."""
        u = self._balanced(y)
        return u + self._balanced(y - self._H @ u)

    def _balanced(self, right: Array) -> Array:
        """The u with H u + b 1 = right and 1'u = 0."""
        u = lapack.dpotrs(self._U, right)[0]
        u -= u.sum() / self._ones.sum() * self._ones
        return u

    def solve_once(self, right: Array) -> Array:
        """The same for every column of ``right``, without refinement."""
        u = lapack.dpotrs(self._U, right)[0]
        u -= np.outer(self._ones, u.sum(axis=0) / self._ones.sum())
        return u

    @lazy
    def _inverse_diag(self) -> Array:
        V = lapack.dtrtri(self._U)[0]
        return np.einsum("ij,ij->i", V, V)

    @lazy
    def B_diag(self) -> Array:
        """The diagonal of B."""
        B = self._inverse_diag - self._ones**2 / self._ones.sum()
        return np.maximum(B, _EPS * self._inverse_diag)

    @property
    def slack_diag(self) -> Array:
        """One minus the leverages of the samples E."""
        return 0.5 * self._lam / self._s * self.B_diag

    @lazy
    def B(self) -> Array:
        """The whole matrix B, n_E x n_E; u = B y."""
        inverse = lapack.dpotri(self._U)[0]
        inverse += np.triu(inverse, 1).T
        inverse -= np.outer(self._ones, self._ones / self._ones.sum())
        return inverse

    @property
    def rounding(self) -> float:
        """About the relative error that rounding leaves in u and the leverages' complements.

        The condition of H is that of H with a unit diagonal: a factor is none the worse for rows of another scale.
        """
        return float(_EPS * (np.diagonal(self._H) * self._inverse_diag).max())


class OneValue:
    """What :class:`svmpath.solvers.spectral.Spectrum` tells of a machine, at one mu and from one factor.

    For a few values a Cholesky factor each costs less than one spectrum. See ``solvers.spectral`` for B(mu) and R; the
    coefficients that solve the system for a target z are R B(mu) R z / mu.
    """

    def __init__(self, K: Array, s: Array, mu: float) -> None:
        self._root, self._mu, self._s = np.sqrt(s), mu, s
        self._system = SampleSystem(K, np.zeros(len(s)), s, 2.0 * mu)
        self.is_regular = self._system.is_regular

    def residuals(self, z: Array, mu: Array) -> Array:
        """B(mu) z, as an (n, 1) array."""
        return (self._mu * self._system.solve_for(z / self._root) / self._root)[:, None]

    def apply(self, Z: Array, mu: float) -> Array:
        """B(mu) Z for the columns of Z; not refined, which many columns would take twice the time for."""
        return self._mu * self._system.solve_once(Z / self._root[:, None]) / self._root[:, None]

    def slack_diag(self, mu: Array) -> Array:
        """The diagonal of B(mu), as an (n, 1) array."""
        return self._system.slack_diag[:, None]

    def rounding(self, mu: Array) -> Array:
        """About the relative error that rounding leaves in held-out residuals."""
        return np.array([self._system.rounding])

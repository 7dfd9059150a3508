"""The spectrum of K = Z Z' (``solvers.spectral``) where Z is stored in single precision and has many rows.

With Z centred, weights s and R = diag(sqrt(s)), the eigenvectors are Q = R Z V diag(values)^-1/2 where

    Z' S Z = V diag(values) V'

Q is as large as Z and is not formed: residuals are products of Z with a few vectors, in double precision, and

    B(mu)_ii = 1 - v_i^2 - s_i sum_j (Z V)_ij^2 / (values_j + mu)

takes one product of Z with V, in single precision and some rows at a time. Only the small matrix needs digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.gram.products import blocks, times, transposed_times
from svmpath.lazy import lazy
from svmpath.solvers.parallel import interruptible
from svmpath.solvers.single_rows import SingleRows
from svmpath.solvers.spectral import Spectrum

Array = np.ndarray

_LEAST_SLACK = 1e-5  # of one minus a leverage in single precision
_PROJECTED_AT_ONCE = 1 << 20  # entries of Z V


class SingleSpectrum(Spectrum):
    """As :class:`Spectrum`; what is as large as Z is made when somebody asks for it."""

    _Z: Array
    _root: Array
    _V: Array
    _shift: Array
    _slack: dict[bytes, Array]

    def __init__(self, Z: Array, s: Array) -> None:
        rows = SingleRows.of(Z, np.zeros(len(s)), s).doubled()
        G, _ = rows.moments(np.arange(len(s)))
        off = G[-1, :-1] / G[-1, -1]  # the mean was rounded
        values, V = interruptible(np.linalg.eigh, G[:-1, :-1] - G[-1, -1] * np.outer(off, off))
        kept = values > len(s) * np.finfo(float).eps * max(values[-1], 0.0)
        mean = rows.mean + off
        self.__dict__.update(values=values[kept], v=np.sqrt(s / s.sum()), rest_value=0.0)
        self.__dict__.update(_Z=Z, _root=np.sqrt(s), _V=V[:, kept], _shift=mean @ V[:, kept], _slack={})

    @lazy
    def Q(self) -> Array:
        """The eigenvectors themselves."""
        return self._scores(slice(None)) / np.sqrt(self.values)

    @lazy
    def rest_diag(self) -> Array:
        """Diagonal of I - v v' - Q Q'."""
        return np.maximum(1.0 - self.v**2 - np.einsum("ij,ij->i", self.Q, self.Q), 0.0)

    def _scores(self, rows: Any) -> Array:
        """R Z V on some rows, in double precision."""
        return (times(self._Z[rows], self._V) - self._shift) * self._root[rows][:, None]

    def residuals(self, z: Array, mu: Array) -> Array:
        """B(mu) z for every mu: an (n, m) array."""
        u = self._root * z
        c = self._V.T @ transposed_times(self._Z, u) - self._shift * u.sum()
        coef = c[:, None] / (self.values[:, None] + mu)
        fitted = times(self._Z, self._V @ coef) - self._shift @ coef
        return (z - self.v * (self.v @ z))[:, None] - self._root[:, None] * fitted

    def apply(self, Z: Array, mu: float) -> Array:
        """B(mu) Z for the columns of Z, at one mu."""
        U = self._root[:, None] * Z
        c = self._V.T @ transposed_times(self._Z, U) - np.outer(self._shift, U.sum(axis=0))
        coef = c / (self.values[:, None] + mu)
        fitted = times(self._Z, self._V @ coef) - self._shift @ coef
        return Z - np.outer(self.v, self.v @ Z) - self._root[:, None] * fitted

    def slack_diag(self, mu: Array) -> Array:
        """The diagonal of B(mu), one minus the leverages, for every mu; remembered for the next machine on the rows."""
        key = mu.tobytes()
        if key in self._slack:
            return self._slack[key]
        V, shift = self._V.astype(np.float32), self._shift.astype(np.float32)
        shrink = (1.0 / (self.values[:, None] + mu)).astype(np.float32)
        slack = np.repeat((1.0 - self.v**2)[:, None], len(mu), axis=1)
        for part in blocks(self._Z, _PROJECTED_AT_ONCE):
            scores = self._Z[part] @ V
            scores -= shift
            np.square(scores, out=scores)
            slack[part] -= self._root[part, None] ** 2 * (scores @ shrink)
        self._slack[key] = np.maximum(slack, _LEAST_SLACK)
        return self._slack[key]

    def slack_block(self, rows: Array, mu: float) -> Array:
        """B(mu)[rows][:, rows]."""
        scores = self._scores(rows) / np.sqrt(self.values + mu)
        return np.eye(len(scores)) - np.outer(self.v[rows], self.v[rows]) - scores @ scores.T

"""Leave-one-out and folds of least squares in a few features, for many targets and many C at once: quick, not exact.

With features Z, weights s, R = diag(sqrt(s)) and the centred Z_c (whose weighted mean is zero)::

    Z_c' S Z_c = V diag(w) V',     Q = R Z_c V diag(w)^(-1/2),     mu = 1 / (2 C)

the residuals of the machine at C are R^-1 B(mu) R y_c, and leaving out sample i divides its residual by B_ii, with B of
``solvers.spectral``. Eigenvalues below 1e-10 of the largest count as zero, which costs digits where C is very large:
good enough to tell good kernels from bad ones, and several times faster than a decomposition that keeps all digits.

Leaving out the rows F leaves the residuals R_F^-1 B_FF^-1 (B R y_c)_F: |F| equations for each C. Where F is larger than
the number of features, the decomposition of the other rows costs less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Folds = Sequence[tuple[Array, Array]]

_NOISE = 1e-10  # eigenvalues of Z'Z relative to the largest, below which they are rounding
_SLACK_FLOOR = 1e-9  # one minus a leverage is at least this


def press_residuals(Z: Array, Y: Array, s: Array, C: Array) -> Array:
    """Held-out residuals of shape (n, m, k) for targets Y of shape (n, k) and m values of C."""
    fit = _Fit.of(Z, Y, s, C)
    rest = np.maximum(1.0 - fit.share - np.einsum("ij,ij->i", fit.Q, fit.Q), 0.0)
    slack = (fit.Q * fit.Q) @ fit.shrink + rest[:, None]
    residuals = fit.residuals(slice(None))
    residuals /= np.maximum(slack, _SLACK_FLOOR)[:, :, None]
    return residuals / fit.root[:, :, None]


def fold_residuals(Z: Array, Y: Array, s: Array, C: Array, folds: Folds) -> Array:
    """Residuals of the test rows of all folds, by machines of their training rows; of shape (N, m, k)."""
    n, parts = len(Z), []
    whole = _Fit.of(Z, Y, s, C) if any(n - len(train) < Z.shape[1] for train, _ in folds) else None
    for train, test in folds:
        out = np.setdiff1d(np.arange(n), train)
        if whole is not None and len(out) < Z.shape[1] and np.isin(test, out).all():
            parts.append(whole.without(out)[np.searchsorted(out, test)])
        else:
            parts.append(_direct(Z, Y, s, C, train, test))
    return np.concatenate(parts)


@dataclass(frozen=True)
class _Fit:
    """The machines of all rows: sqrt(s), s / S and, in the letters above, Q, Q'R y_c, R y_c and mu / (w + mu)."""

    root: Array
    share: Array
    Q: Array
    c: Array
    Y: Array
    shrink: Array

    @staticmethod
    def of(Z: Array, Y: Array, s: Array, C: Array) -> _Fit:
        root = np.sqrt(s)[:, None]
        share = s / s.sum()
        Z, Y = root * (Z - share @ Z), root * (Y - share @ Y)
        w, V = _spectrum(Z)
        Q = Z @ (V / np.sqrt(w))
        mu = 0.5 / C
        return _Fit(root, share, Q, Q.T @ Y, Y, mu / (w[:, None] + mu))

    def residuals(self, rows: slice | Array) -> Array:
        """(B R y_c) of some rows, of shape (number of rows, m, k)."""
        Q, Y = self.Q[rows], self.Y[rows]
        return _products(Q, self.shrink[:, :, None] * self.c[:, None, :]) + (Y - Q @ self.c)[:, None, :]

    def without(self, out: Array) -> Array:
        """Residuals of rows that are left out together, of shape (number of rows, m, k)."""
        Q, v = self.Q[out], np.sqrt(self.share[out])
        B = np.eye(len(out)) * (1.0 + _SLACK_FLOOR) - np.outer(v, v) - (Q * (1.0 - self.shrink).T[:, None, :]) @ Q.T
        return np.linalg.solve(B, self.residuals(out).swapaxes(0, 1)).swapaxes(0, 1) / self.root[out][:, :, None]


def _direct(Z: Array, Y: Array, s: Array, C: Array, train: Array, test: Array) -> Array:
    """Residuals of some rows by the machines of others."""
    share = s[train] / s[train].sum()
    middle, mean, root = share @ Z[train], share @ Y[train], np.sqrt(s[train])[:, None]
    A, U = root * (Z[train] - middle), root * (Y[train] - mean)
    w, V = _spectrum(A)
    inner = (V.T @ (A.T @ U))[:, None, :] / (w[:, None] + 0.5 / C)[:, :, None]
    return (Y[test] - mean)[:, None, :] - _products((Z[test] - middle) @ V, inner)


def _products(A: Array, B: Array) -> Array:
    """sum_j A_ij B_jkl as one product of matrices; there may be no j."""
    r, m, k = B.shape
    return (A @ B.reshape(r, m * k)).reshape(len(A), m, k)


def _spectrum(Z: Array) -> tuple[Array, Array]:
    """Eigenvalues of Z'Z and their vectors, without those that are rounding."""
    w, V = np.linalg.eigh(Z.T @ Z)
    kept = w > _NOISE * max(w.max(initial=0.0), np.finfo(float).tiny)
    return w[kept], V[:, kept]

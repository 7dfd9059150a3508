"""Leave-one-out of least squares in a few features, for many targets and many C at once: quick, not exact.

With features Z, weights s, R = diag(sqrt(s)) and the centred Z_c (whose weighted mean is zero)::

    Z_c' S Z_c = V diag(w) V',     Q = R Z_c V diag(w)^(-1/2),     mu = 1 / (2 C)

the residuals of the machine at C are R^-1 B(mu) R y_c, and leaving out sample i divides its residual by B_ii, with B of
``solvers.spectral``. Eigenvalues below 1e-10 of the largest count as zero, which costs digits where C is very large:
good enough to tell good kernels from bad ones, and several times faster than a decomposition that keeps all digits.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

_NOISE = 1e-10  # eigenvalues of Z'Z relative to the largest, below which they are rounding
_SLACK_FLOOR = 1e-9  # one minus a leverage is at least this


def press_residuals(Z: Array, Y: Array, s: Array, C: Array) -> Array:
    """Held-out residuals of shape (n, m, k) for targets Y of shape (n, k) and m values of C."""
    root = np.sqrt(s)[:, None]
    share = s / s.sum()
    Z, Y = root * (Z - share @ Z), root * (Y - share @ Y)
    w, V = np.linalg.eigh(Z.T @ Z)
    kept = w > _NOISE * max(w.max(initial=0.0), np.finfo(float).tiny)
    w, V = w[kept], V[:, kept]
    Q = Z @ (V / np.sqrt(w))
    c = Q.T @ Y
    mu = 0.5 / C
    shrink = mu / (w[:, None] + mu)
    rest = np.maximum(1.0 - share - np.einsum("ij,ij->i", Q, Q), 0.0)
    slack = (Q * Q) @ shrink + rest[:, None]
    residuals = Q @ (shrink[:, :, None] * c[:, None, :]).reshape(len(w), len(C) * Y.shape[1])
    residuals = residuals.reshape(len(Y), len(C), Y.shape[1]) + (Y - Q @ c)[:, None, :]
    residuals /= np.maximum(slack, _SLACK_FLOOR)[:, :, None]
    return residuals / root[:, :, None]

"""Nystroem factors: K ~ C W_k^+ C' = Z Z' from c landmarks.

With C = k(X, points), W = k(points, points) and weights D (the identity unless the landmarks carry some)::

    D^1/2 W D^1/2 = U diag(s) U',     Z = C T,     T = D^1/2 U_k diag(s_k)^(-1/2)

keeping the k largest eigenvalues. Where none is dropped the weights cancel, and any square root of W^-1 will do: the
pivoted Cholesky factor W = L L' is cheaper and keeps more digits, Z = C L^-T.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack, solve_triangular

from svmpath.gram.landmarks import Landmarks
from svmpath.gram.low_rank import Factor, FeatureMap
from svmpath.kernels import Kernel

Array = np.ndarray


def nystroem(
    kernel: Kernel,
    X: Any,
    landmarks: Landmarks,
    truncate: int | None = None,
    min_eigenvalue: float | None = None,
) -> Factor:
    """The factor Z, and the map to such features.

    Parameters
    ----------
    truncate : int, optional
        Keep only this many eigenvalues, the largest.
    min_eigenvalue : float, optional
        Drop smaller eigenvalues. Those that are rounding noise, and negative ones, are dropped in any case.
    """
    points = None if kernel.pairwise else landmarks.points
    rows = landmarks.rows if kernel.pairwise else None
    W = kernel(landmarks.points, points, rows)
    if truncate is None and min_eigenvalue is None and kernel.psd is True:
        T = _inverse_root(W)
    else:
        T = _truncated_inverse_root(W, landmarks.weights, truncate, min_eigenvalue)
    features = FeatureMap(kernel, points, rows, T)
    return Factor(features(X), features)


def _inverse_root(W: Array) -> Array:
    """T with T T' = W^-1 on the space that W spans, by LAPACK's pivoted Cholesky."""
    L, pivots, r, _ = lapack.dpstrf(W, tol=10 * np.finfo(float).eps * float(np.diagonal(W).max()), lower=1)
    if r == 0:
        raise ValueError("The kernel is zero on every landmark, so it has no low-rank factor; use rank=None.")
    T = np.zeros((len(W), r))
    T[pivots[:r] - 1] = solve_triangular(L[:r, :r], np.eye(r), lower=True, check_finite=False).T
    return T


def _truncated_inverse_root(
    W: Array, weights: Array | None, truncate: int | None, min_eigenvalue: float | None
) -> Array:
    """T with T T' = W_k^+ (in the weighted sense), by an eigendecomposition."""
    root = np.ones((len(W), 1)) if weights is None else np.sqrt(weights)[:, None]
    s, U = eigh(root * W * root.T, check_finite=False)
    s, U = s[::-1], U[:, ::-1]
    kept = _kept(s, truncate, min_eigenvalue)
    return root * U[:, :kept] / np.sqrt(s[:kept])


def _kept(s: Array, truncate: int | None, min_eigenvalue: float | None) -> int:
    """How many of the eigenvalues s (falling) count."""
    noise = len(s) * np.finfo(float).eps * max(s[0], 0.0)
    kept = int(np.count_nonzero(s > max(noise, min_eigenvalue or 0.0)))
    if kept == 0:
        raise ValueError(
            f"No eigenvalue of the landmarks' kernel matrix exceeds min_eigenvalue={min_eigenvalue!r}; "
            f"the largest is {s[0]:.3g}. Lower min_eigenvalue."
        )
    return kept if truncate is None else min(kept, truncate)

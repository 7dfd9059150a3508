"""Nystroem factors: K ~ C W_k^+ C' = Z Z' from c landmarks.

With C = k(X, points), W = k(points, points) and weights D (the identity unless the landmarks carry some)::

    D^1/2 W D^1/2 = U diag(s) U',     Z = C T,     T = D^1/2 U_k diag(s_k)^(-1/2)

keeping the k largest eigenvalues. Without truncation the weights cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

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
    root = 1.0 if landmarks.weights is None else np.sqrt(landmarks.weights)[:, None]
    s, U = eigh(root * W * np.transpose(root), check_finite=False)
    s, U = s[::-1], U[:, ::-1]
    kept = _kept(s, truncate, min_eigenvalue)
    features = FeatureMap(kernel, points, rows, root * U[:, :kept] / np.sqrt(s[:kept]))
    return Factor(features(X), features)


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

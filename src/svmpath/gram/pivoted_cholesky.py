"""Partial Cholesky factors K ~ F F' of a few pivot columns.

After pivots p_1..p_j the residual is K - F F', positive semi-definite, zero in the pivots' rows; its diagonal
d says how badly each row is explained, and d.sum() is the trace residual. The pivots are chosen

- greedily: the row with the largest d (incomplete Cholesky with full pivoting), or
- at random with probability d_i / d.sum() (Chen, Epperly, Tropp & Webber 2023), drawn in blocks with
  rejection (Epperly, Tropp & Webber 2024), which gives the same pivots in law as drawing one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from svmpath.gram.low_rank import Factor, FeatureMap
from svmpath.kernels import Kernel

Array = np.ndarray

_EPS = 10 * np.finfo(float).eps  # share of a diagonal entry below which its residual is rounding
_BLOCK = 32


def pivoted_cholesky(
    kernel: Kernel, X: Any, limit: int, residual: float, seed: int, greedy: bool
) -> tuple[Array, Factor]:
    """Pivot rows, and the factor F with the map to such features.

    Parameters
    ----------
    limit : int
        Largest number of pivots.
    residual : float
        Stop as soon as the trace residual is at most this share of the trace.
    """
    diag = np.maximum(kernel.diag(X), 0.0)
    search = _greedy if greedy else _random
    pivots, F = search(lambda rows: kernel(X, X, rows), diag, limit, residual, np.random.default_rng(seed))
    points = None if kernel.pairwise else X[pivots]
    rows = pivots if kernel.pairwise else None
    T = solve_triangular(F[pivots], np.eye(len(pivots)), lower=True, check_finite=False).T
    return pivots, Factor(F, FeatureMap(kernel, points, rows, T))


def _greedy(
    columns: Callable[[Array], Array], diag: Array, limit: int, residual: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    d = diag.copy()
    stop = max(residual, _EPS) * diag.sum()
    F = np.zeros((len(d), limit), order="F")
    pivots: list[int] = []
    while len(pivots) < limit and d.sum() > stop:
        p = int(np.argmax(d))
        r = len(pivots)
        column = columns(np.array([p]))[:, 0] - F[:, :r] @ F[p, :r]
        F[:, r] = column / np.sqrt(d[p])
        pivots.append(p)
        _lower(d, diag, F[:, r] ** 2, pivots)
    return _result(pivots, F)


def _random(
    columns: Callable[[Array], Array], diag: Array, limit: int, residual: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    d = diag.copy()
    stop = max(residual, _EPS) * diag.sum()
    F = np.zeros((len(d), limit), order="F")
    pivots: list[int] = []
    while len(pivots) < limit and d.sum() > stop:
        r = len(pivots)
        drawn = _draw(d, min(_BLOCK, 2 * (limit - r)), rng)
        G = columns(drawn) - F[:, :r] @ F[drawn, :r].T
        chosen, L = _reject(G[drawn], rng.random(len(drawn)) * d[drawn], _EPS * diag[drawn], limit - r)
        if len(chosen) == 0:  # what these rows have left is rounding
            d[drawn] = 0.0
            continue
        new = slice(r, r + len(chosen))
        F[:, new] = solve_triangular(L, G[:, chosen].T, lower=True, check_finite=False).T
        pivots.extend(drawn[chosen].tolist())
        _lower(d, diag, np.einsum("ij,ij->i", F[:, new], F[:, new]), pivots)
    return _result(pivots, F)


def _draw(d: Array, size: int, rng: np.random.Generator) -> Array:
    """Rows drawn with probability d / d.sum(), with repetition."""
    total = np.cumsum(d)
    return np.minimum(np.searchsorted(total, rng.random(size) * total[-1], side="right"), len(d) - 1)


def _reject(H: Array, u: Array, floor: Array, most: int) -> tuple[Array, Array]:
    """Go through proposals with residual matrix H; accept i with probability (its residual now) / (then).

    Returns the accepted positions and the Cholesky factor of H on them.
    """
    H = H.copy()
    chosen: list[int] = []
    G = np.zeros_like(H)
    for i in range(len(u)):
        if H[i, i] <= max(u[i], floor[i]):
            continue
        column = H[:, i] / np.sqrt(H[i, i])
        G[:, len(chosen)] = column
        chosen.append(i)
        if len(chosen) == most:
            break
        H -= np.outer(column, column)
    kept = np.array(chosen, dtype=int)
    return kept, np.tril(G[kept, : len(kept)])


def _lower(d: Array, diag: Array, explained: Array, pivots: list[int]) -> None:
    """Take what is now explained off the residual diagonal, in place; rounding counts as zero."""
    d -= explained
    d[d <= _EPS * diag] = 0.0
    d[pivots] = 0.0


def _result(pivots: list[int], F: Array) -> tuple[Array, Array]:
    if not pivots:
        raise ValueError("The kernel is zero on every row, so it has no low-rank factor; use rank=None.")
    order = np.array(pivots)
    F = F[:, : len(order)]
    # Above the diagonal of the pivots' block the factor is zero by construction.
    F[order] = np.tril(F[order])
    return order, np.ascontiguousarray(F)

"""Partial Cholesky factors K ~ F F' of a few pivot columns.

After pivots p_1..p_j the residual is K - F F', positive semi-definite, zero in the pivots' rows; its diagonal
d says how badly each row is explained, and d.sum() is the trace residual. The pivots are chosen

- greedily: the row with the largest d (incomplete Cholesky with full pivoting), or
- at random with probability d_i / d.sum() (Chen, Epperly, Tropp & Webber 2023), drawn in blocks with
  rejection (Epperly, Tropp & Webber 2024), which gives the same pivots in law as drawing one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsm

from svmpath.gram.low_rank import Factor, FeatureMap
from svmpath.kernels import Kernel

Array = np.ndarray

_EPS = 10 * np.finfo(float).eps  # share of a diagonal entry below which its residual is rounding
_BLOCK = 64  # rows proposed at a time


def pivoted_cholesky(
    kernel: Kernel, X: Any, limit: int, residual: float, seed: int, greedy: bool
) -> tuple[Array, Factor]:
    """Pivot rows, and the factor F with the map to such features.

    Parameters
    ----------
    limit : int
        Largest number of pivots.
    residual : float
        Stop when the trace residual is at most this share of the trace; looked at after each pivot (greedy) or each
        block of pivots.
    """
    source = Source(
        np.maximum(kernel.diag(X), 0.0),
        columns=lambda rows: kernel(X, X, rows),
        block=lambda rows: kernel(X[rows], X, rows),
    )
    search = _greedy if greedy else _random
    pivots, F = search(source, limit, residual, np.random.default_rng(seed))
    points = None if kernel.pairwise else X[pivots]
    rows = pivots if kernel.pairwise else None
    return pivots, Factor(F, FeatureMap(kernel, points, rows, F[pivots], triangular=True))


@dataclass(frozen=True)
class Source:
    """The parts of K that the search looks at: its diagonal, K[:, rows] and K[rows][:, rows]."""

    diag: Array
    columns: Callable[[Array], Array]
    block: Callable[[Array], Array]


def _greedy(K: Source, limit: int, residual: float, rng: np.random.Generator) -> tuple[Array, Array]:
    d = K.diag.copy()
    stop = max(residual, _EPS) * d.sum()
    F = np.zeros((len(d), limit), order="F")
    pivots: list[int] = []
    while len(pivots) < limit and d.sum() > stop:
        p = int(np.argmax(d))
        r = len(pivots)
        column = K.columns(np.array([p]))[:, 0] - F[:, :r] @ F[p, :r]
        F[:, r] = column / np.sqrt(d[p])
        pivots.append(p)
        _lower(d, K.diag, F[:, r] ** 2, pivots)
    return _result(pivots, F)


def _random(K: Source, limit: int, residual: float, rng: np.random.Generator) -> tuple[Array, Array]:
    d = K.diag.copy()
    stop = max(residual, _EPS) * d.sum()
    F = np.zeros((len(d), limit), order="F")
    pivots: list[int] = []
    while len(pivots) < limit and d.sum() > stop:
        r = len(pivots)
        drawn = _draw(d, min(_BLOCK, 2 * (limit - r)), rng)
        H = K.block(drawn) - F[drawn, :r] @ F[drawn, :r].T
        kept, L = _reject(H, rng.random(len(drawn)) * d[drawn], _EPS * K.diag[drawn], limit - r)
        if len(kept) == 0:  # what these rows have left is rounding
            d[drawn] = 0.0
            continue
        chosen = drawn[kept]
        G = K.columns(chosen) - F[:, :r] @ F[chosen, :r].T
        new = slice(r, r + len(chosen))
        F[:, new] = dtrsm(1.0, L, G, side=1, lower=1, trans_a=1)  # G L^-T
        pivots.extend(chosen.tolist())
        _lower(d, K.diag, np.einsum("ij,ij->i", F[:, new], F[:, new]), pivots)
    return _result(pivots, F)


def _draw(d: Array, size: int, rng: np.random.Generator) -> Array:
    """Rows drawn with probability d / d.sum(), with repetition."""
    total = np.cumsum(d)
    return np.minimum(np.searchsorted(total, rng.random(size) * total[-1], side="right"), len(d) - 1)


def _reject(H: Array, u: Array, floor: Array, most: int) -> tuple[Array, Array]:
    """Go through proposals with residual matrix H; accept i if its residual by then still exceeds u_i.

    Where u_i is uniform up to the residual that i had when drawn, that happens with the ratio of the two. Returns the
    accepted positions and the Cholesky factor of H on them, built column by column.
    """
    bar = np.maximum(u, floor).tolist()
    d = np.diagonal(H).copy()
    L = np.zeros((len(u), min(len(u), most)), order="F")
    chosen: list[int] = []
    for i in range(len(u)):
        left = d.item(i)
        if left <= bar[i]:
            continue
        k = len(chosen)
        column = (H[i:, i] - L[i:, :k] @ L[i, :k]) / sqrt(left)
        L[i:, k] = column
        d[i:] -= column * column
        chosen.append(i)
        if len(chosen) == most:
            break
    kept = np.array(chosen, dtype=int)
    return kept, L[kept, : len(kept)]


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

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
from scipy.linalg.blas import dsyr, dtrsm

from svmpath.gram.features import Factor, LandmarkFeatures
from svmpath.kernels import Kernel
from svmpath.kernels.repeated import Repeats, find_repeats
from svmpath.row_order import random_order

Array = np.ndarray

_ROUNDING = 10 * np.finfo(float).eps  # share of a diagonal entry below which its residual is rounding
_NEGATIVE_RESIDUAL = 1e-6  # share of the largest diagonal entry below which a residual is no rounding any more
_FIRST_ROWS = 512  # rows of the factor that are made room for at first
_ALL_COMPARED = 1024  # rows up to which all are compared at once: 8 MB
_ROWS_PER_PIVOT = 10  # and more rows per pivot than this are compared a few at a time: most would not be looked at
_PROPOSALS = 64  # rows proposed at a time


@dataclass(frozen=True)
class Compared:
    """What the search needs of the rows of X whatever the kernel's parameters are.

    Attributes
    ----------
    order : array of int
        By which ties go, and rows are drawn.
    repeats : Repeats or None
        Rows that are equal.
    S : what ``kernel.compare(X)`` returns, or None
        None where there are too many rows: then a few of them are compared at a time.
    """

    order: Array
    repeats: Repeats | None
    S: Any

    @staticmethod
    def of(kernel: Kernel, X: Any, limit: int, seed: int) -> Compared:
        """Those of a kernel and all that differ from it in their parameters only."""
        n = X.shape[0]
        order = random_order(X, seed=seed, pairwise=kernel.pairwise)
        is_small = n <= _ALL_COMPARED and n <= _ROWS_PER_PIVOT * limit and not kernel.pairwise
        return Compared(order, None if kernel.pairwise else find_repeats(X), kernel.compare(X) if is_small else None)

    def holding(self, kernel: Kernel, X: Any, rows: Array) -> tuple[Any, Array]:
        """What ``kernel.compare`` returns for these rows or more against all, and where they are in it."""
        return (kernel.compare(X[rows], X), np.arange(len(rows))) if self.S is None else (self.S, rows)


def pivoted_cholesky(
    kernel: Kernel, X: Any, limit: int, residual: float, seed: int, greedy: bool, compared: Compared | None = None
) -> tuple[Array, Factor]:
    """Pivot rows, and the factor F with the map to such features.

    Parameters
    ----------
    limit : int
        Largest number of pivots.
    residual : float
        Use no more pivots than leave this share of the trace unexplained.
    compared : Compared, optional
        What is known of the rows already, from a kernel with other parameters.
    """
    known = Compared.of(kernel, X, limit, seed) if compared is None else compared
    K = KernelRows(
        np.maximum(kernel.diag(X), 0.0),
        known.order,
        holding=lambda rows: known.holding(kernel, X, rows),
        values=lambda S, rows, cols: kernel.evaluate(kernel.part(S, rows, cols)),
    )
    pivots, Ft = search(K, limit, residual, None if greedy else np.random.default_rng(seed))
    points = None if kernel.pairwise else X[pivots]
    rows = pivots if kernel.pairwise else None
    # Above the diagonal of the pivots' block the factor is zero by construction.
    Ft[:, pivots] = np.triu(Ft[:, pivots])
    F = np.ascontiguousarray(Ft.T)
    features = LandmarkFeatures(kernel, points, rows, F[pivots], triangular=True)
    repeats = known.repeats
    if repeats is not None:  # equal rows of X have equal rows in the factor: those of a pivot, or of the first copy
        first = repeats.first.copy()
        first[repeats.ids[pivots]] = pivots
        F = F[first[repeats.ids]]
    return pivots, Factor(F, features)


@dataclass(frozen=True)
class KernelRows:
    """The parts of K that the search looks at: its diagonal, and a few of its rows at a time; ties go by ``order``.

    ``S, places = holding(rows)`` is what the values of some rows are made of, and where they are in it; ``values(S,
    places, cols)`` are these values in some columns, or in all of them if ``cols`` is None.
    """

    diag: Array
    order: Array
    holding: Callable[[Array], tuple[Any, Array]]
    values: Callable[[Any, Array, Array | None], Array]


def search(K: KernelRows, limit: int, residual: float, rng: np.random.Generator | None) -> tuple[Array, Array]:
    """Pivots and the transposed factor: the row with the largest residual first, or rows drawn in proportion to it."""
    d = K.diag.copy()
    stop = max(residual, _ROUNDING) * d.sum()
    Ft = np.zeros((min(limit, _FIRST_ROWS), len(d)))
    pivots: list[int] = []
    while len(pivots) < limit and d.sum() > stop:
        r = len(pivots)
        if rng is None:
            p = K.order[[np.argmax(d[K.order])]]
            G = (K.values(*K.holding(p), None) - Ft[:r, p].T @ Ft[:r]) / np.sqrt(d[p])
        else:
            p, G = _drawn(K, d, Ft[:r], limit - r, rng)
            if len(p) == 0:
                continue
        if r + len(p) > len(Ft):  # the room is doubled, because the final number is not known
            more = min(limit, max(2 * len(Ft), r + len(p))) - len(Ft)
            Ft = np.vstack([Ft, np.zeros((more, len(d)))])
        Ft[r : r + len(p)] = G
        pivots.extend(p.tolist())
        # Take what is now explained off the residual diagonal; rounding counts as zero.
        d -= np.einsum("ij,ij->j", G, G)
        if d.min() < -_NEGATIVE_RESIDUAL * K.diag.max():
            raise ValueError(
                "Landmarks of this kind need a positive semi-definite kernel, but this kernel is indefinite; use "
                "landmarks='uniform', which drops negative eigenvalues, or rank=gram.Clipped()."
            )
        d[d <= _ROUNDING * K.diag] = 0.0
        d[pivots] = 0.0
    if not pivots:
        raise ValueError("The kernel is zero on every row, so it has no low-rank factor; use rank=None.")
    Ft, enough = Ft[: len(pivots)], len(pivots)
    if residual:  # no more of them than explain what is wanted of the trace
        explained = np.cumsum(np.einsum("ij,ij->i", Ft, Ft))
        enough = 1 + int(np.searchsorted(explained, (1.0 - residual) * K.diag.sum()))
    return np.array(pivots[:enough]), Ft[:enough]


def _drawn(K: KernelRows, d: Array, Ft: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows drawn with probability proportional to their residuals d, and their rows of the factor."""
    total = np.cumsum(d[K.order])
    places = np.searchsorted(total, rng.random(min(_PROPOSALS, 2 * most)) * total[-1], side="right")
    drawn = K.order[np.minimum(places, len(d) - 1)]
    (S, places), before = K.holding(drawn), Ft[:, drawn]
    H = K.values(S, places, drawn)  # rows that will be rejected need no other columns
    H -= before.T @ before
    kept, L = _reject(H, rng.random(len(drawn)) * d[drawn], _ROUNDING * K.diag[drawn], most)
    G = K.values(S, places[kept], None)
    if len(kept) == 0:  # the residual of these rows is rounding
        d[drawn] = 0.0
        return drawn[kept], G
    G -= before[:, kept].T @ Ft
    return drawn[kept], dtrsm(1.0, L, G.T, side=1, lower=1, trans_a=1, overwrite_b=1).T  # L^-1 G, in place


def _reject(H: Array, u: Array, floor: Array, most: int) -> tuple[Array, Array]:
    """Go through proposals with residual matrix H; accept i if its residual by then still exceeds u_i.

    Where u_i is uniform up to the residual that i had when drawn, that happens with the ratio of the two. Returns the
    accepted positions and the Cholesky factor of H on them, below the diagonal only. What an accepted row explains is
    taken off H at once, below the diagonal; rows that were gone through change with it, and are not looked at again.
    """
    bar = np.maximum(u, floor).tolist()
    H = np.asfortranarray(H)
    chosen: list[int] = []
    columns: list[Array] = []
    for i in range(len(u)):
        residual = H.item(i, i)
        if residual > bar[i]:
            chosen.append(i)
            columns.append(H[:, i] / sqrt(residual))
            if len(chosen) == most:
                break
            H = dsyr(-1.0, columns[-1], a=H, lower=1, overwrite_a=1)
    kept = np.array(chosen, dtype=int)
    return kept, np.reshape(columns, (len(chosen), len(u)))[:, kept].T

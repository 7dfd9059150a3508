"""A point of the elastic-net path with its places: the machine, how good it is, and the elbow system.

See ``solvers.elastic`` for the problem and ``loops.elastic_system`` for the system. The places of samples and features
determine the point: E and A, hence the equations r_E = 0, c_A = lambda2 beta_A + lambda1 om_A s_A and y'alpha = 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from svmpath.exceptions import PathError
from svmpath.solvers.compiling import announce
from svmpath.solvers.elastic.design import Design, Snapshot
from svmpath.solvers.elastic.measure import relative_gap
from svmpath.solvers.loops import elastic_state as layout
from svmpath.solvers.loops.elastic_state import ELBOW, LEFT, RIGHT, ZERO
from svmpath.solvers.loops.elastic_tolerances import ATTEMPTS, DEPENDENCE_MARGIN, ROOM, SMALL_OBJECTIVE

Array = np.ndarray

_COMPILING_SETTLE = 4.0  # seconds, about


@lru_cache(maxsize=64)
def _upper(k: int) -> Array:
    """Where a matrix of k rows is not below its diagonal."""
    return np.triu(np.ones((k, k), dtype=bool))


def _number(at: int, doc: str) -> Any:
    """A property: one of the numbers of the state."""
    return property(lambda point: float(point.state.x[at]), doc=doc)


def _row(part: str, at: int, doc: str) -> Any:
    """A property: one number per sample (part N) or per feature (part P) of the state, to be changed in place."""
    return property(lambda point: getattr(point.state, part)[at], doc=doc)


class PlacedPoint:
    """A machine, the places of its samples and features, and the elbow system that these make; changed in place."""

    def __init__(self, design: Design, point: Snapshot) -> None:
        self.design = design
        n, p = design.Z.shape
        k = int(np.count_nonzero(point.place == ELBOW))
        m = int(np.count_nonzero(point.sign))
        rows, columns = min(k + ROOM, min(n, p + 1) + 2), min(m + ROOM, p + 2)
        x, num = np.zeros(13), np.zeros(7, np.int64)
        x[layout.TAU], x[layout.DEPENDENT], num[layout.RANDOM] = design.tau, ATTEMPTS[0][0], 1
        self.state = layout.ElasticState(
            x, num, np.zeros((8, n)), np.zeros((6, p)), np.empty(n, np.int64), np.empty(p, np.int64),
            np.empty(n + 1, np.int64), np.empty(p + 1, np.int64), np.empty((rows, columns)), np.empty((rows, rows)),
            np.empty((9, max(rows, columns))),
        )  # fmt: skip
        self.state.N[layout.Y], self.state.P[layout.ZMAX] = design.y, design.zmax
        self._restore(point)

    def _restore(self, point: Snapshot) -> None:
        """Everything as in a snapshot, but for the elbow system."""
        S = self.state
        S.x[:4], S.num[layout.IDLE] = point.x, 0
        S.N[layout.MARGIN], S.P[layout.OM] = self.design.margin, self.design.om
        S.N[layout.WEIGHT], S.N[layout.ALPHA], S.P[layout.BETA] = point.w, point.alpha, point.beta
        S.place[:], S.sign[:] = point.place, point.sign

    # --- the machine -------------------------------------------------------------------------------------------------

    value = _number(layout.U, "The value of the line.")
    lam1 = _number(layout.LAM1, "lambda1.")
    lam2 = _number(layout.LAM2, "lambda2.")
    b = _number(layout.B, "The offset.")
    w = _row("N", layout.WEIGHT, "Weights of the samples.")
    alpha = _row("N", layout.ALPHA, "Coefficients of the samples.")
    r = _row("N", layout.R, "What the margins lack to one.")
    beta = _row("P", layout.BETA, "Coefficients of the features.")
    c = _row("P", layout.C, "Z'alpha.")

    @property
    def null_steps(self) -> int:
        """How many samples and features were exchanged at constant beta."""
        return int(self.state.num[layout.NULLS])

    def snapshot(self) -> Snapshot:
        """The point as it is."""
        S = self.state
        return Snapshot(*(part.copy() for part in (S.x[:4], self.w, self.alpha, self.beta, S.place, S.sign)))

    @property
    def gap(self) -> float:
        """The relative duality gap of the point, as far as rounding in its margins lets it be known."""
        design = self.design
        alpha, total = np.clip(self.alpha, 0.0, self.w), self.w.sum()
        gap = relative_gap(design, self.w, self.lam1, self.lam2, alpha, self.beta, self.b)
        rounding = 8 * np.finfo(float).eps * (np.abs(self.beta) @ design.zmax + abs(self.b))
        return gap - rounding * total / max(self.w @ np.maximum(self.r, 0.0), SMALL_OBJECTIVE * total)

    @property
    def violation(self) -> float:
        """The largest r on the wrong side, or c beyond its threshold in units of the weights on its column."""
        S, om = self.state, self.design.om
        wrong = np.select([S.place == ELBOW, S.place == LEFT, S.place == RIGHT], [np.abs(self.r), -self.r, self.r], 0.0)
        unit = np.maximum(self.w.sum() * self.design.zmax, 1e-300)
        side = np.where(np.abs(S.sign) == 1, S.sign, 0)
        off = np.abs(self.c - self.lam2 * self.beta - self.lam1 * om * side)
        off = np.where(S.sign == ZERO, np.abs(self.c) - self.lam1 * om, off)
        return float(max(wrong.max(initial=0.0), (off / unit).max(initial=0.0)))

    # --- the point that the places determine -------------------------------------------------------------------------

    def assemble(self) -> None:
        """Make the elbow system of the places, and the equations of the point hold."""
        if not self.solve_places(1):
            raise PathError(
                "The samples with a margin of exactly one are linearly dependent; remove columns or rows "
                "that are nearly copies of others, or use a larger lambda2."
            )

    def solve_places(self, rounds: int = 3) -> bool:
        """Go to the point that the places alone determine, whatever beta and alpha are; False where they do not.

        From a point that is nearly right already fewer rounds of corrections are enough.
        """
        S = self.state
        E, A = np.flatnonzero(S.place == ELBOW), np.flatnonzero(S.sign)
        k, m = len(E), len(A)
        if k > m + 1:
            return False
        while k + 2 > S.G.shape[0] or m + 2 > S.W.shape[1]:
            self._grow()
            S = self.state
        S.num[layout.K], S.num[layout.M] = k, m
        S.E[:k], S.A[:m] = E, A
        block = self.design.Z[E][:, A]
        S.W[:k, :m] = block.todense() if sparse.issparse(block) else block
        if not self._factor():
            return False
        self.settle(rounds)
        return True

    def _factor(self) -> bool:
        """G from W, by orthogonalising the rows of M; False where they depend on each other."""
        S = self.state
        k, m = S.num[:2]
        S.num[layout.IS_FRESH] = 1
        if k == 0:
            return True
        if k > m + 1:
            return False
        rows = np.empty((k, m + 1))
        rows[:, :m], rows[:, m] = S.W[:k, :m], np.sqrt(self.design.tau) * self.design.y[S.E[:k]]
        upper = lapack.dgeqrf(rows.T)[0][:k]
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        if not (np.abs(np.diagonal(upper)) > S.x[layout.DEPENDENT] / DEPENDENCE_MARGIN * length).all():
            return False
        inverse = np.where(_upper(k), lapack.dtrtri(upper)[0], 0.0)
        S.G[:k, :k] = inverse @ inverse.T
        return True

    def settle(self, rounds: int = 1) -> None:
        """Correct beta_A, b and alpha_E so that the equations of E and A hold to rounding; no place changes."""
        from svmpath.solvers.loops.elastic_removal import settle  # numba is imported when first used

        announce(settle, "the elastic-net engine's corrections", _COMPILING_SETTLE)
        settle(self.design.arrays, self.state, rounds)

    def _keep_bounds(self) -> None:
        """alpha at its bounds off the elbow."""
        place = self.state.place
        self.alpha[:] = np.where(place == ELBOW, self.alpha, np.where(place == LEFT, self.w, 0.0))

    def _grow(self) -> None:
        """More room for the elbow system."""
        S = self.state
        k, m = S.G.shape[0], S.W.shape[1]
        rows, columns = k + max(ROOM, k // 2), m + max(ROOM, m // 2)
        W, G, Q = np.empty((rows, columns)), np.empty((rows, rows)), np.empty((9, max(rows, columns)))
        W[:k, :m], G[:k, :k], Q[:, : S.Q.shape[1]] = S.W, S.G, S.Q
        self.state = S._replace(W=W, G=G, Q=Q)

    def _drop(self, i: int) -> bool:
        """Sample i leaves the elbow system."""
        S = self.state
        k, m = S.num[:2]
        at = int(np.flatnonzero(S.E[:k] == i)[0])
        rest = np.delete(np.arange(k), at)
        G, column, pivot = S.G[np.ix_(rest, rest)], S.G[rest, at], S.G[at, at]
        S.E[: k - 1], S.W[: k - 1, :m] = S.E[rest], S.W[rest, :m]
        S.num[layout.K], S.num[layout.IS_FRESH] = k - 1, 0
        if not pivot > 0.0:
            return self._factor()
        S.G[: k - 1, : k - 1] = G - np.outer(column, column / pivot)
        return True

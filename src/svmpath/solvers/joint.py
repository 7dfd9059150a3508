"""The quadratic loss of several classes at once, and its machines in features, by Newton's method.

The problem, for Q classes, in features Z (K = Z Z') with A = [Z, 1], H = A Theta U' of shape (n, Q), and U an
orthonormal basis of the vectors of Q numbers that sum to zero, so that the rows of H do::

    minimise   J(Theta) = 1/2 |W|^2 + C sum_i s_i L(v_i),      v_ik = h_k(x_i) + 1/(Q - 1),   k != y_i

    L(v) = min { xi'M xi : xi_k >= v_k },      M = I + 1 1'   (of size Q - 1)

``docs/math/several_classes.md`` says why M is this matrix. With S = sum_k xi_k a slack is v_k or, if that is less, -S:

    S = sum_k max(v_k, -S),      p_k = max(v_k + S, 0),      L = sum over A of v_k^2 + (1 + m) S^2,      dL/dv = 2 p

where A = {k : p_k > 0}, the active classes of the row, and m is the number of the other wrong ones, so that
S = sum_A v / (1 + m). L is quadratic in pieces, one for each set A, with half its Hessian
E = diag(1_A) + 1_A 1_A' / (1 + m). Between rows that sum to zero E is at most the identity, which it is if all wrong
classes are active: then the machine is that of least squares with targets 1 and -1/(Q - 1), a system of r + 1 unknowns
for all classes together.

The step of Newton's method has (r + 1)(Q - 1) unknowns. Few are found by a factor of the Hessian, many by conjugate
gradients, preconditioned by the Hessian with all classes active.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator, cg

from svmpath.exceptions import PathError
from svmpath.interrupts import checkpoint
from svmpath.lazy import lazy

Array = np.ndarray

MOST_UNKNOWNS = 4000  # up to which the Hessian is factored
_MOST_NEWTON_STEPS = 200  # of Newton's method
_SMALL = 1e-13  # the gradient in units of the terms that cancel in it, which rounding leaves
_INNER = 1e-11  # relative residual of conjugate gradients
_INNER_STEPS = 2000
_RIDGE = 1e-12  # relative, on the diagonal of a Hessian that is singular: of offsets that no row holds


def sum_zero_basis(Q: int) -> Array:
    """U: Q - 1 orthonormal columns that sum to zero."""
    U = np.zeros((Q, Q - 1))
    for j in range(Q - 1):
        U[: j + 1, j], U[j + 1, j] = 1.0, -(j + 1.0)
    return U / np.linalg.norm(U, axis=0)


@dataclass(frozen=True)
class Slopes:
    """L at some rows.

    Attributes
    ----------
    p : array of shape (n, Q)
        Half the gradient of L; zero for the row's own class.
    S : array of shape (n,)
        The sum of the slacks.
    loss : array of shape (n,)
    """

    p: Array
    S: Array
    loss: Array

    @property
    def active(self) -> Array:
        """A of each row, as an array of bool of shape (n, Q)."""
        return self.p > 0.0

    @property
    def slack_share(self) -> Array:
        """1 / (1 + m)."""
        return 1.0 / (self.p.shape[1] - self.active.sum(axis=1))


def slopes_of(H: Array, code: Array) -> Slopes:
    """L, of decision values of shape (n, Q) and the classes of the rows."""
    n, Q = H.shape
    v = H + 1.0 / (Q - 1)
    v[np.arange(n), code] = -np.inf
    ordered = -np.sort(-v, axis=1)[:, : Q - 1]
    sums = np.cumsum(ordered, axis=1) / (Q - np.arange(1.0, Q))  # S if the first 1, 2, ... are active
    count = np.count_nonzero(ordered + sums > 0.0, axis=1)  # those for which that is so come first
    S = np.where(count > 0, sums[np.arange(n), np.maximum(count - 1, 0)], 0.0)
    p = np.maximum(v + S[:, None], 0.0)
    xi = np.where(p > 0.0, v, 0.0)
    return Slopes(p, S, np.square(xi).sum(axis=1) + (Q - np.count_nonzero(p > 0.0, axis=1)) * S**2)


@dataclass(frozen=True)
class JointPoint:
    """Theta, the decision values H = A Theta U', and what L is there."""

    theta: Array
    H: Array
    slopes: Slopes


class JointNewton:
    """J of these rows: A of shape (n, r + 1) with a last column of ones, their classes and weights."""

    def __init__(self, A: Array, code: Array, s: Array, Q: int) -> None:
        self.A, self.code, self.s, self.U = A, code, s, sum_zero_basis(Q)
        self.is_small = A.shape[1] * (Q - 1) <= MOST_UNKNOWNS

    @lazy
    def _moments(self) -> Array:
        """A' S A."""
        return self.A.T @ (self.A * self.s[:, None])

    def point(self, theta: Array) -> JointPoint:
        """The point of a Theta."""
        H = self.A @ theta @ self.U.T
        return JointPoint(theta, H, slopes_of(H, self.code))

    def start(self) -> JointPoint:
        """No function at all, and no offset."""
        return self.point(np.zeros((self.A.shape[1], self.U.shape[1])))

    def gradient(self, C: float, point: JointPoint) -> Array:
        """Of J, in the shape of Theta."""
        g = 2.0 * C * (self.A.T @ ((self.s[:, None] * point.slopes.p) @ self.U))
        g[:-1] += point.theta[:-1]
        return g

    def curvatures(self, point: JointPoint) -> Array:
        """U' E_i U of each row, of shape (n, Q - 1, Q - 1)."""
        active = point.slopes.active
        half = active[:, :, None] * self.U
        E = np.einsum("nkp,nkq->npq", half, half)
        total = half.sum(axis=1)
        E += point.slopes.slack_share[:, None, None] * total[:, :, None] * total[:, None, :]
        return E

    def hessian(self, C: float, point: JointPoint) -> Array:
        """Of J, rows of Theta varying fastest."""
        d, q = self.A.shape[1], self.U.shape[1]
        E, M = 2.0 * C * self.s[:, None, None] * self.curvatures(point), np.empty((q, d, q, d))
        for a in range(q):
            for b in range(a + 1):
                M[a, :, b] = M[b, :, a] = self.A.T @ (self.A * E[:, a, b, None])
            diagonal = np.arange(d - 1)
            M[a, diagonal, a, diagonal] += 1.0
        return M.reshape(q * d, q * d)

    def factor(self, C: float, point: JointPoint) -> Any:
        """The Hessian's Cholesky factor; of a singular one with a tiny ridge."""
        M = self.hessian(C, point)
        for ridge in (0.0, _RIDGE, 1e3 * _RIDGE, 1e6 * _RIDGE):
            try:
                return cho_factor(M + ridge * np.diag(1.0 + np.diagonal(M)) if ridge else M, check_finite=False)
            except LinAlgError:
                continue
        raise PathError(f"At C = {C:.6g} the system of all classes is singular: scale the columns, or use smaller C.")

    def solve(self, C: float, point: JointPoint, right: Array) -> Array:
        """The Hessian's inverse times a right-hand side in the shape of Theta."""
        if self.is_small:
            return cho_solve(self.factor(C, point), right.T.ravel(), check_finite=False).reshape(right.T.shape).T
        return self._by_gradients(C, point, right)

    def _by_gradients(self, C: float, point: JointPoint, right: Array) -> Array:
        """The same by conjugate gradients."""
        E, shape = 2.0 * C * self.s[:, None, None] * self.curvatures(point), right.shape
        whole = 2.0 * C * self._moments
        whole[np.diag_indices(len(whole) - 1)] += 1.0
        factor = cho_factor(whole, check_finite=False)

        def times(x: Array) -> Array:
            checkpoint()
            theta = x.reshape(shape)
            y = self.A.T @ np.einsum("npq,nq->np", E, self.A @ theta)
            y[:-1] += theta[:-1]
            return y.ravel()

        size = right.size
        operator = LinearOperator((size, size), matvec=times, dtype=float)
        before = LinearOperator(
            (size, size), matvec=lambda x: cho_solve(factor, x.reshape(shape), check_finite=False).ravel(), dtype=float
        )
        return cg(operator, right.ravel(), rtol=_INNER, maxiter=_INNER_STEPS, M=before)[0].reshape(shape)

    def at(self, C: float, point: JointPoint) -> JointPoint:
        """The minimiser of J at C, from any point."""
        smallest = np.inf
        for _ in range(_MOST_NEWTON_STEPS):
            checkpoint()
            g = self.gradient(C, point)
            scale = 2.0 * C * (np.abs(self.A).T @ (self.s * point.slopes.p.max(axis=1))).max() + 1.0
            size = float(np.abs(g).max()) / scale
            if size == 0.0:
                return point
            step = -self.solve(C, point, g)
            aim = self.point(point.theta + step)
            stays = np.array_equal(aim.slopes.active, point.slopes.active)
            if stays and (size <= 1e3 * _SMALL or size >= 0.5 * smallest):
                before, after = np.abs(g).max(), np.abs(self.gradient(C, aim)).max()
                if not after < 0.5 * before:  # no more digits
                    return aim if after <= before else point
            smallest = min(smallest, size) if stays else np.inf
            point = aim if stays else self._searched(C, point, step, aim)
        raise PathError(
            f"No machine of all classes was found in {_MOST_NEWTON_STEPS} steps of Newton's method at C = {C:.6g}: "
            "scale the columns (StandardScaler), or use smaller C."
        )

    def _searched(self, C: float, point: JointPoint, step: Array, aim: JointPoint) -> JointPoint:
        """The lowest point on the way to the aim: where the derivative, which rises, is zero."""
        w, dw, dH = point.theta[:-1], step[:-1], aim.H - point.H
        first, second = float(np.sum(w * dw)), float(np.sum(dw * dw))

        def derivative(t: float) -> float:
            p = slopes_of(point.H + t * dH, self.code).p
            return first + t * second + 2.0 * C * float(self.s @ np.einsum("nk,nk->n", p, dH))

        if derivative(1.0) <= 0.0:
            return aim
        if derivative(0.0) >= 0.0:
            return point
        return self.point(point.theta + brentq(derivative, 0.0, 1.0, xtol=1e-10) * step)

    def left_out(self, C: float, point: JointPoint, *, count: bool = False) -> tuple[Array, Array]:
        """Decision values of each row by the machine without it, if no other changes its active classes.

        The step is B_i (I - G_i B_i)^-1 u_i with B_i = (a_i' x I) Hess^-1 (a_i x I), G_i = 2 C s_i U'E_i U and
        u_i = 2 C s_i U'p_i. With ``count`` also whether another row does change its active classes.
        """
        if not self.is_small:
            raise ValueError(
                f"The prediction of leave-one-out needs a factor of {self.A.shape[1] * self.U.shape[1]} unknowns, more "
                f"than {MOST_UNKNOWNS}; use a low rank (rank=200), or criteria.kfold."
            )
        d, q, n = self.A.shape[1], self.U.shape[1], len(self.A)
        factor, E = self.factor(C, point), self.curvatures(point)
        held, moves = point.H.copy(), np.zeros(n, dtype=bool)
        for rows in np.array_split(np.flatnonzero(self.s > 0), max(1, n // max(1, 2_000_000 // (q * q * d)))):
            checkpoint()
            right = np.zeros((len(rows), q, q, d))
            right[:, np.arange(q), np.arange(q)] = self.A[rows][:, None]
            solved = cho_solve(factor, right.reshape(-1, q * d).T, check_finite=False).T.reshape(len(rows), q, q, d)
            B = np.einsum("nabd,nd->nab", solved, self.A[rows])
            scale = 2.0 * C * self.s[rows]
            u = scale[:, None] * (point.slopes.p[rows] @ self.U)
            G = scale[:, None, None] * E[rows]
            x = np.linalg.solve(np.eye(q) - G @ B, u[:, :, None])[:, :, 0]
            held[rows] += np.einsum("nab,nb->na", B, x) @ self.U.T
            if count:
                for i, theta in zip(rows.tolist(), np.einsum("na,nabd->ndb", x, solved), strict=True):
                    moved = self.point(point.theta + theta).slopes.active != point.slopes.active
                    moved[[i]] = False
                    moves[i] = bool((moved & (self.s > 0)[:, None]).any())
        return held, moves

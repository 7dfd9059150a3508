"""The smallest ball around the samples in the feature space of K + lam/2 I, by Newton's method.

The problem, in features Z (K = Z Z'), A = [Z, 1], theta = (v, nu), with v/2 the part of the centre in the space of Z::

    R^2 = min   |v|^2/4 + nu + 1/(2 lam) sum_i max(0, d_i - z_i'v - nu)^2,      d_i = |z_i|^2 + lam/2

The multipliers beta_i = max(0, d_i - z_i'v - nu) / lam add up to one, and the centre is (v/2, sqrt(lam/2) beta), v/2 =
Z'beta. A constant taken off d comes off nu as well: without lam/2 and the mean of |z_i|^2 there remain targets t that
are small and the same for every lam. Times 2 lam, with f = A theta::

    minimise   Q(theta) = sum_i max(0, t_i - f_i)^2 + lam/2 |v|^2 + 2 lam nu

Q is convex and piecewise quadratic; with E = {i : f_i < t_i} the minimiser of the piece solves

    M_E theta = A_E' t - lam e,     M_E = A_E' A_E + lam/2 D,     e = (0, .., 0, 1)

the system of ``solvers.feature_newton`` with the targets t for labels. For given v the best nu is known in closed form,
and at it E is not empty, so that M_E is not singular.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svmpath.exceptions import PathError
from svmpath.solvers.feature_newton import ActiveSystem, FeaturePoint, Rows
from svmpath.solvers.newton import NewtonOnPieces
from svmpath.solvers.pieces import Pieces

Array = np.ndarray

_MOST_BALL_STEPS = 100  # of Newton's method per value
_LARGEST_RATIO = 10.0  # largest ratio of one lam to the next on the way to a ball
_SPHERE_TIE = 1e-11  # rows so close to the sphere (times the largest |z_i|^2) may be on either side


@dataclass(frozen=True)
class Ball:
    """The ball at one lam.

    Attributes
    ----------
    lam : float
    point : FeaturePoint
        Theta, f and E, to start from at another lam.
    beta : array of shape (n,)
        Multipliers, >= 0 and of sum one; zero for samples inside the ball.
    lower : float
        The value of the dual problem at beta: no ball around the samples is smaller.
    squared_radius : float
        R^2: the largest squared distance of a sample from the centre, so that this ball does enclose them all, or that
        of a ball at a larger lam where it is less.
    """

    lam: float
    point: FeaturePoint
    beta: Array
    lower: float
    squared_radius: float


_OUTSIDE = Pieces((0.0,), (0.0, 2.0), of_margin=False)  # max(0, t - f)^2


class _Sphere(NewtonOnPieces[FeaturePoint]):
    """Q at lam of rows whose labels are the targets t; ``size`` is the largest |z_i|^2."""

    most_steps = _MOST_BALL_STEPS

    def __init__(self, rows: Rows, system: ActiveSystem, size: float, lam: float) -> None:
        super().__init__(_OUTSIDE, rows.y, rows.s)
        self._rows, self._system, self._size, self.lam = rows, system, size, lam

    def point(self, theta: Array, f: Array) -> FeaturePoint:
        """The point of a theta with f = A theta."""
        return FeaturePoint(theta, f, f < self._rows.y)

    def penalty(self, point: FeaturePoint) -> float:
        v, nu = point.theta[:-1], point.theta[-1]
        return float(0.5 * self.lam * (v @ v) + 2.0 * self.lam * nu)

    def penalty_along(self, point: FeaturePoint, aim: FeaturePoint) -> tuple[float, float]:
        step = aim.theta - point.theta
        p = step[:-1]
        return float(self.lam * (point.theta[:-1] @ p) + 2.0 * self.lam * step[-1]), float(self.lam * (p @ p))

    def between(self, point: FeaturePoint, aim: FeaturePoint, t: float) -> FeaturePoint:
        step, df = aim.theta - point.theta, aim.f - point.f
        return self.with_minimiser(self.point(point.theta + t * step, point.f + t * df))

    def aim(self, point: FeaturePoint) -> FeaturePoint:
        factored = self._system.factor(point.E, self.lam).features
        last = np.zeros(len(point.theta))
        last[-1] = self.lam
        theta = factored.solve(factored.c - last)
        return self.point(theta, self._rows.A @ theta)

    def is_tied(self, point: FeaturePoint, aim: FeaturePoint, moved: Array) -> bool:
        return bool(np.abs(self._rows.y - aim.f)[moved].max() <= _SPHERE_TIE * self._size)

    def with_minimiser(self, point: FeaturePoint) -> FeaturePoint:
        return point if point.E.any() else self.level(point)

    def level(self, point: FeaturePoint) -> FeaturePoint:
        """The same v with its best nu, at which the slacks add up to lam."""
        g = np.sort(self._rows.y - point.f)[::-1]
        steps = (np.cumsum(g) - self.lam) / np.arange(1, len(g) + 1)  # the best change of nu if E were the first k
        k = max(int(np.count_nonzero(g > steps)), 1)
        rise = float(steps[k - 1])
        theta = point.theta.copy()
        theta[-1] += rise
        return self.point(theta, point.f + rise)


class EnclosingBall:
    """The balls of one set of samples, for any lam.

    Parameters
    ----------
    A : array of shape (n, r + 1)
        [Z, 1] with K = Z Z'.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.solvers.enclosing_ball import EnclosingBall
    >>> Z = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> balls = EnclosingBall(np.column_stack([Z, np.ones(3)]))
    >>> round(balls.at(1e-9).squared_radius, 6)
    1.0
    """

    def __init__(self, A: Array) -> None:
        # The ball moves with the samples; around the origin it keeps the most digits.
        A = A.copy()
        A[:, :-1] -= A[:, :-1].mean(axis=0)
        t = np.einsum("ij,ij->i", A[:, :-1], A[:, :-1])
        self._shift, self._size = float(t.mean()), float(t.max())
        self._rows = Rows(A, t - self._shift, np.ones(len(A)))  # the targets take the place of the labels
        self._system = ActiveSystem(_OUTSIDE, self._rows)

    def at(self, lam: float, near: Ball | None = None) -> Ball:
        """The ball at lam, from one at a larger lam if there is one.

        Going down, the samples on the sphere become fewer and each Newton step knows most of them; a start from afar
        would have to find them one by one. So a long way is gone in strides.

        R^2 rises with lam (its derivative is half of 1 - |beta|^2): no ball is taken for larger than one before it,
        however little of lam is left beside the samples.
        """
        near = self._start(lam) if near is None or near.lam < lam else near
        ball, stride = near, near.lam / _LARGEST_RATIO
        while stride > lam:
            ball, stride = self._next(stride, ball), stride / _LARGEST_RATIO
        return self._next(lam, ball)

    def _next(self, lam: float, last: Ball) -> Ball:
        ball = self._measure(lam, self._minimise(lam, last.point))
        return replace(ball, squared_radius=min(ball.squared_radius, last.squared_radius))

    def _start(self, lam: float) -> Ball:
        """A ball from which one can go down to lam: at so large a lam that the sphere goes through all samples."""
        n, width = self._rows.A.shape
        lam = max(lam, 8.0 * n * self._size)
        sphere = _Sphere(self._rows, self._system, self._size, lam)
        point = sphere.level(sphere.point(np.zeros(width), np.zeros(n)))
        return self._measure(lam, self._minimise(lam, point))

    def _minimise(self, lam: float, point: FeaturePoint) -> FeaturePoint:
        """The minimiser of Q, from a point."""
        minimiser, is_minimum = _Sphere(self._rows, self._system, self._size, lam).minimise(point)
        if not is_minimum:
            raise PathError(
                f"The enclosing ball was not found within {_MOST_BALL_STEPS} steps at C = {1 / lam:.6g}: scale the "
                "columns (StandardScaler), use smaller C, or criterion='span'."
            )
        return minimiser

    def _measure(self, lam: float, point: FeaturePoint) -> Ball:
        """The ball of a point: R^2 lies between the two values that are given, however well Q was minimised."""
        beta = np.where(point.E, self._rows.y - point.f, 0.0).clip(min=0.0)
        if not beta.any():  # lam is below the rounding of K: any centre still gives a ball
            slack = self._rows.y - point.f
            beta = np.where(point.E.any(), point.E, slack == slack.max()).astype(float)
        beta /= beta.sum()
        v, nu = point.theta[:-1], point.theta[-1]
        z2 = self._rows.y + self._shift  # |z_i|^2
        # |z_i - v/2|^2 and, in the dimensions that lam/2 I adds, lam/2 |e_i - beta|^2.
        far = z2 - (point.f - nu) + 0.25 * (v @ v) + 0.5 * lam * (1.0 - 2.0 * beta + beta @ beta)
        u = (beta @ self._rows.A)[:-1]
        lower = beta @ z2 - u @ u + 0.5 * lam * (1.0 - beta @ beta)
        return Ball(lam, point, beta, float(lower), float(far.max()))

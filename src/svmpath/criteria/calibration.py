"""Probabilities from held-out decision values: calibration.

Row i has a decision value F_ic for each of k classes, a class y_i and a weight w_i; N_c is the sum of the weights of
class c. For two classes there is one decision value f_i, which is the matrix with the columns 0 and f_i.

"sigmoid" is the softmax with one slope a and an offset b_c per class,

    p_ic = exp(a F_ic + b_c) / sum_d exp(a F_id + b_d),      a >= 0,

that minimises the cross-entropy

    J(a, b) = - sum_i w_i sum_c t_ic log p_ic,      t_ic = (N_{y_i} [c = y_i] + 1) / (N_{y_i} + k).

For two classes this is Platt's sigmoid p = 1 / (1 + exp(-a f - b)) with his targets (N+ + 1) / (N+ + 2) for class 1 and
1 / (N- + 2) for class 0. As every t_ic is between 0 and 1, J has a minimum even if the classes are separated or there
is only one. It is convex, so where the best slope is negative, the best one allowed is 0: held-out values that point
the wrong way say nothing of new rows, as leaving a row out moves the decision values against its class. "temperature"
is the same with b = 0; the temperature is 1 / a.

"isotonic" takes for p the non-decreasing function of f that minimises sum_i w_i (p(f_i) - [y_i = 1])^2 over the rows
and two more of weight one: one of class 1 at the smallest f, and one of class 0 at the largest. So no probability is 0
or 1, and a block of weight W at an end that holds one class only gets 1 / (W + 1) instead of 0, much as by Laplace's
rule. Several classes: one function for each class against the rest, and the row is divided by its sum.

Weights count rows: a weight of two is the same as a row given twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp

from svmpath.names import unknown_name
from svmpath.solvers.newton import Newton

Array = np.ndarray
_TINY = np.finfo(float).tiny
_ALL_EQUAL = 1e-12  # spread of decision values, relative to the largest, up to which they are equal but for rounding
_CLOSE = 1e-9  # squared Newton decrement, per unit of weight, from which one more step is the last
_SUFFICIENT = 1e-4  # fraction of the decrease promised by the slope that a step must reach


class Calibration(ABC):
    """A map from decision values to the probabilities of the classes."""

    @abstractmethod
    def log_probabilities(self, decisions: Array) -> Array:
        """Their logarithms, of shape (n, k); finite."""

    def probabilities(self, decisions: Array) -> Array:
        """Probabilities of the classes, of shape (n, k), from decision values of shape (n,) or (n, k)."""
        p = np.exp(self.log_probabilities(decisions))
        return p / p.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Softmax(Calibration):
    """Softmax of a (F - shift) / scale + b.

    Attributes
    ----------
    slope : float
        The slope a of decision values in units of ``scale``; 0 if they say nothing.
    offsets, shift : array of shape (k,)
    scale : float
    """

    slope: float
    offsets: Array
    shift: Array
    scale: float

    def log_probabilities(self, decisions: Array) -> Array:
        if self.slope == 0.0:
            return np.tile(log_softmax(self.offsets), (len(decisions), 1))
        F = (_matrix(decisions) - self.shift) / self.scale
        return log_softmax(self.slope * F + self.offsets, axis=1)


@dataclass(frozen=True)
class Isotonic(Calibration):
    """Piecewise linear functions of the decision value of each class; one function for two classes.

    Attributes
    ----------
    knots : list of pairs of arrays
        Decision values in increasing order, and the probabilities there; beyond the ends they are constant.
    units : array of shape (1 or k,)
        The decision values are multiples of these.
    """

    knots: list[tuple[Array, Array]]
    units: Array

    def log_probabilities(self, decisions: Array) -> Array:
        with np.errstate(over="ignore"):  # infinity is beyond the last knot
            columns = (decisions[:, None] if decisions.ndim == 1 else decisions) / self.units
        p = np.stack([np.interp(f, *knots) for f, knots in zip(columns.T, self.knots, strict=True)], axis=1)
        p = np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p
        return np.log(p / p.sum(axis=1, keepdims=True))


def fit_calibration(decisions: Array, code: Array, k: int, weights: Array, method: str = "sigmoid") -> Calibration:
    """The map from decision values to probabilities that fits held-out decision values best.

    Parameters
    ----------
    decisions : array of shape (n,) for two classes, (n, k) for k
        Held-out decision values; rows with NaN are ignored.
    code : array of int of shape (n,)
        The class of each row, from 0 to k - 1; of two classes, positive decision values mean class 1.
    k : int
        Number of classes.
    weights : array of shape (n,)
        Weights of the rows, 0 or more; 2 is the same as a row given twice.
    method : {"sigmoid", "isotonic", "temperature"}

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.calibration import fit_calibration
    >>> f, y = np.array([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> calibration = fit_calibration(f, y, 2, np.ones(6))
    >>> calibration.probabilities(np.array([-3.0, 0.0, 3.0])).round(2).tolist()
    [[0.87, 0.13], [0.5, 0.5], [0.13, 0.87]]
    """
    fit = _METHODS.get(method) if isinstance(method, str) else None
    if fit is None:
        raise ValueError(unknown_name("calibration", method, METHODS))
    decisions = np.asarray(decisions, dtype=float)
    is_seen = np.isfinite(decisions) if decisions.ndim == 1 else np.isfinite(decisions).all(axis=1)
    is_seen &= np.asarray(weights) > 0
    if not is_seen.any():
        raise ValueError(
            "Calibration needs held-out decision values, but every one has weight zero or was never held out; give "
            "some rows a positive weight, or hold them out (criterion='loo', or another cv)."
        )
    return fit(decisions[is_seen], np.asarray(code)[is_seen], k, np.asarray(weights, dtype=float)[is_seen])


def _fit_softmax(decisions: Array, code: Array, k: int, w: Array, has_offsets: bool) -> Calibration:
    """The softmax with one slope, and an offset per class or none."""
    F, T = _matrix(decisions), _targets(code, k, w)
    F = F - F.mean(axis=1, keepdims=True)  # which the softmax does not see
    largest = float(np.abs(F).max())
    unit = largest if largest > _TINY else 1.0
    shift = w @ (F / unit) / w.sum() * unit if has_offsets else np.zeros(k)
    scale = float(np.sqrt(np.average(np.mean(((F - shift) / unit) ** 2, axis=1), weights=w))) * unit
    flat = np.log(w @ T) - np.log(w.sum()) if has_offsets else np.zeros(k)
    if scale <= _ALL_EQUAL * largest:
        return Softmax(0.0, flat, shift, 1.0)
    start = np.concatenate([[0.0], flat[1:] - flat[0]]) if has_offsets else np.zeros(1)
    problem = CrossEntropy((F - shift) / scale, T, w)
    theta, _ = problem.minimise(start)
    if theta[0] <= 0.0:
        return Softmax(0.0, flat, shift, 1.0)
    return Softmax(float(theta[0]), problem.offsets(theta), shift, scale)


class CrossEntropy(Newton[Array]):
    """J as a function of theta = (a, b_1, ..., b_{k-1}) with b_0 = 0, or of (a,) with b = 0."""

    most_steps = 100

    def __init__(self, F: Array, T: Array, w: Array) -> None:
        self.F, self.T, self.w = F, T, w

    def offsets(self, theta: Array) -> Array:
        """All k offsets."""
        b = np.zeros(self.F.shape[1])
        b[1:] = theta[1:] if len(theta) > 1 else 0.0
        return b

    def objective(self, theta: Array) -> float:
        """J at theta."""
        z = theta[0] * self.F + self.offsets(theta)
        return float(self.w @ (logsumexp(z, axis=1) - (self.T * z).sum(axis=1)))

    def slopes(self, theta: Array) -> tuple[Array, Array]:
        """The gradient and the matrix of second derivatives."""
        F, w = self.F, self.w
        p = np.exp(log_softmax(theta[0] * F + self.offsets(theta), axis=1))
        mean = (p * F).sum(axis=1, keepdims=True)
        rest = w[:, None] * (p - self.T)
        gradient = np.concatenate([[np.sum(rest * F)], rest.sum(axis=0)[1:]])
        H = np.empty((F.shape[1], F.shape[1]))
        H[0, 0] = w @ (p * (F - mean) ** 2).sum(axis=1)
        H[0, 1:] = H[1:, 0] = (w @ (p * (F - mean)))[1:]
        H[1:, 1:] = np.diag(w @ p)[1:, 1:] - (p.T * w @ p)[1:, 1:]
        m = len(theta)
        return gradient[:m], H[:m, :m]

    def aim(self, theta: Array) -> Array:
        gradient, H = self.slopes(theta)
        self._gradient = gradient
        return (
            theta - np.linalg.lstsq(H, gradient, rcond=None)[0]
        )  # a class without rows may leave next to no curvature

    def advance(self, theta: Array, aim: Array) -> tuple[Array, bool]:
        step = aim - theta
        descent = float(-self._gradient @ step)
        if descent <= _CLOSE * float(self.w.sum()):
            return aim, True
        value, length = self.objective(theta), 1.0
        while self.objective(theta + length * step) > value - _SUFFICIENT * length * descent and length > _ALL_EQUAL:
            length /= 2
        return theta + length * step, length <= _ALL_EQUAL


def _fit_isotonic(decisions: Array, code: Array, k: int, w: Array) -> Calibration:
    """A non-decreasing function for class 1 of two, or for each of several classes against the rest."""
    columns, first = (decisions[:, None], 1) if decisions.ndim == 1 else (decisions, 0)
    units = np.maximum(np.abs(columns).max(axis=0), _TINY)  # of the order of 1, so that small differences are no ties
    knots = [_increasing(f, code == c, w) for c, f in enumerate((columns / units).T, first)]
    return Isotonic(knots, units)


def _increasing(f: Array, is_class: Array, w: Array) -> tuple[Array, Array]:
    """The knots of the function that fits best, with a row of the other class at each end."""
    from sklearn.isotonic import IsotonicRegression

    ends = np.array([f.min(), f.max()])
    fitted = IsotonicRegression(increasing=True).fit(
        np.concatenate([f, ends]), np.concatenate([is_class, [1.0, 0.0]]), np.concatenate([w, [1.0, 1.0]])
    )
    return fitted.X_thresholds_, fitted.y_thresholds_


def _matrix(decisions: Array) -> Array:
    """Decision values with a column for each class: 0 and f for two classes."""
    return np.stack([np.zeros(len(decisions)), decisions], axis=1) if decisions.ndim == 1 else decisions


def _targets(code: Array, k: int, w: Array) -> Array:
    """Platt's regularised targets for k classes, of shape (n, k)."""
    N = np.bincount(code, w, minlength=k)[code]
    T = np.repeat(1.0 / (N + k)[:, None], k, axis=1)
    T[np.arange(len(code)), code] = (N + 1.0) / (N + k)
    return T


_METHODS: dict[str, Callable[..., Any]] = {
    "sigmoid": partial(_fit_softmax, has_offsets=True),
    "isotonic": _fit_isotonic,
    "temperature": partial(_fit_softmax, has_offsets=False),
}
METHODS = tuple(_METHODS)

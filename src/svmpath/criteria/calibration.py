"""Probabilities from held-out decision values: calibration.

Row i has a decision value F_ic for each of k classes, a class y_i and a weight w_i; N_c is the sum of the weights of
class c. For two classes there is one decision value f_i, which is the matrix with the columns 0 and f_i. Only the
proportions of the weights count: they are scaled so that their sum is the effective number of rows
(``criteria.effective``), and equal weights are 1.

The softmax with one slope a and an offset b_c per class is

    p_ic = exp(a F_ic + b_c) / sum_d exp(a F_id + b_d),      a >= 0,

where a and b minimise the cross-entropy

    J(a, b) = - sum_i w_i sum_c t_ic log p_ic,

    t_ic = (N_c + 1) / (N_c + 2)  if c = y_i,  else  1 / ((N_{y_i} + 2) (k - 1)).

For two classes this is Platt's sigmoid p = 1 / (1 + exp(-a f - b)) with his regularised targets. As every t_ic is
between 0 and 1, J has a minimum even if the classes are separated or there is only one. It is convex, so where the best
slope is negative, the best one allowed is 0: held-out values that point the wrong way say nothing of new rows, as
leaving a row out moves the decision values against its class.

"sigmoid", two classes: Platt's sigmoid. Several: one sigmoid for all classes, q_ic, fitted to the n k pairs of F_ic and
[c = y_i]; then the softmax of log q_ic with b = 0. With a = 1 that would be q_ic / sum_d q_id. As q rises with F, the
class with the largest decision value has the largest probability. ``docs/math/calibration.md`` compares the log loss
with a sigmoid per class, and with the softmax of F itself.

"temperature": the softmax of F with b = 0; the temperature is 1 / a.

"isotonic" takes for p the non-decreasing function of f that minimises sum_i w_i (p(f_i) - [y_i = 1])^2 over the rows
and two more of weight one: one of class 1 at the smallest f, and one of class 0 at the largest. So no probability is 0
or 1, and a block of weight W at an end that holds one class only gets 1 / (W + 1) instead of 0, much as by Laplace's
rule. Several classes: one function for each class against the rest, and the row is divided by its sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from svmpath.criteria.effective import counted
from svmpath.names import unknown_name
from svmpath.solvers.newton import Newton

Array = np.ndarray
_SMALLEST = np.finfo(float).tiny
_ALL_EQUAL = 1e-12  # spread of decision values, relative to the largest, up to which they are equal but for rounding
_CLOSE = 1e-9  # squared Newton decrement, per unit of weight, from which one more step is the last
_SUFFICIENT = 1e-4  # fraction of the decrease promised by the slope that a step must reach


class Calibration(ABC):
    """A map from decision values to the probabilities of the classes.

    See Also
    --------
    svmpath.criteria.calibration.fit_calibration : Fit probabilities to held-out decision values.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.calibration import fit_calibration
    >>> f, y = np.array([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> fit_calibration(f, y, 2, np.ones(6)).probabilities(f).shape
    (6, 2)
    """

    @abstractmethod
    def log_probabilities(self, decisions: Array) -> Array:
        """Their logarithms, of shape (n, k); finite."""

    def probabilities(self, decisions: Array) -> Array:
        """Probabilities of the classes, of shape (n, k), from decision values of shape (n,) or (n, k)."""
        p = np.exp(self.log_probabilities(decisions))
        return p / p.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Softmax(Calibration):
    """Softmax of 0 for the first class and a (G - shift) / scale + b for the others, with G_ic = F_ic - F_i0.

    Attributes
    ----------
    slope : float
        The slope a of decision values in units of ``scale``; 0 if they say nothing.
    offsets, shift : array of shape (k - 1,)
    scale : float
    """

    slope: float
    offsets: Array
    shift: Array
    scale: float

    def log_probabilities(self, decisions: Array) -> Array:
        z = np.zeros((len(decisions), len(self.offsets) + 1))
        z[:, 1:] = self.offsets
        if self.slope > 0.0:
            z[:, 1:] += self.slope * ((_beyond_first(decisions) - self.shift) / self.scale)
        return log_softmax(z, axis=1)


@dataclass(frozen=True)
class Coupled(Calibration):
    """Softmax of the logarithms of the probabilities of each class against the rest, which one sigmoid gives."""

    sigmoid: Softmax
    softmax: Softmax

    def log_probabilities(self, decisions: Array) -> Array:
        return self.softmax.log_probabilities(_against_rest(self.sigmoid, decisions))


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


def fit_calibration(
    decisions: Array, code: Array, k: int, weights: Array, method: str = "sigmoid", *, samples: Array | None = None
) -> Calibration:
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
        Weights of the rows, 0 or more; a common factor does not matter.
    method : {"sigmoid", "isotonic", "temperature"}
    samples : array of int of shape (n,), optional
        The sample of each row, where one was held out several times: it counts once. By default each row is one.

    Returns
    -------
    Calibration
        Call its ``probabilities`` with decision values.

    See Also
    --------
    svmpath.criteria.calibration.Calibration : The fitted map.
    svmpath.PathSVC : Classifier that chooses C and gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath.criteria.calibration import fit_calibration
    >>> f, y = np.array([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> calibration = fit_calibration(f, y, 2, np.ones(6))
    >>> calibration.probabilities(np.array([-3.0, 0.0, 3.0])).round(2).tolist()
    [[0.87, 0.13], [0.5, 0.5], [0.13, 0.87]]
    """
    fit = _METHODS[check_method(method)]
    decisions = np.asarray(decisions, dtype=float)
    is_seen = np.isfinite(decisions) if decisions.ndim == 1 else np.isfinite(decisions).all(axis=1)
    is_seen &= np.asarray(weights) > 0
    if not is_seen.any():
        raise ValueError(
            "Calibration needs held-out decision values, but every one has weight zero or was never held out; give "
            "some rows a positive weight, or hold them out (criterion='loo', or another cv)."
        )
    samples = np.arange(len(decisions)) if samples is None else np.asarray(samples)
    w = counted(np.asarray(weights, dtype=float)[is_seen], samples[is_seen])
    return fit(decisions[is_seen], np.asarray(code)[is_seen], k, w)


def check_method(method: Any) -> str:
    """The name of a method, if it is one."""
    if not isinstance(method, str) or method not in _METHODS:
        raise ValueError(unknown_name("calibration", method, METHODS))
    return method


def _fit_sigmoid(decisions: Array, code: Array, k: int, w: Array) -> Calibration:
    """Platt's sigmoid; for several classes one for all of them, and the softmax of its logarithms."""
    if decisions.ndim == 1:
        return _fit_softmax(decisions, code, k, w, has_offsets=True)
    is_class = (np.arange(k) == code[:, None]).astype(int)
    sigmoid = _fit_softmax(decisions.ravel(), is_class.ravel(), 2, np.repeat(w, k), has_offsets=True)
    if sigmoid.slope == 0.0:  # all that is known is how frequent the classes are
        return _frequencies(_targets(code, k, w), w)
    softmax = _fit_softmax(_against_rest(sigmoid, decisions), code, k, w, has_offsets=False)
    return Coupled(sigmoid, softmax)


def _against_rest(sigmoid: Calibration, decisions: Array) -> Array:
    """The logarithm of each class's probability against the rest, of shape (n, k)."""
    return sigmoid.log_probabilities(decisions.ravel())[:, 1].reshape(decisions.shape)


def _frequencies(T: Array, w: Array) -> Softmax:
    """The frequencies of the classes, whatever the decision value."""
    mean = w @ T
    return Softmax(0.0, np.log(mean[1:] / mean[0]), np.zeros(T.shape[1] - 1), 1.0)


def _fit_softmax(decisions: Array, code: Array, k: int, w: Array, has_offsets: bool) -> Softmax:
    """The softmax with one slope, and an offset per class or none."""
    G, T = _beyond_first(decisions), _targets(code, k, w)
    none = _frequencies(T, w) if has_offsets else Softmax(0.0, np.zeros(k - 1), np.zeros(k - 1), 1.0)
    largest = float(np.abs(G).max())
    unit = largest if largest > _SMALLEST else 1.0
    G, share = G / unit, w / w.sum()
    shift = share @ G if has_offsets else np.zeros(k - 1)
    scale = float(np.sqrt(share @ np.mean((G - shift) ** 2, axis=1)))
    if scale <= _ALL_EQUAL:
        return none
    problem = CrossEntropy((G - shift) / scale, T[:, 1:], w, has_offsets)
    best, _ = problem.minimise(problem.at(np.concatenate([[0.0], none.offsets if has_offsets else []])))
    a, b = problem.split(best.theta)
    return Softmax(a, b, shift * unit, scale * unit) if a > 0.0 else none


class EntropyPoint(NamedTuple):
    """Parameters, and J there with its first and second derivatives."""

    theta: Array
    value: float
    gradient: Array
    H: Array


class CrossEntropy(Newton[EntropyPoint]):
    """J as a function of theta = (a, b_1, ..., b_{k-1}) with b_0 = 0, or of (a,) with b = 0.

    ``G`` and ``T`` are the decision values and the targets of all classes but the first, of shape (n, k - 1).
    """

    most_steps = 100

    def __init__(self, G: Array, T: Array, w: Array, has_offsets: bool) -> None:
        self.G, self.T, self.w, self.has_offsets = G, T, w, has_offsets

    def split(self, theta: Array) -> tuple[float, Array]:
        """The slope and the offsets."""
        return float(theta[0]), theta[1:] if self.has_offsets else np.zeros(self.G.shape[1])

    def at(self, theta: Array) -> EntropyPoint:
        """J and its derivatives."""
        G, T, w = self.G, self.T, self.w
        a, b = self.split(theta)
        z = a * G + b
        top = np.maximum(z.max(axis=1), 0.0)
        p = np.exp(z - top[:, None])
        total = np.exp(-top) + p.sum(axis=1)
        p /= total[:, None]
        value = float(w @ (top + np.log(total) - np.einsum("ij,ij->i", T, z)))
        wp, rest = w[:, None] * p, w[:, None] * (p - T)
        mean = np.einsum("ij,ij->i", p, G)
        H = np.empty((G.shape[1] + 1, G.shape[1] + 1))
        H[0, 0] = np.sum(wp * G * G) - w @ mean**2
        H[0, 1:] = H[1:, 0] = (wp * G).sum(axis=0) - mean @ wp
        H[1:, 1:] = np.diag(wp.sum(axis=0)) - wp.T @ p
        gradient = np.concatenate([[np.sum(rest * G)], rest.sum(axis=0)])
        m = len(theta)
        return EntropyPoint(theta, value, gradient[:m], H[:m, :m])

    def aim(self, point: EntropyPoint) -> EntropyPoint:
        # A class without rows may leave next to no curvature.
        return self.at(point.theta - np.linalg.lstsq(point.H, point.gradient, rcond=None)[0])

    def advance(self, point: EntropyPoint, aim: EntropyPoint) -> tuple[EntropyPoint, bool]:
        step = aim.theta - point.theta
        descent = float(-point.gradient @ step)
        if descent <= _CLOSE * float(self.w.sum()):
            return aim, True
        length = 1.0
        while aim.value > point.value - _SUFFICIENT * length * descent and length > _ALL_EQUAL:
            length /= 2
            aim = self.at(point.theta + length * step)
        return aim, length <= _ALL_EQUAL


def _fit_isotonic(decisions: Array, code: Array, k: int, w: Array) -> Calibration:
    """A non-decreasing function for class 1 of two, or for each of several classes against the rest."""
    from sklearn.isotonic import IsotonicRegression

    columns, first = (decisions[:, None], 1) if decisions.ndim == 1 else (decisions, 0)
    # Of the order of 1, so that small differences are no ties.
    units, knots = np.maximum(np.abs(columns).max(axis=0), _SMALLEST), []
    for c, f in enumerate((columns / units).T, first):  # with a row of the other class at each end
        f, is_class = np.append(f, [f.min(), f.max()]), np.append(code == c, [1.0, 0.0])
        fitted = IsotonicRegression(increasing=True).fit(f, is_class, np.append(w, [1.0, 1.0]))
        knots.append((fitted.X_thresholds_, fitted.y_thresholds_))
    return Isotonic(knots, units)


def _beyond_first(decisions: Array) -> Array:
    """Decision values of all classes but the first, minus those of the first, of shape (n, k - 1)."""
    return decisions[:, None] if decisions.ndim == 1 else decisions[:, 1:] - decisions[:, :1]


def _targets(code: Array, k: int, w: Array) -> Array:
    """Platt's regularised targets for k classes, of shape (n, k)."""
    N = np.bincount(code, w, minlength=k)[code]
    T = np.repeat(1.0 / ((N + 2.0) * (k - 1))[:, None], k, axis=1)
    T[np.arange(len(code)), code] = (N + 1.0) / (N + 2.0)
    return T


_METHODS: dict[str, Callable[..., Any]] = {
    "sigmoid": _fit_sigmoid,
    "isotonic": _fit_isotonic,
    "temperature": partial(_fit_softmax, has_offsets=False),
}
METHODS = tuple(_METHODS)

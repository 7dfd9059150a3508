"""From the parameters C, gamma and kernel, as they are given, to the values that a search may try."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from svmpath.kernels import Kernel, gamma_value, make_kernel
from svmpath.losses import Loss
from svmpath.losses.elbow import deviation
from svmpath.names import unknown_name
from svmpath.ranges import Range
from svmpath.search.axis import Axis
from svmpath.search.gradient import column_variances
from svmpath.validation import check_amount, check_positive

Array = np.ndarray

_GAMMA_POWERS = np.arange(-4, 5)  # gamma="tune" tries scikit-learn's "scale" times 4 to these powers
_GAMMA_NAMES = ("tune", "scale", "auto", "ard")
_NUMBERS = "a positive number, an array of candidates or a Range(low, high)"  # what C and gamma may be beside names
_C_NEAR = 30.0  # factor from the C of another model up to which start_from begins with values of C
_SCREENED_C = np.geomspace(1e-3, 1e6, 28)  # C="tune" of the default search begins with these
_C_STEP = 10 ** (1 / 3)
_GAMMA_STEP = 2.0
_WIDER = 256.0  # gamma="tune" of the default search may go beyond its first values by this factor
_GAMMAS = 9  # values tried in a range of gamma
_EPSILONS = np.array([0.01, 0.03, 0.1, 0.3, 1.0])  # epsilon="tune" tries these times the deviation of y


class Start(NamedTuple):
    """Where a search begins: the C and gamma of another model."""

    C: Any
    gamma: Any


@dataclass(frozen=True)
class Axes:
    """The parameters that say what is searched, as a user gives them."""

    C: Any
    gamma: Any
    kernel: Any
    degree: Any
    coef0: Any
    search: Any
    start: Start | None = None

    @property
    def is_ard(self) -> bool:
        """Whether there is one gamma per feature."""
        return isinstance(self.gamma, str) and self.gamma == "ard"

    @property
    def is_default(self) -> bool:
        """Whether to screen, narrow and confirm."""
        return self.search == "auto" and not self.is_ard

    @property
    def is_gradient(self) -> bool:
        """Whether to use the gradient, which is the only way to find one gamma per feature."""
        return self.search == "gradient" or self.is_ard

    def given(self, name: str) -> str:
        """How C or gamma is given: "tune", "range", "values" or "fixed"."""
        return how_given(getattr(self, name))

    def _candidates(self, name: str, default: Array, size: int) -> Array:
        """The values of C or gamma to try."""
        value, how = getattr(self, name), self.given(name)
        if how == "tune":
            return default
        if how == "fixed" and not isinstance(value, Real):
            raise ValueError(unknown_name(name, value, ["tune"], _NUMBERS))
        return numbers_of(value, name, size, check_positive)

    def C_values(self, loss: Loss, unit: float = 1.0) -> Array:
        """The values of C to try where all of them are scored; by default in units of that."""
        policy = loss.policy
        low, high = (self.C.low, self.C.high) if isinstance(self.C, Range) else policy.tuned
        size = 1 + round(policy.per_decade * abs(np.log10(high / low)))
        return np.unique(self._candidates("C", unit * np.geomspace(*policy.tuned, size), max(size, 2)))

    def C_axis(self, loss: Loss, unit: float = 1.0) -> Axis:
        """The values of C that a search may take: it begins with a screen of many, or scores all of them.

        What "tune" tries is in units of ``unit``.
        """
        how, values, (low, high) = self.given("C"), self.C_values(loss, unit), loss.policy.tuned
        if how == "tune" and (self.is_default or self.is_gradient):
            values, start = unit * _SCREENED_C, self._start("C")
            if start is not None and values[0] <= start <= values[-1]:
                distance = np.abs(np.log(values / start))
                values = values[distance <= max(np.log(_C_NEAR) * (1 + 1e-9), distance.min())]
            return Axis(values, _C_STEP, (unit * low / 100, unit * min(high * 10, _SCREENED_C[-1])))
        return Axis(values, _C_STEP, (float(values[0]), float(values[-1])) if how in ("range", "tune") else None)

    def make_kernel(self, X: Any, s: Array | None) -> tuple[Kernel, str | None, Axis | None]:
        """The kernel, the full name of its gamma and the values to try; None if it has none, or it is fixed."""
        fixed = self.given("gamma") == "fixed" and not self.is_ard
        if isinstance(self.gamma, str) and self.gamma not in _GAMMA_NAMES:
            raise ValueError(unknown_name("gamma", self.gamma, _GAMMA_NAMES, _NUMBERS))
        first = self.gamma if fixed else ("scale" if isinstance(self.kernel, str) else None)
        kernel = make_kernel(self.kernel, gamma=first, degree=self.degree, coef0=self.coef0, X=X, sample_weight=s)
        if fixed or not any(name.split("__")[-1] == "gamma" for name in kernel.parameters):
            return kernel, None, None
        over = kernel.resolve("gamma")
        if self.is_ard:  # columns may differ in scale and offset, which the variance of all entries does not see
            spread = float(column_variances(X, s).sum())
            values = (1.0 / spread if spread > 0 else 1.0) * 4.0**_GAMMA_POWERS
        else:
            values = self._candidates("gamma", gamma_value("scale", X, s) * 4.0**_GAMMA_POWERS, _GAMMAS)
        how, values = self.given("gamma"), np.unique(values)
        low, high = float(values[0]), float(values[-1])
        limits = (low, high) if how == "range" else None
        if how == "tune" or self.is_ard:
            start = self._start("gamma")
            if start is not None and low / _WIDER <= start <= high * _WIDER:  # else the data have another scale
                values = start * _GAMMA_STEP ** np.arange(-2.0, 3.0)
            limits = min(low, values[0]) / _WIDER, max(high, values[-1]) * _WIDER
        return kernel, over, Axis(values, _GAMMA_STEP, limits)

    def _start(self, name: str) -> float | None:
        """The C or gamma that the search begins with, if it is told one."""
        value = getattr(self.start, name, None)
        is_used = (self.is_default or self.is_gradient) and isinstance(value, float) and np.isfinite(value)
        return value if is_used else None


def how_given(value: Any) -> str:
    """How a hyper-parameter is given: "tune", "range", "values" (of any sequence) or "fixed"."""
    if isinstance(value, Range):
        return "range"
    if value is None or isinstance(value, str):
        return "tune" if value == "tune" else "fixed"
    return "fixed" if np.ndim(value) == 0 else "values"


def numbers_of(value: Any, name: str, size: int, check: Any) -> Array:
    """The numbers that a hyper-parameter other than "tune" stands for; so many of a range."""
    if isinstance(value, Range):
        return np.geomspace(value.low, value.high, size)
    if np.ndim(value) == 0:
        return np.array([check(value, name)])
    if len(value) == 0:
        raise ValueError(f"{name} is an empty list; give at least one value, or 'tune'.")
    return np.array([check(each, f"Each value of {name}") for each in np.asarray(value, dtype=object).tolist()])


def epsilons(epsilon: Any, y: Array, s: Array) -> list[float]:
    """The values of epsilon to be tried for targets y with weights s."""
    if isinstance(epsilon, str) and epsilon == "tune":
        return (_EPSILONS * deviation(y, s)).tolist()
    return numbers_of(epsilon, "epsilon", len(_EPSILONS), check_amount).tolist()

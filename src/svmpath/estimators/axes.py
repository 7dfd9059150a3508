"""From the parameters C, gamma and kernel, as they are given, to the values that a search may try."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from svmpath.kernels import Kernel, gamma_value, make_kernel
from svmpath.losses import Loss
from svmpath.names import unknown_name
from svmpath.search.axis import Axis
from svmpath.search.gradient import column_variances
from svmpath.validation import check_positive, relative_weights

Array = np.ndarray

_GAMMA_POWERS = np.arange(-4, 5)  # gamma="tune" tries scikit-learn's "scale" times 4 to these powers
_GAMMA_NAMES = ("tune", "scale", "auto", "ard")
_NUMBERS = "a positive number, a list of numbers or a tuple (low, high)"  # what C and gamma may be beside names
_C_NEAR = 30.0  # factor from the C of an earlier fit up to which warm_start begins with values of C
_SCREENED_C = np.geomspace(1e-3, 1e6, 28)  # C="tune" of the default search begins with these
_C_STEP = 10 ** (1 / 3)
_GAMMA_STEP = 2.0
_WIDER = 256.0  # gamma="tune" of the default search may go beyond its first values by this factor
_GAMMAS = 9  # values tried in a span of gamma


class AxesMixin:
    """What C and gamma may be. A class that uses it has these parameters, ``kernel``, ``warm_start`` and others."""

    C: Any
    gamma: Any
    warm_start: Any
    _given_weight: Array | None
    search: Any

    def _seen_weights(self, s: Array) -> Array:
        """The weights that the machines see: as they are beside a C that was given, relative where C is tuned."""
        return s if self._given("C") == "fixed" else relative_weights(s)

    @property
    def _is_ard(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma == "ard"

    @property
    def _is_default(self) -> bool:
        """Whether to screen, narrow and confirm."""
        return self.search == "auto" and not self._is_ard

    @property
    def _is_gradient(self) -> bool:
        """Whether to use the gradient, which is the only way to find one gamma per feature."""
        return self.search == "gradient" or self._is_ard

    def _given(self, name: str) -> str:
        """How C or gamma is given: "tune", "span" (a tuple of two), "values" (a list or array) or "fixed"."""
        value = getattr(self, name)
        if value is None or isinstance(value, str):
            return "tune" if value == "tune" else "fixed"
        if isinstance(value, tuple):
            if len(value) != 2:
                raise ValueError(
                    f"{name} must be a tuple of two numbers (low, high) or a list of values; got a tuple of "
                    f"{len(value)}."
                )
            return "span"
        return "fixed" if np.ndim(value) == 0 else "values"

    def _candidates(self, name: str, default: Array, size: int) -> Array:
        """The values of C or gamma to try."""
        value, how = getattr(self, name), self._given(name)
        if how == "tune":
            return default
        if how == "fixed":
            if not isinstance(value, Real):
                raise ValueError(unknown_name(name, value, ["tune"], _NUMBERS))
            return np.array([check_positive(value, name)])
        values = np.array([check_positive(v, f"Each value of {name}") for v in value])
        if len(values) == 0:
            raise ValueError(f"{name} is an empty list; give at least one value, or 'tune'.")
        return values if how == "values" else np.geomspace(values[0], values[1], size)

    def _C_values(self, loss: Loss) -> Array:
        """The values of C to try where all of them are scored."""
        policy = loss.policy
        span = self.C if self._given("C") == "span" else policy.tuned
        low, high = (check_positive(v, "Each value of C") for v in span)
        size = 1 + round(policy.per_decade * abs(np.log10(high / low)))
        return np.unique(self._candidates("C", np.geomspace(*policy.tuned, size), max(size, 2)))

    def _C_axis(self, loss: Loss) -> Axis:
        """The values of C that a search may take: it begins with a screen of many, or scores all of them."""
        how, values, (low, high) = self._given("C"), self._C_values(loss), loss.policy.tuned
        if how == "tune" and (self._is_default or self._is_gradient):
            before = self._before("C_")
            is_near = before is not None and _SCREENED_C[0] <= before <= _SCREENED_C[-1]
            values = self._near(_SCREENED_C, before, _C_NEAR) if before is not None and is_near else _SCREENED_C
            return Axis(values, _C_STEP, (low / 100, min(high * 10, _SCREENED_C[-1])))
        return Axis(values, _C_STEP, (float(values[0]), float(values[-1])) if how == "span" else None)

    def _kernel(self, X: Any) -> tuple[Kernel, str | None, Axis | None]:
        """The kernel, the full name of its gamma and the values to try; None if it has none, or it is fixed."""
        params: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        s = self._given_weight
        spec, gamma = params["kernel"], params["gamma"]
        fixed = self._given("gamma") == "fixed" and not self._is_ard
        if isinstance(gamma, str) and gamma not in _GAMMA_NAMES:
            raise ValueError(unknown_name("gamma", gamma, _GAMMA_NAMES, _NUMBERS))
        start = gamma if fixed else ("scale" if isinstance(spec, str) else None)
        kernel = make_kernel(spec, gamma=start, degree=params["degree"], coef0=params["coef0"], X=X, sample_weight=s)
        if fixed or not any(name.split("__")[-1] == "gamma" for name in kernel.parameters):
            return kernel, None, None
        over = kernel.resolve("gamma")
        if self._is_ard:  # columns may differ in scale and offset, which the variance of all entries does not see
            spread = float(column_variances(X, s).sum())
            values = (1.0 / spread if spread > 0 else 1.0) * 4.0**_GAMMA_POWERS
        else:
            values = self._candidates("gamma", gamma_value("scale", X, s) * 4.0**_GAMMA_POWERS, _GAMMAS)
        how, values = self._given("gamma"), np.unique(values)
        low, high = float(values[0]), float(values[-1])
        limits = (low, high) if how == "span" else None
        if how == "tune" or self._is_ard:
            # On data of another scale an earlier gamma says nothing.
            before = self._before("gamma_")
            is_near = before is not None and low / _WIDER <= before <= high * _WIDER
            values = before * _GAMMA_STEP ** np.arange(-2.0, 3.0) if before is not None and is_near else values
            limits = min(low, values[0]) / _WIDER, max(high, values[-1]) * _WIDER
        return kernel, over, Axis(values, _GAMMA_STEP, limits)

    def _before(self, name: str) -> float | None:
        """With ``warm_start``: the C or gamma of an earlier fit, which the search begins with."""
        value = vars(self).get(name)
        return (
            value
            if self.warm_start
            and (self._is_default or self._is_gradient)
            and isinstance(value, float)
            and np.isfinite(value)
            else None
        )

    @staticmethod
    def _near(values: Array, middle: float, factor: float) -> Array:
        """Those of several values that differ from one by at most a factor; or the nearest."""
        distance = np.abs(np.log(values / middle))
        return values[distance <= max(np.log(factor) * (1 + 1e-9), distance.min())]

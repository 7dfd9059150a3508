"""A model that only predicts: its machines as a function of new rows, and the map from decision values to predictions.

Of f_c(x) = sum_i alpha_ic k(x, x_i) + b_c the terms with alpha_ic != 0 are kept, or in low rank the weights of
features, or the weights of columns for the linear kernel. Neither paths, nor what the search tried, nor the other
training rows go along; what needs them is refused in a sentence.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmpath.criteria.calibration import Calibration
from svmpath.criteria.pairs import votes
from svmpath.gram.expansion import Expansion, OnColumns, OnFeatures
from svmpath.solvers.threads import blas_threads

Array = np.ndarray

LEFT_OUT = (
    "needs the search, the training rows or what was held out of them, which for_prediction() has left out: ask the "
    "model that it was made from"
)
# What a fitted model keeps, where it has it.
_KEPT = (
    "C_", "_conformity", "_levels", "_shift", "_threshold", "classes_", "coef_", "criterion_", "epsilon_",
    "feature_names_in_", "gamma_", "intercept_", "kernel_", "lambda1_", "lambda2_", "loss_", "n_features_in_", "nu_",
    "offset_", "quantile_", "sample_size_", "scaler_", "threshold_", "tol_",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SlimMachines:
    """Machines that predict, and do nothing else.

    Attributes
    ----------
    expansion : OnRows, OnFeatures or OnColumns
    b : array of shape (k,)
        Offsets.
    multi_class : {"ovr", "ovo"}
    compression : float
        As of :class:`svmpath.estimators.machines.Machines`.
    """

    expansion: Expansion
    b: Array
    multi_class: str = "ovr"
    compression: float = 0.0

    @property
    def coef(self) -> Array:
        """The weights of the columns, of shape (k, d), for the linear kernel."""
        if isinstance(self.expansion, OnColumns):
            return self.expansion.w.T
        if isinstance(self.expansion, OnFeatures):
            return self.expansion.features.weights(self.expansion.w).T
        raise AttributeError("Only the linear kernel has weights of columns.")

    def by_class(self, f: Array) -> Array:
        """Decision values of the classes from those of the machines, in columns."""
        return votes(f) if self.multi_class == "ovo" else f

    def decisions(self, X: Any, b: Array | None = None) -> Array:
        """Decision values of new rows, of shape (m, k); with other offsets if these are given."""
        with blas_threads(X.shape[0] * self.expansion.size):
            return self.by_class(self.expansion(X) + (self.b if b is None else b))


@dataclass(frozen=True, eq=False)
class SlimHeldOut:
    """Of what was held out, the map from decision values to probabilities, and the cut between two classes."""

    cut: float
    calibrations: dict[str, Calibration]

    def calibration(self, method: str) -> Calibration:
        """How decision values become probabilities."""
        if method not in self.calibrations:
            known = "', '".join(self.calibrations)
            raise ValueError(
                f"calibration={method!r} {LEFT_OUT}; this model has '{known}' only; set another one before."
            )
        return self.calibrations[method]

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # what copy and pickle look for
            raise AttributeError(name)
        raise ValueError(f"This {LEFT_OUT}.")


def slim_copy(model: Any) -> Any:
    """A fitted model with what prediction needs, and nothing else; the model itself stays as it is."""
    check_is_fitted(model)
    slim, known = copy(model), vars(model)
    kept = (*model.get_params(deep=False), *_KEPT)
    vars(slim).clear()
    vars(slim).update({name: known[name] for name in kept if name in known})
    if callable(vars(slim).get("criterion_")):
        del slim.criterion_
    if "models_" in known:
        slim.models_ = [slim_copy(each) for each in model.models_]
        return slim
    machines = known["_machines"]
    slim._machines = SlimMachines(machines.expansion, machines.b, machines.multi_class, machines.compression)
    if "_held_out" in known:
        methods = [known["calibration"]] if "classes_" in known else []
        calibrations = {method: model._held_out.calibration(method) for method in methods}
        slim._held_out = SlimHeldOut(model._held_out.cut, calibrations)
    return slim

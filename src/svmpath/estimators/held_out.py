"""What a tuned model knows of rows that it has not seen: held-out decision values of the choice, and their error."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmpath.criteria.curve import Curve
from svmpath.validation import check_groups, check_weights

Array = np.ndarray


class HeldOutMixin:
    """Held-out decision values at the chosen hyper-parameters, computed when they are first asked for.

    A class that uses it has ``_fitted()``, and ``_find_held(exact)``: the curve at the chosen value alone. ``exact``
    asks for exact leave-one-out, and None is the answer if that is not affordable; else it is the best that is.
    """

    _kept: dict[bool, Curve | None]
    _groups: Array | None = None
    _given_weight: Array | None = None

    def _keep_rows(self, X: Any, sample_weight: Any, groups: Any) -> None:
        """What else was given to ``fit``, for estimates that fit again."""
        self._given_weight = None if sample_weight is None else check_weights(sample_weight, X)
        self._groups = None if groups is None else check_groups(groups, X)

    def _held_curve(self, exact: bool = False) -> Curve | None:
        check_is_fitted(self)
        if exact not in self._kept:
            self._kept[exact] = self._find_held(exact)
        return self._kept[exact]

    def _find_held(self, exact: bool) -> Curve | None:
        raise AssertionError("every estimator has its own")

    def _fitted(self) -> Array:
        """Decision values of the training rows by the fitted machine."""
        raise AssertionError("every estimator has its own")

    def _as_chosen(self) -> Curve:
        """The curve at the choice by what it was chosen by."""
        return self._held

    @property
    def _held(self) -> Curve:
        """Exact leave-one-out at the choice if that is affordable, or was what it was chosen by; else as chosen."""
        curve = self._held_curve()
        assert curve is not None
        return curve

    @property
    def held_out_decisions_(self) -> Array:
        """Decision values of each training row by machines that have not seen it, at the chosen hyper-parameters.

        Shape (n,), or (n, k) for k > 2 classes; NaN for rows that ``cv`` never holds out.
        """
        return self._held.decisions[0]

    @property
    def held_out_error_(self) -> float:
        """Weighted held-out error of the choice; ``error_criterion_`` says how rows were held out.

        A weight of two equals a row given twice if copies are held out together (``groups``). With leave-one-out it
        does not: if one of two copies is left out, the other stays in the fit.
        """
        return float(self._held.rescored(None).scores[0])

    @property
    def error_criterion_(self) -> str:
        """How ``held_out_error_`` was computed: "loo" is exact leave-one-out."""
        name = self._held.criterion
        return "loo" if name == "press" else name  # the same, by its name for least squares

    @property
    def loo_error_(self) -> float:
        """Exact leave-one-out error of the choice: the fraction of errors, or the mean squared error; unweighted.

        Of rows that are given twice one copy stays in the fit when the other is left out, so that they look easier than
        rows given once with twice the weight.
        """
        curve = self._held_curve(exact=True)
        if curve is None:
            raise AttributeError(
                f"{type(self).__name__} has no loo_error_, as exact leave-one-out would take too long here; use "
                f"held_out_error_, which was found by {self.error_criterion_!r}."
            )
        is_counted = curve.path.problem.s[curve.rows] > 0
        return float(curve.rescored(None).losses[0][is_counted].mean())

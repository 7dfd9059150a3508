"""What a tuned model knows of rows that it has not seen: held-out decision values of the choice, and their error."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from svmpath.criteria.curve import Curve, ErrorAbove
from svmpath.criteria.table import CRITERIA, is_bound
from svmpath.validation import check_groups, check_weights

Array = np.ndarray


class HeldOutMixin:
    """Held-out decision values at the chosen hyper-parameters, computed when they are first asked for.

    A class that uses it has ``_fitted()``; ``_name_held(exact)``, the criterion of held-out values: ``exact`` asks for
    exact leave-one-out, and None is the answer if that is not affordable, else it is the best that is; and
    ``_at_choice(name)``, the curve by that criterion at the chosen value alone.
    """

    curve_: Any
    _why_no_loo = "exact leave-one-out would take too long here"
    _asked: Mapping[str, Any] | None = None
    _kept: dict[str, Curve]
    _groups: Array | None = None
    _given_weight: Array | None = None

    def _keep_rows(self, X: Any, sample_weight: Any, groups: Any) -> None:
        """What ``fit`` was asked for, and what else it was given, for estimates that fit again."""
        self._forget()
        asked = self.get_params(deep=False)  # type: ignore[attr-defined]
        self._asked = {name: value for name, value in asked.items() if name != "verbose"}  # it may hold a progress bar
        self._given_weight = None if sample_weight is None else check_weights(sample_weight, X)
        self._groups = None if groups is None else check_groups(groups, X)
        criterion = self._asked["criterion"]
        if groups is not None and isinstance(criterion, str) and criterion in CRITERIA and criterion != "kfold":
            raise ValueError(
                f"criterion={criterion!r} leaves out single rows, but groups are to be held out together: use "
                "criterion='kfold' or 'auto', or leave groups out."
            )

    @property
    def _is_split_by_user(self) -> bool:
        """Whether ``cv`` is a splitter, or splits, and not a number."""
        cv = self._option("cv")
        return cv is not None and not isinstance(cv, Real)

    def _forget(self) -> None:
        """Drop what was computed of an earlier fit; each is found again when it is asked for."""
        self._kept = {}

    def _option(self, name: str) -> Any:
        """A parameter as it was when the estimator was fitted."""
        return vars(self)[name] if self._asked is None else self._asked[name]

    @property
    def _row_units(self) -> Array | None:
        """The number of each row's group; None if every row is one by itself."""
        return None if self._groups is None else np.unique(self._groups, return_inverse=True)[1]

    def _units(self, rows: Array) -> Array:
        """The samples or groups that rows belong to."""
        units = self._row_units
        return rows if units is None else units[rows]

    def _held_curve(self, name: str) -> Curve:
        """The curve at the choice by a criterion, computed once."""
        if name not in self._kept:
            self._kept[name] = self._at_choice(name)
        return self._kept[name]

    def _name_held(self, exact: bool = False) -> str | None:
        raise AssertionError("every estimator has its own")

    def _at_choice(self, name: str) -> Curve:
        raise AssertionError("every estimator has its own")

    def _fitted(self) -> Array:
        """Decision values of the training rows by the fitted machine."""
        raise AssertionError("every estimator has its own")

    def _as_chosen(self) -> Curve:
        """The curve at the choice by what it was chosen by; a bound has no held-out values."""
        name = self.curve_.criterion
        return self._held if is_bound(name) else self._held_curve(name)

    @property
    def _held(self) -> Curve:
        """Exact leave-one-out at the choice if that is affordable, or was what it was chosen by; else as chosen."""
        check_is_fitted(self)
        name = self._name_held()
        assert name is not None
        return self._held_curve(name)

    @property
    def _cut(self) -> float:
        """``threshold_`` of two classes; 0 where there is none, and for models saved before there was one."""
        return float(vars(self).get("threshold_") or 0.0)

    def _judged(self, curve: Curve) -> Curve:
        """The curve with the errors of what ``predict`` predicts, or squared errors."""
        return curve.rescored(ErrorAbove(self._cut) if self._cut else None)

    @property
    def held_out_decisions_(self) -> Array:
        """Decision values of each training row by machines that have not seen it, at the chosen hyper-parameters.

        Shape (n,), or (n, k) for k > 2 classes; NaN for rows that ``cv`` never holds out.
        """
        return self._held.decisions[0]

    @property
    def held_out_error_(self) -> float:
        """Weighted held-out error of the choice; ``error_criterion_`` says how rows were held out.

        It is that of what ``predict`` predicts: where ``threshold_`` is not 0, of the classes above and below it.

        If C is given, a weight of two equals a row given twice whose copies are held out together (``groups``). With
        leave-one-out it does not: if one of two copies is left out, the other stays in the fit.
        """
        return float(self._judged(self._held).scores[0])

    @property
    def error_criterion_(self) -> str:
        """How ``held_out_error_`` was computed: "loo" is exact leave-one-out."""
        name = self._held.criterion
        return "loo" if name == "press" else name  # the same, by its name for least squares

    @property
    def loo_error_(self) -> float:
        """Exact leave-one-out error of the choice: the fraction of errors, or the mean squared error; unweighted.

        It is that of what ``predict`` predicts, as ``held_out_error_`` is.

        Of rows that are given twice one copy stays in the fit when the other is left out, so that they look easier than
        rows given once with twice the weight.
        """
        check_is_fitted(self)
        name = self._name_held(exact=True)
        if name is None:
            raise AttributeError(
                f"{type(self).__name__} has no loo_error_, as {self._why_no_loo}; use held_out_error_, which was found "
                f"by {self.error_criterion_!r}."
            )
        curve = self._held_curve(name)
        if curve.path.is_chunked:
            return self._loo_of_chunks()  # type: ignore[attr-defined]
        is_counted = curve.path.problem.s[curve.rows] > 0
        return float(self._judged(curve).losses[0][is_counted].mean())

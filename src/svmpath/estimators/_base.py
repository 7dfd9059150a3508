"""Code shared by the estimators: from parameters to a search, and from a choice to fitted attributes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath.criteria.held_out import Folds
from svmpath.criteria.scoring import Scoring
from svmpath.estimators.cautions import warn_of_a_loose_bound, warn_of_edges, warn_of_rounding
from svmpath.estimators.held_out import HeldOut
from svmpath.estimators.machines import Machines
from svmpath.estimators.scaling import fit_scaler, scaled, shift_of_offset, warn_of_uneven_columns
from svmpath.estimators.tuned import TunedModel
from svmpath.estimators.tuning import check_options, how_given, is_ard, tune
from svmpath.kernels import ARD, Kernel, Linear
from svmpath.losses import LOSSES
from svmpath.paths import Path
from svmpath.search import Choice, Evaluator
from svmpath.search.results import cv_results, entries_of, search_table
from svmpath.validation import (
    check_squares,
    check_symmetric_values,
    check_weights,
    is_pairwise,
    plain_target,
    relative_weights,
)

Array = np.ndarray


class PathMachine(TunedModel):
    """Parameters and fitting common to :class:`PathSVC` and :class:`PathSVR`; not for direct use."""

    _task: str
    _drawn: Folds | None = None
    _scoring: Scoring | None = None
    sample_size_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        return tags

    @property
    def _pairwise(self) -> bool:
        return is_pairwise(self.kernel)

    def _check_training(self, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
        """X and y as arrays; at least two samples, since each is left out once. Options are checked first."""
        check_options(self)
        X, y = validate_data(
            self,
            X,
            plain_target(y),
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=2,
            multi_output=False,
            **checks,
        )
        check_squares(X)
        if self._pairwise:
            check_symmetric_values(X)
        return X, y

    def _to_scale(self, X: Any, sample_weight: Any, s: Array) -> Any:
        """The rows that the machine sees: scaled if asked for; ``scaler_`` takes new rows there."""
        self.scaler_ = None
        if not self.scale:
            if not is_ard(self):  # which finds the scale of each column by itself
                warn_of_uneven_columns(X, s, self.kernel, getattr(self, "feature_names_in_", None))
            return X
        # Relative, because the scaler takes their sum for a number of rows when it looks for constant columns.
        weight = None if sample_weight is None else relative_weights(check_weights(sample_weight, X))
        self.scaler_ = fit_scaler(X, weight, self.kernel)
        return scaled(X, self.scaler_)

    def _fit(self, X: Any, targets: list[Array], s: Array, y: Array, labels: Array) -> None:
        """Choose C and gamma for machines with these targets (one, or one per class) and store the result.

        ``labels`` are the targets, or the position of each row's label in ``classes_``.
        """
        choice, evaluator, paths = tune(self, X, targets, s, y)
        self.loss_, self._drawn = evaluator.loss.name, evaluator.folds
        self.criterion_ = self.criterion if callable(self.criterion) else choice.curve.criterion
        self._store(choice, evaluator, paths, labels)
        if choice.at_edge:
            warn_of_edges(choice, partial(how_given, self), self._machines.fitted())

    def _tell(self, sentence: str) -> None:
        if self.verbose and not callable(self.verbose):
            print(f"[{type(self).__name__}] {sentence}")

    def _progress(self, done: int, total: int) -> None:
        if callable(self.verbose):
            self.verbose(done, total)
        elif self.verbose:
            print(f"[{type(self).__name__}] scored {done} of {total} kernels")

    def _store(self, choice: Choice, evaluator: Evaluator, paths: list[Path], labels: Array) -> None:
        """The choice, and what the model is made of."""
        path = choice.curve.path
        self._machines = Machines.of(paths, choice.value)
        path.store.forget_factors()  # one per value tried: the chosen machines are known now
        warn_of_rounding(choice, self._machines.violation)
        warn_of_a_loose_bound(choice)
        self.tol_ = None if path.is_exact else evaluator.tol
        self._name_choice(choice)
        for name, value in evaluator.loss.fixed_parameters.items():
            setattr(self, f"{name}_", value)
        self._held_out = HeldOut(
            self._machines,
            choice,
            self._options(),
            self._classes,
            labels,
            self._given_weight,
            self._groups,
            self._drawn,
        )

    def _name_choice(self, choice: Choice) -> None:
        """The choice under scikit-learn's names; the machines are known."""
        for name in {f"{name}_" for kind in LOSSES.values() for name in getattr(kind, "__dataclass_fields__", {})}:
            self.__dict__.pop(name, None)  # a parameter of the loss of an earlier fit
        self.choice_, self.curve_, self.path_ = choice, choice.curve, choice.curve.path
        self.kernel_, self.C_ = self.path_.problem.gram.kernel, choice.value
        self.gamma_ = self._gamma_of(self.kernel_)
        is_moved = self.scaler_ is not None and isinstance(self.kernel_, Linear)
        self._shift = shift_of_offset(self.coef_, self.scaler_) if is_moved else 0.0
        self.intercept_ = self._machines.b - self._shift

    @property
    def _classes(self) -> Array | None:
        """``classes_`` of a classifier, None for a regression."""
        return vars(self).get("classes_")

    def _options(self) -> dict[str, Any]:
        """The parameters, but for ``verbose``, which may hold a progress bar."""
        return {name: value for name, value in self.get_params(deep=False).items() if name != "verbose"}

    @staticmethod
    def _gamma_of(kernel: Kernel) -> float | Array | None:
        if isinstance(kernel, ARD):
            return np.array(kernel.gamma)
        try:
            return kernel.parameters[kernel.resolve("gamma")]
        except ValueError:
            return None

    @property
    def rank_(self) -> int:
        """Rank of the kernel matrix of the fitted machine; the number of samples for the full matrix."""
        check_is_fitted(self)
        return int(self._machines.gram.rank)

    @property
    def residual_(self) -> float:
        """Relative error of a low-rank kernel matrix; 0 for the full matrix."""
        check_is_fitted(self)
        return float(self._machines.gram.residual)

    @property
    def search_table_(self) -> Any:  # a DataFrame
        """Every pair of C and gamma that the search tried, with its score and stage."""
        check_is_fitted(self)
        return search_table(self.choice_)

    @property
    def cv_results_(self) -> dict[str, Any]:
        """What was scored by the loss asked for, in scikit-learn's form."""
        check_is_fitted(self)
        names = [name for name in self.get_params(deep=False) if name != "C"]
        return cv_results(self.curve_, "C", entries_of(self.choice_, self.gamma_, names))

    @property
    def support_(self) -> Array:
        """Indices of the training rows with a non-zero coefficient."""
        check_is_fitted(self)
        return self._machines.support

    @property
    def dual_coef_(self) -> Array:
        """Their signed coefficients; one row per class if there are more than two."""
        support = self.support_
        return self._machines.alpha[support].T

    @property
    def support_vectors_(self) -> Any:
        """The training rows with a non-zero coefficient, in the units of X; scaled back, up to rounding."""
        support = self.support_
        rows = self._machines.gram.X[support]
        return rows if self.scaler_ is None else self.scaler_.inverse_transform(rows)

    @property
    def coef_(self) -> Array:
        """Weights of the features, in the units of X; for the linear kernel only."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ exists for the linear kernel only; use dual_coef_ and support_vectors_ instead")
        return self._machines.coef if self.scaler_ is None else self._machines.coef / self.scaler_.scale_

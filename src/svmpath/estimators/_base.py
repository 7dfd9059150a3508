"""Code shared by the estimators: from parameters to a search, and from a choice to fitted attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath.criteria.curve import Curve
from svmpath.criteria.held_out import Folds
from svmpath.criteria.table import is_bound, is_estimate, make_criterion
from svmpath.estimators.cautions import warn_of_a_loose_bound, warn_of_edges, warn_of_rounding
from svmpath.estimators.chunks import ChunksMixin
from svmpath.estimators.honest import HonestMixin
from svmpath.estimators.intervals import LeftOutMixin
from svmpath.estimators.scaling import fit_scaler, scaled, shift_of_offset, warn_of_uneven_columns
from svmpath.estimators.scoring import ScoringMixin
from svmpath.estimators.tuning import check_options, how_given, is_ard, tune
from svmpath.gram.memory import limited
from svmpath.kernels import ARD, Kernel, Linear
from svmpath.losses import LOSSES, policy_of
from svmpath.notebook import ShownWithDiagram
from svmpath.paths import Path
from svmpath.search import Choice, Evaluator
from svmpath.search.results import cv_results, entries_of, search_table
from svmpath.solvers.threads import blas_threads, jobs
from svmpath.validation import (
    check_squares,
    check_symmetric_values,
    check_weights,
    is_pairwise,
    plain_target,
    relative_weights,
)

Array = np.ndarray

_EXACT = ("loo", "press")  # criteria that are exact leave-one-out


@contextmanager
def unchanged_by_failure(estimator: Any) -> Iterator[None]:
    """A fit that fails, or is interrupted, leaves the model of the last one as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class PathMachine(ChunksMixin, ScoringMixin, HonestMixin, LeftOutMixin, ShownWithDiagram, BaseEstimator):
    """Parameters and fitting common to :class:`PathSVC` and :class:`PathSVR`; not for direct use."""

    _task: str
    _drawn: Folds | None = None
    _shift: Any = 0.0  # intercept_ + _shift is the offset of the machine that takes scaled columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._pairwise
        return tags

    @property
    def _pairwise(self) -> bool:  # type: ignore[override]
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

    def _fit(self, X: Any, targets: list[Array], s: Array, y: Array) -> None:
        """Choose C and gamma for machines with these targets (one, or one per class) and store the result."""
        choice, evaluator, paths = tune(self, X, targets, s, y)
        self.loss_, self._drawn = evaluator.loss.name, evaluator.folds
        self.criterion_ = self.criterion if callable(self.criterion) else choice.curve.criterion
        self._store(choice, evaluator, paths)
        if choice.at_edge:
            warn_of_edges(choice, partial(how_given, self), self._fitted())

    def _tell(self, sentence: str) -> None:
        if self.verbose and not callable(self.verbose):
            print(f"[{type(self).__name__}] {sentence}")

    def _progress(self, done: int, total: int) -> None:
        if callable(self.verbose):
            self.verbose(done, total)
        elif self.verbose:
            print(f"[{type(self).__name__}] scored {done} of {total} kernels")

    def _store(self, choice: Choice, evaluator: Evaluator, paths: list[Path]) -> None:
        """The choice under scikit-learn's names."""
        path = choice.curve.path
        solutions = [each(choice.value) for each in paths]
        path.made.forget_factors()  # one per value tried: the chosen machines are known now
        # An approximate path is measured by its gap, not by the conditions of optimality.
        warn_of_rounding(choice, max(solution.violation for solution in solutions) if path.is_exact else 0.0)
        warn_of_a_loose_bound(choice)
        self.choice_ = choice
        self.curve_ = choice.curve
        self.path_ = path
        self.tol_ = None if path.is_exact else evaluator.tol
        self.kernel_ = path.problem.gram.kernel
        self.C_ = choice.value
        self.gamma_ = self._gamma_of(self.kernel_)
        for name in self._own_names & vars(self).keys():  # of the loss of an earlier fit
            delattr(self, name)
        for name, value in evaluator.loss.own.items():
            setattr(self, f"{name}_", value)
        alpha = np.array([solution.alpha for solution in solutions])
        self.support_ = np.flatnonzero(np.any(alpha != 0, axis=0))
        self.dual_coef_ = alpha[:, self.support_]
        self._alpha = alpha.T
        self._w = path.gram.contract(self._alpha)
        self._set_intercept(np.array([solution.b for solution in solutions]))

    def _set_intercept(self, b: Array) -> None:
        """``intercept_`` from the offsets of machines that take scaled columns; their weights are known."""
        is_moved = self.scaler_ is not None and isinstance(self.kernel_, Linear)
        self._shift = shift_of_offset(self.coef_, self.scaler_) if is_moved else 0.0
        self.intercept_ = b - self._shift

    @property
    def _own_names(self) -> set[str]:
        """The attributes that hold parameters of losses beside C."""
        return {f"{name}_" for kind in LOSSES.values() for name in getattr(kind, "__dataclass_fields__", {})}

    def _name_held(self, exact: bool = False) -> str | None:
        """The criterion of held-out values: exact leave-one-out if there are not too many samples, else as chosen."""
        curve, path = self.curve_, self.path_
        is_few = path.problem.n <= policy_of(path.loss).exact_rows
        is_affordable = path.is_exact and is_few and not self._is_chunked
        name = "span" if is_bound(curve.criterion) else curve.criterion  # a bound has no held-out values
        if name not in _EXACT and is_affordable and (exact or is_estimate(name)):
            name = "loo"
        return None if exact and name not in _EXACT else name

    def _at_choice(self, name: str) -> Curve:
        """The curve at the choice alone by a criterion."""
        curve, path = self.curve_, self.path_
        if name == curve.criterion and curve.screened is None:
            return curve.taken(np.array([self.choice_.index]))
        targets = [path.problem.y] if is_bound(curve.criterion) else np.atleast_2d(curve.target.T)
        problems = [replace(path.problem, y=target) for target in targets]
        evaluator = Evaluator(problems, path.loss, make_criterion(name))
        with jobs(self.n_jobs), limited(self.memory_limit):
            return evaluator.rescore(curve, np.array([self.C_]))

    @staticmethod
    def _gamma_of(kernel: Kernel) -> float | Array | None:
        if isinstance(kernel, ARD):
            return np.array(kernel.gamma)
        try:
            return kernel.parameters[kernel.resolve("gamma")]
        except ValueError:
            return None

    def _fitted(self) -> Array:
        """Decision values of the training rows, of shape (n,), or (n, k) for k > 2 classes."""
        f = self.path_.gram.matmul(self._alpha) + (self.intercept_ + self._shift)
        return f[:, 0] if f.shape[1] == 1 else f

    def _decide(self, X: Any) -> Array:
        """Decision values, one column per machine."""
        X = self._check_new(X)
        gram = self.path_.gram
        with jobs(self.n_jobs), blas_threads(X.shape[0] * gram.rank):
            return gram.apply(X, self._alpha, self._w) + (self.intercept_ + self._shift)

    def _check_new(self, X: Any) -> Any:
        """New rows as the machine sees them."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return X if self._scaler is None else scaled(X, self._scaler)

    @property
    def _scaler(self) -> Any:
        """``scaler_``; None for a model that was saved before there was ``scale``, too."""
        return getattr(self, "scaler_", None)

    @property
    def rank_(self) -> int:
        """Rank of the kernel matrix of the fitted machine; the number of samples for the full matrix."""
        check_is_fitted(self)
        return int(self.path_.gram.rank)

    @property
    def residual_(self) -> float:
        """Relative error of a low-rank kernel matrix; 0 for the full matrix."""
        check_is_fitted(self)
        return float(self.path_.gram.residual)

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
    def support_vectors_(self) -> Any:
        """The training rows with a non-zero coefficient, in the units of X; scaled back, up to rounding."""
        check_is_fitted(self)
        rows = self.path_.gram.X[self.support_]
        return rows if self._scaler is None else self._scaler.inverse_transform(rows)

    @property
    def coef_(self) -> Array:
        """Weights of the features, in the units of X; for the linear kernel only."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ exists for the linear kernel only; use dual_coef_ and support_vectors_ instead")
        w = self.path_.gram.weights(self._alpha, self._w).T  # in low rank those of the machine that decides
        return w if self._scaler is None else w / self._scaler.scale_

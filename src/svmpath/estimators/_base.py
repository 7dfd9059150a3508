"""Code shared by the estimators: from parameters to a search, and from a choice to fitted attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath import criteria
from svmpath.criteria.curve import Curve, held_out_loss
from svmpath.criteria.folds import make_folds
from svmpath.criteria.held_out import Folds
from svmpath.criteria.table import CRITERIA, is_bound, is_estimate, make_criterion
from svmpath.estimators.axes import AxesMixin
from svmpath.estimators.cautions import warn_of_a_loose_bound, warn_of_edges, warn_of_rounding, warn_of_time
from svmpath.estimators.chunks import ChunksMixin
from svmpath.estimators.honest import HonestMixin
from svmpath.estimators.intervals import LeftOutMixin
from svmpath.estimators.options import OptionsMixin
from svmpath.estimators.scaling import fit_scaler, scaled, shift_of_offset, warn_of_uneven_columns
from svmpath.estimators.scoring import ScoringMixin
from svmpath.gram import DenseGram, make_gram
from svmpath.gram.memory import limited
from svmpath.kernels import ARD, Kernel, Linear
from svmpath.losses import LOSSES, LeastSquares, Loss, Problem, make_loss, policy_of
from svmpath.names import unknown_name
from svmpath.notebook import ShownWithDiagram
from svmpath.paths import Path
from svmpath.paths.merged import find_copies, has_contradictions
from svmpath.paths.trackers import automatic_gap, exact_is_cheaper
from svmpath.search import STRATEGIES, Choice, Evaluator, Tuner
from svmpath.search.choice import check_rule
from svmpath.search.deadline import Deadline
from svmpath.search.log import TrialLog
from svmpath.search.results import cv_results, entries_of, search_table
from svmpath.solvers.threads import blas_threads, jobs
from svmpath.validation import (
    check_amount,
    check_positive,
    check_squares,
    check_symmetric_values,
    check_weights,
    draw_seed,
    is_pairwise,
    plain_target,
    relative_weights,
)

Array = np.ndarray

_EPSILONS = np.array([0.01, 0.03, 0.1, 0.3, 1.0])  # epsilon="tune" tries these times the deviation of y
_STAGES = 3  # of the default search, as far as a progress bar is concerned
_TOO_FEW_FOR_FOLDS = 20  # samples up to which "auto" is leave-one-out, though it may take a path per sample
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


class PathMachine(
    OptionsMixin, AxesMixin, ChunksMixin, ScoringMixin, HonestMixin, LeftOutMixin, ShownWithDiagram, BaseEstimator
):
    """Parameters and fitting common to :class:`PathSVC` and :class:`PathSVR`; not for direct use."""

    _task: str
    _stage = 0
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
        self._check_options()
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
            if not self._is_ard:  # which finds the scale of each column by itself
                warn_of_uneven_columns(X, s, self.kernel, getattr(self, "feature_names_in_", None))
            return X
        # Relative, because the scaler takes their sum for a number of rows when it looks for constant columns.
        weight = None if sample_weight is None else relative_weights(check_weights(sample_weight, X))
        self.scaler_ = fit_scaler(X, weight, self.kernel)
        return scaled(X, self.scaler_)

    def _fit(self, X: Any, targets: list[Array], s: Array, y: Array) -> None:
        """Choose C and gamma for machines with these targets (one, or one per class) and store the result."""
        self._drawn, self._stage = None, 0
        is_limited = self.time_limit is not None and (self._is_default or self._is_gradient)
        deadline = Deadline(self.time_limit if is_limited else None)
        losses = self._losses(y, s, len(targets))
        kernel, over, gamma = self._kernel(X)
        problems = self._problems(X, kernel, losses[0], targets, s, y)
        self._check_bound(len(targets))
        evaluators = [self._evaluator(loss, problems, X, y) for loss in losses]
        if self._is_default:  # the one that is followed in full comes first
            evaluators.insert(0, evaluators.pop((len(evaluators) - 1) // 2))
        tuner = Tuner(
            evaluators,
            self._C_axis(evaluators[0].loss),
            gamma,
            over,
            draw_seed(self.random_state),
            self.n_jobs,
            # Folds that "auto" takes for want of something cheaper may be any: rows are held out one by one before.
            None if self._groups is None and self.criterion == "auto" else self._drawn,
            deadline,
            self._is_rank_free(evaluators[0].loss),
            TrialLog(
                self._stage_done if self._is_default else self._tell,
                self._progress if callable(self.verbose) or not self._is_gradient else None,
            ),
        )
        choice, evaluator, paths = STRATEGIES["ard" if self._is_ard else self.search](tuner)
        if self._is_default and callable(self.verbose):
            self.verbose(_STAGES, _STAGES)
        self.loss_, self.criterion_ = evaluator.loss.name, self._criterion(evaluator.loss, problems)
        self._store(choice, evaluator, paths)
        if deadline.has_stopped:
            warn_of_time(self.time_limit)
        if choice.at_edge:
            warn_of_edges(choice, self._given, self._fitted())

    def _losses(self, y: Array, s: Array, machines: int) -> list[Loss]:
        """The losses to choose from: one, or one with several values of epsilon.

        With several classes neither of the two losses that cost little is always the better one.
        """
        loss = make_loss(self.get_params(deep=False)["loss"], self._task, over="C")
        epsilons = self._epsilons(loss, y, s)
        if epsilons:
            return [make_loss(loss.name, self._task, epsilon=each) for each in epsilons]
        if self.loss is None and machines > 1 and self._is_default:
            return [LeastSquares(), loss] if self.criterion == "auto" else [loss]
        return [loss]

    def _is_rank_free(self, loss: Loss) -> bool:
        """Whether the default search chooses the rank: for losses that gain nothing from following few events."""
        is_auto = isinstance(self.rank, str) and self.rank == "auto" and self.landmarks is None
        return is_auto and self._is_default and not policy_of(loss).walks

    def _problems(self, X: Any, kernel: Kernel, loss: Loss, targets: list[Array], s: Array, y: Array) -> list[Problem]:
        """The problems of all machines, which share a Gram matrix."""
        gram = make_gram(
            X,
            kernel,
            rank=None if self._is_rank_free(loss) else self.rank,
            landmarks=self.landmarks,
            psd=self.psd,
            seed=draw_seed(self.random_state),
        )
        # With several classes -1 and +1 stand for no labels of their own.
        classes = getattr(self, "classes_", None) if len(targets) == 1 else None
        copies = find_copies(gram, y)
        if isinstance(gram, DenseGram) and not self._is_rank_free(loss):
            gram.distinct.check_memory()  # before hours of other work
        return [Problem(gram, target, s, self._task, classes, copies=copies) for target in targets]

    def _evaluator(self, loss: Loss, problems: list[Problem], X: Any, y: Array) -> Evaluator:
        """The machines of one loss, and how they are scored."""
        held_out, name = self.criterion_loss, self._criterion(loss, problems)
        if self.criterion == "auto" and name == "kfold":
            self._explain_folds(loss, len(problems[0].active))
        held_out_loss(held_out, self._task, "criterion_loss")  # refuses an unknown name
        if self._is_gradient:
            self._check_gradient(loss, problems[0].gram)
        if held_out is None and self._scoring is None and (self._is_gradient or self.search == "continuous"):
            held_out = "squared"  # a continuous search needs a score that moves continuously
        criterion = make_criterion(name, self._folds(name, X, y, problems[0].s))
        counts = held_out is None and self._scoring is None  # a scorer needs the decision values themselves
        if name == "loo" and loss.falls_when_left_out and counts and len(problems) == 1:
            criterion = partial(criteria.loo, count_only=True)
        tol = self._gap(loss, problems[0].n)
        if tol is not None and not self._is_rough(loss, problems[0]):
            self._tell(f"exact paths: with {problems[0].n} samples they take less time than tol={tol:g}")
        rule = check_rule(self.rule)
        return Evaluator(problems, loss, criterion, held_out, rule, tol, self._scoring, self._row_units)

    def _is_rough(self, loss: Loss, problem: Problem) -> bool:
        """Whether paths are approximate."""
        distinct = problem.n if problem.copies is None else int(problem.copies.max()) + 1
        return self._gap(loss, problem.n) is not None and not exact_is_cheaper(distinct, problem.gram.rank)

    def _stage_done(self, sentence: str) -> None:
        """Tell of a stage of the default search."""
        self._stage += 1
        if callable(self.verbose):
            self.verbose(min(self._stage, _STAGES - 1), _STAGES)  # there may be more of them than expected
        self._tell(sentence)

    def _tell(self, sentence: str) -> None:
        if self.verbose and not callable(self.verbose):
            print(f"[{type(self).__name__}] {sentence}")

    def _gap(self, loss: Loss, n: int) -> float | None:
        """The largest relative duality gap that is accepted; None for exact paths."""
        if self.tol is None:
            return None
        if isinstance(self.tol, str) and self.tol == "auto":
            return automatic_gap(type(loss), n)
        return check_positive(self.tol, "tol")

    def _epsilons(self, loss: Loss, y: Array, s: Array) -> list[float]:
        """The values of epsilon to be tried; none where the loss has no epsilon, or is an object with its own."""
        if "epsilon" not in loss.own or loss is self.loss:
            return []
        epsilon = self.epsilon
        if isinstance(epsilon, str) and epsilon == "tune":
            mean = np.average(y, weights=s)
            return (_EPSILONS * float(np.sqrt(np.average((y - mean) ** 2, weights=s)) or 1.0)).tolist()
        if isinstance(epsilon, Real):
            return [check_amount(epsilon, "epsilon")]
        values = [check_amount(value, "Each value of epsilon") for value in np.atleast_1d(epsilon).tolist()]
        if not values:
            raise ValueError("epsilon is an empty list; give at least one value, or 'tune'.")
        return values

    def _criterion(self, loss: Loss, problems: list[Problem]) -> Any:
        """The criterion that "auto" stands for: one that costs about as much as a few paths."""
        if callable(self.criterion):
            return self.criterion
        if not isinstance(self.criterion, str) or self.criterion not in ("auto", *CRITERIA):
            raise ValueError(unknown_name("criterion", self.criterion, ("auto", *CRITERIA), "a callable"))
        if self.criterion != "auto":
            return self.criterion
        # Samples of a group are held out together, and who gives a splitter wants it to be used.
        if self._groups is not None or (self._is_split_by_user and not self._is_gradient):
            return "kfold"
        policy, n = policy_of(loss), len(problems[0].active)
        is_few = n <= policy.loo_rows or (policy.otherwise == "kfold" and n <= _TOO_FEW_FOR_FOLDS)
        if not is_few or self._is_rough(loss, problems[0]):
            return policy.otherwise
        # Where all rows have both labels, a machine without one of them is hard to find, and there is one per sample.
        is_tied = policy.walks and any(has_contradictions(problem.gram, problem.y) for problem in problems)
        return policy.otherwise if is_tied else "loo"

    def _explain_folds(self, loss: Loss, n: int) -> None:
        """Say why k-fold is used where "auto" could mean exact leave-one-out."""
        most = policy_of(loss).loo_rows
        if self._groups is not None or self._is_split_by_user:
            why = "groups are held out together" if self._groups is not None else "cv says how rows are held out"
            self._tell(f"using k-fold instead of leave-one-out: {why}")
            return
        what = f"{n} samples (more than {most})" if n > most else "an approximate path, or equal rows of both classes"
        if most == 0:
            what = f"that takes one path per sample with loss={loss.name!r}"
        self._tell(f"using k-fold instead of exact leave-one-out: {what}")

    def _progress(self, done: int, total: int) -> None:
        if callable(self.verbose):
            self.verbose(done, total)
        elif self.verbose:
            print(f"[{type(self).__name__}] scored {done} of {total} kernels")

    def _folds(self, criterion: Any, X: Any, y: Array, s: Array) -> Any:
        """The folds, drawn once, so that every kernel and every epsilon is scored on the same ones."""
        if criterion != "kfold":
            return None
        if self._drawn is None:
            is_classification = self._task == "classification"
            self._drawn = make_folds(
                self.cv,
                X,
                y,
                is_classification=is_classification,
                groups=self._groups,
                s=s,
                seed=draw_seed(self.random_state),
                pairwise=self._pairwise,
            )
        return self._drawn

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

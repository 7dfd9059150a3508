"""Code shared by the estimators: from parameters to a search, and from a choice to fitted attributes."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath import criteria
from svmpath.criteria.curve import Curve, held_out_loss
from svmpath.criteria.folds import make_folds
from svmpath.criteria.gradients import check_full_matrix, smooth_loss
from svmpath.criteria.held_out import Folds
from svmpath.criteria.table import CRITERIA, is_bound, is_estimate, is_exact, make_criterion
from svmpath.estimators.honest import HonestMixin
from svmpath.estimators.intervals import LeftOutMixin
from svmpath.estimators.scaling import fit_scaler, scaled, shift_of_offset, warn_of_uneven_columns
from svmpath.estimators.scoring import ScoringMixin
from svmpath.exceptions import EdgeWarning, LimitWarning, PrecisionWarning
from svmpath.gram import DenseGram, Gram, make_gram
from svmpath.kernels import ARD, RBF, Kernel, Linear, gamma_value, make_kernel
from svmpath.losses import LOSSES, LeastSquares, Loss, Problem, make_loss, policy_of
from svmpath.names import unknown_name
from svmpath.notebook import ShownWithDiagram
from svmpath.paths import Path
from svmpath.paths.merged import find_copies, has_contradictions
from svmpath.paths.trackers import automatic_gap, exact_is_cheaper
from svmpath.search import AutoSearch, Choice, GradientSearch, Search
from svmpath.search.axis import Axis
from svmpath.search.candidates import only_stage
from svmpath.search.choice import Scores, check_rule
from svmpath.search.gradient import column_variances
from svmpath.search.results import cv_results, entries_of
from svmpath.search.table import search_table
from svmpath.search.trials import falls_at_end, lowest_over_gamma
from svmpath.solvers.threads import blas_threads, jobs
from svmpath.validation import (
    check_amount,
    check_positive,
    check_symmetric_values,
    check_weights,
    is_pairwise,
)

Array = np.ndarray

_EPSILONS = np.array([0.01, 0.03, 0.1, 0.3, 1.0])  # epsilon="tune" tries these times the deviation of y
_GAMMA_POWERS = np.arange(-4, 5)  # gamma="tune" tries scikit-learn's "scale" times 4 to these powers
_GAMMA_NAMES = ("tune", "scale", "auto", "ard")
_NUMBERS = "a positive number, a list of numbers or a tuple (low, high)"  # what C and gamma may be beside names
_STAGES = 3  # of the default search, as far as a progress bar is concerned
_C_NEAR = 30.0  # factor from the C of an earlier fit up to which warm_start begins with values of C
_SCREENED_C = np.geomspace(1e-3, 1e6, 28)  # C="tune" of the default search begins with these
_C_STEP = 10 ** (1 / 3)
_GAMMA_STEP = 2.0
_WIDER = 256.0  # gamma="tune" of the default search may go beyond its first values by this factor
_GAMMAS = 9  # values tried in a span of gamma
_TOO_FEW_FOR_FOLDS = 20  # samples up to which "auto" is leave-one-out, though it may take a path per sample
_TOO_FEW_DIGITS = 1e-4  # largest violation, in units of decision values, of a machine that is not lost to rounding
# The losses whose held-out score has a gradient, and the criteria that are that score.
_GRADIENTS = {"squared_hinge": ("auto", "span"), "least_squares": ("auto", "loo", "press")}
_EXACT = ("loo", "press")  # criteria that are exact leave-one-out
_NOISY = 0.02  # fraction of training errors above which the radius-margin bound chooses badly
SEARCHES = ("auto", "grid", "continuous", "gradient")


class PathMachine(ScoringMixin, HonestMixin, LeftOutMixin, ShownWithDiagram, BaseEstimator):
    """Parameters and fitting common to :class:`PathSVC` and :class:`PathSVR`; not for direct use."""

    _task: str
    _until: float | None = None
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
        """X and y as arrays; at least two samples, since each is left out once."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=2,
            multi_output=False,
            **checks,
        )
        if self._pairwise:
            check_symmetric_values(X)
        return X, y

    def _to_scale(self, X: Any, sample_weight: Any, s: Array) -> Any:
        """The rows that the machine sees: scaled if asked for; ``scaler_`` takes new rows there."""
        if not isinstance(self.scale, (bool, np.bool_)):
            raise ValueError(f"scale must be True or False, got {self.scale!r}.")
        self.scaler_ = None
        if not self.scale:
            if not self._is_ard:  # which finds the scale of each column by itself
                warn_of_uneven_columns(X, s, self.kernel, getattr(self, "feature_names_in_", None))
            return X
        weight = None if sample_weight is None else check_weights(sample_weight, X)
        self.scaler_ = fit_scaler(X, weight, self.kernel)
        return scaled(X, self.scaler_)

    def _fit(self, X: Any, targets: list[Array], s: Array, y: Array) -> None:
        """Choose C and gamma for machines with these targets (one, or one per class) and store the result."""
        self._check_options()
        self._drawn = None
        is_limited = self.time_limit is not None and (self._is_default or self._is_gradient)
        self._until = time.monotonic() + self.time_limit if is_limited else None
        losses = self._losses(y, s, len(targets))
        kernel, over, gammas = self._kernel(X)
        problems = self._problems(X, kernel, losses[0], targets, s, y)
        self._check_bound(len(targets))
        searches = [self._search_of(loss, problems, over, X, y) for loss in losses]
        if self._is_default:
            choice, search, paths = self._auto(searches, gammas)
        else:
            choices = [self._run(search, gammas) for search in searches]
            best = int(np.argmin([choice.score for choice in choices]))
            choice, search = _with_others(choices, best), searches[best]
            path = choice.curve.path
            others = replace(search, problems=problems[1:]).paths(path.gram, path.span, path.made)
            paths = [path, *others]
        self.loss_, self.criterion_ = search.loss.name, self._criterion(search.loss, problems)
        self._store(choice, search, paths)
        self._warn_of_time(choice)
        self._warn_of_edges(choice)

    def _check_options(self) -> None:
        """Refuse what no search can use, before any work."""
        if self.search not in SEARCHES:
            raise ValueError(unknown_name("search", self.search, SEARCHES))
        if self.time_limit is not None:
            check_positive(self.time_limit, "time_limit")
        if not isinstance(self.warm_start, bool):
            raise ValueError(f"warm_start must be True or False, got {self.warm_start!r}.")
        if self.scoring is not None:
            self._check_scoring()

    def _check_scoring(self) -> None:
        """Refuse a scorer where nothing can be scored by it."""
        if self._is_gradient:
            asked = "gamma='ard'" if self._is_ard else "search='gradient'"
            raise ValueError(
                f"{asked} follows a gradient, which scoring={self.scoring!r} does not have; leave scoring out and give "
                "criterion_loss, or use another search."
            )
        if is_bound(self.criterion):
            raise ValueError(
                f"criterion={self.criterion!r} has no held-out decision values, which scoring={self.scoring!r} needs; "
                "use criterion='span' or 'loo'."
            )

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
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        # With several classes -1 and +1 stand for no labels of their own.
        classes = getattr(self, "classes_", None) if len(targets) == 1 else None
        copies = find_copies(gram, y)
        if isinstance(gram, DenseGram) and not self._is_rank_free(loss):
            gram.distinct.check_memory()  # before hours of other work
        return [Problem(gram, target, s, self._task, classes, copies=copies) for target in targets]

    def _search_of(self, loss: Loss, problems: list[Problem], over: str | None, X: Any, y: Array) -> Search:
        """The search for the machines of one loss."""
        held_out, name = self.criterion_loss, self._criterion(loss, problems)
        if self.criterion == "auto" and name == "kfold":
            self._explain_folds(loss, len(problems[0].active))
        held_out_loss(held_out, self._task, "criterion_loss")  # refuses an unknown name
        if self._is_gradient:
            self._check_gradient(loss, problems[0].gram)
        if held_out is None and self._scoring is None and (self._is_gradient or self.search == "continuous"):
            held_out = "squared"  # a continuous search needs a score that moves continuously
        criterion = make_criterion(name, self._folds(name, X, y))
        counts = held_out is None and self._scoring is None  # a scorer needs the decision values themselves
        if name == "loo" and loss.falls_when_left_out and counts and len(problems) == 1:
            criterion = partial(criteria.loo, count_only=True)
        tol = self._gap(loss, problems[0].n)
        if tol is not None and not self._is_rough(loss, problems[0]):
            self._tell(f"exact paths: with {problems[0].n} samples they take less time than tol={tol:g}")
        C, rule = self._C_values(loss), check_rule(self.rule)
        return Search(problems, loss, C, over, criterion, held_out, rule, tol, self._scoring, self._row_units)

    def _is_rough(self, loss: Loss, problem: Problem) -> bool:
        """Whether paths are approximate."""
        distinct = problem.n if problem.copies is None else int(problem.copies.max()) + 1
        return self._gap(loss, problem.n) is not None and not exact_is_cheaper(distinct, problem.gram.rank)

    def _auto(self, searches: list[Search], gammas: Array) -> tuple[Choice, Search, list[Path]]:
        """The choice of the default search, the search that it belongs to, and the paths of all its machines."""
        first, self._stage = searches[(len(searches) - 1) // 2], 0
        auto = AutoSearch(
            [first, *(search for search in searches if search is not first)],
            self._C_axis(first.loss, first.C),
            None if first.over is None else self._gamma_axis(gammas),
            int(check_random_state(self.random_state).randint(2**31 - 1)),
            self.n_jobs,
            self._until,
            is_free=self._is_rank_free(first.loss),
            tell=self._stage_done,
        )
        return auto.run()

    def _C_axis(self, loss: Loss, values: Array) -> Axis:
        """The values of C that the default search may take."""
        how, (low, high) = self._given("C"), policy_of(loss).tuned
        if how == "tune":
            is_near = self._before is not None and _SCREENED_C[0] <= self._before[0] <= _SCREENED_C[-1]
            first = self._near(_SCREENED_C, self._before[0], _C_NEAR) if self._before and is_near else _SCREENED_C
            return Axis(first, _C_STEP, (low / 100, min(high * 10, _SCREENED_C[-1])))
        values = np.unique(values)
        return Axis(values, _C_STEP, (float(values[0]), float(values[-1])) if how == "span" else None)

    def _gamma_axis(self, values: Array) -> Axis:
        """The values of gamma that the default search may take."""
        how, values = self._given("gamma"), np.unique(values)
        low, high = float(values[0]), float(values[-1])
        if how == "tune" or self._is_ard:
            # On data of another scale an earlier gamma says nothing.
            is_near = self._before is not None and low / _WIDER <= self._before[1] <= high * _WIDER
            first = self._before[1] * _GAMMA_STEP ** np.arange(-2.0, 3.0) if self._before and is_near else values
            return Axis(first, _GAMMA_STEP, (min(low, first[0]) / _WIDER, max(high, first[-1]) * _WIDER))
        return Axis(values, _GAMMA_STEP, (low, high) if how == "span" else None)

    @property
    def _before(self) -> tuple[float, float] | None:
        """With ``warm_start``: C and gamma of an earlier fit, which the search begins with."""
        pair = vars(self).get("C_"), vars(self).get("gamma_")
        are_numbers = all(isinstance(value, float) and np.isfinite(value) for value in pair)
        return pair if self.warm_start and are_numbers else None  # type: ignore[return-value]

    @staticmethod
    def _near(values: Array, middle: float, factor: float) -> Array:
        """Those of several values that differ from one by at most a factor; or the nearest."""
        distance = np.abs(np.log(values / middle))
        return values[distance <= max(np.log(factor) * (1 + 1e-9), distance.min())]

    def _stage_done(self, sentence: str) -> None:
        """Tell of a stage of the default search."""
        self._stage += 1
        if callable(self.verbose):
            self.verbose(min(self._stage, _STAGES), _STAGES)
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

    def _check_bound(self, machines: int) -> None:
        """Refuse what a bound on the number of errors of one machine cannot do."""
        name = getattr(self.criterion, "__name__", self.criterion)
        if not is_bound(name):
            return
        if machines > 1:
            raise ValueError(
                f"criterion={name!r} works for two classes only, but y has {machines}: use criterion='span' or 'loo'."
            )
        if self.search == "continuous":
            raise ValueError(
                f"criterion={name!r} works with search='grid' only; use search='grid', or criterion='span' or 'loo' "
                "with search='continuous'."
            )

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

    def _check_gradient(self, loss: Loss, gram: Gram) -> None:
        """Refuse what has no gradient, before any work."""
        asked = "gamma='ard'" if self._is_ard else "search='gradient'"
        if loss.name not in _GRADIENTS:
            raise ValueError(f"{asked} works for the losses {' and '.join(_GRADIENTS)}, not for loss={loss.name!r}.")
        if self._is_ard and not isinstance(gram.kernel, RBF):
            raise ValueError(f"gamma='ard' works for the rbf kernel only, not for kernel={self.kernel!r}.")
        if self.search == "continuous":
            raise ValueError("gamma='ard' does not work with search='continuous': use search='gradient' instead.")
        if self.criterion not in _GRADIENTS[loss.name]:
            names = " or ".join(repr(name) for name in _GRADIENTS[loss.name])
            raise ValueError(
                f"{asked} with loss={loss.name!r} needs criterion={names}, which have a gradient; got "
                f"{self.criterion!r}."
            )
        if self.rule != "min":
            raise ValueError(f"{asked} minimises the score, so rule must be 'min'; got {self.rule!r}.")
        check_full_matrix(gram)
        smooth_loss(self.criterion_loss, self._task)

    def _run(self, search: Search, gammas: Array) -> Choice:
        method, n_jobs = self.search, self.n_jobs
        if self._is_gradient:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            C, gamma = self._C_axis(search.loss, search.C), self._gamma_axis(gammas) if search.over else None
            gradient = GradientSearch(search, C, gamma, seed, n_jobs=n_jobs, until=self._until, tell=self._tell)
            progress = self._progress if callable(self.verbose) else None
            return (gradient.ard if self._is_ard else gradient.single)(progress)
        if method == "continuous":
            return search.continuous(gammas, n_jobs, self._progress)
        if self._given("gamma") == "values" or search.over is None:
            return search.grid(gammas, n_jobs, self._progress)
        return search.coarse_to_fine(gammas, n_jobs, self._progress)

    def _progress(self, done: int, total: int) -> None:
        if callable(self.verbose):
            self.verbose(done, total)
        elif self.verbose:
            print(f"[{type(self).__name__}] scored {done} of {total} kernels")

    def _folds(self, criterion: Any, X: Any, y: Array) -> Any:
        """The folds, drawn once, so that every kernel and every epsilon is scored on the same ones."""
        if criterion != "kfold":
            return None
        if self._drawn is None:
            is_classification = self._task == "classification"
            self._drawn = make_folds(self.cv, X, y, is_classification=is_classification, groups=self._groups)
        return self._drawn

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
        policy = policy_of(loss)
        span = self.C if self._given("C") == "span" else policy.tuned
        low, high = (check_positive(v, "Each value of C") for v in span)
        size = 1 + round(policy.per_decade * abs(np.log10(high / low)))
        return self._candidates("C", np.geomspace(*policy.tuned, size), max(size, 2))

    def _kernel(self, X: Any) -> tuple[Kernel, str | None, Array]:
        """The kernel, the full name of its gamma (None if it has none), and the values to try."""
        params = self.get_params(deep=False)
        spec, gamma = params["kernel"], params["gamma"]
        fixed = self._given("gamma") == "fixed"
        fixed = fixed and not self._is_ard
        if isinstance(gamma, str) and gamma not in _GAMMA_NAMES:
            raise ValueError(unknown_name("gamma", gamma, _GAMMA_NAMES, _NUMBERS))
        start = gamma if fixed else ("scale" if isinstance(spec, str) else None)
        kernel = make_kernel(spec, gamma=start, degree=params["degree"], coef0=params["coef0"], X=X)
        if fixed or not any(name.split("__")[-1] == "gamma" for name in kernel.parameters):
            return kernel, None, np.array([])
        over = kernel.resolve("gamma")
        if self._is_ard:  # columns may differ in scale and offset, which the variance of all entries does not see
            spread = float(column_variances(X).sum())
            return kernel, over, (1.0 / spread if spread > 0 else 1.0) * 4.0**_GAMMA_POWERS
        return kernel, over, self._candidates("gamma", gamma_value("scale", X) * 4.0**_GAMMA_POWERS, _GAMMAS)

    def _store(self, choice: Choice, search: Search, paths: list[Path]) -> None:
        """The choice under scikit-learn's names."""
        path = choice.curve.path
        solutions = [each(choice.value) for each in paths]
        path.made.forget_factors()  # one per value tried: the chosen machines are known now
        # An approximate path is measured by its gap, not by the conditions of optimality.
        self._warn_of_rounding(choice, max(solution.violation for solution in solutions) if path.is_exact else 0.0)
        self._warn_of_a_loose_bound(choice)
        self.choice_ = choice
        self.curve_ = choice.curve
        self.path_ = path
        self.tol_ = None if path.is_exact else search.tol
        self.kernel_ = path.problem.gram.kernel
        self.C_ = choice.value
        self.gamma_ = self._gamma_of(self.kernel_)
        for name in self._own_names & vars(self).keys():  # of the loss of an earlier fit
            delattr(self, name)
        for name, value in search.loss.own.items():
            setattr(self, f"{name}_", value)
        alpha = np.array([solution.alpha for solution in solutions])
        self.support_ = np.flatnonzero(np.any(alpha != 0, axis=0))
        self.dual_coef_ = alpha[:, self.support_]
        self._alpha = alpha.T
        self._w = path.gram.contract(self._alpha)
        is_moved = self.scaler_ is not None and isinstance(self.kernel_, Linear)
        self._shift = shift_of_offset(self.coef_, self.scaler_) if is_moved else 0.0
        self.intercept_ = np.array([solution.b for solution in solutions]) - self._shift

    @property
    def _own_names(self) -> set[str]:
        """The attributes that hold parameters of losses beside C."""
        return {f"{name}_" for kind in LOSSES.values() for name in getattr(kind, "__dataclass_fields__", {})}

    def _name_held(self, exact: bool = False) -> str | None:
        """The criterion of held-out values: exact leave-one-out if there are not too many samples, else as chosen."""
        curve, path = self.curve_, self.path_
        is_affordable = path.is_exact and path.problem.n <= policy_of(path.loss).exact_rows
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
        search = Search(problems, path.loss, curve.values, None, make_criterion(name), None)
        with jobs(self.n_jobs):
            return search.rescore(curve, np.array([self.C_]))

    def _warn_of_time(self, choice: Choice) -> None:
        """Warn if a search, not just one fit, was cut short."""
        if choice.stages and self._until is not None and time.monotonic() > self._until:
            warnings.warn(
                f"time_limit={self.time_limit:g} seconds was reached: the best of what was tried by then is returned "
                "(see search_table_).",
                LimitWarning,
                stacklevel=4,
            )

    def _warn_of_edges(self, choice: Choice) -> None:
        """Warn if the score still falls where the values that were offered, or the limits of the search, end."""
        if not choice.stages or choice.stages[0].name == "grid":
            return
        over_C = Scores.of(choice.curve)
        over_gamma = lowest_over_gamma(choice.tried) if choice.tried else None
        for name in choice.at_edge:
            scores, value = (over_C, self.C_) if name == "C" else (over_gamma, self.gamma_)
            # "tune" has been as far as makes sense, and who gives a list knows what is beyond it.
            is_span = self._given("C" if name == "C" else "gamma") == "span"
            if not is_span or scores is None or len(scores.values) < 2 or not falls_at_end(scores):
                continue
            end = "largest" if value >= scores.values.max() * (1 - 1e-9) else "smallest"
            warnings.warn(
                f"The best {name} = {value:.3g} is the {end} value allowed, and the held-out score still falls there: "
                f"allow {'larger' if end == 'largest' else 'smaller'} values of {name}, or scale the columns.",
                EdgeWarning,
                stacklevel=4,
            )

    @staticmethod
    def _warn_of_rounding(choice: Choice, violation: float) -> None:
        """Warn if held-out values of the choice, or its machine, are lost to rounding."""
        lost = int(choice.curve.doubtful[choice.index]) if is_exact(choice.curve.criterion) else 0
        if not lost and violation <= _TOO_FEW_DIGITS:
            return
        what = f"{lost} held-out values are lost to rounding"
        if not lost:
            what = f"the machine violates the optimality conditions by {violation:.1g}, in units of decision values"
        chosen = ", ".join(f"{name} = {value:.3g}" for name, value in list(choice.parameters.items())[:6])
        warnings.warn(
            f"At the choice ({chosen}) {what}: the kernel values are too large for this C. Scale the columns "
            "(StandardScaler), or search smaller C.",
            PrecisionWarning,
            stacklevel=5,
        )

    @staticmethod
    def _warn_of_a_loose_bound(choice: Choice) -> None:
        curve = choice.curve
        wrong, m = int(curve.doubtful[choice.index]) if curve.criterion == "radius_margin" else 0, curve.path.problem.n
        if wrong > _NOISY * m:
            warnings.warn(
                f"The machine chosen by criterion='radius_margin' misclassifies {wrong} of {m} training samples. On "
                "noisy data the bound is loose, and the C at its minimum is too small: use criterion='span' or 'loo'.",
                UserWarning,
                stacklevel=5,
            )

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
        w = np.asarray(self.path_.gram.X.T @ self._alpha).T
        return w if self._scaler is None else w / self._scaler.scale_


def _with_others(choices: list[Choice], best: int) -> Choice:
    """The best of choices by the same search at different epsilons, with what all of them tried; its own comes last."""
    others = [*choices[:best], *choices[best + 1 :]]
    if not others:
        return choices[best]
    return replace(choices[best], stages=tuple(only_stage(each) for each in [*others, choices[best]]))

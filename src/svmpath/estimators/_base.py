"""Code shared by the estimators: from parameters to a search, and from a choice to fitted attributes."""

from __future__ import annotations

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
from svmpath.criteria.curve import held_out_loss
from svmpath.criteria.folds import make_folds
from svmpath.criteria.gradients import check_full_matrix, smooth_loss
from svmpath.criteria.table import CRITERIA, is_bound, is_estimate, is_exact, make_criterion
from svmpath.exceptions import PrecisionWarning
from svmpath.gram import Gram, make_gram
from svmpath.kernels import ARD, RBF, Kernel, Linear, gamma_value, make_kernel
from svmpath.losses import LOSSES, Loss, Problem, make_loss, policy_of
from svmpath.names import unknown_name
from svmpath.paths.merged import find_copies
from svmpath.paths.trackers import automatic_gap, exact_is_cheaper
from svmpath.search import Choice, GradientSearch, Search
from svmpath.search.choice import check_rule
from svmpath.search.gradient import column_variances
from svmpath.solvers.threads import blas_threads, jobs
from svmpath.validation import check_amount, check_positive, check_symmetric_values, is_pairwise

Array = np.ndarray

_EPSILONS = np.array([0.01, 0.03, 0.1, 0.3, 1.0])  # epsilon="tune" tries these times the deviation of y
_GAMMA_POWERS = np.arange(-4, 5)  # gamma="tune" tries scikit-learn's "scale" times 4 to these powers
_GAMMA_NAMES = ("tune", "scale", "auto", "ard")
_NUMBERS = "a positive number, a list of numbers or a tuple (low, high)"  # what C and gamma may be beside names
_GAMMAS = 9  # values tried in a span of gamma
_TOO_FEW_DIGITS = 1e-4  # largest violation, in units of decision values, of a machine that is not lost to rounding
# The losses whose held-out score has a gradient, and the criteria that are that score.
_GRADIENTS = {"squared_hinge": ("auto", "span"), "least_squares": ("auto", "loo", "press")}
_NOISY = 0.02  # fraction of training errors above which the radius-margin bound chooses badly
SEARCHES = ("grid", "continuous", "gradient")


class PathMachine(BaseEstimator):
    """Parameters and fitting common to :class:`PathSVC` and :class:`PathSVR`; not for direct use."""

    _task: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._pairwise
        return tags

    @property
    def _pairwise(self) -> bool:
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

    def _fit(self, X: Any, targets: list[Array], s: Array, y: Array) -> None:
        """Choose C and gamma for machines with these targets (one, or one per class) and store the result."""
        params = self.get_params(deep=False)
        loss = make_loss(params["loss"], self._task, over="C")
        self.loss_ = loss.name
        losses = [make_loss(loss.name, self._task, epsilon=each) for each in self._epsilons(loss, y, s)] or [loss]
        kernel, over, gammas = self._kernel(X)
        gram = make_gram(
            X,
            kernel,
            rank=params["rank"],
            landmarks=params["landmarks"],
            psd=params["psd"],
            seed=int(check_random_state(params["random_state"]).randint(2**31 - 1)),
        )
        # With several classes -1 and +1 stand for no labels of their own.
        classes = getattr(self, "classes_", None) if len(targets) == 1 else None
        copies = find_copies(gram, y)
        problems = [Problem(gram, target, s, self._task, classes, copies=copies) for target in targets]
        tol = self._gap(loss, gram.n)
        distinct = gram.n if copies is None else int(copies.max()) + 1
        is_rough = tol is not None and not exact_is_cheaper(distinct, gram.rank)
        if tol is not None and not is_rough and self.verbose and not callable(self.verbose):
            print(f"[{type(self).__name__}] exact paths: with {gram.n} samples they take less time than tol={tol:g}")
        self.criterion_ = self._criterion(loss, int(np.count_nonzero(s)), is_rough)
        self._check_bound(len(targets))
        held_out = params["criterion_loss"]
        held_out_loss(held_out, self._task, "criterion_loss")  # refuses an unknown name
        if self._is_gradient:
            self._check_gradient(loss, gram)
        if held_out is None and (self._is_gradient or params["search"] == "continuous"):
            held_out = "squared"  # a continuous search needs a score that moves continuously
        criterion = make_criterion(self.criterion_, self._folds(X, y))
        if self.criterion_ == "loo" and loss.falls_when_left_out and held_out is None and len(targets) == 1:
            criterion = partial(criteria.loo, count_only=True)
        rule, C = check_rule(self.rule), self._C_values(loss)
        searches = [Search(problems, each, C, over, criterion, held_out, rule, tol) for each in losses]
        choices = [self._run(search, gammas) for search in searches]
        best = int(np.argmin([choice.score for choice in choices]))
        self._store(choices[best], searches[best])

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
            return list(_EPSILONS * float(np.sqrt(np.average((y - mean) ** 2, weights=s)) or 1.0))
        if isinstance(epsilon, Real):
            return [check_amount(epsilon, "epsilon")]
        values = [check_amount(value, "Each value of epsilon") for value in np.atleast_1d(epsilon).tolist()]
        if not values:
            raise ValueError("epsilon is an empty list; give at least one value, or 'tune'.")
        return values

    def _criterion(self, loss: Loss, n: int, is_rough: bool) -> Any:
        """The criterion that "auto" stands for: one that costs about as much as a few paths."""
        if callable(self.criterion):
            return self.criterion
        if not isinstance(self.criterion, str) or self.criterion not in ("auto", *CRITERIA):
            raise ValueError(unknown_name("criterion", self.criterion, ("auto", *CRITERIA), "a callable"))
        if self.criterion != "auto":
            return self.criterion
        policy = policy_of(loss)
        if n <= policy.loo_rows and not is_rough:
            return "loo"
        if policy.otherwise == "kfold" and self.verbose and not callable(self.verbose):
            what = "an approximate path" if n <= policy.loo_rows else f"{n} samples (more than {policy.loo_rows})"
            if policy.loo_rows == 0:
                what = f"that takes one path per sample with loss={loss.name!r}"
            print(f"[{type(self).__name__}] using k-fold instead of exact leave-one-out: {what}")
        return policy.otherwise

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
        if method not in SEARCHES:
            raise ValueError(unknown_name("search", method, SEARCHES))
        if self._is_gradient:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            gradient = GradientSearch(search, gammas, seed)
            return (gradient.ard if self._is_ard else gradient.single)(n_jobs, self._progress)
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

    def _folds(self, X: Any, y: Array) -> Any:
        """The folds, drawn once, so that every kernel is scored on the same ones."""
        if self.criterion_ != "kfold":
            return None
        return make_folds(self.cv, X, y, is_classification=self._task == "classification")

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

    def _store(self, choice: Choice, search: Search) -> None:
        """The choice under scikit-learn's names."""
        path = choice.curve.path
        others = replace(search, problems=search.problems[1:]).paths(path.gram, path.span, path.made)
        solutions = [each(choice.value) for each in (path, *others)]
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
        self.loo_error_, self.error_criterion_ = self._held_out_error(choice, search)
        alpha = np.array([solution.alpha for solution in solutions])
        self.support_ = np.flatnonzero(np.any(alpha != 0, axis=0))
        self.dual_coef_ = alpha[:, self.support_]
        self.intercept_ = np.array([solution.b for solution in solutions])
        self._alpha = alpha.T
        self._w = path.gram.contract(self._alpha)

    @property
    def _own_names(self) -> set[str]:
        """The attributes that hold parameters of losses beside C."""
        return {f"{name}_" for kind in LOSSES.values() for name in getattr(kind, "__dataclass_fields__", {})}

    def _held_out_error(self, choice: Choice, search: Search) -> tuple[float, str]:
        """The held-out error of the choice and its criterion; exact if there are not too many samples."""
        curve, index = choice.curve, choice.index
        is_rough = is_estimate(curve.criterion) and curve.path.is_exact
        if is_rough and curve.path.problem.n <= policy_of(search.loss).exact_rows:
            exact = replace(search, criterion=make_criterion("loo"), held_out=None)
            curve, index = exact.rescore(curve, np.array([choice.value])), 0
        name = "loo" if curve.criterion == "press" else curve.criterion  # the same, by its name for least squares
        return float(curve.rescored(None).scores[index]), name

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

    def _decide(self, X: Any) -> Array:
        """Decision values, one column per machine."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        gram = self.path_.gram
        with jobs(self.n_jobs), blas_threads(X.shape[0] * gram.rank):
            return gram.apply(X, self._alpha, self._w) + self.intercept_

    @property
    def support_vectors_(self) -> Any:
        """The training rows with a non-zero coefficient."""
        check_is_fitted(self)
        return self.path_.gram.X[self.support_]

    @property
    def coef_(self) -> Array:
        """Weights of the features; for the linear kernel only."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ exists for the linear kernel only; use dual_coef_ and support_vectors_ instead")
        return np.asarray(self.path_.gram.X.T @ self._alpha).T

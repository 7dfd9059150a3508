"""``PathOneClassSVM``: a one-class machine that meets its false-alarm rate on new rows, and chooses its own gamma."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath import criteria
from svmpath.criteria.curve import Curve
from svmpath.criteria.folds import make_folds
from svmpath.criteria.novelty import Conformity
from svmpath.criteria.scorers import make_scoring
from svmpath.criteria.scoring import ScoredRows
from svmpath.criteria.volume import draw_reference
from svmpath.estimators._base import PathMachine
from svmpath.estimators.as_svc import as_svc
from svmpath.estimators.axes import Axes, how_given, numbers_of
from svmpath.estimators.keywords import by_name
from svmpath.estimators.machines import Machines
from svmpath.estimators.scaling import fit_scaler, scaled, warn_of_uneven_columns
from svmpath.estimators.slim import LEFT_OUT, SlimMachines, slim_copy
from svmpath.estimators.tuned import unchanged_by_failure
from svmpath.gram import Approximation, automatic_rank, make_gram
from svmpath.kernels import Kernel
from svmpath.losses import NOVELTY, Problem, loss_names, make_loss
from svmpath.names import unknown_name
from svmpath.paths import Path, Request, trace_problem
from svmpath.paths.copies import find_copies
from svmpath.ranges import Range
from svmpath.row_order import random_order
from svmpath.search.novelty import ByLabels, ByVolume, Judge, NoveltyTrial, try_pairs
from svmpath.solvers.threads import jobs
from svmpath.validation import (
    check_squares,
    check_symmetric_values,
    check_weights,
    check_whole,
    draw_seed,
    is_pairwise,
    relative_weights,
)

Array = np.ndarray

_NUS = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5])  # nu="tune" tries these
_NU_VALUES = 7  # of a Range
_LOO_ROWS, _MANY_LOO_ROWS = 500, 2000  # rows up to which "auto" leaves out each of them: always, and where the
_SMALL_ELBOW = 200  # elbow has no more rows than this; with a wide one that takes long
_MANY_FOLDS = 20  # in its place: machines without a fifth of the rows reject too few
_SEARCH_LOO_ROWS = 300  # rows up to which each is left out while pairs are tried
_FOLD_ROWS = 20_000  # rows up to which every fold is held out; with more, one of them tells enough
_SEARCH_ROWS = 1000  # rows that pairs are tried on
_LANDMARKS = 200  # of rank="auto": a machine takes n r^2 operations, some twenty times
_SAMPLE_DRAW = 7  # so that the rows of the search have nothing to do with what else is drawn by the same seed
_SHORT = 0.99  # relative length of a path that is followed for one value
_LEAST_NU = 0.01  # where path_ ends, or at half the chosen nu
_HOLD_OUT = ("auto", "loo", "kfold")  # what criterion may be


def _check_nu(value: Any, name: str, word: str = "'tune'") -> float:
    """The value as a float between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} must be a number between 0 and 1, such as 0.1, or {word}; got {value!r}.")
    return float(value)


class PathOneClassSVM(OutlierMixin, BaseEstimator):
    """One-class support vector machine: of new rows like the training rows, it rejects the share ``nu``.

    scikit-learn's :class:`~sklearn.svm.OneClassSVM` rejects the share nu of the rows that it was trained on, and often
    several times as many new ones. Here the threshold is a quantile of exact held-out decision values, so that ``nu``
    is the false-alarm rate on new rows. gamma is chosen without labels: the machine to which rows of a reference,
    unlike the training rows, are most surprising.

    Parameters
    ----------
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        As in :class:`svmpath.PathSVC`.
    gamma : "tune", float, "scale", "auto", Range or array, default="tune"
        "tune" tries "scale" times 1/256 to 256. A kernel without gamma ignores it.
    nu : float, "tune", Range or array, default=0.1
        The share of new rows like the training rows that are to be rejected: the false-alarm rate, and the nu of the
        machine unless ``machine_nu`` is given. "tune" chooses among seven values from 0.01 to 0.5: the one with the
        largest difference of the shares of rows and of the reference that are accepted, or the best score by the
        labels.
    machine_nu : float, optional
        The nu of the machine, if it is to be another than the false-alarm rate, which the threshold sees to whatever
        the machine is. With a larger one, such as 0.3, more rows have a coefficient, and scores far from the threshold
        are told apart better.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    reference : {"columns", "box", "envelope"} or array of rows, default="columns"
        What is not like the rows, and has small p-values by a good machine: rows with some columns replaced by uniform
        draws; uniform draws in the box around the rows; draws from a normal distribution twice as wide as the rows; or
        rows that you give, in the units of X.
    scoring : str, scorer or callable, optional
        Used if ``y`` labels some rows as novelties: "roc_auc" by default. Novelties, -1, are the positive class of
        scores that are named.
    criterion : {"auto", "loo", "kfold"}, default="auto"
        How rows are held out for the threshold and the p-values: exact leave-one-out, or folds. "auto" is "loo" up to
        500 rows, and up to 2000 if few of them are on the elbow, else all folds up to 20 000 rows (at
        least 20 of them up to 2000), and one of the folds with more.
    cv : int, splitter or iterable, default=5
        Folds. A number means random folds; a splitter, or splits, are also used where "auto" would be "loo".
    rank : "auto", None, int, float or Approximation, default="auto"
        As in :class:`svmpath.PathSVC`; "auto" is the full kernel matrix up to 2000 rows, and 200 landmarks with more.
    scale : bool, default=False
        Whether to standardise the columns in ``fit``. New rows are scaled alike.
    n_jobs : int, optional
        Number of BLAS threads.
    random_state : int, RandomState or None, default=None
        Random seed of the reference, of landmarks and folds; None stands for 0. The same rows in any order give the
        same choice.

    Attributes
    ----------
    nu_, gamma_ : float
        The choice; ``gamma_`` is None for a kernel without gamma.
    offset_ : float
        ``decision_function`` is ``score_samples - offset_``.
    criterion_ : {"loo", "kfold", "split"}
        How rows were held out; "split" is one fold.
    path_ : Path
        The path over nu at the chosen gamma, from 1 to 0.01: ``path_(0.3)`` is another machine.
    kernel_ : Kernel
    support_, support_vectors_, dual_coef_, n_support_
        The training rows with a coefficient, and the coefficients, which sum to one.
    rank_ : int
        Rank of the kernel matrix; the number of rows for the full matrix.
    search_table_ : DataFrame
        Every pair that was tried: ``gamma``, ``nu``, ``rejected`` (share of held-out rows that the plain machine
        rejects), ``mean_p`` (mean p-value of the reference) and ``volume`` (its accepted share), or ``score``; and
        ``kept``.
    scaler_ : StandardScaler or None
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    svmpath.trace : Follow a machine over one hyper-parameter; ``loss="one_class"`` is this one.
    svmpath.PathSVC : Classifier that chooses C and gamma.
    sklearn.svm.OneClassSVM : The same machine at one nu and gamma.

    Notes
    -----
    The false-alarm rate is that over training sets and new rows; on one training set of n rows it varies by about
    ``sqrt(nu (1 - nu) / n)``. Leave-one-out decision values take the place of those of a new row, which is exact only
    if leaving out one row changes the machine little; that gamma was chosen on the same rows is not covered.

    References
    ----------
    B. Schoelkopf et al., "Estimating the support of a high-dimensional distribution", Neural Computation 13 (2001);
    G. Lee and C. Scott, "The one class support vector machine solution path", ICASSP 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import PathOneClassSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> model = PathOneClassSVM(nu=0.1).fit(X)
    >>> bool(0.05 < np.mean(model.predict(rng.normal(size=(2000, 2))) == -1) < 0.15)
    True
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]]), model.p_values([[5.0, 5.0]]).round(3)
    (array([ 1, -1]), array([0.005]))
    """

    @by_name("nu=0.1")
    def __init__(
        self,
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: float | str | Range | ArrayLike | None = "tune",
        nu: float | str | Range | ArrayLike = 0.1,
        machine_nu: float | None = None,
        degree: int = 3,
        coef0: float = 0.0,
        reference: str | ArrayLike = "columns",
        scoring: str | Callable[..., Any] | None = None,
        criterion: str = "auto",
        cv: Any = 5,
        rank: int | float | str | Approximation | None = "auto",
        scale: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.nu = nu
        self.machine_nu = machine_nu
        self.degree = degree
        self.coef0 = coef0
        self.reference = reference
        self.scoring = scoring
        self.criterion = criterion
        self.cv = cv
        self.rank = rank
        self.scale = scale
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_pairwise(self.kernel)
        return tags

    # --- fit ---------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PathOneClassSVM:
        """Choose gamma, fit, and set the threshold on held-out rows.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (n, d)
        y : array of shape (n,), optional
            If it holds 1 and -1, rows with -1 are known novelties: they take no part in the fit, and gamma (and nu, if
            that is tuned) is chosen by ``scoring``. Any other y is ignored, as in scikit-learn.
        sample_weight : array of shape (n,), optional
            Weights of the rows, of which only the proportions matter. A row of weight zero is a row left out.
        """
        with unchanged_by_failure(self), jobs(self.n_jobs):
            self._check_options()
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
            check_squares(X)
            if is_pairwise(self.kernel):
                check_symmetric_values(X)
            given = check_weights(sample_weight, X)
            labels = self._labels(y, len(given))
            s = relative_weights(given if labels is None else _normal_weights(given, labels))
            if np.count_nonzero(s) < 2:
                raise ValueError("At least two rows must have a positive weight and not be labelled -1.")
            X = self._to_scale(X, s)
            axes = Axes(1.0, self.gamma, self.kernel, self.degree, self.coef0, "grid")
            kernel, over, axis = axes.make_kernel(X, s)
            chosen = self._choose(X, kernel, over, axis, s, given, labels)
            if over is not None and chosen.gamma is not None:
                kernel = kernel.at(over, chosen.gamma)
            self._finish(X, kernel, chosen.nu, s)
        return self

    def _check_options(self) -> None:
        if not isinstance(self.scale, (bool, np.bool_)):
            raise ValueError(f"scale must be True or False, got {self.scale!r}.")
        if self.criterion not in _HOLD_OUT:
            raise ValueError(unknown_name("criterion", self.criterion, _HOLD_OUT))
        if isinstance(self.gamma, str) and self.gamma == "ard":
            raise ValueError("gamma='ard' needs targets, which a one-class machine does not have; use gamma='tune'.")
        if isinstance(self.nu, str) and self.nu != "tune":
            raise ValueError(unknown_name("nu", self.nu, ["tune"], "a number between 0 and 1"))
        if self.machine_nu is not None:
            _check_nu(self.machine_nu, "machine_nu", "None")
        if isinstance(self.cv, Real):
            check_whole(self.cv, "cv", least=2)

    def _labels(self, y: Any, n: int) -> Array | None:
        """The labels, if some rows are known novelties."""
        labels = None if y is None else np.asarray(y).ravel()
        if labels is not None and len(labels) == n and set(np.unique(labels).tolist()) == {-1, 1}:
            return np.where(labels == 1, 1, -1)
        if self.scoring is not None:
            raise ValueError(
                f"scoring={self.scoring!r} needs labelled rows: give fit a y of {n} numbers that holds 1 for rows like "
                "the others and -1 for novelties, or leave scoring out."
            )
        return None

    def _to_scale(self, X: Any, s: Array) -> Any:
        """The rows as the machine sees them."""
        self.scaler_ = None
        if not self.scale:
            warn_of_uneven_columns(X, s, self.kernel, getattr(self, "feature_names_in_", None))
            return X
        self.scaler_ = fit_scaler(X, s, self.kernel)
        return scaled(X, self.scaler_)

    def _choose(
        self, X: Any, kernel: Kernel, over: str | None, axis: Any, s: Array, given: Array, labels: Array | None
    ) -> NoveltyTrial:
        """The best pair of gamma and nu on some of the rows."""
        nus = _NUS if how_given(self.nu) == "tune" else np.unique(numbers_of(self.nu, "nu", _NU_VALUES, _check_nu))
        gammas = [None] if axis is None else axis.values.tolist()
        if len(gammas) * len(nus) == 1:
            chosen = NoveltyTrial(gammas[0], float(nus[0]))
            self._trials, self._kept = [chosen], chosen
            return chosen
        rows = self._search_rows(X, s, labels)
        part = X[rows][:, rows] if is_pairwise(self.kernel) else X[rows]
        judge, weights = self._judge(X, part, s[rows], given[rows], None if labels is None else labels[rows]), s[rows]
        gram = make_gram(part, kernel, rank=self.rank if isinstance(self.rank, Approximation) else None)
        problem = self._problem(gram, weights)

        def make_path(gamma: float | None) -> Path:
            at = problem if gamma is None or over is None else problem.at(over, gamma)
            return _path_at(at, self._nu_of(float(nus.min())), self._nu_of(float(nus.max())))

        def hold_out(path: Path, values: Array) -> Curve:
            is_few = len(problem.active) <= _SEARCH_LOO_ROWS
            if self.criterion == "loo" or (self.criterion == "auto" and is_few):
                return criteria.loo(path, values)
            return self._by_folds(path, values, self.cv if isinstance(self.cv, Real) else None)

        pairs = {nu: self._nu_of(nu) for nu in nus.tolist()}
        trials = try_pairs(make_path, gammas, pairs, hold_out, judge)
        if how_given(self.gamma) == "tune" and over is not None:  # once more, between the neighbours of the best
            best = judge.best(trials).gamma
            assert best is not None
            trials += try_pairs(make_path, [0.5 * best, 2.0 * best], pairs, hold_out, judge)
        self._trials, self._kept = trials, judge.best(trials)
        return self._kept

    def _nu_of(self, nu: float) -> float:
        """The nu of the machine for a rate of false alarms."""
        return nu if self.machine_nu is None else float(self.machine_nu)

    def _search_rows(self, X: Any, s: Array, labels: Array | None) -> Array:
        """The rows that pairs are tried on: some of those in the fit, and of the known novelties."""
        kinds = [s > 0] if labels is None else [s > 0, labels == -1]
        if all(np.count_nonzero(kind) <= _SEARCH_ROWS for kind in kinds):
            return np.flatnonzero(np.any(kinds, axis=0))
        order = random_order(X, seed=(draw_seed(self.random_state), _SAMPLE_DRAW), pairwise=is_pairwise(self.kernel))
        return np.sort(np.concatenate([order[kind[order]][:_SEARCH_ROWS] for kind in kinds]))

    def _judge(self, X: Any, part: Any, s: Array, given: Array, labels: Array | None) -> Judge:
        """What pairs are compared by."""
        if labels is not None:
            code = (labels > 0).astype(int)
            scoring = make_scoring(self.scoring or "roc_auc", np.array([-1, 1]), code, given, pos_label=-1)
            at = np.flatnonzero(given > 0)
            return ByLabels(scoring, ScoredRows(at, at, code[at], given[at]))
        if is_pairwise(self.kernel):
            raise ValueError(
                "A precomputed kernel has no columns from which a reference could be drawn: give nu as a number, or "
                "label some rows as novelties."
            )
        if isinstance(self.reference, str):
            return ByVolume(draw_reference(self.reference, part[s > 0], draw_seed(self.random_state)))
        rows = validate_data(self, self.reference, accept_sparse="csr", dtype=np.float64, reset=False)
        return ByVolume(rows if self.scaler_ is None else scaled(rows, self.scaler_))

    def _problem(self, gram: Any, s: Array) -> Problem:
        ones = np.ones(len(s))
        return Problem(gram, ones, s, NOVELTY, copies=find_copies(gram, ones))

    def _finish(self, X: Any, kernel: Kernel, nu: float, s: Array) -> None:
        """The machine of all rows, its held-out decision values, and the threshold."""
        rank = self.rank
        if isinstance(rank, str) and rank == "auto":
            rank = None if automatic_rank(X.shape[0]) is None else _LANDMARKS
        gram = make_gram(X, kernel, rank=rank, seed=draw_seed(self.random_state))
        at = self._nu_of(nu)
        path = _path_at(self._problem(gram, s), at, at)
        self._machines = Machines.of([path], at)
        curve = self._hold_out(path, at)
        self._held = curve.decisions[0]
        is_held = np.isfinite(self._held)
        self._conformity = Conformity(self._held[is_held], s[is_held])
        if nu < self._conformity.least:
            warnings.warn(
                f"nu = {nu:.3g} is less than one of the {np.count_nonzero(s)} rows: what is rejected is below all of "
                f"them, which {self._conformity.least:.2g} of new rows are. Give a larger nu, or more rows.",
                UserWarning,
                stacklevel=3,
            )
        self.nu_, self.kernel_ = nu, kernel
        self.gamma_ = next((v for name, v in kernel.parameters.items() if name.split("__")[-1] == "gamma"), None)
        self.path_ = path.over_span((1.0, min(_LEAST_NU, 0.5 * at)))
        self._threshold = self._conformity.threshold(nu)
        self.offset_ = float(self._threshold - self._machines.b[0])

    def _hold_out(self, path: Path, nu: float) -> Curve:
        """Held-out decision values at nu; ``criterion_`` says how."""
        n, values = len(path.problem.active), np.array([nu])
        is_number = isinstance(self.cv, Real)
        machine = path(nu)
        elbow = np.count_nonzero((machine.alpha > 0.0) & (machine.alpha < path.loss.limits(machine)))
        is_few = n <= (_MANY_LOO_ROWS if elbow <= _SMALL_ELBOW else _LOO_ROWS)
        if self.criterion == "loo" or (self.criterion == "auto" and is_number and path.is_exact and is_few):
            self.criterion_ = "loo"
            return criteria.loo(path, values)
        self.criterion_ = "kfold" if self.criterion == "kfold" or not is_number or n <= _FOLD_ROWS else "split"
        is_raised = self.criterion == "auto" and is_number and n <= _MANY_LOO_ROWS
        cv = max(self.cv, _MANY_FOLDS) if is_raised else self.cv
        return self._by_folds(path, values, cv, 1 if self.criterion_ == "split" else None)

    def _by_folds(self, path: Path, values: Array, cv: Any, most: int | None = None) -> Curve:
        problem, seed, is_matrix = path.problem, draw_seed(self.random_state), is_pairwise(self.kernel)
        rows = problem.gram.contents()
        folds = make_folds(cv, rows, problem.y, is_classification=False, s=problem.s, seed=seed, pairwise=is_matrix)
        return criteria.kfold(path, values, cv=folds[:most])

    # --- new rows ----------------------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Array:
        """How much each row is like the training rows: the decision value of the machine, without its offset.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m,)
            Larger for rows like the training rows; for kernels with values from 0 to 1 such a number itself.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        X = X if self.scaler_ is None else scaled(X, self.scaler_)
        with jobs(self.n_jobs):
            return np.asarray(self._machines.decisions(X, np.zeros(1))[:, 0])

    def decision_function(self, X: Any) -> Array:
        """``score_samples(X) - offset_``: negative for rows that are rejected.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 for rows like the training rows, -1 for the others: those whose p-value is at most ``nu_``.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)

        Returns
        -------
        array of int of shape (m,)
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def p_values(self, X: Any) -> Array:
        """How surprising each row is among the training rows: small for novelties.

        Of rows drawn like the training rows, a share of about p has a p-value of at most p, for any p: to reject rows
        with p-values of at most 0.01 means false alarms for one row in a hundred.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m,)
            ``(1 + k) / (1 + n)`` if k of the n training rows, each by a machine that has not seen it, have no larger
            decision value; weighted if the rows are.
        """
        return self._conformity_of(self.decision_function(X))

    def _conformity_of(self, decisions: Array) -> Array:
        return self._conformity.p_values(decisions + self._threshold)

    def for_prediction(self) -> PathOneClassSVM:
        """A copy with what prediction needs, and no training rows beyond support vectors.

        It predicts as this model does, takes less room and time to save and load, and holds few types, which
        ``skops.io.load`` asks about. What needs the search, the training rows or held-out values
        (``held_out_decisions()``, ``search_table_``, ...) is refused in a sentence.

        Returns
        -------
        PathOneClassSVM
            A fitted model. The linear kernel keeps the weights of the columns, and no row.

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathOneClassSVM
        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> model = PathOneClassSVM(gamma=1.0).fit(X)
        >>> slim = model.for_prediction()
        >>> bool(abs(slim.decision_function(X) - model.decision_function(X)).max() < 1e-9)
        True
        """
        return cast(PathOneClassSVM, slim_copy(self))

    def to_sklearn(self) -> Any:
        """The same machine as a model of scikit-learn, where there is one: OneClassSVM.

        Returns
        -------
        OneClassSVM, or a Pipeline of ``scaler_`` and it
            Fitted, with the same decision values. The kernels are rbf, linear, poly and sigmoid; others are refused in
            a sentence.

        Examples
        --------
        >>> from svmpath import PathOneClassSVM
        >>> from svmpath.datasets import banana
        >>> X, _ = banana(100, random_state=0)
        >>> model = PathOneClassSVM(gamma=1.0).fit(X)
        >>> bool(abs(model.to_sklearn().decision_function(X) - model.decision_function(X)).max() < 1e-9)
        True
        """
        check_is_fitted(self)
        return as_svc(self, -self.offset_)

    def __getattr__(self, name: str) -> Any:  # of names that are not there
        if isinstance(vars(self).get("_machines"), SlimMachines) and not name.startswith("__"):
            raise AttributeError(f"{name} {LEFT_OUT}.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- the training rows -------------------------------------------------------------------------------------------

    def held_out_decisions(self) -> Array:
        """``decision_function`` of each training row by a machine that has not seen it; NaN if none was made.

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        return self._held - self._threshold

    def held_out_p_values(self) -> Array:
        """The p-value of each training row among the others, by machines that have not seen it.

        Returns
        -------
        array of shape (n,)
            Small for rows that are unlike the rest; NaN where no machine without the row was made.
        """
        check_is_fitted(self)
        return np.where(np.isfinite(self._held), self._conformity.own_p_values(self._held), np.nan)

    @property
    def search_table_(self) -> Any:  # a DataFrame
        """Every pair of gamma and nu that was tried."""
        import pandas as pd

        check_is_fitted(self)
        table = pd.DataFrame([asdict(trial) for trial in self._trials])
        return table.assign(kept=[trial == self._kept for trial in self._trials])

    rank_, support_, support_vectors_ = PathMachine.rank_, PathMachine.support_, PathMachine.support_vectors_

    @property
    def dual_coef_(self) -> Array:
        """Their coefficients, of shape (1, number of support vectors); they sum to one."""
        return self._machines.alpha[self.support_].T

    @property
    def n_support_(self) -> Array:
        """The number of support vectors, of shape (1,)."""
        return np.array([len(self.support_)])


def novelty_of(model: Any, **options: Any) -> PathOneClassSVM:
    """A one-class machine of the rows that a tuned model was fitted to, in the units that its machines see.

    Parameters
    ----------
    model : PathSVC or PathSVR
        Fitted to rows that it holds.
    **options : object
        Parameters of :class:`PathOneClassSVM`.

    Examples
    --------
    >>> from svmpath import PathSVC
    >>> from svmpath.datasets import banana
    >>> from svmpath.estimators.novelty import novelty_of
    >>> X, y = banana(80, random_state=0)
    >>> seen = novelty_of(PathSVC(gamma=1.0, C=[1.0]).fit(X, y))
    >>> bool(seen.p_values([[30.0, 30.0]])[0] < 0.05)
    True
    """
    gram = model.path_.gram
    detector = PathOneClassSVM(random_state=model.random_state, **options)
    return detector.fit(gram.contents(), sample_weight=model._given_weight)


def _normal_weights(s: Array, labels: Array) -> Array:
    """The weights, zero for known novelties."""
    s = np.where(labels > 0, s, 0.0)
    if not s.any():
        raise ValueError("Every row that is labelled 1 has weight zero; at least one weight must be positive.")
    return s


def _path_at(problem: Problem, low: float, high: float) -> Path:
    """The path over nu from the largest to a little less than the smallest value."""
    request = Request(make_loss(loss_names(NOVELTY)[0], NOVELTY), "nu", (high, _SHORT * low))
    return trace_problem(problem, request)

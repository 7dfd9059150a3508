"""``PathSVR``: a support vector regressor that chooses its own C and gamma."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from svmpath.chunked import is_chunked
from svmpath.estimators._base import Array, PathMachine
from svmpath.estimators.cautions import warn_of_shares
from svmpath.estimators.chunks import fit_chunks, in_memory, lazy_for_chunks
from svmpath.estimators.held_out import HeldOut
from svmpath.estimators.keywords import by_name
from svmpath.estimators.quantiles import LevelMachines, at_level, crossing, explained, rearranged
from svmpath.estimators.scoring import resolve_scoring
from svmpath.estimators.tuned import unchanged_by_failure
from svmpath.gram import Approximation
from svmpath.kernels import Kernel
from svmpath.losses import Loss, make_loss
from svmpath.names import unknown_name
from svmpath.ranges import Range
from svmpath.solvers.threads import jobs
from svmpath.validation import check_levels, check_weights

_METHODS = ("auto", "jackknife+", "cqr", "cqr_nominal")  # of intervals


class PathSVR(RegressorMixin, PathMachine):
    """Support vector regressor that chooses C and gamma in ``fit``, by held-out error.

    ``PathSVR().fit(X, y)`` needs no grid and no outer loop. Most users set ``scale=True`` (columns in different units),
    ``scoring``, ``random_state`` and ``n_jobs``; the first five parameters say what is searched.

    Parameters
    ----------
    loss : {"least_squares", "epsilon_insensitive", "pinball", "expectile"} or Loss, optional
        Least squares by default. "pinball" is quantile regression, "expectile" its counterpart with squares.
        ``losses.EpsilonInsensitive(0.3)`` has its own epsilon, ``losses.Pinball(0.9)`` its own quantile.
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        A name ("linear", "rbf", "poly", ...), a kernel object or a function k(X, Z), which is given CSR matrices if X
        is sparse.
    gamma : "tune", float, "scale", "auto", "ard", Range or array, default="tune"
        "tune" searches around "scale"; a ``svmpath.Range(low, high)`` is to be searched, a list, tuple or array holds
        the values to try. "ard" is one gamma per feature. A kernel or function without gamma ignores it. More in
        :class:`svmpath.PathSVC`.
    C : "tune", float, Range or array, default="tune"
        "tune" searches from 1e-3 to 1e6; for "epsilon_insensitive" and "pinball" up to 1e4 (1e3 if ``search`` is not
        "auto"), times the standard deviation of y; for "expectile" up to 1e4.
    epsilon : "tune", float, Range or array, default="tune"
        For "epsilon_insensitive": half the width of the tube; "tune" tries five values from 0.01 to 1 times the
        standard deviation of y; the default search, all but the middle one at the gamma that is best with that. Given
        beside another loss it has no effect, and there is a warning.
    quantile : float or list of floats, optional
        For "pinball" and "expectile": the level between 0 and 1 that is predicted, such as 0.9; by default that of the
        loss, the median and the expectile of 0.9. With a list, ``predict`` has one column per level. Given beside
        another loss it has no effect, and there is a warning.
    one_choice : bool, default=True
        Whether all levels of a list have the same C and gamma, chosen by the mean of their held-out losses. With False
        each level is a model of its own (``models_``).
    calibrate : bool, default=False
        For "pinball": whether predictions are moved by a constant, the quantile of held-out residuals (``shift_``). A
        machine that comes near to its training rows, as one of few rows with little noise does, has less than the
        share q of new targets below its quantile q where q is large, and more where it is small: see
        :meth:`held_out_shares`.
    rearrange : bool, default=True
        Whether predictions at several levels are sorted, so that they do not cross ("rearrangement").
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    criterion : {"auto", "loo", "press", "alo", "kfold"} or callable, default="auto"
        What to minimise: exact leave-one-out ("loo"; "press" is its name for least squares), its approximation for
        "epsilon_insensitive", "pinball" and "expectile" ("alo" or "span"), exact k-fold ("kfold"), or a function
        ``criterion(path, values, loss=...) -> Curve``. "auto" is "loo" for least squares; for "epsilon_insensitive" and
        "pinball" it is "loo" up to 200 samples, for "expectile" up to 20, and "kfold" with more.
    scoring : str, scorer or callable, optional
        What a held-out prediction is worth: by default the squared residual ("squared"), for "pinball" and "expectile"
        their own loss, or a function ``loss(y, f)``, is minimised. A score of scikit-learn is maximised: a name such as
        "r2", "neg_mean_absolute_error" or "neg_median_absolute_error", a scorer of ``make_scorer``, or a function
        ``scoring(estimator, X, y)``. It is evaluated on all held-out predictions together, with the weights of the
        rows; see :func:`svmpath.criteria.score`.
    rule : {"auto", "min", "one_se"}, default="auto"
        How a value is chosen on the curve; see :func:`svmpath.select`. "auto" is "min" here.
    search : {"auto", "grid", "gradient"}, default="auto"
        "auto" screens many pairs and confirms a few, "grid" scores all of them, "gradient" minimises.
        More in :class:`svmpath.PathSVC`.
    cv : int, splitter or iterable, default=5
        For ``criterion="kfold"``, and where there are groups. A number means random folds with the same quantiles of y,
        whatever the order of the rows.
    rank : "auto", None, int, float or Approximation, default="auto"
        Rank of the kernel matrix: None is the full matrix, a whole number so many landmarks, a number between 0 and 1 a
        target for the residual, or ``svmpath.gram.Nystroem(300, "kmeans")`` and the like. "auto" is the full matrix up
        to 2000 samples; with more, landmarks are added while they help. More in :class:`svmpath.PathSVC`.
    effort : {"quick", "auto", "best"}, default="auto"
        How much may be done with more than 2000 samples. "quick" stays in low rank. "auto" goes on with the full kernel
        matrix where the low rank is not enough (there pairs are compared by k-fold, whatever "auto" means before).
        With 25 000 to 58 000 samples pairs are compared on 10 000 of them, and one is taken for all samples, if half of
        the matrix fits into memory. "best" compares with all samples, however long that takes.
    scale : bool, default=False
        Whether to standardise the columns in ``fit``. New rows are scaled alike.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.
    time_limit : float, optional
        Seconds after which the search begins nothing new; the best of what was tried by then is fitted.
    verbose : int, default=0
        Print a line per stage, or per kernel of a grid.
    random_state : int, RandomState or None, default=None
        Random seed of everything that is drawn: landmarks, the rows that are screened, folds. None stands for 0. The
        same rows in any order give the same choice.

    Attributes
    ----------
    C_, gamma_, epsilon_ : float
        The choice; ``gamma_`` is None for a kernel without gamma and an array of shape (d,) for ``gamma="ard"``;
        ``epsilon_`` exists only for "epsilon_insensitive". A tuned ``C_`` is that of a row of mean weight: row i has
        ``C_ * w[i] / w[w > 0].mean()``, with the sample weights w.
    error_criterion_ : str
        How rows are held out for :meth:`held_out_error`: "loo" (exact leave-one-out), "alo" or "kfold".
    n_support_ : array of shape (1,)
        Number of support vectors.
    quantile_ : float or array of shape (k,)
        For "pinball" and "expectile": the levels that are predicted.
    shift_ : float or array of shape (k,)
        For "pinball" and "expectile": what is added to the decision values; 0 unless ``calibrate`` is set.
    models_ : list of PathSVR
        With ``one_choice=False``: a fitted model for each level. ``C_`` and ``gamma_`` are arrays of theirs, and what
        else may be asked of a model is asked of them.
    loss_ : str
        The loss of the machine.
    criterion_ : str or callable
        The criterion that was minimised; if ``criterion="auto"``, the one that was used.
    rank_, residual_, sample_size_, search_table_, cv_results_, tol_, choice_, curve_, path_, kernel_, support_,
    support_vectors_, dual_coef_, intercept_, coef_, scaler_, n_features_in_, feature_names_in_
        As in :class:`svmpath.PathSVC`.

    See Also
    --------
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.Report : A page about a fitted model.
    sklearn.svm.SVR : The epsilon-insensitive machine at one C and gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import PathSVR
    >>> X = np.linspace(0, 6, 80)[:, None]; y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=80)
    >>> model = PathSVR(random_state=0).fit(X, y)
    >>> model.score(X, np.sin(X[:, 0])) > 0.99, model.rank_
    (True, 80)
    >>> table = model.search_table_
    >>> list(table["stage"].unique()), bool(table.loc[table["kept"], "C"].iloc[-1] == model.C_)
    (['screen', 'confirm'], True)
    >>> bands = PathSVR(loss="pinball", quantile=[0.1, 0.5, 0.9], gamma=1.0, C=[1.0, 10.0]).fit(X, y)
    >>> bands.predict(X[:2]).shape, bool(abs((y < bands.predict(X)[:, 2]).mean() - 0.9) < 0.1)
    ((2, 3), True)
    """

    _task = "regression"
    quantile_: Any
    models_: list[PathSVR]
    _at_levels: LevelMachines

    @by_name("C=1.0")
    def __init__(
        self,
        *,
        loss: str | Loss | None = None,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: float | str | Range | ArrayLike | None = "tune",
        C: float | str | Range | ArrayLike = "tune",
        epsilon: float | str | Range | ArrayLike = "tune",
        quantile: float | ArrayLike | None = None,
        one_choice: bool = True,
        calibrate: bool = False,
        rearrange: bool = True,
        degree: int = 3,
        coef0: float = 0.0,
        criterion: str | Callable[..., Any] = "auto",
        scoring: str | Callable[..., Any] | None = None,
        rule: str = "auto",
        search: str = "auto",
        cv: Any = 5,
        rank: int | float | str | Approximation | None = "auto",
        effort: str = "auto",
        scale: bool = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
        self.epsilon = epsilon
        self.quantile = quantile
        self.one_choice = one_choice
        self.calibrate = calibrate
        self.rearrange = rearrange
        self.degree = degree
        self.coef0 = coef0
        self.criterion = criterion
        self.scoring = scoring
        self.rule = rule
        self.search = search
        self.cv = cv
        self.rank = rank
        self.effort = effort
        self.scale = scale
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, start_from: Any = None) -> PathSVR:
        """Choose C and gamma, and fit.

        Parameters
        ----------
        X : array, DataFrame, CSR matrix, or Dask array or data frame, of shape (n, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Multiplies C for each sample, and weights the held-out errors, the variance that ``gamma="scale"`` looks at,
            and the columns' scale. Where C is tuned ("tune", a ``Range`` or an array) weights are relative: a common
            factor changes nothing. A row of weight zero is a row left out.
        groups : array of shape (n,), optional
            Samples that belong together, such as the visits of one patient: they are held out together. ``criterion``
            "auto" then means k-fold, and criteria that leave out single rows are refused. A number as ``cv`` means
            grouped folds, and splitters such as ``LeaveOneGroupOut()`` are given the groups. Not for
            ``search="gradient"`` and ``gamma="ard"``.
        start_from : PathSVC or PathSVR, optional
            A fitted model whose C and gamma the default search begins with: with values of C within a factor of 30 and,
            if the kernel has a gamma, five values of it within a factor of 4. It may be the model itself.
        """
        with unchanged_by_failure(self), jobs(self.n_jobs):
            self._begin(start_from)
            self._levels = None
            if is_chunked(X, y, sample_weight):
                self._levels = self._check_levels()
                self._check_calibrate()
                if fit_chunks(self, X, y, sample_weight, groups):
                    return self
                X, y, sample_weight, groups = in_memory(X, y, sample_weight, groups)
            given = (X, y)
            X, y = self._check_training(X, y, y_numeric=True)
            target, s = np.asarray(y, dtype=float), self._seen_weights(check_weights(sample_weight, X))
            self._held_out_loss, self._scoring = resolve_scoring(self.scoring, None, target, s)
            self._levels = self._check_levels()
            self._check_calibrate()
            if not self.one_choice and self._has_columns:
                self._fit_each(*given, sample_weight=sample_weight, groups=groups)
                return self
            self._keep_rows(X, sample_weight, groups)
            X = self._to_scale(X, sample_weight, s)
            self._fit(X, [target] * (1 if self._levels is None else len(self._levels)), s, y, target)
            self._name_levels()
            self._compress()
        return self

    # --- levels: quantiles and expectiles ----------------------------------------------------------------------------

    def _check_levels(self) -> Array | None:
        """The levels that are asked for; None if the loss has none, or its own."""
        loss = make_loss(self.loss, self._task, over="C")
        if self.quantile is None or not loss.level or loss is self.loss:
            return None
        levels = check_levels(self.quantile)
        if len(levels) > 1 and self.scoring is not None:
            raise ValueError(
                f"scoring={self.scoring!r} scores one prediction per row, but there are {len(levels)} quantiles: leave "
                "scoring out, and the mean of their own losses decides."
            )
        return levels

    def _check_calibrate(self) -> None:
        if not isinstance(self.calibrate, (bool, np.bool_)):
            raise ValueError(f"calibrate must be True or False, got {self.calibrate!r}.")
        loss = make_loss(self.loss, self._task, over="C")
        if self.calibrate and loss.level != "quantile":
            raise ValueError(
                f"calibrate=True moves quantiles to the held-out residuals, but this model has loss={loss.name!r}: use "
                "loss='pinball', or leave calibrate out."
            )

    @property
    def _has_columns(self) -> bool:
        """Whether there is a column of predictions for each level."""
        return self._levels is not None and np.ndim(self.quantile) > 0  # type: ignore[arg-type]

    def _fit_each(self, X: Any, y: Any, **given: Any) -> None:
        """A model of its own for each level."""
        assert self._levels is not None
        self.models_ = [clone(self).set_params(quantile=float(q)).fit(X, y, **given) for q in self._levels]
        first = self.models_[0]
        self.quantile_, self.loss_, self.criterion_ = self._levels.copy(), first.loss_, first.criterion_
        self.C_: Any = np.array([model.C_ for model in self.models_])
        self.gamma_ = None if first.gamma_ is None else np.array([model.gamma_ for model in self.models_])

    def _name_levels(self) -> None:
        """The levels of the fitted machines, as ``quantile_``, and the machine at others."""
        loss: Any = self.path_.loss
        if loss.level:
            own = getattr(loss, loss.level)
            self.quantile_ = self._levels.copy() if self._has_columns else own  # type: ignore[union-attr]
            self._at_levels = LevelMachines(self._machines.paths[0], self._machines.values[0])
            shifts = self._shifts(np.atleast_1d(self.quantile_))
            self.shift_ = shifts if self._has_columns else float(shifts[0])
            if loss.level == "quantile" and not self.calibrate:
                warn_of_shares(self._held_out, np.atleast_1d(self.quantile_))

    def _shifts(self, levels: Array) -> Array:
        """What is added to the decision values at these levels."""
        known = np.atleast_1d(self.quantile_)
        return self._held_out.shifts(levels, known) if self.calibrate else np.zeros(len(levels))

    def _after_change(self) -> None:
        self._name_levels()

    @property
    def _known(self) -> HeldOut:
        """What the fitted model knows of rows that its machines have not seen."""
        if hasattr(self, "models_"):
            raise AttributeError(
                "With one_choice=False each quantile has a model of its own: ask those in models_, or fit with "
                "one_choice=True."
            )
        return super()._known

    def predict_quantiles(self, X: Any, quantiles: Any, *, rearrange: bool | None = None) -> Array:
        """Predictions at any levels, from one fit: with the chosen C and gamma.

        For "pinball" the machines lie on a path over the quantile that is followed at the first call for these levels,
        and kept; for "expectile" each is one more fit.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)
        quantiles : float or list of floats
            Levels between 0 and 1.
        rearrange : bool, optional
            Whether the predictions of a row are sorted, so that they do not cross; by default as the model has it.

        Returns
        -------
        array of shape (m, k)
            One column per level.

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathSVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, (150, 1)); y = np.sin(X[:, 0]) + 0.1 * (1 + X[:, 0]) * rng.normal(size=150)
        >>> model = PathSVR(loss="pinball", gamma=0.5, random_state=0).fit(X, y)
        >>> f = model.predict_quantiles(X, [0.1, 0.5, 0.9])
        >>> f.shape, bool(np.all(np.diff(f, axis=1) >= 0)), bool(abs((y < f[:, 2]).mean() - 0.9) < 0.05)
        ((150, 3), True, True)
        """
        levels = check_levels(quantiles, "quantiles")
        f = self._at(X, levels)
        return rearranged(f, levels) if (self.rearrange if rearrange is None else rearrange) else f

    def count_crossings(self, X: Any, quantiles: Any = None) -> int:
        """In how many rows predictions at several levels cross, before they are rearranged.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)
        quantiles : list of floats, optional
            Levels between 0 and 1; by default those that the model was fitted for.

        Returns
        -------
        int
            The number of rows in which a prediction falls where the level rises.

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathSVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, (60, 1)); y = np.sin(X[:, 0]) + rng.normal(size=60)
        >>> model = PathSVR(loss="pinball", quantile=[0.45, 0.5, 0.55], gamma=30.0, C=10.0).fit(X, y)
        >>> model.count_crossings(X) > 0
        True
        """
        check_is_fitted(self)
        levels = np.atleast_1d(self.quantile_) if quantiles is None else check_levels(quantiles, "quantiles")
        return int(np.count_nonzero(crossing(self._at(X, levels), levels)))

    def _at(self, X: Any, levels: Array) -> Array:
        """Decision values at these levels, one column each, as they are."""
        check_is_fitted(self)
        if hasattr(self, "models_"):  # the nearest model
            nearest = [self.models_[int(np.argmin(np.abs(self.quantile_ - q)))] for q in levels]
            return np.hstack([model._at(X, levels[[k]]) for k, model in enumerate(nearest)])
        if not self.path_.loss.level:
            raise ValueError(
                f"loss={self.loss_!r} predicts one value per row and has no quantiles: use loss='pinball', or "
                "predict_interval."
            )
        if self.path_.is_chunked:
            raise ValueError(
                f"Other levels take another fit of rows in chunks: fit with quantile={float(levels[0]):g}."
            )
        X = self._check_new(X)
        with jobs(self.n_jobs):
            return self._at_levels(X, levels) + self._shifts(levels)

    def held_out_shares(self) -> Any:
        """The share of targets below each quantile, by machines that have not seen them.

        They are those of the machines as they are, before ``calibrate`` moves them.

        Returns
        -------
        float or array of shape (k,)
            One number for each of ``quantile_``.

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathSVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(150, 2)); y = X[:, 0] + rng.normal(size=150)
        >>> model = PathSVR(loss="pinball", quantile=0.9, gamma=0.1, C=1.0).fit(X, y)
        >>> bool(abs(model.held_out_shares() - 0.9) < 0.06)
        True
        """
        check_is_fitted(self)
        if hasattr(self, "models_"):
            return np.array([model.held_out_shares() for model in self.models_])
        if not self.path_.loss.level:
            raise ValueError(f"loss={self.loss_!r} has no quantiles that targets could be below: use loss='pinball'.")
        shares = self._held_out.shares_below()
        return shares if self._has_columns else float(shares[0])

    @lazy_for_chunks
    def predict(self, X: Any) -> Array:
        """The predicted value of each row; with several quantiles, of shape (m, k)."""
        check_is_fitted(self)
        if hasattr(self, "models_"):
            f = np.column_stack([model.predict(X) for model in self.models_])
        else:
            f = self._decide(X)
            f = f + self.shift_ if hasattr(self, "shift_") else f
        if not self._has_columns:
            return f[:, 0]
        return rearranged(f, self.quantile_) if self.rearrange else f

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions; with several quantiles, the mean of D^2 by their own losses.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)
        y : array of shape (m,)
        sample_weight : array of shape (m,), optional

        Returns
        -------
        float
            At most 1. D^2 is one minus the loss of the predictions over that of the best constant.
        """
        f = self.predict(X)
        if f.ndim == 1:
            return float(super().score(X, y, sample_weight))
        y, s = np.asarray(y, dtype=float), check_weights(sample_weight, f)
        loss = make_loss(self.loss, self._task)
        pairs = zip(f.T, self.quantile_, strict=True)
        return float(np.mean([explained(at_level(loss, level), y, column, s) for column, level in pairs]))

    @lazy_for_chunks
    def predict_interval(self, X: Any, coverage: float = 0.9, *, method: str = "auto") -> Array:
        """An interval for the target of each row, by jackknife+ or CV+, or by conformalised quantiles.

        Each end is a quantile, over the training rows i, of the prediction of a machine that has not seen row i, plus
        or minus the residual of row i by that machine. For least squares this is the machine without row i
        (jackknife+), which takes no further fits. For the epsilon-insensitive loss, and for a choice by k-fold, it is
        the machine without the fold of row i (CV+): the folds of ``cv`` if the choice was made by k-fold, else ten, of
        whole groups if ``fit`` was given groups. These are trained at the first call and kept.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)
        coverage : float, default=0.9
            The probability that an interval is meant to contain the target, between 0 and 1.
        method : {"auto", "jackknife+", "cqr", "cqr_nominal"}, default="auto"
            "cqr" (conformalised quantile regression) is for "pinball", whose default it is: the ends are two quantiles
            with the chosen C and gamma, moved by as much as held-out targets are beyond them. Such intervals are wide
            where targets vary much, and narrow elsewhere. Which two of four pairs is decided by the mean width on
            held-out rows; with "cqr_nominal" they are (1 - coverage) / 2 and (1 + coverage) / 2, which are wider, but
            keep nearer to the coverage at every x. "jackknife+" moves one prediction up and down by held-out residuals.

        Returns
        -------
        array of shape (m, 2)
            Lower and upper ends. They are infinite with fewer than ``coverage / (1 - coverage)`` training rows (9 for
            0.9, 19 for 0.95; with weights, their effective number counts). With a coverage below one half the lower end
            can be above the upper one: then the interval is empty.

        Notes
        -----
        If the training rows and the new one are exchangeable (independent draws from one distribution, for instance),
        intervals of jackknife+ contain the target with a probability of at least ``1 - 2 alpha``, where
        ``alpha = 1 - coverage``, whatever the distribution [1]_; it is close to ``1 - alpha`` unless the machine
        changes much when one row is left out. CV+ with k folds of n / k rows has the same guarantee but for a term of
        at most ``sqrt(2 / n)``. The probability is one over new rows and training sets, not one for each x. The
        theorem takes the machine as given: that C, gamma, ``epsilon``, landmarks and the scale of the columns were
        chosen on the same rows is not covered. Nor are rows that belong to groups or to a time order.

        The quantiles are weighted by ``sample_weight``. A common factor does not matter: the rows count as Kish's
        effective number of rows, (sum w)^2 / sum w^2, and the new row as one. Weights that are a function of x make the
        coverage that of a population in which x is so much more frequent [2]_, up to the weight of the new row, which
        is not known. Rows of weight zero are not used.

        With n training rows, an interval of jackknife+ costs about 4 n^2 operations for the full kernel matrix and
        6 n r in rank r; one of CV+ as much as a prediction by each of the machines, and n more numbers to sort. New
        rows are taken in blocks, so that memory stays bounded.

        Conformalised quantiles [3]_ are those of machines without each of ten folds, or of the folds that ``cv`` has
        given: eight per fold, trained at the first call with a coverage, of which two are kept. The guarantee is that
        of CV+ with "cqr_nominal"; that one of four pairs was chosen on the same rows is not covered.

        References
        ----------
        .. [1] R. F. Barber, E. J. Candes, A. Ramdas and R. J. Tibshirani, "Predictive inference with the jackknife+",
           Annals of Statistics 49 (2021), 486-507.
        .. [2] R. J. Tibshirani, R. F. Barber, E. J. Candes and A. Ramdas, "Conformal prediction under covariate
           shift", Advances in Neural Information Processing Systems 32 (2019).
        .. [3] Y. Romano, E. Patterson and E. J. Candes, "Conformalized quantile regression", Advances in Neural
           Information Processing Systems 32 (2019).

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathSVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, (200, 1)); y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=200)
        >>> model = PathSVR(random_state=0).fit(X[:100], y[:100])
        >>> ends = model.predict_interval(X[100:], coverage=0.9)
        >>> inside = (ends[:, 0] <= y[100:]) & (y[100:] <= ends[:, 1])
        >>> ends.shape, bool(inside.mean() > 0.8)
        ((100, 2), True)
        """
        if method not in _METHODS:
            raise ValueError(unknown_name("method", method, _METHODS))
        known, X = self._known, self._check_new(X)
        is_quantile = self.path_.loss.level == "quantile"
        if method.startswith("cqr") and not is_quantile:
            raise ValueError(
                f"method={method!r} needs quantiles, but this model has loss={self.loss_!r}: use loss='pinball'."
            )
        if is_quantile and method != "jackknife+":
            return known.intervals(X, coverage, known.between(coverage, is_nominal=method == "cqr_nominal"))
        if self._has_columns:
            raise ValueError("method='jackknife+' needs one prediction per row, but there are several: use 'cqr'.")
        return known.intervals(X, coverage)

    @property
    def n_support_(self) -> Array:
        """Number of support vectors."""
        return np.array([len(self.support_)])

    def held_out_table(self) -> Any:  # a DataFrame
        """The training samples as machines see them that have not seen them; the largest loss first.

        One row per sample: ``sample`` (its position in X), ``target``, ``decision`` (the prediction by machines that
        have not seen it), ``loss`` (its squared error), ``influence`` (how much the prediction changes when the sample
        is used for the fit), ``weight`` (in units of its mean if C was tuned), and ``unreliable`` (whether the held-out
        value is not known to be exact; NA where only the number of such samples is known). A sample that ``cv`` never
        holds out has NaN, and comes last.
        """
        return self._known.table()

"""What every tuned model offers beside ``fit`` and ``predict``: thin methods that ask its two parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from numbers import Real
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath.criteria.importance import Importance
from svmpath.criteria.table import CRITERIA, is_by_folds
from svmpath.estimators.as_svc import as_svc
from svmpath.estimators.held_out import DEFAULT_ROWS, HeldOut
from svmpath.estimators.honest import HonestError
from svmpath.estimators.machines import Machines
from svmpath.estimators.scaling import scaled
from svmpath.estimators.slim import LEFT_OUT, SlimMachines, slim_copy
from svmpath.progress import announced
from svmpath.search.choice import Choice
from svmpath.solvers.threads import jobs
from svmpath.validation import check_groups, check_weights

Array = np.ndarray

_RENDERER = "svmpath.displays.html"  # stands beside the estimators, and is found by its name when a notebook asks


class TunedModel(BaseEstimator):
    """A model whose ``fit`` chooses its hyper-parameters. It has two parts: its machines, and what is held out of them.

    A class that is made of it sets ``choice_``, ``_machines`` and ``_held_out`` in ``fit``, and ``scaler_`` where
    columns may be scaled.
    """

    choice_: Choice
    curve_: Any
    path_: Any
    cv: Any
    criterion: Any
    _machines: Machines
    _held_out: HeldOut
    intercept_: Array
    n_jobs: int | None
    _shift: Any = 0.0  # intercept_ + _shift is the offset of the machine that takes scaled columns
    _groups: Array | None = None
    _given_weight: Array | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # What makes changes of rows quick can be made again: saved models stay small.
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "choice_" in state and "_held_out" not in state:
            raise ValueError(
                f"This {type(self).__name__} was saved by svmpath 0.1, whose models have other parts: fit it again, or "
                "load it with svmpath 0.1."
            )
        super().__setstate__(state)

    # --- the rows of fit ---------------------------------------------------------------------------------------------

    def _keep_rows(self, X: Any, sample_weight: Any, groups: Any) -> None:
        """What ``fit`` was given beside rows and labels."""
        self._given_weight = None if sample_weight is None else check_weights(sample_weight, X)
        self._keep_groups(None if groups is None else check_groups(groups, X))

    def _keep_groups(self, groups: Array | None) -> None:
        self._groups = groups
        criterion = self.criterion
        if groups is not None and isinstance(criterion, str) and criterion in CRITERIA and not is_by_folds(criterion):
            raise ValueError(
                f"criterion={criterion!r} leaves out single rows, but groups are to be held out together: use "
                "criterion='kfold' or 'auto', or leave groups out."
            )

    @property
    def _is_split_by_user(self) -> bool:
        """Whether ``cv`` is a splitter, or splits, and not a number."""
        return self.cv is not None and not isinstance(self.cv, Real)

    @property
    def _row_units(self) -> Array | None:
        """The number of each row's group; None if every row is one by itself."""
        return None if self._groups is None else np.unique(self._groups, return_inverse=True)[1]

    # --- new rows ----------------------------------------------------------------------------------------------------

    def _decide(self, X: Any) -> Array:
        """Decision values, one column per machine."""
        X = self._check_new(X)
        with jobs(self.n_jobs):
            return self._machines.decisions(X, self.intercept_ + self._shift)

    def _check_new(self, X: Any) -> Any:
        """New rows as the machines see them."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scaler = vars(self).get("scaler_")
        return X if scaler is None else scaled(X, scaler)

    # --- rows that were held out -------------------------------------------------------------------------------------

    @property
    def _known(self) -> HeldOut:
        """What the fitted model knows of rows that its machines have not seen."""
        check_is_fitted(self)
        return self._held_out

    @property
    def error_criterion_(self) -> str:
        """How rows are held out for :meth:`held_out_error`: "loo" is exact leave-one-out."""
        name = str(self._known.criterion())
        return "loo" if name == "press" else name  # the same, by its name for least squares

    def held_out_decisions(self) -> Array:
        """Decision values of each training row by machines that have not seen it, at the chosen hyper-parameters.

        Returns
        -------
        array of shape (n,), or (n, k) for k > 2 classes
            NaN for rows that ``cv`` never holds out. A lazy Dask array if the model was fitted on Dask collections.
        """
        return self._known.decisions()

    def held_out_error(self) -> float:
        """Weighted held-out error of the choice; ``error_criterion_`` says how rows are held out.

        If the choice was made by an estimate or a bound, it is the exact leave-one-out error up to 3000 samples (1000
        for losses with an elbow), which can take several times as long as ``fit``, and the estimate with more ("span"
        for a bound). It is computed at the first call and kept.

        It is the error of what ``predict`` predicts: where ``threshold_`` is not 0, of the classes above and below it.

        If C is given, a weight of two equals a row given twice whose copies are held out together (``groups``). With
        leave-one-out it does not: if one of two copies is left out, the other stays in the fit.

        Returns
        -------
        float
            The error rate, or the mean squared error of a regression.
        """
        return self._known.error()

    def held_out_interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of :meth:`held_out_error`, as if the hyper-parameters had been given.

        Returns
        -------
        tuple of two floats
        """
        return self._known.interval(self._known.error())

    def loo_error(self) -> float:
        """Exact leave-one-out error of the choice: the fraction of errors, or the mean squared error; unweighted.

        It is that of what ``predict`` predicts, as :meth:`held_out_error` is. Up to 3000 samples (1000 for losses with
        an elbow) it is computed at the first call; with more there is an error, unless the choice was made by it.

        Of rows that are given twice one copy stays in the fit when the other is left out, so that they look easier than
        rows given once with twice the weight.

        Returns
        -------
        float
        """
        return self._known.loo_error()

    def nested_error(self, method: str = "nested", *, n_splits: int | None = None) -> HonestError:
        """Estimate the error of the whole procedure: of tuning and fitting on so many rows, then predicting new ones.

        Parameters
        ----------
        method : {"nested", "bootstrap", "parts"}, default="nested"
            "nested": cross-validation of the whole estimator, its search included; it costs ``n_splits`` fits, each on
            fewer rows. "bootstrap": the held-out error plus the bootstrap estimate of its optimism (BBC-CV); "parts":
            plus Tibshirani and Tibshirani's. Neither lowers the error: where it finds no optimism, ``has_optimism`` of
            the estimate is False. These two need no fit, but see only the pairs that were scored with the machine asked
            for; not for ``rule="one_se"``, bounds, searches by gradient, a ``threshold_`` other than 0,
            and ``scoring`` by scores that are not a mean of losses.
        n_splits : int, optional
            Number of folds of "nested" (10, or fewer if there are fewer rows of a class, or groups), stratified or of
            whole groups, in random order; of "parts", the number of parts. A splitter given as ``cv`` is used for the
            outer folds as well.

        Returns
        -------
        HonestError
            ``value`` and ``interval`` (95 %), among others. It is kept: another call with the same arguments takes no
            time.

        Notes
        -----
        A fold whose training rows are of one class is scored by predicting that class. Warnings of the fits are not
        repeated. Where it lasts, lines on standard error say how far it is. Folds and samples follow
        from ``random_state`` if that is a number, else from 0.

        References
        ----------
        Tsamardinos, Greasidou and Borboudakis (2018); Tibshirani and Tibshirani (2009): see
        :mod:`svmpath.criteria.optimism`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from svmpath import PathSVC
        >>> X, y = load_iris(return_X_y=True)
        >>> model = PathSVC(loss="least_squares", random_state=0).fit(X, y)
        >>> estimate = model.nested_error(n_splits=5)
        >>> estimate.n_fits, estimate.interval[0] < estimate.value < estimate.interval[1]
        (5, True)
        >>> model.nested_error("bootstrap").value >= model.held_out_error()
        True
        """
        with announced():
            return self._known.nested_error(type(self), method, n_splits)

    def can_be_corrected(self) -> bool:
        """Whether ``nested_error("bootstrap")`` is possible: nothing was chosen, or the losses were kept."""
        return self._known.can_be_corrected()

    def held_out_metrics(self) -> dict[str, Any]:
        """What people ask for first, of held-out predictions.

        Returns
        -------
        dict
            Of a regression ``r2``, ``mean_absolute_error``, ``root_mean_squared_error``, and ``below``, the part of
            the targets below their prediction. Of a classification ``accuracy``, ``balanced_accuracy``, the means
            over the classes ``precision``, ``recall`` and ``f1``; ``roc_auc`` and ``average_precision`` (of several
            classes, the mean of each against the rest); ``positive``, of two classes the one that the average precision
            speaks of: ``pos_label``, else the rarer of two words, or the larger of two numbers; and ``per_class``, a
            list of dictionaries. Rows are weighted by ``sample_weight``, and not by ``class_weight``.

        Examples
        --------
        >>> from svmpath import PathSVC
        >>> from svmpath.datasets import banana
        >>> found = PathSVC(random_state=0).fit(*banana(100, random_state=0)).held_out_metrics()
        >>> [row["label"] for row in found["per_class"]], bool(found["roc_auc"] > 0.9)
        ([-1, 1], True)
        """
        return self._known.metrics()

    def importance(
        self,
        *,
        scoring: str | None = None,
        n_repeats: int = 5,
        max_rows: int = DEFAULT_ROWS,
        random_state: int = 0,
    ) -> Importance:
        """How much the held-out loss rises when a column is shuffled: which columns matter, without a refit.

        Every row is predicted by a machine that has not seen it, once as it is, and once with a column taken from
        another row. For least squares, unless rows were held out in folds, that is the machine without the row, by a
        formula; else the machine without its fold (see :meth:`predict_interval` and :meth:`predict_set`). Of two
        columns that say the same each may look idle. For the columns before the first steps of a pipeline, use
        :func:`svmpath.importance`.

        Parameters
        ----------
        scoring : {"log_loss", "error"} or None, default=None
            What is measured: of a classification the log loss of calibrated probabilities, or the error rate, which
            moves in steps; of a regression always the root mean squared error, or the loss of a quantile.
        n_repeats : int, default=5
            Number of permutations of each column.
        max_rows : int, default=2000
            The most rows that are shuffled; if there are more, as many are drawn at random.
        random_state : int, default=0

        Returns
        -------
        Importance
            ``importances_mean``, ``importances_std``, ``intervals`` and ``order``, among others.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from svmpath import PathSVC
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> found = PathSVC(loss="least_squares", random_state=0).fit(X, y).importance()
        >>> [found.feature_names[j] for j in found.order[:2]]
        ['petal length (cm)', 'petal width (cm)']
        """
        known = self._known
        with announced():
            (found,) = known.importance(None, (scoring,), n_repeats, max_rows, random_state)
        names = vars(self).get("feature_names_in_")
        return found if names is None else replace(found, feature_names=[str(name) for name in names])

    # --- in use ------------------------------------------------------------------------------------------------------

    def for_prediction(self) -> Self:
        """A copy with what prediction needs, and no training rows beyond support vectors.

        It predicts as this model does, takes less room and time to save and load, and holds few types, which
        ``skops.io.load`` asks about. What needs the search, the training rows or held-out values
        (``held_out_error()``, ``predict_set``, ``predict_interval``, ...) is refused in a sentence.

        Returns
        -------
        object of the same class
            A fitted model. Least squares has a coefficient for every row, and keeps them all, unless it predicts from
            landmarks; the linear kernel keeps the weights of the columns, and no row.

        Examples
        --------
        >>> from svmpath import PathSVC
        >>> from svmpath.datasets import banana
        >>> X, y = banana(100, random_state=0)
        >>> model = PathSVC(random_state=0).fit(X, y)
        >>> slim = model.for_prediction()
        >>> bool(abs(slim.predict_proba(X) - model.predict_proba(X)).max() < 1e-12)
        True
        >>> slim.held_out_error()
        Traceback (most recent call last):
        ...
        ValueError: This needs the search, the training rows or what was held out of them, which for_prediction() has
        left out: ask the model that it was made from.
        """
        return cast(Self, slim_copy(self))

    def to_sklearn(self) -> Any:
        """The same machine as a model of scikit-learn, where there is one: SVC or SVR.

        Returns
        -------
        SVC or SVR, or a Pipeline of ``scaler_`` and it
            Fitted, with the same decision values. SVC has two classes, or a machine for each pair of them
            (``multi_class_`` "ovo"), and the kernels rbf, linear, poly and sigmoid; everything else is refused in a
            sentence. Probabilities stay behind.

        Examples
        --------
        >>> from svmpath import PathSVC
        >>> from svmpath.datasets import banana
        >>> X, y = banana(100, random_state=0)
        >>> model = PathSVC(gamma=1.0, C=[1.0]).fit(X, y)
        >>> svc = model.to_sklearn()
        >>> bool(abs(svc.decision_function(X) - model.decision_function(X)).max() < 1e-9)
        True
        """
        check_is_fitted(self)
        if "models_" in vars(self):
            raise ValueError("With one_choice=False each quantile has a model of its own: export those in models_.")
        return as_svc(self, self.intercept_ + self._shift)

    def __getattr__(self, name: str) -> Any:  # of names that are not there
        if isinstance(vars(self).get("_machines"), SlimMachines) and not name.startswith("__"):
            raise AttributeError(f"{name} {LEFT_OUT}.")
        return object.__getattribute__(self, name)  # once more: a property says why it has no value

    # --- notebooks ---------------------------------------------------------------------------------------------------

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """The facts of the fitted model before scikit-learn's diagram; none with ``set_config(display="text")``."""
        diagram = super()._repr_html_
        return lambda: self._facts_html() + diagram()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options))
        if "text/html" in bundle:
            bundle["text/html"] = self._facts_html() + bundle["text/html"]
        return bundle

    def _facts_html(self) -> str:
        return str(import_module(_RENDERER).render_estimator(self))


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

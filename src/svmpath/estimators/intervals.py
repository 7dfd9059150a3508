"""Prediction intervals and sets of the estimators, from machines that have not seen a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.conformal import (
    LeftOut,
    Planes,
    fold_machines,
    intervals,
    label_sets,
    leave_one_out_machines,
    ten_folds,
)
from svmpath.criteria.held_out import Folds
from svmpath.criteria.table import make_criterion
from svmpath.estimators.held_out import HeldOutMixin
from svmpath.paths import Path
from svmpath.search import Evaluator
from svmpath.solvers.threads import jobs
from svmpath.validation import check_coverage, one_vs_rest_targets

Array = np.ndarray


class LeftOutMixin(HeldOutMixin):
    """The machines without each sample, or without each fold, at the choice; made when they are first needed.

    A class that uses it has ``_find_left_out``.
    """

    _machines: LeftOut | None = None

    def _forget(self) -> None:
        super()._forget()
        self._machines = None

    def _left_out(self) -> LeftOut:
        if self._machines is None:
            with jobs(self.n_jobs):  # type: ignore[attr-defined]
                self._machines = self._find_left_out()
        return self._machines

    def _find_left_out(self) -> LeftOut:
        raise AssertionError("every estimator has its own")


class IntervalMixin(LeftOutMixin):
    """Prediction intervals."""

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """An interval for the target of each row, by jackknife+ or CV+.

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

        References
        ----------
        .. [1] R. F. Barber, E. J. Candes, A. Ramdas and R. J. Tibshirani, "Predictive inference with the jackknife+",
           Annals of Statistics 49 (2021), 486-507.
        .. [2] R. J. Tibshirani, R. F. Barber, E. J. Candes and A. Ramdas, "Conformal prediction under covariate
           shift", Advances in Neural Information Processing Systems 32 (2019).

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
        coverage = check_coverage(coverage)
        X = self._check_new(X)  # type: ignore[attr-defined]
        left_out, y = self._left_out(), self.path_.problem.y  # type: ignore[attr-defined]
        with jobs(self.n_jobs):  # type: ignore[attr-defined]
            return intervals(left_out, y, X, coverage, self._given_weight)


class SetMixin(LeftOutMixin):
    """Prediction sets."""

    def predict_set(self, X: Any, coverage: float = 0.9) -> Array:
        """The labels that are plausible for each row, by jackknife+ or CV+.

        How badly a label fits a row is measured by minus its margin: the largest decision value of another class minus
        its own (for two classes, minus the decision value, or the decision value). A label is in the set unless too
        many training rows fit better than it would: with E_i the misfit of training row i and E_i(x, y) that of label y
        at the new row, both by a machine that has not seen row i, label y is in the set if

            #{i : E_i < E_i(x, y)} < coverage * (n + 1).

        For least squares the machine is the one without row i, which takes no further fits. For other losses, and for a
        choice by k-fold, it is the one without the fold of row i: the folds of ``cv`` if the choice was made by k-fold,
        else ten, of whole groups if ``fit`` was given groups. These are trained at the first call and kept.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)
        coverage : float, default=0.9
            The probability that a set is meant to contain the label, between 0 and 1.

        Returns
        -------
        bool array of shape (m, k)
            Whether each label, in the order of ``classes_``, is in the set. Several labels mean that the row could be
            of any of them. With a coverage below the accuracy of the machine sets can be empty, for rows on which the
            machine is less sure than it is of most training rows: to cover fewer, it gives up those. With fewer than
            ``coverage / (1 - coverage)`` training rows (9 for 0.9) every label is in every set.

        Notes
        -----
        If the training rows and the new one are exchangeable (independent draws from one distribution, for instance),
        a set contains the label with a probability of at least ``1 - 2 alpha``, where ``alpha = 1 - coverage``
        [1]_, [2]_; it is close to ``1 - alpha`` unless the machine changes much when one row is left out. With k folds
        the guarantee is smaller by at most ``sqrt(2 / n)``. The probability is one over all classes, not one for each:
        the labels of a rare class can be missed more often. The theorem takes the machine as given: that C, gamma,
        landmarks and the scale of the columns were chosen on the same rows is not covered. Nor are rows that belong to
        groups or to a time order.

        ``sample_weight`` weights rows as in :meth:`svmpath.PathSVR.predict_interval`. ``class_weight`` is part of the
        machine only: the coverage is that on rows as they were given.

        References
        ----------
        .. [1] Y. Romano, M. Sesia and E. J. Candes, "Classification with valid and adaptive coverage", Advances in
           Neural Information Processing Systems 33 (2020).
        .. [2] R. F. Barber, E. J. Candes, A. Ramdas and R. J. Tibshirani, "Predictive inference with the jackknife+",
           Annals of Statistics 49 (2021), 486-507.

        Examples
        --------
        >>> import numpy as np
        >>> from svmpath import PathSVC
        >>> from svmpath.datasets import gaussian_mixture
        >>> X, y = gaussian_mixture(400, np.random.default_rng(0))
        >>> model = PathSVC(loss="least_squares", random_state=0).fit(X[:200], y[:200])
        >>> is_in = model.predict_set(X[200:], coverage=0.9)
        >>> of_label = is_in[np.arange(200), np.searchsorted(model.classes_, y[200:])]
        >>> is_in.shape, bool(of_label.mean() > 0.83)
        ((200, 2), True)
        """
        coverage = check_coverage(coverage)
        X = self._check_new(X)  # type: ignore[attr-defined]
        left_out, code = self._left_out(), self._code  # type: ignore[attr-defined]
        with jobs(self.n_jobs):  # type: ignore[attr-defined]
            return label_sets(left_out, code, X, coverage, self._given_weight)


def kernel_machines(model: Any, labels: Array) -> LeftOut:
    """The machines of :class:`svmpath.PathSVC` and :class:`svmpath.PathSVR` without each sample, or each fold.

    ``labels`` are the targets, or the position of each label in ``classes_``.
    """
    path, C, is_classification = model.path_, model.C_, model._task == "classification"
    targets = [labels] if not is_classification else one_vs_rest_targets(labels, len(model.classes_))
    folds = _folds_of(model, labels) if model.curve_.criterion == "kfold" or model._groups is not None else None
    if folds is None:
        found = leave_one_out_machines(path, C, np.stack(targets, axis=1))
        if found is not None:
            return found
        folds = _folds_of(model, labels)
    problems = [replace(path.problem, y=target) for target in targets]
    evaluator = Evaluator(problems, path.loss, make_criterion("loo"), tol=model.tol_)
    # A path from C to C: nothing else is walked through.
    paths = evaluator.paths(path.gram, (C, C), path.store)
    return fold_machines(paths, [C] * len(paths), folds)


def linear_machines(model: Any, paths: Sequence[Path], values: Sequence[float]) -> LeftOut:
    """The machines of :class:`svmpath.ElasticNetSVC` without each fold, by a path per fold and class."""
    return fold_machines(paths, values, _folds_of(model, model._code), Planes.of)


def _folds_of(model: Any, labels: Array) -> Folds:
    """The folds that the choice was made by; or others, if it was not made by folds."""
    if model.curve_.criterion == "kfold" and model._drawn is not None:
        return model._drawn
    kind: dict[str, Any] = {"is_classification": hasattr(model, "classes_"), "groups": model._groups}
    problem = model.path_.problem
    return ten_folds(problem.gram.X, labels, **kind, s=problem.s, pairwise=problem.gram.kernel.pairwise)

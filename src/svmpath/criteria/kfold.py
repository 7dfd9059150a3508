"""Exact k-fold cross-validation along a path, for any loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve, HeldOutLoss, check_values
from svmpath.criteria.folds import make_folds
from svmpath.criteria.held_out import fold_numbers, leave_folds_out
from svmpath.paths import Path
from svmpath.validation import draw_seed

_LAST_DIGITS = 1e-14  # relative; the largest nu of a fold and of all samples may be one number, but for these


def kfold(
    path: Path, values: Any, *, cv: Any = 5, groups: Any = None, loss: HeldOutLoss = None, random_state: Any = None
) -> Curve:
    """Exact cross-validation along a path: least squares without refitting, other losses with one path per fold.

    Parameters
    ----------
    path : Path
        A path of any loss over any parameter. The landmarks of a low-rank kernel are the same in all folds.
    values : float or array of shape (m,)
        Values of the path's parameter.
    cv : int, splitter or iterable of (train, test), default=5
        A number of folds, any splitter of scikit-learn, or the splits. A number means folds at random that are alike:
        stratified by class, or for a regression by quantiles of y. They depend on what the rows hold, not on their
        order.
    groups : array of shape (n,), optional
        For splitters that need groups.
    loss : {"error", "squared", "squared_hinge", "logistic", "sigmoid"} or callable, optional
        As in :func:`svmpath.criteria.press`.
    random_state : int, RandomState or None
        Random seed for a number of folds; None stands for 0.

    Returns
    -------
    Curve
        Its scores are means over the held-out samples of all folds.

    See Also
    --------
    svmpath.criteria.loo : Exact leave-one-out.
    svmpath.criteria.leave_folds_out : Held-out decision values, fold by fold.
    svmpath.select : Choose a value on a curve.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.sign(X[:, 0] + 0.3 * rng.normal(size=60))
    >>> path = svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2))
    >>> criteria.kfold(path, [0.1, 1.0, 10.0], cv=5).scores.shape
    (3,)
    """
    values, problem = check_values(path, values), path.gathered.problem
    X, every, s = problem.gram.contents(), np.arange(problem.n), problem.s
    splits = make_folds(
        cv,
        X,
        problem.y if problem.y.ndim == 1 else np.argmax(problem.y, axis=1),
        is_classification=problem.task == "classification",
        groups=groups,
        s=s,
        seed=draw_seed(random_state),
        pairwise=problem.gram.kernel.pairwise,
    )
    folds = [(every[train], every[test]) for train, test in splits]
    if not folds:
        raise ValueError("cv must give at least one (train, test) pair, but it gives none.")
    for train, _ in folds:
        if len(np.unique(train)) < len(train):
            raise ValueError("A split of cv has the same row twice in its training part; use sample weights instead.")
        if not s[train].any():
            raise ValueError("The training part of a fold has no sample of positive weight; use fewer folds.")
    largest = min(path.loss.largest(path.over, problem.y[train], s[train]) for train, _ in folds)
    if values.max() > largest * (1.0 + _LAST_DIGITS):
        raise ValueError(
            f"{path.over} = {values.max():.6g} is infeasible for the training part of a fold: with these folds it is "
            f"at most {largest:.6g} (twice the fraction of the smaller class)."
        )
    curve = leave_folds_out(path, values, folds).curve(path, "kfold", values, loss)
    return replace(curve, splits=fold_numbers(folds))

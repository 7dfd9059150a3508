"""What scikit-learn's Pipeline does not hand on to its last step: intervals, label sets and importance.

A pipeline knows the names of a few methods only. These functions take its rows through the first steps, and then ask
the model at its end; they take a model alone, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from svmpath.criteria.importance import Importance, Shuffled
from svmpath.estimators.held_out import DEFAULT_ROWS
from svmpath.progress import announced

Array = np.ndarray


def split_pipeline(model: Any, needed: str) -> tuple[Any, Callable[[Any], Any]]:
    """The model at the end of a pipeline, and what takes rows to it; a model alone takes them as they are.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from svmpath import PathSVR
    >>> from svmpath.estimators.pipelines import split_pipeline
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = make_pipeline(StandardScaler(), PathSVR(C=1.0, gamma=1.0)).fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> last, take = split_pipeline(model, "predict_interval")
    >>> type(last).__name__, float(take(X).sum())
    ('PathSVR', 0.0)
    """
    is_pipeline = isinstance(model, Pipeline)
    last = model[-1] if is_pipeline else model
    if not hasattr(type(last), needed):
        raise TypeError(
            f"{needed} needs a fitted model of svmpath that has it, or a pipeline that ends with one, not "
            f"{type(last).__name__}."
        )
    check_is_fitted(last)
    steps = model[:-1] if is_pipeline and len(model) > 1 else None
    return last, (lambda X: X) if steps is None else steps.transform


def predict_interval(model: Any, X: Any, coverage: float = 0.9, **options: Any) -> Array:
    """Prediction intervals of a model, or of a pipeline that ends with one.

    Parameters
    ----------
    model : PathSVR, or a Pipeline that ends with one
        Fitted.
    X : array, DataFrame or CSR matrix of shape (m, d)
        As the pipeline takes them.
    coverage : float, default=0.9
        The probability that an interval is meant to contain the target.
    **options
        Further arguments of :meth:`svmpath.PathSVR.predict_interval`.

    Returns
    -------
    array of shape (m, 2)
        Lower and upper ends.

    See Also
    --------
    svmpath.PathSVR.predict_interval : The method, with what is guaranteed.
    svmpath.predict_set : The same for classes.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 600, (100, 1)); y = np.sin(X[:, 0] / 100) + 0.2 * rng.normal(size=100)
    >>> model = make_pipeline(StandardScaler(), svmpath.PathSVR(random_state=0)).fit(X, y)
    >>> svmpath.predict_interval(model, X[:5], coverage=0.8).shape
    (5, 2)
    """
    last, take = split_pipeline(model, "predict_interval")
    return np.asarray(last.predict_interval(take(X), coverage, **options))


def predict_set(model: Any, X: Any, coverage: float = 0.9) -> Array:
    """Which labels are plausible for each row, by a model, or by a pipeline that ends with one.

    Parameters
    ----------
    model : PathSVC or ElasticNetSVC, or a Pipeline that ends with one
        Fitted.
    X : array, DataFrame or CSR matrix of shape (m, d)
        As the pipeline takes them.
    coverage : float, default=0.9
        The probability that a set is meant to contain the label.

    Returns
    -------
    array of bool of shape (m, k)
        One column per class, in the order of ``classes_``.

    See Also
    --------
    svmpath.PathSVC.predict_set : The method, with what is guaranteed.
    svmpath.predict_interval : The same for a regression.

    Examples
    --------
    >>> import svmpath
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), svmpath.PathSVC(loss="least_squares", random_state=0)).fit(X, y)
    >>> svmpath.predict_set(model, X[:5]).sum(axis=1).tolist()
    [1, 1, 1, 1, 1]
    """
    last, take = split_pipeline(model, "predict_set")
    return np.asarray(last.predict_set(take(X), coverage))


def importance(
    model: Any,
    X: Any,
    *,
    scoring: str | None = None,
    n_repeats: int = 5,
    max_rows: int = DEFAULT_ROWS,
    random_state: int = 0,
) -> Importance:
    """How much the held-out loss rises when a column is shuffled, for a model or a pipeline that ends with one.

    With a pipeline the columns are those of X: what its first steps make of one column moves together, such as the
    indicators of a category.

    Parameters
    ----------
    model : PathSVC, PathSVR or ElasticNetSVC, or a Pipeline that ends with one
        Fitted.
    X : array, DataFrame or CSR matrix of shape (n, d)
        The rows that it was fitted to, in the same order.
    scoring, n_repeats, max_rows, random_state
        As in :meth:`svmpath.PathSVC.importance`.

    Returns
    -------
    Importance
        ``importances_mean``, ``importances_std``, ``intervals`` and ``feature_names``, among others.

    See Also
    --------
    svmpath.PathSVC.importance : The same of the columns that the machine sees.

    Examples
    --------
    >>> import numpy as np, pandas as pd, svmpath
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"size": rng.normal(size=90), "kind": rng.choice(["a", "b", "c"], 90)})
    >>> y = X["size"] + 2.0 * (X["kind"] == "b") + 0.1 * rng.normal(size=90)
    >>> columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["kind"]))
    >>> found = svmpath.importance(make_pipeline(columns, svmpath.PathSVR(random_state=0)).fit(X, y), X)
    >>> found.feature_names, bool((found.intervals[:, 0] > 0).all())
    (['size', 'kind'], True)
    """
    last, take = split_pipeline(model, "importance")
    X = X if hasattr(X, "shape") and len(X.shape) == 2 else np.atleast_2d(np.asarray(X))
    X = X.tocsr() if hasattr(X, "tocsr") else X
    names = getattr(X, "columns", None)
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else [str(name) for name in names]
    data = Shuffled(X, names, lambda rows: last._check_new(take(rows)))
    with announced():
        (found,) = last._known.importance(data, (scoring,), n_repeats, max_rows, random_state)
    return found

"""``KernelDictionary``: kernel values of several widths as features, for a machine that selects among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath.estimators.axes import numbers_of
from svmpath.estimators.keywords import by_name
from svmpath.kernels import gamma_value, make_kernel
from svmpath.row_order import random_order
from svmpath.validation import check_positive, draw_seed

Array = np.ndarray

_POWERS = (-2, 0, 2)  # gamma="scale" times 4 to these powers


class KernelDictionary(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Columns k(x, c) for centres c among the training rows, one block of columns per kernel width.

    Together with :class:`svmpath.ElasticNetSVC` it makes a sparse kernel machine with several widths: the l1 penalty
    selects a few of the columns.

    Parameters
    ----------
    gamma : "tune", float or array, default="tune"
        The widths, as in exp(-gamma ||x - c||^2); "tune" uses scikit-learn's "scale" times 1/16, 1 and 16.
    kernel : str or Kernel, default="rbf"
        A kernel with the parameter gamma.
    max_centres : int, default=500
        Use all training rows as centres, or this many of them drawn at random if there are more.
    random_state : int, RandomState or None
        Random seed for the centres, if there are more rows than ``max_centres``; None stands for 0.

    Attributes
    ----------
    centres_ : array or CSR matrix of shape (m, d)
    gammas_ : array
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    svmpath.ElasticNetSVC : Linear classifier that selects features.
    svmpath.kernels.make_kernel : A kernel by its name.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> from svmpath import ElasticNetSVC, KernelDictionary
    >>> X, y = make_circles(80, noise=0.1, factor=0.4, random_state=0)
    >>> model = make_pipeline(KernelDictionary(gamma=[0.5, 4.0]), ElasticNetSVC(lambda2=1.0, cv=3)).fit(X, y)
    >>> model.score(X, y) > 0.95, model[-1].coef_.shape
    (True, (1, 160))
    """

    @by_name("gamma=[0.5]")
    def __init__(
        self, *, gamma: Any = "tune", kernel: Any = "rbf", max_centres: int = 500, random_state: Any = None
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.max_centres = max_centres
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> KernelDictionary:
        """Choose the centres."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if not isinstance(self.max_centres, (int, np.integer)) or self.max_centres < 1:
            raise ValueError(f"max_centres must be a positive whole number, got {self.max_centres!r}.")
        if isinstance(self.gamma, str):
            if self.gamma != "tune":
                raise ValueError(f"gamma must be 'tune', a positive number or a list of them, got {self.gamma!r}.")
            self.gammas_ = gamma_value("scale", X) * 4.0 ** np.array(_POWERS)
        else:
            self.gammas_ = numbers_of(self.gamma, "gamma", len(_POWERS), check_positive)
        make_kernel(self.kernel, gamma=float(self.gammas_[0]), X=X).resolve("gamma")  # refuses a kernel without one
        n = X.shape[0]
        rows = np.arange(n)
        if n > self.max_centres:
            rows = np.sort(random_order(X, seed=draw_seed(self.random_state))[: self.max_centres])
        self.centres_ = X[rows]
        self._n_features_out = len(rows) * len(self.gammas_)
        return self

    def transform(self, X: Any) -> Array:
        """The kernel columns; those of the first width come first."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        kernels = [make_kernel(self.kernel, gamma=float(gamma), X=self.centres_) for gamma in self.gammas_]
        return np.hstack([np.asarray(kernel(X, self.centres_)) for kernel in kernels])

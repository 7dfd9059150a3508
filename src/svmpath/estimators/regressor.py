"""``PathSVR``: a support vector regressor that chooses its own C and gamma."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from svmpath.estimators._base import Array, PathMachine
from svmpath.solvers.threads import jobs
from svmpath.validation import check_weights


class PathSVR(RegressorMixin, PathMachine):
    """Support vector regressor that chooses C and gamma in ``fit``, by exact leave-one-out.

    Parameters
    ----------
    loss : {"least_squares", "epsilon_insensitive"} or Loss, optional
        Least squares by default. ``losses.EpsilonInsensitive(0.3)`` has its own epsilon.
    kernel, gamma, C, degree, coef0
        As in :class:`svmpath.PathSVC`.
    epsilon : float, "tune" or list, default=0.1
        For "epsilon_insensitive": half the width of the tube; "tune" tries five values from 0.01 to 1 times the
        standard deviation of y.
    criterion : {"auto", "loo", "press", "alo", "kfold"} or callable, default="auto"
        What to minimise: exact leave-one-out ("loo"; "press" is its name for least squares), its approximation for
        "epsilon_insensitive" ("alo" or "span"), exact k-fold ("kfold"), or a function
        ``criterion(path, values, loss=...) -> Curve``. "auto" is "loo" for least squares; for "epsilon_insensitive" it
        is "loo" up to 200 samples and "kfold" with more, or if ``tol`` is given.
    criterion_loss : "squared" or callable, optional
        Per-sample loss of the criterion; the squared residual by default.
    rule, search, cv, rank, landmarks, psd, tol, n_jobs, verbose, random_state
        As in :class:`svmpath.PathSVC`.

    Attributes
    ----------
    C_, gamma_, epsilon_ : float
        The choice; ``gamma_`` is None for a kernel without gamma and an array of shape (d,) for ``gamma="ard"``;
        ``epsilon_`` exists only for "epsilon_insensitive".
    loo_error_ : float
        Held-out mean squared error of the choice under ``criterion``; for "alo" it is the exact leave-one-out error up
        to 1000 samples.
    error_criterion_ : str
        How ``loo_error_`` was computed: "loo" (exact), "alo" or "kfold".
    loss_ : str
        The loss of the machine.
    criterion_ : str or callable
        The criterion that was minimised; if ``criterion="auto"``, the one that was used.
    tol_, choice_, curve_, path_, kernel_, support_, dual_coef_, intercept_, n_features_in_, feature_names_in_
        As in :class:`svmpath.PathSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmpath import PathSVR
    >>> X = np.linspace(0, 6, 80)[:, None]; y = np.sin(X[:, 0])
    >>> PathSVR().fit(X, y).score(X, y) > 0.999
    True
    """

    _task = "regression"

    def __init__(
        self,
        loss: str | None = None,
        kernel: Any = "rbf",
        gamma: Any = "tune",
        C: Any = "tune",
        epsilon: Any = 0.1,
        *,
        degree: int = 3,
        coef0: float = 0.0,
        criterion: Any = "auto",
        criterion_loss: Any = None,
        rule: str = "min",
        search: str = "grid",
        cv: Any = 5,
        rank: Any = None,
        landmarks: Any = None,
        psd: str = "warn",
        tol: float | str | None = "auto",
        n_jobs: int | None = None,
        verbose: Any = 0,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
        self.epsilon = epsilon
        self.degree = degree
        self.coef0 = coef0
        self.criterion = criterion
        self.criterion_loss = criterion_loss
        self.rule = rule
        self.search = search
        self.cv = cv
        self.rank = rank
        self.landmarks = landmarks
        self.psd = psd
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PathSVR:
        """Choose C and gamma, and fit.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (n, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Multiplies C for each sample, and weights the held-out errors.
        """
        X, y = self._check_training(X, y, y_numeric=True)
        s = check_weights(sample_weight, X)
        with jobs(self.n_jobs):
            self._fit(X, [np.asarray(y, dtype=float)], s, y)
        return self

    def predict(self, X: Any) -> Array:
        """The predicted value of each row."""
        return self._decide(X)[:, 0]

"""``PathSVC``: a support vector classifier that chooses its own C and gamma."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from svmpath.estimators._base import Array, PathMachine
from svmpath.solvers.threads import jobs
from svmpath.validation import check_weights, encode_classes, one_vs_rest_targets


class PathSVC(ClassifierMixin, PathMachine):
    """Support vector classifier that chooses C and gamma in ``fit``, by leave-one-out along paths over C.

    Parameters
    ----------
    loss : {"squared_hinge", "least_squares", "hinge", "huber_hinge"} or Loss, optional
        The l2-SVM (the default), in which samples beyond the margin have coefficient zero; the least squares machine
        (LS-SVM), which is several times faster to fit and in which every sample has a coefficient; the C-SVM of
        scikit-learn's SVC, which has the fewest support vectors; or the hinge with a rounded kink. An object of
        ``svmpath.losses`` has its own parameters: ``HuberHinge(h=0.2)``.
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        A name in ``svmpath.kernels.KERNELS`` ("linear", "poly", ...), a kernel object or a function k(X, Z).
    gamma : "tune", float, "scale", "auto", (low, high), list or "ard", default="tune"
        "tune" tries nine values around "scale", a factor of 4 apart, then the values halfway between the best and its
        neighbours. A tuple is a range that is searched in the same way; a list holds the values to try. None uses a
        kernel object as it is; a kernel without gamma is always used as it is. "ard" finds one gamma per feature by
        gradient descent, if cross-validation shows that this helps (rbf kernel with the full kernel matrix, squared
        hinge or least squares).
    C : "tune", float, (low, high) or list, default="tune"
        "tune" scores 22 values from 1e-3 to 1e4, 46 from 1e-3 to 1e6 for least squares, 19 from 1e-3 to 1e3 for the
        hinge and the huberised hinge.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    criterion : {"auto", "loo", "press", "span", "alo", "kfold", ...} or callable, default="auto"
        What to minimise: exact leave-one-out ("loo"; "press" is its name for least squares), its prediction from
        the spans ("span"; for the hinge also called "alo"), exact k-fold ("kfold"), a bound on the number of errors
        ("radius_margin" for the squared hinge, "xi_alpha" and "span_bound" for the hinge; two classes only), or a
        function ``criterion(path, values, loss=...) -> Curve``. "auto" is "loo" for least squares; "span" for the
        squared hinge, where exact leave-one-out costs several times as much as the path; and for the hinge "loo" up
        to 500 samples and "kfold" with more, or if ``tol`` is given; and "kfold" for the huberised hinge.
    criterion_loss : {"error", "squared", "squared_hinge", "logistic", "sigmoid"} or callable, optional
        Per-sample loss of the criterion; the last three are smooth replacements for the error. Default: the error,
        with ties broken by the squared held-out residual; the squared residual for ``search="continuous"`` and
        ``search="gradient"``.
    rule : {"min", "one_se"}, default="min"
        How a value is chosen on the curve; see :func:`svmpath.select`.
    search : {"grid", "continuous", "gradient"}, default="grid"
        "grid" scores a grid of values; "continuous" minimises over (log gamma, log C) along paths over C; "gradient"
        minimises with the gradient of the held-out score (squared hinge and least squares with the full kernel matrix;
        see :func:`svmpath.criteria.gradient`).
    cv : int, splitter or iterable, default=5
        For ``criterion="kfold"``.
    rank, landmarks, psd
        Low-rank kernels, such as ``rank="auto"`` or ``rank=svmpath.gram.RandomFourier(300)``, and indefinite kernels;
        see :func:`svmpath.trace`.
    tol : float, "auto" or None, default="auto"
        For the hinge with many samples: the largest relative duality gap of the paths; see :func:`svmpath.trace`. With
        few samples exact paths take less time, and are used anyway. "auto" means exact paths up to 20 000 samples and
        1e-3 with more. None means exact paths.
    class_weight : dict or "balanced", optional
    n_jobs : int, optional
        Number of threads, as in scikit-learn. They score several values of gamma in parallel or, if there is only one
        kernel, are BLAS threads for large matrices. None means one thread, unless
        ``joblib.parallel_config(n_jobs=...)`` sets another number.
    verbose : int or callable, default=0
        Print progress, or call ``verbose(done, total)``.
    random_state : int, RandomState or None
        Random seed for landmarks or random features, and for the random starts and folds of a gradient search.

    Attributes
    ----------
    C_, gamma_ : float
        The choice; ``gamma_`` is None for a kernel without gamma, and an array of shape (d,) for ``gamma="ard"``.
    loo_error_ : float
        Held-out error rate of the choice. It is the k-fold error for "kfold" and the exact leave-one-out error for
        "loo". If the choice was made by an estimate or a bound, it is the exact leave-one-out error up to 3000 samples
        (1000 for the hinge), and the estimate or bound itself with more.
    error_criterion_ : str
        How ``loo_error_`` was computed: "loo" (exact), "span", "kfold", ...
    loss_ : str
        The loss of the machine; its own parameters have names of the same form (``h_`` for "huber_hinge").
    tol_ : float or None
        The relative duality gap of the paths; None if they are exact.
    criterion_ : str or callable
        The criterion that was minimised; if ``criterion="auto"``, the one that was used.
    choice_ : Choice
        The choice; with several classes, its ``solution`` is that of the first class against the rest.
    curve_ : Curve
        The scores over C at the chosen gamma.
    path_ : Path
        The path over C at the chosen gamma; with several classes, that of the first class against the rest.
    kernel_ : Kernel
        The kernel at the chosen gamma.
    classes_ : array of shape (k,)
    support_ : array of int
        Indices of the support vectors: the samples with a non-zero coefficient.
    dual_coef_ : array of shape (1 or k, n_support)
        Signed dual coefficients; one row per class if there are more than two.
    intercept_ : array of shape (1 or k,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    With several classes, each class is trained against the rest; all machines share C, gamma and the work on the
    kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmpath import PathSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PathSVC().fit(X, y)
    >>> model.loo_error_ < 0.05, model.score(X, y) > 0.95
    (True, True)
    """

    _task = "classification"

    def __init__(
        self,
        loss: str | None = None,
        kernel: Any = "rbf",
        gamma: Any = "tune",
        C: Any = "tune",
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
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
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
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PathSVC:
        """Choose C and gamma, and fit.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (n, d)
        y : array of shape (n,)
            Labels of any kind.
        sample_weight : array of shape (n,), optional
            Multiplies C for each sample, and weights the held-out errors.
        """
        X, y = self._check_training(X, y)
        self.classes_, code = encode_classes(y)
        s = check_weights(sample_weight, X, self.class_weight, self.classes_, code)
        with jobs(self.n_jobs):
            self._fit(X, one_vs_rest_targets(code, len(self.classes_)), s, y)
        return self

    def decision_function(self, X: Any) -> Array:
        """Decision values: shape (m,) for two classes, positive for ``classes_[1]``; shape (m, k) for k classes."""
        f = self._decide(X)
        return f[:, 0] if len(self.classes_) == 2 else f

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else np.argmax(f, axis=1)]

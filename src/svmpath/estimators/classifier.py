"""``PathSVC``: a support vector classifier that chooses C and gamma by itself."""

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
        The l2-SVM (the default), whose samples beyond the margin have no coefficient; the least squares machine, which
        fits several times faster and uses every sample; the C-SVM of scikit-learn's SVC, with the fewest
        coefficients; or the hinge with its kink rounded off. An object of ``svmpath.losses`` has parameters of its own:
        ``HuberHinge(h=0.2)``.
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        A name of ``svmpath.kernels.KERNELS`` ("linear", "poly", ...), a kernel object or a function k(X, Z).
    gamma : "tune", float, "scale", "auto", (low, high), list or "ard", default="tune"
        "tune" tries nine values around "scale", a factor of 4 apart, then those halfway from the best to its
        neighbours; a tuple is a span to be searched in the same way; a list holds the values to try. None leaves a
        kernel object as it is. Kernels without gamma are left as they are, too. "ard" finds one gamma per feature by
        gradient (rbf kernel held whole, squared hinge or least squares), as far as held-out folds say that this helps.
    C : "tune", float, (low, high) or list, default="tune"
        "tune" scores 22 values from 1e-3 to 1e4, 46 from 1e-3 to 1e6 for least squares, 19 from 1e-3 to 1e3 for the
        hinge and the huberised hinge.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant of the "poly" and "sigmoid" kernels.
    criterion : {"auto", "loo", "press", "span", "alo", "kfold", ...} or callable, default="auto"
        What is minimised: exact leave-one-out ("loo"; "press" is its name for least squares), its approximation from
        the spans ("span"; for the hinge also called "alo"), exact k-fold, or a bound on the number of errors
        ("radius_margin" for the squared hinge, "xi_alpha" and "span_bound" for the hinge; two classes only), or
        ``criterion(path, values, loss=...) -> Curve``. "auto" is "loo" for least squares, "span" for the squared
        hinge, where exact leave-one-out costs several times the path, and for the hinge "loo" up to 500 samples and
        "kfold" beyond, or if ``tol`` is given, and "kfold" for the huberised hinge.
    criterion_loss : {"error", "squared", "squared_hinge", "logistic", "sigmoid"} or callable, optional
        Per-sample loss of the criterion; the last three are smooth stand-ins for the error. Default: the error, with
        ties broken by the squared held-out residual; the squared residual for ``search="continuous"`` and "gradient".
    rule : {"min", "one_se"}, default="min"
        How a value is chosen on the curve; see :func:`svmpath.select`.
    search : {"grid", "continuous", "gradient"}, default="grid"
        Score the values as they are, or minimise over (log gamma, log C): along paths over C, or by the gradient of
        the held-out score (squared hinge and least squares, kernel held whole; see :func:`svmpath.criteria.gradient`).
    cv : int, splitter or iterable, default=5
        For ``criterion="kfold"``.
    rank, landmarks, psd
        Low-rank kernel, ``rank="auto"`` or ``rank=svmpath.gram.RandomFourier(300)`` say, and indefinite kernels; see
        :func:`svmpath.trace`.
    tol : float, "auto" or None, default="auto"
        For the hinge with many samples: paths to this relative duality gap; see :func:`svmpath.trace`. With few samples
        exact paths take less time and are used all the same. "auto" is exact up to 20 000 samples and 1e-3 beyond;
        None is exact.
    class_weight : dict or "balanced", optional
    n_jobs : int, optional
        Number of threads, as in scikit-learn: values of gamma scored side by side, or, where there is one kernel only,
        threads of BLAS for large matrices. None is one thread, or what ``joblib.parallel_config(n_jobs=...)`` says.
    verbose : int or callable, default=0
        Print progress, or call ``verbose(done, total)``.
    random_state : int, RandomState or None
        For the choice of landmarks, and for the random starts and folds of a gradient search.

    Attributes
    ----------
    C_, gamma_ : float
        The choice; ``gamma_`` is None for a kernel without gamma, and an array of shape (d,) for ``gamma="ard"``.
    loo_error_ : float
        Held-out error rate of the choice: exact leave-one-out for "loo" and, up to 3000 samples (1000 for the hinge),
        wherever it was chosen by an estimate or a bound; the estimate or the bound beyond; the k-fold error for
        "kfold".
    error_criterion_ : str
        Which of them it is: "loo" (exact), "span", "kfold", ...
    loss_ : str
        The loss of the machine.
    tol_ : float or None
        The relative duality gap of the paths; None where they are exact.
    criterion_ : str or callable
        What was minimised; what "auto" meant.
    choice_ : Choice
        With several classes its ``solution`` is that of the first class against the rest.
    curve_ : Curve
        The scores over C at the chosen gamma.
    path_ : Path
        The path over C at the chosen gamma; with several classes that of the first class against the rest.
    kernel_ : Kernel
        The kernel at the chosen gamma.
    classes_ : array of shape (k,)
    support_ : array of int
        Samples with a non-zero coefficient.
    dual_coef_ : array of shape (1 or k, n_support)
        Signed coefficients; one row per class when there are more than two.
    intercept_ : array of shape (1 or k,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Several classes are handled one against the rest; all machines share C, gamma and what is computed of the kernel.

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
            Multiplies C sample by sample, and weighs the held-out errors.
        """
        X, y = self._check_training(X, y)
        self.classes_, code = encode_classes(y)
        s = check_weights(sample_weight, X, self.class_weight, self.classes_, code)
        with jobs(self.n_jobs):
            self._fit(X, one_vs_rest_targets(code, len(self.classes_)), s, y)
        return self

    def decision_function(self, X: Any) -> Array:
        """Decision values: (m,) for two classes, positive for ``classes_[1]``; else (m, k)."""
        f = self._decide(X)
        return f[:, 0] if len(self.classes_) == 2 else f

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else np.argmax(f, axis=1)]

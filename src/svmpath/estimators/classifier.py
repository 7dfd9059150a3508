"""``PathSVC``: a support vector classifier that chooses its own C and gamma."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from svmpath.chunked import is_chunked
from svmpath.criteria.calibration import check_method
from svmpath.criteria.frozen import predicted_codes
from svmpath.criteria.recall import Recall
from svmpath.estimators._base import Array, PathMachine
from svmpath.estimators.cautions import warn_of_a_weak_model
from svmpath.estimators.chunks import fit_chunks, in_memory, lazy_for_chunks
from svmpath.estimators.keywords import by_name
from svmpath.estimators.machines import squeezed
from svmpath.estimators.probabilities import CalibrationCurve
from svmpath.estimators.scoring import check_threshold, fit_threshold, resolve_scoring
from svmpath.estimators.tuned import unchanged_by_failure
from svmpath.gram import Approximation
from svmpath.kernels import Kernel
from svmpath.losses import Loss
from svmpath.ranges import Range
from svmpath.solvers.threads import jobs
from svmpath.validation import check_weights, encode_classes, one_vs_rest_targets


class PathSVC(ClassifierMixin, PathMachine):
    """Support vector classifier that chooses C and gamma in ``fit``, by held-out error.

    ``PathSVC().fit(X, y)`` needs no grid and no outer loop. Most users set ``scale=True`` (columns in different units),
    ``class_weight``, ``scoring``, ``random_state`` and ``n_jobs``; the first four parameters say what is searched. All
    parameters are given by name.

    Parameters
    ----------
    loss : {"squared_hinge", "least_squares", "hinge", "huber_hinge"} or Loss, optional
        The l2-SVM, in which samples beyond the margin have coefficient zero; the least squares machine (LS-SVM), which
        is several times faster to fit and in which every sample has a coefficient; the C-SVM of scikit-learn's SVC,
        which has the fewest support vectors; or the hinge with a rounded kink. An object of ``svmpath.losses`` has its
        own parameters: ``HuberHinge(h=0.2)``. By default it is the squared hinge for two classes; for more, the
        default search tries least squares and the squared hinge and keeps the one with the lower held-out error
        (other searches, and a ``criterion`` of your own, use the squared hinge).
    kernel : str, Kernel, sklearn.gaussian_process.kernels.Kernel or callable, default="rbf"
        A name in ``svmpath.kernels.KERNELS`` ("linear", "poly", ...), a kernel object or a function k(X, Z), which is
        given CSR matrices if X is sparse.
    gamma : "tune", float, "scale", "auto", "ard", Range or array, default="tune"
        "tune" tries nine values around "scale", a factor of 4 apart, then the values halfway between the best and its
        neighbours; if the best is an end, the default search goes on beyond it, by a factor of up to 256. A
        ``svmpath.Range(low, high)`` is searched in the same way, but not left; a list, tuple or array holds the values
        to try. None uses a kernel object as it is. A kernel or function without gamma is always used as it is: as in
        scikit-learn, gamma is ignored.
        "ard" finds one gamma per feature by gradient descent, if cross-validation shows that this helps (rbf kernel
        with the full kernel matrix, squared hinge or least squares).
    C : "tune", float, Range or array, default="tune"
        "tune" screens 28 values from 1e-3 to 1e6. What is confirmed may go beyond them if the best is an end: from 1e-5
        to 1e5 for the squared hinge, 1e6 for least squares (and for both with several classes), and 1e4 for the hinge
        and the huberised hinge. Other
        searches score 22 values from 1e-3 to 1e4, 46 up to 1e6 for least squares, and 19 up to 1e3 for the hinge and
        the huberised hinge.
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
        to 500 samples and "kfold" with more; and for the huberised hinge "kfold" with more than
        20.
    scoring : str, scorer or callable, optional
        What a held-out decision value is worth. By default it is the error, with ties broken by the squared residual
        (the squared residual alone for ``search="gradient"``). Another loss is minimised: "error", "squared",
        "squared_hinge", "logistic", "sigmoid", or a function ``loss(y, f)`` of labels -1 and +1 and decision values.
        A score of scikit-learn is maximised: a name such as "f1", "roc_auc", "balanced_accuracy" or "neg_log_loss"
        (``sklearn.metrics.get_scorer_names()``), a scorer of ``make_scorer``, or a function
        ``scoring(estimator, X, y)``. It is evaluated on all held-out decision values together, with the weights of the
        rows; see :func:`svmpath.criteria.score`. No such score for ``search="gradient"``, ``gamma="ard"`` and bounds.
    rule : {"auto", "min", "one_se"}, default="auto"
        How a value is chosen on the curve; see :func:`svmpath.select`. With "auto", where the score is the
        error, half the held-out loss of the machine itself counts beside it: a few errors more or less are chance.
    search : {"auto", "grid", "gradient"}, default="auto"
        "auto" screens many pairs of C and gamma and confirms a few (see Notes). "grid" is the exhaustive alternative:
        it scores the requested machine at every value of C, for every gamma; over a ``Range``, with a smooth loss as
        ``scoring``, it then minimises over (log gamma, log C) between these values. "gradient" minimises with the
        gradient of the held-out score (squared hinge and least squares with the full kernel matrix; see
        :func:`svmpath.criteria.gradient`).
    cv : int, splitter or iterable, default=5
        For ``criterion="kfold"``, and where there are groups. With ``criterion="auto"`` a splitter, or splits, mean
        k-fold by these; a number matters only where "auto" means k-fold; another one than 5
        that has no effect gives a warning. Searches by gradient ignore it. A number means
        random folds with equal parts of every class, whatever the order of the rows.
    rank : "auto", None, int, float or Approximation, default="auto"
        None is the full kernel matrix, a whole number so many landmarks, a number between 0 and 1 a target for the
        residual; or an object such as ``svmpath.gram.Nystroem(300, "kmeans")`` (how landmarks are chosen),
        ``svmpath.gram.RandomFourier(300)`` or, for an indefinite kernel, ``svmpath.gram.Clipped()``. "auto" is the full
        kernel matrix up to 2000 samples, and up to 8000 if few of them violate the margin (two classes, squared hinge).
        With more, the default search uses landmarks that are drawn uniformly, and doubles their number from 300 up to
        1200 until the held-out score gains less than a quarter of its standard error, or less than 0.5 %; up to 4000
        samples the full matrix may be next. Samples that are copies of others count once. Other searches, and losses
        with an elbow, use 500.
    effort : {"quick", "auto", "best"}, default="auto"
        How much may be done with more than 2000 samples. "quick" stays in low rank. "auto" goes on with the full kernel
        matrix where the low rank is not enough (there pairs are compared by k-fold, whatever "auto" means before).
        With 25 000 to 58 000 samples pairs are compared on 10 000 of them, and one is taken for all samples, if half of
        the matrix fits into memory. "best" compares with all samples, however long that takes.
    class_weight : dict or "balanced", optional
        Multiplies C for each class; "balanced" makes the classes weigh the same: their sums of sample weights are equal
        (those of scikit-learn's SVC are only without sample weights, since it counts rows).
    threshold : float or "tune", default=0.0
        Of two classes, ``predict`` gives ``classes_[1]`` where the decision value is larger. "tune" takes the cut with
        the best score (``scoring``, or the accuracy) on the held-out decision values of the choice. The errors
        (``held_out_error()``, ``loo_error()``, ``nested_error()``) are those of ``predict``, and so depend on it; the
        search does not, nor do ``cv_results_``, ``decision_function`` and ``predict_proba``.
    pos_label : object, optional
        The positive one of two classes, for a ``scoring`` that is named ("f1", "recall", "average_precision", ...). By
        default it is 1 if that is a label, as in scikit-learn, else the label of fewer rows. Nothing else depends on
        it: not the order of ``classes_``, nor the sign of ``decision_function``. A scorer or function has its own.
    calibration : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        How ``predict_proba`` makes probabilities of decision values, fitted to the held-out ones: Platt's sigmoid (with
        several classes, the softmax of its logarithms); a non-decreasing function, which needs some thousand samples to
        be the better one; or one slope without an offset.
    scale : bool, default=False
        Whether to standardise the columns in ``fit``: mean 0 and standard deviation 1, weighted by ``sample_weight``
        (not by ``class_weight``). Constant columns keep their scale, and sparse columns are not centred. New rows are
        scaled alike. Not for precomputed kernels. With False there is a warning if the standard deviations of two
        columns differ by more than a factor of 30; columns with only two values do not count, and there is none for
        ``gamma="ard"`` and for kernels with a width per column or functions of your own.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. They score several values of gamma in parallel or, if there is only one
        kernel, are BLAS threads for large matrices. None means one thread, unless
        ``joblib.parallel_config(n_jobs=...)`` sets another number.
    time_limit : float, optional
        Seconds after which the default search and the gradient searches ("gradient", "ard") begin nothing new. If that
        cuts the search short, the best of what was tried by then is fitted, with a ``LimitWarning``. What has begun is
        completed, so that ``fit`` may take longer. "grid" ignores it.
    verbose : int, default=0
        Print a line per stage, or per kernel of a grid.
    random_state : int, RandomState or None
        Random seed of everything that is drawn: landmarks or random features, the rows that are screened, folds, and
        the random starts of a gradient search. None stands for 0. What is drawn depends on what the rows hold, not on
        their order: the same rows in any order give the same choice.

    Attributes
    ----------
    C_, gamma_ : float
        The choice; ``gamma_`` is None for a kernel without gamma, and an array of shape (d,) for ``gamma="ard"``. With
        ``scale=True`` it is the gamma of the scaled columns.
        A tuned ``C_`` is that of a row of mean weight: row i has ``C_ * w[i] / w[w > 0].mean()``, with w the product of
        sample and class weight. ``SVC(C=model.C_, gamma=model.gamma_).fit(X, y, sample_weight=w / w[w > 0].mean())`` is
        the same machine (loss "hinge", two classes). For a C that was given nothing is divided.
    error_criterion_ : str
        How rows are held out for :meth:`held_out_error`: "loo" (exact leave-one-out), "span", "kfold", ...
    calibration_criterion_ : str
        How the held-out decision values were computed that ``predict_proba`` is calibrated on.
    n_support_ : array of shape (k,)
        Number of support vectors of each class.
    threshold_ : float or None
        The cut of the decision value, which ``predict``, ``held_out_table()`` and the errors use; None with more than
        two classes. Another ``threshold`` takes effect at the next ``fit``.
    cv_results_ : dict
        The pairs that were scored by the requested loss, in scikit-learn's form (``pd.DataFrame(model.cv_results_)``):
        ``param_C``, ``param_gamma``, ``params``, ``mean_test_score`` (the accuracy or the scorer's value on all
        held-out rows together, whatever the ``threshold`` with the cut at 0; minus the mean of another
        loss), ``std_test_score`` (its standard error),
        ``rank_test_score`` and, for k-fold, ``split0_test_score``, ... for each fold alone.
    multi_class_ : {"ovr", "ovo"}
        Whether the machines are those of each class against the rest, or of each pair of classes; "ovr" for two
        classes.
    loss_ : str
        The loss of the machine, also where it was chosen; its own parameters have names of the same form (``h_`` for
        "huber_hinge").
    rank_ : int
        The rank of the kernel matrix; the number of samples for the full matrix.
    sample_size_ : int
        For Dask collections: the number of random rows that gamma, the rank and the loss were chosen on; 0 if all of
        them were given. ``C_`` is chosen on all rows.
    gathered_rows_ : int
        For Dask collections: the number of rows if they were few enough to be fitted in memory; else 0.
    residual_ : float
        The relative error of a low-rank kernel matrix; 0 for the full matrix.
    search_table_ : DataFrame
        Every pair of C and gamma that was tried, in the order of the stages: ``stage``, ``loss``, ``criterion``,
        ``rank``, ``gamma``, ``C``, ``score``, ``standard_error`` and ``kept``. Lower scores are better: with
        ``scoring`` they are minus the scorer's values, but for those of the screen. Scores of different stages cannot
        be compared with each other.
    tol_ : float or None
        The relative duality gap of the paths; None if they are exact.
    criterion_ : str or callable
        The criterion that was minimised; if ``criterion="auto"``, the one that was used.
    choice_ : Choice
        The choice; with several classes, its ``solution`` is that of the first class against the rest. ``stages`` holds
        what each stage of the default search tried.
    curve_ : Curve
        The scores over C at the chosen gamma.
    path_ : Path
        The path over C at the chosen gamma; with several classes, that of the first class against the rest, which is
        not part of a model of pairs (``multi_class_``). With ``scale=True`` its machines take rows from
        ``scaler_.transform``.
    kernel_ : Kernel
        The kernel at the chosen gamma.
    classes_ : array of shape (k,)
    support_ : array of int
        Indices of the support vectors: the samples with a non-zero coefficient.
    dual_coef_ : array of shape (1 or k, n_support)
        Signed dual coefficients; one row per class if there are more than two. If ``multi_class_`` is "ovo", one row
        per pair of classes, (0, 1), (0, 2), ..., (k - 2, k - 1), with positive decision values for the second.
    support_vectors_ : array or CSR matrix of shape (n_support, d)
        The support vectors in the units of X.
    intercept_ : array of shape (1 or k,)
        The offset; one per row of ``dual_coef_``. For the linear kernel it belongs to ``coef_``, so that
        ``X @ coef_.T + intercept_`` are the decision values, also with ``scale=True``; for other kernels it is added to
        the kernel expansion in the scaled columns.
    coef_ : array of shape (1 or k, d)
        For the linear kernel: the weights of the columns in the units of X.
    scaler_ : StandardScaler or None
        What ``scale=True`` has scaled the columns by.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    svmpath.PathSVR : Regressor that chooses C and gamma.
    svmpath.ElasticNetSVC : Linear classifier that selects features.
    svmpath.trace : Follow a machine over one hyper-parameter.
    svmpath.Range : What C and gamma may be.
    svmpath.config_context : How much memory a matrix may take.
    svmpath.Report : A page about a fitted model.
    sklearn.svm.SVC : The hinge machine at one C and gamma.
    sklearn.model_selection.GridSearchCV : Choose by refitting on a grid.

    Notes
    -----
    ``search="auto"`` screens, narrows and confirms:

    1. Screen: least squares on up to 100 landmarks and 2000 rows scores all values of C at all values of gamma.
    2. Narrow, with more than 700 samples: the best values of gamma on all rows, in low rank.
    3. Confirm: the requested loss and criterion, on the requested kernel matrix, decide between the best pairs and
       their neighbours.
    4. Several classes: the other of the two losses at the gamma that was chosen, then machines of pairs of classes.
       Many samples: the rank is doubled.

    If rows belong together (``groups``), or folds are requested (``criterion="kfold"``), all stages use these folds.

    The last machine is exact; which pairs are looked at is a heuristic. With C and gamma given, nothing is searched but
    the rank, with many samples. If C or gamma is a ``Range`` and the score still falls at the end of that range, or
    falls clearly at the limits of "tune", there is an ``EdgeWarning``. A ``fit`` that fails leaves the model as it was.

    With several classes, each class is trained against the rest; all machines share C, gamma and the work on the
    kernel. If ``loss`` is None and the kernel matrix is used in full, a machine for each pair of classes is tried, too,
    and taken where its held-out errors are fewer by more than a standard error of the difference (``multi_class_``);
    not for the linear kernel, nor where fewer than 2 % of the rows are errors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmpath import PathSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PathSVC(random_state=0).fit(X, y)
    >>> model.loo_error() < 0.05, model.score(X, y) > 0.95
    (True, True)

    What the search has tried, and the pair that it chose:

    >>> table = model.search_table_
    >>> list(table["stage"].unique())
    ['screen', 'confirm', 'compare', 'pairs']
    >>> last = table[table["stage"] != "screen"]
    >>> bool((last.loc[last["kept"], "C"] == model.C_).all()), sorted(last["loss"].unique())
    (True, ['least_squares', 'squared_hinge'])

    Columns in different units:

    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = PathSVC(kernel="linear", scale=True).fit(X, y)
    >>> bool(abs(X @ model.coef_.T + model.intercept_ - model.decision_function(X)).max() < 1e-9)
    True
    """

    _task = "classification"

    @by_name("C=1.0")
    def __init__(
        self,
        *,
        loss: str | Loss | None = None,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: float | str | Range | ArrayLike | None = "tune",
        C: float | str | Range | ArrayLike = "tune",
        degree: int = 3,
        coef0: float = 0.0,
        criterion: str | Callable[..., Any] = "auto",
        scoring: str | Callable[..., Any] | None = None,
        rule: str = "auto",
        search: str = "auto",
        cv: Any = 5,
        rank: int | float | str | Approximation | None = "auto",
        effort: str = "auto",
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        pos_label: Any = None,
        calibration: str = "sigmoid",
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
        self.degree = degree
        self.coef0 = coef0
        self.criterion = criterion
        self.scoring = scoring
        self.rule = rule
        self.search = search
        self.cv = cv
        self.rank = rank
        self.effort = effort
        self.class_weight = class_weight
        self.threshold = threshold
        self.pos_label = pos_label
        self.calibration = calibration
        self.scale = scale
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, start_from: Any = None) -> PathSVC:
        """Choose C and gamma, and fit.

        Parameters
        ----------
        X : array, DataFrame, CSR matrix, or Dask array or data frame, of shape (n, d)
        y : array of shape (n,)
            Labels of any kind.
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
            check_method(self.calibration)
            if is_chunked(X, y, sample_weight):
                if fit_chunks(self, X, y, sample_weight, groups):
                    return self
                X, y, sample_weight, groups = in_memory(X, y, sample_weight, groups)
            X, y = self._check_training(X, y)
            self.classes_, code = encode_classes(y)
            s = self._seen_weights(check_weights(sample_weight, X, self.class_weight, self.classes_, code))
            check_threshold(self.threshold, self.classes_)
            self._held_out_loss, self._scoring = resolve_scoring(self.scoring, self.classes_, code, s, self.pos_label)
            self._keep_rows(X, sample_weight, groups)
            X = self._to_scale(X, sample_weight, s)
            self._fit(X, one_vs_rest_targets(code, len(self.classes_)), s, y, code)
            self.threshold_ = fit_threshold(self.threshold, self._scoring, self._held_out)
            self._compress()
            warn_of_a_weak_model(self._held_out)
        return self

    def _after_change(self) -> None:
        self.threshold_ = fit_threshold(self.threshold, self._scoring, self._held_out)

    @lazy_for_chunks
    def decision_function(self, X: Any) -> Array:
        """Decision values of each row.

        Shape (m,) for two classes, positive for ``classes_[1]``. For k classes shape (m, k), the largest for the class
        that is predicted. If ``multi_class_`` is "ovo", these are votes, plus a confidence between -1/3 and 1/3.
        """
        return squeezed(self._decide(X))

    @lazy_for_chunks
    def predict(self, X: Any) -> Array:
        """The class of each row."""
        f = squeezed(self._decide(X))
        return self.classes_[predicted_codes(f, self._held_out.cut)]

    @lazy_for_chunks
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of shape (m, k), in the order of ``classes_``; rows sum to one.

        ``calibration`` says how they are found from the held-out decision values of the training rows; this is done at
        the first call, and fits no further machine. ``predict`` goes by the decision values. The class it predicts has
        the largest probability, except near the boundary: of two classes with "sigmoid" and "isotonic", whose
        probability 1/2 need not be at the decision value 0, and of several with "isotonic". A ``threshold_`` other than
        0 is for ``predict`` only.

        What the choice was made by is calibrated (``calibration_criterion_``), also if exact leave-one-out has been
        computed since: probabilities do not depend on what was asked before. Weights are relative: a common factor
        changes nothing. Together they count as Kish's effective number of rows, (sum w)^2 / sum w^2, beside the rows
        that "sigmoid" and "isotonic" add.
        """
        f = squeezed(self._decide(X))
        return self._held_out.calibration(self.calibration).probabilities(f)

    @lazy_for_chunks
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of :meth:`predict_proba`, finite also where a probability is too small for a number."""
        f = squeezed(self._decide(X))
        return self._held_out.calibration(self.calibration).log_probabilities(f)

    @lazy_for_chunks
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
        return self._known.label_sets(self._check_new(X), coverage)

    @property
    def multi_class_(self) -> str:
        """Whether the machines are those of each class against the rest ("ovr"), or of each pair of classes ("ovo")."""
        check_is_fitted(self)
        return self._machines.multi_class

    @property
    def n_support_(self) -> Array:
        """Number of support vectors of each class, in the order of ``classes_``."""
        support = self.support_
        return np.bincount(self._held_out.labels[support], minlength=len(self.classes_))

    @property
    def calibration_criterion_(self) -> str:
        """How the held-out decision values that are calibrated were computed: "loo" is exact leave-one-out."""
        name = self._known.chosen_by()
        return "loo" if name == "press" else name

    def calibration_curve(self) -> CalibrationCurve:
        """Mean predicted probability, fraction that came true and counts, in up to ten bins.

        Of two classes it is the probability of ``classes_[1]``; of several, that of the class with the largest one,
        which came true if it is the label. Each sample's probability is calibrated on the decision values of the
        other samples, those of four of five folds; groups stay together. The bins are of equal width;
        neighbours with fewer than 20 samples are joined.
        """
        return self._known.calibration_curve(self.calibration)

    def held_out_recall(self) -> Recall:
        """What part of each class the held-out machines find, at ``threshold_``; and the error beside its baseline.

        Where a class is mostly missed, or the
        error is not clearly below that of always predicting the commonest class, ``fit`` warns
        (:class:`svmpath.WeakModelWarning`), if it has held-out errors at hand: not for bounds.

        Returns
        -------
        Recall
            ``classes``, ``rows`` (held out, of each class), ``recall``, ``balanced_accuracy``, ``error``, ``interval``
            and ``baseline``, among others. Rows are weighted by ``sample_weight``; error and baseline also by
            ``class_weight``.

        Examples
        --------
        >>> from svmpath import PathSVC
        >>> from svmpath.datasets import banana
        >>> found = PathSVC(random_state=0).fit(*banana(100, random_state=0)).held_out_recall()
        >>> found.rows.tolist(), bool(found.recall.min() > 0.7), found.error < found.baseline
        ([61, 39], True, True)
        """
        return self._known.recall()

    def held_out_table(self) -> Any:  # a DataFrame
        """The training samples as machines see them that have not seen them; likely label errors first.

        One row per sample, in increasing order of ``probability``:

        - ``sample``: its position in X; ``label``; ``predicted``, the class by the held-out decision value
          and ``threshold_``
        - ``decision``: the held-out decision value (positive for ``classes_[1]``); of several classes that of the label
          minus the largest other one, which is negative for an error
        - ``probability``: of its own label; ``loss``: minus the logarithm of it
        - ``influence``: how much ``decision`` changes when the sample is used for the fit
        - ``weight``: the product of sample and class weight; if C was tuned, in units of its mean
        - ``unreliable``: whether the held-out value is not known to be exact; NA where only the number of such samples
          is known

        A sample that ``cv`` never holds out has NaN, and comes last.
        """
        return self._known.table(self.calibration)

"""``ElasticNetSVC``: a linear support vector classifier that selects features and chooses its own penalties."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from svmpath.criteria.calibration import check_method
from svmpath.criteria.curve import Curve
from svmpath.criteria.folds import make_folds
from svmpath.criteria.frozen import predicted_codes
from svmpath.criteria.recall import Recall
from svmpath.estimators.axes import numbers_of
from svmpath.estimators.cautions import warn_of_a_weak_model, warn_of_idle_folds
from svmpath.estimators.held_out import HeldOut
from svmpath.estimators.keywords import by_name
from svmpath.estimators.machines import LinearMachines, squeezed
from svmpath.estimators.probabilities import CalibrationCurve
from svmpath.estimators.scoring import check_threshold, fit_threshold, resolve_scoring
from svmpath.estimators.tuned import TunedModel
from svmpath.losses import PathParameter
from svmpath.losses.elastic_hinge import ElasticHinge, ElasticProblem, deviations
from svmpath.names import unknown_name
from svmpath.paths.elastic import ElasticPath, FeatureEvent
from svmpath.paths.trace_elastic import elastic_path, elastic_problem, lambda1_max
from svmpath.progress import begin, best_so_far, doing, finish, part_done
from svmpath.search import Choice, ElasticSearch, Scores, best_pair, best_value
from svmpath.search.choice import check_rule
from svmpath.search.results import cv_results
from svmpath.solvers.parallel import side_by_side
from svmpath.solvers.threads import count_jobs
from svmpath.validation import (
    check_amount,
    check_weights,
    check_whole,
    draw_seed,
    encode_classes,
    one_vs_rest_targets,
    plain_target,
    relative_weights,
)

Array = np.ndarray

_SHARES = np.array([0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0])  # lambda2="tune", in units of the weights on a mean column
_LAMBDA1_VALUES, _LAMBDA1_END = 40, 1e-2  # lambda1="tune": so many values, down to this part of the largest
_CLEAR_OF_ENTRY = 1e-9  # relative; how far a value keeps away from where one feature more is used
_ENOUGH_FOR_FOLDS = (
    10  # samples of the smallest class from which on five folds are enough; below, each sample is left out
)
_AMOUNTS = "a number >= 0, an array of them or a Range(low, high)"  # what a penalty may be beside "tune"
_CRITERIA = ("auto", "kfold", "loo")


class ElasticNetSVC(ClassifierMixin, TunedModel):
    """Linear support vector classifier with an l1 and an l2 penalty, both chosen in ``fit`` along exact paths.

    It minimises ``sum_i s_i max(0, 1 - y_i f(x_i)) + lambda2/2 ||beta||^2 + lambda1 ||beta||_1`` with
    f(x) = beta'x + b. The l1 penalty selects few features; the l2 penalty keeps correlated features together.

    Parameters
    ----------
    lambda1 : "tune", float, Range or array, default="tune"
        "tune" scores 40 values, from the one at which the first feature becomes active to a hundredth of it; of a
        ``svmpath.Range(low, high)`` 40 are scored, too; a list, tuple or array holds the values to score.
    lambda2 : "tune", float, Range or array, default="tune"
        "tune" tries 0 and five values, a factor of 10 apart, up to the sum of the s_i times a column's mean variance.
    standardize : bool, default=True
        Scale the columns to unit standard deviation before penalising. ``coef_`` refers to the original columns.
    penalty_factor : array of shape (d,), optional
        Multiplies lambda1 for each feature; use 0 for a feature that should always be used.
    criterion : {"auto", "kfold", "loo"}, default="auto"
        k-fold with a path per fold, or exact leave-one-out, which reduces the weight of each sample in turn to zero.
        "auto" is "kfold" if each class has at least ten samples, and "loo" otherwise.
    scoring : str, scorer or callable, optional
        What a held-out decision value is worth: a loss, which is minimised (by default the error, with ties broken by
        the squared residual), or a score of scikit-learn, which is maximised, such as "f1"; as in
        :class:`svmpath.PathSVC`.
    rule : {"min", "one_se"}, default="min"
        "min": the lowest score, and among equal ones the largest lambda1. "one_se": the largest lambda1 whose score is
        within one standard error of the lowest, at the lambda2 of the lowest: fewer features.
    cv : int, splitter or iterable, default=5
        For k-fold. A number means random folds with equal parts of every class, whatever the order of the rows. A
        splitter, or splits, are also used where "auto" would mean leave-one-out.
    max_features : int, optional
        The largest number of features of a machine. The values of lambda1 are then chosen near those at which features
        become active. With several classes, which share lambda1, a machine that would need more features keeps the
        smallest lambda1 at which it does not.
    patience : int or None, default=12
        Stop after this many values of lambda1 without an improvement. None scores all values. All values are also
        scored if ``max_features`` is given, or if no score is better than the first, which is usually that of a
        constant.
    class_weight : dict or "balanced", optional
        Multiplies the loss of each class; "balanced" makes the classes weigh the same.
    threshold : float or "tune", default=0.0
        The decision value above which ``classes_[1]`` of two classes is predicted; "tune" takes the cut with the best
        score on held-out decision values. The errors depend on it, the search does not, as in
        :class:`svmpath.PathSVC`.
    pos_label : object, optional
        The positive one of two classes, for a ``scoring`` that is named; as in :class:`svmpath.PathSVC`.
    calibration : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        How ``predict_proba`` makes probabilities of decision values, fitted to the held-out ones: Platt's sigmoid (with
        several classes, the softmax of its logarithms); a non-decreasing function, which needs some thousand samples to
        be the better one; or one slope without an offset.
    n_jobs : int, optional
        Number of threads, which score several values of lambda2 in parallel.
    verbose : int, default=0
        Print progress.
    random_state : int, RandomState or None
        Random seed for a number of folds. None stands for 0: the same rows, in any order, give the same choice.

    Attributes
    ----------
    lambda1_, lambda2_ : float
        The choice. Unless one of them was given as a number above zero, they are those of losses of mean weight one:
        ``s_i`` in the sum above is ``w[i] / w[w > 0].mean()``, where w is the product of sample and class weight.
    coef_ : array of shape (1 or k, d)
        Coefficients; exactly zero for features that are not used. One row per class if there are more than two.
    intercept_ : array of shape (1 or k,)
    error_criterion_ : {"kfold", "loo"}
        How rows are held out for :meth:`held_out_error`.
    threshold_ : float or None
        The cut of the decision value; None with more than two classes.
    cv_results_ : dict
        All pairs that were scored, in scikit-learn's form: ``param_lambda1``, ``param_lambda2`` and the rest as in
        :class:`svmpath.PathSVC`.
    calibration_criterion_ : str
        How the held-out decision values were computed that ``predict_proba`` is calibrated on.
    choice_ : Choice
        ``choice_.tried`` holds the scores over lambda1 at each lambda2. With several classes, ``choice_.solution`` is
        that of the first class against the rest.
    curve_ : Curve
        The scores over lambda1 at the chosen lambda2.
    path_ : ElasticPath
        The path over lambda1 at the chosen lambda2; with several classes, that of the first class against the rest.
    classes_ : array of shape (k,)
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    svmpath.trace_elastic : Follow the elastic-net hinge machine.
    svmpath.PathSVC : Classifier that chooses C and gamma.
    svmpath.KernelDictionary : Kernel columns as features.

    Notes
    -----
    With several classes, each class is trained against the rest; all machines share lambda1 and lambda2. Paths run in
    compiled code. The first fit after installation takes some fifteen seconds longer, because the code is compiled; it
    is then kept on disk.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from svmpath import ElasticNetSVC
    >>> X, y = make_classification(120, 30, n_informative=3, n_redundant=0, n_clusters_per_class=1, random_state=0)
    >>> model = ElasticNetSVC().fit(X, y)
    >>> model.score(X, y) > 0.9, 0 < (model.coef_ != 0).sum() < 30
    (True, np.True_)
    """

    @by_name("lambda1=1.0")
    def __init__(
        self,
        *,
        lambda1: Any = "tune",
        lambda2: Any = "tune",
        standardize: bool = True,
        penalty_factor: Any = None,
        criterion: str = "auto",
        scoring: Any = None,
        rule: str = "min",
        cv: Any = 5,
        max_features: int | None = None,
        patience: int | None = 12,
        class_weight: Any = None,
        threshold: float | str = 0.0,
        pos_label: Any = None,
        calibration: str = "sigmoid",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.standardize = standardize
        self.penalty_factor = penalty_factor
        self.criterion = criterion
        self.scoring = scoring
        self.rule = rule
        self.cv = cv
        self.max_features = max_features
        self.patience = patience
        self.class_weight = class_weight
        self.threshold = threshold
        self.pos_label = pos_label
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> ElasticNetSVC:
        """Choose lambda1 and lambda2, and fit.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (n, d)
        y : array of shape (n,)
            Labels of any kind.
        sample_weight : array of shape (n,), optional
            Weights of the losses and of the held-out errors. They are relative, so that a common factor changes
            nothing, unless a penalty is given as a number above zero: the weighted losses stand against it as they are.
            A row of weight zero is a row left out.
        groups : array of shape (n,), optional
            Samples that belong together: they are held out together, by grouped folds or by the splitter ``cv``.
        """
        X, y = validate_data(self, X, plain_target(y), accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        check_rule(self.rule, ("min", "one_se"))
        check_method(self.calibration)
        self.classes_, code = encode_classes(y)
        s = self._seen_weights(check_weights(sample_weight, X, self.class_weight, self.classes_, code))
        self._keep_rows(X, sample_weight, groups)
        check_threshold(self.threshold, self.classes_)
        loss, scoring = resolve_scoring(self.scoring, self.classes_, code, s, self.pos_label)
        k = len(self.classes_)
        targets = one_vs_rest_targets(code, k)
        first = elastic_problem(
            X, targets[0], s, self.classes_ if k == 2 else None,
            penalty_factor=self.penalty_factor, standardize=self.standardize,
        )  # fmt: skip
        problems = [first, *(_relabelled(first, target) for target in targets[1:])]
        folds = self._folds(X, s, code)
        if folds is None:
            warn_of_idle_folds(self.cv, stacklevel=3)
        patience = None if self.patience is None else check_whole(self.patience, "patience", words=" or None")
        search = ElasticSearch(folds, loss, patience if self.max_features is None else None, scoring, self._row_units)
        curves = self._curves(problems, self._lambda2_values(X, s), search)
        choice, lam2 = self._choose({each: curve for each, (curve, _) in curves.items()})
        self._store(problems, choice, lam2, curves[lam2][1])
        options = self.get_params(deep=False)
        self._held_out = HeldOut(
            self._machines, choice, options, self.classes_, code, self._given_weight, self._groups, folds
        )
        self.threshold_ = fit_threshold(self.threshold, scoring, self._held_out)
        if self.coef_.any() or not self._may_be_constant:  # else that has been said
            warn_of_a_weak_model(self._held_out)
        return self

    def _folds(self, X: Any, s: Array, code: Array) -> Any:
        """The folds, drawn once for all values; None for leave-one-out."""
        if self.criterion not in _CRITERIA:
            raise ValueError(unknown_name("criterion", self.criterion, _CRITERIA))
        few = int(np.bincount(code[s > 0], minlength=len(self.classes_)).min()) < _ENOUGH_FOR_FOLDS
        if self.criterion == "loo" or (
            self.criterion == "auto" and few and self._groups is None and not self._is_split_by_user
        ):
            return None
        seed, labels = draw_seed(self.random_state), self.classes_[code]
        return make_folds(self.cv, X, labels, is_classification=True, groups=self._groups, s=s, seed=seed)

    def _seen_weights(self, s: Array) -> Array:
        """The weights that the machines see: as they are beside a penalty that was given, else relative."""
        is_given = any(isinstance(value, Real) and float(value) > 0 for value in (self.lambda1, self.lambda2))
        return s if is_given else relative_weights(s)

    def _lambda2_values(self, X: Any, s: Array) -> Array:
        """The values of lambda2 to be tried."""
        if isinstance(self.lambda2, str):
            if self.lambda2 != "tune":
                raise ValueError(unknown_name("lambda2", self.lambda2, ["tune"], _AMOUNTS))
            spread = 1.0 if self.standardize else float(np.mean(deviations(X, s) ** 2))
            return _SHARES * s.sum() * spread
        return numbers_of(self.lambda2, "lambda2", len(_SHARES), check_amount)

    def _lambda1_values(self, problems: list[ElasticProblem], lambda2: Array) -> Array:
        """The values of lambda1 to be scored at every lambda2."""
        if isinstance(self.lambda1, str):
            if self.lambda1 != "tune":
                raise ValueError(unknown_name("lambda1", self.lambda1, ["tune"], _AMOUNTS))
            # Where it is reached, lambda2 has only unpenalised coefficients to act on.
            at = lambda2.tolist() if np.any(problems[0].om == 0.0) else [0.0]
            path_parameters = [PathParameter("lambda1", {"lambda2": each}) for each in at]
            largest = (
                max(lambda1_max(problem, path_parameter) for problem in problems for path_parameter in path_parameters)
                or 1.0
            )
            return np.geomspace(largest, _LAMBDA1_END * largest, _LAMBDA1_VALUES)
        return np.unique(numbers_of(self.lambda1, "lambda1", _LAMBDA1_VALUES, check_amount))[::-1]

    def _curves(
        self, problems: list[ElasticProblem], lambda2: Array, search: ElasticSearch
    ) -> dict[float, tuple[Curve, list[float]]]:
        """At each lambda2 the curve over lambda1, and the smallest lambda1 that each machine may have."""
        known: dict[float, tuple[Curve, list[float]]] = {}
        values = self._lambda1_values(problems, lambda2)
        parts = [search.parts(problem) for problem in problems]

        def one(lam2: float) -> tuple[Curve, list[float]]:
            doing(f"path over lambda1 at lambda2 = {lam2:.3g}")
            known[lam2] = result = self._curve(problems, lam2, values, search, parts)
            if self.verbose:
                print(f"[{type(self).__name__}] scored {len(known)} of {len(lambda2)} values of lambda2")
            best_so_far(_best_of({each: curve for each, (curve, _) in known.copy().items()}))
            part_done()
            return result

        begin("paths", len(lambda2))
        results = side_by_side(one, lambda2.tolist(), count_jobs(self.n_jobs))
        finish(f"tracing paths at {len(lambda2)} values of lambda2")
        return dict(zip(lambda2.tolist(), results, strict=True))

    def _curve(
        self,
        problems: list[ElasticProblem],
        lam2: float,
        values: Array,
        search: ElasticSearch,
        parts: list[list[ElasticProblem]],
    ) -> tuple[Curve, list[float]]:
        path_parameter = PathParameter("lambda1", {"lambda2": lam2})
        least, walked = self._least(problems, path_parameter, values)
        values = self._allowed(walked, values, min(least))
        paths = [ElasticPath(problem, ElasticHinge(), path_parameter, _span(values)) for problem in problems]
        return search.curve(paths, values, least, parts), least

    def _least(
        self, problems: list[ElasticProblem], path_parameter: PathParameter, values: Array
    ) -> tuple[list[float], list[ElasticPath]]:
        """The smallest lambda1 at which each machine uses no more than ``max_features``, and the paths down to it."""
        if self.max_features is None:
            return [0.0] * len(problems), []
        high, low = _span(values)
        high = 2.0 * max(high, *(lambda1_max(problem, path_parameter) for problem in problems))
        paths = [elastic_path(problem, path_parameter, (high, low), self.max_features) for problem in problems]
        return [path.span[1] * (1.0 + _CLEAR_OF_ENTRY) if path.span[1] > low else 0.0 for path in paths], paths

    def _allowed(self, paths: list[ElasticPath], values: Array, end: float) -> Array:
        """The values of lambda1 at which no machine uses more than ``max_features``; if they are free, well placed."""
        if isinstance(self.lambda1, str) and end > values.min():
            return _between_entries(paths, values.max(), end)
        if not (values >= end).any():
            raise ValueError(
                f"At all values of lambda1 there are more than max_features = {self.max_features} features; use a "
                f"lambda1 of at least {end:.6g}."
            )
        return values[values >= end]

    def _choose(self, curves: dict[float, Curve]) -> tuple[Choice, float]:
        """The best pair; of equal ones that with the largest lambda1 and lambda2, whose machine is the simplest."""
        lam2, _ = best_pair(curves, sign=-1.0)
        curve = curves[lam2]
        index = best_value(curve, self.rule, sign=-1.0)
        edges = [name for name, values, value in (
            ("lambda1", curve.values, curve.values[index]), ("lambda2", np.array(list(curves)), lam2)
        ) if len(values) > 1 and value in (values.min(), values.max())]  # fmt: skip
        tried = {each: Scores.of(curve) for each, curve in sorted(curves.items())}
        return Choice(curve, index, self.rule, tried, tuple(edges)), lam2

    def _store(self, problems: list[ElasticProblem], choice: Choice, lam2: float, least: list[float]) -> None:
        """The choice under scikit-learn's names; no machine's lambda1 is smaller than its value in ``least``."""
        curve, value = choice.curve, choice.value
        first = cast(ElasticPath, curve.path)
        paths = [first, *(replace(first, problem=problem) for problem in problems[1:])]
        values = [max(value, low, min(path.span)) for path, low in zip(paths, least, strict=True)]
        self._machines = LinearMachines.at(paths, values)
        self.choice_, self.curve_, self.path_ = choice, curve, first
        self.lambda1_, self.lambda2_ = value, lam2
        self.coef_, self.intercept_ = self._machines.coef, self._machines.b
        if self._may_be_constant:
            self._warn_if_constant()

    @property
    def _may_be_constant(self) -> bool:
        """Whether a machine without features is worth a warning: a single value was the caller's choice."""
        return len(self.curve_.values) > 1 or self.max_features is not None

    def _warn_if_constant(self) -> None:
        unused = [
            label for label, row in zip(self.classes_[-len(self.coef_) :], self.coef_, strict=True) if not row.any()
        ]
        if unused and len(self.coef_) == 1:
            warnings.warn(
                "The chosen machine uses no feature, because no scored machine has a lower held-out error than a "
                "constant; try patience=None, a larger max_features, smaller values of lambda1 or lambda2, or other "
                "features.",
                UserWarning,
                stacklevel=4,
            )
        elif unused:
            warnings.warn(
                f"The machines of {len(unused)} of {len(self.coef_)} classes ({', '.join(map(str, unused[:5]))}) use "
                "no feature at the common lambda1; try patience=None, a larger max_features or smaller values of "
                "lambda1.",
                UserWarning,
                stacklevel=4,
            )

    def decision_function(self, X: Any) -> Array:
        """Decision values: shape (m,) for two classes, positive for ``classes_[1]``; shape (m, k) for k classes."""
        return squeezed(self._decide(X))

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        f = self.decision_function(X)
        return self.classes_[predicted_codes(f, self._held_out.cut)]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of shape (m, k), as by :meth:`svmpath.PathSVC.predict_proba`."""
        f = self.decision_function(X)
        return self._held_out.calibration(self.calibration).probabilities(f)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of :meth:`predict_proba`, finite also where a probability is too small for a number."""
        f = self.decision_function(X)
        return self._held_out.calibration(self.calibration).log_probabilities(f)

    def predict_set(self, X: Any, coverage: float = 0.9) -> Array:
        """The labels that are plausible for each row, by CV+, as by :meth:`svmpath.PathSVC.predict_set`.

        Parameters
        ----------
        X : array, DataFrame or CSR matrix of shape (m, d)
        coverage : float, default=0.9
            The probability that a set is meant to contain the label, between 0 and 1.

        Returns
        -------
        bool array of shape (m, k)
            Whether each label, in the order of ``classes_``, is in the set.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from svmpath import ElasticNetSVC
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = ElasticNetSVC(lambda1=20.0, lambda2=1.0).fit(X[:300], y[:300])
        >>> model.predict_set(X[300:], coverage=0.9).shape
        (269, 2)
        """
        return self._known.label_sets(self._check_new(X), coverage)

    @property
    def calibration_criterion_(self) -> str:
        """How the held-out decision values that are calibrated were computed: "loo" is exact leave-one-out."""
        return self._known.chosen_by()

    def calibration_curve(self) -> CalibrationCurve:
        """How often what was given a probability came true, as by :meth:`svmpath.PathSVC.calibration_curve`."""
        return self._known.calibration_curve(self.calibration)

    def held_out_recall(self) -> Recall:
        """What part of each class the held-out machines find, as by :meth:`svmpath.PathSVC.held_out_recall`."""
        return self._known.recall()

    def held_out_table(self) -> Any:  # a DataFrame
        """The training samples, likely label errors first, as by :meth:`svmpath.PathSVC.held_out_table`."""
        return self._known.table(self.calibration)

    @property
    def cv_results_(self) -> dict[str, Any]:
        """All pairs of lambda1 and lambda2 that were scored, in scikit-learn's form."""
        check_is_fitted(self)
        tried = self.choice_.tried.items()
        return cv_results(self.curve_, "lambda1", [({"lambda2": lam2}, scores) for lam2, scores in tried])


def _best_of(curves: dict[float, Curve]) -> str:
    """The best pair so far, in words."""
    lam2, index = best_pair(curves, sign=-1.0)
    curve = curves[lam2]
    return f"lambda1 = {curve.values[index]:.3g}, lambda2 = {lam2:.3g}, score {curve.scores[index]:.4g}"


def _span(values: Array) -> tuple[float, float]:
    """A span that holds the values."""
    low, high = float(values.min()), float(values.max())
    return (high, low) if low < high else (2.0 * high or 1.0, low)


def _between_entries(paths: list[ElasticPath], high: float, end: float) -> Array:
    """Values of lambda1 just before and between those at which features become active, and evenly spaced ones."""
    entries = {
        event.value
        for path in paths
        for event in path.events()
        if isinstance(event, FeatureEvent) and end < event.value < high
    }
    nodes = np.array([high, *sorted(entries, reverse=True), end])
    placed = np.concatenate([np.sqrt(nodes[1:] * nodes[:-1]), nodes[1:] * (1.0 + _CLEAR_OF_ENTRY)])
    even = np.geomspace(high, end, max(_LAMBDA1_VALUES - len(placed), _LAMBDA1_VALUES // 4))
    values = np.unique(np.clip(np.concatenate([placed, even]), end, high))
    few = np.unique(np.linspace(0, len(values) - 1, _LAMBDA1_VALUES).round().astype(int))
    return values[few][::-1]


def _relabelled(problem: ElasticProblem, y: Array) -> ElasticProblem:
    """The same rows with other labels."""
    return replace(problem, y=y, classes=None)

"""From what users give as ``scoring`` to a scorer that fits the task, or one sentence that says why it does not.

Whether a scorer works is found out by trying it on a few rows with made-up decision values, before any other work.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from svmpath.criteria.curve import HELD_OUT_LOSSES, Curve
from svmpath.criteria.scoring import MEANS, ScoredRows, Scoring, code_of, named_scorer, scorer_names
from svmpath.names import did_you_mean

Array = np.ndarray

_PER_CLASS, _OF_REGRESSION = 4, 40  # rows that a scorer is tried on
_NUMBERS = np.array([0.5, 1.25, 2.5, 3.75])  # targets that only a score of regressions takes


def make_scoring(
    scoring: Any, classes: Array | None, y: Array, s: Array, parameter: str = "scoring", pos_label: Any = None
) -> Scoring:
    """The scorer meant by a name, a scorer or a function.

    Parameters
    ----------
    scoring : str or callable
    classes : array of shape (k,) or None
        The labels; None for a regression.
    y : array of shape (n,)
        The number of each row's class, or a regression's targets.
    s : array of shape (n,)
        Weights.
    parameter : str
        What the user knows it by.
    pos_label : object, optional
        The positive one of two classes, for a scorer that is named; by default 1 if that is a label, as in
        scikit-learn, else the label of fewer rows.
    """
    positive = positive_class(pos_label, classes)
    is_name, rows = isinstance(scoring, str), _few(classes, y, s)
    if is_name and scoring not in scorer_names():
        raise ValueError(
            f"{parameter} must be one of sklearn.metrics.get_scorer_names(), a scorer of make_scorer, a function of "
            f"(estimator, X, y) or a held-out loss ({', '.join(map(repr, HELD_OUT_LOSSES))}); got {scoring!r}."
            f"{did_you_mean(scoring, [*_names(classes), *HELD_OUT_LOSSES])}"
        )
    if not is_name and not callable(scoring):
        raise ValueError(
            f"{parameter} must be one name, one scorer of make_scorer or one function of (estimator, X, y), as C is "
            f"chosen by one score; got {scoring!r}."
        )
    if is_name and classes is not None and _takes_numbers(scoring):
        raise ValueError(
            f"{parameter}={scoring!r} is a score of regressions, but this is a classification; use one of labels, such "
            f"as 'accuracy', 'balanced_accuracy' or 'roc_auc'.{did_you_mean(scoring, _names(classes))}"
        )
    name = scoring if is_name else getattr(scoring, "__name__", repr(scoring))
    mean = MEANS.get(scoring) if is_name else None
    if is_name and positive is None and classes is not None and len(classes) == 2 and 1 not in classes.tolist():
        counts = np.bincount(y[s > 0], minlength=2)
        positive = int(counts[1] <= counts[0])
    fitting = Scoring(named_scorer(scoring) if is_name else scoring, name, classes, mean, positive if is_name else None)
    is_strict = is_name and classes is None
    fault = _fault(fitting, rows, is_strict)
    if fault is not None:
        raise ValueError(f"{parameter}={name!r} {_why(fitting, rows, fault, is_strict)}") from fault
    return fitting


def positive_class(pos_label: Any, classes: Array | None) -> int | None:
    """The number of the positive one of two classes; None if none is named."""
    if pos_label is None:
        return None
    if classes is None:
        raise ValueError(f"pos_label={pos_label!r} names a class, but this is a regression; leave it out.")
    labels = classes.tolist()
    if len(labels) > 2:
        raise ValueError(
            f"pos_label={pos_label!r} works for two classes only, but y has {len(labels)}: use a score of several "
            "classes, such as scoring='f1_macro' or 'balanced_accuracy'."
        )
    if pos_label not in labels:
        raise ValueError(f"pos_label must be one of the labels {labels[0]!r} and {labels[1]!r}, got {pos_label!r}.")
    return labels.index(pos_label)


def score(curve: Curve, scoring: Any, *, classes: Any = None, pos_label: Any = None) -> Array:
    """The scores of a curve's held-out decision values by a scorer of scikit-learn.

    Parameters
    ----------
    curve : Curve
        Of any criterion but a bound. All held-out rows are scored together, with their weights; a row that was held
        out several times counts several times.
    scoring : str, scorer or callable
        A name such as "f1", "roc_auc", "neg_log_loss" or "r2" (``sklearn.metrics.get_scorer_names()``), a scorer of
        ``sklearn.metrics.make_scorer``, or a function ``scoring(estimator, X, y)`` or
        ``scoring(estimator, X, y, sample_weight=...)``. The estimator has the usual methods; X holds no features, but
        the number of the sample in its first column. Probabilities are those of a sigmoid calibration of the same
        decision values.
    classes : array of shape (k,), optional
        The labels of a curve of k > 2 classes, which are 0, 1, ... if they are not given.
    pos_label : object, optional
        The positive one of two classes, for a scorer that is named; by default 1 if that is a label, as in
        scikit-learn, else the label of fewer rows.

    Returns
    -------
    array of shape (m,)
        The scorer's values at each value of the curve, in scikit-learn's sign: larger is better.

    See Also
    --------
    svmpath.criteria.Curve : Held-out scores along a path.
    svmpath.select : Choose a value on a curve.
    svmpath.PathSVC : Classifier that chooses C and gamma.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> from svmpath import criteria
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] + 0.3 * rng.normal(size=60) > 0.7
    >>> curve = criteria.loo(svmpath.trace(X, y, loss="least_squares", span=(1e-2, 1e2)), [0.01, 1.0, 100.0])
    >>> criteria.score(curve, "f1").round(3).tolist(), criteria.score(curve, "roc_auc").round(3).tolist()
    ([0.0, 0.903, 0.903], [0.957, 0.986, 0.983])
    """
    if not isinstance(curve, Curve):
        name = getattr(curve, "criterion", type(curve).__name__)
        raise ValueError(f"A score needs held-out decision values, which {name!r} does not have; use criteria.loo.")
    labels = _labels(curve, None if classes is None else np.asarray(classes))
    y = curve.target if labels is None else code_of(curve)
    return make_scoring(scoring, labels, y, curve.path.problem.s, pos_label=pos_label).values(curve)


def _labels(curve: Curve, classes: Array | None) -> Array | None:
    """The labels of the classes of a curve; None for a regression."""
    problem = curve.path.problem
    if problem.task == "regression":
        return None
    if curve.target.ndim == 2:
        k = curve.target.shape[1]
        classes = np.arange(k) if classes is None else classes
        if len(classes) != k:
            raise ValueError(f"classes must hold the {k} labels of the curve, got {len(classes)}.")
        return classes
    return np.array([-1, 1]) if problem.classes is None else problem.classes


def _scoring(name: str, classes: Array | None = None) -> Scoring:
    return Scoring(named_scorer(name), name, classes)


def _few(classes: Array | None, y: Array, s: Array) -> ScoredRows:
    """A few rows of each class, or of a regression; of different weights if those of all rows differ."""
    active = np.flatnonzero(s > 0)
    some = [active[:_OF_REGRESSION]]
    if classes is not None:
        some = [active[y[active] == c][:_PER_CLASS] for c in range(len(classes))]
    at = np.concatenate(some)
    is_even = bool(np.all(s[active] == s[active[0]]))
    return ScoredRows(at, at, y[at], np.ones(len(at)) if is_even else np.arange(1.0, len(at) + 1.0))


def _fault(scoring: Scoring, rows: ScoredRows, is_strict: bool = False) -> Exception | None:
    """What the scorer raises on made-up decision values of the rows; None if it works."""
    from sklearn.exceptions import UndefinedMetricWarning

    shape: tuple[int, ...] = (len(rows.y),)
    if scoring.classes is not None and len(scoring.classes) > 2:
        shape = (len(rows.y), len(scoring.classes))
    f = np.random.default_rng(0).normal(size=shape)
    # A regression's predictions are as its targets are, in another order: some scores take no negative ones.
    f = np.roll(rows.y, 1).astype(float) if scoring.classes is None else f
    with warnings.catch_warnings():
        warnings.simplefilter("error" if is_strict else "ignore", UserWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            scoring.call(rows, scoring.estimator(rows, f))
        except Exception as fault:
            return fault
    return None


def _why(scoring: Scoring, rows: ScoredRows, fault: Exception, is_strict: bool) -> str:
    """The rest of a sentence: what does not fit, and what to do."""
    classes = scoring.classes
    even = ScoredRows(rows.at, rows.samples, rows.y, np.ones(len(rows.y)))
    if _fault(scoring, even, is_strict) is None:
        return (
            "takes no sample_weight, but the weights of the rows differ: use a score that takes it, or leave "
            "sample_weight and class_weight out."
        )
    labels = [] if classes is None else classes.tolist()  # without numpy's names of types
    if classes is not None and len(classes) == 2 and not _fault(Scoring(scoring.scorer, "", np.arange(2)), rows):
        return (
            f"takes 1 for the positive label, but the labels are {labels[0]!r} and {labels[1]!r}: use "
            f"make_scorer(..., pos_label={labels[1]!r}), a name with pos_label={labels[1]!r}, or labels 0 "
            "and 1."
        )
    task = "a regression" if classes is None else f"{len(classes)} classes"
    reason = (str(fault).strip() or type(fault).__name__).splitlines()[0].rstrip(".")
    names = [name for name in _names(classes, rows) if name != scoring.name]
    longer = [name for name in names if name.startswith(f"{scoring.name}_")]  # of f1, f1_macro
    proposal = did_you_mean(scoring.name, longer or names) or "".join(f" Did you mean {each!r}?" for each in longer[:1])
    if classes is None and scoring.name in scorer_names() and not _takes_numbers(scoring.name):
        return (
            "is a score of labels, but this is a regression; use one of numbers, such as 'r2' or "
            "'neg_mean_squared_error'."
        )
    return f"cannot be evaluated on the decision values of {task}: {reason}.{proposal}"


def _names(classes: Array | None, rows: ScoredRows | None = None) -> list[str]:
    """The names of the scorers that fit the task, and for a regression the targets of some rows."""
    if classes is None:
        names = [name for name in scorer_names() if _takes_numbers(name)]
        return names if rows is None else [name for name in names if _fault(_scoring(name), rows, True) is None]
    k = len(classes)
    rows = _few(np.arange(k), np.arange(4 * k) % k, np.ones(4 * k))
    scorings = {name: _scoring(name, np.arange(k)) for name in scorer_names()}
    return [name for name, each in scorings.items() if not _takes_numbers(name) and _fault(each, rows, True) is None]


def _takes_numbers(name: str) -> bool:
    """Whether it is a score of regressions: no score of labels takes numbers that are not whole."""
    at = np.arange(len(_NUMBERS))
    return _fault(_scoring(name), ScoredRows(at, at, _NUMBERS, np.ones(len(at))), True) is None

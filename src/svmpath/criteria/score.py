"""The score of any curve, by any scorer of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmpath.criteria.curve import Curve
from svmpath.criteria.scorers import make_scoring
from svmpath.criteria.scoring import code_of

Array = np.ndarray


def score(curve: Curve, scoring: Any, *, classes: Any = None) -> Array:
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
    return make_scoring(scoring, labels, y, curve.path.problem.s).values(curve)


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

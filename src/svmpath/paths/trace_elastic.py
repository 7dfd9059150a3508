"""From data to a path of the elastic-net hinge machine: ``svmpath.trace_elastic``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from svmpath.exceptions import PathError
from svmpath.gram import DenseGram
from svmpath.kernels import Linear
from svmpath.lazy import with_known
from svmpath.losses import PathParameter
from svmpath.losses.elastic_hinge import ElasticHinge, ElasticProblem, centres, deviations
from svmpath.names import unknown_name
from svmpath.paths.elastic import ElasticPath
from svmpath.paths.elastic_family import ElasticFamily
from svmpath.paths.elastic_record import ElasticRecord
from svmpath.solvers.elastic.first_point import largest_lambda1
from svmpath.solvers.threads import blas_threads
from svmpath.validation import (
    check_amount,
    check_data,
    check_moving,
    check_span,
    check_weights,
    check_whole,
    encode_target,
)

Array = np.ndarray

_SPAN_END = 1e-2  # default end of a span over lambda1 or a ray, in units of its first value
_LAMBDA2_SPAN = (1e2, 1e-2)  # default span over lambda2
_MOST_ENTRIES = 200_000  # of rows, up to which the largest lambda1 is found by a linear programme


def trace_elastic(
    X: Any,
    y: Any,
    *,
    over: str = "lambda1",
    span: tuple[float, float] | None = None,
    lambda1: float | None = None,
    lambda2: float | None = None,
    l1_ratio: float | None = None,
    penalty_factor: ArrayLike | None = None,
    standardize: bool = False,
    max_features: int | None = None,
    sample: int | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
) -> ElasticPath:
    """Follow a linear support vector classifier with an l1 and an l2 penalty over one hyper-parameter.

    The machine minimises ``sum_i s_i max(0, 1 - y_i f(x_i)) + lambda2/2 ||beta||^2 + lambda1 sum_j om_j |beta_j|`` with
    f(x) = beta'x + b. The l1 penalty leaves many coefficients exactly zero.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The data.
    y : array of shape (n,)
        Two labels of any kind.
    over : {"lambda1", "lambda2", "ray", "weight"}, default="lambda1"
        The hyper-parameter to follow. "ray" changes both penalties in a constant ratio, "weight" changes the weight of
        some samples.
    span : (float, float), optional
        The first and the last value of the hyper-parameter; the path may go up or down. Default: for lambda1 and a ray,
        from the value at which the first feature becomes active to a hundredth of it; (100, 0.01) for lambda2; (1, 0)
        for a weight, which removes the samples.
    lambda1 : float, optional
        Weight of the l1 norm. Required for ``over="lambda2"`` and ``over="weight"``.
    lambda2 : float, default=1.0
        Weight of half the squared l2 norm, for ``over="lambda1"`` and ``over="weight"``. 0 gives the l1-norm machine
        exactly.
    l1_ratio : float in [0, 1], default=0.5
        For ``over="ray"``: lambda1 = value * l1_ratio and lambda2 = value * (1 - l1_ratio).
    penalty_factor : array of shape (d,), optional
        Multiplies lambda1 for each feature (om above); use 0 for a feature that should always be used. Default: ones.
    standardize : bool, default=False
        Scale the columns to unit standard deviation before penalising. ``coef`` refers to the original columns.
    max_features : int, optional
        End the path where it would need more features than this; ``path.span`` says where it ended.
    sample : int, array of int, or mask of shape (n,), optional
        For ``over="weight"``: the rows whose weight is multiplied by the value. Use ``y == label`` for the rows of a
        class.
    sample_weight : array of shape (n,), optional
        Weights of the losses. A sample with weight zero takes no part in the fit.
    class_weight : dict or "balanced", optional
        Multiplies the weights of each class.

    Returns
    -------
    ElasticPath
        Call it with any value in the span: ``path(0.7).coef``, ``path(0.7)(X_new)``.

    See Also
    --------
    svmpath.ElasticNetSVC : An estimator that chooses lambda1 and lambda2 along such paths.

    Notes
    -----
    The path is exact: it records every sample and every feature that changes its place. It runs in compiled code. The
    first path after installation takes some fifteen seconds longer, because the code is compiled; ``svmpath compile``
    compiles it in advance.

    Examples
    --------
    >>> import numpy as np, svmpath
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8)); y = np.sign(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=60))
    >>> path = svmpath.trace_elastic(X, y, over="lambda1", lambda2=1.0)
    >>> solution = path(0.3 * path.first_value)
    >>> solution.gap < 1e-9
    True
    >>> solution.features
    array([0, 1])
    """
    parameter = next((each for each in ElasticHinge.parameters if each.name == over), None)
    if parameter is None:
        raise ValueError(unknown_name("over", over, ElasticHinge().parameter_names))
    X = check_data(X, "linear")
    y, classes, _ = encode_target(y, "classification")
    check_consistent_length(X, y)
    s = check_weights(sample_weight, X, class_weight, classes, (y > 0).astype(int))
    rows = check_moving(sample, over, s)
    path_parameter = check_path_parameter(over, rows, lambda1, lambda2, l1_ratio)
    problem = elastic_problem(X, y, s, classes, penalty_factor=penalty_factor, standardize=bool(standardize))
    span = None if span is None else check_span(span, parameter)
    return elastic_path(problem, path_parameter, span, max_features)


def check_path_parameter(
    over: str, rows: Array | None, lambda1: float | None, lambda2: float | None, l1_ratio: float | None
) -> PathParameter:
    """The hyper-parameter to follow and the fixed ones; a penalty that is missing, or given in vain, is refused."""
    for name, given in (("lambda1", lambda1), ("lambda2", lambda2)):
        if over in (name, "ray") and given is not None:
            raise ValueError(f"A path over {over} computes {name} itself; leave {name}= out.")
    if l1_ratio is not None and over != "ray":
        raise ValueError(f"l1_ratio= works with over='ray' only, but over={over!r}; leave it out.")
    if over in ("lambda2", "weight") and lambda1 is None:
        raise ValueError(f"A path of the elastic hinge over {over} needs lambda1=; give a number >= 0.")
    ratio = 0.5 if l1_ratio is None else check_amount(l1_ratio, "l1_ratio")
    if ratio > 1:
        raise ValueError(f"l1_ratio must be a number from 0 to 1, got {ratio!r}.")
    lam1 = check_amount(0.0 if lambda1 is None else lambda1, "lambda1")
    lam2 = check_amount(1.0 if lambda2 is None else lambda2, "lambda2")
    if over == "weight" and lam1 == lam2 == 0.0:
        raise ValueError(
            "lambda1 and lambda2 are both zero, so the solution is not unique; give one of them a positive value."
        )
    fixed = {"l1_ratio": ratio} if over == "ray" else {"lambda1": lam1, "lambda2": lam2}
    return PathParameter(over, {name: value for name, value in fixed.items() if name != over}, rows)


def elastic_problem(
    X: Any, y: Array, s: Array, classes: Array | None, *, penalty_factor: Any = None, standardize: bool = False
) -> ElasticProblem:
    """The problem of checked data."""
    p = X.shape[1]
    om = np.ones(p) if penalty_factor is None else np.asarray(penalty_factor, dtype=float)
    if om.shape != (p,):
        raise ValueError(f"penalty_factor must hold one number per feature, of shape ({p},); got shape {om.shape}.")
    if not (np.isfinite(om).all() and (om >= 0).all()):
        raise ValueError("penalty_factor must hold finite numbers >= 0; 0 leaves a feature without an l1 penalty.")
    scale = deviations(X, s) if standardize else np.ones(p)
    gram = DenseGram(Linear(), X)  # never computed: it holds the rows
    return ElasticProblem(gram, y, s, "classification", classes, om=om, scale=scale, centre=centres(X))


def elastic_path(
    problem: ElasticProblem,
    path_parameter: PathParameter,
    span: tuple[float, float] | None,
    max_features: int | None = None,
) -> ElasticPath:
    """The path over a span, or over the default one; walked, so that one that cannot be followed is refused here.

    With ``max_features`` it ends where the walk has ended.
    """
    if max_features is not None:
        check_whole(max_features, "max_features", words=" or None")
    family, loss = ElasticFamily(problem, path_parameter), ElasticHinge()
    if span is None and family.has_top:
        with blas_threads(problem.n * problem.p):
            walker = family.begin(np.inf)
            high = walker.value or 1.0
            record = ElasticRecord.of_walk(family, walker, _SPAN_END * high, max_features)
        path = with_known(
            ElasticPath(problem, loss, path_parameter, (high, _SPAN_END * high), max_features), record=record
        )
    else:
        path = ElasticPath(problem, loss, path_parameter, span or default_span(family), max_features)
        record = path.record  # walks
    low, high = sorted(path.span)
    if max_features is None or record.first.value <= low or record.end <= max(low * (1 + 1e-12), 0.0):
        return path
    if not record.end < high:
        raise PathError(
            f"At {path.over} = {high:.6g} more than max_features = {max_features} features are already active; "
            "start the span at a larger value or allow more features."
        )
    is_rising = path.span[0] < path.span[1]
    return with_known(replace(path, span=(record.end, high) if is_rising else (high, record.end)), record=record)


def default_span(family: ElasticFamily) -> tuple[float, float]:
    """The span of a path for which none was given, where the machine is not constant above some value."""
    if family.path_parameter.over == "weight":
        return 1.0, 0.0
    if family.path_parameter.over == "lambda2" or family.is_plain:
        return _LAMBDA2_SPAN
    first = lambda1_max(family.problem, family.path_parameter) or 1.0
    return first, _SPAN_END * first


def lambda1_max(problem: ElasticProblem, path_parameter: PathParameter) -> float:
    """The value over lambda1 or a ray below which penalised features are used; 0 if they never are."""
    family = ElasticFamily(problem, path_parameter)
    if not family.has_top:  # a ray with free features: they move with lambda2, so that there is no such value
        value = lambda1_max(problem, PathParameter("lambda1", {"lambda2": 0.0}))
        return value / path_parameter.fixed["l1_ratio"]
    # A walk would do, but where it ends may depend on the order of the rows; a large programme would take too long.
    if np.all(family.design.om > 0.0) and problem.n * problem.p <= _MOST_ENTRIES:
        return largest_lambda1(family.design, problem.s) / family.penalties(1.0)["lambda1"]
    return family.begin(np.inf).value

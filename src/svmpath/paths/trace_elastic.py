"""From data to a path of the elastic-net hinge machine: what ``svmpath.trace(loss="elastic_hinge")`` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from svmpath.gram import DenseGram
from svmpath.kernels import Linear
from svmpath.losses.elastic_hinge import ElasticHinge, ElasticProblem, centres, deviations
from svmpath.paths.elastic import ElasticPath, Motion, cut

Array = np.ndarray

OVERS = ElasticHinge.overs
_END = 1e-2  # default end of a span over lambda1 or a ray, in units of its first value
_LAMBDA2_SPAN = (1e2, 1e-2)  # default span over lambda2


def elastic_problem(
    X: Any, y: Array, s: Array, classes: Array | None, *, penalty_factor: Any = None, standardize: bool = False
) -> ElasticProblem:
    """The problem of checked data."""
    om = check_factors(penalty_factor, X.shape[1])
    scale = deviations(X, s) if standardize else np.ones(X.shape[1])
    gram = DenseGram(Linear(), X)  # never computed: it holds the rows
    return ElasticProblem(gram, y, s, "classification", classes, om, scale, centres(X))


def check_factors(penalty_factor: Any, p: int) -> Array:
    """One penalty factor >= 0 per feature."""
    if penalty_factor is None:
        return np.ones(p)
    om = np.asarray(penalty_factor, dtype=float)
    if om.shape != (p,):
        raise ValueError(f"penalty_factor must hold one number per feature, of shape ({p},); got shape {om.shape}.")
    if not (np.isfinite(om).all() and (om >= 0).all()):
        raise ValueError("penalty_factor must hold finite numbers >= 0; 0 leaves a feature without an l1 penalty.")
    return om


def elastic_path(
    problem: ElasticProblem, motion: Motion, span: tuple[float, float] | None, max_features: int | None = None
) -> ElasticPath:
    """The path over a span, or over the default one; walked, so that one that cannot be followed is refused here."""
    if max_features is not None and (not isinstance(max_features, (int, np.integer)) or max_features < 1):
        raise ValueError(f"max_features must be a positive whole number or None, got {max_features!r}.")
    path = ElasticPath(problem, ElasticHinge(), motion.over, span or (np.inf, 0.0), motion, max_features)
    if span is None and path.has_top:
        path = path.from_the_top(_END)
    elif span is None:
        path = replace(path, span=default_span(problem, motion))
    path.record  # noqa: B018 - walks
    return path if max_features is None else cut(path)


def default_span(problem: ElasticProblem, motion: Motion) -> tuple[float, float]:
    """Where a path goes if nothing is said and there is no value above which the machine is constant."""
    if motion.over == "weight":
        return 1.0, 0.0
    if motion.over == "lambda2" or motion.is_plain:
        return _LAMBDA2_SPAN
    first = lambda1_max(problem, motion) or 1.0
    return first, _END * first


def lambda1_max(problem: ElasticProblem, motion: Motion) -> float:
    """The value over lambda1 or a ray below which penalised features are used; 0 if they never are."""
    path = ElasticPath(problem, ElasticHinge(), motion.over, (np.inf, 0.0), motion)
    if not path.has_top:  # a ray with free features: they move with lambda2, so that there is no such value
        value = lambda1_max(problem, replace(motion, over="lambda1", lam2=0.0))
        return value / motion.l1_ratio
    return path.top()
